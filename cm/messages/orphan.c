// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Orphans, messages for no id that must be answered: a REQ or SIDR_REQ without a
 * listener, a REQ of a stale connection, a DREQ or LAP whose connection does not exist, a
 * REP to an unknown communication id.  Each is answered by its own work item, since it takes
 * a second to find that a sender's address cannot be resolved.  A port has a bounded
 * number of orphans.
 */
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/* Messages begin with the sender's communication id, then the receiver's. */
static void ibcm_orphan_rej(struct ibcm_msg *msg, const struct ibcm_rx *rx)
{
	struct cm_rtu_msg *in = ibcm_rx_mad(rx);
	struct cm_rej_msg *rej = ibcm_msg_mad(msg, in->hdr.tid);
	u32 remote_id = IBA_GET(CM_RTU_LOCAL_COMM_ID, in);
	u32 local_id = 0;

	if (rx->kind == IBCM_REP)
		local_id = IBA_GET(CM_RTU_REMOTE_COMM_ID, in);
	IBA_SET(CM_REJ_LOCAL_COMM_ID, rej, local_id);
	IBA_SET(CM_REJ_REMOTE_COMM_ID, rej, remote_id);
	ibcm_rej_fill(msg, rx->kind == IBCM_REP ? IBCM_FIELD_REP : IBCM_FIELD_REQ,
		      rx->reason, NULL, 0);
	trace_icm_issue_rej(local_id, remote_id);
}

static void ibcm_orphan_drep(struct ibcm_msg *msg, const struct ibcm_rx *rx)
{
	struct cm_dreq_msg *dreq = ibcm_rx_mad(rx);
	struct cm_drep_msg *drep = ibcm_msg_mad(msg, dreq->hdr.tid);
	u32 remote_id = IBA_GET(CM_DREQ_LOCAL_COMM_ID, dreq);
	u32 local_id = IBA_GET(CM_DREQ_REMOTE_COMM_ID, dreq);

	IBA_SET(CM_DREP_LOCAL_COMM_ID, drep, local_id);
	IBA_SET(CM_DREP_REMOTE_COMM_ID, drep, remote_id);
	trace_icm_issue_drep(local_id, remote_id);
}

static void ibcm_orphan_apr(struct ibcm_msg *msg, const struct ibcm_rx *rx)
{
	struct cm_lap_msg *lap = ibcm_rx_mad(rx);
	struct cm_apr_msg *apr = ibcm_msg_mad(msg, lap->hdr.tid);

	IBA_SET(CM_APR_LOCAL_COMM_ID, apr, IBA_GET(CM_LAP_REMOTE_COMM_ID, lap));
	IBA_SET(CM_APR_REMOTE_COMM_ID, apr, IBA_GET(CM_LAP_LOCAL_COMM_ID, lap));
	IBA_SET(CM_APR_AR_STATUS, apr, IB_CM_APR_INVALID_COMM_ID);
}

static void ibcm_orphan_sidr(struct ibcm_msg *msg, const struct ibcm_rx *rx)
{
	struct cm_sidr_req_msg *req = ibcm_rx_mad(rx);
	struct cm_sidr_rep_msg *rep = ibcm_msg_mad(msg, req->hdr.tid);

	IBA_SET(CM_SIDR_REP_REQUESTID, rep, IBA_GET(CM_SIDR_REQ_REQUESTID, req));
	IBA_SET(CM_SIDR_REP_STATUS, rep, IB_SIDR_UNSUPPORTED);
	IBA_SET(CM_SIDR_REP_SERVICEID, rep, IBA_GET(CM_SIDR_REQ_SERVICEID, req));
}

static void ibcm_orphan_answer(struct ibcm_rx *rx)
{
	static const u8 answers[IBCM_KINDS] = {
		[IBCM_REQ]	= IBCM_REJ,
		[IBCM_REP]	= IBCM_REJ,
		[IBCM_DREQ]	= IBCM_DREP,
		[IBCM_SIDR_REQ]	= IBCM_SIDR_REP,
		[IBCM_LAP]	= IBCM_APR,
	};
	struct ibcm_msg *msg;

	msg = ibcm_msg_alloc_to(rx->port, rx->wc, answers[rx->kind]);
	if (IS_ERR(msg))
		return;
	switch (msg->kind) {
	case IBCM_REJ:
		ibcm_orphan_rej(msg, rx);
		break;
	case IBCM_DREP:
		ibcm_orphan_drep(msg, rx);
		break;
	case IBCM_APR:
		ibcm_orphan_apr(msg, rx);
		break;
	default:
		ibcm_orphan_sidr(msg, rx);
		break;
	}
	ibcm_msg_post(msg);
}

static void ibcm_orphan_work(struct work_struct *work)
{
	struct ibcm_rx *rx = container_of(work, struct ibcm_rx, work);
	struct ibcm_port *port = rx->port;
	bool purged;

	ibcm_orphan_answer(rx);
	spin_lock_irq(&port->orphan_lock);
	purged = rx->purged;
	if (!purged) {
		list_del(&rx->node);
		port->nr_orphans--;
	}
	spin_unlock_irq(&port->orphan_lock);
	if (!purged)
		ibcm_rx_free(rx);
}

void ibcm_orphan_queue(struct ibcm_rx *rx, u8 reason)
{
	struct ibcm_port *port = rx->port;
	bool queued = false;
	unsigned long flags;

	rx->reason = reason;
	rx->purged = false;
	INIT_WORK(&rx->work, ibcm_orphan_work);
	spin_lock_irqsave(&port->orphan_lock, flags);
	if (port->nr_orphans < IBCM_MAX_ORPHANS) {
		list_add_tail(&rx->node, &port->orphans);
		port->nr_orphans++;
		queue_work(port->stray_wq, &rx->work);
		queued = true;
	}
	spin_unlock_irqrestore(&port->orphan_lock, flags);

	if (!queued) {
		ibcm_stat(port, IBCM_STAT_RX_OVERFLOW);
		ibcm_rx_free(rx);
	}
}

/*
 * Called when nothing is received any more.  A work that finds its orphan purged leaves
 * it to this function to free.  A work that has not begun is cancelled.  A running work
 * ends, at the latest when the sender's address is resolved or not, as the port has no
 * agent to send with.
 */
void ibcm_orphans_purge(struct ibcm_port *port)
{
	struct ibcm_rx *rx, *next;
	LIST_HEAD(orphans);

	spin_lock_irq(&port->orphan_lock);
	list_splice_init(&port->orphans, &orphans);
	list_for_each_entry(rx, &orphans, node)
		rx->purged = true;
	port->nr_orphans = 0;
	spin_unlock_irq(&port->orphan_lock);
	list_for_each_entry_safe(rx, next, &orphans, node) {
		cancel_work_sync(&rx->work);
		ibcm_rx_free(rx);
	}
}
