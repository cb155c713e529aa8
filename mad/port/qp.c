// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * QP0 and QP1 of a port: creation, transition to RTS, recovery, destruction.
 *
 * Recovery runs from a work item of the QP and first queries the QP's state.  From SQE
 * it goes back to RTS, and sending continues.  From any other state but RTS it goes
 * through ERR, RESET, INIT and RTR to RTS.  Flushed sends are posted again unless the
 * error was fatal (an asynchronous QP error, or a recovery that failed): then all
 * queued sends are completed to their agents as flushed.
 *
 * Not every QP is like a new one after RESET.  The GSI QP of mlx5 consists of one QP
 * that receives and several that send, and its state is that of the first: the others
 * keep their work requests, and their errors.  The GSI QP of qedr only records its
 * state: it flushes nothing in ERR, and keeps its receives in RESET.  So a QP is
 * destroyed and created again if it cannot be reset, if it has not completed all of its
 * work requests in ERR, if it flushes them although it reports RTS, or if it cannot be
 * started after RESET (irdma reports that it has reset a QP and leaves it in error).
 * The CQ is destroyed with the QP, since qedr makes it unfit for another QP.  Clients
 * notice none of this: the QP they see (ibmad_qp.pub) always exists.
 *
 * With a provider that creates the QP only once (qp_made_once()), RESET suffices in all
 * these cases, and the QP is destroyed only at removal.
 *
 * A QP that cannot be recovered is dead, and sends posted to it fail.  If memory was
 * lacking, it is created or started again when there is memory.  A QP that the provider
 * refuses to destroy twice (bnxt_re passes on the firmware's error), or to reset,
 * remains, with the receives that are posted to it.
 */
#include <linux/kmemleak.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "port/port.h"
#include "smi/smi.h"

static int qp_to_init(struct ibmad_qp *mqp)
{
	struct ibmad_port *port = mqp->port;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.qkey = mqp->qp->qp_type == IB_QPT_GSI ? IB_QP1_QKEY : 0,
	};

	/*
	 * On QP1 each work request gives its P_Key; this is for anything that gives
	 * none.
	 */
	if (mqp->qp->qp_type == IB_QPT_GSI &&
	    ib_find_pkey(port->device, port->port_num, IB_DEFAULT_PKEY_FULL,
			 &attr.pkey_index))
		attr.pkey_index = 0;
	return ib_modify_qp(mqp->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_QKEY);
}

static int qp_to_state(struct ibmad_qp *mqp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask = IB_QP_STATE;

	if (state == IB_QPS_RTS)
		mask |= IB_QP_SQ_PSN;
	return ib_modify_qp(mqp->qp, &attr, mask);
}

/* Brings a new or reset QP to RTS, posts receives and starts sending. */
static int qp_start(struct ibmad_qp *mqp)
{
	int ret;

	ret = qp_to_init(mqp);
	if (!ret)
		ret = qp_to_state(mqp, IB_QPS_RTR);
	if (!ret)
		ret = qp_to_state(mqp, IB_QPS_RTS);
	/* The GSI QP of qedr takes no receives before RTS; other QPs do from INIT on. */
	if (!ret)
		ret = ibmad_recvq_open(mqp);
	if (!ret)
		ibmad_sendq_open(mqp);
	return ret;
}

/* Polls the CQ and arms it, even if a completion event was lost. */
static void qp_poll(struct ibmad_qp *mqp)
{
	queue_work(mqp->cq->comp_wq, &mqp->cq->work);
	flush_work(&mqp->cq->work);
}

/* Providers call this from any context, hard interrupt included. */
static void qp_event(struct ib_event *event, void *context)
{
	struct ibmad_qp *mqp = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		set_bit(IBMAD_QP_FATAL, &mqp->flags);
		ibmad_qp_recover(mqp);
		break;
	default:
		break;
	}
}

static int qp_make(struct ibmad_qp *mqp)
{
	struct ibmad_port *port = mqp->port;
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = mqp,
		.qp_type = mqp->pub.qp_type,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.port_num = port->port_num,
		.cap = {
			.max_send_wr = ibmad_send_depth,
			.max_recv_wr = ibmad_recv_depth,
			.max_send_sge = IBMAD_SEND_SGE,
			.max_recv_sge = 1,
		},
	};
	struct ib_cq *cq;
	struct ib_qp *qp;

	/*
	 * The rings of qedr's GSI QP wrap at exactly these numbers, and it takes a ring
	 * in which all work requests are complete for one in which none is.
	 */
	if (port->device->ops.driver_id == RDMA_DRIVER_QEDR) {
		attr.cap.max_send_wr++;
		attr.cap.max_recv_wr++;
	}
	/*
	 * Poll from a work item, not from softirq, since process_mad may sleep; on any
	 * CPU, since a MAD that keeps the port up must not wait behind the interrupts
	 * of one (see also ibmad_init()).  One CQ for both queues: qedr polls both
	 * queues of its GSI QP together, with no lock that two pollers would share.
	 * Each QP has its own CQ, so that SMPs do not wait for MADs on QP1.
	 */
	cq = ib_alloc_cq(port->device, mqp, ibmad_send_depth + ibmad_recv_depth,
			 0, IB_POLL_UNBOUND_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = ib_create_qp(port->pd, &attr);
	if (IS_ERR(qp)) {
		ib_free_cq(cq);
		return PTR_ERR(qp);
	}
	mqp->cq = cq;
	mqp->qp = qp;
	mqp->pub.qp_num = qp->qp_num;
	return 0;
}

struct qp_fence {
	struct work_struct work;
	struct completion passed;
};

static void qp_fence_work(struct work_struct *work)
{
	complete(&container_of(work, struct qp_fence, work)->passed);
}

/*
 * mlx5 makes the completions of QP1's sends itself, and calls the CQ's handler from a
 * work item in system_wq, which neither destroy_qp nor destroy_cq waits for.  It is not
 * queued again after destroy_qp, but may still be pending.  Each CPU starts such items
 * in order, and starts none while one runs that does not sleep, as this one: wait for an
 * item behind it.  A flush of system_wq would wait for items that may need this QP.
 */
static void qp_await_notices(struct ibmad_qp *mqp)
{
	struct qp_fence fence;
	int cpu;

	if (mqp->port->device->ops.driver_id != RDMA_DRIVER_MLX5 ||
	    mqp->pub.qp_type != IB_QPT_GSI)
		return;
	for_each_online_cpu(cpu) {
		/* Anew for each CPU: an item is queued where it may still be running. */
		INIT_WORK_ONSTACK(&fence.work, qp_fence_work);
		init_completion(&fence.passed);
		queue_work_on(cpu, system_wq, &fence.work);
		wait_for_completion(&fence.passed);
		destroy_work_on_stack(&fence.work);
	}
}

static void qp_kill(struct ibmad_qp *mqp)
{
	spin_lock_irq(&mqp->send_lock);
	mqp->state = IBMAD_QP_DEAD;
	spin_unlock_irq(&mqp->send_lock);
}

/*
 * Destroys the QP and its CQ; of the work that they caused only recovery may still run.
 * If the provider refuses, they remain, and the QP is dead.
 *
 * The CQ is no longer polled before the QP is destroyed: qedr accesses its GSI QP in
 * each poll, even after it was freed; and if the QP remains, none of its completions
 * may find a slot that has been freed.
 */
static void qp_unmake(struct ibmad_qp *mqp)
{
	int ret;

	disable_work_sync(&mqp->cq->work);
	ret = ib_destroy_qp(mqp->qp);
	if (ret) {
		dev_err(&mqp->port->device->dev, "port %u: QP%td stays: %d\n",
			mqp->port->port_num, mqp - mqp->port->qp, ret);
		mqp->stays = true;
		qp_kill(mqp);
		return;
	}
	mqp->stays = false;
	mqp->qp = NULL;
	qp_await_notices(mqp);
	ib_free_cq(mqp->cq);
	mqp->cq = NULL;
}

static bool qp_is_dead(const struct ibmad_qp *mqp)
{
	return READ_ONCE(mqp->state) == IBMAD_QP_DEAD;
}

/*
 * Whether no work request is outstanding.  Receives of a dead QP do not count: they end
 * when it is destroyed.
 */
static bool qp_is_idle(const struct ibmad_qp *mqp)
{
	return !READ_ONCE(mqp->inflight) &&
	       (!READ_ONCE(mqp->recv_posted) || qp_is_dead(mqp));
}

/*
 * Whether the provider creates the QP only once while the device exists: ocrdma and
 * rdma_rxe QP1, drivers of rdmavt each QP of a port.
 */
static bool qp_made_once(const struct ibmad_qp *mqp)
{
	switch (mqp->port->device->ops.driver_id) {
	case RDMA_DRIVER_OCRDMA:
	case RDMA_DRIVER_HFI1:
	case RDMA_DRIVER_QIB:
	case RDMA_DRIVER_RXE:
		return true;
	default:
		return false;
	}
}

/*
 * Whether RESET makes the QP like a new one.  At RESET bnxt_re restarts its rings but
 * keeps its records of the work requests on them: it would complete old ones.
 */
static bool qp_is_resettable(const struct ibmad_qp *mqp)
{
	return !qp_is_dead(mqp) && qp_is_idle(mqp) &&
	       mqp->port->device->ops.driver_id != RDMA_DRIVER_BNXT_RE;
}

/*
 * Ends all work requests of the QP: resets it, or destroys it if it is dead or @sick or
 * if RESET does not suffice.  If it is still there afterwards and was reset, its CQ is
 * empty.
 */
static void qp_end(struct ibmad_qp *mqp, bool sick)
{
	bool keep = qp_made_once(mqp) && !mqp->gone;

	if (keep || (!sick && qp_is_resettable(mqp))) {
		mqp->stays = qp_to_state(mqp, IB_QPS_RESET);
		if (!mqp->stays)
			qp_poll(mqp);
		if (keep || !mqp->stays)
			return;
	}
	qp_unmake(mqp);
}

/*
 * Stops the QP, and resets or destroys it (see qp_end()).  On return the provider writes
 * to no receive buffer, and no slot is in use: work requests that did not complete
 * within IBMAD_FLUSH_MS are taken back (but not the receives of a QP that could not be
 * reset or destroyed: their buffers stay posted).  The CQ is polled after RESET so that
 * late completions are not taken for those of work requests posted to the same slots
 * next.
 *
 * Sends are completed as flushed if the QP is dead or its error was fatal, else posted
 * again.
 */
static void qp_stop(struct ibmad_qp *mqp, bool sick)
{
	bool fatal;
	int ret;

	lockdep_assert_held(&mqp->reset_mutex);
	ibmad_sendq_hold(mqp);
	ibmad_recvq_close(mqp);
	if (mqp->qp) {
		ret = qp_to_state(mqp, IB_QPS_ERR);
		qp_poll(mqp);
		if (!ret)
			wait_event_timeout(mqp->idle, qp_is_idle(mqp),
					   msecs_to_jiffies(IBMAD_FLUSH_MS));
		qp_end(mqp, sick);
	}
	if (!mqp->stays)
		ibmad_recvq_reclaim(mqp);
	/* An event from here on concerns the QP that is started next. */
	clear_bit(IBMAD_QP_SICK, &mqp->flags);
	fatal = test_and_clear_bit(IBMAD_QP_FATAL, &mqp->flags);
	ibmad_sendq_reclaim(mqp, fatal || qp_is_dead(mqp));
}

/* Does not wait for I/O, which may need connections that need this QP. */
static int qp_revive(struct ibmad_qp *mqp)
{
	unsigned int noio = memalloc_noio_save();
	int ret = 0;

	if (qp_is_dead(mqp) || mqp->stays)
		ret = -EIO;
	else if (!mqp->qp)
		ret = qp_make(mqp);
	if (!ret)
		ret = qp_start(mqp);
	memalloc_noio_restore(noio);
	return ret;
}

/*
 * The QP could not be revived, with error @why.  If memory was lacking, or if the
 * provider at first refused to destroy or reset the old QP but has done it now, that is
 * tried again later, at growing intervals; only the first such failure is logged.
 */
static void qp_lose(struct ibmad_qp *mqp, int why)
{
	bool known = mqp->lacking, stayed = mqp->stays;

	lockdep_assert_held(&mqp->reset_mutex);
	qp_kill(mqp);
	qp_stop(mqp, false);
	mqp->lacking = (why == -ENOMEM || stayed) && !mqp->stays;
	if (mqp->lacking) {
		mqp->remake_ms = known ? min(2 * mqp->remake_ms, IBMAD_REMAKE_MAX_MS) :
					 IBMAD_REMAKE_MS;
		queue_delayed_work(ibmad_wq, &mqp->remake_work,
				   msecs_to_jiffies(mqp->remake_ms));
	}
	if (!known || !mqp->lacking)
		ibdev_err(mqp->port->device,
			  "port %u: QP%td lost, no MADs until %s: %d\n",
			  mqp->port->port_num, mqp - mqp->port->qp,
			  mqp->lacking ? "it is made anew" : "the device returns", why);
}

static void qp_restart(struct ibmad_qp *mqp, bool sick)
{
	bool same;
	int ret;

	lockdep_assert_held(&mqp->reset_mutex);
	if (qp_is_dead(mqp))
		return;
	ibmad_count(mqp->port, IBMAD_QP_RESETS);
	qp_stop(mqp, sick);
	same = mqp->qp && !qp_is_dead(mqp);
	ret = qp_revive(mqp);
	/* The provider may only have recorded RESET: then the next transition fails. */
	if (ret && same) {
		qp_stop(mqp, true);
		ret = qp_revive(mqp);
	}
	if (ret)
		qp_lose(mqp, ret);
}

/*
 * Creates or starts the QP again, which qp_lose() destroyed or reset.  Sends collect
 * until that succeeds or fails.
 */
static void qp_remake(struct ibmad_qp *mqp)
{
	int ret;

	lockdep_assert_held(&mqp->reset_mutex);
	/* Flags set meanwhile do not concern the QP that is created now. */
	clear_bit(IBMAD_QP_SICK, &mqp->flags);
	clear_bit(IBMAD_QP_FATAL, &mqp->flags);
	spin_lock_irq(&mqp->send_lock);
	mqp->state = IBMAD_QP_HELD;
	spin_unlock_irq(&mqp->send_lock);
	ret = qp_revive(mqp);
	if (ret) {
		qp_lose(mqp, ret);
		return;
	}
	mqp->lacking = false;
	ibdev_info(mqp->port->device, "port %u: QP%td is back\n",
		   mqp->port->port_num, mqp - mqp->port->qp);
}

static void qp_remake_work(struct work_struct *work)
{
	struct ibmad_qp *mqp = container_of(to_delayed_work(work),
					    struct ibmad_qp, remake_work);

	mutex_lock(&mqp->reset_mutex);
	if (!mqp->gone)
		qp_remake(mqp);
	mutex_unlock(&mqp->reset_mutex);
}

/* A failed send put the send queue into SQE; nothing else is wrong: back to RTS. */
static bool qp_recover_sqe(struct ibmad_qp *mqp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.cur_qp_state = IB_QPS_SQE,
	};

	return !ib_modify_qp(mqp->qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE);
}

static void qp_recover_locked(struct ibmad_qp *mqp)
{
	struct ib_qp_init_attr init_attr;
	struct ib_qp_attr attr;
	bool sick;

	if (qp_is_dead(mqp))
		return;
	sick = test_and_clear_bit(IBMAD_QP_SICK, &mqp->flags);
	if (test_bit(IBMAD_QP_FATAL, &mqp->flags) ||
	    ib_query_qp(mqp->qp, &attr, IB_QP_STATE, &init_attr)) {
		qp_restart(mqp, false);
		return;
	}
	sick = sick && attr.qp_state == IB_QPS_RTS;
	if (((attr.qp_state == IB_QPS_RTS && !sick) ||
	     (attr.qp_state == IB_QPS_SQE && qp_recover_sqe(mqp))) &&
	    !ibmad_recvq_open(mqp))
		ibmad_sendq_open(mqp);
	else
		qp_restart(mqp, sick);
}

static void qp_recover_work(struct work_struct *work)
{
	struct ibmad_qp *mqp = container_of(work, struct ibmad_qp, recover_work);

	mutex_lock(&mqp->reset_mutex);
	if (!mqp->gone)
		qp_recover_locked(mqp);
	mutex_unlock(&mqp->reset_mutex);
}

void ibmad_qp_recover(struct ibmad_qp *mqp)
{
	queue_work(ibmad_wq, &mqp->recover_work);
}

/*
 * If the oldest send has been on the QP for @ms, its completion was lost or the event
 * for it.  So the CQ is polled first: a reset completes every queued send to its agent
 * as flushed, and on mlx4 and mthca that of QP0 closes the port.
 */
void ibmad_qp_unstick(struct ibmad_qp *mqp, unsigned int ms)
{
	struct ibmad_stuck oldest;
	bool reset;

	mutex_lock(&mqp->reset_mutex);
	if (!mqp->gone && ibmad_sendq_waited(mqp, ms, &oldest)) {
		qp_poll(mqp);
		reset = ibmad_sendq_waited(mqp, ms, &oldest);
		dev_warn_ratelimited(&mqp->port->device->dev,
				     "port %u: send queue stalled, %s QP%td; %u sent, %u queued; oldest: class %#x method %#x attribute %#x TID %#llx, %u ms\n",
				     mqp->port->port_num,
				     reset ? "resetting" : "had to poll",
				     mqp - mqp->port->qp, oldest.posted, oldest.queued,
				     oldest.mgmt_class, oldest.method, oldest.attr_id,
				     oldest.tid, oldest.ms);
		if (reset) {
			set_bit(IBMAD_QP_FATAL, &mqp->flags);
			qp_restart(mqp, false);
		}
	}
	mutex_unlock(&mqp->reset_mutex);
}

static int qp_alloc_slots(struct ibmad_qp *mqp)
{
	unsigned int i;

	mqp->send_slots = kcalloc(ibmad_send_depth, sizeof(*mqp->send_slots),
				  GFP_KERNEL);
	mqp->recv_slots = kcalloc(ibmad_recv_depth, sizeof(*mqp->recv_slots),
				  GFP_KERNEL);
	mqp->scratch = kzalloc(mqp->port->mad_size, GFP_KERNEL);
	mqp->pool = ibmad_pool_create(mqp->port->mad_size, ibmad_recv_depth);
	if (!mqp->send_slots || !mqp->recv_slots || !mqp->scratch || !mqp->pool)
		return -ENOMEM;

	for (i = 0; i < ibmad_send_depth; i++) {
		mqp->send_slots[i].cqe.done = ibmad_sendq_done;
		mqp->send_slots[i].mqp = mqp;
	}
	for (i = 0; i < ibmad_recv_depth; i++) {
		mqp->recv_slots[i].cqe.done = ibmad_recv_done;
		mqp->recv_slots[i].mqp = mqp;
		INIT_LIST_HEAD(&mqp->recv_slots[i].unposted);
	}
	return 0;
}

static void qp_free_slots(struct ibmad_qp *mqp)
{
	unsigned int i;

	for (i = 0; mqp->recv_slots && i < ibmad_recv_depth; i++)
		if (mqp->recv_slots[i].recv)
			ibmad_recv_free(mqp->recv_slots[i].recv);
	if (mqp->pool)
		ibmad_pool_close(mqp->pool);
	kfree(mqp->scratch);
	kfree(mqp->recv_slots);
	kfree(mqp->send_slots);
}

static void qp_init(struct ibmad_qp *mqp, enum ib_qp_type type)
{
	int i;

	mqp->pub.device = mqp->port->device;
	mqp->pub.pd = mqp->port->pd;
	mqp->pub.port = mqp->port->port_num;
	mqp->pub.qp_type = type;
	mqp->pub.real_qp = &mqp->pub;
	init_waitqueue_head(&mqp->idle);
	spin_lock_init(&mqp->send_lock);
	spin_lock_init(&mqp->recv_lock);
	INIT_LIST_HEAD(&mqp->unposted);
	for (i = 0; i < IBMAD_NR_LANES; i++)
		INIT_LIST_HEAD(&mqp->lane[i]);
	INIT_DELAYED_WORK(&mqp->stall_work, ibmad_sendq_stall_work);
	mutex_init(&mqp->reset_mutex);
	INIT_WORK(&mqp->recover_work, qp_recover_work);
	INIT_DELAYED_WORK(&mqp->remake_work, qp_remake_work);
	init_llist_head(&mqp->local);
	INIT_WORK(&mqp->local_work, ibmad_local_work);
	hash_init(mqp->classes);
}

int ibmad_qp_create(struct ibmad_port *port, struct ibmad_qp *mqp,
		    enum ib_qp_type type)
{
	int ret;

	mqp->port = port;
	qp_init(mqp, type);
	ret = qp_alloc_slots(mqp);
	if (ret) {
		qp_free_slots(mqp);
		mqp->pub.device = NULL;
		return ret;
	}
	/*
	 * The provider may raise events while it creates the QP; recovery waits for the
	 * mutex.
	 */
	mutex_lock(&mqp->reset_mutex);
	ret = qp_make(mqp);
	if (!ret)
		ret = ibmad_local_init(mqp);
	if (!ret)
		ret = qp_start(mqp);
	/* Recovery that waited for the mutex must not bring up what is to be destroyed. */
	mqp->gone = ret;
	mutex_unlock(&mqp->reset_mutex);
	if (ret)
		ibmad_qp_destroy(mqp);
	return ret;
}

/*
 * The provider refused to destroy the QP during removal as well.  The hardware may
 * write to the receive buffers as long as it runs, so they are never freed, nor what
 * they need: their mappings, QP, CQ and PD, and the port, which has the pointers to all
 * of it.
 */
static void qp_keep(struct ibmad_qp *mqp)
{
	struct ibmad_port *port = mqp->port;

	lockdep_assert_held(&mqp->reset_mutex);
	/* No event may call this module any more: it may be unloaded. */
	WRITE_ONCE(ibex_qp_handler(mqp->qp), NULL);
	port->kept = true;
	kref_get(&port->kref);
	kmemleak_not_leak(port);
	dev_err(&port->device->dev,
		"port %u: QP%td is kept for ever, with %u receive buffers\n",
		port->port_num, mqp - port->qp, mqp->recv_posted);
}

/*
 * Why no code runs for the QP afterwards:
 * (1) gone keeps recovery from creating the QP again, and IBMAD_QP_DEAD, which only
 *     recovery could clear, keeps sends from being queued; qp_stop() has flushed or
 *     taken back all work requests and completed all queued sends.
 * (2) qp_stop() has ended the CQ's work, which ran the receive path, process_mad
 *     included, destroyed the QP, which raises no event and no completion then, and
 *     freed the CQ.
 * (3) Recovery re-arms itself only while gone is not set, stall work only while the QP
 *     is not dead; both are cancelled here.
 * (4) No local send is outstanding, since each holds a reference on its agent and the
 *     agents were detached before; replies are waited for, and none is started after
 *     (2); the responder's sends were completed by (1), so its deregistration returns.
 *
 * A QP that the provider refuses to destroy raises no event either, and its CQ is not
 * polled: see qp_unmake() and qp_keep().
 */
void ibmad_qp_destroy(struct ibmad_qp *mqp)
{
	if (!ibmad_qp_exists(mqp))
		return;

	mutex_lock(&mqp->reset_mutex);
	mqp->gone = true;
	qp_kill(mqp);
	qp_stop(mqp, false);
	if (mqp->stays)
		qp_keep(mqp);
	mutex_unlock(&mqp->reset_mutex);

	cancel_work_sync(&mqp->recover_work);
	cancel_delayed_work_sync(&mqp->remake_work);
	cancel_delayed_work_sync(&mqp->stall_work);
	flush_work(&mqp->local_work);
	ibmad_local_exit(mqp);
	if (!mqp->qp) {
		qp_free_slots(mqp);
		mutex_destroy(&mqp->reset_mutex);
	}
	mqp->pub.device = NULL;
}
