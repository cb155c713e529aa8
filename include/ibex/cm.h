/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IB_CM_H
#define IBEX_IB_CM_H

/* What ib_cm offers the RDMA CM beyond <rdma/ib_cm.h>. */
#include <rdma/ib_cm.h>

/* What proves, without its RTU, that the active side has the REP. */
enum ib_cm_proof {
	IB_CM_PROOF_COMM_EST,	/* IB_EVENT_COMM_EST of the QP */
	IB_CM_PROOF_RECEIVED,	/* a receive that completed well */
};

int ib_cm_establish(struct ib_cm_id *cm_id, enum ib_cm_proof proof);

#endif
