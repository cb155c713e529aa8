// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Events of ids of the RDMA CM, with their fields. */
#include "connect/cma.h"

#define PRIVATE	8

/* What the sender has put there; the rest of a message is of no meaning. */
static const u8 *private_data(const void *data, u8 len)
{
	static const u8 none[PRIVATE];

	return data && len >= PRIVATE ? data : none;
}

static bool has_number(unsigned int n, u32 qpn)
{
	struct cm_end *e = cm_ends[n];

	return e && e->id && e->id->qp && e->id->qp->qp_num == qpn;
}

/* Numbers of QPs are the provider's, unless there is none; two devices may have the same. */
static const char *number_of(const struct cm_end *e, u32 qpn)
{
	unsigned int peer = e->n == CLIENT ? SERVER : CLIENT;

	if (has_number(peer, qpn))
		return cm_names[peer];
	if (has_number(!peer, qpn))
		return cm_names[!peer];
	return qpn == 0x123 || qpn == 0x321 || !qpn || qpn == 0xffffff ? "as given" : "other";
}

static void conn_event(struct cm_end *e, const char *name, const struct rdma_cm_event *ev)
{
	const struct rdma_conn_param *p = &ev->param.conn;
	bool has_param = ev->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
			 ev->event == RDMA_CM_EVENT_CONNECT_RESPONSE ||
			 (ev->event == RDMA_CM_EVENT_ESTABLISHED && p->qp_num);

	if (!has_param) {
		event(&e->events, "%s status %d data %*phN", name, ev->status, PRIVATE,
		      private_data(p->private_data, p->private_data_len));
		return;
	}
	event(&e->events,
	      "%s status %d ra %u %u flow %u retry %u %u srq %u qp %s qkey %x ece %x data %u %*phN",
	      name, ev->status, p->responder_resources, p->initiator_depth, p->flow_control,
	      p->retry_count, p->rnr_retry_count, p->srq, number_of(e, p->qp_num), p->qkey,
	      ev->ece.vendor_id, p->private_data_len, PRIVATE,
	      private_data(p->private_data, p->private_data_len));
}

static void ud_event(struct cm_end *e, const char *name, const struct rdma_cm_event *ev)
{
	const struct rdma_ud_param *p = &ev->param.ud;

	event(&e->events,
	      "%s status %d qp %s qkey %x ah %u port %u flags %x gid %*phN data %u %*phN",
	      name, ev->status, number_of(e, p->qp_num), p->qkey, p->ah_attr.type,
	      p->ah_attr.port_num, p->ah_attr.ah_flags, 16, p->ah_attr.grh.dgid.raw,
	      p->private_data_len, PRIVATE, private_data(p->private_data, p->private_data_len));
}

static void reject_event(struct source *s, struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	u8 len = 0;
	const void *data = rdma_consumer_reject_data(id, ev, &len);

	event(s, "rejected status %d '%s' consumer %d data %u %*phN", ev->status,
	      rdma_reject_msg(id, ev->status), !!data, len, PRIVATE, private_data(data, len));
}

static const char * const event_names[] = {
	"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR", "CONNECT_REQUEST",
	"CONNECT_RESPONSE", "CONNECT_ERROR", "UNREACHABLE", "REJECTED", "ESTABLISHED",
	"DISCONNECTED", "DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR", "ADDR_CHANGE",
	"TIMEWAIT_EXIT",
};

/*
 * A request's id belongs to the server from then on. The end of timewait comes when it comes, so
 * nobody waits for it.
 */
int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct cm_end *e = id->context;
	const char *name = event_names[ev->event];

	if (ev->event == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return 0;
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		e = cm_ends[SERVER];
		if (e->id)
			return -EBUSY;
		id->context = e;
		e->id = id;
	}
	if (ev->event == RDMA_CM_EVENT_REJECTED)
		reject_event(&e->events, id, ev);
	else if (ev->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
		 (id->qp_type == IB_QPT_UD && (ev->event == RDMA_CM_EVENT_ESTABLISHED ||
					       ev->event == RDMA_CM_EVENT_CONNECT_REQUEST)))
		ud_event(e, name, ev);
	else if (ev->event >= RDMA_CM_EVENT_CONNECT_REQUEST &&
		 ev->event <= RDMA_CM_EVENT_DISCONNECTED && id->qp_type != IB_QPT_UD)
		conn_event(e, name, ev);
	else
		event(&e->events, "%s status %d", name, ev->status);
	if (ev->event == RDMA_CM_EVENT_ROUTE_RESOLVED && e->connects)
		event(&e->events, "rdma_connect_locked: %d", cm_connect_now(e, true));
	return 0;
}
