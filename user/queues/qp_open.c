// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of processes: handles of the target QPs of an XRC domain (IBA vol. 1, annex
 * A14; ibv_open_qp(3)).
 */
#include <rdma/uverbs_std_types.h>

#include "call/call.h"
#include "queues/queues.h"

/* Makes a handle of a target QP, which another process with the domain may have made. */
static int qp_open(struct ib_uqp_object *obj, struct uverbs_attr_bundle *attrs,
		   struct ib_xrcd *xrcd, const struct ib_uverbs_open_qp *cmd)
{
	struct ib_qp_open_attr attr = {
		.event_handler = uverbs_qp_event,
		.qp_context = obj,
		.qp_num = cmd->qpn,
		.qp_type = cmd->qp_type,
	};
	struct ib_qp *qp;
	int ret;

	ret = uverbs_event_object_init(&obj->event, attrs, UVERBS_NO_ATTR);
	if (ret)
		return ret;
	qp = ib_open_qp(xrcd, &attr);
	if (IS_ERR(qp)) {
		uverbs_event_object_exit(&obj->event);
		return PTR_ERR(qp);
	}
	qp->uobject = obj;
	uverbs_qp_object_set(obj, qp);
	return 0;
}

static int qp_open_object(struct uverbs_attr_bundle *attrs, struct ib_uobject *xrcd,
			  const struct ib_uverbs_open_qp *cmd)
{
	static const struct ib_qp_cap cap;
	struct ib_uverbs_create_qp_resp resp = {};
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_QP, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uobj->user_handle = cmd->user_handle;
	uverbs_qp_object_init(uverbs_qp_object(uobj), xrcd);
	ret = qp_open(uverbs_qp_object(uobj), attrs, xrcd->object, cmd);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	uverbs_qp_fill_resp(&resp, uobj, &cap);
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int qp_open_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_uverbs_open_qp cmd;
	struct ib_uobject *xrcd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	xrcd = uverbs_reads_get(&reads, UVERBS_OBJECT_XRCD, cmd.pd_handle);
	if (IS_ERR(xrcd))
		return PTR_ERR(xrcd);
	ret = qp_open_object(attrs, xrcd, &cmd);
	uverbs_reads_put(&reads);
	return ret;
}

const struct uapi_definition uverbs_qp_open_definitions[] = {
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_QP,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_OPEN_QP, qp_open_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_open_qp,
							   ib_uverbs_create_qp_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(alloc_xrcd))),
	{}
};
