// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Communication ids: allocation, the queue of messages and notifications for an id,
 * delivery of events to the consumer, destruction.
 *
 * References on an id: one of its owner (the consumer, or the CM until the consumer
 * is notified of the id); one of a queued or running work item; one of each message
 * being sent for the id; short-lived ones of lookups.
 */
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <ibex/cm.h>

#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

/*
 * Maps a local communication id to the id or, when the id was destroyed but its
 * timewait goes on, to the struct ibcm_peer (tagged).  Numbers are allocated
 * cyclically, so that a late message for an old connection does not reach a new one.
 */
static struct xarray ibcm_ids;
static u32 ibcm_ids_next;	/* protected by ibcm_ids' lock */

#define IBCM_SLOT_PEER	1UL	/* tag of an entry that is a struct ibcm_peer */

void ibcm_ids_init(void)
{
	xa_init_flags(&ibcm_ids, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ);
	ibcm_ids_next = get_random_u32();
}

void ibcm_ids_exit(void)
{
	WARN_ON(!xa_empty(&ibcm_ids));
	xa_destroy(&ibcm_ids);
}

void ibcm_slot_free(u32 slot)
{
	unsigned long flags;

	xa_lock_irqsave(&ibcm_ids, flags);
	__xa_erase(&ibcm_ids, slot);
	xa_unlock_irqrestore(&ibcm_ids, flags);
}

struct ibcm_peer *ibcm_slot_peer(u32 slot)
{
	void *entry = xa_load(&ibcm_ids, slot);

	return xa_pointer_tag(entry) == IBCM_SLOT_PEER ? xa_untag_pointer(entry) :
							NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_slot_peer);

static void ibcm_id_work(struct work_struct *work);

/*
 * The caller owns the reference.  @request: the id is for a request that is being
 * received, so this must not sleep, and the id's work is not queued until
 * ibcm_id_resolved().
 */
struct ibcm_id *ibcm_id_alloc(struct ibcm_device *dev, ib_cm_handler handler,
			      void *context, bool request)
{
	gfp_t gfp = request ? GFP_ATOMIC : GFP_KERNEL;
	struct ibcm_id *id;
	u32 slot;
	int ret;

	id = kzalloc(sizeof(*id), gfp);
	if (!id)
		return NULL;
	id->id.cm_handler = handler;
	id->id.context = context;
	id->id.device = dev->ibdev;
	id->id.remote_cm_qpn = 1;
	id->dev = dev;
	spin_lock_init(&id->lock);
	id->resolving = request;
	INIT_WORK(&id->work, ibcm_id_work);
	INIT_LIST_HEAD(&id->rxq);

	/* Lookups do not take an id without references. */
	ret = xa_alloc_cyclic_irq(&ibcm_ids, &slot, id,
				  XA_LIMIT(1, U32_MAX), &ibcm_ids_next, gfp);
	if (ret < 0) {
		kfree(id);
		return NULL;
	}
	kref_get(&dev->kref);
	id->id.local_id = cpu_to_be32(slot);
	/* Pairs with ibcm_id_get_maybe_zero(). */
	smp_wmb();
	refcount_set(&id->ref, 1);
	return id;
}

static u32 ibcm_id_slot(const struct ibcm_id *id)
{
	return be32_to_cpu(id->id.local_id);
}

/* Puts the path after the address vectors: device removal waits for the last path. */
void ibcm_id_release(struct ibcm_id *id)
{
	ibcm_av_destroy(&id->av);
	if (id->alt) {
		ibcm_av_destroy(id->alt);
		kfree(id->alt);
	}
	ibcm_lap_free(id->lap);
	ibcm_path_put(id->path);
	kfree(id->answer);
	ibcm_device_put(id->dev);
	kfree_rcu(id, rcu);
}

struct ibcm_id *ibcm_id_find(__be32 local_id)
{
	struct ibcm_id *id;

	rcu_read_lock();
	id = xa_load(&ibcm_ids, be32_to_cpu(local_id));
	if (id && (xa_pointer_tag(id) || !ibcm_id_get_maybe_zero(id)))
		id = NULL;
	rcu_read_unlock();
	return id;
}

struct ibcm_id *ibcm_id_from(loff_t *local_id)
{
	unsigned long slot = *local_id;
	struct ibcm_id *id;

	rcu_read_lock();
	id = xa_find(&ibcm_ids, &slot, U32_MAX, XA_PRESENT);
	while (id && (xa_pointer_tag(id) || !ibcm_id_get_maybe_zero(id)))
		id = xa_find_after(&ibcm_ids, &slot, U32_MAX, XA_PRESENT);
	rcu_read_unlock();
	*local_id = slot;
	return id;
}

struct ibcm_id *ibcm_id_find_pair(__be32 local_id, __be32 remote_id)
{
	struct ibcm_id *id = ibcm_id_find(local_id);

	if (id && READ_ONCE(id->id.remote_id) != remote_id) {
		ibcm_id_put(id);
		id = NULL;
	}
	return id;
}

static void ibcm_id_queue_work(struct ibcm_id *id)
{
	lockdep_assert_held(&id->lock);
	if (id->resolving)
		return;
	id->work_due = true;
	ibcm_id_get(id);
	if (!queue_work(ibcm_wq, &id->work))
		refcount_dec(&id->ref);
}

void ibcm_id_kick(struct ibcm_id *id, enum ibcm_pending why)
{
	lockdep_assert_held(&id->lock);
	if (id->dying)
		return;
	id->pending |= BIT(why);
	ibcm_id_queue_work(id);
}

bool ibcm_id_queue(struct ibcm_id *id, struct ibcm_rx *rx)
{
	unsigned long flags;
	bool queued = false;

	spin_lock_irqsave(&id->lock, flags);
	if (!id->dying && id->rxq_len < IBCM_MAX_RXQ) {
		list_add_tail(&rx->node, &id->rxq);
		id->rxq_len++;
		ibcm_id_queue_work(id);
		queued = true;
	} else if (id->dying && rx->kind == IBCM_DREP) {
		id->released = true;
	}
	spin_unlock_irqrestore(&id->lock, flags);
	return queued;
}

/*
 * @rx is put first in the queue: messages queued while it was resolved, which may be
 * copies of it, were received after it.
 */
void ibcm_id_resolved(struct ibcm_id *id, struct ibcm_rx *rx)
{
	spin_lock_irq(&id->lock);
	id->resolving = false;
	list_add(&rx->node, &id->rxq);
	id->rxq_len++;
	ibcm_id_queue_work(id);
	spin_unlock_irq(&id->lock);
}

/*
 * Clears IBCM_PEND_EST.  Returns whether it was set: the caller must then report the
 * connection as established to the consumer.
 */
static bool ibcm_est_take(struct ibcm_id *id)
{
	bool due;

	spin_lock_irq(&id->lock);
	due = id->pending & BIT(IBCM_PEND_EST);
	id->pending &= ~BIT(IBCM_PEND_EST);
	spin_unlock_irq(&id->lock);
	return due;
}

int ibcm_deliver(struct ibcm_id *id, const struct ib_cm_event *event)
{
	int ret;

	/* Data may have established the connection since the work took this event. */
	if (ibcm_est_take(id)) {
		ret = ibcm_established(id);
		if (ret || ibcm_id_dying(id))
			return ret;
	}
	ret = id->id.cm_handler(&id->id, event);
	if (ret)
		trace_icm_handler_err(event->event);
	return ret;
}

int ibcm_deliver_plain(struct ibcm_id *id, enum ib_cm_event_type event)
{
	const struct ib_cm_event ev = { .event = event };

	return ibcm_deliver(id, &ev);
}

void ibcm_answer_set(struct ibcm_id *id, void *data, u8 len)
{
	lockdep_assert_held(&id->lock);
	kfree(id->answer);
	id->answer = data;
	id->answer_len = len;
}

/* Checks a consumer's private data and copies it, for replies to duplicates. */
int ibcm_private_copy(const void *data, u8 len, u8 max, void **copy)
{
	*copy = NULL;
	if (len > max || (len && !data))
		return -EINVAL;
	if (!len)
		return 0;
	*copy = kmemdup(data, len, GFP_KERNEL);
	return *copy ? 0 : -ENOMEM;
}

static int ibcm_send_failed(struct ibcm_id *id)
{
	struct ib_cm_event event = {};
	struct ibcm_todo todo;
	bool moved = false;

	spin_lock_irq(&id->lock);
	/* A reply received meanwhile may have led to another state and a new request. */
	if (!id->msg)
		moved = ibcm_step(id, IBCM_SEND_FAILED, &todo) ||
			ibcm_lap_step(id, IBCM_LAP_SEND_FAILED, &todo);
	event.param.send_status = id->failed_status;
	spin_unlock_irq(&id->lock);
	if (!moved)
		return 0;

	trace_icm_mad_send_err(todo.from, event.param.send_status);
	ibcm_step_finish(id, &todo);
	event.event = todo.step->event;
	return ibcm_deliver(id, &event);
}

/* The peer uses the QP of this connection for a new connection: ends this one. */
static int ibcm_gone_stale(struct ibcm_id *id)
{
	struct ibcm_todo todo;
	bool moved = false;

	if (!ib_send_cm_dreq(&id->id, NULL, 0))
		return 0;
	spin_lock_irq(&id->lock);
	if (id->id.state != IB_CM_ESTABLISHED)
		moved = ibcm_step(id, IBCM_STALE, &todo);
	spin_unlock_irq(&id->lock);
	if (!moved)
		return 0;
	ibcm_step_finish(id, &todo);
	return ibcm_deliver_plain(id, todo.step->event);
}

static int ibcm_timewait_ended(struct ibcm_id *id)
{
	struct ibcm_todo todo;
	bool moved;

	spin_lock_irq(&id->lock);
	moved = ibcm_step(id, IBCM_TIMEWAIT_END, &todo);
	spin_unlock_irq(&id->lock);
	return moved ? ibcm_deliver_plain(id, todo.step->event) : 0;
}

/*
 * Takes the next message or notification.  ESTABLISHED comes before messages, which
 * were received after it or imply it.  The other notifications come after messages, so
 * that a reply which has been received takes precedence over the timeout of its request.
 */
static bool ibcm_id_next(struct ibcm_id *id, struct ibcm_rx **rx,
			 enum ibcm_pending *why)
{
	bool more = true;

	*rx = NULL;
	spin_lock_irq(&id->lock);
	if (id->dying) {
		more = false;
	} else if (id->pending & BIT(IBCM_PEND_EST)) {
		*why = IBCM_PEND_EST;
		id->pending &= ~BIT(IBCM_PEND_EST);
	} else if (!list_empty(&id->rxq)) {
		*rx = list_first_entry(&id->rxq, struct ibcm_rx, node);
		list_del(&(*rx)->node);
		id->rxq_len--;
	} else if (id->pending) {
		*why = __ffs(id->pending);
		id->pending &= ~BIT(*why);
	} else {
		more = false;
	}
	if (!more)
		id->work_due = false;
	spin_unlock_irq(&id->lock);
	return more;
}

static int ibcm_id_do(struct ibcm_id *id, enum ibcm_pending why)
{
	switch (why) {
	case IBCM_PEND_EST:
		return ibcm_established(id);
	case IBCM_PEND_SEND_FAILED:
		return ibcm_send_failed(id);
	case IBCM_PEND_STALE:
		return ibcm_gone_stale(id);
	case IBCM_PEND_TIMEWAIT_END:
		return ibcm_timewait_ended(id);
	case IBCM_PEND_MIGRATED:
		return ibcm_migrated(id);
	}
	return 0;
}

/*
 * The consumer had no memory for a request.  The request is not answered, so that the
 * peer sends it again and a new id is created for it.
 */
static void ibcm_request_undelivered(struct ibcm_id *id)
{
	struct ibcm_todo todo;

	spin_lock_irq(&id->lock);
	if (id->id.state == IB_CM_REQ_RCVD)
		ibcm_step(id, IBCM_TX_REJ, &todo);
	else if (id->id.state == IB_CM_SIDR_REQ_RCVD)
		ibcm_step(id, IBCM_TX_SIDR_REP, &todo);
	spin_unlock_irq(&id->lock);
}

static void ibcm_id_work(struct work_struct *work)
{
	struct ibcm_id *id = container_of(work, struct ibcm_id, work);
	enum ibcm_pending why;
	struct ibcm_rx *rx;
	int ret = 0;

	WRITE_ONCE(id->runner, current);
	while (!ret && ibcm_id_next(id, &rx, &why)) {
		if (rx) {
			ret = ibcm_rx_process(id, rx);
			ibcm_rx_free(rx);
		} else {
			ret = ibcm_id_do(id, why);
		}
	}
	/* The handler may have destroyed the id itself: do not destroy it twice. */
	if (ret && !READ_ONCE(id->dying)) {
		if (ret == -ENOMEM)
			ibcm_request_undelivered(id);
		ibcm_id_destroy(id);
	}
	WRITE_ONCE(id->runner, NULL);
	ibcm_id_put(id);
}

/* The id is dying, and its work does not run: nobody else uses the queue any more. */
static void ibcm_id_purge(struct ibcm_id *id)
{
	struct ibcm_rx *rx, *next;
	unsigned long flags;
	LIST_HEAD(list);

	if (list_empty(&id->rxq))
		return;
	spin_lock_irqsave(&id->lock, flags);
	list_splice_init(&id->rxq, &list);
	id->rxq_len = 0;
	spin_unlock_irqrestore(&id->lock, flags);
	list_for_each_entry_safe(rx, next, &list, node)
		ibcm_rx_free(rx);
}

/* Destroying the accepting id of an XRC target does not end the connection. */
static enum ibcm_event ibcm_id_end(const struct ibcm_id *id)
{
	lockdep_assert_held(&id->lock);
	return id->qp_type == IB_QPT_XRC_TGT &&
	       id->id.state == IB_CM_ESTABLISHED ? IBCM_DO_LEAVE :
						   IBCM_DO_DESTROY;
}

/*
 * Destroys @id: notifies the peer, ends the delivery of events, drops the owner's
 * reference.
 *
 * Why nothing calls the consumer, and no reference remains, afterwards:
 * (1) dying is set under the lock: from then on no message, no timeout and no
 *     notification is queued, and the work takes nothing more from the queue.
 * (2) A listener is removed from the table.  ibcm_listener_stop() waits until the
 *     requests that hold it are delivered, their handlers having returned, or refused.
 * (3) cancel_work_sync() waits for a running handler and tells whether a queued work
 *     was cancelled, whose reference is then dropped.  If that handler, or the work
 *     after the handler's return, destroys the id, there is nothing to wait for: the
 *     work ends itself and holds a reference until then.  Nor is there if no work is
 *     due: the last one to run has found nothing to do, and only drops its reference.
 * (4) The outstanding request is detached and cancelled or, if it is a DREQ, left to
 *     the timewait of the connection (struct ibcm_peer).  A message that the MAD layer
 *     still holds keeps the id's memory by a reference, but finds that id->msg is
 *     another.  Nothing waits for it, as a send completion may never arrive.
 * (5) The slot is freed or left to the timewait, and peer->id is cleared, so that no
 *     lookup finds the id; a lookup that found it before cannot queue anything (1).
 * (6) The watch of the QP is ended and reports to this id no more.  A running probe of
 *     the PSN keeps the memory of the watch and, if it is for an unanswered REP, of the
 *     message.
 */
void ibcm_id_destroy(struct ibcm_id *id)
{
	struct ibcm_msg *dreq = NULL;
	struct ibcm_todo todo;
	bool moved, due;

	/* What is sent to the peer depends on whether the connection is established. */
	ibcm_probe(id, false);

	spin_lock_irq(&id->lock);
	id->dying = true;
	due = id->work_due;
	moved = ibcm_step(id, ibcm_id_end(id), &todo);
	spin_unlock_irq(&id->lock);
	ib_cm_unwatch_qp(&id->id);
	if (moved) {
		dreq = ibcm_dreq_last(id, &todo);
		ibcm_step_finish(id, &todo);
	}

	if (id->listener && todo.from == IB_CM_LISTEN)
		ibcm_listener_stop(id);

	if (due && READ_ONCE(id->runner) != current && cancel_work_sync(&id->work))
		refcount_dec(&id->ref);
	ibcm_id_purge(id);

	if (!ibcm_timewait_detach(id, &dreq))
		ibcm_slot_free(ibcm_id_slot(id));
	ibcm_dreq_stop(dreq);
	ibcm_id_put(id);
}

/*
 * For the id of a request that was not resolved.  Messages may be queued to it all the
 * same, if a sender guessed its communication id.
 */
void ibcm_id_abandon(struct ibcm_id *id)
{
	unsigned long flags;

	spin_lock_irqsave(&id->lock, flags);
	id->dying = true;
	ibcm_peer_forget(id);
	ibcm_sidr_unhash(id);
	spin_unlock_irqrestore(&id->lock, flags);
	ibcm_id_purge(id);
	ibcm_slot_free(ibcm_id_slot(id));
	ibcm_id_put(id);
}

/*
 * If the id is in timewait, lets the timewait continue without the id; it then keeps
 * the slot.  Returns whether it does.  The timer may end the timewait at any moment:
 * if this function is the first to clear id->peer under the lock, the slot is left to
 * the timewait, otherwise the caller frees it.  Also leaves *@dreq, if not NULL, to the
 * timewait and sets it to NULL, unless it is over.
 */
bool ibcm_timewait_detach(struct ibcm_id *id, struct ibcm_msg **dreq)
{
	struct ibcm_peer *peer;
	bool detached = false;

	spin_lock_irq(&id->lock);
	peer = id->peer;
	if (peer) {
		if (*dreq && ibcm_dreq_leave(id, peer, *dreq))
			*dreq = NULL;
		/* The slot has an entry already, so this does not allocate. */
		xa_lock(&ibcm_ids);
		__xa_store(&ibcm_ids, peer->slot,
			   xa_tag_pointer(peer, IBCM_SLOT_PEER), 0);
		xa_unlock(&ibcm_ids);
		id->peer = NULL;
		rcu_assign_pointer(peer->id, NULL);
		detached = true;
	}
	spin_unlock_irq(&id->lock);
	return detached;
}

static void ibcm_id_strip(struct ibcm_id *id)
{
	struct rdma_ah_attr av = {}, alt = {}, lap = {};
	struct ibcm_path *path;

	spin_lock_irq(&id->lock);
	path = id->path;
	id->path = NULL;
	rdma_move_ah_attr(&av, &id->av.ah_attr);
	if (id->alt)
		rdma_move_ah_attr(&alt, &id->alt->ah_attr);
	if (id->lap && id->lap->av)
		rdma_move_ah_attr(&lap, &id->lap->av->ah_attr);
	spin_unlock_irq(&id->lock);
	rdma_destroy_ah_attr(&av);
	rdma_destroy_ah_attr(&alt);
	rdma_destroy_ah_attr(&lap);
	ibcm_path_put(path);
}

/*
 * On device removal: drops the paths and source GIDs of the device's ids.  No message
 * can be allocated or posted any more (see ibcm_stop()).
 */
void ibcm_ids_strip(struct ibcm_device *dev)
{
	loff_t slot = 0;
	struct ibcm_id *id;

	for (; (id = ibcm_id_from(&slot)); slot++) {
		if (id->dev == dev)
			ibcm_id_strip(id);
		ibcm_id_put(id);
	}
}

/* On module exit only timewaits without an id are left: ends them now. */
void ibcm_ids_drain(void)
{
	struct ibcm_peer *peer;
	unsigned long slot;
	void *entry;

	while (!xa_empty(&ibcm_ids)) {
		rcu_read_lock();
		xa_for_each(&ibcm_ids, slot, entry) {
			if (WARN_ON(xa_pointer_tag(entry) != IBCM_SLOT_PEER))
				continue;
			peer = xa_untag_pointer(entry);
			/* Otherwise the timer is running and ends the timewait. */
			if (timer_delete(&peer->timer))
				ibcm_timewait_timer(&peer->timer);
		}
		rcu_read_unlock();
		cond_resched();
	}
}

/**
 * ib_create_cm_id - allocate a communication identifier
 * @device: Device that all communication of the id goes through.
 * @cm_handler: Called with each event of the id, one at a time, in process
 *	context.  A non-zero return value destroys the id and rejects an unanswered
 *	request; but if it is -ENOMEM, the request is left for the peer to send again.
 * @context: The consumer's context, stored in cm_id->context.
 *
 * Context: May sleep.  The caller is a client of @device that has not returned
 * from its remove method.
 *
 * Return: The id, to be destroyed with ib_destroy_cm_id(); ERR_PTR(-ENODEV) if
 * no port of @device has a CM, ERR_PTR(-ENOMEM).
 */
struct ib_cm_id *ib_create_cm_id(struct ib_device *device,
				 ib_cm_handler cm_handler,
				 void *context)
{
	struct ibcm_device *dev = ibcm_device_get(device);
	struct ibcm_id *id;

	if (!dev)
		return ERR_PTR(-ENODEV);
	id = ibcm_id_alloc(dev, cm_handler, context, false);
	ibcm_device_put(dev);
	return id ? &id->id : ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL(ib_create_cm_id);

/**
 * ib_destroy_cm_id - destroy a communication identifier
 * @cm_id: The id.
 *
 * The peer is notified with the message that the id's state calls for: a REJ if the
 * connection is not established yet, a DREQ or DREP if it is (IBA vol. 1, 12.9).  An
 * established connection of an XRC target stays, and nothing is sent.  A connection
 * whose watched QP has received data counts as established.  The DREQ, also one of
 * ib_send_cm_dreq(), is resent after the id is destroyed until it is answered, as often
 * as the connection's REQ said; a port does so for a bounded number of connections at
 * a time and sends the DREQ of any other only once.
 *
 * Timewait continues without the id.  When this returns, no handler of the id runs or
 * will run.  It waits for a running handler and, if the id listens, for the requests
 * that are being resolved or delivered, but not for the peer.  Called by the id's own
 * handler it does not wait for that handler, whose return value is ignored.
 *
 * Context: May sleep.
 */
void ib_destroy_cm_id(struct ib_cm_id *cm_id)
{
	struct ibcm_id *id = to_ibcm(cm_id);

	if (!ibcm_listener_unshare(id))
		ibcm_id_destroy(id);
}
EXPORT_SYMBOL(ib_destroy_cm_id);
