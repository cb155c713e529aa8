// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Attributes of connected QPs (IBA vol. 1, 11.2.4.2, 11.2.4.3).  Which of them a transition
 * has, ib_modify_qp_is_ok() has said; here is whether their values can be.
 */
#include "requester/requester.h"

#define ACCESS_FLAGS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |	\
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |	\
			 IB_ACCESS_OPTIONAL)
#define MAX_TIMEOUT	31	/* of 5 bits, as the RNR timer */
#define MAX_RETRIES	7	/* of 3 bits */

/* ---- checked ---- */

static bool mtu_valid(const struct vib_port *port, enum ib_mtu mtu)
{
	return mtu >= IB_MTU_256 && mtu <= (port->info.inittypereply_mtucap & 0xf);
}

static bool limits_valid(const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_TIMEOUT && attr->timeout > MAX_TIMEOUT)
		return false;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > MAX_TIMEOUT)
		return false;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > MAX_RETRIES)
		return false;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > MAX_RETRIES)
		return false;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > VIB_MAX_RD_ATOMIC)
		return false;
	return !(mask & IB_QP_MAX_DEST_RD_ATOMIC) ||
	       attr->max_dest_rd_atomic <= VIB_MAX_RD_ATOMIC;
}

static bool alt_path_valid(const struct vib_hca *hca, const struct ib_qp_attr *attr)
{
	return vib_av_valid(hca, &attr->alt_ah_attr) &&
	       rdma_is_port_valid(&hca->ib, attr->alt_port_num) &&
	       attr->alt_pkey_index < hca->node.pkeys && attr->alt_timeout <= MAX_TIMEOUT;
}

/* The consumer rearms when there is an alternate path, and migrates; Armed is ours (17.2.8). */
static bool mig_state_valid(const struct vib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (attr->path_mig_state == IB_MIG_REARM)
		return mask & IB_QP_ALT_PATH || qp->rc->alt.port;
	return attr->path_mig_state == IB_MIG_MIGRATED;
}

int vib_rc_check_attrs(const struct vib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const struct vib_hca *hca = to_vib_hca(qp->ib.device);

	if (mask & IB_QP_CAP)
		return -EOPNOTSUPP;
	if (!limits_valid(attr, mask))
		return -EINVAL;
	if (mask & IB_QP_AV && !vib_av_valid(hca, &attr->ah_attr))
		return -EINVAL;
	if (mask & IB_QP_ALT_PATH && !alt_path_valid(hca, attr))
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU && !mtu_valid(qp->port, attr->path_mtu))
		return -EINVAL;
	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & ~ACCESS_FLAGS)
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > IB_QPN_MASK)
		return -EINVAL;
	return mask & IB_QP_PATH_MIG_STATE && !mig_state_valid(qp, attr, mask) ? -EINVAL : 0;
}

/* ---- taken ---- */

static void take_paths(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct vib_rc *rc = qp->rc;

	if (mask & IB_QP_AV) {
		vib_av_set(&rc->path, &attr->ah_attr);
		rc->path.port = qp->port->num;
	}
	if (mask & IB_QP_ALT_PATH) {
		vib_av_set(&rc->alt, &attr->alt_ah_attr);
		WRITE_ONCE(rc->alt.port, attr->alt_port_num);
		WRITE_ONCE(rc->alt_pkey_index, attr->alt_pkey_index);
		rc->alt_timeout = attr->alt_timeout;
	}
	if (mask & IB_QP_TIMEOUT)
		rc->timeout = attr->timeout;
	if (mask & IB_QP_PATH_MTU)
		rc->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_DEST_QPN)
		rc->remote_qpn = attr->dest_qp_num;
}

static void take_limits(struct vib_rc *rc, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_RETRY_CNT)
		rc->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		rc->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		rc->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		rc->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		rc->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

void vib_rc_take_attrs(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct vib_rc *rc = qp->rc;

	lockdep_assert_held(&qp->lock);
	take_paths(qp, attr, mask);
	take_limits(rc, attr, mask);
	if (mask & IB_QP_ACCESS_FLAGS)
		rc->access = attr->qp_access_flags;
	if (mask & IB_QP_RQ_PSN)
		rc->rq_psn = attr->rq_psn & VIB_PSN_MASK;
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state == IB_MIG_REARM)
		WRITE_ONCE(rc->mig_state, IB_MIG_REARM);
}

/* A consumer that has an armed QP migrate migrates it, path and all (17.2.8.1.2). */
static void modified_mig_state(struct vib_qp *qp, enum ib_mig_state state)
{
	if (state != IB_MIG_MIGRATED || vib_path_migrate(qp))
		return;
	spin_lock_bh(&qp->lock);
	WRITE_ONCE(qp->rc->mig_state, IB_MIG_MIGRATED);
	spin_unlock_bh(&qp->lock);
}

void vib_rc_modified(struct vib_qp *qp, const struct ib_qp_attr *attr, int mask,
		     enum ib_qp_state from)
{
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;

	/* A request that waits to begin is checked anew: READs may be allowed no more. */
	qp->rc->req.loaded = false;
	if (mask & IB_QP_PATH_MIG_STATE)
		modified_mig_state(qp, attr->path_mig_state);
	if (from == IB_QPS_INIT && to == IB_QPS_RTR)
		vib_rc_responder_start(qp);
	if (from == IB_QPS_RTR && to == IB_QPS_RTS)
		vib_requester_start(qp, attr->sq_psn & VIB_PSN_MASK);
}

/* ---- queried ---- */

void vib_rc_query(const struct vib_qp *qp, struct ib_qp_attr *attr)
{
	const struct vib_rc *rc = qp->rc;

	lockdep_assert_held(&qp->lock);
	attr->path_mtu = rc->mtu ? ib_mtu_int_to_enum(rc->mtu) : 0;
	attr->path_mig_state = rc->mig_state;
	attr->rq_psn = READ_ONCE(rc->resp.psn);
	attr->sq_psn = READ_ONCE(rc->req.next_psn);
	attr->dest_qp_num = rc->remote_qpn;
	attr->qp_access_flags = rc->access;
	vib_av_query(&rc->path, &attr->ah_attr);
	vib_av_query(&rc->alt, &attr->alt_ah_attr);
	attr->alt_pkey_index = rc->alt_pkey_index;
	attr->alt_port_num = rc->alt.port;
	attr->alt_timeout = rc->alt_timeout;
	attr->max_rd_atomic = rc->max_rd_atomic;
	attr->max_dest_rd_atomic = rc->max_dest_rd_atomic;
	attr->min_rnr_timer = rc->min_rnr_timer;
	attr->timeout = rc->timeout;
	attr->retry_cnt = rc->retry_cnt;
	attr->rnr_retry = rc->rnr_retry;
}
