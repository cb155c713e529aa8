// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink of the queue pairs that XRC domains own, and how many they may be. */
#include <kunit/test.h>
#include <linux/fs.h>
#include <ibex/xrc.h>
#include "nl.h"

#define NEEDED	(IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_AV |	\
		 IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)

static const struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

struct test_xrcd {
	struct ib_xrcd ib;
};

static struct nl nl;
static struct fake_hca *hca;
static struct ib_udata udata;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *etb[RDMA_NLDEV_ATTR_MAX];

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

static int xrc_test_init(struct kunit *test)
{
	hca = fake_hca_create(&params);
	if (!hca)
		return -ENOMEM;
	ib_set_device_ops(&hca->ibdev, &xrc_ops);
	return nl_open(&nl, &init_net);
}

static void xrc_test_exit(struct kunit *test)
{
	nl_hca_exit(test, &nl, &hca);
}

static int alloc(struct ib_xrcd *xrcd, u32 *qpn)
{
	struct ib_qp_attr attr = {
		.port_num = 1, .path_mtu = IB_MTU_1024,
		.ah_attr = { .type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1, .ib.dlid = 5 },
	};

	return ibcore_xrc_rcv_alloc(xrcd, &attr, NEEDED, qpn);
}

/* The number of receive QPs in the summary; -ENOENT: it has none. */
static int summary(void)
{
	struct nlattr *pos;
	int rem, ret = nl_call(&nl, nl_dev_req(&nl, RDMA_NLDEV_CMD_RES_GET, hca, 0));

	if (ret)
		return ret;
	nl_attrs(&nl, 0, tb);
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_RES_SUMMARY], rem) {
		nl_nested(pos, etb);
		if (!strcmp(nl_str(etb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME]), "xrc_rcv_qp"))
			return nl_u64(etb[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR]);
	}
	return -ENOENT;
}

/* The value of an attribute of the domain of the QP in tb, or 0. */
static u64 domain_attr(const char *name)
{
	const char *last = "";
	struct nlattr *pos;
	int rem;

	if (!tb[RDMA_NLDEV_ATTR_DRIVER])
		return 0;
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_DRIVER], rem) {
		if (nla_type(pos) == RDMA_NLDEV_ATTR_DRIVER_STRING)
			last = nla_data(pos);
		else if (nla_type(pos) != RDMA_NLDEV_ATTR_PAD && !strcmp(last, name))
			return nla_type(pos) == RDMA_NLDEV_ATTR_DRIVER_U32 ?
			       nla_get_u32(pos) : nla_get_u64(pos);
	}
	return 0;
}

static int show(u32 qpn)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_RES_QP_GET, hca, 0);
	int ret;

	nla_put_u32(req, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	ret = nl_call(&nl, req);
	nl_attrs(&nl, 0, tb);
	return ret;
}

static void check_shown(struct kunit *test, u32 qpn, char *name, u64 inode)
{
	char expected[32];

	KUNIT_ASSERT_EQ(test, show(qpn), 0);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]), IB_QPT_XRC_TGT);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_RES_STATE]), IB_QPS_RTR);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_PID]);
	KUNIT_EXPECT_EQ(test, domain_attr("xrcd_inode"), inode);
	snprintf(expected, sizeof(expected), "xrcd-%llu", domain_attr("xrcd"));
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_RES_KERN_NAME]), expected);
	strscpy(name, expected, sizeof(expected));
}

static void they_are_shown_with_their_domain(struct kunit *test)
{
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);
	char a[32], b[32], other[32];
	struct ib_xrcd *shared, *own;
	u32 qpn[3];

	KUNIT_ASSERT_NOT_NULL(test, inode);
	inode->i_ino = 123456789;
	shared = ib_alloc_xrcd_user(&hca->ibdev, inode, &udata);
	own = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
	KUNIT_ASSERT_FALSE(test, IS_ERR(shared) || IS_ERR(own));
	KUNIT_EXPECT_EQ(test, summary(), -ENOENT);
	KUNIT_ASSERT_EQ(test, alloc(shared, &qpn[0]), 0);
	KUNIT_ASSERT_EQ(test, alloc(shared, &qpn[1]), 0);
	KUNIT_ASSERT_EQ(test, alloc(own, &qpn[2]), 0);
	KUNIT_EXPECT_EQ(test, summary(), 3);
	check_shown(test, qpn[0], a, 123456789);
	check_shown(test, qpn[1], b, 123456789);
	check_shown(test, qpn[2], other, 0);
	KUNIT_EXPECT_STREQ(test, a, b);
	KUNIT_EXPECT_STRNEQ(test, a, other);

	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(shared, &udata), 0);
	KUNIT_EXPECT_EQ(test, show(qpn[0]), -ENOENT);
	KUNIT_EXPECT_EQ(test, show(qpn[2]), 0);
	KUNIT_EXPECT_EQ(test, summary(), 1);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(own, &udata), 0);
	KUNIT_EXPECT_EQ(test, summary(), -ENOENT);
}

static int set_limit(const char *value)
{
	return sys_write(value, "../../module/ib_core/parameters/xrc_rcv_limit");
}

static void a_domain_has_a_limit(struct kunit *test)
{
	struct ib_xrcd *xrcd = ib_alloc_xrcd_user(&hca->ibdev, NULL, &udata);
	u32 qpn, last;

	KUNIT_ASSERT_FALSE(test, IS_ERR(xrcd));
	KUNIT_ASSERT_EQ(test, set_limit("2"), 0);
	KUNIT_EXPECT_EQ(test, alloc(xrcd, &qpn), 0);
	KUNIT_EXPECT_EQ(test, alloc(xrcd, &last), 0);
	KUNIT_EXPECT_EQ(test, alloc(xrcd, &qpn), -ENOSPC);
	KUNIT_EXPECT_EQ(test, summary(), 2);
	ibcore_xrc_rcv_undo(xrcd, last);
	/* Those that fail take no place. */
	atomic_set(&hca->fail_create[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, alloc(xrcd, &qpn), -ENOMEM);
	KUNIT_EXPECT_EQ(test, alloc(xrcd, &qpn), 0);
	KUNIT_ASSERT_EQ(test, set_limit("65536"), 0);
	KUNIT_EXPECT_EQ(test, ib_dealloc_xrcd_user(xrcd, &udata), 0);
}

static struct kunit_case nldev_xrc_cases[] = {
	KUNIT_CASE(they_are_shown_with_their_domain),
	KUNIT_CASE(a_domain_has_a_limit),
	{}
};

static struct kunit_suite ib_core_nldev_xrc_suite = {
	.name = "ib_core_nldev_xrc",
	.init = xrc_test_init,
	.exit = xrc_test_exit,
	.test_cases = nldev_xrc_cases,
};

kunit_test_suite(ib_core_nldev_xrc_suite);
