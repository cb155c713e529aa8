/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_UPDATES_H
#define IBEX_COMPAT_UPDATES_H

/* What updates of a release changed; headers.mk looks at their headers. */
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>
#ifndef IBEX_NO_RDMA_ITER
#include <rdma/iter.h>
#endif

/*
 * Earlier updates of 6.1 have no mark of what is a driver's own, and count all objects: both in
 * the definition and in calls the last argument is left out.
 */
#ifdef IBEX_NO_RESTRACK_DD
#define RESTRACK_DD XA_MARK_1
#define rdma_restrack_count(dev, type, details) rdma_restrack_count(dev, type)
#define ibex_show_details true
#else
#define ibex_show_details show_details
#endif

/* Providers of later updates may destroy the CQ of a kernel ULP in two steps. */
#ifdef IBEX_NO_PRE_DESTROY_CQ
static inline bool ibex_has_pre_destroy_cq(const struct ib_device_ops *ops)
{
	return false;
}

static inline int ibex_pre_destroy_cq(struct ib_cq *cq)
{
	return -EOPNOTSUPP;
}

static inline void ibex_post_destroy_cq(struct ib_cq *cq)
{
}
#else
static inline bool ibex_has_pre_destroy_cq(const struct ib_device_ops *ops)
{
	return ops->pre_destroy_cq;
}

static inline int ibex_pre_destroy_cq(struct ib_cq *cq)
{
	return cq->device->ops.pre_destroy_cq(cq);
}

static inline void ibex_post_destroy_cq(struct ib_cq *cq)
{
	cq->device->ops.post_destroy_cq(cq);
}
#endif

/* The type of ib_umem_find_best_pgsz()'s last argument; a typedef is another type in BTF. */
#ifdef IBEX_UMEM_VIRT_LONG
#define IBEX_UMEM_VIRT unsigned long
#else
#define IBEX_UMEM_VIRT u64
#endif

#endif
