// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Send requests of a connected QP, from the entry of the send queue to the completion (IBA
 * vol. 1, 10.8.3, 10.8.5).
 *
 * An entry is copied once, into its slot, and the copy is checked and used.  Requests begin in
 * the order in which they were posted, and complete in that order; the entry leaves the
 * queue then, as who polls may post another in its place.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include "queue/cq.h"
#include "requester/requester.h"

/* PSNs in use at once: less than half of all, so that old and new can be told (9.7.2). */
#define MAX_PSNS	0x7fffff

#define MESSAGE_OP(op, wire_only, wire_last, wire_first, wire_middle, on_uc) {		\
	.valid = true, .kind = VIB_WR_MESSAGE, .wc = IB_WC_##op, .uc = on_uc,		\
	.first = IB_OPCODE_##wire_first, .middle = IB_OPCODE_##wire_middle,		\
	.last = IB_OPCODE_##wire_last, .only = IB_OPCODE_##wire_only }
#define SEND_OP(suffix, on_uc)								\
	MESSAGE_OP(SEND, SEND_ONLY##suffix, SEND_LAST##suffix, SEND_FIRST, SEND_MIDDLE, on_uc)
#define WRITE_OP(suffix)								\
	MESSAGE_OP(RDMA_WRITE, RDMA_WRITE_ONLY##suffix, RDMA_WRITE_LAST##suffix,		\
		RDMA_WRITE_FIRST, RDMA_WRITE_MIDDLE, true)
#define RC_OP(k, completion, wire) {							\
	.valid = true, .kind = VIB_WR_##k, .wc = IB_WC_##completion,			\
	.only = IB_OPCODE_##wire }
#define LOCAL_OP(completion)								\
	{ .valid = true, .kind = VIB_WR_LOCAL, .wc = IB_WC_##completion }

static const struct vib_wr_op wr_ops[] = {
	[IB_WR_SEND]			= SEND_OP(, true),
	[IB_WR_SEND_WITH_IMM]		= SEND_OP(_WITH_IMMEDIATE, true),
	[IB_WR_SEND_WITH_INV]		= SEND_OP(_WITH_INVALIDATE, false),
	[IB_WR_RDMA_WRITE]		= WRITE_OP(),
	[IB_WR_RDMA_WRITE_WITH_IMM]	= WRITE_OP(_WITH_IMMEDIATE),
	[IB_WR_RDMA_READ]		= RC_OP(READ, RDMA_READ, RDMA_READ_REQUEST),
	[IB_WR_ATOMIC_CMP_AND_SWP]	= RC_OP(ATOMIC, COMP_SWAP, COMPARE_SWAP),
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= RC_OP(ATOMIC, FETCH_ADD, FETCH_ADD),
	[IB_WR_REG_MR]			= LOCAL_OP(REG_MR),
	[IB_WR_REG_MR_INTEGRITY]	= LOCAL_OP(REG_MR),
	[IB_WR_LOCAL_INV]		= LOCAL_OP(LOCAL_INV),
	[IB_WR_BIND_MW]			= LOCAL_OP(BIND_MW),
};

static bool registers(u32 opcode)
{
	return opcode == IB_WR_REG_MR || opcode == IB_WR_REG_MR_INTEGRITY;
}

/* Both are about memory that consumers in the kernel map. */
static bool may_ask_for(const struct vib_qp *qp, u32 opcode)
{
	if (opcode == IB_WR_REG_MR_INTEGRITY && !qp->ib.integrity_en)
		return false;
	return !qp->user || !registers(opcode);
}

static_assert(sizeof(struct vib_request) == offsetofend(struct vib_request, wqe));

const struct vib_wr_op *vib_wr_op(const struct vib_qp *qp, u32 opcode)
{
	const struct vib_wr_op *op;

	if (opcode >= ARRAY_SIZE(wr_ops) || !wr_ops[opcode].valid)
		return NULL;
	if (!may_ask_for(qp, opcode))
		return NULL;
	op = &wr_ops[opcode];
	return op->uc || qp->ib.qp_type != IB_QPT_UC ? op : NULL;
}

/* ---- an entry is copied and checked ---- */

static bool wqe_in_bounds(const struct vib_qp *qp, const struct vib_request *r)
{
	if (r->wqe.flags & ~VIB_SEND_FLAGS)
		return false;
	if (r->wqe.flags & IB_SEND_INLINE)
		return r->op->kind == VIB_WR_MESSAGE &&
		       r->wqe.num_sge <= qp->cap.max_inline_data;
	return r->wqe.num_sge <= qp->cap.max_send_sge;
}

static u64 wqe_length(struct vib_abi_rc_wqe *wqe)
{
	const struct ib_sge *sge = vib_wqe_sge(wqe);
	u64 len = 0;
	u32 i;

	if (wqe->flags & IB_SEND_INLINE)
		return wqe->num_sge;
	for (i = 0; i < wqe->num_sge; i++)
		len += sge[i].length;
	return len;
}

/* What it says that no responder is asked about (11.6.2); fills in its length. */
static enum ib_wc_status request_check(const struct vib_qp *qp, struct vib_request *r)
{
	u64 len;

	if (r->flush)
		return IB_WC_WR_FLUSH_ERR;
	if (!r->op || !wqe_in_bounds(qp, r))
		return IB_WC_LOC_QP_OP_ERR;
	if (r->op->kind == VIB_WR_LOCAL)
		return IB_WC_SUCCESS;
	len = wqe_length(&r->wqe);
	if (len > VIB_MAX_MSG || DIV_ROUND_UP_ULL(len, qp->rc->mtu) > MAX_PSNS)
		return IB_WC_LOC_LEN_ERR;
	if (r->op->kind == VIB_WR_ATOMIC && len != sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	/* The consumer set that it would send none (11.2.4.2). */
	if (r->op->kind != VIB_WR_MESSAGE && !qp->rc->max_rd_atomic)
		return IB_WC_LOC_QP_OP_ERR;
	r->len = len;
	return IB_WC_SUCCESS;
}

/* The entry that is to begin next, copied into its slot; or NULL. */
static struct vib_request *request_load(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;
	struct vib_request *r = vib_request_at(qp, req->next);
	void *entry;

	if (req->loaded)
		return r;
	/* Whatever the ring's indices say, no slot is used twice. */
	if (req->next - req->una == vib_queue_size(&qp->sq))
		return NULL;
	entry = vib_queue_at(&qp->sq, req->next);
	if (!entry)
		return NULL;
	unsafe_memcpy(&r->wqe, entry, qp->sq.entry_size,
		      /* vib_requester_init() has made room for the SGEs behind it */);
	/* The compiler must not read the entry in the place of the copy. */
	barrier_data(r);
	r->op = vib_wr_op(qp, r->wqe.opcode);
	r->len = 0;
	req->loaded = true;
	return r;
}

/* The same, checked: in RTS. */
static struct vib_request *request_next(struct vib_qp *qp)
{
	bool checked = qp->rc->req.loaded;
	struct vib_request *r = request_load(qp);

	if (!r || checked)
		return r;
	r->status = request_check(qp, r);
	r->packets = 0;
	if (!r->status && r->op->kind != VIB_WR_LOCAL)
		r->packets = max(DIV_ROUND_UP(r->len, qp->rc->mtu), 1U);
	return r;
}

/* ---- it begins ---- */

static bool is_rd_atomic(const struct vib_request *r)
{
	return r->op->kind == VIB_WR_READ || r->op->kind == VIB_WR_ATOMIC;
}

/*
 * 10.8.3.3: with a fence it waits for all READs and atomics before it.  A key is invalidated
 * when nothing before can need it any more, which it would to be sent again.
 */
static bool request_must_wait(const struct vib_qp *qp, const struct vib_request *r)
{
	const struct vib_requester *req = &qp->rc->req;

	if (r->wqe.flags & IB_SEND_FENCE && req->rd_atomics)
		return true;
	if (r->op->kind == VIB_WR_LOCAL)
		return !registers(r->wqe.opcode) && vib_requests_pending(req);
	if (is_rd_atomic(r) && req->rd_atomics >= qp->rc->max_rd_atomic)
		return true;
	return vib_psn_diff(req->next_psn, req->una_psn) + r->packets > MAX_PSNS;
}

static bool request_bind(struct vib_qp *qp, const struct vib_abi_rc_wqe *wqe)
{
	struct vib_bind bind = {
		.mw_rkey = wqe->mw_rkey,
		.rkey = wqe->rkey,
		.lkey = wqe->mw_lkey,
		.access = wqe->access,
		.addr = wqe->addr,
		.length = wqe->compare_add,
	};

	return vib_mw_bind(qp, &bind);
}

/* REG_MR, LOCAL_INV, BIND_MW: is over at once. */
static bool request_run(struct vib_qp *qp, const struct vib_abi_rc_wqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_REG_MR:
		return vib_mr_register(qp, wqe->rkey, wqe->access);
	case IB_WR_REG_MR_INTEGRITY:
		return vib_integrity_register(qp, wqe->rkey, wqe->access);
	case IB_WR_LOCAL_INV:
		return vib_key_invalidate(qp, wqe->rkey, false);
	default:
		return request_bind(qp, wqe);
	}
}

static void request_begin(struct vib_qp *qp, struct vib_request *r)
{
	struct vib_requester *req = &qp->rc->req;

	req->next++;
	req->loaded = false;
	r->state = VIB_REQ_BEGUN;
	r->psn = req->next_psn;
	r->last_psn = vib_psn_add(r->psn, r->packets - 1);
	if (r->status) {
		vib_request_fail(r, r->status);
	} else if (r->op->kind == VIB_WR_LOCAL) {
		if (request_run(qp, &r->wqe))
			r->state = VIB_REQ_DONE;
		else
			vib_request_fail(r, IB_WC_MW_BIND_ERR);
	} else if (is_rd_atomic(r)) {
		req->rd_atomics++;
	}
}

struct vib_request *vib_request_current(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;
	struct vib_request *r;

	for (; req->sending != req->next; req->sending++) {
		r = vib_request_at(qp, req->sending);
		if (r->state != VIB_REQ_DONE)
			return r;
	}
	/* In SQD none begins (10.3.1.5). */
	if (READ_ONCE(qp->state) != IB_QPS_RTS)
		return NULL;
	r = request_next(qp);
	if (!r || (!r->status && request_must_wait(qp, r)))
		return NULL;
	request_begin(qp, r);
	return r;
}

void vib_request_fail(struct vib_request *r, enum ib_wc_status status)
{
	r->state = VIB_REQ_FAILED;
	r->status = status;
}

void vib_request_done(struct vib_qp *qp, struct vib_request *r)
{
	r->state = VIB_REQ_DONE;
	if (is_rd_atomic(r))
		qp->rc->req.rd_atomics--;
}

/* ---- it completes ---- */

static void request_complete(struct vib_qp *qp, struct vib_request *r, enum ib_wc_status status)
{
	struct vib_requester *req = &qp->rc->req;
	bool tell = status || qp->sig_all || r->wqe.flags & IB_SEND_SIGNALED;
	struct ib_wc wc = {
		.wr_id = r->wqe.wr_id,
		.status = status,
		.opcode = r->op ? r->op->wc : IB_WC_SEND,
		.byte_len = r->len,
		.qp = &qp->ib,
	};

	req->una++;
	if ((s32)(req->sending - req->una) < 0)
		req->sending = req->una;
	/* First: who sees the completion may post another in its place. */
	vib_queue_release(&qp->sq, req->una);
	if (tell)
		vib_cq_push(to_vib_cq(qp->ib.send_cq), &wc, false);
}

/* One that was posted to be flushed is no failure of its own. */
void vib_requests_finish(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;
	struct vib_request *r;

	while (vib_requests_pending(req)) {
		r = vib_request_at(qp, req->una);
		if (r->state == VIB_REQ_BEGUN)
			return;
		if (r->state == VIB_REQ_DONE) {
			request_complete(qp, r, IB_WC_SUCCESS);
			continue;
		}
		if (r->status != IB_WC_WR_FLUSH_ERR)
			vib_qp_send_failed(qp);
		request_complete(qp, r, r->status);
		if (r->status != IB_WC_WR_FLUSH_ERR)
			return;
	}
}

bool vib_requests_flush(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;
	unsigned int i;

	vib_requester_stop(qp);
	req->rd_atomics = 0;
	for (i = 0; i < VIB_BATCH; i++) {
		if (!vib_requests_pending(req)) {
			if (!request_load(qp))
				return false;
			req->next++;
			req->loaded = false;
		}
		request_complete(qp, vib_request_at(qp, req->una), IB_WC_WR_FLUSH_ERR);
	}
	return true;
}

/* ---- the queue ---- */

int vib_requester_init(struct vib_qp *qp, const struct ib_qp_cap *cap, struct ib_udata *udata)
{
	struct vib_requester *req = &qp->rc->req;
	u32 room = vib_send_room(cap);
	int ret;

	vib_requester_timer_init(qp);
	ret = vib_queue_init(&qp->sq, cap->max_send_wr, sizeof(struct vib_abi_rc_wqe) + room,
			     udata);
	if (ret)
		return ret;
	req->slot_size = sizeof(struct vib_request) + room;
	req->slots = kvcalloc(vib_queue_size(&qp->sq), req->slot_size, GFP_KERNEL_ACCOUNT);
	return req->slots ? 0 : -ENOMEM;
}

void vib_requester_free(struct vib_qp *qp)
{
	kvfree(qp->rc->req.slots);
}

void vib_requester_reset(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	vib_requester_stop(qp);
	/* Nothing starts it again: the work does not run. */
	hrtimer_cancel(&req->timer);
	req->timer_over = false;
	req->next = vib_queue_clear(&qp->sq);
	req->una = req->next;
	req->sending = req->next;
	req->loaded = false;
	req->rd_atomics = 0;
	vib_requester_start(qp, 0);
}

void vib_requester_start(struct vib_qp *qp, u32 psn)
{
	struct vib_requester *req = &qp->rc->req;

	req->una_psn = psn;
	req->send_psn = psn;
	WRITE_ONCE(req->next_psn, psn);
	req->since_ack_req = 0;
	req->retries = qp->rc->retry_cnt;
	req->rnr_retries = qp->rc->rnr_retry;
	req->resync = false;
	req->progress = false;
}
