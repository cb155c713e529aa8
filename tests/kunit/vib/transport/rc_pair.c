// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <ibex/qp.h>
#include "rc_pair.h"

/* ---- the QP ---- */

static void pair_event(struct ib_event *event, void *context)
{
	struct rc_pair *pair = context;

	pair->hca.a.qp_events[event->event]++;
}

static struct ib_qp *create_qp(struct rc_pair *pair, const struct rc_pair_want *want)
{
	struct hca_side *a = &pair->hca.a;
	bool target = want->type == IB_QPT_XRC_TGT;
	struct ib_qp_init_attr init = {
		.event_handler = pair_event,
		.qp_context = pair,
		.send_cq = target ? NULL : a->cq,
		.recv_cq = target ? NULL : a->cq,
		.srq = want->srq,
		.xrcd = want->xrcd,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = want->srq || target ? 0 : PAIR_MAX_WR,
			.max_send_sge = 1,
			.max_recv_sge = want->srq || target ? 0 : 4,
		},
		/* 0 is IB_QPT_SMI. */
		.qp_type = want->type ?: IB_QPT_RC,
	};

	/* The core makes such a target for processes only. */
	if (target)
		return ib_create_qp_user(&a->hca->ib, NULL, &init, NULL, NULL, NULL);
	return ib_create_qp(a->pd, &init);
}

static int to_init(struct ib_qp *qp, const struct rc_pair_want *want)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = PAIR_ACCESS & ~want->no_access,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int to_rtr(struct rc_pair *pair, struct ib_qp *qp, const struct rc_pair_want *want)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = PEER_QPN,
		.rq_psn = PAIR_PSN,
		.max_dest_rd_atomic = want->no_rd_atomic ? 0 : want->rd_atomic ?: 4,
		.min_rnr_timer = PAIR_RNR_TIMER,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	int mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;

	rdma_ah_set_dlid(&attr.ah_attr, pair->hca.b.port->lid);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	if (qp->qp_type != IB_QPT_UC)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	return ib_modify_qp(qp, &attr, mask);
}

static int to_rts(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.max_rd_atomic = 1,
	};
	int mask = IB_QP_STATE | IB_QP_SQ_PSN;

	if (qp->qp_type == IB_QPT_RC)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	return ib_modify_qp(qp, &attr, mask);
}

int rc_pair_connect(struct rc_pair *pair, const struct rc_pair_want *want)
{
	struct ib_qp *qp = pair->peer.ib;
	int ret = to_init(qp, want) ?: to_rtr(pair, qp, want);

	if (ret || want->rtr || qp->qp_type == IB_QPT_XRC_TGT)
		return ret;
	return to_rts(qp);
}

void rc_pair_open(struct kunit *test, struct rc_pair *pair, const struct rc_pair_want *want)
{
	struct ib_qp *qp = create_qp(pair, want);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	pair->peer = (struct rc_peer){
		.pair = &pair->hca,
		.ib = qp,
		.qp = to_vib_qp(qp->qp_type == IB_QPT_XRC_TGT ? qp->real_qp : qp),
	};
	pair->peer.req = &pair->peer.qp->rc->req;
	pair->resp = &pair->peer.qp->rc->resp;
	KUNIT_ASSERT_EQ(test, rc_pair_connect(pair, want), 0);
}

void rc_pair_close(struct rc_pair *pair)
{
	struct ib_wc wc;

	if (pair->peer.ib)
		rc_peer_close(&pair->peer);
	pair->resp = NULL;
	if (pair->hca.a.cq)
		while (ib_poll_cq(pair->hca.a.cq, 1, &wc) > 0)
			;
	memset(pair->hca.a.qp_events, 0, sizeof(pair->hca.a.qp_events));
}

int rc_pair_init(struct kunit *test, struct rc_pair *pair)
{
	int ret;

	memset(pair, 0, sizeof(*pair));
	ret = hca_pair_init(test, &pair->hca);
	if (ret)
		return ret;
	rc_tap_open(&pair->hca);
	pair->tapped = true;
	pair->out = hca_buf(test, PAIR_BUF, 1);
	pair->in = hca_buf(test, PAIR_BUF, 0);
	memset(pair->in, 0xee, PAIR_BUF);
	pair->owner = hca_qp_create(&pair->hca.a, IB_QPT_RC, &(struct hca_qp_want){});
	if (IS_ERR(pair->owner))
		return PTR_ERR(pair->owner);
	region_init_registered(test, &pair->region, pair->owner);
	return 0;
}

void rc_pair_exit(struct rc_pair *pair)
{
	rc_pair_close(pair);
	region_exit(&pair->region);
	if (!IS_ERR_OR_NULL(pair->owner))
		ib_destroy_qp(pair->owner);
	if (pair->tapped)
		rc_tap_close(&pair->hca);
	hca_pair_exit(&pair->hca);
}

/* ---- requests ---- */

static void put_reth(struct rc_pair *pair, const struct rc_pair_req *req,
		     struct vib_packet *pkt)
{
	struct ib_reth *reth = vib_packet_ext(pkt, VIB_EXT_RETH);

	put_ib_reth_vaddr(pair->region.addr + req->at, reth);
	reth->rkey = cpu_to_be32(req->rkey ?: pair->region.mr->rkey);
	reth->length = cpu_to_be32(req->dma_len);
}

static void put_atomic(struct rc_pair *pair, const struct rc_pair_req *req,
		       struct vib_packet *pkt)
{
	struct ib_atomic_eth *eth = vib_packet_ext(pkt, VIB_EXT_ATOMIC);

	ib_u64_put(pair->region.addr + req->at, &eth->vaddr);
	eth->rkey = cpu_to_be32(req->rkey ?: pair->region.mr->rkey);
	ib_u64_put(req->swap_add, &eth->swap_data);
	ib_u64_put(req->compare, &eth->compare_data);
}

static void put_exts(struct rc_pair *pair, const struct rc_pair_req *req,
		     struct vib_packet *pkt, u8 exts)
{
	if (exts & BIT(VIB_EXT_XRC))
		put_unaligned_be32(req->srqn, vib_packet_ext(pkt, VIB_EXT_XRC));
	if (exts & BIT(VIB_EXT_RETH))
		put_reth(pair, req, pkt);
	if (exts & BIT(VIB_EXT_ATOMIC))
		put_atomic(pair, req, pkt);
	if (exts & BIT(VIB_EXT_IMM))
		put_unaligned_be32(req->ex, vib_packet_ext(pkt, VIB_EXT_IMM));
	if (exts & BIT(VIB_EXT_IETH))
		put_unaligned_be32(req->ex, vib_packet_ext(pkt, VIB_EXT_IETH));
}

static void put_bth(struct rc_pair *pair, const struct rc_pair_req *req,
		    struct vib_packet *pkt, u8 opcode)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);

	oth->bth[0] = cpu_to_be32(opcode << IB_BTH_OPCODE_SHIFT | IB_BTH_MIG_REQ | 0xffff |
				  (req->solicited ? IB_BTH_SOLICITED : 0));
	oth->bth[1] = cpu_to_be32(pair->peer.qp->ib.qp_num);
	oth->bth[2] = cpu_to_be32(RQ(req->n) | (req->ack_req ? IB_BTH_REQ_ACK : 0));
}

struct vib_packet *rc_pair_packet(struct kunit *test, struct rc_pair *pair,
				  const struct rc_pair_req *req)
{
	u8 opcode = vib_rc_transport(pair->peer.qp) | req->operation;
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);
	struct vib_payload *payload;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_LOCAL);
	pkt->hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + vib_op_ext_len(opcode);
	put_bth(pair, req, pkt, opcode);
	put_exts(pair, req, pkt, vib_op_ext(opcode));
	if (req->len) {
		payload = vib_payload_alloc(req->len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, payload);
		memcpy(payload->data, pair->out + req->from, req->len);
		vib_packet_attach(pkt, payload, 0, req->len);
		vib_payload_put(payload);
	}
	vib_packet_finish(pkt, 0, 0, pair->hca.a.port->lid, pair->hca.b.port->lid);
	return pkt;
}

void rc_pair_request(struct kunit *test, struct rc_pair *pair, const struct rc_pair_req *req)
{
	rc_arrive(&pair->peer, rc_pair_packet(test, pair, req));
}

void rc_pair_hold(struct rc_pair *pair)
{
	disable_work_sync(&pair->peer.qp->recv_work);
}

void rc_pair_release(struct rc_pair *pair)
{
	enable_work(&pair->peer.qp->recv_work);
	vib_qp_kick(&pair->peer.qp->recv_work);
}

/* More than any port lets queue up before its QPs have to wait. */
#define PORT_FULL	0x10000

static void port_fill(struct vib_tx *tx, int packets)
{
	unsigned int vl;

	spin_lock_bh(&tx->lock);
	for (vl = 0; vl < VIB_VL_MGMT; vl++)
		tx->queued[vl] += packets;
	spin_unlock_bh(&tx->lock);
}

void rc_pair_stop_port(struct rc_pair *pair)
{
	port_fill(&pair->hca.a.port->tx, PORT_FULL);
}

void rc_pair_start_port(struct rc_pair *pair)
{
	struct vib_tx *tx = &pair->hca.a.port->tx;

	port_fill(tx, -PORT_FULL);
	vib_qp_kick(&tx->work);
}

int rc_pair_recv(struct rc_pair *pair, u64 wr_id, u32 len)
{
	return hca_recv(pair->peer.ib, &pair->hca.a, pair->in, len, wr_id);
}

struct ib_wc rc_pair_wc(struct rc_pair *pair)
{
	struct ib_wc wc = {};
	int i;

	for (i = 0; i < 4; i++)
		flush_workqueue(vib_wq);
	if (ib_poll_cq(pair->hca.a.cq, 1, &wc) != 1)
		memset(&wc, 0, sizeof(wc));
	return wc;
}

/* ---- replies ---- */

bool rc_pair_reply(struct rc_pair *pair, struct rc_pair_reply *reply)
{
	struct rc_seen seen;
	u32 aeth;
	u8 exts;

	if (!rc_seen(&pair->peer, &seen))
		return false;
	*reply = (struct rc_pair_reply){
		.operation = seen.operation,
		.psn = seen.psn,
		.len = seen.len,
		.pkt = seen.pkt,
	};
	exts = vib_op_ext(seen.operation);
	if (exts & BIT(VIB_EXT_AETH)) {
		aeth = get_unaligned_be32(vib_packet_ext(seen.pkt, VIB_EXT_AETH));
		reply->syndrome = aeth >> IB_AETH_CREDIT_SHIFT;
		reply->msn = aeth & IB_MSN_MASK;
	}
	if (exts & BIT(VIB_EXT_ATOMIC_ACK))
		reply->value = get_unaligned_be64(vib_packet_ext(seen.pkt, VIB_EXT_ATOMIC_ACK));
	return true;
}

bool rc_pair_acked(struct rc_pair *pair, u32 n, u32 msn)
{
	struct rc_pair_reply reply;

	return rc_pair_reply(pair, &reply) && reply.operation == IB_OPCODE_ACKNOWLEDGE &&
	       reply.psn == RQ(n) && reply.syndrome == VIB_AETH_UNLIMITED && reply.msn == msn;
}

bool rc_pair_naked(struct rc_pair *pair, u32 n, u8 syndrome)
{
	struct rc_pair_reply reply;

	return rc_pair_reply(pair, &reply) && reply.operation == IB_OPCODE_ACKNOWLEDGE &&
	       reply.psn == RQ(n) && reply.syndrome == syndrome;
}

bool rc_pair_silent(struct rc_pair *pair)
{
	return rc_silent(&pair->peer);
}

/* ---- what became of it ---- */

unsigned int rc_pair_events(struct rc_pair *pair, enum ib_event_type type)
{
	flush_workqueue(vib_wq);
	return pair->hca.a.qp_events[type];
}

u64 rc_pair_dropped(struct rc_pair *pair, enum vib_drop why)
{
	return hca_dropped(&pair->hca.a, why);
}

enum ib_qp_state rc_pair_state(struct rc_pair *pair)
{
	flush_workqueue(vib_wq);
	return READ_ONCE(pair->peer.qp->state);
}
