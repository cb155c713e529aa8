// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The cached attributes of each port: P_Key table, LMC, state and subnet prefix.
 * Core queries the driver when the device is registered and again when the driver
 * reports an event; readers use the cache, in any context.
 *
 * A P_Key table is a snapshot that is never changed, only replaced (RCU).  It
 * contains the P_Keys by index and again sorted by key, so that a lookup is a
 * binary search.
 */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <rdma/ib_cache.h>
#include "gid/gid.h"

#define PKEY_FULL_MEMBER	0x8000	/* IBA 10.9.2 */
#define PKEY_BASE(pkey)		((pkey) & 0x7fff)

struct pkey_index {
	u16 pkey;
	u16 index;
};

struct pkey_table {
	struct rcu_head rcu;
	unsigned int len;
	u16 *by_index;
	/* by base value, then full members first, then by index */
	struct pkey_index sorted[];
};

struct ib_pkey_cache {
	struct mutex lock;		/* held by a refresh; outside ib_gid_table.lock */
	struct pkey_table __rcu *table;	/* written under lock */
};

/* What an event can have changed. */
enum {
	REFRESH_PORT	= BIT(0),	/* LMC, state */
	REFRESH_PKEY	= BIT(1),
	REFRESH_GID	= BIT(2),	/* GIDs, subnet prefix */
	REFRESH_GID_0	= BIT(3),	/* as REFRESH_GID, if GID 0 has changed */
	REFRESH_ALL	= REFRESH_PORT | REFRESH_PKEY | REFRESH_GID,
};

/*
 * Reading one table entry costs a firmware command, and tables have hundreds of entries.
 * All drivers report P_Key changes, but not all report that the subnet manager has set a
 * subnet prefix: qib, mthca and ConnectX-4 do not.  GID 0 begins with the prefix, so a
 * change of GID 0 shows it.
 */
static const u8 refresh_on_event[] = {
	[IB_EVENT_PORT_ACTIVE]		= REFRESH_PORT | REFRESH_GID_0,
	[IB_EVENT_PORT_ERR]		= REFRESH_PORT,
	[IB_EVENT_LID_CHANGE]		= REFRESH_PORT | REFRESH_GID_0,
	[IB_EVENT_PKEY_CHANGE]		= REFRESH_PKEY,
	[IB_EVENT_SM_CHANGE]		= REFRESH_PORT | REFRESH_GID_0,
	[IB_EVENT_CLIENT_REREGISTER]	= REFRESH_PORT | REFRESH_GID,
	[IB_EVENT_GID_CHANGE]		= REFRESH_PORT | REFRESH_GID,
};

static struct ib_pkey_cache *pkey_cache(const struct ib_device *dev, u32 port)
{
	if (!dev->port_data || !rdma_is_port_valid(dev, port))
		return NULL;
	/* Pairs with pkey_setup(). */
	return smp_load_acquire(&dev->port_data[port].cache.pkey);
}

/* Under rcu_read_lock. */
static struct pkey_table *pkey_table(const struct ib_device *dev, u32 port)
{
	struct ib_pkey_cache *cache = pkey_cache(dev, port);

	return cache ? rcu_dereference(cache->table) : NULL;
}

static int pkey_cmp(const void *a, const void *b)
{
	const struct pkey_index *x = a, *y = b;

	if (PKEY_BASE(x->pkey) != PKEY_BASE(y->pkey))
		return PKEY_BASE(x->pkey) - PKEY_BASE(y->pkey);
	if (x->pkey != y->pkey)
		return y->pkey - x->pkey;
	return x->index - y->index;
}

/* The first entry of @table that does not sort before @pkey at index 0, or NULL. */
static const struct pkey_index *pkey_lower_bound(const struct pkey_table *table,
						 u16 pkey)
{
	const struct pkey_index key = { .pkey = pkey };
	unsigned int lo = 0, hi = table->len, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (pkey_cmp(&table->sorted[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < table->len ? &table->sorted[lo] : NULL;
}

/**
 * ib_get_cached_pkey - the P_Key at an index (IBA 10.9.1)
 * @device: the device
 * @port_num: port number, counted from 1
 * @index: index in the port's table
 * @pkey: receives the P_Key, in host byte order
 *
 * Context: any.
 * Return: 0, -EINVAL for a port or index that does not exist.
 */
int ib_get_cached_pkey(struct ib_device *device, u32 port_num, int index,
		       u16 *pkey)
{
	struct pkey_table *table;
	int ret = -EINVAL;

	rcu_read_lock();
	table = pkey_table(device, port_num);
	if (table && index >= 0 && index < table->len) {
		*pkey = table->by_index[array_index_nospec(index, table->len)];
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}
EXPORT_SYMBOL(ib_get_cached_pkey);

/* Finds the first P_Key, in sort order from @pkey, that equals it in @mask's bits. */
static int pkey_find(struct ib_device *dev, u32 port, u16 pkey, u16 mask,
		     u16 *index)
{
	const struct pkey_index *found;
	struct pkey_table *table;
	int ret = -EINVAL;

	rcu_read_lock();
	table = pkey_table(dev, port);
	if (table) {
		found = pkey_lower_bound(table, pkey);
		ret = -ENOENT;
		if (found && !((found->pkey ^ pkey) & mask)) {
			*index = found->index;
			ret = 0;
		}
	}
	rcu_read_unlock();
	return ret;
}

/**
 * ib_find_cached_pkey - find the index of a P_Key of either membership
 * @device: the device
 * @port_num: port number, counted from 1
 * @pkey: the P_Key, in host byte order; its membership bit is ignored
 * @index: receives the index of the first full member if there is one, otherwise
 *	that of the first limited member
 *
 * Context: any.
 * Return: 0, -EINVAL for a port that does not exist, -ENOENT.
 */
int ib_find_cached_pkey(struct ib_device *device, u32 port_num, u16 pkey,
			u16 *index)
{
	/* Full members come first. */
	return pkey_find(device, port_num, pkey | PKEY_FULL_MEMBER,
			 PKEY_BASE(U16_MAX), index);
}
EXPORT_SYMBOL(ib_find_cached_pkey);

/**
 * ib_find_exact_cached_pkey - find the first index of a P_Key, membership included
 * @device: the device
 * @port_num: port number, counted from 1
 * @pkey: all 16 bits of the P_Key, in host byte order
 * @index: receives the index
 *
 * Context: any.
 * Return: 0, -EINVAL for a port that does not exist, -ENOENT.
 */
int ib_find_exact_cached_pkey(struct ib_device *device, u32 port_num, u16 pkey,
			      u16 *index)
{
	return pkey_find(device, port_num, pkey, U16_MAX, index);
}
EXPORT_SYMBOL(ib_find_exact_cached_pkey);

/**
 * ib_find_pkey - find the index of a P_Key in the device's own table
 * @device: the device
 * @port_num: port number, counted from 1
 * @pkey: the P_Key, in host byte order; its membership bit is ignored
 * @index: receives the index, chosen as by ib_find_cached_pkey()
 *
 * Unlike the cached lookups this queries the driver, for callers that run before the
 * event of a change has been handled.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for a port that does not exist, -ENOENT, or the error of
 * ib_query_pkey().
 */
int ib_find_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)
{
	int i, ret, len, limited = -1;
	u16 entry;

	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	len = device->port_data[port_num].immutable.pkey_tbl_len;
	for (i = 0; i < len; i++) {
		ret = ib_query_pkey(device, port_num, i, &entry);
		if (ret)
			return ret;
		if (PKEY_BASE(entry) != PKEY_BASE(pkey))
			continue;
		if (entry & PKEY_FULL_MEMBER) {
			*index = i;
			return 0;
		}
		if (limited < 0)
			limited = i;
	}
	if (limited < 0)
		return -ENOENT;
	*index = limited;
	return 0;
}
EXPORT_SYMBOL(ib_find_pkey);

/**
 * ib_get_cached_lmc - the LMC of a port (IBA 14.2.5.6)
 * @device: the device
 * @port_num: port number, counted from 1
 * @lmc: receives the LMC: how many low bits of the LID are path bits
 *
 * Context: any.
 * Return: 0, -EINVAL for a port that does not exist.
 */
int ib_get_cached_lmc(struct ib_device *device, u32 port_num, u8 *lmc)
{
	if (!pkey_cache(device, port_num))
		return -EINVAL;
	*lmc = READ_ONCE(device->port_data[port_num].cache.lmc);
	return 0;
}
EXPORT_SYMBOL(ib_get_cached_lmc);

/**
 * ib_get_cached_port_state - the state of a port (IBA 7.2.7)
 * @device: the device
 * @port_num: port number, counted from 1
 * @port_state: receives the state
 *
 * Context: any.
 * Return: 0, -EINVAL for a port that does not exist.
 */
int ib_get_cached_port_state(struct ib_device *device, u32 port_num,
			     enum ib_port_state *port_state)
{
	if (!pkey_cache(device, port_num))
		return -EINVAL;
	*port_state = READ_ONCE(device->port_data[port_num].cache.port_state);
	return 0;
}
EXPORT_SYMBOL(ib_get_cached_port_state);

/**
 * ib_get_cached_subnet_prefix - the subnet prefix of a port (IBA 4.1.1)
 * @device: the device
 * @port_num: port number, counted from 1
 * @sn_pfx: receives the prefix, in host byte order; unchanged if there is no such port
 *
 * Context: any.
 */
void ib_get_cached_subnet_prefix(struct ib_device *device, u32 port_num,
				 u64 *sn_pfx)
{
	unsigned long flags;

	if (!pkey_cache(device, port_num))
		return;
	read_lock_irqsave(&device->cache_lock, flags);
	*sn_pfx = device->port_data[port_num].cache.subnet_prefix;
	read_unlock_irqrestore(&device->cache_lock, flags);
}
EXPORT_SYMBOL(ib_get_cached_subnet_prefix);

static struct pkey_table *pkey_table_alloc(unsigned int len)
{
	struct pkey_table *table;
	size_t size;

	size = size_add(struct_size(table, sorted, len),
			array_size(len, sizeof(*table->by_index)));
	table = kvzalloc(size, GFP_KERNEL);
	if (table) {
		table->len = len;
		table->by_index = (u16 *)&table->sorted[len];
	}
	return table;
}

static int pkey_refresh(struct ib_device *dev, u32 port, unsigned int len,
			struct ib_pkey_cache *cache)
{
	struct pkey_table *table, *old;
	unsigned int i;
	int ret;

	lockdep_assert_held(&cache->lock);
	len = min_t(unsigned int, len,
		    dev->port_data[port].immutable.pkey_tbl_len);
	if (!dev->ops.query_pkey)
		len = 0;
	table = pkey_table_alloc(len);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < len; i++) {
		ret = ib_query_pkey(dev, port, i, &table->by_index[i]);
		if (ret) {
			kvfree(table);
			return ret;
		}
		table->sorted[i].pkey = table->by_index[i];
		table->sorted[i].index = i;
	}
	sort(table->sorted, len, sizeof(table->sorted[0]), pkey_cmp, NULL);
	old = rcu_replace_pointer(cache->table, table,
				  lockdep_is_held(&cache->lock));
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

static void port_refresh(struct ib_device *dev, u32 port,
			 const struct ib_port_attr *attr)
{
	struct ib_port_cache *cache = &dev->port_data[port].cache;

	WRITE_ONCE(cache->lmc, attr->lmc);
	WRITE_ONCE(cache->port_state, attr->state);
}

/* The subnet prefix is that of GID 0 (IBA vol. 1, 4.1.1). */
static void prefix_refresh(struct ib_device *dev, u32 port)
{
	union ib_gid gid = {};

	if (rdma_port_get_link_layer(dev, port) == IB_LINK_LAYER_INFINIBAND)
		rdma_query_gid(dev, port, 0, &gid);
	write_lock_irq(&dev->cache_lock);
	dev->port_data[port].cache.subnet_prefix =
		be64_to_cpu(gid.global.subnet_prefix);
	write_unlock_irq(&dev->cache_lock);
}

static int gid_refresh(struct ib_device *dev, u32 port, u8 what)
{
	int ret = 0;

	if (what & REFRESH_GID ||
	    (what & REFRESH_GID_0 && ibcore_gid_0_differs(dev, port)))
		ret = ibcore_gid_update_ib(dev, port);
	/* Also if reading the table failed: GID 0 may have been read. */
	prefix_refresh(dev, port);
	return ret;
}

static int cache_refresh(struct ib_device *dev, u32 port, u8 what)
{
	struct ib_pkey_cache *cache = pkey_cache(dev, port);
	struct ib_port_attr attr = {};
	int ret;

	if (!cache)
		return -EINVAL;
	mutex_lock(&cache->lock);
	ret = ib_query_port(dev, port, &attr);
	if (!ret && (what & REFRESH_PORT))
		port_refresh(dev, port, &attr);
	if (!ret && (what & (REFRESH_GID | REFRESH_GID_0)))
		ret = gid_refresh(dev, port, what);
	if (!ret && (what & REFRESH_PKEY))
		ret = pkey_refresh(dev, port, attr.pkey_tbl_len, cache);
	mutex_unlock(&cache->lock);
	return ret;
}

/**
 * ibcore_cache_event - refresh what an event can have changed
 * @event: the event, before its handlers are called
 *
 * If the driver fails, the failure is logged and the rest of the cache stays as it was.
 *
 * Context: may sleep.
 */
void ibcore_cache_event(const struct ib_event *event)
{
	struct ib_device *dev = event->device;
	u8 what = 0;
	int ret;

	if ((unsigned int)event->event < ARRAY_SIZE(refresh_on_event))
		what = refresh_on_event[event->event];
	if (!what || !pkey_cache(dev, event->element.port_num))
		return;
	ret = cache_refresh(dev, event->element.port_num, what);
	if (ret)
		ibdev_warn_ratelimited(dev, "port %u: refresh after %s: %d\n",
				       event->element.port_num,
				       ib_event_msg(event->event), ret);
}

static void pkey_release(struct ib_device *dev)
{
	struct ib_pkey_cache *cache;
	u32 port;

	rdma_for_each_port(dev, port) {
		cache = pkey_cache(dev, port);
		if (!cache)
			continue;
		WRITE_ONCE(dev->port_data[port].cache.pkey, NULL);
		/* Readers hold a reference on the device: no reader remains. */
		kvfree(rcu_dereference_protected(cache->table, true));
		mutex_destroy(&cache->lock);
		kfree(cache);
	}
}

static int pkey_setup(struct ib_device *dev)
{
	struct ib_pkey_cache *cache;
	u32 port;

	pkey_release(dev);	/* left over from a failed registration */
	rdma_for_each_port(dev, port) {
		cache = kzalloc(sizeof(*cache), GFP_KERNEL);
		if (!cache) {
			pkey_release(dev);
			return -ENOMEM;
		}
		mutex_init(&cache->lock);
		/* Pairs with pkey_cache(): readers see an initialised cache. */
		smp_store_release(&dev->port_data[port].cache.pkey, cache);
	}
	return 0;
}

/**
 * ibcore_cache_setup - allocate and fill the caches of all ports of a device
 * @dev: a device that is being registered, with port_data
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or the error of the driver's queries.  On error everything is
 * freed again.
 */
int ibcore_cache_setup(struct ib_device *dev)
{
	u32 port;
	int ret;

	ret = pkey_setup(dev);
	if (ret)
		return ret;
	ret = ibcore_gid_setup(dev);
	if (ret)
		goto err_pkey;
	rdma_for_each_port(dev, port) {
		ret = cache_refresh(dev, port, REFRESH_ALL);
		if (ret)
			goto err_gid;
	}
	ret = ibcore_roce_setup(dev);
	if (ret)
		goto err_gid;
	return 0;

err_gid:
	ibcore_gid_cleanup(dev);
	ibcore_gid_release(dev);
err_pkey:
	pkey_release(dev);
	return ret;
}

/**
 * ibcore_cache_cleanup - empty the GID tables and stop updating them
 * @dev: a device whose clients have been removed
 *
 * The driver's add_gid and del_gid are not called afterwards.
 *
 * Context: may sleep.
 */
void ibcore_cache_cleanup(struct ib_device *dev)
{
	ibcore_roce_cleanup(dev);
	ibcore_gid_cleanup(dev);
}

/**
 * ibcore_cache_release - free what ibcore_cache_setup() allocated
 * @dev: a device without references
 *
 * Context: may sleep.
 */
void ibcore_cache_release(struct ib_device *dev)
{
	if (!dev->port_data)
		return;
	ibcore_gid_release(dev);
	pkey_release(dev);
}
