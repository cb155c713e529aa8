// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections established without the RTU (IBA vol. 1, 12.9.7.2): anything that the
 * peer has sent to the passive side's QP proves that the peer has the REP.  An accepting
 * id watches its QP (core/qp/qp_watch.c) from before the REP is sent until its consumer
 * was notified of the outcome, or the id is destroyed.
 *
 * Two kinds of proof are reported: the provider's COMM_EST event, and a receive
 * completion on a CQ that ib_core polls.  There may be neither, for example if a process
 * polls the CQ or the peer only writes by RDMA; then the CM must query the QP's expected
 * PSN (a probe).  It does so when the result changes what it does next: before the REP is
 * resent or given up, and before the consumer ends a connection that was not reported as
 * established.  A probe takes the provider a command, so none is made where it cannot
 * help.
 *
 * When a REP is not answered in time, the MAD layer calls the send handler in the work of
 * the port's agent or completion queue, which serves all connections and must not wait for
 * a provider.
 * So the REP's own work item makes the probe, with the message reference that was the
 * MAD layer's.  Until that work has run, the message is neither outstanding nor freed.
 *
 * Of an established connection with an alternate path the RDMA CM has the QP's migrations
 * watched: CM messages then take the path that data take.
 *
 * Why no reference on the id remains:
 * (1) The watch calls ibcm_data_arrived() or ibcm_qp_migrated() with the id under the
 *     watch's lock, which ib_cm_unwatch_qp() takes: the id's destruction calls
 *     ib_cm_unwatch_qp() before it drops the owner's reference.
 * (2) A probe holds the watch, not the id.  The caller of ibcm_probe() has a reference
 *     on the id (in the work item, that of the message) or is its owner.
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
 * @proof shows that the peer has the REP: does what the RTU would do.  The id's work
 * reports IB_CM_USER_ESTABLISHED to the consumer, once and before any later event.  The
 * RTU itself is then a duplicate.  Any context, hard interrupt included.
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

/* Called by ib_core with the watch's lock held; any context. */
static bool ibcm_data_arrived(void *context, enum ibcore_qp_proof proof)
{
	int ret;

	if (proof == IBCORE_QP_MIGRATED)
		return false;
	ret = ibcm_establish(context, proof);
	/* Otherwise the REP has not been sent yet, or the attempt has failed. */
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
 * @qp: Its QP.  The caller ensures that the QP is not destroyed during the call.
 *
 * Until ib_cm_unwatch_qp() or the id's destruction, the first data that the peer sends
 * counts as its RTU, however it is detected (Documentation/established.rst).  If another
 * id already watches the QP, this one does not: only an RTU establishes its connection.
 * A watch that the id had before is ended.
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
 * ib_cm_watch_qp_num - have data on a QP, given its number, establish the connection
 * @cm_id: An id that is about to send a REP.
 * @qp_num: The QP's number.
 * @user: Whether the QP must belong to the current process; otherwise to the kernel.
 *
 * Like ib_cm_watch_qp().  If there is no such QP, none is watched.
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

/* Called like ibcm_data_arrived(). */
static bool ibcm_qp_migrated(void *context, enum ibcore_qp_proof proof)
{
	if (proof == IBCORE_QP_MIGRATED)
		ibcm_path_mig(context);
	return false;
}

/**
 * ib_cm_watch_migration - follow a connection's QP to its alternate path
 * @cm_id: The id of an established connection.
 * @qp: Its QP.  The caller ensures that the QP is not destroyed during the call.
 *
 * Until ib_cm_unwatch_qp() or the id's destruction, each IB_EVENT_PATH_MIG of the QP does
 * what ib_cm_notify() would do for it, which must not be called for that event then.  A
 * watch that the id had before is ended.
 *
 * Context: May sleep.
 *
 * Return: 0; -EEXIST if another id watches the QP; -ENOMEM.
 */
int ib_cm_watch_migration(struct ib_cm_id *cm_id, struct ib_qp *qp)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcore_qp_watch *watch;

	ib_cm_unwatch_qp(cm_id);
	watch = ibcore_qp_watch_migration(qp, ibcm_qp_migrated, id);
	if (IS_ERR(watch))
		return PTR_ERR(watch);
	return ibcm_watch_set(id, watch);
}
EXPORT_SYMBOL(ib_cm_watch_migration);

/**
 * ib_cm_unwatch_qp - end the watch of a connection's QP
 * @cm_id: An id that may watch a QP.
 *
 * Another id may watch the QP afterwards.
 *
 * Context: May sleep.
 */
void ib_cm_unwatch_qp(struct ib_cm_id *cm_id)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcore_qp_watch *watch;

	/* The watch's lock must be taken outside id->lock. */
	spin_lock_irq(&id->lock);
	watch = id->watch;
	id->watch = NULL;
	spin_unlock_irq(&id->lock);
	if (watch)
		ibcore_qp_unwatch(watch);
}
EXPORT_SYMBOL(ib_cm_unwatch_qp);

/* Whether the RTU is awaited and a probe may replace it.  Caller holds id->lock. */
static bool ibcm_probe_helps(const struct ibcm_id *id)
{
	lockdep_assert_held(&id->lock);
	return id->watch && ibcore_qp_can_probe(id->watch) &&
	       ibcm_step_of(id->id.state, IBCM_COMM_EST);
}

/*
 * If the RTU is awaited, queries the expected PSN of the watched QP.  Returns true if it
 * shows that the peer has sent data, which establishes the connection.  @again: the
 * caller will probe again if it does not.  Sleeps as long as the provider does.
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

	/* If the probe has established the connection, the id's work detaches the REP. */
	if (ibcm_probe(msg->id, true) || !ibcm_unanswered(msg))
		ibcm_msg_put(msg);
}

/*
 * Called by the send handler when @msg, the REP, was not answered in time.  Returns true
 * if the work of @msg probes the PSN and decides what to do next; the work then owns the
 * MAD layer's reference.  The work cannot be queued already, as it would own that same
 * reference.
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
