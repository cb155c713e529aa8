// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Who writes the GID tables: a RoCE port's is made what the network says it should
 * be (roce_want.c), an IB or iWARP port's what the device says.  gid.c has the life
 * of an entry.
 */
#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "gid/gid.h"

static struct ibcore_gid_entry *gid_match(struct ib_gid_table *table,
					  const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *entry;

	lockdep_assert_held(&table->lock);
	hlist_for_each_entry(entry, ibcore_gid_bucket(table, &want->gid), hash)
		if (entry->attr.gid_type == want->type &&
		    entry->ndev == want->ndev &&
		    !memcmp(&entry->attr.gid, &want->gid, sizeof(want->gid)))
			return entry;
	return NULL;
}

/* The default GID of a type sits at the type's place among those supported. */
static unsigned int gid_default_index(struct ib_gid_table *table,
				      enum ib_gid_type type)
{
	return hweight_long(roce_gid_type_mask_support(table->dev, table->port) &
			    (BIT(type) - 1));
}

/*
 * Returns the index of what is there already, or @len.  An IP GID in a default's
 * place, which its address came to equal, has to move.
 */
static unsigned int gid_present(struct ib_gid_table *table,
				const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *entry = gid_match(table, want);
	bool present;

	if (!entry)
		return table->len;
	if (want->is_default)
		present = entry->attr.index ==
			  gid_default_index(table, want->type);
	else
		present = entry->attr.index >= table->reserved;
	return present ? entry->attr.index : table->len;
}

static int gid_install(struct ib_gid_table *table,
		       const struct ibcore_gid_want *want)
{
	unsigned int ix;

	if (want->is_default) {
		ix = gid_default_index(table, want->type);
		if (ix >= table->reserved || test_bit(ix, table->used))
			return -EBUSY;
	} else {
		ix = find_next_zero_bit(table->used, table->len,
					table->reserved);
		if (ix >= table->len)
			return -ENOSPC;
	}
	return ibcore_gid_insert(table, ix, want);
}

/*
 * Drivers program a MAC with the GID: an entry whose MAC is another one now is
 * taken out of the hardware and added anew.  Who refers to it keeps it, and its
 * index; if the driver refuses, it leaves the table.  Meanwhile it is hidden, as
 * one that is new: mlx5 looks up in add_gid who else has the GID.
 */
static void gid_readdress(struct ib_gid_table *table,
			  const struct ibcore_gid_want *want, bool *changed)
{
	struct ibcore_gid_entry *entry = gid_match(table, want);

	/* An address that is there twice is wanted twice, and may be out now. */
	if (!entry || !entry->in_hw || entry->context ||
	    !memcmp(&entry->macs, &want->macs, sizeof(want->macs)))
		return;
	*changed = true;
	ibcore_gid_hide(entry);
	ibcore_gid_hw_del(entry);
	entry->macs = want->macs;
	if (!ibcore_gid_hw_add(entry))
		ibcore_gid_show(entry);
	else
		ibcore_gid_drop(entry);
}

/*
 * A driver with a table of its own programs the port's address, if any (mlx4 does
 * not), when a place gets its first entry.  Another address has to wait until
 * nothing sends by any entry of the place; then all are deleted, and all added anew.
 */
static bool gid_place_outdated(const struct ibcore_gid_entry *entry,
			       const u8 *mac)
{
	return entry->in_hw && entry->context && !entry->gone &&
	       entry->table->dev->ops.driver_id != RDMA_DRIVER_MLX4 &&
	       !ether_addr_equal(entry->macs.port, mac);
}

/* Whether something sends, or with @updating still may, by an entry of the place. */
static bool gid_place_in_use(const struct ibcore_gid_entry *entry, bool updating)
{
	const struct ibcore_gid_entry *other;

	list_for_each_entry(other, &entry->table->entries, link)
		if (other->in_hw && other->context == entry->context &&
		    (atomic_read(&other->users) || (updating && !other->updating)))
			return true;
	return false;
}

/*
 * Marks the entries of places that have another address than @mac, but for those in use,
 * whose last user has the port resynchronized.  One that is marked gets no user.
 */
static void gid_mark_updating(struct ib_gid_table *table, const u8 *mac)
{
	struct ibcore_gid_entry *entry;
	bool outdated;

	list_for_each_entry(entry, &table->entries, link) {
		if (entry->gone)
			continue;
		outdated = gid_place_outdated(entry, mac);
		WRITE_ONCE(entry->awaited, outdated);
		WRITE_ONCE(entry->updating,
			   outdated && !gid_place_in_use(entry, false));
	}
	smp_mb();	/* Pairs with ibcore_gid_use() and ibcore_gid_unuse(). */
	list_for_each_entry(entry, &table->entries, link)
		if (entry->updating && gid_place_in_use(entry, true))
			WRITE_ONCE(entry->updating, false);
	smp_mb();	/* What the last users did comes before what follows. */
}

static void gid_readdress_places(struct ib_gid_table *table, const u8 *mac,
				 bool *changed)
{
	struct ibcore_gid_entry *entry, *next;

	gid_mark_updating(table, mac);
	list_for_each_entry(entry, &table->entries, link)
		if (entry->updating)
			ibcore_gid_hw_del(entry);
	list_for_each_entry_safe(entry, next, &table->entries, link) {
		if (!entry->updating)
			continue;
		*changed = true;
		ether_addr_copy(entry->macs.port, mac);
		if (ibcore_gid_hw_add(entry)) {
			WRITE_ONCE(entry->updating, false);
			ibcore_gid_remove(entry);
			continue;
		}
		WRITE_ONCE(entry->awaited, gid_place_outdated(entry, mac));
		/* Pairs with ibcore_gid_use(). */
		smp_store_release(&entry->updating, false);
	}
}

static int gid_install_missing(struct ib_gid_table *table,
			       const struct ibcore_gid_want *want,
			       unsigned int n, bool *changed)
{
	unsigned int i, none = 0;
	int ret, err = 0;

	for (i = 0; i < n; i++) {
		if (gid_match(table, &want[i]))
			continue;
		ret = gid_install(table, &want[i]);
		if (!ret)
			*changed = true;
		else if (ret == -EBUSY || ret == -ENOSPC)
			none++;
		else if (ret == -ENOMEM)
			err = ret;
	}
	if (none && !table->starved)
		ibdev_warn(table->dev, "port %u: %u GIDs found no free index\n",
			   table->port, none);
	table->starved = none;
	return err;
}

/**
 * ibcore_gid_sync - make a RoCE port's GID table what it should be
 * @dev: the device
 * @port: a RoCE port of it
 * @want: all GIDs that the port should have; none twice as a default GID
 * @n: how many
 * @changed: set when an entry came or went
 *
 * Entries that are wanted stay at their index, and are programmed again if a MAC
 * has changed.  A GID the driver refuses is logged and left out until the port is
 * looked at again; so is one that finds no free index, which is tried again as
 * soon as a removed entry's last reference is put.  When a removed entry leaves a
 * table of the driver's, or one can get its new MAC there, all is looked at again.
 *
 * Context: may sleep; the driver's add_gid and del_gid run under the table's
 * lock alone.
 * Return: 0, -ENOMEM when there was no memory for a GID.
 */
int ibcore_gid_sync(struct ib_device *dev, u32 port,
		    const struct ibcore_gid_want *want, unsigned int n,
		    bool *changed)
{
	struct ib_gid_table *table = ibcore_gid_table(dev, port);
	struct ibcore_gid_entry *entry;
	unsigned long *keep;
	unsigned int i;
	int ret = 0;

	if (!table || !table->roce)
		return 0;
	/* The extra bit takes what is not present. */
	keep = bitmap_zalloc(table->len + 1, GFP_KERNEL);
	if (!keep)
		return -ENOMEM;

	mutex_lock(&table->lock);
	if (table->closed)
		goto out;
	for (i = 0; i < n; i++)
		__set_bit(gid_present(table, &want[i]), keep);
	for (i = 0; i < table->len; i++) {
		entry = ibcore_gid_slot(table, i);
		if (!entry || test_bit(i, keep))
			continue;
		ibcore_gid_remove(entry);
		*changed = true;
	}
	for (i = 0; i < n; i++)
		gid_readdress(table, &want[i], changed);
	if (n)
		gid_readdress_places(table, want->macs.port, changed);
	ret = gid_install_missing(table, want, n, changed);
out:
	mutex_unlock(&table->lock);
	bitmap_free(keep);
	return ret;
}

/*
 * Has the GIDs of @ndev leave the table, or if it is NULL, those of net_devices that
 * are being unregistered.  Returns how many.  May sleep, and needs no memory.
 */
int ibcore_gid_del_netdev(struct ib_device *dev, u32 port,
			  const struct net_device *ndev)
{
	struct ib_gid_table *table = ibcore_gid_table(dev, port);
	struct ibcore_gid_entry *entry;
	unsigned int i;
	int n = 0;

	if (!table || (ndev && !table->roce))
		return 0;
	mutex_lock(&table->lock);
	for (i = 0; i < table->len; i++) {
		entry = ibcore_gid_slot(table, i);
		if (!entry || !entry->ndev)
			continue;
		if (ndev ? entry->ndev != ndev :
			   READ_ONCE(entry->ndev->reg_state) == NETREG_REGISTERED)
			continue;
		ibcore_gid_remove(entry);
		n++;
	}
	mutex_unlock(&table->lock);
	return n;
}

/* What was there stays if there is no memory for what is to be. */
static int gid_set_index(struct ib_gid_table *table, unsigned int ix,
			 const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *old = ibcore_gid_slot(table, ix), *entry = NULL;

	if (old && old->ndev == want->ndev &&
	    !memcmp(&old->attr.gid, &want->gid, sizeof(want->gid)))
		return 0;
	if (!rdma_is_zero_gid(&want->gid)) {
		entry = ibcore_gid_alloc(table, ix, want);
		if (!entry)
			return -ENOMEM;
	}
	if (old)
		ibcore_gid_remove(old);
	if (entry)
		ibcore_gid_publish(entry);
	return 0;
}

/*
 * The net_device of an iWARP port's GID, referred to.  Under the table's lock:
 * whoever finds it registered is followed by whom its unregistration has look
 * again, so that it does not wait for the table.
 */
static struct net_device *gid_iwarp_netdev(struct ib_gid_table *table)
{
	struct net_device *ndev;

	lockdep_assert_held(&table->lock);
	if (!rdma_protocol_iwarp(table->dev, table->port))
		return NULL;
	ndev = ib_device_get_netdev(table->dev, table->port);
	if (ndev && READ_ONCE(ndev->reg_state) != NETREG_REGISTERED) {
		dev_put(ndev);
		ndev = NULL;
	}
	return ndev;
}

/**
 * ibcore_gid_update_ib - read an IB or iWARP port's GID table from the device
 * @dev: the device
 * @port: a port of it; nothing is done for a RoCE port
 *
 * The index is the device's here, so a GID that changed is replaced at once,
 * also while the old one is referred to.
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or what the driver's query_gid answers.
 */
int ibcore_gid_update_ib(struct ib_device *dev, u32 port)
{
	struct ib_gid_table *table = ibcore_gid_table(dev, port);
	struct ibcore_gid_want want = { .type = IB_GID_TYPE_IB };
	unsigned int i;
	int ret = 0;

	if (!table || table->roce || !dev->ops.query_gid)
		return 0;
	mutex_lock(&table->lock);
	want.ndev = gid_iwarp_netdev(table);
	for (i = 0; i < table->len && !ret && !table->closed; i++) {
		ret = dev->ops.query_gid(dev, port, i, &want.gid);
		if (!ret)
			ret = gid_set_index(table, i, &want);
	}
	mutex_unlock(&table->lock);
	dev_put(want.ndev);
	if (ret)
		ibdev_warn(dev, "port %u: reading GID index %u: %d\n", port,
			   i - 1, ret);
	return ret;
}

/* Whether the device has another GID 0 than an IB or iWARP port's table. */
bool ibcore_gid_0_differs(struct ib_device *dev, u32 port)
{
	struct ib_gid_table *table = ibcore_gid_table(dev, port);
	union ib_gid gid, known = {};

	if (!table || table->roce || !dev->ops.query_gid)
		return false;
	rdma_query_gid(dev, port, 0, &known);
	return dev->ops.query_gid(dev, port, 0, &gid) ||
	       memcmp(&gid, &known, sizeof(gid));
}

