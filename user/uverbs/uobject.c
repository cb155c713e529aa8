// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * User objects: what a process refers to by a handle or a file descriptor.
 *
 * The life of one:
 *	begin	made for a method that creates; its handle is reserved but found by
 *		nobody; locked for writing
 *	commit	found by its handle, unlocked, on its file's list, which has the
 *		creator's reference
 *	destroy	the driver's object is gone (uobject->object is NULL), then the handle,
 *		then the list's reference; it stays locked for writing, so whoever
 *		found it before is told -EBUSY
 *
 * When the device is removed, what has a handle is left behind: no driver's object, no
 * context, on no list.  Its handle holds the list's reference then, so that its user,
 * who may not know yet, can destroy it as ever and is told what a destroy tells (how
 * many events were read); or until the file is closed.
 *
 * A lock is held for the time of a method and never waited for: usecnt is -1 when
 * locked for writing, else the number of readers.
 *
 * Who destroys: a method, with the object locked and file->teardown_sem for reading; the
 * release of a descriptor, with it for reading; teardown, with it for writing.  So no two
 * of them meet at one object.  All else that methods do is within a section of the device
 * (uverbs_section_begin()), and teardown runs when there is none any more.
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
 * @uobject: with a reference, of uverbs_uobject_get() or a lookup
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

/* The driver's part.  On failure nothing has changed. */
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

/* What follows uobject_destroy_hw() for a committed object. */
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
 * The object with handle @id, locked as @mode says and with a reference, both given
 * back by rdma_lookup_put_uobject().  @obj: what it must be; NULL: any that has a
 * handle.  Sets the call's context to the object's.
 *
 * Within a section of the device; may sleep.  ERR_PTR: -EINVAL for something that
 * cannot be a handle, -ENOENT, -EBUSY if the lock is taken, -EOPNOTSUPP for a type
 * or a lock that its class has not.
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

	ret = lookup_fits(uobj, obj) ? uobject_lock(uobj, mode) : -ENOENT;
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

/* For the classes' alloc_begin(). */
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
 * file's, unless the method is just making one).  Follow it by commit or abort.
 *
 * Within a section of the device; may sleep.  ERR_PTR: -EOPNOTSUPP if the device has
 * no such objects, -EINVAL without a context, -EAGAIN at the limit of the control
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

/* Once its class has published it, another thread may destroy @uobj. */
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
 * @hw_obj_valid: the driver's object is there and is to be destroyed, too.  If the
 * driver will not destroy it, teardown tries again; nobody finds it meanwhile.
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
 * Ends a committed object that the caller has a reference on, or leaves it as it was.
 * Without a section, teardown was before or comes after it.
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
 * Destroys the object with handle @id as its user asked for.  It is returned with
 * the reference of a lookup for UVERBS_LOOKUP_DESTROY, for what it has to tell yet.
 * ERR_PTR: as rdma_lookup_get_uobject(), and what the driver says, the object being
 * as it was.
 *
 * Needs no section of the device.  While that is being removed, whichever of teardown and
 * this call has teardown_sem first destroys the driver's object.
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

/* The last close of an object's descriptor. */
void uverbs_uobject_closed(struct ib_uobject *uobj)
{
	struct ib_uverbs_file *file = uobj->ufile;

	down_read(&file->teardown_sem);
	/* Unless its file was torn down before. */
	if (uobj->object) {
		WARN_ON_ONCE(uobject_destroy_hw(uobj, RDMA_REMOVE_CLOSE, NULL));
		uobject_unlist(uobj);
		uobject_gone(uobj);
	}
	up_read(&file->teardown_sem);
}

/* ---- teardown of a file ---- */

/* The driver's part of @uobj is over. */
static void uobject_torn_down(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	list_del_init(&uobj->list);
	if (why == RDMA_REMOVE_DRIVER_REMOVE && uverbs_handle_leave(uobj))
		return;
	uobject_gone(uobj);
}

/*
 * Destroys what it can, the newest first, and leaves the rest in the same order.
 * Whether another pass may get further: something was destroyed, something is left.
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
 * Destroys all objects of a file.  Nobody runs a method of the file any more, or
 * begins one: it is being closed, or its device is gone and the sections are over.
 * teardown_sem keeps releases of descriptors and late destroys away; nobody else
 * touches the list.
 *
 * Objects are used by later ones for the most part, so backwards is right; for the
 * rest it goes over them until nothing more can be destroyed.  What the driver keeps
 * even so is forgotten: (1) it is told, by RDMA_REMOVE_DRIVER_FAILURE, that this was
 * the last call; (2) its handle goes, and the list's reference with it, or stays as that
 * of any object which the device left behind.
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
