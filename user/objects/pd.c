// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Protection domains of processes (IBA vol. 1, 10.2.3). */
#include <linux/slab.h>
#include <ibex/restrack.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"

static int pd_alloc(struct ib_uobject *uobj, struct ib_device *ibdev,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *pd = rdma_zalloc_drv_obj(ibdev, ib_pd);
	int ret;

	if (!pd)
		return -ENOMEM;
	pd->device = ibdev;
	pd->uobject = uobj;
	rdma_restrack_new(&pd->res, RDMA_RESTRACK_PD);
	rdma_restrack_set_name(&pd->res, NULL);
	ret = ibdev->ops.alloc_pd(pd, &attrs->driver_udata);
	if (ret) {
		rdma_restrack_put(&pd->res);
		kfree(pd);
		return ret;
	}
	rdma_restrack_add(&pd->res);
	uobj->object = pd;
	return 0;
}

static int pd_alloc_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ib_uverbs_alloc_pd cmd;
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	uobj = uobj_alloc(UVERBS_OBJECT_PD, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = pd_alloc(uobj, ibdev, attrs);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	resp.pd_handle = uobj->id;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int pd_dealloc_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_dealloc_pd cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	return ret ?: uobj_perform_destroy(UVERBS_OBJECT_PD, cmd.pd_handle, attrs);
}

/* Returns -EBUSY while objects that were made in the PD exist. */
static int pd_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return ib_dealloc_pd_user(uobj->object, &attrs->driver_udata);
}

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_PD_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_PD_HANDLE, PD));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_PD, UVERBS_TYPE_ALLOC_IDR(pd_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_PD_DESTROY));

const struct uapi_definition uverbs_pd_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_PD,
				      UAPI_DEF_OBJ_NEEDS_FN(dealloc_pd)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_PD,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_ALLOC_PD, pd_alloc_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_alloc_pd,
							   ib_uverbs_alloc_pd_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(alloc_pd)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DEALLOC_PD,
				     pd_dealloc_write,
				     UVERBS_REQ(ib_uverbs_dealloc_pd))),
	{}
};
