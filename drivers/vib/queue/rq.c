// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queues of receive requests. */
#include <linux/overflow.h>
#include "device/qp.h"
#include "queue/srq.h"

static_assert(sizeof(struct ib_sge) == sizeof(struct vib_abi_sge));
static_assert(offsetof(struct ib_sge, length) == offsetof(struct vib_abi_sge, length));
static_assert(offsetof(struct ib_sge, lkey) == offsetof(struct vib_abi_sge, lkey));

int vib_rq_init(struct vib_rq *rq, u32 max_wr, u32 max_sge, struct ib_udata *udata)
{
	spin_lock_init(&rq->lock);
	rq->max_sge = max_sge;
	return vib_queue_init(&rq->queue, max_wr,
			      struct_size_t(struct vib_abi_recv_wqe, sge, max_sge), udata);
}

void vib_rq_free(struct vib_rq *rq)
{
	vib_queue_free(&rq->queue);
}

int vib_rq_post(struct vib_rq *rq, const struct ib_recv_wr *wr)
{
	struct vib_abi_recv_wqe *wqe;

	lockdep_assert_held(&rq->lock);
	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	wqe = vib_queue_slot(&rq->queue, NULL);
	if (!wqe)
		return -ENOMEM;
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
	vib_queue_push(&rq->queue);
	return 0;
}

/* A process may write the entry meanwhile: the copy alone is checked and used. */
bool vib_rq_pop(struct vib_rq *rq, struct vib_recv *recv)
{
	const struct vib_abi_recv_wqe *wqe = vib_queue_peek(&rq->queue, NULL);
	u32 i;

	if (!wqe)
		return false;
	recv->wr_id = READ_ONCE(wqe->wr_id);
	recv->num_sge = READ_ONCE(wqe->num_sge);
	if (recv->num_sge > rq->max_sge)
		recv->num_sge = 0;
	memcpy(recv->sge, wqe->sge, recv->num_sge * sizeof(*recv->sge));
	vib_queue_pop(&rq->queue);
	recv->len = 0;
	for (i = 0; i < recv->num_sge; i++)
		recv->len += recv->sge[i].length;
	return true;
}

void vib_rq_clear(struct vib_rq *rq)
{
	vib_queue_clear(&rq->queue);
}

bool vib_rq_take(struct vib_qp *qp, struct vib_recv *recv)
{
	if (qp->srq)
		return vib_srq_take(qp->srq, recv);
	recv->pd = qp->ib.pd;
	return vib_rq_pop(&qp->rq, recv);
}
