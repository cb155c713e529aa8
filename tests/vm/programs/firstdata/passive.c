// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The passive side, which accepts, and records when the first data and the events
 * arrive.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rdma/rdma_verbs.h>

#include "firstdata.h"

/*
 * A connection. The thread that looks for data writes received only; it is joined
 * before received is read.
 */
struct conn {
	struct rdma_cm_id *id;
	enum kind kind;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;	/* KIND_ARMED, or NULL */
	struct ibv_cq *cq;
	pthread_t looker;
	atomic_bool stop;
	/* in ns, 0 for never */
	__u64 accepted;
	__u64 received;
	__u64 established;
	__u64 disconnected;
	unsigned int n_established;
	unsigned int n_disconnected;
	bool failed;		/* ended by another event */
};

static alignas(4096) unsigned char memory[DATA_SIZE];

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* --- data ---------------------------------------------------------------- */

static bool receive_completed(struct conn *conn)
{
	struct ibv_wc wc;

	return ibv_poll_cq(conn->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS;
}

static bool cq_event(struct conn *conn)
{
	struct pollfd pfd = { .fd = conn->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	/* with a timeout, as stop may be set */
	if (poll(&pfd, 1, 20) != 1)
		return false;
	if (ibv_get_cq_event(conn->channel, &cq, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(conn->cq, 0))
		die("ibv_req_notify_cq");
	return true;
}

static bool data_came(struct conn *conn)
{
	switch (conn->kind) {
	case KIND_WRITE:
		return __atomic_load_n(&memory[0], __ATOMIC_ACQUIRE);
	case KIND_ARMED:
		return cq_event(conn) && receive_completed(conn);
	case KIND_POLLED:
		return receive_completed(conn);
	}
	return false;
}

static void *look(void *arg)
{
	struct conn *conn = arg;
	bool last;

	do {
		last = conn->stop;
		if (data_came(conn)) {
			conn->received = now();
			break;
		}
		if (conn->kind != KIND_ARMED)
			sched_yield();
	} while (!last);
	return NULL;
}

/* --- a connection -------------------------------------------------------- */

static void make_verbs(struct conn *conn)
{
	struct rdma_cm_id *id = conn->id;
	struct ibv_qp_init_attr attr;

	if (conn->kind == KIND_ARMED) {
		conn->channel = ibv_create_comp_channel(id->verbs);
		if (!conn->channel)
			die("ibv_create_comp_channel");
	}
	conn->cq = ibv_create_cq(id->verbs, 8, NULL, conn->channel, 0);
	if (!conn->cq)
		die("ibv_create_cq");
	if (conn->channel && ibv_req_notify_cq(conn->cq, 0))
		die("ibv_req_notify_cq");
	qp_wanted(&attr);
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	if (rdma_create_qp(id, NULL, &attr))
		die("rdma_create_qp");
	memset(memory, 0, sizeof(memory));
	conn->mr = rdma_reg_write(id, memory, sizeof(memory));
	if (!conn->mr)
		die("rdma_reg_write");
	if (conn->kind != KIND_WRITE &&
	    rdma_post_recv(id, NULL, memory, sizeof(memory), conn->mr))
		die("rdma_post_recv");
}

static void free_verbs(struct conn *conn)
{
	rdma_destroy_qp(conn->id);
	rdma_dereg_mr(conn->mr);
	if (ibv_destroy_cq(conn->cq))
		die("ibv_destroy_cq");
	if (conn->channel && ibv_destroy_comp_channel(conn->channel))
		die("ibv_destroy_comp_channel");
}

static void accept_it(struct conn *conn)
{
	struct offer offer = {
		.addr = htobe64((uintptr_t)memory),
		.rkey = htobe32(conn->mr->rkey),
	};
	struct rdma_conn_param param = {
		.private_data = &offer, .private_data_len = sizeof(offer),
		.rnr_retry_count = 7,
	};

	if (pthread_create(&conn->looker, NULL, look, conn))
		die("pthread_create");
	conn->accepted = now();
	if (rdma_accept(conn->id, &param))
		die("rdma_accept");
}

/* --- events -------------------------------------------------------------- */

/* returns the next event within ms, or NULL; the channel does not block */
static struct rdma_cm_event *next_event(struct rdma_event_channel *channel, int ms)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&pfd, 1, ms) != 1)
		return NULL;
	if (rdma_get_cm_event(channel, &event)) {
		if (errno == EAGAIN)
			return NULL;
		die("rdma_get_cm_event");
	}
	return event;
}

static void note_event(struct conn *conn, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		if (!conn->n_established++)
			conn->established = now();
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (!conn->n_disconnected++)
			conn->disconnected = now();
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		fprintf(stderr, "firstdata: event %s, status %d\n",
			rdma_event_str(event->event), event->status);
		conn->failed = true;
	}
}

/* waits until *when is set, or the connection has ended, or ms have passed */
static void wait_until(struct conn *conn, const __u64 *when, int ms)
{
	__u64 end = now() + ms * 1000000ULL, at;
	struct rdma_cm_event *event;

	while (!*when && !conn->disconnected && !conn->failed) {
		at = now();
		if (at >= end)
			return;
		event = next_event(conn->id->channel, (end - at) / 1000000 + 1);
		if (!event)
			continue;
		note_event(conn, event);
		rdma_ack_cm_event(event);
	}
}

/* takes the events that are queued already */
static void take_the_rest(struct conn *conn)
{
	struct rdma_cm_event *event;

	while ((event = next_event(conn->id->channel, 0))) {
		note_event(conn, event);
		rdma_ack_cm_event(event);
	}
}

static struct rdma_cm_id *request(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = next_event(channel, STEP_MS);
	struct rdma_cm_id *id;

	errno = ETIMEDOUT;
	if (!event)
		die("nobody connects");
	errno = EPROTO;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		die(rdma_event_str(event->event));
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static void print_time(const struct conn *conn, __u64 when)
{
	if (when)
		printf("%lld ", ((long long)when - (long long)conn->accepted) / 1000);
	else
		printf("- ");
}

static void print_conn(const struct conn *conn)
{
	print_time(conn, conn->received);
	print_time(conn, conn->established);
	print_time(conn, conn->disconnected);
	printf("%u %u\n", conn->n_established, conn->n_disconnected);
	fflush(stdout);
}

static void serve_one(struct rdma_event_channel *channel, const struct order *order,
		      const struct turns *turns)
{
	struct conn conn = { .kind = order->kind };

	turn_give(turns);
	conn.id = request(channel);
	make_verbs(&conn);
	accept_it(&conn);
	wait_until(&conn, &conn.established, order->bound_ms);
	turn_give(turns);
	wait_until(&conn, &conn.disconnected, STEP_MS);
	conn.stop = true;
	pthread_join(conn.looker, NULL);
	rdma_disconnect(conn.id);
	turn_take(turns);
	take_the_rest(&conn);
	print_conn(&conn);
	free_verbs(&conn);
	if (rdma_destroy_id(conn.id))
		die("rdma_destroy_id");
}

int run_passive(const struct order *order, const struct turns *turns)
{
	struct sockaddr_in addr = order->passive;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	unsigned int i;

	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	if (fcntl(channel->fd, F_SETFL, O_NONBLOCK))
		die("fcntl");
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_bind_addr(listener, (struct sockaddr *)&addr))
		die("rdma_bind_addr");
	if (rdma_listen(listener, 4))
		die("rdma_listen");
	for (i = 0; i < order->count; i++)
		serve_one(channel, order, turns);
	if (rdma_destroy_id(listener))
		die("rdma_destroy_id");
	rdma_destroy_event_channel(channel);
	return 0;
}
