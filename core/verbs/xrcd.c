// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * XRC domains and the handles of their target QPs (IBA vol. 1, annex A14).
 *
 * A target QP (the real QP) uses neither a PD nor CQs; processes refer to it by
 * handles, each a struct ib_qp whose real_qp points to it.  real->usecnt counts
 * the handles, real->open_list lists them.  Closing the last handle destroys
 * the real QP.  The real QP counts as a use of its domain for as long as it is
 * in the domain's table.
 *
 * Locks: xrcd->tgt_qps_rwsem serialises opening against closing, and with them
 * changes of usecnt.  open_list is modified under device->qp_open_list_lock,
 * which nests in the rwsem, and read under RCU, because events arrive in any
 * context.  A handle's event handler runs under the handle's own lock; closing
 * the handle takes that lock to wait for the handler and to prevent further
 * calls.
 */
#include <linux/rculist.h>

#include "device/device.h"
#include "qp/qp.h"
#include "verbs/verbs.h"

struct xrc_handle {
	struct ib_qp qp;
	spinlock_t lock;	/* held while the event handler runs; any context */
	bool closed;		/* protected by lock; no more events */
	struct rcu_head rcu;
};

static struct xrc_handle *to_xrc_handle(struct ib_qp *handle)
{
	return container_of(handle, struct xrc_handle, qp);
}

/* Allocates a zeroed domain with room for what core keeps of it. */
static struct ib_xrcd *xrcd_zalloc(struct ib_device *dev)
{
	size_t size = ALIGN(dev->ops.size_ib_xrcd, __alignof__(struct ibcore_xrcd)) +
		      sizeof(struct ibcore_xrcd);

	return rdma_zalloc_obj(dev, size, GFP_KERNEL, false);
}

/**
 * ib_alloc_xrcd_user() - allocate an XRC domain
 * @device: device
 * @inode: file by which other processes find the domain, or NULL
 * @udata: the process's data
 *
 * Context: process, may sleep.
 * Return: the domain, or ERR_PTR: -EOPNOTSUPP, -ENOMEM or the provider's error.
 */
struct ib_xrcd *ib_alloc_xrcd_user(struct ib_device *device,
				   struct inode *inode, struct ib_udata *udata)
{
	struct ib_xrcd *xrcd;
	int ret;

	if (!device->ops.alloc_xrcd)
		return ERR_PTR(-EOPNOTSUPP);
	xrcd = xrcd_zalloc(device);
	if (!xrcd)
		return ERR_PTR(-ENOMEM);

	xa_init(&xrcd->tgt_qps);
	init_rwsem(&xrcd->tgt_qps_rwsem);
	xrcd->inode = inode;
	xrcd->device = device;
	ibcore_xrc_rcv_init(xrcd);
	ret = device->ops.alloc_xrcd(xrcd, udata);
	if (!ret)
		return xrcd;
	kfree(xrcd);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_alloc_xrcd_user);

/**
 * ib_dealloc_xrcd_user() - free an XRC domain
 * @xrcd: domain
 * @udata: the process's data
 *
 * Its receive QPs go with it (xrc_rcv.c), unless the close is refused before
 * they were destroyed.
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY while target QPs or SRQs use the domain, which is then
 * unchanged, or the provider's error; then the domain still exists, with the
 * receive QPs that the provider refused to destroy or was not yet asked to.
 */
int ib_dealloc_xrcd_user(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	int ret;

	if (atomic_read(&xrcd->usecnt))
		return -EBUSY;

	ret = ibcore_xrc_rcv_destroy_all(xrcd);
	if (!ret)
		ret = xrcd->device->ops.dealloc_xrcd(xrcd, udata);
	if (ret)
		return ret;

	WARN_ON(!xa_empty(&xrcd->tgt_qps));
	xa_destroy(&xrcd->tgt_qps);
	kfree(xrcd);
	return 0;
}
EXPORT_SYMBOL(ib_dealloc_xrcd_user);

/* Reports a copy of @event in which the QP is @handle. */
static void xrc_handle_event(struct ib_qp *handle, struct ib_event event)
{
	struct xrc_handle *xh = to_xrc_handle(handle);
	unsigned long flags;

	event.element.qp = handle;
	spin_lock_irqsave(&xh->lock, flags);
	if (!xh->closed && handle->event_handler)
		handle->event_handler(&event, handle->qp_context);
	spin_unlock_irqrestore(&xh->lock, flags);
}

/* Reports an event of the real QP to each handle. */
static void xrc_event(struct ib_event *event, void *context)
{
	struct ib_qp *real = context;
	struct ib_qp *handle;

	rcu_read_lock();
	list_for_each_entry_rcu(handle, &real->open_list, open_list)
		xrc_handle_event(handle, *event);
	rcu_read_unlock();
}

static struct ib_qp *xrc_handle_alloc(struct ib_qp *real,
				      void (*handler)(struct ib_event *, void *),
				      void *context)
{
	struct xrc_handle *xh;
	struct ib_qp *handle;

	xh = kzalloc(sizeof(*xh), GFP_KERNEL);
	if (!xh)
		return NULL;

	spin_lock_init(&xh->lock);
	handle = &xh->qp;
	handle->device = real->device;
	handle->real_qp = real;
	handle->xrcd = real->xrcd;
	handle->qp_num = real->qp_num;
	handle->qp_type = real->qp_type;
	handle->event_handler = handler;
	handle->qp_context = context;
	return handle;
}

static void xrc_handle_link(struct ib_qp *handle)
{
	struct ib_qp *real = handle->real_qp;
	unsigned long flags;

	lockdep_assert_held(&real->xrcd->tgt_qps_rwsem);
	atomic_inc(&real->usecnt);
	spin_lock_irqsave(&real->device->qp_open_list_lock, flags);
	list_add_rcu(&handle->open_list, &real->open_list);
	spin_unlock_irqrestore(&real->device->qp_open_list_lock, flags);
}

static void xrc_handle_unlink(struct ib_qp *handle)
{
	struct ib_qp *real = handle->real_qp;
	unsigned long flags;

	lockdep_assert_held_write(&real->xrcd->tgt_qps_rwsem);
	spin_lock_irqsave(&real->device->qp_open_list_lock, flags);
	list_del_rcu(&handle->open_list);
	spin_unlock_irqrestore(&real->device->qp_open_list_lock, flags);
	atomic_dec(&real->usecnt);
}

struct ib_qp *ibcore_xrc_share(struct ib_qp *real,
			       const struct ib_qp_init_attr *attr)
{
	struct ib_xrcd *xrcd = attr->xrcd;
	struct ib_qp *handle;
	int ret;

	handle = xrc_handle_alloc(real, attr->event_handler, attr->qp_context);
	if (!handle)
		return ERR_PTR(-ENOMEM);
	handle->xrcd = xrcd;
	handle->uobject = real->uobject;

	down_write(&xrcd->tgt_qps_rwsem);
	ret = xa_insert(&xrcd->tgt_qps, real->qp_num, real, GFP_KERNEL);
	if (!ret) {
		/* Nothing can fail from here on. */
		atomic_inc(&xrcd->usecnt);
		real->xrcd = xrcd;
		real->qp_context = real;
		ibex_qp_handler(real) = xrc_event;
		xrc_handle_link(handle);
	}
	up_write(&xrcd->tgt_qps_rwsem);

	if (ret) {
		kfree(to_xrc_handle(handle));
		return ERR_PTR(ret);
	}
	return handle;
}

/*
 * Waits for the handle's event handler.  The handler is not called again, even
 * if an event still finds the handle in the list.
 */
static void xrc_handle_mute(struct ib_qp *handle)
{
	struct xrc_handle *xh = to_xrc_handle(handle);
	unsigned long flags;

	spin_lock_irqsave(&xh->lock, flags);
	xh->closed = true;
	spin_unlock_irqrestore(&xh->lock, flags);
}

/*
 * The last close destroys the real QP first, while the rwsem prevents opening
 * it: if that fails, handle and domain are unchanged.  Then no reference to the
 * handle remains: (1) each open makes a handle of its own; (2) the handle was
 * removed from the list; (3) its event handler has returned once the handle is
 * mute, and an event that found the handle in the list reads only what the
 * handle's lock protects and the list's next pointer, for which the handle is
 * freed a grace period later; (4) its owner calls this.  And no reference to
 * the real QP remains: (1) it was removed from the table under the rwsem; (2)
 * usecnt is 0, so there is no handle; (3) the provider raises no event after
 * its destroy_qp.
 */
int ibcore_xrc_close(struct ib_qp *handle)
{
	struct ib_qp *real = handle->real_qp;
	struct ib_xrcd *xrcd = real->xrcd;
	bool last;
	int ret;

	down_write(&xrcd->tgt_qps_rwsem);
	last = atomic_read(&real->usecnt) == 1;
	if (last) {
		/* No user data: mlx5 has none of a target, and would use it. */
		ret = ibcore_qp_teardown(real, NULL);
		if (ret) {
			up_write(&xrcd->tgt_qps_rwsem);
			return ret;
		}
		xa_erase(&xrcd->tgt_qps, real->qp_num);
	}
	xrc_handle_unlink(handle);
	up_write(&xrcd->tgt_qps_rwsem);

	xrc_handle_mute(handle);
	kfree_rcu(to_xrc_handle(handle), rcu);
	if (last) {
		ibcore_qp_free(real);
		atomic_dec(&xrcd->usecnt);
	}
	return 0;
}

/**
 * ib_open_qp() - open a target QP of an XRC domain
 * @xrcd: domain
 * @qp_open_attr: number and type of the QP, event handler and its context
 *
 * Context: process, may sleep.
 * Return: a handle, for ib_close_qp() or ib_destroy_qp_user(), or ERR_PTR:
 * -EINVAL if the domain has no such QP, -ENOMEM.
 */
struct ib_qp *ib_open_qp(struct ib_xrcd *xrcd,
			 struct ib_qp_open_attr *qp_open_attr)
{
	struct ib_qp *real, *handle;

	if (qp_open_attr->qp_type != IB_QPT_XRC_TGT)
		return ERR_PTR(-EINVAL);

	down_read(&xrcd->tgt_qps_rwsem);
	real = xa_load(&xrcd->tgt_qps, qp_open_attr->qp_num);
	if (!real) {
		handle = ERR_PTR(-EINVAL);
		goto out;
	}

	handle = xrc_handle_alloc(real, qp_open_attr->event_handler,
				  qp_open_attr->qp_context);
	if (handle)
		xrc_handle_link(handle);
	else
		handle = ERR_PTR(-ENOMEM);
out:
	up_read(&xrcd->tgt_qps_rwsem);
	return handle;
}
EXPORT_SYMBOL(ib_open_qp);

/**
 * ib_close_qp() - close a handle of a target QP
 * @qp: handle from ib_open_qp(); must not be called from its event handler
 *
 * Closing its last handle destroys the QP.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL if @qp is not a handle, or the provider's error, in which
 * case the handle is still open.
 */
int ib_close_qp(struct ib_qp *qp)
{
	if (qp->real_qp == qp)
		return -EINVAL;
	return ibcore_xrc_close(qp);
}
EXPORT_SYMBOL(ib_close_qp);
