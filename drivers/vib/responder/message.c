// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SEND and RDMA WRITE messages at the responder (IBA vol. 1, 9.4.1, 9.4.3): each packet goes
 * into memory when it arrives, and the last one completes the receive request of a SEND or of
 * a WRITE with immediate data.
 */
#include "queue/cq.h"
#include "queue/srq.h"
#include "responder/responder.h"

/* ---- checks ---- */

static bool is_first(struct vib_packet *pkt)
{
	return vib_opcode_is(pkt, VIB_OP_FIRST);
}

static bool is_last(struct vib_packet *pkt)
{
	return vib_opcode_is(pkt, VIB_OP_LAST);
}

static bool is_write(struct vib_packet *pkt)
{
	return vib_opcode_is(pkt, VIB_OP_WRITE);
}

static bool has_ext(struct vib_packet *pkt, enum vib_ext ext)
{
	return vib_op_ext(ib_bth_get_opcode(vib_packet_bth(pkt))) & BIT(ext);
}

static void message_begin(struct vib_responder *resp, struct vib_packet *pkt)
{
	struct ib_reth *reth;

	resp->message = VIB_MSG_NONE;
	resp->received = 0;
	resp->srqn = vib_request_srqn(pkt);
	if (!is_write(pkt))
		return;
	reth = vib_packet_ext(pkt, VIB_EXT_RETH);
	resp->addr = get_ib_reth_vaddr(reth);
	resp->rkey = be32_to_cpu(reth->rkey);
	resp->left = be32_to_cpu(reth->length);
}

/* 9.7.4.1.4, 9.7.4.1.5: the whole range at once, before any byte of it is written. */
static enum vib_verdict write_check(const struct vib_qp *qp)
{
	const struct vib_responder *resp = &qp->rc->resp;

	if (!(qp->rc->access & IB_ACCESS_REMOTE_WRITE))
		return VIB_BAD_REQUEST;
	if (!vib_remote_walk(qp, resp->rkey, resp->addr, resp->left, IB_ACCESS_REMOTE_WRITE,
			     NULL, NULL))
		return VIB_BAD_ACCESS;
	return resp->left <= VIB_MAX_MSG ? VIB_TAKEN : VIB_BAD_REQUEST;
}

/*
 * 9.7.4.1.6: all packets but the last are as long as the path MTU, a last one that is not the
 * only one has at least a byte, and those of a WRITE have together what its RETH says.
 */
static bool length_valid(const struct vib_qp *qp, struct vib_packet *pkt)
{
	const struct vib_responder *resp = &qp->rc->resp;
	u32 mtu = qp->rc->mtu, len = pkt->len;
	bool last = is_last(pkt);

	if (last ? len > mtu : len != mtu)
		return false;
	if (last && !is_first(pkt) && !len)
		return false;
	if (is_write(pkt))
		return last ? len == resp->left : len < resp->left;
	return len <= VIB_MAX_MSG - resp->received;
}

enum vib_verdict vib_message_check(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_responder *resp = &qp->rc->resp;
	enum vib_verdict verdict = VIB_TAKEN;

	if (is_first(pkt)) {
		message_begin(resp, pkt);
		if (is_write(pkt))
			verdict = write_check(qp);
	} else if (vib_request_srqn(pkt) != resp->srqn) {
		verdict = VIB_BAD_REQUEST;
	}
	if (verdict != VIB_TAKEN)
		return verdict;
	return length_valid(qp, pkt) ? VIB_TAKEN : VIB_BAD_REQUEST;
}

/* ---- memory ---- */

struct scatter {
	struct vib_packet *pkt;
	u32 pos;
};

static void scatter_piece(void *mem, u32 len, void *context)
{
	struct scatter *scatter = context;

	vib_packet_read(scatter->pkt, scatter->pos, mem, len);
	scatter->pos += len;
}

/* The data of a SEND goes to the receive request, behind what came before it. */
static enum vib_verdict place_send(struct vib_qp *qp, struct vib_packet *pkt)
{
	const struct vib_responder *resp = &qp->rc->resp;
	const struct vib_recv *recv = &resp->recv;
	struct scatter scatter = { .pkt = pkt };
	u32 offset = resp->received, left = pkt->len, i, part;
	struct ib_sge sge;

	if (recv->len < (u64)offset + left)
		return VIB_RECV_LENGTH;
	for (i = 0; left && i < recv->num_sge; i++) {
		sge = recv->sge[i];
		if (offset >= sge.length) {
			offset -= sge.length;
			continue;
		}
		sge.addr += offset;
		part = min(left, sge.length - offset);
		if (!vib_mem_walk(recv->pd, &sge, part, IB_ACCESS_LOCAL_WRITE, scatter_piece,
				  &scatter))
			return VIB_RECV_MEMORY;
		left -= part;
		offset = 0;
	}
	return VIB_TAKEN;
}

/* The key is looked at each time: it may have been invalidated since the first packet. */
static enum vib_verdict place_write(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_responder *resp = &qp->rc->resp;
	struct scatter scatter = { .pkt = pkt };

	if (!vib_remote_walk(qp, resp->rkey, resp->addr, pkt->len, IB_ACCESS_REMOTE_WRITE,
			     scatter_piece, &scatter))
		return VIB_BAD_ACCESS;
	resp->addr += pkt->len;
	resp->left -= pkt->len;
	return VIB_TAKEN;
}

/* 9.4.1.1.3: the peer is done with the key that it names. */
static bool invalidate(struct vib_qp *qp, struct vib_packet *pkt)
{
	if (!has_ext(pkt, VIB_EXT_IETH))
		return true;
	return vib_key_invalidate(qp, get_unaligned_be32(vib_packet_ext(pkt, VIB_EXT_IETH)),
				  true);
}

/* ---- receive requests ---- */

/* At the beginning of a SEND, and at the end of a WRITE with immediate data (9.7.4.1.7). */
static bool needs_recv(struct vib_packet *pkt)
{
	return is_write(pkt) ? has_ext(pkt, VIB_EXT_IMM) : is_first(pkt);
}

/* UC may still have the one that a lost message had taken. */
static bool get_recv(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;

	if (!resp->has_recv)
		resp->has_recv = vib_rq_take(qp, &resp->recv);
	return resp->has_recv;
}

static void recv_complete(struct vib_qp *qp, struct ib_wc *wc, bool solicited)
{
	/* Those of XRC complete in the CQ of the SRQ (A14.2.2). */
	struct ib_cq *cq = qp->srq && qp->srq->cq ? qp->srq->cq : qp->ib.recv_cq;
	struct vib_responder *resp = &qp->rc->resp;

	wc->wr_id = resp->recv.wr_id;
	wc->qp = &qp->ib;
	resp->has_recv = false;
	vib_cq_push(to_vib_cq(cq), wc, solicited);
}

static void recv_fail(struct vib_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = {
		.status = status,
		.opcode = IB_WC_RECV,
	};

	recv_complete(qp, &wc, false);
}

/* What the completion says of the message that @pkt ends (11.4.2.1). */
static void fill_wc(const struct vib_qp *qp, struct vib_packet *pkt, struct ib_wc *wc)
{
	*wc = (struct ib_wc){
		.opcode = is_write(pkt) ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
		.byte_len = qp->rc->resp.received,
		.src_qp = qp->rc->remote_qpn,
		.slid = vib_packet_slid(pkt),
		.sl = vib_packet_sl(pkt),
		.dlid_path_bits = vib_packet_dlid(pkt) & (BIT(READ_ONCE(qp->port->lmc)) - 1),
		.port_num = qp->port->num,
		.pkey_index = READ_ONCE(qp->pkey_index),
	};
	if (has_ext(pkt, VIB_EXT_IMM)) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		memcpy(&wc->ex.imm_data, vib_packet_ext(pkt, VIB_EXT_IMM),
		       sizeof(wc->ex.imm_data));
	} else if (has_ext(pkt, VIB_EXT_IETH)) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey =
			get_unaligned_be32(vib_packet_ext(pkt, VIB_EXT_IETH));
	}
}

/* ---- execution ---- */

static enum vib_verdict place(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_responder *resp = &qp->rc->resp;
	enum vib_verdict verdict;

	/* The XRC SRQ may be another since the last packet, which had the same number. */
	if (qp->srq)
		resp->recv.pd = qp->srq->ib.pd;
	verdict = is_write(pkt) ? place_write(qp, pkt) : place_send(qp, pkt);
	if (verdict == VIB_RECV_LENGTH)
		recv_fail(qp, IB_WC_LOC_LEN_ERR);
	else if (verdict == VIB_RECV_MEMORY)
		recv_fail(qp, IB_WC_LOC_PROT_ERR);
	return verdict;
}

/* All of the message is there. */
static void message_end(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_responder *resp = &qp->rc->resp;
	struct ib_wc wc;

	resp->message = VIB_MSG_NONE;
	if (is_write(pkt) && !has_ext(pkt, VIB_EXT_IMM))
		return;
	fill_wc(qp, pkt, &wc);
	recv_complete(qp, &wc, ib_bth_is_solicited(vib_packet_bth(pkt)));
}

/*
 * An ACK is due if the requester asks for one, and at the end of each message, where all
 * requesters need one sooner or later.
 */
enum vib_verdict vib_message_take(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct vib_responder *resp = &qp->rc->resp;
	bool last = is_last(pkt);
	enum vib_verdict verdict;

	if (needs_recv(pkt) && !get_recv(qp))
		return VIB_NOT_READY;
	verdict = place(qp, pkt);
	if (verdict != VIB_TAKEN)
		return verdict;
	if (!invalidate(qp, pkt))
		return VIB_BAD_ACCESS;
	resp->received += pkt->len;
	if (last)
		message_end(qp, pkt);
	else
		resp->message = is_write(pkt) ? VIB_MSG_WRITE : VIB_MSG_SEND;
	vib_responder_advance(qp, 1, last);
	if (vib_qp_is_reliable(qp) && (last || ib_bth_get_ackreq(vib_packet_bth(pkt))))
		vib_reply_ack(resp);
	return VIB_TAKEN;
}

/* ---- flushing (10.3.1.7) ---- */

/* The QP takes no more requests of its SRQ: they stay for other QPs (10.2.9, 11.6.3). */
static void leave_srq(struct vib_qp *qp)
{
	if (qp->last_wqe)
		return;
	qp->last_wqe = true;
	vib_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* The SRQ of XRC may be gone, and with it whoever waits for its requests. */
static void flush_in_progress(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;

	if (vib_responder_enter(qp, resp->srqn)) {
		recv_fail(qp, IB_WC_WR_FLUSH_ERR);
		vib_responder_leave(qp);
	}
	resp->has_recv = false;
}

bool vib_rc_flush_recv(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;

	if (resp->has_recv) {
		flush_in_progress(qp);
		return true;
	}
	if (qp->srq) {
		leave_srq(qp);
		return false;
	}
	if (!vib_rq_take(qp, &resp->recv))
		return false;
	recv_fail(qp, IB_WC_WR_FLUSH_ERR);
	return true;
}
