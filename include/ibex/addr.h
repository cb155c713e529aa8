/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_ADDR_H
#define IBEX_ADDR_H

#include <rdma/ib_addr.h>

/*
 * In addition to what <rdma/ib_addr.h> says:
 *
 * rdma_resolve_ip	An error that is known at once (no route, for example) is
 *			returned, and then the callback is never called.  Otherwise
 *			it is called once, never from within the call, in process
 *			context, where it may sleep and free @addr.  Nothing in
 *			@addr is written before an attempt succeeds.
 * rdma_addr_cancel	When it returns, the callback has returned or will never
 *			be called; it is not called with -ECANCELED.  The caller
 *			must not hold a lock that the callback takes, but the
 *			callback itself may call this.
 * dev_addr.network	IPV4 or IPV6 if the route has a gateway, so that only
 *			RoCE v2 reaches the destination; otherwise IB, which
 *			excludes nothing.  On IPoIB always IB.
 */

int ibcore_addr_resolve_now(const struct sockaddr *src_addr,
			    const struct sockaddr *dst_addr,
			    struct rdma_dev_addr *addr, bool by_gid,
			    struct sockaddr *chosen);
void rdma_copy_src_l2_addr(struct rdma_dev_addr *dev_addr,
			   const struct net_device *dev);

#endif
