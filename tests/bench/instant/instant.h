/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_BENCH_INSTANT_H
#define IBEX_BENCH_INSTANT_H

/*
 * An adapter that costs next to nothing, so that a measurement over it is one of the
 * layers above.  It has one port with an InfiniBand link and no SMI, and a QP1 on that
 * port.  A send completes within ib_post_send(): its completion is put on the CQ, and
 * the CQ's handler, if armed, is called from there.  The MAD that was sent is dropped
 * or, after instant_loop(true), received on the same QP1.
 */
#include <rdma/ib_verbs.h>

#define INSTANT_NAME	"instant0"
#define INSTANT_LID	5

/* Sets whether each MAD that is sent is received again on the same QP1. */
void instant_loop(bool on);
/*
 * Receives the MAD of IB_MGMT_MAD_SIZE bytes at @mad, as if from INSTANT_LID. Returns
 * -ENODEV without a QP1, -ENOBUFS if QP1 has no receive posted.
 */
int instant_inject(const void *mad);
/*
 * Waits until every completion has been polled and the CQs are armed again, that is,
 * until the completions' handlers have returned.
 */
int instant_quiesce(void);

extern const struct ib_device_ops instant_queue_ops;

#endif
