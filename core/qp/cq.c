// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues (IBA vol. 1, 10.2.6, 11.2.6).
 *
 * A CQ is polled by its owner (__ib_create_cq()) or by core (__ib_alloc_cq()),
 * in one of the contexts of cq_pollers[].  Core calls the done method of each
 * completion's wr_cqe, one at a time for each CQ, and arms the CQ when it is
 * empty.  If arming reports completions that arrived in between, core polls
 * those first.
 */
#include <linux/dim.h>
#include <linux/irq_poll.h>
#include <trace/events/rdma_core.h>
#include <ibex/compat/updates.h>

#include "device/device.h"
#include "qp/qp.h"

#define CQ_BATCH		16	/* completions fetched at once to cq->wc */
#define CQ_BATCH_DIRECT		8	/* the same for a direct poller, on its stack */
#define CQ_BUDGET_SOFTIRQ	256
#define CQ_BUDGET_WORKQUEUE	65536

#define CQ_ARM_FLAGS	(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS)

/* Polling state of a CQ that core polls; cq->wc points to its array wc. */
struct cq_batch {
	spinlock_t tail;	/* held by a softirq poll from irq_poll_complete() on */
	atomic_t awaited;	/* counts watches of QPs that receive here; qp_watch.c */
	struct ib_wc wc[CQ_BATCH];
};

static struct cq_batch *cq_batch(struct ib_cq *cq)
{
	return container_of(cq->wc, struct cq_batch, wc[0]);
}

/* Moderation steps for DIM: from lowest latency to fewest events. */
static const struct dim_cq_moder cq_dim_profiles[] = {
	{ .usec = 1,  .comps = 1 },
	{ .usec = 1,  .comps = 4 },
	{ .usec = 2,  .comps = 4 },
	{ .usec = 2,  .comps = 8 },
	{ .usec = 4,  .comps = 8 },
	{ .usec = 8,  .comps = 8 },
	{ .usec = 16, .comps = 16 },
	{ .usec = 32, .comps = 16 },
	{ .usec = 32, .comps = 32 },
};

static_assert(ARRAY_SIZE(cq_dim_profiles) == RDMA_DIM_PARAMS_NUM_PROFILES);

static void cq_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	const struct dim_cq_moder *moder = &cq_dim_profiles[dim->profile_ix];
	struct ib_cq *cq = dim->priv;

	dim->state = DIM_START_MEASURE;
	trace_cq_modify(cq, moder->comps, moder->usec);
	cq->device->ops.modify_cq(cq, moder->comps, moder->usec);
}

/* If the allocation fails, the CQ is just not moderated. */
static void cq_dim_init(struct ib_cq *cq)
{
	struct ib_device *dev = cq->device;

	if (!dev->use_cq_dim || !dev->ops.modify_cq)
		return;

	cq->dim = kmalloc(sizeof(*cq->dim), GFP_KERNEL);
	if (!cq->dim)
		return;
	*cq->dim = (struct dim) {
		.priv = cq,
		.profile_ix = RDMA_DIM_START_PROFILE,
		.tune_state = DIM_GOING_RIGHT,
		.state = DIM_START_MEASURE,
	};
	INIT_WORK(&cq->dim->work, cq_dim_work);
}

/* Called after polling has stopped, because polling queues the work. */
static void cq_dim_exit(struct ib_cq *cq)
{
	if (!cq->dim)
		return;
	cancel_work_sync(&cq->dim->work);
	kfree(cq->dim);
	cq->dim = NULL;
}

static void cq_complete(struct ib_cq *cq, struct ib_wc *wc, int n)
{
	for (; n > 0; n--, wc++) {
		if (wc->wr_cqe)
			wc->wr_cqe->done(cq, wc);
		else
			/*
			 * The request was posted unsignalled: it completes only
			 * if it fails.
			 */
			WARN_ON_ONCE(wc->status == IB_WC_SUCCESS);
	}
}

/*
 * A CQ of __ib_create_cq() that its owner polls with ib_process_cq_direct() has
 * no batch.
 */
static bool cq_is_awaited(struct ib_cq *cq)
{
	return cq->wc && unlikely(atomic_read(&cq_batch(cq)->awaited));
}

/* Polls up to @budget completions, or all if it is -1; returns how many it polled. */
static int cq_process(struct ib_cq *cq, int budget, struct ib_wc *wcs,
		      int batch)
{
	int done = 0;
	int want, n;

	trace_cq_process(cq);
	do {
		want = budget < 0 ? batch : min(batch, budget - done);
		n = ib_poll_cq(cq, want, wcs);
		trace_cq_poll(cq, want, n);
		if (cq_is_awaited(cq))
			ibcore_qp_received(wcs, n);
		cq_complete(cq, wcs, n);
		if (n > 0)
			done += n;
	} while (n == want && done != budget);
	return done;
}

/**
 * ib_process_cq_direct() - poll a CQ in the caller's context
 * @cq: CQ from __ib_alloc_cq()
 * @budget: maximum number of completions to poll, or -1 for all there are
 *
 * The CQ is not armed.  The caller must not process a CQ's completions
 * concurrently unless their done methods allow that.
 *
 * Context: any that the done methods allow.
 * Return: the number of completions processed.
 */
int ib_process_cq_direct(struct ib_cq *cq, int budget)
{
	struct ib_wc wcs[CQ_BATCH_DIRECT];

	return cq_process(cq, budget, wcs, ARRAY_SIZE(wcs));
}
EXPORT_SYMBOL(ib_process_cq_direct);

static void cq_direct_event(struct ib_cq *cq, void *private)
{
	WARN_ONCE(1, "completion event on direct-polled CQ %u\n", cq->res.id);
}

/*
 * After irq_poll_complete(), irq_poll_disable() no longer waits for the poll,
 * which still has to arm the CQ.  cq_softirq_stop() takes the lock to wait for
 * that before the CQ is freed.
 */
static void cq_softirq_end(struct ib_cq *cq)
{
	spinlock_t *tail = &cq_batch(cq)->tail;

	spin_lock(tail);
	irq_poll_complete(&cq->iop);
	if (ib_req_notify_cq(cq, CQ_ARM_FLAGS) > 0) {
		trace_cq_reschedule(cq);
		irq_poll_sched(&cq->iop);
	}
	spin_unlock(tail);
}

static int cq_softirq_poll(struct irq_poll *iop, int budget)
{
	struct ib_cq *cq = container_of(iop, struct ib_cq, iop);
	int done = cq_process(cq, budget, cq->wc, CQ_BATCH);

	if (cq->dim)
		rdma_dim(cq->dim, done);
	if (done < budget)
		cq_softirq_end(cq);
	return done;
}

static void cq_softirq_event(struct ib_cq *cq, void *private)
{
	trace_cq_schedule(cq);
	irq_poll_sched(&cq->iop);
}

static void cq_softirq_init(struct ib_cq *cq)
{
	irq_poll_init(&cq->iop, CQ_BUDGET_SOFTIRQ, cq_softirq_poll);
}

/*
 * After irq_poll_disable() the poll stays marked as scheduled, so that no event
 * schedules it.  After the lock was taken, a poll that had completed before no
 * longer uses the CQ.
 */
static void cq_softirq_stop(struct ib_cq *cq)
{
	spinlock_t *tail = &cq_batch(cq)->tail;

	irq_poll_disable(&cq->iop);
	spin_lock_bh(tail);
	spin_unlock_bh(tail);
}

static void cq_softirq_flush(struct ib_cq *cq)
{
	int rounds = cq->cqe / CQ_BUDGET_SOFTIRQ + 1;

	while (rounds--) {
		irq_poll_sched(&cq->iop);
		irq_poll_disable(&cq->iop);
		irq_poll_enable(&cq->iop);
	}
	/*
	 * An event that arrived while the poll was disabled was lost, and the
	 * CQ is not armed.
	 */
	irq_poll_sched(&cq->iop);
}

static void cq_work(struct work_struct *work)
{
	struct ib_cq *cq = container_of(work, struct ib_cq, work);
	int done = cq_process(cq, CQ_BUDGET_WORKQUEUE, cq->wc, CQ_BATCH);

	if (done >= CQ_BUDGET_WORKQUEUE ||
	    ib_req_notify_cq(cq, CQ_ARM_FLAGS) > 0) {
		trace_cq_reschedule(cq);
		queue_work(cq->comp_wq, &cq->work);
	} else if (cq->dim) {
		rdma_dim(cq->dim, done);
	}
}

static void cq_work_event(struct ib_cq *cq, void *private)
{
	trace_cq_schedule(cq);
	queue_work(cq->comp_wq, &cq->work);
}

static void cq_work_init(struct ib_cq *cq)
{
	INIT_WORK(&cq->work, cq_work);
	cq->comp_wq = cq->poll_ctx == IB_POLL_WORKQUEUE ? ib_comp_wq :
							  ib_comp_unbound_wq;
}

/* After disable_work_sync(), queue_work() of the CQ's work does nothing. */
static void cq_work_stop(struct ib_cq *cq)
{
	disable_work_sync(&cq->work);
}

static void cq_work_flush(struct ib_cq *cq)
{
	int rounds = cq->cqe / CQ_BUDGET_WORKQUEUE + 1;

	while (rounds--) {
		queue_work(cq->comp_wq, &cq->work);
		flush_work(&cq->work);
	}
}

static void cq_direct_flush(struct ib_cq *cq)
{
	ib_process_cq_direct(cq, -1);
}

static const struct cq_poller {
	ib_comp_handler event;
	void (*init)(struct ib_cq *cq);
	void (*stop)(struct ib_cq *cq);	/* no poll runs or starts after it */
	void (*flush)(struct ib_cq *cq);
} cq_pollers[] = {
	[IB_POLL_SOFTIRQ] = {
		cq_softirq_event, cq_softirq_init, cq_softirq_stop,
		cq_softirq_flush
	},
	[IB_POLL_WORKQUEUE] = {
		cq_work_event, cq_work_init, cq_work_stop, cq_work_flush
	},
	[IB_POLL_UNBOUND_WORKQUEUE] = {
		cq_work_event, cq_work_init, cq_work_stop, cq_work_flush
	},
	[IB_POLL_DIRECT] = {
		cq_direct_event, NULL, NULL, cq_direct_flush
	},
};

/* Only a CQ that core polls has an array to poll into. */
static bool cq_is_polled_by_core(const struct ib_cq *cq)
{
	return cq->wc;
}

void ibcore_cq_flush(struct ib_cq *cq)
{
	if (cq_is_polled_by_core(cq))
		cq_pollers[cq->poll_ctx].flush(cq);
}

atomic_t *ibcore_cq_awaited(struct ib_cq *cq)
{
	return cq_is_polled_by_core(cq) ? &cq_batch(cq)->awaited : NULL;
}

static struct ib_cq *cq_new(struct ib_device *dev, void *context,
			    const char *caller)
{
	struct ib_cq *cq = rdma_zalloc_drv_obj(dev, ib_cq);

	if (!cq)
		return NULL;

	cq->device = dev;
	cq->cq_context = context;
	rdma_restrack_new(&cq->res, RDMA_RESTRACK_CQ);
	rdma_restrack_set_name(&cq->res, caller);
	return cq;
}

static void cq_free(struct ib_cq *cq)
{
	if (cq_is_polled_by_core(cq))
		kfree(cq_batch(cq));
	kfree(cq);
}

static void cq_abandon(struct ib_cq *cq)
{
	rdma_restrack_put(&cq->res);
	cq_free(cq);
}

/**
 * __ib_create_cq() - create a CQ that its owner polls
 * @device: device
 * @comp_handler: called for completion events, from any context; or NULL
 * @event_handler: called for asynchronous events, from any context; or NULL
 * @cq_context: passed to both
 * @cq_attr: minimum size, completion vector, flags
 * @caller: name of the module that owns the CQ; must outlive the CQ
 *
 * IBA vol. 1, 11.2.6.
 *
 * Context: process, may sleep.
 * Return: the CQ, or ERR_PTR: -ENOMEM or the provider's error.
 */
struct ib_cq *__ib_create_cq(struct ib_device *device,
			     ib_comp_handler comp_handler,
			     void (*event_handler)(struct ib_event *event,
						   void *cq_context),
			     void *cq_context,
			     const struct ib_cq_init_attr *cq_attr,
			     const char *caller)
{
	struct ib_cq *cq;
	int ret;

	cq = cq_new(device, cq_context, caller);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->comp_handler = comp_handler;
	cq->event_handler = event_handler;

	ret = device->ops.create_cq(cq, cq_attr, NULL);
	if (ret) {
		cq_abandon(cq);
		return ERR_PTR(ret);
	}
	rdma_restrack_add(&cq->res);
	return cq;
}
EXPORT_SYMBOL(__ib_create_cq);

static int cq_alloc_prepare(struct ib_cq *cq, enum ib_poll_context poll_ctx,
			    u32 comp_vector)
{
	struct cq_batch *batch = kmalloc(sizeof(*batch), GFP_KERNEL);

	if (!batch)
		return -ENOMEM;
	spin_lock_init(&batch->tail);
	atomic_set(&batch->awaited, 0);
	cq->wc = batch->wc;

	/* Set these before create_cq(): from then on the provider may raise events. */
	cq->poll_ctx = poll_ctx;
	cq->comp_vector = comp_vector;
	cq->comp_handler = cq_pollers[poll_ctx].event;
	if (cq_pollers[poll_ctx].init)
		cq_pollers[poll_ctx].init(cq);
	return 0;
}

static struct ib_cq *cq_alloc(struct ib_device *dev, void *private,
			      const struct ib_cq_init_attr *attr,
			      enum ib_poll_context poll_ctx, const char *caller)
{
	struct ib_cq *cq;
	int ret;

	if ((unsigned int)poll_ctx >= ARRAY_SIZE(cq_pollers))
		return ERR_PTR(-EINVAL);

	cq = cq_new(dev, private, caller);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	ret = cq_alloc_prepare(cq, poll_ctx, attr->comp_vector);
	if (!ret)
		ret = dev->ops.create_cq(cq, attr, NULL);
	if (ret) {
		cq_abandon(cq);
		return ERR_PTR(ret);
	}

	rdma_restrack_add(&cq->res);
	if (poll_ctx != IB_POLL_DIRECT) {
		cq_dim_init(cq);
		ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	}
	return cq;
}

/**
 * __ib_alloc_cq() - allocate a CQ that core polls
 * @dev: device
 * @private: cq->cq_context, for the done methods
 * @nr_cqe: minimum size
 * @comp_vector: completion vector of its events
 * @poll_ctx: context to poll it in
 * @caller: name of the module that owns the CQ; must outlive the CQ
 *
 * Work requests that complete on the CQ must set wr_cqe, whose done method is
 * called in the context of @poll_ctx.
 *
 * Context: process, may sleep.
 * Return: the CQ, to be freed by ib_free_cq(), or ERR_PTR: -EINVAL, -ENOMEM or
 * the provider's error.
 */
struct ib_cq *__ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe,
			    int comp_vector, enum ib_poll_context poll_ctx,
			    const char *caller)
{
	struct ib_cq_init_attr attr = {
		.cqe = nr_cqe,
		.comp_vector = comp_vector,
	};
	struct ib_cq *cq = cq_alloc(dev, private, &attr, poll_ctx, caller);

	if (IS_ERR(cq))
		trace_cq_alloc_error(nr_cqe, comp_vector, poll_ctx,
				     PTR_ERR(cq));
	else
		trace_cq_alloc(cq, nr_cqe, comp_vector, poll_ctx);
	return cq;
}
EXPORT_SYMBOL(__ib_alloc_cq);

/**
 * __ib_alloc_cq_any() - allocate a CQ that core polls, on any vector
 * @dev: device
 * @private: cq->cq_context, for the done methods
 * @nr_cqe: minimum size
 * @poll_ctx: context to poll it in
 * @caller: name of the module that owns the CQ; must outlive the CQ
 *
 * Assigns the vectors in turn, and uses at most as many as there are online
 * CPUs.
 *
 * Context: process, may sleep.
 * Return: as for __ib_alloc_cq().
 */
struct ib_cq *__ib_alloc_cq_any(struct ib_device *dev, void *private,
				int nr_cqe, enum ib_poll_context poll_ctx,
				const char *caller)
{
	static atomic_t turn = ATOMIC_INIT(-1);
	unsigned int vectors = min_t(unsigned int, num_online_cpus(),
				     dev->num_comp_vectors);
	unsigned int vector = 0;

	if (vectors > 1)
		vector = (unsigned int)atomic_inc_return(&turn) % vectors;
	return __ib_alloc_cq(dev, private, nr_cqe, vector, poll_ctx, caller);
}
EXPORT_SYMBOL(__ib_alloc_cq_any);

static void cq_stop(struct ib_cq *cq)
{
	if (cq_is_polled_by_core(cq) && cq_pollers[cq->poll_ctx].stop)
		cq_pollers[cq->poll_ctx].stop(cq);
	cq_dim_exit(cq);
}

/*
 * A provider that splits destruction stops the CQ's events in pre_destroy_cq(),
 * so that no event arrives for a poller that has stopped.  A process's CQ has
 * no poller in core, and the two halves take no @udata, so destroy_cq()
 * destroys it at once.
 */
static int cq_destroy_hw(struct ib_cq *cq, struct ib_udata *udata)
{
	const struct ib_device_ops *ops = &cq->device->ops;
	int ret;

	if (udata || !ibex_has_pre_destroy_cq(ops)) {
		cq_stop(cq);
		return ops->destroy_cq(cq, udata);
	}

	ret = ibex_pre_destroy_cq(cq);
	if (ret)
		return ret;
	cq_stop(cq);
	ibex_post_destroy_cq(cq);
	return 0;
}

/*
 * No reference to the CQ remains: (1) no queue uses it: its usecnt is 0; (2)
 * resource tracking waited for its readers; (3) polling and moderation have
 * stopped for good, even if an event still arrives; (4) the provider raises no
 * event after its destroy_cq.
 */
static int cq_destroy(struct ib_cq *cq, struct ib_udata *udata)
{
	int ret;

	rdma_restrack_begin_del(&cq->res);
	ret = cq_destroy_hw(cq, udata);
	if (ret) {
		rdma_restrack_abort_del(&cq->res);
		return ret;
	}
	rdma_restrack_commit_del(&cq->res);
	cq_free(cq);
	return 0;
}

/**
 * ib_free_cq() - free a CQ that core polls
 * @cq: CQ from __ib_alloc_cq() that no queue uses
 *
 * When this returns, no done method of the CQ runs any more.
 *
 * Context: process, may sleep; not from a done method of the CQ.
 */
void ib_free_cq(struct ib_cq *cq)
{
	if (WARN_ON_ONCE(atomic_read(&cq->usecnt)) ||
	    WARN_ON_ONCE(cq->cqe_used))
		return;

	trace_cq_free(cq);
	WARN_ONCE(cq_destroy(cq, NULL), "destroy of a kernel CQ failed\n");
}
EXPORT_SYMBOL(ib_free_cq);

/**
 * ib_destroy_cq_user() - destroy a CQ that its owner polls
 * @cq: CQ that no queue uses
 * @udata: the process's data, NULL for the kernel's CQs
 *
 * IBA vol. 1, 11.2.6.
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY if the CQ is in use, -EOPNOTSUPP for a shared CQ, or the
 * provider's error; on error the CQ still exists.
 */
int ib_destroy_cq_user(struct ib_cq *cq, struct ib_udata *udata)
{
	if (WARN_ON_ONCE(cq->shared))
		return -EOPNOTSUPP;
	if (atomic_read(&cq->usecnt))
		return -EBUSY;
	return cq_destroy(cq, udata);
}
EXPORT_SYMBOL(ib_destroy_cq_user);

/**
 * rdma_set_cq_moderation() - moderate a CQ's events
 * @cq: CQ, not a shared one
 * @cq_count: number of completions after which an event is raised
 * @cq_period: microseconds after which fewer completions raise an event
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int rdma_set_cq_moderation(struct ib_cq *cq, u16 cq_count, u16 cq_period)
{
	if (cq->shared || !cq->device->ops.modify_cq)
		return -EOPNOTSUPP;
	return cq->device->ops.modify_cq(cq, cq_count, cq_period);
}
EXPORT_SYMBOL(rdma_set_cq_moderation);

/**
 * ib_resize_cq() - resize a CQ
 * @cq: CQ, not a shared one
 * @cqe: minimum size; cq->cqe is set to the actual one
 *
 * IBA vol. 1, 11.2.6.
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int ib_resize_cq(struct ib_cq *cq, int cqe)
{
	if (cq->shared || !cq->device->ops.resize_cq)
		return -EOPNOTSUPP;
	return cq->device->ops.resize_cq(cq, cqe, NULL);
}
EXPORT_SYMBOL(ib_resize_cq);
