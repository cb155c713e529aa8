// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * CQ pools: CQs that core polls and that several queues share.  Each queue
 * claims some of the CQ's entries (cq->cqe_used).
 *
 * A device has one pool for each polling context, which is created when it is
 * first needed and linked to dev->cq_pools[].  For each completion vector a
 * pool has a lock and lists of CQs, one list for each order of the number of
 * free entries, so that get and put look at only a few CQs, however many there
 * are.
 *
 * Lock order: dev->cq_pools_lock (creation of a pool) and a vector's lock are
 * never held together.
 */
#include <linux/log2.h>

#include "qp/qp.h"

#define CQ_POOL_CQE	2048	/* minimum size of a shared CQ */
#define CQ_POOL_PROBES	8	/* number of CQs to try that may not fit */
#define CQ_POOL_ORDERS	33	/* 0: full, n: 2^(n-1) free entries or more */

struct cq_vector {
	spinlock_t lock;	/* protects cqs, their pool_entry and cqe_used */
	struct list_head cqs[CQ_POOL_ORDERS];	/* of ib_cq, by cq_order() */
};

struct cq_pool {
	struct list_head anchor;	/* dev->cq_pools[]; never moved */
	atomic_t turn;			/* chooses a vector if the caller does not */
	unsigned int num_vectors;
	struct cq_vector vectors[] __counted_by(num_vectors);
};

static unsigned int cq_free_entries(const struct ib_cq *cq)
{
	return cq->cqe > 0 && cq->cqe > cq->cqe_used ? cq->cqe - cq->cqe_used :
						       0;
}

static unsigned int cq_order(unsigned int entries)
{
	return entries ? ilog2(entries) + 1 : 0;
}

/* Unused CQs go to the front: only they fit a claim for a whole CQ. */
static void cq_sort(struct cq_vector *vec, struct ib_cq *cq)
{
	struct list_head *cqs = &vec->cqs[cq_order(cq_free_entries(cq))];

	lockdep_assert_held(&vec->lock);
	if (cq->cqe_used)
		list_add_tail(&cq->pool_entry, cqs);
	else
		list_add(&cq->pool_entry, cqs);
}

static void cq_claim(struct cq_vector *vec, struct ib_cq *cq, int n)
{
	lockdep_assert_held(&vec->lock);
	list_del(&cq->pool_entry);
	cq->cqe_used += n;
	cq_sort(vec, cq);
}

/*
 * Finds a CQ with at least @n free entries; tries the order of the closest fit
 * first.
 */
static struct ib_cq *cq_find(struct cq_vector *vec, unsigned int n)
{
	unsigned int order = cq_order(n);
	unsigned int probes = 0;
	struct ib_cq *cq;

	lockdep_assert_held(&vec->lock);
	list_for_each_entry(cq, &vec->cqs[order], pool_entry) {
		if (cq_free_entries(cq) >= n)
			return cq;
		if (++probes == CQ_POOL_PROBES)
			break;
	}
	while (++order < CQ_POOL_ORDERS) {
		cq = list_first_entry_or_null(&vec->cqs[order], struct ib_cq,
					      pool_entry);
		if (cq)
			return cq;
	}
	return NULL;
}

static struct cq_pool *cq_pool_alloc(unsigned int num_vectors)
{
	struct cq_pool *pool;
	struct cq_vector *vec;
	unsigned int i;

	pool = kvzalloc(struct_size(pool, vectors, num_vectors), GFP_KERNEL);
	if (!pool)
		return NULL;

	pool->num_vectors = num_vectors;
	atomic_set(&pool->turn, -1);
	for (vec = pool->vectors; vec < pool->vectors + num_vectors; vec++) {
		spin_lock_init(&vec->lock);
		for (i = 0; i < CQ_POOL_ORDERS; i++)
			INIT_LIST_HEAD(&vec->cqs[i]);
	}
	return pool;
}

static struct cq_pool *cq_pool_find(struct ib_device *dev,
				    enum ib_poll_context poll_ctx)
{
	lockdep_assert_held(&dev->cq_pools_lock);
	return list_first_entry_or_null(&dev->cq_pools[poll_ctx],
					struct cq_pool, anchor);
}

static struct cq_pool *cq_pool_get(struct ib_device *dev,
				   enum ib_poll_context poll_ctx)
{
	struct cq_pool *pool, *new;

	spin_lock_irq(&dev->cq_pools_lock);
	pool = cq_pool_find(dev, poll_ctx);
	spin_unlock_irq(&dev->cq_pools_lock);
	if (pool)
		return pool;

	new = cq_pool_alloc(max(dev->num_comp_vectors, 1));
	if (!new)
		return NULL;

	spin_lock_irq(&dev->cq_pools_lock);
	pool = cq_pool_find(dev, poll_ctx);
	if (!pool) {
		pool = new;
		list_add(&pool->anchor, &dev->cq_pools[poll_ctx]);
		new = NULL;
	}
	spin_unlock_irq(&dev->cq_pools_lock);
	kvfree(new);
	return pool;
}

static unsigned int cq_pool_vector(struct cq_pool *pool, int hint)
{
	unsigned int served;

	if (hint >= 0)
		return hint % pool->num_vectors;
	served = min(pool->num_vectors, num_online_cpus());
	return (unsigned int)atomic_inc_return(&pool->turn) % served;
}

/* Adds a new CQ to @vec, with @nr_cqe entries claimed. */
static struct ib_cq *cq_pool_grow(struct ib_device *dev, struct cq_vector *vec,
				  unsigned int nr_cqe, unsigned int vector,
				  enum ib_poll_context poll_ctx)
{
	unsigned int size = roundup_pow_of_two(max(nr_cqe, CQ_POOL_CQE));
	struct ib_cq *cq;

	size = min_t(unsigned int, size, dev->attrs.max_cqe);
	cq = ib_alloc_cq(dev, NULL, size, vector, poll_ctx);
	if (IS_ERR(cq))
		return cq;

	cq->shared = true;
	cq->cqe_used = nr_cqe;
	spin_lock_irq(&vec->lock);
	cq_sort(vec, cq);
	spin_unlock_irq(&vec->lock);
	return cq;
}

/**
 * ib_cq_pool_get() - claim entries of a shared CQ
 * @dev: device
 * @nr_cqe: number of entries
 * @comp_vector_hint: preferred completion vector, -1 for any
 * @poll_ctx: context to poll the CQ in; not IB_POLL_DIRECT
 *
 * Context: process, may sleep.
 * Return: the CQ, to be released by ib_cq_pool_put(), or ERR_PTR: -EINVAL,
 * -ENOMEM or the provider's error.
 */
struct ib_cq *ib_cq_pool_get(struct ib_device *dev, unsigned int nr_cqe,
			     int comp_vector_hint,
			     enum ib_poll_context poll_ctx)
{
	struct cq_vector *vec;
	struct cq_pool *pool;
	unsigned int vector;
	struct ib_cq *cq;

	if ((unsigned int)poll_ctx > IB_POLL_LAST_POOL_TYPE || !nr_cqe ||
	    nr_cqe > (unsigned int)max(dev->attrs.max_cqe, 0))
		return ERR_PTR(-EINVAL);

	pool = cq_pool_get(dev, poll_ctx);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	vector = cq_pool_vector(pool, comp_vector_hint);
	vec = &pool->vectors[vector];

	spin_lock_irq(&vec->lock);
	cq = cq_find(vec, nr_cqe);
	if (cq)
		cq_claim(vec, cq, nr_cqe);
	spin_unlock_irq(&vec->lock);

	return cq ?: cq_pool_grow(dev, vec, nr_cqe, vector, poll_ctx);
}
EXPORT_SYMBOL(ib_cq_pool_get);

/**
 * ib_cq_pool_put() - release claimed entries of a shared CQ
 * @cq: CQ from ib_cq_pool_get()
 * @nr_cqe: number of entries that were claimed
 *
 * The CQ stays in its pool until the device is unregistered.
 *
 * Context: process.
 */
void ib_cq_pool_put(struct ib_cq *cq, unsigned int nr_cqe)
{
	struct ib_device *dev = cq->device;
	struct cq_vector *vec;
	struct cq_pool *pool;
	unsigned long flags;

	if (WARN_ON_ONCE(!cq->shared))
		return;

	spin_lock_irqsave(&dev->cq_pools_lock, flags);
	pool = cq_pool_find(dev, cq->poll_ctx);
	spin_unlock_irqrestore(&dev->cq_pools_lock, flags);

	vec = &pool->vectors[cq->comp_vector];
	spin_lock_irqsave(&vec->lock, flags);
	if (!WARN_ON_ONCE(nr_cqe > cq->cqe_used))
		cq_claim(vec, cq, -nr_cqe);
	spin_unlock_irqrestore(&vec->lock, flags);
}
EXPORT_SYMBOL(ib_cq_pool_put);

void ibcore_cq_pool_init(struct ib_device *dev)
{
	int i;

	spin_lock_init(&dev->cq_pools_lock);
	for (i = 0; i < ARRAY_SIZE(dev->cq_pools); i++)
		INIT_LIST_HEAD(&dev->cq_pools[i]);
}

static void cq_vector_empty(struct cq_vector *vec)
{
	struct ib_cq *cq, *next;
	int i;

	for (i = 0; i < CQ_POOL_ORDERS; i++) {
		list_for_each_entry_safe(cq, next, &vec->cqs[i], pool_entry) {
			/* ib_free_cq() does not free a CQ that a client leaked. */
			list_del(&cq->pool_entry);
			cq->shared = false;
			ib_free_cq(cq);
		}
	}
}

/*
 * Called after all clients were removed from the device: there are no more gets
 * or puts.
 */
void ibcore_cq_pool_cleanup(struct ib_device *dev)
{
	struct cq_pool *pool, *next;
	unsigned int vec;
	int i;

	for (i = 0; i < ARRAY_SIZE(dev->cq_pools); i++) {
		list_for_each_entry_safe(pool, next, &dev->cq_pools[i],
					 anchor) {
			list_del(&pool->anchor);
			for (vec = 0; vec < pool->num_vectors; vec++)
				cq_vector_empty(&pool->vectors[vec]);
			kvfree(pool);
		}
	}
}
