// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RoCE GIDs follow the network: which GIDs a port has is a function of its
 * net_device, the devices stacked on that, and their addresses.
 *
 * Nothing here reacts to what an event says.  A notifier only notes which
 * net_device something happened to; one work item finds the ports that it
 * concerns and marks them; a work item a device computes what the tables of its
 * marked ports should be and hands that to ibcore_gid_sync().  So events that
 * come together cost one computation, none is lost, their order does not matter,
 * and one that meets the registration of a device is seen by the first
 * computation or by the next.
 *
 * The GIDs of a port whose net_device is N:
 *	default	fe80::/64 with the EUI-64 of a MAC, one of each type the port
 *		supports: of N, or if N is a bond's slave, of the bond
 *	IP	each IPv4 (as ::ffff:a.b.c.d) and IPv6 address, in each type, of N
 *		and its VLANs, and of every other device on top of N
 * From the bond up, what is reached through it counts only while N may send for
 * it: not while another slave is the active one.
 *
 * An iWARP port's one GID is the device's, but its net_device is followed too.
 *
 * Lock order: roce_dev.lock > rtnl, and roce_dev.lock > ib_gid_table.lock; the
 * rtnl is never held with a table's lock.  event_lock and roce_devs' own are
 * innermost.  The work takes the rtnl by trylock only, so that unregistration,
 * which waits for the work, does not wait for the rtnl.
 */
#include <linux/hashtable.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/addrconf.h>
#include <net/bonding.h>
#include <net/if_inet6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "core.h"

#define ROCE_RETRY_DELAY	HZ	/* after memory ran out */
#define ROCE_RTNL_DELAY		1	/* after the rtnl was taken */

struct workqueue_struct *ibcore_gid_wq;

/* A device with ports to look after, from ibcore_roce_setup to _cleanup. */
struct roce_dev {
	struct ib_device *dev;
	u32 id;				/* in roce_devs */
	refcount_t ref;			/* roce_devs', and who works on it */
	struct completion idle;		/* ref is zero */
	struct mutex lock;		/* one computation at a time */
	struct delayed_work work;
	bool announce;			/* there may be clients; lock */
	unsigned long *dirty;		/* by port number; atomic */
};

static DEFINE_XARRAY_ALLOC(roce_devs);

/* A net_device something happened to. */
struct roce_event {
	struct hlist_node node;
	struct net_device *ndev;
	netdevice_tracker tracker;
};

static DEFINE_SPINLOCK(event_lock);
static DEFINE_HASHTABLE(event_table, 6);	/* event_lock */
static bool event_lost;				/* event_lock */

/* The GIDs a port should have; counts on when cap is reached. */
struct want_set {
	struct ibcore_gid_want *want;
	unsigned int n;
	unsigned int cap;
	unsigned long types;
};

/**
 * roce_gid_type_mask_support - the GID types a port supports
 * @ib_dev: the device
 * @port: port of it, counted from 1
 *
 * Context: any.
 * Return: a mask of BIT(enum ib_gid_type); that of IB_GID_TYPE_IB for a port that
 * is not RoCE.
 */
unsigned long roce_gid_type_mask_support(struct ib_device *ib_dev, u32 port)
{
	unsigned long mask = 0;

	if (!rdma_protocol_roce(ib_dev, port))
		return BIT(IB_GID_TYPE_IB);
	if (rdma_protocol_roce_eth_encap(ib_dev, port))
		mask |= BIT(IB_GID_TYPE_ROCE);
	if (rdma_protocol_roce_udp_encap(ib_dev, port))
		mask |= BIT(IB_GID_TYPE_ROCE_UDP_ENCAP);
	return mask;
}
EXPORT_SYMBOL(roce_gid_type_mask_support);

static bool roce_follows(const struct ib_device *dev, u32 port)
{
	return rdma_protocol_roce(dev, port) || rdma_protocol_iwarp(dev, port);
}

/* ---- what the GIDs should be; under the rtnl ---- */

static bool want_has_default(const struct want_set *set, const union ib_gid *gid,
			     enum ib_gid_type type, const struct net_device *ndev)
{
	unsigned int i;

	/* Defaults come first, and there is one a type at most. */
	for (i = 0; i < min(set->n, set->cap); i++) {
		if (!set->want[i].is_default)
			break;
		if (set->want[i].type == type && set->want[i].ndev == ndev &&
		    !memcmp(&set->want[i].gid, gid, sizeof(*gid)))
			return true;
	}
	return false;
}

static void want_add(struct want_set *set, const union ib_gid *gid,
		     struct net_device *ndev, bool is_default)
{
	struct ibcore_gid_want *want;
	unsigned long types = set->types;
	unsigned int type;

	for_each_set_bit(type, &types, IB_GID_TYPE_SIZE) {
		if (!is_default && want_has_default(set, gid, type, ndev))
			continue;
		if (set->n++ >= set->cap)
			continue;
		want = &set->want[set->n - 1];
		want->gid = *gid;
		want->type = type;
		want->is_default = is_default;
		want->ndev = ndev;
		netdev_hold(ndev, &want->tracker, GFP_ATOMIC);
	}
}

static void want_drop(struct want_set *set)
{
	unsigned int i;

	for (i = 0; i < min(set->n, set->cap); i++)
		netdev_put(set->want[i].ndev, &set->want[i].tracker);
	set->n = 0;
}

/* Under rcu_read_lock. */
static void want_add_ipv4(struct want_set *set, struct net_device *ndev)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	struct in_ifaddr *ifa;
	union ib_gid gid;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		ipv6_addr_set_v4mapped(ifa->ifa_local, (struct in6_addr *)&gid);
		want_add(set, &gid, ndev, false);
	}
}

/* Under rcu_read_lock. */
static void want_add_ipv6(struct want_set *set, struct net_device *ndev)
{
	struct inet6_dev *in6_dev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifp;
	union ib_gid gid;

	if (!IS_ENABLED(CONFIG_IPV6) || !in6_dev)
		return;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifp, &in6_dev->addr_list, if_list) {
		if (ifp->state == INET6_IFADDR_STATE_DEAD)
			continue;
		memcpy(gid.raw, &ifp->addr, sizeof(gid.raw));
		want_add(set, &gid, ndev, false);
	}
	read_unlock_bh(&in6_dev->lock);
}

static void want_add_ips(struct want_set *set, struct net_device *ndev)
{
	if (ndev->reg_state != NETREG_REGISTERED)
		return;
	want_add_ipv4(set, ndev);
	want_add_ipv6(set, ndev);
}

static void want_add_default(struct want_set *set, struct net_device *ndev)
{
	union ib_gid gid = {
		.global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL),
	};

	if (ndev->reg_state == NETREG_REGISTERED &&
	    !addrconf_ifid_eui48(&gid.raw[8], ndev))
		want_add(set, &gid, ndev, true);
}

/* The bond above @ndev if it is a slave, or NULL.  Under rcu_read_lock. */
static struct net_device *roce_bond_of(struct net_device *ndev)
{
	struct net_device *master;

	if (!netif_is_bond_slave(ndev))
		return NULL;
	master = netdev_master_upper_dev_get_rcu(ndev);
	return master && netif_is_bond_master(master) ? master : NULL;
}

/* Whether @bond may send through its slave @ndev.  Under rcu_read_lock. */
static bool roce_bond_uses(struct net_device *bond, struct net_device *ndev)
{
	struct net_device *active;

	active = bond_option_active_slave_get_rcu(netdev_priv(bond));
	return !active || active == ndev;
}

struct upper_walk {
	struct want_set *set;
	struct net_device *idle_bond;	/* what is reached through it is out */
};

static int want_add_upper(struct net_device *upper,
			  struct netdev_nested_priv *priv)
{
	struct upper_walk *walk = priv->data;

	if (upper != walk->idle_bond &&
	    !(walk->idle_bond &&
	      netdev_has_upper_dev_all_rcu(walk->idle_bond, upper)))
		want_add_ips(walk->set, upper);
	return 0;
}

static void want_fill(struct want_set *set, struct net_device *ndev)
{
	struct upper_walk walk = { .set = set };
	struct netdev_nested_priv priv = { .data = &walk };
	struct net_device *bond;

	ASSERT_RTNL();
	rcu_read_lock();
	bond = roce_bond_of(ndev);
	if (!bond)
		want_add_default(set, ndev);
	else if (roce_bond_uses(bond, ndev))
		want_add_default(set, bond);
	else
		walk.idle_bond = bond;
	want_add_ips(set, ndev);
	netdev_walk_all_upper_dev_rcu(ndev, want_add_upper, &priv);
	rcu_read_unlock();
}

static int want_compute(struct want_set *set, struct net_device *ndev)
{
	unsigned int cap;

	while (ndev) {
		want_fill(set, ndev);
		if (set->n <= set->cap)
			break;
		cap = set->n + 8;
		want_drop(set);
		set->cap = cap;
		kvfree(set->want);
		set->want = kvcalloc(set->cap, sizeof(*set->want), GFP_KERNEL);
		if (!set->want) {
			set->cap = 0;
			return -ENOMEM;
		}
	}
	return 0;
}

/* ---- bringing the tables there ---- */

/* Returns -EAGAIN if that needs the rtnl, which @wait says not to wait for. */
static int roce_sync_port(struct roce_dev *rd, u32 port, bool wait,
			  bool *changed)
{
	struct want_set set = {
		.types = roce_gid_type_mask_support(rd->dev, port),
	};
	struct net_device *ndev;
	int ret;

	lockdep_assert_held(&rd->lock);
	if (rdma_protocol_iwarp(rd->dev, port)) {
		ibcore_gid_update_ib(rd->dev, port);
		return 0;
	}
	/* Before the rtnl: the driver may take it, or locks outside of it. */
	ndev = ib_device_get_netdev(rd->dev, port);
	if (wait) {
		rtnl_lock();
	} else if (!rtnl_trylock()) {
		dev_put(ndev);
		return -EAGAIN;
	}
	ret = want_compute(&set, ndev);
	rtnl_unlock();
	if (!ret)
		ret = ibcore_gid_sync(rd->dev, port, set.want, set.n, changed);
	want_drop(&set);
	kvfree(set.want);
	dev_put(ndev);
	return ret;
}

static void roce_announce(struct roce_dev *rd, u32 port)
{
	struct ib_event event = {
		.device = rd->dev,
		.element.port_num = port,
		.event = IB_EVENT_GID_CHANGE,
	};

	ib_dispatch_event(&event);
}

/* Brings all marked ports up to date; one that fails stays marked. */
static int roce_sync(struct roce_dev *rd, bool wait)
{
	int ret, err = 0;
	bool changed;
	u32 port;

	lockdep_assert_held(&rd->lock);
	rdma_for_each_port(rd->dev, port) {
		if (!test_and_clear_bit(port, rd->dirty))
			continue;
		changed = false;
		ret = roce_sync_port(rd, port, wait, &changed);
		if (ret) {
			set_bit(port, rd->dirty);
			if (err != -ENOMEM)
				err = ret;
		}
		if (changed && rd->announce)
			roce_announce(rd, port);
	}
	return err;
}

static void roce_work(struct work_struct *work)
{
	struct roce_dev *rd = container_of(work, struct roce_dev, work.work);
	int ret;

	mutex_lock(&rd->lock);
	ret = roce_sync(rd, false);
	mutex_unlock(&rd->lock);
	if (ret)
		queue_delayed_work(ibcore_gid_wq, &rd->work,
				   ret == -EAGAIN ? ROCE_RTNL_DELAY :
						    ROCE_RETRY_DELAY);
}

/* @rd referred to, so that roce_devs, or its cleanup, outlasts this. */
static void roce_mark(struct roce_dev *rd, u32 port)
{
	set_bit(port, rd->dirty);
	mod_delayed_work(ibcore_gid_wq, &rd->work, 0);
}

/* ---- which devices there are ---- */

/* The first one with an id of *@id or more, referred to; sets *@id to it. */
static struct roce_dev *roce_dev_get(unsigned long *id)
{
	struct roce_dev *rd;

	xa_lock(&roce_devs);
	rd = xa_find(&roce_devs, id, ULONG_MAX, XA_PRESENT);
	if (rd)
		refcount_inc(&rd->ref);
	xa_unlock(&roce_devs);
	return rd;
}

static void roce_dev_put(struct roce_dev *rd)
{
	if (refcount_dec_and_test(&rd->ref))
		complete(&rd->idle);
}

static struct roce_dev *roce_dev_find(const struct ib_device *dev)
{
	struct roce_dev *rd;
	unsigned long id;

	for (id = 0; (rd = roce_dev_get(&id)); id++) {
		if (rd->dev == dev)
			return rd;
		roce_dev_put(rd);
	}
	return NULL;
}

void ibcore_roce_kick(const struct ib_device *dev, u32 port)
{
	struct roce_dev *rd = roce_dev_find(dev);

	if (!rd)
		return;
	roce_mark(rd, port);
	roce_dev_put(rd);
}

static void roce_rescan(struct roce_dev *rd, u32 first, u32 last)
{
	u32 port;

	for (port = first; port <= last; port++)
		if (roce_follows(rd->dev, port))
			set_bit(port, rd->dirty);
	mutex_lock(&rd->lock);
	if (roce_sync(rd, true))
		mod_delayed_work(ibcore_gid_wq, &rd->work, ROCE_RETRY_DELAY);
	mutex_unlock(&rd->lock);
}

/**
 * rdma_roce_rescan_device - compute the GIDs of all RoCE ports of a device again
 * @ib_dev: the device; nothing is done unless it is registered
 *
 * For drivers that have changed what ib_device_get_netdev() answers.
 *
 * Context: may sleep; takes the rtnl.
 */
void rdma_roce_rescan_device(struct ib_device *ib_dev)
{
	struct roce_dev *rd = roce_dev_find(ib_dev);

	if (!rd)
		return;
	roce_rescan(rd, rdma_start_port(ib_dev), rdma_end_port(ib_dev));
	roce_dev_put(rd);
}
EXPORT_SYMBOL(rdma_roce_rescan_device);

/**
 * rdma_roce_rescan_port - compute the GIDs of a RoCE port again
 * @ib_dev: the device; nothing is done unless it is registered
 * @port: port of it, counted from 1
 *
 * Context: may sleep; takes the rtnl.
 */
void rdma_roce_rescan_port(struct ib_device *ib_dev, u32 port)
{
	struct roce_dev *rd = roce_dev_find(ib_dev);

	if (!rd)
		return;
	if (rdma_is_port_valid(ib_dev, port))
		roce_rescan(rd, port, port);
	roce_dev_put(rd);
}
EXPORT_SYMBOL(rdma_roce_rescan_port);

/**
 * roce_del_all_netdev_gids - delete the GIDs a net_device gave to a RoCE port
 * @ib_dev: the device; nothing is done unless it is registered
 * @port: port of it, counted from 1
 * @ndev: the net_device
 *
 * For drivers that have moved a port to another net_device.
 *
 * Context: may sleep.
 */
void roce_del_all_netdev_gids(struct ib_device *ib_dev, u32 port,
			      struct net_device *ndev)
{
	struct roce_dev *rd = roce_dev_find(ib_dev);

	if (!rd)
		return;
	mutex_lock(&rd->lock);
	if (ibcore_gid_del_netdev(ib_dev, port, ndev) && rd->announce)
		roce_announce(rd, port);
	mutex_unlock(&rd->lock);
	roce_dev_put(rd);
}
EXPORT_SYMBOL(roce_del_all_netdev_gids);

static void roce_dev_free(struct roce_dev *rd)
{
	mutex_destroy(&rd->lock);
	bitmap_free(rd->dirty);
	kfree(rd);
}

/*
 * No reference remains on @rd when it is freed:
 * (1) roce_devs', by which others find it, is put first;
 * (2) those who found it put theirs when they are done, which is waited for, and
 *     only they and (3) queue the work;
 * (3) the work is cancelled last, after which nothing queues it.
 */
static void roce_dev_remove(struct roce_dev *rd)
{
	xa_erase(&roce_devs, rd->id);
	roce_dev_put(rd);
	wait_for_completion(&rd->idle);
	cancel_delayed_work_sync(&rd->work);
	roce_dev_free(rd);
}

static struct roce_dev *roce_dev_alloc(struct ib_device *dev)
{
	struct roce_dev *rd = kzalloc(sizeof(*rd), GFP_KERNEL);

	if (!rd)
		return NULL;
	rd->dirty = bitmap_zalloc(rdma_end_port(dev) + 1, GFP_KERNEL);
	if (!rd->dirty) {
		kfree(rd);
		return NULL;
	}
	rd->dev = dev;
	refcount_set(&rd->ref, 1);
	init_completion(&rd->idle);
	mutex_init(&rd->lock);
	INIT_DELAYED_WORK(&rd->work, roce_work);
	return rd;
}

/*
 * Looks after the GIDs of @dev from now on, and fills the tables.  The device is
 * in roce_devs first, so that no event falls between.
 */
int ibcore_roce_setup(struct ib_device *dev)
{
	struct roce_dev *rd;
	bool any = false;
	u32 port;
	int ret;

	rdma_for_each_port(dev, port)
		any |= roce_follows(dev, port);
	if (!any)
		return 0;
	rd = roce_dev_alloc(dev);
	if (!rd)
		return -ENOMEM;
	rdma_for_each_port(dev, port)
		if (roce_follows(dev, port))
			set_bit(port, rd->dirty);
	ret = xa_alloc(&roce_devs, &rd->id, rd, xa_limit_32b, GFP_KERNEL);
	if (ret) {
		roce_dev_free(rd);
		return ret;
	}

	mutex_lock(&rd->lock);
	ret = roce_sync(rd, true);
	rd->announce = true;
	mutex_unlock(&rd->lock);
	if (ret)
		roce_dev_remove(rd);
	return ret;
}

void ibcore_roce_cleanup(struct ib_device *dev)
{
	struct roce_dev *rd = roce_dev_find(dev);

	if (!rd)
		return;
	roce_dev_put(rd);
	roce_dev_remove(rd);
}

/* ---- what happens on the network ---- */

/* Whether @ndev is, or lately was, what the port's GIDs come from. */
static bool roce_concerned(struct roce_dev *rd, u32 port,
			   struct net_device *ndev)
{
	struct net_device *rdma_ndev;
	bool ret;

	if (test_bit(port, rd->dirty))
		return false;
	/* A computation that may have seen @ndev as it was before. */
	if (mutex_is_locked(&rd->lock))
		return true;
	smp_rmb();	/* The tables as the last one left them. */
	if (ibcore_gid_has_netdev(rd->dev, port, ndev))
		return true;
	rdma_ndev = ib_device_get_netdev(rd->dev, port);
	if (!rdma_ndev)
		return false;
	rcu_read_lock();
	ret = rdma_ndev == ndev ||
	      netdev_has_upper_dev_all_rcu(rdma_ndev, ndev);
	rcu_read_unlock();
	dev_put(rdma_ndev);
	return ret;
}

/* Marks the ports that @ndev concerns, or all if it is NULL. */
static void roce_dispatch(struct net_device *ndev)
{
	struct roce_dev *rd;
	unsigned long id;
	u32 port;

	for (id = 0; (rd = roce_dev_get(&id)); id++) {
		rdma_for_each_port(rd->dev, port)
			if (roce_follows(rd->dev, port) &&
			    (!ndev || roce_concerned(rd, port, ndev)))
				roce_mark(rd, port);
		roce_dev_put(rd);
	}
}

static void roce_event_free(struct roce_event *event)
{
	netdev_put(event->ndev, &event->tracker);
	kfree(event);
}

static void event_work_fn(struct work_struct *work)
{
	struct roce_event *event;
	struct hlist_node *next;
	HLIST_HEAD(events);
	bool lost;
	int i;

	spin_lock_bh(&event_lock);
	lost = event_lost;
	event_lost = false;
	hash_for_each_safe(event_table, i, next, event, node) {
		hash_del(&event->node);
		hlist_add_head(&event->node, &events);
	}
	spin_unlock_bh(&event_lock);

	if (lost)
		roce_dispatch(NULL);
	hlist_for_each_entry_safe(event, next, &events, node) {
		roce_dispatch(event->ndev);
		roce_event_free(event);
	}
}

static DECLARE_WORK(event_work, event_work_fn);

static bool event_pending(const struct net_device *ndev)
{
	struct roce_event *event;

	lockdep_assert_held(&event_lock);
	hash_for_each_possible(event_table, event, node, (unsigned long)ndev)
		if (event->ndev == ndev)
			return true;
	return false;
}

/* Context: any but hardirq.  A net_device that waits already is not added. */
static void roce_note(struct net_device *ndev)
{
	struct roce_event *event;

	if (xa_empty(&roce_devs))
		return;
	spin_lock_bh(&event_lock);
	if (event_lost || event_pending(ndev))
		goto out;
	event = kmalloc(sizeof(*event), GFP_ATOMIC);
	if (!event) {
		event_lost = true;	/* all ports will be computed */
		goto out;
	}
	event->ndev = ndev;
	netdev_hold(ndev, &event->tracker, GFP_ATOMIC);
	hash_add(event_table, &event->node, (unsigned long)ndev);
out:
	spin_unlock_bh(&event_lock);
	queue_work(ibcore_gid_wq, &event_work);
}

static int netdev_event(struct notifier_block *nb, unsigned long what, void *ptr)
{
	switch (what) {
	case NETDEV_REGISTER:
	case NETDEV_UNREGISTER:
	case NETDEV_UP:
	case NETDEV_CHANGEADDR:
	case NETDEV_CHANGEUPPER:
	case NETDEV_BONDING_FAILOVER:
		roce_note(netdev_notifier_info_to_dev(ptr));
	}
	return NOTIFY_DONE;
}

static int inetaddr_event(struct notifier_block *nb, unsigned long what,
			  void *ptr)
{
	struct in_ifaddr *ifa = ptr;

	roce_note(ifa->ifa_dev->dev);
	return NOTIFY_DONE;
}

static int inet6addr_event(struct notifier_block *nb, unsigned long what,
			   void *ptr)
{
	struct inet6_ifaddr *ifp = ptr;

	roce_note(ifp->idev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event };
static struct notifier_block inetaddr_nb = { .notifier_call = inetaddr_event };
static struct notifier_block inet6addr_nb = { .notifier_call = inet6addr_event };

int ibcore_roce_init(void)
{
	int ret;

	ibcore_gid_wq = alloc_workqueue("ibcore_gid",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ibcore_gid_wq)
		return -ENOMEM;
	ret = register_inetaddr_notifier(&inetaddr_nb);
	if (ret)
		goto err_wq;
	ret = register_inet6addr_notifier(&inet6addr_nb);
	if (ret)
		goto err_inet;
	ret = register_netdevice_notifier(&netdev_nb);
	if (ret)
		goto err_inet6;
	return 0;

err_inet6:
	unregister_inet6addr_notifier(&inet6addr_nb);
err_inet:
	unregister_inetaddr_notifier(&inetaddr_nb);
err_wq:
	destroy_workqueue(ibcore_gid_wq);
	return ret;
}

/* No device is left; what events still wait are drained with the queue. */
void ibcore_roce_exit(void)
{
	unregister_netdevice_notifier(&netdev_nb);
	unregister_inet6addr_notifier(&inet6addr_nb);
	unregister_inetaddr_notifier(&inetaddr_nb);
	/* A GID's reference may be put, and freed, in an RCU callback. */
	rcu_barrier();
	destroy_workqueue(ibcore_gid_wq);
	rcu_barrier();
}
