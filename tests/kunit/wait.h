/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_WAIT_H
#define IBEX_WAIT_H

#include <linux/delay.h>

/* Whether @cond holds within @ms milliseconds; looks each millisecond. */
#define wait_within(cond, ms) ({					\
	unsigned int __left = (ms);					\
	bool __met;							\
									\
	while (!(__met = (cond)) && __left--)				\
		msleep(1);						\
	__met;								\
})

#endif
