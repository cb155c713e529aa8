// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Requests that are made piece by piece; what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "ends.h"

static struct ibv_qp_ex *start(uint64_t id)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(a.qp);

	check(ex);
	ibv_wr_start(ex);
	ex->wr_id = id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	return ex;
}

static void wr_messages(void)
{
	struct ibv_sge sge[2] = { mem_sge(&a, 0, 300), mem_sge(&a, 1000, 200) };
	struct ibv_data_buf bufs[2] = { { a.mem, 20 }, { a.mem + 500, 10 } };
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 4; i++)
		check(!post_recv(&b, i, 10000 * i, 1000));
	ex = start(10);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.mem, 100);
	ex->wr_id = 11;
	ibv_wr_send_imm(ex, 0x55);
	ibv_wr_set_sge_list(ex, 2, sge);
	ex->wr_id = 12;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, a.mem, 30);
	ex->wr_id = 13;
	ibv_wr_rdma_write_imm(ex, b.mr->rkey, (uintptr_t)b.mem + 30000, 0x66);
	ibv_wr_set_inline_data_list(ex, 2, bufs);
	check(!ibv_wr_complete(ex));
	for (i = 0; i < 4; i++)
		expect(a.cq, 10 + i, IBV_WC_SUCCESS);
	check(expect(b.cq, 0, IBV_WC_SUCCESS).byte_len == 100);
	wc = expect(b.cq, 1, IBV_WC_SUCCESS);
	check(wc.byte_len == 500 && wc.imm_data == 0x55);
	check(expect(b.cq, 2, IBV_WC_SUCCESS).byte_len == 30);
	check(expect(b.cq, 3, IBV_WC_SUCCESS).imm_data == 0x66);
	check(!memcmp(b.mem, a.mem, 100) && !memcmp(b.mem + 20000, a.mem, 30));
	check(!memcmp(b.mem + 10000, a.mem, 300) && !memcmp(b.mem + 10300, a.mem + 1000, 200));
	check(!memcmp(b.mem + 30000, a.mem, 20) && !memcmp(b.mem + 30020, a.mem + 500, 10));
}

static void wr_one_sided(void)
{
	struct ibv_qp_ex *ex;
	int i;

	*(uint64_t *)b.mem = 3;
	ex = start(20);
	ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.mem + 8);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.mem, 2000);
	ex->wr_id = 21;
	ibv_wr_rdma_read(ex, b.mr->rkey, (uintptr_t)b.mem + 8);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.mem + 40000, 2000);
	ex->wr_id = 22;
	ibv_wr_atomic_fetch_add(ex, b.mr->rkey, (uintptr_t)b.mem, 4);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.mem + 50000, 8);
	ex->wr_id = 23;
	ibv_wr_atomic_cmp_swp(ex, b.mr->rkey, (uintptr_t)b.mem, 7, 9);
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.mem + 50008, 8);
	check(!ibv_wr_complete(ex));
	for (i = 20; i < 24; i++)
		expect(a.cq, i, IBV_WC_SUCCESS);
	check(!memcmp(a.mem, a.mem + 40000, 2000));
	check(word_at(&b, 0) == 9 && word_at(&a, 50000) == 3 && word_at(&a, 50008) == 7);
}

static void wr_windows(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
	struct ibv_mw_bind_info info = {
		.mr = a.mr,
		.addr = (uintptr_t)a.mem,
		.length = 100,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_qp_ex *ex;
	__u32 rkey;

	check(mw);
	rkey = ibv_inc_rkey(mw->rkey);
	ex = start(30);
	ibv_wr_bind_mw(ex, mw, rkey, &info);
	ex->wr_id = 31;
	ex->wr_flags |= IBV_SEND_FENCE;
	ibv_wr_local_inv(ex, rkey);
	check(!ibv_wr_complete(ex));
	check(expect(a.cq, 30, IBV_WC_SUCCESS).opcode == IBV_WC_BIND_MW);
	check(expect(a.cq, 31, IBV_WC_SUCCESS).opcode == IBV_WC_LOCAL_INV);
	check(!ibv_dealloc_mw(mw));
}

/* An error, or ibv_wr_abort(): none of the requests is posted. */
static void wr_undone(void)
{
	struct ibv_qp_ex *ex = start(40);

	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, a.mem, 10);
	ibv_wr_abort(ex);
	ex = start(41);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, a.mem, 10);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, a.mem, 10000);
	ibv_wr_send(ex);
	check(ibv_wr_complete(ex) == EINVAL);
	check(!post_recv(&b, 4, 0, 100));
	check(!post_send(&a, 42, 0, 50));
	expect(a.cq, 42, IBV_WC_SUCCESS);
	check(expect(b.cq, 4, IBV_WC_SUCCESS).byte_len == 50);
}

void test_wr(void)
{
	pair_up(IBV_QPT_RC);
	mem_fill(&a, 6);
	wr_messages();
	wr_one_sided();
	wr_windows();
	wr_undone();
	pair_down();
}

/* A datagram to @attr, by both ways of posting; with its GRH in front of it. */
static void datagrams(struct ibv_ah_attr *attr, bool grh)
{
	struct ibv_ah *ah = ibv_create_ah(a.pd, attr);
	struct ibv_sge sge = mem_sge(&a, 0, 500);
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = 0x77,
		.wr.ud = { .ah = ah, .remote_qpn = b.qp->qp_num, .remote_qkey = QKEY },
	};
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;

	check(ah);
	memset(b.mem, 0, 2000);
	check(!post_recv(&b, 2, 0, 1000) && !post_recv(&b, 4, 1000, 1000));
	check(!post_wr(a.qp, &wr));
	ex = start(3);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, ah, b.qp->qp_num, QKEY);
	ibv_wr_set_inline_data(ex, a.mem, 50);
	check(!ibv_wr_complete(ex));
	expect(a.cq, 1, IBV_WC_SUCCESS);
	expect(a.cq, 3, IBV_WC_SUCCESS);
	wc = expect(b.cq, 2, IBV_WC_SUCCESS);
	check(wc.byte_len == 540 && wc.src_qp == a.qp->qp_num && wc.slid == a.port.lid);
	check(wc.imm_data == 0x77 && wc.wc_flags & IBV_WC_WITH_IMM);
	check(!!(wc.wc_flags & IBV_WC_GRH) == grh);
	check(expect(b.cq, 4, IBV_WC_SUCCESS).byte_len == 90);
	check(!memcmp(b.mem + 40, a.mem, 500) && !memcmp(b.mem + 1040, a.mem, 50));
	check(!ibv_destroy_ah(ah));
}

void test_wr_ud(void)
{
	struct ibv_ah_attr attr = { .dlid = b.port.lid, .port_num = 1 };

	pair_up(IBV_QPT_UD);
	mem_fill(&a, 7);
	datagrams(&attr, false);
	attr.is_global = 1;
	check(!ibv_query_gid(b.context, 1, 0, &attr.grh.dgid));
	attr.grh.hop_limit = 1;
	datagrams(&attr, true);
	attr.port_num = 2;
	check(!ibv_create_ah(a.pd, &attr));
	pair_down();
}

/* What vib has not is refused, and says so. */
void test_refused(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 16, .wc_flags = IBV_WC_EX_WITH_TM_INFO };
	struct ibv_qp_init_attr_ex attr = qp_attr(&a, IBV_QPT_RAW_PACKET);
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_qp *qp;

	check(!ibv_create_qp_ex(a.context, &attr) && errno == EOPNOTSUPP);
	/* Dynamically connected transport, and whatever else a driver may have of its own */
	attr = qp_attr(&a, IBV_QPT_DRIVER);
	check(!ibv_create_qp_ex(a.context, &attr) && errno == EOPNOTSUPP);
	attr = qp_attr(&a, IBV_QPT_UD);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	check(!ibv_create_qp_ex(a.context, &attr) && errno == EOPNOTSUPP);
	attr = qp_attr(&a, IBV_QPT_RC);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	check(!ibv_create_qp_ex(a.context, &attr) && errno == EOPNOTSUPP);
	attr.create_flags = 0;
	qp = qp_make(&a, &attr);
	check(!ibv_destroy_qp(qp));
	attr = qp_attr(&a, IBV_QPT_RC);
	attr.cap.max_send_wr = 1 << 30;
	check(!ibv_create_qp_ex(a.context, &attr) && errno == EINVAL);
	check(!ibv_create_cq_ex(a.context, &cq_attr) && errno == EOPNOTSUPP);
	check(!ibv_create_cq(a.context, 0, NULL, NULL, 0) && errno == EINVAL);
	check(!ibv_create_cq(a.context, 1 << 30, NULL, NULL, 0) && errno == EINVAL);
	check(!ibv_alloc_mw(a.pd, IBV_MW_TYPE_1) && errno == EOPNOTSUPP);
	check(!ibv_alloc_td(a.context, &td_attr) && errno == EOPNOTSUPP);
	check(!ibv_reg_mr(a.pd, a.mem, ROOM, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
}
