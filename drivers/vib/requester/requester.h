/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_REQUESTER_H
#define VIB_REQUESTER_H

/*
 * The requester's half of a connected QP (IBA vol. 1, 9.7.2 to 9.7.6, 10.3.1, 10.8.3):
 *
 *	post.c		send requests become entries of the send queue
 *	request.c	entries become requests, which begin and complete in order
 *	requester.c	packets of requests
 *	completer.c	responses
 *	retry.c		the timer, sending again, and giving up
 *
 * All but post.c is the QP's work, in softirq context.
 */
#include <rdma/vib-abi.h>
#include "memory/mr.h"
#include "transport/rc.h"

/* ---- post.c: entries of the send queue ---- */

/*
 * An entry is struct vib_abi_rc_wqe, which a process may write: whatever is in it is checked
 * after it has been copied.  One of the kernel's may also be IB_WR_REG_MR or
 * IB_WR_REG_MR_INTEGRITY, by rkey and access.
 * Behind it are SGEs, or inline data.
 */
static inline struct ib_sge *vib_wqe_sge(struct vib_abi_rc_wqe *wqe)
{
	return (struct ib_sge *)(wqe + 1);
}

static inline u8 *vib_wqe_inline(struct vib_abi_rc_wqe *wqe)
{
	return (u8 *)(wqe + 1);
}

/* ---- request.c ---- */

enum vib_wr_kind {
	VIB_WR_MESSAGE,		/* send or write: packets with payload */
	VIB_WR_READ,
	VIB_WR_ATOMIC,
	VIB_WR_LOCAL,		/* no packet at all */
	VIB_WR_KINDS
};

/* What an opcode of the consumer's is. */
struct vib_wr_op {
	bool valid;
	u8 kind;		/* enum vib_wr_kind */
	u8 wc;			/* enum ib_wc_opcode */
	bool uc;		/* UC has it too */
	u8 first, middle, last, only;	/* on the wire, without the transport */
};

/* Of enum ib_wr_opcode @opcode, if @qp has it; or NULL. */
const struct vib_wr_op *vib_wr_op(const struct vib_qp *qp, u32 opcode);

enum vib_request_state {
	VIB_REQ_BEGUN,
	VIB_REQ_DONE,		/* completes when those before it have */
	VIB_REQ_FAILED,		/* with @status, when those before it have */
};

/* What a send request is from when it begins: the kernel's copy, in the slot of its entry. */
struct vib_request {
	bool flush;		/* by who posted it: in SQE or ERR */
	u8 state;		/* enum vib_request_state */
	u8 status;		/* enum ib_wc_status */
	const struct vib_wr_op *op;	/* NULL: there is no such */
	u32 psn, last_psn;	/* of its packets, or of a READ's responses */
	u32 packets;		/* PSNs that it takes; VIB_WR_LOCAL: 0 */
	u32 len;		/* bytes of the message */
	struct vib_abi_rc_wqe wqe;	/* the last field: what is behind it is behind this, too */
};

static inline struct vib_request *vib_request_at(const struct vib_qp *qp, u32 count)
{
	const struct vib_requester *req = &qp->rc->req;

	return req->slots + (size_t)(count & qp->sq.mask) * req->slot_size;
}

/* Requests that have begun and are not completed. */
static inline bool vib_requests_pending(const struct vib_requester *req)
{
	return req->una != req->next;
}

/* The request that is to send next: one that has begun, or that begins; or NULL. */
struct vib_request *vib_request_current(struct vib_qp *qp);
/* Completes in order those that are done, up to one that failed: that fails the QP. */
void vib_requests_finish(struct vib_qp *qp);
/* Completes what there is as flushed, at most VIB_BATCH.  True: there is more. */
bool vib_requests_flush(struct vib_qp *qp);
/* @r fails with @status; vib_requests_finish() does the rest. */
void vib_request_fail(struct vib_request *r, enum ib_wc_status status);
void vib_request_done(struct vib_qp *qp, struct vib_request *r);

/* ---- requester.c ---- */

/*
 * Calls @fn for @len bytes from @offset of the memory that @r names, or that of its entry if
 * it is inline.  False: a key does not allow @access to it.
 */
bool vib_request_walk(struct vib_qp *qp, struct vib_request *r, u32 offset, u32 len, int access,
		      vib_mem_fn fn, void *context);

/* ---- completer.c: what a response does ---- */

enum vib_response {
	VIB_RESP_ACK,
	VIB_RESP_NAK_SEQ,
	VIB_RESP_NAK_RNR,
	VIB_RESP_NAK_ERROR,	/* invalid request, remote access or operational error */
	VIB_RESP_READ,
	VIB_RESP_ATOMIC,
	VIB_RESP_RESERVED,	/* codes that mean nothing */
	VIB_RESPONSES
};

/* Where its PSN is, once those that it acknowledges implicitly are acknowledged. */
enum vib_psn_relation {
	VIB_PSN_OLD,		/* acknowledged before: a duplicate, or late */
	VIB_PSN_EXPECTED,	/* the oldest that is not acknowledged */
	VIB_PSN_GAP,		/* after a READ or an atomic whose response is missing */
	VIB_PSN_UNSENT,
	VIB_PSN_RELATIONS
};

enum vib_completer_act {
	VIB_ACT_DROP,		/* a ghost (9.7.6.2) */
	VIB_ACT_ACK,
	VIB_ACT_GO_BACK,	/* the responder misses the request */
	VIB_ACT_WAIT,		/* it is not ready */
	VIB_ACT_FAIL,		/* it refuses */
	VIB_ACT_READ,		/* takes the data in */
	VIB_ACT_ATOMIC,
	VIB_ACT_RETRY,		/* implied NAK: a response was lost (9.7.5.1.3) */
	VIB_ACT_BAD,		/* not a response to what was asked */
};

/* What is done with a response, by the kind of the request that its PSN is of. */
enum vib_completer_act vib_completer_act(enum vib_response response,
					 enum vib_psn_relation relation, enum vib_wr_kind kind);

/* ---- retry.c ---- */

/* All before una_psn is acknowledged by now, and it has moved. */
void vib_requester_progress(struct vib_qp *qp);
/* Sends again from una_psn on, if retries are left (9.7.6.1.3); else the oldest fails. */
void vib_requester_retry(struct vib_qp *qp);
/* The responder is not ready for una_psn: for @timer, as in an RNR NAK (9.7.5.2.8). */
void vib_requester_rnr(struct vib_qp *qp, u8 timer);
/* Packets are out: the retry timer runs, if the QP has one. */
void vib_requester_watch(struct vib_qp *qp);
/* Looks whether the timer is over; and does what it is for when it is. */
void vib_requester_timer(struct vib_qp *qp);
void vib_requester_expired(struct vib_qp *qp);
/* No timer, no waiting. */
void vib_requester_stop(struct vib_qp *qp);
/* Nanoseconds of table 46. */
u64 vib_rnr_ns(u8 timer);

void vib_requester_timer_init(struct vib_qp *qp);

/* 0 or -ENOMEM: the send queue, for @cap, and the slots; as vib_queue_init(). */
int vib_requester_init(struct vib_qp *qp, const struct ib_qp_cap *cap, struct ib_udata *udata);
void vib_requester_free(struct vib_qp *qp);
/* The work is disabled: all requests are forgotten, and the timer has ended. */
void vib_requester_reset(struct vib_qp *qp);
/* The first packet will have @psn.  The work is disabled. */
void vib_requester_start(struct vib_qp *qp, u32 psn);

#endif
