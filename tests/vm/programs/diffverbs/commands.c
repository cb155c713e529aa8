// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The write commands, with right values for rdma_rxe. */
#include <string.h>
#include "table.h"

/* The QP's types that rdma_rxe has. */
#define QP_TYPES	IB_UVERBS_QPT_RC, IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD
#define MAX_WR		0x100000

static bool fill_reg_mr(struct call *c)
{
	set_field(c, "hca_va", get_field(c, "start"));
	return true;
}

static bool fill_rereg_mr(struct call *c)
{
	struct object *pd = some_object(PD);

	set_field(c, "hca_va", ARENA);
	if (get_field(c, "flags") & 2) {
		if (!pd)
			return false;
		set_field(c, "pd_handle", pd->handle);
	} else {
		field_is_unused(c, "pd_handle");
	}
	return true;
}

static bool fill_create_qp(struct call *c)
{
	struct object *srq = some_object(SRQ);

	if (srq && one_in(3)) {
		set_field(c, "is_srq", 1);
		set_field(c, "srq_handle", srq->handle);
	} else {
		field_is_unused(c, "srq_handle");
	}
	return true;
}

static void qp_made(struct call *c)
{
	if (c->made)
		c->made->qp_type = get_field(c, "qp_type");
}

/* rdma_rxe writes where the queue is. */
static bool fill_modify_srq(struct call *c)
{
	c->driver[0] = ANSWER + 0x9000;
	if (get_field(c, "attr_mask") & 1)
		field_is_unused(c, "srq_limit");
	else
		field_is_unused(c, "max_wr");
	return true;
}

static bool fill_ah(struct call *c)
{
	set_field(c, "attr.grh.sgid_index", own_gid_index);
	return true;
}

static bool fill_flow(struct call *c)
{
	struct ib_uverbs_create_flow *f = (void *)c->in;
	struct ib_uverbs_flow_spec_eth *eth = (void *)(f + 1);

	f->flow_attr.num_of_specs = 1;
	f->flow_attr.size = sizeof(*eth);
	eth->type = 0x20;
	eth->size = sizeof(*eth);
	c->in_size += sizeof(*eth);
	return true;
}

static bool fill_post(struct call *c)
{
	__u32 size = get_field(c, "wqe_size");

	set_field(c, "wr_count", 1);
	c->in_size += size;
	return true;
}

#define QP_FIELDS(s)							\
	N(s, user_handle, 0, 1, 2),					\
	H(s, pd_handle, PD), H(s, send_cq_handle, CQ), H(s, recv_cq_handle, CQ),	\
	HO(s, srq_handle, SRQ),						\
	N(s, max_send_wr, MAX_WR, 1, 4, 16), N(s, max_recv_wr, MAX_WR, 1, 4, 16),	\
	N(s, max_send_sge, 32, 1, 2), N(s, max_recv_sge, 32, 1, 2),	\
	N(s, max_inline_data, 512, 0, 64),				\
	M(s, sq_sig_all, 0, 1), E(s, qp_type, QP_TYPES),		\
	K('x', s, is_srq), R(s, reserved)

#define SRQ_FIELDS(s)							\
	N(s, user_handle, 0, 1, 2), H(s, pd_handle, PD), N(s, max_wr, MAX_WR, 1, 4, 16),	\
	N(s, max_sge, 27, 1, 2), N(s, srq_limit, 0, 0, 1)

#define AH_FIELDS(s)							\
	N(s, user_handle, 0, 1), H(s, pd_handle, PD), R(s, reserved),	\
	K('g', s, attr.grh.dgid), N(s, attr.grh.flow_label, 0xfffff, 0, 5),	\
	N(s, attr.grh.sgid_index, 1023, 0), N(s, attr.grh.hop_limit, 255, 1, 64),	\
	N(s, attr.grh.traffic_class, 0, 0, 8), R(s, attr.grh.reserved),	\
	N(s, attr.dlid, 0, 0), N(s, attr.sl, 15, 0, 3), N(s, attr.src_path_bits, 0, 0),	\
	N(s, attr.static_rate, 0, 0), M(s, attr.is_global, 1),		\
	N(s, attr.port_num, 1, 1), R(s, attr.reserved)

#define POST_FIELDS(s, handle, type, size)				\
	H(s, handle, type), N(s, wr_count, 0, 1), N(s, sge_count, 0, 0),	\
	N(s, wqe_size, 0, size)

#define DEST_FIELDS(s, dest, max_port)					\
	K('g', s, dest.dgid), N(s, dest.flow_label, 0xfffff, 0, 7),	\
	N(s, dest.dlid, 0, 0), R(s, dest.reserved),			\
	N(s, dest.sgid_index, 1023, 0), N(s, dest.hop_limit, 255, 1, 64),	\
	N(s, dest.traffic_class, 0, 0, 8), N(s, dest.sl, 15, 0, 3),	\
	N(s, dest.src_path_bits, 0, 0), N(s, dest.static_rate, 0, 0),	\
	M(s, dest.is_global, 1), N(s, dest.port_num, max_port, 1)

#define MODIFY_FIELDS(s)						\
	H(s, qp_handle, QP), M(s, attr_mask, 0),			\
	E(s, qp_state, 0), E(s, cur_qp_state, 0), M(s, en_sqd_async_notify, 0, 1),	\
	M(s, qp_access_flags, 0, 1, 7, 0xf), N(s, pkey_index, 0, 0),	\
	N(s, port_num, 1, 1), N(s, qkey, 0x7fffffff, 1, 0x11111111),	\
	N(s, path_mtu, 5, 1, 3, 5), N(s, timeout, 31, 0, 14), N(s, retry_cnt, 7, 0, 7),	\
	N(s, rnr_retry, 7, 0, 7), N(s, rq_psn, 0xffffff, 0, 0x1234),	\
	N(s, max_rd_atomic, 128, 0, 1, 4), N(s, min_rnr_timer, 31, 0, 12),	\
	N(s, sq_psn, 0xffffff, 0, 0x4321), N(s, max_dest_rd_atomic, 128, 0, 1, 4),	\
	E(s, path_mig_state, 0, 1), N(s, dest_qp_num, 0xffffff, 0xfffff0),	\
	N(s, alt_pkey_index, 0, 0), N(s, alt_port_num, 1, 1), N(s, alt_timeout, 31, 0, 14),	\
	R(s, reserved), DEST_FIELDS(s, dest, 1), DEST_FIELDS(s, alt_dest, 1)

const struct command commands[] = {
	{ COMMAND("get_context", get_context, GET_CONTEXT), OUT(get_context), .makes = ASYNC,
	  .shows = "h", NO_FIELDS },
	{ COMMAND("query_device", query_device, QUERY_DEVICE), OUT(query_device), NO_FIELDS },
	{ COMMAND("query_port", query_port, QUERY_PORT), OUT(query_port),
	  FIELDS(N(query_port, port_num, 1, 1), R(query_port, reserved)) },
	{ COMMAND("alloc_pd", alloc_pd, ALLOC_PD), OUT(alloc_pd), .makes = PD, .shows = "h",
	  NO_FIELDS },
	{ COMMAND("dealloc_pd", dealloc_pd, DEALLOC_PD), .ends = PD,
	  FIELDS(H(dealloc_pd, pd_handle, PD)) },
	{ COMMAND("reg_mr", reg_mr, REG_MR), OUT(reg_mr), .makes = MR, .shows = "hkk",
	  .fill = fill_reg_mr,
	  FIELDS(K('a', reg_mr, start), N(reg_mr, length, 0, 1, 100, 4096, 8192),
		 K('a', reg_mr, hca_va), H(reg_mr, pd_handle, PD),
		 M(reg_mr, access_flags, 0, 1, 7, 0xf, 0x1f)) },
	{ COMMAND("rereg_mr", rereg_mr, REREG_MR), OUT(rereg_mr), .shows = "kk",
	  .fill = fill_rereg_mr,
	  FIELDS(H(rereg_mr, mr_handle, MR), M(rereg_mr, flags, 2, 4, 6),
		 K('a', rereg_mr, start), N(rereg_mr, length, 0, 4096),
		 K('a', rereg_mr, hca_va), HO(rereg_mr, pd_handle, PD),
		 M(rereg_mr, access_flags, 1, 7, 0xf)) },
	{ COMMAND("dereg_mr", dereg_mr, DEREG_MR), .ends = MR,
	  FIELDS(H(dereg_mr, mr_handle, MR)) },
	{ COMMAND("alloc_mw", alloc_mw, ALLOC_MW), OUT(alloc_mw), .makes = MW, .shows = "hk",
	  FIELDS(H(alloc_mw, pd_handle, PD), E(alloc_mw, mw_type, 1, 2),
		 R(alloc_mw, reserved)) },
	{ COMMAND("dealloc_mw", dealloc_mw, DEALLOC_MW), .ends = MW,
	  FIELDS(H(dealloc_mw, mw_handle, MW)) },
	{ COMMAND("create_comp_channel", create_comp_channel, CREATE_COMP_CHANNEL),
	  OUT(create_comp_channel), .makes = CHANNEL, .shows = "h", NO_FIELDS },
	{ COMMAND("create_cq", create_cq, CREATE_CQ), OUT(create_cq), .makes = CQ, .shows = "h",
	  .driver_out = 16,
	  FIELDS(N(create_cq, user_handle, 0, 1, 2), N(create_cq, cqe, 32767, 1, 16, 100),
		 N(create_cq, comp_vector, 0, 0, 1), FD(create_cq, comp_channel, CHANNEL),
		 R(create_cq, reserved)) },
	{ COMMAND_EX("create_cq_ex", ex_create_cq, CREATE_CQ), OUT(ex_create_cq), .makes = CQ,
	  .shows = "h", .driver_out = 16,
	  FIELDS(N(ex_create_cq, user_handle, 0, 1, 2), N(ex_create_cq, cqe, 32767, 1, 16, 100),
		 N(ex_create_cq, comp_vector, 0, 0, 1), FD(ex_create_cq, comp_channel, CHANNEL),
		 M(ex_create_cq, comp_mask, 0), M(ex_create_cq, flags, 0),
		 R(ex_create_cq, reserved)) },
	{ COMMAND("resize_cq", resize_cq, RESIZE_CQ), OUT(resize_cq), .driver_out = 16,
	  FIELDS(H(resize_cq, cq_handle, CQ), N(resize_cq, cqe, 32767, 1, 20, 100)) },
	{ COMMAND("poll_cq", poll_cq, POLL_CQ), .out = 56, .refused = true,
	  FIELDS(H(poll_cq, cq_handle, CQ), N(poll_cq, ne, 0, 1)) },
	{ COMMAND("req_notify_cq", req_notify_cq, REQ_NOTIFY_CQ),
	  FIELDS(H(req_notify_cq, cq_handle, CQ), M(req_notify_cq, solicited_only, 0, 1)) },
	{ COMMAND("destroy_cq", destroy_cq, DESTROY_CQ), OUT(destroy_cq), .ends = CQ,
	  .shows = ".h",
	  FIELDS(H(destroy_cq, cq_handle, CQ), R(destroy_cq, reserved)) },
	{ COMMAND("create_qp", create_qp, CREATE_QP), OUT(create_qp), .makes = QP,
	  .shows = "hk", .driver_out = 32, .fill = fill_create_qp, .worked = qp_made,
	  FIELDS(QP_FIELDS(create_qp)) },
	{ COMMAND_EX("create_qp_ex", ex_create_qp, CREATE_QP), OUT(ex_create_qp), .makes = QP,
	  .shows = "hk", .driver_out = 32, .fill = fill_create_qp, .worked = qp_made,
	  FIELDS(QP_FIELDS(ex_create_qp), M(ex_create_qp, comp_mask, 0),
		 M(ex_create_qp, create_flags, 0),
		 N(ex_create_qp, source_qpn, 0, 0)) },
	{ COMMAND("open_qp", open_qp, OPEN_QP), .out = 32, .refused = true,
	  FIELDS(H(open_qp, pd_handle, PD), N(open_qp, qpn, 0, 17), E(open_qp, qp_type, 10),
		 R(open_qp, reserved)) },
	{ COMMAND("query_qp", query_qp, QUERY_QP), OUT(query_qp),
	  FIELDS(H(query_qp, qp_handle, QP), M(query_qp, attr_mask, 1, 0x1fffff, 0x181)) },
	{ COMMAND("modify_qp", modify_qp, MODIFY_QP), .fill = fill_modify, .worked = qp_modified,
	  FIELDS(MODIFY_FIELDS(modify_qp)) },
	{ COMMAND_EX("modify_qp_ex", ex_modify_qp, MODIFY_QP), OUT(ex_modify_qp),
	  .fill = fill_modify, .worked = qp_modified,
	  FIELDS(MODIFY_FIELDS(modify_qp), N(ex_modify_qp, rate_limit, 0, 5),
		 { .name = "ex_reserved", .kind = 'r',
		   .at = offsetof(struct ib_uverbs_ex_modify_qp, reserved), .size = 4 }) },
	{ COMMAND("destroy_qp", destroy_qp, DESTROY_QP), OUT(destroy_qp), .ends = QP,
	  .shows = "k",
	  FIELDS(H(destroy_qp, qp_handle, QP), R(destroy_qp, reserved)) },
	{ COMMAND("post_send", post_send, POST_SEND), .out = 4, .fill = fill_post,
	  .answers_error = true,
	  FIELDS(POST_FIELDS(post_send, qp_handle, QP, sizeof(struct ib_uverbs_send_wr))) },
	{ COMMAND("post_recv", post_recv, POST_RECV), .out = 4, .fill = fill_post,
	  .answers_error = true,
	  .refused = true,
	  FIELDS(POST_FIELDS(post_recv, qp_handle, QP, sizeof(struct ib_uverbs_recv_wr))) },
	{ COMMAND("post_srq_recv", post_srq_recv, POST_SRQ_RECV), .out = 4, .fill = fill_post,
	  .answers_error = true,
	  .refused = true,
	  FIELDS(POST_FIELDS(post_srq_recv, srq_handle, SRQ,
			     sizeof(struct ib_uverbs_recv_wr))) },
	{ COMMAND("attach_mcast", attach_mcast, ATTACH_MCAST),
	  FIELDS(K('G', attach_mcast, gid), H(attach_mcast, qp_handle, QP),
		 N(attach_mcast, mlid, 0, 0), R(attach_mcast, reserved)) },
	{ COMMAND("detach_mcast", detach_mcast, DETACH_MCAST),
	  FIELDS(K('G', detach_mcast, gid), H(detach_mcast, qp_handle, QP),
		 N(detach_mcast, mlid, 0, 0), R(detach_mcast, reserved)) },
	{ COMMAND("create_srq", create_srq, CREATE_SRQ), OUT(create_srq), .makes = SRQ,
	  .shows = "h..k", .driver_out = 24, FIELDS(SRQ_FIELDS(create_srq)) },
	{ COMMAND("create_xsrq", create_xsrq, CREATE_XSRQ), .out = 16, .makes = SRQ,
	  .shows = "h..k", .driver_out = 24,
	  FIELDS(SRQ_FIELDS(create_xsrq), E(create_xsrq, srq_type, 0),
		 N(create_xsrq, max_num_tags, 0, 0)) },
	{ COMMAND("modify_srq", modify_srq, MODIFY_SRQ), .driver_in = 8, .fill = fill_modify_srq,
	  FIELDS(H(modify_srq, srq_handle, SRQ), M(modify_srq, attr_mask, 1, 2),
		 N(modify_srq, max_wr, MAX_WR, 16, 32), N(modify_srq, srq_limit, 0, 0, 1)) },
	{ COMMAND("query_srq", query_srq, QUERY_SRQ), OUT(query_srq),
	  FIELDS(H(query_srq, srq_handle, SRQ), R(query_srq, reserved)) },
	{ COMMAND("destroy_srq", destroy_srq, DESTROY_SRQ), OUT(destroy_srq), .ends = SRQ,
	  FIELDS(H(destroy_srq, srq_handle, SRQ), R(destroy_srq, reserved)) },
	{ COMMAND("create_ah", create_ah, CREATE_AH), OUT(create_ah), .makes = AH, .shows = "h",
	  .driver_out = 8, .fill = fill_ah, FIELDS(AH_FIELDS(create_ah)) },
	{ COMMAND("destroy_ah", destroy_ah, DESTROY_AH), .ends = AH,
	  FIELDS(H(destroy_ah, ah_handle, AH)) },
	{ COMMAND("open_xrcd", open_xrcd, OPEN_XRCD), OUT(open_xrcd), .makes = XRCD,
	  .shows = "h", .refused = true,
	  FIELDS(N(open_xrcd, fd, 0, 0xffffffff), M(open_xrcd, oflags, 0100)) },
	{ COMMAND("close_xrcd", close_xrcd, CLOSE_XRCD), .ends = XRCD, .refused = true,
	  FIELDS(H(close_xrcd, xrcd_handle, XRCD)) },
	{ COMMAND_EX("query_device_ex", ex_query_device, QUERY_DEVICE), OUT(ex_query_device),
	  FIELDS(M(ex_query_device, comp_mask, 0), R(ex_query_device, reserved)) },
	{ COMMAND_EX("modify_cq", ex_modify_cq, MODIFY_CQ), .refused = true,
	  FIELDS(H(ex_modify_cq, cq_handle, CQ), M(ex_modify_cq, attr_mask, 1),
		 N(ex_modify_cq, attr.cq_count, 0, 1), N(ex_modify_cq, attr.cq_period, 0, 1),
		 R(ex_modify_cq, reserved)) },
	{ COMMAND_EX("create_flow", create_flow, CREATE_FLOW), OUT(create_flow), .makes = FLOW,
	  .shows = ".h", .refused = true, .fill = fill_flow,
	  FIELDS(M(create_flow, comp_mask, 0), H(create_flow, qp_handle, QP),
		 E(create_flow, flow_attr.type, 0), N(create_flow, flow_attr.port, 1, 1)) },
	{ COMMAND_EX("destroy_flow", destroy_flow, DESTROY_FLOW), .ends = FLOW, .refused = true,
	  FIELDS(M(destroy_flow, comp_mask, 0), H(destroy_flow, flow_handle, FLOW)) },
	{ COMMAND_EX("create_wq", ex_create_wq, CREATE_WQ), OUT(ex_create_wq), .makes = WQ,
	  .shows = "..h..k", .refused = true,
	  FIELDS(M(ex_create_wq, comp_mask, 0), E(ex_create_wq, wq_type, 0),
		 H(ex_create_wq, pd_handle, PD), H(ex_create_wq, cq_handle, CQ),
		 N(ex_create_wq, max_wr, 0, 4), N(ex_create_wq, max_sge, 0, 1),
		 M(ex_create_wq, create_flags, 0), R(ex_create_wq, reserved)) },
	{ COMMAND_EX("modify_wq", ex_modify_wq, MODIFY_WQ), .refused = true,
	  FIELDS(M(ex_modify_wq, attr_mask, 1), H(ex_modify_wq, wq_handle, WQ),
		 E(ex_modify_wq, wq_state, 1)) },
	{ COMMAND_EX("destroy_wq", ex_destroy_wq, DESTROY_WQ), OUT(ex_destroy_wq), .ends = WQ,
	  .refused = true,
	  FIELDS(M(ex_destroy_wq, comp_mask, 0), H(ex_destroy_wq, wq_handle, WQ)) },
	{ COMMAND_EX("create_rwq_ind_table", ex_create_rwq_ind_table, CREATE_RWQ_IND_TBL),
	  .out = 16, .makes = TABLE, .shows = "..hk", .refused = true,
	  FIELDS(M(ex_create_rwq_ind_table, comp_mask, 0),
		 N(ex_create_rwq_ind_table, log_ind_tbl_size, 13, 0)) },
	{ COMMAND_EX("destroy_rwq_ind_table", ex_destroy_rwq_ind_table, DESTROY_RWQ_IND_TBL),
	  .ends = TABLE, .refused = true,
	  FIELDS(M(ex_destroy_rwq_ind_table, comp_mask, 0),
		 H(ex_destroy_rwq_ind_table, ind_tbl_handle, TABLE)) },
};

const size_t nr_commands = sizeof(commands) / sizeof(*commands);
