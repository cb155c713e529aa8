// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /sys/class/infiniband: the class and the attributes of a device.  The formats
 * are those of Documentation/ABI/stable/sysfs-class-infiniband.  sysfs_port.c
 * shows what is below ports/N.
 *
 * The directory of a device is visible in its network namespace.  If namespaces
 * share devices, each other namespace has a compat device of the same name.
 */
#include <linux/sysfs.h>

#include "device/device.h"
#include "sysfs/sysfs.h"

/*
 * Copies the name: userspace may request an event during a rename, and a rename
 * sends one itself.
 */
static int class_uevent(IBEX_CONST struct device *dev, struct kobj_uevent_env *env)
{
	const struct ib_core_device *coredev =
		container_of(dev, struct ib_core_device, dev);
	char name[IB_DEVICE_NAME_MAX];

	ibcore_device_name(coredev->owner, name);
	return add_uevent_var(env, "NAME=%s", name);
}

static const void *class_namespace(IBEX_CONST struct device *dev)
{
	return read_pnet(&container_of(dev, struct ib_core_device,
				       dev)->rdma_net);
}

struct class ibcore_class = {
	.name = "infiniband",
	.dev_uevent = class_uevent,
	.ns_type = &net_ns_type_operations,
	.namespace = class_namespace,
};

static ssize_t emit_guid(char *buf, __be64 guid)
{
	u64 v = be64_to_cpu(guid);

	return sysfs_emit(buf, "%04llx:%04llx:%04llx:%04llx\n", v >> 48,
			  (v >> 32) & 0xffff, (v >> 16) & 0xffff, v & 0xffff);
}

static ssize_t node_desc_show(struct device *device,
			      struct device_attribute *attr, char *buf)
{
	const char *desc = rdma_device_to_ibdev(device)->node_desc;

	/* 64 octets, not always NUL-terminated: IBA 14.2.5.2 */
	return sysfs_emit(buf, "%.*s\n", IB_DEVICE_NODE_DESC_MAX, desc);
}

static ssize_t node_desc_store(struct device *device,
			       struct device_attribute *attr, const char *buf,
			       size_t count)
{
	struct ib_device_modify modify = {};
	int ret;

	memcpy(modify.node_desc, buf, min(count, sizeof(modify.node_desc)));
	ret = ib_modify_device(rdma_device_to_ibdev(device),
			       IB_DEVICE_MODIFY_NODE_DESC, &modify);
	return ret ?: count;
}
static DEVICE_ATTR_RW(node_desc);

static ssize_t node_type_show(struct device *device,
			      struct device_attribute *attr, char *buf)
{
	static const char * const names[] = {
		[RDMA_NODE_IB_CA] = "CA",
		[RDMA_NODE_IB_SWITCH] = "switch",
		[RDMA_NODE_IB_ROUTER] = "router",
		[RDMA_NODE_RNIC] = "RNIC",
		[RDMA_NODE_USNIC] = "usNIC",
		[RDMA_NODE_USNIC_UDP] = "usNIC UDP",
		[RDMA_NODE_UNSPECIFIED] = "unspecified",
	};
	u8 type = rdma_device_to_ibdev(device)->node_type;
	const char *name = type < ARRAY_SIZE(names) ? names[type] : NULL;

	return sysfs_emit(buf, "%u: %s\n", type, name ?: "<unknown>");
}
static DEVICE_ATTR_RO(node_type);

static ssize_t node_guid_show(struct device *device,
			      struct device_attribute *attr, char *buf)
{
	return emit_guid(buf, rdma_device_to_ibdev(device)->node_guid);
}
static DEVICE_ATTR_RO(node_guid);

static ssize_t sys_image_guid_show(struct device *device,
				   struct device_attribute *attr, char *buf)
{
	struct ib_device *dev = rdma_device_to_ibdev(device);

	return emit_guid(buf, dev->attrs.sys_image_guid);
}
static DEVICE_ATTR_RO(sys_image_guid);

static ssize_t fw_ver_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	char version[IB_FW_VERSION_NAME_MAX] = {};

	ib_get_device_fw_str(rdma_device_to_ibdev(device), version);
	return sysfs_emit(buf, "%s\n", version);
}
static DEVICE_ATTR_RO(fw_ver);

static struct attribute *dev_attrs[] = {
	&dev_attr_node_type.attr,
	&dev_attr_node_guid.attr,
	&dev_attr_sys_image_guid.attr,
	&dev_attr_fw_ver.attr,
	&dev_attr_node_desc.attr,
	NULL
};

const struct attribute_group ibcore_dev_attr_group = {
	.attrs = dev_attrs,
};

/* Called after device_add() of @coredev.  On failure nothing is left behind. */
int ibcore_sysfs_setup_ports(struct ib_core_device *coredev)
{
	struct ib_device *dev = coredev->owner;
	struct ib_port *port;
	u32 n;

	coredev->ports_kobj = kobject_create_and_add("ports",
						     &coredev->dev.kobj);
	if (!coredev->ports_kobj)
		return -ENOMEM;

	rdma_for_each_port(dev, n) {
		port = ibcore_sysfs_port_add(coredev, n);
		if (IS_ERR(port)) {
			ibcore_sysfs_remove_ports(coredev);
			return PTR_ERR(port);
		}
	}
	return 0;
}

/*
 * Called before device_del() of @coredev.  On return no attribute method below
 * ports/ is running: the removal of each directory waits for those that are.
 */
void ibcore_sysfs_remove_ports(struct ib_core_device *coredev)
{
	if (!coredev->ports_kobj)
		return;

	while (!list_empty(&coredev->port_list))
		ibcore_sysfs_port_del(ibcore_sysfs_port_first(coredev));
	kobject_del(coredev->ports_kobj);
	kobject_put(coredev->ports_kobj);
	coredev->ports_kobj = NULL;
}
