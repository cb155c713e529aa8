// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Alternate paths (IBA vol. 1, 12.8): LAP, APR, and migration to the alternate path
 * of the REQ.
 *
 * A peer may request another alternate path with a LAP.  The kernel's consumers
 * have no call to load one, so the CM notifies the consumer and then answers with an
 * APR that says "unsupported"; the peer keeps the path it has.
 */
#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"

static void ibcm_lap_path(struct ibcm_id *id, const struct ibcm_rx *rx,
			  struct sa_path_rec *path)
{
	struct cm_lap_msg *lap = ibcm_rx_mad(rx);
	u8 ack_timeout = IBA_GET(CM_LAP_ALTERNATE_LOCAL_ACK_TIMEOUT, lap);
	const struct ib_gid_attr *sgid_attr = NULL;

	memset(path, 0, sizeof(*path));
	if (id->av.ah_attr.ah_flags & IB_AH_GRH)
		sgid_attr = id->av.ah_attr.grh.sgid_attr;
	path->rec_type = SA_PATH_REC_TYPE_IB;
	if (sgid_attr && rdma_protocol_roce(id->id.device, rx->port->num))
		path->rec_type = sa_conv_gid_to_pathrec_type(sgid_attr->gid_type);
	path->dgid = *IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_LOCAL_PORT_GID, lap);
	path->sgid = *IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap);
	sa_path_set_dlid(path, IBA_GET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap));
	sa_path_set_slid(path, IBA_GET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap));
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
}

static void ibcm_send_apr(struct ibcm_id *id, __be64 tid, u8 status)
{
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_APR);
	struct cm_apr_msg *apr;

	if (IS_ERR(msg))
		return;
	apr = ibcm_msg_mad(msg, tid);
	IBA_SET(CM_APR_LOCAL_COMM_ID, apr, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_APR_REMOTE_COMM_ID, apr, be32_to_cpu(id->id.remote_id));
	IBA_SET(CM_APR_AR_STATUS, apr, status);
	ibcm_msg_post(msg);
}

int ibcm_rx_lap(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_lap_msg *lap = ibcm_rx_mad(rx);
	struct ib_cm_event event = { .event = IB_CM_LAP_RECEIVED };
	struct sa_path_rec path;
	bool moved, done;
	int ret;

	spin_lock_irq(&id->lock);
	moved = id->local_qpn == IBA_GET(CM_LAP_REMOTE_QPN_EECN, lap) &&
		ibcm_lap_step(id, IBCM_LAP_RX_LAP);
	spin_unlock_irq(&id->lock);
	if (!moved) {
		ibcm_stat(rx->port, IBCM_STAT_RX_UNEXPECTED);
		return 0;
	}

	ibcm_lap_path(id, rx, &path);
	event.param.lap_rcvd.alternate_path = &path;
	event.private_data = IBA_GET_MEM_PTR(CM_LAP_PRIVATE_DATA, lap);
	ret = ibcm_deliver(id, &event);
	if (ret)
		return ret;

	spin_lock_irq(&id->lock);
	done = ibcm_lap_step(id, IBCM_LAP_TX_APR);
	spin_unlock_irq(&id->lock);
	if (done)
		ibcm_send_apr(id, lap->hdr.tid, IB_CM_APR_UNSUPPORTED);
	return 0;
}

/* The QP uses the alternate path now; the id's work changes the path of MADs, too. */
int ibcm_path_mig(struct ibcm_id *id)
{
	unsigned long flags;
	int ret = -EINVAL;

	spin_lock_irqsave(&id->lock, flags);
	if (id->id.state == IB_CM_ESTABLISHED && id->alt &&
	    (id->id.lap_state == IB_CM_LAP_UNINIT ||
	     id->id.lap_state == IB_CM_LAP_IDLE)) {
		id->id.lap_state = IB_CM_LAP_IDLE;
		swap(id->av, *id->alt);
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
