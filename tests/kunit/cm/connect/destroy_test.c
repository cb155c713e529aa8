// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ids destroyed in each state and by their handlers; devices that are removed. */
#include "cm/cm_test.h"
#include "faults.h"
#include "wait.h"

static struct cm_pair pair;

static int destroy_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

static void destroy_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static void expect_stage(struct kunit *test, enum cm_stage stage)
{
	KUNIT_EXPECT_EQ_MSG(test, pair.client.id->state, cm_stage_states[stage].client,
			    "stage %d, client", stage);
	if (stage == REQ_HELD)
		KUNIT_EXPECT_NULL(test, pair.server.id);
	else if (pair.server.id)
		KUNIT_EXPECT_EQ_MSG(test, pair.server.id->state,
				    cm_stage_states[stage].server, "stage %d, server", stage);
	else
		KUNIT_FAIL(test, "stage %d: no server", stage);
}

static void start_over(struct kunit *test)
{
	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init(test, &pair), 0);
}

/*
 * Whichever id is destroyed first, the other side's connection ends, and no address
 * handle of either side is left.
 */
static void destroy_at_each_stage(struct kunit *test, bool server_first)
{
	struct cm_side *first, *second;
	enum ib_cm_state end;
	enum cm_stage stage;
	int events;

	for (stage = 0; stage < CM_STAGES; stage++) {
		KUNIT_ASSERT_EQ_MSG(test, cm_go_to(&pair, stage), 0, "stage %d", stage);
		expect_stage(test, stage);
		first = server_first ? &pair.server : &pair.client;
		second = server_first ? &pair.client : &pair.server;
		events = atomic_read(&first->nr_events);
		cm_drop_id(first);
		pair.client.hold = 0;
		pair.server.hold = 0;
		fake_hca_release_held(pair.client.hca);
		fake_hca_release_held(pair.server.hca);
		msleep(8000);
		if (!(stage == REQ_HELD))
			KUNIT_EXPECT_EQ_MSG(test, atomic_read(&first->nr_events), events,
					    "stage %d", stage);
		/* A DREQ that the consumer does not answer stays unanswered. */
		if (second->id && !(stage == REQ_HELD && server_first) &&
		    !(stage == DREQ_SEEN && !server_first)) {
			end = second->id->state;
			KUNIT_EXPECT_EQ_MSG(test, end, IB_CM_IDLE, "stage %d", stage);
		}
		cm_drop_id(second);
		ib_destroy_cm_id(pair.server.listener);
		pair.server.listener = NULL;
		cm_drop_id(&pair.server);
		msleep(2000);
		KUNIT_EXPECT_EQ_MSG(test, cm_ahs(&pair.client), 0,
				    "stage %d", stage);
		KUNIT_EXPECT_EQ_MSG(test, cm_ahs(&pair.server), 0,
				    "stage %d", stage);
		start_over(test);
	}
}

static void the_client_goes_first(struct kunit *test)
{
	destroy_at_each_stage(test, false);
}

static void the_server_goes_first(struct kunit *test)
{
	destroy_at_each_stage(test, true);
}

/* The device is removed with ids alive; they outlive it, and can be destroyed. */
static void remove_at_each_stage(struct kunit *test, bool server)
{
	struct cm_side *side;
	enum cm_stage stage;

	for (stage = 0; stage < CM_STAGES; stage++) {
		KUNIT_ASSERT_EQ_MSG(test, cm_go_to(&pair, stage), 0, "stage %d", stage);
		side = server ? &pair.server : &pair.client;
		fake_hca_flush(pair.client.hca);
		fake_hca_flush(pair.server.hca);
		fake_hca_destroy(side->hca);
		side->hca = NULL;
		msleep(1000);
		if (side->id) {
			KUNIT_EXPECT_LT_MSG(test, ib_send_cm_dreq(side->id, NULL, 0), 0,
					    "stage %d", stage);
			KUNIT_EXPECT_LT_MSG(test, ib_send_cm_rej(side->id, 1, NULL, 0, NULL,
								 0), 0, "stage %d", stage);
		}
		pair.client.hold = 0;
		pair.server.hold = 0;
		start_over(test);
	}
}

static void the_clients_device_goes(struct kunit *test)
{
	remove_at_each_stage(test, false);
}

static void the_servers_device_goes(struct kunit *test)
{
	remove_at_each_stage(test, true);
}

static void handlers_that_end_ids(struct kunit *test, bool destroy, bool fail)
{
	static const struct {
		bool server;
		char event;
	} cases[] = {
		{ true, 'Q' }, { true, 'U' }, { true, 'D' }, { true, 'T' },
		{ false, 'P' }, { false, 'R' }, { false, 'T' },
	};
	struct cm_side *side;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		side = &pair.client;
		if (cases[i].server)
			side = &pair.server;
		if (fail)
			side->fail_on = cases[i].event;
		if (destroy)
			side->destroy_on = cases[i].event;
		/*
		 * The handler sends no REP, so that its result is the only response to
		 * the REQ.
		 */
		if (cases[i].event == 'Q')
			pair.server.on_req = CM_WAIT;
		KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
		KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
		msleep(500);
		if (pair.client.id && pair.client.id->state == IB_CM_ESTABLISHED)
			KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
		msleep(2000);
		KUNIT_EXPECT_TRUE_MSG(test, side->destroyed, "case %d", i);
		KUNIT_EXPECT_NULL(test, side->id);
		start_over(test);
	}
}

static void handlers_destroy_their_ids(struct kunit *test)
{
	handlers_that_end_ids(test, true, false);
}

static void handlers_answer_errors(struct kunit *test)
{
	handlers_that_end_ids(test, false, true);
}

static void handlers_do_both(struct kunit *test)
{
	handlers_that_end_ids(test, true, true);
}

/* Messages that wait for an id's handler are dropped when the id is destroyed. */
static void an_id_goes_with_messages_waiting(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_connect(test, &pair);
	pair.server.slow_ms = 500;
	cm_mad(&pair.client, &pair.server, IBCM_LAP, mad);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	while (!READ_ONCE(pair.server.in_handler))
		msleep(20);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_mad(&pair.client, &pair.server, IBCM_DREQ, mad);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(pair.server.in_handler));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "L");
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "DT"));
	msleep(1000);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

/*
 * An id is destroyed while its work is queued and has not begun: the REP is still
 * outstanding.
 */
static void an_id_goes_with_its_work_queued(struct kunit *test)
{
	int sent;

	pair.client.hold = BIT(IBCM_RTU);
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair.server.id, IB_EVENT_COMM_EST), 0);
	KUNIT_EXPECT_TRUE(test, work_pending(&to_ibcm(pair.server.id)->work));
	cm_drop_id(&pair.server);
	sent = atomic_read(&pair.server.wire[IBCM_REP]);
	msleep(1000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_REP]), sent);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

/* One message makes two events; the handler of the first destroys the id. */
static void an_id_goes_between_two_events(struct kunit *test)
{
	pair.client.hold = BIT(IBCM_RTU);
	pair.server.destroy_on = 'E';
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	msleep(1000);
	KUNIT_EXPECT_TRUE(test, pair.server.destroyed);
	KUNIT_EXPECT_FALSE(test, pair.server.told_after);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "PRT"));
}

/* Removal and destruction return though no send ever completes. */
static void completions_are_lost(struct kunit *test)
{
	unsigned long start = jiffies;

	pair.client.hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
	start = jiffies;
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 100u);
	fake_hca_destroy(pair.client.hca);
	pair.client.hca = NULL;
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 10000u);
}

/* A listener is destroyed while REQs arrive: each REQ is reported or rejected. */
static void a_listener_goes(struct kunit *test)
{
	int i;

	for (i = 0; i < 20; i++) {
		KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
		KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
		if (i & 1)
			fake_hca_flush(pair.client.hca);
		if (i & 2)
			schedule();
		ib_destroy_cm_id(pair.server.listener);
		pair.server.listener = NULL;
		msleep(300);
		KUNIT_EXPECT_TRUE_MSG(test, pair.client.events[0] == 'P' ||
				      pair.client.events[0] == 'J', "round %d: %s", i,
				      pair.client.events);
		cm_drop_id(&pair.client);
		cm_drop_id(&pair.server);
		msleep(500);
		cm_forget(&pair.client);
		cm_forget(&pair.server);
		/* The QP may still be in timewait: use another. */
		pair.client.qpn++;
	}
}

static void many_connections(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	for (i = 0; i < 200; i++) {
		KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "P"));
		KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
		cm_release(test, &pair);
	}
	msleep(1000);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

static int connect_once(struct kunit *test)
{
	int ret = cm_request(&pair);
	unsigned int nth;

	if (!ret) {
		KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "P"));
		KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
		ret = ib_send_cm_dreq(pair.client.id, "x", 2);
	}
	/* No allocation fails while the connection is ended. */
	nth = current->fail_nth;
	current->fail_nth = 0;
	cm_drop_id(&pair.client);
	msleep(500);
	cm_drop_id(&pair.server);
	msleep(200);
	cm_forget(&pair.client);
	cm_forget(&pair.server);
	current->fail_nth = nth;
	return ret;
}

static void connecting_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, connect_once), 5u);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
}

static int listen_once(struct kunit *test)
{
	int ret = cm_listen(&pair.server);

	if (pair.server.listener)
		ib_destroy_cm_id(pair.server.listener);
	pair.server.listener = NULL;
	return ret;
}

static void listening_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, listen_once), 2u);
}

/* ---- DREQs of ids that have been destroyed ---- */

static struct ibcm_port *port;

static void connect(struct kunit *test)
{
	cm_connect(test, &pair);
	port = &to_ibcm(pair.client.id)->dev->ports[0];
}

static int left(void)
{
	return atomic_read(&port->nr_left_dreqs);
}

static int dreqs(void)
{
	return atomic_read(&pair.client.wire[IBCM_DREQ]);
}

/*
 * The client's id is destroyed: its DREQ was sent @sent times, and the server received
 * it.
 */
static void expect_released(struct kunit *test, int sent)
{
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
	KUNIT_EXPECT_TRUE(test, wait_within(!left(), 10000));
	msleep(1000);
	KUNIT_EXPECT_EQ(test, dreqs(), sent);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

static void its_dreq_is_lost(struct kunit *test)
{
	connect(test);
	pair.client.drop[IBCM_DREQ] = 2;
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_EQ(test, left(), 1);
	expect_released(test, 3);
}

static void it_has_disconnected_and_the_dreq_is_lost(struct kunit *test)
{
	connect(test);
	pair.client.drop[IBCM_DREQ] = 2;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, "bye", 4), 0);
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_EQ(test, left(), 1);
	expect_released(test, 3);
}

static bool is_taken(u32 slot)
{
	bool taken;

	rcu_read_lock();
	taken = ibcm_slot_peer(slot);
	rcu_read_unlock();
	return taken;
}

static void try_six_times(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	req->max_cm_retries = 5;
}

/*
 * The DREQ is resent for longer than the timewait: the communication ID of the
 * destroyed id is not used again meanwhile.
 */
static void the_drep_is_lost(struct kunit *test)
{
	u32 slot;

	/* Three early tries, and one a CLIENT_TRY_MS */
	pair.tune_req = try_six_times;
	connect(test);
	slot = be32_to_cpu(pair.client.id->local_id);
	pair.server.drop[IBCM_DREP] = 5;
	cm_drop_id(&pair.client);
	msleep(TIMEWAIT_MS + 30);
	KUNIT_EXPECT_TRUE(test, is_taken(slot));
	expect_released(test, 6);
	KUNIT_EXPECT_FALSE(test, is_taken(slot));
}

static void nobody_answers(struct kunit *test)
{
	connect(test);
	pair.client.drop[IBCM_DREQ] = -1;
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_TRUE(test, wait_within(!left(), 10000));
	KUNIT_EXPECT_EQ(test, dreqs(), TEST_RETRIES + 1);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

/*
 * The destruction waits for the id's handler for so long that the DREP arrives
 * meanwhile.
 */
static void the_drep_comes_before_it_has_gone(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	connect(test);
	pair.client.slow_ms = 500;
	cm_mad(&pair.server, &pair.client, IBCM_LAP, mad);
	cm_inject(&pair.server, &pair.client, mad, sizeof(mad));
	while (!READ_ONCE(pair.client.in_handler))
		msleep(20);
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_EQ(test, left(), 0);
	expect_released(test, dreqs());
}

static void the_device_goes_meanwhile(struct kunit *test)
{
	unsigned long start;

	connect(test);
	pair.client.drop[IBCM_DREQ] = -1;
	cm_drop_id(&pair.client);
	KUNIT_EXPECT_EQ(test, left(), 1);
	start = jiffies;
	fake_hca_destroy(pair.client.hca);
	pair.client.hca = NULL;
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 100u);
}

/* Beyond the port's limit of such DREQs, a DREQ is sent only once. */
static void a_port_has_so_many(struct kunit *test)
{
	int max;

	connect(test);
	max = port->max_left_dreqs;
	KUNIT_EXPECT_EQ(test, max, CM_MAX_AH / 4);
	atomic_add(max, &port->nr_left_dreqs);
	pair.client.drop[IBCM_DREQ] = 1;
	cm_drop_id(&pair.client);
	msleep(5000);
	KUNIT_EXPECT_EQ(test, dreqs(), 1);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	atomic_sub(max, &port->nr_left_dreqs);
	KUNIT_EXPECT_EQ(test, left(), 0);
}

static struct kunit_case destroy_cases[] = {
	KUNIT_CASE_SLOW(the_client_goes_first),
	KUNIT_CASE_SLOW(the_server_goes_first),
	KUNIT_CASE_SLOW(the_clients_device_goes),
	KUNIT_CASE_SLOW(the_servers_device_goes),
	KUNIT_CASE_SLOW(handlers_destroy_their_ids),
	KUNIT_CASE_SLOW(handlers_answer_errors),
	KUNIT_CASE_SLOW(handlers_do_both),
	KUNIT_CASE(an_id_goes_with_messages_waiting),
	KUNIT_CASE(an_id_goes_with_its_work_queued),
	KUNIT_CASE(an_id_goes_between_two_events),
	KUNIT_CASE(completions_are_lost),
	KUNIT_CASE_SLOW(a_listener_goes),
	KUNIT_CASE_SLOW(many_connections),
	KUNIT_CASE_SLOW(connecting_survives_each_failed_allocation),
	KUNIT_CASE(listening_survives_each_failed_allocation),
	KUNIT_CASE(its_dreq_is_lost),
	KUNIT_CASE(it_has_disconnected_and_the_dreq_is_lost),
	KUNIT_CASE(the_drep_is_lost),
	KUNIT_CASE(nobody_answers),
	KUNIT_CASE(the_drep_comes_before_it_has_gone),
	KUNIT_CASE(the_device_goes_meanwhile),
	KUNIT_CASE(a_port_has_so_many),
	{}
};

static struct kunit_suite ibcm_destroy_suite = {
	.name = "ib_cm_destroy",
	.init = destroy_test_init,
	.exit = destroy_test_exit,
	.test_cases = destroy_cases,
};

kunit_test_suite(ibcm_destroy_suite);
