// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink of statistics, rdma-statistic(8): requests and their responses. */
#include <kunit/test.h>
#include "nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct nl nl;
static struct fake_hca *hca;
static struct test_objects o;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *etb[RDMA_NLDEV_ATTR_MAX];

static int stat_test_init(struct kunit *test)
{
	hca = stats_hca_create(&ib_params);
	if (!hca)
		return -ENOMEM;
	return nl_open(&nl, &init_net);
}

static void stat_test_exit(struct kunit *test)
{
	nl_hca_exit(test, &nl, &hca);
}

/* @res, @mode: values of STAT_RES and STAT_MODE; -1 omits the attribute. */
static struct sk_buff *stat_req(int cmd, u32 port, int res, int mode)
{
	struct sk_buff *req = nl_dev_req(&nl, cmd, hca, port);

	if (res >= 0)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_RES, res);
	if (mode >= 0)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_MODE, mode);
	return req;
}

static int call(struct sk_buff *req)
{
	int ret = nl_call(&nl, req);

	nl_attrs(&nl, 0, tb);
	return ret;
}

/* The value of a counter in the message, or U64_MAX. */
static u64 value_of(struct nlattr *table, const char *name)
{
	struct nlattr *pos;
	int rem;

	if (!table)
		return U64_MAX;
	nla_for_each_nested(pos, table, rem) {
		nl_nested(pos, etb);
		if (!strcmp(nl_str(etb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]), name))
			return nl_u64(etb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE]);
	}
	return U64_MAX;
}

static int get_port(u32 port)
{
	return call(stat_req(RDMA_NLDEV_CMD_STAT_GET, port, -1, -1));
}

/* ---- the counters of a port ---- */

static void the_counters_of_a_port_are_shown(struct kunit *test)
{
	struct nlattr *table;

	KUNIT_ASSERT_EQ(test, get_port(2), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]), hca->ibdev.index);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 2);
	table = tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS];
	KUNIT_EXPECT_EQ(test, value_of(table, "rx_frames"), 20);
	KUNIT_EXPECT_EQ(test, value_of(table, "tx_frames"), 21);
	/* Optional counters are off at first. */
	KUNIT_EXPECT_EQ(test, value_of(table, "opt_a"), U64_MAX);
	KUNIT_EXPECT_EQ(test, value_of(table, "opt_b"), U64_MAX);
}

static void port_counters_need_a_port_that_has_them(struct kunit *test)
{
	struct fake_hca *plain = fake_hca_create(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, plain);
	KUNIT_EXPECT_EQ(test, get_port(0), -EINVAL);
	KUNIT_EXPECT_EQ(test, get_port(3), -EINVAL);
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_GET, 1,
					    RDMA_NLDEV_ATTR_RES_CQ, -1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_GET, 1, 0, -1)), -EINVAL);
	swap(hca, plain);
	KUNIT_EXPECT_EQ(test, get_port(1), -EINVAL);
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_GET_STATUS, 1, -1, -1)),
			-EINVAL);
	/* Turning auto mode off is allowed: it is off. */
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_SET, 1,
					    RDMA_NLDEV_ATTR_RES_QP,
					    RDMA_COUNTER_MODE_AUTO)), 0);
	swap(hca, plain);
	stats_state.fail_read = -EIO;
	KUNIT_EXPECT_EQ(test, get_port(1), -EIO);
	KUNIT_EXPECT_EQ(test, nl.n, 0);
	stats_state.fail_read = 0;
	fake_hca_destroy(plain);
}

/* Within the lifespan the driver is not queried again. */
static void values_are_good_for_their_lifespan(struct kunit *test)
{
	struct rdma_hw_stats *stats;
	int reads;

	KUNIT_EXPECT_EQ(test, get_port(1), 0);
	reads = stats_state.reads;
	KUNIT_EXPECT_EQ(test, get_port(1), 0);
	KUNIT_EXPECT_EQ(test, stats_state.reads, reads);
	msleep(RDMA_HW_STATS_DEFAULT_LIFESPAN * 3);
	KUNIT_EXPECT_EQ(test, get_port(1), 0);
	KUNIT_EXPECT_EQ(test, stats_state.reads, reads + 1);
	/* A set for which the driver chose no lifespan has the default of ten ms. */
	stats = rdma_alloc_hw_stats_struct(NULL, 0, 10);
	KUNIT_ASSERT_NOT_NULL(test, stats);
	KUNIT_EXPECT_EQ(test, stats->lifespan, msecs_to_jiffies(10));
	rdma_free_hw_stats_struct(stats);
	rdma_free_hw_stats_struct(NULL);
}

/* ---- optional counters ---- */

static int set_optional(u32 port, const u32 *index, int n)
{
	struct sk_buff *req = stat_req(RDMA_NLDEV_CMD_STAT_SET, port, -1, -1);
	struct nlattr *nest = nla_nest_start(req, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	int i;

	for (i = 0; i < n; i++)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, index[i]);
	nla_nest_end(req, nest);
	return call(req);
}

static void optional_counters_are_switched(struct kunit *test)
{
	static const u32 a[] = { STAT_OPT_A }, both[] = { STAT_OPT_A, STAT_OPT_B };

	KUNIT_EXPECT_EQ(test, set_optional(1, a, 1), 0);
	KUNIT_EXPECT_EQ(test, stats_state.modified[STAT_OPT_A], 1);
	KUNIT_EXPECT_EQ(test, stats_state.modified[STAT_OPT_B], 0);
	KUNIT_EXPECT_EQ(test, get_port(1), 0);
	KUNIT_EXPECT_EQ(test, value_of(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], "opt_a"), 12);
	KUNIT_EXPECT_EQ(test, value_of(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], "opt_b"),
			U64_MAX);
	/* The driver is called for changes only; each port has its own setting. */
	KUNIT_EXPECT_EQ(test, set_optional(1, both, 2), 0);
	KUNIT_EXPECT_EQ(test, stats_state.modified[STAT_OPT_A], 1);
	KUNIT_EXPECT_EQ(test, stats_state.modified[STAT_OPT_B], 1);
	KUNIT_EXPECT_EQ(test, get_port(2), 0);
	KUNIT_EXPECT_EQ(test, value_of(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], "opt_a"),
			U64_MAX);
	KUNIT_EXPECT_EQ(test, set_optional(1, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, stats_state.modified[STAT_OPT_A], 0);
	KUNIT_EXPECT_EQ(test, stats_state.modified[STAT_OPT_B], 0);
}

static void wrong_optional_counters_change_nothing(struct kunit *test)
{
	static const u32 not_optional[] = { STAT_OPT_A, STAT_RX }, none[] = { STATS };
	static const u32 a[] = { STAT_OPT_A }, b[] = { STAT_OPT_B };
	struct sk_buff *req;
	struct nlattr *nest;

	KUNIT_EXPECT_EQ(test, set_optional(1, not_optional, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_optional(1, none, 1), -EINVAL);
	req = stat_req(RDMA_NLDEV_CMD_STAT_SET, 1, -1, -1);
	nest = nla_nest_start(req, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	nla_put_u8(req, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, STAT_OPT_A);
	nla_nest_end(req, nest);
	KUNIT_EXPECT_EQ(test, call(req), -EINVAL);
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_SET, 1, -1, -1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, stats_state.modified[STAT_OPT_A], 0);
	/* A counter that the driver refuses to change stays as it was. */
	KUNIT_EXPECT_EQ(test, set_optional(1, a, 1), 0);
	stats_state.fail_modify = -EBUSY;
	KUNIT_EXPECT_EQ(test, set_optional(1, b, 1), -EBUSY);
	KUNIT_EXPECT_EQ(test, get_port(1), 0);
	KUNIT_EXPECT_EQ(test, value_of(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], "opt_a"), 12);
	hca->ibdev.ops.modify_hw_stat = NULL;
	KUNIT_EXPECT_EQ(test, set_optional(1, a, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_optional(1, a, 0), 0);
}

static void the_status_says_what_is_on(struct kunit *test)
{
	static const u32 b[] = { STAT_OPT_B };
	struct nlattr *pos;
	int rem, i = 0;

	KUNIT_EXPECT_EQ(test, set_optional(1, b, 1), 0);
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_GET_STATUS, 1, -1, -1)),
			0);
	KUNIT_ASSERT_NOT_NULL(test, tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]);
	nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], rem) {
		nl_nested(pos, etb);
		KUNIT_EXPECT_EQ(test, nl_u32(etb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX]), i);
		if (i < STAT_OPT_A)
			KUNIT_EXPECT_NULL(test,
					  etb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC]);
		else
			KUNIT_EXPECT_EQ(test,
					nl_u8(etb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC]),
					i == STAT_OPT_B);
		i++;
	}
	KUNIT_EXPECT_EQ(test, i, STATS);
}

/* ---- counters of QPs ---- */

static int bind_qp(struct ib_qp *qp, u32 port, u32 *counter)
{
	struct sk_buff *req = stat_req(RDMA_NLDEV_CMD_STAT_SET, port,
				       RDMA_NLDEV_ATTR_RES_QP, RDMA_COUNTER_MODE_MANUAL);
	int ret;

	nla_put_u32(req, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num);
	if (*counter)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, *counter);
	ret = call(req);
	if (!ret)
		*counter = nl_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
	return ret;
}

static int unbind_qp(u32 qpn, u32 port, u32 counter)
{
	struct sk_buff *req = stat_req(RDMA_NLDEV_CMD_STAT_DEL, port,
				       RDMA_NLDEV_ATTR_RES_QP, -1);

	if (qpn)
		nla_put_u32(req, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	if (counter)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter);
	return call(req);
}

static struct sk_buff *counter_req(u32 counter)
{
	struct sk_buff *req = stat_req(RDMA_NLDEV_CMD_STAT_GET, 0, RDMA_NLDEV_ATTR_RES_QP,
				       -1);

	nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter);
	return req;
}

static int qps_of(struct nlattr *table, u32 *qpn, int max)
{
	struct nlattr *pos;
	int rem, n = 0;

	if (!table)
		return -ENODATA;
	nla_for_each_nested(pos, table, rem) {
		nl_nested(pos, etb);
		if (n < max)
			qpn[n] = nl_u32(etb[RDMA_NLDEV_ATTR_RES_LQPN]);
		n++;
	}
	return n;
}

static void a_counter_is_shown_with_its_qps(struct kunit *test)
{
	u32 id = 0, qpn[4];

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 3, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[2], 1), 0);
	KUNIT_EXPECT_EQ(test, bind_qp(o.qp[0], 1, &id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]), o.qp[0]->qp_num);
	KUNIT_EXPECT_EQ(test, id, 1);
	KUNIT_EXPECT_EQ(test, bind_qp(o.qp[2], 1, &id), 0);
	KUNIT_EXPECT_EQ(test, call(counter_req(id)), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 1);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]), id);
	KUNIT_EXPECT_EQ(test, qps_of(tb[RDMA_NLDEV_ATTR_RES_QP], qpn, 4), 2);
	KUNIT_EXPECT_EQ(test, qpn[0], o.qp[0]->qp_num);
	KUNIT_EXPECT_EQ(test, qpn[1], o.qp[2]->qp_num);
	KUNIT_EXPECT_EQ(test, value_of(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], "rx_frames"),
			100);
	KUNIT_EXPECT_EQ(test, call(counter_req(id + 1)), -ENOENT);
	stats_state.fail_update = -EIO;
	KUNIT_EXPECT_EQ(test, call(counter_req(id)), -EIO);
	stats_state.fail_update = 0;
	test_objects_destroy(&o);
}

static int list_counters(u32 port, int res, u32 *ids, int table, int entry, int attr)
{
	struct sk_buff *req = nl_dev_dump(&nl, RDMA_NLDEV_CMD_STAT_GET, hca, port);
	struct nlattr *pos;
	int rem, ret, n = 0;

	if (res)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_RES, res);
	ret = call(req);
	if (ret || !nl.n)
		return ret;
	nla_for_each_nested(pos, tb[table], rem) {
		nl_nested(pos, etb);
		if (nla_type(pos) != entry || n == 4)
			return -EBADMSG;
		ids[n++] = nl_u32(etb[attr]);
	}
	return n;
}

static void counters_are_listed_by_port(struct kunit *test)
{
	const int table = RDMA_NLDEV_ATTR_STAT_COUNTER;
	const int entry = RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY;
	const int attr = RDMA_NLDEV_ATTR_STAT_COUNTER_ID;
	u32 a = 0, b = 0, ids[4];

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 2), 0);
	KUNIT_EXPECT_EQ(test, bind_qp(o.qp[0], 1, &a), 0);
	KUNIT_EXPECT_EQ(test, bind_qp(o.qp[1], 2, &b), 0);
	KUNIT_EXPECT_EQ(test, list_counters(0, RDMA_NLDEV_ATTR_RES_QP, ids, table, entry,
					    attr), 2);
	KUNIT_EXPECT_EQ(test, ids[0], a);
	KUNIT_EXPECT_EQ(test, ids[1], b);
	KUNIT_EXPECT_EQ(test, list_counters(2, RDMA_NLDEV_ATTR_RES_QP, ids, table, entry,
					    attr), 1);
	KUNIT_EXPECT_EQ(test, ids[0], b);
	KUNIT_EXPECT_EQ(test, list_counters(0, 0, ids, table, entry, attr), -EINVAL);
	KUNIT_EXPECT_EQ(test, list_counters(0, RDMA_NLDEV_ATTR_RES_CQ, ids, table, entry,
					    attr), -EINVAL);
	test_objects_destroy(&o);
	KUNIT_EXPECT_EQ(test, list_counters(0, RDMA_NLDEV_ATTR_RES_QP, ids, table, entry,
					    attr), 0);
}

static void binding_needs_all_it_binds(struct kunit *test)
{
	struct sk_buff *req;
	u32 id = 0;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_EXPECT_EQ(test, bind_qp(o.qp[0], 1, &id), 0);

	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_SET, 1,
					    RDMA_NLDEV_ATTR_RES_QP,
					    RDMA_COUNTER_MODE_MANUAL)), -EINVAL);
	req = stat_req(RDMA_NLDEV_CMD_STAT_SET, 1, RDMA_NLDEV_ATTR_RES_MR,
		       RDMA_COUNTER_MODE_MANUAL);
	nla_put_u32(req, RDMA_NLDEV_ATTR_RES_LQPN, o.qp[1]->qp_num);
	KUNIT_EXPECT_EQ(test, call(req), -EINVAL);
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_SET, 1,
					    RDMA_NLDEV_ATTR_RES_QP, 77)), -EINVAL);
	KUNIT_EXPECT_EQ(test, unbind_qp(0, 1, id), -EINVAL);
	KUNIT_EXPECT_EQ(test, unbind_qp(o.qp[0]->qp_num, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, unbind_qp(o.qp[0]->qp_num, 3, id), -EINVAL);
	req = stat_req(RDMA_NLDEV_CMD_STAT_DEL, 1, RDMA_NLDEV_ATTR_RES_MR, -1);
	KUNIT_EXPECT_EQ(test, call(req), -EINVAL);
	KUNIT_EXPECT_EQ(test, stats_state.bound, 1);
	/* A valid request works. */
	KUNIT_EXPECT_EQ(test, unbind_qp(o.qp[0]->qp_num, 1, id), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]), id);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]), o.qp[0]->qp_num);
	KUNIT_EXPECT_EQ(test, stats_state.bound, 0);
	test_objects_destroy(&o);
}

static int get_mode(u32 port)
{
	return call(stat_req(RDMA_NLDEV_CMD_STAT_GET, port, RDMA_NLDEV_ATTR_RES_QP, 0));
}

static void the_mode_is_shown_and_set(struct kunit *test)
{
	struct sk_buff *req;

	KUNIT_EXPECT_EQ(test, get_mode(1), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_STAT_MODE]),
			RDMA_COUNTER_MODE_NONE);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK]);
	req = stat_req(RDMA_NLDEV_CMD_STAT_SET, 1, RDMA_NLDEV_ATTR_RES_QP,
		       RDMA_COUNTER_MODE_AUTO);
	nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, RDMA_COUNTER_MASK_PID);
	KUNIT_EXPECT_EQ(test, call(req), 0);
	KUNIT_EXPECT_EQ(test, get_mode(1), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_STAT_MODE]),
			RDMA_COUNTER_MODE_AUTO);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK]),
			RDMA_COUNTER_MASK_PID);
	KUNIT_EXPECT_EQ(test, get_mode(2), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_STAT_MODE]),
			RDMA_COUNTER_MODE_NONE);
	KUNIT_EXPECT_EQ(test, get_mode(0), -EINVAL);
	req = stat_req(RDMA_NLDEV_CMD_STAT_SET, 1, RDMA_NLDEV_ATTR_RES_QP,
		       RDMA_COUNTER_MODE_AUTO);
	nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, 0x80);
	KUNIT_EXPECT_EQ(test, call(req), -EINVAL);
	/* Auto mode without a mask turns it off. */
	KUNIT_EXPECT_EQ(test, call(stat_req(RDMA_NLDEV_CMD_STAT_SET, 1,
					    RDMA_NLDEV_ATTR_RES_QP,
					    RDMA_COUNTER_MODE_AUTO)), 0);
	KUNIT_EXPECT_EQ(test, get_mode(1), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_STAT_MODE]),
			RDMA_COUNTER_MODE_NONE);
}

/* ---- counters of MRs ---- */

static int fill_stat_mr(struct sk_buff *msg, struct ib_mr *mr)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	if (!table || rdma_nl_stat_hwcounter_entry(msg, "page_faults", 3))
		return -EMSGSIZE;
	nla_nest_end(msg, table);
	return 0;
}

static void the_counters_of_an_mr_are_shown(struct kunit *test)
{
	struct sk_buff *req;
	struct ib_mr *mr;
	u32 ids[4];

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 0, false, IB_QPT_RC), 0);
	mr = ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	req = stat_req(RDMA_NLDEV_CMD_STAT_GET, 0, RDMA_NLDEV_ATTR_RES_MR, -1);
	nla_put_u32(req, RDMA_NLDEV_ATTR_RES_MRN, mr->res.id);
	KUNIT_EXPECT_EQ(test, call(req), 0);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_PID]);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_RES_KERN_NAME]);
	hca->ibdev.ops.fill_stat_mr_entry = fill_stat_mr;
	req = stat_req(RDMA_NLDEV_CMD_STAT_GET, 0, RDMA_NLDEV_ATTR_RES_MR, -1);
	nla_put_u32(req, RDMA_NLDEV_ATTR_RES_MRN, mr->res.id);
	KUNIT_EXPECT_EQ(test, call(req), 0);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_RES_MRN]), mr->res.id);
	KUNIT_EXPECT_EQ(test, value_of(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], "page_faults"),
			3);
	KUNIT_EXPECT_EQ(test, list_counters(0, RDMA_NLDEV_ATTR_RES_MR, ids,
					    RDMA_NLDEV_ATTR_RES_MR,
					    RDMA_NLDEV_ATTR_RES_MR_ENTRY,
					    RDMA_NLDEV_ATTR_RES_MRN), 1);
	KUNIT_EXPECT_EQ(test, ids[0], mr->res.id);
	ib_dereg_mr(mr);
	test_objects_destroy(&o);
}

static struct kunit_case nldev_stat_cases[] = {
	KUNIT_CASE(the_counters_of_a_port_are_shown),
	KUNIT_CASE(port_counters_need_a_port_that_has_them),
	KUNIT_CASE(values_are_good_for_their_lifespan),
	KUNIT_CASE(optional_counters_are_switched),
	KUNIT_CASE(wrong_optional_counters_change_nothing),
	KUNIT_CASE(the_status_says_what_is_on),
	KUNIT_CASE(a_counter_is_shown_with_its_qps),
	KUNIT_CASE(counters_are_listed_by_port),
	KUNIT_CASE(binding_needs_all_it_binds),
	KUNIT_CASE(the_mode_is_shown_and_set),
	KUNIT_CASE(the_counters_of_an_mr_are_shown),
	{}
};

static struct kunit_suite ibcore_nldev_stat_suite = {
	.name = "ib_core_nldev_stat",
	.init = stat_test_init,
	.exit = stat_test_exit,
	.test_cases = nldev_stat_cases,
};

kunit_test_suite(ibcore_nldev_stat_suite);
