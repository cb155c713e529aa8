/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_KAPI_IBCM_H
#define IBEX_TESTS_KAPI_IBCM_H

#include <rdma/ib_cm.h>
#include "kapi.h"

enum { ACTIVE, PASSIVE, SIDES };

/* An id of the IB CM; its handler leaves events. */
struct end_id {
	struct source events;
	struct ib_cm_id *id;
	unsigned int side;
};

extern struct end_id *ibcm_ends[SIDES];

int ibcm_handler(struct ib_cm_id *id, const struct ib_cm_event *ev);

#endif /* IBEX_TESTS_KAPI_IBCM_H */
