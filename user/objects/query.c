// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queries of the device of a file: its capabilities, ports and GIDs, and which objects
 * the process has.
 */
#include <rdma/ib_cache.h>
#include <rdma/opa_addr.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "uverbs/uverbs.h"

/* ---- the device (IBA vol. 1, 11.2.1.2) ---- */

static void device_to_user(struct ib_device *ibdev, const struct ib_device_attr *attr,
			   struct ib_uverbs_query_device_resp *resp)
{
	resp->fw_ver = attr->fw_ver;
	resp->node_guid = ibdev->node_guid;
	resp->sys_image_guid = attr->sys_image_guid;
	resp->vendor_id = attr->vendor_id;
	resp->vendor_part_id = attr->vendor_part_id;
	resp->hw_ver = attr->hw_ver;
	resp->device_cap_flags = lower_32_bits(attr->device_cap_flags);
	resp->atomic_cap = attr->atomic_cap;
	resp->local_ca_ack_delay = attr->local_ca_ack_delay;
	resp->phys_port_cnt = min_t(u32, ibdev->phys_port_cnt, U8_MAX);
	resp->page_size_cap = attr->page_size_cap;
	/* Maximum number of objects of each kind, ... */
	resp->max_qp = attr->max_qp;
	resp->max_cq = attr->max_cq;
	resp->max_mr = attr->max_mr;
	resp->max_mw = attr->max_mw;
	resp->max_pd = attr->max_pd;
	resp->max_ah = attr->max_ah;
	resp->max_srq = attr->max_srq;
	resp->max_ee = attr->max_ee;
	resp->max_rdd = attr->max_rdd;
	resp->max_raw_ipv6_qp = attr->max_raw_ipv6_qp;
	resp->max_raw_ethy_qp = attr->max_raw_ethy_qp;
	resp->max_pkeys = attr->max_pkeys;
	/* ... and limits of each object. */
	resp->max_mr_size = attr->max_mr_size;
	resp->max_qp_wr = attr->max_qp_wr;
	resp->max_sge = min(attr->max_send_sge, attr->max_recv_sge);
	resp->max_sge_rd = attr->max_sge_rd;
	resp->max_cqe = attr->max_cqe;
	resp->max_srq_wr = attr->max_srq_wr;
	resp->max_srq_sge = attr->max_srq_sge;
	resp->max_qp_rd_atom = attr->max_qp_rd_atom;
	resp->max_qp_init_rd_atom = attr->max_qp_init_rd_atom;
	resp->max_res_rd_atom = attr->max_res_rd_atom;
	resp->max_ee_rd_atom = attr->max_ee_rd_atom;
	resp->max_ee_init_rd_atom = attr->max_ee_init_rd_atom;
	resp->max_mcast_grp = attr->max_mcast_grp;
	resp->max_mcast_qp_attach = attr->max_mcast_qp_attach;
	resp->max_total_mcast_qp_attach = attr->max_total_mcast_qp_attach;
}

static int device_query_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_query_device_resp resp = {};
	struct ib_uverbs_query_device cmd;
	struct ib_ucontext *context;
	int ret;

	context = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	device_to_user(context->device, &context->device->attrs, &resp);
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static void device_to_user_ex(struct ib_device *ibdev,
			      const struct ib_device_attr *attr,
			      struct ib_uverbs_ex_query_device_resp *resp)
{
	device_to_user(ibdev, attr, &resp->base);
	resp->odp_caps.general_caps = attr->odp_caps.general_caps;
	resp->odp_caps.per_transport_caps.rc_odp_caps =
		attr->odp_caps.per_transport_caps.rc_odp_caps;
	resp->odp_caps.per_transport_caps.uc_odp_caps =
		attr->odp_caps.per_transport_caps.uc_odp_caps;
	resp->odp_caps.per_transport_caps.ud_odp_caps =
		attr->odp_caps.per_transport_caps.ud_odp_caps;
	resp->xrc_odp_caps = attr->odp_caps.per_transport_caps.xrc_odp_caps;
	resp->timestamp_mask = attr->timestamp_mask;
	resp->hca_core_clock = attr->hca_core_clock;
	resp->device_cap_flags_ex = attr->device_cap_flags;
	resp->rss_caps.supported_qpts = attr->rss_caps.supported_qpts;
	resp->rss_caps.max_rwq_indirection_tables =
		attr->rss_caps.max_rwq_indirection_tables;
	resp->rss_caps.max_rwq_indirection_table_size =
		attr->rss_caps.max_rwq_indirection_table_size;
	resp->max_wq_type_rq = attr->max_wq_type_rq;
	resp->raw_packet_caps = attr->raw_packet_caps;
	resp->tm_caps.max_rndv_hdr_size = attr->tm_caps.max_rndv_hdr_size;
	resp->tm_caps.max_num_tags = attr->tm_caps.max_num_tags;
	resp->tm_caps.flags = attr->tm_caps.flags;
	resp->tm_caps.max_ops = attr->tm_caps.max_ops;
	resp->tm_caps.max_sge = attr->tm_caps.max_sge;
	resp->cq_moderation_caps.max_cq_moderation_count =
		attr->cq_caps.max_cq_moderation_count;
	resp->cq_moderation_caps.max_cq_moderation_period =
		attr->cq_caps.max_cq_moderation_period;
	resp->max_dm_size = attr->max_dm_size;
}

/* Queries the driver again, because it also fills in a response to its library. */
static int device_query_ex_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	struct ib_uverbs_ex_query_device cmd;
	struct ib_device_attr attr = {};
	struct ib_ucontext *context;
	int ret;

	context = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (cmd.comp_mask || cmd.reserved)
		return -EINVAL;
	attrs->context = context;
	ret = context->device->ops.query_device(context->device, &attr,
						&attrs->driver_udata);
	if (ret)
		return ret;
	device_to_user_ex(context->device, &attr, &resp);
	resp.response_length = min(attrs->ucore.outlen, sizeof(resp));
	return uverbs_response(attrs, &resp, sizeof(resp));
}

/* ---- a port (IBA vol. 1, 11.2.1.3) ---- */

/* An OPA LID beyond IB's unicast LIDs is reported as 0: its GID identifies it. */
static u16 lid_to_user(struct ib_device *ibdev, u32 port, u32 lid)
{
	return rdma_cap_opa_ah(ibdev, port) ? OPA_TO_IB_UCAST_LID(lid) :
					      ib_lid_cpu16(lid);
}

static void port_to_user(struct ib_device *ibdev, u32 port,
			 const struct ib_port_attr *attr,
			 struct ib_uverbs_query_port_resp *resp)
{
	resp->state = attr->state;
	resp->phys_state = attr->phys_state;
	resp->link_layer = rdma_port_get_link_layer(ibdev, port);
	resp->max_mtu = attr->max_mtu;
	resp->active_mtu = attr->active_mtu;
	resp->max_msg_sz = attr->max_msg_sz;
	resp->gid_tbl_len = attr->gid_tbl_len;
	resp->pkey_tbl_len = attr->pkey_tbl_len;
	resp->port_cap_flags = attr->port_cap_flags;
	if (attr->ip_gids)
		resp->port_cap_flags |= IB_UVERBS_PCF_IP_BASED_GIDS;
	if (rdma_is_grh_required(ibdev, port))
		resp->flags |= IB_UVERBS_QPF_GRH_REQUIRED;
	resp->bad_pkey_cntr = attr->bad_pkey_cntr;
	resp->qkey_viol_cntr = attr->qkey_viol_cntr;
	resp->lid = lid_to_user(ibdev, port, attr->lid);
	resp->sm_lid = lid_to_user(ibdev, port, attr->sm_lid);
	resp->lmc = attr->lmc;
	resp->sm_sl = attr->sm_sl;
	resp->max_vl_num = attr->max_vl_num;
	resp->subnet_timeout = attr->subnet_timeout;
	resp->init_type_reply = attr->init_type_reply;
	resp->active_width = attr->active_width;
	/* Speeds that do not fit in 8 bits are above NDR, the fastest that does. */
	resp->active_speed = min_t(u16, attr->active_speed, IB_SPEED_NDR);
}

static int port_query(struct ib_device *ibdev, u32 port,
		      struct ib_uverbs_query_port_resp_ex *resp)
{
	struct ib_port_attr attr = {};
	int ret;

	if (!ibdev->ops.query_port)
		return -EOPNOTSUPP;
	ret = ib_query_port(ibdev, port, &attr);
	if (ret)
		return ret;
	port_to_user(ibdev, port, &attr, &resp->legacy_resp);
	resp->port_cap_flags2 = attr.port_cap_flags2;
	ibex_set_speed_ex(resp, attr.active_speed);
	return 0;
}

static int port_query_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_query_port_resp_ex resp = {};
	struct ib_uverbs_query_port cmd;
	struct ib_ucontext *context;
	int ret;

	context = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (!ret)
		ret = port_query(context->device, cmd.port_num, &resp);
	return ret ?: uverbs_response(attrs, &resp.legacy_resp,
				      sizeof(resp.legacy_resp));
}

static int UVERBS_HANDLER(UVERBS_METHOD_QUERY_PORT)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_query_port_resp_ex resp = {};
	struct ib_ucontext *context;
	u32 port;
	int ret;

	context = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = uverbs_get_const(&port, attrs, UVERBS_ATTR_QUERY_PORT_PORT_NUM);
	if (!ret)
		ret = port_query(context->device, port, &resp);
	return ret ?: uverbs_copy_to_struct_or_zero(attrs, UVERBS_ATTR_QUERY_PORT_RESP,
						    &resp, sizeof(resp));
}

/* ---- GIDs ---- */

/*
 * Copies @n entries to the user, each in @size bytes: the entries of a newer program
 * are longer than this kernel's.
 */
static int gids_to_user(struct uverbs_attr_bundle *attrs,
			const struct ib_uverbs_gid_entry *entries, size_t n, size_t size)
{
	u64 count = n;
	void *out;
	size_t i;
	int ret;

	out = uverbs_kcalloc(attrs, n, size);
	if (IS_ERR(out))
		return PTR_ERR(out);
	for (i = 0; i < n; i++)
		memcpy(out + i * size, &entries[i], sizeof(entries[i]));
	ret = uverbs_copy_to(attrs, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, out,
			     n * size);
	return ret ?: uverbs_copy_to(attrs, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
				     &count, sizeof(count));
}

static int
UVERBS_HANDLER(UVERBS_METHOD_QUERY_GID_TABLE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_gid_entry *entries;
	struct ib_ucontext *context;
	size_t size;
	u32 flags;
	ssize_t n;
	int ret;

	context = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(context))
		return PTR_ERR(context);
	/* No flag is defined yet. */
	ret = uverbs_get_flags32(&flags, attrs, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0) ?:
	      uverbs_get_const(&size, attrs, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
	if (ret)
		return ret;
	if (size < sizeof(*entries))
		return -EINVAL;
	n = uverbs_attr_get_len(attrs, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	if (n < 0)
		return n;
	if (n % size)
		return -EINVAL;
	n /= size;
	entries = uverbs_kcalloc(attrs, n, sizeof(*entries));
	if (IS_ERR(entries))
		return PTR_ERR(entries);
	n = rdma_query_gid_table(context->device, entries, n);
	return n < 0 ? n : gids_to_user(attrs, entries, n, size);
}

static void gid_to_user(const struct ib_gid_attr *attr,
			struct ib_uverbs_gid_entry *entry)
{
	struct net_device *ndev;

	memcpy(entry->gid, &attr->gid, sizeof(attr->gid));
	entry->gid_index = attr->index;
	entry->port_num = attr->port_num;
	entry->gid_type = attr->gid_type;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev))
		entry->netdev_ifindex = READ_ONCE(ndev->ifindex);
	rcu_read_unlock();
}

static int
UVERBS_HANDLER(UVERBS_METHOD_QUERY_GID_ENTRY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_gid_entry entry = {};
	const struct ib_gid_attr *attr;
	struct ib_ucontext *context;
	u32 flags, port, index;
	int ret;

	context = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(context))
		return PTR_ERR(context);
	ret = uverbs_get_flags32(&flags, attrs, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0) ?:
	      uverbs_get_const(&port, attrs, UVERBS_ATTR_QUERY_GID_ENTRY_PORT) ?:
	      uverbs_get_const(&index, attrs, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
	if (ret)
		return ret;
	if (index > INT_MAX)
		return -EINVAL;
	attr = rdma_get_gid_attr(context->device, port, index);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	gid_to_user(attr, &entry);
	rdma_put_gid_attr(attr);
	return uverbs_copy_to_struct_or_zero(attrs,
					     UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
					     &entry, sizeof(entry));
}

/* ---- the process's objects ---- */

/*
 * Lists at most @max handles, or descriptors, of objects of @type, the newest first; returns
 * how many.
 */
static u32 list_handles(struct ib_uverbs_file *file, const struct uverbs_api_object *type,
			u32 *list, u32 max)
{
	struct ib_uobject *uobj;
	u32 n = 0;

	spin_lock(&file->objects_lock);
	list_for_each_entry(uobj, &file->objects, list) {
		if (n == max)
			break;
		if (uobj->uapi_object == type)
			list[n++] = uobj->id;
	}
	spin_unlock(&file->objects_lock);
	return n;
}

static int UVERBS_HANDLER(UVERBS_METHOD_INFO_HANDLES)(struct uverbs_attr_bundle *attrs)
{
	const struct uverbs_api_object *object;
	u32 *list, n, type;
	int max, ret;

	ret = uverbs_get_const(&type, attrs, UVERBS_ATTR_INFO_OBJECT_ID);
	if (ret)
		return ret;
	max = uverbs_attr_ptr_get_array_size(attrs, UVERBS_ATTR_INFO_HANDLES_LIST,
					     sizeof(u32));
	if (max < 0)
		return max;
	list = uverbs_kcalloc(attrs, max, sizeof(u32));
	if (IS_ERR(list))
		return PTR_ERR(list);
	object = type <= U16_MAX ? uapi_get_object(attrs->ufile->device->uapi, type) : NULL;
	/* There is the type of the device, but no object of it. */
	if (type != UVERBS_OBJECT_DEVICE && (!object || object->disabled))
		return -ENOENT;
	n = list_handles(attrs->ufile, object, list, max);
	ret = uverbs_copy_to(attrs, UVERBS_ATTR_INFO_HANDLES_LIST, list,
			     n * sizeof(u32));
	return ret ?: uverbs_copy_to(attrs, UVERBS_ATTR_INFO_TOTAL_HANDLES, &n,
				     sizeof(n));
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_QUERY_PORT,
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_QUERY_PORT_RESP,
			    UVERBS_ATTR_STRUCT(struct ib_uverbs_query_port_resp_ex,
					       IBEX_QUERY_PORT_LAST),
			    UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_QUERY_PORT_PORT_NUM, u32, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_QUERY_GID_TABLE,
	UVERBS_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, u64, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
			    UVERBS_ATTR_MIN_SIZE(0), UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, u32, UA_OPTIONAL),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, u64,
			     UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_QUERY_GID_ENTRY,
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
			    UVERBS_ATTR_STRUCT(struct ib_uverbs_gid_entry,
					       netdev_ifindex),
			    UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, u32, UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, u32,
			     UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, u32, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_INFO_HANDLES,
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_INFO_OBJECT_ID, enum uverbs_default_objects,
			     UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_INFO_TOTAL_HANDLES, UVERBS_ATTR_TYPE(u32),
			    UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_INFO_HANDLES_LIST,
			    UVERBS_ATTR_MIN_SIZE(sizeof(u32)), UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_DEVICE,
			      &UVERBS_METHOD(UVERBS_METHOD_QUERY_PORT),
			      &UVERBS_METHOD(UVERBS_METHOD_QUERY_GID_TABLE),
			      &UVERBS_METHOD(UVERBS_METHOD_QUERY_GID_ENTRY),
			      &UVERBS_METHOD(UVERBS_METHOD_INFO_HANDLES));

const struct uapi_definition uverbs_query_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DEVICE),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_DEVICE,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_QUERY_DEVICE,
				     device_query_write,
				     UVERBS_REQ_RESP(ib_uverbs_query_device,
						     ib_uverbs_query_device_resp)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_QUERY_PORT, port_query_write,
				     UVERBS_REQ_RESP(ib_uverbs_query_port,
						     ib_uverbs_query_port_resp)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
					device_query_ex_write,
					UVERBS_EX_REQ_RESP(ib_uverbs_ex_query_device,
							   reserved,
							   ib_uverbs_ex_query_device_resp,
							   response_length),
					UAPI_DEF_METHOD_NEEDS_FN(query_device))),
	{}
};
