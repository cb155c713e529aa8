// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address vectors of connections, their source GIDs, and timeouts. */
#include <linux/slab.h>

#include "ibcm/port.h"

/*
 * Local ACK timeout (IBA vol. 1, 12.7.34): twice the packet lifetime plus the
 * CA's ACK delay, all as exponents.  The sum of two powers of two is rounded up
 * to the next power unless the smaller one is at most a quarter of the larger.
 */
u8 ibcm_ack_timeout(u8 ca_ack_delay, u8 packet_life_time)
{
	u8 rtt = packet_life_time + 1;
	u8 larger = max(rtt, ca_ack_delay);
	u8 apart = larger - min(rtt, ca_ack_delay);

	return min(larger + (apart < 2), 31);
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_ack_timeout);

/* Returns the entry of @gid with the same port, netdev and GID type as @like. */
const struct ib_gid_attr *ibcm_gid_on_netdev(const struct ib_gid_attr *like,
					     const union ib_gid *gid)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(like);
	attr = IS_ERR(ndev) ? ERR_CAST(ndev) :
	       rdma_find_gid_by_port(like->device, gid, like->gid_type,
				     like->port_num, ndev);
	rcu_read_unlock();
	return attr;
}

static bool ibcm_same_net(const struct ib_gid_attr *a, const struct ib_gid_attr *b)
{
	struct net_device *on_a, *on_b;
	bool same;

	rcu_read_lock();
	on_a = rdma_read_gid_attr_ndev_rcu(a);
	on_b = rdma_read_gid_attr_ndev_rcu(b);
	same = !IS_ERR(on_a) && !IS_ERR(on_b) &&
	       net_eq(dev_net(on_a), dev_net(on_b));
	rcu_read_unlock();
	return same;
}

/*
 * Returns the entry of @gid on any port, with the network namespace and GID type of
 * @like.  Several namespaces may have the same address, so this searches the whole
 * GID tables.
 */
const struct ib_gid_attr *ibcm_gid_in_net(const struct ib_gid_attr *like,
					  const union ib_gid *gid)
{
	struct ib_device *ibdev = like->device;
	const struct ib_gid_attr *attr;
	u32 port;
	int i;

	rdma_for_each_port(ibdev, port) {
		for (i = 0; i < ibdev->port_data[port].immutable.gid_tbl_len; i++) {
			attr = rdma_get_gid_attr(ibdev, port, i);
			if (IS_ERR(attr))
				continue;
			if (attr->gid_type == like->gid_type &&
			    !memcmp(&attr->gid, gid, sizeof(*gid)) &&
			    ibcm_same_net(attr, like))
				return attr;
			rdma_put_gid_attr(attr);
		}
	}
	return ERR_PTR(-ENOENT);
}

/*
 * Fills @av for data along @path.  @sgid_attr is the path's SGID entry, or NULL
 * to look it up.  May sleep: on RoCE the destination's MAC is resolved unless
 * the path has it.  Returns -EINVAL, or -ENOENT if this device does not have the
 * SGID or the P_Key.
 */
int ibcm_av_from_path(struct ibcm_device *dev, struct sa_path_rec *path,
		      const struct ib_gid_attr *sgid_attr, struct ibcm_av *av)
{
	const struct ib_gid_attr *found = NULL;
	struct rdma_ah_attr ah_attr = {};
	struct ibcm_port *port;
	u16 pkey_index;
	int ret;

	if (!sgid_attr) {
		found = rdma_find_gid(dev->ibdev, &path->sgid,
				      sa_conv_pathrec_to_gid_type(path), NULL);
		if (IS_ERR(found))
			return PTR_ERR(found);
		sgid_attr = found;
	}

	ret = -EINVAL;
	if (sgid_attr->device != dev->ibdev || !sgid_attr->port_num ||
	    sgid_attr->port_num > dev->nr_ports)
		goto out;
	port = &dev->ports[sgid_attr->port_num - 1];

	ret = ib_find_cached_pkey(dev->ibdev, port->num,
				  be16_to_cpu(path->pkey), &pkey_index);
	if (ret)
		goto out;
	ret = ib_init_ah_attr_from_path(dev->ibdev, port->num, path, &ah_attr,
					sgid_attr);
	if (ret)
		goto out;

	ibcm_av_destroy(av);
	av->ah_attr = ah_attr;
	av->port = port;
	av->pkey_index = pkey_index;
	av->packet_life_time = path->packet_life_time;
	av->ack_timeout = ibcm_ack_timeout(dev->ibdev->attrs.local_ca_ack_delay,
					   path->packet_life_time);
out:
	if (found)
		rdma_put_gid_attr(found);
	return ret;
}

void ibcm_av_destroy(struct ibcm_av *av)
{
	rdma_destroy_ah_attr(&av->ah_attr);
	memset(av, 0, sizeof(*av));
}
