// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Attributes to modify a connection's QP with (IBA vol. 1, 10.3.1, 11.2.4.2). */
#include <linux/export.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/* States in which the QP parameters of both sides are known. */
#define IBCM_QP_RTR_STATES						\
	(BIT(IB_CM_REQ_RCVD) | BIT(IB_CM_MRA_REQ_SENT) |		\
	 BIT(IB_CM_REP_RCVD) | BIT(IB_CM_MRA_REP_SENT) |		\
	 BIT(IB_CM_REP_SENT) | BIT(IB_CM_MRA_REP_RCVD) |		\
	 BIT(IB_CM_ESTABLISHED))

/* States in which at least the path is known. */
#define IBCM_QP_INIT_STATES						\
	(IBCM_QP_RTR_STATES | BIT(IB_CM_REQ_SENT) |			\
	 BIT(IB_CM_MRA_REQ_RCVD))

static int ibcm_qp_init(const struct ibcm_id *id, struct ib_qp_attr *attr,
			int *mask)
{
	u64 caps = id->id.device->attrs.device_cap_flags;

	attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE;
	if (id->responder_resources) {
		attr->qp_access_flags |= IB_ACCESS_REMOTE_READ |
					 IB_ACCESS_REMOTE_ATOMIC;
		if (caps & IB_DEVICE_FLUSH_GLOBAL)
			attr->qp_access_flags |= IB_ACCESS_FLUSH_GLOBAL;
		if (caps & IB_DEVICE_FLUSH_PERSISTENT)
			attr->qp_access_flags |= IB_ACCESS_FLUSH_PERSISTENT;
	}
	attr->pkey_index = id->av.pkey_index;
	attr->port_num = id->av.port->num;
	*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX |
		IB_QP_PORT;
	return 0;
}

static void ibcm_qp_alternate(const struct ibcm_av *alt, struct ib_qp_attr *attr,
			      int *mask)
{
	attr->alt_port_num = alt->port->num;
	attr->alt_pkey_index = alt->pkey_index;
	attr->alt_timeout = alt->ack_timeout;
	attr->alt_ah_attr = alt->ah_attr;
	*mask |= IB_QP_ALT_PATH;
}

static int ibcm_qp_rtr(const struct ibcm_id *id, struct ib_qp_attr *attr,
		       int *mask)
{
	attr->ah_attr = id->av.ah_attr;
	if (id->av.dlid_datapath && attr->ah_attr.type == RDMA_AH_ATTR_TYPE_IB)
		rdma_ah_set_dlid(&attr->ah_attr, id->av.dlid_datapath);
	attr->path_mtu = id->path_mtu;
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->rq_psn;
	*mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
		IB_QP_RQ_PSN;
	if (id->qp_type == IB_QPT_RC || id->qp_type == IB_QPT_XRC_TGT) {
		attr->max_dest_rd_atomic = id->responder_resources;
		attr->min_rnr_timer = 0;
		*mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	}
	if (id->alt)
		ibcm_qp_alternate(id->alt, attr, mask);
	return 0;
}

/*
 * Returns the alternate path to be loaded into a QP in RTS: that of the LAP to be answered;
 * or that which was accepted last; or, after a migration, the former primary path.
 */
static const struct ibcm_av *ibcm_qp_to_load(const struct ibcm_id *id)
{
	if (id->id.state != IB_CM_ESTABLISHED)
		return NULL;
	if (id->id.lap_state == IB_CM_LAP_RCVD || id->id.lap_state == IB_CM_MRA_LAP_SENT)
		return id->lap->av;
	return id->rearm ? id->alt : NULL;
}

static int ibcm_qp_rts(const struct ibcm_id *id, struct ib_qp_attr *attr,
		       int *mask)
{
	const struct ibcm_av *alt = ibcm_qp_to_load(id);

	if (alt) {
		*mask = IB_QP_PATH_MIG_STATE;
		attr->path_mig_state = IB_MIG_REARM;
		ibcm_qp_alternate(alt, attr, mask);
		return 0;
	}

	attr->sq_psn = id->sq_psn;
	*mask = IB_QP_STATE | IB_QP_SQ_PSN;
	switch (id->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_XRC_INI:
		attr->retry_cnt = id->retry_count;
		attr->rnr_retry = id->rnr_retry_count;
		attr->max_rd_atomic = id->initiator_depth;
		*mask |= IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			 IB_QP_MAX_QP_RD_ATOMIC;
		fallthrough;
	case IB_QPT_XRC_TGT:
		attr->timeout = id->av.ack_timeout;
		*mask |= IB_QP_TIMEOUT;
		break;
	default:
		break;
	}
	if (id->alt) {
		attr->path_mig_state = IB_MIG_REARM;
		*mask |= IB_QP_PATH_MIG_STATE;
	}
	return 0;
}

static int ibcm_qp_attr(const struct ibcm_id *id, struct ib_qp_attr *attr,
			int *mask)
{
	unsigned long state = BIT(id->id.state);

	lockdep_assert_held(&id->lock);
	switch (attr->qp_state) {
	case IB_QPS_INIT:
		if (state & IBCM_QP_INIT_STATES)
			return ibcm_qp_init(id, attr, mask);
		trace_icm_qp_init_err(&id->id);
		break;
	case IB_QPS_RTR:
		if (state & IBCM_QP_RTR_STATES)
			return ibcm_qp_rtr(id, attr, mask);
		trace_icm_qp_rtr_err(&id->id);
		break;
	case IB_QPS_RTS:
		if (state & IBCM_QP_RTR_STATES)
			return ibcm_qp_rts(id, attr, mask);
		trace_icm_qp_rts_err(&id->id);
		break;
	default:
		break;
	}
	return -EINVAL;
}

/**
 * ib_cm_init_qp_attr - attributes for a connection's QP
 * @cm_id: The connection's id.
 * @qp_attr: In: @qp_attr->qp_state, the state to move to: INIT, RTR or RTS.  Out:
 *	the attributes that ib_modify_qp() needs for it.  Address vectors are borrowed
 *	from the id: that of the alternate path is valid until a LAP is answered, all
 *	are at most until the id is destroyed.
 * @qp_attr_mask: Out: which attributes were set.
 *
 * The consumer may change the attributes before it modifies the QP.
 *
 * For RTS of an established connection, and a QP that is in RTS already, the attributes
 * load an alternate path and arm it (IBA vol. 1, 17.2.8): while a LAP is to be answered,
 * the path that it asks for; after a LAP was accepted, that path; after a migration that
 * ib_cm_notify() reported, the path that was the primary before.
 *
 * Context: Any but hard interrupt.
 *
 * Return: 0; -EINVAL if the attributes are not known in the id's state.
 */
int ib_cm_init_qp_attr(struct ib_cm_id *cm_id,
		       struct ib_qp_attr *qp_attr,
		       int *qp_attr_mask)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&id->lock, flags);
	ret = ibcm_qp_attr(id, qp_attr, qp_attr_mask);
	spin_unlock_irqrestore(&id->lock, flags);
	return ret;
}
EXPORT_SYMBOL(ib_cm_init_qp_attr);
