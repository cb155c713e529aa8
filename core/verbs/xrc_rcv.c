// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receive QPs of XRC domains: target QPs that belong to the domain itself instead of to
 * handles (IBA vol. 1, annex A14; Documentation/xrc.rst).  A process has one made, then
 * knows its number only; it exists as long as its domain, whatever becomes of that process.
 *
 * A receive QP is made with the kernel's rights: in a PD of core's own, without a user
 * context and user data, from its creation to its destruction.  It is not in
 * xrcd->tgt_qps, so nobody opens it, and it does not count as a use of the domain.  It is
 * charged to the control group of the process that had it made.
 *
 * Locks: xrcd->tgt_qps_rwsem protects the domain's list, number and PD.  A QP is made and
 * moved to RTR without it, because nobody else has it until it is on the list.  The caller
 * keeps the domain open meanwhile.
 */
#include <linux/moduleparam.h>
#include <ibex/xrc.h>

#include "device/device.h"
#include "qp/qp.h"
#include "verbs/verbs.h"

#define RCV_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |	\
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)
#define RCV_REMOTE	(RCV_ACCESS & ~IB_ACCESS_LOCAL_WRITE)

/* Attributes of the transitions to INIT and to RTR, beside IB_QP_STATE. */
#define RCV_INIT	(IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX | IB_QP_PORT)
#define RCV_RTR		(IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define RCV_RTR_ZERO	(IB_QP_MIN_RNR_TIMER | IB_QP_MAX_DEST_RD_ATOMIC) /* by default */
#define RCV_NEEDED	(RCV_INIT | RCV_RTR)
#define RCV_OPTIONAL	(RCV_RTR_ZERO | IB_QP_ALT_PATH)

#define MAX_TIMER	31	/* of 5 bits: RNR timer, local ACK timeout */
#define MAX_SL		15
#define MAX_PATH_BITS	127	/* with an LMC of 7 */
#define MAX_FLOW_LABEL	0xfffff

static unsigned int xrc_rcv_limit = 65536;
module_param(xrc_rcv_limit, uint, 0644);
MODULE_PARM_DESC(xrc_rcv_limit, "Receive QPs that an XRC domain may own (65536)");

struct xrc_rcv {
	struct list_head list;		/* in ibcore_xrcd.rcv_qps, once it is complete */
	struct ib_xrcd *xrcd;
	struct ib_qp *qp;
	struct ib_rdmacg_object cg;	/* what it is charged to */
};

static atomic_t last_id = ATOMIC_INIT(0);

void ibcore_xrc_rcv_init(struct ib_xrcd *xrcd)
{
	struct ibcore_xrcd *priv = ibcore_xrcd_priv(xrcd);

	INIT_LIST_HEAD(&priv->rcv_qps);
	priv->id = atomic_inc_return(&last_id);
	snprintf(priv->name, sizeof(priv->name), "xrcd-%u", priv->id);
}

/* ---- what is asked for ---- */

static int rcv_check_mask(const struct ib_qp_attr *attr, int mask)
{
	int needed = RCV_NEEDED;

	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & RCV_REMOTE)
		needed |= IB_QP_MAX_DEST_RD_ATOMIC;
	return (mask & needed) != needed || mask & ~(RCV_NEEDED | RCV_OPTIONAL) ? -EINVAL : 0;
}

static bool pkey_index_valid(const struct ib_device *dev, u32 port, u16 index)
{
	return index < dev->port_data[port].immutable.pkey_tbl_len;
}

static bool rate_valid(u8 rate)
{
	return rate == IB_RATE_PORT_CURRENT || ib_rate_to_mult(rate) > 0;
}

/* The rest of an address is checked with its source GID when the QP takes it. */
static bool path_valid(struct ib_device *dev, const struct rdma_ah_attr *ah, u32 port)
{
	if (rdma_ah_get_port_num(ah) != port || ah->type != rdma_ah_find_type(dev, port))
		return false;
	if (rdma_ah_get_sl(ah) > MAX_SL || !rate_valid(rdma_ah_get_static_rate(ah)) ||
	    rdma_ah_get_path_bits(ah) > MAX_PATH_BITS)
		return false;
	if (ah->type == RDMA_AH_ATTR_TYPE_IB &&
	    (!rdma_ah_get_dlid(ah) ||
	     rdma_ah_get_dlid(ah) >= be16_to_cpu(IB_MULTICAST_LID_BASE)))
		return false;
	return !(rdma_ah_get_ah_flags(ah) & IB_AH_GRH) ||
	       (rdma_ah_read_grh(ah)->flow_label <= MAX_FLOW_LABEL &&
		rdma_ah_read_grh(ah)->sgid_index <
		dev->port_data[port].immutable.gid_tbl_len);
}

static bool alt_path_valid(struct ib_device *dev, const struct ib_qp_attr *attr)
{
	u32 port = attr->alt_port_num;

	return rdma_is_port_valid(dev, port) && attr->alt_timeout <= MAX_TIMER &&
	       pkey_index_valid(dev, port, attr->alt_pkey_index) &&
	       path_valid(dev, &attr->alt_ah_attr, port);
}

/* Reads nothing that @mask does not name. */
static int rcv_check(struct ib_device *dev, const struct ib_qp_attr *attr, int mask)
{
	u32 port = attr->port_num;
	int ret = rcv_check_mask(attr, mask);

	if (ret)
		return ret;
	if (!rdma_is_port_valid(dev, port) || !rdma_ib_or_roce(dev, port) ||
	    !pkey_index_valid(dev, port, attr->pkey_index) ||
	    attr->qp_access_flags & ~RCV_ACCESS)
		return -EINVAL;
	if (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096 ||
	    attr->dest_qp_num > IB_QPN_MASK || attr->rq_psn > IB_QPN_MASK ||
	    !path_valid(dev, &attr->ah_attr, port))
		return -EINVAL;
	if ((mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > MAX_TIMER) ||
	    (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	     attr->max_dest_rd_atomic > dev->attrs.max_qp_rd_atom))
		return -EINVAL;
	return mask & IB_QP_ALT_PATH && !alt_path_valid(dev, attr) ? -EINVAL : 0;
}

/* ---- events ---- */

/* Nobody else is told: it is the log, or nothing.  Context: any. */
static void rcv_event(struct ib_event *event, void *context)
{
	const struct xrc_rcv *rcv = context;
	const struct ib_qp *qp = rcv->qp;
	u32 id = ibcore_xrcd_priv(rcv->xrcd)->id;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_PATH_MIG_ERR:
		ibdev_warn_ratelimited(qp->device, "receive QP %#x of XRC domain %u: %s\n",
				       qp->qp_num, id, ib_event_msg(event->event));
		break;
	default:
		ibdev_info_ratelimited(qp->device, "receive QP %#x of XRC domain %u: %s\n",
				       qp->qp_num, id, ib_event_msg(event->event));
	}
}

/*
 * The domain that owns @qp, or NULL.  The caller holds the QP's entry in resource tracking;
 * so it is not destroyed, and its domain is freed later still.
 */
const struct ib_xrcd *ibcore_xrc_rcv_owner(const struct ib_qp *qp)
{
	/* Pairs with rcv_create(), where the QP can be found already. */
	if (smp_load_acquire(&ibex_qp_handler(qp)) != rcv_event)
		return NULL;
	return ((const struct xrc_rcv *)qp->qp_context)->xrcd;
}

/* ---- the QP ---- */

/*
 * Takes a place in the domain and sets *@pd to its PD.  The PD stays until the domain is
 * closed, as does the domain itself, which the caller keeps open.
 */
static int rcv_take_place(struct ib_xrcd *xrcd, struct ib_pd **pd)
{
	struct ibcore_xrcd *priv = ibcore_xrcd_priv(xrcd);
	int ret = 0;

	down_write(&xrcd->tgt_qps_rwsem);
	if (priv->nr_rcv_qps >= READ_ONCE(xrc_rcv_limit)) {
		ret = -ENOSPC;
	} else if (!priv->pd) {
		*pd = ib_alloc_pd(xrcd->device, 0);
		ret = PTR_ERR_OR_ZERO(*pd);
		if (!ret)
			priv->pd = *pd;
	}
	if (!ret) {
		*pd = priv->pd;
		priv->nr_rcv_qps++;
		atomic_inc(&ibcore_priv(xrcd->device)->xrc_rcv_qps);
	}
	up_write(&xrcd->tgt_qps_rwsem);
	return ret;
}

static void rcv_leave_place(struct ib_xrcd *xrcd)
{
	lockdep_assert_held_write(&xrcd->tgt_qps_rwsem);
	ibcore_xrcd_priv(xrcd)->nr_rcv_qps--;
	atomic_dec(&ibcore_priv(xrcd->device)->xrc_rcv_qps);
}

static int rcv_create(struct xrc_rcv *rcv, struct ib_pd *pd)
{
	struct ib_xrcd *xrcd = rcv->xrcd;
	/* It sends nothing and has no receive queue; some providers want a send queue. */
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_XRC_TGT,
		.xrcd = xrcd,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ib_qp *qp;

	qp = ibcore_create_qp(xrcd->device, pd, &init, NULL, NULL,
			      ibcore_xrcd_priv(xrcd)->name);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	atomic_inc(&pd->usecnt);
	rcv->qp = qp;
	qp->qp_context = rcv;
	/* No event is raised in RESET; ibcore_xrc_rcv_owner() may read it already. */
	smp_store_release(&ibex_qp_handler(qp), rcv_event);
	return 0;
}

/* RoCE: what ib_modify_qp_with_udata() does for processes, which do not know the MAC. */
static int rcv_modify_rtr(struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	struct rdma_ah_attr *ah = &attr->ah_attr;
	int ret;

	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE)
		return ib_modify_qp(qp, attr, mask);
	ret = ibcore_ah_attr_pin(qp->device, ah);
	if (ret)
		return ret;
	ret = ibcore_ah_resolve_dmac(qp->device, ah) ?: ib_modify_qp(qp, attr, mask);
	ibcore_ah_attr_unpin(ah);
	return ret;
}

/* @from was checked; what @mask does not name stays zero. */
static int rcv_connect(struct ib_qp *qp, const struct ib_qp_attr *from, int mask)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.qp_access_flags = from->qp_access_flags,
		.pkey_index = from->pkey_index,
		.port_num = from->port_num,
	};
	int ret = ib_modify_qp(qp, &attr, IB_QP_STATE | RCV_INIT);

	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	attr.ah_attr = from->ah_attr;
	attr.path_mtu = from->path_mtu;
	attr.dest_qp_num = from->dest_qp_num;
	attr.rq_psn = from->rq_psn;
	if (mask & IB_QP_MIN_RNR_TIMER)
		attr.min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		attr.max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_ALT_PATH) {
		attr.alt_ah_attr = from->alt_ah_attr;
		attr.alt_port_num = from->alt_port_num;
		attr.alt_pkey_index = from->alt_pkey_index;
		attr.alt_timeout = from->alt_timeout;
	}
	return rcv_modify_rtr(qp, &attr, IB_QP_STATE | RCV_RTR | RCV_RTR_ZERO |
			      (mask & IB_QP_ALT_PATH));
}

/*
 * If the provider refuses, the QP and its record are as before.  Otherwise nothing refers to
 * them any more: (1) the QP was never in the table by which QPs are opened, and its number
 * is all that processes have; (2) ibcore_qp_teardown() hid it and waited for those who read
 * it for a report; (3) the provider raises no event after its destroy_qp; (4) the record is
 * on no list, or the caller takes it off.
 */
static int rcv_destroy_qp(struct xrc_rcv *rcv)
{
	int ret = ibcore_qp_teardown(rcv->qp, NULL);

	if (ret)
		return ret;
	ibcore_qp_free(rcv->qp);
	atomic_dec(&ibcore_xrcd_priv(rcv->xrcd)->pd->usecnt);
	return 0;
}

static void rcv_uncharge(struct xrc_rcv *rcv)
{
	ib_rdmacg_uncharge(&rcv->cg, rcv->xrcd->device, RDMACG_RESOURCE_HCA_OBJECT);
}

static void rcv_list(struct xrc_rcv *rcv)
{
	struct ib_xrcd *xrcd = rcv->xrcd;

	down_write(&xrcd->tgt_qps_rwsem);
	list_add(&rcv->list, &ibcore_xrcd_priv(xrcd)->rcv_qps);
	up_write(&xrcd->tgt_qps_rwsem);
}

/* The caller frees the record and what it is charged, unless it was listed. */
static int rcv_make(struct xrc_rcv *rcv, const struct ib_qp_attr *attr, int mask, u32 *qpn,
		    bool *listed)
{
	struct ib_xrcd *xrcd = rcv->xrcd;
	struct ib_pd *pd;
	int ret;

	ret = rcv_take_place(xrcd, &pd);
	if (ret)
		return ret;
	ret = rcv_create(rcv, pd);
	if (ret)
		goto leave;
	*qpn = rcv->qp->qp_num;
	ret = rcv_connect(rcv->qp, attr, mask);
	if (ret && !rcv_destroy_qp(rcv))
		goto leave;
	/* Even after an error, if the provider keeps the QP: it goes with the domain. */
	rcv_list(rcv);
	*listed = true;
	return ret;

leave:
	down_write(&xrcd->tgt_qps_rwsem);
	rcv_leave_place(xrcd);
	up_write(&xrcd->tgt_qps_rwsem);
	return ret;
}

/**
 * ibcore_xrc_rcv_alloc() - make a receive QP that an XRC domain owns
 * @xrcd: domain, which the caller keeps open
 * @attr: attributes of the QP in RTR; of the addresses, the source GID by its index
 * @mask: which of them are given: IB_QP_ACCESS_FLAGS, PKEY_INDEX, PORT, AV, PATH_MTU,
 *	DEST_QPN and RQ_PSN are needed, and MAX_DEST_RD_ATOMIC if @attr allows any remote
 *	access; it and MIN_RNR_TIMER are 0 otherwise; ALT_PATH may be given
 * @qpn: set to the QP's number
 *
 * The QP is destroyed when the domain is freed, and not before.  It is charged to the
 * caller's control group until then.  IBA vol. 1, annex A14.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL for a bit of @mask that is missing or out of place and for a value out
 * of range, -EOPNOTSUPP, -ENOSPC if the domain has as many as it may, -EAGAIN at the
 * control group's limit, -ENOMEM, an error of address resolution or the provider's.  On
 * error nothing was made.
 */
int ibcore_xrc_rcv_alloc(struct ib_xrcd *xrcd, const struct ib_qp_attr *attr, int mask,
			 u32 *qpn)
{
	struct ib_device *dev = xrcd->device;
	struct xrc_rcv *rcv;
	bool listed = false;
	int ret;

	if (!dev->ops.create_qp || !dev->ops.modify_qp)
		return -EOPNOTSUPP;
	ret = rcv_check(dev, attr, mask);
	if (ret)
		return ret;
	rcv = kzalloc(sizeof(*rcv), GFP_KERNEL_ACCOUNT);
	if (!rcv)
		return -ENOMEM;
	rcv->xrcd = xrcd;
	ret = ib_rdmacg_try_charge(&rcv->cg, dev, RDMACG_RESOURCE_HCA_OBJECT);
	if (ret)
		goto free;
	ret = rcv_make(rcv, attr, mask, qpn, &listed);
	if (listed)
		return ret;
	rcv_uncharge(rcv);
free:
	kfree(rcv);
	return ret;
}
EXPORT_SYMBOL(ibcore_xrc_rcv_alloc);

static int rcv_free_pd(struct ibcore_xrcd *priv)
{
	int ret = 0;

	if (priv->pd)
		ret = ib_dealloc_pd_user(priv->pd, NULL);
	if (!ret)
		priv->pd = NULL;
	return ret;
}

/* As rcv_destroy_qp(), for a QP that is on the list. */
static int rcv_destroy(struct xrc_rcv *rcv)
{
	int ret = rcv_destroy_qp(rcv);

	if (ret)
		return ret;
	list_del(&rcv->list);
	rcv_leave_place(rcv->xrcd);
	rcv_uncharge(rcv);
	kfree(rcv);
	return 0;
}

/**
 * ibcore_xrc_rcv_undo() - destroy a receive QP whose number nobody was told
 * @xrcd: domain, which the caller keeps open
 * @qpn: number that ibcore_xrc_rcv_alloc() returned to the caller
 *
 * If the provider refuses, the QP goes with its domain.
 *
 * Context: process, may sleep.
 */
void ibcore_xrc_rcv_undo(struct ib_xrcd *xrcd, u32 qpn)
{
	struct xrc_rcv *rcv, *next;

	down_write(&xrcd->tgt_qps_rwsem);
	list_for_each_entry_safe(rcv, next, &ibcore_xrcd_priv(xrcd)->rcv_qps, list) {
		if (rcv->qp->qp_num != qpn)
			continue;
		rcv_destroy(rcv);
		break;
	}
	up_write(&xrcd->tgt_qps_rwsem);
}
EXPORT_SYMBOL(ibcore_xrc_rcv_undo);

/*
 * A QP that was destroyed cannot be made again, as its number is its identity.  So this is
 * called when nothing but the provider can still refuse the close, and stops at the first
 * refusal: that QP and those after it stay in the domain, the others are gone for good.
 */
int ibcore_xrc_rcv_destroy_all(struct ib_xrcd *xrcd)
{
	struct ibcore_xrcd *priv = ibcore_xrcd_priv(xrcd);
	struct xrc_rcv *rcv, *next;
	int ret = 0;

	down_write(&xrcd->tgt_qps_rwsem);
	list_for_each_entry_safe(rcv, next, &priv->rcv_qps, list) {
		ret = rcv_destroy(rcv);
		if (ret)
			break;
	}
	if (!ret)
		ret = rcv_free_pd(priv);
	up_write(&xrcd->tgt_qps_rwsem);
	return ret;
}
