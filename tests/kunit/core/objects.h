/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_OBJECTS_H
#define IBEX_CORE_OBJECTS_H

/* What several suites of ib_core need: verbs objects, completions, networks. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/in6.h>
#include <rdma/ib_verbs.h>
#include "fake_hca.h"
#include "wait.h"

#define RC_INIT (IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS)
#define RC_RTR (IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | \
		IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER)
#define RC_RTS (IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
		IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC)

/* An RC QP on a CQ that core polls. */
struct objects {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
};

/*
 * An adapter with regions for fast registration and SRQs, for tests of those, whatever
 * a provider without them is like otherwise.  NULL on failure.
 */
struct fake_hca *objects_hca(const struct fake_hca_params *params);
/* @sge: max_send_sge; @flags: enum ib_qp_create_flags. */
int objects_get(struct objects *o, struct fake_hca *hca, enum ib_poll_context poll,
		u32 rw_ctxs, u32 sge, u32 flags);
void objects_put(struct objects *o);
/* A QP that is connected to itself. */
int objects_to_rts(struct fake_hca *hca, struct ib_qp *qp);

/* References on a GID's entry beside the table's and one of the suite's. */
int gid_refs(const struct ib_gid_attr *attr);

struct counted {
	struct ib_cqe cqe;
	atomic_t done, flushed;
};

void counted_init(struct counted *c);
/* Waits up to 5 s of virtual time. */
bool wait_count(atomic_t *v, int n);
#define wait_until(cond) wait_within(cond, 5000)

/* ---- net.c ---- */
/* Each as ip(8) would do it; 0 or what the kernel answers. */
int net_addr6(struct net_device *ndev, bool add, const struct in6_addr *addr, int len);
int net_route4(struct net_device *ndev, bool add, __be32 dst, int len, __be32 gateway);
int net_route6(struct net_device *ndev, bool add, const struct in6_addr *dst, int len,
	       const struct in6_addr *gateway);
/* "vlan" with @lower and id @arg, or "bond" with mode @arg; up; held by the caller. */
struct net_device *net_link(const char *kind, const char *name,
			    struct net_device *lower, int arg);
int net_bond_active(struct net_device *bond, struct net_device *slave);
int net_rename(struct net_device *ndev, const char *name);
void net_unlink(struct net_device *ndev);
int net_up(struct net_device *ndev, bool up);
int net_arp(struct net_device *ndev, bool on);
/* The neighbour @ip (IPv4 mapped or IPv6) on @ndev answers with @ha. */
int net_neighbour(struct net_device *ndev, const struct in6_addr *ip, const u8 *ha);
struct in6_addr net_v4(u32 addr);	/* host order; IPv4 mapped */
struct in6_addr net_v6(u32 last);	/* fd77::last */
struct in6_addr net_link_local(struct net_device *ndev);	/* from its MAC */

/* A RoCE adapter on a net_device with ARP that has 10.N.0.1/24 and fd77::N:1/112. */
struct roce {
	struct net_device *ndev;
	struct fake_hca *hca;
	u32 net;
};

int roce_get(struct roce *r, u32 net);
/* An adapter on @ndev that was shown to @prepare; not registered. */
struct fake_hca *roce_alloc(struct net_device *ndev,
			    void (*prepare)(struct fake_hca *hca));
/* roce_get() of such a one. */
int roce_get_as(struct roce *r, u32 net, void (*prepare)(struct fake_hca *hca));
void roce_put(struct roce *r);
struct in6_addr roce_v4(const struct roce *r, u32 host);
struct in6_addr roce_v6(const struct roce *r, u32 host);
/* The GID of @ip of RoCE v2, referred to; waits for it.  Or NULL. */
const struct ib_gid_attr *roce_gid(const struct roce *r, const struct in6_addr *ip);
/* @tail: the last two bytes. */
int roce_set_mac(struct net_device *ndev, u16 tail);
bool roce_has_gid(struct fake_hca *hca, const struct in6_addr *ip,
		  enum ib_gid_type type);
/* Whether there are GIDs of @ip of both versions, or of neither. */
bool roce_has(const struct roce *r, const struct in6_addr *ip);
bool roce_lacks(const struct roce *r, const struct in6_addr *ip);
/* The net_device loses, or gets, @ip, which is IPv4 mapped. */
int roce_drop(const struct roce *r, const struct in6_addr *ip);
int roce_take(const struct roce *r, const struct in6_addr *ip);

#endif
