// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connecting, accepting, rejecting, disconnecting: what is common to all transports,
 * and the choice of the transport.
 */
#include "connect/connect.h"
#include "id/id.h"
#include "resolve/resolve.h"
#include "trace.h"

static bool cma_on_iwarp(struct cma_id *idp)
{
	return rdma_cap_iw_cm(idp->id.device, idp->id.port_num);
}

/* Without a QP of the id, the parameters describe the QP that the consumer manages. */
static void cma_note_qp(struct cma_id *idp, const struct rdma_conn_param *param)
{
	if (idp->id.qp)
		return;
	WRITE_ONCE(idp->qp_num, param->qp_num);
	idp->srq = param->srq;
}

static int cma_connect_start(struct cma_id *idp, struct rdma_conn_param *param)
{
	int err;

	if (cma_on_iwarp(idp))
		return cma_iw_connect(idp, param);
	err = idp->id.qp_type == IB_QPT_UD ? cma_sidr_connect(idp, param) :
					     cma_ib_connect(idp, param);
	if (!err)
		cma_peer_watch(idp);
	return err;
}

/**
 * rdma_connect_locked() - connect to the address that was resolved
 * @id: an id with a resolved route, whose handler lock the caller holds
 * @conn_param: what is offered to the peer: private data (at most 56 bytes on RC, 180
 *	on UD), depths and retries
 *
 * Like rdma_connect(), but for a callback of @id or under rdma_lock_handler().
 *
 * Context: may sleep.
 * Return: as rdma_connect().
 */
int rdma_connect_locked(struct rdma_cm_id *id,
			struct rdma_conn_param *conn_param)
{
	struct cma_id *idp = to_cma(id);
	int err;

	lockdep_assert_held(&idp->handler_mutex);
	err = cma_id_step(idp, CMA_T_CONNECT);
	if (err)
		return err;

	cma_note_qp(idp, conn_param);
	idp->conn = CMA_CONN_PENDING;
	err = cma_connect_start(idp, conn_param);
	if (err) {
		idp->conn = CMA_CONN_NONE;
		cma_id_step(idp, CMA_T_CONNECT_FAILED);
	}
	return cma_roce_error(idp, err);
}
EXPORT_SYMBOL(rdma_connect_locked);

/**
 * rdma_connect() - connect to the address that was resolved
 * @id: an id with a resolved route
 * @conn_param: what is offered to the peer: private data (at most 56 bytes on RC, 180
 *	on UD), depths and retries
 *
 * Sends a REQ (RC; IBA vol. 1, 12.7), a SIDR_REQ (UD; 12.11) or an MPA request (iWARP;
 * RFC 5044).  The outcome is RDMA_CM_EVENT_ESTABLISHED, CONNECT_RESPONSE (if @id has
 * no QP), REJECTED, UNREACHABLE or CONNECT_ERROR.
 *
 * Context: may sleep; not from a callback of @id.
 * Return: 0 if an event will follow.  On error none follows: -EINVAL if @id is in the
 * wrong state or there is too much private data; -ENETDOWN if the device is being
 * removed, or on RoCE the netdev no longer exists; -ENOMEM; an error of the underlying CM.
 */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	int err;

	rdma_lock_handler(id);
	err = rdma_connect_locked(id, conn_param);
	rdma_unlock_handler(id);
	return err;
}
EXPORT_SYMBOL(rdma_connect);

/**
 * rdma_connect_ece() - connect, and offer enhanced connection establishment
 * @id: as rdma_connect()
 * @conn_param: as rdma_connect()
 * @ece: vendor and options of the QP, sent in the REQ
 *
 * Context: may sleep; not from a callback of @id.
 * Return: as rdma_connect().
 */
int rdma_connect_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		     struct rdma_ucm_ece *ece)
{
	to_cma(id)->ece = *ece;
	return rdma_connect(id, conn_param);
}
EXPORT_SYMBOL(rdma_connect_ece);

static int cma_accept(struct cma_id *idp, struct rdma_conn_param *param)
{
	if (cma_on_iwarp(idp))
		return param ? cma_iw_accept(idp, param) : -EINVAL;
	if (idp->id.qp_type != IB_QPT_UD)
		return param ? cma_ib_accept(idp, param) : cma_ib_confirm(idp);
	return cma_sidr_reply(idp, IB_SIDR_SUCCESS, param ? param->qkey : 0,
			      param ? param->private_data : NULL,
			      param ? param->private_data_len : 0);
}

/**
 * rdma_accept() - accept a request, or confirm a response
 * @id: an id from RDMA_CM_EVENT_CONNECT_REQUEST, or one that connects without a QP of
 *	its own and got RDMA_CM_EVENT_CONNECT_RESPONSE
 * @conn_param: the parameters of the reply; NULL to confirm a response
 *
 * The QP of @id is moved to RTR and RTS before the reply is sent, so that it can send
 * from then on.  RDMA_CM_EVENT_ESTABLISHED follows.  On any error except a wrong
 * state, the peer was rejected and the QP is in the error state.
 *
 * Context: may sleep; from a callback of @id or under rdma_lock_handler().
 * Return: 0; -EINVAL if @id is in the wrong state or there is too much private data;
 * an error of the QP or of the underlying CM.
 */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct cma_id *idp = to_cma(id);
	int err;

	lockdep_assert_held(&idp->handler_mutex);
	if (cma_state(idp) != RDMA_CM_CONNECT || !idp->cm.ib)
		return -EINVAL;

	WRITE_ONCE(idp->answered, true);
	if (conn_param)
		cma_note_qp(idp, conn_param);
	err = cma_accept(idp, conn_param);
	if (err) {
		cma_qp_to_err(idp);
		rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
	}
	return err;
}
EXPORT_SYMBOL(rdma_accept);

/**
 * rdma_accept_ece() - accept, and reply to enhanced connection establishment
 * @id: as rdma_accept()
 * @conn_param: as rdma_accept()
 * @ece: vendor and options of the QP, sent in the REP
 *
 * Context: as rdma_accept().
 * Return: as rdma_accept().
 */
int rdma_accept_ece(struct rdma_cm_id *id, struct rdma_conn_param *conn_param,
		    struct rdma_ucm_ece *ece)
{
	to_cma(id)->ece = *ece;
	return rdma_accept(id, conn_param);
}
EXPORT_SYMBOL(rdma_accept_ece);

/**
 * rdma_notify() - report an asynchronous event of the QP to the CM
 * @id: the id of the connection
 * @event: IB_EVENT_COMM_EST: data arrived before the RTU; IB_EVENT_PATH_MIG: the QP has
 *	migrated to the alternate path
 *
 * IBA vol. 1, 12.9.6: on COMM_EST the connection is established.  After PATH_MIG messages
 * of the connection take the new path, and rdma_init_qp_attr() for RTS returns what loads
 * the former one as the alternate path.  Of the QP that rdma_create_qp() made the CM sees
 * this itself, so that reporting it changes nothing.
 *
 * Context: any; the caller keeps @id from being destroyed.
 * Return: 0; -EISCONN if it was established already; -EINVAL if there is no connection
 * or it does not handle @event.
 */
int rdma_notify(struct rdma_cm_id *id, enum ib_event_type event)
{
	struct cma_id *idp = to_cma(id);

	if (!idp->cm.ib)
		return -EINVAL;
	if (cma_on_iwarp(idp) ||
	    (event == IB_EVENT_PATH_MIG && READ_ONCE(idp->follows)))
		return 0;
	return ib_cm_notify(idp->cm.ib, event);
}
EXPORT_SYMBOL(rdma_notify);

/**
 * rdma_reject() - reject a request or a response
 * @id: the id that received it
 * @private_data: for the peer's consumer, or NULL
 * @private_data_len: its length, at most 148 bytes on RC, 136 on UD
 * @reason: enum ib_cm_rej_reason; sent on RC only
 *
 * IBA vol. 1, 12.6.7 (REJ).  No more events follow; destroy @id.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if there is nothing to reject; an error of the underlying CM.
 */
int rdma_reject(struct rdma_cm_id *id, const void *private_data,
		u8 private_data_len, u8 reason)
{
	struct cma_id *idp = to_cma(id);

	if (!idp->cm.ib)
		return -EINVAL;
	WRITE_ONCE(idp->answered, true);
	if (cma_on_iwarp(idp))
		return iw_cm_reject(idp->cm.iw, private_data, private_data_len);
	if (id->qp_type == IB_QPT_UD)
		return cma_sidr_reply(idp, IB_SIDR_REJECT, 0, private_data,
				      private_data_len);
	trace_cm_send_rej(idp);
	return ib_send_cm_rej(idp->cm.ib, reason, NULL, 0, private_data,
			      private_data_len);
}
EXPORT_SYMBOL(rdma_reject);

/**
 * rdma_disconnect() - end a connection
 * @id: the id of the connection
 *
 * Moves the QP to the error state, which flushes its work requests, and sends the peer
 * a DREQ, or a DREP if the peer has sent a DREQ first (IBA vol. 1, 12.6.11).
 * RDMA_CM_EVENT_DISCONNECTED follows, unless it was reported before.
 *
 * Context: may sleep.  A callback of @id may call it.
 * Return: 0; -EINVAL if there is no connection; an error of the QP.
 */
int rdma_disconnect(struct rdma_cm_id *id)
{
	struct cma_id *idp = to_cma(id);

	/* The CM's id of an attempt that failed is still there. */
	if (!idp->cm.ib || cma_state(idp) == RDMA_CM_ROUTE_RESOLVED)
		return -EINVAL;
	if (cma_on_iwarp(idp))
		return iw_cm_disconnect(idp->cm.iw, 0);
	return cma_ib_disconnect(idp);
}
EXPORT_SYMBOL(rdma_disconnect);
