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

/* The place of a watch among those that one CQ's events concern. */
struct cq_hook_link {
	struct list_head node;			/* hook->lock */
	struct ibcore_qp_watch *watch;		/* fixed */
	struct cq_hook *hook;			/* watch->lock; NULL: none */
};

/* Lock order: lock, then that of a hook. */
struct ibcore_qp_watch {
	struct rhash_head node;
	struct ib_qp *qp;		/* the key; fixed, and maybe gone */
	refcount_t ref;			/* the owner's, and those of probes */
	spinlock_t lock;		/* taken in hard interrupt context */
	ibcore_qp_arrival arrival;	/* lock; NULL: disarmed */
	void *context;
	atomic_t *awaited;		/* of the CQ; lock; NULL: not polled here */
	struct cq_hook_link links[2];	/* of CQs that core does not poll */
	bool at_start;			/* set by a probe that found the PSN of RTR */
	bool can_probe;			/* fixed; the provider tells of the PSN */
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
/* Has events of the CQs of a new watch's QP lead to probes; may sleep. */
int ibcore_cq_hook(struct ibcore_qp_watch *watch);
/* No longer; the watch's lock is held, but for one that is not in its table. */
void ibcore_cq_unhook(struct ibcore_qp_watch *watch);

#endif
