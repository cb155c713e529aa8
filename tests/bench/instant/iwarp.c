// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections of iWARP, whose two ends are both here, so that the peer's answer to a call is an
 * event within that call.
 *
 * Locks: listeners_lock, held over the event of a listener, so that none comes after its
 * destruction; conn->lock.  Neither is taken inside the other.
 */
#include <linux/kref.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include "instant.h"

enum { ACTIVE, PASSIVE, NR_ENDS };

struct instant_conn {
	struct kref ref;		/* one of the QP, or the request, of each end */
	spinlock_t lock;		/* protects all below */
	/* With a reference; NULL: not connected yet, or no longer. */
	struct iw_cm_id *ends[NR_ENDS];
};

struct listener {
	struct list_head link;
	struct iw_cm_id *id;		/* with a reference */
};

static LIST_HEAD(listeners);		/* protected by listeners_lock */
static DEFINE_SPINLOCK(listeners_lock);

static void conn_free(struct kref *ref)
{
	kfree(container_of(ref, struct instant_conn, ref));
}

static void conn_put(struct instant_conn *conn)
{
	kref_put(&conn->ref, conn_free);
}

/* The id is no longer an end; its reference is the caller's. */
static struct iw_cm_id *conn_take(struct instant_conn *conn, int end)
{
	struct iw_cm_id *id;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	id = conn->ends[end];
	conn->ends[end] = NULL;
	spin_unlock_irqrestore(&conn->lock, flags);
	return id;
}

static void notify(struct iw_cm_id *id, enum iw_cm_event_type what, int status)
{
	struct iw_cm_event event = {
		.event = what,
		.status = status,
		.local_addr = id->local_addr,
		.remote_addr = id->remote_addr,
	};

	id->event_handler(id, &event);
}

/* ---- QPs ---- */

void instant_iw_init(struct instant_iw *iw)
{
	refcount_set(&iw->refs, 1);
	init_completion(&iw->unused);
}

static void instant_add_ref(struct ib_qp *qp)
{
	refcount_inc(&instant_iw(qp)->refs);
}

static void iw_put(struct instant_iw *iw)
{
	if (refcount_dec_and_test(&iw->refs))
		complete(&iw->unused);
}

static void instant_rem_ref(struct ib_qp *qp)
{
	iw_put(instant_iw(qp));
}

static struct ib_qp *instant_get_qp(struct ib_device *device, int qpn)
{
	return instant_find_qp(qpn);
}

void instant_iw_close(struct instant_iw *iw)
{
	int end;

	for (end = 0; iw->conn && end < NR_ENDS; end++) {
		struct iw_cm_id *id = conn_take(iw->conn, end);

		if (id) {
			notify(id, IW_CM_EVENT_CLOSE, 0);
			id->rem_ref(id);
		}
	}
}

void instant_iw_destroy(struct instant_iw *iw)
{
	instant_iw_close(iw);
	if (iw->conn)
		conn_put(iw->conn);
	iw_put(iw);
	wait_for_completion(&iw->unused);
}

/* ---- connections ---- */

static int request(struct instant_conn *conn, struct iw_cm_id *id,
		   const struct iw_cm_conn_param *param)
{
	__be16 port = ((struct sockaddr_in *)&id->remote_addr)->sin_port;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = id->remote_addr,
		.remote_addr = id->local_addr,
		.private_data = (void *)param->private_data,
		.private_data_len = param->private_data_len,
		.provider_data = conn,
	};
	struct listener *listener;
	int ret = -ECONNREFUSED;
	unsigned long flags;

	spin_lock_irqsave(&listeners_lock, flags);
	list_for_each_entry(listener, &listeners, link) {
		if (((struct sockaddr_in *)&listener->id->local_addr)->sin_port == port) {
			ret = listener->id->event_handler(listener->id, &event);
			break;
		}
	}
	spin_unlock_irqrestore(&listeners_lock, flags);
	return ret;
}

static int instant_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct ib_qp *qp = instant_find_qp(param->qpn);
	struct instant_conn *conn;
	int ret;

	if (!qp || instant_iw(qp)->conn)
		return -EINVAL;
	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return -ENOMEM;
	kref_init(&conn->ref);
	spin_lock_init(&conn->lock);
	id->add_ref(id);
	conn->ends[ACTIVE] = id;
	/* That of the request. */
	kref_get(&conn->ref);
	instant_iw(qp)->conn = conn;
	ret = request(conn, id, param);
	if (!ret)
		return 0;
	instant_iw(qp)->conn = NULL;
	id->rem_ref(id);
	conn_put(conn);
	conn_put(conn);
	return ret;
}

static int instant_reject(struct iw_cm_id *id, const void *pdata, u8 len)
{
	struct instant_conn *conn = id->provider_data;
	struct iw_cm_id *active = conn_take(conn, ACTIVE);

	if (active) {
		notify(active, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED);
		active->rem_ref(active);
	}
	conn_put(conn);
	return 0;
}

static int instant_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct ib_qp *qp = instant_find_qp(param->qpn);
	struct instant_conn *conn = id->provider_data;
	struct iw_cm_id *active;
	unsigned long flags;

	if (!qp || instant_iw(qp)->conn) {
		instant_reject(id, NULL, 0);
		return -EINVAL;
	}
	spin_lock_irqsave(&conn->lock, flags);
	active = conn->ends[ACTIVE];
	if (active) {
		active->add_ref(active);
		id->add_ref(id);
		conn->ends[PASSIVE] = id;
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	if (!active) {
		conn_put(conn);
		return -ECONNRESET;
	}
	/* With the request's reference */
	instant_iw(qp)->conn = conn;
	notify(id, IW_CM_EVENT_ESTABLISHED, 0);
	notify(active, IW_CM_EVENT_CONNECT_REPLY, 0);
	active->rem_ref(active);
	return 0;
}

/* ---- listeners ---- */

static int instant_create_listen(struct iw_cm_id *id, int backlog)
{
	struct listener *listener = kzalloc(sizeof(*listener), GFP_KERNEL);

	if (!listener)
		return -ENOMEM;
	id->add_ref(id);
	id->provider_data = listener;
	listener->id = id;
	spin_lock_irq(&listeners_lock);
	list_add(&listener->link, &listeners);
	spin_unlock_irq(&listeners_lock);
	return 0;
}

static int instant_destroy_listen(struct iw_cm_id *id)
{
	struct listener *listener = id->provider_data;

	spin_lock_irq(&listeners_lock);
	list_del(&listener->link);
	spin_unlock_irq(&listeners_lock);
	kfree(listener);
	id->rem_ref(id);
	return 0;
}

const struct ib_device_ops instant_iw_ops = {
	.iw_add_ref		= instant_add_ref,
	.iw_rem_ref		= instant_rem_ref,
	.iw_get_qp		= instant_get_qp,
	.iw_connect		= instant_connect,
	.iw_accept		= instant_accept,
	.iw_reject		= instant_reject,
	.iw_create_listen	= instant_create_listen,
	.iw_destroy_listen	= instant_destroy_listen,
};
