/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_ADDR_H
#define IBCORE_ADDR_H

/* Resolution of IP addresses to link addresses. */
#include <linux/netdevice.h>
#include <ibex/addr.h>
#include <ibex/ls.h>

#include "core.h"

union addr_ip {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* ---- addr.c: IP address to link address ---- */
int ibcore_addr_init(void);
void ibcore_addr_exit(void);

/* ---- l2.c: link addresses for the address handles of RoCE ---- */
/* Resolves the DMAC and hop limit of the path from @sgid to @dgid (RoCE v1, v2). */
int ibcore_addr_l2_by_grh(const union ib_gid *sgid, const union ib_gid *dgid,
			  u8 *dmac, const struct ib_gid_attr *sgid_attr,
			  int *hoplimit);

/* ---- addr_local.c: this host's own addresses ---- */
/* Copies a link address to @to; fills the rest of MAX_ADDR_LEN bytes with zeroes. */
void ibcore_addr_copy_l2(unsigned char *to, const void *from,
			 const struct net_device *dev);
/* The net_device that has the address @sa, or NULL.  Under rcu_read_lock. */
struct net_device *ibcore_addr_owner(struct net *net, const struct sockaddr *sa);

/* ---- ls.c: queries to the local service ---- */
int ibcore_ls_init(void);
void ibcore_ls_exit(void);

/* ---- addr_ls.c: GIDs behind an IB router ---- */
enum ibcore_addr_ls_state {
	IBCORE_ADDR_LS_UNASKED,
	IBCORE_ADDR_LS_ASKED,
	IBCORE_ADDR_LS_ANSWERED,
	IBCORE_ADDR_LS_FAILED,
};

struct ibcore_addr_ls {
	struct ibcore_ls_question question;
	struct delayed_work *work;	/* the request's */
	spinlock_t lock;
	enum ibcore_addr_ls_state state; /* under lock, once asked */
	bool closed;			/* under lock */
	int ifindex;			/* in the question; only used by the work */
	union ib_gid dgid;		/* valid in state ANSWERED */
};

void ibcore_addr_ls_init(struct ibcore_addr_ls *ls, struct workqueue_struct *wq,
			 struct delayed_work *work);
int ibcore_addr_ls_resolve(struct ibcore_addr_ls *ls, const struct sockaddr *dst,
			   int ifindex, u8 *ha);
void ibcore_addr_ls_close(struct ibcore_addr_ls *ls);
/* In addr.c: take and put a reference on the request that @ls is part of. */
void ibcore_addr_ls_get(struct ibcore_addr_ls *ls);
void ibcore_addr_ls_put(struct ibcore_addr_ls *ls);

#endif
