// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections of this host to itself: to the wildcard, or to a loopback address, which
 * is seldom a GID.  Any device can carry such a connection.  Both ends choose the
 * device by the same rule, so that they use the same one.
 *
 * The IP addresses of the connection are not changed; the GIDs are those of the port
 * that was chosen.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <net/ipv6.h>

#include "bind/bind.h"
#include "id/id.h"

/* How well a GID serves: the highest bit decides; 0 means not at all. */
enum {
	CMA_LOOP_NONE	= 0,
	CMA_LOOP_PORT	= 1,	/* its port is active */
	CMA_LOOP_FAMILY	= 2,	/* it is an address of the id's family */
	CMA_LOOP_NETDEV	= 4,	/* its netdev is the loopback device itself */
};

/* Whether a GID is an address of @family that can identify this host. */
static bool cma_gid_is_ip(const union ib_gid *gid, sa_family_t family)
{
	const struct in6_addr *in6 = (const struct in6_addr *)gid;

	if (family == AF_INET)
		return ipv6_addr_v4mapped(in6);
	return !ipv6_addr_v4mapped(in6) && !ipv6_addr_any(in6) &&
	       !(ipv6_addr_type(in6) & IPV6_ADDR_LINKLOCAL);
}

/* A RoCE or iWARP port can be used only in the namespace of its netdev. */
static unsigned int cma_loop_rank(struct cma_id *idp,
				  const struct ib_gid_attr *attr)
{
	unsigned int rank = CMA_LOOP_PORT;
	const struct net_device *ndev;

	if (cma_gid_is_ip(&attr->gid, cma_family(idp)))
		rank |= CMA_LOOP_FAMILY;
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev && !net_eq(dev_net(ndev), cma_net(idp)))
		rank = CMA_LOOP_NONE;
	else if (ndev && ndev->flags & IFF_LOOPBACK)
		rank |= CMA_LOOP_NETDEV;
	else if (!ndev && rdma_protocol_roce(attr->device, attr->port_num))
		rank = CMA_LOOP_NONE;
	rcu_read_unlock();
	return rank;
}

struct cma_loop_search {
	struct cma_id *idp;
	unsigned int best;
	struct cma_binding found;	/* valid if best is not 0 */
};

/* Takes over the reference to @attr. */
static void cma_loop_offer(struct cma_loop_search *s, struct cma_dev *dev,
			   const struct ib_gid_attr *attr)
{
	unsigned int rank = cma_loop_rank(s->idp, attr);

	if (rank <= s->best || !cma_dev_tryget(dev)) {
		rdma_put_gid_attr(attr);
		return;
	}
	if (s->best) {
		rdma_put_gid_attr(s->found.sgid_attr);
		cma_dev_put(s->found.dev);
	}
	s->best = rank;
	s->found.dev = dev;
	s->found.port = attr->port_num;
	s->found.sgid_attr = attr;
}

static void cma_loop_port(struct cma_loop_search *s, struct cma_dev *dev,
			  u32 port)
{
	struct ib_device *device = dev->device;
	bool roce = rdma_protocol_roce(device, port);
	const struct ib_gid_attr *attr;
	int i, nr = 1;

	if (!cma_port_active(device, port) ||
	    (cma_family(s->idp) == AF_IB && !rdma_cap_af_ib(device, port)))
		return;
	if (roce)
		nr = device->port_data[port].immutable.gid_tbl_len;
	for (i = 0; i < nr; i++) {
		attr = rdma_get_gid_attr(device, port, i);
		if (IS_ERR(attr))
			continue;
		if (roce && attr->gid_type !=
			    READ_ONCE(dev->ports[port].default_gid_type))
			rdma_put_gid_attr(attr);
		else
			cma_loop_offer(s, dev, attr);
	}
}

static bool cma_loop_find(struct cma_loop_search *s)
{
	struct cma_dev *dev;
	u32 port;

	down_read(&cma_topology);
	list_for_each_entry(dev, &cma_devices, node) {
		if (!rdma_dev_access_netns(dev->device, cma_net(s->idp)))
			continue;
		rdma_for_each_port(dev->device, port)
			cma_loop_port(s, dev, port);
	}
	up_read(&cma_topology);
	return s->best;
}

/* Sets the link address of both ends to that of the GID. */
static void cma_loop_set_link(struct rdma_dev_addr *dev_addr,
			      const struct cma_binding *found)
{
	struct ib_device *device = found->dev->device;
	const struct ib_gid_attr *attr = found->sgid_attr;
	struct net_device *ndev;
	u16 pkey;

	dev_addr->bound_dev_if = 0;
	if (rdma_protocol_ib(device, found->port)) {
		dev_addr->dev_type = ARPHRD_INFINIBAND;
		rdma_addr_set_sgid(dev_addr, (union ib_gid *)&attr->gid);
		rdma_addr_set_dgid(dev_addr, (union ib_gid *)&attr->gid);
		if (!ib_get_cached_pkey(device, found->port, 0, &pkey))
			ib_addr_set_pkey(dev_addr, pkey);
		return;
	}
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev) {
		rdma_copy_src_l2_addr(dev_addr, ndev);
		memcpy(dev_addr->dst_dev_addr, dev_addr->src_dev_addr,
		       MAX_ADDR_LEN);
	}
	rcu_read_unlock();
	dev_addr->hoplimit = 1;
}

/*
 * cma_bind_loopback() - bind an id with a loopback address to a device
 *
 * Prefers a device whose netdev is the loopback device; otherwise any device with an
 * active port will do.
 *
 * Context: may sleep.
 * Return: 0 or -ENODEV.
 */
int cma_bind_loopback(struct cma_id *idp)
{
	struct cma_loop_search search = { .idp = idp };

	if (!cma_loop_find(&search))
		return -ENODEV;
	cma_loop_set_link(&idp->id.route.addr.dev_addr, &search.found);
	return cma_id_attach(idp, &search.found);
}

/* Sets the host part of @addr; the port and the other fields stay. */
static void cma_set_host(struct sockaddr *addr, const union ib_gid *gid)
{
	switch (addr->sa_family) {
	case AF_INET:
		memcpy(&((struct sockaddr_in *)addr)->sin_addr, &gid->raw[12],
		       4);
		break;
	case AF_INET6:
		memcpy(&((struct sockaddr_in6 *)addr)->sin6_addr, gid, 16);
		break;
	case AF_IB:
		memcpy(&((struct sockaddr_ib *)addr)->sib_addr, gid, 16);
		break;
	}
}

static void cma_set_loopback(struct sockaddr *addr)
{
	union ib_gid host = {};

	if (addr->sa_family == AF_INET)
		*(__be32 *)&host.raw[12] = htonl(INADDR_LOOPBACK);
	else
		host.raw[15] = 1;
	cma_set_host(addr, &host);
}

/* An AF_IB address is the GID itself, so the loopback address is replaced, too. */
static bool cma_dst_is_any(struct cma_id *idp)
{
	return cma_family(idp) == AF_IB || cma_addr_any(cma_dst(idp));
}

/*
 * Sets the source address of an id that was just bound to reach this host.  If the
 * destination is the wildcard, source and destination become the GID, if that is an
 * address of the id's family, else the loopback address.
 */
static void cma_loop_set_addrs(struct cma_id *idp)
{
	const union ib_gid *gid = &idp->sgid_attr->gid;
	sa_family_t family = cma_family(idp);
	bool is_addr = family == AF_IB;

	if (rdma_protocol_roce(idp->id.device, idp->id.port_num))
		is_addr = cma_gid_is_ip(gid, family);
	if (!cma_dst_is_any(idp)) {
		cma_set_loopback(cma_src(idp));
	} else if (is_addr) {
		cma_set_host(cma_src(idp), gid);
		cma_set_host(cma_dst(idp), gid);
	} else {
		cma_set_loopback(cma_src(idp));
		cma_set_loopback(cma_dst(idp));
	}
}

/* Copies the source address, scope and P_Key included, but keeps the requested port. */
static void cma_dst_from_src(struct cma_id *idp)
{
	struct sockaddr_storage asked = idp->id.route.addr.dst_addr;

	memcpy(cma_dst(idp), cma_src(idp), sizeof(asked));
	switch (cma_family(idp)) {
	case AF_INET:
		((struct sockaddr_in *)cma_dst(idp))->sin_port =
			((struct sockaddr_in *)&asked)->sin_port;
		break;
	case AF_INET6:
		((struct sockaddr_in6 *)cma_dst(idp))->sin6_port =
			((struct sockaddr_in6 *)&asked)->sin6_port;
		break;
	case AF_IB:
		((struct sockaddr_ib *)cma_dst(idp))->sib_sid =
			((struct sockaddr_ib *)&asked)->sib_sid;
		break;
	}
}

/* Whether @addr means this host, through any of its devices. */
bool cma_is_this_host(const struct sockaddr *addr)
{
	return cma_addr_any(addr) || cma_addr_loopback(addr) ||
	       (addr->sa_family == AF_IB &&
		ib_addr_loopback(&((const struct sockaddr_ib *)addr)->sib_addr));
}

/*
 * cma_resolve_loopback() - resolve a destination for which cma_is_this_host() is true
 *
 * Fills in the IP and link addresses of source and destination, so nothing remains to
 * be resolved.
 *
 * Context: may sleep.
 * Return: 0 or -ENODEV.
 */
int cma_resolve_loopback(struct cma_id *idp)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	int err;

	if (!idp->dev) {
		err = cma_bind_loopback(idp);
		if (err)
			return err;
		cma_loop_set_addrs(idp);
	} else {
		if (cma_dst_is_any(idp))
			cma_dst_from_src(idp);
		memcpy(dev_addr->dst_dev_addr, dev_addr->src_dev_addr,
		       sizeof(dev_addr->dst_dev_addr));
	}
	cma_addr_key_init(&idp->resolved, cma_src(idp));
	return 0;
}

/*
 * cma_roce_gid() - get the GID for an address of an id on RoCE
 *
 * It is the address itself, except for a loopback address, for which it is the id's
 * SGID.
 *
 * Return: 0; -EINVAL.
 */
int cma_roce_gid(struct cma_id *idp, struct sockaddr *addr,
		 union ib_gid *gid)
{
	if (!cma_addr_loopback(addr) || !idp->sgid_attr)
		return rdma_ip2gid(addr, gid);
	*gid = idp->sgid_attr->gid;
	return 0;
}
