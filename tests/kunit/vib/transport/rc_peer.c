// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "rc_peer.h"

/* ---- the tap ---- */

static struct {
	spinlock_t lock;		/* ports call on several processors */
	struct list_head seen;		/* of vib_packet; lock */
	const struct vib_node_ops *ops;	/* of the adapter */
	struct vib_node_ops own;
} tap;

/* Whatever comes leaves the buffer of the link at once, so that nothing holds the sender up. */
static void tap_receive(struct vib_port *port, struct vib_packet *pkt)
{
	vib_packet_release(pkt);
	spin_lock_bh(&tap.lock);
	list_add_tail(&pkt->entry, &tap.seen);
	spin_unlock_bh(&tap.lock);
}

static struct vib_packet *tap_next(void)
{
	struct vib_packet *pkt;

	spin_lock_bh(&tap.lock);
	pkt = list_first_entry_or_null(&tap.seen, struct vib_packet, entry);
	if (pkt)
		list_del_init(&pkt->entry);
	spin_unlock_bh(&tap.lock);
	return pkt;
}

void rc_tap_open(struct hca_pair *pair)
{
	struct vib_node *node = &pair->b.hca->node;

	spin_lock_init(&tap.lock);
	INIT_LIST_HEAD(&tap.seen);
	tap.ops = node->ops;
	tap.own = *node->ops;
	tap.own.receive = tap_receive;
	WRITE_ONCE(node->ops, &tap.own);
	synchronize_rcu();
}

void rc_tap_close(struct hca_pair *pair)
{
	struct vib_packet *pkt;

	WRITE_ONCE(pair->b.hca->node.ops, tap.ops);
	synchronize_rcu();
	while ((pkt = tap_next()))
		vib_packet_free(pkt);
}

/* ---- the QP ---- */

static bool has_requester_attrs(const struct ib_qp *qp)
{
	return qp->qp_type == IB_QPT_RC || qp->qp_type == IB_QPT_XRC_INI;
}

static bool has_responder_attrs(const struct ib_qp *qp)
{
	return qp->qp_type == IB_QPT_RC || qp->qp_type == IB_QPT_XRC_TGT;
}

static void fill_av(struct hca_pair *pair, const struct rc_want *want,
		    struct rdma_ah_attr *attr)
{
	union ib_gid gid = hca_gid(&pair->b);

	attr->type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(attr, pair->b.port->lid);
	rdma_ah_set_port_num(attr, 1);
	if (want->grh)
		rdma_ah_set_grh(attr, &gid, 0x12345, 0, 7, 0x20);
}

static int qp_to_init(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int qp_to_rtr(struct hca_pair *pair, struct ib_qp *qp, const struct rc_want *want)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = PEER_QPN,
		.rq_psn = PEER_RQ_PSN,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
	};
	int mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;

	fill_av(pair, want, &attr.ah_attr);
	if (has_responder_attrs(qp))
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	return ib_modify_qp(qp, &attr, mask);
}

static int qp_to_rts(struct ib_qp *qp, const struct rc_want *want)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = PEER_PSN,
		.timeout = want->timeout,
		.retry_cnt = want->retry_cnt,
		.rnr_retry = want->rnr_retry,
		.max_rd_atomic = want->rd_atomic ?: 2,
	};
	int mask = IB_QP_STATE | IB_QP_SQ_PSN;

	if (has_requester_attrs(qp))
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	return ib_modify_qp(qp, &attr, mask);
}

int rc_qp_to_rts(struct hca_pair *pair, struct ib_qp *qp, const struct rc_want *want)
{
	return qp_to_init(qp) ?: qp_to_rtr(pair, qp, want) ?: qp_to_rts(qp, want);
}

/* To a state that needs no attribute. */
int rc_qp_modify(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state, .en_sqd_async_notify = 1 };

	return ib_modify_qp(qp, &attr, IB_QP_STATE | (state == IB_QPS_SQD ?
						      IB_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

void rc_peer_open(struct kunit *test, struct hca_pair *pair, struct rc_peer *peer,
		  const struct rc_want *want)
{
	struct hca_qp_want qp_want = { .sig_all = want->sig_all, .wr = want->wr };

	memset(peer, 0, sizeof(*peer));
	peer->pair = pair;
	/* 0 is IB_QPT_SMI. */
	peer->ib = hca_qp_create(&pair->a, want->type ?: IB_QPT_RC, &qp_want);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->ib));
	peer->qp = to_vib_qp(peer->ib);
	peer->req = &peer->qp->rc->req;
	KUNIT_ASSERT_EQ(test, rc_qp_to_rts(pair, peer->ib, want), 0);
}

void rc_peer_close(struct rc_peer *peer)
{
	struct vib_packet *pkt;

	if (peer->last)
		vib_packet_free(peer->last);
	if (!IS_ERR_OR_NULL(peer->ib))
		ib_destroy_qp(peer->ib);
	flush_workqueue(vib_wq);
	while ((pkt = tap_next()))
		vib_packet_free(pkt);
	memset(peer, 0, sizeof(*peer));
}

/* ---- what it is asked to send ---- */

int rc_post(struct rc_peer *peer, const struct rc_wr *wr)
{
	struct ib_sge sge[4] = {};
	union {
		struct ib_send_wr wr;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
	} u = {};
	int i, n = wr->num_sge ?: 1;

	for (i = 0; i < n; i++) {
		sge[i].addr = (uintptr_t)wr->buf + wr->len / n * i;
		sge[i].length = i < n - 1 ? wr->len / n : wr->len - wr->len / n * i;
		sge[i].lkey = peer->pair->a.pd->local_dma_lkey;
	}
	u.wr.wr_id = wr->wr_id;
	u.wr.opcode = wr->opcode;
	u.wr.send_flags = wr->flags | (wr->silent ? 0 : IB_SEND_SIGNALED);
	u.wr.sg_list = sge;
	u.wr.num_sge = wr->len ? n : 0;
	if (wr->opcode == IB_WR_SEND_WITH_INV || wr->opcode == IB_WR_LOCAL_INV)
		u.wr.ex.invalidate_rkey = wr->ex;
	else
		u.wr.ex.imm_data = cpu_to_be32(wr->ex);
	if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		u.atomic.remote_addr = PEER_ADDR;
		u.atomic.rkey = wr->rkey ?: PEER_RKEY;
		u.atomic.compare_add = wr->compare_add;
		u.atomic.swap = wr->swap;
	} else {
		u.rdma.remote_addr = PEER_ADDR;
		u.rdma.rkey = wr->rkey ?: PEER_RKEY;
	}
	return ib_post_send(peer->ib, &u.wr, NULL);
}

/* ---- what it sends ---- */

/* Works queue one another: they take in, send, and complete. */
static void run_dry(void)
{
	int i;

	for (i = 0; i < 4; i++)
		flush_workqueue(vib_wq);
}

bool rc_seen(struct rc_peer *peer, struct rc_seen *seen)
{
	struct ib_other_headers *oth;

	if (peer->last)
		vib_packet_free(peer->last);
	run_dry();
	peer->last = tap_next();
	if (!peer->last)
		return false;
	oth = vib_packet_bth(peer->last);
	*seen = (struct rc_seen){
		.pkt = peer->last,
		.operation = VIB_OPERATION(ib_bth_get_opcode(oth)),
		.psn = vib_packet_psn(peer->last),
		.len = peer->last->len,
		.ack_req = ib_bth_get_ackreq(oth),
		.solicited = ib_bth_is_solicited(oth),
	};
	return true;
}

bool rc_saw(struct rc_peer *peer, u8 operation, u32 n)
{
	struct rc_seen seen;

	return rc_seen(peer, &seen) && seen.operation == operation && seen.psn == PSN(n);
}

bool rc_silent(struct rc_peer *peer)
{
	struct rc_seen seen;

	return !rc_seen(peer, &seen);
}

/* ---- what it gets ---- */

struct vib_packet *rc_packet(struct kunit *test, struct rc_peer *peer, u8 operation, u32 n,
			     u32 aeth, u64 value, const void *data, u32 len)
{
	u8 opcode = vib_rc_transport(peer->qp) | operation, exts = vib_op_ext(opcode);
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);
	struct ib_other_headers *oth;
	struct vib_payload *payload;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_LOCAL);
	pkt->hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + vib_op_ext_len(opcode);
	oth = vib_packet_bth(pkt);
	oth->bth[0] = cpu_to_be32(opcode << IB_BTH_OPCODE_SHIFT | IB_BTH_MIG_REQ | 0xffff);
	oth->bth[1] = cpu_to_be32(peer->ib->qp_num);
	oth->bth[2] = cpu_to_be32(PSN(n));
	if (exts & BIT(VIB_EXT_AETH))
		put_unaligned_be32(aeth, vib_packet_ext(pkt, VIB_EXT_AETH));
	if (exts & BIT(VIB_EXT_ATOMIC_ACK))
		put_unaligned_be64(value, vib_packet_ext(pkt, VIB_EXT_ATOMIC_ACK));
	if (len) {
		payload = vib_payload_alloc(len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, payload);
		memcpy(payload->data, data, len);
		vib_packet_attach(pkt, payload, 0, len);
		vib_payload_put(payload);
	}
	vib_packet_finish(pkt, 0, 0, peer->pair->a.port->lid, peer->pair->b.port->lid);
	return pkt;
}

void rc_arrive(struct rc_peer *peer, struct vib_packet *pkt)
{
	/* What was posted is out. */
	run_dry();
	rcu_read_lock_bh();
	vib_hca_receive(peer->pair->a.port, pkt);
	rcu_read_unlock_bh();
	run_dry();
}

#define AETH_ACK	(VIB_AETH_UNLIMITED << IB_AETH_CREDIT_SHIFT)

void rc_ack(struct kunit *test, struct rc_peer *peer, u32 n)
{
	rc_nak(test, peer, n, VIB_AETH_UNLIMITED);
}

void rc_nak(struct kunit *test, struct rc_peer *peer, u32 n, u8 syndrome)
{
	rc_arrive(peer, rc_packet(test, peer, IB_OPCODE_ACKNOWLEDGE, n,
				  (u32)syndrome << IB_AETH_CREDIT_SHIFT, 0, NULL, 0));
}

void rc_read_response(struct kunit *test, struct rc_peer *peer, u8 operation, u32 n,
		      const void *data, u32 len)
{
	rc_arrive(peer, rc_packet(test, peer, operation, n, AETH_ACK, 0, data, len));
}

void rc_atomic_response(struct kunit *test, struct rc_peer *peer, u32 n, u64 value)
{
	rc_arrive(peer, rc_packet(test, peer, IB_OPCODE_ATOMIC_ACKNOWLEDGE, n, AETH_ACK, value,
				  NULL, 0));
}

/* ---- its timer, its completions ---- */

void rc_expire(struct rc_peer *peer)
{
	disable_work_sync(&peer->qp->recv_work);
	vib_requester_expired(peer->qp);
	enable_work(&peer->qp->recv_work);
	vib_qp_kick(&peer->qp->recv_work);
	run_dry();
}

u64 rc_events(struct rc_peer *peer, enum vib_rc_event event)
{
	run_dry();
	return atomic64_read(&vib_ca_port(peer->pair->a.port)->rc_events[event]);
}

bool rc_completed(struct rc_peer *peer, u64 wr_id, enum ib_wc_status status)
{
	struct ib_wc wc;

	return hca_poll(peer->pair->a.cq, &wc) && wc.wr_id == wr_id && wc.status == status &&
	       wc.qp == peer->ib;
}
