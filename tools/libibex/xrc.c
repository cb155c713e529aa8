// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* XRC receive QPs that belong to their domain: ibv_alloc_xrc_rcv_qp(3). */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <ibex/xrc.h>
#include <infiniband/ibex.h>
#include "uverbs.h"

static void put_path(struct ib_uverbs_ah_attr *to, const struct ibv_ah_attr *from)
{
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->port_num = from->port_num;
	to->is_global = from->is_global;
	if (!from->is_global)
		return;
	memcpy(to->grh.dgid, from->grh.dgid.raw, sizeof(to->grh.dgid));
	to->grh.flow_label = from->grh.flow_label;
	to->grh.sgid_index = from->grh.sgid_index;
	to->grh.hop_limit = from->grh.hop_limit;
	to->grh.traffic_class = from->grh.traffic_class;
}

/* Reads nothing that @mask does not name; the kernel checks the values. */
static void put_attr(struct ib_uverbs_qp_attr *to, const struct ibv_qp_attr *from, uint32_t mask)
{
	memset(to, 0, sizeof(*to));
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IBV_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IBV_QP_AV)
		put_path(&to->ah_attr, &from->ah_attr);
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IBV_QP_ALT_PATH) {
		put_path(&to->alt_ah_attr, &from->alt_ah_attr);
		to->alt_pkey_index = from->alt_pkey_index;
		to->alt_port_num = from->alt_port_num;
		to->alt_timeout = from->alt_timeout;
	}
}

/* libibverbs may open a device several times: the contexts need not be the same. */
static int same_device(const struct ibv_pd *pd, const struct ibv_xrcd *xrcd)
{
	return pd && xrcd && pd->context->device == xrcd->context->device;
}

static int alloc_rcv_qp(struct ibv_xrcd *xrcd, const struct ibv_qp_attr *attr, uint32_t mask,
			uint32_t *qpn)
{
	struct ib_uverbs_qp_attr cmd;
	struct uverbs_call call;
	uint32_t handle;
	int ret;

	ret = uverbs_xrcd_handle(xrcd, &handle);
	if (ret)
		return ret;
	put_attr(&cmd, attr, mask);
	uverbs_begin(&call, UVERBS_OBJECT_XRCD, IBEX_METHOD_ALLOC_XRC_RCV_QP);
	uverbs_object(&call, IBEX_ATTR_ALLOC_XRC_RCV_QP_XRCD, handle);
	uverbs_in(&call, IBEX_ATTR_ALLOC_XRC_RCV_QP_ATTR, &cmd, sizeof(cmd));
	uverbs_in(&call, IBEX_ATTR_ALLOC_XRC_RCV_QP_MASK, &mask, sizeof(mask));
	uverbs_out(&call, IBEX_ATTR_ALLOC_XRC_RCV_QP_RESP_QP_NUM, qpn, sizeof(*qpn));
	return uverbs_ioctl(&call, xrcd->context);
}

int ibv_alloc_xrc_rcv_qp(struct ibv_pd *pd, struct ibv_xrcd *xrc_domain,
			 struct ibv_qp_attr *attr, enum ibv_qp_attr_mask attr_mask,
			 uint32_t *xrc_rcv_qpn)
{
	uint32_t qpn = 0;
	int ret = EINVAL;

	if (same_device(pd, xrc_domain) && attr && xrc_rcv_qpn)
		ret = alloc_rcv_qp(xrc_domain, attr, attr_mask, &qpn);
	if (ret)
		errno = ret;
	else
		*xrc_rcv_qpn = qpn;
	return ret;
}
