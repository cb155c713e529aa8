// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP, the receiving side (IBA vol. 1, 13.6.4 and 13.6.6.1).
 *
 * Only a first segment begins a reassembly, and for a response only while the request
 * it answers is outstanding; anything else is dropped, unanswered unless its header is
 * wrong.  Segments that arrive in order are chained to the first, those that overtook
 * others wait in an xarray.  Memory is bounded by the window of each transfer, by the
 * number of transfers, and by the bytes that are in reassemblies or that the agent's
 * client has yet to read, all per agent.  Unsolicited transfers may use half of it at
 * most, and those of one source only a share of the transfers.
 *
 * Everything here is protected by agent->rmpp.mutex: MADs arrive from the receive CQ's
 * work, and first segments that waited for an address handle from a work item.
 */
#include <linux/sizes.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"

#define IBMAD_RMPP_WINDOW	64	/* segments granted beyond the last ACKed */
#define IBMAD_RMPP_RESERVE	32	/* segments left when a new window is granted */
#define IBMAD_RMPP_GAP_EARLY	3	/* early segments between two ACKs of a gap */
#define IBMAD_RMPP_MAX_SEGS	SZ_1M	/* of a transfer, whose length is an int */
#define OUTCOME_OPEN		IBMAD_NR_COUNTERS /* the MAD is held, not counted yet */

/* ---- headers ---- */

/* A response that nobody waits for is not answered, whatever is wrong with it. */
static bool rmpp_is_wanted(struct ibmad_agent *agent, const struct ibmad_recv *recv)
{
	return !ib_response_mad(&rmpp_mad(recv)->mad_hdr) ||
	       ibmad_send_is_due(agent, recv, false);
}

/* 13.6.2.3: whether a STOP or an ABORT tells a reason that there is. */
static bool rmpp_is_reason(const struct ib_rmpp_hdr *hdr)
{
	if (hdr->rmpp_type == IB_MGMT_RMPP_TYPE_STOP)
		return hdr->rmpp_status == IB_MGMT_RMPP_STATUS_RESX;
	return hdr->rmpp_status >= IB_MGMT_RMPP_STATUS_ABORT_MIN &&
	       hdr->rmpp_status <= IB_MGMT_RMPP_STATUS_ABORT_MAX;
}

/*
 * Checks what does not depend on a transfer (13.6.2.1): returns the RMPP status to abort
 * with, or SUCCESS.
 */
static u8 rmpp_check_header(const struct ib_rmpp_hdr *hdr)
{
	if (hdr->rmpp_version != IB_MGMT_RMPP_VERSION)
		return IB_MGMT_RMPP_STATUS_UNV;
	switch (hdr->rmpp_type) {
	case IB_MGMT_RMPP_TYPE_DATA:
	case IB_MGMT_RMPP_TYPE_ACK:
		return hdr->rmpp_status ? IB_MGMT_RMPP_STATUS_BAD_STATUS :
					  IB_MGMT_RMPP_STATUS_SUCCESS;
	case IB_MGMT_RMPP_TYPE_STOP:
	case IB_MGMT_RMPP_TYPE_ABORT:
		return rmpp_is_reason(hdr) ? IB_MGMT_RMPP_STATUS_SUCCESS :
					     IB_MGMT_RMPP_STATUS_BAD_STATUS;
	default:
		return IB_MGMT_RMPP_STATUS_BADT;
	}
}

/* ---- DATA ---- */

static bool rmpp_out_of_memory(const struct ibmad_rmpp_recv *rr, u32 seg)
{
	unsigned long max = READ_ONCE(ibmad_rmpp_max_bytes);

	return seg > IBMAD_RMPP_MAX_SEGS ||
	       atomic_long_read(&rr->agent->rmpp.bytes) >=
	       (rr->solicited ? max : max / 2);
}

/* Checks a segment (13.6.5.2): returns the RMPP status to abort with, or SUCCESS. */
static u8 rmpp_check_data(const struct ibmad_rmpp_recv *rr,
			  const struct ib_rmpp_hdr *hdr)
{
	u8 flags = ib_get_rmpp_flags((struct ib_rmpp_hdr *)hdr);
	bool is_first = flags & IB_MGMT_RMPP_FLAG_FIRST;
	bool is_last = flags & IB_MGMT_RMPP_FLAG_LAST;
	u32 seg = be32_to_cpu(hdr->seg_num);
	u8 why = rmpp_check_header(hdr);

	if (why)
		return why;
	if (!seg || (is_first ? seg != 1 : seg == 1))
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (rr->last && (is_last ? seg != rr->last : seg >= rr->last))
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (is_last && seg < rr->high)
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (rmpp_out_of_memory(rr, seg))
		return IB_MGMT_RMPP_STATUS_RESX;
	return IB_MGMT_RMPP_STATUS_SUCCESS;
}

static void rmpp_chain(struct ibmad_rmpp_recv *rr, struct ibmad_recv *recv)
{
	if (!rr->first)
		rr->first = recv;
	else
		list_move_tail(&recv->recv_wc.recv_buf.list,
			       &rr->first->recv_wc.rmpp_list);
	rr->expected++;
}

/* Whether @seg is a new segment for @rr (NULL if there is none yet). */
static bool rmpp_is_new(struct ibmad_rmpp_recv *rr, u32 seg)
{
	if (!rr || rr->done)
		return seg == 1;
	return seg >= rr->expected && seg <= rr->window && !xa_load(&rr->early, seg);
}

/* Takes @recv if it is new and within the window. */
static bool rmpp_store(struct ibmad_rmpp_recv *rr, struct ibmad_recv *recv)
{
	u32 seg = be32_to_cpu(rmpp_mad(recv)->rmpp_hdr.seg_num);

	if (!rmpp_is_new(rr, seg))
		return false;
	if (seg == rr->expected)
		rmpp_chain(rr, recv);
	else if (xa_insert(&rr->early, seg, recv, GFP_NOIO))
		return false;
	rr->high = max(rr->high, seg);
	rr->bytes += recv->pool->mad_size;
	atomic_long_add(recv->pool->mad_size, &rr->agent->rmpp.bytes);

	while ((recv = xa_erase(&rr->early, rr->expected)))
		rmpp_chain(rr, recv);
	return true;
}

/*
 * Returns mad_len: the headers once, and the data of all segments.  An impossible
 * PayLength of the last segment does not fail the transfer, since some senders leave it
 * zero or give the length of the whole: the segment is then taken to be full.
 */
static int rmpp_total_len(const struct ibmad_rmpp_recv *rr)
{
	struct ibmad_recv *tail = list_last_entry(&rr->first->recv_wc.rmpp_list,
						  struct ibmad_recv,
						  recv_wc.recv_buf.list);
	struct ib_rmpp_mad *mad = rmpp_mad(tail);
	int hdr_len = ib_get_mad_data_offset(mad->mad_hdr.mgmt_class);
	int seg_size = rr->first->recv_wc.mad_seg_size - hdr_len;
	u32 class_len = hdr_len - IB_MGMT_RMPP_HDR;
	u32 paylen = be32_to_cpu(mad->rmpp_hdr.paylen_newwin);

	if (paylen < class_len || paylen > class_len + seg_size)
		paylen = class_len + seg_size;
	return hdr_len + (rr->last - 1) * seg_size + paylen - class_len;
}

/*
 * All segments have arrived: acknowledges the transfer and delivers it.  Returns the
 * counter for what became of it.
 */
static enum ibmad_counter rmpp_finish(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_recv *first = rr->first;
	struct ibmad_agent *agent = rr->agent;
	bool delivered;

	ibmad_rmpp_send_ack(agent, first, rr->rah, rr->last, rr->last);
	ibmad_count(agent->port, IBMAD_RMPP_RECEIVED);
	first->recv_wc.mad_len = rmpp_total_len(rr);
	first->rmpp_bytes = rr->bytes;
	ibmad_reasm_finish(rr);

	if (rr->solicited)
		delivered = ibmad_send_answer(agent, first);
	else
		delivered = ibmad_deliver_recv(agent, first, NULL);
	if (delivered)
		return IBMAD_RMPP_SEGMENTS;
	atomic_long_sub(first->rmpp_bytes, &agent->rmpp.bytes);
	ib_free_recv_mad(&first->recv_wc);
	return rr->solicited ? IBMAD_RECV_UNMATCHED : IBMAD_RECV_OVERFLOW;
}

/*
 * How many ACKs to send for the segment that was stored last.  A missing segment is
 * reported repeatedly, since the ACK and the retransmission can be lost as well, but
 * only when new segments arrive, not for duplicates.  The segment that fills a gap is
 * acknowledged, for none may follow.
 */
static unsigned int rmpp_acks_due(struct ibmad_rmpp_recv *rr)
{
	u32 gap = rr->gap;

	if (xa_empty(&rr->early)) {
		rr->gap = 0;
		return gap || rr->expected + IBMAD_RMPP_RESERVE > rr->window;
	}
	if (gap == rr->expected) {
		rr->overtook++;
		return rr->last || rr->overtook % IBMAD_RMPP_GAP_EARLY == 0;
	}
	rr->gap = rr->expected;
	rr->overtook = 0;
	/* No segment may follow that would report it again. */
	return rr->last ? 2 : 1;
}

/* Acknowledges all that arrived in order, and grants a full window. */
static void rmpp_ack_progress(struct ibmad_rmpp_recv *rr)
{
	rr->window = rr->expected - 1 + IBMAD_RMPP_WINDOW;
	ibmad_rmpp_send_ack(rr->agent, rr->first, rr->rah, rr->expected - 1,
			    rr->window);
}

/* Handles a segment of an unfinished transfer.  Returns whether it consumed @recv. */
static bool rmpp_segment(struct ibmad_rmpp_recv *rr, struct ibmad_recv *recv,
			 enum ibmad_counter *outcome)
{
	struct ib_rmpp_hdr *hdr = &rmpp_mad(recv)->rmpp_hdr;
	struct ibmad_agent *agent = rr->agent;
	u32 seg = be32_to_cpu(hdr->seg_num);
	u8 why = rmpp_check_data(rr, hdr);
	unsigned int acks;

	if (why) {
		if (why == IB_MGMT_RMPP_STATUS_RESX)
			*outcome = IBMAD_RECV_OVERFLOW;
		ibmad_rmpp_send_abort(agent, recv, rr->rah, why);
		ibmad_reasm_destroy(rr);
		return false;
	}
	ibmad_reasm_touch(rr);
	if (!rmpp_store(rr, recv)) {
		/* The segment was sent again, so our ACK was lost: repeat it. */
		if (seg < rr->expected)
			ibmad_rmpp_send_ack(agent, recv, rr->rah,
					    rr->expected - 1, rr->window);
		return false;
	}
	if (ib_get_rmpp_flags(hdr) & IB_MGMT_RMPP_FLAG_LAST)
		rr->last = seg;

	*outcome = IBMAD_RMPP_SEGMENTS;
	if (rr->last && rr->expected > rr->last)
		*outcome = rmpp_finish(rr);
	else
		for (acks = rmpp_acks_due(rr); acks; acks--)
			rmpp_ack_progress(rr);
	return true;
}

/* Whether an RMPP response to the request that @recv is part of is being sent. */
static bool rmpp_is_answered(struct ibmad_agent *agent,
			     const struct ibmad_recv *recv)
{
	bool answered;

	spin_lock_irq(&agent->lock);
	answered = ibmad_match_find(agent, recv, true);
	spin_unlock_irq(&agent->lock);
	return answered;
}

/*
 * Whether @recv, a first segment that matches the finished @rr, begins another transfer
 * with the same TID.  It does if @rr had several segments: its sender went on to the
 * others because the first had been ACKed.
 */
static bool rmpp_begins_anew(const struct ibmad_rmpp_recv *rr,
			     const struct ibmad_recv *recv)
{
	struct ib_rmpp_mad *mad = rmpp_mad(recv);

	/* The request of a finished response is complete: its TID was used again. */
	if (rr->solicited)
		return true;
	/*
	 * Two responses with one TID would take each other's ACKs: wait for the first
	 * to end.
	 */
	if (rmpp_is_answered(rr->agent, recv))
		return false;
	if (rr->last > 1 || !(ib_get_rmpp_flags(&mad->rmpp_hdr) &
			      IB_MGMT_RMPP_FLAG_LAST))
		return true;
	/*
	 * The sender lacks the ACK, or the response.  A request is delivered twice, as
	 * any request of one MAD may be, rather than never answered; a method without a
	 * response is not.
	 */
	switch (mad->mad_hdr.method) {
	case IB_MGMT_METHOD_SEND:
	case IB_MGMT_METHOD_TRAP:
	case IB_MGMT_METHOD_TRAP_REPRESS:
		return false;
	default:
		return true;
	}
}

/*
 * Checks a segment of no transfer that is known, which may have ended: returns the RMPP
 * status to abort with, or SUCCESS.
 */
static u8 rmpp_check_stray(const struct ib_rmpp_hdr *hdr)
{
	u8 flags = ib_get_rmpp_flags((struct ib_rmpp_hdr *)hdr);
	u8 why = rmpp_check_header(hdr);

	if (!why && (flags & IB_MGMT_RMPP_FLAG_FIRST) && be32_to_cpu(hdr->seg_num) != 1)
		why = IB_MGMT_RMPP_STATUS_BAD_SEG;
	return why;
}

/* Handles a DATA MAD.  Returns whether it consumed @recv. */
static bool rmpp_data(struct ibmad_agent *agent, struct ibmad_recv *recv,
		      enum ibmad_counter *outcome)
{
	bool solicited = ib_response_mad(&rmpp_mad(recv)->mad_hdr);
	u32 seg = be32_to_cpu(rmpp_mad(recv)->rmpp_hdr.seg_num);
	struct ibmad_rmpp_recv *rr;
	bool wanted;
	u8 why;

	lockdep_assert_held(&agent->rmpp.mutex);
	rr = ibmad_reasm_find(agent, recv);
	wanted = !solicited || ibmad_send_is_due(agent, recv, rmpp_is_new(rr, seg));
	if (rr && rr->done && wanted && seg == 1 && rmpp_begins_anew(rr, recv)) {
		ibmad_reasm_destroy(rr);
		rr = NULL;
	}
	why = !rr && wanted ? rmpp_check_stray(&rmpp_mad(recv)->rmpp_hdr) :
			      IB_MGMT_RMPP_STATUS_SUCCESS;
	if (why) {
		ibmad_rmpp_send_abort(agent, recv, NULL, why);
		return false;
	}
	if (!rr && wanted && seg == 1 && ibmad_reasm_create(agent, recv, outcome)) {
		*outcome = OUTCOME_OPEN;
		return true;
	}
	/* The first segment is held already: drop the repetition. */
	if (!rr || rr->held)
		return false;
	if (rr->done) {
		ibmad_reasm_touch(rr);
		ibmad_rmpp_send_ack(agent, recv, NULL, rr->last, rr->last);
		return false;
	}
	if (!wanted) {
		/* The request was cancelled or has expired meanwhile. */
		ibmad_rmpp_send_abort(agent, recv, rr->rah,
				      IB_MGMT_RMPP_STATUS_UNSPEC);
		ibmad_reasm_destroy(rr);
		return false;
	}
	return rmpp_segment(rr, recv, outcome);
}

/* ---- ACK, STOP, ABORT: each returns the counter for its MAD ---- */

static enum ibmad_counter rmpp_ack(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	struct ib_rmpp_hdr *hdr = &rmpp_mad(recv)->rmpp_hdr;
	u8 why = IB_MGMT_RMPP_STATUS_SUCCESS;
	struct ibmad_send *send;
	unsigned int puts = 0;
	bool turn = false;

	spin_lock_irq(&agent->lock);
	send = ibmad_match_find(agent, recv, true);
	if (send)
		why = ibmad_rmpp_send_acked(agent, send, hdr, &puts, &turn);
	spin_unlock_irq(&agent->lock);

	if (!send && rmpp_is_wanted(agent, recv))
		why = rmpp_check_header(hdr);
	if (why)
		ibmad_rmpp_send_abort(agent, recv, NULL, why);
	/* 13.6.4.2: the ACK of segment 0 lets the responder begin. */
	if (turn)
		ibmad_rmpp_send_ack(agent, recv, NULL, 0, 1);
	ibmad_agent_put_n(agent, puts);
	return send ? IBMAD_RMPP_CONTROLS : IBMAD_RMPP_DROPPED;
}

/*
 * The peer gave up, as the receiver of a transfer sent here or as the sender of a
 * transfer reassembled here (then its request gets no response).  If its header is wrong, as
 * by a reason that there is not, it is told so.
 */
static enum ibmad_counter rmpp_aborted(struct ibmad_agent *agent,
				       struct ibmad_recv *recv)
{
	const struct ib_rmpp_hdr *hdr = &rmpp_mad(recv)->rmpp_hdr;
	struct ibmad_rmpp_recv *rr = ibmad_reasm_find(agent, recv);
	enum ibmad_counter outcome = IBMAD_RMPP_DROPPED;
	u8 why = rmpp_check_header(hdr), status = why ?: hdr->rmpp_status;
	struct ibmad_send *send;
	unsigned int puts = 0;

	lockdep_assert_held(&agent->rmpp.mutex);
	if (why && rmpp_is_wanted(agent, recv))
		ibmad_rmpp_send_abort(agent, recv, rr ? rr->rah : NULL, why);
	if (rr && !rr->done) {
		ibmad_count(agent->port, IBMAD_RMPP_ABORTED);
		ibmad_reasm_destroy(rr);
		outcome = IBMAD_RMPP_CONTROLS;
	}
	spin_lock_irq(&agent->lock);
	send = ibmad_match_find(agent, recv, true);
	if (send) {
		puts = ibmad_rmpp_send_end(agent, send, IB_WC_REM_ABORT_ERR,
					   status);
		outcome = IBMAD_RMPP_CONTROLS;
	}
	/*
	 * The request of the aborted response may have been a transfer itself, which
	 * has ended.
	 */
	if (ib_response_mad(&rmpp_mad(recv)->mad_hdr) &&
	    ibmad_send_refused(agent, recv, status, &puts))
		outcome = IBMAD_RMPP_CONTROLS;
	spin_unlock_irq(&agent->lock);
	ibmad_agent_put_n(agent, puts);
	return outcome;
}

/*
 * 13.6.2.1: an unknown RMPP type.  Its sender is told by an ABORT, so that it does not
 * wait, even if no transfer is known here.  A transfer that the MAD belongs to ends.
 */
static void rmpp_unknown(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	struct ibmad_rmpp_recv *rr = ibmad_reasm_find(agent, recv);

	lockdep_assert_held(&agent->rmpp.mutex);
	if (!rmpp_is_wanted(agent, recv))
		return;
	ibmad_rmpp_send_abort(agent, recv, rr ? rr->rah : NULL,
			      rmpp_check_header(&rmpp_mad(recv)->rmpp_hdr));
	if (rr && !rr->done)
		ibmad_reasm_destroy(rr);
}

/* Consumes @recv. */
static void rmpp_receive(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	enum ibmad_counter outcome = IBMAD_RMPP_DROPPED;
	bool taken = false;

	lockdep_assert_held(&agent->rmpp.mutex);
	switch (rmpp_mad(recv)->rmpp_hdr.rmpp_type) {
	case IB_MGMT_RMPP_TYPE_DATA:
		taken = rmpp_data(agent, recv, &outcome);
		break;
	case IB_MGMT_RMPP_TYPE_ACK:
		outcome = rmpp_ack(agent, recv);
		break;
	case IB_MGMT_RMPP_TYPE_STOP:
	case IB_MGMT_RMPP_TYPE_ABORT:
		outcome = rmpp_aborted(agent, recv);
		break;
	default:
		rmpp_unknown(agent, recv);
		break;
	}
	if (outcome != OUTCOME_OPEN)
		ibmad_count(agent->port, outcome);
	if (!taken)
		ibmad_recv_free(recv);
}

void ibmad_rmpp_receive(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	mutex_lock(&agent->rmpp.mutex);
	if (agent->rmpp.closed) {
		ibmad_count(agent->port, IBMAD_RMPP_DROPPED);
		ibmad_recv_free(recv);
	} else {
		rmpp_receive(agent, recv);
	}
	mutex_unlock(&agent->rmpp.mutex);
}

/*
 * Handles the held first segment as if it arrived now, unless its reassembly was
 * destroyed.
 */
void ibmad_rmpp_way_found(struct ibmad_rmpp_lookup *lookup)
{
	struct ibmad_rmpp_recv *rr = lookup->context;
	struct ibmad_recv *recv;

	lockdep_assert_held(&lookup->agent->rmpp.mutex);
	if (!rr)
		return;
	rr->lookup = NULL;
	if (!lookup->rah) {
		ibmad_reasm_destroy(rr);
		return;
	}
	rr->rah = ibmad_rmpp_ah_get(lookup->rah);
	recv = rr->held;
	rr->held = NULL;
	rmpp_receive(lookup->agent, recv);
}
