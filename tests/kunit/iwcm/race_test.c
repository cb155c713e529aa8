// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ten thousand connections, half of them requested by a peer, made by several tasks at
 * once.  The provider reports an outcome and an end at some moment, in any context,
 * before its verb returns or after the id was destroyed; the consumer disconnects, and
 * destroys its id in a handler, by the handler's result or from its task.  The seeds
 * are fixed.
 */
#include <linux/kthread.h>
#include <linux/prandom.h>
#include "iwcm_test.h"
#include "wait.h"

#define RACE_SEEDS	20
#define RACE_TASKS	4
#define RACE_ROUNDS	125	/* a task and seed */

enum { OUTCOME, END, REPORTS };

/* A task, its listener and its current connection. */
struct racer {
	struct kunit *test;
	struct rnd_state rnd;
	struct completion done;
	struct iw_cm_id *listener;
	unsigned int round;

	/* The consumer */
	struct iw_cm_id *cm_id;
	atomic_t owned;			/* 1: the consumer must destroy cm_id */
	atomic_t inside;		/* handlers of cm_id that run */
	bool gone;
	u8 end_in_handler;		/* 1: destroys, 2: returns an error */
	int nr_events;
	char events[8];

	/* The provider */
	struct iw_reporter reports[REPORTS];
	struct iw_cm_id *held;
	bool passive, early, refuse;
	int asked;			/* requests that iw_cm took */
	atomic_t answered;		/* requests accepted or rejected */
};

static struct racer racers[RACE_TASKS];

static struct {
	atomic_t up, ended, failed, by_handler;
} seen;

static unsigned int pick(struct racer *racer, unsigned int n)
{
	return prandom_u32_state(&racer->rnd) % n;
}

static void pause(struct racer *racer)
{
	unsigned int us = pick(racer, 3) ? pick(racer, 3000) : 0;

	if (us)
		usleep_range(us, us + 1);
}

static char letter(const struct iw_cm_event *event)
{
	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		return event->status ? 'p' : 'P';
	case IW_CM_EVENT_ESTABLISHED:
		return 'U';
	case IW_CM_EVENT_CLOSE:
		return 'C';
	default:
		return '?';
	}
}

static int race_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	struct racer *racer = cm_id->context;
	struct kunit *test = racer->test;
	int ret = 0;

	KUNIT_EXPECT_EQ(test, atomic_inc_return(&racer->inside), 1);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(racer->gone));
	racer->events[racer->nr_events++ % (sizeof(racer->events) - 1)] = letter(event);
	if (racer->nr_events & 1)
		usleep_range(200, 201);
	if (racer->end_in_handler && atomic_xchg(&racer->owned, 0)) {
		atomic_inc(&seen.by_handler);
		WRITE_ONCE(racer->gone, true);
		if (racer->end_in_handler == 1)
			iw_destroy_cm_id(cm_id);
		else
			ret = -ECANCELED;
	}
	atomic_dec(&racer->inside);
	return ret;
}

/*
 * The first request becomes the task's connection, if it has none; others are rejected.
 */
static int request_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	struct racer *racer = cm_id->context;

	if (cmpxchg(&racer->cm_id, NULL, cm_id))
		return -EBUSY;
	cm_id->cm_handler = race_handler;
	atomic_set_release(&racer->owned, 1);
	return 0;
}

static void start_reports(struct racer *racer, unsigned int most_us)
{
	int i;

	for (i = 0; i < REPORTS; i++) {
		racer->reports[i].cm_id = racer->held;
		iw_reporter_start(&racer->reports[i], pick(racer, IW_CONTEXTS),
				  1 + pick(racer, most_us));
	}
}

static int race_verb(struct fake_hca *hca, enum fake_iw_verb verb,
		     struct iw_cm_id *cm_id, const struct iw_cm_conn_param *param,
		     void *arg)
{
	struct racer *racer = cm_id->context;

	if (verb == FAKE_IW_ACCEPT || verb == FAKE_IW_REJECT)
		atomic_inc(&racer->answered);
	if (verb != FAKE_IW_ACCEPT && verb != FAKE_IW_CONNECT)
		return 0;
	cm_id->add_ref(cm_id);
	racer->held = cm_id;
	if (racer->early) {
		start_reports(racer, 500);
		usleep_range(300, 301);
	}
	return racer->refuse ? -ENETDOWN : 0;
}

static void choose(struct racer *racer)
{
	struct iw_reporter *outcome = &racer->reports[OUTCOME];

	racer->cm_id = NULL;
	racer->gone = false;
	racer->nr_events = 0;
	memset(racer->events, 0, sizeof(racer->events));
	racer->passive = pick(racer, 2);
	racer->early = !pick(racer, 3);
	racer->refuse = !pick(racer, 8);
	racer->end_in_handler = pick(racer, 6);
	if (racer->end_in_handler > 2)
		racer->end_in_handler = 0;
	outcome->type = racer->passive ? IW_CM_EVENT_ESTABLISHED :
					 IW_CM_EVENT_CONNECT_REPLY;
	outcome->status = pick(racer, 4) ? 0 : -ECONNREFUSED;
	outcome->data = racer->passive || pick(racer, 2) ? NULL : "data";
	racer->reports[END].type = IW_CM_EVENT_CLOSE;
}

static bool begin_active(struct racer *racer)
{
	racer->cm_id = iw_create_cm_id(&it.hca->ibdev, race_handler, racer);
	KUNIT_EXPECT_FALSE(racer->test, IS_ERR(racer->cm_id));
	if (IS_ERR(racer->cm_id))
		return false;
	atomic_set(&racer->owned, 1);
	return !iw_connect_id(racer->cm_id);
}

static bool all_told(struct racer *racer)
{
	return refcount_read(&to_iwcm(racer->listener)->untold) == 1;
}

static bool begin_passive(struct racer *racer)
{
	int i, n = 1 + pick(racer, 3);

	for (i = 0; i < n; i++)
		racer->asked += !iw_report(racer->listener, IW_CM_EVENT_CONNECT_REQUEST, 0,
					   "request");
	/*
	 * Now and then the listener is destroyed with requests waiting; none of them
	 * may be lost.
	 */
	if (!pick(racer, 8)) {
		iw_destroy_cm_id(racer->listener);
		racer->listener = NULL;
	} else {
		KUNIT_EXPECT_TRUE(racer->test, wait_within(all_told(racer), 1000));
	}
	if (!racer->cm_id)
		return false;
	if (!pick(racer, 4))
		iw_cm_reject(racer->cm_id, NULL, 0);
	return !iw_accept_id(racer->cm_id);
}

static int listen(struct racer *racer)
{
	racer->listener = iw_create_cm_id(&it.hca->ibdev, request_handler, racer);
	return PTR_ERR_OR_ZERO(racer->listener) ?: iw_cm_listen(racer->listener, 8);
}

static void destroy(struct racer *racer)
{
	if (atomic_xchg(&racer->owned, 0)) {
		iw_destroy_cm_id(racer->cm_id);
		KUNIT_EXPECT_EQ(racer->test, atomic_read(&racer->inside), 0);
		WRITE_ONCE(racer->gone, true);
	} else {
		/* The handler destroys the id. */
		KUNIT_EXPECT_TRUE(racer->test,
				  wait_within(!atomic_read(&racer->inside), 1000));
	}
}

static bool told_in_order(const char *events)
{
	static const char * const possible[] = {
		"", "P", "p", "U", "C", "PC", "UC",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(possible); i++)
		if (!strcmp(events, possible[i]))
			return true;
	return false;
}

static void count(const char *events)
{
	if (strpbrk(events, "PU"))
		atomic_inc(&seen.up);
	if (strchr(events, 'C'))
		atomic_inc(&seen.ended);
	if (strchr(events, 'p'))
		atomic_inc(&seen.failed);
}

static void provider_lets_go(struct racer *racer)
{
	int i;

	for (i = 0; i < REPORTS; i++)
		iw_reporter_stop(&racer->reports[i]);
	if (racer->held)
		racer->held->rem_ref(racer->held);
	racer->held = NULL;
}

static void one_round(struct racer *racer)
{
	bool begun;

	choose(racer);
	begun = racer->passive ? begin_passive(racer) : begin_active(racer);
	if (begun && !racer->early)
		start_reports(racer, 3000);
	pause(racer);
	/* Only the owner may call, as the handler may destroy the id at any moment. */
	if (begun && !racer->end_in_handler && pick(racer, 2))
		iw_cm_disconnect(racer->cm_id, pick(racer, 2));
	pause(racer);
	if (pick(racer, 2))
		provider_lets_go(racer);
	destroy(racer);
	if (pick(racer, 2))
		pause(racer);
	provider_lets_go(racer);
	if (racer->passive && !racer->listener)
		KUNIT_EXPECT_EQ(racer->test, listen(racer), 0);
	KUNIT_EXPECT_TRUE_MSG(racer->test, told_in_order(racer->events), "round %u: %s",
			      racer->round, racer->events);
	if (!begun && !racer->passive)
		KUNIT_EXPECT_STREQ(racer->test, racer->events, "");
	count(racer->events);
}

static int race(void *arg)
{
	struct racer *racer = arg;
	int i;

	for (i = 0; i < REPORTS; i++)
		iw_reporter_init(&racer->reports[i]);
	KUNIT_EXPECT_EQ(racer->test, listen(racer), 0);
	for (racer->round = 0; racer->round < RACE_ROUNDS; racer->round++)
		one_round(racer);
	iw_destroy_cm_id(racer->listener);
	complete(&racer->done);
	return 0;
}

static const void *next_seed(const void *prev, char *desc)
{
	unsigned long seed = (unsigned long)prev + 1;

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed %lu", seed);
	return seed > RACE_SEEDS ? NULL : (void *)seed;
}

static void connections(struct kunit *test)
{
	unsigned long seed = (unsigned long)test->param_value;
	int alive = iw_alive();
	int i;

	memset(racers, 0, sizeof(racers));
	memset(&seen, 0, sizeof(seen));
	it.hca->iw_verb = race_verb;
	for (i = 0; i < RACE_TASKS; i++) {
		racers[i].test = test;
		prandom_seed_state(&racers[i].rnd, seed * RACE_TASKS + i);
		init_completion(&racers[i].done);
		kthread_run(race, &racers[i], "racer-%d", i);
	}
	for (i = 0; i < RACE_TASKS; i++) {
		wait_for_completion(&racers[i].done);
		/* Each request that iw_cm took was accepted or rejected, exactly once. */
		KUNIT_EXPECT_EQ(test, racers[i].asked, atomic_read(&racers[i].answered));
	}
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	/* No id is left, once the last handler has returned. */
	KUNIT_EXPECT_TRUE(test, wait_within(iw_alive() == alive, 1000));
	kunit_info(test, "up %d, ended %d, failed %d, ended by their handler %d",
		   atomic_read(&seen.up), atomic_read(&seen.ended),
		   atomic_read(&seen.failed), atomic_read(&seen.by_handler));
	/* Each outcome was frequent enough. */
	KUNIT_EXPECT_GT(test, atomic_read(&seen.up), RACE_TASKS * RACE_ROUNDS / 10);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.ended), RACE_TASKS * RACE_ROUNDS / 10);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.failed), RACE_TASKS * RACE_ROUNDS / 40);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.by_handler), RACE_TASKS * RACE_ROUNDS / 40);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE_PARAM(connections, next_seed),
	{}
};

static struct kunit_suite iwcm_race_suite = {
	.name = "iw_cm_race",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = race_cases,
};

kunit_test_suite(iwcm_race_suite);
