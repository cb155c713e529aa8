/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_RESPONDER_H
#define VIB_RESPONDER_H

/*
 * The responder's half of a connected QP (IBA vol. 1, 9.7.4, 9.7.5, 9.8.2, 9.9.3):
 *
 *	responder.c		decides what is done with a request packet; errors
 *	message.c	SEND and RDMA WRITE: into memory, receive completions
 *	resource.c		RDMA READ and atomics: accepted, remembered, replayed
 *	reply.c			sends acknowledgements and responses
 *
 * All of it runs in the QP's work, in softirq context, and needs no lock.
 */
#include "memory/mr.h"
#include "transport/rc.h"

/* ---- responder.c: what is done with a packet ---- */

/* Where the PSN of a request is (9.7.4.1.2). */
enum vib_seq {
	VIB_SEQ_EXPECTED,
	VIB_SEQ_DUPLICATE,	/* before the expected one */
	VIB_SEQ_GAP,		/* after it: packets between them are missing */
	VIB_SEQS
};

/* What a request packet is; the four positions of a message are in this order. */
enum vib_rx_op {
	VIB_RX_SEND_FIRST,
	VIB_RX_SEND_MIDDLE,
	VIB_RX_SEND_LAST,
	VIB_RX_SEND_ONLY,
	VIB_RX_WRITE_FIRST,
	VIB_RX_WRITE_MIDDLE,
	VIB_RX_WRITE_LAST,
	VIB_RX_WRITE_ONLY,
	VIB_RX_READ,
	VIB_RX_ATOMIC,
	VIB_RX_RESERVED,
	VIB_RX_OPS
};

/* The message whose first packet has been taken in, and whose last has not. */
enum vib_message {
	VIB_MSG_NONE,
	VIB_MSG_SEND,
	VIB_MSG_WRITE,
	VIB_MSGS
};

enum vib_responder_act {
	VIB_DO_DROP,
	VIB_DO_EXECUTE,		/* after the checks that need more than a table */
	VIB_DO_ACK,		/* a duplicate whose effect has taken place */
	VIB_DO_REPLAY,		/* a duplicate of a request for a result */
	VIB_DO_NAK_SEQ,		/* once for each gap */
	VIB_DO_REFUSE,		/* invalid request: the QP fails */
	VIB_DO_ABANDON,		/* UC: drops the packet and the message in progress */
};

enum vib_rx_op vib_rx_op(u8 opcode);
/* What is done with @op.  @reliable: RC and XRC, not UC. */
enum vib_responder_act vib_responder_act(bool reliable, enum vib_seq seq, enum vib_rx_op op,
					 enum vib_message message);

/* What came of a request that is executed. */
enum vib_verdict {
	VIB_TAKEN,
	VIB_NOT_READY,		/* there is no receive request for it */
	/* The QP fails; UC drops the message */
	VIB_BAD_REQUEST,
	VIB_BAD_ACCESS,
	/* The receive request has completed in error, the QP fails */
	VIB_RECV_LENGTH,
	VIB_RECV_MEMORY,
	VIB_VERDICTS
};

/*
 * The request with PSN @psn fails: the requester gets a NAK, and the QP enters ERR, when all
 * requests before this one have been replied to.
 */
void vib_responder_fail(struct vib_qp *qp, enum vib_verdict verdict, u32 psn);
/* Enters ERR, if a request has failed.  The replies that come before its NAK are sent. */
void vib_responder_fail_qp(struct vib_qp *qp);
/* @packets have been taken in; with the last of them a message is complete if @last. */
void vib_responder_advance(struct vib_qp *qp, u32 packets, bool last);

/*
 * A request of XRC names an SRQ, which is qp->srq from enter to leave: it has the receive
 * requests, and the PD of the memory that the request may use (A14.2.2).  False: the QP's
 * domain has no such SRQ.  For other QPs, which are not concerned: true.
 */
bool vib_responder_enter(struct vib_qp *qp, u32 srqn);
void vib_responder_leave(struct vib_qp *qp);
/* The SRQ number in @pkt, a request; 0 if it is not of XRC. */
u32 vib_request_srqn(struct vib_packet *pkt);

static inline bool vib_opcode_is(struct vib_packet *pkt, enum vib_op_flags flag)
{
	return vib_op(ib_bth_get_opcode(vib_packet_bth(pkt)))->flags & flag;
}

/* ---- message.c ---- */

/*
 * Whether @pkt, a packet of a SEND or a WRITE in its place, is valid: VIB_TAKEN; or
 * VIB_BAD_REQUEST, VIB_BAD_ACCESS.  Reads the headers of a first packet.
 */
enum vib_verdict vib_message_check(struct vib_qp *qp, struct vib_packet *pkt);
/* Executes @pkt, which is valid. */
enum vib_verdict vib_message_take(struct vib_qp *qp, struct vib_packet *pkt);

/* ---- resource.c ---- */

/* The same for an RDMA READ request, and for an atomic one. */
enum vib_verdict vib_read_check(struct vib_qp *qp, struct vib_packet *pkt);
enum vib_verdict vib_read_take(struct vib_qp *qp, struct vib_packet *pkt);
enum vib_verdict vib_atomic_check(struct vib_qp *qp, struct vib_packet *pkt);
enum vib_verdict vib_atomic_take(struct vib_qp *qp, struct vib_packet *pkt);
/*
 * @pkt is a duplicate: its responses are sent again, unless there is no resource of it any
 * more, or @pkt is not what was accepted.
 */
void vib_resource_replay(struct vib_qp *qp, struct vib_packet *pkt);
/* The oldest that has responses to be sent, or NULL. */
struct vib_resource *vib_resource_replying(struct vib_responder *resp);
/* The response with r->send_psn has been sent, or was lost before it left. */
void vib_resource_sent(struct vib_resource *r);
void vib_resources_forget(struct vib_responder *resp);

/* ---- reply.c ---- */

/* An ACK of all that has been taken in is due; a NAK that is due says as much. */
void vib_reply_ack(struct vib_responder *resp);
/* A NAK of @psn with @syndrome is due. */
void vib_reply_nak(struct vib_responder *resp, u8 syndrome, u32 psn);
/* What was missing has come: if a NAK is due, it is no longer. */
void vib_reply_no_nak(struct vib_responder *resp);
/* No ACK is due: a response to come acknowledges as much. */
void vib_reply_none(struct vib_responder *resp);

#endif
