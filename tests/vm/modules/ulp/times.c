// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The times of events of connections. debugfs/ibex_ulp/times has a line for each that was
 * accepted:
 *
 *   RECEIVED ESTABLISHED DISCONNECTED N_ESTABLISHED N_DISCONNECTED
 *
 * the first three in microseconds since just before rdma_accept, "-" for what has not
 * happened: the first good receive completion, and the first of either event; then the
 * number of each event. debugfs/ibex_ulp/connects has a line for each that was requested:
 *
 *   ENDED ESTABLISHED DISCONNECTED N_ESTABLISHED N_DISCONNECTED
 *
 * in microseconds since just before rdma_connect; ENDED is just before rdma_disconnect.
 * The records outlive their connections. Clear them only when no connection is left.
 */
#include "ulp.h"

#define MAX_TIMES	512

struct table {
	struct times rows[MAX_TIMES];
	atomic_t used;
};

static struct table passive, active;

struct times *times_new(bool is_active)
{
	struct table *table = is_active ? &active : &passive;
	int n = atomic_inc_return(&table->used) - 1;

	if (n >= MAX_TIMES)
		return NULL;
	table->rows[n].began = ktime_get_ns();
	return &table->rows[n];
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

void times_ended(struct times *times)
{
	if (times)
		stamp(&times->ended);
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
	memset(&passive, 0, sizeof(passive));
	memset(&active, 0, sizeof(active));
}

static void show_time(struct seq_file *seq, const struct times *times, u64 when)
{
	if (when)
		seq_printf(seq, "%lld ", div_s64(when - times->began, NSEC_PER_USEC));
	else
		seq_puts(seq, "- ");
}

static int show_table(struct seq_file *seq, const struct table *table)
{
	int i, n = min(atomic_read(&table->used), MAX_TIMES);

	for (i = 0; i < n; i++) {
		const struct times *times = &table->rows[i];

		show_time(seq, times, table == &active ? READ_ONCE(times->ended) :
						       READ_ONCE(times->received));
		show_time(seq, times, READ_ONCE(times->established));
		show_time(seq, times, READ_ONCE(times->disconnected));
		seq_printf(seq, "%u %u\n", times->n_established,
			   times->n_disconnected);
	}
	return 0;
}

int times_show(struct seq_file *seq, void *unused)
{
	return show_table(seq, &passive);
}

int connects_show(struct seq_file *seq, void *unused)
{
	return show_table(seq, &active);
}
