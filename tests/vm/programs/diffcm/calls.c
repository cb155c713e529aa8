// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Calls, each with what is known about what it does to the ids. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "values.h"

#define NOBODY	0xfffff		/* no id has this number */

static union {
	struct rdma_ucm_create_id_resp create;
	struct rdma_ucm_destroy_id_resp destroy;
	struct rdma_ucm_migrate_resp migrate;
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query_addr_resp addr;
	struct rdma_ucm_query_path_resp path;
	struct ib_uverbs_qp_attr qp_attr;
	__u8 bytes[1024];
} resp;

/* How the call that is being made is spoiled, if it is. */
static struct {
	int in, out;		/* added to the sizes of the command and the response */
	bool response;		/* an address that nobody can write to */
} spoiled;

/* Where a command has the address of the response. */
enum { NO_RESP = -1, RESP_FIRST = 0, RESP_SECOND = 8 };

static const size_t in_size[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = sizeof(struct rdma_ucm_create_id),
	[RDMA_USER_CM_CMD_DESTROY_ID] = sizeof(struct rdma_ucm_destroy_id),
	[RDMA_USER_CM_CMD_BIND_IP] = sizeof(struct rdma_ucm_bind_ip),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = sizeof(struct rdma_ucm_resolve_ip),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = sizeof(struct rdma_ucm_resolve_route),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = sizeof(struct rdma_ucm_query),
	[RDMA_USER_CM_CMD_CONNECT] = sizeof(struct rdma_ucm_connect),
	[RDMA_USER_CM_CMD_LISTEN] = sizeof(struct rdma_ucm_listen),
	[RDMA_USER_CM_CMD_ACCEPT] = sizeof(struct rdma_ucm_accept),
	[RDMA_USER_CM_CMD_REJECT] = sizeof(struct rdma_ucm_reject),
	[RDMA_USER_CM_CMD_DISCONNECT] = sizeof(struct rdma_ucm_disconnect),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = sizeof(struct rdma_ucm_init_qp_attr),
	[RDMA_USER_CM_CMD_SET_OPTION] = sizeof(struct rdma_ucm_set_option),
	[RDMA_USER_CM_CMD_NOTIFY] = sizeof(struct rdma_ucm_notify),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = sizeof(struct rdma_ucm_destroy_id),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = sizeof(struct rdma_ucm_migrate_id),
	[RDMA_USER_CM_CMD_QUERY] = sizeof(struct rdma_ucm_query),
	[RDMA_USER_CM_CMD_BIND] = sizeof(struct rdma_ucm_bind),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = sizeof(struct rdma_ucm_resolve_addr),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = sizeof(struct rdma_ucm_join_mcast),
};

/* Makes a call, and prints its result behind what was printed of it. */
static int call(unsigned int channel, __u32 number, void *body, size_t out, int resp_at)
{
	size_t in = in_size[number];
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		__u8 body[1024];
	} cmd = { .hdr = { number, in + spoiled.in, out + spoiled.out } };
	__u64 address = spoiled.response ? 8 : (__u64)&resp;
	ssize_t ret;

	memset(&resp, 0, sizeof(resp));
	memcpy(cmd.body, body, in);
	if (resp_at != NO_RESP)
		memcpy(cmd.body + resp_at, &address, sizeof(address));
	ret = write(channels[channel], &cmd, sizeof(cmd.hdr) + cmd.hdr.in);
	if (spoiled.in || spoiled.out || spoiled.response)
		show(" spoiled %d %d %d", spoiled.in, spoiled.out, spoiled.response);
	show(" = %s", ret < 0 ? strerrorname_np(errno) : "ok");
	return ret < 0 ? -errno : 0;
}

static void spoil(size_t out)
{
	memset(&spoiled, 0, sizeof(spoiled));
	if (!one_in(40))
		return;
	switch (rnd(3)) {
	case 0:
		spoiled.in = (int)rnd(33) - 16;
		break;
	case 1:
		spoiled.out = (int)rnd(33) - (int)(out < 16 ? out : 16);
		break;
	default:
		spoiled.response = true;
	}
}

static __u32 number_of(int i)
{
	return ids[i].progress == FREE ? NOBODY : ids[i].number;
}

static unsigned int channel_of(int i)
{
	if (ids[i].progress == FREE)
		return 0;
	return one_in(100) ? !ids[i].channel : ids[i].channel;
}

#define CALL(i, NUMBER, body, out)	\
	call(channel_of(i), RDMA_USER_CM_CMD_##NUMBER, body, out, NO_RESP)
#define CALL_RESP(i, NUMBER, body, out)	\
	call(channel_of(i), RDMA_USER_CM_CMD_##NUMBER, body, out, RESP_FIRST)

static int some_id(void)
{
	int i = rnd(IDS), n;

	if (one_in(40))
		return i;
	for (n = 0; n < IDS && ids[i].progress == FREE; n++)
		i = (i + 1) % IDS;
	return i;
}

/* ---- ids ---- */

static void do_create(__u16 ps, __u8 qp_type)
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

static void some_create(void)
{
	static const struct { __u16 ps; __u8 type; } kinds[] = {
		{ RDMA_PS_TCP, 2 }, { RDMA_PS_TCP, 2 }, { RDMA_PS_UDP, 4 }, { RDMA_PS_IB, 2 },
		{ RDMA_PS_IB, 4 }, { RDMA_PS_TCP, 3 }, { RDMA_PS_IB, 9 },
		{ RDMA_PS_TCP, 10 }, { 0, 2 }, { RDMA_PS_UDP, 2 }, { RDMA_PS_IB, 255 },
		{ 0x107, 4 },
	};
	unsigned int kind = rnd(one_in(4) ? sizeof(kinds) / sizeof(*kinds) : 3);

	do_create(kinds[kind].ps, kinds[kind].type);
}

static void do_destroy(int i)
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
	if (!ret)
		may_come(was.peer >= 0 && ids[was.peer].progress >= CONNECTING);
}

static void do_migrate(int i)
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

static void bind_to(int i, const struct __kernel_sockaddr_storage *addr, __u16 size)
{
	struct rdma_ucm_bind b = { .id = number_of(i), .addr_size = size, .addr = *addr };

	if (one_in(60))
		b.reserved = rnd(3);
	show("%d bind", i);
	show_address("to", addr);
	show(" size %u reserved %u", size, b.reserved);
	if (!CALL(i, BIND, &b, 0))
		ids[i].progress = BOUND;
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
	if (!CALL(i, BIND_IP, &b, 0))
		ids[i].progress = BOUND;
	show("\n");
}

static void some_bind(int i)
{
	struct __kernel_sockaddr_storage addr;
	size_t size = some_address(&addr);

	if (one_in(6))
		do_bind_ip(i);
	else
		bind_to(i, &addr, size);
}

static void do_resolve_addr(int i, const struct __kernel_sockaddr_storage *src, __u16 src_size,
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
	ret = CALL(i, RESOLVE_ADDR, &r, 0);
	show("\n");
	if (!ret)
		must_come(1);
}

/*
 * Mixed families are rare: after an unconnected id was connected with them, the in-tree core
 * connects nobody any more (see Documentation/testing.rst).
 */
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
	ret = CALL(i, RESOLVE_IP, &r, 0);
	show("\n");
	if (!ret)
		must_come(1);
}

static void some_resolve_addr(int i)
{
	struct __kernel_sockaddr_storage src = {}, dst;
	size_t dst_size = some_address(&dst), src_size = some_source(&src, &dst);

	if (one_in(8))
		do_resolve_ip(i);
	else
		do_resolve_addr(i, &src, src_size, &dst, dst_size, 1000);
}

static void do_resolve_route(int i)
{
	struct rdma_ucm_resolve_route r = { .id = number_of(i), .timeout_ms = 1000 };
	int ret;

	show("%d resolve_route", i);
	ret = CALL(i, RESOLVE_ROUTE, &r, 0);
	show("\n");
	if (!ret)
		must_come(1);
}

/* ---- connections ---- */

static void do_listen(int i)
{
	struct rdma_ucm_listen l = {
		.id = number_of(i), .backlog = one_in(4) ? (int)rnd(5) - 2 : 8,
	};

	show("%d listen %d", i, (int)l.backlog);
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

static void do_connect(int i)
{
	struct rdma_ucm_connect c = { .id = number_of(i) };
	struct id was = ids[i];
	int ret;

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

static void do_accept(int i)
{
	struct rdma_ucm_accept a = { .id = number_of(i), .uid = i + 1 };
	struct id was = ids[i];
	int ret;

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
	if (ret) {
		ids[i] = was;
		return;
	}
	ids[i].progress = was.progress == RESPONDED ? CONNECTED : ACCEPTED;
	may_come(1);
}

static void do_reject(int i)
{
	struct rdma_ucm_reject r = { .id = number_of(i) };
	int ret;

	some_reject(&r);
	show("%d reject reason %u length %u", i, r.reason, r.private_data_len);
	ret = CALL(i, REJECT, &r, 0);
	show("\n");
	if (ret)
		return;
	ids[i].progress = ENDED;
	may_come(1);
}

static void do_disconnect(int i)
{
	struct rdma_ucm_disconnect d = { .id = number_of(i) };
	int ret;

	show("%d disconnect", i);
	ret = CALL(i, DISCONNECT, &d, 0);
	show("\n");
	if (!ret)
		may_come(1);
}

static void do_notify(int i)
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
		may_come(1);
}

/* ---- multicast ---- */

static void do_join(int i)
{
	struct rdma_ucm_join_mcast j = {
		.uid = i + 1, .id = number_of(i),
		.join_flags = one_in(4) ? rnd(4) : RDMA_MC_JOIN_FLAG_FULLMEMBER,
	};
	int ret;

	some_multicast(&j.addr);
	j.addr_size = ((struct sockaddr *)&j.addr)->sa_family == AF_INET ?
		      sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	if (one_in(20))
		j.addr_size = rnd(140);
	show("%d join", i);
	show_address("of", &j.addr);
	show(" size %u flags %x", j.addr_size, j.join_flags);
	ret = CALL_RESP(i, JOIN_MCAST, &j, sizeof(resp.create));
	show("\n");
	if (!ret)
		must_come(1);
}

static void do_leave(int i)
{
	/* The number is that of a join, which the program does not keep: mostly 0 and 1. */
	struct rdma_ucm_destroy_id d = { .id = rnd(3) };

	show("%d leave %u", i, d.id);
	if (!CALL_RESP(i, LEAVE_MCAST, &d, sizeof(resp.destroy)))
		show(" reported %u", resp.destroy.events_reported);
	show("\n");
}

/* ---- options and queries ---- */

static void do_set_option(int i)
{
	__u8 value[512] = { rnd(256) };
	struct rdma_ucm_set_option o = {
		.optval = one_in(30) ? 8 : (__u64)value, .id = number_of(i),
		.level = one_in(20) ? rnd(4) : RDMA_OPTION_ID,
		.optname = one_in(20) ? rnd(8) : rnd(4),
		.optlen = one_in(6) ? one_of(15, 0, 1, 2, 3, 4, 5, 8, 71, 72, 73, 144, 216, 512,
					     8193, 0xffffffff) : 0,
	};

	if (!o.optlen && !one_in(20))
		o.optlen = o.optname == RDMA_OPTION_ID_TOS ||
			   o.optname == RDMA_OPTION_ID_ACK_TIMEOUT ? 1 : 4;
	if (o.optname != RDMA_OPTION_ID_TOS && !one_in(4))
		value[0] %= 32;
	show("%d set_option %u %u length %u value %u%s", i, o.level, o.optname, o.optlen, value[0],
	     o.optval == 8 ? " nowhere" : "");
	CALL(i, SET_OPTION, &o, 0);
	show("\n");
}

static void show_route(void)
{
	show_bytes("guid", &resp.route.node_guid, 8);
	show_address("from", &resp.route.src_addr);
	show_address("to", &resp.route.dst_addr);
	show(" port %u paths %u device %u", resp.route.port_num, resp.route.num_paths,
	     resp.route.ibdev_index);
	if (!resp.route.num_paths)
		return;
	show_bytes("gids", resp.route.ib_route[0].dgid, 32);
	show(" mtu %u rate %u life %u", resp.route.ib_route[0].mtu, resp.route.ib_route[0].rate,
	     resp.route.ib_route[0].packet_life_time);
}

static void show_query(__u32 option)
{
	struct ib_path_rec_data *path = resp.path.path_data;
	__u32 n;

	if (option == RDMA_USER_CM_QUERY_PATH) {
		for (n = 0; n < resp.path.num_paths && n < 6; n++) {
			show(" flags %x", path[n].flags);
			show_path(path[n].path_rec);
		}
		return;
	}
	show_bytes("guid", &resp.addr.node_guid, 8);
	show(" port %u pkey %x sizes %u %u device %u", resp.addr.port_num, resp.addr.pkey,
	     resp.addr.src_size, resp.addr.dst_size, resp.addr.ibdev_index);
	show_address("from", &resp.addr.src_addr);
	show_address("to", &resp.addr.dst_addr);
}

static void do_query(int i)
{
	struct rdma_ucm_query q = { .id = number_of(i), .option = rnd(one_in(10) ? 5 : 3) };
	size_t out = q.option == RDMA_USER_CM_QUERY_PATH ?
		     sizeof(resp.path) + rnd(4) * sizeof(struct ib_path_rec_data) :
		     sizeof(resp.addr);

	if (one_in(4)) {
		show("%d query_route", i);
		if (!CALL_RESP(i, QUERY_ROUTE, &q, sizeof(resp.route)))
			show_route();
	} else {
		show("%d query %u of %zu", i, q.option, out);
		if (!CALL_RESP(i, QUERY, &q, out))
			show_query(q.option);
	}
	show("\n");
}

static void do_init_qp_attr(int i)
{
	struct rdma_ucm_init_qp_attr q = { .id = number_of(i), .qp_state = rnd(one_in(8) ? 9 : 4) };

	show("%d init_qp_attr %u", i, q.qp_state);
	if (!CALL_RESP(i, INIT_QP_ATTR, &q, sizeof(resp.qp_attr)))
		show_qp_attr(&resp.qp_attr);
	show("\n");
}

/* ---- sequences ---- */

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
	if (one_in(8) || ids[i].progress == FREE)
		some_create();
	else if (one_in(2))
		next_step(i);
	else
		calls[rnd(sizeof(calls) / sizeof(*calls))](i);
	memset(&spoiled, 0, sizeof(spoiled));
}

/* A call on the way, or now and then another. */
#define USUALLY(call)	do { if (one_in(15)) random_call(); else call; } while (0)

void usual_calls(void)
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
