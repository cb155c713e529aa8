// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Link addresses for the address handles of RoCE. */
#include <rdma/ib_addr.h>
#include "addr/addr.h"

#define L2_TIMEOUT	1000	/* ms */

struct l2_outcome {
	struct completion done;
	int status;
};

static void l2_done(int status, struct sockaddr *src_addr,
		    struct rdma_dev_addr *addr, void *context)
{
	struct l2_outcome *outcome = context;

	outcome->status = status;
	complete(&outcome->done);
}

static int l2_wait(struct sockaddr *src, const struct sockaddr *dst,
		   struct rdma_dev_addr *addr)
{
	struct l2_outcome outcome;
	int ret;

	init_completion(&outcome.done);
	ret = rdma_resolve_ip(src, dst, addr, L2_TIMEOUT, l2_done, true, &outcome);
	if (ret)
		return ret;
	wait_for_completion(&outcome.done);
	return outcome.status;
}

/**
 * ibcore_addr_l2_by_grh - resolve the DMAC and hop limit between two RoCE GIDs
 * @sgid: the source
 * @dgid: the destination
 * @dmac: receives the six bytes of the DMAC
 * @sgid_attr: the entry of @sgid; the caller holds a reference
 * @hoplimit: receives the route's hop limit; may be NULL
 *
 * Waits for the neighbour for up to a second.
 *
 * Context: may sleep.
 * Return: 0, -ENODEV if the entry was removed from the table, -ETIMEDOUT, or another
 * error of rdma_resolve_ip().
 */
int ibcore_addr_l2_by_grh(const union ib_gid *sgid, const union ib_gid *dgid,
			  u8 *dmac, const struct ib_gid_attr *sgid_attr,
			  int *hoplimit)
{
	struct rdma_dev_addr addr = {
		.net = &init_net,
		.sgid_attr = sgid_attr,
	};
	union addr_ip src, dst;
	int ret;

	rdma_gid2ip(&src.sa, sgid);
	rdma_gid2ip(&dst.sa, dgid);
	ret = ibcore_addr_resolve_now(&src.sa, &dst.sa, &addr, true, NULL);
	if (ret == -ENODATA)
		ret = l2_wait(&src.sa, &dst.sa, &addr);
	if (ret)
		return ret;
	memcpy(dmac, addr.dst_dev_addr, ETH_ALEN);
	if (hoplimit)
		*hoplimit = addr.hoplimit;
	return 0;
}
