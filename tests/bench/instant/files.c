// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A benchmark's files in debugfs: commands are written to one, and results read. */
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include "instant.h"

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
EXPORT_SYMBOL_GPL(bench_summary);

static ssize_t run_write(struct file *file, const char __user *from, size_t len,
			 loff_t *pos)
{
	struct bench_command *command = file->private_data;
	char line[96] = {};
	int ret;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	mutex_lock(&command->mutex);
	memset(command->results, 0, sizeof(command->results));
	ret = command->run(strim(line), command->results);
	mutex_unlock(&command->mutex);
	return ret ?: len;
}

/* One line for each figure that the last command has set. */
static int result_show(struct seq_file *seq, void *unused)
{
	struct bench_command *command = seq->private;
	const struct bench_result *result;

	mutex_lock(&command->mutex);
	for (result = command->results;
	     result < command->results + BENCH_RESULTS && result->what; result++)
		seq_printf(seq, "%s %llu %llu %llu\n", result->what, result->median,
			   result->low, result->high);
	mutex_unlock(&command->mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static const struct file_operations run_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

void bench_files_create(struct bench_command *command, const char *name)
{
	mutex_init(&command->mutex);
	command->dir = debugfs_create_dir(name, NULL);
	debugfs_create_file("run", 0200, command->dir, command, &run_ops);
	debugfs_create_file("result", 0400, command->dir, command, &result_fops);
}
EXPORT_SYMBOL_GPL(bench_files_create);

/* Commands have ended when this returns, and no new one begins. */
void bench_files_remove(struct bench_command *command)
{
	debugfs_remove(command->dir);
}
EXPORT_SYMBOL_GPL(bench_files_remove);
