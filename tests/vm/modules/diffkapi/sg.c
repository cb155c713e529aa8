// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory, and scatter/gather lists of pieces of it, with gaps, odd offsets and lengths. */
#include "kapi.h"

void *arena;

/* The DMA address of the arena: that of a device without IOMMU, or a pointer. */
u64 arena_dma(struct kdev *dev)
{
	return ib_uses_virt_dma(dev->device) ? (uintptr_t)arena : virt_to_phys(arena);
}

void make_pieces(struct pieces *p, unsigned int count, bool gaps)
{
	unsigned int i, at = rnd(4) * PAGE_SIZE, len, offset;

	count = min_t(unsigned int, count, ARRAY_SIZE(p->sg));
	sg_init_table(p->sg, max(count, 1u));
	p->count = count;
	p->bytes = 0;
	for (i = 0; i < count; i++) {
		offset = 0;
		len = PAGE_SIZE;
		/* Without gaps only the first may begin inside a page, only the last end there. */
		if ((!i || gaps) && one_in(2))
			offset = 8 * rnd(PAGE_SIZE / 8);
		len -= offset;
		if ((i == count - 1 || gaps) && one_in(2))
			len = 1 + rnd(len);
		if (one_in(6) && !gaps)
			len += PAGE_SIZE * rnd(2);
		sg_set_buf(&p->sg[i], arena + at + offset, len);
		p->bytes += len;
		at += PAGE_SIZE * (1 + (one_in(3) ? rnd(3) : 0));
		if (len > PAGE_SIZE)
			at += PAGE_SIZE;
		/* The arena is large enough for three quarters of the longest list. */
		if (at >= ARENA_BYTES - 4 * PAGE_SIZE)
			at = rnd(4) * PAGE_SIZE;
	}
}

void say_pieces(const struct pieces *p)
{
	unsigned int i;

	for (i = 0; i < p->count; i++)
		say(" %lx+%x", (unsigned long)(sg_virt((struct scatterlist *)&p->sg[i]) - arena),
		    p->sg[i].length);
}
