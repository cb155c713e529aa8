// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GIDs of an adapter that has a table of its own, like mlx4 and bnxt_re: an AH or a QP
 * sends from a place in that table, which may be given to another GID once it is free.
 */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>
#include "core/objects.h"

#define GID_PLACE_NET	88

static struct roce roce;
static struct ib_pd *pd;

/* Like bnxt_re. */
static void own_table(struct fake_hca *hca)
{
	hca->quirks.gid_has_smac = true;
	hca->quirks.gids_unique = false;
	hca->quirks.del_gid_needs_ndev = false;
	hca->quirks.gid_places = FAKE_PLACE_A_GID;
	/* The table of mlx4 has no MACs, that of bnxt_re has. */
	hca->quirks.driver = RDMA_DRIVER_BNXT_RE;
}

static int gid_place_test_init(struct kunit *test)
{
	int ret = roce_get_as(&roce, GID_PLACE_NET, own_table);

	if (ret)
		return ret;
	roce.ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	pd = ib_alloc_pd(&roce.hca->ibdev, 0);
	return PTR_ERR_OR_ZERO(pd);
}

static void gid_place_test_exit(struct kunit *test)
{
	if (roce.hca)
		ib_dealloc_pd(pd);
	roce_put(&roce);
}

/* The number of places that the adapter has for @ip. */
static int places(const struct in6_addr *ip)
{
	const struct fake_hca_port *port = &roce.hca->port[1];
	int i, n = 0;

	for (i = 0; i < FAKE_HCA_GIDS; i++)
		n += port->gid_used[i] && !memcmp(&port->gids[i], ip, sizeof(*ip));
	return n;
}

/* Whether packets from @ip have @mac as their source. */
static bool sends_by(const struct in6_addr *ip, const u8 *mac)
{
	const struct fake_hca_port *port = &roce.hca->port[1];
	int i;

	for (i = 0; i < FAKE_HCA_GIDS; i++)
		if (port->gid_used[i] && !memcmp(&port->gids[i], ip, sizeof(*ip)))
			return ether_addr_equal(port->gid_smac[i], mac);
	return false;
}

/* Waits until the table lacks @ip and the work that removed it has ended. */
static bool has_left(const struct in6_addr *ip)
{
	bool left = wait_until(roce_lacks(&roce, ip));

	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	return left;
}

static void path_from(struct rdma_ah_attr *attr, const struct ib_gid_attr *sgid)
{
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 2 } };

	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	attr->port_num = 1;
	rdma_ah_set_grh(attr, &dgid, 0, sgid->index, 1, 0);
	attr->grh.sgid_attr = sgid;
}

/* An address handle from @ip. */
static struct ib_ah *ah_from(const struct in6_addr *ip)
{
	const struct ib_gid_attr *sgid = roce_gid(&roce, ip);
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	if (!sgid)
		return NULL;
	path_from(&attr, sgid);
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	rdma_put_gid_attr(sgid);
	return IS_ERR(ah) ? NULL : ah;
}

static bool ah_sends_from(struct ib_ah *ah, const struct in6_addr *ip)
{
	const union ib_gid *gid = fake_hca_ah_sgid(ah);

	return gid && !memcmp(gid, ip, sizeof(*ip));
}

/* ---- while what sends is being made ---- */

static struct in6_addr leaving;
static bool left;

static void leave_in_create_ah(struct fake_hca *hca)
{
	hca->on_create_ah = NULL;
	roce_drop(&roce, &leaving);
	left = has_left(&leaving);
}

/* The driver's context of a GID exists during create_ah, even if the GID was removed. */
static void a_gid_leaves_while_a_handle_is_made(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	struct ib_ah *ah;

	left = false;
	leaving = ip;
	KUNIT_ASSERT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	roce.hca->on_create_ah = leave_in_create_ah;
	ah = ah_from(&ip);
	KUNIT_EXPECT_TRUE(test, left);
	KUNIT_ASSERT_NOT_NULL(test, ah);
	KUNIT_EXPECT_TRUE(test, ah_sends_from(ah, &ip));
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_until(!places(&ip)));
}

static void leave_in_modify_qp(struct fake_hca *hca, struct ib_qp *qp,
			       enum ib_qp_state next)
{
	if (next != IB_QPS_RTR)
		return;
	roce_drop(&roce, &leaving);
	left = has_left(&leaving);
}

static int connect_from(struct ib_qp *qp, const struct ib_gid_attr *sgid)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	int ret = ib_modify_qp(qp, &attr, RC_INIT);

	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	attr.dest_qp_num = qp->qp_num;
	attr.path_mtu = IB_MTU_1024;
	path_from(&attr.ah_attr, sgid);
	return ib_modify_qp(qp, &attr, RC_RTR);
}

/* A QP in RTR whose path begins at @ip. */
static int qp_from(struct objects *o, const struct in6_addr *ip)
{
	const struct ib_gid_attr *sgid = roce_gid(&roce, ip);
	int ret;

	if (!sgid)
		return -ENOENT;
	ret = objects_get(o, roce.hca, IB_POLL_DIRECT, 0, 1, 0);
	if (!ret)
		ret = connect_from(o->qp, sgid);
	rdma_put_gid_attr(sgid);
	return ret;
}

static bool qp_sends_from(struct ib_qp *qp, const struct in6_addr *ip)
{
	const union ib_gid *gid = fake_hca_qp_sgid(qp);

	return gid && !memcmp(gid, ip, sizeof(*ip));
}

static void a_gid_leaves_while_a_qp_connects(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	struct objects o;

	left = false;
	leaving = ip;
	KUNIT_ASSERT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	roce.hca->on_modify_qp = leave_in_modify_qp;
	KUNIT_EXPECT_EQ(test, qp_from(&o, &ip), 0);
	KUNIT_EXPECT_TRUE(test, left);
	KUNIT_EXPECT_TRUE(test, qp_sends_from(o.qp, &ip));
	objects_put(&o);
	KUNIT_EXPECT_TRUE(test, wait_until(!places(&ip)));
}

/* ---- while an AH or a QP sends ---- */

/* A place that an AH or a QP sends from is not given to another GID. */
static void a_place_in_use_is_nobody_elses(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1), qp_ip = roce_v4(&roce, 0x201);
	struct in6_addr new = roce_v4(&roce, 0x301), newer = roce_v4(&roce, 0x302);
	struct objects o;
	struct ib_ah *ah;

	KUNIT_ASSERT_EQ(test, roce_take(&roce, &qp_ip), 0);
	ah = ah_from(&ip);
	KUNIT_ASSERT_NOT_NULL(test, ah);
	KUNIT_EXPECT_EQ(test, qp_from(&o, &qp_ip), 0);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &qp_ip), 0);
	KUNIT_EXPECT_TRUE(test, has_left(&ip) && has_left(&qp_ip));

	KUNIT_ASSERT_EQ(test, roce_take(&roce, &new), 0);
	KUNIT_ASSERT_EQ(test, roce_take(&roce, &newer), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &new) && roce_has(&roce, &newer)));
	KUNIT_EXPECT_TRUE(test, ah_sends_from(ah, &ip));
	KUNIT_EXPECT_TRUE(test, qp_sends_from(o.qp, &qp_ip));

	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_until(!places(&ip)));
	KUNIT_EXPECT_EQ(test, places(&qp_ip), 1);
	objects_put(&o);
	KUNIT_EXPECT_TRUE(test, wait_until(!places(&qp_ip)));
}

/* An address that is added again while an AH uses its old entry works at once. */
static void a_gid_that_comes_back_has_its_old_place(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	struct ib_ah *old, *ah;

	old = ah_from(&ip);
	KUNIT_ASSERT_NOT_NULL(test, old);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, has_left(&ip));
	KUNIT_ASSERT_EQ(test, roce_take(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	ah = ah_from(&ip);
	KUNIT_EXPECT_NOT_NULL(test, ah);
	KUNIT_EXPECT_EQ(test, places(&ip), 1);
	/* The end of the old entry does not remove the place of the new one. */
	rdma_destroy_ah(old, RDMA_DESTROY_AH_SLEEPABLE);
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_EQ(test, places(&ip), 1);
	if (ah) {
		KUNIT_EXPECT_TRUE(test, ah_sends_from(ah, &ip));
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
}

/* A place keeps no netdev: del_gid() is called long after the netdev was removed. */
static void a_place_in_use_keeps_no_netdev(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 0x801);
	struct net_device *vlan = net_link("vlan", "fvlan9", roce.ndev, 9);
	struct ib_ah *ah;

	KUNIT_ASSERT_NOT_NULL(test, vlan);
	KUNIT_EXPECT_EQ(test, fake_netdev_add_ipv4(vlan, ip.s6_addr32[3], 24), 0);
	ah = ah_from(&ip);
	net_unlink(vlan);
	KUNIT_EXPECT_TRUE(test, has_left(&ip));
	KUNIT_ASSERT_NOT_NULL(test, ah);
	KUNIT_EXPECT_EQ(test, places(&ip), 1);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_until(!places(&ip)));
}

static int (*del_gid)(const struct ib_gid_attr *attr, void **context);
static int deleted;

static int del_gid_counted(const struct ib_gid_attr *attr, void **context)
{
	int ret = del_gid(attr, context);

	deleted += !ret;
	return ret;
}

/* Unregistration removes all places, even those in use. */
static void a_device_that_goes_leaves_no_place(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	struct ib_ah *ah = ah_from(&ip);
	int alive;

	KUNIT_ASSERT_NOT_NULL(test, ah);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, has_left(&ip));
	alive = atomic_read(&roce.hca->alive[FAKE_GID]);
	deleted = 0;
	del_gid = roce.hca->ibdev.ops.del_gid;
	roce.hca->ibdev.ops.del_gid = del_gid_counted;
	ib_unregister_device(&roce.hca->ibdev);
	KUNIT_EXPECT_EQ(test, deleted, alive);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_GID]), 0);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_dealloc_pd(pd);
	fake_hca_destroy(roce.hca);
	roce.hca = NULL;
	KUNIT_EXPECT_EQ(test, deleted, alive);
}

/* A mere reference, like a listener's, does not keep a removed address in the adapter. */
static void who_sends_nothing_keeps_no_place(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1), v6 = roce_v6(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip);
	const struct ib_gid_attr *attr6 = roce_gid(&roce, &v6), *after;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_ASSERT_NOT_NULL(test, attr6);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, has_left(&ip));
	KUNIT_EXPECT_EQ(test, places(&ip), 0);
	/* A reference does not delay a new MAC either, and it stays valid. */
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x206), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(sends_by(&v6, roce.ndev->dev_addr)));
	after = roce_gid(&roce, &v6);
	KUNIT_EXPECT_PTR_EQ(test, after, attr6);
	if (after)
		rdma_put_gid_attr(after);
	rdma_put_gid_attr(attr6);
	rdma_put_gid_attr(attr);
}

/* The place remains for those that used it before the address was removed. */
static void nothing_sends_anew_from_what_has_left(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip);
	struct ib_ah *ah = ah_from(&ip), *late;
	struct rdma_ah_attr path;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_ASSERT_NOT_NULL(test, ah);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, has_left(&ip));
	path_from(&path, attr);
	late = rdma_create_ah(pd, &path, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(late), -ENODEV);
	KUNIT_EXPECT_EQ(test, places(&ip), 1);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_until(!places(&ip)));
	rdma_put_gid_attr(attr);
}

static int (*add_gid)(const struct ib_gid_attr *attr, void **context);
static int room;	/* the number of places that the firmware allows */

static int add_gid_in_room(const struct ib_gid_attr *attr, void **context)
{
	int i, n = 0;

	for (i = 0; i < FAKE_HCA_GIDS; i++)
		n += roce.hca->port[1].gid_used[i];
	if (n >= room && !places((const struct in6_addr *)&attr->gid))
		return -EIO;
	return add_gid(attr, context);
}

static void a_gid_that_found_no_place_has_the_next(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1), new = roce_v4(&roce, 0x301);
	struct ib_ah *ah = ah_from(&ip);

	KUNIT_ASSERT_NOT_NULL(test, ah);
	room = 3;
	add_gid = roce.hca->ibdev.ops.add_gid;
	roce.hca->ibdev.ops.add_gid = add_gid_in_room;
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, has_left(&ip));
	KUNIT_ASSERT_EQ(test, roce_take(&roce, &new), 0);
	KUNIT_EXPECT_FALSE(test, wait_within(!roce_lacks(&roce, &new), 200));
	/* No other event triggers the retry. */
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_within(roce_has(&roce, &new), 200));
	roce.hca->ibdev.ops.add_gid = add_gid;
}

/* ---- another MAC ---- */

/* Entries of both RoCE types share a place, which gets the MAC when both are removed. */
static void another_mac_is_programmed_where_nothing_sends(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1), v6 = roce_v6(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &v4);
	int at;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	at = attr->index;
	rdma_put_gid_attr(attr);
	KUNIT_ASSERT_TRUE(test, wait_until(roce_has(&roce, &v4) && roce_has(&roce, &v6)));
	KUNIT_EXPECT_TRUE(test, sends_by(&v4, roce.ndev->dev_addr));
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x201), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(sends_by(&v4, roce.ndev->dev_addr)));
	KUNIT_EXPECT_TRUE(test, wait_until(sends_by(&v6, roce.ndev->dev_addr)));
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &v4) && roce_has(&roce, &v6)));
	attr = roce_gid(&roce, &v4);
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, attr->index, at);
	rdma_put_gid_attr(attr);
}

/* The new MAC waits for what sends from that place, and for no other place. */
static void another_mac_waits_for_what_sends(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1), v6 = roce_v6(&roce, 1);
	struct in6_addr new = roce_v4(&roce, 0x301);
	struct ib_ah *ah = ah_from(&v4);
	u8 old[ETH_ALEN];

	KUNIT_ASSERT_NOT_NULL(test, ah);
	ether_addr_copy(old, roce.ndev->dev_addr);
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x202), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(sends_by(&v6, roce.ndev->dev_addr)));
	/* Also if adding a new GID has the port scanned. */
	KUNIT_ASSERT_EQ(test, roce_take(&roce, &new), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &new)));
	KUNIT_EXPECT_FALSE(test, wait_within(!ah_sends_from(ah, &v4) ||
					     !sends_by(&v4, old) || !roce_has(&roce, &v4), 3000));
	KUNIT_EXPECT_TRUE(test, sends_by(&new, roce.ndev->dev_addr));
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_until(sends_by(&v4, roce.ndev->dev_addr)));
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &v4)));
	KUNIT_EXPECT_EQ(test, places(&v4), 1);
}

/*
 * An AH of a removed address sends too; an address that is back shares its place and MAC.
 */
static void another_mac_waits_for_what_was_removed(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	struct ib_ah *ah = ah_from(&ip);
	u8 old[ETH_ALEN];

	KUNIT_ASSERT_NOT_NULL(test, ah);
	ether_addr_copy(old, roce.ndev->dev_addr);
	KUNIT_ASSERT_EQ(test, roce_drop(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, has_left(&ip));
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x203), 0);
	KUNIT_ASSERT_EQ(test, roce_take(&roce, &ip), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_FALSE(test, wait_within(!ah_sends_from(ah, &ip) ||
					     !sends_by(&ip, old), 3000));
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_TRUE(test, wait_until(sends_by(&ip, roce.ndev->dev_addr)));
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ip)));
}

/* A GID that the adapter refuses while the link is down is tried again when it is up. */
static void another_mac_that_is_refused_is_tried_again(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);

	KUNIT_ASSERT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	roce.hca->quirks.gid_ops_fail_detached = true;
	KUNIT_ASSERT_EQ(test, net_up(roce.ndev, false), 0);
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x204), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_lacks(&roce, &ip)));
	KUNIT_EXPECT_TRUE(test, wait_until(!places(&ip)));
	KUNIT_ASSERT_EQ(test, net_up(roce.ndev, true), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ip)));
	KUNIT_EXPECT_TRUE(test, sends_by(&ip, roce.ndev->dev_addr));
	roce.hca->quirks.gid_ops_fail_detached = false;
}

static int (*mlx4_add_gid)(const struct ib_gid_attr *attr, void **context);
static struct in6_addr added_for;
static int added;

static int add_gid_counted(const struct ib_gid_attr *attr, void **context)
{
	added += !memcmp(&attr->gid, &added_for, sizeof(added_for));
	return mlx4_add_gid(attr, context);
}

/* With mlx4 the QPs and address handles contain the MAC, not the GID table. */
static void mlx4_has_no_mac_to_program(struct kunit *test)
{
	struct in6_addr ll;

	ib_dealloc_pd(pd);
	fake_hca_destroy(roce.hca);
	roce.hca = roce_alloc(roce.ndev, own_table);
	KUNIT_ASSERT_NOT_NULL(test, roce.hca);
	roce.hca->quirks.gid_places = FAKE_PLACE_A_TYPE;
	roce.hca->quirks.driver = RDMA_DRIVER_MLX4;
	mlx4_add_gid = roce.hca->ibdev.ops.add_gid;
	roce.hca->ibdev.ops.add_gid = add_gid_counted;
	added_for = roce_v4(&roce, 1);
	added = 0;
	KUNIT_EXPECT_EQ(test, fake_hca_register(roce.hca), 0);
	pd = ib_alloc_pd(&roce.hca->ibdev, 0);
	KUNIT_EXPECT_EQ(test, places(&added_for), 2);
	KUNIT_EXPECT_EQ(test, added, 2);
	KUNIT_ASSERT_EQ(test, roce_set_mac(roce.ndev, 0x205), 0);
	ll = net_link_local(roce.ndev);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has(&roce, &ll)));
	rdma_roce_rescan_port(&roce.hca->ibdev, 1);
	KUNIT_EXPECT_EQ(test, added, 2);
	KUNIT_EXPECT_TRUE(test, roce_has(&roce, &added_for));
	roce.hca->ibdev.ops.add_gid = mlx4_add_gid;
}

static struct kunit_case gid_place_cases[] = {
	KUNIT_CASE(a_gid_leaves_while_a_handle_is_made),
	KUNIT_CASE(a_gid_leaves_while_a_qp_connects),
	KUNIT_CASE(a_place_in_use_is_nobody_elses),
	KUNIT_CASE(a_gid_that_comes_back_has_its_old_place),
	KUNIT_CASE(a_place_in_use_keeps_no_netdev),
	KUNIT_CASE(a_device_that_goes_leaves_no_place),
	KUNIT_CASE(who_sends_nothing_keeps_no_place),
	KUNIT_CASE(nothing_sends_anew_from_what_has_left),
	KUNIT_CASE(a_gid_that_found_no_place_has_the_next),
	KUNIT_CASE(another_mac_is_programmed_where_nothing_sends),
	KUNIT_CASE(another_mac_waits_for_what_sends),
	KUNIT_CASE(another_mac_waits_for_what_was_removed),
	KUNIT_CASE(another_mac_that_is_refused_is_tried_again),
	KUNIT_CASE(mlx4_has_no_mac_to_program),
	{}
};

static struct kunit_suite ibcore_gid_place_suite = {
	.name = "ib_core_gid_place",
	.init = gid_place_test_init,
	.exit = gid_place_test_exit,
	.test_cases = gid_place_cases,
};

kunit_test_suite(ibcore_gid_place_suite);
