// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ioctl(RDMA_VERBS_IOCTL): a method called with attributes.
 *
 * The attributes are checked against the method's definition and become a bundle:
 * values are inline or in the call's arena, objects are looked up and locked, or made.
 * Then the object that the method destroys, if any, is destroyed; then the handler
 * runs; then new objects are committed or aborted, and the others released.
 *
 * An attribute that the method does not know is ignored unless the user flags it
 * UVERBS_ATTR_F_MANDATORY.  This is how new programs run on old kernels.
 *
 * After the device was removed, methods that only destroy still work
 * (uverbs_method.kept); other methods fail before they look anything up.
 */
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <kunit/visibility.h>
#include <rdma/uverbs_std_types.h>

#include "call/call.h"
#include "uverbs/uverbs.h"

/* Most handlers allocate this much or less. */
#define IOCTL_ARENA 256

/* One attribute that is being parsed. */
struct ioctl_attr {
	struct uverbs_call *call;
	const struct uverbs_attr_spec *spec;
	const struct ib_uverbs_attr *user;
	unsigned int i;			/* index of user in the user's array */
	struct uverbs_attr *to;
};

static bool is_inline(u16 len)
{
	return len <= sizeof_field(struct ib_uverbs_attr, data);
}

/* The user's bytes from @from to @len must all be 0. */
static int check_tail(const struct ib_uverbs_attr *user, u16 from, u16 len)
{
	int zero;

	if (is_inline(len))
		zero = !memchr_inv((const u8 *)&user->data + from, 0, len - from);
	else
		zero = check_zeroed_user(u64_to_user_ptr(user->data) + from,
					 len - from);
	if (zero < 0)
		return zero;
	return zero ? 0 : -EOPNOTSUPP;
}

static int copy_value(const struct ioctl_attr *a, void *to, u16 len)
{
	if (copy_from_user(to, u64_to_user_ptr(a->user->data), len))
		return -EFAULT;
	return 0;
}

/* Parses a value by @spec, that of the attribute itself or of an element of its enum. */
static int take_value(const struct ioctl_attr *a,
		      const struct uverbs_attr_spec *spec)
{
	struct uverbs_ptr_attr *to = &a->to->ptr_attr;
	u16 len = a->user->len;
	void *copy;
	int ret;

	if (len < spec->u.ptr.min_len)
		return -EINVAL;
	if (len > spec->u.ptr.len) {
		if (!spec->zero_trailing)
			return -EINVAL;
		ret = check_tail(a->user, spec->u.ptr.len, len);
		if (ret)
			return ret;
		len = spec->u.ptr.len;
	}
	to->len = len;
	to->uattr_idx = a->i;
	to->data = a->user->data;
	if (is_inline(a->user->len))
		return 0;
	if (is_inline(len)) {
		/* Without its zero tail the value is inline: copy it into data. */
		to->data = 0;
		return copy_value(a, &to->data, len);
	}
	if (!spec->alloc_and_copy)
		return 0;
	copy = _uverbs_alloc(&a->call->bundle, len, GFP_KERNEL);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	to->ptr = copy;
	return copy_value(a, copy, len);
}

static int take_in(const struct ioctl_attr *a)
{
	if (a->user->attr_data.reserved)
		return -EINVAL;
	return take_value(a, a->spec);
}

static int take_enum(const struct ioctl_attr *a)
{
	u8 elem = a->user->attr_data.enum_data.elem_id;
	const struct uverbs_attr_spec *spec;

	if (a->user->attr_data.enum_data.reserved)
		return -EINVAL;
	if (elem >= a->spec->u.enum_def.num_elems)
		return -EOPNOTSUPP;
	spec = &a->spec->u2.enum_def.ids[elem];
	if (spec->type != UVERBS_ATTR_TYPE_PTR_IN)
		return -EOPNOTSUPP;
	a->to->ptr_attr.enum_id = elem;
	return take_value(a, spec);
}

static int take_out(const struct ioctl_attr *a)
{
	const struct uverbs_attr_spec *spec = a->spec;

	if (a->user->attr_data.reserved ||
	    a->user->len < spec->u.ptr.min_len ||
	    (a->user->len > spec->u.ptr.len && !spec->zero_trailing))
		return -EINVAL;
	a->to->ptr_attr.len = a->user->len;
	a->to->ptr_attr.uattr_idx = a->i;
	a->to->ptr_attr.data = a->user->data;
	return 0;
}

/* Parses a file descriptor of any kind, which the handler looks up. */
static int take_raw_fd(const struct ioctl_attr *a)
{
	if (a->user->attr_data.reserved || a->user->len ||
	    a->user->data_s64 < INT_MIN || a->user->data_s64 > INT_MAX)
		return -EINVAL;
	a->to->ptr_attr.data = a->user->data;
	a->to->ptr_attr.uattr_idx = a->i;
	return 0;
}

/* ---- objects ---- */

/* Returns NULL for UVERBS_IDR_ANY_OBJECT, which stands for any type with handles. */
static const struct uverbs_api_object *
object_type(const struct uverbs_call *call, u16 id)
{
	const struct uverbs_api_object *obj;

	if (id == UVERBS_IDR_ANY_OBJECT)
		return NULL;
	obj = uapi_get_object(call->bundle.ufile->device->uapi, id);
	return obj ?: ERR_PTR(-EOPNOTSUPP);
}

static enum rdma_lookup_mode lookup_mode(u8 access)
{
	return access == UVERBS_ACCESS_READ ? UVERBS_LOOKUP_READ :
					      UVERBS_LOOKUP_WRITE;
}

/* Writes the handle to the user before the commit, after which nothing may fail. */
static struct ib_uobject *make_object(const struct ioctl_attr *a,
				      const struct uverbs_api_object *obj)
{
	struct uverbs_attr_bundle *bundle = &a->call->bundle;
	struct ib_uobject *uobj;

	if (!obj)
		return ERR_PTR(-EINVAL);
	uobj = rdma_alloc_begin_uobject(obj, bundle);
	if (!IS_ERR(uobj) &&
	    put_user((u64)uobj->id, &a->call->user_attrs[a->i].data)) {
		rdma_alloc_abort_uobject(uobj, bundle, false);
		return ERR_PTR(-EFAULT);
	}
	return uobj;
}

static int take_object(const struct ioctl_attr *a)
{
	const struct uverbs_api_object *obj;
	struct ib_uobject *uobj;
	u8 access = a->spec->u.obj.access;

	if (a->user->attr_data.reserved || a->user->len)
		return -EINVAL;
	obj = object_type(a->call, a->spec->u.obj.obj_type);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	switch (access) {
	case UVERBS_ACCESS_DESTROY:
		/* destroy_object() looks it up, once all attributes are valid. */
		return a->user->data > U32_MAX ? -EINVAL : 0;
	case UVERBS_ACCESS_NEW:
		uobj = make_object(a, obj);
		break;
	default:
		uobj = rdma_lookup_get_uobject(obj, a->call->bundle.ufile,
					       a->user->data_s64,
					       lookup_mode(access),
					       &a->call->bundle);
		break;
	}
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	a->to->obj_attr.uobject = uobj;
	return 0;
}

static void put_objects(struct uverbs_objs_arr_attr *arr,
			enum rdma_lookup_mode mode)
{
	while (arr->len)
		rdma_lookup_put_uobject(arr->uobjects[--arr->len], mode);
}

static int take_objects(const struct ioctl_attr *a)
{
	struct uverbs_objs_arr_attr *to = &a->to->objs_arr_attr;
	enum rdma_lookup_mode mode = lookup_mode(a->spec->u2.objs_arr.access);
	struct uverbs_attr_bundle *bundle = &a->call->bundle;
	unsigned int n = a->user->len / sizeof(u32);
	const struct uverbs_api_object *obj;
	struct ib_uobject *uobj;
	const u32 *ids;
	u32 *copy;

	if (a->user->attr_data.reserved || a->user->len % sizeof(u32) ||
	    n < a->spec->u2.objs_arr.min_len || n > a->spec->u2.objs_arr.max_len)
		return -EINVAL;
	obj = object_type(a->call, a->spec->u2.objs_arr.obj_type);
	if (IS_ERR(obj))
		return PTR_ERR(obj);

	ids = (const u32 *)&a->user->data;
	if (!is_inline(a->user->len)) {
		copy = _uverbs_alloc(bundle, a->user->len, GFP_KERNEL);
		if (IS_ERR(copy))
			return PTR_ERR(copy);
		if (copy_value(a, copy, a->user->len))
			return -EFAULT;
		ids = copy;
	}
	to->uobjects = uverbs_kcalloc(bundle, n, sizeof(*to->uobjects));
	if (IS_ERR(to->uobjects))
		return PTR_ERR(to->uobjects);
	for (to->len = 0; to->len < n; to->len++) {
		uobj = rdma_lookup_get_uobject(obj, bundle->ufile, ids[to->len],
					       mode, bundle);
		/* end_attrs() releases those that were found before. */
		if (IS_ERR(uobj))
			return PTR_ERR(uobj);
		to->uobjects[to->len] = uobj;
	}
	return 0;
}

/* ---- the call ---- */

static int (*const takers[])(const struct ioctl_attr *a) = {
	[UVERBS_ATTR_TYPE_PTR_IN]	= take_in,
	[UVERBS_ATTR_TYPE_PTR_OUT]	= take_out,
	[UVERBS_ATTR_TYPE_IDR]		= take_object,
	[UVERBS_ATTR_TYPE_FD]		= take_object,
	[UVERBS_ATTR_TYPE_RAW_FD]	= take_raw_fd,
	[UVERBS_ATTR_TYPE_ENUM_IN]	= take_enum,
	[UVERBS_ATTR_TYPE_IDRS_ARRAY]	= take_objects,
};

/* Sets driver_udata, for drivers that read and write by struct ib_udata. */
static void take_udata(const struct ioctl_attr *a)
{
	struct ib_udata *udata = &a->call->bundle.driver_udata;

	if (a->spec->type == UVERBS_ATTR_TYPE_PTR_OUT) {
		udata->outbuf = u64_to_user_ptr(a->user->data);
		udata->outlen = a->user->len;
	} else {
		udata->inbuf = is_inline(a->user->len) ?
			       (const void __user *)&a->call->user_attrs[a->i].data :
			       u64_to_user_ptr(a->user->data);
		udata->inlen = a->user->len;
	}
}

static int take_attr(struct uverbs_call *call,
		     const struct uverbs_method *method, unsigned int i)
{
	struct ioctl_attr a = { .call = call, .user = &call->uattrs[i], .i = i };
	unsigned int bkey;
	int ret;

	a.spec = uverbs_method_attr(method, a.user->attr_id, &bkey);
	if (!a.spec)
		return a.user->flags & UVERBS_ATTR_F_MANDATORY ?
		       -EPROTONOSUPPORT : 0;
	if (a.spec->type >= ARRAY_SIZE(takers) || !takers[a.spec->type])
		return -EOPNOTSUPP;
	if (__test_and_set_bit(bkey, call->bundle.attr_present))
		return -EINVAL;
	a.to = &call->bundle.attrs[bkey];
	ret = takers[a.spec->type](&a);
	if (!ret && a.spec->is_udata)
		take_udata(&a);
	return ret;
}

static int take_attrs(struct uverbs_call *call,
		      const struct uverbs_method *method)
{
	unsigned int i;
	int ret;

	for (i = 0; i < call->nr_uattrs; i++) {
		ret = take_attr(call, method, i);
		if (ret)
			return ret;
	}
	if (!bitmap_subset(method->mandatory, call->bundle.attr_present,
			   UVERBS_API_ATTR_BKEY_LEN))
		return -EINVAL;
	return 0;
}

static bool is_object(const struct uverbs_attr_spec *spec)
{
	return spec->type == UVERBS_ATTR_TYPE_IDR ||
	       spec->type == UVERBS_ATTR_TYPE_FD;
}

/* Destroys the object of the method's destroy attribute, if the user gave it. */
static int destroy_object(struct uverbs_call *call,
			  const struct uverbs_method *method)
{
	const struct uverbs_api_object *obj;
	const struct uverbs_attr_spec *spec;
	struct ib_uobject *uobj;
	unsigned int i, bkey;

	for (i = 0; method->destroys && i < call->nr_uattrs; i++) {
		spec = uverbs_method_attr(method, call->uattrs[i].attr_id, &bkey);
		if (!spec || !is_object(spec) ||
		    spec->u.obj.access != UVERBS_ACCESS_DESTROY)
			continue;
		obj = object_type(call, spec->u.obj.obj_type);
		uobj = __uobj_get_destroy(obj, call->uattrs[i].data,
					  &call->bundle);
		if (IS_ERR(uobj))
			return PTR_ERR(uobj);
		call->bundle.attrs[bkey].obj_attr.uobject = uobj;
	}
	return 0;
}

static void end_object(struct uverbs_call *call, struct ib_uobject *uobj,
		       unsigned int bkey, u8 access, int ret)
{
	switch (access) {
	case UVERBS_ACCESS_NEW:
		if (!ret)
			rdma_alloc_commit_uobject(uobj, &call->bundle);
		else
			rdma_alloc_abort_uobject(uobj, &call->bundle,
						 test_bit(bkey, call->finalized));
		break;
	case UVERBS_ACCESS_DESTROY:
		uobj_put_destroy(uobj);
		break;
	default:
		rdma_lookup_put_uobject(uobj, lookup_mode(access));
		break;
	}
}

/* Commits new objects, or aborts them if @ret is an error, and releases the others. */
static void end_attrs(struct uverbs_call *call,
		      const struct uverbs_method *method, int ret)
{
	const struct uverbs_attr_spec *spec;
	struct uverbs_attr *attr;
	unsigned int bkey;

	for_each_set_bit(bkey, call->bundle.attr_present, method->nr_attrs) {
		spec = method->attrs[bkey];
		attr = &call->bundle.attrs[bkey];
		if (is_object(spec) && attr->obj_attr.uobject)
			end_object(call, attr->obj_attr.uobject, bkey,
				   spec->u.obj.access, ret);
		else if (spec->type == UVERBS_ATTR_TYPE_IDRS_ARRAY)
			put_objects(&attr->objs_arr_attr,
				    lookup_mode(spec->u2.objs_arr.access));
	}
}

/*
 * Called when the handler succeeded, so its new objects are complete.  Core does not
 * see whether the driver wrote to its udata, so it tells the user that the driver did.
 */
static int method_succeeded(struct uverbs_call *call)
{
	const struct uverbs_attr *attr = uverbs_attr_get(&call->bundle,
							 UVERBS_ATTR_UHW_OUT);

	bitmap_fill(call->finalized, UVERBS_API_ATTR_BKEY_LEN);
	return IS_ERR(attr) ? 0 : uverbs_attr_written(&call->bundle, attr);
}

static int run_method(struct uverbs_call *call,
		      const struct uverbs_method *method)
{
	int ret = take_attrs(call, method);

	if (!ret)
		ret = destroy_object(call, method);
	if (!ret)
		ret = method->handler(&call->bundle);
	if (!ret)
		ret = method_succeeded(call);
	end_attrs(call, method, ret);
	return ret;
}

static int call_method(struct ib_uverbs_file *file,
		       const struct uverbs_method *method,
		       const struct ib_uverbs_ioctl_hdr *hdr,
		       struct ib_uverbs_attr __user *user_attrs)
{
	size_t uattrs = array_size(hdr->num_attrs, sizeof(*user_attrs));
	size_t size = uverbs_call_size(method->nr_attrs, IOCTL_ARENA);
	struct uverbs_call *call;
	void *buf;
	int ret;

	buf = kvmalloc(size_add(size, uattrs), GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	call = uverbs_call_init(buf, size, method->nr_attrs, file);
	call->uattrs = buf + size;
	call->user_attrs = user_attrs;
	call->nr_uattrs = hdr->num_attrs;
	ret = copy_from_user(buf + size, user_attrs, uattrs) ? -EFAULT :
	      run_method(call, method);
	uverbs_call_finish(call);
	kvfree(buf);
	return ret;
}

static int find_method(const struct uverbs_api *api,
		       const struct ib_uverbs_ioctl_hdr *hdr,
		       const struct uverbs_method **found)
{
	const struct uverbs_method *method;

	if (hdr->length != struct_size(hdr, attrs, hdr->num_attrs) ||
	    hdr->length > PAGE_SIZE)
		return -EINVAL;
	/* Newer kernels may know what the reserved members mean. */
	if (hdr->reserved1 || hdr->reserved2)
		return -EPROTONOSUPPORT;
	/* What the program passes to the driver has a meaning for that driver only. */
	if (hdr->driver_id != api->driver_id)
		return -EINVAL;
	method = uverbs_api_method(api, hdr->object_id, hdr->method_id);
	if (!method)
		return -EPROTONOSUPPORT;
	*found = method;
	return 0;
}

/*
 * Runs RDMA_VERBS_IOCTL with header @hdr and the attributes at @user_attrs.
 *
 * Called in the context of the user, within a section of the device unless the device
 * was removed.  Returns the handler's result, or: -EINVAL for a malformed call,
 * -EPROTONOSUPPORT if a reserved member is set, the device does not have the method, or
 * the method does not know an attribute flagged UVERBS_ATTR_F_MANDATORY, -EOPNOTSUPP
 * for a value that the method does not know, -EFAULT, -ENOMEM, -EIO if the device was
 * removed, and the errors of looking objects up.
 */
int uverbs_call_ioctl(struct ib_uverbs_file *file,
		      const struct ib_uverbs_ioctl_hdr *hdr,
		      struct ib_uverbs_attr __user *user_attrs)
{
	const struct uverbs_method *method;
	int ret = find_method(file->device->uapi, hdr, &method);

	if (READ_ONCE(file->device->gone) && (ret || !method->kept))
		return -EIO;
	return ret ?: call_method(file, method, hdr, user_attrs);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_call_ioctl);

/**
 * uverbs_finalize_uobj_create() - mark a new object as complete
 * @bundle: attributes of the call
 * @idx: attribute id of the new object
 *
 * If the handler fails after this call, the object is destroyed by destroy_object() of
 * its type like any other; if it fails before, only the handle is released.
 *
 * Context: in the handler of a method.
 */
void uverbs_finalize_uobj_create(const struct uverbs_attr_bundle *bundle,
				 u16 idx)
{
	__set_bit(uapi_bkey_attr(uapi_key_attr(idx)),
		  uverbs_call_of(bundle)->finalized);
}
EXPORT_SYMBOL(uverbs_finalize_uobj_create);

/**
 * uverbs_destroy_def_handler() - handler of methods that only destroy an object
 * @attrs: attributes of the call
 *
 * When a handler runs, the object that its method destroys has been destroyed, or the
 * call has failed: there is nothing left to do.
 *
 * Context: in a method call.
 * Return: 0.
 */
int uverbs_destroy_def_handler(struct uverbs_attr_bundle *attrs)
{
	return 0;
}
EXPORT_SYMBOL(uverbs_destroy_def_handler);
