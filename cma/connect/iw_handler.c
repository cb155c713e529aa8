// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events of the iWARP CM, and the events that the consumer gets for them.
 *
 *	iWARP CM		consumer
 *	CONNECT_REQUEST		CONNECT_REQUEST, on a new id
 *	CONNECT_REPLY		ESTABLISHED; REJECTED if the peer refused or
 *				reset; UNREACHABLE if it timed out; else
 *				CONNECT_ERROR
 *	ESTABLISHED		ESTABLISHED
 *	CLOSE			DISCONNECTED; CONNECT_ERROR on the active side if
 *				no outcome was reported yet
 */
#include <net/ipv6.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"
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

/*
 * A listener on the IPv6 wildcard gets IPv4 peers by their mapped addresses.  The
 * consumer gets them as IPv4 addresses, as on the other transports, where both
 * addresses of a request are of one family.
 */
static void cma_iw_addr(struct sockaddr *to, const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
	struct sockaddr_in *in = (struct sockaddr_in *)to;

	if (from->ss_family == AF_INET6 && ipv6_addr_v4mapped(&in6->sin6_addr)) {
		in->sin_family = AF_INET;
		in->sin_port = in6->sin6_port;
		in->sin_addr.s_addr = in6->sin6_addr.s6_addr32[3];
	} else {
		memcpy(to, from, rdma_addr_size((struct sockaddr *)from));
	}
}

/*
 * The active side waits for an outcome.  On the passive side some consumers (NFS,
 * srpt) recognize only DISCONNECTED as the end.
 */
static bool cma_iw_closed(struct cma_id *idp, struct iw_cm_event *iw,
			  struct rdma_cm_event *event)
{
	if (idp->conn == CMA_CONN_PENDING && !idp->passive) {
		idp->conn = CMA_CONN_FAILED;
		event->event = RDMA_CM_EVENT_CONNECT_ERROR;
		event->status = -ECONNRESET;
		return true;
	}
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
	event->event = cma_iw_outcome(iw->status);
	idp->conn = iw->status ? CMA_CONN_FAILED : CMA_CONN_UP;
	if (iw->status)
		return true;
	cma_iw_addr(cma_src(idp), &iw->local_addr);
	cma_iw_addr(cma_dst(idp), &iw->remote_addr);
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
 * Return: 0; non-zero if the consumer's callback had its id destroyed, so that the CM
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
		/* The CM destroys its id when we return. */
		idp->cm.iw = NULL;
		cma_id_destroy_locked(idp);
		return ret;
	}
out:
	mutex_unlock(&idp->handler_mutex);
	return 0;
}

/* Creates the id for the request; returns it with handler_mutex held, or an error. */
static struct cma_id *cma_iw_child(struct cma_id *listener,
				   struct iw_cm_id *cm_id,
				   struct iw_cm_event *iw)
{
	struct cma_dev *dev;
	struct cma_id *idp;
	int err;

	idp = cma_id_alloc_child(listener, IB_QPT_RC);
	if (!idp)
		return ERR_PTR(-ENOMEM);

	mutex_lock(&idp->handler_mutex);
	cma_iw_addr(cma_src(idp), &iw->local_addr);
	cma_iw_addr(cma_dst(idp), &iw->remote_addr);
	dev = cma_listen_device(listener, cm_id->device);
	err = dev ? cma_bind_iwarp(idp, dev) : -ENODEV;
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
 * The new CM id has the context of the CM listener, which is our listening id.  The
 * cma_listen holds a reference to that id as long as this can be called.
 *
 * Return: 0 if the new id has taken over the CM's id; otherwise the CM rejects the
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
