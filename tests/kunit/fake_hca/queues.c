// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The queues of processes: the fake adapter records the parameters of the verbs in
 * hca->queues.
 */
#include "fake_hca.h"

struct fake_user_srq {
	struct ib_srq ibsrq;
	struct ib_srq_attr attr;
};

struct fake_ind_tbl {
	struct ib_rwq_ind_table ibtbl;
};

static struct fake_hca_queues *queues_of(struct ib_device *ibdev)
{
	return &to_fake_hca(ibdev)->queues;
}

/* ---- work requests ---- */

static int fake_user_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			       const struct ib_send_wr **bad)
{
	struct fake_hca_queues *q = queues_of(qp->device);
	u32 n;

	q->posts++;
	q->posted = 0;
	for (; wr; wr = wr->next) {
		n = q->posted++;
		if (n < FAKE_HCA_POSTED) {
			q->send[n] = *container_of(wr, union fake_hca_send_wr, wr);
			if (wr->num_sge)
				q->sge[n] = wr->sg_list[0];
		}
		if (q->posted == q->bad) {
			*bad = wr;
			return -ENOMEM;
		}
	}
	return q->error;
}

static int fake_user_recv(struct fake_hca_queues *q, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	u32 n;

	q->posts++;
	q->posted = 0;
	for (; wr; wr = wr->next) {
		n = q->posted++;
		if (n < FAKE_HCA_POSTED) {
			q->recv[n] = *wr;
			if (wr->num_sge)
				q->sge[n] = wr->sg_list[0];
		}
		if (q->posted == q->bad) {
			*bad = wr;
			return -ENOMEM;
		}
	}
	return q->error;
}

static int fake_user_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			       const struct ib_recv_wr **bad)
{
	return fake_user_recv(queues_of(qp->device), wr, bad);
}

static int fake_user_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
				   const struct ib_recv_wr **bad)
{
	return fake_user_recv(queues_of(srq->device), wr, bad);
}

/* ---- SRQs ---- */

static int fake_user_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
				struct ib_udata *udata)
{
	struct fake_user_srq *srq = container_of(ibsrq, struct fake_user_srq, ibsrq);

	if (refuse(ibsrq->device, FAKE_SRQ))
		return -ENOMEM;
	queues_of(ibsrq->device)->srq = *init;
	init->attr.max_wr++;
	srq->attr = init->attr;
	if (ibsrq->srq_type == IB_SRQT_XRC)
		ibsrq->ext.xrc.srq_num = 77;
	return 0;
}

static int fake_user_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
				enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct fake_user_srq *srq = container_of(ibsrq, struct fake_user_srq, ibsrq);
	struct fake_hca_queues *q = queues_of(ibsrq->device);

	if (q->error)
		return q->error;
	q->srq_attr = *attr;
	q->srq_mask = mask;
	if (mask & IB_SRQ_LIMIT)
		srq->attr.srq_limit = attr->srq_limit;
	return 0;
}

static int fake_user_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	*attr = container_of(ibsrq, struct fake_user_srq, ibsrq)->attr;
	return queues_of(ibsrq->device)->error;
}

static int fake_user_destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	return retire(srq->device, FAKE_SRQ);
}

/* ---- WQs and indirection tables ---- */

static struct ib_wq *fake_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *init,
				    struct ib_udata *udata)
{
	struct ib_wq *wq;

	if (refuse(pd->device, FAKE_WQ))
		return ERR_PTR(-ENOMEM);
	wq = kzalloc(sizeof(*wq), GFP_KERNEL);
	if (!wq) {
		retire(pd->device, FAKE_WQ);
		return ERR_PTR(-ENOMEM);
	}
	queues_of(pd->device)->wq = *init;
	init->max_wr++;
	wq->wq_num = 55;
	wq->state = IB_WQS_RESET;
	return wq;
}

static int fake_destroy_wq(struct ib_wq *wq, struct ib_udata *udata)
{
	int ret = retire(wq->device, FAKE_WQ);

	if (!ret)
		kfree(wq);
	return ret;
}

static int fake_modify_wq(struct ib_wq *wq, struct ib_wq_attr *attr, u32 mask,
			  struct ib_udata *udata)
{
	struct fake_hca_queues *q = queues_of(wq->device);

	if (q->error)
		return q->error;
	q->wq_attr = *attr;
	q->wq_mask = mask;
	wq->state = attr->wq_state;
	return 0;
}

static int fake_create_ind_tbl(struct ib_rwq_ind_table *tbl,
			       struct ib_rwq_ind_table_init_attr *init,
			       struct ib_udata *udata)
{
	tbl->ind_tbl_num = 66;
	return refuse(tbl->device, FAKE_IND_TBL) ? -ENOMEM : 0;
}

static int fake_destroy_ind_tbl(struct ib_rwq_ind_table *tbl)
{
	return retire(tbl->device, FAKE_IND_TBL);
}

/* ---- flows and groups ---- */

static struct ib_flow *fake_create_flow(struct ib_qp *qp, struct ib_flow_attr *attr,
					struct ib_udata *udata)
{
	struct fake_hca_queues *q = queues_of(qp->device);
	struct ib_flow *flow;

	if (refuse(qp->device, FAKE_FLOW))
		return ERR_PTR(-ENOMEM);
	flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	if (!flow) {
		retire(qp->device, FAKE_FLOW);
		return ERR_PTR(-ENOMEM);
	}
	memcpy(q->flow, attr, min_t(size_t, attr->size, sizeof(q->flow)));
	return flow;
}

static int fake_destroy_flow(struct ib_flow *flow)
{
	int ret = retire(flow->device, FAKE_FLOW);

	if (!ret)
		kfree(flow);
	return ret;
}

static int fake_destroy_flow_action(struct ib_flow_action *action)
{
	int ret = retire(action->device, FAKE_FLOW_ACTION);

	if (!ret)
		kfree(action);
	return ret;
}

static int fake_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return refuse(qp->device, FAKE_MCAST) ? -ENOMEM : 0;
}

static int fake_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return retire(qp->device, FAKE_MCAST);
}

const struct ib_device_ops fake_hca_queue_ops = {
	.post_send		= fake_user_post_send,
	.post_recv		= fake_user_post_recv,
	.post_srq_recv		= fake_user_post_srq_recv,
	.create_srq		= fake_user_create_srq,
	.modify_srq		= fake_user_modify_srq,
	.query_srq		= fake_user_query_srq,
	.destroy_srq		= fake_user_destroy_srq,
	.create_wq		= fake_create_wq,
	.destroy_wq		= fake_destroy_wq,
	.modify_wq		= fake_modify_wq,
	.create_rwq_ind_table	= fake_create_ind_tbl,
	.destroy_rwq_ind_table	= fake_destroy_ind_tbl,
	.create_flow		= fake_create_flow,
	.destroy_flow		= fake_destroy_flow,
	.destroy_flow_action	= fake_destroy_flow_action,
	.attach_mcast		= fake_attach_mcast,
	.detach_mcast		= fake_detach_mcast,
	INIT_RDMA_OBJ_SIZE(ib_srq, fake_user_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_rwq_ind_table, fake_ind_tbl, ibtbl),
};
