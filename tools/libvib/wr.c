// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Send requests that are made piece by piece (ibv_wr_start(), ibv_wr_send(), ...), in the
 * send queue itself.  It is locked from the start to the end; the first error is kept for
 * ibv_wr_complete(), and with it none of the requests is posted.
 */
#include <assert.h>
#include <errno.h>
#include "vib.h"

static struct vib_qp *to_qp(struct ibv_qp_ex *qp)
{
	return to_vib_qp(&qp->qp_base);
}

static void wr_fail(struct vib_qp *qp, int error)
{
	qp->wqe = NULL;
	if (!qp->wr_error)
		qp->wr_error = error;
}

static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct vib_qp *qp = to_qp(ibqp);

	pthread_mutex_lock(&qp->sq_lock);
	qp->wr_first = qp->sq.next;
	qp->wr_error = takes_sends(qp) ? 0 : EINVAL;
	qp->wqe = NULL;
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	struct vib_qp *qp = to_qp(ibqp);

	qp->sq.next = qp->wr_first;
	qp->wqe = NULL;
	pthread_mutex_unlock(&qp->sq_lock);
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct vib_qp *qp = to_qp(ibqp);
	int ret = qp->wr_error;

	qp->wqe = NULL;
	if (ret)
		qp->sq.next = qp->wr_first;
	else
		ret = vib_sq_submit(qp, qp->wr_first);
	pthread_mutex_unlock(&qp->sq_lock);
	return ret;
}

/* Begins a request of a connected QP.  NULL: there was an error. */
static struct vib_abi_rc_wqe *add_rc(struct vib_qp *qp, enum ibv_wr_opcode opcode)
{
	uint8_t flags = qp->ibv.qp_ex.wr_flags | (qp->sig_all ? IBV_SEND_SIGNALED : 0);

	if (!qp->wr_error)
		qp->wqe = ring_slot(&qp->sq);
	if (qp->wr_error || !qp->wqe) {
		wr_fail(qp, ENOMEM);
		return NULL;
	}
	/* Inline data has a setter of its own. */
	qp->wqe->rc = (struct vib_abi_rc_wqe){
		.wr_id = qp->ibv.qp_ex.wr_id,
		.opcode = opcode,
		.flags = flags & ~IBV_SEND_INLINE,
	};
	qp->sq.next++;
	return &qp->wqe->rc;
}

static void add_ud(struct vib_qp *qp, enum ibv_wr_opcode opcode, uint32_t ex)
{
	uint8_t flags = qp->ibv.qp_ex.wr_flags | (qp->sig_all ? IBV_SEND_SIGNALED : 0);

	if (!qp->wr_error)
		qp->wqe = ring_slot(&qp->sq);
	if (qp->wr_error || !qp->wqe) {
		wr_fail(qp, ENOMEM);
		return;
	}
	qp->wqe->ud = (struct vib_abi_ud_wqe){
		.wr_id = qp->ibv.qp_ex.wr_id,
		.opcode = opcode,
		.flags = flags & ~IBV_SEND_INLINE,
		.ex = ex,
	};
	qp->sq.next++;
}

/* ---- operations ---- */

static void add_send(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode, uint32_t ex)
{
	struct vib_qp *qp = to_qp(ibqp);
	struct vib_abi_rc_wqe *wqe;

	if (is_ud(qp)) {
		add_ud(qp, opcode, ex);
		return;
	}
	wqe = add_rc(qp, opcode);
	if (wqe)
		wqe->ex = ex;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	add_send(qp, IBV_WR_SEND, 0);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	add_send(qp, IBV_WR_SEND_WITH_IMM, imm_data);
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	add_send(qp, IBV_WR_SEND_WITH_INV, invalidate_rkey);
}

static void add_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey,
		     uint64_t remote_addr, uint32_t ex)
{
	struct vib_abi_rc_wqe *wqe = add_rc(to_qp(qp), opcode);

	if (!wqe)
		return;
	wqe->rkey = rkey;
	wqe->addr = remote_addr;
	wqe->ex = ex;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	add_rdma(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	add_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr, imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	add_rdma(qp, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void add_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey,
		       uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	struct vib_abi_rc_wqe *wqe = add_rc(to_qp(qp), opcode);

	if (!wqe)
		return;
	wqe->rkey = rkey;
	wqe->addr = remote_addr;
	wqe->compare_add = compare_add;
	wqe->swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	add_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	add_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	struct vib_abi_rc_wqe *wqe = add_rc(to_qp(qp), IBV_WR_LOCAL_INV);

	if (wqe)
		wqe->rkey = invalidate_rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct vib_qp *qp = to_qp(ibqp);
	struct vib_abi_rc_wqe *wqe = add_rc(qp, IBV_WR_BIND_MW);
	int ret;

	if (!wqe)
		return;
	ret = vib_wqe_set_bind(wqe, mw, rkey, info);
	if (ret)
		wr_fail(qp, ret);
}

/* ---- what an operation is about ---- */

static void wr_set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct vib_qp *qp = to_qp(ibqp);

	if (!qp->wqe)
		return;
	qp->wqe->ud.av = to_vib_ah(ah)->av;
	qp->wqe->ud.remote_qpn = remote_qpn;
	qp->wqe->ud.remote_qkey = remote_qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ibqp, uint32_t remote_srqn)
{
	struct vib_qp *qp = to_qp(ibqp);

	if (qp->wqe)
		qp->wqe->rc.xrc_srqn = remote_srqn;
}

static void set_inline_list(struct ibv_qp_ex *ibqp, size_t num_buf,
			    const struct ibv_data_buf *list)
{
	struct vib_qp *qp = to_qp(ibqp);
	int ret = 0;
	size_t i;

	if (!qp->wqe)
		return;
	vib_wqe_begin_inline(qp, qp->wqe);
	for (i = 0; i < num_buf && !ret; i++)
		ret = vib_wqe_add_inline(qp, qp->wqe, list[i].addr, list[i].length);
	if (ret)
		wr_fail(qp, ret);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	set_inline_list(qp, 1, &buf);
}

static void wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge, const struct ibv_sge *list)
{
	struct vib_qp *qp = to_qp(ibqp);
	int ret;

	if (!qp->wqe)
		return;
	ret = vib_wqe_set_sge(qp, qp->wqe, list, num_sge);
	if (ret)
		wr_fail(qp, ret);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(qp, 1, &sge);
}

/* ---- a QP's functions: of the operations that it may have, those that are asked for ---- */

/*
 * Bit N of enum ibv_qp_create_send_ops_flags is operation N of enum ibv_wr_opcode, up to
 * IBV_WR_SEND_WITH_INV.
 */
static_assert(IBV_QP_EX_WITH_SEND == 1 << IBV_WR_SEND, "the same bits");
static_assert(IBV_QP_EX_WITH_SEND_WITH_INV == 1 << IBV_WR_SEND_WITH_INV, "the same bits");

static void set_operations(struct ibv_qp_ex *qp, uint64_t wanted)
{
	if (wanted & IBV_QP_EX_WITH_SEND)
		qp->wr_send = wr_send;
	if (wanted & IBV_QP_EX_WITH_SEND_WITH_IMM)
		qp->wr_send_imm = wr_send_imm;
	if (wanted & IBV_QP_EX_WITH_SEND_WITH_INV)
		qp->wr_send_inv = wr_send_inv;
	if (wanted & IBV_QP_EX_WITH_RDMA_WRITE)
		qp->wr_rdma_write = wr_rdma_write;
	if (wanted & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		qp->wr_rdma_write_imm = wr_rdma_write_imm;
	if (wanted & IBV_QP_EX_WITH_RDMA_READ)
		qp->wr_rdma_read = wr_rdma_read;
	if (wanted & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (wanted & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (wanted & IBV_QP_EX_WITH_LOCAL_INV)
		qp->wr_local_inv = wr_local_inv;
	if (wanted & IBV_QP_EX_WITH_BIND_MW)
		qp->wr_bind_mw = wr_bind_mw;
}

int vib_qp_set_wr(struct vib_qp *qp, uint32_t possible, uint64_t wanted)
{
	struct ibv_qp_ex *ex = &qp->ibv.qp_ex;

	if (wanted & ~(uint64_t)possible)
		return EOPNOTSUPP;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = set_inline_list;
	set_operations(ex, wanted);
	return 0;
}
