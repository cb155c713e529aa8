// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles (IBA vol. 1, 10.2.2.2, 11.2.2). */
#include "device/ah.h"
#include "device/hca.h"

static bool ah_valid(const struct vib_hca *hca, const struct rdma_ah_attr *attr)
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

static void ah_fill(struct vib_av *av, const struct rdma_ah_attr *attr)
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

static int vib_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	if (!ah_valid(to_vib_hca(ibah->device), attr))
		return -EINVAL;
	ah_fill(&to_vib_ah(ibah)->av, attr);
	return 0;
}

static int vib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
			 struct ib_udata *udata)
{
	return udata ? -EOPNOTSUPP : vib_modify_ah(ibah, init->ah_attr);
}

static int vib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct vib_av *av = &to_vib_ah(ibah)->av;

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
	return 0;
}

/* Work requests have copies of the address vector: none refers to the handle. */
static int vib_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}

const struct ib_device_ops vib_ah_ops = {
	.create_ah	= vib_create_ah,
	.modify_ah	= vib_modify_ah,
	.query_ah	= vib_query_ah,
	.destroy_ah	= vib_destroy_ah,
	INIT_RDMA_OBJ_SIZE(ib_ah, vib_ah, ib),
};
