// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Listeners that take no connections, to measure what one costs. They must be
 * destroyed before a device is removed.
 */
#include "ulp.h"

#define MAX_IDLE	256

/* serialises changes of the two below */
static DEFINE_MUTEX(idle_lock);
static struct rdma_cm_id *idle[MAX_IDLE];
static unsigned int idle_count;

static int idle_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	ulp_count(ULP_UNEXPECTED);
	return event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? -ECONNREFUSED : 0;
}

void idle_stop(void)
{
	mutex_lock(&idle_lock);
	while (idle_count)
		rdma_destroy_id(idle[--idle_count]);
	mutex_unlock(&idle_lock);
}

/* Starts @count more listeners. */
int idle_start(const struct sockaddr_storage *addr, unsigned int count, int backlog)
{
	struct rdma_cm_id *id;
	int ret = 0;

	mutex_lock(&idle_lock);
	if (count > MAX_IDLE - idle_count)
		ret = -ENOSPC;
	while (!ret && count--) {
		id = listen_id(addr, idle_event, NULL, backlog);
		if (IS_ERR(id))
			ret = PTR_ERR(id);
		else
			idle[idle_count++] = id;
	}
	mutex_unlock(&idle_lock);
	return ret;
}
