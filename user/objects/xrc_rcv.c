// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receive QPs that belong to an XRC domain (Documentation/xrc.rst): a process has one made
 * and gets its number.  There is no user object: the QP is neither the process's nor
 * counted by the handle through which it was made.
 */
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>
#include <uapi/ibex/xrc.h>
#include <ibex/xrc.h>

#include "call/call.h"

static int rcv_take_path(struct ib_device *ibdev, struct rdma_ah_attr *ah,
			 const struct ib_uverbs_ah_attr *from)
{
	union ib_gid dgid;

	if (!rdma_is_port_valid(ibdev, from->port_num))
		return -EINVAL;
	ah->type = rdma_ah_find_type(ibdev, from->port_num);
	if (from->is_global) {
		memcpy(dgid.raw, from->grh.dgid, sizeof(dgid.raw));
		rdma_ah_set_grh(ah, &dgid, from->grh.flow_label, from->grh.sgid_index,
				from->grh.hop_limit, from->grh.traffic_class);
	}
	rdma_ah_set_dlid(ah, from->dlid);
	rdma_ah_set_sl(ah, from->sl);
	rdma_ah_set_path_bits(ah, from->src_path_bits);
	rdma_ah_set_static_rate(ah, from->static_rate);
	rdma_ah_set_port_num(ah, from->port_num);
	return 0;
}

/* @attr is zeroed, and stays zero where @mask names nothing; core checks the values. */
static int rcv_take_attr(struct ib_device *ibdev, struct ib_qp_attr *attr,
			 const struct ib_uverbs_qp_attr *from, u32 mask)
{
	int ret = 0;

	if (mask & IB_QP_ACCESS_FLAGS)
		attr->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		attr->pkey_index = from->pkey_index;
	if (mask & IB_QP_PORT)
		attr->port_num = from->port_num;
	if (mask & IB_QP_PATH_MTU)
		attr->path_mtu = from->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		attr->dest_qp_num = from->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		attr->rq_psn = from->rq_psn;
	if (mask & IB_QP_MIN_RNR_TIMER)
		attr->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		attr->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_AV)
		ret = rcv_take_path(ibdev, &attr->ah_attr, &from->ah_attr);
	if (!ret && mask & IB_QP_ALT_PATH) {
		attr->alt_port_num = from->alt_port_num;
		attr->alt_pkey_index = from->alt_pkey_index;
		attr->alt_timeout = from->alt_timeout;
		ret = rcv_take_path(ibdev, &attr->alt_ah_attr, &from->alt_ah_attr);
	}
	return ret;
}

static int rcv_alloc(struct uverbs_attr_bundle *attrs, struct ib_xrcd *xrcd,
		     const struct ib_uverbs_qp_attr *from, u32 mask)
{
	struct ib_qp_attr *attr = uverbs_zalloc(attrs, sizeof(*attr));
	u32 qpn;
	int ret;

	if (IS_ERR(attr))
		return PTR_ERR(attr);
	ret = rcv_take_attr(xrcd->device, attr, from, mask);
	if (ret)
		return ret;
	ret = ibcore_xrc_rcv_alloc(xrcd, attr, mask, &qpn);
	if (ret)
		return ret;
	ret = uverbs_copy_to(attrs, IBEX_ATTR_ALLOC_XRC_RCV_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	if (ret)
		ibcore_xrc_rcv_undo(xrcd, qpn);
	return ret;
}

/*
 * The domain stays open meanwhile: the object of its handle is locked for reading, and
 * device removal waits for the method.
 */
static int UVERBS_HANDLER(IBEX_METHOD_ALLOC_XRC_RCV_QP)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *xrcd = uverbs_attr_get_uobject(attrs,
							  IBEX_ATTR_ALLOC_XRC_RCV_QP_XRCD);
	struct ib_uverbs_qp_attr from;
	u32 mask;
	int ret;

	ret = uverbs_copy_from(&from, attrs, IBEX_ATTR_ALLOC_XRC_RCV_QP_ATTR);
	if (!ret)
		ret = uverbs_copy_from(&mask, attrs, IBEX_ATTR_ALLOC_XRC_RCV_QP_MASK);
	return ret ?: rcv_alloc(attrs, xrcd->object, &from, mask);
}

DECLARE_UVERBS_NAMED_METHOD(
	IBEX_METHOD_ALLOC_XRC_RCV_QP,
	UVERBS_USES(IBEX_ATTR_ALLOC_XRC_RCV_QP_XRCD, XRCD, UA_MANDATORY),
	UVERBS_IN(IBEX_ATTR_ALLOC_XRC_RCV_QP_ATTR, struct ib_uverbs_qp_attr, UA_MANDATORY),
	UVERBS_IN(IBEX_ATTR_ALLOC_XRC_RCV_QP_MASK, u32, UA_MANDATORY),
	UVERBS_OUT(IBEX_ATTR_ALLOC_XRC_RCV_QP_RESP_QP_NUM, u32, UA_MANDATORY));

ADD_UVERBS_METHODS(uverbs_xrc_rcv_methods, UVERBS_OBJECT_XRCD,
		   &UVERBS_METHOD(IBEX_METHOD_ALLOC_XRC_RCV_QP));

const struct uapi_definition uverbs_xrc_rcv_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_XRCD, &uverbs_xrc_rcv_methods),
	{}
};
