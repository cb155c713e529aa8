// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The ioctl methods, with right values for rdma_rxe. */
#include <string.h>
#include "table.h"

const struct command *command(const char *name)
{
	size_t i;

	for (i = 0; i < nr_commands; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	for (i = 0; i < nr_methods; i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

static void *pointed(struct call *c, const char *name)
{
	const struct field *f;

	for (f = c->cmd->fields; strcmp(f->name, name); f++)
		;
	return field_at(c, f);
}

static bool fill_gid_entry(struct call *c)
{
	set_field(c, "index", own_gid_index);
	return true;
}

static bool fill_qp_cap(struct call *c)
{
	struct ib_uverbs_qp_cap *cap = pointed(c, "cap");

	*cap = (struct ib_uverbs_qp_cap) {
		.max_send_wr = 1 + rnd(16),
		.max_recv_wr = 1 + rnd(16),
		.max_send_sge = 1 + rnd(2),
		.max_recv_sge = 1 + rnd(2),
	};
	return true;
}

static void qp_made(struct call *c)
{
	if (c->made)
		c->made->qp_type = get_field(c, "type");
}

static bool fill_advise(struct call *c)
{
	struct ib_uverbs_sge *sge = pointed(c, "sge");

	*sge = (struct ib_uverbs_sge){ .addr = ARENA, .length = 4096 };
	return true;
}

const struct command methods[] = {
	{ CALL("get_context", DEVICE, GET_CONTEXT), .uhw = true,
	  FIELDS(AOUTO("vectors", GET_CONTEXT_NUM_COMP_VECTORS, 4),
		 AOUTO("support", GET_CONTEXT_CORE_SUPPORT, 8)) },
	{ CALL("async_event_alloc", ASYNC_EVENT, ASYNC_EVENT_ALLOC), .makes = ASYNC,
	  FIELDS(ANEW(ASYNC_EVENT_ALLOC_FD_HANDLE)) },
	{ CALL("query_context", DEVICE, QUERY_CONTEXT), .uhw = true,
	  FIELDS(AOUTO("vectors", QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
		 AOUTO("support", QUERY_CONTEXT_CORE_SUPPORT, 8)) },
	{ CALL("info_handles", DEVICE, INFO_HANDLES),
	  FIELDS(AE("object", INFO_OBJECT_ID, UVERBS_OBJECT_PD, UVERBS_OBJECT_QP,
		    UVERBS_OBJECT_MR, UVERBS_OBJECT_CQ, UVERBS_OBJECT_SRQ),
		 AOUTO("total", INFO_TOTAL_HANDLES, 4),
		 { .name = "list", A(INFO_HANDLES_LIST), .size = 16, .kind = '>',
		   .optional = true, .shows = "kkkk" }) },
	{ CALL("query_port", DEVICE, QUERY_PORT),
	  FIELDS(AN("port", QUERY_PORT_PORT_NUM, 8, 1, 1),
		 AOUT("resp", QUERY_PORT_RESP, sizeof(struct ib_uverbs_query_port_resp_ex))) },
	{ CALL("query_gid_table", DEVICE, QUERY_GID_TABLE),
	  FIELDS(AN("size", QUERY_GID_TABLE_ENTRY_SIZE, 8, 0, 32),
		 AM("flags", QUERY_GID_TABLE_FLAGS, 8, true, 0),
		 AOUT("entries", QUERY_GID_TABLE_RESP_ENTRIES, 0x200),
		 AOUT("number", QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8)) },
	{ CALL("query_gid_entry", DEVICE, QUERY_GID_ENTRY), .fill = fill_gid_entry,
	  FIELDS(AN("port", QUERY_GID_ENTRY_PORT, 8, 1, 1),
		 AN("index", QUERY_GID_ENTRY_GID_INDEX, 8, 1023, 0),
		 AM("flags", QUERY_GID_ENTRY_FLAGS, 8, true, 0),
		 AOUT("entry", QUERY_GID_ENTRY_RESP_ENTRY, 32)) },
	{ CALL("pd_destroy", PD, PD_DESTROY), .ends = PD,
	  FIELDS(AH("pd", DESTROY_PD_HANDLE, PD)) },
	{ CALL("cq_create", CQ, CQ_CREATE), .makes = CQ, .uhw = true, .driver_out = 16,
	  FIELDS(ANEW(CREATE_CQ_HANDLE), AN("cqe", CREATE_CQ_CQE, 4, 32767, 1, 16, 100),
		 AN("user_handle", CREATE_CQ_USER_HANDLE, 8, 0, 1, 2),
		 AFD("comp_channel", CREATE_CQ_COMP_CHANNEL, CHANNEL),
		 AN("comp_vector", CREATE_CQ_COMP_VECTOR, 4, 0, 0, 1),
		 AM("flags", CREATE_CQ_FLAGS, 8, true, 0),
		 AOUT("resp_cqe", CREATE_CQ_RESP_CQE, 4),
		 AFD("event_fd", CREATE_CQ_EVENT_FD, ASYNC)) },
	{ CALL("cq_destroy", CQ, CQ_DESTROY), .ends = CQ,
	  FIELDS(AH("cq", DESTROY_CQ_HANDLE, CQ),
		 { .name = "resp", A(DESTROY_CQ_RESP), .size = 8, .kind = '>', .shows = ".h" }) },
	{ CALL("qp_create", QP, QP_CREATE), .makes = QP, .uhw = true, .driver_out = 32,
	  .fill = fill_qp_cap, .worked = qp_made,
	  FIELDS(ANEW(CREATE_QP_HANDLE), AH("pd", CREATE_QP_PD_HANDLE, PD),
		 AHO("srq", CREATE_QP_SRQ_HANDLE, SRQ),
		 AH("send_cq", CREATE_QP_SEND_CQ_HANDLE, CQ),
		 AH("recv_cq", CREATE_QP_RECV_CQ_HANDLE, CQ),
		 AN("user_handle", CREATE_QP_USER_HANDLE, 8, 0, 1, 2),
		 AIN("cap", CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap)),
		 AE("type", CREATE_QP_TYPE, IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC,
		    IB_UVERBS_QPT_UD),
		 AM("flags", CREATE_QP_FLAGS, 8, true, 0, IB_UVERBS_QP_CREATE_SQ_SIG_ALL),
		 AFD("event_fd", CREATE_QP_EVENT_FD, ASYNC),
		 AOUT("resp_cap", CREATE_QP_RESP_CAP, sizeof(struct ib_uverbs_qp_cap)),
		 AKEY("resp_qp_num", CREATE_QP_RESP_QP_NUM)) },
	{ CALL("qp_destroy", QP, QP_DESTROY), .ends = QP,
	  FIELDS(AH("qp", DESTROY_QP_HANDLE, QP), AKEY("resp", DESTROY_QP_RESP)) },
	{ CALL("srq_create", SRQ, SRQ_CREATE), .makes = SRQ, .uhw = true, .driver_out = 24,
	  FIELDS(ANEW(CREATE_SRQ_HANDLE), AH("pd", CREATE_SRQ_PD_HANDLE, PD),
		 AN("user_handle", CREATE_SRQ_USER_HANDLE, 8, 0, 1, 2),
		 AN("max_wr", CREATE_SRQ_MAX_WR, 4, 0x100000, 1, 4, 16),
		 AN("max_sge", CREATE_SRQ_MAX_SGE, 4, 27, 1, 2),
		 AN("limit", CREATE_SRQ_LIMIT, 4, 0, 0, 1),
		 AE("type", CREATE_SRQ_TYPE, IB_UVERBS_SRQT_BASIC),
		 AFD("event_fd", CREATE_SRQ_EVENT_FD, ASYNC),
		 AOUT("resp_max_wr", CREATE_SRQ_RESP_MAX_WR, 4),
		 AOUT("resp_max_sge", CREATE_SRQ_RESP_MAX_SGE, 4)) },
	{ CALL("srq_destroy", SRQ, SRQ_DESTROY), .ends = SRQ,
	  FIELDS(AH("srq", DESTROY_SRQ_HANDLE, SRQ), AOUT("resp", DESTROY_SRQ_RESP, 4)) },
	{ CALL("mr_destroy", MR, MR_DESTROY), .ends = MR,
	  FIELDS(AH("mr", DESTROY_MR_HANDLE, MR)) },
	{ CALL("query_mr", MR, QUERY_MR),
	  FIELDS(AH("mr", QUERY_MR_HANDLE, MR), AKEY("lkey", QUERY_MR_RESP_LKEY),
		 AKEY("rkey", QUERY_MR_RESP_RKEY), AOUT("length", QUERY_MR_RESP_LENGTH, 8),
		 AOUTO("iova", QUERY_MR_RESP_IOVA, 8)) },
	{ CALL("advise_mr", MR, ADVISE_MR), .refused = true, .fill = fill_advise,
	  FIELDS(AH("pd", ADVISE_MR_PD_HANDLE, PD), AE("advice", ADVISE_MR_ADVICE, 0, 1, 2),
		 AM("flags", ADVISE_MR_FLAGS, 8, false, 0, 1),
		 AIN("sge", ADVISE_MR_SGE_LIST, sizeof(struct ib_uverbs_sge))) },
	{ CALL("reg_dmabuf_mr", MR, REG_DMABUF_MR), .refused = true, .makes = MR,
	  FIELDS(ANEW(REG_DMABUF_MR_HANDLE), AH("pd", REG_DMABUF_MR_PD_HANDLE, PD),
		 AN("offset", REG_DMABUF_MR_OFFSET, 8, 0, 0),
		 AN("length", REG_DMABUF_MR_LENGTH, 8, 0, 4096),
		 AN("iova", REG_DMABUF_MR_IOVA, 8, 0, 0),
		 AFD("fd", REG_DMABUF_MR_FD, ASYNC),
		 AM("access", REG_DMABUF_MR_ACCESS_FLAGS, 4, false, 1),
		 AKEY("lkey", REG_DMABUF_MR_RESP_LKEY), AKEY("rkey", REG_DMABUF_MR_RESP_RKEY)) },
	{ CALL("dm_mr_reg", MR, DM_MR_REG), .refused = true, .makes = MR,
	  FIELDS(ANEW(REG_DM_MR_HANDLE), AN("offset", REG_DM_MR_OFFSET, 8, 0, 0),
		 AN("length", REG_DM_MR_LENGTH, 8, 0, 4096),
		 AH("pd", REG_DM_MR_PD_HANDLE, PD),
		 AM("access", REG_DM_MR_ACCESS_FLAGS, 4, false, 1),
		 AH("dm", REG_DM_MR_DM_HANDLE, DM), AKEY("lkey", REG_DM_MR_RESP_LKEY),
		 AKEY("rkey", REG_DM_MR_RESP_RKEY)) },
	{ CALL("mw_destroy", MW, MW_DESTROY), .ends = MW,
	  FIELDS(AH("mw", DESTROY_MW_HANDLE, MW)) },
	{ CALL("ah_destroy", AH, AH_DESTROY), .ends = AH,
	  FIELDS(AH("ah", DESTROY_AH_HANDLE, AH)) },
	{ CALL("xrcd_destroy", XRCD, XRCD_DESTROY), .ends = XRCD, .refused = true,
	  FIELDS(AH("xrcd", DESTROY_XRCD_HANDLE, XRCD)) },
	{ CALL("flow_destroy", FLOW, FLOW_DESTROY), .ends = FLOW, .refused = true,
	  FIELDS(AH("flow", DESTROY_FLOW_HANDLE, FLOW)) },
	{ CALL("table_destroy", RWQ_IND_TBL, RWQ_IND_TBL_DESTROY), .ends = TABLE, .refused = true,
	  FIELDS(AH("table", DESTROY_RWQ_IND_TBL_HANDLE, TABLE)) },
	{ CALL("wq_create", WQ, WQ_CREATE), .makes = WQ, .refused = true, .uhw = true,
	  FIELDS(ANEW(CREATE_WQ_HANDLE), AH("pd", CREATE_WQ_PD_HANDLE, PD),
		 AH("cq", CREATE_WQ_CQ_HANDLE, CQ),
		 AN("user_handle", CREATE_WQ_USER_HANDLE, 8, 0, 1),
		 AE("type", CREATE_WQ_TYPE, 0), AFD("event_fd", CREATE_WQ_EVENT_FD, ASYNC),
		 AN("max_wr", CREATE_WQ_MAX_WR, 4, 0, 4), AN("max_sge", CREATE_WQ_MAX_SGE, 4, 0, 1),
		 AOUT("resp_max_wr", CREATE_WQ_RESP_MAX_WR, 4),
		 AOUT("resp_max_sge", CREATE_WQ_RESP_MAX_SGE, 4),
		 AKEY("resp_wq_num", CREATE_WQ_RESP_WQ_NUM)) },
	{ CALL("wq_destroy", WQ, WQ_DESTROY), .ends = WQ, .refused = true,
	  FIELDS(AH("wq", DESTROY_WQ_HANDLE, WQ), AOUT("resp", DESTROY_WQ_RESP, 4)) },
	{ CALL("flow_action_destroy", FLOW_ACTION, FLOW_ACTION_DESTROY), .refused = true,
	  FIELDS(AH("action", DESTROY_FLOW_ACTION_HANDLE, FLOW)) },
	{ CALL("dm_alloc", DM, DM_ALLOC), .makes = DM, .refused = true,
	  FIELDS(ANEW(ALLOC_DM_HANDLE), AN("length", ALLOC_DM_LENGTH, 8, 0, 4096),
		 AN("alignment", ALLOC_DM_ALIGNMENT, 4, 0, 12)) },
	{ CALL("dm_free", DM, DM_FREE), .ends = DM, .refused = true,
	  FIELDS(AH("dm", FREE_DM_HANDLE, DM)) },
	{ CALL("counters_create", COUNTERS, COUNTERS_CREATE), .makes = COUNTERS, .refused = true,
	  FIELDS(ANEW(CREATE_COUNTERS_HANDLE)) },
	{ CALL("counters_destroy", COUNTERS, COUNTERS_DESTROY), .ends = COUNTERS, .refused = true,
	  FIELDS(AH("counters", DESTROY_COUNTERS_HANDLE, COUNTERS)) },
	{ CALL("counters_read", COUNTERS, COUNTERS_READ), .refused = true,
	  FIELDS(AH("counters", READ_COUNTERS_HANDLE, COUNTERS),
		 AOUT("buff", READ_COUNTERS_BUFF, 16),
		 AM("flags", READ_COUNTERS_FLAGS, 8, true, 0)) },
};

const size_t nr_methods = sizeof(methods) / sizeof(*methods);
