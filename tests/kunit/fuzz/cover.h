/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FUZZ_COVER_H
#define IBEX_FUZZ_COVER_H

/*
 * Which code a call has reached.  scripts/kunit --fuzz builds our modules with
 * -fsanitize-coverage=trace-pc: each basic block calls __sanitizer_cov_trace_pc().  Only what the
 * thread that called cover_begin() does itself is noted, not what interrupts and work items do
 * for it, since that is not the same each time.
 */
#include <linux/bits.h>
#include <linux/types.h>

#define COVER_BITS	18
#define COVER_EDGES	BIT(COVER_BITS)
#define COVER_MOST	16384		/* different edges of one input */

void __sanitizer_cov_trace_pc(void);
void cover_begin(void);
/* Something else to be reached: counts like an edge. */
void cover_note(u32 what);
/* Returns how many edges were reached, each once in @edges; valid until cover_begin(). */
u32 cover_end(const u32 **edges);

#endif
