// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a reliable connection does with requests (IBA vol. 1, 9.7.4.1, 9.7.5, 9.9.3): the tables,
 * SEND and RDMA WRITE, ACKs and NAKs.
 */
#include "rc_pair.h"

static struct rc_pair pair;

#define OP(name)	IB_OPCODE_##name
#define REQ(...)	rc_pair_request(test, &pair, &(struct rc_pair_req){ __VA_ARGS__ })
#define MTU		PAIR_MTU

static int responder_init(struct kunit *test)
{
	return rc_pair_init(test, &pair);
}

static void responder_exit(struct kunit *test)
{
	rc_pair_exit(&pair);
}

static void open_rc(struct kunit *test)
{
	rc_pair_open(test, &pair, &(struct rc_pair_want){});
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

/* The request RQ(@n) is refused, and the QP is in error. */
static void expect_refused(struct kunit *test, u32 n, u8 syndrome)
{
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, n, syndrome));
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

static bool region_is(u32 at, u32 from, u32 len)
{
	return !memcmp(region_byte(&pair.region, at), pair.out + from, len);
}

/* ---- the tables, cell by cell ---- */

static const u8 wire_ops[VIB_RX_OPS] = {
	[VIB_RX_SEND_FIRST]	= OP(SEND_FIRST),
	[VIB_RX_SEND_MIDDLE]	= OP(SEND_MIDDLE),
	[VIB_RX_SEND_LAST]	= OP(SEND_LAST),
	[VIB_RX_SEND_ONLY]	= OP(SEND_ONLY),
	[VIB_RX_WRITE_FIRST]	= OP(RDMA_WRITE_FIRST),
	[VIB_RX_WRITE_MIDDLE]	= OP(RDMA_WRITE_MIDDLE),
	[VIB_RX_WRITE_LAST]	= OP(RDMA_WRITE_LAST),
	[VIB_RX_WRITE_ONLY]	= OP(RDMA_WRITE_ONLY),
	[VIB_RX_READ]		= OP(RDMA_READ_REQUEST),
	[VIB_RX_ATOMIC]		= OP(FETCH_ADD),
	[VIB_RX_RESERVED]	= 0x1f,
};

/* The message that @op belongs to the middle or the end of; or none. */
static enum vib_message continues(enum vib_rx_op op)
{
	switch (op) {
	case VIB_RX_SEND_MIDDLE:
	case VIB_RX_SEND_LAST:
		return VIB_MSG_SEND;
	case VIB_RX_WRITE_MIDDLE:
	case VIB_RX_WRITE_LAST:
		return VIB_MSG_WRITE;
	default:
		return VIB_MSG_NONE;
	}
}

/* The rules, as 9.7.4.1.2 and 9.7.4.1.3 have them. */
static enum vib_responder_act rule(enum vib_seq seq, enum vib_rx_op op, enum vib_message message)
{
	if (seq == VIB_SEQ_GAP)
		return VIB_DO_NAK_SEQ;
	if (seq == VIB_SEQ_EXPECTED)
		return op != VIB_RX_RESERVED && continues(op) == message ? VIB_DO_EXECUTE :
									   VIB_DO_REFUSE;
	if (op == VIB_RX_READ || op == VIB_RX_ATOMIC)
		return VIB_DO_REPLAY;
	return op == VIB_RX_RESERVED ? VIB_DO_DROP : VIB_DO_ACK;
}

static void opcodes_have_their_class(struct kunit *test)
{
	static const u8 ends[] = {
		OP(SEND_LAST_WITH_IMMEDIATE), OP(SEND_LAST_WITH_INVALIDATE),
		OP(SEND_ONLY_WITH_IMMEDIATE), OP(SEND_ONLY_WITH_INVALIDATE),
		OP(RDMA_WRITE_LAST_WITH_IMMEDIATE), OP(RDMA_WRITE_ONLY_WITH_IMMEDIATE),
		OP(COMPARE_SWAP),
	};
	static const u8 classes[] = {
		VIB_RX_SEND_LAST, VIB_RX_SEND_LAST, VIB_RX_SEND_ONLY, VIB_RX_SEND_ONLY,
		VIB_RX_WRITE_LAST, VIB_RX_WRITE_ONLY, VIB_RX_ATOMIC,
	};
	int i;

	for (i = 0; i < VIB_RX_OPS; i++)
		KUNIT_EXPECT_EQ(test, vib_rx_op(wire_ops[i]), i);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		KUNIT_EXPECT_EQ(test, vib_rx_op(ends[i]), classes[i]);
}

static void each_cell_is_what_the_rules_say(struct kunit *test)
{
	int seq, op, message;

	for (seq = 0; seq < VIB_SEQS; seq++)
		for (op = 0; op < VIB_RX_OPS; op++)
			for (message = 0; message < VIB_MSGS; message++)
				KUNIT_EXPECT_EQ_MSG(test,
						    vib_responder_act(true, seq, op, message),
						    rule(seq, op, message), "%d %d %d", seq, op,
						    message);
}

/* A QP that has taken in RQ(0), a whole message, and is in @message, RQ(1) being its first. */
static void open_in(struct kunit *test, enum vib_message message)
{
	open_rc(test);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	rc_pair_recv(&pair, 2, PAIR_BUF);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0, .len = 8, .dma_len = 8);
	if (message == VIB_MSG_SEND)
		REQ(.operation = OP(SEND_FIRST), .n = 1, .len = MTU);
	else if (message == VIB_MSG_WRITE)
		REQ(.operation = OP(RDMA_WRITE_FIRST), .n = 1, .len = MTU, .dma_len = 3 * MTU);
	KUNIT_ASSERT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	KUNIT_ASSERT_TRUE(test, rc_pair_silent(&pair));
}

static u32 valid_len(enum vib_rx_op op)
{
	if (op >= VIB_RX_READ)
		return 0;
	return MTU;
}

static u32 valid_dma_len(enum vib_rx_op op)
{
	return op == VIB_RX_WRITE_FIRST ? 3 * MTU : MTU;
}

static void expect_executed(struct kunit *test, enum vib_rx_op op, u32 n)
{
	struct rc_pair_reply reply = {};

	KUNIT_ASSERT_TRUE(test, rc_pair_reply(&pair, &reply));
	KUNIT_EXPECT_EQ(test, reply.psn, RQ(n));
	KUNIT_EXPECT_EQ(test, reply.syndrome, VIB_AETH_UNLIMITED);
	KUNIT_EXPECT_EQ(test, reply.operation,
			op == VIB_RX_READ ? OP(RDMA_READ_RESPONSE_ONLY) :
			op == VIB_RX_ATOMIC ? OP(ATOMIC_ACKNOWLEDGE) : OP(ACKNOWLEDGE));
	KUNIT_EXPECT_EQ(test, pair.resp->psn, RQ(n + 1));
}

/* A packet with AckReq, which is valid but for its place, and what is seen of it. */
static void try_cell(struct kunit *test, enum vib_seq seq, enum vib_rx_op op,
		     enum vib_message message)
{
	u32 next = message == VIB_MSG_NONE ? 1 : 2;

	open_in(test, message);
	/* The last of the WRITE ends it. */
	if (message == VIB_MSG_WRITE && op == VIB_RX_WRITE_LAST)
		pair.resp->left = MTU;
	REQ(.operation = wire_ops[op], .len = valid_len(op), .dma_len = valid_dma_len(op),
	    .ack_req = true, .n = seq == VIB_SEQ_EXPECTED ? next :
				  seq == VIB_SEQ_GAP ? next + 2 : 0);
	switch (rule(seq, op, message)) {
	case VIB_DO_EXECUTE:
		expect_executed(test, op, next);
		break;
	case VIB_DO_ACK:
		KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, next - 1, 1));
		break;
	case VIB_DO_NAK_SEQ:
		KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, next, IB_NAK_PSN_ERROR));
		break;
	case VIB_DO_REFUSE:
		expect_refused(test, next, IB_NAK_INVALID_REQUEST);
		break;
	default:
		/* A duplicate of nothing that was asked for. */
		KUNIT_EXPECT_EQ(test, pair.resp->psn, RQ(next));
		break;
	}
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	rc_pair_close(&pair);
}

static void a_qp_does_what_each_cell_says(struct kunit *test)
{
	int seq, op, message;

	for (seq = 0; seq < VIB_SEQS; seq++)
		for (op = 0; op < VIB_RX_OPS; op++)
			for (message = 0; message < VIB_MSGS; message++)
				try_cell(test, seq, op, message);
}

/* ---- SEND ---- */

/* A message of @len bytes from RQ(@n) on; the number of its packets. */
static u32 send_message(struct kunit *test, u32 n, u32 len)
{
	u32 packets = max(DIV_ROUND_UP(len, MTU), 1U), i;
	u8 operation;

	for (i = 0; i < packets; i++) {
		if (i == packets - 1)
			operation = i ? OP(SEND_LAST) : OP(SEND_ONLY);
		else
			operation = i ? OP(SEND_MIDDLE) : OP(SEND_FIRST);
		REQ(.operation = operation, .n = n + i, .from = i * MTU,
		    .len = min_t(u32, len - i * MTU, MTU));
	}
	return packets;
}

static void a_message_of_any_length_arrives(struct kunit *test)
{
	static const u32 lens[] = {
		0, 1, 3, MTU - 1, MTU, MTU + 1, 2 * MTU - 1, 2 * MTU, 2 * MTU + 1, 5 * MTU + 7,
	};
	u32 n = 0;
	int i;

	open_rc(test);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		memset(pair.in, 0xee, PAIR_BUF);
		KUNIT_ASSERT_EQ(test, rc_pair_recv(&pair, 10 + i, lens[i]), 0);
		n += send_message(test, n, lens[i]);
		expect_wc(test, 10 + i, IB_WC_SUCCESS, lens[i]);
		KUNIT_EXPECT_MEMEQ(test, pair.in, pair.out, lens[i]);
		KUNIT_EXPECT_PTR_EQ(test, memchr_inv(pair.in + lens[i], 0xee,
						     PAIR_BUF - lens[i]), NULL);
		KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, n - 1, i + 1));
		KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	}
}

static void a_completion_says_what_came(struct kunit *test)
{
	struct ib_wc wc;

	open_rc(test);
	rc_pair_recv(&pair, 7, PAIR_BUF);
	rc_pair_recv(&pair, 8, PAIR_BUF);
	REQ(.operation = OP(SEND_ONLY), .n = 0, .len = 5);
	wc = rc_pair_wc(&pair);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
	KUNIT_EXPECT_EQ(test, wc.src_qp, PEER_QPN);
	KUNIT_EXPECT_EQ(test, wc.slid, pair.hca.b.port->lid);
	KUNIT_EXPECT_EQ(test, wc.port_num, 1);
	REQ(.operation = OP(SEND_ONLY_WITH_IMMEDIATE), .n = 1, .len = 5, .ex = 0x12345678);
	wc = rc_pair_wc(&pair);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0x12345678);
}

static void a_message_is_scattered_over_a_list(struct kunit *test)
{
	struct ib_sge sge[4];
	struct ib_recv_wr wr = { .wr_id = 1, .sg_list = sge, .num_sge = 4 };
	static const u32 lens[] = { 1, 0, MTU + 9, PAIR_BUF - MTU - 10 };
	u32 i, at = 0;

	for (i = 0; i < 4; at += lens[i++])
		sge[i] = (struct ib_sge){
			.addr = (uintptr_t)pair.in + at,
			.length = lens[i],
			.lkey = pair.hca.a.pd->local_dma_lkey,
		};
	open_rc(test);
	KUNIT_ASSERT_EQ(test, ib_post_recv(pair.peer.ib, &wr, NULL), 0);
	send_message(test, 0, 3 * MTU + 5);
	expect_wc(test, 1, IB_WC_SUCCESS, 3 * MTU + 5);
	KUNIT_EXPECT_MEMEQ(test, pair.in, pair.out, 3 * MTU + 5);
	KUNIT_EXPECT_EQ(test, pair.in[3 * MTU + 5], 0xee);
}

static void a_solicited_message_raises_the_event(struct kunit *test)
{
	open_rc(test);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	rc_pair_recv(&pair, 2, PAIR_BUF);
	ib_req_notify_cq(pair.hca.a.cq, IB_CQ_SOLICITED);
	REQ(.operation = OP(SEND_ONLY), .n = 0);
	flush_workqueue(vib_wq);
	KUNIT_EXPECT_EQ(test, pair.hca.a.comp_events, 0);
	REQ(.operation = OP(SEND_ONLY), .n = 1, .solicited = true);
	flush_workqueue(vib_wq);
	KUNIT_EXPECT_EQ(test, pair.hca.a.comp_events, 1);
}

/* 9.4.1.1.3 */
static void a_send_may_invalidate_a_key(struct kunit *test)
{
	u32 key = pair.region.mr->rkey;
	struct seen seen = { .fill = -1 };
	struct ib_wc wc;

	open_rc(test);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	rc_pair_recv(&pair, 2, PAIR_BUF);
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, pair.peer.ib, key, pair.region.addr, 8,
					    IB_ACCESS_REMOTE_READ));
	REQ(.operation = OP(SEND_ONLY_WITH_INVALIDATE), .n = 0, .len = 3, .ex = key);
	wc = rc_pair_wc(&pair);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, key);
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, pair.peer.ib, key, pair.region.addr, 8,
					     IB_ACCESS_REMOTE_READ));
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	/* It is not valid any more. */
	REQ(.operation = OP(SEND_ONLY_WITH_INVALIDATE), .n = 1, .len = 3, .ex = key);
	expect_refused(test, 1, IB_NAK_REMOTE_ACCESS_ERROR);
	expect_wc(test, 2, IB_WC_WR_FLUSH_ERR, 0);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_ACCESS_ERR), 1);
}

/* ---- lengths (9.7.4.1.6) ---- */

struct length {
	u8 operation;		/* of the second packet of a message, or of its only one */
	u32 len, dma_len;	/* dma_len: of the RETH of the first or only */
	bool valid;
};

static const struct length lengths[] = {
	{ OP(SEND_FIRST), MTU, 0, true },
	{ OP(SEND_FIRST), MTU - 1, 0, false },
	{ OP(SEND_FIRST), MTU + 1, 0, false },
	{ OP(SEND_FIRST), 0, 0, false },
	{ OP(SEND_MIDDLE), MTU, 0, true },
	{ OP(SEND_MIDDLE), MTU - 1, 0, false },
	{ OP(SEND_MIDDLE), MTU + 1, 0, false },
	{ OP(SEND_LAST), MTU, 0, true },
	{ OP(SEND_LAST), 1, 0, true },
	{ OP(SEND_LAST), 0, 0, false },
	{ OP(SEND_LAST), MTU + 1, 0, false },
	{ OP(SEND_ONLY), 0, 0, true },
	{ OP(SEND_ONLY), MTU, 0, true },
	{ OP(SEND_ONLY), MTU + 1, 0, false },
	{ OP(RDMA_WRITE_FIRST), MTU, MTU + 1, true },
	{ OP(RDMA_WRITE_FIRST), MTU, MTU, false },
	{ OP(RDMA_WRITE_FIRST), MTU, 0, false },
	{ OP(RDMA_WRITE_FIRST), MTU - 1, 2 * MTU, false },
	{ OP(RDMA_WRITE_MIDDLE), MTU, 2 * MTU + 1, true },
	{ OP(RDMA_WRITE_MIDDLE), MTU, 2 * MTU, false },
	{ OP(RDMA_WRITE_LAST), MTU, 2 * MTU, true },
	{ OP(RDMA_WRITE_LAST), 1, MTU + 1, true },
	{ OP(RDMA_WRITE_LAST), 1, MTU + 2, false },
	{ OP(RDMA_WRITE_LAST), 2, MTU + 1, false },
	{ OP(RDMA_WRITE_LAST), MTU, 2 * MTU + 1, false },
	{ OP(RDMA_WRITE_ONLY), 0, 0, true },
	{ OP(RDMA_WRITE_ONLY), 1, 0, false },
	{ OP(RDMA_WRITE_ONLY), 0, 1, false },
	{ OP(RDMA_WRITE_ONLY), MTU, MTU, true },
	{ OP(RDMA_WRITE_ONLY), MTU, MTU + 1, false },
	{ OP(RDMA_WRITE_ONLY), MTU + 1, MTU + 1, false },
};

static void try_length(struct kunit *test, const struct length *length)
{
	bool first = vib_op(length->operation)->flags & VIB_OP_FIRST;
	bool send = vib_op(length->operation)->flags & VIB_OP_SEND;
	u32 n = 0;

	open_rc(test);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	if (!first)
		REQ(.operation = send ? OP(SEND_FIRST) : OP(RDMA_WRITE_FIRST), .n = n++,
		    .len = MTU, .dma_len = length->dma_len);
	REQ(.operation = length->operation, .n = n, .len = length->len,
	    .dma_len = length->dma_len, .ack_req = true);
	if (length->valid)
		KUNIT_EXPECT_EQ(test, pair.resp->psn, RQ(n + 1));
	else
		expect_refused(test, n, IB_NAK_INVALID_REQUEST);
	rc_pair_close(&pair);
}

static void lengths_are_checked(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		try_length(test, &lengths[i]);
}

static void the_longest_message_is_2_gib(struct kunit *test)
{
	open_rc(test);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	send_message(test, 0, 0);
	rc_pair_recv(&pair, 2, PAIR_BUF);
	REQ(.operation = OP(SEND_FIRST), .n = 1, .len = MTU);
	pair.resp->received = VIB_MAX_MSG - MTU + 1;
	REQ(.operation = OP(SEND_LAST), .n = 2, .len = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	expect_refused(test, 2, IB_NAK_INVALID_REQUEST);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_REQ_ERR), 1);
}

/* ---- receive requests that are wrong ---- */

/* The completion tells the consumer, so there is no event. */
static void a_receive_that_is_too_short_is_an_error(struct kunit *test)
{
	open_rc(test);
	rc_pair_recv(&pair, 1, 2 * MTU - 1);
	rc_pair_recv(&pair, 2, PAIR_BUF);
	send_message(test, 0, 2 * MTU);
	expect_refused(test, 1, IB_NAK_INVALID_REQUEST);
	expect_wc(test, 1, IB_WC_LOC_LEN_ERR, 0);
	expect_wc(test, 2, IB_WC_WR_FLUSH_ERR, 0);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_REQ_ERR), 0);
}

static void a_receive_with_a_wrong_key_is_an_error(struct kunit *test)
{
	struct ib_sge sge = { .addr = 1, .length = MTU, .lkey = 0x12345678 };
	struct ib_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };

	open_rc(test);
	KUNIT_ASSERT_EQ(test, ib_post_recv(pair.peer.ib, &wr, NULL), 0);
	send_message(test, 0, 3);
	expect_refused(test, 0, IB_NAK_REMOTE_OPERATIONAL_ERROR);
	expect_wc(test, 1, IB_WC_LOC_PROT_ERR, 0);
}

/* 9.7.5.2.8 */
static void without_a_receive_the_requester_has_to_wait(struct kunit *test)
{
	open_rc(test);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 0, IB_RNR_NAK | PAIR_RNR_TIMER));
	/* What was on its way is dropped without a word. */
	REQ(.operation = OP(SEND_LAST), .n = 1, .len = MTU);
	REQ(.operation = OP(SEND_ONLY), .n = 2, .len = 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	/* It is too early again. */
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 0, IB_RNR_NAK | PAIR_RNR_TIMER));
	KUNIT_EXPECT_EQ(test, rc_events(&pair.peer, VIB_RC_SENT_RNR_NAK), 2);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	send_message(test, 0, 2 * MTU);
	expect_wc(test, 1, IB_WC_SUCCESS, 2 * MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 1, 1));
	/* From now on a gap is one. */
	REQ(.operation = OP(SEND_ONLY), .n = 3, .len = 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 2, IB_NAK_PSN_ERROR));
}

/* ---- RDMA WRITE ---- */

static void a_write_of_many_packets_arrives(struct kunit *test)
{
	open_rc(test);
	REQ(.operation = OP(RDMA_WRITE_FIRST), .n = 0, .len = MTU, .at = 77,
	    .dma_len = 2 * MTU + 3);
	REQ(.operation = OP(RDMA_WRITE_MIDDLE), .n = 1, .len = MTU, .from = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	REQ(.operation = OP(RDMA_WRITE_LAST), .n = 2, .len = 3, .from = 2 * MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 2, 1));
	KUNIT_EXPECT_TRUE(test, region_is(77, 0, 2 * MTU + 3));
	KUNIT_EXPECT_EQ(test, *region_byte(&pair.region, 77 + 2 * MTU + 3), 0);
	KUNIT_EXPECT_EQ(test, rc_pair_wc(&pair).wr_id, 0);
}

/* The receive request is taken with the last packet, and its buffers stay as they are. */
static void a_write_with_immediate_data_completes_a_receive(struct kunit *test)
{
	struct ib_wc wc;

	open_rc(test);
	REQ(.operation = OP(RDMA_WRITE_FIRST), .n = 0, .len = MTU, .dma_len = MTU + 5);
	REQ(.operation = OP(RDMA_WRITE_LAST_WITH_IMMEDIATE), .n = 1, .len = 5, .from = MTU,
	    .ex = 99);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 1, IB_RNR_NAK | PAIR_RNR_TIMER));
	KUNIT_EXPECT_FALSE(test, region_is(MTU, MTU, 5));
	rc_pair_recv(&pair, 4, 0);
	REQ(.operation = OP(RDMA_WRITE_LAST_WITH_IMMEDIATE), .n = 1, .len = 5, .from = MTU,
	    .ex = 99);
	wc = rc_pair_wc(&pair);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 4);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, wc.byte_len, MTU + 5);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 99);
	KUNIT_EXPECT_TRUE(test, region_is(0, 0, MTU + 5));
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 1, 1));
}

/* 9.7.4.1.5: the whole range counts, from the first packet on; and no key if it is empty. */
static void a_write_needs_a_key(struct kunit *test)
{
	open_rc(test);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0, .rkey = 0x77);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 1, .at = REGION_LEN - 1, .len = 1,
	    .dma_len = 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 1, 2));
	REQ(.operation = OP(RDMA_WRITE_FIRST), .n = 2, .at = REGION_LEN - MTU, .len = MTU,
	    .dma_len = MTU + 1);
	expect_refused(test, 2, IB_NAK_REMOTE_ACCESS_ERROR);
	KUNIT_EXPECT_FALSE(test, region_is(REGION_LEN - MTU, 0, MTU - 1));
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_ACCESS_ERR), 1);
}

static void a_key_that_goes_meanwhile_ends_the_write(struct kunit *test)
{
	open_rc(test);
	REQ(.operation = OP(RDMA_WRITE_FIRST), .n = 0, .len = MTU, .dma_len = 2 * MTU);
	KUNIT_ASSERT_TRUE(test, vib_key_invalidate(pair.peer.qp, pair.region.mr->rkey, false));
	REQ(.operation = OP(RDMA_WRITE_LAST), .n = 1, .len = MTU, .from = MTU);
	expect_refused(test, 1, IB_NAK_REMOTE_ACCESS_ERROR);
	KUNIT_EXPECT_FALSE(test, region_is(MTU, MTU, MTU));
}

/* 9.7.4.1.4, 11.2.4.2 */
static void the_consumer_says_what_the_peer_may_do(struct kunit *test)
{
	static const u8 operations[] = {
		OP(RDMA_WRITE_ONLY), OP(RDMA_READ_REQUEST), OP(FETCH_ADD), OP(COMPARE_SWAP),
	};
	static const int flags[] = {
		IB_ACCESS_REMOTE_WRITE, IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_ATOMIC,
		IB_ACCESS_REMOTE_ATOMIC,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		rc_pair_open(test, &pair, &(struct rc_pair_want){ .no_access = flags[i] });
		REQ(.operation = operations[i], .n = 0);
		expect_refused(test, 0, IB_NAK_INVALID_REQUEST);
		KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_REQ_ERR), 1);
		rc_pair_close(&pair);
	}
}

/* ---- ACKs (9.7.5.1) ---- */

static void packets_are_acknowledged_together(struct kunit *test)
{
	u32 i;

	open_rc(test);
	rc_pair_hold(&pair);
	for (i = 0; i < 5; i++)
		REQ(.operation = OP(RDMA_WRITE_ONLY), .n = i, .len = 1, .dma_len = 1,
		    .ack_req = true);
	rc_pair_release(&pair);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 4, 5));
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

static void a_packet_that_asks_for_it_is_acknowledged(struct kunit *test)
{
	open_rc(test);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	REQ(.operation = OP(SEND_MIDDLE), .n = 1, .len = MTU, .ack_req = true);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 1, 0));
	REQ(.operation = OP(SEND_LAST), .n = 2, .len = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 2, 1));
}

/* 9.7.5.1.3: it tells the requester how far the responder is, and has no other effect. */
static void a_duplicate_is_acknowledged_with_the_latest_psn(struct kunit *test)
{
	u32 n;

	open_rc(test);
	for (n = 0; n < 3; n++) {
		rc_pair_recv(&pair, n, PAIR_BUF);
		send_message(test, n, 4);
		expect_wc(test, n, IB_WC_SUCCESS, 4);
		KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, n, n + 1));
	}
	rc_pair_recv(&pair, 9, PAIR_BUF);
	for (n = 0; n < 3; n++) {
		send_message(test, n, 4);
		KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 2, 3));
	}
	KUNIT_EXPECT_PTR_EQ(test, rc_pair_wc(&pair).qp, NULL);
	KUNIT_EXPECT_EQ(test, rc_events(&pair.peer, VIB_RC_DUPLICATE), 3);
	send_message(test, 3, 4);
	expect_wc(test, 9, IB_WC_SUCCESS, 4);
}

/* PSNs are compared within half of their circle (9.7.4.1.2). */
static void half_of_all_psns_are_duplicates(struct kunit *test)
{
	open_rc(test);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = VIB_PSN_MASK);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, VIB_PSN_MASK, 0));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0x800000);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, VIB_PSN_MASK, 0));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0x7fffff);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 0, IB_NAK_PSN_ERROR));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
}

static void a_gap_has_one_nak(struct kunit *test)
{
	open_rc(test);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 2);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 1, IB_NAK_PSN_ERROR));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 3);
	REQ(.operation = OP(SEND_MIDDLE), .n = 4);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_EQ(test, rc_pair_dropped(&pair, VIB_DROP_SEQUENCE), 3);
	/* A duplicate does not fill it. */
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 2);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 1, 2));
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 3);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 2, IB_NAK_PSN_ERROR));
	KUNIT_EXPECT_EQ(test, rc_events(&pair.peer, VIB_RC_SENT_SEQ_NAK), 2);
}

/* A NAK that has not left yet: what it misses has come. */
static void a_nak_that_is_out_of_date_is_not_sent(struct kunit *test)
{
	open_rc(test);
	rc_pair_hold(&pair);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 1);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0);
	rc_pair_release(&pair);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

/* Packets keep credits of the link while they wait, so they must not wait for the port. */
static void packets_are_taken_in_while_nothing_can_be_sent(struct kunit *test)
{
	u32 n;

	open_rc(test);
	rc_pair_stop_port(&pair);
	for (n = 0; n < 10; n++)
		REQ(.operation = OP(RDMA_WRITE_ONLY), .n = n, .len = 4, .dma_len = 4);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_EQ(test, pair.resp->psn, RQ(10));
	rc_pair_start_port(&pair);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 9, 10));
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

/* ---- states ---- */

/* 11.6.3.1 */
static void the_first_valid_packet_in_rtr_establishes_the_connection(struct kunit *test)
{
	rc_pair_open(test, &pair, &(struct rc_pair_want){ .rtr = true });
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 3);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 0, IB_NAK_PSN_ERROR));
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_COMM_EST), 0);
	REQ(.operation = OP(SEND_ONLY), .n = 0, .len = 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 0, IB_RNR_NAK | PAIR_RNR_TIMER));
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_COMM_EST), 1);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 1);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_COMM_EST), 1);
	rc_pair_close(&pair);

	rc_pair_open(test, &pair, &(struct rc_pair_want){ .rtr = true });
	REQ(.operation = OP(SEND_MIDDLE), .n = 0, .len = MTU);
	expect_refused(test, 0, IB_NAK_INVALID_REQUEST);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_COMM_EST), 0);
	rc_pair_close(&pair);

	open_rc(test);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_COMM_EST), 0);
}

/* 10.3.1.7: in the order in which they were posted. */
static void receives_are_flushed_in_order(struct kunit *test)
{
	u64 i;

	open_rc(test);
	for (i = 1; i <= 4; i++)
		rc_pair_recv(&pair, i, PAIR_BUF);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(pair.peer.ib, IB_QPS_ERR), 0);
	rc_pair_recv(&pair, 5, PAIR_BUF);
	for (i = 1; i <= 5; i++)
		expect_wc(test, i, IB_WC_WR_FLUSH_ERR, 0);
	REQ(.operation = OP(SEND_LAST), .n = 1, .len = MTU);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
	KUNIT_EXPECT_PTR_EQ(test, rc_pair_wc(&pair).qp, NULL);
}

static void after_reset_nothing_is_left(struct kunit *test)
{
	struct rc_pair_reply reply;

	open_rc(test);
	rc_pair_recv(&pair, 1, PAIR_BUF);
	rc_pair_recv(&pair, 2, PAIR_BUF);
	REQ(.operation = OP(RDMA_READ_REQUEST), .n = 0, .dma_len = MTU);
	REQ(.operation = OP(SEND_FIRST), .n = 1, .len = MTU, .ack_req = true);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(pair.peer.ib, IB_QPS_RESET), 0);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(pair.resp, 0, sizeof(*pair.resp)), NULL);
	KUNIT_EXPECT_PTR_EQ(test, rc_pair_wc(&pair).qp, NULL);
	while (rc_pair_reply(&pair, &reply))
		;
	KUNIT_ASSERT_EQ(test, rc_pair_connect(&pair, &(struct rc_pair_want){}), 0);
	send_message(test, 0, 1);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 0, IB_RNR_NAK | PAIR_RNR_TIMER));
}

static struct kunit_case responder_cases[] = {
	KUNIT_CASE(opcodes_have_their_class),
	KUNIT_CASE(each_cell_is_what_the_rules_say),
	KUNIT_CASE(a_qp_does_what_each_cell_says),
	KUNIT_CASE(a_message_of_any_length_arrives),
	KUNIT_CASE(a_completion_says_what_came),
	KUNIT_CASE(a_message_is_scattered_over_a_list),
	KUNIT_CASE(a_solicited_message_raises_the_event),
	KUNIT_CASE(a_send_may_invalidate_a_key),
	KUNIT_CASE(lengths_are_checked),
	KUNIT_CASE(the_longest_message_is_2_gib),
	KUNIT_CASE(a_receive_that_is_too_short_is_an_error),
	KUNIT_CASE(a_receive_with_a_wrong_key_is_an_error),
	KUNIT_CASE(without_a_receive_the_requester_has_to_wait),
	KUNIT_CASE(a_write_of_many_packets_arrives),
	KUNIT_CASE(a_write_with_immediate_data_completes_a_receive),
	KUNIT_CASE(a_write_needs_a_key),
	KUNIT_CASE(a_key_that_goes_meanwhile_ends_the_write),
	KUNIT_CASE(the_consumer_says_what_the_peer_may_do),
	KUNIT_CASE(packets_are_acknowledged_together),
	KUNIT_CASE(a_packet_that_asks_for_it_is_acknowledged),
	KUNIT_CASE(a_duplicate_is_acknowledged_with_the_latest_psn),
	KUNIT_CASE(half_of_all_psns_are_duplicates),
	KUNIT_CASE(a_gap_has_one_nak),
	KUNIT_CASE(a_nak_that_is_out_of_date_is_not_sent),
	KUNIT_CASE(packets_are_taken_in_while_nothing_can_be_sent),
	KUNIT_CASE(the_first_valid_packet_in_rtr_establishes_the_connection),
	KUNIT_CASE(receives_are_flushed_in_order),
	KUNIT_CASE(after_reset_nothing_is_left),
	{}
};

static struct kunit_suite vib_rc_responder_suite = {
	.name = "vib_rc_responder",
	.init = responder_init,
	.exit = responder_exit,
	.test_cases = responder_cases,
};

kunit_test_suite(vib_rc_responder_suite);
