// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /dev/infiniband/rdma_cm: its write commands. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#include "fuzz.h"

#define CM(number, name, answer, fields, made) { \
	RDMA_USER_CM_CMD_##number, sizeof(struct rdma_ucm_##name), answer, fields, made, 0 }

static const struct command commands[] = {
	CM(CREATE_ID, create_id, 4, "UR", 'i'),
	CM(CREATE_ID, create_id, 4, "UR", 'i'),
	CM(DESTROY_ID, destroy_id, 4, "Ri0", 0),
	CM(BIND_IP, bind_ip, 0, "RSi", 0),
	CM(RESOLVE_IP, resolve_ip, 0, "SSin", 0),
	CM(RESOLVE_ROUTE, resolve_route, 0, "in", 0),
	CM(QUERY_ROUTE, query, sizeof(struct rdma_ucm_query_route_resp), "Ri0", 0),
	CM(CONNECT, connect, 0, "Ki0rr", 0),
	CM(LISTEN, listen, 0, "in", 0),
	CM(ACCEPT, accept, 0, "UKi0rr", 0),
	CM(REJECT, reject, 0, "in", 0),
	CM(DISCONNECT, disconnect, 0, "i", 0),
	CM(INIT_QP_ATTR, init_qp_attr, 144, "Riy", 0),
	CM(GET_EVENT, get_event, sizeof(struct rdma_ucm_event_resp), "R", 0),
	CM(GET_EVENT, get_event, sizeof(struct rdma_ucm_event_resp), "R", 0),
	CM(GET_EVENT, get_event, sizeof(struct rdma_ucm_event_resp), "R", 0),
	CM(SET_OPTION, set_option, 0, "Piyyn", 0),
	CM(NOTIFY, notify, 0, "in", 0),
	CM(JOIN_IP_MCAST, join_ip_mcast, 4, "RUSi", 'i'),
	CM(LEAVE_MCAST, destroy_id, 4, "Ri0", 0),
	CM(MIGRATE_ID, migrate_id, 4, "RiF", 0),
	CM(QUERY, query, sizeof(struct rdma_ucm_query_addr_resp), "Riy", 0),
	CM(BIND, bind, 0, "iyT", 0),
	CM(RESOLVE_ADDR, resolve_addr, 0, "inyyTT", 0),
	CM(JOIN_MCAST, join_mcast, 4, "RUiyT", 'i'),
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const __u16 spaces[] = {
	RDMA_PS_TCP, RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, RDMA_PS_IPOIB,
};

/* Fills in halves of words, which a string of fields cannot describe. */
static void fill_halves(const struct command *c, void *body)
{
	struct rdma_ucm_create_id *create = body;
	struct rdma_ucm_resolve_addr *resolve = body;
	struct rdma_ucm_join_mcast *join = body;
	struct rdma_ucm_bind *bind = body;

	switch (c->number) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		create->ps = spaces[rnd(sizeof(spaces) / sizeof(*spaces))];
		create->qp_type = create->ps == RDMA_PS_TCP || create->ps == RDMA_PS_IB ? 2 : 4;
		break;
	case RDMA_USER_CM_CMD_BIND:
		bind->addr_size = chance(8) ? rnd(200) : 16;
		break;
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		resolve->src_size = chance(2) ? 0 : 16;
		resolve->dst_size = chance(8) ? rnd(200) : 16;
		resolve->timeout_ms = rnd(100);
		break;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		join->addr_size = chance(8) ? rnd(200) : 16;
		join->join_flags = rnd(3);
		break;
	}
}

/* A connect request has a new id: keeps it. */
static void take_event(void)
{
	struct rdma_ucm_event_resp ev;

	memcpy(&ev, resp, sizeof(ev));
	if (ev.event == 4)		/* RDMA_CM_EVENT_CONNECT_REQUEST */
		keep('i', ev.id);
}

int fuzz_cm(void)
{
	const struct command *c = &commands[rnd(COMMANDS)];
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		__u32 body[256];
	} buf;
	size_t size = sizeof(buf.hdr) + c->in;
	int fd = w.cm[chance(4)];
	__u32 first;

	memset(&buf, 0, sizeof(buf));
	memset(resp, 0, 4);
	buf.hdr.cmd = c->number;
	buf.hdr.in = c->in;
	buf.hdr.out = chance(16) ? rnd(c->out + 16) : c->out;
	fill(c->fields, buf.body, c->in / 4);
	fill_halves(c, buf.body);
	if (c->number == RDMA_USER_CM_CMD_MIGRATE_ID && !chance(8))
		buf.body[3] = w.cm[rnd(2)];
	spoil(buf.body, c->in / 4);
	if (chance(24))
		spoil((__u32 *)&buf.hdr, 2);
	if (chance(30))
		size = rnd(size + 16);
	if (chance(50)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		return poll(&p, 1, 0) > 0;
	}
	if (write(fd, &buf, size) < 0)
		return 0;
	memcpy(&first, resp, sizeof(first));
	if (c->made)
		keep(c->made, first);
	if (c->number == RDMA_USER_CM_CMD_GET_EVENT)
		take_event();
	return 1;
}

int check_cm(void)
{
	return check_commands(commands, COMMANDS);
}
