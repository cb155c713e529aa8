// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MRA (IBA vol. 1, 12.6.6): acknowledges a message whose response will take long. */
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

static void ibcm_mra_fill(const struct ibcm_id *id, void *mad, u8 mraed,
			  u8 service_timeout, const void *private_data,
			  u8 private_data_len)
{
	struct cm_mra_msg *mra = mad;
	__be64 tid = mraed == IBCM_FIELD_OTHER ? id->lap->now.tid : id->tid;

	ibcm_mad_hdr(&mra->hdr, IBCM_MRA, tid);
	IBA_SET(CM_MRA_LOCAL_COMM_ID, mra, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_MRA_REMOTE_COMM_ID, mra, be32_to_cpu(id->id.remote_id));
	IBA_SET(CM_MRA_MESSAGE_MRAED, mra, mraed);
	IBA_SET(CM_MRA_SERVICE_TIMEOUT, mra, service_timeout);
	if (private_data_len)
		IBA_SET_MEM(CM_MRA_PRIVATE_DATA, mra, private_data,
			    private_data_len);
}

/*
 * A delayed MRA of a REP is sent only when half of the peer's timeout, which our REQ
 * told it, has passed since ib_send_cm_mra().  If the peer resends its REP earlier, it
 * still has time left, and an MRA would make it wait for much longer.
 */
static bool ibcm_mra_is_due(struct ibcm_id *id, u8 mraed)
{
	bool due;

	spin_lock_irq(&id->lock);
	due = mraed != IBCM_FIELD_REP || !id->mra_begin ||
	      time_after_eq(jiffies, id->mra_begin);
	spin_unlock_irq(&id->lock);
	return due;
}

/* Answers a resent REQ or REP with an MRA.  May sleep. */
void ibcm_send_mra(struct ibcm_id *id, u8 mraed)
{
	struct ibcm_msg *msg;

	if (!ibcm_mra_is_due(id, mraed))
		return;
	msg = ibcm_msg_alloc(id, IBCM_MRA);
	if (IS_ERR(msg))
		return;
	spin_lock_irq(&id->lock);
	ibcm_mra_fill(id, msg->buf->mad, mraed, id->service_timeout, id->answer,
		      id->answer_len);
	spin_unlock_irq(&id->lock);
	trace_icm_send_mra(&id->id);
	ibcm_msg_post(msg);
}

/* Makes the step for sending an MRA and sets @mraed to the message it acknowledges. */
static bool ibcm_mra_step(struct ibcm_id *id, struct ibcm_todo *todo, u8 *mraed)
{
	lockdep_assert_held(&id->lock);
	if (ibcm_step(id, IBCM_TX_MRA, todo)) {
		*mraed = todo->from == IB_CM_REQ_RCVD ? IBCM_FIELD_REQ :
							IBCM_FIELD_REP;
		return true;
	}
	*mraed = IBCM_FIELD_OTHER;
	return ibcm_lap_step(id, IBCM_LAP_TX_MRA, todo);
}

/*
 * Keeps the MRA for copies of the message that it acknowledges: of a LAP as it is sent, of
 * another the private data, which the id then owns.  Caller holds id->lock.
 */
static void ibcm_mra_keep(struct ibcm_id *id, u8 mraed, void **data, u8 len)
{
	if (mraed == IBCM_FIELD_OTHER) {
		memset(id->lap->answer, 0, IB_MGMT_MAD_SIZE);
		ibcm_mra_fill(id, id->lap->answer, mraed, id->service_timeout, *data, len);
		return;
	}
	ibcm_answer_set(id, *data, len);
	*data = NULL;
}

/* Posts the MRA of a LAP; takes the step back if that fails. */
static int ibcm_mra_post_lap(struct ibcm_id *id, struct ibcm_msg *msg)
{
	struct ibcm_todo todo;
	int ret = ibcm_msg_post(msg);

	if (ret) {
		spin_lock_irq(&id->lock);
		if (id->id.lap_state == IB_CM_MRA_LAP_SENT)
			ibcm_lap_step(id, IBCM_LAP_TX_FAILED, &todo);
		spin_unlock_irq(&id->lock);
	}
	return ret;
}

/* Caller holds id->lock.  mra_begin 0 means that an MRA may be sent at once. */
static void ibcm_mra_set_begin(struct ibcm_id *id, bool delay)
{
	id->mra_begin = 0;
	if (delay)
		id->mra_begin = (jiffies + msecs_to_jiffies(id->answer_ms / 2)) | 1;
}

/**
 * ib_send_cm_mra - acknowledge the receipt of a connection message
 * @cm_id: An id that was notified of a REQ, REP or LAP.
 * @service_timeout: The time that the response may take, 4.096 us * 2^n with n of
 *	5 bits.  With IB_CM_MRA_FLAG_DELAY the MRA is sent only when the peer resends
 *	the message and, for a REP, only after half of the peer's timeout.  An MRA of
 *	a LAP, sent or delayed, says that ibex_cm_send_apr() will follow.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length, up to IB_CM_MRA_PRIVATE_DATA_SIZE bytes.
 *
 * IBA vol. 1, 12.6.6.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for bad private data or an id in another state; -ENODEV
 * after the device's removal; -ENOMEM.
 */
int ib_send_cm_mra(struct ib_cm_id *cm_id,
		   u8 service_timeout,
		   const void *private_data,
		   u8 private_data_len)
{
	bool delay = service_timeout & IB_CM_MRA_FLAG_DELAY;
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_msg *msg = NULL;
	struct ibcm_todo todo;
	void *copy;
	bool moved;
	u8 mraed;
	int ret;

	ret = ibcm_private_copy(private_data, private_data_len,
				IB_CM_MRA_PRIVATE_DATA_SIZE, &copy);
	if (ret)
		return ret;
	if (!delay) {
		msg = ibcm_msg_alloc(id, IBCM_MRA);
		if (IS_ERR(msg)) {
			kfree(copy);
			return PTR_ERR(msg);
		}
	}

	spin_lock_irq(&id->lock);
	moved = ibcm_mra_step(id, &todo, &mraed);
	if (moved) {
		id->service_timeout = service_timeout & 0x1f;
		ibcm_mra_set_begin(id, delay);
		if (msg)
			ibcm_mra_fill(id, msg->buf->mad, mraed, id->service_timeout,
				      copy, private_data_len);
		ibcm_mra_keep(id, mraed, &copy, private_data_len);
	}
	spin_unlock_irq(&id->lock);

	kfree(copy);
	if (!moved) {
		trace_icm_send_mra_unknown_err(cm_id);
		if (msg)
			ibcm_msg_drop(msg);
		return -EINVAL;
	}
	if (!msg)
		return 0;
	trace_icm_send_mra(cm_id);
	return mraed == IBCM_FIELD_OTHER ? ibcm_mra_post_lap(id, msg) :
					   ibcm_step_post(id, msg, &todo);
}
EXPORT_SYMBOL(ib_send_cm_mra);

/* Makes the step according to the "message MRAed" field.  Caller holds id->lock. */
static bool ibcm_mra_received(struct ibcm_id *id, const struct cm_mra_msg *mra,
			      struct ibcm_todo *todo)
{
	switch (IBA_GET(CM_MRA_MESSAGE_MRAED, mra)) {
	case IBCM_FIELD_REQ:
		return ibcm_step(id, IBCM_RX_MRA_REQ, todo);
	case IBCM_FIELD_REP:
		return ibcm_step(id, IBCM_RX_MRA_REP, todo);
	case IBCM_FIELD_OTHER:
		return ibcm_lap_step(id, IBCM_LAP_RX_MRA, todo);
	default:
		return false;
	}
}

/*
 * An MRA of @msg, which is outstanding, asks for *@ms.  Returns @msg with a reference if its
 * present wait is to take *@ms instead, else NULL.  Caller holds id->lock.
 */
static struct ibcm_msg *ibcm_mra_extend(struct ibcm_id *id, struct ibcm_msg *msg,
					const struct ibcm_todo *todo, unsigned int *ms)
{
	lockdep_assert_held(&id->lock);
	if (todo->step->flags & IBCM_F_DUP && msg->kind == IBCM_REQ)
		ibcm_mraed_again(id, msg, *ms);
	if (!(todo->step->flags & IBCM_F_EXTEND))
		return NULL;
	refcount_inc(&msg->ref);
	if (ibcm_is_retried(msg))
		*ms = ibcm_mraed(id, msg, *ms);
	return msg;
}

int ibcm_rx_mra(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_mra_msg *mra = ibcm_rx_mad(rx);
	u8 service_timeout = IBA_GET(CM_MRA_SERVICE_TIMEOUT, mra);
	struct ibcm_msg *request = NULL;
	struct ib_cm_event event = {};
	struct ibcm_todo todo = {};
	unsigned int ms;

	ms = ibcm_time_ms(service_timeout) +
	     2 * ibcm_time_ms(id->av.packet_life_time);
	spin_lock_irq(&id->lock);
	if (ibcm_mra_received(id, mra, &todo) && id->msg)
		request = ibcm_mra_extend(id, id->msg, &todo, &ms);
	spin_unlock_irq(&id->lock);
	if (request) {
		/* Fails if the request has timed out already; that is then reported. */
		ib_modify_mad(request->buf, ms);
		ibcm_msg_put(request);
	}
	if (!todo.step)
		trace_icm_mra_unknown_err(&id->id);
	event.param.mra_rcvd.service_timeout = service_timeout;
	event.private_data = IBA_GET_MEM_PTR(CM_MRA_PRIVATE_DATA, mra);
	return ibcm_rx_finish(id, rx, &todo, &event);
}
