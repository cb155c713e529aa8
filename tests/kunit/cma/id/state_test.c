// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The life of an id: every call at every stage, and its destruction at each. */
#include "cma/cma_test.h"

static struct cma_pair pair;

static int state_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void state_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

struct step {
	enum rdma_cm_state from;
	enum cma_trigger trigger;
	enum rdma_cm_state to;
};

/* The allowed transitions, except for REMOVE and DESTROY. */
static const struct step steps[] = {
	{ RDMA_CM_IDLE, CMA_T_BIND, RDMA_CM_ADDR_BOUND },
	{ RDMA_CM_IDLE, CMA_T_REQUEST, RDMA_CM_CONNECT },
	{ RDMA_CM_ADDR_BOUND, CMA_T_UNBIND, RDMA_CM_IDLE },
	{ RDMA_CM_ADDR_BOUND, CMA_T_RESOLVE_ADDR, RDMA_CM_ADDR_QUERY },
	{ RDMA_CM_ADDR_BOUND, CMA_T_LISTEN, RDMA_CM_LISTEN },
	{ RDMA_CM_ADDR_QUERY, CMA_T_ADDR_DONE, RDMA_CM_ADDR_RESOLVED },
	{ RDMA_CM_ADDR_QUERY, CMA_T_ADDR_FAILED, RDMA_CM_ADDR_BOUND },
	{ RDMA_CM_ADDR_RESOLVED, CMA_T_RESOLVE_ROUTE, RDMA_CM_ROUTE_QUERY },
	{ RDMA_CM_ROUTE_QUERY, CMA_T_ROUTE_DONE, RDMA_CM_ROUTE_RESOLVED },
	{ RDMA_CM_ROUTE_QUERY, CMA_T_ROUTE_FAILED, RDMA_CM_ADDR_RESOLVED },
	{ RDMA_CM_ROUTE_RESOLVED, CMA_T_CONNECT, RDMA_CM_CONNECT },
	{ RDMA_CM_CONNECT, CMA_T_CONNECT_FAILED, RDMA_CM_ROUTE_RESOLVED },
	{ RDMA_CM_CONNECT, CMA_T_DISCONNECTED, RDMA_CM_DISCONNECT },
	{ RDMA_CM_LISTEN, CMA_T_LISTEN_FAILED, RDMA_CM_ADDR_BOUND },
};

static enum rdma_cm_state expected(enum rdma_cm_state from, enum cma_trigger trigger)
{
	int i;

	if (trigger == CMA_T_DESTROY)
		return from == RDMA_CM_DESTROYING ? CMA_NR_STATES : RDMA_CM_DESTROYING;
	if (trigger == CMA_T_REMOVE)
		return from == RDMA_CM_DESTROYING || from == RDMA_CM_DEVICE_REMOVAL ?
		       CMA_NR_STATES : RDMA_CM_DEVICE_REMOVAL;
	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i].from == from && steps[i].trigger == trigger)
			return steps[i].to;
	return CMA_NR_STATES;
}

static void no_step_but_those_of_the_table(struct kunit *test)
{
	enum rdma_cm_state from;
	enum cma_trigger trigger;

	for (from = 0; from < CMA_NR_STATES; from++)
		for (trigger = 0; trigger < CMA_NR_TRIGGERS; trigger++)
			KUNIT_EXPECT_EQ_MSG(test, cma_next_state(from, trigger),
					    expected(from, trigger),
					    "state %d, trigger %d", from, trigger);
}

static int call_bind(struct rdma_cm_id *id)
{
	struct sockaddr_storage addr;

	return rdma_bind_addr(id, cma_sin(&addr, pair.client.ip4, 0));
}

static int call_resolve_addr(struct rdma_cm_id *id)
{
	struct sockaddr_storage addr;

	return rdma_resolve_addr(id, NULL, cma_sin(&addr, pair.server.ip4, TEST_PORT),
				 TEST_TIMEOUT);
}

static int call_resolve_route(struct rdma_cm_id *id)
{
	return rdma_resolve_route(id, TEST_TIMEOUT);
}

static int call_set_path(struct rdma_cm_id *id)
{
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_ROCE_V2 };

	rdma_read_gids(id, &path.sgid, &path.dgid);
	return rdma_set_ib_path(id, &path);
}

static int call_listen(struct rdma_cm_id *id)
{
	return rdma_listen(id, 1);
}

static int call_connect(struct rdma_cm_id *id)
{
	bool locked = mutex_is_locked(&cma_of(id)->handler_mutex);

	return locked ? rdma_connect_locked(id, &pair.client.param) :
			rdma_connect(id, &pair.client.param);
}

static int call_accept(struct rdma_cm_id *id)
{
	bool locked = mutex_is_locked(&cma_of(id)->handler_mutex);
	int ret;

	if (!locked)
		rdma_lock_handler(id);
	ret = rdma_accept(id, &pair.server.param);
	if (!locked)
		rdma_unlock_handler(id);
	return ret;
}

static int call_reject(struct rdma_cm_id *id)
{
	return rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
}

static int call_notify(struct rdma_cm_id *id)
{
	return rdma_notify(id, IB_EVENT_COMM_EST);
}

static int call_share(struct rdma_cm_id *id)
{
	return rdma_set_reuseaddr(id, 1);
}

static int call_not_share(struct rdma_cm_id *id)
{
	return rdma_set_reuseaddr(id, 0);
}

static int call_afonly(struct rdma_cm_id *id)
{
	return rdma_set_afonly(id, 1);
}

static int call_join(struct rdma_cm_id *id)
{
	struct sockaddr_storage addr;

	return rdma_join_multicast(id, cma_sin(&addr, htonl(0xe0010101), 0),
				   BIT(FULLMEMBER_JOIN), NULL);
}

#define IN(stage)	BIT(AT_##stage)
#define AFTER_BOUND	(BIT(CMA_STAGES) - 1 - IN(IDLE) - IN(BOUND))

/*
 * The stages at which each call works; elsewhere it returns -EINVAL, or @other in
 * @other_in.
 */
static const struct call {
	const char *name;
	int (*call)(struct rdma_cm_id *id);
	u32 works;
	int other;
	u32 other_in;
} calls[] = {
	{ "bind", call_bind, IN(IDLE) },
	{ "resolve_addr", call_resolve_addr, IN(IDLE) | IN(BOUND) },
	{ "resolve_route", call_resolve_route, IN(ADDR_RESOLVED) },
	{ "set_ib_path", call_set_path, IN(ADDR_RESOLVED) },
	{ "listen", call_listen, IN(IDLE) | IN(BOUND) },
	{ "connect", call_connect, IN(ROUTE_RESOLVED) },
	{ "accept", call_accept, IN(REQUEST) },
	{ "reject", call_reject, IN(REQUEST) | IN(CONNECT) },
	{ "notify", call_notify, 0, -EISCONN, IN(UP) },
	{ "share", call_share, AFTER_BOUND + IN(IDLE) + IN(BOUND) - IN(LISTEN) },
	{ "share no more", call_not_share, IN(IDLE) },
	{ "afonly", call_afonly, IN(IDLE) | IN(BOUND) },
	{ "join", call_join, 0 },
};

static void one_call(struct kunit *test, const struct call *c, enum cma_stage stage)
{
	int want = -EINVAL;
	struct rdma_cm_id *id;

	if (c->works & BIT(stage))
		want = 0;
	else if (c->other_in & BIT(stage))
		want = c->other;
	id = cma_go_to(test, &pair, stage);
	if (id)
		KUNIT_EXPECT_EQ_MSG(test, c->call(id), want, "%s when %s", c->name,
				    cma_stage_names[stage]);
	if (stage == AT_ROUTE_QUERY)
		rdma_unlock_handler(pair.client.id);
	cma_leave(test, &pair);
}

static void every_call_at_every_stage(struct kunit *test)
{
	enum cma_stage stage;
	int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		for (stage = 0; stage < CMA_STAGES; stage++)
			one_call(test, &calls[i], stage);
}

/* rdma_disconnect() works from the connection attempt on, even after a disconnect. */
static void disconnect_needs_a_connection(struct kunit *test)
{
	enum cma_stage stage;
	struct rdma_cm_id *id;
	int want;

	for (stage = 0; stage < CMA_STAGES; stage++) {
		want = stage == AT_CONNECT || stage == AT_UP ||
		       stage == AT_DISCONNECT || stage == AT_REQUEST ? 0 : -EINVAL;
		id = cma_go_to(test, &pair, stage);
		if (id)
			KUNIT_EXPECT_EQ_MSG(test, rdma_disconnect(id), want, "%s",
					    cma_stage_names[stage]);
		if (stage == AT_ROUTE_QUERY)
			rdma_unlock_handler(pair.client.id);
		cma_leave(test, &pair);
	}
}

static void events_come_in_order(struct kunit *test)
{
	KUNIT_ASSERT_NOT_NULL(test, cma_go_to(test, &pair, AT_DISCONNECT));
	KUNIT_EXPECT_STREQ(test, pair.client.events, "AREDT");
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QEDT");
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
}

/* The other side's events when the id of a stage is destroyed. */
static const char * const told[CMA_STAGES] = {
	[AT_UP]		= "QED",
	[AT_DISCONNECT]	= "QEDT",
	[AT_REQUEST]	= "ARJ",
};

static void destroyed_at_each_stage(struct kunit *test)
{
	struct cma_side *other;
	enum cma_stage stage;
	struct rdma_cm_id *id;
	int events;

	for (stage = 0; stage < CMA_STAGES; stage++) {
		id = cma_go_to(test, &pair, stage);
		if (!id)
			continue;
		other = stage == AT_REQUEST ? &pair.client : &pair.server;
		if (stage == AT_ROUTE_QUERY)
			rdma_unlock_handler(id);
		if (stage == AT_LISTEN) {
			cma_drop_listener(&pair.server);
		} else if (stage == AT_REQUEST) {
			cma_drop_id(&pair.server);
		} else {
			cma_drop_id(&pair.client);
			events = atomic_read(&pair.client.nr_events);
			msleep(3000);
			KUNIT_EXPECT_EQ_MSG(test, atomic_read(&pair.client.nr_events),
					    events, "%s", cma_stage_names[stage]);
		}
		if (told[stage])
			KUNIT_EXPECT_TRUE_MSG(test, cma_wait(other, told[stage]) ||
					      !strncmp(other->events, told[stage],
						       strlen(told[stage])),
					      "%s: %s", cma_stage_names[stage],
					      other->events);
		cma_leave(test, &pair);
	}
}

/* The handler may end the id at each event. */
static void the_handler_ends_the_client(struct kunit *test)
{
	static const char letters[] = "AREDT";
	int i;

	for (i = 0; i < 5; i++) {
		pair.client.destroy_on = letters[i];
		pair.client.destroyed = false;
		pair.client.id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
		KUNIT_ASSERT_EQ(test, call_resolve_addr(pair.client.id), 0);
		cma_wait(&pair.client, "A");
		if (i >= 1) {
			KUNIT_ASSERT_EQ(test, call_resolve_route(pair.client.id), 0);
			cma_wait(&pair.client, "AR");
		}
		if (i >= 2) {
			KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.client), 0);
			KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
			cma_wait(&pair.client, "ARE");
		}
		if (i >= 3) {
			KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
			cma_wait(&pair.client, "ARED");
		}
		if (i == 4)
			cma_wait(&pair.client, letters);
		msleep(2000);
		KUNIT_EXPECT_TRUE_MSG(test, pair.client.destroyed, "%c", letters[i]);
		KUNIT_EXPECT_NULL(test, pair.client.id);
		KUNIT_EXPECT_EQ(test, strlen(pair.client.events), i + 1);
		cma_leave(test, &pair);
	}
}

static void the_handler_ends_the_server(struct kunit *test)
{
	static const char letters[] = "QEDT";
	int i;

	for (i = 0; i < 4; i++) {
		pair.server.destroy_on = letters[i];
		pair.server.destroyed = false;
		KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
		cma_resolve(test, &pair);
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		msleep(500);
		if (i == 0) {
			/* The id was accepted and ended at once. */
			KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
		} else {
			KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
			rdma_disconnect(pair.client.id);
		}
		msleep(2000);
		KUNIT_EXPECT_TRUE_MSG(test, pair.server.destroyed, "%c", letters[i]);
		KUNIT_EXPECT_NULL(test, pair.server.id);
		KUNIT_EXPECT_EQ(test, strlen(pair.server.events), i + 1);
		cma_leave(test, &pair);
	}
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(no_step_but_those_of_the_table),
	KUNIT_CASE_SLOW(every_call_at_every_stage),
	KUNIT_CASE(disconnect_needs_a_connection),
	KUNIT_CASE(events_come_in_order),
	KUNIT_CASE_SLOW(destroyed_at_each_stage),
	KUNIT_CASE_SLOW(the_handler_ends_the_client),
	KUNIT_CASE_SLOW(the_handler_ends_the_server),
	{}
};

static struct kunit_suite cma_state_suite = {
	.name = "rdma_cm_state",
	.init = state_test_init,
	.exit = state_test_exit,
	.test_cases = state_cases,
};

kunit_test_suite(cma_state_suite);
