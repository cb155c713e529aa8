// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP, the sending side (IBA vol. 1, 13.6.4 and 13.6.6.2).
 *
 * A transfer goes out as segment MADs of its own, internal sends that carry a
 * copy of the headers and one segment's data; at most IBMAD_RMPP_INFLIGHT of
 * them, and as many that go again, are on the port at a time.  The window starts
 * at one segment and is what the receiver's ACKs make it.  Once all of a window
 * is out, the send's timer runs; when it fires, everything after the last ACK
 * goes again, for as long as the client's tries would take without progress.
 *
 * Most losses are mended without that timer, as TCP does (RFC 5681, 6582).  An ACK
 * that repeats the last one while segments are out beyond the next says that the next
 * is missing: it goes again at once, and so does each that the ACKs stop at until all
 * that was out by then has arrived.  Each segment beyond a missing one can have the
 * ACK repeated once: only if that comes more often is the repetition lost as well.
 * What brings no progress does not keep the timer from firing, but for a few of those
 * repetitions: a receiver that acknowledges the same for ever is as good as silent.
 *
 * To the send's state machine a transfer is one work request: it completes with
 * the last ACK, or with the error that ended the transfer, but not before each
 * segment on the QP has (those that still wait for it are taken back): those refer
 * to the client's address handle, which is the client's to destroy once its send is
 * complete.  Everything here is protected by agent->lock.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"

#define IBMAD_RMPP_INFLIGHT	8
#define IBMAD_RMPP_REPEATS	8	/* of the missing segment, until the timer fires */
#define IBMAD_RMPP_ACK_MS	2000	/* to wait for an ACK, if the client sets no less */

struct ibmad_rmpp_send {
	u8 *data;		/* seg_count * seg_size bytes */
	u32 seg_count;
	u32 next;		/* the next segment to send */
	u32 high;		/* the highest sent so far, since it was posted */
	u32 acked;
	u32 window;		/* the highest segment that may be sent */
	u32 recover;		/* losses up to here are known; 0: of none */
	u32 stale_acks;		/* may repeat the last one without a further loss */
	u16 retries_left;	/* without progress */
	u8 inflight;		/* segments on the port */
	struct list_head segs;	/* those, by agent_link */
	u8 repeats;		/* of the missing segment, after the first */
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
 * Context: any.  The client sees to it that the MAD is not posted.
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
	/* 13.6.2.1: the whole in the first segment, the rest in the last. */
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
	/* A segment in flight keeps the transfer's memory, and the agent. */
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
 * Takes back the segments that wait for the QP, perhaps behind what others have
 * posted.  Returns the references on the agent to release after the lock.
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
		/* Neither is the last: the client has the transfer, it the agent. */
		refcount_dec(&parent->refs);
		ibmad_send_put(seg);
		puts++;
	}
	return puts;
}

/* A client that waits long, or without end, for its response does not for an ACK. */
static unsigned int rmpp_ack_timeout(const struct ibmad_send *send)
{
	return send->buf.timeout_ms > 0 ?
	       min(send->buf.timeout_ms, IBMAD_RMPP_ACK_MS) : IBMAD_RMPP_ACK_MS;
}

/* So often does it go again without progress: for as long as the client would wait. */
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
 * Sends what window and port allow; with all of it out, waits for the ACK, or goes
 * on waiting.
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
	/* Repeated because no response came: the peer may have all of it by now. */
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

/* It is over; returns the references to release after the lock. */
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
		return puts;	/* the last of them ends it */
	return puts + ibmad_send_sent(agent, send, status, vendor_err);
}

/* Nobody wants the rest any more: the response is there, or it was cancelled. */
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

/* ---- ACK, STOP, ABORT, silence ---- */

/* Ends the transfer.  Under agent->lock; returns what to release after it. */
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

/* The timer fired while the transfer was on its way. */
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

/* Why an ACK cannot be true (13.6.5.1): an RMPP status, or SUCCESS. */
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

/* Whether the ACK of @seg, which repeats the last one, tells of a loss. */
static bool rmpp_ack_tells(struct ibmad_rmpp_send *rmpp, u32 seg)
{
	/* Nothing is out that could have overtaken the next. */
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

/* Whether the ACK of @seg, which is new, stops at a loss. */
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

/* Records an ACK up to @seg; answers the segment to send again at once, or 0. */
static u32 rmpp_note_ack(struct ibmad_rmpp_send *rmpp, u32 seg, u16 retries)
{
	bool lost = seg == rmpp->acked ? rmpp_ack_tells(rmpp, seg) :
					 rmpp_ack_advances(rmpp, seg, retries);

	if (!lost)
		return 0;
	/* One for each that is out beyond the next. */
	rmpp->stale_acks = rmpp->next - 2 - seg;
	return seg + 1;
}

/*
 * Under agent->lock.  Returns an RMPP status to abort the transfer with at the
 * other end too, and adds to *@puts the references to release after the lock.
 * With *@turn, the transfer is over and its direction is to be turned around.
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
		/* Sent again: what is to turn the direction around did not come. */
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
		return IB_MGMT_RMPP_STATUS_SUCCESS;	/* overtaken */
	if (seg > rmpp->acked)
		ibmad_send_disarm(send);	/* progress: the wait starts anew */
	missing = rmpp_note_ack(rmpp, seg, rmpp_retries(send));
	rmpp->window = max(rmpp->window, be32_to_cpu(hdr->paylen_newwin));
	if (seg == rmpp->seg_count) {
		*turn = rmpp_is_double_sided(send);
		*puts += ibmad_rmpp_send_end(agent, send, IB_WC_SUCCESS, 0);
	} else {
		/* ACKs can come faster than the port sends what they ask for. */
		if (missing && rmpp->inflight < 2 * IBMAD_RMPP_INFLIGHT &&
		    !rmpp_post_segment(agent, send, missing))
			ibmad_count(agent->port, IBMAD_RMPP_RESENT);
		rmpp_pump(agent, send);
	}
	return IB_MGMT_RMPP_STATUS_SUCCESS;
}
