// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counters of the events that consumers were notified of, by status.  In debugfs,
 * rdma_cm/events: one line for each pair that has occurred, on any device, of any id.
 */
#include <linux/debugfs.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <rdma/rdma_cm.h>

#include "cma.h"

#define CMA_EVENTS	(RDMA_CM_EVENT_TIMEWAIT_EXIT + 1)

/* Statuses that have a counter of their own; a REJ's reason is counted by ib_cm. */
#define CMA_STATUS(name)	{ -(name), #name }
static const struct {
	int status;
	const char *name;
} cma_statuses[] = {
	{ 0, "ok" },
	CMA_STATUS(ETIMEDOUT),
	CMA_STATUS(EHOSTUNREACH),
	CMA_STATUS(ENETUNREACH),
	CMA_STATUS(ECONNREFUSED),
	CMA_STATUS(ECONNRESET),
	CMA_STATUS(ENODEV),
	CMA_STATUS(EADDRNOTAVAIL),
	CMA_STATUS(EINVAL),
	CMA_STATUS(ENOMEM),
};

#define CMA_OTHER_STATUS	ARRAY_SIZE(cma_statuses)

struct cma_event_counts {
	unsigned long n[CMA_EVENTS][CMA_OTHER_STATUS + 1];
};

static DEFINE_PER_CPU(struct cma_event_counts, cma_event_counts);
static struct dentry *cma_debugfs;

void cma_count_event(const struct rdma_cm_event *event)
{
	unsigned int status = 0;

	if (WARN_ON_ONCE(event->event >= CMA_EVENTS))
		return;
	while (status < CMA_OTHER_STATUS && cma_statuses[status].status != event->status)
		status++;
	this_cpu_inc(cma_event_counts.n[event->event][status]);
}

static unsigned long cma_event_sum(unsigned int event, unsigned int status)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(cma_event_counts, cpu).n[event][status]);
	return sum;
}

static int cma_events_show(struct seq_file *seq, void *unused)
{
	unsigned int event, status;
	unsigned long n;

	for (event = 0; event < CMA_EVENTS; event++) {
		for (status = 0; status <= CMA_OTHER_STATUS; status++) {
			n = cma_event_sum(event, status);
			if (!n)
				continue;
			seq_printf(seq, "%s, %s: %lu\n", rdma_event_msg(event),
				   status == CMA_OTHER_STATUS ? "other" :
				   cma_statuses[status].name, n);
		}
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cma_events);

int __init cma_events_init(void)
{
	cma_debugfs = debugfs_create_dir("rdma_cm", NULL);
	debugfs_create_file("events", 0400, cma_debugfs, NULL, &cma_events_fops);
	return 0;
}

void cma_events_exit(void)
{
	debugfs_remove(cma_debugfs);
}
