/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IB_CM_H
#define IBEX_IB_CM_H

/* What ib_cm offers the RDMA CM beyond <rdma/ib_cm.h>. */
#include <rdma/ib_cm.h>

/* For an id that is about to accept: data received on its QP count as the RTU. */
int ib_cm_watch_qp(struct ib_cm_id *cm_id, struct ib_qp *qp);
int ib_cm_watch_qp_num(struct ib_cm_id *cm_id, u32 qp_num, bool user);
void ib_cm_unwatch_qp(struct ib_cm_id *cm_id);

/* Whether a request was sent by this host, by an id for which @match returns true. */
bool ib_cm_sent_here(struct ib_cm_id *cm_id,
		     bool (*match)(const struct ib_cm_id *sender,
				   const void *arg),
		     const void *arg);

#endif
