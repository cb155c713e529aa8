// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sends: their state table, responses, timeouts, cancellation, lost completions. */
#include "faults.h"
#include "mad/mad_test.h"
#include "wait.h"

static struct mad_pair pair;

static int send_test_init(struct kunit *test)
{
	return mad_pair_init(test, &pair, IB_LINK_LAYER_INFINIBAND);
}

static void send_test_exit(struct kunit *test)
{
	mad_pair_exit(&pair);
}

static unsigned int asker_refs(void)
{
	return refcount_read(&to_agent(pair.asker.agent)->refs);
}

static bool asker_has_sends(void)
{
	return !list_empty(&to_agent(pair.asker.agent)->sends);
}

static struct ibmad_qp *asker_qp(void)
{
	return to_agent(pair.asker.agent)->mqp;
}

/* The state after a state and an event; -1: the event cannot occur in that state. */
static const s8 expected_next[IBMAD_NR_STATES][IBMAD_NR_EVENTS] = {
	/*   CREDIT SENT EXPECT FAILED RESPONSE TIMEOUT EXPIRED CANCEL REFUSED */
	[IBMAD_IDLE]	  = { -1, -1, -1, -1, -1, -1, -1, -1, -1 },
	[IBMAD_HELD]	  = { IBMAD_SENDING, -1, -1, -1, -1, -1, IBMAD_DONE,
			      IBMAD_DONE, -1 },
	[IBMAD_SENDING]	  = { -1, IBMAD_DONE, IBMAD_WAITING, IBMAD_DONE, IBMAD_ANSWERED,
			      -1, -1, IBMAD_CANCELLED, IBMAD_REFUSED },
	[IBMAD_WAITING]	  = { -1, -1, -1, -1, IBMAD_DONE, IBMAD_SENDING, IBMAD_DONE,
			      IBMAD_DONE, IBMAD_DONE },
	[IBMAD_ANSWERED]  = { -1, IBMAD_DONE, IBMAD_DONE, IBMAD_DONE, -1, -1, -1, -1, -1 },
	[IBMAD_CANCELLED] = { -1, IBMAD_DONE, IBMAD_DONE, IBMAD_DONE, -1, -1, -1, -1, -1 },
	[IBMAD_REFUSED]	  = { -1, IBMAD_DONE, IBMAD_DONE, IBMAD_DONE, -1, -1, -1, -1, -1 },
	[IBMAD_DONE]	  = { -1, -1, -1, -1, -1, -1, -1, -1, -1 },
};

static void every_state_and_event(struct kunit *test)
{
	const struct ibmad_send_step *step;
	int s, e;

	for (s = 0; s < IBMAD_NR_STATES; s++) {
		for (e = 0; e < IBMAD_NR_EVENTS; e++) {
			step = ibmad_send_step(s, e);
			KUNIT_EXPECT_EQ_MSG(test, step ? step->next : -1,
					    expected_next[s][e], "state %d, event %d",
					    s, e);
			/* A client gets exactly one status for a send. */
			if (step && step->next == IBMAD_DONE)
				KUNIT_EXPECT_TRUE_MSG(test,
						      step->action == IBMAD_ACT_SUCCEED ||
						      step->action == IBMAD_ACT_FAIL ||
						      step->action == IBMAD_ACT_REFUSE ||
						      step->action == IBMAD_ACT_EXPIRE ||
						      step->action == IBMAD_ACT_FLUSH,
						      "state %d, event %d", s, e);
		}
	}
}

static unsigned int refs_seen;

static void look_at_refs(struct fake_hca *hca)
{
	hca->on_query_ah = NULL;
	refs_seen = refcount_read(&to_agent(pair.asker.agent)->refs);
}

/* A post holds the agent, so deregistration waits before the device is removed. */
static void posting_holds_the_agent(struct kunit *test)
{
	pair.asker.hca->on_query_ah = look_at_refs;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_NULL(test, pair.asker.hca->on_query_ah);
	/* References of the registration, the response, and the post. */
	KUNIT_EXPECT_EQ(test, refs_seen, 3u);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(pair.asker.agent)->refs), 1u);
}

static void a_response_then_the_completion(struct kunit *test)
{
	int i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
		KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, i));
		KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, pair.asker.retries, 0u);
	}
	KUNIT_EXPECT_STREQ(test, pair.asker.order, "RSRSRS");
	KUNIT_EXPECT_NOT_NULL(test, pair.asker.matched);
	KUNIT_EXPECT_STREQ(test, pair.server.order, "RRR");
	KUNIT_EXPECT_NULL(test, pair.server.matched);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
	KUNIT_EXPECT_FALSE(test, asker_has_sends());
	/* Responses take no room in the inbox, which is for unsolicited MADs. */
	KUNIT_EXPECT_EQ(test, atomic_read(&to_agent(pair.asker.agent)->inbox_recvs), 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_SENT), 3);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_RECEIVED), 3);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.server.agent, IBMAD_RECEIVED), 3);
}

static void without_a_timeout_nothing_is_awaited(struct kunit *test)
{
	pair.server.answers = false;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.server.received, 1));
	/* A response to a send without a timeout is not matched. */
	pair.server.answers = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.server.received, 2));
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_RECV_UNMATCHED), 1);
}

static void each_retry_takes_its_time(struct kunit *test)
{
	static const struct {
		u32 timeout_ms;
		int retries;
	} tries[] = {
		{ 100, 0 }, { 100, 1 }, { 60, 3 }, { 1000, 2 }, { 250, 15 }, { 30000, 1 },
	};
	unsigned long start;
	int i;

	pair.drop_requests = -1;
	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		atomic_set(&pair.wire_requests, 0);
		start = jiffies;
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, tries[i].timeout_ms,
					       tries[i].retries), 0);
		KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, i + 1));
		KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
		KUNIT_EXPECT_EQ(test, pair.asker.retries, tries[i].retries);
		KUNIT_EXPECT_EQ(test, atomic_read(&pair.wire_requests),
				tries[i].retries + 1);
		mad_expect_ms(test, start, pair.asker.completed,
			      tries[i].timeout_ms * (tries[i].retries + 1));
	}
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_TIMEOUTS), ARRAY_SIZE(tries));
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_RETRIES), 22);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
}

static void lost_requests_are_sent_again(struct kunit *test)
{
	unsigned long start = jiffies;

	pair.drop_requests = 2;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 200, 5), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, pair.asker.retries, 2u);
	mad_expect_ms(test, start, pair.asker.completed, 400);
	KUNIT_EXPECT_STREQ(test, pair.asker.order, "RS");
}

static void lost_responses_are_asked_for_again(struct kunit *test)
{
	pair.drop_responses = 1;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 200, 5), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.retries, 1u);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), 2);
	KUNIT_EXPECT_STREQ(test, pair.asker.order, "RS");
}

static void a_late_response_is_dropped(struct kunit *test)
{
	pair.hold_responses = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100, 1), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	fake_hca_release_held(pair.server.hca);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_RECV_UNMATCHED), 2);
}

static void a_duplicate_response_is_dropped(struct kunit *test)
{
	pair.duplicate = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	mad_quiesce(&pair);
	/* Two requests, two responses each. */
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.received), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), 1);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_RECV_UNMATCHED), 3);
}

static void a_response_before_the_work_request_completes(struct kunit *test)
{
	pair.asker.hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 500, 3), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.received, 1));
	msleep(1000);
	/* The response was received, but the provider still owns the buffer. */
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 0);
	KUNIT_EXPECT_EQ(test, asker_refs(), 2u);
	KUNIT_EXPECT_TRUE(test, asker_has_sends());
	fake_hca_release_completions(pair.asker.hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.wire_requests), 1);
	KUNIT_EXPECT_STREQ(test, pair.asker.order, "RS");
}

static void references_at_each_step(struct kunit *test)
{
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 300, 1);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	pair.drop_requests = -1;
	pair.asker.keep_sends = true;
	pair.asker.hca->hold_send_completions = true;
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	/* References of the registration, the work request, and the response. */
	KUNIT_EXPECT_EQ(test, asker_refs(), 3u);
	KUNIT_EXPECT_EQ(test, to_send(buf)->state, IBMAD_SENDING);
	KUNIT_EXPECT_EQ(test, asker_qp()->inflight, 1u);
	fake_hca_release_completions(pair.asker.hca);
	msleep(50);
	KUNIT_EXPECT_EQ(test, to_send(buf)->state, IBMAD_WAITING);
	KUNIT_EXPECT_EQ(test, asker_refs(), 2u);
	KUNIT_EXPECT_EQ(test, asker_qp()->inflight, 0u);
	/* References of the owner and of the timer. */
	KUNIT_EXPECT_EQ(test, refcount_read(&to_send(buf)->refs), 2u);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, to_send(buf)->state, IBMAD_IDLE);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_send(buf)->refs), 1u);

	/* The buffer can be posted again. */
	pair.drop_requests = 0;
	buf->retries = 1;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	ib_free_send_mad(buf);
}

static void cancel_a_waiting_send(struct kunit *test)
{
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 10000, 1);
	unsigned long start = jiffies;

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	pair.drop_requests = -1;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	mad_quiesce(&pair);
	pair.asker.keep_sends = true;
	ib_cancel_mad(buf);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_LT(test, took_ms(pair.asker.completed - start), 1000u);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
	/* Cancelling again fails and has no effect. */
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 100), -EINVAL);
	msleep(50);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 1);
	ib_free_send_mad(buf);
}

static void cancel_a_send_on_the_queue(struct kunit *test)
{
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 10000, 1);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	pair.drop_requests = -1;
	pair.asker.hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), 0);
	msleep(500);
	/* The provider may still read it. */
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 0);
	KUNIT_EXPECT_EQ(test, asker_refs(), 2u);
	fake_hca_release_completions(pair.asker.hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
}

static void modify_what_is_waited_for(struct kunit *test)
{
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 60000, 0);
	unsigned long start;

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	pair.drop_requests = -1;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	mad_quiesce(&pair);
	start = jiffies;
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 300), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	mad_expect_ms(test, start, pair.asker.completed, 300);

	buf = mad_request(&pair.asker, 100, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	start = jiffies;
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 2000), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	mad_expect_ms(test, start, pair.asker.completed, 2000);
}

/* A timer that fired for the previous wait does nothing to the current one. */
static void a_timer_that_fires_late(struct kunit *test)
{
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 1000, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	pair.asker.keep_sends = true;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	mad_fire_late(to_send(buf));
	pair.drop_requests = -1;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	mad_quiesce(&pair);
	mad_fire_late(to_send(buf));
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, to_send(buf)->state, IBMAD_WAITING);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 1);
	/* The timer of the current wait fires in time. */
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_send(buf)->refs), 1u);
	ib_free_send_mad(buf);
}

static void a_send_error_reaches_its_sender(struct kunit *test)
{
	pair.asker.hca->send_status = IB_WC_LOC_QP_OP_ERR;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 3), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 1);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
	/* The port still works. */
	pair.asker.hca->send_status = IB_WC_SUCCESS;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 3), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
}

static void a_refused_post_leaves_nothing(struct kunit *test)
{
	struct ib_mad_send_buf *bad = NULL, *buf = mad_request(&pair.asker, 100, 2);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	atomic_set(&pair.asker.hca->fail_post_send, 1);
	KUNIT_EXPECT_LT(test, ib_post_send_mad(buf, &bad), 0);
	KUNIT_EXPECT_PTR_EQ(test, bad, buf);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
	KUNIT_EXPECT_FALSE(test, asker_has_sends());
	KUNIT_EXPECT_EQ(test, buf->retries, 2);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
}

static int create_error(int rmpp, int hdr_len, int data_len)
{
	struct ib_mad_send_buf *buf;

	buf = ib_create_send_mad(pair.asker.agent, 1, 0, rmpp, hdr_len, data_len,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ib_free_send_mad(buf);
	return 0;
}

static void bad_sends_are_refused(struct kunit *test)
{
	struct ib_mad_send_buf *buf = mad_request(&pair.asker, 100, 2);
	struct ib_ah *ah;

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	ah = buf->ah;
	buf->ah = NULL;
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(buf, NULL), -EINVAL);
	buf->ah = ah;
	ib_free_send_mad(buf);
	KUNIT_EXPECT_EQ(test, create_error(0, IB_MGMT_MAD_HDR, 233), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(0, 8, 100), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(0, IB_MGMT_MAD_HDR, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_error(1, IB_MGMT_RMPP_HDR, 100), -EINVAL);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
}

/* Posts beyond the send queue's depth wait in the backlog, and none is lost. */
static void a_backlog_is_worked_off(struct kunit *test)
{
	int i, n = 250;

	pair.asker.hca->hold_send_completions = true;
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 20000, 0), 0);
	KUNIT_EXPECT_LE(test, asker_qp()->inflight, SEND_DEPTH);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_BACKLOGGED),
			n - SEND_DEPTH);
	fake_hca_release_completions(pair.asker.hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, n));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), n);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
}

static void unregister_asker(void)
{
	struct ib_mad_agent *agent = pair.asker.agent;

	pair.asker.agent = NULL;
	ib_unregister_mad_agent(agent);
}

static void deregister_with_waiting_sends(struct kunit *test)
{
	unsigned long start;
	int i;

	pair.drop_requests = -1;
	for (i = 0; i < 20; i++)
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100000, 5), 0);
	mad_quiesce(&pair);
	start = jiffies;
	unregister_asker();
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 20);
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 1000u);
}

static void deregister_with_posted_sends(struct kunit *test)
{
	int i;

	for (i = 0; i < 20; i++)
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100000, 5), 0);
	unregister_asker();
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 20);
}

/* A provider that never completes anything delays deregistration by a bounded time. */
static void deregister_with_lost_completions(struct kunit *test)
{
	unsigned long start;
	int i, n = SEND_DEPTH + 20;

	pair.drop_requests = -1;
	pair.asker.hca->hold_send_completions = true;
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 1), 0);
	start = jiffies;
	unregister_asker();
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), n);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), n);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start),
			IBMAD_DRAIN_MS + IBMAD_FLUSH_MS + 2000u);
}

/* Without a deregistration the watch of the send queue ends the stall. */
static void a_stalled_queue_is_reset(struct kunit *test)
{
	pair.asker.hca->hold_send_completions = true;
	pair.drop_requests = 1;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 1);
	KUNIT_EXPECT_GE(test, mad_counter(pair.asker.agent, IBMAD_QP_RESETS), 1);
	pair.asker.hca->hold_send_completions = false;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
}

static int exchange_once(struct kunit *test)
{
	int sent = atomic_read(&pair.asker.sent);
	int ret = mad_post(&pair.asker, 500, 1);

	if (ret)
		return ret;
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, sent + 1));
	return pair.asker.status ? -EIO : 0;
}

static void an_exchange_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, exchange_once), 1u);
	KUNIT_EXPECT_EQ(test, asker_refs(), 1u);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE(every_state_and_event),
	KUNIT_CASE(posting_holds_the_agent),
	KUNIT_CASE(a_response_then_the_completion),
	KUNIT_CASE(without_a_timeout_nothing_is_awaited),
	KUNIT_CASE_SLOW(each_retry_takes_its_time),
	KUNIT_CASE(lost_requests_are_sent_again),
	KUNIT_CASE(lost_responses_are_asked_for_again),
	KUNIT_CASE(a_late_response_is_dropped),
	KUNIT_CASE(a_duplicate_response_is_dropped),
	KUNIT_CASE(a_response_before_the_work_request_completes),
	KUNIT_CASE(references_at_each_step),
	KUNIT_CASE(cancel_a_waiting_send),
	KUNIT_CASE(cancel_a_send_on_the_queue),
	KUNIT_CASE(modify_what_is_waited_for),
	KUNIT_CASE(a_timer_that_fires_late),
	KUNIT_CASE(a_send_error_reaches_its_sender),
	KUNIT_CASE(a_refused_post_leaves_nothing),
	KUNIT_CASE(bad_sends_are_refused),
	KUNIT_CASE(a_backlog_is_worked_off),
	KUNIT_CASE(deregister_with_waiting_sends),
	KUNIT_CASE(deregister_with_posted_sends),
	KUNIT_CASE(deregister_with_lost_completions),
	KUNIT_CASE_SLOW(a_stalled_queue_is_reset),
	KUNIT_CASE(an_exchange_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibmad_send_suite = {
	.name = "ib_mad_send",
	.init = send_test_init,
	.exit = send_test_exit,
	.test_cases = send_cases,
};

kunit_test_suite(ibmad_send_suite);
