/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef UVERBS_UMEM_H
#define UVERBS_UMEM_H

/* Memory regions of processes. */
#include <rdma/ib_umem.h>

/* ---- umem.c: pinned memory regions ---- */
#if IS_ENABLED(CONFIG_KUNIT)
unsigned long umem_dma_attrs(struct ib_umem *umem);
#endif

#endif
