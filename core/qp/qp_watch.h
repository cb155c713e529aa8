/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_QP_WATCH_H
#define IBCORE_QP_WATCH_H

/* What qp_watch.c, qp_probe.c and cq_hook.c share. */
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <ibex/qp_watch.h>

#include "qp/qp.h"

struct cq_hook;

/* Links a watch to the hook of one CQ of its QP. */
struct cq_hook_link {
	struct list_head node;			/* of hook->links; hook->lock */
	struct ibcore_qp_watch *watch;		/* constant */
	struct cq_hook *hook;			/* watch->lock; NULL: not hooked */
};

/* Lock order: lock, then the lock of a hook. */
struct ibcore_qp_watch {
	struct rhash_head node;
	struct ib_qp *qp;		/* the key; constant, the QP may be freed */
	refcount_t ref;			/* one of the owner, one of each probe */
	spinlock_t lock;		/* taken in hard interrupt context */
	ibcore_qp_arrival arrival;	/* lock; NULL: disarmed */
	void *context;
	atomic_t *awaited;		/* the CQ's count; lock; NULL: none */
	struct cq_hook_link links[2];	/* for CQs that core does not poll */
	bool at_start;			/* a probe has found the initial PSN */
	bool can_probe;			/* constant; see ibcore_qp_can_probe() */
	struct rcu_head rcu;
};

/* ---- qp_watch.c ---- */
void ibcore_qp_watch_tell(struct ibcore_qp_watch *watch,
			  enum ibcore_qp_proof proof);

/* ---- qp_probe.c ---- */
bool ibcore_tells_psn(const struct ib_device *dev);

/* ---- cq_hook.c: events of CQs that core does not poll ---- */
int ibcore_cq_hooks_init(void);
void ibcore_cq_hooks_exit(void);
/* Makes events of the CQs of a new watch's QP trigger probes; may sleep. */
int ibcore_cq_hook(struct ibcore_qp_watch *watch);
/*
 * Undoes ibcore_cq_hook().  The caller holds the watch's lock, unless the watch
 * is not in the table yet.
 */
void ibcore_cq_unhook(struct ibcore_qp_watch *watch);

#endif
