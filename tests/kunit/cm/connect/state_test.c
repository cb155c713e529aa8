// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The state table: each state with each event.  Conversions of times. */
#include "cm/cm_test.h"

/*
 * IBA volume 1, 12.9.7 and 12.9.8.  A letter is the state that follows: Idle, Listen,
 * q/Q REQ sent/received, m/M MRA of a REQ sent/received, p/P REP sent/received, n/N MRA
 * of a REP sent/received, Established, d/D DREQ sent/received, Timewait, s/S SIDR REQ
 * sent/received.  A dot: the event is not expected in the state.
 */
static const char state_letters[IBCM_STATES] = {
	[IB_CM_IDLE] = 'I', [IB_CM_LISTEN] = 'L', [IB_CM_REQ_SENT] = 'q',
	[IB_CM_REQ_RCVD] = 'Q', [IB_CM_MRA_REQ_SENT] = 'm', [IB_CM_MRA_REQ_RCVD] = 'M',
	[IB_CM_REP_SENT] = 'p', [IB_CM_REP_RCVD] = 'P', [IB_CM_MRA_REP_SENT] = 'n',
	[IB_CM_MRA_REP_RCVD] = 'N', [IB_CM_ESTABLISHED] = 'E', [IB_CM_DREQ_SENT] = 'd',
	[IB_CM_DREQ_RCVD] = 'D', [IB_CM_TIMEWAIT] = 'T', [IB_CM_SIDR_REQ_SENT] = 's',
	[IB_CM_SIDR_REQ_RCVD] = 'S',
};

static const char *const expected_next[IBCM_STATES] = {
	/*
	 * Messages: REQ, MRA of a REQ, of a REP, REJ, stale REJ, REP, RTU, DREQ, DREP,
	 * SIDR REQ, SIDR REP; calls: REQ, MRA, REJ, REP, RTU, DREQ, DREP, SIDR REQ,
	 * SIDR REP, listen, destroy, leave; then: data arrived, no response, stale,
	 * timer, the message of the last step could not be posted.
	 */
	[IB_CM_IDLE]		= "Q......I.S. q......s.LI. ....I",
	[IB_CM_LISTEN]		= "........... ..........I. ....L",
	[IB_CM_REQ_SENT]	= ".M.IIP..... ..I.......I. .I..q",
	[IB_CM_MRA_REQ_RCVD]	= ".M.IIP..... ..I.......I. .I...",
	[IB_CM_REP_RCVD]	= ".P.IIP..... .nI.E.....I. .....",
	[IB_CM_MRA_REP_SENT]	= ".n.IIn..... ..I.E.....I. ....n",
	[IB_CM_REQ_RCVD]	= "Q..II...... .mIp......I. .....",
	[IB_CM_MRA_REQ_SENT]	= "m..II...... ..Ip......I. ....m",
	[IB_CM_REP_SENT]	= "p.NIT.ED... ..T.......T. ETT.p",
	[IB_CM_MRA_REP_RCVD]	= "N.NIT.ED... ..T.......T. ETT..",
	[IB_CM_ESTABLISHED]	= "EEETTEED... .....d....TI ....E",
	[IB_CM_DREQ_SENT]	= "...TT.dDT.. ..........T. .T..d",
	[IB_CM_DREQ_RCVD]	= "......DDD.. ......T...T. .....",
	[IB_CM_TIMEWAIT]	= "T.....TTT.. ..........T. ...I.",
	[IB_CM_SIDR_REQ_SENT]	= "..........I ..........I. .I..s",
	[IB_CM_SIDR_REQ_RCVD]	= "........... ........I.I. .....",
};

/* The event that the consumer gets, in the letters of cm_letter(). */
static const char *const expected_told[IBCM_STATES] = {
	[IB_CM_IDLE]		= "Q........S. ............ .....",
	[IB_CM_LISTEN]		= "........... ............ .....",
	[IB_CM_REQ_SENT]	= ".M.JJP..... ............ .q...",
	[IB_CM_MRA_REQ_RCVD]	= "...JJP..... ............ .q...",
	[IB_CM_REP_RCVD]	= "...JJ...... ............ .....",
	[IB_CM_MRA_REP_SENT]	= "...JJ...... ............ .....",
	[IB_CM_REQ_RCVD]	= "...JJ...... ............ .....",
	[IB_CM_MRA_REQ_SENT]	= "...JJ...... ............ .....",
	[IB_CM_REP_SENT]	= "..MJJ.UD... ............ .pp..",
	[IB_CM_MRA_REP_RCVD]	= "...JJ.UD... ............ .pp..",
	[IB_CM_ESTABLISHED]	= "...JJ..D... ............ .....",
	[IB_CM_DREQ_SENT]	= "...JJ..DR.. ............ .d...",
	[IB_CM_DREQ_RCVD]	= "........... ............ .....",
	[IB_CM_TIMEWAIT]	= "........... ............ ...T.",
	[IB_CM_SIDR_REQ_SENT]	= "..........I ............ .s...",
	[IB_CM_SIDR_REQ_RCVD]	= "........... ............ .....",
};

/*
 * The message that is sent to the peer without a call of the consumer: an MRA of a REQ
 * (M) or REP (N), reP, rtU, DREQ, dRep, a REJ of a stale connection (s), after a
 * timeout (t) or in the consumer's place (c); SIDR_REP (i).
 */
static const char reply_letters[] = {
	[IBCM_REPLY_NONE] = '.', [IBCM_REPLY_MRA_REQ] = 'M', [IBCM_REPLY_MRA_REP] = 'N',
	[IBCM_REPLY_REP] = 'P', [IBCM_REPLY_RTU] = 'U', [IBCM_REPLY_DREQ] = 'D',
	[IBCM_REPLY_DREP] = 'R', [IBCM_REPLY_REJ_STALE] = 's',
	[IBCM_REPLY_REJ_TIMEOUT] = 't', [IBCM_REPLY_REJ_CONSUMER] = 'c',
	[IBCM_REPLY_SIDR_REJECT] = 'i',
};

static const char *const expected_reply[IBCM_STATES] = {
	[IB_CM_IDLE]		= ".......R... ............ .....",
	[IB_CM_LISTEN]		= "........... ............ .....",
	[IB_CM_REQ_SENT]	= "........... ..........t. .t...",
	[IB_CM_MRA_REQ_RCVD]	= "........... ..........t. .t...",
	[IB_CM_REP_RCVD]	= "........... ..........c. .....",
	[IB_CM_MRA_REP_SENT]	= ".....N..... ..........c. .....",
	[IB_CM_REQ_RCVD]	= "........... ..........c. .....",
	[IB_CM_MRA_REQ_SENT]	= "M.......... ..........c. .....",
	[IB_CM_REP_SENT]	= "P.......... ..........c. .t...",
	[IB_CM_MRA_REP_RCVD]	= "........... ..........c. .t...",
	[IB_CM_ESTABLISHED]	= ".....U..... ..........D. .....",
	[IB_CM_DREQ_SENT]	= "........... ............ .....",
	[IB_CM_DREQ_RCVD]	= "........... ..........R. .....",
	[IB_CM_TIMEWAIT]	= "s......R... ............ .....",
	[IB_CM_SIDR_REQ_SENT]	= "........... ............ .....",
	[IB_CM_SIDR_REQ_RCVD]	= "........... ..........i. .....",
};

static char expected(const char *const *table, int state, int event)
{
	return table[state][event + (event > IBCM_RX_SIDR_REP) +
			    (event > IBCM_DO_LEAVE)];
}

static char told(const struct ibcm_step *step)
{
	return step && step->event != IBCM_NO_EVENT ? cm_letter(step->event) : '.';
}

static void every_state_and_event(struct kunit *test)
{
	const struct ibcm_step *step;
	int s, e;

	for (s = 0; s < IBCM_STATES; s++) {
		KUNIT_ASSERT_EQ(test, strlen(expected_next[s]), IBCM_EVENTS + 2);
		for (e = 0; e < IBCM_EVENTS; e++) {
			step = ibcm_step_of(s, e);
			KUNIT_EXPECT_EQ_MSG(test,
					    step ? state_letters[step->next] : '.',
					    expected(expected_next, s, e),
					    "state %c, event %d", state_letters[s], e);
			KUNIT_EXPECT_EQ_MSG(test, told(step),
					    expected(expected_told, s, e),
					    "state %c, event %d", state_letters[s], e);
			KUNIT_EXPECT_EQ_MSG(test, reply_letters[step ? step->reply : 0],
					    expected(expected_reply, s, e),
					    "state %c, event %d", state_letters[s], e);
		}
	}
	KUNIT_EXPECT_NULL(test, ibcm_step_of(IBCM_STATES, 0));
	KUNIT_EXPECT_NULL(test, ibcm_step_of(0, IBCM_EVENTS));
}

static bool awaits_an_answer(int state)
{
	return strchr("qMpNds", state_letters[state]);
}

/* A request is cancelled when its response is awaited no more, and never twice. */
static void requests_end_with_their_states(struct kunit *test)
{
	const struct ibcm_step *step;
	int s, e;

	for (s = 0; s < IBCM_STATES; s++) {
		for (e = 0; e < IBCM_EVENTS; e++) {
			step = ibcm_step_of(s, e);
			/*
			 * A failed request has ended; IBCM_COMM_EST leaves it to the
			 * work.
			 */
			if (!step || e == IBCM_SEND_FAILED || e == IBCM_COMM_EST)
				continue;
			if (awaits_an_answer(s) && !awaits_an_answer(step->next))
				KUNIT_EXPECT_TRUE_MSG(test, step->flags & IBCM_F_CANCEL,
						      "state %c, event %d",
						      state_letters[s], e);
			/* A LAP may be outstanding; a DREQ of this side replaces it. */
			if (s == IB_CM_ESTABLISHED && step->next != s && e != IBCM_TX_DREQ)
				KUNIT_EXPECT_TRUE_MSG(test, step->flags & IBCM_F_CANCEL,
						      "event %d", e);
			/* The id may be destroyed before that work has run. */
			else if (!awaits_an_answer(s) && e != IBCM_DO_DESTROY &&
				 e != IBCM_DO_LEAVE)
				KUNIT_EXPECT_FALSE_MSG(test,
						       step->flags & (IBCM_F_CANCEL |
								      IBCM_F_EXTEND),
						       "state %c, event %d",
						       state_letters[s], e);
		}
	}
}

/* A duplicate neither moves the id nor reaches the consumer. */
static void duplicates_change_nothing(struct kunit *test)
{
	const struct ibcm_step *step;
	int s, e, n = 0;

	for (s = 0; s < IBCM_STATES; s++) {
		for (e = 0; e < IBCM_EVENTS; e++) {
			step = ibcm_step_of(s, e);
			if (!step || !(step->flags & IBCM_F_DUP))
				continue;
			n++;
			KUNIT_EXPECT_EQ(test, step->next, s);
			KUNIT_EXPECT_EQ(test, step->event, IBCM_NO_EVENT);
		}
	}
	KUNIT_EXPECT_GE(test, n, 20);
}

static void every_state_can_be_left(struct kunit *test)
{
	const struct ibcm_step *step;
	int s;

	for (s = 0; s < IBCM_STATES; s++) {
		step = ibcm_step_of(s, IBCM_DO_DESTROY);
		KUNIT_ASSERT_NOT_NULL(test, step);
		KUNIT_EXPECT_TRUE_MSG(test, step->next == IB_CM_IDLE ||
				      step->next == IB_CM_TIMEWAIT, "state %c",
				      state_letters[s]);
		KUNIT_EXPECT_EQ(test, step->event, IBCM_NO_EVENT);
	}
}

static void times(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ibcm_time_ms(0), 1u);
	KUNIT_EXPECT_EQ(test, ibcm_time_ms(8), 2u);
	KUNIT_EXPECT_EQ(test, ibcm_time_ms(14), 68u);
	KUNIT_EXPECT_EQ(test, ibcm_time_ms(20), 4295u);
	KUNIT_EXPECT_EQ(test, ibcm_time_ms(31), 8796094u);
	/* Twice the lifetime and the delay, rounded to a power of two. */
	KUNIT_EXPECT_EQ(test, ibcm_ack_timeout(15, 10), 15);
	KUNIT_EXPECT_EQ(test, ibcm_ack_timeout(15, 14), 16);
	KUNIT_EXPECT_EQ(test, ibcm_ack_timeout(15, 13), 16);
	KUNIT_EXPECT_EQ(test, ibcm_ack_timeout(0, 18), 19);
	KUNIT_EXPECT_EQ(test, ibcm_ack_timeout(31, 31), 31);
}

static void reasons(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, ibcm_reject_msg(IB_CM_REJ_STALE_CONN), "stale conn");
	KUNIT_EXPECT_STREQ(test, ibcm_reject_msg(0), "unrecognized reason");
	KUNIT_EXPECT_STREQ(test, ibcm_reject_msg(-1), "unrecognized reason");
	KUNIT_EXPECT_STREQ(test, ibcm_reject_msg(34), "unrecognized reason");
	KUNIT_EXPECT_STREQ(test, ibcm_reject_msg(36), "unrecognized reason");
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(every_state_and_event),
	KUNIT_CASE(requests_end_with_their_states),
	KUNIT_CASE(duplicates_change_nothing),
	KUNIT_CASE(every_state_can_be_left),
	KUNIT_CASE(times),
	KUNIT_CASE(reasons),
	{}
};

static struct kunit_suite ibcm_state_suite = {
	.name = "ib_cm_state",
	.test_cases = state_cases,
};

kunit_test_suite(ibcm_state_suite);
