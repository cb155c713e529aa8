// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory windows of processes (IBA vol. 1, 10.6.7.2), which bind them on their own. */
#include <linux/slab.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"

static int mw_alloc(struct ib_uobject *uobj, struct ib_pd *pd, enum ib_mw_type type,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_mw *mw = rdma_zalloc_drv_obj(pd->device, ib_mw);
	int ret;

	if (!mw)
		return -ENOMEM;
	mw->device = pd->device;
	mw->pd = pd;
	mw->type = type;
	mw->uobject = uobj;
	ret = pd->device->ops.alloc_mw(mw, &attrs->driver_udata);
	if (ret) {
		kfree(mw);
		return ret;
	}
	atomic_inc(&pd->usecnt);
	uobj->object = mw;
	return 0;
}

static int mw_alloc_in(struct ib_pd *pd, const struct ib_uverbs_alloc_mw *cmd,
		       struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_alloc_mw_resp resp = {};
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	struct ib_mw *mw;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_MW, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = mw_alloc(uobj, pd, cmd->mw_type, attrs);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	mw = uobj->object;
	resp.mw_handle = uobj->id;
	resp.rkey = mw->rkey;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int mw_alloc_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_alloc_mw cmd;
	struct ib_pd *pd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (cmd.mw_type != IB_MW_TYPE_1 && cmd.mw_type != IB_MW_TYPE_2)
		return -EINVAL;
	pd = uobj_get_obj_read(pd, UVERBS_OBJECT_PD, cmd.pd_handle, attrs);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ret = mw_alloc_in(pd, &cmd, attrs);
	uobj_put_obj_read(pd);
	return ret;
}

static int mw_dealloc_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_dealloc_mw cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	return ret ?: uobj_perform_destroy(UVERBS_OBJECT_MW, cmd.mw_handle, attrs);
}

static int mw_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	struct ib_mw *mw = uobj->object;
	int ret = mw->device->ops.dealloc_mw(mw);

	if (ret)
		return ret;
	atomic_dec(&mw->pd->usecnt);
	kfree(mw);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_MW_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_MW_HANDLE, MW));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_MW, UVERBS_TYPE_ALLOC_IDR(mw_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_MW_DESTROY));

const struct uapi_definition uverbs_mw_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_MW,
				      UAPI_DEF_OBJ_NEEDS_FN(dealloc_mw)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_MW,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_ALLOC_MW, mw_alloc_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_alloc_mw,
							   ib_uverbs_alloc_mw_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(alloc_mw)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DEALLOC_MW,
				     mw_dealloc_write,
				     UVERBS_REQ(ib_uverbs_dealloc_mw))),
	{}
};
