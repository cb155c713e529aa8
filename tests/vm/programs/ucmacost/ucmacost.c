// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures what connections of a process cost, as the calls of rdma_ucm(4) that librdmacm makes,
 * but without a QP: both ends of each are ids of this process, on a device that receives what it
 * sends.  For each number of connections it makes as many as that, then takes REPS more through
 * all steps, and prints the number and, for each step, its name, the median of the nanoseconds
 * and the bounds between which nine of ten lie.
 *
 * usage: ucmacost SRC DST PORT REPS NUMBER...
 *
 * SRC, DST and PORT: IPv4 addresses of the device, and the port to listen on
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of enum rdma_cm_event_type in rdma/rdma_cma.h, which cannot be included beside the kernel's. */
enum {
	ADDR_RESOLVED = 0,
	ROUTE_RESOLVED = 2,
	CONNECT_REQUEST = 4,
	CONNECT_RESPONSE = 5,
	ESTABLISHED = 9,
	DISCONNECTED = 10,
	TIMEWAIT_EXIT = 15,
};

enum { CREATE, ADDRESS, ROUTE, CONNECT, DISCONNECT, DESTROY, ALL, STEPS };
static const char *const names[] = {
	"create", "address", "route", "connect", "disconnect", "destroy", "all",
};

#define MAX_REPS 1000

struct conn {
	__u32 active;
	__u32 passive;
};

static int fd;
static __u32 listener;
static struct sockaddr_in src, dst;

/* A call with @in of @size bytes and room for an answer of @out bytes. */
static void call(__u32 cmd, const void *in, __u16 size, __u16 out)
{
	struct {
		struct rdma_ucm_cmd_hdr head;
		unsigned char in[sizeof(struct rdma_ucm_accept)];
	} msg = { .head = { cmd, size, out } };
	ssize_t all = sizeof(msg.head) + size;

	memcpy(msg.in, in, size);
	if (write(fd, &msg, all) != all)
		err(1, "rdma_ucm's command %u", cmd);
}

static __u32 create_id(void)
{
	struct rdma_ucm_create_id_resp answer;
	/* An id without a uid has no events. */
	struct rdma_ucm_create_id in = {
		.uid = 1,
		.response = (unsigned long)&answer,
		.ps = RDMA_PS_TCP,
		.qp_type = IB_UVERBS_QPT_RC,
	};

	call(RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in), sizeof(answer));
	return answer.id;
}

static void destroy_id(__u32 id)
{
	struct rdma_ucm_destroy_id_resp answer;
	struct rdma_ucm_destroy_id in = { .response = (unsigned long)&answer, .id = id };

	call(RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in), sizeof(answer));
}

static void disconnect(__u32 id)
{
	struct rdma_ucm_disconnect in = { .id = id };

	call(RDMA_USER_CM_CMD_DISCONNECT, &in, sizeof(in), 0);
}

static void listen_on(__u16 port)
{
	struct rdma_ucm_bind bind = { .addr_size = sizeof(dst) };
	struct rdma_ucm_listen in = { .backlog = 16 };

	listener = create_id();
	dst.sin_port = htons(port);
	bind.id = listener;
	in.id = listener;
	memcpy(&bind.addr, &dst, sizeof(dst));
	call(RDMA_USER_CM_CMD_BIND, &bind, sizeof(bind), 0);
	call(RDMA_USER_CM_CMD_LISTEN, &in, sizeof(in), 0);
}

/* Reads events until this one comes; the end of timewait may come at any time. */
static __u32 wait_for(__u32 event)
{
	struct rdma_ucm_event_resp answer;
	struct rdma_ucm_get_event in = { .response = (unsigned long)&answer };

	do {
		call(RDMA_USER_CM_CMD_GET_EVENT, &in, sizeof(in), sizeof(answer));
	} while (answer.event == TIMEWAIT_EXIT);
	if (answer.event != event)
		errx(1, "event %u of status %d instead of %u", answer.event, (int)answer.status,
		     event);
	return answer.id;
}

static void resolve_addr(__u32 id)
{
	struct rdma_ucm_resolve_addr in = {
		.id = id,
		.timeout_ms = 2000,
		.src_size = sizeof(src),
		.dst_size = sizeof(dst),
	};

	memcpy(&in.src_addr, &src, sizeof(src));
	memcpy(&in.dst_addr, &dst, sizeof(dst));
	call(RDMA_USER_CM_CMD_RESOLVE_ADDR, &in, sizeof(in), 0);
	wait_for(ADDR_RESOLVED);
}

static void resolve_route(__u32 id)
{
	struct rdma_ucm_resolve_route in = { .id = id, .timeout_ms = 2000 };

	call(RDMA_USER_CM_CMD_RESOLVE_ROUTE, &in, sizeof(in), 0);
	wait_for(ROUTE_RESOLVED);
}

/*
 * Both ends.  No data follow, so any number will do for a QP; but a request or a reply with that of
 * another connection would be taken as one of a former life of its peer.
 */
static void connect_both(struct conn *conn)
{
	static __u32 qp_num = 0x100;
	struct rdma_ucm_conn_param param = {
		.qp_num = qp_num++,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.valid = 1,
	};
	struct rdma_ucm_connect in = { .conn_param = param, .id = conn->active };
	struct rdma_ucm_accept accept = { .uid = 1, .conn_param = param };

	call(RDMA_USER_CM_CMD_CONNECT, &in, sizeof(in), 0);
	conn->passive = wait_for(CONNECT_REQUEST);
	accept.id = conn->passive;
	accept.conn_param.qp_num = qp_num++;
	call(RDMA_USER_CM_CMD_ACCEPT, &accept, sizeof(accept), 0);
	/*
	 * Without a QP of the kernel the active end is told of the reply, and says that it is
	 * ready, as librdmacm does.
	 */
	wait_for(CONNECT_RESPONSE);
	accept.id = conn->active;
	accept.conn_param.valid = 0;
	call(RDMA_USER_CM_CMD_ACCEPT, &accept, sizeof(accept), 0);
	wait_for(ESTABLISHED);
}

static void disconnect_both(const struct conn *conn)
{
	disconnect(conn->active);
	wait_for(DISCONNECTED);
	disconnect(conn->passive);
	wait_for(DISCONNECTED);
}

static void step(int what, struct conn *conn)
{
	switch (what) {
	case CREATE:
		conn->active = create_id();
		break;
	case ADDRESS:
		resolve_addr(conn->active);
		break;
	case ROUTE:
		resolve_route(conn->active);
		break;
	case CONNECT:
		connect_both(conn);
		break;
	case DISCONNECT:
		disconnect_both(conn);
		break;
	default:
		destroy_id(conn->active);
		destroy_id(conn->passive);
	}
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	long left = *(const long *)a, right = *(const long *)b;

	return (left > right) - (left < right);
}

static void measure(int alive, int reps)
{
	static long sample[STEPS][MAX_REPS];
	struct conn conn;
	int i, what;

	for (i = 0; i < reps; i++) {
		sample[ALL][i] = 0;
		for (what = 0; what < ALL; what++) {
			long start = now();

			step(what, &conn);
			sample[what][i] = now() - start;
			sample[ALL][i] += sample[what][i];
		}
	}
	for (what = 0; what < STEPS; what++) {
		qsort(sample[what], reps, sizeof(long), compare);
		printf("%d %s %ld %ld %ld\n", alive, names[what], sample[what][reps / 2],
		       sample[what][reps / 20], sample[what][reps - 1 - reps / 20]);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int reps = argc > 5 ? atoi(argv[4]) : 0, made = 0, i;

	src.sin_family = AF_INET;
	dst.sin_family = AF_INET;
	if (reps < 1 || reps > MAX_REPS || !inet_aton(argv[1], &src.sin_addr) ||
	    !inet_aton(argv[2], &dst.sin_addr))
		errx(2, "usage: ucmacost SRC DST PORT REPS NUMBER...");
	fd = open("/dev/infiniband/rdma_cm", O_RDWR);
	if (fd < 0)
		err(1, "/dev/infiniband/rdma_cm");
	listen_on(atoi(argv[3]));
	for (i = 5; i < argc; i++) {
		for (; made < atoi(argv[i]); made++) {
			struct conn conn;
			int what;

			for (what = CREATE; what <= CONNECT; what++)
				step(what, &conn);
		}
		measure(made, reps);
	}
	/* The kernel ends what is left with the descriptor. */
	return 0;
}
