// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * APR (IBA vol. 1, 12.8): answers a LAP.
 *
 * The last answer to a LAP, an MRA or an APR, is kept as it was sent, for copies of the LAP.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <ibex/cm.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"

/* Remembers that the LAP lap->now was answered. */
static void ibcm_lap_answered(struct ibcm_lap *lap)
{
	lap->nr_seen = min(lap->nr_seen + 1, IBCM_LAPS_SEEN);
	memmove(&lap->seen[1], &lap->seen[0],
		(IBCM_LAPS_SEEN - 1) * sizeof(lap->seen[0]));
	lap->seen[0] = lap->now;
}

void ibcm_apr_answer(struct ibcm_id *id, u8 status, const void *info, u8 info_len,
		     const void *private_data, u8 private_data_len)
{
	struct cm_apr_msg *apr = (struct cm_apr_msg *)id->lap->answer;

	lockdep_assert_held(&id->lock);
	ibcm_lap_answered(id->lap);
	memset(apr, 0, IB_MGMT_MAD_SIZE);
	ibcm_mad_hdr(&apr->hdr, IBCM_APR, id->lap->now.tid);
	IBA_SET(CM_APR_LOCAL_COMM_ID, apr, be32_to_cpu(id->id.local_id));
	IBA_SET(CM_APR_REMOTE_COMM_ID, apr, be32_to_cpu(id->id.remote_id));
	IBA_SET(CM_APR_AR_STATUS, apr, status);
	if (info_len) {
		IBA_SET(CM_APR_ADDITIONAL_INFORMATION_LENGTH, apr, info_len);
		IBA_SET_MEM(CM_APR_ADDITIONAL_INFORMATION, apr, info, info_len);
	}
	if (private_data_len)
		IBA_SET_MEM(CM_APR_PRIVATE_DATA, apr, private_data, private_data_len);
}

static enum ibcm_kind ibcm_lap_answer_kind(const struct ibcm_id *id)
{
	const struct ib_mad_hdr *hdr = (const struct ib_mad_hdr *)id->lap->answer;

	lockdep_assert_held(&id->lock);
	return be16_to_cpu(hdr->attr_id) - be16_to_cpu(CM_REQ_ATTR_ID);
}

/*
 * Sends the kept answer.  If it cannot be sent it is as if lost, and the peer resends the
 * LAP.  May sleep.
 */
void ibcm_send_lap_answer(struct ibcm_id *id)
{
	enum ibcm_kind kind;
	struct ibcm_msg *msg;
	bool same;

	spin_lock_irq(&id->lock);
	kind = ibcm_lap_answer_kind(id);
	spin_unlock_irq(&id->lock);
	msg = ibcm_msg_alloc(id, kind);
	if (IS_ERR(msg))
		return;
	spin_lock_irq(&id->lock);
	/* The consumer may have sent the APR since the MRA was to be repeated. */
	same = ibcm_lap_answer_kind(id) == kind;
	memcpy(msg->buf->mad, id->lap->answer, IB_MGMT_MAD_SIZE);
	spin_unlock_irq(&id->lock);
	if (same)
		ibcm_msg_post(msg);
	else
		ibcm_msg_drop(msg);
}

static int ibcm_apr_check(const struct ibex_cm_apr_param *param)
{
	if (param->status > IB_CM_APR_INVALID_SL ||
	    param->info_len > IB_CM_APR_INFO_LENGTH ||
	    (param->info_len && !param->info) ||
	    param->private_data_len > IB_CM_APR_PRIVATE_DATA_SIZE ||
	    (param->private_data_len && !param->private_data))
		return -EINVAL;
	return 0;
}

/**
 * ibex_cm_send_apr - answer a request for another alternate path
 * @cm_id: An id that was notified of IB_CM_LAP_RECEIVED.
 * @param: The answer.  A status other than IB_CM_APR_SUCCESS refuses the path; what the
 *	additional information is depends on it (IBA vol. 1, 12.8).
 *
 * Before it accepts the path the consumer must have loaded it: while the LAP is to be
 * answered, ib_cm_init_qp_attr() for IB_QPS_RTS returns the attributes that load it, whose
 * address vector is valid until this call.  With another status the alternate path of the
 * connection stays.
 *
 * A consumer answers in its handler, or sends an MRA there (ib_send_cm_mra(), with
 * IB_CM_MRA_FLAG_DELAY if none is needed until the peer asks again) and answers later.  If
 * it does neither, the CM answers IB_CM_APR_UNSUPPORTED when the handler returns.  Copies of
 * the LAP are answered with the same APR, so an APR that cannot be sent counts as one that
 * was lost.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL for a bad parameter or an id that has no LAP to answer.
 */
int ibex_cm_send_apr(struct ib_cm_id *cm_id, const struct ibex_cm_apr_param *param)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	struct ibcm_av *old = NULL;
	struct ibcm_todo todo;
	bool moved;

	if (ibcm_apr_check(param))
		return -EINVAL;
	spin_lock_irq(&id->lock);
	moved = ibcm_lap_step(id, IBCM_LAP_TX_APR, &todo);
	if (moved) {
		ibcm_apr_answer(id, param->status, param->info, param->info_len,
				param->private_data, param->private_data_len);
		if (param->status == IB_CM_APR_SUCCESS)
			old = ibcm_lap_accepted(id);
	}
	spin_unlock_irq(&id->lock);
	if (!moved)
		return -EINVAL;
	ibcm_av_free(old);
	ibcm_send_lap_answer(id);
	return 0;
}
EXPORT_SYMBOL(ibex_cm_send_apr);

static void ibcm_apr_event(struct cm_apr_msg *apr, struct ib_cm_event *event)
{
	struct ib_cm_apr_event_param *param = &event->param.apr_rcvd;

	param->ap_status = IBA_GET(CM_APR_AR_STATUS, apr);
	param->apr_info = IBA_GET_MEM_PTR(CM_APR_ADDITIONAL_INFORMATION, apr);
	param->info_len = min_t(u8, IBA_GET(CM_APR_ADDITIONAL_INFORMATION_LENGTH, apr),
				IB_CM_APR_INFO_LENGTH);
	event->private_data = IBA_GET_MEM_PTR(CM_APR_PRIVATE_DATA, apr);
}

/* An APR for another LAP than the last one, which was given up, must not answer that. */
int ibcm_rx_apr(struct ibcm_id *id, struct ibcm_rx *rx)
{
	struct cm_apr_msg *apr = ibcm_rx_mad(rx);
	struct ib_cm_event event = {};
	struct ibcm_av *old = NULL;
	struct ibcm_todo todo = {};
	struct ibcm_path *pin;

	ibcm_apr_event(apr, &event);
	spin_lock_irq(&id->lock);
	/* Device removal waits for the path, and so for the SGID entry of @old. */
	pin = id->path;
	if (pin)
		refcount_inc(&pin->ref);
	if (id->lap && id->lap->nr_sent && id->lap->sent_tid == apr->hdr.tid &&
	    ibcm_lap_step(id, IBCM_LAP_RX_APR, &todo) &&
	    todo.step->event == IB_CM_APR_RECEIVED &&
	    event.param.apr_rcvd.ap_status == IB_CM_APR_SUCCESS)
		old = ibcm_lap_accepted(id);
	spin_unlock_irq(&id->lock);
	ibcm_av_free(old);
	ibcm_path_put(pin);
	return ibcm_rx_finish(id, rx, &todo, &event);
}
