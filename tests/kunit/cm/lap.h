/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CM_LAP_H
#define IBEX_CM_LAP_H

/* LAPs of a connection between adapters with two ports. */
#include <ibex/cm.h>
#include "cm/cm_test.h"

/* Fills in @path, from port 2 of the client to port 2 of the server. */
void lap_path(struct cm_pair *pair, struct sa_path_rec *path);
/* The client asks for that path, or for @path. */
int lap_send(struct cm_pair *pair);
int lap_send_path(struct cm_pair *pair, struct sa_path_rec *path);
/* Adds the path from port 2 to port 2 to a REQ. */
void lap_alternate(struct cm_pair *pair, struct ib_cm_req_param *req);

/* For cm_side.answer_lap */
int lap_accept(struct cm_side *side);
int lap_refuse(struct cm_side *side);
int lap_later(struct cm_side *side);		/* an MRA, if the peer asks again */
int lap_mra(struct cm_side *side);		/* an MRA at once */

/* The attributes of IB_QPS_RTS; 0 or an error. */
int lap_rts(struct cm_side *side, struct ib_qp_attr *attr, int *mask);
/* Whether these attributes load the path from port 2 to @peer's port 2. */
bool lap_loads(struct cm_side *side, struct cm_side *peer);

#endif
