// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Calls, each with what is known about what it does to the ids. */
#include <string.h>
#include "calls.h"

#define HARMFUL		300	/* one in so many calls that stop the in-tree core is made */

static __u16 family_of(const void *address)
{
	return ((const struct sockaddr *)address)->sa_family;
}

/* ---- ids ---- */

void do_create(__u16 ps, __u8 qp_type)
{
	struct rdma_ucm_create_id c = { .ps = ps, .qp_type = qp_type };
	unsigned int channel = one_in(20);
	int i;

	for (i = 0; i < IDS && ids[i].progress != FREE; i++)
		;
	if (i == IDS)
		return;
	c.uid = i + 1;
	show("%d create %x type %u", i, ps, qp_type);
	if (!call(channel, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(resp.create),
		  RESP_SECOND))
		ids[i] = (struct id) { .progress = MADE, .number = resp.create.id,
				       .channel = channel, .ps = ps, .peer = -1 };
	show("\n");
}

void some_create(void)
{
	static const struct { __u16 ps; __u8 type; } kinds[] = {
		{ RDMA_PS_TCP, 2 }, { RDMA_PS_TCP, 2 }, { RDMA_PS_UDP, 4 }, { RDMA_PS_IB, 2 },
		{ RDMA_PS_IB, 4 }, { RDMA_PS_TCP, 3 }, { RDMA_PS_IB, 9 },
		{ RDMA_PS_TCP, 10 }, { 0, 2 }, { RDMA_PS_UDP, 2 }, { RDMA_PS_IB, 255 },
		{ 0x107, 4 }, { RDMA_PS_IPOIB, 4 }, { RDMA_PS_IPOIB, 2 }, { RDMA_PS_TCP, 0 },
		{ RDMA_PS_UDP, 0 }, { RDMA_PS_UDP, 4 }, { RDMA_PS_IB, 3 }, { 0xffff, 2 },
	};
	unsigned int kind = rnd(one_in(4) ? sizeof(kinds) / sizeof(*kinds) : 3);

	do_create(kinds[kind].ps, kinds[kind].type);
}

void do_destroy(int i)
{
	struct rdma_ucm_destroy_id d = { .id = number_of(i) };
	struct id was = ids[i];
	int ret;

	show("%d destroy", i);
	ret = CALL_RESP(i, DESTROY_ID, &d, sizeof(resp.destroy));
	if (!ret) {
		show(" reported %u", resp.destroy.events_reported);
		memset(&ids[i], 0, sizeof(ids[i]));
	}
	show("\n");
	if (!ret && was.peer >= 0 && ids[was.peer].progress >= CONNECTING)
		may_come(1, true);
}

void do_migrate(int i)
{
	struct rdma_ucm_migrate_id m = {
		.id = number_of(i),
		.fd = one_in(10) ? 0 : channels[rnd(CHANNELS)],
	};
	unsigned int channel = m.fd == (__u32)channels[1];

	show("%d migrate to %u", i, m.fd ? channel : 9);
	/* It is asked of the new channel. */
	if (!call(channel, RDMA_USER_CM_CMD_MIGRATE_ID, &m, sizeof(resp.migrate),
		  RESP_FIRST)) {
		show(" reported %u", resp.migrate.events_reported);
		ids[i].channel = channel;
	}
	show("\n");
}

/* ---- addresses ---- */

static bool is_loopback(const void *address)
{
	const struct sockaddr_in6 *in6 = address;
	const struct sockaddr_in *in = address;

	if (in->sin_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return in->sin_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static void bound(int i, const void *addr)
{
	ids[i].progress = BOUND;
	ids[i].unbound = false;
	ids[i].src = family_of(addr);
	ids[i].at_loopback = is_loopback(addr);
	memcpy(&ids[i].addr, addr, sizeof(struct sockaddr_in6));
}

static void bind_refused(int i)
{
	ids[i].refused_once = true;
	ids[i].unbound = !ids[i].src;
}

static __u16 port_in(const void *address)
{
	/* at the same place in both families */
	return ((const struct sockaddr_in *)address)->sin_port;
}

/* IPoIB needs InfiniBand: in-tree, its ids can be used here after a bind that was refused. */
static const char *kind_of(int i)
{
	return ids[i].ps == RDMA_PS_IPOIB ? " ipoib" : "";
}

static const char *history_of(int i)
{
	return ids[i].refused_once ? " after one refused" : "";
}

static const char *afonly_of(int i)
{
	return ids[i].afonly ? " afonly" : "";
}

/* What else is bound to @port: whether it may be shared depends on it. */
static void show_beside(int i, __u16 port)
{
	const void *addr;
	int k;

	for (k = 0; k < IDS; k++) {
		addr = ids[k].addr.ss_family ? &ids[k].addr : &ids[k].tried;
		if (k == i || !port || port_in(addr) != port || ids[k].ps != ids[i].ps)
			continue;
		show_address("beside", addr);
		show("%s%s%s", ids[k].reuse ? " reuse" : "", afonly_of(k),
		     ids[k].progress == LISTENING ? " listens" : "");
	}
}

/* A wildcard, loopback, multicast or broadcast address. */
static bool is_nowhere(const void *address)
{
	const struct sockaddr_in6 *in6 = address;
	const struct sockaddr_in *in = address;

	if (is_loopback(address))
		return true;
	if (in->sin_family == AF_INET)
		return !in->sin_addr.s_addr || ntohl(in->sin_addr.s_addr) >= 0xe0000000;
	return IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) || IN6_IS_ADDR_MULTICAST(&in6->sin6_addr);
}

/* Without an address of its own the id is bound to @src, even if it is refused then. */
static void resolves(int i, const void *src, const void *dst, int ret)
{
	if (!ids[i].src)
		ids[i].at_loopback |= is_loopback(src);
	ids[i].refused = ret;
	ids[i].dst = family_of(dst);
	ids[i].nowhere |= is_nowhere(dst);
	if (ret) {
		ids[i].refused_once = true;
		ids[i].unbound |= !ids[i].src;
		memcpy(&ids[i].tried, src, sizeof(struct sockaddr_in6));
		return;
	}
	ids[i].unbound = false;
	if (!ids[i].src && family_of(src))
		memcpy(&ids[i].addr, src, sizeof(struct sockaddr_in6));
	if (family_of(src))
		ids[i].src = family_of(src);
	else if (!ids[i].src)
		ids[i].src = ids[i].dst;
	must_come(1);
}

void bind_to(int i, const struct __kernel_sockaddr_storage *addr, __u16 size)
{
	struct rdma_ucm_bind b = { .id = number_of(i), .addr_size = size, .addr = *addr };

	if (one_in(60))
		b.reserved = rnd(3);
	show("%d bind", i);
	show_address("to", addr);
	show(" size %u reserved %u%s%s%s", size, b.reserved, kind_of(i), history_of(i),
	     afonly_of(i));
	show_beside(i, port_in(addr));
	if (!CALL(i, BIND, &b, 0))
		bound(i, addr);
	else
		bind_refused(i);
	show("\n");
}

static void do_bind_ip(int i)
{
	struct rdma_ucm_bind_ip b = { .id = number_of(i) };
	struct __kernel_sockaddr_storage addr;

	some_address(&addr);
	memcpy(&b.addr, &addr, sizeof(b.addr));
	show("%d bind_ip", i);
	show_address("to", &addr);
	show("%s%s%s", kind_of(i), history_of(i), afonly_of(i));
	show_beside(i, port_in(&addr));
	if (!CALL(i, BIND_IP, &b, 0))
		bound(i, &addr);
	else
		bind_refused(i);
	show("\n");
}

void some_bind(int i)
{
	struct __kernel_sockaddr_storage addr;
	size_t size = some_address(&addr);

	if (one_in(6))
		do_bind_ip(i);
	else
		bind_to(i, &addr, size);
}

/* What the id was bound to, or what is beside where it will be, and whether one was refused. */
static void show_before(int i, const void *src)
{
	show("%s", kind_of(i));
	if (ids[i].addr.ss_family)
		show_address("at", &ids[i].addr);
	else if (family_of(src))
		show_beside(i, port_in(src));
	show("%s", history_of(i));
}

void do_resolve_addr(int i, const struct __kernel_sockaddr_storage *src, __u16 src_size,
		     const struct __kernel_sockaddr_storage *dst, __u16 dst_size, __u32 ms)
{
	struct rdma_ucm_resolve_addr r = {
		.id = number_of(i), .timeout_ms = ms, .src_size = src_size, .dst_size = dst_size,
		.src_addr = *src, .dst_addr = *dst,
	};
	int ret;

	show("%d resolve_addr", i);
	show_address("from", src);
	show_address("to", dst);
	show(" sizes %u %u", src_size, dst_size);
	show_before(i, src);
	ret = CALL(i, RESOLVE_ADDR, &r, 0);
	show("\n");
	resolves(i, src, dst, ret);
}

/* Mixed families are rare: see harmful(). */
static size_t some_source(struct __kernel_sockaddr_storage *src,
			  const struct __kernel_sockaddr_storage *dst)
{
	size_t size = 0;

	if (one_in(3))
		size = some_address(src);
	if (((struct sockaddr *)src)->sa_family == ((const struct sockaddr *)dst)->sa_family ||
	    one_in(200))
		return size;
	memset(src, 0, sizeof(*src));
	return 0;
}

static void do_resolve_ip(int i)
{
	struct rdma_ucm_resolve_ip r = { .id = number_of(i), .timeout_ms = 1000 };
	struct __kernel_sockaddr_storage src = {}, dst;
	int ret;

	some_address(&dst);
	some_source(&src, &dst);
	memcpy(&r.src_addr, &src, sizeof(r.src_addr));
	memcpy(&r.dst_addr, &dst, sizeof(r.dst_addr));
	show("%d resolve_ip", i);
	show_address("from", &src);
	show_address("to", &dst);
	show_before(i, &src);
	ret = CALL(i, RESOLVE_IP, &r, 0);
	show("\n");
	resolves(i, &src, &dst, ret);
}

void some_resolve_addr(int i)
{
	struct __kernel_sockaddr_storage src = {}, dst;
	size_t dst_size = some_address(&dst), src_size = some_source(&src, &dst);

	if (one_in(8))
		do_resolve_ip(i);
	else
		do_resolve_addr(i, &src, src_size, &dst, dst_size, 1000);
}

void do_resolve_route(int i)
{
	struct rdma_ucm_resolve_route r = { .id = number_of(i), .timeout_ms = 1000 };
	int ret;

	show("%d resolve_route%s", i, history_of(i));
	ret = CALL(i, RESOLVE_ROUTE, &r, 0);
	show("\n");
	if (!ret)
		must_come(1);
}

/* ---- connections ---- */

void do_listen(int i)
{
	struct rdma_ucm_listen l = {
		.id = number_of(i), .backlog = one_in(4) ? (int)rnd(5) - 2 : 8,
	};

	show("%d listen %d", i, (int)l.backlog);
	if (ids[i].src)
		show_address("at", &ids[i].addr);
	show("%s", afonly_of(i));
	show_beside(i, port_in(&ids[i].addr));
	if (!CALL(i, LISTEN, &l, 0))
		ids[i].progress = LISTENING;
	show("\n");
}

static void some_ece(struct rdma_ucm_ece *ece)
{
	if (!one_in(8))
		return;
	ece->vendor_id = rnd(3);
	ece->attr_mod = rnd(3);
}

/*
 * What the in-tree core does not survive is done rarely (Documentation/testing.rst).  It answers
 * nobody any more after an id with addresses of two families, or with a destination of no or any
 * host, was connected.  An id that rejects while it
 * waits for an answer itself can never be destroyed.
 */
static bool harmful(int i)
{
	return ids[i].dst && (ids[i].src != ids[i].dst || ids[i].nowhere) && !one_in(HARMFUL);
}

static bool waits(int i)
{
	return (ids[i].progress == CONNECTING || ids[i].progress == ACCEPTED) && !one_in(HARMFUL);
}

void do_connect(int i)
{
	struct rdma_ucm_connect c = { .id = number_of(i) };
	struct id was = ids[i];
	int ret;

	if (harmful(i))
		return;
	ids[i].qpn = new_qpn();
	some_conn_param(&c.conn_param, ids[i].qpn);
	some_ece(&c.ece);
	show("%d connect", i);
	show_conn_param(&c.conn_param);
	if (ids[i].progress != FREE)
		ids[i].progress = CONNECTING;
	ret = CALL(i, CONNECT, &c, 0);
	show("\n");
	if (ret)
		ids[i] = was;
	else
		answer_must_come();
}

void do_accept(int i)
{
	struct rdma_ucm_accept a = { .id = number_of(i), .uid = i + 1 };
	struct id was = ids[i];
	int ret;

	/* If accepting fails, it rejects. */
	if (waits(i))
		return;
	/* A response is accepted without parameters: the RTU is sent. */
	if (ids[i].progress != RESPONDED || one_in(10)) {
		ids[i].qpn = new_qpn();
		some_conn_param(&a.conn_param, ids[i].qpn);
		some_ece(&a.ece);
	}
	show("%d accept", i);
	show_conn_param(&a.conn_param);
	ret = CALL(i, ACCEPT, &a, 0);
	show("\n");
	/* The peer was rejected if accepting has failed. */
	if (ret)
		ids[i] = was;
	else
		ids[i].progress = was.progress == RESPONDED ? CONNECTED : ACCEPTED;
	peer_may_know(i);
}

void do_reject(int i)
{
	struct rdma_ucm_reject r = { .id = number_of(i) };
	int ret;

	if (waits(i))
		return;
	some_reject(&r);
	show("%d reject reason %u length %u", i, r.reason, r.private_data_len);
	ret = CALL(i, REJECT, &r, 0);
	show("\n");
	if (ret)
		return;
	ids[i].progress = ENDED;
	peer_may_know(i);
}

void do_disconnect(int i)
{
	struct rdma_ucm_disconnect d = { .id = number_of(i) };
	int ret;

	show("%d disconnect%s", i, ids[i].progress == LISTENING ? " of a listener" : "");
	ret = CALL(i, DISCONNECT, &d, 0);
	show("\n");
	if (!ret)
		peer_may_know(i);
}

void do_notify(int i)
{
	struct rdma_ucm_notify n = {
		.id = number_of(i),
		.event = one_in(4) ? rnd(24) : 4 /* IB_EVENT_COMM_EST */,
	};
	int ret;

	show("%d notify %u", i, n.event);
	ret = CALL(i, NOTIFY, &n, 0);
	show("\n");
	if (!ret)
		may_come(1, ids[i].progress == ACCEPTED && n.event == 4);
}

