// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Numbers of messages and credits of a pair of sessions, with whatever the network loses. */
#include <kunit/test.h>
#include "trunk/flow.h"

static struct vib_trunk_flow flow;

static int flow_test_init(struct kunit *test)
{
	vib_flow_init(&flow);
	return 0;
}

/* ---- sequence numbers ---- */

static void expect_seq(struct kunit *test, u32 seq, enum vib_flow_verdict verdict, s32 lost)
{
	s32 found;

	KUNIT_EXPECT_EQ_MSG(test, vib_flow_sequence(&flow, seq, &found), verdict, "%u", seq);
	KUNIT_EXPECT_EQ_MSG(test, found, lost, "%u", seq);
}

static void messages_in_order_are_next(struct kunit *test)
{
	u32 seq;

	for (seq = 0; seq < 200; seq++)
		expect_seq(test, seq, VIB_FLOW_NEXT, 0);
}

static void what_is_missing_is_lost(struct kunit *test)
{
	expect_seq(test, 2, VIB_FLOW_NEXT, 2);
	expect_seq(test, 3, VIB_FLOW_NEXT, 0);
	expect_seq(test, 1000, VIB_FLOW_NEXT, 996);
}

static void what_comes_twice_is_a_duplicate(struct kunit *test)
{
	expect_seq(test, 0, VIB_FLOW_NEXT, 0);
	expect_seq(test, 0, VIB_FLOW_DUPLICATE, 0);
	expect_seq(test, 1, VIB_FLOW_NEXT, 0);
	expect_seq(test, 0, VIB_FLOW_DUPLICATE, 0);
	expect_seq(test, 63, VIB_FLOW_NEXT, 61);
	expect_seq(test, 0, VIB_FLOW_DUPLICATE, 0);
	expect_seq(test, 1, VIB_FLOW_DUPLICATE, 0);
}

/* It was counted as lost, and is none that was lost. */
static void what_was_overtaken_is_late(struct kunit *test)
{
	expect_seq(test, 3, VIB_FLOW_NEXT, 3);
	expect_seq(test, 1, VIB_FLOW_LATE, -1);
	expect_seq(test, 1, VIB_FLOW_DUPLICATE, 0);
	expect_seq(test, 2, VIB_FLOW_LATE, -1);
	expect_seq(test, 4, VIB_FLOW_NEXT, 0);
}

/* Behind the window of 64 nobody knows: dropped, and it stays counted as lost. */
static void what_is_too_old_is_late(struct kunit *test)
{
	expect_seq(test, 64, VIB_FLOW_NEXT, 64);
	expect_seq(test, 0, VIB_FLOW_LATE, 0);
	expect_seq(test, 1, VIB_FLOW_LATE, -1);
	expect_seq(test, 64, VIB_FLOW_DUPLICATE, 0);
}

static void numbers_wrap(struct kunit *test)
{
	flow.rx_seq = U32_MAX;
	expect_seq(test, U32_MAX, VIB_FLOW_NEXT, 0);
	expect_seq(test, 0, VIB_FLOW_NEXT, 0);
	expect_seq(test, 3, VIB_FLOW_NEXT, 2);
	expect_seq(test, U32_MAX, VIB_FLOW_DUPLICATE, 0);
	expect_seq(test, 1, VIB_FLOW_LATE, -1);
}

/* ---- credits ---- */

static void expect_receive(struct kunit *test, u32 total, u16 blocks, bool taken, u32 lost)
{
	u32 found;

	KUNIT_EXPECT_EQ_MSG(test, vib_flow_receive(&flow, 3, total, blocks, &found), taken,
			    "%u of %u", blocks, total);
	if (taken)
		KUNIT_EXPECT_EQ_MSG(test, found, lost, "%u of %u", blocks, total);
}

static void nothing_is_sent_before_there_are_credits(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, vib_flow_send(&flow, 3, 1));
	KUNIT_EXPECT_TRUE(test, vib_flow_limit(&flow, 3, 10));
	KUNIT_EXPECT_FALSE(test, vib_flow_send(&flow, 3, 11));
	KUNIT_EXPECT_TRUE(test, vib_flow_send(&flow, 3, 4));
	KUNIT_EXPECT_TRUE(test, vib_flow_send(&flow, 3, 6));
	KUNIT_EXPECT_FALSE(test, vib_flow_send(&flow, 3, 1));
	KUNIT_EXPECT_EQ(test, flow.vl[3].sent, 10);
	/* Another VL has its own. */
	KUNIT_EXPECT_FALSE(test, vib_flow_send(&flow, 4, 1));
}

static void a_limit_only_rises(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, vib_flow_limit(&flow, 3, 10));
	KUNIT_EXPECT_FALSE(test, vib_flow_limit(&flow, 3, 10));
	KUNIT_EXPECT_FALSE(test, vib_flow_limit(&flow, 3, 9));
	KUNIT_EXPECT_EQ(test, flow.vl[3].limit, 10);
	flow.vl[3].limit = U32_MAX - 1;
	KUNIT_EXPECT_TRUE(test, vib_flow_limit(&flow, 3, 4));
}

static void packets_within_what_was_told_are_taken(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vib_flow_tell(&flow, 3, 10), 10);
	expect_receive(test, 4, 4, true, 0);
	expect_receive(test, 10, 6, true, 0);
	expect_receive(test, 11, 1, false, 0);
	KUNIT_EXPECT_EQ(test, flow.vl[3].received, 10);
	KUNIT_EXPECT_EQ(test, vib_flow_tell(&flow, 3, 1), 11);
	expect_receive(test, 11, 1, true, 0);
}

static void a_total_that_cannot_be_is_refused(struct kunit *test)
{
	vib_flow_tell(&flow, 3, 100);
	expect_receive(test, 20, 20, true, 0);
	/* less than before; the packet longer than what was added; beyond the credits */
	expect_receive(test, 19, 1, false, 0);
	expect_receive(test, 20, 1, false, 0);
	expect_receive(test, 25, 6, false, 0);
	expect_receive(test, 101, 1, false, 0);
	expect_receive(test, 0x80000000, 1, false, 0);
	KUNIT_EXPECT_EQ(test, flow.vl[3].received, 20);
	expect_receive(test, 100, 1, true, 79);
}

/* What was lost takes no room: the receiver tells of it again. */
static void credits_of_lost_packets_come_back(struct kunit *test)
{
	u32 lost;

	KUNIT_EXPECT_EQ(test, vib_flow_tell(&flow, 3, 10), 10);
	/* Of two packets of 4 the first is lost; the second takes 4 of the room. */
	expect_receive(test, 8, 4, true, 4);
	KUNIT_EXPECT_EQ(test, vib_flow_tell(&flow, 3, 10 - 4), 14);
	/* So is what is sent after it, with nothing behind it but a CREDIT. */
	KUNIT_EXPECT_TRUE(test, vib_flow_recover(&flow, 3, 14, &lost));
	KUNIT_EXPECT_EQ(test, lost, 6);
	KUNIT_EXPECT_EQ(test, vib_flow_tell(&flow, 3, 10 - 4), 20);
	KUNIT_EXPECT_FALSE(test, vib_flow_recover(&flow, 3, 21, &lost));
	KUNIT_EXPECT_FALSE(test, vib_flow_recover(&flow, 3, 13, &lost));
}

static void what_was_told_stands(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vib_flow_tell(&flow, 3, 10), 10);
	KUNIT_EXPECT_EQ(test, vib_flow_tell(&flow, 3, 5), 10);
}

/*
 * A sender and a receiver with a buffer of 100 blocks, over a network that loses every third
 * packet and every second CREDIT, over the wrap of the totals: whenever the receiver empties
 * its buffer, the sender gets on, and never is the buffer too full.
 */
static void credits_survive_any_loss(struct kunit *test)
{
	static struct vib_trunk_flow from, to;
	u32 room = 100, lost, sent = 0, round, packets = 0, start = -5000U;

	from.vl[0].sent = start;
	from.vl[0].limit = start;
	to.vl[0].received = start;
	to.vl[0].told = start;
	for (round = 0; round < 1000; round++) {
		while (vib_flow_send(&from, 0, 7)) {
			sent++;
			if (packets++ % 3 == 0)
				continue;
			KUNIT_ASSERT_TRUE(test, vib_flow_receive(&to, 0, from.vl[0].sent, 7,
								 &lost));
			KUNIT_ASSERT_GE(test, room, 7);
			room -= 7;
		}
		/* As the probe of a sender that waits. */
		if (round % 2)
			continue;
		KUNIT_ASSERT_TRUE(test, vib_flow_recover(&to, 0, from.vl[0].sent, &lost));
		room = 100;
		vib_flow_limit(&from, 0, vib_flow_tell(&to, 0, room));
	}
	KUNIT_EXPECT_EQ(test, sent, 500 * 14);
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(messages_in_order_are_next),
	KUNIT_CASE(what_is_missing_is_lost),
	KUNIT_CASE(what_comes_twice_is_a_duplicate),
	KUNIT_CASE(what_was_overtaken_is_late),
	KUNIT_CASE(what_is_too_old_is_late),
	KUNIT_CASE(numbers_wrap),
	KUNIT_CASE(nothing_is_sent_before_there_are_credits),
	KUNIT_CASE(a_limit_only_rises),
	KUNIT_CASE(packets_within_what_was_told_are_taken),
	KUNIT_CASE(a_total_that_cannot_be_is_refused),
	KUNIT_CASE(credits_of_lost_packets_come_back),
	KUNIT_CASE(what_was_told_stands),
	KUNIT_CASE(credits_survive_any_loss),
	{}
};

static struct kunit_suite flow_suite = {
	.name = "vib_trunk_flow",
	.init = flow_test_init,
	.test_cases = flow_cases,
};

kunit_test_suite(flow_suite);
