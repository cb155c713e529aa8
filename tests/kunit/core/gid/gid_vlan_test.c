// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The VLAN of a GID whose net_device has several devices below it, like a bridge:
 *
 *	    fbridge (10.90.7.1)
 *	   /       |        \
 *	fvlan7   fvlan8   fvlan9
 *	   \      /          |
 *	  the port's    another adapter's
 */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_cache.h>
#include "core/objects.h"

#define GID_VLAN_NET	90
#define V2		IB_GID_TYPE_ROCE_UDP_ENCAP

static struct roce roce;
static struct net_device *bridge, *other, *vlan[3];

/* Knows GIDs by their index, like mlx5. */
static void by_index(struct fake_hca *hca)
{
	hca->quirks.gids_unique = true;
	hca->quirks.gid_places = FAKE_NO_PLACES;
}

/* Has a table of its own, like bnxt_re. */
static void own_table(struct fake_hca *hca)
{
	hca->quirks.gids_unique = false;
	hca->quirks.del_gid_needs_ndev = false;
	hca->quirks.gid_places = FAKE_PLACE_A_GID;
	hca->quirks.driver = RDMA_DRIVER_BNXT_RE;
}

static int gid_vlan_test_init(struct kunit *test)
{
	int ret = roce_get_as(&roce, GID_VLAN_NET, by_index);

	bridge = NULL;
	other = NULL;
	memset(vlan, 0, sizeof(vlan));
	if (ret)
		return ret;
	bridge = fake_netdev_create("fbridge%d");
	other = fake_netdev_create("fother%d");
	if (!bridge || !other)
		return -ENOMEM;
	vlan[0] = net_link("vlan", "fvlan7", roce.ndev, 7);
	vlan[1] = net_link("vlan", "fvlan8", roce.ndev, 8);
	vlan[2] = net_link("vlan", "fvlan9", other, 9);
	return vlan[0] && vlan[1] && vlan[2] ? 0 : -ENODEV;
}

static void below_bridge(struct net_device *ndev, bool on)
{
	rtnl_lock();
	if (!on && netdev_has_upper_dev(ndev, bridge))
		netdev_upper_dev_unlink(ndev, bridge);
	else if (on && netdev_upper_dev_link(ndev, bridge, NULL))
		pr_err("%s is not below the bridge\n", ndev->name);
	rtnl_unlock();
}

static void gid_vlan_test_exit(struct kunit *test)
{
	struct net_device *ports[] = { vlan[0], vlan[1], vlan[2], roce.ndev };
	int i;

	for (i = 0; bridge && i < ARRAY_SIZE(ports); i++)
		if (ports[i])
			below_bridge(ports[i], false);
	for (i = 0; i < ARRAY_SIZE(vlan); i++)
		if (vlan[i])
			net_unlink(vlan[i]);
	roce_put(&roce);
	if (bridge)
		fake_netdev_destroy(bridge);
	if (other)
		fake_netdev_destroy(other);
}

/* The GID of the bridge's address. */
static const struct ib_gid_attr *gid_of_bridge(struct in6_addr *ip)
{
	*ip = roce_v4(&roce, 0x701);
	if (fake_netdev_add_ipv4(bridge, ip->s6_addr32[3], 24))
		return NULL;
	return roce_gid(&roce, ip);
}

static int vlan_of(const struct ib_gid_attr *attr)
{
	u16 id;
	int ret = rdma_read_gid_l2_fields(attr, &id, NULL);

	return ret ?: id;
}

/* Whether the adapter has @ip on VLAN @id, and on no other. */
static bool programmed(const struct in6_addr *ip, u16 id)
{
	const struct fake_hca_port *port = &roce.hca->port[1];
	int i, n = 0;

	for (i = 0; i < FAKE_HCA_GIDS; i++) {
		if (!port->gid_used[i] || memcmp(&port->gids[i], ip, sizeof(*ip)))
			continue;
		if (port->gid_vlan[i] != id)
			return false;
		n++;
	}
	return n > 0;
}

/* Moves the bridge from VLAN 7 to VLAN 8, while it always has a port. */
static void move_to_8(void)
{
	below_bridge(vlan[1], true);
	below_bridge(vlan[0], false);
}

static void another_vlan_is_programmed_in_place(struct kunit *test)
{
	const struct ib_gid_attr *attr, *after;
	struct in6_addr ip;

	below_bridge(vlan[0], true);
	attr = gid_of_bridge(&ip);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, vlan_of(attr), 7);
	KUNIT_EXPECT_TRUE(test, programmed(&ip, 7));
	move_to_8();
	KUNIT_EXPECT_TRUE(test, wait_until(programmed(&ip, 8)));
	KUNIT_EXPECT_EQ(test, vlan_of(attr), 8);
	after = roce_gid(&roce, &ip);
	KUNIT_EXPECT_PTR_EQ(test, after, attr);
	if (after)
		rdma_put_gid_attr(after);
	rdma_put_gid_attr(attr);
}

static void a_vlan_it_already_has_is_left_alone(struct kunit *test)
{
	const struct ib_gid_attr *attr;
	struct in6_addr ip;

	below_bridge(vlan[0], true);
	attr = gid_of_bridge(&ip);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	rdma_put_gid_attr(attr);
	/* A second add_gid() would fail, and the GID would be missing for some time. */
	atomic_set(&roce.hca->fail_create[FAKE_GID], 1);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->fail_create[FAKE_GID]), 1);
	KUNIT_EXPECT_TRUE(test, programmed(&ip, 7));
	atomic_set(&roce.hca->fail_create[FAKE_GID], 0);
}

static struct ib_ah *ah_from(struct ib_pd *pd, const struct ib_gid_attr *sgid)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE, .port_num = 1 };
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 2 } };

	rdma_ah_set_grh(&attr, &dgid, 0, sgid->index, 1, 0);
	attr.grh.sgid_attr = sgid;
	return rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/* The entries of both RoCE types share a place; it stays while one of them sends. */
static void another_vlan_waits_for_what_sends(struct kunit *test)
{
	const struct ib_gid_attr *attr;
	struct in6_addr ip;
	struct ib_pd *pd;
	struct ib_ah *ah;

	fake_hca_destroy(roce.hca);
	roce.hca = roce_alloc(roce.ndev, own_table);
	KUNIT_ASSERT_NOT_NULL(test, roce.hca);
	KUNIT_ASSERT_EQ(test, fake_hca_register(roce.hca), 0);
	below_bridge(vlan[0], true);
	attr = gid_of_bridge(&ip);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	pd = ib_alloc_pd(&roce.hca->ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	ah = ah_from(pd, attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	move_to_8();
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_TRUE(test, fake_hca_ah_sgid(ah) &&
				!memcmp(fake_hca_ah_sgid(ah), &ip, sizeof(ip)));
	KUNIT_EXPECT_FALSE(test, programmed(&ip, 8));
	KUNIT_EXPECT_TRUE(test, roce_has(&roce, &ip));
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_until(programmed(&ip, 8)));
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	rdma_put_gid_attr(attr);
	ib_dealloc_pd(pd);
}

/* A bridge's port that belongs to another adapter does not tag this adapter's packets. */
static void another_adapters_vlan_is_not_this_ones(struct kunit *test)
{
	const struct ib_gid_attr *attr;
	struct in6_addr ip;

	below_bridge(vlan[2], true);
	below_bridge(roce.ndev, true);
	attr = gid_of_bridge(&ip);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, vlan_of(attr), 0xffff);
	KUNIT_EXPECT_TRUE(test, programmed(&ip, 0xffff));
	below_bridge(roce.ndev, false);
	below_bridge(vlan[0], true);
	rdma_put_gid_attr(attr);
	attr = roce_gid(&roce, &ip);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, vlan_of(attr), 7);
	KUNIT_EXPECT_TRUE(test, wait_until(programmed(&ip, 7)));
	rdma_put_gid_attr(attr);
}

static struct kunit_case gid_vlan_cases[] = {
	KUNIT_CASE(another_vlan_is_programmed_in_place),
	KUNIT_CASE(a_vlan_it_already_has_is_left_alone),
	KUNIT_CASE(another_vlan_waits_for_what_sends),
	KUNIT_CASE(another_adapters_vlan_is_not_this_ones),
	{}
};

static struct kunit_suite ibcore_gid_vlan_suite = {
	.name = "ib_core_gid_vlan",
	.init = gid_vlan_test_init,
	.exit = gid_vlan_test_exit,
	.test_cases = gid_vlan_cases,
};

kunit_test_suite(ibcore_gid_vlan_suite);
