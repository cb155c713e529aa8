// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Resource tracking: which objects a device has, who owns them, and how to
 * hold one while it is being reported.
 *
 * Each device has one table per type, an xarray keyed by the number by which
 * userspace knows the object.  The states of an entry:
 *
 *	new	 refcount 1, the owner's; not in a table
 *	add	 visible: lookups may take further references
 *	begin	 hidden: the owner's reference has been dropped, and all references of
 *		 lookups have been waited for.  Its slot marks it so, or, if memory
 *		 that drivers do not free had no other reference, its refcount of 0
 *	abort	 visible again, refcount 1
 *	commit	 the slot is free, the task reference has been put
 *
 * Lookups take their reference under xa_lock, and begin hides the entry under
 * the same lock.  So no new reference can appear after begin, which therefore only
 * waits for lookups that have found the entry before.
 *
 * A hidden entry keeps its slot, so abort allocates nothing.  The hardware may
 * reuse a QP's number for a new QP before the old entry is committed; the new entry
 * then takes over the slot.  Commit detects this, as the slot names its entry.
 */
#include <linux/sched/task.h>
#include <kunit/visibility.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_counter.h>
#include <ibex/compat/updates.h>

#include "device/device.h"

/* Entries marked RESTRACK_DD are drivers' own objects, only reported on request. */
struct restrack_table {
	struct xarray xa;	/* struct rdma_restrack_entry by res->id */
	u32 next_id;		/* hint of xa_alloc_cyclic(); protected by xa_lock */
	atomic_t visible;	/* entries that lookups find */
	atomic_t visible_dd;	/* visible entries marked RESTRACK_DD */
};

struct rdma_restrack_root {
	struct restrack_table tables[RDMA_RESTRACK_MAX];
};

/* Offset in bytes from an entry to its object's device pointer. */
#define DEVICE_FROM_RES(object) \
	((int)offsetof(object, device) - (int)offsetof(object, res))

static const int restrack_device_offset[RDMA_RESTRACK_MAX] = {
	[RDMA_RESTRACK_PD] = DEVICE_FROM_RES(struct ib_pd),
	[RDMA_RESTRACK_CQ] = DEVICE_FROM_RES(struct ib_cq),
	[RDMA_RESTRACK_QP] = DEVICE_FROM_RES(struct ib_qp),
	[RDMA_RESTRACK_MR] = DEVICE_FROM_RES(struct ib_mr),
	[RDMA_RESTRACK_CTX] = DEVICE_FROM_RES(struct ib_ucontext),
	[RDMA_RESTRACK_COUNTER] = DEVICE_FROM_RES(struct rdma_counter),
	[RDMA_RESTRACK_SRQ] = DEVICE_FROM_RES(struct ib_srq),
};

static struct ib_device *restrack_device(const struct rdma_restrack_entry *res)
{
	const void *at = res;

	if (res->type == RDMA_RESTRACK_CM_ID)
		return container_of(res, struct rdma_restrack_cm_id,
				    res)->id->device;
	return *(struct ib_device * const *)(at +
					     restrack_device_offset[res->type]);
}

static struct restrack_table *
restrack_table(const struct rdma_restrack_entry *res)
{
	struct ib_device *dev = restrack_device(res);

	return dev && dev->res ? &dev->res->tables[res->type] : NULL;
}

/* The value in the slot of @res while the entry is hidden, unless its refcount says so. */
static void *restrack_hidden(struct rdma_restrack_entry *res)
{
	return xa_tag_pointer(res, 1);
}

/**
 * rdma_restrack_new() - initialize an entry
 * @res: entry embedded in a zeroed object
 * @type: type of the object
 *
 * The caller then calls rdma_restrack_set_name() or rdma_restrack_parent_name(), and
 * rdma_restrack_add().  An entry that is never added is released by
 * rdma_restrack_put() or rdma_restrack_del(), which both drop its task reference.
 *
 * Context: any.
 */
void rdma_restrack_new(struct rdma_restrack_entry *res,
		       enum rdma_restrack_type type)
{
	kref_init(&res->kref);
	init_completion(&res->comp);
	res->type = type;
}
EXPORT_SYMBOL(rdma_restrack_new);

static void restrack_set_task(struct rdma_restrack_entry *res,
			      struct task_struct *task)
{
	struct task_struct *old = res->task;

	res->task = get_task_struct(task);
	res->user = true;
	if (old)
		put_task_struct(old);
}

static void restrack_put_task(struct rdma_restrack_entry *res)
{
	if (!res->task)
		return;
	put_task_struct(res->task);
	res->task = NULL;
}

/**
 * rdma_restrack_set_name() - set the owner of an entry
 * @res: entry not yet added
 * @caller: module that owns a kernel object, a string that outlives @res; NULL
 *	if the current process owns it
 *
 * Context: process.
 */
void rdma_restrack_set_name(struct rdma_restrack_entry *res, const char *caller)
{
	if (caller)
		res->kern_name = caller;
	else
		/* The thread may exit before its process does. */
		restrack_set_task(res, current->group_leader);
}
EXPORT_SYMBOL(rdma_restrack_set_name);

/**
 * rdma_restrack_parent_name() - copy the owner of another entry
 * @dst: entry not yet added
 * @parent: entry of the object that @dst belongs to; its owner is set
 *
 * Context: any; the caller keeps @parent alive.
 */
void rdma_restrack_parent_name(struct rdma_restrack_entry *dst,
			       const struct rdma_restrack_entry *parent)
{
	if (rdma_is_kernel_res(parent))
		dst->kern_name = parent->kern_name;
	else if (parent->task)
		restrack_set_task(dst, parent->task);
}
EXPORT_SYMBOL(rdma_restrack_parent_name);

/* Whether the hardware chooses the object's number. */
static bool restrack_has_fixed_id(const struct rdma_restrack_entry *res)
{
	return res->type == RDMA_RESTRACK_QP ||
	       res->type == RDMA_RESTRACK_COUNTER;
}

/* Each port has its own QP0 and QP1, so the port is put above the 24 bits of the QPN. */
static u32 restrack_fixed_id(struct rdma_restrack_entry *res)
{
	const struct ib_qp *qp = container_of(res, struct ib_qp, res);

	if (res->type == RDMA_RESTRACK_COUNTER)
		return container_of(res, struct rdma_counter, res)->id;
	if (qp->qp_type == IB_QPT_SMI || qp->qp_type == IB_QPT_GSI)
		return qp->qp_num | qp->port << 24;
	return qp->qp_num;
}

static bool restrack_is_dd(const struct rdma_restrack_entry *res)
{
	return res->type == RDMA_RESTRACK_QP &&
	       container_of(res, struct ib_qp, res)->qp_type >= IB_QPT_DRIVER;
}

static void restrack_account(struct restrack_table *table,
			     const struct rdma_restrack_entry *res, int delta)
{
	lockdep_assert_held(&table->xa.xa_lock);
	atomic_add(delta, &table->visible);
	if (restrack_is_dd(res))
		atomic_add(delta, &table->visible_dd);
}

/* @entry is in a slot; under the lock it is not freed unless the slot marks it as hidden. */
static bool restrack_is_hidden(void *entry)
{
	const struct rdma_restrack_entry *res = entry;

	return xa_pointer_tag(entry) || !kref_read(&res->kref);
}

/* Stores @res in the slot of res->id if that is free or its entry is hidden. */
static int restrack_store_fixed(struct restrack_table *table,
				struct rdma_restrack_entry *res)
{
	void *old = NULL, *seen;

	for (;;) {
		seen = __xa_cmpxchg(&table->xa, res->id, old, res, GFP_KERNEL);
		if (xa_is_err(seen))
			return xa_err(seen);
		if (seen == old)
			break;
		if (seen && !restrack_is_hidden(seen))
			return -EBUSY;
		old = seen;
	}
	/* The hidden entry may have been a driver's. */
	if (old)
		__xa_clear_mark(&table->xa, res->id, RESTRACK_DD);
	return 0;
}

/* Stores @res in a slot.  Drops and takes the lock again to allocate memory. */
static int restrack_store(struct restrack_table *table,
			  struct rdma_restrack_entry *res)
{
	int ret;

	lockdep_assert_held(&table->xa.xa_lock);
	if (restrack_has_fixed_id(res)) {
		res->id = restrack_fixed_id(res);
		return restrack_store_fixed(table, res);
	}

	ret = __xa_alloc_cyclic(&table->xa, &res->id, res, xa_limit_32b,
				&table->next_id, GFP_KERNEL);
	return ret < 0 ? ret : 0;
}

/**
 * rdma_restrack_add() - make an entry visible
 * @res: entry of a completely initialized object
 *
 * If the entry cannot be added, for lack of memory or because its number is taken,
 * the object works all the same and is only missing from reports.
 *
 * Context: process, may sleep.
 */
void rdma_restrack_add(struct rdma_restrack_entry *res)
{
	struct restrack_table *table = restrack_table(res);

	if (!table)
		return;
	if (res->no_track) {
		res->valid = true;
		return;
	}

	xa_lock(&table->xa);
	res->valid = !restrack_store(table, res);
	if (res->valid) {
		if (unlikely(restrack_is_dd(res)))
			__xa_set_mark(&table->xa, res->id, RESTRACK_DD);
		restrack_account(table, res, 1);
	}
	xa_unlock(&table->xa);
}
EXPORT_SYMBOL(rdma_restrack_add);

/**
 * rdma_restrack_get() - take a reference on an entry
 * @res: entry whose memory the caller knows to be valid
 *
 * Context: any.
 * Return: non-zero with a reference, 0 if the entry is being destroyed.
 */
int rdma_restrack_get(struct rdma_restrack_entry *res)
{
	return kref_get_unless_zero(&res->kref);
}
EXPORT_SYMBOL(rdma_restrack_get);

static void restrack_last_put(struct kref *kref)
{
	struct rdma_restrack_entry *res =
		container_of(kref, struct rdma_restrack_entry, kref);

	/* The object's creation failed before the entry was added. */
	if (!res->valid)
		restrack_put_task(res);
	complete(&res->comp);
}

/**
 * rdma_restrack_put() - drop a reference on an entry
 * @res: referenced entry
 *
 * Context: any.
 * Return: 1 if that was the last reference, else 0.
 */
int rdma_restrack_put(struct rdma_restrack_entry *res)
{
	return kref_put(&res->kref, restrack_last_put);
}
EXPORT_SYMBOL(rdma_restrack_put);

static struct rdma_restrack_entry *restrack_hold(void *entry)
{
	if (!entry || xa_pointer_tag(entry) || !rdma_restrack_get(entry))
		return NULL;
	return entry;
}

/**
 * rdma_restrack_get_byid() - find an entry and take a reference on it
 * @dev: device whose objects are searched
 * @type: type of the object
 * @id: its number; for QP0 and QP1 with the port in bits 24 to 31
 *
 * Context: process; does not sleep.
 * Return: the entry, released by rdma_restrack_put(), or ERR_PTR(-ENOENT).
 */
struct rdma_restrack_entry *rdma_restrack_get_byid(struct ib_device *dev,
						   enum rdma_restrack_type type,
						   u32 id)
{
	struct xarray *xa = &dev->res->tables[type].xa;
	struct rdma_restrack_entry *res;

	xa_lock(xa);
	res = restrack_hold(xa_load(xa, id));
	xa_unlock(xa);
	return res ?: ERR_PTR(-ENOENT);
}
EXPORT_SYMBOL(rdma_restrack_get_byid);

#if IS_ENABLED(CONFIG_KUNIT)
unsigned long ibcore_restrack_visits;
EXPORT_SYMBOL_IF_KUNIT(ibcore_restrack_visits);
#endif

static void restrack_visit(void)
{
#if IS_ENABLED(CONFIG_KUNIT)
	ibcore_restrack_visits++;
#endif
}

/*
 * Takes a reference on the first entry whose number is at least *@id and sets *@id
 * to its number; NULL if there is none.  O(log n), so a dump may resume anywhere.
 */
struct rdma_restrack_entry *
ibcore_restrack_next(struct ib_device *dev, enum rdma_restrack_type type,
		     unsigned long *id, bool show_dd)
{
	struct xarray *xa = &dev->res->tables[type].xa;
	struct rdma_restrack_entry *res = NULL;
	void *entry;

	xa_lock(xa);
	entry = xa_find(xa, id, U32_MAX, XA_PRESENT);
	while (entry) {
		restrack_visit();
		if (show_dd || !xa_get_mark(xa, *id, RESTRACK_DD))
			res = restrack_hold(entry);
		if (res)
			break;
		entry = xa_find_after(xa, id, U32_MAX, XA_PRESENT);
	}
	xa_unlock(xa);
	return res;
}

/**
 * rdma_restrack_count() - count the objects of one type of a device
 * @dev: device
 * @type: type of the objects
 * @show_details: whether to count the drivers' own objects
 *
 * Context: any.  The cost does not depend on the count.
 * Return: the number of visible entries.
 */
int rdma_restrack_count(struct ib_device *dev, enum rdma_restrack_type type,
			bool show_details)
{
	struct restrack_table *table = &dev->res->tables[type];
	int n = atomic_read(&table->visible);

	return ibex_show_details ? n : n - atomic_read(&table->visible_dd);
}
EXPORT_SYMBOL(rdma_restrack_count);

/**
 * rdma_restrack_begin_del() - hide an entry before its object is destroyed
 * @res: entry
 *
 * On return no lookup finds the entry and no reference on it remains.  The caller
 * then calls rdma_restrack_commit_del() once the object is destroyed, or
 * rdma_restrack_abort_del() if destroying it failed.
 *
 * Context: process, sleeps until all references on @res have been put.
 */
void rdma_restrack_begin_del(struct rdma_restrack_entry *res)
{
	struct restrack_table *table;
	bool alone;

	if (!res->valid || res->no_track)
		return;

	table = restrack_table(res);
	xa_lock(&table->xa);
	restrack_account(table, res, -1);
	/* Lookups take no reference on what has none; QPs and counters stay until commit. */
	alone = restrack_has_fixed_id(res) && refcount_dec_if_one(&res->kref.refcount);
	if (!alone)
		__xa_store(&table->xa, res->id, restrack_hidden(res), 0);
	xa_unlock(&table->xa);

	if (alone)
		return;
	rdma_restrack_put(res);
	wait_for_completion(&res->comp);
}
EXPORT_SYMBOL(rdma_restrack_begin_del);

/**
 * rdma_restrack_abort_del() - make a hidden entry visible again
 * @res: entry that rdma_restrack_begin_del() hid
 *
 * Context: process; does not sleep, cannot fail.
 */
void rdma_restrack_abort_del(struct rdma_restrack_entry *res)
{
	struct restrack_table *table;

	if (!res->valid || res->no_track)
		return;

	reinit_completion(&res->comp);
	table = restrack_table(res);
	xa_lock(&table->xa);
	kref_init(&res->kref);
	__xa_store(&table->xa, res->id, res, 0);
	restrack_account(table, res, 1);
	xa_unlock(&table->xa);
}
EXPORT_SYMBOL(rdma_restrack_abort_del);

/**
 * rdma_restrack_commit_del() - remove a hidden entry
 * @res: entry that rdma_restrack_begin_del() hid; its object is destroyed.  If the
 *	driver has freed the object, @res may be in a copy of it, except for QPs
 *	and counters
 *
 * Context: process.
 */
void rdma_restrack_commit_del(struct rdma_restrack_entry *res)
{
	if (res->valid && !res->no_track) {
		struct xarray *xa = &restrack_table(res)->xa;
		void *hidden = restrack_hidden(res);

		if (!restrack_has_fixed_id(res))
			xa_erase(xa, res->id);
		else if (xa_cmpxchg(xa, res->id, res, NULL, 0) == hidden)
			xa_cmpxchg(xa, res->id, hidden, NULL, 0);
	}
	res->valid = false;
	restrack_put_task(res);
}
EXPORT_SYMBOL(rdma_restrack_commit_del);

/**
 * rdma_restrack_sync() - wait for all current holders of an entry
 * @res: entry
 *
 * On return all references taken before the call have been put.  Any later lookup
 * sees every change made before the call.
 *
 * Context: process, may sleep.
 */
void rdma_restrack_sync(struct rdma_restrack_entry *res)
{
	rdma_restrack_begin_del(res);
	rdma_restrack_abort_del(res);
}
EXPORT_SYMBOL(rdma_restrack_sync);

/**
 * rdma_restrack_del() - remove an entry
 * @res: entry, added or not
 *
 * On return no reference to @res remains: (1) its slot is free, so no lookup finds
 * it; (2) the owner's reference was dropped here; (3) the references of lookups were
 * waited for.  Its reference on the task has been put.
 *
 * Context: process, sleeps until all references on @res have been put.
 */
void rdma_restrack_del(struct rdma_restrack_entry *res)
{
	if (res->valid && !res->no_track) {
		struct restrack_table *table = restrack_table(res);

		xa_lock(&table->xa);
		restrack_account(table, res, -1);
		__xa_erase(&table->xa, res->id);
		xa_unlock(&table->xa);
		if (!rdma_restrack_put(res))
			wait_for_completion(&res->comp);
	}
	res->valid = false;
	restrack_put_task(res);
}
EXPORT_SYMBOL(rdma_restrack_del);

/* Called before any object of @dev can be created. */
int ibcore_restrack_setup(struct ib_device *dev)
{
	int i;

	dev->res = kzalloc(sizeof(*dev->res), GFP_KERNEL);
	if (!dev->res)
		return -ENOMEM;

	for (i = 0; i < RDMA_RESTRACK_MAX; i++)
		xa_init_flags(&dev->res->tables[i].xa, XA_FLAGS_ALLOC);
	return 0;
}

/* On the last put_device(): an entry still in a table is an object that leaked. */
void ibcore_restrack_release(struct ib_device *dev)
{
	static const char * const names[RDMA_RESTRACK_MAX] = {
		[RDMA_RESTRACK_PD] = "PD",
		[RDMA_RESTRACK_CQ] = "CQ",
		[RDMA_RESTRACK_QP] = "QP",
		[RDMA_RESTRACK_CM_ID] = "CM_ID",
		[RDMA_RESTRACK_MR] = "MR",
		[RDMA_RESTRACK_CTX] = "CTX",
		[RDMA_RESTRACK_COUNTER] = "COUNTER",
		[RDMA_RESTRACK_SRQ] = "SRQ",
	};
	int i;

	if (!dev->res)
		return;

	for (i = 0; i < RDMA_RESTRACK_MAX; i++) {
		struct restrack_table *table = &dev->res->tables[i];

		WARN(!xa_empty(&table->xa), "%s: %d %s never destroyed\n",
		     dev->name, atomic_read(&table->visible), names[i]);
		xa_destroy(&table->xa);
	}
	kfree(dev->res);
	dev->res = NULL;
}

/*
 * The rdma cgroup controller limits the HCA handles and objects that a control group
 * may have of each device (Documentation/admin-guide/cgroup-v1/rdma.rst).
 */

/**
 * ib_rdmacg_try_charge() - charge the caller's control group for an object
 * @cg_obj: set to the charged group, for ib_rdmacg_uncharge()
 * @device: device of the object
 * @resource_index: type of resource
 *
 * Context: process, may sleep.
 * Return: 0, -EAGAIN if the group or an ancestor is at its limit, -ENOMEM.
 */
int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj,
			 struct ib_device *device,
			 enum rdmacg_resource_type resource_index)
{
#ifdef CONFIG_CGROUP_RDMA
	return rdmacg_try_charge(&cg_obj->cg, &device->cg_device,
				 resource_index);
#else
	return 0;
#endif
}
EXPORT_SYMBOL(ib_rdmacg_try_charge);

/**
 * ib_rdmacg_uncharge() - undo ib_rdmacg_try_charge()
 * @cg_obj: the charged group
 * @device: device of the object
 * @resource_index: type of resource
 *
 * Context: process, may sleep.
 */
void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj,
			struct ib_device *device,
			enum rdmacg_resource_type resource_index)
{
#ifdef CONFIG_CGROUP_RDMA
	rdmacg_uncharge(cg_obj->cg, &device->cg_device, resource_index);
#endif
}
EXPORT_SYMBOL(ib_rdmacg_uncharge);

/* The controller refers to dev->name itself, so it also shows a new name. */
void ibcore_cgroup_setup(struct ib_device *dev)
{
#ifdef CONFIG_CGROUP_RDMA
	dev->cg_device.name = dev->name;
	rdmacg_register_device(&dev->cg_device);
#endif
}

/* Uncharges what is still charged; no object of @dev may be charged afterwards. */
void ibcore_cgroup_release(struct ib_device *dev)
{
#ifdef CONFIG_CGROUP_RDMA
	rdmacg_unregister_device(&dev->cg_device);
#endif
}
