// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Work queues of processes: receive queues that QPs share by RSS (ibv_create_wq(3)). */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "queues/queues.h"

#define WQ_FLAGS							\
	(IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING |				\
	 IB_UVERBS_WQ_FLAGS_SCATTER_FCS |				\
	 IB_UVERBS_WQ_FLAGS_DELAY_DROP |				\
	 IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)

static struct ib_uwq_object *wq_object(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uwq_object, event.uobject);
}

static void wq_event(struct ib_event *event, void *context)
{
	struct ib_uwq_object *obj = context;

	uverbs_event_object_notify(&obj->event, event->event);
}

/* The driver allocates the WQ and sets number and state; the rest is set here. */
static struct ib_wq *wq_call_driver(struct ib_uwq_object *obj, struct ib_pd *pd,
				    struct ib_wq_init_attr *init,
				    struct uverbs_attr_bundle *attrs)
{
	struct ib_wq *wq = pd->device->ops.create_wq(pd, init, &attrs->driver_udata);

	if (IS_ERR(wq))
		return wq;
	wq->device = pd->device;
	wq->uobject = obj;
	wq->wq_context = init->wq_context;
	wq->event_handler = init->event_handler;
	wq->wq_type = init->wq_type;
	wq->pd = pd;
	wq->cq = init->cq;
	atomic_set(&wq->usecnt, 0);
	/* ib_destroy_wq_user() undoes these. */
	atomic_inc(&pd->usecnt);
	atomic_inc(&init->cq->usecnt);
	return wq;
}

/*
 * Makes the WQ of @obj; attribute @fd_attr names its event descriptor.  @init has
 * sizes, type, flags and CQ; the driver changes the sizes to what was granted.
 */
static int wq_make(struct ib_uwq_object *obj, struct ib_pd *pd,
		   struct ib_wq_init_attr *init, struct uverbs_attr_bundle *attrs,
		   u16 fd_attr)
{
	struct ib_wq *wq;
	int ret;

	if (init->wq_type != IB_WQT_RQ)
		return -EINVAL;
	mutex_init(&obj->lock);
	init->wq_context = obj;
	init->event_handler = wq_event;
	ret = uverbs_event_object_init(&obj->event, attrs, fd_attr);
	if (ret)
		return ret;
	wq = wq_call_driver(obj, pd, init, attrs);
	if (IS_ERR(wq)) {
		uverbs_event_object_exit(&obj->event);
		return PTR_ERR(wq);
	}
	obj->event.uobject.object = wq;
	return 0;
}

/* Returns -EBUSY while indirection tables use the WQ. */
static int wq_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	struct ib_uwq_object *obj = wq_object(uobj);
	int ret;

	ret = ib_destroy_wq_user(uobj->object, &attrs->driver_udata);
	if (ret) {
		uverbs_event_object_refused(&obj->event, why);
		return ret;
	}
	uverbs_event_object_exit(&obj->event);
	mutex_destroy(&obj->lock);
	return 0;
}

/* ---- by command ---- */

static int wq_make_object(struct uverbs_attr_bundle *attrs,
			  const struct ib_uverbs_ex_create_wq *cmd, struct ib_pd *pd,
			  struct ib_wq_init_attr *init)
{
	struct ib_uverbs_ex_create_wq_resp resp = {
		.response_length = uverbs_response_length(attrs, sizeof(resp)),
	};
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	struct ib_wq *wq;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_WQ, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uobj->user_handle = cmd->user_handle;
	ret = wq_make(wq_object(uobj), pd, init, attrs, UVERBS_NO_ATTR);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	wq = uobj->object;
	resp.wq_handle = uobj->id;
	resp.max_wr = init->max_wr;
	resp.max_sge = init->max_sge;
	resp.wqn = wq->wq_num;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int wq_create_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_uverbs_ex_create_wq cmd;
	struct ib_wq_init_attr init = {};
	struct ib_pd *pd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (cmd.comp_mask || cmd.create_flags & ~(u32)WQ_FLAGS)
		return -EOPNOTSUPP;
	pd = uverbs_reads_object(&reads, UVERBS_OBJECT_PD, cmd.pd_handle);
	init.cq = uverbs_reads_object(&reads, UVERBS_OBJECT_CQ, cmd.cq_handle);
	init.wq_type = cmd.wq_type;
	init.max_wr = cmd.max_wr;
	init.max_sge = cmd.max_sge;
	init.create_flags = cmd.create_flags;
	ret = PTR_ERR_OR_ZERO(pd) ?: PTR_ERR_OR_ZERO(init.cq) ?:
	      wq_make_object(attrs, &cmd, pd, &init);
	uverbs_reads_put(&reads);
	return ret;
}

/* Drivers use both states, whether or not the mask names them. */
static int wq_take_states(struct ib_wq_attr *attr, const struct ib_wq *wq,
			  const struct ib_uverbs_ex_modify_wq *cmd)
{
	u32 cur = cmd->attr_mask & IB_WQ_CUR_STATE ? cmd->curr_wq_state : wq->state;
	u32 next = cmd->attr_mask & IB_WQ_STATE ? cmd->wq_state : cur;

	if (cur > IB_WQS_ERR || next > IB_WQS_ERR)
		return -EINVAL;
	attr->curr_wq_state = cur;
	attr->wq_state = next;
	return 0;
}

static int wq_modify(struct ib_wq *wq, const struct ib_uverbs_ex_modify_wq *cmd,
		     struct ib_udata *udata)
{
	struct ib_wq_attr attr = {};
	int ret;

	if (cmd->attr_mask & IB_WQ_FLAGS) {
		if (cmd->flags_mask & ~(u32)WQ_FLAGS)
			return -EOPNOTSUPP;
		attr.flags = cmd->flags;
		attr.flags_mask = cmd->flags_mask;
	}
	mutex_lock(&wq->uobject->lock);
	ret = wq_take_states(&attr, wq, cmd);
	if (!ret)
		ret = wq->device->ops.modify_wq(wq, &attr, cmd->attr_mask, udata);
	mutex_unlock(&wq->uobject->lock);
	return ret;
}

static int wq_modify_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_uverbs_ex_modify_wq cmd;
	struct ib_wq *wq;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (!cmd.attr_mask ||
	    cmd.attr_mask & ~(u32)(IB_WQ_STATE | IB_WQ_CUR_STATE | IB_WQ_FLAGS))
		return -EINVAL;
	wq = uverbs_reads_object(&reads, UVERBS_OBJECT_WQ, cmd.wq_handle);
	if (IS_ERR(wq))
		return PTR_ERR(wq);
	ret = wq_modify(wq, &cmd, &attrs->driver_udata);
	uverbs_reads_put(&reads);
	return ret;
}

static int wq_destroy_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_destroy_wq_resp resp = {
		.response_length = uverbs_response_length(attrs, sizeof(resp)),
	};
	struct ib_uverbs_ex_destroy_wq cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (!ret && cmd.comp_mask)
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = uverbs_destroy_event_object(attrs, UVERBS_OBJECT_WQ, cmd.wq_handle,
						  &resp.events_reported);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
}

/* ---- by ioctl ---- */

static int wq_take_attrs(struct ib_wq_init_attr *init,
			 const struct uverbs_attr_bundle *attrs)
{
	u32 type;
	int ret;

	ret = uverbs_get_const(&type, attrs, UVERBS_ATTR_CREATE_WQ_TYPE) ?:
	      uverbs_copy_from(&init->max_wr, attrs, UVERBS_ATTR_CREATE_WQ_MAX_WR) ?:
	      uverbs_copy_from(&init->max_sge, attrs,
			       UVERBS_ATTR_CREATE_WQ_MAX_SGE) ?:
	      uverbs_get_flags32(&init->create_flags, attrs,
				 UVERBS_ATTR_CREATE_WQ_FLAGS, WQ_FLAGS);
	if (ret)
		return ret;
	init->wq_type = type;
	init->cq = uverbs_attr_get_obj(attrs, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE);
	return 0;
}

static int wq_give_attrs(const struct ib_wq *wq, const struct ib_wq_init_attr *init,
			 const struct uverbs_attr_bundle *attrs)
{
	return uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR,
			      &init->max_wr, sizeof(init->max_wr)) ?:
	       uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE,
			      &init->max_sge, sizeof(init->max_sge)) ?:
	       uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM,
			      &wq->wq_num, sizeof(wq->wq_num));
}

static int UVERBS_HANDLER(UVERBS_METHOD_WQ_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
							  UVERBS_ATTR_CREATE_WQ_HANDLE);
	struct ib_pd *pd = uverbs_attr_get_obj(attrs, UVERBS_ATTR_CREATE_WQ_PD_HANDLE);
	struct ib_wq_init_attr init = {};
	int ret;

	ret = uverbs_copy_from(&uobj->user_handle, attrs,
			       UVERBS_ATTR_CREATE_WQ_USER_HANDLE);
	if (!ret)
		ret = wq_take_attrs(&init, attrs);
	if (!ret)
		ret = wq_make(wq_object(uobj), pd, &init, attrs,
			      UVERBS_ATTR_CREATE_WQ_EVENT_FD);
	if (ret)
		return ret;
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_CREATE_WQ_HANDLE);
	return wq_give_attrs(uobj->object, &init, attrs);
}

static int UVERBS_HANDLER(UVERBS_METHOD_WQ_DESTROY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
							  UVERBS_ATTR_DESTROY_WQ_HANDLE);
	u32 reported = wq_object(uobj)->event.events_reported;

	return uverbs_copy_to(attrs, UVERBS_ATTR_DESTROY_WQ_RESP, &reported,
			      sizeof(reported));
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_WQ_CREATE,
	UVERBS_MAKES(UVERBS_ATTR_CREATE_WQ_HANDLE, WQ),
	UVERBS_USES(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, PD, UA_MANDATORY),
	UVERBS_USES(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, CQ, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, u64, UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_CREATE_WQ_TYPE, enum ib_uverbs_wq_type,
			     UA_MANDATORY),
	UVERBS_EVENT_FD(UVERBS_ATTR_CREATE_WQ_EVENT_FD),
	UVERBS_IN(UVERBS_ATTR_CREATE_WQ_MAX_WR, u32, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_CREATE_WQ_MAX_SGE, u32, UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_CREATE_WQ_FLAGS, enum ib_uverbs_wq_flags,
			     UA_OPTIONAL),
	UVERBS_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, u32, UA_MANDATORY),
	UVERBS_ATTR_UHW());

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_WQ_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_WQ_HANDLE, WQ),
	UVERBS_OUT(UVERBS_ATTR_DESTROY_WQ_RESP, u32, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	UVERBS_OBJECT_WQ,
	UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uwq_object), wq_destroy),
	&UVERBS_METHOD(UVERBS_METHOD_WQ_CREATE),
	&UVERBS_METHOD(UVERBS_METHOD_WQ_DESTROY));

const struct uapi_definition uverbs_wq_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_WQ,
				      UAPI_DEF_OBJ_NEEDS_FN(create_wq),
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_wq)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_WQ,
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_CREATE_WQ,
					wq_create_write,
					UVERBS_EX_REQ_RESP(ib_uverbs_ex_create_wq,
							   max_sge,
							   ib_uverbs_ex_create_wq_resp,
							   wqn)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_MODIFY_WQ,
					wq_modify_write,
					UVERBS_EX_REQ(ib_uverbs_ex_modify_wq,
						      curr_wq_state),
					UAPI_DEF_METHOD_NEEDS_FN(modify_wq)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_DESTROY_WQ,
					wq_destroy_write,
					UVERBS_EX_REQ_RESP(ib_uverbs_ex_destroy_wq,
							   wq_handle,
							   ib_uverbs_ex_destroy_wq_resp,
							   response_length))),
	{}
};
