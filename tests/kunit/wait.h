/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_WAIT_H
#define IBEX_WAIT_H

#include <linux/delay.h>
#include <linux/jiffies.h>

/*
 * How many times longer than on an idle machine things may take: a parameter of the module
 * fake_hca.
 */
extern unsigned int fake_hca_slow;

/* Jiffies that have passed, as the milliseconds of an idle machine: for upper bounds. */
static inline unsigned int took_ms(unsigned long passed)
{
	return jiffies_to_msecs(passed) / fake_hca_slow;
}

/*
 * Returns whether @cond becomes true within @ms milliseconds of an idle machine; checks every
 * jiffy or two.
 */
#define wait_within(cond, ms) ({					\
	unsigned long __end = jiffies + msecs_to_jiffies((ms) * fake_hca_slow); \
	bool __met;							\
									\
	while (!(__met = (cond)) && time_before(jiffies, __end))	\
		msleep(1);						\
	__met;								\
})

#endif
