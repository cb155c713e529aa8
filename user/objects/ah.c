// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles of processes (IBA vol. 1, 10.2.2.2). */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"

/* The caller checked that the port is one of @ibdev. */
static void ah_attr_from_user(struct ib_device *ibdev, struct rdma_ah_attr *to,
			      struct ib_uverbs_ah_attr *from)
{
	memset(to, 0, sizeof(*to));
	to->type = rdma_ah_find_type(ibdev, from->port_num);
	rdma_ah_set_make_grd(to, false);
	rdma_ah_set_port_num(to, from->port_num);
	rdma_ah_set_dlid(to, from->dlid);
	rdma_ah_set_path_bits(to, from->src_path_bits);
	rdma_ah_set_sl(to, from->sl);
	rdma_ah_set_static_rate(to, from->static_rate);
	if (!from->is_global)
		return;
	rdma_ah_set_grh(to, NULL, from->grh.flow_label, from->grh.sgid_index,
			from->grh.hop_limit, from->grh.traffic_class);
	rdma_ah_set_dgid_raw(to, from->grh.dgid);
}

static int ah_create(struct ib_uobject *uobj, struct ib_pd *pd,
		     struct ib_uverbs_create_ah *cmd, struct uverbs_attr_bundle *attrs)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	ah_attr_from_user(pd->device, &attr, &cmd->attr);
	ah = rdma_create_user_ah(pd, &attr, &attrs->driver_udata);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ah->uobject = uobj;
	uobj->user_handle = cmd->user_handle;
	uobj->object = ah;
	return 0;
}

static int ah_create_in(struct ib_pd *pd, struct ib_uverbs_create_ah *cmd,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_create_ah_resp resp = {};
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_AH, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = ah_create(uobj, pd, cmd, attrs);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	resp.ah_handle = uobj->id;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int ah_create_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_create_ah cmd;
	struct ib_pd *pd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	pd = uobj_get_obj_read(pd, UVERBS_OBJECT_PD, cmd.pd_handle, attrs);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ret = -EINVAL;
	if (rdma_is_port_valid(pd->device, cmd.attr.port_num))
		ret = ah_create_in(pd, &cmd, attrs);
	uobj_put_obj_read(pd);
	return ret;
}

static int ah_destroy_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_destroy_ah cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	return ret ?: uobj_perform_destroy(UVERBS_OBJECT_AH, cmd.ah_handle, attrs);
}

static int ah_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return rdma_destroy_ah_user(uobj->object, RDMA_DESTROY_AH_SLEEPABLE,
				    &attrs->driver_udata);
}

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_AH_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_AH_HANDLE, AH));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_AH, UVERBS_TYPE_ALLOC_IDR(ah_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_AH_DESTROY));

const struct uapi_definition uverbs_ah_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_AH,
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_ah)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_AH,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_CREATE_AH, ah_create_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_create_ah,
							   ib_uverbs_create_ah_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(create_user_ah)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DESTROY_AH,
				     ah_destroy_write,
				     UVERBS_REQ(ib_uverbs_destroy_ah))),
	{}
};
