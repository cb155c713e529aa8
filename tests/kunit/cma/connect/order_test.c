// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * COMM_EST is raised in each context before, after and amid any other event that may
 * end the wait for an RTU.  Amid: the other event has reached the CM, but not yet the
 * consumer, whose handler is locked.
 */
#include <linux/kthread.h>
#include "cma/cma_test.h"
#include "wait.h"

enum order { BEFORE, AFTER, AMID, ORDERS };

static const char * const order_names[ORDERS] = { "before", "after", "amid" };

static struct cma_pair pair;

static int order_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void order_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

/* An event that may end the wait, and the consumer's events that follow, by order. */
struct ending {
	const char *name;
	void (*end)(void);
	const char *events[ORDERS];
	bool rtu_held;		/* else the RTU is dropped */
	bool client_undecided;	/* client has the REP, has sent no RTU */
};

static void rtu_comes(void)
{
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
}

static void client_disconnects(void)
{
	rdma_disconnect(pair.client.id);
}

static void client_rejects(void)
{
	rdma_reject(pair.client.id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
}

static void client_dies(void)
{
	int i;

	/* Drop all of the client's messages for longer than all tries of the REP take. */
	for (i = 0; i < IBCM_KINDS; i++)
		pair.client.drop[i] = -1;
	msleep(90000);
}

static const struct ending endings[] = {
	{ "RTU", rtu_comes, { "QE", "QE", "QE" }, .rtu_held = true },
	{ "DREQ", client_disconnects, { "QEDT", "QEDT", "QEDT" } },
	{ "REJ", client_rejects, { "QEJ", "QJ", "QJ" }, .client_undecided = true },
	{ "timeout", client_dies, { "QE", "Qu", "Qu" } },
};

static void begin(struct kunit *test, const struct ending *ending)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	pair.client.own_qp = ending->client_undecided;
	pair.client.on_response = CMA_WAIT;
	cma_resolve(test, &pair);
	if (ending->rtu_held)
		pair.client.hold = BIT(IBCM_RTU);
	else
		pair.client.drop[IBCM_RTU] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client,
					 ending->client_undecided ? "P" : "E"));
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
}

static void in_order(struct kunit *test, const struct ending *ending,
		     enum order order, enum cma_raise from)
{
	const char *events = ending->events[order];

	begin(test, ending);
	if (order == AMID)
		rdma_lock_handler(pair.server.id);
	if (order != BEFORE)
		ending->end();
	msleep(200);
	cma_raise_now(test, pair.server.id->qp, from);
	if (order == BEFORE)
		ending->end();
	if (order == AMID)
		rdma_unlock_handler(pair.server.id);
	cma_wait(&pair.server, events);
	msleep(1000);
	KUNIT_EXPECT_STREQ_MSG(test, pair.server.events, events, "%s %s, context %d",
			       order_names[order], ending->name, from);
	cma_leave(test, &pair);
	pair.client.own_qp = false;
}

static void in_each_order(struct kunit *test, const struct ending *ending)
{
	enum order order;
	enum cma_raise from;

	for (order = 0; order < ORDERS; order++)
		for (from = 0; from < RAISE_CONTEXTS; from++)
			in_order(test, ending, order, from);
}

static void the_rtu(struct kunit *test)
{
	in_each_order(test, &endings[0]);
}

static void a_disconnect(struct kunit *test)
{
	in_each_order(test, &endings[1]);
}

static void a_reject(struct kunit *test)
{
	in_each_order(test, &endings[2]);
}

/* KUnit gives a case 300 s, and a REP's tries take more than 60. */
static void the_replys_last_try_before(struct kunit *test)
{
	in_order(test, &endings[3], BEFORE, FROM_HARDIRQ);
	in_order(test, &endings[3], BEFORE, FROM_SOFTIRQ);
}

static void the_replys_last_try_after(struct kunit *test)
{
	in_order(test, &endings[3], AFTER, FROM_HARDIRQ);
	in_order(test, &endings[3], AFTER, FROM_SOFTIRQ);
}

static void the_replys_last_try_amid(struct kunit *test)
{
	in_order(test, &endings[3], AMID, FROM_HARDIRQ);
	in_order(test, &endings[3], AMID, FROM_PROCESS);
}

/* ---- the consumer destroys its id ---- */

static struct completion destroyed;

static int destroy_id(void *arg)
{
	rdma_destroy_id(arg);
	complete(&destroyed);
	return 0;
}

static void destruction_amid(struct kunit *test, enum cma_raise from)
{
	struct rdma_cm_id *id;
	struct ib_qp *qp;

	begin(test, &endings[1]);
	id = pair.server.id;
	qp = id->qp;
	init_completion(&destroyed);
	rdma_lock_handler(id);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(destroy_id, id, "destroy_id")));
	msleep(50);
	cma_raise_now(test, pair.server.id->qp, from);
	pair.server.id = NULL;
	rdma_unlock_handler(id);
	wait_for_completion(&destroyed);
	/* Either may have been first. */
	KUNIT_EXPECT_TRUE_MSG(test, !strcmp(pair.server.events, "Q") ||
			      !strcmp(pair.server.events, "QE"), "%s",
			      pair.server.events);
	fake_hca_qp_event(qp, IB_EVENT_COMM_EST);
	ib_destroy_qp(qp);
	cma_leave(test, &pair);
}

static void destruction_before_and_after(struct kunit *test, enum cma_raise from)
{
	struct ib_qp *qp;

	begin(test, &endings[1]);
	qp = pair.server.id->qp;
	cma_raise_now(test, pair.server.id->qp, from);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	rdma_destroy_id(pair.server.id);
	pair.server.id = NULL;
	cma_raise_now(test, qp, from);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
	ib_destroy_qp(qp);
	cma_leave(test, &pair);
}

static void destruction(struct kunit *test)
{
	enum cma_raise from;

	for (from = 0; from < RAISE_CONTEXTS; from++) {
		destruction_before_and_after(test, from);
		destruction_amid(test, from);
	}
}

/* ---- the device is removed ---- */

static struct completion gone;

static int go(void *arg)
{
	fake_hca_destroy(arg);
	complete(&gone);
	return 0;
}

static void server_is_gone(struct kunit *test)
{
	cma_drop_listener(&pair.server);
	cma_drop_id(&pair.server);
	ib_free_cq(pair.server.cq);
	ib_dealloc_pd(pair.server.pd);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&gone, 60 * HZ), 0);
	pair.server.hca = NULL;
}

/* The listener gets the removal event, too: X twice. */
static void removal_at(struct kunit *test, enum order order, enum cma_raise from)
{
	const char *events = pair.server.events;

	begin(test, &endings[1]);
	if (order == BEFORE) {
		cma_raise_now(test, pair.server.id->qp, from);
		KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	}
	if (order == AMID)
		rdma_lock_handler(pair.server.id);
	init_completion(&gone);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(go, pair.server.hca, "going")));
	msleep(500);
	if (order != BEFORE)
		cma_raise_now(test, pair.server.id->qp, from);
	if (order == AMID)
		rdma_unlock_handler(pair.server.id);
	msleep(500);
	switch (order) {
	case BEFORE:
		KUNIT_EXPECT_STREQ(test, events, "QEXX");
		break;
	case AFTER:
		KUNIT_EXPECT_STREQ(test, events, "QXX");
		break;
	default:
		/*
		 * Either may reach the handler first; no event follows the removal of
		 * the id's device.
		 */
		KUNIT_EXPECT_TRUE_MSG(test, !strcmp(events, "QXX") ||
				      !strcmp(events, "QXEX") ||
				      !strcmp(events, "QEXX"), "%s", events);
		break;
	}
	server_is_gone(test);
	cma_pair_exit(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_pair_init(test, &pair), 0);
}

static void removal(struct kunit *test)
{
	enum order order;
	enum cma_raise from;

	for (order = 0; order < ORDERS; order++)
		for (from = 0; from < RAISE_CONTEXTS; from++)
			removal_at(test, order, from);
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE_SLOW(the_rtu),
	KUNIT_CASE_SLOW(a_disconnect),
	KUNIT_CASE_SLOW(a_reject),
	KUNIT_CASE_SLOW(the_replys_last_try_before),
	KUNIT_CASE_SLOW(the_replys_last_try_after),
	KUNIT_CASE_SLOW(the_replys_last_try_amid),
	KUNIT_CASE(destruction),
	KUNIT_CASE_SLOW(removal),
	{}
};

static struct kunit_suite cma_order_suite = {
	.name = "cma_order",
	.init = order_test_init,
	.exit = order_test_exit,
	.test_cases = order_cases,
};

kunit_test_suite(cma_order_suite);
