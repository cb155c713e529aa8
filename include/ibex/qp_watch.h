/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_QP_WATCH_H
#define IBEX_QP_WATCH_H

/*
 * How the IB CM is notified that the peer has sent something on a QP of any
 * consumer: core's handler of QP events is called before the consumer's, core
 * polls the CQs of the kernel's QPs, and where neither shows it, the QP's
 * expected PSN does.  And that a QP has migrated to its alternate path.
 */
#include <rdma/ib_verbs.h>

enum ibcore_qp_proof {
	IBCORE_QP_COMM_EST,	/* the provider raised IB_EVENT_COMM_EST */
	IBCORE_QP_RECEIVED,	/* a receive completed successfully */
	IBCORE_QP_PSN,		/* the expected PSN is past the initial one */
	IBCORE_QP_MIGRATED,	/* nothing arrived: the provider raised IB_EVENT_PATH_MIG */
};

/*
 * Called in any context, hard interrupt included, with a lock held that
 * ibcore_qp_unwatch() takes.  Returns true if it needs no more notifications.
 */
typedef bool (*ibcore_qp_arrival)(void *context, enum ibcore_qp_proof proof);

struct ibcore_qp_watch;

struct ibcore_qp_watch *ibcore_qp_watch(struct ib_qp *qp,
					ibcore_qp_arrival arrival,
					void *context);
struct ibcore_qp_watch *
ibcore_qp_watch_migration(struct ib_qp *qp, ibcore_qp_arrival arrival,
			  void *context);
struct ibcore_qp_watch *
ibcore_qp_watch_num(struct ib_device *dev, u32 qp_num, bool user,
		    ibcore_qp_arrival arrival, void *context);
void ibcore_qp_unwatch(struct ibcore_qp_watch *watch);

/*
 * References on the watch's memory, for ibcore_qp_probe() concurrent to
 * ibcore_qp_unwatch().
 */
void ibcore_qp_watch_hold(struct ibcore_qp_watch *watch);
void ibcore_qp_watch_put(struct ibcore_qp_watch *watch);
bool ibcore_qp_probe(struct ibcore_qp_watch *watch, bool again);
/* Whether ibcore_qp_probe() can ever find something. */
bool ibcore_qp_can_probe(const struct ibcore_qp_watch *watch);

#endif
