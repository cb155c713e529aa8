// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connected QPs of processes: requests from a ring, and whatever may be wrong with them. */
#include "../memory/region.h"
#include "process.h"

#define CMD(name)	IB_USER_VERBS_CMD_##name
#define LEN		600	/* three packets */

static struct hca_pair pair;
static struct process a, b;
static struct vib_qp *from, *to;
static u32 from_handle, to_handle;

static int rc_init(struct kunit *test)
{
	return hca_pair_init(test, &pair) ?: process_open(test, &a, &pair.a) ?:
	       process_open(test, &b, &pair.b);
}

static void rc_exit(struct kunit *test)
{
	process_close(&a);
	process_close(&b);
	hca_pair_exit(&pair);
}

static void open_pair(struct kunit *test, enum ib_qp_type type)
{
	from = process_qp(&a, &(struct process_qp_want){ .type = type }, &from_handle);
	to = process_qp(&b, &(struct process_qp_want){ .type = type }, &to_handle);
	KUNIT_ASSERT_EQ(test, process_connect(from, &pair.b, to->ib.qp_num), 0);
	KUNIT_ASSERT_EQ(test, process_connect(to, &pair.a, from->ib.qp_num), 0);
}

static void close_pair(void)
{
	process_destroy(&a, CMD(DESTROY_QP), from_handle);
	process_destroy(&b, CMD(DESTROY_QP), to_handle);
}

/* ---- requests ---- */

static struct vib_abi_sge sge_of(struct process *p, u32 offset, u32 len)
{
	return (struct vib_abi_sge){ p->data + offset, len, p->key };
}

/* Adds @wqe, with what is behind it. */
static void add(struct vib_qp *qp, const struct vib_abi_rc_wqe *wqe, const void *behind, u32 len)
{
	struct vib_abi_rc_wqe *entry = process_entry(&qp->sq);

	*entry = *wqe;
	memcpy(entry + 1, behind, len);
	process_add(&qp->sq);
}

static void add_sge(struct vib_qp *qp, const struct vib_abi_rc_wqe *wqe, struct vib_abi_sge sge)
{
	struct vib_abi_rc_wqe with = *wqe;

	with.num_sge = 1;
	add(qp, &with, &sge, sizeof(sge));
}

static int ring_bell(void)
{
	return process_doorbell(&a, CMD(POST_SEND), from_handle);
}

static void fill(struct kunit *test, struct process *p, u8 seed)
{
	process_fill(p, 0, hca_buf(test, 4096, seed), 4096);
}

static bool same(struct kunit *test, struct process *p, u32 offset, u32 len, u8 seed)
{
	u8 *buf = kunit_kmalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	process_get(p, offset, buf, len);
	return !memcmp(buf, hca_buf(test, len, seed), len);
}

static bool sent(u64 wr_id, enum ib_wc_status status)
{
	return process_completed(process_cq(&a), wr_id, status);
}

static bool received(u64 wr_id, enum ib_wc_status status)
{
	return process_completed(process_cq(&b), wr_id, status);
}

/* ---- what works ---- */

static void a_message_goes_from_ring_to_ring(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = {
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_SEND_WITH_IMM,
		.flags = IB_SEND_SIGNALED,
		.ex = 0x12345678,
	};
	struct vib_abi_cqe cqe;

	open_pair(test, IB_QPT_RC);
	fill(test, &a, 3);
	process_recv(&b, &to->rq.queue, 2, 100, LEN);
	add_sge(from, &wqe, sge_of(&a, 0, LEN));
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&b)));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_ASSERT_TRUE(test, process_poll(process_cq(&b), &cqe));
	KUNIT_EXPECT_EQ(test, cqe.wr_id, 2);
	KUNIT_EXPECT_EQ(test, cqe.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, cqe.byte_len, LEN);
	KUNIT_EXPECT_EQ(test, cqe.qp_num, to->ib.qp_num);
	KUNIT_EXPECT_EQ(test, cqe.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, cqe.ex, 0x12345678);
	KUNIT_EXPECT_EQ(test, cqe.slid, pair.a.port->lid);
	KUNIT_EXPECT_LE(test, cqe.timestamp, ktime_get_real_ns());
	KUNIT_EXPECT_GT(test, cqe.timestamp, ktime_get_real_ns() - 60 * NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, same(test, &b, 100, LEN, 3));
	KUNIT_ASSERT_TRUE(test, process_poll(process_cq(&a), &cqe));
	KUNIT_EXPECT_EQ(test, cqe.wr_id, 1);
	KUNIT_EXPECT_EQ(test, cqe.opcode, IB_WC_SEND);
	KUNIT_EXPECT_EQ(test, from->sq.ring->head, 1);
	KUNIT_EXPECT_EQ(test, to->rq.queue.ring->head, 1);
}

static void inline_data_is_in_the_entry(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = {
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_SEND,
		.flags = IB_SEND_INLINE,
		.num_sge = PROCESS_INLINE,
	};

	open_pair(test, IB_QPT_RC);
	process_recv(&b, &to->rq.queue, 2, 0, PROCESS_INLINE);
	add(from, &wqe, hca_buf(test, PROCESS_INLINE, 9), PROCESS_INLINE);
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, received(2, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, same(test, &b, 0, PROCESS_INLINE, 9));
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&a)));
}

static void memory_of_the_peer_is_written_and_read(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = {
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_RDMA_WRITE,
		.flags = IB_SEND_SIGNALED,
		.addr = b.data + 1000,
		.rkey = b.key,
	};
	u64 value = 40;

	open_pair(test, IB_QPT_RC);
	fill(test, &a, 5);
	process_fill(&b, 0, &value, sizeof(value));
	add_sge(from, &wqe, sge_of(&a, 0, LEN));
	wqe.wr_id = 2;
	wqe.opcode = IB_UVERBS_WR_RDMA_READ;
	add_sge(from, &wqe, sge_of(&a, 4096, LEN));
	wqe.wr_id = 3;
	wqe.opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
	wqe.addr = b.data;
	wqe.compare_add = 2;
	add_sge(from, &wqe, sge_of(&a, 8192, 8));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, sent(2, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, sent(3, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, same(test, &b, 1000, LEN, 5));
	KUNIT_EXPECT_TRUE(test, same(test, &a, 4096, LEN, 5));
	process_get(&a, 8192, &value, sizeof(value));
	KUNIT_EXPECT_EQ(test, value, 40);
	process_get(&b, 0, &value, sizeof(value));
	KUNIT_EXPECT_EQ(test, value, 42);
}

/* 10.6.7.2: the window is of the QP that bound it, until it is invalidated. */
static void a_window_is_bound_by_a_request(struct kunit *test)
{
	struct ib_uverbs_alloc_mw cmd = { .pd_handle = b.pd, .mw_type = IB_MW_TYPE_2 };
	struct ib_uverbs_alloc_mw_resp mw;
	struct vib_abi_rc_wqe bind, wqe;

	KUNIT_ASSERT_EQ(test, process_call(&b, CMD(ALLOC_MW), &cmd, sizeof(cmd), &mw,
					   sizeof(mw)), 0);
	open_pair(test, IB_QPT_RC);
	fill(test, &a, 7);
	bind = (struct vib_abi_rc_wqe){
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_BIND_MW,
		.flags = IB_SEND_SIGNALED,
		.rkey = mw.rkey ^ 1,
		.mw_rkey = mw.rkey,
		.mw_lkey = b.key,
		.addr = b.data + 512,
		.compare_add = 256,
		.access = IB_UVERBS_ACCESS_REMOTE_WRITE,
	};
	add(to, &bind, NULL, 0);
	KUNIT_ASSERT_EQ(test, process_doorbell(&b, CMD(POST_SEND), to_handle), 0);
	KUNIT_EXPECT_TRUE(test, received(1, IB_WC_SUCCESS));
	wqe = (struct vib_abi_rc_wqe){
		.wr_id = 2,
		.opcode = IB_UVERBS_WR_RDMA_WRITE,
		.flags = IB_SEND_SIGNALED,
		.addr = b.data + 512,
		.rkey = mw.rkey ^ 1,
	};
	add_sge(from, &wqe, sge_of(&a, 0, 256));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(2, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, same(test, &b, 512, 256, 7));
	bind.wr_id = 3;
	bind.opcode = IB_UVERBS_WR_LOCAL_INV;
	add(to, &bind, NULL, 0);
	KUNIT_ASSERT_EQ(test, process_doorbell(&b, CMD(POST_SEND), to_handle), 0);
	KUNIT_EXPECT_TRUE(test, received(3, IB_WC_SUCCESS));
	wqe.wr_id = 4;
	add_sge(from, &wqe, sge_of(&a, 0, 256));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(4, IB_WC_REM_ACCESS_ERR));
}

/* Annex A14: the completion is in the CQ of the SRQ that the request named. */
static void an_xrc_message_names_an_srq(struct kunit *test)
{
	struct process_qp_want want = { .type = IB_QPT_XRC_TGT, .xrcd = process_xrcd(&b) };
	struct vib_abi_rc_wqe wqe = {
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_SEND,
		.flags = IB_SEND_SIGNALED,
	};
	struct process_srq_resp resp;
	struct vib_abi_cqe cqe;
	struct vib_srq *srq;

	KUNIT_ASSERT_EQ(test, process_create_xsrq(&b, want.xrcd, &resp), 0);
	srq = to_vib_srq(process_object(&b, resp.base.srq_handle));
	to = process_qp(&b, &want, &to_handle);
	from = process_qp(&a, &(struct process_qp_want){ .type = IB_QPT_XRC_INI }, &from_handle);
	KUNIT_ASSERT_EQ(test, process_connect(from, &pair.b, to->ib.qp_num), 0);
	KUNIT_ASSERT_EQ(test, process_connect(to, &pair.a, from->ib.qp_num), 0);
	KUNIT_EXPECT_EQ(test, process_doorbell(&b, CMD(POST_SEND), to_handle), -EINVAL);
	fill(test, &a, 11);
	process_recv(&b, &srq->rq.queue, 2, 0, LEN);
	wqe.xrc_srqn = resp.vib.srqn;
	add_sge(from, &wqe, sge_of(&a, 0, LEN));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	KUNIT_ASSERT_TRUE(test, process_poll(process_cq(&b), &cqe));
	KUNIT_EXPECT_EQ(test, cqe.wr_id, 2);
	KUNIT_EXPECT_EQ(test, cqe.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, cqe.qp_num, to->ib.qp_num);
	KUNIT_EXPECT_TRUE(test, same(test, &b, 0, LEN, 11));
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
	close_pair();
}

/* ---- what is wrong with a request ---- */

static const struct vib_abi_rc_wqe wrong[] = {
	{ .opcode = 0xee },
	{ .opcode = IB_UVERBS_WR_TSO },
	{ .opcode = IB_UVERBS_WR_RDMA_READ_WITH_INV },
	/* Neither is it in the range of userspace, nor are there pages for it. */
	{ .opcode = IB_WR_REG_MR, .rkey = 0x100, .access = IB_ACCESS_REMOTE_WRITE },
	{ .opcode = IB_UVERBS_WR_SEND, .flags = IB_SEND_IP_CSUM },
	{ .opcode = IB_UVERBS_WR_SEND, .flags = 0x80 },
	{ .opcode = IB_UVERBS_WR_SEND, .num_sge = PROCESS_SGE + 1 },
	{ .opcode = IB_UVERBS_WR_SEND, .num_sge = U32_MAX },
	{ .opcode = IB_UVERBS_WR_LOCAL_INV, .num_sge = U32_MAX },
	{ .opcode = IB_UVERBS_WR_SEND, .num_sge = PROCESS_INLINE + 1,
	  .flags = IB_SEND_INLINE },
	{ .opcode = IB_UVERBS_WR_RDMA_READ, .num_sge = 8, .flags = IB_SEND_INLINE },
};

static void a_request_that_is_wrong_fails_the_connection(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe;
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		open_pair(test, IB_QPT_RC);
		wqe = wrong[i];
		wqe.wr_id = 1;
		add(from, &wqe, NULL, 0);
		wqe = (struct vib_abi_rc_wqe){ .wr_id = 2, .opcode = IB_UVERBS_WR_SEND };
		add(from, &wqe, NULL, 0);
		KUNIT_EXPECT_EQ(test, ring_bell(), 0);
		KUNIT_EXPECT_TRUE_MSG(test, sent(1, IB_WC_LOC_QP_OP_ERR), "request %d", i);
		KUNIT_EXPECT_TRUE_MSG(test, sent(2, IB_WC_WR_FLUSH_ERR), "request %d", i);
		KUNIT_EXPECT_EQ(test, hca_qp_state(&from->ib), IB_QPS_ERR);
		close_pair();
	}
}

/* 10.3.1.6: UC goes on, when its consumer has seen to it. */
static void uc_flushes_until_it_is_mended(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = { .wr_id = 1, .opcode = IB_UVERBS_WR_RDMA_READ };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };

	open_pair(test, IB_QPT_UC);
	add(from, &wqe, NULL, 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_LOC_QP_OP_ERR));
	KUNIT_EXPECT_EQ(test, hca_qp_state(&from->ib), IB_QPS_SQE);
	wqe = (struct vib_abi_rc_wqe){ .wr_id = 2, .opcode = IB_UVERBS_WR_SEND };
	add(from, &wqe, NULL, 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(2, IB_WC_WR_FLUSH_ERR));
	KUNIT_ASSERT_EQ(test, ib_modify_qp(&from->ib, &attr, IB_QP_STATE), 0);
	wqe.wr_id = 3;
	wqe.flags = IB_SEND_SIGNALED;
	process_recv(&b, &to->rq.queue, 4, 0, 64);
	add(from, &wqe, NULL, 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(3, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, received(4, IB_WC_SUCCESS));
}

/* ---- keys that are not the process's ---- */

/* The memory of @sge is not read: the request fails. */
static void expect_unreadable(struct kunit *test, struct vib_abi_sge sge)
{
	struct vib_abi_rc_wqe wqe = { .wr_id = 1, .opcode = IB_UVERBS_WR_SEND };

	open_pair(test, IB_QPT_RC);
	process_recv(&b, &to->rq.queue, 2, 0, 64);
	add_sge(from, &wqe, sge);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_LOC_PROT_ERR));
	close_pair();
}

/* Nor is it written, by what a READ brings or by a message. */
static void expect_unwritable(struct kunit *test, struct vib_abi_sge sge)
{
	struct vib_abi_rc_wqe wqe = {
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_RDMA_READ,
		.addr = b.data,
		.rkey = b.key,
	};
	struct vib_abi_recv_wqe *recv;

	open_pair(test, IB_QPT_RC);
	add_sge(from, &wqe, sge);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_LOC_PROT_ERR));
	close_pair();

	/* b sends to a, which names the memory in its receive request. */
	open_pair(test, IB_QPT_RC);
	recv = process_entry(&from->rq.queue);
	recv->wr_id = 3;
	recv->num_sge = 1;
	recv->sge[0] = sge;
	process_add(&from->rq.queue);
	wqe.opcode = IB_UVERBS_WR_SEND;
	add_sge(to, &wqe, sge_of(&b, 0, 32));
	KUNIT_EXPECT_EQ(test, process_doorbell(&b, CMD(POST_SEND), to_handle), 0);
	KUNIT_EXPECT_TRUE(test, sent(3, IB_WC_LOC_PROT_ERR));
	KUNIT_EXPECT_TRUE(test, received(1, IB_WC_REM_OP_ERR));
	close_pair();
}

static void memory_of_the_kernel_is_out_of_reach(struct kunit *test)
{
	u8 *secret = hca_buf(test, 64, 0x80), *copy = hca_buf(test, 64, 0x80);
	struct vib_abi_sge all = { (uintptr_t)secret, 32, VIB_LOCAL_DMA_LKEY }, some;
	struct vib_abi_rc_wqe wqe = {
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_RDMA_WRITE,
		.addr = (uintptr_t)secret,
		.rkey = VIB_LOCAL_DMA_LKEY,
	};
	struct region region;
	struct ib_qp *qp;

	/* The key of all memory of the kernel, in a process' domain. */
	expect_unreadable(test, all);
	expect_unwritable(test, all);
	all.lkey = 0;
	expect_unreadable(test, all);

	/* A region of the kernel's, which the adapter knows. */
	qp = hca_qp_create(&pair.a, IB_QPT_RC, &(struct hca_qp_want){});
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	region_init_registered(test, &region, qp);
	some = (struct vib_abi_sge){ region.addr, 32, region.mr->lkey };
	expect_unreadable(test, some);
	expect_unwritable(test, some);
	region_exit(&region);
	ib_destroy_qp(qp);

	/* As the peer's key. */
	open_pair(test, IB_QPT_RC);
	add_sge(from, &wqe, sge_of(&a, 0, 32));
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_REM_ACCESS_ERR));
	close_pair();
	KUNIT_EXPECT_EQ(test, memcmp(secret, copy, 64), 0);
}

static void memory_of_another_process_is_out_of_reach(struct kunit *test)
{
	struct process other;

	KUNIT_ASSERT_EQ(test, process_open(test, &other, &pair.a), 0);
	expect_unreadable(test, sge_of(&other, 0, 32));
	expect_unwritable(test, sge_of(&other, 0, 32));
	process_close(&other);
}

/* ---- what the process does meanwhile ---- */

static void an_entry_may_change_when_its_request_has_begun(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = {
		.wr_id = 1,
		.opcode = IB_UVERBS_WR_SEND,
		.flags = IB_SEND_SIGNALED,
	};

	open_pair(test, IB_QPT_RC);
	fill(test, &a, 13);
	add_sge(from, &wqe, sge_of(&a, 0, LEN));
	KUNIT_ASSERT_EQ(test, ring_bell(), 0);
	/* There is no receive request, so it is sent again later. */
	memset(from->sq.ring->entries, 0xff, from->sq.entry_size);
	process_recv(&b, &to->rq.queue, 2, 0, LEN);
	KUNIT_EXPECT_TRUE(test, received(2, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, same(test, &b, 0, LEN, 13));
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_SUCCESS));
}

static void the_queues_index_may_be_anything(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = { .wr_id = 1, .opcode = IB_UVERBS_WR_SEND };
	static const u32 ahead[] = { PROCESS_WR + 1, 0x7fffffff, 0x80000000, U32_MAX };
	struct vib_abi_ring *ring;
	int i;

	open_pair(test, IB_QPT_RC);
	ring = from->sq.ring;
	for (i = 0; i < ARRAY_SIZE(ahead); i++) {
		WRITE_ONCE(ring->tail, ahead[i]);
		WRITE_ONCE(ring->head, ahead[i] / 2);
		KUNIT_EXPECT_EQ(test, ring_bell(), 0);
		KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&a)));
	}
	WRITE_ONCE(ring->tail, 0);
	add(from, &wqe, NULL, 0);
	KUNIT_EXPECT_EQ(test, process_fail(from), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_EQ(test, ring->head, 1);
}

/* ---- the doorbell ---- */

static void the_doorbell_is_of_states_that_send(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = { .wr_id = 1, .opcode = IB_UVERBS_WR_SEND };
	struct ib_qp_attr attr = {};

	from = process_qp(&a, &(struct process_qp_want){}, &from_handle);
	KUNIT_EXPECT_EQ(test, ring_bell(), -EINVAL);
	KUNIT_ASSERT_EQ(test, process_connect(from, &pair.b, 99), 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_ASSERT_EQ(test, process_fail(from), 0);
	add(from, &wqe, NULL, 0);
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&a)));
	KUNIT_EXPECT_EQ(test, ring_bell(), 0);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_WR_FLUSH_ERR));
	attr.qp_state = IB_QPS_RESET;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(&from->ib, &attr, IB_QP_STATE), 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), -EINVAL);
	attr.qp_state = IB_QPS_INIT;
	attr.port_num = 1;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(&from->ib, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
					   IB_QP_PORT | IB_QP_ACCESS_FLAGS), 0);
	KUNIT_EXPECT_EQ(test, ring_bell(), -EINVAL);
	KUNIT_EXPECT_EQ(test, process_doorbell(&a, CMD(POST_SEND), 0x7fff), -ENOENT);
}

/* A process takes out by itself what a QP leaves in its CQ. */
static void completions_outlive_their_qp(struct kunit *test)
{
	struct vib_abi_rc_wqe wqe = { .wr_id = 1, .opcode = IB_UVERBS_WR_SEND };

	open_pair(test, IB_QPT_RC);
	add(from, &wqe, NULL, 0);
	KUNIT_ASSERT_EQ(test, process_fail(from), 0);
	close_pair();
	KUNIT_EXPECT_EQ(test, process_cq(&a)->queue.ring->head, 0);
	KUNIT_EXPECT_EQ(test, process_cq(&a)->queue.ring->tail, 1);
	KUNIT_EXPECT_TRUE(test, sent(1, IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&a)));
}

static struct kunit_case rc_cases[] = {
	KUNIT_CASE(a_message_goes_from_ring_to_ring),
	KUNIT_CASE(inline_data_is_in_the_entry),
	KUNIT_CASE(memory_of_the_peer_is_written_and_read),
	KUNIT_CASE(a_window_is_bound_by_a_request),
	KUNIT_CASE(an_xrc_message_names_an_srq),
	KUNIT_CASE(a_request_that_is_wrong_fails_the_connection),
	KUNIT_CASE(uc_flushes_until_it_is_mended),
	KUNIT_CASE(memory_of_the_kernel_is_out_of_reach),
	KUNIT_CASE(memory_of_another_process_is_out_of_reach),
	KUNIT_CASE(an_entry_may_change_when_its_request_has_begun),
	KUNIT_CASE(the_queues_index_may_be_anything),
	KUNIT_CASE(the_doorbell_is_of_states_that_send),
	KUNIT_CASE(completions_outlive_their_qp),
	{}
};

static struct kunit_suite rc_suite = {
	.name = "vib_user_rc",
	.init = rc_init,
	.exit = rc_exit,
	.test_cases = rc_cases,
};

kunit_test_suite(rc_suite);
