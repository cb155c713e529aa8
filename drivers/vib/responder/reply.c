// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a responder sends: ACKs and NAKs, and the responses of READs and atomics (IBA vol. 1,
 * 9.7.5.1, 9.7.5.2).
 *
 * Replies leave in the order of their PSNs, since a response acknowledges all requests before
 * it.  Responses are those of the resources, oldest first.  Beyond that at most one ACK or NAK
 * is due, which comes after all of them: accepting a READ or an atomic cancels an ACK that is
 * due, and an ACK is for all that has been taken in when it is sent (9.7.5.1.2).
 */
#include "responder/responder.h"

/* ---- which is due ---- */

static bool nak_due(const struct vib_responder *resp)
{
	return resp->ack_due && resp->syndrome != VIB_AETH_UNLIMITED;
}

void vib_reply_ack(struct vib_responder *resp)
{
	if (nak_due(resp))
		return;
	resp->ack_due = true;
	resp->syndrome = VIB_AETH_UNLIMITED;
}

void vib_reply_nak(struct vib_responder *resp, u8 syndrome, u32 psn)
{
	resp->ack_due = true;
	resp->syndrome = syndrome;
	resp->nak_psn = psn;
}

void vib_reply_no_nak(struct vib_responder *resp)
{
	if (nak_due(resp))
		resp->ack_due = false;
}

void vib_reply_none(struct vib_responder *resp)
{
	resp->ack_due = false;
}

/* ---- packets ---- */

static void fill_aeth(struct vib_packet *pkt, u8 syndrome, u32 msn)
{
	put_unaligned_be32((u32)syndrome << IB_AETH_CREDIT_SHIFT | msn,
			   vib_packet_ext(pkt, VIB_EXT_AETH));
}

static void send_ack(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;
	u32 psn = nak_due(resp) ? resp->nak_psn : vib_psn_add(resp->psn, -1);
	struct vib_packet *pkt = vib_rc_packet(qp, IB_OPCODE_ACKNOWLEDGE, psn, 0);

	resp->ack_due = false;
	if (!pkt)
		return;
	fill_aeth(pkt, resp->syndrome, resp->msn);
	vib_rc_xmit(qp, pkt);
}

static void send_atomic(struct vib_qp *qp, struct vib_resource *r)
{
	struct vib_packet *pkt = vib_rc_packet(qp, IB_OPCODE_ATOMIC_ACKNOWLEDGE, r->psn, 0);

	vib_resource_sent(r);
	if (!pkt)
		return;
	fill_aeth(pkt, VIB_AETH_UNLIMITED, r->msn);
	put_unaligned_be64(r->value, vib_packet_ext(pkt, VIB_EXT_ATOMIC_ACK));
	vib_rc_xmit(qp, pkt);
}

static void gather_piece(void *mem, u32 len, void *context)
{
	u8 **to = context;

	memcpy(*to, mem, len);
	*to += len;
}

/* @len bytes from @offset of the READ @r to @to.  False: the key does not allow it any more. */
static bool read_memory(struct vib_qp *qp, const struct vib_resource *r, u32 offset, u32 len,
			u8 *to)
{
	bool ret;

	if (!vib_responder_enter(qp, r->srqn))
		return false;
	ret = vib_remote_walk(qp, r->rkey, r->addr + offset, len, IB_ACCESS_REMOTE_READ,
			      gather_piece, &to);
	vib_responder_leave(qp);
	return ret;
}

static u8 read_operation(const struct vib_resource *r)
{
	bool first = r->send_psn == r->start_psn;

	if (r->send_psn == r->last_psn)
		return first ? IB_OPCODE_RDMA_READ_RESPONSE_ONLY :
			       IB_OPCODE_RDMA_READ_RESPONSE_LAST;
	return first ? IB_OPCODE_RDMA_READ_RESPONSE_FIRST : IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE;
}

static void xmit_read(struct vib_qp *qp, const struct vib_resource *r,
		      struct vib_payload *payload)
{
	u8 operation = read_operation(r);
	struct vib_packet *pkt = vib_rc_packet(qp, operation, r->send_psn, 0);

	if (!pkt)
		return;
	if (vib_op(operation)->ext & BIT(VIB_EXT_AETH))
		fill_aeth(pkt, VIB_AETH_UNLIMITED, r->msn);
	if (payload)
		vib_packet_attach(pkt, payload, 0, payload->len);
	vib_rc_xmit(qp, pkt);
}

/*
 * The memory that @r was to read is no longer accessible.  That is an error of the request,
 * unless all of it has been sent before: then the requester may be done with it, and the
 * duplicate may have been late.
 */
static void read_failed(struct vib_qp *qp, struct vib_resource *r)
{
	struct vib_responder *resp = &qp->rc->resp;

	r->replying = false;
	if (r->answered)
		return;
	/* What was accepted after it is not replied to. */
	vib_resources_forget(resp);
	if (!resp->failed)
		vib_responder_fail(qp, VIB_BAD_ACCESS, r->send_psn);
	else
		vib_reply_nak(resp, IB_NAK_REMOTE_ACCESS_ERROR, r->send_psn);
}

/* A packet of a READ; it is lost, as it might be on its way, if there is no memory for it. */
static void send_read(struct vib_qp *qp, struct vib_resource *r)
{
	u32 offset = vib_psn_diff(r->send_psn, r->psn) * qp->rc->mtu;
	u32 len = min_t(u32, r->len - offset, qp->rc->mtu);
	struct vib_payload *payload = NULL;

	if (len)
		payload = vib_payload_alloc(len, GFP_ATOMIC | __GFP_NOWARN);
	if (len && !payload) {
		atomic64_inc(&vib_ca_port(qp->port)->drops[VIB_DROP_NO_MEMORY]);
		vib_resource_sent(r);
		return;
	}
	if (len && !read_memory(qp, r, offset, len, payload->data)) {
		read_failed(qp, r);
	} else {
		xmit_read(qp, r, payload);
		vib_resource_sent(r);
	}
	vib_payload_put(payload);
}

/* ---- sending ---- */

/* In a state in which the QP does not respond, nothing but the NAK is left that led to it. */
static void forget_replies(struct vib_responder *resp)
{
	vib_resources_forget(resp);
	if (!resp->failed)
		vib_reply_none(resp);
}

/* One packet.  False: none is due, or it has to wait. */
static bool send_one(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;
	struct vib_resource *r = vib_resource_replying(resp);

	if (!r)
		vib_responder_fail_qp(qp);
	if ((!r && !resp->ack_due) || !vib_rc_ready(qp))
		return false;
	if (!r)
		send_ack(qp);
	else if (r->operation == IB_OPCODE_RDMA_READ_REQUEST)
		send_read(qp, r);
	else
		send_atomic(qp, r);
	return true;
}

bool vib_rc_send_replies(struct vib_qp *qp)
{
	unsigned int i;

	if (!vib_qp_receives(qp))
		forget_replies(&qp->rc->resp);
	for (i = 0; i < VIB_BATCH; i++) {
		if (!send_one(qp))
			return false;
	}
	return true;
}
