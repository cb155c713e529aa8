// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LAP (IBA vol. 1, 12.8): requests another alternate path for an established connection.
 * And migration to the alternate path, after which another one is needed.
 *
 * The sender keeps the path in lap->av until the APR; the receiver keeps it there until its
 * consumer has answered.  Only a path that was accepted becomes id->alt.
 *
 * A consumer that does not answer a LAP in its handler, and asks for no time with an MRA,
 * does not know LAPs: most of the kernel's consumers do not.  The CM then answers that
 * alternate paths are not supported, and the peer keeps the path it has.
 */
#include <linux/export.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <ibex/cm.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/* Two callers may allocate at the same time: the id keeps the first one's. */
struct ibcm_lap *ibcm_lap_of(struct ibcm_id *id)
{
	struct ibcm_lap *lap = READ_ONCE(id->lap), *made;

	if (lap)
		return lap;
	made = kzalloc(sizeof(*made), GFP_KERNEL);
	if (!made)
		return NULL;
	spin_lock_irq(&id->lock);
	if (!id->lap)
		id->lap = made;
	lap = id->lap;
	spin_unlock_irq(&id->lock);
	if (lap != made)
		kfree(made);
	return lap;
}

void ibcm_av_free(struct ibcm_av *av)
{
	if (!av)
		return;
	ibcm_av_destroy(av);
	kfree(av);
}

void ibcm_lap_free(struct ibcm_lap *lap)
{
	if (!lap)
		return;
	ibcm_av_free(lap->av);
	kfree(lap);
}

struct ibcm_av *ibcm_lap_accepted(struct ibcm_id *id)
{
	struct ibcm_av *old = id->alt;

	lockdep_assert_held(&id->lock);
	id->alt = id->lap->av;
	id->lap->av = NULL;
	id->rearm = true;
	return old;
}

/*
 * Copies the address vector that data use now, which ibcm_path_mig() may replace at any
 * moment, to @now, for ibcm_av_destroy().  Returns the id's path with a reference, to be put
 * last: device removal waits for it.  NULL if the id has none.
 */
static struct ibcm_path *ibcm_lap_current(struct ibcm_id *id, struct ibcm_av *now)
{
	struct ibcm_path *path;

	spin_lock_irq(&id->lock);
	*now = id->av;
	path = id->path;
	if (path)
		refcount_inc(&path->ref);
	rdma_copy_ah_attr(&now->ah_attr, &id->av.ah_attr);
	spin_unlock_irq(&id->lock);
	return path;
}

/* Returns whether packets take the same path with both vectors. */
static bool ibcm_av_same(const struct ibcm_av *a, const struct ibcm_av *b)
{
	const struct rdma_ah_attr *x = &a->ah_attr, *y = &b->ah_attr;

	if (a->port != b->port || rdma_ah_get_dlid(x) != rdma_ah_get_dlid(y) ||
	    rdma_ah_get_path_bits(x) != rdma_ah_get_path_bits(y))
		return false;
	if (!(x->ah_flags & IB_AH_GRH) || !(y->ah_flags & IB_AH_GRH))
		return x->type == RDMA_AH_ATTR_TYPE_IB;
	return x->grh.sgid_attr == y->grh.sgid_attr &&
	       !memcmp(&x->grh.dgid, &y->grh.dgid, sizeof(x->grh.dgid));
}

/* The P_Key of the connection, as both paths must have it; 0 if it cannot be read. */
static __be16 ibcm_lap_pkey(const struct ibcm_id *id, const struct ibcm_av *now)
{
	u16 pkey;

	if (ib_get_cached_pkey(id->id.device, now->port->num, now->pkey_index, &pkey))
		return 0;
	return cpu_to_be16(pkey);
}

/* In place of a status (8 bits): nothing new, or nothing that can be taken now. */
#define IBCM_LAP_UNCHECKED	0x100

static bool ibcm_can_migrate(const struct ibcm_id *id)
{
	return id->id.device->attrs.device_cap_flags & IB_DEVICE_AUTO_PATH_MIG;
}

/* ---- the side that sends it ---- */

static int ibcm_lap_check_param(const struct ibcm_id *id,
				const struct ibex_cm_lap_param *param)
{
	if (!param->path || param->private_data_len > IB_CM_LAP_PRIVATE_DATA_SIZE ||
	    (param->private_data_len && !param->private_data) ||
	    param->remote_cm_response_timeout > 31)
		return -EINVAL;
	return ibcm_can_migrate(id) ? 0 : -EOPNOTSUPP;
}

/* Fills in @av for the path of a LAP, @now being the path in use.  May sleep. */
static int ibcm_lap_vector(struct ibcm_id *id, const struct ibex_cm_lap_param *param,
			   const struct ibcm_av *now, struct ibcm_av *av)
{
	int ret;

	/* A LAP has neither P_Key nor MTU: they stay those of the connection. */
	if (param->path->pkey != ibcm_lap_pkey(id, now) ||
	    param->path->mtu < id->path_mtu)
		return -EINVAL;
	ret = ibcm_av_from_path(id->dev, param->path, param->sgid_attr, av);
	if (!ret && ibcm_av_same(av, now))
		ret = -EINVAL;
	return ret;
}

/* Allocates *@av for the path of a LAP.  May sleep. */
static int ibcm_lap_prepare(struct ibcm_id *id, const struct ibex_cm_lap_param *param,
			    struct ibcm_av **av)
{
	struct ibcm_path *path;
	struct ibcm_av now;
	int ret = -ENOMEM;

	path = ibcm_lap_current(id, &now);
	if (!path) {
		/* As for ibcm_msg_alloc(): device removal took the path, or there was none. */
		ret = now.port ? -ENODEV : -EINVAL;
		goto out;
	}
	*av = kzalloc(sizeof(**av), GFP_KERNEL);
	if (*av && ibcm_lap_of(id))
		ret = ibcm_lap_vector(id, param, &now, *av);
out:
	ibcm_av_destroy(&now);
	ibcm_path_put(path);
	return ret;
}

/* Caller holds id->lock.  The lower half differs from one LAP of an id to the next. */
static __be64 ibcm_lap_tid(struct ibcm_id *id, const struct ibcm_msg *msg)
{
	return cpu_to_be64(be64_to_cpu(ibcm_new_tid(msg)) ^
			   (id->lap->nr_sent++ & GENMASK(27, 0)));
}

static void ibcm_lap_fill(struct ibcm_msg *msg, __be64 tid,
			  const struct ibex_cm_lap_param *param, u8 ack_timeout)
{
	struct ibcm_lids lids = ibcm_path_lids(param->path, NULL);
	struct cm_lap_msg *lap = ibcm_msg_mad(msg, tid);
	struct sa_path_rec *path = param->path;
	struct ibcm_id *id = msg->id;
	union ib_gid local, remote;

	ibcm_path_gids(path, &local, &remote);
	IBA_SET(CM_LAP_LOCAL_COMM_ID, lap, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_LAP_REMOTE_COMM_ID, lap, be32_to_cpu(id->id.remote_id));
	IBA_SET(CM_LAP_REMOTE_QPN_EECN, lap, id->remote_qpn);
	IBA_SET(CM_LAP_REMOTE_CM_RESPONSE_TIMEOUT, lap,
		param->remote_cm_response_timeout);
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, lids.local);
	IBA_SET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap, lids.remote);
	*IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_LOCAL_PORT_GID, lap) = local;
	*IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap) = remote;
	IBA_SET(CM_LAP_ALTERNATE_FLOW_LABEL, lap, be32_to_cpu(path->flow_label));
	IBA_SET(CM_LAP_ALTERNATE_TRAFFIC_CLASS, lap, path->traffic_class);
	IBA_SET(CM_LAP_ALTERNATE_HOP_LIMIT, lap, path->hop_limit);
	IBA_SET(CM_LAP_ALTERNATE_PACKET_RATE, lap, path->rate);
	IBA_SET(CM_LAP_ALTERNATE_SL, lap, path->sl);
	IBA_SET(CM_LAP_ALTERNATE_SUBNET_LOCAL, lap, path->hop_limit <= 1);
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_ACK_TIMEOUT, lap, ack_timeout);
	if (param->private_data_len)
		IBA_SET_MEM(CM_LAP_PRIVATE_DATA, lap, param->private_data,
			    param->private_data_len);
}

/*
 * Makes the step, fills in @msg and makes it the outstanding request.  *@av becomes the
 * path asked for, and is set to the one to be freed.  Caller holds id->lock.
 */
static bool ibcm_lap_begin(struct ibcm_id *id, struct ibcm_msg *msg,
			   const struct ibex_cm_lap_param *param,
			   struct ibcm_av **av, struct ibcm_todo *todo)
{
	u32 ms = ibcm_time_ms(param->remote_cm_response_timeout) +
		 2 * ibcm_time_ms((*av)->packet_life_time);
	struct ibcm_lap *lap = id->lap;

	lockdep_assert_held(&id->lock);
	if (!id->active || !ibcm_lap_step(id, IBCM_LAP_TX_LAP, todo))
		return false;
	lap->sent_tid = ibcm_lap_tid(id, msg);
	ibcm_lap_fill(msg, lap->sent_tid, param, (*av)->ack_timeout);
	/* What the peer is told includes our ACK delay, what our QP waits for the peer's. */
	(*av)->ack_timeout = ibcm_ack_timeout(id->target_ack_delay,
					      (*av)->packet_life_time);
	swap(lap->av, *av);
	todo->stop = ibcm_msg_attach(id, msg, ms, id->max_cm_retries);
	return true;
}

/* Posts the LAP @msg; takes the step back if that fails and the LAP is still awaited. */
static int ibcm_lap_post(struct ibcm_id *id, struct ibcm_msg *msg)
{
	bool detached = false;
	struct ibcm_todo todo;
	int ret;

	refcount_inc(&msg->ref);
	ret = ibcm_msg_post(msg);
	if (ret) {
		spin_lock_irq(&id->lock);
		if (id->msg == msg) {
			id->msg = NULL;
			detached = true;
			ibcm_lap_step(id, IBCM_LAP_TX_FAILED, &todo);
		}
		spin_unlock_irq(&id->lock);
	}
	if (detached)
		ibcm_msg_put(msg);
	ibcm_msg_put(msg);
	return ret;
}

/**
 * ibex_cm_send_lap - ask the peer to load another alternate path
 * @cm_id: The id of an established connection that this side has requested.
 * @param: The path and how to ask for it.  The path is as this side uses it, from here to
 *	the peer, in network byte order where <rdma/ib_sa.h> says so.  It must have the
 *	connection's P_Key, an MTU that is not smaller, and differ from the path in use.
 *	The caller holds a reference on @param->sgid_attr, if not NULL.
 *
 * The LAP (IBA vol. 1, 12.8) is resent until it is answered, as often as the connection's
 * REQ said.  IB_CM_APR_RECEIVED or IB_CM_LAP_ERROR reports the outcome, and
 * IB_CM_MRA_RECEIVED that it will take longer.  If the APR's status is IB_CM_APR_SUCCESS,
 * the peer has loaded the path, and ib_cm_init_qp_attr() for IB_QPS_RTS returns what loads
 * it into the local QP.  With any other outcome the alternate path of the connection stays.
 * After IB_CM_LAP_ERROR it is not known whether the peer has loaded the path: ask again.
 *
 * Whatever ends the connection ends the LAP; no event reports that.
 *
 * Context: May sleep; RoCE paths that are not resolved are resolved here.
 *
 * Return: 0; -EINVAL for a bad parameter, or an id that is not established, was accepted
 * instead of requested, or has a LAP outstanding or to be answered; -EOPNOTSUPP if the
 * device cannot migrate; -ENOENT if it does not have the SGID, or its port the P_Key;
 * -ENODEV after the device's removal; -ENOMEM.
 */
int ibex_cm_send_lap(struct ib_cm_id *cm_id, const struct ibex_cm_lap_param *param)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_av *av = NULL;
	struct ibcm_todo todo;
	struct ibcm_msg *msg;
	bool moved;
	int ret;

	ret = ibcm_lap_check_param(id, param);
	if (ret)
		return ret;
	ret = ibcm_lap_prepare(id, param, &av);
	if (ret)
		goto out;
	msg = ibcm_msg_alloc(id, IBCM_LAP);
	if (IS_ERR(msg)) {
		ret = PTR_ERR(msg);
		goto out;
	}
	spin_lock_irq(&id->lock);
	moved = ibcm_lap_begin(id, msg, param, &av, &todo);
	spin_unlock_irq(&id->lock);
	if (moved) {
		ibcm_msg_stop(todo.stop);
		ret = ibcm_lap_post(id, msg);
	} else {
		ibcm_msg_drop(msg);
		ret = -EINVAL;
	}
out:
	ibcm_av_free(av);
	return ret;
}
EXPORT_SYMBOL(ibex_cm_send_lap);

/* ---- the side that answers it; the functions below run in the id's work ---- */

/* The path as this side uses it, from here to the peer. */
static void ibcm_lap_path(struct ibcm_id *id, struct cm_lap_msg *lap,
			  const struct ibcm_av *now, struct sa_path_rec *path)
{
	u8 ack_timeout = IBA_GET(CM_LAP_ALTERNATE_LOCAL_ACK_TIMEOUT, lap);
	const struct rdma_ah_attr *ah_attr = &now->ah_attr;

	memset(path, 0, sizeof(*path));
	path->rec_type = SA_PATH_REC_TYPE_IB;
	path->dgid = *IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_LOCAL_PORT_GID, lap);
	path->sgid = *IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap);
	path->pkey = ibcm_lap_pkey(id, now);
	path->flow_label = cpu_to_be32(IBA_GET(CM_LAP_ALTERNATE_FLOW_LABEL, lap));
	path->hop_limit = IBA_GET(CM_LAP_ALTERNATE_HOP_LIMIT, lap);
	path->traffic_class = IBA_GET(CM_LAP_ALTERNATE_TRAFFIC_CLASS, lap);
	path->sl = IBA_GET(CM_LAP_ALTERNATE_SL, lap);
	path->rate = IBA_GET(CM_LAP_ALTERNATE_PACKET_RATE, lap);
	path->reversible = 1;
	path->mtu_selector = IB_SA_EQ;
	path->mtu = id->path_mtu;
	path->rate_selector = IB_SA_EQ;
	path->packet_life_time_selector = IB_SA_EQ;
	path->packet_life_time = ack_timeout - (ack_timeout > 0);

	if (ah_attr->type == RDMA_AH_ATTR_TYPE_ROCE) {
		path->rec_type =
			sa_conv_gid_to_pathrec_type(ah_attr->grh.sgid_attr->gid_type);
		/* The same peer port: its MAC is known. */
		if (!memcmp(&path->dgid, &ah_attr->grh.dgid, sizeof(path->dgid))) {
			ether_addr_copy(path->roce.dmac, ah_attr->roce.dmac);
			path->roce.route_resolved = true;
		}
		return;
	}
	sa_path_set_dlid(path, IBA_GET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap));
	sa_path_set_slid(path, IBA_GET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap));
}

/*
 * The LIDs must be known: nothing was received along this path, from which those of a
 * router could be taken.  Ours must be one of @port's.
 */
static bool ibcm_lap_lids_good(const struct ibcm_port *port, struct sa_path_rec *path)
{
	u32 dlid = be32_to_cpu(sa_path_get_dlid(path));
	u32 slid = be32_to_cpu(sa_path_get_slid(path));
	struct ib_port_attr attr;

	if (!dlid || dlid >= be16_to_cpu(IB_MULTICAST_LID_BASE) ||
	    ib_query_port(port->dev->ibdev, port->num, &attr))
		return false;
	return slid >= attr.lid && slid < attr.lid + BIT(attr.lmc);
}

static const struct ib_gid_attr *ibcm_lap_sgid(const struct ibcm_id *id,
					       const struct ibcm_av *now,
					       struct sa_path_rec *path)
{
	/* See ibcm_req_sgid(): the peer must not choose the network namespace. */
	if (now->ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE)
		return ibcm_gid_in_net(now->ah_attr.grh.sgid_attr, &path->sgid);
	return rdma_find_gid(id->id.device, &path->sgid, IB_GID_TYPE_IB, NULL);
}

/*
 * Makes *@av for @path.  Returns 0, the status of the APR that refuses the path, or a
 * negative error if nothing is to be answered, as the peer resends the LAP.
 */
static int ibcm_lap_av(struct ibcm_id *id, const struct ibcm_av *now,
		       struct sa_path_rec *path, u8 ack_timeout, struct ibcm_av *av)
{
	const struct ib_gid_attr *sgid_attr = ibcm_lap_sgid(id, now, path);
	int ret;

	if (IS_ERR(sgid_attr))
		return IB_CM_APR_INVALID_GID;
	ret = ibcm_av_from_path(id->dev, path, sgid_attr, av);
	rdma_put_gid_attr(sgid_attr);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		return IB_CM_APR_REJECT;
	av->ack_timeout = ack_timeout;
	if (path->rec_type == SA_PATH_REC_TYPE_IB && !ibcm_lap_lids_good(av->port, path))
		return IB_CM_APR_INVALID_LID;
	return ibcm_av_same(av, now) ? IB_CM_APR_IS_CURRENT : 0;
}

/* A RoCE path may have the port's rate. */
static bool ibcm_lap_rate_good(u8 rate, const struct ibcm_av *now)
{
	if (rate == IB_RATE_PORT_CURRENT)
		return now->ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE;
	return ib_rate_to_mbps(rate) >= 0;
}

/* Checks what a new LAP asks for; returns what ibcm_lap_av() does. */
static int ibcm_lap_check(struct ibcm_id *id, struct cm_lap_msg *lap,
			  const struct ibcm_av *now, struct sa_path_rec *path,
			  struct ibcm_av *av)
{
	if (id->local_qpn != IBA_GET(CM_LAP_REMOTE_QPN_EECN, lap))
		return IB_CM_APR_INVALID_QPN_EECN;
	if (!ibcm_can_migrate(id))
		return IB_CM_APR_UNSUPPORTED;
	if (!ibcm_lap_rate_good(IBA_GET(CM_LAP_ALTERNATE_PACKET_RATE, lap), now))
		return IB_CM_APR_INVALID_PACKET_RATE;
	if (!IBA_GET(CM_LAP_ALTERNATE_SUBNET_LOCAL, lap) &&
	    IBA_GET(CM_LAP_ALTERNATE_HOP_LIMIT, lap) <= 1)
		return IB_CM_APR_INVALID_HOP_LIMIT;
	ibcm_lap_path(id, lap, now, path);
	return ibcm_lap_av(id, now, path,
			   IBA_GET(CM_LAP_ALTERNATE_LOCAL_ACK_TIMEOUT, lap), av);
}

static bool ibcm_lap_equal(const struct ibcm_lap_seen *a, const struct ibcm_lap_seen *b)
{
	return a->tid == b->tid && a->hash == b->hash;
}

/*
 * Returns the event that the LAP @as is.  The whole MAD is compared, since a peer may use
 * one transaction id for all its LAPs.  IBCM_LAP_EVENTS: a late copy of an old one.
 */
static enum ibcm_lap_event ibcm_lap_event(const struct ibcm_id *id,
					  const struct ibcm_lap_seen *as)
{
	const struct ibcm_lap *lap = id->lap;
	int i;

	lockdep_assert_held(&id->lock);
	if ((id->id.lap_state == IB_CM_LAP_RCVD ||
	     id->id.lap_state == IB_CM_MRA_LAP_SENT) && ibcm_lap_equal(&lap->now, as))
		return IBCM_LAP_RX_AGAIN;
	for (i = 0; i < lap->nr_seen; i++)
		if (ibcm_lap_equal(&lap->seen[i], as))
			return i ? IBCM_LAP_EVENTS : IBCM_LAP_RX_ANSWERED;
	return IBCM_LAP_RX_LAP;
}

static bool ibcm_lap_is_new(struct ibcm_id *id, const struct ibcm_lap_seen *as)
{
	bool fresh;

	spin_lock_irq(&id->lock);
	fresh = id->id.state == IB_CM_ESTABLISHED &&
		ibcm_lap_event(id, as) == IBCM_LAP_RX_LAP &&
		ibcm_lap_step_of(id->id.lap_state, IBCM_LAP_RX_LAP);
	spin_unlock_irq(&id->lock);
	return fresh;
}

/*
 * Makes the step for a LAP.  @status: what ibcm_lap_check() returned, or IBCM_LAP_UNCHECKED;
 * if it refuses the path, the LAP is answered at once.  *@av becomes the path asked for, and
 * is set to the one to be freed.
 */
static void ibcm_lap_take(struct ibcm_id *id, const struct ibcm_lap_seen *as, int status,
			  struct ibcm_av **av, struct ibcm_todo *todo)
{
	struct ibcm_lap *lap = id->lap;
	enum ibcm_lap_event what;
	struct ibcm_todo refused;

	spin_lock_irq(&id->lock);
	what = ibcm_lap_event(id, as);
	/* Since the check the consumer may have acted, or the device gone: not taken then. */
	if (what == IBCM_LAP_RX_LAP && (status == IBCM_LAP_UNCHECKED || !id->path))
		what = IBCM_LAP_EVENTS;
	if (ibcm_lap_step(id, what, todo) && what == IBCM_LAP_RX_LAP) {
		swap(lap->av, *av);
		lap->now = *as;
		if (status && ibcm_lap_step(id, IBCM_LAP_TX_APR, &refused))
			ibcm_apr_answer(id, status, NULL, 0, NULL, 0);
	}
	spin_unlock_irq(&id->lock);
}

/* The consumer's handler has returned: a LAP that it did nothing about is refused. */
static void ibcm_lap_unanswered(struct ibcm_id *id)
{
	struct ibcm_todo todo;
	bool refused = false;

	spin_lock_irq(&id->lock);
	if (id->id.lap_state == IB_CM_LAP_RCVD &&
	    ibcm_lap_step(id, IBCM_LAP_TX_APR, &todo)) {
		ibcm_apr_answer(id, IB_CM_APR_UNSUPPORTED, NULL, 0, NULL, 0);
		refused = true;
	}
	spin_unlock_irq(&id->lock);
	if (refused)
		ibcm_send_lap_answer(id);
}

/*
 * Checks the LAP @rx and makes its step; @path is the path that it asks for.  Returns
 * whether the consumer is to be notified of it, or -ENOMEM.
 */
static int ibcm_lap_received(struct ibcm_id *id, struct ibcm_rx *rx,
			     struct sa_path_rec *path, struct ibcm_todo *todo)
{
	struct cm_lap_msg *lap = ibcm_rx_mad(rx);
	struct ibcm_lap_seen as = {
		.tid = lap->hdr.tid,
		.hash = jhash(lap, IB_MGMT_MAD_SIZE, 0),
	};
	struct ibcm_av *av = kzalloc(sizeof(*av), GFP_KERNEL);
	int status = IBCM_LAP_UNCHECKED;
	struct ibcm_path *pin;
	struct ibcm_av now;

	pin = ibcm_lap_current(id, &now);
	if (!av || !ibcm_lap_of(id))
		status = -ENOMEM;
	else if (pin && ibcm_lap_is_new(id, &as))
		status = ibcm_lap_check(id, lap, &now, path, av);
	if (status >= 0)
		ibcm_lap_take(id, &as, status, &av, todo);
	ibcm_av_free(av);
	ibcm_av_destroy(&now);
	ibcm_path_put(pin);
	return status < 0 ? status : status == 0 || status == IBCM_LAP_UNCHECKED;
}

int ibcm_rx_lap(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_lap_msg *lap = ibcm_rx_mad(rx);
	struct ib_cm_event event = {};
	struct ibcm_todo todo = {};
	struct sa_path_rec path;
	int ret;

	ret = ibcm_lap_received(id, rx, &path, &todo);
	if (ret < 0) {
		ibcm_stat(rx->port, IBCM_STAT_RX_OVERFLOW);
		return 0;
	}
	if (!ret && todo.step) {
		ibcm_send_lap_answer(id);
		return 0;
	}
	event.param.lap_rcvd.alternate_path = &path;
	event.private_data = IBA_GET_MEM_PTR(CM_LAP_PRIVATE_DATA, lap);
	ret = ibcm_rx_finish(id, rx, &todo, &event);
	if (!ret && todo.step && todo.step->event == IB_CM_LAP_RECEIVED)
		ibcm_lap_unanswered(id);
	return ret;
}

/* ---- migration ---- */

/*
 * The QP uses the alternate path now; the id's work changes the path of MADs, too.  What a
 * LAP has loaded is used up, so a LAP that asks for the same path again is a new one.
 */
int ibcm_path_mig(struct ibcm_id *id)
{
	struct ibcm_todo todo;
	unsigned long flags;
	int ret = -EINVAL;

	spin_lock_irqsave(&id->lock, flags);
	if (id->alt && ibcm_lap_step(id, IBCM_LAP_MIGRATED, &todo)) {
		swap(id->av, *id->alt);
		id->rearm = true;
		if (id->lap)
			id->lap->nr_seen = 0;
		ibcm_id_kick(id, IBCM_PEND_MIGRATED);
		ret = 0;
	}
	spin_unlock_irqrestore(&id->lock, flags);
	return ret;
}

/*
 * Runs in the id's work.  Once the connection is established, only ibcm_path_mig()
 * changes id->av; if it does so during this function, the work runs again.
 */
int ibcm_migrated(struct ibcm_id *id)
{
	struct rdma_ah_attr ah_attr;
	struct ibcm_path *path;
	struct ibcm_port *port;
	u16 pkey_index;

	spin_lock_irq(&id->lock);
	port = id->av.port;
	pkey_index = id->av.pkey_index;
	rdma_copy_ah_attr(&ah_attr, &id->av.ah_attr);
	spin_unlock_irq(&id->lock);

	path = ibcm_path_get(port, &ah_attr);
	rdma_destroy_ah_attr(&ah_attr);
	if (IS_ERR(path))
		return 0;	/* the old path may still work for MADs */
	if (!ibcm_path_use(path)) {
		ibcm_path_unuse(path);
		spin_lock_irq(&id->lock);
		swap(id->path, path);
		id->pkey_index = pkey_index;
		spin_unlock_irq(&id->lock);
	}
	ibcm_path_put(path);
	return 0;
}
