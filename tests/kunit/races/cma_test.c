// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections of the RDMA CM between two RoCE adapters.  Each racer makes one after the other,
 * and meanwhile accepts, rejects, disconnects and destroys ends of its own and of others; the
 * wire loses and doubles messages, the listener is replaced, and at last both adapters are
 * removed.  Each end must see ESTABLISHED at most once, DISCONNECTED at most once and after
 * it, DEVICE_REMOVAL last, and nothing after its destruction has returned.
 */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/wait.h>
#include "cma/cma_test.h"
#include "crew.h"
#include "wait.h"

#define ROUNDS		10	/* pairs of adapters in a case */
#define CONNECTIONS	100	/* of all racers, before the adapters are removed */
#define WAIT_MS		20000

enum { CLIENT, SERVER, HOSTS };

struct host {
	struct cma_side *side;		/* its netdev and addresses */
	struct fake_hca *hca;
	struct ib_pd *pd;
	struct ib_cq *cq;
	refcount_t refs;		/* of PD and CQ: the adapter's, of each QP's end */
	bool leaving;
	struct rnd_state wire;		/* of the work item that has the adapter's wire */
};

/* An end of a connection; its id's context.  Freed when the id is destroyed. */
struct end {
	struct slot *slot;
	struct rdma_cm_id *id;
	struct host *host;		/* with a reference if the id has a QP, or NULL */
	atomic_t inside;		/* handlers that run: one at most */
	unsigned long seen;		/* BIT() of events */
	int ends_at;			/* the event at which the handler destroys it */
};

struct slot {
	struct rw_semaphore lock;	/* end, against its destruction */
	struct end *end;
	unsigned long seen;		/* of the last end; and SEEN_END */
	wait_queue_head_t changed;
};

struct conn {
	struct slot active, passive;
	u32 round;			/* passive.lock; the one that may get an end */
};

/* In the private data of a request. */
struct token {
	u32 racer, round;
};

static struct world {
	struct kunit *test;
	struct crew crew;
	struct cma_pair pair;
	struct host hosts[HOSTS];
	unsigned int nr_racers;
	struct conn conns[CREW_MOST];
	struct mutex listener_lock;	/* listener */
	struct rdma_cm_id *listener;
	atomic_t connections, random;
} world;

static struct {
	atomic_t tried, established, rejected, disconnected, removed, by_handler, replaced;
} seen;

#define SEES(event)	BIT(RDMA_CM_EVENT_##event)
#define SEEN_END	31		/* bit of seen: the end is being destroyed */
#define OUTCOMES	(SEES(ESTABLISHED) | SEES(REJECTED) | SEES(UNREACHABLE) | \
			 SEES(CONNECT_ERROR) | SEES(DEVICE_REMOVAL))

/* A random number for handlers, which have no racer. */
static u32 pick(u32 n)
{
	return hash_32(atomic_inc_return(&world.random), 16) % n;
}

/* ---- hosts ---- */

static bool host_get(struct host *host)
{
	return !READ_ONCE(host->leaving) && refcount_inc_not_zero(&host->refs);
}

static void host_put(struct host *host)
{
	if (!refcount_dec_and_test(&host->refs))
		return;
	ib_free_cq(host->cq);
	ib_dealloc_pd(host->pd);
}

static enum fake_hca_verdict verdict(struct fake_hca *hca, struct fake_hca_packet *packet,
				     void *arg)
{
	struct ib_mad_hdr *hdr = (void *)packet->data;
	struct host *host = arg;
	u32 n = prandom_u32_state(&host->wire) % 64;

	if (packet->dst_qpn != 1 || hdr->mgmt_class != IB_MGMT_CLASS_CM)
		return FAKE_DELIVER;
	/* A peer waits for seconds before it repeats anything but an RTU. */
	if (n < 16)
		return FAKE_DUPLICATE;
	if (n == 16 || (n < 24 && hdr->attr_id == CM_RTU_ATTR_ID))
		return FAKE_DROP;
	return FAKE_DELIVER;
}

static bool has_gid(struct host *host)
{
	const struct ib_gid_attr *attr;
	struct sockaddr_storage ip;
	union ib_gid gid;

	rdma_ip2gid(cma_sin(&ip, host->side->ip4, 0), &gid);
	attr = rdma_find_gid_by_port(&host->hca->ibdev, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1,
				     host->side->ndev);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static void host_start(struct kunit *test, struct host *host, unsigned int seed)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = host->side->ndev,
	};

	host->leaving = false;
	prandom_seed_state(&host->wire, seed);
	host->hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, host->hca);
	host->hca->verdict_arg = host;
	host->hca->verdict = verdict;
	KUNIT_ASSERT_TRUE(test, wait_within(has_gid(host), WAIT_MS));
	host->pd = ib_alloc_pd(&host->hca->ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(host->pd));
	host->cq = ib_alloc_cq_any(&host->hca->ibdev, NULL, 256, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(host->cq));
	refcount_set(&host->refs, 1);
}

static int client_add(struct ib_device *ibdev)
{
	return 0;
}

/* Called before rdma_cm tells of the removal. */
static void client_remove(struct ib_device *ibdev, void *client_data)
{
	struct host *host = &world.hosts[ibdev == &world.hosts[SERVER].hca->ibdev];

	WRITE_ONCE(host->leaving, true);
	host_put(host);
}

static struct ib_client ib_client = {
	.name = "race_cma",
	.add = client_add,
	.remove = client_remove,
};

/* ---- ends ---- */

static int make_qp(struct end *end, struct host *host)
{
	struct ib_qp_init_attr init = {
		.send_cq = host->cq,
		.recv_cq = host->cq,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	int ret;

	if (!host_get(host))
		return -ENODEV;
	ret = rdma_create_qp(end->id, host->pd, &init);
	if (ret)
		host_put(host);
	else
		end->host = host;
	return ret;
}

/* Nobody else has the end any more, but its handler may run. */
static void free_qp(struct end *end)
{
	if (!end->host)
		return;
	rdma_destroy_qp(end->id);
	/* An id delays the removal of its device. */
	host_put(end->host);
}

/* slot->lock is held for writing.  Nobody waits for events of the end any more. */
static void empty_slot(struct slot *slot)
{
	slot->end = NULL;
	set_bit(SEEN_END, &slot->seen);
	wake_up(&slot->changed);
}

static struct end *take_end(struct slot *slot)
{
	struct end *end;

	down_write(&slot->lock);
	end = slot->end;
	empty_slot(slot);
	up_write(&slot->lock);
	return end;
}

static void destroy_end(struct slot *slot)
{
	struct end *end = take_end(slot);

	if (!end)
		return;
	free_qp(end);
	rdma_destroy_id(end->id);
	KUNIT_EXPECT_EQ(world.test, atomic_read(&end->inside), 0);
	kfree(end);
}

/* By the result of its handler.  Returns false if another task has it, or is about to. */
static bool destroy_in_handler(struct end *end)
{
	struct slot *slot = end->slot;
	bool mine;

	if (!down_write_trylock(&slot->lock))
		return false;
	mine = slot->end == end;
	if (mine)
		empty_slot(slot);
	up_write(&slot->lock);
	if (!mine)
		return false;
	free_qp(end);
	atomic_inc(&seen.by_handler);
	kfree(end);
	return true;
}

static void note(struct end *end, enum rdma_cm_event_type event)
{
	struct kunit *test = world.test;
	bool again = end->seen & BIT(event);

	KUNIT_EXPECT_FALSE_MSG(test, end->seen & SEES(DEVICE_REMOVAL), "%d after %lx", event,
			       end->seen);
	switch (event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		KUNIT_EXPECT_FALSE_MSG(test, again, "after %lx", end->seen);
		atomic_inc(&seen.established);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		KUNIT_EXPECT_FALSE_MSG(test, again, "after %lx", end->seen);
		KUNIT_EXPECT_TRUE_MSG(test, end->seen & SEES(ESTABLISHED), "after %lx",
				      end->seen);
		atomic_inc(&seen.disconnected);
		break;
	case RDMA_CM_EVENT_REJECTED:
		KUNIT_EXPECT_FALSE_MSG(test, again, "after %lx", end->seen);
		atomic_inc(&seen.rejected);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		atomic_inc(&seen.removed);
		break;
	default:
		break;
	}
	end->seen |= BIT(event);
	/* Atomic, as the slot may be emptied at the same time. */
	set_bit(event, &end->slot->seen);
}

/* ---- handlers ---- */

static int accept_end(struct end *end)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	int ret = end->host ? 0 : make_qp(end, &world.hosts[SERVER]);

	return ret ?: rdma_accept(end->id, &param);
}

/* passive.lock is held. */
static int new_end(struct conn *conn, struct rdma_cm_id *id, u32 round)
{
	struct end *end;

	if (conn->round != round || conn->passive.end)
		return -EBUSY;
	end = kzalloc(sizeof(*end), GFP_KERNEL);
	if (!end)
		return -ENOMEM;
	end->slot = &conn->passive;
	end->id = id;
	end->ends_at = pick(16);
	id->context = end;
	conn->passive.seen = 0;
	switch (pick(8)) {
	case 0:
		rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
		break;
	case 1:
	case 2:
		break;		/* a racer answers: see meddle() */
	default:
		accept_end(end);
		break;
	}
	conn->passive.end = end;
	return 0;
}

static int request(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	const struct token *token = event->param.conn.private_data;
	struct conn *conn;
	int ret;

	if (!token || token->racer >= world.nr_racers)
		return -EINVAL;
	conn = &world.conns[token->racer];
	if (!down_write_trylock(&conn->passive.lock))
		return -EBUSY;
	ret = new_end(conn, id, token->round);
	up_write(&conn->passive.lock);
	return ret;
}

/* Its adapter is removed; drop_listener() otherwise. */
static int listener_event(struct rdma_cm_id *id)
{
	bool mine;

	if (!mutex_trylock(&world.listener_lock))
		return 0;
	mine = world.listener == id;
	if (mine)
		world.listener = NULL;
	mutex_unlock(&world.listener_lock);
	return mine;
}

static int handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct end *end = id->context;
	struct slot *slot;
	bool ends;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return request(id, event);
	if (id->context == &world)
		return listener_event(id);
	slot = end->slot;
	KUNIT_EXPECT_EQ(world.test, atomic_inc_return(&end->inside), 1);
	note(end, event->event);
	ends = event->event == end->ends_at ||
	       (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && pick(2));
	atomic_dec(&end->inside);
	if (ends)
		ends = destroy_in_handler(end);
	wake_up(&slot->changed);
	return ends;
}

/* ---- the listener ---- */

static void drop_listener(void)
{
	struct rdma_cm_id *id;

	mutex_lock(&world.listener_lock);
	id = world.listener;
	world.listener = NULL;
	mutex_unlock(&world.listener_lock);
	if (id)
		rdma_destroy_id(id);
}

/* Fails while another listener has the port, or the adapter is removed. */
static int listen(void)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, handler, &world, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	mutex_lock(&world.listener_lock);
	ret = world.listener ? -EBUSY : 0;
	if (!ret)
		ret = rdma_bind_addr(id, cma_sin(&addr, world.hosts[SERVER].side->ip4,
						 TEST_PORT));
	if (!ret)
		ret = rdma_listen(id, 64);
	if (!ret)
		world.listener = id;
	mutex_unlock(&world.listener_lock);
	if (ret)
		rdma_destroy_id(id);
	return ret;
}

/* ---- racers ---- */

/* Does something to any end, at which others may do the same at once. */
static void meddle(struct racer *racer)
{
	struct conn *conn = &world.conns[crew_pick(racer, world.nr_racers)];
	bool passive = crew_pick(racer, 3);
	struct slot *slot = passive ? &conn->passive : &conn->active;
	struct end *end;

	if (crew_once(racer, 12)) {
		destroy_end(slot);
		return;
	}
	down_read(&slot->lock);
	end = slot->end;
	if (end) {
		switch (crew_pick(racer, 6)) {
		case 0:
			rdma_disconnect(end->id);
			break;
		case 1:
			if (passive)
				rdma_reject(end->id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
			break;
		case 2:
			if (READ_ONCE(end->host))
				rdma_notify(end->id, IB_EVENT_COMM_EST);
			break;
		default:
			if (!passive)
				break;
			rdma_lock_handler(end->id);
			accept_end(end);
			rdma_unlock_handler(end->id);
			break;
		}
	}
	up_read(&slot->lock);
}

enum stage { ADDR, ROUTE, CONNECT, STAGES };

static int advance(struct racer *racer, struct conn *conn, enum stage stage)
{
	struct token token = { .racer = racer->nr, .round = conn->round };
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
		.private_data = &token, .private_data_len = sizeof(token),
	};
	struct sockaddr_storage src, dst;
	struct end *end = conn->active.end;
	int ret;

	lockdep_assert_held(&conn->active.lock);
	if (!end)
		return -ENOENT;
	switch (stage) {
	case ADDR:
		return rdma_resolve_addr(end->id,
					 cma_sin(&src, world.hosts[CLIENT].side->ip4, 0),
					 cma_sin(&dst, world.hosts[SERVER].side->ip4, TEST_PORT),
					 TEST_TIMEOUT);
	case ROUTE:
		return rdma_resolve_route(end->id, TEST_TIMEOUT);
	default:
		ret = make_qp(end, &world.hosts[CLIENT]);
		return ret ?: rdma_connect(end->id, &param);
	}
}

/* Begins a stage and waits for its end, or not.  Returns whether to go on. */
static bool pass(struct racer *racer, struct conn *conn, enum stage stage)
{
	static const unsigned long ends[STAGES] = {
		[ADDR] = SEES(ADDR_RESOLVED) | SEES(ADDR_ERROR) | SEES(DEVICE_REMOVAL),
		[ROUTE] = SEES(ROUTE_RESOLVED) | SEES(ROUTE_ERROR) | SEES(DEVICE_REMOVAL),
		[CONNECT] = OUTCOMES,
	};
	struct slot *slot = &conn->active;
	int ret;

	down_read(&slot->lock);
	ret = advance(racer, conn, stage);
	up_read(&slot->lock);
	if (ret)
		return false;
	if (crew_once(racer, 12)) {
		crew_pause(racer);
		return false;
	}
	/* No outcome may come: others may have destroyed the peer, or not answered yet. */
	wait_event_timeout(slot->changed, READ_ONCE(slot->seen) & (ends[stage] | BIT(SEEN_END)),
			   msecs_to_jiffies(stage == CONNECT ? 10 + crew_pick(racer, 200) :
							       WAIT_MS));
	return READ_ONCE(slot->seen) & ends[stage];
}

static bool begin(struct racer *racer, struct conn *conn)
{
	struct end *end = kzalloc(sizeof(*end), GFP_KERNEL);

	if (!end)
		return false;
	end->slot = &conn->active;
	end->ends_at = crew_once(racer, 3) ? crew_pick(racer, 16) : -1;
	end->id = rdma_create_id(&init_net, handler, end, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(end->id)) {
		kfree(end);
		return false;
	}
	down_write(&conn->active.lock);
	conn->active.seen = 0;
	conn->active.end = end;
	up_write(&conn->active.lock);
	return true;
}

static void finish(struct racer *racer, struct conn *conn)
{
	bool passive_first = crew_pick(racer, 2);

	destroy_end(passive_first ? &conn->passive : &conn->active);
	if (crew_once(racer, 2))
		crew_pause(racer);
	destroy_end(passive_first ? &conn->active : &conn->passive);
	/* A request that comes late gets no end any more. */
	down_write(&conn->passive.lock);
	conn->round++;
	up_write(&conn->passive.lock);
	destroy_end(&conn->passive);
}

static void connect(struct racer *racer)
{
	struct conn *conn = &world.conns[racer->nr];
	int i, n;

	if (begin(racer, conn) && pass(racer, conn, ADDR) && pass(racer, conn, ROUTE))
		pass(racer, conn, CONNECT);
	n = crew_pick(racer, 8);
	for (i = 0; i < n; i++) {
		crew_pause(racer);
		meddle(racer);
	}
	finish(racer, conn);
	atomic_inc(&world.connections);
	atomic_inc(&seen.tried);
}

static void replace_listener(void)
{
	drop_listener();
	atomic_inc(&seen.replaced);
	listen();
}

static void race(struct racer *racer)
{
	while (!READ_ONCE(world.hosts[CLIENT].leaving) ||
	       !READ_ONCE(world.hosts[SERVER].leaving)) {
		connect(racer);
		if (READ_ONCE(world.hosts[SERVER].leaving))
			drop_listener();
		else if (crew_once(racer, 32))
			replace_listener();
	}
	drop_listener();
}

static void remove_adapter(struct racer *racer)
{
	struct host *host = &world.hosts[racer->nr - world.nr_racers];

	while (atomic_read(&world.connections) < CONNECTIONS && !crew_late(&world.crew))
		msleep(1);
	crew_pause(racer);
	fake_hca_unregister(host->hca);
	KUNIT_EXPECT_EQ(world.test, fake_hca_objects(host->hca), 0);
}

static void one_round(struct kunit *test, unsigned int seed)
{
	unsigned int i;

	crew_seed(&world.crew, seed);
	atomic_set(&world.connections, 0);
	atomic_set(&world.random, seed << 16);
	for (i = 0; i < HOSTS; i++)
		host_start(test, &world.hosts[i], seed * HOSTS + i);
	KUNIT_ASSERT_EQ(test, listen(), 0);
	for (i = 0; i < world.nr_racers; i++)
		crew_add(&world.crew, race);
	for (i = 0; i < HOSTS; i++)
		crew_add(&world.crew, remove_adapter);
	crew_join(&world.crew);
	for (i = 0; i < HOSTS; i++)
		fake_hca_free(world.hosts[i].hca);
}

static void connections(struct kunit *test)
{
	unsigned long seed = (unsigned long)test->param_value;
	unsigned int round;
	int tried;

	memset(&seen, 0, sizeof(seen));
	for (round = 0; round < ROUNDS && test->status == KUNIT_SUCCESS &&
	     !crew_late(&world.crew); round++)
		one_round(test, seed + round * 16);
	tried = atomic_read(&seen.tried);
	kunit_info(test, "tried %d, established %d, rejected %d, disconnected %d, removed %d",
		   tried, atomic_read(&seen.established), atomic_read(&seen.rejected),
		   atomic_read(&seen.disconnected), atomic_read(&seen.removed));
	kunit_info(test, "destroyed by their handler %d, listeners replaced %d",
		   atomic_read(&seen.by_handler), atomic_read(&seen.replaced));
	/* Each outcome was frequent enough. */
	KUNIT_EXPECT_GT(test, atomic_read(&seen.established), tried / 4);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.rejected), tried / 50);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.disconnected), tried / 50);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.by_handler), tried / 50);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.replaced), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.removed), 0);
}

static void slot_init(struct slot *slot)
{
	init_rwsem(&slot->lock);
	init_waitqueue_head(&slot->changed);
}

static int race_cma_init(struct kunit *test)
{
	int i, ret;

	memset(&world, 0, sizeof(world));
	world.test = test;
	crew_init(&world.crew, test);
	world.nr_racers = crew_size();
	mutex_init(&world.listener_lock);
	for (i = 0; i < CREW_MOST; i++) {
		slot_init(&world.conns[i].active);
		slot_init(&world.conns[i].passive);
	}
	cma_pair_addrs(&world.pair);
	world.hosts[CLIENT].side = &world.pair.client;
	world.hosts[SERVER].side = &world.pair.server;
	for (i = 0; i < HOSTS; i++) {
		struct cma_side *side = world.hosts[i].side;

		side->ndev = cma_net_create();
		if (!side->ndev)
			return -ENOMEM;
		ret = cma_side_net(side);
		if (ret)
			return ret;
	}
	ret = cma_know_peer(&world.pair.client, &world.pair.server);
	if (!ret)
		ret = cma_know_peer(&world.pair.server, &world.pair.client);
	return ret ?: ib_register_client(&ib_client);
}

static void race_cma_exit(struct kunit *test)
{
	int i;

	ib_unregister_client(&ib_client);
	for (i = 0; i < HOSTS; i++)
		if (world.hosts[i].side && world.hosts[i].side->ndev)
			fake_netdev_destroy(world.hosts[i].side->ndev);
}

static struct kunit_case race_cma_cases[] = {
	KUNIT_CASE_PARAM(connections, crew_next_seed),
	{}
};

static struct kunit_suite race_cma_suite = {
	.name = "race_cma",
	.init = race_cma_init,
	.exit = race_cma_exit,
	.test_cases = race_cma_cases,
};

kunit_test_suite(race_cma_suite);
