// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The lifetime of ids: who may free an id, and when. */
#include "iwcm_test.h"
#include "rescuer.h"
#include "wait.h"

static void an_id_goes_while_its_handler_runs(struct kunit *test)
{
	it.slow = true;
	iw_be(test, IWCM_CONN_SENT);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, "x"), 0);
	while (!READ_ONCE(it.in_handler))
		msleep(20);
	iw_destroy_cm_id(it.id);
	KUNIT_EXPECT_FALSE(test, it.in_handler);
	KUNIT_EXPECT_STREQ(test, it.events, "P");
	it.id = NULL;
}

/*
 * The provider does not know yet that the id is destroyed, or reports what was in
 * progress.
 */
static void reports_after_an_id_is_gone(struct kunit *test)
{
	static const struct {
		enum iw_cm_event_type type;
		int status;
	} late[] = {
		{ IW_CM_EVENT_CONNECT_REPLY, 0 },
		{ IW_CM_EVENT_CONNECT_REPLY, -ETIMEDOUT },
		{ IW_CM_EVENT_ESTABLISHED, 0 },
		{ IW_CM_EVENT_DISCONNECT, 0 },
		{ IW_CM_EVENT_CLOSE, 0 },
	};
	static const enum iwcm_state states[] = {
		IWCM_CONN_SENT, IWCM_ACCEPTING, IWCM_ESTABLISHED, IWCM_CLOSING,
	};
	int s, i;

	for (s = 0; s < ARRAY_SIZE(states); s++) {
		iw_be(test, states[s]);
		iw_destroy_cm_id(it.id);
		it.id = NULL;
		KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
		for (i = 0; i < ARRAY_SIZE(late); i++)
			KUNIT_EXPECT_EQ(test, iw_report(it.held, late[i].type,
							late[i].status, "late"), 0);
		KUNIT_EXPECT_EQ(test, iw_report(it.held, IW_CM_EVENT_CONNECT_REQUEST, 0,
						NULL), -ECONNREFUSED);
		iw_quiesce();
		KUNIT_EXPECT_STREQ(test, it.events, "");
		KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.held)->ref), 1u);
		iw_exit(test);
		KUNIT_ASSERT_EQ(test, iw_init(test), 0);
	}
}

/* Even the adapter may be gone when the provider drops its reference. */
static void an_id_outlives_its_adapter(struct kunit *test)
{
	struct iw_cm_id *held;

	iw_be(test, IWCM_ESTABLISHED);
	held = it.held;
	it.held = NULL;
	iw_exit(test);
	KUNIT_EXPECT_EQ(test, iw_report(held, IW_CM_EVENT_CLOSE, 0, "late"), 0);
	held->rem_ref(held);
	KUNIT_ASSERT_EQ(test, iw_init(test), 0);
}

/*
 * A provider calls code of the module, which must stay until the provider drops its
 * reference.
 */
static void an_id_keeps_the_module(struct kunit *test)
{
	int alive = iw_alive();

	KUNIT_ASSERT_GE(test, alive, 0);
	iw_be(test, IWCM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, iw_alive(), alive + 1);
	iw_destroy_cm_id(it.id);
	it.id = NULL;
	KUNIT_EXPECT_EQ(test, iw_alive(), alive + 1);
	iw_let_go();
	KUNIT_EXPECT_EQ(test, iw_alive(), alive);
}

/*
 * Destruction does not wait for a provider that loses its connections and never reports
 * it.
 */
static void destruction_does_not_wait_for_the_provider(struct kunit *test)
{
	unsigned long start;
	enum iwcm_state s;

	for (s = 0; s < IWCM_STATES; s++) {
		iw_be(test, s);
		start = jiffies;
		iw_destroy_cm_id(it.id);
		it.id = NULL;
		KUNIT_EXPECT_LE_MSG(test, took_ms(jiffies - start),
				      jiffies_to_msecs(1), "state %d", s);
		iw_exit(test);
		KUNIT_ASSERT_EQ(test, iw_init(test), 0);
	}
}

static void destroy_now(struct iw_cm_id *cm_id)
{
	it.id = NULL;
	iw_destroy_cm_id(cm_id);
}

static void an_id_goes_in_the_middle_of_a_verb(struct kunit *test)
{
	it.during[FAKE_IW_CONNECT] = destroy_now;
	it.id = iw_id();
	KUNIT_EXPECT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_state(), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.held)->ref), 1u);
	KUNIT_EXPECT_EQ(test, iw_report(it.held, IW_CM_EVENT_CONNECT_REPLY, 0, "x"), 0);
	iw_let_go();

	it.answer[FAKE_IW_CONNECT] = -EIO;
	it.id = iw_id();
	KUNIT_EXPECT_EQ(test, iw_connect_id(it.id), -EIO);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_STREQ(test, it.events, "");
}

struct told {
	char letter;
	enum iwcm_state state;
	enum iw_cm_event_type type;
	int status;
};

static const struct told told[] = {
	{ 'P', IWCM_CONN_SENT, IW_CM_EVENT_CONNECT_REPLY, 0 },
	{ 'p', IWCM_CONN_SENT, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED },
	{ 'U', IWCM_ACCEPTING, IW_CM_EVENT_ESTABLISHED, 0 },
	{ 'C', IWCM_ACCEPTING, IW_CM_EVENT_CLOSE, 0 },
	{ 'C', IWCM_ESTABLISHED, IW_CM_EVENT_CLOSE, 0 },
	{ 'C', IWCM_CLOSING, IW_CM_EVENT_CLOSE, 0 },
};

/* An id that its handler ends gets no further event. */
static void handlers_that_end_ids(struct kunit *test, bool destroy, bool fail)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(told); i++) {
		iw_be(test, told[i].state);
		if (fail)
			it.fail_on = told[i].letter;
		if (destroy)
			it.destroy_on = told[i].letter;
		iw_report(it.id, told[i].type, told[i].status, "x");
		iw_report(it.held, IW_CM_EVENT_CLOSE, 0, NULL);
		iw_quiesce();
		KUNIT_EXPECT_NULL(test, it.id);
		KUNIT_EXPECT_EQ_MSG(test, it.events[0], told[i].letter, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, it.events[1], 0, "case %d", i);
		KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
		KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.held)->ref), 1u);
		iw_exit(test);
		KUNIT_ASSERT_EQ(test, iw_init(test), 0);
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

/* The result of a handler that has destroyed its id is ignored. */
static void handlers_do_both(struct kunit *test)
{
	handlers_that_end_ids(test, true, true);
}

static void a_handler_destroys_its_request(struct kunit *test)
{
	it.destroy_on = 'Q';
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_ASSERT_EQ(test, iw_request("hi"), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("Q"));
	iw_quiesce();
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.listener)->untold), 1u);
}

/*
 * Storage over RDMA reconnects in order to write out dirty memory when memory is short.
 */
static void connections_need_no_new_worker(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, has_rescuer("iw_cm"));
}

static struct kunit_case lifetime_cases[] = {
	KUNIT_CASE(an_id_goes_while_its_handler_runs),
	KUNIT_CASE(reports_after_an_id_is_gone),
	KUNIT_CASE(an_id_outlives_its_adapter),
	KUNIT_CASE(an_id_keeps_the_module),
	KUNIT_CASE(destruction_does_not_wait_for_the_provider),
	KUNIT_CASE(an_id_goes_in_the_middle_of_a_verb),
	KUNIT_CASE(handlers_destroy_their_ids),
	KUNIT_CASE(handlers_answer_errors),
	KUNIT_CASE(handlers_do_both),
	KUNIT_CASE(a_handler_destroys_its_request),
	KUNIT_CASE(connections_need_no_new_worker),
	{}
};

static struct kunit_suite iwcm_lifetime_suite = {
	.name = "iw_cm_lifetime",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = lifetime_cases,
};

kunit_test_suite(iwcm_lifetime_suite);
