// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections: connect, accept, reject, disconnect. */
#include <linux/export.h>
#include <linux/slab.h>

#include "iwcm.h"

/*
 * Makes the step for which a provider's verb is called next, and gives the id the
 * reference on @qp.  Until iwcm_call_end() no event is delivered to the consumer: a
 * verb that fails after the provider has reported an event must leave no event.
 */
static int iwcm_call_begin(struct iwcm_id *id, enum iwcm_event event,
			   struct ib_qp *qp)
{
	const struct iwcm_step *step;
	struct ib_qp *none;

	spin_lock_irq(&id->lock);
	step = iwcm_step(id, event, &none);
	if (step) {
		id->qp = qp;
		id->calling = true;
		/* The consumer may destroy the id while the verb runs. */
		iwcm_id_get(id);
	}
	spin_unlock_irq(&id->lock);
	return step ? 0 : -EINVAL;
}

/* The verb has returned @ret: undoes the step or starts delivery; returns @ret. */
static int iwcm_call_end(struct iwcm_id *id, int ret)
{
	struct ib_qp *qp = NULL;
	void *untold = NULL;

	spin_lock_irq(&id->lock);
	id->calling = false;
	if (ret) {
		iwcm_step(id, IWCM_FAILED, &qp);
		id->pending = 0;
		swap(id->private_data, untold);
		id->private_data_len = 0;
	} else {
		iwcm_id_kick(id);
	}
	spin_unlock_irq(&id->lock);
	kfree(untold);
	iwcm_qp_put(qp);
	iwcm_id_put(id);
	return ret;
}

typedef int (*iwcm_verb)(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param);

/* Calls @verb to connect @id with the QP whose number is in @param. */
static int iwcm_call(struct iwcm_id *id, enum iwcm_event event, iwcm_verb verb,
		     struct iw_cm_conn_param *param)
{
	struct ib_qp *qp = iwcm_qp_get(id->id.device, param->qpn);
	int ret;

	if (!qp)
		return -EINVAL;
	ret = iwcm_call_begin(id, event, qp);
	if (ret) {
		iwcm_qp_put(qp);
		return ret;
	}
	if (event == IWCM_DO_CONNECT)
		ret = iwcm_map_connect(id);
	return iwcm_call_end(id, ret ?: verb(&id->id, param));
}

/**
 * iw_cm_connect - request a connection
 * @cm_id: An idle id, its addresses set.
 * @iw_param: QP number, private data, ORD and IRD (RFC 6581).
 *
 * IW_CM_EVENT_CONNECT_REPLY reports the outcome, unless this returns an error.
 *
 * Context: May sleep, as long as the provider takes to connect, and a few
 * seconds if the port mapper daemon does not answer.
 *
 * Return: 0; -EINVAL if the id is not idle or there is no such QP; or the
 * provider's error.
 */
int iw_cm_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *iw_param)
{
	return iwcm_call(to_iwcm(cm_id), IWCM_DO_CONNECT,
			 cm_id->device->ops.iw_connect, iw_param);
}
EXPORT_SYMBOL(iw_cm_connect);

/**
 * iw_cm_accept - accept a connection request
 * @cm_id: The id that came with IW_CM_EVENT_CONNECT_REQUEST.
 * @iw_param: QP number, private data, ORD and IRD (RFC 6581).
 *
 * IW_CM_EVENT_ESTABLISHED reports success, IW_CM_EVENT_CLOSE failure; neither follows
 * if this returns an error.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL if the id has no request or there is no such QP; or the
 * provider's error.
 */
int iw_cm_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *iw_param)
{
	return iwcm_call(to_iwcm(cm_id), IWCM_DO_ACCEPT,
			 cm_id->device->ops.iw_accept, iw_param);
}
EXPORT_SYMBOL(iw_cm_accept);

/**
 * iw_cm_reject - refuse a connection request
 * @cm_id: The id that came with IW_CM_EVENT_CONNECT_REQUEST.
 * @private_data: For the peer, or NULL.
 * @private_data_len: Its length in bytes.
 *
 * No event follows.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL if the id has no request; or the provider's error.
 */
int iw_cm_reject(struct iw_cm_id *cm_id, const void *private_data,
		 u8 private_data_len)
{
	struct iwcm_id *id = to_iwcm(cm_id);
	const struct iwcm_step *step;
	struct ib_qp *none;

	spin_lock_irq(&id->lock);
	step = iwcm_step(id, IWCM_DO_REJECT, &none);
	spin_unlock_irq(&id->lock);
	if (!step)
		return -EINVAL;
	return cm_id->device->ops.iw_reject(cm_id, private_data,
					    private_data_len);
}
EXPORT_SYMBOL(iw_cm_reject);

/**
 * iw_cm_disconnect - end a connection
 * @cm_id: The connection's id.
 * @abrupt: 0: orderly close, after posted requests were sent; otherwise a reset.
 *
 * IW_CM_EVENT_CLOSE reports the end.  This does nothing and returns 0 if the connection
 * has ended, or if it is already closing and no reset is requested.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL if there is no connection yet.
 */
int iw_cm_disconnect(struct iw_cm_id *cm_id, int abrupt)
{
	struct iwcm_id *id = to_iwcm(cm_id);
	const struct iwcm_step *step;
	struct ib_qp *qp = NULL, *none;

	spin_lock_irq(&id->lock);
	step = iwcm_step(id, abrupt ? IWCM_DO_RESET : IWCM_DO_DISCONNECT, &none);
	if (step && step->flags & (IWCM_F_ABORT | IWCM_F_CLOSE)) {
		qp = id->qp;
		cm_id->device->ops.iw_add_ref(qp);
	}
	spin_unlock_irq(&id->lock);
	if (!step)
		return -EINVAL;
	if (qp) {
		iwcm_qp_move(qp, step->flags & IWCM_F_ABORT ? IB_QPS_ERR :
							      IB_QPS_SQD);
		iwcm_qp_put(qp);
	}
	return 0;
}
EXPORT_SYMBOL(iw_cm_disconnect);

/**
 * iwcm_reject_msg - describe the status of a failed connect
 * @reason: The status of an IW_CM_EVENT_CONNECT_REPLY event, negative.
 *
 * Context: Any.
 *
 * Return: A constant string, also for a status that has none of its own.
 */
const char *__attribute_const__ iwcm_reject_msg(int reason)
{
	switch (reason) {
	case -ECONNRESET:
		return "reset by remote host";
	case -ECONNREFUSED:
		return "refused by remote application";
	case -ETIMEDOUT:
		return "setup timeout";
	default:
		return "unrecognized reason";
	}
}
EXPORT_SYMBOL(iwcm_reject_msg);
