// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A small ULP for the scenarios: connects, exchanges one message each way and
 * disconnects, over nothing but the public rdma_cm and verbs API, so that it
 * runs alike on either core. It is driven from debugfs/ibex_ulp:
 *
 *   listen   "ADDRESS PORT" starts a listener, "off" ends it
 *   idle     "ADDRESS COUNT BACKLOG" starts listeners that take no connection, each
 *            on a port of its own; "off" ends them
 *   connect  "SOURCE DESTINATION PORT COUNT PARALLEL", returns when all COUNT
 *            connections have ended (or, with hold, are established)
 *   drop     "all": ends every established connection, of either side; "active":
 *            only those of the active side, so that the other side sees them end
 *   stats    name=value lines; a write sets them to zero
 *   hold     1: leave connections established
 *   times, connects  a line for each connection accepted or requested since stats
 *            were cleared, see times.c
 *   abrupt   1: destroy the id without disconnecting it first
 *   reject   1: the listener rejects every request
 *   silent   1: send nothing, and post no receive
 *   own_cq   1: the passive side polls a CQ of its own from a workqueue, not
 *            one of the pool from softirq
 *   direct   1: the active side polls by hand and measures the time, see poll.c
 *   rounds   messages each way on a connection
 *   window   at most this many of them are outstanding
 *   backlog  backlog of the listener
 *   wait_s   how long to wait for any one event, seconds
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/module.h>
#include "ulp.h"

static const char * const stat_names[ULP_NSTATS] = {
	[ULP_ATTEMPTS] = "attempts",
	[ULP_COMPLETED] = "completed",
	[ULP_ESTABLISHED] = "established",
	[ULP_DISCONNECTED] = "disconnected",
	[ULP_TIMEWAIT] = "timewait",
	[ULP_REJECTED] = "rejected",
	[ULP_UNREACHABLE] = "unreachable",
	[ULP_ADDR_ERROR] = "addr_error",
	[ULP_ROUTE_ERROR] = "route_error",
	[ULP_CONNECT_ERROR] = "connect_error",
	[ULP_REMOVALS] = "removals",
	[ULP_SETUP_ERROR] = "setup_error",
	[ULP_TIMEOUTS] = "timeouts",
	[ULP_UNANSWERED] = "unanswered",
	[ULP_IO_ERROR] = "io_error",
	[ULP_BAD_DATA] = "bad_data",
	[ULP_DUPLICATES] = "duplicates",
	[ULP_UNEXPECTED] = "unexpected",
	[ULP_REQUESTS] = "requests",
	[ULP_ACCEPTED] = "accepted",
	[ULP_PASSIVE_ESTABLISHED] = "passive_established",
	[ULP_PASSIVE_DISCONNECTED] = "passive_disconnected",
	[ULP_LAST_REJECT] = "last_reject",
};

atomic_t ulp_stats[ULP_NSTATS];
atomic_t ulp_live;
atomic64_t ulp_connect_us;
atomic_t ulp_connect_max_us;
atomic64_t ulp_exchange_us;
struct workqueue_struct *ulp_release_wq;
bool ulp_hold;
bool ulp_abrupt;
bool ulp_reject;
bool ulp_silent;
bool ulp_own_cq;
bool ulp_direct;
u32 ulp_wait_s = 100;
u32 ulp_rounds = 1;
u32 ulp_window = 1;
u32 ulp_backlog = 128;

static struct dentry *dir;

static u64 last_run_us;

static int parse_addr(char *addr, char *port, struct sockaddr_storage *ss)
{
	return inet_pton_with_scope(&init_net, AF_UNSPEC, addr, port, ss);
}

static int read_words(const char __user *from, size_t len, char *line,
		      char **word, int max)
{
	char *rest = line;
	int n = 0;

	if (len >= 160)
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = 0;
	strim(line);
	while (n < max && (word[n] = strsep(&rest, " ")))
		n++;
	return n;
}

static ssize_t listen_write(struct file *file, const char __user *from,
			    size_t len, loff_t *pos)
{
	struct sockaddr_storage addr;
	char line[160], *word[2];
	int n = read_words(from, len, line, word, 2);
	int ret;

	if (n < 0)
		return n;
	if (n == 1 && !strcmp(word[0], "off")) {
		listen_stop();
		return len;
	}
	if (n != 2)
		return -EINVAL;
	ret = parse_addr(word[0], word[1], &addr);
	if (!ret)
		ret = listen_start(&addr);
	return ret ?: len;
}

static ssize_t idle_write(struct file *file, const char __user *from,
			  size_t len, loff_t *pos)
{
	struct sockaddr_storage addr;
	char line[160], *word[3];
	unsigned int count, backlog;
	int n = read_words(from, len, line, word, 3);
	int ret;

	if (n < 0)
		return n;
	if (n == 1 && !strcmp(word[0], "off")) {
		idle_stop();
		return len;
	}
	if (n != 3 || kstrtouint(word[1], 10, &count) ||
	    kstrtouint(word[2], 10, &backlog) || backlog > INT_MAX)
		return -EINVAL;
	ret = parse_addr(word[0], "0", &addr);
	if (!ret)
		ret = idle_start(&addr, count, backlog);
	return ret ?: len;
}

static ssize_t connect_write(struct file *file, const char __user *from,
			     size_t len, loff_t *pos)
{
	unsigned int count, parallel;
	char line[160], *word[5];
	struct run run = {};
	int n = read_words(from, len, line, word, 5);
	int ret;

	if (n < 0)
		return n;
	if (n != 5 || kstrtouint(word[3], 10, &count) ||
	    kstrtouint(word[4], 10, &parallel) || !count || count > INT_MAX ||
	    !parallel || parallel > MAX_PARALLEL || !ulp_rounds ||
	    ulp_rounds > INT_MAX || !ulp_window || ulp_window > MAX_WINDOW)
		return -EINVAL;
	ret = parse_addr(word[0], "0", &run.src);
	if (!ret)
		ret = parse_addr(word[1], word[2], &run.dst);
	if (ret)
		return ret;
	atomic_set(&run.left, count);
	last_run_us = client_run(&run, parallel);
	return len;
}

static ssize_t drop_write(struct file *file, const char __user *from,
			  size_t len, loff_t *pos)
{
	char line[160], *word[1];
	int n = read_words(from, len, line, word, 1);

	if (n < 0)
		return n;
	conn_drop_standing(!strcmp(word[0], "active"));
	return len;
}

static int stats_show(struct seq_file *seq, void *unused)
{
	int n = max(atomic_read(&ulp_stats[ULP_ESTABLISHED]), 1);
	int i;

	for (i = 0; i < ULP_NSTATS; i++)
		seq_printf(seq, "%s=%d\n", stat_names[i],
			   atomic_read(&ulp_stats[i]));
	seq_printf(seq, "live=%d\n", atomic_read(&ulp_live));
	seq_printf(seq, "listening=%d\n", listen_on());
	seq_printf(seq, "run_us=%llu\n", last_run_us);
	seq_printf(seq, "connect_avg_us=%llu\n",
		   div_u64(atomic64_read(&ulp_connect_us), n));
	seq_printf(seq, "connect_max_us=%d\n", atomic_read(&ulp_connect_max_us));
	seq_printf(seq, "exchange_us=%lld\n", atomic64_read(&ulp_exchange_us));
	seq_printf(seq, "polled=%d\n", atomic_read(&ulp_polled));
	seq_printf(seq, "poll_ns=%lld\n", atomic64_read(&ulp_poll_ns));
	seq_printf(seq, "poll_best_ps=%llu\n", ulp_poll_best_ps);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return single_open(file, stats_show, NULL);
}

static ssize_t stats_write(struct file *file, const char __user *from,
			   size_t len, loff_t *pos)
{
	int i;

	for (i = 0; i < ULP_NSTATS; i++)
		atomic_set(&ulp_stats[i], 0);
	atomic64_set(&ulp_connect_us, 0);
	atomic_set(&ulp_connect_max_us, 0);
	atomic64_set(&ulp_exchange_us, 0);
	times_clear();
	poll_clear();
	return len;
}

DEFINE_SHOW_ATTRIBUTE(times);
DEFINE_SHOW_ATTRIBUTE(connects);

#define WRITE_ONLY(_name)						\
	static const struct file_operations _name##_ops = {		\
		.owner = THIS_MODULE,					\
		.open = simple_open,					\
		.write = _name##_write,					\
	}

WRITE_ONLY(listen);
WRITE_ONLY(idle);
WRITE_ONLY(connect);
WRITE_ONLY(drop);

static const struct file_operations stats_ops = {
	.owner = THIS_MODULE,
	.open = stats_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = stats_write,
};

static int __init ulp_init(void)
{
	ulp_release_wq = alloc_workqueue("ibex_ulp", WQ_UNBOUND, 0);
	if (!ulp_release_wq)
		return -ENOMEM;
	dir = debugfs_create_dir("ibex_ulp", NULL);
	debugfs_create_file("listen", 0200, dir, NULL, &listen_ops);
	debugfs_create_file("idle", 0200, dir, NULL, &idle_ops);
	debugfs_create_file("connect", 0200, dir, NULL, &connect_ops);
	debugfs_create_file("drop", 0200, dir, NULL, &drop_ops);
	debugfs_create_file("stats", 0600, dir, NULL, &stats_ops);
	debugfs_create_file("times", 0400, dir, NULL, &times_fops);
	debugfs_create_file("connects", 0400, dir, NULL, &connects_fops);
	debugfs_create_bool("hold", 0600, dir, &ulp_hold);
	debugfs_create_bool("abrupt", 0600, dir, &ulp_abrupt);
	debugfs_create_bool("reject", 0600, dir, &ulp_reject);
	debugfs_create_bool("silent", 0600, dir, &ulp_silent);
	debugfs_create_bool("own_cq", 0600, dir, &ulp_own_cq);
	debugfs_create_bool("direct", 0600, dir, &ulp_direct);
	debugfs_create_u32("rounds", 0600, dir, &ulp_rounds);
	debugfs_create_u32("window", 0600, dir, &ulp_window);
	debugfs_create_u32("backlog", 0600, dir, &ulp_backlog);
	debugfs_create_u32("wait_s", 0600, dir, &ulp_wait_s);
	return 0;
}

/*
 * Why no reference remains: (1) no debugfs file is open or opens again, so no run is in
 * progress; (2) the listeners are destroyed, so no new child is created; (3) the
 * workqueue releases standing connections, and the loop waits until no connection is
 * left; (4) client threads hold references to the module.
 */
static void __exit ulp_exit(void)
{
	debugfs_remove(dir);
	listen_stop();
	idle_stop();
	conn_drop_standing(false);
	while (atomic_read(&ulp_live))
		msleep(20);
	destroy_workqueue(ulp_release_wq);
}

module_init(ulp_init);
module_exit(ulp_exit);
MODULE_DESCRIPTION("RDMA connection exerciser for the VM scenarios");
MODULE_LICENSE("Dual BSD/GPL");
