// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shared receive queues (IBA vol. 1, 10.2.9, 11.2.3), and XRC domains (Annex A14).
 *
 * Posting takes the producers' lock of the queue, as for a QP.  The work items of many QPs
 * take requests from one SRQ, hence the second lock, for consumers.  Resizing replaces the
 * ring under both.
 */
#include <linux/slab.h>
#include "device/qp.h"
#include "queue/cq.h"
#include "queue/srq.h"
#include "user/user.h"

#define SRQN_MAX	0xffffff	/* XRCETH has 24 bits for it (Annex A14) */

/* ---- the limit (10.2.9) ---- */

/*
 * Whether the limit is armed and fewer requests than that are left.  It is disarmed then, and
 * the caller raises the event after it has dropped the lock.
 */
static bool srq_limit_reached(struct vib_srq *srq)
{
	lockdep_assert_held(&srq->lock);
	if (vib_queue_len(&srq->rq.queue) >= srq->limit)
		return false;
	srq->limit = 0;
	return true;
}

static void srq_raise_limit(struct vib_srq *srq)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
		.element.srq = &srq->ib,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

bool vib_srq_take(struct vib_srq *srq, struct vib_recv *recv)
{
	bool taken, reached;

	recv->pd = srq->ib.pd;
	spin_lock_bh(&srq->lock);
	taken = vib_rq_pop(&srq->rq, recv);
	reached = srq_limit_reached(srq);
	spin_unlock_bh(&srq->lock);
	if (reached)
		srq_raise_limit(srq);
	return taken;
}

/* ---- posting ---- */

/* Processes post by themselves, and have nothing to tell. */
static int vib_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			     const struct ib_recv_wr **bad_wr)
{
	struct vib_srq *srq = to_vib_srq(ibsrq);
	unsigned long flags;
	int ret = 0;

	if (srq->rq.queue.mapped) {
		*bad_wr = wr;
		return wr ? -EINVAL : 0;
	}
	spin_lock_irqsave(&srq->rq.lock, flags);
	for (; wr; wr = wr->next) {
		ret = vib_rq_post(&srq->rq, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return ret;
}

/* ---- attributes ---- */

/*
 * Gives @srq the ring of @queue, which is empty, and @queue the old one.  -EINVAL: the
 * requests would not fit, or the limit @limit is beyond the new size (11.2.3.3).
 */
static int srq_replace(struct vib_srq *srq, struct vib_queue *queue, u32 limit)
{
	u32 size = vib_queue_size(queue), len;
	unsigned long flags;
	int ret = -EINVAL;

	lockdep_assert_held(&srq->lock);
	spin_lock_irqsave(&srq->rq.lock, flags);
	len = vib_queue_len(&srq->rq.queue);
	if (limit <= size && len <= size) {
		vib_queue_move(queue, &srq->rq.queue, srq->rq.queue.head, len);
		swap(*queue, srq->rq.queue);
		ret = 0;
	}
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return ret;
}

/* All of what @mask asks for, or nothing.  @queue: the ring of the new size, if it does. */
static int srq_modify_locked(struct vib_srq *srq, const struct ib_srq_attr *attr, int mask,
			     struct vib_queue *queue)
{
	u32 limit = mask & IB_SRQ_LIMIT ? attr->srq_limit : srq->limit;
	int ret;

	lockdep_assert_held(&srq->lock);
	if (mask & IB_SRQ_MAX_WR) {
		ret = srq_replace(srq, queue, limit);
		if (ret)
			return ret;
	} else if (limit > vib_queue_size(&srq->rq.queue)) {
		return -EINVAL;
	}
	srq->limit = limit;
	return 0;
}

/* Tells a process where its new ring is, before it is in use: the process may have no room. */
static int srq_tell_map(const struct vib_queue *queue, struct ib_udata *udata)
{
	struct vib_abi_map map = vib_queue_map(queue);
	struct vib_modify_srq_cmd cmd;

	if (udata->inlen < sizeof(cmd))
		return -EINVAL;
	if (ib_copy_from_udata(&cmd, udata, sizeof(cmd)) ||
	    copy_to_user(u64_to_user_ptr(cmd.map_addr), &map, sizeof(map)))
		return -EFAULT;
	return 0;
}

/* The ring of a new size. */
static int srq_alloc(const struct vib_srq *srq, struct vib_queue *queue, u32 max_wr,
		     struct ib_udata *udata)
{
	int ret;

	if (!max_wr || max_wr > VIB_MAX_WR)
		return -EINVAL;
	ret = vib_queue_init(queue, max_wr, srq->rq.queue.entry_size, udata);
	if (!ret && udata)
		ret = srq_tell_map(queue, udata);
	if (ret)
		vib_queue_free(queue);
	return ret;
}

/*
 * If fewer requests than the new limit are posted already, the event is raised at once.
 * Otherwise it might never be: nothing is taken from an empty queue.
 */
static int vib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
			  enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct vib_srq *srq = to_vib_srq(ibsrq);
	struct vib_queue queue = {};
	bool reached;
	int ret;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	if (mask & IB_SRQ_MAX_WR) {
		ret = srq_alloc(srq, &queue, attr->max_wr, udata);
		if (ret)
			return ret;
	}
	spin_lock_bh(&srq->lock);
	ret = srq_modify_locked(srq, attr, mask, &queue);
	reached = !ret && srq_limit_reached(srq);
	spin_unlock_bh(&srq->lock);
	vib_queue_free(&queue);
	if (reached)
		srq_raise_limit(srq);
	return ret;
}

static int vib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct vib_srq *srq = to_vib_srq(ibsrq);

	spin_lock_bh(&srq->lock);
	attr->max_wr = vib_queue_size(&srq->rq.queue);
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

/* ---- numbers, by which packets find XRC SRQs ---- */

struct vib_srq *vib_srq_find(struct ib_xrcd *xrcd, u32 srqn)
{
	struct vib_srq *srq = NULL;
	struct vib_srq_ref *ref;

	rcu_read_lock();
	ref = xa_load(&to_vib_hca(xrcd->device)->srqs, srqn);
	if (ref && ref->xrcd == xrcd && refcount_inc_not_zero(&ref->count))
		srq = ref->srq;
	rcu_read_unlock();
	return srq;
}

void vib_srq_put(struct vib_srq *srq)
{
	struct vib_srq_ref *ref = srq->ref;

	/* After the last put the SRQ may be freed, but RCU keeps @ref for this section. */
	rcu_read_lock();
	if (refcount_dec_and_test(&ref->count))
		complete(&ref->unused);
	rcu_read_unlock();
}

void vib_srq_clean(struct ib_xrcd *xrcd, const struct ib_qp *qp)
{
	struct vib_hca *hca = to_vib_hca(xrcd->device);
	struct vib_srq_ref *ref;
	unsigned long srqn;

	rcu_read_lock();
	xa_for_each(&hca->srqs, srqn, ref) {
		if (ref->xrcd != xrcd || !refcount_inc_not_zero(&ref->count))
			continue;
		vib_cq_clean(to_vib_cq(ref->srq->cq), qp);
		vib_srq_put(ref->srq);
	}
	rcu_read_unlock();
}

/* Numbers are reused as late as possible: packets for a destroyed SRQ may be on their way. */
static int srq_publish(struct vib_srq *srq, struct ib_xrcd *xrcd)
{
	struct vib_hca *hca = to_vib_hca(srq->ib.device);
	struct vib_srq_ref *ref = kmalloc(sizeof(*ref), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!ref)
		return -ENOMEM;
	refcount_set(&ref->count, 1);
	init_completion(&ref->unused);
	ref->srq = srq;
	ref->xrcd = xrcd;
	srq->ref = ref;
	ret = xa_alloc_cyclic(&hca->srqs, &srq->ib.ext.xrc.srq_num, ref,
			      XA_LIMIT(1, SRQN_MAX), &hca->next_srqn, GFP_KERNEL);
	if (ret < 0) {
		srq->ref = NULL;
		kfree(ref);
		return ret;
	}
	return 0;
}

static void srq_unpublish(struct vib_srq *srq)
{
	struct vib_srq_ref *ref = srq->ref;

	xa_erase(&to_vib_hca(srq->ib.device)->srqs, srq->ib.ext.xrc.srq_num);
	vib_srq_put(srq);
	wait_for_completion(&ref->unused);
	kfree_rcu(ref, rcu);
}

/* ---- creation and end ---- */

static int srq_check_init(const struct ib_srq_init_attr *init)
{
	switch (init->srq_type) {
	case IB_SRQT_BASIC:
		break;
	case IB_SRQT_XRC:
		if (!init->ext.cq || !init->ext.xrc.xrcd)
			return -EINVAL;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!init->attr.max_wr || init->attr.max_wr > VIB_MAX_WR ||
	    init->attr.max_sge > VIB_MAX_SGE)
		return -EINVAL;
	return 0;
}

static int srq_respond(const struct vib_srq *srq, struct ib_udata *udata)
{
	struct vib_create_srq_resp resp = { .ring = vib_queue_map(&srq->rq.queue) };

	if (srq->ref)
		resp.srqn = srq->ib.ext.xrc.srq_num;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void srq_free(struct vib_srq *srq)
{
	if (srq->ref)
		srq_unpublish(srq);
	vib_rq_free(&srq->rq);
}

static int vib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
			  struct ib_udata *udata)
{
	struct vib_srq *srq = to_vib_srq(ibsrq);
	int ret;

	ret = udata ? vib_udata_check(udata, sizeof(struct vib_create_srq_resp)) : 0;
	if (!ret)
		ret = srq_check_init(init);
	if (ret)
		return ret;
	ret = vib_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge, udata);
	if (ret)
		return ret;
	spin_lock_init(&srq->lock);
	init->attr.max_wr = vib_queue_size(&srq->rq.queue);
	if (init->srq_type == IB_SRQT_XRC) {
		srq->cq = init->ext.cq;
		ret = srq_publish(srq, init->ext.xrc.xrcd);
	}
	if (!ret && udata)
		ret = srq_respond(srq, udata);
	if (ret)
		srq_free(srq);
	return ret;
}

/*
 * Why nothing uses the SRQ afterwards:
 * (1) No QP that was created with it exists, as the core counts them, and the work items of
 *     those that were destroyed have ended.
 * (2) No packet finds an XRC SRQ: its number leads nowhere, and whoever found it before has
 *     put the reference.  Whoever finds its vib_srq_ref late, under RCU, gets no reference.
 * (3) Because of (1) and (2) no limit event is raised any more.  The consumer posts no more.
 * Completions that are in the CQ of an XRC SRQ do not refer to the SRQ.
 */
static int vib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	srq_free(to_vib_srq(ibsrq));
	return 0;
}

/* ---- XRC domains: their identity is all that is asked of them ---- */

struct vib_xrcd {
	struct ib_xrcd ib;
};

static int vib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

/* The core has seen that no SRQ or QP is in it. */
static int vib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops vib_srq_ops = {
	.create_srq	= vib_create_srq,
	.modify_srq	= vib_modify_srq,
	.query_srq	= vib_query_srq,
	.destroy_srq	= vib_destroy_srq,
	.post_srq_recv	= vib_post_srq_recv,
	.alloc_xrcd	= vib_alloc_xrcd,
	.dealloc_xrcd	= vib_dealloc_xrcd,
	INIT_RDMA_OBJ_SIZE(ib_srq, vib_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, vib_xrcd, ib),
};
