// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The QP of an id, and the transitions of its state, which follow the connection:
 *
 *	INIT	when it is created
 *	RTR	on the passive side before the REP is sent, on the active side when the
 *		REP is received
 *	RTS	like RTR; a datagram QP when it is created
 *	ERR	on disconnect and on every failure
 *
 * IBA vol. 1, 10.3.1.  The qp_mutex keeps the QP from being destroyed during a
 * transition.
 */
#include "connect/connect.h"
#include "id/id.h"
#include "trace.h"

static int cma_ipoib_qkey(struct cma_id *idp, u32 *qkey)
{
	struct ib_sa_mcmember_rec rec;
	union ib_gid mgid;
	int err;

	ib_addr_get_mgid(&idp->id.route.addr.dev_addr, &mgid);
	err = ib_sa_get_mcmember_rec(idp->id.device, idp->id.port_num, &mgid,
				     &rec);
	if (!err)
		*qkey = be32_to_cpu(rec.qkey);
	return err;
}

static int cma_default_qkey(struct cma_id *idp, u32 *qkey)
{
	switch (idp->id.ps) {
	case RDMA_PS_IPOIB:
		return cma_ipoib_qkey(idp, qkey);
	default:
		*qkey = RDMA_UDP_QKEY;
		return 0;
	}
}

/*
 * cma_set_qkey() - choose the Q_Key of an id's datagrams
 * @qkey: the Q_Key; 0: the id's present one, otherwise the default of its port space
 *
 * Return: 0; -EINVAL if the id has another one already; an error of the SA.
 */
int cma_set_qkey(struct cma_id *idp, u32 qkey)
{
	unsigned long flags;
	int err = 0;

	if (!qkey) {
		if (READ_ONCE(idp->qkey))
			return 0;
		err = cma_default_qkey(idp, &qkey);
		if (err)
			return err;
	}
	spin_lock_irqsave(&idp->lock, flags);
	if (!idp->qkey)
		WRITE_ONCE(idp->qkey, qkey);
	else if (idp->qkey != qkey)
		err = -EINVAL;
	spin_unlock_irqrestore(&idp->lock, flags);
	return err;
}

/* Fills in what INIT needs, for a QP without a connection. */
static int cma_ib_unconnected_attr(struct cma_id *idp,
				   struct ib_qp_attr *attr, int *mask)
{
	struct rdma_cm_id *id = &idp->id;
	u16 pkey = 0xffff;
	int err;

	if (!rdma_cap_eth_ah(id->device, id->port_num))
		pkey = ib_addr_get_pkey(&id->route.addr.dev_addr);
	err = ib_find_cached_pkey(id->device, id->port_num, pkey,
				  &attr->pkey_index);
	if (err)
		return err;

	attr->port_num = id->port_num;
	*mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;
	if (id->qp_type == IB_QPT_UD) {
		err = cma_set_qkey(idp, 0);
		if (err)
			return err;
		attr->qkey = idp->qkey;
		*mask |= IB_QP_QKEY;
	} else {
		attr->qp_access_flags = 0;
		*mask |= IB_QP_ACCESS_FLAGS;
	}
	return 0;
}

static int cma_ib_qp_attr(struct cma_id *idp, struct ib_qp_attr *attr,
			  int *mask)
{
	int err;

	if (!idp->cm.ib || idp->id.qp_type == IB_QPT_UD)
		return cma_ib_unconnected_attr(idp, attr, mask);

	err = ib_cm_init_qp_attr(idp->cm.ib, attr, mask);
	if (err)
		return err;
	/* The PSN that our REQ or REP asked the peer to start with. */
	if (attr->qp_state == IB_QPS_RTR)
		attr->rq_psn = idp->seq_num;
	return 0;
}

static int cma_iw_qp_attr(struct cma_id *idp, struct ib_qp_attr *attr,
			  int *mask)
{
	int err = 0;

	if (idp->cm.iw) {
		err = iw_cm_init_qp_attr(idp->cm.iw, attr, mask);
	} else {
		attr->qp_access_flags = 0;
		*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
	}
	attr->port_num = idp->id.port_num;
	*mask |= IB_QP_PORT;
	return err;
}

/**
 * rdma_init_qp_attr() - get the attributes for moving a QP to a state
 * @id: the id that the QP communicates by
 * @qp_attr: qp_state is the state to move to; the rest is filled in
 * @qp_attr_mask: set to the mask of the fields of @qp_attr that are valid
 *
 * For consumers that move their QP themselves.
 *
 * Context: may sleep.
 * Return: 0; -ENODEV if @id has no device; -EINVAL if it listens for connections; an
 * error of the underlying CM, or -ENOENT if the port does not have the id's P_Key.
 */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ib_qp_attr *qp_attr,
		      int *qp_attr_mask)
{
	struct cma_id *idp = to_cma(id);
	int err;

	if (!id->device)
		return -ENODEV;
	/* A listener has no QP of its own; datagrams need nothing of a connection. */
	if (id->qp_type != IB_QPT_UD && cma_state(idp) == RDMA_CM_LISTEN)
		return -EINVAL;
	if (rdma_cap_iw_cm(id->device, id->port_num))
		err = cma_iw_qp_attr(idp, qp_attr, qp_attr_mask);
	else
		err = cma_ib_qp_attr(idp, qp_attr, qp_attr_mask);

	if ((*qp_attr_mask & IB_QP_TIMEOUT) && idp->timeout_set)
		qp_attr->timeout = idp->timeout;
	if ((*qp_attr_mask & IB_QP_MIN_RNR_TIMER) && idp->min_rnr_timer_set)
		qp_attr->min_rnr_timer = idp->min_rnr_timer;
	return err;
}
EXPORT_SYMBOL(rdma_init_qp_attr);

static int cma_qp_move(struct cma_id *idp, enum ib_qp_state state,
		       const struct rdma_conn_param *param)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask = IB_QP_STATE;
	int err;

	lockdep_assert_held(&idp->qp_mutex);
	err = rdma_init_qp_attr(&idp->id, &attr, &mask);
	if (err)
		return err;
	if (param && state == IB_QPS_RTR)
		attr.max_dest_rd_atomic = param->responder_resources;
	if (param && state == IB_QPS_RTS)
		attr.max_rd_atomic = param->initiator_depth;
	return ib_modify_qp(idp->id.qp, &attr, mask);
}

/*
 * cma_qp_to_rtr() - make the id's QP ready to receive
 * @param: what the consumer accepts, or NULL: what the CM negotiated
 *
 * Return: 0, also if the id has no QP because the consumer manages its own; an error
 * of the QP.
 */
int cma_qp_to_rtr(struct cma_id *idp, const struct rdma_conn_param *param)
{
	int err = 0;

	mutex_lock(&idp->qp_mutex);
	if (idp->id.qp) {
		/* INIT again, for what is known only with the connection. */
		err = cma_qp_move(idp, IB_QPS_INIT, NULL);
		if (!err)
			err = cma_qp_move(idp, IB_QPS_RTR, param);
	}
	mutex_unlock(&idp->qp_mutex);
	return err;
}

/* Makes the id's QP ready to send; like cma_qp_to_rtr(). */
int cma_qp_to_rts(struct cma_id *idp, const struct rdma_conn_param *param)
{
	int err = 0;

	mutex_lock(&idp->qp_mutex);
	if (idp->id.qp)
		err = cma_qp_move(idp, IB_QPS_RTS, param);
	mutex_unlock(&idp->qp_mutex);
	return err;
}

/* Moves the id's QP to the error state, which flushes its work requests. */
int cma_qp_to_err(struct cma_id *idp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int err = 0;

	mutex_lock(&idp->qp_mutex);
	if (idp->id.qp)
		err = ib_modify_qp(idp->id.qp, &attr, IB_QP_STATE);
	mutex_unlock(&idp->qp_mutex);
	return err;
}

static int cma_qp_start(struct cma_id *idp, struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, err;

	err = rdma_init_qp_attr(&idp->id, &attr, &mask);
	if (!err)
		err = ib_modify_qp(qp, &attr, mask);
	if (err || qp->qp_type != IB_QPT_UD)
		return err;

	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(qp, &attr, IB_QP_STATE);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	attr.sq_psn = 0;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/* The only function that sets the id's QP.  @qp NULL: the id has none any more. */
static void cma_qp_set(struct cma_id *idp, struct ib_qp *qp)
{
	lockdep_assert_held(&idp->qp_mutex);
	idp->id.qp = qp;
	if (qp) {
		WRITE_ONCE(idp->qp_num, qp->qp_num);
		idp->srq = !!qp->srq;
	}
}

/**
 * rdma_create_qp() - create a QP for an id
 * @id: an id that is bound to a device and has no QP
 * @pd: protection domain on the same device
 * @qp_init_attr: as for ib_create_qp(); port_num is set
 *
 * The QP is in INIT, so receives can be posted, and is moved through its other states
 * as the connection progresses.  A datagram QP can send at once.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if @pd is on another device or @id has a QP; an error of the
 * provider.
 */
int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd,
		   struct ib_qp_init_attr *qp_init_attr)
{
	struct cma_id *idp = to_cma(id);
	struct ib_qp *qp = NULL;
	int err;

	if (!id->device || id->device != pd->device) {
		err = -EINVAL;
		goto out;
	}

	mutex_lock(&idp->qp_mutex);
	if (id->qp) {
		err = -EINVAL;
		goto unlock;
	}
	qp_init_attr->port_num = id->port_num;
	qp = ib_create_qp(pd, qp_init_attr);
	if (IS_ERR(qp)) {
		err = PTR_ERR(qp);
		goto unlock;
	}
	err = cma_qp_start(idp, qp);
	if (err)
		ib_destroy_qp(qp);
	else
		cma_qp_set(idp, qp);
unlock:
	mutex_unlock(&idp->qp_mutex);
out:
	trace_cm_qp_create(idp, pd, qp_init_attr, err);
	return err;
}
EXPORT_SYMBOL(rdma_create_qp);

/**
 * rdma_destroy_qp() - destroy the QP of an id
 * @id: the id that rdma_create_qp() was called for
 *
 * The consumer must call this before rdma_destroy_id(), after it has drained the QP if
 * it needs to.
 *
 * Context: may sleep.  A callback of @id may call it.
 */
void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct cma_id *idp = to_cma(id);

	trace_cm_qp_destroy(idp);
	mutex_lock(&idp->qp_mutex);
	if (id->qp) {
		ib_destroy_qp(id->qp);
		cma_qp_set(idp, NULL);
	}
	mutex_unlock(&idp->qp_mutex);
}
EXPORT_SYMBOL(rdma_destroy_qp);
