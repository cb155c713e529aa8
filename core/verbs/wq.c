// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Work queues: receive queues that several QPs share through RSS. */
#include "core.h"

/**
 * ib_create_wq() - create a work queue
 * @pd: protection domain
 * @wq_attr: attributes; max_wr and max_sge return what was granted
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
 * Return: 0, -EBUSY if it is in use, or the provider's error; unless 0 the
 * queue is as before.
 */
int ib_destroy_wq_user(struct ib_wq *wq, struct ib_udata *udata)
{
	struct ib_pd *pd = wq->pd;
	struct ib_cq *cq = wq->cq;
	int ret;

	if (atomic_read(&wq->usecnt))
		return -EBUSY;

	ret = wq->device->ops.destroy_wq(wq, udata);	/* frees it */
	if (ret)
		return ret;

	atomic_dec(&cq->usecnt);
	atomic_dec(&pd->usecnt);
	return 0;
}
EXPORT_SYMBOL(ib_destroy_wq_user);
