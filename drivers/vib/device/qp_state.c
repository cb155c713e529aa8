// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The states of a queue pair (IBA vol. 1, 10.3.1), and its attributes (11.2.4.2, 11.2.4.3).
 *
 * Which transitions there are, and with which attributes, is ib_modify_qp_is_ok()'s to say.
 * A state is entered with all of the QP's locks held, so who posts sees one that lasts
 * until it has posted.  What a state has to be done for is done by the works, which look
 * at it before each request:
 *
 *	RESET		nothing; the queues are emptied by the transition itself
 *	INIT, RTR	send requests are not accepted; from RTR on packets are taken in
 *	RTS		both
 *	SQD		sends wait; when none is in progress the consumer is told
 *	SQE		send requests are flushed, packets taken in
 *	ERR		both queues are flushed, packets dropped
 */
#include "transport/rc.h"

/*
 * A process posts receives without a system call, except in the error state, in which they are
 * flushed.  Either it sees the flag when it has added an entry, or the work that is queued after
 * this sees the entry.
 */
static void qp_set_doorbell(struct vib_qp *qp, bool wanted)
{
	if (!qp->rq.queue.mapped)
		return;
	WRITE_ONCE(qp->rq.queue.ring->flags, wanted ? VIB_RING_DOORBELL : 0);
	/* Pairs with the barrier of the process, between tail and flags. */
	smp_mb();
}

static void qp_enter(struct vib_qp *qp, enum ib_qp_state state)
{
	unsigned long flags;

	lockdep_assert_held(&qp->lock);
	spin_lock_irqsave(&qp->sq_lock, flags);
	spin_lock(&qp->rq.lock);
	qp_set_doorbell(qp, state == IB_QPS_ERR);
	WRITE_ONCE(qp->state, state);
	spin_unlock(&qp->rq.lock);
	spin_unlock_irqrestore(&qp->sq_lock, flags);
}

void vib_qp_event(struct vib_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ib.device,
		.event = type,
		.element.qp = &qp->ib,
	};

	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

/* What a reliable connection has not delivered it cannot go on without. */
void vib_qp_send_failed(struct vib_qp *qp)
{
	if (qp->rc && vib_qp_is_reliable(qp)) {
		vib_qp_recv_failed(qp);
		return;
	}
	spin_lock_bh(&qp->lock);
	if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)
		qp_enter(qp, IB_QPS_SQE);
	spin_unlock_bh(&qp->lock);
}

void vib_qp_recv_failed(struct vib_qp *qp)
{
	spin_lock_bh(&qp->lock);
	if (vib_qp_receives(qp))
		qp_enter(qp, IB_QPS_ERR);
	spin_unlock_bh(&qp->lock);
	queue_work(vib_wq, qp->sender);
	queue_work(vib_wq, &qp->recv_work);
}

void vib_qp_drained(struct vib_qp *qp)
{
	bool report;

	spin_lock_bh(&qp->lock);
	report = qp->state == IB_QPS_SQD && qp->sq_draining && qp->sqd_notify;
	qp->sq_draining = false;
	spin_unlock_bh(&qp->lock);
	if (report)
		vib_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/* The transition that @attr asks for, from the present state, and its values. */
static int qp_check_modify(const struct vib_qp *qp, const struct ib_qp_attr *attr, int mask,
			   enum ib_qp_state next)
{
	const struct vib_hca *hca = to_vib_hca(qp->ib.device);

	lockdep_assert_held(&qp->lock);
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != qp->state)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(qp->state, next, qp->ib.qp_type, mask))
		return -EINVAL;
	if (mask & IB_QP_PORT && !rdma_is_port_valid(&hca->ib, attr->port_num))
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= hca->node.pkeys)
		return -EINVAL;
	return qp->rc ? vib_rc_check_attrs(qp, attr, mask) : 0;
}

static void qp_take_attrs(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	lockdep_assert_held(&qp->lock);
	if (mask & IB_QP_PORT)
		WRITE_ONCE(qp->port, &to_vib_hca(qp->ib.device)->node.ports[attr->port_num]);
	if (mask & IB_QP_PKEY_INDEX)
		WRITE_ONCE(qp->pkey_index, attr->pkey_index);
	if (mask & IB_QP_QKEY)
		WRITE_ONCE(qp->qkey, attr->qkey);
	if (mask & IB_QP_SQ_PSN)
		WRITE_ONCE(qp->sq_psn, attr->sq_psn & 0xffffff);
	if (qp->rc)
		vib_rc_take_attrs(qp, attr, mask);
}

/* What there is to do in a state that the consumer has had the QP enter. */
static void qp_entered(struct vib_qp *qp, enum ib_qp_state state)
{
	switch (state) {
	case IB_QPS_RESET:
		vib_qp_purge(qp);
		vib_qp_resume(qp);
		break;
	case IB_QPS_ERR:
		vib_qp_kick(&qp->recv_work);
		fallthrough;
	case IB_QPS_RTS:
	case IB_QPS_SQD:
		vib_qp_kick(qp->sender);
		break;
	default:
		break;
	}
}

/* The state and the attributes at once; *@from is the state before. */
static int qp_change(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask,
		     enum ib_qp_state *from)
{
	enum ib_qp_state next;
	int ret;

	spin_lock_bh(&qp->lock);
	*from = qp->state;
	next = mask & IB_QP_STATE ? attr->qp_state : qp->state;
	ret = qp_check_modify(qp, attr, mask, next);
	if (!ret) {
		qp_take_attrs(qp, attr, mask);
		if (next == IB_QPS_SQD && qp->state == IB_QPS_RTS) {
			qp->sq_draining = true;
			qp->sqd_notify = mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
					 attr->en_sqd_async_notify;
		}
		qp_enter(qp, next);
	}
	spin_unlock_bh(&qp->lock);
	return ret;
}

/*
 * The work of a connected QP uses the attributes without a lock, so it is disabled while they
 * change.  What would have queued it meanwhile, the kick makes up for.
 */
static int rc_modify(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state from;
	int ret;

	disable_work_sync(&qp->recv_work);
	ret = qp_change(qp, attr, mask, &from);
	if (!ret)
		vib_rc_modified(qp, attr, mask, from);
	if (!ret && mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		qp_entered(qp, IB_QPS_RESET);
	enable_work(&qp->recv_work);
	vib_qp_kick(&qp->recv_work);
	return ret;
}

/* The core has one caller at a time for a QP. */
int vib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct vib_qp *qp = to_vib_qp(ibqp);
	enum ib_qp_state from;
	int ret;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (qp->rc)
		return rc_modify(qp, attr, mask);
	ret = qp_change(qp, attr, mask, &from);
	if (!ret && mask & IB_QP_STATE)
		qp_entered(qp, attr->qp_state);
	return ret;
}

int vib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct vib_qp *qp = to_vib_qp(ibqp);

	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	spin_lock_bh(&qp->lock);
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->sq_draining = qp->state == IB_QPS_SQD && qp->sq_draining;
	attr->en_sqd_async_notify = qp->sqd_notify;
	attr->qkey = qp->qkey;
	attr->pkey_index = qp->pkey_index;
	attr->sq_psn = READ_ONCE(qp->sq_psn);
	if (qp->port) {
		attr->port_num = qp->port->num;
		attr->path_mtu = READ_ONCE(qp->port->mtu);
	}
	if (qp->rc)
		vib_rc_query(qp, attr);
	spin_unlock_bh(&qp->lock);
	attr->cap = qp->cap;

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->cap = qp->cap;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->create_flags = qp->block_loopback ? IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK : 0;
	init->port_num = attr->port_num;
	return 0;
}
