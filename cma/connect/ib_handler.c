// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events of the IB CM, and the events that the consumer gets for them.
 *
 *	IB CM				consumer
 *	REQ_ERROR, REP_ERROR		UNREACHABLE, -ETIMEDOUT
 *	REP_RECEIVED			ESTABLISHED, after the QP is in RTS and the RTU
 *					was sent; CONNECT_RESPONSE if the consumer
 *					manages its QP; CONNECT_ERROR if the QP cannot
 *					be moved
 *	RTU_RECEIVED, USER_ESTABLISHED	ESTABLISHED, once
 *	REJ_RECEIVED			REJECTED, with the reason
 *	DREQ_RECEIVED, DREP_RECEIVED	DISCONNECTED, once; if no RTU was received, the
 *					IB CM has reported USER_ESTABLISHED before
 *	DREQ_ERROR			DISCONNECTED, -ETIMEDOUT
 *	TIMEWAIT_EXIT			TIMEWAIT_EXIT
 *	SIDR_REP_RECEIVED, _REQ_ERROR	ESTABLISHED or UNREACHABLE (sidr.c)
 *
 * The IB CM delivers the events of one id in order; they run under the id's
 * handler_mutex.
 */
#include <ibex/cm.h>

#include "connect/connect.h"
#include "id/id.h"
#include "trace.h"

/* The outcome of the attempt is known: the peer and the QP need no watch any more. */
static void cma_conn_outcome(struct cma_id *idp, enum cma_conn conn)
{
	idp->conn = conn;
	cma_peer_unwatch(idp);
	ib_cm_unwatch_qp(idp->cm.ib);
}

/*
 * The connection is established.  If it has an alternate path, the IB CM follows the QP
 * there; for a QP that the consumer manages, the consumer tells it by rdma_notify().
 */
static void cma_conn_up(struct cma_id *idp)
{
	cma_conn_outcome(idp, CMA_CONN_UP);
	if (idp->id.route.num_pri_alt_paths < 2)
		return;
	mutex_lock(&idp->qp_mutex);
	if (idp->id.qp && !ib_cm_watch_migration(idp->cm.ib, idp->id.qp))
		WRITE_ONCE(idp->follows, true);
	mutex_unlock(&idp->qp_mutex);
}

static bool cma_ib_error(struct cma_id *idp, const struct ib_cm_event *ib,
			 struct rdma_cm_event *event)
{
	if (idp->conn == CMA_CONN_FAILED)
		return false;
	cma_conn_outcome(idp, CMA_CONN_FAILED);
	event->event = RDMA_CM_EVENT_UNREACHABLE;
	event->status = -ETIMEDOUT;
	return true;
}

static int cma_ib_finish_connect(struct cma_id *idp)
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

static void cma_ib_abort(struct cma_id *idp)
{
	cma_qp_to_err(idp);
	trace_cm_send_rej(idp);
	ib_send_cm_rej(idp->cm.ib, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL,
		       0);
}

static bool cma_ib_rep(struct cma_id *idp, const struct ib_cm_event *ib,
		       struct rdma_cm_event *event)
{
	const struct ib_cm_rep_event_param *rep = &ib->param.rep_rcvd;

	if (idp->conn == CMA_CONN_FAILED) {
		/* UNREACHABLE has already been reported to the consumer. */
		cma_ib_abort(idp);
		return false;
	}

	event->param.conn.private_data = ib->private_data;
	event->param.conn.private_data_len = IB_CM_REP_PRIVATE_DATA_SIZE;
	event->param.conn.responder_resources = rep->responder_resources;
	event->param.conn.initiator_depth = rep->initiator_depth;
	event->param.conn.flow_control = rep->flow_control;
	event->param.conn.rnr_retry_count = rep->rnr_retry_count;
	event->param.conn.srq = rep->srq;
	event->param.conn.qp_num = rep->remote_qpn;
	event->ece = rep->ece;

	if (!idp->id.qp) {
		/* The consumer sends the RTU by rdma_accept(). */
		cma_conn_up(idp);
		event->event = RDMA_CM_EVENT_CONNECT_RESPONSE;
		trace_cm_send_mra(idp);
		ib_send_cm_mra(idp->cm.ib,
			       IB_CM_MRA_FLAG_DELAY | CMA_MRA_TIMEOUT, NULL, 0);
		return true;
	}

	event->status = cma_ib_finish_connect(idp);
	if (event->status) {
		cma_ib_abort(idp);
		cma_conn_outcome(idp, CMA_CONN_FAILED);
		event->event = RDMA_CM_EVENT_CONNECT_ERROR;
	} else {
		cma_conn_up(idp);
		event->event = RDMA_CM_EVENT_ESTABLISHED;
	}
	return true;
}

static bool cma_ib_established(struct cma_id *idp, const struct ib_cm_event *ib,
			       struct rdma_cm_event *event)
{
	if (idp->conn != CMA_CONN_PENDING)
		return false;
	cma_conn_up(idp);
	event->event = RDMA_CM_EVENT_ESTABLISHED;
	return true;
}

static bool cma_ib_rejected(struct cma_id *idp, const struct ib_cm_event *ib,
			    struct rdma_cm_event *event)
{
	if (idp->conn == CMA_CONN_FAILED)
		return false;
	cma_qp_to_err(idp);
	cma_conn_outcome(idp, CMA_CONN_FAILED);
	event->event = RDMA_CM_EVENT_REJECTED;
	event->status = ib->param.rej_rcvd.reason;
	event->param.conn.private_data = ib->private_data;
	event->param.conn.private_data_len = IB_CM_REJ_PRIVATE_DATA_SIZE;
	return true;
}

static bool cma_ib_disconnected(struct cma_id *idp,
				const struct ib_cm_event *ib,
				struct rdma_cm_event *event)
{
	if (cma_id_step(idp, CMA_T_DISCONNECTED))
		return false;
	cma_conn_outcome(idp, idp->conn);
	event->event = RDMA_CM_EVENT_DISCONNECTED;
	if (ib->event == IB_CM_DREQ_ERROR)
		event->status = -ETIMEDOUT;
	return true;
}

static bool cma_ib_timewait_exit(struct cma_id *idp,
				 const struct ib_cm_event *ib,
				 struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_TIMEWAIT_EXIT;
	return true;
}

/*
 * For each event of the IB CM: the only state in which it is handled, and the function
 * that fills in the consumer's event, or returns false if there is none.  Events
 * without an entry (MRA) are not reported to the consumer.
 */
static const struct {
	enum rdma_cm_state state;
	bool (*handle)(struct cma_id *idp, const struct ib_cm_event *ib,
		       struct rdma_cm_event *event);
} cma_ib_events[] = {
	[IB_CM_REQ_ERROR] = { RDMA_CM_CONNECT, cma_ib_error },
	[IB_CM_REP_ERROR] = { RDMA_CM_CONNECT, cma_ib_error },
	[IB_CM_REP_RECEIVED] = { RDMA_CM_CONNECT, cma_ib_rep },
	[IB_CM_RTU_RECEIVED] = { RDMA_CM_CONNECT, cma_ib_established },
	[IB_CM_USER_ESTABLISHED] = { RDMA_CM_CONNECT, cma_ib_established },
	[IB_CM_DREQ_ERROR] = { RDMA_CM_CONNECT, cma_ib_disconnected },
	[IB_CM_DREQ_RECEIVED] = { RDMA_CM_CONNECT, cma_ib_disconnected },
	[IB_CM_DREP_RECEIVED] = { RDMA_CM_CONNECT, cma_ib_disconnected },
	[IB_CM_TIMEWAIT_EXIT] = { RDMA_CM_DISCONNECT, cma_ib_timewait_exit },
	[IB_CM_REJ_RECEIVED] = { RDMA_CM_CONNECT, cma_ib_rejected },
	[IB_CM_SIDR_REQ_ERROR] = { RDMA_CM_CONNECT, cma_ib_error },
};

/*
 * cma_ib_event() - the IB CM's handler of connections
 *
 * Return: 0; non-zero if the consumer's callback had its id destroyed, so that the CM
 * destroys its own.
 */
int cma_ib_event(struct ib_cm_id *cm_id, const struct ib_cm_event *ib)
{
	struct cma_id *idp = cm_id->context;
	struct rdma_cm_event event = {};
	int ret = 0;

	mutex_lock(&idp->handler_mutex);
	if (ib->event >= ARRAY_SIZE(cma_ib_events) ||
	    !cma_ib_events[ib->event].handle ||
	    cma_state(idp) != cma_ib_events[ib->event].state)
		goto out;
	if (cma_ib_events[ib->event].handle(idp, ib, &event))
		ret = cma_id_deliver(idp, &event);
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
