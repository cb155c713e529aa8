/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_TRUNK_SESSION_H
#define VIB_TRUNK_SESSION_H

/*
 * The handshake of a trunk's two ends: which session the peer has, and whether the link may
 * be up.
 *
 * A peer is believed (PROVEN) once it has repeated our session: then it has heard us and is
 * where its address says.  Of one that has not, nothing is taken; it is told our session.
 * The link comes up when the peer is proven, and both ends are ready: both ports poll, and
 * each end hears the other.  An end that leaves UP for a reason of its own takes a new
 * session, so that the peer's link goes down as well, however quickly this one comes up.
 */
#include "trunk/wire.h"

enum vib_trunk_state {
	VIB_TRUNK_POLLING,	/* the peer is not there, or not any more */
	VIB_TRUNK_HEARD,	/* it is, but one of the ends is not ready */
	VIB_TRUNK_UP,		/* both are */
	VIB_TRUNK_STATES
};

enum vib_trunk_event {
	/* A HELLO ... */
	VIB_TRUNK_NEW,		/* from another session, which does not know ours */
	VIB_TRUNK_PROVEN,	/* from another session, which knows ours */
	VIB_TRUNK_PROVEN_READY,	/* the same, and both ends are ready */
	VIB_TRUNK_SAME,		/* from the peer's session, which does not know our present one */
	VIB_TRUNK_ECHO,		/* from the peer's session, which does */
	VIB_TRUNK_ECHO_READY,	/* the same, and both ends are ready */
	VIB_TRUNK_STALE,	/* from the peer's last session, or from our own */
	/* ... or what happens here */
	VIB_TRUNK_SILENT,	/* the peer has been silent for too long */
	VIB_TRUNK_LOCAL_DOWN,	/* our port is down */
	VIB_TRUNK_EVENTS
};

#define VIB_TRUNK_ADOPT		BIT(0)	/* the sender's session is the peer's */
#define VIB_TRUNK_RENEW		BIT(1)	/* take a new session */
#define VIB_TRUNK_LINK		BIT(2)	/* the link goes down, if it is up, then comes up */
#define VIB_TRUNK_UNLINK	BIT(3)	/* it goes down */
#define VIB_TRUNK_REPLY		BIT(4)	/* send a HELLO */
#define VIB_TRUNK_CHALLENGE	BIT(5)	/* send one to the sender's session */

struct vib_trunk_step {
	u8 next;		/* enum vib_trunk_state */
	u8 actions;
};

struct vib_trunk_session {
	u8 state;		/* enum vib_trunk_state */
	u64 own;
	u64 peer;		/* 0: none was ever heard */
	u64 last;		/* the peer's before that; 0: none */
};

/* What happens in @state at @event. */
const struct vib_trunk_step *vib_trunk_step(enum vib_trunk_state state,
					    enum vib_trunk_event event);
/* Which event a HELLO with @from and @to is.  @ready: both ends are. */
enum vib_trunk_event vib_trunk_classify(const struct vib_trunk_session *session, u64 from,
					u64 to, bool ready);
/* The session's part of @step: state, ADOPT of @from and RENEW. */
void vib_trunk_take_step(struct vib_trunk_session *session,
			 const struct vib_trunk_step *step, u64 from);
/* A new session: no peer, POLLING. */
void vib_trunk_session_init(struct vib_trunk_session *session);
/* Whether a message is from the peer's session to ours, and the link may be up. */
bool vib_trunk_is_of(const struct vib_trunk_session *session, u64 from, u64 to);

#endif
