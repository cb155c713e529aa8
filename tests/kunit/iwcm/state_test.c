// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state table of iWARP ids: each state with each event, in the table and on live
 * ids.
 */
#include "iwcm_test.h"

/*
 * The state that follows: Idle, Listen, connect request Received, Accepting,
 * connect Sent, Established, Closing; a dot: not expected.  Events: request, reply,
 * failed reply, established, failed, disconnect, close; listen, connect, accept,
 * reject, disconnect, reset, set up a QP, destroy; a verb failed.
 */
static const char state_letters[IWCM_STATES + 1] = "ILRASEC";

static const char *const expected_next[IWCM_STATES] = {
	[IWCM_IDLE]		= "....... LS..IIII .",
	[IWCM_LISTEN]		= "L...... .......I I",
	[IWCM_CONN_RECV]	= "......I ..AI..RI .",
	[IWCM_ACCEPTING]	= "...EI.I ......AI I",
	[IWCM_CONN_SENT]	= ".EI...I ......SI I",
	[IWCM_ESTABLISHED]	= ".....CI ....CCEI I",
	[IWCM_CLOSING]		= ".....CI ....CC.I I",
};

/* The event that the consumer gets: rePly, Established (U), Close. */
static const char *const expected_tell[IWCM_STATES] = {
	[IWCM_IDLE]		= "....... ........ .",
	[IWCM_LISTEN]		= "....... ........ .",
	[IWCM_CONN_RECV]	= "......C ........ .",
	[IWCM_ACCEPTING]	= "...UC.C ........ .",
	[IWCM_CONN_SENT]	= ".PP...C ........ .",
	[IWCM_ESTABLISHED]	= "......C ........ .",
	[IWCM_CLOSING]		= "......C ........ .",
};

/*
 * The reference to the QP is kept (.), kept and the QP closed in order (s) or reset
 * (r), dropped (q), or dropped after a reset (!).
 */
static const char *const expected_qp[IWCM_STATES] = {
	[IWCM_IDLE]		= "....... ........ .",
	[IWCM_LISTEN]		= "....... ........ .",
	[IWCM_CONN_RECV]	= "....... ........ .",
	[IWCM_ACCEPTING]	= "....q.q .......! q",
	[IWCM_CONN_SENT]	= "..q...q .......! q",
	[IWCM_ESTABLISHED]	= "......q ....sr.! q",
	[IWCM_CLOSING]		= "......q .....r.q q",
};

static char cell(const char *const *table, int state, int event)
{
	return table[state][event + (event > IWCM_EV_CLOSE) + (event > IWCM_DO_DESTROY)];
}

static char tell_letter(u8 tell)
{
	switch (tell) {
	case 0:
		return '.';
	case IW_CM_EVENT_CONNECT_REPLY:
		return 'P';
	case IW_CM_EVENT_ESTABLISHED:
		return 'U';
	case IW_CM_EVENT_CLOSE:
		return 'C';
	default:
		return '?';
	}
}

static char qp_letter(u8 flags)
{
	switch (flags & (IWCM_F_PUT_QP | IWCM_F_ABORT | IWCM_F_CLOSE)) {
	case 0:
		return '.';
	case IWCM_F_CLOSE:
		return 's';
	case IWCM_F_ABORT:
		return 'r';
	case IWCM_F_PUT_QP:
		return 'q';
	case IWCM_F_PUT_QP | IWCM_F_ABORT:
		return '!';
	default:
		return '?';
	}
}

static void every_state_and_event(struct kunit *test)
{
	const struct iwcm_step *step;
	int s, e;

	for (s = 0; s < IWCM_STATES; s++) {
		KUNIT_ASSERT_EQ(test, strlen(expected_next[s]), IWCM_EVENTS + 2);
		for (e = 0; e < IWCM_EVENTS; e++) {
			step = iwcm_step_of(s, e);
			KUNIT_EXPECT_EQ_MSG(test, step ? state_letters[step->next] : '.',
					    cell(expected_next, s, e), "%c, event %d",
					    state_letters[s], e);
			KUNIT_EXPECT_EQ_MSG(test, step ? tell_letter(step->tell) : '.',
					    cell(expected_tell, s, e), "%c, event %d",
					    state_letters[s], e);
			KUNIT_EXPECT_EQ_MSG(test, step ? qp_letter(step->flags) : '.',
					    cell(expected_qp, s, e), "%c, event %d",
					    state_letters[s], e);
		}
	}
	KUNIT_EXPECT_NULL(test, iwcm_step_of(IWCM_STATES, 0));
	KUNIT_EXPECT_NULL(test, iwcm_step_of(0, IWCM_EVENTS));
}

/*
 * A transition drops the reference to the QP exactly if it leads from a state with a QP
 * to one without.
 */
static void no_step_forgets_a_qp(struct kunit *test)
{
	static const u8 with_qp = BIT(IWCM_ACCEPTING) | BIT(IWCM_CONN_SENT) |
				  BIT(IWCM_ESTABLISHED) | BIT(IWCM_CLOSING);
	const struct iwcm_step *step;
	int s, e;

	for (s = 0; s < IWCM_STATES; s++) {
		for (e = 0; e < IWCM_EVENTS; e++) {
			step = iwcm_step_of(s, e);
			if (!step)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, !!(step->flags & IWCM_F_PUT_QP),
					    (with_qp & BIT(s)) && !(with_qp & BIT(step->next)),
					    "%c, event %d", state_letters[s], e);
		}
	}
}

struct provider_event {
	enum iw_cm_event_type type;
	int status;
	enum iwcm_event event;
};

static const struct provider_event provider_events[] = {
	{ IW_CM_EVENT_CONNECT_REPLY, 0, IWCM_EV_REPLY },
	{ IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED, IWCM_EV_REPLY_ERR },
	{ IW_CM_EVENT_ESTABLISHED, 0, IWCM_EV_ESTABLISHED },
	{ IW_CM_EVENT_ESTABLISHED, -ECONNRESET, IWCM_EV_ESTABLISHED_ERR },
	{ IW_CM_EVENT_DISCONNECT, 0, IWCM_EV_DISCONNECT },
	{ IW_CM_EVENT_CLOSE, 0, IWCM_EV_CLOSE },
};

static void one_provider_event(struct kunit *test, enum iwcm_state state,
			       const struct provider_event *pe)
{
	char next = cell(expected_next, state, pe->event);
	char tell = cell(expected_tell, state, pe->event);
	char told[2] = { tell == 'P' && pe->status ? 'p' : tell == '.' ? 0 : tell };
	int refs;

	iw_be(test, state);
	refs = iw_qp_refs();
	KUNIT_EXPECT_EQ(test, iw_report(it.id, pe->type, pe->status, NULL), 0);
	KUNIT_EXPECT_EQ_MSG(test, state_letters[to_iwcm(it.id)->state],
			    next == '.' ? state_letters[state] : next, "%c, event %d",
			    state_letters[state], pe->event);
	/* The reference is dropped at once, not with the consumer's handler. */
	KUNIT_EXPECT_EQ_MSG(test, iw_qp_refs(),
			    cell(expected_qp, state, pe->event) == '.' ? refs : refs - 1,
			    "%c, event %d", state_letters[state], pe->event);
	iw_quiesce();
	KUNIT_EXPECT_STREQ_MSG(test, it.events, told, "%c, event %d",
			       state_letters[state], pe->event);
}

/* What the provider reports in each state has the effect that the table says. */
static void every_report_in_every_state(struct kunit *test)
{
	int s, i;

	for (s = 0; s < IWCM_STATES; s++) {
		for (i = 0; i < ARRAY_SIZE(provider_events); i++) {
			one_provider_event(test, s, &provider_events[i]);
			iw_exit(test);
			KUNIT_ASSERT_EQ(test, iw_init(test), 0);
		}
	}
}

/* Only a listener takes requests; other ids leave them to the provider. */
static void a_request_in_every_state(struct kunit *test)
{
	enum iwcm_state s;
	bool listens;

	for (s = 0; s < IWCM_STATES; s++) {
		iw_be(test, s);
		listens = cell(expected_next, s, IWCM_EV_REQUEST) != '.';
		if (listens)
			swap(it.listener, it.id);
		KUNIT_EXPECT_EQ_MSG(test, iw_report(it.id ?: it.listener,
						    IW_CM_EVENT_CONNECT_REQUEST, 0, NULL),
				    listens ? 0 : -ECONNREFUSED, "%c", state_letters[s]);
		iw_quiesce();
		KUNIT_EXPECT_STREQ_MSG(test, it.events, listens ? "Q" : "", "%c",
				       state_letters[s]);
		KUNIT_EXPECT_EQ_MSG(test, to_iwcm(listens ? it.listener : it.id)->state, s,
				    "%c", state_letters[s]);
		iw_exit(test);
		KUNIT_ASSERT_EQ(test, iw_init(test), 0);
	}
}

static void expect_call(struct kunit *test, enum iwcm_state state,
			enum iwcm_event event, int ret)
{
	char next = cell(expected_next, state, event);

	KUNIT_EXPECT_EQ_MSG(test, ret, next == '.' ? -EINVAL : 0, "%c, call %d",
			    state_letters[state], event);
	KUNIT_EXPECT_EQ_MSG(test, state_letters[to_iwcm(it.id)->state],
			    next == '.' ? state_letters[state] : next, "%c, call %d",
			    state_letters[state], event);
}

static int call(enum iwcm_event event)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask;

	switch (event) {
	case IWCM_DO_LISTEN:
		return iw_cm_listen(it.id, 1);
	case IWCM_DO_CONNECT:
		return iw_connect_id(it.id);
	case IWCM_DO_ACCEPT:
		return iw_accept_id(it.id);
	case IWCM_DO_REJECT:
		return iw_cm_reject(it.id, NULL, 0);
	case IWCM_DO_SET_UP_QP:
		return iw_cm_init_qp_attr(it.id, &attr, &mask);
	default:
		return iw_cm_disconnect(it.id, event == IWCM_DO_RESET);
	}
}

static enum ib_qp_state expected_qp_state(char letter, enum ib_qp_state now)
{
	return letter == 's' ? IB_QPS_SQD : letter == 'r' ? IB_QPS_ERR : now;
}

/* A call that the state has no transition for fails and changes nothing. */
static void every_call_in_every_state(struct kunit *test)
{
	enum ib_qp_state qp;
	int s, e, calls;

	for (s = 0; s < IWCM_STATES; s++) {
		for (e = IWCM_DO_LISTEN; e < IWCM_DO_DESTROY; e++) {
			iw_be(test, s);
			qp = expected_qp_state(cell(expected_qp, s, e), iw_qp_state());
			calls = iw_calls(FAKE_IW_CONNECT) + iw_calls(FAKE_IW_ACCEPT);
			expect_call(test, s, e, call(e));
			KUNIT_EXPECT_EQ_MSG(test, iw_qp_state(), qp, "%c, call %d",
					    state_letters[s], e);
			if (cell(expected_next, s, e) == '.')
				KUNIT_EXPECT_EQ(test, calls, iw_calls(FAKE_IW_CONNECT) +
						iw_calls(FAKE_IW_ACCEPT));
			iw_exit(test);
			KUNIT_ASSERT_EQ(test, iw_init(test), 0);
		}
	}
}

/*
 * An id is destroyed in each state: a request is rejected, listening stops, a
 * connection is reset, and no reference is left.
 */
static void every_state_can_be_left(struct kunit *test)
{
	int s, rejects, unlistens;

	for (s = 0; s < IWCM_STATES; s++) {
		iw_be(test, s);
		rejects = iw_calls(FAKE_IW_REJECT);
		unlistens = iw_calls(FAKE_IW_UNLISTEN);
		iw_destroy_cm_id(it.id);
		it.id = NULL;
		KUNIT_EXPECT_EQ_MSG(test, iw_qp_refs(), 0, "%c", state_letters[s]);
		KUNIT_EXPECT_EQ_MSG(test, iw_calls(FAKE_IW_REJECT) - rejects,
				    s == IWCM_CONN_RECV, "%c", state_letters[s]);
		KUNIT_EXPECT_EQ_MSG(test, iw_calls(FAKE_IW_UNLISTEN) - unlistens,
				    s == IWCM_LISTEN, "%c", state_letters[s]);
		KUNIT_EXPECT_EQ_MSG(test, iw_qp_state() == IB_QPS_ERR,
				    cell(expected_qp, s, IWCM_DO_DESTROY) == '!', "%c",
				    state_letters[s]);
		iw_exit(test);
		KUNIT_ASSERT_EQ(test, iw_init(test), 0);
	}
}

static void qp_attributes(struct kunit *test)
{
	struct ib_qp_attr attr = {};
	bool refused;
	int s, mask;

	for (s = 0; s < IWCM_STATES; s++) {
		iw_be(test, s);
		refused = s == IWCM_LISTEN || s == IWCM_CLOSING;
		attr.qp_state = IB_QPS_INIT;
		KUNIT_EXPECT_EQ_MSG(test, iw_cm_init_qp_attr(it.id, &attr, &mask),
				    refused ? -EINVAL : 0, "%c", state_letters[s]);
		if (!refused) {
			KUNIT_EXPECT_EQ(test, mask, IB_QP_STATE | IB_QP_ACCESS_FLAGS);
			KUNIT_EXPECT_EQ(test, attr.qp_access_flags,
					IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
			attr.qp_state = IB_QPS_RTS;
			KUNIT_EXPECT_EQ(test, iw_cm_init_qp_attr(it.id, &attr, &mask), 0);
			KUNIT_EXPECT_EQ(test, mask, 0);
			attr.qp_state = IB_QPS_SQD;
			KUNIT_EXPECT_EQ(test, iw_cm_init_qp_attr(it.id, &attr, &mask),
					-EINVAL);
		}
		iw_exit(test);
		KUNIT_ASSERT_EQ(test, iw_init(test), 0);
	}
}

static void reasons(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(-ECONNRESET), "reset by remote host");
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(-ECONNREFUSED),
			   "refused by remote application");
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(-ETIMEDOUT), "setup timeout");
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(0), "unrecognized reason");
	KUNIT_EXPECT_STREQ(test, iwcm_reject_msg(ECONNRESET), "unrecognized reason");
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(every_state_and_event),
	KUNIT_CASE(no_step_forgets_a_qp),
	KUNIT_CASE_SLOW(every_report_in_every_state),
	KUNIT_CASE(a_request_in_every_state),
	KUNIT_CASE(every_call_in_every_state),
	KUNIT_CASE(every_state_can_be_left),
	KUNIT_CASE(qp_attributes),
	KUNIT_CASE(reasons),
	{}
};

static struct kunit_suite iwcm_state_suite = {
	.name = "iw_cm_state",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = state_cases,
};

kunit_test_suite(iwcm_state_suite);
