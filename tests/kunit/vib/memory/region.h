/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_REGION_H
#define VIB_REGION_H

/*
 * A region of the kernel's memory, registered as a work request would, and what a walk
 * through it was given.
 */
#include <linux/scatterlist.h>
#include "../device/hca_pair.h"
#include "memory/mr.h"

#define REGION_PAGES	3
#define REGION_OFFSET	256	/* of its first byte in the first page */
#define REGION_TAIL	1000	/* bytes in the last page */
#define REGION_LEN	(PAGE_SIZE - REGION_OFFSET + PAGE_SIZE + REGION_TAIL)
/* All that a region may have but IB_ZERO_BASED. */
#define REGION_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |		\
			 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC |		\
			 IB_ACCESS_MW_BIND)

struct region {
	struct ib_mr *mr;		/* NULL: there is none */
	u8 *page[REGION_PAGES];		/* not adjacent; the test frees them */
	struct scatterlist sg[REGION_PAGES];
	u64 addr;			/* of the first byte, as requests name it */
};

/* A region in @pd, whose pages are filled with their number, that has no valid key. */
void region_init(struct kunit *test, struct region *region, struct ib_pd *pd);
void region_exit(struct region *region);
/* Maps the pages, as ib_map_mr_sg() says; sets region->addr. */
int region_map(struct region *region);
/* Maps them, and registers them by the next key, in mr->rkey then. */
bool region_register(struct region *region, struct ib_qp *qp, int access);
/* One that is registered with REGION_ACCESS; the test fails otherwise. */
void region_init_registered(struct kunit *test, struct region *region, struct ib_qp *qp);
/* The memory of byte @offset. */
u8 *region_byte(const struct region *region, u64 offset);

/* What the function of a walk was given. */
struct seen {
	unsigned int calls;
	u64 len;		/* in all */
	u8 *first, *last;	/* bytes */
	int fill;		/* what to write to them; -1: nothing */
};

/* Of @len bytes from @addr. */
bool walk_remote(struct seen *seen, struct ib_qp *qp, u32 rkey, u64 addr, u32 len, int access);
bool walk_local(struct seen *seen, struct ib_pd *pd, u32 lkey, u64 addr, u32 len, int access);
/* Of 8 bytes, to which it adds 1. */
bool walk_atomic(struct seen *seen, struct ib_qp *qp, u32 rkey, u64 addr);

#endif
