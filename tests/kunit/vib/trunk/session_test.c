// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The handshake of trunks: each cell of its table, and two ends that run it. */
#include <kunit/test.h>
#include "trunk/session.h"

#define ADOPT		VIB_TRUNK_ADOPT
#define RENEW		VIB_TRUNK_RENEW
#define LINK		VIB_TRUNK_LINK
#define UNLINK		VIB_TRUNK_UNLINK
#define REPLY		VIB_TRUNK_REPLY
#define CHALLENGE	VIB_TRUNK_CHALLENGE
#define POLLING		VIB_TRUNK_POLLING
#define HEARD		VIB_TRUNK_HEARD
#define UP		VIB_TRUNK_UP

/* ---- the table ---- */

struct cell {
	u8 state, event, next, actions;
};

static const struct cell cells[] = {
	{ POLLING, VIB_TRUNK_NEW, POLLING, CHALLENGE },
	{ POLLING, VIB_TRUNK_PROVEN, HEARD, ADOPT | REPLY },
	{ POLLING, VIB_TRUNK_PROVEN_READY, UP, ADOPT | LINK | REPLY },
	{ POLLING, VIB_TRUNK_SAME, HEARD, REPLY },
	{ POLLING, VIB_TRUNK_ECHO, HEARD, REPLY },
	{ POLLING, VIB_TRUNK_ECHO_READY, UP, LINK | REPLY },
	{ POLLING, VIB_TRUNK_STALE, POLLING, 0 },
	{ POLLING, VIB_TRUNK_SILENT, POLLING, 0 },
	{ POLLING, VIB_TRUNK_LOCAL_DOWN, POLLING, 0 },
	{ HEARD, VIB_TRUNK_NEW, HEARD, CHALLENGE },
	{ HEARD, VIB_TRUNK_PROVEN, HEARD, ADOPT | REPLY },
	{ HEARD, VIB_TRUNK_PROVEN_READY, UP, ADOPT | LINK | REPLY },
	{ HEARD, VIB_TRUNK_SAME, HEARD, REPLY },
	{ HEARD, VIB_TRUNK_ECHO, HEARD, 0 },
	{ HEARD, VIB_TRUNK_ECHO_READY, UP, LINK | REPLY },
	{ HEARD, VIB_TRUNK_STALE, HEARD, 0 },
	{ HEARD, VIB_TRUNK_SILENT, POLLING, RENEW },
	{ HEARD, VIB_TRUNK_LOCAL_DOWN, HEARD, 0 },
	{ UP, VIB_TRUNK_NEW, UP, CHALLENGE },
	{ UP, VIB_TRUNK_PROVEN, HEARD, ADOPT | UNLINK | REPLY },
	{ UP, VIB_TRUNK_PROVEN_READY, UP, ADOPT | LINK | REPLY },
	{ UP, VIB_TRUNK_SAME, UP, 0 },
	{ UP, VIB_TRUNK_ECHO, HEARD, RENEW | UNLINK | REPLY },
	{ UP, VIB_TRUNK_ECHO_READY, UP, 0 },
	{ UP, VIB_TRUNK_STALE, UP, 0 },
	{ UP, VIB_TRUNK_SILENT, POLLING, RENEW | UNLINK },
	{ UP, VIB_TRUNK_LOCAL_DOWN, HEARD, RENEW | UNLINK | REPLY },
};

static void each_cell_is_as_it_must_be(struct kunit *test)
{
	const struct vib_trunk_step *step;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(cells), VIB_TRUNK_STATES * VIB_TRUNK_EVENTS);
	for (i = 0; i < ARRAY_SIZE(cells); i++) {
		step = vib_trunk_step(cells[i].state, cells[i].event);
		KUNIT_EXPECT_EQ_MSG(test, step->next, cells[i].next, "cell %u", i);
		KUNIT_EXPECT_EQ_MSG(test, step->actions, cells[i].actions, "cell %u", i);
	}
}

/* What the trunk relies on: who enters UP links, who leaves it unlinks. */
static void up_and_the_link_go_together(struct kunit *test)
{
	const struct vib_trunk_step *step;
	unsigned int state, event;

	for (state = 0; state < VIB_TRUNK_STATES; state++) {
		for (event = 0; event < VIB_TRUNK_EVENTS; event++) {
			step = vib_trunk_step(state, event);
			if (state != UP && step->next == UP)
				KUNIT_EXPECT_TRUE(test, step->actions & LINK);
			if (state == UP && step->next != UP)
				KUNIT_EXPECT_TRUE(test, step->actions & UNLINK);
			if (step->actions & LINK)
				KUNIT_EXPECT_EQ(test, step->next, UP);
		}
	}
}

/* ---- events ---- */

static void sessions_tell_the_events_apart(struct kunit *test)
{
	const struct vib_trunk_session session = { .state = UP, .own = 5, .peer = 7, .last = 6 };
	static const struct {
		u64 from, to;
		u8 event, ready;
	} cases[] = {
		{ 7, 5, VIB_TRUNK_ECHO, VIB_TRUNK_ECHO_READY },
		{ 7, 4, VIB_TRUNK_SAME, VIB_TRUNK_SAME },
		{ 7, 0, VIB_TRUNK_SAME, VIB_TRUNK_SAME },
		{ 8, 5, VIB_TRUNK_PROVEN, VIB_TRUNK_PROVEN_READY },
		{ 8, 4, VIB_TRUNK_NEW, VIB_TRUNK_NEW },
		{ 8, 0, VIB_TRUNK_NEW, VIB_TRUNK_NEW },
		{ 6, 5, VIB_TRUNK_STALE, VIB_TRUNK_STALE },
		{ 5, 0, VIB_TRUNK_STALE, VIB_TRUNK_STALE },
		{ 5, 5, VIB_TRUNK_STALE, VIB_TRUNK_STALE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, vib_trunk_classify(&session, cases[i].from,
							     cases[i].to, false),
				    cases[i].event, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, vib_trunk_classify(&session, cases[i].from,
							     cases[i].to, true),
				    cases[i].ready, "case %u", i);
	}
}

static void messages_are_of_the_pair_of_sessions(struct kunit *test)
{
	struct vib_trunk_session session = { .state = UP, .own = 5, .peer = 7 };

	KUNIT_EXPECT_TRUE(test, vib_trunk_is_of(&session, 7, 5));
	KUNIT_EXPECT_FALSE(test, vib_trunk_is_of(&session, 6, 5));
	KUNIT_EXPECT_FALSE(test, vib_trunk_is_of(&session, 7, 6));
	session.state = HEARD;
	KUNIT_EXPECT_FALSE(test, vib_trunk_is_of(&session, 7, 5));
}

/* ---- two ends ---- */

struct end {
	struct vib_trunk_session session;
	bool port;			/* its port polls or is up */
	bool linked;
	u64 pair[2];			/* the sessions with which the link came up */
	unsigned int downs;
	bool due;
	u64 challenge;
};

static struct end ends[2];
static unsigned int messages;

static void end_event(struct end *end, enum vib_trunk_event event, u64 from)
{
	const struct vib_trunk_step *step = vib_trunk_step(end->session.state, event);

	vib_trunk_take_step(&end->session, step, from);
	if (step->actions & (LINK | UNLINK) && end->linked) {
		end->linked = false;
		end->downs++;
	}
	if (step->actions & LINK) {
		end->linked = true;
		end->pair[0] = end->session.own;
		end->pair[1] = end->session.peer;
	}
	end->due |= step->actions & REPLY;
	if (step->actions & CHALLENGE)
		end->challenge = from;
}

static void end_hello(struct end *from, struct end *to, u64 session)
{
	bool ready = from->port && from->session.state != POLLING && to->port;

	messages++;
	end_event(to, vib_trunk_classify(&to->session, from->session.own, session, ready),
		  from->session.own);
}

/* Sends what is due until nothing is; @lose: what this end sends is lost. */
static void run(struct kunit *test, const struct end *lose)
{
	unsigned int i, rounds;
	struct end *from, *to;
	u64 session;

	for (rounds = 0; rounds < 20; rounds++) {
		for (i = 0; i < 2; i++) {
			from = &ends[i];
			to = &ends[!i];
			if (!from->due && !from->challenge)
				continue;
			session = from->due ? from->session.peer : from->challenge;
			if (from->due)
				from->due = false;
			else
				from->challenge = 0;
			if (from != lose)
				end_hello(from, to, session);
		}
	}
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_FALSE(test, ends[i].due || ends[i].challenge);
}

static void tick(struct kunit *test, const struct end *lose)
{
	ends[0].due = true;
	run(test, lose);
	ends[1].due = true;
	run(test, lose);
}

static void expect_linked(struct kunit *test, bool linked)
{
	KUNIT_EXPECT_EQ(test, ends[0].linked, linked);
	KUNIT_EXPECT_EQ(test, ends[1].linked, linked);
	if (!linked)
		return;
	KUNIT_EXPECT_EQ(test, ends[0].pair[0], ends[1].pair[1]);
	KUNIT_EXPECT_EQ(test, ends[0].pair[1], ends[1].pair[0]);
}

static int session_test_init(struct kunit *test)
{
	unsigned int i;

	memset(ends, 0, sizeof(ends));
	for (i = 0; i < 2; i++) {
		vib_trunk_session_init(&ends[i].session);
		ends[i].port = true;
	}
	return 0;
}

static void expect_joined(struct kunit *test)
{
	tick(test, NULL);
	expect_linked(test, true);
}

static void two_ends_come_up_by_one_hello(struct kunit *test)
{
	messages = 0;
	ends[1].due = true;
	run(test, NULL);
	expect_linked(test, true);
	KUNIT_EXPECT_LE(test, messages, 6);
	KUNIT_EXPECT_EQ(test, ends[0].downs + ends[1].downs, 0);
	/* Nothing changes by those that follow, and none is answered. */
	messages = 0;
	tick(test, NULL);
	KUNIT_EXPECT_EQ(test, messages, 2);
	expect_linked(test, true);
	KUNIT_EXPECT_EQ(test, ends[0].downs + ends[1].downs, 0);
}

static void an_end_that_is_not_heard_does_not_come_up(struct kunit *test)
{
	tick(test, &ends[0]);
	tick(test, &ends[0]);
	expect_linked(test, false);
	tick(test, NULL);
	expect_linked(test, true);
}

static void a_port_that_is_down_keeps_the_other_down(struct kunit *test)
{
	ends[0].port = false;
	tick(test, NULL);
	tick(test, NULL);
	expect_linked(test, false);
	ends[0].port = true;
	expect_joined(test);
}

/* However quickly it comes up again. */
static void a_port_that_goes_down_takes_the_other_down(struct kunit *test)
{
	expect_joined(test);
	end_event(&ends[0], VIB_TRUNK_LOCAL_DOWN, 0);
	KUNIT_EXPECT_FALSE(test, ends[0].linked);
	run(test, NULL);
	expect_linked(test, true);
	KUNIT_EXPECT_EQ(test, ends[0].downs, 1);
	KUNIT_EXPECT_EQ(test, ends[1].downs, 1);
	ends[1].port = false;
	end_event(&ends[1], VIB_TRUNK_LOCAL_DOWN, 0);
	run(test, NULL);
	expect_linked(test, false);
	KUNIT_EXPECT_EQ(test, ends[0].downs, 2);
}

static void a_peer_that_has_restarted_is_linked_to_anew(struct kunit *test)
{
	expect_joined(test);
	vib_trunk_session_init(&ends[1].session);
	ends[1].linked = false;
	ends[1].due = true;
	run(test, NULL);
	expect_linked(test, true);
	KUNIT_EXPECT_EQ(test, ends[0].downs, 1);
}

/* End 0 hears nothing, and says so: both are down until it hears again. */
static void silence_in_one_direction_takes_both_down(struct kunit *test)
{
	expect_joined(test);
	end_event(&ends[0], VIB_TRUNK_SILENT, 0);
	ends[0].due = true;
	run(test, &ends[1]);
	expect_linked(test, false);
	tick(test, &ends[1]);
	tick(test, &ends[1]);
	expect_linked(test, false);
	KUNIT_EXPECT_EQ(test, ends[1].downs, 1);
	expect_joined(test);
}

static void silence_in_both_directions_ends(struct kunit *test)
{
	expect_joined(test);
	end_event(&ends[0], VIB_TRUNK_SILENT, 0);
	end_event(&ends[1], VIB_TRUNK_SILENT, 0);
	expect_linked(test, false);
	expect_joined(test);
}

/* One who can forge the address, but does not see what the other end gets. */
static void a_forged_session_changes_nothing(struct kunit *test)
{
	u64 peer;

	expect_joined(test);
	peer = ends[0].session.peer;
	end_event(&ends[0], vib_trunk_classify(&ends[0].session, 99, 0, true), 99);
	end_event(&ends[0], vib_trunk_classify(&ends[0].session, 99, 98, true), 99);
	KUNIT_EXPECT_EQ(test, ends[0].session.peer, peer);
	run(test, NULL);
	expect_linked(test, true);
	KUNIT_EXPECT_EQ(test, ends[0].downs + ends[1].downs, 0);
}

/* A HELLO of before the restart comes late. */
static void the_last_session_is_stale(struct kunit *test)
{
	u64 last;

	expect_joined(test);
	last = ends[0].session.peer;
	vib_trunk_session_init(&ends[1].session);
	ends[1].linked = false;
	ends[1].due = true;
	run(test, NULL);
	expect_linked(test, true);
	end_event(&ends[0], vib_trunk_classify(&ends[0].session, last, ends[0].session.own,
					       true), last);
	run(test, NULL);
	expect_linked(test, true);
	KUNIT_EXPECT_EQ(test, ends[0].downs, 1);
}

static struct kunit_case session_cases[] = {
	KUNIT_CASE(each_cell_is_as_it_must_be),
	KUNIT_CASE(up_and_the_link_go_together),
	KUNIT_CASE(sessions_tell_the_events_apart),
	KUNIT_CASE(messages_are_of_the_pair_of_sessions),
	KUNIT_CASE(two_ends_come_up_by_one_hello),
	KUNIT_CASE(an_end_that_is_not_heard_does_not_come_up),
	KUNIT_CASE(a_port_that_is_down_keeps_the_other_down),
	KUNIT_CASE(a_port_that_goes_down_takes_the_other_down),
	KUNIT_CASE(a_peer_that_has_restarted_is_linked_to_anew),
	KUNIT_CASE(silence_in_one_direction_takes_both_down),
	KUNIT_CASE(silence_in_both_directions_ends),
	KUNIT_CASE(a_forged_session_changes_nothing),
	KUNIT_CASE(the_last_session_is_stale),
	{}
};

static struct kunit_suite session_suite = {
	.name = "vib_trunk_session",
	.init = session_test_init,
	.test_cases = session_cases,
};

kunit_test_suite(session_suite);
