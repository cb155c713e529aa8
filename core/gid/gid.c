// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GID tables: their entries, and the references on them.
 *
 * Writers (gid_sync.c) change a table under its mutex; readers (gid_find.c) use
 * RCU alone.  An entry is found through its index (slot[]) and through its GID
 * (hash).
 *
 * The life of an entry:
 *	ibcore_gid_insert	the driver learns it, then readers see it; one
 *				reference is the table's
 *	ibcore_gid_remove	readers no longer find it; its net_device's
 *				reference goes after a grace period, with the
 *				table's
 *	gid_retire		no reference remains: on a RoCE port its index is
 *				free again
 * When does the driver forget it?  That is for add_gid to say, by whether it
 * leaves a context:
 * - Without one the driver knows the entry by its index (mlx5, hns), which stays
 *   with the entry while something refers to it.  It is told as the entry is
 *   removed, while the entry still has its net_device: an address that is taken
 *   away stops working at once, and one that comes back finds no older self there.
 * - With one it has a table of its own (mlx4, bnxt_re): a place, counted, for all
 *   entries that are the same GID to it.  Its create_ah and modify_qp look up the
 *   place in the context, and what they make sends from there.  A free place is the
 *   next GID's, and a free context gone; so the driver is told when the last QP or
 *   address handle of the entry has gone (users), or when the table is closed.  A
 *   GID that comes back before has its old place, counted up.
 */
#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "device/device.h"
#include "gid/gid.h"

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

struct ibcore_gid_entry *ibcore_gid_slot(struct ib_gid_table *table,
					 unsigned int ix)
{
	return rcu_dereference_protected(table->slot[ix],
					 lockdep_is_held(&table->lock));
}

/*
 * The port's address is programmed with the first entry of a place, that of the
 * others is what it was then.
 */
static void gid_inherit_mac(struct ibcore_gid_entry *entry)
{
	const struct ibcore_gid_entry *other;

	list_for_each_entry(other, &entry->table->entries, link)
		if (other != entry && other->in_hw &&
		    other->context == entry->context)
			ether_addr_copy(entry->macs.port, other->macs.port);
}

int ibcore_gid_hw_add(struct ibcore_gid_entry *entry)
{
	struct ib_device *dev = entry->attr.device;
	int ret;

	lockdep_assert_held(&entry->table->lock);
	if (!rdma_cap_roce_gid_table(dev, entry->attr.port_num))
		return 0;
	ret = dev->ops.add_gid(&entry->attr, &entry->context);
	if (ret) {
		ibdev_err(dev, "port %u: adding GID %pI6 at index %u: %d\n",
			  entry->attr.port_num, entry->attr.gid.raw,
			  entry->attr.index, ret);
		return ret;
	}
	if (entry->context)
		gid_inherit_mac(entry);
	WRITE_ONCE(entry->in_hw, true);
	return 0;
}

/*
 * Drivers without a context look at attr.ndev here as in add_gid: mlx5 finds MACsec
 * rules by it.  For those with one it may be NULL.
 */
void ibcore_gid_hw_del(struct ibcore_gid_entry *entry)
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
	entry->context = NULL;
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
 * (1) the table's was put by ibcore_gid_drop or gid_detach_rcu, after slot[] and
 *     the hash had dropped it, and readers take one only if the count is not
 *     zero;
 * (2) the last put is what leads here, once, whether directly or by the work.
 * RCU readers may still look at it, so it is freed after a grace period.
 */
static void gid_retire(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	WARN_ON_ONCE(atomic_read(&entry->users));
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
	bool resync;

	mutex_lock(&table->lock);
	gid_retire(entry);
	resync = table->starved && !table->closed;
	mutex_unlock(&table->lock);
	/* Only now: the entry's reference may be the last on the table. */
	call_rcu(&entry->rcu, gid_free_rcu);
	if (resync)
		ibcore_roce_resync(dev, port);
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
void ibcore_gid_show(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	hlist_add_head_rcu(&entry->hash,
			   ibcore_gid_bucket(table, &entry->attr.gid));
	rcu_assign_pointer(table->slot[entry->attr.index], entry);
}

void ibcore_gid_hide(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	hlist_del_rcu(&entry->hash);
	RCU_INIT_POINTER(table->slot[entry->attr.index], NULL);
}

/*
 * A QP or an address handle is to send by @attr, on which the caller has a reference.
 * Returns whether the driver has it, as far as it is told of GIDs, and keeps it until
 * ibcore_gid_unuse().  Any context.
 */
bool ibcore_gid_use(const struct ib_gid_attr *attr)
{
	struct ibcore_gid_entry *entry =
		container_of(attr, struct ibcore_gid_entry, attr);

	atomic_inc(&entry->users);
	/* Pairs with those who look at users: they see it, or this why not. */
	smp_mb__after_atomic();
	if (!rdma_cap_roce_gid_table(attr->device, attr->port_num))
		return true;
	/* Pairs with gid_readdress_places(): the context is the new one. */
	if (!smp_load_acquire(&entry->updating) && !READ_ONCE(entry->gone) &&
	    READ_ONCE(entry->in_hw))
		return true;
	ibcore_gid_unuse(attr);
	return false;
}

/* The caller still has its reference on @attr.  Any context. */
void ibcore_gid_unuse(const struct ib_gid_attr *attr)
{
	struct ibcore_gid_entry *entry =
		container_of(attr, struct ibcore_gid_entry, attr);

	/* Fully ordered, as in ibcore_gid_use(). */
	if (!atomic_dec_and_test(&entry->users) || !READ_ONCE(entry->awaited))
		return;
	rdma_hold_gid_attr(attr);
	if (!queue_work(ibcore_gid_wq, &entry->idle))
		rdma_put_gid_attr(attr);
}

/* Nothing sends by the entry any more, which somebody waits for. */
static void gid_idle_work(struct work_struct *work)
{
	struct ibcore_gid_entry *entry =
		container_of(work, struct ibcore_gid_entry, idle);
	struct ib_gid_table *table = entry->table;
	const struct ib_device *dev = table->dev;
	u32 port = table->port;
	bool resync;

	mutex_lock(&table->lock);
	if (entry->gone && !atomic_read(&entry->users))
		ibcore_gid_hw_del(entry);
	/* Others may want the place, or another MAC in it. */
	resync = !table->closed;
	mutex_unlock(&table->lock);
	rdma_put_gid_attr(&entry->attr);
	if (resync)
		ibcore_roce_resync(dev, port);
}

/* The table's reference on @entry, which is hidden. */
void ibcore_gid_drop(struct ibcore_gid_entry *entry)
{
	WRITE_ONCE(entry->gone, true);
	if (entry->context)
		WRITE_ONCE(entry->awaited, true);
	smp_mb();	/* Pairs with ibcore_gid_use() and ibcore_gid_unuse(). */
	if (!entry->context || !atomic_read(&entry->users))
		ibcore_gid_hw_del(entry);
	if (refcount_dec_if_one(&entry->ref)) {
		gid_retire(entry);
		call_rcu(&entry->rcu, gid_free_rcu);
		return;
	}
	RCU_INIT_POINTER(entry->attr.ndev, NULL);
	call_rcu(&entry->rcu, gid_detach_rcu);
}

void ibcore_gid_remove(struct ibcore_gid_entry *entry)
{
	ibcore_gid_hide(entry);
	ibcore_gid_drop(entry);
}

struct ibcore_gid_entry *ibcore_gid_alloc(struct ib_gid_table *table,
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
	INIT_WORK(&entry->idle, gid_idle_work);
	return entry;
}

void ibcore_gid_publish(struct ibcore_gid_entry *entry)
{
	struct ib_gid_table *table = entry->table;

	lockdep_assert_held(&table->lock);
	list_add_tail(&entry->link, &table->entries);
	if (table->roce)
		set_bit(entry->attr.index, table->used);
	ibcore_gid_show(entry);
}

int ibcore_gid_insert(struct ib_gid_table *table, unsigned int ix,
		      const struct ibcore_gid_want *want)
{
	struct ibcore_gid_entry *entry;
	int ret;

	lockdep_assert_held(&table->lock);
	entry = ibcore_gid_alloc(table, ix, want);
	if (!entry)
		return -ENOMEM;
	ret = ibcore_gid_hw_add(entry);
	if (ret) {
		gid_free(entry);
		return ret;
	}
	ibcore_gid_publish(entry);
	return 0;
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
		entry = ibcore_gid_slot(table, i);
		if (entry)
			ibcore_gid_remove(entry);
	}
	/* Those that left but are in use, too. */
	list_for_each_entry(entry, &table->entries, link)
		ibcore_gid_hw_del(entry);
	remain = !list_empty(&table->entries);
	mutex_unlock(&table->lock);
	return remain;
}

/*
 * Empties the tables.  When it returns, the driver is not called for a GID of
 * @dev any more:
 * (1) closed, set under the lock, lets no entry in;
 * (2) every entry leaves the hardware under the same lock, in use or not: no verb
 *     that would look at its context can be called any more.
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
