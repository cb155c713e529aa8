// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* REQ, active side (IBA vol. 1, 12.6.5): requests a connection. */
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/* Objects allocated for a REQ before the id's state changes. */
struct ibcm_req_ctx {
	struct ibcm_av av;
	struct ibcm_av *alt;
	struct ibcm_peer *peer;
	struct ibcm_path *path;
};

static int ibcm_req_check(const struct ib_cm_req_param *param)
{
	const struct sa_path_rec *primary = param->primary_path;
	const struct sa_path_rec *alternate = param->alternate_path;

	if (!primary)
		return -EINVAL;
	if (param->qp_type != IB_QPT_RC && param->qp_type != IB_QPT_UC &&
	    param->qp_type != IB_QPT_XRC_INI)
		return -EINVAL;
	if (param->private_data_len > IB_CM_REQ_PRIVATE_DATA_SIZE ||
	    (param->private_data_len && !param->private_data))
		return -EINVAL;
	/* A REQ has one P_Key and one MTU for both paths. */
	if (alternate && (alternate->pkey != primary->pkey ||
			  alternate->mtu != primary->mtu))
		return -EINVAL;
	return 0;
}

static void ibcm_req_ctx_free(struct ibcm_req_ctx *ctx)
{
	kfree(ctx->peer);
	if (ctx->alt)
		ibcm_av_destroy(ctx->alt);
	kfree(ctx->alt);
	ibcm_av_destroy(&ctx->av);
	ibcm_path_put(ctx->path);
}

static int ibcm_req_prepare(struct ibcm_id *id,
			    const struct ib_cm_req_param *param,
			    struct ibcm_req_ctx *ctx)
{
	int ret;

	ret = ibcm_av_from_path(id->dev, param->primary_path,
				param->ppath_sgid_attr, &ctx->av);
	if (ret)
		return ret;
	if (param->primary_path_outbound)
		ctx->av.dlid_datapath =
			be16_to_cpu(param->primary_path_outbound->ib.dlid);

	if (param->alternate_path) {
		ctx->alt = kzalloc(sizeof(*ctx->alt), GFP_KERNEL);
		if (!ctx->alt)
			return -ENOMEM;
		ret = ibcm_av_from_path(id->dev, param->alternate_path, NULL,
					ctx->alt);
		if (ret)
			return ret;
	}

	ctx->peer = ibcm_peer_alloc(id, GFP_KERNEL);
	if (!ctx->peer)
		return -ENOMEM;
	ctx->path = ibcm_path_get(ctx->av.port, &ctx->av.ah_attr);
	if (IS_ERR(ctx->path)) {
		ret = PTR_ERR(ctx->path);
		ctx->path = NULL;
		return ret;
	}
	return 0;
}

/* Transport service type: 0 RC, 1 UC, 3 extended; extended transport type: 1 XRC. */
static void ibcm_req_set_transport(struct cm_req_msg *req, enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_UC:
		IBA_SET(CM_REQ_TRANSPORT_SERVICE_TYPE, req, 1);
		break;
	case IB_QPT_XRC_INI:
		IBA_SET(CM_REQ_TRANSPORT_SERVICE_TYPE, req, 3);
		IBA_SET(CM_REQ_EXTENDED_TRANSPORT_TYPE, req, 1);
		break;
	default:
		IBA_SET(CM_REQ_TRANSPORT_SERVICE_TYPE, req, 0);
		break;
	}
}

/*
 * LIDs are valid within the subnet only (12.7.11, 12.7.21).  The 32-bit LIDs of OPA
 * are sent in GIDs made from them, see ibcm_path_gids().
 */
struct ibcm_lids ibcm_path_lids(struct sa_path_rec *path,
				const struct sa_path_rec *inbound)
{
	struct ibcm_lids lids = {
		.local = be16_to_cpu(IB_LID_PERMISSIVE),
		.remote = be16_to_cpu(IB_LID_PERMISSIVE),
	};

	if (path->hop_limit > 1)
		return lids;
	if (inbound && inbound->ib.dlid)
		lids.local = be16_to_cpu(inbound->ib.dlid);
	else
		lids.local = be32_to_cpu(sa_path_get_slid(path));
	lids.remote = be32_to_cpu(sa_path_get_dlid(path));
	return lids;
}

void ibcm_path_gids(struct sa_path_rec *path, union ib_gid *local,
		    union ib_gid *remote)
{
	__be32 slid = sa_path_get_slid(path);
	__be32 dlid = sa_path_get_dlid(path);

	*local = path->sgid;
	*remote = path->dgid;
	if (sa_path_is_opa(path) && opa_is_extended_lid(dlid, slid)) {
		local->global.interface_id = OPA_MAKE_ID(be32_to_cpu(slid));
		remote->global.interface_id = OPA_MAKE_ID(be32_to_cpu(dlid));
	}
}

static void ibcm_req_set_path(struct cm_req_msg *to, struct sa_path_rec *path,
			      const struct sa_path_rec *inbound, u8 ack_timeout)
{
	struct ibcm_lids lids = ibcm_path_lids(path, inbound);
	union ib_gid local, remote;

	ibcm_path_gids(path, &local, &remote);
	IBA_SET(CM_REQ_PRIMARY_LOCAL_PORT_LID, to, lids.local);
	IBA_SET(CM_REQ_PRIMARY_REMOTE_PORT_LID, to, lids.remote);
	*IBA_GET_MEM_PTR(CM_REQ_PRIMARY_LOCAL_PORT_GID, to) = local;
	*IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, to) = remote;
	IBA_SET(CM_REQ_PRIMARY_FLOW_LABEL, to, be32_to_cpu(path->flow_label));
	IBA_SET(CM_REQ_PRIMARY_PACKET_RATE, to, path->rate);
	IBA_SET(CM_REQ_PRIMARY_TRAFFIC_CLASS, to, path->traffic_class);
	IBA_SET(CM_REQ_PRIMARY_HOP_LIMIT, to, path->hop_limit);
	IBA_SET(CM_REQ_PRIMARY_SL, to, path->sl);
	IBA_SET(CM_REQ_PRIMARY_SUBNET_LOCAL, to, path->hop_limit <= 1);
	IBA_SET(CM_REQ_PRIMARY_LOCAL_ACK_TIMEOUT, to, ack_timeout);
}

static void ibcm_req_fill(struct ibcm_msg *msg, __be64 tid,
			  const struct ib_cm_req_param *param,
			  const struct ibcm_req_ctx *ctx)
{
	struct cm_req_msg *req = ibcm_msg_mad(msg, tid);
	struct ibcm_id *id = msg->id;

	req->hdr.attr_mod = cpu_to_be32(param->ece.attr_mod);
	IBA_SET(CM_REQ_LOCAL_COMM_ID, req, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_REQ_VENDOR_ID, req, param->ece.vendor_id);
	IBA_SET(CM_REQ_SERVICE_ID, req, be64_to_cpu(param->service_id));
	IBA_SET(CM_REQ_LOCAL_CA_GUID, req,
		be64_to_cpu(id->id.device->node_guid));
	IBA_SET(CM_REQ_LOCAL_QPN, req, param->qp_num);
	IBA_SET(CM_REQ_STARTING_PSN, req, param->starting_psn);
	IBA_SET(CM_REQ_REMOTE_CM_RESPONSE_TIMEOUT, req,
		param->remote_cm_response_timeout);
	IBA_SET(CM_REQ_LOCAL_CM_RESPONSE_TIMEOUT, req,
		param->local_cm_response_timeout);
	IBA_SET(CM_REQ_END_TO_END_FLOW_CONTROL, req, param->flow_control);
	IBA_SET(CM_REQ_MAX_CM_RETRIES, req, param->max_cm_retries);
	IBA_SET(CM_REQ_PARTITION_KEY, req, be16_to_cpu(param->primary_path->pkey));
	IBA_SET(CM_REQ_PATH_PACKET_PAYLOAD_MTU, req, param->primary_path->mtu);
	ibcm_req_set_transport(req, param->qp_type);

	/* An XRC initiator has no responder half (IBA annex A14). */
	if (param->qp_type != IB_QPT_XRC_INI) {
		IBA_SET(CM_REQ_RESPONDER_RESOURCES, req,
			param->responder_resources);
		IBA_SET(CM_REQ_RNR_RETRY_COUNT, req, param->rnr_retry_count);
		IBA_SET(CM_REQ_SRQ, req, param->srq);
	}
	IBA_SET(CM_REQ_INITIATOR_DEPTH, req, param->initiator_depth);
	IBA_SET(CM_REQ_RETRY_COUNT, req, param->retry_count);

	ibcm_req_set_path(ibcm_req_path(req, false), param->primary_path,
			  param->primary_path_inbound, ctx->av.ack_timeout);
	if (ctx->alt)
		ibcm_req_set_path(ibcm_req_path(req, true), param->alternate_path,
				  NULL, ctx->alt->ack_timeout);
	if (param->private_data_len)
		IBA_SET_MEM(CM_REQ_PRIVATE_DATA, req, param->private_data,
			    param->private_data_len);
}

/* Moves the objects of @ctx to the id, and the id's old ones to @ctx to be freed. */
static void ibcm_req_commit(struct ibcm_id *id, __be64 tid,
			    const struct ib_cm_req_param *param,
			    struct ibcm_req_ctx *ctx)
{
	lockdep_assert_held(&id->lock);
	swap(id->av, ctx->av);
	swap(id->alt, ctx->alt);
	swap(id->path, ctx->path);
	id->peer = ctx->peer;
	ctx->peer = NULL;
	id->pkey_index = id->av.pkey_index;
	id->tid = tid;
	id->active = true;
	id->id.service_id = param->service_id;
	id->id.remote_id = 0;
	id->timeout_ms = ibcm_time_ms(param->remote_cm_response_timeout) +
			 2 * ibcm_time_ms(id->av.packet_life_time);
	id->answer_ms = ibcm_time_ms(param->local_cm_response_timeout);
	id->max_cm_retries = param->max_cm_retries;
	id->local_qpn = param->qp_num;
	id->rq_psn = param->starting_psn;
	id->qp_type = param->qp_type;
	id->path_mtu = param->primary_path->mtu;
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	id->retry_count = param->retry_count;
	id->rnr_retry_count = param->rnr_retry_count;
	id->ece = param->ece;
}

/**
 * ib_send_cm_req - request a connection
 * @cm_id: An idle id.
 * @param: The request.  Paths, service id and GIDs are in network byte order;
 *	QP number, PSN and the rest in the host's.  A timeout of n means 4.096 us * 2^n.
 *	The caller holds a reference on @param->ppath_sgid_attr, if not NULL.
 *
 * The REQ (IBA vol. 1, 12.6.5) is resent up to @param->max_cm_retries times
 * until the peer answers, the first times after twice the packet lifetime.
 * IB_CM_REP_RECEIVED, IB_CM_REJ_RECEIVED or IB_CM_REQ_ERROR reports the outcome.
 *
 * Context: May sleep; RoCE paths that are not resolved are resolved here.
 *
 * Return: 0; -EINVAL for a bad parameter or an id that is not idle; -ENOENT
 * if the device does not have the SGID or P_Key; -ENODEV after the device's removal;
 * -ENOMEM; or the provider's error if it can create no address handle.  If an idle id
 * gets an error it stays idle and may be used again.
 */
int ib_send_cm_req(struct ib_cm_id *cm_id,
		   struct ib_cm_req_param *param)
{
	struct ibcm_msg *msg, *old = NULL;
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_req_ctx ctx = {};
	struct ibcm_todo todo;
	__be64 tid;
	int ret;

	ret = ibcm_req_check(param);
	if (ret)
		return ret;
	ret = ibcm_req_prepare(id, param, &ctx);
	if (ret)
		goto out;
	msg = ibcm_msg_alloc_by(id, ctx.path, ctx.av.pkey_index, IBCM_REQ);
	if (IS_ERR(msg)) {
		ret = PTR_ERR(msg);
		goto out;
	}
	tid = ibcm_new_tid(msg);
	ibcm_req_fill(msg, tid, param, &ctx);

	spin_lock_irq(&id->lock);
	if (ibcm_step(id, IBCM_TX_REQ, &todo)) {
		ibcm_req_commit(id, tid, param, &ctx);
		old = ibcm_msg_attach(id, msg, ibcm_wait_ms(id, msg), 0);
	} else {
		ret = -EINVAL;
	}
	spin_unlock_irq(&id->lock);

	ibcm_msg_stop(old);
	if (ret) {
		ibcm_msg_drop(msg);
	} else {
		trace_icm_send_req(cm_id);
		ret = ibcm_step_post(id, msg, &todo);
	}
out:
	ibcm_req_ctx_free(&ctx);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_req);
