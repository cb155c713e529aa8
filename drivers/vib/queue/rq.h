/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_RQ_H
#define VIB_RQ_H

/*
 * Receive requests (IBA vol. 1, 10.2.4, 10.2.9): the queue of a QP, or of an SRQ.
 *
 * Producers post under vib_rq.lock.  A queue has one consumer at a time: the QP's work item,
 * or for an SRQ whoever holds vib_srq.lock.
 */
#include <rdma/ib_verbs.h>
#include "queue/queue.h"

#define VIB_MAX_WR	16384	/* of any send or receive queue */
#define VIB_MAX_SGE	32

struct vib_qp;

/* A copy of a request that was taken from its queue. */
struct vib_recv {
	struct ib_pd *pd;		/* of the keys in the SGEs: the QP's or the SRQ's */
	u64 wr_id;
	u64 len;			/* bytes, of all SGEs */
	u32 num_sge;
	struct ib_sge sge[VIB_MAX_SGE];
};

struct vib_rq {
	spinlock_t lock;		/* producers; with interrupts off */
	u32 max_sge;			/* fixed */
	struct vib_queue queue;		/* of struct vib_abi_recv_wqe */
};

/*
 * Room for at least @max_wr requests of up to @max_sge SGEs.  @udata: the process that posts
 * them, or NULL: the kernel does.  0 or -ENOMEM.
 */
int vib_rq_init(struct vib_rq *rq, u32 max_wr, u32 max_sge, struct ib_udata *udata);
/* Of one that was initialized, or is zeroed. */
void vib_rq_free(struct vib_rq *rq);

/* Adds @wr, under rq->lock.  -EINVAL: too many SGEs; -ENOMEM: the queue is full. */
int vib_rq_post(struct vib_rq *rq, const struct ib_recv_wr *wr);

/*
 * Takes the oldest request of @rq into @recv, except recv->pd.  False: there is none.
 * One with more SGEs than a process may write names no memory.  Called by the consumer.
 */
bool vib_rq_pop(struct vib_rq *rq, struct vib_recv *recv);
/* Forgets all requests.  Called by the consumer. */
void vib_rq_clear(struct vib_rq *rq);

/*
 * Takes the request for the next message that @qp receives: the oldest of its own queue or
 * of its SRQ.  False: there is none.  Called by the QP's work item.
 */
bool vib_rq_take(struct vib_qp *qp, struct vib_recv *recv);

#endif
