// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink: the attributes of each kind of resource.  The caller holds the
 * entry, so the object exists, and so do the objects it was created from.  Only
 * administrators get keys that give access to memory.
 */
#include <net/netlink.h>
#include <rdma/rdma_cm.h>

#include "device/device.h"
#include "netlink/nldev.h"
#include "verbs/verbs.h"

/*
 * Adds the verbs context of a userspace object.  Every type of uobject begins
 * with struct ib_uobject.
 */
static int put_ctxn(struct sk_buff *msg, const struct ib_uobject *uobj)
{
	const struct ib_ucontext *ctx = uobj ? READ_ONCE(uobj->context) : NULL;

	return ctx ? nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CTXN, ctx->res.id) :
		     0;
}

/*
 * Adds the PD.  Not for kernel consumers, which seldom share a PD and are
 * identified by name.
 */
static int put_pdn(struct sk_buff *msg, const struct rdma_restrack_entry *res,
		   const struct ib_pd *pd)
{
	if (!pd || rdma_is_kernel_res(res))
		return 0;
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, pd->res.id);
}

/* ---- QP ---- */

static bool qp_is_connected(const struct ib_qp *qp)
{
	return qp->qp_type == IB_QPT_RC || qp->qp_type == IB_QPT_UC;
}

static bool qp_can_migrate(const struct ib_qp *qp)
{
	return qp_is_connected(qp) || qp->qp_type == IB_QPT_XRC_INI ||
	       qp->qp_type == IB_QPT_XRC_TGT;
}

/* IBA 11.2.5.3, Query Queue Pair. */
static int put_qp_attr(struct sk_buff *msg, struct ib_qp *qp)
{
	struct ib_qp_init_attr init_attr;
	struct ib_qp_attr attr = {};
	int ret;

	ret = ib_query_qp(qp, &attr, 0, &init_attr);
	if (ret)
		return ret;

	if (qp_is_connected(qp) &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RQPN, attr.dest_qp_num) ||
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RQ_PSN, attr.rq_psn)))
		return -EMSGSIZE;
	if (qp_can_migrate(qp) &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE,
		       attr.path_mig_state))
		return -EMSGSIZE;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_SQ_PSN, attr.sq_psn) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, qp->qp_type) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_STATE, attr.qp_state))
		return -EMSGSIZE;
	return 0;
}

/*
 * The XRC domain that owns a receive QP, whose name is the owner's already: its number, and
 * that of the file by which processes open it.
 */
static int put_qp_domain(struct sk_buff *msg, const struct ib_qp *qp)
{
	const struct ib_xrcd *xrcd = ibcore_xrc_rcv_owner(qp);
	struct nlattr *nest;

	if (!xrcd)
		return 0;
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest || rdma_nl_put_driver_u32(msg, "xrcd", ibcore_xrcd_priv(xrcd)->id) ||
	    (xrcd->inode && rdma_nl_put_driver_u64(msg, "xrcd_inode", xrcd->inode->i_ino)))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int fill_qp(struct sk_buff *msg, bool admin,
		   struct rdma_restrack_entry *res, u32 port)
{
	struct ib_qp *qp = container_of(res, struct ib_qp, res);
	int ret;

	if (port && port != qp->port)
		return -EAGAIN;
	ret = ibcore_nldev_put_owner(msg, res);
	if (ret)
		return ret;
	if (qp->port &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, qp->port))
		return -EMSGSIZE;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num) ||
	    put_pdn(msg, res, qp->pd))
		return -EMSGSIZE;
	ret = put_qp_attr(msg, qp);
	if (ret)
		return ret;
	/* A message has room for one such nest: the provider's, if it has any. */
	if (!qp->device->ops.fill_res_qp_entry)
		return put_qp_domain(msg, qp);
	return qp->device->ops.fill_res_qp_entry(msg, qp);
}

static int fill_qp_raw(struct sk_buff *msg, bool admin,
		       struct rdma_restrack_entry *res, u32 port)
{
	struct ib_qp *qp = container_of(res, struct ib_qp, res);

	if (port && port != qp->port)
		return -EAGAIN;
	if (!qp->device->ops.fill_res_qp_entry_raw)
		return -EINVAL;
	return qp->device->ops.fill_res_qp_entry_raw(msg, qp);
}

/* ---- CM_ID ---- */

static int put_sockaddr(struct sk_buff *msg, int attr,
			const struct sockaddr_storage *addr)
{
	return addr->ss_family ? nla_put(msg, attr, sizeof(*addr), addr) : 0;
}

/* What the CM waits for, which is shown with the provider's details (rdma -dd). */
static int put_cm_wait(struct sk_buff *msg, const struct ibex_cm_wait *wait)
{
	struct nlattr *nest;

	if (!wait->for_what)
		return 0;
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest || rdma_nl_put_driver_string(msg, "cm_state", wait->state) ||
	    rdma_nl_put_driver_string(msg, "waits_for", wait->for_what) ||
	    rdma_nl_put_driver_u32(msg, "resent", wait->resent) ||
	    rdma_nl_put_driver_u32(msg, "waited_ms", wait->waited_ms))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int fill_cm_id(struct sk_buff *msg, bool admin,
		      struct rdma_restrack_entry *res, u32 port)
{
	struct rdma_restrack_cm_id *cm_id =
		container_of(res, struct rdma_restrack_cm_id, res);
	struct rdma_restrack_cm_state state = {};
	struct rdma_cm_id *id = cm_id->id;
	int ret;

	if (port && port != id->port_num)
		return -EAGAIN;
	ret = ibcore_nldev_put_owner(msg, res);
	if (ret)
		return ret;

	cm_id->query(cm_id, &state);
	if (id->port_num &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, id->port_num))
		return -EMSGSIZE;
	/* The QP type is shown only if there is a QP. */
	if (state.qp_num &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, state.qp_num) ||
	     nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, id->qp_type)))
		return -EMSGSIZE;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PS, id->ps) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_STATE, state.state) ||
	    put_sockaddr(msg, RDMA_NLDEV_ATTR_RES_SRC_ADDR,
			 &id->route.addr.src_addr) ||
	    put_sockaddr(msg, RDMA_NLDEV_ATTR_RES_DST_ADDR,
			 &id->route.addr.dst_addr) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CM_IDN, res->id))
		return -EMSGSIZE;
	if (!id->device->ops.fill_res_cm_id_entry)
		return put_cm_wait(msg, &state.wait);
	return id->device->ops.fill_res_cm_id_entry(msg, id);
}

/* ---- CQ ---- */

static int fill_cq(struct sk_buff *msg, bool admin,
		   struct rdma_restrack_entry *res, u32 port)
{
	struct ib_cq *cq = container_of(res, struct ib_cq, res);
	int ret;

	ret = ibcore_nldev_put_owner(msg, res);
	if (ret)
		return ret;
	if (rdma_is_kernel_res(res) &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_POLL_CTX, cq->poll_ctx))
		return -EMSGSIZE;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQE, cq->cqe) ||
	    ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_RES_USECNT,
				 atomic_read(&cq->usecnt)) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_DIM, !!cq->dim) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQN, res->id) ||
	    put_ctxn(msg, (struct ib_uobject *)cq->uobject))
		return -EMSGSIZE;
	if (!cq->device->ops.fill_res_cq_entry)
		return 0;
	return cq->device->ops.fill_res_cq_entry(msg, cq);
}

static int fill_cq_raw(struct sk_buff *msg, bool admin,
		       struct rdma_restrack_entry *res, u32 port)
{
	struct ib_cq *cq = container_of(res, struct ib_cq, res);

	if (!cq->device->ops.fill_res_cq_entry_raw)
		return -EINVAL;
	return cq->device->ops.fill_res_cq_entry_raw(msg, cq);
}

/* ---- MR ---- */

static int fill_mr(struct sk_buff *msg, bool admin,
		   struct rdma_restrack_entry *res, u32 port)
{
	struct ib_mr *mr = container_of(res, struct ib_mr, res);
	int ret;

	ret = ibcore_nldev_put_owner(msg, res);
	if (ret)
		return ret;
	if (admin && (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RKEY, mr->rkey) ||
		      nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LKEY, mr->lkey)))
		return -EMSGSIZE;
	/*
	 * If the MR is moved to another PD, rdma_restrack_sync() keeps the old
	 * PD until this is done.
	 */
	if (ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_MRN, res->id) ||
	    put_pdn(msg, res, READ_ONCE(mr->pd)))
		return -EMSGSIZE;
	if (!mr->device->ops.fill_res_mr_entry)
		return 0;
	return mr->device->ops.fill_res_mr_entry(msg, mr);
}

static int fill_mr_raw(struct sk_buff *msg, bool admin,
		       struct rdma_restrack_entry *res, u32 port)
{
	struct ib_mr *mr = container_of(res, struct ib_mr, res);

	if (!mr->device->ops.fill_res_mr_entry_raw)
		return -EINVAL;
	return mr->device->ops.fill_res_mr_entry_raw(msg, mr);
}

/* ---- PD ---- */

static int put_pd_keys(struct sk_buff *msg, const struct ib_pd *pd)
{
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY,
			pd->local_dma_lkey))
		return -EMSGSIZE;
	if ((pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY) &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY,
			pd->unsafe_global_rkey))
		return -EMSGSIZE;
	return 0;
}

static int fill_pd(struct sk_buff *msg, bool admin,
		   struct rdma_restrack_entry *res, u32 port)
{
	struct ib_pd *pd = container_of(res, struct ib_pd, res);
	int ret;

	ret = ibcore_nldev_put_owner(msg, res);
	if (ret)
		return ret;
	if (admin && put_pd_keys(msg, pd))
		return -EMSGSIZE;
	if (ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_RES_USECNT,
				 atomic_read(&pd->usecnt)) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, res->id) ||
	    put_ctxn(msg, pd->uobject))
		return -EMSGSIZE;
	return 0;
}

/* ---- verbs context ---- */

static int fill_ctx(struct sk_buff *msg, bool admin,
		    struct rdma_restrack_entry *res, u32 port)
{
	int ret = ibcore_nldev_put_owner(msg, res);

	return ret ?: nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CTXN, res->id);
}

/* ---- SRQ ---- */

/* The caller holds the QP's entry, so the SRQ exists. */
static bool srq_of_qp(const struct ib_qp *qp, u32 *id)
{
	if (qp->srq)
		*id = qp->srq->res.id;
	return qp->srq;
}

static int fill_srq(struct sk_buff *msg, bool admin,
		    struct rdma_restrack_entry *res, u32 port)
{
	struct ib_srq *srq = container_of(res, struct ib_srq, res);
	int ret;

	ret = ibcore_nldev_put_owner(msg, res);
	if (ret)
		return ret;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_SRQN, res->id) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, srq->srq_type) ||
	    put_pdn(msg, res, srq->pd))
		return -EMSGSIZE;
	if (ib_srq_has_cq(srq->srq_type) && srq->ext.cq &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQN, srq->ext.cq->res.id))
		return -EMSGSIZE;
	return ibex_fill_res_srq(msg, srq);
}

static int fill_srq_raw(struct sk_buff *msg, bool admin,
			struct rdma_restrack_entry *res, u32 port)
{
	return ibex_fill_res_srq_raw(msg, container_of(res, struct ib_srq, res));
}

#define RES_KIND(cmd, kind, idattr, fn, ...)				\
	[RDMA_NLDEV_CMD_RES_##cmd] = {					\
		.type = RDMA_RESTRACK_##kind,				\
		.table = RDMA_NLDEV_ATTR_RES_##kind,			\
		.entry = RDMA_NLDEV_ATTR_RES_##kind##_ENTRY,		\
		.id = RDMA_NLDEV_ATTR_RES_##idattr,			\
		.fill = fn,						\
		__VA_ARGS__						\
	}

/* Indexed by command; nldev.c uses only the commands listed here. */
static const struct ibcore_nldev_res_kind res_kinds[IBEX_NLDEV_NUM_OPS] = {
	RES_KIND(QP_GET, QP, LQPN, fill_qp),
	RES_KIND(CM_ID_GET, CM_ID, CM_IDN, fill_cm_id),
	RES_KIND(CQ_GET, CQ, CQN, fill_cq),
	RES_KIND(MR_GET, MR, MRN, fill_mr),
	RES_KIND(PD_GET, PD, PDN, fill_pd),
	RES_KIND(CTX_GET, CTX, CTXN, fill_ctx),
	RES_KIND(SRQ_GET, SRQ, SRQN, fill_srq,
		 .of_qp = srq_of_qp, .qp_ranges = true),
	RES_KIND(QP_GET_RAW, QP, LQPN, fill_qp_raw),
	RES_KIND(CQ_GET_RAW, CQ, CQN, fill_cq_raw),
	RES_KIND(MR_GET_RAW, MR, MRN, fill_mr_raw),
	RES_KIND(SRQ_GET_RAW, SRQ, SRQN, fill_srq_raw),
};

const struct ibcore_nldev_res_kind *ibcore_nldev_res_kind(u32 cmd)
{
	return &res_kinds[cmd];
}
