// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table of methods that a process may call on a device: those of ib_uverbs and
 * those that the driver adds.  It is made from their definitions when ib_uverbs adds
 * the device, and not changed afterwards.
 *
 * Ids are sparse, because half of each range is for drivers.  <rdma/uverbs_ioctl.h>
 * maps them to dense keys, which index the arrays here: a method is found by two loads,
 * an attribute by one more.  Our own methods, in a range that it does not map, follow
 * the others.
 */
#include <linux/slab.h>
#include <kunit/visibility.h>
#include <rdma/uverbs_std_types.h>
#include <uapi/ibex/xrc.h>

#include "call/call.h"

/* Position of a walk over definitions. */
struct api_walk {
	struct uverbs_api *api;
	struct ib_device *ibdev;
	bool driver;			/* these definitions are the driver's */
	struct uverbs_api_type *type;	/* current object: UAPI_SCOPE_OBJECT */
	struct uverbs_write_method *write; /* current command: UAPI_SCOPE_METHOD */
};

static u32 type_index(u16 id)
{
	u32 key = uapi_key_obj(id);

	return key == UVERBS_API_KEY_ERR ? UVERBS_NR_TYPES :
					   key >> UVERBS_API_OBJ_KEY_SHIFT;
}

static u32 method_index(u16 id)
{
	u32 key;

	if ((id & UVERBS_ID_NS_MASK) == IBEX_UVERBS_ID_NS)
		return UVERBS_FIRST_OWN_METHOD + (id & ~UVERBS_ID_NS_MASK);
	key = uapi_key_ioctl_method(id);
	return key == UVERBS_API_KEY_ERR ? UVERBS_NR_METHODS :
					   key >> UVERBS_API_METHOD_KEY_SHIFT;
}

static u32 attr_index(u16 id)
{
	u32 key = uapi_key_attr(id);

	return key == UVERBS_API_KEY_ERR ? UVERBS_API_ATTR_BKEY_LEN :
					   uapi_bkey_attr(key);
}

/* ---- lookup ---- */

/* NULL if the device has no such type. */
const struct uverbs_api_object *uapi_get_object(const struct uverbs_api *api, u16 id)
{
	u32 i = type_index(id);

	if (i >= UVERBS_NR_TYPES || !api->types[i] ||
	    !api->types[i]->object.type_class)
		return NULL;
	return &api->types[i]->object;
}
EXPORT_SYMBOL_IF_KUNIT(uapi_get_object);

/* NULL if the device has no such method. */
const struct uverbs_method *uverbs_api_method(const struct uverbs_api *api,
					      u16 object_id, u16 method_id)
{
	u32 i = type_index(object_id), j = method_index(method_id);
	const struct uverbs_method *method;

	if (i >= UVERBS_NR_TYPES || j >= UVERBS_NR_METHODS || !api->types[i] ||
	    api->types[i]->object.disabled)
		return NULL;
	method = api->types[i]->methods[j];
	/* A driver may define attributes of a method that does not exist. */
	return method && method->handler ? method : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_method);

/* NULL if the method has no such attribute; else *@bkey is its place in a bundle. */
const struct uverbs_attr_spec *
uverbs_method_attr(const struct uverbs_method *method, u16 id, unsigned int *bkey)
{
	*bkey = attr_index(id);
	return *bkey < method->nr_attrs ? method->attrs[*bkey] : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_method_attr);

/* NULL if the device has no such command. */
const struct uverbs_write_method *
uverbs_api_write(const struct uverbs_api *api, unsigned int command, bool ex)
{
	const struct uverbs_write_method *write;

	if (command >= UVERBS_API_WRITE_KEY_NUM)
		return NULL;
	write = &api->writes[ex][command];
	if (!write->handler || write->disabled || write->type->object.disabled)
		return NULL;
	return write;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_write);

/* ---- making the table ---- */

static struct uverbs_api_type *api_add_type(struct uverbs_api *api, u16 id)
{
	u32 i = type_index(id);

	if (WARN_ON(i >= UVERBS_NR_TYPES))
		return ERR_PTR(-EINVAL);
	if (!api->types[i]) {
		api->types[i] = kzalloc(sizeof(*api->types[i]), GFP_KERNEL);
		if (!api->types[i])
			return ERR_PTR(-ENOMEM);
		api->types[i]->object.id = id;
	}
	return api->types[i];
}

/* Returns the method, with room for @nr_attrs attributes; keeps those that it has. */
static struct uverbs_method *api_add_method(struct uverbs_api_type *type, u16 id,
					    unsigned int nr_attrs)
{
	u32 i = method_index(id);
	struct uverbs_method *method, *old;

	if (WARN_ON(i >= UVERBS_NR_METHODS))
		return ERR_PTR(-EINVAL);
	old = type->methods[i];
	if (old && old->nr_attrs >= nr_attrs)
		return old;
	method = kzalloc(struct_size(method, attrs, nr_attrs), GFP_KERNEL);
	if (!method)
		return ERR_PTR(-ENOMEM);
	if (old)
		memcpy(method, old, struct_size(old, attrs, old->nr_attrs));
	method->nr_attrs = nr_attrs;
	type->methods[i] = method;
	kfree(old);
	return method;
}

static int api_add_attr(struct uverbs_method *method,
			const struct uverbs_attr_def *def)
{
	unsigned int bkey = attr_index(def->id);
	const struct uverbs_attr_spec *spec = &def->attr;

	if (WARN_ON(method->attrs[bkey]))
		return -EINVAL;
	method->attrs[bkey] = spec;
	if (spec->mandatory)
		__set_bit(bkey, method->mandatory);
	if ((spec->type == UVERBS_ATTR_TYPE_IDR ||
	     spec->type == UVERBS_ATTR_TYPE_FD) &&
	    spec->u.obj.access == UVERBS_ACCESS_DESTROY) {
		/* A method may destroy only one object. */
		if (WARN_ON(method->destroys))
			return -EINVAL;
		method->destroys = true;
	}
	return 0;
}

static int api_merge_method(struct api_walk *walk,
			    const struct uverbs_method_def *def)
{
	struct uverbs_method *method;
	unsigned int i, nr_attrs = 0;
	int ret;

	for (i = 0; i < def->num_attrs; i++) {
		unsigned int bkey;

		/* Attributes left out of a build may be NULL, like methods. */
		if (!(*def->attrs)[i])
			continue;
		bkey = attr_index((*def->attrs)[i]->id);
		if (WARN_ON(bkey >= UVERBS_API_ATTR_BKEY_LEN))
			return -EINVAL;
		nr_attrs = max(nr_attrs, bkey + 1);
	}
	method = api_add_method(walk->type, def->id, nr_attrs);
	if (IS_ERR(method))
		return PTR_ERR(method);
	if (def->handler) {
		if (WARN_ON(method->handler))
			return -EINVAL;
		method->handler = def->handler;
		method->driver_handler = walk->driver &&
					 def->handler != uverbs_destroy_def_handler;
	}
	for (i = 0; i < def->num_attrs; i++) {
		if (!(*def->attrs)[i])
			continue;
		ret = api_add_attr(method, (*def->attrs)[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int api_merge_tree(struct api_walk *walk,
			  const struct uverbs_object_def *def)
{
	struct uverbs_api_object *object = &walk->type->object;
	unsigned int i;
	int ret;

	if (def->type_attrs) {
		if (WARN_ON(object->type_attrs))
			return -EINVAL;
		object->type_attrs = def->type_attrs;
		object->type_class = def->type_attrs->type_class;
	}
	for (i = 0; i < def->num_methods; i++) {
		if (!(*def->methods)[i])
			continue;
		ret = api_merge_method(walk, (*def->methods)[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int api_merge_write(struct api_walk *walk,
			   const struct uapi_definition *def)
{
	struct uverbs_write_method *write;

	if (WARN_ON(!walk->type ||
		    def->write.command_num >= UVERBS_API_WRITE_KEY_NUM))
		return -EINVAL;
	write = &walk->api->writes[def->write.is_ex][def->write.command_num];
	if (WARN_ON(write->handler))
		return -EINVAL;
	write->handler = def->func_write;
	write->type = walk->type;
	write->has_udata = def->write.has_udata;
	write->has_resp = def->write.has_resp;
	write->req_size = def->write.req_size;
	write->resp_size = def->write.resp_size;
	walk->write = write;
	return 0;
}

static bool api_is_supported(const struct api_walk *walk,
			     const struct uapi_definition *def)
{
	const void *ops = &walk->ibdev->ops;

	if (def->kind == UAPI_DEF_IS_SUPPORTED_FUNC)
		return def->func_is_supported(walk->ibdev);
	return *(void * const *)(ops + def->needs_fn_offset);
}

static int api_support(struct api_walk *walk, const struct uapi_definition *def)
{
	if (api_is_supported(walk, def))
		return 0;
	if (def->scope == UAPI_SCOPE_OBJECT && !WARN_ON(!walk->type))
		walk->type->object.disabled = 1;
	else if (def->scope == UAPI_SCOPE_METHOD && !WARN_ON(!walk->write))
		walk->write->disabled = true;
	else
		return -EINVAL;
	return 0;
}

/* Definitions are constants in modules, chained only a few levels deep. */
static int api_merge(struct api_walk *walk, const struct uapi_definition *def)
{
	int ret = 0;

	for (; def && def->kind != UAPI_DEF_END && !ret; def++) {
		switch ((enum uapi_definition_kind)def->kind) {
		case UAPI_DEF_CHAIN:
			ret = api_merge(walk, def->chain);
			break;
		case UAPI_DEF_CHAIN_OBJ_TREE:
		case UAPI_DEF_OBJECT_START:
			walk->write = NULL;
			walk->type = api_add_type(walk->api,
						  def->object_start.object_id);
			if (IS_ERR(walk->type))
				return PTR_ERR(walk->type);
			if (def->kind == UAPI_DEF_CHAIN_OBJ_TREE &&
			    def->chain_obj_tree)
				ret = api_merge_tree(walk, def->chain_obj_tree);
			break;
		case UAPI_DEF_WRITE:
			ret = api_merge_write(walk, def);
			break;
		case UAPI_DEF_IS_SUPPORTED_FUNC:
		case UAPI_DEF_IS_SUPPORTED_DEV_FN:
			ret = api_support(walk, def);
			break;
		default:
			WARN_ON(1);
			return -EINVAL;
		}
	}
	return ret;
}

/* Whether a method has only attributes that destroy, or that carry plain data. */
static bool method_only_destroys(const struct uverbs_method *method)
{
	const struct uverbs_attr_spec *spec;
	unsigned int i;

	for (i = 0; i < method->nr_attrs; i++) {
		spec = method->attrs[i];
		if (!spec || spec->type == UVERBS_ATTR_TYPE_PTR_IN ||
		    spec->type == UVERBS_ATTR_TYPE_PTR_OUT)
			continue;
		if (spec->type != UVERBS_ATTR_TYPE_IDR ||
		    spec->u.obj.access != UVERBS_ACCESS_DESTROY)
			return false;
	}
	return method->destroys;
}

/* Sets uverbs_method.kept. */
static int api_keep_method(struct uverbs_method *method)
{
	unsigned int i;

	method->kept = kcalloc(method->nr_attrs, sizeof(*method->kept), GFP_KERNEL);
	if (!method->kept)
		return -ENOMEM;
	for (i = 0; i < method->nr_attrs; i++) {
		if (!method->attrs[i])
			continue;
		method->kept[i] = *method->attrs[i];
		method->attrs[i] = &method->kept[i];
	}
	return 0;
}

/*
 * Methods that destroy without the driver's code still serve a process after its device
 * was removed.  So does UVERBS_METHOD_INVOKE_WRITE, because some commands destroy.
 */
static int api_keep_destroys(struct uverbs_api *api)
{
	const u32 device = type_index(UVERBS_OBJECT_DEVICE);
	const u32 invoke = method_index(UVERBS_METHOD_INVOKE_WRITE);
	struct uverbs_method *method;
	unsigned int i, j;
	int ret = 0;

	for (i = 0; i < UVERBS_NR_TYPES; i++) {
		for (j = 0; !ret && api->types[i] && j < UVERBS_NR_METHODS; j++) {
			method = api->types[i]->methods[j];
			if (method && method->handler && !method->driver_handler &&
			    (method_only_destroys(method) ||
			     (i == device && j == invoke)))
				ret = api_keep_method(method);
		}
	}
	return ret;
}

/* Whether the device has the type of each object that calls of @method must name. */
static bool method_has_types(const struct uverbs_api *api,
			     const struct uverbs_method *method)
{
	const struct uverbs_api_object *object;
	const struct uverbs_attr_spec *spec;
	unsigned int i;

	for_each_set_bit(i, method->mandatory, method->nr_attrs) {
		spec = method->attrs[i];
		if ((spec->type != UVERBS_ATTR_TYPE_IDR &&
		     spec->type != UVERBS_ATTR_TYPE_FD) ||
		    spec->u.obj.obj_type == UVERBS_IDR_ANY_OBJECT)
			continue;
		object = uapi_get_object(api, spec->u.obj.obj_type);
		if (!object || object->disabled)
			return false;
	}
	return true;
}

/* A method that cannot be called with what the device has is no method of it. */
static void api_drop_methods(struct uverbs_api *api)
{
	struct uverbs_method *method;
	unsigned int i, j;

	for (i = 0; i < UVERBS_NR_TYPES; i++) {
		for (j = 0; api->types[i] && j < UVERBS_NR_METHODS; j++) {
			method = api->types[i]->methods[j];
			if (method && !method_has_types(api, method))
				method->handler = NULL;
		}
	}
}

/*
 * Some drivers have functions for older commands, such as post_send(), that work for the
 * kernel only: processes may use the commands whose bit is set in @mask.
 */
static void api_mask_writes(struct uverbs_api *api, u64 mask)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(api->writes[0]); i++)
		if (!(mask & BIT_ULL(i)))
			api->writes[0][i].disabled = true;
}

void uverbs_api_free(struct uverbs_api *api)
{
	struct uverbs_method *method;
	unsigned int i, j;

	for (i = 0; i < UVERBS_NR_TYPES; i++) {
		for (j = 0; api->types[i] && j < UVERBS_NR_METHODS; j++) {
			method = api->types[i]->methods[j];
			if (method)
				kfree(method->kept);
			kfree(method);
		}
		kfree(api->types[i]);
	}
	kfree(api);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_free);

/*
 * Makes the method table of @ibdev from @core, an array of definitions, and from the
 * driver's definitions.  ERR_PTR: -ENOMEM, or -EINVAL for definitions that contradict
 * each other.
 */
struct uverbs_api *uverbs_api_create(struct ib_device *ibdev,
				     const struct uapi_definition *core)
{
	struct api_walk walk = { .ibdev = ibdev };
	int ret;

	walk.api = kzalloc(sizeof(*walk.api), GFP_KERNEL);
	if (!walk.api)
		return ERR_PTR(-ENOMEM);
	/*
	 * uverbs_no_driver_id_binding does not matter here: a provider's library passes
	 * its driver ID in each call, no matter how it was matched with the device.
	 */
	walk.api->driver_id = ibdev->ops.driver_id;
	ret = api_merge(&walk, core);
	if (!ret) {
		walk.driver = true;
		walk.type = NULL;
		walk.write = NULL;
		ret = api_merge(&walk, ibdev->driver_def);
	}
	if (!ret) {
		api_drop_methods(walk.api);
		ret = api_keep_destroys(walk.api);
	}
	if (ret) {
		uverbs_api_free(walk.api);
		return ERR_PTR(ret);
	}
	api_mask_writes(walk.api, ibdev->uverbs_cmd_mask);
	return walk.api;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_api_create);
