// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of processes: their user objects, events and destruction (IBA vol. 1,
 * 11.2.4.4).
 */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "objects/objects.h"
#include "queues/queues.h"

/* @context: the user object, whose memory outlives the QP. */
void uverbs_qp_event(struct ib_event *event, void *context)
{
	struct ib_uqp_object *obj = context;

	uverbs_event_object_notify(&obj->event, event->event);
}

void uverbs_qp_object_init(struct ib_uqp_object *obj, struct ib_uobject *xrcd)
{
	mutex_init(&obj->lock);
	INIT_LIST_HEAD(&obj->mcast);
	if (xrcd)
		obj->uxrcd = container_of(xrcd, struct ib_uxrcd_object, uobject);
}

/* Gives @obj the QP that the driver made: from now on qp_destroy() destroys it. */
void uverbs_qp_object_set(struct ib_uqp_object *obj, struct ib_qp *qp)
{
	if (obj->uxrcd)
		atomic_inc(&obj->uxrcd->refcnt);
	obj->event.uobject.object = qp;
}

struct ib_uqp_object *uverbs_qp_object(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uqp_object, event.uobject);
}

void uverbs_qp_fill_resp(struct ib_uverbs_create_qp_resp *resp,
			 const struct ib_uobject *uobj, const struct ib_qp_cap *cap)
{
	const struct ib_qp *qp = uobj->object;

	resp->qp_handle = uobj->id;
	resp->qpn = qp->qp_num;
	resp->max_send_wr = cap->max_send_wr;
	resp->max_recv_wr = cap->max_recv_wr;
	resp->max_send_sge = cap->max_send_sge;
	resp->max_recv_sge = cap->max_recv_sge;
	resp->max_inline_data = cap->max_inline_data;
}

/*
 * A process must detach its QP from multicast groups before it destroys the QP; in
 * teardown this does it for the process.  On success no event refers to the object any
 * more: (1) the driver raises none after its destroy_qp; (2) closing a target QP's
 * handle waits for events in progress.
 */
static int qp_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	struct ib_uqp_object *obj = uverbs_qp_object(uobj);
	struct ib_qp *qp = uobj->object;
	int ret;

	if (why != RDMA_REMOVE_DESTROY)
		ret = uverbs_mcast_detach_all(obj, qp);
	else
		ret = list_empty(&obj->mcast) ? 0 : -EBUSY;
	if (!ret)
		ret = ib_destroy_qp_user(qp, &attrs->driver_udata);
	if (ret) {
		uverbs_event_object_refused(&obj->event, why);
		return ret;
	}
	if (obj->uxrcd)
		atomic_dec(&obj->uxrcd->refcnt);
	uverbs_event_object_exit(&obj->event);
	mutex_destroy(&obj->lock);
	return 0;
}

static int qp_destroy_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct ib_uverbs_destroy_qp cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (!ret)
		ret = uverbs_destroy_event_object(attrs, UVERBS_OBJECT_QP,
						  cmd.qp_handle,
						  &resp.events_reported);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
}

/* The dispatcher has destroyed the QP already. */
static int UVERBS_HANDLER(UVERBS_METHOD_QP_DESTROY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
							  UVERBS_ATTR_DESTROY_QP_HANDLE);
	struct ib_uverbs_destroy_qp_resp resp = {
		.events_reported = uverbs_qp_object(uobj)->event.events_reported,
	};

	return uverbs_copy_to(attrs, UVERBS_ATTR_DESTROY_QP_RESP, &resp,
			      sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_QP_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_QP_HANDLE, QP),
	UVERBS_OUT(UVERBS_ATTR_DESTROY_QP_RESP, struct ib_uverbs_destroy_qp_resp, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	UVERBS_OBJECT_QP,
	UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uqp_object), qp_destroy),
	&UVERBS_METHOD(UVERBS_METHOD_QP_DESTROY));

const struct uapi_definition uverbs_qp_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_QP,
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_qp)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_QP,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DESTROY_QP, qp_destroy_write,
				     UVERBS_REQ_RESP(ib_uverbs_destroy_qp,
						     ib_uverbs_destroy_qp_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(destroy_qp))),
	{}
};
