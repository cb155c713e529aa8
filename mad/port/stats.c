// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Per-port counters, below /sys/class/infiniband/DEV/ports/N: what happened, in
 * mad/, and what was sent and received by management class, in mad_sent/ and
 * mad_received/.
 */
#include <rdma/ib_sysfs.h>
#include <ibex/sysfs.h>
#include "port/port.h"

/* ---- counting ---- */

/* Classes not listed here are IBMAD_CLASS_OTHER. */
static const u8 class_groups[U8_MAX + 1] = {
	[IB_MGMT_CLASS_SUBN_LID_ROUTED] = IBMAD_CLASS_SM_LID,
	[IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE] = IBMAD_CLASS_SM_DIRECTED,
	[IB_MGMT_CLASS_SUBN_ADM] = IBMAD_CLASS_SA,
	[IB_MGMT_CLASS_PERF_MGMT] = IBMAD_CLASS_PERFORMANCE,
	[IB_MGMT_CLASS_BM] = IBMAD_CLASS_BOARD,
	[IB_MGMT_CLASS_DEVICE_MGMT] = IBMAD_CLASS_DEVICE_MGMT,
	[IB_MGMT_CLASS_CM] = IBMAD_CLASS_CM,
	[IB_MGMT_CLASS_SNMP] = IBMAD_CLASS_SNMP,
	[IB_MGMT_CLASS_DEVICE_ADM] = IBMAD_CLASS_DEVICE_ADM,
	[IB_MGMT_CLASS_BOOT_MGMT] = IBMAD_CLASS_BOOT,
	[IB_MGMT_CLASS_BIS] = IBMAD_CLASS_BIS,
	[IB_MGMT_CLASS_CONG_MGMT] = IBMAD_CLASS_CC,
	[0x09 ... 0x0f] = IBMAD_CLASS_VENDOR,
	[IB_MGMT_CLASS_VENDOR_RANGE2_START ... IB_MGMT_CLASS_VENDOR_RANGE2_END] =
		IBMAD_CLASS_VENDOR_OUI,
};

void ibmad_count_sent(struct ibmad_port *port, const struct ib_mad_hdr *hdr)
{
	ibmad_count(port, IBMAD_SENT);
	this_cpu_inc(port->stats->sent[class_groups[hdr->mgmt_class]]);
}

void ibmad_count_received(struct ibmad_port *port, const struct ib_mad_hdr *hdr)
{
	ibmad_count(port, IBMAD_RECEIVED);
	this_cpu_inc(port->stats->received[class_groups[hdr->mgmt_class]]);
}

/* ---- showing ---- */

struct stats_attr {
	struct ib_port_attribute port;
	size_t offset;			/* of its counter in struct ibmad_stats */
};

static u64 stats_sum(const struct ibmad_port *port, size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *(u64 *)((u8 *)per_cpu_ptr(port->stats, cpu) + offset);
	return sum;
}

static ssize_t stats_show(struct ib_device *device, u32 port_num,
			  struct ib_port_attribute *attr, char *buf)
{
	struct ibmad_port *port = ibmad_port_get(device, port_num);
	u64 sum;

	if (!port)
		return -ENODEV;
	sum = stats_sum(port, container_of(attr, struct stats_attr, port)->offset);
	ibmad_port_put(port);
	return sysfs_emit(buf, "%llu\n", sum);
}

#define STATS_ATTR(_name, _member)					\
	{								\
		.port = {						\
			.attr = { .name = #_name, .mode = 0444 },	\
			.show = stats_show,				\
		},							\
		.offset = offsetof(struct ibmad_stats, _member),	\
	}

static struct stats_attr event_attrs[] = {
	STATS_ATTR(sent, count[IBMAD_SENT]),
	STATS_ATTR(send_errors, count[IBMAD_SEND_ERRORS]),
	STATS_ATTR(retries, count[IBMAD_RETRIES]),
	STATS_ATTR(timeouts, count[IBMAD_TIMEOUTS]),
	STATS_ATTR(cancelled, count[IBMAD_CANCELS]),
	STATS_ATTR(backlogged, count[IBMAD_BACKLOGGED]),
	STATS_ATTR(held, count[IBMAD_HELD_BACK]),
	STATS_ATTR(stray_completions, count[IBMAD_STRAY_WC]),
	STATS_ATTR(qp_resets, count[IBMAD_QP_RESETS]),
	STATS_ATTR(received, count[IBMAD_RECEIVED]),
	STATS_ATTR(recv_malformed, count[IBMAD_RECV_MALFORMED]),
	STATS_ATTR(recv_delivered, count[IBMAD_RECV_DELIVERED]),
	STATS_ATTR(recv_unmatched, count[IBMAD_RECV_UNMATCHED]),
	STATS_ATTR(recv_no_agent, count[IBMAD_RECV_NO_AGENT]),
	STATS_ATTR(recv_no_buffer, count[IBMAD_RECV_NO_BUFFER]),
	STATS_ATTR(recv_overflow, count[IBMAD_RECV_OVERFLOW]),
	STATS_ATTR(recv_smi_dropped, count[IBMAD_RECV_SMI_DROPPED]),
	STATS_ATTR(recv_forwarded, count[IBMAD_RECV_FORWARDED]),
	STATS_ATTR(recv_provider, count[IBMAD_RECV_PROVIDER]),
	STATS_ATTR(recv_replied, count[IBMAD_RECV_REPLIED]),
	STATS_ATTR(rmpp_sent, count[IBMAD_RMPP_SENT]),
	STATS_ATTR(rmpp_received, count[IBMAD_RMPP_RECEIVED]),
	STATS_ATTR(rmpp_resent, count[IBMAD_RMPP_RESENT]),
	STATS_ATTR(rmpp_aborted, count[IBMAD_RMPP_ABORTED]),
	STATS_ATTR(rmpp_segments, count[IBMAD_RMPP_SEGMENTS]),
	STATS_ATTR(rmpp_controls, count[IBMAD_RMPP_CONTROLS]),
	STATS_ATTR(rmpp_dropped, count[IBMAD_RMPP_DROPPED]),
	STATS_ATTR(sa_shared, count[IBMAD_SA_SHARED]),
};

static_assert(ARRAY_SIZE(event_attrs) == IBMAD_NR_COUNTERS);

static const char * const class_names[IBMAD_NR_CLASS_GROUPS] = {
	[IBMAD_CLASS_OTHER] = "other",
	[IBMAD_CLASS_SM_LID] = "sm_lid",
	[IBMAD_CLASS_SM_DIRECTED] = "sm_directed",
	[IBMAD_CLASS_SA] = "sa",
	[IBMAD_CLASS_PERFORMANCE] = "performance",
	[IBMAD_CLASS_BOARD] = "board",
	[IBMAD_CLASS_DEVICE_MGMT] = "device_mgmt",
	[IBMAD_CLASS_CM] = "cm",
	[IBMAD_CLASS_SNMP] = "snmp",
	[IBMAD_CLASS_DEVICE_ADM] = "device_adm",
	[IBMAD_CLASS_BOOT] = "boot",
	[IBMAD_CLASS_BIS] = "bis",
	[IBMAD_CLASS_CC] = "cc",
	[IBMAD_CLASS_VENDOR] = "vendor",
	[IBMAD_CLASS_VENDOR_OUI] = "vendor_oui",
};

static struct stats_attr sent_attrs[IBMAD_NR_CLASS_GROUPS];
static struct stats_attr received_attrs[IBMAD_NR_CLASS_GROUPS];

static struct attribute *event_ptrs[ARRAY_SIZE(event_attrs) + 1];
static struct attribute *sent_ptrs[ARRAY_SIZE(sent_attrs) + 1];
static struct attribute *received_ptrs[ARRAY_SIZE(received_attrs) + 1];

static const struct attribute_group event_group = {
	.name = "mad",
	.attrs = event_ptrs,
};

static const struct attribute_group sent_group = {
	.name = "mad_sent",
	.attrs = sent_ptrs,
};

static const struct attribute_group received_group = {
	.name = "mad_received",
	.attrs = received_ptrs,
};

static const struct attribute_group *stats_groups[] = {
	&event_group,
	&sent_group,
	&received_group,
	NULL,
};

/* One file for each class group, for the counters from @offset on. */
static void __init stats_init_classes(struct stats_attr *attrs,
				      struct attribute **ptrs, size_t offset)
{
	int i;

	for (i = 0; i < IBMAD_NR_CLASS_GROUPS; i++) {
		attrs[i].port.attr.name = class_names[i];
		attrs[i].port.attr.mode = 0444;
		attrs[i].port.show = stats_show;
		attrs[i].offset = offset + i * sizeof(u64);
		ptrs[i] = &attrs[i].port.attr;
	}
}

void __init ibmad_stats_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(event_attrs); i++)
		event_ptrs[i] = &event_attrs[i].port.attr;
	stats_init_classes(sent_attrs, sent_ptrs,
			   offsetof(struct ibmad_stats, sent));
	stats_init_classes(received_attrs, received_ptrs,
			   offsetof(struct ibmad_stats, received));
}

int ibmad_stats_register(struct ibmad_port *port)
{
	return ib_port_register_client_groups(port->device, port->port_num,
					      stats_groups);
}

void ibmad_stats_unregister(struct ibmad_port *port)
{
	ib_port_unregister_client_groups(port->device, port->port_num,
					 stats_groups);
}
