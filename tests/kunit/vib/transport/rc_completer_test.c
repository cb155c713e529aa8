// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What responses do (IBA vol. 1, 9.7.5, 9.7.6): the table of the completer, cell by cell, each
 * with packets; and what the cells do with data, lengths and codes.
 */
#include "rc_peer.h"

static struct hca_pair pair;
static struct rc_peer peer;
static u8 *buf, *data;

#define BUF_LEN	1024

static int completer_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	buf = hca_buf(test, BUF_LEN, 0);
	data = hca_buf(test, BUF_LEN, 77);
	rc_tap_open(&pair);
	return 0;
}

static void completer_exit(struct kunit *test)
{
	rc_peer_close(&peer);
	rc_tap_close(&pair);
	hca_pair_exit(&pair);
}

static void open_rc(struct kunit *test)
{
	rc_peer_open(test, &pair, &peer,
		     &(struct rc_want){ .retry_cnt = 3, .rnr_retry = 3, .rd_atomic = 4 });
}

static void post(struct kunit *test, enum ib_wr_opcode opcode, u32 len, u64 wr_id)
{
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = opcode, .buf = buf,
				      .len = len, .wr_id = wr_id }), 0);
}

/* ---- the table ---- */

#define SAME(act)	{ VIB_ACT_##act, VIB_ACT_##act, VIB_ACT_##act }
#define DIFFERENT(message, read, atomic)	\
	{ VIB_ACT_##message, VIB_ACT_##read, VIB_ACT_##atomic }

/* By what comes, where its PSN is, and the request that has this PSN. */
static const u8 expected[VIB_RESPONSES][VIB_PSN_RELATIONS][3] = {
	[VIB_RESP_ACK] = {
		[VIB_PSN_OLD]		= SAME(DROP),
		[VIB_PSN_EXPECTED]	= DIFFERENT(ACK, RETRY, RETRY),
		[VIB_PSN_GAP]		= SAME(RETRY),
		[VIB_PSN_UNSENT]	= SAME(DROP),
	},
	[VIB_RESP_NAK_SEQ] = {
		[VIB_PSN_OLD]		= SAME(DROP),
		[VIB_PSN_EXPECTED]	= SAME(GO_BACK),
		[VIB_PSN_GAP]		= SAME(RETRY),
		[VIB_PSN_UNSENT]	= SAME(DROP),
	},
	[VIB_RESP_NAK_RNR] = {
		[VIB_PSN_OLD]		= SAME(DROP),
		[VIB_PSN_EXPECTED]	= SAME(WAIT),
		[VIB_PSN_GAP]		= SAME(RETRY),
		[VIB_PSN_UNSENT]	= SAME(DROP),
	},
	[VIB_RESP_NAK_ERROR] = {
		[VIB_PSN_OLD]		= SAME(DROP),
		[VIB_PSN_EXPECTED]	= SAME(FAIL),
		[VIB_PSN_GAP]		= SAME(RETRY),
		[VIB_PSN_UNSENT]	= SAME(DROP),
	},
	[VIB_RESP_READ] = {
		[VIB_PSN_OLD]		= SAME(DROP),
		[VIB_PSN_EXPECTED]	= DIFFERENT(BAD, READ, BAD),
		[VIB_PSN_GAP]		= SAME(RETRY),
		[VIB_PSN_UNSENT]	= SAME(DROP),
	},
	[VIB_RESP_ATOMIC] = {
		[VIB_PSN_OLD]		= SAME(DROP),
		[VIB_PSN_EXPECTED]	= DIFFERENT(BAD, BAD, ATOMIC),
		[VIB_PSN_GAP]		= SAME(RETRY),
		[VIB_PSN_UNSENT]	= SAME(DROP),
	},
	[VIB_RESP_RESERVED] = {
		[VIB_PSN_OLD]		= SAME(DROP),
		[VIB_PSN_EXPECTED]	= SAME(DROP),
		[VIB_PSN_GAP]		= SAME(DROP),
		[VIB_PSN_UNSENT]	= SAME(DROP),
	},
};

static const enum ib_wr_opcode kind_opcodes[] = {
	[VIB_WR_MESSAGE] = IB_WR_SEND,
	[VIB_WR_READ] = IB_WR_RDMA_READ,
	[VIB_WR_ATOMIC] = IB_WR_ATOMIC_FETCH_AND_ADD,
};

static const u8 kind_operations[] = {
	[VIB_WR_MESSAGE] = IB_OPCODE_SEND_ONLY,
	[VIB_WR_READ] = IB_OPCODE_RDMA_READ_REQUEST,
	[VIB_WR_ATOMIC] = IB_OPCODE_FETCH_ADD,
};

/* A response of each sort to PSN(@n), of 8 bytes. */
static void respond(struct kunit *test, enum vib_response response, u32 n)
{
	static const u8 syndromes[VIB_RESPONSES] = {
		[VIB_RESP_ACK] = VIB_AETH_UNLIMITED,
		[VIB_RESP_NAK_SEQ] = IB_NAK_PSN_ERROR,
		[VIB_RESP_NAK_RNR] = IB_RNR_NAK | 31,
		[VIB_RESP_NAK_ERROR] = IB_NAK_REMOTE_ACCESS_ERROR,
		[VIB_RESP_RESERVED] = 0x40,
	};

	if (response == VIB_RESP_READ)
		rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_ONLY, n, data, 8);
	else if (response == VIB_RESP_ATOMIC)
		rc_atomic_response(test, &peer, n, 0x1122334455667788);
	else
		rc_nak(test, &peer, n, syndromes[response]);
}

/* Has a request of @kind out, wr_id 2, and says which PSN is of @relation to it. */
static u32 make_relation(struct kunit *test, enum vib_psn_relation relation,
			 enum vib_wr_kind kind)
{
	switch (relation) {
	case VIB_PSN_OLD:
		post(test, IB_WR_SEND, 8, 1);
		post(test, kind_opcodes[kind], 8, 2);
		rc_ack(test, &peer, 0);
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
		return 0;
	case VIB_PSN_GAP:
		post(test, IB_WR_RDMA_READ, 8, 1);
		post(test, kind_opcodes[kind], 8, 2);
		return 1;
	default:
		post(test, kind_opcodes[kind], 8, 2);
		return relation == VIB_PSN_UNSENT ? 1 : 0;
	}
}

static void nothing_more_is_seen(void)
{
	while (!rc_silent(&peer))
		;
}

static void expect_completion(struct kunit *test, enum ib_wc_status status)
{
	bool failed = status != IB_WC_SUCCESS;

	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, status));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), failed ? IB_QPS_ERR : IB_QPS_RTS);
}

/* From PSN 0 on, which is of the READ that is missing if there is one. */
static void expect_sent_again(struct kunit *test, enum vib_psn_relation relation,
			      enum vib_wr_kind kind)
{
	if (relation == VIB_PSN_GAP)
		KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_READ_REQUEST, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, kind_operations[kind], relation == VIB_PSN_GAP));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_EQ(test, peer.req->retries, 2);
}

struct counts {
	u64 dropped, missed, lost, rnr;
};

static struct counts counts_now(void)
{
	return (struct counts){
		.dropped = hca_dropped(&pair.a, VIB_DROP_RESPONSE),
		.missed = rc_events(&peer, VIB_RC_SEQ_NAK),
		.lost = rc_events(&peer, VIB_RC_IMPLIED_NAK),
		.rnr = rc_events(&peer, VIB_RC_RNR_NAK),
	};
}

static void expect_counts(struct kunit *test, const struct counts *before,
			  enum vib_completer_act act)
{
	struct counts now = counts_now();

	KUNIT_EXPECT_EQ(test, now.dropped - before->dropped, act == VIB_ACT_DROP);
	KUNIT_EXPECT_EQ(test, now.missed - before->missed, act == VIB_ACT_GO_BACK);
	KUNIT_EXPECT_EQ(test, now.lost - before->lost, act == VIB_ACT_RETRY);
	KUNIT_EXPECT_EQ(test, now.rnr - before->rnr, act == VIB_ACT_WAIT);
}

static void expect_act(struct kunit *test, enum vib_completer_act act,
		       enum vib_psn_relation relation, enum vib_wr_kind kind)
{
	switch (act) {
	case VIB_ACT_DROP:
		KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
		KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
		KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), IB_QPS_RTS);
		break;
	case VIB_ACT_GO_BACK:
	case VIB_ACT_RETRY:
		expect_sent_again(test, relation, kind);
		break;
	case VIB_ACT_WAIT:
		KUNIT_EXPECT_TRUE(test, peer.req->rnr_wait);
		KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
		break;
	case VIB_ACT_FAIL:
		expect_completion(test, IB_WC_REM_ACCESS_ERR);
		break;
	case VIB_ACT_BAD:
		expect_completion(test, IB_WC_BAD_RESP_ERR);
		break;
	case VIB_ACT_ACK:
	case VIB_ACT_READ:
	case VIB_ACT_ATOMIC:
		expect_completion(test, IB_WC_SUCCESS);
		break;
	}
}

static void try_cell(struct kunit *test, enum vib_response response,
		     enum vib_psn_relation relation, enum vib_wr_kind kind)
{
	enum vib_completer_act act = expected[response][relation][kind];
	struct counts before;
	u32 n;

	kunit_info(test, "response %d, relation %d, kind %d", response, relation, kind);
	KUNIT_EXPECT_EQ(test, vib_completer_act(response, relation, kind), act);
	open_rc(test);
	n = make_relation(test, relation, kind);
	nothing_more_is_seen();
	before = counts_now();
	respond(test, response, n);
	expect_act(test, act, relation, kind);
	expect_counts(test, &before, act);
	rc_peer_close(&peer);
}

static void each_cell_does_what_the_table_says(struct kunit *test)
{
	unsigned int response, relation, kind;

	for (response = 0; response < VIB_RESPONSES; response++) {
		for (relation = 0; relation < VIB_PSN_RELATIONS; relation++) {
			for (kind = 0; kind < 3; kind++)
				try_cell(test, response, relation, kind);
		}
	}
}

/* ---- acknowledgements ---- */

static void an_ack_is_for_all_messages_before_it(struct kunit *test)
{
	int i;

	open_rc(test);
	for (i = 0; i < 5; i++)
		post(test, i & 1 ? IB_WR_RDMA_WRITE : IB_WR_SEND, 300, i);
	/* In the middle of the third, of two packets each. */
	rc_ack(test, &peer, 4);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_EQ(test, peer.req->una_psn, PSN(5));
	rc_ack(test, &peer, 9);
	for (i = 2; i < 5; i++)
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, i, IB_WC_SUCCESS));
}

static void a_read_response_acknowledges_what_is_before_the_read(struct kunit *test)
{
	open_rc(test);
	post(test, IB_WR_SEND, 300, 1);
	post(test, IB_WR_RDMA_READ, 300, 2);
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_FIRST, 2, data, 256);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_LAST, 3, data + 256, 44);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_SUCCESS));
	KUNIT_EXPECT_EQ(test, memcmp(buf, data, 300), 0);
}

static void naks_say_what_is_wrong(struct kunit *test)
{
	static const struct {
		u8 syndrome;
		enum ib_wc_status status;
	} naks[] = {
		{ IB_NAK_INVALID_REQUEST, IB_WC_REM_INV_REQ_ERR },
		{ IB_NAK_REMOTE_ACCESS_ERROR, IB_WC_REM_ACCESS_ERR },
		{ IB_NAK_REMOTE_OPERATIONAL_ERROR, IB_WC_REM_OP_ERR },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		open_rc(test);
		post(test, IB_WR_SEND, 8, 1);
		post(test, IB_WR_SEND, 300, 2);
		post(test, IB_WR_SEND, 8, 3);
		rc_nak(test, &peer, 2, naks[i].syndrome);
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, naks[i].status));
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 3, IB_WC_WR_FLUSH_ERR));
		KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), IB_QPS_ERR);
		rc_peer_close(&peer);
	}
}

/* Those of RD, those that are none, and credits that are counted: an ACK is one by any. */
static void syndromes_that_mean_nothing_are_dropped(struct kunit *test)
{
	unsigned int syndrome;
	bool none;

	open_rc(test);
	for (syndrome = 0; syndrome < 256; syndrome++) {
		none = (syndrome & 0xe0) == 0x40 || syndrome >= 0x80 ||
		       (syndrome >= IB_NAK_INVALID_RD_REQUEST && syndrome < 0x80);
		if (!none)
			continue;
		post(test, IB_WR_SEND, 8, 2);
		rc_nak(test, &peer, 0, syndrome);
		KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
		rc_peer_close(&peer);
		open_rc(test);
	}
	for (syndrome = 0; syndrome < 32; syndrome++) {
		post(test, IB_WR_SEND, 8, 2);
		rc_nak(test, &peer, syndrome, syndrome);
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_SUCCESS));
	}
}

/* ---- data ---- */

static void a_read_that_loses_a_response_goes_on_from_there(struct kunit *test)
{
	struct rc_seen seen;
	struct ib_reth *reth;

	open_rc(test);
	post(test, IB_WR_RDMA_READ, 1000, 2);
	KUNIT_ASSERT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_READ_REQUEST, 0));
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_FIRST, 0, data, 256);
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE, 2, data + 512, 256);
	/* The second packet after the one that is missing says nothing new. */
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_LAST, 3, data + 768, 232);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, seen.operation, IB_OPCODE_RDMA_READ_REQUEST);
	KUNIT_EXPECT_EQ(test, seen.psn, PSN(1));
	reth = vib_packet_ext(seen.pkt, VIB_EXT_RETH);
	KUNIT_EXPECT_EQ(test, get_ib_reth_vaddr(reth), PEER_ADDR + 256);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(reth->length), 744);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	/* Of the second request the first response is its FIRST. */
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_FIRST, 1, data + 256, 256);
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE, 2, data + 512, 256);
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_LAST, 3, data + 768, 232);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_SUCCESS));
	KUNIT_EXPECT_EQ(test, memcmp(buf, data, 1000), 0);
}

static void a_read_response_of_another_length_is_bad(struct kunit *test)
{
	static const struct {
		u8 operation;
		u32 n, len;
	} bad[] = {
		{ IB_OPCODE_RDMA_READ_RESPONSE_FIRST, 0, 255 },
		{ IB_OPCODE_RDMA_READ_RESPONSE_FIRST, 0, 257 },
		{ IB_OPCODE_RDMA_READ_RESPONSE_FIRST, 0, 0 },
		{ IB_OPCODE_RDMA_READ_RESPONSE_ONLY, 0, 256 },
		{ IB_OPCODE_RDMA_READ_RESPONSE_LAST, 0, 44 },
		{ IB_OPCODE_RDMA_READ_RESPONSE_LAST, 1, 43 },
		{ IB_OPCODE_RDMA_READ_RESPONSE_LAST, 1, 45 },
		{ IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE, 1, 256 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		open_rc(test);
		post(test, IB_WR_RDMA_READ, 300, 2);
		if (bad[i].n)
			rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_FIRST, 0,
					 data, 256);
		rc_read_response(test, &peer, bad[i].operation, bad[i].n, data, bad[i].len);
		expect_completion(test, IB_WC_BAD_RESP_ERR);
		rc_peer_close(&peer);
	}
}

static void an_atomic_gives_what_was_there(struct kunit *test)
{
	u64 got;

	open_rc(test);
	post(test, IB_WR_ATOMIC_CMP_AND_SWP, 8, 2);
	rc_atomic_response(test, &peer, 0, 0x1122334455667788);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_SUCCESS));
	memcpy(&got, buf, sizeof(got));
	KUNIT_EXPECT_EQ(test, got, 0x1122334455667788);
}

static void what_comes_for_memory_that_is_not_its_own_is_an_error(struct kunit *test)
{
	struct ib_sge sge = { .addr = (uintptr_t)buf, .length = 8, .lkey = 0x7700 };
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 2, .opcode = IB_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1 },
	};

	open_rc(test);
	KUNIT_ASSERT_EQ(test, ib_post_send(peer.ib, &wr.wr, NULL), 0);
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_ONLY, 0, data, 8);
	expect_completion(test, IB_WC_LOC_PROT_ERR);
}

/* ---- what is no response at all ---- */

static void a_nak_with_data_and_an_ack_with_payload_are_dropped(struct kunit *test)
{
	open_rc(test);
	post(test, IB_WR_RDMA_READ, 8, 2);
	rc_arrive(&peer, rc_packet(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_ONLY, 0,
				   (u32)IB_NAK_PSN_ERROR << 24, 0, data, 8));
	rc_arrive(&peer, rc_packet(test, &peer, IB_OPCODE_ACKNOWLEDGE, 0, 0, 0, data, 8));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.a, VIB_DROP_RESPONSE), 2);
}

static void another_path_is_not_the_peers(struct kunit *test)
{
	struct vib_packet *pkt;

	open_rc(test);
	post(test, IB_WR_SEND, 8, 2);
	pkt = rc_packet(test, &peer, IB_OPCODE_ACKNOWLEDGE, 0, 0, 0, NULL, 0);
	vib_packet_finish(pkt, 0, 0, pair.a.port->lid, pair.b.port->lid + 1);
	rc_arrive(&peer, pkt);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.a, VIB_DROP_PATH), 1);
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_SUCCESS));
}

static void uc_takes_no_response(struct kunit *test)
{
	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .type = IB_QPT_UC });
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.a, VIB_DROP_OPCODE), 1);
}

static struct kunit_case completer_cases[] = {
	KUNIT_CASE_SLOW(each_cell_does_what_the_table_says),
	KUNIT_CASE(an_ack_is_for_all_messages_before_it),
	KUNIT_CASE(a_read_response_acknowledges_what_is_before_the_read),
	KUNIT_CASE(naks_say_what_is_wrong),
	KUNIT_CASE_SLOW(syndromes_that_mean_nothing_are_dropped),
	KUNIT_CASE(a_read_that_loses_a_response_goes_on_from_there),
	KUNIT_CASE(a_read_response_of_another_length_is_bad),
	KUNIT_CASE(an_atomic_gives_what_was_there),
	KUNIT_CASE(what_comes_for_memory_that_is_not_its_own_is_an_error),
	KUNIT_CASE(a_nak_with_data_and_an_ack_with_payload_are_dropped),
	KUNIT_CASE(another_path_is_not_the_peers),
	KUNIT_CASE(uc_takes_no_response),
	{}
};

static struct kunit_suite vib_rc_completer_suite = {
	.name = "vib_rc_completer",
	.init = completer_init,
	.exit = completer_exit,
	.test_cases = completer_cases,
};

kunit_test_suite(vib_rc_completer_suite);
