/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_WORK_H
#define IBEX_COMPAT_WORK_H

/* Workqueues; include/ibex/compat.h. */
#include <linux/bottom_half.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
/*
 * Works that run in softirqs.  Here they run in threads, with bottom halves off, so their locks
 * and per-CPU data need no more care; but a work that is queued with bottom halves off runs
 * soon, not before they are on again.  WQ_MEM_RECLAIM: a softirq needs no memory to run.
 */
#define WQ_BH (WQ_HIGHPRI | WQ_MEM_RECLAIM)

/* Heads of the definition of such a work's function. */
#define IBEX_BH_WORK(fn)						\
	static void fn##_in_bh(struct work_struct *work);		\
	void fn(struct work_struct *work)				\
	{								\
		local_bh_disable();					\
		fn##_in_bh(work);					\
		local_bh_enable();					\
	}								\
	static void fn##_in_bh(struct work_struct *work)
#define IBEX_STATIC_BH_WORK(fn)						\
	static void fn(struct work_struct *work);			\
	IBEX_BH_WORK(fn)

/*
 * A disabled work is in the state of one that is being cancelled: pending, so nothing queues
 * it, and marked as being cancelled, so that mod_delayed_work() does not wait for it.  It is on
 * no list then, so its entry counts how often it is disabled.  Calls for one work must be
 * serialised, and nobody may cancel it otherwise: that would wait for ever.
 */
#define IBEX_WORK_DISABLED (WORK_STRUCT_PENDING | WORK_OFFQ_CANCELING)

static inline bool ibex_work_is_disabled(struct work_struct *work)
{
	unsigned long data = atomic_long_read(&work->data);

	return !(data & WORK_STRUCT_PWQ) &&
	       (data & IBEX_WORK_DISABLED) == IBEX_WORK_DISABLED;
}

static inline void ibex_work_set_depth(struct work_struct *work, unsigned long depth)
{
	work->entry.next = (struct list_head *)depth;
}

static inline unsigned long ibex_work_depth(const struct work_struct *work)
{
	return (unsigned long)work->entry.next;
}

/* Takes a work that is not queued; false if it is. */
static inline bool ibex_work_take(struct work_struct *work)
{
	long data = atomic_long_read(&work->data);

	return !(data & WORK_STRUCT_PENDING) &&
	       atomic_long_try_cmpxchg(&work->data, &data, data | IBEX_WORK_DISABLED);
}

/*
 * Each returns whether the work was queued.  The second cancellation of a work is none: what
 * was queued between the first one and ibex_work_take() and has begun is waited for.
 */
static inline bool disable_work_sync(struct work_struct *work)
{
	bool pending = false;

	if (ibex_work_is_disabled(work)) {
		ibex_work_set_depth(work, ibex_work_depth(work) + 1);
		return false;
	}
	do {
		pending |= cancel_work_sync(work);
	} while (!ibex_work_take(work));
	flush_work(work);
	ibex_work_set_depth(work, 1);
	return pending;
}

static inline bool disable_delayed_work_sync(struct delayed_work *dwork)
{
	bool pending = false;

	if (ibex_work_is_disabled(&dwork->work)) {
		ibex_work_set_depth(&dwork->work, ibex_work_depth(&dwork->work) + 1);
		return false;
	}
	do {
		pending |= cancel_delayed_work_sync(dwork);
	} while (!ibex_work_take(&dwork->work));
	flush_work(&dwork->work);
	ibex_work_set_depth(&dwork->work, 1);
	return pending;
}

/* Returns whether the work can be queued again. */
static inline bool enable_work(struct work_struct *work)
{
	unsigned long depth = ibex_work_depth(work) - 1;

	if (WARN_ON_ONCE(!ibex_work_is_disabled(work)))
		return false;
	if (depth) {
		ibex_work_set_depth(work, depth);
		return false;
	}
	INIT_LIST_HEAD(&work->entry);
	/* Pairs with the atomic operation of who queues it next: it sees the entry. */
	smp_mb__before_atomic();
	atomic_long_andnot(IBEX_WORK_DISABLED, &work->data);
	return true;
}
#else
#define IBEX_BH_WORK(fn) void fn(struct work_struct *work)
#define IBEX_STATIC_BH_WORK(fn) static void fn(struct work_struct *work)
#endif

#endif
