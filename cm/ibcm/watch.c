// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Established without the RTU (IBA vol. 1, 12.9.7.2): what the peer has sent on
 * the passive side's QP proves that it has the REP.  An id that accepts watches
 * its QP (core/qp/qp_watch.c) from before the REP leaves until its consumer was told
 * of an outcome, or it is destroyed.
 *
 * Much of the proof is brought: the provider's COMM_EST, a receive on a CQ that
 * core polls.  Where nothing is, as with the queues of processes or a peer that
 * only writes, the QP's expected PSN tells, if it is asked for.  It is, where it
 * changes what is done next: before the REP is sent again or given up, and before
 * the consumer ends what it has not been told is established.  Asking takes the
 * provider a command, so where it is of no use nothing is asked.
 *
 * A REP that is not answered in time is given back by the MAD layer in the work of
 * the port's agent, which serves all connections and waits for no provider: the
 * message waits in a work item of its own, with the reference that was the MAD
 * layer's.  Until that has run the message is neither out nor free.
 *
 * Why no reference on the id remains:
 * (1) The watch calls it under the watch's lock, which ib_cm_unwatch_qp() takes:
 *     the id's destruction calls that before it drops the owner's reference.
 * (2) A probe holds the watch, not the id.  Who probes has a reference on the id
 *     (a message's, in the work item) or is the owner.
 */
#include <linux/export.h>
#include <ibex/cm.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

static const u8 ibcm_proof_stats[] = {
	[IBCORE_QP_COMM_EST]	= IBCM_STAT_EST_BY_COMM_EST,
	[IBCORE_QP_RECEIVED]	= IBCM_STAT_EST_BY_RECEIVED,
	[IBCORE_QP_PSN]		= IBCM_STAT_EST_BY_PSN,
};

/*
 * @proof shows that the peer has the REP: emulates the RTU.  The consumer is told
 * IB_CM_USER_ESTABLISHED, once and before anything that follows, from the id's
 * work.  The RTU itself is then a duplicate.  Any context, hard interrupt included.
 *
 * Return: 0; -EISCONN if the connection was established already; -EINVAL in any
 * other state.
 */
int ibcm_establish(struct ibcm_id *id, enum ibcore_qp_proof proof)
{
	struct ibcm_todo todo;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&id->lock, flags);
	if (id->av.port && proof == IBCORE_QP_COMM_EST)
		ibcm_stat(id->av.port, IBCM_STAT_COMM_EST);
	if (ibcm_step(id, IBCM_COMM_EST, &todo)) {
		ibcm_stat(id->av.port, ibcm_proof_stats[proof]);
		ibcm_id_kick(id, IBCM_PEND_EST);
	} else {
		switch (todo.from) {
		case IB_CM_ESTABLISHED:
		case IB_CM_DREQ_SENT:
		case IB_CM_DREQ_RCVD:
			ret = -EISCONN;
			break;
		default:
			ret = -EINVAL;
			break;
		}
	}
	spin_unlock_irqrestore(&id->lock, flags);
	if (!ret && proof == IBCORE_QP_PSN)
		trace_icm_establish_psn(&id->id);
	else if (!ret)
		trace_icm_establish(&id->id);
	else if (ret == -EINVAL)
		trace_icm_establish_err(&id->id);
	return ret;
}

/* Of core's, with the watch's lock held; any context. */
static bool ibcm_data_arrived(void *context, enum ibcore_qp_proof proof)
{
	int ret = ibcm_establish(context, proof);

	/* Else the REP has not left yet, or the attempt has failed. */
	return !ret || ret == -EISCONN;
}

static int ibcm_watch_set(struct ibcm_id *id, struct ibcore_qp_watch *watch)
{
	if (IS_ERR(watch))
		return watch == ERR_PTR(-ENOMEM) ? -ENOMEM : 0;
	spin_lock_irq(&id->lock);
	id->watch = watch;
	spin_unlock_irq(&id->lock);
	return 0;
}

/**
 * ib_cm_watch_qp - have data on a QP establish the connection
 * @cm_id: An id that is about to send a REP.
 * @qp: Its QP, which the caller keeps from being destroyed meanwhile.
 *
 * Until ib_cm_unwatch_qp() or the id's destruction, the first thing that the peer
 * sends counts as its RTU, however it shows (Documentation/established.rst).  A QP
 * that another id waits on is not watched: the RTU alone establishes that
 * connection.  A watch that the id had before ends.
 *
 * Context: May sleep.
 *
 * Return: 0; -ENOMEM.
 */
int ib_cm_watch_qp(struct ib_cm_id *cm_id, struct ib_qp *qp)
{
	struct ibcm_id *id = to_ibcm(cm_id);

	ib_cm_unwatch_qp(cm_id);
	return ibcm_watch_set(id, ibcore_qp_watch(qp, ibcm_data_arrived, id));
}
EXPORT_SYMBOL(ib_cm_watch_qp);

/**
 * ib_cm_watch_qp_num - have data on a QP that is named establish the connection
 * @cm_id: An id that is about to send a REP.
 * @qp_num: The QP's number.
 * @user: It is the current process's; else the kernel's.
 *
 * As ib_cm_watch_qp().  Where there is no such QP none is watched.
 *
 * Context: May sleep.
 *
 * Return: 0; -ENOMEM.
 */
int ib_cm_watch_qp_num(struct ib_cm_id *cm_id, u32 qp_num, bool user)
{
	struct ibcm_id *id = to_ibcm(cm_id);

	ib_cm_unwatch_qp(cm_id);
	return ibcm_watch_set(id, ibcore_qp_watch_num(cm_id->device, qp_num,
						      user, ibcm_data_arrived,
						      id));
}
EXPORT_SYMBOL(ib_cm_watch_qp_num);

/**
 * ib_cm_unwatch_qp - the outcome is known
 * @cm_id: An id, whose QP may be watched.
 *
 * The QP may then be another connection's.
 *
 * Context: May sleep.
 */
void ib_cm_unwatch_qp(struct ib_cm_id *cm_id)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcore_qp_watch *watch;

	/* Its lock is taken outside of ours. */
	spin_lock_irq(&id->lock);
	watch = id->watch;
	id->watch = NULL;
	spin_unlock_irq(&id->lock);
	if (watch)
		ibcore_qp_unwatch(watch);
}
EXPORT_SYMBOL(ib_cm_unwatch_qp);

/* Lock held: the RTU is awaited, and the PSN can tell what it does not. */
static bool ibcm_probe_helps(const struct ibcm_id *id)
{
	lockdep_assert_held(&id->lock);
	return id->watch && ibcore_qp_can_probe(id->watch) &&
	       ibcm_step_of(id->id.state, IBCM_COMM_EST);
}

/*
 * While the RTU is awaited: whether the PSN shows that the peer has sent something,
 * which has established the connection then.  @again: if not, it is asked again.
 * Sleeps as long as the provider does.
 */
bool ibcm_probe(struct ibcm_id *id, bool again)
{
	struct ibcore_qp_watch *watch = NULL;
	bool moved;

	spin_lock_irq(&id->lock);
	if (ibcm_probe_helps(id)) {
		watch = id->watch;
		ibcore_qp_watch_hold(watch);
		ibcm_stat(id->av.port, IBCM_STAT_PSN_PROBES);
	}
	spin_unlock_irq(&id->lock);
	if (!watch)
		return false;
	moved = ibcore_qp_probe(watch, again);
	ibcore_qp_watch_put(watch);
	return moved;
}

void ibcm_rep_look_work(struct work_struct *work)
{
	struct ibcm_msg *msg = container_of(work, struct ibcm_msg, look);

	/* Of one that is established now, the id's work takes what is left. */
	if (ibcm_probe(msg->id, true) || !ibcm_rep_unanswered(msg))
		ibcm_msg_put(msg);
}

/*
 * In the send handler: @msg, the REP, was not answered in time.  True if its work
 * looks at the PSN and goes on from there; the MAD layer's reference is the work's
 * then.  It is not queued already: that takes the same reference.
 */
bool ibcm_rep_look(struct ibcm_msg *msg)
{
	struct ibcm_id *id = msg->id;
	unsigned long flags;
	bool look;

	spin_lock_irqsave(&id->lock, flags);
	look = id->msg == msg && ibcm_probe_helps(id);
	if (look)
		queue_work(ibcm_wq, &msg->look);
	spin_unlock_irqrestore(&id->lock, flags);
	return look;
}
