// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RTU (IBA vol. 1, 12.6.9): the REP was received, the QP is ready to use. */
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

static void ibcm_rtu_fill(struct ibcm_msg *msg, const void *private_data,
			  u8 private_data_len)
{
	struct ibcm_id *id = msg->id;
	struct cm_rtu_msg *rtu = ibcm_msg_mad(msg, id->tid);

	IBA_SET(CM_RTU_LOCAL_COMM_ID, rtu, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_RTU_REMOTE_COMM_ID, rtu, be32_to_cpu(id->id.remote_id));
	if (private_data_len)
		IBA_SET_MEM(CM_RTU_PRIVATE_DATA, rtu, private_data,
			    private_data_len);
}

void ibcm_send_rtu_again(struct ibcm_id *id)
{
	struct ibcm_msg *msg = ibcm_msg_alloc(id, IBCM_RTU);

	if (IS_ERR(msg))
		return;
	spin_lock_irq(&id->lock);
	ibcm_rtu_fill(msg, id->answer, id->answer_len);
	spin_unlock_irq(&id->lock);
	trace_icm_send_dup_rep(&id->id);
	ibcm_msg_post(msg);
}

/**
 * ib_send_cm_rtu - answer a connection reply: ready to use
 * @cm_id: An id that was notified of IB_CM_REP_RECEIVED.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length, up to IB_CM_RTU_PRIVATE_DATA_SIZE bytes.
 *
 * The connection is then established (IBA vol. 1, 12.6.9, 12.9.7.1).  Resent REPs are
 * answered with the same RTU.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for bad private data or an id that has no REP to answer; -ENODEV
 * after the device's removal; -ENOMEM.
 */
int ib_send_cm_rtu(struct ib_cm_id *cm_id,
		   const void *private_data,
		   u8 private_data_len)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_todo todo;
	struct ibcm_msg *msg;
	bool moved;
	void *copy;
	int ret;

	ret = ibcm_private_copy(private_data, private_data_len,
				IB_CM_RTU_PRIVATE_DATA_SIZE, &copy);
	if (ret)
		return ret;
	msg = ibcm_msg_alloc(id, IBCM_RTU);
	if (IS_ERR(msg)) {
		kfree(copy);
		return PTR_ERR(msg);
	}
	ibcm_rtu_fill(msg, copy, private_data_len);

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TX_RTU, &todo);
	if (moved)
		ibcm_answer_set(id, copy, private_data_len);
	spin_unlock_irq(&id->lock);

	if (!moved) {
		trace_icm_send_cm_rtu_err(cm_id);
		kfree(copy);
		ibcm_msg_drop(msg);
		return -EINVAL;
	}
	trace_icm_send_rtu(cm_id);
	return ibcm_step_post(id, msg, &todo);
}
EXPORT_SYMBOL(ib_send_cm_rtu);

int ibcm_rx_rtu(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_rtu_msg *rtu = ibcm_rx_mad(rx);
	struct ib_cm_event event = {};
	struct ibcm_todo todo;

	spin_lock_irq(&id->lock);
	ibcm_step(id, IBCM_RX_RTU, &todo);
	if (todo.stop)
		ibcm_answered(id, todo.stop, todo.from);
	spin_unlock_irq(&id->lock);

	ibcm_stat(rx->port, IBCM_STAT_RTU_RECEIVED);
	if (todo.step && todo.step->event == IB_CM_RTU_RECEIVED)
		ibcm_stat(rx->port, IBCM_STAT_EST_BY_RTU);
	else
		ibcm_stat(rx->port, IBCM_STAT_RTU_LATE);
	event.private_data = IBA_GET_MEM_PTR(CM_RTU_PRIVATE_DATA, rtu);
	return ibcm_rx_finish(id, rx, &todo, &event);
}

/*
 * Runs in the id's work after data has established the connection: stops the REP and
 * notifies the consumer.
 */
int ibcm_established(struct ibcm_id *id)
{
	struct ibcm_msg *rep = NULL;

	spin_lock_irq(&id->lock);
	/* A DREQ of the consumer may have replaced the REP already. */
	if (id->msg && id->msg->kind == IBCM_REP)
		rep = ibcm_msg_detach(id);
	spin_unlock_irq(&id->lock);
	ibcm_msg_stop(rep);
	return ibcm_deliver_plain(id, IB_CM_USER_ESTABLISHED);
}

/**
 * ib_cm_notify - notify the CM of an event of the connection's QP
 * @cm_id: The connection's id.
 * @event: IB_EVENT_COMM_EST: a message has arrived on the QP.
 *	IB_EVENT_PATH_MIG: the QP has migrated to the alternate path.
 *
 * IB_EVENT_COMM_EST counts as an RTU (ibcm/watch.c).  After IB_EVENT_PATH_MIG the id's
 * messages are sent along the alternate path, which has become the primary one; the other
 * is the alternate path and can be loaded again (ib_cm_init_qp_attr()).  An outstanding LAP
 * goes on.
 *
 * Context: Any, hard interrupt included.
 *
 * Return: 0; -EISCONN if the connection was established already; -EINVAL in any
 * other state, without an alternate path, or for another event.
 */
int ib_cm_notify(struct ib_cm_id *cm_id, enum ib_event_type event)
{
	switch (event) {
	case IB_EVENT_COMM_EST:
		return ibcm_establish(to_ibcm(cm_id), IBCORE_QP_COMM_EST);
	case IB_EVENT_PATH_MIG:
		return ibcm_path_mig(to_ibcm(cm_id));
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL(ib_cm_notify);
