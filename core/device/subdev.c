// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sub devices: RDMA devices that a parent device's driver creates on request
 * (`rdma dev add NAME type SMI parent DEV`), and that are deleted with the parent.
 *
 * A parent has a list of its sub devices.  The thread that removes a sub device from
 * the list, under subdev_lock, must delete it.  The parent outlives its sub devices:
 * ib_del_sub_device_and_put() holds a registration reference on the parent, and the
 * parent's unregistration first empties the list.
 */
#include <linux/module.h>
#include "device/device.h"

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

/* Returns a registration reference on the parent, or NULL if @sub is being deleted. */
static struct ib_device *unlink_subdev(struct ib_device *sub)
{
	struct ib_device *parent = sub->parent;
	bool mine;

	mutex_lock(&parent->subdev_lock);
	mine = !list_empty(&sub->subdev_list) && ib_device_try_get(parent);
	if (mine)
		list_del_init(&sub->subdev_list);
	mutex_unlock(&parent->subdev_lock);
	return mine ? parent : NULL;
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
	/* The reference on @sub delays its deletion, and so its parent's. */
	parent = unlink_subdev(sub);
	ib_device_put(sub);
	if (!parent)
		return -ENODEV;
	parent->ops.del_sub_dev(sub);
	ib_device_put(parent);
	return 0;
}
EXPORT_SYMBOL(ib_del_sub_device_and_put);
