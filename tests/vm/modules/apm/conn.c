// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The connection, by the IB CM itself.  Both ends are adapters of this machine, so the paths
 * are made of what their ports have; no SA is asked.
 *
 * The distribution's ib_cm has no LAP to be sent: there the two calls are NULL.
 */
#include <ibex/cm.h>
#include <rdma/ib_cache.h>
#include "apm.h"

#pragma weak ibex_cm_send_lap
#pragma weak ibex_cm_send_apr

bool apm_refuse;
bool apm_wait;

static struct ib_cm_id *listener;
static DECLARE_COMPLETION(connected);
static int outcome;		/* of the attempt; written before connected */

static int path_between(u32 port_a, u32 port_b, struct sa_path_rec *path)
{
	struct ib_port_attr a, b;
	int ret;

	memset(path, 0, sizeof(*path));
	ret = ib_query_port(apm_a.dev, port_a, &a);
	if (!ret)
		ret = ib_query_port(apm_b.dev, port_b, &b);
	if (!ret)
		ret = rdma_query_gid(apm_a.dev, port_a, 0, &path->sgid);
	if (!ret)
		ret = rdma_query_gid(apm_b.dev, port_b, 0, &path->dgid);
	if (ret)
		return ret;
	path->rec_type = SA_PATH_REC_TYPE_IB;
	path->service_id = APM_SERVICE;
	sa_path_set_slid(path, a.lid);
	sa_path_set_dlid(path, b.lid);
	path->reversible = 1;
	path->pkey = cpu_to_be16(0xffff);
	path->mtu_selector = IB_SA_EQ;
	path->mtu = IB_MTU_2048;
	path->rate_selector = IB_SA_EQ;
	path->rate = IB_RATE_10_GBPS;
	path->packet_life_time_selector = IB_SA_EQ;
	path->packet_life_time = 14;	/* 67 ms */
	return 0;
}

static int answer_lap(void)
{
	struct ibex_cm_apr_param param = { .status = IB_CM_APR_REJECT };
	int ret;

	if (!apm_refuse) {
		ret = side_modify(&apm_b, IB_QPS_RTS);
		if (ret)
			return ret;
		param.status = IB_CM_APR_SUCCESS;
	}
	return ibex_cm_send_apr ? ibex_cm_send_apr(apm_b.id, &param) : -EOPNOTSUPP;
}

static int reply(struct ib_cm_id *id)
{
	struct ib_cm_rep_param rep = {
		.qp_num = apm_b.qp->qp_num,
		.starting_psn = apm_b.psn,
		.rnr_retry_count = 7,
	};
	int ret;

	apm_b.id = id;
	ret = side_modify(&apm_b, IB_QPS_INIT) ?: side_receive(&apm_b);
	if (!ret)
		ret = side_modify(&apm_b, IB_QPS_RTR) ?: side_modify(&apm_b, IB_QPS_RTS);
	return ret ?: ib_send_cm_rep(id, &rep);
}

static int passive(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	int ret = 0;

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		ret = apm_b.id ? -EBUSY : reply(id);
		if (ret && apm_b.id == id)
			apm_b.id = NULL;
		return ret;
	case IB_CM_LAP_RECEIVED:
		atomic_inc(&apm_stats[APM_LAPS]);
		if (apm_wait) {
			ib_send_cm_mra(id, 20 | IB_CM_MRA_FLAG_DELAY, NULL, 0);
			return 0;
		}
		if (answer_lap())
			atomic_inc(&apm_stats[APM_ERRORS]);
		return 0;
	case IB_CM_DREQ_RECEIVED:
		ib_send_cm_drep(id, NULL, 0);
		return 0;
	default:
		return 0;
	}
}

static void answered(const struct ib_cm_apr_event_param *apr)
{
	atomic_set(&apm_stats[APM_APR_STATUS], apr->ap_status);
	if (apr->ap_status == IB_CM_APR_SUCCESS && side_modify(&apm_a, IB_QPS_RTS))
		atomic_inc(&apm_stats[APM_ERRORS]);
	/* Last: who waits for it finds the path loaded. */
	atomic_inc(&apm_stats[APM_APRS]);
}

static int active(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		outcome = side_modify(&apm_a, IB_QPS_RTR) ?:
			  side_modify(&apm_a, IB_QPS_RTS) ?: ib_send_cm_rtu(id, NULL, 0);
		complete(&connected);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REJ_RECEIVED:
		outcome = -ECONNREFUSED;
		complete(&connected);
		break;
	case IB_CM_APR_RECEIVED:
		answered(&event->param.apr_rcvd);
		break;
	case IB_CM_LAP_ERROR:
		atomic_inc(&apm_stats[APM_LAP_ERRORS]);
		break;
	default:
		break;
	}
	return 0;
}

static int request(u32 port, u32 alternate)
{
	struct sa_path_rec path[2];
	struct ib_cm_req_param req = {
		.primary_path = &path[0],
		.service_id = APM_SERVICE,
		.qp_num = apm_a.qp->qp_num,
		.qp_type = IB_QPT_RC,
		.starting_psn = apm_a.psn,
		.remote_cm_response_timeout = 18,
		.local_cm_response_timeout = 18,
		.retry_count = 2,
		.rnr_retry_count = 7,
		.max_cm_retries = 7,
	};
	int ret;

	ret = path_between(port, port, &path[0]);
	if (!ret && alternate) {
		ret = path_between(alternate, alternate, &path[1]);
		req.alternate_path = &path[1];
	}
	if (ret)
		return ret;
	reinit_completion(&connected);
	ret = ib_send_cm_req(apm_a.id, &req);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&connected, 30 * HZ))
		return -ETIMEDOUT;
	return outcome;
}

/* The active end's QP is brought to INIT by hand: the id knows no path before the REQ. */
static int prepare(u32 port)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = port,
	};
	int ret;

	ret = ib_modify_qp(apm_a.qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX |
			   IB_QP_ACCESS_FLAGS);
	apm_a.used = !ret;
	return ret;
}

int apm_connect(const char *a, const char *b, u32 port, u32 alternate)
{
	int ret;

	if (apm_a.dev || apm_b.dev)
		return -EBUSY;
	ret = side_open(&apm_a, a) ?: side_open(&apm_b, b) ?: prepare(port);
	if (ret)
		goto out;
	listener = ib_create_cm_id(apm_b.dev, passive, NULL);
	ret = PTR_ERR_OR_ZERO(listener) ?: ib_cm_listen(listener, APM_SERVICE);
	if (ret)
		goto out;
	apm_a.id = ib_create_cm_id(apm_a.dev, active, NULL);
	ret = PTR_ERR_OR_ZERO(apm_a.id);
	if (ret)
		apm_a.id = NULL;
	else
		ret = request(port, alternate);
out:
	if (ret)
		apm_disconnect();
	else
		traffic_start();
	return ret;
}

int apm_lap(u32 port_a, u32 port_b)
{
	struct sa_path_rec path;
	struct ibex_cm_lap_param param = {
		.path = &path,
		.remote_cm_response_timeout = 18,
	};
	int ret;

	if (!apm_a.id)
		return -ENOTCONN;
	if (!ibex_cm_send_lap)
		return -EOPNOTSUPP;
	ret = path_between(port_a, port_b, &path);
	return ret ?: ibex_cm_send_lap(apm_a.id, &param);
}

int apm_answer(void)
{
	return apm_b.id ? answer_lap() : -ENOTCONN;
}

void apm_disconnect(void)
{
	traffic_stop();
	side_close(&apm_a);
	if (!IS_ERR_OR_NULL(listener))
		ib_destroy_cm_id(listener);
	listener = NULL;
	side_close(&apm_b);
}
