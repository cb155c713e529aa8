/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CMA_MULTICAST_H
#define CMA_MULTICAST_H

/* Multicast groups. */
#include "id/id.h"

/* ---- multicast.c, multicast/roce.c ---- */
struct cma_mcast {
	struct list_head node;		/* in idp->mcasts; protected by idp->lock */
	struct cma_id *idp;
	void *context;			/* the consumer's */
	struct sockaddr_storage addr;
	u8 join_state;
	bool started;			/* the join call has succeeded; by idp->lock */
	bool changed;			/* an event is due; by idp->lock */
	int status;			/* of that event; by idp->lock */
	struct ib_sa_mcmember_rec rec;	/* by idp->lock from the join call on */
	struct ib_sa_multicast *sa;	/* IB only */
	int igmp_ifindex;		/* netdev where the host is a member; 0: none */
};

int cma_mcast_event(struct cma_id *idp);
void cma_mcast_leave_all(struct cma_id *idp);
bool cma_mcast_send_only(const struct cma_mcast *mc);
int cma_mcast_roce_join(struct cma_id *idp, struct cma_mcast *mc);
void cma_mcast_roce_leave(struct cma_mcast *mc);

#endif
