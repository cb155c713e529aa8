// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sends: the interface for clients, and the state machine of a send.
 *
 * Everything that can happen to a send is an event, handled under agent->lock; a table
 * gives the next state of the send and the action.  References on the agent that an
 * event releases (mad.h) are dropped after the lock.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <ibex/mad_agent.h>
#include "agent/agent.h"
#include "port/port.h"
#include "rmpp/rmpp.h"
#include "smi/smi.h"
#include "trace.h"

#define STEP(_next, _action) \
	{ .next = IBMAD_##_next, .action = IBMAD_ACT_##_action }

/* Events that a state does not list are ignored. */
static const struct ibmad_send_step
send_steps[IBMAD_NR_STATES][IBMAD_NR_EVENTS] = {
	[IBMAD_HELD] = {
		[IBMAD_EV_CREDIT]	= STEP(SENDING, START),
		[IBMAD_EV_EXPIRED]	= STEP(DONE, EXPIRE),
		[IBMAD_EV_CANCEL]	= STEP(DONE, FLUSH),
	},
	[IBMAD_SENDING] = {
		[IBMAD_EV_SENT]		= STEP(DONE, SUCCEED),
		[IBMAD_EV_SENT_EXPECT]	= STEP(WAITING, WAIT),
		[IBMAD_EV_FAILED]	= STEP(DONE, FAIL),
		[IBMAD_EV_RESPONSE]	= STEP(ANSWERED, WITHDRAW),
		[IBMAD_EV_CANCEL]	= STEP(CANCELLED, WITHDRAW),
		[IBMAD_EV_REFUSED]	= STEP(REFUSED, WITHDRAW),
	},
	[IBMAD_WAITING] = {
		[IBMAD_EV_RESPONSE]	= STEP(DONE, SUCCEED),
		[IBMAD_EV_TIMEOUT]	= STEP(SENDING, RESEND),
		[IBMAD_EV_EXPIRED]	= STEP(DONE, EXPIRE),
		[IBMAD_EV_CANCEL]	= STEP(DONE, FLUSH),
		[IBMAD_EV_REFUSED]	= STEP(DONE, REFUSE),
	},
	[IBMAD_ANSWERED] = {
		[IBMAD_EV_SENT]		= STEP(DONE, SUCCEED),
		[IBMAD_EV_SENT_EXPECT]	= STEP(DONE, SUCCEED),
		[IBMAD_EV_FAILED]	= STEP(DONE, SUCCEED),
	},
	[IBMAD_CANCELLED] = {
		[IBMAD_EV_SENT]		= STEP(DONE, FLUSH),
		[IBMAD_EV_SENT_EXPECT]	= STEP(DONE, FLUSH),
		[IBMAD_EV_FAILED]	= STEP(DONE, FLUSH),
	},
	[IBMAD_REFUSED] = {
		[IBMAD_EV_SENT]		= STEP(DONE, REFUSE),
		[IBMAD_EV_SENT_EXPECT]	= STEP(DONE, REFUSE),
		[IBMAD_EV_FAILED]	= STEP(DONE, REFUSE),
	},
};

VISIBLE_IF_KUNIT const struct ibmad_send_step *
ibmad_send_step(enum ibmad_send_state state, enum ibmad_send_event event)
{
	const struct ibmad_send_step *step = &send_steps[state][event];

	return step->next == IBMAD_IDLE ? NULL : step;
}
EXPORT_SYMBOL_IF_KUNIT(ibmad_send_step);

/* ---- timers: an armed timer holds a reference on its send ---- */

void ibmad_send_arm(struct ibmad_send *send, unsigned long delay)
{
	lockdep_assert_held(&send_agent(send)->lock);
	send->deadline = jiffies + delay;
	if (!mod_timer(&send->timer, send->deadline))
		refcount_inc(&send->refs);
}

void ibmad_send_disarm(struct ibmad_send *send)
{
	lockdep_assert_held(&send_agent(send)->lock);
	/*
	 * A timer handler that waits for the lock must see that the deadline has not
	 * passed.
	 */
	send->deadline = jiffies + MAX_JIFFY_OFFSET;
	/* The owner still holds its reference, so this is not the last. */
	if (timer_delete(&send->timer))
		WARN_ON_ONCE(refcount_dec_and_test(&send->refs));
}

/* ---- the state machine ---- */

/* Received MADs no longer match @send.  Returns the references to release: 0 or 1. */
static unsigned int send_unexpect(struct ibmad_agent *agent,
				  struct ibmad_send *send)
{
	if (!send->matchable)
		return 0;
	send->matchable = false;
	ibmad_match_del(agent, send);
	return 1;
}

/* Takes @send off the agent's list.  Returns the references to release. */
static unsigned int send_delist(struct ibmad_agent *agent, struct ibmad_send *send)
{
	WARN_ON_ONCE(send->place || !list_empty(&send->port_link));
	ibmad_send_disarm(send);
	list_del_init(&send->agent_link);
	return send_unexpect(agent, send);
}

/*
 * Moves @send from the agent's list to its inbox.  Returns the references to release.
 */
static unsigned int send_complete(struct ibmad_agent *agent,
				  struct ibmad_send *send,
				  enum ib_wc_status status, u32 vendor_err)
{
	struct ibmad_flow *flow = send->flow;
	unsigned int puts = send_delist(agent, send);

	send->status = status;
	send->vendor_err = vendor_err;
	ibmad_deliver_send(agent, send);
	/*
	 * @send may have been freed.  Its credit starts the next send, which may fail
	 * at once.
	 */
	return flow ? puts + ibmad_flow_release(agent, flow) : puts;
}

static unsigned int send_event(struct ibmad_agent *agent,
			       struct ibmad_send *send,
			       enum ibmad_send_event event,
			       enum ib_wc_status status, u32 vendor_err);

/*
 * Takes @send back if it is still queued.  Returns the references to release: the work
 * request's, if it will not run.
 */
static unsigned int send_withdraw(struct ibmad_agent *agent,
				  struct ibmad_send *send)
{
	if (send->route == IBMAD_RMPP)
		return ibmad_rmpp_send_withdraw(agent, send);
	if (send->route == IBMAD_LOCAL || !ibmad_sendq_withdraw(send))
		return 0;
	return 1 + send_event(agent, send, IBMAD_EV_FAILED,
			      IB_WC_WR_FLUSH_ERR, 0);
}

/*
 * Starts @send with a reference on the agent for its work request.  The reference of
 * the response or of the registration (the agent is not closing yet) is held besides,
 * so refs is not 0 here, and refcount_dec() does not drop the last one.
 */
static int send_launch(struct ibmad_agent *agent, struct ibmad_send *send)
{
	int ret;

	refcount_inc(&agent->refs);
	ret = ibmad_send_start(send);
	if (ret)
		refcount_dec(&agent->refs);
	return ret;
}

static unsigned int send_launch_or_fail(struct ibmad_agent *agent,
					struct ibmad_send *send)
{
	if (!send_launch(agent, send))
		return 0;
	return send_event(agent, send, IBMAD_EV_FAILED, IB_WC_LOC_QP_OP_ERR, 0);
}

static unsigned int send_again(struct ibmad_agent *agent,
			       struct ibmad_send *send)
{
	send->retries_left--;
	send->buf.retries++;
	ibmad_count(agent->port, IBMAD_RETRIES);
	trace_ib_mad_send_done_resend(send);
	return send_launch_or_fail(agent, send);
}

/*
 * Handles an event.  Under agent->lock; returns how many references on the agent the
 * caller must release after dropping it.  On return the client may own @send again.
 */
static unsigned int send_event(struct ibmad_agent *agent,
			       struct ibmad_send *send,
			       enum ibmad_send_event event,
			       enum ib_wc_status status, u32 vendor_err)
{
	const struct ibmad_send_step *step = ibmad_send_step(send->state, event);

	lockdep_assert_held(&agent->lock);
	if (!step)
		return 0;
	if (send->state == IBMAD_HELD)
		ibmad_flow_leave(send);
	WRITE_ONCE(send->state, step->next);

	switch (step->action) {
	case IBMAD_ACT_START:
		return send_launch_or_fail(agent, send);
	case IBMAD_ACT_WAIT:
		ibmad_send_arm(send, msecs_to_jiffies(send->buf.timeout_ms));
		return 0;
	case IBMAD_ACT_RESEND:
		return send_again(agent, send);
	case IBMAD_ACT_SUCCEED:
		return send_complete(agent, send, IB_WC_SUCCESS, 0);
	case IBMAD_ACT_FAIL:
		return send_complete(agent, send, status, vendor_err);
	case IBMAD_ACT_REFUSE:
		return send_complete(agent, send, IB_WC_REM_ABORT_ERR,
				     send->refusal);
	case IBMAD_ACT_EXPIRE:
		ibmad_count(agent->port, IBMAD_TIMEOUTS);
		return send_complete(agent, send, IB_WC_RESP_TIMEOUT_ERR, 0);
	case IBMAD_ACT_FLUSH:
		return send_complete(agent, send, IB_WC_WR_FLUSH_ERR, 0);
	case IBMAD_ACT_WITHDRAW: {
		unsigned int puts = send_unexpect(agent, send);

		return puts + send_withdraw(agent, send);
	}
	default:
		return 0;
	}
}

unsigned int ibmad_send_credit(struct ibmad_agent *agent,
			       struct ibmad_send *send)
{
	return send_event(agent, send, IBMAD_EV_CREDIT, 0, 0);
}

unsigned int ibmad_send_sent(struct ibmad_agent *agent, struct ibmad_send *send,
			     enum ib_wc_status status, u32 vendor_err)
{
	enum ibmad_send_event event = IBMAD_EV_SENT;

	if (status)
		event = IBMAD_EV_FAILED;
	else if (send->expects)
		event = IBMAD_EV_SENT_EXPECT;
	return 1 + send_event(agent, send, event, status, vendor_err);
}

void ibmad_send_wr_done(struct ibmad_send *send, enum ib_wc_status status,
			u32 vendor_err)
{
	struct ibmad_agent *agent = send_agent(send);
	unsigned long flags;
	unsigned int puts;

	/*
	 * All further handling of @send waits for this event: nothing else uses the
	 * mapping.
	 */
	ibmad_send_unmap(send);
	switch (send->kind) {
	case IBMAD_RMPP_SEGMENT:
		ibmad_rmpp_segment_done(send, status, vendor_err);
		return;
	case IBMAD_RMPP_CONTROL:
		ibmad_rmpp_control_done(send);
		return;
	default:
		break;
	}
	spin_lock_irqsave(&agent->lock, flags);
	puts = ibmad_send_sent(agent, send, status, vendor_err);
	spin_unlock_irqrestore(&agent->lock, flags);
	ibmad_agent_put_n(agent, puts);
}

/* What the timer means depends on what the send waits for. */
static unsigned int send_timer_event(struct ibmad_agent *agent,
				     struct ibmad_send *send)
{
	switch (send->state) {
	case IBMAD_HELD:
		return send_event(agent, send, IBMAD_EV_EXPIRED, 0, 0);
	case IBMAD_WAITING:
		return send_event(agent, send, send->retries_left ?
				  IBMAD_EV_TIMEOUT : IBMAD_EV_EXPIRED, 0, 0);
	case IBMAD_SENDING:
		return send->route == IBMAD_RMPP ?
		       ibmad_rmpp_send_timeout(agent, send) : 0;
	default:
		return 0;
	}
}

static void send_timeout(struct timer_list *timer)
{
	struct ibmad_send *send = from_timer(send, timer, timer);
	struct ibmad_agent *agent = send_agent(send);
	unsigned int puts = 0;
	unsigned long flags;

	spin_lock_irqsave(&agent->lock, flags);
	/*
	 * @send may have been completed, and even posted again, before the lock was
	 * taken.
	 */
	if (!timer_pending(timer) && time_after_eq(jiffies, send->deadline))
		puts = send_timer_event(agent, send);
	spin_unlock_irqrestore(&agent->lock, flags);
	ibmad_agent_put_n(agent, puts);
	ibmad_send_put(send);
}

/* ---- responses ---- */

bool ibmad_send_is_due(struct ibmad_agent *agent, const struct ibmad_recv *recv,
		       bool new)
{
	struct ibmad_send *send;
	unsigned long flags;

	spin_lock_irqsave(&agent->lock, flags);
	send = ibmad_match_find(agent, recv, false);
	if (new && send && send->state == IBMAD_WAITING)
		ibmad_send_arm(send, msecs_to_jiffies(send->buf.timeout_ms));
	spin_unlock_irqrestore(&agent->lock, flags);
	return send;
}

bool ibmad_send_refused(struct ibmad_agent *agent, const struct ibmad_recv *recv,
			u8 rmpp_status, unsigned int *puts)
{
	struct ibmad_send *send = ibmad_match_find(agent, recv, false);

	if (!send || !ibmad_send_step(send->state, IBMAD_EV_REFUSED))
		return false;
	send->refusal = rmpp_status;
	*puts += send_event(agent, send, IBMAD_EV_REFUSED, 0, 0);
	return true;
}

bool ibmad_send_answer(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	struct ibmad_send *send;
	unsigned long flags;
	unsigned int puts = 0;

	spin_lock_irqsave(&agent->lock, flags);
	send = ibmad_match_find(agent, recv, false);
	if (send) {
		/* First the response, then the completion: see ib_mad.h. */
		ibmad_deliver_recv(agent, recv, &send->buf);
		puts = send_event(agent, send, IBMAD_EV_RESPONSE, 0, 0);
	}
	spin_unlock_irqrestore(&agent->lock, flags);
	ibmad_agent_put_n(agent, puts);
	return send;
}

/* ---- buffers ---- */

struct ibmad_send *ibmad_send_alloc(struct ibmad_agent *agent,
				    enum ibmad_send_kind kind, size_t room,
				    gfp_t gfp)
{
	/*
	 * The device reads the MAD behind the struct: give it cache lines of its own.
	 */
	size_t head = ALIGN(sizeof(struct ibmad_send), ARCH_DMA_MINALIGN);
	struct ibmad_send *send = kzalloc(head + room, gfp);

	if (!send)
		return NULL;
	send->buf.mad = (u8 *)send + head;
	send->buf.mad_agent = &agent->pub;
	send->kind = kind;
	refcount_set(&send->refs, 1);
	INIT_LIST_HEAD(&send->agent_link);
	INIT_LIST_HEAD(&send->port_link);
	timer_setup(&send->timer, send_timeout, 0);
	kref_get(&agent->kref);
	return send;
}

void ibmad_send_put(struct ibmad_send *send)
{
	struct ibmad_agent *agent = send_agent(send);

	if (!refcount_dec_and_test(&send->refs))
		return;
	WARN_ON_ONCE(timer_pending(&send->timer) || send->matchable ||
		     send->place || !list_empty(&send->agent_link) ||
		     !list_empty(&send->port_link));
	ibmad_send_unmap(send);
	ibmad_rmpp_send_free(send);
	kfree(send);
	kref_put(&agent->kref, ibmad_agent_release);
}

static bool send_is_opa(const struct ibmad_agent *agent, u8 base_version)
{
	return agent->port->opa && base_version == OPA_MGMT_BASE_VERSION;
}

/* Fixed for IB; an OPA MAD may be short (and is padded to 8 bytes). */
static u32 send_wire_length(bool opa, int hdr_len, int data_len)
{
	if (!opa)
		return IB_MGMT_MAD_SIZE;
	return min_t(u32, round_up(hdr_len + data_len, 8), OPA_MGMT_MAD_SIZE);
}

static bool send_fits(const struct ib_mad_agent *agent, bool rmpp_active,
		      int mad_size, int hdr_len, int data_len)
{
	if (hdr_len < IB_MGMT_MAD_HDR || hdr_len > mad_size || data_len < 0)
		return false;
	if (rmpp_active)
		return ib_mad_kernel_rmpp_agent(agent) &&
		       hdr_len >= IB_MGMT_RMPP_HDR && hdr_len < mad_size;
	return data_len <= mad_size - hdr_len;
}

/**
 * ib_create_send_mad - allocate a MAD to send
 * @mad_agent: the agent that sends it
 * @remote_qpn: number of the destination QP
 * @pkey_index: index of the P_Key it carries; QP1 only
 * @rmpp_active: whether to send it as an RMPP transfer; requires an agent for which
 *	this layer does RMPP
 * @hdr_len: bytes of all headers: common, RMPP, class specific
 * @data_len: bytes of data that follow them
 * @gfp_mask: how to allocate
 * @base_version: IB_MGMT_BASE_VERSION, or OPA_MGMT_BASE_VERSION for MADs of up to
 *	2048 bytes on ports that support them
 *
 * ib_mad_send_buf.mad is zeroed and holds headers and data, or the headers alone
 * for a transfer (see ib_get_rmpp_segment()), whose RMPP header is initialized.
 * The client sets ah, context, timeout_ms and retries.  IBA vol. 1, 13.4, 13.6.
 *
 * Context: as @gfp_mask.
 * Return: the buffer, to be freed with ib_free_send_mad(), or ERR_PTR: -EINVAL
 * for lengths that do not fit, or for RMPP if this layer does not do it for the
 * agent; -ENOMEM.
 */
struct ib_mad_send_buf *ib_create_send_mad(struct ib_mad_agent *mad_agent,
					   u32 remote_qpn, u16 pkey_index,
					   int rmpp_active,
					   int hdr_len, int data_len,
					   gfp_t gfp_mask, u8 base_version)
{
	struct ibmad_agent *agent = to_agent(mad_agent);
	bool opa = send_is_opa(agent, base_version);
	int mad_size = opa ? OPA_MGMT_MAD_SIZE : IB_MGMT_MAD_SIZE;
	struct ibmad_send *send;
	int ret;

	if (!send_fits(mad_agent, rmpp_active, mad_size, hdr_len, data_len))
		return ERR_PTR(-EINVAL);

	send = ibmad_send_alloc(agent, IBMAD_CLIENT, mad_size, gfp_mask);
	if (!send)
		return ERR_PTR(-ENOMEM);
	send->remote_qpn = remote_qpn;
	send->pkey_index = pkey_index;
	send->length = send_wire_length(opa, hdr_len, data_len);
	send->buf.hdr_len = hdr_len;
	send->buf.data_len = data_len;
	send->buf.seg_size = mad_size - hdr_len;
	send->buf.seg_rmpp_size = mad_size - IB_MGMT_RMPP_HDR;

	if (rmpp_active) {
		ret = ibmad_rmpp_send_init(send, gfp_mask);
		if (ret) {
			ibmad_send_put(send);
			return ERR_PTR(ret);
		}
	}
	return &send->buf;
}
EXPORT_SYMBOL(ib_create_send_mad);

void ibmad_send_set_pkey(struct ib_mad_send_buf *buf, u16 pkey_index)
{
	to_send(buf)->pkey_index = pkey_index;
}

/**
 * ib_free_send_mad - free a MAD that is not posted
 * @send_buf: what ib_create_send_mad() returned; never posted, or completed
 *
 * Context: any; an RMPP transfer must not be freed with interrupts or preemption
 * disabled.
 */
void ib_free_send_mad(struct ib_mad_send_buf *send_buf)
{
	struct ibmad_send *send = to_send(send_buf);

	/* Still outstanding: leak it rather than free what the device reads. */
	if (WARN_ON_ONCE(READ_ONCE(send->state) != IBMAD_IDLE))
		return;
	ibmad_send_put(send);
}
EXPORT_SYMBOL(ib_free_send_mad);

/* ---- posting ---- */

static int send_check(const struct ib_mad_send_buf *buf)
{
	const struct ib_mad_agent *agent = buf->mad_agent;

	if (!agent->send_handler || !buf->ah)
		return -EINVAL;
	if (buf->timeout_ms && !agent->recv_handler)
		return -EINVAL;
	return 0;
}

/* Chooses the route, the lane and the output port of @send. */
static int send_route(struct ibmad_send *send)
{
	const struct ib_mad_hdr *hdr = send->buf.mad;

	send->lane = ib_response_mad(hdr) ? IBMAD_LANE_RESPONSE :
					    IBMAD_LANE_REQUEST;
	send->route = send->rmpp ? IBMAD_RMPP : IBMAD_WIRE;
	if (send->kind == IBMAD_FORWARD)
		return 0;
	send->out_port = send_agent(send)->port->port_num;
	if (hdr->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return ibmad_local_route(send);
	return 0;
}

/*
 * Adds @send to the agent's list.  If a response is expected (for an RMPP transfer, at
 * least ACKs) takes the response's reference on the agent.
 */
static int send_enlist(struct ibmad_agent *agent, struct ibmad_send *send)
{
	int ret;

	lockdep_assert_held(&agent->lock);
	if (agent->closing)
		return -ESHUTDOWN;
	if (send->expects || send->rmpp) {
		ret = ibmad_match_add(agent, send);
		if (ret)
			return ret;
		send->matchable = true;
		refcount_inc(&agent->refs);
	}
	send->flow = NULL;
	list_add_tail(&send->agent_link, &agent->sends);
	WRITE_ONCE(send->state, IBMAD_SENDING);
	return 0;
}

/* Undoes send_enlist(); the caller still holds its own reference on the agent. */
static void send_unlist(struct ibmad_agent *agent, struct ibmad_send *send)
{
	unsigned int puts = send_unexpect(agent, send);

	if (send->flow)
		puts += ibmad_flow_release(agent, send->flow);
	list_del_init(&send->agent_link);
	WRITE_ONCE(send->state, IBMAD_IDLE);
	WARN_ON_ONCE(refcount_sub_and_test(puts, &agent->refs));
}

int ibmad_send_start(struct ibmad_send *send)
{
	lockdep_assert_held(&send_agent(send)->lock);
	switch (send->route) {
	case IBMAD_LOCAL:
		ibmad_local_queue(send);
		return 0;
	case IBMAD_RMPP:
		return ibmad_rmpp_send_start(send);
	default:
		return ibmad_sendq_post(send);
	}
}

/*
 * Everything done before the lock is taken.  The caller's reference on the agent keeps
 * the agent, and thereby the device.
 */
static int send_prepare(struct ibmad_send *send)
{
	struct ib_mad_send_buf *buf = &send->buf;
	int ret;

	ret = send_route(send);
	if (ret)
		return ret;
	/*
	 * Map it after send_route(), which may have changed the hop pointer of an SMP.
	 */
	ret = send->route == IBMAD_WIRE ? ibmad_send_map(send) : 0;
	if (ret)
		return ret;

	send->tid = ((struct ib_mad_hdr *)buf->mad)->tid;
	send->expects = buf->timeout_ms;
	send->retries_left = clamp(buf->retries, 0, U16_MAX);
	buf->retries = 0;
	trace_ib_mad_ib_send_mad(send);
	return 0;
}

/*
 * Returns 1 if the work request has taken over the caller's reference on the agent, 0
 * if @send is HELD, or an error.
 */
static int send_submit(struct ibmad_agent *agent, struct ibmad_send *send)
{
	unsigned long flags;
	bool goes = false;
	int ret;

	/*
	 * Held until the port has the send, so that neither its completion nor a
	 * response can be handled before.
	 */
	spin_lock_irqsave(&agent->lock, flags);
	ret = send_enlist(agent, send);
	if (!ret && ibmad_flow_admit(agent, send)) {
		ret = ibmad_send_start(send);
		goes = !ret;
		if (ret)
			send_unlist(agent, send);
	}
	if (ret)
		send->buf.retries = send->retries_left;
	spin_unlock_irqrestore(&agent->lock, flags);
	if (ret)
		ibmad_send_unmap(send);
	return ret ?: goes;
}

static int send_post(struct ibmad_send *send)
{
	struct ibmad_agent *agent = send_agent(send);
	int ret;

	ret = send_check(&send->buf);
	if (ret)
		return ret;
	if (WARN_ON_ONCE(READ_ONCE(send->state) != IBMAD_IDLE))
		return -EBUSY;
	/*
	 * Deregistration waits for this reference, and device removal for
	 * deregistration.
	 */
	if (READ_ONCE(agent->closing) || !refcount_inc_not_zero(&agent->refs))
		return -ESHUTDOWN;
	ret = send_prepare(send);
	if (!ret)
		ret = send_submit(agent, send);
	if (ret <= 0)
		ibmad_agent_put(agent);
	return min(ret, 0);
}

/**
 * ib_post_send_mad - send MADs
 * @send_buf: the first; others follow through ib_mad_send_buf.next
 * @bad_send_buf: if not NULL, set to the first that was not posted on error
 *
 * Each posted MAD belongs to this layer until it is passed to its agent's
 * send_handler.  With timeout_ms set it completes when a response with its TID and
 * class arrives from its destination (recv_handler is called with the response
 * first), or with IB_WC_RESP_TIMEOUT_ERR when none has arrived within timeout_ms
 * (milliseconds, counted from when it was sent) after each of 1 + retries sends.  On
 * completion retries holds the number of retries used.  With a negative timeout_ms
 * the wait has no limit.  IBA vol. 1, 13.4.6.3.
 *
 * At most ib_mad.request_window requests of an agent are outstanding to one
 * destination; further ones are held back until some of those are complete, in the
 * order posted, but no longer than timeout_ms * (1 + retries).  RMPP transfers and
 * messages of connection managers are not counted.
 *
 * A directed-route SMP has its hop pointer advanced in place (IBA 14.2.2).
 *
 * Context: any.
 * Return: 0, or for *@bad_send_buf and those behind it -EINVAL (no handler that
 * the send needs, no address handle, a directed route that leads nowhere),
 * -EBUSY (it is posted already), -EEXIST (an RMPP transfer with its TID, class and
 * method is outstanding to the same peer: their ACKs could not be told apart),
 * -ESHUTDOWN (the agent is being deregistered), -ENODEV (the QP is lost), -ENOMEM,
 * or the provider's error.
 */
int ib_post_send_mad(struct ib_mad_send_buf *send_buf,
		     struct ib_mad_send_buf **bad_send_buf)
{
	struct ib_mad_send_buf *next;
	int ret;

	for (; send_buf; send_buf = next) {
		/* Once posted it can be completed and freed at any time. */
		next = send_buf->next;
		ret = send_post(to_send(send_buf));
		if (ret) {
			if (bad_send_buf)
				*bad_send_buf = send_buf;
			return ret;
		}
	}
	return 0;
}
EXPORT_SYMBOL(ib_post_send_mad);

/* ---- change and cancel ---- */

static int send_set_timeout(struct ibmad_send *send, u32 timeout_ms)
{
	if (!send->expects || timeout_ms > INT_MAX)
		return -EINVAL;
	switch (send->state) {
	case IBMAD_SENDING:
		send->buf.timeout_ms = timeout_ms;
		return 0;
	case IBMAD_HELD:
		send->buf.timeout_ms = timeout_ms;
		ibmad_flow_arm(send);
		return 0;
	case IBMAD_WAITING:
		send->buf.timeout_ms = timeout_ms;
		ibmad_send_arm(send, msecs_to_jiffies(timeout_ms));
		return 0;
	default:
		return -EINVAL;
	}
}

/* Whether @send was outstanding.  Adds to @puts the references to release. */
static bool send_cancel(struct ibmad_agent *agent, struct ibmad_send *send,
			unsigned int *puts)
{
	if (!ibmad_send_step(send->state, IBMAD_EV_CANCEL))
		return false;
	ibmad_count(agent->port, IBMAD_CANCELS);
	*puts += send_event(agent, send, IBMAD_EV_CANCEL, 0, 0);
	return true;
}

/**
 * ib_modify_mad - change how long a posted MAD waits for its response, or cancel
 * @send_buf: the MAD; posted, and not freed
 * @timeout_ms: the new time to wait, in milliseconds from now if it has been sent;
 *	0 cancels, and the MAD is completed with IB_WC_WR_FLUSH_ERR
 *
 * The send is found by @send_buf itself, whatever else is outstanding.  A request that
 * is held back (see ib_post_send_mad()) is held timeout_ms * (1 + retries) from now at
 * most.
 *
 * Context: any.
 * Return: 0, or -EINVAL if the MAD is not outstanding any more, or has no
 * response to wait for.
 */
int ib_modify_mad(struct ib_mad_send_buf *send_buf, u32 timeout_ms)
{
	struct ibmad_send *send = to_send(send_buf);
	struct ibmad_agent *agent = send_agent(send);
	unsigned int puts = 0;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&agent->lock, flags);
	if (timeout_ms)
		ret = send_set_timeout(send, timeout_ms);
	else
		ret = send_cancel(agent, send, &puts) ? 0 : -EINVAL;
	spin_unlock_irqrestore(&agent->lock, flags);
	ibmad_agent_put_n(agent, puts);
	return ret;
}
EXPORT_SYMBOL(ib_modify_mad);

/**
 * ibmad_take_back - cancel a MAD, at once if it only waits for its response
 * @send_buf: the MAD; it was posted, and is not freed
 *
 * A connection manager knows by other MADs that its request has been answered.  This
 * saves it the call of its send_handler, and the work item for that.
 *
 * Context: any.
 * Return: true if the MAD had been sent and waited for its response.  It belongs to the
 * client again, no handler is called for it, and ib_mad_send_buf.retries is set.  Otherwise
 * false; the MAD is cancelled as by ib_modify_mad() if it is outstanding.
 */
bool ibmad_take_back(struct ib_mad_send_buf *send_buf)
{
	struct ibmad_send *send = to_send(send_buf);
	struct ibmad_agent *agent = send_agent(send);
	unsigned int puts = 0;
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&agent->lock, flags);
	taken = send->state == IBMAD_WAITING && !send->rmpp;
	if (taken) {
		struct ibmad_flow *flow = send->flow;

		ibmad_count(agent->port, IBMAD_CANCELS);
		puts = send_delist(agent, send);
		WRITE_ONCE(send->state, IBMAD_IDLE);
		if (flow)
			puts += ibmad_flow_release(agent, flow);
	} else {
		send_cancel(agent, send, &puts);
	}
	spin_unlock_irqrestore(&agent->lock, flags);
	ibmad_agent_put_n(agent, puts);
	return taken;
}
EXPORT_SYMBOL(ibmad_take_back);

/*
 * Sends on the QP stay on agent->sends until their work requests complete; the event
 * marks them cancelled, and they need no second visit.  The lock is dropped after each
 * send; visited sends are moved to another list, so that none is visited twice.
 */
void ibmad_send_cancel_all(struct ibmad_agent *agent)
{
	struct ibmad_send *send;
	LIST_HEAD(visited);
	unsigned int puts;

	spin_lock_irq(&agent->lock);
	WARN_ON_ONCE(!agent->closing);
	while (!list_empty(&agent->sends)) {
		send = list_first_entry(&agent->sends, struct ibmad_send,
					agent_link);
		list_move_tail(&send->agent_link, &visited);
		puts = send_event(agent, send, IBMAD_EV_CANCEL, 0, 0);
		spin_unlock_irq(&agent->lock);
		ibmad_agent_put_n(agent, puts);
		cond_resched();
		spin_lock_irq(&agent->lock);
	}
	list_splice(&visited, &agent->sends);
	spin_unlock_irq(&agent->lock);
}
