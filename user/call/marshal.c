// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Conversion of kernel structs to their userspace form, and back.  Every byte of the
 * userspace form is written, except what the caller fills in itself.
 *
 * In userspace LIDs have 16 bits.  A longer LID of Omni-Path is put into a special GID
 * by OPA_MAKE_ID(), from which the provider takes it.
 */
#include <rdma/ib_marshall.h>
#include <rdma/opa_addr.h>
#include <ibex/gid.h>

/* Whether userspace would mistake the LID: IBA has multicast LIDs from there on. */
static bool marshal_lid_is_extended(u32 lid)
{
	return lid >= be16_to_cpu(IB_MULTICAST_LID_BASE) &&
	       lid != be16_to_cpu(IB_LID_PERMISSIVE) &&
	       lid != be32_to_cpu(OPA_LID_PERMISSIVE);
}

static void marshal_grh(struct ib_uverbs_global_route *dst,
			const struct ib_global_route *src)
{
	memcpy(dst->dgid, src->dgid.raw, sizeof(dst->dgid));
	dst->flow_label = src->flow_label;
	dst->sgid_index = src->sgid_index;
	dst->hop_limit = src->hop_limit;
	dst->traffic_class = src->traffic_class;
}

/* Makes a GRH that carries just the DLID, in its DGID, and stays within the subnet. */
static void marshal_opa_grh(struct ib_device *device,
			    struct ib_uverbs_global_route *dst,
			    const struct rdma_ah_attr *ah_attr)
{
	union ib_gid dgid;
	u64 prefix = 0;

	ib_get_cached_subnet_prefix(device, ah_attr->port_num, &prefix);
	dgid.global.subnet_prefix = cpu_to_be64(prefix);
	dgid.global.interface_id = OPA_MAKE_ID(rdma_ah_get_dlid(ah_attr));
	memcpy(dst->dgid, dgid.raw, sizeof(dst->dgid));
	dst->hop_limit = 1;
}

/**
 * ib_copy_ah_attr_to_user() - convert address attributes for userspace
 * @device: device of the address
 * @dst: destination; all of it is written
 * @ah_attr: attributes; the DLID in host order
 *
 * RoCE attributes have no LID, and their MAC address is not copied because it follows
 * from the GID (IBA A16, A17).
 *
 * Context: any.
 */
void ib_copy_ah_attr_to_user(struct ib_device *device,
			     struct ib_uverbs_ah_attr *dst,
			     struct rdma_ah_attr *ah_attr)
{
	bool global = rdma_ah_get_ah_flags(ah_attr) & IB_AH_GRH;
	u32 dlid = rdma_ah_get_dlid(ah_attr);

	memset(dst, 0, sizeof(*dst));
	dst->sl = rdma_ah_get_sl(ah_attr);
	dst->src_path_bits = rdma_ah_get_path_bits(ah_attr);
	dst->static_rate = rdma_ah_get_static_rate(ah_attr);
	dst->port_num = rdma_ah_get_port_num(ah_attr);
	dst->is_global = global;

	if (ah_attr->type == RDMA_AH_ATTR_TYPE_OPA &&
	    marshal_lid_is_extended(dlid)) {
		dst->is_global = 1;
		if (global && ib_is_opa_gid(&ah_attr->grh.dgid))
			marshal_grh(&dst->grh, &ah_attr->grh);
		else
			marshal_opa_grh(device, &dst->grh, ah_attr);
		return;
	}
	dst->dlid = dlid;
	if (global)
		marshal_grh(&dst->grh, &ah_attr->grh);
}
EXPORT_SYMBOL(ib_copy_ah_attr_to_user);

static void marshal_qp_cap(struct ib_uverbs_qp_attr *dst,
			   const struct ib_qp_cap *cap)
{
	dst->max_send_wr = cap->max_send_wr;
	dst->max_recv_wr = cap->max_recv_wr;
	dst->max_send_sge = cap->max_send_sge;
	dst->max_recv_sge = cap->max_recv_sge;
	dst->max_inline_data = cap->max_inline_data;
}

/* Retries, timers and limits of a connected QP (IBA volume 1, 11.2.5.2). */
static void marshal_qp_limits(struct ib_uverbs_qp_attr *dst,
			      const struct ib_qp_attr *src)
{
	dst->min_rnr_timer = src->min_rnr_timer;
	dst->rnr_retry = src->rnr_retry;
	dst->retry_cnt = src->retry_cnt;
	dst->timeout = src->timeout;
	dst->alt_timeout = src->alt_timeout;
	dst->max_rd_atomic = src->max_rd_atomic;
	dst->max_dest_rd_atomic = src->max_dest_rd_atomic;
}

/**
 * ib_copy_qp_attr_to_user() - convert QP attributes for userspace
 * @device: device of the QP
 * @dst: destination; all of it is written except qp_attr_mask, which the caller sets
 * @src: attributes; all of them are copied
 *
 * Context: any.
 */
void ib_copy_qp_attr_to_user(struct ib_device *device,
			     struct ib_uverbs_qp_attr *dst,
			     struct ib_qp_attr *src)
{
	memset(dst->reserved, 0, sizeof(dst->reserved));
	dst->qp_state = src->qp_state;
	dst->cur_qp_state = src->cur_qp_state;
	dst->en_sqd_async_notify = src->en_sqd_async_notify;
	dst->sq_draining = src->sq_draining;
	dst->qp_access_flags = src->qp_access_flags;
	dst->qkey = src->qkey;
	dst->sq_psn = src->sq_psn;
	dst->rq_psn = src->rq_psn;
	dst->dest_qp_num = src->dest_qp_num;
	marshal_qp_cap(dst, &src->cap);
	marshal_qp_limits(dst, src);

	dst->path_mtu = src->path_mtu;
	dst->path_mig_state = src->path_mig_state;
	dst->port_num = src->port_num;
	dst->pkey_index = src->pkey_index;
	ib_copy_ah_attr_to_user(device, &dst->ah_attr, &src->ah_attr);
	dst->alt_port_num = src->alt_port_num;
	dst->alt_pkey_index = src->alt_pkey_index;
	ib_copy_ah_attr_to_user(device, &dst->alt_ah_attr, &src->alt_ah_attr);
}
EXPORT_SYMBOL(ib_copy_qp_attr_to_user);

/* Copies the members that have the same name in both forms of a path record. */
#define marshal_path_fields(dst, src)					\
do {									\
	typeof(dst) to = (dst);						\
	typeof(src) from = (src);					\
									\
	to->flow_label = from->flow_label;				\
	to->hop_limit = from->hop_limit;				\
	to->mtu = from->mtu;						\
	to->mtu_selector = from->mtu_selector;				\
	to->numb_path = from->numb_path;				\
	to->packet_life_time = from->packet_life_time;			\
	to->packet_life_time_selector = from->packet_life_time_selector; \
	to->pkey = from->pkey;						\
	to->preference = from->preference;				\
	to->rate = from->rate;						\
	to->rate_selector = from->rate_selector;			\
	to->reversible = from->reversible;				\
	to->sl = from->sl;						\
	to->traffic_class = from->traffic_class;			\
} while (0)

/**
 * ib_copy_path_rec_to_user() - convert a path record for userspace
 * @dst: destination; all of it is written
 * @src: record of any kind
 *
 * LIDs, P_Key and flow label stay in network order (IBA volume 1, 15.2.5.16).
 *
 * Context: any.
 */
void ib_copy_path_rec_to_user(struct ib_user_path_rec *dst,
			      struct sa_path_rec *src)
{
	struct sa_path_rec ib;

	if (src->rec_type == SA_PATH_REC_TYPE_OPA) {
		sa_convert_path_opa_to_ib(&ib, src);
		src = &ib;
	}

	memset(dst, 0, sizeof(*dst));
	marshal_path_fields(dst, src);
	memcpy(dst->sgid, src->sgid.raw, sizeof(dst->sgid));
	memcpy(dst->dgid, src->dgid.raw, sizeof(dst->dgid));
	if (src->rec_type == SA_PATH_REC_TYPE_IB) {
		dst->slid = src->ib.slid;
		dst->dlid = src->ib.dlid;
		dst->raw_traffic = src->ib.raw_traffic;
	}
}
EXPORT_SYMBOL(ib_copy_path_rec_to_user);

/**
 * ib_copy_path_rec_from_user() - convert a path record from userspace
 * @dst: destination; all of it is written
 * @src: the record, copied in but not checked
 *
 * The result is an InfiniBand record, or an Omni-Path record if one of its GIDs holds a
 * LID.  Members that the userspace form lacks (service ID, QoS class, flags) are zero.
 *
 * Context: any.
 */
void ib_copy_path_rec_from_user(struct sa_path_rec *dst,
				struct ib_user_path_rec *src)
{
	struct sa_path_rec ib;

	memset(&ib, 0, sizeof(ib));
	ib.rec_type = SA_PATH_REC_TYPE_IB;
	marshal_path_fields(&ib, src);
	memcpy(ib.sgid.raw, src->sgid, sizeof(src->sgid));
	memcpy(ib.dgid.raw, src->dgid, sizeof(src->dgid));
	ib.ib.slid = src->slid;
	ib.ib.dlid = src->dlid;
	ib.ib.raw_traffic = src->raw_traffic;

	if (ib_is_opa_gid(&ib.sgid) || ib_is_opa_gid(&ib.dgid))
		sa_convert_path_ib_to_opa(dst, &ib);
	else
		*dst = ib;
}
EXPORT_SYMBOL(ib_copy_path_rec_from_user);
