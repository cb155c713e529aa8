// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RoCE GIDs follow the network: links, addresses, VLANs, registration. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_cache.h>
#include "core.h"
#include "faults.h"
#include "core/objects.h"

#define ROCE_NET	86
#define V1		IB_GID_TYPE_ROCE
#define V2		IB_GID_TYPE_ROCE_UDP_ENCAP

static struct roce roce;

static int roce_test_init(struct kunit *test)
{
	int ret = roce_get(&roce, ROCE_NET);

	if (!ret)
		roce.ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	return ret;
}

static void roce_test_exit(struct kunit *test)
{
	roce_put(&roce);
}

static int index_of(const struct in6_addr *ip, enum ib_gid_type type)
{
	const struct ib_gid_attr *attr;
	int index;

	attr = rdma_find_gid_by_port(&roce.hca->ibdev, (union ib_gid *)ip, type, 1, NULL);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	index = attr->index;
	rdma_put_gid_attr(attr);
	return index;
}

static bool has(const struct in6_addr *ip)
{
	return roce_has_gid(roce.hca, ip, V1) && roce_has_gid(roce.hca, ip, V2);
}

static bool lacks(const struct in6_addr *ip)
{
	return !roce_has_gid(roce.hca, ip, V1) && !roce_has_gid(roce.hca, ip, V2);
}

static void the_defaults_follow_the_mac(struct kunit *test)
{
	struct in6_addr old = net_link_local(roce.ndev), new, v4 = roce_v4(&roce, 1);
	int at;

	KUNIT_EXPECT_EQ(test, index_of(&old, V1), 0);
	KUNIT_EXPECT_EQ(test, index_of(&old, V2), 1);
	at = index_of(&v4, V2);
	KUNIT_EXPECT_GE(test, at, 2);
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x55), 0);
	new = net_link_local(roce.ndev);
	KUNIT_EXPECT_TRUE(test, wait_until(index_of(&new, V2) == 1));
	KUNIT_EXPECT_EQ(test, index_of(&new, V1), 0);
	/* The other GIDs keep their indices. */
	KUNIT_EXPECT_EQ(test, index_of(&v4, V2), at);
}

static void addresses_come_and_go(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 0x201), v6 = roce_v6(&roce, 0x201);
	struct in6_addr first = roce_v4(&roce, 1);
	int at = index_of(&first, V1);

	KUNIT_EXPECT_TRUE(test, lacks(&v4) && lacks(&v6));
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, v4.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&v4)));
	KUNIT_ASSERT_EQ(test, net_addr6(roce.ndev, true, &v6, 112), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&v6)));
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(roce.ndev, v4.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(lacks(&v4)));
	KUNIT_ASSERT_EQ(test, net_addr6(roce.ndev, false, &v6, 112), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(lacks(&v6)));
	KUNIT_EXPECT_EQ(test, index_of(&first, V1), at);
}

/* IPv4 addresses remain while the link is down, IPv6 ones do not. */
static void a_link_goes_down_and_up(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1), v6 = roce_v6(&roce, 1);
	struct in6_addr ll = net_link_local(roce.ndev);
	int at = index_of(&v4, V2);

	KUNIT_ASSERT_TRUE(test, has(&v6));
	KUNIT_ASSERT_EQ(test, net_up(roce.ndev, false), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(lacks(&v6)));
	KUNIT_EXPECT_EQ(test, index_of(&v4, V2), at);
	KUNIT_EXPECT_TRUE(test, has(&ll));
	KUNIT_ASSERT_EQ(test, net_up(roce.ndev, true), 0);
	KUNIT_ASSERT_EQ(test, net_addr6(roce.ndev, true, &v6, 112), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&v6)));
	KUNIT_EXPECT_EQ(test, index_of(&v4, V2), at);
}

static void a_name_is_nothing_to_a_gid(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1);
	int n = atomic_read(&roce.hca->alive[FAKE_GID]), at = index_of(&v4, V2);

	net_up(roce.ndev, false);
	msleep(100);
	n = atomic_read(&roce.hca->alive[FAKE_GID]);
	KUNIT_EXPECT_EQ(test, net_rename(roce.ndev, "frenamed0"), 0);
	msleep(100);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), n);
	KUNIT_EXPECT_EQ(test, index_of(&v4, V2), at);
}

static void a_vlan_has_its_addresses_on_the_port(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 0x501);
	const struct ib_gid_attr *attr;
	struct net_device *vlan;
	u8 mac[ETH_ALEN];
	u16 id = 0;

	vlan = net_link("vlan", "fvlan5", roce.ndev, 5);
	KUNIT_ASSERT_NOT_NULL(test, vlan);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(vlan, ip.s6_addr32[3], 24), 0);
	attr = roce_gid(&roce, &ip);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, &id, mac), 0);
	KUNIT_EXPECT_EQ(test, id, 5);
	KUNIT_EXPECT_MEMEQ(test, mac, vlan->dev_addr, ETH_ALEN);
	/* The VLAN device is removed at once, though an entry of it is held. */
	net_unlink(vlan);
	KUNIT_EXPECT_TRUE(test, wait_until(lacks(&ip)));
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, &id, mac), -ENODEV);
	rdma_put_gid_attr(attr);
}

/* Whether the adapter still has an entry that has left the table. */
static bool known(int index)
{
	/* Adapters with a table of their own are tested in gid_place_test.c. */
	return !roce.hca->quirks.gid_places && roce.hca->port[1].gid_used[index];
}

/* An entry in use keeps its index, but adapters that use indices drop it at once. */
static void a_held_index_is_not_given_away(struct kunit *test)
{
	struct in6_addr old = roce_v4(&roce, 1), new = roce_v4(&roce, 0x301);
	struct in6_addr third = roce_v4(&roce, 0x302);
	const struct ib_gid_attr *attr = roce_gid(&roce, &old);
	int index;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	index = attr->index;
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(roce.ndev, old.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(lacks(&old)));
	KUNIT_EXPECT_TRUE(test, wait_until(!known(index)));
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, new.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&new)));
	KUNIT_EXPECT_NE(test, index_of(&new, V1), index);
	KUNIT_EXPECT_NE(test, index_of(&new, V2), index);
	/* If the address returns while its old entry is held, it gets that entry. */
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, old.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&old)));
	KUNIT_EXPECT_EQ(test, index_of(&old, V2), index);
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(roce.ndev, old.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(lacks(&old)));

	rdma_hold_gid_attr(attr);
	rdma_put_gid_attr(attr);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, known(index));
	rdma_put_gid_attr(attr);
	msleep(50);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, third.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&third)));
	KUNIT_EXPECT_EQ(test, index_of(&third, V1), index);
}

static void an_address_without_room_gets_the_next_free_place(struct kunit *test)
{
	const struct ib_gid_attr *attr;
	struct in6_addr ip = roce_v4(&roce, 1), last;
	int i;

	attr = roce_gid(&roce, &ip);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	/* Of 32 entries 6 are used, and an address takes two. */
	for (i = 0; i < 14; i++) {
		last = roce_v4(&roce, 0x1001 + i);
		KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, last.s6_addr32[3],
							   32), 0);
		msleep(20);
	}
	msleep(200);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), FAKE_HCA_GIDS);
	KUNIT_EXPECT_TRUE(test, lacks(&last));
	/* One of the two removed entries is still held: one is free. */
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(roce.ndev, ip.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(!lacks(&last)));
	KUNIT_EXPECT_FALSE(test, has(&last));
	/* The other entry is free as soon as it is no longer held. */
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&last)));
}

static void a_gid_that_the_driver_refuses_is_left_out(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 0x401);
	int n = atomic_read(&roce.hca->alive[FAKE_GID]);

	atomic_set(&roce.hca->fail_create[FAKE_GID], 1);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, ip.s6_addr32[3], 32), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(!lacks(&ip)));
	KUNIT_EXPECT_FALSE(test, has(&ip));
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), n + 1);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_TRUE(test, has(&ip));
}

static void a_driver_says_what_changed(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1), other = net_v4(0x0a770001);
	struct net_device *ndev = fake_netdev_create("fother%d");

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(ndev, other.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&roce.hca->ibdev, ndev, 1), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(&other) && lacks(&ip)));
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&roce.hca->ibdev, roce.ndev, 1), 0);
	rdma_roce_rescan_device(&roce.hca->ibdev);
	/* The rescan is done when it returns. */
	KUNIT_EXPECT_TRUE(test, has(&ip) && lacks(&other));

	roce_del_all_netdev_gids(&roce.hca->ibdev, 1, ndev);
	KUNIT_EXPECT_TRUE(test, has(&ip));
	roce_del_all_netdev_gids(&roce.hca->ibdev, 1, roce.ndev);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), 0);
	rdma_roce_rescan_port(&roce.hca->ibdev, 7);
	KUNIT_EXPECT_TRUE(test, lacks(&ip));
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_TRUE(test, has(&ip));
	fake_netdev_destroy(ndev);
}

static void a_device_that_is_not_registered_is_left_alone(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_ETHERNET };
	struct fake_hca *hca = fake_hca_alloc(&params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	rdma_roce_rescan_device(&hca->ibdev);
	rdma_roce_rescan_port(&hca->ibdev, 1);
	roce_del_all_netdev_gids(&hca->ibdev, 1, roce.ndev);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_GID]), 0);
	fake_hca_free(hca);
}

static struct completion in_add_gid, changed;

static int (*add_gid)(const struct ib_gid_attr *attr, void **context);

static int add_gid_and_wait(const struct ib_gid_attr *attr, void **context)
{
	if (!completion_done(&in_add_gid)) {
		complete_all(&in_add_gid);
		wait_for_completion_timeout(&changed, HZ);
	}
	return add_gid(attr, context);
}

static void change_fn(struct work_struct *work)
{
	struct in6_addr ip = roce_v4(&roce, 1), new = roce_v4(&roce, 0x601);

	wait_for_completion(&in_add_gid);
	fake_netdev_del_ipv4(roce.ndev, ip.s6_addr32[3], 24);
	fake_netdev_add_ipv4(roce.ndev, new.s6_addr32[3], 24);
	complete_all(&changed);
}

static DECLARE_WORK(change_work, change_fn);

/* In-tree number 24: GIDs computed before an event were installed after it. */
static void an_event_meets_registration(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = roce.ndev,
	};
	struct in6_addr ip = roce_v4(&roce, 1), new = roce_v4(&roce, 0x601);
	struct fake_hca *hca;

	hca = fake_hca_alloc(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	init_completion(&in_add_gid);
	init_completion(&changed);
	add_gid = hca->ibdev.ops.add_gid;
	hca->ibdev.ops.add_gid = add_gid_and_wait;
	queue_work(system_unbound_wq, &change_work);
	KUNIT_EXPECT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_EXPECT_TRUE(test, completion_done(&changed));
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has_gid(hca, &new, V2) &&
					   !roce_has_gid(hca, &ip, V2)));
	flush_work(&change_work);
	fake_hca_destroy(hca);
}

/* A held entry outlives the device of its table. */
static void a_late_put_is_harmless(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip);

	KUNIT_ASSERT_NOT_NULL(test, attr);
	fake_hca_destroy(roce.hca);
	roce.hca = NULL;
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &ip, sizeof(ip));
	rdma_put_gid_attr(attr);
	msleep(50);
}

static u8 next_mac = 0x10;

/* The event takes effect even if memory for it runs out. */
static int event_once(struct kunit *test)
{
	struct in6_addr ll;
	int ret = roce_set_mac(roce.ndev, ++next_mac);

	ll = net_link_local(roce.ndev);
	if (!ret)
		KUNIT_EXPECT_TRUE(test, wait_until(has(&ll)));
	return ret;
}

static void events_survive_each_failed_allocation(struct kunit *test)
{
	ibex_each_allocation(test, event_once);
	KUNIT_EXPECT_GT(test, next_mac, 0x11);
}

static int rescan_once(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1), v6 = roce_v6(&roce, 1);

	roce_del_all_netdev_gids(&roce.hca->ibdev, 1, roce.ndev);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	/* What failed for lack of memory is tried again after a while. */
	KUNIT_EXPECT_TRUE(test, wait_until(has(&ip) && has(&v6)));
	return 0;
}

static void tables_survive_each_failed_allocation(struct kunit *test)
{
	int n = atomic_read(&roce.hca->alive[FAKE_GID]);

	ibex_each_allocation(test, rescan_once);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), n);
}

static struct in6_addr no_memory_for;
static int refused;

static int add_gid_without_memory(const struct ib_gid_attr *attr, void **context)
{
	if (!memcmp(&attr->gid, &no_memory_for, sizeof(no_memory_for))) {
		refused++;
		return -ENOMEM;
	}
	return add_gid(attr, context);
}

/* A pending retry does not delay the scan for a new event. */
static void an_event_does_not_wait_for_memory(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 0x401);

	no_memory_for = roce_v4(&roce, 0x402);
	refused = 0;
	add_gid = roce.hca->ibdev.ops.add_gid;
	roce.hca->ibdev.ops.add_gid = add_gid_without_memory;
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, no_memory_for.s6_addr32[3],
						   32), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(refused >= 2));
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, ip.s6_addr32[3], 32), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(has(&ip), 300));
	roce.hca->ibdev.ops.add_gid = add_gid;
	KUNIT_EXPECT_TRUE(test, wait_until(has(&no_memory_for)));
}

static struct kunit_case roce_cases[] = {
	KUNIT_CASE(the_defaults_follow_the_mac),
	KUNIT_CASE(addresses_come_and_go),
	KUNIT_CASE(a_link_goes_down_and_up),
	KUNIT_CASE(a_name_is_nothing_to_a_gid),
	KUNIT_CASE(a_vlan_has_its_addresses_on_the_port),
	KUNIT_CASE(a_held_index_is_not_given_away),
	KUNIT_CASE(an_address_without_room_gets_the_next_free_place),
	KUNIT_CASE(a_gid_that_the_driver_refuses_is_left_out),
	KUNIT_CASE(a_driver_says_what_changed),
	KUNIT_CASE(a_device_that_is_not_registered_is_left_alone),
	KUNIT_CASE(an_event_meets_registration),
	KUNIT_CASE(a_late_put_is_harmless),
	KUNIT_CASE(events_survive_each_failed_allocation),
	KUNIT_CASE(tables_survive_each_failed_allocation),
	KUNIT_CASE(an_event_does_not_wait_for_memory),
	{}
};

static struct kunit_suite ibcore_roce_suite = {
	.name = "ib_core_roce",
	.init = roce_test_init,
	.exit = roce_test_exit,
	.test_cases = roce_cases,
};

kunit_test_suite(ibcore_roce_suite);
