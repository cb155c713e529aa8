// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Datagrams: SIDR resolves a service id to a QP, IBA vol. 1, 12.11. */
#include <linux/slab.h>

#include "connect/connect.h"
#include "id/id.h"
#include "trace.h"

/* Sends the SIDR_REQ of rdma_connect(). */
int cma_sidr_connect(struct cma_id *idp, struct rdma_conn_param *param)
{
	const struct cma_port *port = cma_id_port(idp);
	struct rdma_route *route = &idp->id.route;
	struct ib_cm_sidr_req_param req = {
		.path = route->path_rec,
		.sgid_attr = idp->sgid_attr,
		.service_id = rdma_get_service_id(&idp->id, cma_dst(idp)),
		.timeout_ms = ibcm_time_ms(READ_ONCE(port->cm_timeout)),
		.max_cm_retries = READ_ONCE(port->cm_retries),
	};
	void *data;
	int err;

	err = cma_private_data(idp, param, IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE,
			       &data, &req.private_data_len);
	if (err)
		return err;
	req.private_data = data;
	err = cma_ib_new_cm_id(idp, cma_sidr_event);
	if (!err) {
		trace_cm_send_sidr_req(idp);
		err = ib_send_cm_sidr_req(idp->cm.ib, &req);
	}
	kfree(data);
	return err;
}

/* Sends the SIDR_REP of rdma_accept() and rdma_reject(). */
int cma_sidr_reply(struct cma_id *idp, enum ib_cm_sidr_status status, u32 qkey,
		   const void *private_data, u8 private_data_len)
{
	struct ib_cm_sidr_rep_param rep = {
		.status = status,
		.private_data = private_data,
		.private_data_len = private_data_len,
	};
	int err;

	if (status == IB_SIDR_SUCCESS) {
		err = cma_set_qkey(idp, qkey);
		if (err)
			return err;
		rep.qp_num = idp->qp_num;
		rep.qkey = idp->qkey;
		rep.ece = idp->ece;
	}
	trace_cm_send_sidr_rep(idp);
	return ib_send_cm_sidr_rep(idp->cm.ib, &rep);
}

static void cma_sidr_failed(struct rdma_cm_event *event, int status)
{
	event->event = RDMA_CM_EVENT_UNREACHABLE;
	event->status = status;
}

static void cma_sidr_replied(struct cma_id *idp, const struct ib_cm_event *ib,
			     struct rdma_cm_event *event)
{
	const struct ib_cm_sidr_rep_event_param *rep = &ib->param.sidr_rep_rcvd;
	struct rdma_ud_param *ud = &event->param.ud;
	int err;

	ud->private_data = ib->private_data;
	ud->private_data_len = IB_CM_SIDR_REP_PRIVATE_DATA_SIZE;
	if (rep->status != IB_SIDR_SUCCESS) {
		cma_sidr_failed(event, rep->status);
		return;
	}

	err = cma_set_qkey(idp, rep->qkey);
	if (!err)
		err = ib_init_ah_attr_from_path(idp->id.device,
						idp->id.port_num,
						idp->id.route.path_rec,
						&ud->ah_attr, rep->sgid_attr);
	if (err) {
		event->event = RDMA_CM_EVENT_ADDR_ERROR;
		event->status = err;
		return;
	}
	ud->qp_num = rep->qpn;
	ud->qkey = rep->qkey;
	event->event = RDMA_CM_EVENT_ESTABLISHED;
}

/*
 * cma_sidr_event() - the IB CM's handler of our SIDR requests
 *
 * Return: as cma_ib_event().
 */
int cma_sidr_event(struct ib_cm_id *cm_id, const struct ib_cm_event *ib)
{
	struct cma_id *idp = cm_id->context;
	struct rdma_cm_event event = {};
	int ret;

	mutex_lock(&idp->handler_mutex);
	if (cma_state(idp) != RDMA_CM_CONNECT || idp->conn != CMA_CONN_PENDING)
		goto out;

	switch (ib->event) {
	case IB_CM_SIDR_REQ_ERROR:
		cma_sidr_failed(&event, -ETIMEDOUT);
		break;
	case IB_CM_SIDR_REP_RECEIVED:
		cma_sidr_replied(idp, ib, &event);
		break;
	default:
		goto out;
	}

	idp->conn = event.status ? CMA_CONN_FAILED : CMA_CONN_UP;
	cma_peer_unwatch(idp);
	ret = cma_id_deliver(idp, &event);
	if (event.event == RDMA_CM_EVENT_ESTABLISHED)
		rdma_destroy_ah_attr(&event.param.ud.ah_attr);
	if (ret) {
		/* The CM destroys its id when we return. */
		idp->cm.ib = NULL;
		cma_id_destroy_locked(idp);
		return ret;
	}
out:
	mutex_unlock(&idp->handler_mutex);
	return 0;
}
