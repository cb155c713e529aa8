/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_SRQ_H
#define VIB_SRQ_H

/*
 * Shared receive queues (IBA vol. 1, 10.2.9, 11.2.3): basic ones, which QPs name when they
 * are created, and those of XRC (Annex A14), which packets name by number.
 *
 * Lock order: vib_srq.lock, then vib_srq.rq.lock.  No event handler is called with either.
 */
#include <linux/completion.h>
#include <linux/refcount.h>
#include "device/hca.h"
#include "queue/rq.h"

struct vib_srq;

/* Leads packets to an XRC SRQ.  Freed under RCU, so that it outlives the SRQ. */
struct vib_srq_ref {
	refcount_t count;		/* the SRQ's own; one a packet that is taken in */
	struct vib_srq *srq;		/* valid with a reference */
	struct ib_xrcd *xrcd;		/* fixed; only compared */
	struct completion unused;	/* the count is 0 */
	struct rcu_head rcu;
};

struct vib_srq {
	struct ib_srq ib;
	struct ib_cq *cq;		/* of an XRC SRQ: for its completions.  Fixed */
	struct vib_srq_ref *ref;	/* of an XRC SRQ, or NULL.  Fixed */
	spinlock_t lock;		/* consumers; with bottom halves off */
	u32 limit;			/* 0: not armed; lock */
	struct vib_rq rq;		/* its ring is replaced under both locks */
};

static inline struct vib_srq *to_vib_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct vib_srq, ib);
}

/*
 * Takes the oldest request of @srq into @recv.  False: there is none.  Raises the limit
 * event.  Softirq.
 */
bool vib_srq_take(struct vib_srq *srq, struct vib_recv *recv);

/*
 * The XRC SRQ with number @srqn in @xrcd, with a reference, or NULL.  The caller drops the
 * reference with vib_srq_put() when it has taken in the packet, for destroying the SRQ waits
 * for that.  Softirq or process context.
 */
struct vib_srq *vib_srq_find(struct ib_xrcd *xrcd, u32 srqn);
void vib_srq_put(struct vib_srq *srq);

/*
 * Takes out the completions of @qp, a target of @xrcd that is being destroyed: they are in
 * the CQs of the SRQs that its packets named.
 */
void vib_srq_clean(struct ib_xrcd *xrcd, const struct ib_qp *qp);

extern const struct ib_device_ops vib_srq_ops;

#endif
