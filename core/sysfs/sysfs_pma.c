// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ports/N/counters: the counters of a port's performance management agent (IBA
 * 16.1).  The agent is queried locally, not over the wire, through the driver's
 * process_mad().
 */
#include <linux/sysfs.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_sysfs.h>

#include "device/device.h"
#include "sysfs/sysfs.h"

/*
 * Place of a counter: @bits bits from bit @skip on, counted from the most
 * significant bit of the octet at @offset.
 */
struct pma_field {
	u16 offset;
	u8 bits;
	u8 skip;
};

struct pma_attr {
	struct ib_port_attribute attr;
	__be16 attr_id;
	struct pma_field field;
};

static ssize_t pma_show(struct ib_device *dev, u32 port,
			struct ib_port_attribute *attr, char *buf);

#define PMA_ATTR(var, file, id, ...)					\
static struct pma_attr pma_##var = {					\
	.attr = {							\
		.attr = { .name = file, .mode = 0444 },			\
		.show = pma_show,					\
	},								\
	.attr_id = id,							\
	.field = { __VA_ARGS__ },					\
}

/* The attribute PortCounters, IBA 16.1.3.5. */
#define PMA_COUNTER(var, file, field, nbits)				\
	PMA_ATTR(var, file, IB_PMA_PORT_COUNTERS,			\
		 .offset = offsetof(struct ib_pma_portcounters, field),	\
		 .bits = nbits)

/* The attribute PortCountersExtended, IBA 16.1.4.11. */
#define PMA_COUNTER_EXT(var, file, field)				\
	PMA_ATTR(var, file, IB_PMA_PORT_COUNTERS_EXT,			\
		 .offset = offsetof(struct ib_pma_portcounters_ext,	\
				    field),				\
		 .bits = 64)

/* Two counters share one octet. */
#define PMA_NIBBLE(var, file, nskip)					\
	PMA_ATTR(var, file, IB_PMA_PORT_COUNTERS,			\
		 .offset = offsetof(struct ib_pma_portcounters,		\
				    link_overrun_errors),		\
		 .bits = 4, .skip = nskip)

PMA_COUNTER(symbol_error, "symbol_error",
	    symbol_error_counter, 16);
PMA_COUNTER(link_error_recovery, "link_error_recovery",
	    link_error_recovery_counter, 8);
PMA_COUNTER(link_downed, "link_downed",
	    link_downed_counter, 8);
PMA_COUNTER(port_rcv_errors, "port_rcv_errors",
	    port_rcv_errors, 16);
PMA_COUNTER(port_rcv_remphys_errors, "port_rcv_remote_physical_errors",
	    port_rcv_remphys_errors, 16);
PMA_COUNTER(port_rcv_switch_relay_errors, "port_rcv_switch_relay_errors",
	    port_rcv_switch_relay_errors, 16);
PMA_COUNTER(port_xmit_discards, "port_xmit_discards",
	    port_xmit_discards, 16);
PMA_COUNTER(port_xmit_constraint_errors, "port_xmit_constraint_errors",
	    port_xmit_constraint_errors, 8);
PMA_COUNTER(port_rcv_constraint_errors, "port_rcv_constraint_errors",
	    port_rcv_constraint_errors, 8);
PMA_NIBBLE(local_link_integrity, "local_link_integrity_errors", 0);
PMA_NIBBLE(buffer_overrun, "excessive_buffer_overrun_errors", 4);
PMA_COUNTER(vl15_dropped, "VL15_dropped",
	    vl15_dropped, 16);
PMA_COUNTER(port_xmit_wait, "port_xmit_wait",
	    port_xmit_wait, 32);
PMA_COUNTER(port_xmit_data, "port_xmit_data",
	    port_xmit_data, 32);
PMA_COUNTER(port_rcv_data, "port_rcv_data",
	    port_rcv_data, 32);
PMA_COUNTER(port_xmit_packets, "port_xmit_packets",
	    port_xmit_packets, 32);
PMA_COUNTER(port_rcv_packets, "port_rcv_packets",
	    port_rcv_packets, 32);

PMA_COUNTER_EXT(ext_xmit_data, "port_xmit_data", port_xmit_data);
PMA_COUNTER_EXT(ext_rcv_data, "port_rcv_data", port_rcv_data);
PMA_COUNTER_EXT(ext_xmit_packets, "port_xmit_packets", port_xmit_packets);
PMA_COUNTER_EXT(ext_rcv_packets, "port_rcv_packets", port_rcv_packets);
PMA_COUNTER_EXT(unicast_xmit, "unicast_xmit_packets",
		port_unicast_xmit_packets);
PMA_COUNTER_EXT(unicast_rcv, "unicast_rcv_packets", port_unicast_rcv_packets);
PMA_COUNTER_EXT(multicast_xmit, "multicast_xmit_packets",
		port_multicast_xmit_packets);
PMA_COUNTER_EXT(multicast_rcv, "multicast_rcv_packets",
		port_multicast_rcv_packets);

/* The counters that every agent has. */
static struct attribute *pma_error_attrs[] = {
	&pma_symbol_error.attr.attr,
	&pma_link_error_recovery.attr.attr,
	&pma_link_downed.attr.attr,
	&pma_port_rcv_errors.attr.attr,
	&pma_port_rcv_remphys_errors.attr.attr,
	&pma_port_rcv_switch_relay_errors.attr.attr,
	&pma_port_xmit_discards.attr.attr,
	&pma_port_xmit_constraint_errors.attr.attr,
	&pma_port_rcv_constraint_errors.attr.attr,
	&pma_local_link_integrity.attr.attr,
	&pma_buffer_overrun.attr.attr,
	&pma_vl15_dropped.attr.attr,
	&pma_port_xmit_wait.attr.attr,
	NULL
};

/* Data and packets, in 32 bits or in 64. */
static struct attribute *pma_data_attrs[] = {
	&pma_port_xmit_data.attr.attr,
	&pma_port_rcv_data.attr.attr,
	&pma_port_xmit_packets.attr.attr,
	&pma_port_rcv_packets.attr.attr,
	NULL
};

static struct attribute *pma_data_ext_attrs[] = {
	&pma_ext_xmit_data.attr.attr,
	&pma_ext_rcv_data.attr.attr,
	&pma_ext_xmit_packets.attr.attr,
	&pma_ext_rcv_packets.attr.attr,
	NULL
};

/* The IETF counters: packets by kind of address. */
static struct attribute *pma_cast_attrs[] = {
	&pma_unicast_xmit.attr.attr,
	&pma_unicast_rcv.attr.attr,
	&pma_multicast_xmit.attr.attr,
	&pma_multicast_rcv.attr.attr,
	NULL
};

#define PMA_GROUP(var)							\
static const struct attribute_group var = {				\
	.name = "counters",						\
	.attrs = var##_attrs,						\
}

PMA_GROUP(pma_error);
PMA_GROUP(pma_data);
PMA_GROUP(pma_data_ext);
PMA_GROUP(pma_cast);

/*
 * Queries the attribute @attr_id by a Get() of a Performance MAD (IBA 16.1.2)
 * and copies @len octets at @offset of it to @data.
 */
static int pma_get(struct ib_device *dev, u32 port, __be16 attr_id, u32 offset,
		   void *data, size_t len)
{
	static const int ok = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	struct ib_pma_mad *in, *out;
	size_t out_size = sizeof(*out);
	u16 pkey_index = 0;
	int ret = -ENOMEM;

	in = kzalloc(sizeof(*in), GFP_KERNEL);
	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!in || !out)
		goto out;

	in->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	in->mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	in->mad_hdr.class_version = 1;
	in->mad_hdr.method = IB_MGMT_METHOD_GET;
	in->mad_hdr.attr_id = attr_id;
	if (attr_id != IB_PMA_CLASS_PORT_INFO)
		in->data[offsetof(struct ib_pma_portcounters, port_select)] =
			port;

	ret = dev->ops.process_mad(dev, IB_MAD_IGNORE_MKEY, port, NULL, NULL,
				   (struct ib_mad *)in, (struct ib_mad *)out,
				   &out_size, &pkey_index);
	if ((ret & ok) != ok) {
		ret = -EINVAL;
		goto out;
	}
	memcpy(data, out->data + offset, len);
	ret = 0;
out:
	kfree(out);
	kfree(in);
	return ret;
}

static ssize_t pma_show(struct ib_device *dev, u32 port,
			struct ib_port_attribute *attr, char *buf)
{
	const struct pma_attr *pa = container_of(attr, struct pma_attr, attr);
	const struct pma_field *field = &pa->field;
	u8 raw[8] = {};
	u64 value;
	int ret;

	ret = pma_get(dev, port, pa->attr_id, field->offset, raw,
		      DIV_ROUND_UP(field->bits, 8));
	if (ret)
		return ret;

	/* Shift the counter to the top of the 64 bits, then down to its own width. */
	value = get_unaligned_be64(raw) << field->skip >> (64 - field->bits);
	return sysfs_emit(buf, "%llu\n", value);
}

/*
 * The agent's ClassPortInfo tells which counters the agent has (IBA 16.1.3.1);
 * an agent that does not respond has only the mandatory ones.  Files that were
 * added before an error are removed with the directory.
 */
int ibcore_pma_add(struct ib_device *dev, u32 port, struct kobject *dir)
{
	static const __be16 ext = IB_PMA_CLASS_CAP_EXT_WIDTH |
				  IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
	__be16 caps = 0;
	int ret;

	if (!dev->ops.process_mad)
		return 0;

	pma_get(dev, port, IB_PMA_CLASS_PORT_INFO,
		offsetof(struct ib_class_port_info, capability_mask), &caps,
		sizeof(caps));
	ret = sysfs_create_group(dir, &pma_error);
	if (!ret)
		ret = sysfs_merge_group(dir, caps & ext ? &pma_data_ext :
							  &pma_data);
	if (!ret && (caps & IB_PMA_CLASS_CAP_EXT_WIDTH))
		ret = sysfs_merge_group(dir, &pma_cast);
	return ret;
}
