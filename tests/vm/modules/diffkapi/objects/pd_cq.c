// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Protection domains and completion queues. */
#include "kapi.h"

/* ---- PDs ---- */

struct object *make_pd(struct kdev *dev, u32 flags)
{
	struct ib_pd *pd;

	call("ib_alloc_pd pd%u %s flags %x", next_number(PD), dev->name, flags);
	pd = ib_alloc_pd(dev->device, flags);
	if (IS_ERR(pd)) {
		answer(PTR_ERR(pd));
		return NULL;
	}
	answer_with(0, "flags %x lkey %d global rkey %d mr %d users %d", pd->flags,
		    pd->local_dma_lkey != 0, pd->unsafe_global_rkey != 0, !!pd->__internal_mr,
		    atomic_read(&pd->usecnt));
	return new_object(PD, dev, pd, NULL);
}

void destroy_pd(struct object *o)
{
	call("ib_dealloc_pd_user pd%u", o->n);
	answer(ib_dealloc_pd_user(o->ptr, NULL));
	object_gone(o);
}

static void alloc_pd(void)
{
	struct kdev *dev = some_device();

	if (alive(PD) < 6)
		make_pd(dev, one_in(is_vib(dev) ? 20 : 3) ? IB_PD_UNSAFE_GLOBAL_RKEY : 0);
}

static void free_pd(void)
{
	struct object *o = some_unused(PD);

	if (o && alive(PD) > 2)
		destroy_pd(o);
}

void pd_ops(void)
{
	static const struct op ops[] = { { alloc_pd, 2 }, { free_pd, 1 } };

	random_ops(ops, ARRAY_SIZE(ops), 1);
}

/* ---- CQs ---- */

static void cq_event(struct ib_event *ev, void *context)
{
}

static void cq_completion(struct ib_cq *cq, void *context)
{
}

/* Which vector is the least used depends on what was before. */
static struct object *cq_made(struct kdev *dev, struct ib_cq *cq, bool any_vector)
{
	if (IS_ERR(cq)) {
		answer(PTR_ERR(cq));
		return NULL;
	}
	answer_with(0, "cqe %d poll %d shared %d users %d vector %u wc %d handler %d",
		    cq->shared ? 0 : cq->cqe, cq->poll_ctx, cq->shared,
		    cq->shared ? 0 : atomic_read(&cq->usecnt), any_vector ? 0 : cq->comp_vector,
		    !!cq->wc, !!cq->comp_handler);
	return new_object(CQ, dev, cq, NULL);
}

static int some_cqe(struct kdev *dev)
{
	return one_in(8) ? one_of(0, -1, 1) + (one_in(2) ? dev->attrs->max_cqe : 0) : 1 + rnd(300);
}

static void alloc_cq(struct kdev *dev, int cqe, int vector, int ctx)
{
	struct object *o;

	call("__ib_alloc_cq cq%u %s cqe %d vector %d poll %d", next_number(CQ), dev->name, cqe,
	     vector, ctx);
	o = cq_made(dev, ib_alloc_cq(dev->device, NULL, cqe, vector, ctx), false);
	if (o) {
		o->alloced = true;
		o->direct = ctx == IB_POLL_DIRECT;
	}
}

static void alloc_cq_any(struct kdev *dev, int cqe, int ctx)
{
	struct object *o;

	call("__ib_alloc_cq_any cq%u %s cqe %d poll %d", next_number(CQ), dev->name, cqe, ctx);
	o = cq_made(dev, ib_alloc_cq_any(dev->device, NULL, cqe, ctx), true);
	if (o) {
		o->alloced = true;
		o->direct = ctx == IB_POLL_DIRECT;
	}
}

static void get_cq(struct kdev *dev, int cqe, int vector, int ctx)
{
	struct object *o;

	call("ib_cq_pool_get cq%u %s cqe %d vector %d poll %d", next_number(CQ), dev->name, cqe,
	     vector, ctx);
	o = cq_made(dev, ib_cq_pool_get(dev->device, cqe, vector, ctx), true);
	if (o) {
		o->pooled = true;
		o->cqe = cqe;
	}
}

static void create_cq(struct kdev *dev, int cqe, int vector, u32 flags)
{
	struct ib_cq_init_attr attr = { .cqe = cqe, .comp_vector = vector, .flags = flags };

	call("__ib_create_cq cq%u %s cqe %d vector %d flags %x", next_number(CQ), dev->name, cqe,
	     vector,
	     flags);
	cq_made(dev, ib_create_cq(dev->device, cq_completion, cq_event, NULL, &attr), false);
}

struct object *make_cq(struct kdev *dev)
{
	unsigned int n = alive(CQ);

	if (n < 8)
		alloc_cq(dev, 64, 0, one_of(IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE));
	return some_object(CQ, dev);
}

static void new_cq(void)
{
	struct kdev *dev = some_device();
	int vector = one_in(10) ? dev->device->num_comp_vectors + rnd(3) : 0;

	if (alive(CQ) >= 10)
		return;
	switch (rnd(5)) {
	case 0:
		create_cq(dev, some_cqe(dev), vector, mostly(0, 1, 2, 4, 0x80000000));
		break;
	case 1:
		/* Any hint is allowed; a direct context is a mistake that is warned of. */
		get_cq(dev, 1 + rnd(300), one_of(-1, 0, 1, 7, 1000),
		       rnd(IB_POLL_LAST_POOL_TYPE + 1));
		break;
	case 2:
		alloc_cq_any(dev, some_cqe(dev), mostly(rnd(IB_POLL_DIRECT + 1), 4, 77));
		break;
	default:
		alloc_cq(dev, some_cqe(dev), 0, mostly(rnd(IB_POLL_DIRECT + 1), 4, 77));
	}
}

void destroy_cq(struct object *o)
{
	if (o->pooled) {
		call("ib_cq_pool_put cq%u cqe %u", o->n, o->cqe);
		ib_cq_pool_put(o->ptr, o->cqe);
		answer(0);
	} else if (o->alloced) {
		call("ib_free_cq cq%u", o->n);
		ib_free_cq(o->ptr);
		answer(0);
	} else {
		call("ib_destroy_cq_user cq%u", o->n);
		answer(ib_destroy_cq_user(o->ptr, NULL));
	}
	object_gone(o);
}

static void free_cq(void)
{
	struct object *o = some_unused(CQ);

	if (o && alive(CQ) > 3)
		destroy_cq(o);
}

/* Only one that was made by ib_create_cq() may be asked for while it is used. */
static void free_used_cq(void)
{
	struct object *o = some_object(CQ, NULL);

	if (!o || !o->users || o->alloced || o->pooled)
		return;
	call("ib_destroy_cq_user cq%u, which is used", o->n);
	answer(ib_destroy_cq_user(o->ptr, NULL));
}

static void resize_cq(void)
{
	struct object *o = some_object(CQ, NULL);
	struct ib_cq *cq;
	int cqe;

	if (!o)
		return;
	cq = o->ptr;
	cqe = some_cqe(o->dev);
	call("ib_resize_cq cq%u pooled %d to %d", o->n, o->pooled, cqe);
	answer_with(ib_resize_cq(cq, cqe), "cqe %d", cq->cqe);
}

static void moderate_cq(void)
{
	struct object *o = some_object(CQ, NULL);
	u16 count = rnd(100), period = rnd(100);

	if (!o)
		return;
	call("rdma_set_cq_moderation cq%u %s pooled %d count %u period %u", o->n, o->dev->name,
	     o->pooled, count, period);
	answer(rdma_set_cq_moderation(o->ptr, count, period));
}

static void poll_cq(void)
{
	struct object *o = some_object(CQ, NULL);
	int budget = one_of(-1, 0, 1, 16, 100);

	if (!o || !o->direct)
		return;
	call("ib_process_cq_direct cq%u budget %d", o->n, budget);
	answer_with(0, "%d", ib_process_cq_direct(o->ptr, budget));
}

void cq_ops(void)
{
	static const struct op ops[] = {
		{ new_cq, 8 }, { free_cq, 3 }, { free_used_cq, 2 }, { resize_cq, 2 },
		{ moderate_cq, 1 }, { poll_cq, 2 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 1);
}
