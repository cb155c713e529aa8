/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Alternate paths (cm/messages/lap.c, apr.c): the active side's consumer asks LAPS times, up
 * to twice, the passive one's accepts, refuses, or answers later.  A number stands for a LAP
 * and its path.  Migrations are left out: they change the paths, not what is told of them.
 *
 * Where this has its place in what cm.pml and id.pml do, they have a macro; without LAPS
 * each is nothing.  lap_step() and what uses it are in apr.pml.
 */
#ifdef LAPS
#define LAP_RX		200	/* the work takes: a LAP, 1 or 2 ... */
#define LAP_RX_MRA	203
#define APR(lap, yes)	((lap) * 2 + (yes))
#define APR_RX		204	/* ... or an APR, at APR_RX + APR(lap, yes) */

#ifndef WITHOUT_SEEN
#define SEEN(lap)	((lap) < done)	/* an old one comes late */
#else
#define SEEN(lap)	false
#endif
#ifndef WITHOUT_ANSWERED
#define IS_DONE(lap)	((lap) == done)
#else
#define IS_DONE(lap)	false
#endif
#ifndef WITHOUT_TID
#define ANSWERS(lap)	((lap) == asked)
#else
#define ANSWERS(lap)	true
#endif

byte lap[2];		/* ib_cm_id.lap_state */
byte path[2];		/* that is loaded: the LAP that asked for it */
byte asked;		/* the last LAP sent */
byte waits;		/* LAPs of whose outcome the consumer has not heard */
byte now;		/* the last LAP received */
byte done;		/* the last one answered, */
bool yes;		/* and how */
bool owed;		/* the passive consumer answers later */
bool nlap[3], napr[6], nmra;	/* on their way */

#define LAP_IS_IDLE(i)	(lap[i] == IB_CM_LAP_UNINIT || lap[i] == IB_CM_LAP_IDLE)
#define LAP_IS_OUT(i)	(lap[i] == IB_CM_LAP_SENT || lap[i] == IB_CM_MRA_LAP_RCVD)
#define LAP_IS_OWED(i)	(lap[i] == IB_CM_LAP_RCVD || lap[i] == IB_CM_MRA_LAP_SENT)

/* At the end of the connection; the consumer hears of that alone. */
#define LAP_ENDS(i)	lap_ends(i);
#define LAP_OVER(i)	owed = (i == P -> false : owed);
#define LAP_SETTLED(i)	LAP_IS_IDLE(i)
#define LAP_RESTS(i)	(i == A || !owed)
#define NO_LAP_TO(i)	((i) == P -> !(nlap[1] || nlap[2]) : \
			 !(nmra || napr[2] || napr[3] || napr[4] || napr[5]))
#define LAP_FAILED(i)							\
	:: !ok && what == IBCM_SEND_FAILED ->				\
		lap_step(i, IBCM_LAP_SEND_FAILED);			\
		tell = (ok -> ibcm_lap_event[at] : tell)
#define LAP_RESENT(i)							\
	:: msg[i] == LAP ->						\
		CHECK(CLEAN, state[i] == IB_CM_ESTABLISHED && LAP_IS_OUT(i));	\
		lap_send(asked)
#define LAP_IN(i, side, there)	i == side && !dying[i] && !pend_est[i] && there
#define LAP_NEXT(i)							\
	:: LAP_IN(i, P, nlap[1]) -> what = LAP_RX + 1			\
	:: LAP_IN(i, P, nlap[2]) -> what = LAP_RX + 2			\
	:: LAP_IN(i, A, nmra) -> what = LAP_RX_MRA			\
	:: LAP_IN(i, A, napr[2]) -> what = APR_RX + 2			\
	:: LAP_IN(i, A, napr[3]) -> what = APR_RX + 3			\
	:: LAP_IN(i, A, napr[4]) -> what = APR_RX + 4			\
	:: LAP_IN(i, A, napr[5]) -> what = APR_RX + 5
#define LAP_PROCESS(i)	:: what > LAP_RX -> lap_process(i)
#define LAP_ORPHAN(i)							\
	:: atomic { i == P && gone[P] && nlap[1] -> lap_arrived(1); apr_send(1, 0) } \
	:: atomic { i == P && gone[P] && nlap[2] -> lap_arrived(2); apr_send(2, 0) }
#define LAP_TOLD(i, e)	lap_told(i, e);
#define LAP_DISCARD(i)	; lap_discard(i)
#define LAP_CALLS(i)							\
	:: atomic {							\
		i == A && asked < LAPS && conn[A] == UP && !dying[A] &&	\
		LAP_IS_IDLE(A) ->					\
		lap_step(A, IBCM_LAP_TX_LAP);				\
		if							\
		:: ok ->						\
			asked++;					\
			waits++;					\
			msg[A] = LAP;					\
			tries[A] = 1;					\
			lap_send(asked)					\
		:: else -> asked = LAPS					\
		fi;							\
		at = 0;							\
		ok = false						\
	   }								\
	:: atomic {							\
		i == P && owed && !dying[P] ->				\
		owed = false;						\
		lap_answer(true);					\
		at = 0;							\
		ok = false						\
	   }
#else
#define LAP_ENDS(i)
#define LAP_OVER(i)
#define LAP_SETTLED(i)	true
#define LAP_RESTS(i)	true
#define NO_LAP_TO(i)	true
#define LAP_FAILED(i)
#define LAP_RESENT(i)
#define LAP_NEXT(i)
#define LAP_PROCESS(i)
#define LAP_ORPHAN(i)
#define LAP_TOLD(i, e)
#define LAP_DISCARD(i)
#define LAP_CALLS(i)
#endif
