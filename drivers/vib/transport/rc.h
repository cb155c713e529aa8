/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_RC_H
#define VIB_RC_H

/*
 * Connected transports: RC, UC, and XRC, which on the wire is RC with a header more
 * (IBA vol. 1, 9.7, 9.8.1, annex A14).
 *
 * Each connected QP has one work, vib_rc_work(): it takes in the packets that have come,
 * then sends what there is to send.  Struct vib_rc is that work's, all of it, so nothing of it
 * needs a lock.  Others get at it in three ways:
 *	- vib_modify_qp() writes attributes, and RESET empties it, while the work is disabled;
 *	  it holds vib_qp.lock too, which suffices for vib_query_qp() to read attributes;
 *	- who posts writes to the ring, and to the slot of the entry it adds, under sq_lock;
 *	- timers set timer_over, and queue the work.
 * What the work changes of the attributes (a path that migrates) it changes under vib_qp.lock.
 */
#include <linux/hrtimer.h>
#include "device/qp.h"
#include "queue/rq.h"

#define VIB_PSN_MASK		0xffffff
#define VIB_MAX_RD_ATOMIC	16	/* READs and atomics in progress, in each direction */
#define VIB_MAX_MSG		0x80000000U	/* bytes of a message (9.2, 9.7.4.1.7) */
#define VIB_AETH_UNLIMITED	IB_AETH_CREDIT_INVAL	/* no end-to-end credits (9.7.7.2) */

/* ---- packet sequence numbers: of 24 bits, compared within half of their circle (9.7.2) ---- */

static inline u32 vib_psn_add(u32 psn, u32 n)
{
	return (psn + n) & VIB_PSN_MASK;
}

/* How far @a is after @b; negative: before. */
static inline s32 vib_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline u32 vib_packet_psn(struct vib_packet *pkt)
{
	return be32_to_cpu(vib_packet_bth(pkt)->bth[2]) & VIB_PSN_MASK;
}

/* ---- opcode.c: what the opcodes of the wire are (9.2, tables 38 and 39; A14.3) ---- */

#define VIB_OPCODE_XRC		0xa0	/* the transport; <rdma/ib_pack.h> does not have it */
#define VIB_TRANSPORT(opcode)	((opcode) & 0xe0)
#define VIB_OPERATION(opcode)	((opcode) & 0x1f)	/* IB_OPCODE_SEND_FIRST ... */

/* Extension headers, in the order in which they follow the BTH. */
enum vib_ext {
	VIB_EXT_XRC,		/* __be32: the SRQ's number */
	VIB_EXT_RETH,		/* struct ib_reth */
	VIB_EXT_ATOMIC,		/* struct ib_atomic_eth */
	VIB_EXT_AETH,		/* __be32 */
	VIB_EXT_ATOMIC_ACK,	/* __be64, not aligned: the original value */
	VIB_EXT_IMM,		/* __be32 */
	VIB_EXT_IETH,		/* __be32: the key to invalidate */
	VIB_EXTS
};

enum vib_op_flags {
	VIB_OP_REQUEST	= BIT(0),	/* for the responder */
	VIB_OP_RESPONSE	= BIT(1),	/* for the completer */
	VIB_OP_FIRST	= BIT(2),	/* begins a message; ONLY has both, MIDDLE neither */
	VIB_OP_LAST	= BIT(3),	/* ends one */
	VIB_OP_SEND	= BIT(4),
	VIB_OP_WRITE	= BIT(5),
	VIB_OP_PAYLOAD	= BIT(6),	/* may have some */
	VIB_OP_UC	= BIT(7),	/* UC has it too */
};

struct vib_op {
	u8 ext;			/* BIT(enum vib_ext), without that of XRC */
	u8 flags;		/* enum vib_op_flags; 0: reserved */
};

/* The transport of the opcodes of @qp's packets. */
u8 vib_rc_transport(const struct vib_qp *qp);
/* Of an operation without its transport, or the whole opcode.  Reserved: all 0. */
const struct vib_op *vib_op(u8 opcode);
/* The extension headers that a packet of @opcode has: BIT(enum vib_ext). */
u8 vib_op_ext(u8 opcode);
u16 vib_op_ext_len(u8 opcode);
/*
 * The extension header @ext of @pkt, which has one: vib_rc_check() saw to the headers'
 * length, vib_rc_packet() made it.  Not aligned.
 */
void *vib_packet_ext(struct vib_packet *pkt, enum vib_ext ext);
/*
 * Whether @qp, which is connected, may take in @pkt: VIB_DROPS; or VIB_DROP_OPCODE.  What
 * passes has the QP's transport and the headers of its opcode, and is a request for a QP that
 * takes requests, or a response for one that sends them.  Reserved opcodes of RC pass as
 * requests: the responder answers them (9.7.4.1.4).  Softirq, beside the QP's work.
 */
enum vib_drop vib_rc_check(const struct vib_qp *qp, struct vib_packet *pkt);

/* ---- build.c: packets to the peer ---- */

enum vib_rc_packet_flags {
	VIB_RC_ACK_REQ		= BIT(0),
	VIB_RC_SOLICITED	= BIT(1),
};

/*
 * A packet to the peer: LRH and GRH by the QP's path, BTH with @operation
 * (IB_OPCODE_SEND_FIRST ..., without the transport), @psn and @flags (enum
 * vib_rc_packet_flags).  The extension headers of the operation are there, zeroed, for the
 * caller to fill in by vib_packet_ext().  NULL: there is no memory, or the QP may not send
 * (P_Key, VL): that is counted, and the packet is lost as one on its way would be.
 */
struct vib_packet *vib_rc_packet(struct vib_qp *qp, u8 operation, u32 psn, u32 flags);
/* Finishes @pkt, with its payload, if any, attached, and sends it. */
void vib_rc_xmit(struct vib_qp *qp, struct vib_packet *pkt);
/*
 * Whether a packet may be sent now.  If not, the work runs again when one may.  Both halves
 * ask before each packet.
 */
bool vib_rc_ready(struct vib_qp *qp);

/* ---- requester: of requester.h, whose functions alone use these ---- */

struct vib_requester {
	/*
	 * The send queue by counts of entries: those of [una, next) have begun and are not
	 * completed, @sending is the one whose packets are sent, for the first time or again.
	 */
	u32 una, sending, next;
	void *slots;			/* of struct vib_request, slot_size apart */
	u32 slot_size;
	bool loaded;			/* @next is in its slot, and waits to begin */
	u32 una_psn;			/* the oldest that is not acknowledged */
	u32 send_psn;			/* of the next packet; goes back to send again */
	u32 next_psn;			/* after all that were ever sent */
	u32 since_ack_req;		/* packets without AckReq */
	u8 rd_atomics;			/* READs and atomics that have begun and are not done */
	u8 retries, rnr_retries;	/* left (9.7.6.1.3, 9.7.5.2.8) */
	bool resync;			/* went back, and nothing has been acknowledged since */
	bool progress;			/* something has, since the retry timer was started */
	bool rnr_wait;			/* nothing is sent until the timer is over */

	struct hrtimer timer;		/* of retries, or of rnr_wait */
	ktime_t deadline;		/* of the timer; 0: it does not run */
	bool timer_over;		/* set by the timer, any processor */
};

/* ---- responder: of responder.h, whose functions alone use these ---- */

/* A READ or an atomic that was accepted, kept to answer duplicates of it (9.7.5.1). */
struct vib_resource {
	u8 operation;			/* IB_OPCODE_RDMA_READ_REQUEST, or an atomic's */
	u32 psn, last_psn;		/* of its responses */
	u32 msn;			/* that they carry */
	u64 addr;
	u32 rkey, len;
	u32 srqn;			/* XRC: the SRQ that the request named */
	u64 value;			/* atomic: the original, which a duplicate gets again */
	u32 start_psn;			/* READ: where sending began, which is FIRST or ONLY */
	u32 send_psn;			/* the next response to send */
	bool replying;			/* there are responses to send */
	bool answered;			/* all were sent once: the requester may have them */
};

struct vib_responder {
	u32 psn;			/* that is expected (9.7.1) */
	u32 msn;			/* messages completed (9.7.7.1) */
	bool comm_est;			/* reported */

	/* The message that is coming in */
	u8 message;			/* enum vib_message: what may follow (9.7.4.1.3) */
	bool has_recv;			/* @recv is taken; UC: also between messages */
	struct vib_recv recv;
	u32 received;			/* bytes of it */
	u32 srqn;			/* XRC: the SRQ that its packets name */
	u64 addr;			/* WRITE: of the next byte */
	u32 rkey, left;

	/* Responder resources, a ring, oldest first; max_dest_rd_atomic of them are in use */
	struct vib_resource resources[VIB_MAX_RD_ATOMIC];
	u8 first, count;

	/* ACK or NAK to be sent: state, not a queue */
	bool ack_due;
	u8 syndrome;			/* of AETH */
	u32 nak_psn;
	bool nak_sent;			/* one for each gap (9.7.5.2); an RNR NAK is one, too */

	/* A request has failed: nothing more is taken in */
	bool failed;
	bool qp_failed;			/* the QP is in ERR by it */
	u8 event;			/* to be raised then: enum ib_event_type; 0: none */
};

/* ---- both ---- */

struct vib_rc {
	struct vib_qp *qp;

	/* Attributes, up to @req: none of them outlives RESET */
	struct vib_av path, alt;		/* alt.port 0: there is none */
	u16 alt_pkey_index;
	u8 alt_timeout;
	u8 mig_state;			/* enum ib_mig_state */
	u8 timeout;			/* 4.096 us * 2^timeout; 0: none */
	u8 retry_cnt, rnr_retry;
	u8 min_rnr_timer;		/* as in an RNR NAK, table 46 */
	u8 max_rd_atomic, max_dest_rd_atomic;
	u16 mtu;			/* of the path, in bytes */
	u32 remote_qpn;
	u32 rq_psn;			/* as it was set, for queries; the present is resp.psn */
	int access;			/* enum ib_access_flags: what the peer may do */

	struct vib_requester req;
	struct vib_responder resp;
};

static inline bool vib_qp_is_xrc(const struct vib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_XRC_INI || qp->ib.qp_type == IB_QPT_XRC_TGT;
}

/* Reliable: it has responses. */
static inline bool vib_qp_is_reliable(const struct vib_qp *qp)
{
	return qp->ib.qp_type != IB_QPT_UC;
}

static inline void vib_rc_count(const struct vib_qp *qp, enum vib_rc_event event)
{
	atomic64_inc(&vib_ca_port(qp->port)->rc_events[event]);
}

/* ---- path.c: the paths of a QP (9.6.1.5, 17.2.8) ---- */

/*
 * Whether @pkt came by the QP's path.  If the peer has migrated to the alternate path, and
 * this QP is armed, it migrates too, and takes it.
 */
bool vib_path_takes(struct vib_qp *qp, struct vib_packet *pkt);
/* Sends by the alternate path from now on, if the QP is armed; or false. */
bool vib_path_migrate(struct vib_qp *qp);
/*
 * Beside the QP's work: whether packets of the alternate path may come to @port, and by which
 * P_Key; 0: they do not.
 */
u16 vib_path_alt_pkey(const struct vib_qp *qp, const struct vib_port *port);

/* ---- rc.c ---- */

/* qp->rc of a QP of a connected type, with its send queue.  0 or -ENOMEM. */
int vib_rc_create(struct vib_qp *qp, const struct ib_qp_cap *cap, struct ib_udata *udata);
/* After vib_qp_purge(). */
void vib_rc_free(struct vib_qp *qp);
/* The work is disabled: forgets all of what goes on.  Process context. */
void vib_rc_reset(struct vib_qp *qp);
/*
 * recv_work of a connected QP: packets that have come in are taken in always, in each state;
 * then replies, then requests are sent; in ERR both queues are flushed.
 */
void vib_rc_work(struct work_struct *work);

/* ---- attr.c: of vib_modify_qp() and vib_query_qp(), under qp->lock ---- */

/* Whether the values of @attr can be: 0, -EINVAL or -EOPNOTSUPP. */
int vib_rc_check_attrs(const struct vib_qp *qp, const struct ib_qp_attr *attr, int mask);
void vib_rc_take_attrs(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask);
void vib_rc_query(const struct vib_qp *qp, struct ib_qp_attr *attr);
/* What there is to do then, without the lock; the work is disabled, the state was @from. */
void vib_rc_modified(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask,
		     enum ib_qp_state from);

/* ---- post.c ---- */

/*
 * Adds @wr to the send queue.  Under qp->sq_lock.  -EINVAL, -EOPNOTSUPP: not one for the QP's
 * type, or with a field that cannot be right; -ENOMEM: the queue is full.
 */
int vib_rc_post(struct vib_qp *qp, const struct ib_send_wr *wr);

/*
 * ---- responder.c ----
 * All but reset and start are of the work, softirq.
 */

/* RESET: the work is disabled.  Gives back what it holds; the QP may be used anew. */
void vib_rc_responder_reset(struct vib_qp *qp);
/* INIT to RTR: the attributes are set, rc->rq_psn among them; the work is disabled. */
void vib_rc_responder_start(struct vib_qp *qp);
/*
 * Takes @pkt over: a request (or reserved opcode), that came by the QP's path, in RTR, RTS, SQD
 * or SQE.  Never waits for room to send.
 */
void vib_rc_respond(struct vib_qp *qp, struct vib_packet *pkt);
/*
 * Sends ACKs, NAKs and responses as vib_rc_ready() allows, at most VIB_BATCH packets.
 * True: there are more and it may go on at once, so the work is queued again; false if there
 * are none or vib_rc_ready() said no.  In ERR only a NAK that put the QP there is sent.
 */
bool vib_rc_send_replies(struct vib_qp *qp);
/*
 * In ERR: completes one receive request as flushed, the one in progress first; raises
 * LAST_WQE_REACHED, once, for a QP with an SRQ.  False: there is none.
 */
bool vib_rc_flush_recv(struct vib_qp *qp);

/* ---- requester.c, completer.c ---- */

/* Takes @pkt over, a response that came by the QP's path.  Never waits for room to send. */
void vib_rc_complete(struct vib_qp *qp, struct vib_packet *pkt);
/*
 * Sends requests, at most VIB_BATCH packets, and completes what needs no response.  True: the
 * work is to be queued again.
 */
bool vib_rc_send(struct vib_qp *qp);

/*
 * Errors: a request that fails is completed, then vib_qp_send_failed() puts the QP into SQE
 * (UC) or ERR; a responder that fails calls vib_qp_recv_failed(), which is ERR, and raises its
 * event by vib_qp_event().
 */

#endif
