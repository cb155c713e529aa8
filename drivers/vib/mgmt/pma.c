// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The performance management agent (IBA vol. 1, 16.1): ClassPortInfo, PortCounters and
 * PortCountersExtended.
 *
 * The counters of a port are monotonic.  A Set does not change them but the base that is
 * subtracted from them (struct vib_mgmt).  PortCounters and PortCountersExtended have bases
 * of their own.  The counters of PortCounters stop at the greatest value of their width.
 */
#include "mgmt/state.h"
#include <rdma/ib_pma.h>

#define PORT_SELECT_ALL	255
#define RESP_TIME	16	/* 4.096 us * 2^16: 268 ms */

/* Offsets that are the same in both attributes */
#define PMA_PORT_SELECT		1
#define PMA_COUNTER_SELECT	2

/* CounterSelect2 of PortCounters: its bits follow those of CounterSelect in pma_field. */
#define PMA_COUNTER_SELECT2	offsetof(struct ib_pma_portcounters, reserved1)
#define SELECT2_XMIT_WAIT	BIT(16)

struct pma_field {
	u8 offset;
	u8 bytes;
	u32 select;
	enum vib_counter counter;
};

#define NARROW(_field)		offsetof(struct ib_pma_portcounters, _field)
#define EXTENDED(_field)	offsetof(struct ib_pma_portcounters_ext, _field)

/* 16.1.3.5.  Errors that the fabric does not have, such as link integrity, read as 0. */
static const struct pma_field narrow_fields[] = {
	{ NARROW(symbol_error_counter), 2, BIT(0), VIB_SYMBOL_ERRORS },
	{ NARROW(link_error_recovery_counter), 1, BIT(1), VIB_LINK_RECOVERY },
	{ NARROW(link_downed_counter), 1, BIT(2), VIB_LINK_DOWNED },
	{ NARROW(port_rcv_errors), 2, BIT(3), VIB_RCV_ERRORS },
	{ NARROW(port_rcv_remphys_errors), 2, BIT(4), VIB_RCV_REMPHYS_ERRORS },
	{ NARROW(port_rcv_switch_relay_errors), 2, BIT(5), VIB_RCV_SWITCH_RELAY_ERRORS },
	{ NARROW(port_xmit_discards), 2, BIT(6), VIB_XMIT_DISCARDS },
	{ NARROW(port_xmit_constraint_errors), 1, BIT(7), VIB_XMIT_CONSTRAINT_ERRORS },
	{ NARROW(port_rcv_constraint_errors), 1, BIT(8), VIB_RCV_CONSTRAINT_ERRORS },
	{ NARROW(vl15_dropped), 2, BIT(11), VIB_VL15_DROPPED },
	{ NARROW(port_xmit_data), 4, BIT(12), VIB_XMIT_DATA },
	{ NARROW(port_rcv_data), 4, BIT(13), VIB_RCV_DATA },
	{ NARROW(port_xmit_packets), 4, BIT(14), VIB_XMIT_PKTS },
	{ NARROW(port_rcv_packets), 4, BIT(15), VIB_RCV_PKTS },
	{ NARROW(port_xmit_wait), 4, SELECT2_XMIT_WAIT, VIB_XMIT_WAIT },
};

/* 16.1.4.11 */
static const struct pma_field extended_fields[] = {
	{ EXTENDED(port_xmit_data), 8, BIT(0), VIB_XMIT_DATA },
	{ EXTENDED(port_rcv_data), 8, BIT(1), VIB_RCV_DATA },
	{ EXTENDED(port_xmit_packets), 8, BIT(2), VIB_XMIT_PKTS },
	{ EXTENDED(port_rcv_packets), 8, BIT(3), VIB_RCV_PKTS },
	{ EXTENDED(port_unicast_xmit_packets), 8, BIT(4), VIB_UCAST_XMIT_PKTS },
	{ EXTENDED(port_unicast_rcv_packets), 8, BIT(5), VIB_UCAST_RCV_PKTS },
	{ EXTENDED(port_multicast_xmit_packets), 8, BIT(6), VIB_MCAST_XMIT_PKTS },
	{ EXTENDED(port_multicast_rcv_packets), 8, BIT(7), VIB_MCAST_RCV_PKTS },
};

struct pma_attr {
	const struct pma_field *fields;
	unsigned int num;
	enum vib_pma_view view;
};

static const struct pma_attr pma_narrow = {
	narrow_fields, ARRAY_SIZE(narrow_fields), VIB_PMA_COUNTERS
};

static const struct pma_attr pma_extended = {
	extended_fields, ARRAY_SIZE(extended_fields), VIB_PMA_EXTENDED
};

/* ---- fields in a MAD ---- */

static void field_put(u8 *data, const struct pma_field *field, u64 value)
{
	u8 *to = data + field->offset;

	switch (field->bytes) {
	case 1:
		*to = min_t(u64, value, U8_MAX);
		break;
	case 2:
		put_unaligned_be16(min_t(u64, value, U16_MAX), to);
		break;
	case 4:
		put_unaligned_be32(min_t(u64, value, U32_MAX), to);
		break;
	default:
		put_unaligned_be64(value, to);
		break;
	}
}

static u64 field_get(const u8 *data, const struct pma_field *field)
{
	const u8 *from = data + field->offset;

	switch (field->bytes) {
	case 1:
		return *from;
	case 2:
		return get_unaligned_be16(from);
	case 4:
		return get_unaligned_be32(from);
	default:
		return get_unaligned_be64(from);
	}
}

static u32 pma_select(const u8 *data, const struct pma_attr *attr)
{
	u32 select = get_unaligned_be16(data + PMA_COUNTER_SELECT);

	if (attr == &pma_narrow)
		select |= data[PMA_COUNTER_SELECT2] << 16;
	return select;
}

/* ---- the ports that PortSelect names ---- */

static bool pma_ports(const struct vib_node *node, u8 select, u8 *first, u8 *last)
{
	u8 lowest = node->type == RDMA_NODE_IB_SWITCH ? 0 : 1;

	*first = select == PORT_SELECT_ALL ? lowest : select;
	*last = select == PORT_SELECT_ALL ? node->num_ports : select;
	return *first >= lowest && *last <= node->num_ports;
}

static u64 pma_value(struct vib_port *port, const struct pma_attr *attr,
		     enum vib_counter counter)
{
	struct vib_mgmt *mgmt = port->mgmt;
	u64 base = 0;

	if (mgmt) {
		spin_lock_bh(&mgmt->lock);
		base = mgmt->base[attr->view][counter];
		spin_unlock_bh(&mgmt->lock);
	}
	return vib_port_counter(port, counter) - base;
}

/* With PORT_SELECT_ALL, the values are sums. */
static void pma_get(struct vib_node *node, u8 first, u8 last, const struct pma_attr *attr,
		    u8 *data)
{
	const struct pma_field *field;
	unsigned int i, num;
	u64 sum;

	for (i = 0; i < attr->num; i++) {
		field = &attr->fields[i];
		sum = 0;
		for (num = first; num <= last; num++)
			sum += pma_value(&node->ports[num], attr, field->counter);
		field_put(data, field, sum);
	}
}

static bool pma_set_port(struct vib_port *port, const struct pma_attr *attr, const u8 *from)
{
	struct vib_mgmt *mgmt = port->mgmt;
	u32 select = pma_select(from, attr);
	const struct pma_field *field;
	unsigned int i;
	u64 now;

	if (!mgmt)
		return false;
	spin_lock_bh(&mgmt->lock);
	for (i = 0; i < attr->num; i++) {
		field = &attr->fields[i];
		if (!(select & field->select))
			continue;
		now = vib_port_counter(port, field->counter);
		mgmt->base[attr->view][field->counter] = now - field_get(from, field);
	}
	spin_unlock_bh(&mgmt->lock);
	return true;
}

static u16 pma_counters(struct vib_port *port, const struct pma_attr *attr, bool set,
			const u8 *from, u8 *data)
{
	struct vib_node *node = port->node;
	u8 select = from[PMA_PORT_SELECT], first, last;
	unsigned int num;
	u16 status = 0;

	data[PMA_PORT_SELECT] = select;
	if (!pma_ports(node, select, &first, &last))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	for (num = first; set && num <= last; num++) {
		if (!pma_set_port(&node->ports[num], attr, from))
			status = IB_MGMT_MAD_STATUS_BUSY;
	}
	pma_get(node, first, last, attr, data);
	return status;
}

/* ---- dispatch ---- */

/* This agent sends no traps, so a Set of their destination has no effect. */
static u16 pma_class_info(u8 *data)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_ALLPORTSELECT | IB_PMA_CLASS_CAP_EXT_WIDTH |
				IB_PMA_CLASS_CAP_XMIT_WAIT;
	ib_set_cpi_resp_time(info, RESP_TIME);
	return 0;
}

static u16 pma_process(struct vib_port *port, const struct ib_pma_mad *in,
		       struct ib_pma_mad *out)
{
	bool set = in->mad_hdr.method == IB_MGMT_METHOD_SET;

	if (in->mad_hdr.base_version != IB_MGMT_BASE_VERSION || in->mad_hdr.class_version != 1)
		return IB_MGMT_MAD_STATUS_BAD_VERSION;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return pma_class_info(out->data);
	case IB_PMA_PORT_COUNTERS:
		return pma_counters(port, &pma_narrow, set, in->data, out->data);
	case IB_PMA_PORT_COUNTERS_EXT:
		return pma_counters(port, &pma_extended, set, in->data, out->data);
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
}

enum vib_mad_result vib_pma_handle(struct vib_port *port, const struct ib_mad *in,
				   struct ib_mad *out)
{
	u8 method = in->mad_hdr.method;

	BUILD_BUG_ON(sizeof(struct ib_pma_mad) != sizeof(struct ib_mad));
	if (method != IB_MGMT_METHOD_GET && method != IB_MGMT_METHOD_SET)
		return VIB_MAD_HOST;
	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(pma_process(port, (const struct ib_pma_mad *)in,
						      (struct ib_pma_mad *)out));
	return VIB_MAD_REPLY;
}
