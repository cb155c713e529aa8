// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Datagrams of processes (IBA vol. 1, 9.8.3, 11.4.1.1). */
#include "memory/mr.h"
#include "process.h"

#define CMD(name)	IB_USER_VERBS_CMD_##name
#define LEN		1000

static struct hca_pair pair;
static struct process a, b;
static struct vib_qp *from, *to;
static u32 from_handle, to_handle;

static int ud_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair) ?: process_open(test, &a, &pair.a) ?:
		  process_open(test, &b, &pair.b);

	if (ret)
		return ret;
	from = process_qp(&a, &(struct process_qp_want){ .type = IB_QPT_UD }, &from_handle);
	to = process_qp(&b, &(struct process_qp_want){ .type = IB_QPT_UD }, &to_handle);
	return hca_qp_to(&from->ib, IB_QPS_RTS) ?: hca_qp_to(&to->ib, IB_QPS_RTS);
}

static void ud_exit(struct kunit *test)
{
	process_close(&a);
	process_close(&b);
	hca_pair_exit(&pair);
}

/* ---- requests ---- */

static struct vib_abi_ud_wqe to_b(u64 wr_id)
{
	return (struct vib_abi_ud_wqe){
		.wr_id = wr_id,
		.av = { .dlid = pair.b.port->lid, .port = 1, .sl = 2 },
		.remote_qpn = to->ib.qp_num,
		.remote_qkey = PAIR_QKEY,
		.opcode = IB_UVERBS_WR_SEND,
		.flags = IB_SEND_SIGNALED,
	};
}

static void add(const struct vib_abi_ud_wqe *wqe, const void *behind, u32 len)
{
	struct vib_abi_ud_wqe *entry = process_entry(&from->sq);

	*entry = *wqe;
	memcpy(entry + 1, behind, len);
	process_add(&from->sq);
}

static void add_data(const struct vib_abi_ud_wqe *wqe, u32 offset, u32 len)
{
	struct vib_abi_sge sge = { a.data + offset, len, a.key };
	struct vib_abi_ud_wqe with = *wqe;

	with.num_sge = 1;
	add(&with, &sge, sizeof(sge));
}

static int ring_bell(void)
{
	return process_doorbell(&a, CMD(POST_SEND), from_handle);
}

static bool sent(u64 wr_id, enum ib_wc_status status)
{
	return process_completed(process_cq(&a), wr_id, status);
}

static bool same(struct kunit *test, u32 len, u8 seed)
{
	u8 *buf = kunit_kmalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	process_get(&b, GRH_LEN, buf, len);
	return !memcmp(buf, hca_buf(test, len, seed), len);
}

/* ---- what works ---- */

static void a_datagram_goes_from_ring_to_ring(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);
	struct vib_abi_cqe cqe;

	wqe.opcode = IB_UVERBS_WR_SEND_WITH_IMM;
	wqe.ex = 0xabcd;
	process_fill(&a, 0, hca_buf(test, LEN, 3), LEN);
	process_recv(&b, &to->rq.queue, 2, 0, GRH_LEN + LEN);
	add_data(&wqe, 0, LEN);
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&a)));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
	KUNIT_ASSERT_TRUE(test, process_poll(process_cq(&b), &cqe));
	KUNIT_EXPECT_EQ(test, cqe.wr_id, 2);
	KUNIT_EXPECT_EQ(test, cqe.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe.byte_len, GRH_LEN + LEN);
	KUNIT_EXPECT_EQ(test, cqe.src_qp, from->ib.qp_num);
	KUNIT_EXPECT_EQ(test, cqe.slid, pair.a.port->lid);
	KUNIT_EXPECT_EQ(test, cqe.sl, 2);
	KUNIT_EXPECT_EQ(test, cqe.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, cqe.ex, 0xabcd);
	KUNIT_EXPECT_TRUE(test, same(test, LEN, 3));
}

static void two_sges_and_inline_data(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);
	struct vib_abi_sge sge[2] = {
		{ a.data, 100, a.key }, { a.data + 100, 28, a.key },
	};

	process_fill(&a, 0, hca_buf(test, 128, 5), 128);
	process_recv(&b, &to->rq.queue, 2, 0, GRH_LEN + LEN);
	wqe.num_sge = 2;
	add(&wqe, sge, sizeof(sge));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, process_completed(process_cq(&b), 2, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, same(test, 128, 5));

	wqe.wr_id = 3;
	wqe.flags |= IB_SEND_INLINE;
	wqe.num_sge = PROCESS_INLINE;
	process_recv(&b, &to->rq.queue, 4, 0, GRH_LEN + LEN);
	add(&wqe, hca_buf(test, PROCESS_INLINE, 7), PROCESS_INLINE);
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(3, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, process_completed(process_cq(&b), 4, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, same(test, PROCESS_INLINE, 7));
}

static void a_route_has_a_grh(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);
	union ib_gid gid = hca_gid(&pair.b);
	struct vib_abi_cqe cqe;
	struct ib_grh grh;

	wqe.av.grh = 2;
	wqe.av.hop_limit = 9;
	wqe.av.traffic_class = 0x20;
	wqe.av.flow_label = 0x12345;
	memcpy(wqe.av.dgid, &gid, sizeof(gid));
	process_recv(&b, &to->rq.queue, 2, 0, GRH_LEN + LEN);
	add_data(&wqe, 0, LEN);
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_ASSERT_TRUE(test, process_poll(process_cq(&b), &cqe));
	KUNIT_EXPECT_EQ(test, cqe.wc_flags, IB_WC_GRH);
	process_get(&b, 0, &grh, sizeof(grh));
	KUNIT_EXPECT_EQ(test, grh.hop_limit, 9);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(grh.version_tclass_flow), 0x62012345);
	KUNIT_EXPECT_EQ(test, memcmp(&grh.dgid, &gid, sizeof(gid)), 0);
}

/* 11.4.1.1: of a Q_Key with the highest bit set the QP's own is sent. */
static void a_process_does_not_choose_a_controlled_qkey(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);

	wqe.remote_qkey = IB_QP1_QKEY;
	process_recv(&b, &to->rq.queue, 2, 0, GRH_LEN + LEN);
	add_data(&wqe, 0, LEN);
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, process_completed(process_cq(&b), 2, IB_WC_SUCCESS));
	/* Any other is sent as it is: b has another. */
	wqe.remote_qkey = PAIR_QKEY + 1;
	add_data(&wqe, 0, LEN);
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
	KUNIT_EXPECT_EQ(test, hca_dropped(&pair.b, VIB_DROP_QKEY), 1);
}

static void groups_have_processes_as_members(struct kunit *test)
{
	struct ib_uverbs_attach_mcast cmd = { .qp_handle = to_handle, .mlid = PAIR_MLID };
	struct vib_abi_ud_wqe wqe = to_b(1);
	union ib_gid mgid = hca_mgid(9);

	memcpy(cmd.gid, &mgid, sizeof(mgid));
	KUNIT_ASSERT_EQ(test, process_call(&b, CMD(ATTACH_MCAST), &cmd, sizeof(cmd), NULL, 0), 0);
	wqe.av.dlid = PAIR_MLID;
	wqe.av.grh = 1;
	memcpy(wqe.av.dgid, &mgid, sizeof(mgid));
	wqe.remote_qpn = IB_MULTICAST_QPN;
	process_recv(&b, &to->rq.queue, 2, 0, GRH_LEN + LEN);
	add_data(&wqe, 0, LEN);
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, process_completed(process_cq(&b), 2, IB_WC_SUCCESS));
	KUNIT_EXPECT_EQ(test, process_call(&b, CMD(DETACH_MCAST), &cmd, sizeof(cmd), NULL, 0), 0);
}

static void more_than_a_ring_has_goes_in_turns(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe;
	int turn, i;

	for (turn = 0; turn < 3; turn++) {
		for (i = 0; i < PROCESS_WR; i++) {
			process_recv(&b, &to->rq.queue, 100 + i, 0, GRH_LEN + LEN);
			wqe = to_b(i);
			add_data(&wqe, 0, 10);
		}
		KUNIT_ASSERT_EQ(test, ring_bell(), 0);
		for (i = 0; i < PROCESS_WR; i++) {
			KUNIT_EXPECT_TRUE(test, sent(i, IB_WC_SUCCESS));
			KUNIT_EXPECT_TRUE(test, process_completed(process_cq(&b), 100 + i,
								  IB_WC_SUCCESS));
		}
	}
	KUNIT_EXPECT_EQ(test, from->sq.ring->head, 3 * PROCESS_WR);
}

/* ---- what is wrong with a request ---- */

/* @wqe fails with @status, and what follows is flushed; then the QP is mended. */
static void expect_wrong(struct kunit *test, const struct vib_abi_ud_wqe *wqe,
			 const struct vib_abi_sge *sge, enum ib_wc_status status)
{
	struct vib_abi_ud_wqe next = to_b(2);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };

	add(wqe, sge, sge ? sizeof(*sge) : 0);
	add(&next, NULL, 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, status));
	KUNIT_EXPECT_TRUE(test, sent(2, IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_EQ(test, hca_qp_state(&from->ib), IB_QPS_SQE);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(&from->ib, &attr, IB_QP_STATE), 0);
}

static void an_address_vector_is_checked(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);

	wqe.av.port = 0;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe.av.port = 2;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe.av.port = 255;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe = to_b(1);
	wqe.av.sl = 16;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe = to_b(1);
	wqe.av.grh = 1;
	wqe.av.sgid_index = PAIR_GUIDS;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe.av.sgid_index = 255;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
}

static void a_request_is_checked(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);

	wqe.opcode = IB_UVERBS_WR_RDMA_WRITE;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe.opcode = 0xee;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe = to_b(1);
	wqe.flags |= IB_SEND_IP_CSUM;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe = to_b(1);
	wqe.num_sge = PROCESS_SGE + 1;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe.num_sge = U32_MAX;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
	wqe.flags |= IB_SEND_INLINE;
	wqe.num_sge = PROCESS_INLINE + 1;
	expect_wrong(test, &wqe, NULL, IB_WC_LOC_QP_OP_ERR);
}

static void data_that_cannot_be_sent_is_an_error(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);
	u8 *secret = hca_buf(test, 64, 1);

	wqe.num_sge = 1;
	expect_wrong(test, &wqe, &(struct vib_abi_sge){ a.data, 4097, a.key },
		     IB_WC_LOC_LEN_ERR);
	expect_wrong(test, &wqe, &(struct vib_abi_sge){ a.data, U32_MAX, a.key },
		     IB_WC_LOC_LEN_ERR);
	expect_wrong(test, &wqe, &(struct vib_abi_sge){ a.data, 8, a.key ^ 1 },
		     IB_WC_LOC_PROT_ERR);
	expect_wrong(test, &wqe, &(struct vib_abi_sge){ a.data + PROCESS_DATA - 1, 8, a.key },
		     IB_WC_LOC_PROT_ERR);
	/* The key of all memory of the kernel. */
	expect_wrong(test, &wqe, &(struct vib_abi_sge){ (uintptr_t)secret, 8,
							VIB_LOCAL_DMA_LKEY },
		     IB_WC_LOC_PROT_ERR);
}

static void the_doorbell_is_of_states_that_send(struct kunit *test)
{
	struct vib_abi_ud_wqe wqe = to_b(1);

	KUNIT_ASSERT_EQ(test, hca_qp_modify(&from->ib, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), -EINVAL);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(&from->ib, IB_QPS_INIT), 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), -EINVAL);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(&from->ib, IB_QPS_RTR), 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), -EINVAL);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(&from->ib, IB_QPS_RTS), 0);
	KUNIT_ASSERT_EQ(test, process_fail(from), 0);
	add(&wqe, NULL, 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_WR_FLUSH_ERR));
}

static void an_index_that_runs_ahead_sends_nothing(struct kunit *test)
{
	struct vib_abi_ring *ring = from->sq.ring;
	struct vib_abi_ud_wqe wqe = to_b(1);

	WRITE_ONCE(ring->tail, PROCESS_WR + 1);
	WRITE_ONCE(ring->head, 0xdead);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&a)));
	WRITE_ONCE(ring->tail, 0);
	process_recv(&b, &to->rq.queue, 2, 0, GRH_LEN + LEN);
	add_data(&wqe, 0, LEN);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
	KUNIT_EXPECT_EQ(test, ring->head, 1);
}

static struct kunit_case ud_cases[] = {
	KUNIT_CASE(a_datagram_goes_from_ring_to_ring),
	KUNIT_CASE(two_sges_and_inline_data),
	KUNIT_CASE(a_route_has_a_grh),
	KUNIT_CASE(a_process_does_not_choose_a_controlled_qkey),
	KUNIT_CASE(groups_have_processes_as_members),
	KUNIT_CASE(more_than_a_ring_has_goes_in_turns),
	KUNIT_CASE(an_address_vector_is_checked),
	KUNIT_CASE(a_request_is_checked),
	KUNIT_CASE(data_that_cannot_be_sent_is_an_error),
	KUNIT_CASE(the_doorbell_is_of_states_that_send),
	KUNIT_CASE(an_index_that_runs_ahead_sends_nothing),
	{}
};

static struct kunit_suite ud_suite = {
	.name = "vib_user_ud",
	.init = ud_init,
	.exit = ud_exit,
	.test_cases = ud_cases,
};

kunit_test_suite(ud_suite);
