// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Received messages: checked, counted, and queued to the id that they are for.
 *
 * The receive handler runs for all connections of a port, so it does no more
 * than lookups under RCU and queueing.  It drops messages for which there is no memory
 * or room; the sender of any message that matters resends it.
 */
#include <linux/slab.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

static struct kmem_cache *ibcm_rx_cache;

int ibcm_rx_init(void)
{
	ibcm_rx_cache = KMEM_CACHE(ibcm_rx, 0);
	return ibcm_rx_cache ? 0 : -ENOMEM;
}

void ibcm_rx_exit(void)
{
	kmem_cache_destroy(ibcm_rx_cache);
}

void ibcm_rx_free(struct ibcm_rx *rx)
{
	ib_free_recv_mad(rx->wc);
	kmem_cache_free(ibcm_rx_cache, rx);
}

/* Returns the P_Key of the GMP's BTH, 0 if its table entry cannot be read any more. */
u16 ibcm_rx_bth_pkey(const struct ibcm_rx *rx)
{
	u16 pkey;

	if (ib_get_cached_pkey(rx->port->dev->ibdev, rx->port->num,
			       rx->wc->wc->pkey_index, &pkey))
		return 0;
	return pkey;
}

/*
 * For an MRA of a REQ only the local communication id is compared, as the peer's is not
 * known before the REP.
 */
static struct ibcm_id *ibcm_find_mraed(struct cm_mra_msg *mra)
{
	struct ibcm_id *id;
	__be32 remote_id;

	id = ibcm_id_find(cpu_to_be32(IBA_GET(CM_MRA_REMOTE_COMM_ID, mra)));
	if (!id)
		return NULL;
	remote_id = READ_ONCE(id->id.remote_id);
	if (!remote_id ||
	    remote_id == cpu_to_be32(IBA_GET(CM_MRA_LOCAL_COMM_ID, mra)))
		return id;
	ibcm_id_put(id);
	return NULL;
}

/* RTU, DREQ, DREP, LAP and APR begin with the sender's communication id, then ours. */
static struct ibcm_id *ibcm_find_connected(struct cm_rtu_msg *msg)
{
	return ibcm_id_find_pair(cpu_to_be32(IBA_GET(CM_RTU_REMOTE_COMM_ID, msg)),
				 cpu_to_be32(IBA_GET(CM_RTU_LOCAL_COMM_ID, msg)));
}

static struct ibcm_id *ibcm_rx_find(const struct ibcm_rx *rx)
{
	void *mad = ibcm_rx_mad(rx);

	switch (rx->kind) {
	case IBCM_MRA:
		return ibcm_find_mraed(mad);
	case IBCM_REJ:
		return ibcm_find_rejected(mad);
	case IBCM_REP:
		return ibcm_id_find(cpu_to_be32(IBA_GET(CM_REP_REMOTE_COMM_ID,
							(struct cm_rep_msg *)mad)));
	case IBCM_SIDR_REP:
		return ibcm_id_find(cpu_to_be32(IBA_GET(CM_SIDR_REP_REQUESTID,
							(struct cm_sidr_rep_msg *)mad)));
	default:
		return ibcm_find_connected(mad);
	}
}

/* Handles a message that is for no id; some kinds are still answered. */
static void ibcm_rx_unknown(struct ibcm_rx *rx)
{
	struct cm_rtu_msg *msg = ibcm_rx_mad(rx);

	if (rx->kind == IBCM_DREP &&
	    ibcm_dreq_answered(IBA_GET(CM_RTU_REMOTE_COMM_ID, msg),
			       cpu_to_be32(IBA_GET(CM_RTU_LOCAL_COMM_ID, msg)))) {
		ibcm_rx_free(rx);
		return;
	}
	trace_icm_no_priv_err(IBA_GET(CM_RTU_LOCAL_COMM_ID, msg),
			      IBA_GET(CM_RTU_REMOTE_COMM_ID, msg));
	ibcm_stat(rx->port, IBCM_STAT_RX_UNKNOWN);
	switch (rx->kind) {
	case IBCM_DREQ:
		/* The id was destroyed, and the DREP to an earlier DREQ was lost. */
		ibcm_count(rx->port, IBCM_RX_DUPLICATES, IBCM_DREQ);
		ibcm_orphan_queue(rx, 0);
		break;
	case IBCM_REP:
		ibcm_orphan_queue(rx, IB_CM_REJ_INVALID_COMM_ID);
		break;
	case IBCM_LAP:
		ibcm_orphan_queue(rx, 0);
		break;
	default:
		ibcm_rx_free(rx);
		break;
	}
}

static void ibcm_rx_route(struct ibcm_rx *rx)
{
	struct ibcm_id *id;

	if (rx->kind == IBCM_REQ) {
		ibcm_req_arrived(rx);
		return;
	}
	if (rx->kind == IBCM_SIDR_REQ) {
		ibcm_sidr_req_arrived(rx);
		return;
	}

	id = ibcm_rx_find(rx);
	if (!id) {
		ibcm_rx_unknown(rx);
		return;
	}
	if (!ibcm_id_queue(id, rx)) {
		ibcm_stat(rx->port, IBCM_STAT_RX_OVERFLOW);
		ibcm_rx_free(rx);
	}
	ibcm_id_put(id);
}

/*
 * The MAD layer's receive handler, in the work of the completion queue or of the agent.  Does not
 * sleep (IBEX_MAD_DIRECT).
 */
void ibcm_mad_received(struct ib_mad_agent *agent,
		       struct ib_mad_send_buf *send_buf,
		       struct ib_mad_recv_wc *wc)
{
	struct ibcm_port *port = agent->context;
	const struct ib_mad_hdr *hdr = &wc->recv_buf.mad->mad_hdr;
	u16 kind = be16_to_cpu(hdr->attr_id) - be16_to_cpu(CM_REQ_ATTR_ID);
	struct ibcm_rx *rx;

	if (kind >= IBCM_KINDS || wc->mad_len < IB_MGMT_MAD_SIZE) {
		ibcm_stat(port, IBCM_STAT_RX_MALFORMED);
		ib_free_recv_mad(wc);
		return;
	}
	ibcm_count(port, IBCM_RX_MSGS, kind);

	rx = kmem_cache_alloc(ibcm_rx_cache, GFP_ATOMIC);
	if (!rx) {
		ibcm_stat(port, IBCM_STAT_RX_OVERFLOW);
		ib_free_recv_mad(wc);
		return;
	}
	rx->wc = wc;
	rx->port = port;
	rx->kind = kind;
	ibcm_rx_route(rx);
}

/* ---- requests for which an id was created ---- */

/*
 * Only this work uses the id until the request is resolved: the id's work is not queued,
 * and the listener, on which the id holds a reference, is not freed.
 */
static void ibcm_resolve_work(struct work_struct *work)
{
	struct ibcm_rx *rx = container_of(work, struct ibcm_rx, work);
	struct ibcm_id *id = rx->id;
	struct ibcm_listener *listener = id->req_of;
	struct ibcm_port *port = rx->port;
	int ret;

	if (!ibcm_listener_begin(listener, rx))
		return;
	if (ibcm_listener_dying(listener)) {
		ibcm_rx_refuse(rx);
		return;
	}
	ret = rx->kind == IBCM_REQ ? ibcm_req_resolve(id, rx) :
				     ibcm_sidr_resolve(id, rx);
	if (!ret) {
		ibcm_id_resolved(id, rx);
		return;
	}
	ibcm_id_destroy(id);
	ibcm_rx_free(rx);
	ibcm_listener_done(listener, port);
}

/* Any context.  If it returns false, the id was abandoned and must not be used. */
bool ibcm_rx_resolve(struct ibcm_id *id, struct ibcm_rx *rx)
{
	rx->id = id;
	INIT_WORK(&rx->work, ibcm_resolve_work);
	if (ibcm_listener_queue(id->req_of, rx))
		return true;
	ibcm_id_abandon(id);
	return false;
}

void ibcm_rx_refuse(struct ibcm_rx *rx)
{
	struct ibcm_listener *listener = rx->id->req_of;
	struct ibcm_port *port = rx->port;

	ibcm_id_abandon(rx->id);
	ibcm_orphan_queue(rx, IB_CM_REJ_INVALID_SERVICE_ID);
	ibcm_listener_done(listener, port);
}

static int (*const ibcm_rx_handlers[IBCM_KINDS])(struct ibcm_id *id,
						 struct ibcm_rx *rx) = {
	[IBCM_REQ]	= ibcm_rx_req,
	[IBCM_MRA]	= ibcm_rx_mra,
	[IBCM_REJ]	= ibcm_rx_rej,
	[IBCM_REP]	= ibcm_rx_rep,
	[IBCM_RTU]	= ibcm_rx_rtu,
	[IBCM_DREQ]	= ibcm_rx_dreq,
	[IBCM_DREP]	= ibcm_rx_drep,
	[IBCM_SIDR_REQ]	= ibcm_rx_sidr_req,
	[IBCM_SIDR_REP]	= ibcm_rx_sidr_rep,
	[IBCM_LAP]	= ibcm_rx_lap,
	[IBCM_APR]	= ibcm_rx_apr,
};

int ibcm_rx_process(struct ibcm_id *id, struct ibcm_rx *rx)
{
	return ibcm_rx_handlers[rx->kind](id, rx);
}

/*
 * Called after the step for @rx: stops the request that @rx answers, counts and answers
 * a duplicate, notifies the consumer.
 */
int ibcm_rx_finish(struct ibcm_id *id, const struct ibcm_rx *rx,
		   const struct ibcm_todo *todo, struct ib_cm_event *event)
{
	const struct ibcm_step *step = todo->step;
	int ret;

	if (!step) {
		ibcm_stat(rx->port, IBCM_STAT_RX_UNEXPECTED);
		return 0;
	}
	if (step->flags & IBCM_F_DUP)
		ibcm_count(rx->port, IBCM_RX_DUPLICATES, rx->kind);
	ibcm_step_finish(id, todo);
	if (step->event == IBCM_NO_EVENT)
		return 0;

	if (step->flags & IBCM_F_EST) {
		ibcm_stat(rx->port, IBCM_STAT_EST_BY_DREQ);
		ret = ibcm_deliver_plain(id, IB_CM_USER_ESTABLISHED);
		if (ret || ibcm_id_dying(id))
			return ret;
	}
	event->event = step->event;
	return ibcm_deliver(id, event);
}
