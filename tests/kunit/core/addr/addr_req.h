/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_ADDR_REQ_H
#define IBEX_CORE_ADDR_REQ_H

/* A request to resolve an address, and what its callback was called with. */
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include "core/objects.h"

struct addr_wait {
	struct rdma_dev_addr addr;
	atomic_t calls;
	int status;
	struct in6_addr src;		/* IPv4 mapped */
	unsigned long start, when;	/* jiffies */
	void (*then)(struct addr_wait *w);	/* called in the callback; or NULL */
	bool returned;			/* the callback, after then() */
	void *arg;
};

static inline struct sockaddr_storage addr_sa(const struct in6_addr *ip)
{
	struct sockaddr_storage ss = {};

	rdma_gid2ip((struct sockaddr *)&ss, (const union ib_gid *)ip);
	return ss;
}

static inline void addr_prepare(struct addr_wait *w)
{
	memset(w, 0, sizeof(*w));
	w->addr.net = &init_net;
	w->start = jiffies;
}

static inline void addr_called(int status, struct sockaddr *src,
			       struct rdma_dev_addr *addr, void *context)
{
	struct addr_wait *w = context;

	WARN_ON(addr != &w->addr);
	w->status = status;
	w->when = jiffies;
	rdma_ip2gid(src, (union ib_gid *)&w->src);
	atomic_inc(&w->calls);
	if (w->then)
		w->then(w);
	WRITE_ONCE(w->returned, true);
}

/* The caller has prepared @w. */
static inline int addr_start_by(struct addr_wait *w, const struct in6_addr *src,
				const struct in6_addr *dst, u32 timeout, bool by_gid)
{
	struct sockaddr_storage from, to = addr_sa(dst);

	if (src)
		from = addr_sa(src);
	return rdma_resolve_ip(src ? (struct sockaddr *)&from : NULL,
			       (struct sockaddr *)&to, &w->addr, timeout, addr_called,
			       by_gid, w);
}

static inline int addr_start(struct addr_wait *w, const struct in6_addr *src,
			     const struct in6_addr *dst, u32 timeout)
{
	addr_prepare(w);
	return addr_start_by(w, src, dst, timeout, false);
}

/* Waits up to 5 s for the callback. */
static inline bool addr_wait(struct addr_wait *w)
{
	return wait_until(READ_ONCE(w->returned)) && wait_count(&w->calls, 1);
}

#endif
