// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queue pairs: made, modified, destroyed. */
#include <errno.h>
#include <stdlib.h>
#include "vib.h"

#define QP_COMP_MASK	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |				\
			 IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

struct create_qp_resp {
	struct ib_uverbs_create_qp_resp ibv;
	struct vib_create_qp_resp vib;
};

static void qp_free(struct vib_qp *qp)
{
	ring_unmap(&qp->sq);
	vib_rq_destroy(&qp->rq);
	pthread_mutex_destroy(&qp->sq_lock);
	free(qp);
}

/* What the process has of a QP that the kernel has made.  0 or errno. */
static int qp_init(struct vib_qp *qp, int fd, const struct ibv_qp_init_attr_ex *attr,
		   const struct vib_create_qp_resp *resp)
{
	int ret;

	ret = ring_map(&qp->sq, fd, &resp->sq);
	if (ret)
		return ret;
	ret = vib_rq_init(&qp->rq, fd, &resp->rq, attr->cap.max_recv_sge);
	if (ret) {
		ring_unmap(&qp->sq);
		return ret;
	}
	pthread_mutex_init(&qp->sq_lock, NULL);
	qp->sig_all = attr->sq_sig_all;
	qp->max_send_sge = attr->cap.max_send_sge;
	qp->max_inline = attr->cap.max_inline_data;
	return 0;
}

static int qp_create(struct vib_qp *qp, struct ibv_context *context,
		     struct ibv_qp_init_attr_ex *caller_attr)
{
	struct ibv_qp_init_attr_ex copy = *caller_attr, *attr = &copy;
	struct create_qp_resp resp = { 0 };
	struct cmd_create_qp cmd;
	int ret = 0;

	/* The command does not know them; there are none. */
	attr->comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		ret = vib_qp_set_wr(qp, vib_send_ops(attr->qp_type), attr->send_ops_flags);
	if (ret)
		return ret;
	ret = ibv_cmd_create_qp_ex(context, &qp->ibv, attr, &cmd, sizeof(cmd), &resp.ibv,
				   sizeof(resp));
	if (ret)
		return ret;
	caller_attr->cap = attr->cap;
	ret = qp_init(qp, context->cmd_fd, attr, &resp.vib);
	if (ret)
		ibv_cmd_destroy_qp(&qp->ibv.qp);
	/* The command has set the mask. */
	else if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		qp->ibv.comp_mask |= VERBS_QP_EX;
	return ret;
}

struct ibv_qp *vib_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	int ret = EOPNOTSUPP;
	struct vib_qp *qp;

	if (attr->comp_mask & ~QP_COMP_MASK ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags) ||
	    (!vib_send_ops(attr->qp_type) && attr->qp_type != IBV_QPT_XRC_RECV))
		goto err;
	ret = ENOMEM;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		goto err;
	ret = qp_create(qp, context, attr);
	if (!ret)
		return &qp->ibv.qp;
	free(qp);
err:
	errno = ret;
	return NULL;
}

struct ibv_qp *vib_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = vib_create_qp_ex(pd->context, &attr_ex);

	if (qp)
		attr->cap = attr_ex.cap;
	return qp;
}

/* A target of XRC, which has no queues. */
struct ibv_qp *vib_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	const struct vib_create_qp_resp no_rings = { 0 };
	const struct ibv_qp_init_attr_ex no_queues = { 0 };
	struct ib_uverbs_create_qp_resp resp;
	struct cmd_open_qp cmd;
	struct vib_qp *qp;
	int ret;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	ret = ibv_cmd_open_qp(context, &qp->ibv, sizeof(qp->ibv), attr, &cmd, sizeof(cmd),
			      &resp, sizeof(resp));
	if (ret) {
		free(qp);
		errno = ret;
		return NULL;
	}
	qp_init(qp, context->cmd_fd, &no_queues, &no_rings);
	return &qp->ibv.qp;
}

int vib_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct cmd_query_qp cmd;

	return ibv_cmd_query_qp(qp, attr, mask, init_attr, &cmd, sizeof(cmd));
}

/* ---- reset and destruction ---- */

static void qp_clean_cqs(struct ibv_qp *qp)
{
	vib_cq_clean(qp->recv_cq, qp->qp_num);
	if (qp->send_cq != qp->recv_cq)
		vib_cq_clean(qp->send_cq, qp->qp_num);
}

/* When it is reset the kernel takes all requests from both rings. */
int vib_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct cmd_modify_qp cmd;
	int ret;

	ret = ibv_cmd_modify_qp(qp, attr, mask, &cmd, sizeof(cmd));
	if (!ret && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		qp_clean_cqs(qp);
	return ret;
}

int vib_destroy_qp(struct ibv_qp *qp)
{
	int ret = destroy_error(ibv_cmd_destroy_qp(qp));

	if (ret)
		return ret;
	qp_clean_cqs(qp);
	qp_free(to_vib_qp(qp));
	return 0;
}
