// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ids of the RDMA CM: a connection between two devices, in which each step is one that the state
 * allows, or one that it does not, which is refused and changes nothing.
 *
 * What makes the in-tree core stop to answer (Documentation/known.rst) is left out: destinations
 * that are no host's, and answers by an id that itself waits for one.
 */
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm_ib.h>
#include "connect/cma.h"
#include "connect/path.h"

struct cm_end *cm_ends[IDS];
const char * const cm_names[IDS] = { "client", "server", "listener" };
u8 cm_data[256];

static struct cm_case now;

/* ---- steps ---- */

static u8 most_data(bool answer)
{
	u8 header = now.family == AF_IB ? 0 : 36;

	if (now.type == IB_QPT_UD)
		return answer ? 136 : 216 - header;
	return answer ? 196 : 92 - header;
}

static void conn_param(struct rdma_conn_param *p, bool answer, u32 qpn)
{
	memset(p, 0, sizeof(*p));
	p->private_data = cm_data;
	p->private_data_len = mostly(8 + rnd(most_data(answer) - 7), most_data(answer) + 1);
	p->responder_resources = rnd(4);
	p->initiator_depth = rnd(4);
	p->flow_control = rnd(2);
	p->retry_count = rnd(8);
	p->rnr_retry_count = rnd(8);
	p->srq = rnd(2);
	p->qp_num = qpn;
	p->qkey = 0x11111111;
}

static struct rdma_conn_param client_param;

int cm_connect_now(struct cm_end *e, bool locked)
{
	return locked ? rdma_connect_locked(e->id, &client_param) :
			rdma_connect(e->id, &client_param);
}

static void say_param(const struct rdma_conn_param *p)
{
	say(" ra %u %u flow %u retry %u %u srq %u data %u", p->responder_resources,
	    p->initiator_depth, p->flow_control, p->retry_count, p->rnr_retry_count, p->srq,
	    p->private_data_len);
	/* where another family has a header */
	if (now.family == AF_IB)
		say(" of ib %02x%02x", cm_data[0], cm_data[1]);
}

static int connect(void)
{
	struct cm_end *e = cm_ends[CLIENT];
	struct rdma_ucm_ece ece = { .vendor_id = 0x15b3, .attr_mod = 7 };

	conn_param(&client_param, false, 0x123);
	if (one_in(4)) {
		call("rdma_connect_ece qp %d", !!e->id->qp);
		say_param(&client_param);
		return answer(rdma_connect_ece(e->id, &client_param, &ece));
	}
	call("rdma_connect qp %d", !!e->id->qp);
	say_param(&client_param);
	return answer(cm_connect_now(e, false));
}

/* An answer is given by the handler, or by who excludes it. */
static int accept(unsigned int n)
{
	struct cm_end *e = cm_ends[n];
	struct rdma_ucm_ece ece = { .vendor_id = 0x15b3, .attr_mod = 7 };
	struct rdma_conn_param p;
	bool with_ece = one_in(4);
	int ret;

	conn_param(&p, true, 0x321);
	call("%s %s qp %d", with_ece ? "rdma_accept_ece" : "rdma_accept", cm_names[n], !!e->id->qp);
	say_param(&p);
	rdma_lock_handler(e->id);
	ret = with_ece ? rdma_accept_ece(e->id, &p, &ece) : rdma_accept(e->id, &p);
	rdma_unlock_handler(e->id);
	return answer(ret);
}

/* The message of a passive end that is established by it has no data. */
static int finish(void)
{
	struct cm_end *e = cm_ends[CLIENT];
	int ret;

	call("rdma_accept client, nothing");
	rdma_lock_handler(e->id);
	ret = rdma_accept(e->id, NULL);
	rdma_unlock_handler(e->id);
	return answer(ret);
}

static int reject(void)
{
	struct cm_end *e = cm_ends[SERVER];
	u8 len = mostly(8 + rnd(100), 149, 255), reason = one_of(IB_CM_REJ_CONSUMER_DEFINED, 1, 3);
	int ret;

	call("rdma_reject reason %u data %u", reason, len);
	rdma_lock_handler(e->id);
	ret = rdma_reject(e->id, cm_data, len, reason);
	rdma_unlock_handler(e->id);
	return answer(ret);
}

static int disconnect(unsigned int n)
{
	call("rdma_disconnect %s", cm_names[n]);
	return answer(rdma_disconnect(cm_ends[n]->id));
}

static int bind(unsigned int n, const struct kdev *to, u16 port, const char *what)
{
	struct sockaddr_storage ss;

	cm_address(&ss, &now, to, port);
	call("rdma_bind_addr %s to ", cm_names[n]);
	say_cm_address(&ss);
	say("%s", what);
	return answer(rdma_bind_addr(cm_ends[n]->id, (struct sockaddr *)&ss));
}

static int listen(const char *what)
{
	call("rdma_listen%s", what);
	return answer(rdma_listen(cm_ends[LISTENER]->id, rnd(10)));
}

static int resolve_addr(const char *what)
{
	struct sockaddr_storage src, dst;
	bool from = one_in(2) || now.family == AF_IB;

	cm_address(&src, &now, now.dev, 0);
	cm_address(&dst, &now, now.peer, now.port);
	call("rdma_resolve_addr from %d to ", from);
	say_cm_address(&dst);
	say("%s", what);
	return answer(rdma_resolve_addr(cm_ends[CLIENT]->id, from ? (struct sockaddr *)&src : NULL,
					(struct sockaddr *)&dst, 3000));
}

static int resolve_route(const char *what)
{
	call("rdma_resolve_route%s", what);
	if (cm_ends[CLIENT]->connects) {
		say(", then rdma_connect");
		say_param(&client_param);
	}
	return answer(rdma_resolve_route(cm_ends[CLIENT]->id, 5000));
}

/* Instead of a route that is resolved; nobody is asked, and there is no event. */
static int set_path(void)
{
	struct sa_path_rec path;

	right_path(&path, now.dev, now.peer);
	call("rdma_set_ib_path");
	return answer(rdma_set_ib_path(cm_ends[CLIENT]->id, &path));
}

static void notify(unsigned int n, u32 what)
{
	call("rdma_notify %s %s", cm_names[n], ib_event_msg(what));
	answer(rdma_notify(cm_ends[n]->id, what));
}

/* ---- what a state does not allow ---- */

static u32 some_event(void)
{
	return one_of(IB_EVENT_COMM_EST, IB_EVENT_PATH_MIG, IB_EVENT_QP_FATAL);
}

enum phase { NEW, HAS_ADDRESS, HAS_ROUTE, WAITS, ESTABLISHED, ENDED };

static void wrong_step(enum phase phase)
{
	switch (phase) {
	case NEW:
		switch (rnd(4)) {
		case 0:
			resolve_route(" of an id without address");
			break;
		case 1:
			connect();
			break;
		case 2:
			disconnect(CLIENT);
			break;
		default:
			notify(CLIENT, some_event());
		}
		break;
	case HAS_ADDRESS:
		switch (rnd(4)) {
		case 0:
			resolve_addr(" again");
			break;
		case 1:
			connect();
			break;
		case 2:
			bind(CLIENT, now.dev, 0, " again");
			break;
		default:
			notify(CLIENT, some_event());
		}
		break;
	case HAS_ROUTE:
		if (one_in(2))
			resolve_route(" again");
		else
			bind(CLIENT, now.dev, 0, " again");
		break;
	case WAITS:
		/* of the id that has the request */
		if (one_in(2))
			bind(SERVER, now.peer, 0, " again");
		else
			notify(SERVER, some_event());
		break;
	case ESTABLISHED:
		switch (rnd(3)) {
		case 0:
			connect();
			break;
		case 1:
			resolve_route(" again");
			break;
		default:
			/* no migration to a path that there is not */
			notify(CLIENT, one_of(IB_EVENT_COMM_EST, IB_EVENT_QP_FATAL));
		}
		break;
	default:
		if (one_in(2))
			connect();
		else
			resolve_addr(" again");
	}
}

static void some_steps(enum phase phase)
{
	while (one_in(2)) {
		if (one_in(3))
			wrong_step(phase);
		else
			cm_look(phase >= WAITS ? rnd(SERVER + 1) : CLIENT, &now);
	}
}

/* A length that is wrong is so once. */
#define UNTIL_DONE(step)	({				\
	int _ret = -EINVAL, _tries = 6;			\
	while (_ret && _tries--)				\
		_ret = step;					\
	!_ret; })

/* ---- a connection ---- */

static bool route(void)
{
	struct cm_end *client = cm_ends[CLIENT];

	cm_settings(CLIENT);
	some_steps(NEW);
	if (one_in(3) && bind(CLIENT, now.dev, one_in(2) ? now.port + 1 : 0, ""))
		return false;
	cm_settings(CLIENT);
	if (resolve_addr("") || !take_events(&client->events, 1))
		return false;
	some_steps(HAS_ADDRESS);
	cm_settings(CLIENT);
	if (now.with_qp && cm_create_qp(CLIENT, &now))
		return false;
	/* A connect in the handler is made by who has a QP by then. */
	if (one_in(4)) {
		conn_param(&client_param, false, 0x123);
		client_param.private_data_len = 20;
		client->connects = true;
	}
	if (now.family == AF_IB && !client->connects && one_in(4))
		return !set_path();
	if (resolve_route(""))
		return false;
	if (!take_events(&client->events, client->connects ? 2 : 1))
		return false;
	if (!client->connects)
		some_steps(HAS_ROUTE);
	return true;
}

static bool listener(void)
{
	cm_settings(LISTENER);
	if (one_in(8)) {
		/* It gets some port. */
		listen(" before it is bound");
		return false;
	}
	if (bind(LISTENER, now.peer, now.port, "") || listen(""))
		return false;
	if (one_in(4))
		bind(LISTENER, now.peer, now.port, " again");
	if (one_in(4))
		listen(" again");
	return true;
}

static void end_connection(void)
{
	unsigned int first = rnd(SERVER + 1);

	some_steps(ESTABLISHED);
	if (one_in(5) || disconnect(first))
		return;
	take_events(&cm_ends[!first]->events, 1);
	/* which answers it */
	if (one_in(4) || disconnect(!first))
		return;
	take_events(&cm_ends[first]->events, 1);
	some_steps(ENDED);
}

static void answered(void)
{
	struct cm_end *client = cm_ends[CLIENT], *server = cm_ends[SERVER];

	if (!UNTIL_DONE(accept(SERVER)))
		return;
	if (!take_events(&client->events, 1))
		return;
	/* A datagram service is not connected. */
	if (now.type == IB_QPT_UD) {
		some_steps(ENDED);
		return;
	}
	/* Without a QP the client has only got the response. */
	if (!client->id->qp && (one_in(5) || finish()))
		return;
	if (take_events(&server->events, 1))
		end_connection();
}

static void connection(bool listens)
{
	struct cm_end *client = cm_ends[CLIENT], *server = cm_ends[SERVER];

	if (!route())
		return;
	if (!client->connects && !UNTIL_DONE(connect()))
		return;
	if (!listens) {
		take_events(&client->events, 1);
		return;
	}
	if (!take_events(&server->events, 1))
		return;
	some_steps(WAITS);
	if (one_in(4)) {
		if (UNTIL_DONE(reject()))
			take_events(&client->events, 1);
		return;
	}
	if (now.with_qp && cm_create_qp(SERVER, &now))
		return;
	answered();
}

static void choose(void)
{
	unsigned int i;

	now.dev = some_device();
	now.peer = peer_of(now.dev);
	now.family = is_vib(now.dev) ? AF_IB : one_of(AF_INET, AF_INET, AF_INET6);
	now.ps = one_of(RDMA_PS_TCP, RDMA_PS_TCP, RDMA_PS_UDP);
	now.type = now.ps == RDMA_PS_TCP ? IB_QPT_RC : IB_QPT_UD;
	now.port = 9900 + 2 * rnd(40);
	now.with_qp = !one_in(4);
	for (i = 0; i < sizeof(cm_data); i++)
		cm_data[i] = rnd(256);
	if (now.family == AF_IB && !one_in(8)) {
		cm_data[0] = 0;
		cm_data[1] = 0;
	}
}

void cm_connections(u64 number)
{
	bool listens = false;
	unsigned int i;

	choose();
	for (i = 0; i < IDS; i++) {
		cm_ends[i] = kzalloc(sizeof(*cm_ends[i]), GFP_KERNEL);
		if (!cm_ends[i])
			goto out;
		source_init(&cm_ends[i]->events);
		cm_ends[i]->n = i;
	}
	if (!cm_create(CLIENT, &now))
		goto out;
	if (now.type == IB_QPT_UD && one_in(3)) {
		if (!bind(CLIENT, now.dev, 0, ""))
			cm_groups(&now);
		goto out;
	}
	if (!one_in(8) && cm_create(LISTENER, &now))
		listens = listener();
	connection(listens);
out:
	for (i = 0; i < IDS; i++)
		cm_destroy(i);
	for (i = 0; i < IDS; i++) {
		kfree(cm_ends[i]);
		cm_ends[i] = NULL;
	}
}
