// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A port's transmitter: virtual lanes, credits and the queues of packets that wait for them
 * (IBA vol. 1, 7.6, 7.9).
 *
 * The link is lossless: a packet is sent once the buffer at the other end has room, and
 * waits otherwise.  It takes its room in the buffer as it is sent, and gives up the room it
 * had in the one before.  A packet that cannot move on for the head-of-queue lifetime of
 * its port is discarded (18.2.5.4): that is what ends a deadlock of full buffers.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "fabric/fabric.h"

/* So many packets of a VL wait at a CA's port before its queue pairs have to. */
#define VIB_TX_FULL	64
/* So many wait that hold no credits; more are discarded. */
#define VIB_TX_MOST	256
/* So many are sent before other works have their turn. */
#define VIB_TX_BUDGET	64
/* From port to port in one chain of calls; the rest is the work's. */
#define VIB_MAX_NESTED	4

static unsigned long tx_lifetime(const struct vib_port *port)
{
	u8 life = READ_ONCE(port->info.vlstallcnt_hoqlife) & 0x1f;

	if (port->node->type != RDMA_NODE_IB_SWITCH)
		return 0;
	/* 4.096 us * 2^life; from 20 on without limit. */
	return life > 19 ? 0 : max(nsecs_to_jiffies(4096ULL << life), 1UL);
}

static bool tx_is_mcast(const struct vib_packet *pkt)
{
	u16 dlid = vib_packet_dlid(pkt);

	return dlid >= VIB_LID_MCAST && dlid != VIB_LID_PERMISSIVE;
}

/* Packets of all VLs (16.1.3.5). */
static void tx_count_sent(struct vib_port *port, const struct vib_packet *pkt)
{
	vib_count(port, VIB_XMIT_DATA, vib_packet_wire_len(pkt) / 4);
	vib_count(port, VIB_XMIT_PKTS, 1);
	vib_count(port, tx_is_mcast(pkt) ? VIB_MCAST_XMIT_PKTS : VIB_UCAST_XMIT_PKTS, 1);
}

/* Packets with errors are packets, too (16.1.3.5). */
static void tx_count_received(struct vib_port *port, const struct vib_packet *pkt)
{
	vib_count(port, VIB_RCV_DATA, vib_packet_wire_len(pkt) / 4);
	vib_count(port, VIB_RCV_PKTS, 1);
	vib_count(port, tx_is_mcast(pkt) ? VIB_MCAST_RCV_PKTS : VIB_UCAST_RCV_PKTS, 1);
}

/*
 * The CRC of the link is wrong (7.8), so nothing else is looked at.  A physical error is
 * counted as a symbol error, and the packet as one received with an error (16.1.3.5).
 */
static void tx_arrive_corrupt(struct vib_port *peer, struct vib_packet *pkt)
{
	vib_count(peer, VIB_SYMBOL_ERRORS, 1);
	vib_count(peer, VIB_RCV_ERRORS, 1);
	vib_packet_free(pkt);
}

void vib_tx_arrive(struct vib_tx *tx, struct vib_port *peer, struct vib_packet *pkt)
{
	bool smp = pkt->vl == VIB_VL_MGMT;

	tx_count_received(peer, pkt);
	vib_capture(peer, pkt);
	if (unlikely(pkt->corrupt)) {
		tx_arrive_corrupt(peer, pkt);
	} else {
		if (!smp)
			vib_port_saw_data(peer);
		peer->node->ops->receive(peer, pkt);
	}
	if (smp)
		vib_port_sent_smp(tx->port);
}

/* Sends @pkt, which holds credits of @tx, to the node at the other end. */
static void tx_deliver(struct vib_tx *tx, struct vib_port *peer, struct vib_packet *pkt)
{
	struct vib_fault_way *way = rcu_dereference_bh(tx->fault);

	pkt->hops++;
	tx_count_sent(tx->port, pkt);
	if (likely(!way))
		vib_tx_arrive(tx, peer, pkt);
	else
		vib_fault_send(way, peer, pkt);
}

static void tx_discard(struct vib_tx *tx, struct vib_packet *pkt)
{
	vib_count(tx->port, VIB_XMIT_DISCARDS, 1);
	vib_packet_free(pkt);
}

/* The credits for @pkt, if there are enough. */
static bool tx_take(struct vib_tx *tx, const struct vib_packet *pkt)
{
	lockdep_assert_held(&tx->lock);
	if (tx->credits[pkt->vl] < pkt->blocks)
		return false;
	tx->credits[pkt->vl] -= pkt->blocks;
	return true;
}

/* @pkt moves from the buffer it was in to the one at the other end of the link. */
static void tx_hold(struct vib_tx *tx, struct vib_packet *pkt, u32 era)
{
	vib_packet_release(pkt);
	percpu_ref_get(&tx->port->node->ref);
	pkt->held = tx;
	pkt->held_era = era;
	pkt->held_vl = pkt->vl;
	pkt->held_blocks = pkt->blocks;
}

/*
 * Packets that hold credits are bounded by the buffers that they are in.  Others, such as a
 * switch's copies of a multicast packet, are bounded here.
 */
static bool tx_has_room(const struct vib_tx *tx, const struct vib_packet *pkt)
{
	lockdep_assert_held(&tx->lock);
	return pkt->held || tx->queued[pkt->vl] < VIB_TX_MOST;
}

static void tx_queue(struct vib_tx *tx, struct vib_packet *pkt)
{
	unsigned long life = tx_lifetime(tx->port);

	lockdep_assert_held(&tx->lock);
	/* For one that is not at the head it begins when it is (18.2.5.4). */
	pkt->since = jiffies;
	list_add_tail(&pkt->entry, &tx->queue[pkt->vl]);
	tx->queued[pkt->vl]++;
	tx->total++;
	if (life && !timer_pending(&tx->lifetime))
		mod_timer(&tx->lifetime, jiffies + life);
}

/* Takes @pkt, which is at the head, out of its queue. */
static void tx_dequeue(struct vib_tx *tx, struct vib_packet *pkt)
{
	struct vib_packet *next;

	lockdep_assert_held(&tx->lock);
	list_del_init(&pkt->entry);
	tx->queued[pkt->vl]--;
	tx->total--;
	next = list_first_entry_or_null(&tx->queue[pkt->vl], struct vib_packet, entry);
	if (next)
		next->since = jiffies;
}

void vib_port_xmit(struct vib_port *port, struct vib_packet *pkt)
{
	struct vib_tx *tx = &port->tx;
	struct vib_port *peer;
	bool now = false;
	u32 era;

	rcu_read_lock_bh();
	peer = rcu_dereference_bh(port->peer);
	if (!peer || !vib_port_passes(port, pkt) || pkt->hops >= VIB_MAX_HOPS) {
		tx_discard(tx, pkt);
		goto out;
	}

	spin_lock(&tx->lock);
	if (tx->credits[pkt->vl] < pkt->blocks)
		vib_count(port, VIB_XMIT_WAIT, 1);
	/* What the work has taken from the queue is not delivered yet: packets stay in order. */
	if (!tx->working && list_empty(&tx->queue[pkt->vl]) && pkt->nested < VIB_MAX_NESTED)
		now = tx_take(tx, pkt);
	if (now) {
		pkt->nested++;
	} else if (tx_has_room(tx, pkt)) {
		tx_queue(tx, pkt);
		/* For one that only nested too deep there may be credits. */
		queue_work(vib_wq, &tx->work);
		pkt = NULL;
	}
	era = tx->era;
	spin_unlock(&tx->lock);
	if (now) {
		tx_hold(tx, pkt, era);
		tx_deliver(tx, peer, pkt);
	} else if (pkt) {
		tx_discard(tx, pkt);
	}
out:
	rcu_read_unlock_bh();
}

/*
 * The next packet to be sent, with its credits: of VL15 first (7.6.9), then of the data VLs
 * by turns.
 */
static struct vib_packet *tx_next(struct vib_tx *tx)
{
	struct vib_packet *pkt;
	unsigned int i, vl;

	lockdep_assert_held(&tx->lock);
	for (i = 0; i < VIB_VLS; i++) {
		vl = i ? (tx->last_vl + i) % VIB_VL_MGMT : VIB_VL_MGMT;
		pkt = list_first_entry_or_null(&tx->queue[vl], struct vib_packet, entry);
		if (!pkt || !tx_take(tx, pkt))
			continue;
		tx_dequeue(tx, pkt);
		if (i)
			tx->last_vl = vl;
		return pkt;
	}
	return NULL;
}

/* Lets those go on who wait for room. */
static void tx_wake(struct vib_tx *tx)
{
	struct vib_waiter *waiter, *next;

	lockdep_assert_held(&tx->lock);
	list_for_each_entry_safe(waiter, next, &tx->waiters, entry) {
		if (tx->queued[waiter->vl] >= VIB_TX_FULL)
			continue;
		list_del_init(&waiter->entry);
		queue_work(vib_wq, waiter->work);
	}
}

IBEX_STATIC_BH_WORK(tx_work)
{
	struct vib_tx *tx = container_of(work, struct vib_tx, work);
	unsigned int budget = VIB_TX_BUDGET;
	struct vib_packet *pkt;
	struct vib_port *peer;
	u32 era;

	rcu_read_lock_bh();
	peer = rcu_dereference_bh(tx->port->peer);
	for (;;) {
		spin_lock(&tx->lock);
		pkt = peer && budget ? tx_next(tx) : NULL;
		tx->working = pkt;
		if (!pkt)
			tx_wake(tx);
		era = tx->era;
		spin_unlock(&tx->lock);
		if (!pkt)
			break;
		pkt->nested = 1;
		budget--;
		tx_hold(tx, pkt, era);
		tx_deliver(tx, peer, pkt);
	}
	if (!budget)
		queue_work(vib_wq, work);
	rcu_read_unlock_bh();
}

void vib_tx_credit(struct vib_tx *tx, u8 vl, u16 blocks, u32 era)
{
	spin_lock_bh(&tx->lock);
	if (era == tx->era) {
		tx->credits[vl] += blocks;
		if (unlikely(tx->returned))
			tx->returned(tx, vl, blocks);
		if (tx->total || !list_empty(&tx->waiters))
			queue_work(vib_wq, &tx->work);
	}
	spin_unlock_bh(&tx->lock);
}

u32 vib_tx_room(struct vib_tx *tx, u8 vl)
{
	u32 room;

	spin_lock_bh(&tx->lock);
	room = tx->credits[vl];
	spin_unlock_bh(&tx->lock);
	return room;
}

bool vib_tx_admit(struct vib_tx *tx, struct vib_packet *pkt)
{
	bool room;
	u32 era;

	spin_lock_bh(&tx->lock);
	room = tx_take(tx, pkt);
	era = tx->era;
	spin_unlock_bh(&tx->lock);
	if (room)
		tx_hold(tx, pkt, era);
	return room;
}

/* Of each queue the head, if that has been there for longer than @life. */
static void tx_collect_old(struct vib_tx *tx, unsigned long life, struct list_head *old)
{
	struct vib_packet *pkt;
	unsigned int vl;

	lockdep_assert_held(&tx->lock);
	for (vl = 0; vl < VIB_VLS; vl++) {
		pkt = list_first_entry_or_null(&tx->queue[vl], struct vib_packet, entry);
		if (!pkt || time_before(jiffies, pkt->since + life))
			continue;
		tx_dequeue(tx, pkt);
		list_add_tail(&pkt->entry, old);
	}
}

static void tx_collect_all(struct vib_tx *tx, struct list_head *all)
{
	unsigned int vl;

	lockdep_assert_held(&tx->lock);
	for (vl = 0; vl < VIB_VLS; vl++) {
		list_splice_tail_init(&tx->queue[vl], all);
		tx->queued[vl] = 0;
	}
	tx->total = 0;
}

static void tx_discard_all(struct vib_tx *tx, struct list_head *packets)
{
	struct vib_packet *pkt, *next;

	list_for_each_entry_safe(pkt, next, packets, entry) {
		list_del_init(&pkt->entry);
		tx_discard(tx, pkt);
	}
}

static void tx_lifetime_over(struct timer_list *timer)
{
	struct vib_tx *tx = from_timer(tx, timer, lifetime);
	unsigned long life = tx_lifetime(tx->port);
	LIST_HEAD(old);

	spin_lock_bh(&tx->lock);
	if (life)
		tx_collect_old(tx, life, &old);
	if (life && tx->total)
		mod_timer(&tx->lifetime, jiffies + life);
	spin_unlock_bh(&tx->lock);
	tx_discard_all(tx, &old);
}

bool vib_port_ready(struct vib_port *port, u8 vl, struct vib_waiter *waiter)
{
	struct vib_tx *tx = &port->tx;
	bool ready;

	spin_lock_bh(&tx->lock);
	ready = tx->queued[vl] < VIB_TX_FULL;
	if (!ready)
		waiter->vl = vl;
	if (!ready && list_empty(&waiter->entry))
		list_add_tail(&waiter->entry, &tx->waiters);
	spin_unlock_bh(&tx->lock);
	return ready;
}

void vib_port_forget(struct vib_port *port, struct vib_waiter *waiter)
{
	spin_lock_bh(&port->tx.lock);
	list_del_init(&waiter->entry);
	spin_unlock_bh(&port->tx.lock);
}

void vib_tx_init(struct vib_tx *tx, struct vib_port *port)
{
	unsigned int vl;

	tx->port = port;
	spin_lock_init(&tx->lock);
	for (vl = 0; vl < VIB_VLS; vl++) {
		INIT_LIST_HEAD(&tx->queue[vl]);
		tx->credits[vl] = VIB_VL_CREDITS;
	}
	INIT_LIST_HEAD(&tx->waiters);
	INIT_WORK(&tx->work, tx_work);
	timer_setup(&tx->lifetime, tx_lifetime_over, 0);
}

void vib_tx_reset(struct vib_tx *tx)
{
	LIST_HEAD(queued);
	unsigned int vl;

	spin_lock_bh(&tx->lock);
	tx_collect_all(tx, &queued);
	tx->era++;
	for (vl = 0; vl < VIB_VLS; vl++)
		tx->credits[vl] = VIB_VL_CREDITS;
	tx_wake(tx);
	spin_unlock_bh(&tx->lock);
	tx_discard_all(tx, &queued);
}

/*
 * Nothing arms them again: nothing is queued without a peer, and no packet has credits of
 * this transmitter.
 */
void vib_tx_stop(struct vib_tx *tx)
{
	timer_shutdown_sync(&tx->lifetime);
	cancel_work_sync(&tx->work);
}
