// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Methods that make and query the user context. */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "queues/queues.h"
#include "uverbs/uverbs.h"

/* Both output attributes are optional. */
static int context_to_user(struct uverbs_attr_bundle *attrs,
			   const struct ib_device *ibdev, u16 vectors_attr,
			   u16 support_attr)
{
	u64 support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	u32 vectors = ibdev->num_comp_vectors;
	int ret;

	ret = uverbs_copy_to(attrs, vectors_attr, &vectors, sizeof(vectors));
	if (IS_UVERBS_COPY_ERR(ret))
		return ret;
	ret = uverbs_copy_to(attrs, support_attr, &support, sizeof(support));
	return IS_UVERBS_COPY_ERR(ret) ? ret : 0;
}

/*
 * The command also makes an asynchronous event descriptor, which the dispatcher
 * commits.
 */
static int context_get_async(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_get_context_resp resp = {};
	struct ib_uobject *uobj = uverbs_async_begin(attrs);
	int ret;

	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	resp.async_fd = uobj->id;
	resp.num_comp_vectors = attrs->context->device->num_comp_vectors;
	ret = uverbs_response(attrs, &resp, sizeof(resp));
	if (ret)
		rdma_alloc_abort_uobject(uobj, attrs, true);
	else
		uobj_finalize_uobj_create(uobj, attrs);
	return ret;
}

static int context_get_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_get_context cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (!ret)
		ret = uverbs_context_begin(attrs);
	if (ret)
		return ret;
	ret = context_get_async(attrs);
	if (ret)
		uverbs_context_abort(attrs);
	else
		uverbs_context_commit(attrs);
	return ret;
}

static int UVERBS_HANDLER(UVERBS_METHOD_GET_CONTEXT)(struct uverbs_attr_bundle *attrs)
{
	int ret = uverbs_context_begin(attrs);

	if (ret)
		return ret;
	ret = context_to_user(attrs, attrs->context->device,
			      UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			      UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT);
	if (ret)
		uverbs_context_abort(attrs);
	else
		uverbs_context_commit(attrs);
	return ret;
}

static int UVERBS_HANDLER(UVERBS_METHOD_QUERY_CONTEXT)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *context = ib_uverbs_get_ucontext(attrs);
	int ret;

	if (IS_ERR(context))
		return PTR_ERR(context);
	if (!context->device->ops.query_ucontext)
		return -EOPNOTSUPP;
	ret = context_to_user(attrs, context->device,
			      UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
			      UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT);
	attrs->context = context;
	return ret ?: context->device->ops.query_ucontext(context, attrs);
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_QUERY_CONTEXT,
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
			    UVERBS_ATTR_TYPE(u32), UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
			    UVERBS_ATTR_TYPE(u64), UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_GET_CONTEXT,
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			    UVERBS_ATTR_TYPE(u32), UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
			    UVERBS_ATTR_TYPE(u64), UA_OPTIONAL),
	UVERBS_ATTR_UHW());

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_DEVICE,
			      &UVERBS_METHOD(UVERBS_METHOD_GET_CONTEXT),
			      &UVERBS_METHOD(UVERBS_METHOD_QUERY_CONTEXT));

const struct uapi_definition uverbs_context_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DEVICE),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_DEVICE,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_GET_CONTEXT, context_get_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_get_context,
							   ib_uverbs_get_context_resp))),
	{}
};
