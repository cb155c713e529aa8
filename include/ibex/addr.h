/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_ADDR_H
#define IBEX_ADDR_H

#include <rdma/ib_addr.h>

/*
 * Beyond what <rdma/ib_addr.h> says:
 *
 * rdma_resolve_ip	An error that is there at once (no route, say) is
 *			returned, and the callback then never called.  Otherwise
 *			it is called once, never from within the call, in process
 *			context, where it may sleep and free @addr.  Nothing in
 *			@addr is written before an attempt succeeds.
 * rdma_addr_cancel	When it returns, the callback has returned or will never
 *			be called; it is not called with -ECANCELED.  It may not
 *			be called with a lock that the callback takes, but may be
 *			called by the callback itself.
 * dev_addr.network	IPV4 or IPV6 if the route has a gateway (so only RoCE v2
 *			gets there), otherwise IB, which excludes nothing.  On
 *			IPoIB always IB.
 */

void rdma_copy_src_l2_addr(struct rdma_dev_addr *dev_addr,
			   const struct net_device *dev);

#endif
