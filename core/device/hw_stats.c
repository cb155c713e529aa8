// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hardware counters of a driver, and the hw_counters directories that show
 * them (Documentation/ABI/stable/sysfs-class-infiniband).
 *
 * The driver fills stats->value[] on demand; it is called again only when the values
 * are older than the lifespan, which the operator can set.
 */
#include <linux/sysfs.h>
#include <rdma/ib_sysfs.h>

#include "device/device.h"

/* One sysfs file, of a device or of a port. */
struct hw_attr {
	union {
		struct device_attribute dev;
		struct ib_port_attribute port;
	};
	struct hw_dir *dir;
	int index;			/* in dir->stats->value[] */
};

/* One hw_counters directory: of a port, or of the device (port U32_MAX). */
struct hw_dir {
	struct ib_device *dev;
	u32 port;
	struct rdma_hw_stats *stats;
	struct attribute_group group;
	struct hw_attr attrs[];		/* the counters, then "lifespan" */
};

#define HW_DIR_DEVICE U32_MAX
#define HW_LIFESPAN_MAX_MS 10000

struct hw_stats_device_data {
	struct hw_dir *device;		/* NULL if the device has no counters */
	u32 num_ports;
	struct hw_dir *ports[] __counted_by(num_ports);	/* by port number */
};

/**
 * rdma_alloc_hw_stats_struct() - allocate a set of hardware counters
 * @descs: a description of each counter; must outlive the set
 * @num_counters: number of counters
 * @lifespan: milliseconds for which values that were read stay valid
 *
 * Context: process, may sleep.
 * Return: the set with all values 0, or NULL.
 */
struct rdma_hw_stats *
rdma_alloc_hw_stats_struct(const struct rdma_stat_desc *descs,
			   int num_counters, unsigned long lifespan)
{
	unsigned long *disabled = bitmap_zalloc(num_counters, GFP_KERNEL);
	struct rdma_hw_stats *stats;

	stats = kzalloc(struct_size(stats, value, num_counters), GFP_KERNEL);
	if (!stats || !disabled) {
		bitmap_free(disabled);
		kfree(stats);
		return NULL;
	}

	stats->num_counters = num_counters;
	stats->descs = descs;
	stats->is_disabled = disabled;
	stats->lifespan = msecs_to_jiffies(lifespan);
	/*
	 * Makes the first read call the driver, for any value of jiffies and any
	 * lifespan that the operator sets before.
	 */
	stats->timestamp = jiffies - 1 -
			   max(stats->lifespan,
			       msecs_to_jiffies(HW_LIFESPAN_MAX_MS));
	mutex_init(&stats->lock);
	return stats;
}
EXPORT_SYMBOL(rdma_alloc_hw_stats_struct);

/**
 * rdma_free_hw_stats_struct() - free a set of hardware counters
 * @stats: set, or NULL
 *
 * Context: any.
 */
void rdma_free_hw_stats_struct(struct rdma_hw_stats *stats)
{
	if (!stats)
		return;
	bitmap_free(stats->is_disabled);
	kfree(stats);
}
EXPORT_SYMBOL(rdma_free_hw_stats_struct);

bool ibcore_hw_stats_is_optional(const struct rdma_hw_stats *stats, int index)
{
	return stats->descs[index].flags & IB_STAT_FLAG_OPTIONAL;
}

/* @index: as for ib_device_ops.get_hw_stats; num_counters means all counters. */
int ibcore_hw_stats_refresh(struct ib_device *dev, struct rdma_hw_stats *stats,
			    u32 port, int index)
{
	int ret;

	lockdep_assert_held(&stats->lock);
	if (time_is_after_eq_jiffies(stats->timestamp + stats->lifespan))
		return 0;

	ret = dev->ops.get_hw_stats(dev, stats, port, index);
	if (ret < 0)
		return ret;
	if (ret == stats->num_counters)
		stats->timestamp = jiffies;
	return 0;
}

static u32 hw_dir_port(const struct hw_dir *dir)
{
	return dir->port == HW_DIR_DEVICE ? 0 : dir->port;
}

static ssize_t hw_value_show(struct hw_attr *attr, char *buf)
{
	struct hw_dir *dir = attr->dir;
	struct rdma_hw_stats *stats = dir->stats;
	u64 value;
	int ret;

	mutex_lock(&stats->lock);
	ret = ibcore_hw_stats_refresh(dir->dev, stats, hw_dir_port(dir),
				      attr->index);
	value = stats->value[attr->index];
	mutex_unlock(&stats->lock);
	if (ret)
		return ret;

	if (dir->port != HW_DIR_DEVICE)
		ibcore_counter_add_hwstats(dir->dev, dir->port, attr->index, 1,
					   &value);
	return sysfs_emit(buf, "%llu\n", value);
}

static ssize_t hw_lifespan_show(struct hw_attr *attr, char *buf)
{
	struct rdma_hw_stats *stats = attr->dir->stats;
	unsigned int msecs;

	mutex_lock(&stats->lock);
	msecs = jiffies_to_msecs(stats->lifespan);
	mutex_unlock(&stats->lock);
	return sysfs_emit(buf, "%u\n", msecs);
}

static ssize_t hw_lifespan_store(struct hw_attr *attr, const char *buf,
				 size_t count)
{
	struct rdma_hw_stats *stats = attr->dir->stats;
	unsigned int msecs;
	int ret;

	ret = kstrtouint(buf, 10, &msecs);
	if (ret)
		return ret;
	if (msecs > HW_LIFESPAN_MAX_MS)
		return -EINVAL;

	mutex_lock(&stats->lock);
	stats->lifespan = msecs_to_jiffies(msecs);
	mutex_unlock(&stats->lock);
	return count;
}

/* The sysfs methods of devices and of ports, which call the functions above. */
static ssize_t dev_value_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	return hw_value_show(container_of(attr, struct hw_attr, dev), buf);
}

static ssize_t dev_lifespan_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	return hw_lifespan_show(container_of(attr, struct hw_attr, dev), buf);
}

static ssize_t dev_lifespan_store(struct device *dev,
				  struct device_attribute *attr,
				  const char *buf, size_t count)
{
	return hw_lifespan_store(container_of(attr, struct hw_attr, dev), buf,
				 count);
}

static ssize_t port_value_show(struct ib_device *dev, u32 port,
			       struct ib_port_attribute *attr, char *buf)
{
	return hw_value_show(container_of(attr, struct hw_attr, port), buf);
}

static ssize_t port_lifespan_show(struct ib_device *dev, u32 port,
				  struct ib_port_attribute *attr, char *buf)
{
	return hw_lifespan_show(container_of(attr, struct hw_attr, port), buf);
}

static ssize_t port_lifespan_store(struct ib_device *dev, u32 port,
				   struct ib_port_attribute *attr,
				   const char *buf, size_t count)
{
	return hw_lifespan_store(container_of(attr, struct hw_attr, port), buf,
				 count);
}

static struct attribute *hw_attr_init(struct hw_dir *dir, int i, int index,
				      const char *name, bool lifespan)
{
	struct hw_attr *attr = &dir->attrs[i];
	umode_t mode = lifespan ? 0644 : 0444;

	attr->dir = dir;
	attr->index = index;
	if (dir->port == HW_DIR_DEVICE) {
		attr->dev = (struct device_attribute){
			.attr = { .name = name, .mode = mode },
			.show = lifespan ? dev_lifespan_show : dev_value_show,
			.store = lifespan ? dev_lifespan_store : NULL,
		};
		sysfs_attr_init(&attr->dev.attr);
		return &attr->dev.attr;
	}
	attr->port = (struct ib_port_attribute){
		.attr = { .name = name, .mode = mode },
		.show = lifespan ? port_lifespan_show : port_value_show,
		.store = lifespan ? port_lifespan_store : NULL,
	};
	sysfs_attr_init(&attr->port.attr);
	return &attr->port.attr;
}

static void hw_dir_free(struct hw_dir *dir)
{
	if (!dir)
		return;
	rdma_free_hw_stats_struct(dir->stats);
	kfree(dir->group.attrs);
	kfree(dir);
}

/* Consumes @stats, also on error.  Optional counters get no file. */
static struct hw_dir *hw_dir_alloc(struct ib_device *dev, u32 port,
				   struct rdma_hw_stats *stats)
{
	struct attribute **list;
	struct hw_dir *dir;
	int i, n = 0;

	dir = kzalloc(struct_size(dir, attrs, stats->num_counters + 1),
		      GFP_KERNEL);
	list = kcalloc(stats->num_counters + 2, sizeof(*list), GFP_KERNEL);
	if (!dir || !list) {
		rdma_free_hw_stats_struct(stats);
		kfree(list);
		kfree(dir);
		return ERR_PTR(-ENOMEM);
	}

	dir->dev = dev;
	dir->port = port;
	dir->stats = stats;
	for (i = 0; i < stats->num_counters; i++) {
		if (ibcore_hw_stats_is_optional(stats, i))
			continue;
		list[n] = hw_attr_init(dir, n, i, stats->descs[i].name, false);
		n++;
	}
	list[n] = hw_attr_init(dir, n, 0, "lifespan", true);
	dir->group.name = "hw_counters";
	dir->group.attrs = list;
	return dir;
}

static struct hw_dir *hw_dir_create(struct ib_device *dev, u32 port)
{
	struct rdma_hw_stats *stats;

	if (port == HW_DIR_DEVICE)
		stats = dev->ops.alloc_hw_device_stats(dev);
	else
		stats = dev->ops.alloc_hw_port_stats(dev, port);
	if (!stats)
		return ERR_PTR(-ENOMEM);
	if (!stats->descs || stats->num_counters <= 0 ||
	    !dev->ops.get_hw_stats) {
		rdma_free_hw_stats_struct(stats);
		return NULL;
	}
	/* For the default, drivers set this to -1 or pass -1 to the allocation. */
	if (stats->lifespan >= MAX_JIFFY_OFFSET)
		stats->lifespan =
			msecs_to_jiffies(RDMA_HW_STATS_DEFAULT_LIFESPAN);
	return hw_dir_alloc(dev, port, stats);
}

/*
 * Puts the device's hw_counters into dev->groups[dev->hw_stats_attr_index],
 * before device_add().
 */
int ibcore_hw_stats_setup_device(struct ib_device *dev)
{
	u32 num_ports = rdma_end_port(dev) + 1;
	struct hw_stats_device_data *data;
	struct hw_dir *dir;

	if (!dev->ops.alloc_hw_device_stats && !dev->ops.alloc_hw_port_stats)
		return 0;

	data = kzalloc(struct_size(data, ports, num_ports), GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	data->num_ports = num_ports;
	if (dev->ops.alloc_hw_device_stats) {
		dir = hw_dir_create(dev, HW_DIR_DEVICE);
		if (IS_ERR(dir)) {
			kfree(data);
			return PTR_ERR(dir);
		}
		data->device = dir;
		if (dir)
			dev->groups[dev->hw_stats_attr_index] = &dir->group;
	}
	dev->hw_stats_data = data;
	return 0;
}

/* @group: set to the port's group, or to NULL if the port has no counters. */
int ibcore_hw_stats_setup_port(struct ib_device *dev, u32 port,
			       const struct attribute_group **group)
{
	struct hw_stats_device_data *data = dev->hw_stats_data;
	struct hw_dir *dir;

	*group = NULL;
	if (!dev->ops.alloc_hw_port_stats || !data)
		return 0;

	dir = hw_dir_create(dev, port);
	if (IS_ERR_OR_NULL(dir))
		return PTR_ERR_OR_ZERO(dir);

	data->ports[port] = dir;
	*group = &dir->group;
	return 0;
}

/* Returns the port's counters, or NULL; valid while @dev is registered. */
struct rdma_hw_stats *ibcore_hw_stats_get_port(struct ib_device *dev, u32 port)
{
	struct hw_stats_device_data *data = dev->hw_stats_data;

	if (!data || port >= data->num_ports || !data->ports[port])
		return NULL;
	return data->ports[port]->stats;
}

/*
 * No reference remains: (1) the sysfs files were removed with the device and its
 * ports, which waited for their readers; (2) netlink's readers hold a registration
 * reference, and the device is not registered.
 */
void ibcore_hw_stats_release(struct ib_device *dev)
{
	struct hw_stats_device_data *data = dev->hw_stats_data;
	u32 i;

	if (!data)
		return;

	dev->hw_stats_data = NULL;
	if (data->device)
		dev->groups[dev->hw_stats_attr_index] = NULL;
	hw_dir_free(data->device);
	for (i = 0; i < data->num_ports; i++)
		hw_dir_free(data->ports[i]);
	kfree(data);
}
