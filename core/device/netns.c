// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Devices and network namespaces (rdma-system(8)).
 *
 * shared	every namespace sees every device.  In each namespace other than its
 *		own, a device has a compat device: another class device of the same
 *		name, whose sysfs files lead to the one device.
 * exclusive	only a device's own namespace sees it, and it can be moved
 *		(`rdma dev set DEV netns NS`).
 *
 * A compat device belongs to one pair of a device and a namespace.  It is in the
 * device's compat_devs, by the namespace's id, and is created and removed under
 * compat_devs_mutex.  A device enters the registry before it walks the namespaces, and
 * a namespace is added to the list nets before it walks the devices, so no pair is
 * missed.  If both walks find a pair, the first one creates its compat device.
 *
 * Why no compat device of a namespace remains when the namespace exits: (1) it was
 * removed from nets; (2) a device that found it there holds ibcore_nets_rwsem until its
 * compat device is created; (3) then each device in the registry is visited, and a
 * device that is not there any more removed its compat devices before it left.
 *
 * Only then is the namespace's id freed: moving its devices to init_net takes time,
 * and other namespaces may be created meanwhile.  So an entry of compat_devs always
 * belongs to the one namespace that has its id, in nets or exiting.
 */
#include <linux/capability.h>
#include <linux/idr.h>
#include <linux/slab.h>
#include "device/device.h"
#include "netlink/nldev.h"
#include "sysfs/sysfs.h"

unsigned int ibcore_net_id;
bool ibcore_netns_mode = true;

/* Written with ibcore_nets_rwsem held for writing. */
static bool shared = true;

static DECLARE_RWSEM(ibcore_nets_rwsem);
static LIST_HEAD(nets);		/* protected by ibcore_nets_rwsem */
static DEFINE_IDA(net_ids);	/* of namespaces in nets, and of those exiting */

bool ibcore_netns_shared(void)
{
	return READ_ONCE(shared);
}

/**
 * rdma_dev_access_netns - Whether a namespace may use a device
 * @dev: the device
 * @net: the namespace
 *
 * Context: any.
 * Return: true in shared mode, or if @net is the namespace of @dev.
 */
bool rdma_dev_access_netns(const struct ib_device *dev, const struct net *net)
{
	return ibcore_netns_shared() ||
	       net_eq(read_pnet(&dev->coredev.rdma_net), net);
}
EXPORT_SYMBOL(rdma_dev_access_netns);

/* ---- one compat device ---- */

static void compat_release(struct device *device)
{
	kfree(container_of(device, struct ib_core_device, dev));
}

static struct ib_core_device *compat_alloc(struct ib_device *dev,
					   struct net *net)
{
	struct ib_core_device *cdev = kzalloc(sizeof(*cdev), GFP_KERNEL);

	if (!cdev)
		return NULL;
	cdev->owner = dev;
	INIT_LIST_HEAD(&cdev->port_list);
	write_pnet(&cdev->rdma_net, net);
	cdev->dev.class = &ibcore_class;
	cdev->dev.groups = dev->groups;
	cdev->dev.parent = dev->dev.parent;
	cdev->dev.release = compat_release;
	device_initialize(&cdev->dev);
	return cdev;
}

/* Removes @cdev from sysfs; the last reference on it frees it. */
static void compat_del(struct ib_core_device *cdev)
{
	ibcore_sysfs_remove_ports(cdev);
	device_del(&cdev->dev);
	put_device(&cdev->dev);
}

static struct ib_core_device *compat_create(struct ib_device *dev,
					    struct net *net)
{
	struct ib_core_device *cdev;
	int ret;

	lockdep_assert_held(&dev->compat_devs_mutex); /* no rename */
	cdev = compat_alloc(dev, net);
	if (!cdev)
		return ERR_PTR(-ENOMEM);
	ret = dev_set_name(&cdev->dev, "%s", dev_name(&dev->dev));
	if (ret)
		goto err_put;
	ret = device_add(&cdev->dev);
	if (ret)
		goto err_put;
	ret = ibcore_sysfs_setup_ports(cdev);
	if (ret)
		goto err_del;
	return cdev;

err_del:
	device_del(&cdev->dev);
err_put:
	put_device(&cdev->dev);
	return ERR_PTR(ret);
}

static int compat_add_locked(struct ib_device *dev, struct ibcore_net *cnet)
{
	struct ib_core_device *cdev;
	int ret;

	/* A closed device will still walk the namespaces, or is being unregistered. */
	if (!ibcore_priv(dev)->compat_open)
		return 0;
	if (net_eq(read_pnet(&dev->coredev.rdma_net), read_pnet(&cnet->net)))
		return 0;

	ret = xa_insert(&dev->compat_devs, cnet->id, NULL, GFP_KERNEL);
	if (ret)	/* -EBUSY: the other walk was faster */
		return ret == -EBUSY ? 0 : ret;
	cdev = compat_create(dev, read_pnet(&cnet->net));
	if (IS_ERR(cdev)) {
		xa_erase(&dev->compat_devs, cnet->id);
		return PTR_ERR(cdev);
	}
	xa_store(&dev->compat_devs, cnet->id, cdev, GFP_NOWAIT); /* reserved */
	return 0;
}

static int compat_add(struct ib_device *dev, struct ibcore_net *cnet)
{
	int ret;

	mutex_lock(&dev->compat_devs_mutex);
	ret = compat_add_locked(dev, cnet);
	mutex_unlock(&dev->compat_devs_mutex);
	return ret;
}

static void compat_remove(struct ib_device *dev, struct ibcore_net *cnet)
{
	struct ib_core_device *cdev;

	mutex_lock(&dev->compat_devs_mutex);
	cdev = xa_erase(&dev->compat_devs, cnet->id);
	if (cdev)
		compat_del(cdev);
	mutex_unlock(&dev->compat_devs_mutex);
}

/* ---- all namespaces of a device ---- */

static int compat_add_nets(struct ib_device *dev)
{
	struct ibcore_net *cnet;
	int ret;

	lockdep_assert_held(&ibcore_nets_rwsem);
	if (!shared)
		return 0;
	list_for_each_entry(cnet, &nets, node) {
		ret = compat_add(dev, cnet);
		if (ret)
			return ret;
	}
	return 0;
}

/* On failure the caller calls ibcore_compat_devs_remove(). */
int ibcore_compat_devs_add(struct ib_device *dev)
{
	int ret;

	mutex_lock(&dev->compat_devs_mutex);
	ibcore_priv(dev)->compat_open = true;
	mutex_unlock(&dev->compat_devs_mutex);

	down_read(&ibcore_nets_rwsem);
	ret = compat_add_nets(dev);
	up_read(&ibcore_nets_rwsem);
	return ret;
}

static void compat_remove_all(struct ib_device *dev)
{
	struct ib_core_device *cdev;
	unsigned long id;

	lockdep_assert_held(&dev->compat_devs_mutex);
	xa_for_each(&dev->compat_devs, id, cdev) {
		xa_erase(&dev->compat_devs, id);
		compat_del(cdev);
	}
}

void ibcore_compat_devs_remove(struct ib_device *dev)
{
	mutex_lock(&dev->compat_devs_mutex);
	ibcore_priv(dev)->compat_open = false;
	compat_remove_all(dev);
	mutex_unlock(&dev->compat_devs_mutex);
}

void ibcore_compat_devs_rename(struct ib_device *dev, const char *name)
{
	struct ib_core_device *cdev;
	unsigned long id;

	lockdep_assert_held(&dev->compat_devs_mutex);
	xa_for_each(&dev->compat_devs, id, cdev)
		if (device_rename(&cdev->dev, name))
			dev_warn(&cdev->dev, "keeps its name beside %s\n", name);
}

/* ---- shared or exclusive ---- */

static bool only_init_net(void)
{
	struct ibcore_net *cnet;

	lockdep_assert_held(&ibcore_nets_rwsem);
	list_for_each_entry(cnet, &nets, node)
		if (!net_eq(read_pnet(&cnet->net), &init_net))
			return false;
	return true;
}

static int compat_add_devices(void)
{
	struct ib_device *dev;
	int ret = 0;
	u32 index;

	for (index = 0; !ret && (dev = ibcore_registry_next(&index)); index++) {
		ret = compat_add_nets(dev);
		put_device(&dev->dev);
	}
	return ret;
}

static void compat_remove_devices(void)
{
	struct ib_device *dev;
	u32 index;

	for (index = 0; (dev = ibcore_registry_next(&index)); index++) {
		mutex_lock(&dev->compat_devs_mutex);
		compat_remove_all(dev);
		mutex_unlock(&dev->compat_devs_mutex);
		put_device(&dev->dev);
	}
}

static int set_shared_locked(bool on)
{
	int ret;

	if (shared == on)
		return 0;
	/* Other namespaces may be using devices that they would lose. */
	if (!on && !only_init_net() && !ibcore_registry_empty())
		return -EBUSY;

	WRITE_ONCE(shared, on);
	if (!on)
		return 0;
	ret = compat_add_devices();
	if (ret) {
		WRITE_ONCE(shared, false);
		compat_remove_devices();
	}
	return ret;
}

int ibcore_netns_set_shared(bool on)
{
	int ret;

	down_write(&ibcore_nets_rwsem);
	ret = set_shared_locked(on);
	up_write(&ibcore_nets_rwsem);
	return ret;
}

/* ---- moving ---- */

static int may_move(struct sk_buff *skb, struct ib_device *dev, struct net *net)
{
	if (!netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	/* Without disassociate_ucontext, a process using @dev could block the move. */
	if (!dev->ops.disassociate_ucontext || ibcore_netns_shared())
		return -EOPNOTSUPP;
	return 0;
}

/*
 * @ns_fd: the current process's file descriptor of the target namespace.  The move
 * waits for all registration references, so this drops the caller's first.
 */
int ibcore_device_set_netns(struct sk_buff *skb, struct ib_device *dev,
			    u32 ns_fd)
{
	/* Not dereferenced.  If @dev is moved meanwhile, this returns -ENODEV. */
	struct net *from = read_pnet(&dev->coredev.rdma_net);
	struct net *net = get_net_ns_by_fd(ns_fd);
	int ret;

	if (IS_ERR(net)) {
		ib_device_put(dev);
		return PTR_ERR(net);
	}
	ret = may_move(skb, dev, net);
	get_device(&dev->dev);
	ib_device_put(dev);
	if (!ret)
		ret = ibcore_device_move(dev, from, net);
	put_device(&dev->dev);
	put_net(net);
	return ret;
}

/* ---- namespaces ---- */

static void net_leave_devices(struct ibcore_net *cnet)
{
	struct net *net = read_pnet(&cnet->net);
	struct ib_device *dev;
	u32 index;

	for (index = 0; (dev = ibcore_registry_next(&index)); index++) {
		compat_remove(dev, cnet);
		if (!net_eq(net, &init_net) &&
		    net_eq(read_pnet(&dev->coredev.rdma_net), net))
			ibcore_device_move(dev, net, &init_net);
		put_device(&dev->dev);
	}
}

/* The caller's lock keeps the mode while compat devices are created. */
static int net_join_devices(struct ibcore_net *cnet)
{
	struct ib_device *dev;
	int ret = 0;
	u32 index;

	lockdep_assert_held(&ibcore_nets_rwsem);
	if (!shared)
		return 0;
	for (index = 0; !ret && (dev = ibcore_registry_next(&index)); index++) {
		ret = compat_add(dev, cnet);
		put_device(&dev->dev);
	}
	return ret;
}

static void net_leave(struct ibcore_net *cnet)
{
	down_write(&ibcore_nets_rwsem);
	list_del(&cnet->node);
	up_write(&ibcore_nets_rwsem);
	net_leave_devices(cnet);
	ida_free(&net_ids, cnet->id);
}

static int net_join(struct ibcore_net *cnet)
{
	int ret = ida_alloc(&net_ids, GFP_KERNEL);

	if (ret < 0)
		return ret;
	cnet->id = ret;
	down_write(&ibcore_nets_rwsem);
	list_add_tail(&cnet->node, &nets);
	downgrade_write(&ibcore_nets_rwsem);
	ret = net_join_devices(cnet);
	up_read(&ibcore_nets_rwsem);
	if (ret)
		net_leave(cnet);
	return ret;
}

static int __net_init ibcore_net_init(struct net *net)
{
	struct ibcore_net *cnet = net_generic(net, ibcore_net_id);
	int ret;

	write_pnet(&cnet->net, net);
	ret = ibcore_nl_net_init(cnet);
	if (ret)
		return ret;
	ret = net_join(cnet);
	if (ret)
		ibcore_nl_net_exit(cnet);
	return ret;
}

static void __net_exit ibcore_net_exit(struct net *net)
{
	struct ibcore_net *cnet = net_generic(net, ibcore_net_id);

	net_leave(cnet);
	ibcore_nl_net_exit(cnet);
}

static struct pernet_operations ibcore_net_ops = {
	.init = ibcore_net_init,
	.exit = ibcore_net_exit,
	.id = &ibcore_net_id,
	.size = sizeof(struct ibcore_net),
};

int ibcore_netns_init(void)
{
	WRITE_ONCE(shared, ibcore_netns_mode);
	return register_pernet_device(&ibcore_net_ops);
}

void ibcore_netns_exit(void)
{
	unregister_pernet_device(&ibcore_net_ops);
	WARN_ON(!list_empty(&nets));
	WARN_ON(!ida_is_empty(&net_ids));
}
