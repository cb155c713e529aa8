// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of processes: their attributes (IBA vol. 1, 11.2.4.2 and 11.2.4.3;
 * ibv_modify_qp(3), ibv_query_qp(3)).
 */
#include <linux/capability.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_marshall.h>
#include <rdma/uverbs_std_types.h>
#include <ibex/netlink.h>

#include "call/call.h"
#include "queues/queues.h"

/* ---- modify ---- */

#define QP_MODIFY_MASK	IB_QP_ATTR_STANDARD_BITS
#define QP_MODIFY_EX_MASK (QP_MODIFY_MASK | IB_QP_RATE_LIMIT)

/*
 * Libraries name all attributes of an RC QP for both ends of an XRC connection; each
 * end lacks those that only the other has (IBA vol. 1, annex A14).
 */
static u32 qp_relevant_mask(enum ib_qp_type type, u32 mask)
{
	switch (type) {
	case IB_QPT_XRC_INI:
		return mask & ~(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	case IB_QPT_XRC_TGT:
		return mask & ~(IB_QP_MAX_QP_RD_ATOMIC | IB_QP_RETRY_CNT |
				IB_QP_RNR_RETRY);
	default:
		return mask;
	}
}

static int qp_check_states(const struct ib_uverbs_modify_qp *cmd, u32 mask)
{
	if ((mask & IB_QP_CUR_STATE && cmd->cur_qp_state > IB_QPS_ERR) ||
	    (mask & IB_QP_STATE && cmd->qp_state > IB_QPS_ERR) ||
	    (mask & IB_QP_PATH_MIG_STATE && cmd->path_mig_state > IB_MIG_ARMED))
		return -EINVAL;
	return 0;
}

/*
 * The alternate path names its port twice: core looks up the GID by one, drivers use
 * that GID on the other, so the two must be the same.
 */
static int qp_check_ports(struct ib_device *ibdev,
			  const struct ib_uverbs_modify_qp *cmd, u32 mask)
{
	if ((mask & IB_QP_PORT && !rdma_is_port_valid(ibdev, cmd->port_num)) ||
	    (mask & IB_QP_AV && !rdma_is_port_valid(ibdev, cmd->dest.port_num)))
		return -EINVAL;
	if (mask & IB_QP_ALT_PATH &&
	    (!rdma_is_port_valid(ibdev, cmd->alt_port_num) ||
	     cmd->alt_dest.port_num != cmd->alt_port_num))
		return -EINVAL;
	return 0;
}

/*
 * The primary path must use the port that the QP has or is given, in any state.  A QP
 * in RESET has no port yet, and takes no path.
 */
static int qp_check_path(const struct ib_qp *qp,
			 const struct ib_uverbs_modify_qp *cmd, u32 mask)
{
	u32 port = mask & IB_QP_PORT ? cmd->port_num : qp->port;

	if (mask & IB_QP_AV && port && cmd->dest.port_num != port)
		return -EINVAL;
	return 0;
}

/* Q_Keys with the high bit set are for privileged consumers (IBA vol. 1, 10.2.5). */
static int qp_check_qkey(const struct ib_uverbs_modify_qp *cmd, u32 mask)
{
	if (!(mask & IB_QP_QKEY) || !(cmd->qkey & IB_QP_SET_QKEY) ||
	    rdma_nl_get_privileged_qkey() || capable(CAP_NET_RAW))
		return 0;
	return -EPERM;
}

static void qp_take_path(struct ib_device *ibdev, struct rdma_ah_attr *ah,
			 struct ib_uverbs_qp_dest *dest)
{
	ah->type = rdma_ah_find_type(ibdev, dest->port_num);
	if (dest->is_global) {
		rdma_ah_set_grh(ah, NULL, dest->flow_label, dest->sgid_index,
				dest->hop_limit, dest->traffic_class);
		rdma_ah_set_dgid_raw(ah, dest->dgid);
	} else {
		rdma_ah_set_ah_flags(ah, 0);
	}
	rdma_ah_set_make_grd(ah, false);
	rdma_ah_set_dlid(ah, dest->dlid);
	rdma_ah_set_sl(ah, dest->sl);
	rdma_ah_set_path_bits(ah, dest->src_path_bits);
	rdma_ah_set_static_rate(ah, dest->static_rate);
	rdma_ah_set_port_num(ah, dest->port_num);
}

/* Retries, timers and limits of a connected QP (IBA vol. 1, 11.2.5.2). */
static void qp_take_limits(struct ib_qp_attr *attr,
			   const struct ib_uverbs_modify_qp *cmd, u32 mask)
{
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		attr->max_rd_atomic = cmd->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		attr->max_dest_rd_atomic = cmd->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		attr->min_rnr_timer = cmd->min_rnr_timer;
	if (mask & IB_QP_TIMEOUT)
		attr->timeout = cmd->timeout;
	if (mask & IB_QP_RETRY_CNT)
		attr->retry_cnt = cmd->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		attr->rnr_retry = cmd->rnr_retry;
}

/*
 * @attr is zeroed, and stays zero where the mask does not name an attribute: what the
 * user has there was not checked.
 */
static void qp_take_attr(struct ib_device *ibdev, struct ib_qp_attr *attr,
			 struct ib_uverbs_modify_qp *cmd, u32 mask)
{
	if (mask & IB_QP_STATE)
		attr->qp_state = cmd->qp_state;
	if (mask & IB_QP_CUR_STATE)
		attr->cur_qp_state = cmd->cur_qp_state;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		attr->en_sqd_async_notify = cmd->en_sqd_async_notify;
	if (mask & IB_QP_ACCESS_FLAGS)
		attr->qp_access_flags = cmd->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		attr->pkey_index = cmd->pkey_index;
	if (mask & IB_QP_PORT)
		attr->port_num = cmd->port_num;
	if (mask & IB_QP_QKEY)
		attr->qkey = cmd->qkey;
	if (mask & IB_QP_PATH_MTU)
		attr->path_mtu = cmd->path_mtu;
	if (mask & IB_QP_PATH_MIG_STATE)
		attr->path_mig_state = cmd->path_mig_state;
	if (mask & IB_QP_RQ_PSN)
		attr->rq_psn = cmd->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		attr->sq_psn = cmd->sq_psn;
	if (mask & IB_QP_DEST_QPN)
		attr->dest_qp_num = cmd->dest_qp_num;
	qp_take_limits(attr, cmd, mask);
	if (mask & IB_QP_AV)
		qp_take_path(ibdev, &attr->ah_attr, &cmd->dest);
	if (mask & IB_QP_ALT_PATH) {
		attr->alt_port_num = cmd->alt_port_num;
		attr->alt_timeout = cmd->alt_timeout;
		attr->alt_pkey_index = cmd->alt_pkey_index;
		qp_take_path(ibdev, &attr->alt_ah_attr, &cmd->alt_dest);
	}
}

/*
 * A QP that is given a path, and has no port yet or is drained, is given the path's port, too:
 * as in-tree, so that a type whose port may not change then (UC) gets no path from a process.
 */
static u32 qp_add_port(const struct ib_qp *qp, struct ib_qp_attr *attr, u32 mask)
{
	bool drained = mask & IB_QP_STATE && attr->qp_state == IB_QPS_SQD;

	if (!(mask & IB_QP_AV) || mask & IB_QP_PORT || (qp->port && !drained))
		return mask;
	attr->port_num = rdma_ah_get_port_num(&attr->ah_attr);
	return mask | IB_QP_PORT;
}

/* Processes may share a target QP by handles; they all take its XRC domain's lock. */
static int qp_modify_locked(struct ib_qp *qp, const struct ib_uverbs_modify_qp *cmd,
			    struct ib_qp_attr *attr, u32 mask, struct ib_udata *udata)
{
	struct ib_uqp_object *obj = qp->uobject;
	bool shared = qp->real_qp != qp;
	int ret;

	mutex_lock(&obj->lock);
	if (shared)
		down_write(&qp->xrcd->tgt_qps_rwsem);
	/* The port does not change under these locks. */
	ret = qp_check_path(qp->real_qp, cmd, mask);
	if (!ret) {
		mask = qp_add_port(qp->real_qp, attr, mask);
		ret = ib_modify_qp_with_udata(qp, attr, mask, udata);
	}
	if (shared)
		up_write(&qp->xrcd->tgt_qps_rwsem);
	mutex_unlock(&obj->lock);
	return ret;
}

static int qp_modify(struct uverbs_attr_bundle *attrs, struct ib_qp *qp,
		     struct ib_uverbs_ex_modify_qp *cmd)
{
	u32 mask = qp_relevant_mask(qp->qp_type, cmd->base.attr_mask);
	struct ib_qp_attr *attr;
	int ret;

	ret = qp_check_states(&cmd->base, mask) ?:
	      qp_check_ports(qp->device, &cmd->base, mask) ?:
	      qp_check_qkey(&cmd->base, mask);
	if (ret)
		return ret;
	attr = uverbs_zalloc(attrs, sizeof(*attr));
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	qp_take_attr(qp->device, attr, &cmd->base, mask);
	if (mask & IB_QP_RATE_LIMIT)
		attr->rate_limit = cmd->rate_limit;
	return qp_modify_locked(qp, &cmd->base, attr, mask, &attrs->driver_udata);
}

static int qp_modify_command(struct uverbs_attr_bundle *attrs,
			     struct ib_uverbs_ex_modify_qp *cmd, u32 allowed)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_qp *qp;
	int ret;

	if (cmd->base.attr_mask & ~allowed)
		return -EOPNOTSUPP;
	/* The command has no members for new sizes of the queues. */
	if (cmd->base.attr_mask & IB_QP_CAP)
		return -EINVAL;
	qp = uverbs_reads_object(&reads, UVERBS_OBJECT_QP, cmd->base.qp_handle);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = qp_modify(attrs, qp, cmd);
	uverbs_reads_put(&reads);
	return ret;
}

static int qp_modify_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_modify_qp cmd = {};
	int ret;

	ret = uverbs_request(attrs, &cmd.base, sizeof(cmd.base));
	return ret ?: qp_modify_command(attrs, &cmd, QP_MODIFY_MASK);
}

static int qp_modify_write_ex(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_modify_qp_resp resp = {
		.response_length = uverbs_response_length(attrs, sizeof(resp)),
	};
	struct ib_uverbs_ex_modify_qp cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	/* A newer kernel may know what the reserved members mean; this one does not. */
	if (cmd.reserved)
		return -EOPNOTSUPP;
	ret = qp_modify_command(attrs, &cmd, QP_MODIFY_EX_MASK);
	return ret ?: uverbs_response(attrs, &resp, sizeof(resp));
}

/* ---- query ---- */

static void qp_give_path(struct ib_device *ibdev, struct ib_uverbs_qp_dest *dest,
			 struct rdma_ah_attr *ah)
{
	struct ib_uverbs_ah_attr user;

	ib_copy_ah_attr_to_user(ibdev, &user, ah);
	memcpy(dest->dgid, user.grh.dgid, sizeof(dest->dgid));
	dest->flow_label = user.grh.flow_label;
	dest->sgid_index = user.grh.sgid_index;
	dest->hop_limit = user.grh.hop_limit;
	dest->traffic_class = user.grh.traffic_class;
	dest->dlid = user.dlid;
	dest->sl = user.sl;
	dest->src_path_bits = user.src_path_bits;
	dest->static_rate = user.static_rate;
	dest->is_global = user.is_global;
	dest->port_num = user.port_num;
}

static void qp_give_attr(struct ib_device *ibdev, struct ib_uverbs_query_qp_resp *resp,
			 struct ib_qp_attr *attr)
{
	qp_give_path(ibdev, &resp->dest, &attr->ah_attr);
	qp_give_path(ibdev, &resp->alt_dest, &attr->alt_ah_attr);
	resp->max_send_wr = attr->cap.max_send_wr;
	resp->max_recv_wr = attr->cap.max_recv_wr;
	resp->max_send_sge = attr->cap.max_send_sge;
	resp->max_recv_sge = attr->cap.max_recv_sge;
	resp->max_inline_data = attr->cap.max_inline_data;
	resp->qkey = attr->qkey;
	resp->rq_psn = attr->rq_psn;
	resp->sq_psn = attr->sq_psn;
	resp->dest_qp_num = attr->dest_qp_num;
	resp->qp_access_flags = attr->qp_access_flags;
	resp->pkey_index = attr->pkey_index;
	resp->alt_pkey_index = attr->alt_pkey_index;
	resp->qp_state = attr->qp_state;
	resp->cur_qp_state = attr->cur_qp_state;
	resp->path_mtu = attr->path_mtu;
	resp->path_mig_state = attr->path_mig_state;
	resp->sq_draining = attr->sq_draining;
	resp->max_rd_atomic = attr->max_rd_atomic;
	resp->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	resp->min_rnr_timer = attr->min_rnr_timer;
	resp->port_num = attr->port_num;
	resp->timeout = attr->timeout;
	resp->retry_cnt = attr->retry_cnt;
	resp->rnr_retry = attr->rnr_retry;
	resp->alt_port_num = attr->alt_port_num;
	resp->alt_timeout = attr->alt_timeout;
}

/* Buffers for a query, zeroed, because drivers do not set all members. */
struct qp_query {
	struct ib_qp_attr attr;
	struct ib_qp_init_attr init;
	struct ib_uverbs_query_qp_resp resp;
};

static int qp_query(struct ib_qp *qp, u32 mask, struct qp_query *query)
{
	int ret;

	query->init.sq_sig_type = IB_SIGNAL_REQ_WR;	/* 0 is ALL_WR */
	ret = ib_query_qp(qp, &query->attr, mask, &query->init);
	if (ret)
		return ret;
	qp_give_attr(qp->device, &query->resp, &query->attr);
	query->resp.sq_sig_all = query->init.sq_sig_type == IB_SIGNAL_ALL_WR;
	return 0;
}

static int qp_query_write(struct uverbs_attr_bundle *attrs)
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_uverbs_query_qp cmd;
	struct qp_query *query;
	struct ib_qp *qp;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	query = uverbs_zalloc(attrs, sizeof(*query));
	if (IS_ERR(query))
		return PTR_ERR(query);
	qp = uverbs_reads_object(&reads, UVERBS_OBJECT_QP, cmd.qp_handle);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ret = qp_query(qp, cmd.attr_mask, query);
	uverbs_reads_put(&reads);
	return ret ?: uverbs_response(attrs, &query->resp, sizeof(query->resp));
}

const struct uapi_definition uverbs_qp_modify_definitions[] = {
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_QP,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_MODIFY_QP, qp_modify_write,
				     UVERBS_REQ(ib_uverbs_modify_qp),
				     UAPI_DEF_METHOD_NEEDS_FN(modify_qp)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_MODIFY_QP,
					qp_modify_write_ex,
					UVERBS_EX_REQ_RESP(ib_uverbs_ex_modify_qp,
							   base,
							   ib_uverbs_ex_modify_qp_resp,
							   response_length),
					UAPI_DEF_METHOD_NEEDS_FN(modify_qp)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_QUERY_QP, qp_query_write,
				     UVERBS_REQ_RESP(ib_uverbs_query_qp,
						     ib_uverbs_query_qp_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(query_qp))),
	{}
};
