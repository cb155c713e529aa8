/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_OBJECTS_H
#define IBEX_CORE_OBJECTS_H

/* What several suites of ib_core share: verbs objects, completions, networks. */
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

/* An RC QP on a CQ that ib_core polls. */
struct objects {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
};

/*
 * An adapter that has SRQs and regions for fast registration, for the tests of those,
 * even if the stock provider that it imitates has none.  NULL on failure.
 */
struct fake_hca *objects_hca(const struct fake_hca_params *params);
/* @sge: max_send_sge; @flags: enum ib_qp_create_flags. */
int objects_get(struct objects *o, struct fake_hca *hca, enum ib_poll_context poll,
		u32 rw_ctxs, u32 sge, u32 flags);
void objects_put(struct objects *o);
/* A QP that is connected to itself. */
int objects_to_rts(struct fake_hca *hca, struct ib_qp *qp);

/* References on a GID's entry, without those of the table and one of the suite. */
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
/* Each does what ip(8) would do, and returns 0 or the error of the kernel. */
int net_addr6(struct net_device *ndev, bool add, const struct in6_addr *addr, int len);
int net_route4(struct net_device *ndev, bool add, __be32 dst, int len, __be32 gateway);
int net_route6(struct net_device *ndev, bool add, const struct in6_addr *dst, int len,
	       const struct in6_addr *gateway);
/*
 * A link of kind "vlan" on @lower with ID @arg, or of kind "bond" with mode
 * @arg.  It is up, and the caller holds a reference.
 */
struct net_device *net_link(const char *kind, const char *name,
			    struct net_device *lower, int arg);
int net_bond_active(struct net_device *bond, struct net_device *slave);
int net_rename(struct net_device *ndev, const char *name);
void net_unlink(struct net_device *ndev);
int net_up(struct net_device *ndev, bool up);
int net_arp(struct net_device *ndev, bool on);
/* Sets the link address of the neighbour @ip (IPv4 mapped or IPv6) on @ndev to @ha. */
int net_neighbour(struct net_device *ndev, const struct in6_addr *ip, const u8 *ha);
struct in6_addr net_v4(u32 addr);	/* @addr in host order; returns it IPv4 mapped */
struct in6_addr net_v6(u32 last);	/* fd77::last */
struct in6_addr net_link_local(struct net_device *ndev);	/* made from the MAC */

/* A RoCE adapter on a net_device with ARP that has 10.N.0.1/24 and fd77::N:1/112. */
struct roce {
	struct net_device *ndev;
	struct fake_hca *hca;
	u32 net;
};

int roce_get(struct roce *r, u32 net);
/* Allocates an adapter on @ndev and calls @prepare for it; does not register it. */
struct fake_hca *roce_alloc(struct net_device *ndev,
			    void (*prepare)(struct fake_hca *hca));
/* Like roce_get(), but calls @prepare for the adapter before it is registered. */
int roce_get_as(struct roce *r, u32 net, void (*prepare)(struct fake_hca *hca));
void roce_put(struct roce *r);
struct in6_addr roce_v4(const struct roce *r, u32 host);
struct in6_addr roce_v6(const struct roce *r, u32 host);
/* Waits for the RoCE v2 GID of @ip and returns a reference to it, or NULL. */
const struct ib_gid_attr *roce_gid(const struct roce *r, const struct in6_addr *ip);
/* @tail: the last two bytes of the MAC. */
int roce_set_mac(struct net_device *ndev, u16 tail);
bool roce_has_gid(struct fake_hca *hca, const struct in6_addr *ip,
		  enum ib_gid_type type);
/* roce_has(): both RoCE versions have a GID of @ip; roce_lacks(): neither has. */
bool roce_has(const struct roce *r, const struct in6_addr *ip);
bool roce_lacks(const struct roce *r, const struct in6_addr *ip);
/* Removes @ip (IPv4 mapped) from the net_device, or adds it. */
int roce_drop(const struct roce *r, const struct in6_addr *ip);
int roce_take(const struct roce *r, const struct in6_addr *ip);

#endif
