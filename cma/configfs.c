// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /sys/kernel/config/rdma_cm/HCA/ports/N/default_roce_{mode,tos}
 * (Documentation/ABI/testing/configfs-rdma_cm) and default_cm_{timeout_ms,retries}.
 *
 * The directories hold no reference to a device: each access looks the device up by
 * the name of its directory, and fails with ENODEV if the device no longer exists.
 */
#include <linux/configfs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "id/id.h"

struct cma_port_dir {
	struct config_group group;
	u32 port;
};

struct cma_hca_dir {
	struct config_group group;		/* HCA */
	struct config_group ports_group;	/* HCA/ports */
	u32 nr_ports;
	struct cma_port_dir ports[];		/* HCA/ports/[1 .. nr_ports] */
};

static struct cma_hca_dir *to_hca_dir(struct config_item *item)
{
	return container_of(to_config_group(item), struct cma_hca_dir, group);
}

/* Returns the settings of a port's directory, with a reference to *@dev, or NULL. */
static struct cma_port *cma_dir_port(struct config_item *item,
				     struct cma_dev **dev, u32 *port)
{
	struct cma_port_dir *dir =
		container_of(to_config_group(item), struct cma_port_dir, group);

	*port = dir->port;
	*dev = cma_dev_get_by_name(config_item_name(item->ci_parent->ci_parent));
	if (!*dev)
		return NULL;
	if (*port > rdma_end_port((*dev)->device)) {
		cma_dev_put(*dev);
		return NULL;
	}
	return &(*dev)->ports[*port];
}

static ssize_t default_roce_mode_show(struct config_item *item, char *buf)
{
	struct cma_port *port;
	struct cma_dev *dev;
	ssize_t len;
	u32 nr;

	port = cma_dir_port(item, &dev, &nr);
	if (!port)
		return -ENODEV;
	len = sysfs_emit(buf, "%s\n",
			 ib_cache_gid_type_str(READ_ONCE(port->default_gid_type)));
	cma_dev_put(dev);
	return len;
}

static ssize_t default_roce_mode_store(struct config_item *item,
				       const char *buf, size_t count)
{
	int type = ib_cache_gid_parse_type_str(buf);
	struct cma_port *port;
	struct cma_dev *dev;
	ssize_t ret = count;
	u32 nr;

	if (type < 0)
		return -EINVAL;
	port = cma_dir_port(item, &dev, &nr);
	if (!port)
		return -ENODEV;
	if (roce_gid_type_mask_support(dev->device, nr) & BIT(type))
		WRITE_ONCE(port->default_gid_type, type);
	else if (type != IB_GID_TYPE_ROCE || rdma_protocol_roce(dev->device, nr))
		/* Other ports have one type, with the same name as RoCE v1. */
		ret = -EINVAL;
	cma_dev_put(dev);
	return ret;
}

/* @field: the offset of an u8 in struct cma_port.  Returns its value, or -ENODEV. */
static int cma_dir_get(struct config_item *item, size_t field)
{
	struct cma_port *port;
	struct cma_dev *dev;
	u8 value;
	u32 nr;

	port = cma_dir_port(item, &dev, &nr);
	if (!port)
		return -ENODEV;
	value = READ_ONCE(*((u8 *)port + field));
	cma_dev_put(dev);
	return value;
}

/* Likewise; returns 0 or -ENODEV. */
static int cma_dir_set(struct config_item *item, size_t field, u8 value)
{
	struct cma_port *port;
	struct cma_dev *dev;
	u32 nr;

	port = cma_dir_port(item, &dev, &nr);
	if (!port)
		return -ENODEV;
	WRITE_ONCE(*((u8 *)port + field), value);
	cma_dev_put(dev);
	return 0;
}

static ssize_t default_roce_tos_show(struct config_item *item, char *buf)
{
	int tos = cma_dir_get(item, offsetof(struct cma_port, default_tos));

	return tos < 0 ? tos : sysfs_emit(buf, "%d\n", tos);
}

static ssize_t default_roce_tos_store(struct config_item *item,
				      const char *buf, size_t count)
{
	int err;
	u8 tos;

	err = kstrtou8(buf, 0, &tos);
	if (!err)
		err = cma_dir_set(item, offsetof(struct cma_port, default_tos), tos);
	return err ?: count;
}

static ssize_t default_cm_timeout_ms_show(struct config_item *item, char *buf)
{
	int timeout = cma_dir_get(item, offsetof(struct cma_port, cm_timeout));

	return timeout < 0 ? timeout : sysfs_emit(buf, "%u\n", ibcm_time_ms(timeout));
}

static ssize_t default_cm_timeout_ms_store(struct config_item *item,
					   const char *buf, size_t count)
{
	unsigned int ms;
	int timeout;

	timeout = kstrtouint(buf, 0, &ms);
	if (!timeout)
		timeout = cma_timeout_of_ms(ms);
	if (timeout < 0)
		return timeout;
	return cma_dir_set(item, offsetof(struct cma_port, cm_timeout), timeout) ?: count;
}

static ssize_t default_cm_retries_show(struct config_item *item, char *buf)
{
	int retries = cma_dir_get(item, offsetof(struct cma_port, cm_retries));

	return retries < 0 ? retries : sysfs_emit(buf, "%d\n", retries);
}

static ssize_t default_cm_retries_store(struct config_item *item,
					const char *buf, size_t count)
{
	u8 retries;
	int err;

	err = kstrtou8(buf, 0, &retries);
	if (!err && retries > CMA_CM_RETRIES_MAX)
		err = -ERANGE;
	if (!err)
		err = cma_dir_set(item, offsetof(struct cma_port, cm_retries), retries);
	return err ?: count;
}

CONFIGFS_ATTR(, default_roce_mode);
CONFIGFS_ATTR(, default_roce_tos);
CONFIGFS_ATTR(, default_cm_timeout_ms);
CONFIGFS_ATTR(, default_cm_retries);

static struct configfs_attribute *cma_port_attrs[] = {
	&attr_default_roce_mode,
	&attr_default_roce_tos,
	&attr_default_cm_timeout_ms,
	&attr_default_cm_retries,
	NULL,
};

static const struct config_item_type cma_port_type = {
	.ct_attrs = cma_port_attrs,
	.ct_owner = THIS_MODULE,
};

static const struct config_item_type cma_ports_type = {
	.ct_owner = THIS_MODULE,
};

static void cma_hca_release(struct config_item *item)
{
	kfree(to_hca_dir(item));
}

static struct configfs_item_operations cma_hca_item_ops = {
	.release = cma_hca_release,
};

static const struct config_item_type cma_hca_type = {
	.ct_item_ops = &cma_hca_item_ops,
	.ct_owner = THIS_MODULE,
};

static void cma_hca_fill(struct cma_hca_dir *hca, const char *name)
{
	char port_name[12];
	u32 i;

	config_group_init_type_name(&hca->group, name, &cma_hca_type);
	config_group_init_type_name(&hca->ports_group, "ports",
				    &cma_ports_type);
	for (i = 1; i <= hca->nr_ports; i++) {
		snprintf(port_name, sizeof(port_name), "%u", i);
		hca->ports[i].port = i;
		config_group_init_type_name(&hca->ports[i].group, port_name,
					    &cma_port_type);
		configfs_add_default_group(&hca->ports[i].group,
					   &hca->ports_group);
	}
	configfs_add_default_group(&hca->ports_group, &hca->group);
}

static struct config_group *cma_hca_make(struct config_group *group,
					 const char *name)
{
	struct cma_hca_dir *hca;
	struct cma_dev *dev;
	u32 nr_ports;

	dev = cma_dev_get_by_name(name);
	if (!dev)
		return ERR_PTR(-ENODEV);
	nr_ports = rdma_end_port(dev->device);
	cma_dev_put(dev);

	hca = kzalloc(struct_size(hca, ports, nr_ports + 1), GFP_KERNEL);
	if (!hca)
		return ERR_PTR(-ENOMEM);
	hca->nr_ports = nr_ports;
	cma_hca_fill(hca, name);
	return &hca->group;
}

static void cma_hca_drop(struct config_group *group, struct config_item *item)
{
	struct cma_hca_dir *hca = to_hca_dir(item);

	configfs_remove_default_groups(&hca->ports_group);
	configfs_remove_default_groups(&hca->group);
	config_item_put(item);
}

static struct configfs_group_operations cma_root_group_ops = {
	.make_group = cma_hca_make,
	.drop_item = cma_hca_drop,
};

static const struct config_item_type cma_root_type = {
	.ct_group_ops = &cma_root_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem cma_subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "rdma_cm",
			.ci_type = &cma_root_type,
		},
	},
};

int cma_configfs_init(void)
{
	config_group_init(&cma_subsystem.su_group);
	mutex_init(&cma_subsystem.su_mutex);
	return configfs_register_subsystem(&cma_subsystem);
}

void cma_configfs_exit(void)
{
	configfs_unregister_subsystem(&cma_subsystem);
}
