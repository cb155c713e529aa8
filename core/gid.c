// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GID tables: their entries, and the references on them.
 *
 * Writers change a table under its mutex; readers (gid_find.c) use RCU alone.
 * An entry is found through its index (slot[]) and through its GID (hash).
 *
 * The life of an entry:
 *	gid_insert	the driver learns it, then readers see it; one
 *			reference is the table's
 *	gid_remove	readers no longer find it; the driver forgets it while
 *			it still has its net_device, whose reference goes after
 *			a grace period, with the table's
 *	gid_retire	no reference remains: on a RoCE port its index is free
 *			again
 * A removed entry that something still refers to so keeps its index, but neither
 * its place in the hardware nor its net_device: an address that is taken away
 * stops working at once, and one that comes back finds no older self there.
 */
#include <linux/bitmap.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "core.h"

struct ib_gid_table *ibcore_gid_table(const struct ib_device *dev, u32 port)
{
	if (!dev->port_data || !rdma_is_port_valid(dev, port))
		return NULL;
	/* Pairs with ibcore_gid_setup(). */
	return smp_load_acquire(&dev->port_data[port].cache.gid);
}

struct hlist_head *ibcore_gid_bucket(struct ib_gid_table *table,
				     const union ib_gid *gid)
{
	u32 key = jhash(gid->raw, sizeof(gid->raw), 0);

	return &table->hash[key & table->hash_mask];
}

static void gid_table_put(struct ib_gid_table *table)
{
	if (!refcount_dec_and_test(&table->ref))
		return;
	mutex_destroy(&table->lock);
	bitmap_free(table->used);
	kvfree(table->hash);
	kvfree(table);
}

static struct ibcore_gid_entry *gid_slot(struct ib_gid_table *table,
					 unsigned int ix)
{
	return rcu_dereference_protected(table->slot[ix],
					 lockdep_is_held(&table->lock));
}

static int gid_hw_add(struct ibcore_gid_entry *entry)
{
	struct ib_device *dev = entry->attr.device;
	int ret;

	if (!rdma_cap_roce_gid_table(dev, entry->attr.port_num))
		return 0;
	ret = dev->ops.add_gid(&entry->attr, &entry->context);
	if (ret)
		ibdev_err(dev, "port %u: adding GID %pI6 at index %u: %d\n",
			  entry->attr.port_num, entry->attr.gid.raw,
			  entry->attr.index, ret);
	else
		WRITE_ONCE(entry->in_hw, true);
	return ret;
}

/* Drivers look at attr.ndev here as in add_gid: mlx5 finds MACsec rules by it. */
static void gid_hw_del(struct ibcore_gid_entry *entry)
{
	struct ib_device *dev = entry->attr.device;
	int ret;

	lockdep_assert_held(&entry->table->lock);
	if (!entry->in_hw)
		return;
	WRITE_ONCE(entry->in_hw, false);
	ret = dev->ops.del_gid(&entry->attr, &entry->context);
	if (ret)
		ibdev_warn(dev, "port %u: deleting GID index %u: %d\n",
			   entry->attr.port_num, entry->attr.index, ret);
}

static void gid_free(struct ibcore_gid_entry *entry)
{
	netdev_put(entry->ndev, &entry->tracker);
	gid_table_put(entry->table);
	kfree(entry);
}

static void gid_free_rcu(struct rcu_head *rcu)
{
	gid_free(container_of(rcu, struct ibcore_gid_entry, rcu));
}

/*
 * No reference remains on @entry, and none can be taken:
 * (1) the table's was put by gid_let_go or gid_detach_rcu, after slot[] and the
 *     hash had let go of it, and readers take one only if the count is not zero;
 * (2) the last put is what leads here, once, whether directly or by the work.
 * RCU readers may still look at it, so it is freed after a grace period.
 */
static void gid_retire(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	list_del(&entry->link);
	if (table->roce)
		clear_bit(entry->attr.index, table->used);
}

static void gid_release_work(struct work_struct *work)
{
	struct ibcore_gid_entry *entry =
		container_of(work, struct ibcore_gid_entry, work);
	struct ib_gid_table *table = entry->table;
	const struct ib_device *dev = table->dev;
	u32 port = table->port;
	bool kick;

	mutex_lock(&table->lock);
	gid_retire(entry);
	kick = table->starved && !table->closed;
	mutex_unlock(&table->lock);
	/* Only now: the entry's reference may be the last on the table. */
	call_rcu(&entry->rcu, gid_free_rcu);
	if (kick)
		ibcore_roce_kick(dev, port);
}

/**
 * rdma_put_gid_attr - drop a reference on a GID table entry
 * @attr: from rdma_get_gid_attr(), rdma_find_gid() and the like
 *
 * An entry that has meanwhile left the table goes with its last reference, which
 * frees its index.
 *
 * Context: any.
 */
void rdma_put_gid_attr(const struct ib_gid_attr *attr)
{
	struct ibcore_gid_entry *entry =
		container_of(attr, struct ibcore_gid_entry, attr);

	if (refcount_dec_and_test(&entry->ref))
		queue_work(ibcore_gid_wq, &entry->work);
}
EXPORT_SYMBOL(rdma_put_gid_attr);

/**
 * rdma_hold_gid_attr - take one more reference on a GID table entry
 * @attr: an entry the caller has a reference on
 *
 * Context: any.
 */
void rdma_hold_gid_attr(const struct ib_gid_attr *attr)
{
	struct ibcore_gid_entry *entry =
		container_of(attr, struct ibcore_gid_entry, attr);

	refcount_inc(&entry->ref);
}
EXPORT_SYMBOL(rdma_hold_gid_attr);

static void gid_detach_rcu(struct rcu_head *rcu)
{
	struct ibcore_gid_entry *entry =
		container_of(rcu, struct ibcore_gid_entry, rcu);

	netdev_put(entry->ndev, &entry->tracker);
	entry->ndev = NULL;
	rdma_put_gid_attr(&entry->attr);
}

/* Readers find @entry, at an index that holds none. */
static void gid_show(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	hlist_add_head_rcu(&entry->hash,
			   ibcore_gid_bucket(table, &entry->attr.gid));
	rcu_assign_pointer(table->slot[entry->attr.index], entry);
}

static void gid_hide(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	hlist_del_rcu(&entry->hash);
	RCU_INIT_POINTER(table->slot[entry->attr.index], NULL);
}

/* The table's reference on @entry, which is hidden and not in the hardware. */
static void gid_let_go(struct ibcore_gid_entry *entry)
{
	if (refcount_dec_if_one(&entry->ref)) {
		gid_retire(entry);
		call_rcu(&entry->rcu, gid_free_rcu);
		return;
	}
	RCU_INIT_POINTER(entry->attr.ndev, NULL);
	call_rcu(&entry->rcu, gid_detach_rcu);
}

static void gid_remove(struct ibcore_gid_entry *entry)
{
	gid_hide(entry);
	gid_hw_del(entry);
	gid_let_go(entry);
}

static struct ibcore_gid_entry *gid_alloc(struct ib_gid_table *table,
					  unsigned int ix,
					  const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return NULL;
	entry->attr.device = table->dev;
	entry->attr.gid = want->gid;
	entry->attr.gid_type = want->type;
	entry->attr.index = ix;
	entry->attr.port_num = table->port;
	entry->macs = want->macs;
	entry->ndev = want->ndev;
	netdev_hold(entry->ndev, &entry->tracker, GFP_KERNEL);
	RCU_INIT_POINTER(entry->attr.ndev, entry->ndev);
	refcount_inc(&table->ref);
	entry->table = table;
	refcount_set(&entry->ref, 1);
	INIT_WORK(&entry->work, gid_release_work);
	return entry;
}

static void gid_publish(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	list_add_tail(&entry->link, &table->entries);
	if (table->roce)
		set_bit(entry->attr.index, table->used);
	gid_show(entry);
}

static int gid_insert(struct ib_gid_table *table, unsigned int ix,
		      const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *entry;
	int ret;

	lockdep_assert_held(&table->lock);
	entry = gid_alloc(table, ix, want);
	if (!entry)
		return -ENOMEM;
	ret = gid_hw_add(entry);
	if (ret) {
		gid_free(entry);
		return ret;
	}
	gid_publish(entry);
	return 0;
}

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
 * Returns the index of what is there already, or @len; notes it in @want.  An IP
 * GID in a default's place, which its address came to equal, has to move.
 */
static unsigned int gid_present(struct ib_gid_table *table,
				struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *entry = gid_match(table, want);

	if (!entry)
		want->present = false;
	else if (want->is_default)
		want->present = entry->attr.index ==
				gid_default_index(table, want->type);
	else
		want->present = entry->attr.index >= table->reserved;
	return want->present ? entry->attr.index : table->len;
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
	return gid_insert(table, ix, want);
}

/*
 * Drivers program a MAC with the GID: an entry whose MAC is another one now is
 * taken out of the hardware and added anew.  Who refers to it keeps it, and its
 * index; if the driver refuses, it leaves the table.  Meanwhile it is hidden, as
 * one that is new: mlx5 looks up in add_gid who else has the GID.
 */
static void gid_readdress(struct ib_gid_table *table,
			  struct ibcore_gid_want *want, bool *changed)
{
	struct ibcore_gid_entry *entry = gid_match(table, want);

	/* An address that is there twice is wanted twice, and may be out now. */
	want->present = entry;
	if (!entry || !entry->in_hw ||
	    !memcmp(&entry->macs, &want->macs, sizeof(want->macs)))
		return;
	*changed = true;
	gid_hide(entry);
	gid_hw_del(entry);
	entry->macs = want->macs;
	if (!gid_hw_add(entry)) {
		gid_show(entry);
		return;
	}
	gid_let_go(entry);
	want->present = false;
}

static int gid_install_missing(struct ib_gid_table *table,
			       struct ibcore_gid_want *want, unsigned int n,
			       bool *changed)
{
	unsigned int i, none = 0;
	int ret, err = 0;

	for (i = 0; i < n; i++) {
		if (want[i].present || gid_match(table, &want[i]))
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
 * soon as a removed entry's last reference is put.
 *
 * Context: may sleep; the driver's add_gid and del_gid run under the table's
 * lock alone.
 * Return: 0, -ENOMEM when a GID is missing for want of memory.
 */
int ibcore_gid_sync(struct ib_device *dev, u32 port,
		    struct ibcore_gid_want *want, unsigned int n, bool *changed)
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
		entry = gid_slot(table, i);
		if (!entry || test_bit(i, keep))
			continue;
		gid_remove(entry);
		*changed = true;
	}
	for (i = 0; i < n; i++)
		if (want[i].present)
			gid_readdress(table, &want[i], changed);
	ret = gid_install_missing(table, want, n, changed);
out:
	mutex_unlock(&table->lock);
	bitmap_free(keep);
	return ret;
}

/* Returns how many GIDs of @ndev left the table.  May sleep. */
int ibcore_gid_del_netdev(struct ib_device *dev, u32 port,
			  struct net_device *ndev)
{
	struct ib_gid_table *table = ibcore_gid_table(dev, port);
	struct ibcore_gid_entry *entry;
	unsigned int i;
	int n = 0;

	if (!table || !table->roce)
		return 0;
	mutex_lock(&table->lock);
	for (i = 0; i < table->len; i++) {
		entry = gid_slot(table, i);
		if (!entry || entry->ndev != ndev)
			continue;
		gid_remove(entry);
		n++;
	}
	mutex_unlock(&table->lock);
	return n;
}

/* What was there stays if there is no memory for what is to be. */
static int gid_set_index(struct ib_gid_table *table, unsigned int ix,
			 const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *old = gid_slot(table, ix), *entry = NULL;

	if (old && old->ndev == want->ndev &&
	    !memcmp(&old->attr.gid, &want->gid, sizeof(want->gid)))
		return 0;
	if (!rdma_is_zero_gid(&want->gid)) {
		entry = gid_alloc(table, ix, want);
		if (!entry)
			return -ENOMEM;
	}
	if (old)
		gid_remove(old);
	if (entry)
		gid_publish(entry);
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

static struct ib_gid_table *gid_table_alloc(struct ib_device *dev, u32 port)
{
	int len = max(dev->port_data[port].immutable.gid_tbl_len, 0);
	unsigned int buckets = roundup_pow_of_two(max(len, 1));
	struct ib_gid_table *table;

	table = kvzalloc(struct_size(table, slot, len), GFP_KERNEL);
	if (!table)
		return NULL;
	table->used = bitmap_zalloc(max(len, 1), GFP_KERNEL);
	if (!table->used)
		goto err_table;
	table->hash = kvcalloc(buckets, sizeof(*table->hash), GFP_KERNEL);
	if (!table->hash)
		goto err_used;
	table->dev = dev;
	table->port = port;
	table->len = len;
	table->hash_mask = buckets - 1;
	table->roce = rdma_protocol_roce(dev, port);
	if (table->roce)
		table->reserved =
			min_t(unsigned int, len,
			      hweight_long(roce_gid_type_mask_support(dev,
								      port)));
	refcount_set(&table->ref, 1);
	mutex_init(&table->lock);
	INIT_LIST_HEAD(&table->entries);
	return table;

err_used:
	bitmap_free(table->used);
err_table:
	kvfree(table);
	return NULL;
}

/* Returns whether entries remain that something refers to. */
static bool gid_table_close(struct ib_gid_table *table)
{
	struct ibcore_gid_entry *entry;
	unsigned int i;
	bool remain;

	mutex_lock(&table->lock);
	table->closed = true;
	for (i = 0; i < table->len; i++) {
		entry = gid_slot(table, i);
		if (entry)
			gid_remove(entry);
	}
	remain = !list_empty(&table->entries);
	mutex_unlock(&table->lock);
	return remain;
}

/*
 * Empties the tables.  When it returns, the driver is not called for a GID of
 * @dev any more:
 * (1) closed, set under the lock, lets no entry in;
 * (2) every entry has left the hardware with the table, under the same lock.
 */
void ibcore_gid_cleanup(struct ib_device *dev)
{
	bool remain = false;
	u32 port;

	rdma_for_each_port(dev, port)
		if (ibcore_gid_table(dev, port))
			remain |= gid_table_close(ibcore_gid_table(dev, port));
	if (remain) {
		/* Lets those that wait for a grace period or a work item go. */
		rcu_barrier();
		flush_workqueue(ibcore_gid_wq);
	}
}

static void gid_report_leaks(struct ib_gid_table *table)
{
	struct ibcore_gid_entry *entry;
	unsigned int refs;

	mutex_lock(&table->lock);
	list_for_each_entry(entry, &table->entries, link) {
		refs = refcount_read(&entry->ref);
		if (refs)
			dev_err(&table->dev->dev,
				"port %u: GID index %u leaked %u references\n",
				table->port, entry->attr.index, refs);
	}
	mutex_unlock(&table->lock);
}

/*
 * A table outlives the device as long as one of its entries is referred to: a
 * late put finds it closed, and frees the entry without touching the device.
 */
void ibcore_gid_release(struct ib_device *dev)
{
	struct ib_gid_table *table;
	u32 port;

	if (!dev->port_data)
		return;
	rdma_for_each_port(dev, port) {
		table = ibcore_gid_table(dev, port);
		if (!table)
			continue;
		gid_table_close(table);
		gid_report_leaks(table);
		WRITE_ONCE(dev->port_data[port].cache.gid, NULL);
		gid_table_put(table);
	}
}

/* Makes an empty table for each port.  May sleep. */
int ibcore_gid_setup(struct ib_device *dev)
{
	struct ib_gid_table *table;
	u32 port;

	ibcore_gid_release(dev);	/* of a registration that failed */
	rdma_for_each_port(dev, port) {
		table = gid_table_alloc(dev, port);
		if (!table) {
			ibcore_gid_release(dev);
			return -ENOMEM;
		}
		/* Pairs with ibcore_gid_table(). */
		smp_store_release(&dev->port_data[port].cache.gid, table);
	}
	return 0;
}
