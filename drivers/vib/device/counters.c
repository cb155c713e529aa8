// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * hw_counters of a port: what the link counts, what the adapter dropped and why, and what
 * became of connections.
 */
#include "device/hca.h"

#define RC_EVENTS	(VIB_COUNTERS + VIB_DROPS)

/* In the order of enum vib_counter, of enum vib_drop, and of enum vib_rc_event. */
static const struct rdma_stat_desc counter_descs[] = {
	[VIB_XMIT_DATA].name = "xmit_data",
	[VIB_RCV_DATA].name = "rcv_data",
	[VIB_XMIT_PKTS].name = "xmit_packets",
	[VIB_RCV_PKTS].name = "rcv_packets",
	[VIB_UCAST_XMIT_PKTS].name = "unicast_xmit_packets",
	[VIB_UCAST_RCV_PKTS].name = "unicast_rcv_packets",
	[VIB_MCAST_XMIT_PKTS].name = "multicast_xmit_packets",
	[VIB_MCAST_RCV_PKTS].name = "multicast_rcv_packets",
	[VIB_XMIT_DISCARDS].name = "xmit_discards",
	[VIB_XMIT_CONSTRAINT_ERRORS].name = "xmit_constraint_errors",
	[VIB_RCV_CONSTRAINT_ERRORS].name = "rcv_constraint_errors",
	[VIB_RCV_ERRORS].name = "rcv_errors",
	[VIB_RCV_DISCARDS].name = "rcv_discards",
	[VIB_RCV_REMPHYS_ERRORS].name = "rcv_remote_physical_errors",
	[VIB_RCV_SWITCH_RELAY_ERRORS].name = "rcv_switch_relay_errors",
	[VIB_VL15_DROPPED].name = "vl15_dropped",
	[VIB_XMIT_WAIT].name = "xmit_wait",
	[VIB_LINK_DOWNED].name = "link_downed",
	[VIB_LINK_RECOVERY].name = "link_error_recovery",
	[VIB_SYMBOL_ERRORS].name = "symbol_errors",

	[VIB_COUNTERS + VIB_DROP_LID].name = "drop_lid",
	[VIB_COUNTERS + VIB_DROP_GRH].name = "drop_grh",
	[VIB_COUNTERS + VIB_DROP_QP].name = "drop_qp",
	[VIB_COUNTERS + VIB_DROP_OPCODE].name = "drop_opcode",
	[VIB_COUNTERS + VIB_DROP_PKEY].name = "drop_pkey",
	[VIB_COUNTERS + VIB_DROP_QKEY].name = "drop_qkey",
	[VIB_COUNTERS + VIB_DROP_MEMBER].name = "drop_multicast_member",
	[VIB_COUNTERS + VIB_DROP_LENGTH].name = "drop_mad_length",
	[VIB_COUNTERS + VIB_DROP_NO_RECEIVE].name = "drop_no_receive",
	[VIB_COUNTERS + VIB_DROP_BACKLOG].name = "drop_backlog",
	[VIB_COUNTERS + VIB_DROP_NO_MEMORY].name = "drop_no_memory",
	[VIB_COUNTERS + VIB_DROP_SEND_PKEY].name = "drop_send_pkey",
	[VIB_COUNTERS + VIB_DROP_PATH].name = "drop_path",
	[VIB_COUNTERS + VIB_DROP_RESPONSE].name = "drop_response",
	[VIB_COUNTERS + VIB_DROP_SEQUENCE].name = "drop_sequence",
	[VIB_COUNTERS + VIB_DROP_REQUEST].name = "drop_request",

	[RC_EVENTS + VIB_RC_TIMEOUT].name = "rc_timeouts",
	[RC_EVENTS + VIB_RC_SEQ_NAK].name = "rc_sequence_naks",
	[RC_EVENTS + VIB_RC_IMPLIED_NAK].name = "rc_implied_naks",
	[RC_EVENTS + VIB_RC_RNR_NAK].name = "rc_rnr_naks",
	[RC_EVENTS + VIB_RC_MIGRATED].name = "rc_migrations",
	[RC_EVENTS + VIB_RC_DUPLICATE].name = "rc_duplicate_requests",
	[RC_EVENTS + VIB_RC_SENT_SEQ_NAK].name = "rc_sent_sequence_naks",
	[RC_EVENTS + VIB_RC_SENT_RNR_NAK].name = "rc_sent_rnr_naks",
	[RC_EVENTS + VIB_RC_SENT_ERROR_NAK].name = "rc_sent_error_naks",
};

static_assert(ARRAY_SIZE(counter_descs) == RC_EVENTS + VIB_RC_EVENTS);

static struct rdma_hw_stats *vib_alloc_stats(struct ib_device *ibdev, u32 port_num)
{
	return rdma_alloc_hw_stats_struct(counter_descs, ARRAY_SIZE(counter_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* All at once, whichever is asked for. */
static int vib_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
			 int index)
{
	struct vib_hca *hca = to_vib_hca(ibdev);
	struct vib_port *port;
	unsigned int i;

	if (!rdma_is_port_valid(ibdev, port_num))
		return -EINVAL;
	port = &hca->node.ports[port_num];
	for (i = 0; i < VIB_COUNTERS; i++)
		stats->value[i] = vib_port_counter(port, i);
	for (i = 0; i < VIB_DROPS; i++)
		stats->value[VIB_COUNTERS + i] =
			atomic64_read(&hca->ports[port_num].drops[i]);
	for (i = 0; i < VIB_RC_EVENTS; i++)
		stats->value[RC_EVENTS + i] =
			atomic64_read(&hca->ports[port_num].rc_events[i]);
	return ARRAY_SIZE(counter_descs);
}

const struct ib_device_ops vib_counter_ops = {
	.alloc_hw_port_stats	= vib_alloc_stats,
	.get_hw_stats		= vib_get_stats,
};
