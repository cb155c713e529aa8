// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Updates of the GID tables: a RoCE port's table follows the network configuration
 * (roce_want.c), an IB or iWARP port's table is read from the device.  gid.c describes
 * the life of an entry.
 */
#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <ibex/compat/net.h>
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

/* The index of a type's default GID: the number of supported types before it. */
static unsigned int gid_default_index(struct ib_gid_table *table,
				      enum ib_gid_type type)
{
	return hweight_long(roce_gid_type_mask_support(table->dev, table->port) &
			    (BIT(type) - 1));
}

/* A default GID and an equal IP GID belong at different indices. */
static bool gid_at_home(struct ib_gid_table *table,
			const struct ibcore_gid_entry *entry,
			const struct ibcore_gid_want *want)
{
	if (want->is_default)
		return entry->attr.index == gid_default_index(table, want->type);
	return entry->attr.index >= table->reserved;
}

/*
 * Returns the index of the entry that matches @want, or table->len if there is none or
 * it has to move.
 */
static unsigned int gid_present(struct ib_gid_table *table,
				const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *entry = gid_match(table, want);

	return entry && gid_at_home(table, entry, want) ? entry->attr.index :
							  table->len;
}

static bool gid_was(const struct ibcore_gid_entry *entry,
		    const struct ibcore_gid_want *want)
{
	return entry->attr.gid_type == want->type &&
	       entry->was_ndev == want->ndev &&
	       entry->was_ifindex == want->ndev->ifindex &&
	       !memcmp(&entry->attr.gid, &want->gid, sizeof(want->gid));
}

/*
 * A GID that comes back while its old entry is referenced gets that entry, and so its
 * index, which processes may have stored.  If add_gid fails, gid_install_missing() tries
 * another index.
 */
static void gid_revive(struct ib_gid_table *table,
		       const struct ibcore_gid_want *want, bool *changed)
{
	struct ibcore_gid_entry *entry;

	if (gid_match(table, want))
		return;
	list_for_each_entry(entry, &table->entries, link) {
		if (!entry->gone || !gid_was(entry, want) ||
		    !gid_at_home(table, entry, want))
			continue;
		if (!ibcore_gid_revive(entry, want))
			*changed = true;
		return;
	}
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
 * Drivers program a MAC and a VLAN with the GID: an entry for which one of them has
 * changed (the VLAN of a bridge is that of its port) is deleted from the hardware and
 * added again.  It keeps its references and its index; if add_gid
 * fails, it is removed from the table.  It is hidden during add_gid, like a new entry:
 * mlx5 looks there for other entries with the GID.
 */
static void gid_readdress(struct ib_gid_table *table,
			  const struct ibcore_gid_want *want, bool *changed)
{
	struct ibcore_gid_entry *entry = gid_match(table, want);
	struct ibcore_gid_l2 now;

	/* An address configured twice is in @want twice; the first pass may drop it. */
	if (!entry || !entry->in_hw || entry->context)
		return;
	ibcore_gid_read_l2(&now, entry, want->port_ndev);
	if (!memcmp(&entry->l2, &now, sizeof(now)))
		return;
	*changed = true;
	ibcore_gid_hide(entry);
	ibcore_gid_hw_del(entry);
	if (!ibcore_gid_hw_add(entry, want->port_ndev))
		ibcore_gid_show(entry);
	else
		ibcore_gid_drop(entry);
}

/* Whether the entry is in a driver's own table that has MACs and VLANs; mlx4's has none. */
static bool gid_in_place(const struct ibcore_gid_entry *entry)
{
	return entry->in_hw && entry->context && !entry->gone &&
	       entry->table->dev->ops.driver_id != RDMA_DRIVER_MLX4;
}

/*
 * A driver with a table of its own programs the port's MAC when a place gets its first
 * entry.  A changed MAC has to wait until no entry of the place has users; then all its
 * entries are deleted and added again.
 */
static bool gid_place_outdated(const struct ibcore_gid_entry *entry,
			       const u8 *mac)
{
	return gid_in_place(entry) && !ether_addr_equal(entry->l2.port_mac, mac);
}

/*
 * Whether an entry of the place has users, or with @updating can still get one.  An
 * entry whose VLAN has changed leaves the place to the others, so only its own users
 * count.
 */
static bool gid_place_in_use(const struct ibcore_gid_entry *entry, bool updating)
{
	const struct ibcore_gid_entry *other;

	list_for_each_entry(other, &entry->table->entries, link) {
		if (!other->in_hw || other->context != entry->context ||
		    (entry->moves && other != entry))
			continue;
		if (atomic_read(&other->users) || (updating && !other->updating))
			return true;
	}
	return false;
}

/*
 * Marks the entries of places programmed with another MAC than @mac or another VLAN as
 * updating, so that they get no new user, except in places that are in use: there the
 * last user to finish schedules an update of the port.
 */
static void gid_mark_updating(struct ib_gid_table *table, const u8 *mac)
{
	struct ibcore_gid_entry *entry;
	bool outdated;

	list_for_each_entry(entry, &table->entries, link) {
		if (entry->gone)
			continue;
		entry->moves = gid_in_place(entry) &&
			       entry->l2.vlan_id != ibcore_gid_vlan_id(entry);
		outdated = entry->moves || gid_place_outdated(entry, mac);
		WRITE_ONCE(entry->awaited, outdated);
		WRITE_ONCE(entry->updating,
			   outdated && !gid_place_in_use(entry, false));
	}
	smp_mb();	/* Pairs with ibcore_gid_use() and ibcore_gid_unuse(). */
	list_for_each_entry(entry, &table->entries, link)
		if (entry->updating && gid_place_in_use(entry, true))
			WRITE_ONCE(entry->updating, false);
	smp_mb();	/* Orders the last users' work before the calls to the driver. */
}

static void gid_readdress_places(struct ib_gid_table *table,
				 const struct net_device *port_ndev,
				 bool *changed)
{
	struct ibcore_gid_entry *entry, *next;
	u8 mac[ETH_ALEN];

	ether_addr_copy(mac, port_ndev->dev_addr);
	gid_mark_updating(table, mac);
	list_for_each_entry(entry, &table->entries, link)
		if (entry->updating)
			ibcore_gid_hw_del(entry);
	list_for_each_entry_safe(entry, next, &table->entries, link) {
		if (!entry->updating)
			continue;
		*changed = true;
		if (ibcore_gid_hw_add(entry, port_ndev)) {
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
 * ibcore_gid_sync - make a RoCE port's GID table match a set of GIDs
 * @dev: the device
 * @port: RoCE port of the device
 * @want: all GIDs that the port should have; none twice as a default GID
 * @n: number of GIDs in @want
 * @changed: set if an entry was added, removed or programmed again
 *
 * Entries that are in @want stay at their index, and are programmed again if a MAC or
 * the VLAN has changed.  A GID that comes back gets its old entry, if that is still
 * referenced.  If the driver rejects a GID, the error is logged and the GID left out
 * until the port's next update.  A GID that finds no free index is also logged and left
 * out; the port is updated as soon as a removed entry's last reference is put.  The port
 * is also updated when a driver with a table of its own deletes a removed entry, or when
 * one of its entries has lost its users and can get its new MAC or VLAN.
 *
 * Context: may sleep; calls the driver's add_gid and del_gid under the table's lock.
 * Return: 0, -ENOMEM if there was no memory for a GID.
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
	/* The extra bit is for GIDs that gid_present() does not find. */
	keep = bitmap_zalloc(table->len + 1, GFP_KERNEL);
	if (!keep)
		return -ENOMEM;

	mutex_lock(&table->lock);
	if (table->closed)
		goto out;
	if (n)
		WRITE_ONCE(table->port_ndev, want->port_ndev);
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
		gid_revive(table, &want[i], changed);
	for (i = 0; i < n; i++)
		gid_readdress(table, &want[i], changed);
	if (n)
		gid_readdress_places(table, want->port_ndev, changed);
	ret = gid_install_missing(table, want, n, changed);
out:
	mutex_unlock(&table->lock);
	bitmap_free(keep);
	return ret;
}

/*
 * Removes the entries of @ndev from the table, or if @ndev is NULL, those of net_devices
 * that are being unregistered.  Returns how many.  May sleep; allocates no memory.
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
			   ibex_reg_state(entry->ndev) == NETREG_REGISTERED)
			continue;
		ibcore_gid_remove(entry);
		n++;
	}
	mutex_unlock(&table->lock);
	return n;
}

/* If a new entry cannot be allocated, the old one stays. */
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
 * Returns the net_device for an iWARP port's GID, with a reference, or NULL.  If it is
 * found registered, the update that its unregistration schedules takes the table's
 * lock after this and removes the GID: the unregistration waits for no table.
 */
static struct net_device *gid_iwarp_netdev(struct ib_gid_table *table)
{
	struct net_device *ndev;

	lockdep_assert_held(&table->lock);
	if (!rdma_protocol_iwarp(table->dev, table->port))
		return NULL;
	ndev = ib_device_get_netdev(table->dev, table->port);
	if (ndev && ibex_reg_state(ndev) != NETREG_REGISTERED) {
		dev_put(ndev);
		ndev = NULL;
	}
	return ndev;
}

/**
 * ibcore_gid_update_ib - read an IB or iWARP port's GID table from the device
 * @dev: the device
 * @port: port of the device; nothing is done for a RoCE port
 *
 * The device assigns the indices, so a GID that changed is replaced at once, also
 * while the old entry is referenced.
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or the error of the driver's query_gid.
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

/* Whether GID 0 of the device differs from GID 0 of an IB or iWARP port's table. */
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

