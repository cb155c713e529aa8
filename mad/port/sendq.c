// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The send queue of a special QP: slots, one for each work request, and a backlog of
 * lanes for sends that find no free slot.
 *
 * A work request refers to its slot, never to its send: slots exist as long as the QP,
 * so a completion that arrives twice, or after its send was taken back, finds an empty
 * slot and is only counted.  Slots are used in turn: work requests complete in the
 * order of posting, so the next slot is the one that has been free for longest, which
 * makes a stray completion most likely to be detected.  A slot whose completion was
 * lost is skipped until the QP is reset.
 *
 * Responses are sent before requests, since their requesters are already waiting (a
 * delayed request only costs its sender time, a late response costs a retry).  After
 * IBMAD_RESPONSE_BURST of them a waiting request gets its turn.
 *
 * The memory for clients' sends is allocated by the clients.  The sends of this layer
 * itself that are caused by received MADs (RMPP control MADs, the adapter's replies,
 * forwarded SMPs) are refused once IBMAD_MAX_ANSWERS of them are queued, or as many as
 * a quarter of the adapter's address handles, however long the queue stands still.
 */
#include <linux/export.h>
#include "agent/agent.h"
#include "port/port.h"
#include "trace.h"

static bool sendq_has_slot(const struct ibmad_qp *mqp)
{
	return mqp->inflight < ibmad_send_depth;
}

static unsigned int sendq_after(unsigned int slot)
{
	return slot + 1 < ibmad_send_depth ? slot + 1 : 0;
}

/* Chooses the next send from the lanes; there is a backlog. */
static struct ibmad_send *sendq_next(struct ibmad_qp *mqp)
{
	struct list_head *lane = mqp->lane;
	int pick;

	lockdep_assert_held(&mqp->send_lock);
	if (!list_empty(&lane[IBMAD_LANE_REDO]))
		pick = IBMAD_LANE_REDO;
	else if (!list_empty(&lane[IBMAD_LANE_REQUEST]) &&
		 (mqp->burst >= IBMAD_RESPONSE_BURST ||
		  list_empty(&lane[IBMAD_LANE_RESPONSE])))
		pick = IBMAD_LANE_REQUEST;
	else
		pick = IBMAD_LANE_RESPONSE;

	mqp->burst = pick == IBMAD_LANE_RESPONSE ? mqp->burst + 1 : 0;
	return list_first_entry(&lane[pick], struct ibmad_send, port_link);
}

/*
 * Mapping takes time with an IOMMU or bounce buffers, so a client's send is mapped
 * before any lock is taken.  A send stays mapped until its work request has completed
 * and its lock is dropped, or until it was withdrawn.  Resends, and sends of this layer
 * itself, are mapped when they are posted.
 */
int ibmad_send_map(struct ibmad_send *send)
{
	struct ib_device *device = send_agent(send)->port->device;

	if (send->mapped)
		return 0;
	send->dma_addr = ib_dma_map_single(device, send->buf.mad, send->length,
					   DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, send->dma_addr))
		return -ENOMEM;
	send->mapped = true;
	return 0;
}

void ibmad_send_unmap(struct ibmad_send *send)
{
	if (!send->mapped)
		return;
	send->mapped = false;
	ib_dma_unmap_single(send_agent(send)->port->device, send->dma_addr,
			    send->length, DMA_TO_DEVICE);
}

static int sendq_post_wr(struct ibmad_qp *mqp, struct ibmad_send_slot *slot,
			 struct ibmad_send *send)
{
	struct ib_sge sge = {
		.addr = send->dma_addr,
		.length = send->length,
		.lkey = mqp->port->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &slot->cqe,
			.sg_list = &sge,
			.num_sge = IBMAD_SEND_SGE,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.ah = send->buf.ah,
		.remote_qpn = send->remote_qpn,
		/* The high bit: the Q_Key of the QP itself (IBA 10.2.5). */
		.remote_qkey = IB_QP_SET_QKEY,
		.pkey_index = send->pkey_index,
		.port_num = send->out_port,
	};

	return ib_post_send(mqp->qp, &wr.wr, NULL);
}

/* The next free slot; the caller knows that there is one. */
static struct ibmad_send_slot *sendq_slot(struct ibmad_qp *mqp)
{
	lockdep_assert_held(&mqp->send_lock);
	while (mqp->send_slots[mqp->next_slot].send)
		mqp->next_slot = sendq_after(mqp->next_slot);
	return &mqp->send_slots[mqp->next_slot];
}

static void sendq_arm_stall(struct ibmad_qp *mqp)
{
	if (mqp->stall_armed)
		return;
	mqp->stall_armed = true;
	queue_delayed_work(ibmad_wq, &mqp->stall_work,
			   msecs_to_jiffies(IBMAD_STALL_MS));
}

/* The completion cannot be handled before send_lock is dropped. */
static void sendq_occupy(struct ibmad_qp *mqp, struct ibmad_send_slot *slot,
			 struct ibmad_send *send)
{
	slot->send = send;
	slot->opening = mqp->opening;
	send->place = IBMAD_IN_SLOT;
	if (!mqp->inflight++) {
		mqp->oldest_slot = mqp->next_slot;
		mqp->progress = jiffies;
	}
	mqp->next_slot = sendq_after(mqp->next_slot);
	sendq_arm_stall(mqp);
}

/* Puts @send into a free slot and posts it to the QP. */
static int sendq_to_qp(struct ibmad_qp *mqp, struct ibmad_send *send)
{
	struct ibmad_send_slot *slot;
	int ret;

	lockdep_assert_held(&mqp->send_lock);
	WARN_ON_ONCE(!list_empty(&send->port_link));
	ret = ibmad_send_map(send);
	if (ret)
		return ret;
	slot = sendq_slot(mqp);
	ret = sendq_post_wr(mqp, slot, send);
	if (!ret)
		sendq_occupy(mqp, slot, send);
	return ret;
}

static bool sendq_is_answer(const struct ibmad_qp *mqp, const struct ibmad_send *send)
{
	return send->kind == IBMAD_RMPP_CONTROL ||
	       send->buf.mad_agent == mqp->responder;
}

/*
 * Each reply has an address handle of its own: requesters must not use up all of them.
 */
static unsigned int sendq_max_answers(const struct ibmad_qp *mqp)
{
	int handles = mqp->port->device->attrs.max_ah;

	/* Some providers do not report max_ah. */
	return handles > 0 ? clamp(handles / 4U, 1U, IBMAD_MAX_ANSWERS) : IBMAD_MAX_ANSWERS;
}

static void sendq_to_lane(struct ibmad_qp *mqp, struct ibmad_send *send,
			  enum ibmad_lane lane)
{
	lockdep_assert_held(&mqp->send_lock);
	send->place = IBMAD_IN_LANE;
	mqp->backlog++;
	mqp->answers += sendq_is_answer(mqp, send);
	list_add_tail(&send->port_link, &mqp->lane[lane]);
}

static void sendq_from_lane(struct ibmad_qp *mqp, struct ibmad_send *send)
{
	lockdep_assert_held(&mqp->send_lock);
	send->place = IBMAD_NOWHERE;
	mqp->backlog--;
	mqp->answers -= sendq_is_answer(mqp, send);
	list_del_init(&send->port_link);
}

/* Posts sends from the lanes while slots are free; those that fail go to @failed. */
static void sendq_pump(struct ibmad_qp *mqp, struct list_head *failed)
{
	struct ibmad_send *send;

	while (mqp->backlog && mqp->state == IBMAD_QP_LIVE && sendq_has_slot(mqp)) {
		send = sendq_next(mqp);
		sendq_from_lane(mqp, send);
		if (sendq_to_qp(mqp, send))
			list_add_tail(&send->port_link, failed);
	}
}

/* Completes the sends on @list, which are on no other list of the port. */
static void sendq_complete_all(struct list_head *list, enum ib_wc_status status)
{
	struct ibmad_send *send, *next;

	list_for_each_entry_safe(send, next, list, port_link) {
		list_del_init(&send->port_link);
		ibmad_send_wr_done(send, status, 0);
	}
}

/*
 * Posts @send, or queues it.  On success its completion is reported through
 * ibmad_send_wr_done(), possibly before this returns.
 */
int ibmad_sendq_post(struct ibmad_send *send)
{
	struct ibmad_qp *mqp = send_agent(send)->mqp;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&mqp->send_lock, flags);
	send->redo = 0;
	if (mqp->state == IBMAD_QP_DEAD) {
		ret = -ENODEV;
	} else if (mqp->state == IBMAD_QP_LIVE && !mqp->backlog &&
		   sendq_has_slot(mqp)) {
		ret = sendq_to_qp(mqp, send);
	} else if (sendq_is_answer(mqp, send) && mqp->answers >= sendq_max_answers(mqp)) {
		ret = -ENOBUFS;
	} else {
		sendq_to_lane(mqp, send, send->lane);
		ibmad_count(mqp->port, IBMAD_BACKLOGGED);
	}
	spin_unlock_irqrestore(&mqp->send_lock, flags);
	return ret;
}

bool ibmad_sendq_withdraw(struct ibmad_send *send)
{
	struct ibmad_qp *mqp = send_agent(send)->mqp;
	unsigned long flags;
	bool queued;

	spin_lock_irqsave(&mqp->send_lock, flags);
	queued = send->place == IBMAD_IN_LANE;
	if (queued)
		sendq_from_lane(mqp, send);
	spin_unlock_irqrestore(&mqp->send_lock, flags);
	return queued;
}

/*
 * Whether to post a flushed send again.  A send that fails puts the send queue (or,
 * with some providers, the whole QP) into an error state, which flushes the sends
 * posted behind it through no fault of theirs.  A send that was answered, refused or
 * cancelled meanwhile need not be posted again: whoever did that set its state and then
 * looks for it in a lane, under send_lock.
 */
static bool sendq_wants_redo(struct ibmad_qp *mqp, struct ibmad_send *send)
{
	u8 state = READ_ONCE(send->state);

	lockdep_assert_held(&mqp->send_lock);
	return mqp->state != IBMAD_QP_DEAD &&
	       state != IBMAD_ANSWERED && state != IBMAD_CANCELLED &&
	       state != IBMAD_REFUSED &&
	       !test_bit(IBMAD_QP_FATAL, &mqp->flags) &&
	       send->redo++ < IBMAD_MAX_REDO;
}

static void sendq_vacate(struct ibmad_qp *mqp, struct ibmad_send_slot *slot)
{
	slot->send->place = IBMAD_NOWHERE;
	slot->send = NULL;
	/*
	 * A waiter is on the queue before it checks inflight; wq_has_sleeper() has the
	 * barrier.
	 */
	if (!--mqp->inflight) {
		if (wq_has_sleeper(&mqp->idle))
			wake_up(&mqp->idle);
		return;
	}
	if (slot != &mqp->send_slots[mqp->oldest_slot])
		return;
	mqp->progress = jiffies;
	while (!mqp->send_slots[mqp->oldest_slot].send)
		mqp->oldest_slot = sendq_after(mqp->oldest_slot);
}

/* Empties @slot.  Its send is moved to the redo lane, or returned. */
static struct ibmad_send *sendq_take(struct ibmad_qp *mqp,
				     struct ibmad_send_slot *slot, bool flushed)
{
	struct ibmad_send *send = slot->send;

	lockdep_assert_held(&mqp->send_lock);
	sendq_vacate(mqp, slot);
	if (flushed && sendq_wants_redo(mqp, send)) {
		sendq_to_lane(mqp, send, IBMAD_LANE_REDO);
		return NULL;
	}
	return send;
}

/*
 * Stops posting until recovery has examined the QP.  After a send failed, flushes of
 * those behind it are expected.  But if the first error since the QP became LIVE is a
 * flush of a send posted since then, the QP is sick: recovery must not trust that it
 * reports RTS.
 */
static void sendq_broke(struct ibmad_qp *mqp, const struct ibmad_send_slot *slot,
			bool flushed)
{
	lockdep_assert_held(&mqp->send_lock);
	mqp->state = IBMAD_QP_HELD;
	if (flushed && slot->opening == mqp->opening)
		set_bit(IBMAD_QP_SICK, &mqp->flags);
}

static void sendq_report(struct ibmad_send *send, const struct ib_wc *wc)
{
	struct ibmad_agent *agent = send_agent(send);
	bool direct = ibmad_deliver_begin(agent);

	ibmad_send_wr_done(send, wc->status, wc->vendor_err);
	if (direct)
		ibmad_deliver_end(agent);
}

/* Handles the completion of a work request: frees its slot and posts the next send. */
void ibmad_sendq_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ibmad_send_slot *slot =
		container_of(wc->wr_cqe, struct ibmad_send_slot, cqe);
	bool flushed = wc->status == IB_WC_WR_FLUSH_ERR;
	struct ibmad_qp *mqp = slot->mqp;
	struct ibmad_send *send = NULL;
	LIST_HEAD(failed);
	unsigned long flags;
	bool broken = false;

	spin_lock_irqsave(&mqp->send_lock, flags);
	if (!slot->send) {
		ibmad_count(mqp->port, IBMAD_STRAY_WC);
	} else {
		trace_ib_mad_send_done_handler(slot->send, wc);
		if (wc->status && mqp->state == IBMAD_QP_LIVE) {
			sendq_broke(mqp, slot, flushed);
			broken = true;
		}
		send = sendq_take(mqp, slot, flushed);
		if (mqp->backlog)
			sendq_pump(mqp, &failed);
	}
	spin_unlock_irqrestore(&mqp->send_lock, flags);

	if (broken)
		ibmad_qp_recover(mqp);
	if (send) {
		if (wc->status) {
			ibmad_count(mqp->port, IBMAD_SEND_ERRORS);
			trace_ib_mad_error_handler(send);
		} else {
			ibmad_count_sent(mqp->port, send->buf.mad);
		}
		sendq_report(send, wc);
	}
	sendq_complete_all(&failed, IB_WC_LOC_QP_OP_ERR);
}

void ibmad_sendq_hold(struct ibmad_qp *mqp)
{
	spin_lock_irq(&mqp->send_lock);
	if (mqp->state == IBMAD_QP_LIVE)
		mqp->state = IBMAD_QP_HELD;
	spin_unlock_irq(&mqp->send_lock);
}

void ibmad_sendq_open(struct ibmad_qp *mqp)
{
	LIST_HEAD(failed);

	spin_lock_irq(&mqp->send_lock);
	if (mqp->state == IBMAD_QP_HELD) {
		mqp->state = IBMAD_QP_LIVE;
		mqp->opening++;
	}
	sendq_pump(mqp, &failed);
	spin_unlock_irq(&mqp->send_lock);
	sendq_complete_all(&failed, IB_WC_LOC_QP_OP_ERR);
}

static void sendq_reclaim_posted(struct ibmad_qp *mqp, bool all,
				 struct list_head *done)
{
	unsigned int i, slot = mqp->next_slot;
	struct ibmad_send *send;

	lockdep_assert_held(&mqp->send_lock);
	/*
	 * One pass over all slots in the order of posting: the oldest is at next_slot
	 * or after it.
	 */
	for (i = 0; i < ibmad_send_depth; i++, slot = sendq_after(slot)) {
		if (!mqp->send_slots[slot].send)
			continue;
		send = sendq_take(mqp, &mqp->send_slots[slot], !all);
		if (send)
			list_add_tail(&send->port_link, done);
	}
	WARN_ON_ONCE(mqp->inflight);
}

static void sendq_reclaim_lane(struct ibmad_qp *mqp, enum ibmad_lane lane,
			       struct list_head *done)
{
	struct ibmad_send *send, *next;

	list_for_each_entry_safe(send, next, &mqp->lane[lane], port_link) {
		sendq_from_lane(mqp, send);
		list_add_tail(&send->port_link, done);
	}
}

/*
 * Takes the sends in the order in which they were, or would have been, posted to the
 * QP.
 */
void ibmad_sendq_reclaim(struct ibmad_qp *mqp, bool all)
{
	LIST_HEAD(done);

	spin_lock_irq(&mqp->send_lock);
	if (all)
		sendq_reclaim_lane(mqp, IBMAD_LANE_REDO, &done);
	sendq_reclaim_posted(mqp, all, &done);
	if (all) {
		sendq_reclaim_lane(mqp, IBMAD_LANE_RESPONSE, &done);
		sendq_reclaim_lane(mqp, IBMAD_LANE_REQUEST, &done);
	}
	spin_unlock_irq(&mqp->send_lock);
	sendq_complete_all(&done, IB_WC_WR_FLUSH_ERR);
}

/* A send in a slot exists, and so does its MAD, until the slot is vacated. */
static void sendq_describe(const struct ibmad_qp *mqp, struct ibmad_stuck *stuck)
{
	const struct ibmad_send *send = mqp->send_slots[mqp->oldest_slot].send;
	const struct ib_mad_hdr *hdr = send->buf.mad;

	lockdep_assert_held(&mqp->send_lock);
	stuck->mgmt_class = hdr->mgmt_class;
	stuck->method = hdr->method;
	stuck->attr_id = be16_to_cpu(hdr->attr_id);
	stuck->tid = be64_to_cpu(hdr->tid);
	stuck->ms = jiffies_to_msecs(jiffies - mqp->progress);
	stuck->posted = mqp->inflight;
	stuck->queued = mqp->backlog;
}

bool ibmad_sendq_waited(struct ibmad_qp *mqp, unsigned int ms, struct ibmad_stuck *stuck)
{
	bool waited;

	spin_lock_irq(&mqp->send_lock);
	waited = mqp->inflight && mqp->state != IBMAD_QP_DEAD &&
		 jiffies - mqp->progress >= msecs_to_jiffies(ms);
	if (waited)
		sendq_describe(mqp, stuck);
	spin_unlock_irq(&mqp->send_lock);
	return waited;
}

/*
 * Runs now and then while work requests are posted.  A QP completes them in the order
 * of posting, so one that has been the oldest for IBMAD_STALL_MS has lost its
 * completion or the event for it: do not have its client wait without end.
 */
void ibmad_sendq_stall_work(struct work_struct *work)
{
	struct ibmad_qp *mqp = container_of(to_delayed_work(work),
					    struct ibmad_qp, stall_work);
	unsigned long timeout = msecs_to_jiffies(IBMAD_STALL_MS);
	unsigned long waited;

	ibmad_qp_unstick(mqp, IBMAD_STALL_MS);

	spin_lock_irq(&mqp->send_lock);
	if (!mqp->inflight || mqp->state == IBMAD_QP_DEAD) {
		mqp->stall_armed = false;
	} else {
		waited = min(jiffies - mqp->progress, timeout);
		queue_delayed_work(ibmad_wq, &mqp->stall_work, timeout - waited);
	}
	spin_unlock_irq(&mqp->send_lock);
}
