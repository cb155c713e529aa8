// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues.  Polling is reading the ring; arming is a command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "vib.h"

#define WC_FLAGS	(IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |		\
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

struct create_cq_resp {
	struct ib_uverbs_create_cq_resp ibv;
	struct vib_create_cq_resp vib;
};

struct resize_cq_resp {
	struct ib_uverbs_resize_cq_resp ibv;
	struct vib_resize_cq_resp vib;
};

/* ---- create, resize, destroy ---- */

static int cq_create(struct vib_cq *cq, struct ibv_context *context, int cqe,
		     struct ibv_comp_channel *channel, int vector)
{
	struct create_cq_resp resp = { 0 };
	struct cmd_create_cq cmd;
	int ret;

	ret = ibv_cmd_create_cq(context, cqe, channel, vector, &cq->ibv.cq, &cmd, sizeof(cmd),
				&resp.ibv, sizeof(resp));
	if (ret)
		return ret;
	ret = ring_map(&cq->ring, context->cmd_fd, &resp.vib.ring);
	if (ret)
		ibv_cmd_destroy_cq(&cq->ibv.cq);
	else
		pthread_mutex_init(&cq->lock, NULL);
	return ret;
}

struct ibv_cq *vib_create_cq(struct ibv_context *context, int cqe,
			     struct ibv_comp_channel *channel, int vector)
{
	struct vib_cq *cq;
	int ret = EINVAL;

	if (cqe <= 0)
		goto err;
	ret = ENOMEM;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		goto err;
	ret = cq_create(cq, context, cqe, channel, vector);
	if (!ret)
		return &cq->ibv.cq;
	free(cq);
err:
	errno = ret;
	return NULL;
}

struct ibv_cq_ex *vib_create_cq_ex(struct ibv_context *context,
				   struct ibv_cq_init_attr_ex *attr)
{
	bool flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;
	struct ibv_cq *cq;

	/* vib has no parent domains, and reports every overrun. */
	if (attr->comp_mask & ~IBV_CQ_INIT_ATTR_MASK_FLAGS || attr->wc_flags & ~WC_FLAGS ||
	    (flags && attr->flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = vib_create_cq(context, attr->cqe > INT32_MAX ? 0 : attr->cqe, attr->channel,
			   attr->comp_vector);
	if (!cq)
		return NULL;
	to_vib_cq(cq)->unlocked = flags && attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	vib_cq_set_poll(&to_vib_cq(cq)->ibv.cq_ex, attr->wc_flags);
	return &to_vib_cq(cq)->ibv.cq_ex;
}

/*
 * The kernel has moved what was left to the new ring.  Should that not be mapped, the CQ
 * cannot be polled any more: vib_poll_cq() reports an error.
 */
int vib_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct vib_cq *cq = to_vib_cq(ibcq);
	struct resize_cq_resp resp = { 0 };
	struct cmd_resize_cq cmd;
	int ret;

	if (cqe <= 0)
		return EINVAL;
	pthread_mutex_lock(&cq->lock);
	ret = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.ibv, sizeof(resp));
	if (!ret && resp.vib.ring.length) {
		ring_unmap(&cq->ring);
		ret = ring_map(&cq->ring, ibcq->context->cmd_fd, &resp.vib.ring);
		if (!ret)
			cq->ring.next = ring_head(&cq->ring);
	}
	pthread_mutex_unlock(&cq->lock);
	return ret;
}

int vib_destroy_cq(struct ibv_cq *ibcq)
{
	struct vib_cq *cq = to_vib_cq(ibcq);
	int ret = destroy_error(ibv_cmd_destroy_cq(ibcq));

	if (ret)
		return ret;
	ring_unmap(&cq->ring);
	pthread_mutex_destroy(&cq->lock);
	free(cq);
	return 0;
}

/* ---- polling ---- */

/* vib has the kernel's flags (enum ib_wc_flags). */
unsigned int vib_wc_flags(const struct vib_abi_cqe *cqe)
{
	unsigned int flags = cqe->wc_flags & (IBV_WC_GRH | IBV_WC_WITH_IMM);

	if (cqe->wc_flags & 4)
		flags |= IBV_WC_WITH_INV;
	return flags;
}

static void wc_fill(struct ibv_wc *wc, const struct vib_abi_cqe *cqe)
{
	*wc = (struct ibv_wc){
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.invalidated_rkey = cqe->ex,
		.qp_num = cqe->qp_num,
		.src_qp = cqe->src_qp,
		.wc_flags = vib_wc_flags(cqe),
		.pkey_index = cqe->pkey_index,
		.slid = cqe->slid,
		.sl = cqe->sl,
		.dlid_path_bits = cqe->dlid_path_bits,
	};
}

int vib_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct vib_cq *cq = to_vib_cq(ibcq);
	const struct vib_abi_cqe *cqe;
	int n = -EIO;

	pthread_mutex_lock(&cq->lock);
	if (!cq->ring.shared)
		goto out;
	for (n = 0; n < num_entries; n++) {
		cqe = ring_peek(&cq->ring);
		if (!cqe)
			break;
		wc_fill(&wc[n], cqe);
		cq->ring.next++;
	}
	if (n > 0)
		ring_set_head(&cq->ring);
out:
	pthread_mutex_unlock(&cq->lock);
	return n;
}

/*
 * The number of a QP that is destroyed or reset may appear again, with completions of its
 * own: those of before go.  (Not the messages of an XRC target: they belong to the SRQ, and
 * the QP to whoever else has opened it.)  The entries before the tail are ours, so those that
 * stay are moved towards it.
 */
void vib_cq_clean(struct ibv_cq *ibcq, uint32_t qp_num)
{
	const struct vib_abi_cqe *from;
	struct vib_abi_cqe *to;
	uint32_t tail, i, kept;
	struct vib_cq *cq;

	if (!ibcq)
		return;
	cq = to_vib_cq(ibcq);
	pthread_mutex_lock(&cq->lock);
	if (!cq->ring.shared)
		goto out;
	tail = ring_tail(&cq->ring);
	kept = tail;
	for (i = tail; i != cq->ring.next; i--) {
		from = ring_entry(&cq->ring, i - 1);
		if (from->qp_num == qp_num)
			continue;
		kept--;
		to = ring_entry(&cq->ring, kept);
		if (to != from)
			memcpy(to, from, cq->ring.entry_size);
	}
	if (kept != cq->ring.next) {
		cq->ring.next = kept;
		ring_set_head(&cq->ring);
	}
out:
	pthread_mutex_unlock(&cq->lock);
}
