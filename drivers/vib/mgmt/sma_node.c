// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Attributes that describe the node: NodeDescription, NodeInfo, GUIDInfo, LedInfo
 * (IBA vol. 1, 14.2.5.2, 14.2.5.3, 14.2.5.5, 14.2.5.15).
 */
#include "mgmt/sma.h"
#include "mgmt/state.h"

#define GUID_BLOCK	8	/* GUIDs that one SMP reads or writes */

u16 vib_sma_get_node_desc(struct vib_sma_req *req)
{
	struct vib_node *node = req->in->node;

	spin_lock_bh(&node->desc_lock);
	memcpy(req->data, node->desc, IB_DEVICE_NODE_DESC_MAX);
	spin_unlock_bh(&node->desc_lock);
	return 0;
}

u16 vib_sma_get_node_info(struct vib_sma_req *req)
{
	struct ib_node_info *info = (struct ib_node_info *)req->data;
	struct vib_node *node = req->in->node;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->node_type = node->type;
	info->num_ports = node->num_ports;
	info->sys_guid = node->sys_guid;
	info->node_guid = node->guid;
	info->port_guid = vib_sma_end_port(req->in)->guids[0];
	info->partition_cap = cpu_to_be16(node->pkeys);
	info->device_id = cpu_to_be16(VIB_DEVICE_ID);
	info->revision = cpu_to_be32(VIB_HW_REVISION);
	info->local_port_num = req->in->num;
	put_unaligned_be24(VIB_VENDOR_ID, info->vendor_id);
	return 0;
}

/* ---- GUIDInfo: the modifier is the number of a block of 8 ---- */

static bool guid_block(const struct vib_sma_req *req, unsigned int *first)
{
	u8 guids = req->in->node->guids;

	if (req->mod >= DIV_ROUND_UP(guids, GUID_BLOCK))
		return false;
	*first = req->mod * GUID_BLOCK;
	return true;
}

u16 vib_sma_get_guid_info(struct vib_sma_req *req)
{
	struct vib_port *port = vib_sma_end_port(req->in);
	__be64 *to = (__be64 *)req->data;
	unsigned int first, i;

	if (!guid_block(req, &first))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	for (i = 0; i < GUID_BLOCK && first + i < port->node->guids; i++)
		to[i] = port->guids[first + i];
	spin_unlock_bh(&port->lock);
	return 0;
}

u16 vib_sma_set_guid_info(struct vib_sma_req *req)
{
	const __be64 *from = (const __be64 *)req->smp->data;
	struct vib_port *port = vib_sma_end_port(req->in);
	unsigned int first, i;
	bool changed = false;

	if (!guid_block(req, &first))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	spin_lock_bh(&port->lock);
	/* GUID 0 is the port's own and read-only. */
	for (i = !first; i < GUID_BLOCK && first + i < port->node->guids; i++) {
		if (port->guids[first + i] == from[i])
			continue;
		WRITE_ONCE(port->guids[first + i], from[i]);
		changed = true;
	}
	spin_unlock_bh(&port->lock);
	if (changed)
		vib_sma_events(port, BIT(IB_EVENT_GID_CHANGE));
	return 0;
}

/* ---- LedInfo: one bit, the first ---- */

u16 vib_sma_get_led_info(struct vib_sma_req *req)
{
	struct vib_port *port = vib_sma_port(req, req->mod & 0xff);
	struct vib_mgmt *mgmt;

	if (!port)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	mgmt = port->mgmt;
	if (mgmt && READ_ONCE(mgmt->led))
		req->data[0] = BIT(7);
	return 0;
}

u16 vib_sma_set_led_info(struct vib_sma_req *req)
{
	struct vib_port *port = vib_sma_port(req, req->mod & 0xff);
	struct vib_mgmt *mgmt;

	if (!port)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	mgmt = port->mgmt;
	if (!mgmt)
		return IB_MGMT_MAD_STATUS_BUSY;
	WRITE_ONCE(mgmt->led, req->smp->data[0] & BIT(7));
	return 0;
}
