// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: made, found by packets, and destroyed (IBA vol. 1, 10.2.4, 11.2.4). */
#include <linux/slab.h>
#include "queue/cq.h"
#include "queue/srq.h"
#include "transport/rc.h"
#include "user/user.h"

/* ---- packets find it ---- */

struct vib_qp *vib_qp_hold(struct vib_qp_ref *ref)
{
	return refcount_inc_not_zero(&ref->count) ? ref->qp : NULL;
}

void vib_qp_put(struct vib_qp *qp)
{
	struct vib_qp_ref *ref = qp->ref;

	/* From then on the QP may be gone, but RCU keeps @ref for this section. */
	if (refcount_dec_and_test(&ref->count))
		complete(&ref->unused);
}

struct vib_qp *vib_qp_find(struct vib_port *port, u32 qpn)
{
	struct vib_qp_ref *ref;

	if (qpn < VIB_FIRST_QPN)
		ref = rcu_dereference(vib_ca_port(port)->special[qpn]);
	else
		ref = xa_load(&vib_port_hca(port)->qps, qpn);
	return ref ? vib_qp_hold(ref) : NULL;
}

/*
 * Packets that hold credits are bounded by the buffers of the link.  Copies, and what never
 * was on a link, are not: those that a QP does not keep up with are lost, as datagrams may.
 */
void vib_qp_receive(struct vib_qp *qp, struct vib_packet *pkt)
{
	bool full;

	spin_lock(&qp->rx_lock);
	full = !pkt->held && qp->rx_len >= VIB_MAX_BACKLOG;
	if (!full) {
		list_add_tail(&pkt->entry, &qp->rx);
		qp->rx_len++;
	}
	spin_unlock(&qp->rx_lock);
	if (full)
		vib_drop(qp->port, pkt, VIB_DROP_BACKLOG);
	else
		queue_work(vib_wq, &qp->recv_work);
}

struct vib_packet *vib_qp_next_packet(struct vib_qp *qp)
{
	struct vib_packet *pkt;

	spin_lock_bh(&qp->rx_lock);
	pkt = list_first_entry_or_null(&qp->rx, struct vib_packet, entry);
	if (pkt) {
		list_del_init(&pkt->entry);
		qp->rx_len--;
	}
	spin_unlock_bh(&qp->rx_lock);
	return pkt;
}

/*
 * Softirqs run when bottom halves are enabled again, so a work that is queued with them off
 * runs before the caller goes on.  With interrupts off that cannot be done: it runs soon.
 */
void vib_qp_kick(struct work_struct *work)
{
	if (irqs_disabled()) {
		queue_work(vib_wq, work);
		return;
	}
	local_bh_disable();
	queue_work(vib_wq, work);
	local_bh_enable();
}

/* ---- creation ---- */

static int qp_check_caps(const struct ib_qp_cap *cap)
{
	if (cap->max_send_wr > VIB_MAX_WR || cap->max_recv_wr > VIB_MAX_WR ||
	    cap->max_send_sge > VIB_MAX_SGE || cap->max_recv_sge > VIB_MAX_SGE ||
	    cap->max_inline_data > VIB_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static bool qp_type_is_connected(enum ib_qp_type type)
{
	return type == IB_QPT_RC || type == IB_QPT_UC || type == IB_QPT_XRC_INI ||
	       type == IB_QPT_XRC_TGT;
}

/* SMI and GSI have none; those of XRC are named by packets, not by QPs (A14.2.2). */
static bool qp_srq_valid(const struct ib_qp_init_attr *init)
{
	if (!init->srq)
		return true;
	switch (init->qp_type) {
	case IB_QPT_UD:
	case IB_QPT_RC:
	case IB_QPT_UC:
		return init->srq->srq_type == IB_SRQT_BASIC;
	default:
		return false;
	}
}

/* An XRC target has neither queue, but a domain (A14.2.3). */
static bool qp_cqs_valid(const struct ib_qp_init_attr *init)
{
	switch (init->qp_type) {
	case IB_QPT_XRC_TGT:
		return init->xrcd;
	case IB_QPT_XRC_INI:
		return init->send_cq;
	default:
		return init->send_cq && init->recv_cq;
	}
}

static int qp_check_init(const struct ib_device *ibdev, const struct ib_qp_init_attr *init)
{
	u32 flags = 0;

	switch (init->qp_type) {
	case IB_QPT_SMI:
	case IB_QPT_GSI:
		if (!rdma_is_port_valid(ibdev, init->port_num))
			return -EINVAL;
		break;
	case IB_QPT_UD:
		flags = IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
		break;
	case IB_QPT_RC:
		flags = IB_QP_CREATE_INTEGRITY_EN;
		break;
	case IB_QPT_UC:
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags & ~flags || init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!qp_srq_valid(init) || !qp_cqs_valid(init))
		return -EINVAL;
	return qp_check_caps(&init->cap);
}

static void qp_free_queues(struct vib_qp *qp)
{
	vib_rc_free(qp);
	vib_queue_free(&qp->sq);
	vib_rq_free(&qp->rq);
	kvfree(qp->slots);
}

/* The send queue of datagrams. */
static int qp_alloc_sq(struct vib_qp *qp, const struct ib_qp_cap *cap, struct ib_udata *udata)
{
	u32 size = udata ? sizeof(struct vib_abi_ud_wqe) + vib_send_room(cap) :
			   sizeof(struct vib_send_wqe);
	int ret = vib_queue_init(&qp->sq, cap->max_send_wr, size, udata);

	if (ret || udata)
		return ret;
	qp->slots = kvcalloc(vib_queue_size(&qp->sq), sizeof(*qp->slots), GFP_KERNEL);
	return qp->slots ? 0 : -ENOMEM;
}

/* A process has no ring of a queue that it cannot post to. */
static int qp_alloc_queues(struct vib_qp *qp, const struct ib_qp_cap *cap,
			   struct ib_udata *udata)
{
	bool xrc = qp->ib.qp_type == IB_QPT_XRC_INI || qp->ib.qp_type == IB_QPT_XRC_TGT;
	bool sends = qp->ib.qp_type != IB_QPT_XRC_TGT, receives = !qp->srq && !xrc;
	int ret;

	if (qp_type_is_connected(qp->ib.qp_type))
		ret = vib_rc_create(qp, cap, sends ? udata : NULL);
	else
		ret = qp_alloc_sq(qp, cap, udata);
	if (!ret)
		ret = vib_rq_init(&qp->rq, receives ? cap->max_recv_wr : 0, cap->max_recv_sge,
				  receives ? udata : NULL);
	if (ret) {
		qp_free_queues(qp);
		return ret;
	}
	qp->cap = (struct ib_qp_cap){
		.max_send_wr = vib_queue_size(&qp->sq),
		.max_recv_wr = receives ? vib_queue_size(&qp->rq.queue) : 0,
		.max_send_sge = cap->max_send_sge,
		.max_recv_sge = cap->max_recv_sge,
		/* Programs use what they get, and not all of them ask first. */
		.max_inline_data = vib_send_room(cap),
		/* The core's: it makes regions for so many when the QP is there. */
		.max_rdma_ctxs = cap->max_rdma_ctxs,
	};
	return 0;
}

static int qp_respond(const struct vib_qp *qp, struct ib_udata *udata)
{
	struct vib_create_qp_resp resp = {
		.sq = vib_queue_map(&qp->sq),
		.rq = vib_queue_map(&qp->rq.queue),
	};

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void qp_init(struct vib_qp *qp, const struct ib_qp_init_attr *init)
{
	spin_lock_init(&qp->lock);
	spin_lock_init(&qp->sq_lock);
	spin_lock_init(&qp->rx_lock);
	INIT_LIST_HEAD(&qp->rx);
	INIT_LIST_HEAD(&qp->waiter.entry);
	INIT_WORK(&qp->send_work, vib_ud_send);
	if (qp_type_is_connected(init->qp_type)) {
		INIT_WORK(&qp->recv_work, vib_rc_work);
		qp->sender = &qp->recv_work;
	} else {
		INIT_WORK(&qp->recv_work, vib_ud_receive);
		qp->sender = &qp->send_work;
	}
	qp->waiter.work = qp->sender;
	qp->state = IB_QPS_RESET;
	qp->srq = init->srq ? to_vib_srq(init->srq) : NULL;
	qp->xrcd = init->xrcd;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->block_loopback = init->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
}

/* -EBUSY: the port has a QP of that type, which is QP0 or QP1 (10.2.4). */
static int qp_publish_special(struct vib_hca *hca, struct vib_qp *qp, u32 port_num)
{
	struct vib_qp_ref __rcu **slot;
	u32 qpn = qp->ib.qp_type == IB_QPT_GSI;
	int ret = -EBUSY;

	slot = &hca->ports[port_num].special[qpn];
	qp->port = &hca->node.ports[port_num];
	mutex_lock(&hca->lock);
	if (!rcu_access_pointer(*slot)) {
		qp->ib.qp_num = qpn;
		rcu_assign_pointer(*slot, qp->ref);
		ret = 0;
	}
	mutex_unlock(&hca->lock);
	return ret;
}

/* Packets find the QP from here on. */
static int qp_publish(struct vib_hca *hca, struct vib_qp *qp, u32 port_num)
{
	int ret;

	if (vib_qp_is_special(qp))
		return qp_publish_special(hca, qp, port_num);
	/* Numbers come again as late as can be: packets for a QP that is gone are about. */
	ret = xa_alloc_cyclic(&hca->qps, &qp->ib.qp_num, qp->ref,
			      XA_LIMIT(VIB_FIRST_QPN, IB_MULTICAST_QPN - 1),
			      &hca->next_qpn, GFP_KERNEL);
	return min(ret, 0);
}

static void qp_unpublish(struct vib_hca *hca, struct vib_qp *qp)
{
	if (!vib_qp_is_special(qp)) {
		xa_erase(&hca->qps, qp->ib.qp_num);
		return;
	}
	mutex_lock(&hca->lock);
	RCU_INIT_POINTER(hca->ports[qp->port->num].special[qp->ib.qp_num], NULL);
	mutex_unlock(&hca->lock);
}

static struct vib_qp_ref *qp_ref_alloc(struct vib_qp *qp)
{
	struct vib_qp_ref *ref = kmalloc(sizeof(*ref), GFP_KERNEL_ACCOUNT);

	if (!ref)
		return NULL;
	refcount_set(&ref->count, 1);
	init_completion(&ref->unused);
	ref->qp = qp;
	return ref;
}

/* QP0 and QP1 are not for processes. */
static int qp_check_udata(const struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	if (init->qp_type == IB_QPT_SMI || init->qp_type == IB_QPT_GSI)
		return -EOPNOTSUPP;
	return vib_udata_check(udata, sizeof(struct vib_create_qp_resp));
}

static int vib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
			 struct ib_udata *udata)
{
	struct vib_hca *hca = to_vib_hca(ibqp->device);
	struct vib_qp *qp = to_vib_qp(ibqp);
	int ret;

	ret = qp_check_init(ibqp->device, init);
	if (!ret && udata)
		ret = qp_check_udata(init, udata);
	if (ret)
		return ret;
	/* As the core does, which need not have done it yet. */
	ibqp->qp_type = init->qp_type;
	qp_init(qp, init);
	qp->user = udata;
	ret = qp_alloc_queues(qp, &init->cap, udata);
	if (ret)
		return ret;
	if (udata)
		ret = qp_respond(qp, udata);
	if (!ret) {
		qp->ref = qp_ref_alloc(qp);
		ret = qp->ref ? qp_publish(hca, qp, init->port_num) : -ENOMEM;
	}
	if (ret) {
		kfree(qp->ref);
		qp_free_queues(qp);
		return ret;
	}
	init->cap = qp->cap;
	return 0;
}

/* ---- the end ---- */

static void qp_forget_sends(struct vib_qp *qp)
{
	u32 index;

	if (qp->rc) {
		vib_rc_reset(qp);
		return;
	}
	if (qp->user) {
		/* No payload waits: it is copied as it is sent. */
		vib_queue_clear(&qp->sq);
		return;
	}
	while (vib_queue_peek(&qp->sq, &index)) {
		vib_payload_put(qp->slots[index].payload);
		qp->slots[index].payload = NULL;
		vib_queue_pop(&qp->sq);
	}
}

void vib_qp_purge(struct vib_qp *qp)
{
	struct vib_packet *pkt;

	/* Disabled, so that a transmitter which still has the waiter does not queue it. */
	disable_work_sync(&qp->send_work);
	disable_work_sync(&qp->recv_work);
	if (qp->port)
		vib_port_forget(qp->port, &qp->waiter);
	while ((pkt = vib_qp_next_packet(qp)))
		vib_drop(qp->port, pkt, VIB_DROP_QP);
	qp_forget_sends(qp);
	vib_rq_clear(&qp->rq);
	qp->last_wqe = false;
}

void vib_qp_resume(struct vib_qp *qp)
{
	enable_work(&qp->recv_work);
	enable_work(&qp->send_work);
}

/*
 * Why nothing uses the QP afterwards:
 * (1) No packet finds it: it is not in hca->qps or the port's special QPs any more, and in
 *     no multicast group, as the core counts those.  Who found it before has put its
 *     reference; who finds its vib_qp_ref late, under RCU, gets none.
 * (2) Its works have ended and stay disabled, so nothing more is sent, taken in or
 *     completed, and no event is raised; the port's transmitter has forgotten its waiter; the
 *     timer of a connection has ended after that, and nothing but the work starts it.
 * (3) The packets that waited are freed with the credits that they held, and so are the
 *     payloads of what was posted.
 * (4) No completion that names it is left in its CQs, nor in those of the SRQs of its domain:
 *     those of a process have its number alone.
 */
static int vib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct vib_qp *qp = to_vib_qp(ibqp);
	struct vib_qp_ref *ref = qp->ref;

	qp_unpublish(to_vib_hca(ibqp->device), qp);
	rcu_read_lock();
	vib_qp_put(qp);
	rcu_read_unlock();
	wait_for_completion(&ref->unused);
	kfree_rcu(ref, rcu);

	vib_qp_purge(qp);
	/* Those of XRC have one CQ, or none. */
	if (ibqp->send_cq)
		vib_cq_clean(to_vib_cq(ibqp->send_cq), ibqp);
	if (ibqp->recv_cq && ibqp->recv_cq != ibqp->send_cq)
		vib_cq_clean(to_vib_cq(ibqp->recv_cq), ibqp);
	if (ibqp->qp_type == IB_QPT_XRC_TGT)
		vib_srq_clean(qp->xrcd, ibqp);
	qp_free_queues(qp);
	return 0;
}

const struct ib_device_ops vib_qp_ops = {
	.create_qp	= vib_create_qp,
	.modify_qp	= vib_modify_qp,
	.query_qp	= vib_query_qp,
	.destroy_qp	= vib_destroy_qp,
	INIT_RDMA_OBJ_SIZE(ib_qp, vib_qp, ib),
};
