// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Data: inline, by RDMA, atomics; keys and windows. */
#include <errno.h>
#include <string.h>
#include "ends.h"

/* The data is copied when it is posted; more than the QP takes is refused. */
void test_inline(void)
{
	char data[100];
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)data, .length = 40 },
		{ .addr = (uintptr_t)data + 60, .length = 24 },
	};
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
	};
	struct ibv_wc wc;

	pair_up(IBV_QPT_RC);
	memset(data, 'x', sizeof(data));
	memset(b.mem, 0, 256);
	check(!post_recv(&b, 2, 0, 256));
	check(!post_wr(a.qp, &wr));
	memset(data, 'y', sizeof(data));
	expect(a.cq, 1, IBV_WC_SUCCESS);
	wc = expect(b.cq, 2, IBV_WC_SUCCESS);
	check(wc.byte_len == 64 && wc.opcode == IBV_WC_RECV);
	check(b.mem[0] == 'x' && b.mem[63] == 'x' && !b.mem[64]);

	sge[1].length = 5000;
	check(post_wr(a.qp, &wr) == EINVAL);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_READ;
	check(post_wr(a.qp, &wr) == EINVAL);
	pair_down();
}

void test_rdma(void)
{
	struct ibv_sge sge = mem_sge(&a, 0, 10000);
	struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, 1, &b, 20000);
	struct ibv_wc wc;

	pair_up(IBV_QPT_RC);
	mem_fill(&a, 1);
	mem_fill(&b, 2);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	check(!post_wr(a.qp, &wr));
	wc = expect(a.cq, 1, IBV_WC_SUCCESS);
	check(wc.opcode == IBV_WC_RDMA_WRITE && wc.qp_num == a.qp->qp_num);
	check(!memcmp(a.mem, b.mem + 20000, 10000));

	wr = rdma_wr(IBV_WR_RDMA_READ, 2, &b, 20000);
	sge = mem_sge(&a, 40000, 10000);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	check(!post_wr(a.qp, &wr));
	check(expect(a.cq, 2, IBV_WC_SUCCESS).opcode == IBV_WC_RDMA_READ);
	check(!memcmp(a.mem, a.mem + 40000, 10000));

	check(!post_recv(&b, 3, 0, 0));
	wr = rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, 4, &b, 100);
	wr.imm_data = 0x12345678;
	sge = mem_sge(&a, 0, 50);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	check(!post_wr(a.qp, &wr));
	expect(a.cq, 4, IBV_WC_SUCCESS);
	wc = expect(b.cq, 3, IBV_WC_SUCCESS);
	check(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 50);
	check(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == 0x12345678);
	pair_down();
}

void test_atomics(void)
{
	struct ibv_sge sge = mem_sge(&a, 64, 8);
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {
			.remote_addr = (uintptr_t)b.mem + 8,
			.rkey = b.mr->rkey,
			.compare_add = 5,
		},
	};

	pair_up(IBV_QPT_RC);
	*(uint64_t *)(b.mem + 8) = 1000;
	check(!post_wr(a.qp, &wr));
	check(expect(a.cq, 1, IBV_WC_SUCCESS).opcode == IBV_WC_FETCH_ADD);
	check(word_at(&a, 64) == 1000 && word_at(&b, 8) == 1005);

	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 1005;
	wr.wr.atomic.swap = 7;
	check(!post_wr(a.qp, &wr));
	check(expect(a.cq, 1, IBV_WC_SUCCESS).opcode == IBV_WC_COMP_SWAP);
	check(word_at(&a, 64) == 1005 && word_at(&b, 8) == 7);
	check(!post_wr(a.qp, &wr));
	expect(a.cq, 1, IBV_WC_SUCCESS);
	check(word_at(&a, 64) == 7 && word_at(&b, 8) == 7);
	pair_down();
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	check(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

/* What is behind the request that fails is flushed, and so is what is posted later. */
static void bad_request(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_send_wr next = {
		.wr_id = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	pair_up(IBV_QPT_RC);
	check(!post_recv(&a, 3, 0, 10));
	wr->next = &next;
	check(!post_wr(a.qp, wr));
	expect(a.cq, wr->wr_id, status);
	/* The queues are flushed side by side. */
	expect_all(a.cq, 2, 2, IBV_WC_WR_FLUSH_ERR);
	check(state_of(a.qp) == IBV_QPS_ERR);
	check(!post_send(&a, 4, 0, 10));
	expect(a.cq, 4, IBV_WC_WR_FLUSH_ERR);
	check(!post_recv(&a, 5, 0, 10));
	expect(a.cq, 5, IBV_WC_WR_FLUSH_ERR);
	pair_down();
}

void test_bad_keys(void)
{
	struct ibv_sge sge = mem_sge(&a, 0, 100);
	struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, 1, &b, 0);

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.wr.rdma.rkey ^= 0x55;
	bad_request(&wr, IBV_WC_REM_ACCESS_ERR);
	wr = rdma_wr(IBV_WR_RDMA_WRITE, 1, &b, ROOM - 99);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	bad_request(&wr, IBV_WC_REM_ACCESS_ERR);
	wr = rdma_wr(IBV_WR_RDMA_WRITE, 1, &b, 0);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	sge.lkey ^= 0x55;
	bad_request(&wr, IBV_WC_LOC_PROT_ERR);
}

/* ---- windows ---- */

static void bind(struct ibv_mw *mw, uint32_t rkey, unsigned int offset, unsigned int length)
{
	struct ibv_send_wr wr = {
		.wr_id = 50,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = rkey,
			.bind_info = {
				.mr = b.mr,
				.addr = (uintptr_t)b.mem + offset,
				.length = length,
				/* The first means nothing. */
				.mw_access_flags = IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};

	check(!post_wr(b.qp, &wr));
	check(expect(b.cq, 50, IBV_WC_SUCCESS).opcode == IBV_WC_BIND_MW);
	mw->rkey = rkey;
}

static void write_window(const struct ibv_mw *mw, unsigned int offset, enum ibv_wc_status status)
{
	struct ibv_sge sge = mem_sge(&a, 0, 100);
	struct ibv_send_wr wr = rdma_wr(IBV_WR_RDMA_WRITE, 60, &b, offset);

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.wr.rdma.rkey = mw->rkey;
	check(!post_wr(a.qp, &wr));
	expect(a.cq, 60, status);
}

/* A window is bound, used, invalidated by either side, and keeps its bounds. */
void test_windows(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = {
		.wr_id = 51,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;

	check(mw);
	pair_up(IBV_QPT_RC);
	mem_fill(&a, 3);
	bind(mw, ibv_inc_rkey(mw->rkey), 1000, 200);
	check(ibv_dereg_mr(b.mr));
	write_window(mw, 1100, IBV_WC_SUCCESS);
	check(!memcmp(a.mem, b.mem + 1100, 100));

	wr.invalidate_rkey = mw->rkey;
	check(!post_wr(b.qp, &wr));
	check(expect(b.cq, 51, IBV_WC_SUCCESS).opcode == IBV_WC_LOCAL_INV);
	bind(mw, ibv_inc_rkey(mw->rkey), 3000, 200);
	write_window(mw, 3000, IBV_WC_SUCCESS);

	check(!post_recv(&b, 52, 0, 10));
	wr.wr_id = 53;
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.invalidate_rkey = mw->rkey;
	check(!post_wr(a.qp, &wr));
	expect(a.cq, 53, IBV_WC_SUCCESS);
	wc = expect(b.cq, 52, IBV_WC_SUCCESS);
	check(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == mw->rkey);

	bind(mw, ibv_inc_rkey(mw->rkey), 5000, 200);
	write_window(mw, 5101, IBV_WC_REM_ACCESS_ERR);
	pair_down();
	check(!ibv_dealloc_mw(mw));
}
