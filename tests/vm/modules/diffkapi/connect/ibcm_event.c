// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Events of ids of the IB CM, with their fields. */
#include "connect/ibcm.h"

/* The bytes that the sender put there; what is behind them is of no meaning. */
#define PRIVATE	8

static const char * const event_names[] = {
	"REQ_ERROR", "REQ_RECEIVED", "REP_ERROR", "REP_RECEIVED", "RTU_RECEIVED",
	"USER_ESTABLISHED", "DREQ_ERROR", "DREQ_RECEIVED", "DREP_RECEIVED", "TIMEWAIT_EXIT",
	"MRA_RECEIVED", "REJ_RECEIVED", "LAP_ERROR", "LAP_RECEIVED", "APR_RECEIVED",
	"SIDR_REQ_ERROR", "SIDR_REQ_RECEIVED", "SIDR_REP_RECEIVED",
};

static void req_event(struct source *s, const struct ib_cm_event *ev)
{
	const struct ib_cm_req_event_param *p = &ev->param.req_rcvd;

	event(s,
	      "REQ_RECEIVED port %u pkey %x qpn %x type %u psn %x ra %u %u timeouts %u %u flow %u retry %u %u srq %u ece %x alt %d data %*phN",
	      p->port, p->bth_pkey, p->remote_qpn, p->qp_type, p->starting_psn,
	      p->responder_resources, p->initiator_depth, p->local_cm_response_timeout,
	      p->remote_cm_response_timeout, p->flow_control, p->retry_count, p->rnr_retry_count,
	      p->srq, p->ece.vendor_id, !!p->alternate_path, PRIVATE, ev->private_data);
	event(s,
	      "its path: type %u pkey %x sl %u mtu %u rate %u life %u hop %u class %u from %*phN to %*phN",
	      p->primary_path->rec_type, be16_to_cpu(p->primary_path->pkey), p->primary_path->sl,
	      p->primary_path->mtu, p->primary_path->rate, p->primary_path->packet_life_time,
	      p->primary_path->hop_limit, p->primary_path->traffic_class, 16,
	      p->primary_path->sgid.raw, 16, p->primary_path->dgid.raw);
}

static void other_event(struct source *s, const struct ib_cm_event *ev)
{
	const char *name = event_names[ev->event];

	switch (ev->event) {
	case IB_CM_REP_RECEIVED:
		event(s,
		      "%s qpn %x psn %x ra %u %u delay %u failover %u flow %u rnr %u srq %u ece %x data %*phN",
		      name, ev->param.rep_rcvd.remote_qpn, ev->param.rep_rcvd.starting_psn,
		      ev->param.rep_rcvd.responder_resources, ev->param.rep_rcvd.initiator_depth,
		      ev->param.rep_rcvd.target_ack_delay, ev->param.rep_rcvd.failover_accepted,
		      ev->param.rep_rcvd.flow_control, ev->param.rep_rcvd.rnr_retry_count,
		      ev->param.rep_rcvd.srq, ev->param.rep_rcvd.ece.vendor_id, PRIVATE,
		      ev->private_data);
		break;
	case IB_CM_REJ_RECEIVED:
		event(s, "%s reason %u ari %u data %*phN", name, ev->param.rej_rcvd.reason,
		      ev->param.rej_rcvd.ari_length, PRIVATE, ev->private_data);
		break;
	case IB_CM_MRA_RECEIVED:
		event(s, "%s timeout %u data %*phN", name, ev->param.mra_rcvd.service_timeout,
		      PRIVATE,
		      ev->private_data);
		break;
	case IB_CM_SIDR_REQ_RECEIVED:
		event(s, "%s port %u pkey %x %x data %*phN", name, ev->param.sidr_req_rcvd.port,
		      ev->param.sidr_req_rcvd.pkey, ev->param.sidr_req_rcvd.bth_pkey, PRIVATE,
		      ev->private_data);
		break;
	case IB_CM_SIDR_REP_RECEIVED:
		event(s, "%s status %u qkey %x qpn %x info %u data %*phN", name,
		      ev->param.sidr_rep_rcvd.status, ev->param.sidr_rep_rcvd.qkey,
		      ev->param.sidr_rep_rcvd.qpn, ev->param.sidr_rep_rcvd.info_len, PRIVATE,
		      ev->private_data);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
	case IB_CM_DREQ_ERROR:
	case IB_CM_SIDR_REQ_ERROR:
		event(s, "%s status %s", name, ib_wc_status_msg(ev->param.send_status));
		break;
	case IB_CM_USER_ESTABLISHED:
		/* No message came, and the in-tree core does not set the pointer to its data. */
		event(s, "%s", name);
		break;
	default:
		if (ev->private_data)
			event(s, "%s data %*phN", name, PRIVATE, ev->private_data);
		else
			event(s, "%s", name);
	}
}

/*
 * A request's id belongs to the passive end from then on. The end of timewait comes when it comes,
 * so nobody waits for it.
 */
int ibcm_handler(struct ib_cm_id *id, const struct ib_cm_event *ev)
{
	struct end_id *e = id->context;

	if (ev->event == IB_CM_TIMEWAIT_EXIT)
		return 0;
	if (ev->event == IB_CM_REQ_RECEIVED || ev->event == IB_CM_SIDR_REQ_RECEIVED) {
		e = ibcm_ends[PASSIVE];
		if (e->id)
			return -EBUSY;
		id->context = e;
		e->id = id;
	}
	if (ev->event == IB_CM_REQ_RECEIVED)
		req_event(&e->events, ev);
	else
		other_event(&e->events, ev);
	return 0;
}
