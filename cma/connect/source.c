// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whether a request may come from its source address.
 *
 * The sender of a request chooses the addresses in its private data, and consumers
 * grant rights by them: for example an NFS export to 127.0.0.1.  So sources that IP
 * would not accept from the wire are refused here: an address that no host can have,
 * an address that is not reached through the netdev that received the request, and
 * above all an address of this host, unless this host has sent the request.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <net/route.h>
#include <ibex/cm.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"

/* Where a request must come from to be accepted. */
enum cma_origin {
	CMA_FROM_NOWHERE,	/* no host can have sent it */
	CMA_FROM_HERE,		/* an id of this namespace */
	CMA_FROM_WIRE,		/* the wire, by the route to the source address */
	CMA_FROM_ANY,		/* anywhere: the administrator allows it */
};

static bool cma_nobody4(__be32 addr)
{
	return ipv4_is_multicast(addr) || ipv4_is_lbcast(addr) ||
	       ipv4_is_zeronet(addr);
}

/* With accept_local, IP accepts packets from addresses of this host, too. */
static bool cma_accepts_local(const struct net_device *ndev)
{
	struct in_device *in_dev;
	bool accepts;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(ndev);
	accepts = in_dev && IN_DEV_ACCEPT_LOCAL(in_dev);
	rcu_read_unlock();
	return accepts;
}

static enum cma_origin cma_origin4(struct net *net, struct net_device *ndev,
				   __be32 peer, __be32 local)
{
	if (cma_nobody4(peer) || cma_nobody4(local))
		return CMA_FROM_NOWHERE;
	if (ipv4_is_loopback(peer) || ipv4_is_loopback(local))
		return CMA_FROM_HERE;
	if (inet_addr_type_dev_table(net, ndev, peer) != RTN_LOCAL)
		return CMA_FROM_WIRE;
	return cma_accepts_local(ndev) ? CMA_FROM_ANY : CMA_FROM_HERE;
}

static bool cma_route4_ok(struct net *net, struct net_device *ndev, __be32 peer,
			  __be32 local)
{
	struct flowi4 fl4 = {
		.flowi4_iif = LOOPBACK_IFINDEX,
		.flowi4_oif = ndev->ifindex,
		.daddr = peer,
		.saddr = local,
	};
	struct fib_result res;
	bool ok;

	rcu_read_lock();
	ok = !fib_lookup(net, &fl4, &res, FIB_LOOKUP_NOREF) &&
	     res.type == RTN_UNICAST;
	rcu_read_unlock();
	return ok;
}

#if IS_ENABLED(CONFIG_IPV6)
/* IPv4-mapped addresses are for sockets: in a packet one would pass for IPv4. */
static bool cma_nobody6(const struct in6_addr *addr)
{
	return ipv6_addr_any(addr) || ipv6_addr_is_multicast(addr) ||
	       ipv6_addr_v4mapped(addr);
}

/* A link-local address is local to this host only on its own link. */
static enum cma_origin cma_origin6(struct net *net, struct net_device *ndev,
				   const struct in6_addr *peer,
				   const struct in6_addr *local)
{
	if (cma_nobody6(peer) || cma_nobody6(local))
		return CMA_FROM_NOWHERE;
	if (ipv6_addr_loopback(peer) || ipv6_addr_loopback(local) ||
	    ipv6_chk_addr(net, peer, ndev, 0))
		return CMA_FROM_HERE;
	return CMA_FROM_WIRE;
}

static bool cma_route6_ok(struct net *net, struct net_device *ndev,
			  const struct in6_addr *peer,
			  const struct in6_addr *local)
{
	struct rt6_info *rt;
	bool ok;

	rt = rt6_lookup(net, peer, local, ndev->ifindex, NULL,
			RT6_LOOKUP_F_IFACE);
	if (!rt)
		return false;
	ok = !rt->dst.error && rt->dst.dev == ndev;
	ip6_rt_put(rt);
	return ok;
}
#else
static enum cma_origin cma_origin6(struct net *net, struct net_device *ndev,
				   const struct in6_addr *peer,
				   const struct in6_addr *local)
{
	return CMA_FROM_NOWHERE;
}

static bool cma_route6_ok(struct net *net, struct net_device *ndev,
			  const struct in6_addr *peer,
			  const struct in6_addr *local)
{
	return false;
}
#endif

struct cma_sender {
	const struct cma_hdr_info *hdr;
	const struct net *net;
	const struct ib_cm_event *event;
};

/* Ignores the scope: both ends may know the link by different interfaces. */
static bool cma_same_addr(const void *one, const void *two)
{
	struct cma_addr_key a, b;

	cma_addr_key_init(&a, one);
	cma_addr_key_init(&b, two);
	a.scope = 0;
	b.scope = 0;
	return !memcmp(&a, &b, sizeof(a));
}

/* The addresses of an id that waits for a response do not change any more. */
static bool cma_has_addrs(const struct cma_id *idp,
			  const struct cma_sender *said)
{
	const struct rdma_addr *addr = &idp->id.route.addr;

	return net_eq(cma_net(idp), said->net) &&
	       cma_same_addr(&addr->src_addr, &said->hdr->src) &&
	       cma_same_addr(&addr->dst_addr, &said->hdr->dst) &&
	       cma_addr_port((const void *)&addr->src_addr) ==
	       cma_addr_port((const void *)&said->hdr->src) &&
	       cma_addr_port((const void *)&addr->dst_addr) ==
	       cma_addr_port((const void *)&said->hdr->dst);
}

/*
 * Called under the lock of the sender's CM id, which waits for a response: the id that
 * owns the CM id cannot be freed.
 */
static bool cma_is_sender(const struct ib_cm_id *cm_id, const void *arg)
{
	if (cm_id->cm_handler != cma_ib_event &&
	    cm_id->cm_handler != cma_sidr_event)
		return false;
	return cma_has_addrs(cm_id->context, arg);
}

static bool cma_waits_for(const struct cma_id *idp,
			  const struct cma_sender *said)
{
	const struct ib_cm_req_event_param *rc = &said->event->param.req_rcvd;

	if (idp->passive || cma_state(idp) != RDMA_CM_CONNECT ||
	    READ_ONCE(idp->conn) != CMA_CONN_PENDING ||
	    !cma_has_addrs(idp, said))
		return false;
	if (said->event->event == IB_CM_SIDR_REQ_RECEIVED)
		return idp->id.qp_type == IB_QPT_UD;
	return idp->id.qp_type != IB_QPT_UD && idp->seq_num == rc->starting_psn &&
	       READ_ONCE(idp->qp_num) == rc->remote_qpn;
}

/*
 * With virtual functions, mlx4 replaces the communication IDs in messages, whichever
 * adapter receives the request, so they do not tell which id has sent it.  Therefore
 * search the ids of all mlx4 devices for one that waits for a response and has these
 * addresses, QP and PSN.
 */
static bool cma_sent_by_any(const struct cma_sender *said)
{
	struct cma_dev *dev;
	struct cma_id *idp;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &cma_devices, node) {
		if (dev->device->ops.driver_id != RDMA_DRIVER_MLX4)
			continue;
		spin_lock(&dev->lock);
		list_for_each_entry(idp, &dev->ids, dev_node) {
			found = cma_waits_for(idp, said);
			if (found)
				break;
		}
		spin_unlock(&dev->lock);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

static bool cma_sent_here(struct ib_cm_id *cm_id,
			  const struct cma_sender *said)
{
	return ib_cm_sent_here(cm_id, cma_is_sender, said) ||
	       cma_sent_by_any(said);
}

/*
 * cma_source_ok() - whether a request may come from its source address
 * @hdr: the request's addresses, of the same family, IPv4 or IPv6
 * @net: the network namespace of the request, to which the caller holds a reference
 * @ndev: the netdev that received the request, in that namespace
 * @cm_id: the CM's id of the request
 * @event: the CM's event of the request
 *
 * Context: may sleep.
 */
bool cma_source_ok(const struct cma_hdr_info *hdr, struct net *net,
		   struct net_device *ndev, struct ib_cm_id *cm_id,
		   const struct ib_cm_event *event)
{
	const struct sockaddr_in6 *src6 = (const void *)&hdr->src;
	const struct sockaddr_in6 *dst6 = (const void *)&hdr->dst;
	const struct sockaddr_in *src = (const void *)&hdr->src;
	const struct sockaddr_in *dst = (const void *)&hdr->dst;
	struct cma_sender sender = { .hdr = hdr, .net = net, .event = event };
	bool ip4 = hdr->family == AF_INET;
	enum cma_origin origin;

	origin = ip4 ? cma_origin4(net, ndev, src->sin_addr.s_addr,
				   dst->sin_addr.s_addr) :
		       cma_origin6(net, ndev, &src6->sin6_addr,
				   &dst6->sin6_addr);
	switch (origin) {
	case CMA_FROM_ANY:
		return true;
	case CMA_FROM_HERE:
		return cma_sent_here(cm_id, &sender);
	case CMA_FROM_WIRE:
		return ip4 ? cma_route4_ok(net, ndev, src->sin_addr.s_addr,
					   dst->sin_addr.s_addr) :
			     cma_route6_ok(net, ndev, &src6->sin6_addr,
					   &dst6->sin6_addr);
	default:
		return false;
	}
}
