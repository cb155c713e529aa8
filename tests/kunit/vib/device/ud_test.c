// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Datagrams from one adapter to another, and to itself (IBA vol. 1, 9.8.3, 10.5, 11.4). */
#include "hca_pair.h"

static struct hca_pair pair;
static struct hca_talk talk;
static u8 *out, *in;

#define BUF_LEN		(GRH_LEN + 4096)

static int ud_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	out = hca_buf(test, BUF_LEN, 1);
	in = hca_buf(test, BUF_LEN, 0);
	memset(in, 0xee, BUF_LEN);
	hca_talk_init(test, &pair, &talk);
	return 0;
}

static void ud_test_exit(struct kunit *test)
{
	hca_talk_exit(&talk);
	hca_pair_exit(&pair);
}

/* The completion of a receive at @side, a success. */
static struct ib_wc received(struct kunit *test, struct hca_side *side)
{
	struct ib_wc wc = {};

	KUNIT_ASSERT_TRUE(test, hca_poll(side->cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	return wc;
}

static void sent(struct kunit *test, struct hca_side *side, enum ib_wc_status status)
{
	struct ib_wc wc = {};

	KUNIT_ASSERT_TRUE(test, hca_poll(side->cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, status);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_SEND);
}

static void recv_at_b(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, hca_recv(talk.to, &pair.b, in, BUF_LEN, 5), 0);
}

/* Sends @send by talk.from, and has it complete. */
static void send_as(struct kunit *test, struct hca_send *send)
{
	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, send), 0);
	sent(test, &pair.a, IB_WC_SUCCESS);
}

static struct hca_send to_b(u32 len)
{
	return hca_send_wr(&pair.a, talk.ah, talk.to->qp_num, out, len);
}

/* ---- what arrives ---- */

static void a_datagram_arrives_behind_the_room_for_a_grh(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, 3, 256, 2044, 4096 };
	struct hca_send send;
	struct ib_wc wc;
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		memset(in, 0xee, BUF_LEN);
		recv_at_b(test);
		send = to_b(lens[i]);
		send_as(test, &send);
		wc = received(test, &pair.b);
		KUNIT_EXPECT_EQ(test, wc.byte_len, GRH_LEN + lens[i]);
		KUNIT_EXPECT_MEMEQ(test, in + GRH_LEN, out, lens[i]);
		KUNIT_EXPECT_PTR_EQ(test, memchr_inv(in, 0xee, GRH_LEN), NULL);
		KUNIT_EXPECT_PTR_EQ(test, memchr_inv(in + GRH_LEN + lens[i], 0xee,
						     BUF_LEN - GRH_LEN - lens[i]), NULL);
	}
}

static void a_completion_says_where_it_came_from(struct kunit *test)
{
	struct hca_send send = to_b(16);
	struct ib_wc wc;

	recv_at_b(test);
	send_as(test, &send);
	wc = received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 5);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, talk.to);
	KUNIT_EXPECT_EQ(test, wc.src_qp, talk.from->qp_num);
	KUNIT_EXPECT_EQ(test, wc.slid, pair.a.port->lid);
	KUNIT_EXPECT_EQ(test, wc.sl, 5);
	KUNIT_EXPECT_EQ(test, wc.pkey_index, 0);
	KUNIT_EXPECT_EQ(test, wc.dlid_path_bits, 0);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, 0);
}

static void a_grh_is_in_the_first_40_bytes(struct kunit *test)
{
	union ib_gid gid = hca_gid(&pair.b), from = hca_gid(&pair.a);
	const struct ib_grh *grh = (const struct ib_grh *)in;
	struct hca_send send;
	struct ib_ah *ah;
	struct ib_wc wc;

	ah = hca_ah_grh(test, &pair.a, pair.b.port->lid, &gid);
	send = hca_send_wr(&pair.a, ah, talk.to->qp_num, out, 9);
	recv_at_b(test);
	send_as(test, &send);
	wc = received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_GRH);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(grh->version_tclass_flow), 0x62012345);
	KUNIT_EXPECT_EQ(test, grh->next_hdr, 0x1b);
	KUNIT_EXPECT_EQ(test, grh->hop_limit, 7);
	/* BTH, DETH, payload with its pad, ICRC */
	KUNIT_EXPECT_EQ(test, be16_to_cpu(grh->paylen), 12 + 8 + 12 + 4);
	KUNIT_EXPECT_MEMEQ(test, &grh->sgid, &from, sizeof(from));
	KUNIT_EXPECT_MEMEQ(test, &grh->dgid, &gid, sizeof(gid));
	KUNIT_EXPECT_MEMEQ(test, in + GRH_LEN, out, 9);
	rdma_destroy_ah(ah, 0);
}

static void immediate_data_arrives(struct kunit *test)
{
	struct hca_send send = to_b(8);
	struct ib_wc wc;

	send.ud.wr.opcode = IB_WR_SEND_WITH_IMM;
	send.ud.wr.ex.imm_data = cpu_to_be32(0xcafe);
	recv_at_b(test);
	send_as(test, &send);
	wc = received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(wc.ex.imm_data), 0xcafe);
	KUNIT_EXPECT_EQ(test, wc.byte_len, GRH_LEN + 8);
}

static struct ib_sge sge_of(struct hca_side *side, u8 *buf, u32 len)
{
	return (struct ib_sge){
		.addr = (uintptr_t)buf, .length = len, .lkey = side->pd->local_dma_lkey,
	};
}

/* Pieces of the message and of the buffer end where they like; empty ones count nothing. */
static void lists_are_gathered_and_scattered(struct kunit *test)
{
	struct ib_sge from[] = {
		sge_of(&pair.a, out, 1), sge_of(&pair.a, out + 1, 0),
		sge_of(&pair.a, out + 1, 700), sge_of(&pair.a, out + 701, 299),
	};
	struct ib_sge to[] = {
		sge_of(&pair.b, in, 17), sge_of(&pair.b, in + 17, 25),
		sge_of(&pair.b, in + 42, 3), sge_of(&pair.b, in + 45, 2000),
	};
	struct ib_recv_wr recv = { .sg_list = to, .num_sge = ARRAY_SIZE(to) };
	struct hca_send send = to_b(0);
	struct ib_wc wc;

	send.ud.wr.sg_list = from;
	send.ud.wr.num_sge = ARRAY_SIZE(from);
	KUNIT_ASSERT_EQ(test, ib_post_recv(talk.to, &recv, NULL), 0);
	send_as(test, &send);
	wc = received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, wc.byte_len, GRH_LEN + 1000);
	KUNIT_EXPECT_MEMEQ(test, in + GRH_LEN, out, 1000);
}

/* What is sent is what was there when it was posted. */
static void a_buffer_may_be_changed_once_it_is_posted(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD };
	struct hca_send send = to_b(100), inlined = to_b(64);
	u8 was = out[0];

	inlined.ud.wr.send_flags |= IB_SEND_INLINE;
	inlined.sge.lkey = 0xdead;
	recv_at_b(test);
	KUNIT_ASSERT_EQ(test, hca_recv(talk.to, &pair.b, in + 1024, 1024, 6), 0);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(talk.from, &attr, IB_QP_STATE), 0);
	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &send), 0);
	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &inlined), 0);
	out[0] = ~was;
	KUNIT_ASSERT_EQ(test, hca_qp_modify(talk.from, IB_QPS_RTS), 0);
	received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, in[GRH_LEN], was);
	received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, in[1024 + GRH_LEN], was);
}

static void messages_stay_in_order(struct kunit *test)
{
	u32 *msg = (u32 *)out, *got = (u32 *)(in + GRH_LEN);
	struct hca_send send = to_b(sizeof(*msg));
	u32 n;

	send.ud.wr.send_flags = 0;
	for (n = 0; n < 1000; n++) {
		recv_at_b(test);
		*msg = n;
		KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &send), 0);
		received(test, &pair.b);
		KUNIT_ASSERT_EQ(test, *got, n);
	}
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
}

/* As many as a queue takes in one list: none is lost where there is a buffer for each. */
static void a_list_of_requests_goes_whole(struct kunit *test)
{
	static struct hca_send sends[PAIR_MAX_WR];
	struct ib_wc wc;
	int i;

	for (i = 0; i < PAIR_MAX_WR; i++) {
		KUNIT_ASSERT_EQ(test, hca_recv(talk.to, &pair.b, in, BUF_LEN, i), 0);
		sends[i] = to_b(4096);
		sends[i].ud.wr.sg_list = &sends[i].sge;
		sends[i].ud.wr.next = i + 1 < PAIR_MAX_WR ? &sends[i + 1].ud.wr : NULL;
	}
	KUNIT_ASSERT_EQ(test, ib_post_send(talk.from, &sends[0].ud.wr, NULL), 0);
	for (i = 0; i < PAIR_MAX_WR; i++) {
		sent(test, &pair.a, IB_WC_SUCCESS);
		KUNIT_ASSERT_TRUE(test, hca_poll(pair.b.cq, &wc));
		KUNIT_EXPECT_EQ(test, wc.wr_id, i);
	}
}

static void a_list_stops_at_the_first_that_is_refused(struct kunit *test)
{
	struct hca_send sends[3] = { to_b(8), to_b(8), to_b(8) };
	const struct ib_send_wr *bad = NULL;
	int i;

	for (i = 0; i < 3; i++) {
		sends[i].ud.wr.sg_list = &sends[i].sge;
		sends[i].ud.wr.next = i < 2 ? &sends[i + 1].ud.wr : NULL;
	}
	sends[1].ud.wr.opcode = IB_WR_RDMA_WRITE;
	KUNIT_EXPECT_EQ(test, ib_post_send(talk.from, &sends[0].ud.wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, &sends[1].ud.wr);
	sent(test, &pair.a, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
}

/* ---- what is refused, and what fails ---- */

static void expect_refused(struct kunit *test, const struct hca_send *like)
{
	struct hca_send send = *like;

	KUNIT_EXPECT_EQ(test, hca_post_send(talk.from, &send), -EINVAL);
}

static void requests_that_make_no_sense_are_refused(struct kunit *test)
{
	struct ib_pd *pd = ib_alloc_pd(&pair.a.hca->ib, 0);
	struct hca_side other = pair.a;
	struct hca_send send;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	send = to_b(8);
	send.ud.wr.opcode = IB_WR_RDMA_READ;
	expect_refused(test, &send);
	send = to_b(8);
	send.ud.wr.send_flags = IB_SEND_IP_CSUM;
	expect_refused(test, &send);
	send = to_b(8);
	send.ud.wr.num_sge = 5;
	expect_refused(test, &send);
	send = to_b(8);
	send.ud.ah = NULL;
	expect_refused(test, &send);
	send = to_b(65);
	send.ud.wr.send_flags |= IB_SEND_INLINE;
	expect_refused(test, &send);
	/* A handle of another protection domain */
	other.pd = pd;
	send = to_b(8);
	send.ud.ah = hca_ah(test, &other, pair.b.port->lid);
	expect_refused(test, &send);
	rdma_destroy_ah(send.ud.ah, 0);
	ib_dealloc_pd(pd);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
}

static void a_message_is_no_longer_than_the_mtu(struct kunit *test)
{
	struct hca_send send = to_b(4097);

	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &send), 0);
	sent(test, &pair.a, IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, hca_qp_state(talk.from), IB_QPS_SQE);
}

/* Longer than what the manager has told of the neighbour: it is lost, as the link would. */
static void what_the_neighbour_does_not_take_is_discarded(struct kunit *test)
{
	struct hca_send send = to_b(1025);

	WRITE_ONCE(pair.a.port->mtu, IB_MTU_1024);
	recv_at_b(test);
	send_as(test, &send);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	KUNIT_EXPECT_EQ(test, vib_port_counter(pair.a.port, VIB_XMIT_DISCARDS), 1);
}

static void a_buffer_that_is_too_small_is_an_error_of_the_receiver(struct kunit *test)
{
	struct hca_send send = to_b(100);
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, hca_recv(talk.to, &pair.b, in, GRH_LEN + 99, 1), 0);
	KUNIT_ASSERT_EQ(test, hca_recv(talk.to, &pair.b, in, BUF_LEN, 2), 0);
	send_as(test, &send);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.b.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.b.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, hca_qp_state(talk.to), IB_QPS_ERR);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(in, 0xee, BUF_LEN), NULL);
}

static void a_key_that_is_wrong_is_an_error_of_who_has_it(struct kunit *test)
{
	struct ib_sge sge = sge_of(&pair.b, in, BUF_LEN);
	struct ib_recv_wr recv = { .sg_list = &sge, .num_sge = 1 };
	struct hca_send send = to_b(100);
	struct ib_wc wc;

	sge.lkey = 0x12300;
	KUNIT_ASSERT_EQ(test, ib_post_recv(talk.to, &recv, NULL), 0);
	send_as(test, &send);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.b.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(in, 0xee, BUF_LEN), NULL);

	send = to_b(100);
	send.sge.lkey = 0x12300;
	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &send), 0);
	sent(test, &pair.a, IB_WC_LOC_PROT_ERR);
}

/* The key of a region is good in its protection domain, and for what it allows. */
static void a_region_is_checked(struct kunit *test)
{
	struct ib_mr *mr = pair.b.pd->device->ops.get_dma_mr(pair.b.pd, 0);
	struct ib_sge sge = sge_of(&pair.b, in, BUF_LEN);
	struct ib_recv_wr recv = { .sg_list = &sge, .num_sge = 1 };
	struct hca_send send = to_b(100);
	struct ib_wc wc;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	/* To receive it would have to allow local writes. */
	sge.lkey = mr->lkey;
	KUNIT_ASSERT_EQ(test, ib_post_recv(talk.to, &recv, NULL), 0);
	send_as(test, &send);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.b.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_LOC_PROT_ERR);
	/* Of another device it is none. */
	send = to_b(100);
	send.sge.lkey = mr->lkey;
	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &send), 0);
	sent(test, &pair.a, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, pair.b.pd->device->ops.dereg_mr(mr, NULL), 0);
}

static void without_a_receive_it_is_lost(struct kunit *test)
{
	struct hca_send send = to_b(8);

	send_as(test, &send);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_NO_RECEIVE), 1);
	recv_at_b(test);
	send_as(test, &send);
	received(test, &pair.b);
}

/* ---- addresses ---- */

static void each_lid_of_a_port_leads_to_it(struct kunit *test)
{
	struct hca_send send;
	struct ib_ah *ah;
	struct ib_wc wc;
	u16 bits;

	for (bits = 0; bits < 4; bits++) {
		ah = hca_ah(test, &pair.a, pair.b.port->lid + bits);
		send = hca_send_wr(&pair.a, ah, talk.to->qp_num, out, 8);
		recv_at_b(test);
		send_as(test, &send);
		wc = received(test, &pair.b);
		KUNIT_EXPECT_EQ(test, wc.dlid_path_bits, bits);
		rdma_destroy_ah(ah, 0);
	}
	ah = hca_ah(test, &pair.a, pair.b.port->lid + 4);
	send = hca_send_wr(&pair.a, ah, talk.to->qp_num, out, 8);
	send_as(test, &send);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_LID), 1);
	rdma_destroy_ah(ah, 0);
}

static void path_bits_choose_the_source_lid(struct kunit *test)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1 };
	struct ib_ah *ah;
	struct ib_wc wc;

	rdma_ah_set_dlid(&attr, pair.a.port->lid);
	rdma_ah_set_path_bits(&attr, 6);
	ah = rdma_create_ah(pair.b.pd, &attr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	KUNIT_ASSERT_EQ(test, hca_recv(talk.from, &pair.a, in, BUF_LEN, 1), 0);
	KUNIT_ASSERT_EQ(test, hca_send(talk.to, &pair.b, ah, talk.from->qp_num, out, 8), 0);
	wc = received(test, &pair.a);
	/* Below the LMC, which is 2. */
	KUNIT_EXPECT_EQ(test, wc.slid, pair.b.port->lid + 2);
	rdma_destroy_ah(ah, 0);
}

static void what_is_for_the_port_itself_does_not_leave_it(struct kunit *test)
{
	struct ib_ah *ah = hca_ah(test, &pair.a, pair.a.port->lid);
	u64 before = vib_port_counter(pair.a.port, VIB_XMIT_PKTS);
	struct ib_qp *other = hca_qp_rts(test, &pair.a);
	struct hca_send send = hca_send_wr(&pair.a, ah, other->qp_num, out, 500);
	struct ib_wc wc;
	int i;

	KUNIT_ASSERT_EQ(test, hca_recv(other, &pair.a, in, BUF_LEN, 1), 0);
	send.ud.wr.send_flags = 0;
	KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &send), 0);
	wc = received(test, &pair.a);
	KUNIT_EXPECT_EQ(test, wc.slid, pair.a.port->lid);
	KUNIT_EXPECT_MEMEQ(test, in + GRH_LEN, out, 500);
	KUNIT_EXPECT_EQ(test, vib_port_counter(pair.a.port, VIB_XMIT_PKTS), before);
	/* Not from a port that does not send. */
	WRITE_ONCE(pair.a.port->state, IB_PORT_ARMED);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, hca_post_send(talk.from, &send), 0);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	KUNIT_EXPECT_EQ(test, vib_port_counter(pair.a.port, VIB_XMIT_DISCARDS), 3);
	WRITE_ONCE(pair.a.port->state, IB_PORT_ACTIVE);
	ib_destroy_qp(other);
	rdma_destroy_ah(ah, 0);
}

static void an_address_handle_tells_its_address(struct kunit *test)
{
	union ib_gid gid = hca_gid(&pair.b);
	struct ib_ah *ah = hca_ah_grh(test, &pair.a, 9, &gid);
	struct rdma_ah_attr attr;

	KUNIT_ASSERT_EQ(test, rdma_query_ah(ah, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 9);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), 5);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(&attr), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), IB_AH_GRH);
	KUNIT_EXPECT_MEMEQ(test, &rdma_ah_read_grh(&attr)->dgid, &gid, sizeof(gid));
	rdma_destroy_ah(ah, 0);
	memset(&attr, 0, sizeof(attr));
	attr.type = RDMA_AH_ATTR_TYPE_IB;
	attr.port_num = 1;
	attr.sl = 16;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pair.a.pd, &attr, 0)), -EINVAL);
}

/* ---- keys ---- */

static void the_highest_bit_of_a_qkey_asks_for_the_qps_own(struct kunit *test)
{
	struct hca_send send = to_b(8);

	send.ud.remote_qkey = 0x80000001;
	recv_at_b(test);
	send_as(test, &send);
	received(test, &pair.b);
	send.ud.remote_qkey = PAIR_QKEY + 1;
	send_as(test, &send);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_QKEY), 1);
}

static void what_has_no_pkey_is_not_sent(struct kunit *test)
{
	struct hca_send send = to_b(8);

	WRITE_ONCE(pair.a.port->pkeys[0], 0);
	recv_at_b(test);
	send_as(test, &send);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.a, VIB_DROP_SEND_PKEY), 1);
}

/* ---- multicast ---- */

static void join(struct kunit *test, struct ib_qp *qp, u8 group)
{
	union ib_gid mgid = hca_mgid(group);

	KUNIT_ASSERT_EQ(test, ib_attach_mcast(qp, &mgid, PAIR_MLID), 0);
}

static void leave(struct kunit *test, struct ib_qp *qp, u8 group)
{
	union ib_gid mgid = hca_mgid(group);

	KUNIT_EXPECT_EQ(test, ib_detach_mcast(qp, &mgid, PAIR_MLID), 0);
}

/* A datagram of a's talk.from to group @group; 0: without GRH. */
static void send_mcast(struct kunit *test, struct ib_qp *qp, u8 group)
{
	union ib_gid mgid = hca_mgid(group);
	struct ib_ah *ah = hca_ah_grh(test, &pair.a, PAIR_MLID, group ? &mgid : NULL);
	struct hca_send send = hca_send_wr(&pair.a, ah, IB_MULTICAST_QPN, out, 77);

	send.ud.wr.send_flags = 0;
	KUNIT_EXPECT_EQ(test, hca_post_send(qp, &send), 0);
	flush_workqueue(vib_wq);
	rdma_destroy_ah(ah, 0);
}

/* Of two QPs at b, on one CQ, and the sender, which is in the group too. */
static void each_member_gets_a_copy(struct kunit *test)
{
	struct ib_qp *other = hca_qp_rts(test, &pair.b);
	u8 *more = hca_buf(test, BUF_LEN, 0);
	struct ib_wc wc;

	join(test, talk.from, 1);
	join(test, talk.to, 1);
	join(test, other, 1);
	recv_at_b(test);
	KUNIT_ASSERT_EQ(test, hca_recv(other, &pair.b, more, BUF_LEN, 9), 0);
	KUNIT_ASSERT_EQ(test, hca_recv(talk.from, &pair.a, more, BUF_LEN, 8), 0);
	send_mcast(test, talk.from, 1);
	wc = received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_GRH);
	KUNIT_EXPECT_EQ(test, wc.dlid_path_bits, 0);
	received(test, &pair.b);
	wc = received(test, &pair.a);
	KUNIT_EXPECT_EQ(test, wc.src_qp, talk.from->qp_num);
	KUNIT_EXPECT_MEMEQ(test, in + GRH_LEN, out, 77);
	KUNIT_EXPECT_MEMEQ(test, more + GRH_LEN, out, 77);
	leave(test, talk.from, 1);
	leave(test, talk.to, 1);
	leave(test, other, 1);
	ib_destroy_qp(other);
}

static void groups_of_one_mlid_are_told_apart_by_their_mgid(struct kunit *test)
{
	join(test, talk.to, 1);
	recv_at_b(test);
	send_mcast(test, talk.from, 2);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_MEMBER), 1);
	send_mcast(test, talk.from, 1);
	received(test, &pair.b);
	/* Without an MGID the LID decides. */
	recv_at_b(test);
	send_mcast(test, talk.from, 0);
	received(test, &pair.b);
	leave(test, talk.to, 1);
	send_mcast(test, talk.from, 1);
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_MEMBER), 2);
}

static void a_qp_that_is_attached_twice_gets_one_copy(struct kunit *test)
{
	union ib_gid mgid = hca_mgid(1);

	join(test, talk.to, 1);
	join(test, talk.to, 1);
	recv_at_b(test);
	recv_at_b(test);
	send_mcast(test, talk.from, 1);
	received(test, &pair.b);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	leave(test, talk.to, 1);
	send_mcast(test, talk.from, 1);
	received(test, &pair.b);
	leave(test, talk.to, 1);
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(talk.to, &mgid, PAIR_MLID), -EINVAL);
}

static void a_qp_may_be_spared_its_own_messages(struct kunit *test)
{
	const struct hca_qp_want want = { .flags = IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK };
	struct ib_qp *qp = hca_qp_create(&pair.a, IB_QPT_UD, &want);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
	join(test, qp, 1);
	KUNIT_ASSERT_EQ(test, hca_recv(qp, &pair.a, in, BUF_LEN, 1), 0);
	send_mcast(test, qp, 1);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	send_mcast(test, talk.from, 1);
	received(test, &pair.a);
	leave(test, qp, 1);
	ib_destroy_qp(qp);
}

/* ---- MADs ---- */

struct mad_qps {
	struct ib_qp *from, *to;
};

static void mad_qps_init(struct kunit *test, struct mad_qps *qps, enum ib_qp_type type)
{
	qps->from = hca_qp_create(&pair.a, type, &(struct hca_qp_want){});
	qps->to = hca_qp_create(&pair.b, type, &(struct hca_qp_want){});
	KUNIT_ASSERT_FALSE(test, IS_ERR(qps->from) || IS_ERR(qps->to));
	KUNIT_ASSERT_EQ(test, hca_qp_to(qps->from, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, hca_qp_to(qps->to, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, hca_recv(qps->to, &pair.b, in, GRH_LEN + 256, 1), 0);
}

static void mad_qps_exit(struct mad_qps *qps)
{
	ib_destroy_qp(qps->from);
	ib_destroy_qp(qps->to);
}

/* To whom it may concern at the other end, before there are LIDs. */
static void an_smp_needs_no_lids_and_no_active_port(struct kunit *test)
{
	struct ib_ah *ah = hca_ah(test, &pair.a, VIB_LID_PERMISSIVE);
	struct hca_send send = hca_send_wr(&pair.a, ah, 0, out, 256);
	struct mad_qps qps;
	struct ib_wc wc;

	mad_qps_init(test, &qps, IB_QPT_SMI);
	pair.a.port->lid = 0;
	pair.b.port->lid = 0;
	WRITE_ONCE(pair.a.port->state, IB_PORT_INIT);
	WRITE_ONCE(pair.b.port->state, IB_PORT_INIT);
	send.ud.remote_qkey = 0;
	KUNIT_ASSERT_EQ(test, hca_post_send(qps.from, &send), 0);
	wc = received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, wc.slid, VIB_LID_PERMISSIVE);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 0);
	KUNIT_EXPECT_EQ(test, wc.byte_len, GRH_LEN + 256);
	KUNIT_EXPECT_MEMEQ(test, in + GRH_LEN, out, 256);
	mad_qps_exit(&qps);
	rdma_destroy_ah(ah, 0);
}

/* By the entry of the P_Key table that the request names, which the receiver is told. */
static void a_mad_of_qp1_has_a_pkey_of_the_requests_choice(struct kunit *test)
{
	struct hca_send send = hca_send_wr(&pair.a, talk.ah, 1, out, 256);
	struct mad_qps qps;
	struct ib_wc wc;

	mad_qps_init(test, &qps, IB_QPT_GSI);
	pair.a.port->pkeys[3] = cpu_to_be16(0x8042);
	pair.b.port->pkeys[5] = cpu_to_be16(0x0042);
	send.ud.remote_qkey = IB_QP1_QKEY;
	send.ud.pkey_index = 3;
	KUNIT_ASSERT_EQ(test, hca_post_send(qps.from, &send), 0);
	wc = received(test, &pair.b);
	KUNIT_EXPECT_EQ(test, wc.pkey_index, 5);
	KUNIT_EXPECT_EQ(test, wc.src_qp, 1);
	send.ud.pkey_index = PAIR_PKEYS;
	KUNIT_EXPECT_EQ(test, hca_post_send(qps.from, &send), -EINVAL);
	mad_qps_exit(&qps);
}

static void a_mad_is_256_bytes_long(struct kunit *test)
{
	struct hca_send send = hca_send_wr(&pair.a, talk.ah, 1, out, 255);
	struct mad_qps qps;

	mad_qps_init(test, &qps, IB_QPT_GSI);
	send.ud.remote_qkey = IB_QP1_QKEY;
	KUNIT_ASSERT_EQ(test, hca_post_send(qps.from, &send), 0);
	sent(test, &pair.a, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.b.cq));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_LENGTH), 1);
	KUNIT_EXPECT_EQ(test, hca_qp_state(qps.to), IB_QPS_RTS);
	send.sge.length = 257;
	KUNIT_ASSERT_EQ(test, hca_post_send(qps.from, &send), 0);
	sent(test, &pair.a, IB_WC_LOC_LEN_ERR);
	mad_qps_exit(&qps);
}

static struct kunit_case ud_cases[] = {
	KUNIT_CASE(a_datagram_arrives_behind_the_room_for_a_grh),
	KUNIT_CASE(a_completion_says_where_it_came_from),
	KUNIT_CASE(a_grh_is_in_the_first_40_bytes),
	KUNIT_CASE(immediate_data_arrives),
	KUNIT_CASE(lists_are_gathered_and_scattered),
	KUNIT_CASE(a_buffer_may_be_changed_once_it_is_posted),
	KUNIT_CASE(messages_stay_in_order),
	KUNIT_CASE(a_list_of_requests_goes_whole),
	KUNIT_CASE(a_list_stops_at_the_first_that_is_refused),
	KUNIT_CASE(requests_that_make_no_sense_are_refused),
	KUNIT_CASE(a_message_is_no_longer_than_the_mtu),
	KUNIT_CASE(what_the_neighbour_does_not_take_is_discarded),
	KUNIT_CASE(a_buffer_that_is_too_small_is_an_error_of_the_receiver),
	KUNIT_CASE(a_key_that_is_wrong_is_an_error_of_who_has_it),
	KUNIT_CASE(a_region_is_checked),
	KUNIT_CASE(without_a_receive_it_is_lost),
	KUNIT_CASE(each_lid_of_a_port_leads_to_it),
	KUNIT_CASE(path_bits_choose_the_source_lid),
	KUNIT_CASE(what_is_for_the_port_itself_does_not_leave_it),
	KUNIT_CASE(an_address_handle_tells_its_address),
	KUNIT_CASE(the_highest_bit_of_a_qkey_asks_for_the_qps_own),
	KUNIT_CASE(what_has_no_pkey_is_not_sent),
	KUNIT_CASE(each_member_gets_a_copy),
	KUNIT_CASE(groups_of_one_mlid_are_told_apart_by_their_mgid),
	KUNIT_CASE(a_qp_that_is_attached_twice_gets_one_copy),
	KUNIT_CASE(a_qp_may_be_spared_its_own_messages),
	KUNIT_CASE(an_smp_needs_no_lids_and_no_active_port),
	KUNIT_CASE(a_mad_of_qp1_has_a_pkey_of_the_requests_choice),
	KUNIT_CASE(a_mad_is_256_bytes_long),
	{}
};

static struct kunit_suite vib_ud_suite = {
	.name = "vib_ud",
	.init = ud_test_init,
	.exit = ud_test_exit,
	.test_cases = ud_cases,
};

kunit_test_suite(vib_ud_suite);
