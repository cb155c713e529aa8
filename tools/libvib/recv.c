// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Receive requests.  vib takes them from the ring when messages arrive. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "vib.h"

int vib_rq_init(struct vib_rq *rq, int fd, const struct vib_abi_map *map, uint32_t max_sge)
{
	int ret = ring_map(&rq->ring, fd, map);

	if (ret)
		return ret;
	pthread_mutex_init(&rq->lock, NULL);
	rq->max_sge = max_sge;
	return 0;
}

/* Of one that was initialized. */
void vib_rq_destroy(struct vib_rq *rq)
{
	ring_unmap(&rq->ring);
	pthread_mutex_destroy(&rq->lock);
}

/* With rq->lock. */
static int rq_add(struct vib_rq *rq, const struct ibv_recv_wr *wr)
{
	struct vib_abi_recv_wqe *wqe;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	wqe = ring_slot(&rq->ring);
	if (!wqe)
		return ENOMEM;
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	wqe->reserved = 0;
	static_assert(sizeof(*wqe->sge) == sizeof(*wr->sg_list), "SGEs are copied");
	if (wr->num_sge)
		memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
	rq->ring.next++;
	return 0;
}

/* Those before the one that is refused are posted.  With rq->lock. */
static int rq_post(struct vib_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	uint32_t first = rq->ring.next;
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = rq_add(rq, wr);
		if (ret) {
			*bad = wr;
			break;
		}
	}
	if (rq->ring.next != first)
		ring_set_tail(&rq->ring);
	return ret;
}

/* Requests of a QP in the error state are flushed when they are posted. */
static int recv_doorbell(struct ibv_qp *qp)
{
	struct ib_uverbs_post_recv_resp resp;
	struct cmd_post_recv cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_RECV,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.core = {
			.response = (uintptr_t)&resp,
			.qp_handle = qp->handle,
			.wqe_size = sizeof(struct ib_uverbs_recv_wr),
		},
	};

	return write(qp->context->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd) ? 0 : errno;
}

/*
 * Either vib sees the new tail after it has set the flag, or we see the flag after we have
 * stored the tail.
 */
static int recv_ring(struct vib_qp *qp)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!(__atomic_load_n(&qp->rq.ring.shared->flags, __ATOMIC_RELAXED) & VIB_RING_DOORBELL))
		return 0;
	return recv_doorbell(&qp->ibv.qp);
}

/* From Init on (IBA vol. 1, 10.3.1.2).  A QP with an SRQ has no queue of its own. */
int vib_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct vib_qp *qp = to_vib_qp(ibqp);
	int ret, rung;

	if (!qp->rq.ring.shared || ibqp->state == IBV_QPS_RESET) {
		*bad = wr;
		return EINVAL;
	}
	pthread_mutex_lock(&qp->rq.lock);
	ret = rq_post(&qp->rq, wr, bad);
	rung = recv_ring(qp);
	pthread_mutex_unlock(&qp->rq.lock);
	if (rung && !ret) {
		*bad = wr;
		ret = rung;
	}
	return ret;
}

int vib_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct vib_srq *srq = to_vib_srq(ibsrq);
	int ret;

	pthread_mutex_lock(&srq->rq.lock);
	ret = rq_post(&srq->rq, wr, bad);
	pthread_mutex_unlock(&srq->rq.lock);
	return ret;
}
