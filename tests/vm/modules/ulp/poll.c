// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures what the core's polling costs: an active connection whose CQ is polled by
 * hand sends a window of messages, lets all completions gather, and takes the time of
 * the one call that reaps them.
 */
#include <linux/delay.h>
#include "ulp.h"

#define GATHER_MS	50
#define TRIES		200

atomic_t ulp_polled;
atomic64_t ulp_poll_ns;
u64 ulp_poll_best_ps;

static void account(unsigned int n, u64 ns)
{
	u64 each = div_u64(ns * 1000, n);

	atomic_add(n, &ulp_polled);
	atomic64_add(ns, &ulp_poll_ns);
	if (n >= ulp_window && (!ulp_poll_best_ps || each < ulp_poll_best_ps))
		ulp_poll_best_ps = each;
}

static int reap(struct conn *conn, int due)
{
	int n, tries = TRIES;
	u64 start;

	while (due > 0 && tries--) {
		msleep(GATHER_MS);
		start = ktime_get_ns();
		n = ib_process_cq_direct(conn->cq, -1);
		if (n > 0)
			account(n, ktime_get_ns() - start);
		due -= n;
	}
	return due ? -ETIMEDOUT : 0;
}

/* The first window of receives is posted before the connection is made. */
static int post_round(struct conn *conn, unsigned int n, bool first)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n && !first && !ret; i++)
		ret = conn_post_receive(conn);
	for (i = 0; i < n && !ret; i++)
		ret = conn_post_message(conn);
	return ret;
}

/* Context: may sleep; one connection at a time. */
int conn_poll(struct conn *conn)
{
	unsigned int n, left;
	int ret = 0;

	for (left = ulp_rounds; left && !ret; left -= n) {
		n = min(left, ulp_window);
		ret = post_round(conn, n, left == ulp_rounds);
		if (!ret)
			ret = reap(conn, 2 * n);
	}
	return ret;
}

void poll_clear(void)
{
	atomic_set(&ulp_polled, 0);
	atomic64_set(&ulp_poll_ns, 0);
	ulp_poll_best_ps = 0;
}
