// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Path and GUIDInfo records: their wire form and the queries for them. */
#include "sa.h"

/* IBA volume 1, 15.2.5.18 */
struct sa_guidinfo_wire {
	__be16 lid;
	u8 block_num;
	u8 reserved1;
	__be32 reserved2;
	u8 guids[64];
} __packed;

static_assert(sizeof(struct sa_guidinfo_wire) == 72);

/**
 * ib_sa_pack_path - convert a path record to its form in a MAD
 * @rec: record; an OPA one is converted to InfiniBand's
 * @attribute: 64 bytes
 *
 * Context: any.  IBA volume 1, 15.2.5.16.
 */
void ib_sa_pack_path(struct sa_path_rec *rec, void *attribute)
{
	struct sa_path_wire *wire = attribute;
	struct sa_path_rec ib;

	if (sa_path_is_opa(rec)) {
		sa_convert_path_opa_to_ib(&ib, rec);
		rec = &ib;
	}
	memset(wire, 0, sizeof(*wire));
	wire->service_id = rec->service_id;
	wire->dgid = rec->dgid;
	wire->sgid = rec->sgid;
	wire->dlid = htons(ntohl(sa_path_get_dlid(rec)));
	wire->slid = htons(ntohl(sa_path_get_slid(rec)));
	wire->raw_flow_hop = cpu_to_be32((u32)!!sa_path_get_raw_traffic(rec) << 31 |
					 (be32_to_cpu(rec->flow_label) & 0xfffff) << 8 |
					 rec->hop_limit);
	wire->traffic_class = rec->traffic_class;
	wire->rev_numb = !!rec->reversible << 7 | (rec->numb_path & 0x7f);
	wire->pkey = rec->pkey;
	wire->qos_sl = cpu_to_be16(be16_to_cpu(rec->qos_class) << 4 |
				   (rec->sl & 0xf));
	wire->mtu = sa_selector(rec->mtu_selector, rec->mtu);
	wire->rate = sa_selector(rec->rate_selector, rec->rate);
	wire->life_time = sa_selector(rec->packet_life_time_selector,
				      rec->packet_life_time);
	wire->preference = rec->preference;
}
EXPORT_SYMBOL(ib_sa_pack_path);

/**
 * ib_sa_unpack_path - convert a path record from its form in a MAD
 * @attribute: 64 bytes
 * @rec: the record; the caller sets its type and flags
 *
 * Context: any.  IBA volume 1, 15.2.5.16.
 */
void ib_sa_unpack_path(void *attribute, struct sa_path_rec *rec)
{
	const struct sa_path_wire *wire = attribute;
	u32 raw_flow_hop = be32_to_cpu(wire->raw_flow_hop);

	rec->service_id = wire->service_id;
	rec->dgid = wire->dgid;
	rec->sgid = wire->sgid;
	sa_path_set_dlid(rec, be16_to_cpu(wire->dlid));
	sa_path_set_slid(rec, be16_to_cpu(wire->slid));
	sa_path_set_raw_traffic(rec, raw_flow_hop >> 31);
	rec->flow_label = cpu_to_be32(raw_flow_hop >> 8 & 0xfffff);
	rec->hop_limit = raw_flow_hop;
	rec->traffic_class = wire->traffic_class;
	rec->reversible = wire->rev_numb >> 7;
	rec->numb_path = wire->rev_numb & 0x7f;
	rec->pkey = wire->pkey;
	rec->qos_class = cpu_to_be16(be16_to_cpu(wire->qos_sl) >> 4);
	rec->sl = be16_to_cpu(wire->qos_sl) & 0xf;
	rec->mtu_selector = wire->mtu >> 6;
	rec->mtu = wire->mtu & 0x3f;
	rec->rate_selector = wire->rate >> 6;
	rec->rate = wire->rate & 0x3f;
	rec->packet_life_time_selector = wire->life_time >> 6;
	rec->packet_life_time = wire->life_time & 0x3f;
	rec->preference = wire->preference;
}
EXPORT_SYMBOL(ib_sa_unpack_path);

static void path_done(struct ib_sa_query *query, int status,
		      const struct ib_sa_mad *mad)
{
	struct sa_path_rec rec = {}, opa;
	void (*callback)(int err, struct sa_path_rec *path, IBEX_SA_NUM paths,
			 void *arg) = query->callback;

	if (!mad || status) {
		callback(status, NULL, 0, query->context);
		return;
	}
	rec.rec_type = SA_PATH_REC_TYPE_IB;
	ib_sa_unpack_path((void *)mad->data, &rec);
	if (query->opa)
		sa_convert_path_ib_to_opa(&opa, &rec);
	callback(0, query->opa ? &opa : &rec, 1, query->context);
}

/**
 * ib_sa_path_rec_get - ask subnet administration for a path
 * @client: the caller
 * @device: device of the port to ask from
 * @port_num: that port, an InfiniBand one
 * @rec: what is known of the path
 * @comp_mask: IB_SA_PATH_REC_*: which fields of @rec are
 * @timeout_ms: time for the response, milliseconds
 * @gfp_mask: for the allocations
 * @callback: called once, with 0 and a path (of @rec's type), or: -ETIMEDOUT,
 *	-EINTR (cancelled), -EIO, -EINVAL (the response is an error); in process
 *	context.  The local service may return up to three paths, distinguished
 *	by their flags (IB_PATH_*); use the first if only one is needed
 * @context: for @callback
 * @query: set to what ib_sa_cancel_query() takes
 *
 * If a daemon listens as the local service it is asked first (sa/ls.c); @timeout_ms
 * then counts from when it has given no path.  While a query is in flight, identical
 * ones on the same port are not sent but share its response (sa/share.c).
 *
 * Context: as @gfp_mask.
 * Return: the query's number (0 or more), or: -ENODEV: the port has no subnet
 * administration; -EAGAIN: its address is not known now; -EINVAL: a RoCE record;
 * -ENOMEM.  IBA volume 1, 15.2.5.16.
 */
int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device,
		       u32 port_num, struct sa_path_rec *rec,
		       ib_sa_comp_mask comp_mask, unsigned long timeout_ms,
		       gfp_t gfp_mask,
		       void (*callback)(int err, struct sa_path_rec *path,
					IBEX_SA_NUM paths, void *arg),
		       void *context, struct ib_sa_query **query)
{
	struct sa_path_wire wire;
	struct ib_sa_query *q;
	struct sa_port *port;

	port = ibmad_sa_port(device, port_num);
	if (!port)
		return -ENODEV;
	if (sa_path_is_roce(rec))
		return -EINVAL;
	q = kzalloc(sizeof(*q), gfp_mask);
	if (!q)
		return -ENOMEM;
	q->done = path_done;
	q->callback = callback;
	q->context = context;
	q->opa = sa_path_is_opa(rec);
	ib_sa_pack_path(rec, &wire);
	return ibmad_sa_query(client, port, IB_MGMT_METHOD_GET,
			      IB_SA_ATTR_PATH_REC, comp_mask, &wire,
			      sizeof(wire), timeout_ms, gfp_mask, q, query);
}
EXPORT_SYMBOL(ib_sa_path_rec_get);

static void guidinfo_done(struct ib_sa_query *query, int status,
			  const struct ib_sa_mad *mad)
{
	void (*callback)(int status, struct ib_sa_guidinfo_rec *resp,
			 void *context) = query->callback;
	const struct sa_guidinfo_wire *wire;
	struct ib_sa_guidinfo_rec rec = {};

	if (!mad) {
		callback(status, NULL, query->context);
		return;
	}
	wire = (const void *)mad->data;
	rec.lid = wire->lid;
	rec.block_num = wire->block_num;
	memcpy(rec.guid_info_list, wire->guids, sizeof(wire->guids));
	callback(status, &rec, query->context);
}

/**
 * ib_sa_guid_info_rec_query - read, set or delete GUIDs of a port
 * @client: the caller
 * @device: device of the port to ask from
 * @port_num: that port, an InfiniBand one
 * @rec: LID, block number and GUIDs
 * @comp_mask: IB_SA_GUIDINFO_REC_*: which fields of @rec are valid
 * @method: IB_MGMT_METHOD_GET, _SET or IB_SA_METHOD_DELETE
 * @timeout_ms: time for the response, milliseconds
 * @gfp_mask: for the allocations
 * @callback: called once; errors as for ib_sa_path_rec_get(); in process context
 * @context: for @callback
 * @sa_query: set to what ib_sa_cancel_query() takes
 *
 * Context: as @gfp_mask.
 * Return: the query's number (0 or more); -EINVAL: another method; else as
 * ib_sa_path_rec_get().  IBA volume 1, 15.2.5.18.
 */
int ib_sa_guid_info_rec_query(struct ib_sa_client *client,
			      struct ib_device *device, u32 port_num,
			      struct ib_sa_guidinfo_rec *rec,
			      ib_sa_comp_mask comp_mask, u8 method,
			      unsigned long timeout_ms, gfp_t gfp_mask,
			      void (*callback)(int err,
					       struct ib_sa_guidinfo_rec *guids,
					       void *arg),
			      void *context, struct ib_sa_query **sa_query)
{
	struct sa_guidinfo_wire wire = {};
	struct ib_sa_query *q;
	struct sa_port *port;

	port = ibmad_sa_port(device, port_num);
	if (!port)
		return -ENODEV;
	if (method != IB_MGMT_METHOD_GET && method != IB_MGMT_METHOD_SET &&
	    method != IB_SA_METHOD_DELETE)
		return -EINVAL;
	q = kzalloc(sizeof(*q), gfp_mask);
	if (!q)
		return -ENOMEM;
	q->done = guidinfo_done;
	q->callback = callback;
	q->context = context;
	wire.lid = rec->lid;
	wire.block_num = rec->block_num;
	memcpy(wire.guids, rec->guid_info_list, sizeof(wire.guids));
	return ibmad_sa_query(client, port, method, IB_SA_ATTR_GUID_INFO_REC,
			      comp_mask, &wire, sizeof(wire), timeout_ms,
			      gfp_mask, q, sa_query);
}
EXPORT_SYMBOL(ib_sa_guid_info_rec_query);
