// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ports of an adapter, as consumers query and modify them (IBA vol. 1, 11.2.1). */
#include "device/hca.h"
#include "mgmt/mgmt.h"

#define MAX_MSG_SZ	BIT(31)		/* 9.3.1: 2^31 bytes */

static struct vib_port *to_port(struct ib_device *ibdev, u32 port_num)
{
	return rdma_is_port_valid(ibdev, port_num) ?
		&to_vib_hca(ibdev)->node.ports[port_num] : NULL;
}

/* What PortInfo has in fields of its own making (14.2.5.6). */
static void fill_from_info(const struct ib_port_info *info, struct ib_port_attr *attr)
{
	attr->max_mtu = info->inittypereply_mtucap & 0xf;
	attr->init_type_reply = info->inittypereply_mtucap >> 4;
	attr->bad_pkey_cntr = be16_to_cpu(info->pkey_violations);
	attr->qkey_viol_cntr = be16_to_cpu(info->qkey_violations);
	attr->max_vl_num = info->vlcap_inittype >> 4;
	attr->subnet_timeout = info->clientrereg_resv_subnetto & 0x1f;
	attr->active_width = info->link_width_active;
	attr->active_speed = info->linkspeedactive_enabled >> 4;
}

static int vib_query_port(struct ib_device *ibdev, u32 port_num, struct ib_port_attr *attr)
{
	struct vib_port *port = to_port(ibdev, port_num);

	if (!port)
		return -EINVAL;
	/* The core has cleared it. */
	spin_lock_bh(&port->lock);
	fill_from_info(&port->info, attr);
	attr->port_cap_flags = vib_port_cap_mask(port);
	attr->state = port->state;
	attr->phys_state = port->phys_state;
	attr->active_mtu = port->mtu;
	attr->lid = port->lid;
	attr->lmc = port->lmc;
	attr->sm_lid = port->sm_lid;
	attr->sm_sl = port->sm_sl;
	spin_unlock_bh(&port->lock);
	attr->gid_tbl_len = port->node->guids;
	attr->pkey_tbl_len = port->node->pkeys;
	attr->max_msg_sz = MAX_MSG_SZ;
	return 0;
}

static int vib_port_immutable(struct ib_device *ibdev, u32 port_num,
			      struct ib_port_immutable *immutable)
{
	struct vib_port *port = to_port(ibdev, port_num);

	if (!port)
		return -EINVAL;
	immutable->gid_tbl_len = port->node->guids;
	immutable->pkey_tbl_len = port->node->pkeys;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer vib_get_link_layer(struct ib_device *ibdev, u32 port_num)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static int vib_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey)
{
	struct vib_port *port = to_port(ibdev, port_num);

	if (!port || index >= port->node->pkeys)
		return -EINVAL;
	*pkey = be16_to_cpu(READ_ONCE(port->pkeys[index]));
	return 0;
}

/* An entry without GUID has no GID: it is all zeros. */
static int vib_query_gid(struct ib_device *ibdev, u32 port_num, int index, union ib_gid *gid)
{
	struct vib_port *port = to_port(ibdev, port_num);

	if (!port || index < 0 || index >= port->node->guids)
		return -EINVAL;
	memset(gid, 0, sizeof(*gid));
	spin_lock_bh(&port->lock);
	if (port->guids[index]) {
		gid->global.subnet_prefix = port->info.gid_prefix;
		gid->global.interface_id = port->guids[index];
	}
	spin_unlock_bh(&port->lock);
	return 0;
}

/* The subnet manager is told of a new capability mask (14.2.5.1, trap 144). */
static void port_modify_caps(struct vib_port *port, const struct ib_port_modify *modify)
{
	__be32 old, new;

	spin_lock_bh(&port->lock);
	old = port->info.cap_mask;
	new = (old | cpu_to_be32(modify->set_port_cap_mask)) &
	      ~cpu_to_be32(modify->clr_port_cap_mask);
	WRITE_ONCE(port->info.cap_mask, new);
	spin_unlock_bh(&port->lock);
	if (new != old)
		vib_trap_local_change(port, 0);
}

static int vib_modify_port(struct ib_device *ibdev, u32 port_num, int mask,
			   struct ib_port_modify *modify)
{
	struct vib_port *port = to_port(ibdev, port_num);

	if (!port)
		return -EINVAL;
	if (mask & ~(IB_PORT_SHUTDOWN | IB_PORT_INIT_TYPE | IB_PORT_RESET_QKEY_CNTR))
		return -EOPNOTSUPP;
	port_modify_caps(port, modify);
	spin_lock_bh(&port->lock);
	if (mask & IB_PORT_INIT_TYPE) {
		port->info.vlcap_inittype &= 0xf0;
		port->info.vlcap_inittype |= modify->init_type & 0xf;
	}
	if (mask & IB_PORT_RESET_QKEY_CNTR)
		port->info.qkey_violations = 0;
	spin_unlock_bh(&port->lock);
	if (mask & IB_PORT_SHUTDOWN)
		return vib_port_set_phys(port, IB_PORT_PHYS_STATE_DISABLED);
	return 0;
}

const struct ib_device_ops vib_port_ops = {
	.query_port		= vib_query_port,
	.get_port_immutable	= vib_port_immutable,
	.get_link_layer		= vib_get_link_layer,
	.query_pkey		= vib_query_pkey,
	.query_gid		= vib_query_gid,
	.modify_port		= vib_modify_port,
};
