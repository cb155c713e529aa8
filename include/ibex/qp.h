/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_QP_H
#define IBEX_QP_H

#include <rdma/ib_verbs.h>

struct ib_qp *ib_create_qp_user(struct ib_device *dev, struct ib_pd *pd,
				struct ib_qp_init_attr *init_attr,
				struct ib_udata *udata,
				struct ib_uqp_object *uobject,
				const char *caller);

/* Count a QP as a use of the objects it was created from, or stop counting it. */
void ib_qp_usecnt_inc(struct ib_qp *qp);
void ib_qp_usecnt_dec(struct ib_qp *qp);

bool ibcore_mcast_needs_mlid(const struct ib_qp *qp);

#endif
