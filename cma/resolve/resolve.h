/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CMA_RESOLVE_H
#define CMA_RESOLVE_H

/* Addresses and routes of peers. */
#include "id/id.h"

/* ---- addr.c ---- */
int cma_addr_event(struct cma_id *idp);

/* ---- route.c, route_roce.c, route_ib.c ---- */
int cma_route_event(struct cma_id *idp);
int cma_route_alloc(struct cma_id *idp, int nr_paths);
int cma_route_roce(struct cma_id *idp);
int cma_roce_error(struct cma_id *idp, int err);
int cma_route_roce_set_path(struct cma_id *idp);
int cma_route_ib(struct cma_id *idp, unsigned long timeout_ms);
void cma_route_ib_cancel(struct cma_id *idp);
extern struct ib_sa_client cma_sa_client;
int cma_sa_init(void);
void cma_sa_exit(void);
struct net_device *cma_roce_netdev(struct cma_id *idp);
u8 cma_roce_sl(struct net_device *ndev, u8 tos);
u8 cma_id_tos(struct cma_id *idp);

#endif
