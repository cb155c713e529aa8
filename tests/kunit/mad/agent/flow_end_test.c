// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flow control: references at each step, and what happens to held requests when
 * the agent or the QP is removed, or memory runs out.
 */
#include "faults.h"
#include "flow.h"
#include "wait.h"

#define LONG_MS	600000

static int flow_end_init(struct kunit *test)
{
	return flow_setup(test, 2);
}

static void flow_end_exit(struct kunit *test)
{
	flow_teardown();
}

static struct ibmad_qp *asker_qp(void)
{
	return to_agent(flow.pair.asker.agent)->mqp;
}

static unsigned int send_refs(struct ib_mad_send_buf *buf)
{
	return refcount_read(&to_send(buf)->refs);
}

static void references_of_a_held_send(struct kunit *test)
{
	struct ib_mad_send_buf *first, *held;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	flow.pair.asker.hca->hold_send_completions = true;
	/* References of the registration, of the work request, and of the response. */
	first = flow_post(test, LONG_MS, 0);
	KUNIT_EXPECT_EQ(test, flow_refs(), 3u);
	/* Only the response's; on the send those of the owner and the timer. */
	held = flow_post(test, LONG_MS, 0);
	KUNIT_EXPECT_EQ(test, to_send(held)->state, IBMAD_HELD);
	KUNIT_EXPECT_EQ(test, flow_refs(), 4u);
	KUNIT_EXPECT_EQ(test, send_refs(held), 2u);
	fake_hca_release_completions(flow.pair.asker.hca);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, flow_refs(), 3u);
	/* The first request has ended, so the second one has a work request now. */
	flow.pair.asker.hca->hold_send_completions = true;
	KUNIT_EXPECT_EQ(test, ib_modify_mad(first, 0), 0);
	KUNIT_EXPECT_EQ(test, to_send(held)->state, IBMAD_SENDING);
	KUNIT_EXPECT_EQ(test, flow_refs(), 3u);
	KUNIT_EXPECT_EQ(test, send_refs(held), 1u);
	fake_hca_release_completions(flow.pair.asker.hca);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, to_send(held)->state, IBMAD_WAITING);
	KUNIT_EXPECT_EQ(test, flow_refs(), 2u);
	KUNIT_EXPECT_EQ(test, send_refs(held), 2u);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(held, 0), 0);
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
	flow_expect_all_done(test);
}

/* Held requests are cancelled without being started first. */
static void deregister_with_thousands_held(struct kunit *test)
{
	flow.pair.drop_requests = -1;
	flow_post_many(test, 5000, LONG_MS, 3);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 4998);
	flow_unregister();
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.sent), 5000);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.errors), 5000);
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.wire_requests), 2);
	KUNIT_EXPECT_FALSE(test, flow.disordered);
	flow_expect_all_done(test);
}

static void deregister_with_lost_completions(struct kunit *test)
{
	unsigned long start;

	flow.pair.drop_requests = -1;
	flow.pair.asker.hca->hold_send_completions = true;
	flow_post_many(test, 50, LONG_MS, 3);
	start = jiffies;
	flow_unregister();
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.sent), 50);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.wire_requests), 2);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start),
			IBMAD_DRAIN_MS + IBMAD_FLUSH_MS + 2000u);
	flow_expect_all_done(test);
}

/* A reset hands back the requests on the QP, also those that just took others' place. */
static void a_reset_goes_on_with_those_held(struct kunit *test)
{
	struct mad_side *asker = &flow.pair.asker;

	asker->hca->hold_send_completions = true;
	flow.pair.drop_requests = -1;
	flow_post_many(test, 20, 2000, 1);
	fake_hca_qp_event(asker_qp()->qp, IB_EVENT_QP_FATAL);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_GE(test, atomic_read(&asker->errors), 2);
	KUNIT_EXPECT_LE(test, atomic_read(&asker->errors), 4);
	KUNIT_EXPECT_EQ(test, asker->status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_SENDING), 2);
	flow.pair.drop_requests = 0;
	fake_hca_release_completions(asker->hca);
	flow_expect_all_done(test);
	KUNIT_EXPECT_EQ(test, asker->status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&asker->errors) + atomic_read(&asker->received),
			20);
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
}

/* Each of the held requests fails when it is started, however many there are. */
static void a_lost_qp_fails_all_that_are_held(struct kunit *test)
{
	flow.pair.asker.hca->hold_send_completions = true;
	flow.pair.drop_requests = -1;
	flow_post_many(test, 5000, LONG_MS, 0);
	mad_refuse_init(flow.pair.asker.hca);
	fake_hca_qp_event(asker_qp()->qp, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, 5000));
	KUNIT_EXPECT_EQ(test, asker_qp()->state, IBMAD_QP_DEAD);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.errors), 5000);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.wire_requests), 2);
	flow_expect_all_done(test);
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
	/* No credit is used and nothing is held, so the post itself fails. */
	KUNIT_EXPECT_EQ(test, mad_post(&flow.pair.asker, LONG_MS, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
}

/* The flow that was not used last stays while its held requests fail. */
static void a_lost_qp_under_two_flows(struct kunit *test)
{
	struct ib_ah *other = flow_ah(flow.pair.server.hca->port[1].lid + 1);
	struct ib_mad_send_buf *first;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	first = flow_post(test, LONG_MS, 0);
	flow_post_many(test, 3, LONG_MS, 0);
	flow_post_to(test, other, LONG_MS, 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, flow_known(), 2);
	mad_refuse_init(flow.pair.asker.hca);
	fake_hca_qp_event(asker_qp()->qp, IB_EVENT_QP_FATAL);
	KUNIT_ASSERT_TRUE(test, wait_within(asker_qp()->state == IBMAD_QP_DEAD, 5000));
	KUNIT_EXPECT_EQ(test, ib_modify_mad(first, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, 4));
	KUNIT_EXPECT_STREQ(test, flow.done, "abcd");
	KUNIT_EXPECT_EQ(test, flow_known(), 1);
	flow_unregister();
	flow_expect_all_done(test);
	rdma_destroy_ah(other, RDMA_DESTROY_AH_SLEEPABLE);
}

static void a_start_that_fails_lets_the_next_one_go(struct kunit *test)
{
	struct ib_mad_send_buf *first;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	first = flow_post(test, LONG_MS, 0);
	flow_post_many(test, 4, LONG_MS, 0);
	mad_quiesce(&flow.pair);
	atomic_set(&flow.pair.asker.hca->fail_post_send, 1);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(first, 0), 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_STREQ(test, flow.done, "ab");
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_STREQ(test, flow.wire, "ac");
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 1);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 2);
	/* References of the registration and of each of the three requests. */
	KUNIT_EXPECT_EQ(test, flow_refs(), 4u);
	flow_unregister();
	flow_expect_all_done(test);
}

/* A post that the provider refuses gives its credit back. */
static void a_refused_post_keeps_no_credit(struct kunit *test)
{
	int i;

	for (i = 0; i < 5; i++) {
		atomic_set(&flow.pair.asker.hca->fail_post_send, 1);
		KUNIT_EXPECT_EQ(test, mad_post(&flow.pair.asker, LONG_MS, 0), -ENOMEM);
		KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
	}
	flow_post_many(test, 2, 2000, 0);
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_HELD_BACK), 0);
	flow_expect_all_done(test);
}

/*
 * A work request with an error, and a send cancelled on the QP: each
 * completes once and gives its credit back once.
 */
static void a_failed_send_gives_its_credit_back(struct kunit *test)
{
	struct ib_mad_send_buf *first;

	ibmad_request_window = 1;
	flow.pair.asker.hca->send_status = IB_WC_LOC_QP_OP_ERR;
	flow_post(test, 2000, 0);
	flow.pair.asker.hca->send_status = IB_WC_SUCCESS;
	flow_post(test, 2000, 0);
	flow_expect_all_done(test);
	KUNIT_EXPECT_STREQ(test, flow.done, "ab");
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_SUCCESS);

	flow.pair.asker.hca->hold_send_completions = true;
	first = flow_post(test, 2000, 0);
	flow_post(test, 2000, 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(first, 0), 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_CANCELLED), 1);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 1);
	fake_hca_release_completions(flow.pair.asker.hca);
	flow_expect_all_done(test);
	KUNIT_EXPECT_STREQ(test, flow.done, "abcd");
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
}

static void without_memory_it_goes_without_credit(struct kunit *test)
{
	struct ib_mad_send_buf *buf = mad_request(&flow.pair.asker, 2000, 0);
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	flow.pair.drop_requests = 3;
	current->fail_nth = 1;
	i = ib_post_send_mad(buf, NULL);
	KUNIT_EXPECT_EQ(test, current->fail_nth, IBEX_NTH_SPENT);
	current->fail_nth = 0;
	KUNIT_ASSERT_EQ(test, i, 0);
	KUNIT_EXPECT_EQ(test, flow_known(), 0);
	/* Two with credit are sent in addition. */
	flow_post_many(test, 3, 2000, 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 3);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, 4));
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
}

static struct kunit_case flow_end_cases[] = {
	KUNIT_CASE(references_of_a_held_send),
	KUNIT_CASE(deregister_with_thousands_held),
	KUNIT_CASE(deregister_with_lost_completions),
	KUNIT_CASE(a_reset_goes_on_with_those_held),
	KUNIT_CASE(a_lost_qp_fails_all_that_are_held),
	KUNIT_CASE(a_lost_qp_under_two_flows),
	KUNIT_CASE(a_start_that_fails_lets_the_next_one_go),
	KUNIT_CASE(a_refused_post_keeps_no_credit),
	KUNIT_CASE(a_failed_send_gives_its_credit_back),
	KUNIT_CASE(without_memory_it_goes_without_credit),
	{}
};

static struct kunit_suite ibmad_flow_end_suite = {
	.name = "ib_mad_flow_end",
	.init = flow_end_init,
	.exit = flow_end_exit,
	.test_cases = flow_end_cases,
};

kunit_test_suite(ibmad_flow_end_suite);
