// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timewait (IBA vol. 1, 12.9.8.4): a connection's communication ids and QP are not used
 * again until packets that may still be in the fabric have left it.
 *
 * Each connection has a timer in its struct ibcm_peer, which was allocated with the
 * connection, so that starting the timer cannot fail.  The step into TIMEWAIT arms the
 * timer under id->lock; only module exit disarms it.
 */
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"

void ibcm_timewait_begin(struct ibcm_id *id)
{
	struct ibcm_peer *peer = id->peer;
	unsigned int ms;

	lockdep_assert_held(&id->lock);
	if (WARN_ON_ONCE(!peer))
		return;
	ibcm_peer_unhash_qp(peer);
	/* The ACK timeout is twice the packet lifetime plus the ACK delay. */
	ms = ibcm_time_ms(id->av.ack_timeout);
	mod_timer(&peer->timer, jiffies + msecs_to_jiffies(ms));
}

/*
 * Why no reference on the peer remains, except that of a DREQ that is still being sent:
 * (1) The peer is removed from the table of communication ids here, and was removed
 *     from that of QPs when timewait began.
 * (2) id->peer is cleared here under the lock, or was cleared by the id's
 *     destruction, which gave the slot to the peer.
 * (3) Lookups that have found the peer are RCU readers; kfree_rcu() waits for them.
 * The id's reference is taken under RCU.  If the id's reference count is zero, its
 * destruction gave the slot to the peer before it dropped the owner's reference.
 */
void ibcm_timewait_timer(struct timer_list *timer)
{
	struct ibcm_peer *peer = from_timer(peer, timer, timer);
	struct ibcm_id *id;
	bool ours = false;
	unsigned long flags;

	rcu_read_lock();
	id = rcu_dereference(peer->id);
	if (id && !ibcm_id_get_maybe_zero(id))
		id = NULL;
	rcu_read_unlock();

	if (id) {
		spin_lock_irqsave(&id->lock, flags);
		if (id->peer == peer) {
			ours = true;
			id->peer = NULL;
			ibcm_peer_unhash(peer);
			ibcm_id_kick(id, IBCM_PEND_TIMEWAIT_END);
		}
		spin_unlock_irqrestore(&id->lock, flags);
		ibcm_id_put(id);
	}
	if (ours) {
		kfree_rcu(peer, rcu);
		return;
	}
	ibcm_peer_unhash(peer);
	ibcm_peer_put(peer);
}
