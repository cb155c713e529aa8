// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connection manager events of a connection of either side. */
#include "ulp.h"

/*
 * Gets the cookie with which the peer's private data must begin; the data may be
 * padded.
 */
bool event_cookie(const struct rdma_cm_event *event, u64 *cookie)
{
	__be64 raw;

	if (event->param.conn.private_data_len < sizeof(raw))
		return false;
	memcpy(&raw, event->param.conn.private_data, sizeof(raw));
	*cookie = be64_to_cpu(raw);
	return true;
}

static void count_once(struct conn *conn, int bit, atomic_t *active,
		       atomic_t *passive)
{
	if (test_and_set_bit(bit, &conn->bits))
		ulp_count(ULP_DUPLICATES);
	else
		atomic_inc(test_bit(CONN_ACTIVE, &conn->bits) ? active : passive);
}

static void wake(struct conn *conn, int status)
{
	conn->status = status;
	complete(&conn->event);
}

/* Events that only count something and end the connection. */
static int ending_event(struct conn *conn, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		ulp_count(ULP_ADDR_ERROR);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		ulp_count(ULP_ROUTE_ERROR);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		ulp_count(ULP_CONNECT_ERROR);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		ulp_count(ULP_UNREACHABLE);
		break;
	case RDMA_CM_EVENT_REJECTED:
		ulp_count(ULP_REJECTED);
		atomic_set(&ulp_stats[ULP_LAST_REJECT], event->status);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		ulp_count(ULP_REMOVALS);
		break;
	default:
		ulp_count(ULP_UNEXPECTED);
		pr_info("unexpected event %s\n", rdma_event_msg(event->event));
		return 0;
	}
	wake(conn, -ECONNREFUSED);
	complete(&conn->over);
	complete(&conn->echoed);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL ||
	    !test_bit(CONN_ACTIVE, &conn->bits))
		conn_close(conn);
	return 0;
}

static void established(struct conn *conn, struct rdma_cm_event *event)
{
	bool active = test_bit(CONN_ACTIVE, &conn->bits);
	u32 us = ktime_us_delta(ktime_get(), conn->started);
	u64 cookie;

	if (test_bit(CONN_DISCONNECTED, &conn->bits))
		ulp_count(ULP_UNEXPECTED);
	count_once(conn, CONN_ESTABLISHED, &ulp_stats[ULP_ESTABLISHED],
		   &ulp_stats[ULP_PASSIVE_ESTABLISHED]);
	if (!active)
		return;
	if (!event_cookie(event, &cookie) || cookie != ~conn->cookie)
		ulp_count(ULP_BAD_DATA);
	atomic64_add(us, &ulp_connect_us);
	if (us > atomic_read(&ulp_connect_max_us))
		atomic_set(&ulp_connect_max_us, us);
	wake(conn, 0);
}

int conn_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct conn *conn = id->context;

	times_event(conn->times, event->event);
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		wake(conn, 0);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		established(conn, event);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		count_once(conn, CONN_DISCONNECTED, &ulp_stats[ULP_DISCONNECTED],
			   &ulp_stats[ULP_PASSIVE_DISCONNECTED]);
		complete(&conn->over);
		complete(&conn->echoed);
		if (!test_bit(CONN_ACTIVE, &conn->bits))
			conn_close(conn);
		return 0;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		ulp_count(ULP_TIMEWAIT);
		return 0;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return 0;
	default:
		return ending_event(conn, event);
	}
}
