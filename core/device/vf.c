// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The virtual functions of a device, for the administrator of the physical one:
 * IPoIB passes the requests of `ip link set ... vf ...` on to here.
 */
#include "core.h"

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
 * ib_get_vf_config - Read how a virtual function is set up
 * @device: the physical function
 * @vf: number of the virtual function, from 0
 * @port: port of @device
 * @info: receives it
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
 * @stats: receives them
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
 * @node_guid: receives that of the node
 * @port_guid: receives that of the port
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
