// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The lifetime of ids, for which the in-tree iWARP CM had to be fixed three times: ids
 * destroyed with work queued, work objects used again, a list of work objects
 * corrupted.  Here an id is its own work object, on no list.
 */
#include "iwcm_test.h"
#include "wait.h"

#define CROWD	48

static const struct {
	enum iwcm_state state;
	enum iw_cm_event_type type;
	int status;
} queued[] = {
	{ IWCM_CONN_SENT, IW_CM_EVENT_CONNECT_REPLY, 0 },
	{ IWCM_CONN_SENT, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED },
	{ IWCM_CONN_SENT, IW_CM_EVENT_CLOSE, 0 },
	{ IWCM_ACCEPTING, IW_CM_EVENT_ESTABLISHED, 0 },
	{ IWCM_ACCEPTING, IW_CM_EVENT_ESTABLISHED, -ECONNRESET },
	{ IWCM_ESTABLISHED, IW_CM_EVENT_CLOSE, 0 },
	{ IWCM_CLOSING, IW_CM_EVENT_CLOSE, 0 },
};

/*
 * Each report is queued when the id is destroyed: its reference is dropped, and the
 * report is not delivered.
 */
static void destroyed_with_work_queued(struct kunit *test, int i, bool close)
{
	int alive = iw_alive();

	iw_be(test, queued[i].state);
	iw_report(it.id, queued[i].type, queued[i].status, "late");
	if (close)
		iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, work_pending(&to_iwcm(it.id)->work), "report %d", i);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.id)->ref), 3u);
	iw_destroy_cm_id(it.id);
	it.id = NULL;
	KUNIT_EXPECT_FALSE(test, work_busy(&to_iwcm(it.held)->work));
	KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.held)->ref), 1u);
	iw_quiesce();
	KUNIT_EXPECT_STREQ_MSG(test, it.events, "", "report %d", i);
	if (it.listener)
		iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	KUNIT_EXPECT_EQ(test, iw_alive(), alive + 1);
	iw_let_go();
	KUNIT_EXPECT_EQ(test, iw_alive(), alive);
}

static void fix_1_ids_destroyed_with_work_queued(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(queued); i++) {
		destroyed_with_work_queued(test, i, false);
		destroyed_with_work_queued(test, i, true);
	}
}

static void in_handler(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(it.in_handler), 1000));
}

/*
 * The work object is used again while it is queued, while it runs, and after it has
 * run.
 */
static void fix_2_work_objects_reused(struct kunit *test)
{
	enum iw_context from;
	int moment;

	for (moment = 0; moment < 3; moment++) {
		for (from = 0; from < IW_CONTEXTS; from++) {
			it.slow = moment == 1;
			iw_be(test, IWCM_ACCEPTING);
			iw_report(it.id, IW_CM_EVENT_ESTABLISHED, 0, NULL);
			if (moment == 1)
				in_handler(test);
			if (moment == 2)
				KUNIT_EXPECT_TRUE(test, iw_wait("U"));
			iw_report_in(test, from, it.id, IW_CM_EVENT_DISCONNECT, 0);
			iw_report_in(test, from, it.id, IW_CM_EVENT_CLOSE, 0);
			/* Reports after the end belong to no connection. */
			iw_report_in(test, from, it.id, IW_CM_EVENT_ESTABLISHED, 0);
			iw_report_in(test, from, it.id, IW_CM_EVENT_CLOSE, 0);
			KUNIT_EXPECT_TRUE_MSG(test, iw_wait("UC"), "%d, %s", moment,
					      iw_context_names[from]);
			iw_quiesce();
			KUNIT_EXPECT_STREQ(test, it.events, "UC");
			KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.id)->ref), 2u);
			iw_exit(test);
			KUNIT_ASSERT_EQ(test, iw_init(test), 0);
		}
	}
}

/* The work object is used again by the successive connections of one id. */
static void fix_2_work_objects_reused_by_the_next_connection(struct kunit *test)
{
	int i;

	it.id = iw_id();
	for (i = 0; i < 50; i++) {
		KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
		iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, i & 1 ? -ECONNREFUSED : 0,
			  i & 2 ? "data" : NULL);
		iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL);
		KUNIT_ASSERT_TRUE(test, iw_wait(i & 1 ? "p" : "PC"));
		iw_let_go();
		KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
		iw_forget();
	}
	iw_quiesce();
	KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.id)->ref), 1u);
}

static int crowd_told[CROWD];

static int crowd_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	int *told = cm_id->context;

	(*told)++;
	return 0;
}

/*
 * Returns which of @n is destroyed @i-th: from the front, the back, the middle, or by
 * strides.
 */
static int leaver(int order, int i, int n)
{
	switch (order) {
	case 0:
		return i;
	case 1:
		return n - 1 - i;
	case 2:
		return n / 2 + (i & 1 ? -(i + 1) / 2 : i / 2);
	default:
		return i * 5 % n;
	}
}

/*
 * All ids have a report queued when half of them are destroyed: the others get their
 * event, and none gets it twice.
 */
static void crowd_thins(struct kunit *test, int order)
{
	struct iw_cm_id *crowd[CROWD];
	int i, at;

	memset(crowd_told, 0, sizeof(crowd_told));
	for (i = 0; i < CROWD; i++) {
		crowd[i] = iw_create_cm_id(&it.hca->ibdev, crowd_handler, &crowd_told[i]);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, crowd[i]);
		KUNIT_EXPECT_EQ(test, iw_connect_id(crowd[i]), 0);
	}
	for (i = 0; i < CROWD; i++)
		iw_report(crowd[i], IW_CM_EVENT_CONNECT_REPLY, 0, NULL);
	for (i = 0; i < CROWD / 2; i++) {
		at = leaver(order, i, CROWD);
		iw_destroy_cm_id(crowd[at]);
		crowd[at] = NULL;
	}
	iw_quiesce();
	for (i = 0; i < CROWD; i++) {
		KUNIT_EXPECT_LE_MSG(test, crowd_told[i], 1, "order %d, %d", order, i);
		if (crowd[i])
			KUNIT_EXPECT_EQ_MSG(test, crowd_told[i], 1, "order %d, %d", order,
					    i);
	}
	for (i = 0; i < CROWD; i++) {
		at = leaver(order, i, CROWD);
		if (crowd[at])
			iw_destroy_cm_id(crowd[at]);
		crowd[at] = NULL;
	}
}

static void fix_3_list_corruption(struct kunit *test)
{
	int order, alive = iw_alive();

	it.hca->iw_verb = NULL;
	for (order = 0; order < 4; order++)
		crowd_thins(test, order);
	KUNIT_EXPECT_EQ(test, iw_alive(), alive);
}

/* The same with requests of one listener, which is destroyed first. */
static void fix_3_list_corruption_of_a_listener(struct kunit *test)
{
	int order, i;

	for (order = 0; order < 4; order++) {
		KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
		for (i = 0; i < IW_MANY; i++) {
			KUNIT_ASSERT_EQ(test, iw_request(i & 1 ? "data" : NULL), 0);
			if (!(i % 7))
				iw_quiesce();
		}
		if (order & 1)
			iw_quiesce();
		iw_destroy_cm_id(it.listener);
		it.listener = NULL;
		for (i = 0; i < it.nr_requests; i++)
			iw_destroy_cm_id(it.requests[leaver(order & 1, i, it.nr_requests)]);
		KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), IW_MANY);
		it.nr_requests = 0;
		it.id = NULL;
		atomic_set(&it.hca->iw_calls[FAKE_IW_REJECT], 0);
	}
}

static struct kunit_case fixes_cases[] = {
	KUNIT_CASE(fix_1_ids_destroyed_with_work_queued),
	KUNIT_CASE(fix_2_work_objects_reused),
	KUNIT_CASE(fix_2_work_objects_reused_by_the_next_connection),
	KUNIT_CASE(fix_3_list_corruption),
	KUNIT_CASE(fix_3_list_corruption_of_a_listener),
	{}
};

static struct kunit_suite iwcm_fixes_suite = {
	.name = "iw_cm_fixes",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = fixes_cases,
};

kunit_test_suite(iwcm_fixes_suite);
