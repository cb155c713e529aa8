// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA READs and atomics at a responder: responses, their order, duplicates, and how many there
 * may be (IBA vol. 1, 9.4.4, 9.4.5, 9.7.5.1.3, 9.7.5.1.4).
 */
#include "rc_pair.h"

static struct rc_pair pair;

#define OP(name)	IB_OPCODE_##name
#define REQ(...)	rc_pair_request(test, &pair, &(struct rc_pair_req){ __VA_ARGS__ })
#define READ_REQ(...)	REQ(.operation = OP(RDMA_READ_REQUEST), __VA_ARGS__)
#define WRITE_REQ(...)	REQ(.operation = OP(RDMA_WRITE_ONLY), __VA_ARGS__)
#define MTU		PAIR_MTU

static int read_init(struct kunit *test)
{
	u32 i;
	int ret = rc_pair_init(test, &pair);

	if (ret)
		return ret;
	for (i = 0; i < REGION_LEN; i++)
		*region_byte(&pair.region, i) = i * 7;
	return 0;
}

static void read_exit(struct kunit *test)
{
	rc_pair_exit(&pair);
}

static void open_rc(struct kunit *test)
{
	rc_pair_open(test, &pair, &(struct rc_pair_want){});
}

static bool data_is(const struct rc_pair_reply *reply, u32 at)
{
	u8 data[MTU];
	u32 i;

	if (reply->len > MTU || !vib_packet_read(reply->pkt, 0, data, reply->len))
		return false;
	for (i = 0; i < reply->len; i++)
		if (data[i] != *region_byte(&pair.region, at + i))
			return false;
	return true;
}

static u8 response_operation(u32 i, u32 last)
{
	if (i == last)
		return i ? OP(RDMA_READ_RESPONSE_LAST) : OP(RDMA_READ_RESPONSE_ONLY);
	return i ? OP(RDMA_READ_RESPONSE_MIDDLE) : OP(RDMA_READ_RESPONSE_FIRST);
}

/* The next replies are the responses of a READ of @len bytes at @at, from RQ(@n) on. */
static void expect_read(struct kunit *test, u32 n, u32 at, u32 len, u32 msn)
{
	u32 last = len ? (len - 1) / MTU : 0, i;
	struct rc_pair_reply reply;

	for (i = 0; i <= last; i++) {
		KUNIT_ASSERT_TRUE(test, rc_pair_reply(&pair, &reply));
		KUNIT_EXPECT_EQ(test, reply.operation, response_operation(i, last));
		KUNIT_EXPECT_EQ(test, reply.psn, RQ(n + i));
		KUNIT_EXPECT_EQ(test, reply.len, min_t(u32, MTU, len - i * MTU));
		KUNIT_EXPECT_TRUE(test, data_is(&reply, at + i * MTU));
		if (reply.operation == OP(RDMA_READ_RESPONSE_MIDDLE))
			continue;
		KUNIT_EXPECT_EQ(test, reply.syndrome, VIB_AETH_UNLIMITED);
		KUNIT_EXPECT_EQ(test, reply.msn, msn);
	}
}

static void expect_atomic(struct kunit *test, u32 n, u64 value, u32 msn)
{
	struct rc_pair_reply reply;

	KUNIT_ASSERT_TRUE(test, rc_pair_reply(&pair, &reply));
	KUNIT_EXPECT_EQ(test, reply.operation, OP(ATOMIC_ACKNOWLEDGE));
	KUNIT_EXPECT_EQ(test, reply.psn, RQ(n));
	KUNIT_EXPECT_EQ(test, reply.syndrome, VIB_AETH_UNLIMITED);
	KUNIT_EXPECT_EQ(test, reply.msn, msn);
	KUNIT_EXPECT_EQ(test, reply.value, value);
}

static void expect_refused(struct kunit *test, u32 n, u8 syndrome)
{
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, n, syndrome));
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

static u64 *word(u32 at)
{
	return (u64 *)region_byte(&pair.region, at);
}

/* ---- READ ---- */

static void a_read_of_any_length_is_answered(struct kunit *test)
{
	static const u32 lens[] = {
		0, 1, MTU - 1, MTU, MTU + 1, 2 * MTU, 2 * MTU + 1, 7 * MTU + 3, REGION_LEN - 5,
	};
	u32 n = 0, i;

	open_rc(test);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		READ_REQ(.n = n, .at = 5, .dma_len = lens[i]);
		expect_read(test, n, 5, lens[i], i + 1);
		n += max(DIV_ROUND_UP(lens[i], MTU), 1U);
		KUNIT_EXPECT_EQ(test, pair.resp->psn, RQ(n));
	}
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

static void a_read_is_checked(struct kunit *test)
{
	open_rc(test);
	READ_REQ(.n = 0, .rkey = 0x77);
	expect_read(test, 0, 0, 0, 1);
	READ_REQ(.n = 1, .at = REGION_LEN - MTU, .dma_len = MTU + 1);
	expect_refused(test, 1, IB_NAK_REMOTE_ACCESS_ERROR);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_ACCESS_ERR), 1);
	rc_pair_close(&pair);

	open_rc(test);
	READ_REQ(.n = 0, .dma_len = MTU, .len = 1);
	expect_refused(test, 0, IB_NAK_INVALID_REQUEST);
	rc_pair_close(&pair);

	open_rc(test);
	READ_REQ(.n = 0, .dma_len = VIB_MAX_MSG + 1);
	/* It is beyond the region as well, which is looked at first. */
	expect_refused(test, 0, IB_NAK_REMOTE_ACCESS_ERROR);
}

/* Its responses are made one by one, as the port takes them. */
static void a_read_goes_on_when_there_is_room(struct kunit *test)
{
	open_rc(test);
	rc_pair_stop_port(&pair);
	READ_REQ(.n = 0, .dma_len = 3 * MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	/* What is read is what is there then. */
	*region_byte(&pair.region, 0) = 0x99;
	rc_pair_start_port(&pair);
	expect_read(test, 0, 0, 3 * MTU, 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

/* A response acknowledges what is before it (9.7.5.1.2). */
static void replies_are_in_order(struct kunit *test)
{
	open_rc(test);
	*word(64) = 5;
	rc_pair_stop_port(&pair);
	WRITE_REQ(.n = 0, .at = 4096, .len = 4, .dma_len = 4);
	READ_REQ(.n = 1, .dma_len = 2 * MTU);
	WRITE_REQ(.n = 3, .at = 4096, .len = 4, .dma_len = 4);
	REQ(.operation = OP(FETCH_ADD), .n = 4, .at = 64, .swap_add = 1);
	WRITE_REQ(.n = 5, .at = 4096, .len = 4, .dma_len = 4);
	WRITE_REQ(.n = 6, .at = 4096, .len = 4, .dma_len = 4);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	rc_pair_start_port(&pair);
	expect_read(test, 1, 0, 2 * MTU, 2);
	expect_atomic(test, 4, 5, 4);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 6, 6));
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

/* A request that fails does not have those before it fail (9.9.3). */
static void a_nak_comes_after_the_responses_before_it(struct kunit *test)
{
	open_rc(test);
	rc_pair_stop_port(&pair);
	READ_REQ(.n = 0, .dma_len = 2 * MTU);
	WRITE_REQ(.n = 2, .rkey = 0x77, .len = 4, .dma_len = 4);
	KUNIT_EXPECT_NE(test, rc_pair_state(&pair), IB_QPS_ERR);
	/* Nothing more is taken in. */
	WRITE_REQ(.n = 2, .len = 4, .dma_len = 4);
	KUNIT_EXPECT_EQ(test, pair.resp->psn, RQ(2));
	rc_pair_start_port(&pair);
	expect_read(test, 0, 0, 2 * MTU, 1);
	expect_refused(test, 2, IB_NAK_REMOTE_ACCESS_ERROR);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_ACCESS_ERR), 1);
}

static void in_error_no_data_is_sent(struct kunit *test)
{
	open_rc(test);
	rc_pair_stop_port(&pair);
	READ_REQ(.n = 0, .dma_len = 2 * MTU);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(pair.peer.ib, IB_QPS_ERR), 0);
	rc_pair_start_port(&pair);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

/* ---- atomics ---- */

static void atomics_change_memory_and_tell_what_was_there(struct kunit *test)
{
	open_rc(test);
	*word(8) = 0x1122334455667788ULL;
	REQ(.operation = OP(FETCH_ADD), .n = 0, .at = 8, .swap_add = 0x10);
	expect_atomic(test, 0, 0x1122334455667788ULL, 1);
	KUNIT_EXPECT_EQ(test, *word(8), 0x1122334455667798ULL);
	REQ(.operation = OP(COMPARE_SWAP), .n = 1, .at = 8, .compare = 1, .swap_add = 2);
	expect_atomic(test, 1, 0x1122334455667798ULL, 2);
	KUNIT_EXPECT_EQ(test, *word(8), 0x1122334455667798ULL);
	REQ(.operation = OP(COMPARE_SWAP), .n = 2, .at = 8, .compare = 0x1122334455667798ULL,
	    .swap_add = 2);
	expect_atomic(test, 2, 0x1122334455667798ULL, 3);
	KUNIT_EXPECT_EQ(test, *word(8), 2);
	REQ(.operation = OP(FETCH_ADD), .n = 3, .at = 8, .swap_add = -3ULL);
	expect_atomic(test, 3, 2, 4);
	KUNIT_EXPECT_EQ(test, *word(8), -1ULL);
}

static void an_atomic_is_checked(struct kunit *test)
{
	static const struct rc_pair_req reqs[] = {
		{ .operation = OP(FETCH_ADD), .at = 4 },
		{ .operation = OP(FETCH_ADD), .len = 8 },
		{ .operation = OP(FETCH_ADD), .rkey = 0x77 },
		{ .operation = OP(COMPARE_SWAP), .at = REGION_LEN },
	};
	static const u8 syndromes[] = {
		IB_NAK_INVALID_REQUEST, IB_NAK_INVALID_REQUEST, IB_NAK_REMOTE_ACCESS_ERROR,
		IB_NAK_REMOTE_ACCESS_ERROR,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(reqs); i++) {
		open_rc(test);
		rc_pair_request(test, &pair, &reqs[i]);
		expect_refused(test, 0, syndromes[i]);
		rc_pair_close(&pair);
	}
}

/* ---- duplicates ---- */

static void a_duplicate_of_a_read_reads_again(struct kunit *test)
{
	open_rc(test);
	READ_REQ(.n = 0, .dma_len = 3 * MTU);
	expect_read(test, 0, 0, 3 * MTU, 1);
	WRITE_REQ(.n = 3);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 3, 2));
	*region_byte(&pair.region, 1) = 0x99;
	READ_REQ(.n = 0, .dma_len = 3 * MTU);
	expect_read(test, 0, 0, 3 * MTU, 1);
	/* The requester has the first response. */
	READ_REQ(.n = 1, .at = MTU, .dma_len = 2 * MTU);
	expect_read(test, 1, MTU, 2 * MTU, 1);
	READ_REQ(.n = 2, .at = 2 * MTU, .dma_len = MTU);
	expect_read(test, 2, 2 * MTU, MTU, 1);
	KUNIT_EXPECT_EQ(test, pair.resp->psn, RQ(4));
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

static void a_duplicate_of_an_atomic_is_not_executed(struct kunit *test)
{
	int i;

	open_rc(test);
	*word(0) = 7;
	REQ(.operation = OP(FETCH_ADD), .n = 0, .swap_add = 1);
	expect_atomic(test, 0, 7, 1);
	for (i = 0; i < 3; i++) {
		REQ(.operation = OP(FETCH_ADD), .n = 0, .swap_add = 1);
		expect_atomic(test, 0, 7, 1);
	}
	KUNIT_EXPECT_EQ(test, *word(0), 8);
	KUNIT_EXPECT_EQ(test, rc_events(&pair.peer, VIB_RC_DUPLICATE), 3);
}

static void what_was_never_asked_is_no_duplicate(struct kunit *test)
{
	open_rc(test);
	WRITE_REQ(.n = 0);
	READ_REQ(.n = 1, .dma_len = 2 * MTU);
	REQ(.operation = OP(FETCH_ADD), .n = 3, .at = 8);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	expect_read(test, 1, 0, 2 * MTU, 2);
	expect_atomic(test, 3, *word(8), 3);

	READ_REQ(.n = 0, .dma_len = MTU);
	READ_REQ(.n = 1, .dma_len = MTU);
	READ_REQ(.n = 1, .dma_len = 3 * MTU);
	READ_REQ(.n = 1, .at = 1, .dma_len = 2 * MTU);
	READ_REQ(.n = 2, .dma_len = MTU);
	READ_REQ(.n = 2, .at = MTU, .dma_len = MTU, .rkey = 0x77);
	READ_REQ(.n = 3, .at = 8, .dma_len = 8);
	REQ(.operation = OP(FETCH_ADD), .n = 1);
	REQ(.operation = OP(FETCH_ADD), .n = 3, .at = 16);
	REQ(.operation = OP(COMPARE_SWAP), .n = 3, .at = 8);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_EQ(test, rc_pair_dropped(&pair, VIB_DROP_REQUEST), 10);
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_RTS);
}

/* The requester may be done with the READ, and have had the key invalidated. */
static void a_late_duplicate_does_no_harm(struct kunit *test)
{
	open_rc(test);
	READ_REQ(.n = 0, .dma_len = MTU);
	expect_read(test, 0, 0, MTU, 1);
	KUNIT_ASSERT_TRUE(test, vib_key_invalidate(pair.peer.qp, pair.region.mr->rkey, false));
	READ_REQ(.n = 0, .dma_len = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_RTS);
}

static void a_key_that_goes_before_the_first_response_is_an_error(struct kunit *test)
{
	open_rc(test);
	rc_pair_stop_port(&pair);
	READ_REQ(.n = 0, .dma_len = MTU);
	WRITE_REQ(.n = 1);
	KUNIT_ASSERT_TRUE(test, vib_key_invalidate(pair.peer.qp, pair.region.mr->rkey, false));
	rc_pair_start_port(&pair);
	expect_refused(test, 0, IB_NAK_REMOTE_ACCESS_ERROR);
}

/* Of two READs, the second is being answered when the first comes again. */
static void responses_after_a_replay_begin_anew(struct kunit *test)
{
	open_rc(test);
	READ_REQ(.n = 0, .dma_len = 2 * MTU);
	expect_read(test, 0, 0, 2 * MTU, 1);
	rc_pair_stop_port(&pair);
	READ_REQ(.n = 2, .at = 2 * MTU, .dma_len = 2 * MTU);
	/* As if the first of it had been sent. */
	vib_resource_sent(vib_resource_replying(pair.resp));
	READ_REQ(.n = 0, .dma_len = 2 * MTU);
	rc_pair_start_port(&pair);
	expect_read(test, 0, 0, 2 * MTU, 1);
	expect_read(test, 2, 2 * MTU, 2 * MTU, 2);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

/* ---- how many ---- */

static void there_are_as_many_as_was_agreed(struct kunit *test)
{
	u32 n;

	rc_pair_open(test, &pair, &(struct rc_pair_want){ .rd_atomic = 3 });
	rc_pair_stop_port(&pair);
	for (n = 0; n < 3; n++)
		READ_REQ(.n = n, .dma_len = MTU);
	KUNIT_EXPECT_EQ(test, pair.resp->count, 3);
	READ_REQ(.n = 3, .dma_len = MTU);
	rc_pair_start_port(&pair);
	for (n = 0; n < 3; n++)
		expect_read(test, n, 0, MTU, n + 1);
	expect_refused(test, 3, IB_NAK_INVALID_REQUEST);
}

static void none_was_agreed(struct kunit *test)
{
	rc_pair_open(test, &pair, &(struct rc_pair_want){ .no_rd_atomic = true });
	WRITE_REQ(.n = 0);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	READ_REQ(.n = 1);
	expect_refused(test, 1, IB_NAK_INVALID_REQUEST);
}

/* Those that were answered make room; and the newest can be asked for again. */
static void the_oldest_is_forgotten(struct kunit *test)
{
	u32 n;

	rc_pair_open(test, &pair, &(struct rc_pair_want){ .rd_atomic = 2 });
	for (n = 0; n < 40; n++) {
		*word(0) = n;
		REQ(.operation = OP(FETCH_ADD), .n = n, .swap_add = 1);
		expect_atomic(test, n, n, n + 1);
	}
	KUNIT_EXPECT_EQ(test, pair.resp->count, 2);
	for (n = 38; n < 40; n++) {
		REQ(.operation = OP(FETCH_ADD), .n = n, .swap_add = 1);
		expect_atomic(test, n, n, n + 1);
	}
	REQ(.operation = OP(FETCH_ADD), .n = 37, .swap_add = 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_EQ(test, *word(0), 40);
}

/* It was answered, and a late duplicate has it answered again just then. */
static void one_that_is_replayed_makes_room_too(struct kunit *test)
{
	rc_pair_open(test, &pair, &(struct rc_pair_want){ .rd_atomic = 1 });
	READ_REQ(.n = 0, .dma_len = MTU);
	expect_read(test, 0, 0, MTU, 1);
	rc_pair_stop_port(&pair);
	READ_REQ(.n = 0, .dma_len = MTU);
	READ_REQ(.n = 1, .at = MTU, .dma_len = MTU);
	rc_pair_start_port(&pair);
	expect_read(test, 1, MTU, MTU, 2);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_RTS);
}

static struct kunit_case read_cases[] = {
	KUNIT_CASE(a_read_of_any_length_is_answered),
	KUNIT_CASE(a_read_is_checked),
	KUNIT_CASE(a_read_goes_on_when_there_is_room),
	KUNIT_CASE(replies_are_in_order),
	KUNIT_CASE(a_nak_comes_after_the_responses_before_it),
	KUNIT_CASE(in_error_no_data_is_sent),
	KUNIT_CASE(atomics_change_memory_and_tell_what_was_there),
	KUNIT_CASE(an_atomic_is_checked),
	KUNIT_CASE(a_duplicate_of_a_read_reads_again),
	KUNIT_CASE(a_duplicate_of_an_atomic_is_not_executed),
	KUNIT_CASE(what_was_never_asked_is_no_duplicate),
	KUNIT_CASE(a_late_duplicate_does_no_harm),
	KUNIT_CASE(a_key_that_goes_before_the_first_response_is_an_error),
	KUNIT_CASE(responses_after_a_replay_begin_anew),
	KUNIT_CASE(there_are_as_many_as_was_agreed),
	KUNIT_CASE(none_was_agreed),
	KUNIT_CASE(the_oldest_is_forgotten),
	KUNIT_CASE(one_that_is_replayed_makes_room_too),
	{}
};

static struct kunit_suite vib_rc_read_suite = {
	.name = "vib_rc_read",
	.init = read_init,
	.exit = read_exit,
	.test_cases = read_cases,
};

kunit_test_suite(vib_rc_read_suite);
