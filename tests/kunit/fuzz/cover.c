// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See cover.h. */
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include "cover.h"

static struct task_struct *task;	/* whose way is noted */
static u32 last;			/* block that it came from */
static DECLARE_BITMAP(met, COVER_EDGES);
static u32 edges[COVER_MOST];
static u32 nr;

/* Called at the begin of each block.  An edge is where it is and where it came from. */
void __sanitizer_cov_trace_pc(void)
{
	u32 block, edge;

	if (READ_ONCE(task) != current || !in_task())
		return;
	block = ((u32)_RET_IP_ * 0x9e3779b1U) >> (32 - COVER_BITS);
	edge = block ^ last;
	last = block >> 1;
	if (nr < COVER_MOST && !__test_and_set_bit(edge, met))
		edges[nr++] = edge;
}
EXPORT_SYMBOL(__sanitizer_cov_trace_pc);

void cover_note(u32 what)
{
	u32 edge = (what * 0x85ebca6bU) >> (32 - COVER_BITS);

	if (nr < COVER_MOST && !__test_and_set_bit(edge, met))
		edges[nr++] = edge;
}
EXPORT_SYMBOL_GPL(cover_note);

void cover_begin(void)
{
	while (nr)
		__clear_bit(edges[--nr], met);
	last = 0;
	WRITE_ONCE(task, current);
}
EXPORT_SYMBOL_GPL(cover_begin);

u32 cover_end(const u32 **list)
{
	WRITE_ONCE(task, NULL);
	*list = edges;
	return nr;
}
EXPORT_SYMBOL_GPL(cover_end);

MODULE_DESCRIPTION("Coverage of Ibex's modules, for ib_fuzz_test");
MODULE_LICENSE("Dual BSD/GPL");
