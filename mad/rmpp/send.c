// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP, the sending side (IBA vol. 1, 13.6.4 and 13.6.6.2).
 *
 * A transfer is sent as segment MADs: internal sends that carry a copy of the headers
 * and one segment's data.  At most IBMAD_RMPP_INFLIGHT of them, and as many
 * retransmissions, are on the port at a time.  The window starts at one segment and is
 * set by the receiver's ACKs.  Once the whole window has been sent the send's timer
 * runs; when it fires, everything after the last ACK is sent again.  Without progress,
 * this is repeated for as long as the client's timeout and retries would take.
 *
 * Most losses are repaired without that timer, as in TCP (RFC 5681, 6582).  An ACK that
 * repeats the last one, while segments beyond the next have been sent, means that the
 * next is missing: it is sent again at once, and so is each segment at which the ACKs
 * stop until everything sent by then has arrived.  Each segment beyond a missing one
 * can cause one repeated ACK: only if there are more of those is the retransmission
 * lost as well.  ACKs without progress do not keep the timer from firing, except for a
 * few such retransmissions: a receiver that repeats one ACK without end is as good as
 * silent.
 *
 * To the send's state machine a transfer is one work request: it completes with the
 * last ACK, or with the error that ended the transfer, but not before each segment on
 * the QP has completed (segments in a lane are taken back): segments use the client's
 * address handle, which the client may destroy once its send is complete.  Everything
 * here is protected by agent->lock.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"

#define IBMAD_RMPP_INFLIGHT	8
#define IBMAD_RMPP_REPEATS	8	/* fast resends of one missing segment */
#define IBMAD_RMPP_ACK_MS	2000	/* time to wait for an ACK, at most */

struct ibmad_rmpp_send {
	u8 *data;		/* seg_count * seg_size bytes */
	u32 seg_count;
	u32 next;		/* the next segment to send */
	u32 high;		/* the highest sent so far, since it was posted */
	u32 acked;
	u32 window;		/* the highest segment that may be sent */
	u32 recover;		/* losses up to here are being repaired; 0: none */
	u32 stale_acks;		/* repeated ACKs that mean no further loss */
	u16 retries_left;	/* without progress */
	u8 inflight;		/* segments on the port */
	struct list_head segs;	/* the segments on the port, by agent_link */
	u8 repeats;		/* resends of the missing segment, after the first */
	bool active;
	/* How it ended; valid while not active and segments are in flight. */
	enum ib_wc_status status;
	u32 vendor_err;
};

/* ---- buffers ---- */

int ibmad_rmpp_send_init(struct ibmad_send *send, gfp_t gfp)
{
	struct ib_mad_send_buf *buf = &send->buf;
	struct ib_rmpp_mad *mad = buf->mad;
	struct ibmad_rmpp_send *rmpp;

	rmpp = kzalloc(sizeof(*rmpp), gfp);
	if (!rmpp)
		return -ENOMEM;
	INIT_LIST_HEAD(&rmpp->segs);
	rmpp->seg_count = max(1U, DIV_ROUND_UP((u32)buf->data_len,
					       (u32)buf->seg_size));
	rmpp->data = kvcalloc(rmpp->seg_count, buf->seg_size, gfp);
	if (!rmpp->data) {
		kfree(rmpp);
		return -ENOMEM;
	}
	buf->seg_count = rmpp->seg_count;
	send->rmpp = rmpp;
	send->length = buf->hdr_len + buf->seg_size;

	mad->rmpp_hdr.rmpp_version = buf->mad_agent->rmpp_version;
	mad->rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_DATA;
	ib_set_rmpp_resptime(&mad->rmpp_hdr, IB_MGMT_RMPP_NO_RESPTIME);
	ib_set_rmpp_flags(&mad->rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE);
	return 0;
}

void ibmad_rmpp_send_free(struct ibmad_send *send)
{
	if (!send->rmpp)
		return;
	kvfree(send->rmpp->data);
	kfree(send->rmpp);
}

/**
 * ib_get_rmpp_segment - the data of one segment of a transfer
 * @send_buf: a MAD from ib_create_send_mad(); if it is no RMPP transfer, segment 1
 *	is the data after its headers
 * @seg_num: the segment, from 1
 *
 * A segment holds ib_mad_send_buf.seg_size bytes.
 *
 * Context: any.  The MAD must not be posted.
 * Return: its first byte, or NULL if there is no such segment.
 */
void *ib_get_rmpp_segment(struct ib_mad_send_buf *send_buf, int seg_num)
{
	struct ibmad_rmpp_send *rmpp = to_send(send_buf)->rmpp;

	if (!rmpp)
		return seg_num == 1 ? send_buf->mad + send_buf->hdr_len : NULL;
	if (seg_num < 1 || seg_num > rmpp->seg_count)
		return NULL;
	return rmpp->data + (size_t)(seg_num - 1) * send_buf->seg_size;
}
EXPORT_SYMBOL(ib_get_rmpp_segment);

/* ---- segments ---- */

static void rmpp_fill_segment(struct ibmad_send *parent, u32 seg_num,
			      struct ib_rmpp_mad *mad)
{
	struct ibmad_rmpp_send *rmpp = parent->rmpp;
	struct ib_mad_send_buf *buf = &parent->buf;
	u8 flags = IB_MGMT_RMPP_FLAG_ACTIVE;
	u32 class_len = buf->hdr_len - IB_MGMT_RMPP_HDR;
	u32 paylen = 0;

	memcpy(mad, buf->mad, buf->hdr_len);
	memcpy((u8 *)mad + buf->hdr_len, ib_get_rmpp_segment(buf, seg_num),
	       buf->seg_size);
	/*
	 * 13.6.2.1: PayLength of the first segment is that of the whole, of the last
	 * its own.
	 */
	if (seg_num == 1) {
		flags |= IB_MGMT_RMPP_FLAG_FIRST;
		paylen = rmpp->seg_count * class_len + buf->data_len;
	}
	if (seg_num == rmpp->seg_count) {
		flags |= IB_MGMT_RMPP_FLAG_LAST;
		paylen = class_len + buf->data_len -
			 (rmpp->seg_count - 1) * buf->seg_size;
	}
	ib_set_rmpp_flags(&mad->rmpp_hdr, flags);
	mad->rmpp_hdr.rmpp_status = IB_MGMT_RMPP_STATUS_SUCCESS;
	mad->rmpp_hdr.seg_num = cpu_to_be32(seg_num);
	mad->rmpp_hdr.paylen_newwin = cpu_to_be32(paylen);
}

static int rmpp_post_segment(struct ibmad_agent *agent,
			     struct ibmad_send *parent, u32 seg_num)
{
	struct ibmad_send *seg;
	int ret;

	seg = ibmad_send_alloc(agent, IBMAD_RMPP_SEGMENT, parent->length,
			       GFP_ATOMIC | __GFP_NOWARN);
	if (!seg)
		return -ENOMEM;
	rmpp_fill_segment(parent, seg_num, seg->buf.mad);
	seg->buf.ah = parent->buf.ah;
	seg->buf.hdr_len = parent->buf.hdr_len;
	seg->buf.data_len = parent->buf.seg_size;
	seg->remote_qpn = parent->remote_qpn;
	seg->pkey_index = parent->pkey_index;
	seg->out_port = parent->out_port;
	seg->lane = parent->lane;
	seg->length = parent->length;
	/* A segment in flight holds references on the transfer and on the agent. */
	refcount_inc(&parent->refs);
	seg->buf.context[0] = parent;
	refcount_inc(&agent->refs);

	ret = ibmad_sendq_post(seg);
	if (ret) {
		refcount_dec(&agent->refs);
		refcount_dec(&parent->refs);
		ibmad_send_put(seg);
		return ret;
	}
	parent->rmpp->inflight++;
	list_add_tail(&seg->agent_link, &parent->rmpp->segs);
	return 0;
}

/*
 * Takes back the segments in a lane, which wait for the QP.  Returns the references on
 * the agent to release after the lock.
 */
static unsigned int rmpp_recall(struct ibmad_agent *agent, struct ibmad_send *parent)
{
	struct ibmad_rmpp_send *rmpp = parent->rmpp;
	struct ibmad_send *seg, *next;
	unsigned int puts = 0;

	lockdep_assert_held(&agent->lock);
	list_for_each_entry_safe(seg, next, &rmpp->segs, agent_link) {
		if (!ibmad_sendq_withdraw(seg))
			continue;
		list_del_init(&seg->agent_link);
		rmpp->inflight--;
		/*
		 * Neither is the last: the client holds the transfer, the transfer the
		 * agent.
		 */
		refcount_dec(&parent->refs);
		ibmad_send_put(seg);
		puts++;
	}
	return puts;
}

/*
 * The wait for an ACK is short even if the client waits long, or without limit, for its
 * response.
 */
static unsigned int rmpp_ack_timeout(const struct ibmad_send *send)
{
	return send->buf.timeout_ms > 0 ?
	       min(send->buf.timeout_ms, IBMAD_RMPP_ACK_MS) : IBMAD_RMPP_ACK_MS;
}

/*
 * Retransmissions without progress: as many as fit the time that the client would wait.
 */
static u16 rmpp_retries(const struct ibmad_send *send)
{
	u32 waits = DIV_ROUND_UP(max(send->buf.timeout_ms, 1), IBMAD_RMPP_ACK_MS);

	return min_t(u64, (1ULL + send->retries_left) * waits - 1, U16_MAX);
}

static bool rmpp_is_double_sided(const struct ibmad_send *send)
{
	const struct ib_mad_hdr *sent = send->buf.mad;

	return send->expects && sent->method == IBMAD_SA_GET_MULTI;
}

/*
 * Posts the segments that the window and IBMAD_RMPP_INFLIGHT allow.  Once none is in
 * flight, starts to wait for the ACK unless it is waiting already.
 */
static void rmpp_pump(struct ibmad_agent *agent, struct ibmad_send *send)
{
	struct ibmad_rmpp_send *rmpp = send->rmpp;
	u32 last = min(rmpp->window, rmpp->seg_count);

	lockdep_assert_held(&agent->lock);
	while (rmpp->next <= last && rmpp->inflight < IBMAD_RMPP_INFLIGHT) {
		if (rmpp_post_segment(agent, send, rmpp->next))
			break;	/* the timer tries again */
		if (rmpp->next <= rmpp->high)
			ibmad_count(agent->port, IBMAD_RMPP_RESENT);
		else
			rmpp->high = rmpp->next;
		rmpp->next++;
	}
	if (rmpp->inflight)
		ibmad_send_disarm(send);
	else if (!timer_pending(&send->timer))
		ibmad_send_arm(send, msecs_to_jiffies(rmpp_ack_timeout(send)));
}

int ibmad_rmpp_send_start(struct ibmad_send *send)
{
	struct ibmad_agent *agent = send_agent(send);
	struct ibmad_rmpp_send *rmpp = send->rmpp;

	lockdep_assert_held(&agent->lock);
	if (READ_ONCE(agent->mqp->state) == IBMAD_QP_DEAD)
		return -ENODEV;
	rmpp->next = 1;
	/*
	 * If repeated for lack of a response, keep high: the peer may ACK all of it by
	 * now.
	 */
	if (!send->buf.retries)
		rmpp->high = 0;
	rmpp->acked = 0;
	rmpp->recover = 0;
	rmpp->window = 1;
	rmpp->retries_left = rmpp_retries(send);
	rmpp->active = true;
	rmpp_pump(agent, send);
	return 0;
}

/* Ends the transfer; returns the references to release after the lock. */
static unsigned int rmpp_stop(struct ibmad_agent *agent, struct ibmad_send *send,
			      enum ib_wc_status status, u32 vendor_err)
{
	struct ibmad_rmpp_send *rmpp = send->rmpp;
	unsigned int puts;

	lockdep_assert_held(&agent->lock);
	rmpp->active = false;
	rmpp->status = status;
	rmpp->vendor_err = vendor_err;
	ibmad_send_disarm(send);
	puts = rmpp_recall(agent, send);
	if (rmpp->inflight)
		return puts;	/* the last segment to complete ends the send */
	return puts + ibmad_send_sent(agent, send, status, vendor_err);
}

/*
 * The rest need not be sent: the response has arrived or was aborted, or the send was
 * cancelled.
 */
unsigned int ibmad_rmpp_send_withdraw(struct ibmad_agent *agent,
				      struct ibmad_send *send)
{
	lockdep_assert_held(&agent->lock);
	if (!send->rmpp->active)
		return 0;
	return rmpp_stop(agent, send, IB_WC_WR_FLUSH_ERR, 0);
}

/* A segment's work request completed; no lock held. */
void ibmad_rmpp_segment_done(struct ibmad_send *seg, enum ib_wc_status status,
			     u32 vendor_err)
{
	struct ibmad_agent *agent = send_agent(seg);
	struct ibmad_send *parent = seg->buf.context[0];
	struct ibmad_rmpp_send *rmpp = parent->rmpp;
	unsigned int puts = 1;
	unsigned long flags;

	spin_lock_irqsave(&agent->lock, flags);
	list_del_init(&seg->agent_link);
	rmpp->inflight--;
	if (rmpp->active) {
		if (status)
			puts += ibmad_rmpp_send_end(agent, parent, status,
						    vendor_err);
		else
			rmpp_pump(agent, parent);
	} else if (!rmpp->inflight) {
		puts += ibmad_send_sent(agent, parent, rmpp->status,
					rmpp->vendor_err);
	}
	spin_unlock_irqrestore(&agent->lock, flags);
	ibmad_send_put(parent);
	ibmad_send_put(seg);
	ibmad_agent_put_n(agent, puts);
}

/* ---- ACK, STOP, ABORT, timeout ---- */

/*
 * Counts and ends the transfer.  Under agent->lock; returns the references to release
 * after it.
 */
unsigned int ibmad_rmpp_send_end(struct ibmad_agent *agent,
				 struct ibmad_send *send,
				 enum ib_wc_status status, u32 vendor_err)
{
	lockdep_assert_held(&agent->lock);
	if (!send->rmpp->active)
		return 0;
	ibmad_count(agent->port, status ? IBMAD_RMPP_ABORTED : IBMAD_RMPP_SENT);
	return rmpp_stop(agent, send, status, vendor_err);
}

/* The timer fired while the transfer was being sent. */
unsigned int ibmad_rmpp_send_timeout(struct ibmad_agent *agent,
				     struct ibmad_send *send)
{
	struct ibmad_rmpp_send *rmpp = send->rmpp;

	lockdep_assert_held(&agent->lock);
	if (!rmpp->active)
		return 0;
	if (!rmpp->retries_left) {
		ibmad_count(agent->port, IBMAD_TIMEOUTS);
		return ibmad_rmpp_send_end(agent, send, IB_WC_RESP_TIMEOUT_ERR,
					   IB_MGMT_RMPP_STATUS_TMR);
	}
	rmpp->retries_left--;
	send->buf.retries++;
	rmpp->next = rmpp->acked + 1;
	rmpp->recover = 0;
	rmpp_pump(agent, send);
	return 0;
}

/* Checks an ACK (13.6.5.1): returns the RMPP status to abort with, or SUCCESS. */
static u8 rmpp_check_ack(const struct ibmad_rmpp_send *rmpp,
			 const struct ib_rmpp_hdr *hdr)
{
	u32 seg = be32_to_cpu(hdr->seg_num);
	u32 window = be32_to_cpu(hdr->paylen_newwin);

	if (hdr->rmpp_version != IB_MGMT_RMPP_VERSION)
		return IB_MGMT_RMPP_STATUS_UNV;
	if (hdr->rmpp_status)
		return IB_MGMT_RMPP_STATUS_BAD_STATUS;
	if (seg > rmpp->seg_count || seg > rmpp->high)
		return IB_MGMT_RMPP_STATUS_S2B;
	if (window < seg)
		return IB_MGMT_RMPP_STATUS_W2S;
	return IB_MGMT_RMPP_STATUS_SUCCESS;
}

/* Whether an ACK of @seg, which repeats the last one, means that a segment is lost. */
static bool rmpp_ack_tells(struct ibmad_rmpp_send *rmpp, u32 seg)
{
	/* No segment was sent that could have overtaken the next. */
	if (seg + 2 >= rmpp->next)
		return false;
	if (!rmpp->recover) {
		rmpp->recover = rmpp->next - 1;
		rmpp->repeats = 0;
		return true;
	}
	if (rmpp->stale_acks) {
		rmpp->stale_acks--;
		return false;
	}
	if (rmpp->repeats == IBMAD_RMPP_REPEATS)
		return false;
	rmpp->repeats++;
	return true;
}

/* Records a new ACK, of @seg.  Returns whether it stops at a lost segment. */
static bool rmpp_ack_advances(struct ibmad_rmpp_send *rmpp, u32 seg, u16 retries)
{
	rmpp->acked = seg;
	rmpp->retries_left = retries;
	rmpp->repeats = 0;
	rmpp->next = max(rmpp->next, seg + 1);
	if (seg >= rmpp->recover)
		rmpp->recover = 0;
	return rmpp->recover;
}

/* Records an ACK up to @seg; returns the segment to send again at once, or 0. */
static u32 rmpp_note_ack(struct ibmad_rmpp_send *rmpp, u32 seg, u16 retries)
{
	bool lost = seg == rmpp->acked ? rmpp_ack_tells(rmpp, seg) :
					 rmpp_ack_advances(rmpp, seg, retries);

	if (!lost)
		return 0;
	/* One ACK for each segment that was sent beyond the missing one. */
	rmpp->stale_acks = rmpp->next - 2 - seg;
	return seg + 1;
}

/*
 * Handles an ACK.  Under agent->lock.  Returns an RMPP status to abort the transfer
 * with at the peer too, or SUCCESS, and adds to *@puts the references to release after
 * the lock.  Sets *@turn if the transfer is complete and its direction must be turned
 * around.
 */
u8 ibmad_rmpp_send_acked(struct ibmad_agent *agent, struct ibmad_send *send,
			 const struct ib_rmpp_hdr *hdr, unsigned int *puts,
			 bool *turn)
{
	struct ibmad_rmpp_send *rmpp = send->rmpp;
	u32 seg = be32_to_cpu(hdr->seg_num);
	u32 missing;
	u8 why;

	lockdep_assert_held(&agent->lock);
	if (!rmpp->active) {
		/*
		 * A repeated last ACK: the ACK that turns the direction around was
		 * lost.
		 */
		*turn = send->state == IBMAD_WAITING && seg == rmpp->seg_count &&
			rmpp_is_double_sided(send);
		return IB_MGMT_RMPP_STATUS_SUCCESS;
	}
	why = rmpp_check_ack(rmpp, hdr);
	if (why) {
		*puts += ibmad_rmpp_send_end(agent, send, IB_WC_REM_ABORT_ERR,
					     why);
		return why;
	}
	if (seg < rmpp->acked)
		return IB_MGMT_RMPP_STATUS_SUCCESS;	/* overtaken by a later ACK */
	if (seg > rmpp->acked)
		ibmad_send_disarm(send);	/* progress: restart the wait */
	missing = rmpp_note_ack(rmpp, seg, rmpp_retries(send));
	rmpp->window = max(rmpp->window, be32_to_cpu(hdr->paylen_newwin));
	if (seg == rmpp->seg_count) {
		*turn = rmpp_is_double_sided(send);
		*puts += ibmad_rmpp_send_end(agent, send, IB_WC_SUCCESS, 0);
	} else {
		/* ACKs can arrive faster than the port sends the missing segments. */
		if (missing && rmpp->inflight < 2 * IBMAD_RMPP_INFLIGHT &&
		    !rmpp_post_segment(agent, send, missing))
			ibmad_count(agent->port, IBMAD_RMPP_RESENT);
		rmpp_pump(agent, send);
	}
	return IB_MGMT_RMPP_STATUS_SUCCESS;
}
