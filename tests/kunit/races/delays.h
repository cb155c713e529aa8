/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_DELAYS_H
#define IBEX_DELAYS_H

#include <linux/types.h>

/* Module lock_delays: whether the kernel has the tracepoints; how many delays there were. */
bool lock_delays_possible(void);
unsigned long lock_delays_made(void);
/* The same of preemptions for longer than a grace period. */
bool preempt_possible(void);
unsigned long preempt_times(void);

#endif
