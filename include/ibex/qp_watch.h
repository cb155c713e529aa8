/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_QP_WATCH_H
#define IBEX_QP_WATCH_H

/*
 * How the CMA hears that the peer has sent something on a QP, whoever made the
 * QP: core's handler of QP events comes before the consumer's, and core polls
 * the CQs of the kernel's QPs.
 */
#include <rdma/ib_verbs.h>

enum ibcore_qp_proof {
	IBCORE_QP_COMM_EST,	/* the provider said so: IB_EVENT_COMM_EST */
	IBCORE_QP_RECEIVED,	/* a receive completed well */
};

/*
 * Called in any context, hard interrupt included, with a lock held that
 * ibcore_qp_unwatch() takes.  True: it has heard enough.
 */
typedef bool (*ibcore_qp_arrival)(void *context, enum ibcore_qp_proof proof);

struct ibcore_qp_watch;

struct ibcore_qp_watch *ibcore_qp_watch(struct ib_qp *qp,
					ibcore_qp_arrival arrival,
					void *context);
struct ibcore_qp_watch *
ibcore_qp_watch_num(struct ib_device *dev, u32 qp_num, bool user,
		    ibcore_qp_arrival arrival, void *context);
void ibcore_qp_unwatch(struct ibcore_qp_watch *watch);

#endif
