// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* REQ, passive side (IBA vol. 1, 12.6.5, 12.9.8.3): receives connection requests. */
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/*
 * Returns the peer's QP number and sets @type to the type that the local QP must have.
 * Returns 0 if the transport service is not supported.
 */
u32 ibcm_req_qpn(const struct cm_req_msg *req, enum ib_qp_type *type)
{
	switch (IBA_GET(CM_REQ_TRANSPORT_SERVICE_TYPE, req)) {
	case 0:
		*type = IB_QPT_RC;
		break;
	case 1:
		*type = IB_QPT_UC;
		break;
	case 3:
		if (IBA_GET(CM_REQ_EXTENDED_TRANSPORT_TYPE, req) == 1) {
			*type = IB_QPT_XRC_TGT;
			break;
		}
		fallthrough;
	default:
		return 0;
	}
	return IBA_GET(CM_REQ_LOCAL_QPN, req);
}

static __be64 ibcm_req_guid(const struct cm_req_msg *req)
{
	return cpu_to_be64(IBA_GET(CM_REQ_LOCAL_CA_GUID, req));
}

static __be32 ibcm_req_remote_id(const struct cm_req_msg *req)
{
	return cpu_to_be32(IBA_GET(CM_REQ_LOCAL_COMM_ID, req));
}

/*
 * Hashes the new id by the peer's communication id and QP.  -EEXIST: another id of the
 * same connection was hashed before; -ESTALE: the peer's QP belongs to another
 * connection that this host still has.
 */
static int ibcm_req_hash(struct ibcm_id *id, const struct cm_req_msg *req)
{
	struct ibcm_peer *peer = ibcm_peer_alloc(id, GFP_ATOMIC);
	enum ib_qp_type type;
	int ret;

	if (!peer)
		return -ENOMEM;
	id->peer = peer;
	ibcm_peer_set(peer, ibcm_req_guid(req), ibcm_req_remote_id(req),
		      ibcm_req_qpn(req, &type));
	ret = ibcm_peer_hash_qp(peer);
	if (ret == -EEXIST)
		return ibcm_peer_stale(peer) ? -ESTALE : -EEXIST;
	if (ret)
		return ret;
	return ibcm_peer_hash_comm(peer);
}

/*
 * Creates an id for @rx; the id takes over the reference on @listener until the consumer
 * was notified.  -ECONNREFUSED: the listener is being destroyed.  After an error the
 * caller still owns @rx and the reference.
 */
static int ibcm_req_begin(struct ibcm_rx *rx, struct ibcm_listener *listener)
{
	struct cm_req_msg *req = ibcm_rx_mad(rx);
	struct ib_cm_id *listen_id = &listener->id->id;
	struct ibcm_id *id;
	int ret;

	id = ibcm_id_alloc(rx->port->dev, listen_id->cm_handler,
			   listen_id->context, true);
	if (!id)
		return -ENOMEM;
	id->id.service_id = listener->key.service_id;
	id->id.remote_id = ibcm_req_remote_id(req);
	id->tid = req->hdr.tid;
	id->req_of = listener;
	ret = ibcm_req_hash(id, req);
	if (ret) {
		ibcm_id_abandon(id);
		return ret;
	}
	return ibcm_rx_resolve(id, rx) ? 0 : -ECONNREFUSED;
}

static void ibcm_req_new(struct ibcm_rx *rx)
{
	struct cm_req_msg *req = ibcm_rx_mad(rx);
	struct ibcm_listener *listener;
	int ret = -ENOBUFS;

	listener = ibcm_listener_find(rx->port->dev->ibdev,
				      cpu_to_be64(IBA_GET(CM_REQ_SERVICE_ID, req)));
	if (!listener) {
		ibcm_orphan_queue(rx, IB_CM_REJ_INVALID_SERVICE_ID);
		return;
	}
	if (ibcm_listener_room(listener, rx->port))
		ret = ibcm_req_begin(rx, listener);
	if (!ret)
		return;

	ibcm_listener_done(listener, rx->port);
	switch (ret) {
	case -ECONNREFUSED:
		ibcm_orphan_queue(rx, IB_CM_REJ_INVALID_SERVICE_ID);
		return;
	case -ESTALE:
		trace_icm_staleconn_err(0, IBA_GET(CM_REQ_LOCAL_COMM_ID, req));
		ibcm_orphan_queue(rx, IB_CM_REJ_STALE_CONN);
		return;
	case -EEXIST:
		ibcm_count(rx->port, IBCM_RX_DUPLICATES, IBCM_REQ);
		break;
	default:
		trace_icm_insert_failed_err(IBA_GET(CM_REQ_LOCAL_COMM_ID, req));
		ibcm_stat(rx->port, IBCM_STAT_RX_OVERFLOW);
		break;
	}
	ibcm_rx_free(rx);
}

/* Runs in the receive handler.  One lookup recognises a duplicate. */
void ibcm_req_arrived(struct ibcm_rx *rx)
{
	struct cm_req_msg *req = ibcm_rx_mad(rx);
	struct ibcm_id *id;
	bool known;

	id = ibcm_peer_find_comm(ibcm_req_guid(req), ibcm_req_remote_id(req),
				 &known);
	if (id) {
		if (!ibcm_id_queue(id, rx)) {
			ibcm_stat(rx->port, IBCM_STAT_RX_OVERFLOW);
			ibcm_rx_free(rx);
		}
		ibcm_id_put(id);
	} else if (known) {
		ibcm_count(rx->port, IBCM_RX_DUPLICATES, IBCM_REQ);
		ibcm_orphan_queue(rx, IB_CM_REJ_STALE_CONN);
	} else {
		ibcm_req_new(rx);
	}
}

/* ---- before the consumer is notified; only the resolving work uses the id ---- */

/* The addresses of the GMP that carried the REQ. */
struct ibcm_req_src {
	const struct rdma_ah_attr *ah_attr;	/* of the id's path */
	const struct ib_gid_attr *sgid_attr;	/* of ah_attr; NULL without a GRH */
	const struct ib_wc *wc;
};

static bool ibcm_same_gid(const union ib_gid *a, const union ib_gid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Fills in the fields of @path that both paths of a REQ have in common. */
static void ibcm_req_path_common(const struct cm_req_msg *req,
				 struct sa_path_rec *path, u8 ack_timeout)
{
	path->service_id = cpu_to_be64(IBA_GET(CM_REQ_SERVICE_ID, req));
	path->pkey = cpu_to_be16(IBA_GET(CM_REQ_PARTITION_KEY, req));
	path->reversible = 1;
	path->mtu_selector = IB_SA_EQ;
	path->mtu = IBA_GET(CM_REQ_PATH_PACKET_PAYLOAD_MTU, req);
	path->rate_selector = IB_SA_EQ;
	path->packet_life_time_selector = IB_SA_EQ;
	path->packet_life_time = ack_timeout - (ack_timeout > 0);
}

/* Fills in the layer 2 address of @path: the LIDs, or the MAC that sent the GMP. */
static void ibcm_req_path_l2(const struct ibcm_rx *rx,
			     const struct ibcm_req_src *src,
			     struct sa_path_rec *path, u16 local_lid,
			     u16 remote_lid)
{
	struct ib_device *ibdev = rx->port->dev->ibdev;

	path->rec_type = SA_PATH_REC_TYPE_IB;
	if (rdma_protocol_roce(ibdev, rx->port->num)) {
		path->rec_type =
			sa_conv_gid_to_pathrec_type(src->sgid_attr->gid_type);
		if (ibcm_same_gid(&path->dgid, &src->ah_attr->grh.dgid) &&
		    ibcm_same_gid(&path->sgid, &src->sgid_attr->gid)) {
			ether_addr_copy(path->roce.dmac, src->ah_attr->roce.dmac);
			path->roce.route_resolved = true;
			/* The hop limit of our route: the REQ has that of the peer's. */
			path->hop_limit = src->ah_attr->grh.hop_limit;
		}
		return;
	}
	if (rdma_cap_opa_ah(ibdev, rx->port->num) &&
	    (ib_is_opa_gid(&path->sgid) || ib_is_opa_gid(&path->dgid))) {
		path->rec_type = SA_PATH_REC_TYPE_OPA;
		sa_path_set_dlid(path, opa_get_lid_from_gid(&path->dgid));
		sa_path_set_slid(path, opa_get_lid_from_gid(&path->sgid));
		return;
	}
	sa_path_set_dlid(path, local_lid);
	sa_path_set_slid(path, remote_lid);
}

static void ibcm_req_take_path(const struct ibcm_rx *rx,
			       const struct ibcm_req_src *src, bool alternate,
			       struct sa_path_rec *path)
{
	struct cm_req_msg *req = ibcm_rx_mad(rx);
	struct cm_req_msg *from = ibcm_req_path(req, alternate);
	u16 local_lid = IBA_GET(CM_REQ_PRIMARY_LOCAL_PORT_LID, from);
	u16 remote_lid = IBA_GET(CM_REQ_PRIMARY_REMOTE_PORT_LID, from);

	memset(path, 0, sizeof(*path));
	ibcm_req_path_common(req, path,
			     IBA_GET(CM_REQ_PRIMARY_LOCAL_ACK_TIMEOUT, from));
	path->dgid = *IBA_GET_MEM_PTR(CM_REQ_PRIMARY_LOCAL_PORT_GID, from);
	path->sgid = *IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, from);
	path->flow_label = cpu_to_be32(IBA_GET(CM_REQ_PRIMARY_FLOW_LABEL, from));
	path->hop_limit = IBA_GET(CM_REQ_PRIMARY_HOP_LIMIT, from);
	path->traffic_class = IBA_GET(CM_REQ_PRIMARY_TRAFFIC_CLASS, from);
	path->sl = IBA_GET(CM_REQ_PRIMARY_SL, from);
	path->rate = IBA_GET(CM_REQ_PRIMARY_PACKET_RATE, from);

	/*
	 * If the peer is in another subnet, take the LIDs of the router and of this port
	 * from the GMP.  For the alternate path they are not known, as nothing was
	 * received along that path yet.
	 */
	if (!alternate && !IBA_GET(CM_REQ_PRIMARY_SUBNET_LOCAL, from)) {
		if (local_lid == be16_to_cpu(IB_LID_PERMISSIVE)) {
			local_lid = src->wc->slid;
			path->sl = src->wc->sl;
		}
		if (remote_lid == be16_to_cpu(IB_LID_PERMISSIVE))
			remote_lid = src->wc->dlid_path_bits;
	}
	ibcm_req_path_l2(rx, src, path, local_lid, remote_lid);
}

static bool ibcm_req_has_alternate(struct cm_req_msg *req)
{
	struct cm_req_msg *from = ibcm_req_path(req, true);

	return IBA_GET(CM_REQ_PRIMARY_LOCAL_PORT_LID, from) ||
	       !rdma_is_zero_gid(IBA_GET_MEM_PTR(CM_REQ_PRIMARY_LOCAL_PORT_GID, from));
}

/* Why the CM itself refuses a REQ: the reason of the REJ and its ARI. */
struct ibcm_refusal {
	u16 reason;	/* 0: send no REJ */
	u8 ari_len;
	union {
		union ib_gid gid;
		u8 mtu;
	} ari;
};

/*
 * Refuses a GID with @reason and offers a valid GID in the ARI (12.6.7.2): the one that
 * the REQ was sent to or, without a GRH, the port's first.
 */
static void ibcm_refuse_gid(struct ibcm_refusal *no, u16 reason,
			    const struct ibcm_port *port,
			    const struct ibcm_req_src *src)
{
	no->reason = reason;
	if (src->sgid_attr)
		no->ari.gid = src->sgid_attr->gid;
	else if (rdma_query_gid(port->dev->ibdev, port->num, 0, &no->ari.gid))
		return;
	no->ari_len = sizeof(no->ari.gid);
}

/*
 * Called between two steps that may take long: the listener's destruction, which waits
 * for this REQ, then waits for one such step at most.
 */
static int ibcm_req_check_listener(const struct ibcm_id *id,
				   struct ibcm_refusal *no)
{
	if (!ibcm_listener_dying(id->req_of))
		return 0;
	no->reason = IB_CM_REJ_INVALID_SERVICE_ID;
	return -ECONNREFUSED;
}

static int ibcm_req_check_fields(struct ibcm_id *id,
				 const struct cm_req_msg *req,
				 struct ibcm_refusal *no)
{
	u8 mtu = IBA_GET(CM_REQ_PATH_PACKET_PAYLOAD_MTU, req);

	id->remote_qpn = ibcm_req_qpn(req, &id->qp_type);
	if (!id->remote_qpn) {
		no->reason = IB_CM_REJ_INVALID_TRANSPORT_TYPE;
		return -EINVAL;
	}
	if (mtu < IB_MTU_256 || mtu > IB_MTU_4096) {
		no->reason = IB_CM_REJ_INVALID_MTU;
		no->ari.mtu = IB_MTU_1024;
		no->ari_len = sizeof(no->ari.mtu);
		return -EINVAL;
	}
	id->path_mtu = mtu;
	return 0;
}

/*
 * Returns the SGID entry of a path, which the caller must put: the GMP's entry if it has
 * the path's GID.  On RoCE the entry of another netdev may belong to another VLAN or
 * network namespace; where the REQ was received decides in which one it is served, not
 * its sender.  So a primary path must have the GMP's port and netdev.  An alternate path
 * may have another port, but must have the same namespace.
 */
static const struct ib_gid_attr *
ibcm_req_sgid(const struct ibcm_rx *rx, struct sa_path_rec *path,
	      const struct ibcm_req_src *src, bool primary)
{
	struct ib_device *ibdev = rx->port->dev->ibdev;

	if (src->sgid_attr && ibcm_same_gid(&path->sgid, &src->sgid_attr->gid)) {
		rdma_hold_gid_attr(src->sgid_attr);
		return src->sgid_attr;
	}
	if (!rdma_protocol_roce(ibdev, rx->port->num))
		return rdma_find_gid(ibdev, &path->sgid,
				     sa_conv_pathrec_to_gid_type(path), NULL);
	return primary ? ibcm_gid_on_netdev(src->sgid_attr, &path->sgid) :
			 ibcm_gid_in_net(src->sgid_attr, &path->sgid);
}

static int ibcm_req_av(const struct ibcm_rx *rx, struct sa_path_rec *path,
		       const struct ibcm_req_src *src, struct ibcm_av *av,
		       bool primary)
{
	const struct ib_gid_attr *sgid_attr =
		ibcm_req_sgid(rx, path, src, primary);
	int ret;

	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
	ret = ibcm_av_from_path(rx->port->dev, path, sgid_attr, av);
	rdma_put_gid_attr(sgid_attr);
	return ret;
}

static int ibcm_req_vectors(struct ibcm_id *id, struct ibcm_rx *rx,
			    const struct ibcm_req_src *src,
			    struct ibcm_refusal *no)
{
	struct cm_req_msg *req = ibcm_rx_mad(rx);
	struct sa_path_rec path;
	int ret;

	ibcm_req_take_path(rx, src, false, &path);
	ret = ibcm_req_av(rx, &path, src, &id->av, true);
	if (ret) {
		ibcm_refuse_gid(no, IB_CM_REJ_INVALID_GID, rx->port, src);
		return ret;
	}
	id->av.ack_timeout = IBA_GET(CM_REQ_PRIMARY_LOCAL_ACK_TIMEOUT, req);
	if (!ibcm_req_has_alternate(req))
		return 0;

	ret = ibcm_req_check_listener(id, no);
	if (ret)
		return ret;
	id->alt = kzalloc(sizeof(*id->alt), GFP_KERNEL);
	if (!id->alt)
		return -ENOMEM;
	ibcm_req_take_path(rx, src, true, &path);
	ret = ibcm_req_av(rx, &path, src, id->alt, false);
	if (ret) {
		ibcm_refuse_gid(no, IB_CM_REJ_INVALID_ALT_GID, rx->port,
				src);
		return ret;
	}
	id->alt->ack_timeout = IBA_GET(CM_REQ_ALTERNATE_LOCAL_ACK_TIMEOUT, req);
	return 0;
}

/* Each side's responder resources are the other side's initiator depth. */
static void ibcm_req_params(struct ibcm_id *id, const struct cm_req_msg *req)
{
	id->timeout_ms =
		ibcm_time_ms(IBA_GET(CM_REQ_LOCAL_CM_RESPONSE_TIMEOUT, req)) +
		2 * ibcm_time_ms(id->av.packet_life_time);
	id->max_cm_retries = IBA_GET(CM_REQ_MAX_CM_RETRIES, req);
	id->sq_psn = IBA_GET(CM_REQ_STARTING_PSN, req);
	id->responder_resources = IBA_GET(CM_REQ_INITIATOR_DEPTH, req);
	id->initiator_depth = IBA_GET(CM_REQ_RESPONDER_RESOURCES, req);
	id->retry_count = IBA_GET(CM_REQ_RETRY_COUNT, req);
	id->rnr_retry_count = IBA_GET(CM_REQ_RNR_RETRY_COUNT, req);
}

static void ibcm_req_event(struct ibcm_id *id, struct ibcm_rx *rx,
			   struct sa_path_rec path[2],
			   struct ib_cm_event *event)
{
	struct ib_cm_req_event_param *param = &event->param.req_rcvd;
	struct cm_req_msg *req = ibcm_rx_mad(rx);

	param->listen_id = &id->req_of->id->id;
	param->bth_pkey = ibcm_rx_bth_pkey(rx);
	param->port = id->av.port->num;
	param->primary_path = &path[0];
	param->alternate_path = id->alt ? &path[1] : NULL;
	param->ppath_sgid_attr = id->av.ah_attr.ah_flags & IB_AH_GRH ?
				 id->av.ah_attr.grh.sgid_attr : NULL;
	param->remote_ca_guid = ibcm_req_guid(req);
	param->remote_qkey = IBA_GET(CM_REQ_LOCAL_Q_KEY, req);
	param->remote_qpn = id->remote_qpn;
	param->qp_type = id->qp_type;
	param->starting_psn = id->sq_psn;
	param->responder_resources = id->responder_resources;
	param->initiator_depth = id->initiator_depth;
	param->local_cm_response_timeout =
		IBA_GET(CM_REQ_REMOTE_CM_RESPONSE_TIMEOUT, req);
	param->flow_control = IBA_GET(CM_REQ_END_TO_END_FLOW_CONTROL, req);
	param->remote_cm_response_timeout =
		IBA_GET(CM_REQ_LOCAL_CM_RESPONSE_TIMEOUT, req);
	param->retry_count = id->retry_count;
	param->rnr_retry_count = id->rnr_retry_count;
	param->srq = IBA_GET(CM_REQ_SRQ, req);
	param->ece.vendor_id = IBA_GET(CM_REQ_VENDOR_ID, req);
	param->ece.attr_mod = be32_to_cpu(req->hdr.attr_mod);
	event->private_data = IBA_GET_MEM_PTR(CM_REQ_PRIVATE_DATA, req);
}

/* MADs are sent back along the path of the REQ's GMP, whatever paths the REQ names. */
static int ibcm_req_return_path(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct rdma_ah_attr ah_attr;
	struct ibcm_path *path = ibcm_path_back(rx, &ah_attr);

	if (IS_ERR(path))
		return PTR_ERR(path);
	rdma_destroy_ah_attr(&ah_attr);
	spin_lock_irq(&id->lock);
	id->path = path;
	id->pkey_index = rx->wc->wc->pkey_index;
	spin_unlock_irq(&id->lock);
	return 0;
}

static struct ibcm_req_src ibcm_req_source(const struct ibcm_id *id,
					   const struct ibcm_rx *rx)
{
	return (struct ibcm_req_src){
		.ah_attr = &id->path->ah_attr,
		.sgid_attr = id->path->key.sgid_attr,
		.wc = rx->wc->wc,
	};
}

/*
 * Sets the id's address vectors for data and its path for MADs, which may both have to be
 * resolved.  On success the path's handle is in use.
 */
int ibcm_req_resolve(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_req_msg *req = ibcm_rx_mad(rx);
	struct ibcm_refusal no = {};
	struct ibcm_req_src src;
	int ret, err;

	ret = ibcm_req_return_path(id, rx);
	if (ret)
		return ret;
	src = ibcm_req_source(id, rx);
	ret = ibcm_req_check_listener(id, &no) ?:
	      ibcm_req_check_fields(id, req, &no);
	if (!ret) {
		/* The sender chose the GIDs to resolve: keep no handle meanwhile. */
		ibcm_path_unuse(id->path);
		ret = ibcm_req_vectors(id, rx, &src, &no);
		err = ibcm_path_use(id->path);
		if (err)
			return err;
	}
	if (!ret) {
		ibcm_req_params(id, req);
		return 0;
	}
	/* Without a response the peer resends the REQ; there may be memory then. */
	if (no.reason && ret != -ENOMEM)
		ibcm_send_rej(id, IBCM_FIELD_REQ, no.reason, &no.ari, no.ari_len);
	ibcm_path_unuse(id->path);
	return ret;
}

/* ---- the functions below run in the id's work ---- */

static int ibcm_req_first(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct ibcm_req_src src = ibcm_req_source(id, rx);
	struct ib_cm_event event = {};
	struct sa_path_rec path[2];
	struct ibcm_todo todo;

	if (ibcm_listener_dying(id->req_of)) {
		ibcm_send_rej(id, IBCM_FIELD_REQ, IB_CM_REJ_INVALID_SERVICE_ID,
			      NULL, 0);
		return -ECONNREFUSED;
	}

	ibcm_req_take_path(rx, &src, false, &path[0]);
	if (id->alt)
		ibcm_req_take_path(rx, &src, true, &path[1]);
	ibcm_req_event(id, rx, path, &event);
	spin_lock_irq(&id->lock);
	ibcm_step(id, IBCM_RX_REQ, &todo);
	spin_unlock_irq(&id->lock);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

static int ibcm_req_again(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct ib_cm_event event = {};
	struct ibcm_todo todo = {};

	spin_lock_irq(&id->lock);
	/* In IDLE the attempt is over; the step would treat this REQ as a new one. */
	if (id->id.state != IB_CM_IDLE)
		ibcm_step(id, IBCM_RX_REQ, &todo);
	spin_unlock_irq(&id->lock);
	if (todo.step && todo.step->reply != IBCM_REPLY_NONE)
		trace_icm_send_dup_req(&id->id);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

int ibcm_rx_req(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct ibcm_listener *listener = id->req_of;
	struct ibcm_path *back;
	int ret;

	/* The id holds its listener until the consumer was notified of the request. */
	if (!listener)
		return ibcm_req_again(id, rx);
	/* The consumer may change id->path. */
	back = id->path;
	refcount_inc(&back->ref);
	ret = ibcm_req_first(id, rx);
	ibcm_path_unuse(back);
	ibcm_path_put(back);
	id->req_of = NULL;
	ibcm_listener_done(listener, rx->port);
	return ret;
}
