// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections by the peer's identifiers: its communication id and its QP, each with
 * the GUID of its CA.  With the communication id a duplicate REQ is recognised before
 * anything is allocated.  With the QP a stale connection is recognised, which the peer
 * no longer has (IBA vol. 1, 12.9.8.3.1).
 *
 * Peers are looked up under RCU.  The id owns its peer while peer->id is set, and the
 * timewait timer owns the peer afterwards.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "ibcm/id.h"

static struct rhashtable ibcm_by_comm;
static struct rhashtable ibcm_by_qp;

/*
 * Below this size the tables do not shrink: connections often come and go by the dozen, and
 * those of the last seconds are in timewait.
 */
#define IBCM_PEERS_MIN_SIZE	1024

static const struct rhashtable_params ibcm_comm_params = {
	.key_len	= sizeof(struct ibcm_comm_key),
	.key_offset	= offsetof(struct ibcm_peer, comm),
	.head_offset	= offsetof(struct ibcm_peer, by_comm),
	.min_size	= IBCM_PEERS_MIN_SIZE,
	.automatic_shrinking = true,
};

static const struct rhashtable_params ibcm_qp_params = {
	.key_len	= sizeof(struct ibcm_qp_key),
	.key_offset	= offsetof(struct ibcm_peer, qp),
	.head_offset	= offsetof(struct ibcm_peer, by_qp),
	.min_size	= IBCM_PEERS_MIN_SIZE,
	.automatic_shrinking = true,
};

int ibcm_peers_init(void)
{
	int ret = rhashtable_init(&ibcm_by_comm, &ibcm_comm_params);

	if (ret)
		return ret;
	ret = rhashtable_init(&ibcm_by_qp, &ibcm_qp_params);
	if (ret)
		rhashtable_destroy(&ibcm_by_comm);
	return ret;
}

void ibcm_peers_exit(void)
{
	rhashtable_destroy(&ibcm_by_qp);
	rhashtable_destroy(&ibcm_by_comm);
}

struct ibcm_peer *ibcm_peer_alloc(struct ibcm_id *id, gfp_t gfp)
{
	struct ibcm_peer *peer = kzalloc(sizeof(*peer), gfp);

	if (!peer)
		return NULL;
	refcount_set(&peer->ref, 1);
	spin_lock_init(&peer->lock);
	peer->slot = be32_to_cpu(id->id.local_id);
	RCU_INIT_POINTER(peer->id, id);
	timer_setup(&peer->timer, ibcm_timewait_timer, 0);
	return peer;
}

void ibcm_peer_put(struct ibcm_peer *peer)
{
	if (!refcount_dec_and_test(&peer->ref))
		return;
	ibcm_slot_free(peer->slot);
	kfree_rcu(peer, rcu);
}

void ibcm_peer_set(struct ibcm_peer *peer, __be64 ca_guid, __be32 remote_id,
		   u32 remote_qpn)
{
	peer->comm.ca_guid = ca_guid;
	peer->comm.remote_id = remote_id;
	peer->qp.ca_guid = ca_guid;
	peer->qp.remote_qpn = remote_qpn;
}

static int ibcm_hash_result(const void *old)
{
	if (IS_ERR(old))
		return PTR_ERR(old);
	return old ? -EEXIST : 0;
}

int ibcm_peer_hash_comm(struct ibcm_peer *peer)
{
	int ret;

	ret = ibcm_hash_result(rhashtable_lookup_get_insert_fast(&ibcm_by_comm,
								 &peer->by_comm,
								 ibcm_comm_params));
	peer->comm_hashed = !ret;
	return ret;
}

int ibcm_peer_hash_qp(struct ibcm_peer *peer)
{
	int ret;

	ret = ibcm_hash_result(rhashtable_lookup_get_insert_fast(&ibcm_by_qp,
								 &peer->by_qp,
								 ibcm_qp_params));
	peer->qp_hashed = !ret;
	return ret;
}

/* In timewait the peer may use its QP again: the peer does its own timewait. */
void ibcm_peer_unhash_qp(struct ibcm_peer *peer)
{
	if (peer->qp_hashed)
		rhashtable_remove_fast(&ibcm_by_qp, &peer->by_qp,
				       ibcm_qp_params);
	peer->qp_hashed = false;
}

void ibcm_peer_unhash(struct ibcm_peer *peer)
{
	ibcm_peer_unhash_qp(peer);
	if (peer->comm_hashed)
		rhashtable_remove_fast(&ibcm_by_comm, &peer->by_comm,
				       ibcm_comm_params);
	peer->comm_hashed = false;
}

void ibcm_peer_forget(struct ibcm_id *id)
{
	struct ibcm_peer *peer = id->peer;

	lockdep_assert_held(&id->lock);
	if (!peer)
		return;
	id->peer = NULL;
	ibcm_peer_unhash(peer);
	kfree_rcu(peer, rcu);
}

static struct ibcm_id *ibcm_peer_id(const struct ibcm_peer *peer)
{
	struct ibcm_id *id = rcu_dereference(peer->id);

	return id && ibcm_id_get_maybe_zero(id) ? id : NULL;
}

/*
 * Returns the id of the connection with the peer's communication id @remote_id, with a
 * reference.  NULL with *@known set: the connection exists, but its id was destroyed.
 */
struct ibcm_id *ibcm_peer_find_comm(__be64 ca_guid, __be32 remote_id,
				    bool *known)
{
	struct ibcm_comm_key key = {
		.ca_guid = ca_guid,
		.remote_id = remote_id,
	};
	struct ibcm_id *id = NULL;
	struct ibcm_peer *peer;

	rcu_read_lock();
	peer = rhashtable_lookup(&ibcm_by_comm, &key, ibcm_comm_params);
	if (peer)
		id = ibcm_peer_id(peer);
	rcu_read_unlock();
	*known = peer;
	return id;
}

/* Returns false if the QP belongs to the same connection, that is, to a duplicate. */
bool ibcm_peer_stale(const struct ibcm_peer *peer)
{
	struct ibcm_id *id = NULL;
	struct ibcm_peer *old;
	unsigned long flags;
	bool same = false;

	rcu_read_lock();
	old = rhashtable_lookup(&ibcm_by_qp, &peer->qp, ibcm_qp_params);
	if (old) {
		same = !memcmp(&old->comm, &peer->comm, sizeof(old->comm));
		id = ibcm_peer_id(old);
	}
	rcu_read_unlock();
	if (id && !same) {
		spin_lock_irqsave(&id->lock, flags);
		ibcm_id_kick(id, IBCM_PEND_STALE);
		spin_unlock_irqrestore(&id->lock, flags);
	}
	if (id)
		ibcm_id_put(id);
	return !same;
}
