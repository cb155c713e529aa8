/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tracepoints, with the names and the printed fields of <trace/events/ib_mad.h>.
 * MAD fields stay in network byte order in the record and are printed in the
 * host's.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_mad

#if !defined(IBEX_MAD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define IBEX_MAD_TRACE_H

#include <linux/tracepoint.h>
#include "agent/agent.h"
#include "port/port.h"

DECLARE_EVENT_CLASS(ibmad_send_class,
	TP_PROTO(struct ibmad_send *send),
	TP_ARGS(send),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, port_num)
		__field(u32, qp_num)
		__field(void *, agent_priv)
		__field(u64, tid)
		__field(u8, base_version)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, method)
		__field(u16, status)
		__field(u16, class_specific)
		__field(u16, attr_id)
		__field(u32, attr_mod)
		__field(u32, length)
		__field(u32, rqpn)
		__field(unsigned long, timeout)
		__field(int, retries_left)
		__field(int, retry)
	),
	TP_fast_assign(
		const struct ib_mad_hdr *hdr = send->buf.mad;
		struct ibmad_agent *agent = send_agent(send);

		__entry->dev_index = agent->pub.device->index;
		__entry->port_num = agent->pub.port_num;
		__entry->qp_num = agent->mqp - agent->port->qp;
		__entry->agent_priv = agent;
		__entry->tid = be64_to_cpu(hdr->tid);
		__entry->base_version = hdr->base_version;
		__entry->mgmt_class = hdr->mgmt_class;
		__entry->class_version = hdr->class_version;
		__entry->method = hdr->method;
		__entry->status = be16_to_cpu(hdr->status);
		__entry->class_specific = be16_to_cpu(hdr->class_specific);
		__entry->attr_id = be16_to_cpu(hdr->attr_id);
		__entry->attr_mod = be32_to_cpu(hdr->attr_mod);
		__entry->length = send->buf.hdr_len + send->buf.data_len;
		__entry->rqpn = send->remote_qpn;
		__entry->timeout = send->buf.timeout_ms;
		__entry->retries_left = send->retries_left;
		__entry->retry = send->buf.retries;
	),
	TP_printk("%u:%u QP%u agent %p: retries %d left, %d done; timeout %lu length %u : hdr : base_ver 0x%x class 0x%x class_ver 0x%x method 0x%x status 0x%x class_specific 0x%x tid 0x%llx attr_id 0x%x attr_mod 0x%x => rpqn 0x%x",
		  __entry->dev_index, __entry->port_num, __entry->qp_num,
		  __entry->agent_priv, __entry->retries_left, __entry->retry,
		  __entry->timeout, __entry->length, __entry->base_version,
		  __entry->mgmt_class, __entry->class_version, __entry->method,
		  __entry->status, __entry->class_specific, __entry->tid,
		  __entry->attr_id, __entry->attr_mod, __entry->rqpn)
);

/* A client posts a send. */
DEFINE_EVENT(ibmad_send_class, ib_mad_ib_send_mad,
	TP_PROTO(struct ibmad_send *send), TP_ARGS(send));
/* A request is sent again: no response arrived. */
DEFINE_EVENT(ibmad_send_class, ib_mad_send_done_resend,
	TP_PROTO(struct ibmad_send *send), TP_ARGS(send));
/* The work request of a send failed. */
DEFINE_EVENT(ibmad_send_class, ib_mad_error_handler,
	TP_PROTO(struct ibmad_send *send), TP_ARGS(send));

TRACE_EVENT(ib_mad_send_done_handler,
	TP_PROTO(struct ibmad_send *send, const struct ib_wc *wc),
	TP_ARGS(send, wc),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, port_num)
		__field(u32, qp_num)
		__field(void *, agent_priv)
		__field(u64, tid)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, method)
		__field(u16, wc_status)
		__field(int, retries_left)
		__field(int, retry)
	),
	TP_fast_assign(
		const struct ib_mad_hdr *hdr = send->buf.mad;
		struct ibmad_agent *agent = send_agent(send);

		__entry->dev_index = agent->pub.device->index;
		__entry->port_num = agent->pub.port_num;
		__entry->qp_num = agent->mqp - agent->port->qp;
		__entry->agent_priv = agent;
		__entry->tid = be64_to_cpu(hdr->tid);
		__entry->mgmt_class = hdr->mgmt_class;
		__entry->class_version = hdr->class_version;
		__entry->method = hdr->method;
		__entry->wc_status = wc->status;
		__entry->retries_left = send->retries_left;
		__entry->retry = send->buf.retries;
	),
	TP_printk("%u:%u QP%u : SEND WC Status %u : agent %p: retries %d left, %d done : hdr : class 0x%x class_ver 0x%x method 0x%x tid 0x%llx",
		  __entry->dev_index, __entry->port_num, __entry->qp_num,
		  __entry->wc_status, __entry->agent_priv,
		  __entry->retries_left, __entry->retry, __entry->mgmt_class,
		  __entry->class_version, __entry->method, __entry->tid)
);

TRACE_EVENT(ib_mad_recv_done_handler,
	TP_PROTO(struct ibmad_qp *mqp, const struct ib_wc *wc,
		 const struct ib_mad_hdr *hdr),
	TP_ARGS(mqp, wc, hdr),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, port_num)
		__field(u32, qp_num)
		__field(u32, length)
		__field(u8, base_version)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, method)
		__field(u8, sl)
		__field(u16, status)
		__field(u16, class_specific)
		__field(u16, attr_id)
		__field(u16, wc_status)
		__field(u32, attr_mod)
		__field(u64, tid)
		__field(u32, src_qp)
		__field(u32, slid)
	),
	TP_fast_assign(
		__entry->dev_index = mqp->port->device->index;
		__entry->port_num = mqp->port->port_num;
		__entry->qp_num = mqp - mqp->port->qp;
		__entry->length = wc->byte_len;
		__entry->base_version = hdr->base_version;
		__entry->mgmt_class = hdr->mgmt_class;
		__entry->class_version = hdr->class_version;
		__entry->method = hdr->method;
		__entry->sl = wc->sl;
		__entry->status = be16_to_cpu(hdr->status);
		__entry->class_specific = be16_to_cpu(hdr->class_specific);
		__entry->attr_id = be16_to_cpu(hdr->attr_id);
		__entry->wc_status = wc->status;
		__entry->attr_mod = be32_to_cpu(hdr->attr_mod);
		__entry->tid = be64_to_cpu(hdr->tid);
		__entry->src_qp = wc->src_qp;
		__entry->slid = wc->slid;
	),
	TP_printk("%u:%u QP%u : RECV WC Status %u : length %u : hdr : base_ver 0x%02x class 0x%02x class_ver 0x%02x method 0x%02x status 0x%04x class_specific 0x%04x tid 0x%016llx attr_id 0x%04x attr_mod 0x%08x slid 0x%08x src QP%u, sl %u",
		  __entry->dev_index, __entry->port_num, __entry->qp_num,
		  __entry->wc_status, __entry->length, __entry->base_version,
		  __entry->mgmt_class, __entry->class_version, __entry->method,
		  __entry->status, __entry->class_specific, __entry->tid,
		  __entry->attr_id, __entry->attr_mod, __entry->slid,
		  __entry->src_qp, __entry->sl)
);

DECLARE_EVENT_CLASS(ibmad_agent_class,
	TP_PROTO(struct ibmad_agent *agent),
	TP_ARGS(agent),
	TP_STRUCT__entry(
		__field(u32, dev_index)
		__field(u32, port_num)
		__field(u32, hi_tid)
		__field(u8, mgmt_class)
		__field(u8, mgmt_class_version)
	),
	TP_fast_assign(
		__entry->dev_index = agent->pub.device->index;
		__entry->port_num = agent->pub.port_num;
		__entry->hi_tid = agent->pub.hi_tid;
		__entry->mgmt_class = agent->mgmt_class;
		__entry->mgmt_class_version = agent->mgmt_class_version;
	),
	TP_printk("%u:%u mad agent : hi_tid 0x%08x class 0x%02x class_ver 0x%02x",
		  __entry->dev_index, __entry->port_num, __entry->hi_tid,
		  __entry->mgmt_class, __entry->mgmt_class_version)
);

DEFINE_EVENT(ibmad_agent_class, ib_mad_create_agent,
	TP_PROTO(struct ibmad_agent *agent), TP_ARGS(agent));
DEFINE_EVENT(ibmad_agent_class, ib_mad_unregister_agent,
	TP_PROTO(struct ibmad_agent *agent), TP_ARGS(agent));
DEFINE_EVENT(ibmad_agent_class, ib_mad_send_done_agent,
	TP_PROTO(struct ibmad_agent *agent), TP_ARGS(agent));
DEFINE_EVENT(ibmad_agent_class, ib_mad_recv_done_agent,
	TP_PROTO(struct ibmad_agent *agent), TP_ARGS(agent));

DECLARE_EVENT_CLASS(ibmad_smp_class,
	TP_PROTO(const struct ib_smp *smp),
	TP_ARGS(smp),
	TP_STRUCT__entry(
		__field(u64, mkey)
		__field(u16, dr_slid)
		__field(u16, dr_dlid)
		__field(u8, hop_ptr)
		__field(u8, hop_cnt)
		__array(u8, initial_path, IB_SMP_MAX_PATH_HOPS)
		__array(u8, return_path, IB_SMP_MAX_PATH_HOPS)
	),
	TP_fast_assign(
		__entry->mkey = be64_to_cpu(smp->mkey);
		__entry->dr_slid = be16_to_cpu(smp->dr_slid);
		__entry->dr_dlid = be16_to_cpu(smp->dr_dlid);
		__entry->hop_ptr = smp->hop_ptr;
		__entry->hop_cnt = smp->hop_cnt;
		memcpy(__entry->initial_path, smp->initial_path,
		       IB_SMP_MAX_PATH_HOPS);
		memcpy(__entry->return_path, smp->return_path,
		       IB_SMP_MAX_PATH_HOPS);
	),
	TP_printk("SMP: hop_ptr %u hop_cnt %u mkey 0x%016llx dr_slid 0x%04x dr_dlid 0x%04x initial_path %*ph return_path %*ph",
		  __entry->hop_ptr, __entry->hop_cnt, __entry->mkey,
		  __entry->dr_slid, __entry->dr_dlid,
		  IB_SMP_MAX_PATH_HOPS, __entry->initial_path,
		  IB_SMP_MAX_PATH_HOPS, __entry->return_path)
);

DEFINE_EVENT(ibmad_smp_class, ib_mad_handle_ib_smi,
	TP_PROTO(const struct ib_smp *smp), TP_ARGS(smp));
DEFINE_EVENT(ibmad_smp_class, ib_mad_handle_out_ib_smi,
	TP_PROTO(const struct ib_smp *smp), TP_ARGS(smp));

DECLARE_EVENT_CLASS(ibmad_opa_smp_class,
	TP_PROTO(const struct opa_smp *smp),
	TP_ARGS(smp),
	TP_STRUCT__entry(
		__field(u64, mkey)
		__field(u32, dr_slid)
		__field(u32, dr_dlid)
		__field(u8, hop_ptr)
		__field(u8, hop_cnt)
		__array(u8, initial_path, OPA_SMP_MAX_PATH_HOPS)
		__array(u8, return_path, OPA_SMP_MAX_PATH_HOPS)
	),
	TP_fast_assign(
		__entry->mkey = be64_to_cpu(smp->mkey);
		__entry->dr_slid = be32_to_cpu(smp->route.dr.dr_slid);
		__entry->dr_dlid = be32_to_cpu(smp->route.dr.dr_dlid);
		__entry->hop_ptr = smp->hop_ptr;
		__entry->hop_cnt = smp->hop_cnt;
		memcpy(__entry->initial_path, smp->route.dr.initial_path,
		       OPA_SMP_MAX_PATH_HOPS);
		memcpy(__entry->return_path, smp->route.dr.return_path,
		       OPA_SMP_MAX_PATH_HOPS);
	),
	TP_printk("OPA SMP: hop_ptr %u hop_cnt %u mkey 0x%016llx dr_slid 0x%08x dr_dlid 0x%08x initial_path %*ph return_path %*ph",
		  __entry->hop_ptr, __entry->hop_cnt, __entry->mkey,
		  __entry->dr_slid, __entry->dr_dlid,
		  OPA_SMP_MAX_PATH_HOPS, __entry->initial_path,
		  OPA_SMP_MAX_PATH_HOPS, __entry->return_path)
);

DEFINE_EVENT(ibmad_opa_smp_class, ib_mad_handle_opa_smi,
	TP_PROTO(const struct opa_smp *smp), TP_ARGS(smp));
DEFINE_EVENT(ibmad_opa_smp_class, ib_mad_handle_out_opa_smi,
	TP_PROTO(const struct opa_smp *smp), TP_ARGS(smp));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
