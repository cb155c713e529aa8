/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_EXPORTER_H
#define IBEX_EXPORTER_H

/*
 * An exporter of a dma-buf with DMA addresses but no memory.  Segments of 2 pages lie 16
 * pages apart.  The exporter checks that a table is returned unchanged.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <kunit/test.h>

#define EXPORT_SEGS	4
#define EXPORT_SEG	(2 * PAGE_SIZE)
#define EXPORT_SIZE	(EXPORT_SEGS * EXPORT_SEG)
#define EXPORT_DMA(seg)	(0x100000000ull + (seg) * 16 * PAGE_SIZE)

struct exporter {
	struct dma_buf *dmabuf;
	int fd;
	int attached, pinned, mapped;
	int maps;			/* in total */
	bool spoilt;			/* a table was returned changed */
	int fail_pin, fail_map;		/* errors to return */
	unsigned int segs;		/* in the tables it returns */
	bool move_while_mapping;
};

/* @dynamic: it can move the buffer. */
int exporter_open(struct exporter *exp, bool dynamic);
void exporter_close(struct exporter *exp);
/* Notifies all importers that the buffer moves. */
void exporter_move(struct exporter *exp);
/* Expects that only the exporter itself holds the buffer. */
void exporter_expect_idle(struct kunit *test, struct exporter *exp);

#endif
