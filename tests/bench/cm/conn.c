// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections between two addresses of one device, which loops MADs back, both ends of
 * them here.  Batches of different connections may be taken on at the same time.
 *
 * A connection's active id and batch are written by the task that takes its batch on, while no
 * callback of its ids can run or before the call that makes one run; its passive id by
 * the callback of its request, which that task waits for; and, at the removal of the
 * device, by the ids' callbacks.
 */
#include <linux/inet.h>
#include <linux/in.h>
#include <linux/mm.h>
#include <net/net_namespace.h>
#include "bench.h"

#define BENCH_PORT	7471
#define BENCH_LISTENERS	16
#define BENCH_CONNS	(BENCH_ALIVE + BENCH_TASKS * BENCH_BATCH)

const char *const bench_step_names[NR_STEPS] = {
	"create", "address", "route", "qp", "connect", "disconnect", "destroy",
};

/* What a batch waits for. */
struct batch {
	atomic_t left;			/* events that are still to come */
	atomic_t bad;			/* events that should not have come, and errors */
	struct completion done;
};

struct conn {
	struct rdma_cm_id *active;	/* NULL: not created or destroyed */
	struct rdma_cm_id *passive;
	struct batch *batch;		/* that of the batch's first connection */
	struct batch own;
};

static struct {
	struct sockaddr_in src;
	struct sockaddr_in dst;		/* of the first listener */
	unsigned int nr_listeners;	/* 0: not open */
	struct rdma_cm_id *listeners[BENCH_LISTENERS];
	struct conn *conns;		/* BENCH_CONNS */
	struct ib_pd *pd;		/* of all QPs */
	struct ib_cq *cq;
	/* One for each QP, and one for being open: the last one frees pd and cq. */
	refcount_t users;
	atomic_t removals;		/* events of ids whose device is being removed */
} bench;

static void verbs_put(void)
{
	if (!refcount_dec_and_test(&bench.users))
		return;
	ib_free_cq(bench.cq);
	ib_dealloc_pd(bench.pd);
}

static int verbs_get(struct ib_device *device)
{
	bench.pd = ib_alloc_pd(device, 0);
	if (IS_ERR(bench.pd))
		return PTR_ERR(bench.pd);
	/* Armed, as instant_quiesce() expects. */
	bench.cq = ib_alloc_cq(device, NULL, 16, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(bench.cq)) {
		ib_dealloc_pd(bench.pd);
		return PTR_ERR(bench.cq);
	}
	refcount_set(&bench.users, 1);
	return 0;
}

static int create_qp(struct rdma_cm_id *id)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.send_cq = bench.cq,
		.recv_cq = bench.cq,
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	int ret = rdma_create_qp(id, bench.pd, &init);

	if (!ret)
		refcount_inc(&bench.users);
	return ret;
}

static void destroy_qp(struct rdma_cm_id *id)
{
	if (!id->qp)
		return;
	rdma_destroy_qp(id);
	verbs_put();
}

static void destroy_end(struct rdma_cm_id **id)
{
	if (!*id)
		return;
	destroy_qp(*id);
	rdma_destroy_id(*id);
	*id = NULL;
}

static void ended(struct batch *batch, int err)
{
	if (err)
		atomic_inc(&batch->bad);
	if (atomic_dec_and_test(&batch->left))
		complete(&batch->done);
}

/* ---- callbacks ---- */

static int accept(struct rdma_cm_id *id, const struct rdma_conn_param *request)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct conn *conn;
	u32 index;
	int ret;

	if (request->private_data_len < sizeof(index))
		return -EINVAL;
	memcpy(&index, request->private_data, sizeof(index));
	if (index >= BENCH_CONNS || bench.conns[index].passive)
		return -EINVAL;

	conn = &bench.conns[index];
	id->context = conn;
	conn->passive = id;
	ret = create_qp(id);
	if (!ret)
		ret = rdma_accept(id, &param);
	if (!ret)
		return 0;
	/* The RDMA CM rejects the request and destroys the id. */
	destroy_qp(id);
	conn->passive = NULL;
	ended(conn->batch, ret);
	return ret;
}

/* The RDMA CM destroys the id when its callback returns 1. */
static int removed(struct rdma_cm_id *id)
{
	struct conn *conn = id->context;

	atomic_inc(&bench.removals);
	if (!conn) {
		if (id == bench.listeners[0])
			verbs_put();
		return 1;
	}
	destroy_qp(id);
	if (id == conn->active)
		conn->active = NULL;
	else
		conn->passive = NULL;
	return 1;
}

static int handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct conn *conn = id->context;	/* NULL: a listener's */

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept(id, &event->param.conn);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return removed(id);
	case RDMA_CM_EVENT_DISCONNECTED:
		if (id == conn->passive)
			rdma_disconnect(id);
		ended(conn->batch, 0);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		ended(conn->batch, 0);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		pr_err("%s, %d\n", rdma_event_msg(event->event), event->status);
		if (conn)
			ended(conn->batch, -EIO);
	}
	return 0;
}

/* ---- steps ---- */

static int start(enum bench_step step, unsigned int index)
{
	struct conn *conn = &bench.conns[index];
	struct rdma_conn_param param = {
		.private_data = &index,
		.private_data_len = sizeof(index),
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct sockaddr_in dst = bench.dst;
	struct rdma_cm_id *id;

	switch (step) {
	case STEP_CREATE:
		id = rdma_create_id(&init_net, handler, conn, RDMA_PS_TCP, IB_QPT_RC);
		if (IS_ERR(id))
			return PTR_ERR(id);
		conn->active = id;
		return 0;
	case STEP_ADDRESS:
		dst.sin_port = htons(BENCH_PORT + index % bench.nr_listeners);
		return rdma_resolve_addr(conn->active, (struct sockaddr *)&bench.src,
					 (struct sockaddr *)&dst, 2000);
	case STEP_ROUTE:
		return rdma_resolve_route(conn->active, 2000);
	case STEP_QP:
		return create_qp(conn->active);
	case STEP_CONNECT:
		return rdma_connect(conn->active, &param);
	case STEP_DISCONNECT:
		return rdma_disconnect(conn->active);
	default:
		destroy_end(&conn->active);
		destroy_end(&conn->passive);
		return 0;
	}
}

/* The events of a connection, at both ends, by which a step ends. */
static unsigned int events_of(enum bench_step step)
{
	switch (step) {
	case STEP_ADDRESS:
	case STEP_ROUTE:
		return 1;
	case STEP_CONNECT:
	case STEP_DISCONNECT:
		return 2;
	default:
		return 0;
	}
}

int bench_step(enum bench_step step, unsigned int first, unsigned int count)
{
	struct batch *batch = &bench.conns[first].own;
	unsigned int events = events_of(step);
	unsigned int i;
	int ret = 0;

	/* One more, so that it does not end before all have begun. */
	atomic_set(&batch->left, count * events + 1);
	atomic_set(&batch->bad, 0);
	init_completion(&batch->done);
	for (i = first; i < first + count; i++)
		bench.conns[i].batch = batch;
	for (i = first; i < first + count && !ret; i++)
		ret = start(step, i);
	if (ret)
		return ret;
	ended(batch, 0);
	if (!wait_for_completion_timeout(&batch->done, BENCH_PATIENCE))
		ret = -ETIMEDOUT;
	else if (atomic_read(&batch->bad))
		ret = -EIO;
	if (!ret && events > 1)
		ret = instant_quiesce();
	return ret;
}

void bench_discard(unsigned int first, unsigned int count)
{
	for (; count--; first++) {
		destroy_end(&bench.conns[first].active);
		destroy_end(&bench.conns[first].passive);
	}
}

/* ---- opening and closing ---- */

static int listen(unsigned int i)
{
	struct sockaddr_in addr = bench.dst;
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	addr.sin_port = htons(BENCH_PORT + i);
	ret = rdma_bind_addr(id, (struct sockaddr *)&addr);
	if (!ret)
		ret = rdma_listen(id, 1024);
	if (ret) {
		rdma_destroy_id(id);
		return ret;
	}
	bench.listeners[bench.nr_listeners++] = id;
	return 0;
}

static void unlisten(void)
{
	while (bench.nr_listeners)
		rdma_destroy_id(bench.listeners[--bench.nr_listeners]);
}

static bool parse(const char *text, struct sockaddr_in *addr)
{
	*addr = (struct sockaddr_in){ .sin_family = AF_INET };
	return in4_pton(text, -1, (u8 *)&addr->sin_addr, -1, NULL);
}

int bench_open(const char *src, const char *dst, unsigned int listeners)
{
	unsigned int i;
	int ret = 0;

	if (bench_is_open())
		return -EBUSY;
	if (!listeners || listeners > BENCH_LISTENERS || !parse(src, &bench.src) ||
	    !parse(dst, &bench.dst))
		return -EINVAL;
	bench.conns = kvcalloc(BENCH_CONNS, sizeof(*bench.conns), GFP_KERNEL);
	if (!bench.conns)
		return -ENOMEM;
	for (i = 0; i < listeners && !ret; i++)
		ret = listen(i);
	if (!ret)
		ret = bench.listeners[0]->device ?
		      verbs_get(bench.listeners[0]->device) : -ENODEV;
	if (ret) {
		unlisten();
		kvfree(bench.conns);
		return ret;
	}
	instant_loop(true);
	return 0;
}

bool bench_is_open(void)
{
	return bench.nr_listeners;
}

void bench_close(void)
{
	if (!bench_is_open())
		return;
	unlisten();
	bench_discard(0, BENCH_CONNS);
	verbs_put();
	instant_loop(false);
	kvfree(bench.conns);
}

int bench_unplug(void)
{
	unsigned int i, ids = bench.nr_listeners, told;

	for (i = 0; i < BENCH_CONNS; i++)
		ids += !!bench.conns[i].active + !!bench.conns[i].passive;
	atomic_set(&bench.removals, 0);
	instant_unplug();
	told = atomic_read(&bench.removals);
	bench.nr_listeners = 0;
	kvfree(bench.conns);
	if (told == ids)
		return 0;
	pr_err("%u of %u ids were told of the removal\n", told, ids);
	return -EIO;
}
