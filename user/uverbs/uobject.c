// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * User objects: what a process refers to by a handle or a file descriptor.
 *
 * The life of an object:
 *	begin	a creating method makes it, locked for writing; its handle is reserved,
 *		but lookups do not find it
 *	commit	it is put on its file's list, which takes over the creator's reference;
 *		it is unlocked, and lookups find it by its handle
 *	destroy	the driver's object is destroyed (uobject->object is NULL), the handle is
 *		removed, and then the list's reference dropped; the object stays locked
 *		for writing, so a lookup that found it before gets -EBUSY
 *
 * When the device is removed, an object with a handle is left behind: it has no
 * driver's object and no context, and is on no list.  Its handle then holds the list's
 * reference until the file is closed, or until the user, who may not know of the
 * removal, destroys the object as usual; the response is the usual one, too (how many
 * events were read).
 *
 * An object is locked for the time of a method, and a lookup never waits for the lock:
 * usecnt is -1 when locked for writing, else the number of readers.
 *
 * An object is destroyed by a method, with the object locked and file->teardown_sem
 * held for reading; by the release of a descriptor, with teardown_sem held for reading;
 * or by teardown, with teardown_sem held for writing.  So no two of them destroy the
 * same object.  All else that methods do is within a section of the device
 * (uverbs_section_begin()), and teardown runs when no section is left.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <kunit/visibility.h>
#include <rdma/uverbs_std_types.h>

#include "uverbs/uverbs.h"

static void uobject_free(struct kref *ref)
{
	struct ib_uobject *uobj = container_of(ref, struct ib_uobject, ref);

	WARN_ON_ONCE(!list_empty(&uobj->list));
	kfree_rcu(uobj, rcu);
}

/**
 * uverbs_uobject_put() - drop a reference on a user object's memory
 * @uobject: object with a reference that uverbs_uobject_get() or a lookup took
 *
 * Context: any.
 */
void uverbs_uobject_put(struct ib_uobject *uobject)
{
	kref_put(&uobject->ref, uobject_free);
}
EXPORT_SYMBOL(uverbs_uobject_put);

static int uobject_lock(struct ib_uobject *uobj, enum rdma_lookup_mode mode)
{
	bool locked = true;

	if (mode == UVERBS_LOOKUP_READ)
		locked = atomic_add_unless(&uobj->usecnt, 1, -1);
	else if (mode == UVERBS_LOOKUP_WRITE)
		locked = atomic_cmpxchg(&uobj->usecnt, 0, -1) == 0;
	return locked ? 0 : -EBUSY;
}

static void uobject_unlock(struct ib_uobject *uobj, enum rdma_lookup_mode mode)
{
	if (mode == UVERBS_LOOKUP_READ)
		WARN_ON_ONCE(atomic_dec_return(&uobj->usecnt) < 0);
	else if (mode == UVERBS_LOOKUP_WRITE)
		WARN_ON_ONCE(atomic_xchg(&uobj->usecnt, 0) != -1);
}

static void uobject_list(struct ib_uobject *uobj)
{
	struct ib_uverbs_file *file = uobj->ufile;

	spin_lock(&file->objects_lock);
	list_add(&uobj->list, &file->objects);
	spin_unlock(&file->objects_lock);
}

static void uobject_unlist(struct ib_uobject *uobj)
{
	struct ib_uverbs_file *file = uobj->ufile;

	spin_lock(&file->objects_lock);
	list_del_init(&uobj->list);
	spin_unlock(&file->objects_lock);
}

/* Destroys the driver's object.  On failure nothing has changed. */
static int uobject_destroy_hw(struct ib_uobject *uobj,
			      enum rdma_remove_reason why,
			      struct uverbs_attr_bundle *attrs)
{
	int ret;

	if (!uobj->object)
		return 0;
	ret = uobj->uapi_object->type_class->destroy_hw(uobj, why, attrs);
	if (!ret)
		uobj->object = NULL;
	return ret;
}

/* Removes the handle and drops the list's reference, after uobject_destroy_hw(). */
static void uobject_gone(struct ib_uobject *uobj)
{
	if (uobj->uapi_object->type_class->remove_handle)
		uobj->uapi_object->type_class->remove_handle(uobj);
	uverbs_uobject_put(uobj);
}

/* ---- lookup ---- */

static bool lookup_fits(const struct ib_uobject *uobj,
			const struct uverbs_api_object *obj)
{
	return !obj || uobj->uapi_object == obj;
}

/*
 * Finds the object with handle @id, locks it as @mode says and takes a reference;
 * rdma_lookup_put_uobject() gives both back.  @obj is the type that the object must
 * have, or NULL for any type with handles.  Sets the call's context to the object's.
 *
 * Called within a section of the device, unless @mode is UVERBS_LOOKUP_DESTROY; may
 * sleep.  ERR_PTR: -EINVAL if @id cannot be a handle or is that of an object of another
 * type, -ENOENT if there is no such object (-EBADF for descriptors), -EBUSY if the lock
 * is taken, -EOPNOTSUPP for a type that the device or a lock that the type's class does
 * not have.
 */
struct ib_uobject *rdma_lookup_get_uobject(const struct uverbs_api_object *obj,
					   struct ib_uverbs_file *ufile, s64 id,
					   enum rdma_lookup_mode mode,
					   struct uverbs_attr_bundle *attrs)
{
	const struct uverbs_obj_type_class *type_class = &uverbs_idr_class;
	struct ib_uobject *uobj;
	int ret;

	if (obj) {
		if (obj->disabled)
			return ERR_PTR(-EOPNOTSUPP);
		type_class = obj->type_class;
	}
	uobj = type_class->lookup_get(obj, ufile, id, mode);
	if (IS_ERR(uobj))
		return uobj;

	ret = lookup_fits(uobj, obj) ? uobject_lock(uobj, mode) : -EINVAL;
	if (ret) {
		type_class->lookup_put(uobj, mode);
		uverbs_uobject_put(uobj);
		return ERR_PTR(ret);
	}
	if (attrs)
		attrs->context = uobj->context;
	return uobj;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_lookup_get_uobject);

void rdma_lookup_put_uobject(struct ib_uobject *uobj,
			     enum rdma_lookup_mode mode)
{
	uobject_unlock(uobj, mode);
	uobj->uapi_object->type_class->lookup_put(uobj, mode);
	uverbs_uobject_put(uobj);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_lookup_put_uobject);

/* ---- creation ---- */

/* Allocates a user object, locked for writing, for the classes' alloc_begin(). */
struct ib_uobject *uverbs_uobject_new(const struct uverbs_api_object *obj,
				      struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj;

	uobj = kzalloc(obj->type_attrs->obj_size, GFP_KERNEL_ACCOUNT);
	if (!uobj)
		return ERR_PTR(-ENOMEM);
	kref_init(&uobj->ref);
	atomic_set(&uobj->usecnt, -1);
	INIT_LIST_HEAD(&uobj->list);
	uobj->ufile = attrs->ufile;
	uobj->context = attrs->context;
	uobj->uapi_object = obj;
	return uobj;
}

/*
 * Makes an object of type @obj for the file of the call, in the call's context (the
 * file's, unless the method is just making one).  The caller must then commit or abort
 * it.
 *
 * Called within a section of the device; may sleep.  ERR_PTR: -EOPNOTSUPP if the device
 * has no such objects, -EINVAL without a context, -EAGAIN at the limit of the control
 * group, -EMFILE, -ENOMEM.
 */
struct ib_uobject *rdma_alloc_begin_uobject(const struct uverbs_api_object *obj,
					    struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *context;

	if (obj->disabled)
		return ERR_PTR(-EOPNOTSUPP);
	if (!attrs->context) {
		context = ib_uverbs_get_ucontext_file(attrs->ufile);
		if (IS_ERR(context))
			return ERR_CAST(context);
		attrs->context = context;
	}
	return obj->type_class->alloc_begin(obj, attrs);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_alloc_begin_uobject);

/* Another thread may destroy @uobj once alloc_commit() of its class has published it. */
void rdma_alloc_commit_uobject(struct ib_uobject *uobj,
			       struct uverbs_attr_bundle *attrs)
{
	WARN_ON_ONCE(!uobj->object);
	uobject_list(uobj);
	uobject_unlock(uobj, UVERBS_LOOKUP_WRITE);
	uobj->uapi_object->type_class->alloc_commit(uobj);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_alloc_commit_uobject);

/*
 * @hw_obj_valid: the driver's object exists and must be destroyed, too.  If the driver
 * refuses, teardown of the file tries again; lookups do not find @uobj meanwhile.
 */
void rdma_alloc_abort_uobject(struct ib_uobject *uobj,
			      struct uverbs_attr_bundle *attrs,
			      bool hw_obj_valid)
{
	const struct uverbs_obj_type_class *type_class =
		uobj->uapi_object->type_class;

	if (hw_obj_valid &&
	    type_class->destroy_hw(uobj, RDMA_REMOVE_ABORT, attrs)) {
		uobject_list(uobj);
		return;
	}
	type_class->alloc_abort(uobj);
	uverbs_uobject_put(uobj);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_alloc_abort_uobject);

/* ---- destruction ---- */

/*
 * Destroys a committed object on which the caller has a reference; on failure the
 * object is as before.  Teardown has run before or runs afterwards, even if the caller
 * is not within a section.
 */
static int uobject_end(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs)
{
	int ret = uobject_lock(uobj, UVERBS_LOOKUP_WRITE);

	lockdep_assert_held_read(&uobj->ufile->teardown_sem);
	if (ret)
		return ret;
	ret = uobject_destroy_hw(uobj, RDMA_REMOVE_DESTROY, attrs);
	if (ret) {
		uobject_unlock(uobj, UVERBS_LOOKUP_WRITE);
		return ret;
	}
	uobject_unlist(uobj);
	uobject_gone(uobj);
	return 0;
}

static struct ib_uobject *uobject_find_and_end(const struct uverbs_api_object *obj,
					       u32 id, struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *found;
	int ret;

	found = rdma_lookup_get_uobject(obj, attrs->ufile, id,
					UVERBS_LOOKUP_DESTROY, attrs);
	if (IS_ERR(found))
		return found;
	ret = uobject_end(found, attrs);
	if (!ret)
		return found;
	rdma_lookup_put_uobject(found, UVERBS_LOOKUP_DESTROY);
	return ERR_PTR(ret);
}

/*
 * Destroys the object with handle @id at the request of its user.  Returns the user
 * object with the reference of a lookup for UVERBS_LOOKUP_DESTROY, so that the caller
 * can still read from it what to report to the user.  ERR_PTR: as
 * rdma_lookup_get_uobject(), or the driver's error, and then the object is as before.
 *
 * Needs no section of the device.  While the device is being removed, either teardown
 * or this call destroys the driver's object, whichever takes teardown_sem first.
 */
struct ib_uobject *__uobj_get_destroy(const struct uverbs_api_object *obj,
				      u32 id, struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_file *file = attrs->ufile;
	struct ib_uobject *gone;

	down_read(&file->teardown_sem);
	gone = uobject_find_and_end(obj, id, attrs);
	up_read(&file->teardown_sem);
	return gone;
}
EXPORT_SYMBOL_IF_KUNIT(__uobj_get_destroy);

int __uobj_perform_destroy(const struct uverbs_api_object *obj, u32 id,
			   struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *gone = __uobj_get_destroy(obj, id, attrs);

	if (!IS_ERR(gone))
		uobj_put_destroy(gone);
	return PTR_ERR_OR_ZERO(gone);
}
EXPORT_SYMBOL_IF_KUNIT(__uobj_perform_destroy);

/* Called at the last close of an object's descriptor. */
void uverbs_uobject_closed(struct ib_uobject *uobj)
{
	struct ib_uverbs_file *file = uobj->ufile;

	down_read(&file->teardown_sem);
	/* NULL if the uverbs file was torn down before. */
	if (uobj->object) {
		WARN_ON_ONCE(uobject_destroy_hw(uobj, RDMA_REMOVE_CLOSE, NULL));
		uobject_unlist(uobj);
		uobject_gone(uobj);
	}
	up_read(&file->teardown_sem);
}

/* ---- teardown of a file ---- */

/* Takes @uobj off the list, after the driver's object was destroyed or given up. */
static void uobject_torn_down(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	list_del_init(&uobj->list);
	if (why == RDMA_REMOVE_DRIVER_REMOVE && uverbs_handle_leave(uobj))
		return;
	uobject_gone(uobj);
}

/*
 * Destroys the objects that the driver lets it destroy, newest first, and leaves the
 * others in the same order.  Returns whether another pass may get further: some object
 * was destroyed, and some are left.
 */
static bool teardown_pass(struct ib_uverbs_file *file,
			  enum rdma_remove_reason why)
{
	struct uverbs_attr_bundle attrs = { .ufile = file };
	struct ib_uobject *uobj, *next;
	bool progress = false;

	list_for_each_entry_safe(uobj, next, &file->objects, list) {
		attrs.context = uobj->context;
		if (uobject_destroy_hw(uobj, why, &attrs))
			continue;
		uobject_torn_down(uobj, why);
		progress = true;
	}
	return progress && !list_empty(&file->objects);
}

/*
 * Destroys all objects of a file.  No method of the file runs or begins any more: the
 * file is being closed, or its device was removed and the sections are over.
 * teardown_sem keeps out releases of descriptors and late destroys; nothing else
 * touches the list.
 *
 * Most objects use only older ones, so the newest are destroyed first; for the others
 * the passes are repeated until no more can be destroyed.  An object that the driver
 * still refuses to destroy is forgotten: (1) RDMA_REMOVE_DRIVER_FAILURE tells the
 * driver that this was the last call; (2) the handle is removed and the list's
 * reference dropped, or the handle stays like that of any object which a removed device
 * left behind.
 */
void uverbs_objects_teardown(struct ib_uverbs_file *file,
			     enum rdma_remove_reason why)
{
	struct uverbs_attr_bundle attrs = { .ufile = file };
	struct ib_uobject *uobj, *next;

	lockdep_assert_held_write(&file->teardown_sem);
	while (teardown_pass(file, why))
		;
	list_for_each_entry_safe(uobj, next, &file->objects, list) {
		attrs.context = uobj->context;
		WARN_ONCE(uobject_destroy_hw(uobj, RDMA_REMOVE_DRIVER_FAILURE,
					     &attrs),
			  "%s: object %d of type %u is never destroyed\n",
			  uobj->context->device->name, uobj->id,
			  uobj->uapi_object->id);
		uobj->object = NULL;
		uobject_torn_down(uobj, why);
	}
	if (why == RDMA_REMOVE_CLOSE)
		uverbs_handles_drop(file);
}
