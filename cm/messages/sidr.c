// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Service id resolution (IBA vol. 1, 12.11): finds the UD QP of a service.
 *
 * A request that waits for the consumer's reply is hashed by its request id and
 * its sender, so that no second id is created when the sender resends it.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

static struct rhashtable ibcm_sidrs;

static const struct rhashtable_params ibcm_sidr_params = {
	.key_len	= sizeof(struct ibcm_sidr_key),
	.key_offset	= offsetof(struct ibcm_sidr, key),
	.head_offset	= offsetof(struct ibcm_sidr, node),
	.automatic_shrinking = true,
};

int ibcm_sidr_init(void)
{
	return rhashtable_init(&ibcm_sidrs, &ibcm_sidr_params);
}

void ibcm_sidr_exit(void)
{
	rhashtable_destroy(&ibcm_sidrs);
}

void ibcm_sidr_unhash(struct ibcm_id *id)
{
	struct ibcm_sidr *sidr = id->sidr;

	lockdep_assert_held(&id->lock);
	if (!sidr)
		return;
	id->sidr = NULL;
	rhashtable_remove_fast(&ibcm_sidrs, &sidr->node, ibcm_sidr_params);
	kfree_rcu(sidr, rcu);
}

/* ---- the requesting side ---- */

static void ibcm_sidr_req_fill(struct ibcm_msg *msg, __be64 tid,
			       const struct ib_cm_sidr_req_param *param)
{
	struct cm_sidr_req_msg *req = ibcm_msg_mad(msg, tid);

	IBA_SET(CM_SIDR_REQ_REQUESTID, req,
		be32_to_cpu(msg->id->id.local_id));
	IBA_SET(CM_SIDR_REQ_PARTITION_KEY, req, be16_to_cpu(param->path->pkey));
	IBA_SET(CM_SIDR_REQ_SERVICEID, req, be64_to_cpu(param->service_id));
	if (param->private_data_len)
		IBA_SET_MEM(CM_SIDR_REQ_PRIVATE_DATA, req, param->private_data,
			    param->private_data_len);
}

/* Caller holds id->lock.  Swaps @av and @path with those that the id had. */
static void ibcm_sidr_commit(struct ibcm_id *id, __be64 tid, __be64 service_id,
			     struct ibcm_av *av, struct ibcm_path **path)
{
	swap(id->av, *av);
	swap(id->path, *path);
	id->pkey_index = id->av.pkey_index;
	id->tid = tid;
	id->active = true;
	id->id.service_id = service_id;
}

/**
 * ib_send_cm_sidr_req - query which QP has a service
 * @cm_id: An idle id.
 * @param: The request; path and service id in network byte order.
 *	@param->timeout_ms is the time for a response to one try, in milliseconds.  The
 *	caller holds a reference on @param->sgid_attr, if not NULL.
 *
 * The SIDR_REQ (IBA vol. 1, 12.11.1) is resent up to @param->max_cm_retries times.
 * IB_CM_SIDR_REP_RECEIVED or IB_CM_SIDR_REQ_ERROR reports the outcome.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for a bad parameter or an id that is not idle; -ENOENT
 * if the device does not have the SGID or P_Key; -ENODEV after the device's removal;
 * -ENOMEM.
 */
int ib_send_cm_sidr_req(struct ib_cm_id *cm_id,
			struct ib_cm_sidr_req_param *param)
{
	struct ibcm_msg *msg, *old = NULL;
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_path *path = NULL;
	struct ibcm_av av = {};
	struct ibcm_todo todo;
	bool moved;
	__be64 tid;
	int ret;

	if (!param->path ||
	    param->private_data_len > IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE ||
	    (param->private_data_len && !param->private_data))
		return -EINVAL;
	ret = ibcm_av_from_path(id->dev, param->path, param->sgid_attr, &av);
	if (ret)
		return ret;
	path = ibcm_path_get(av.port, &av.ah_attr);
	if (IS_ERR(path)) {
		ret = PTR_ERR(path);
		path = NULL;
		goto out;
	}
	msg = ibcm_msg_alloc_by(id, path, av.pkey_index, IBCM_SIDR_REQ);
	if (IS_ERR(msg)) {
		ret = PTR_ERR(msg);
		goto out;
	}
	tid = ibcm_new_tid(msg);
	ibcm_sidr_req_fill(msg, tid, param);

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TX_SIDR_REQ, &todo);
	if (moved) {
		ibcm_sidr_commit(id, tid, param->service_id, &av, &path);
		id->timeout_ms = param->timeout_ms;
		id->max_cm_retries = param->max_cm_retries;
		old = ibcm_msg_attach(id, msg, ibcm_wait_ms(id, msg), 0);
	}
	spin_unlock_irq(&id->lock);

	ibcm_msg_stop(old);
	if (moved) {
		trace_icm_send_sidr_req(cm_id);
		ret = ibcm_step_post(id, msg, &todo);
	} else {
		ibcm_msg_drop(msg);
		ret = -EINVAL;
	}
out:
	ibcm_av_destroy(&av);
	ibcm_path_put(path);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_sidr_req);

int ibcm_rx_sidr_rep(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_sidr_rep_msg *rep = ibcm_rx_mad(rx);
	struct ib_cm_event event = {};
	struct ib_cm_sidr_rep_event_param *param = &event.param.sidr_rep_rcvd;
	struct ibcm_todo todo;

	spin_lock_irq(&id->lock);
	ibcm_step(id, IBCM_RX_SIDR_REP, &todo);
	spin_unlock_irq(&id->lock);

	param->status = IBA_GET(CM_SIDR_REP_STATUS, rep);
	if (todo.step && param->status != IB_SIDR_SUCCESS)
		ibcm_stat(rx->port, IBCM_STAT_SIDR_REFUSED);
	param->qkey = IBA_GET(CM_SIDR_REP_Q_KEY, rep);
	param->qpn = IBA_GET(CM_SIDR_REP_QPN, rep);
	param->info = IBA_GET_MEM_PTR(CM_SIDR_REP_ADDITIONAL_INFORMATION, rep);
	param->info_len =
		min_t(u8, IBA_GET(CM_SIDR_REP_ADDITIONAL_INFORMATION_LENGTH, rep),
		      IB_CM_SIDR_REP_INFO_LENGTH);
	if (id->av.ah_attr.ah_flags & IB_AH_GRH)
		param->sgid_attr = id->av.ah_attr.grh.sgid_attr;
	event.private_data = IBA_GET_MEM_PTR(CM_SIDR_REP_PRIVATE_DATA, rep);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

/* ---- the responding side ---- */

/* Identifies the sender by its GID, if there is a network header, and on IB its LID. */
static void ibcm_sidr_key_fill(const struct ibcm_rx *rx,
			       struct ibcm_sidr_key *key)
{
	const struct ib_grh *grh = rx->wc->recv_buf.grh;
	struct cm_sidr_req_msg *req = ibcm_rx_mad(rx);
	const struct ib_wc *wc = rx->wc->wc;
	enum rdma_network_type net_type = RDMA_NETWORK_IB;
	union ib_gid dgid;

	memset(key, 0, sizeof(*key));
	key->device = rx->port->dev->ibdev;
	key->port = rx->port->num;
	key->request_id = cpu_to_be32(IBA_GET(CM_SIDR_REQ_REQUESTID, req));
	if (!rdma_protocol_roce(key->device, key->port)) {
		key->lid = wc->slid;
		if (wc->wc_flags & IB_WC_GRH)
			key->gid = grh->sgid;
		return;
	}
	if (wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		net_type = wc->network_hdr_type;
	else if (ib_get_rdma_header_version((const union rdma_network_hdr *)grh) == 4)
		net_type = RDMA_NETWORK_IPV4;
	if (ib_get_gids_from_rdma_hdr((const union rdma_network_hdr *)grh,
				      net_type, &key->gid, &dgid))
		key->gid = grh->sgid;
}

/*
 * Creates an id for the request @rx.  -EEXIST: @rx is a duplicate of a request that
 * waits for the consumer's reply; -ECONNREFUSED: the listener is being destroyed.
 */
static int ibcm_sidr_begin(struct ibcm_rx *rx, struct ibcm_listener *listener)
{
	struct ib_cm_id *listen_id = &listener->id->id;
	struct ibcm_sidr *sidr, *old;
	struct ibcm_id *id;

	sidr = kzalloc(sizeof(*sidr), GFP_ATOMIC);
	if (!sidr)
		return -ENOMEM;
	ibcm_sidr_key_fill(rx, &sidr->key);
	id = ibcm_id_alloc(rx->port->dev, listen_id->cm_handler,
			   listen_id->context, true);
	if (!id) {
		kfree(sidr);
		return -ENOMEM;
	}
	id->id.service_id = listener->key.service_id;
	id->id.remote_id = sidr->key.request_id;
	id->tid = rx->wc->recv_buf.mad->mad_hdr.tid;
	id->req_of = listener;

	old = rhashtable_lookup_get_insert_fast(&ibcm_sidrs, &sidr->node,
						ibcm_sidr_params);
	if (old) {
		kfree(sidr);
		ibcm_id_abandon(id);
		return IS_ERR(old) ? PTR_ERR(old) : -EEXIST;
	}
	id->sidr = sidr;
	return ibcm_rx_resolve(id, rx) ? 0 : -ECONNREFUSED;
}

static bool ibcm_sidr_known(const struct ibcm_rx *rx)
{
	struct ibcm_sidr_key key;
	bool known;

	ibcm_sidr_key_fill(rx, &key);
	rcu_read_lock();
	known = rhashtable_lookup(&ibcm_sidrs, &key, ibcm_sidr_params);
	rcu_read_unlock();
	return known;
}

void ibcm_sidr_req_arrived(struct ibcm_rx *rx)
{
	struct cm_sidr_req_msg *req = ibcm_rx_mad(rx);
	struct ibcm_listener *listener;
	int ret = -ENOBUFS;

	if (ibcm_sidr_known(rx)) {
		ibcm_count(rx->port, IBCM_RX_DUPLICATES, IBCM_SIDR_REQ);
		ibcm_rx_free(rx);
		return;
	}
	listener = ibcm_listener_find(rx->port->dev->ibdev,
				      cpu_to_be64(IBA_GET(CM_SIDR_REQ_SERVICEID, req)));
	if (!listener) {
		ibcm_orphan_queue(rx, 0);
		return;
	}
	if (ibcm_listener_room(listener, rx->port))
		ret = ibcm_sidr_begin(rx, listener);
	if (!ret)
		return;
	ibcm_listener_done(listener, rx->port);
	switch (ret) {
	case -ECONNREFUSED:
		ibcm_orphan_queue(rx, 0);
		return;
	case -EEXIST:
		ibcm_count(rx->port, IBCM_RX_DUPLICATES, IBCM_SIDR_REQ);
		break;
	default:
		ibcm_stat(rx->port, IBCM_STAT_RX_OVERFLOW);
		break;
	}
	ibcm_rx_free(rx);
}

/* Sets the path back to the sender, its handle in use.  id->av keeps the SGID entry. */
int ibcm_sidr_resolve(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct rdma_ah_attr ah_attr;
	struct ibcm_path *path = ibcm_path_back(rx, &ah_attr);

	if (IS_ERR(path))
		return PTR_ERR(path);
	spin_lock_irq(&id->lock);
	id->av.ah_attr = ah_attr;
	id->av.port = rx->port;
	id->path = path;
	id->pkey_index = rx->wc->wc->pkey_index;
	spin_unlock_irq(&id->lock);
	return 0;
}

static int ibcm_sidr_first(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_sidr_req_msg *req = ibcm_rx_mad(rx);
	struct ib_cm_event event = {};
	struct ib_cm_sidr_req_event_param *param = &event.param.sidr_req_rcvd;
	struct ibcm_todo todo;

	spin_lock_irq(&id->lock);
	ibcm_step(id, IBCM_RX_SIDR_REQ, &todo);
	spin_unlock_irq(&id->lock);
	/* From here on destroying the id rejects the request. */
	if (ibcm_listener_dying(id->req_of))
		return -ECONNREFUSED;

	param->listen_id = &id->req_of->id->id;
	param->service_id = id->id.service_id;
	if (id->av.ah_attr.ah_flags & IB_AH_GRH)
		param->sgid_attr = id->av.ah_attr.grh.sgid_attr;
	param->bth_pkey = ibcm_rx_bth_pkey(rx);
	param->port = rx->port->num;
	param->pkey = IBA_GET(CM_SIDR_REQ_PARTITION_KEY, req);
	event.private_data = IBA_GET_MEM_PTR(CM_SIDR_REQ_PRIVATE_DATA, req);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

/* This is the only SIDR_REQ that the id gets: duplicates are dropped before. */
int ibcm_rx_sidr_req(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct ibcm_listener *listener = id->req_of;
	struct ibcm_path *back;
	int ret;

	if (WARN_ON_ONCE(!listener))
		return 0;
	/* The consumer may change id->path. */
	back = id->path;
	refcount_inc(&back->ref);
	ret = ibcm_sidr_first(id, rx);
	ibcm_path_unuse(back);
	ibcm_path_put(back);
	if (ret) {
		/* If the request was not answered, the sender may resend it. */
		spin_lock_irq(&id->lock);
		ibcm_sidr_unhash(id);
		spin_unlock_irq(&id->lock);
	}
	id->req_of = NULL;
	ibcm_listener_done(listener, rx->port);
	return ret;
}

static void ibcm_sidr_rep_fill(struct ibcm_msg *msg,
			       const struct ib_cm_sidr_rep_param *param)
{
	struct ibcm_id *id = msg->id;
	struct cm_sidr_rep_msg *rep = ibcm_msg_mad(msg, id->tid);

	rep->hdr.attr_mod = cpu_to_be32(param->ece.attr_mod);
	IBA_SET(CM_SIDR_REP_REQUESTID, rep, be32_to_cpu(id->id.remote_id));
	IBA_SET(CM_SIDR_REP_STATUS, rep, param->status);
	IBA_SET(CM_SIDR_REP_QPN, rep, param->qp_num);
	IBA_SET(CM_SIDR_REP_SERVICEID, rep, be64_to_cpu(id->id.service_id));
	IBA_SET(CM_SIDR_REP_Q_KEY, rep, param->qkey);
	IBA_SET(CM_SIDR_REP_VENDOR_ID_L, rep, param->ece.vendor_id);
	IBA_SET(CM_SIDR_REP_VENDOR_ID_H, rep, param->ece.vendor_id >> 8);
	if (param->info && param->info_length) {
		IBA_SET(CM_SIDR_REP_ADDITIONAL_INFORMATION_LENGTH, rep,
			param->info_length);
		IBA_SET_MEM(CM_SIDR_REP_ADDITIONAL_INFORMATION, rep,
			    param->info, param->info_length);
	}
	if (param->private_data_len)
		IBA_SET_MEM(CM_SIDR_REP_PRIVATE_DATA, rep, param->private_data,
			    param->private_data_len);
}

/* Rejects the request of an id that is being destroyed.  May sleep. */
void ibcm_sidr_reject(struct ibcm_id *id)
{
	const struct ib_cm_sidr_rep_param param = { .status = IB_SIDR_REJECT };
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_SIDR_REP);

	if (IS_ERR(msg))
		return;
	ibcm_sidr_rep_fill(msg, &param);
	trace_icm_send_sidr_rep(&id->id);
	ibcm_msg_post(msg);
}

/**
 * ib_send_cm_sidr_rep - answer a service id resolution request
 * @cm_id: An id that was notified of IB_CM_SIDR_REQ_RECEIVED.
 * @param: The reply; QP number and Q_Key in the host's byte order.
 *
 * IBA vol. 1, 12.11.2.  The id is idle afterwards.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for bad data or an id without a request; -ENODEV after the
 * device's removal; -ENOMEM.
 */
int ib_send_cm_sidr_rep(struct ib_cm_id *cm_id,
			struct ib_cm_sidr_rep_param *param)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_todo todo;
	struct ibcm_msg *msg;
	bool moved;

	if ((param->info && param->info_length > IB_CM_SIDR_REP_INFO_LENGTH) ||
	    param->private_data_len > IB_CM_SIDR_REP_PRIVATE_DATA_SIZE ||
	    (param->private_data_len && !param->private_data))
		return -EINVAL;
	msg = ibcm_msg_alloc(id, IBCM_SIDR_REP);
	if (IS_ERR(msg))
		return PTR_ERR(msg);
	ibcm_sidr_rep_fill(msg, param);

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TX_SIDR_REP, &todo);
	spin_unlock_irq(&id->lock);
	if (!moved) {
		ibcm_msg_drop(msg);
		return -EINVAL;
	}
	trace_icm_send_sidr_rep(cm_id);
	return ibcm_step_post(id, msg, &todo);
}
EXPORT_SYMBOL(ib_send_cm_sidr_rep);
