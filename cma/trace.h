/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Tracepoints of the CMA; names and fields are user ABI.  The events of an id show its
 * number for resource tracking and both addresses.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdma_cma

#if !defined(IBEX_CMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define IBEX_CMA_TRACE_H

#include <linux/tracepoint.h>
#include <trace/misc/rdma.h>
#include <ibex/compat/kernel.h>

#include "id/id.h"

#ifndef IBEX_CMA_TRACE_ADDRS
#define IBEX_CMA_TRACE_ADDRS
static inline void cma_trace_addrs(const struct cma_id *idp, u8 *src, u8 *dst)
{
	const struct rdma_addr *addr = &idp->id.route.addr;

	memcpy(src, &addr->src_addr, sizeof(struct sockaddr_in6));
	memcpy(dst, &addr->dst_addr, sizeof(struct sockaddr_in6));
}
#endif

TRACE_DEFINE_ENUM(IB_QPT_SMI);
TRACE_DEFINE_ENUM(IB_QPT_GSI);
TRACE_DEFINE_ENUM(IB_QPT_RC);
TRACE_DEFINE_ENUM(IB_QPT_UC);
TRACE_DEFINE_ENUM(IB_QPT_UD);
TRACE_DEFINE_ENUM(IB_QPT_XRC_INI);
TRACE_DEFINE_ENUM(IB_QPT_XRC_TGT);

#define cma_show_qp_type(type) __print_symbolic(type,		\
	{ IB_QPT_SMI, "SMI" }, { IB_QPT_GSI, "GSI" },		\
	{ IB_QPT_RC, "RC" }, { IB_QPT_UC, "UC" },		\
	{ IB_QPT_UD, "UD" }, { IB_QPT_XRC_INI, "XRC_INI" },	\
	{ IB_QPT_XRC_TGT, "XRC_TGT" })

DECLARE_EVENT_CLASS(cma_client_class,
		    TP_PROTO(const struct ib_device *ibdev),
		    TP_ARGS(ibdev),
		    TP_STRUCT__entry(__string(name, ibdev->name)),
		    TP_fast_assign(ibex_assign_str(name, ibdev->name);),
		    TP_printk("device name=%s",
			      __get_str(name))
);

DEFINE_EVENT(cma_client_class, cm_add_one,
	     TP_PROTO(const struct ib_device *ibdev), TP_ARGS(ibdev));
DEFINE_EVENT(cma_client_class, cm_remove_one,
	     TP_PROTO(const struct ib_device *ibdev), TP_ARGS(ibdev));

DECLARE_EVENT_CLASS(cma_fsm_class,
		    TP_PROTO(const struct cma_id *idp),
		    TP_ARGS(idp),
		    TP_STRUCT__entry(__field(u32, cm_id)
				     __array(u8, dstaddr, sizeof(struct sockaddr_in6))
				     __array(u8, srcaddr, sizeof(struct sockaddr_in6))
				     __field(u32, tos)),
		    TP_fast_assign(cma_trace_addrs(idp, __entry->srcaddr, __entry->dstaddr);
				   __entry->cm_id = idp->track.res.id;
				   __entry->tos = idp->tos;),
		    TP_printk("cm.id=%u src=%pISpc dst=%pISpc tos=%u",
			      __entry->cm_id, __entry->srcaddr, __entry->dstaddr,
			      __entry->tos)
);

DEFINE_EVENT(cma_fsm_class, cm_send_rtu,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_send_rej,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_send_mra,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_send_sidr_req,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_send_sidr_rep,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_disconnect,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_sent_drep,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_sent_dreq,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_fsm_class, cm_id_destroy,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));

TRACE_EVENT(cm_id_attach,
	    TP_PROTO(const struct cma_id *idp,
		     const struct ib_device *device),
	    TP_ARGS(idp, device),
	    TP_STRUCT__entry(__field(u32, cm_id)
			     __array(u8, dstaddr, sizeof(struct sockaddr_in6))
			     __array(u8, srcaddr, sizeof(struct sockaddr_in6))
			     __string(devname, device->name)),
	    TP_fast_assign(cma_trace_addrs(idp, __entry->srcaddr, __entry->dstaddr);
			   __entry->cm_id = idp->track.res.id;
			   ibex_assign_str(devname, device->name);),
	    TP_printk("cm.id=%u src=%pISpc dst=%pISpc device=%s",
		      __entry->cm_id, __entry->srcaddr, __entry->dstaddr,
		      __get_str(devname))
);

DECLARE_EVENT_CLASS(cma_qp_class,
		    TP_PROTO(const struct cma_id *idp),
		    TP_ARGS(idp),
		    TP_STRUCT__entry(__field(u32, cm_id)
				     __array(u8, dstaddr, sizeof(struct sockaddr_in6))
				     __array(u8, srcaddr, sizeof(struct sockaddr_in6))
				     __field(u32, tos)
				     __field(u32, qp_num)),
		    TP_fast_assign(cma_trace_addrs(idp, __entry->srcaddr, __entry->dstaddr);
				   __entry->cm_id = idp->track.res.id;
				   __entry->tos = idp->tos;
				   __entry->qp_num = idp->qp_num;),
		    TP_printk("cm.id=%u src=%pISpc dst=%pISpc tos=%u qp_num=%u",
			      __entry->cm_id, __entry->srcaddr, __entry->dstaddr,
			      __entry->tos, __entry->qp_num)
);

DEFINE_EVENT(cma_qp_class, cm_send_req,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_qp_class, cm_send_rep,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));
DEFINE_EVENT(cma_qp_class, cm_qp_destroy,
	     TP_PROTO(const struct cma_id *idp), TP_ARGS(idp));

TRACE_EVENT(cm_qp_create,
	    TP_PROTO(const struct cma_id *idp,
		     const struct ib_pd *pd,
		     const struct ib_qp_init_attr *attr,
		     int rc),
	    TP_ARGS(idp, pd, attr, rc),
	    TP_STRUCT__entry(__field(u32, cm_id)
			     __array(u8, dstaddr, sizeof(struct sockaddr_in6))
			     __array(u8, srcaddr, sizeof(struct sockaddr_in6))
			     __field(u32, pd_id)
			     __field(u32, tos)
			     __field(u32, qp_num)
			     __field(u32, send_wr)
			     __field(u32, recv_wr)
			     __field(int, rc)
			     __field(unsigned long, qp_type)),
	    TP_fast_assign(cma_trace_addrs(idp, __entry->srcaddr, __entry->dstaddr);
			   __entry->cm_id = idp->track.res.id;
			   __entry->pd_id = pd->res.id;
			   __entry->tos = idp->tos;
			   __entry->qp_num = rc ? 0 : idp->qp_num;
			   __entry->send_wr = attr->cap.max_send_wr;
			   __entry->recv_wr = attr->cap.max_recv_wr;
			   __entry->rc = rc;
			   __entry->qp_type = attr->qp_type;),
	    TP_printk("cm.id=%u src=%pISpc dst=%pISpc tos=%u pd.id=%u qp_type=%s send_wr=%u recv_wr=%u qp_num=%u rc=%d",
		      __entry->cm_id, __entry->srcaddr, __entry->dstaddr,
		      __entry->tos, __entry->pd_id,
		      cma_show_qp_type(__entry->qp_type),
		      __entry->send_wr, __entry->recv_wr,
		      __entry->qp_num, __entry->rc)
);

TRACE_EVENT(cm_event_done,
	    TP_PROTO(const struct cma_id *idp,
		     const struct rdma_cm_event *ev,
		     int ret),
	    TP_ARGS(idp, ev, ret),
	    TP_STRUCT__entry(__field(u32, cm_id)
			     __array(u8, dstaddr, sizeof(struct sockaddr_in6))
			     __array(u8, srcaddr, sizeof(struct sockaddr_in6))
			     __field(unsigned long, event)
			     __field(u32, tos)
			     __field(int, result)),
	    TP_fast_assign(cma_trace_addrs(idp, __entry->srcaddr, __entry->dstaddr);
			   __entry->cm_id = idp->track.res.id;
			   __entry->event = ev->event;
			   __entry->tos = idp->tos;
			   __entry->result = ret;),
	    TP_printk("cm.id=%u src=%pISpc dst=%pISpc tos=%u %s consumer returns %d",
		      __entry->cm_id, __entry->srcaddr, __entry->dstaddr,
		      __entry->tos,
		      rdma_show_cm_event(__entry->event), __entry->result)
);

TRACE_EVENT(cm_event_handler,
	    TP_PROTO(const struct cma_id *idp,
		     const struct rdma_cm_event *ev),
	    TP_ARGS(idp, ev),
	    TP_STRUCT__entry(__field(u32, cm_id)
			     __array(u8, dstaddr, sizeof(struct sockaddr_in6))
			     __array(u8, srcaddr, sizeof(struct sockaddr_in6))
			     __field(unsigned long, event)
			     __field(u32, tos)
			     __field(int, status)),
	    TP_fast_assign(cma_trace_addrs(idp, __entry->srcaddr, __entry->dstaddr);
			   __entry->cm_id = idp->track.res.id;
			   __entry->event = ev->event;
			   __entry->tos = idp->tos;
			   __entry->status = ev->status;),
	    TP_printk("cm.id=%u src=%pISpc dst=%pISpc tos=%u %s (%lu/%d)",
		      __entry->cm_id, __entry->srcaddr, __entry->dstaddr,
		      __entry->tos,
		      rdma_show_cm_event(__entry->event),
		      __entry->event, __entry->status)
);

TRACE_EVENT(cm_req_handler,
	    TP_PROTO(const struct cma_id *idp,
		     int event),
	    TP_ARGS(idp, event),
	    TP_STRUCT__entry(__field(u32, cm_id)
			     __array(u8, dstaddr, sizeof(struct sockaddr_in6))
			     __array(u8, srcaddr, sizeof(struct sockaddr_in6))
			     __field(u32, tos)
			     __field(unsigned long, event)),
	    TP_fast_assign(cma_trace_addrs(idp, __entry->srcaddr, __entry->dstaddr);
			   __entry->cm_id = idp->track.res.id;
			   __entry->tos = idp->tos;
			   __entry->event = event;),
	    TP_printk("cm.id=%u src=%pISpc dst=%pISpc tos=%u %s (%lu)",
		      __entry->cm_id, __entry->srcaddr, __entry->dstaddr,
		      __entry->tos,
		      rdma_show_ib_cm_event(__entry->event), __entry->event)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
