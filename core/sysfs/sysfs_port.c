// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * /sys/class/infiniband/DEVICE/ports/N: the state of a port, its GID and P_Key
 * tables and counters, and attributes that the driver and clients add.
 *
 * struct ib_port is the directory.  Its attribute methods run only while the
 * directory exists, between ibcore_sysfs_port_add() and
 * ibcore_sysfs_port_del(), hence only while the device is registered; so none
 * of them takes a reference.
 */
#include <linux/sysfs.h>
#include <rdma/ib_sysfs.h>

#include "device/device.h"
#include "gid/gid.h"
#include "sysfs/sysfs.h"

/* Files named 0, 1, 2 ...: one for each entry of a table. */
struct index_attr {
	struct ib_port_attribute attr;
	u32 index;
	char name[11];
};

struct index_dir {
	struct attribute_group group;
	struct attribute **list;
	struct index_attr attrs[];
};

enum { DIR_GIDS, DIR_PKEYS, DIR_NDEVS, DIR_TYPES, NUM_DIRS };

struct ib_port {
	struct kobject kobj;
	struct list_head list;		/* in coredev->port_list */
	struct ib_device *dev;
	u32 port;
	struct kobject *gid_attrs;
	struct index_dir *dirs[NUM_DIRS];	/* NULL if the table is empty */
};

/* "gid_attrs", whose files belong to the port above it. */
struct gid_attrs_dir {
	struct kobject kobj;
};

typedef ssize_t (*port_show_fn)(struct ib_device *dev, u32 port,
				struct ib_port_attribute *attr, char *buf);

static ssize_t attr_show(struct ib_port *p, struct attribute *attr, char *buf)
{
	struct ib_port_attribute *pa =
		container_of(attr, struct ib_port_attribute, attr);

	return pa->show ? pa->show(p->dev, p->port, pa, buf) : -EIO;
}

static ssize_t port_kobj_show(struct kobject *kobj, struct attribute *attr,
			      char *buf)
{
	return attr_show(container_of(kobj, struct ib_port, kobj), attr, buf);
}

static ssize_t port_kobj_store(struct kobject *kobj, struct attribute *attr,
			       const char *buf, size_t count)
{
	struct ib_port *p = container_of(kobj, struct ib_port, kobj);
	struct ib_port_attribute *pa =
		container_of(attr, struct ib_port_attribute, attr);

	return pa->store ? pa->store(p->dev, p->port, pa, buf, count) : -EIO;
}

/* The parent exists until the last file of the child has been removed. */
static ssize_t gid_attrs_kobj_show(struct kobject *kobj, struct attribute *attr,
				   char *buf)
{
	return attr_show(container_of(kobj->parent, struct ib_port, kobj), attr,
			 buf);
}

static void index_dir_free(struct index_dir *dir)
{
	if (!dir)
		return;
	kfree(dir->list);
	kvfree(dir);
}

static void port_kobj_release(struct kobject *kobj)
{
	struct ib_port *p = container_of(kobj, struct ib_port, kobj);
	int i;

	for (i = 0; i < NUM_DIRS; i++)
		index_dir_free(p->dirs[i]);
	kfree(p);
}

static void gid_attrs_kobj_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct gid_attrs_dir, kobj));
}

static const struct sysfs_ops port_sysfs_ops = {
	.show = port_kobj_show,
	.store = port_kobj_store,
};

static const struct sysfs_ops gid_attrs_sysfs_ops = {
	.show = gid_attrs_kobj_show,
};

/* ---- the port's own attributes ---- */

static ssize_t state_show(struct ib_device *dev, u32 port,
			  struct ib_port_attribute *unused, char *buf)
{
	static const char * const names[] = {
		[IB_PORT_NOP] = "NOP",
		[IB_PORT_DOWN] = "DOWN",
		[IB_PORT_INIT] = "INIT",
		[IB_PORT_ARMED] = "ARMED",
		[IB_PORT_ACTIVE] = "ACTIVE",
		[IB_PORT_ACTIVE_DEFER] = "ACTIVE_DEFER",
	};
	struct ib_port_attr attr;
	int ret;

	ret = ib_query_port(dev, port, &attr);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%d: %s\n", attr.state,
			  (unsigned int)attr.state < ARRAY_SIZE(names) ?
				  names[attr.state] : "UNKNOWN");
}
static IB_PORT_ATTR_RO(state);

static ssize_t phys_state_show(struct ib_device *dev, u32 port,
			       struct ib_port_attribute *unused, char *buf)
{
	static const char * const names[] = {
		[IB_PORT_PHYS_STATE_SLEEP] = "Sleep",
		[IB_PORT_PHYS_STATE_POLLING] = "Polling",
		[IB_PORT_PHYS_STATE_DISABLED] = "Disabled",
		[IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING] =
			"PortConfigurationTraining",
		[IB_PORT_PHYS_STATE_LINK_UP] = "LinkUp",
		[IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY] = "LinkErrorRecovery",
		[IB_PORT_PHYS_STATE_PHY_TEST] = "Phy Test",
	};
	const char *name = NULL;
	struct ib_port_attr attr;
	int ret;

	ret = ib_query_port(dev, port, &attr);
	if (ret)
		return ret;
	if (attr.phys_state < ARRAY_SIZE(names))
		name = names[attr.phys_state];
	return sysfs_emit(buf, "%u: %s\n", attr.phys_state,
			  name ?: "<unknown>");
}
static IB_PORT_ATTR_RO(phys_state);

/* Signalling rate of one lane, in units of 100 Mb/s. */
struct lane_speed {
	u16 speed;
	u16 rate;
	const char *name;
};

static const struct lane_speed *find_lane_speed(u16 speed)
{
	static const struct lane_speed table[] = {
		{ IB_SPEED_SDR, 25, " SDR" },
		{ IB_SPEED_DDR, 50, " DDR" },
		{ IB_SPEED_QDR, 100, " QDR" },
		{ IB_SPEED_FDR10, 100, " FDR10" },
		{ IB_SPEED_FDR, 140, " FDR" },
		{ IB_SPEED_EDR, 250, " EDR" },
		{ IB_SPEED_HDR, 500, " HDR" },
		{ IB_SPEED_NDR, 1000, " NDR" },
		{ IB_SPEED_XDR, 2000, " XDR" },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].speed == speed)
			return &table[i];
	/* If a driver does not report the speed, the lowest one is shown. */
	return &table[0];
}

static ssize_t rate_show(struct ib_device *dev, u32 port,
			 struct ib_port_attribute *unused, char *buf)
{
	const struct lane_speed *lane;
	struct ib_port_attr attr;
	int ret, width, rate;

	ret = ib_query_port(dev, port, &attr);
	if (ret)
		return ret;
	width = ib_width_enum_to_int(attr.active_width);
	if (width < 0)
		return -EINVAL;

	lane = find_lane_speed(attr.active_speed);
	rate = lane->rate * width;
	return sysfs_emit(buf, "%d%s Gb/sec (%dX%s)\n", rate / 10,
			  rate % 10 ? ".5" : "", width, lane->name);
}
static IB_PORT_ATTR_RO(rate);

#define PORT_ATTR_FIELD(name, format, field)				\
static ssize_t name##_show(struct ib_device *dev, u32 port,		\
			   struct ib_port_attribute *unused, char *buf)	\
{									\
	struct ib_port_attr attr;					\
	int ret;							\
									\
	ret = ib_query_port(dev, port, &attr);				\
	return ret ?: sysfs_emit(buf, format "\n", attr.field);		\
}									\
static IB_PORT_ATTR_RO(name)

PORT_ATTR_FIELD(lid, "0x%x", lid);
PORT_ATTR_FIELD(lid_mask_count, "%u", lmc);
PORT_ATTR_FIELD(sm_lid, "0x%x", sm_lid);
PORT_ATTR_FIELD(sm_sl, "%u", sm_sl);
PORT_ATTR_FIELD(cap_mask, "0x%08x", port_cap_flags);

static ssize_t link_layer_show(struct ib_device *dev, u32 port,
			       struct ib_port_attribute *unused, char *buf)
{
	const char *name = "Unknown";

	switch (rdma_port_get_link_layer(dev, port)) {
	case IB_LINK_LAYER_INFINIBAND:
		name = "InfiniBand";
		break;
	case IB_LINK_LAYER_ETHERNET:
		name = "Ethernet";
		break;
	default:
		break;
	}
	return sysfs_emit(buf, "%s\n", name);
}
static IB_PORT_ATTR_RO(link_layer);

static struct attribute *port_attrs[] = {
	&ib_port_attr_state.attr,
	&ib_port_attr_phys_state.attr,
	&ib_port_attr_rate.attr,
	&ib_port_attr_lid.attr,
	&ib_port_attr_lid_mask_count.attr,
	&ib_port_attr_sm_lid.attr,
	&ib_port_attr_sm_sl.attr,
	&ib_port_attr_cap_mask.attr,
	&ib_port_attr_link_layer.attr,
	NULL
};
ATTRIBUTE_GROUPS(port);

static const struct kobj_type port_ktype = {
	.release = port_kobj_release,
	.sysfs_ops = &port_sysfs_ops,
	.default_groups = port_groups,
};

static const struct kobj_type gid_attrs_ktype = {
	.release = gid_attrs_kobj_release,
	.sysfs_ops = &gid_attrs_sysfs_ops,
};

/* ---- tables ---- */

static u32 attr_index(struct ib_port_attribute *attr)
{
	return container_of(attr, struct index_attr, attr)->index;
}

/* An entry that is not in use reads as the GID of all zeroes. */
static ssize_t gid_show(struct ib_device *dev, u32 port,
			struct ib_port_attribute *attr, char *buf)
{
	union ib_gid gid = {};

	if (rdma_query_gid(dev, port, attr_index(attr), &gid))
		memset(&gid, 0, sizeof(gid));
	return sysfs_emit(buf, "%pI6\n", gid.raw);
}

static ssize_t pkey_show(struct ib_device *dev, u32 port,
			 struct ib_port_attribute *attr, char *buf)
{
	u16 pkey;
	int ret;

	ret = ib_query_pkey(dev, port, attr_index(attr), &pkey);
	return ret ?: sysfs_emit(buf, "0x%04x\n", pkey);
}

/* EINVAL tells libibverbs that an entry is not in use. */
static ssize_t gid_ndev_show(struct ib_device *dev, u32 port,
			     struct ib_port_attribute *attr, char *buf)
{
	const struct ib_gid_attr *gid;
	struct net_device *ndev;
	ssize_t ret = -EINVAL;

	gid = rdma_get_gid_attr(dev, port, attr_index(attr));
	if (IS_ERR(gid))
		return -EINVAL;

	rcu_read_lock();
	ndev = rcu_dereference(gid->ndev);
	if (ndev)
		ret = sysfs_emit(buf, "%s\n", ndev->name);
	rcu_read_unlock();
	rdma_put_gid_attr(gid);
	return ret;
}

static ssize_t gid_type_show(struct ib_device *dev, u32 port,
			     struct ib_port_attribute *attr, char *buf)
{
	const struct ib_gid_attr *gid;
	ssize_t ret;

	gid = rdma_get_gid_attr(dev, port, attr_index(attr));
	if (IS_ERR(gid))
		return -EINVAL;

	ret = sysfs_emit(buf, "%s\n", ib_cache_gid_type_str(gid->gid_type));
	rdma_put_gid_attr(gid);
	return ret;
}

static struct index_dir *index_dir_alloc(const char *name, u32 len,
					 port_show_fn show)
{
	struct index_dir *dir;
	u32 i;

	dir = kvzalloc(struct_size(dir, attrs, len), GFP_KERNEL);
	if (!dir)
		return NULL;
	dir->list = kcalloc(len + 1, sizeof(*dir->list), GFP_KERNEL);
	if (!dir->list) {
		kvfree(dir);
		return NULL;
	}

	for (i = 0; i < len; i++) {
		struct index_attr *attr = &dir->attrs[i];

		snprintf(attr->name, sizeof(attr->name), "%u", i);
		attr->index = i;
		attr->attr.attr.name = attr->name;
		attr->attr.attr.mode = 0444;
		attr->attr.show = show;
		sysfs_attr_init(&attr->attr.attr);
		dir->list[i] = &attr->attr.attr;
	}
	dir->group.name = name;
	dir->group.attrs = dir->list;
	return dir;
}

static const struct {
	const char *name;
	port_show_fn show;
	bool pkeys;		/* as long as the P_Key table, not the GID table */
	bool in_gid_attrs;
} port_tables[NUM_DIRS] = {
	[DIR_GIDS] = { "gids", gid_show },
	[DIR_PKEYS] = { "pkeys", pkey_show, .pkeys = true },
	[DIR_NDEVS] = { "ndevs", gid_ndev_show, .in_gid_attrs = true },
	[DIR_TYPES] = { "types", gid_type_show, .in_gid_attrs = true },
};

static int port_add_tables(struct ib_port *p)
{
	const struct ib_port_immutable *imm =
		&p->dev->port_data[p->port].immutable;
	int i, len, ret;

	for (i = 0; i < NUM_DIRS; i++) {
		len = port_tables[i].pkeys ? imm->pkey_tbl_len :
					     imm->gid_tbl_len;
		if (len <= 0)
			continue;

		p->dirs[i] = index_dir_alloc(port_tables[i].name, len,
					     port_tables[i].show);
		if (!p->dirs[i])
			return -ENOMEM;
		ret = sysfs_create_group(port_tables[i].in_gid_attrs ?
						 p->gid_attrs : &p->kobj,
					 &p->dirs[i]->group);
		if (ret)
			return ret;
	}
	return 0;
}

static int port_add_gid_attrs(struct ib_port *p)
{
	struct gid_attrs_dir *dir;
	int ret;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return -ENOMEM;

	ret = kobject_init_and_add(&dir->kobj, &gid_attrs_ktype, &p->kobj,
				   "gid_attrs");
	if (ret) {
		kobject_put(&dir->kobj);
		return ret;
	}
	p->gid_attrs = &dir->kobj;
	return 0;
}

/* Adds the groups that only the device itself has, not its compat devices. */
static int port_add_driver_groups(struct ib_port *p)
{
	struct ib_device *dev = p->dev;
	const struct attribute_group *group;
	int ret;

	ret = ibcore_hw_stats_setup_port(dev, p->port, &group);
	if (ret)
		return ret;
	if (group) {
		ret = sysfs_create_group(&p->kobj, group);
		if (ret)
			return ret;
	}
	if (dev->ops.port_groups)
		return sysfs_create_groups(&p->kobj, dev->ops.port_groups);
	return 0;
}

static int port_fill(struct ib_port *p, bool full)
{
	int ret;

	ret = port_add_gid_attrs(p);
	if (!ret)
		ret = port_add_tables(p);
	if (!ret)
		ret = ibcore_pma_add(p->dev, p->port, &p->kobj);
	if (!ret && full)
		ret = port_add_driver_groups(p);
	return ret;
}

struct ib_port *ibcore_sysfs_port_first(struct ib_core_device *coredev)
{
	return list_first_entry(&coredev->port_list, struct ib_port, list);
}

/* On success the port is on coredev->port_list. */
struct ib_port *ibcore_sysfs_port_add(struct ib_core_device *coredev, u32 port)
{
	struct ib_device *dev = coredev->owner;
	bool full = coredev == &dev->coredev;
	struct ib_port *p;
	int ret;

	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return ERR_PTR(-ENOMEM);

	p->dev = dev;
	p->port = port;
	list_add_tail(&p->list, &coredev->port_list);
	ret = kobject_init_and_add(&p->kobj, &port_ktype, coredev->ports_kobj,
				   "%u", port);
	if (!ret)
		ret = port_fill(p, full);
	if (ret) {
		ibcore_sysfs_port_del(p);
		return ERR_PTR(ret);
	}

	if (full)
		dev->port_data[port].sysfs = p;
	return p;
}

/*
 * Also removes a port that is not complete.  No reference remains: (1) each
 * kobject_del() removes all files below and waits for their methods that are
 * running; (2) port_data, by which clients find the port, is cleared, and no
 * client is attached any more.
 */
void ibcore_sysfs_port_del(struct ib_port *p)
{
	struct ib_port_data *data = &p->dev->port_data[p->port];

	if (data->sysfs == p)
		data->sysfs = NULL;
	list_del(&p->list);
	if (p->gid_attrs) {
		kobject_del(p->gid_attrs);
		kobject_put(p->gid_attrs);
	}
	if (p->kobj.state_in_sysfs)
		kobject_del(&p->kobj);
	kobject_put(&p->kobj);
}

/**
 * ib_port_sysfs_get_ibdev_kobj() - get the device and port of a directory
 * @kobj: directory of a port, as passed to an attribute of
 *	ib_device_ops.port_groups
 * @port_num: set to the port's number
 *
 * Context: any, within an attribute's method.
 * Return: the device.
 */
struct ib_device *ib_port_sysfs_get_ibdev_kobj(struct kobject *kobj,
					       u32 *port_num)
{
	struct ib_port *p = container_of(kobj, struct ib_port, kobj);

	*port_num = p->port;
	return p->dev;
}
EXPORT_SYMBOL(ib_port_sysfs_get_ibdev_kobj);

static struct kobject *port_dir(struct ib_device *dev, u32 port)
{
	return &dev->port_data[port].sysfs->kobj;
}

/**
 * ib_port_register_client_groups() - add attributes to a port's directory
 * @ibdev: device the client is attached to
 * @port_num: port
 * @groups: NULL-terminated groups of struct ib_port_attribute
 *
 * Context: process, may sleep; between add() and remove() of the client.
 * Return: 0, -EEXIST if a name is taken, -ENOMEM.
 */
int ib_port_register_client_groups(struct ib_device *ibdev, u32 port_num,
				   const struct attribute_group **groups)
{
	struct kobject *dir = port_dir(ibdev, port_num);

	return sysfs_create_groups(dir, groups);
}
EXPORT_SYMBOL(ib_port_register_client_groups);

/**
 * ib_port_unregister_client_groups() - remove a client's attributes of a port
 * @ibdev: device the client is attached to
 * @port_num: port
 * @groups: groups that ib_port_register_client_groups() added
 *
 * On return none of their methods is running.
 *
 * Context: process, may sleep; before the client's remove() returns.
 */
void ib_port_unregister_client_groups(struct ib_device *ibdev, u32 port_num,
				      const struct attribute_group **groups)
{
	struct kobject *dir = port_dir(ibdev, port_num);

	sysfs_remove_groups(dir, groups);
}
EXPORT_SYMBOL(ib_port_unregister_client_groups);
