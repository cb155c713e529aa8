// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* When add_gid() and del_gid() are called for a driver that keeps GIDs in its adapter. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_cache.h>
#include "core/objects.h"

#define GID_HW_NET	87
#define V2		IB_GID_TYPE_ROCE_UDP_ENCAP

static struct roce roce;

/* As strict as all the stock drivers that know GIDs by their index, taken together. */
static void strict(struct fake_hca *hca)
{
	hca->quirks.gid_has_smac = true;
	hca->quirks.del_gid_needs_ndev = true;
	hca->quirks.gids_unique = true;
	hca->quirks.gid_places = FAKE_NO_PLACES;
	hca->quirks.gid_ops_fail_detached = true;
}

static int gid_hw_test_init(struct kunit *test)
{
	int ret = roce_get_as(&roce, GID_HW_NET, strict);

	if (ret)
		return ret;
	roce.ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	return 0;
}

static void gid_hw_test_exit(struct kunit *test)
{
	roce_put(&roce);
}

/* How often the adapter has @ip as a GID of RoCE v2. */
static int in_hw(const struct in6_addr *ip)
{
	const struct fake_hca_port *port = &roce.hca->port[1];
	int i, n = 0;

	for (i = 0; i < FAKE_HCA_GIDS; i++)
		n += port->gid_used[i] && port->gid_type[i] == V2 &&
		     !memcmp(&port->gids[i], ip, sizeof(*ip));
	return n;
}

/* A reference does not keep a removed address working. */
static void a_gid_in_use_leaves_the_adapter_at_once(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip), *again;
	int alive = atomic_read(&roce.hca->alive[FAKE_GID]);
	u8 mac[ETH_ALEN];

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, in_hw(&ip), 1);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_lacks(&roce, &ip)));
	KUNIT_EXPECT_TRUE(test, wait_until(!in_hw(&ip)));
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), alive - 2);

	/* When the address is back, the adapter has it once, at its old index. */
	KUNIT_ASSERT_EQ(test, roce_take(&roce, &ip), 0);
	again = roce_gid(&roce, &ip);
	KUNIT_EXPECT_EQ(test, in_hw(&ip), 1);
	KUNIT_EXPECT_PTR_EQ(test, again, attr);
	if (again)
		rdma_put_gid_attr(again);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, mac), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), alive);
}

/* Removes @ip from the network and has the table follow, or adds it. */
static void drop_and_sync(struct kunit *test, const struct in6_addr *ip)
{
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, ip), 0);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_TRUE(test, roce_lacks(&roce, ip));
}

static void take_and_sync(struct kunit *test, const struct in6_addr *ip)
{
	KUNIT_ASSERT_EQ(test, roce_take(&roce, ip), 0);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_TRUE(test, roce_has(&roce, ip));
	KUNIT_EXPECT_EQ(test, in_hw(ip), 1);
}

/* Also if the address comes back at once, before the old netdev reference was put. */
static void a_gid_comes_back_to_its_entry(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip), *again;
	u8 mac[ETH_ALEN];
	int i, at;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	at = attr->index;
	for (i = 0; i < 3; i++) {
		drop_and_sync(test, &ip);
		KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, mac), -ENODEV);
		take_and_sync(test, &ip);
		KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, mac), 0);
	}
	again = roce_gid(&roce, &ip);
	KUNIT_EXPECT_PTR_EQ(test, again, attr);
	rdma_put_gid_attr(attr);
	if (!again)
		return;
	KUNIT_EXPECT_EQ(test, again->index, at);
	rdma_put_gid_attr(again);
	drop_and_sync(test, &ip);
	KUNIT_EXPECT_EQ(test, in_hw(&ip), 0);
}

/* The adapter refuses the old entry of the GID, and has it at another index. */
static void a_gid_that_is_refused_its_entry(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip), *v1;
	int alive = atomic_read(&roce.hca->alive[FAKE_GID]);
	u8 mac[ETH_ALEN];

	KUNIT_ASSERT_NOT_NULL(test, attr);
	/* Both entries are held, so both would be revived. */
	v1 = rdma_find_gid(&roce.hca->ibdev, (union ib_gid *)&ip, IB_GID_TYPE_ROCE, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(v1));
	drop_and_sync(test, &ip);
	atomic_set(&roce.hca->fail_create[FAKE_GID], 2);
	take_and_sync(test, &ip);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(v1, NULL, mac), 0);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, mac), -ENODEV);
	rdma_put_gid_attr(v1);
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), alive);
}

static int create_ah(struct ib_pd *pd, const struct ib_gid_attr *sgid)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE, .port_num = 1 };
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 2 } };
	struct ib_ah *ah;

	rdma_ah_set_grh(&attr, &dgid, 0, sgid->index, 1, 0);
	attr.grh.sgid_attr = sgid;
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (!IS_ERR(ah))
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return PTR_ERR_OR_ZERO(ah);
}

/* No new address handle can use an address that was removed. */
static void no_address_handle_comes_from_a_gid_that_left(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip);
	struct ib_pd *pd = ib_alloc_pd(&roce.hca->ibdev, 0);
	int refs;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	refs = gid_refs(attr);
	KUNIT_EXPECT_EQ(test, create_ah(pd, attr), 0);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_lacks(&roce, &ip) && !in_hw(&ip)));
	KUNIT_EXPECT_EQ(test, create_ah(pd, attr), -ENODEV);
	/* The table's reference was put. */
	KUNIT_EXPECT_TRUE(test, wait_until(gid_refs(attr) == refs - 1));
	rdma_put_gid_attr(attr);
	ib_dealloc_pd(pd);
}

static int (*del_gid)(const struct ib_gid_attr *attr, void **context);
static int deleted;

static int del_gid_counted(const struct ib_gid_attr *attr, void **context)
{
	int ret = del_gid(attr, context);

	deleted += !ret;
	return ret;
}

static void a_device_that_goes_leaves_none_in_the_adapter(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip);
	int alive = atomic_read(&roce.hca->alive[FAKE_GID]);

	KUNIT_ASSERT_NOT_NULL(test, attr);
	deleted = 0;
	del_gid = roce.hca->ibdev.ops.del_gid;
	roce.hca->ibdev.ops.del_gid = del_gid_counted;
	fake_hca_destroy(roce.hca);
	roce.hca = NULL;
	KUNIT_EXPECT_EQ(test, deleted, alive);
	rdma_put_gid_attr(attr);
}

/* Whether each GID in the adapter was added with the current MAC of its net_device. */
static bool macs_are(const u8 *mac)
{
	const struct fake_hca_port *port = &roce.hca->port[1];
	int i;

	for (i = 0; i < FAKE_HCA_GIDS; i++)
		if (port->gid_used[i] &&
		    !ether_addr_equal(port->gid_smac[i], mac))
			return false;
	return atomic_read(&roce.hca->alive[FAKE_GID]) >= 6;
}

/* References to the entry stay valid, and its index stays the same. */
static void another_mac_is_programmed_in_place(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1), v6 = roce_v6(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &v4), *after;
	u8 mac[ETH_ALEN];
	int at;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	after = roce_gid(&roce, &v6);
	KUNIT_ASSERT_NOT_NULL(test, after);
	at = after->index;
	rdma_put_gid_attr(after);
	KUNIT_EXPECT_TRUE(test, macs_are(roce.ndev->dev_addr));
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x101), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(macs_are(roce.ndev->dev_addr)));

	after = roce_gid(&roce, &v4);
	KUNIT_EXPECT_PTR_EQ(test, after, attr);
	if (after)
		rdma_put_gid_attr(after);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, mac), 0);
	KUNIT_EXPECT_MEMEQ(test, mac, roce.ndev->dev_addr, ETH_ALEN);
	after = roce_gid(&roce, &v6);
	KUNIT_EXPECT_NOT_NULL(test, after);
	if (after) {
		KUNIT_EXPECT_EQ(test, after->index, at);
		rdma_put_gid_attr(after);
	}
	rdma_put_gid_attr(attr);
}

static void a_mac_it_already_has_is_left_alone(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1);

	/* A second add_gid() would fail, and the GID would be missing for some time. */
	atomic_set(&roce.hca->fail_create[FAKE_GID], 1);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->fail_create[FAKE_GID]), 1);
	KUNIT_EXPECT_TRUE(test, roce_has(&roce, &v4));
}

static int (*add_gid)(const struct ib_gid_attr *attr, void **context);
static u8 port_mac[FAKE_HCA_GIDS][ETH_ALEN];

/* As bnxt_re does: uses the port's MAC, whichever net_device the GID is on. */
static int add_gid_by_port(const struct ib_gid_attr *attr, void **context)
{
	ether_addr_copy(port_mac[attr->index], roce.ndev->dev_addr);
	return add_gid(attr, context);
}

static void a_vlans_gid_follows_the_mac_of_the_port(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 0x701);
	const struct ib_gid_attr *attr;
	struct net_device *vlan;

	add_gid = roce.hca->ibdev.ops.add_gid;
	roce.hca->ibdev.ops.add_gid = add_gid_by_port;
	vlan = net_link("vlan", "fvlan7", roce.ndev, 7);
	KUNIT_ASSERT_NOT_NULL(test, vlan);
	KUNIT_EXPECT_EQ(test, roce_set_mac(vlan, 0x177), 0);
	KUNIT_EXPECT_EQ(test, fake_netdev_add_ipv4(vlan, ip.s6_addr32[3], 24), 0);
	attr = roce_gid(&roce, &ip);
	KUNIT_EXPECT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, roce_set_mac(roce.ndev, 0x102), 0);
	KUNIT_EXPECT_FALSE(test, ether_addr_equal(vlan->dev_addr, roce.ndev->dev_addr));
	if (attr) {
		KUNIT_EXPECT_TRUE(test, wait_until(ether_addr_equal(port_mac[attr->index],
								    roce.ndev->dev_addr)));
		rdma_put_gid_attr(attr);
	}
	net_unlink(vlan);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_lacks(&roce, &ip)));
	roce.hca->ibdev.ops.add_gid = add_gid;
}

/* A GID that the adapter refuses while the link is down is added when the link is up. */
static void a_refused_mac_is_tried_again(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &v4);

	KUNIT_ASSERT_NOT_NULL(test, attr);
	/* The same address with another prefix: one GID that two addresses ask for. */
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(roce.ndev, v4.s6_addr32[3], 16), 0);
	KUNIT_ASSERT_EQ(test, net_up(roce.ndev, false), 0);
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x103), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_lacks(&roce, &v4)));
	KUNIT_EXPECT_TRUE(test, wait_until(!in_hw(&v4)));
	KUNIT_ASSERT_EQ(test, net_up(roce.ndev, true), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &v4)));
	KUNIT_EXPECT_EQ(test, in_hw(&v4), 1);
	rdma_put_gid_attr(attr);
}

/* Holding the rtnl for long does not delay the GIDs of changes already made. */
static void gids_do_not_wait_for_the_rtnl(struct kunit *test)
{
	const u8 mac[ETH_ALEN] = { 2, 0, 0, 0, 1, 4 };
	struct sockaddr sa = { .sa_family = roce.ndev->type };
	struct in6_addr ll;

	ether_addr_copy(sa.sa_data, mac);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_set_mac_address(roce.ndev, &sa, NULL), 0);
	ll = net_link_local(roce.ndev);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ll)));
	KUNIT_EXPECT_EQ(test, in_hw(&ll), 1);
	rtnl_unlock();
}

static struct completion in_add_gid, mac_set;

static int add_gid_and_wait(const struct ib_gid_attr *attr, void **context)
{
	int ret = add_gid(attr, context);

	if (!completion_done(&in_add_gid)) {
		complete_all(&in_add_gid);
		wait_for_completion_timeout(&mac_set, HZ);
	}
	return ret;
}

static void set_mac_fn(struct work_struct *work)
{
	wait_for_completion(&in_add_gid);
	roce_set_mac(roce.ndev, 0x105);
	complete_all(&mac_set);
}

static DECLARE_WORK(set_mac_work, set_mac_fn);

/* udev names and addresses a netdev while its RDMA device is being registered. */
static void a_mac_set_at_registration_is_programmed(struct kunit *test)
{
	struct in6_addr ll;

	fake_hca_destroy(roce.hca);
	roce.hca = roce_alloc(roce.ndev, strict);
	KUNIT_ASSERT_NOT_NULL(test, roce.hca);
	init_completion(&in_add_gid);
	init_completion(&mac_set);
	add_gid = roce.hca->ibdev.ops.add_gid;
	roce.hca->ibdev.ops.add_gid = add_gid_and_wait;
	queue_work(system_unbound_wq, &set_mac_work);
	KUNIT_EXPECT_EQ(test, fake_hca_register(roce.hca), 0);
	KUNIT_EXPECT_TRUE(test, completion_done(&mac_set));
	flush_work(&set_mac_work);
	ll = net_link_local(roce.ndev);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ll) && macs_are(roce.ndev->dev_addr)));
	roce.hca->ibdev.ops.add_gid = add_gid;
}

static struct completion change_mac, mac_changed;
static int adds;

/* Returns after the MAC was changed, in the first call and in the second. */
static int add_gid_and_change(const struct ib_gid_attr *attr, void **context)
{
	int ret = add_gid(attr, context);

	if (++adds <= 2) {
		complete(&change_mac);
		wait_for_completion_timeout(&mac_changed, HZ);
	}
	return ret;
}

static void change_mac_fn(struct work_struct *work)
{
	wait_for_completion(&change_mac);
	roce_set_mac(roce.ndev, 0x107);
	complete(&mac_changed);
	wait_for_completion(&change_mac);
	roce_set_mac(roce.ndev, 0x106);
	complete(&mac_changed);
}

static DECLARE_WORK(change_mac_work, change_mac_fn);

/* The second GID is added with a MAC that the net_device has only then. */
static void a_mac_that_comes_back_is_programmed(struct kunit *test)
{
	struct in6_addr ll;

	fake_hca_destroy(roce.hca);
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x106), 0);
	ll = net_link_local(roce.ndev);
	roce.hca = roce_alloc(roce.ndev, strict);
	KUNIT_ASSERT_NOT_NULL(test, roce.hca);
	init_completion(&change_mac);
	init_completion(&mac_changed);
	adds = 0;
	add_gid = roce.hca->ibdev.ops.add_gid;
	roce.hca->ibdev.ops.add_gid = add_gid_and_change;
	queue_work(system_unbound_wq, &change_mac_work);
	KUNIT_EXPECT_EQ(test, fake_hca_register(roce.hca), 0);
	flush_work(&change_mac_work);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ll) && macs_are(roce.ndev->dev_addr)));
	roce.hca->ibdev.ops.add_gid = add_gid;
}

static struct kunit_case gid_hw_cases[] = {
	KUNIT_CASE(a_gid_in_use_leaves_the_adapter_at_once),
	KUNIT_CASE(a_gid_comes_back_to_its_entry),
	KUNIT_CASE(a_gid_that_is_refused_its_entry),
	KUNIT_CASE(no_address_handle_comes_from_a_gid_that_left),
	KUNIT_CASE(a_device_that_goes_leaves_none_in_the_adapter),
	KUNIT_CASE(another_mac_is_programmed_in_place),
	KUNIT_CASE(a_mac_it_already_has_is_left_alone),
	KUNIT_CASE(a_vlans_gid_follows_the_mac_of_the_port),
	KUNIT_CASE(a_refused_mac_is_tried_again),
	KUNIT_CASE(gids_do_not_wait_for_the_rtnl),
	KUNIT_CASE(a_mac_set_at_registration_is_programmed),
	KUNIT_CASE(a_mac_that_comes_back_is_programmed),
	{}
};

static struct kunit_suite ibcore_gid_hw_suite = {
	.name = "ib_core_gid_hw",
	.init = gid_hw_test_init,
	.exit = gid_hw_test_exit,
	.test_cases = gid_hw_cases,
};

kunit_test_suite(ibcore_gid_hw_suite);
