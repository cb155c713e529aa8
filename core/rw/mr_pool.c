// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MR pools: fast-registration regions of a QP, allocated with it.  The lists
 * and qp->mrs_used are protected by qp->mr_lock.
 */
#include <rdma/mr_pool.h>

#include "core.h"

/* Removes and returns the first region of a pool; @used: the QP counts it as in use. */
static struct ib_mr *mr_pool_pop(struct ib_qp *qp, struct list_head *pool,
				 bool used)
{
	struct ib_mr *mr = NULL;
	unsigned long irq;

	spin_lock_irqsave(&qp->mr_lock, irq);
	if (!list_empty(pool)) {
		mr = list_first_entry(pool, struct ib_mr, qp_entry);
		list_del(pool->next);
		qp->mrs_used += used;
	}
	spin_unlock_irqrestore(&qp->mr_lock, irq);
	return mr;
}

static void mr_pool_push(struct ib_qp *qp, struct list_head *pool,
			 struct list_head *entry, bool used)
{
	unsigned long irq;

	spin_lock_irqsave(&qp->mr_lock, irq);
	list_add(entry, pool);
	qp->mrs_used -= used;
	spin_unlock_irqrestore(&qp->mr_lock, irq);
}

/**
 * ib_mr_pool_get() - take a region from a pool
 * @qp: owner of the pool
 * @list: the pool
 *
 * Context: any.
 * Return: the MR, to be returned by ib_mr_pool_put(); NULL if none is free.
 */
struct ib_mr *ib_mr_pool_get(struct ib_qp *qp, struct list_head *list)
{
	return mr_pool_pop(qp, list, true);
}
EXPORT_SYMBOL(ib_mr_pool_get);

/**
 * ib_mr_pool_put() - return a region to its pool
 * @qp: owner of the pool
 * @list: the pool it was taken from
 * @mr: region that no work request in flight uses
 *
 * Context: any.
 */
void ib_mr_pool_put(struct ib_qp *qp, struct list_head *list, struct ib_mr *mr)
{
	mr_pool_push(qp, list, &mr->qp_entry, true);
}
EXPORT_SYMBOL(ib_mr_pool_put);

static struct ib_mr *mr_pool_alloc(struct ib_pd *pd, enum ib_mr_type type,
				   u32 max_num_sg, u32 max_num_meta_sg)
{
	if (type == IB_MR_TYPE_INTEGRITY)
		return ib_alloc_mr_integrity(pd, max_num_sg, max_num_meta_sg);
	return ib_alloc_mr(pd, type, max_num_sg);
}

/**
 * ib_mr_pool_init() - fill a pool
 * @qp: its owner
 * @list: the pool, an initialised list of the QP
 * @nr: number of regions
 * @type: their type
 * @max_num_sg: maximum number of pages, or entries, in one registration
 * @max_num_meta_sg: maximum number of metadata entries, for
 *	IB_MR_TYPE_INTEGRITY
 *
 * Context: process, may sleep.
 * Return: 0, or the error of ib_alloc_mr(), in which case the pool is empty.
 */
int ib_mr_pool_init(struct ib_qp *qp, struct list_head *list, int nr,
		    enum ib_mr_type type, u32 max_num_sg, u32 max_num_meta_sg)
{
	struct ib_mr *mr;

	while (nr-- > 0) {
		mr = mr_pool_alloc(qp->pd, type, max_num_sg, max_num_meta_sg);
		if (IS_ERR(mr)) {
			ib_mr_pool_destroy(qp, list);
			return PTR_ERR(mr);
		}
		mr_pool_push(qp, list, &mr->qp_entry, false);
	}
	return 0;
}
EXPORT_SYMBOL(ib_mr_pool_init);

/**
 * ib_mr_pool_destroy() - free a pool
 * @qp: its owner
 * @list: the pool, to which all regions were returned
 *
 * Context: process, may sleep.
 */
void ib_mr_pool_destroy(struct ib_qp *qp, struct list_head *list)
{
	struct ib_mr *mr;

	while ((mr = mr_pool_pop(qp, list, false)))
		ib_dereg_mr(mr);
}
EXPORT_SYMBOL(ib_mr_pool_destroy);
