// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues (IBA vol. 1, 11.2.8).
 *
 * Completion events of a CQ go to its channel (comp_channel.c), its asynchronous events
 * to an asynchronous event descriptor (async.c).  The provider raises both in its
 * interrupt, and none after its destroy_cq has returned.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <kunit/visibility.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/opa_addr.h>
#include <rdma/uverbs_named_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <ibex/restrack.h>

#include "call/call.h"
#include "queues/queues.h"

/* The CQ that a process requests, by command or by ioctl. */
struct cq_request {
	struct ib_cq_init_attr attr;
	u64 user_handle;
	struct ib_uobject *channel;	/* or NULL */
	u16 event_fd;			/* attribute of the event descriptor */
};

/* ---- events, in any context ---- */

static void cq_completion(struct ib_cq *cq, void *context)
{
	uverbs_ucq_channel_notify(context);
}

static void cq_async_event(struct ib_event *event, void *context)
{
	struct ib_ucq_object *ucq = context;

	uverbs_event_object_notify(&ucq->base, event->event);
}

/* ---- making and destroying ---- */

static struct ib_cq *cq_create_hw(struct ib_ucq_object *ucq,
				  struct uverbs_attr_bundle *attrs,
				  const struct ib_cq_init_attr *attr)
{
	struct ib_device *ibdev = attrs->context->device;
	struct ib_cq *cq = rdma_zalloc_drv_obj(ibdev, ib_cq);
	int ret;

	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->device = ibdev;
	cq->uobject = ucq;
	cq->comp_handler = cq_completion;
	cq->event_handler = cq_async_event;
	cq->cq_context = ucq;
	cq->comp_vector = attr->comp_vector;
	rdma_restrack_new(&cq->res, RDMA_RESTRACK_CQ);
	rdma_restrack_set_name(&cq->res, NULL);
	ret = ibdev->ops.create_cq(cq, attr, ibex_driver_data(attrs));
	if (ret) {
		rdma_restrack_put(&cq->res);
		kfree(cq);
		return ERR_PTR(ret);
	}
	rdma_restrack_add(&cq->res);
	return cq;
}

/* On failure @ucq is as before, and the caller must abort it. */
static int cq_create(struct ib_ucq_object *ucq, struct uverbs_attr_bundle *attrs,
		     const struct cq_request *request)
{
	struct ib_cq *cq;
	int ret;

	if (request->attr.comp_vector >= attrs->context->device->num_comp_vectors)
		return -EINVAL;
	ucq->base.uobject.user_handle = request->user_handle;
	ret = uverbs_event_object_init(&ucq->base, attrs, request->event_fd);
	if (ret)
		return ret;
	uverbs_ucq_channel_init(ucq, request->channel);
	cq = cq_create_hw(ucq, attrs, &request->attr);
	if (IS_ERR(cq)) {
		uverbs_ucq_channel_exit(ucq);
		uverbs_event_object_exit(&ucq->base);
		return PTR_ERR(cq);
	}
	ucq->base.uobject.object = cq;
	return 0;
}

/* On success no event refers to the CQ any more. */
static int cq_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	struct ib_ucq_object *ucq = uverbs_ucq_object(uobj);
	int ret = ib_destroy_cq_user(uobj->object, &attrs->driver_udata);

	if (ret) {
		uverbs_event_object_refused(&ucq->base, why);
		return ret;
	}
	uverbs_ucq_channel_exit(ucq);
	uverbs_event_object_exit(&ucq->base);
	return 0;
}

/* The library waits until the process has acknowledged this many events. */
static struct ib_uverbs_destroy_cq_resp cq_reported(struct ib_uobject *uobj)
{
	struct ib_ucq_object *ucq = uverbs_ucq_object(uobj);

	return (struct ib_uverbs_destroy_cq_resp){
		.comp_events_reported = ucq->comp_events_reported,
		.async_events_reported = ucq->base.events_reported,
	};
}

/* Reads a command and looks up its CQ by @handle, a member of @cmd; ended by cq_put(). */
static struct ib_cq *cq_get(struct uverbs_attr_bundle *attrs, void *cmd, size_t size,
			    const u32 *handle)
{
	int ret = uverbs_request(attrs, cmd, size);

	if (ret)
		return ERR_PTR(ret);
	return uobj_get_obj_read(cq, UVERBS_OBJECT_CQ, *handle, attrs);
}

static void cq_put(struct ib_cq *cq)
{
	uobj_put_read(&cq->uobject->base.uobject);
}

/* ---- commands ---- */

/* Makes the CQ of a command; @fd is its completion channel, or negative for none. */
static struct ib_uobject *cq_command_create(struct uverbs_attr_bundle *attrs,
					    struct cq_request *request, s32 fd)
{
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	if (fd >= 0) {
		request->channel = ufd_get_read(UVERBS_OBJECT_COMP_CHANNEL, fd, attrs);
		if (IS_ERR(request->channel))
			return request->channel;
	}
	uobj = uobj_alloc(UVERBS_OBJECT_CQ, attrs, &ibdev);
	if (IS_ERR(uobj))
		goto out;
	ret = cq_create(uverbs_ucq_object(uobj), attrs, request);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		uobj = ERR_PTR(ret);
out:
	if (request->channel)
		uobj_put_read(request->channel);
	return uobj;
}

static struct ib_uverbs_create_cq_resp cq_created(struct ib_uobject *uobj)
{
	const struct ib_cq *cq = uobj->object;

	return (struct ib_uverbs_create_cq_resp){
		.cq_handle = uobj->id,
		.cqe = cq->cqe,
	};
}

static int cq_write_create(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_create_cq_resp resp;
	struct ib_uverbs_create_cq cmd;
	struct ib_uobject *uobj;
	struct cq_request request;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	request = (struct cq_request){
		.attr.cqe = cmd.cqe,
		.attr.comp_vector = cmd.comp_vector,
		.user_handle = cmd.user_handle,
		.event_fd = UVERBS_NO_ATTR,
	};
	uobj = cq_command_create(attrs, &request, cmd.comp_channel);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	resp = cq_created(uobj);
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int cq_write_create_ex(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_create_cq_resp resp = {};
	struct ib_uverbs_ex_create_cq cmd;
	struct ib_uobject *uobj;
	struct cq_request request;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (cmd.comp_mask || cmd.reserved)
		return -EINVAL;
	request = (struct cq_request){
		.attr.cqe = cmd.cqe,
		.attr.comp_vector = cmd.comp_vector,
		.attr.flags = cmd.flags,
		.user_handle = cmd.user_handle,
		.event_fd = UVERBS_NO_ATTR,
	};
	uobj = cq_command_create(attrs, &request, cmd.comp_channel);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	resp.base = cq_created(uobj);
	resp.response_length = min(sizeof(resp), attrs->ucore.outlen);
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int cq_end(struct uverbs_attr_bundle *attrs, u32 handle,
		  struct ib_uverbs_destroy_cq_resp *resp)
{
	struct ib_uobject *gone = uobj_get_destroy(UVERBS_OBJECT_CQ, handle, attrs);

	if (IS_ERR(gone))
		return PTR_ERR(gone);
	*resp = cq_reported(gone);
	uobj_put_destroy(gone);
	return 0;
}

static int cq_write_destroy(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_destroy_cq cmd;
	struct ib_uverbs_destroy_cq_resp resp;
	int ret = uverbs_request(attrs, &cmd, sizeof(cmd));

	if (!ret)
		ret = cq_end(attrs, cmd.cq_handle, &resp);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
}

static int cq_write_resize(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_resize_cq_resp resp = {};
	struct ib_uverbs_resize_cq cmd;
	struct ib_cq *cq = cq_get(attrs, &cmd, sizeof(cmd), &cmd.cq_handle);
	int ret;

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	/* The driver takes cqe as an int. */
	ret = cmd.cqe > INT_MAX ? -EINVAL :
	      cq->device->ops.resize_cq(cq, cmd.cqe, &attrs->driver_udata);
	resp.cqe = cq->cqe;
	cq_put(cq);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
}

/* Drivers set the port only for datagrams. */
static u16 cq_slid(struct ib_device *ibdev, const struct ib_wc *wc)
{
	if (rdma_is_port_valid(ibdev, wc->port_num) &&
	    rdma_cap_opa_ah(ibdev, wc->port_num))
		return OPA_TO_IB_UCAST_LID(wc->slid);
	return ib_lid_cpu16(wc->slid);
}

static int cq_copy_wc(struct ib_uverbs_wc __user *to, struct ib_device *ibdev,
		      const struct ib_wc *wc)
{
	struct ib_uverbs_wc uwc = {
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		/* Or the invalidated R_Key, which shares a union with it. */
		.ex.imm_data = wc->ex.imm_data,
		.qp_num = wc->qp->qp_num,
		.src_qp = wc->src_qp,
		.wc_flags = wc->wc_flags,
		.pkey_index = wc->pkey_index,
		.slid = cq_slid(ibdev, wc),
		.sl = wc->sl,
		.dlid_path_bits = wc->dlid_path_bits,
		.port_num = wc->port_num,
	};

	return copy_to_user(to, &uwc, sizeof(uwc)) ? -EFAULT : 0;
}

/* Copies up to @max completions to @to; returns their number, or an error. */
static int cq_poll_to_user(struct ib_cq *cq, struct ib_uverbs_wc __user *to, u32 max)
{
	struct ib_wc wc;
	u32 n;
	int ret;

	for (n = 0; n < max; n++) {
		/* Drivers set only the members that have a meaning for the opcode. */
		memset(&wc, 0, sizeof(wc));
		ret = ib_poll_cq(cq, 1, &wc);
		if (!ret)
			break;
		if (ret > 0)
			ret = cq_copy_wc(to + n, cq->device, &wc);
		if (ret)
			return ret;
	}
	return n;
}

static int cq_write_poll(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_poll_cq_resp __user *to = attrs->ucore.outbuf;
	struct ib_uverbs_poll_cq_resp resp = {};
	struct ib_uverbs_poll_cq cmd;
	struct ib_cq *cq = cq_get(attrs, &cmd, sizeof(cmd), &cmd.cq_handle);
	size_t room = (attrs->ucore.outlen - sizeof(resp)) / sizeof(*to->wc);
	int ret;

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	ret = cq_poll_to_user(cq, to->wc, min_t(size_t, cmd.ne, room));
	cq_put(cq);
	if (ret < 0)
		return ret;
	resp.count = ret;
	/* The completions after resp are written already. */
	attrs->ucore.outlen = sizeof(resp);
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int cq_write_req_notify(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_req_notify_cq cmd;
	struct ib_cq *cq = cq_get(attrs, &cmd, sizeof(cmd), &cmd.cq_handle);
	int ret;

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	ret = ib_req_notify_cq(cq, cmd.solicited_only ? IB_CQ_SOLICITED :
							IB_CQ_NEXT_COMP);
	cq_put(cq);
	return min(ret, 0);
}

/* The period is in microseconds. */
static int cq_modify(struct ib_cq *cq, u32 mask, const struct ib_uverbs_cq_moderation *to)
{
	if (!mask)
		return -EINVAL;
	if (mask != IB_CQ_MODERATE)
		return -EOPNOTSUPP;
	return rdma_set_cq_moderation(cq, to->cq_count, to->cq_period);
}

/* The command does not exist if the provider has no modify_cq. */
static int cq_write_modify(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_modify_cq cmd;
	struct ib_cq *cq = cq_get(attrs, &cmd, sizeof(cmd), &cmd.cq_handle);
	int ret;

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	ret = cmd.reserved ? -EINVAL : cq_modify(cq, cmd.attr_mask, &cmd.attr);
	cq_put(cq);
	return ret;
}

/* ---- ioctl ---- */

static int UVERBS_HANDLER(UVERBS_METHOD_CQ_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, UVERBS_ATTR_CREATE_CQ_HANDLE);
	struct cq_request request = { .event_fd = UVERBS_ATTR_CREATE_CQ_EVENT_FD };
	const struct ib_cq *cq;
	int ret;

	ret = uverbs_copy_from(&request.attr.cqe, attrs, UVERBS_ATTR_CREATE_CQ_CQE);
	if (!ret)
		ret = uverbs_copy_from(&request.attr.comp_vector, attrs,
				       UVERBS_ATTR_CREATE_CQ_COMP_VECTOR);
	if (!ret)
		ret = uverbs_copy_from(&request.user_handle, attrs,
				       UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
	if (!ret)
		ret = uverbs_get_flags32(&request.attr.flags, attrs,
					 UVERBS_ATTR_CREATE_CQ_FLAGS,
					 IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
					 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN);
	if (ret)
		return ret;
	if (uverbs_attr_is_valid(attrs, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL))
		request.channel = uverbs_attr_get_uobject(
			attrs, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
	ret = cq_create(uverbs_ucq_object(uobj), attrs, &request);
	if (ret)
		return ret;
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_CREATE_CQ_HANDLE);
	cq = uobj->object;
	return uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cq->cqe,
			      sizeof(cq->cqe));
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_CQ_CREATE,
	UVERBS_ATTR_PTR_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, UVERBS_ATTR_TYPE(u64),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UVERBS_ATTR_CREATE_CQ_CQE, UVERBS_ATTR_TYPE(u32),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, UVERBS_ATTR_TYPE(u32),
			   UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_CREATE_CQ_FLAGS,
			     enum ib_uverbs_ex_create_cq_flags, UA_OPTIONAL),
	UVERBS_ATTR_FD(UVERBS_ATTR_CREATE_CQ_EVENT_FD, UVERBS_OBJECT_ASYNC_EVENT,
		       UVERBS_ACCESS_READ, UA_OPTIONAL),
	UVERBS_ATTR_FD(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, UVERBS_OBJECT_COMP_CHANNEL,
		       UVERBS_ACCESS_READ, UA_OPTIONAL),
	UVERBS_ATTR_UHW(),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, UVERBS_ATTR_TYPE(u32),
			    UA_MANDATORY),
	UVERBS_MAKES(UVERBS_ATTR_CREATE_CQ_HANDLE, CQ));

static int UVERBS_HANDLER(UVERBS_METHOD_CQ_DESTROY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	struct ib_uverbs_destroy_cq_resp resp = cq_reported(uobj);

	return uverbs_copy_to(attrs, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_CQ_DESTROY,
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_DESTROY_CQ_RESP,
			    UVERBS_ATTR_TYPE(struct ib_uverbs_destroy_cq_resp),
			    UA_MANDATORY),
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_CQ_HANDLE, CQ));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_CQ,
			    UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_ucq_object),
						     cq_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_CQ_CREATE),
			    &UVERBS_METHOD(UVERBS_METHOD_CQ_DESTROY));

const struct uapi_definition uverbs_cq_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(
		UVERBS_OBJECT_CQ,
		UAPI_DEF_OBJ_NEEDS_FN(create_cq),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_CREATE_CQ, cq_write_create,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_create_cq,
							   ib_uverbs_create_cq_resp)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_RESIZE_CQ, cq_write_resize,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_resize_cq,
							   ib_uverbs_resize_cq_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(resize_cq)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DESTROY_CQ, cq_write_destroy,
				     UVERBS_REQ_RESP(ib_uverbs_destroy_cq,
						     ib_uverbs_destroy_cq_resp)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_POLL_CQ, cq_write_poll,
				     UVERBS_REQ_RESP(ib_uverbs_poll_cq,
						     ib_uverbs_poll_cq_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(poll_cq)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
				     cq_write_req_notify,
				     UVERBS_REQ(ib_uverbs_req_notify_cq),
				     UAPI_DEF_METHOD_NEEDS_FN(req_notify_cq)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_CREATE_CQ,
					cq_write_create_ex,
					UVERBS_EX_REQ_RESP(ib_uverbs_ex_create_cq,
							   reserved,
							   ib_uverbs_ex_create_cq_resp,
							   response_length)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ,
					cq_write_modify,
					UVERBS_EX_REQ(ib_uverbs_ex_modify_cq, reserved),
					UAPI_DEF_METHOD_NEEDS_FN(modify_cq))),
	{}
};
EXPORT_SYMBOL_IF_KUNIT(uverbs_cq_definitions);
