// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The ports of a device: core's data for each, and queries to the driver. */
#include <linux/ethtool.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "device/device.h"
#include "gid/gid.h"

/* Contains dev->port_data, which lookups by netdev read under RCU. */
struct port_table {
	struct rcu_head rcu;
	struct ib_port_data data[];	/* by port number; an HCA has no port 0 */
};

static struct port_table *port_table(struct ib_port_data *data)
{
	return container_of(data, struct port_table, data[0]);
}

static void init_port(struct ib_device *dev, struct ib_port_data *pdata)
{
	pdata->ib_dev = dev;
	spin_lock_init(&pdata->pkey_list_lock);
	spin_lock_init(&pdata->netdev_lock);
	INIT_LIST_HEAD(&pdata->pkey_list);
	INIT_HLIST_NODE(&pdata->ndev_hash_link);
}

/* ib_device_set_netdev() may call this before the device is registered. */
int ibcore_ports_alloc(struct ib_device *dev)
{
	struct port_table *table;
	u32 port;

	if (dev->port_data)
		return 0;
	if (rdma_end_port(dev) < rdma_start_port(dev) ||
	    rdma_end_port(dev) == U32_MAX)
		return -EINVAL;
	table = kzalloc(struct_size(table, data, rdma_end_port(dev) + 1),
			GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	rdma_for_each_port(dev, port)
		init_port(dev, &table->data[port]);
	dev->port_data = table->data;
	return 0;
}

static int read_immutable(struct ib_device *dev, u32 port)
{
	/* Filled in place: drivers query the port while they fill it. */
	struct ib_port_immutable *immutable = &dev->port_data[port].immutable;
	int ret;

	ret = dev->ops.get_port_immutable(dev, port, immutable);
	if (ret)
		return ret;
	/* A port with MADs must report their size (IBA vol. 1, 13.4.2). */
	if (rdma_cap_ib_mad(dev, port) && !rdma_max_mad_size(dev, port))
		return -EINVAL;
	return 0;
}

int ibcore_ports_setup(struct ib_device *dev)
{
	u32 port;
	int ret;

	ret = ibcore_ports_alloc(dev);
	if (ret)
		return ret;
	rdma_for_each_port(dev, port) {
		ret = read_immutable(dev, port);
		if (ret)
			return ret;
	}
	return 0;
}

void ibcore_ports_release(struct ib_device *dev)
{
	struct port_table *table;

	if (!dev->port_data)
		return;
	table = port_table(dev->port_data);
	kfree_rcu(table, rcu);
}

/**
 * ib_port_immutable_read - Get the constant attributes of a port
 * @dev: a device that is registered or being registered
 * @port: its port
 *
 * Context: any.
 * Return: table lengths, core capability flags and the maximum MAD size.
 */
const struct ib_port_immutable *ib_port_immutable_read(struct ib_device *dev,
						       unsigned int port)
{
	WARN_ON(!rdma_is_port_valid(dev, port));
	return &dev->port_data[port].immutable;
}
EXPORT_SYMBOL(ib_port_immutable_read);

/* ---- protocols ---- */

/**
 * rdma_node_get_transport - The transport that a type of node uses
 * @node_type: RDMA_NODE_*
 *
 * Context: any.
 * Return: the transport; InfiniBand's for all types of IBA nodes.
 */
__attribute_const__ enum rdma_transport_type
rdma_node_get_transport(unsigned int node_type)
{
	static const u8 not_ib[] = {
		[RDMA_NODE_RNIC] = RDMA_TRANSPORT_IWARP,
		[RDMA_NODE_USNIC] = RDMA_TRANSPORT_USNIC,
		[RDMA_NODE_USNIC_UDP] = RDMA_TRANSPORT_USNIC_UDP,
		[RDMA_NODE_UNSPECIFIED] = RDMA_TRANSPORT_UNSPECIFIED,
	};

	BUILD_BUG_ON(RDMA_TRANSPORT_IB != 0);
	return node_type < ARRAY_SIZE(not_ib) ? not_ib[node_type] :
						RDMA_TRANSPORT_IB;
}
EXPORT_SYMBOL(rdma_node_get_transport);

/**
 * rdma_port_get_link_layer - The link layer of a port
 * @device: the device
 * @port_num: its port
 *
 * Context: that of the driver's get_link_layer(); any in practice.
 * Return: what get_link_layer() returns if the driver has it, otherwise the link layer
 * of the node's transport.
 */
enum rdma_link_layer rdma_port_get_link_layer(struct ib_device *device,
					      u32 port_num)
{
	if (device->ops.get_link_layer)
		return device->ops.get_link_layer(device, port_num);
	if (rdma_node_get_transport(device->node_type) == RDMA_TRANSPORT_IB)
		return IB_LINK_LAYER_INFINIBAND;
	return IB_LINK_LAYER_ETHERNET;
}
EXPORT_SYMBOL(rdma_port_get_link_layer);

/* ---- queries ---- */

static bool has_ipv4_address(struct net_device *ndev)
{
	struct in_device *in_dev;
	bool ret;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(ndev);
	ret = in_dev && rcu_access_pointer(in_dev->ifa_list);
	rcu_read_unlock();
	return ret;
}

/* Sets the attributes of an iWARP port's netdev; query_port() may overwrite them. */
static int iwarp_port_attr(struct ib_device *dev, u32 port,
			   struct ib_port_attr *attr)
{
	struct net_device *ndev = ib_device_get_netdev(dev, port);

	if (!ndev)
		return -ENODEV;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = ib_mtu_int_to_enum(READ_ONCE(ndev->mtu));
	if (!netif_carrier_ok(ndev)) {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	} else if (!has_ipv4_address(ndev)) {
		attr->state = IB_PORT_INIT;
		attr->phys_state = IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING;
	} else {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	}
	dev_put(ndev);
	return 0;
}

/**
 * ib_query_port - Query the driver for the attributes of a port
 * @device: the device
 * @port_num: its port
 * @port_attr: receives them, in host byte order (IBA vol. 1, 11.2.1.2)
 *
 * The subnet prefix is the cached one: drivers do not return it, and reading GID 0
 * for it would cost one more command on each query.
 *
 * Context: may sleep; some drivers take rtnl.
 * Return: 0; -EINVAL: no such port; -ENODEV: an iWARP port without a netdev; or the
 * driver's error.
 */
int ib_query_port(struct ib_device *device, u32 port_num,
		  struct ib_port_attr *port_attr)
{
	int ret;

	if (!device->port_data || !rdma_is_port_valid(device, port_num))
		return -EINVAL;

	memset(port_attr, 0, sizeof(*port_attr));
	if (rdma_protocol_iwarp(device, port_num)) {
		ret = iwarp_port_attr(device, port_num, port_attr);
		if (ret)
			return ret;
	}
	ret = device->ops.query_port(device, port_num, port_attr);
	if (ret)
		return ret;
	if (rdma_port_get_link_layer(device, port_num) ==
	    IB_LINK_LAYER_INFINIBAND)
		ib_get_cached_subnet_prefix(device, port_num,
					    &port_attr->subnet_prefix);
	return 0;
}
EXPORT_SYMBOL(ib_query_port);

/**
 * ib_query_pkey - Query the driver for an entry of a port's P_Key table
 * @device: the device
 * @port_num: its port
 * @index: index of the entry
 * @pkey: receives the P_Key, in host byte order
 *
 * ib_get_cached_pkey() reads the cached table instead.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no such port; -EOPNOTSUPP; or the driver's error.
 */
int ib_query_pkey(struct ib_device *device, u32 port_num, u16 index, u16 *pkey)
{
	typeof(device->ops.query_pkey) query = device->ops.query_pkey;

	if (!query)
		return -EOPNOTSUPP;
	return rdma_is_port_valid(device, port_num) ?
		query(device, port_num, index, pkey) : -EINVAL;
}
EXPORT_SYMBOL(ib_query_pkey);

/**
 * ib_get_device_fw_str - The firmware version of a device
 * @dev: the device
 * @str: receives the version; IB_FW_VERSION_NAME_MAX bytes
 *
 * Context: that of the driver's method; may sleep.
 */
void ib_get_device_fw_str(struct ib_device *dev, char *str)
{
	str[0] = '\0';
	if (dev->ops.get_dev_fw_str)
		dev->ops.get_dev_fw_str(dev, str);
}
EXPORT_SYMBOL(ib_get_device_fw_str);

/* ---- modifying ---- */

/**
 * ib_modify_device - Set attributes of a device
 * @device: the device
 * @device_modify_mask: IB_DEVICE_MODIFY_*, the attributes to set
 * @device_modify: the values (IBA vol. 1, 11.2.1.3)
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP, or the driver's error.
 */
int ib_modify_device(struct ib_device *device, int device_modify_mask,
		     struct ib_device_modify *device_modify)
{
	typeof(device->ops.modify_device) modify = device->ops.modify_device;

	return modify ? modify(device, device_modify_mask, device_modify) :
			-EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_modify_device);

/*
 * A RoCE port has no subnet manager to read its capability mask: changing only the
 * CM bit succeeds without the driver.
 */
static bool only_cm_capability(const struct ib_port_modify *modify, int mask)
{
	u32 caps = modify->set_port_cap_mask | modify->clr_port_cap_mask;

	return !mask && !(caps & ~IB_PORT_CM_SUP);
}

/**
 * ib_modify_port - Set attributes of a port
 * @device: the device
 * @port_num: its port
 * @port_modify_mask: IB_PORT_*, what to change besides the capability mask
 * @port_modify: capability bits to set and to clear, host byte order; InitType
 *	(IBA vol. 1, 11.2.1.3)
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no such port; -EOPNOTSUPP; or the driver's error.
 */
int ib_modify_port(struct ib_device *device, u32 port_num, int port_modify_mask,
		   struct ib_port_modify *port_modify)
{
	typeof(device->ops.modify_port) modify = device->ops.modify_port;

	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	if (modify)
		return modify(device, port_num, port_modify_mask, port_modify);
	if (rdma_protocol_roce(device, port_num) &&
	    only_cm_capability(port_modify, port_modify_mask))
		return 0;
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_modify_port);

/* ---- speed ---- */

/* The IB width and speed for an Ethernet speed; speeds in between round down. */
static const struct {
	u32 mbps;
	enum ib_port_width width;
	enum ib_port_speed speed;
} eth_speeds[] = {
	{ SPEED_800000,	IB_WIDTH_4X,	IB_SPEED_XDR },
	{ SPEED_400000,	IB_WIDTH_4X,	IB_SPEED_NDR },
	{ SPEED_200000,	IB_WIDTH_4X,	IB_SPEED_HDR },
	{ SPEED_100000,	IB_WIDTH_4X,	IB_SPEED_EDR },
	{ SPEED_56000,	IB_WIDTH_4X,	IB_SPEED_FDR },
	{ SPEED_50000,	IB_WIDTH_2X,	IB_SPEED_EDR },
	{ SPEED_40000,	IB_WIDTH_4X,	IB_SPEED_FDR10 },
	{ SPEED_25000,	IB_WIDTH_1X,	IB_SPEED_EDR },
	{ SPEED_20000,	IB_WIDTH_4X,	IB_SPEED_DDR },
	{ SPEED_10000,	IB_WIDTH_1X,	IB_SPEED_FDR10 },
	{ SPEED_5000,	IB_WIDTH_1X,	IB_SPEED_DDR },
	{ 0,		IB_WIDTH_1X,	IB_SPEED_SDR },
};

/* The speeds of a lane, in descending order. */
static const struct {
	u32 mbps;
	enum ib_port_speed speed;
} lane_speeds[] = {
	{ SPEED_200000,	IB_SPEED_XDR },
	{ SPEED_100000,	IB_SPEED_NDR },
	{ SPEED_50000,	IB_SPEED_HDR },
	{ SPEED_25000,	IB_SPEED_EDR },
	{ SPEED_14000,	IB_SPEED_FDR },
	{ SPEED_10000,	IB_SPEED_FDR10 },
	{ SPEED_5000,	IB_SPEED_DDR },
	{ 0,		IB_SPEED_SDR },
};

/* Returns Mb/s, SPEED_1000 if unknown; sets *@lanes, to 0 if unknown. */
static u32 netdev_speed(struct net_device *ndev, u32 *lanes)
{
	struct ethtool_link_ksettings settings = {};
	int ret = -ENODEV;

	rtnl_lock();
	/* The driver of an unregistered netdev must not be called. */
	if (ndev->reg_state == NETREG_REGISTERED)
		ret = __ethtool_get_link_ksettings(ndev, &settings);
	rtnl_unlock();
	*lanes = ret ? 0 : settings.lanes;
	if (ret || settings.base.speed == (u32)SPEED_UNKNOWN)
		return SPEED_1000;
	return settings.base.speed;
}

/* Returns whether IB has a width of @lanes lanes. */
static bool width_of_lanes(u32 lanes, u8 *width)
{
	switch (lanes) {
	case 1:
		*width = IB_WIDTH_1X;
		return true;
	case 2:
		*width = IB_WIDTH_2X;
		return true;
	case 4:
		*width = IB_WIDTH_4X;
		return true;
	case 8:
		*width = IB_WIDTH_8X;
		return true;
	case 12:
		*width = IB_WIDTH_12X;
		return true;
	}
	return false;
}

/**
 * ib_get_eth_speed - The speed of an Ethernet port in InfiniBand's terms
 * @dev: the device
 * @port_num: its port
 * @speed: receives the speed of a lane, enum ib_port_speed
 * @width: receives the number of lanes, enum ib_port_width
 *
 * If the netdev does not report how many lanes it has, the usual number for its
 * speed is taken.
 *
 * Context: may sleep; takes rtnl.
 * Return: 0; -EINVAL: not an Ethernet port; -ENODEV: it has no netdev.
 */
int ib_get_eth_speed(struct ib_device *dev, u32 port_num, u16 *speed, u8 *width)
{
	struct net_device *ndev;
	unsigned int i = 0;
	u32 mbps, lanes;

	if (rdma_port_get_link_layer(dev, port_num) != IB_LINK_LAYER_ETHERNET)
		return -EINVAL;
	ndev = ib_device_get_netdev(dev, port_num);
	if (!ndev)
		return -ENODEV;
	mbps = netdev_speed(ndev, &lanes);
	dev_put(ndev);

	if (width_of_lanes(lanes, width)) {
		while (mbps / lanes < lane_speeds[i].mbps)
			i++;
		*speed = lane_speeds[i].speed;
		return 0;
	}
	while (mbps < eth_speeds[i].mbps)
		i++;
	*speed = eth_speeds[i].speed;
	*width = eth_speeds[i].width;
	return 0;
}
EXPORT_SYMBOL(ib_get_eth_speed);

/*
 * Virtual functions, for the administrator of the physical function: IPoIB forwards
 * the requests of `ip link set ... vf ...` to the functions below.
 */

/**
 * ib_set_vf_link_state - Set the link state policy of a virtual function
 * @device: the physical function
 * @vf: number of the virtual function, from 0
 * @port: port of @device
 * @state: IFLA_VF_LINK_STATE_*
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP, or the driver's error.
 */
int ib_set_vf_link_state(struct ib_device *device, int vf, u32 port, int state)
{
	typeof(device->ops.set_vf_link_state) method = device->ops.set_vf_link_state;

	return method ? method(device, vf, port, state) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_set_vf_link_state);

/**
 * ib_get_vf_config - Read the configuration of a virtual function
 * @device: the physical function
 * @vf: number of the virtual function, from 0
 * @port: port of @device
 * @info: receives the configuration
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP, or the driver's error.
 */
int ib_get_vf_config(struct ib_device *device, int vf, u32 port,
		     struct ifla_vf_info *info)
{
	typeof(device->ops.get_vf_config) method = device->ops.get_vf_config;

	return method ? method(device, vf, port, info) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_get_vf_config);

/**
 * ib_get_vf_stats - Read the traffic counters of a virtual function
 * @device: the physical function
 * @vf: number of the virtual function, from 0
 * @port: port of @device
 * @stats: receives the counters
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP, or the driver's error.
 */
int ib_get_vf_stats(struct ib_device *device, int vf, u32 port,
		    struct ifla_vf_stats *stats)
{
	typeof(device->ops.get_vf_stats) method = device->ops.get_vf_stats;

	return method ? method(device, vf, port, stats) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_get_vf_stats);

/**
 * ib_set_vf_guid - Give a virtual function a GUID
 * @device: the physical function
 * @vf: number of the virtual function, from 0
 * @port: port of @device
 * @guid: EUI-64, host byte order
 * @type: IFLA_VF_IB_NODE_GUID or IFLA_VF_IB_PORT_GUID
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP, or the driver's error.
 */
int ib_set_vf_guid(struct ib_device *device, int vf, u32 port, u64 guid,
		   int type)
{
	typeof(device->ops.set_vf_guid) method = device->ops.set_vf_guid;

	return method ? method(device, vf, port, guid, type) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_set_vf_guid);

/**
 * ib_get_vf_guid - Read the GUIDs of a virtual function
 * @device: the physical function
 * @vf: number of the virtual function, from 0
 * @port: port of @device
 * @node_guid: receives the node GUID
 * @port_guid: receives the port GUID
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP, or the driver's error.
 */
int ib_get_vf_guid(struct ib_device *device, int vf, u32 port,
		   struct ifla_vf_guid *node_guid,
		   struct ifla_vf_guid *port_guid)
{
	typeof(device->ops.get_vf_guid) method = device->ops.get_vf_guid;

	return method ? method(device, vf, port, node_guid, port_guid) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_get_vf_guid);
