// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Events that are not reported by a CM: the outcomes of resolutions and joins, and
 * changes of link addresses.
 *
 * The code that learns of such an event, in any context, stores the result in the
 * id and sets a bit (cma_id_post()); the consumer's callback then runs from the
 * id's own work item.  So no callback blocks the queue of the address resolver, of
 * the SA or of a notifier chain; a callback may start the next resolution or
 * destroy the id; and events of different ids run in parallel.
 */
#include "id/id.h"
#include "multicast/multicast.h"
#include "resolve/resolve.h"

static int cma_addr_change_event(struct cma_id *idp)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ADDR_CHANGE };

	return cma_id_deliver(idp, &event);
}

/*
 * The peer's link address changed during a connection attempt.  Packets to the old
 * address are lost, so report the failure now instead of after 16 time-outs.
 */
static int cma_unreachable_event(struct cma_id *idp)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_UNREACHABLE,
		.status = -ETIMEDOUT,
	};

	if (cma_state(idp) != RDMA_CM_CONNECT || idp->conn != CMA_CONN_PENDING)
		return 0;
	idp->conn = CMA_CONN_FAILED;
	cma_peer_unwatch(idp);
	return cma_id_deliver(idp, &event);
}

/* Each runs under handler_mutex; if it returns non-zero, the id must be destroyed. */
static int (*const cma_posts[CMA_NR_POSTS])(struct cma_id *idp) = {
	[CMA_POST_ADDR] = cma_addr_event,
	[CMA_POST_ROUTE] = cma_route_event,
	[CMA_POST_MCAST] = cma_mcast_event,
	[CMA_POST_ADDR_CHANGE] = cma_addr_change_event,
	[CMA_POST_UNREACHABLE] = cma_unreachable_event,
};

static bool cma_id_alive(struct cma_id *idp)
{
	enum rdma_cm_state state = cma_state(idp);

	return state != RDMA_CM_DESTROYING && state != RDMA_CM_DEVICE_REMOVAL;
}

void cma_event_work(struct work_struct *work)
{
	struct cma_id *idp = container_of(work, struct cma_id, id.net_work);
	unsigned long todo;
	unsigned int what;

	mutex_lock(&idp->handler_mutex);
	todo = xchg(&idp->pending, 0);
	for_each_set_bit(what, &todo, CMA_NR_POSTS) {
		if (!cma_id_alive(idp))
			break;
		if (cma_posts[what](idp)) {
			cma_id_destroy_pinned(idp);
			return;
		}
	}
	mutex_unlock(&idp->handler_mutex);
	cma_id_put(idp);
}
