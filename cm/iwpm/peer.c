// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The real addresses of peers, by their mapped addresses.
 *
 * When the daemon has told a peer the mapped port of a listener, it reports the peer's
 * addresses; normally the peer's connection request follows.  Anyone on the network can
 * cause such reports, so the number of entries is bounded: if a bucket is full, its
 * oldest entry is replaced.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "iwpm.h"

struct iwpm_peer {
	struct list_head node;
	struct iwpm_addr mapped;
	struct iwpm_addr real;
	unsigned long expires;
};

#define IWPM_PEER_BUCKETS	64
#define IWPM_PEERS		32		/* in each */
#define IWPM_PEER_LIFE		(60 * HZ)	/* as mapped ports are reused */

static struct iwpm_peers {
	spinlock_t lock;		/* protects list and num */
	struct list_head list;		/* the latest first */
	unsigned int num;
} iwpm_peers[IWPM_PEER_BUCKETS];

static struct iwpm_peers *iwpm_peers_of(const struct iwpm_addr *mapped)
{
	return &iwpm_peers[iwpm_addr_hash(mapped) % IWPM_PEER_BUCKETS];
}

static struct iwpm_peer *iwpm_peer_in(struct iwpm_peers *peers,
				      const struct iwpm_addr *mapped)
{
	struct iwpm_peer *peer;

	lockdep_assert_held(&peers->lock);
	list_for_each_entry(peer, &peers->list, node)
		if (iwpm_addr_same(&peer->mapped, mapped))
			return peer;
	return NULL;
}

/* Returns the entry to write to: that of @mapped, else a new one, else the oldest. */
static struct iwpm_peer *iwpm_peer_slot(struct iwpm_peers *peers,
					const struct iwpm_addr *mapped,
					struct iwpm_peer **spare)
{
	struct iwpm_peer *peer = iwpm_peer_in(peers, mapped);

	if (peer)
		return peer;
	if (peers->num == IWPM_PEERS)
		return list_last_entry(&peers->list, struct iwpm_peer, node);
	swap(peer, *spare);
	list_add(&peer->node, &peers->list);
	peers->num++;
	return peer;
}

int iwpm_peer_note(const struct iwpm_addr *mapped, const struct iwpm_addr *real)
{
	struct iwpm_peers *peers = iwpm_peers_of(mapped);
	struct iwpm_peer *peer, *spare;

	spare = kzalloc(sizeof(*spare), GFP_KERNEL);
	if (!spare)
		return -ENOMEM;
	spin_lock(&peers->lock);
	peer = iwpm_peer_slot(peers, mapped, &spare);
	peer->mapped = *mapped;
	peer->real = *real;
	peer->expires = jiffies + IWPM_PEER_LIFE;
	list_move(&peer->node, &peers->list);
	spin_unlock(&peers->lock);
	kfree(spare);
	return 0;
}

bool iwpm_peer_find(const struct iwpm_addr *mapped, struct iwpm_addr *real)
{
	struct iwpm_peers *peers = iwpm_peers_of(mapped);
	struct iwpm_peer *peer;

	spin_lock(&peers->lock);
	peer = iwpm_peer_in(peers, mapped);
	if (peer && time_after(jiffies, peer->expires))
		peer = NULL;
	if (peer)
		*real = peer->real;
	spin_unlock(&peers->lock);
	return peer;
}

void iwpm_peer_start(void)
{
	int i;

	for (i = 0; i < IWPM_PEER_BUCKETS; i++) {
		spin_lock_init(&iwpm_peers[i].lock);
		INIT_LIST_HEAD(&iwpm_peers[i].list);
	}
}

/* Called when no message of the daemon and no connection request is handled any more. */
void iwpm_peer_stop(void)
{
	struct iwpm_peer *peer, *next;
	int i;

	for (i = 0; i < IWPM_PEER_BUCKETS; i++)
		list_for_each_entry_safe(peer, next, &iwpm_peers[i].list, node)
			kfree(peer);
}
