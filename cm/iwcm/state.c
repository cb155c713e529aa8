// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state machine of an iWARP CM id, as a table: the provider's reports of the MPA
 * connection set-up (RFC 5044), and the consumer's calls.  If a cell is not filled in,
 * the provider's event is ignored, or the consumer's call fails.
 */
#include "iwcm.h"

#define STEP(n, t, f) \
	{ .next = IWCM_##n, .tell = (t), .flags = IWCM_F_VALID | (f) }
#define GO(n, f)	STEP(n, 0, f)
#define TELL(n, e, f)	STEP(n, IW_CM_EVENT_##e, f)

static const struct iwcm_step iwcm_steps[IWCM_STATES][IWCM_EVENTS] = {
	[IWCM_IDLE] = {
		[IWCM_DO_LISTEN]	= GO(LISTEN, 0),
		[IWCM_DO_CONNECT]	= GO(CONN_SENT, 0),
		[IWCM_DO_DISCONNECT]	= GO(IDLE, 0),
		[IWCM_DO_RESET]		= GO(IDLE, 0),
		[IWCM_DO_SET_UP_QP]	= GO(IDLE, 0),
		[IWCM_DO_DESTROY]	= GO(IDLE, 0),
	},
	[IWCM_LISTEN] = {
		[IWCM_EV_REQUEST]	= GO(LISTEN, 0),
		[IWCM_FAILED]		= GO(IDLE, 0),
		[IWCM_DO_DESTROY]	= GO(IDLE, IWCM_F_UNLISTEN),
	},
	[IWCM_CONN_RECV] = {
		[IWCM_EV_CLOSE]		= TELL(IDLE, CLOSE, 0),
		[IWCM_DO_ACCEPT]	= GO(ACCEPTING, 0),
		[IWCM_DO_REJECT]	= GO(IDLE, IWCM_F_REJECT),
		[IWCM_DO_SET_UP_QP]	= GO(CONN_RECV, 0),
		[IWCM_DO_DESTROY]	= GO(IDLE, IWCM_F_REJECT),
	},
	[IWCM_ACCEPTING] = {
		[IWCM_EV_ESTABLISHED]	= TELL(ESTABLISHED, ESTABLISHED, 0),
		[IWCM_EV_ESTABLISHED_ERR] = TELL(IDLE, CLOSE, IWCM_F_PUT_QP),
		[IWCM_EV_CLOSE]		= TELL(IDLE, CLOSE, IWCM_F_PUT_QP),
		[IWCM_FAILED]		= GO(IDLE, IWCM_F_PUT_QP),
		[IWCM_DO_SET_UP_QP]	= GO(ACCEPTING, 0),
		[IWCM_DO_DESTROY]	= GO(IDLE, IWCM_F_PUT_QP | IWCM_F_ABORT),
	},
	[IWCM_CONN_SENT] = {
		[IWCM_EV_REPLY]		= TELL(ESTABLISHED, CONNECT_REPLY, 0),
		[IWCM_EV_REPLY_ERR]	= TELL(IDLE, CONNECT_REPLY, IWCM_F_PUT_QP),
		[IWCM_EV_CLOSE]		= TELL(IDLE, CLOSE, IWCM_F_PUT_QP),
		[IWCM_FAILED]		= GO(IDLE, IWCM_F_PUT_QP),
		[IWCM_DO_SET_UP_QP]	= GO(CONN_SENT, 0),
		[IWCM_DO_DESTROY]	= GO(IDLE, IWCM_F_PUT_QP | IWCM_F_ABORT),
	},
	[IWCM_ESTABLISHED] = {
		[IWCM_EV_DISCONNECT]	= GO(CLOSING, 0),
		[IWCM_EV_CLOSE]		= TELL(IDLE, CLOSE, IWCM_F_PUT_QP),
		[IWCM_FAILED]		= GO(IDLE, IWCM_F_PUT_QP),
		[IWCM_DO_DISCONNECT]	= GO(CLOSING, IWCM_F_CLOSE),
		[IWCM_DO_RESET]		= GO(CLOSING, IWCM_F_ABORT),
		[IWCM_DO_SET_UP_QP]	= GO(ESTABLISHED, 0),
		[IWCM_DO_DESTROY]	= GO(IDLE, IWCM_F_PUT_QP | IWCM_F_ABORT),
	},
	[IWCM_CLOSING] = {
		[IWCM_EV_DISCONNECT]	= GO(CLOSING, 0),
		[IWCM_EV_CLOSE]		= TELL(IDLE, CLOSE, IWCM_F_PUT_QP),
		[IWCM_FAILED]		= GO(IDLE, IWCM_F_PUT_QP),
		[IWCM_DO_DISCONNECT]	= GO(CLOSING, 0),
		[IWCM_DO_RESET]		= GO(CLOSING, IWCM_F_ABORT),
		[IWCM_DO_DESTROY]	= GO(IDLE, IWCM_F_PUT_QP),
	},
};

/* Returns the cell for @event in @state, or NULL if it is not expected there. */
const struct iwcm_step *iwcm_step_of(enum iwcm_state state,
				     enum iwcm_event event)
{
	const struct iwcm_step *step;

	if (state >= IWCM_STATES || event >= IWCM_EVENTS)
		return NULL;
	step = &iwcm_steps[state][event];
	return step->flags & IWCM_F_VALID ? step : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(iwcm_step_of);

const struct iwcm_step *iwcm_step(struct iwcm_id *id, enum iwcm_event event,
				  struct ib_qp **qp)
{
	const struct iwcm_step *step = iwcm_step_of(id->state, event);

	lockdep_assert_held(&id->lock);
	*qp = NULL;
	if (!step)
		return NULL;
	id->state = step->next;
	if (step->flags & IWCM_F_PUT_QP)
		swap(*qp, id->qp);
	return step;
}
