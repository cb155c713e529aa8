// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* P_Key and GID tables, and RoCE GIDs that follow a netdev. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>
#include "gid/gid.h"
#include "fake_hca.h"
#include "faults.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static void pkeys(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	u16 pkey, index;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&hca->ibdev, 1, 0, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0xffff);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&hca->ibdev, 1, FAKE_HCA_PKEYS,
						 &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&hca->ibdev, 3, 0, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&hca->ibdev, 1, 0x8001, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 1);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&hca->ibdev, 1, 0x7777, &index),
			-ENOENT);
	/* A limited P_Key finds the full one, but not by an exact search. */
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&hca->ibdev, 1, 0x7fff, &index), 0);
	KUNIT_EXPECT_EQ(test, ib_find_exact_cached_pkey(&hca->ibdev, 1, 0x7fff,
							&index), -ENOENT);
	fake_hca_destroy(hca);
}

static void pkeys_follow_the_event(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	u16 index;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->port[1].pkeys[3] = 0x9234;
	fake_hca_port_event(hca, 1, IB_EVENT_PKEY_CHANGE);
	msleep(50);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&hca->ibdev, 1, 0x9234, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 3);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&hca->ibdev, 2, 0x9234, &index),
			-ENOENT);
	fake_hca_destroy(hca);
}

static void port_state_follows_the_event(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	enum ib_port_state state;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_EQ(test, ib_get_cached_port_state(&hca->ibdev, 1, &state), 0);
	KUNIT_EXPECT_EQ(test, state, IB_PORT_ACTIVE);
	hca->port[1].state = IB_PORT_DOWN;
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ERR);
	msleep(50);
	ib_get_cached_port_state(&hca->ibdev, 1, &state);
	KUNIT_EXPECT_EQ(test, state, IB_PORT_DOWN);
	fake_hca_destroy(hca);
}

static void ib_gids(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	const struct ib_gid_attr *attr;
	union ib_gid gid, other = {};

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&hca->ibdev, 2, 0, &gid), 0);
	KUNIT_EXPECT_MEMEQ(test, &gid, &hca->port[2].gids[0], sizeof(gid));
	KUNIT_EXPECT_LT(test, rdma_query_gid(&hca->ibdev, 2, 1000, &gid), 0);

	attr = rdma_find_gid(&hca->ibdev, &hca->port[2].gids[0], IB_GID_TYPE_IB, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	KUNIT_EXPECT_EQ(test, attr->port_num, 2);
	KUNIT_EXPECT_EQ(test, attr->index, 0);
	rdma_put_gid_attr(attr);

	attr = rdma_find_gid_by_port(&hca->ibdev, &hca->port[2].gids[0],
				     IB_GID_TYPE_IB, 1, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -ENOENT);
	other.raw[0] = 0x12;
	attr = rdma_find_gid(&hca->ibdev, &other, IB_GID_TYPE_IB, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -ENOENT);
	fake_hca_destroy(hca);
}

/* An entry whose GID changed stays readable while it is referenced. */
static void a_held_gid_outlives_its_change(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	const struct ib_gid_attr *attr;
	union ib_gid old;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	old = hca->port[1].gids[0];
	attr = rdma_get_gid_attr(&hca->ibdev, 1, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	hca->port[1].gids[0].raw[15] ^= 0xff;
	fake_hca_port_event(hca, 1, IB_EVENT_GID_CHANGE);
	msleep(50);
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &old, sizeof(old));
	rdma_put_gid_attr(attr);
	msleep(50);
	fake_hca_destroy(hca);
}

static atomic_t gid_reads, pkey_reads;
static struct ib_device_ops before;

static int counted_query_gid(struct ib_device *dev, u32 port, int index,
			     union ib_gid *gid)
{
	atomic_inc(&gid_reads);
	return before.query_gid(dev, port, index, gid);
}

static int counted_query_pkey(struct ib_device *dev, u32 port, u16 index, u16 *pkey)
{
	atomic_inc(&pkey_reads);
	return before.query_pkey(dev, port, index, pkey);
}

static void count_reads(struct fake_hca *hca)
{
	before = hca->ibdev.ops;
	hca->ibdev.ops.query_gid = counted_query_gid;
	hca->ibdev.ops.query_pkey = counted_query_pkey;
}

static void event_and_wait(struct fake_hca *hca, enum ib_event_type type)
{
	atomic_set(&gid_reads, 0);
	atomic_set(&pkey_reads, 0);
	fake_hca_port_event(hca, 1, type);
	msleep(50);
}

/* Reading an entry of a table is a firmware command. */
static void an_event_costs_what_it_says_has_changed(struct kunit *test)
{
	static const struct {
		enum ib_event_type type;
		int gids, pkeys;
	} events[] = {
		{ IB_EVENT_PORT_ACTIVE, 1, 0 },
		{ IB_EVENT_PORT_ERR, 0, 0 },
		{ IB_EVENT_LID_CHANGE, 1, 0 },
		{ IB_EVENT_SM_CHANGE, 1, 0 },
		{ IB_EVENT_PKEY_CHANGE, 0, FAKE_HCA_PKEYS },
		{ IB_EVENT_GID_CHANGE, FAKE_HCA_GIDS, 0 },
		{ IB_EVENT_CLIENT_REREGISTER, FAKE_HCA_GIDS, 0 },
	};
	struct fake_hca *hca = fake_hca_create(&ib_params);
	struct ib_port_attr attr;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	count_reads(hca);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		event_and_wait(hca, events[i].type);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&gid_reads), events[i].gids,
				    "%s", ib_event_msg(events[i].type));
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&pkey_reads), events[i].pkeys,
				    "%s", ib_event_msg(events[i].type));
	}
	atomic_set(&gid_reads, 0);
	KUNIT_EXPECT_EQ(test, ib_query_port(&hca->ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.subnet_prefix, 0xfe80000000000000ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&gid_reads), 0);
	fake_hca_destroy(hca);
}

/* qib and mthca raise no GID event when the subnet manager sets the subnet prefix. */
static void another_subnet_prefix_is_found(struct kunit *test)
{
	static const enum ib_event_type types[] = {
		IB_EVENT_PORT_ACTIVE, IB_EVENT_LID_CHANGE, IB_EVENT_SM_CHANGE,
		IB_EVENT_CLIENT_REREGISTER, IB_EVENT_GID_CHANGE,
	};
	struct fake_hca *hca = fake_hca_create(&ib_params);
	struct ib_port_attr attr;
	union ib_gid *gids, gid;
	u64 prefix;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	gids = hca->port[1].gids;
	gids[3] = gids[0];
	gids[3].raw[15] = 0x33;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		gids[0].raw[7]++;
		gids[3].raw[7]++;
		event_and_wait(hca, types[i]);
		KUNIT_EXPECT_EQ(test, rdma_query_gid(&hca->ibdev, 1, 3, &gid), 0);
		KUNIT_EXPECT_EQ(test, gid.raw[7], i + 1);
		ib_get_cached_subnet_prefix(&hca->ibdev, 1, &prefix);
		KUNIT_EXPECT_EQ(test, prefix, 0xfe80000000000001ULL + i);
		KUNIT_EXPECT_EQ(test, ib_query_port(&hca->ibdev, 1, &attr), 0);
		KUNIT_EXPECT_EQ(test, attr.subnet_prefix, prefix);
	}
	fake_hca_destroy(hca);
}

static struct fake_hca *starved;

static void another_gid(struct kunit *test)
{
	starved->port[1].gids[0].raw[14]++;
	event_and_wait(starved, IB_EVENT_GID_CHANGE);
}

static void a_gid_is_there(struct kunit *test)
{
	union ib_gid gid;

	KUNIT_EXPECT_EQ(test, rdma_query_gid(&starved->ibdev, 1, 0, &gid), 0);
}

/* Without memory for the new GID the old one stays. */
static void memory_that_runs_out_takes_no_gid(struct kunit *test)
{
	starved = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, starved);
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, another_gid,
							  a_gid_is_there), 1u);
	fake_hca_destroy(starved);
}

static bool has_gid(struct fake_hca *hca, const u8 *raw, enum ib_gid_type type)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_port(&hca->ibdev, (const union ib_gid *)raw, type, 1,
				     NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static bool wait_gid(struct fake_hca *hca, const u8 *raw, bool present)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (has_gid(hca, raw, IB_GID_TYPE_ROCE_UDP_ENCAP) == present)
			return true;
		msleep(20);
	}
	return false;
}

static void roce_gids_follow_the_netdev(struct kunit *test)
{
	u8 v4[16] = { [10] = 0xff, [11] = 0xff, 10, 77, 0, 1 };
	struct net_device *ndev = fake_netdev_create("fnet%d");
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	const struct ib_gid_attr *attr;
	struct fake_hca *hca;
	u8 ll[16] = { 0xfe, 0x80 };

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	memcpy(ll + 8, ndev->dev_addr, 3);
	ll[8] ^= 2;
	ll[11] = 0xff;
	ll[12] = 0xfe;
	memcpy(ll + 13, ndev->dev_addr + 3, 3);
	KUNIT_EXPECT_TRUE(test, wait_gid(hca, ll, true));
	KUNIT_EXPECT_FALSE(test, has_gid(hca, v4, IB_GID_TYPE_ROCE_UDP_ENCAP));

	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(ndev, htonl(0x0a4d0001), 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_gid(hca, v4, true));
	attr = rdma_find_gid_by_port(&hca->ibdev, (union ib_gid *)v4,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, ndev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rdma_read_gid_attr_ndev_rcu(attr), ndev);
	rcu_read_unlock();
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(ndev, htonl(0x0a4d0001), 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_gid(hca, v4, false));
	rdma_put_gid_attr(attr);

	fake_hca_destroy(hca);
	fake_netdev_destroy(ndev);
}

static void the_netdev_may_go_first(struct kunit *test)
{
	struct net_device *ndev = fake_netdev_create("fnet%d");
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	u8 v4[16] = { [10] = 0xff, [11] = 0xff, 10, 77, 1, 1 };
	struct fake_hca *hca;

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	fake_netdev_add_ipv4(ndev, htonl(0x0a4d0101), 24);
	hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_TRUE(test, wait_gid(hca, v4, true));
	KUNIT_EXPECT_GT(test, atomic_read(&hca->alive[FAKE_GID]), 0);
	/* What a driver does in NETDEV_UNREGISTER. */
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&hca->ibdev, NULL, 1), 0);
	fake_netdev_destroy(ndev);
	msleep(100);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_GID]), 0);
	fake_hca_destroy(hca);
}

static struct kunit_case cache_cases[] = {
	KUNIT_CASE(pkeys),
	KUNIT_CASE(pkeys_follow_the_event),
	KUNIT_CASE(port_state_follows_the_event),
	KUNIT_CASE(ib_gids),
	KUNIT_CASE(a_held_gid_outlives_its_change),
	KUNIT_CASE(an_event_costs_what_it_says_has_changed),
	KUNIT_CASE(another_subnet_prefix_is_found),
	KUNIT_CASE(memory_that_runs_out_takes_no_gid),
	KUNIT_CASE(roce_gids_follow_the_netdev),
	KUNIT_CASE(the_netdev_may_go_first),
	{}
};

static struct kunit_suite ibcore_cache_suite = {
	.name = "ib_core_cache",
	.test_cases = cache_cases,
};

kunit_test_suite(ibcore_cache_suite);
