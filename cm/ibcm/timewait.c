// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timewait (IBA vol. 1, 12.9.8.4): a connection's ids and QP are not used again
 * until packets that may still be on their way have gone.
 *
 * One timer a connection, in the peer block that was allocated with it, so
 * that starting cannot fail.  Armed by the step into TIMEWAIT, under id->lock;
 * nothing disarms it but module exit.
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
	/* Twice the packet lifetime and the ACK delay: the ACK timeout. */
	ms = ibcm_time_ms(id->av.ack_timeout);
	mod_timer(&peer->timer, jiffies + msecs_to_jiffies(ms));
}

/*
 * Why no reference on the peer remains, but that of a DREQ which is sent still:
 * (1) It leaves both tables here, or left that of QPs when timewait began.
 * (2) id->peer is cleared here under the lock, or was cleared by the id's
 *     destruction, which gave the slot to the peer.
 * (3) Lookups that have found it are RCU readers; kfree_rcu() waits for them.
 * The id's reference is taken under RCU: if it is gone, the destruction has
 * given the slot away before dropping the last one.
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
