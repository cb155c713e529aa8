// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* When messages that are not answered are sent again. */
#include "cm/cm_test.h"
#include "wait.h"

static struct cm_pair pair;

static int retry_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

static void retry_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static void start_over(struct kunit *test)
{
	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init(test, &pair), 0);
}

static int sent(struct cm_side *side, enum ibcm_kind kind)
{
	return atomic_read(&side->wire[kind]);
}

/* As the RDMA CM connects, but for a packet lifetime of 67 ms. */
static void as_usual(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->primary_path->packet_life_time = 14;
	req->remote_cm_response_timeout = 20;	/* 4295 ms */
	req->local_cm_response_timeout = 20;
	req->max_cm_retries = 15;
}

static struct ibcm_port *port_of(struct ib_cm_id *id)
{
	return &to_ibcm(id)->dev->ports[0];
}

/* The sum of the waits for the copies of a message of which @lost are lost. */
static unsigned int waits_ms(enum ibcm_kind kind, int lost)
{
	return (kind == IBCM_REQ ? 135 : 40) * ((1 << lost) - 1);
}

static void lose_in_connect(struct kunit *test, struct cm_side *side,
			    enum ibcm_kind kind, int lost)
{
	unsigned long start = jiffies;

	pair.tune_req = as_usual;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	side->drop[kind] = lost;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
	cm_expect_ms(test, start, pair.server.when, waits_ms(kind, lost));
	KUNIT_EXPECT_GE(test, sent(side, kind), lost + 1);
}

static void a_lost_req_costs_little(struct kunit *test)
{
	lose_in_connect(test, &pair.client, IBCM_REQ, 1);
	start_over(test);
	lose_in_connect(test, &pair.client, IBCM_REQ, 3);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_REQ), 4);
}

static void a_lost_rtu_costs_little(struct kunit *test)
{
	lose_in_connect(test, &pair.client, IBCM_RTU, 1);
	start_over(test);
	lose_in_connect(test, &pair.client, IBCM_RTU, 3);
}

static void lose_in_release(struct kunit *test, bool destroy, int lost)
{
	struct cm_side *side = destroy ? &pair.server : &pair.client;
	unsigned long start;

	pair.tune_req = as_usual;
	cm_connect(test, &pair);
	pair.client.drop[IBCM_DREQ] = lost;
	start = jiffies;
	if (destroy)
		cm_drop_id(&pair.client);
	else
		KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(side, destroy ? "D" : "R"));
	cm_expect_ms(test, start, side->when, waits_ms(IBCM_DREQ, lost));
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_DREQ), lost + 1);
}

static void a_lost_dreq_costs_little(struct kunit *test)
{
	lose_in_release(test, false, 1);
	start_over(test);
	lose_in_release(test, false, 3);
}

/* The id is destroyed before the first DREQ is sent again. */
static void a_lost_last_dreq_costs_little(struct kunit *test)
{
	lose_in_release(test, true, 1);
	start_over(test);
	lose_in_release(test, true, 3);
}

/* The DREQ is sent, then the id destroyed. */
static void a_lost_dreq_of_a_destroyed_id(struct kunit *test)
{
	unsigned long start;

	pair.tune_req = as_usual;
	cm_connect(test, &pair);
	pair.client.drop[IBCM_DREQ] = 3;
	start = jiffies;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	msleep(60);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_DREQ), 2);
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "D"));
	cm_expect_ms(test, start, pair.server.when, waits_ms(IBCM_DREQ, 3));
}

/* An id without a device, that asks for @timeout_ms; *@port has measured nothing. */
static struct ibcm_id *lone_id(struct kunit *test, struct ibcm_port **port,
			       u32 timeout_ms)
{
	struct ibcm_id *id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);

	*port = kunit_kzalloc(test, sizeof(**port), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *port);
	KUNIT_ASSERT_NOT_NULL(test, id);
	id->timeout_ms = timeout_ms;
	id->av.packet_life_time = 16;		/* 268 ms */
	return id;
}

/* Checks the waits of all tries; returns how many are shorter than the timeout. */
static int early_waits(struct kunit *test, struct ibcm_id *id, struct ibcm_msg *msg)
{
	unsigned int budget = id->timeout_ms * (id->max_cm_retries + 1);
	unsigned int ms, before = 0;
	int early = 0;

	msg->waited_ms = 0;
	for (msg->tries = 0; msg->tries < id->max_cm_retries; msg->tries++) {
		ms = ibcm_wait_ms(id, msg);
		KUNIT_EXPECT_GE(test, ms, before);
		KUNIT_EXPECT_LE(test, ms, id->timeout_ms);
		early += ms < id->timeout_ms;
		msg->waited_ms += ms;
		before = ms;
	}
	ms = ibcm_wait_ms(id, msg);
	KUNIT_EXPECT_GE(test, ms, id->timeout_ms);
	KUNIT_EXPECT_EQ(test, msg->waited_ms + ms, budget);
	return early;
}

/* All waits together are those that the protocol has, and half of them are not early. */
static void the_total_is_kept(struct kunit *test)
{
	struct ibcm_port *port;
	struct ibcm_id *id = lone_id(test, &port, 4295);
	struct ibcm_msg msg = { .port = port, .kind = IBCM_REP };
	int retries, early;

	for (retries = 0; retries <= 15; retries++) {
		id->max_cm_retries = retries;
		port->answer_times[IBCM_REP].usecs = 0;
		KUNIT_EXPECT_EQ(test, early_waits(test, id, &msg),
				min((retries + 1) / 2, 7));
		port->answer_times[IBCM_REP].usecs = 1;
		early = early_waits(test, id, &msg);
		KUNIT_EXPECT_LE(test, early, (retries + 1) / 2);
	}
}

/* A peer that asks for hours gets the REP again within seconds all the same. */
static void long_timeouts(struct kunit *test)
{
	struct ibcm_port *port;
	struct ibcm_id *id = lone_id(test, &port, 3600 * MSEC_PER_SEC);
	struct ibcm_msg msg = { .port = port, .kind = IBCM_REP };

	id->max_cm_retries = 15;
	port->answer_times[IBCM_REP].usecs = 1000;
	for (msg.tries = 0; msg.tries < 8; msg.tries++)
		KUNIT_EXPECT_EQ(test, ibcm_wait_ms(id, &msg), 10 << msg.tries);
	KUNIT_EXPECT_EQ(test, ibcm_wait_ms(id, &msg), 4295);
	msg.tries = 9;
	KUNIT_EXPECT_EQ(test, ibcm_wait_ms(id, &msg), 5120);
	msg.tries = 14;
	KUNIT_EXPECT_EQ(test, ibcm_wait_ms(id, &msg), 163840);
}

static void first_waits(struct kunit *test)
{
	struct ibcm_port *port;
	struct ibcm_id *id = lone_id(test, &port, 4295);
	struct ibcm_answer_time *time = &port->answer_times[IBCM_DREQ];

	/* Nothing measured */
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_DREQ), 40);
	/* Four times the average, but 10 ms, and no more than the fabric may take */
	time->usecs = 7000;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_DREQ), 28);
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REP), 40);
	time->usecs = 50;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_DREQ), 10);
	time->usecs = 5000000;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_DREQ), 537);
	/* Twice as long for each wait that was too short, however long nothing is answered */
	time->usecs = 7000;
	time->too_short = 2;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_DREQ), 112);
	time->too_short = 20;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_DREQ), 537);
	/* Requests, of which none was answered, until the fabric cannot hold the first one */
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 537);
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_SIDR_REQ), 537);
	id->av.packet_life_time = 4;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 100);
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_SIDR_REQ), 100);
	/* No longer than the consumer asks for */
	id->timeout_ms = 30;
	id->av.packet_life_time = 16;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_DREQ), 30);
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 30);
}

/* Copies of REQs come no earlier than the peer answers, by its consumer or by MRAs. */
static void first_waits_of_reqs(struct kunit *test)
{
	struct ibcm_port *port;
	struct ibcm_id *id = lone_id(test, &port, 4295);
	struct ibcm_answer_time *time = &port->answer_times[IBCM_REQ];

	time->usecs = 1000;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 80);
	time->usecs = 100000;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 400);
	/* as the peer may be slow, but not lose messages, without a bound of the fabric's */
	time->usecs = 300000;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 1200);
	time->too_short = 1;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 2400);
	time->too_short = 20;
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_REQ), 4295);
	KUNIT_EXPECT_EQ(test, ibcm_first_wait_ms(id, port, IBCM_SIDR_REQ), 537);
}

/* The MRA requests 1074 ms, but the REQ is still sent again in that time. */
static void the_rej_after_an_mra_is_lost(struct kunit *test)
{
	unsigned long start;

	pair.server.on_req = CM_MRA;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "M"));
	pair.server.on_req = CM_REJECT;
	pair.server.drop[IBCM_REJ] = 1;
	start = jiffies;
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "MJ"));
	/* the next copy of the REQ comes after a quarter */
	KUNIT_EXPECT_LE(test, took_ms(pair.client.when - start), 1074u / 2);
}

/* The server's consumer takes its time, and asks for 4.096 us * 2^@service_timeout. */
static void client_is_mraed(struct kunit *test, u8 service_timeout)
{
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_mra(pair.server.id, service_timeout, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "M"));
}

/* Copies of the REQ come after a quarter of the MRA's 4295 ms, and half of them later. */
static void an_mra_makes_reqs_rare(struct kunit *test)
{
	client_is_mraed(test, 20);
	/* no copy was answered */
	KUNIT_EXPECT_EQ(test, port_of(pair.client.id)->answer_times[IBCM_REQ].too_short, 0);
	msleep(4000);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_MRA_REQ_RCVD);
	KUNIT_EXPECT_EQ(test, sent(&pair.client, IBCM_REQ), 3);
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

static void many_retries(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->max_cm_retries = 15;
}

/* All tries and the 550 ms of the MRA end after two seconds; but its time begins anew. */
static void a_peer_that_lives_is_waited_for(struct kunit *test)
{
	pair.tune_req = many_retries;
	client_is_mraed(test, 17);
	msleep(3000);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_MRA_REQ_RCVD);
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

/* An MRA's time of 1074 ms begins anew three times, which is TEST_RETRIES. */
static void a_peer_that_never_replies_is_given_up(struct kunit *test)
{
	unsigned long start = jiffies;
	unsigned int took;

	client_is_mraed(test, 18);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "Mq"));
	took = jiffies_to_msecs(pair.client.when - start);
	KUNIT_EXPECT_GE(test, took, 2 * 1074u);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, (TEST_RETRIES + 1) * 1074u + 8 * CLIENT_TRY_MS);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QJ"));
}

/* Without another MRA, there is one more try after the time of the first. */
static void a_peer_that_dies_after_its_mra_is_given_up(struct kunit *test)
{
	unsigned long start = jiffies;
	unsigned int took;

	client_is_mraed(test, 18);
	pair.server.drop[IBCM_MRA] = 100;
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "Mq"));
	took = jiffies_to_msecs(pair.client.when - start);
	KUNIT_EXPECT_GE(test, took, 1074u);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, 1074u * 9 / 8 + 4 * CLIENT_TRY_MS);
}

static void answers_are_measured(struct kunit *test)
{
	struct ibcm_port *client, *server;

	cm_connect(test, &pair);
	client = port_of(pair.client.id);
	server = port_of(pair.server.id);
	KUNIT_EXPECT_GT(test, server->answer_times[IBCM_REP].usecs, 0);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_GT(test, client->answer_times[IBCM_DREQ].usecs, 0);

	/* Also that of a DREQ whose id was destroyed */
	cm_drop_id(&pair.client);
	cm_drop_id(&pair.server);
	cm_forget(&pair.client);
	cm_forget(&pair.server);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	client->answer_times[IBCM_DREQ].usecs = 0;
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QUDT"));
	KUNIT_EXPECT_GT(test, client->answer_times[IBCM_DREQ].usecs, 0);
}

/* Returns how soon the client's REQs are answered. */
static struct ibcm_answer_time *connect_and_release(struct kunit *test)
{
	struct ibcm_answer_time *time;

	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	time = &port_of(pair.client.id)->answer_times[IBCM_REQ];
	cm_release(test, &pair);
	pair.client.qpn++;
	return time;
}

/*
 * Messages that are lost now and then do not make the estimate longer, and the wait after
 * them is twice as long only until the next exchange.
 */
static void lose_now_and_then(struct kunit *test, enum ibcm_kind lost,
			      struct ibcm_answer_time *time)
{
	int i;

	for (i = 0; i < 20; i++) {
		pair.client.drop[lost] = i % 2;
		connect_and_release(test);
		KUNIT_EXPECT_LT_MSG(test, time->usecs, 10000, "round %d", i);
		KUNIT_EXPECT_EQ_MSG(test, time->too_short, i % 2, "round %d", i);
	}
}

static void losses_are_no_slowness(struct kunit *test)
{
	struct ibcm_answer_time *time;

	pair.tune_req = as_usual;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	time = connect_and_release(test);
	lose_now_and_then(test, IBCM_REQ, time);
	lose_now_and_then(test, IBCM_RTU,
			  &port_of(pair.server.listener)->answer_times[IBCM_REP]);
}

/* An MRA of a copy of a REQ shows that the first one was not lost. */
static void slow_consumers_are_found(struct kunit *test)
{
	struct ibcm_answer_time *time;

	pair.tune_req = as_usual;
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_mra(pair.server.id, IB_CM_MRA_FLAG_DELAY | 20,
					     NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "M"));
	time = &port_of(pair.client.id)->answer_times[IBCM_REQ];
	KUNIT_EXPECT_EQ(test, time->too_short, 1);
	KUNIT_ASSERT_EQ(test, cm_reply(&pair.server), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	KUNIT_EXPECT_EQ(test, time->usecs, 0);
	KUNIT_EXPECT_EQ(test, time->too_short, 1);
	cm_release(test, &pair);
	pair.client.qpn++;

	pair.server.on_req = CM_GO_ON;
	connect_and_release(test);
	KUNIT_EXPECT_GT(test, time->usecs, 0);
	KUNIT_EXPECT_EQ(test, time->too_short, 0);
}

/* Where REQs were answered, one that is lost costs less. */
static void a_lost_req_costs_round_trips(struct kunit *test)
{
	unsigned long start;

	pair.tune_req = as_usual;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	connect_and_release(test);
	pair.client.drop[IBCM_REQ] = 2;
	start = jiffies;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
	cm_expect_ms(test, start, pair.server.when, 80 + 160);
}

/*
 * A REJ is an answer, too.  So the wait grows if copies come after it, which are then new
 * requests.
 */
static void rejs_are_measured(struct kunit *test)
{
	struct ibcm_answer_time *time;

	pair.tune_req = as_usual;
	pair.server.on_req = CM_REJECT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "J"));
	time = &port_of(pair.client.id)->answer_times[IBCM_REQ];
	KUNIT_EXPECT_GT(test, time->usecs, 0);
	cm_drop_id(&pair.server);

	pair.client.drop[IBCM_REQ] = 1;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "JJ"));
	KUNIT_EXPECT_EQ(test, time->too_short, 1);
}

/* The peer gives up the connection, but has not answered the REQ. */
static void a_peer_that_gives_up_shows_nothing(struct kunit *test)
{
	struct ibcm_answer_time *time;
	u8 rej[IB_MGMT_MAD_SIZE];

	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "Q"));
	time = &port_of(pair.client.id)->answer_times[IBCM_REQ];
	cm_mad(&pair.server, &pair.client, IBCM_REJ, rej);
	IBA_SET(CM_REJ_REASON, (struct cm_rej_msg *)rej, IB_CM_REJ_TIMEOUT);
	cm_inject(&pair.server, &pair.client, rej, sizeof(rej));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, time->usecs, 0);
}

static struct kunit_case retry_cases[] = {
	KUNIT_CASE(a_lost_req_costs_little),
	KUNIT_CASE(a_lost_rtu_costs_little),
	KUNIT_CASE(a_lost_dreq_costs_little),
	KUNIT_CASE(a_lost_last_dreq_costs_little),
	KUNIT_CASE(a_lost_dreq_of_a_destroyed_id),
	KUNIT_CASE(the_total_is_kept),
	KUNIT_CASE(long_timeouts),
	KUNIT_CASE(first_waits),
	KUNIT_CASE(first_waits_of_reqs),
	KUNIT_CASE(the_rej_after_an_mra_is_lost),
	KUNIT_CASE(an_mra_makes_reqs_rare),
	KUNIT_CASE(a_peer_that_lives_is_waited_for),
	KUNIT_CASE(a_peer_that_never_replies_is_given_up),
	KUNIT_CASE(a_peer_that_dies_after_its_mra_is_given_up),
	KUNIT_CASE(answers_are_measured),
	KUNIT_CASE(losses_are_no_slowness),
	KUNIT_CASE(slow_consumers_are_found),
	KUNIT_CASE(a_lost_req_costs_round_trips),
	KUNIT_CASE(rejs_are_measured),
	KUNIT_CASE(a_peer_that_gives_up_shows_nothing),
	{}
};

static struct kunit_suite ibcm_retry_suite = {
	.name = "ib_cm_retry",
	.init = retry_test_init,
	.exit = retry_test_exit,
	.test_cases = retry_cases,
};

kunit_test_suite(ibcm_retry_suite);
