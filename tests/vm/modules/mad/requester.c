// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The agent that sends requests: a window of slots, each with one outstanding request.
 * It checks what the interface promises: a posted request completes once, before
 * ib_unregister_mad_agent() returns; with success only after its response; and no
 * handler runs afterwards.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include "mad.h"

static const u8 echo_oui[3] = ECHO_OUI;

static DEFINE_SPINLOCK(retired_lock);
static LIST_HEAD(retired);		/* stopped requesters, a reference each */
static atomic_t next_tid;

/* ---- one request ---- */

static void slot_fill(struct slot *slot)
{
	const struct knobs *knobs = &slot->owner->knobs;
	struct ib_vendor_mad *mad = slot->buf->mad;
	u32 hi_tid = slot->owner->agent->hi_tid;

	mad->mad_hdr = (struct ib_mad_hdr) {
		.base_version = IB_MGMT_BASE_VERSION,
		.mgmt_class = ECHO_CLASS,
		.class_version = ECHO_VERSION,
		.method = knobs->method,
		.tid = cpu_to_be64((u64)hi_tid << 32 |
				   (u32)atomic_inc_return(&next_tid)),
	};
	memcpy(mad->oui, echo_oui, sizeof(mad->oui));
	slot->payload.cookie = payload_cookie();
	slot->payload.length = knobs->size;
	slot->payload.reply = knobs->reply;
	payload_fill(slot->buf, &slot->payload);
}

static int slot_create(struct slot *slot)
{
	struct requester *rq = slot->owner;
	const struct knobs *knobs = &rq->knobs;
	bool rmpp = knobs->rmpp || knobs->size > PAYLOAD_MAD;
	struct ib_mad_send_buf *buf;

	buf = ib_create_send_mad(rq->agent, 1, 0, rmpp, IB_MGMT_VENDOR_HDR,
				 rmpp ? knobs->size : IB_MGMT_VENDOR_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	buf->ah = rq->ah[(slot - rq->slots) % knobs->ahs];
	buf->timeout_ms = knobs->timeout_ms;
	buf->retries = knobs->retries;
	buf->context[0] = slot;
	slot->buf = buf;
	slot_fill(slot);
	return 0;
}

/* Posts the slot's next request, if there is one to post; returns whether it did. */
static bool slot_post(struct slot *slot)
{
	struct requester *rq = slot->owner;

	if (test_bit(REQUESTER_STOPPING, &rq->bits) ||
	    atomic64_dec_if_positive(&rq->left) < 0)
		return false;
	if (slot_create(slot)) {
		mad_count(MAD_SETUP_ERROR);
		return false;
	}
	atomic_set(&slot->state, SLOT_POSTED);
	if (ib_post_send_mad(slot->buf, NULL)) {
		atomic_set(&slot->state, SLOT_FREE);
		ib_free_send_mad(slot->buf);
		/* it must refuse once the agent is being unregistered */
		if (!test_bit(REQUESTER_STOPPING, &rq->bits))
			mad_count(MAD_REFUSED);
		return false;
	}
	mad_count(MAD_POSTED);
	return true;
}

static bool slot_answered_by(struct slot *slot, struct ib_mad_recv_wc *wc)
{
	const struct payload *asked = &slot->payload;
	struct payload want = *asked, got;

	if (asked->reply)
		want = (struct payload) { ~asked->cookie, asked->reply, 0 };
	return payload_get(wc, &got) && !memcmp(&got, &want, sizeof(got)) &&
	       payload_good(wc, &want);
}

static void slot_received(struct slot *slot, struct ib_mad_recv_wc *wc)
{
	int before = atomic_cmpxchg(&slot->state, SLOT_POSTED, SLOT_ANSWERED);

	if (before != SLOT_POSTED) {
		mad_count(before == SLOT_FREE ? MAD_DISORDER : MAD_DUPLICATES);
		return;
	}
	mad_count(MAD_RESPONSES);
	if (!slot_answered_by(slot, wc))
		mad_count(MAD_MISMATCHED);
}

static enum mad_stat status_stat(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return MAD_SUCCEEDED;
	case IB_WC_RESP_TIMEOUT_ERR:
		return MAD_TIMED_OUT;
	case IB_WC_WR_FLUSH_ERR:
		return MAD_FLUSHED;
	case IB_WC_REM_ABORT_ERR:
		return MAD_ABORTED;
	default:
		return MAD_FAILED;
	}
}

/* Returns false if the request had completed before. */
static bool slot_completed(struct slot *slot, const struct ib_mad_send_wc *wc)
{
	int before = atomic_xchg(&slot->state, SLOT_FREE);
	bool well = wc->status == IB_WC_SUCCESS;
	bool answered = before == SLOT_ANSWERED;

	if (before == SLOT_FREE) {
		mad_count(MAD_DUPLICATES);
		return false;
	}
	if (well && !answered)
		mad_count(MAD_DISORDER);
	if (answered && !well)
		mad_count(MAD_SPURNED);
	mad_count(MAD_COMPLETED);
	mad_count(status_stat(wc->status));
	atomic_add(wc->send_buf->retries, &mad_stats[MAD_RETRIES]);
	return true;
}

/* ---- the agent's handlers ---- */

static void requester_received(struct ib_mad_agent *agent,
			       struct ib_mad_send_buf *buf,
			       struct ib_mad_recv_wc *wc)
{
	struct requester *rq = agent->context;

	if (test_bit(REQUESTER_STOPPED, &rq->bits))
		mad_count(MAD_LATE);
	else if (buf)
		slot_received(buf->context[0], wc);
	else
		mad_count(MAD_STRAY);
	ib_free_recv_mad(wc);
}

static void requester_inactive(struct requester *rq)
{
	if (atomic_dec_and_test(&rq->active))
		complete_all(&rq->idle);
}

static void requester_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct slot *slot = wc->send_buf->context[0];
	struct requester *rq = agent->context;
	bool first;

	/* its slot is not used any more */
	if (test_bit(REQUESTER_STOPPED, &rq->bits)) {
		mad_count(MAD_LATE);
		ib_free_send_mad(wc->send_buf);
		return;
	}
	first = slot_completed(slot, wc);
	ib_free_send_mad(wc->send_buf);
	if (!first)
		return;
	if (!slot_post(slot))
		requester_inactive(rq);
}

/* ---- lifetime ---- */

static void requester_free(struct kref *ref)
{
	struct requester *rq = container_of(ref, struct requester, ref);

	port_put(rq->port);
	kvfree(rq->slots);
	kfree(rq->ah);
	kfree(rq);
}

void requester_put(struct requester *rq)
{
	kref_put(&rq->ref, requester_free);
}

static struct requester *requester_alloc(struct port *port, unsigned int window)
{
	struct requester *rq = kzalloc(sizeof(*rq), GFP_KERNEL);
	unsigned int i;

	if (!rq)
		return NULL;
	kref_init(&rq->ref);
	kref_get(&port->ref);
	rq->port = port;
	rq->window = window;
	mutex_init(&rq->lock);
	init_completion(&rq->idle);
	init_completion(&rq->stopped);
	INIT_LIST_HEAD(&rq->link);
	atomic_set(&rq->active, 1);
	rq->slots = kvcalloc(window, sizeof(*rq->slots), GFP_KERNEL);
	rq->knobs = mad_knobs;
	rq->ah = kcalloc(rq->knobs.ahs, sizeof(*rq->ah), GFP_KERNEL);
	if (!rq->slots || !rq->ah) {
		requester_put(rq);
		return NULL;
	}
	for (i = 0; i < window; i++)
		rq->slots[i].owner = rq;
	return rq;
}

static int requester_make_ahs(struct requester *rq, const union ib_gid *peer)
{
	struct rdma_ah_attr attr = {
		.type = rdma_ah_find_type(rq->port->device, ECHO_PORT),
	};
	union ib_gid dgid = *peer;
	struct ib_ah *ah;
	unsigned int i;

	rdma_ah_set_ah_flags(&attr, IB_AH_GRH);
	rdma_ah_set_port_num(&attr, ECHO_PORT);
	rdma_ah_set_grh(&attr, &dgid, 0, 0, 64, 0);
	for (i = 0; i < rq->knobs.ahs; i++) {
		ah = rdma_create_user_ah(rq->agent->qp->pd, &attr, NULL);
		if (IS_ERR(ah))
			return PTR_ERR(ah);
		rq->ah[i] = ah;
	}
	return 0;
}

static void requester_free_ahs(struct requester *rq)
{
	unsigned int i;

	for (i = 0; i < rq->knobs.ahs; i++)
		if (rq->ah[i])
			rdma_destroy_ah(rq->ah[i], RDMA_DESTROY_AH_SLEEPABLE);
}

/* Called under port->lock, so that the device stays. */
static int requester_open(struct requester *rq, const union ib_gid *peer)
{
	struct ib_mad_agent *agent;
	int ret;

	lockdep_assert_held(&rq->port->lock);
	if (rq->port->gone)
		return -ENODEV;
	agent = ib_register_mad_agent(rq->port->device, ECHO_PORT, IB_QPT_GSI, NULL,
				      IB_MGMT_RMPP_VERSION, requester_sent,
				      requester_received, rq, 0);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	rq->agent = agent;
	ret = requester_make_ahs(rq, peer);
	if (ret) {
		requester_free_ahs(rq);
		ib_unregister_mad_agent(agent);
		return ret;
	}
	/* the list's reference, until the requester is stopped */
	kref_get(&rq->ref);
	list_add_tail(&rq->link, &rq->port->requesters);
	atomic_inc(&mad_live);
	return 0;
}

/* Context: may sleep. Return: a requester to stop and put, or ERR_PTR. */
struct requester *requester_new(struct port *port, const union ib_gid *peer,
				unsigned int window, s64 count, bool standing)
{
	struct requester *rq = requester_alloc(port, window);
	int ret;

	if (!rq)
		return ERR_PTR(-ENOMEM);
	atomic64_set(&rq->left, count);
	if (standing)
		__set_bit(REQUESTER_STANDING, &rq->bits);
	mutex_lock(&port->lock);
	ret = requester_open(rq, peer);
	mutex_unlock(&port->lock);
	if (!ret)
		return rq;
	requester_put(rq);
	return ERR_PTR(ret);
}

/* Fills the window; the agent may be stopped meanwhile. */
void requester_begin(struct requester *rq)
{
	unsigned int i;
	bool more = true;

	for (i = 0; i < rq->window && more; i++) {
		atomic_inc(&rq->active);
		mutex_lock(&rq->lock);
		more = slot_post(&rq->slots[i]);
		mutex_unlock(&rq->lock);
		if (!more)
			requester_inactive(rq);
		cond_resched();
	}
	requester_inactive(rq);
}

/* Called after the agent's end: requests that have not completed are lost. */
static void requester_account(struct requester *rq)
{
	unsigned int i;

	for (i = 0; i < rq->window; i++)
		if (atomic_read(&rq->slots[i].state) != SLOT_FREE)
			mad_count(MAD_LOST);
}

static void requester_retire(struct requester *rq)
{
	mutex_lock(&rq->port->lock);
	list_del_init(&rq->link);
	mutex_unlock(&rq->port->lock);
	spin_lock(&retired_lock);
	list_add_tail(&rq->retired_link, &retired);
	spin_unlock(&retired_lock);
}

/* Returns when the agent is unregistered, whichever of several callers does it. */
void requester_stop(struct requester *rq)
{
	ktime_t start;
	bool first;

	mutex_lock(&rq->lock);
	first = !test_and_set_bit(REQUESTER_STOPPING, &rq->bits);
	mutex_unlock(&rq->lock);
	if (!first) {
		wait_for_completion(&rq->stopped);
		return;
	}
	start = ktime_get();
	ib_unregister_mad_agent(rq->agent);
	mad_note_longest(&mad_stop_us, start);
	set_bit(REQUESTER_STOPPED, &rq->bits);
	requester_account(rq);
	requester_free_ahs(rq);
	requester_retire(rq);
	atomic_dec(&mad_live);
	complete_all(&rq->idle);
	complete_all(&rq->stopped);
}

/* Frees the stopped requesters; a handler that ran after this would find freed memory. */
void requesters_forget(void)
{
	struct requester *rq, *next;
	LIST_HEAD(list);

	spin_lock(&retired_lock);
	list_splice_init(&retired, &list);
	spin_unlock(&retired_lock);
	list_for_each_entry_safe(rq, next, &list, retired_link)
		requester_put(rq);
}
