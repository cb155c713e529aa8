// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink: which QPs belong to an SRQ or a counter.
 *
 * A QP refers to the object it belongs to, but that object has no list of its
 * QPs.  A dump of thousands of SRQs must not walk thousands of QPs for each
 * SRQ, so it walks all QPs once, at its start, and sorts them by the object
 * they belong to.
 */
#include <linux/mm.h>
#include <linux/sort.h>
#include <net/netlink.h>
#include <ibex/compat/updates.h>

#include "device/device.h"
#include "netlink/nldev.h"

struct ibcore_nldev_qps {
	size_t n, room;
	u64 pairs[];	/* owner in the upper half, QPN in the lower */
};

static int pair_cmp(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Returns false if there is no room for all QPs. */
static bool qps_fill(struct ibcore_nldev_qps *qps, struct ib_device *dev,
		     const struct ibcore_nldev_res_kind *kind)
{
	struct rdma_restrack_entry *res;
	unsigned long id;
	bool mine, full = false;
	u32 owner, qp_num;

	for (id = 0; !full; id++) {
		res = ibcore_restrack_next(dev, RDMA_RESTRACK_QP, &id, true);
		if (!res)
			return true;
		mine = kind->of_qp(container_of(res, struct ib_qp, res), &owner);
		qp_num = container_of(res, struct ib_qp, res)->qp_num;
		rdma_restrack_put(res);
		full = mine && qps->n == qps->room;
		if (mine && !full)
			qps->pairs[qps->n++] = (u64)owner << 32 | qp_num;
	}
	return false;
}

/*
 * Returns the current QPs of all objects of @kind, which must have of_qp().
 * The result must be freed with kvfree(); it is ERR_PTR(-ENOMEM) on failure.
 */
struct ibcore_nldev_qps *
ibcore_nldev_qps_collect(struct ib_device *dev,
			 const struct ibcore_nldev_res_kind *kind)
{
	size_t room = rdma_restrack_count(dev, RDMA_RESTRACK_QP, true);
	struct ibcore_nldev_qps *qps;

	/* More QPs may be created meanwhile. */
	for (;; room = room * 2 + 1) {
		qps = kvzalloc(struct_size(qps, pairs, room), GFP_KERNEL);
		if (!qps)
			return ERR_PTR(-ENOMEM);
		qps->room = room;
		if (qps_fill(qps, dev, kind))
			break;
		kvfree(qps);
	}
	sort(qps->pairs, qps->n, sizeof(*qps->pairs), pair_cmp, NULL);
	return qps;
}

/* Returns the index of the first pair of @owner. */
static size_t qps_begin(const struct ibcore_nldev_qps *qps, u32 owner)
{
	u64 least = (u64)owner << 32;
	size_t low = 0, high = qps->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (qps->pairs[mid] < least)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int put_range(struct sk_buff *msg, u32 first, u32 last)
{
	struct nlattr *nest;
	int ret;

	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
	if (!nest)
		return -EMSGSIZE;
	if (first == last)
		ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, first);
	else
		ret = nla_put_u32(msg, RDMA_NLDEV_ATTR_MIN_RANGE, first) ?:
		      nla_put_u32(msg, RDMA_NLDEV_ATTR_MAX_RANGE, last);
	if (!ret)
		nla_nest_end(msg, nest);
	return ret;
}

/* Adds the QPs of @owner to @msg; returns -EMSGSIZE if it is full. */
int ibcore_nldev_qps_put(struct sk_buff *msg, const struct ibcore_nldev_qps *qps,
			 const struct ibcore_nldev_res_kind *kind, u32 owner)
{
	size_t i = qps_begin(qps, owner), n;
	struct nlattr *table;
	u32 first;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP);
	if (!table)
		return -EMSGSIZE;
	for (; i < qps->n && upper_32_bits(qps->pairs[i]) == owner; i += n) {
		first = lower_32_bits(qps->pairs[i]);
		n = 1;
		while (kind->qp_ranges && i + n < qps->n &&
		       qps->pairs[i + n] == qps->pairs[i] + n)
			n++;
		if (put_range(msg, first, first + n - 1))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}
