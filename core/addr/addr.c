// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Resolution of IP addresses to link addresses: the route to a destination, its
 * net_device, and the neighbour's hardware address.
 *
 * Each request has its own delayed work, which makes an attempt and calls the callback
 * if that completes the request; the work is also the request's timer.  Requests run in
 * parallel.  A request that waits for a neighbour is in next_hop_table, where an update
 * of that neighbour finds it.  All requests are in req_table, hashed by the
 * rdma_dev_addr they fill in, where rdma_addr_cancel finds them.
 *
 * ibcore_addr_resolve_now() makes one attempt in its caller's context, without a request.
 *
 * A bucket's lock is innermost: only workqueue functions are called with it held.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/l3mdev.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <net/route.h>
#include <rdma/ib.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "addr/addr.h"
#include "device/device.h"

#define ADDR_HASH_BITS	8
#define ADDR_POLL	HZ	/* a route may change without a neighbour event */

struct addr_bucket {
	spinlock_t lock;	/* taken in softirq too */
	struct hlist_head head;	/* under lock */
};

static struct addr_bucket req_table[1 << ADDR_HASH_BITS];
static struct addr_bucket next_hop_table[1 << ADDR_HASH_BITS];
static struct workqueue_struct *addr_wq;

/* What to resolve.  An attempt fills in src and *addr; the rest is constant. */
struct addr_query {
	union addr_ip src;
	union addr_ip dst;
	struct rdma_dev_addr *addr;	/* the caller's */
	int oif;			/* the caller's bound_dev_if */
	bool by_gid;			/* addr->sgid_attr gives the net_device */
};

struct addr_next_hop {
	struct in6_addr ip;		/* IPv4 mapped */
	int ifindex;
};

enum { ADDR_CANCELLED };

struct addr_req {
	struct addr_query query;	/* only used by the work once that is queued */
	void (*callback)(int status, struct sockaddr *src_addr,
			 struct rdma_dev_addr *addr, void *context);
	void *context;
	unsigned long deadline;
	int status;			/* of the last attempt; only used by the work */
	unsigned long flags;		/* ADDR_CANCELLED; atomic */
	refcount_t ref;			/* req_table's, ls's, and one per canceller */
	struct hlist_node node;		/* in req_table */
	struct addr_next_hop next_hop;	/* while in next_hop_table */
	struct hlist_node next_hop_node;
	struct ibcore_addr_ls ls;	/* for a destination behind an IB router */
	struct delayed_work work;
};

/* What an attempt needs of an IPv4 or IPv6 route. */
struct addr_route {
	struct dst_entry *dst;
	const void *daddr;		/* neighbour's key if destination is on link */
	bool gateway;
	bool local;
	enum rdma_network_type routed;	/* network type if there is a gateway */
	int hoplimit;
};

/* ---- waiting for a neighbour ---- */

static struct addr_bucket *next_hop_bucket(const struct addr_next_hop *nh)
{
	u32 key = jhash(&nh->ip, sizeof(nh->ip), nh->ifindex);

	return &next_hop_table[hash_32(key, ADDR_HASH_BITS)];
}

static bool addr_next_hop(struct addr_next_hop *nh, const struct neighbour *n)
{
	const void *key = n->primary_key;

	nh->ifindex = n->dev->ifindex;
	switch (n->tbl->family) {
	case AF_INET:
		ipv6_addr_set_v4mapped(*(const __be32 *)key, &nh->ip);
		return true;
	case AF_INET6:
		nh->ip = *(const struct in6_addr *)key;
		return true;
	}
	return false;
}

/* Only called by the request's work, or while that does not run, by a canceller. */
static void addr_unwait(struct addr_req *req)
{
	struct addr_bucket *bucket;

	if (hlist_unhashed(&req->next_hop_node))
		return;
	bucket = next_hop_bucket(&req->next_hop);
	spin_lock_bh(&bucket->lock);
	hlist_del_init(&req->next_hop_node);
	spin_unlock_bh(&bucket->lock);
}

static void addr_wait(struct addr_req *req, const struct neighbour *n)
{
	struct addr_bucket *bucket;

	addr_unwait(req);
	if (!addr_next_hop(&req->next_hop, n))
		return;
	bucket = next_hop_bucket(&req->next_hop);
	spin_lock_bh(&bucket->lock);
	hlist_add_head(&req->next_hop_node, &bucket->head);
	spin_unlock_bh(&bucket->lock);
}

static void addr_wake(const struct addr_next_hop *nh)
{
	struct addr_bucket *bucket = next_hop_bucket(nh);
	struct addr_req *req;

	spin_lock_bh(&bucket->lock);
	hlist_for_each_entry(req, &bucket->head, next_hop_node)
		if (req->next_hop.ifindex == nh->ifindex &&
		    ipv6_addr_equal(&req->next_hop.ip, &nh->ip))
			mod_delayed_work(addr_wq, &req->work, 0);
	spin_unlock_bh(&bucket->lock);
}

static int addr_netevent(struct notifier_block *nb, unsigned long event,
			 void *ctx)
{
	const struct neighbour *n = ctx;
	struct addr_next_hop nh;

	if (event == NETEVENT_NEIGH_UPDATE &&
	    READ_ONCE(n->nud_state) & (NUD_VALID | NUD_FAILED) &&
	    addr_next_hop(&nh, n))
		addr_wake(&nh);
	return NOTIFY_DONE;
}

static struct notifier_block addr_netevent_nb = {
	.notifier_call = addr_netevent,
};

/* ---- one attempt ---- */

/*
 * Copies the hardware address of @n to @ha, if it is valid.  The lock is needed as
 * nud_state becomes valid before the address is written; both change under the lock.
 */
static bool addr_of_neighbour(struct neighbour *n, u8 *ha)
{
	bool valid;

	read_lock_bh(&n->lock);
	valid = n->nud_state & NUD_VALID;
	if (valid)
		ibcore_addr_copy_l2(ha, n->ha, n->dev);
	read_unlock_bh(&n->lock);
	return valid;
}

/*
 * Copies the hardware address of the next hop to @ha; -ENODATA while the neighbour is
 * being resolved.  @req, if not NULL, is added to next_hop_table before the neighbour's
 * state is read, so that no update is missed.  On a device without ARP, the neighbour
 * table also has the address that IP would send to.
 */
static int addr_neighbour(const struct addr_route *rt, u8 *ha,
			  struct addr_req *req)
{
	struct neighbour *n = dst_neigh_lookup(rt->dst, rt->daddr);
	int ret = -ENODATA;

	if (!n)
		return ret;
	if (req)
		addr_wait(req, n);
	if (!neigh_event_send(n, NULL) && addr_of_neighbour(n, ha))
		ret = 0;
	neigh_release(n);
	return ret;
}

/*
 * Only the local service knows the GID behind an IB router.  Fills in @ha; -ENODATA while
 * the service is being queried, or if @req is NULL and there is a service to query.
 */
static int addr_behind_router(const struct addr_query *query,
			      const struct net *net, int ifindex, u8 *ha,
			      struct addr_req *req)
{
	/* The service runs in init_net, and would look up @ifindex there. */
	if (!net_eq(net, &init_net))
		return -EADDRNOTAVAIL;
	if (req)
		return ibcore_addr_ls_resolve(&req->ls, &query->dst.sa, ifindex,
					      ha);
	return rdma_nl_chk_listeners(RDMA_NL_GROUP_LS) ? -ENODATA :
							 -EADDRNOTAVAIL;
}

/*
 * The route to an address of this host leads to lo, or to a VRF's device.  Returns the
 * source net_device instead: the one that has the address, or the one the caller is
 * bound to, if that is another.  Copies the destination's hardware address to @ha.
 * Under rcu_read_lock.
 */
static struct net_device *addr_to_self(const struct addr_query *query,
				       struct net *net, int oif, u8 *ha)
{
	struct net_device *to = ibcore_addr_owner(net, &query->dst.sa);
	struct net_device *from = to;

	if (to && oif && oif != to->ifindex &&
	    oif != l3mdev_master_ifindex_rcu(to))
		from = dev_get_by_index_rcu(net, oif);
	if (!from)
		return NULL;
	if (from->flags & IFF_LOOPBACK)
		from = to;
	/* The addresses of lo are local to every device. */
	else if (to->flags & IFF_LOOPBACK || to->type != from->type)
		to = from;
	ibcore_addr_copy_l2(ha, to->dev_addr, to);
	return from;
}

/* Fills in query->addr from a route; -ENODATA while an address is being resolved. */
static int addr_by_route(struct addr_query *query, struct net *net, int oif,
			 const struct addr_route *rt, struct addr_req *req)
{
	struct rdma_dev_addr *addr = query->addr;
	struct net_device *dev;
	u8 ha[MAX_ADDR_LEN] = {};
	int ret = 0;

	rcu_read_lock();
	dev = READ_ONCE(rt->dst->dev);
	if (rt->local || dev->flags & IFF_LOOPBACK) {
		dev = addr_to_self(query, net, oif, ha);
		if (!dev)
			ret = -ENODEV;
	} else if (rt->gateway && dev->type == ARPHRD_INFINIBAND) {
		ret = addr_behind_router(query, net, dev->ifindex, ha, req);
	} else {
		ret = addr_neighbour(rt, ha, req);
	}
	if (!ret) {
		rdma_copy_src_l2_addr(addr, dev);
		memcpy(addr->dst_dev_addr, ha, MAX_ADDR_LEN);
		addr->hoplimit = rt->hoplimit;
		addr->network = rt->gateway && dev->type != ARPHRD_INFINIBAND ?
				rt->routed : RDMA_NETWORK_IB;
	}
	rcu_read_unlock();
	return ret;
}

static int addr_attempt4(struct addr_query *query, struct net *net, int oif,
			 struct addr_req *req)
{
	struct flowi4 fl4 = {
		.daddr = query->dst.in.sin_addr.s_addr,
		.saddr = query->src.in.sin_addr.s_addr,
		.flowi4_oif = oif,
	};
	struct addr_route route = {
		.daddr = &fl4.daddr,
		.routed = RDMA_NETWORK_IPV4,
	};
	struct rtable *rt;
	int ret;

	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	route.dst = &rt->dst;
	route.gateway = rt->rt_uses_gateway;
	route.local = rt->rt_type == RTN_LOCAL;
	route.hoplimit = ip4_dst_hoplimit(&rt->dst);
	ret = addr_by_route(query, net, oif, &route, req);
	if (!ret)
		query->src.in.sin_addr.s_addr = fl4.saddr;
	ip_rt_put(rt);
	return ret;
}

static int addr_attempt6(struct addr_query *query, struct net *net, int oif,
			 struct addr_req *req)
{
	const struct sockaddr_in6 *dst6 = &query->dst.in6;
	struct flowi6 fl6 = {
		.daddr = dst6->sin6_addr,
		.saddr = query->src.in6.sin6_addr,
		.flowi6_oif = oif,
	};
	struct addr_route route = {
		.daddr = &fl6.daddr,
		.routed = RDMA_NETWORK_IPV6,
	};
	struct rt6_info *rt;
	int ret;

	if (!IS_ENABLED(CONFIG_IPV6))
		return -EAFNOSUPPORT;
	if (!oif && ipv6_addr_type(&dst6->sin6_addr) & IPV6_ADDR_LINKLOCAL)
		fl6.flowi6_oif = dst6->sin6_scope_id;
	route.dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(route.dst))
		return PTR_ERR(route.dst);
	rt = container_of(route.dst, struct rt6_info, dst);
	route.gateway = rt->rt6i_flags & RTF_GATEWAY;
	route.local = rt->rt6i_flags & RTF_LOCAL;
	route.hoplimit = ip6_dst_hoplimit(route.dst);
	ret = addr_by_route(query, net, oif, &route, req);
	if (!ret)
		query->src.in6.sin6_addr = fl6.saddr;
	dst_release(route.dst);
	return ret;
}

/* Returns the namespace, with a reference, and sets *@oif, of an SGID's net_device. */
static struct net *addr_net_by_gid(const struct ib_gid_attr *attr, int *oif)
{
	struct net_device *dev;
	struct net *net;

	rcu_read_lock();
	dev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(dev)) {
		net = ERR_CAST(dev);
	} else {
		*oif = dev->ifindex;
		net = maybe_get_net(dev_net(dev)) ?: ERR_PTR(-ENODEV);
	}
	rcu_read_unlock();
	return net;
}

/* Returns 0, -ENODATA while a neighbour or GID is being resolved, or an error. */
static int addr_attempt(struct addr_query *query, struct addr_req *req)
{
	struct net *net = query->addr->net;
	int ret, oif = query->oif;

	if (query->by_gid) {
		net = addr_net_by_gid(query->addr->sgid_attr, &oif);
		if (IS_ERR(net))
			return PTR_ERR(net);
	}
	if (query->dst.sa.sa_family == AF_INET)
		ret = addr_attempt4(query, net, oif, req);
	else
		ret = addr_attempt6(query, net, oif, req);
	if (query->by_gid)
		put_net(net);
	return ret;
}

static int addr_query_init(struct addr_query *query, const struct sockaddr *src,
			   const struct sockaddr *dst,
			   struct rdma_dev_addr *addr, bool by_gid)
{
	if (dst->sa_family != AF_INET && dst->sa_family != AF_INET6)
		return -EINVAL;
	if (src && src->sa_family != dst->sa_family)
		return -EINVAL;
	if (by_gid && !addr->sgid_attr)
		return -EINVAL;
	memcpy(&query->dst, dst, rdma_addr_size(dst));
	if (src)
		memcpy(&query->src, src, rdma_addr_size(src));
	query->src.sa.sa_family = dst->sa_family;
	query->addr = addr;
	query->oif = addr->bound_dev_if;
	query->by_gid = by_gid;
	return 0;
}

/* ---- requests ---- */

static struct addr_bucket *addr_req_bucket(const struct rdma_dev_addr *addr)
{
	return &req_table[hash_ptr(addr, ADDR_HASH_BITS)];
}

static void addr_req_put(struct addr_req *req)
{
	if (refcount_dec_and_test(&req->ref))
		kfree(req);
}

void ibcore_addr_ls_get(struct ibcore_addr_ls *ls)
{
	refcount_inc(&container_of(ls, struct addr_req, ls)->ref);
}

void ibcore_addr_ls_put(struct ibcore_addr_ls *ls)
{
	addr_req_put(container_of(ls, struct addr_req, ls));
}

static void addr_req_insert(struct addr_req *req)
{
	struct addr_bucket *bucket = addr_req_bucket(req->query.addr);

	spin_lock_bh(&bucket->lock);
	hlist_add_head(&req->node, &bucket->head);
	spin_unlock_bh(&bucket->lock);
}

/* Removes @req from req_table and puts its reference, unless that has been done. */
static void addr_req_remove(struct addr_req *req)
{
	struct addr_bucket *bucket = addr_req_bucket(req->query.addr);
	bool hashed;

	spin_lock_bh(&bucket->lock);
	hashed = !hlist_unhashed(&req->node);
	if (hashed)
		hlist_del_init(&req->node);
	spin_unlock_bh(&bucket->lock);
	if (hashed)
		addr_req_put(req);
}

/*
 * No reference remains on a request that its work has completed:
 * (1) next_hop_table's: addr_unwait removed the request, so that no update queues the
 *     work again; work that an update queued before is cancelled;
 * (2) ls's: its question is cancelled, and no response queues the work again either;
 *     ls does not use the caller's data;
 * (3) req_table's: put last.  Until then a canceller finds the request and waits
 *     for the callback; a canceller holds a reference of its own.
 */
static void addr_complete(struct addr_req *req)
{
	addr_unwait(req);
	ibcore_addr_ls_close(&req->ls);
	cancel_delayed_work(&req->work);
	/* The callback may free query.addr, which is only a hash key from here on. */
	req->callback(req->status, &req->query.src.sa, req->query.addr,
		      req->context);
	addr_req_remove(req);
}

static void addr_work(struct work_struct *work)
{
	struct addr_req *req = container_of(work, struct addr_req, work.work);
	unsigned long now;

	if (test_bit(ADDR_CANCELLED, &req->flags))
		return;
	if (req->status == -ENODATA) {
		req->status = addr_attempt(&req->query, req);
		now = jiffies;
		if (req->status == -ENODATA &&
		    time_before(now, req->deadline)) {
			/* Does nothing if an update has queued the work already. */
			queue_delayed_work(addr_wq, &req->work,
					   min_t(unsigned long, ADDR_POLL,
						 req->deadline - now));
			return;
		}
		if (req->status == -ENODATA)
			req->status = -ETIMEDOUT;
	}
	addr_complete(req);
}

/**
 * rdma_resolve_ip - resolve the link addresses between two IP addresses
 * @src_addr: the source, of the family of @dst_addr; NULL or the wildcard to
 *	have it chosen.  It is copied, and not written
 * @dst_addr: the destination, IPv4 or IPv6
 * @addr: receives the result; @net must be set, bound_dev_if may be.  Must stay valid
 *	until the callback is called or rdma_addr_cancel() has returned
 * @timeout_ms: how long to wait for the neighbour or the local service
 * @callback: called once unless this returns an error or the request is
 *	cancelled: with 0 and the source address, -ETIMEDOUT, or the error of a later
 *	attempt.  It may sleep, and may start or cancel a resolution
 * @resolve_by_gid_attr: route through the net_device, and in the network namespace, of
 *	@addr->sgid_attr
 * @context: passed to the callback
 *
 * The callbacks of different requests run in parallel.  On success @addr has the
 * source, destination and broadcast link address, the type and index of the
 * net_device, the hop limit, and in network RDMA_NETWORK_IPV4 or _IPV6 if the route
 * has a gateway, otherwise RDMA_NETWORK_IB.  On IPoIB the local service is queried for
 * the GID behind a gateway, and the network is always RDMA_NETWORK_IB.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for unsupported or different families or a missing sgid_attr,
 * -ENOMEM, or the error of the first attempt, such as that there is no route.
 */
int rdma_resolve_ip(struct sockaddr *src_addr, const struct sockaddr *dst_addr,
		    struct rdma_dev_addr *addr, unsigned long timeout_ms,
		    void (*callback)(int err, struct sockaddr *src,
				     struct rdma_dev_addr *result, void *arg),
		    bool resolve_by_gid_attr, void *context)
{
	struct addr_req *req = kzalloc(sizeof(*req), GFP_KERNEL);
	int ret;

	if (!req)
		return -ENOMEM;
	ret = addr_query_init(&req->query, src_addr, dst_addr, addr,
			      resolve_by_gid_attr);
	if (ret)
		goto err;
	req->callback = callback;
	req->context = context;
	req->deadline = jiffies + msecs_to_jiffies(timeout_ms);
	refcount_set(&req->ref, 1);
	INIT_DELAYED_WORK(&req->work, addr_work);
	ibcore_addr_ls_init(&req->ls, addr_wq, &req->work);
	/* NULL: nothing may queue the work, as this may still fail and free @req. */
	req->status = addr_attempt(&req->query, NULL);
	if (req->status && req->status != -ENODATA) {
		ret = req->status;
		goto err;
	}
	addr_req_insert(req);
	queue_delayed_work(addr_wq, &req->work, 0);
	return 0;

err:
	kfree(req);
	return ret;
}
EXPORT_SYMBOL(rdma_resolve_ip);

/*
 * Returns a request for @addr, with a reference, or NULL.  Skips the request whose
 * callback calls this.
 */
static struct addr_req *addr_req_find(const struct rdma_dev_addr *addr)
{
	struct addr_bucket *bucket = addr_req_bucket(addr);
	struct work_struct *self = current_work();
	struct addr_req *req;

	spin_lock_bh(&bucket->lock);
	hlist_for_each_entry(req, &bucket->head, node) {
		if (req->query.addr == addr && &req->work.work != self) {
			refcount_inc(&req->ref);
			goto out;
		}
	}
	req = NULL;
out:
	spin_unlock_bh(&bucket->lock);
	return req;
}

/**
 * rdma_addr_cancel - cancel the resolution that fills an address
 * @addr: as passed to rdma_resolve_ip()
 *
 * When this returns, the callback has returned or will not be called, and @addr
 * is no longer used.  Does nothing if no resolution is in progress, or if called by
 * the callback of the one in progress.
 *
 * Context: may sleep; not with a lock held that the callback takes.
 */
void rdma_addr_cancel(struct rdma_dev_addr *addr)
{
	struct addr_req *req;

	while ((req = addr_req_find(addr))) {
		set_bit(ADDR_CANCELLED, &req->flags);
		cancel_delayed_work_sync(&req->work);
		/* The work does not run; an update or response may still queue it. */
		addr_unwait(req);
		ibcore_addr_ls_close(&req->ls);
		cancel_delayed_work_sync(&req->work);
		addr_req_remove(req);
		addr_req_put(req);
	}
}
EXPORT_SYMBOL(rdma_addr_cancel);

/**
 * ibcore_addr_resolve_now - resolve link addresses if that needs no waiting
 * @src_addr: as for rdma_resolve_ip()
 * @dst_addr: likewise
 * @addr: likewise; it need not stay valid
 * @by_gid: likewise, resolve_by_gid_attr
 * @chosen: receives the source address; has room for an IPv6 address, or is NULL
 *
 * Of most connections' peers the neighbour entry is valid, and then there is no need for
 * a request with its work.
 *
 * Context: may sleep.
 * Return: 0, with @addr filled in; -ENODATA if it must be waited for, which
 * rdma_resolve_ip() does; or an error of rdma_resolve_ip().
 */
int ibcore_addr_resolve_now(const struct sockaddr *src_addr,
			    const struct sockaddr *dst_addr,
			    struct rdma_dev_addr *addr, bool by_gid,
			    struct sockaddr *chosen)
{
	struct addr_query query = {};
	int ret;

	ret = addr_query_init(&query, src_addr, dst_addr, addr, by_gid);
	if (ret)
		return ret;
	ret = addr_attempt(&query, NULL);
	if (!ret && chosen)
		memcpy(chosen, &query.src, rdma_addr_size(&query.src.sa));
	return ret;
}
EXPORT_SYMBOL(ibcore_addr_resolve_now);

int ibcore_addr_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(req_table); i++) {
		spin_lock_init(&req_table[i].lock);
		spin_lock_init(&next_hop_table[i].lock);
	}
	/* Not shared: a callback may destroy its ID, and so flush any other queue. */
	addr_wq = alloc_workqueue("ibcore_addr", WQ_UNBOUND, 0);
	if (!addr_wq)
		return -ENOMEM;
	ret = register_netevent_notifier(&addr_netevent_nb);
	if (ret)
		destroy_workqueue(addr_wq);
	return ret;
}

/* All users depend on this module: their requests are completed or cancelled. */
void ibcore_addr_exit(void)
{
	unregister_netevent_notifier(&addr_netevent_nb);
	destroy_workqueue(addr_wq);
}
