// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The delays at our locks, which all suites of this module run with, do happen. */
#include <kunit/test.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <ibex/device.h>
#include "delays.h"
#include "wait.h"

#define LOOKUPS	10000

static void locks_are_delayed(struct kunit *test)
{
	unsigned long before = lock_delays_made();
	int i;

	/* Each takes and releases the lock of the registry. */
	for (i = 0; i < LOOKUPS; i++)
		KUNIT_EXPECT_NULL(test, ib_device_get_by_name("none", RDMA_DRIVER_UNKNOWN));
	if (lock_delays_possible())
		KUNIT_EXPECT_GT(test, lock_delays_made() - before, LOOKUPS / 100UL);
	else
		kunit_info(test, "no tracepoints of locks, no delays");
}

/* Looks through a bucket of devices in an RCU section. */
static bool no_device(void)
{
	return !ib_device_get_by_netdev(init_net.loopback_dev, RDMA_DRIVER_UNKNOWN);
}

static void threads_are_preempted(struct kunit *test)
{
	unsigned long before = preempt_times();

	if (!preempt_possible()) {
		kunit_info(test, "one processor, RCU that is not preempted, or another place: no preemptions");
		return;
	}
	KUNIT_EXPECT_TRUE(test, wait_within(no_device() && preempt_times() > before, 10000));
}

static struct kunit_case delays_cases[] = {
	KUNIT_CASE(locks_are_delayed),
	KUNIT_CASE(threads_are_preempted),
	{}
};

static struct kunit_suite delays_suite = {
	.name = "race_delays",
	.test_cases = delays_cases,
};

kunit_test_suite(delays_suite);
