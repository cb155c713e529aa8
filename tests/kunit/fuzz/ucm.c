// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /dev/infiniband/rdma_cm: the commands that are written to it, by two of its files. */
#include <linux/slab.h>
#include "../ucm/ucm_test.h"
#include "fuzz.h"

#define OTHER	BIT(0)		/* is written to the other file */
#define WAITS	BIT(1)		/* an event follows */
#define EVENTS	BIT(2)		/* reads events up to a connection request */

struct ucm_files {
	struct cma_pair pair;
	struct chan chan[2];
};

#define OP(name, command, type, answer, fields, needs, takes, makes, flags) { \
	name, needs, takes, makes, fields, RDMA_USER_CM_CMD_##command, \
	sizeof(struct rdma_ucm_##type), answer, flags }
#define ROUTE	sizeof(struct rdma_ucm_query_route_resp)
#define ADDR	sizeof(struct rdma_ucm_query_addr_resp)
#define EVENT	sizeof(struct rdma_ucm_event_resp)
#define QP_ATTR	sizeof(struct ib_uverbs_qp_attr)

/*
 * Kinds of ids: i new, u new and for datagrams, b bound, a with an address resolved, r with a
 * route, l listens, k connects, q a request, e accepted or confirmed, m a multicast group,
 * z in the other file; v an event and t a request that can be read.
 */
static const struct fuzz_op ucm_ops[] = {
	OP("create", CREATE_ID, create_id, 4, "UR", "", "", "i", 0),
	OP("create_ud", CREATE_ID, create_id, 4, "UR", "", "", "u", 0),
	OP("destroy_new", DESTROY_ID, destroy_id, 4, "Ri0", "i", "i", "", 0),
	OP("destroy_bound", DESTROY_ID, destroy_id, 4, "Rb0", "b", "b", "", 0),
	OP("destroy_routed", DESTROY_ID, destroy_id, 4, "Rr0", "r", "r", "", 0),
	OP("destroy_listener", DESTROY_ID, destroy_id, 4, "Rl0", "l", "l", "", 0),
	OP("destroy_connecting", DESTROY_ID, destroy_id, 4, "Rk0", "k", "k", "", 0),
	OP("destroy_request", DESTROY_ID, destroy_id, 4, "Rq0", "q", "q", "", 0),
	OP("destroy_connected", DESTROY_ID, destroy_id, 4, "Re0", "e", "e", "", 0),
	OP("destroy_other", DESTROY_ID, destroy_id, 4, "Rz0", "z", "z", "", OTHER),
	OP("bind_ip", BIND_IP, bind_ip, 0, "RVi", "i", "i", "b", 0),
	OP("bind", BIND, bind, 0, "i0W", "i", "i", "b", 0),
	OP("bind_ud", BIND, bind, 0, "u0T", "u", "", "", 0),
	OP("resolve_ip", RESOLVE_IP, resolve_ip, 0, "SViX", "i", "i", "av", WAITS),
	OP("resolve", RESOLVE_ADDR, resolve_addr, 0, "iX00TW", "i", "i", "av", WAITS),
	OP("resolve_ud", RESOLVE_ADDR, resolve_addr, 0, "uX00TW", "u", "u", "av", WAITS),
	OP("route", RESOLVE_ROUTE, resolve_route, 0, "aX", "a", "a", "rv", WAITS),
	OP("query_route", QUERY_ROUTE, query, ROUTE, "Rr0", "r", "", "", 0),
	OP("query_route_bound", QUERY_ROUTE, query, ROUTE, "Rb0", "b", "", "", 0),
	OP("query", QUERY, query, 1024, "RrY", "r", "", "", 0),
	OP("query_connected", QUERY, query, ADDR, "ReY", "e", "", "", 0),
	OP("listen", LISTEN, listen, 0, "bN", "b", "b", "l", 0),
	OP("connect", CONNECT, connect, 0, "Kr0XX", "rl", "r", "kt", WAITS),
	OP("get_request", GET_EVENT, get_event, EVENT, "R", "t", "t", "q", EVENTS),
	OP("get_event", GET_EVENT, get_event, EVENT, "R", "v", "v", "", 0),
	OP("accept", ACCEPT, accept, 0, "UKq0XX", "q", "q", "e", WAITS),
	OP("confirm", ACCEPT, accept, 0, "", "ke", "k", "e", WAITS),
	OP("reject", REJECT, reject, 0, "q0", "q", "q", "", WAITS),
	OP("disconnect", DISCONNECT, disconnect, 0, "e", "e", "", "", WAITS),
	OP("init_qp", INIT_QP_ATTR, init_qp_attr, QP_ATTR, "Rr1", "r", "", "", 0),
	OP("init_qp_connected", INIT_QP_ATTR, init_qp_attr, QP_ATTR, "Re2", "e", "", "", 0),
	OP("option", SET_OPTION, set_option, 0, "Ui0", "i", "", "", 0),
	OP("option_path", SET_OPTION, set_option, 0, "Ua11", "a", "a", "r", 0),
	OP("notify", NOTIFY, notify, 0, "e0", "e", "", "", 0),
	OP("join_ip", JOIN_IP_MCAST, join_ip_mcast, 4, "RUSa", "a", "", "mv", WAITS),
	OP("join", JOIN_MCAST, join_mcast, 4, "RUa0T", "a", "", "mv", WAITS),
	OP("leave", LEAVE_MCAST, destroy_id, 4, "Rm0", "m", "m", "", 0),
	OP("migrate", MIGRATE_ID, migrate_id, 4, "Ri0", "i", "i", "z", OTHER),
	OP("migrate_back", MIGRATE_ID, migrate_id, 4, "Rz0", "z", "z", "i", 0),
};

static void __user *request_at(const struct fuzz *f)
{
	return (void __user *)f->mem + FUZZ_ARENA - FUZZ_MESSAGE;
}

/* What a string of fields cannot describe. */
static void fill_create(struct fuzz *f, const struct fuzz_op *op, void *body)
{
	struct rdma_ucm_create_id *cmd = body;

	cmd->ps = *op->makes == 'u' ? RDMA_PS_UDP : RDMA_PS_TCP;
	cmd->qp_type = *op->makes == 'u' ? IB_QPT_UD : IB_QPT_RC;
}

static u16 addr_size(const void *addr)
{
	return rdma_addr_size(addr);
}

static void fill_option(struct fuzz *f, struct rdma_ucm_set_option *cmd)
{
	static const u8 lengths[] = { 1, 4, 4, 1 };

	struct ib_path_rec_data *path = (void *)(cmd + 1);

	/* What it points to is behind the message. */
	cmd->optval = (unsigned long)request_at(f) + ((u8 *)path - f->msg);
	f->more = sizeof(*path);
	if (cmd->level == RDMA_OPTION_IB) {
		/* Its words 2 to 9 are the GIDs of the server and the client. */
		path->path_rec[4] = htonl(0xffff);
		path->path_rec[5] = htonl(0x0a010002);
		path->path_rec[8] = htonl(0xffff);
		path->path_rec[9] = htonl(0x0a010001);
		path->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
		cmd->optlen = sizeof(*path);
		return;
	}
	cmd->optname = fuzz_rnd(f, 4);
	cmd->optlen = lengths[cmd->optname];
}

static void put_group(struct fuzz *f, void *addr)
{
	struct sockaddr_in *sin = addr;
	struct sockaddr_in6 *sin6 = addr;

	if (sin->sin_family == AF_INET) {
		sin->sin_addr.s_addr = htonl(0xe0000101 + fuzz_rnd(f, 2));
		return;
	}
	memset(&sin6->sin6_addr, 0, sizeof(sin6->sin6_addr));
	sin6->sin6_addr.s6_addr[0] = 0xff;
	sin6->sin6_addr.s6_addr[1] = 0x0e;
	sin6->sin6_addr.s6_addr[15] = 1 + fuzz_rnd(f, 2);
}

static void fill_rest(struct fuzz *f, const struct fuzz_op *op, void *body)
{
	struct ucm_files *files = f->priv;
	struct rdma_ucm_resolve_addr *resolve = body;
	struct rdma_ucm_join_ip_mcast *join_ip = body;
	struct rdma_ucm_join_mcast *join = body;
	struct rdma_ucm_migrate_id *migrate = body;
	struct rdma_ucm_accept *accept = body;
	struct rdma_ucm_reject *reject = body;
	struct rdma_ucm_notify *notify = body;
	struct rdma_ucm_bind *bind = body;

	switch (op->number) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		fill_create(f, op, body);
		break;
	case RDMA_USER_CM_CMD_BIND:
		bind->addr_size = addr_size(&bind->addr);
		break;
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		((struct rdma_ucm_resolve_ip *)body)->timeout_ms = 2000;
		break;
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
		((struct rdma_ucm_resolve_route *)body)->timeout_ms = 2000;
		break;
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		resolve->src_size = fuzz_rnd(f, 2) ? addr_size(&resolve->src_addr) : 0;
		resolve->dst_size = addr_size(&resolve->dst_addr);
		resolve->timeout_ms = 2000;
		break;
	case RDMA_USER_CM_CMD_ACCEPT:
		if (!*op->fields)
			accept->id = fuzz_handle(f, 'k');
		break;
	case RDMA_USER_CM_CMD_REJECT:
		reject->private_data_len = fuzz_rnd(f, 32);
		reject->reason = IB_CM_REJ_CONSUMER_DEFINED;
		break;
	case RDMA_USER_CM_CMD_NOTIFY:
		notify->event = IB_EVENT_COMM_EST;
		break;
	case RDMA_USER_CM_CMD_SET_OPTION:
		fill_option(f, body);
		break;
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
		put_group(f, &join_ip->addr);
		break;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		put_group(f, &join->addr);
		join->addr_size = addr_size(&join->addr);
		break;
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		migrate->fd = files->chan[op->flags & OTHER ? 0 : 1].fd;
		break;
	}
}

static unsigned int unread(const struct chan *chan)
{
	struct ucm_file *file = chan->filp->private_data;

	return list_count_nodes(&file->events);
}

static bool ucm_write(struct fuzz *f, struct chan *chan)
{
	void __user *at = request_at(f);
	loff_t pos = 0;

	if (copy_to_user(at, f->msg, FUZZ_MESSAGE))
		return false;
	return ucm_fops.write(chan->filp, at, f->len, &pos) >= 0;
}

/* Reads up to a request, which is a new id. */
static bool ucm_read(struct fuzz *f, struct chan *chan, bool request)
{
	unsigned int i;

	for (i = 0; i < 8 && ucm_write(f, chan); i++) {
		if (fuzz_resp_u32(f, 3) == RDMA_CM_EVENT_CONNECT_REQUEST) {
			fuzz_keep(f, 'q', fuzz_resp_u32(f, 2));
			return true;
		}
		if (!request)
			return true;
	}
	return false;
}

static bool ucm_call(struct fuzz *f, const struct fuzz_op *op)
{
	struct ucm_files *files = f->priv;
	struct chan *chan = &files->chan[op->flags & OTHER ? 1 : 0];
	struct rdma_ucm_cmd_hdr *hdr = (void *)f->msg;
	unsigned int before = unread(chan);
	u32 id = 0;

	hdr->cmd = op->number;
	hdr->in = op->in;
	hdr->out = op->out;
	fuzz_fill(f, op->fields, hdr + 1, op->in / 4);
	fill_rest(f, op, hdr + 1);
	f->len = sizeof(*hdr) + op->in;
	fuzz_spoil(f);
	if (op->number == RDMA_USER_CM_CMD_GET_EVENT) {
		fuzz_drop(f, *op->takes, 0);
		return ucm_read(f, chan, op->flags & EVENTS);
	}
	if (!ucm_write(f, chan))
		return false;
	/* Like a program that waits for its event, unless the seed is of one that does not. */
	if (op->flags & WAITS && f->call->seed < 0xe000)
		wait_within(unread(chan) > before, 100);
	if (op->number == RDMA_USER_CM_CMD_CREATE_ID ||
	    op->number == RDMA_USER_CM_CMD_JOIN_IP_MCAST ||
	    op->number == RDMA_USER_CM_CMD_JOIN_MCAST)
		id = fuzz_resp_u32(f, 0);
	else if (*op->takes)
		id = f->used[*op->takes - 'a'];
	fuzz_account(f, op, (u32[]) { id, 0 });
	return true;
}

static int ucm_begin(struct fuzz *f)
{
	struct ucm_files *files = f->priv;

	return chan_open(&files->chan[0]) ?: chan_open(&files->chan[1]);
}

static void ucm_end(struct fuzz *f)
{
	struct ucm_files *files = f->priv;

	chan_close(&files->chan[0]);
	chan_close(&files->chan[1]);
	fuzz_close_fds();
}

/* Address handles of the CM's last messages go when these are complete. */
static int ucm_left(struct fuzz *f)
{
	struct ucm_files *files = f->priv;
	struct cma_side *sides[] = { &files->pair.client, &files->pair.server };
	int i, left = 0;

	for (i = 0; i < 2; i++) {
		wait_within(!cma_alive(sides[i], FAKE_AH), 60000);
		left += cma_alive(sides[i], FAKE_AH) + cma_alive(sides[i], FAKE_QP);
	}
	return left;
}

static int ucm_init(struct fuzz *f)
{
	struct ucm_files *files = kunit_kzalloc(f->test, sizeof(*files), GFP_KERNEL);

	f->priv = files;
	return files ? cma_pair_init(f->test, &files->pair) : -ENOMEM;
}

static void ucm_exit(struct fuzz *f)
{
	struct ucm_files *files = f->priv;

	if (files)
		cma_pair_exit(f->test, &files->pair);
}

const struct fuzz_target fuzz_ucm = {
	.name = "ucm",
	.ops = ucm_ops,
	.nr_ops = ARRAY_SIZE(ucm_ops),
	.init = ucm_init,
	.exit = ucm_exit,
	.begin = ucm_begin,
	.end = ucm_end,
	.call = ucm_call,
	.left = ucm_left,
};
