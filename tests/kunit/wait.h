/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_WAIT_H
#define IBEX_WAIT_H

#include <linux/delay.h>
#include <linux/jiffies.h>

/*
 * Returns whether @cond becomes true within @ms milliseconds; checks every jiffy or
 * two.
 */
#define wait_within(cond, ms) ({					\
	unsigned long __end = jiffies + msecs_to_jiffies(ms);		\
	bool __met;							\
									\
	while (!(__met = (cond)) && time_before(jiffies, __end))	\
		msleep(1);						\
	__met;								\
})

#endif
