/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two communication ids of the IB CM (IBA vol. 1, chapter 12), one active and
 * one passive, their consumers, and the network between them.
 *
 * The state machines are not here: table.pml is made of cm/ibcm/state.c.  Here is
 * what runs it, as ibcm/id.c, messages/msg.c, messages/rx.c, messages/rtu.c, ibcm/watch.c, messages/orphan.c and
 * the RDMA CM's ib_handler.c do, each section under a lock one atomic step.
 *
 * A message that waits in an id's queue is not told from one that is still on
 * its way: the network may deliver in any order, so the queue adds nothing.
 * There is no time: whatever waits may end at any moment, so IBCM_F_EXTEND
 * changes nothing.
 *
 * Everything that can happen happens a bounded number of times, so each
 * execution ends (property FINITE), and what must come "at last" is asserted
 * of the state in which nothing more can happen.
 */
#include "table.pml"

#define A	0	/* active */
#define P	1	/* passive */

#ifndef TRIES
#define TRIES	2	/* of a request: the first and its retries */
#endif
#ifndef COPIES
#define COPIES	1	/* that the network makes, of all messages */
#endif
#ifndef REPORTS
#define REPORTS	2	/* of data: COMM_EST, the first completion */
#endif
/* With PSN nobody reports data: they show in the QP's expected PSN if looked at. */

/* With LAPS the active consumer asks that often, up to twice, for an alternate path. */

/* The properties; a run may be confined to some. */
#define QUIET	1	/* ends with both ids idle, gone or established */
#define ONCE	2	/* ESTABLISHED once at most */
#define DATA	4	/* COMM_EST, or a PSN that has moved when the RTU was to be
			 * done without, while it is awaited: ESTABLISHED is next */
#define ORDER	8	/* no DISCONNECTED that is not preceded by ESTABLISHED */
#define GONE	16	/* a destroyed id calls nobody */
#define CLEAN	32	/* and has nothing outstanding, nor has an idle one */
#define PATH	64	/* LAPS: a path that is accepted is loaded at both ends, the
			 * passive one first, and neither goes back to an older one */
#ifndef PROPERTIES
#define PROPERTIES	127
#endif
#define CHECK(property, holds)	assert(!(PROPERTIES & property) || (holds))

/* What a seeded mistake leaves out. */
#ifndef WITHOUT_LATE
#define LATE(x)		(x)	/* COMM_EST since the work took something */
#else
#define LATE(x)		false
#endif
#ifndef WITHOUT_STOPS
#define STOPS(x)	(x)	/* the handler has destroyed the id */
#else
#define STOPS(x)	false
#endif
#ifndef WITHOUT_WAITS
#define WAITS(x)	(x)	/* destruction, for the work */
#else
#define WAITS(x)	true
#endif
#ifndef WITHOUT_PROBE
#define WITHOUT_PROBE	0
#endif
#define PROBES(when)	(WITHOUT_PROBE != (when))
#ifndef WITHOUT_POSTED
#define REPEATS(i)	(!UNPOSTED(i))	/* a REP, for a REQ that came again */
#else
#define REPEATS(i)	true
#endif
#ifndef WITHOUT_TRIES
#define NEXT_TRY	1
#else
#define NEXT_TRY	0
#endif

/* What a consumer may do beside what it must, each once. */
#define DISCONNECTS	1	/* at any moment */
#define DESTROYS	2	/* at any moment, or in its handler */
#define DELAYS		4	/* has an MRA sent before it answers */
#ifndef PLANS
#define PLANS	7	/* of those, what both may */
#endif

/* An event without a cell of the table. */
#define IB_CM_USER_ESTABLISHED	254

/* When the PSN is looked at */
#define AT_REP		1	/* that is not answered in time */
#define AT_DREQ		2
#define AT_END		3	/* of the id */

/* Where a REP is that came back without an answer: ibcm_rep_look() */
#define LOOK_NOW	1	/* in a work item, which has found nothing */
#define LOOK_PROVED	2	/* at rest, its answer found */

/* The outstanding request, id->msg */
#define NONE	0
#define REQ	1
#define REP	2
#define DREQ	3
#define LAP	4

/* The peer block: our names for the connection, and its timewait */
#define NAMED		1
#define IN_TIMEWAIT	2

/* What the RDMA CM holds of its id */
#define NOBODY	0
#define PENDING	1
#define UP	2
#define FAILED	3
#define OVER	4

byte state[2];
byte msg[2];
byte tries[2];
byte peer[2];
bool pend_est[2];	/* id->pending, bit by bit */
bool pend_failed[2];
bool pend_timewait_end[2];
bool running[2];	/* the id's work has taken something */
bool dying[2];		/* destruction has begun */
bool gone[2];		/* ib_destroy_cm_id() has returned */
bool requested;		/* the REQ has made the passive id */

byte plan[2] = PLANS;
bool ask[2];		/* the consumer owes an answer to a REQ or REP */
bool bye[2];		/* it owes one to a DREQ */
bool told;		/* the passive consumer: established */
byte conn[2];

bool more = true;	/* a REP may be resent while an MRA's time lasts */
bool sent;		/* the active side may have sent data */
bool moved;		/* PSN: they have arrived */
byte look;		/* PSN: the REP */
bool apart[2];		/* PSN: a call of the consumer's has looked at it */
byte reports = REPORTS;	/* of their arrival, still to come */
bool due;		/* one was made in time, the consumer is still to be told */
byte copies = COPIES;

#include "lap.pml"
#include "id.pml"
#include "apr.pml"

/* cma_ib_disconnect() */
inline disconnect(i)
{
	CHECK(DATA, i == A || !due || !AWAITED);
	post(i, IBCM_TX_DREQ, DREQ, IBCM_RX_DREQ);
	if
	:: !ok -> call(i, IBCM_TX_DREP, NONE, IBCM_RX_DREP)
	:: else
	fi
}

/* It is over: all that is left to be done is to destroy the id. */
inline content(i)
{
	LAP_OVER(i)
	ask[i] = false;
	plan[i] = plan[i] & DESTROYS
}

/* cma_ib_event(): what the RDMA CM makes of @e for its consumer. */
inline cma(i, e)
{
	if
	:: conn[i] == OVER || dying[i]
	:: else ->
		if
		:: e == IB_CM_REQ_RECEIVED || e == IB_CM_REP_RECEIVED ->
			conn[i] = PENDING;
			ask[i] = true
		:: (e == IB_CM_RTU_RECEIVED || e == IB_CM_USER_ESTABLISHED) &&
		   conn[i] == PENDING ->
			conn[i] = UP
		:: e == IB_CM_REJ_RECEIVED || e == IB_CM_REQ_ERROR ||
		   e == IB_CM_REP_ERROR ->
			conn[i] = FAILED;
			content(i)
		:: e == IB_CM_DREQ_RECEIVED || e == IB_CM_DREP_RECEIVED ||
		   e == IB_CM_DREQ_ERROR ->
			if
			:: e == IB_CM_DREQ_RECEIVED && i == P && conn[i] == PENDING ->
				conn[i] = UP
			:: else
			fi;
			CHECK(ORDER, conn[i] == UP);
			conn[i] = OVER;
			content(i);
			bye[i] = (e == IB_CM_DREQ_RECEIVED)
		:: else
		fi
	fi
}

/*
 * ibcm_deliver(): the consumer's handler.  It may ask for destruction by its
 * answer, @ret, or destroy the id itself.
 */
inline deliver(i, e)
{
	printf("side%d: handler T%d\n", i, e);
	CHECK(GONE, !gone[i]);
	if
	:: e == IB_CM_RTU_RECEIVED || e == IB_CM_USER_ESTABLISHED ->
		CHECK(ONCE, !told);
		told = true;
		due = false
	:: e == IB_CM_DREQ_RECEIVED || e == IB_CM_DREP_RECEIVED ||
	   e == IB_CM_DREQ_ERROR || e == IB_CM_REJ_RECEIVED ||
	   e == IB_CM_REP_ERROR ->
		CHECK(DATA, i == A || !due);
		CHECK(ORDER, i == A || told || e == IB_CM_REJ_RECEIVED ||
		      e == IB_CM_REP_ERROR)
	:: else
	fi;
	LAP_TOLD(i, e)
	cma(i, e);
	if
	:: true
	:: (plan[i] & DESTROYS) && !dying[i] ->
		plan[i] = plan[i] & ~DESTROYS;
		ret = true
	:: (plan[i] & DESTROYS) && !dying[i] ->
		probe(i, AT_END);
		destroy(i);
		destroyed(i)
	fi
}

/* ibcm_id_work() */
proctype work(byte i)
{
	byte what, rx, e, tell = IBCM_NO_EVENT;
	short at;
	bool ok, first, ret;

end:	do
	:: atomic { orphan(i) }
	LAP_ORPHAN(i)
	:: atomic { next(i) };
	   atomic {
		process(i);
		if
		:: tell == IBCM_NO_EVENT -> running[i] = false; goto end
		:: else
		fi
	   };
	   /* ibcm_deliver() and ibcm_rx_finish(): one event, or two */
	   do
	   :: atomic {
		if
		:: first || LATE(pend_est[i]) ->
			first = false;
			pend_est[i] = false;
			answered(i);
			e = IB_CM_USER_ESTABLISHED
		:: else ->
			e = tell;
			tell = IBCM_NO_EVENT
		fi;
		deliver(i, e);
		e = 0;
		if
		:: ret || STOPS(dying[i]) -> tell = IBCM_NO_EVENT
		:: else
		fi;
		if
		:: tell == IBCM_NO_EVENT ->
			if
			:: ret && !dying[i] ->
				probe(i, AT_END);
				destroy(i);
				destroyed(i)
			:: else
			fi;
			at = 0;
			ok = false;
			ret = false;
			first = false;
			running[i] = false;
			goto end
		:: else
		fi
	      }
	   od
	od
}

/* The consumer's calls, of any thread but its handler's. */
proctype consumer(byte i)
{
	byte rx;
	short at;
	bool ok;

	if
	:: i == A ->
		atomic {
			peer[A] = NAMED;
			conn[A] = PENDING;
			post(A, IBCM_TX_REQ, REQ, IBCM_RX_REQ)
			FOUND(A)
		}
	:: else
	fi;
end:	do
	:: atomic {
		ask[i] ->
		ask[i] = false;
		if
		:: i == A ->
			post(A, IBCM_TX_RTU, NONE, IBCM_RX_RTU);
			if
			:: ok -> conn[A] = UP; sent = sent || !UNPOSTED(A)
			:: else
			fi
		:: i == P -> post(P, IBCM_TX_REP, REP, IBCM_RX_REP)
		:: true -> call(i, IBCM_TX_REJ, NONE, IBCM_RX_REJ)
		fi;
		at = 0;
		ok = false
		FOUND(i)
	   }
	:: atomic {
		ask[i] && (plan[i] & DELAYS) ->
		plan[i] = plan[i] & ~DELAYS;
		if
		:: i == A -> post(A, IBCM_TX_MRA, NONE, IBCM_RX_MRA_REP)
		:: else -> post(P, IBCM_TX_MRA, NONE, IBCM_RX_MRA_REQ)
		fi;
		at = 0;
		ok = false
		FOUND(i)
	   }
	:: atomic {
		bye[i] || ((plan[i] & DISCONNECTS) && !dying[i] &&
			   (conn[i] == PENDING || conn[i] == UP)) ->
		if
		:: bye[i] -> bye[i] = false
		:: else -> plan[i] = plan[i] & ~DISCONNECTS
		fi;
		probe(i, AT_DREQ)
		APART
		disconnect(i);
		at = 0;
		ok = false
		FOUND(i)
	   }
	:: atomic {
		(plan[i] & DESTROYS) && conn[i] != NOBODY ->
		plan[i] = plan[i] & ~DESTROYS;
		probe(i, AT_END)
		APART
		destroy(i);
		at = 0;
		ok = false
	   };
	   /* cancel_work_sync() */
	   atomic {
		WAITS(!running[i]) ->
		destroyed(i)
	   }
	LAP_CALLS(i)
	od
}

/* Of the MAD layer and of messages/msg.c: tries; ibcm/watch.c; ibcm/timewait.c. */
proctype timers(byte i)
{
#ifdef PSN
	short at;
	bool ok;

#endif
end:	do
#ifdef PSN
	:: atomic {
		i == P && msg[P] == REP && !UNPOSTED(P) && look == NONE ->
		probe(P, AT_REP);
		look = (ok -> LOOK_PROVED : LOOK_NOW);
		ok = false
	   }
#endif
	:: atomic {
		msg[i] != NONE && !UNPOSTED(i) && tries[i] < TRIES && LOOKED(i) ->
		back(i);
		tries[i] = tries[i] + NEXT_TRY;
		printf("side%d: no answer yet\n", i);
		if
		:: msg[i] == REQ -> send(1 - i, IBCM_RX_REQ)
		:: msg[i] == REP -> send(1 - i, IBCM_RX_REP)
		:: msg[i] == DREQ -> send(1 - i, IBCM_RX_DREQ)
		LAP_RESENT(i)
		fi
	   }
	/* ibcm_rep_next_try(): no try of the REP's, and in the model once */
	:: atomic {
		more && msg[i] == REP && state[i] == IB_CM_MRA_REP_RCVD &&
		!UNPOSTED(i) && LOOKED(i) ->
		back(i);
		more = false;
		printf("side%d: no answer since the MRA\n", i);
		send(1 - i, IBCM_RX_REP)
	   }
	:: atomic {
		msg[i] != NONE && !UNPOSTED(i) && tries[i] >= TRIES && LOOKED(i) ->
		printf("side%d: no answer, the last try\n", i);
		detach(i);
		pend_failed[i] = !dying[i]
	   }
	:: atomic {
		peer[i] == IN_TIMEWAIT ->
		peer[i] = NONE;
		pend_timewait_end[i] = !dying[i]
	   }
	od
}

/*
 * The passive side's adapter: data arrive when they like.  It has an event for
 * them and a first completion; which comes first makes no difference.  Or else
 * neither, as one that raises no event, for a process.
 */
proctype hca()
{
	short at;
	bool ok;

end:	do
	:: atomic {
		reports > 0 && sent && !gone[P] ->
		reports--;
#ifdef PSN
		printf("side1: data have moved the PSN\n");
		moved = true
#else
		comm_est()
#endif
	   }
	od
}

#define SETTLED(i)	(gone[i] || state[i] == IB_CM_IDLE || \
			 (state[i] == IB_CM_ESTABLISHED && LAP_SETTLED(i)))
#define AT_REST(i)	(msg[i] == NONE && peer[i] != IN_TIMEWAIT && \
			 !running[i] && !pend_est[i] && !pend_failed[i] && \
			 !pend_timewait_end[i] && !ask[i] && !bye[i] && \
			 dying[i] == gone[i] && !apart[i] && !UNPOSTED(i) && \
			 LAP_RESTS(i))
#define NOTHING_TO(i)	(NO_LAP_TO(i) && NOTHING_ELSE_TO(i))
#define NOTHING_ELSE_TO(i) !(NET(i, 0) || NET(i, 1) || NET(i, 2) || NET(i, 3) || \
			  NET(i, 4) || NET(i, 5) || NET(i, 6) || NET(i, 7) || NET(i, 8))

/* Nothing need happen any more; consumers and data may still come to life. */
proctype quiet()
{
end:	do
	:: atomic {
		AT_REST(A) && AT_REST(P) && NOTHING_TO(A) && NOTHING_TO(P) ->
		CHECK(QUIET, SETTLED(A) && SETTLED(P));
		CHECK(CLEAN, peer[A] == NONE || state[A] == IB_CM_ESTABLISHED);
		CHECK(CLEAN, peer[P] == NONE || state[P] == IB_CM_ESTABLISHED);
		CHECK(DATA, !due || gone[P])
	   }
	/* Something need happen and cannot. */
	:: timeout -> CHECK(QUIET, false)
	od
}

init {
	d_step { ibcm_table_fill() };
	atomic {
		run work(A);
		run work(P);
		run consumer(A);
		run consumer(P);
		run timers(A);
		run timers(P);
		run hca()
#ifndef FINITE
		; run quiet()
#endif
	}
}
