// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The registry of devices: an xarray by index.  An index is not reused before the
 * numbers wrap.  The registry and the devices' names change under
 * ibcore_registry_rwsem.  Lookups by index use RCU: a device's memory is freed a grace
 * period after it left the registry, and ib_device_try_get() checks whether the device
 * may be used.
 *
 * A registered device's name changes under its client_lock, then its
 * compat_devs_mutex, then ibcore_registry_rwsem.  A rename frees the string that
 * dev_name() returns; any of the three locks keeps it.  The copy in dev->name exists
 * as long as the device.  It is written under all three locks and name_lock, which
 * lets ibcore_device_name() read a consistent name in any context.
 */
#include <linux/bitmap.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include "device/device.h"

/* Protects the sets of devices (here) and of clients (client.c), and names. */
DECLARE_RWSEM(ibcore_registry_rwsem);

static DEFINE_XARRAY_ALLOC(devices);
static u32 next_index;			/* protected by ibcore_registry_rwsem */
static DEFINE_SEQLOCK(name_lock);

/* ---- names ---- */

/**
 * ibcore_device_name() - read the current name of a device
 * @dev: the device, with a reference of either kind
 * @name: set to the name, or to "" if the device has no name yet
 *
 * Context: any but NMI.
 */
void ibcore_device_name(const struct ib_device *dev,
			char name[IB_DEVICE_NAME_MAX])
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&name_lock);
		memcpy(name, dev->name, IB_DEVICE_NAME_MAX);
	} while (read_seqretry(&name_lock, seq));
}
EXPORT_SYMBOL(ibcore_device_name);

/* Sets @dev->name, padded with NULs, so that it is terminated at any time. */
static void write_name(struct ib_device *dev, const char *name)
{
	lockdep_assert_held_write(&ibcore_registry_rwsem);
	write_seqlock_irq(&name_lock);
	strscpy_pad(dev->name, name, sizeof(dev->name));
	write_sequnlock_irq(&name_lock);
}

static struct ib_device *find_by_name(const char *name)
{
	struct ib_device *dev;
	unsigned long index;

	lockdep_assert_held(&ibcore_registry_rwsem);
	xa_for_each(&devices, index, dev)
		if (!strcmp(dev->name, name))
			return dev;
	return NULL;
}

/* Returns the number that @name has in place of the %d of @pattern, or -1. */
static int number_in_name(const char *name, const char *pattern)
{
	size_t prefix = strchr(pattern, '%') - pattern;
	const char *suffix = pattern + prefix + 2;
	char digits[12];
	unsigned int n;
	size_t len;

	if (strncmp(name, pattern, prefix))
		return -1;
	name += prefix;
	len = strspn(name, "0123456789");
	if (!len || len >= sizeof(digits) || strcmp(name + len, suffix))
		return -1;
	memcpy(digits, name, len);
	digits[len] = '\0';
	/* make_name() never makes "07", which does not conflict with "7" */
	if (kstrtouint(digits, 10, &n) || n > INT_MAX || (*name == '0' && len > 1))
		return -1;
	return n;
}

/* Returns the lowest free number: with N devices at least one of 0..N is free. */
static int lowest_free_number(const char *pattern)
{
	unsigned int bits = 1;
	struct ib_device *dev;
	unsigned long index;
	unsigned long *used;
	int n;

	xa_for_each(&devices, index, dev)
		bits++;
	used = bitmap_zalloc(bits, GFP_KERNEL);
	if (!used)
		return -ENOMEM;
	xa_for_each(&devices, index, dev) {
		n = number_in_name(dev->name, pattern);
		if (n >= 0 && n < bits)
			__set_bit(n, used);
	}
	n = find_first_zero_bit(used, bits);
	bitmap_free(used);
	return n;
}

static bool name_is_valid(const char *name)
{
	return *name && strlen(name) < IB_DEVICE_NAME_MAX &&
	       !strpbrk(name, "/% \t\n") && strcmp(name, ".") &&
	       strcmp(name, "..");
}

/* Makes an unused name from @pattern in @name[IB_DEVICE_NAME_MAX]. */
static int make_name(char *name, const char *pattern)
{
	const char *percent = strchr(pattern, '%');
	int n;

	if (!percent) {
		if (strscpy(name, pattern, IB_DEVICE_NAME_MAX) < 0)
			return -EINVAL;
	} else {
		if (percent[1] != 'd' || strchr(percent + 1, '%'))
			return -EINVAL;
		n = lowest_free_number(pattern);
		if (n < 0)
			return n;
		if (snprintf(name, IB_DEVICE_NAME_MAX, "%.*s%d%s",
			     (int)(percent - pattern), pattern, n,
			     percent + 2) >= IB_DEVICE_NAME_MAX)
			return -EINVAL;
	}
	if (!name_is_valid(name))
		return -EINVAL;
	return find_by_name(name) ? -ENFILE : 0;
}

/* ---- adding and removing ---- */

int ibcore_registry_add(struct ib_device *dev, const char *pattern)
{
	char name[IB_DEVICE_NAME_MAX];
	int ret;

	down_write(&ibcore_registry_rwsem);
	ret = make_name(name, pattern);
	if (ret)
		goto out;
	ret = dev_set_name(&dev->dev, "%s", name);
	if (ret)
		goto out;
	write_name(dev, name);
	ret = xa_alloc_cyclic(&devices, &dev->index, dev, xa_limit_31b,
			      &next_index, GFP_KERNEL);
	ret = min(ret, 0);	/* 1: the index wrapped */
out:
	up_write(&ibcore_registry_rwsem);
	return ret;
}

void ibcore_registry_remove(struct ib_device *dev)
{
	down_write(&ibcore_registry_rwsem);
	xa_erase(&devices, dev->index);
	up_write(&ibcore_registry_rwsem);
}

bool ibcore_registry_empty(void)
{
	return xa_empty(&devices);
}

void ibcore_registry_exit(void)
{
	WARN_ON(!xa_empty(&devices));
	xa_destroy(&devices);
}

struct ib_device *ibcore_registry_next(u32 *index)
{
	unsigned long i = *index;
	struct ib_device *dev;

	/* The driver's memory reference lasts while the device is in the registry. */
	down_read(&ibcore_registry_rwsem);
	dev = xa_find(&devices, &i, U32_MAX, XA_PRESENT);
	if (dev)
		get_device(&dev->dev);
	up_read(&ibcore_registry_rwsem);
	*index = i;
	return dev;
}

/* ---- lookups ---- */

struct ib_device *ibcore_device_get_next(u32 *index)
{
	unsigned long i = *index;
	struct ib_device *dev;

	rcu_read_lock();
	xa_for_each_start(&devices, i, dev, i)
		if (ib_device_try_get(dev))
			break;
	rcu_read_unlock();
	*index = i;
	return dev;
}

struct ib_device *ibcore_device_get_by_index(const struct net *net, u32 index)
{
	struct ib_device *dev;

	rcu_read_lock();
	dev = xa_load(&devices, index);
	if (dev && (!rdma_dev_access_netns(dev, net) || !ib_device_try_get(dev)))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

int ibcore_walk_devices(const struct net *net, u32 start,
			int (*fn)(struct ib_device *dev, void *arg),
			void *arg)
{
	struct ib_device *dev;
	u32 index = start;
	int ret = 0;

	for (; !ret && (dev = ibcore_device_get_next(&index)); index++) {
		if (rdma_dev_access_netns(dev, net))
			ret = fn(dev, arg);
		ib_device_put(dev);
	}
	return ret;
}

/**
 * ib_device_get_by_name - Find a registered device by name
 * @name: its name
 * @driver_id: its driver, or RDMA_DRIVER_UNKNOWN for any
 *
 * Context: may sleep.
 * Return: the device with a registration reference (ib_device_put), or NULL.
 */
struct ib_device *ib_device_get_by_name(const char *name,
					enum rdma_driver_id driver_id)
{
	struct ib_device *dev;

	down_read(&ibcore_registry_rwsem);
	dev = find_by_name(name);
	if (dev && driver_id != RDMA_DRIVER_UNKNOWN &&
	    dev->ops.driver_id != driver_id)
		dev = NULL;
	if (dev && !ib_device_try_get(dev))
		dev = NULL;
	up_read(&ibcore_registry_rwsem);
	return dev;
}
EXPORT_SYMBOL(ib_device_get_by_name);

/* ---- renaming ---- */

static int rename_locked(struct ib_device *dev, const char *name)
{
	char old[IB_DEVICE_NAME_MAX];
	int ret;

	if (!name_is_valid(name))
		return -EINVAL;
	if (!strcmp(dev->name, name))
		return 0;
	if (find_by_name(name))
		return -EEXIST;
	/* First, as the uevent that device_rename() sends contains dev->name. */
	strscpy(old, dev->name, sizeof(old));
	write_name(dev, name);
	ret = device_rename(&dev->dev, name);
	if (ret)
		write_name(dev, old);
	return ret;
}

int ibcore_device_rename_moved(struct ib_device *dev)
{
	struct ibcore_device *priv = ibcore_priv(dev);
	int ret;

	mutex_lock(&priv->client_lock);
	mutex_lock(&dev->compat_devs_mutex);
	down_write(&ibcore_registry_rwsem);
	ret = device_rename(&dev->dev, dev->name);
	up_write(&ibcore_registry_rwsem);
	mutex_unlock(&dev->compat_devs_mutex);
	mutex_unlock(&priv->client_lock);
	return ret;
}

/* The caller holds a registration reference. */
int ibcore_device_rename(struct ib_device *dev, const char *name)
{
	struct ibcore_device *priv = ibcore_priv(dev);
	int ret;

	/*
	 * client_lock: clients use dev_name() in add(), remove() and rename().
	 * compat_devs_mutex: no compat device is created with the old name
	 * meanwhile.
	 */
	mutex_lock(&priv->client_lock);
	mutex_lock(&dev->compat_devs_mutex);
	down_write(&ibcore_registry_rwsem);
	ret = rename_locked(dev, name);
	up_write(&ibcore_registry_rwsem);
	if (!ret)
		ibcore_compat_devs_rename(dev, name);
	mutex_unlock(&dev->compat_devs_mutex);
	if (!ret)
		ibcore_clients_rename(dev);
	mutex_unlock(&priv->client_lock);
	return ret;
}
