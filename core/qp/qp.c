// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs (IBA vol. 1, 10.2.4, 11.2.4).
 *
 * Uses: a QP counts as a use of its PD, CQs, SRQ and indirection table from
 * ib_qp_usecnt_inc() until it is freed.  qp->usecnt counts what uses the QP
 * (multicast groups, flows, handles of a target QP) and keeps it from being
 * destroyed.
 *
 * Source GIDs: av_sgid_attr and alt_path_sgid_attr own references on the GID
 * entries that the provider's address vectors refer to, and count as users of
 * those entries (ibcore_ah_attr_pin()).  They change only in ib_modify_qp(),
 * whose callers must serialise its calls on one QP.
 *
 * Events: the provider calls qp->event_handler, which is core's qp_event(), in
 * any context.  qp_event() notifies the watch of the QP (qp_watch.c), then
 * calls the consumer's handler, ibex_qp_handler(), with the consumer's context.
 */
#include <rdma/ib_cache.h>
#include <rdma/lag.h>
#include <rdma/rw.h>

#include "device/device.h"
#include "qp/qp.h"
#include "verbs/verbs.h"

static void qp_event(struct ib_event *event, void *context)
{
	struct ib_qp *qp = event->element.qp;

	switch (event->event) {
	case IB_EVENT_QP_LAST_WQE_REACHED:
		/* ib_drain_qp() waits for this, and may be called more than once. */
		complete_all(ibex_qp_srq_completion(qp));
		break;
	case IB_EVENT_COMM_EST:
		ibcore_qp_arrived(qp, IBCORE_QP_COMM_EST);
		break;
	case IB_EVENT_PATH_MIG:
		ibcore_qp_arrived(qp, IBCORE_QP_MIGRATED);
		break;
	default:
		break;
	}
	if (ibex_qp_handler(qp))
		ibex_qp_handler(qp)(event, context);
}

static void qp_uses_add(struct ib_qp *qp, int n)
{
	if (qp->pd)
		atomic_add(n, &qp->pd->usecnt);
	if (qp->send_cq)
		atomic_add(n, &qp->send_cq->usecnt);
	if (qp->recv_cq)
		atomic_add(n, &qp->recv_cq->usecnt);
	if (qp->srq)
		atomic_add(n, &qp->srq->usecnt);
	if (qp->rwq_ind_tbl)
		atomic_add(n, &qp->rwq_ind_tbl->usecnt);
}

/**
 * ib_qp_usecnt_inc() - count a QP as a use of the objects it was created from
 * @qp: QP from ib_create_qp_user(); must be called once
 *
 * Context: any.
 */
void ib_qp_usecnt_inc(struct ib_qp *qp)
{
	qp_uses_add(qp, 1);
}
EXPORT_SYMBOL(ib_qp_usecnt_inc);

/**
 * ib_qp_usecnt_dec() - undo ib_qp_usecnt_inc()
 * @qp: QP; ib_destroy_qp_user() does this itself
 *
 * Context: any.
 */
void ib_qp_usecnt_dec(struct ib_qp *qp)
{
	qp_uses_add(qp, -1);
}
EXPORT_SYMBOL(ib_qp_usecnt_dec);

static void qp_init(struct ib_qp *qp, struct ib_device *dev, struct ib_pd *pd,
		    const struct ib_qp_init_attr *attr,
		    struct ib_uqp_object *uobj)
{
	bool target = attr->qp_type == IB_QPT_XRC_TGT;

	qp->device = dev;
	qp->real_qp = qp;
	qp->uobject = uobj;
	qp->qp_type = attr->qp_type;
	qp->port = attr->port_num;
	qp->event_handler = qp_event;
	/*
	 * A target QP gets the handler that reports to its handles in
	 * ibcore_xrc_share().  mlx5 may pass the event_handler of another QP,
	 * which is qp_event() and not a consumer's.
	 */
	if (!target && attr->event_handler != qp_event)
		ibex_qp_handler(qp) = attr->event_handler;
	qp->qp_context = target ? qp : attr->qp_context;
	/* mlx4 finds a target's PD and CQs by it, in modify_qp and destroy_qp. */
	qp->xrcd = target ? attr->xrcd : NULL;

	qp->pd = pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->rwq_ind_tbl = attr->rwq_ind_tbl;

	spin_lock_init(&qp->mr_lock);
	INIT_LIST_HEAD(&qp->rdma_mrs);
	INIT_LIST_HEAD(&qp->sig_mrs);
	INIT_LIST_HEAD(&qp->open_list);
	init_completion(ibex_qp_srq_completion(qp));
}

/*
 * Creates a QP without counting its uses.  A target QP is not in its domain yet
 * and uses neither PD nor CQs.
 */
struct ib_qp *ibcore_create_qp(struct ib_device *dev, struct ib_pd *pd,
			       struct ib_qp_init_attr *attr,
			       struct ib_udata *udata,
			       struct ib_uqp_object *uobj, const char *caller)
{
	struct ib_qp *qp;
	int ret;

	if (!dev->ops.create_qp)
		return ERR_PTR(-EOPNOTSUPP);

	qp = ibcore_qp_zalloc(dev);
	if (!qp)
		return ERR_PTR(-ENOMEM);

	qp_init(qp, dev, pd, attr, uobj);
	rdma_restrack_new(&qp->res, RDMA_RESTRACK_QP);
	rdma_restrack_set_name(&qp->res, udata ? NULL : caller);

	ret = dev->ops.create_qp(qp, attr, udata);
	if (ret) {
		rdma_restrack_put(&qp->res);
		kfree(qp);
		return ERR_PTR(ret);
	}

	if (qp->qp_type == IB_QPT_XRC_TGT) {
		qp->pd = NULL;
		qp->srq = NULL;
		qp->rwq_ind_tbl = NULL;
		qp->send_cq = NULL;
		qp->recv_cq = NULL;
	} else {
		/* For some QPs mlx4 sets these to its own CQs. */
		qp->send_cq = attr->send_cq;
		qp->recv_cq = attr->recv_cq;
	}
	rdma_restrack_add(&qp->res);
	return qp;
}

int ibcore_qp_teardown(struct ib_qp *qp, struct ib_udata *udata)
{
	int ret;

	ibcore_qp_last_probe(qp);
	rdma_restrack_begin_del(&qp->res);
	/*
	 * After hiding the QP, or netlink could bind the counter again; before
	 * destroy_qp, because unbinding needs the provider's QP.  If destroy_qp
	 * fails, the QP stays unbound, which does no harm.
	 */
	ibcore_counter_unbind_qp(qp, true);
	ret = qp->device->ops.destroy_qp(qp, udata);
	if (ret)
		rdma_restrack_abort_del(&qp->res);
	else
		ibcore_qp_watch_gone(qp);
	return ret;
}

static void qp_set_sgid(const struct ib_gid_attr **slot,
			const struct ib_gid_attr *sgid_attr)
{
	ibcore_sgid_unpin(*slot);
	*slot = sgid_attr;
}

/*
 * After ibcore_qp_teardown() no reference to the QP remains: (1) its owner gave
 * it up; (2) resource tracking waited for its readers; (3) qp->usecnt was 0;
 * (4) the provider raises no event and no completion after destroy_qp.
 */
void ibcore_qp_free(struct ib_qp *qp)
{
	/* Not before: only now no work request can use the MRs any more. */
	rdma_rw_cleanup_mrs(qp);
	qp_set_sgid(&qp->av_sgid_attr, NULL);
	qp_set_sgid(&qp->alt_path_sgid_attr, NULL);
	rdma_restrack_commit_del(&qp->res);
	kfree(qp);
}

static struct ib_qp *qp_create_handle(struct ib_device *dev, struct ib_pd *pd,
				      struct ib_qp_init_attr *attr,
				      struct ib_udata *udata,
				      struct ib_uqp_object *uobj,
				      const char *caller)
{
	struct ib_qp *qp, *handle;

	if (!attr->xrcd)
		return ERR_PTR(-EINVAL);

	qp = ibcore_create_qp(dev, pd, attr, udata, uobj, caller);
	if (IS_ERR(qp))
		return qp;

	handle = ibcore_xrc_share(qp, attr);
	if (IS_ERR(handle) && !WARN_ON(ibcore_qp_teardown(qp, NULL)))
		ibcore_qp_free(qp);
	return handle;
}

/**
 * ib_create_qp_user() - create a QP for a process
 * @dev: device
 * @pd: protection domain; NULL for IB_QPT_XRC_TGT
 * @attr: attributes; the provider sets the sizes to those granted
 * @udata: the process's data
 * @uobj: the process's object
 * @caller: name of the owner if that is not the current process, or NULL
 *
 * The caller must count the QP's uses with ib_qp_usecnt_inc().  For
 * IB_QPT_XRC_TGT this returns a handle.  IBA vol. 1, 11.2.4.1; annex A14.
 *
 * Context: process, may sleep.
 * Return: the QP, or ERR_PTR: -EINVAL, -EOPNOTSUPP, -ENOMEM or the provider's
 * error.
 */
struct ib_qp *ib_create_qp_user(struct ib_device *dev, struct ib_pd *pd,
				struct ib_qp_init_attr *attr,
				struct ib_udata *udata,
				struct ib_uqp_object *uobj, const char *caller)
{
	if (attr->qp_type == IB_QPT_XRC_TGT)
		return qp_create_handle(dev, pd, attr, udata, uobj, caller);
	return ibcore_create_qp(dev, pd, attr, udata, uobj, caller);
}
EXPORT_SYMBOL(ib_create_qp_user);

static int qp_check_kernel_attr(const struct ib_device *dev,
				const struct ib_qp_init_attr *attr)
{
	if (attr->qp_type == IB_QPT_XRC_TGT)
		return -EINVAL;		/* for processes only */
	if (attr->rwq_ind_tbl &&
	    (attr->recv_cq || attr->srq || attr->cap.max_recv_wr ||
	     attr->cap.max_recv_sge))
		return -EINVAL;
	if (attr->create_flags & IB_QP_CREATE_INTEGRITY_EN &&
	    !(dev->attrs.kernel_cap_flags & IBK_INTEGRITY_HANDOVER))
		return -EOPNOTSUPP;
	return 0;
}

static void qp_set_rw_limits(struct ib_qp *qp,
			     const struct ib_qp_init_attr *attr)
{
	/*
	 * All providers limit max_send_sge to what RDMA WRITE supports, but not
	 * all limit it to what RDMA READ supports.
	 */
	qp->max_write_sge = attr->cap.max_send_sge;
	qp->max_read_sge = min_t(u32, attr->cap.max_send_sge,
				 qp->device->attrs.max_sge_rd);
	qp->integrity_en = attr->create_flags & IB_QP_CREATE_INTEGRITY_EN;
}

/**
 * ib_create_qp_kernel() - create a QP for the kernel
 * @pd: protection domain
 * @qp_init_attr: attributes; the provider sets the sizes to those granted.  If
 *	cap.max_rdma_ctxs is set, the QP is prepared for the rdma_rw API
 * @caller: name of the module that owns the QP; must outlive the QP
 *
 * IBA vol. 1, 11.2.4.1.
 *
 * Context: process, may sleep.
 * Return: the QP, or ERR_PTR: -EINVAL, -EOPNOTSUPP, -ENOMEM or the provider's
 * error.
 */
struct ib_qp *ib_create_qp_kernel(struct ib_pd *pd,
				  struct ib_qp_init_attr *qp_init_attr,
				  const char *caller)
{
	struct ib_device *dev = pd->device;
	struct ib_qp *qp;
	int ret;

	ret = qp_check_kernel_attr(dev, qp_init_attr);
	if (ret)
		return ERR_PTR(ret);
	if (qp_init_attr->cap.max_rdma_ctxs)
		rdma_rw_init_qp(dev, qp_init_attr);

	qp = ibcore_create_qp(dev, pd, qp_init_attr, NULL, NULL, caller);
	if (IS_ERR(qp))
		return qp;

	ib_qp_usecnt_inc(qp);
	qp_set_rw_limits(qp, qp_init_attr);
	if (qp_init_attr->cap.max_rdma_ctxs) {
		ret = rdma_rw_init_mrs(qp, qp_init_attr);
		if (ret) {
			ib_destroy_qp(qp);
			return ERR_PTR(ret);
		}
	}
	return qp;
}
EXPORT_SYMBOL(ib_create_qp_kernel);

static bool qp_is_connected(const struct ib_qp *qp)
{
	return BIT(qp->qp_type) & (BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
				   BIT(IB_QPT_XRC_INI) | BIT(IB_QPT_XRC_TGT));
}

/*
 * Makes @attr own its source GID and, for RoCE, sets the MAC and the slave to
 * send by.
 */
static int qp_pin_path(struct ib_qp *qp, struct ib_qp_attr *attr,
		       struct ib_udata *udata)
{
	struct rdma_ah_attr *path = &attr->ah_attr;
	struct net_device *slave;
	int ret;

	ret = ibcore_ah_attr_pin(qp->device, path);
	if (ret)
		return ret;
	if (path->type != RDMA_AH_ATTR_TYPE_ROCE || !qp_is_connected(qp))
		return 0;

	/* ULPs set the MAC that route resolution found. */
	if (udata) {
		ret = ibcore_ah_resolve_dmac(qp->device, path);
		if (ret)
			goto unpin;
	}

	slave = rdma_lag_get_ah_roce_slave(qp->device, path, GFP_KERNEL);
	if (IS_ERR(slave)) {
		ret = PTR_ERR(slave);
		goto unpin;
	}
	attr->xmit_slave = slave;
	return 0;

unpin:
	ibcore_ah_attr_unpin(path);
	return ret;
}

/* Only InfiniBand has automatic path migration (IBA vol. 1, 17.2.8). */
static int qp_pin_alt_path(struct ib_qp *qp, struct ib_qp_attr *attr, u32 port)
{
	struct ib_device *dev = qp->device;
	int ret;

	ret = ibcore_ah_attr_pin(dev, &attr->alt_ah_attr);
	if (ret)
		return ret;

	if (rdma_is_port_valid(dev, port) && rdma_protocol_ib(dev, port) &&
	    rdma_protocol_ib(dev, attr->alt_ah_attr.port_num))
		return 0;
	ibcore_ah_attr_unpin(&attr->alt_ah_attr);
	return -EINVAL;
}

static void qp_mask_psn(struct ib_qp *qp, const char *which, u32 *psn)
{
	if (!(*psn & ~IB_QPN_MASK))
		return;
	ibdev_warn_ratelimited(qp->device, "QP %#x: %s PSN %#x of 24 bits\n",
			       qp->qp_num, which, *psn);
	*psn &= IB_QPN_MASK;
}

static void qp_apply_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT)
		qp->port = attr->port_num;
	if (mask & IB_QP_AV) {
		qp_set_sgid(&qp->av_sgid_attr, attr->ah_attr.grh.sgid_attr);
		attr->ah_attr.grh.sgid_attr = NULL;
	}
	if (mask & IB_QP_ALT_PATH) {
		qp_set_sgid(&qp->alt_path_sgid_attr,
			    attr->alt_ah_attr.grh.sgid_attr);
		attr->alt_ah_attr.grh.sgid_attr = NULL;
	}
	ibcore_qp_psn_note(qp, attr, mask);
	/* After a reset the QP can reach its last WQE again. */
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		reinit_completion(ibex_qp_srq_completion(qp));
}

/* @attr owns its GIDs; the caller unpins those that the QP does not take over. */
static int qp_modify_pinned(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			    u32 port, struct ib_udata *udata)
{
	const int to_init = IB_QP_STATE | IB_QP_PORT;
	bool reset = mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET;
	u32 psn_note = 0;
	int ret;

	if (mask & (IB_QP_RQ_PSN | IB_QP_SQ_PSN) &&
	    rdma_is_port_valid(qp->device, port) &&
	    rdma_ib_or_roce(qp->device, port)) {
		if (mask & IB_QP_RQ_PSN)
			qp_mask_psn(qp, "receive", &attr->rq_psn);
		if (mask & IB_QP_SQ_PSN)
			qp_mask_psn(qp, "send", &attr->sq_psn);
	}

	/*
	 * Counters belong to a port, and a QP gets its port when it is moved to
	 * Init.
	 */
	if (!qp->counter && (mask & to_init) == to_init &&
	    attr->qp_state == IB_QPS_INIT)
		ibcore_counter_bind_qp_auto(qp, port);

	/*
	 * In Reset or Error the QP may no longer show what it has received:
	 * probe it before.
	 */
	if (reset || (mask & IB_QP_STATE && attr->qp_state == IB_QPS_ERR))
		ibcore_qp_last_probe(qp);
	if (reset)
		psn_note = ibcore_qp_psn_forget(qp);
	ret = qp->device->ops.modify_qp(qp, attr, mask, udata);
	if (!ret)
		qp_apply_modify(qp, attr, mask);
	else if (reset)
		ibcore_qp_psn_restore(qp, psn_note);
	return ret;
}

static int qp_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	u32 port = mask & IB_QP_PORT ? attr->port_num : qp->port;
	const struct ib_gid_attr *sgid_attr = NULL, *alt = NULL;
	int ret;

	if (!qp->device->ops.modify_qp)
		return -EOPNOTSUPP;
	if (mask & IB_QP_PORT && !rdma_is_port_valid(qp->device, port))
		return -EINVAL;

	attr->xmit_slave = NULL;
	if (mask & IB_QP_AV) {
		sgid_attr = attr->ah_attr.grh.sgid_attr;
		ret = qp_pin_path(qp, attr, udata);
		if (ret)
			goto restore;
	}
	if (mask & IB_QP_ALT_PATH) {
		alt = attr->alt_ah_attr.grh.sgid_attr;
		ret = qp_pin_alt_path(qp, attr, port);
		if (ret)
			goto unpin;
	}

	ret = qp_modify_pinned(qp, attr, mask, port, udata);

	if (mask & IB_QP_ALT_PATH)
		ibcore_ah_attr_unpin(&attr->alt_ah_attr);
unpin:
	if (mask & IB_QP_ALT_PATH)
		attr->alt_ah_attr.grh.sgid_attr = alt;
	if (mask & IB_QP_AV) {
		ibcore_ah_attr_unpin(&attr->ah_attr);
		rdma_lag_put_ah_roce_slave(attr->xmit_slave);
		attr->xmit_slave = NULL;
	}
restore:
	/* Restore the caller's pointers, whose references the caller has kept. */
	if (mask & IB_QP_AV)
		attr->ah_attr.grh.sgid_attr = sgid_attr;
	return ret;
}

/**
 * ib_modify_qp_with_udata() - modify a QP for a process
 * @ib_qp: QP, or handle of a target QP
 * @attr: new values; PSNs and QP numbers are in host byte order.  A RoCE
 *	destination MAC is resolved if @udata is given
 * @attr_mask: enum ib_qp_attr_mask, which of the values to set
 * @udata: the process's data, or NULL
 *
 * IBA vol. 1, 11.2.4.2.
 *
 * Context: process, may sleep; one call at a time on a QP.
 * Return: 0, -EINVAL, an error of address resolution or the provider's; on
 * error the QP is unchanged.
 */
int ib_modify_qp_with_udata(struct ib_qp *ib_qp, struct ib_qp_attr *attr,
			    int attr_mask, struct ib_udata *udata)
{
	return qp_modify(ib_qp->real_qp, attr, attr_mask, udata);
}
EXPORT_SYMBOL(ib_modify_qp_with_udata);

/**
 * ib_modify_qp() - modify a QP
 * @qp: QP, or handle of a target QP
 * @qp_attr: new values; PSNs and QP numbers are in host byte order, a RoCE
 *	address has its destination MAC
 * @qp_attr_mask: enum ib_qp_attr_mask, which of the values to set
 *
 * IBA vol. 1, 11.2.4.2.
 *
 * Context: process, may sleep; one call at a time on a QP.
 * Return: 0, -EINVAL or the provider's error; on error the QP is unchanged.
 */
int ib_modify_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask)
{
	return qp_modify(qp->real_qp, qp_attr, qp_attr_mask, NULL);
}
EXPORT_SYMBOL(ib_modify_qp);

/**
 * ib_query_qp() - query the attributes of a QP
 * @qp: QP, or handle of a target QP
 * @qp_attr: set to its attributes; the addresses hold no references
 * @qp_attr_mask: which attributes are requested; others may be set too
 * @qp_init_attr: set to what it was created with
 *
 * IBA vol. 1, 11.2.4.3.
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask,
		struct ib_qp_init_attr *qp_init_attr)
{
	struct ib_qp *real = qp->real_qp;

	qp_attr->ah_attr.grh.sgid_attr = NULL;
	qp_attr->alt_ah_attr.grh.sgid_attr = NULL;
	if (!real->device->ops.query_qp)
		return -EOPNOTSUPP;
	return real->device->ops.query_qp(real, qp_attr, qp_attr_mask,
					  qp_init_attr);
}
EXPORT_SYMBOL(ib_query_qp);

/**
 * ib_destroy_qp_user() - destroy a QP
 * @qp: QP, or handle of a target QP, which is destroyed with its last handle.
 *	Must not be called from its event handler
 * @udata: the process's data, NULL for the kernel's QPs
 *
 * IBA vol. 1, 11.2.4.4.
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY while the QP is attached to a multicast group or a flow, or
 * the provider's error; on error the QP still exists.
 */
int ib_destroy_qp_user(struct ib_qp *qp, struct ib_udata *udata)
{
	int ret;

	if (qp->real_qp != qp)
		return ibcore_xrc_close(qp);

	WARN_ON_ONCE(qp->mrs_used > 0);
	if (atomic_read(&qp->usecnt))
		return -EBUSY;

	ret = ibcore_qp_teardown(qp, udata);
	if (ret)
		return ret;

	ib_qp_usecnt_dec(qp);
	ibcore_qp_free(qp);
	return 0;
}
EXPORT_SYMBOL(ib_destroy_qp_user);
