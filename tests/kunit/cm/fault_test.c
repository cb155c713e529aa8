// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each allocation of each code path fails once: those of calls in the test's own task,
 * those of received messages in the kernel's workers.
 */
#include "cm/lap.h"
#include "faults.h"
#include "wait.h"

static struct cm_pair pair;

static int fault_test_init(struct kunit *test)
{
	int ret = cm_pair_init_ports(test, &pair, 2);

	return ret ?: cm_listen(&pair.server);
}

static void fault_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

/* Destroys what a round made; no allocation fails meanwhile. */
static void clean_up(struct kunit *test)
{
	pair.client.hold = 0;
	pair.server.hold = 0;
	cm_drop_id(&pair.client);
	cm_quiesce(&pair);
	cm_drop_id(&pair.server);
	msleep(2000);
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
	cm_forget(&pair.client);
	cm_forget(&pair.server);
	/* Connections that failed half-way may still be in timewait. */
	pair.client.qpn++;
}

/* Calls @fn without failing its allocations; this task's later ones may fail again. */
static int calmly(struct kunit *test, int (*fn)(struct kunit *test))
{
	unsigned int nth = current->fail_nth;
	int ret;

	current->fail_nth = 0;
	ret = fn(test);
	current->fail_nth = nth;
	return ret;
}

static int end_round(struct kunit *test)
{
	clean_up(test);
	return 0;
}

static int request_once(struct kunit *test)
{
	int ret = cm_request(&pair);

	if (ret && pair.client.id)
		KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	calmly(test, end_round);
	return ret;
}

static void requesting(struct kunit *test)
{
	pair.tune_req = lap_alternate;
	pair.server.on_req = CM_WAIT;
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, request_once), 6u);
}

static int resolve_once(struct kunit *test)
{
	int ret = cm_resolve(&pair);

	if (ret && pair.client.id)
		KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	calmly(test, end_round);
	return ret;
}

static void resolving(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, resolve_once), 4u);
}

/* The calls that are tested, each in a state that allows it. */
enum call { CALL_MRA, CALL_REP, CALL_REJ, CALL_RTU, CALL_DREQ, CALL_DREP, CALL_SIDR_REP };

static enum call call;

static int go_before(struct kunit *test)
{
	static const enum cm_stage stages[] = {
		[CALL_MRA] = REQ_SEEN, [CALL_REP] = REQ_SEEN, [CALL_REJ] = REQ_SEEN,
		[CALL_RTU] = REP_SEEN, [CALL_DREQ] = CONNECTED, [CALL_DREP] = DREQ_SEEN,
	};

	/* Both ways below make a listener: destroy the present one. */
	if (pair.server.listener)
		ib_destroy_cm_id(pair.server.listener);
	pair.server.listener = NULL;
	if (call != CALL_SIDR_REP)
		return cm_go_to(&pair, stages[call]);
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	cm_quiesce(&pair);
	return 0;
}

static int make_call(void)
{
	switch (call) {
	case CALL_MRA:
		return ib_send_cm_mra(pair.server.id, 10, "wait", 5);
	case CALL_REP:
		return cm_reply(&pair.server);
	case CALL_REJ:
		return ib_send_cm_rej(pair.server.id, IB_CM_REJ_NO_QP, NULL, 0, "no", 3);
	case CALL_RTU:
		return ib_send_cm_rtu(pair.client.id, "go", 3);
	case CALL_DREQ:
		return ib_send_cm_dreq(pair.client.id, "end", 4);
	case CALL_DREP:
		return ib_send_cm_drep(pair.server.id, "bye", 4);
	default:
		return cm_sidr_reply(&pair.server);
	}
}

static int call_once(struct kunit *test)
{
	struct cm_side *side = call == CALL_RTU || call == CALL_DREQ ? &pair.client :
								       &pair.server;
	enum ib_cm_state before;
	int ret;

	KUNIT_ASSERT_EQ(test, calmly(test, go_before), 0);
	KUNIT_ASSERT_NOT_NULL(test, side->id);
	before = side->id->state;
	ret = make_call();
	/*
	 * A call that fails leaves the state as it was, and may be repeated.  A DREP
	 * ends the connection even if it cannot be sent, and a REJ may.
	 */
	if (ret && call == CALL_DREP)
		KUNIT_EXPECT_EQ(test, side->id->state, IB_CM_TIMEWAIT);
	else if (ret && call == CALL_REJ)
		KUNIT_EXPECT_TRUE(test, side->id->state == before ||
				  side->id->state == IB_CM_IDLE);
	else if (ret)
		KUNIT_EXPECT_EQ_MSG(test, side->id->state, before, "call %d", call);
	else
		KUNIT_EXPECT_NE_MSG(test, side->id->state, before, "call %d", call);
	calmly(test, end_round);
	return ret;
}

static int go_established(struct kunit *test)
{
	call = CALL_DREQ;
	return go_before(test);
}

static int lap_once(struct kunit *test)
{
	int ret;

	KUNIT_ASSERT_EQ(test, calmly(test, go_established), 0);
	ret = lap_send(&pair);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_ESTABLISHED);
	/* IDLE if the LAP could not be posted. */
	if (ret)
		KUNIT_EXPECT_NE(test, pair.client.id->lap_state, IB_CM_LAP_SENT);
	calmly(test, end_round);
	return ret;
}

static void asking_for_paths(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, lap_once), 4u);
}

static int go_asked(struct kunit *test)
{
	go_established(test);
	KUNIT_ASSERT_EQ(test, lap_send(&pair), 0);
	cm_quiesce(&pair);
	return 0;
}

static int is_answered(struct kunit *test)
{
	return wait_within(strchr(pair.client.events, 'A'), 5000);
}

/* An APR that cannot be sent is sent when the LAP comes again. */
static int apr_once(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, calmly(test, go_asked), 0);
	KUNIT_EXPECT_EQ(test, lap_accept(&pair.server), 0);
	KUNIT_EXPECT_EQ(test, pair.server.id->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_TRUE(test, calmly(test, is_answered));
	calmly(test, end_round);
	return 0;
}

static void answering_laps(struct kunit *test)
{
	pair.server.answer_lap = lap_later;
	ibex_each_allocation(test, apr_once);
	pair.server.answer_lap = NULL;
}

static void calling(struct kunit *test)
{
	for (call = CALL_MRA; call <= CALL_SIDR_REP; call++)
		KUNIT_EXPECT_GE_MSG(test, ibex_each_allocation(test, call_once), 2u,
				    "call %d", call);
}

/* ---- allocations of the workers ---- */

static void send(enum ibcm_kind kind, u32 to_id)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	cm_mad(&pair.client, &pair.server, kind, mad);
	if (to_id)
		IBA_SET(CM_RTU_REMOTE_COMM_ID, (struct cm_rtu_msg *)mad, to_id);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
}

/* From the REQ to the end of timewait, with a LAP and a migration between. */
static void a_whole_connection(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, cm_request(&pair), 0);
	msleep(800);
	if (pair.server.id && pair.server.id->state == IB_CM_ESTABLISHED) {
		send(IBCM_LAP, 0);
		ib_cm_notify(pair.server.id, IB_EVENT_PATH_MIG);
		send(IBCM_RTU, 0);
		KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	}
	ib_send_cm_dreq(pair.client.id, NULL, 0);
	msleep(1500);
	/* The attempt has ended: no request is left without an outcome. */
	KUNIT_EXPECT_EQ_MSG(test, pair.client.id->state, IB_CM_IDLE, "events %s, %s",
			    pair.client.events, pair.server.events);
}

static void connecting(struct kunit *test)
{
	pair.tune_req = lap_alternate;
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, a_whole_connection,
							  clean_up), 10u);
	pair.tune_req = NULL;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QU"));
}

/* A LAP that has an outcome, and another one; both of them may be dropped for now. */
static void laps_and_aprs(struct kunit *test)
{
	cm_request(&pair);
	msleep(800);
	if (pair.client.id && pair.client.id->state == IB_CM_ESTABLISHED &&
	    !lap_send(&pair)) {
		msleep(1000);
		KUNIT_EXPECT_NE(test, pair.client.id->lap_state, IB_CM_LAP_SENT);
		send(IBCM_LAP, 0);
	}
	if (pair.server.id && pair.server.id->state == IB_CM_ESTABLISHED)
		KUNIT_EXPECT_NE(test, pair.server.id->lap_state, IB_CM_LAP_RCVD);
}

static void loading_paths(struct kunit *test)
{
	pair.server.answer_lap = lap_accept;
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, laps_and_aprs, clean_up),
			10u);
	pair.server.answer_lap = NULL;
}

static void a_whole_resolution(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, cm_resolve(&pair), 0);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.nr_events), 1);
}

static void being_asked(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, a_whole_resolution,
							  clean_up), 5u);
}

static void messages_to_nobody(struct kunit *test)
{
	send(IBCM_DREQ, 0x7654321);
	send(IBCM_REP, 0);
	if (pair.server.listener)
		ib_destroy_cm_id(pair.server.listener);
	pair.server.listener = NULL;
	send(IBCM_REQ, 0);
	send(IBCM_SIDR_REQ, 0);
	KUNIT_EXPECT_NULL(test, pair.server.id);
}

static void answering_nobody(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, messages_to_nobody,
							  clean_up), 5u);
	/* In the last round no allocation failed. */
	KUNIT_EXPECT_GE(test, atomic_read(&pair.server.wire[IBCM_DREP]), 1);
	KUNIT_EXPECT_GE(test, atomic_read(&pair.server.wire[IBCM_REJ]), 2);
	KUNIT_EXPECT_GE(test, atomic_read(&pair.server.wire[IBCM_SIDR_REP]), 1);
}

/* The timewait would end after the suite: unloading the module ends it. */
static void a_timewait_is_left_to_the_module(struct kunit *test)
{
	struct ib_cm_id *id;

	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	id = pair.server.id;
	to_ibcm(id)->av.ack_timeout = 31;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, id->state, IB_CM_TIMEWAIT);
	msleep(2 * TIMEWAIT_MS);
	KUNIT_EXPECT_EQ(test, id->state, IB_CM_TIMEWAIT);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE_SLOW(requesting),
	KUNIT_CASE_SLOW(resolving),
	KUNIT_CASE_SLOW(calling),
	KUNIT_CASE_SLOW(asking_for_paths),
	KUNIT_CASE_SLOW(answering_laps),
	KUNIT_CASE_SLOW(connecting),
	KUNIT_CASE_SLOW(loading_paths),
	KUNIT_CASE_SLOW(being_asked),
	KUNIT_CASE_SLOW(answering_nobody),
	KUNIT_CASE(a_timewait_is_left_to_the_module),
	{}
};

static struct kunit_suite ibcm_fault_suite = {
	.name = "ib_cm_fault",
	.init = fault_test_init,
	.exit = fault_test_exit,
	.test_cases = fault_cases,
};

kunit_test_suite(ibcm_fault_suite);
