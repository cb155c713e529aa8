// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests that this host sends to itself.
 *
 * Anyone on the network can forge what a request says of its sender.  But in a request
 * that this host has sent, the sender's communication id is that of a local id which
 * waits for the reply.
 */
#include <ibex/cm.h>

#include "ibcm/id.h"

#define IBCM_24_BITS	0xffffff	/* of QP numbers and PSNs on the wire */

/* Whether @sender waits for the reply to the request for which @id was created. */
static bool ibcm_waits_for(const struct ibcm_id *sender,
			   const struct ibcm_id *id)
{
	bool sidr = READ_ONCE(id->id.state) == IB_CM_SIDR_REQ_RCVD;

	lockdep_assert_held(&sender->lock);
	if (sender->dying || sender->tid != id->tid)
		return false;
	switch (sender->id.state) {
	case IB_CM_SIDR_REQ_SENT:
		return sidr;
	case IB_CM_REQ_SENT:
	case IB_CM_MRA_REQ_RCVD:
		return !sidr &&
		       !((sender->local_qpn ^ id->remote_qpn) & IBCM_24_BITS) &&
		       !((sender->rq_psn ^ id->sq_psn) & IBCM_24_BITS);
	default:
		return false;
	}
}

/**
 * ib_cm_sent_here - whether a request comes from this host
 * @cm_id: The id whose handler is being called with IB_CM_REQ_RECEIVED or
 *	IB_CM_SIDR_REQ_RECEIVED, and calls this function.
 * @match: Returns whether @sender is the sender that the request names.  Called at
 *	most once, with interrupts disabled and under the sender's lock, so that the
 *	sender's destruction cannot return meanwhile.  Must only read.
 * @arg: Argument of @match.
 *
 * The remote communication id of the request must be that of a local id that waits for
 * the reply to a request with the same transaction id.  A REQ must also have that id's
 * QP number and PSN, which other hosts cannot know.
 *
 * Context: May sleep.
 *
 * Return: true if these conditions hold and @match returns true.
 */
bool ib_cm_sent_here(struct ib_cm_id *cm_id,
		     bool (*match)(const struct ib_cm_id *sender,
				   const void *arg),
		     const void *arg)
{
	struct ibcm_id *sender = ibcm_id_find(cm_id->remote_id);
	struct ibcm_id *id = to_ibcm(cm_id);
	bool ok;

	if (!sender)
		return false;
	spin_lock_irq(&sender->lock);
	ok = ibcm_waits_for(sender, id) && match(&sender->id, arg);
	spin_unlock_irq(&sender->lock);
	ibcm_id_put(sender);
	return ok;
}
EXPORT_SYMBOL(ib_cm_sent_here);
