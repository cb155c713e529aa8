// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Receive queues without a QP of their own: SRQs (IBA vol. 1, 10.2.9, 11.2.3) and WQs. */
#include "device/device.h"

static void srq_uses_add(struct ib_srq *srq, int n)
{
	atomic_add(n, &srq->pd->usecnt);
	if (ib_srq_has_cq(srq->srq_type) && srq->ext.cq)
		atomic_add(n, &srq->ext.cq->usecnt);
	if (srq->srq_type == IB_SRQT_XRC && srq->ext.xrc.xrcd)
		atomic_add(n, &srq->ext.xrc.xrcd->usecnt);
}

/**
 * ib_create_srq_user() - create a shared receive queue
 * @pd: protection domain
 * @srq_init_attr: attributes; the provider sets the sizes to those granted
 * @uobject: the process's object, NULL for the kernel's SRQs
 * @udata: the process's data, NULL for the kernel's SRQs
 *
 * Context: process, may sleep.
 * Return: the SRQ, or ERR_PTR: -EOPNOTSUPP, -ENOMEM or the provider's error.
 */
struct ib_srq *ib_create_srq_user(struct ib_pd *pd,
				  struct ib_srq_init_attr *srq_init_attr,
				  struct ib_usrq_object *uobject,
				  struct ib_udata *udata)
{
	struct ib_device *dev = pd->device;
	struct ib_srq *srq;
	int ret;

	if (!dev->ops.create_srq)
		return ERR_PTR(-EOPNOTSUPP);

	srq = rdma_zalloc_drv_obj(dev, ib_srq);
	if (!srq)
		return ERR_PTR(-ENOMEM);

	srq->device = dev;
	srq->pd = pd;
	srq->uobject = uobject;
	srq->event_handler = srq_init_attr->event_handler;
	srq->srq_context = srq_init_attr->srq_context;
	srq->srq_type = srq_init_attr->srq_type;
	if (ib_srq_has_cq(srq->srq_type))
		srq->ext.cq = srq_init_attr->ext.cq;
	if (srq->srq_type == IB_SRQT_XRC)
		srq->ext.xrc.xrcd = srq_init_attr->ext.xrc.xrcd;

	rdma_restrack_new(&srq->res, RDMA_RESTRACK_SRQ);
	rdma_restrack_parent_name(&srq->res, &pd->res);
	ret = dev->ops.create_srq(srq, srq_init_attr, udata);
	if (ret) {
		rdma_restrack_put(&srq->res);
		kfree(srq);
		return ERR_PTR(ret);
	}

	srq_uses_add(srq, 1);
	rdma_restrack_add(&srq->res);
	return srq;
}
EXPORT_SYMBOL(ib_create_srq_user);

/**
 * ib_modify_srq() - resize a shared receive queue or arm its limit event
 * @srq: kernel SRQ
 * @srq_attr: new values
 * @srq_attr_mask: which of the values to set
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int ib_modify_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr,
		  enum ib_srq_attr_mask srq_attr_mask)
{
	const struct ib_device_ops *ops = &srq->device->ops;

	if (!ops->modify_srq)
		return -EOPNOTSUPP;
	return ops->modify_srq(srq, srq_attr, srq_attr_mask, NULL);
}
EXPORT_SYMBOL(ib_modify_srq);

/**
 * ib_query_srq() - query the attributes of a shared receive queue
 * @srq: SRQ
 * @srq_attr: set to its attributes
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr)
{
	int (*query)(struct ib_srq *srq, struct ib_srq_attr *attr) =
		srq->device->ops.query_srq;

	return query ? query(srq, srq_attr) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_query_srq);

/* The provider's part of the destruction.  If it fails, the SRQ is unchanged. */
static int srq_teardown(struct ib_srq *srq, struct ib_udata *udata)
{
	int ret;

	rdma_restrack_begin_del(&srq->res);
	ret = srq->device->ops.destroy_srq(srq, udata);
	if (ret)
		rdma_restrack_abort_del(&srq->res);
	return ret;
}

/*
 * No reference remains: (1) no QP uses the SRQ: its usecnt was 0; (2) resource
 * tracking waited for its readers; (3) the provider raises no more events.
 */
static void srq_free(struct ib_srq *srq)
{
	rdma_restrack_commit_del(&srq->res);
	srq_uses_add(srq, -1);
	kfree(srq);
}

/**
 * ib_destroy_srq_user() - destroy a shared receive queue
 * @srq: SRQ that no QP uses
 * @udata: the process's data, NULL for the kernel's SRQs
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY if the SRQ is in use, or the provider's error; on error the
 * SRQ is unchanged.
 */
int ib_destroy_srq_user(struct ib_srq *srq, struct ib_udata *udata)
{
	int ret = -EBUSY;

	if (!atomic_read(&srq->usecnt))
		ret = srq_teardown(srq, udata);
	if (!ret)
		srq_free(srq);
	return ret;
}
EXPORT_SYMBOL(ib_destroy_srq_user);

/* Work queues, which several QPs share through RSS (ibv_create_wq(3)). */

/**
 * ib_create_wq() - create a work queue
 * @pd: protection domain
 * @wq_attr: attributes; the provider sets max_wr and max_sge to those granted
 *
 * Context: process, may sleep.
 * Return: the queue, or ERR_PTR: -EOPNOTSUPP or the provider's error.
 */
struct ib_wq *ib_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *wq_attr)
{
	struct ib_device *dev = pd->device;
	struct ib_wq *wq = ERR_PTR(-EOPNOTSUPP);

	if (dev->ops.create_wq)
		wq = dev->ops.create_wq(pd, wq_attr, NULL);
	if (IS_ERR(wq))
		return wq;

	atomic_set(&wq->usecnt, 0);
	wq->device = dev;
	wq->uobject = NULL;
	wq->event_handler = wq_attr->event_handler;
	wq->wq_context = wq_attr->wq_context;
	wq->wq_type = wq_attr->wq_type;

	wq->pd = pd;
	atomic_inc(&pd->usecnt);
	wq->cq = wq_attr->cq;
	atomic_inc(&wq->cq->usecnt);
	return wq;
}
EXPORT_SYMBOL(ib_create_wq);

/**
 * ib_destroy_wq_user() - destroy a work queue
 * @wq: queue that no QP uses
 * @udata: the process's data, NULL for the kernel's queues
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY if the queue is in use, or the provider's error; on error
 * the queue is unchanged.
 */
int ib_destroy_wq_user(struct ib_wq *wq, struct ib_udata *udata)
{
	struct ib_pd *pd = wq->pd;
	struct ib_cq *cq = wq->cq;
	int ret;

	if (atomic_read(&wq->usecnt))
		return -EBUSY;

	ret = wq->device->ops.destroy_wq(wq, udata);	/* frees @wq */
	if (ret)
		return ret;

	atomic_dec(&cq->usecnt);
	atomic_dec(&pd->usecnt);
	return 0;
}
EXPORT_SYMBOL(ib_destroy_wq_user);
