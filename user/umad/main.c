// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_umad: MADs for user processes.  This file has the class infiniband_mad, the
 * device numbers, and the module as a client of ib_core.
 *
 * umad0 to umad63 and issm0 to issm63 have the minors that devices.txt assigns to
 * them; the devices with higher numbers have dynamic minors.
 *
 * A second client, "issm", only reports its device by netlink (the first client is
 * "umad").  It is registered after the first, and is therefore removed from each
 * device before it.
 */
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/rdma_netlink.h>
#include <ibex/client_nl.h>
#include <ibex/device.h>

#include "umad.h"

#define UMAD_MAJOR		231
#define UMAD_FIXED		64	/* fixed umad minors; as many for issm follow */
#define UMAD_DYNAMIC		(UMAD_MAX_PORTS - UMAD_FIXED)

#define UMAD_FIRST_DEVT		MKDEV(UMAD_MAJOR, 0)
#define UMAD_NR_FIXED		(2 * UMAD_FIXED)

static dev_t umad_dynamic_devt;		/* umad devices, then issm devices */
static DEFINE_IDA(umad_numbers);

/* ---- device numbers ---- */

dev_t umad_devt(int number)
{
	return number < UMAD_FIXED ? UMAD_FIRST_DEVT + number :
	       umad_dynamic_devt + (number - UMAD_FIXED);
}
EXPORT_SYMBOL_IF_KUNIT(umad_devt);

dev_t umad_issm_devt(int number)
{
	return number < UMAD_FIXED ? UMAD_FIRST_DEVT + UMAD_FIXED + number :
	       umad_dynamic_devt + UMAD_DYNAMIC + (number - UMAD_FIXED);
}
EXPORT_SYMBOL_IF_KUNIT(umad_issm_devt);

int umad_number_get(void)
{
	return ida_alloc_max(&umad_numbers, UMAD_MAX_PORTS - 1, GFP_KERNEL);
}
EXPORT_SYMBOL_IF_KUNIT(umad_number_get);

void umad_number_put(int number)
{
	ida_free(&umad_numbers, number);
}
EXPORT_SYMBOL_IF_KUNIT(umad_number_put);

static int umad_numbers_register(void)
{
	int ret;

	ret = register_chrdev_region(UMAD_FIRST_DEVT, UMAD_NR_FIXED,
				     umad_class.name);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&umad_dynamic_devt, 0, 2 * UMAD_DYNAMIC,
				  umad_class.name);
	if (ret)
		unregister_chrdev_region(UMAD_FIRST_DEVT, UMAD_NR_FIXED);
	return ret;
}

static void umad_numbers_unregister(void)
{
	unregister_chrdev_region(umad_dynamic_devt, 2 * UMAD_DYNAMIC);
	unregister_chrdev_region(UMAD_FIRST_DEVT, UMAD_NR_FIXED);
}

/* ---- class infiniband_mad ---- */

static CLASS_ATTR_STRING(abi_version, 0444, __stringify(IB_USER_MAD_ABI_VERSION));

static struct attribute *umad_class_attrs[] = {
	&class_attr_abi_version.attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(umad_class);

static struct umad_port *umad_dev_port(struct device *dev)
{
	return container_of(dev, struct umad_chardev, dev)->port;
}

static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	char name[IB_DEVICE_NAME_MAX];

	ibcore_device_name(umad_dev_port(dev)->ib_dev, name);
	return sysfs_emit(buf, "%s\n", name);
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t port_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", umad_dev_port(dev)->port_num);
}
static DEVICE_ATTR_RO(port);

/*
 * MADs that were dropped: the file was full, memory was short, or the sender's address
 * could not be determined.
 */
static ssize_t recv_dropped_show(struct device *dev, struct device_attribute *attr,
				 char *buf)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&umad_dev_port(dev)->dropped));
}
static DEVICE_ATTR_RO(recv_dropped);

static struct attribute *umad_dev_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_port.attr,
	&dev_attr_recv_dropped.attr,
	NULL
};

static umode_t umad_dev_attr_visible(struct kobject *kobj, struct attribute *attr,
				     int n)
{
	struct umad_chardev *chardev =
		container_of(kobj_to_dev(kobj), struct umad_chardev, dev);

	if (attr == &dev_attr_recv_dropped.attr && chardev == &chardev->port->issm)
		return 0;
	return attr->mode;
}

static const struct attribute_group umad_dev_group = {
	.attrs = umad_dev_attrs,
	.is_visible = umad_dev_attr_visible,
};
__ATTRIBUTE_GROUPS(umad_dev);

/* Keeps the default mode, as a process that can send MADs can manage the fabric. */
static char *umad_devnode(IBEX_CONST struct device *dev, umode_t *mode)
{
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

IBEX_CONST struct class umad_class = {
	.name = "infiniband_mad",
	.devnode = umad_devnode,
	.class_groups = umad_class_groups,
	.dev_groups = umad_dev_groups,
};

/* ---- clients ---- */

/* The ports of one device; the entries of ports without MADs are NULL. */
struct umad_device {
	u32 first_port;
	u32 nr_ports;
	struct umad_port *port[] __counted_by(nr_ports);
};

static int umad_add_device(struct ib_device *ib_dev);
static void umad_remove_device(struct ib_device *ib_dev, void *data);
static int umad_get_nl_info(struct ib_device *ib_dev, void *data,
			    struct ib_client_nl_info *res);
static int umad_issm_add(struct ib_device *ib_dev);
static int umad_issm_get_nl_info(struct ib_device *ib_dev, void *data,
				 struct ib_client_nl_info *res);

static struct ib_client umad_client = {
	.name = "umad",
	.add = umad_add_device,
	.remove = umad_remove_device,
	.get_nl_info = umad_get_nl_info,
};

static struct ib_client umad_issm_client = {
	.name = "issm",
	.add = umad_issm_add,
	.get_nl_info = umad_issm_get_nl_info,
};

static void umad_device_free(struct umad_device *udev)
{
	u32 i;

	for (i = 0; i < udev->nr_ports; i++)
		if (udev->port[i])
			umad_port_remove(udev->port[i]);
	kfree(udev);
}

static int umad_add_ports(struct umad_device *udev, struct ib_device *ib_dev)
{
	bool found = false;
	u32 port_num;

	rdma_for_each_port(ib_dev, port_num) {
		struct umad_port *port;

		if (!rdma_cap_ib_mad(ib_dev, port_num))
			continue;
		port = umad_port_create(ib_dev, port_num);
		if (IS_ERR(port))
			return PTR_ERR(port);
		udev->port[port_num - udev->first_port] = port;
		found = true;
	}
	return found ? 0 : -EOPNOTSUPP;
}

static int umad_add_device(struct ib_device *ib_dev)
{
	u32 first = rdma_start_port(ib_dev);
	u32 nr_ports = rdma_end_port(ib_dev) - first + 1;
	struct umad_device *udev;
	int ret;

	udev = kzalloc(struct_size(udev, port, nr_ports), GFP_KERNEL);
	if (!udev)
		return -ENOMEM;
	udev->first_port = first;
	udev->nr_ports = nr_ports;
	ret = umad_add_ports(udev, ib_dev);
	if (ret) {
		umad_device_free(udev);
		return ret;
	}
	ib_set_client_data(ib_dev, &umad_client, udev);
	return 0;
}

static void umad_remove_device(struct ib_device *ib_dev, void *data)
{
	umad_device_free(data);
}

/*
 * Returns the port or NULL.  The caller is a client that is attached to @ib_dev, or
 * runs between the add and remove of this client.
 */
VISIBLE_IF_KUNIT struct umad_port *umad_find_port(struct ib_device *ib_dev,
						  u32 port_num)
{
	const struct umad_device *udev = ib_get_client_data(ib_dev, &umad_client);

	if (!udev || port_num < udev->first_port ||
	    port_num - udev->first_port >= udev->nr_ports)
		return NULL;
	return udev->port[port_num - udev->first_port];
}
EXPORT_SYMBOL_IF_KUNIT(umad_find_port);

static int umad_get_nl_info(struct ib_device *ib_dev, void *data,
			    struct ib_client_nl_info *res)
{
	struct umad_port *port = umad_find_port(ib_dev, res->port);

	if (!port)
		return -EINVAL;
	res->abi = IB_USER_MAD_ABI_VERSION;
	res->cdev = &port->umad.dev;
	return 0;
}

/* Attaches to the devices that the first client is attached to, and is removed first. */
static int umad_issm_add(struct ib_device *ib_dev)
{
	return ib_get_client_data(ib_dev, &umad_client) ? 0 : -EOPNOTSUPP;
}

static int umad_issm_get_nl_info(struct ib_device *ib_dev, void *data,
				 struct ib_client_nl_info *res)
{
	struct umad_port *port = umad_find_port(ib_dev, res->port);

	if (!port || !port->has_issm)
		return -EINVAL;
	res->abi = IB_USER_MAD_ABI_VERSION;
	res->cdev = &port->issm.dev;
	return 0;
}

/* ---- the module ---- */

static int __init umad_init(void)
{
	int ret;

	ret = umad_numbers_register();
	if (ret)
		return ret;
	ret = class_register(&umad_class);
	if (ret)
		goto err_numbers;
	ret = ib_register_client(&umad_client);
	if (ret)
		goto err_class;
	ret = ib_register_client(&umad_issm_client);
	if (ret)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&umad_client);
err_class:
	class_unregister(&umad_class);
err_numbers:
	umad_numbers_unregister();
	return ret;
}
module_init(umad_init);

static void __exit umad_exit(void)
{
	ib_unregister_client(&umad_issm_client);
	ib_unregister_client(&umad_client);
	class_unregister(&umad_class);
	umad_numbers_unregister();
	ida_destroy(&umad_numbers);
}
module_exit(umad_exit);

MODULE_DESCRIPTION("InfiniBand userspace MAD access");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);
MODULE_ALIAS_RDMA_CLIENT("umad");
MODULE_ALIAS_RDMA_CLIENT("issm");
