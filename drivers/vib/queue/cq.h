/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_CQ_H
#define VIB_CQ_H

/* Completion queues (IBA vol. 1, 10.2.6, 11.2.6). */
#include "device/hca.h"
#include "queue/queue.h"

/* Resizing copies what is in a CQ with interrupts off, also for any process: 4 MiB at most. */
#define VIB_MAX_CQE	0x10000

struct vib_cq {
	struct ib_cq ib;
	spinlock_t lock;		/* with interrupts off: consumers poll in any context */
	/* Of struct ib_wc, or struct vib_abi_cqe for a process, which is the consumer; lock */
	struct vib_queue queue;
	u8 armed;			/* IB_CQ_SOLICITED, IB_CQ_NEXT_COMP, or 0; lock */
	bool overrun;			/* a completion was lost; lock */
	int cpu;			/* of its completion vector */
	struct work_struct completion;	/* calls comp_handler, there */
};

static inline struct vib_cq *to_vib_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct vib_cq, ib);
}

/*
 * Adds @wc.  @solicited: the message asked for an event (IBA vol. 1, 11.4.2.2); an error
 * is one by itself.  Softirq, or with bottom halves off.
 */
void vib_cq_push(struct vib_cq *cq, const struct ib_wc *wc, bool solicited);
/* Takes out the completions of @qp, which is being destroyed.  A process does so itself. */
void vib_cq_clean(struct vib_cq *cq, const struct ib_qp *qp);

extern const struct ib_device_ops vib_cq_ops;

#endif
