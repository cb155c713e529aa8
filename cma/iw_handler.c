// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the iWARP CM tells, and what the consumer hears of it.
 *
 *	iWARP CM		consumer
 *	CONNECT_REQUEST		CONNECT_REQUEST, on a new id
 *	CONNECT_REPLY		ESTABLISHED; REJECTED if the peer refused or
 *				reset; UNREACHABLE if it timed out; else
 *				CONNECT_ERROR
 *	ESTABLISHED		ESTABLISHED
 *	CLOSE			DISCONNECTED
 */
#include "cma.h"
#include "trace.h"

/* The iWARP CM names both depths from the peer's point of view. */
static void cma_iw_conn_event(struct rdma_cm_event *event,
			      const struct iw_cm_event *iw)
{
	event->param.conn.private_data = iw->private_data;
	event->param.conn.private_data_len = iw->private_data_len;
	event->param.conn.initiator_depth = iw->ird;
	event->param.conn.responder_resources = iw->ord;
}

static bool cma_iw_closed(struct cma_id *idp, struct iw_cm_event *iw,
			  struct rdma_cm_event *event)
{
	if (cma_id_step(idp, CMA_T_DISCONNECTED))
		return false;
	event->event = RDMA_CM_EVENT_DISCONNECTED;
	return true;
}

static enum rdma_cm_event_type cma_iw_outcome(int status)
{
	switch (status) {
	case 0:
		return RDMA_CM_EVENT_ESTABLISHED;
	case -ECONNRESET:
	case -ECONNREFUSED:
		return RDMA_CM_EVENT_REJECTED;
	case -ETIMEDOUT:
		return RDMA_CM_EVENT_UNREACHABLE;
	default:
		return RDMA_CM_EVENT_CONNECT_ERROR;
	}
}

static bool cma_iw_reply(struct cma_id *idp, struct iw_cm_event *iw,
			 struct rdma_cm_event *event)
{
	memcpy(cma_src(idp), &iw->local_addr,
	       rdma_addr_size((struct sockaddr *)&iw->local_addr));
	memcpy(cma_dst(idp), &iw->remote_addr,
	       rdma_addr_size((struct sockaddr *)&iw->remote_addr));
	event->event = cma_iw_outcome(iw->status);
	idp->conn = iw->status ? CMA_CONN_FAILED : CMA_CONN_UP;
	return true;
}

static bool cma_iw_established(struct cma_id *idp, struct iw_cm_event *iw,
			       struct rdma_cm_event *event)
{
	if (idp->conn != CMA_CONN_PENDING)
		return false;
	idp->conn = CMA_CONN_UP;
	event->event = RDMA_CM_EVENT_ESTABLISHED;
	return true;
}

static bool (*const cma_iw_events[])(struct cma_id *idp, struct iw_cm_event *iw,
				     struct rdma_cm_event *event) = {
	[IW_CM_EVENT_CONNECT_REPLY] = cma_iw_reply,
	[IW_CM_EVENT_ESTABLISHED] = cma_iw_established,
	[IW_CM_EVENT_CLOSE] = cma_iw_closed,
};

/*
 * cma_iw_event() - the iWARP CM's handler of connections
 *
 * Return: 0; non-zero when the consumer wanted its id destroyed, so that the CM
 * destroys its own.
 */
int cma_iw_event(struct iw_cm_id *cm_id, struct iw_cm_event *iw)
{
	struct cma_id *idp = cm_id->context;
	struct rdma_cm_event event = { .status = iw->status };
	int ret = 0;

	mutex_lock(&idp->handler_mutex);
	if (cma_state(idp) != RDMA_CM_CONNECT ||
	    iw->event >= ARRAY_SIZE(cma_iw_events) || !cma_iw_events[iw->event])
		goto out;
	cma_iw_conn_event(&event, iw);
	if (cma_iw_events[iw->event](idp, iw, &event))
		ret = cma_id_deliver(idp, &event);
	if (ret) {
		/* The CM destroys it, when we return. */
		idp->cm.iw = NULL;
		cma_id_destroy_locked(idp);
		return ret;
	}
out:
	mutex_unlock(&idp->handler_mutex);
	return 0;
}

/* A new id for the request, with its handler_mutex held, or an error. */
static struct cma_id *cma_iw_child(struct cma_id *listener,
				   struct iw_cm_id *cm_id,
				   struct iw_cm_event *iw)
{
	struct cma_binding binding = {};
	struct rdma_dev_addr *dev_addr;
	struct cma_id *idp;
	int err;

	idp = cma_id_alloc_child(listener, IB_QPT_RC);
	if (!idp)
		return ERR_PTR(-ENOMEM);

	mutex_lock(&idp->handler_mutex);
	dev_addr = &idp->id.route.addr.dev_addr;
	memcpy(cma_src(idp), &iw->local_addr,
	       rdma_addr_size((struct sockaddr *)&iw->local_addr));
	memcpy(cma_dst(idp), &iw->remote_addr,
	       rdma_addr_size((struct sockaddr *)&iw->remote_addr));
	binding.port = rdma_start_port(cm_id->device);
	binding.dev = cma_listen_device(listener, cm_id->device);
	err = binding.dev ? rdma_translate_ip(cma_src(idp), dev_addr) : -ENODEV;
	if (err && binding.dev)
		cma_dev_put(binding.dev);
	if (!err)
		err = cma_id_attach(idp, &binding);
	if (!err)
		err = cma_id_step(idp, CMA_T_REQUEST);
	if (err) {
		cma_id_destroy_locked(idp);
		return ERR_PTR(err);
	}
	return idp;
}

static int cma_iw_deliver(struct cma_id *idp, struct iw_cm_id *cm_id,
			  struct iw_cm_event *iw)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	int ret;

	idp->cm.iw = cm_id;
	idp->conn = CMA_CONN_PENDING;
	cm_id->context = idp;
	cm_id->cm_handler = cma_iw_event;
	cma_iw_conn_event(&event, iw);
	ret = cma_id_deliver(idp, &event);
	if (ret) {
		idp->cm.iw = NULL;
		cma_id_destroy_locked(idp);
		return ret;
	}
	mutex_unlock(&idp->handler_mutex);
	return 0;
}

/*
 * cma_iw_request() - the iWARP CM's handler of our listeners
 *
 * The new CM id has the listener's context, which is our id; the listener's CM
 * id holds a reference to it as long as this can be called.
 *
 * Return: 0, and the CM's id belongs to the new id; else the CM rejects the
 * request and destroys its id.
 */
int cma_iw_request(struct iw_cm_id *cm_id, struct iw_cm_event *iw)
{
	struct cma_id *listener = cm_id->context;
	struct cma_id *idp;
	int ret;

	if (iw->event != IW_CM_EVENT_CONNECT_REQUEST)
		return -EINVAL;
	if (cma_state(listener) != RDMA_CM_LISTEN || !cma_id_tryget(listener))
		return -ECONNREFUSED;

	trace_cm_req_handler(listener, iw->event);
	idp = cma_iw_child(listener, cm_id, iw);
	ret = IS_ERR(idp) ? PTR_ERR(idp) : cma_iw_deliver(idp, cm_id, iw);
	cma_id_put(listener);
	return ret;
}
