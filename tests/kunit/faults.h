/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FAULTS_H
#define IBEX_FAULTS_H

#include <kunit/test.h>
#include <linux/sched.h>

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

#endif
