// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures what a connection costs, as a consumer of the RDMA CM with the public API
 * alone, so that it runs alike on either core.  debugfs/ibex_bench_cm/run takes
 *
 *   open SRC DST LISTENERS   listens on ports 7471 and above of DST, and connects from
 *                            SRC: IPv4 addresses of instant0
 *   fill N                   makes or ends connections until N are alive
 *   cost K REPS              ns a connection of each step, K at a time: see conn.c
 *   mark STEP                has scripts/profile-connect count this step alone
 *   rate TASKS COUNT REPS    connections a second, made and ended
 *   unplug                   ns that the removal of instant0 takes
 *   close
 *
 * and result then has for each figure its name, the median of the repetitions, and the
 * bounds between which nine of ten lie.  Any event but those that a step should end with
 * is an error.
 */
#include <linux/module.h>
#include <linux/string.h>
#include "bench.h"

static int run(const char *line, struct bench_result *results)
{
	char src[32], dst[32], step[16];
	unsigned int a, b, c;

	if (sscanf(line, "open %31s %31s %u", src, dst, &a) == 3)
		return bench_open(src, dst, a);
	if (!bench_is_open())
		return -ENOTCONN;
	if (!strcmp(line, "close")) {
		bench_fill(0, results);
		bench_close();
		return 0;
	}
	if (sscanf(line, "fill %u", &a) == 1)
		return bench_fill(a, results);
	if (sscanf(line, "cost %u %u", &a, &b) == 2)
		return bench_cost(a, b, results);
	if (sscanf(line, "mark %15s", step) == 1)
		return bench_mark(step);
	if (sscanf(line, "rate %u %u %u", &a, &b, &c) == 3)
		return bench_rate(a, b, c, results);
	if (!strcmp(line, "unplug"))
		return bench_removal(results);
	return -EINVAL;
}

static struct bench_command command = { .run = run };

static int __init bench_init(void)
{
	bench_files_create(&command, "ibex_bench_cm");
	return 0;
}

static void __exit bench_exit(void)
{
	bench_files_remove(&command);
	bench_close();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Cost of the RDMA core's connections");
MODULE_LICENSE("Dual BSD/GPL");
