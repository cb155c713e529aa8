/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_QP_H
#define VIB_QP_H

/*
 * Queue pairs (IBA vol. 1, 10.2.4, 10.3, 11.2.4).
 *
 * Posting fills a queue and queues a work item in softirq context, which alone empties it (of
 * a process: the process fills a ring, and rings the doorbell, which queues the work):
 * send_work the send queue, recv_work the receive queue and the packets that have come in.
 * Of a connected QP recv_work does both (transport/rc.h).  A work item never runs twice at
 * once, so neither queue needs a lock for its consumer.
 */
#include <linux/completion.h>
#include <linux/refcount.h>
#include "device/ah.h"
#include "device/hca.h"
#include "queue/queue.h"
#include "queue/rq.h"

#define VIB_MAX_INLINE	512
/* Flags that a send request may have; a fence of datagrams has nothing to wait for. */
#define VIB_SEND_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)
#define VIB_FIRST_QPN	2	/* 0 and 1 are a port's SMI and GSI */
#define VIB_GRH_ROOM	sizeof(struct ib_grh)	/* in each buffer of a datagram, 11.4.1.2 */
/* Requests or packets that a work item takes before others have their turn. */
#define VIB_BATCH	64
/* Packets without link credits that may wait for one QP. */
#define VIB_MAX_BACKLOG	256

struct vib_qp;
struct vib_rc;
struct vib_srq;

/* What leads packets and groups to a QP.  Freed under RCU, so that it outlives the QP. */
struct vib_qp_ref {
	refcount_t count;		/* the QP's own; one a packet being handed to it */
	struct vib_qp *qp;		/* valid with a reference */
	struct completion unused;	/* the count is 0 */
	struct rcu_head rcu;
};

/* An entry of a send queue of datagrams. */
struct vib_send_wqe {
	u64 wr_id;
	struct vib_av av;
	u32 remote_qpn;
	u32 remote_qkey;
	__be32 imm_data;
	u16 pkey_index;			/* GSI */
	u8 opcode;			/* enum ib_wr_opcode */
	u8 flags;			/* enum ib_send_flags */
};

/* What goes with it and is the kernel's alone. */
struct vib_send_slot {
	struct vib_payload *payload;	/* copied when it was posted; NULL: empty */
	enum ib_wc_status status;	/* an error that was found then */
};

struct vib_qp {
	struct ib_qp ib;
	struct vib_qp_ref *ref;
	struct vib_port *port;		/* from INIT on; SMI and GSI: always */
	spinlock_t lock;		/* with bottom halves off */
	/* Written under lock, sq_lock and rq.lock; packets look without any */
	enum ib_qp_state state;
	bool sq_draining;		/* SQD, and that is not yet reported; lock */
	bool sqd_notify;		/* lock */
	u16 pkey_index;			/* written under lock, as the next */
	u32 qkey;
	u32 sq_psn;			/* of the next packet; send_work's, from RTS on */
	struct ib_qp_cap cap;		/* fixed, as the next three */
	bool sig_all;
	bool user;			/* a process' own: it posts to the queues, not the kernel */
	bool block_loopback;		/* does not get its own multicast packets */

	spinlock_t sq_lock;		/* who posts sends; with interrupts off */
	/* Datagrams: of struct vib_send_wqe, a process' vib_abi_ud_wqe; else vib_abi_rc_wqe */
	struct vib_queue sq;
	struct vib_send_slot *slots;	/* by the index of a vib_send_wqe in sq */
	struct vib_rq rq;		/* cap.max_recv_wr is 0: not used */
	/*
	 * A basic SRQ is fixed.  An XRC target has the one that the packet names, with a
	 * reference, while the work takes the packet in, and NULL otherwise.
	 */
	struct vib_srq *srq;
	/* Of an XRC target, fixed: the core sets its own after the QP is whole, if at all */
	struct ib_xrcd *xrcd;
	bool last_wqe;			/* LAST_WQE_REACHED was raised; recv_work */

	spinlock_t rx_lock;		/* with bottom halves off */
	struct list_head rx;		/* packets, in order; rx_lock */
	u32 rx_len;			/* how many; rx_lock */
	struct work_struct recv_work;
	struct work_struct send_work;	/* datagrams */
	struct work_struct *sender;	/* the one of them that empties sq; fixed */
	struct vib_waiter waiter;	/* for the port's transmitter; the sender */
	struct vib_rc *rc;		/* transport/rc.h: of RC, UC and XRC; or NULL.  Fixed */
};

static inline struct vib_qp *to_vib_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct vib_qp, ib);
}

static inline bool vib_qp_is_special(const struct vib_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_SMI || qp->ib.qp_type == IB_QPT_GSI;
}

/* Bytes behind an entry of a send queue, for SGEs or inline data. */
static inline u32 vib_send_room(const struct ib_qp_cap *cap)
{
	return max_t(u32, cap->max_send_sge * sizeof(struct ib_sge),
		     ALIGN(cap->max_inline_data, sizeof(u64)));
}

/* RTR and all that follow but ERR (10.3.1). */
static inline bool vib_qp_receives(const struct vib_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return state >= IB_QPS_RTR && state <= IB_QPS_SQE;
}

/* ---- qp.c ---- */

/* The QP of @ref, or QP @qpn of @port, with a reference; or NULL.  Under RCU. */
struct vib_qp *vib_qp_hold(struct vib_qp_ref *ref);
struct vib_qp *vib_qp_find(struct vib_port *port, u32 qpn);
/* In the same section of RCU. */
void vib_qp_put(struct vib_qp *qp);
/* @pkt, which the QP takes, waits for recv_work.  With bottom halves off. */
void vib_qp_receive(struct vib_qp *qp, struct vib_packet *pkt);
/* The oldest packet that waits, or NULL. */
struct vib_packet *vib_qp_next_packet(struct vib_qp *qp);
/*
 * Forgets what is posted and what has come in (10.3.1.1).  The QP is in RESET, or ends.
 * Until vib_qp_resume() its works do not run.  May sleep.
 */
void vib_qp_purge(struct vib_qp *qp);
void vib_qp_resume(struct vib_qp *qp);
/*
 * Queues @work, one of the QP's.  In process context it has run, on return, unless bottom
 * halves are off.
 */
void vib_qp_kick(struct work_struct *work);

extern const struct ib_device_ops vib_qp_ops;

/* ---- qp_state.c ---- */
int vib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int vib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
/*
 * A send request failed: RTS and SQD become SQE, or of a reliable connection ERR (10.3.1.6).
 * A receive did: ERR.
 */
void vib_qp_send_failed(struct vib_qp *qp);
void vib_qp_recv_failed(struct vib_qp *qp);
/* Tells the consumer of an event of the QP's.  Softirq or process context, no lock held. */
void vib_qp_event(struct vib_qp *qp, enum ib_event_type type);
/* In SQD, nothing is in progress: tells the consumer who asked for it (10.3.1.5). */
void vib_qp_drained(struct vib_qp *qp);

/* ---- post.c ---- */
extern const struct ib_device_ops vib_post_ops;

/* ---- ud.c: send_work and recv_work ---- */
void vib_ud_send(struct work_struct *work);
void vib_ud_receive(struct work_struct *work);

/* ---- rx.c ---- */

/* Whether @qp takes @pkt, which came to @port: VIB_DROPS; or else why not. */
enum vib_drop vib_qp_check(const struct vib_qp *qp, const struct vib_port *port,
			   struct vib_packet *pkt);

/* ---- mcast.c ---- */

/* @pkt, for a multicast LID, goes to each member of its group on @port.  Under RCU. */
void vib_mcast_receive(struct vib_port *port, struct vib_packet *pkt);
bool vib_mcast_has_members(struct vib_hca *hca, u16 mlid);

extern const struct ib_device_ops vib_mcast_ops;

#endif
