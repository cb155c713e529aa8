// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sub devices: RDMA devices that a parent device's driver creates on request
 * (`rdma dev add NAME type SMI parent DEV`), and that are deleted with the parent.
 *
 * A parent has a list of its sub devices.  The thread that removes a sub device from
 * the list, under subdev_lock, must delete it.  The parent outlives its sub devices: its
 * unregistration first empties the list, and waits for threads that have removed a sub
 * device from it (subdevs_leaving).  They need no registration reference on the parent,
 * which is not to be had after a move to another namespace has failed.
 */
#include <linux/module.h>
#include <linux/wait_bit.h>
#include "device/device.h"

void ibcore_subdevs_init(struct ib_device *dev)
{
	mutex_init(&dev->subdev_lock);
	INIT_LIST_HEAD(&dev->subdev_list_head);
	INIT_LIST_HEAD(&dev->subdev_list);
}

void ibcore_subdevs_destroy(struct ib_device *dev)
{
	mutex_destroy(&dev->subdev_lock);
}

void ibcore_subdevs_open(struct ib_device *dev)
{
	mutex_lock(&dev->subdev_lock);
	ibcore_priv(dev)->subdev_open = true;
	mutex_unlock(&dev->subdev_lock);
}

static struct ib_device *pop_subdev(struct ib_device *parent)
{
	struct ib_device *sub;

	mutex_lock(&parent->subdev_lock);
	ibcore_priv(parent)->subdev_open = false;
	sub = list_first_entry_or_null(&parent->subdev_list_head,
				       struct ib_device, subdev_list);
	if (sub)
		list_del_init(&sub->subdev_list);
	mutex_unlock(&parent->subdev_lock);
	return sub;
}

void ibcore_subdevs_remove(struct ib_device *dev)
{
	struct ib_device *sub;

	while ((sub = pop_subdev(dev)))
		dev->ops.del_sub_dev(sub);
	wait_var_event(&ibcore_priv(dev)->subdevs_leaving,
		       /* Pairs with subdev_deleted(). */
		       !smp_load_acquire(&ibcore_priv(dev)->subdevs_leaving));
}

/* Returns false if @parent is being unregistered: the caller must delete @sub. */
static bool link_subdev(struct ib_device *parent, struct ib_device *sub,
			enum rdma_nl_dev_type type)
{
	bool open;

	mutex_lock(&parent->subdev_lock);
	open = ibcore_priv(parent)->subdev_open;
	if (open) {
		sub->type = type;
		sub->parent = parent;
		list_add_tail(&sub->subdev_list, &parent->subdev_list_head);
	}
	mutex_unlock(&parent->subdev_lock);
	return open;
}

static bool makes_subdevs(const struct ib_device *dev)
{
	return dev->ops.add_sub_dev && dev->ops.del_sub_dev;
}

/**
 * ib_add_sub_device - Have a device create a sub device
 * @parent: the device; the caller holds a reference
 * @type: kind of the sub device
 * @name: its name
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP: the driver has no sub devices; -ENODEV: @parent is being
 * unregistered; or the driver's error.
 */
int ib_add_sub_device(struct ib_device *parent, enum rdma_nl_dev_type type,
		      const char *name)
{
	struct ib_device *sub;
	int ret;

	if (!makes_subdevs(parent))
		return -EOPNOTSUPP;
	/* The reference delays the unregistration of @parent: its driver stays. */
	if (!ib_device_try_get(parent))
		return -ENODEV;
	sub = parent->ops.add_sub_dev(parent, type, name);
	ret = PTR_ERR_OR_ZERO(sub);
	if (!ret && !link_subdev(parent, sub, type)) {
		parent->ops.del_sub_dev(sub);
		ret = -ENODEV;
	}
	ib_device_put(parent);
	return ret;
}
EXPORT_SYMBOL(ib_add_sub_device);

/* Returns the parent, for subdev_deleted(), or NULL if @sub is being deleted. */
static struct ib_device *unlink_subdev(struct ib_device *sub)
{
	struct ib_device *parent = sub->parent;
	bool mine;

	mutex_lock(&parent->subdev_lock);
	mine = !list_empty(&sub->subdev_list);
	if (mine) {
		list_del_init(&sub->subdev_list);
		ibcore_priv(parent)->subdevs_leaving++;
		get_device(&parent->dev);
	}
	mutex_unlock(&parent->subdev_lock);
	return mine ? parent : NULL;
}

/* The parent may be unregistered after this. */
static void subdev_deleted(struct ib_device *parent)
{
	struct ibcore_device *priv = ibcore_priv(parent);

	mutex_lock(&parent->subdev_lock);
	/* Pairs with ibcore_subdevs_remove(): the sub device is gone. */
	smp_store_release(&priv->subdevs_leaving, priv->subdevs_leaving - 1);
	mutex_unlock(&parent->subdev_lock);
	wake_up_var(&priv->subdevs_leaving);
	put_device(&parent->dev);
}

/**
 * ib_del_sub_device_and_put - Delete a sub device
 * @sub: the sub device; this always consumes the caller's registration reference
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP: @sub is not a sub device; -ENODEV: it is being deleted.
 */
int ib_del_sub_device_and_put(struct ib_device *sub)
{
	struct ib_device *parent;

	if (!READ_ONCE(sub->parent)) {
		ib_device_put(sub);
		return -EOPNOTSUPP;
	}
	/* The reference on @sub delays its deletion, and so its parent's unregistration. */
	parent = unlink_subdev(sub);
	ib_device_put(sub);
	if (!parent)
		return -ENODEV;
	parent->ops.del_sub_dev(sub);
	subdev_deleted(parent);
	return 0;
}
EXPORT_SYMBOL(ib_del_sub_device_and_put);
