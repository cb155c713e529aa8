/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_KAPI_QP_H
#define IBEX_TESTS_KAPI_QP_H

#include "kapi.h"

struct object *make_rw_qp(struct object *pd, u32 ctxs);
void say_ah_attr(const struct rdma_ah_attr *a);
/* An address of @to, for the sender @from. */
void right_ah_attr(struct rdma_ah_attr *a, const struct kdev *from, const struct kdev *to);

/* qp_modify.c */
void query_qp_of(struct object *o, int mask);
void modify_some(void);
/* Both are RC and new: they can exchange messages afterwards. */
void connect_pair(struct object *a, struct object *b);

#endif /* IBEX_TESTS_KAPI_QP_H */
