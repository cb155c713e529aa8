// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections established on first data: the adapter raises COMM_EST in each context,
 * or a receive completes, while something else happens.
 */
#include "cma/cma_test.h"

static struct cma_pair pair;
static struct ib_cqe ignored;

/* What the consumer's own handler of QP events saw. */
static struct {
	int events;
	void *context;
	int notify;		/* its own rdma_notify() */
} consumer;

static void consumer_event(struct ib_event *event, void *context)
{
	struct cma_side *side = context;

	consumer.events++;
	consumer.context = context;
	consumer.notify = rdma_notify(side->id, event->event);
}

static void ignore(struct ib_cq *cq, struct ib_wc *wc)
{
}

static int established_test_init(struct kunit *test)
{
	memset(&consumer, 0, sizeof(consumer));
	ignored.done = ignore;
	return cma_pair_init(test, &pair);
}

static void established_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static void receive(struct ib_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_cqe = &ignored, .qp = qp, .opcode = IB_WC_RECV, .status = status,
	};

	fake_hca_complete(pair.server.cq, &wc);
}

/*
 * Waits for longer than all tries of the REP; the server must get @events and no
 * others.
 */
static void no_more_than(struct kunit *test, const char *events)
{
	msleep(80000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, events);
}

static void from_each_context(struct kunit *test)
{
	enum cma_raise from;
	int sent;

	for (from = 0; from < RAISE_CONTEXTS; from++) {
		memset(&consumer, 0, sizeof(consumer));
		pair.server.qp_event = consumer_event;
		cma_connect_without_rtu(test, &pair);
		cma_raise_now(test, pair.server.id->qp, from);
		KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
		KUNIT_EXPECT_EQ(test, consumer.events, 1);
		KUNIT_EXPECT_PTR_EQ(test, consumer.context, (void *)&pair.server);
		/*
		 * The consumer called rdma_notify(), as isert and RDS do; the CMA had
		 * done so before.
		 */
		KUNIT_EXPECT_EQ(test, consumer.notify, -EISCONN);
		/* The REP is not sent again. */
		sent = cma_sent(&pair.server, IBCM_REP);
		msleep(20000);
		KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
		KUNIT_EXPECT_EQ(test, cma_sent(&pair.server, IBCM_REP), sent);
		cma_leave(test, &pair);
		pair.client.drop[IBCM_RTU] = 0;
	}
}

static void the_first_good_receive(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	receive(pair.server.id->qp, IB_WC_WR_FLUSH_ERR);
	receive(NULL, IB_WC_SUCCESS);
	msleep(20);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	receive(pair.server.id->qp, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	receive(pair.server.id->qp, IB_WC_SUCCESS);
	cma_raise_now(test, pair.server.id->qp, FROM_HARDIRQ);
	no_more_than(test, "QE");
}

static void the_rtu_comes_late(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.client.hold = BIT(IBCM_RTU);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	cma_raise_now(test, pair.server.id->qp, FROM_SOFTIRQ);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
	no_more_than(test, "QE");
}

static void the_rtu_came_first(struct kunit *test)
{
	cma_connect(test, &pair);
	cma_raise_now(test, pair.server.id->qp, FROM_HARDIRQ);
	receive(pair.server.id->qp, IB_WC_SUCCESS);
	no_more_than(test, "");
	KUNIT_EXPECT_NULL(test, cma_ibcm(&pair.server)->watch);
}

static void data_then_the_end(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	rdma_lock_handler(pair.server.id);
	cma_raise_now(test, pair.server.id->qp, FROM_HARDIRQ);
	KUNIT_EXPECT_EQ(test, rdma_disconnect(pair.client.id), 0);
	msleep(100);
	rdma_unlock_handler(pair.server.id);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QEDT"));
}

static void the_end_then_data(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	rdma_lock_handler(pair.server.id);
	KUNIT_EXPECT_EQ(test, rdma_disconnect(pair.client.id), 0);
	msleep(100);
	cma_raise_now(test, pair.server.id->qp, FROM_HARDIRQ);
	rdma_unlock_handler(pair.server.id);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QEDT"));
	KUNIT_EXPECT_NULL(test, cma_ibcm(&pair.server)->watch);
}

static void refused_in_spite_of_data(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	pair.server.drop[IBCM_REP] = -1;
	KUNIT_EXPECT_EQ(test, rdma_reject(pair.server.id, NULL, 0,
					  IB_CM_REJ_CONSUMER_DEFINED), 0);
	cma_raise_now(test, pair.server.id->qp, FROM_SOFTIRQ);
	no_more_than(test, "Q");
}

static void given_up_before_data(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Qu"));
	KUNIT_EXPECT_NULL(test, cma_ibcm(&pair.server)->watch);
	cma_raise_now(test, pair.server.id->qp, FROM_HARDIRQ);
	no_more_than(test, "Qu");
}

/* SRP destroys the id, then its QP; the QP still raises events in between. */
static void the_id_goes_before_its_queue(struct kunit *test)
{
	struct ib_qp *qp;

	cma_connect_without_rtu(test, &pair);
	qp = pair.server.id->qp;
	cma_raise_in(qp, FROM_HARDIRQ, 2);
	rdma_destroy_id(pair.server.id);
	pair.server.id = NULL;
	msleep(20);
	KUNIT_EXPECT_TRUE(test, cma_raised);
	fake_hca_qp_event(qp, IB_EVENT_COMM_EST);
	receive(qp, IB_WC_SUCCESS);
	cma_raise_end();
	msleep(20);
	ib_destroy_qp(qp);
}

static void the_queue_goes_before_its_id(struct kunit *test)
{
	cma_connect_without_rtu(test, &pair);
	ib_destroy_qp(pair.server.id->qp);
	pair.server.id->qp = NULL;
	msleep(20);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	cma_drop_id(&pair.server);
}

/* The consumer creates the QP itself; rdma_accept() gets its number. */
static void named_by_number(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR, .port_num = 1,
	};
	struct ib_qp *mine, *others;

	init.send_cq = pair.server.cq;
	init.recv_cq = pair.server.cq;
	mine = ib_create_qp(pair.server.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mine));
	init.send_cq = pair.client.cq;
	init.recv_cq = pair.client.cq;
	others = ib_create_qp(pair.client.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(others));
	pair.server.own_qp = true;
	pair.server.qpn = mine->qp_num;
	cma_connect_without_rtu(test, &pair);
	/* The QP of the same number on another adapter has no effect. */
	fake_hca_qp_event(others, IB_EVENT_COMM_EST);
	msleep(20);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	fake_hca_qp_event(mine, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	cma_leave(test, &pair);
	ib_destroy_qp(mine);
	ib_destroy_qp(others);
}

static void of_no_queue_there_is(struct kunit *test)
{
	pair.server.own_qp = true;
	pair.server.qpn = 0xfffff0;
	cma_connect_without_rtu(test, &pair);
	KUNIT_EXPECT_NULL(test, cma_ibcm(&pair.server)->watch);
	pair.client.drop[IBCM_RTU] = 0;
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
}

static struct kunit_case established_cases[] = {
	KUNIT_CASE_SLOW(from_each_context),
	KUNIT_CASE_SLOW(the_first_good_receive),
	KUNIT_CASE_SLOW(the_rtu_comes_late),
	KUNIT_CASE_SLOW(the_rtu_came_first),
	KUNIT_CASE(data_then_the_end),
	KUNIT_CASE(the_end_then_data),
	KUNIT_CASE_SLOW(refused_in_spite_of_data),
	KUNIT_CASE_SLOW(given_up_before_data),
	KUNIT_CASE(the_id_goes_before_its_queue),
	KUNIT_CASE(the_queue_goes_before_its_id),
	KUNIT_CASE(named_by_number),
	KUNIT_CASE(of_no_queue_there_is),
	{}
};

static struct kunit_suite cma_established_suite = {
	.name = "cma_established",
	.init = established_test_init,
	.exit = established_test_exit,
	.test_cases = established_cases,
};

kunit_test_suite(cma_established_suite);
