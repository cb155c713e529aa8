// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory on the device, given to processes: ibv_alloc_dm(3). */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"

static int dm_alloc(struct ib_uobject *uobj, struct ib_dm_alloc_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_device *ibdev = attrs->context->device;
	struct ib_dm *dm;

	if (!ibdev->ops.alloc_dm)
		return -EOPNOTSUPP;
	dm = ibdev->ops.alloc_dm(ibdev, attrs->context, attr, attrs);
	if (IS_ERR(dm))
		return PTR_ERR(dm);
	dm->device = ibdev;
	dm->length = attr->length;
	dm->uobject = uobj;
	atomic_set(&dm->usecnt, 0);
	uobj->object = dm;
	return 0;
}

static int UVERBS_HANDLER(UVERBS_METHOD_DM_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm_alloc_attr attr = {};
	int ret;

	ret = uverbs_copy_from(&attr.length, attrs, UVERBS_ATTR_ALLOC_DM_LENGTH);
	if (ret)
		return ret;
	ret = uverbs_copy_from(&attr.alignment, attrs,
			       UVERBS_ATTR_ALLOC_DM_ALIGNMENT);
	if (ret)
		return ret;
	/* The length in struct ib_dm has 32 bits. */
	if (attr.length > U32_MAX)
		return -EINVAL;
	return dm_alloc(uverbs_attr_get_uobject(attrs, UVERBS_ATTR_ALLOC_DM_HANDLE),
			&attr, attrs);
}

/* Returns -EBUSY while memory regions are registered on it. */
static int dm_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *dm = uobj->object;

	if (atomic_read(&dm->usecnt))
		return -EBUSY;
	return dm->device->ops.dealloc_dm(dm, attrs);
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_DM_ALLOC,
	UVERBS_MAKES(UVERBS_ATTR_ALLOC_DM_HANDLE, DM),
	UVERBS_IN(UVERBS_ATTR_ALLOC_DM_LENGTH, u64, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, u32, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_DM_FREE,
	UVERBS_ENDS(UVERBS_ATTR_FREE_DM_HANDLE, DM));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_DM, UVERBS_TYPE_ALLOC_IDR(dm_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_DM_ALLOC),
			    &UVERBS_METHOD(UVERBS_METHOD_DM_FREE));

const struct uapi_definition uverbs_dm_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DM,
				      UAPI_DEF_OBJ_NEEDS_FN(dealloc_dm)),
	{}
};
