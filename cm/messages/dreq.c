// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* DREQ and DREP (IBA vol. 1, 12.6.10, 12.6.11) release a connection. */
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

static void ibcm_dreq_fill(struct ibcm_msg *msg, __be64 tid,
			   const void *private_data, u8 private_data_len)
{
	struct ibcm_id *id = msg->id;
	struct cm_dreq_msg *dreq = ibcm_msg_mad(msg, tid);

	IBA_SET(CM_DREQ_LOCAL_COMM_ID, dreq, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_DREQ_REMOTE_COMM_ID, dreq, be32_to_cpu(id->id.remote_id));
	IBA_SET(CM_DREQ_REMOTE_QPN_EECN, dreq, id->remote_qpn);
	if (private_data_len)
		IBA_SET_MEM(CM_DREQ_PRIVATE_DATA, dreq, private_data,
			    private_data_len);
}

/* ---- DREQs whose ids were destroyed ---- */

/*
 * Only a DREQ shows a peer that sends no data that the connection has ended.  So if an
 * id is destroyed before the DREP is received, its last DREQ is left to the timewait and
 * resent until it is answered or its retries are used up.  Each such DREQ may keep an
 * address handle in use, so a port has a bounded number of them and sends any other DREQ
 * only once.
 *
 * Returns whether one more DREQ may be left on @port, and counts it.
 */
static bool ibcm_dreq_count(struct ibcm_port *port)
{
	if (atomic_inc_return(&port->nr_left_dreqs) <= port->max_left_dreqs)
		return true;
	atomic_dec(&port->nr_left_dreqs);
	return false;
}

static struct ibcm_msg *ibcm_dreq_send_last(struct ibcm_id *id)
{
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_DREQ);
	bool again;

	if (IS_ERR(msg))
		return NULL;
	ibcm_dreq_fill(msg, ibcm_new_tid(msg), NULL, 0);
	again = ibcm_dreq_count(msg->port);
	if (again) {
		refcount_inc(&msg->ref);
		ibcm_msg_repeat(msg, ibcm_wait_ms(id, msg), 0);
	}
	trace_icm_send_dreq(&id->id);
	if (ibcm_msg_post(msg) && again) {
		atomic_dec(&msg->port->nr_left_dreqs);
		ibcm_msg_put(msg);
		again = false;
	}
	return again ? msg : NULL;
}

/*
 * Called when an id is destroyed.  Returns the outstanding DREQ, taken from @todo so
 * that it is not stopped; or a new DREQ, sent here, if the step calls for one; or NULL.
 * The DREQ has a reference and is counted, for ibcm_dreq_leave() or ibcm_dreq_stop().
 * May sleep.
 */
struct ibcm_msg *ibcm_dreq_last(struct ibcm_id *id, struct ibcm_todo *todo)
{
	struct ibcm_msg *msg = todo->stop;

	if (todo->step->reply == IBCM_REPLY_DREQ)
		return ibcm_dreq_send_last(id);
	if (!msg || msg->kind != IBCM_DREQ || !ibcm_dreq_count(msg->port))
		return NULL;
	todo->stop = NULL;
	return msg;
}

/* Leaves @msg to @peer, whose id is being destroyed; false if answered or given up. */
bool ibcm_dreq_leave(struct ibcm_id *id, struct ibcm_peer *peer,
		     struct ibcm_msg *msg)
{
	lockdep_assert_held(&id->lock);
	if (msg->over || id->released)
		return false;
	refcount_inc(&peer->ref);
	peer->dreq = msg;	/* ibcm_slot_peer() does not find the peer yet */
	msg->left = peer;
	return true;
}

/* Stops a DREQ that was not left to a peer; NULL allowed. */
void ibcm_dreq_stop(struct ibcm_msg *msg)
{
	if (!msg)
		return;
	atomic_dec(&msg->port->nr_left_dreqs);
	ibcm_msg_stop(msg);
}

/* The send handler was called for a DREQ that was left to a peer. */
void ibcm_dreq_done(struct ibcm_msg *msg)
{
	struct ibcm_peer *peer = msg->left;
	unsigned long flags;

	spin_lock_irqsave(&peer->lock, flags);
	peer->dreq = NULL;
	spin_unlock_irqrestore(&peer->lock, flags);
	atomic_dec(&msg->port->nr_left_dreqs);
	ibcm_msg_put(msg);
	ibcm_peer_put(peer);
}

/*
 * Called for a DREP for no id: if it answers a DREQ that was left to a peer, stops that
 * DREQ and returns true.  Any context.
 */
bool ibcm_dreq_answered(u32 local_id, __be32 remote_id)
{
	struct ibcm_msg *msg = NULL;
	struct ibcm_peer *peer;
	unsigned long flags;

	rcu_read_lock();
	peer = ibcm_slot_peer(local_id);
	if (peer && peer->comm.remote_id == remote_id) {
		spin_lock_irqsave(&peer->lock, flags);
		msg = peer->dreq;
		if (msg)
			refcount_inc(&msg->ref);
		spin_unlock_irqrestore(&peer->lock, flags);
	}
	rcu_read_unlock();
	if (!msg)
		return false;
	spin_lock_irqsave(&msg->id->lock, flags);
	ibcm_answered(msg->id, msg, IB_CM_DREQ_SENT);
	spin_unlock_irqrestore(&msg->id->lock, flags);
	ibcm_msg_stop(msg);
	return true;
}

/* ---- calls and messages ---- */

/*
 * No DREQ can be sent any more, as the source address or the device was removed.  The
 * connection ends like one whose DREQ is never answered.  The consumer learns of it by
 * the error that ib_send_cm_dreq() returns, and by IB_CM_TIMEWAIT_EXIT.
 */
static void ibcm_dreq_cannot_leave(struct ibcm_id *id)
{
	struct ibcm_msg *old = NULL;
	struct ibcm_todo todo;

	spin_lock_irq(&id->lock);
	if (ibcm_step(id, IBCM_TX_DREQ, &todo)) {
		old = ibcm_msg_detach(id);
		ibcm_step(id, IBCM_SEND_FAILED, &todo);
	}
	spin_unlock_irq(&id->lock);
	ibcm_msg_stop(old);
}

/**
 * ib_send_cm_dreq - release a connection
 * @cm_id: The id of an established connection.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length, up to IB_CM_DREQ_PRIVATE_DATA_SIZE bytes.
 *
 * The DREQ (IBA vol. 1, 12.6.10) is resent until it is answered, as often as the
 * connection's REQ said.  IB_CM_DREP_RECEIVED or IB_CM_DREQ_ERROR reports the outcome,
 * then IB_CM_TIMEWAIT_EXIT follows.  If the RTU is still awaited but the watched QP has
 * received data, the connection is established first, and IB_CM_USER_ESTABLISHED
 * precedes these events.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for bad private data or a connection that is not
 * established; -ENOMEM; -ENODEV after the removal of the device or of the connection's
 * source address: the connection still goes into timewait.
 */
int ib_send_cm_dreq(struct ib_cm_id *cm_id,
		    const void *private_data,
		    u8 private_data_len)
{
	struct ibcm_msg *msg, *old = NULL;
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_todo todo;
	bool moved;

	if (private_data_len > IB_CM_DREQ_PRIVATE_DATA_SIZE ||
	    (private_data_len && !private_data))
		return -EINVAL;
	ibcm_probe(id, false);
	/* The peer was often faster, and the consumer then sends a DREP. */
	if (!ibcm_step_of(READ_ONCE(id->id.state), IBCM_TX_DREQ)) {
		trace_icm_dreq_skipped(cm_id);
		return -EINVAL;
	}
	msg = ibcm_msg_alloc(id, IBCM_DREQ);
	if (IS_ERR(msg)) {
		if (PTR_ERR(msg) == -ENODEV)
			ibcm_dreq_cannot_leave(id);
		return PTR_ERR(msg);
	}
	ibcm_dreq_fill(msg, ibcm_new_tid(msg), private_data, private_data_len);

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TX_DREQ, &todo);
	if (moved)
		old = ibcm_msg_attach(id, msg, ibcm_wait_ms(id, msg), 0);
	spin_unlock_irq(&id->lock);

	if (!moved) {
		trace_icm_dreq_skipped(cm_id);
		ibcm_msg_drop(msg);
		return -EINVAL;
	}
	ibcm_msg_stop(old);
	trace_icm_send_dreq(cm_id);
	return ibcm_step_post(id, msg, &todo);
}
EXPORT_SYMBOL(ib_send_cm_dreq);

static void ibcm_drep_fill(struct ibcm_msg *msg, const void *private_data,
			   u8 private_data_len)
{
	struct ibcm_id *id = msg->id;
	struct cm_drep_msg *drep = ibcm_msg_mad(msg, id->dreq_tid);

	IBA_SET(CM_DREP_LOCAL_COMM_ID, drep, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_DREP_REMOTE_COMM_ID, drep, be32_to_cpu(id->id.remote_id));
	if (private_data_len)
		IBA_SET_MEM(CM_DREP_PRIVATE_DATA, drep, private_data,
			    private_data_len);
}

/* Answers a resent DREQ, or a DREQ whose id is being destroyed.  May sleep. */
void ibcm_send_drep(struct ibcm_id *id)
{
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_DREP);

	if (IS_ERR(msg))
		return;
	spin_lock_irq(&id->lock);
	ibcm_drep_fill(msg, id->answer, id->answer_len);
	spin_unlock_irq(&id->lock);
	trace_icm_send_drep(&id->id);
	ibcm_msg_post(msg);
}

/**
 * ib_send_cm_drep - answer a disconnection request
 * @cm_id: An id that was notified of IB_CM_DREQ_RECEIVED.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length, up to IB_CM_DREP_PRIVATE_DATA_SIZE bytes.
 *
 * The connection goes into timewait (IBA vol. 1, 12.6.11, 12.9.8.4), even if the DREP
 * cannot be sent.  Resent DREQs are answered with the same DREP.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for bad private data or an id that has received no DREQ; -ENODEV
 * after the device's removal; -ENOMEM; or the error of sending.
 */
int ib_send_cm_drep(struct ib_cm_id *cm_id,
		    const void *private_data,
		    u8 private_data_len)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_todo todo;
	struct ibcm_msg *msg;
	void *copy = NULL;
	bool moved;
	int ret;

	if (private_data_len > IB_CM_DREP_PRIVATE_DATA_SIZE ||
	    (private_data_len && !private_data))
		return -EINVAL;
	ret = ibcm_private_copy(private_data, private_data_len,
				IB_CM_DREP_PRIVATE_DATA_SIZE, &copy);
	msg = ret ? ERR_PTR(ret) : ibcm_msg_alloc(id, IBCM_DREP);
	if (!IS_ERR(msg))
		ibcm_drep_fill(msg, copy, private_data_len);

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TX_DREP, &todo);
	if (moved)
		ibcm_answer_set(id, copy, copy ? private_data_len : 0);
	spin_unlock_irq(&id->lock);

	if (!moved) {
		trace_icm_send_drep_err(cm_id);
		kfree(copy);
		if (!IS_ERR(msg))
			ibcm_msg_drop(msg);
		return -EINVAL;
	}
	if (IS_ERR(msg))
		return PTR_ERR(msg);
	trace_icm_send_drep(cm_id);
	return ibcm_msg_post(msg);
}
EXPORT_SYMBOL(ib_send_cm_drep);

int ibcm_rx_dreq(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_dreq_msg *dreq = ibcm_rx_mad(rx);
	struct ib_cm_event event = {};
	struct ibcm_todo todo = {};

	spin_lock_irq(&id->lock);
	/* A DREQ that does not name our QP is for another connection. */
	if (id->local_qpn == IBA_GET(CM_DREQ_REMOTE_QPN_EECN, dreq) &&
	    ibcm_step(id, IBCM_RX_DREQ, &todo))
		id->dreq_tid = dreq->hdr.tid;
	spin_unlock_irq(&id->lock);
	if (!todo.step)
		trace_icm_dreq_unknown_err(&id->id);
	event.private_data = IBA_GET_MEM_PTR(CM_DREQ_PRIVATE_DATA, dreq);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

int ibcm_rx_drep(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_drep_msg *drep = ibcm_rx_mad(rx);
	struct ib_cm_event event = {};
	struct ibcm_todo todo;

	spin_lock_irq(&id->lock);
	ibcm_step(id, IBCM_RX_DREP, &todo);
	if (todo.stop)
		ibcm_answered(id, todo.stop, todo.from);
	spin_unlock_irq(&id->lock);
	event.private_data = IBA_GET_MEM_PTR(CM_DREP_PRIVATE_DATA, drep);
	return ibcm_rx_finish(id, rx, &todo, &event);
}
