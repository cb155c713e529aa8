// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The net_device of a port: RoCE and iWARP ports send through one.  Most drivers set
 * it with ib_device_set_netdev(); if a driver has get_netdev(), core calls that
 * instead.
 *
 * A port holds a reference on its netdev, and each lookup returns another one.  A
 * hash table, read under RCU, leads from a netdev to its ports.  The netdev of a port
 * changes under the port's netdev_lock, in which hash_lock nests.
 *
 * A port keeps its netdev until the driver removes it or the device is unregistered:
 * in NETDEV_UNREGISTER drivers find the device by its netdev, and unregister it.
 */
#include <linux/hashtable.h>
#include <linux/rtnetlink.h>
#include <linux/seqlock.h>
#include <ibex/compat/net.h>
#include "device/device.h"
#include "gid/gid.h"
#include "netlink/nldev.h"

static DEFINE_HASHTABLE(ndev_hash, 6);
static DEFINE_SPINLOCK(hash_lock);
/* A reader that a moved entry led into another chain searches again. */
static seqcount_spinlock_t hash_seq =
	SEQCNT_SPINLOCK_ZERO(hash_seq, &hash_lock);

static struct net_device *port_ndev(struct ib_port_data *pdata)
{
	return rcu_dereference_protected(pdata->netdev,
					 lockdep_is_held(&pdata->netdev_lock));
}

static void rehash(struct ib_port_data *pdata, struct net_device *ndev)
{
	lockdep_assert_held(&pdata->netdev_lock);
	spin_lock(&hash_lock);
	write_seqcount_begin(&hash_seq);
	if (hash_hashed(&pdata->ndev_hash_link))
		hash_del_rcu(&pdata->ndev_hash_link);
	if (ndev)
		hash_add_rcu(ndev_hash, &pdata->ndev_hash_link,
			     (uintptr_t)ndev);
	write_seqcount_end(&hash_seq);
	spin_unlock(&hash_lock);
}

/* Returns whether the port had another netdev before. */
static bool replace_ndev(struct ib_port_data *pdata, struct net_device *ndev)
{
	netdevice_tracker tracker;
	struct net_device *old;
	bool changed;

	spin_lock_bh(&pdata->netdev_lock);
	old = port_ndev(pdata);
	changed = old != ndev;
	if (changed) {
		tracker = ibex_port_tracker(pdata);
		if (ndev)
			ibex_port_hold(pdata, ndev);
		rcu_assign_pointer(pdata->netdev, ndev);
		rehash(pdata, ndev);
	}
	spin_unlock_bh(&pdata->netdev_lock);
	if (changed)
		ibex_port_put(old, &tracker);
	return changed;
}

/**
 * ib_device_set_netdev - Set the netdev of a port
 * @ib_dev: the device, registered or not; its number of ports must be set
 * @ndev: the netdev, on which a reference is taken, or NULL
 * @port: the port
 *
 * For drivers without get_netdev().
 *
 * Context: may sleep; under rtnl or not.
 * Return: 0; -EINVAL: no such port; -ENOMEM.
 */
int ib_device_set_netdev(struct ib_device *ib_dev, struct net_device *ndev,
			 u32 port)
{
	int ret;

	if (!rdma_is_port_valid(ib_dev, port))
		return -EINVAL;
	ret = ibcore_ports_alloc(ib_dev);
	if (ret)
		return ret;
	if (!replace_ndev(&ib_dev->port_data[port], ndev))
		return 0;

	ibcore_roce_resync(ib_dev, port);
	if (ib_device_try_get(ib_dev)) {
		ibcore_nldev_notify(ib_dev, port,
				    ndev ? RDMA_NETDEV_ATTACH_EVENT :
					   RDMA_NETDEV_DETACH_EVENT);
		ib_device_put(ib_dev);
	}
	return 0;
}
EXPORT_SYMBOL(ib_device_set_netdev);

static struct net_device *stored_netdev(struct ib_device *dev, u32 port)
{
	struct ib_port_data *pdata;
	struct net_device *ndev;

	if (!dev->port_data)
		return NULL;
	/*
	 * Not under RCU alone: the port could put its reference, and unregistration
	 * stop waiting for references, before dev_hold() takes one.
	 */
	pdata = &dev->port_data[port];
	spin_lock_bh(&pdata->netdev_lock);
	ndev = port_ndev(pdata);
	dev_hold(ndev);
	spin_unlock_bh(&pdata->netdev_lock);
	return ndev;
}

/**
 * ib_device_get_netdev - The netdev of a port
 * @ib_dev: the device
 * @port: the port
 *
 * Context: not in hard interrupts; may sleep if the driver has get_netdev().
 * Return: the netdev, with a reference (dev_put); NULL if there is no such port, it
 * has no netdev, or the netdev has been unregistered (during NETDEV_UNREGISTER it is
 * still returned).
 */
struct net_device *ib_device_get_netdev(struct ib_device *ib_dev, u32 port)
{
	struct net_device *ndev;

	if (!rdma_is_port_valid(ib_dev, port))
		return NULL;
	if (ib_dev->ops.get_netdev)
		ndev = ib_dev->ops.get_netdev(ib_dev, port);
	else
		ndev = stored_netdev(ib_dev, port);
	if (ndev && ibex_reg_state(ndev) > NETREG_UNREGISTERING) {
		dev_put(ndev);
		ndev = NULL;
	}
	return ndev;
}
EXPORT_SYMBOL(ib_device_get_netdev);

static struct ib_device *find_by_netdev(struct net_device *ndev,
					enum rdma_driver_id driver_id)
{
	struct ib_port_data *pdata;
	struct ib_device *dev;

	hash_for_each_possible_rcu(ndev_hash, pdata, ndev_hash_link,
				   (uintptr_t)ndev) {
		dev = pdata->ib_dev;
		if (rcu_access_pointer(pdata->netdev) == ndev &&
		    (driver_id == RDMA_DRIVER_UNKNOWN ||
		     dev->ops.driver_id == driver_id) &&
		    ib_device_try_get(dev))
			return dev;
	}
	return NULL;
}

/**
 * ib_device_get_by_netdev - A registered device with a port on a netdev
 * @ndev: the netdev
 * @driver_id: the device's driver, or RDMA_DRIVER_UNKNOWN for any
 *
 * For drivers that use ib_device_set_netdev().
 *
 * Context: any but hard interrupts.
 * Return: the device with a registration reference (ib_device_put), or NULL.
 */
struct ib_device *ib_device_get_by_netdev(struct net_device *ndev,
					  enum rdma_driver_id driver_id)
{
	struct ib_device *dev;
	unsigned int seq;

	rcu_read_lock();
	do {
		seq = read_seqcount_begin(&hash_seq);
		dev = find_by_netdev(ndev, driver_id);
	} while (!dev && read_seqcount_retry(&hash_seq, seq));
	rcu_read_unlock();
	return dev;
}
EXPORT_SYMBOL(ib_device_get_by_netdev);

/* Drops the references on the ports' netdevs; the device is not registered. */
void ibcore_netdev_release(struct ib_device *dev)
{
	u32 port;

	if (!dev->port_data)
		return;
	rdma_for_each_port(dev, port)
		replace_ndev(&dev->port_data[port], NULL);
}

void ibcore_netdev_notify_all(struct ib_device *dev)
{
	struct net_device *ndev;
	u32 port;

	rdma_for_each_port(dev, port) {
		ndev = ib_device_get_netdev(dev, port);
		if (!ndev)
			continue;
		ibcore_nldev_notify(dev, port, RDMA_NETDEV_ATTACH_EVENT);
		dev_put(ndev);
	}
}

/* ---- netdevs that a device provides (IPoIB offload, OPA VNIC) ---- */

static int netdev_params(struct ib_device *device, u32 port_num,
			 enum rdma_netdev_t type,
			 struct rdma_netdev_alloc_params *params)
{
	memset(params, 0, sizeof(*params));
	if (!device->ops.rdma_netdev_get_params)
		return -EOPNOTSUPP;
	return device->ops.rdma_netdev_get_params(device, port_num, type,
						  params);
}

/**
 * rdma_init_netdev - Have a device initialize a netdev
 * @device: the device
 * @port_num: its port
 * @type: kind of netdev
 * @name: not used
 * @name_assign_type: not used
 * @setup: not used
 * @netdev: from rdma_alloc_netdev() with the same arguments, not yet registered
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP: @device provides none of @type; or the driver's error.
 */
int rdma_init_netdev(struct ib_device *device, u32 port_num,
		     enum rdma_netdev_t type, const char *name,
		     unsigned char name_assign_type,
		     void (*setup)(struct net_device *),
		     struct net_device *netdev)
{
	struct rdma_netdev_alloc_params params;
	int ret;

	ret = netdev_params(device, port_num, type, &params);
	if (ret)
		return ret;
	return params.initialize_rdma_netdev(device, port_num, netdev,
					     params.param);
}
EXPORT_SYMBOL(rdma_init_netdev);

/**
 * rdma_alloc_netdev - Allocate a netdev with the sizes a device requires
 * @device: the device
 * @port_num: its port
 * @type: kind of netdev
 * @name: as for alloc_netdev_mqs()
 * @name_assign_type: as for alloc_netdev_mqs()
 * @setup: as for alloc_netdev_mqs()
 *
 * Context: may sleep.
 * Return: the netdev; ERR_PTR(-EOPNOTSUPP): @device provides none of @type;
 * ERR_PTR(-ENOMEM); or the driver's error.
 */
struct net_device *rdma_alloc_netdev(struct ib_device *device, u32 port_num,
				     enum rdma_netdev_t type, const char *name,
				     unsigned char name_assign_type,
				     void (*setup)(struct net_device *))
{
	struct rdma_netdev_alloc_params params;
	struct net_device *ndev;
	int ret;

	ret = netdev_params(device, port_num, type, &params);
	if (ret)
		return ERR_PTR(ret);
	ndev = alloc_netdev_mqs(params.sizeof_priv, name, name_assign_type,
				setup, params.txqs, params.rxqs);
	return ndev ?: ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL(rdma_alloc_netdev);
