// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters of QPs: how QPs are bound to them, and the totals of a port. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include "faults.h"
#include "core/netlink/nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct nl nl;
static struct fake_hca *hca;
static struct test_objects o;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *etb[RDMA_NLDEV_ATTR_MAX];

static int counters_test_init(struct kunit *test)
{
	hca = stats_hca_create(&ib_params);
	if (!hca)
		return -ENOMEM;
	return nl_open(&nl, &init_net);
}

static void counters_test_exit(struct kunit *test)
{
	nl_hca_exit(test, &nl, &hca);
}

static struct sk_buff *qp_req(int cmd, u32 port, int mode)
{
	struct sk_buff *req = nl_dev_req(&nl, cmd, hca, port);

	nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	if (mode >= 0)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_MODE, mode);
	return req;
}

static int set_auto(u32 port, u32 mask)
{
	struct sk_buff *req = qp_req(RDMA_NLDEV_CMD_STAT_SET, port, RDMA_COUNTER_MODE_AUTO);

	nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask);
	return nl_call(&nl, req);
}

static int mode_of(u32 port)
{
	int ret = nl_call(&nl, qp_req(RDMA_NLDEV_CMD_STAT_GET, port, 0));

	nl_attrs(&nl, 0, tb);
	return ret ?: nl_u32(tb[RDMA_NLDEV_ATTR_STAT_MODE]);
}

/* If @id is 0, binds to a new counter and returns its number; otherwise 0 or an error. */
static int bind(struct ib_qp *qp, u32 port, u32 id)
{
	struct sk_buff *req = qp_req(RDMA_NLDEV_CMD_STAT_SET, port,
				     RDMA_COUNTER_MODE_MANUAL);
	int ret;

	nla_put_u32(req, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num);
	if (id)
		nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id);
	ret = nl_call(&nl, req);
	nl_attrs(&nl, 0, tb);
	return ret || id ? ret : nl_u32(tb[RDMA_NLDEV_ATTR_STAT_COUNTER_ID]);
}

static int unbind(struct ib_qp *qp, u32 port, u32 id)
{
	struct sk_buff *req = qp_req(RDMA_NLDEV_CMD_STAT_DEL, port, -1);

	nla_put_u32(req, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num);
	nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id);
	return nl_call(&nl, req);
}

/* The port's total of the first counter, by netlink. */
static s64 port_sum(u32 port)
{
	struct nlattr *first;
	int ret;

	msleep(50);	/* longer than the lifespan of the values */
	ret = nl_call(&nl, nl_dev_req(&nl, RDMA_NLDEV_CMD_STAT_GET, hca, port));
	nl_attrs(&nl, 0, tb);
	if (ret || !tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return -1;
	first = nla_data(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS]);
	nl_nested(first, etb);
	return nl_u64(etb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE]);
}

static void give_to(struct ib_qp *qp, struct task_struct *task)
{
	get_task_struct(task);
	put_task_struct(qp->res.task);
	qp->res.task = task;
}

/* ---- by hand ---- */

static void a_qp_is_bound_and_unbound_by_hand(struct kunit *test)
{
	int id;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_NONE);
	id = bind(o.qp[0], 1, 0);
	KUNIT_ASSERT_EQ(test, id, 1);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_MANUAL);
	KUNIT_EXPECT_EQ(test, mode_of(2), RDMA_COUNTER_MODE_NONE);
	KUNIT_EXPECT_EQ(test, bind(o.qp[1], 1, id), 0);
	KUNIT_EXPECT_PTR_EQ(test, o.qp[0]->counter, o.qp[1]->counter);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 1);
	KUNIT_EXPECT_EQ(test, stats_state.bound, 2);
	/* The counter, and manual mode, end when its last QP is unbound. */
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, id), 0);
	KUNIT_EXPECT_NULL(test, o.qp[0]->counter);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 1);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, id), -EINVAL);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[1], 1, id + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[1], 2, id), -ENOENT);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[1], 1, id), 0);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 0);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_NONE);
	test_objects_destroy(&o);
}

static void wrong_bindings_are_refused(struct kunit *test)
{
	int id;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 4, true, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[2], 2), 0);
	id = bind(o.qp[0], 1, 0);
	KUNIT_ASSERT_EQ(test, id, 1);
	/* A QP that has a counter, a QP of another port, a QP without a port yet. */
	KUNIT_EXPECT_EQ(test, bind(o.qp[0], 1, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, bind(o.qp[0], 1, id), -EBUSY);
	KUNIT_EXPECT_EQ(test, bind(o.qp[2], 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, bind(o.qp[3], 1, 0), -ENOENT);
	/* A counter that does not exist, is of another port, or of another process. */
	KUNIT_EXPECT_EQ(test, bind(o.qp[1], 1, 77), -ENOENT);
	KUNIT_EXPECT_EQ(test, bind(o.qp[2], 2, id), -ENOENT);
	give_to(o.qp[1], &init_task);
	KUNIT_EXPECT_EQ(test, bind(o.qp[1], 1, id), -EINVAL);
	KUNIT_EXPECT_EQ(test, stats_state.bound, 1);
	test_objects_destroy(&o);
	KUNIT_EXPECT_EQ(test, stats_state.bound, 0);
}

/* Drops CAP_NET_RAW and keeps all other capabilities. */
static const struct cred *drop_net_raw(void)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;

	if (WARN_ON(!cred))
		return NULL;
	cap_lower(cred->cap_effective, CAP_NET_RAW);
	old = override_creds(cred);
	put_cred(cred);
	return old;
}

/* The QPs of counter @id, by netlink. */
static int qps_of_counter(u32 id)
{
	struct sk_buff *req = qp_req(RDMA_NLDEV_CMD_STAT_GET, 1, -1);
	struct nlattr *qp;
	int left, n = 0;

	nla_put_u32(req, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id);
	if (nl_call(&nl, req))
		return -1;
	nl_attrs(&nl, 0, tb);
	if (!tb[RDMA_NLDEV_ATTR_RES_QP])
		return -1;
	nla_for_each_nested(qp, tb[RDMA_NLDEV_ATTR_RES_QP], left)
		n++;
	return n;
}

/* A raw packet QP receives packets of others, so counting them requires CAP_NET_RAW. */
static void raw_packets_are_not_for_all_to_count(struct kunit *test)
{
	const struct cred *old;
	int id;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, false, IB_QPT_RAW_PACKET), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	old = drop_net_raw();
	KUNIT_EXPECT_EQ(test, bind(o.qp[0], 1, 0), -ENOENT);
	nl_regain_caps(old);
	id = bind(o.qp[0], 1, 0);
	KUNIT_ASSERT_EQ(test, id, 1);
	KUNIT_EXPECT_EQ(test, qps_of_counter(id), 1);
	old = drop_net_raw();
	KUNIT_EXPECT_EQ(test, qps_of_counter(id), 0);
	KUNIT_EXPECT_EQ(test, bind(o.qp[1], 1, id), -ENOENT);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, id), -ENOENT);
	nl_regain_caps(old);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, id), 0);
	test_objects_destroy(&o);
}

static void a_driver_may_refuse_to_bind_and_to_unbind(struct kunit *test)
{
	int id;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	stats_state.fail_bind = -ENOSPC;
	KUNIT_EXPECT_EQ(test, bind(o.qp[0], 1, 0), -ENOSPC);
	KUNIT_EXPECT_NULL(test, o.qp[0]->counter);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_NONE);
	stats_state.fail_bind = 0;
	id = bind(o.qp[0], 1, 0);
	stats_state.fail_bind = -ENOSPC;
	KUNIT_EXPECT_EQ(test, bind(o.qp[1], 1, id), -ENOSPC);
	KUNIT_EXPECT_NULL(test, o.qp[1]->counter);
	stats_state.fail_unbind = -EBUSY;
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, id), -EBUSY);
	KUNIT_EXPECT_NOT_NULL(test, o.qp[0]->counter);
	/* The counter of a destroyed QP ends even if the driver refuses to unbind. */
	test_objects_destroy(&o);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 0);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_NONE);
}

/* ---- by itself ---- */

static void user_qps_are_bound_by_type(struct kunit *test)
{
	struct test_objects ud, kern;

	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_QP_TYPE), 0);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_AUTO);
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 3, true, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_objects_create(&ud, hca, 1, true, IB_QPT_UD), 0);
	KUNIT_ASSERT_EQ(test, test_objects_create(&kern, hca, 1, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[2], 2), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(ud.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(kern.qp[0], 1), 0);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[0]->counter);
	KUNIT_EXPECT_PTR_EQ(test, o.qp[0]->counter, o.qp[1]->counter);
	KUNIT_EXPECT_NOT_NULL(test, ud.qp[0]->counter);
	KUNIT_EXPECT_PTR_NE(test, o.qp[0]->counter, ud.qp[0]->counter);
	/* Not bound: a QP of a port whose mode is none, and a kernel QP. */
	KUNIT_EXPECT_NULL(test, o.qp[2]->counter);
	KUNIT_EXPECT_NULL(test, kern.qp[0]->counter);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 2);
	/* In auto mode binding by hand is refused. */
	KUNIT_EXPECT_EQ(test, bind(kern.qp[0], 1, 0), -EBUSY);
	test_objects_destroy(&kern);
	test_objects_destroy(&ud);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 1);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_AUTO);
	test_objects_destroy(&o);
	KUNIT_EXPECT_EQ(test, set_auto(1, 0), 0);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_NONE);
}

static void user_qps_are_bound_by_process(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_PID), 0);
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 3, true, IB_QPT_RC), 0);
	give_to(o.qp[1], &init_task);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[2], 1), 0);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[0]->counter);
	KUNIT_EXPECT_PTR_NE(test, o.qp[0]->counter, o.qp[1]->counter);
	KUNIT_EXPECT_PTR_EQ(test, o.qp[0]->counter, o.qp[2]->counter);
	/* The owner of a counter outlives the QP that it was made for. */
	KUNIT_EXPECT_PTR_EQ(test, o.qp[1]->counter->res.task, &init_task);
	test_objects_destroy(&o);
}

/* Otherwise QPs that were bound by different masks would share counters. */
static void a_mask_stays_while_qps_are_bound_by_it(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_QP_TYPE), 0);
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, true, IB_QPT_RC), 0);
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_PID), 0);
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_QP_TYPE), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[0]->counter);
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_PID), -EBUSY);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_AUTO);
	test_objects_destroy(&o);
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_PID), 0);
}

static void auto_mode_off_leaves_what_is_bound(struct kunit *test)
{
	int id;

	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_QP_TYPE), 0);
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, true, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_EXPECT_EQ(test, set_auto(1, 0), 0);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_MANUAL);
	KUNIT_ASSERT_NOT_NULL(test, o.qp[0]->counter);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_EXPECT_NULL(test, o.qp[1]->counter);
	/* Auto mode is refused while counters are bound by hand. */
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_PID), -EBUSY);
	id = o.qp[0]->counter->id;
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, id), 0);
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_PID), 0);
	test_objects_destroy(&o);
}

/* The QP works without a counter. */
static void a_qp_that_cannot_be_bound_goes_its_way(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_QP_TYPE), 0);
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, true, IB_QPT_RC), 0);
	stats_state.fail_bind = -ENOSPC;
	KUNIT_EXPECT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_EXPECT_NULL(test, o.qp[0]->counter);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 0);
	test_objects_destroy(&o);
}

static void a_driver_without_counters(struct kunit *test)
{
	struct fake_hca *plain = fake_hca_create(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, plain);
	swap(hca, plain);
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, true, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_EXPECT_EQ(test, set_auto(1, RDMA_COUNTER_MASK_QP_TYPE), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, bind(o.qp[0], 1, 0), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_NONE);
	test_objects_destroy(&o);
	swap(hca, plain);
	fake_hca_destroy(plain);
}

/* ---- sums ---- */

/* The port itself counts 10 * port, each counter 100 times its number. */
static void a_ports_sum_never_goes_back(struct kunit *test)
{
	char buf[32];
	int a, b;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 3, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[2], 2), 0);
	KUNIT_EXPECT_EQ(test, port_sum(1), 10);
	a = bind(o.qp[0], 1, 0);
	KUNIT_EXPECT_EQ(test, a, 1);
	KUNIT_EXPECT_EQ(test, port_sum(1), 110);
	b = bind(o.qp[1], 1, 0);
	KUNIT_EXPECT_EQ(test, b, 2);
	KUNIT_EXPECT_EQ(test, port_sum(1), 310);
	KUNIT_EXPECT_EQ(test, bind(o.qp[2], 2, 0), 3);
	KUNIT_EXPECT_EQ(test, port_sum(1), 310);
	KUNIT_EXPECT_EQ(test, port_sum(2), 320);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, a), 0);
	KUNIT_EXPECT_EQ(test, port_sum(1), 310);
	test_objects_destroy(&o);
	KUNIT_EXPECT_EQ(test, port_sum(1), 310);
	KUNIT_EXPECT_EQ(test, port_sum(2), 320);
	KUNIT_EXPECT_EQ(test, sys_read(buf, sizeof(buf), "%s/ports/1/hw_counters/rx_frames",
				       dev_name(&hca->ibdev.dev)), 0);
	KUNIT_EXPECT_STREQ(test, buf, "310\n");
	KUNIT_EXPECT_EQ(test, sys_read(buf, sizeof(buf), "%s/ports/1/hw_counters/tx_frames",
				       dev_name(&hca->ibdev.dev)), 0);
	KUNIT_EXPECT_STREQ(test, buf, "311\n");
}

/* Binding a QP does not wait until all the counters of a port were read. */
static void hardware_is_asked_without_the_ports_lock(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 2, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[1], 1), 0);
	KUNIT_EXPECT_EQ(test, bind(o.qp[0], 1, 0), 1);
	KUNIT_EXPECT_EQ(test, bind(o.qp[1], 1, 0), 2);
	stats_state.updates = 0;
	stats_state.locked_updates = 0;
	KUNIT_EXPECT_EQ(test, port_sum(1), 310);
	KUNIT_EXPECT_GE(test, stats_state.updates, 2);
	KUNIT_EXPECT_EQ(test, stats_state.locked_updates, 0);
	test_objects_destroy(&o);
}

/* A counter that can no longer be read keeps its last value. */
static void the_last_value_counts(struct kunit *test)
{
	int id;

	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	id = bind(o.qp[0], 1, 0);
	KUNIT_EXPECT_EQ(test, port_sum(1), 110);
	stats_state.fail_update = -EIO;
	KUNIT_EXPECT_EQ(test, port_sum(1), 110);
	KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, id), 0);
	stats_state.fail_update = 0;
	KUNIT_EXPECT_EQ(test, port_sum(1), 110);
	test_objects_destroy(&o);
}

/* ---- memory ---- */

static int bind_once(struct kunit *test)
{
	unsigned int left;
	int id = bind(o.qp[0], 1, 0);

	left = current->fail_nth;
	current->fail_nth = 0;
	if (o.qp[0]->counter)
		KUNIT_EXPECT_EQ(test, unbind(o.qp[0], 1, o.qp[0]->counter->id), 0);
	KUNIT_EXPECT_EQ(test, stats_state.counters, 0);
	KUNIT_EXPECT_EQ(test, stats_state.bound, 0);
	KUNIT_EXPECT_EQ(test, mode_of(1), RDMA_COUNTER_MODE_NONE);
	current->fail_nth = left;
	return min(id, 0);
}

static void binding_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, test_objects_create(&o, hca, 1, false, IB_QPT_RC), 0);
	KUNIT_ASSERT_EQ(test, test_qp_init(o.qp[0], 1), 0);
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, bind_once), 3u);
	test_objects_destroy(&o);
}

static struct kunit_case counters_cases[] = {
	KUNIT_CASE(a_qp_is_bound_and_unbound_by_hand),
	KUNIT_CASE(wrong_bindings_are_refused),
	KUNIT_CASE(raw_packets_are_not_for_all_to_count),
	KUNIT_CASE(a_driver_may_refuse_to_bind_and_to_unbind),
	KUNIT_CASE(user_qps_are_bound_by_type),
	KUNIT_CASE(user_qps_are_bound_by_process),
	KUNIT_CASE(a_mask_stays_while_qps_are_bound_by_it),
	KUNIT_CASE(auto_mode_off_leaves_what_is_bound),
	KUNIT_CASE(a_qp_that_cannot_be_bound_goes_its_way),
	KUNIT_CASE(a_driver_without_counters),
	KUNIT_CASE(a_ports_sum_never_goes_back),
	KUNIT_CASE(hardware_is_asked_without_the_ports_lock),
	KUNIT_CASE(the_last_value_counts),
	KUNIT_CASE(binding_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_counters_suite = {
	.name = "ib_core_counters",
	.init = counters_test_init,
	.exit = counters_test_exit,
	.test_cases = counters_cases,
};

kunit_test_suite(ibcore_counters_suite);
