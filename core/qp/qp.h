/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_QP_H
#define IBCORE_QP_H

/* QPs and CQs. */
#include <ibex/qp.h>
#include <ibex/qp_watch.h>

#include "core.h"

/* ---- cq_pool.c ---- */
void ibcore_cq_pool_init(struct ib_device *dev);
void ibcore_cq_pool_cleanup(struct ib_device *dev);

/* ---- cq.c ---- */
/*
 * Waits until core has polled what is in @cq now; does nothing if core does not
 * poll @cq.  May sleep.
 */
void ibcore_cq_flush(struct ib_cq *cq);
/*
 * The number of watches that wait for a receive on the CQ; NULL if core does
 * not poll it.
 */
atomic_t *ibcore_cq_awaited(struct ib_cq *cq);

/* ---- qp.c ---- */
struct ib_qp *ibcore_create_qp(struct ib_device *dev, struct ib_pd *pd,
			       struct ib_qp_init_attr *attr,
			       struct ib_udata *udata,
			       struct ib_uqp_object *uobj, const char *caller);
/*
 * Destruction in two steps.  The first calls the provider and may fail, in
 * which case the QP still exists; the second frees the QP and cannot fail.
 */
int ibcore_qp_teardown(struct ib_qp *qp, struct ib_udata *udata);
void ibcore_qp_free(struct ib_qp *qp);

/* ---- qp_watch.c: notification that the peer has sent something ---- */
int ibcore_qp_watch_init(void);
void ibcore_qp_watch_exit(void);
void ibcore_qp_arrived(struct ib_qp *qp, enum ibcore_qp_proof proof);
void ibcore_qp_received(const struct ib_wc *wc, int n);
void ibcore_qp_last_probe(struct ib_qp *qp);
void ibcore_qp_watch_gone(struct ib_qp *qp);

/* ---- qp_probe.c: a QP's expected PSN, and its initial one ---- */
struct ib_qp *ibcore_qp_zalloc(struct ib_device *dev);
void ibcore_qp_psn_note(struct ib_qp *qp, const struct ib_qp_attr *attr, int mask);
u32 ibcore_qp_psn_forget(struct ib_qp *qp);
void ibcore_qp_psn_restore(struct ib_qp *qp, u32 note);

#endif
