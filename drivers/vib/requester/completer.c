// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What responses do to the requests that they are for (IBA vol. 1, 9.7.5, 9.7.6).
 *
 * A response acknowledges all sends and writes before its PSN.  It cannot acknowledge a READ
 * or an atomic, whose results must come: if one of those is missing, it was lost, and the
 * requester sends again from there.
 *
 * The MSN and the end-to-end credits of an AETH are not looked at: credits limit a requester
 * only if the responder counts them (9.7.7.2), ours says that it does not, and against one
 * that does RNR NAKs do the same service.
 */
#include "queue/cq.h"
#include "requester/requester.h"

/* ---- the table ---- */

#define ANY(act)	{ VIB_ACT_##act, VIB_ACT_##act, VIB_ACT_##act, VIB_ACT_DROP }
#define FOR(message, read, atomic)							\
	{ VIB_ACT_##message, VIB_ACT_##read, VIB_ACT_##atomic, VIB_ACT_DROP }

/*
 * By relation, and if that is EXPECTED, by the kind of the request: a message, a READ, an
 * atomic.  No PSN is of a local operation.  Cells that are not filled in are DROP.
 *
 * An ACK where a READ or an atomic is due is no mistake of the peer's: a responder answers
 * a duplicate with the PSN of the last request that it has executed (9.7.5.1.3).
 */
static const u8 acts[VIB_RESPONSES][VIB_PSN_RELATIONS][VIB_WR_KINDS] = {
	[VIB_RESP_ACK] = {
		[VIB_PSN_EXPECTED]	= FOR(ACK, RETRY, RETRY),
		[VIB_PSN_GAP]		= ANY(RETRY),
	},
	[VIB_RESP_NAK_SEQ] = {
		[VIB_PSN_EXPECTED]	= ANY(GO_BACK),
		[VIB_PSN_GAP]		= ANY(RETRY),
	},
	[VIB_RESP_NAK_RNR] = {
		[VIB_PSN_EXPECTED]	= ANY(WAIT),
		[VIB_PSN_GAP]		= ANY(RETRY),
	},
	[VIB_RESP_NAK_ERROR] = {
		[VIB_PSN_EXPECTED]	= ANY(FAIL),
		[VIB_PSN_GAP]		= ANY(RETRY),
	},
	[VIB_RESP_READ] = {
		[VIB_PSN_EXPECTED]	= FOR(BAD, READ, BAD),
		[VIB_PSN_GAP]		= ANY(RETRY),
	},
	[VIB_RESP_ATOMIC] = {
		[VIB_PSN_EXPECTED]	= FOR(BAD, BAD, ATOMIC),
		[VIB_PSN_GAP]		= ANY(RETRY),
	},
};

static_assert(VIB_ACT_DROP == 0);

enum vib_completer_act vib_completer_act(enum vib_response response,
					 enum vib_psn_relation relation, enum vib_wr_kind kind)
{
	return acts[response][relation][kind];
}

/* ---- what has come ---- */

/* A response as it is in the packet. */
struct response {
	struct vib_packet *pkt;
	u8 operation;
	u8 code;		/* of the AETH: NAK code, or RNR timer */
	u32 psn;
	enum vib_response what;
};

/* Syndrome: table 44; NAK codes: table 45 (9.7.5.2). */
static enum vib_response aeth_response(u32 aeth, u8 *code)
{
	*code = aeth >> IB_AETH_CREDIT_SHIFT & IB_AETH_CREDIT_MASK;
	switch (aeth >> IB_AETH_NAK_SHIFT) {
	case 0:
		return VIB_RESP_ACK;
	case 1:
		return VIB_RESP_NAK_RNR;
	case 3:
		break;
	default:
		return VIB_RESP_RESERVED;
	}
	switch (aeth >> IB_AETH_CREDIT_SHIFT) {
	case IB_NAK_PSN_ERROR:
		return VIB_RESP_NAK_SEQ;
	case IB_NAK_INVALID_REQUEST:
	case IB_NAK_REMOTE_ACCESS_ERROR:
	case IB_NAK_REMOTE_OPERATIONAL_ERROR:
		return VIB_RESP_NAK_ERROR;
	default:
		return VIB_RESP_RESERVED;
	}
}

/* False: nothing that a responder sends. */
static bool response_parse(struct vib_packet *pkt, struct response *resp)
{
	u8 opcode = ib_bth_get_opcode(vib_packet_bth(pkt));
	const struct vib_op *op = vib_op(opcode);

	*resp = (struct response){
		.pkt = pkt,
		.operation = VIB_OPERATION(opcode),
		.psn = vib_packet_psn(pkt),
		.what = VIB_RESP_ACK,
	};
	if (pkt->len && !(op->flags & VIB_OP_PAYLOAD))
		return false;
	if (op->ext & BIT(VIB_EXT_AETH))
		resp->what = aeth_response(get_unaligned_be32(vib_packet_ext(pkt, VIB_EXT_AETH)),
					   &resp->code);
	if (resp->operation == IB_OPCODE_ACKNOWLEDGE)
		return resp->what != VIB_RESP_RESERVED;
	/* With data there is never a NAK. */
	if (resp->what != VIB_RESP_ACK)
		return false;
	resp->what = op->flags & VIB_OP_PAYLOAD ? VIB_RESP_READ : VIB_RESP_ATOMIC;
	return true;
}

/* ---- where it is ---- */

/* The oldest request that is not done; the one of una_psn. */
static struct vib_request *oldest(const struct vib_qp *qp)
{
	const struct vib_requester *req = &qp->rc->req;

	return vib_requests_pending(req) ? vib_request_at(qp, req->una) : NULL;
}

/* Sends and writes before @psn are acknowledged, and so are packets of one. */
static void acknowledge_before(struct vib_qp *qp, u32 psn)
{
	struct vib_requester *req = &qp->rc->req;
	struct vib_request *r;

	while (vib_psn_diff(psn, req->una_psn) > 0) {
		r = oldest(qp);
		if (!r || r->op->kind != VIB_WR_MESSAGE)
			break;
		if (vib_psn_diff(psn, r->last_psn) <= 0) {
			req->una_psn = psn;
			break;
		}
		req->una_psn = vib_psn_add(r->last_psn, 1);
		vib_request_done(qp, r);
		vib_requests_finish(qp);
	}
}

static enum vib_psn_relation relation_of(struct vib_qp *qp, u32 psn)
{
	struct vib_requester *req = &qp->rc->req;
	u32 una_psn = req->una_psn;

	if (vib_psn_diff(psn, una_psn) < 0)
		return VIB_PSN_OLD;
	if (vib_psn_diff(psn, req->next_psn) >= 0)
		return VIB_PSN_UNSENT;
	acknowledge_before(qp, psn);
	if (req->una_psn != una_psn)
		vib_requester_progress(qp);
	return req->una_psn == psn ? VIB_PSN_EXPECTED : VIB_PSN_GAP;
}

/* ---- what it does ---- */

/* una_psn is done with, and so is @r if that was its last. */
static void acknowledge_one(struct vib_qp *qp, struct vib_request *r)
{
	struct vib_requester *req = &qp->rc->req;
	bool last = req->una_psn == r->last_psn;

	req->una_psn = vib_psn_add(req->una_psn, 1);
	if (last) {
		vib_request_done(qp, r);
		vib_requests_finish(qp);
	}
	vib_requester_progress(qp);
}

/* @r fails, and with it the QP. */
static void fail(struct vib_qp *qp, struct vib_request *r, enum ib_wc_status status)
{
	vib_request_fail(r, status);
	vib_requests_finish(qp);
}

static enum ib_wc_status nak_status(u8 code)
{
	switch (IB_NAK_PSN_ERROR | code) {
	case IB_NAK_INVALID_REQUEST:
		return IB_WC_REM_INV_REQ_ERR;
	case IB_NAK_REMOTE_ACCESS_ERROR:
		return IB_WC_REM_ACCESS_ERR;
	default:
		return IB_WC_REM_OP_ERR;
	}
}

/* All responses of a READ are as long as the MTU, but for the last (9.7.5.1.4). */
static bool read_length_right(const struct vib_qp *qp, const struct vib_request *r,
			      const struct response *resp, u32 offset)
{
	bool last = vib_op(resp->operation)->flags & VIB_OP_LAST;
	bool due = resp->psn == r->last_psn;

	if (last != due)
		return false;
	return resp->pkt->len == (last ? r->len - offset : qp->rc->mtu);
}

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

/*
 * A READ that was sent again begins anew, with FIRST or ONLY, while responses from before may
 * still come: what counts is whether more follow, not which is the first.
 */
static void take_read(struct vib_qp *qp, struct vib_request *r, const struct response *resp)
{
	u32 offset = vib_psn_diff(resp->psn, r->psn) * qp->rc->mtu;
	struct scatter scatter = { .pkt = resp->pkt };

	if (!read_length_right(qp, r, resp, offset))
		fail(qp, r, IB_WC_BAD_RESP_ERR);
	else if (!vib_request_walk(qp, r, offset, resp->pkt->len, IB_ACCESS_LOCAL_WRITE,
				   scatter_piece, &scatter))
		fail(qp, r, IB_WC_LOC_PROT_ERR);
	else
		acknowledge_one(qp, r);
}

static void atomic_piece(void *mem, u32 len, void *context)
{
	u8 **from = context;

	memcpy(mem, *from, len);
	*from += len;
}

/* The value comes as the wire has it, and is an integer of the consumer's (9.4.5). */
static void take_atomic(struct vib_qp *qp, struct vib_request *r, const struct response *resp)
{
	u64 value = get_unaligned_be64(vib_packet_ext(resp->pkt, VIB_EXT_ATOMIC_ACK));
	u8 *from = (u8 *)&value;

	if (vib_request_walk(qp, r, 0, sizeof(u64), IB_ACCESS_LOCAL_WRITE, atomic_piece, &from))
		acknowledge_one(qp, r);
	else
		fail(qp, r, IB_WC_LOC_PROT_ERR);
}

/* What has not been sent again yet needs no going back. */
static void missed(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	vib_rc_count(qp, VIB_RC_SEQ_NAK);
	if (vib_psn_diff(req->send_psn, req->una_psn) > 0)
		vib_requester_retry(qp);
}

static void drop(struct vib_qp *qp)
{
	atomic64_inc(&vib_ca_port(qp->port)->drops[VIB_DROP_RESPONSE]);
}

/*
 * Of what was lost there is one sign for each packet after it.  The first makes the requester
 * go back; it does not again before something has been acknowledged, or the timer is over.
 */
static void lost(struct vib_qp *qp, bool resync)
{
	if (resync) {
		drop(qp);
		return;
	}
	vib_rc_count(qp, VIB_RC_IMPLIED_NAK);
	vib_requester_retry(qp);
}

static void response_act(struct vib_qp *qp, const struct response *resp)
{
	bool resync = qp->rc->req.resync;
	enum vib_psn_relation relation = relation_of(qp, resp->psn);
	struct vib_request *r = oldest(qp);
	enum vib_completer_act act;

	/* With the last that was acknowledged one that had failed may have come to its end. */
	if (!r)
		act = VIB_ACT_DROP;
	else
		act = vib_completer_act(resp->what, relation, r->op->kind);
	switch (act) {
	case VIB_ACT_DROP:
		drop(qp);
		break;
	case VIB_ACT_ACK:
		acknowledge_one(qp, r);
		break;
	case VIB_ACT_GO_BACK:
		missed(qp);
		break;
	case VIB_ACT_WAIT:
		vib_requester_rnr(qp, resp->code);
		break;
	case VIB_ACT_FAIL:
		fail(qp, r, nak_status(resp->code));
		break;
	case VIB_ACT_READ:
		take_read(qp, r, resp);
		break;
	case VIB_ACT_ATOMIC:
		take_atomic(qp, r, resp);
		break;
	case VIB_ACT_RETRY:
		lost(qp, resync);
		break;
	case VIB_ACT_BAD:
		fail(qp, r, IB_WC_BAD_RESP_ERR);
		break;
	}
}

void vib_rc_complete(struct vib_qp *qp, struct vib_packet *pkt)
{
	struct response resp;

	if (response_parse(pkt, &resp))
		response_act(qp, &resp);
	else
		drop(qp);
	vib_packet_free(pkt);
}
