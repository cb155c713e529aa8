// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of processes: making them by command or by ioctl (IBA vol. 1, 11.2.4.1;
 * annex A14; ibv_create_qp_ex(3)).
 */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "queues/qp_rules.h"

/* ---- by command ---- */

#define QP_EX_CREATE_FLAGS						\
	(IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |			\
	 IB_QP_CREATE_CROSS_CHANNEL | IB_QP_CREATE_MANAGED_SEND |	\
	 IB_QP_CREATE_MANAGED_RECV | IB_QP_CREATE_SCATTER_FCS |		\
	 IB_QP_CREATE_CVLAN_STRIPPING | IB_QP_CREATE_SOURCE_QPN |	\
	 IB_QP_CREATE_PCI_WRITE_END_PADDING)

/* The parts that a command names; its other handles are ignored. */
static unsigned int qp_named_parts(const struct ib_uverbs_ex_create_qp *cmd,
				   const struct uverbs_qp_rule *rule)
{
	unsigned int named = rule->needs;

	if (rule->allows & BIT(QP_SRQ) && cmd->is_srq)
		named |= BIT(QP_SRQ);
	if (rule->allows & BIT(QP_SEND_CQ) && cmd->max_send_wr)
		named |= BIT(QP_SEND_CQ);
	return named;
}

static int qp_find_parts(struct uverbs_reads *reads, struct uverbs_qp_create *create,
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
	const struct uverbs_qp_rule *rule = uverbs_qp_rule(cmd->qp_type, rss);
	unsigned long named;
	unsigned int part;

	if (!rule || (rss && cmd->is_srq))
		return -EINVAL;
	named = qp_named_parts(cmd, rule);
	for_each_set_bit(part, &named, QP_PARTS) {
		create->parts[part] = uverbs_reads_get(reads, uverbs_qp_parts[part].type,
						       handles[part]);
		if (!IS_ERR(create->parts[part]))
			continue;
		/*
		 * The handle is a PD's for other types: it means nothing to a program.  Nor
		 * does a table of a device that has none.
		 */
		if (part == QP_XRCD || create->parts[part] == ERR_PTR(-EOPNOTSUPP))
			return -EINVAL;
		return PTR_ERR(create->parts[part]);
	}
	return 0;
}

static void qp_take_command(struct uverbs_qp_create *create,
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

/* Makes the user object and the QP of a command; on failure aborts the user object. */
static int qp_make_object(struct uverbs_qp_create *create,
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
	ret = uverbs_qp_make(create, attrs, UVERBS_NO_ATTR);
	return uverbs_command_made(uobj, ret, attrs);
}

static int qp_create_command(struct uverbs_attr_bundle *attrs,
			     const struct ib_uverbs_ex_create_qp *cmd,
			     struct ib_uverbs_create_qp_resp *resp)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct uverbs_qp_create create = {};
	int ret;

	qp_take_command(&create, cmd);
	ret = qp_find_parts(&reads, &create, cmd);
	if (!ret)
		ret = uverbs_qp_check(&create);
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

/* ---- by ioctl ---- */

/* Only datagrams are multicast, only Ethernet frames have an FCS and a VLAN. */
static u32 qp_flags_of_type(u32 type)
{
	switch (type) {
	case IB_QPT_UD:
		return IB_UVERBS_QP_CREATE_SQ_SIG_ALL |
		       IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |
		       IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING;
	case IB_QPT_RAW_PACKET:
	case IB_QPT_DRIVER:
		return IB_UVERBS_QP_CREATE_SQ_SIG_ALL |
		       IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |
		       IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING |
		       IB_UVERBS_QP_CREATE_SCATTER_FCS |
		       IB_UVERBS_QP_CREATE_CVLAN_STRIPPING;
	default:
		return IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	}
}

static int qp_take_flags(struct ib_qp_init_attr *attr, u32 type,
			 const struct uverbs_attr_bundle *attrs)
{
	u32 flags;
	int ret;

	ret = uverbs_get_flags32(&flags, attrs, UVERBS_ATTR_CREATE_QP_FLAGS,
				 qp_flags_of_type(type));
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

static int qp_take_attrs(struct uverbs_qp_create *create,
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
		ret = qp_take_flags(&create->attr, type, attrs);
	if (ret)
		return ret;
	create->attr.qp_type = type;
	create->attr.cap.max_send_wr = cap.max_send_wr;
	create->attr.cap.max_recv_wr = cap.max_recv_wr;
	create->attr.cap.max_send_sge = cap.max_send_sge;
	create->attr.cap.max_recv_sge = cap.max_recv_sge;
	create->attr.cap.max_inline_data = cap.max_inline_data;
	for (part = 0; part < QP_PARTS; part++) {
		uobj = uverbs_attr_get_uobject(attrs, uverbs_qp_parts[part].attr);
		create->parts[part] = IS_ERR(uobj) ? NULL : uobj;
	}
	return 0;
}

static int qp_give_attrs(const struct uverbs_qp_create *create,
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
	struct uverbs_qp_create create = { .obj = uverbs_qp_object(uobj) };
	int ret;

	ret = uverbs_copy_from(&uobj->user_handle, attrs,
			       UVERBS_ATTR_CREATE_QP_USER_HANDLE);
	if (!ret)
		ret = qp_take_attrs(&create, attrs);
	if (!ret)
		ret = uverbs_qp_check(&create);
	if (!ret)
		ret = uverbs_qp_make(&create, attrs, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	if (ret)
		return ret;
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_CREATE_QP_HANDLE);
	return qp_give_attrs(&create, attrs);
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

ADD_UVERBS_METHODS(uverbs_qp_create_methods, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(UVERBS_METHOD_QP_CREATE));

const struct uapi_definition uverbs_qp_create_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &uverbs_qp_create_methods),
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
					UAPI_DEF_METHOD_NEEDS_FN(create_qp))),
	{}
};
