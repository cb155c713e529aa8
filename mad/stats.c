// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Per-port counters: /sys/class/infiniband/DEV/ports/N/mad/.
 */
#include <rdma/ib_sysfs.h>
#include <ibex/sysfs.h>
#include "mad.h"

static struct ib_port_attribute stats_attrs[IBMAD_NR_COUNTERS];

static u64 stats_sum(const struct ibmad_port *port, enum ibmad_counter counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(port->stats, cpu)->count[counter];
	return sum;
}

static ssize_t stats_show(struct ib_device *device, u32 port_num,
			  struct ib_port_attribute *attr, char *buf)
{
	struct ibmad_port *port = ibmad_port_get(device, port_num);
	u64 sum;

	if (!port)
		return -ENODEV;
	sum = stats_sum(port, attr - stats_attrs);
	ibmad_port_put(port);
	return sysfs_emit(buf, "%llu\n", sum);
}

#define STATS_ATTR(_name, _counter)					\
	[_counter] = {							\
		.attr = { .name = #_name, .mode = 0444 },		\
		.show = stats_show,					\
	}

static struct ib_port_attribute stats_attrs[IBMAD_NR_COUNTERS] = {
	STATS_ATTR(sent, IBMAD_SENT),
	STATS_ATTR(send_errors, IBMAD_SEND_ERRORS),
	STATS_ATTR(retries, IBMAD_RETRIES),
	STATS_ATTR(timeouts, IBMAD_TIMEOUTS),
	STATS_ATTR(cancelled, IBMAD_CANCELS),
	STATS_ATTR(backlogged, IBMAD_BACKLOGGED),
	STATS_ATTR(stray_completions, IBMAD_STRAY_WC),
	STATS_ATTR(qp_resets, IBMAD_QP_RESETS),
	STATS_ATTR(received, IBMAD_RECEIVED),
	STATS_ATTR(recv_malformed, IBMAD_RECV_MALFORMED),
	STATS_ATTR(recv_delivered, IBMAD_RECV_DELIVERED),
	STATS_ATTR(recv_unmatched, IBMAD_RECV_UNMATCHED),
	STATS_ATTR(recv_no_agent, IBMAD_RECV_NO_AGENT),
	STATS_ATTR(recv_no_buffer, IBMAD_RECV_NO_BUFFER),
	STATS_ATTR(recv_overflow, IBMAD_RECV_OVERFLOW),
	STATS_ATTR(recv_smi_dropped, IBMAD_RECV_SMI_DROPPED),
	STATS_ATTR(recv_forwarded, IBMAD_RECV_FORWARDED),
	STATS_ATTR(recv_provider, IBMAD_RECV_PROVIDER),
	STATS_ATTR(recv_replied, IBMAD_RECV_REPLIED),
	STATS_ATTR(rmpp_sent, IBMAD_RMPP_SENT),
	STATS_ATTR(rmpp_received, IBMAD_RMPP_RECEIVED),
	STATS_ATTR(rmpp_resent, IBMAD_RMPP_RESENT),
	STATS_ATTR(rmpp_aborted, IBMAD_RMPP_ABORTED),
	STATS_ATTR(rmpp_segments, IBMAD_RMPP_SEGMENTS),
	STATS_ATTR(rmpp_controls, IBMAD_RMPP_CONTROLS),
	STATS_ATTR(rmpp_dropped, IBMAD_RMPP_DROPPED),
};

static struct attribute *stats_attr_ptrs[IBMAD_NR_COUNTERS + 1];

static struct attribute_group stats_group = {
	.name = "mad",
	.attrs = stats_attr_ptrs,
};

static const struct attribute_group *stats_groups[] = {
	&stats_group,
	NULL,
};

int ibmad_stats_register(struct ibmad_port *port)
{
	int i;

	/* The same pointers each time: concurrent fills do not disturb. */
	for (i = 0; i < IBMAD_NR_COUNTERS; i++)
		WRITE_ONCE(stats_attr_ptrs[i], &stats_attrs[i].attr);
	return ib_port_register_client_groups(port->device, port->port_num,
					      stats_groups);
}

void ibmad_stats_unregister(struct ibmad_port *port)
{
	ib_port_unregister_client_groups(port->device, port->port_num,
					 stats_groups);
}
