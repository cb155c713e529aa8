// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state machine of one communication id (IBA vol. 1, 12.9), as a table.
 *
 * A cell that is not filled in means that the event is not expected in that
 * state: a message is dropped and counted, a call of the consumer fails.
 * Duplicates have cells of their own, since most of them must be answered.
 *
 * Where this is more definite than the specification:
 *  - A DREQ that arrives while the REP is unanswered proves that the peer has sent
 *    its RTU.  The consumer is notified that the connection was established, then
 *    that it ends.
 *  - An id whose REQ or REP is never answered sends a REJ (timeout), so that the
 *    peer need not wait for its own timers.
 *  - An unanswered REP may have been received, and the peer may send to the QP.  So
 *    the id goes into timewait (12.9.8.4), not to IDLE.
 *  - An XRC target QP exists as long as its domain (annex A14), whatever id accepted
 *    the connection.  Destroying that id does not end an established connection; a
 *    DREQ of the initiator is then answered without the id.
 *  - A DREQ that is resent after timewait is still answered, whether the consumer
 *    has destroyed the id or not: the DREP was lost, and the peer would resend the
 *    DREQ until its retries are used up.
 *  - COMM_EST changes the state at once, in the context in which it is reported.
 *    The id's work notifies the consumer, before any later event.  Until then the
 *    REP stays outstanding; destroying the id cancels it.
 *  - A LAP is the outstanding request of an ESTABLISHED id.  Whatever ends the
 *    connection ends the LAP, and the consumer is notified only of the end.
 */
#include "ibcm/id.h"
#include "messages/messages.h"

#define STEP(n, e, f, r)						\
	{ .next = IB_CM_##n, .event = (e), .flags = IBCM_F_VALID | (f),	\
	  .reply = IBCM_REPLY_##r }
#define GO(n)			STEP(n, IBCM_NO_EVENT, 0, NONE)
#define TELL(n, e)		STEP(n, IB_CM_##e, 0, NONE)
#define ANSWERED(n, e)		STEP(n, IB_CM_##e, IBCM_F_CANCEL, NONE)
#define DUPLICATE(n, r)		STEP(n, IBCM_NO_EVENT, IBCM_F_DUP, r)
#define LEAVE(n, f, r)		STEP(n, IBCM_NO_EVENT, f, r)
#define FAILED(n, e, r)		STEP(n, IB_CM_##e, 0, r)
/* Back to where the step came from that led to @n: ibcm_step_failed() knows it. */
#define BACK(n)			GO(n)

/* One row for each state; within a row, cells are in the order of enum ibcm_event. */
static const struct ibcm_step ibcm_steps[IBCM_STATES][IBCM_EVENTS] = {
	[IB_CM_IDLE] = {
		[IBCM_RX_REQ]		= TELL(REQ_RCVD, REQ_RECEIVED),
		[IBCM_RX_DREQ]		= DUPLICATE(IDLE, DREP),
		[IBCM_RX_SIDR_REQ]	= TELL(SIDR_REQ_RCVD, SIDR_REQ_RECEIVED),
		[IBCM_TX_REQ]		= GO(REQ_SENT),
		[IBCM_TX_SIDR_REQ]	= GO(SIDR_REQ_SENT),
		[IBCM_DO_LISTEN]	= GO(LISTEN),
		[IBCM_DO_DESTROY]	= GO(IDLE),
		[IBCM_TX_FAILED]	= BACK(IDLE),
	},
	[IB_CM_LISTEN] = {
		[IBCM_DO_DESTROY]	= GO(IDLE),
		[IBCM_TX_FAILED]	= BACK(LISTEN),
	},

	/* Active side */
	[IB_CM_REQ_SENT] = {
		[IBCM_RX_MRA_REQ]	= STEP(MRA_REQ_RCVD, IB_CM_MRA_RECEIVED,
					       IBCM_F_EXTEND, NONE),
		[IBCM_RX_REJ]		= ANSWERED(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= ANSWERED(IDLE, REJ_RECEIVED),
		[IBCM_RX_REP]		= ANSWERED(REP_RCVD, REP_RECEIVED),
		[IBCM_TX_REJ]		= LEAVE(IDLE, IBCM_F_CANCEL, NONE),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, IBCM_F_CANCEL, REJ_TIMEOUT),
		[IBCM_SEND_FAILED]	= FAILED(IDLE, REQ_ERROR, REJ_TIMEOUT),
		[IBCM_TX_FAILED]	= BACK(REQ_SENT),
	},
	[IB_CM_MRA_REQ_RCVD] = {
		[IBCM_RX_MRA_REQ]	= DUPLICATE(MRA_REQ_RCVD, NONE),
		[IBCM_RX_REJ]		= ANSWERED(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= ANSWERED(IDLE, REJ_RECEIVED),
		[IBCM_RX_REP]		= ANSWERED(REP_RCVD, REP_RECEIVED),
		[IBCM_TX_REJ]		= LEAVE(IDLE, IBCM_F_CANCEL, NONE),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, IBCM_F_CANCEL, REJ_TIMEOUT),
		[IBCM_SEND_FAILED]	= FAILED(IDLE, REQ_ERROR, REJ_TIMEOUT),
	},
	[IB_CM_REP_RCVD] = {
		[IBCM_RX_MRA_REQ]	= DUPLICATE(REP_RCVD, NONE),
		[IBCM_RX_REJ]		= TELL(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= TELL(IDLE, REJ_RECEIVED),
		[IBCM_RX_REP]		= DUPLICATE(REP_RCVD, NONE),
		[IBCM_TX_MRA]		= GO(MRA_REP_SENT),
		[IBCM_TX_REJ]		= GO(IDLE),
		[IBCM_TX_RTU]		= GO(ESTABLISHED),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, 0, REJ_CONSUMER),
	},
	[IB_CM_MRA_REP_SENT] = {
		[IBCM_RX_MRA_REQ]	= DUPLICATE(MRA_REP_SENT, NONE),
		[IBCM_RX_REJ]		= TELL(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= TELL(IDLE, REJ_RECEIVED),
		[IBCM_RX_REP]		= DUPLICATE(MRA_REP_SENT, MRA_REP),
		[IBCM_TX_REJ]		= GO(IDLE),
		[IBCM_TX_RTU]		= GO(ESTABLISHED),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, 0, REJ_CONSUMER),
		[IBCM_TX_FAILED]	= BACK(MRA_REP_SENT),
	},

	/* Passive side */
	[IB_CM_REQ_RCVD] = {
		[IBCM_RX_REQ]		= DUPLICATE(REQ_RCVD, NONE),
		[IBCM_RX_REJ]		= TELL(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= TELL(IDLE, REJ_RECEIVED),
		[IBCM_TX_MRA]		= GO(MRA_REQ_SENT),
		[IBCM_TX_REJ]		= GO(IDLE),
		[IBCM_TX_REP]		= GO(REP_SENT),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, 0, REJ_CONSUMER),
	},
	[IB_CM_MRA_REQ_SENT] = {
		[IBCM_RX_REQ]		= DUPLICATE(MRA_REQ_SENT, MRA_REQ),
		[IBCM_RX_REJ]		= TELL(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= TELL(IDLE, REJ_RECEIVED),
		[IBCM_TX_REJ]		= GO(IDLE),
		[IBCM_TX_REP]		= GO(REP_SENT),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, 0, REJ_CONSUMER),
		[IBCM_TX_FAILED]	= BACK(MRA_REQ_SENT),
	},
	[IB_CM_REP_SENT] = {
		[IBCM_RX_REQ]		= DUPLICATE(REP_SENT, REP),
		[IBCM_RX_MRA_REP]	= STEP(MRA_REP_RCVD, IB_CM_MRA_RECEIVED,
					       IBCM_F_EXTEND, NONE),
		[IBCM_RX_REJ]		= ANSWERED(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= ANSWERED(TIMEWAIT, REJ_RECEIVED),
		[IBCM_RX_RTU]		= ANSWERED(ESTABLISHED, RTU_RECEIVED),
		[IBCM_RX_DREQ]		= STEP(DREQ_RCVD, IB_CM_DREQ_RECEIVED,
					       IBCM_F_CANCEL | IBCM_F_EST, NONE),
		[IBCM_TX_REJ]		= LEAVE(TIMEWAIT, IBCM_F_CANCEL, NONE),
		[IBCM_DO_DESTROY]	= LEAVE(TIMEWAIT, IBCM_F_CANCEL, REJ_CONSUMER),
		[IBCM_COMM_EST]		= GO(ESTABLISHED),
		[IBCM_SEND_FAILED]	= FAILED(TIMEWAIT, REP_ERROR, REJ_TIMEOUT),
		[IBCM_STALE]		= ANSWERED(TIMEWAIT, REP_ERROR),
		[IBCM_TX_FAILED]	= BACK(REP_SENT),
	},
	[IB_CM_MRA_REP_RCVD] = {
		[IBCM_RX_REQ]		= DUPLICATE(MRA_REP_RCVD, NONE),
		[IBCM_RX_MRA_REP]	= DUPLICATE(MRA_REP_RCVD, NONE),
		[IBCM_RX_REJ]		= ANSWERED(IDLE, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= ANSWERED(TIMEWAIT, REJ_RECEIVED),
		[IBCM_RX_RTU]		= ANSWERED(ESTABLISHED, RTU_RECEIVED),
		[IBCM_RX_DREQ]		= STEP(DREQ_RCVD, IB_CM_DREQ_RECEIVED,
					       IBCM_F_CANCEL | IBCM_F_EST, NONE),
		[IBCM_TX_REJ]		= LEAVE(TIMEWAIT, IBCM_F_CANCEL, NONE),
		[IBCM_DO_DESTROY]	= LEAVE(TIMEWAIT, IBCM_F_CANCEL, REJ_CONSUMER),
		[IBCM_COMM_EST]		= GO(ESTABLISHED),
		[IBCM_SEND_FAILED]	= FAILED(TIMEWAIT, REP_ERROR, REJ_TIMEOUT),
		[IBCM_STALE]		= ANSWERED(TIMEWAIT, REP_ERROR),
	},

	/* Both sides */
	[IB_CM_ESTABLISHED] = {
		[IBCM_RX_REQ]		= DUPLICATE(ESTABLISHED, NONE),
		[IBCM_RX_MRA_REQ]	= DUPLICATE(ESTABLISHED, NONE),
		[IBCM_RX_MRA_REP]	= DUPLICATE(ESTABLISHED, NONE),
		[IBCM_RX_REJ]		= ANSWERED(TIMEWAIT, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= ANSWERED(TIMEWAIT, REJ_RECEIVED),
		[IBCM_RX_REP]		= DUPLICATE(ESTABLISHED, RTU),
		[IBCM_RX_RTU]		= DUPLICATE(ESTABLISHED, NONE),
		[IBCM_RX_DREQ]		= ANSWERED(DREQ_RCVD, DREQ_RECEIVED),
		[IBCM_TX_DREQ]		= GO(DREQ_SENT),
		[IBCM_DO_DESTROY]	= LEAVE(TIMEWAIT, IBCM_F_CANCEL, DREQ),
		[IBCM_DO_LEAVE]		= LEAVE(IDLE, IBCM_F_CANCEL, NONE),
		[IBCM_TX_FAILED]	= BACK(ESTABLISHED),
	},
	[IB_CM_DREQ_SENT] = {
		[IBCM_RX_REJ]		= ANSWERED(TIMEWAIT, REJ_RECEIVED),
		[IBCM_RX_REJ_STALE]	= ANSWERED(TIMEWAIT, REJ_RECEIVED),
		[IBCM_RX_RTU]		= DUPLICATE(DREQ_SENT, NONE),
		[IBCM_RX_DREQ]		= ANSWERED(DREQ_RCVD, DREQ_RECEIVED),
		[IBCM_RX_DREP]		= ANSWERED(TIMEWAIT, DREP_RECEIVED),
		[IBCM_DO_DESTROY]	= LEAVE(TIMEWAIT, IBCM_F_CANCEL, NONE),
		[IBCM_SEND_FAILED]	= FAILED(TIMEWAIT, DREQ_ERROR, NONE),
		[IBCM_TX_FAILED]	= BACK(DREQ_SENT),
	},
	[IB_CM_DREQ_RCVD] = {
		[IBCM_RX_RTU]		= DUPLICATE(DREQ_RCVD, NONE),
		[IBCM_RX_DREQ]		= DUPLICATE(DREQ_RCVD, NONE),
		[IBCM_RX_DREP]		= DUPLICATE(DREQ_RCVD, NONE),
		[IBCM_TX_DREP]		= GO(TIMEWAIT),
		[IBCM_DO_DESTROY]	= LEAVE(TIMEWAIT, IBCM_F_CANCEL, DREP),
	},
	[IB_CM_TIMEWAIT] = {
		[IBCM_RX_REQ]		= DUPLICATE(TIMEWAIT, REJ_STALE),
		[IBCM_RX_RTU]		= DUPLICATE(TIMEWAIT, NONE),
		[IBCM_RX_DREQ]		= DUPLICATE(TIMEWAIT, DREP),
		[IBCM_RX_DREP]		= DUPLICATE(TIMEWAIT, NONE),
		[IBCM_DO_DESTROY]	= GO(TIMEWAIT),
		[IBCM_TIMEWAIT_END]	= TELL(IDLE, TIMEWAIT_EXIT),
	},

	/* Service id resolution (12.11) */
	[IB_CM_SIDR_REQ_SENT] = {
		[IBCM_RX_SIDR_REP]	= ANSWERED(IDLE, SIDR_REP_RECEIVED),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, IBCM_F_CANCEL, NONE),
		[IBCM_SEND_FAILED]	= FAILED(IDLE, SIDR_REQ_ERROR, NONE),
		[IBCM_TX_FAILED]	= BACK(SIDR_REQ_SENT),
	},
	[IB_CM_SIDR_REQ_RCVD] = {
		[IBCM_TX_SIDR_REP]	= GO(IDLE),
		[IBCM_DO_DESTROY]	= LEAVE(IDLE, 0, SIDR_REJECT),
	},
};

/*
 * The alternate path of an ESTABLISHED connection (12.8).  The active side sends LAPs.  One
 * that the passive side sends, which the specification does not provide for, is answered
 * like any other unless a LAP of this id is outstanding.  UNINIT and IDLE differ only for
 * who reads ib_cm_id.lap_state: in IDLE the alternate path was changed or used.
 *
 * A LAP that differs from the one that is not answered yet is dropped: the peer, which has
 * given up that one, resends the new one until it is taken.
 */
static const struct ibcm_step ibcm_lap_steps[IBCM_LAP_STATES][IBCM_LAP_EVENTS] = {
	[IB_CM_LAP_UNINIT] = {
		[IBCM_LAP_RX_LAP]	= TELL(LAP_RCVD, LAP_RECEIVED),
		[IBCM_LAP_RX_ANSWERED]	= DUPLICATE(LAP_UNINIT, LAP),
		[IBCM_LAP_TX_LAP]	= GO(LAP_SENT),
		[IBCM_LAP_MIGRATED]	= GO(LAP_IDLE),
		[IBCM_LAP_ENDS]		= GO(LAP_UNINIT),
	},
	[IB_CM_LAP_IDLE] = {
		[IBCM_LAP_RX_LAP]	= TELL(LAP_RCVD, LAP_RECEIVED),
		[IBCM_LAP_RX_ANSWERED]	= DUPLICATE(LAP_IDLE, LAP),
		[IBCM_LAP_RX_MRA]	= DUPLICATE(LAP_IDLE, NONE),
		[IBCM_LAP_RX_APR]	= DUPLICATE(LAP_IDLE, NONE),
		[IBCM_LAP_TX_LAP]	= GO(LAP_SENT),
		[IBCM_LAP_MIGRATED]	= GO(LAP_IDLE),
		[IBCM_LAP_ENDS]		= GO(LAP_UNINIT),
	},

	/* The side that sends the LAP */
	[IB_CM_LAP_SENT] = {
		[IBCM_LAP_RX_MRA]	= STEP(MRA_LAP_RCVD, IB_CM_MRA_RECEIVED,
					       IBCM_F_EXTEND, NONE),
		[IBCM_LAP_RX_APR]	= ANSWERED(LAP_IDLE, APR_RECEIVED),
		[IBCM_LAP_MIGRATED]	= GO(LAP_SENT),
		[IBCM_LAP_SEND_FAILED]	= FAILED(LAP_IDLE, LAP_ERROR, NONE),
		[IBCM_LAP_TX_FAILED]	= GO(LAP_IDLE),
		[IBCM_LAP_ENDS]		= GO(LAP_UNINIT),
	},
	[IB_CM_MRA_LAP_RCVD] = {
		[IBCM_LAP_RX_MRA]	= DUPLICATE(MRA_LAP_RCVD, NONE),
		[IBCM_LAP_RX_APR]	= ANSWERED(LAP_IDLE, APR_RECEIVED),
		[IBCM_LAP_MIGRATED]	= GO(MRA_LAP_RCVD),
		[IBCM_LAP_SEND_FAILED]	= FAILED(LAP_IDLE, LAP_ERROR, NONE),
		[IBCM_LAP_ENDS]		= GO(LAP_UNINIT),
	},

	/* The side that answers it */
	[IB_CM_LAP_RCVD] = {
		[IBCM_LAP_RX_AGAIN]	= DUPLICATE(LAP_RCVD, NONE),
		[IBCM_LAP_TX_MRA]	= GO(MRA_LAP_SENT),
		[IBCM_LAP_TX_APR]	= GO(LAP_IDLE),
		[IBCM_LAP_MIGRATED]	= GO(LAP_RCVD),
		[IBCM_LAP_ENDS]		= GO(LAP_UNINIT),
	},
	[IB_CM_MRA_LAP_SENT] = {
		[IBCM_LAP_RX_AGAIN]	= DUPLICATE(MRA_LAP_SENT, LAP),
		[IBCM_LAP_TX_APR]	= GO(LAP_IDLE),
		[IBCM_LAP_MIGRATED]	= GO(MRA_LAP_SENT),
		[IBCM_LAP_TX_FAILED]	= GO(LAP_RCVD),
		[IBCM_LAP_ENDS]		= GO(LAP_UNINIT),
	},
};

/* Returns the cell for @event in @state, or NULL if it is not expected there. */
const struct ibcm_step *ibcm_step_of(enum ib_cm_state state,
				     enum ibcm_event event)
{
	const struct ibcm_step *step;

	if (state >= IBCM_STATES || event >= IBCM_EVENTS)
		return NULL;
	step = &ibcm_steps[state][event];
	return step->flags & IBCM_F_VALID ? step : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_step_of);

/*
 * Makes the transition for @event and does what entering its state requires; false if
 * the state has no such transition.  Sets @todo to what must be done after the lock is
 * dropped.
 */
bool ibcm_step(struct ibcm_id *id, enum ibcm_event event,
	       struct ibcm_todo *todo)
{
	const struct ibcm_step *step = ibcm_step_of(id->id.state, event);
	struct ibcm_todo lap;

	lockdep_assert_held(&id->lock);
	*todo = (struct ibcm_todo){ .step = step, .from = id->id.state };
	if (!step)
		return false;

	if (step->flags & IBCM_F_CANCEL)
		todo->stop = ibcm_msg_detach(id);
	/*
	 * A destroyed idle id is still hashed if its REQ was refused before the consumer
	 * was notified: then ibcm_peer_forget() must follow.
	 */
	if (step->next == id->id.state &&
	    (step->next != IB_CM_IDLE || event != IBCM_DO_DESTROY))
		return true;

	if (id->id.state == IB_CM_ESTABLISHED)
		ibcm_lap_step(id, IBCM_LAP_ENDS, &lap);
	id->id.state = step->next;
	switch (step->next) {
	case IB_CM_TIMEWAIT:
		ibcm_timewait_begin(id);
		fallthrough;
	case IB_CM_DREQ_SENT:
	case IB_CM_DREQ_RCVD:
		/* The private data of an RTU or MRA must not be sent in a DREP. */
		ibcm_answer_set(id, NULL, 0);
		break;
	case IB_CM_IDLE:
		ibcm_peer_forget(id);
		ibcm_sidr_unhash(id);
		break;
	default:
		break;
	}
	return true;
}

struct ibcm_msg *ibcm_step_failed(struct ibcm_id *id, const struct ibcm_todo *todo)
{
	struct ibcm_msg *stop = NULL;
	struct ibcm_todo lap;

	lockdep_assert_held(&id->lock);
	if (id->id.state != todo->step->next ||
	    !ibcm_step_of(id->id.state, IBCM_TX_FAILED))
		return NULL;
	if (ibcm_lap_step(id, IBCM_LAP_ENDS, &lap))
		stop = ibcm_msg_detach(id);
	id->id.state = todo->from;
	if (todo->from == IB_CM_IDLE)
		ibcm_peer_forget(id);
	return stop;
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_step_failed);

/* Returns the cell for @event in @state, or NULL if it is not expected there. */
const struct ibcm_step *ibcm_lap_step_of(enum ib_cm_lap_state state,
					 enum ibcm_lap_event event)
{
	const struct ibcm_step *step;

	if (state >= IBCM_LAP_STATES || event >= IBCM_LAP_EVENTS)
		return NULL;
	step = &ibcm_lap_steps[state][event];
	return step->flags & IBCM_F_VALID ? step : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_lap_step_of);

/* Like ibcm_step(), for the alternate path; false if the connection is not ESTABLISHED. */
bool ibcm_lap_step(struct ibcm_id *id, enum ibcm_lap_event event,
		   struct ibcm_todo *todo)
{
	const struct ibcm_step *step = NULL;

	lockdep_assert_held(&id->lock);
	if (id->id.state == IB_CM_ESTABLISHED)
		step = ibcm_lap_step_of(id->id.lap_state, event);
	*todo = (struct ibcm_todo){ .step = step, .from = id->id.state };
	if (!step)
		return false;
	if (step->flags & IBCM_F_CANCEL)
		todo->stop = ibcm_msg_detach(id);
	id->id.lap_state = step->next;
	return true;
}

static void ibcm_reply(struct ibcm_id *id, enum ibcm_reply reply)
{
	switch (reply) {
	case IBCM_REPLY_NONE:
		break;
	case IBCM_REPLY_MRA_REQ:
		ibcm_send_mra(id, IBCM_FIELD_REQ);
		break;
	case IBCM_REPLY_MRA_REP:
		ibcm_send_mra(id, IBCM_FIELD_REP);
		break;
	case IBCM_REPLY_REP:
		ibcm_send_rep_again(id);
		break;
	case IBCM_REPLY_RTU:
		ibcm_send_rtu_again(id);
		break;
	case IBCM_REPLY_DREQ:
		/* ibcm_dreq_last() sends it. */
		break;
	case IBCM_REPLY_DREP:
		ibcm_send_drep(id);
		break;
	case IBCM_REPLY_REJ_STALE:
		ibcm_send_rej(id, IBCM_FIELD_REQ, IB_CM_REJ_STALE_CONN, NULL, 0);
		break;
	case IBCM_REPLY_REJ_TIMEOUT:
		ibcm_send_rej_timeout(id);
		break;
	case IBCM_REPLY_REJ_CONSUMER:
		ibcm_send_rej(id, id->active ? IBCM_FIELD_REP : IBCM_FIELD_REQ,
			      IB_CM_REJ_CONSUMER_DEFINED, NULL, 0);
		break;
	case IBCM_REPLY_SIDR_REJECT:
		ibcm_sidr_reject(id);
		break;
	case IBCM_REPLY_LAP:
		ibcm_send_lap_answer(id);
		break;
	}
}

void ibcm_step_finish(struct ibcm_id *id, const struct ibcm_todo *todo)
{
	ibcm_msg_stop(todo->stop);
	if (todo->step)
		ibcm_reply(id, todo->step->reply);
}
