// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the device, port and GID for a local address.
 *
 * On RoCE an IP address is a GID of the netdev that has the address.  On InfiniBand
 * the IPoIB link address contains the port's GID.  On iWARP the port is found by its
 * netdev.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>

#include "bind/bind.h"
#include "id/id.h"

struct cma_local {
	struct cma_gid_key key;		/* key of the GID for gid_hint.c */
	union ib_gid link_gid;		/* GID in the link address; not for RoCE */
	struct net *net;
	struct net_device *ndev;	/* with a reference, or NULL */
};

/* An iWARP port serves the VLANs of its netdev, too. */
static bool cma_gid_attr_on(const struct ib_gid_attr *attr,
			    const struct net_device *ndev)
{
	const struct net_device *on;
	bool same;

	rcu_read_lock();
	on = rcu_dereference(attr->ndev);
	same = ndev && (on == ndev || on == rdma_vlan_dev_real_dev(ndev));
	rcu_read_unlock();
	return same;
}

static const struct ib_gid_attr *
cma_match_iwarp(struct ib_device *device, u32 port, const struct cma_local *l)
{
	const struct ib_gid_attr *attr;

	attr = rdma_get_gid_attr(device, port, 0);
	if (IS_ERR(attr))
		return attr;
	if (rcu_access_pointer(attr->ndev) ?
	    cma_gid_attr_on(attr, l->ndev) :
	    !memcmp(&attr->gid, &l->link_gid, sizeof(attr->gid)))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

/* Returns the GID attribute of the address on @port, with a reference, or an error. */
static const struct ib_gid_attr *cma_match(struct cma_dev *dev, u32 port,
					   const struct cma_local *l)
{
	struct ib_device *device = dev->device;
	bool ipoib;

	if (!rdma_dev_access_netns(device, l->net))
		return ERR_PTR(-ENODEV);
	ipoib = l->key.dev_type == ARPHRD_INFINIBAND;
	if (rdma_protocol_ib(device, port) != ipoib)
		return ERR_PTR(-ENODEV);

	if (rdma_protocol_iwarp(device, port))
		return cma_match_iwarp(device, port, l);
	if (rdma_protocol_roce(device, port)) {
		enum ib_gid_type type =
			READ_ONCE(dev->ports[port].default_gid_type);

		if (!l->ndev)
			return ERR_PTR(-ENODEV);
		return rdma_find_gid_by_port(device, &l->key.gid, type, port,
					     l->ndev);
	}
	return rdma_find_gid_by_port(device, &l->link_gid, IB_GID_TYPE_IB, port,
				     NULL);
}

static bool cma_match_dev(struct cma_dev *dev, const struct cma_local *l,
			  struct cma_binding *found)
{
	const struct ib_gid_attr *attr;
	u32 port;

	rdma_for_each_port(dev->device, port) {
		attr = cma_match(dev, port, l);
		if (IS_ERR(attr))
			continue;
		if (cma_dev_tryget(dev)) {
			found->dev = dev;
			found->port = port;
			found->sgid_attr = attr;
			return true;
		}
		rdma_put_gid_attr(attr);
	}
	return false;
}

static bool cma_search(const struct cma_local *l, struct cma_binding *found)
{
	struct cma_dev *dev;
	bool ok = false;

	down_read(&cma_topology);
	list_for_each_entry(dev, &cma_devices, node) {
		ok = cma_match_dev(dev, l, found);
		if (ok)
			break;
	}
	up_read(&cma_topology);
	if (ok)
		cma_gid_hint_add(found->dev, found->port, &l->key);
	return ok;
}

static bool cma_search_hint(const struct cma_local *l,
			    struct cma_binding *found)
{
	found->dev = cma_gid_hint_find(&l->key, &found->port);
	if (!found->dev)
		return false;
	found->sgid_attr = cma_match(found->dev, found->port, l);
	if (!IS_ERR(found->sgid_attr))
		return true;
	cma_gid_hint_del(found->dev, &l->key);
	cma_dev_put(found->dev);
	return false;
}

/* Fills in what is known of an id's source address.  If it succeeds, put l->ndev. */
static int cma_local_init(struct cma_local *l, struct cma_id *idp)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;

	memset(l, 0, sizeof(*l));
	l->net = dev_addr->net;
	l->key.net = dev_addr->net;
	l->key.ifindex = dev_addr->bound_dev_if;
	l->key.dev_type = dev_addr->dev_type;
	rdma_addr_get_sgid(dev_addr, &l->link_gid);
	if (dev_addr->dev_type == ARPHRD_INFINIBAND)
		l->key.gid = l->link_gid;
	else if (rdma_ip2gid(cma_src(idp), &l->key.gid))
		return -EAFNOSUPPORT;

	if (dev_addr->bound_dev_if)
		l->ndev = dev_get_by_index(dev_addr->net, dev_addr->bound_dev_if);
	return 0;
}

/*
 * cma_bind_device() - bind an id to the device that has its source address
 *
 * route.addr must hold the IP address and, in dev_addr, its link address, the link
 * type and the netdev.
 *
 * Context: may sleep.
 * Return: 0, or -ENODEV if no device has the address or the device is being removed.
 */
int cma_bind_device(struct cma_id *idp)
{
	struct cma_binding found;
	struct cma_local l;
	bool ok;

	if (cma_local_init(&l, idp))
		return -ENODEV;
	ok = cma_search_hint(&l, &found) || cma_search(&l, &found);
	dev_put(l.ndev);
	return ok ? cma_id_attach(idp, &found) : -ENODEV;
}

/*
 * cma_bind_iwarp() - bind the id of an iWARP request to the port that received it
 * @dev: the device; takes over the caller's reference
 *
 * If no port's netdev has the address, the id is bound to the first port: the address
 * is the device's, as its provider reported the request.
 *
 * Return: 0; -ENODEV if the device is being removed; -EADDRNOTAVAIL if no netdev has
 * the address.
 */
int cma_bind_iwarp(struct cma_id *idp, struct cma_dev *dev)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	struct cma_binding found = {
		.dev = dev,
		.port = rdma_start_port(dev->device),
	};
	struct cma_local l;
	int err;

	err = rdma_translate_ip(cma_src(idp), dev_addr);
	if (err) {
		cma_dev_put(dev);
		return err;
	}
	if (!cma_local_init(&l, idp)) {
		if (cma_match_dev(dev, &l, &found))
			cma_dev_put(dev);
		dev_put(l.ndev);
	}
	return cma_id_attach(idp, &found);
}

bool cma_port_active(struct ib_device *device, u32 port)
{
	enum ib_port_state state;

	return !ib_get_cached_port_state(device, port, &state) &&
	       state == IB_PORT_ACTIVE;
}

/* How well @gid serves to reach @dgid: 2: it is @dgid; 1: same subnet; 0: neither. */
static int cma_gid_rank(const union ib_gid *gid, const union ib_gid *dgid)
{
	if (!memcmp(gid, dgid, sizeof(*gid)))
		return 2;
	return gid->global.subnet_prefix == dgid->global.subnet_prefix;
}

static void cma_rank_port(struct cma_dev *dev, u32 port, u16 pkey,
			  const union ib_gid *dgid, int *best,
			  struct cma_binding *found)
{
	const struct ib_gid_attr *attr;
	u16 index;
	int i, rank;

	if (!rdma_cap_af_ib(dev->device, port) ||
	    !cma_port_active(dev->device, port) ||
	    ib_find_cached_pkey(dev->device, port, pkey, &index))
		return;

	for (i = 0; i < dev->device->port_data[port].immutable.gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(dev->device, port, i);
		if (IS_ERR(attr))
			continue;
		rank = cma_gid_rank(&attr->gid, dgid);
		if (rank <= *best || !cma_dev_tryget(dev)) {
			rdma_put_gid_attr(attr);
			continue;
		}
		if (*best) {
			rdma_put_gid_attr(found->sgid_attr);
			cma_dev_put(found->dev);
		}
		*best = rank;
		found->dev = dev;
		found->port = port;
		found->sgid_attr = attr;
	}
}

/*
 * cma_bind_device_ib() - bind an id to a device that reaches its AF_IB peer
 *
 * The source address becomes the local GID that was chosen: the peer's own GID if that
 * is local, otherwise a GID of the same subnet.
 *
 * Return: 0 or -ENODEV.
 */
int cma_bind_device_ib(struct cma_id *idp)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	struct sockaddr_ib *dst = (struct sockaddr_ib *)cma_dst(idp);
	struct sockaddr_ib *src = (struct sockaddr_ib *)cma_src(idp);
	union ib_gid *dgid = (union ib_gid *)&dst->sib_addr;
	struct cma_binding found;
	struct cma_dev *dev;
	int best = 0;
	u32 port;

	down_read(&cma_topology);
	list_for_each_entry(dev, &cma_devices, node) {
		if (!rdma_dev_access_netns(dev->device, cma_net(idp)))
			continue;
		rdma_for_each_port(dev->device, port)
			cma_rank_port(dev, port, be16_to_cpu(dst->sib_pkey),
				      dgid, &best, &found);
	}
	up_read(&cma_topology);
	if (!best)
		return -ENODEV;

	dev_addr->dev_type = ARPHRD_INFINIBAND;
	memcpy(&src->sib_addr, &found.sgid_attr->gid, sizeof(src->sib_addr));
	rdma_addr_set_sgid(dev_addr, (union ib_gid *)&src->sib_addr);
	ib_addr_set_pkey(dev_addr, be16_to_cpu(dst->sib_pkey));
	src->sib_pkey = dst->sib_pkey;
	return cma_id_attach(idp, &found);
}
