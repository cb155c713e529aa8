// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The times of events of the connections that were accepted. debugfs/ibex_ulp/times has
 * a line for each:
 *
 *   RECEIVED ESTABLISHED DISCONNECTED N_ESTABLISHED N_DISCONNECTED
 *
 * the first three in microseconds since just before rdma_accept, "-" for what has not
 * happened: the first good receive completion, and the first of either event; then the
 * number of each event. The records outlive their connections. Clear them only when
 * no connection is left.
 */
#include "ulp.h"

#define MAX_TIMES	512

static struct times table[MAX_TIMES];
static atomic_t used;

struct times *times_new(void)
{
	int n = atomic_inc_return(&used) - 1;

	if (n >= MAX_TIMES)
		return NULL;
	table[n].accepted = ktime_get_ns();
	return &table[n];
}

static void stamp(u64 *when)
{
	if (!*when)
		WRITE_ONCE(*when, ktime_get_ns());
}

void times_received(struct times *times)
{
	if (times)
		stamp(&times->received);
}

void times_event(struct times *times, enum rdma_cm_event_type event)
{
	if (!times)
		return;
	if (event == RDMA_CM_EVENT_ESTABLISHED) {
		stamp(&times->established);
		times->n_established++;
	} else if (event == RDMA_CM_EVENT_DISCONNECTED) {
		stamp(&times->disconnected);
		times->n_disconnected++;
	}
}

void times_clear(void)
{
	atomic_set(&used, 0);
	memset(table, 0, sizeof(table));
}

static void show_time(struct seq_file *seq, const struct times *times, u64 when)
{
	if (when)
		seq_printf(seq, "%lld ", div_s64(when - times->accepted, NSEC_PER_USEC));
	else
		seq_puts(seq, "- ");
}

int times_show(struct seq_file *seq, void *unused)
{
	int i, n = min(atomic_read(&used), MAX_TIMES);

	for (i = 0; i < n; i++) {
		const struct times *times = &table[i];

		show_time(seq, times, READ_ONCE(times->received));
		show_time(seq, times, READ_ONCE(times->established));
		show_time(seq, times, READ_ONCE(times->disconnected));
		seq_printf(seq, "%u %u\n", times->n_established,
			   times->n_disconnected);
	}
	return 0;
}
