// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Receive queue pairs that an XRC domain owns: on each kind of adapter. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>
#include <ibex/xrc.h>
#include "core/objects.h"

#define XRC_NET	85
#define NEEDED	(IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_AV |	\
		 IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)

struct test_xrcd {
	struct ib_xrcd ib;
};

static struct ib_udata udata;

static int alloc_xrcd(struct ib_xrcd *x, struct ib_udata *u)
{
	return 0;
}

static int dealloc_xrcd(struct ib_xrcd *x, struct ib_udata *u)
{
	return 0;
}

static const struct ib_device_ops xrc_ops = {
	.alloc_xrcd = alloc_xrcd,
	.dealloc_xrcd = dealloc_xrcd,
	INIT_RDMA_OBJ_SIZE(ib_xrcd, test_xrcd, ib),
};

static struct ib_qp_attr ib_attr(void)
{
	return (struct ib_qp_attr) {
		.port_num = 1, .path_mtu = IB_MTU_1024,
		.ah_attr = { .type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1, .ib.dlid = 5 },
	};
}

/* ---- InfiniBand ---- */

static struct fake_hca *a_hca(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	struct fake_hca *hca = fake_hca_create(&params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	ib_set_device_ops(&hca->ibdev, &xrc_ops);
	return hca;
}

static void a_control_group_pays_until_the_end(struct kunit *test)
{
	struct fake_hca *hca = a_hca(test);
	struct ib_qp_attr attr = ib_attr();
	struct ib_xrcd *xrcd;
	u32 qpn;

	xrcd = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));
	KUNIT_EXPECT_TRUE(test, list_empty(&hca->ibdev.cg_device.rpools));
	atomic_set(&hca->fail_modify_qp, 2);
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), -EIO);
	KUNIT_EXPECT_TRUE(test, list_empty(&hca->ibdev.cg_device.rpools));
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&hca->ibdev.cg_device.rpools));
	ibcore_xrc_rcv_undo(xrcd, qpn + 1);
	KUNIT_EXPECT_FALSE(test, list_empty(&hca->ibdev.cg_device.rpools));
	ibcore_xrc_rcv_undo(xrcd, qpn);
	KUNIT_EXPECT_TRUE(test, list_empty(&hca->ibdev.cg_device.rpools));
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&xrcd->usecnt), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&hca->ibdev.cg_device.rpools));
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
	fake_hca_destroy(hca);
}

/* What mlx4 and mlx5 would crash of is a warning of the fake adapter. */
static void each_provider_with_domains(struct kunit *test)
{
	static const char * const names[] = { "mlx5", "mlx5-grh", "mlx4", "mlx4-vf", "hns_roce" };
	struct ib_qp_attr attr = ib_attr();
	struct fake_hca *hca;
	struct ib_xrcd *xrcd;
	u32 qpn;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		hca = a_hca(test);
		hca->quirks = *fake_hca_quirks_of(names[i]);
		KUNIT_EXPECT_FALSE(test, hca->quirks.no_xrc);
		xrcd = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
		KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));
		KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), 0);
		KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), 0);
		KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
		KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
		fake_hca_destroy(hca);
	}
}

static void a_port_that_requires_grhs(struct kunit *test)
{
	struct ib_qp_attr attr = ib_attr();
	struct fake_hca *hca = a_hca(test);
	struct ib_xrcd *xrcd;
	u32 qpn;

	hca->ibdev.port_data[1].immutable.core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	xrcd = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_QP]), 0);
	rdma_ah_set_grh(&attr.ah_attr, NULL, 0, 0, 1, 0);
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
	fake_hca_destroy(hca);
}

static void an_adapter_without_queue_pairs(struct kunit *test)
{
	struct ib_qp_attr attr = ib_attr();
	struct fake_hca *hca = a_hca(test);
	struct ib_xrcd *xrcd;
	u32 qpn;

	xrcd = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));
	hca->ibdev.ops.modify_qp = NULL;
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
	fake_hca_destroy(hca);
}

/* ---- RoCE ---- */

static const u8 peer_ha[MAX_ADDR_LEN] = { 2, 0x11, 0x22, 0x33, 0x44, 0x99 };

static void its_mac_is_resolved(struct kunit *test)
{
	struct in6_addr src, dst, silent;
	struct ib_qp_attr attr = {};
	const struct ib_gid_attr *v2;
	struct ib_xrcd *xrcd;
	struct roce roce;
	int n;
	u32 qpn;

	KUNIT_ASSERT_EQ(test, roce_get(&roce, XRC_NET), 0);
	ib_set_device_ops(&roce.hca->ibdev, &xrc_ops);
	src = roce_v4(&roce, 1);
	dst = roce_v4(&roce, 2);
	silent = roce_v4(&roce, 3);
	v2 = roce_gid(&roce, &src);
	KUNIT_ASSERT_NOT_NULL(test, v2);
	n = gid_refs(v2);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	xrcd = ib_alloc_xrcd_user(&roce.hca->ibdev, NULL, &udata);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));

	attr.port_num = 1;
	attr.path_mtu = IB_MTU_1024;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	attr.ah_attr.port_num = 1;
	/* RoCE has no address without a GRH. */
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), -EINVAL);
	rdma_ah_set_grh(&attr.ah_attr, (union ib_gid *)&silent, 0, v2->index, 1, 0);
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n);
	KUNIT_EXPECT_EQ(test, atomic_read(&roce.hca->alive[FAKE_QP]), 0);

	rdma_ah_set_grh(&attr.ah_attr, (union ib_gid *)&dst, 0, v2->index, 1, 0);
	KUNIT_EXPECT_EQ(test, ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, &qpn), 0);
	KUNIT_EXPECT_MEMEQ(test, roce.hca->queues.qp_attr.ah_attr.roce.dmac, peer_ha, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, roce.hca->queues.qp_attr.ah_attr.grh.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n + 1);
	/* The caller's attributes are as they were. */
	KUNIT_EXPECT_EQ(test, attr.ah_attr.grh.hop_limit, 1);
	KUNIT_EXPECT_NULL(test, attr.ah_attr.grh.sgid_attr);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n);
	rdma_put_gid_attr(v2);
	roce_put(&roce);
}

static struct kunit_case xrc_rcv_cases[] = {
	KUNIT_CASE(a_control_group_pays_until_the_end),
	KUNIT_CASE(each_provider_with_domains),
	KUNIT_CASE(a_port_that_requires_grhs),
	KUNIT_CASE(an_adapter_without_queue_pairs),
	KUNIT_CASE(its_mac_is_resolved),
	{}
};

static struct kunit_suite ib_core_xrc_rcv_suite = {
	.name = "ib_core_xrc_rcv",
	.test_cases = xrc_rcv_cases,
};

kunit_test_suite(ib_core_xrc_rcv_suite);
