// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RoCE ports whose net_devices are slaves of a bond:
 *
 *	  fvlan9 (10.88.9.1)
 *	    |
 *	  fbond0 (10.88.0.1)  active-backup
 *	  /    \
 *	a       b		net_devices of a port each
 */
#include <kunit/test.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <net/bonding.h>
#include <rdma/ib_cache.h>
#include <rdma/lag.h>
#include "core/objects.h"

#define V2	IB_GID_TYPE_ROCE_UDP_ENCAP

static struct net_device *bond, *slave[2];
static struct fake_hca *hca[2];

static int enslave(struct net_device *ndev, bool on)
{
	int ret;

	rtnl_lock();
	dev_close(ndev);
	if (on)
		ret = bond->netdev_ops->ndo_add_slave(bond, ndev, NULL);
	else
		ret = bond->netdev_ops->ndo_del_slave(bond, ndev);
	rtnl_unlock();
	return ret;
}

static int bond_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_ETHERNET };
	int i;

	bond = NULL;
	memset(hca, 0, sizeof(hca));
	memset(slave, 0, sizeof(slave));
	for (i = 0; i < 2; i++) {
		slave[i] = fake_netdev_create("fslave%d");
		if (!slave[i])
			return -ENOMEM;
		net_arp(slave[i], true);
		params.ndev = slave[i];
		hca[i] = fake_hca_create(&params);
		if (!hca[i])
			return -ENOMEM;
	}
	bond = net_link("bond", "fbond0", NULL, BOND_MODE_ACTIVEBACKUP);
	if (!bond)
		kunit_skip(test, "no bonding driver");
	return 0;
}

static void bond_test_exit(struct kunit *test)
{
	int i;

	if (bond)
		net_unlink(bond);
	for (i = 0; i < 2; i++) {
		if (hca[i])
			fake_hca_destroy(hca[i]);
		if (slave[i])
			fake_netdev_destroy(slave[i]);
	}
}

static bool has(int i, const struct in6_addr *ip)
{
	return roce_has_gid(hca[i], ip, V2);
}

/* Whether the default GID of port @i is on @ndev. */
static bool default_is(int i, struct net_device *ndev)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&hca[i]->ibdev, 1, 0);
	struct net_device *on;

	if (IS_ERR(attr))
		return !ndev;
	rcu_read_lock();
	on = rdma_read_gid_attr_ndev_rcu(attr);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return on == ndev;
}

static void a_bonds_gids_are_at_its_active_slave(struct kunit *test)
{
	struct in6_addr ip = net_v4(0x0a580001), on_vlan = net_v4(0x0a580901), ll;
	struct net_device *vlan;

	KUNIT_EXPECT_TRUE(test, default_is(0, slave[0]) && default_is(1, slave[1]));
	KUNIT_ASSERT_EQ(test, enslave(slave[0], true), 0);
	KUNIT_ASSERT_EQ(test, enslave(slave[1], true), 0);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(bond, ip.s6_addr32[3], 24), 0);
	vlan = net_link("vlan", "fvlan9", bond, 9);
	KUNIT_ASSERT_NOT_NULL(test, vlan);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(vlan, on_vlan.s6_addr32[3], 24), 0);

	KUNIT_EXPECT_TRUE(test, wait_until(has(0, &ip) && has(0, &on_vlan)));
	KUNIT_EXPECT_TRUE(test, wait_until(default_is(0, bond)));
	KUNIT_EXPECT_TRUE(test, wait_until(default_is(1, NULL)));
	KUNIT_EXPECT_FALSE(test, has(1, &ip) || has(1, &on_vlan));
	ll = net_link_local(bond);
	KUNIT_EXPECT_TRUE(test, has(0, &ll));

	/* They move when the other slave becomes active. */
	KUNIT_ASSERT_EQ(test, net_bond_active(bond, slave[1]), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(1, &ip) && has(1, &on_vlan) &&
					   !has(0, &ip) && !has(0, &on_vlan)));
	KUNIT_EXPECT_TRUE(test, wait_until(default_is(1, bond) && default_is(0, NULL)));

	/* A slave that leaves the bond has its own default GID again. */
	KUNIT_ASSERT_EQ(test, enslave(slave[1], false), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(default_is(1, slave[1]) && default_is(0, bond)));
	KUNIT_EXPECT_TRUE(test, wait_until(has(0, &ip) && !has(1, &ip)));
	net_unlink(vlan);
	KUNIT_EXPECT_TRUE(test, wait_until(!has(0, &on_vlan)));
}

/* Replaces the bond by one of @mode, with both slaves and the address @ip. */
static int use_mode(int mode, const struct in6_addr *ip)
{
	net_unlink(bond);
	bond = net_link("bond", "fbond0", NULL, mode);
	if (!bond)
		return -ENODEV;
	/* balance-alb changes the MACs of slaves that are up. */
	slave[0]->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	slave[1]->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	return enslave(slave[0], true) ?: enslave(slave[1], true) ?:
	       fake_netdev_add_ipv4(bond, ip->s6_addr32[3], 24);
}

/* balance-tlb and balance-alb have an active slave, but send through all slaves. */
static void a_balancing_bonds_gids_are_at_each_slave(struct kunit *test)
{
	static const int modes[] = { BOND_MODE_TLB, BOND_MODE_ALB };
	struct in6_addr ip = net_v4(0x0a580001);
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		KUNIT_ASSERT_EQ(test, use_mode(modes[i], &ip), 0);
		KUNIT_EXPECT_TRUE(test, wait_until(has(0, &ip) && has(1, &ip)));
		KUNIT_EXPECT_TRUE(test, wait_until(default_is(0, bond) && default_is(1, bond)));
		KUNIT_ASSERT_EQ(test, net_bond_active(bond, slave[1]), 0);
		rdma_roce_rescan_device(&hca[0]->ibdev);
		KUNIT_EXPECT_TRUE(test, has(0, &ip) && has(1, &ip));
	}
}

/* Leaves only the adapter on slave 0, and makes both net_devices slaves. */
static int use_one_hca(const struct in6_addr *ip)
{
	fake_hca_destroy(hca[1]);
	hca[1] = NULL;
	return enslave(slave[0], true) ?: enslave(slave[1], true) ?:
	       fake_netdev_add_ipv4(bond, ip->s6_addr32[3], 24);
}

/* As mlx5 with LAG: one port for both slaves, which gets its new netdev a while later. */
static void a_port_for_all_slaves_keeps_its_gids(struct kunit *test)
{
	struct in6_addr ip = net_v4(0x0a580001);
	const struct ib_gid_attr *attr, *now;
	int i;

	KUNIT_ASSERT_EQ(test, use_one_hca(&ip), 0);
	KUNIT_ASSERT_TRUE(test, wait_until(has(0, &ip) && default_is(0, bond)));
	/* While this is held, a GID that is removed comes back at another index. */
	attr = rdma_find_gid(&hca[0]->ibdev, (union ib_gid *)&ip, V2, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	for (i = 1; i >= 0; i--) {
		KUNIT_EXPECT_EQ(test, net_bond_active(bond, slave[i]), 0);
		rdma_roce_rescan_device(&hca[0]->ibdev);
		KUNIT_EXPECT_TRUE(test, has(0, &ip) && default_is(0, bond));
		KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&hca[0]->ibdev, slave[i], 1), 0);
		rdma_roce_rescan_device(&hca[0]->ibdev);
		now = rdma_find_gid(&hca[0]->ibdev, (union ib_gid *)&ip, V2, NULL);
		KUNIT_EXPECT_PTR_EQ(test, now, attr);
		if (!IS_ERR(now))
			rdma_put_gid_attr(now);
	}
	rdma_put_gid_attr(attr);
}

/* The bond's GIDs move to a port that appears on the active slave, and back. */
static void a_port_comes_to_the_active_slave(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = slave[1],
	};
	struct in6_addr ip = net_v4(0x0a580001);

	KUNIT_ASSERT_EQ(test, use_one_hca(&ip), 0);
	KUNIT_ASSERT_EQ(test, net_bond_active(bond, slave[1]), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(0, &ip)));
	hca[1] = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca[1]);
	KUNIT_EXPECT_TRUE(test, has(1, &ip));
	KUNIT_EXPECT_TRUE(test, wait_until(!has(0, &ip) && default_is(0, NULL)));

	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&hca[1]->ibdev, NULL, 1), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(0, &ip) && default_is(0, bond)));
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&hca[1]->ibdev, slave[1], 1), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(!has(0, &ip) && has(1, &ip)));
	fake_hca_destroy(hca[1]);
	hca[1] = NULL;
	KUNIT_EXPECT_TRUE(test, wait_until(has(0, &ip) && default_is(0, bond)));
}

static void a_bond_that_goes_takes_its_gids(struct kunit *test)
{
	struct in6_addr ip = net_v4(0x0a580001);

	KUNIT_ASSERT_EQ(test, enslave(slave[0], true), 0);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(bond, ip.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(has(0, &ip)));
	net_unlink(bond);
	bond = NULL;
	KUNIT_EXPECT_TRUE(test, wait_until(!has(0, &ip)));
	KUNIT_EXPECT_TRUE(test, wait_until(default_is(0, slave[0])));
}

static struct net_device *xmit_slave;

static int see_slave(struct ib_ah *ah, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata)
{
	xmit_slave = init->xmit_slave;
	return 0;
}

static int forget(struct ib_ah *ah, u32 flags)
{
	return 0;
}

/* RoCE annex A17: the packets of a flow leave by the slave that the bond chooses. */
static void a_flow_knows_its_slave(struct kunit *test)
{
	struct in6_addr ip = net_v4(0x0a580001), peer = net_v4(0x0a580002);
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE, .port_num = 1 };
	const struct ib_gid_attr *gid;
	struct ib_ah *ah;
	struct ib_pd *pd;

	KUNIT_ASSERT_EQ(test, enslave(slave[0], true), 0);
	KUNIT_ASSERT_EQ(test, enslave(slave[1], true), 0);
	KUNIT_ASSERT_EQ(test, fake_netdev_add_ipv4(bond, ip.s6_addr32[3], 24), 0);
	KUNIT_ASSERT_TRUE(test, wait_until(has(0, &ip)));
	gid = rdma_find_gid(&hca[0]->ibdev, (union ib_gid *)&ip, V2, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(gid));
	pd = ib_alloc_pd(&hca[0]->ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	hca[0]->ibdev.ops.create_ah = see_slave;
	hca[0]->ibdev.ops.destroy_ah = forget;

	rdma_ah_set_grh(&attr, (union ib_gid *)&peer, 0x1111, gid->index, 1, 0);
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_EXPECT_FALSE(test, IS_ERR(ah));
	KUNIT_EXPECT_PTR_EQ(test, xmit_slave, slave[0]);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	/* Without a flow label the adapter chooses. */
	attr.grh.flow_label = 0;
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_EXPECT_FALSE(test, IS_ERR(ah));
	KUNIT_EXPECT_NULL(test, xmit_slave);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_dealloc_pd(pd);
	rdma_put_gid_attr(gid);
}

static struct kunit_case bond_cases[] = {
	KUNIT_CASE(a_bonds_gids_are_at_its_active_slave),
	KUNIT_CASE(a_balancing_bonds_gids_are_at_each_slave),
	KUNIT_CASE(a_port_for_all_slaves_keeps_its_gids),
	KUNIT_CASE(a_port_comes_to_the_active_slave),
	KUNIT_CASE(a_bond_that_goes_takes_its_gids),
	KUNIT_CASE(a_flow_knows_its_slave),
	{}
};

static struct kunit_suite ibcore_bond_suite = {
	.name = "ib_core_bond",
	.init = bond_test_init,
	.exit = bond_test_exit,
	.test_cases = bond_cases,
};

kunit_test_suite(ibcore_bond_suite);
