// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes of link addresses.
 *
 * When a bond fails over, the link address of the ids on it changes: each of them
 * gets RDMA_CM_EVENT_ADDR_CHANGE.  When a neighbour changes its link address during
 * a connection attempt, the attempt cannot succeed: the ids that connect to it,
 * found in a table by interface and address, get RDMA_CM_EVENT_UNREACHABLE.
 *
 * Both notifiers only set a bit in the id (event.c), so nothing is queued twice.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <net/arp.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/netevent.h>

#include "bind/bind.h"
#include "id/id.h"

/*
 * Ids that connect over RoCE, by peer.  The number of buckets is fixed, so that an id
 * comes and goes at the same small cost however many there are; a change of a neighbour
 * walks the ids in one bucket.
 */
#define CMA_PEER_BITS	10

struct cma_peer_bucket {
	spinlock_t lock;		/* to change the list; RCU to walk it */
	struct hlist_head ids;		/* cma_id.peer_node */
};

static struct cma_peer_bucket cma_peers[1 << CMA_PEER_BITS];

struct cma_peer_key {
	const struct net *net;
	struct cma_addr_key addr;
	int ifindex;
};

static void cma_peer_key_of(const struct cma_id *idp, struct cma_peer_key *key)
{
	const struct rdma_addr *addr = &idp->id.route.addr;

	key->net = addr->dev_addr.net;
	key->ifindex = addr->dev_addr.bound_dev_if;
	cma_addr_key_init(&key->addr, (const void *)&addr->dst_addr);
	key->addr.scope = 0;	/* key->ifindex has the scope */
}

static unsigned int cma_peer_hash(const struct cma_peer_key *key)
{
	u32 hash = jhash2((const u32 *)&key->addr, sizeof(key->addr) / sizeof(u32),
			  net_hash_mix(key->net) ^ key->ifindex);

	return hash_32(hash, CMA_PEER_BITS);
}

/* Lets a change of the peer's link address end the connection attempt. */
void cma_peer_watch(struct cma_id *idp)
{
	struct cma_peer_bucket *bucket;
	struct cma_peer_key key;

	lockdep_assert_held(&idp->handler_mutex);
	if (!hlist_unhashed(&idp->peer_node) ||
	    !rdma_protocol_roce(idp->id.device, idp->id.port_num))
		return;
	cma_peer_key_of(idp, &key);
	idp->peer_bucket = cma_peer_hash(&key);
	bucket = &cma_peers[idp->peer_bucket];
	spin_lock(&bucket->lock);
	hlist_add_head_rcu(&idp->peer_node, &bucket->ids);
	spin_unlock(&bucket->lock);
}

/* Called under handler_mutex, or when no callback of the id can run any more. */
void cma_peer_unwatch(struct cma_id *idp)
{
	struct cma_peer_bucket *bucket = &cma_peers[idp->peer_bucket];

	if (hlist_unhashed(&idp->peer_node))
		return;
	spin_lock(&bucket->lock);
	hlist_del_init_rcu(&idp->peer_node);
	spin_unlock(&bucket->lock);
}

static bool cma_peer_is(const struct cma_id *idp, const struct cma_peer_key *want)
{
	struct cma_peer_key key;

	cma_peer_key_of(idp, &key);
	return key.net == want->net && key.ifindex == want->ifindex &&
	       !memcmp(&key.addr, &want->addr, sizeof(key.addr));
}

static void cma_neigh_changed(const struct neighbour *neigh)
{
	struct cma_peer_key key = {
		.net = dev_net(neigh->dev),
		.ifindex = neigh->dev->ifindex,
	};
	struct cma_id *idp;
	u8 ha[ETH_ALEN];

	if (neigh->tbl->family == AF_INET) {
		key.addr.family = AF_INET;
		memcpy(&key.addr.addr.raw[12], neigh->primary_key, 4);
	} else if (neigh->tbl->family == AF_INET6) {
		key.addr.family = AF_INET6;
		memcpy(&key.addr.addr, neigh->primary_key, 16);
	} else {
		return;
	}
	neigh_ha_snapshot(ha, neigh, neigh->dev);

	rcu_read_lock();
	hlist_for_each_entry_rcu(idp, &cma_peers[cma_peer_hash(&key)].ids, peer_node)
		if (cma_peer_is(idp, &key) &&
		    memcmp(idp->id.route.addr.dev_addr.dst_dev_addr, ha, ETH_ALEN))
			cma_id_post(idp, CMA_POST_UNREACHABLE);
	rcu_read_unlock();
}

static int cma_netevent(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct neighbour *neigh = ptr;

	/* The address of a neighbour that is not valid means nothing. */
	if (event == NETEVENT_NEIGH_UPDATE &&
	    neigh->dev->type == ARPHRD_ETHER &&
	    (READ_ONCE(neigh->nud_state) & NUD_VALID))
		cma_neigh_changed(neigh);
	return NOTIFY_DONE;
}

static bool cma_id_moved(struct cma_id *idp, const struct net_device *ndev)
{
	const struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;

	return dev_addr->bound_dev_if == ndev->ifindex &&
	       net_eq(dev_addr->net, dev_net(ndev)) &&
	       memcmp(dev_addr->src_dev_addr, ndev->dev_addr, ndev->addr_len);
}

static void cma_dev_moved(struct cma_dev *dev, const struct net_device *ndev)
{
	struct cma_id *idp;

	spin_lock(&dev->lock);
	list_for_each_entry(idp, &dev->ids, dev_node)
		if (cma_id_moved(idp, ndev))
			cma_id_post(idp, CMA_POST_ADDR_CHANGE);
	spin_unlock(&dev->lock);
}

static int cma_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct cma_dev *dev;

	if (event != NETDEV_BONDING_FAILOVER || !netif_is_bond_master(ndev))
		return NOTIFY_DONE;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &cma_devices, node)
		cma_dev_moved(dev, ndev);
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block cma_netevent_nb = {
	.notifier_call = cma_netevent,
};

static struct notifier_block cma_netdev_nb = {
	.notifier_call = cma_netdev_event,
};

int cma_netevent_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(cma_peers); i++)
		spin_lock_init(&cma_peers[i].lock);
	err = register_netevent_notifier(&cma_netevent_nb);
	if (err)
		return err;
	err = register_netdevice_notifier(&cma_netdev_nb);
	if (err)
		unregister_netevent_notifier(&cma_netevent_nb);
	return err;
}

void cma_netevent_exit(void)
{
	unregister_netdevice_notifier(&cma_netdev_nb);
	unregister_netevent_notifier(&cma_netevent_nb);
}
