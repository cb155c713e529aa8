// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The packets of requests (IBA vol. 1, 9.2, 9.4, 9.7.2, 9.7.3).
 *
 * Packet N of a message is made from its PSN alone, whether it is sent for the first time or
 * again.  A READ that is sent again asks for what has not come yet.
 */
#include "requester/requester.h"

/*
 * The last packet of each message asks for an ACK, as completions need it, and one in so many
 * of a long one, so that little has to be sent again.
 */
#define ACK_INTERVAL	32

/* ---- payload ---- */

static bool walk_inline(struct vib_request *r, u32 offset, u32 len, vib_mem_fn fn,
			void *context)
{
	if (len)
		fn(vib_wqe_inline(&r->wqe) + offset, len, context);
	return true;
}

bool vib_request_walk(struct vib_qp *qp, struct vib_request *r, u32 offset, u32 len, int access,
		      vib_mem_fn fn, void *context)
{
	const struct ib_sge *sge = vib_wqe_sge(&r->wqe);
	struct ib_sge part;
	u32 i, n;

	if (r->wqe.flags & IB_SEND_INLINE)
		return walk_inline(r, offset, len, fn, context);
	for (i = 0; len && i < r->wqe.num_sge; i++) {
		if (offset >= sge[i].length) {
			offset -= sge[i].length;
			continue;
		}
		part = sge[i];
		part.addr += offset;
		part.length -= offset;
		n = min(len, part.length);
		if (!vib_mem_walk(qp->ib.pd, &part, n, access, fn, context))
			return false;
		len -= n;
		offset = 0;
	}
	return !len;
}

static void gather_piece(void *mem, u32 len, void *context)
{
	u8 **to = context;

	memcpy(*to, mem, len);
	*to += len;
}

/*
 * Bytes of @r, for a packet.  *@payload is NULL if there are none, or no memory for them:
 * then the packet is lost.
 */
static enum ib_wc_status make_payload(struct vib_qp *qp, struct vib_request *r, u32 offset,
				      u32 len, struct vib_payload **payload)
{
	u8 *to;

	*payload = NULL;
	if (!len)
		return IB_WC_SUCCESS;
	*payload = vib_payload_alloc(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!*payload)
		return IB_WC_SUCCESS;
	to = (*payload)->data;
	if (vib_request_walk(qp, r, offset, len, 0, gather_piece, &to))
		return IB_WC_SUCCESS;
	vib_payload_put(*payload);
	*payload = NULL;
	return IB_WC_LOC_PROT_ERR;
}

/* ---- headers ---- */

static void put_ext32(struct vib_packet *pkt, enum vib_ext ext, u32 value)
{
	put_unaligned_be32(value, vib_packet_ext(pkt, ext));
}

static void fill_reth(struct vib_packet *pkt, u64 addr, u32 rkey, u32 len)
{
	struct ib_reth *reth = vib_packet_ext(pkt, VIB_EXT_RETH);

	put_ib_reth_vaddr(addr, reth);
	reth->rkey = cpu_to_be32(rkey);
	reth->length = cpu_to_be32(len);
}

/* The extension headers of a packet of a message (9.3). */
static void fill_message_ext(struct vib_packet *pkt, const struct vib_request *r, u8 exts)
{
	const struct vib_abi_rc_wqe *wqe = &r->wqe;

	if (exts & BIT(VIB_EXT_XRC))
		put_ext32(pkt, VIB_EXT_XRC, wqe->xrc_srqn & IB_QPN_MASK);
	if (exts & BIT(VIB_EXT_RETH))
		fill_reth(pkt, wqe->addr, wqe->rkey, r->len);
	if (exts & BIT(VIB_EXT_IMM))
		memcpy(vib_packet_ext(pkt, VIB_EXT_IMM), &wqe->ex, sizeof(wqe->ex));
	if (exts & BIT(VIB_EXT_IETH))
		put_ext32(pkt, VIB_EXT_IETH, wqe->ex);
}

static u8 message_operation(const struct vib_request *r, u32 psn)
{
	if (psn != r->last_psn)
		return psn == r->psn ? r->op->first : r->op->middle;
	return psn == r->psn ? r->op->only : r->op->last;
}

/* What completes a receive request may ask for an event, with its last packet (9.2.3). */
static u32 message_flags(struct vib_qp *qp, const struct vib_request *r, u32 psn)
{
	struct vib_requester *req = &qp->rc->req;
	bool last = psn == r->last_psn;
	u32 flags = 0;

	if (last && r->wqe.flags & IB_SEND_SOLICITED && r->wqe.opcode != IB_WR_RDMA_WRITE)
		flags |= VIB_RC_SOLICITED;
	req->since_ack_req++;
	if (vib_qp_is_reliable(qp) && (last || req->since_ack_req >= ACK_INTERVAL)) {
		flags |= VIB_RC_ACK_REQ;
		req->since_ack_req = 0;
	}
	return flags;
}

/* ---- packets ---- */

static struct vib_packet *request_packet(struct vib_qp *qp, const struct vib_request *r,
					 u8 operation, u32 psn, u32 flags)
{
	struct vib_packet *pkt = vib_rc_packet(qp, operation, psn, flags);

	if (pkt)
		fill_message_ext(pkt, r, vib_op_ext(vib_rc_transport(qp) | operation));
	return pkt;
}

static enum ib_wc_status send_message(struct vib_qp *qp, struct vib_request *r, u32 psn)
{
	u32 offset = vib_psn_diff(psn, r->psn) * qp->rc->mtu;
	u32 len = min_t(u32, r->len - offset, qp->rc->mtu);
	u32 flags = message_flags(qp, r, psn);
	struct vib_payload *payload;
	struct vib_packet *pkt;
	enum ib_wc_status status;

	status = make_payload(qp, r, offset, len, &payload);
	if (status)
		return status;
	if (len && !payload) {
		atomic64_inc(&vib_ca_port(qp->port)->drops[VIB_DROP_NO_MEMORY]);
		return IB_WC_SUCCESS;
	}
	pkt = request_packet(qp, r, message_operation(r, psn), psn, flags);
	if (pkt) {
		if (payload)
			vib_packet_attach(pkt, payload, 0, len);
		vib_rc_xmit(qp, pkt);
	}
	vib_payload_put(payload);
	return IB_WC_SUCCESS;
}

/* What has come of it is not asked for again. */
static void send_read(struct vib_qp *qp, struct vib_request *r, u32 psn)
{
	u32 done = vib_psn_diff(psn, r->psn) * qp->rc->mtu;
	struct vib_packet *pkt = request_packet(qp, r, r->op->only, psn, 0);

	if (!pkt)
		return;
	fill_reth(pkt, r->wqe.addr + done, r->wqe.rkey, r->len - done);
	vib_rc_xmit(qp, pkt);
}

static void send_atomic(struct vib_qp *qp, struct vib_request *r, u32 psn)
{
	struct vib_packet *pkt = request_packet(qp, r, r->op->only, psn, 0);
	const struct vib_abi_rc_wqe *wqe = &r->wqe;
	struct ib_atomic_eth *eth;

	if (!pkt)
		return;
	eth = vib_packet_ext(pkt, VIB_EXT_ATOMIC);
	ib_u64_put(wqe->addr, &eth->vaddr);
	eth->rkey = cpu_to_be32(wqe->rkey);
	if (wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		ib_u64_put(wqe->swap, &eth->swap_data);
		ib_u64_put(wqe->compare_add, &eth->compare_data);
	} else {
		ib_u64_put(wqe->compare_add, &eth->swap_data);
	}
	vib_rc_xmit(qp, pkt);
}

/* A packet of @r, which is the next; it may be lost before it leaves. */
static enum ib_wc_status send_packet(struct vib_qp *qp, struct vib_request *r)
{
	u32 psn = qp->rc->req.send_psn;

	switch (r->op->kind) {
	case VIB_WR_READ:
		send_read(qp, r, psn);
		return IB_WC_SUCCESS;
	case VIB_WR_ATOMIC:
		send_atomic(qp, r, psn);
		return IB_WC_SUCCESS;
	default:
		return send_message(qp, r, psn);
	}
}

/* The responses of a READ have its PSNs, so the next request comes after them (9.7.2). */
static void sent(struct vib_qp *qp, struct vib_request *r)
{
	struct vib_requester *req = &qp->rc->req;
	bool read = r->op->kind == VIB_WR_READ, last;

	last = read || req->send_psn == r->last_psn;
	req->send_psn = vib_psn_add(read ? r->last_psn : req->send_psn, 1);
	if (vib_psn_diff(req->send_psn, req->next_psn) > 0)
		WRITE_ONCE(req->next_psn, req->send_psn);
	if (last)
		req->sending++;
	if (vib_qp_is_reliable(qp)) {
		vib_requester_watch(qp);
		return;
	}
	/* 9.8.1: it is complete as it is sent. */
	req->una_psn = req->send_psn;
	if (last) {
		vib_request_done(qp, r);
		vib_requests_finish(qp);
	}
}

/* ---- sending ---- */

static bool may_send(const struct vib_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);

	return (state == IB_QPS_RTS || state == IB_QPS_SQD) && !qp->rc->req.rnr_wait;
}

/* One packet, or one request that needs none.  False: there is nothing to do now. */
static bool send_one(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;
	enum ib_wc_status status;
	struct vib_request *r;
	u32 una = req->una;
	bool done;

	if (!may_send(qp))
		return false;
	r = vib_request_current(qp);
	if (!r)
		return false;
	if (r->state == VIB_REQ_BEGUN) {
		if (!vib_rc_ready(qp))
			return false;
		status = send_packet(qp, r);
		if (!status) {
			sent(qp, r);
			return true;
		}
		vib_request_fail(r, status);
	}
	/* What failed waits for those before it, and nothing is sent after it. */
	done = r->state == VIB_REQ_DONE;
	vib_requests_finish(qp);
	return done || req->una != una;
}

bool vib_rc_send(struct vib_qp *qp)
{
	unsigned int i;

	for (i = 0; i < VIB_BATCH; i++) {
		if (!send_one(qp))
			break;
	}
	if (READ_ONCE(qp->state) == IB_QPS_SQD && !vib_requests_pending(&qp->rc->req))
		vib_qp_drained(qp);
	return i == VIB_BATCH;
}
