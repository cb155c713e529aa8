// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The lifetime of an RDMA device.
 *
 *	state		name,	sysfs,	registration	clients	next states
 *			index	caches	reference
 *	ALLOCATED	-	-	-		-	ib_register_device -> ENABLED
 *								(on error -> GONE)
 *	ENABLED		yes	yes	core's, users'	yes	unregistration -> GONE
 *								failed move -> DISABLED
 *	DISABLED	yes	yes	-		-	unregistration -> GONE
 *								move -> ENABLED
 *	GONE		-	-	-		-	(memory only)
 *
 * The state changes under device->unregistration_lock, which is held during the
 * whole of a registration, a move between namespaces and an unregistration.  Other
 * threads thus never see one of these half done.
 *
 * There are two kinds of reference on a device:
 *
 *   memory (get_device, put_device): the pointer stays valid.  Held by the driver
 *	from ib_alloc_device to ib_dealloc_device; by walks over the registry; by
 *	a queued unregistration; by open files and sysfs of the driver core.
 *   registration (ib_device_try_get, ib_device_put): the device stays ENABLED.
 *	Counted in device->refcount.  Core holds one while ENABLED; netlink, the
 *	drivers' notifiers and the user ABIs take more for the duration of a call.
 *
 * Registration runs the stages[] below in order; unregistration undoes them in
 * reverse order.
 *
 * Why no reference remains when device_down() has run:
 *  (1) ibcore_subdevs_remove() closed the list of sub devices and deleted each.  It
 *	waited for each ib_del_sub_device_and_put() that was deleting one.
 *  (2) ibcore_clients_remove() closed the device for clients under client_lock,
 *	and called remove() of each, latest first.  A client that unregisters at the
 *	same time takes client_lock, so it detached before or is detached already.
 *  (3) ibcore_compat_devs_remove() closed compat_devs and deleted all compat devices.
 *  (4) device_disable() dropped core's registration reference and waited for the
 *	last one.  From then on ib_device_try_get() fails: neither lookups by index,
 *	name or netdev nor netlink's walks return the device.
 *  (5) The CQ pools are freed: their users were clients, removed in (2), or held a
 *	registration reference, dropped in (4).
 *  (6) device_del() waited for readers of sysfs files.
 *  (7) ibcore_events_close() refuses further events and waited for the event work.
 *	The GID and P_Key caches then have no user; the GID tables are emptied.
 *  (8) RCU readers that still find the device, its ports or their hash table entries
 *	see refcount 0; the memory is freed after a grace period.
 *  (9) The device leaves the registry last, after dealloc_driver(): if
 *	ib_unregister_driver() does not find it, no driver code runs for it any more.
 * Memory references may remain; they do not lead to calls into the driver.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "device/device.h"
#include "gid/gid.h"
#include "netlink/nldev.h"
#include "qp/qp.h"
#include "sysfs/sysfs.h"

/* Work left over when ib_unregister_driver() returns does not call the driver. */
static struct workqueue_struct *unregister_wq;

/*
 * Data path commands, which userspace may use only if the driver sets their bits in
 * uverbs_cmd_mask.  A driver supports any other command by having its method.
 */
#define UVERBS_CMD_OPT_IN						\
	(BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) |			\
	 BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_PEEK_CQ) |				\
	 BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ) |			\
	 BIT_ULL(IB_USER_VERBS_CMD_BIND_MW))

#define OP(name) offsetof(struct ib_device, ops.name)

/* Methods that every device must have. */
static const size_t required_ops[] = {
	OP(query_device), OP(query_port), OP(get_port_immutable),
};

/* Methods that a device needs to be usable by kernel ULPs. */
static const size_t kverbs_ops[] = {
	OP(alloc_pd), OP(dealloc_pd), OP(get_dma_mr), OP(dereg_mr),
	OP(create_cq), OP(destroy_cq), OP(poll_cq), OP(req_notify_cq),
	OP(create_qp), OP(modify_qp), OP(destroy_qp), OP(post_send),
	OP(post_recv),
};

static bool has_ops(const struct ib_device *dev, const size_t *ops, size_t n)
{
	while (n--)
		if (!*(void **)((char *)dev + ops[n]))
			return false;
	return true;
}

/* ---- states ---- */

static const u8 next_states[IBCORE_DEV_STATES] = {
	[IBCORE_DEV_ALLOCATED]	= BIT(IBCORE_DEV_ENABLED) | BIT(IBCORE_DEV_GONE),
	[IBCORE_DEV_ENABLED]	= BIT(IBCORE_DEV_DISABLED) | BIT(IBCORE_DEV_GONE),
	[IBCORE_DEV_DISABLED]	= BIT(IBCORE_DEV_ENABLED) | BIT(IBCORE_DEV_GONE),
	[IBCORE_DEV_GONE]	= 0,
};

static void set_state(struct ib_device *dev, enum ibcore_dev_state next)
{
	struct ibcore_device *priv = ibcore_priv(dev);

	lockdep_assert_held(&dev->unregistration_lock);
	WARN_ON(!(next_states[priv->state] & BIT(next)));
	priv->state = next;
}

static bool is_registered(struct ib_device *dev)
{
	enum ibcore_dev_state state = ibcore_priv(dev)->state;

	return state == IBCORE_DEV_ENABLED || state == IBCORE_DEV_DISABLED;
}

static void lock_device(struct ib_device *dev)
{
	mutex_lock_nested(&dev->unregistration_lock,
			  ibex_parent(dev) ? SINGLE_DEPTH_NESTING : 0);
}

/* ---- stages ---- */

static int attrs_up(struct ib_device *dev)
{
	struct ib_udata no_udata = {};

	memset(&dev->attrs, 0, sizeof(dev->attrs));
	dev->kverbs_provider = has_ops(dev, kverbs_ops, ARRAY_SIZE(kverbs_ops));
	return dev->ops.query_device(dev, &dev->attrs, &no_udata);
}

static int counter_up(struct ib_device *dev)
{
	ibcore_counter_setup(dev);
	return 0;
}

static int cgroup_up(struct ib_device *dev)
{
	ibcore_cgroup_setup(dev);
	return 0;
}

static int groups_up(struct ib_device *dev)
{
	unsigned int n = 0;

	dev->groups[n++] = &ibcore_dev_attr_group;
	if (dev->ops.device_group)
		dev->groups[n++] = dev->ops.device_group;
	dev->hw_stats_attr_index = n;
	return ibcore_hw_stats_setup_device(dev);
}

/* ib_register_device() sends the KOBJ_ADD uevent once the device is complete. */
static int sysfs_up(struct ib_device *dev)
{
	dev_set_uevent_suppress(&dev->dev, true);
	return device_add(&dev->dev);
}

static void sysfs_down(struct ib_device *dev)
{
	device_del(&dev->dev);
}

static int sysfs_ports_up(struct ib_device *dev)
{
	return ibcore_sysfs_setup_ports(&dev->coredev);
}

static void sysfs_ports_down(struct ib_device *dev)
{
	ibcore_sysfs_remove_ports(&dev->coredev);
}

/*
 * @up cleans up after itself when it fails.  @release runs on the last put_device()
 * and frees what drivers may use until they call ib_dealloc_device().
 */
static const struct {
	int (*up)(struct ib_device *dev);
	void (*down)(struct ib_device *dev);
	void (*release)(struct ib_device *dev);
} stages[] = {
	{ ibcore_ports_setup },
	{ attrs_up },
	{ counter_up,		NULL,			ibcore_counter_release },
	{ groups_up,		NULL,			ibcore_hw_stats_release },
	{ ibcore_cache_setup,	ibcore_cache_cleanup,	ibcore_cache_release },
	{ ibcore_events_open,	ibcore_events_close },
	{ cgroup_up,		ibcore_cgroup_release },
	{ sysfs_up,		sysfs_down },
	{ sysfs_ports_up,	sysfs_ports_down },
};

static void stages_down(struct ib_device *dev, unsigned int n)
{
	while (n--)
		if (stages[n].down)
			stages[n].down(dev);
}

static int stages_up(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(stages); i++) {
		ret = stages[i].up(dev);
		if (ret) {
			stages_down(dev, i);
			return ret;
		}
		priv->stages = i + 1;
	}
	return 0;
}

/* ---- allocation ---- */

static void device_release(struct device *device)
{
	struct ib_device *dev = container_of(device, struct ib_device, dev);
	struct ibcore_device *priv = ibcore_priv(dev);
	unsigned int i = priv->stages;

	WARN_ON(refcount_read(&dev->refcount));
	while (i--)
		if (stages[i].release)
			stages[i].release(dev);
	ibcore_restrack_release(dev);
	ibcore_ports_release(dev);

	WARN_ON(!list_empty(&priv->attached));
	WARN_ON(!xa_empty(&dev->client_data));
	WARN_ON(!xa_empty(&dev->compat_devs));
	xa_destroy(&dev->client_data);
	xa_destroy(&dev->compat_devs);
	mutex_destroy(&priv->client_lock);
	mutex_destroy(&dev->unregistration_lock);
	mutex_destroy(&dev->compat_devs_mutex);
	ibcore_subdevs_destroy(dev);
	kfree_rcu(priv, rcu);
}

/* compat_devs_mutex excludes a rename, which would free the name in use here. */
static void tell_udev(struct ib_device *dev, enum kobject_action action)
{
	mutex_lock(&dev->compat_devs_mutex);
	kobject_uevent(&dev->dev.kobj, action);
	mutex_unlock(&dev->compat_devs_mutex);
}

static void unregistration_work(struct work_struct *work);

static void init_fields(struct ib_device *dev)
{
	spin_lock_init(&dev->qp_open_list_lock);
	rwlock_init(&dev->cache_lock);
	mutex_init(&dev->unregistration_lock);
	mutex_init(&dev->compat_devs_mutex);
	ibcore_subdevs_init(dev);
	xa_init_flags(&dev->compat_devs, XA_FLAGS_ALLOC);
	init_completion(&dev->unreg_completion);
	INIT_WORK(&dev->unregistration_work, unregistration_work);
	ibcore_clients_init(dev);
	ibcore_events_init(dev);
	ibcore_cq_pool_init(dev);
	dev->uverbs_cmd_mask =
		GENMASK_ULL(IB_USER_VERBS_CMD_OPEN_QP, 0) & ~UVERBS_CMD_OPT_IN;
}

static void init_coredev(struct ib_device *dev)
{
	dev->dev.class = &ibcore_class;
	dev->dev.groups = dev->groups;
	dev->dev.release = device_release;
	dev->coredev.owner = dev;
	INIT_LIST_HEAD(&dev->coredev.port_list);
	write_pnet(&dev->coredev.rdma_net, &init_net);
	device_initialize(&dev->dev);
}

/**
 * _ib_alloc_device - Allocate a device
 * @size: bytes of the driver's structure, which begins with a struct ib_device
 *
 * Drivers call it through ib_alloc_device().  The memory is zeroed and belongs
 * to the caller until ib_dealloc_device(); nothing else frees it.
 *
 * Context: may sleep.
 * Return: the device, or NULL if out of memory.
 */
struct ib_device *_ib_alloc_device(size_t size)
{
	struct ibcore_device *priv;

	if (WARN_ON(size < sizeof(struct ib_device)))
		return NULL;

	priv = kzalloc(offsetof(struct ibcore_device, ib) + size, GFP_KERNEL);
	if (!priv)
		return NULL;
	mutex_init(&priv->client_lock);
	init_fields(&priv->ib);
	if (ibcore_restrack_setup(&priv->ib)) {
		kfree(priv);
		return NULL;
	}
	init_coredev(&priv->ib);
	return &priv->ib;
}
EXPORT_SYMBOL(_ib_alloc_device);

/* Calls the driver's dealloc_driver() and drops the references on the ports' netdevs. */
static void dealloc_driver(struct ib_device *dev)
{
	if (dev->ops.dealloc_driver)
		dev->ops.dealloc_driver(dev);
	ibcore_netdev_release(dev);
}

/**
 * ib_dealloc_device - Give up a device
 * @dev: from ib_alloc_device(), not or no longer registered
 *
 * Calls the driver's dealloc_driver() and drops the driver's memory reference.
 * A driver that has dealloc_driver() calls this only if it did not call
 * ib_register_device() or if that failed; otherwise unregistration does the same.
 *
 * Context: may sleep.
 */
void ib_dealloc_device(struct ib_device *dev)
{
	WARN_ON(is_registered(dev));
	dealloc_driver(dev);
	put_device(&dev->dev);
}
EXPORT_SYMBOL(ib_dealloc_device);

/*
 * All members of struct ib_device_ops from device_group to the last are pointers or
 * sizes, one machine word each, so a loop over words can copy them.
 */
#define OPS_FIRST	(OP(device_group) - offsetof(struct ib_device, ops))
#define OPS_SIZE	sizeof_field(struct ib_device, ops)
#define OPS_WORDS	((OPS_SIZE - OPS_FIRST) / sizeof(unsigned long))

static_assert(sizeof(void *) == sizeof(unsigned long));
static_assert(sizeof(size_t) == sizeof(unsigned long));
static_assert(OPS_FIRST % sizeof(unsigned long) == 0);
static_assert(offsetofend(struct ib_device, ops.size_ib_xrcd) ==
	      offsetofend(struct ib_device, ops));

/**
 * ib_set_device_ops - Give a device (more) methods
 * @dev: the device, not yet registered
 * @ops: methods, attribute groups and object sizes; members that are NULL or 0 are
 *	ignored, and members the device already has are kept: the first call wins
 *
 * Context: any; the caller serialises.
 */
void ib_set_device_ops(struct ib_device *dev, const struct ib_device_ops *ops)
{
	const unsigned long *src = (const void *)ops + OPS_FIRST;
	unsigned long *dst = (void *)&dev->ops + OPS_FIRST;
	size_t i;

	if (ops->driver_id != RDMA_DRIVER_UNKNOWN) {
		WARN_ON(dev->ops.driver_id != RDMA_DRIVER_UNKNOWN &&
			dev->ops.driver_id != ops->driver_id);
		dev->ops.driver_id = ops->driver_id;
	}
	if (ops->owner) {
		WARN_ON(dev->ops.owner && dev->ops.owner != ops->owner);
		dev->ops.owner = ops->owner;
	}
	if (ops->uverbs_abi_ver)
		dev->ops.uverbs_abi_ver = ops->uverbs_abi_ver;
	if (ops->uverbs_no_driver_id_binding)
		dev->ops.uverbs_no_driver_id_binding = 1;

	for (i = 0; i < OPS_WORDS; i++)
		if (!dst[i])
			dst[i] = src[i];
}
EXPORT_SYMBOL(ib_set_device_ops);

/* ---- registration ---- */

/*
 * Undoes device_enable(), also one that failed half way, and waits for all users of
 * the device.  May sleep for as long as the clients' remove() takes.
 */
static void device_disable(struct ib_device *dev)
{
	ibcore_clients_remove(dev);
	ibcore_compat_devs_remove(dev);
	ib_device_put(dev);
	wait_for_completion(&dev->unreg_completion);
	ibcore_cq_pool_cleanup(dev);
}

static int device_enable(struct ib_device *dev)
{
	int ret;

	reinit_completion(&dev->unreg_completion);
	refcount_set(&dev->refcount, 1);

	ret = dev->ops.enable_driver ? dev->ops.enable_driver(dev) : 0;
	if (ret)
		goto err;
	/* Clients must see the port states that enable_driver() set. */
	ibcore_events_flush(dev);

	ret = ibcore_compat_devs_add(dev);
	if (ret)
		goto err;
	ret = ibcore_clients_add(dev);
	if (ret)
		goto err;
	return 0;
err:
	device_disable(dev);
	return ret;
}

static int device_up(struct ib_device *dev, const char *name)
{
	int ret;

	ret = ibcore_registry_add(dev, name);
	if (ret)
		return ret;
	ret = stages_up(dev);
	if (ret)
		goto err_registry;
	ret = device_enable(dev);
	if (ret)
		goto err_stages;
	ibcore_subdevs_open(dev);
	return 0;

err_stages:
	stages_down(dev, ARRAY_SIZE(stages));
err_registry:
	ibcore_registry_remove(dev);
	return ret;
}

/* See "Why no reference remains" at the top of this file. */
static void device_down(struct ib_device *dev)
{
	bool drop = dev->ops.dealloc_driver;

	lockdep_assert_held(&dev->unregistration_lock);
	ibcore_nldev_notify(dev, 0, RDMA_UNREGISTER_EVENT);
	ibcore_subdevs_remove(dev);
	if (ibcore_priv(dev)->state == IBCORE_DEV_ENABLED)
		device_disable(dev);
	stages_down(dev, ARRAY_SIZE(stages));
	set_state(dev, IBCORE_DEV_GONE);
	if (drop)
		dealloc_driver(dev);
	else
		ibcore_netdev_release(dev);
	ibcore_registry_remove(dev);
	if (drop)
		put_device(&dev->dev);
}

/* The caller holds a memory reference. */
static void unregister(struct ib_device *dev)
{
	lock_device(dev);
	if (is_registered(dev))
		device_down(dev);
	mutex_unlock(&dev->unregistration_lock);
}

static int check_device(struct ib_device *dev, struct device *dma_device)
{
	if (!has_ops(dev, required_ops, ARRAY_SIZE(required_ops)))
		return -EINVAL;
	if (!dma_device && !IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA))
		return -EINVAL;
	return ibcore_priv(dev)->state == IBCORE_DEV_ALLOCATED ? 0 : -EINVAL;
}

/**
 * ib_register_device - Make a device known to clients and to userspace
 * @dev: from ib_alloc_device(), its methods set
 * @name: the name, unique among devices; one "%d" in it becomes the lowest
 *	number free
 * @dma_device: the device that does DMA, its mask and segment limits set; or NULL
 *	if consumers must pass kernel virtual addresses instead of DMA addresses
 *
 * Returns when add() of all clients has returned.  If the driver has
 * dealloc_driver(), another thread may unregister and free the device as soon as
 * this returns 0.  After an error the driver must call ib_dealloc_device().
 *
 * Context: may sleep; takes rtnl, so the caller must not hold it.
 * Return: 0; -EINVAL: a method is missing, the name is invalid, or the device was
 * registered before; -ENFILE: the name is taken; -ENOMEM; or the driver's error.
 */
int ib_register_device(struct ib_device *dev, const char *name,
		       struct device *dma_device)
{
	int ret;

	lock_device(dev);
	ret = check_device(dev, dma_device);
	if (ret)
		goto out;
	dev->dma_device = dma_device;

	ret = device_up(dev, name);
	set_state(dev, ret ? IBCORE_DEV_GONE : IBCORE_DEV_ENABLED);
	if (ret)
		goto out;
	dev_set_uevent_suppress(&dev->dev, false);
	tell_udev(dev, KOBJ_ADD);
	ibcore_nldev_notify(dev, 0, RDMA_REGISTER_EVENT);
	ibcore_netdev_notify_all(dev);
	/* After the unlock another thread may unregister and free @dev. */
	get_device(&dev->dev);
	mutex_unlock(&dev->unregistration_lock);
	put_device(&dev->dev);
	return 0;
out:
	mutex_unlock(&dev->unregistration_lock);
	return ret;
}
EXPORT_SYMBOL(ib_register_device);

/**
 * ib_unregister_device - Take a device away from clients and userspace
 * @dev: a registered device
 *
 * Returns when no client uses the device, no registration reference is held and
 * no event handler runs.  If the driver has dealloc_driver(), this has called it and
 * @dev must not be used any more.  Does nothing if the device is not registered.
 *
 * Context: may sleep; not under rtnl and not from a client's add() or remove().
 */
void ib_unregister_device(struct ib_device *dev)
{
	get_device(&dev->dev);
	unregister(dev);
	put_device(&dev->dev);
}
EXPORT_SYMBOL(ib_unregister_device);

/**
 * ib_unregister_device_and_put - Unregister a device found by a lookup
 * @dev: the device; this consumes the caller's registration reference on it
 *
 * For drivers with dealloc_driver().  Several threads may call it at once: each
 * returns when the device has been unregistered.
 *
 * Context: as ib_unregister_device().
 */
void ib_unregister_device_and_put(struct ib_device *dev)
{
	WARN_ON(!dev->ops.dealloc_driver);
	get_device(&dev->dev);
	ib_device_put(dev);
	unregister(dev);
	put_device(&dev->dev);
}
EXPORT_SYMBOL(ib_unregister_device_and_put);

static void unregistration_work(struct work_struct *work)
{
	struct ib_device *dev =
		container_of(work, struct ib_device, unregistration_work);

	unregister(dev);
	put_device(&dev->dev);
}

/**
 * ib_unregister_device_queued - Unregister a device from a work queue
 * @dev: the device; the caller holds a registration reference, and keeps it
 *
 * For drivers with dealloc_driver() that find out under rtnl, or in atomic context,
 * that a device must be unregistered.  The driver's module must then call
 * ib_unregister_driver() before it is unloaded.
 *
 * Context: any.
 */
void ib_unregister_device_queued(struct ib_device *dev)
{
	WARN_ON(!refcount_read(&dev->refcount));
	WARN_ON(!dev->ops.dealloc_driver);
	get_device(&dev->dev);
	if (!queue_work(unregister_wq, &dev->unregistration_work))
		put_device(&dev->dev);
}
EXPORT_SYMBOL(ib_unregister_device_queued);

/**
 * ib_unregister_driver - Unregister all devices of a driver
 * @driver_id: the driver's ID
 *
 * When this returns, dealloc_driver() has returned for each device of @driver_id,
 * also for those that other threads unregister, and the module may be unloaded.
 * The driver must not register devices any more.
 *
 * Context: as ib_unregister_device().
 */
void ib_unregister_driver(enum rdma_driver_id driver_id)
{
	struct ib_device *dev;
	u32 index;

	for (index = 0; (dev = ibcore_registry_next(&index)); index++) {
		if (dev->ops.driver_id == driver_id &&
		    !WARN_ON(!dev->ops.dealloc_driver))
			unregister(dev);
		put_device(&dev->dev);
	}
}
EXPORT_SYMBOL(ib_unregister_driver);

/**
 * ib_device_put - Drop a registration reference
 * @dev: from ib_device_try_get() or a lookup
 *
 * Context: any.
 */
void ib_device_put(struct ib_device *dev)
{
	if (refcount_dec_and_test(&dev->refcount))
		complete(&dev->unreg_completion);
}
EXPORT_SYMBOL(ib_device_put);

/* ---- moving between namespaces ---- */

static int move_locked(struct ib_device *dev, struct net *from, struct net *to)
{
	bool enabled = ibcore_priv(dev)->state == IBCORE_DEV_ENABLED;
	int err, ret;

	tell_udev(dev, KOBJ_REMOVE);
	if (enabled)
		device_disable(dev);

	/* The class takes the device's sysfs namespace from rdma_net. */
	write_pnet(&dev->coredev.rdma_net, to);
	ret = ibcore_device_rename_moved(dev);
	/* Do not point back to a namespace that exits, even if sysfs still shows it. */
	if (ret && check_net(from))
		write_pnet(&dev->coredev.rdma_net, from);

	err = device_enable(dev);
	if (err)
		ibdev_err(dev, "not usable after a move to another namespace: %d\n",
			  err);
	if (enabled == !!err)
		set_state(dev, err ? IBCORE_DEV_DISABLED : IBCORE_DEV_ENABLED);
	tell_udev(dev, KOBJ_ADD);
	return ret ?: err;
}

int ibcore_device_move(struct ib_device *dev, struct net *from, struct net *to)
{
	int ret = 0;

	lock_device(dev);
	if (!is_registered(dev) ||
	    !net_eq(read_pnet(&dev->coredev.rdma_net), from))
		ret = -ENODEV;
	else if (!net_eq(from, to))
		ret = move_locked(dev, from, to);
	mutex_unlock(&dev->unregistration_lock);
	return ret;
}

/* ---- module ---- */

int ibcore_device_init(void)
{
	int ret;

	unregister_wq = alloc_workqueue("ib_unregister", WQ_UNBOUND, 0);
	if (!unregister_wq)
		return -ENOMEM;
	ret = class_register(&ibcore_class);
	if (ret)
		destroy_workqueue(unregister_wq);
	return ret;
}

void ibcore_device_exit(void)
{
	class_unregister(&ibcore_class);
	destroy_workqueue(unregister_wq);
	ibcore_clients_exit();
	ibcore_registry_exit();
}
