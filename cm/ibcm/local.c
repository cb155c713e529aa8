// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests of this host to itself.
 *
 * What a request says of its sender anybody on the wire can write.  But one that
 * this host has sent names, as its sender's communication id, an id of ours that
 * waits for the answer.
 */
#include <ibex/cm.h>

#include "ibcm/id.h"

#define IBCM_24_BITS	0xffffff	/* of QP numbers and PSNs on the wire */

/* Whether @sender waits for the answer to the request that made @id. */
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
 * @cm_id: An id that is being told IB_CM_REQ_RECEIVED or
 *	IB_CM_SIDR_REQ_RECEIVED, by that handler.
 * @match: Whether this is the sender that the request names; called at most
 *	once, with interrupts off and under the sender's lock, so that its
 *	destruction does not return meanwhile.  Reads, and does nothing else.
 * @arg: For @match.
 *
 * The request must name a communication id of ours that waits for its answer,
 * and have its transaction id; a REQ its QP number and its PSN, which the wire
 * cannot know, too.
 *
 * Context: May sleep.
 *
 * Return: Whether it does, and @match agrees.
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
