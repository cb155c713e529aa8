// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GID tables: their entries, and the references on them.
 *
 * Writers (gid_sync.c) change a table under its mutex; readers (gid_find.c) use
 * RCU alone.  An entry is found through its index (slot[]) and through its GID
 * (hash).
 *
 * The life of an entry:
 *	ibcore_gid_insert	the entry is added to the hardware, then readers find
 *				it; the table holds one reference
 *	ibcore_gid_remove	readers no longer find it; the references on its
 *				net_device and the table's on the entry are put
 *				after a grace period
 *	ibcore_gid_revive	the same GID was added again while the entry was still
 *				referenced: it is in the table again, as if inserted
 *	gid_retire		no reference remains; on a RoCE port its index is
 *				free again
 * When core calls del_gid depends on whether add_gid set a context:
 * - Without a context the driver knows the entry by its index (mlx5, hns), which the
 *   entry occupies while it is referenced.  del_gid is called when the entry is
 *   removed, while the entry still has its net_device: a removed address stops
 *   working at once, and if it is added again, its old entry is not in the hardware.
 * - With a context the driver has a table of its own (mlx4, bnxt_re), with one place
 *   (a table slot with a reference count) for all entries that are the same GID to the
 *   driver.  Its create_ah and modify_qp look up the place in the context, and the AH or
 *   QP sends from there.  del_gid may free the context and give the place to another
 *   GID.  So it is called when the last QP or address handle stops using the entry
 *   (users), or when the table is closed.  A GID that is added again before gets its old
 *   place.
 */
#include <linux/bitmap.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
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
 * Drivers program the port's MAC with the first entry of a place; entries added to the
 * place later share that MAC.
 */
static void gid_inherit_mac(struct ibcore_gid_entry *entry)
{
	const struct ibcore_gid_entry *other;

	list_for_each_entry(other, &entry->table->entries, link)
		if (other != entry && other->in_hw &&
		    other->context == entry->context)
			ether_addr_copy(entry->l2.port_mac, other->l2.port_mac);
}

void ibcore_gid_read_l2(struct ibcore_gid_l2 *l2,
			const struct ibcore_gid_entry *entry,
			const struct net_device *port_ndev)
{
	ether_addr_copy(l2->ndev_mac, entry->ndev->dev_addr);
	ether_addr_copy(l2->port_mac, port_ndev->dev_addr);
	l2->vlan_id = ibcore_gid_vlan_id(entry);
}

/*
 * The driver reads MACs and VLAN in add_gid.  If one changes meanwhile, it is not known
 * which the driver has read: the entry gets zero MACs and a VLAN that no net_device has,
 * and the update that the change schedules programs the entry again.
 */
int ibcore_gid_hw_add(struct ibcore_gid_entry *entry,
		      const struct net_device *port_ndev)
{
	struct ib_device *dev = entry->attr.device;
	struct ibcore_gid_l2 after;
	int ret;

	lockdep_assert_held(&entry->table->lock);
	if (!rdma_cap_roce_gid_table(dev, entry->attr.port_num))
		return 0;
	ibcore_gid_read_l2(&entry->l2, entry, port_ndev);
	ret = dev->ops.add_gid(&entry->attr, &entry->context);
	ibcore_gid_read_l2(&after, entry, port_ndev);
	if (memcmp(&entry->l2, &after, sizeof(after)))
		entry->l2 = (struct ibcore_gid_l2){ .vlan_id = VLAN_N_VID };
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
 * In del_gid, drivers without a context use attr.ndev as in add_gid: mlx5 finds MACsec
 * rules by it.  For entries with a context it may be NULL.
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
 * (1) ibcore_gid_drop or gid_detach_rcu put the table's reference after the entry was
 *     removed from slot[] and the hash, and readers take a reference only if the count
 *     is not zero;
 * (2) only the last put calls this, directly or through gid_release_work.
 * RCU readers may still look at the entry, so it is freed after a grace period.
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
	/* Last: the entry's reference on the table may be the last one. */
	call_rcu(&entry->rcu, gid_free_rcu);
	if (resync)
		ibcore_roce_resync(dev, port);
}

/**
 * rdma_put_gid_attr - drop a reference on a GID table entry
 * @attr: from rdma_get_gid_attr(), rdma_find_gid() and the like
 *
 * The last put of an entry that was removed from the table frees it and its index.
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
	WRITE_ONCE(entry->ndev, NULL);
	rdma_put_gid_attr(&entry->attr);
}

/* Lets readers find @entry, at an index that has no entry. */
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
 * Called when a QP or an address handle starts to use @attr, on which the caller has a
 * reference.  Returns true if the entry is in the hardware and not being updated, or
 * if the driver is not notified of GIDs; an entry with a context then stays in the
 * hardware until ibcore_gid_unuse().  Any context.
 */
bool ibcore_gid_use(const struct ib_gid_attr *attr)
{
	struct ibcore_gid_entry *entry =
		container_of(attr, struct ibcore_gid_entry, attr);

	atomic_inc(&entry->users);
	/*
	 * Pairs with gid_mark_updating() and ibcore_gid_drop(): either they see the
	 * new user, or this sees updating or gone.
	 */
	smp_mb__after_atomic();
	if (!rdma_cap_roce_gid_table(attr->device, attr->port_num))
		return true;
	/* Pairs with gid_readdress_places(): the context is seen. */
	if (!smp_load_acquire(&entry->updating) &&
	    /* Pairs with ibcore_gid_revive(), likewise. */
	    !smp_load_acquire(&entry->gone) && READ_ONCE(entry->in_hw))
		return true;
	ibcore_gid_unuse(attr);
	return false;
}

/* The caller still holds its reference on @attr.  Any context. */
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

/* An awaited entry has lost its last user. */
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
	/* The port's update may need the place, or a new MAC in it. */
	resync = !table->closed;
	mutex_unlock(&table->lock);
	rdma_put_gid_attr(&entry->attr);
	if (resync)
		ibcore_roce_resync(dev, port);
}

/* Drops the table's reference on @entry, which is hidden. */
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

/*
 * The references of the net_device and of the table are taken anew; gid_detach_rcu() must
 * have put the former ones.  Users of an entry that is still in the hardware keep their
 * place.
 */
int ibcore_gid_revive(struct ibcore_gid_entry *entry,
		      const struct ibcore_gid_want *want)
{
	int ret = 0;

	lockdep_assert_held(&entry->table->lock);
	if (!refcount_inc_not_zero(&entry->ref))
		return -ENOENT;
	if (READ_ONCE(entry->ndev))
		rcu_barrier();
	entry->ndev = want->ndev;
	netdev_hold(entry->ndev, &entry->tracker, GFP_KERNEL);
	rcu_assign_pointer(entry->attr.ndev, entry->ndev);
	if (!entry->in_hw)
		ret = ibcore_gid_hw_add(entry, want->port_ndev);
	if (ret) {
		ibcore_gid_drop(entry);
		return ret;
	}
	/* Pairs with ibcore_gid_use(). */
	smp_store_release(&entry->gone, false);
	ibcore_gid_show(entry);
	return 0;
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
	entry->ndev = want->ndev;
	netdev_hold(entry->ndev, &entry->tracker, GFP_KERNEL);
	RCU_INIT_POINTER(entry->attr.ndev, entry->ndev);
	entry->was_ndev = entry->ndev;
	entry->was_ifindex = entry->ndev ? entry->ndev->ifindex : 0;
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
	ret = ibcore_gid_hw_add(entry, want->port_ndev);
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

/* Returns whether referenced entries remain. */
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
	/* Also removed entries that are still in use. */
	list_for_each_entry(entry, &table->entries, link)
		ibcore_gid_hw_del(entry);
	remain = !list_empty(&table->entries);
	mutex_unlock(&table->lock);
	return remain;
}

/*
 * Empties the tables.  When it returns, the driver is not called for a GID of
 * @dev any more:
 * (1) closed, set under the table's lock, lets no entry be added;
 * (2) every entry, in use or not, is deleted from the hardware under the same lock: no
 *     verb that would look at its context can be called any more.
 */
void ibcore_gid_cleanup(struct ib_device *dev)
{
	bool remain = false;
	u32 port;

	rdma_for_each_port(dev, port)
		if (ibcore_gid_table(dev, port))
			remain |= gid_table_close(ibcore_gid_table(dev, port));
	if (remain) {
		/* Wait for entries to be freed after a grace period or by a work item. */
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
 * A table outlives the device while one of its entries is referenced: a late put finds
 * the table closed, and frees the entry without touching the device.
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

	ibcore_gid_release(dev);	/* left over from a failed registration */
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
