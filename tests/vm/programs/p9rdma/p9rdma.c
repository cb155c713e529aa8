// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * p9rdma ADDRESS PORT TCP-PORT
 *
 * Serves 9P over RDMA for a server that speaks 9P over TCP only: each connection to ADDRESS gets
 * one to 127.0.0.1:TCP-PORT, and messages go from one to the other as they are. Prints a line for
 * each connection. Ends with status 0 when the device of ADDRESS is removed, or on SIGTERM.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/types.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define DEPTH	64		/* messages each way; more than a client has outstanding */
#define ROOM	(128 << 10)	/* for the longest message */

struct conn {
	struct rdma_cm_id *id;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *mem;			/* DEPTH buffers to receive into, then DEPTH to send from */
	int tcp;
	bool idle[DEPTH];		/* buffers to send from */
	pthread_t thread;
	unsigned long requests;
};

static int tcp_port;

static void die(const char *what)
{
	fprintf(stderr, "p9rdma: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *buffer(struct conn *conn, unsigned int n)
{
	return conn->mem + (size_t)n * ROOM;
}

static int post(struct conn *conn, unsigned int n, __u32 length)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(conn, n),
		.length = length,
		.lkey = conn->mr->lkey,
	};
	struct ibv_send_wr send = {
		.wr_id = n, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad_send;
	struct ibv_recv_wr recv = { .wr_id = n, .sg_list = &sge, .num_sge = 1 }, *bad_recv;

	return n < DEPTH ? ibv_post_recv(conn->id->qp, &recv, &bad_recv) :
			   ibv_post_send(conn->id->qp, &send, &bad_send);
}

/* ---- messages ---- */

static bool write_all(int fd, const char *data, size_t length)
{
	ssize_t n;

	for (; length; data += n, length -= n) {
		n = send(fd, data, length, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

static bool read_all(int fd, char *data, size_t length)
{
	ssize_t n;

	for (; length; data += n, length -= n) {
		n = recv(fd, data, length, 0);
		if (n <= 0)
			return false;
	}
	return true;
}

/* A message begins with its length, in little-endian. */
static __u32 message_length(const char *data)
{
	const unsigned char *at = (const unsigned char *)data;

	return at[0] | at[1] << 8 | at[2] << 16 | (__u32)at[3] << 24;
}

static bool completed(struct conn *conn, const struct ibv_wc *wc)
{
	unsigned int n = wc->wr_id;

	if (wc->status) {
		if (wc->status != IBV_WC_WR_FLUSH_ERR)
			printf("completion: %s\n", ibv_wc_status_str(wc->status));
		return false;
	}
	if (n >= DEPTH) {
		conn->idle[n - DEPTH] = true;
		return true;
	}
	if (wc->byte_len < 7 || message_length(buffer(conn, n)) != wc->byte_len) {
		printf("a request of %u bytes says that it has %u\n", wc->byte_len,
		       message_length(buffer(conn, n)));
		return false;
	}
	conn->requests++;
	return write_all(conn->tcp, buffer(conn, n), wc->byte_len) && !post(conn, n, ROOM);
}

static bool completions(struct conn *conn)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	if (ibv_get_cq_event(conn->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		return false;
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		if (!completed(conn, &wc))
			return false;
	return true;
}

static int idle_buffer(const struct conn *conn)
{
	int i;

	for (i = 0; i < DEPTH && !conn->idle[i]; i++)
		;
	return i < DEPTH ? i : -1;
}

static bool reply(struct conn *conn, int idle)
{
	char *data = buffer(conn, DEPTH + idle);
	__u32 length;

	if (!read_all(conn->tcp, data, 4))
		return false;
	length = message_length(data);
	if (length < 7 || length > ROOM || !read_all(conn->tcp, data + 4, length - 4))
		return false;
	conn->idle[idle] = false;
	return !post(conn, DEPTH + idle, length);
}

/* Until one of the sides ends. */
static void *relay(void *context)
{
	struct conn *conn = context;
	struct pollfd fds[2];
	bool good = true;
	int idle;

	while (good) {
		idle = idle_buffer(conn);
		fds[0] = (struct pollfd){ .fd = conn->channel->fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = idle < 0 ? -1 : conn->tcp, .events = POLLIN };
		if (poll(fds, 2, -1) < 0)
			break;
		if (fds[0].revents)
			good = completions(conn);
		if (good && fds[1].revents)
			good = reply(conn, idle);
	}
	rdma_disconnect(conn->id);
	return NULL;
}

/* ---- connections ---- */

static int tcp_open(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(tcp_port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("the server's socket");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void conn_open(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct conn *conn = calloc(1, sizeof(*conn));
	unsigned int n;

	if (!conn || posix_memalign((void **)&conn->mem, 4096, 2ul * DEPTH * ROOM))
		die("memory");
	conn->id = id;
	id->context = conn;
	conn->tcp = tcp_open();
	conn->channel = ibv_create_comp_channel(id->verbs);
	conn->cq = ibv_create_cq(id->verbs, 2 * DEPTH, conn, conn->channel, 0);
	attr.send_cq = conn->cq;
	attr.recv_cq = conn->cq;
	if (!conn->cq || ibv_req_notify_cq(conn->cq, 0) || rdma_create_qp(id, NULL, &attr))
		die("QP");
	conn->mr = ibv_reg_mr(id->pd, conn->mem, 2ul * DEPTH * ROOM, IBV_ACCESS_LOCAL_WRITE);
	if (!conn->mr)
		die("memory region");
	for (n = 0; n < DEPTH; n++) {
		conn->idle[n] = true;
		if (post(conn, n, ROOM))
			die("receive request");
	}
	if (rdma_accept(id, &param))
		die("rdma_accept");
	if (pthread_create(&conn->thread, NULL, relay, conn))
		die("thread");
	printf("connected\n");
}

/* The socket's end ends the thread. */
static void conn_close(struct conn *conn)
{
	shutdown(conn->tcp, SHUT_RDWR);
	pthread_join(conn->thread, NULL);
	rdma_destroy_qp(conn->id);
	ibv_dereg_mr(conn->mr);
	ibv_destroy_cq(conn->cq);
	ibv_destroy_comp_channel(conn->channel);
	rdma_destroy_id(conn->id);
	close(conn->tcp);
	free(conn->mem);
	printf("disconnected after %lu requests\n", conn->requests);
	free(conn);
}

/* False: the device of the listener is gone. */
static bool event(struct rdma_event_channel *events)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int what;

	if (rdma_get_cm_event(events, &event))
		die("rdma_get_cm_event");
	what = event->event;
	id = event->id;
	rdma_ack_cm_event(event);
	if (what == RDMA_CM_EVENT_CONNECT_REQUEST)
		conn_open(id);
	else if (what == RDMA_CM_EVENT_DEVICE_REMOVAL && !id->context)
		return false;
	else if (what == RDMA_CM_EVENT_DISCONNECTED || what == RDMA_CM_EVENT_DEVICE_REMOVAL)
		conn_close(id->context);
	return true;
}

static void ended(int sig)
{
	(void)sig;
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &at.sin_addr) != 1) {
		fprintf(stderr, "usage: p9rdma ADDRESS PORT TCP-PORT\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTERM, ended);
	at.sin_port = htons(atoi(argv[2]));
	tcp_port = atoi(argv[3]);
	events = rdma_create_event_channel();
	if (!events || rdma_create_id(events, &listener, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_bind_addr(listener, (struct sockaddr *)&at) || rdma_listen(listener, 8))
		die("rdma_listen");
	printf("listening\n");
	while (event(events))
		;
	rdma_destroy_id(listener);
	return 0;
}
