/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_cma

#if !defined(IBEX_CM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define IBEX_CM_TRACE_H

/* Tools depend on these event names and fields of ib_cm. */
#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <trace/misc/rdma.h>
#include <ibex/compat/kernel.h>

#define IBCM_TRACE_STATES		\
	IBCM_T(IDLE)			\
	IBCM_T(LISTEN)			\
	IBCM_T(REQ_SENT)		\
	IBCM_T(REQ_RCVD)		\
	IBCM_T(MRA_REQ_SENT)		\
	IBCM_T(MRA_REQ_RCVD)		\
	IBCM_T(REP_SENT)		\
	IBCM_T(REP_RCVD)		\
	IBCM_T(MRA_REP_SENT)		\
	IBCM_T(MRA_REP_RCVD)		\
	IBCM_T(ESTABLISHED)		\
	IBCM_T(DREQ_SENT)		\
	IBCM_T(DREQ_RCVD)		\
	IBCM_T(TIMEWAIT)		\
	IBCM_T(SIDR_REQ_SENT)		\
	IBCM_T_END(SIDR_REQ_RCVD)

#define IBCM_TRACE_LAP_STATES		\
	IBCM_T(LAP_UNINIT)		\
	IBCM_T(LAP_IDLE)		\
	IBCM_T(LAP_SENT)		\
	IBCM_T(LAP_RCVD)		\
	IBCM_T(MRA_LAP_SENT)		\
	IBCM_T_END(MRA_LAP_RCVD)

#define IBCM_TRACE_REASONS			\
	IBCM_T(REJ_NO_QP)			\
	IBCM_T(REJ_NO_EEC)			\
	IBCM_T(REJ_NO_RESOURCES)		\
	IBCM_T(REJ_TIMEOUT)			\
	IBCM_T(REJ_UNSUPPORTED)			\
	IBCM_T(REJ_INVALID_COMM_ID)		\
	IBCM_T(REJ_INVALID_COMM_INSTANCE)	\
	IBCM_T(REJ_INVALID_SERVICE_ID)		\
	IBCM_T(REJ_INVALID_TRANSPORT_TYPE)	\
	IBCM_T(REJ_STALE_CONN)			\
	IBCM_T(REJ_RDC_NOT_EXIST)		\
	IBCM_T(REJ_INVALID_GID)			\
	IBCM_T(REJ_INVALID_LID)			\
	IBCM_T(REJ_INVALID_SL)			\
	IBCM_T(REJ_INVALID_TRAFFIC_CLASS)	\
	IBCM_T(REJ_INVALID_HOP_LIMIT)		\
	IBCM_T(REJ_INVALID_PACKET_RATE)		\
	IBCM_T(REJ_INVALID_ALT_GID)		\
	IBCM_T(REJ_INVALID_ALT_LID)		\
	IBCM_T(REJ_INVALID_ALT_SL)		\
	IBCM_T(REJ_INVALID_ALT_TRAFFIC_CLASS)	\
	IBCM_T(REJ_INVALID_ALT_HOP_LIMIT)	\
	IBCM_T(REJ_INVALID_ALT_PACKET_RATE)	\
	IBCM_T(REJ_PORT_CM_REDIRECT)		\
	IBCM_T(REJ_PORT_REDIRECT)		\
	IBCM_T(REJ_INVALID_MTU)			\
	IBCM_T(REJ_INSUFFICIENT_RESP_RESOURCES)	\
	IBCM_T(REJ_CONSUMER_DEFINED)		\
	IBCM_T(REJ_INVALID_RNR_RETRY)		\
	IBCM_T(REJ_DUPLICATE_LOCAL_COMM_ID)	\
	IBCM_T(REJ_INVALID_CLASS_VERSION)	\
	IBCM_T(REJ_INVALID_FLOW_LABEL)		\
	IBCM_T(REJ_INVALID_ALT_FLOW_LABEL)	\
	IBCM_T_END(REJ_VENDOR_OPTION_NOT_SUPPORTED)

#undef IBCM_T
#undef IBCM_T_END
#define IBCM_T(x)	TRACE_DEFINE_ENUM(IB_CM_##x);
#define IBCM_T_END(x)	TRACE_DEFINE_ENUM(IB_CM_##x);
IBCM_TRACE_STATES
IBCM_TRACE_LAP_STATES
IBCM_TRACE_REASONS

#undef IBCM_T
#undef IBCM_T_END
#define IBCM_T(x)	{ IB_CM_##x, #x },
#define IBCM_T_END(x)	{ IB_CM_##x, #x }
#define ibcm_show_state(x)	__print_symbolic(x, IBCM_TRACE_STATES)
#define ibcm_show_lap_state(x)	__print_symbolic(x, IBCM_TRACE_LAP_STATES)
#define ibcm_show_reason(x)	__print_symbolic(x, IBCM_TRACE_REASONS)

/* Parts of the records: communication ids, in the host's byte order, and states. */
#define IBCM_IDS_FIELDS						\
	__field(unsigned int, local_id)				\
	__field(unsigned int, remote_id)
#define IBCM_IDS_SET(local, remote)				\
	do {							\
		__entry->local_id = (local);			\
		__entry->remote_id = (remote);			\
	} while (0)
#define IBCM_ID_FIELDS						\
	__field(const void *, cm_id)				\
	IBCM_IDS_FIELDS						\
	__field(unsigned long, state)
#define IBCM_ID_SET(id)						\
	do {							\
		__entry->cm_id = (id);				\
		IBCM_IDS_SET(be32_to_cpu((id)->local_id),	\
			     be32_to_cpu((id)->remote_id));	\
		__entry->state = (id)->state;			\
	} while (0)

#define IBCM_IDS_FORMAT		"local_id=%u remote_id=%u"
#define IBCM_IDS_SHOWN		__entry->local_id, __entry->remote_id
#define IBCM_STATE_SHOWN	ibcm_show_state(__entry->state)

/* Events of an id. */
DECLARE_EVENT_CLASS(icm_id_class,
	TP_PROTO(const struct ib_cm_id *id),
	TP_ARGS(id),
	TP_STRUCT__entry(IBCM_ID_FIELDS __field(unsigned long, lap_state)),
	TP_fast_assign(IBCM_ID_SET(id); __entry->lap_state = id->lap_state;),
	TP_printk(IBCM_IDS_FORMAT " state=%s lap_state=%s", IBCM_IDS_SHOWN,
		  IBCM_STATE_SHOWN, ibcm_show_lap_state(__entry->lap_state))
);

#define IBCM_ID_EVENT(name)					\
	DEFINE_EVENT(icm_id_class, icm_##name,			\
		     TP_PROTO(const struct ib_cm_id *id), TP_ARGS(id))

IBCM_ID_EVENT(send_req);
IBCM_ID_EVENT(send_mra);
IBCM_ID_EVENT(send_rep);
IBCM_ID_EVENT(send_rtu);
IBCM_ID_EVENT(send_dreq);
IBCM_ID_EVENT(send_drep);
IBCM_ID_EVENT(send_sidr_req);
IBCM_ID_EVENT(send_sidr_rep);
IBCM_ID_EVENT(send_dup_req);		/* answers a resent REQ */
IBCM_ID_EVENT(send_dup_rep);		/* answers a resent REP, or resends a REP */
IBCM_ID_EVENT(establish);		/* established by data, without the RTU */
IBCM_ID_EVENT(establish_psn);		/* the same, shown by the expected PSN */
IBCM_ID_EVENT(establish_err);		/* to qp_rts_err: wrong state for call */
IBCM_ID_EVENT(send_cm_rtu_err);
IBCM_ID_EVENT(send_drep_err);
IBCM_ID_EVENT(send_mra_unknown_err);
IBCM_ID_EVENT(send_unknown_rej_err);
IBCM_ID_EVENT(dreq_skipped);
IBCM_ID_EVENT(qp_init_err);
IBCM_ID_EVENT(qp_rtr_err);
IBCM_ID_EVENT(qp_rts_err);
IBCM_ID_EVENT(mra_unknown_err);		/* to dreq_unknown_err: wrong state for message */
IBCM_ID_EVENT(rej_unknown_err);
IBCM_ID_EVENT(dreq_unknown_err);

TRACE_EVENT(icm_send_rej,
	TP_PROTO(const struct ib_cm_id *id, enum ib_cm_rej_reason why),
	TP_ARGS(id, why),
	TP_STRUCT__entry(IBCM_ID_FIELDS __field(unsigned long, reason)),
	TP_fast_assign(IBCM_ID_SET(id); __entry->reason = why;),
	TP_printk(IBCM_IDS_FORMAT " state=%s reason=%s", IBCM_IDS_SHOWN,
		  IBCM_STATE_SHOWN, ibcm_show_reason(__entry->reason))
);

/* Requests that were not answered in time; beyond the events of the in-tree core. */
DECLARE_EVENT_CLASS(icm_retry_class,
	TP_PROTO(const struct ib_cm_id *id, const char *kind, u32 resent),
	TP_ARGS(id, kind, resent),
	TP_STRUCT__entry(IBCM_ID_FIELDS __string(kind, kind) __field(u32, resent)),
	TP_fast_assign(IBCM_ID_SET(id); ibex_assign_str(kind, kind); __entry->resent = resent;),
	TP_printk(IBCM_IDS_FORMAT " state=%s message=%s resent=%u", IBCM_IDS_SHOWN,
		  IBCM_STATE_SHOWN, __get_str(kind), __entry->resent)
);

DEFINE_EVENT(icm_retry_class, icm_resend,
	     TP_PROTO(const struct ib_cm_id *id, const char *kind, u32 resent),
	     TP_ARGS(id, kind, resent));
DEFINE_EVENT(icm_retry_class, icm_unanswered,
	     TP_PROTO(const struct ib_cm_id *id, const char *kind, u32 resent),
	     TP_ARGS(id, kind, resent));

/* Messages that are for no id. */
DECLARE_EVENT_CLASS(icm_local_class,
	TP_PROTO(unsigned int ours, unsigned int theirs),
	TP_ARGS(ours, theirs),
	TP_STRUCT__entry(IBCM_IDS_FIELDS),
	TP_fast_assign(IBCM_IDS_SET(ours, theirs);),
	TP_printk(IBCM_IDS_FORMAT, IBCM_IDS_SHOWN)
);

#define IBCM_LOCAL_EVENT(name)					\
	DEFINE_EVENT(icm_local_class, icm_##name,		\
		     TP_PROTO(unsigned int ours, unsigned int theirs), \
		     TP_ARGS(ours, theirs))

IBCM_LOCAL_EVENT(no_priv_err);
IBCM_LOCAL_EVENT(staleconn_err);
IBCM_LOCAL_EVENT(issue_rej);
IBCM_LOCAL_EVENT(issue_drep);

DECLARE_EVENT_CLASS(icm_remote_class,
	TP_PROTO(u32 theirs),
	TP_ARGS(theirs),
	TP_STRUCT__entry(__field(u32, remote_id)),
	TP_fast_assign(__entry->remote_id = theirs;),
	TP_printk("remote_id=%u", __entry->remote_id)
);

DEFINE_EVENT(icm_remote_class, icm_insert_failed_err,
	     TP_PROTO(u32 theirs), TP_ARGS(theirs));
DEFINE_EVENT(icm_remote_class, icm_remote_no_priv_err,
	     TP_PROTO(u32 theirs), TP_ARGS(theirs));

TRACE_EVENT(icm_rep_unknown_err,
	TP_PROTO(unsigned int ours, unsigned int theirs, enum ib_cm_state in),
	TP_ARGS(ours, theirs, in),
	TP_STRUCT__entry(IBCM_IDS_FIELDS __field(unsigned long, state)),
	TP_fast_assign(IBCM_IDS_SET(ours, theirs); __entry->state = in;),
	TP_printk(IBCM_IDS_FORMAT " state=%s", IBCM_IDS_SHOWN, IBCM_STATE_SHOWN)
);

TRACE_EVENT(icm_send_rep_err,
	TP_PROTO(__be32 ours, enum ib_cm_state in),
	TP_ARGS(ours, in),
	TP_STRUCT__entry(__field(unsigned int, local_id)
			 __field(unsigned long, state)),
	TP_fast_assign(__entry->local_id = be32_to_cpu(ours);
		       __entry->state = in;),
	TP_printk("local_id=%u state=%s", __entry->local_id, IBCM_STATE_SHOWN)
);

TRACE_EVENT(icm_handler_err,
	TP_PROTO(enum ib_cm_event_type what),
	TP_ARGS(what),
	TP_STRUCT__entry(__field(unsigned long, event)),
	TP_fast_assign(__entry->event = what;),
	TP_printk("unhandled event=%s", rdma_show_ib_cm_event(__entry->event))
);

TRACE_EVENT(icm_mad_send_err,
	TP_PROTO(enum ib_cm_state in, enum ib_wc_status why),
	TP_ARGS(in, why),
	TP_STRUCT__entry(__field(unsigned long, state)
			 __field(unsigned long, wc_status)),
	TP_fast_assign(__entry->state = in; __entry->wc_status = why;),
	TP_printk("state=%s completion status=%s", IBCM_STATE_SHOWN,
		  rdma_show_wc_status(__entry->wc_status))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
