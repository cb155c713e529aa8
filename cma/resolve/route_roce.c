// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Path records on RoCE are built here from the result of address resolution, as there
 * is no SA to query.  IBA annexes A16 (RoCE) and A17 (RoCE v2).
 */
#include <linux/jhash.h>
#include <net/route.h>

#include "bind/bind.h"
#include "id/id.h"
#include "resolve/resolve.h"

/* Returns the netdev that has the id's address, with a reference, or NULL. */
struct net_device *cma_roce_netdev(struct cma_id *idp)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;

	if (!dev_addr->bound_dev_if)
		return NULL;
	return dev_get_by_index(dev_addr->net, dev_addr->bound_dev_if);
}

/*
 * cma_roce_error() - the error of a call, if it may be due to a netdev that was deleted
 *
 * The RDMA device goes after its netdev, so that this is the error of a device that is being
 * removed; see cma_id_step().  An id of AF_IB has no netdev that could go.
 *
 * Return: @err; or -ENETDOWN if the netdev of @idp, on RoCE, no longer exists.
 */
int cma_roce_error(struct cma_id *idp, int err)
{
	struct net_device *ndev;

	if (!err || !idp->id.route.addr.dev_addr.bound_dev_if ||
	    !rdma_protocol_roce(idp->id.device, idp->id.port_num))
		return err;
	ndev = cma_roce_netdev(idp);
	if (!ndev)
		return -ENETDOWN;
	dev_put(ndev);
	return err;
}

/* The SL of a TOS: by the VLAN's egress map, else the netdev's traffic class. */
u8 cma_roce_sl(struct net_device *ndev, u8 tos)
{
	int prio = rt_tos2priority(tos);

	if (is_vlan_dev(ndev))
		return (vlan_dev_get_egress_qos_mask(ndev, prio) &
			VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT;
	return netdev_get_num_tc(ndev) ? netdev_get_prio_tc_map(ndev, prio) : 0;
}

/* Selects the UDP source port, which spreads connections over the paths. */
static __be32 cma_roce_flow_label(struct cma_id *idp)
{
	struct cma_addr_key key[2];
	u32 label;

	cma_addr_key_init(&key[0], cma_src(idp));
	cma_addr_key_init(&key[1], cma_dst(idp));
	label = jhash2((u32 *)key, sizeof(key) / (sizeof(u32)),
		       (__force u32)cma_addr_port(cma_src(idp)) << 16 |
		       (__force u32)cma_addr_port(cma_dst(idp)));
	return cpu_to_be32(max(label & 0xfffff, 1U));
}

/* Routed packets must be RoCE v2; others have the default type of the port. */
static enum ib_gid_type cma_roce_gid_type(struct cma_id *idp)
{
	struct rdma_cm_id *id = &idp->id;
	enum rdma_network_type network = id->route.addr.dev_addr.network;

	if ((network == RDMA_NETWORK_IPV4 || network == RDMA_NETWORK_IPV6) &&
	    (roce_gid_type_mask_support(id->device, id->port_num) &
	     BIT(IB_GID_TYPE_ROCE_UDP_ENCAP)))
		return IB_GID_TYPE_ROCE_UDP_ENCAP;
	return READ_ONCE(idp->dev->ports[id->port_num].default_gid_type);
}

/* Sets the id's SGID to the entry of @sgid with @type on @ndev. */
static int cma_roce_set_sgid(struct cma_id *idp, const union ib_gid *sgid,
			     enum ib_gid_type type, struct net_device *ndev)
{
	const struct ib_gid_attr *attr;

	if (idp->sgid_attr && idp->sgid_attr->gid_type == type &&
	    !memcmp(&idp->sgid_attr->gid, sgid, sizeof(*sgid)))
		return 0;

	attr = rdma_find_gid_by_port(idp->id.device, sgid, type,
				     idp->id.port_num, ndev);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	if (idp->sgid_attr)
		rdma_put_gid_attr(idp->sgid_attr);
	idp->sgid_attr = attr;
	idp->id.route.addr.dev_addr.sgid_attr = attr;
	return 0;
}

static int cma_roce_fill_l2(struct cma_id *idp, struct sa_path_rec *path,
			    struct net_device *ndev)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	enum ib_gid_type type = cma_roce_gid_type(idp);
	int err;

	err = cma_roce_set_sgid(idp, &path->sgid, type, ndev);
	if (err)
		return err;
	path->rec_type = sa_conv_gid_to_pathrec_type(type);
	path->roce.route_resolved = true;
	sa_path_set_dmac(path, dev_addr->dst_dev_addr);
	return 0;
}

static int cma_roce_fill(struct cma_id *idp, struct sa_path_rec *path,
			 struct net_device *ndev)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	int err;

	if (cma_roce_gid(idp, cma_src(idp), &path->sgid) ||
	    cma_roce_gid(idp, cma_dst(idp), &path->dgid))
		return -EINVAL;
	err = cma_roce_fill_l2(idp, path, ndev);
	if (err)
		return err;

	path->reversible = 1;
	path->numb_path = 1;
	path->pkey = cpu_to_be16(0xffff);
	path->traffic_class = cma_id_tos(idp);
	path->sl = cma_roce_sl(ndev, path->traffic_class);
	path->flow_label = cma_roce_flow_label(idp);
	path->hop_limit = 1;
	if (path->rec_type == SA_PATH_REC_TYPE_ROCE_V2 && dev_addr->hoplimit > 0)
		path->hop_limit = dev_addr->hoplimit;
	path->mtu_selector = IB_SA_EQ;
	path->mtu = iboe_get_mtu(READ_ONCE(ndev->mtu));
	if (!path->mtu)
		return -EINVAL;
	path->rate_selector = IB_SA_EQ;
	/* The fabric imposes no rate, so do not throttle. */
	path->rate = IB_RATE_PORT_CURRENT;
	path->packet_life_time_selector = IB_SA_EQ;
	/* The QP's ack timeout is twice the packet lifetime, for both directions. */
	path->packet_life_time = idp->timeout_set && idp->timeout ?
		idp->timeout - 1 : CMA_ROCE_PACKET_LIFETIME;
	return 0;
}

static int cma_roce_with_netdev(struct cma_id *idp,
				int (*fill)(struct cma_id *idp,
					    struct sa_path_rec *path,
					    struct net_device *ndev))
{
	struct net_device *ndev = cma_roce_netdev(idp);
	int err;

	if (!ndev)
		return cma_roce_error(idp, -ENODEV);
	err = fill(idp, idp->id.route.path_rec, ndev);
	dev_put(ndev);
	return err;
}

/*
 * Builds the path record of an id with a resolved address.
 * -ENODEV, -ENETDOWN, -EINVAL, -ENOMEM.
 */
int cma_route_roce(struct cma_id *idp)
{
	int err;

	err = cma_route_alloc(idp, 1);
	if (!err)
		err = cma_roce_with_netdev(idp, cma_roce_fill);
	if (!err)
		idp->id.route.num_pri_alt_paths = 1;
	return err;
}

/* Fills in the link-layer fields of the consumer's path record. */
int cma_route_roce_set_path(struct cma_id *idp)
{
	return cma_roce_with_netdev(idp, cma_roce_fill_l2);
}
