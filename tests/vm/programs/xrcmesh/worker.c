// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A process of a host: it receives by an SRQ, and sends to each other host by a QP. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "xrcmesh.h"

/* Two seconds: machines share a processor, and packets may be lost between them. */
#define TIMEOUT	19

/* The next host that is not this one. */
static int next_remote(int host)
{
	host++;
	return host == mesh->host ? host + 1 : host;
}

static struct end own, to[MAX_HOSTS];
static struct peer *self;
static int number;

/* What has arrived: how many from each process, and how many that were not the next one. */
static __u64 got[MAX_HOSTS][MAX_PROCESSES], arrived;
static int wrong;
static time_t last;

static void prepare(void)
{
	char file[64];
	int h;

	/* By this file processes of one host have the same domain, and no other host has it. */
	snprintf(file, sizeof(file), "/run/xrcmesh.domain.%d", mesh->host);
	open_device(&own, mesh->device);
	open_receiver(&own, file);
	self->lid = own.lid;
	MUST(!ibv_get_srq_num(own.srq, &self->srqn));
	for (h = next_remote(-1); h < mesh->hosts; h = next_remote(h)) {
		to[h] = (struct end){ .ctx = own.ctx, .pd = own.pd, .lid = own.lid };
		open_sender(&to[h]);
		self->qpn[h] = to[h].qp->qp_num;
	}
}

/* ---- receive QPs ---- */

static void with_each_sender(void (*fn)(struct peer *sender))
{
	int h, i;

	for (h = next_remote(-1); h < mesh->hosts; h = next_remote(h))
		for (i = 0; i < mesh->processes; i++)
			fn(&mesh->peers[h][i]);
}

static void make_target(struct peer *sender)
{
	__u32 (*make)(struct end *e, __u32 qpn, __u32 lid) =
		mesh->legacy ? make_legacy : make_by_domain;

	sender->target[mesh->host] = make(&own, sender->qpn[mesh->host], sender->lid);
}

static void open_target(struct peer *sender)
{
	open_legacy(&own, sender->target[mesh->host]);
}

/* ---- messages ---- */

__u64 messages_expected(void)
{
	return (__u64)(mesh->hosts - 1) * (mesh->processes - 1) * mesh->messages;
}

static void take_messages(void)
{
	__u64 m;
	__u8 host, process;

	while (take_message(&own, &m)) {
		host = m >> 56;
		process = m >> 48;
		if (host >= mesh->hosts || process >= mesh->processes ||
		    (m & 0xffffffffffff) != got[host][process]++)
			wrong++;
		arrived++;
		last = time(NULL);
	}
}

static void wait_for_send(struct end *e)
{
	enum ibv_wc_status status;

	/* Meanwhile others wait for its receives. */
	while (!message_sent(e, &status)) {
		take_messages();
		usleep(50);
	}
	if (status != IBV_WC_SUCCESS)
		give_up("a send fails: %s", ibv_wc_status_str(status));
}

/* To one process of each host at a time. */
static void send_to_all(__u64 m)
{
	int h, i;

	m |= (__u64)mesh->host << 56 | (__u64)number << 48;
	for (i = MAKER + 1; i < mesh->processes; i++) {
		for (h = next_remote(-1); h < mesh->hosts; h = next_remote(h))
			post_message(&to[h], mesh->peers[h][i].srqn, m);
		for (h = next_remote(-1); h < mesh->hosts; h = next_remote(h))
			wait_for_send(&to[h]);
	}
}

static void exchange(void)
{
	__u64 m;

	for (m = 0; m < mesh->messages; m++)
		send_to_all(m);
	last = time(NULL);
	while (arrived < messages_expected() && time(NULL) - last < PATIENCE / 2) {
		take_messages();
		usleep(1000);
	}
}

static void obey(enum order order)
{
	int h;

	switch (order) {
	case MAKE:
		with_each_sender(make_target);
		break;
	case OPEN:
		with_each_sender(open_target);
		break;
	case CONNECT:
		for (h = next_remote(-1); h < mesh->hosts; h = next_remote(h))
			connect_sender(&to[h], self->target[h], mesh->peers[h][0].lid, TIMEOUT);
		break;
	case EXCHANGE:
		exchange();
	}
}

void worker(int fd, void *process)
{
	struct message m = {};

	self = process;
	number = self - mesh->peers[mesh->host];
	prepare();
	tell(fd, &m);
	while (hear(fd, &m)) {
		obey(m.what);
		m.number = arrived;
		m.status = wrong;
		tell(fd, &m);
	}
}
