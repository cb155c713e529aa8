// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shared receive queues of processes (IBA vol. 1, 10.2.9, 11.2.3;
 * ibv_create_srq_ex(3)): basic SRQs, those of an XRC domain, and those that match tags.
 */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "objects/objects.h"
#include "queues/queues.h"

/* The SRQ that a process requests, by command or ioctl; srq_check() checks the type. */
struct srq_create {
	struct ib_usrq_object *obj;
	u32 type;
	struct ib_pd *pd;
	struct ib_cq *cq;		/* NULL for basic SRQs */
	struct ib_uobject *xrcd;	/* NULL unless an XRC SRQ */
	u32 max_num_tags;
	struct ib_srq_attr attr;	/* changed to what was granted */
};

static struct ib_usrq_object *srq_object(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_usrq_object, event.uobject);
}

static bool srq_type_valid(u32 type)
{
	return type == IB_SRQT_BASIC || type == IB_SRQT_XRC || type == IB_SRQT_TM;
}

/* An SRQ must have the objects that its type needs, and no others. */
static int srq_check(const struct srq_create *create)
{
	bool is_xrc = create->type == IB_SRQT_XRC;

	if (!srq_type_valid(create->type) ||
	    (create->cq && !ib_srq_has_cq(create->type)) ||
	    (create->xrcd && !is_xrc) ||
	    (create->max_num_tags && create->type != IB_SRQT_TM))
		return -EINVAL;
	if ((ib_srq_has_cq(create->type) && !create->cq) || (is_xrc && !create->xrcd))
		return -ENOENT;
	return 0;
}

static void srq_event(struct ib_event *event, void *context)
{
	struct ib_usrq_object *obj = context;

	uverbs_event_object_notify(&obj->event, event->event);
}

static struct ib_srq *srq_call_driver(struct srq_create *create,
				      struct uverbs_attr_bundle *attrs)
{
	struct ib_srq_init_attr init = {
		.event_handler = srq_event,
		.srq_context = create->obj,
		.attr = create->attr,
		.srq_type = create->type,
		.ext.cq = create->cq,
	};
	struct ib_srq *srq;

	if (create->type == IB_SRQT_XRC)
		init.ext.xrc.xrcd = create->xrcd->object;
	else if (create->type == IB_SRQT_TM)
		init.ext.tag_matching.max_num_tags = create->max_num_tags;
	srq = ib_create_srq_user(create->pd, &init, create->obj,
				 &attrs->driver_udata);
	create->attr = init.attr;
	return srq;
}

/* Makes the SRQ of create->obj; attribute @fd_attr names its event descriptor. */
static int srq_make(struct srq_create *create, struct uverbs_attr_bundle *attrs,
		    u16 fd_attr)
{
	struct ib_usrq_object *obj = create->obj;
	struct ib_srq *srq;
	int ret;

	ret = uverbs_event_object_init(&obj->event, attrs, fd_attr);
	if (ret)
		return ret;
	srq = srq_call_driver(create, attrs);
	if (IS_ERR(srq)) {
		uverbs_event_object_exit(&obj->event);
		return PTR_ERR(srq);
	}
	if (create->xrcd) {
		obj->uxrcd = container_of(create->xrcd, struct ib_uxrcd_object,
					  uobject);
		atomic_inc(&obj->uxrcd->refcnt);
	}
	obj->event.uobject.object = srq;
	return 0;
}

/* Returns -EBUSY while QPs use the SRQ. */
static int srq_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs)
{
	struct ib_usrq_object *obj = srq_object(uobj);
	int ret;

	ret = ib_destroy_srq_user(uobj->object, &attrs->driver_udata);
	if (ret) {
		uverbs_event_object_refused(&obj->event, why);
		return ret;
	}
	if (obj->uxrcd)
		atomic_dec(&obj->uxrcd->refcnt);
	uverbs_event_object_exit(&obj->event);
	return 0;
}

/* ---- by command ---- */

static int srq_find_parts(struct uverbs_reads *reads, struct srq_create *create,
			  const struct ib_uverbs_create_xsrq *cmd)
{
	if (!srq_type_valid(cmd->srq_type))
		return -EOPNOTSUPP;
	create->pd = uverbs_reads_object(reads, UVERBS_OBJECT_PD, cmd->pd_handle);
	if (IS_ERR(create->pd))
		return PTR_ERR(create->pd);
	if (cmd->srq_type == IB_SRQT_XRC) {
		create->xrcd = uverbs_reads_get(reads, UVERBS_OBJECT_XRCD,
						cmd->xrcd_handle);
		if (IS_ERR(create->xrcd))
			return -EINVAL;
	}
	if (ib_srq_has_cq(cmd->srq_type)) {
		create->cq = uverbs_reads_object(reads, UVERBS_OBJECT_CQ,
						 cmd->cq_handle);
		if (IS_ERR(create->cq))
			return PTR_ERR(create->cq);
	}
	return 0;
}

static int srq_make_object(struct srq_create *create,
			   struct uverbs_attr_bundle *attrs, u64 user_handle)
{
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_SRQ, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uobj->user_handle = user_handle;
	create->obj = srq_object(uobj);
	ret = srq_make(create, attrs, UVERBS_NO_ATTR);
	return uverbs_command_made(uobj, ret, attrs);
}

static u32 srq_number(const struct srq_create *create)
{
	const struct ib_srq *srq = create->obj->event.uobject.object;

	return create->type == IB_SRQT_XRC ? srq->ext.xrc.srq_num : 0;
}

static int srq_create_command(struct uverbs_attr_bundle *attrs,
			      const struct ib_uverbs_create_xsrq *cmd)
{
	struct ib_uverbs_create_srq_resp resp = {};
	struct uverbs_reads reads = { .attrs = attrs };
	struct srq_create create = {
		.type = cmd->srq_type,
		.max_num_tags = cmd->srq_type == IB_SRQT_TM ? cmd->max_num_tags : 0,
		.attr.max_wr = cmd->max_wr,
		.attr.max_sge = cmd->max_sge,
		.attr.srq_limit = cmd->srq_limit,
	};
	int ret;

	ret = srq_find_parts(&reads, &create, cmd);
	if (!ret)
		ret = srq_check(&create);
	if (!ret)
		ret = srq_make_object(&create, attrs, cmd->user_handle);
	if (!ret) {
		resp.srq_handle = create.obj->event.uobject.id;
		resp.max_wr = create.attr.max_wr;
		resp.max_sge = create.attr.max_sge;
		resp.srqn = srq_number(&create);
		ret = uverbs_response(attrs, &resp, sizeof(resp));
	}
	uverbs_reads_put(&reads);
	return ret;
}

static int srq_create_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_create_xsrq x = { .srq_type = IB_SRQT_BASIC };
	struct ib_uverbs_create_srq cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	x.user_handle = cmd.user_handle;
	x.pd_handle = cmd.pd_handle;
	x.max_wr = cmd.max_wr;
	x.max_sge = cmd.max_sge;
	x.srq_limit = cmd.srq_limit;
	return srq_create_command(attrs, &x);
}

static int srq_create_x_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_create_xsrq cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	return ret ?: srq_create_command(attrs, &cmd);
}

static int srq_modify(struct ib_srq *srq, const struct ib_uverbs_modify_srq *cmd,
		      struct ib_udata *udata)
{
	struct ib_srq_attr attr = {
		.max_wr = cmd->max_wr,
		.srq_limit = cmd->srq_limit,
	};

	if (cmd->attr_mask & ~(u32)(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	return srq->device->ops.modify_srq(srq, &attr, cmd->attr_mask, udata);
}

static int srq_modify_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_uverbs_modify_srq cmd;
	struct ib_srq *srq;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	srq = uverbs_reads_object(&reads, UVERBS_OBJECT_SRQ, cmd.srq_handle);
	ret = IS_ERR(srq) ? PTR_ERR(srq) :
			    srq_modify(srq, &cmd, &attrs->driver_udata);
	uverbs_reads_put(&reads);
	return ret;
}

static int srq_query_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_uverbs_query_srq_resp resp = {};
	struct ib_uverbs_query_srq cmd;
	struct ib_srq_attr attr = {};
	struct ib_srq *srq;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	srq = uverbs_reads_object(&reads, UVERBS_OBJECT_SRQ, cmd.srq_handle);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	ret = ib_query_srq(srq, &attr);
	uverbs_reads_put(&reads);
	if (ret)
		return ret;
	resp.max_wr = attr.max_wr;
	resp.max_sge = attr.max_sge;
	resp.srq_limit = attr.srq_limit;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int srq_destroy_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_destroy_srq_resp resp;
	struct ib_uverbs_destroy_srq cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (!ret)
		ret = uverbs_destroy_event_object(attrs, UVERBS_OBJECT_SRQ,
						  cmd.srq_handle,
						  &resp.events_reported);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
}

/* ---- by ioctl ---- */

static int srq_take_attrs(struct srq_create *create,
			  const struct uverbs_attr_bundle *attrs)
{
	struct ib_cq *cq = uverbs_attr_get_obj(attrs, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
	struct ib_uobject *xrcd =
		uverbs_attr_get_uobject(attrs, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE);
	int ret;

	create->pd = uverbs_attr_get_obj(attrs, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
	create->cq = IS_ERR(cq) ? NULL : cq;
	create->xrcd = IS_ERR(xrcd) ? NULL : xrcd;
	ret = uverbs_copy_from(&create->attr.max_wr, attrs,
			       UVERBS_ATTR_CREATE_SRQ_MAX_WR) ?:
	      uverbs_copy_from(&create->attr.max_sge, attrs,
			       UVERBS_ATTR_CREATE_SRQ_MAX_SGE) ?:
	      uverbs_copy_from(&create->attr.srq_limit, attrs,
			       UVERBS_ATTR_CREATE_SRQ_LIMIT) ?:
	      uverbs_get_const(&create->type, attrs, UVERBS_ATTR_CREATE_SRQ_TYPE);
	if (ret)
		return ret;
	ret = uverbs_copy_from(&create->max_num_tags, attrs,
			       UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS);
	return IS_UVERBS_COPY_ERR(ret) ? ret : 0;
}

static int srq_give_attrs(const struct srq_create *create,
			  const struct uverbs_attr_bundle *attrs)
{
	u32 num = srq_number(create);
	int ret;

	ret = uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR,
			     &create->attr.max_wr, sizeof(create->attr.max_wr)) ?:
	      uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
			     &create->attr.max_sge, sizeof(create->attr.max_sge));
	if (ret || create->type != IB_SRQT_XRC)
		return ret;
	return uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &num,
			      sizeof(num));
}

static int UVERBS_HANDLER(UVERBS_METHOD_SRQ_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
							  UVERBS_ATTR_CREATE_SRQ_HANDLE);
	struct srq_create create = { .obj = srq_object(uobj) };
	int ret;

	ret = uverbs_copy_from(&uobj->user_handle, attrs,
			       UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
	if (!ret)
		ret = srq_take_attrs(&create, attrs);
	if (!ret)
		ret = srq_check(&create);
	if (!ret)
		ret = srq_make(&create, attrs, UVERBS_ATTR_CREATE_SRQ_EVENT_FD);
	if (ret)
		return ret;
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_CREATE_SRQ_HANDLE);
	return srq_give_attrs(&create, attrs);
}

static int UVERBS_HANDLER(UVERBS_METHOD_SRQ_DESTROY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
							  UVERBS_ATTR_DESTROY_SRQ_HANDLE);
	struct ib_uverbs_destroy_srq_resp resp = {
		.events_reported = srq_object(uobj)->event.events_reported,
	};

	return uverbs_copy_to(attrs, UVERBS_ATTR_DESTROY_SRQ_RESP, &resp,
			      sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_SRQ_CREATE,
	UVERBS_MAKES(UVERBS_ATTR_CREATE_SRQ_HANDLE, SRQ),
	UVERBS_USES(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, PD, UA_MANDATORY),
	UVERBS_USES(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, XRCD, UA_OPTIONAL),
	UVERBS_USES(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, CQ, UA_OPTIONAL),
	UVERBS_IN(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, u64, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_CREATE_SRQ_MAX_WR, u32, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, u32, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_CREATE_SRQ_LIMIT, u32, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, u32, UA_OPTIONAL),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_CREATE_SRQ_TYPE, enum ib_uverbs_srq_type,
			     UA_MANDATORY),
	UVERBS_EVENT_FD(UVERBS_ATTR_CREATE_SRQ_EVENT_FD),
	UVERBS_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, u32, UA_OPTIONAL),
	UVERBS_ATTR_UHW());

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_SRQ_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_SRQ_HANDLE, SRQ),
	UVERBS_OUT(UVERBS_ATTR_DESTROY_SRQ_RESP, struct ib_uverbs_destroy_srq_resp, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	UVERBS_OBJECT_SRQ,
	UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_usrq_object), srq_destroy),
	&UVERBS_METHOD(UVERBS_METHOD_SRQ_CREATE),
	&UVERBS_METHOD(UVERBS_METHOD_SRQ_DESTROY));

const struct uapi_definition uverbs_srq_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_SRQ,
				      UAPI_DEF_OBJ_NEEDS_FN(create_srq),
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_srq)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_SRQ,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_CREATE_SRQ, srq_create_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_create_srq,
							   ib_uverbs_create_srq_resp)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_CREATE_XSRQ, srq_create_x_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_create_xsrq,
							   ib_uverbs_create_srq_resp)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_MODIFY_SRQ, srq_modify_write,
				     UVERBS_REQ_UDATA(ib_uverbs_modify_srq),
				     UAPI_DEF_METHOD_NEEDS_FN(modify_srq)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_QUERY_SRQ, srq_query_write,
				     UVERBS_REQ_RESP(ib_uverbs_query_srq,
						     ib_uverbs_query_srq_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(query_srq)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DESTROY_SRQ, srq_destroy_write,
				     UVERBS_REQ_RESP(ib_uverbs_destroy_srq,
						     ib_uverbs_destroy_srq_resp))),
	{}
};
