// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages lost, repeated and late; the times of retries and of timewait. */
#include "cm/cm_test.h"
#include "wait.h"

static struct cm_pair pair;

static int loss_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

static void loss_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static int sent(struct cm_side *side, enum ibcm_kind kind)
{
	return atomic_read(&side->wire[kind]);
}

static void no_answer_to_the_req(struct kunit *test)
{
	unsigned long start = jiffies;

	pair.client.drop[IBCM_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "q"));
	cm_expect_ms(test, start, pair.client.when, (TEST_RETRIES + 1) * CLIENT_TRY_MS);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.send_status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_REQ), TEST_RETRIES + 1);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
}

static void the_req_is_lost(struct kunit *test)
{
	int lost;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	for (lost = 1; lost <= TEST_RETRIES; lost++) {
		atomic_set(&pair.client.wire[IBCM_REQ], 0);
		pair.client.drop[IBCM_REQ] = lost;
		KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
		KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
		KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
		KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_REQ), lost + 1);
		cm_drop_id(&pair.client);
		KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QUDT"));
		cm_drop_id(&pair.server);
		cm_forget(&pair.client);
		cm_forget(&pair.server);
	}
}

static void the_rep_is_lost(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.drop[IBCM_REP] = 2;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_GE(test, sent(&pair.server, IBCM_REP), 3);
}

static void no_rep_arrives(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.drop[IBCM_REP] = -1;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	/* The client gives up first, and sends a REJ. */
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "q"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QJ"));
	KUNIT_EXPECT_EQ(test, pair.server.last.param.rej_rcvd.reason, IB_CM_REJ_TIMEOUT);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_IDLE);
}

static void the_rtu_is_lost(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.client.drop[IBCM_RTU] = 2;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
	KUNIT_EXPECT_STREQ(test, (char *)pair.server.private_data, "ready");
	KUNIT_EXPECT_STREQ(test, pair.client.events, "P");
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), 3);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_RTU), 3);
}

static void no_rtu_arrives(struct kunit *test)
{
	unsigned long start = jiffies;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.client.drop[IBCM_RTU] = -1;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Qp"));
	cm_expect_ms(test, start, pair.server.when, (TEST_RETRIES + 1) * SERVER_TRY_MS);
	/*
	 * The client may have sent to the server's QP: the QP must not be reused before
	 * timewait ends.
	 */
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_TIMEWAIT);
	start = pair.server.when;
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QpT"));
	cm_expect_ms(test, start, pair.server.when, TIMEWAIT_MS);
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), TEST_RETRIES + 1);
	/* The client had thought itself connected. */
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PJT"));
}

/*
 * Sets the port's estimate as if RTUs had arrived within a millisecond, so that the
 * first retry of a REP is early.
 */
static struct ibcm_port *be_quick(void)
{
	struct ibcm_port *port = &to_ibcm(pair.server.listener)->dev->ports[0];

	port->answer_times[IBCM_REP].usecs = 1000;
	return port;
}

static void patient(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->local_cm_response_timeout = 18;	/* 1074 ms */
	req->max_cm_retries = 15;
}

/*
 * A delayed MRA is sent to keep the peer waiting.  It is not sent for a REP that is
 * repeated before the response timeout of the client's REQ has passed.
 */
static void early_reps_get_no_mra(struct kunit *test)
{
	pair.client.on_rep = CM_WAIT;
	pair.tune_req = patient;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	be_quick();
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_mra(pair.client.id, 24 | IB_CM_MRA_FLAG_DELAY,
					     NULL, 0), 0);
	msleep(300);
	KUNIT_EXPECT_GE(test, sent(&pair.server, IBCM_REP), 4);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_MRA), 0);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_REP_SENT);
	/*
	 * A REP that is repeated later is answered with the MRA: the peer might give
	 * up.
	 */
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QM"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QMU"));
}

static void server_is_mraed(struct kunit *test, u8 service_timeout)
{
	pair.client.on_rep = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_mra(pair.client.id, service_timeout, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QM"));
}

/* The MRA requests 69 seconds, but the REP is still repeated in that time. */
static void the_rtu_after_an_mra_is_lost(struct kunit *test)
{
	unsigned long start;

	server_is_mraed(test, 24);
	msleep(5000);
	pair.client.drop[IBCM_RTU] = 1;
	start = jiffies;
	KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QMU"));
	KUNIT_EXPECT_LE(test, took_ms(jiffies - start), 2u * SERVER_TRY_MS);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_RTU), 2);
}

/* After the MRA's time, which is longer than that of all tries, there is one more. */
static void no_rtu_arrives_after_an_mra(struct kunit *test)
{
	unsigned long start = jiffies;
	unsigned int took;

	server_is_mraed(test, 20);		/* 4295 ms */
	msleep(4000);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_MRA_REP_RCVD);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QMp"));
	took = jiffies_to_msecs(pair.server.when - start);
	KUNIT_EXPECT_GE(test, took, 4295u + SERVER_TRY_MS / 2);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, 4295u * 9 / 8 + 4 * SERVER_TRY_MS);
	KUNIT_EXPECT_GE(test, sent(&pair.server, IBCM_REP),
			4295 / (SERVER_TRY_MS + SERVER_TRY_MS / 8 + 60));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PJ"));
}

/* The estimate gradually follows RTUs that take longer than the first wait. */
static void rtus_become_slow(struct kunit *test)
{
	struct ibcm_port *port;
	u32 usecs;
	int i;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	port = be_quick();
	pair.client.on_rep = CM_WAIT;
	for (i = 0; i < 8; i++) {
		usecs = port->answer_times[IBCM_REP].usecs;
		KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
		msleep(100);
		KUNIT_ASSERT_EQ(test, ib_send_cm_rtu(pair.client.id, NULL, 0), 0);
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
		/* One RTU changes the estimate little. */
		KUNIT_EXPECT_LE_MSG(test, port->answer_times[IBCM_REP].usecs,
				    usecs + 200000 / 8, "round %d", i);
		cm_drop_id(&pair.client);
		msleep(2 * TIMEWAIT_MS);
		cm_drop_id(&pair.server);
		cm_forget(&pair.client);
		cm_forget(&pair.server);
		pair.client.qpn++;
	}
	KUNIT_EXPECT_GE(test, port->answer_times[IBCM_REP].usecs, 10000u);
}

static void the_dreq_is_lost(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.client.drop[IBCM_DREQ] = 2;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_DREQ), 3);
}

static void no_drep_arrives(struct kunit *test)
{
	unsigned long start;

	cm_connect(test, &pair);
	start = jiffies;
	pair.server.drop[IBCM_DREP] = -1;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "dT"));
	cm_expect_ms(test, start, pair.client.when,
		     (TEST_RETRIES + 1) * CLIENT_TRY_MS + TIMEWAIT_MS);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_DREQ), TEST_RETRIES + 1);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "DT");
}

/* The first DREPs are lost, and the server's timewait ends before the next DREQ. */
static void a_drep_is_lost_before_timewait_ends(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.server.drop[IBCM_DREP] = 2;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, "bye", 4), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_IDLE);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_DREQ), 3);
	/* The server gets no further event. */
	KUNIT_EXPECT_STREQ(test, pair.server.events, "DT");
}

/* The server's id is destroyed: a DREQ that matches no id is answered all the same. */
static void a_dreq_to_nobody(struct kunit *test)
{
	cm_connect(test, &pair);
	pair.server.drop[IBCM_DREQ] = -1;
	cm_drop_id(&pair.server);
	msleep(2 * TIMEWAIT_MS);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_DREQ), 1);
}

static void everything_comes_twice(struct kunit *test)
{
	pair.client.duplicate = U16_MAX;
	pair.server.duplicate = U16_MAX;
	cm_connect(test, &pair);
	msleep(1000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
}

/* The REQs are held until after the last retry, then delivered to the listener. */
static void everything_comes_too_late(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.client.hold = BIT(IBCM_REQ);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "q"));
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
	/* The server answers the first REQ; the client, which gave up, gets no event. */
	msleep(5000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "q");
	KUNIT_EXPECT_EQ(test, pair.server.events[0], 'Q');
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_IDLE);
}

static void a_dreq_overtakes_the_rtu(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.client.hold = BIT(IBCM_RTU);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PRT"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QEDT"));
}

/* The client has lost the connection and connects again with the same QP. */
static void a_stale_connection(struct kunit *test)
{
	struct ib_cm_id *old;

	cm_connect(test, &pair);
	pair.client.drop[IBCM_DREQ] = -1;
	pair.client.drop[IBCM_DREP] = 0;
	cm_drop_id(&pair.client);
	old = pair.server.id;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason, IB_CM_REJ_STALE_CONN);
	/* The old connection ends on the server's side. */
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "RT") ||
			  !strcmp(pair.server.events, "dT"));
	KUNIT_EXPECT_PTR_EQ(test, old, pair.server.id);
	cm_drop_id(&pair.server);
	cm_forget(&pair.client);
	cm_forget(&pair.server);
	pair.client.drop[IBCM_DREQ] = 0;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

static void sends_fail(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	/* The post fails: the id is idle and may be used again. */
	atomic_set(&pair.client.hca->fail_post_send, 1);
	KUNIT_EXPECT_LT(test, cm_request(&pair), 0);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	/* The send completes with an error. */
	pair.client.hca->send_status = IB_WC_LOC_QP_OP_ERR;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "q"));
	pair.client.hca->send_status = IB_WC_SUCCESS;
	cm_quiesce(&pair);
	cm_drop_id(&pair.server);
	cm_drop_id(&pair.client);
}

/* So far that nothing is sent again within 40 ms. */
static void far_away(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->primary_path->packet_life_time = 14;	/* 67 ms */
}

/* A REQ that comes again before the REP is posted: a copy may be one too many. */
static void a_rep_is_repeated_once_posted(struct kunit *test)
{
	struct ibcm_id *id;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.drop[IBCM_REP] = -1;
	pair.tune_req = far_away;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	id = container_of(pair.server.id, struct ibcm_id, id);
	KUNIT_ASSERT_NOT_NULL(test, id->msg);
	KUNIT_ASSERT_EQ(test, sent(&pair.server, IBCM_REP), 1);

	/* Both before the REP's own next try. */
	WRITE_ONCE(id->msg->posted, false);
	cm_inject(&pair.client, &pair.server, pair.client.mad[IBCM_REQ], IB_MGMT_MAD_SIZE);
	usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), 1);
	WRITE_ONCE(id->msg->posted, true);
	cm_inject(&pair.client, &pair.server, pair.client.mad[IBCM_REQ], IB_MGMT_MAD_SIZE);
	usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, sent(&pair.server, IBCM_REP), 2);
}

static struct kunit_case loss_cases[] = {
	KUNIT_CASE(no_answer_to_the_req),
	KUNIT_CASE(the_req_is_lost),
	KUNIT_CASE(the_rep_is_lost),
	KUNIT_CASE(no_rep_arrives),
	KUNIT_CASE(a_rep_is_repeated_once_posted),
	KUNIT_CASE(the_rtu_is_lost),
	KUNIT_CASE(no_rtu_arrives),
	KUNIT_CASE(early_reps_get_no_mra),
	KUNIT_CASE(the_rtu_after_an_mra_is_lost),
	KUNIT_CASE(no_rtu_arrives_after_an_mra),
	KUNIT_CASE(rtus_become_slow),
	KUNIT_CASE(the_dreq_is_lost),
	KUNIT_CASE(no_drep_arrives),
	KUNIT_CASE(a_drep_is_lost_before_timewait_ends),
	KUNIT_CASE(a_dreq_to_nobody),
	KUNIT_CASE(everything_comes_twice),
	KUNIT_CASE(everything_comes_too_late),
	KUNIT_CASE(a_dreq_overtakes_the_rtu),
	KUNIT_CASE(a_stale_connection),
	KUNIT_CASE(sends_fail),
	{}
};

static struct kunit_suite ibcm_loss_suite = {
	.name = "ib_cm_loss",
	.init = loss_test_init,
	.exit = loss_test_exit,
	.test_cases = loss_cases,
};

kunit_test_suite(ibcm_loss_suite);
