// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The agent that answers requests: with the request's data, or with as many bytes as
 * the request asks for, at once or later; or not at all, if the scenario says so.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_sa.h>
#include "mad.h"

#define ANSWER_RETRIES	5	/* of a transfer that is not acknowledged */

struct responder {
	struct ib_mad_agent *agent;
	spinlock_t lock;		/* protects closing and delayed */
	bool closing;
	struct list_head delayed;	/* struct answer */
	struct workqueue_struct *wq;
	atomic_t received;
};

struct answer {
	struct responder *owner;
	struct ib_mad_recv_wc *request;
	struct delayed_work work;
	struct list_head link;		/* protected by owner->lock */
};

/* Fills the response with the request's data, or with data of its own. */
static void answer_fill(struct ib_mad_send_buf *buf, struct ib_mad_recv_wc *wc,
			const struct payload *asked)
{
	struct payload payload = { ~asked->cookie, asked->reply, 0 };

	if (asked->reply)
		payload_fill(buf, &payload);
	else
		payload_copy(buf, wc, asked);
}

static struct ib_mad_send_buf *answer_create(struct ib_mad_agent *agent,
					     struct ib_mad_recv_wc *wc,
					     const struct payload *asked)
{
	const struct ib_vendor_mad *request = (void *)wc->recv_buf.mad;
	u32 length = asked->reply ?: asked->length;
	bool rmpp = mad_is_transfer(wc) || length > PAYLOAD_MAD;
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;

	buf = ib_create_send_mad(agent, wc->wc->src_qp, wc->wc->pkey_index, rmpp,
				 IB_MGMT_VENDOR_HDR,
				 rmpp ? length : IB_MGMT_VENDOR_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	mad = buf->mad;
	mad->mad_hdr = request->mad_hdr;
	mad->mad_hdr.method |= IB_MGMT_METHOD_RESP;
	memcpy(mad->oui, request->oui, sizeof(mad->oui));
	answer_fill(buf, wc, asked);
	buf->retries = ANSWER_RETRIES;
	return buf;
}

static void answer_send(struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf;
	struct payload asked;
	struct ib_ah *ah;

	payload_get(wc, &asked);
	ah = ib_create_ah_from_wc(agent->qp->pd, wc->wc, wc->recv_buf.grh,
				  agent->port_num);
	if (IS_ERR(ah)) {
		mad_count(MAD_SETUP_ERROR);
		return;
	}
	buf = answer_create(agent, wc, &asked);
	if (IS_ERR(buf)) {
		mad_count(MAD_SETUP_ERROR);
		goto err_ah;
	}
	buf->ah = ah;
	if (!ib_post_send_mad(buf, NULL)) {
		mad_count(MAD_ANSWERED);
		return;
	}
	ib_free_send_mad(buf);
err_ah:
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static void answer_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	mad_count(MAD_ANSWERS_DONE);
	if (wc->status != IB_WC_SUCCESS)
		mad_count(MAD_ANSWERS_FAILED);
	rdma_destroy_ah(wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(wc->send_buf);
}

static void answer_free(struct answer *answer)
{
	ib_free_recv_mad(answer->request);
	kfree(answer);
}

static void answer_work(struct work_struct *work)
{
	struct answer *answer = container_of(to_delayed_work(work),
					     struct answer, work);
	struct responder *responder = answer->owner;

	spin_lock(&responder->lock);
	list_del(&answer->link);
	spin_unlock(&responder->lock);
	answer_send(responder->agent, answer->request);
	answer_free(answer);
}

/* Returns true if the request is queued, to be answered later. */
static bool answer_later(struct responder *responder, struct ib_mad_recv_wc *wc)
{
	struct answer *answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	bool taken;

	if (!answer) {
		mad_count(MAD_SETUP_ERROR);
		return false;
	}
	answer->owner = responder;
	answer->request = wc;
	INIT_DELAYED_WORK(&answer->work, answer_work);
	spin_lock(&responder->lock);
	taken = !responder->closing;
	if (taken) {
		list_add_tail(&answer->link, &responder->delayed);
		queue_delayed_work(responder->wq, &answer->work,
				   msecs_to_jiffies(mad_delay_ms));
	}
	spin_unlock(&responder->lock);
	if (!taken)
		kfree(answer);
	return taken;
}

static bool responder_drops(struct responder *responder,
			    const struct ib_mad_hdr *hdr)
{
	u32 every = READ_ONCE(mad_drop_every);

	if (hdr->method == READ_ONCE(mad_silent))
		return true;
	return every && atomic_inc_return(&responder->received) % every == 0;
}

static void responder_received(struct ib_mad_agent *agent,
			       struct ib_mad_send_buf *send_buf,
			       struct ib_mad_recv_wc *wc)
{
	struct responder *responder = agent->context;
	struct payload payload;

	mad_count(MAD_REQUESTS);
	if (send_buf)
		mad_count(MAD_STRAY);
	if (!payload_get(wc, &payload) || !payload_good(wc, &payload)) {
		mad_count(MAD_BAD_REQUESTS);
	} else if (responder_drops(responder, &wc->recv_buf.mad->mad_hdr)) {
		mad_count(MAD_DROPPED);
	} else if (mad_delay_ms) {
		if (answer_later(responder, wc))
			return;
	} else {
		answer_send(agent, wc);
	}
	ib_free_recv_mad(wc);
}

static struct responder *responder_alloc(void)
{
	struct responder *responder = kzalloc(sizeof(*responder), GFP_KERNEL);

	if (!responder)
		return NULL;
	responder->wq = alloc_workqueue("ibex_mad", WQ_UNBOUND, 0);
	if (!responder->wq) {
		kfree(responder);
		return NULL;
	}
	spin_lock_init(&responder->lock);
	INIT_LIST_HEAD(&responder->delayed);
	return responder;
}

static void responder_free(struct responder *responder)
{
	destroy_workqueue(responder->wq);
	kfree(responder);
}

struct responder *responder_start(struct port *port)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = ECHO_CLASS,
		.mgmt_class_version = ECHO_VERSION,
		.oui = ECHO_OUI,
	};
	struct responder *responder = responder_alloc();
	struct ib_mad_agent *agent;

	if (!responder)
		return ERR_PTR(-ENOMEM);
	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	set_bit(IB_SA_METHOD_GET_MULTI, req.method_mask);
	agent = ib_register_mad_agent(port->device, ECHO_PORT, IB_QPT_GSI, &req,
				      IB_MGMT_RMPP_VERSION, answer_sent,
				      responder_received, responder, 0);
	if (IS_ERR(agent)) {
		responder_free(responder);
		return ERR_CAST(agent);
	}
	WRITE_ONCE(responder->agent, agent);
	return responder;
}

/* Drops delayed answers unsent; waits for those that are being sent. */
static void responder_close(struct responder *responder)
{
	struct answer *answer, *next;
	LIST_HEAD(unsent);

	spin_lock(&responder->lock);
	responder->closing = true;
	list_for_each_entry_safe(answer, next, &responder->delayed, link)
		if (cancel_delayed_work(&answer->work))
			list_move(&answer->link, &unsent);
	spin_unlock(&responder->lock);
	flush_workqueue(responder->wq);
	list_for_each_entry_safe(answer, next, &unsent, link)
		answer_free(answer);
}

void responder_stop(struct responder *responder)
{
	responder_close(responder);
	ib_unregister_mad_agent(responder->agent);
	responder_free(responder);
}
