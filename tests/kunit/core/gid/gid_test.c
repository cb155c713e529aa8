// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finding GIDs, and what an entry tells its holders. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "gid/gid.h"
#include "faults.h"
#include "core/objects.h"

#define GID_NET		85

static struct fake_hca *ib;
static struct roce roce;

static int gid_test_init(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};

	ib = fake_hca_alloc(&params);
	if (!ib)
		return -ENOMEM;
	/* One GID on both ports, twice on the second. */
	ib->port[1].gids[4].raw[0] = 0x99;
	ib->port[2].gids[3].raw[0] = 0x99;
	ib->port[2].gids[6].raw[0] = 0x99;
	if (fake_hca_register(ib)) {
		fake_hca_free(ib);
		ib = NULL;
		return -ENOMEM;
	}
	return roce_get(&roce, GID_NET);
}

static void gid_test_exit(struct kunit *test)
{
	if (ib)
		fake_hca_destroy(ib);
	ib = NULL;
	roce_put(&roce);
}

static void types_have_names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, ib_cache_gid_type_str(IB_GID_TYPE_IB), "IB/RoCE v1");
	KUNIT_EXPECT_STREQ(test, ib_cache_gid_type_str(IB_GID_TYPE_ROCE_UDP_ENCAP),
			   "RoCE v2");
	KUNIT_EXPECT_STREQ(test, ib_cache_gid_type_str(99), "Invalid GID type");
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str("RoCE v2\n"),
			IB_GID_TYPE_ROCE_UDP_ENCAP);
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str("IB/RoCE v1"),
			IB_GID_TYPE_ROCE);
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str("RoCE v"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str(""), -EINVAL);
	KUNIT_EXPECT_TRUE(test, rdma_is_zero_gid(&zgid));
	KUNIT_EXPECT_FALSE(test, rdma_is_zero_gid(&ib->port[1].gids[4]));
}

static void by_index(struct kunit *test)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	KUNIT_EXPECT_EQ(test, rdma_query_gid(&ib->ibdev, 1, 4, &gid), 0);
	KUNIT_EXPECT_EQ(test, gid.raw[0], 0x99);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&ib->ibdev, 1, 5, &gid), -ENOENT);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&ib->ibdev, 1, -1, &gid), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&ib->ibdev, 1, FAKE_HCA_GIDS, &gid),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&ib->ibdev, 3, 0, &gid), -EINVAL);
	attr = rdma_get_gid_attr(&ib->ibdev, 1, 5);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -ENODATA);
	attr = rdma_get_gid_attr(&ib->ibdev, 1, FAKE_HCA_GIDS);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -EINVAL);
	attr = rdma_get_gid_attr(&ib->ibdev, 0, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -EINVAL);
}

static int find(struct fake_hca *hca, const union ib_gid *gid, enum ib_gid_type type,
		u32 port, struct net_device *ndev)
{
	const struct ib_gid_attr *attr;
	int ret;

	attr = port ? rdma_find_gid_by_port(&hca->ibdev, gid, type, port, ndev) :
		      rdma_find_gid(&hca->ibdev, gid, type, ndev);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	ret = attr->port_num * 100 + attr->index;
	rdma_put_gid_attr(attr);
	return ret;
}

static void by_gid_the_lowest_place_is_found(struct kunit *test)
{
	union ib_gid gid = { .raw = { 0x99 } }, none = { .raw = { 0x98 } };
	u32 port = 0;
	u16 index = 0;

	KUNIT_EXPECT_EQ(test, find(ib, &gid, IB_GID_TYPE_IB, 0, NULL), 104);
	KUNIT_EXPECT_EQ(test, find(ib, &gid, IB_GID_TYPE_IB, 2, NULL), 203);
	KUNIT_EXPECT_EQ(test, find(ib, &none, IB_GID_TYPE_IB, 0, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, find(ib, &gid, IB_GID_TYPE_IB, 3, NULL), -ENOENT);
	KUNIT_EXPECT_EQ(test, find(ib, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, find(ib, &gid, IB_GID_TYPE_IB, 1, roce.ndev), -ENOENT);

	KUNIT_EXPECT_EQ(test, ib_find_gid(&ib->ibdev, &gid, &port, &index), 0);
	KUNIT_EXPECT_EQ(test, port, 1);
	KUNIT_EXPECT_EQ(test, index, 4);
	gid = ib->port[2].gids[0];
	KUNIT_EXPECT_EQ(test, ib_find_gid(&ib->ibdev, &gid, &port, NULL), 0);
	KUNIT_EXPECT_EQ(test, port, 2);
	KUNIT_EXPECT_EQ(test, ib_find_gid(&ib->ibdev, &none, &port, NULL), -ENOENT);
}

static void a_roce_gid_has_a_type_and_a_netdev(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	union ib_gid *gid = (union ib_gid *)&ip;
	enum ib_gid_type v1 = IB_GID_TYPE_ROCE, v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	u32 port;
	int a, b;

	a = find(roce.hca, gid, v1, 1, NULL);
	b = find(roce.hca, gid, v2, 1, roce.ndev);
	KUNIT_EXPECT_GT(test, a, 0);
	KUNIT_EXPECT_GT(test, b, 0);
	KUNIT_EXPECT_NE(test, a, b);
	KUNIT_EXPECT_EQ(test, find(roce.hca, gid, v2, 1, init_net.loopback_dev),
			-ENOENT);
	/* Without a type and a netdev a GID does not identify an entry. */
	KUNIT_EXPECT_EQ(test, ib_find_gid(&roce.hca->ibdev, gid, &port, NULL), -ENOENT);
}

static bool of_type(const union ib_gid *gid, const struct ib_gid_attr *attr, void *context)
{
	return attr->gid_type == *(enum ib_gid_type *)context;
}

static void a_filter_chooses(struct kunit *test)
{
	enum ib_gid_type type = IB_GID_TYPE_ROCE, none = 77;
	struct in6_addr ip = roce_v4(&roce, 1), other = roce_v4(&roce, 9);
	union ib_gid *gid = (union ib_gid *)&ip;
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_filter(&roce.hca->ibdev, gid, 1, of_type, &type);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	KUNIT_EXPECT_EQ(test, attr->gid_type, type);
	rdma_put_gid_attr(attr);
	attr = rdma_find_gid_by_filter(&roce.hca->ibdev, gid, 1, of_type, &none);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -ENOENT);
	attr = rdma_find_gid_by_filter(&roce.hca->ibdev, (union ib_gid *)&other, 1,
				       of_type, &type);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -ENOENT);
	attr = rdma_find_gid_by_filter(&roce.hca->ibdev, gid, 2, of_type, &type);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -EPROTONOSUPPORT);
	attr = rdma_find_gid_by_filter(&ib->ibdev, gid, 1, of_type, &type);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(attr), -EPROTONOSUPPORT);
}

static void the_whole_table(struct kunit *test)
{
	struct ib_uverbs_gid_entry entries[8];
	int n = 5;	/* two default GIDs, three of the suite */

	KUNIT_ASSERT_EQ(test, rdma_query_gid_table(&ib->ibdev, entries, 8), n);
	KUNIT_EXPECT_EQ(test, entries[1].gid_index, 4);
	KUNIT_EXPECT_EQ(test, entries[1].port_num, 1);
	KUNIT_EXPECT_EQ(test, entries[1].netdev_ifindex, 0);
	KUNIT_EXPECT_EQ(test, entries[4].gid_index, 6);
	KUNIT_EXPECT_EQ(test, entries[4].port_num, 2);
	KUNIT_EXPECT_EQ(test, rdma_query_gid_table(&ib->ibdev, entries, n), n);
	KUNIT_EXPECT_EQ(test, rdma_query_gid_table(&ib->ibdev, entries, n - 1), -EINVAL);

	memset(entries, 0, sizeof(entries));
	n = rdma_query_gid_table(&roce.hca->ibdev, entries, 8);
	KUNIT_ASSERT_EQ(test, n, 6);	/* two types of each of three GIDs */
	KUNIT_EXPECT_EQ(test, entries[0].netdev_ifindex, roce.ndev->ifindex);
	KUNIT_EXPECT_EQ(test, entries[1].gid_type, IB_GID_TYPE_ROCE_UDP_ENCAP);
}

static void an_entry_knows_its_way_out(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &ip), *of_ib;
	u8 mac[ETH_ALEN];
	u16 vlan;
	int at;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, &vlan, mac), 0);
	KUNIT_EXPECT_EQ(test, vlan, 0xffff);
	KUNIT_EXPECT_MEMEQ(test, mac, roce.ndev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, NULL), 0);
	if (roce.hca->quirks.gid_places)
		KUNIT_EXPECT_NOT_NULL(test, rdma_read_gid_hw_context(attr));
	else
		KUNIT_EXPECT_NULL(test, rdma_read_gid_hw_context(attr));
	at = fake_hca_gid_at(attr);
	KUNIT_ASSERT_GE(test, at, 0);
	KUNIT_EXPECT_MEMEQ(test, &roce.hca->port[1].gids[at], &ip, sizeof(ip));
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rdma_read_gid_attr_ndev_rcu(attr), roce.ndev);
	rcu_read_unlock();

	of_ib = rdma_get_gid_attr(&ib->ibdev, 1, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(of_ib));
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(of_ib, &vlan, mac), -ENODEV);
	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_read_gid_attr_ndev_rcu(of_ib)), -ENODEV);
	rcu_read_unlock();
	rdma_put_gid_attr(of_ib);

	/* An entry that has left the table does not keep its netdev. */
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(roce.ndev, ip.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(!roce_has_gid(roce.hca, &ip, attr->gid_type)));
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, &vlan, mac), -ENODEV);
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &ip, sizeof(ip));
	rdma_put_gid_attr(attr);
}

static int (*query_gid)(struct ib_device *dev, u32 port, int index, union ib_gid *gid);
static int query_fails_at;

static int query_gid_or_fail(struct ib_device *dev, u32 port, int index,
			     union ib_gid *gid)
{
	return index == query_fails_at ? -EIO : query_gid(dev, port, index, gid);
}

/* Entries before and after the one that fails are updated; that one keeps its GID. */
static void a_table_that_cannot_be_read_stays(struct kunit *test)
{
	union ib_gid gid;

	query_gid = ib->ibdev.ops.query_gid;
	ib->ibdev.ops.query_gid = query_gid_or_fail;
	query_fails_at = 3;
	ib->port[1].gids[1].raw[0] = 0x11;
	ib->port[1].gids[4].raw[0] = 0x12;
	fake_hca_port_event(ib, 1, IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_TRUE(test, wait_until(!rdma_query_gid(&ib->ibdev, 1, 1, &gid)));
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&ib->ibdev, 1, 4, &gid), 0);
	KUNIT_EXPECT_EQ(test, gid.raw[0], 0x99);
	/* The next event reads the rest. */
	query_fails_at = -1;
	fake_hca_port_event(ib, 1, IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_TRUE(test, wait_until(!rdma_query_gid(&ib->ibdev, 1, 4, &gid) &&
					   gid.raw[0] == 0x12));
	/* A zero GID is an empty entry. */
	ib->port[1].gids[4] = zgid;
	fake_hca_port_event(ib, 1, IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_TRUE(test, wait_until(rdma_query_gid(&ib->ibdev, 1, 4, &gid) ==
					   -ENOENT));
}

static void pkeys_by_membership(struct kunit *test)
{
	struct ib_device *dev = &ib->ibdev;
	u16 index = 99;

	ib->port[1].pkeys[2] = 0x1234;
	ib->port[1].pkeys[3] = 0x9234;
	ib->port[1].pkeys[5] = 0x9234;
	ib->port[1].pkeys[6] = 0x4321;
	ib->port[1].pkeys[7] = 0x4321;
	fake_hca_port_event(ib, 1, IB_EVENT_PKEY_CHANGE);
	KUNIT_ASSERT_TRUE(test, wait_until(!ib_find_exact_cached_pkey(dev, 1, 0x9234,
								      &index)));
	KUNIT_EXPECT_EQ(test, index, 3);
	KUNIT_EXPECT_EQ(test, ib_find_exact_cached_pkey(dev, 1, 0x1234, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 2);
	/* The full member is found, though the limited one comes first. */
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(dev, 1, 0x1234, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 3);
	KUNIT_EXPECT_EQ(test, ib_find_pkey(dev, 1, 0x1234, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 3);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(dev, 1, 0xc321, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 6);
	KUNIT_EXPECT_EQ(test, ib_find_pkey(dev, 1, 0xc321, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 6);
	KUNIT_EXPECT_EQ(test, ib_find_exact_cached_pkey(dev, 1, 0xc321, &index), -ENOENT);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(dev, 1, 0x5555, &index), -ENOENT);
	KUNIT_EXPECT_EQ(test, ib_find_pkey(dev, 1, 0x5555, &index), -ENOENT);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(dev, 3, 0x5555, &index), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_find_exact_cached_pkey(dev, 3, 0x5555, &index), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_find_pkey(dev, 3, 0x5555, &index), -EINVAL);
}

static void what_is_cached_of_a_port(struct kunit *test)
{
	enum ib_port_state state;
	u64 prefix = 1;
	u8 lmc;

	ib_get_cached_subnet_prefix(&ib->ibdev, 3, &prefix);
	KUNIT_EXPECT_EQ(test, prefix, 1);
	ib_get_cached_subnet_prefix(&ib->ibdev, 1, &prefix);
	KUNIT_EXPECT_EQ(test, prefix, 0xfe80000000000000ULL);
	KUNIT_EXPECT_EQ(test, ib_get_cached_lmc(&ib->ibdev, 3, &lmc), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_get_cached_lmc(&ib->ibdev, 1, &lmc), 0);
	KUNIT_EXPECT_EQ(test, lmc, 0);
	KUNIT_EXPECT_EQ(test, ib_get_cached_port_state(&ib->ibdev, 3, &state), -EINVAL);
}

static struct kunit_case gid_cases[] = {
	KUNIT_CASE(types_have_names),
	KUNIT_CASE(by_index),
	KUNIT_CASE(by_gid_the_lowest_place_is_found),
	KUNIT_CASE(a_roce_gid_has_a_type_and_a_netdev),
	KUNIT_CASE(a_filter_chooses),
	KUNIT_CASE(the_whole_table),
	KUNIT_CASE(an_entry_knows_its_way_out),
	KUNIT_CASE(a_table_that_cannot_be_read_stays),
	KUNIT_CASE(pkeys_by_membership),
	KUNIT_CASE(what_is_cached_of_a_port),
	{}
};

static struct kunit_suite ibcore_gid_suite = {
	.name = "ib_core_gid",
	.init = gid_test_init,
	.exit = gid_test_exit,
	.test_cases = gid_cases,
};

kunit_test_suite(ibcore_gid_suite);
