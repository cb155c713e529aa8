// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections established by the expected PSN of the server's QP alone: no RTU arrives,
 * the adapter raises no event, and no completion is seen.
 */
#include <linux/kthread.h>
#include <ibex/cm.h>
#include <ibex/qp.h>
#include "cm/cm_test.h"
#include "wait.h"

#define FIRST_WAIT_MS	40	/* of the REP: the port has no estimate yet */

static struct cm_pair pair;

/* The server's objects; the QP's owner polls the CQ itself. */
static struct {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_xrcd *xrcd;
	struct ib_qp *qp;
	u32 start;		/* the PSN of RTR */
	bool user, named;
} own;

/* The first query of the QP waits in the adapter until the test opens the gate. */
static struct {
	atomic_t asked;
	struct completion entered, open;
} gate;

static int alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return 0;
}

struct test_xrcd {
	struct ib_xrcd ib;
};

static const struct ib_device_ops xrc_ops = {
	.alloc_xrcd = alloc_xrcd,
	.dealloc_xrcd = dealloc_xrcd,
	INIT_RDMA_OBJ_SIZE(ib_xrcd, test_xrcd, ib),
};

static struct ib_udata no_udata;

static int psn_test_init(struct kunit *test)
{
	struct ib_cq_init_attr attr = { .cqe = 4 };
	int ret = cm_pair_init(test, &pair);

	memset(&own, 0, sizeof(own));
	own.start = 0x654321;
	if (ret)
		return ret;
	/* A provider whose rq_psn is trusted without a proof. */
	pair.server.hca->ibdev.ops.driver_id = RDMA_DRIVER_RXE;
	pair.server.hca->quirks.rq_psn = FAKE_PSN_LIVE;
	ib_set_device_ops(&pair.server.hca->ibdev, &xrc_ops);
	own.pd = ib_alloc_pd(&pair.server.hca->ibdev, 0);
	own.cq = ib_create_cq(&pair.server.hca->ibdev, NULL, NULL, NULL, &attr);
	if (IS_ERR(own.pd) || IS_ERR(own.cq))
		return -ENOMEM;
	own.xrcd = ib_alloc_xrcd_user(&pair.server.hca->ibdev, NULL, &no_udata);
	return PTR_ERR_OR_ZERO(own.xrcd);
}

static void end_queues(void)
{
	if (!IS_ERR_OR_NULL(own.qp))
		ib_destroy_qp(own.qp);
	own.qp = NULL;
	if (!IS_ERR_OR_NULL(own.xrcd))
		ib_dealloc_xrcd_user(own.xrcd, &no_udata);
	own.xrcd = NULL;
	if (!IS_ERR_OR_NULL(own.cq))
		ib_destroy_cq(own.cq);
	own.cq = NULL;
	if (!IS_ERR_OR_NULL(own.pd))
		ib_dealloc_pd(own.pd);
	own.pd = NULL;
}

static void psn_test_exit(struct kunit *test)
{
	cm_drop_id(&pair.server);
	end_queues();
	cm_pair_exit(&pair);
}

static int sent(struct cm_side *side, enum ibcm_kind kind)
{
	return atomic_read(&side->wire[kind]);
}

static struct ibcm_port *port(void)
{
	return &to_ibcm(pair.server.listener)->dev->ports[0];
}

static long stat(enum ibcm_stat which)
{
	return atomic_long_read(&port()->stats[which]);
}

static int queries(void)
{
	return atomic_read(&pair.server.hca->queries);
}

static enum ib_qp_type wanted;

static void of_type(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->qp_type = wanted;
}

static void from_start(struct ib_cm_rep_param *rep)
{
	rep->starting_psn = own.start;
}

static struct ib_qp *make_qp(enum ib_qp_type type)
{
	struct ib_qp_init_attr init = {
		.qp_type = type, .port_num = 1, .send_cq = own.cq, .recv_cq = own.cq,
		.xrcd = type == IB_QPT_XRC_TGT ? own.xrcd : NULL,
	};
	struct ib_qp *qp;

	if (type == IB_QPT_XRC_TGT)
		return ib_create_qp_user(&pair.server.hca->ibdev, NULL, &init,
					 &no_udata, NULL, NULL);
	if (!own.user)
		return ib_create_qp(own.pd, &init);
	qp = ib_create_qp_user(&pair.server.hca->ibdev, own.pd, &init, NULL, NULL, NULL);
	if (!IS_ERR(qp))
		ib_qp_usecnt_inc(qp);
	return qp;
}

static int to_rtr(void)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, ret;

	ret = ib_cm_init_qp_attr(pair.server.id, &attr, &mask);
	if (!ret)
		ret = ib_modify_qp(own.qp, &attr, mask);
	if (ret)
		return ret;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IB_QPS_RTR;
	ret = ib_cm_init_qp_attr(pair.server.id, &attr, &mask);
	attr.rq_psn = own.start;
	return ret ?: ib_modify_qp(own.qp, &attr, mask);
}

/* The server receives a REQ for a QP of @type and creates its own QP for it. */
static void ready(struct kunit *test, enum ib_qp_type type)
{
	wanted = type;
	pair.tune_req = of_type;
	pair.server.tune_rep = from_start;
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	own.qp = make_qp(type == IB_QPT_XRC_INI ? IB_QPT_XRC_TGT : type);
	KUNIT_ASSERT_FALSE(test, IS_ERR(own.qp));
	pair.server.qpn = own.qp->qp_num;
	KUNIT_ASSERT_EQ(test, to_rtr(), 0);
}

static int watch(void)
{
	if (own.named)
		return ib_cm_watch_qp_num(pair.server.id, own.qp->qp_num, own.user);
	return ib_cm_watch_qp(pair.server.id, own.qp);
}

static void reply(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, watch(), 0);
	KUNIT_ASSERT_NOT_NULL(test, to_ibcm(pair.server.id)->watch);
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
}

/* The server has sent its REP; the RTU is lost. */
static void accept_without_rtu(struct kunit *test)
{
	pair.client.drop[IBCM_RTU] = -1;
	ready(test, IB_QPT_RC);
	reply(test);
}

static void data_arrive(void)
{
	fake_hca_qp_psn(own.qp, (own.start + 1) & 0xffffff);
}

static void by_the_first_look(struct kunit *test, enum ib_qp_type type)
{
	unsigned long start;

	pair.client.drop[IBCM_RTU] = -1;
	ready(test, type);
	start = jiffies;
	reply(test);
	data_arrive();
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QE"));
	cm_expect_ms(test, start, pair.server.when, FIRST_WAIT_MS);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	msleep(1000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
	/* The QP is queried before the REP is sent again. */
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), 1);
	KUNIT_EXPECT_EQ(test, queries(), 1);
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_EST_BY_PSN), 1);
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_PSN_PROBES), 1);
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_REP_RESENT), 0);
	/* This does not change the estimate of when RTUs arrive. */
	KUNIT_EXPECT_EQ(test, port()->answer_times[IBCM_REP].usecs, 0);
}

static void a_queue_of_the_kernels(struct kunit *test)
{
	by_the_first_look(test, IB_QPT_RC);
}

static void a_queue_named_by_number(struct kunit *test)
{
	own.named = true;
	by_the_first_look(test, IB_QPT_RC);
}

static void a_queue_of_a_process(struct kunit *test)
{
	own.named = true;
	own.user = true;
	by_the_first_look(test, IB_QPT_RC);
}

static void an_unreliable_connection(struct kunit *test)
{
	by_the_first_look(test, IB_QPT_UC);
}

static void an_xrc_target(struct kunit *test)
{
	by_the_first_look(test, IB_QPT_XRC_INI);
	/* The XRC target QP stays connected, as after an RTU. */
	cm_drop_id(&pair.server);
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_DREQ), 0);
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REJ), 0);
}

static void from_the_last_psn_to_the_first(struct kunit *test)
{
	own.start = 0xffffff;
	by_the_first_look(test, IB_QPT_RC);
}

static void until_the_rep_is_given_up(struct kunit *test, int looks)
{
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "Qp"));
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), TEST_RETRIES + 1);
	KUNIT_EXPECT_EQ(test, queries(), looks);
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_PSN_PROBES), looks);
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_EST_BY_PSN), 0);
}

static void no_data_come(struct kunit *test)
{
	accept_without_rtu(test);
	until_the_rep_is_given_up(test, TEST_RETRIES + 1);
}

/* The requester sends again what it sent on an earlier connection. */
static void a_psn_behind_the_start(struct kunit *test)
{
	accept_without_rtu(test);
	fake_hca_qp_psn(own.qp, own.start - 1);
	until_the_rep_is_given_up(test, TEST_RETRIES + 1);
}

static void half_the_circle_behind(struct kunit *test)
{
	own.start = 0;
	accept_without_rtu(test);
	fake_hca_qp_psn(own.qp, 0x800000);
	until_the_rep_is_given_up(test, TEST_RETRIES + 1);
}

static void a_provider_that_says_nothing_is_not_asked(struct kunit *test)
{
	pair.server.hca->ibdev.ops.driver_id = RDMA_DRIVER_IRDMA;
	pair.server.hca->quirks.rq_psn = FAKE_PSN_AS_GIVEN;
	accept_without_rtu(test);
	data_arrive();
	until_the_rep_is_given_up(test, 0);
}

static void an_rtu_in_time_has_nobody_asked(struct kunit *test)
{
	ready(test, IB_QPT_RC);
	reply(test);
	data_arrive();
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
	msleep(1000);
	KUNIT_EXPECT_EQ(test, queries(), 0);
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_PSN_PROBES), 0);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QU");
}

static void the_rtu_comes_after_that(struct kunit *test)
{
	ready(test, IB_QPT_RC);
	pair.client.hold = BIT(IBCM_RTU);
	reply(test);
	data_arrive();
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QE"));
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_RTU_LATE), 1);
	KUNIT_EXPECT_EQ(test, port()->answer_times[IBCM_REP].usecs, 0);
}

/*
 * The time of the last try is over and the connection would fail, but data has arrived.
 */
static void data_before_the_rep_is_given_up(struct kunit *test)
{
	accept_without_rtu(test);
	KUNIT_ASSERT_TRUE(test, wait_within(sent(&pair.server, IBCM_REP) ==
					    TEST_RETRIES + 1, 60000));
	data_arrive();
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QE"));
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), TEST_RETRIES + 1);
}

static void data_while_an_mra_lasts(struct kunit *test)
{
	pair.client.on_rep = CM_WAIT;
	ready(test, IB_QPT_RC);
	reply(test);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_mra(pair.client.id, 24, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QM"));
	data_arrive();
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QME"));
}

/* ---- the consumer ends the connection before it gets the event ---- */

static void destroyed_with_data(struct kunit *test)
{
	accept_without_rtu(test);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	data_arrive();
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PD"));
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_DREQ), 1);
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REJ), 0);
	KUNIT_EXPECT_EQ(test, stat(IBCM_STAT_EST_BY_PSN), 1);
}

static void destroyed_without_data(struct kunit *test)
{
	accept_without_rtu(test);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PJ"));
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_DREQ), 0);
}

static void disconnected_with_data(struct kunit *test)
{
	accept_without_rtu(test);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair.server.id, NULL, 0), -EINVAL);
	data_arrive();
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair.server.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PDT"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QERT"));
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_DREQ), 1);
}

/* As after an RTU, the connection can only be released, with a DREQ. */
static void rejected_with_data(struct kunit *test)
{
	accept_without_rtu(test);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	data_arrive();
	KUNIT_EXPECT_EQ(test, ib_send_cm_rej(pair.server.id, IB_CM_REJ_NO_RESOURCES,
					     NULL, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QE"));
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REJ), 0);
}

static void rejected_without_data(struct kunit *test)
{
	accept_without_rtu(test);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_EQ(test, ib_send_cm_rej(pair.server.id, IB_CM_REJ_NO_RESOURCES,
					     NULL, 0, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PJ"));
}

static void watched_no_more(struct kunit *test)
{
	accept_without_rtu(test);
	ib_cm_unwatch_qp(pair.server.id);
	ib_cm_unwatch_qp(pair.server.id);
	data_arrive();
	fake_hca_qp_event(own.qp, IB_EVENT_COMM_EST);
	until_the_rep_is_given_up(test, 0);
}

/* ---- while the adapter is being queried ---- */

static void wait_in_query(struct fake_hca *hca, struct ib_qp *qp)
{
	if (atomic_inc_return(&gate.asked) > 1)
		return;
	complete(&gate.entered);
	wait_for_completion(&gate.open);
}

static void asked(struct kunit *test)
{
	atomic_set(&gate.asked, 0);
	init_completion(&gate.entered);
	init_completion(&gate.open);
	pair.server.hca->on_query_qp = wait_in_query;
	reply(test);
	data_arrive();
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&gate.entered, 60 * HZ), 0);
}

/* The port's MAD agent, whose work completes REPs, must also deliver RTUs. */
static void a_slow_adapter_holds_up_nobody(struct kunit *test)
{
	ready(test, IB_QPT_RC);
	pair.client.hold = BIT(IBCM_RTU);
	asked(test);
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
	KUNIT_EXPECT_EQ(test, atomic_read(&gate.asked), 1);
	complete(&gate.open);
	msleep(1000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QU");
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), 1);
}

static void an_mra_comes_meanwhile(struct kunit *test)
{
	pair.client.on_rep = CM_WAIT;
	ready(test, IB_QPT_RC);
	asked(test);
	fake_hca_qp_psn(own.qp, own.start);
	KUNIT_ASSERT_EQ(test, ib_send_cm_mra(pair.client.id, 18, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QM"));
	complete(&gate.open);
	/* The MRA takes effect, and the REP is still repeated. */
	KUNIT_EXPECT_TRUE(test, wait_within(sent(&pair.server, IBCM_REP) > 1, 1000));
	KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QMU"));
}

static void its_id_goes_meanwhile(struct kunit *test)
{
	pair.client.drop[IBCM_RTU] = -1;
	ready(test, IB_QPT_RC);
	asked(test);
	/* The destruction queries the QP itself; the first query is still running. */
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_EQ(test, atomic_read(&gate.asked), 2);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PD"));
	complete(&gate.open);
	msleep(1000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

static struct completion gone;

/* @leave removes the object that is queried: not before the provider has answered. */
static void leave_meanwhile(struct kunit *test, int (*leave)(void *arg))
{
	pair.client.drop[IBCM_RTU] = -1;
	ready(test, IB_QPT_RC);
	asked(test);
	init_completion(&gone);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(leave, NULL, "leave")));
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&gone, HZ / 2), 0);
	complete(&gate.open);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&gone, 60 * HZ), 0);
}

static int destroy_qp(void *arg)
{
	ib_destroy_qp(own.qp);
	own.qp = NULL;
	complete(&gone);
	return 0;
}

static void its_queue_goes_meanwhile(struct kunit *test)
{
	leave_meanwhile(test, destroy_qp);
	/* The QP's destruction queries it first, and found that data had arrived. */
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QE"));
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PD"));
}

static int remove_device(void *arg)
{
	end_queues();
	fake_hca_destroy(pair.server.hca);
	pair.server.hca = NULL;
	complete(&gone);
	return 0;
}

static void its_device_goes_meanwhile(struct kunit *test)
{
	leave_meanwhile(test, remove_device);
	KUNIT_EXPECT_LT(test, ib_send_cm_dreq(pair.server.id, NULL, 0), 0);
}

static struct kunit_case psn_cases[] = {
	KUNIT_CASE(a_queue_of_the_kernels),
	KUNIT_CASE(a_queue_named_by_number),
	KUNIT_CASE(a_queue_of_a_process),
	KUNIT_CASE(an_unreliable_connection),
	KUNIT_CASE(an_xrc_target),
	KUNIT_CASE(from_the_last_psn_to_the_first),
	KUNIT_CASE(no_data_come),
	KUNIT_CASE(a_psn_behind_the_start),
	KUNIT_CASE(half_the_circle_behind),
	KUNIT_CASE(a_provider_that_says_nothing_is_not_asked),
	KUNIT_CASE(an_rtu_in_time_has_nobody_asked),
	KUNIT_CASE(the_rtu_comes_after_that),
	KUNIT_CASE(data_before_the_rep_is_given_up),
	KUNIT_CASE(data_while_an_mra_lasts),
	KUNIT_CASE(destroyed_with_data),
	KUNIT_CASE(destroyed_without_data),
	KUNIT_CASE(disconnected_with_data),
	KUNIT_CASE(rejected_with_data),
	KUNIT_CASE(rejected_without_data),
	KUNIT_CASE(watched_no_more),
	KUNIT_CASE(a_slow_adapter_holds_up_nobody),
	KUNIT_CASE(an_mra_comes_meanwhile),
	KUNIT_CASE(its_id_goes_meanwhile),
	KUNIT_CASE(its_queue_goes_meanwhile),
	KUNIT_CASE(its_device_goes_meanwhile),
	{}
};

static struct kunit_suite ibcm_psn_suite = {
	.name = "ib_cm_psn",
	.init = psn_test_init,
	.exit = psn_test_exit,
	.test_cases = psn_cases,
};

kunit_test_suite(ibcm_psn_suite);
