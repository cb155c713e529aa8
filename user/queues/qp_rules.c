// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of processes: the objects that a QP is made of depend on its type.  The
 * rules here say which: commands look these objects up, and what ioctl names is checked
 * against the rules (IBA vol. 1, 11.2.4.1; annex A14).
 */
#include <linux/capability.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>
#include <ibex/qp.h>

#include "call/call.h"
#include "queues/qp_rules.h"

const struct uverbs_qp_part_ids uverbs_qp_parts[QP_PARTS] = {
	[QP_PD]		= { UVERBS_OBJECT_PD, UVERBS_ATTR_CREATE_QP_PD_HANDLE },
	[QP_XRCD]	= { UVERBS_OBJECT_XRCD, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE },
	[QP_SEND_CQ]	= { UVERBS_OBJECT_CQ, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE },
	[QP_RECV_CQ]	= { UVERBS_OBJECT_CQ, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE },
	[QP_SRQ]	= { UVERBS_OBJECT_SRQ, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE },
	[QP_IND_TBL]	= { UVERBS_OBJECT_RWQ_IND_TBL,
			    UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE },
};

static const struct uverbs_qp_rule qp_ordinary = {
	.needs = BIT(QP_PD) | BIT(QP_SEND_CQ) | BIT(QP_RECV_CQ),
	.allows = BIT(QP_SRQ),
};

/* An RSS QP receives on the WQs of its table; it may also send. */
static const struct uverbs_qp_rule qp_rss = {
	.needs = BIT(QP_PD) | BIT(QP_IND_TBL),
	.allows = BIT(QP_SEND_CQ),
};

/* An XRC initiator has no receive queue. */
static const struct uverbs_qp_rule qp_initiator = {
	.needs = BIT(QP_PD) | BIT(QP_SEND_CQ),
};

/* Each request to an XRC target names its SRQ, which has the PD and the CQ. */
static const struct uverbs_qp_rule qp_target = {
	.needs = BIT(QP_XRCD),
};

const struct uverbs_qp_rule *uverbs_qp_rule(u32 type, bool rss)
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

static void *qp_part(const struct uverbs_qp_create *create, enum uverbs_qp_part part)
{
	return create->parts[part] ? create->parts[part]->object : NULL;
}

static int qp_check_parts(const struct uverbs_qp_create *create)
{
	const struct ib_qp_cap *cap = &create->attr.cap;
	const struct ib_srq *srq = qp_part(create, QP_SRQ);
	const struct uverbs_qp_rule *rule;
	unsigned int part, has = 0;

	for (part = 0; part < QP_PARTS; part++)
		if (create->parts[part])
			has |= BIT(part);
	rule = uverbs_qp_rule(create->attr.qp_type, has & BIT(QP_IND_TBL));
	if (!rule || has & ~(rule->needs | rule->allows))
		return -EINVAL;
	if (rule->needs & ~has)
		return -ENOENT;
	/* Requests name an XRC SRQ by its number; no QP is made with one. */
	if (srq && srq->srq_type == IB_SRQT_XRC)
		return -EINVAL;
	if (has & BIT(QP_IND_TBL) &&
	    (cap->max_recv_wr || cap->max_recv_sge ||
	     (cap->max_send_wr && !(has & BIT(QP_SEND_CQ)))))
		return -EINVAL;
	return 0;
}

/* A QP that can see or forge packets of others needs CAP_NET_RAW, like a raw socket. */
static int qp_check_capable(const struct ib_qp_init_attr *attr)
{
	if (attr->qp_type != IB_QPT_RAW_PACKET &&
	    !(attr->create_flags & IB_QP_CREATE_SOURCE_QPN))
		return 0;
	return capable(CAP_NET_RAW) ? 0 : -EPERM;
}

int uverbs_qp_check(const struct uverbs_qp_create *create)
{
	return qp_check_parts(create) ?: qp_check_capable(&create->attr);
}

static void qp_fill_attr(struct uverbs_qp_create *create)
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

int uverbs_qp_make(struct uverbs_qp_create *create, struct uverbs_attr_bundle *attrs,
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
