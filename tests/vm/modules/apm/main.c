// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A small ULP for the scenarios: one RC connection between two adapters of this machine by
 * the IB CM, with an alternate path, and messages on it. It is driven from debugfs/ibex_apm:
 *
 *   connect  "DEVICE_A DEVICE_B PORT ALTERNATE": both ends use PORT, and the path between
 *            their ports ALTERNATE, if not 0, is the alternate one; messages flow from A to B
 *            from then on. "off" ends the connection
 *   lap      "PORT_A PORT_B": A asks B to load that path; EOPNOTSUPP on the in-tree core
 *   answer   a write answers the LAP that B has put off
 *   load     "PORT": loads the path between the ports PORT into both QPs, without the CM
 *   migrate  a write has A's QP migrate
 *   refuse   1: B refuses LAPs
 *   wait     1: B puts them off
 *   stats    name=value lines, and the state of both QPs; a write sets the first to zero
 *
 * Each write is a call; none runs beside another.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include "apm.h"

static const char * const stat_names[APM_STATS] = {
	[APM_SENT] = "sent",
	[APM_RECEIVED] = "received",
	[APM_BAD] = "bad",
	[APM_ERRORS] = "errors",
	[APM_MIGRATED_A] = "migrated_a",
	[APM_MIGRATED_B] = "migrated_b",
	[APM_MIG_ERRORS] = "migration_errors",
	[APM_ALTERNATES] = "alternates",
	[APM_LAPS] = "laps",
	[APM_APRS] = "aprs",
	[APM_LAP_ERRORS] = "lap_errors",
	[APM_APR_STATUS] = "apr_status",
};

atomic_t apm_stats[APM_STATS];

static struct dentry *dir;
static DEFINE_MUTEX(calls);	/* serialises the files' calls */

static ssize_t read_line(const char __user *from, size_t len, char line[80])
{
	if (len >= 80)
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = 0;
	strim(line);
	return 0;
}

static ssize_t connect_write(struct file *file, const char __user *from, size_t len,
			     loff_t *pos)
{
	char line[80], a[20], b[20];
	u32 port, alternate;
	int ret;

	ret = read_line(from, len, line);
	if (ret)
		return ret;
	mutex_lock(&calls);
	if (!strcmp(line, "off"))
		apm_disconnect();
	else if (sscanf(line, "%19s %19s %u %u", a, b, &port, &alternate) == 4)
		ret = apm_connect(a, b, port, alternate);
	else
		ret = -EINVAL;
	mutex_unlock(&calls);
	return ret ?: len;
}

static ssize_t lap_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	u32 port_a, port_b;
	char line[80];
	int ret;

	ret = read_line(from, len, line);
	if (ret)
		return ret;
	if (sscanf(line, "%u %u", &port_a, &port_b) != 2)
		return -EINVAL;
	mutex_lock(&calls);
	ret = apm_lap(port_a, port_b);
	mutex_unlock(&calls);
	return ret ?: len;
}

static ssize_t answer_write(struct file *file, const char __user *from, size_t len,
			    loff_t *pos)
{
	int ret;

	mutex_lock(&calls);
	ret = apm_answer();
	mutex_unlock(&calls);
	return ret ?: len;
}

static ssize_t load_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char line[80];
	u32 port;
	int ret;

	ret = read_line(from, len, line);
	if (ret)
		return ret;
	if (kstrtou32(line, 10, &port))
		return -EINVAL;
	ret = -ENOTCONN;
	mutex_lock(&calls);
	if (apm_a.id && apm_b.id)
		ret = side_load(&apm_a, &apm_b, port) ?: side_load(&apm_b, &apm_a, port);
	mutex_unlock(&calls);
	return ret ?: len;
}

static ssize_t migrate_write(struct file *file, const char __user *from, size_t len,
			     loff_t *pos)
{
	int ret = -ENOTCONN;

	mutex_lock(&calls);
	if (apm_a.qp)
		ret = side_migrate(&apm_a);
	mutex_unlock(&calls);
	return ret ?: len;
}

static void side_show(struct seq_file *seq, const char *name, struct apm_side *side)
{
	static const char * const states[] = { "migrated", "rearm", "armed" };
	struct ib_qp_attr attr;

	if (!side->qp || side_query(side, &attr) || attr.path_mig_state > IB_MIG_ARMED)
		return;
	seq_printf(seq, "state_%s=%s\nport_%s=%u\nalternate_%s=%u\n", name,
		   states[attr.path_mig_state], name, attr.port_num, name,
		   attr.alt_port_num);
}

static int stats_show(struct seq_file *seq, void *unused)
{
	int i;

	mutex_lock(&calls);
	for (i = 0; i < APM_STATS; i++)
		seq_printf(seq, "%s=%d\n", stat_names[i], atomic_read(&apm_stats[i]));
	side_show(seq, "a", &apm_a);
	side_show(seq, "b", &apm_b);
	mutex_unlock(&calls);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return single_open(file, stats_show, NULL);
}

static ssize_t stats_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	int i;

	for (i = 0; i < APM_STATS; i++)
		atomic_set(&apm_stats[i], 0);
	return len;
}

#define WRITE_ONLY(_name)						\
	static const struct file_operations _name##_ops = {		\
		.owner = THIS_MODULE,					\
		.open = simple_open,					\
		.write = _name##_write,					\
	}

WRITE_ONLY(connect);
WRITE_ONLY(lap);
WRITE_ONLY(answer);
WRITE_ONLY(load);
WRITE_ONLY(migrate);

static const struct file_operations stats_ops = {
	.owner = THIS_MODULE,
	.open = stats_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = stats_write,
};

static int __init apm_init(void)
{
	dir = debugfs_create_dir("ibex_apm", NULL);
	debugfs_create_file("connect", 0200, dir, NULL, &connect_ops);
	debugfs_create_file("lap", 0200, dir, NULL, &lap_ops);
	debugfs_create_file("answer", 0200, dir, NULL, &answer_ops);
	debugfs_create_file("load", 0200, dir, NULL, &load_ops);
	debugfs_create_file("migrate", 0200, dir, NULL, &migrate_ops);
	debugfs_create_file("stats", 0600, dir, NULL, &stats_ops);
	debugfs_create_bool("refuse", 0600, dir, &apm_refuse);
	debugfs_create_bool("wait", 0600, dir, &apm_wait);
	return 0;
}

/* No debugfs file is open or opens again; then the connection is ended. */
static void __exit apm_exit(void)
{
	debugfs_remove(dir);
	apm_disconnect();
}

module_init(apm_init);
module_exit(apm_exit);
MODULE_DESCRIPTION("RDMA path migration exerciser for the VM scenarios");
MODULE_LICENSE("Dual BSD/GPL");
