// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* LAPs that the suites send, and answers to them. */
#include "cm/lap.h"

void lap_path(struct cm_pair *pair, struct sa_path_rec *path)
{
	cm_path(pair, path);
	cm_gid(&pair->client, 2, &path->sgid);
	cm_gid(&pair->server, 2, &path->dgid);
	sa_path_set_slid(path, pair->client.hca->port[2].lid);
	sa_path_set_dlid(path, pair->server.hca->port[2].lid);
	path->packet_life_time = TEST_LIFE + 2;
	path->sl = 5;
	path->flow_label = cpu_to_be32(0x12345);
	path->traffic_class = 0x21;
}

int lap_send_path(struct cm_pair *pair, struct sa_path_rec *path)
{
	struct ibex_cm_lap_param param = {
		.path = path,
		.private_data = "load",
		.private_data_len = 5,
		.remote_cm_response_timeout = TEST_RESPONSE,
	};

	return ibex_cm_send_lap(pair->client.id, &param);
}

int lap_send(struct cm_pair *pair)
{
	struct sa_path_rec path;

	lap_path(pair, &path);
	return lap_send_path(pair, &path);
}

void lap_alternate(struct cm_pair *pair, struct ib_cm_req_param *req)
{
	static struct sa_path_rec path;

	lap_path(pair, &path);
	req->alternate_path = &path;
}

int lap_accept(struct cm_side *side)
{
	struct ibex_cm_apr_param param = {
		.status = IB_CM_APR_SUCCESS,
		.private_data = "loaded",
		.private_data_len = 7,
	};

	return ibex_cm_send_apr(side->id, &param);
}

int lap_refuse(struct cm_side *side)
{
	struct ibex_cm_apr_param param = {
		.status = IB_CM_APR_REJECT,
		.info = "because",
		.info_len = 8,
	};

	return ibex_cm_send_apr(side->id, &param);
}

int lap_later(struct cm_side *side)
{
	return ib_send_cm_mra(side->id, 18 | IB_CM_MRA_FLAG_DELAY, "later", 6);
}

int lap_mra(struct cm_side *side)
{
	return ib_send_cm_mra(side->id, 18, "later", 6);
}

int lap_rts(struct cm_side *side, struct ib_qp_attr *attr, int *mask)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = IB_QPS_RTS;
	return ib_cm_init_qp_attr(side->id, attr, mask);
}

bool lap_loads(struct cm_side *side, struct cm_side *peer)
{
	struct ib_qp_attr attr;
	int mask;

	return !lap_rts(side, &attr, &mask) &&
	       mask == (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE) &&
	       attr.path_mig_state == IB_MIG_REARM && attr.alt_port_num == 2 &&
	       rdma_ah_get_dlid(&attr.alt_ah_attr) == peer->hca->port[2].lid &&
	       rdma_ah_get_sl(&attr.alt_ah_attr) == 5;
}
