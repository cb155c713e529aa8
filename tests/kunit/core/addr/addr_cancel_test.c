// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Cancelling address resolution, and resolving many addresses at a time. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include "addr_req.h"

#define CANCEL_NET	82
#define MANY		64

static const u8 peer_ha[MAX_ADDR_LEN] = { 2, 0x11, 0x22, 0x33, 0x44, 0x66 };
static struct roce roce;

static int cancel_test_init(struct kunit *test)
{
	return roce_get(&roce, CANCEL_NET);
}

static void cancel_test_exit(struct kunit *test)
{
	roce_put(&roce);
}

static void a_cancelled_request_is_never_called_back(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);
	struct addr_wait w;

	/* Cancelled while it waits for the neighbour. */
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 500), 0);
	msleep(50);
	rdma_addr_cancel(&w.addr);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&w.calls), 0);
	/* Cancelled before its work has run, although the neighbour is known already. */
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 500), 0);
	rdma_addr_cancel(&w.addr);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&w.calls), 0);
}

static void to_cancel_what_has_ended_does_nothing(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 500), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	rdma_addr_cancel(&w.addr);
	rdma_addr_cancel(&w.addr);
	KUNIT_EXPECT_EQ(test, atomic_read(&w.calls), 1);
}

static void cancel_self(struct addr_wait *w)
{
	rdma_addr_cancel(&w->addr);
}

/* The cancel must not wait for the callback that calls it. */
static void a_callback_may_cancel_its_own_request(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	addr_prepare(&w);
	w.then = cancel_self;
	KUNIT_ASSERT_EQ(test, addr_start_by(&w, NULL, &dst, 500, false), 0);
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
}

struct again {
	struct addr_wait first, second;
	struct in6_addr dst;
	int ret;
};

static void resolve_again(struct addr_wait *w)
{
	struct again *a = w->arg;

	/* Begins a second request on the same rdma_dev_addr. */
	w->then = NULL;
	a->ret = addr_start_by(w, NULL, &a->dst, 300, false);
	msleep(50);
}

static void a_callback_may_resolve_anew(struct kunit *test)
{
	struct again a = { .dst = roce_v4(&roce, 2) };
	struct in6_addr silent = roce_v4(&roce, 3);

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &a.dst, peer_ha), 0);
	addr_prepare(&a.first);
	a.first.arg = &a;
	a.first.then = resolve_again;
	KUNIT_ASSERT_EQ(test, addr_start_by(&a.first, NULL, &a.dst, 500, false), 0);
	KUNIT_EXPECT_TRUE(test, wait_count(&a.first.calls, 2));
	KUNIT_EXPECT_EQ(test, a.ret, 0);
	rdma_addr_cancel(&a.first.addr);

	/* Cancelling their rdma_dev_addr ends both requests. */
	addr_prepare(&a.first);
	a.first.arg = &a;
	a.first.then = resolve_again;
	KUNIT_ASSERT_EQ(test, addr_start_by(&a.first, NULL, &a.dst, 500, false), 0);
	a.dst = silent;
	KUNIT_EXPECT_TRUE(test, wait_count(&a.first.calls, 1));
	rdma_addr_cancel(&a.first.addr);
	KUNIT_EXPECT_TRUE(test, a.first.returned);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&a.first.calls), 1);
}

static void be_slow(struct addr_wait *w)
{
	msleep(200);
}

/* In-tree number 6: the caller frees what the callback uses after the cancel. */
static void cancel_waits_for_the_callback(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	addr_prepare(&w);
	w.then = be_slow;
	KUNIT_ASSERT_EQ(test, addr_start_by(&w, NULL, &dst, 500, false), 0);
	KUNIT_ASSERT_TRUE(test, wait_count(&w.calls, 1));
	KUNIT_EXPECT_FALSE(test, w.returned);
	rdma_addr_cancel(&w.addr);
	KUNIT_EXPECT_TRUE(test, w.returned);
}

static void after_a_cancel_the_address_is_free_for_another(struct kunit *test)
{
	struct in6_addr silent = roce_v4(&roce, 3), dst = roce_v4(&roce, 2);
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &silent, 300), 0);
	msleep(20);
	rdma_addr_cancel(&w.addr);
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 1000), 0);
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.status, 0);
	msleep(500);
	KUNIT_EXPECT_EQ(test, atomic_read(&w.calls), 1);
	KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, peer_ha, ETH_ALEN);
}

static void an_update_wakes_its_own_requests_alone(struct kunit *test)
{
	struct addr_wait *w = kcalloc(MANY, sizeof(*w), GFP_KERNEL);
	struct in6_addr dst;
	unsigned long answered;
	int i, called = 0;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (i = 0; i < MANY; i++) {
		dst = roce_v4(&roce, 100 + i / 2);
		KUNIT_ASSERT_EQ(test, addr_start(&w[i], NULL, &dst, 2500), 0);
	}
	msleep(100);
	dst = roce_v4(&roce, 110);
	answered = jiffies;
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	msleep(100);
	/* The two that wait for that neighbour are called, and at once. */
	for (i = 0; i < MANY; i++)
		called += atomic_read(&w[i].calls);
	KUNIT_EXPECT_EQ(test, called, 2);
	for (i = 20; i < 22; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&w[i].calls), 1);
		KUNIT_EXPECT_LE(test, took_ms(w[i].when - answered), 20u);
	}
	for (i = 0; i < MANY; i++) {
		KUNIT_EXPECT_TRUE(test, addr_wait(&w[i]));
		KUNIT_EXPECT_EQ(test, w[i].status, i / 2 == 10 ? 0 : -ETIMEDOUT);
	}
	kfree(w);
}

/* In-tree number 10: the work of an event was queued twice. */
static void updates_that_come_together_call_back_once(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);
	u8 other_ha[MAX_ADDR_LEN];
	struct addr_wait w;
	int i;

	memcpy(other_ha, peer_ha, sizeof(other_ha));
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 500), 0);
	msleep(50);
	for (i = 0; i < 10; i++) {
		other_ha[5]++;
		KUNIT_EXPECT_EQ(test, net_neighbour(roce.ndev, &dst, other_ha), 0);
	}
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
	/* The last update counts. */
	KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, other_ha, ETH_ALEN);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&w.calls), 1);
}

static void other_events_wake_nobody(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 400), 0);
	msleep(50);
	call_netevent_notifiers(NETEVENT_DELAY_PROBE_TIME_UPDATE, &arp_tbl.parms);
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.status, -ETIMEDOUT);
}

struct storm {
	struct completion stopped;
	bool stop;
};

static int storm_fn(void *arg)
{
	struct storm *storm = arg;
	u8 ha[MAX_ADDR_LEN];
	struct in6_addr dst;
	u32 n = 0;

	memcpy(ha, peer_ha, sizeof(ha));
	while (!READ_ONCE(storm->stop)) {
		dst = roce_v4(&roce, 2 + n++ % 8);
		ha[4]++;
		net_neighbour(roce.ndev, &dst, ha);
		if (n % 3)
			cond_resched();
		else
			usleep_range(1000, 2000);
	}
	complete(&storm->stopped);
	return 0;
}

/* In-tree number 22: an update arrives while its request is cancelled. */
static void updates_meet_cancels(struct kunit *test)
{
	struct storm storm = {};
	struct addr_wait *w;
	struct in6_addr dst;
	int i, calls;

	init_completion(&storm.stopped);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(storm_fn, &storm, "addr_storm")));
	for (i = 0; i < 400; i++) {
		/* The request has memory of its own: KASAN reports a late use. */
		w = kmalloc(sizeof(*w), GFP_KERNEL);
		if (!w)
			break;
		dst = roce_v4(&roce, 2 + i % 12);
		KUNIT_EXPECT_EQ(test, addr_start(w, NULL, &dst, 1000), 0);
		if (i % 3 == 1)
			cond_resched();
		else if (i % 3 == 2)
			usleep_range(500, 3000);
		rdma_addr_cancel(&w->addr);
		calls = atomic_read(&w->calls);
		KUNIT_EXPECT_LE(test, calls, 1);
		KUNIT_EXPECT_EQ(test, w->returned, calls == 1);
		kfree(w);
	}
	WRITE_ONCE(storm.stop, true);
	wait_for_completion(&storm.stopped);
}

static void a_device_that_goes_ends_the_wait(struct kunit *test)
{
	struct in6_addr dst = net_v4(0x0a640002);
	struct net_device *ndev = fake_netdev_create("fgone%d");
	struct addr_wait w;

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	KUNIT_ASSERT_EQ(test, net_arp(ndev, true), 0);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(ndev, htonl(0x0a640001), 24), 0);
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 20000), 0);
	msleep(50);
	/* No request keeps a reference on the device. */
	fake_netdev_destroy(ndev);
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.status, -ENETUNREACH);
}

static struct kunit_case cancel_cases[] = {
	KUNIT_CASE(a_cancelled_request_is_never_called_back),
	KUNIT_CASE(to_cancel_what_has_ended_does_nothing),
	KUNIT_CASE(a_callback_may_cancel_its_own_request),
	KUNIT_CASE(a_callback_may_resolve_anew),
	KUNIT_CASE(cancel_waits_for_the_callback),
	KUNIT_CASE(after_a_cancel_the_address_is_free_for_another),
	KUNIT_CASE(an_update_wakes_its_own_requests_alone),
	KUNIT_CASE(updates_that_come_together_call_back_once),
	KUNIT_CASE(other_events_wake_nobody),
	KUNIT_CASE(updates_meet_cancels),
	KUNIT_CASE(a_device_that_goes_ends_the_wait),
	{}
};

static struct kunit_suite ibcore_addr_cancel_suite = {
	.name = "ib_core_addr_cancel",
	.init = cancel_test_init,
	.exit = cancel_test_exit,
	.test_cases = cancel_cases,
};

kunit_test_suite(ibcore_addr_cancel_suite);
