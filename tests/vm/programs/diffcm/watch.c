// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Notices that a core has stopped to answer: a call does not return, or two new ids are not
 * connected.  The rest of the sequences is then for another boot (scripts/vm-diff).
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "diffcm.h"

#define CALL_MS		15000
#define PROBE_MS	5000

static atomic_llong begun_ms;	/* of the present call, or 0 */

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Whoever sees it first tells when it began: the other process may only suffer from it. */
static void give_up(long long since)
{
	show("stopped since %llu at %lld\n", sequence_number, since);
	fflush(stdout);
	/* An exit would wait for ids that may not come to an end. */
	for (;;)
		pause();
}

void call_begins(void)
{
	begun_ms = now_ms();
}

void call_ends(void)
{
	begun_ms = 0;
}

static void *watching(void *arg)
{
	long long begun;

	for (;; poll(NULL, 0, 200)) {
		begun = begun_ms;
		if (begun && now_ms() - begun > CALL_MS)
			give_up(begun);
	}
	return arg;
}

void watch(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, watching, NULL)) {
		fputs("no thread\n", stderr);
		exit(1);
	}
}

static bool ask(int fd, __u32 number, const void *body, size_t size, size_t out)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		__u8 body[512];
	} cmd = { .hdr = { number, size, out } };

	memcpy(cmd.body, body, size);
	return write(fd, &cmd, sizeof(cmd.hdr) + size) == (ssize_t)(sizeof(cmd.hdr) + size);
}

static __u32 new_id(int fd)
{
	struct rdma_ucm_create_id_resp made = {};
	struct rdma_ucm_create_id c = {
		.response = (__u64)&made, .ps = RDMA_PS_TCP, .qp_type = 2,
	};

	ask(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), sizeof(made));
	return made.id;
}

/* Waits for the next event of fd. */
static bool happens(int fd, __u32 event)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct rdma_ucm_event_resp ev = {};
	struct rdma_ucm_get_event g = { .response = (__u64)&ev };

	return poll(&p, 1, PROBE_MS) == 1 &&
	       ask(fd, RDMA_USER_CM_CMD_GET_EVENT, &g, sizeof(g), sizeof(ev)) &&
	       ev.event == event;
}

/* Whether a request gets from any of the devices to @host; only as far as the request. */
static bool reaches(const char *host)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	struct rdma_ucm_query_addr_resp at = {};
	__u32 server = new_id(fd), client = new_id(fd);
	struct rdma_ucm_bind b = { .id = server, .addr_size = sizeof(struct sockaddr_in) };
	struct rdma_ucm_listen l = { .id = server, .backlog = 1 };
	struct rdma_ucm_query q = { .response = (__u64)&at, .id = server };
	struct rdma_ucm_resolve_addr r = {
		.id = client, .timeout_ms = 1000, .dst_size = sizeof(struct sockaddr_in),
	};
	struct rdma_ucm_resolve_route route = { .id = client, .timeout_ms = 1000 };
	struct rdma_ucm_connect c = {
		.id = client, .conn_param = { .valid = 1, .retry_count = 7 },
	};
	struct sockaddr_in *in = (void *)&b.addr;
	bool ok;

	c.conn_param.qp_num = new_qpn();
	in->sin_family = AF_INET;
	inet_pton(AF_INET, host, &in->sin_addr);
	ok = ask(fd, RDMA_USER_CM_CMD_BIND, &b, sizeof(b), 0) &&
	     ask(fd, RDMA_USER_CM_CMD_LISTEN, &l, sizeof(l), 0) &&
	     ask(fd, RDMA_USER_CM_CMD_QUERY, &q, sizeof(q), sizeof(at));
	r.dst_addr = at.src_addr;
	ok = ok && ask(fd, RDMA_USER_CM_CMD_RESOLVE_ADDR, &r, sizeof(r), 0) && happens(fd, 0) &&
	     ask(fd, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &route, sizeof(route), 0) && happens(fd, 2) &&
	     ask(fd, RDMA_USER_CM_CMD_CONNECT, &c, sizeof(c), 0) && happens(fd, 4);
	call_begins();
	close(fd);
	call_ends();
	return ok;
}

void probe(void)
{
	long long since = now_ms();

	if (!reaches("10.0.0.1") || !reaches("10.0.0.2"))
		give_up(since);
}
