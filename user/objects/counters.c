// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters that processes attach to their flows: ibv_create_counters(3). */
#include <linux/slab.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"

static int counters_create(struct ib_uobject *uobj,
			   struct uverbs_attr_bundle *attrs)
{
	struct ib_device *ibdev = attrs->context->device;
	struct ib_counters *counters;
	int ret;

	if (!ibdev->ops.create_counters)
		return -EOPNOTSUPP;
	counters = rdma_zalloc_drv_obj(ibdev, ib_counters);
	if (!counters)
		return -ENOMEM;
	counters->device = ibdev;
	counters->uobject = uobj;
	atomic_set(&counters->usecnt, 0);
	ret = ibdev->ops.create_counters(counters, attrs);
	if (ret) {
		kfree(counters);
		return ret;
	}
	uobj->object = counters;
	return 0;
}

static int
UVERBS_HANDLER(UVERBS_METHOD_COUNTERS_CREATE)(struct uverbs_attr_bundle *attrs)
{
	return counters_create(uverbs_attr_get_uobject(attrs,
						       UVERBS_ATTR_CREATE_COUNTERS_HANDLE),
			       attrs);
}

/* Drivers can read counters only while these are attached to something. */
static int counters_read(struct ib_counters *counters,
			 struct ib_counters_read_attr *attr,
			 struct uverbs_attr_bundle *attrs)
{
	if (!counters->device->ops.read_counters)
		return -EOPNOTSUPP;
	if (!atomic_read(&counters->usecnt))
		return -EINVAL;
	attr->counters_buff = uverbs_kcalloc(attrs, attr->ncounters, sizeof(u64));
	if (IS_ERR(attr->counters_buff))
		return PTR_ERR(attr->counters_buff);
	return counters->device->ops.read_counters(counters, attr, attrs);
}

static int
UVERBS_HANDLER(UVERBS_METHOD_COUNTERS_READ)(struct uverbs_attr_bundle *attrs)
{
	struct ib_counters *counters =
		uverbs_attr_get_obj(attrs, UVERBS_ATTR_READ_COUNTERS_HANDLE);
	struct ib_counters_read_attr attr = {};
	int n, ret;

	ret = uverbs_get_flags32(&attr.flags, attrs, UVERBS_ATTR_READ_COUNTERS_FLAGS,
				 IB_UVERBS_READ_COUNTERS_PREFER_CACHED);
	if (ret)
		return ret;
	n = uverbs_attr_ptr_get_array_size(attrs, UVERBS_ATTR_READ_COUNTERS_BUFF,
					   sizeof(u64));
	if (n < 0)
		return n;
	attr.ncounters = n;
	ret = counters_read(counters, &attr, attrs);
	return ret ?: uverbs_copy_to(attrs, UVERBS_ATTR_READ_COUNTERS_BUFF,
				     attr.counters_buff, n * sizeof(u64));
}

/* Returns -EBUSY while flows use the counters. */
static int counters_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			    struct uverbs_attr_bundle *attrs)
{
	struct ib_counters *counters = uobj->object;
	int ret;

	if (atomic_read(&counters->usecnt))
		return -EBUSY;
	ret = counters->device->ops.destroy_counters(counters);
	if (!ret)
		kfree(counters);
	return ret;
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_COUNTERS_CREATE,
	UVERBS_MAKES(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, COUNTERS));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_COUNTERS_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, COUNTERS));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_COUNTERS_READ,
	UVERBS_USES(UVERBS_ATTR_READ_COUNTERS_HANDLE, COUNTERS, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_READ_COUNTERS_BUFF, UVERBS_ATTR_MIN_SIZE(0),
			    UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_READ_COUNTERS_FLAGS,
			     enum ib_uverbs_read_counters_flags));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_COUNTERS,
			    UVERBS_TYPE_ALLOC_IDR(counters_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_COUNTERS_CREATE),
			    &UVERBS_METHOD(UVERBS_METHOD_COUNTERS_DESTROY),
			    &UVERBS_METHOD(UVERBS_METHOD_COUNTERS_READ));

const struct uapi_definition uverbs_counters_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_COUNTERS,
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_counters)),
	{}
};
