// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handle attributes made from SA records, of InfiniBand and of RoCE. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>
#include "faults.h"
#include "core/objects.h"

#define PATH_NET	83

static const u8 peer_ha[MAX_ADDR_LEN] = { 2, 0x11, 0x22, 0x33, 0x44, 0x77 };
static struct fake_hca *hca;
static struct roce roce;
static const struct ib_gid_attr *gid;		/* of the IB port */
static const struct ib_gid_attr *v2;		/* of the RoCE port */

static int path_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	struct in6_addr ip;
	int ret;

	hca = fake_hca_create(&params);
	if (!hca)
		return -ENOMEM;
	gid = rdma_get_gid_attr(&hca->ibdev, 1, 0);
	ret = roce_get(&roce, PATH_NET);
	if (ret)
		return ret;
	ip = roce_v4(&roce, 1);
	v2 = roce_gid(&roce, &ip);
	return v2 ? 0 : -ENOENT;
}

static void path_test_exit(struct kunit *test)
{
	if (hca) {
		rdma_put_gid_attr(gid);
		fake_hca_destroy(hca);
	}
	if (v2)
		rdma_put_gid_attr(v2);
	roce_put(&roce);
	v2 = NULL;
	hca = NULL;
}

static struct sa_path_rec ib_path(void)
{
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.sgid = gid->gid,
		.dgid.raw = { 0xfe, 0x80, [15] = 5 },
		.flow_label = cpu_to_be32(0x11223),
		.traffic_class = 9,
		.sl = 3,
		.rate = IB_RATE_10_GBPS,
	};

	sa_path_set_dlid(&rec, 0x44);
	sa_path_set_slid(&rec, 0x102);
	return rec;
}

static int (*query_port)(struct ib_device *dev, u32 port, struct ib_port_attr *attr);

static int query_port_with_lmc(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	int ret = query_port(dev, port, attr);

	attr->lmc = 2;
	return ret;
}

/* A path on the subnet has a GRH only if the port requires one. */
static void a_path_on_the_subnet_has_no_grh(struct kunit *test)
{
	bool grh = hca->quirks.grh_required;
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;
	u8 lmc;

	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 1, &rec, &attr, NULL),
			0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 0x44);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&attr), IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), grh ? IB_AH_GRH : 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&attr), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid), grh);
	rdma_destroy_ah_attr(&attr);

	/* With an LMC the low bits of the source LID are the path bits. */
	query_port = hca->ibdev.ops.query_port;
	hca->ibdev.ops.query_port = query_port_with_lmc;
	fake_hca_port_event(hca, 1, IB_EVENT_LID_CHANGE);
	KUNIT_ASSERT_TRUE(test, wait_until(!ib_get_cached_lmc(&hca->ibdev, 1, &lmc) &&
					   lmc == 2));
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 1, &rec, &attr, NULL),
			0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&attr), 2);
	rdma_destroy_ah_attr(&attr);
}

static void a_path_through_a_router_has_one(struct kunit *test)
{
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;

	/* Even if the subnet manager lets the path end before the first router. */
	rec.hop_limit = 1;
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 1, &rec, &attr, NULL),
			0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), IB_AH_GRH);
	rdma_destroy_ah_attr(&attr);

	rec.hop_limit = 5;
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 1, &rec, &attr, NULL),
			0);
	KUNIT_EXPECT_PTR_EQ(test, attr.grh.sgid_attr, gid);
	KUNIT_EXPECT_EQ(test, attr.grh.flow_label, 0x11223);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 5);
	KUNIT_EXPECT_EQ(test, attr.grh.traffic_class, 9);
	KUNIT_EXPECT_MEMEQ(test, &attr.grh.dgid, &rec.dgid, sizeof(rec.dgid));
	KUNIT_EXPECT_EQ(test, gid_refs(gid), 1);
	rdma_destroy_ah_attr(&attr);

	/* A GID that the caller passes is not searched for. */
	rec.sgid.raw[0] = 0;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 1, &rec, &attr, NULL),
			-ENOENT);
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 1, &rec, &attr, gid),
			0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid), 1);
	rdma_destroy_ah_attr(&attr);
	KUNIT_EXPECT_EQ(test, gid_refs(gid), 0);
	/* A path of RoCE, whose bytes would be taken for LIDs. */
	rec.rec_type = SA_PATH_REC_TYPE_ROCE_V2;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 1, &rec, &attr, gid),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, gid_refs(gid), 0);
	rec.rec_type = SA_PATH_REC_TYPE_IB;
	/* A port that does not exist. */
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&hca->ibdev, 9, &rec, &attr, gid),
			-EINVAL);
}

static void a_port_that_requires_a_grh_gets_one(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	struct fake_hca *strict = fake_hca_alloc(&params);
	struct sa_path_rec rec = ib_path();
	struct rdma_ah_attr attr;
	struct ib_pd *pd;
	struct ib_ah *ah;

	KUNIT_ASSERT_NOT_NULL(test, strict);
	strict->quirks.grh_required = true;
	KUNIT_ASSERT_EQ(test, fake_hca_register(strict), 0);
	rec.sgid = strict->port[1].gids[0];
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&strict->ibdev, 1, &rec, &attr,
							NULL), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), IB_AH_GRH);
	pd = ib_alloc_pd(&strict->ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ah), 0);
	if (!IS_ERR(ah))
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&attr);
	ib_dealloc_pd(pd);
	fake_hca_destroy(strict);
}

static bool makes_grd(struct fake_hca *opa, u32 dlid)
{
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_OPA,
		.sgid = opa->port[1].gids[0],
		.dgid.raw = { 0xfe, 0x80, [15] = 5 },
		.hop_limit = 1,
	};
	struct rdma_ah_attr attr;
	bool ret;

	sa_path_set_dlid(&rec, dlid);
	if (ib_init_ah_attr_from_path(&opa->ibdev, 1, &rec, &attr, NULL))
		return false;
	ret = rdma_ah_get_make_grd(&attr);
	rdma_destroy_ah_attr(&attr);
	return ret;
}

/* hfi1 takes a DLID of more than 16 bits from the DGID, which must be made from it. */
static void a_long_lid_is_in_the_gid(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .opa = true,
	};
	struct fake_hca *opa = fake_hca_create(&params);

	KUNIT_ASSERT_NOT_NULL(test, opa);
	opa->ibdev.port_data[1].immutable.core_cap_flags |= RDMA_CORE_CAP_OPA_AH;
	KUNIT_EXPECT_FALSE(test, makes_grd(opa, 0xbfff));
	KUNIT_EXPECT_TRUE(test, makes_grd(opa, 0xc000));
	KUNIT_EXPECT_TRUE(test, makes_grd(opa, 0xffff));
	KUNIT_EXPECT_TRUE(test, makes_grd(opa, 0x12345));
	fake_hca_destroy(opa);
}

static struct sa_path_rec roce_path(const struct in6_addr *dst)
{
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_ROCE_V2,
		.sgid = v2->gid,
		.hop_limit = 1,
	};

	memcpy(rec.dgid.raw, dst, sizeof(*dst));
	return rec;
}

static void a_roce_path_leads_to_a_mac(struct kunit *test)
{
	static const u8 given[ETH_ALEN] = { 2, 1, 1, 1, 1, 1 };
	struct in6_addr dst = roce_v4(&roce, 2), silent = roce_v4(&roce, 3);
	struct sa_path_rec rec = roce_path(&dst);
	struct rdma_ah_attr attr;
	int n = gid_refs(v2);

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_path(&roce.hca->ibdev, 1, &rec, &attr,
							NULL), 0);
	KUNIT_EXPECT_EQ(test, attr.type, RDMA_AH_ATTR_TYPE_ROCE);
	KUNIT_EXPECT_MEMEQ(test, attr.roce.dmac, peer_ha, ETH_ALEN);
	/* The hop limit of the route, even if the peer is a neighbour. */
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n + 1);
	rdma_destroy_ah_attr(&attr);

	/* A MAC that is resolved already is not resolved again. */
	sa_path_set_dmac(&rec, (u8 *)given);
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_path(&roce.hca->ibdev, 1, &rec, &attr,
							v2), 0);
	KUNIT_EXPECT_MEMEQ(test, attr.roce.dmac, given, ETH_ALEN);
	rdma_destroy_ah_attr(&attr);

	rec = roce_path(&silent);
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&roce.hca->ibdev, 1, &rec, &attr,
							NULL), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n);
}

static void a_group_has_an_address(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid.raw = { 0xff, 0x12, [15] = 1 },
		.port_gid = gid->gid,
		.mlid = cpu_to_be16(0xc001),
		.sl = 2,
		.rate = IB_RATE_20_GBPS,
		.hop_limit = 4,
	};
	struct in6_addr group = net_v4(0xe0010203);
	static const u8 map4[] = { 1, 0, 0x5e, 1, 2, 3 };
	static const u8 map6[] = { 0x33, 0x33, 0, 0, 0, 1 };
	struct rdma_ah_attr attr;
	int n = gid_refs(v2);

	KUNIT_ASSERT_EQ(test, ib_init_ah_from_mcmember(&hca->ibdev, 1, &rec, NULL,
						       IB_GID_TYPE_IB, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 0xc001);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), 2);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 4);
	rdma_destroy_ah_attr(&attr);
	KUNIT_EXPECT_EQ(test, gid_refs(gid), 0);

	rec.port_gid = v2->gid;
	KUNIT_EXPECT_EQ(test, ib_init_ah_from_mcmember(&hca->ibdev, 1, &rec, NULL,
						       IB_GID_TYPE_IB, &attr), -ENOENT);
	KUNIT_ASSERT_EQ(test, ib_init_ah_from_mcmember(&roce.hca->ibdev, 1, &rec, roce.ndev,
						       v2->gid_type, &attr), 0);
	KUNIT_EXPECT_MEMEQ(test, attr.roce.dmac, map6, ETH_ALEN);
	rdma_destroy_ah_attr(&attr);
	memcpy(rec.mgid.raw, &group, sizeof(group));
	KUNIT_ASSERT_EQ(test, ib_init_ah_from_mcmember(&roce.hca->ibdev, 1, &rec, roce.ndev,
						       v2->gid_type, &attr), 0);
	KUNIT_EXPECT_MEMEQ(test, attr.roce.dmac, map4, ETH_ALEN);
	rdma_destroy_ah_attr(&attr);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n);
}

/* In-tree number 13: the GID reference leaked if the address was not resolved. */
static void a_group_that_fails_gives_its_gid_back(struct kunit *test)
{
	struct in6_addr silent = roce_v4(&roce, 3);
	struct ib_sa_mcmember_rec rec = { .port_gid = v2->gid };
	struct rdma_ah_attr attr;
	int n = gid_refs(v2);

	memcpy(rec.mgid.raw, &silent, sizeof(silent));
	KUNIT_EXPECT_EQ(test, ib_init_ah_from_mcmember(&roce.hca->ibdev, 1, &rec, roce.ndev,
						       v2->gid_type, &attr), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n);
}

static int path_once(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);
	struct sa_path_rec rec = roce_path(&dst);
	struct rdma_ah_attr attr;
	int n = gid_refs(v2), ret;

	ret = ib_init_ah_attr_from_path(&roce.hca->ibdev, 1, &rec, &attr, NULL);
	if (!ret)
		rdma_destroy_ah_attr(&attr);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n);
	return ret;
}

static void paths_survive_each_failed_allocation(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 2);

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, path_once), 1u);
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(a_path_on_the_subnet_has_no_grh),
	KUNIT_CASE(a_path_through_a_router_has_one),
	KUNIT_CASE(a_port_that_requires_a_grh_gets_one),
	KUNIT_CASE(a_long_lid_is_in_the_gid),
	KUNIT_CASE(a_roce_path_leads_to_a_mac),
	KUNIT_CASE(a_group_has_an_address),
	KUNIT_CASE(a_group_that_fails_gives_its_gid_back),
	KUNIT_CASE(paths_survive_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_ah_path_suite = {
	.name = "ib_core_ah_path",
	.init = path_test_init,
	.exit = path_test_exit,
	.test_cases = path_cases,
};

kunit_test_suite(ibcore_ah_path_suite);
