// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Agents on the QP1s of two adapters, of which each belongs to a racer.  The racers register
 * and deregister their agents, send requests to one another, cancel and modify their own sends
 * and those of others, and ask subnet administration, while the wire drops, doubles and holds
 * MADs, the QPs have errors, ports have events, and at last both adapters are removed.  Each
 * send and each query must complete exactly once, before the deregistration of its agent has
 * returned, and no handler may run later.
 */
#include <linux/mutex.h>
#include <rdma/ib_sa.h>
#include "mad/mad_test.h"
#include "crew.h"
#include "wait.h"

#define FIRST_CLASS	0x09	/* of the first vendor range, which has seven */
#define MOST_RACERS	7
#define ROUNDS		3	/* pairs of adapters in a case */
#define STEPS		800	/* of all racers, before the adapters are removed */
#define SLOTS		12
#define WAIT_MS		60000

static_assert(MOST_RACERS <= CREW_MOST);

/* A send of a racer, as long as it is not freed. */
struct slot {
	struct mutex lock;		/* buf, against being freed */
	struct ib_mad_send_buf *buf;
	atomic_t told;			/* completions */
	enum ib_wc_status status;
	unsigned long posted;		/* jiffies */
};

/* An agent; freed when its deregistration has returned. */
struct client {
	struct ib_mad_agent *agent;
	struct asker *owner;
	struct ib_ah *ah[2];		/* to either adapter */
	atomic_t inside;		/* handlers that run: one at most */
};

struct asker {
	struct racer *racer;
	unsigned int home;		/* its adapter */
	struct client *client;
	struct slot slots[SLOTS];
	u32 serial;
	u32 replies;			/* for its receive handler */
	atomic_t queries;		/* not called back yet */
};

static struct world {
	struct kunit *test;
	struct crew crew;
	unsigned int nr_askers;
	struct asker askers[MOST_RACERS];
	struct fake_hca *hca[2];
	u16 lid[2];
	struct rnd_state wire[2];	/* of the work item that has an adapter's wire */
	atomic_t steps;
	unsigned int rtt_ms;		/* of the last response: machines differ */
	bool leaving[2];
	atomic_t at_home[2];		/* racers that use the adapter */
	struct completion left[2];
} world;

static struct {
	atomic_t steps, answered, expired, flushed, cancels, busy, queries, cancelled_queries;
	atomic_t left_behind, recoveries;
} seen;

static struct ib_sa_client sa_client;

/* ---- the wire ---- */

static enum fake_hca_verdict verdict(struct fake_hca *hca, struct fake_hca_packet *packet,
				     void *arg)
{
	switch (prandom_u32_state(arg) % 16) {
	case 0:
	case 1:
		return FAKE_DROP;
	case 2:
	case 3:
		return FAKE_DUPLICATE;
	case 4:
		return FAKE_HOLD;
	default:
		return FAKE_DELIVER;
	}
}

/* A recovery begins. */
static void qp_fails(struct asker *asker)
{
	if (fake_hca_special_error(world.hca[asker->home], 1, 1,
				   crew_once(asker->racer, 2) ? IB_QPS_SQE : IB_QPS_ERR))
		atomic_inc(&seen.recoveries);
}

static void port_event(struct asker *asker)
{
	static const enum ib_event_type events[] = {
		IB_EVENT_LID_CHANGE, IB_EVENT_SM_CHANGE, IB_EVENT_PKEY_CHANGE,
		IB_EVENT_CLIENT_REREGISTER, IB_EVENT_PORT_ACTIVE,
	};

	fake_hca_port_event(world.hca[asker->home], 1,
			    events[crew_pick(asker->racer, ARRAY_SIZE(events))]);
}

/* ---- handlers ---- */

static void enter(struct client *client)
{
	KUNIT_EXPECT_EQ(world.test, atomic_inc_return(&client->inside), 1);
}

static void leave(struct client *client)
{
	atomic_dec(&client->inside);
}

static void sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct client *client = agent->context;
	struct ib_mad_send_buf *buf = wc->send_buf;
	struct slot *slot = buf->context[0];

	enter(client);
	if (!slot) {
		/* An answer. */
		rdma_destroy_ah(buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
		ib_free_send_mad(buf);
	} else {
		slot->status = wc->status;
		KUNIT_EXPECT_EQ(world.test, atomic_inc_return(&slot->told), 1);
	}
	leave(client);
}

static void answer(struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf = mad_reply_new(agent, wc, IB_MGMT_MAD_HDR);

	if (!buf)
		return;
	memcpy(buf->mad, wc->recv_buf.mad, IB_MGMT_MAD_SIZE);
	((struct ib_mad_hdr *)buf->mad)->method |= IB_MGMT_METHOD_RESP;
	mad_reply_post(buf);
}

static void received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc)
{
	struct client *client = agent->context;
	struct slot *slot = buf ? buf->context[0] : NULL;

	enter(client);
	if (slot) {
		/* A response comes before the completion of its request. */
		KUNIT_EXPECT_EQ(world.test, atomic_read(&slot->told), 0);
		KUNIT_EXPECT_EQ(world.test, ((struct ib_mad_hdr *)buf->mad)->tid,
				wc->recv_buf.mad->mad_hdr.tid);
		WRITE_ONCE(world.rtt_ms, jiffies_to_msecs(jiffies - slot->posted));
	} else if (client->owner->replies++ % 4) {
		answer(agent, wc);
	}
	ib_free_recv_mad(wc);
	leave(client);
}

/* ---- agents ---- */

static struct ib_mad_agent *register_agent(struct asker *asker, u8 class, void *context)
{
	struct ib_mad_reg_req req = { .mgmt_class = class, .mgmt_class_version = 1 };

	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	return ib_register_mad_agent(&world.hca[asker->home]->ibdev, 1, IB_QPT_GSI, &req, 0,
				     sent, received, context, 0);
}

static void open_client(struct asker *asker)
{
	struct kunit *test = world.test;
	struct client *client = kzalloc(sizeof(*client), GFP_KERNEL);
	unsigned long until = jiffies + msecs_to_jiffies(WAIT_MS);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, client);
	client->owner = asker;
	/* Another racer may have its class for a moment: see try_class(). */
	do {
		client->agent = register_agent(asker, FIRST_CLASS + asker->racer->nr, client);
		if (client->agent != ERR_PTR(-EBUSY))
			break;
		msleep(1);
	} while (time_before(jiffies, until));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(client->agent), 0);
	if (IS_ERR(client->agent)) {
		kfree(client);
		return;
	}
	for (i = 0; i < 2; i++) {
		client->ah[i] = mad_ah_to(client->agent, world.lid[i]);
		KUNIT_EXPECT_FALSE(test, IS_ERR(client->ah[i]));
	}
	asker->client = client;
}

static void destroy_ahs(struct client *client)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!IS_ERR_OR_NULL(client->ah[i]))
			rdma_destroy_ah(client->ah[i], RDMA_DESTROY_AH_SLEEPABLE);
}

/* Frees what has been sent, if its completion came. */
static void reap(struct slot *slot)
{
	mutex_lock(&slot->lock);
	if (slot->buf && atomic_read(&slot->told)) {
		switch (slot->status) {
		case IB_WC_SUCCESS:
			atomic_inc(&seen.answered);
			break;
		case IB_WC_RESP_TIMEOUT_ERR:
			atomic_inc(&seen.expired);
			break;
		default:
			atomic_inc(&seen.flushed);
			break;
		}
		ib_free_send_mad(slot->buf);
		slot->buf = NULL;
	}
	mutex_unlock(&slot->lock);
}

static void reap_all(struct asker *asker)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		reap(&asker->slots[i]);
}

static bool all_told(struct asker *asker)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (asker->slots[i].buf && !atomic_read(&asker->slots[i].told))
			return false;
	return true;
}

static void deregister(struct client *client)
{
	struct asker *asker = client->owner;

	ib_unregister_mad_agent(client->agent);
	KUNIT_EXPECT_EQ(world.test, atomic_read(&client->inside), 0);
	KUNIT_EXPECT_TRUE(world.test, all_told(asker));
	kfree(client);
}

static void close_client(struct asker *asker)
{
	struct client *client = asker->client;
	struct ib_ah *ah[2];

	if (!client)
		return;
	asker->client = NULL;
	memcpy(ah, client->ah, sizeof(ah));
	deregister(client);
	destroy_ahs(&(struct client){ .ah = { ah[0], ah[1] } });
	reap_all(asker);
}

/* Registers an agent of a class that is often another racer's. */
static void try_class(struct asker *asker)
{
	struct client client = { .owner = asker };
	unsigned int i = crew_pick(asker->racer, world.nr_askers);
	struct ib_mad_agent *agent = register_agent(asker, FIRST_CLASS + i, &client);

	if (IS_ERR(agent)) {
		KUNIT_EXPECT_EQ(world.test, PTR_ERR(agent), -EBUSY);
		atomic_inc(&seen.busy);
		return;
	}
	crew_pause(asker->racer);
	ib_unregister_mad_agent(agent);
	KUNIT_EXPECT_EQ(world.test, atomic_read(&client.inside), 0);
}

/* ---- sends ---- */

static struct ib_mad_send_buf *request(struct asker *asker, struct slot *slot)
{
	struct client *client = asker->client;
	struct asker *to = &world.askers[crew_pick(asker->racer, world.nr_askers)];
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;

	buf = ib_create_send_mad(client->agent, 1, 0, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	KUNIT_EXPECT_FALSE(world.test, IS_ERR(buf));
	if (IS_ERR(buf))
		return NULL;
	hdr = buf->mad;
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = FIRST_CLASS + to->racer->nr;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_GET;
	hdr->tid = cpu_to_be64((u64)client->agent->hi_tid << 32 | ++asker->serial);
	buf->ah = client->ah[to->home];
	buf->timeout_ms = crew_once(asker->racer, 8) ? 1000 :
			  1 + crew_pick(asker->racer, 4 + 2 * READ_ONCE(world.rtt_ms));
	buf->retries = crew_pick(asker->racer, 3);
	buf->context[0] = slot;
	return buf;
}

static void post(struct asker *asker)
{
	struct slot *slot = &asker->slots[crew_pick(asker->racer, SLOTS)];
	int ret;

	reap(slot);
	mutex_lock(&slot->lock);
	if (!slot->buf) {
		atomic_set(&slot->told, 0);
		slot->posted = jiffies;
		slot->buf = request(asker, slot);
		ret = slot->buf ? ib_post_send_mad(slot->buf, NULL) : 0;
		if (ret) {
			ib_free_send_mad(slot->buf);
			slot->buf = NULL;
		}
	}
	mutex_unlock(&slot->lock);
}

/* Cancels a send of any racer, or changes its time; it may be complete. */
static void change(struct asker *asker)
{
	struct asker *whose = &world.askers[crew_pick(asker->racer, world.nr_askers)];
	struct slot *slot = &whose->slots[crew_pick(asker->racer, SLOTS)];
	u32 ms = crew_pick(asker->racer, 3) ? 0 : 1 + crew_pick(asker->racer, 10);

	mutex_lock(&slot->lock);
	if (slot->buf && !ib_modify_mad(slot->buf, ms) && !ms)
		atomic_inc(&seen.cancels);
	mutex_unlock(&slot->lock);
}

/* Machines that do steps faster than MADs would see few responses. */
static void wait_for_responses(struct asker *asker)
{
	wait_within(all_told(asker), 4 + 2 * READ_ONCE(world.rtt_ms));
}

/* ---- queries ---- */

struct question {
	struct asker *asker;
	atomic_t told;
	refcount_t refs;		/* of the asker and the callback */
};

static void put_question(struct question *question)
{
	if (refcount_dec_and_test(&question->refs))
		kfree(question);
}

static void told_path(int err, struct sa_path_rec *path, unsigned int paths, void *arg)
{
	struct question *question = arg;

	if (err == -EINTR)
		atomic_inc(&seen.cancelled_queries);
	KUNIT_EXPECT_EQ(world.test, atomic_inc_return(&question->told), 1);
	atomic_dec(&question->asker->queries);
	put_question(question);
}

static void ask_for_path(struct asker *asker)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct question *question = kzalloc(sizeof(*question), GFP_KERNEL);
	struct ib_sa_query *query;
	int id;

	KUNIT_ASSERT_NOT_NULL(world.test, question);
	question->asker = asker;
	refcount_set(&question->refs, 2);
	atomic_inc(&asker->queries);
	/* Few different ones, so that they share MADs. */
	sa_path_set_slid(&rec, 1 + crew_pick(asker->racer, 2));
	id = ib_sa_path_rec_get(&sa_client, &world.hca[asker->home]->ibdev, 1, &rec,
				IB_SA_PATH_REC_SLID, 1 + crew_pick(asker->racer, 20),
				GFP_KERNEL, told_path, question, &query);
	if (id < 0) {
		atomic_dec(&asker->queries);
		put_question(question);
	} else {
		atomic_inc(&seen.queries);
		if (crew_once(asker->racer, 2)) {
			crew_pause(asker->racer);
			ib_sa_cancel_query(id, query);
		}
	}
	put_question(question);
}

/* ---- racers ---- */

static void step(struct asker *asker)
{
	switch (crew_pick(asker->racer, 64)) {
	case 0:
		qp_fails(asker);
		break;
	case 1:
		port_event(asker);
		break;
	case 2 ... 4:
		close_client(asker);
		open_client(asker);
		break;
	case 5 ... 7:
		try_class(asker);
		break;
	case 8 ... 10:
		fake_hca_release_held(world.hca[asker->home]);
		break;
	case 11 ... 15:
		ask_for_path(asker);
		break;
	case 16 ... 31:
		change(asker);
		break;
	case 32 ... 33:
		wait_for_responses(asker);
		break;
	default:
		post(asker);
		break;
	}
	if (crew_once(asker->racer, 2))
		crew_pause(asker->racer);
}

static void out(struct asker *asker)
{
	if (atomic_dec_and_test(&world.at_home[asker->home]))
		complete(&world.left[asker->home]);
}

/*
 * Lets the adapter be removed with an agent that its client has not deregistered yet, but
 * without any send of it.
 */
static void leave_behind(struct asker *asker)
{
	struct client *client = asker->client;
	int i;

	for (i = 0; i < SLOTS; i++) {
		mutex_lock(&asker->slots[i].lock);
		if (asker->slots[i].buf)
			ib_modify_mad(asker->slots[i].buf, 0);
		mutex_unlock(&asker->slots[i].lock);
	}
	KUNIT_EXPECT_TRUE(world.test, wait_within(all_told(asker), WAIT_MS));
	reap_all(asker);
	asker->client = NULL;
	destroy_ahs(client);
	atomic_inc(&seen.left_behind);
	out(asker);
	crew_pause(asker->racer);
	deregister(client);
}

static void race(struct racer *racer)
{
	struct asker *asker = &world.askers[racer->nr];

	open_client(asker);
	while (!READ_ONCE(world.leaving[asker->home]) && asker->client) {
		step(asker);
		atomic_inc(&seen.steps);
		if (atomic_inc_return(&world.steps) > 20 * STEPS)
			msleep(1);
	}
	KUNIT_EXPECT_TRUE(world.test, wait_within(!atomic_read(&asker->queries), WAIT_MS));
	/* At least one in each round. */
	if (asker->client && (world.crew.seed + racer->nr) % 4 == 0) {
		leave_behind(asker);
		return;
	}
	close_client(asker);
	out(asker);
}

/* ---- adapters ---- */

static unsigned int index_of(struct ib_device *ibdev)
{
	return &world.hca[1]->ibdev == ibdev;
}

static int client_add(struct ib_device *ibdev)
{
	return 0;
}

static void client_remove(struct ib_device *ibdev, void *client_data)
{
	unsigned int i = index_of(ibdev);

	WRITE_ONCE(world.leaving[i], true);
	KUNIT_EXPECT_TRUE(world.test, wait_for_completion_timeout(&world.left[i],
								  CREW_SECONDS * HZ));
}

static struct ib_client ib_client = {
	.name = "race_mad",
	.add = client_add,
	.remove = client_remove,
};

static void remove_adapter(struct racer *racer)
{
	unsigned int i = racer->nr - world.nr_askers;
	struct fake_hca *hca = world.hca[i];

	while (atomic_read(&world.steps) < STEPS && !crew_late(&world.crew))
		msleep(1);
	crew_pause(racer);
	fake_hca_unregister(hca);
	KUNIT_EXPECT_EQ(world.test, fake_hca_objects(hca), 0);
}

static void one_round(struct kunit *test, unsigned int seed)
{
	const struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };
	unsigned int i;

	crew_seed(&world.crew, seed);
	atomic_set(&world.steps, 0);
	for (i = 0; i < 2; i++) {
		world.leaving[i] = false;
		init_completion(&world.left[i]);
		world.hca[i] = fake_hca_create(&params);
		KUNIT_ASSERT_NOT_NULL(test, world.hca[i]);
		world.lid[i] = world.hca[i]->port[1].lid;
		prandom_seed_state(&world.wire[i], seed * 2 + i);
		world.hca[i]->verdict_arg = &world.wire[i];
		world.hca[i]->verdict = verdict;
		atomic_set(&world.at_home[i], (world.nr_askers + 1 - i) / 2);
	}
	for (i = 0; i < world.nr_askers; i++) {
		world.askers[i].home = i % 2;
		world.askers[i].racer = &world.crew.racers[i];
	}
	for (i = 0; i < world.nr_askers; i++)
		crew_add(&world.crew, race);
	crew_add(&world.crew, remove_adapter);
	crew_add(&world.crew, remove_adapter);
	crew_join(&world.crew);
	/* A response on the wire of one may have been for the other. */
	for (i = 0; i < 2; i++)
		fake_hca_free(world.hca[i]);
}

static void agents(struct kunit *test)
{
	unsigned long seed = (unsigned long)test->param_value;
	unsigned int round;
	int steps;

	memset(&seen, 0, sizeof(seen));
	for (round = 0; round < ROUNDS && test->status == KUNIT_SUCCESS &&
	     !crew_late(&world.crew); round++)
		one_round(test, seed + round * 16);
	steps = atomic_read(&seen.steps);
	kunit_info(test, "steps %d, answered %d, expired %d, flushed %d, cancels %d, busy %d",
		   steps, atomic_read(&seen.answered), atomic_read(&seen.expired),
		   atomic_read(&seen.flushed), atomic_read(&seen.cancels),
		   atomic_read(&seen.busy));
	kunit_info(test, "queries %d, of them cancelled %d; left behind %d, recoveries %d",
		   atomic_read(&seen.queries), atomic_read(&seen.cancelled_queries),
		   atomic_read(&seen.left_behind), atomic_read(&seen.recoveries));
	/* Each outcome was frequent enough. */
	KUNIT_EXPECT_GT(test, atomic_read(&seen.answered), steps / 400);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.expired), steps / 400);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.flushed), steps / 400);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.cancels), steps / 400);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.busy), steps / 400);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.queries), steps / 400);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.left_behind), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.recoveries), 0);
}

static int race_mad_init(struct kunit *test)
{
	int i, j;

	memset(&world, 0, sizeof(world));
	world.test = test;
	crew_init(&world.crew, test);
	world.nr_askers = min_t(unsigned int, crew_size(), MOST_RACERS);
	for (i = 0; i < MOST_RACERS; i++)
		for (j = 0; j < SLOTS; j++)
			mutex_init(&world.askers[i].slots[j].lock);
	ib_sa_register_client(&sa_client);
	return ib_register_client(&ib_client);
}

static void race_mad_exit(struct kunit *test)
{
	ib_unregister_client(&ib_client);
	ib_sa_unregister_client(&sa_client);
}

static struct kunit_case race_mad_cases[] = {
	KUNIT_CASE_PARAM(agents, crew_next_seed),
	{}
};

static struct kunit_suite race_mad_suite = {
	.name = "race_mad",
	.init = race_mad_init,
	.exit = race_mad_exit,
	.test_cases = race_mad_cases,
};

kunit_test_suite(race_mad_suite);
