// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each message in each state of a live id: the id moves to the state of the table, its
 * consumer gets the event of the table, the peer is sent the reply of the table.
 */
#include "cm/cm_test.h"

static struct cm_pair pair;

static int matrix_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

static void matrix_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

struct message {
	enum ibcm_kind kind;
	int event;		/* enum ibcm_event; -1: expected nowhere */
	u8 field;		/* MRA: message MRAed; REJ: reason */
};

static const struct message messages[] = {
	{ IBCM_APR, -1 },
	{ IBCM_MRA, -1, 2 },
	{ IBCM_MRA, -1, 3 },
	{ IBCM_REQ, IBCM_RX_REQ },
	{ IBCM_SIDR_REP, IBCM_RX_SIDR_REP },
	{ IBCM_DREP, IBCM_RX_DREP },
	{ IBCM_RTU, IBCM_RX_RTU },
	{ IBCM_REP, IBCM_RX_REP },
	{ IBCM_MRA, IBCM_RX_MRA_REQ, 0 },
	{ IBCM_MRA, IBCM_RX_MRA_REP, 1 },
	{ IBCM_DREQ, IBCM_RX_DREQ },
	{ IBCM_REJ, IBCM_RX_REJ, IB_CM_REJ_NO_QP },
	{ IBCM_REJ, IBCM_RX_REJ_STALE, IB_CM_REJ_STALE_CONN },
};

/* The state of the id under test, and how to get there. */
struct place {
	enum ib_cm_state state;
	bool server;
	enum cm_stage stage;
};

static const struct place places[] = {
	{ IB_CM_REQ_SENT, false, REQ_HELD },
	{ IB_CM_MRA_REQ_RCVD, false, MRA_OF_REQ },
	{ IB_CM_REP_RCVD, false, REP_SEEN },
	{ IB_CM_MRA_REP_SENT, false, MRA_OF_REP },
	{ IB_CM_ESTABLISHED, false, CONNECTED },
	{ IB_CM_DREQ_SENT, false, DREQ_HELD },
	{ IB_CM_TIMEWAIT, false, RELEASED },
	{ IB_CM_REQ_RCVD, true, REQ_SEEN },
	{ IB_CM_MRA_REQ_SENT, true, MRA_OF_REQ },
	{ IB_CM_REP_SENT, true, REP_SEEN },
	{ IB_CM_MRA_REP_RCVD, true, MRA_OF_REP },
	{ IB_CM_ESTABLISHED, true, CONNECTED },
	{ IB_CM_DREQ_RCVD, true, DREQ_SEEN },
	{ IB_CM_TIMEWAIT, true, RELEASED },
	/* Without a connection */
	{ IB_CM_IDLE, false, CM_STAGES },
	{ IB_CM_LISTEN, true, CM_STAGES },
	{ IB_CM_SIDR_REQ_SENT, false, CM_STAGES },
	{ IB_CM_SIDR_REQ_RCVD, true, CM_STAGES },
};

static int go_without_a_connection(enum ib_cm_state state)
{
	int ret = 0;

	pair.server.on_req = CM_WAIT;
	switch (state) {
	case IB_CM_IDLE:
		pair.client.id = ib_create_cm_id(&pair.client.hca->ibdev, cm_handler,
						 &pair.client);
		return PTR_ERR_OR_ZERO(pair.client.id);
	case IB_CM_LISTEN:
		ret = cm_listen(&pair.server);
		pair.server.id = pair.server.listener;
		pair.server.listener = NULL;
		return ret;
	case IB_CM_SIDR_REQ_SENT:
		pair.client.hold = BIT(IBCM_SIDR_REQ);
		return cm_resolve(&pair);
	default:
		ret = cm_listen(&pair.server);
		if (!ret)
			ret = cm_resolve(&pair);
		cm_quiesce(&pair);
		return ret;
	}
}

/* Brings the id under test to @place; then sets the handlers to do nothing more. */
static struct cm_side *go(struct kunit *test, const struct place *place)
{
	struct cm_side *side;
	int ret;

	if (place->stage < CM_STAGES)
		ret = cm_go_to(&pair, place->stage);
	else
		ret = go_without_a_connection(place->state);
	side = place->server ? &pair.server : &pair.client;
	pair.server.on_req = CM_WAIT;
	pair.client.on_rep = CM_WAIT;
	pair.client.on_dreq = CM_WAIT;
	pair.server.on_dreq = CM_WAIT;
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_NOT_NULL(test, side->id);
	KUNIT_ASSERT_EQ(test, side->id->state, place->state);
	/* A REQ that is sent again would reach a server that a test message changed. */
	pair.client.drop[IBCM_REQ] = -1;
	cm_forget(side);
	return side;
}

/* Returns whether the message makes a new id instead of reaching the one under test. */
static bool for_another_id(const struct place *place, const struct message *m)
{
	return m->kind == IBCM_REQ && place->stage == CM_STAGES;
}

/* Returns the kind of the table's reply; -1: none. */
static int reply_kind(const struct ibcm_step *step)
{
	switch (step ? step->reply : IBCM_REPLY_NONE) {
	case IBCM_REPLY_MRA_REQ:
	case IBCM_REPLY_MRA_REP:
		return IBCM_MRA;
	case IBCM_REPLY_REP:
		return IBCM_REP;
	case IBCM_REPLY_RTU:
		return IBCM_RTU;
	case IBCM_REPLY_DREQ:
		return IBCM_DREQ;
	case IBCM_REPLY_DREP:
		return IBCM_DREP;
	case IBCM_REPLY_REJ_STALE:
	case IBCM_REPLY_REJ_TIMEOUT:
	case IBCM_REPLY_REJ_CONSUMER:
		return IBCM_REJ;
	case IBCM_REPLY_SIDR_REJECT:
		return IBCM_SIDR_REP;
	default:
		return -1;
	}
}

static int answers(const struct cm_side *side)
{
	/* Not REQs, REPs and DREQs: timers send them again meanwhile. */
	return atomic_read(&side->wire[IBCM_MRA]) + atomic_read(&side->wire[IBCM_RTU]) +
	       atomic_read(&side->wire[IBCM_DREP]) + atomic_read(&side->wire[IBCM_REJ]);
}

static void expect_step(struct kunit *test, struct cm_side *side,
			const struct place *place, const struct message *m,
			const struct ibcm_step *step)
{
	char told[3] = "";
	int n = 0;

	if (step && step->event != IBCM_NO_EVENT) {
		if (step->flags & IBCM_F_EST)
			told[n++] = 'E';
		told[n] = cm_letter(step->event);
	}
	KUNIT_EXPECT_EQ_MSG(test, side->id->state, step ? step->next : place->state,
			    "state %d, kind %d %d", place->state, m->kind, m->field);
	KUNIT_EXPECT_STREQ_MSG(test, side->events, told, "state %d, kind %d %d",
			       place->state, m->kind, m->field);
}

/* Returns whether the message left the id as it was. */
static bool deliver(struct kunit *test, struct cm_side *side,
		    const struct place *place, const struct message *m)
{
	struct cm_side *peer = place->server ? &pair.client : &pair.server;
	const struct ibcm_step *step = m->event < 0 ? NULL :
				       ibcm_step_of(place->state, m->event);
	int before, replies = 0, kind;
	u8 mad[IB_MGMT_MAD_SIZE];

	/* A REP is expected only by the side that sent the REQ. */
	if (m->kind == IBCM_REP && !to_ibcm(side->id)->active)
		step = NULL;
	cm_mad(peer, side, m->kind, mad);
	if (m->kind == IBCM_MRA)
		IBA_SET(CM_MRA_MESSAGE_MRAED, (struct cm_mra_msg *)mad, m->field);
	if (m->kind == IBCM_REJ)
		IBA_SET(CM_REJ_REASON, (struct cm_rej_msg *)mad, m->field);
	kind = reply_kind(step);
	before = answers(side);
	if (kind >= 0)
		replies = atomic_read(&side->wire[kind]);
	cm_inject(peer, side, mad, sizeof(mad));
	usleep_range(2000, 2500);
	fake_hca_flush(side->hca);
	expect_step(test, side, place, m, step);
	if (kind >= 0)
		KUNIT_EXPECT_GT_MSG(test, atomic_read(&side->wire[kind]), replies,
				    "state %d, kind %d", place->state, m->kind);
	else if (step)
		KUNIT_EXPECT_EQ_MSG(test, answers(side), before, "state %d, kind %d",
				    place->state, m->kind);
	return !step || (step->next == place->state && step->event == IBCM_NO_EVENT);
}

static void start_over(struct kunit *test)
{
	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init(test, &pair), 0);
}

static void every_message_in_every_state(struct kunit *test)
{
	const struct place *place;
	struct cm_side *side;
	int p, m;

	for (p = 0; p < ARRAY_SIZE(places); p++) {
		place = &places[p];
		side = go(test, place);
		for (m = 0; m < ARRAY_SIZE(messages); m++) {
			if (for_another_id(place, &messages[m]))
				continue;
			/*
			 * The id changes state by itself after a timeout, soon in
			 * timewait: start over.
			 */
			if (side->id->state != place->state || side->events[0] ||
			    place->state == IB_CM_TIMEWAIT) {
				start_over(test);
				side = go(test, place);
			}
			if (!deliver(test, side, place, &messages[m])) {
				start_over(test);
				side = go(test, place);
			}
		}
		start_over(test);
	}
}

/*
 * A LAP is expected in the established state only.  An id that does not know its peer yet is
 * not found, which the APR says.
 */
static void a_lap_in_every_state(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	const struct place *place;
	struct cm_side *side, *peer;
	bool known;
	int p;

	for (p = 0; p < ARRAY_SIZE(places); p++) {
		place = &places[p];
		side = go(test, place);
		peer = place->server ? &pair.client : &pair.server;
		cm_mad(peer, side, IBCM_LAP, mad);
		known = be32_to_cpu(side->id->remote_id) ==
			IBA_GET(CM_LAP_LOCAL_COMM_ID, (struct cm_lap_msg *)mad);
		cm_inject(peer, side, mad, sizeof(mad));
		usleep_range(2000, 2500);
		fake_hca_flush(side->hca);
		KUNIT_EXPECT_EQ_MSG(test, side->id->state, place->state, "state %d",
				    place->state);
		KUNIT_EXPECT_STREQ_MSG(test, side->events,
				       place->state == IB_CM_ESTABLISHED ? "L" : "",
				       "state %d", place->state);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&side->wire[IBCM_APR]),
				    place->state == IB_CM_ESTABLISHED || !known, "state %d",
				    place->state);
		start_over(test);
	}
}

/* Messages to the connection, but with a wrong local or remote communication ID. */
static void messages_with_the_wrong_ids(struct kunit *test)
{
	static const enum ibcm_kind kinds[] = {
		IBCM_RTU, IBCM_DREQ, IBCM_DREP, IBCM_REJ, IBCM_MRA, IBCM_LAP, IBCM_APR,
	};
	u8 mad[IB_MGMT_MAD_SIZE];
	struct cm_rtu_msg *any = (void *)mad;
	int i;

	cm_connect(test, &pair);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		cm_mad(&pair.client, &pair.server, kinds[i], mad);
		IBA_SET(CM_RTU_LOCAL_COMM_ID, any, 0x1234567);
		cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
		cm_mad(&pair.client, &pair.server, kinds[i], mad);
		IBA_SET(CM_RTU_REMOTE_COMM_ID, any, 0x1234567);
		cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
		cm_quiesce(&pair);
		KUNIT_EXPECT_EQ_MSG(test, pair.server.id->state, IB_CM_ESTABLISHED,
				    "kind %d", kinds[i]);
		KUNIT_EXPECT_STREQ_MSG(test, pair.server.events, "", "kind %d", kinds[i]);
	}
	/* The right ids, but not the QP of this connection. */
	cm_mad(&pair.client, &pair.server, IBCM_DREQ, mad);
	IBA_SET(CM_DREQ_REMOTE_QPN_EECN, (struct cm_dreq_msg *)mad, 0x333);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_mad(&pair.client, &pair.server, IBCM_LAP, mad);
	IBA_SET(CM_LAP_REMOTE_QPN_EECN, (struct cm_lap_msg *)mad, 0x333);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_ESTABLISHED);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

static struct kunit_case matrix_cases[] = {
	KUNIT_CASE_SLOW(every_message_in_every_state),
	KUNIT_CASE(a_lap_in_every_state),
	KUNIT_CASE(messages_with_the_wrong_ids),
	{}
};

static struct kunit_suite ibcm_matrix_suite = {
	.name = "ib_cm_matrix",
	.init = matrix_test_init,
	.exit = matrix_test_exit,
	.test_cases = matrix_cases,
};

kunit_test_suite(ibcm_matrix_suite);
