// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the operator is told of ids: the events they had, and what they wait for. */
#include "cma/cma_test.h"
#include "seq_text.h"
#include "wait.h"

static struct cma_pair pair;

static int report_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void report_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

/* Returns how many events of this name and status the file in debugfs counts. */
static long counted(struct kunit *test, const char *line)
{
	char *text = kunit_kzalloc(test, SZ_4K, GFP_KERNEL), *at;
	long n = 0;

	if (!text || seq_text("/sys/kernel/debug/rdma_cm/events", text, SZ_4K, SZ_4K))
		return -1;
	at = strstr(text, line);
	if (at && sscanf(at + strlen(line), ": %ld", &n) != 1)
		n = -1;
	kunit_kfree(test, text);
	return n;
}

static void events_are_counted_by_status(struct kunit *test)
{
	long up = counted(test, "established, ok");
	long refused = counted(test, "rejected, other");
	long lost = counted(test, "unreachable, ETIMEDOUT");

	KUNIT_ASSERT_GE(test, min3(up, refused, lost), 0L);
	cma_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, counted(test, "established, ok"), up + 2);
	cma_drop_id(&pair.client);
	cma_drop_id(&pair.server);
	cma_forget(&pair.client);
	/* Nobody listens. */
	cma_drop_listener(&pair.server);
	cma_resolve(test, &pair);
	cma_forget(&pair.client);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(counted(test, "rejected, other") == refused + 1,
					    5000));
	KUNIT_EXPECT_EQ(test, counted(test, "unreachable, ETIMEDOUT"), lost);
}

static struct rdma_restrack_cm_state query(struct rdma_cm_id *id)
{
	struct cma_id *idp = to_cma(id);
	struct rdma_restrack_cm_state state = {};

	idp->track.query(&idp->track, &state);
	return state;
}

static void ids_tell_what_the_cm_waits_for(struct kunit *test)
{
	struct rdma_restrack_cm_state state;

	cma_resolve(test, &pair);
	state = query(pair.client.id);
	KUNIT_EXPECT_EQ(test, state.state, RDMA_CM_ROUTE_RESOLVED);
	KUNIT_EXPECT_NULL(test, state.wait.for_what);
	pair.client.drop[IBCM_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(query(pair.client.id).wait.resent == 1, 5000));
	state = query(pair.client.id);
	KUNIT_EXPECT_STREQ(test, state.wait.state, "REQ_SENT");
	KUNIT_EXPECT_STREQ(test, state.wait.for_what, "REP");
	KUNIT_EXPECT_GE(test, state.wait.waited_ms, 100);
}

static void connected_ids_wait_for_nothing(struct kunit *test)
{
	cma_connect(test, &pair);
	KUNIT_EXPECT_NULL(test, query(pair.client.id).wait.for_what);
	KUNIT_EXPECT_NULL(test, query(pair.server.id).wait.for_what);
	KUNIT_EXPECT_NULL(test, query(pair.server.listener).wait.for_what);
}

static struct kunit_case report_cases[] = {
	KUNIT_CASE(events_are_counted_by_status),
	KUNIT_CASE(ids_tell_what_the_cm_waits_for),
	KUNIT_CASE(connected_ids_wait_for_nothing),
	{}
};

static struct kunit_suite cma_report_suite = {
	.name = "cma_report",
	.init = report_test_init,
	.exit = report_test_exit,
	.test_cases = report_cases,
};

kunit_test_suite(cma_report_suite);
