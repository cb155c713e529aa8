// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Consumers that block in their handlers, and the events of others meanwhile. */
#include "iwcm_test.h"
#include "wait.h"

#define BLOCKED		100

/* A connection that has its own consumer. */
struct party {
	struct iw_cm_id *cm_id;
	bool block;
	struct completion go_on;
	bool in_handler;
	int told;
	enum iw_cm_event_type last;
};

static struct party parties[BLOCKED + 1];
static struct party *const other = &parties[BLOCKED];

static int party_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	struct party *party = cm_id->context;

	WRITE_ONCE(party->in_handler, true);
	if (party->block)
		wait_for_completion(&party->go_on);
	WRITE_ONCE(party->last, event->event);
	WRITE_ONCE(party->told, party->told + 1);
	WRITE_ONCE(party->in_handler, false);
	return 0;
}

static void party_start(struct kunit *test, struct party *party, bool block)
{
	memset(party, 0, sizeof(*party));
	init_completion(&party->go_on);
	party->block = block;
	party->cm_id = iw_create_cm_id(&it.hca->ibdev, party_handler, party);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, party->cm_id);
	KUNIT_ASSERT_EQ(test, iw_connect_id(party->cm_id), 0);
	iw_report(party->cm_id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL);
}

static void party_end(struct party *party)
{
	complete_all(&party->go_on);
	iw_destroy_cm_id(party->cm_id);
}

/* Starts all parties but the last; waits until they block in their handlers. */
static void parties_block(struct kunit *test)
{
	int i;

	it.hca->iw_verb = NULL;
	for (i = 0; i < BLOCKED; i++)
		party_start(test, &parties[i], true);
	for (i = 0; i < BLOCKED; i++)
		KUNIT_EXPECT_TRUE_MSG(test, wait_within(READ_ONCE(parties[i].in_handler),
							1000), "party %d", i);
}

static void parties_go_on(struct kunit *test)
{
	int i;

	for (i = 0; i < BLOCKED; i++) {
		KUNIT_EXPECT_TRUE(test, parties[i].in_handler);
		KUNIT_EXPECT_EQ(test, parties[i].told, 0);
		party_end(&parties[i]);
		KUNIT_EXPECT_LE(test, parties[i].told, 1);
	}
}

static void others_are_told_meanwhile(struct kunit *test)
{
	parties_block(test);
	party_start(test, other, false);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(other->told) == 1, 1000));
	KUNIT_EXPECT_EQ(test, other->last, IW_CM_EVENT_CONNECT_REPLY);
	iw_report(other->cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(other->told) == 2, 1000));
	KUNIT_EXPECT_EQ(test, other->last, IW_CM_EVENT_CLOSE);
	party_end(other);
	parties_go_on(test);
}

struct ending {
	struct work_struct work;
	struct completion done;
};

static void end_other(struct work_struct *work)
{
	party_end(other);
	complete(&container_of(work, struct ending, work)->done);
}

/* Destruction waits only for the handler of its own id, and flushes nothing else. */
static void others_can_be_destroyed_meanwhile(struct kunit *test)
{
	struct ending ending;

	parties_block(test);
	party_start(test, other, false);
	INIT_WORK_ONSTACK(&ending.work, end_other);
	init_completion(&ending.done);
	schedule_work(&ending.work);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&ending.done, HZ), 0ul);
	parties_go_on(test);
	flush_work(&ending.work);
	destroy_work_on_stack(&ending.work);
}

static struct party asked;
static atomic_t refused;

/*
 * The handler of the first request blocks; the listener's other requests are delivered.
 */
static int listener_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	if (!cmpxchg(&asked.cm_id, NULL, cm_id)) {
		asked.in_handler = true;
		wait_for_completion(&asked.go_on);
		asked.in_handler = false;
	}
	atomic_inc(&refused);
	return -EBUSY;
}

static void requests_of_one_listener_are_told_meanwhile(struct kunit *test)
{
	int i;

	memset(&asked, 0, sizeof(asked));
	atomic_set(&refused, 0);
	init_completion(&asked.go_on);
	it.listener = iw_create_cm_id(&it.hca->ibdev, listener_handler, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, it.listener);
	KUNIT_ASSERT_EQ(test, iw_cm_listen(it.listener, 64), 0);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, iw_request("hi"), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&refused) == 19, 1000));
	KUNIT_EXPECT_TRUE(test, asked.in_handler);
	complete(&asked.go_on);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&refused) == 20, 1000));
}

/* Events of one id wait for one another. */
static void events_of_one_id_are_told_one_by_one(struct kunit *test)
{
	it.hca->iw_verb = NULL;
	party_start(test, other, true);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(other->in_handler), 1000));
	iw_report(other->cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	iw_quiesce();
	KUNIT_EXPECT_EQ(test, other->told, 0);
	complete(&other->go_on);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(other->told) == 1, 1000));
	KUNIT_EXPECT_EQ(test, other->last, IW_CM_EVENT_CONNECT_REPLY);
	party_end(other);
}

static size_t size_of(struct iw_cm_id *cm_id)
{
	return ksize(to_iwcm(cm_id));
}

/* Expects that @call succeeds, and allocates nothing in this task. */
#define needs_no_memory(test, call) do {				\
	current->fail_nth = 1;						\
	KUNIT_EXPECT_EQ(test, call, 0);					\
	KUNIT_EXPECT_EQ_MSG(test, current->fail_nth, 1, #call);		\
	current->fail_nth = 0;						\
} while (0)

/* Neither the listener nor the ids of its requests are larger for a larger backlog. */
static void memory_does_not_depend_on_the_backlog(struct kunit *test)
{
	static const int backlogs[] = { 1, 1024, 1 << 20 };
	size_t listener = 0, request = 0;
	int i, alive;

	for (i = 0; i < ARRAY_SIZE(backlogs); i++) {
		it.listener = iw_id();
		alive = iw_alive();
		needs_no_memory(test, iw_cm_listen(it.listener, backlogs[i]));
		KUNIT_EXPECT_EQ(test, iw_alive(), alive);
		KUNIT_ASSERT_EQ(test, iw_request("hi"), 0);
		KUNIT_ASSERT_TRUE(test, iw_wait("Q"));
		KUNIT_EXPECT_EQ(test, iw_alive(), alive + 1);
		listener = listener ?: size_of(it.listener);
		request = request ?: size_of(it.id);
		KUNIT_EXPECT_EQ(test, size_of(it.listener), listener);
		KUNIT_EXPECT_EQ(test, size_of(it.id), request);
		iw_destroy_cm_id(it.id);
		iw_destroy_cm_id(it.listener);
		it.id = NULL;
		it.listener = NULL;
		iw_forget();
	}
	kunit_info(test, "a connection or listener: %zu bytes of %zu", sizeof(struct iwcm_id),
		   request);
	KUNIT_EXPECT_LE(test, request, 1024);
}

/*
 * No call except iw_create_cm_id() can fail for lack of memory, nor can the end of a
 * connection.
 */
static void calls_need_no_memory(struct kunit *test)
{
	it.id = iw_id();
	needs_no_memory(test, iw_connect_id(it.id));
	needs_no_memory(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL));
	KUNIT_EXPECT_TRUE(test, iw_wait("P"));
	needs_no_memory(test, iw_cm_disconnect(it.id, 0));
	needs_no_memory(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL));
	KUNIT_EXPECT_TRUE(test, iw_wait("PC"));
	needs_no_memory(test, (iw_destroy_cm_id(it.id), 0));
	it.id = NULL;
	iw_let_go();

	iw_be(test, IWCM_CONN_RECV);
	needs_no_memory(test, iw_accept_id(it.id));
	needs_no_memory(test, iw_report(it.id, IW_CM_EVENT_ESTABLISHED, 0, NULL));
	KUNIT_EXPECT_TRUE(test, iw_wait("U"));
	needs_no_memory(test, (iw_destroy_cm_id(it.listener), 0));
	it.listener = NULL;
	needs_no_memory(test, (iw_destroy_cm_id(it.id), 0));
	it.id = NULL;
	iw_let_go();

	iw_be(test, IWCM_CONN_RECV);
	needs_no_memory(test, iw_cm_reject(it.id, "no", 3));
}

static struct kunit_case parallel_cases[] = {
	KUNIT_CASE(others_are_told_meanwhile),
	KUNIT_CASE(others_can_be_destroyed_meanwhile),
	KUNIT_CASE(requests_of_one_listener_are_told_meanwhile),
	KUNIT_CASE(events_of_one_id_are_told_one_by_one),
	KUNIT_CASE(memory_does_not_depend_on_the_backlog),
	KUNIT_CASE(calls_need_no_memory),
	{}
};

static struct kunit_suite iwcm_parallel_suite = {
	.name = "iw_cm_parallel",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = parallel_cases,
};

kunit_test_suite(iwcm_parallel_suite);
