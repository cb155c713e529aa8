// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Posting work requests (IBA vol. 1, 10.8, 11.4.1).  What can be seen to be wrong without
 * looking at the memory that a request names is refused; the rest completes in error, in
 * its turn.  The payload of a datagram is copied here, once; that of a connection is when a
 * packet is sent.
 */
#include "memory/mr.h"
#include "transport/rc.h"

/* Reset, Init and RTR take no send requests (10.3.1). */
static bool qp_takes_sends(const struct vib_qp *qp)
{
	lockdep_assert_held(&qp->sq_lock);
	return qp->state >= IB_QPS_RTS;
}

static bool ud_wr_valid(const struct vib_qp *qp, const struct ib_ud_wr *ud)
{
	const struct ib_send_wr *wr = &ud->wr;

	if (wr->opcode != IB_WR_SEND &&
	    (wr->opcode != IB_WR_SEND_WITH_IMM || qp->ib.qp_type == IB_QPT_SMI))
		return false;
	if (wr->send_flags & ~VIB_SEND_FLAGS || wr->num_sge < 0 ||
	    wr->num_sge > qp->cap.max_send_sge)
		return false;
	/* The handle is of the QP's protection domain and port (11.4.1.1). */
	if (!ud->ah || ud->ah->pd != qp->ib.pd || to_vib_ah(ud->ah)->av.port != qp->port->num)
		return false;
	return qp->ib.qp_type != IB_QPT_GSI || ud->pkey_index < qp->port->node->pkeys;
}

static u64 wr_length(const struct ib_send_wr *wr)
{
	u64 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	return len;
}

static void gather_piece(void *mem, u32 len, void *context)
{
	u8 **to = context;

	memcpy(*to, mem, len);
	*to += len;
}

/* Copies what @wr names to @to.  Inline data is the caller's own memory: it needs no key. */
static bool gather(const struct vib_qp *qp, const struct ib_send_wr *wr, u8 *to)
{
	const struct ib_sge *sge;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		sge = &wr->sg_list[i];
		if (wr->send_flags & IB_SEND_INLINE)
			gather_piece(ib_virt_dma_to_ptr(sge->addr), sge->length, &to);
		else if (!vib_mem_walk(qp->ib.pd, sge, sge->length, 0, gather_piece, &to))
			return false;
	}
	return true;
}

/* The payload of @wr, or the error that it will complete with, into @slot. */
static int ud_take_payload(struct vib_qp *qp, const struct ib_send_wr *wr,
			   struct vib_send_slot *slot)
{
	u64 len = wr_length(wr);

	slot->payload = NULL;
	slot->status = IB_WC_SUCCESS;
	if (wr->send_flags & IB_SEND_INLINE && len > qp->cap.max_inline_data)
		return -EINVAL;
	if (!len)
		return 0;
	if (len > VIB_MAX_MTU) {
		slot->status = IB_WC_LOC_LEN_ERR;
		return 0;
	}
	slot->payload = vib_payload_alloc(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!slot->payload)
		return -ENOMEM;
	if (!gather(qp, wr, slot->payload->data)) {
		vib_payload_put(slot->payload);
		slot->payload = NULL;
		slot->status = IB_WC_LOC_PROT_ERR;
	}
	return 0;
}

/* A datagram to be sent, as @wqe with @slot. */
static int ud_fill(struct vib_qp *qp, const struct ib_send_wr *wr, struct vib_send_wqe *wqe,
		   struct vib_send_slot *slot)
{
	const struct ib_ud_wr *ud = ud_wr(wr);
	int ret;

	if (!ud_wr_valid(qp, ud))
		return -EINVAL;
	ret = ud_take_payload(qp, wr, slot);
	if (ret)
		return ret;
	*wqe = (struct vib_send_wqe){
		.wr_id = wr->wr_id,
		.av = to_vib_ah(ud->ah)->av,
		.remote_qpn = ud->remote_qpn & IB_QPN_MASK,
		.remote_qkey = ud->remote_qkey,
		.imm_data = wr->ex.imm_data,
		.pkey_index = ud->pkey_index,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
	};
	return 0;
}

/*
 * A request that will be flushed: nothing of it is looked at, since who drains a queue posts
 * whatever there is.
 */
static void flush_fill(const struct ib_send_wr *wr, struct vib_send_wqe *wqe,
		       struct vib_send_slot *slot)
{
	*wqe = (struct vib_send_wqe){ .wr_id = wr->wr_id };
	*slot = (struct vib_send_slot){ .status = IB_WC_WR_FLUSH_ERR };
}

static int ud_post(struct vib_qp *qp, const struct ib_send_wr *wr)
{
	struct vib_send_wqe *wqe;
	u32 index;
	int ret = 0;

	lockdep_assert_held(&qp->sq_lock);
	wqe = vib_queue_slot(&qp->sq, &index);
	if (!wqe)
		return -ENOMEM;
	if (qp->state == IB_QPS_SQE || qp->state == IB_QPS_ERR)
		flush_fill(wr, wqe, &qp->slots[index]);
	else
		ret = ud_fill(qp, wr, wqe, &qp->slots[index]);
	if (!ret)
		vib_queue_push(&qp->sq);
	return ret;
}

static int send_post_one(struct vib_qp *qp, const struct ib_send_wr *wr)
{
	if (!qp_takes_sends(qp))
		return -EINVAL;
	return qp->rc ? vib_rc_post(qp, wr) : ud_post(qp, wr);
}

/*
 * A process posts to its rings by itself, so no request comes from it by this way: the call is
 * its doorbell.
 */
static int send_doorbell(struct vib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad_wr)
{
	*bad_wr = wr;
	if (wr || qp->ib.qp_type == IB_QPT_XRC_TGT || READ_ONCE(qp->state) < IB_QPS_RTS)
		return -EINVAL;
	vib_qp_kick(qp->sender);
	return 0;
}

static int vib_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad_wr)
{
	struct vib_qp *qp = to_vib_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	if (qp->user)
		return send_doorbell(qp, wr, bad_wr);
	spin_lock_irqsave(&qp->sq_lock, flags);
	for (; wr; wr = wr->next) {
		ret = send_post_one(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->sq_lock, flags);
	/* Of a list that stopped at an error, those before it go. */
	vib_qp_kick(qp->sender);
	return ret;
}

/*
 * From Init on (10.3.1.2).  A QP with an SRQ has no queue of its own (10.2.9), and a process
 * posts by itself.
 */
static int recv_post_one(struct vib_qp *qp, const struct ib_recv_wr *wr)
{
	lockdep_assert_held(&qp->rq.lock);
	if (qp->user || qp->state == IB_QPS_RESET || !qp->cap.max_recv_wr)
		return -EINVAL;
	return vib_rq_post(&qp->rq, wr);
}

/* Without a request it is the doorbell of a process: VIB_RING_DOORBELL. */
static int vib_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad_wr)
{
	struct vib_qp *qp = to_vib_qp(ibqp);
	unsigned long flags;
	bool flush;
	int ret = 0;

	spin_lock_irqsave(&qp->rq.lock, flags);
	for (; wr; wr = wr->next) {
		ret = recv_post_one(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	flush = qp->state == IB_QPS_ERR;
	spin_unlock_irqrestore(&qp->rq.lock, flags);
	if (flush)
		vib_qp_kick(&qp->recv_work);
	return ret;
}

const struct ib_device_ops vib_post_ops = {
	.post_send	= vib_post_send,
	.post_recv	= vib_post_recv,
};
