// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ten thousand connections whose RTU is lost, late, doubled or in time, while at random
 * moments the adapter reports that data arrived, receives complete, and either side
 * disconnects or is destroyed.  The seeds are fixed.
 */
#include <linux/prandom.h>
#include "cma/cma_test.h"
#include "wait.h"

#define RACE_SEEDS	20
#define RACE_ROUNDS	500	/* a seed */

enum race_act {
	RAISE, RECEIVE, LET_RTU_GO, CLIENT_DISCONNECTS, SERVER_DISCONNECTS,
	CLIENT_GOES, SERVER_GOES, RACE_ACTS
};

static struct cma_pair pair;
static struct rnd_state rnd;
static struct ib_cqe ignored;

static struct {
	unsigned int raised, by_data, ended, destroyed;
} seen;

static int replies;		/* sent before this round */
static bool received;		/* a receive of a waiting server completed */

static atomic_t receiving;	/* completions not polled yet */

static void ignore(struct ib_cq *cq, struct ib_wc *wc)
{
	atomic_dec(&receiving);
}

static int race_test_init(struct kunit *test)
{
	memset(&seen, 0, sizeof(seen));
	ignored.done = ignore;
	return cma_pair_init(test, &pair);
}

static void race_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static unsigned int pick(unsigned int n)
{
	return prandom_u32_state(&rnd) % n;
}

static void pause(void)
{
	unsigned int us = pick(4) ? pick(3000) : 0;

	if (us)
		usleep_range(us, us + 1);
}

static void choose_the_wire(void)
{
	pair.client.drop[IBCM_RTU] = pick(2) ? -1 : pick(3);
	pair.client.hold = pick(4) ? 0 : BIT(IBCM_RTU);
	pair.client.duplicate = pick(4) ? 0 : BIT(IBCM_RTU) | BIT(IBCM_DREQ);
	pair.server.drop[IBCM_REP] = pick(4) ? 0 : 1;
}

/*
 * The provider must have no event and no completion for a destroyed QP: end both first.
 */
static void server_goes(void)
{
	cma_raise_end();
	wait_within(!atomic_read(&receiving), 1000);
	cma_drop_id(&pair.server);
}

/* Returns the server's id if its REP has been sent: no data can arrive before. */
static struct rdma_cm_id *waiting_server(void)
{
	struct rdma_cm_id *id = pair.server.id;

	return id && id->qp && cma_sent(&pair.server, IBCM_REP) > replies ? id : NULL;
}

static void act(enum race_act what)
{
	struct rdma_cm_id *server = waiting_server();
	struct ib_wc wc = {
		.wr_cqe = &ignored, .opcode = IB_WC_RECV,
	};

	switch (what) {
	case RAISE:
		if (server)
			cma_raise_in(server->qp, pick(RAISE_CONTEXTS), pick(8));
		break;
	case RECEIVE:
		if (!server)
			break;
		wc.qp = server->qp;
		atomic_inc(&receiving);
		received = true;
		fake_hca_complete(pair.server.cq, &wc);
		break;
	case LET_RTU_GO:
		pair.client.hold = 0;
		fake_hca_release_held(pair.client.hca);
		break;
	case CLIENT_DISCONNECTS:
		if (pair.client.id)
			rdma_disconnect(pair.client.id);
		break;
	case SERVER_DISCONNECTS:
		if (server)
			rdma_disconnect(server);
		break;
	case CLIENT_GOES:
		cma_drop_id(&pair.client);
		break;
	case SERVER_GOES:
		server_goes();
		break;
	default:
		break;
	}
}

/* Does each act half the time, the destroying ones less often, in random order. */
static void race(void)
{
	enum race_act acts[RACE_ACTS], i;

	for (i = 0; i < RACE_ACTS; i++) {
		enum race_act at = pick(i + 1);

		acts[i] = acts[at];
		acts[at] = i;
	}
	for (i = 0; i < RACE_ACTS; i++) {
		bool goes = acts[i] >= CLIENT_GOES;

		pause();
		/* Otherwise too many connections would end before they began. */
		if (!pick(goes ? 6 : 2))
			act(acts[i]);
	}
}

static int times(char letter)
{
	const char *at = pair.server.events;
	int n = 0;

	while ((at = strchr(at, letter))) {
		at++;
		n++;
	}
	return n;
}

static void check(struct kunit *test, unsigned int round, bool data, bool alive)
{
	const char *events = pair.server.events;
	const char *established = strchr(events, 'E');
	const char *ended = strchr(events, 'D');
	bool failed = times('u') || times('J');

	KUNIT_EXPECT_LE_MSG(test, times('E'), 1, "round %u: %s", round, events);
	KUNIT_EXPECT_LE_MSG(test, times('D'), 1, "round %u: %s", round, events);
	if (ended)
		KUNIT_EXPECT_TRUE_MSG(test, established && established < ended,
				      "round %u: %s", round, events);
	/* After data a live server must be established. */
	if (data && alive && !failed)
		KUNIT_EXPECT_NOT_NULL_MSG(test, established, "round %u: %s", round,
					  events);
}

static void one_round(struct kunit *test, unsigned int round)
{
	char before[64];
	bool data, alive;

	cma_resolve(test, &pair);
	choose_the_wire();
	replies = cma_sent(&pair.server, IBCM_REP);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	if (pick(8))
		usleep_range(1000, 1001);
	received = false;
	cma_raised = false;
	race();

	/* Let everything that was begun finish. */
	msleep(20);
	data = cma_raised || received;
	alive = pair.server.id;
	cma_quiesce(&pair);
	check(test, round, data, alive);
	seen.raised += cma_raised;
	seen.by_data += data && pair.client.drop[IBCM_RTU] < 0 && times('E');
	seen.ended += times('D');
	seen.destroyed += !alive;

	server_goes();
	memcpy(before, pair.server.events, sizeof(before));
	cma_drop_id(&pair.client);
	fake_hca_release_held(pair.client.hca);
	cma_quiesce(&pair);
	KUNIT_EXPECT_STREQ_MSG(test, pair.server.events, before, "round %u", round);
	cma_forget(&pair.client);
	cma_forget(&pair.server);
}

static const void *next_seed(const void *prev, char *desc)
{
	unsigned long seed = (unsigned long)prev + 1;

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed %lu", seed);
	return seed > RACE_SEEDS ? NULL : (void *)seed;
}

static void connections(struct kunit *test)
{
	unsigned int round;

	prandom_seed_state(&rnd, (unsigned long)test->param_value);

	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	for (round = 0; round < RACE_ROUNDS && test->status == KUNIT_SUCCESS; round++)
		one_round(test, round);
	kunit_info(test, "COMM_EST %u times, established by data alone %u, ended %u, destroyed %u",
		   seen.raised, seen.by_data, seen.ended, seen.destroyed);
	/* Each outcome was frequent enough. */
	KUNIT_EXPECT_GT(test, seen.raised, RACE_ROUNDS / 10);
	KUNIT_EXPECT_GT(test, seen.by_data, RACE_ROUNDS / 20);
	KUNIT_EXPECT_GT(test, seen.ended, RACE_ROUNDS / 20);
	KUNIT_EXPECT_GT(test, seen.destroyed, RACE_ROUNDS / 20);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE_PARAM(connections, next_seed),
	{}
};

static struct kunit_suite cma_race_suite = {
	.name = "cma_race",
	.init = race_test_init,
	.exit = race_test_exit,
	.test_cases = race_cases,
};

kunit_test_suite(cma_race_suite);
