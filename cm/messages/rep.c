// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * REP (IBA vol. 1, 12.6.8): sent by the passive side, received by the active side.
 *
 * When a REP is resent is in retry.c.  Before a REP is resent or given up, the QP's
 * expected PSN is queried where that may help (ibcm/watch.c): if the peer has sent data,
 * the REP need not be resent.
 */
#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/*
 * Answers a resent REQ with a copy of the outstanding REP.  Does not before that REP itself
 * is posted: if posting fails, the id goes back to its former state, in which the peer must
 * not have received a copy.  May sleep.
 */
void ibcm_send_rep_again(struct ibcm_id *id)
{
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_REP);
	bool outstanding = false;

	if (IS_ERR(msg))
		return;
	spin_lock_irq(&id->lock);
	if (id->msg && id->msg->kind == IBCM_REP && READ_ONCE(id->msg->posted)) {
		memcpy(msg->buf->mad, id->msg->buf->mad, IB_MGMT_MAD_SIZE);
		outstanding = true;
	}
	spin_unlock_irq(&id->lock);
	if (outstanding) {
		ibcm_stat(msg->port, IBCM_STAT_REP_RESENT);
		ibcm_msg_post(msg);
	} else {
		ibcm_msg_drop(msg);
	}
}

static void ibcm_rep_fill(struct ibcm_msg *msg,
			  const struct ib_cm_rep_param *param)
{
	struct ibcm_id *id = msg->id;
	struct ib_device *ibdev = id->id.device;
	struct cm_rep_msg *rep = ibcm_msg_mad(msg, id->tid);

	rep->hdr.attr_mod = cpu_to_be32(param->ece.attr_mod);
	IBA_SET(CM_REP_LOCAL_COMM_ID, rep, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_REP_REMOTE_COMM_ID, rep, be32_to_cpu(id->id.remote_id));
	IBA_SET(CM_REP_STARTING_PSN, rep, param->starting_psn);
	IBA_SET(CM_REP_RESPONDER_RESOURCES, rep, param->responder_resources);
	IBA_SET(CM_REP_TARGET_ACK_DELAY, rep, ibdev->attrs.local_ca_ack_delay);
	IBA_SET(CM_REP_FAILOVER_ACCEPTED, rep, param->failover_accepted);
	IBA_SET(CM_REP_RNR_RETRY_COUNT, rep, param->rnr_retry_count);
	IBA_SET(CM_REP_LOCAL_CA_GUID, rep, be64_to_cpu(ibdev->node_guid));

	/* For XRC the EE context field, of RD, has the target QP number (annex A14). */
	if (id->qp_type == IB_QPT_XRC_TGT) {
		IBA_SET(CM_REP_SRQ, rep, 1);
		IBA_SET(CM_REP_LOCAL_EE_CONTEXT_NUMBER, rep, param->qp_num);
	} else {
		IBA_SET(CM_REP_INITIATOR_DEPTH, rep, param->initiator_depth);
		IBA_SET(CM_REP_END_TO_END_FLOW_CONTROL, rep,
			param->flow_control);
		IBA_SET(CM_REP_SRQ, rep, param->srq);
		IBA_SET(CM_REP_LOCAL_QPN, rep, param->qp_num);
	}
	IBA_SET(CM_REP_VENDOR_ID_L, rep, param->ece.vendor_id);
	IBA_SET(CM_REP_VENDOR_ID_M, rep, param->ece.vendor_id >> 8);
	IBA_SET(CM_REP_VENDOR_ID_H, rep, param->ece.vendor_id >> 16);
	if (param->private_data_len)
		IBA_SET_MEM(CM_REP_PRIVATE_DATA, rep, param->private_data,
			    param->private_data_len);
}

/**
 * ib_send_cm_rep - accept a connection request
 * @cm_id: An id that was notified of IB_CM_REQ_RECEIVED.
 * @param: The reply; QP number and PSN in the host's byte order.
 *
 * The REP (IBA vol. 1, 12.6.8) is resent until an RTU, a REJ, a DREQ, or data on the QP
 * (reported with ib_cm_notify(), or see ib_cm_watch_qp()) answers it, as often and as
 * long as the REQ requested.  IB_CM_RTU_RECEIVED, IB_CM_USER_ESTABLISHED,
 * IB_CM_REJ_RECEIVED or IB_CM_REP_ERROR reports the outcome.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for bad private data or an id that has no request to
 * reply to; -ENODEV after the device's removal; -ENOMEM.
 */
int ib_send_cm_rep(struct ib_cm_id *cm_id,
		   struct ib_cm_rep_param *param)
{
	struct ibcm_msg *msg, *old = NULL;
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_todo todo;
	bool moved;

	if (param->private_data_len > IB_CM_REP_PRIVATE_DATA_SIZE ||
	    (param->private_data_len && !param->private_data))
		return -EINVAL;
	msg = ibcm_msg_alloc(id, IBCM_REP);
	if (IS_ERR(msg))
		return PTR_ERR(msg);
	ibcm_rep_fill(msg, param);
	INIT_WORK(&msg->look, ibcm_rep_look_work);

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TX_REP, &todo);
	if (moved) {
		id->local_qpn = param->qp_num;
		id->rq_psn = param->starting_psn;
		id->initiator_depth = param->initiator_depth;
		id->responder_resources = param->responder_resources;
		old = ibcm_msg_attach(id, msg, ibcm_wait_ms(id, msg), 0);
	}
	spin_unlock_irq(&id->lock);

	if (!moved) {
		trace_icm_send_rep_err(cm_id->local_id, todo.from);
		ibcm_msg_drop(msg);
		return -EINVAL;
	}
	ibcm_msg_stop(old);
	trace_icm_send_rep(cm_id);
	return ibcm_step_post(id, msg, &todo);
}
EXPORT_SYMBOL(ib_send_cm_rep);

/* ---- the active side ---- */

static u32 ibcm_rep_qpn(const struct ibcm_id *id, const struct cm_rep_msg *rep)
{
	return id->qp_type == IB_QPT_XRC_INI ?
	       IBA_GET(CM_REP_LOCAL_EE_CONTEXT_NUMBER, rep) :
	       IBA_GET(CM_REP_LOCAL_QPN, rep);
}

/*
 * Sets the peer's communication id and QP from the first REP and hashes them.  -EEXIST
 * if another connection has one of them.  Caller holds id->lock.
 */
static int ibcm_rep_hash(struct ibcm_id *id, const struct cm_rep_msg *rep)
{
	struct ibcm_peer *peer = id->peer;
	int ret;

	ibcm_peer_set(peer, cpu_to_be64(IBA_GET(CM_REP_LOCAL_CA_GUID, rep)),
		      cpu_to_be32(IBA_GET(CM_REP_LOCAL_COMM_ID, rep)),
		      ibcm_rep_qpn(id, rep));
	ret = ibcm_peer_hash_qp(peer);
	if (ret)
		return ret;
	ret = ibcm_peer_hash_comm(peer);
	if (ret)
		ibcm_peer_unhash(peer);
	return ret;
}

/*
 * Takes the parameters from an accepted REP.  Each side's responder resources are the
 * other side's initiator depth.  Caller holds id->lock.
 */
static void ibcm_rep_params(struct ibcm_id *id, const struct cm_rep_msg *rep)
{
	id->id.remote_id = cpu_to_be32(IBA_GET(CM_REP_LOCAL_COMM_ID, rep));
	id->remote_qpn = ibcm_rep_qpn(id, rep);
	id->sq_psn = IBA_GET(CM_REP_STARTING_PSN, rep);
	id->responder_resources = IBA_GET(CM_REP_INITIATOR_DEPTH, rep);
	id->initiator_depth = IBA_GET(CM_REP_RESPONDER_RESOURCES, rep);
	id->rnr_retry_count = IBA_GET(CM_REP_RNR_RETRY_COUNT, rep);
	id->target_ack_delay = IBA_GET(CM_REP_TARGET_ACK_DELAY, rep);
	id->av.ack_timeout = ibcm_ack_timeout(id->target_ack_delay,
					      id->av.packet_life_time);
	if (id->alt)
		id->alt->ack_timeout =
			ibcm_ack_timeout(id->target_ack_delay,
					 id->alt->packet_life_time);
}

static void ibcm_rep_event(const struct ibcm_id *id, struct cm_rep_msg *rep,
			   struct ib_cm_event *event)
{
	struct ib_cm_rep_event_param *param = &event->param.rep_rcvd;

	param->remote_ca_guid = cpu_to_be64(IBA_GET(CM_REP_LOCAL_CA_GUID, rep));
	param->remote_qkey = IBA_GET(CM_REP_LOCAL_Q_KEY, rep);
	param->remote_qpn = ibcm_rep_qpn(id, rep);
	param->starting_psn = IBA_GET(CM_REP_STARTING_PSN, rep);
	param->responder_resources = IBA_GET(CM_REP_INITIATOR_DEPTH, rep);
	param->initiator_depth = IBA_GET(CM_REP_RESPONDER_RESOURCES, rep);
	param->target_ack_delay = IBA_GET(CM_REP_TARGET_ACK_DELAY, rep);
	param->failover_accepted = IBA_GET(CM_REP_FAILOVER_ACCEPTED, rep);
	param->flow_control = IBA_GET(CM_REP_END_TO_END_FLOW_CONTROL, rep);
	param->rnr_retry_count = IBA_GET(CM_REP_RNR_RETRY_COUNT, rep);
	param->srq = IBA_GET(CM_REP_SRQ, rep);
	param->ece.vendor_id = IBA_GET(CM_REP_VENDOR_ID_H, rep) << 16 |
			       IBA_GET(CM_REP_VENDOR_ID_M, rep) << 8 |
			       IBA_GET(CM_REP_VENDOR_ID_L, rep);
	param->ece.attr_mod = be32_to_cpu(rep->hdr.attr_mod);
	event->private_data = IBA_GET_MEM_PTR(CM_REP_PRIVATE_DATA, rep);
}

/*
 * Another connection already has the peer's QP of this REP: the peer no longer has that
 * connection, which is ended.  This attempt ends, too; the consumer's next one can
 * succeed (12.9.8.3.1).
 */
static int ibcm_rep_stale(struct ibcm_id *id, const struct ibcm_rx *rx)
{
	struct ib_cm_event event = {
		.param.rej_rcvd.reason = IB_CM_REJ_STALE_CONN,
	};
	struct cm_rep_msg *rep = ibcm_rx_mad(rx);
	struct ibcm_peer key = {};
	struct ibcm_todo todo;

	ibcm_peer_set(&key, cpu_to_be64(IBA_GET(CM_REP_LOCAL_CA_GUID, rep)),
		      cpu_to_be32(IBA_GET(CM_REP_LOCAL_COMM_ID, rep)),
		      ibcm_rep_qpn(id, rep));
	ibcm_peer_stale(&key);
	trace_icm_staleconn_err(be32_to_cpu(id->id.local_id),
				IBA_GET(CM_REP_LOCAL_COMM_ID, rep));

	spin_lock_irq(&id->lock);
	id->id.remote_id = key.comm.remote_id;
	ibcm_step(id, IBCM_RX_REJ_STALE, &todo);
	spin_unlock_irq(&id->lock);
	ibcm_send_rej(id, IBCM_FIELD_REP, IB_CM_REJ_STALE_CONN, NULL, 0);
	event.private_data = IBA_GET_MEM_PTR(CM_REP_PRIVATE_DATA, rep);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

int ibcm_rx_rep(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_rep_msg *rep = ibcm_rx_mad(rx);
	__be32 remote_id = cpu_to_be32(IBA_GET(CM_REP_LOCAL_COMM_ID, rep));
	struct ib_cm_event event = {};
	struct ibcm_todo todo = {};
	int ret = 0;

	ibcm_rep_event(id, rep, &event);
	spin_lock_irq(&id->lock);
	if (id->active && ibcm_step_of(id->id.state, IBCM_RX_REP)) {
		/* The first REP tells the peer's communication id. */
		if (!id->id.remote_id)
			ret = ibcm_rep_hash(id, rep);
		else if (id->id.remote_id != remote_id)
			ret = -EINVAL;
		if (!ret && !id->id.remote_id)
			ibcm_rep_params(id, rep);
		if (!ret)
			ibcm_step(id, IBCM_RX_REP, &todo);
		if (todo.stop)
			ibcm_answered(id, todo.stop, todo.from);
	}
	spin_unlock_irq(&id->lock);

	if (ret == -EEXIST)
		return ibcm_rep_stale(id, rx);
	if (!todo.step)
		trace_icm_rep_unknown_err(be32_to_cpu(id->id.local_id),
					  IBA_GET(CM_REP_LOCAL_COMM_ID, rep),
					  id->id.state);
	return ibcm_rx_finish(id, rx, &todo, &event);
}
