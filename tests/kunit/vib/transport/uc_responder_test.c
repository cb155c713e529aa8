// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What an unreliable connection does with requests (IBA vol. 1, 9.8.2.2): it takes in whole
 * messages, says nothing, and drops the rest.
 */
#include "rc_pair.h"

static struct rc_pair pair;

#define OP(name)	IB_OPCODE_##name
#define REQ(...)	rc_pair_request(test, &pair, &(struct rc_pair_req){ __VA_ARGS__ })
#define MTU		PAIR_MTU

static int uc_init(struct kunit *test)
{
	int ret = rc_pair_init(test, &pair);

	if (!ret)
		rc_pair_open(test, &pair, &(struct rc_pair_want){ .type = IB_QPT_UC });
	return ret;
}

static void uc_exit(struct kunit *test)
{
	rc_pair_exit(&pair);
}

static void expect_wc(struct kunit *test, u64 wr_id, enum ib_wc_status status, u32 byte_len)
{
	struct ib_wc wc = rc_pair_wc(&pair);

	KUNIT_EXPECT_EQ(test, wc.wr_id, wr_id);
	KUNIT_EXPECT_EQ(test, wc.status, status);
	if (!status)
		KUNIT_EXPECT_EQ(test, wc.byte_len, byte_len);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, pair.peer.ib);
}

static void expect_nothing(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, rc_pair_wc(&pair).qp, NULL);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_RTS);
}

static void post_recvs(struct kunit *test, u64 first, int n)
{
	while (n--)
		KUNIT_ASSERT_EQ(test, rc_pair_recv(&pair, first++, PAIR_BUF), 0);
}

/* ---- the table ---- */

/* The rules, as 9.8.2.2 has them. */
static enum vib_responder_act rule(enum vib_seq seq, enum vib_rx_op op, enum vib_message message)
{
	bool follows = seq == VIB_SEQ_EXPECTED;

	switch (op) {
	case VIB_RX_SEND_FIRST:
	case VIB_RX_SEND_ONLY:
	case VIB_RX_WRITE_FIRST:
	case VIB_RX_WRITE_ONLY:
		return VIB_DO_EXECUTE;
	case VIB_RX_SEND_MIDDLE:
	case VIB_RX_SEND_LAST:
		return follows && message == VIB_MSG_SEND ? VIB_DO_EXECUTE : VIB_DO_ABANDON;
	case VIB_RX_WRITE_MIDDLE:
	case VIB_RX_WRITE_LAST:
		return follows && message == VIB_MSG_WRITE ? VIB_DO_EXECUTE : VIB_DO_ABANDON;
	default:
		return VIB_DO_ABANDON;
	}
}

static void each_cell_is_what_the_rules_say(struct kunit *test)
{
	int seq, op, message;

	for (seq = 0; seq < VIB_SEQS; seq++)
		for (op = 0; op < VIB_RX_OPS; op++)
			for (message = 0; message < VIB_MSGS; message++)
				KUNIT_EXPECT_EQ_MSG(test,
						    vib_responder_act(false, seq, op, message),
						    rule(seq, op, message), "%d %d %d", seq, op,
						    message);
}

/* ---- messages ---- */

static void messages_arrive_without_a_word(struct kunit *test)
{
	post_recvs(test, 1, 2);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU, .ack_req = true);
	REQ(.operation = OP(SEND_LAST_WITH_IMMEDIATE), .n = 1, .len = 9, .from = MTU, .ex = 3,
	    .ack_req = true);
	expect_wc(test, 1, IB_WC_SUCCESS, MTU + 9);
	KUNIT_EXPECT_MEMEQ(test, pair.in, pair.out, MTU + 9);
	REQ(.operation = OP(RDMA_WRITE_FIRST), .n = 2, .len = MTU, .dma_len = MTU + 1);
	REQ(.operation = OP(RDMA_WRITE_LAST), .n = 3, .len = 1, .from = MTU);
	KUNIT_EXPECT_MEMEQ(test, region_byte(&pair.region, 0), pair.out, MTU + 1);
	REQ(.operation = OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE), .n = 4, .ex = 4);
	expect_wc(test, 2, IB_WC_SUCCESS, 0);
	expect_nothing(test);
}

static void a_gap_loses_the_message(struct kunit *test)
{
	post_recvs(test, 1, 2);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	REQ(.operation = OP(SEND_MIDDLE), .n = 2, .len = MTU);
	REQ(.operation = OP(SEND_LAST), .n = 3, .len = 1);
	expect_nothing(test);
	KUNIT_EXPECT_EQ(test, rc_pair_dropped(&pair, VIB_DROP_SEQUENCE), 2);
	/* The receive request is the next message's. */
	REQ(.operation = OP(SEND_ONLY), .n = 9, .len = 3, .from = 40);
	expect_wc(test, 1, IB_WC_SUCCESS, 3);
	KUNIT_EXPECT_MEMEQ(test, pair.in, pair.out + 40, 3);
	REQ(.operation = OP(SEND_ONLY), .n = 10, .len = 3);
	expect_wc(test, 2, IB_WC_SUCCESS, 3);
	expect_nothing(test);
}

static void another_message_ends_one_that_has_no_end(struct kunit *test)
{
	post_recvs(test, 1, 1);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	REQ(.operation = OP(SEND_FIRST), .n = 1, .len = MTU, .from = 77);
	REQ(.operation = OP(SEND_LAST), .n = 2, .len = 1, .from = 77 + MTU);
	expect_wc(test, 1, IB_WC_SUCCESS, MTU + 1);
	KUNIT_EXPECT_MEMEQ(test, pair.in, pair.out + 77, MTU + 1);
	expect_nothing(test);
}

/* A WRITE without immediate data has no use for it. */
static void a_receive_that_was_taken_waits_for_its_message(struct kunit *test)
{
	post_recvs(test, 1, 1);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 5, .len = 1, .dma_len = 1);
	expect_nothing(test);
	REQ(.operation = OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE), .n = 6, .len = 1, .dma_len = 1);
	expect_wc(test, 1, IB_WC_SUCCESS, 1);
	expect_nothing(test);
}

static void without_a_receive_the_message_is_lost(struct kunit *test)
{
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	post_recvs(test, 1, 1);
	REQ(.operation = OP(SEND_LAST), .n = 1, .len = MTU);
	expect_nothing(test);
	KUNIT_EXPECT_EQ(test, rc_pair_dropped(&pair, VIB_DROP_NO_RECEIVE), 1);
	KUNIT_EXPECT_EQ(test, rc_pair_dropped(&pair, VIB_DROP_SEQUENCE), 1);
	REQ(.operation = OP(SEND_ONLY), .n = 2, .len = 2);
	expect_wc(test, 1, IB_WC_SUCCESS, 2);
}

/* ---- errors ---- */

static void a_mistake_of_the_peer_is_dropped(struct kunit *test)
{
	static const struct rc_pair_req reqs[] = {
		{ .operation = OP(SEND_FIRST), .len = MTU - 1 },
		{ .operation = OP(SEND_ONLY), .len = MTU + 1 },
		{ .operation = OP(RDMA_WRITE_ONLY), .len = 1, .dma_len = 2 },
		{ .operation = OP(RDMA_WRITE_ONLY), .len = 1, .dma_len = 1, .rkey = 0x77 },
		{ .operation = OP(RDMA_WRITE_FIRST), .len = MTU, .dma_len = REGION_LEN + 1 },
	};
	struct rc_pair_req req;
	u32 i;

	post_recvs(test, 1, 1);
	for (i = 0; i < ARRAY_SIZE(reqs); i++) {
		req = reqs[i];
		req.n = i;
		rc_pair_request(test, &pair, &req);
		expect_nothing(test);
	}
	KUNIT_EXPECT_EQ(test, rc_pair_dropped(&pair, VIB_DROP_REQUEST), i);
	REQ(.operation = OP(SEND_ONLY), .n = i, .len = 2);
	expect_wc(test, 1, IB_WC_SUCCESS, 2);
}

/* 9.9.3: a mistake of this side's consumer. */
static void a_receive_that_is_too_short_is_an_error(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, rc_pair_recv(&pair, 1, MTU), 0);
	post_recvs(test, 2, 1);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	REQ(.operation = OP(SEND_LAST), .n = 1, .len = 1);
	expect_wc(test, 1, IB_WC_LOC_LEN_ERR, 0);
	expect_wc(test, 2, IB_WC_WR_FLUSH_ERR, 0);
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

static void what_a_lost_message_had_taken_is_flushed(struct kunit *test)
{
	post_recvs(test, 1, 2);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	REQ(.operation = OP(SEND_LAST), .n = 5, .len = MTU);
	expect_nothing(test);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(pair.peer.ib, IB_QPS_ERR), 0);
	expect_wc(test, 1, IB_WC_WR_FLUSH_ERR, 0);
	expect_wc(test, 2, IB_WC_WR_FLUSH_ERR, 0);
}

static void the_first_packet_establishes_the_connection(struct kunit *test)
{
	rc_pair_close(&pair);
	rc_pair_open(test, &pair, &(struct rc_pair_want){ .type = IB_QPT_UC, .rtr = true });
	REQ(.operation = OP(SEND_LAST), .n = 0, .len = 1);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_COMM_EST), 0);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 1);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 2);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_COMM_EST), 1);
}

static struct kunit_case uc_cases[] = {
	KUNIT_CASE(each_cell_is_what_the_rules_say),
	KUNIT_CASE(messages_arrive_without_a_word),
	KUNIT_CASE(a_gap_loses_the_message),
	KUNIT_CASE(another_message_ends_one_that_has_no_end),
	KUNIT_CASE(a_receive_that_was_taken_waits_for_its_message),
	KUNIT_CASE(without_a_receive_the_message_is_lost),
	KUNIT_CASE(a_mistake_of_the_peer_is_dropped),
	KUNIT_CASE(a_receive_that_is_too_short_is_an_error),
	KUNIT_CASE(what_a_lost_message_had_taken_is_flushed),
	KUNIT_CASE(the_first_packet_establishes_the_connection),
	{}
};

static struct kunit_suite vib_uc_responder_suite = {
	.name = "vib_uc_responder",
	.init = uc_init,
	.exit = uc_exit,
	.test_cases = uc_cases,
};

kunit_test_suite(vib_uc_responder_suite);
