// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The handshake of trunks as a table: state and event, next state and actions. */
#include <linux/random.h>
#include "trunk/session.h"

#define STEP(_event, _next, _actions)	\
	[VIB_TRUNK_##_event] = { VIB_TRUNK_##_next, _actions }
#define ADOPT		VIB_TRUNK_ADOPT
#define RENEW		VIB_TRUNK_RENEW
#define LINK		VIB_TRUNK_LINK
#define UNLINK		VIB_TRUNK_UNLINK
#define REPLY		VIB_TRUNK_REPLY
#define CHALLENGE	VIB_TRUNK_CHALLENGE

/*
 * In UP, a peer that is PROVEN has another session than before: its link has been down, so
 * ours goes down, too.  Our session stays, as the peer may be up with it already.
 */
static const struct vib_trunk_step steps[VIB_TRUNK_STATES][VIB_TRUNK_EVENTS] = {
	[VIB_TRUNK_POLLING] = {
		STEP(NEW, POLLING, CHALLENGE),
		STEP(PROVEN, HEARD, ADOPT | REPLY),
		STEP(PROVEN_READY, UP, ADOPT | LINK | REPLY),
		STEP(SAME, HEARD, REPLY),
		STEP(ECHO, HEARD, REPLY),
		STEP(ECHO_READY, UP, LINK | REPLY),
		STEP(STALE, POLLING, 0),
		STEP(SILENT, POLLING, 0),
		STEP(LOCAL_DOWN, POLLING, 0),
	},
	[VIB_TRUNK_HEARD] = {
		STEP(NEW, HEARD, CHALLENGE),
		STEP(PROVEN, HEARD, ADOPT | REPLY),
		STEP(PROVEN_READY, UP, ADOPT | LINK | REPLY),
		STEP(SAME, HEARD, REPLY),
		STEP(ECHO, HEARD, 0),
		STEP(ECHO_READY, UP, LINK | REPLY),
		STEP(STALE, HEARD, 0),
		STEP(SILENT, POLLING, RENEW),
		STEP(LOCAL_DOWN, HEARD, 0),
	},
	[VIB_TRUNK_UP] = {
		STEP(NEW, UP, CHALLENGE),
		STEP(PROVEN, HEARD, ADOPT | UNLINK | REPLY),
		STEP(PROVEN_READY, UP, ADOPT | LINK | REPLY),
		STEP(SAME, UP, 0),
		STEP(ECHO, HEARD, RENEW | UNLINK | REPLY),
		STEP(ECHO_READY, UP, 0),
		STEP(STALE, UP, 0),
		STEP(SILENT, POLLING, RENEW | UNLINK),
		STEP(LOCAL_DOWN, HEARD, RENEW | UNLINK | REPLY),
	},
};

const struct vib_trunk_step *vib_trunk_step(enum vib_trunk_state state,
					    enum vib_trunk_event event)
{
	return &steps[state][event];
}

enum vib_trunk_event vib_trunk_classify(const struct vib_trunk_session *session, u64 from,
					u64 to, bool ready)
{
	bool knows = to == session->own;

	if (from == session->own || (session->last && from == session->last))
		return VIB_TRUNK_STALE;
	if (session->peer && from == session->peer)
		return !knows ? VIB_TRUNK_SAME : ready ? VIB_TRUNK_ECHO_READY : VIB_TRUNK_ECHO;
	return !knows ? VIB_TRUNK_NEW : ready ? VIB_TRUNK_PROVEN_READY : VIB_TRUNK_PROVEN;
}

static u64 new_session(void)
{
	u64 session;

	do {
		session = get_random_u64();
	} while (!session);
	return session;
}

void vib_trunk_take_step(struct vib_trunk_session *session,
			 const struct vib_trunk_step *step, u64 from)
{
	if (step->actions & ADOPT) {
		session->last = session->peer;
		session->peer = from;
	}
	if (step->actions & RENEW)
		session->own = new_session();
	session->state = step->next;
}

void vib_trunk_session_init(struct vib_trunk_session *session)
{
	*session = (struct vib_trunk_session){ .own = new_session() };
}

bool vib_trunk_is_of(const struct vib_trunk_session *session, u64 from, u64 to)
{
	return session->state == VIB_TRUNK_UP && from == session->peer && to == session->own;
}
