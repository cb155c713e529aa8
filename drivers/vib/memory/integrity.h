/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_INTEGRITY_H
#define VIB_INTEGRITY_H

/*
 * Regions with protection information (ib_alloc_mr_integrity(), struct ib_sig_attrs).
 *
 * Such a region has data, and maybe metadata, a tuple for each interval of the data.  Its key
 * names the bytes that are on the wire: if the wire domain has protection information, each
 * interval followed by its tuple, and if not, the data alone.  Whoever uses the key, for a
 * local request or as the peer, reads or writes these bytes:
 *
 *	memory	wire	read			written
 *	none	T10	tuples are made		tuples are checked
 *	T10	none	tuples are checked	tuples are made, in memory
 *	T10	T10	tuples are checked, and converted if the domains differ
 *
 * What a check finds is kept for ib_check_mr_status(), and ends no transfer.
 *
 * Packets are lost and sent again, and end in the middle of an interval.  So nothing is computed
 * along the bytes of a message.  What is read of a tuple is made, each time, from the data in
 * memory.  What is written has its interval's data in memory already, as the packets of a
 * message are taken in once and in order: the check, too, reads it there.  The only state is of
 * a tuple that comes in two packets (struct vib_tuple_part).
 */
#include <linux/spinlock.h>
#include "memory/key.h"
#include "memory/tuple.h"

struct vib_segment {
	u64 addr;		/* in the kernel (ib_uses_virt_dma()) */
	u32 len;
	u32 end;		/* offset in the list of the byte after it */
};

struct vib_segments {
	struct vib_segment *list;
	u32 count;
	u32 len;		/* bytes of all of them, at most VIB_MAX_MSG */
};

struct vib_protected {
	struct vib_segments data, meta;
};

/* The bytes that have come of a tuple of which others are still to come. */
struct vib_tuple_part {
	u32 n;			/* the interval */
	u8 have;		/* bytes; 0: none is incomplete */
	u8 bytes[VIB_TUPLE_LEN];
};

struct vib_integrity {
	u32 max_data, max_meta;		/* segments of each list; fixed */
	struct vib_segment *room;	/* of all four lists; fixed */
	struct vib_protected mapped;	/* by map_mr_sg_pi, to be registered */
	/* What is registered: change as those of the region's key do, under key.lock */
	struct vib_protected used;
	struct ib_sig_attrs attrs;
	u32 interval;			/* bytes; 0: neither domain has tuples */

	spinlock_t lock;		/* taken under key.lock, interrupts off */
	bool failed;			/* a check, since registered or asked for; lock */
	struct ib_sig_err err;		/* the first that failed; lock */
	struct vib_tuple_part part;	/* of what is written; lock */
};

static inline bool vib_has_tuples(const struct ib_sig_domain *domain)
{
	return domain->sig_type == IB_SIG_TYPE_T10_DIF;
}

/* ---- transform.c ---- */

/*
 * Calls @fn for @len bytes from @offset of what the key of @mr names, which has them: for memory,
 * or for a copy of a tuple.  @write: @fn fills what it is given.  Under key.lock.
 */
void vib_integrity_walk(const struct vib_mr *mr, u32 offset, u32 len, bool write, vib_mem_fn fn,
			void *context);

#endif
