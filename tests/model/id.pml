/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What moves an id: messages, calls and the rest, each a step of the table, and
 * what follows it.  Inlines name the functions of cm/ that they follow.
 *
 * Those who use them have variables: @at and @ok, the cell of the last step and
 * whether there is one; @rx, a message to be sent; the id's work also @what it
 * has taken, what it is to @tell, and whether ESTABLISHED goes @first.
 */

/* Messages on their way to @i: by the event that their arrival is. */
#define KINDS		(IBCM_RX_DREP + 1)
bool net[2 * KINDS];
#define NET(i, rx)	net[(i) * KINDS + (rx)]

/* Ids that have gone, or are idle for good, answer these alone. */
#define over(i, rx)	((gone[i] || (state[i] == IB_CM_IDLE && conn[i] != NOBODY)) && \
			 (rx) != IBCM_RX_REQ && (rx) != IBCM_RX_REP && \
			 (rx) != IBCM_RX_DREQ)

/* Lost or sent; one that the addressee's end makes meaningless is lost. */
inline send(to, rx)
{
	if
	:: printf("to side%d: E%d is lost\n", to, rx)
	:: !NET(to, rx) && !over(to, rx) ->
		NET(to, rx) = true;
		printf("to side%d: E%d is on its way\n", to, rx)
	fi
}

/* The MAD layer has the REP, or nobody. */
inline back(i)
{
	look = (i == P -> NONE : look)
}

/* The outstanding request is answered or given up. */
inline detach(i)
{
	msg[i] = NONE;
	tries[i] = 0;
	back(i)
}

/* What nothing will come of need not arrive. */
inline discard(i)
{
	NET(i, IBCM_RX_MRA_REQ) = false;
	NET(i, IBCM_RX_MRA_REP) = false;
	NET(i, IBCM_RX_REJ) = false;
	NET(i, IBCM_RX_REJ_STALE) = false;
	NET(i, IBCM_RX_RTU) = false;
	NET(i, IBCM_RX_DREP) = false
	LAP_DISCARD(i)
}

#ifdef FAILS
/*
 * A message that is not posted, a few times: until the call goes on to find that, the
 * step stands, and others see it.
 */
#define NO_STATE	255
byte fails = FAILS;
byte entered[2] = NO_STATE;	/* by the step that is to be taken back */
byte left[2] = NO_STATE;	/* for it, or for one that can be */
#define UNPOSTED(i)	(entered[i] != NO_STATE)
#define FOUND(i)	}; atomic { posted(i)
#else
#define UNPOSTED(i)	false
#define FOUND(i)
#endif

/* ibcm_step(): the transition for @e; @at is its cell, @ok if there is one. */
inline step(i, e)
{
	d_step {
		at = state[i] * IBCM_EVENTS + (e);
		ok = ibcm_flags[at] & IBCM_F_VALID;
		if
		:: ok -> printf("side%d: S%d, E%d -> S%d\n", i, state[i], e, ibcm_next[at])
		:: else -> printf("side%d: S%d, E%d: not expected\n", i, state[i], e)
		fi;
		if
		:: ok && (ibcm_flags[at] & IBCM_F_CANCEL) -> detach(i)
		:: else
		fi;
		if
		:: ok && ibcm_next[at] != state[i] ->
			LAP_ENDS(i)
			state[i] = ibcm_next[at];
			if
			:: state[i] == IB_CM_TIMEWAIT ->
				CHECK(CLEAN, peer[i] == NAMED);
				peer[i] = IN_TIMEWAIT
			:: state[i] == IB_CM_IDLE ->
				peer[i] = NONE;
				discard(i)
			:: else
			fi
		:: else
		fi
	}
}

/* ibcm_reply(): what the cell has the peer answered with. */
inline reply(i)
{
	if
	:: !ok || ibcm_reply[at] == IBCM_REPLY_NONE -> rx = KINDS
	:: else ->
		if
		:: ibcm_reply[at] == IBCM_REPLY_MRA_REQ -> rx = IBCM_RX_MRA_REQ
		:: ibcm_reply[at] == IBCM_REPLY_MRA_REP -> rx = IBCM_RX_MRA_REP
		:: ibcm_reply[at] == IBCM_REPLY_REP ->
			rx = (msg[i] == REP && REPEATS(i) -> IBCM_RX_REP : KINDS)
		:: ibcm_reply[at] == IBCM_REPLY_RTU -> rx = IBCM_RX_RTU
		:: ibcm_reply[at] == IBCM_REPLY_DREQ -> rx = IBCM_RX_DREQ
		:: ibcm_reply[at] == IBCM_REPLY_DREP -> rx = IBCM_RX_DREP
		:: ibcm_reply[at] == IBCM_REPLY_REJ_STALE -> rx = IBCM_RX_REJ_STALE
		:: ibcm_reply[at] == IBCM_REPLY_REJ_TIMEOUT ||
		   ibcm_reply[at] == IBCM_REPLY_REJ_CONSUMER -> rx = IBCM_RX_REJ
		fi
	fi;
	if
	:: rx < KINDS -> send(1 - i, rx)
	:: else
	fi;
	rx = 0
}

/* A call of the consumer that sends @rx, as request @kind or for once. */
inline call(i, e, kind, rx)
{
	step(i, e);
	if
	:: ok ->
		if
		:: kind != NONE -> msg[i] = kind; tries[i] = 1
		:: else
		fi;
#ifdef FAILS
		if
		:: left[i] != NO_STATE && fails > 0 ->
			printf("side%d: it is not posted\n", i);
			fails--;
			entered[i] = state[i]
		:: send(1 - i, rx)
		fi
#else
		send(1 - i, rx)
#endif
	:: else
	fi
}

/* Such a call that fails if its message is not posted. */
#ifdef FAILS
inline post(i, e, kind, rx)
{
	left[i] = state[i];
	call(i, e, kind, rx);
	left[i] = (UNPOSTED(i) -> left[i] : NO_STATE)
}

#define CELL(i, e)	(ibcm_flags[state[i] * IBCM_EVENTS + (e)] & IBCM_F_VALID)

/* ibcm_step_post(), ibcm_step_failed(); the consumer may call again. */
inline posted(i)
{
	if
	:: UNPOSTED(i) ->
		detach(i);
		if
		:: state[i] == entered[i] && CELL(i, IBCM_TX_FAILED) ->
			printf("side%d: S%d, E%d -> S%d\n", i, state[i], IBCM_TX_FAILED, left[i]);
			state[i] = left[i];
			if
			:: state[i] == IB_CM_IDLE ->
				peer[i] = NONE;
				conn[i] = FAILED;
				content(i)
			:: state[i] == IB_CM_ESTABLISHED ->
				plan[i] = plan[i] | DISCONNECTS
			:: else ->
				conn[i] = PENDING;
				ask[i] = true
			fi
		:: else
		fi;
		entered[i] = NO_STATE;
		left[i] = NO_STATE
	:: else
	fi
}
#else
#define post(i, e, kind, rx)	call(i, e, kind, rx)
#endif

#define AWAITED		(state[P] == IB_CM_REP_SENT || state[P] == IB_CM_MRA_REP_RCVD)

/* ibcm_establish(), in any context */
inline comm_est()
{
	due = due || AWAITED;
	step(P, IBCM_COMM_EST);
	if
	:: ok -> pend_est[P] = !dying[P]
	:: else
	fi;
	at = 0;
	ok = false
}

/*
 * ibcm_probe(): a PSN that has moved while the RTU is awaited establishes; @ok then.
 * No lock is held meanwhile: what follows it is APART.
 */
#ifdef PSN
#define LOOKED(i)	((i) == A || msg[P] != REP || look == LOOK_NOW)
#define APART		; ok = false; apart[i] = true }; atomic { apart[i] = false;
inline probe(i, when)
{
	if
	:: i == P && moved && AWAITED ->
		due = true;
		if
		:: PROBES(when) -> comm_est(); ok = true
		:: else
		fi
	:: else
	fi
}
#else
#define LOOKED(i)	true
#define APART		;
#define probe(i, when)	skip
#endif

/* ibcm_id_end() */
#ifdef XRC
#define ENDS(i)		(i == P && state[i] == IB_CM_ESTABLISHED -> \
			 IBCM_DO_LEAVE : IBCM_DO_DESTROY)
#else
#define ENDS(i)		IBCM_DO_DESTROY
#endif

/* Up to where it would wait for a handler that runs. */
inline destroy(i)
{
	printf("side%d: ib_destroy_cm_id()\n", i);
	CHECK(DATA, i == A || !due || !AWAITED);
	plan[i] = plan[i] & ~DESTROYS;
	dying[i] = true;
	ask[i] = false;
	bye[i] = false;
	LAP_OVER(i)
	step(i, ENDS(i));
	reply(i)
}

inline destroyed(i)
{
	printf("side%d: ib_destroy_cm_id() returns\n", i);
	gone[i] = true;
	pend_est[i] = false;
	pend_failed[i] = false;
	pend_timewait_end[i] = false;
	discard(i);
	CHECK(CLEAN, msg[i] == NONE)
}

/* The REP needs no answer any more. */
inline answered(i)
{
	if
	:: msg[i] == REP -> detach(i)
	:: else
	fi
}

/* The network may keep a copy, a few times. */
inline arrived(i, rx)
{
	if
	:: NET(i, rx) = false
	:: copies > 0 ->
		copies--;
		printf("to side%d: E%d is duplicated\n", i, rx)
	fi
}

#define UNKNOWN(rx)	gone[i] && NET(i, rx)
#define WAITING(rx)	!dying[i] && !pend_est[i] && NET(i, rx)

/* ibcm_rx_unknown(), ibcm_orphan_answer(): for an id that has gone. */
inline orphan(i)
{
	if
	:: UNKNOWN(IBCM_RX_REQ) ->
		arrived(i, IBCM_RX_REQ);
		/* Nobody listens any more; the timewait knows the connection. */
		rx = (peer[i] != NONE -> IBCM_RX_REJ_STALE : IBCM_RX_REJ)
	:: UNKNOWN(IBCM_RX_REP) ->
		arrived(i, IBCM_RX_REP);
		rx = IBCM_RX_REJ
	:: UNKNOWN(IBCM_RX_DREQ) ->
		arrived(i, IBCM_RX_DREQ);
		rx = IBCM_RX_DREP
	fi;
	send(1 - i, rx);
	rx = 0
}

/* ibcm_id_next(): ESTABLISHED first; messages may as well come later. */
inline next(i)
{
	if
	:: !dying[i] && pend_est[i] -> pend_est[i] = false; what = IBCM_COMM_EST
	:: WAITING(IBCM_RX_REQ) -> what = IBCM_RX_REQ
	:: WAITING(IBCM_RX_MRA_REQ) -> what = IBCM_RX_MRA_REQ
	:: WAITING(IBCM_RX_MRA_REP) -> what = IBCM_RX_MRA_REP
	:: WAITING(IBCM_RX_REJ) -> what = IBCM_RX_REJ
	:: WAITING(IBCM_RX_REJ_STALE) -> what = IBCM_RX_REJ_STALE
	:: WAITING(IBCM_RX_REP) -> what = IBCM_RX_REP
	:: WAITING(IBCM_RX_RTU) -> what = IBCM_RX_RTU
	:: WAITING(IBCM_RX_DREQ) -> what = IBCM_RX_DREQ
	:: WAITING(IBCM_RX_DREP) -> what = IBCM_RX_DREP
	:: !dying[i] && !pend_est[i] && pend_failed[i] ->
		pend_failed[i] = false;
		what = IBCM_SEND_FAILED
	:: !dying[i] && !pend_est[i] && pend_timewait_end[i] ->
		pend_timewait_end[i] = false;
		what = IBCM_TIMEWAIT_END
	LAP_NEXT(i)
	fi;
	if
	:: what < KINDS -> arrived(i, what)
	:: else
	fi;
	printf("side%d: the work takes E%d\n", i, what);
	running[i] = true
}

/* ibcm_rx_process(), ibcm_id_do(): @tell is what the consumer is to hear. */
inline process(i)
{
	if
	:: what == IBCM_COMM_EST ->
		tell = IB_CM_USER_ESTABLISHED;
		answered(i)
	LAP_PROCESS(i)
	/* An answer came meanwhile; what is outstanding now is another request. */
	:: what == IBCM_SEND_FAILED && msg[i] != NONE
	/* A REQ of an attempt that is over makes an id that is not modelled. */
	:: what == IBCM_RX_REQ && requested && state[i] == IB_CM_IDLE ->
		send(1 - i, IBCM_RX_REJ)
	:: else ->
		if
		:: what == IBCM_RX_REQ && !requested ->
			requested = true;
			peer[i] = NAMED
		:: else
		fi;
		step(i, what);
		reply(i);
		if
		:: ok ->
			tell = ibcm_event[at];
			first = (ibcm_flags[at] & IBCM_F_EST) != 0
		LAP_FAILED(i)
		:: else
		fi
	fi;
	at = 0;
	ok = false;
	what = 0
}
