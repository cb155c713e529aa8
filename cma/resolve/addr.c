// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local addresses: rdma_bind_addr(), rdma_resolve_addr().
 *
 * route.addr.src_addr is written by the first of these calls, and again when
 * resolution replaces the wildcard by an address.  It must not change otherwise, as
 * the port's claim and the listener's key are derived from it.
 */
#include <linux/if_arp.h>
#include <net/ipv6.h>
#include <ibex/addr.h>

#include "bind/bind.h"
#include "id/id.h"
#include "resolve/resolve.h"

static bool cma_is_linklocal(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;

	return addr->sa_family == AF_INET6 &&
	       ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL;
}

/* Fills in dev_addr from the address of a local interface. */
static int cma_translate(struct cma_id *idp, const struct sockaddr *addr)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	const struct sockaddr_ib *ib = (const void *)addr;
	const struct sockaddr_in6 *in6 = (const void *)addr;

	if (addr->sa_family == AF_IB) {
		dev_addr->dev_type = ARPHRD_INFINIBAND;
		rdma_addr_set_sgid(dev_addr, (union ib_gid *)&ib->sib_addr);
		ib_addr_set_pkey(dev_addr, be16_to_cpu(ib->sib_pkey));
		return 0;
	}
	if (cma_is_linklocal(addr)) {
		if (!in6->sin6_scope_id)
			return -EINVAL;
		dev_addr->bound_dev_if = in6->sin6_scope_id;
	}
	return rdma_translate_ip(addr, dev_addr);
}

static void cma_default_afonly(struct cma_id *idp)
{
	if (idp->afonly_set)
		return;
#if IS_ENABLED(CONFIG_IPV6)
	if (cma_family(idp) == AF_INET6)
		idp->afonly = cma_net(idp)->ipv6.sysctl.bindv6only;
#endif
}

/*
 * Binds to the device that has the address.  A loopback address is one of all devices, of which
 * it takes a destination to choose one.
 */
static int cma_bind_local(struct cma_id *idp, const struct sockaddr *addr,
			  const struct sockaddr *dst)
{
	int err;

	if (cma_addr_loopback(addr))
		return dst ? cma_bind_loopback(idp) : 0;
	err = cma_translate(idp, addr);
	return err ?: cma_bind_device(idp);
}

/* Our caller has moved the id to ADDR_BOUND.  On failure the address is cleared again. */
static int cma_bind_src(struct cma_id *idp, const struct sockaddr *addr,
			const struct sockaddr *dst)
{
	int err;

	memcpy(cma_src(idp), addr, rdma_addr_size(addr));
	cma_default_afonly(idp);
	err = cma_port_get(idp, dst);
	if (err)
		goto unset;

	if (!cma_addr_any(addr)) {
		err = cma_bind_local(idp, addr, dst);
		if (err)
			goto put_port;
	}
	if (!cma_dst(idp)->sa_family)
		cma_dst(idp)->sa_family = addr->sa_family;
	return 0;

put_port:
	/* Else the next attempt would look up this interface instead of the address. */
	idp->id.route.addr.dev_addr.bound_dev_if = 0;
	cma_port_put(idp);
unset:
	cma_addr_set_any(cma_src(idp), AF_UNSPEC);
	return err;
}

/* @dst: the destination that the id will connect to, or NULL */
static int cma_bind(struct cma_id *idp, const struct sockaddr *addr,
		    const struct sockaddr *dst)
{
	int err;

	if (!cma_addr_family_ok(addr))
		return -EAFNOSUPPORT;
	err = cma_id_step(idp, CMA_T_BIND);
	if (err)
		return err;
	err = cma_bind_src(idp, addr, dst);
	if (err)
		cma_id_step(idp, CMA_T_UNBIND);
	return err;
}

/**
 * rdma_bind_addr() - give an id a local address and port
 * @id: an id without an address
 * @addr: AF_INET, AF_INET6 or AF_IB, in network byte order.  An address of this host
 *	binds the id to the device that has it.  A loopback address and the wildcard
 *	bind it to no device.  Port 0 selects a free port.
 *
 * The address and port are then in route.addr.src_addr.
 *
 * Context: may sleep.
 * Return: 0; -EAFNOSUPPORT; -EINVAL if @id has an address or @addr is link-local
 * without a scope; -ENETDOWN if the device of @id is being removed; -ENODEV if no RDMA
 * device has @addr; -EADDRNOTAVAIL if no interface has it or no port is free;
 * -EADDRINUSE; -EACCES; -ENOMEM.
 */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return cma_bind(to_cma(id), addr, NULL);
}
EXPORT_SYMBOL(rdma_bind_addr);

/* Binds an id that has no address yet, for a peer at @dst. */
static int cma_bind_for_dst(struct cma_id *idp, struct sockaddr *src,
			    const struct sockaddr *dst)
{
	struct sockaddr_storage any = { .ss_family = dst->sa_family };
	const struct sockaddr_in6 *dst6 = (const void *)dst;
	const struct sockaddr_ib *dst_ib = (const void *)dst;

	if (src && src->sa_family)
		return cma_bind(idp, src, dst);

	if (cma_is_linklocal(dst)) {
		((struct sockaddr_in6 *)&any)->sin6_scope_id =
			dst6->sin6_scope_id;
	} else if (dst->sa_family == AF_IB) {
		((struct sockaddr_ib *)&any)->sib_pkey = dst_ib->sib_pkey;
		((struct sockaddr_ib *)&any)->sib_sid_mask =
			dst_ib->sib_sid_mask & cpu_to_be64(RDMA_IB_IP_PS_MASK);
		((struct sockaddr_ib *)&any)->sib_sid =
			dst_ib->sib_sid & cpu_to_be64(RDMA_IB_IP_PS_MASK);
	}
	return cma_bind(idp, (struct sockaddr *)&any, dst);
}

/* Runs in the resolver's work, or in rdma_resolve_addr() if nothing must be waited for. */
static void cma_addr_done(int status, struct sockaddr *src_addr,
			  struct rdma_dev_addr *addr, void *context)
{
	struct cma_id *idp = context;

	idp->addr_status = status;
	if (!status)
		cma_addr_key_init(&idp->resolved, src_addr);
	cma_id_post(idp, CMA_POST_ADDR);
}

static int cma_resolve_ib(struct cma_id *idp)
{
	struct sockaddr_ib *dst = (struct sockaddr_ib *)cma_dst(idp);
	int err;

	if (!idp->dev) {
		err = cma_bind_device_ib(idp);
		if (err)
			return err;
	}
	rdma_addr_set_dgid(&idp->id.route.addr.dev_addr,
			   (union ib_gid *)&dst->sib_addr);
	cma_addr_key_init(&idp->resolved, cma_src(idp));
	return 0;
}

/* An id without a device may use any interface, except for link-local peers. */
static void cma_resolve_scope(struct cma_id *idp)
{
	struct sockaddr_in6 *dst = (struct sockaddr_in6 *)cma_dst(idp);

	if (idp->dev)
		return;
	idp->id.route.addr.dev_addr.bound_dev_if =
		cma_is_linklocal(cma_dst(idp)) ? dst->sin6_scope_id : 0;
}

static int cma_resolve_ip(struct cma_id *idp, unsigned long timeout_ms)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	struct sockaddr_in6 src;
	int err;

	cma_resolve_scope(idp);
	err = ibcore_addr_resolve_now(cma_src(idp), cma_dst(idp), dev_addr, false,
				      (struct sockaddr *)&src);
	if (err == -ENODATA) {
		idp->addr_asked = true;
		return rdma_resolve_ip(cma_src(idp), cma_dst(idp), dev_addr, timeout_ms,
				       cma_addr_done, false, idp);
	}
	if (!err)
		cma_addr_done(0, (struct sockaddr *)&src, dev_addr, idp);
	return err;
}

/* Results that are available at once are delivered like those that arrive later. */
static int cma_resolve_start(struct cma_id *idp, unsigned long timeout_ms)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	int err;

	/*
	 * The callback of a resolution that just failed may still be running.  Two
	 * must not be in progress, as rdma_addr_cancel() finds only one.
	 */
	if (idp->addr_asked)
		rdma_addr_cancel(dev_addr);

	if (cma_is_this_host(cma_dst(idp)))
		err = cma_resolve_loopback(idp);
	else if (cma_family(idp) == AF_IB)
		err = cma_resolve_ib(idp);
	else
		return cma_resolve_ip(idp, timeout_ms);
	if (err)
		return err;
	idp->addr_status = 0;
	cma_id_post(idp, CMA_POST_ADDR);
	return 0;
}

/**
 * rdma_resolve_addr() - find out how to reach an address, and from which local address
 * @id: an id without a connection, bound or not
 * @src_addr: the address to bind @id to; NULL: the source address of the route to
 *	@dst_addr.  Ignored if @id is already bound.
 * @dst_addr: the peer's address and port; wildcard and loopback addresses mean this
 *	host, through any device with an active port
 * @timeout_ms: how long to wait for the neighbour's reply
 *
 * The outcome is RDMA_CM_EVENT_ADDR_RESOLVED, with @id bound to a device, or
 * RDMA_CM_EVENT_ADDR_ERROR, with the reason in its status, after which this may be
 * called again.
 *
 * Context: may sleep.  A callback of @id may call it.
 * Return: 0 if an event will follow.  On error none follows: -EAFNOSUPPORT; -EINVAL if
 * @id is in the wrong state or the families differ; -ENETDOWN if the device is being
 * removed; an error of rdma_bind_addr(); -EADDRINUSE if @id shares the port that it was
 * given with an id that connects to @dst_addr; -ENODEV or an error of the routing tables.
 */
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
		      const struct sockaddr *dst_addr, unsigned long timeout_ms)
{
	struct cma_id *idp = to_cma(id);
	bool bind = cma_state(idp) == RDMA_CM_IDLE;
	int err;

	if (!cma_addr_family_ok(dst_addr))
		return -EAFNOSUPPORT;
	if (bind) {
		err = cma_bind_for_dst(idp, src_addr, dst_addr);
		if (err)
			return err;
	}
	if (cma_family(idp) != dst_addr->sa_family)
		return -EINVAL;
	err = cma_id_step(idp, CMA_T_RESOLVE_ADDR);
	if (err)
		return err;

	memcpy(cma_dst(idp), dst_addr, rdma_addr_size(dst_addr));
	if (!bind)
		err = cma_port_set_dst(idp, dst_addr);
	if (!err)
		err = cma_resolve_start(idp, timeout_ms);
	if (err)
		cma_id_step(idp, CMA_T_ADDR_FAILED);
	return err;
}
EXPORT_SYMBOL(rdma_resolve_addr);

/* Replaces the wildcard by the resolved address; the port stays. */
static void cma_set_resolved(struct cma_id *idp)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)cma_src(idp);
	struct sockaddr_in *in = (struct sockaddr_in *)cma_src(idp);

	switch (cma_family(idp)) {
	case AF_INET:
		memcpy(&in->sin_addr, &idp->resolved.addr.raw[12], 4);
		break;
	case AF_INET6:
		memcpy(&in6->sin6_addr, &idp->resolved.addr, 16);
		if (!cma_is_linklocal(cma_src(idp)))
			break;
		in6->sin6_scope_id =
			idp->id.route.addr.dev_addr.bound_dev_if;
		idp->resolved.scope = in6->sin6_scope_id;
		break;
	}
}

static int cma_addr_bind_resolved(struct cma_id *idp)
{
	struct sockaddr_storage old = idp->id.route.addr.src_addr;
	int err;

	if (idp->resolved.family != cma_family(idp))
		return -EINVAL;
	cma_set_resolved(idp);
	if (!idp->dev) {
		err = cma_bind_device(idp);
		if (err) {
			idp->id.route.addr.src_addr = old;
			return err;
		}
	}
	cma_port_rebind(idp, &idp->resolved);
	return 0;
}

/* Reports the outcome of the resolution to the consumer; see event.c. */
int cma_addr_event(struct cma_id *idp)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_ADDR_RESOLVED,
		.status = idp->addr_status,
	};

	if (cma_state(idp) != RDMA_CM_ADDR_QUERY)
		return 0;
	if (!event.status)
		event.status = cma_addr_bind_resolved(idp);
	if (event.status)
		event.event = RDMA_CM_EVENT_ADDR_ERROR;
	if (cma_id_step(idp, event.status ? CMA_T_ADDR_FAILED : CMA_T_ADDR_DONE))
		return 0;
	return cma_id_deliver(idp, &event);
}
