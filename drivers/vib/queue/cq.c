// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues (IBA vol. 1, 10.2.6, 11.2.6).
 *
 * A completion event is a work item in softirq context on the processor of the CQ's vector.
 * The work is queued with the CQ's lock held, and disarms it; comp_handler is called
 * without any lock, so it may poll, arm and post.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <rdma/uverbs_ioctl.h>
#include "queue/cq.h"
#include "user/user.h"

/* Vector N is the Nth processor that is online, so that each vector has its own. */
static int vector_cpu(unsigned int vector)
{
	unsigned int cpu = cpumask_nth(vector % num_online_cpus(), cpu_online_mask);

	/* Fewer are online by now. */
	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

static const struct cpumask *cq_vector_affinity(struct ib_device *ibdev, int vector)
{
	return cpumask_of(vector_cpu(vector));
}

IBEX_STATIC_BH_WORK(cq_completion)
{
	struct vib_cq *cq = container_of(work, struct vib_cq, completion);

	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void cq_raise_overrun(struct vib_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ib,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

/* A completion was added: the event that the CQ is armed for, if it is. */
static void cq_notify(struct vib_cq *cq, bool solicited)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->armed || (cq->armed == IB_CQ_SOLICITED && !solicited))
		return;
	cq->armed = 0;
	queue_work_on(cpu_online(cq->cpu) ? cq->cpu : WORK_CPU_UNBOUND, vib_wq,
		      &cq->completion);
}

/* The codes are the same as those of userspace. */
static void cq_fill_abi(struct vib_abi_cqe *cqe, const struct ib_wc *wc)
{
	*cqe = (struct vib_abi_cqe){
		.wr_id = wc->wr_id,
		.timestamp = ktime_get_real_ns(),
		.qp_num = wc->qp->qp_num,
		.byte_len = wc->byte_len,
		/* Or the key that was invalidated. */
		.ex = (__force u32)wc->ex.imm_data,
		.src_qp = wc->src_qp,
		.vendor_err = wc->vendor_err,
		.wc_flags = wc->wc_flags,
		.pkey_index = wc->pkey_index,
		.slid = wc->slid,
		.status = wc->status,
		.opcode = wc->opcode,
		.sl = wc->sl,
		.dlid_path_bits = wc->dlid_path_bits,
	};
}

static bool cq_is_user(const struct vib_cq *cq)
{
	return cq->queue.mapped;
}

static void cq_add(struct vib_cq *cq, void *slot, const struct ib_wc *wc)
{
	if (cq_is_user(cq))
		cq_fill_abi(slot, wc);
	else
		*(struct ib_wc *)slot = *wc;
	vib_queue_push(&cq->queue);
}

/*
 * A completion without room is lost, and its consumer is told of the overrun, once
 * (11.6.3).  Those that find room after it are still added: their consumers wait for them.
 */
void vib_cq_push(struct vib_cq *cq, const struct ib_wc *wc, bool solicited)
{
	bool first_lost = false;
	unsigned long flags;
	void *slot;

	spin_lock_irqsave(&cq->lock, flags);
	slot = vib_queue_slot(&cq->queue, NULL);
	if (slot) {
		cq_add(cq, slot, wc);
		cq_notify(cq, solicited || wc->status != IB_WC_SUCCESS);
	} else {
		first_lost = !cq->overrun;
		cq->overrun = true;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (first_lost)
		cq_raise_overrun(cq);
}

static int vib_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct vib_cq *cq = to_vib_cq(ibcq);
	const struct ib_wc *next;
	unsigned long flags;
	int n;

	/* A process polls by itself. */
	if (cq_is_user(cq))
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	for (n = 0; n < num_entries; n++) {
		next = vib_queue_peek(&cq->queue, NULL);
		if (!next)
			break;
		wc[n] = *next;
		vib_queue_pop(&cq->queue);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int vib_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct vib_cq *cq = to_vib_cq(ibcq);
	u8 wanted = flags & IB_CQ_SOLICITED_MASK;
	unsigned long irq_flags;
	int missed;

	spin_lock_irqsave(&cq->lock, irq_flags);
	/* Once armed for any completion it stays so until the event (11.4.2.2). */
	if (wanted && cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = wanted & IB_CQ_NEXT_COMP ? IB_CQ_NEXT_COMP : IB_CQ_SOLICITED;
	missed = flags & IB_CQ_REPORT_MISSED_EVENTS && vib_queue_used(&cq->queue);
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return missed;
}

static_assert(sizeof(struct vib_create_cq_resp) == sizeof(struct vib_resize_cq_resp));

/* A ring of @cqe entries, of which a process is told. */
static int cq_alloc(struct vib_queue *queue, u32 cqe, struct ib_udata *udata)
{
	struct vib_create_cq_resp resp;
	int ret;

	if (!udata)
		return vib_queue_init(queue, cqe, sizeof(struct ib_wc), NULL);
	ret = vib_udata_check(udata, sizeof(resp)) ?:
	      vib_queue_init(queue, cqe, sizeof(struct vib_abi_cqe), udata);
	if (ret)
		return ret;
	resp.ring = vib_queue_map(queue);
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (ret)
		vib_queue_free(queue);
	return ret;
}

static int vib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			 IBEX_DRIVER_DATA *data)
{
	struct ib_udata *udata = ibex_to_udata(data);
	struct vib_cq *cq = to_vib_cq(ibcq);
	int ret;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > VIB_MAX_CQE ||
	    attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	ret = cq_alloc(&cq->queue, attr->cqe, udata);
	if (ret)
		return ret;
	spin_lock_init(&cq->lock);
	INIT_WORK(&cq->completion, cq_completion);
	cq->cpu = vector_cpu(attr->comp_vector);
	ibcq->cqe = vib_queue_size(&cq->queue);
	return 0;
}

/*
 * Why nothing uses the CQ afterwards: (1) no QP does, as the core counts them, and a QP's
 * destruction ended its works, which alone add completions; (2) the completion work has
 * ended, and is queued by (1) no more; (3) the consumer polls and arms it no more.
 */
static int vib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct vib_cq *cq = to_vib_cq(ibcq);

	cancel_work_sync(&cq->completion);
	vib_queue_free(&cq->queue);
	return 0;
}

/*
 * -EINVAL: the completions that are in the CQ would not fit (11.2.6).  Then a process has been
 * told of a ring that is gone again.
 */
static int vib_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct vib_cq *cq = to_vib_cq(ibcq);
	struct vib_queue queue;
	unsigned long flags;
	u32 used;
	int ret;

	if (cqe < 1 || cqe > VIB_MAX_CQE)
		return -EINVAL;
	ret = cq_alloc(&queue, cqe, udata);
	if (ret)
		return ret;

	spin_lock_irqsave(&cq->lock, flags);
	used = vib_queue_used(&cq->queue);
	if (used > vib_queue_size(&queue)) {
		ret = -EINVAL;
	} else {
		vib_queue_move(&queue, &cq->queue, cq->queue.tail - used, used);
		swap(queue, cq->queue);
		ibcq->cqe = vib_queue_size(&cq->queue);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	vib_queue_free(&queue);
	return ret;
}

void vib_cq_clean(struct vib_cq *cq, const struct ib_qp *qp)
{
	unsigned long flags;
	struct ib_wc wc;
	u32 n;

	if (cq_is_user(cq))
		return;
	spin_lock_irqsave(&cq->lock, flags);
	for (n = vib_queue_len(&cq->queue); n; n--) {
		wc = *(struct ib_wc *)vib_queue_peek(&cq->queue, NULL);
		vib_queue_pop(&cq->queue);
		if (wc.qp == qp)
			continue;
		*(struct ib_wc *)vib_queue_slot(&cq->queue, NULL) = wc;
		vib_queue_push(&cq->queue);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

const struct ib_device_ops vib_cq_ops = {
	.create_cq		= vib_create_cq,
	.destroy_cq		= vib_destroy_cq,
	.resize_cq		= vib_resize_cq,
	.poll_cq		= vib_poll_cq,
	.req_notify_cq		= vib_req_notify_cq,
	.get_vector_affinity	= cq_vector_affinity,
	INIT_RDMA_OBJ_SIZE(ib_cq, vib_cq, ib),
};
