// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a connected QP makes of send requests: packets, their headers and their order (IBA vol.
 * 1, 9.2 to 9.4, 9.7.2, 9.7.3, 9.8.1, 10.8.3); and the order of completions (10.8.5).
 */
#include "rc_peer.h"

static struct hca_pair pair;
static struct rc_peer peer;
static u8 *buf;

#define BUF_LEN	4096

static int requester_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	buf = hca_buf(test, BUF_LEN, 1);
	rc_tap_open(&pair);
	return 0;
}

static void requester_exit(struct kunit *test)
{
	rc_peer_close(&peer);
	rc_tap_close(&pair);
	hca_pair_exit(&pair);
}

static void open_rc(struct kunit *test)
{
	rc_peer_open(test, &pair, &peer, &(struct rc_want){});
}

static int post_len(enum ib_wr_opcode opcode, u32 len)
{
	return rc_post(&peer, &(struct rc_wr){ .opcode = opcode, .buf = buf, .len = len });
}

static bool payload_is(const struct rc_seen *seen, u32 offset)
{
	static u8 got[PEER_MTU];

	return seen->len <= sizeof(got) && vib_packet_read(seen->pkt, 0, got, seen->len) &&
	       !memcmp(got, buf + offset, seen->len);
}

/* ---- segmentation ---- */

struct wire {
	enum ib_wr_opcode opcode;
	u8 first, middle, last, only;
};

static const struct wire wires[] = {
	{ IB_WR_SEND, IB_OPCODE_SEND_FIRST, IB_OPCODE_SEND_MIDDLE, IB_OPCODE_SEND_LAST,
	  IB_OPCODE_SEND_ONLY },
	{ IB_WR_SEND_WITH_IMM, IB_OPCODE_SEND_FIRST, IB_OPCODE_SEND_MIDDLE,
	  IB_OPCODE_SEND_LAST_WITH_IMMEDIATE, IB_OPCODE_SEND_ONLY_WITH_IMMEDIATE },
	{ IB_WR_RDMA_WRITE, IB_OPCODE_RDMA_WRITE_FIRST, IB_OPCODE_RDMA_WRITE_MIDDLE,
	  IB_OPCODE_RDMA_WRITE_LAST, IB_OPCODE_RDMA_WRITE_ONLY },
	{ IB_WR_RDMA_WRITE_WITH_IMM, IB_OPCODE_RDMA_WRITE_FIRST, IB_OPCODE_RDMA_WRITE_MIDDLE,
	  IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE,
	  IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE },
	{ IB_WR_SEND_WITH_INV, IB_OPCODE_SEND_FIRST, IB_OPCODE_SEND_MIDDLE,
	  IB_OPCODE_SEND_LAST_WITH_INVALIDATE, IB_OPCODE_SEND_ONLY_WITH_INVALIDATE },
};

static u8 wire_operation(const struct wire *wire, u32 i, u32 packets)
{
	if (packets == 1)
		return wire->only;
	return !i ? wire->first : i == packets - 1 ? wire->last : wire->middle;
}

/* A message of @len bytes, of which the packets begin with PSN(@n). */
static u32 expect_message(struct kunit *test, const struct wire *wire, u32 len, u32 n)
{
	u32 i, packets = max(DIV_ROUND_UP(len, PEER_MTU), 1U);
	struct rc_seen seen;

	for (i = 0; i < packets; i++) {
		KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
		KUNIT_EXPECT_EQ(test, seen.operation, wire_operation(wire, i, packets));
		KUNIT_EXPECT_EQ(test, seen.psn, PSN(n + i));
		KUNIT_EXPECT_EQ(test, seen.len, min_t(u32, len - i * PEER_MTU, PEER_MTU));
		KUNIT_EXPECT_TRUE(test, payload_is(&seen, i * PEER_MTU));
		KUNIT_EXPECT_EQ(test, seen.ack_req,
				peer.ib->qp_type == IB_QPT_RC && i == packets - 1);
	}
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	return packets;
}

static const u32 lengths[] = { 0, 1, 255, 256, 257, 511, 512, 513, 768, 1000 };

static void a_message_is_cut_at_the_mtu(struct kunit *test)
{
	u32 i, j, n = 0;

	open_rc(test);
	for (i = 0; i < ARRAY_SIZE(wires); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			KUNIT_ASSERT_EQ(test, post_len(wires[i].opcode, lengths[j]), 0);
			n += expect_message(test, &wires[i], lengths[j], n);
			rc_ack(test, &peer, n - 1);
			KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
		}
	}
}

static void uc_sends_the_same_and_completes_at_once(struct kunit *test)
{
	u32 i, j, n = 0;

	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .type = IB_QPT_UC });
	for (i = 0; i < ARRAY_SIZE(wires) - 1; i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			KUNIT_ASSERT_EQ(test, post_len(wires[i].opcode, lengths[j]), 0);
			KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
			n += expect_message(test, &wires[i], lengths[j], n);
		}
	}
}

static void a_long_message_asks_for_acks_on_its_way(struct kunit *test)
{
	struct rc_seen seen;
	int i, asked = 0;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, BUF_LEN), 0);
	for (i = 0; i < BUF_LEN / PEER_MTU; i++)
		KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_TRUE(test, seen.ack_req);
	/* As if 30 packets had gone before. */
	peer.req->since_ack_req = 30;
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, BUF_LEN), 0);
	while (rc_seen(&peer, &seen))
		asked += seen.ack_req;
	KUNIT_EXPECT_EQ(test, asked, 2);
}

static void several_sges_are_one_message(struct kunit *test)
{
	struct rc_wr wr = { .opcode = IB_WR_SEND, .buf = buf, .len = 1001, .num_sge = 4 };

	open_rc(test);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	expect_message(test, &wires[0], 1001, 0);
}

static void inline_data_is_taken_when_it_is_posted(struct kunit *test)
{
	struct rc_wr wr = { .opcode = IB_WR_SEND, .len = 64, .num_sge = 2,
			    .flags = IB_SEND_INLINE };
	u8 *copy = hca_buf(test, 64, 1);
	struct rc_seen seen;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_SQD), 0);
	wr.buf = copy;
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	memset(copy, 0, 64);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_RTS), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, seen.len, 64);
	KUNIT_EXPECT_TRUE(test, payload_is(&seen, 0));
	/* More than the QP was made for. */
	wr.len = 65;
	wr.num_sge = 1;
	wr.buf = buf;
	KUNIT_EXPECT_EQ(test, rc_post(&peer, &wr), -EINVAL);
}

/* ---- headers ---- */

static void the_first_packet_of_a_write_has_the_address(struct kunit *test)
{
	struct rc_seen seen;
	struct ib_reth *reth;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_RDMA_WRITE, 300), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	reth = vib_packet_ext(seen.pkt, VIB_EXT_RETH);
	KUNIT_EXPECT_EQ(test, get_ib_reth_vaddr(reth), PEER_ADDR);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(reth->rkey), PEER_RKEY);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(reth->length), 300);
	KUNIT_EXPECT_EQ(test, seen.pkt->hdr_len, IB_LRH_BYTES + IB_BTH_BYTES + sizeof(*reth));
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, seen.pkt->hdr_len, IB_LRH_BYTES + IB_BTH_BYTES);
}

static u32 ext32(struct rc_seen *seen, enum vib_ext ext)
{
	return get_unaligned_be32(vib_packet_ext(seen->pkt, ext));
}

static void immediate_data_and_keys_come_with_the_last_packet(struct kunit *test)
{
	struct rc_wr wr = { .opcode = IB_WR_SEND_WITH_IMM, .buf = buf, .len = 10,
			    .ex = 0x1234abcd };
	struct rc_seen seen;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, ext32(&seen, VIB_EXT_IMM), 0x1234abcd);
	wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, ext32(&seen, VIB_EXT_IMM), 0x1234abcd);
	wr.opcode = IB_WR_SEND_WITH_INV;
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, ext32(&seen, VIB_EXT_IETH), 0x1234abcd);
}

static void solicited_is_what_completes_a_receive(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_WRITE
	};
	struct rc_wr wr = { .buf = buf, .len = 300, .flags = IB_SEND_SOLICITED };
	struct rc_seen seen;
	int i;

	open_rc(test);
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr.opcode = opcodes[i];
		KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
		KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
		KUNIT_EXPECT_FALSE(test, seen.solicited);
		KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
		KUNIT_EXPECT_EQ(test, seen.solicited, wr.opcode != IB_WR_RDMA_WRITE);
	}
}

static void the_path_is_in_the_headers(struct kunit *test)
{
	struct ib_other_headers *oth;
	struct rc_seen seen;
	union ib_gid gid;

	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .grh = true });
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(seen.pkt), pair.b.port->lid);
	KUNIT_EXPECT_EQ(test, vib_packet_slid(seen.pkt), pair.a.port->lid);
	KUNIT_ASSERT_TRUE(test, vib_packet_has_grh(seen.pkt));
	gid = hca_gid(&pair.b);
	KUNIT_EXPECT_MEMEQ(test, &seen.pkt->hdr.u.l.grh.dgid, &gid, sizeof(gid));
	gid = hca_gid(&pair.a);
	KUNIT_EXPECT_MEMEQ(test, &seen.pkt->hdr.u.l.grh.sgid, &gid, sizeof(gid));
	oth = vib_packet_bth(seen.pkt);
	KUNIT_EXPECT_EQ(test, ib_bth_get_qpn(oth), PEER_QPN);
	KUNIT_EXPECT_EQ(test, ib_bth_get_pkey(oth), 0xffff);
	KUNIT_EXPECT_TRUE(test, ib_bth_is_migration(oth));
}

/* ---- READs and atomics ---- */

static void a_read_takes_the_psns_of_its_responses(struct kunit *test)
{
	struct rc_seen seen;
	struct ib_reth *reth;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_RDMA_READ, 1000), 0);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, seen.operation, IB_OPCODE_RDMA_READ_REQUEST);
	KUNIT_EXPECT_EQ(test, seen.psn, PSN(0));
	KUNIT_EXPECT_EQ(test, seen.len, 0);
	reth = vib_packet_ext(seen.pkt, VIB_EXT_RETH);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(reth->length), 1000);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 4));
}

static void an_atomic_has_its_operands(struct kunit *test)
{
	struct rc_wr wr = { .opcode = IB_WR_ATOMIC_CMP_AND_SWP, .buf = buf, .len = 8,
			    .compare_add = 0x1122334455667788, .swap = 0x99 };
	struct ib_atomic_eth *eth;
	struct rc_seen seen;

	open_rc(test);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, seen.operation, IB_OPCODE_COMPARE_SWAP);
	eth = vib_packet_ext(seen.pkt, VIB_EXT_ATOMIC);
	KUNIT_EXPECT_EQ(test, get_ib_ateth_vaddr(eth), PEER_ADDR);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(eth->rkey), PEER_RKEY);
	KUNIT_EXPECT_EQ(test, get_ib_ateth_swap(eth), 0x99);
	KUNIT_EXPECT_EQ(test, get_ib_ateth_compare(eth), 0x1122334455667788);
	KUNIT_ASSERT_TRUE(test, rc_seen(&peer, &seen));
	KUNIT_EXPECT_EQ(test, seen.operation, IB_OPCODE_FETCH_ADD);
	eth = vib_packet_ext(seen.pkt, VIB_EXT_ATOMIC);
	KUNIT_EXPECT_EQ(test, get_ib_ateth_swap(eth), 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, get_ib_ateth_compare(eth), 0);
}

static void no_more_reads_are_out_than_the_peer_takes(struct kunit *test)
{
	int i;

	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .rd_atomic = 2 });
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, post_len(IB_WR_RDMA_READ, 100), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_READ_REQUEST, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_READ_REQUEST, 1));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_ONLY, 0, buf, 100);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_READ_REQUEST, 2));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
}

static void a_fence_waits_for_reads_and_not_for_sends(struct kunit *test)
{
	struct rc_wr fenced = { .opcode = IB_WR_SEND, .buf = buf, .len = 10,
				.flags = IB_SEND_FENCE };

	open_rc(test);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &fenced), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 1));
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_RDMA_READ, 10), 0);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &fenced), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_READ_REQUEST, 2));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 3));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	rc_read_response(test, &peer, IB_OPCODE_RDMA_READ_RESPONSE_ONLY, 2, buf, 10);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 4));
}

/* ---- what cannot be ---- */

static void what_the_type_does_not_have_is_refused(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_SEND_WITH_INV, IB_WR_LOCAL_INV, IB_WR_RDMA_READ_WITH_INV
	};
	const struct rc_wr inlined = { .opcode = IB_WR_RDMA_READ, .buf = buf, .len = 8,
				       .flags = IB_SEND_INLINE };
	int i;

	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .type = IB_QPT_UC });
	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		KUNIT_EXPECT_EQ(test, post_len(opcodes[i], 8), -EINVAL);
	rc_peer_close(&peer);
	open_rc(test);
	KUNIT_EXPECT_EQ(test, post_len(IB_WR_RDMA_READ_WITH_INV, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_len(IB_WR_LSO, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, post_len(0xff, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, rc_post(&peer, &inlined), -EINVAL);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
}

static void memory_that_is_not_its_own_fails_the_qp_in_order(struct kunit *test)
{
	struct ib_sge sge = { .addr = (uintptr_t)buf, .length = 10, .lkey = 0x7700 };
	struct ib_send_wr bad = { .wr_id = 2, .opcode = IB_WR_SEND, .sg_list = &sge,
				  .num_sge = 1 };

	open_rc(test);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_SEND, .buf = buf,
				      .len = 10, .wr_id = 1 }), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(peer.ib, &bad, NULL), 0);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_SEND, .buf = buf,
				      .len = 10, .wr_id = 3 }), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_LOC_PROT_ERR));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 3, IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
}

static void an_error_of_uc_is_sqe_from_which_it_comes_back(struct kunit *test)
{
	struct ib_sge sge = { .addr = (uintptr_t)buf, .length = 10, .lkey = 0x7700 };
	struct ib_send_wr bad = { .wr_id = 2, .opcode = IB_WR_SEND, .sg_list = &sge,
				  .num_sge = 1 };

	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .type = IB_QPT_UC });
	KUNIT_ASSERT_EQ(test, ib_post_send(peer.ib, &bad, NULL), 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_LOC_PROT_ERR));
	KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), IB_QPS_SQE);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_WR_FLUSH_ERR));
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
}

/* What a process may have written is not believed: it is an error of the request. */
static void an_entry_is_checked_after_it_was_copied(struct kunit *test)
{
	static const struct vib_abi_rc_wqe bad[] = {
		{ .opcode = IB_WR_SEND, .num_sge = 5 },
		{ .opcode = IB_WR_SEND, .num_sge = U32_MAX },
		{ .opcode = IB_WR_SEND, .num_sge = 65, .flags = IB_SEND_INLINE },
		{ .opcode = IB_WR_RDMA_READ, .num_sge = 8, .flags = IB_SEND_INLINE },
		{ .opcode = 0xee },
		{ .opcode = IB_WR_LSO },
	};
	struct vib_abi_rc_wqe *wqe;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		open_rc(test);
		wqe = vib_queue_slot(&peer.qp->sq, NULL);
		*wqe = bad[i];
		vib_queue_push(&peer.qp->sq);
		vib_qp_kick(peer.qp->sender);
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_LOC_QP_OP_ERR));
		KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), IB_QPS_ERR);
		rc_peer_close(&peer);
	}
}

static void an_index_that_runs_ahead_adds_nothing(struct kunit *test)
{
	struct vib_abi_ring *ring;
	u32 i;

	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .wr = 4 });
	ring = peer.qp->sq.ring;
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_SEND,
					      .wr_id = i }), 0);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, i));
	for (i = 1; i < 6; i++) {
		WRITE_ONCE(ring->tail, 4 + i);
		vib_qp_kick(peer.qp->sender);
		KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	}
	WRITE_ONCE(ring->tail, 4);
	rc_ack(test, &peer, 3);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, i, IB_WC_SUCCESS));
}

static void lengths_that_no_message_has_are_errors(struct kunit *test)
{
	struct ib_sge sge[2] = {
		{ .addr = (uintptr_t)buf, .length = 0x80000000, .lkey = 0x7700 },
		{ .addr = (uintptr_t)buf, .length = 1, .lkey = 0x7700 },
	};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2 };

	open_rc(test);
	KUNIT_ASSERT_EQ(test, ib_post_send(peer.ib, &wr, NULL), 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_LOC_LEN_ERR));
	rc_peer_close(&peer);
	open_rc(test);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_ATOMIC_FETCH_AND_ADD, 4), 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_LOC_LEN_ERR));
}

/* ---- completions and states ---- */

static void completions_come_in_order_and_as_they_were_asked_for(struct kunit *test)
{
	int i;

	open_rc(test);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_SEND,
					      .buf = buf, .len = 10, .wr_id = i,
					      .silent = i == 1 }), 0);
	rc_ack(test, &peer, 3);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 3, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	rc_peer_close(&peer);
	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .sig_all = true });
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_SEND,
				      .silent = true, .wr_id = 9 }), 0);
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 9, IB_WC_SUCCESS));
}

static void a_queue_is_full_until_its_requests_complete(struct kunit *test)
{
	int i;

	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .wr = 4 });
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_EXPECT_EQ(test, post_len(IB_WR_SEND, 10), -ENOMEM);
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_EXPECT_EQ(test, post_len(IB_WR_SEND, 10), -ENOMEM);
}

static void sqd_lets_what_has_begun_end_and_tells(struct kunit *test)
{
	open_rc(test);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_SQD), 0);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	KUNIT_EXPECT_EQ(test, pair.a.qp_events[IB_EVENT_SQ_DRAINED], 0);
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_TRUE(test, wait_within(pair.a.qp_events[IB_EVENT_SQ_DRAINED] == 1, 5000));
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_RTS), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 1));
}

static void err_flushes_in_order_and_reset_forgets(struct kunit *test)
{
	int i;

	open_rc(test);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_RDMA_READ,
					      .buf = buf, .len = 10, .wr_id = i }), 0);
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_ERR), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, i, IB_WC_WR_FLUSH_ERR));
	/* Who drains the queue posts in ERR, whatever there is. */
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = 0xff, .wr_id = 7 }), 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 7, IB_WC_WR_FLUSH_ERR));
	while (!rc_silent(&peer))
		;

	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, rc_qp_to_rts(&pair, peer.ib, &(struct rc_want){}), 0);
	KUNIT_ASSERT_EQ(test, post_len(IB_WR_SEND, 10), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_RESET), 0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
}

static struct kunit_case requester_cases[] = {
	KUNIT_CASE(a_message_is_cut_at_the_mtu),
	KUNIT_CASE(uc_sends_the_same_and_completes_at_once),
	KUNIT_CASE(a_long_message_asks_for_acks_on_its_way),
	KUNIT_CASE(several_sges_are_one_message),
	KUNIT_CASE(inline_data_is_taken_when_it_is_posted),
	KUNIT_CASE(the_first_packet_of_a_write_has_the_address),
	KUNIT_CASE(immediate_data_and_keys_come_with_the_last_packet),
	KUNIT_CASE(solicited_is_what_completes_a_receive),
	KUNIT_CASE(the_path_is_in_the_headers),
	KUNIT_CASE(a_read_takes_the_psns_of_its_responses),
	KUNIT_CASE(an_atomic_has_its_operands),
	KUNIT_CASE(no_more_reads_are_out_than_the_peer_takes),
	KUNIT_CASE(a_fence_waits_for_reads_and_not_for_sends),
	KUNIT_CASE(what_the_type_does_not_have_is_refused),
	KUNIT_CASE(memory_that_is_not_its_own_fails_the_qp_in_order),
	KUNIT_CASE(an_error_of_uc_is_sqe_from_which_it_comes_back),
	KUNIT_CASE(an_entry_is_checked_after_it_was_copied),
	KUNIT_CASE(an_index_that_runs_ahead_adds_nothing),
	KUNIT_CASE(lengths_that_no_message_has_are_errors),
	KUNIT_CASE(completions_come_in_order_and_as_they_were_asked_for),
	KUNIT_CASE(a_queue_is_full_until_its_requests_complete),
	KUNIT_CASE(sqd_lets_what_has_begun_end_and_tells),
	KUNIT_CASE(err_flushes_in_order_and_reset_forgets),
	{}
};

static struct kunit_suite vib_rc_requester_suite = {
	.name = "vib_rc_requester",
	.init = requester_init,
	.exit = requester_exit,
	.test_cases = requester_cases,
};

kunit_test_suite(vib_rc_requester_suite);
