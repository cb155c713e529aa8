/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IB_CM_H
#define IBEX_IB_CM_H

/* What ib_cm offers the RDMA CM beyond <rdma/ib_cm.h>. */
#include <rdma/ib_cm.h>
#include <ibex/qp_watch.h>

/* @proof: what shows, without its RTU, that the active side has the REP. */
int ib_cm_establish(struct ib_cm_id *cm_id, enum ibcore_qp_proof proof);
/* Whether a request comes from this host, by an id that @match says yes to. */
bool ib_cm_sent_here(struct ib_cm_id *cm_id,
		     bool (*match)(const struct ib_cm_id *sender,
				   const void *arg),
		     const void *arg);

#endif
