// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The completion queues of the fake adapter.  Lock order: qp->lock -> cq->lock. */
#include "fake_qp.h"

struct fake_cq {
	struct ib_cq ibcq;
	spinlock_t lock;	/* protects all below */
	struct ib_wc *ring;
	u32 size, head, tail;
	bool armed;
	struct work_struct notice;	/* quirks.soft_sends */
};

static void fake_notice(struct work_struct *work)
{
	struct fake_cq *cq = container_of(work, struct fake_cq, notice);

	if (cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

static int fake_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);

	if (attr->cqe > 65536)
		return -EINVAL;
	to_fake_hca(ibcq->device)->cq.flags = attr->flags;
	to_fake_hca(ibcq->device)->cq.vector = attr->comp_vector;
	if (refuse(ibcq->device, FAKE_CQ))
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	INIT_WORK(&cq->notice, fake_notice);
	cq->size = roundup_pow_of_two(attr->cqe + 1) * 2;
	cq->ring = kvcalloc(cq->size, sizeof(*cq->ring), GFP_KERNEL | __GFP_NOFAIL);
	ibcq->cqe = attr->cqe;
	return 0;
}

static int fake_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	int ret = retire(ibcq->device, FAKE_CQ);

	if (!ret)
		kvfree(cq->ring);
	return ret;
}

static bool fake_polls_jointly(const struct ib_qp *ibqp)
{
	return ibqp->qp_type == IB_QPT_GSI &&
	       to_fake_hca(ibqp->device)->quirks.joint_poll;
}

/*
 * With quirks.joint_poll, the driver does not see a whole lap of receive completions: its
 * two indices into the ring are equal again.
 */
static bool fake_laps(const struct fake_cq *cq)
{
	const struct fake_qp *qp = NULL;
	const struct ib_wc *wc;
	u32 i, n = 0;

	if (!to_fake_hca(cq->ibcq.device)->quirks.joint_poll)
		return false;
	for (i = cq->tail; i != cq->head; i++) {
		wc = &cq->ring[i & (cq->size - 1)];
		/* A test's own completion may be of no QP. */
		if (!wc->qp || wc->status || wc->opcode != IB_WC_RECV ||
		    !fake_polls_jointly(wc->qp))
			continue;
		qp = container_of(wc->qp, struct fake_qp, ibqp);
		n++;
	}
	return qp && n == qp->max_recv;
}

static int fake_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	if (fake_laps(cq))
		n = 0;
	for (i = 0; i < n && cq->head != cq->tail; i++)
		fake_contract_polled(to_fake_hca(ibcq->device), &wc[i],
				     &cq->ring[cq->tail++ & (cq->size - 1)]);
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

/*
 * Releases @cq's lock and calls the handler of @told or, if that is NULL and @cq is
 * armed, of @cq.  As in an adapter's interrupt, interrupts stay off in the handler.
 */
static void fake_notify(struct fake_cq *cq, struct ib_cq *told, unsigned long flags)
	__releases(&cq->lock)
{
	bool locked = to_fake_hca(cq->ibcq.device)->quirks.comp_under_lock;

	if (cq->armed && !told)
		told = &cq->ibcq;
	cq->armed = false;
	if (!locked)
		spin_unlock(&cq->lock);
	if (told && told->comp_handler)
		told->comp_handler(told, told->cq_context);
	if (locked)
		spin_unlock(&cq->lock);
	local_irq_restore(flags);
}

static int fake_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags how)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	struct fake_hca *hca = to_fake_hca(ibcq->device);
	unsigned long flags;
	int ret;

	hca->cq.notify = how;
	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	ret = (how & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->tail && !fake_laps(cq);
	if (hca->quirks.arm_fires && cq->head != cq->tail) {
		fake_notify(cq, NULL, flags);
		return 0;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}

static void fake_complete_by(struct ib_cq *ibcq, const struct ib_wc *wc,
			     struct ib_cq *told)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (!WARN_ON(cq->head - cq->tail == cq->size))
		cq->ring[cq->head++ & (cq->size - 1)] = *wc;
	fake_notify(cq, told, flags);
}

static void fake_complete(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	fake_complete_by(ibcq, wc, NULL);
}

/* Like mlx5, whose destroy_cq does not wait for the work item. */
static void fake_complete_softly(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (!WARN_ON(cq->head - cq->tail == cq->size))
		cq->ring[cq->head++ & (cq->size - 1)] = *wc;
	if (cq->armed || wc->status)
		schedule_work(&cq->notice);
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/*
 * With quirks.joint_poll a send's completion enters the receive CQ, and the send CQ's
 * handler is called, armed or not.
 */
void fake_sent(struct ib_qp *ibqp, const struct ib_wc *wc)
{
	if (fake_polls_jointly(ibqp))
		fake_complete_by(ibqp->recv_cq, wc, ibqp->send_cq);
	else if (ibqp->qp_type == IB_QPT_GSI &&
		 to_fake_hca(ibqp->device)->quirks.soft_sends)
		fake_complete_softly(ibqp->send_cq, wc);
	else
		fake_complete(ibqp->send_cq, wc);
}

void fake_received(struct ib_qp *ibqp, const struct ib_wc *wc)
{
	fake_complete_by(ibqp->recv_cq, wc,
			 fake_polls_jointly(ibqp) ? ibqp->recv_cq : NULL);
}

void fake_hca_complete(struct ib_cq *cq, const struct ib_wc *wc)
{
	fake_complete(cq, wc);
}
EXPORT_SYMBOL_GPL(fake_hca_complete);

void fake_hca_cq_event(struct ib_cq *cq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = cq->device,
		.event = type,
		.element.cq = cq,
	};
	unsigned long flags;

	local_irq_save(flags);
	cq->event_handler(&event, cq->cq_context);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(fake_hca_cq_event);

/* The ring is not resized: it has room. */
int fake_hca_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	int error = to_fake_hca(ibcq->device)->cq.error;

	if (!error)
		ibcq->cqe = cqe;
	return error;
}

int fake_hca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct fake_hca_cq_seen *seen = &to_fake_hca(ibcq->device)->cq;

	seen->count = count;
	seen->period = period;
	return seen->error;
}

const struct ib_device_ops fake_hca_cq_ops = {
	.create_cq	= fake_create_cq,
	.destroy_cq	= fake_destroy_cq,
	.poll_cq	= fake_poll_cq,
	.req_notify_cq	= fake_req_notify_cq,
	INIT_RDMA_OBJ_SIZE(ib_cq, fake_cq, ibcq),
};
