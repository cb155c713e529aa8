// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Flow steering rules of processes (ibv_create_flow(3)), and the actions that drivers
 * make for them.
 */
#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "objects/objects.h"

/* Default rules cannot: they get the packets that no other rule has trapped. */
static bool flow_type_may_pass_on(u32 type)
{
	return type != IB_FLOW_ATTR_ALL_DEFAULT && type != IB_FLOW_ATTR_MC_DEFAULT;
}

static int flow_check(const struct ib_uverbs_create_flow *cmd)
{
	const struct ib_uverbs_flow_attr *attr = &cmd->flow_attr;

	/* A rule may receive packets that are not for the process. */
	if (!capable(CAP_NET_RAW))
		return -EPERM;
	if (cmd->comp_mask || attr->reserved[0] || attr->reserved[1] ||
	    attr->type > IB_FLOW_ATTR_SNIFFER ||
	    attr->flags >= IB_FLOW_ATTR_FLAGS_RESERVED ||
	    attr->num_of_specs > IB_FLOW_SPEC_SUPPORT_LAYERS)
		return -EINVAL;
	if (attr->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP &&
	    !flow_type_may_pass_on(attr->type))
		return -EINVAL;
	return 0;
}

/* A rule that is being created, until its user object takes it over. */
struct flow_create {
	struct ib_uverbs_create_flow cmd;
	void *user_specs;
	struct ib_flow_attr *attr;
	struct ib_uflow_resources *resources;
};

static void flow_create_end(struct flow_create *create)
{
	kvfree(create->user_specs);
	kfree(create->attr);
	ib_uverbs_flow_resources_free(create->resources);
}

/* The caller must call flow_create_end(), on failure, too. */
static int flow_take_command(struct flow_create *create,
			     const struct uverbs_attr_bundle *attrs)
{
	const void __user *at;
	struct uverbs_tail tail;
	int ret;

	ret = uverbs_request_begin(attrs, &tail, &create->cmd, sizeof(create->cmd)) ?:
	      flow_check(&create->cmd);
	if (ret)
		return ret;
	at = uverbs_request_next_ptr(&tail, create->cmd.flow_attr.size);
	if (IS_ERR(at))
		return PTR_ERR(at);
	ret = uverbs_request_end(&tail);
	if (ret || !create->cmd.flow_attr.size)
		return ret;
	create->user_specs = vmemdup_user(at, create->cmd.flow_attr.size);
	if (IS_ERR(create->user_specs)) {
		ret = PTR_ERR(create->user_specs);
		create->user_specs = NULL;
	}
	return ret;
}

static int flow_convert(struct flow_create *create, struct uverbs_attr_bundle *attrs)
{
	const struct ib_uverbs_flow_attr *from = &create->cmd.flow_attr;
	struct uverbs_flow_specs specs = {
		.attrs = attrs,
		.from = create->user_specs,
		.end = create->user_specs + from->size,
	};
	struct ib_flow_attr *attr;

	attr = kzalloc(struct_size(attr, flows, from->num_of_specs),
		       GFP_KERNEL_ACCOUNT);
	create->attr = attr;
	create->resources = flow_resources_alloc(from->num_of_specs);
	if (!attr || !create->resources)
		return -ENOMEM;
	attr->type = from->type;
	attr->size = sizeof(*attr);
	attr->priority = from->priority;
	attr->flags = from->flags;
	attr->port = from->port;
	specs.to = attr;
	specs.resources = create->resources;
	return uverbs_flow_specs_convert(&specs, from->num_of_specs);
}

/* On success the user object takes over create->resources. */
static int flow_make(struct ib_uobject *uobj, struct flow_create *create,
		     struct ib_qp *qp, struct uverbs_attr_bundle *attrs)
{
	struct ib_flow *flow;

	if (qp->qp_type != IB_QPT_UD && qp->qp_type != IB_QPT_RAW_PACKET)
		return -EINVAL;
	flow = qp->device->ops.create_flow(qp, create->attr, &attrs->driver_udata);
	if (IS_ERR(flow))
		return PTR_ERR(flow);
	ib_set_flow(uobj, flow, qp, qp->device, create->resources);
	create->resources = NULL;
	return 0;
}

/* Also destroys rules that drivers' own methods made, which may have no QP. */
static int flow_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_uflow_object *obj = container_of(uobj, struct ib_uflow_object,
						   uobject);
	struct ib_flow *flow = uobj->object;
	struct ib_qp *qp = flow->qp;
	int ret;

	ret = flow->device->ops.destroy_flow(flow);	/* frees it */
	if (ret)
		return ret;
	if (qp)
		atomic_dec(&qp->usecnt);
	ib_uverbs_flow_resources_free(obj->resources);
	return 0;
}

static int flow_make_object(struct uverbs_attr_bundle *attrs,
			    struct flow_create *create, struct ib_qp *qp)
{
	struct ib_uverbs_create_flow_resp resp = {};
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_FLOW, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = flow_make(uobj, create, qp, attrs);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	resp.flow_handle = uobj->id;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int flow_create_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct flow_create create = {};
	struct ib_qp *qp;
	int ret;

	ret = flow_take_command(&create, attrs) ?: flow_convert(&create, attrs);
	if (ret)
		goto out;
	qp = uverbs_reads_object(&reads, UVERBS_OBJECT_QP, create.cmd.qp_handle);
	ret = IS_ERR(qp) ? PTR_ERR(qp) : flow_make_object(attrs, &create, qp);
	uverbs_reads_put(&reads);
out:
	flow_create_end(&create);
	return ret;
}

static int flow_destroy_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_destroy_flow cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (!ret && cmd.comp_mask)
		ret = -EINVAL;
	return ret ?: uobj_perform_destroy(UVERBS_OBJECT_FLOW, cmd.flow_handle, attrs);
}

/* Returns -EBUSY while rules use the action. */
static int flow_action_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			       struct uverbs_attr_bundle *attrs)
{
	struct ib_flow_action *action = uobj->object;

	if (atomic_read(&action->usecnt))
		return -EBUSY;
	return action->device->ops.destroy_flow_action(action);
}

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_FLOW_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_FLOW_HANDLE, FLOW));

DECLARE_UVERBS_NAMED_OBJECT(
	UVERBS_OBJECT_FLOW,
	UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uflow_object), flow_destroy),
	&UVERBS_METHOD(UVERBS_METHOD_FLOW_DESTROY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_FLOW_ACTION_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, FLOW_ACTION));

DECLARE_UVERBS_NAMED_OBJECT(
	UVERBS_OBJECT_FLOW_ACTION,
	UVERBS_TYPE_ALLOC_IDR(flow_action_destroy),
	&UVERBS_METHOD(UVERBS_METHOD_FLOW_ACTION_DESTROY));

const struct uapi_definition uverbs_flow_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_FLOW,
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_flow)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_FLOW,
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_CREATE_FLOW,
					flow_create_write,
					UVERBS_EX_REQ_RESP(ib_uverbs_create_flow,
							   flow_attr,
							   ib_uverbs_create_flow_resp,
							   flow_handle),
					UAPI_DEF_METHOD_NEEDS_FN(create_flow)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
					flow_destroy_write,
					UVERBS_EX_REQ(ib_uverbs_destroy_flow,
						      flow_handle))),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_FLOW_ACTION,
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_flow_action)),
	{}
};
