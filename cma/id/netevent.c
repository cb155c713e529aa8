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
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <net/arp.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/netevent.h>

#include "bind/bind.h"
#include "id/id.h"

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

static u32 cma_peer_hash(const struct cma_peer_key *key, u32 seed)
{
	return jhash2((const u32 *)&key->addr, sizeof(key->addr) / sizeof(u32),
		      seed ^ net_hash_mix(key->net) ^ key->ifindex);
}

static u32 cma_peer_key_hash(const void *data, u32 len, u32 seed)
{
	return cma_peer_hash(data, seed);
}

static u32 cma_peer_obj_hash(const void *data, u32 len, u32 seed)
{
	struct cma_peer_key key;

	cma_peer_key_of(data, &key);
	return cma_peer_hash(&key, seed);
}

static int cma_peer_obj_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct cma_peer_key *want = arg->key;
	struct cma_peer_key key;

	cma_peer_key_of(obj, &key);
	return key.net != want->net || key.ifindex != want->ifindex ||
	       memcmp(&key.addr, &want->addr, sizeof(key.addr));
}

static const struct rhashtable_params cma_peer_params = {
	.head_offset = offsetof(struct cma_id, peer_node),
	.key_len = sizeof(struct cma_peer_key),
	.hashfn = cma_peer_key_hash,
	.obj_hashfn = cma_peer_obj_hash,
	.obj_cmpfn = cma_peer_obj_cmp,
	.automatic_shrinking = true,
};

static struct rhltable cma_peers;	/* ids that connect over RoCE */

/*
 * Lets a change of the peer's link address end the connection attempt.  If there is
 * no memory to watch the peer, the CM's time-outs end the attempt.
 */
void cma_peer_watch(struct cma_id *idp)
{
	lockdep_assert_held(&idp->handler_mutex);
	if (idp->peer_hashed ||
	    !rdma_protocol_roce(idp->id.device, idp->id.port_num))
		return;
	if (!rhltable_insert(&cma_peers, &idp->peer_node, cma_peer_params))
		idp->peer_hashed = true;
}

/* Called under handler_mutex, or when no callback of the id can run any more. */
void cma_peer_unwatch(struct cma_id *idp)
{
	if (!idp->peer_hashed)
		return;
	rhltable_remove(&cma_peers, &idp->peer_node, cma_peer_params);
	idp->peer_hashed = false;
}

static void cma_neigh_changed(const struct neighbour *neigh)
{
	struct cma_peer_key key = {
		.net = dev_net(neigh->dev),
		.ifindex = neigh->dev->ifindex,
	};
	struct rhlist_head *list, *pos;
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
	list = rhltable_lookup(&cma_peers, &key, cma_peer_params);
	rhl_for_each_entry_rcu(idp, pos, list, peer_node)
		if (memcmp(idp->id.route.addr.dev_addr.dst_dev_addr, ha,
			   ETH_ALEN))
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
	int err;

	err = rhltable_init(&cma_peers, &cma_peer_params);
	if (err)
		return err;
	err = register_netevent_notifier(&cma_netevent_nb);
	if (err)
		goto destroy;
	err = register_netdevice_notifier(&cma_netdev_nb);
	if (err)
		goto unregister;
	return 0;

unregister:
	unregister_netevent_notifier(&cma_netevent_nb);
destroy:
	rhltable_destroy(&cma_peers);
	return err;
}

void cma_netevent_exit(void)
{
	unregister_netdevice_notifier(&cma_netdev_nb);
	unregister_netevent_notifier(&cma_netevent_nb);
	rhltable_destroy(&cma_peers);
}
