// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sequences of calls. */
#include <string.h>
#include "calls.h"

static int some_id(void)
{
	int i = rnd(IDS), n;

	if (one_in(40))
		return i;
	for (n = 0; n < IDS && ids[i].progress == FREE; n++)
		i = (i + 1) % IDS;
	return i;
}

static void next_step(int i)
{
	switch (ids[i].progress) {
	case MADE:
		(one_in(2) ? some_bind : some_resolve_addr)(i);
		break;
	case BOUND:
		(one_in(2) ? do_listen : some_resolve_addr)(i);
		break;
	case ADDRESS:
		do_resolve_route(i);
		break;
	case ROUTE:
		do_connect(i);
		break;
	case REQUESTED:
	case RESPONDED:
		(one_in(5) ? do_reject : do_accept)(i);
		break;
	case ACCEPTED:
	case CONNECTED:
		do_disconnect(i);
		break;
	default:
		do_query(i);
	}
}

void random_call(void)
{
	static void (*const calls[])(int i) = {
		some_bind, some_resolve_addr, do_resolve_route, do_listen, do_connect, do_accept,
		do_reject, do_disconnect, do_notify, do_join, do_leave, do_set_option,
		do_set_option, do_query, do_query, do_init_qp_attr, do_init_qp_attr, do_migrate,
		do_destroy,
	};
	int i = some_id();

	spoil(16);
	if (one_in(60))
		no_command();
	else if (one_in(8) || ids[i].progress == FREE)
		some_create();
	else if (one_in(2))
		next_step(i);
	else
		calls[rnd(sizeof(calls) / sizeof(*calls))](i);
	whole();
}

/* A call on the way, or now and then another. */
#define USUALLY(call)	do { if (one_in(15)) random_call(); else call; } while (0)

static void connect_calls(void)
{
	static const struct { __u16 ps; __u8 type; } kinds[] = {
		{ RDMA_PS_TCP, 2 }, { RDMA_PS_TCP, 2 }, { RDMA_PS_TCP, 2 }, { RDMA_PS_UDP, 4 },
		{ RDMA_PS_IB, 2 },
	};
	static const char * const ends[][3] = {
		/* listener, source, destination */
		{ "10.0.0.1", "0.0.0.0", "10.0.0.1" }, { "0.0.0.0", "10.0.0.2", "10.0.0.1" },
		{ "fd00::1", "::", "fd00::1" }, { "::", "fd00::2", "fd00::1" },
		{ "10.0.0.2", "10.0.0.1", "10.0.0.2" }, { "::", "0.0.0.0", "10.0.0.1" },
		{ "0.0.0.0", "10.0.0.1", "10.0.0.1" },
	};
	unsigned int kind = rnd(sizeof(kinds) / sizeof(*kinds));
	unsigned int end = rnd(sizeof(ends) / sizeof(*ends));
	__u16 port = base_port + rnd(PORTS);
	struct __kernel_sockaddr_storage listener, src, dst;
	size_t listener_size, size, src_size;
	enum { SERVER, CLIENT, ACCEPTED_ID };

	listener_size = set_address(&listener, ends[end][0], port);
	set_address(&src, ends[end][1], 0);
	size = set_address(&dst, ends[end][2], port);
	do_create(kinds[kind].ps, kinds[kind].type);
	do_create(kinds[kind].ps, kinds[kind].type);
	USUALLY(bind_to(SERVER, &listener, listener_size));
	USUALLY(do_listen(SERVER));
	if (rnd(2))
		memset(&src, 0, sizeof(src));
	src_size = ((struct sockaddr *)&src)->sa_family ? size : 0;
	USUALLY(do_resolve_addr(CLIENT, &src, src_size, &dst, size, 1000));
	USUALLY(do_resolve_route(CLIENT));
	USUALLY(do_connect(CLIENT));
	if (one_in(2))
		return;
	/* The new id has the place behind the client's, if there was a request. */
	USUALLY(next_step(ACCEPTED_ID));
	USUALLY(next_step(CLIENT));
	USUALLY(next_step(rnd(3)));
}

/* Several ids that want one port, of which some share it. */
static void share_calls(void)
{
	static const char * const hosts[] = {
		"10.0.0.1", "10.0.0.1", "0.0.0.0", "::", "fd00::1", "10.0.0.2", "fd00::2",
		"::ffff:10.0.0.1", "127.0.0.1",
	};
	static const __u16 spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB };
	__u16 ps = spaces[rnd(3)], port = base_port + rnd(4);
	struct __kernel_sockaddr_storage addr;
	unsigned int n = 2 + rnd(2), i, size;
	const int yes[] = { 0, 1 };
	const __u32 reuse = RDMA_OPTION_ID_REUSEADDR, only = RDMA_OPTION_ID_AFONLY;

	for (i = 0; i < n; i++) {
		do_create(one_in(6) ? spaces[rnd(3)] : ps, ps == RDMA_PS_UDP ? 4 : 2);
		if (rnd(2))
			give_option(i, RDMA_OPTION_ID, reuse, &yes[!one_in(4)], 4);
		if (one_in(3))
			give_option(i, RDMA_OPTION_ID, only, &yes[!one_in(4)], 4);
		size = set_address(&addr, hosts[rnd(sizeof(hosts) / sizeof(*hosts))], port);
		USUALLY(bind_to(i, &addr, size));
		if (one_in(4))
			give_option(i, RDMA_OPTION_ID, reuse, &yes[rnd(2)], 4);
		if (rnd(2))
			USUALLY(do_listen(i));
		if (one_in(6))
			do_destroy(rnd(i + 1));
	}
	for (i = 0; i < n; i++)
		if (one_in(3))
			do_listen(i);
}

/* A datagram id that joins groups. */
static void join_calls(void)
{
	struct __kernel_sockaddr_storage addr;
	unsigned int n = 1 + rnd(3), size;
	__u16 ps = one_in(6) ? RDMA_PS_IPOIB : RDMA_PS_UDP;

	size = set_address(&addr, one_in(3) ? "10.0.0.2" : "10.0.0.1", one_in(2) ? 0 : some_port());
	do_create(ps, one_in(10) ? 2 : 4);
	USUALLY(bind_to(0, &addr, size));
	while (n--) {
		USUALLY(do_join(0));
		if (one_in(3))
			do_init_qp_attr(0);
		if (one_in(3))
			do_leave(0);
	}
}

void some_pattern(void)
{
	switch (rnd(8)) {
	case 0:
		break;
	case 1:
		share_calls();
		break;
	case 2:
		join_calls();
		break;
	default:
		connect_calls();
	}
}
