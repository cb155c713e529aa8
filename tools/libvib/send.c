// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Send requests, by ibv_post_send(), and the doorbell. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "vib.h"

#define SEND_FLAGS	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |		\
			 IBV_SEND_INLINE)

#define OP(op)		(1U << IBV_WR_##op)
#define OPS_UD		(OP(SEND) | OP(SEND_WITH_IMM))
#define OPS_LOCAL	(OP(LOCAL_INV) | OP(BIND_MW))
#define OPS_UC		(OPS_UD | OP(RDMA_WRITE) | OP(RDMA_WRITE_WITH_IMM) | OPS_LOCAL)
#define OPS_RC		(OPS_UC | OP(SEND_WITH_INV) | OP(RDMA_READ) |				\
			 OP(ATOMIC_CMP_AND_SWP) | OP(ATOMIC_FETCH_AND_ADD))
#define OPS_INLINE	(OPS_UD | OP(SEND_WITH_INV) | OP(RDMA_WRITE) | OP(RDMA_WRITE_WITH_IMM))

uint32_t vib_send_ops(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UD:
		return OPS_UD;
	case IBV_QPT_UC:
		return OPS_UC;
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return OPS_RC;
	default:
		return 0;
	}
}

/* ---- the doorbell ---- */

static int doorbell(struct ibv_qp *qp)
{
	struct ib_uverbs_post_send_resp resp;
	struct cmd_post_send cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.core = {
			.response = (uintptr_t)&resp,
			.qp_handle = qp->handle,
			.wqe_size = sizeof(struct ib_uverbs_send_wr),
		},
	};

	return write(qp->context->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd) ? 0 : errno;
}

/*
 * Requests that the kernel refuses to look at are taken back, so that the application may
 * use their memory.  Unless an earlier doorbell has it look at them nevertheless: what was
 * taken meanwhile is posted, and with it the rest.
 */
int vib_sq_submit(struct vib_qp *qp, uint32_t first)
{
	uint32_t tail = qp->sq.next;
	int ret;

	if (tail == first)
		return 0;
	ring_set_tail(&qp->sq);
	ret = doorbell(&qp->ibv.qp);
	if (!ret)
		return 0;
	qp->sq.next = first;
	ring_set_tail(&qp->sq);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if ((int32_t)(ring_head(&qp->sq) - first) <= 0)
		return ret;
	qp->sq.next = tail;
	ring_set_tail(&qp->sq);
	return 0;
}

/* ---- requests ---- */

static void *wqe_data(const struct vib_qp *qp, union vib_send_wqe *wqe)
{
	return is_ud(qp) ? (void *)(&wqe->ud + 1) : (void *)(&wqe->rc + 1);
}

static uint32_t *wqe_count(const struct vib_qp *qp, union vib_send_wqe *wqe)
{
	return is_ud(qp) ? &wqe->ud.num_sge : &wqe->rc.num_sge;
}

void vib_wqe_begin_inline(struct vib_qp *qp, union vib_send_wqe *wqe)
{
	if (is_ud(qp))
		wqe->ud.flags |= IBV_SEND_INLINE;
	else
		wqe->rc.flags |= IBV_SEND_INLINE;
	*wqe_count(qp, wqe) = 0;
}

int vib_wqe_add_inline(struct vib_qp *qp, union vib_send_wqe *wqe, const void *addr,
		       size_t length)
{
	uint32_t *count = wqe_count(qp, wqe);

	if (length > qp->max_inline - *count)
		return EINVAL;
	if (length)
		memcpy((char *)wqe_data(qp, wqe) + *count, addr, length);
	*count += length;
	return 0;
}

int vib_wqe_set_sge(struct vib_qp *qp, union vib_send_wqe *wqe, const struct ibv_sge *sge,
		    size_t count)
{
	if (count > qp->max_send_sge)
		return EINVAL;
	static_assert(sizeof(struct vib_abi_sge) == sizeof(*sge), "SGEs are copied");
	if (count)
		memcpy(wqe_data(qp, wqe), sge, count * sizeof(*sge));
	*wqe_count(qp, wqe) = count;
	return 0;
}

int vib_wqe_set_bind(struct vib_abi_rc_wqe *wqe, const struct ibv_mw *mw, uint32_t rkey,
		     const struct ibv_mw_bind_info *info)
{
	if (mw->type != IBV_MW_TYPE_2 || !info->mr)
		return EINVAL;
	wqe->addr = info->addr;
	wqe->compare_add = info->length;
	/* Programs set it, and it means nothing: windows are for peers. */
	wqe->access = info->mw_access_flags & ~IBV_ACCESS_LOCAL_WRITE;
	wqe->rkey = rkey;
	wqe->mw_rkey = mw->rkey;
	wqe->mw_lkey = info->mr->lkey;
	return 0;
}

static int fill_data(struct vib_qp *qp, union vib_send_wqe *wqe, const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge;
	int i, ret;

	if (wr->num_sge < 0)
		return EINVAL;
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return vib_wqe_set_sge(qp, wqe, wr->sg_list, wr->num_sge);
	vib_wqe_begin_inline(qp, wqe);
	for (i = 0; i < wr->num_sge; i++) {
		sge = &wr->sg_list[i];
		ret = vib_wqe_add_inline(qp, wqe, (void *)(uintptr_t)sge->addr, sge->length);
		if (ret)
			return ret;
	}
	return 0;
}

static int fill_rc(struct vib_qp *qp, struct vib_abi_rc_wqe *wqe, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
		wqe->addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->addr = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_LOCAL_INV:
		wqe->rkey = wr->invalidate_rkey;
		return 0;
	case IBV_WR_BIND_MW:
		return vib_wqe_set_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
					&wr->bind_mw.bind_info);
	default:
		break;
	}
	/* The same place, whichever of the two it is. */
	wqe->ex = wr->imm_data;
	if (qp->ibv.qp.qp_type == IBV_QPT_XRC_SEND)
		wqe->xrc_srqn = wr->qp_type.xrc.remote_srqn;
	return fill_data(qp, (union vib_send_wqe *)wqe, wr);
}

static int fill_ud(struct vib_qp *qp, struct vib_abi_ud_wqe *wqe, const struct ibv_send_wr *wr)
{
	if (!wr->wr.ud.ah)
		return EINVAL;
	wqe->av = to_vib_ah(wr->wr.ud.ah)->av;
	wqe->remote_qpn = wr->wr.ud.remote_qpn;
	wqe->remote_qkey = wr->wr.ud.remote_qkey;
	wqe->ex = wr->imm_data;
	return fill_data(qp, (union vib_send_wqe *)wqe, wr);
}

static int sq_add(struct vib_qp *qp, const struct ibv_send_wr *wr)
{
	uint32_t op = wr->opcode < 32 ? 1U << wr->opcode : 0;
	uint8_t flags = wr->send_flags | (qp->sig_all ? IBV_SEND_SIGNALED : 0);
	union vib_send_wqe *wqe;
	int ret;

	if (!(vib_send_ops(qp->ibv.qp.qp_type) & op) || wr->send_flags & ~SEND_FLAGS ||
	    (wr->send_flags & IBV_SEND_INLINE && !(OPS_INLINE & op)))
		return EINVAL;
	wqe = ring_slot(&qp->sq);
	if (!wqe)
		return ENOMEM;
	if (is_ud(qp)) {
		wqe->ud = (struct vib_abi_ud_wqe){
			.wr_id = wr->wr_id,
			.opcode = wr->opcode,
			.flags = flags,
		};
		ret = fill_ud(qp, &wqe->ud, wr);
	} else {
		wqe->rc = (struct vib_abi_rc_wqe){
			.wr_id = wr->wr_id,
			.opcode = wr->opcode,
			.flags = flags,
		};
		ret = fill_rc(qp, &wqe->rc, wr);
	}
	if (!ret)
		qp->sq.next++;
	return ret;
}

/* Of a list that stops at an error, those before it go. */
int vib_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *first_wr = wr;
	struct vib_qp *qp = to_vib_qp(ibqp);
	uint32_t first;
	int ret = 0, submitted;

	if (!takes_sends(qp)) {
		*bad = wr;
		return EINVAL;
	}
	pthread_mutex_lock(&qp->sq_lock);
	first = qp->sq.next;
	for (; wr; wr = wr->next) {
		ret = sq_add(qp, wr);
		if (ret) {
			*bad = wr;
			break;
		}
	}
	submitted = vib_sq_submit(qp, first);
	if (submitted) {
		*bad = first_wr;
		ret = submitted;
	}
	pthread_mutex_unlock(&qp->sq_lock);
	return ret;
}
