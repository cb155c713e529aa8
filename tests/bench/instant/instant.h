/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_BENCH_INSTANT_H
#define IBEX_BENCH_INSTANT_H

/*
 * An adapter that costs next to nothing, so that what is measured over it is the
 * layers above: one port with an InfiniBand link and no SMI, and a QP1 on it.
 * A send completes within ib_post_send(): its completion is put on the CQ, and the
 * CQ's handler, if armed, is called from there.  What was sent goes nowhere, or
 * (instant_loop()) comes back as a receive on the same QP1.
 */
#include <rdma/ib_verbs.h>

#define INSTANT_NAME	"instant0"
#define INSTANT_LID	5

/* Whether what is sent is received again. */
void instant_loop(bool on);
/*
 * Receives the MAD of IB_MGMT_MAD_SIZE bytes at @mad, as if from INSTANT_LID.
 * -ENODEV without a QP1, -ENOBUFS when it has no receive posted.
 */
int instant_inject(const void *mad);
/*
 * Waits until every completion has been polled and the CQs are armed again:
 * whatever the completions' handlers do themselves is over.
 */
int instant_settle(void);

extern const struct ib_device_ops instant_queue_ops;

#endif
