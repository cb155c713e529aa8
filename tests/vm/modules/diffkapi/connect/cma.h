/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_KAPI_CMA_H
#define IBEX_TESTS_KAPI_CMA_H

#include <rdma/rdma_cm.h>
#include "kapi.h"

enum { CLIENT, SERVER, LISTENER, IDS };

/* An id of the RDMA CM; its handler leaves events. */
struct cm_end {
	struct source events;
	struct rdma_cm_id *id;
	unsigned int n;
	struct ib_pd *pd;
	struct ib_cq *cq;
	bool connects;			/* in the handler, when the route is resolved */
};

/* What a sequence is about. */
struct cm_case {
	struct kdev *dev, *peer;
	enum rdma_ucm_port_space ps;
	enum ib_qp_type type;
	int family;
	u16 port;
	bool with_qp;
};

extern struct cm_end *cm_ends[IDS];
extern const char * const cm_names[IDS];
extern u8 cm_data[256];

/* cma_event.c */
int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev);

/* cma_id.c */
void cm_address(struct sockaddr_storage *ss, const struct cm_case *c, const struct kdev *of,
		u16 port);
void say_cm_address(const struct sockaddr_storage *ss);
bool cm_create(unsigned int n, const struct cm_case *c);
void cm_destroy(unsigned int n);
void cm_settings(unsigned int n);
void cm_look(unsigned int n, const struct cm_case *c);
int cm_create_qp(unsigned int n, const struct cm_case *c);
void cm_groups(const struct cm_case *c);

/* cma.c */
int cm_connect_now(struct cm_end *e, bool locked);

#endif /* IBEX_TESTS_KAPI_CMA_H */
