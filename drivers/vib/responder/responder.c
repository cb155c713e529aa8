// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a connected QP does with a request packet (IBA vol. 1, 9.7.4.1, 9.8.2.2).
 *
 * The PSN, the operation and the message in progress select an act from a table.  A packet
 * that is to be executed then has to pass, in this order, the checks of the operation
 * (9.7.4.1.4), the R_Key (9.7.4.1.5), the length (9.7.4.1.6), and the receive queue (9.7.4.1.7).
 *
 * Errors (9.9.3).  A reliable connection answers a request that it cannot execute with a NAK,
 * and enters ERR.  Responses to earlier requests must leave before that NAK, so the QP does not
 * enter ERR until they have been sent; until then it drops what arrives.  UC drops a message
 * that is the peer's mistake and stays as it is; it enters ERR when its own consumer made the
 * mistake, that is if a receive request is too short or names memory that it may not write.
 */
#include "queue/srq.h"
#include "responder/responder.h"

/* ---- the tables ---- */

#define ANY(act)	{ VIB_DO_##act, VIB_DO_##act, VIB_DO_##act }
#define IN(none, send, write)	{ VIB_DO_##none, VIB_DO_##send, VIB_DO_##write }

/* 9.7.4.1.2, 9.7.4.1.3; by the message in progress: none, a SEND, a WRITE. */
static const u8 reliable_acts[VIB_SEQS][VIB_RX_OPS][VIB_MSGS] = {
	[VIB_SEQ_EXPECTED] = {
		[VIB_RX_SEND_FIRST]	= IN(EXECUTE, REFUSE, REFUSE),
		[VIB_RX_SEND_MIDDLE]	= IN(REFUSE, EXECUTE, REFUSE),
		[VIB_RX_SEND_LAST]	= IN(REFUSE, EXECUTE, REFUSE),
		[VIB_RX_SEND_ONLY]	= IN(EXECUTE, REFUSE, REFUSE),
		[VIB_RX_WRITE_FIRST]	= IN(EXECUTE, REFUSE, REFUSE),
		[VIB_RX_WRITE_MIDDLE]	= IN(REFUSE, REFUSE, EXECUTE),
		[VIB_RX_WRITE_LAST]	= IN(REFUSE, REFUSE, EXECUTE),
		[VIB_RX_WRITE_ONLY]	= IN(EXECUTE, REFUSE, REFUSE),
		[VIB_RX_READ]		= IN(EXECUTE, REFUSE, REFUSE),
		[VIB_RX_ATOMIC]		= IN(EXECUTE, REFUSE, REFUSE),
		[VIB_RX_RESERVED]	= ANY(REFUSE),
	},
	/* 9.7.5.1.3 */
	[VIB_SEQ_DUPLICATE] = {
		[VIB_RX_SEND_FIRST]	= ANY(ACK),
		[VIB_RX_SEND_MIDDLE]	= ANY(ACK),
		[VIB_RX_SEND_LAST]	= ANY(ACK),
		[VIB_RX_SEND_ONLY]	= ANY(ACK),
		[VIB_RX_WRITE_FIRST]	= ANY(ACK),
		[VIB_RX_WRITE_MIDDLE]	= ANY(ACK),
		[VIB_RX_WRITE_LAST]	= ANY(ACK),
		[VIB_RX_WRITE_ONLY]	= ANY(ACK),
		[VIB_RX_READ]		= ANY(REPLAY),
		[VIB_RX_ATOMIC]		= ANY(REPLAY),
		[VIB_RX_RESERVED]	= ANY(DROP),
	},
	/* The opcode is not looked at before the packet's turn has come. */
	[VIB_SEQ_GAP] = {
		[VIB_RX_SEND_FIRST]	= ANY(NAK_SEQ),
		[VIB_RX_SEND_MIDDLE]	= ANY(NAK_SEQ),
		[VIB_RX_SEND_LAST]	= ANY(NAK_SEQ),
		[VIB_RX_SEND_ONLY]	= ANY(NAK_SEQ),
		[VIB_RX_WRITE_FIRST]	= ANY(NAK_SEQ),
		[VIB_RX_WRITE_MIDDLE]	= ANY(NAK_SEQ),
		[VIB_RX_WRITE_LAST]	= ANY(NAK_SEQ),
		[VIB_RX_WRITE_ONLY]	= ANY(NAK_SEQ),
		[VIB_RX_READ]		= ANY(NAK_SEQ),
		[VIB_RX_ATOMIC]		= ANY(NAK_SEQ),
		[VIB_RX_RESERVED]	= ANY(NAK_SEQ),
	},
};

/*
 * 9.8.2.2: a message whose packets do not follow each other is lost, and the first packet of
 * another message ends it.  There are no duplicates, as nothing is sent again.  UC has
 * neither READs nor atomics, nor does it answer reserved opcodes (9.7.4.1.4).
 */
static const u8 unreliable_acts[VIB_SEQS][VIB_RX_OPS][VIB_MSGS] = {
	[VIB_SEQ_EXPECTED] = {
		[VIB_RX_SEND_FIRST]	= ANY(EXECUTE),
		[VIB_RX_SEND_MIDDLE]	= IN(ABANDON, EXECUTE, ABANDON),
		[VIB_RX_SEND_LAST]	= IN(ABANDON, EXECUTE, ABANDON),
		[VIB_RX_SEND_ONLY]	= ANY(EXECUTE),
		[VIB_RX_WRITE_FIRST]	= ANY(EXECUTE),
		[VIB_RX_WRITE_MIDDLE]	= IN(ABANDON, ABANDON, EXECUTE),
		[VIB_RX_WRITE_LAST]	= IN(ABANDON, ABANDON, EXECUTE),
		[VIB_RX_WRITE_ONLY]	= ANY(EXECUTE),
		[VIB_RX_READ]		= ANY(ABANDON),
		[VIB_RX_ATOMIC]		= ANY(ABANDON),
		[VIB_RX_RESERVED]	= ANY(ABANDON),
	},
	[VIB_SEQ_DUPLICATE] = {
		[VIB_RX_SEND_FIRST]	= ANY(EXECUTE),
		[VIB_RX_SEND_MIDDLE]	= ANY(ABANDON),
		[VIB_RX_SEND_LAST]	= ANY(ABANDON),
		[VIB_RX_SEND_ONLY]	= ANY(EXECUTE),
		[VIB_RX_WRITE_FIRST]	= ANY(EXECUTE),
		[VIB_RX_WRITE_MIDDLE]	= ANY(ABANDON),
		[VIB_RX_WRITE_LAST]	= ANY(ABANDON),
		[VIB_RX_WRITE_ONLY]	= ANY(EXECUTE),
		[VIB_RX_READ]		= ANY(ABANDON),
		[VIB_RX_ATOMIC]		= ANY(ABANDON),
		[VIB_RX_RESERVED]	= ANY(ABANDON),
	},
	[VIB_SEQ_GAP] = {
		[VIB_RX_SEND_FIRST]	= ANY(EXECUTE),
		[VIB_RX_SEND_MIDDLE]	= ANY(ABANDON),
		[VIB_RX_SEND_LAST]	= ANY(ABANDON),
		[VIB_RX_SEND_ONLY]	= ANY(EXECUTE),
		[VIB_RX_WRITE_FIRST]	= ANY(EXECUTE),
		[VIB_RX_WRITE_MIDDLE]	= ANY(ABANDON),
		[VIB_RX_WRITE_LAST]	= ANY(ABANDON),
		[VIB_RX_WRITE_ONLY]	= ANY(EXECUTE),
		[VIB_RX_READ]		= ANY(ABANDON),
		[VIB_RX_ATOMIC]		= ANY(ABANDON),
		[VIB_RX_RESERVED]	= ANY(ABANDON),
	},
};

enum vib_responder_act vib_responder_act(bool reliable, enum vib_seq seq, enum vib_rx_op op,
					 enum vib_message message)
{
	return reliable ? reliable_acts[seq][op][message] : unreliable_acts[seq][op][message];
}

static enum vib_rx_op message_op(u8 flags, enum vib_rx_op first)
{
	switch (flags & (VIB_OP_FIRST | VIB_OP_LAST)) {
	case VIB_OP_FIRST:
		return first;
	case VIB_OP_LAST:
		return first + VIB_RX_SEND_LAST;
	case VIB_OP_FIRST | VIB_OP_LAST:
		return first + VIB_RX_SEND_ONLY;
	default:
		return first + VIB_RX_SEND_MIDDLE;
	}
}

enum vib_rx_op vib_rx_op(u8 opcode)
{
	u8 flags = vib_op(opcode)->flags;

	if (flags & VIB_OP_SEND)
		return message_op(flags, VIB_RX_SEND_FIRST);
	if (flags & VIB_OP_WRITE)
		return message_op(flags, VIB_RX_WRITE_FIRST);
	switch (VIB_OPERATION(opcode)) {
	case IB_OPCODE_RDMA_READ_REQUEST:
		return VIB_RX_READ;
	case IB_OPCODE_COMPARE_SWAP:
	case IB_OPCODE_FETCH_ADD:
		return VIB_RX_ATOMIC;
	default:
		return VIB_RX_RESERVED;
	}
}

static enum vib_seq sequence_of(const struct vib_responder *resp, u32 psn)
{
	s32 ahead = vib_psn_diff(psn, resp->psn);

	if (!ahead)
		return VIB_SEQ_EXPECTED;
	return ahead < 0 ? VIB_SEQ_DUPLICATE : VIB_SEQ_GAP;
}

/* ---- XRC (A14.2.2) ---- */

u32 vib_request_srqn(struct vib_packet *pkt)
{
	if (!(vib_op_ext(ib_bth_get_opcode(vib_packet_bth(pkt))) & BIT(VIB_EXT_XRC)))
		return 0;
	return get_unaligned_be32(vib_packet_ext(pkt, VIB_EXT_XRC)) & IB_QPN_MASK;
}

bool vib_responder_enter(struct vib_qp *qp, u32 srqn)
{
	if (qp->ib.qp_type != IB_QPT_XRC_TGT)
		return true;
	qp->srq = vib_srq_find(qp->xrcd, srqn);
	return qp->srq;
}

void vib_responder_leave(struct vib_qp *qp)
{
	struct vib_srq *srq = qp->srq;

	if (qp->ib.qp_type != IB_QPT_XRC_TGT)
		return;
	qp->srq = NULL;
	vib_srq_put(srq);
}

/* ---- errors ---- */

static void count_drop(const struct vib_qp *qp, enum vib_drop why)
{
	atomic64_inc(&vib_ca_port(qp->port)->drops[why]);
}

/* 9.7.5.2, 9.9.3.1, 11.6.3.2.  No event (0): the receive completion tells the consumer. */
static const struct {
	u8 syndrome;
	u8 event;		/* enum ib_event_type */
} failures[VIB_VERDICTS] = {
	[VIB_BAD_REQUEST]	= { IB_NAK_INVALID_REQUEST, IB_EVENT_QP_REQ_ERR },
	[VIB_BAD_ACCESS]	= { IB_NAK_REMOTE_ACCESS_ERROR, IB_EVENT_QP_ACCESS_ERR },
	[VIB_RECV_LENGTH]	= { IB_NAK_INVALID_REQUEST, 0 },
	[VIB_RECV_MEMORY]	= { IB_NAK_REMOTE_OPERATIONAL_ERROR, 0 },
};

void vib_responder_fail(struct vib_qp *qp, enum vib_verdict verdict, u32 psn)
{
	struct vib_responder *resp = &qp->rc->resp;

	resp->failed = true;
	resp->event = failures[verdict].event;
	if (!vib_qp_is_reliable(qp))
		return;
	vib_reply_nak(resp, failures[verdict].syndrome, psn);
	vib_rc_count(qp, VIB_RC_SENT_ERROR_NAK);
}

void vib_responder_fail_qp(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;

	if (!resp->failed || resp->qp_failed)
		return;
	resp->qp_failed = true;
	vib_qp_recv_failed(qp);
	if (resp->event)
		vib_qp_event(qp, resp->event);
}

/* ---- execution ---- */

/* 11.6.3.1: the peer sends, so it knows of the connection, which this side may not yet. */
static void established(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;

	if (resp->comm_est || READ_ONCE(qp->state) != IB_QPS_RTR)
		return;
	resp->comm_est = true;
	vib_qp_event(qp, IB_EVENT_COMM_EST);
}

void vib_responder_advance(struct vib_qp *qp, u32 packets, bool last)
{
	struct vib_responder *resp = &qp->rc->resp;

	WRITE_ONCE(resp->psn, vib_psn_add(resp->psn, packets));
	if (last)
		resp->msn = (resp->msn + 1) & IB_MSN_MASK;
	resp->nak_sent = false;
	vib_reply_no_nak(resp);
}

static enum vib_verdict check_and_take(struct vib_qp *qp, struct vib_packet *pkt,
				       enum vib_rx_op op)
{
	enum vib_verdict (*check)(struct vib_qp *qp, struct vib_packet *pkt);
	enum vib_verdict (*take)(struct vib_qp *qp, struct vib_packet *pkt);
	enum vib_verdict verdict;

	switch (op) {
	case VIB_RX_READ:
		check = vib_read_check;
		take = vib_read_take;
		break;
	case VIB_RX_ATOMIC:
		check = vib_atomic_check;
		take = vib_atomic_take;
		break;
	default:
		check = vib_message_check;
		take = vib_message_take;
		break;
	}
	verdict = check(qp, pkt);
	if (verdict != VIB_TAKEN)
		return verdict;
	established(qp);
	return take(qp, pkt);
}

/*
 * 9.7.5.2.8: the requester waits, then sends again from this packet on.  Those that are on
 * their way are not reported as missing (@nak_sent).
 */
static void not_ready(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;

	vib_reply_nak(resp, IB_RNR_NAK | qp->rc->min_rnr_timer, resp->psn);
	resp->nak_sent = true;
	vib_rc_count(qp, VIB_RC_SENT_RNR_NAK);
}

/* 9.8.2.2: a receive request that the message has taken is used by the next one. */
static void abandon(struct vib_qp *qp, enum vib_drop why)
{
	qp->rc->resp.message = VIB_MSG_NONE;
	count_drop(qp, why);
}

static void refuse(struct vib_qp *qp, enum vib_verdict verdict)
{
	bool own = verdict == VIB_RECV_LENGTH || verdict == VIB_RECV_MEMORY;

	if (vib_qp_is_reliable(qp) || own)
		vib_responder_fail(qp, verdict, qp->rc->resp.psn);
	else
		abandon(qp, VIB_DROP_REQUEST);
}

static void execute(struct vib_qp *qp, struct vib_packet *pkt, enum vib_rx_op op)
{
	enum vib_verdict verdict = VIB_BAD_REQUEST;

	if (vib_responder_enter(qp, vib_request_srqn(pkt))) {
		verdict = check_and_take(qp, pkt, op);
		vib_responder_leave(qp);
	}
	if (verdict == VIB_NOT_READY && vib_qp_is_reliable(qp))
		not_ready(qp);
	else if (verdict == VIB_NOT_READY)
		abandon(qp, VIB_DROP_NO_RECEIVE);
	else if (verdict != VIB_TAKEN)
		refuse(qp, verdict);
}

static void missed(struct vib_qp *qp)
{
	struct vib_responder *resp = &qp->rc->resp;

	count_drop(qp, VIB_DROP_SEQUENCE);
	if (resp->nak_sent)
		return;
	resp->nak_sent = true;
	vib_reply_nak(resp, IB_NAK_PSN_ERROR, resp->psn);
	vib_rc_count(qp, VIB_RC_SENT_SEQ_NAK);
}

static void act_on(struct vib_qp *qp, struct vib_packet *pkt, enum vib_rx_op op,
		   enum vib_responder_act act)
{
	switch (act) {
	case VIB_DO_EXECUTE:
		execute(qp, pkt, op);
		break;
	case VIB_DO_ACK:
		vib_rc_count(qp, VIB_RC_DUPLICATE);
		vib_reply_ack(&qp->rc->resp);
		break;
	case VIB_DO_REPLAY:
		vib_rc_count(qp, VIB_RC_DUPLICATE);
		vib_resource_replay(qp, pkt);
		break;
	case VIB_DO_NAK_SEQ:
		missed(qp);
		break;
	case VIB_DO_REFUSE:
		refuse(qp, VIB_BAD_REQUEST);
		break;
	case VIB_DO_ABANDON:
		abandon(qp, VIB_DROP_SEQUENCE);
		break;
	case VIB_DO_DROP:
		count_drop(qp, VIB_DROP_REQUEST);
		break;
	}
}

void vib_rc_respond(struct vib_qp *qp, struct vib_packet *pkt)
{
	enum vib_rx_op op = vib_rx_op(ib_bth_get_opcode(vib_packet_bth(pkt)));
	struct vib_responder *resp = &qp->rc->resp;
	bool reliable = vib_qp_is_reliable(qp);
	u32 psn = vib_packet_psn(pkt);

	if (resp->failed) {
		vib_drop(qp->port, pkt, VIB_DROP_QP);
		return;
	}
	act_on(qp, pkt, op,
	       vib_responder_act(reliable, sequence_of(resp, psn), op, resp->message));
	/* UC expects what follows the packet that came, whichever it was (9.8.2.2). */
	if (!reliable)
		WRITE_ONCE(resp->psn, vib_psn_add(psn, 1));
	vib_packet_free(pkt);
}

/* ---- beginning and end ---- */

void vib_rc_responder_start(struct vib_qp *qp)
{
	WRITE_ONCE(qp->rc->resp.psn, qp->rc->rq_psn);
}

/*
 * Why nothing of the connection remains:
 * (1) The work is disabled, and nobody else uses the responder's state.  It has no timer.
 * (2) The state has no packet: vib_rc_respond() frees each that it is given, and replies are
 *     made when they are sent, so there is no payload either.
 * (3) It has no reference to an SRQ: qp->srq of an XRC target is NULL except within
 *     vib_responder_enter() and _leave(), which are in one run of the work.
 * (4) A receive request that was taken is a copy, whose entry has left its queue.  It is
 *     forgotten like those that are still in the queue (10.3.1.1).
 */
void vib_rc_responder_reset(struct vib_qp *qp)
{
	memset(&qp->rc->resp, 0, sizeof(qp->rc->resp));
}
