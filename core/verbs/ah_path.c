// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address attributes made from SA records: a path, a multicast group. */
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "verbs/verbs.h"

/*
 * RoCE always needs a GRH, because it addresses by GID.  InfiniBand needs one
 * if the subnet manager set a hop limit in the path, even if the path passes no
 * router, and on a port that sends nothing without a GRH.
 */
static bool path_has_grh(struct ib_device *device, u32 port_num,
			 struct sa_path_rec *rec)
{
	return sa_path_is_roce(rec) || rec->hop_limit > 0 ||
	       rdma_is_grh_required(device, port_num);
}

/*
 * For a LID above the 16-bit unicast LIDs, hfi1 takes the LID from a GID that
 * contains it.  If the GRH had another DGID, hfi1 would take such a LID for a
 * multicast LID.
 */
static bool path_needs_lid_in_gid(struct sa_path_rec *rec)
{
	return sa_path_is_opa(rec) &&
	       be32_to_cpu(sa_path_get_dlid(rec)) >=
	       be16_to_cpu(IB_MULTICAST_LID_BASE);
}

static u8 path_src_bits(struct ib_device *device, u32 port_num,
			struct sa_path_rec *rec)
{
	u8 lmc;

	if (ib_get_cached_lmc(device, port_num, &lmc))
		return 0;
	return be32_to_cpu(sa_path_get_slid(rec)) & (BIT(lmc) - 1);
}

static int path_set_dmac(struct ib_device *device, struct sa_path_rec *rec,
			 struct rdma_ah_attr *ah_attr)
{
	if (rec->roce.route_resolved || !is_zero_ether_addr(rec->roce.dmac)) {
		memcpy(ah_attr->roce.dmac, rec->roce.dmac, ETH_ALEN);
		return 0;
	}
	return ibcore_ah_resolve_dmac(device, ah_attr);
}

/**
 * ib_init_ah_attr_from_path - make address attributes for a path
 * @device: device the path starts at
 * @port_num: port of @device
 * @rec: path record; LIDs, flow label and P_Key in network byte order
 * @ah_attr: filled in; holds a reference on its source GID if it has a GRH, to
 *	be put with rdma_destroy_ah_attr()
 * @gid_attr: source GID entry, on which another reference is taken; if NULL,
 *	the entry is looked up by the path's source GID and type
 *
 * The destination MAC address of a RoCE path is resolved if it is not known
 * yet.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if there is no such port, or if it is not of RoCE and the
 * path is; -ENOENT if the port has no such GID; or the error of address
 * resolution.
 * IBA volume 1, 15.2.5.16 PathRecord, 11.2.2 address vector.
 */
int ib_init_ah_attr_from_path(struct ib_device *device, u32 port_num,
			      struct sa_path_rec *rec,
			      struct rdma_ah_attr *ah_attr,
			      const struct ib_gid_attr *gid_attr)
{
	int ret;

	if (!rdma_is_port_valid(device, port_num) ||
	    (sa_path_is_roce(rec) && !rdma_protocol_roce(device, port_num)))
		return -EINVAL;
	memset(ah_attr, 0, sizeof(*ah_attr));
	ah_attr->type = rdma_ah_find_type(device, port_num);
	rdma_ah_set_port_num(ah_attr, port_num);
	rdma_ah_set_sl(ah_attr, rec->sl);
	rdma_ah_set_static_rate(ah_attr, rec->rate);
	if (!sa_path_is_roce(rec)) {
		rdma_ah_set_dlid(ah_attr, be32_to_cpu(sa_path_get_dlid(rec)));
		rdma_ah_set_path_bits(ah_attr,
				      path_src_bits(device, port_num, rec));
		if (path_needs_lid_in_gid(rec))
			rdma_ah_set_make_grd(ah_attr, true);
	}
	if (!path_has_grh(device, port_num, rec))
		return 0;

	if (gid_attr) {
		rdma_hold_gid_attr(gid_attr);
	} else {
		gid_attr = rdma_find_gid_by_port(device, &rec->sgid,
						 sa_conv_pathrec_to_gid_type(rec),
						 port_num, NULL);
		if (IS_ERR(gid_attr))
			return PTR_ERR(gid_attr);
	}
	/* From here on the attributes own the reference. */
	rdma_move_grh_sgid_attr(ah_attr, &rec->dgid,
				be32_to_cpu(rec->flow_label), rec->hop_limit,
				rec->traffic_class, gid_attr);
	if (!sa_path_is_roce(rec))
		return 0;
	ret = path_set_dmac(device, rec, ah_attr);
	if (ret)
		rdma_destroy_ah_attr(ah_attr);
	return ret;
}
EXPORT_SYMBOL(ib_init_ah_attr_from_path);

/**
 * ib_init_ah_from_mcmember - make address attributes for a multicast group
 * @device: device that joined
 * @port_num: port of @device
 * @rec: member record
 * @ndev: netdev that the port's GID must be on, or NULL
 * @gid_type: type of that GID
 * @ah_attr: filled in; holds a reference on its source GID, to be put with
 *	rdma_destroy_ah_attr()
 *
 * Context: may sleep.
 * Return: 0; -ENOENT if the port has no such GID; or the error of address
 * resolution.
 * IBA volume 1, 15.2.5.17 MCMemberRecord.
 */
int ib_init_ah_from_mcmember(struct ib_device *device, u32 port_num,
			     struct ib_sa_mcmember_rec *rec,
			     struct net_device *ndev, enum ib_gid_type gid_type,
			     struct rdma_ah_attr *ah_attr)
{
	const struct ib_gid_attr *sgid;
	int ret = 0;

	sgid = rdma_find_gid_by_port(device, &rec->port_gid, gid_type, port_num,
				     ndev);
	if (IS_ERR(sgid))
		return PTR_ERR(sgid);
	memset(ah_attr, 0, sizeof(*ah_attr));
	ah_attr->type = rdma_ah_find_type(device, port_num);
	rdma_ah_set_port_num(ah_attr, port_num);
	rdma_ah_set_dlid(ah_attr, be16_to_cpu(rec->mlid));
	rdma_ah_set_sl(ah_attr, rec->sl);
	rdma_ah_set_static_rate(ah_attr, rec->rate);
	rdma_move_grh_sgid_attr(ah_attr, &rec->mgid,
				be32_to_cpu(rec->flow_label), rec->hop_limit,
				rec->traffic_class, sgid);
	/* A multicast MAC address is computed, any other is resolved. */
	if (ah_attr->type == RDMA_AH_ATTR_TYPE_ROCE)
		ret = ibcore_ah_resolve_dmac(device, ah_attr);
	if (ret)
		rdma_destroy_ah_attr(ah_attr);
	return ret;
}
EXPORT_SYMBOL(ib_init_ah_from_mcmember);
