// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The provider's reports and the consumer's calls in every order, the reports from each
 * context.  The expected results follow from the few rules of follow(), not from the
 * table of states.
 */
#include "iwcm_test.h"

enum step {
	REPLY, REFUSAL, ESTABLISHED, PEER_ENDS, CLOSE,			/* reports */
	ACCEPT, REJECT, DISCONNECT, DESTROY, STEPS			/* calls */
};

static const char step_letters[STEPS + 1] = "PpUdCarxX";

#define MOST_STEPS	5

struct order {
	const char *name;
	enum iwcm_state from;
	int n;
	enum step steps[MOST_STEPS];
};

static const struct order orders[] = {
	{ "connected", IWCM_CONN_SENT, 5,
	  { REPLY, PEER_ENDS, CLOSE, DISCONNECT, DESTROY } },
	{ "connected, not destroyed", IWCM_CONN_SENT, 4,
	  { REPLY, PEER_ENDS, CLOSE, DISCONNECT } },
	{ "refused", IWCM_CONN_SENT, 5,
	  { REFUSAL, REPLY, CLOSE, DISCONNECT, DESTROY } },
	{ "accepted", IWCM_ACCEPTING, 5,
	  { ESTABLISHED, PEER_ENDS, CLOSE, DISCONNECT, DESTROY } },
	{ "asked about", IWCM_CONN_RECV, 5,
	  { ACCEPT, REJECT, ESTABLISHED, CLOSE, DESTROY } },
	{ "asked about, not destroyed", IWCM_CONN_RECV, 4,
	  { ACCEPT, REJECT, ESTABLISHED, CLOSE } },
};

/* The expected state of an id. */
struct rules {
	enum { ASKED, TRYING, UP, OVER } phase;
	bool gone;
	char told[MOST_STEPS + 1];
};

static void tells(struct rules *rules, char letter)
{
	if (!rules->gone)
		rules->told[strlen(rules->told)] = letter;
}

/*
 * An attempt has one outcome.  An end is reported once, unless the attempt failed
 * before.  A request is accepted or rejected once.  A connection that is not up yet
 * cannot be disconnected; to disconnect one that is over is no error.  An id that is
 * destroyed has no events.
 */
static int follow(struct rules *rules, enum step step)
{
	switch (step) {
	case REPLY:
	case ESTABLISHED:
		if (rules->phase != TRYING)
			return 0;
		rules->phase = UP;
		tells(rules, step_letters[step]);
		return 0;
	case REFUSAL:
		if (rules->phase != TRYING)
			return 0;
		rules->phase = OVER;
		tells(rules, 'p');
		return 0;
	case CLOSE:
		if (rules->phase != OVER)
			tells(rules, 'C');
		rules->phase = OVER;
		return 0;
	case ACCEPT:
	case REJECT:
		if (rules->phase != ASKED)
			return -EINVAL;
		rules->phase = step == ACCEPT ? TRYING : OVER;
		return 0;
	case DISCONNECT:
		return rules->phase < UP ? -EINVAL : 0;
	case DESTROY:
		rules->phase = OVER;
		rules->gone = true;
		return 0;
	default:
		return 0;
	}
}

static int take(struct kunit *test, enum step step, enum iw_context from)
{
	static const struct {
		enum iw_cm_event_type type;
		int status;
	} report[] = {
		[REPLY] = { IW_CM_EVENT_CONNECT_REPLY, 0 },
		[REFUSAL] = { IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED },
		[ESTABLISHED] = { IW_CM_EVENT_ESTABLISHED, 0 },
		[PEER_ENDS] = { IW_CM_EVENT_DISCONNECT, 0 },
		[CLOSE] = { IW_CM_EVENT_CLOSE, 0 },
	};

	switch (step) {
	case ACCEPT:
		return iw_accept_id(it.id);
	case REJECT:
		return iw_cm_reject(it.id, NULL, 0);
	case DISCONNECT:
		return iw_cm_disconnect(it.id, 0);
	case DESTROY:
		iw_destroy_cm_id(it.id);
		it.id = NULL;
		return 0;
	default:
		return iw_report_in(test, from, it.held, report[step].type,
				    report[step].status);
	}
}

/*
 * Returns whether the step is possible: a provider reports on ids that it was given, a
 * consumer calls for ids that it has.
 */
static bool possible(enum step step)
{
	return step <= CLOSE ? !!it.held : !!it.id;
}

/* Writes the @k-th permutation of the steps to @out. */
static void permute(const struct order *order, unsigned int k, enum step *out)
{
	enum step left[MOST_STEPS];
	int i, at, n;

	memcpy(left, order->steps, sizeof(left));
	for (i = 0, n = order->n; n; i++, n--) {
		at = k % n;
		k /= n;
		out[i] = left[at];
		left[at] = left[n - 1];
	}
}

/*
 * Waits until all events are delivered; the event of an id without a provider already
 * is.
 */
static void quiesce(void)
{
	if (it.held)
		flush_work(&to_iwcm(it.held)->work);
}

/* Destroys all ids; the adapter stays. */
static void clean_up(void)
{
	if (it.id)
		iw_destroy_cm_id(it.id);
	if (it.listener)
		iw_destroy_cm_id(it.listener);
	it.id = NULL;
	it.listener = NULL;
	it.nr_requests = 0;
	iw_let_go();
}

static void one_order(struct kunit *test, const struct order *order, unsigned int k,
		      enum iw_context from, bool at_once)
{
	char letters[MOST_STEPS + 1] = "";
	enum step steps[MOST_STEPS];
	struct rules rules = {};
	int i, want;

	permute(order, k, steps);
	iw_be(test, order->from);
	rules.phase = order->from == IWCM_CONN_RECV ? ASKED : TRYING;
	for (i = 0; i < order->n; i++) {
		if (!possible(steps[i]))
			continue;
		letters[strlen(letters)] = step_letters[steps[i]];
		want = follow(&rules, steps[i]);
		KUNIT_EXPECT_EQ_MSG(test, take(test, steps[i], from), want,
				    "%s: %s, %s", order->name, letters,
				    iw_context_names[from]);
		KUNIT_EXPECT_EQ_MSG(test, iw_qp_refs(),
				    rules.phase == TRYING || rules.phase == UP,
				    "%s: %s, %s", order->name, letters,
				    iw_context_names[from]);
		if (at_once)
			quiesce();
	}
	quiesce();
	/* Reports that are queued when the id is destroyed are not delivered. */
	if (at_once || !rules.gone)
		KUNIT_EXPECT_STREQ_MSG(test, it.events, rules.told, "%s: %s, %s",
				       order->name, letters, iw_context_names[from]);
	else
		KUNIT_EXPECT_EQ_MSG(test, strncmp(it.events, rules.told, strlen(it.events)),
				    0, "%s: %s, %s: %s", order->name, letters,
				    iw_context_names[from], it.events);
	if (it.held)
		KUNIT_EXPECT_EQ_MSG(test, refcount_read(&to_iwcm(it.held)->ref),
				    1u + !rules.gone, "%s: %s", order->name, letters);
	clean_up();
}

static unsigned int factorial(unsigned int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

static void in_every_order(struct kunit *test, bool at_once)
{
	enum iw_context from;
	unsigned int o, k;

	for (o = 0; o < ARRAY_SIZE(orders); o++)
		for (from = 0; from < IW_CONTEXTS; from++)
			for (k = 0; k < factorial(orders[o].n); k++)
				one_order(test, &orders[o], k, from, at_once);
}

static void each_told_before_the_next(struct kunit *test)
{
	in_every_order(test, true);
}

static void as_fast_as_they_come(struct kunit *test)
{
	in_every_order(test, false);
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE_SLOW(each_told_before_the_next),
	KUNIT_CASE_SLOW(as_fast_as_they_come),
	{}
};

static struct kunit_suite iwcm_order_suite = {
	.name = "iw_cm_order",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = order_cases,
};

kunit_test_suite(iwcm_order_suite);
