/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_H
#define IBEX_COMPAT_H

/* What differs between the kernels of the release; Kbuild looks at their headers. */
#include <rdma/ib_verbs.h>

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
