// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Polling by ibv_start_poll(): the application looks at an entry where it lies, and reads
 * of it what it wants.  The CQ is locked until ibv_end_poll().
 */
#include <errno.h>
#include "vib.h"

static struct vib_cq *to_cq(struct ibv_cq_ex *cq)
{
	return to_vib_cq(ibv_cq_ex_to_cq(cq));
}

static void poll_lock(struct vib_cq *cq)
{
	if (!cq->unlocked)
		pthread_mutex_lock(&cq->lock);
}

static void poll_unlock(struct vib_cq *cq)
{
	if (!cq->unlocked)
		pthread_mutex_unlock(&cq->lock);
}

static int look(struct vib_cq *cq)
{
	cq->cqe = ring_peek(&cq->ring);
	if (!cq->cqe)
		return ENOENT;
	cq->ibv.cq_ex.wr_id = cq->cqe->wr_id;
	cq->ibv.cq_ex.status = cq->cqe->status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct vib_cq *cq = to_cq(ibcq);
	int ret = EIO;

	if (attr->comp_mask)
		return EINVAL;
	poll_lock(cq);
	if (cq->ring.shared)
		ret = look(cq);
	/* The application ends only what has begun. */
	if (ret)
		poll_unlock(cq);
	return ret;
}

/* The entry's place is given back at once, as there may be no other. */
static void take(struct vib_cq *cq)
{
	cq->cqe = NULL;
	cq->ring.next++;
	ring_set_head(&cq->ring);
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct vib_cq *cq = to_cq(ibcq);

	if (cq->cqe)
		take(cq);
	return look(cq);
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct vib_cq *cq = to_cq(ibcq);

	if (cq->cqe)
		take(cq);
	poll_unlock(cq);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->ex;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return vib_wc_flags(to_cq(cq)->cqe);
}

static uint32_t read_slid(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->dlid_path_bits;
}

/* The adapter's clock is the system's, in nanoseconds. */
static uint64_t read_timestamp(struct ibv_cq_ex *cq)
{
	return to_cq(cq)->cqe->timestamp;
}

void vib_cq_set_poll(struct ibv_cq_ex *cq, uint64_t wc_flags)
{
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_wc_flags = read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cq->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cq->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cq->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = read_timestamp;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns = read_timestamp;
}
