// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Send requests of consumers in the kernel become entries of a connected QP's send queue
 * (IBA vol. 1, 10.8, 11.4.1.1).  What is seen here to be wrong is refused; the rest is found
 * when the request begins, and completes in error.
 */
#include "requester/requester.h"

/* Inline data is the caller's own memory: it is copied now, without a key. */
static int take_inline(const struct vib_qp *qp, const struct ib_send_wr *wr,
		       struct vib_abi_rc_wqe *wqe)
{
	u8 *to = vib_wqe_inline(wqe);
	const struct ib_sge *sge;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		sge = &wr->sg_list[i];
		if (sge->length > qp->cap.max_inline_data - wqe->num_sge)
			return -EINVAL;
		memcpy(to + wqe->num_sge, ib_virt_dma_to_ptr(sge->addr), sge->length);
		wqe->num_sge += sge->length;
	}
	return 0;
}

static int take_data(const struct vib_qp *qp, const struct ib_send_wr *wr,
		     struct vib_abi_rc_wqe *wqe)
{
	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_send_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE)
		return take_inline(qp, wr, wqe);
	wqe->num_sge = wr->num_sge;
	memcpy(vib_wqe_sge(wqe), wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	return 0;
}

static int take_message(const struct vib_qp *qp, const struct ib_send_wr *wr,
			struct vib_abi_rc_wqe *wqe)
{
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	default:
		break;
	}
	if (wr->opcode == IB_WR_SEND_WITH_INV)
		wqe->ex = wr->ex.invalidate_rkey;
	else
		wqe->ex = (__force u32)wr->ex.imm_data;
	return take_data(qp, wr, wqe);
}

static int take_read(const struct vib_qp *qp, const struct ib_send_wr *wr,
		     struct vib_abi_rc_wqe *wqe)
{
	wqe->addr = rdma_wr(wr)->remote_addr;
	wqe->rkey = rdma_wr(wr)->rkey;
	return take_data(qp, wr, wqe);
}

static int take_atomic(const struct vib_qp *qp, const struct ib_send_wr *wr,
		       struct vib_abi_rc_wqe *wqe)
{
	wqe->addr = atomic_wr(wr)->remote_addr;
	wqe->rkey = atomic_wr(wr)->rkey;
	wqe->compare_add = atomic_wr(wr)->compare_add;
	wqe->swap = atomic_wr(wr)->swap;
	return take_data(qp, wr, wqe);
}

/* Consumers in the kernel have no request that binds a window. */
static int take_local(const struct ib_send_wr *wr, struct vib_abi_rc_wqe *wqe)
{
	switch (wr->opcode) {
	case IB_WR_REG_MR:
	case IB_WR_REG_MR_INTEGRITY:
		wqe->rkey = reg_wr(wr)->key;
		wqe->access = reg_wr(wr)->access;
		return 0;
	case IB_WR_LOCAL_INV:
		wqe->rkey = wr->ex.invalidate_rkey;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int take_wr(const struct vib_qp *qp, const struct ib_send_wr *wr,
		   struct vib_abi_rc_wqe *wqe)
{
	const struct vib_wr_op *op = vib_wr_op(qp, wr->opcode);

	if (!op || wr->send_flags & ~VIB_SEND_FLAGS)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE && op->kind != VIB_WR_MESSAGE)
		return -EINVAL;
	/* They have no field for the number of the SRQ (A14.3.1), either. */
	if (vib_qp_is_xrc(qp) && op->kind != VIB_WR_LOCAL)
		return -EOPNOTSUPP;
	switch (op->kind) {
	case VIB_WR_MESSAGE:
		return take_message(qp, wr, wqe);
	case VIB_WR_READ:
		return take_read(qp, wr, wqe);
	case VIB_WR_ATOMIC:
		return take_atomic(qp, wr, wqe);
	default:
		return take_local(wr, wqe);
	}
}

/*
 * In SQE and ERR nothing of a request is looked at: it will be flushed, and who drains a
 * queue posts whatever there is.
 */
int vib_rc_post(struct vib_qp *qp, const struct ib_send_wr *wr)
{
	bool flush = qp->state == IB_QPS_SQE || qp->state == IB_QPS_ERR;
	struct vib_abi_rc_wqe *wqe;
	u32 index;
	int ret = 0;

	lockdep_assert_held(&qp->sq_lock);
	if (qp->ib.qp_type == IB_QPT_XRC_TGT)
		return -EINVAL;
	wqe = vib_queue_slot(&qp->sq, &index);
	if (!wqe)
		return -ENOMEM;
	*wqe = (struct vib_abi_rc_wqe){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
	};
	if (!flush)
		ret = take_wr(qp, wr, wqe);
	if (ret)
		return ret;
	/* The work is done with the slot, as it is with the entry. */
	vib_request_at(qp, index)->flush = flush;
	vib_queue_push(&qp->sq);
	return 0;
}
