/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FAULTS_H
#define IBEX_FAULTS_H

#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

/*
 * Calls @fn repeatedly, the n-th allocation of the n-th call failing, until a call has
 * fewer allocations.  @fn returns 0 or an error.  On an error it must leave nothing
 * behind; on 0 it must have undone its work, too.  @fn may succeed although an
 * allocation failed, if the code can do without.  Returns the number of calls that
 * failed.
 */
static inline unsigned int ibex_each_allocation(struct kunit *test,
						int (*fn)(struct kunit *test))
{
	unsigned int n, failed = 0;
	int ret;

	for (n = 1; n < 2000; n++) {
		current->fail_nth = n;
		ret = fn(test);
		if (current->fail_nth) {
			current->fail_nth = 0;
			KUNIT_EXPECT_EQ(test, ret, 0);
			return failed;
		}
		failed += !!ret;
	}
	KUNIT_FAIL(test, "allocations without end");
	return failed;
}

#define IBEX_NTH_SPENT	0	/* task->fail_nth, once that allocation failed */

/* Makes the @nth allocation of each kernel worker fail. */
static inline void ibex_workers_arm(unsigned int nth)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task)
		if (task->flags & PF_WQ_WORKER)
			task->fail_nth = nth;
	rcu_read_unlock();
}

/* Lets allocations of workers succeed again; returns whether one may have failed. */
static inline bool ibex_workers_disarm(void)
{
	struct task_struct *task;
	bool failed = false;

	rcu_read_lock();
	for_each_process(task) {
		if (!(task->flags & PF_WQ_WORKER))
			continue;
		/*
		 * A worker that was created meanwhile looks as if one had failed: the
		 * caller repeats.
		 */
		failed |= task->fail_nth == IBEX_NTH_SPENT;
		task->fail_nth = 0;
	}
	rcu_read_unlock();
	return failed;
}

/*
 * Calls @fn repeatedly, the n-th allocation that a worker makes meanwhile failing in
 * the n-th call, until none fails; calls @undo after each, without failures.  Returns
 * the number of calls in which one may have failed.
 */
static inline unsigned int
ibex_each_worker_allocation(struct kunit *test, void (*fn)(struct kunit *test),
			    void (*undo)(struct kunit *test))
{
	unsigned int n;
	bool failed;

	for (n = 1; n < 1000; n++) {
		ibex_workers_arm(n);
		fn(test);
		failed = ibex_workers_disarm();
		undo(test);
		if (!failed)
			return n - 1;
	}
	KUNIT_FAIL(test, "allocations without end");
	return n;
}

#endif
