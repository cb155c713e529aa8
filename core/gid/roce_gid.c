// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RoCE GIDs follow the network configuration: a port's GIDs are a function of its
 * net_device, the devices stacked on top of that, and their addresses.
 *
 * What exactly an event reports is ignored.  A notifier only records the net_device of
 * the event.  One work item finds the ports that the net_device concerns and marks
 * them.  A work item per device computes which GIDs its marked ports should have and
 * passes them to ibcore_gid_sync().  So events in quick succession cost one
 * computation, none is lost, their order does not matter, and an event during the
 * registration of a device is covered by the first computation or by the next.
 * roce_want.c computes without the rtnl: GIDs do not wait for other configuration
 * work, and if a configuration is read half done, the event that completes it follows.
 *
 * An iWARP port's one GID is read from the device, but its net_device is followed too.
 *
 * The GIDs of a port on an idle slave of a bond depend on whether another port is on the
 * active slave.  So each computation records the port's net_device (roce_port_ndev), and
 * if that has changed, all ports on the slaves of its bond are marked.
 *
 * Lock order: roce_dev.lock, then ib_gid_table.lock.  event_lock and the lock of
 * roce_devs are innermost.
 */
#include <linux/hashtable.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <rdma/ib_cache.h>
#include <ibex/compat/net.h>
#include "device/device.h"
#include "gid/gid.h"

#define ROCE_RETRY_DELAY	HZ	/* after -ENOMEM */

struct workqueue_struct *ibcore_gid_wq;

/* The net_device of a RoCE port when its GIDs were last computed. */
struct roce_port_ndev {
	struct net_device *ndev;	/* held, or NULL; others only compare it */
	netdevice_tracker tracker;
};

/* A device with RoCE or iWARP ports, from ibcore_roce_setup to ibcore_roce_cleanup. */
struct roce_dev {
	struct ib_device *dev;
	u32 id;				/* in roce_devs */
	refcount_t ref;			/* that of roce_devs, and one per lookup */
	struct completion idle;		/* completed when ref is zero */
	struct mutex lock;		/* one computation at a time */
	struct delayed_work work;
	bool announce;			/* send GID_CHANGE events; under lock */
	unsigned long *dirty;		/* marked ports, by number; atomic */
	unsigned long *again;		/* ports to retry; under lock */
	struct roce_port_ndev *port_ndev;	/* by port; written under lock */
};

static DEFINE_XARRAY_ALLOC(roce_devs);

/* A net_device that has changed. */
struct roce_event {
	struct hlist_node node;
	struct net_device *ndev;
	netdevice_tracker tracker;
};

static DEFINE_SPINLOCK(event_lock);
static DEFINE_HASHTABLE(event_table, 6);	/* event_lock */
static bool event_lost;				/* event_lock */

static void roce_note(struct net_device *ndev);

/**
 * roce_gid_type_mask_support - the GID types a port supports
 * @ib_dev: the device
 * @port: port number, counted from 1
 *
 * Context: any.
 * Return: a mask of BIT(enum ib_gid_type); BIT(IB_GID_TYPE_IB) for a port that is
 * not RoCE.
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

/* ---- the net_devices of the ports ---- */

bool ibcore_roce_has_port(const struct net_device *ndev)
{
	struct roce_dev *rd;
	unsigned long id;
	bool ret = false;
	u32 port;

	xa_lock(&roce_devs);
	xa_for_each(&roce_devs, id, rd)
		rdma_for_each_port(rd->dev, port)
			ret |= READ_ONCE(rd->port_ndev[port].ndev) == ndev;
	xa_unlock(&roce_devs);
	return ret;
}

static void roce_note_bond(struct net_device *ndev)
{
	struct net_device *bond;

	rcu_read_lock();
	bond = ndev ? ibcore_roce_bond_of(ndev) : NULL;
	if (bond)
		roce_note(bond);
	rcu_read_unlock();
}

/*
 * Records that @port is on @ndev, or on none if @ndev is NULL or being unregistered:
 * then the update that the unregistration schedules puts the reference here.  Under
 * rd->lock, or when @rd has left roce_devs.
 */
static void roce_port_ndev_set(struct roce_dev *rd, u32 port, struct net_device *ndev)
{
	struct roce_port_ndev *at = &rd->port_ndev[port];
	netdevice_tracker tracker = at->tracker;
	struct net_device *old = at->ndev;

	if (ndev && ibex_reg_state(ndev) != NETREG_REGISTERED)
		ndev = NULL;
	if (ndev == old)
		return;
	if (ndev)
		netdev_hold(ndev, &at->tracker, GFP_KERNEL);
	WRITE_ONCE(at->ndev, ndev);
	/* After the write: a port marked by this finds it (see roce_dispatch). */
	roce_note_bond(old);
	roce_note_bond(ndev);
	netdev_put(old, &tracker);
}

/* ---- updating the tables ---- */

/* Returns 0, or -ENOMEM if the caller must retry later. */
static int roce_sync_port(struct roce_dev *rd, u32 port, bool *changed)
{
	struct ibcore_gid_wants wants = {};
	int ret;

	lockdep_assert_held(&rd->lock);
	if (rdma_protocol_iwarp(rd->dev, port)) {
		ret = ibcore_gid_update_ib(rd->dev, port);
		if (ret)
			ibcore_gid_del_netdev(rd->dev, port, NULL);
		return ret == -ENOMEM ? ret : 0;
	}
	/* Recorded first: the computation must not find the port's former net_device. */
	wants.port_ndev = ib_device_get_netdev(rd->dev, port);
	roce_port_ndev_set(rd, port, wants.port_ndev);
	ret = ibcore_gid_wants_get(&wants, rd->dev, port);
	if (!ret)
		ret = ibcore_gid_sync(rd->dev, port, wants.want, wants.n,
				      changed);
	ibcore_gid_wants_put(&wants);
	/* A net_device being unregistered must not wait until there is memory. */
	if (ret && ibcore_gid_del_netdev(rd->dev, port, NULL))
		*changed = true;
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

/*
 * Updates all marked ports and the ports to retry.  On error the caller schedules a
 * retry.  A port's mark is cleared before the network is read (see roce_dispatch).
 */
static int roce_sync(struct roce_dev *rd)
{
	bool changed, due;
	int ret, err = 0;
	u32 port;

	lockdep_assert_held(&rd->lock);
	rdma_for_each_port(rd->dev, port) {
		due = test_and_clear_bit(port, rd->dirty);
		due |= __test_and_clear_bit(port, rd->again);
		if (!due)
			continue;
		changed = false;
		ret = roce_sync_port(rd, port, &changed);
		if (ret) {
			__set_bit(port, rd->again);
			err = ret;
		}
		if (changed && rd->announce)
			roce_announce(rd, port);
	}
	return err;
}

/* If an event has queued the work meanwhile, the retry does not delay that. */
static void roce_sync_or_retry(struct roce_dev *rd)
{
	int ret;

	mutex_lock(&rd->lock);
	ret = roce_sync(rd);
	mutex_unlock(&rd->lock);
	if (ret)
		queue_delayed_work(ibcore_gid_wq, &rd->work, ROCE_RETRY_DELAY);
}

static void roce_work(struct work_struct *work)
{
	roce_sync_or_retry(container_of(work, struct roce_dev, work.work));
}

/* The caller holds a reference on @rd: roce_dev_remove() waits for it. */
static void roce_mark(struct roce_dev *rd, u32 port)
{
	set_bit(port, rd->dirty);
	mod_delayed_work(ibcore_gid_wq, &rd->work, 0);
}

/* ---- the set of devices ---- */

/* Returns the first device with an id >= *@id, with a reference, and sets *@id to it. */
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

void ibcore_roce_resync(const struct ib_device *dev, u32 port)
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
	roce_sync_or_retry(rd);
}

/**
 * rdma_roce_rescan_device - recompute the GIDs of all RoCE ports of a device
 * @ib_dev: the device; nothing is done unless it is registered
 *
 * For drivers that have changed what ib_device_get_netdev() returns.
 *
 * Context: may sleep.
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
 * rdma_roce_rescan_port - recompute the GIDs of a RoCE port
 * @ib_dev: the device; nothing is done unless it is registered
 * @port: port number, counted from 1
 *
 * Context: may sleep.
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
 * roce_del_all_netdev_gids - delete a RoCE port's GIDs of one net_device
 * @ib_dev: the device; nothing is done unless it is registered
 * @port: port number, counted from 1
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
	kfree(rd->port_ndev);
	bitmap_free(rd->again);
	bitmap_free(rd->dirty);
	kfree(rd);
}

/*
 * No reference remains on @rd when it is freed:
 * (1) it leaves roce_devs first, so that no lookup finds it, and the reference of
 *     roce_devs is put;
 * (2) lookups put their references when they are done, which is waited for; only their
 *     callers and the work itself queue the work;
 * (3) the work is cancelled last, after which nothing queues it.
 * Then no computation runs that could record a net_device, and those recorded are put.
 */
static void roce_dev_remove(struct roce_dev *rd)
{
	u32 port;

	xa_erase(&roce_devs, rd->id);
	roce_dev_put(rd);
	wait_for_completion(&rd->idle);
	cancel_delayed_work_sync(&rd->work);
	rdma_for_each_port(rd->dev, port)
		roce_port_ndev_set(rd, port, NULL);
	roce_dev_free(rd);
}

static struct roce_dev *roce_dev_alloc(struct ib_device *dev)
{
	struct roce_dev *rd = kzalloc(sizeof(*rd), GFP_KERNEL);

	if (!rd)
		return NULL;
	rd->dirty = bitmap_zalloc(rdma_end_port(dev) + 1, GFP_KERNEL);
	rd->again = bitmap_zalloc(rdma_end_port(dev) + 1, GFP_KERNEL);
	rd->port_ndev = kcalloc(rdma_end_port(dev) + 1, sizeof(*rd->port_ndev),
				GFP_KERNEL);
	if (!rd->dirty || !rd->again || !rd->port_ndev) {
		kfree(rd->port_ndev);
		bitmap_free(rd->again);
		bitmap_free(rd->dirty);
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
 * Starts to update the GIDs of @dev, and fills the tables.  The device is added to
 * roce_devs first, so that no event is missed.
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

	smp_mb();	/* Pairs with roce_note(). */
	mutex_lock(&rd->lock);
	ret = roce_sync(rd);
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

/* ---- network events ---- */

/* Whether @port is not marked yet and a change of @ndev can change its GIDs. */
static bool roce_concerned(struct roce_dev *rd, u32 port,
			   struct net_device *ndev)
{
	struct net_device *rdma_ndev;
	bool ret;

	if (test_bit(port, rd->dirty))
		return false;
	/* A computation is running that may have read @ndev before the change. */
	if (mutex_is_locked(&rd->lock))
		return true;
	smp_rmb();	/* See the tables as the last computation left them. */
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

/* Marks the ports that @ndev concerns, or all ports if @ndev is NULL. */
static void roce_dispatch(struct net_device *ndev)
{
	struct roce_dev *rd;
	unsigned long id;
	u32 port;

	/*
	 * Orders the change before reading marks and locks; pairs with roce_sync().
	 * A port that is found marked will be computed after the change.
	 */
	smp_mb();
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

/* Context: any but hardirq.  A net_device that is queued already is not added. */
static void roce_note(struct net_device *ndev)
{
	struct roce_event *event;

	/*
	 * Orders the change before reading roce_devs; pairs with ibcore_roce_setup().
	 * A device that is not there yet will read the changed network.
	 */
	smp_mb();
	if (xa_empty(&roce_devs))
		return;
	spin_lock_bh(&event_lock);
	if (event_lost || event_pending(ndev))
		goto out;
	event = kmalloc(sizeof(*event), GFP_ATOMIC);
	if (!event) {
		event_lost = true;	/* all ports will be recomputed */
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

/* No device is registered; destroying the queue runs the events still queued. */
void ibcore_roce_exit(void)
{
	unregister_netdevice_notifier(&netdev_nb);
	unregister_inet6addr_notifier(&inet6addr_nb);
	unregister_inetaddr_notifier(&inetaddr_nb);
	/* RCU callbacks put references on GID entries, which queues work. */
	rcu_barrier();
	destroy_workqueue(ibcore_gid_wq);
	rcu_barrier();
}
