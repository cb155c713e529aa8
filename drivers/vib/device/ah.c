// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles (IBA vol. 1, 10.2.2.2, 11.2.2). */
#include "device/ah.h"
#include "device/hca.h"

bool vib_av_valid(const struct vib_hca *hca, const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	if (attr->type != RDMA_AH_ATTR_TYPE_IB ||
	    !rdma_is_port_valid(&hca->ib, rdma_ah_get_port_num(attr)))
		return false;
	/*
	 * SLs are of 4 bits (7.7).  0 is no LID, but the LID of the subnet manager until there
	 * is one: what is sent to it goes to nobody.
	 */
	if (rdma_ah_get_sl(attr) > 15)
		return false;
	return !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || grh->sgid_index < hca->node.guids;
}

void vib_av_set(struct vib_av *av, const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	*av = (struct vib_av){
		.dlid = rdma_ah_get_dlid(attr),
		.port = rdma_ah_get_port_num(attr),
		.sl = rdma_ah_get_sl(attr),
		.path_bits = rdma_ah_get_path_bits(attr),
		.static_rate = rdma_ah_get_static_rate(attr),
	};
	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return;
	av->grh = true;
	av->sgid_index = grh->sgid_index;
	av->hop_limit = grh->hop_limit;
	av->traffic_class = grh->traffic_class;
	av->flow_label = grh->flow_label;
	av->dgid = grh->dgid;
}

void vib_av_query(const struct vib_av *av, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(attr, av->dlid);
	rdma_ah_set_port_num(attr, av->port);
	rdma_ah_set_sl(attr, av->sl);
	rdma_ah_set_path_bits(attr, av->path_bits);
	rdma_ah_set_static_rate(attr, av->static_rate);
	if (av->grh)
		rdma_ah_set_grh(attr, (union ib_gid *)&av->dgid, av->flow_label,
				av->sgid_index, av->hop_limit, av->traffic_class);
}

u16 vib_av_slid(const struct vib_av *av, const struct vib_port *port)
{
	u16 mask = BIT(READ_ONCE(port->lmc)) - 1;

	return READ_ONCE(port->lid) | (av->path_bits & mask);
}

void vib_av_fill_grh(const struct vib_av *av, const struct vib_port *port, struct ib_grh *grh)
{
	u8 index = av->sgid_index < port->node->guids ? av->sgid_index : 0;

	grh->version_tclass_flow = cpu_to_be32(IB_GRH_VERSION << IB_GRH_VERSION_SHIFT |
					       av->traffic_class << IB_GRH_TCLASS_SHIFT |
					       (av->flow_label & IB_GRH_FLOW_MASK));
	grh->next_hdr = IB_GRH_NEXT_HDR;
	grh->hop_limit = av->hop_limit;
	grh->sgid.global.subnet_prefix = READ_ONCE(port->info.gid_prefix);
	grh->sgid.global.interface_id = READ_ONCE(port->guids[index]);
	grh->dgid = av->dgid;
}

/* ---- handles ---- */

static int vib_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	if (!vib_av_valid(to_vib_hca(ibah->device), attr))
		return -EINVAL;
	vib_av_set(&to_vib_ah(ibah)->av, attr);
	return 0;
}

static int vib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
			 struct ib_udata *udata)
{
	return vib_modify_ah(ibah, init->ah_attr);
}

static int vib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	vib_av_query(&to_vib_ah(ibah)->av, attr);
	return 0;
}

/* Work requests have copies of the address vector: none refers to the handle. */
static int vib_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}

const struct ib_device_ops vib_ah_ops = {
	.create_ah	= vib_create_ah,
	.create_user_ah	= vib_create_ah,
	.modify_ah	= vib_modify_ah,
	.query_ah	= vib_query_ah,
	.destroy_ah	= vib_destroy_ah,
	INIT_RDMA_OBJ_SIZE(ib_ah, vib_ah, ib),
};
