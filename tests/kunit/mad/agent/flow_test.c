// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Flow control: how many requests are sent, which is next, how long one is held. */
#include <ibex/mad_agent.h>
#include "flow.h"

#define NOBODY	0x7777	/* no adapter has this LID */
#define LONG_MS	600000

static int flow_test_init(struct kunit *test)
{
	return flow_setup(test, 4);
}

static void flow_test_exit(struct kunit *test)
{
	flow_teardown();
}

static void cancel(struct kunit *test, struct ib_mad_send_buf *buf)
{
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), 0);
	mad_quiesce(&flow.pair);
}

static void the_window_bounds_what_is_out(struct kunit *test)
{
	struct ib_mad_send_buf *first;

	flow.pair.drop_requests = -1;
	first = flow_post(test, LONG_MS, 0);
	flow_post_many(test, 9, LONG_MS, 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcd");
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 4);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 6);
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_HELD_BACK), 6);
	cancel(test, first);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcde");
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 4);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 5);
	flow_unregister();
	flow_expect_all_done(test);
}

static void what_is_taken_back_lets_the_next_go(struct kunit *test)
{
	struct ib_mad_send_buf *first;

	flow.pair.drop_requests = -1;
	first = flow_post(test, LONG_MS, 0);
	flow_post_many(test, 4, LONG_MS, 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcd");
	KUNIT_EXPECT_TRUE(test, ibmad_take_back(first));
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcde");
	/* It is the client's, who may post it again. */
	KUNIT_ASSERT_EQ(test, mad_post_buf(first), 0);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 4);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 1);
	flow_unregister();
	flow_expect_all_done(test);
}

static void all_are_answered_in_their_order(struct kunit *test)
{
	flow_post_many(test, 300, 2000, 3);
	flow_expect_all_done(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.errors), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.received), 300);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcdefghijklmnopqrstuvwxyz");
	KUNIT_EXPECT_FALSE(test, flow.disordered);
	KUNIT_EXPECT_EQ(test, flow.peak, 4);
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_RETRIES), 0);
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
}

static void a_dead_peer_holds_up_no_other(struct kunit *test)
{
	struct ib_ah *dead = flow_ah(NOBODY);
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(dead));
	for (i = 0; i < 10; i++)
		flow_post_to(test, dead, LONG_MS, 0);
	flow_post_many(test, 10, 2000, 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, 10));
	KUNIT_EXPECT_STREQ(test, flow.done, "klmnopqrst");
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 6);
	flow_unregister();
	flow_expect_all_done(test);
	rdma_destroy_ah(dead, RDMA_DESTROY_AH_SLEEPABLE);
}

/* A destination is known while it has outstanding requests; the last used one stays. */
static void destinations_come_and_go(struct kunit *test)
{
	struct ib_ah *ah[20];
	int i;

	for (i = 0; i < ARRAY_SIZE(ah); i++) {
		ah[i] = flow_ah(NOBODY + i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ah[i]));
	}
	for (i = 0; i < 5 * ARRAY_SIZE(ah); i++)
		flow_post_to(test, ah[i % ARRAY_SIZE(ah)], 1000, 0);
	KUNIT_EXPECT_EQ(test, flow_known(), ARRAY_SIZE(ah));
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), ARRAY_SIZE(ah));
	flow_expect_all_done(test);
	KUNIT_EXPECT_EQ(test, flow_known(), 1);
	/* Used one after the other, each destination replaces the one before. */
	for (i = 0; i < ARRAY_SIZE(ah); i++) {
		flow_post_to(test, ah[i], 100, 0);
		flow_expect_all_done(test);
		KUNIT_EXPECT_EQ(test, flow_known(), 1);
	}
	for (i = 0; i < ARRAY_SIZE(ah); i++)
		rdma_destroy_ah(ah[i], RDMA_DESTROY_AH_SLEEPABLE);
}

/* As for userspace, where each request has an address handle of its own. */
static void handles_to_one_destination_share_its_window(struct kunit *test)
{
	u16 lid = flow.pair.server.hca->port[1].lid;
	struct ib_ah *ah[20];
	int i;

	flow.pair.hold_responses = true;
	for (i = 0; i < ARRAY_SIZE(ah); i++) {
		ah[i] = flow_ah(lid);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ah[i]));
		flow_post_to(test, ah[i], LONG_MS, 0);
	}
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcd");
	KUNIT_EXPECT_EQ(test, flow_known(), 1);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), ARRAY_SIZE(ah) - 4);
	flow.pair.hold_responses = false;
	fake_hca_release_held(flow.pair.server.hca);
	flow_expect_all_done(test);
	KUNIT_EXPECT_EQ(test, flow.peak, 4);
	KUNIT_EXPECT_FALSE(test, flow.disordered);
	for (i = 0; i < ARRAY_SIZE(ah); i++)
		rdma_destroy_ah(ah[i], RDMA_DESTROY_AH_SLEEPABLE);
}

static void cancel_what_is_held(struct kunit *test)
{
	struct ib_mad_send_buf *buf[4];
	int i;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	for (i = 0; i < 4; i++)
		buf[i] = flow_post(test, LONG_MS, 3);
	mad_quiesce(&flow.pair);
	cancel(test, buf[1]);
	KUNIT_EXPECT_STREQ(test, flow.done, "b");
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, flow.pair.asker.retries, 0u);
	KUNIT_EXPECT_STREQ(test, flow.wire, "a");
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_CANCELS), 1);
	cancel(test, buf[0]);
	KUNIT_EXPECT_STREQ(test, flow.wire, "ac");
	cancel(test, buf[3]);
	cancel(test, buf[2]);
	KUNIT_EXPECT_STREQ(test, flow.done, "badc");
	KUNIT_EXPECT_STREQ(test, flow.wire, "ac");
	KUNIT_EXPECT_EQ(test, flow_refs(), 1u);
	flow_expect_all_done(test);
}

static void modify_what_is_held(struct kunit *test)
{
	struct ib_mad_send_buf *first, *held;
	unsigned long start;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	first = flow_post(test, LONG_MS, 0);
	held = flow_post(test, LONG_MS, 1);
	mad_quiesce(&flow.pair);
	start = jiffies;
	KUNIT_EXPECT_EQ(test, ib_modify_mad(held, 300), 0);
	KUNIT_EXPECT_EQ(test, held->timeout_ms, 300);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	mad_expect_ms(test, start, flow.pair.asker.completed, 600);
	/* A changed timeout still applies after the request has been sent. */
	held = flow_post(test, LONG_MS, 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(held, 2000), 0);
	start = jiffies;
	cancel(test, first);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, 3));
	mad_expect_ms(test, start, flow.pair.asker.completed, 2000);
	KUNIT_EXPECT_STREQ(test, flow.wire, "ac");
	flow_expect_all_done(test);
}

static void held_no_longer_than_it_could_have_waited(struct kunit *test)
{
	static const struct { int timeout_ms, retries; } times[] = {
		{ 100, 0 }, { 100, 2 }, { 250, 15 }, { 5000, 1 },
	};
	unsigned long start;
	int i;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	flow_post(test, LONG_MS, 0);
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		start = jiffies;
		flow_post(test, times[i].timeout_ms, times[i].retries);
		KUNIT_EXPECT_TRUE(test, mad_wait(&flow.pair.asker.sent, i + 1));
		KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
		KUNIT_EXPECT_EQ(test, flow.pair.asker.retries, 0u);
		mad_expect_ms(test, start, flow.pair.asker.completed,
			      times[i].timeout_ms * (1 + times[i].retries));
	}
	KUNIT_EXPECT_STREQ(test, flow.wire, "a");
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_TIMEOUTS), ARRAY_SIZE(times));
	KUNIT_EXPECT_EQ(test, flow_refs(), 2u);
}

static void the_longest_times_do_not_wrap(struct kunit *test)
{
	unsigned long days = msecs_to_jiffies(20 * 86400 * 1000U);
	struct ib_mad_send_buf *forever, *longest;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	flow_post(test, LONG_MS, 0);
	forever = flow_post(test, -1, 1);
	longest = flow_post(test, INT_MAX, 1);
	KUNIT_EXPECT_FALSE(test, timer_pending(&to_send(forever)->timer));
	KUNIT_EXPECT_TRUE(test, timer_pending(&to_send(longest)->timer));
	KUNIT_EXPECT_TRUE(test, time_after(to_send(longest)->deadline, jiffies + days));
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 2);
}

/* The timeout for the response starts when the request is sent. */
static void being_held_takes_no_time_from_the_wait(struct kunit *test)
{
	unsigned long start = jiffies;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	flow_post(test, 300, 0);
	flow_post(test, 1000, 0);
	flow_expect_all_done(test);
	KUNIT_EXPECT_STREQ(test, flow.wire, "ab");
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	mad_expect_ms(test, start, flow.pair.asker.completed, 1300);
}

static void retries_keep_their_credit(struct kunit *test)
{
	ibmad_request_window = 1;
	flow.pair.drop_requests = 4;
	flow_post(test, 100, 3);
	flow_post(test, 2000, 0);
	flow_expect_all_done(test);
	KUNIT_EXPECT_STREQ(test, flow.wire, "aaaab");
	KUNIT_EXPECT_STREQ(test, flow.done, "ab");
	KUNIT_EXPECT_EQ(test, flow.pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_TIMEOUTS), 1);
}

/* Sends without a timeout, responses, and MADs of the CM are not held. */
static const struct {
	u8 mgmt_class, method;
	u32 timeout_ms;
} not_held[] = {
	{ TEST_CLASS, IB_MGMT_METHOD_SEND, 0 },
	{ TEST_CLASS, IB_MGMT_METHOD_GET_RESP, LONG_MS },
	{ IB_MGMT_CLASS_CM, IB_MGMT_METHOD_SEND, LONG_MS },
};

static void only_requests_are_held(struct kunit *test)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;
	int i;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	flow.pair.drop_responses = -1;
	flow_post_many(test, 2, LONG_MS, 0);
	for (i = 0; i < 3 * ARRAY_SIZE(not_held); i++) {
		buf = mad_request(&flow.pair.asker, not_held[i / 3].timeout_ms, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
		hdr = buf->mad;
		hdr->mgmt_class = not_held[i / 3].mgmt_class;
		hdr->method = not_held[i / 3].method;
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
		KUNIT_EXPECT_EQ_MSG(test, flow_count(IBMAD_HELD_BACK), 1, "send %d", i);
	}
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.sent), 3);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 7);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 1);
}

/* An RMPP transfer has a window of its own. */
static void transfers_are_not_held(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_VENDOR_RANGE2_START,
		.mgmt_class_version = 1,
		.oui = { 0, 0x14, 0x05 },
	};
	struct ib_mad_agent *agent;
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;
	int i;

	ibmad_request_window = 1;
	agent = ib_register_mad_agent(&flow.pair.asker.hca->ibdev, 1, IB_QPT_GSI, &req,
				      IB_MGMT_RMPP_VERSION, mad_sent, mad_received,
				      &flow.pair.asker, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	for (i = 0; i < 3; i++) {
		buf = ib_create_send_mad(agent, 1, 0, 1, IB_MGMT_VENDOR_HDR, 1000,
					 GFP_KERNEL, IB_MGMT_BASE_VERSION);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
		hdr = buf->mad;
		hdr->mgmt_class = req.mgmt_class;
		hdr->method = IB_MGMT_METHOD_SET;
		hdr->tid = cpu_to_be64((u64)agent->hi_tid << 32 | i);
		buf->ah = flow.pair.asker.ah;
		buf->timeout_ms = LONG_MS;
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
		KUNIT_EXPECT_EQ(test, to_send(buf)->state, IBMAD_SENDING);
	}
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_HELD_BACK), 0);
	ib_unregister_mad_agent(agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.sent), 3);
}

static void without_a_window_nothing_is_held(struct kunit *test)
{
	ibmad_request_window = 0;
	flow.pair.drop_requests = -1;
	flow_post_many(test, 20, LONG_MS, 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 20);
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_HELD_BACK), 0);
	KUNIT_EXPECT_EQ(test, flow_known(), 0);
}

/* A new window applies to new posts, and to held requests when credit is given back. */
static void the_window_changes_while_some_are_held(struct kunit *test)
{
	struct ib_mad_send_buf *buf[20];
	int i;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	for (i = 0; i < 20; i++)
		buf[i] = flow_post(test, LONG_MS, 0);
	ibmad_request_window = 4;
	cancel(test, buf[0]);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcde");
	ibmad_request_window = 2;
	cancel(test, buf[1]);
	cancel(test, buf[2]);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcde");
	cancel(test, buf[3]);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcdef");
	ibmad_request_window = 0;
	cancel(test, buf[4]);
	KUNIT_EXPECT_STREQ(test, flow.wire, "abcdefghijklmnopqrst");
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_WAITING), 15);
	flow_unregister();
	flow_expect_all_done(test);
}

/* The server responds to a request that has not been sent yet. */
static void a_response_to_what_is_held_is_not_taken(struct kunit *test)
{
	struct ib_mad_send_buf *held, *answer;
	struct ib_ah *back;

	ibmad_request_window = 1;
	flow.pair.drop_requests = -1;
	back = mad_path(flow.pair.server.agent, flow.pair.asker.hca);
	KUNIT_ASSERT_FALSE(test, IS_ERR(back));
	flow_post(test, LONG_MS, 0);
	held = flow_post(test, LONG_MS, 0);
	answer = mad_request(&flow.pair.server, 0, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(answer));
	memcpy(answer->mad, held->mad, IB_MGMT_MAD_SIZE);
	((struct ib_mad_hdr *)answer->mad)->method |= IB_MGMT_METHOD_RESP;
	answer->ah = back;
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(answer, NULL), 0);
	mad_quiesce(&flow.pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&flow.pair.asker.received), 0);
	KUNIT_EXPECT_EQ(test, flow_count(IBMAD_RECV_UNMATCHED), 1);
	KUNIT_EXPECT_EQ(test, flow_in_state(IBMAD_HELD), 1);
	flow_unregister();
	flow_expect_all_done(test);
	rdma_destroy_ah(back, RDMA_DESTROY_AH_SLEEPABLE);
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(the_window_bounds_what_is_out),
	KUNIT_CASE(what_is_taken_back_lets_the_next_go),
	KUNIT_CASE(all_are_answered_in_their_order),
	KUNIT_CASE(a_dead_peer_holds_up_no_other),
	KUNIT_CASE(destinations_come_and_go),
	KUNIT_CASE(handles_to_one_destination_share_its_window),
	KUNIT_CASE(cancel_what_is_held),
	KUNIT_CASE(modify_what_is_held),
	KUNIT_CASE_SLOW(held_no_longer_than_it_could_have_waited),
	KUNIT_CASE(the_longest_times_do_not_wrap),
	KUNIT_CASE(being_held_takes_no_time_from_the_wait),
	KUNIT_CASE(retries_keep_their_credit),
	KUNIT_CASE(only_requests_are_held),
	KUNIT_CASE(transfers_are_not_held),
	KUNIT_CASE(without_a_window_nothing_is_held),
	KUNIT_CASE(the_window_changes_while_some_are_held),
	KUNIT_CASE(a_response_to_what_is_held_is_not_taken),
	{}
};

static struct kunit_suite ibmad_flow_suite = {
	.name = "ib_mad_flow",
	.init = flow_test_init,
	.exit = flow_test_exit,
	.test_cases = flow_cases,
};

kunit_test_suite(ibmad_flow_suite);
