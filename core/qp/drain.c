// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Draining a QP: afterwards no posted work request is in flight and every
 * completion has been delivered (IBA vol. 1, 10.3.1.5, 11.2.4.4).
 *
 * The QP is moved to Error, then a last work request is posted; queues complete
 * in order, so its completion is delivered after all others.  A completion that
 * never arrives does not hang the caller: after DRAIN_TIMEOUT the QP is reset,
 * which drops its remaining requests, and the loss is logged.
 */
#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <trace/events/rdma_core.h>

#include "device/device.h"
#include "qp/qp.h"

#define DRAIN_TIMEOUT		(60 * HZ)
#define DRAIN_POLL_INTERVAL	(HZ / 10)	/* direct-polled CQs */

struct drain {
	struct ib_cqe cqe;
	struct completion done;
	refcount_t ref;		/* one of the waiter, one of the work request */
};

static void drain_put(struct drain *drain)
{
	if (refcount_dec_and_test(&drain->ref))
		kfree(drain);
}

static void drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct drain *drain = container_of(wc->wr_cqe, struct drain, cqe);

	complete(&drain->done);
	drain_put(drain);
}

/* Not on the waiter's stack: if the completion is lost, @drain outlives the waiter. */
static struct drain *drain_alloc(void)
{
	struct drain *drain;

	drain = kmalloc(sizeof(*drain), GFP_KERNEL | __GFP_NOFAIL);
	drain->cqe.done = drain_done;
	init_completion(&drain->done);
	refcount_set(&drain->ref, 2);
	return drain;
}

/*
 * Whether the QP was reset, because its other queue did not drain.  Then this
 * queue is empty, too.
 */
static bool drain_was_reset(struct ib_qp *qp)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return !ib_query_qp(qp, &attr, IB_QP_STATE, &init) &&
	       attr.qp_state == IB_QPS_RESET;
}

static int drain_to_error(struct ib_qp *qp, const char *which)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret = ib_modify_qp(qp, &attr, IB_QP_STATE);

	WARN_ONCE(ret && !drain_was_reset(qp),
		  "cannot drain %s queue: to Error state: %d\n", which, ret);
	return ret;
}

static int drain_reset(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static void drain_give_up(struct ib_qp *qp, const char *which)
{
	ibdev_err(qp->device,
		  "QP %#x: %s queue did not drain; reset it (%d)\n",
		  qp->qp_num, which, drain_reset(qp));
}

/*
 * Whether the waiter must poll the CQ itself: because it is a directly polled
 * CQ, or because the drain was called from a done method of this CQ, which is
 * not polled until that method returns.
 */
static bool drain_must_poll(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_DIRECT)
		return true;
	return cq->wc && cq->comp_wq &&
	       WARN_ONCE(current_work() == &cq->work,
			 "drain called from a completion of CQ %u\n",
			 cq->res.id);
}

static bool drain_wait(struct drain *drain, struct ib_cq *cq)
{
	unsigned long end = jiffies + DRAIN_TIMEOUT;

	if (!drain_must_poll(cq))
		return wait_for_completion_timeout(&drain->done, DRAIN_TIMEOUT);

	do {
		ib_process_cq_direct(cq, -1);
		if (wait_for_completion_timeout(&drain->done,
						DRAIN_POLL_INTERVAL))
			return true;
	} while (time_before(jiffies, end));
	return false;
}

/* Processes what the provider has completed until now. */
static void drain_poll(struct ib_cq *cq)
{
	if (drain_must_poll(cq))
		ib_process_cq_direct(cq, -1);
	else
		ibcore_cq_flush(cq);
}

static int drain_post_send(struct ib_qp *qp, struct drain *drain)
{
	/* The opcode does not matter in Error state, but must be a valid one. */
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &drain->cqe,
			.opcode = IB_WR_RDMA_WRITE,
		},
	};

	return ib_post_send(qp, &wr.wr, NULL);
}

static int drain_post_recv(struct ib_qp *qp, struct drain *drain)
{
	struct ib_recv_wr wr = { .wr_cqe = &drain->cqe };

	return ib_post_recv(qp, &wr, NULL);
}

static void drain_generic(struct ib_qp *qp, struct ib_cq *cq, const char *which,
			  int (*post)(struct ib_qp *qp, struct drain *drain))
{
	struct drain *drain;
	int ret;

	if (drain_to_error(qp, which))
		return;

	drain = drain_alloc();
	ret = post(qp, drain);
	if (ret) {
		/*
		 * ocrdma accepts no work requests in Error, so the last one
		 * cannot be posted.  It has flushed both queues: poll the
		 * flushed completions, then reset the QP, after which nothing
		 * completes.
		 */
		kfree(drain);
		drain_poll(qp->send_cq);
		drain_poll(qp->recv_cq);
		ret = drain_reset(qp);
		WARN_ONCE(ret, "cannot drain %s queue: reset: %d\n", which, ret);
		return;
	}
	if (!drain_wait(drain, cq))
		drain_give_up(qp, which);
	drain_put(drain);
}

/* Drains one queue of a QP, by the provider's method @op if there is one. */
static void drain_queue(struct ib_qp *qp, void (*op)(struct ib_qp *qp),
			struct ib_cq *cq, const char *which,
			int (*post)(struct ib_qp *qp, struct drain *drain))
{
	if (op)
		op(qp);
	else
		drain_generic(qp, cq, which, post);
	trace_cq_drain_complete(cq);
}

/**
 * ib_drain_sq() - drain a QP's send queue
 * @qp: QP on CQs that core polls, with room in queue and CQ for one more
 *	request.  No more requests may be posted to it
 *
 * The QP is in Error state afterwards, or in Reset if it did not drain.
 *
 * Context: process, may sleep; not from a done method of the CQ.
 */
void ib_drain_sq(struct ib_qp *qp)
{
	drain_queue(qp, qp->device->ops.drain_sq, qp->send_cq, "send",
		    drain_post_send);
}
EXPORT_SYMBOL(ib_drain_sq);

/**
 * ib_drain_rq() - drain a QP's receive queue
 * @qp: QP as for ib_drain_sq(), without an SRQ
 *
 * Context: process, may sleep; not from a done method of the CQ.
 */
void ib_drain_rq(struct ib_qp *qp)
{
	drain_queue(qp, qp->device->ops.drain_rq, qp->recv_cq, "receive",
		    drain_post_recv);
}
EXPORT_SYMBOL(ib_drain_rq);

/*
 * A last request cannot mark the end of a QP's receives from an SRQ.  The
 * provider reports when the QP has taken its last one (IBA vol. 1, 10.2.9.3 and
 * 11.6.3.1, Last WQE Reached); what completed until then is in the CQ.
 */
static void drain_srq(struct ib_qp *qp)
{
	if (drain_to_error(qp, "shared receive"))
		return;
	if (!wait_for_completion_timeout(ibex_qp_srq_completion(qp), DRAIN_TIMEOUT))
		drain_give_up(qp, "shared receive");
	drain_poll(qp->recv_cq);
	trace_cq_drain_complete(qp->recv_cq);
}

/**
 * ib_drain_qp() - drain a QP's queues
 * @qp: QP as for ib_drain_sq()
 *
 * If the QP has an SRQ, this drains the receives that the QP took from it.
 *
 * Context: process, may sleep; not from a done method of its CQs.
 */
void ib_drain_qp(struct ib_qp *qp)
{
	ib_drain_sq(qp);
	if (qp->srq)
		drain_srq(qp);
	else
		ib_drain_rq(qp);
}
EXPORT_SYMBOL(ib_drain_qp);
