// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counters of a port.  In sysfs, below ports/N: the directories cm_tx_msgs,
 * cm_tx_retries, cm_rx_msgs and cm_rx_duplicates, with one file per kind of message.
 * In debugfs, ib_cm/<device>-<port>: how connections were established, which messages
 * were dropped, and why attempts to connect failed.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <rdma/ib_sysfs.h>
#include <ibex/device.h>
#include <ibex/sysfs.h>

#include "ibcm/port.h"

struct ibcm_attr {
	struct ib_port_attribute attr;
	u8 group;	/* enum ibcm_counter_group */
	u8 kind;	/* enum ibcm_kind */
};

static ssize_t ibcm_counter_show(struct ib_device *ibdev, u32 port_num,
				 struct ib_port_attribute *attr, char *buf)
{
	struct ibcm_attr *a = container_of(attr, struct ibcm_attr, attr);
	struct ibcm_device *dev = ib_get_client_data(ibdev, &ibcm_client);

	if (!dev || port_num - 1 >= dev->nr_ports)
		return -EINVAL;
	return sysfs_emit(buf, "%ld\n",
			  atomic_long_read(&dev->ports[port_num - 1]
					   .counters[a->group][a->kind]));
}

static const char *const ibcm_group_names[IBCM_COUNTER_GROUPS] = {
	[IBCM_TX_MSGS]		= "cm_tx_msgs",
	[IBCM_TX_RETRIES]	= "cm_tx_retries",
	[IBCM_RX_MSGS]		= "cm_rx_msgs",
	[IBCM_RX_DUPLICATES]	= "cm_rx_duplicates",
};

static const char *const ibcm_kind_names[IBCM_KINDS] = {
	[IBCM_REQ]	= "req",
	[IBCM_MRA]	= "mra",
	[IBCM_REJ]	= "rej",
	[IBCM_REP]	= "rep",
	[IBCM_RTU]	= "rtu",
	[IBCM_DREQ]	= "dreq",
	[IBCM_DREP]	= "drep",
	[IBCM_SIDR_REQ]	= "sidr_req",
	[IBCM_SIDR_REP]	= "sidr_rep",
	[IBCM_LAP]	= "lap",
	[IBCM_APR]	= "apr",
};

const char *ibcm_kind_name(enum ibcm_kind kind)
{
	return ibcm_kind_names[kind];
}

/* All filled in by ibcm_counters_init(); the lists end with NULL. */
static struct ibcm_attr ibcm_attrs[IBCM_COUNTER_GROUPS][IBCM_KINDS];
static struct attribute *ibcm_attr_lists[IBCM_COUNTER_GROUPS][IBCM_KINDS + 1];
static struct attribute_group ibcm_attr_groups[IBCM_COUNTER_GROUPS];
static const struct attribute_group *ibcm_groups[IBCM_COUNTER_GROUPS + 1];

static void ibcm_group_init(unsigned int group)
{
	unsigned int kind;

	for (kind = 0; kind < IBCM_KINDS; kind++) {
		struct ibcm_attr *a = &ibcm_attrs[group][kind];

		a->group = group;
		a->kind = kind;
		a->attr.attr.name = ibcm_kind_names[kind];
		a->attr.attr.mode = 0444;
		a->attr.show = ibcm_counter_show;
		ibcm_attr_lists[group][kind] = &a->attr.attr;
	}
	ibcm_attr_groups[group].name = ibcm_group_names[group];
	ibcm_attr_groups[group].attrs = ibcm_attr_lists[group];
	ibcm_groups[group] = &ibcm_attr_groups[group];
}

static const char *const ibcm_stat_names[IBCM_STATS] = {
	[IBCM_STAT_RTU_RECEIVED]	= "rtu_received",
	[IBCM_STAT_RTU_LATE]		= "rtu_after_established",
	[IBCM_STAT_COMM_EST]		= "comm_est_events",
	[IBCM_STAT_EST_BY_RTU]		= "established_by_rtu",
	[IBCM_STAT_EST_BY_COMM_EST]	= "established_by_comm_est",
	[IBCM_STAT_EST_BY_RECEIVED]	= "established_by_receive",
	[IBCM_STAT_EST_BY_PSN]		= "established_by_psn",
	[IBCM_STAT_EST_BY_DREQ]		= "established_by_dreq",
	[IBCM_STAT_PSN_PROBES]		= "psn_probes",
	[IBCM_STAT_REP_RESENT]		= "rep_resent",
	[IBCM_STAT_RX_MALFORMED]	= "rx_malformed",
	[IBCM_STAT_RX_UNEXPECTED]	= "rx_unexpected",
	[IBCM_STAT_RX_UNKNOWN]		= "rx_unknown_id",
	[IBCM_STAT_RX_OVERFLOW]		= "rx_overflow",
	[IBCM_STAT_SEND_ERROR]		= "send_error",
	[IBCM_STAT_SIDR_REFUSED]	= "sidr_refused",
};

/*
 * The files in debugfs have the names of their devices.  As a device may get the name that
 * another one had until now before the other one's client is told, a file may have to wait
 * for its name.
 */
static DEFINE_MUTEX(ibcm_files_lock);
static LIST_HEAD(ibcm_files);		/* ibcm_port.file_node; protected by ibcm_files_lock */
static struct dentry *ibcm_debugfs;

/* Requests that were sent as often as the protocol allows, without an answer. */
static void ibcm_unanswered_show(struct seq_file *seq, const struct ibcm_port *port)
{
	static const u8 requests[] = { IBCM_REQ, IBCM_REP, IBCM_DREQ, IBCM_SIDR_REQ, IBCM_LAP };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		seq_printf(seq, "unanswered_%s %ld\n", ibcm_kind_names[requests[i]],
			   atomic_long_read(&port->unanswered[requests[i]]));
}

/* One line for each reason that has occurred: its number, then its name. */
static void ibcm_rejects_show(struct seq_file *seq, const struct ibcm_port *port)
{
	static const char *const ways[IBCM_REJ_WAYS] = {
		[IBCM_REJ_SENT]		= "rej_sent",
		[IBCM_REJ_RECEIVED]	= "rej_received",
	};
	unsigned int way, reason;
	long n;

	for (way = 0; way < IBCM_REJ_WAYS; way++) {
		for (reason = 0; reason < IBCM_REJ_REASONS; reason++) {
			n = atomic_long_read(&port->rejects[way][reason]);
			if (n)
				seq_printf(seq, "%s_%u %ld (%s)\n", ways[way], reason, n,
					   ibcm_reject_msg(reason));
		}
	}
}

static int ibcm_stats_show(struct seq_file *seq, void *unused)
{
	struct ibcm_port *port = seq->private;
	unsigned int i;

	for (i = 0; i < IBCM_STATS; i++)
		seq_printf(seq, "%s %ld\n", ibcm_stat_names[i],
			   atomic_long_read(&port->stats[i]));
	ibcm_unanswered_show(seq, port);
	ibcm_rejects_show(seq, port);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ibcm_stats);

static void ibcm_file_create(struct ibcm_port *port)
{
	char device[IB_DEVICE_NAME_MAX], name[IB_DEVICE_NAME_MAX + 12];
	struct dentry *other;

	lockdep_assert_held(&ibcm_files_lock);
	ibcore_device_name(port->dev->ibdev, device);
	snprintf(name, sizeof(name), "%s-%u", device, port->num);
	other = debugfs_lookup(name, ibcm_debugfs);
	if (other)
		dput(other);
	else
		port->debugfs = debugfs_create_file(name, 0400, ibcm_debugfs, port,
						    &ibcm_stats_fops);
}

/* A name that files waited for may be free now. */
static void ibcm_files_complete(void)
{
	struct ibcm_port *port;

	lockdep_assert_held(&ibcm_files_lock);
	list_for_each_entry(port, &ibcm_files, file_node)
		if (!port->debugfs)
			ibcm_file_create(port);
}

int ibcm_counters_register(struct ibcm_port *port)
{
	int ret;

	ret = ib_port_register_client_groups(port->dev->ibdev, port->num, ibcm_groups);
	if (ret)
		return ret;
	mutex_lock(&ibcm_files_lock);
	list_add_tail(&port->file_node, &ibcm_files);
	ibcm_file_create(port);
	mutex_unlock(&ibcm_files_lock);
	return 0;
}

/* The device has another name now. */
void ibcm_counters_rename(struct ibcm_port *port)
{
	mutex_lock(&ibcm_files_lock);
	debugfs_remove(port->debugfs);
	port->debugfs = NULL;
	ibcm_files_complete();
	mutex_unlock(&ibcm_files_lock);
}

void ibcm_counters_unregister(struct ibcm_port *port)
{
	mutex_lock(&ibcm_files_lock);
	debugfs_remove(port->debugfs);
	list_del(&port->file_node);
	ibcm_files_complete();
	mutex_unlock(&ibcm_files_lock);
	ib_port_unregister_client_groups(port->dev->ibdev, port->num,
					 ibcm_groups);
}

void ibcm_counters_init(void)
{
	unsigned int group;

	for (group = 0; group < IBCM_COUNTER_GROUPS; group++)
		ibcm_group_init(group);
	ibcm_debugfs = debugfs_create_dir("ib_cm", NULL);
	ibcm_waiting_init(ibcm_debugfs);
}

void ibcm_counters_exit(void)
{
	debugfs_remove(ibcm_debugfs);
}
