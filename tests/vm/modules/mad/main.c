// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs for the scenarios, over nothing but the public interface of ib_mad, so
 * that it runs alike on either core. Each device has an agent that answers; the
 * requests are started from debugfs/ibex_mad, where FROM is a device and TO is the
 * GID of another:
 *
 *   run      "FROM TO COUNT WINDOW": COUNT requests, at most WINDOW outstanding;
 *            returns when the last is complete and the agent is unregistered
 *   load     "FROM TO 0 WINDOW": requests without end, until they are dropped or
 *            the device is removed
 *   churn    "FROM TO COUNT WINDOW": COUNT agents, one after the other, each
 *            unregistered while it has outstanding requests
 *   drop     ends every load
 *   stats    name=value lines; a write sets them to zero
 *   size     bytes of a request
 *   reply    bytes of its response; 0: as many as the request
 *   rmpp     1: an RMPP transfer even if it fits in one MAD
 *   method   method of the requests
 *   timeout_ms, retries	those of each request
 *   ahs      address handles that an agent's requests are spread over
 *   linger_us	an agent of churn exists at most this long
 *   wait_s   how long a run may last
 *   delay_ms how long an answer is delayed
 *   drop_every	leave one request of this many unanswered; 0: answer all
 *   silent   a method whose requests are never answered
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include "mad.h"

static const char * const stat_names[MAD_NSTATS] = {
	[MAD_POSTED] = "posted",
	[MAD_REFUSED] = "refused",
	[MAD_COMPLETED] = "completed",
	[MAD_SUCCEEDED] = "succeeded",
	[MAD_TIMED_OUT] = "timed_out",
	[MAD_FLUSHED] = "flushed",
	[MAD_ABORTED] = "aborted",
	[MAD_FAILED] = "failed",
	[MAD_RETRIES] = "retries",
	[MAD_RESPONSES] = "responses",
	[MAD_MISMATCHED] = "mismatched",
	[MAD_DUPLICATES] = "duplicates",
	[MAD_DISORDER] = "disorder",
	[MAD_SPURNED] = "spurned",
	[MAD_LATE] = "late",
	[MAD_LOST] = "lost",
	[MAD_STRAY] = "stray",
	[MAD_HUNG] = "hung",
	[MAD_SETUP_ERROR] = "setup_error",
	[MAD_REQUESTS] = "requests",
	[MAD_BAD_REQUESTS] = "bad_requests",
	[MAD_DROPPED] = "dropped",
	[MAD_ANSWERED] = "answered",
	[MAD_ANSWERS_DONE] = "answers_done",
	[MAD_ANSWERS_FAILED] = "answers_failed",
	[MAD_REMOVALS] = "removals",
};

atomic_t mad_stats[MAD_NSTATS];
atomic_t mad_live;
atomic_t mad_stop_us;
atomic_t mad_remove_us;

struct knobs mad_knobs = {
	.size = PAYLOAD_MAD,
	.method = IB_MGMT_METHOD_GET,
	.timeout_ms = 2000,
	.retries = 3,
	.ahs = 1,
};

u32 mad_linger_us;
u32 mad_wait_s = 60;
u32 mad_drop_every;
u32 mad_silent;
u32 mad_delay_ms;

static struct dentry *dir;
static atomic_t run_us;

void mad_note_longest(atomic_t *longest, ktime_t start)
{
	int us = ktime_us_delta(ktime_get(), start);
	int was = atomic_read(longest);

	while (us > was && !atomic_try_cmpxchg(longest, &was, us))
		;
}

static bool knobs_good(const struct knobs *knobs)
{
	struct payload asked = { .length = knobs->size };
	struct payload reply = { .length = knobs->reply ?: knobs->size };

	return payload_fits(&asked) && payload_fits(&reply) &&
	       knobs->ahs && knobs->ahs <= MAX_AHS && knobs->retries <= 100 &&
	       knobs->timeout_ms && knobs->timeout_ms <= INT_MAX;
}

static int parse_order(const char __user *from, size_t len, struct order *order)
{
	char line[160], gid[64];

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = 0;
	if (sscanf(line, "%31s %63s %u %u", order->device, gid, &order->count,
		   &order->window) != 4)
		return -EINVAL;
	if (!in6_pton(gid, -1, order->peer.raw, -1, NULL) || !order->window ||
	    order->window > MAX_WINDOW || !knobs_good(&mad_knobs))
		return -EINVAL;
	return 0;
}

static ssize_t order_write(const char __user *from, size_t len,
			   int (*what)(const struct order *order))
{
	ktime_t start = ktime_get();
	struct order order;
	int ret = parse_order(from, len, &order);

	if (!ret)
		ret = what(&order);
	atomic_set(&run_us, ktime_us_delta(ktime_get(), start));
	return ret ?: len;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t len,
			 loff_t *pos)
{
	return order_write(from, len, run_count);
}

static ssize_t load_write(struct file *file, const char __user *from, size_t len,
			  loff_t *pos)
{
	return order_write(from, len, run_standing);
}

static ssize_t churn_write(struct file *file, const char __user *from,
			   size_t len, loff_t *pos)
{
	return order_write(from, len, run_churn);
}

static ssize_t drop_write(struct file *file, const char __user *from, size_t len,
			  loff_t *pos)
{
	ports_drop_standing();
	return len;
}

static int stats_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < MAD_NSTATS; i++)
		seq_printf(seq, "%s=%d\n", stat_names[i],
			   atomic_read(&mad_stats[i]));
	seq_printf(seq, "live=%d\n", atomic_read(&mad_live));
	seq_printf(seq, "run_us=%d\n", atomic_read(&run_us));
	seq_printf(seq, "stop_us=%d\n", atomic_read(&mad_stop_us));
	seq_printf(seq, "remove_us=%d\n", atomic_read(&mad_remove_us));
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

	for (i = 0; i < MAD_NSTATS; i++)
		atomic_set(&mad_stats[i], 0);
	atomic_set(&mad_stop_us, 0);
	atomic_set(&mad_remove_us, 0);
	requesters_forget();
	return len;
}

#define WRITE_ONLY(_name)						\
	static const struct file_operations _name##_ops = {		\
		.owner = THIS_MODULE,					\
		.open = simple_open,					\
		.write = _name##_write,					\
	}

WRITE_ONLY(run);
WRITE_ONLY(load);
WRITE_ONLY(churn);
WRITE_ONLY(drop);

static const struct file_operations stats_ops = {
	.owner = THIS_MODULE,
	.open = stats_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = stats_write,
};

static const struct {
	const char *name;
	u32 *value;
} knobs[] = {
	{ "size", &mad_knobs.size },
	{ "reply", &mad_knobs.reply },
	{ "method", &mad_knobs.method },
	{ "timeout_ms", &mad_knobs.timeout_ms },
	{ "retries", &mad_knobs.retries },
	{ "ahs", &mad_knobs.ahs },
	{ "linger_us", &mad_linger_us },
	{ "wait_s", &mad_wait_s },
	{ "drop_every", &mad_drop_every },
	{ "silent", &mad_silent },
	{ "delay_ms", &mad_delay_ms },
};

static int __init mad_init(void)
{
	int i, ret = ib_register_client(&mad_client);

	if (ret)
		return ret;
	dir = debugfs_create_dir("ibex_mad", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_ops);
	debugfs_create_file("load", 0200, dir, NULL, &load_ops);
	debugfs_create_file("churn", 0200, dir, NULL, &churn_ops);
	debugfs_create_file("drop", 0200, dir, NULL, &drop_ops);
	debugfs_create_file("stats", 0600, dir, NULL, &stats_ops);
	debugfs_create_bool("rmpp", 0600, dir, &mad_knobs.rmpp);
	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		debugfs_create_u32(knobs[i].name, 0600, dir, knobs[i].value);
	return 0;
}

/*
 * Why no reference remains: (1) no debugfs file is open or opens again, so no
 * order is carried out; (2) the client's removal from each device stops every
 * requester and the responder, after which none of their handlers runs.
 */
static void __exit mad_exit(void)
{
	debugfs_remove(dir);
	ib_unregister_client(&mad_client);
	/* a scenario can no longer read these counts */
	WARN_ON(atomic_read(&mad_stats[MAD_LOST]) ||
		atomic_read(&mad_stats[MAD_LATE]) || atomic_read(&mad_live));
	pr_info("ibex_mad: off its devices within %d us each\n",
		atomic_read(&mad_remove_us));
	requesters_forget();
}

module_init(mad_init);
module_exit(mad_exit);
MODULE_DESCRIPTION("MAD requests and responses for the VM scenarios");
MODULE_LICENSE("Dual BSD/GPL");
