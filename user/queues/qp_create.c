// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of processes: making and destroying them (IBA vol. 1, 11.2.4.1 and
 * 11.2.4.4; annex A14; ibv_create_qp_ex(3)).
 *
 * What a QP is made of depends on its type: the table of rules says it, for commands,
 * which then look that up, and for the ioctl, which is checked against it.
 */
#include <linux/capability.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>
#include <ibex/qp.h>

#include "call/call.h"
#include "objects/objects.h"
#include "queues/queues.h"

enum qp_part {
	QP_PD, QP_XRCD, QP_SEND_CQ, QP_RECV_CQ, QP_SRQ, QP_IND_TBL, QP_PARTS
};

static const struct {
	u16 type;
	u16 attr;
} qp_parts[QP_PARTS] = {
	[QP_PD]		= { UVERBS_OBJECT_PD, UVERBS_ATTR_CREATE_QP_PD_HANDLE },
	[QP_XRCD]	= { UVERBS_OBJECT_XRCD, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE },
	[QP_SEND_CQ]	= { UVERBS_OBJECT_CQ, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE },
	[QP_RECV_CQ]	= { UVERBS_OBJECT_CQ, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE },
	[QP_SRQ]	= { UVERBS_OBJECT_SRQ, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE },
	[QP_IND_TBL]	= { UVERBS_OBJECT_RWQ_IND_TBL,
			    UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE },
};

/* By part, one bit each. */
struct qp_rule {
	u8 needs;
	u8 allows;	/* beyond that */
};

static const struct qp_rule qp_ordinary = {
	.needs = BIT(QP_PD) | BIT(QP_SEND_CQ) | BIT(QP_RECV_CQ),
	.allows = BIT(QP_SRQ),
};

/* Its receive queues are those of the table; it may send, too. */
static const struct qp_rule qp_rss = {
	.needs = BIT(QP_PD) | BIT(QP_IND_TBL),
	.allows = BIT(QP_SEND_CQ),
};

/* Has no receive queue. */
static const struct qp_rule qp_initiator = {
	.needs = BIT(QP_PD) | BIT(QP_SEND_CQ),
};

/* Each request names its SRQ, and that has PD and CQ. */
static const struct qp_rule qp_target = {
	.needs = BIT(QP_XRCD),
};

/* What a process asks for, in whatever form. */
struct qp_create {
	struct ib_uqp_object *obj;
	struct ib_uobject *parts[QP_PARTS];	/* locked for reading, or NULL */
	struct ib_qp_init_attr attr;		/* but for the parts */
};

/* NULL for types that processes cannot have. */
static const struct qp_rule *qp_rule(u32 type, bool rss)
{
	switch (type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_RAW_PACKET:
	case IB_QPT_DRIVER:
		return rss ? &qp_rss : &qp_ordinary;
	case IB_QPT_XRC_INI:
		return rss ? NULL : &qp_initiator;
	case IB_QPT_XRC_TGT:
		return rss ? NULL : &qp_target;
	default:
		return NULL;
	}
}

static void *qp_part(const struct qp_create *create, enum qp_part part)
{
	return create->parts[part] ? create->parts[part]->object : NULL;
}

static int qp_check_parts(const struct qp_create *create)
{
	const struct ib_qp_cap *cap = &create->attr.cap;
	const struct ib_srq *srq = qp_part(create, QP_SRQ);
	const struct qp_rule *rule;
	unsigned int part, has = 0;

	for (part = 0; part < QP_PARTS; part++)
		if (create->parts[part])
			has |= BIT(part);
	rule = qp_rule(create->attr.qp_type, has & BIT(QP_IND_TBL));
	if (!rule || rule->needs & ~has || has & ~(rule->needs | rule->allows))
		return -EINVAL;
	/* Requests reach an SRQ of XRC by its number alone. */
	if (srq && srq->srq_type == IB_SRQT_XRC)
		return -EINVAL;
	if (has & BIT(QP_IND_TBL) &&
	    (cap->max_recv_wr || cap->max_recv_sge ||
	     (cap->max_send_wr && !(has & BIT(QP_SEND_CQ)))))
		return -EINVAL;
	return 0;
}

/* What sees or forges packets of others is for who may have a raw socket. */
static int qp_check_capable(const struct ib_qp_init_attr *attr)
{
	if (attr->qp_type != IB_QPT_RAW_PACKET &&
	    !(attr->create_flags & IB_QP_CREATE_SOURCE_QPN))
		return 0;
	return capable(CAP_NET_RAW) ? 0 : -EPERM;
}

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

/* The object has what the driver made: from now on it is destroyed by qp_destroy(). */
void uverbs_qp_object_set(struct ib_uqp_object *obj, struct ib_qp *qp)
{
	if (obj->uxrcd)
		atomic_inc(&obj->uxrcd->refcnt);
	obj->event.uobject.object = qp;
}

static void qp_fill_attr(struct qp_create *create)
{
	struct ib_qp_init_attr *attr = &create->attr;

	attr->event_handler = uverbs_qp_event;
	attr->qp_context = create->obj;
	attr->send_cq = qp_part(create, QP_SEND_CQ);
	attr->recv_cq = qp_part(create, QP_RECV_CQ);
	attr->srq = qp_part(create, QP_SRQ);
	attr->xrcd = qp_part(create, QP_XRCD);
	attr->rwq_ind_tbl = qp_part(create, QP_IND_TBL);
	if (attr->qp_type == IB_QPT_XRC_INI) {
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
	}
}

/*
 * Makes the QP of create->obj, whose events go to the descriptor that attribute
 * @fd_attr names.  On success create->attr.cap says what was granted.
 */
static int qp_make(struct qp_create *create, struct uverbs_attr_bundle *attrs,
		   u16 fd_attr)
{
	struct ib_uqp_object *obj = create->obj;
	struct ib_qp *qp;
	int ret;

	uverbs_qp_object_init(obj, create->parts[QP_XRCD]);
	qp_fill_attr(create);
	ret = uverbs_event_object_init(&obj->event, attrs, fd_attr);
	if (ret)
		return ret;
	qp = ib_create_qp_user(attrs->context->device, qp_part(create, QP_PD),
			       &create->attr, &attrs->driver_udata, obj, NULL);
	if (IS_ERR(qp)) {
		uverbs_event_object_exit(&obj->event);
		return PTR_ERR(qp);
	}
	ib_qp_usecnt_inc(qp);
	uverbs_qp_object_set(obj, qp);
	return 0;
}

static int qp_check(const struct qp_create *create)
{
	return qp_check_parts(create) ?: qp_check_capable(&create->attr);
}

struct ib_uqp_object *uverbs_qp_object(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uqp_object, event.uobject);
}

/*
 * A process is to detach its QP before it destroys it; else that is done for it.  In
 * the end nothing leads to the object: (1) the driver raises no event after its destroy;
 * (2) the XRC domain lets go of its handle after events in progress.
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

/* ---- by command ---- */

#define QP_EX_CREATE_FLAGS						\
	(IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |			\
	 IB_QP_CREATE_CROSS_CHANNEL | IB_QP_CREATE_MANAGED_SEND |	\
	 IB_QP_CREATE_MANAGED_RECV | IB_QP_CREATE_SCATTER_FCS |		\
	 IB_QP_CREATE_CVLAN_STRIPPING | IB_QP_CREATE_SOURCE_QPN |	\
	 IB_QP_CREATE_PCI_WRITE_END_PADDING)

/* The parts that a command names; other handles in it mean nothing. */
static unsigned int qp_named_parts(const struct ib_uverbs_ex_create_qp *cmd,
				   const struct qp_rule *rule)
{
	unsigned int named = rule->needs;

	if (rule->allows & BIT(QP_SRQ) && cmd->is_srq)
		named |= BIT(QP_SRQ);
	if (rule->allows & BIT(QP_SEND_CQ) && cmd->max_send_wr)
		named |= BIT(QP_SEND_CQ);
	return named;
}

static int qp_find_parts(struct uverbs_reads *reads, struct qp_create *create,
			 const struct ib_uverbs_ex_create_qp *cmd)
{
	const u32 handles[QP_PARTS] = {
		[QP_PD] = cmd->pd_handle,
		[QP_XRCD] = cmd->pd_handle,	/* a target QP has no PD */
		[QP_SEND_CQ] = cmd->send_cq_handle,
		[QP_RECV_CQ] = cmd->recv_cq_handle,
		[QP_SRQ] = cmd->srq_handle,
		[QP_IND_TBL] = cmd->rwq_ind_tbl_handle,
	};
	bool rss = cmd->comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE;
	const struct qp_rule *rule = qp_rule(cmd->qp_type, rss);
	unsigned long named;
	unsigned int part;

	if (!rule || (rss && cmd->is_srq))
		return -EINVAL;
	named = qp_named_parts(cmd, rule);
	for_each_set_bit(part, &named, QP_PARTS) {
		create->parts[part] = uverbs_reads_get(reads, qp_parts[part].type,
						       handles[part]);
		if (IS_ERR(create->parts[part]))
			return PTR_ERR(create->parts[part]);
	}
	return 0;
}

static void qp_take_command(struct qp_create *create,
			    const struct ib_uverbs_ex_create_qp *cmd)
{
	struct ib_qp_init_attr *attr = &create->attr;

	attr->qp_type = cmd->qp_type;
	attr->sq_sig_type = cmd->sq_sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	attr->create_flags = cmd->create_flags;
	if (cmd->create_flags & IB_QP_CREATE_SOURCE_QPN)
		attr->source_qpn = cmd->source_qpn;
	attr->cap.max_send_wr = cmd->max_send_wr;
	attr->cap.max_recv_wr = cmd->max_recv_wr;
	attr->cap.max_send_sge = cmd->max_send_sge;
	attr->cap.max_recv_sge = cmd->max_recv_sge;
	attr->cap.max_inline_data = cmd->max_inline_data;
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

/* A new user object for the QP of a command; ends it if @create cannot be made. */
static int qp_make_object(struct qp_create *create,
			  struct uverbs_attr_bundle *attrs, u64 user_handle)
{
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_QP, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	uobj->user_handle = user_handle;
	create->obj = uverbs_qp_object(uobj);
	ret = qp_make(create, attrs, UVERBS_NO_ATTR);
	if (ret)
		uobj_alloc_abort(uobj, attrs);
	else
		uobj_finalize_uobj_create(uobj, attrs);
	return ret;
}

static int qp_create_command(struct uverbs_attr_bundle *attrs,
			     const struct ib_uverbs_ex_create_qp *cmd,
			     struct ib_uverbs_create_qp_resp *resp)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct qp_create create = {};
	int ret;

	qp_take_command(&create, cmd);
	ret = qp_find_parts(&reads, &create, cmd);
	if (!ret)
		ret = qp_check(&create);
	if (!ret)
		ret = qp_make_object(&create, attrs, cmd->user_handle);
	if (!ret)
		uverbs_qp_fill_resp(resp, &create.obj->event.uobject, &create.attr.cap);
	uverbs_reads_put(&reads);
	return ret;
}

static int qp_create_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ib_uverbs_ex_create_qp ex = {};
	struct ib_uverbs_create_qp cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	ex.user_handle = cmd.user_handle;
	ex.pd_handle = cmd.pd_handle;
	ex.send_cq_handle = cmd.send_cq_handle;
	ex.recv_cq_handle = cmd.recv_cq_handle;
	ex.srq_handle = cmd.srq_handle;
	ex.max_send_wr = cmd.max_send_wr;
	ex.max_recv_wr = cmd.max_recv_wr;
	ex.max_send_sge = cmd.max_send_sge;
	ex.max_recv_sge = cmd.max_recv_sge;
	ex.max_inline_data = cmd.max_inline_data;
	ex.sq_sig_all = cmd.sq_sig_all;
	ex.qp_type = cmd.qp_type;
	ex.is_srq = cmd.is_srq;
	ret = qp_create_command(attrs, &ex, &resp);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
}

static int qp_create_write_ex(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_create_qp_resp resp = {
		.response_length = uverbs_response_length(attrs, sizeof(resp)),
	};
	struct ib_uverbs_ex_create_qp cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (cmd.comp_mask & ~(u32)IB_UVERBS_CREATE_QP_SUP_COMP_MASK ||
	    cmd.create_flags & ~(u32)QP_EX_CREATE_FLAGS || cmd.reserved)
		return -EINVAL;
	ret = qp_create_command(attrs, &cmd, &resp.base);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
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

/* ---- by ioctl ---- */

#define QP_IOCTL_CREATE_FLAGS						\
	(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |			\
	 IB_UVERBS_QP_CREATE_SCATTER_FCS |				\
	 IB_UVERBS_QP_CREATE_CVLAN_STRIPPING |				\
	 IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING |			\
	 IB_UVERBS_QP_CREATE_SQ_SIG_ALL)

static int qp_take_flags(struct ib_qp_init_attr *attr,
			 const struct uverbs_attr_bundle *attrs)
{
	u32 flags;
	int ret;

	ret = uverbs_get_flags32(&flags, attrs, UVERBS_ATTR_CREATE_QP_FLAGS,
				 QP_IOCTL_CREATE_FLAGS);
	if (ret)
		return ret;
	attr->sq_sig_type = flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL ?
			    IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	attr->create_flags = flags & ~IB_UVERBS_QP_CREATE_SQ_SIG_ALL;

	ret = uverbs_copy_from(&attr->source_qpn, attrs,
			       UVERBS_ATTR_CREATE_QP_SOURCE_QPN);
	if (!ret)
		attr->create_flags |= IB_QP_CREATE_SOURCE_QPN;
	return IS_UVERBS_COPY_ERR(ret) ? ret : 0;
}

static int qp_take_attrs(struct qp_create *create,
			 const struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_qp_cap cap;
	struct ib_uobject *uobj;
	unsigned int part;
	u32 type;
	int ret;

	ret = uverbs_get_const(&type, attrs, UVERBS_ATTR_CREATE_QP_TYPE);
	if (!ret)
		ret = uverbs_copy_from_or_zero(&cap, attrs,
					       UVERBS_ATTR_CREATE_QP_CAP);
	if (!ret)
		ret = qp_take_flags(&create->attr, attrs);
	if (ret)
		return ret;
	create->attr.qp_type = type;
	create->attr.cap.max_send_wr = cap.max_send_wr;
	create->attr.cap.max_recv_wr = cap.max_recv_wr;
	create->attr.cap.max_send_sge = cap.max_send_sge;
	create->attr.cap.max_recv_sge = cap.max_recv_sge;
	create->attr.cap.max_inline_data = cap.max_inline_data;
	for (part = 0; part < QP_PARTS; part++) {
		uobj = uverbs_attr_get_uobject(attrs, qp_parts[part].attr);
		create->parts[part] = IS_ERR(uobj) ? NULL : uobj;
	}
	return 0;
}

static int qp_give_attrs(const struct qp_create *create,
			 const struct uverbs_attr_bundle *attrs)
{
	const struct ib_qp *qp = create->obj->event.uobject.object;
	struct ib_uverbs_qp_cap cap = {
		.max_send_wr = create->attr.cap.max_send_wr,
		.max_recv_wr = create->attr.cap.max_recv_wr,
		.max_send_sge = create->attr.cap.max_send_sge,
		.max_recv_sge = create->attr.cap.max_recv_sge,
		.max_inline_data = create->attr.cap.max_inline_data,
	};
	int ret;

	ret = uverbs_copy_to_struct_or_zero(attrs, UVERBS_ATTR_CREATE_QP_RESP_CAP,
					    &cap, sizeof(cap));
	if (ret)
		return ret;
	return uverbs_copy_to(attrs, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp->qp_num,
			      sizeof(qp->qp_num));
}

static int UVERBS_HANDLER(UVERBS_METHOD_QP_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
							  UVERBS_ATTR_CREATE_QP_HANDLE);
	struct qp_create create = { .obj = uverbs_qp_object(uobj) };
	int ret;

	ret = uverbs_copy_from(&uobj->user_handle, attrs,
			       UVERBS_ATTR_CREATE_QP_USER_HANDLE);
	if (!ret)
		ret = qp_take_attrs(&create, attrs);
	if (!ret)
		ret = qp_check(&create);
	if (!ret)
		ret = qp_make(&create, attrs, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	if (ret)
		return ret;
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_CREATE_QP_HANDLE);
	return qp_give_attrs(&create, attrs);
}

/* The dispatcher has destroyed it. */
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
	UVERBS_METHOD_QP_CREATE,
	UVERBS_MAKES(UVERBS_ATTR_CREATE_QP_HANDLE, QP),
	UVERBS_USES(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, XRCD, UA_OPTIONAL),
	UVERBS_USES(UVERBS_ATTR_CREATE_QP_PD_HANDLE, PD, UA_OPTIONAL),
	UVERBS_USES(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, SRQ, UA_OPTIONAL),
	UVERBS_USES(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, CQ, UA_OPTIONAL),
	UVERBS_USES(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, CQ, UA_OPTIONAL),
	UVERBS_USES(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, RWQ_IND_TBL, UA_OPTIONAL),
	UVERBS_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, u64, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UVERBS_ATTR_CREATE_QP_CAP,
			   UVERBS_ATTR_STRUCT(struct ib_uverbs_qp_cap,
					      max_inline_data),
			   UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_CREATE_QP_TYPE, enum ib_uverbs_qp_type,
			     UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_CREATE_QP_FLAGS,
			     enum ib_uverbs_qp_create_flags, UA_OPTIONAL),
	UVERBS_IN(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, u32, UA_OPTIONAL),
	UVERBS_EVENT_FD(UVERBS_ATTR_CREATE_QP_EVENT_FD),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_CREATE_QP_RESP_CAP,
			    UVERBS_ATTR_STRUCT(struct ib_uverbs_qp_cap,
					       max_inline_data),
			    UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, u32, UA_MANDATORY),
	UVERBS_ATTR_UHW());

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_QP_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_QP_HANDLE, QP),
	UVERBS_OUT(UVERBS_ATTR_DESTROY_QP_RESP, struct ib_uverbs_destroy_qp_resp, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	UVERBS_OBJECT_QP,
	UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uqp_object), qp_destroy),
	&UVERBS_METHOD(UVERBS_METHOD_QP_CREATE),
	&UVERBS_METHOD(UVERBS_METHOD_QP_DESTROY));

const struct uapi_definition uverbs_qp_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_QP,
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_qp)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_QP,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_CREATE_QP, qp_create_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_create_qp,
							   ib_uverbs_create_qp_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(create_qp)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_CREATE_QP,
					qp_create_write_ex,
					UVERBS_EX_REQ_RESP(ib_uverbs_ex_create_qp,
							   comp_mask,
							   ib_uverbs_ex_create_qp_resp,
							   response_length),
					UAPI_DEF_METHOD_NEEDS_FN(create_qp)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DESTROY_QP, qp_destroy_write,
				     UVERBS_REQ_RESP(ib_uverbs_destroy_qp,
						     ib_uverbs_destroy_qp_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(destroy_qp))),
	{}
};
