/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Steps of the alternate path, and messages about it; see lap.pml. */
#ifdef LAPS

/* ibcm_lap_step(); @at and @ok as for step(), of the other table. */
inline lap_step(i, e)
{
	d_step {
		at = lap[i] * IBCM_LAP_EVENTS + (e);
		ok = state[i] == IB_CM_ESTABLISHED &&
		     (ibcm_lap_flags[at] & IBCM_F_VALID);
		if
		:: ok ->
			printf("side%d: L%d, K%d -> L%d\n", i, lap[i], e,
			       ibcm_lap_next[at])
		:: else -> printf("side%d: L%d, K%d: not expected\n", i, lap[i], e)
		fi;
		if
		:: ok && (ibcm_lap_flags[at] & IBCM_F_CANCEL) -> detach(i)
		:: else
		fi;
		lap[i] = (ok -> ibcm_lap_next[at] : lap[i])
	}
}

/* In ibcm_step(), within a d_step: the connection leaves ESTABLISHED. */
inline lap_ends(i)
{
	if
	:: state[i] == IB_CM_ESTABLISHED &&
	   (ibcm_lap_flags[lap[i] * IBCM_LAP_EVENTS + IBCM_LAP_ENDS] & IBCM_F_VALID) ->
		lap[i] = ibcm_lap_next[lap[i] * IBCM_LAP_EVENTS + IBCM_LAP_ENDS]
	:: else
	fi
}

#define LAP_HEARS(i)	(!gone[i] && state[i] != IB_CM_IDLE)

inline lap_send(t)
{
	if
	:: printf("LAP %d is lost\n", t)
	:: !nlap[t] -> nlap[t] = true; printf("LAP %d is on its way\n", t)
	fi
}

inline apr_send(t, y)
{
	if
	:: printf("APR of LAP %d is lost\n", t)
	:: LAP_HEARS(A) && !napr[APR(t, y)] ->
		napr[APR(t, y)] = true;
		printf("APR of LAP %d is on its way: %d\n", t, y)
	fi
}

inline mra_send()
{
	if
	:: printf("MRA of a LAP is lost\n")
	:: LAP_HEARS(A) && !nmra -> nmra = true
	fi
}

/* The active id is idle or has gone. */
inline lap_discard(i)
{
	nmra = (i == A -> false : nmra);
	napr[2] = (i == A -> false : napr[2]);
	napr[3] = (i == A -> false : napr[3]);
	napr[4] = (i == A -> false : napr[4]);
	napr[5] = (i == A -> false : napr[5])
}

inline lap_arrived(t)
{
	if
	:: nlap[t] = false
	:: copies > 0 -> copies--; printf("LAP %d is duplicated\n", t)
	fi
}

/* The consumer loads the path first; the APR is then repeated for copies of the LAP. */
inline lap_answer(y)
{
	lap_step(P, IBCM_LAP_TX_APR);
	if
	:: ok ->
		if
		:: y -> CHECK(PATH, now > path[P]); path[P] = now
		:: else
		fi;
		done = now;
		yes = y;
		apr_send(now, y)
	:: else
	fi
}

/* The consumer hears of a LAP, or what became of its own. */
inline lap_told(i, e)
{
	if
	:: e == IB_CM_LAP_RECEIVED ->
		if
		:: lap_answer(true)
		:: lap_answer(false)
		:: lap_step(P, IBCM_LAP_TX_MRA);
		   owed = ok && !dying[P];
		   if
		   :: ok -> mra_send()
		   :: else
		   fi
		fi;
		at = 0;
		ok = false
	:: e == IB_CM_APR_RECEIVED || e == IB_CM_LAP_ERROR ->
		CHECK(ONCE, waits > 0);
		CHECK(ORDER, conn[A] != OVER);
		waits--
	:: else
	fi
}

/* ibcm_rx_lap(), in the order of ibcm_lap_event() */
inline lap_received(t)
{
	lap_arrived(t);
	if
	:: LAP_IS_OWED(P) && t == now -> lap_step(P, IBCM_LAP_RX_AGAIN)
	:: else ->
		if
		:: IS_DONE(t) -> lap_step(P, IBCM_LAP_RX_ANSWERED)
		:: !IS_DONE(t) && SEEN(t)
		:: else -> lap_step(P, IBCM_LAP_RX_LAP)
		fi
	fi;
	if
	:: ok && ibcm_lap_reply[at] == IBCM_REPLY_LAP ->
		if
		:: lap[P] == IB_CM_MRA_LAP_SENT -> mra_send()
		:: else -> apr_send(done, yes)
		fi
	:: ok && ibcm_lap_event[at] == IB_CM_LAP_RECEIVED ->
		now = t;
		tell = ibcm_lap_event[at]
	:: else
	fi
}

/* ibcm_rx_apr() */
inline apr_received(t, y)
{
	if
	:: napr[APR(t, y)] = false
	:: copies > 0 -> copies--; printf("APR of LAP %d is duplicated\n", t)
	fi;
	if
	:: ANSWERS(t) -> lap_step(A, IBCM_LAP_RX_APR)
	:: else
	fi;
	if
	:: ok && ibcm_lap_event[at] != IBCM_NO_EVENT ->
		tell = ibcm_lap_event[at];
		if
		:: y -> path[A] = asked; CHECK(PATH, path[P] == asked)
		:: else
		fi
	:: else
	fi
}

inline lap_process(i)
{
	if
	:: what < LAP_RX_MRA -> lap_received(what - LAP_RX)
	:: what == LAP_RX_MRA ->
		nmra = false;
		lap_step(A, IBCM_LAP_RX_MRA);
		tell = (ok -> ibcm_lap_event[at] : tell)
	:: else -> apr_received((what - APR_RX) / 2, (what - APR_RX) % 2)
	fi
}
#endif
