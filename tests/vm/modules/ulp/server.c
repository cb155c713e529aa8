// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The passive side: one listener, and what it accepts. */
#include <rdma/ib_cm.h>
#include "ulp.h"

/* serialises changes of the listener; its handlers do not take it */
static DEFINE_MUTEX(listen_lock);

static void listener_removal(struct work_struct *work);

static struct listener {
	struct rdma_cm_id *id;		/* protected by listen_lock */
	struct work_struct removal;
} listener = {
	.removal = __WORK_INITIALIZER(listener.removal, listener_removal),
};

static int accept_request(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rdma_conn_param param;
	struct conn *conn;
	__be64 answer;
	int ret;

	ulp_count(ULP_REQUESTS);
	if (ulp_reject) {
		rdma_reject(id, "no", 2, IB_CM_REJ_CONSUMER_DEFINED);
		return -ECONNREFUSED;
	}
	conn = conn_alloc(false);
	if (!conn)
		return -ENOMEM;
	conn->id = id;
	conn->started = ktime_get();
	conn->times = times_new(false);
	if (!event_cookie(event, &conn->cookie))
		ulp_count(ULP_BAD_DATA);

	ret = conn_make_verbs(conn);
	if (ret)
		goto fail;
	answer = cpu_to_be64(~conn->cookie);
	conn_param(&param, &answer);
	id->context = conn;
	__set_bit(CONN_CONNECTED, &conn->bits);
	ret = rdma_accept(id, &param);
	if (ret)
		goto fail;
	ulp_count(ULP_ACCEPTED);
	conn_stand(conn);
	return 0;

fail:
	/* returning an error makes the CMA reject and destroy the id */
	ulp_count(ULP_SETUP_ERROR);
	conn_free_verbs(conn);
	conn_put(conn);
	return ret;
}

/* Children keep this handler; their context distinguishes them from the listener. */
static int passive_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (id->context != &listener)
		return conn_event(id, event);

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept_request(id, event);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		ulp_count(ULP_REMOVALS);
		queue_work(ulp_release_wq, &listener.removal);
		return 0;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return 0;
	default:
		ulp_count(ULP_UNEXPECTED);
		return 0;
	}
}

bool listen_on(void)
{
	return READ_ONCE(listener.id);
}

static void stop_locked(void)
{
	lockdep_assert_held(&listen_lock);
	if (listener.id)
		rdma_destroy_id(listener.id);
	listener.id = NULL;
}

void listen_stop(void)
{
	mutex_lock(&listen_lock);
	stop_locked();
	mutex_unlock(&listen_lock);
}

static void listener_removal(struct work_struct *work)
{
	listen_stop();
}

/* Returns a new id that listens, or an error pointer. */
struct rdma_cm_id *listen_id(const struct sockaddr_storage *addr,
			     rdma_cm_event_handler handler, void *context, int backlog)
{
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, handler, context, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	ret = rdma_bind_addr(id, (struct sockaddr *)addr);
	if (!ret)
		ret = rdma_listen(id, backlog);
	if (!ret)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(ret);
}

int listen_start(const struct sockaddr_storage *addr)
{
	struct rdma_cm_id *id;

	mutex_lock(&listen_lock);
	stop_locked();
	id = listen_id(addr, passive_event, &listener, ulp_backlog);
	if (!IS_ERR(id))
		listener.id = id;
	mutex_unlock(&listen_lock);
	return PTR_ERR_OR_ZERO(id);
}
