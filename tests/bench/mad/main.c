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
 * and result then has the median of the repetitions, and the bounds between which nine
 * of ten lie.  A measurement whose MADs do not all end as they should is an error.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include "../instant/instant.h"
#include "bench.h"

static struct dentry *dir;
static DEFINE_MUTEX(run_mutex);		/* one command at a time */
static struct bench_result last;	/* protected by run_mutex */

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

void bench_summary(u64 *sample, unsigned int n, struct bench_result *result)
{
	sort(sample, n, sizeof(*sample), compare_u64, NULL);
	result->median = sample[n / 2];
	result->low = sample[n / 20];
	result->high = sample[n - 1 - n / 20];
}

static int run(const char *line)
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
		return cost_run(what, a, b, &last);
	if (sscanf(line, "rate %31s %u %u %u", what, &a, &b, &c) == 4)
		return rate_run(what, a, b, c, &last);
	return -EINVAL;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t len,
			 loff_t *pos)
{
	char line[96] = {};
	int ret;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	mutex_lock(&run_mutex);
	ret = run(strim(line));
	mutex_unlock(&run_mutex);
	return ret ?: len;
}

static int result_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&run_mutex);
	seq_printf(seq, "%llu %llu %llu\n", last.median, last.low, last.high);
	mutex_unlock(&run_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static const struct file_operations run_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

static int __init bench_init(void)
{
	int ret = standing_init();

	if (ret)
		return ret;
	dir = debugfs_create_dir("ibex_bench_mad", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_ops);
	debugfs_create_file("result", 0400, dir, NULL, &result_fops);
	return 0;
}

static void __exit bench_exit(void)
{
	debugfs_remove(dir);
	bench_close();
	standing_exit();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Cost of the RDMA core's MAD layer");
MODULE_LICENSE("Dual BSD/GPL");
