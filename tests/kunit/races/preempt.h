/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_PREEMPT_H
#define IBEX_PREEMPT_H

#include <linux/types.h>

int preempt_init(void);
void preempt_exit(void);

/*
 * In the code at @ip, of a module that is tested, another thread may now run for long: before a
 * lock is taken, or, if preempt_at_rcu_end() says so, in preempt_rcu_end().
 */
void preempt_at_lock(unsigned long ip, u32 random);
bool preempt_at_rcu_end(unsigned long ip, u32 random);
void preempt_rcu_end(void);

#endif
