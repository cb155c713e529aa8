// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queries of an id's addresses, path records and GIDs.
 *
 * The id's handler may change these, so it is kept from running meanwhile.
 */
#include <linux/nospec.h>
#include <rdma/ib.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_marshall.h>

#include "ucm.h"

#define UCM_PATHS	2	/* primary and alternate */

union ucm_query_resp {
	struct rdma_ucm_query_addr_resp addr;
	struct rdma_ucm_query_path_resp path;
	u8 room[sizeof(struct rdma_ucm_query_path_resp) +
		UCM_PATHS * sizeof(struct ib_path_rec_data)];
};

/* Fills in @resp, which is zeroed, and returns its length. */
typedef size_t (*ucm_query_fn)(struct rdma_cm_id *cm_id, void *resp);

static int ucm_run_query(struct ucm_call *call, ucm_query_fn fn, void *resp)
{
	const struct rdma_ucm_query *cmd = &call->cmd.query;
	struct ucm_id *id;
	size_t len;

	id = ucm_id_get_live(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	rdma_lock_handler(id->cm_id);
	len = fn(id->cm_id, resp);
	rdma_unlock_handler(id->cm_id);
	ucm_id_release(id);
	return ucm_respond(call, cmd->response, resp, len);
}

static struct sockaddr *ucm_src(struct rdma_cm_id *cm_id)
{
	return (struct sockaddr *)&cm_id->route.addr.src_addr;
}

static struct sockaddr *ucm_dst(struct rdma_cm_id *cm_id)
{
	return (struct sockaddr *)&cm_id->route.addr.dst_addr;
}

/* @size: the room at @to; an address that does not fit is left out. */
static u16 ucm_copy_addr(void *to, const struct sockaddr *addr, size_t size)
{
	int len = rdma_addr_size(addr);

	if (len > size)
		return 0;
	memcpy(to, addr, len);
	return len;
}

/* Without a path record, fills in what the first one would have: GIDs and P_Key. */
static void ucm_endpoints(struct rdma_cm_id *cm_id, struct ib_user_path_rec *rec)
{
	struct rdma_dev_addr *dev_addr = &cm_id->route.addr.dev_addr;
	union ib_gid sgid, dgid;

	rdma_read_gids(cm_id, &sgid, &dgid);
	memcpy(rec->sgid, sgid.raw, sizeof(rec->sgid));
	memcpy(rec->dgid, dgid.raw, sizeof(rec->dgid));
	if (rdma_protocol_roce(cm_id->device, cm_id->port_num))
		rec->pkey = cpu_to_be16(0xffff);
	else if (rdma_cap_ib_sa(cm_id->device, cm_id->port_num))
		rec->pkey = cpu_to_be16(ib_addr_get_pkey(dev_addr));
}

static int ucm_nr_paths(const struct rdma_cm_id *cm_id)
{
	return cm_id->route.path_rec ?
	       min(cm_id->route.num_pri_alt_paths, UCM_PATHS) : 0;
}

static size_t ucm_fill_route(struct rdma_cm_id *cm_id, void *to)
{
	struct rdma_ucm_query_route_resp *resp = to;
	int i, nr = ucm_nr_paths(cm_id);

	ucm_copy_addr(&resp->src_addr, ucm_src(cm_id), sizeof(resp->src_addr));
	ucm_copy_addr(&resp->dst_addr, ucm_dst(cm_id), sizeof(resp->dst_addr));
	if (!cm_id->device)
		return sizeof(*resp);

	resp->node_guid = (__force __u64)cm_id->device->node_guid;
	resp->ibdev_index = cm_id->device->index;
	resp->port_num = cm_id->port_num;
	resp->num_paths = nr;
	for (i = 0; i < nr; i++)
		ib_copy_path_rec_to_user(&resp->ib_route[i], &cm_id->route.path_rec[i]);
	if (!nr)
		ucm_endpoints(cm_id, &resp->ib_route[0]);
	return sizeof(*resp);
}

int ucm_query_route(struct ucm_call *call)
{
	struct rdma_ucm_query_route_resp resp = {};

	return ucm_run_query(call, ucm_fill_route, &resp);
}

static void ucm_fill_device(struct rdma_cm_id *cm_id,
			    struct rdma_ucm_query_addr_resp *resp)
{
	struct rdma_dev_addr *dev_addr = &cm_id->route.addr.dev_addr;
	const struct ib_device *device = cm_id->device;

	if (device) {
		resp->ibdev_index = device->index;
		resp->node_guid = (__force __u64)device->node_guid;
		resp->pkey = (__force __u16)cpu_to_be16(ib_addr_get_pkey(dev_addr));
		resp->port_num = cm_id->port_num;
	}
}

static size_t ucm_fill_addr(struct rdma_cm_id *cm_id, void *to)
{
	struct rdma_ucm_query_addr_resp *resp = to;

	resp->src_size = ucm_copy_addr(&resp->src_addr, ucm_src(cm_id),
				       sizeof(resp->src_addr));
	resp->dst_size = ucm_copy_addr(&resp->dst_addr, ucm_dst(cm_id),
				       sizeof(resp->dst_addr));
	ucm_fill_device(cm_id, resp);
	return sizeof(*resp);
}

/* Stores an address of any family as AF_IB. */
static u16 ucm_fill_sib(struct rdma_cm_id *cm_id, void *to, struct sockaddr *addr,
			const union ib_gid *gid, __be16 pkey)
{
	struct sockaddr_ib *sib = to;

	if (addr->sa_family == AF_IB) {
		memcpy(sib, addr, sizeof(*sib));
		return sizeof(*sib);
	}
	sib->sib_family = AF_IB;
	sib->sib_pkey = pkey;
	memcpy(&sib->sib_addr, gid, sizeof(sib->sib_addr));
	sib->sib_sid = rdma_get_service_id(cm_id, addr);
	return sizeof(*sib);
}

static size_t ucm_fill_gid(struct rdma_cm_id *cm_id, void *to)
{
	struct rdma_ucm_query_addr_resp *resp = to;
	union ib_gid sgid, dgid;
	__be16 pkey;

	ucm_fill_device(cm_id, resp);
	pkey = (__force __be16)resp->pkey;
	rdma_read_gids(cm_id, &sgid, &dgid);
	resp->src_size = ucm_fill_sib(cm_id, &resp->src_addr, ucm_src(cm_id), &sgid,
				      pkey);
	resp->dst_size = ucm_fill_sib(cm_id, &resp->dst_addr, ucm_dst(cm_id), &dgid,
				      pkey);
	return sizeof(*resp);
}

/* Fills in all paths, even if the process has room for the first only. */
static size_t ucm_fill_path(struct rdma_cm_id *cm_id, void *to)
{
	struct rdma_ucm_query_path_resp *resp = to;
	struct ib_path_rec_data *data;
	struct sa_path_rec *rec, ib;
	int i, nr = ucm_nr_paths(cm_id);

	resp->num_paths = nr;
	for (i = 0; i < nr; i++) {
		rec = &cm_id->route.path_rec[i];
		data = &resp->path_data[i];
		data->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
		if (rec->rec_type == SA_PATH_REC_TYPE_OPA) {
			sa_convert_path_opa_to_ib(&ib, rec);
			rec = &ib;
		}
		ib_sa_pack_path(rec, data->path_rec);
	}
	return struct_size(resp, path_data, nr);
}

static const struct {
	ucm_query_fn fn;
	u16 min_out;
} ucm_queries[] = {
	[RDMA_USER_CM_QUERY_ADDR] = { ucm_fill_addr, UCM_ADDR_MIN },
	[RDMA_USER_CM_QUERY_PATH] = { ucm_fill_path, UCM_PATH_MIN },
	[RDMA_USER_CM_QUERY_GID] = { ucm_fill_gid, UCM_ADDR_MIN },
};

int ucm_query(struct ucm_call *call)
{
	u32 option = call->cmd.query.option;
	union ucm_query_resp resp = {};

	if (option >= ARRAY_SIZE(ucm_queries))
		return UCM_UNKNOWN;
	option = array_index_nospec(option, ARRAY_SIZE(ucm_queries));
	if (call->room < ucm_queries[option].min_out)
		return -ENOSPC;
	return ucm_run_query(call, ucm_queries[option].fn, &resp);
}
