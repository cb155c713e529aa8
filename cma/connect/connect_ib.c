// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections through the IB CM: InfiniBand and RoCE, RC and XRC.
 */
#include <linux/slab.h>
#include <ibex/cm.h>

#include "connect/connect.h"
#include "id/id.h"
#include "trace.h"

/*
 * cma_ib_new_cm_id() - create the IB CM's id for an attempt to connect
 *
 * The CM's id stays until @idp is destroyed, as rdma_disconnect() and rdma_reject()
 * read idp->cm without a lock.  Only the CM's id of a failed attempt is replaced.
 */
int cma_ib_new_cm_id(struct cma_id *idp, ib_cm_handler handler)
{
	struct ib_cm_id *cm_id, *old = idp->cm.ib;

	lockdep_assert_held(&idp->handler_mutex);
	cm_id = ib_create_cm_id(idp->id.device, handler, idp);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	smp_store_release(&idp->cm.ib, cm_id);	/* pairs with cma_id_query() */
	/*
	 * The old CM id never sent a message, so no callback of it waits for
	 * handler_mutex.
	 */
	if (old)
		ib_destroy_cm_id(old);
	return 0;
}

static u8 cma_retries(u8 count)
{
	return min_t(u8, count, 7);	/* three bits on the wire */
}

/* Sends the REQ of rdma_connect(). */
int cma_ib_connect(struct cma_id *idp, struct rdma_conn_param *param)
{
	u8 timeout = READ_ONCE(cma_id_port(idp)->cm_timeout);
	struct rdma_route *route = &idp->id.route;
	struct ib_cm_req_param req = {
		.primary_path = &route->path_rec[0],
		.primary_path_inbound = route->path_rec_inbound,
		.primary_path_outbound = route->path_rec_outbound,
		.alternate_path = route->num_pri_alt_paths == 2 ?
				  &route->path_rec[1] : NULL,
		.ppath_sgid_attr = idp->sgid_attr,
		.service_id = rdma_get_service_id(&idp->id, cma_dst(idp)),
		.qp_num = idp->qp_num,
		.qp_type = idp->id.qp_type,
		.starting_psn = idp->seq_num,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.flow_control = param->flow_control,
		.retry_count = cma_retries(param->retry_count),
		.rnr_retry_count = cma_retries(param->rnr_retry_count),
		.remote_cm_response_timeout = timeout,
		.local_cm_response_timeout = timeout,
		.max_cm_retries = READ_ONCE(cma_id_port(idp)->cm_retries),
		.srq = idp->srq,
		.ece = idp->ece,
	};
	void *data;
	int err;

	err = cma_private_data(idp, param, IB_CM_REQ_PRIVATE_DATA_SIZE, &data,
			       &req.private_data_len);
	if (err)
		return err;
	req.private_data = data;
	err = cma_ib_new_cm_id(idp, cma_ib_event);
	if (!err) {
		trace_cm_send_req(idp);
		err = ib_send_cm_req(idp->cm.ib, &req);
	}
	kfree(data);
	return err;
}

/*
 * Lets data on the QP of an accepting id establish the connection, whether or not the
 * RTU arrives.  The QP is the id's own, or the one whose number was given to
 * rdma_accept(): a QP of the current process for an id of a process, a kernel QP for a
 * kernel id.
 */
static int cma_ib_watch(struct cma_id *idp)
{
	bool user = !rdma_is_kernel_res(&idp->track.res);
	int err;

	mutex_lock(&idp->qp_mutex);
	if (idp->id.qp)
		err = ib_cm_watch_qp(idp->cm.ib, idp->id.qp);
	else
		err = ib_cm_watch_qp_num(idp->cm.ib, idp->qp_num, user);
	mutex_unlock(&idp->qp_mutex);
	return err;
}

/*
 * The peer may send as soon as it has the REP, so the QP is made ready and watched
 * before the REP is sent.
 */
int cma_ib_accept(struct cma_id *idp, struct rdma_conn_param *param)
{
	struct ib_cm_rep_param rep = {
		.qp_num = idp->qp_num,
		.starting_psn = idp->seq_num,
		.private_data = param->private_data,
		.private_data_len = param->private_data_len,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.flow_control = param->flow_control,
		.rnr_retry_count = cma_retries(param->rnr_retry_count),
		.srq = idp->srq,
		.ece = idp->ece,
	};
	int err;

	if (param->private_data_len > IB_CM_REP_PRIVATE_DATA_SIZE)
		return -EINVAL;
	err = cma_qp_to_rtr(idp, param);
	if (!err)
		err = cma_qp_to_rts(idp, param);
	if (!err)
		err = cma_ib_watch(idp);
	if (err)
		return err;
	trace_cm_send_rep(idp);
	err = ib_send_cm_rep(idp->cm.ib, &rep);
	if (err)
		ib_cm_unwatch_qp(idp->cm.ib);
	return err;
}

/* Sends the RTU for a REP that was reported to the consumer as CONNECT_RESPONSE. */
int cma_ib_confirm(struct cma_id *idp)
{
	int err;

	err = cma_qp_to_rtr(idp, NULL);
	if (!err)
		err = cma_qp_to_rts(idp, NULL);
	if (err)
		return err;
	trace_cm_send_rtu(idp);
	return ib_send_cm_rtu(idp->cm.ib, NULL, 0);
}

int cma_ib_disconnect(struct cma_id *idp)
{
	int err;

	err = cma_qp_to_err(idp);
	if (err)
		return err;
	trace_cm_disconnect(idp);
	if (!ib_send_cm_dreq(idp->cm.ib, NULL, 0)) {
		trace_cm_sent_dreq(idp);
	} else {
		/* The peer's DREQ was received first, or the connection has ended. */
		ib_send_cm_drep(idp->cm.ib, NULL, 0);
		trace_cm_sent_drep(idp);
	}
	return 0;
}
