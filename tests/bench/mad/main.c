// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures what the MAD layer costs, as a client with the public API alone, so that it
 * runs alike on either core. debugfs/ibex_bench_mad/run takes
 *
 *   open DEVICE DEVICE    agents that send requests from the first and answer them
 *                         on the second (or the same), on ports 1
 *   fill N                makes N requests outstanding; instant0 only
 *   cost WHAT K REPS      ns an operation in batches of K: see cost.c
 *   loop 0|1              instant0 gives back what is sent
 *   rate WHAT WINDOW COUNT REPS   a second: see rate.c
 *   close
 *
 * and result then has what was measured, the median of the repetitions, and the bounds
 * between which nine of ten lie.  A measurement whose MADs do not all end as they should
 * is an error.
 */
#include <linux/module.h>
#include <linux/string.h>
#include "bench.h"

static int run(const char *line, struct bench_result *result)
{
	unsigned int a, b, c;
	char what[32], other[32];

	if (sscanf(line, "open %31s %31s", what, other) == 2)
		return bench_open(what, other);
	if (!strcmp(line, "close")) {
		bench_close();
		return 0;
	}
	if (!bench.client)
		return -ENOTCONN;
	if (sscanf(line, "fill %u", &a) == 1)
		return a > BENCH_STANDING ? -EINVAL : standing_fill(a);
	if (sscanf(line, "loop %u", &a) == 1) {
		instant_loop(a);
		return 0;
	}
	if (sscanf(line, "cost %31s %u %u", what, &a, &b) == 3)
		return cost_run(what, a, b, result);
	if (sscanf(line, "rate %31s %u %u %u", what, &a, &b, &c) == 4)
		return rate_run(what, a, b, c, result);
	return -EINVAL;
}

static struct bench_command command = { .run = run };

static int __init bench_init(void)
{
	int ret = standing_init();

	if (ret)
		return ret;
	bench_files_create(&command, "ibex_bench_mad");
	return 0;
}

static void __exit bench_exit(void)
{
	bench_files_remove(&command);
	bench_close();
	standing_exit();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Cost of the RDMA core's MAD layer");
MODULE_LICENSE("Dual BSD/GPL");
