/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FAULTS_H
#define IBEX_FAULTS_H

#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

/*
 * Calls @fn again and again, the n-th allocation of the n-th call failing, until a
 * call gets by without.  @fn answers 0 or an error and leaves nothing behind when it
 * answers an error; on 0 it has undone its work too.  @fn may succeed though an
 * allocation failed, where the code has a way round it.
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

/* Has the @nth allocation of each kernel worker fail. */
static inline void ibex_workers_arm(unsigned int nth)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task)
		if (task->flags & PF_WQ_WORKER)
			task->fail_nth = nth;
	rcu_read_unlock();
}

/* Has none fail any more; answers whether one did. */
static inline bool ibex_workers_disarm(void)
{
	struct task_struct *task;
	bool failed = false;

	rcu_read_lock();
	for_each_process(task) {
		if (!(task->flags & PF_WQ_WORKER))
			continue;
		/* Of a worker that was born meanwhile, it is not known: once more. */
		failed |= task->fail_nth == IBEX_NTH_SPENT;
		task->fail_nth = 0;
	}
	rcu_read_unlock();
	return failed;
}

/*
 * Calls @fn again and again, the n-th allocation that a worker makes meanwhile
 * failing in the n-th call, until none fails; @undo after each, without failures.
 * Answers the number of calls in which one may have.
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
