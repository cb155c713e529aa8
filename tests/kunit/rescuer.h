/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_RESCUER_H
#define IBEX_RESCUER_H

#include <linux/sched/signal.h>

/*
 * Returns whether workqueue @name runs its work if there is no memory for a new worker.
 */
static inline bool has_rescuer(const char *name)
{
	char comm[TASK_COMM_LEN];
	struct task_struct *task;
	bool found = false;

	snprintf(comm, sizeof(comm), "kworker/R-%s", name);
	rcu_read_lock();
	for_each_process(task)
		found |= !strcmp(task->comm, comm);
	rcu_read_unlock();
	return found;
}

#endif
