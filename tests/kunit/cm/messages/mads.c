// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages that a test makes itself, or changes in transit. */
#include <net/ipv6.h>
#include "cm/cm_test.h"

static struct fake_hca_port *cm_port(struct cm_side *side, u32 port)
{
	return &side->hca->port[port];
}

void cm_gid(struct cm_side *side, u32 port, union ib_gid *gid)
{
	if (side->ndev)
		ipv6_addr_set_v4mapped(htonl(side->qpn == 0x100 ? CLIENT_IP : SERVER_IP),
				       (struct in6_addr *)gid);
	else
		*gid = cm_port(side, port)->gids[0];
}

void *cm_held(struct cm_side *side)
{
	struct fake_hca_packet *packet;

	fake_hca_flush(side->hca);
	packet = list_first_entry_or_null(&side->hca->held, struct fake_hca_packet, entry);
	return packet ? packet->data : NULL;
}

void cm_packet(struct cm_side *from, struct cm_side *to, struct fake_hca_packet *packet)
{
	*packet = (struct fake_hca_packet){
		.src_qpn = 1,
		.slid = cm_port(from, 1)->lid,
		.dlid = cm_port(to, 1)->lid,
		.grh = from->ndev || from->hca->quirks.grh_required,
		.ipv4 = from->ndev,
	};
	cm_gid(from, 1, &packet->sgid);
	cm_gid(to, 1, &packet->dgid);
}

void cm_inject(struct cm_side *from, struct cm_side *to, const void *mad, u32 len)
{
	struct fake_hca_packet like;

	cm_packet(from, to, &like);
	fake_hca_inject(to->hca, 1, &like, mad, len);
}

/* Returns the communication ID by which @to knows its peer, or else the peer's own. */
static u32 cm_from_id(struct cm_side *from, struct cm_side *to)
{
	if (to->id && to->id->remote_id)
		return be32_to_cpu(to->id->remote_id);
	return from->id ? be32_to_cpu(from->id->local_id) : 0x7777;
}

static void cm_fill_rep(struct cm_side *from, u32 from_id, u32 to_id, void *mad)
{
	struct cm_rep_msg *rep = mad;

	IBA_SET(CM_REP_LOCAL_COMM_ID, rep, from_id);
	IBA_SET(CM_REP_REMOTE_COMM_ID, rep, to_id);
	IBA_SET(CM_REP_LOCAL_CA_GUID, rep, be64_to_cpu(from->hca->ibdev.node_guid));
	IBA_SET(CM_REP_LOCAL_QPN, rep, from->qpn);
	IBA_SET(CM_REP_STARTING_PSN, rep, 0x654321);
}

static void cm_fill_req(struct cm_side *from, struct cm_side *to, u32 from_id, void *mad)
{
	struct cm_req_msg *req = mad;

	IBA_SET(CM_REQ_LOCAL_COMM_ID, req, from_id);
	IBA_SET(CM_REQ_LOCAL_CA_GUID, req, be64_to_cpu(from->hca->ibdev.node_guid));
	IBA_SET(CM_REQ_LOCAL_QPN, req, from->qpn);
	IBA_SET(CM_REQ_SERVICE_ID, req, be64_to_cpu(TEST_SERVICE));
	IBA_SET(CM_REQ_PARTITION_KEY, req, 0xffff);
	IBA_SET(CM_REQ_PATH_PACKET_PAYLOAD_MTU, req, IB_MTU_1024);
	IBA_SET(CM_REQ_PRIMARY_SUBNET_LOCAL, req, 1);
	IBA_SET(CM_REQ_MAX_CM_RETRIES, req, TEST_RETRIES);
	IBA_SET(CM_REQ_LOCAL_CM_RESPONSE_TIMEOUT, req, TEST_RESPONSE);
	IBA_SET(CM_REQ_PRIMARY_LOCAL_ACK_TIMEOUT, req, TEST_LIFE + 1);
	IBA_SET(CM_REQ_PRIMARY_LOCAL_PORT_LID, req, cm_port(from, 1)->lid);
	IBA_SET(CM_REQ_PRIMARY_REMOTE_PORT_LID, req, cm_port(to, 1)->lid);
	cm_gid(from, 1, IBA_GET_MEM_PTR(CM_REQ_PRIMARY_LOCAL_PORT_GID, req));
	cm_gid(to, 1, IBA_GET_MEM_PTR(CM_REQ_PRIMARY_REMOTE_PORT_GID, req));
}

/* SIDR_REQ and SIDR_REP carry the request ID of the requester. */
static void cm_fill_sidr(enum ibcm_kind kind, u32 from_id, u32 to_id, void *mad)
{
	struct cm_sidr_req_msg *req = mad;
	struct cm_sidr_rep_msg *rep = mad;

	if (kind == IBCM_SIDR_REQ) {
		IBA_SET(CM_SIDR_REQ_REQUESTID, req, from_id);
		IBA_SET(CM_SIDR_REQ_PARTITION_KEY, req, 0xffff);
		IBA_SET(CM_SIDR_REQ_SERVICEID, req, be64_to_cpu(TEST_SERVICE));
	} else {
		IBA_SET(CM_SIDR_REP_REQUESTID, rep, to_id);
		IBA_SET(CM_SIDR_REP_STATUS, rep, IB_SIDR_SUCCESS);
	}
}

static void cm_fill_lap(struct cm_side *from, struct cm_side *to, void *mad)
{
	struct cm_lap_msg *lap = mad;

	IBA_SET(CM_LAP_REMOTE_QPN_EECN, lap, to->qpn);
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_PORT_LID, lap, 0x123);
	IBA_SET(CM_LAP_ALTERNATE_REMOTE_PORT_LID, lap, cm_port(to, 1)->lid);
	IBA_SET(CM_LAP_ALTERNATE_FLOW_LABEL, lap, 0xabcde);
	IBA_SET(CM_LAP_ALTERNATE_TRAFFIC_CLASS, lap, 0x77);
	IBA_SET(CM_LAP_ALTERNATE_HOP_LIMIT, lap, 9);
	IBA_SET(CM_LAP_ALTERNATE_PACKET_RATE, lap, IB_RATE_20_GBPS);
	IBA_SET(CM_LAP_ALTERNATE_SL, lap, 3);
	IBA_SET(CM_LAP_ALTERNATE_LOCAL_ACK_TIMEOUT, lap, 17);
	cm_gid(from, 1, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_LOCAL_PORT_GID, lap));
	cm_gid(to, 1, IBA_GET_MEM_PTR(CM_LAP_ALTERNATE_REMOTE_PORT_GID, lap));
}

void cm_mad(struct cm_side *from, struct cm_side *to, enum ibcm_kind kind, void *mad)
{
	u32 from_id = cm_from_id(from, to);
	u32 to_id = to->id ? be32_to_cpu(to->id->local_id) : 0;
	struct cm_rtu_msg *any = mad;

	memset(mad, 0, IB_MGMT_MAD_SIZE);
	any->hdr.base_version = IB_MGMT_BASE_VERSION;
	any->hdr.mgmt_class = IB_MGMT_CLASS_CM;
	any->hdr.class_version = IBCM_CLASS_VERSION;
	any->hdr.method = IB_MGMT_METHOD_SEND;
	any->hdr.attr_id = cpu_to_be16(be16_to_cpu(CM_REQ_ATTR_ID) + kind);
	any->hdr.tid = cpu_to_be64(0x1122334455667788ULL);
	/* Most messages begin with the two communication IDs. */
	IBA_SET(CM_RTU_LOCAL_COMM_ID, any, from_id);
	IBA_SET(CM_RTU_REMOTE_COMM_ID, any, to_id);
	switch (kind) {
	case IBCM_REQ:
		memset(mad + sizeof(any->hdr), 0, 8);
		cm_fill_req(from, to, from_id, mad);
		break;
	case IBCM_REP:
		cm_fill_rep(from, from_id, to_id, mad);
		break;
	case IBCM_MRA:
		IBA_SET(CM_MRA_SERVICE_TIMEOUT, (struct cm_mra_msg *)mad, 10);
		break;
	case IBCM_REJ:
		IBA_SET(CM_REJ_REASON, (struct cm_rej_msg *)mad, IB_CM_REJ_NO_QP);
		break;
	case IBCM_DREQ:
		IBA_SET(CM_DREQ_REMOTE_QPN_EECN, (struct cm_dreq_msg *)mad, to->qpn);
		break;
	case IBCM_LAP:
		cm_fill_lap(from, to, mad);
		break;
	case IBCM_SIDR_REQ:
	case IBCM_SIDR_REP:
		memset(mad + sizeof(any->hdr), 0, 8);
		cm_fill_sidr(kind, from_id, to_id, mad);
		break;
	default:
		break;
	}
}
