// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The GIDs of a fake adapter's RoCE ports: each at the index of its entry, or with
 * quirks.gid_places at a place that the adapter chooses.
 */
#include <linux/etherdevice.h>
#include <linux/poison.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "fake_qp.h"

/* Returns the index of @attr's GID in the port, of any type or its own; -1: none. */
static int find_gid(const struct fake_hca_port *port, const struct ib_gid_attr *attr,
		    u16 vlan_id, bool any_type)
{
	int i;

	for (i = 0; i < FAKE_HCA_GIDS; i++)
		if (port->gid_used[i] && port->gid_vlan[i] == vlan_id &&
		    (any_type || port->gid_type[i] == attr->gid_type) &&
		    !memcmp(&port->gids[i], &attr->gid, sizeof(attr->gid)))
			return i;
	return -1;
}

static int gid_refused(const struct ib_gid_attr *attr, u16 *vlan_id, u8 *smac)
{
	struct fake_hca *hca = to_fake_hca(attr->device);
	struct net_device *ndev;
	bool down;
	int ret;

	if (atomic_dec_if_positive(&hca->fail_create[FAKE_GID]) == 0)
		return -EIO;
	ret = rdma_read_gid_l2_fields(attr, vlan_id, smac);
	if (ret)
		return ret;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	down = IS_ERR(ndev) || !netif_running(ndev);
	rcu_read_unlock();
	if (hca->quirks.gid_ops_fail_detached && down)
		return -ENODEV;
	if (hca->quirks.gids_unique &&
	    find_gid(&hca->port[attr->port_num], attr, *vlan_id, false) >= 0)
		return -EEXIST;
	return 0;
}

static void put_gid(struct fake_hca *hca, const struct ib_gid_attr *attr, int at,
		    u16 vlan_id, const u8 *smac)
{
	struct fake_hca_port *port = &hca->port[attr->port_num];

	port->gid_used[at] = true;
	port->gids[at] = attr->gid;
	port->gid_type[at] = attr->gid_type;
	port->gid_vlan[at] = vlan_id;
	if (hca->quirks.gid_has_smac)
		ether_addr_copy(port->gid_smac[at], smac);
}

static void clear_gid(struct fake_hca_port *port, int at)
{
	port->gid_used[at] = false;
	port->gids[at] = zgid;
	eth_zero_addr(port->gid_smac[at]);
}

/* ---- a table of the adapter's own ---- */

/* Like bnxt_re, takes the address of the port's net_device, whichever the GID is on. */
static int add_place(struct fake_hca *hca, const struct ib_gid_attr *attr, u16 vlan_id,
		     void **context)
{
	struct fake_hca_port *port = &hca->port[attr->port_num];
	struct net_device *ndev;
	int at = find_gid(port, attr, vlan_id,
			  hca->quirks.gid_places == FAKE_PLACE_A_GID);

	if (at >= 0) {
		port->place[at]->entries++;
		*context = port->place[at];
		return 0;
	}
	for (at = 0; port->gid_used[at]; at++)
		if (at == FAKE_HCA_GIDS - 1)
			return -ENOSPC;
	ndev = ib_device_get_netdev(&hca->ibdev, attr->port_num);
	if (!ndev)
		return -ENODEV;
	port->place[at] = kzalloc(sizeof(*port->place[at]), GFP_KERNEL);
	if (port->place[at]) {
		port->place[at]->at = at;
		port->place[at]->entries = 1;
		put_gid(hca, attr, at, vlan_id, ndev->dev_addr);
		*context = port->place[at];
	}
	dev_put(ndev);
	return port->place[at] ? 0 : -ENOMEM;
}

static void free_place(struct fake_hca_port *port, int at)
{
	struct fake_gid_place *place = port->place[at];

	port->place[at] = NULL;
	clear_gid(port, at);
	memset(place, POISON_FREE, sizeof(*place));
	kfree(place);
}

static int del_place(struct fake_hca *hca, const struct ib_gid_attr *attr,
		     struct fake_gid_place *place)
{
	struct fake_hca_port *port = &hca->port[attr->port_num];

	if (WARN_ON(!place || port->place[place->at] != place))
		return -EINVAL;
	/* The last entry of the first place: the place stays, unused. */
	if (hca->quirks.del_gid_fails_with_qp1 && !place->at && place->entries == 1 &&
	    rdma_link_local_addr((struct in6_addr *)&port->gids[0]) &&
	    hca->special[attr->port_num][1])
		return -EFAULT;
	if (!--place->entries)
		free_place(port, place->at);
	return 0;
}

/* Frees the places that del_gid left. */
void fake_hca_free_places(struct fake_hca *hca)
{
	int p, at;

	for (p = 1; p <= FAKE_HCA_MAX_PORTS; p++)
		for (at = 0; at < FAKE_HCA_GIDS; at++)
			if (hca->port[p].place[at])
				free_place(&hca->port[p], at);
}

int fake_hca_gid_at(const struct ib_gid_attr *attr)
{
	const struct fake_gid_place *place;

	if (!to_fake_hca(attr->device)->quirks.gid_places)
		return attr->index;
	place = rdma_read_gid_hw_context(attr);
	if (!place || place->at < 0 || place->at >= FAKE_HCA_GIDS)
		return -EFAULT;		/* freed */
	return place->at;
}
EXPORT_SYMBOL_GPL(fake_hca_gid_at);

/* ---- the verbs ---- */

static int fake_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct fake_hca *hca = to_fake_hca(attr->device);
	u8 smac[ETH_ALEN];
	u16 vlan_id;
	int ret;

	ret = gid_refused(attr, &vlan_id, smac);
	if (ret)
		return ret;
	if (hca->quirks.gid_places) {
		ret = add_place(hca, attr, vlan_id, context);
		if (ret)
			return ret;
	} else {
		if (WARN_ON(hca->port[attr->port_num].gid_used[attr->index]))
			return -EEXIST;
		put_gid(hca, attr, attr->index, vlan_id, smac);
	}
	atomic_inc(&hca->alive[FAKE_GID]);
	return 0;
}

static int fake_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct fake_hca *hca = to_fake_hca(attr->device);
	struct fake_hca_port *port = &hca->port[attr->port_num];

	/*
	 * The net_device by which the provider finds its rules is gone: the entry
	 * stays.
	 */
	if (hca->quirks.del_gid_needs_ndev && !rcu_access_pointer(attr->ndev))
		return -ENODEV;
	atomic_dec(&hca->alive[FAKE_GID]);
	if (hca->quirks.gid_places)
		return del_place(hca, attr, *context);
	WARN_ON(!port->gid_used[attr->index]);
	clear_gid(port, attr->index);
	return 0;
}

const struct ib_device_ops fake_hca_roce_ops = {
	.add_gid	= fake_add_gid,
	.del_gid	= fake_del_gid,
};
