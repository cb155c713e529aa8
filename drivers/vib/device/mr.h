/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_MR_H
#define VIB_MR_H

/* Memory that work requests name: protection domains, regions and their keys. */
#include "device/hca.h"

/* Names all of the kernel's memory, by virtual address, in any protection domain. */
#define VIB_LOCAL_DMA_LKEY	0xff

/* Is given @len bytes of the memory that was asked for, which follow those of last time. */
typedef void (*vib_mem_fn)(void *mem, u32 len, void *context);

/*
 * Calls @fn for the memory that @sge names, the first @len bytes of it, piece by piece.
 * False: the key does not allow @access (enum ib_access_flags; 0 to read) to all of it in
 * @pd, and @fn was not called.  Any context but hard interrupt.
 */
bool vib_mem_walk(struct ib_pd *pd, const struct ib_sge *sge, u32 len, int access,
		  vib_mem_fn fn, void *context);

extern const struct ib_device_ops vib_mr_ops;

#endif
