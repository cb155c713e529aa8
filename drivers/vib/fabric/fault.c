// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Faults of a link: what becomes of packets between a transmitter and the other end.
 *
 * A transmitter hands its packets to a struct vib_fault_way as long as vib_tx.fault points
 * there: from when a fault is set until none is and the last late packet has arrived.  A
 * packet that is late waits on the way's list.  A timer for the first of them queues the
 * work, which hands over all that are due.  Later packets go behind those on the list, and
 * behind the one that the work is handing over: a way never changes the order.
 *
 * Late packets keep the credits of the buffer that they are sent to, as on a long cable.  So
 * no more of them wait than the buffer takes, and a duplicate of each.
 */
#include <linux/siphash.h>
#include <rdma/ib_mad.h>
#include "fabric/fabric.h"

/* So many packets are handed over before other work has its turn. */
#define FAULT_BUDGET	64

/* ---- which packets are struck ---- */

static bool fault_is_set(const struct vib_fault *fault)
{
	unsigned int kind;

	lockdep_assert_held(&fault->lock);
	for (kind = 0; kind < VIB_FAULT_KINDS; kind++) {
		if (fault->rate[kind])
			return true;
	}
	return fault->delay;
}

/*
 * Each kind has a random number of its own for each packet, so that a change of one rate
 * does not change which packets the others strike.
 */
static bool way_strikes(const struct vib_fault_way *way, u64 number, enum vib_fault_kind kind)
{
	const struct vib_fault *fault = way->fault;
	const struct vib_port *port = way->tx->port;
	const siphash_key_t key = { { fault->seed, be64_to_cpu(port->node->guid) } };
	u32 random;

	if (!fault->rate[kind])
		return false;
	random = siphash_3u64(number, port->num, kind, &key);
	return reciprocal_scale(random, VIB_FAULT_ALL) < fault->rate[kind];
}

/* Whether the rates are for @pkt: MADs are datagrams to QP0 and QP1. */
static bool fault_matches(const struct vib_fault *fault, struct vib_packet *pkt)
{
	struct ib_other_headers *bth = vib_packet_bth(pkt);
	u16 attr = fault->match & 0xffff;
	struct ib_mad_hdr mad;

	lockdep_assert_held(&fault->lock);
	if (!fault->match)
		return true;
	if (ib_bth_get_opcode(bth) != IB_OPCODE_UD_SEND_ONLY || ib_bth_get_qpn(bth) > 1 ||
	    !vib_packet_read(pkt, 0, &mad, sizeof(mad)))
		return false;
	return mad.mgmt_class == fault->match >> 16 && (!attr || be16_to_cpu(mad.attr_id) == attr);
}

/* What strikes @pkt, the next one: bits of enum vib_fault_kind. */
static unsigned long way_next_faults(struct vib_fault_way *way, struct vib_packet *pkt)
{
	unsigned long faults = 0;
	unsigned int kind;
	u64 number;

	lockdep_assert_held(&way->fault->lock);
	if (!fault_matches(way->fault, pkt))
		return 0;
	number = way->number++;
	for (kind = 0; kind < VIB_FAULT_KINDS; kind++) {
		if (way_strikes(way, number, kind))
			faults |= BIT(kind);
	}
	/* What is lost comes neither twice nor damaged. */
	return faults & BIT(VIB_FAULT_DROP) ? BIT(VIB_FAULT_DROP) : faults;
}

static void way_count(struct vib_fault_way *way, unsigned long faults)
{
	unsigned int kind;

	lockdep_assert_held(&way->fault->lock);
	for_each_set_bit(kind, &faults, VIB_FAULT_KINDS)
		way->struck[kind]++;
}

/* ---- on their way ---- */

static void way_delay(struct vib_fault_way *way, struct vib_packet *pkt)
{
	lockdep_assert_held(&way->fault->lock);
	pkt->due = ktime_add_us(ktime_get(), way->fault->delay);
	list_add_tail(&pkt->entry, &way->late);
	if (list_is_singular(&way->late))
		hrtimer_start(&way->timer, pkt->due, HRTIMER_MODE_ABS);
}

/* The packet has left the buffer that it was in, and is in none. */
static void way_lose(struct vib_tx *tx, struct vib_packet *pkt)
{
	bool smp = pkt->vl == VIB_VL_MGMT;

	vib_packet_free(pkt);
	if (smp)
		vib_port_sent_smp(tx->port);
}

void vib_fault_send(struct vib_fault_way *way, struct vib_port *peer, struct vib_packet *pkt)
{
	struct vib_fault *fault = way->fault;
	struct vib_packet *copy = NULL;
	unsigned long faults;
	struct vib_tx *tx;
	bool late;

	spin_lock(&fault->lock);
	tx = way->tx;
	faults = way_next_faults(way, pkt);
	if (faults & BIT(VIB_FAULT_DUP)) {
		copy = vib_packet_clone(pkt, GFP_ATOMIC | __GFP_NOWARN);
		if (!copy)
			faults &= ~BIT(VIB_FAULT_DUP);
	}
	way_count(way, faults);
	pkt->corrupt = faults & BIT(VIB_FAULT_CORRUPT);
	late = fault->delay || way->arriving || !list_empty(&way->late);
	if (late && !(faults & BIT(VIB_FAULT_DROP))) {
		way_delay(way, pkt);
		if (copy)
			way_delay(way, copy);
	}
	spin_unlock(&fault->lock);

	if (faults & BIT(VIB_FAULT_DROP)) {
		way_lose(tx, pkt);
	} else if (!late) {
		vib_tx_arrive(tx, peer, pkt);
		if (copy)
			vib_tx_arrive(tx, peer, copy);
	}
}

/* ---- late arrivals ---- */

static struct vib_packet *way_due(struct vib_fault_way *way)
{
	struct vib_packet *pkt;

	lockdep_assert_held(&way->fault->lock);
	pkt = list_first_entry_or_null(&way->late, struct vib_packet, entry);
	if (!pkt || ktime_after(pkt->due, ktime_get()))
		return NULL;
	list_del_init(&pkt->entry);
	return pkt;
}

/* Has the transmitter use the way, or not any more. */
static void way_attach(struct vib_fault_way *way)
{
	lockdep_assert_held(&way->fault->lock);
	if (!way->tx)
		return;
	if (fault_is_set(way->fault))
		rcu_assign_pointer(way->tx->fault, way);
	else if (list_empty(&way->late) && !way->arriving)
		RCU_INIT_POINTER(way->tx->fault, NULL);
}

/*
 * The peer is looked up before a packet is taken off the list: whoever sees it is waited for
 * by link_down() before vib_fault_reset() loses the rest, so that no packet of a link that
 * went down arrives by one that came up since.  Without a peer, what is on the list is left
 * to vib_fault_reset().
 */
IBEX_STATIC_BH_WORK(way_work)
{
	struct vib_fault_way *way = container_of(work, struct vib_fault_way, work);
	struct vib_fault *fault = way->fault;
	struct vib_port *peer = NULL;
	int budget = FAULT_BUDGET;
	struct vib_packet *pkt;
	struct vib_tx *tx;

	rcu_read_lock_bh();
	spin_lock(&fault->lock);
	tx = way->tx;
	if (tx)
		peer = rcu_dereference_bh(tx->port->peer);
	while (peer && budget-- && (pkt = way_due(way))) {
		way->arriving = true;
		spin_unlock(&fault->lock);
		pkt->nested = 1;
		vib_tx_arrive(tx, peer, pkt);
		spin_lock(&fault->lock);
	}
	way->arriving = false;
	pkt = list_first_entry_or_null(&way->late, struct vib_packet, entry);
	if (!pkt)
		way_attach(way);
	else if (peer)
		hrtimer_start(&way->timer, pkt->due, HRTIMER_MODE_ABS);
	spin_unlock(&fault->lock);
	rcu_read_unlock_bh();
}

static enum hrtimer_restart way_timer(struct hrtimer *timer)
{
	struct vib_fault_way *way = container_of(timer, struct vib_fault_way, timer);

	queue_work(vib_wq, &way->work);
	return HRTIMER_NORESTART;
}

/* ---- settings ---- */

/* What is late is due no later than what is sent now. */
static void way_hurry(struct vib_fault_way *way)
{
	ktime_t latest = ktime_add_us(ktime_get(), way->fault->delay);
	struct vib_packet *pkt;

	lockdep_assert_held(&way->fault->lock);
	list_for_each_entry(pkt, &way->late, entry)
		pkt->due = min(pkt->due, latest);
	if (!list_empty(&way->late))
		queue_work(vib_wq, &way->work);
}

static void fault_changed(struct vib_fault *fault)
{
	unsigned int i;

	lockdep_assert_held(&fault->lock);
	for (i = 0; i < ARRAY_SIZE(fault->way); i++) {
		way_attach(&fault->way[i]);
		way_hurry(&fault->way[i]);
	}
}

int vib_fault_set_rate(struct vib_fault *fault, enum vib_fault_kind kind, u32 rate)
{
	if (rate > VIB_FAULT_ALL)
		return -ERANGE;
	spin_lock_bh(&fault->lock);
	WRITE_ONCE(fault->rate[kind], rate);
	fault_changed(fault);
	spin_unlock_bh(&fault->lock);
	return 0;
}

int vib_fault_set_delay(struct vib_fault *fault, u32 us)
{
	if (us > VIB_FAULT_MAX_DELAY)
		return -ERANGE;
	spin_lock_bh(&fault->lock);
	WRITE_ONCE(fault->delay, us);
	fault_changed(fault);
	spin_unlock_bh(&fault->lock);
	return 0;
}

int vib_fault_set_match(struct vib_fault *fault, u32 match)
{
	if (match && (match < VIB_FAULT_MATCH(1, 0) || match > VIB_FAULT_MATCH_MAX))
		return -EINVAL;
	spin_lock_bh(&fault->lock);
	WRITE_ONCE(fault->match, match);
	spin_unlock_bh(&fault->lock);
	return 0;
}

void vib_fault_set_seed(struct vib_fault *fault, u64 seed)
{
	unsigned int i;

	spin_lock_bh(&fault->lock);
	WRITE_ONCE(fault->seed, seed);
	for (i = 0; i < ARRAY_SIZE(fault->way); i++)
		fault->way[i].number = 0;
	spin_unlock_bh(&fault->lock);
}

u64 vib_fault_struck(struct vib_fault *fault, enum vib_fault_kind kind)
{
	u64 sum;

	spin_lock_bh(&fault->lock);
	sum = fault->way[0].struck[kind] + fault->way[1].struck[kind];
	spin_unlock_bh(&fault->lock);
	return sum;
}

/* ---- the link ---- */

static void way_init(struct vib_fault_way *way, struct vib_fault *fault)
{
	way->fault = fault;
	INIT_LIST_HEAD(&way->late);
	hrtimer_init(&way->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	way->timer.function = way_timer;
	INIT_WORK(&way->work, way_work);
}

void vib_fault_init(struct vib_fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	spin_lock_init(&fault->lock);
	way_init(&fault->way[0], fault);
	way_init(&fault->way[1], fault);
}

void vib_fault_plug(struct vib_fault *fault, struct vib_tx *a, struct vib_tx *b)
{
	spin_lock_bh(&fault->lock);
	fault->way[0].tx = a;
	fault->way[1].tx = b;
	way_attach(&fault->way[0]);
	way_attach(&fault->way[1]);
	spin_unlock_bh(&fault->lock);
}

void vib_fault_reset(struct vib_fault *fault)
{
	struct vib_packet *pkt, *next;
	LIST_HEAD(lost);

	spin_lock_bh(&fault->lock);
	list_splice_tail_init(&fault->way[0].late, &lost);
	list_splice_tail_init(&fault->way[1].late, &lost);
	spin_unlock_bh(&fault->lock);
	list_for_each_entry_safe(pkt, next, &lost, entry) {
		list_del_init(&pkt->entry);
		vib_packet_free(pkt);
	}
}

/*
 * Nobody is in vib_fault_send(): a transmitter comes there only if it saw a peer, and the
 * link is down for a grace period.
 */
void vib_fault_unplug(struct vib_fault *fault)
{
	unsigned int i;

	spin_lock_bh(&fault->lock);
	for (i = 0; i < ARRAY_SIZE(fault->way); i++) {
		if (fault->way[i].tx)
			RCU_INIT_POINTER(fault->way[i].tx->fault, NULL);
		fault->way[i].tx = NULL;
	}
	spin_unlock_bh(&fault->lock);
}

/*
 * Why nothing uses the faults afterwards: (1) no transmitter refers to them, nor does any
 * call vib_fault_send(), since vib_fault_unplug(); (2) so the lists, which vib_fault_reset()
 * emptied, stay empty, and neither the work nor a new setting arms the timer or queues the
 * work again; (3) the timer, which queued the work, has ended before the work is waited for.
 */
void vib_fault_stop(struct vib_fault *fault)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fault->way); i++) {
		WARN_ON(!list_empty(&fault->way[i].late));
		hrtimer_cancel(&fault->way[i].timer);
		cancel_work_sync(&fault->way[i].work);
	}
}
