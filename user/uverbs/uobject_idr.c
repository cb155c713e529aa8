// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * User objects with a handle, a number that is valid in their file.  Each is charged to
 * the control group of the process that made it.
 *
 * Handles are looked up under RCU.  The table of handles holds no reference: an object
 * is removed from it before the list's reference is dropped, and its memory is freed a
 * grace period after the last reference.  An object that a removed device left behind
 * is only in the table, which then holds the list's reference (uobject.c).
 */
#include <linux/export.h>
#include <linux/xarray.h>
#include <rdma/uverbs_std_types.h>
#include <ibex/cgroup.h>

#include "uverbs/uverbs.h"

static const struct uverbs_obj_idr_type *idr_type(const struct ib_uobject *uobj)
{
	return container_of(uobj->uapi_object->type_attrs,
			    struct uverbs_obj_idr_type, type);
}

static void idr_uncharge(struct ib_uobject *uobj)
{
	ib_rdmacg_uncharge(&uobj->cg_obj, uobj->context->device,
			   RDMACG_RESOURCE_HCA_OBJECT);
}

static struct ib_uobject *idr_alloc_begin(const struct uverbs_api_object *obj,
					  struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_uobject_new(obj, attrs);
	u32 id;
	int ret;

	if (IS_ERR(uobj))
		return uobj;
	ret = ib_rdmacg_try_charge(&uobj->cg_obj, uobj->context->device,
				   RDMACG_RESOURCE_HCA_OBJECT);
	if (ret)
		goto err;
	/* The handle is reserved: lookups find nothing there yet. */
	ret = xa_alloc(&uobj->ufile->handles, &id, NULL, xa_limit_31b,
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_uncharge;
	uobj->id = id;
	return uobj;

err_uncharge:
	idr_uncharge(uobj);
err:
	uverbs_uobject_put(uobj);
	return ERR_PTR(ret);
}

static void idr_alloc_commit(struct ib_uobject *uobj)
{
	struct ib_uverbs_file *file = uobj->ufile;

	/* The slot exists, so this does not allocate. */
	WARN_ON(xa_is_err(xa_store(&file->handles, uobj->id, uobj,
				   GFP_KERNEL)));
}

static void idr_alloc_abort(struct ib_uobject *uobj)
{
	xa_erase(&uobj->ufile->handles, uobj->id);
	idr_uncharge(uobj);
}

static struct ib_uobject *idr_lookup_get(const struct uverbs_api_object *obj,
					 struct ib_uverbs_file *ufile, s64 id,
					 enum rdma_lookup_mode mode)
{
	struct ib_uobject *uobj;

	if (id < 0 || id > U32_MAX)
		return ERR_PTR(-EINVAL);
	rcu_read_lock();
	uobj = xa_load(&ufile->handles, id);
	if (uobj && !kref_get_unless_zero(&uobj->ref))
		uobj = NULL;
	rcu_read_unlock();
	return uobj ?: ERR_PTR(-ENOENT);
}

static void idr_lookup_put(struct ib_uobject *uobj, enum rdma_lookup_mode mode)
{
}

static int idr_destroy_hw(struct ib_uobject *uobj, enum rdma_remove_reason why,
			  struct uverbs_attr_bundle *attrs)
{
	return idr_type(uobj)->destroy_object(uobj, why, attrs);
}

static void idr_remove_handle(struct ib_uobject *uobj)
{
	xa_erase(&uobj->ufile->handles, uobj->id);
	/* NULL if the device was removed before: see uverbs_handle_leave(). */
	if (uobj->context)
		idr_uncharge(uobj);
}

/*
 * Called when the device is being removed and the driver's object of @uobj was
 * destroyed.  Returns true if the user has a handle of @uobj; the handle stays and
 * takes over the list's reference.  Under teardown_sem, held for writing.
 */
bool uverbs_handle_leave(struct ib_uobject *uobj)
{
	lockdep_assert_held_write(&uobj->ufile->teardown_sem);
	if (uobj->uapi_object->type_class != &uverbs_idr_class ||
	    xa_load(&uobj->ufile->handles, uobj->id) != uobj)
		return false;
	idr_uncharge(uobj);
	uobj->context = NULL;
	return true;
}

/* The file is being closed: drops the objects that its removed device left behind. */
void uverbs_handles_drop(struct ib_uverbs_file *file)
{
	struct ib_uobject *uobj;
	unsigned long id;

	lockdep_assert_held_write(&file->teardown_sem);
	xa_for_each(&file->handles, id, uobj) {
		xa_erase(&file->handles, id);
		uverbs_uobject_put(uobj);
	}
}

/* The class of objects with a handle; UVERBS_TYPE_ALLOC_IDR() makes their types. */
const struct uverbs_obj_type_class uverbs_idr_class = {
	.alloc_begin	= idr_alloc_begin,
	.alloc_commit	= idr_alloc_commit,
	.alloc_abort	= idr_alloc_abort,
	.lookup_get	= idr_lookup_get,
	.lookup_put	= idr_lookup_put,
	.destroy_hw	= idr_destroy_hw,
	.remove_handle	= idr_remove_handle,
};
EXPORT_SYMBOL(uverbs_idr_class);
