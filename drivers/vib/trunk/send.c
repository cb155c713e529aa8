// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a trunk sends: HELLOs, CREDITs, and packets as far as the peer has given credits. */
#include <linux/slab.h>
#include "trunk/trunk.h"

/* So many messages are sent before other works have their turn. */
#define SEND_BUDGET	64
/* The peer is told of room once a quarter of a VL's buffer has become free. */
#define TELL_AFTER	(VIB_VL_CREDITS / 4)
/* So long packets wait for credits before the peer is asked whether a message was lost. */
#define PROBE_TIME	msecs_to_jiffies(10)

/* ---- the queues ---- */

void vib_trunk_queue(struct vib_port *port, struct vib_packet *pkt)
{
	struct vib_trunk *trunk = container_of(port->node, struct vib_trunk, node);

	spin_lock_bh(&trunk->lock);
	if (trunk->carrying) {
		list_add_tail(&pkt->entry, &trunk->queue[pkt->vl]);
		queue_work(vib_trunk_wq, &trunk->send);
		pkt = NULL;
	}
	spin_unlock_bh(&trunk->lock);
	if (pkt)
		vib_packet_free(pkt);
}

void vib_trunk_take_all(struct vib_trunk *trunk, struct list_head *packets)
{
	unsigned int vl;

	lockdep_assert_held(&trunk->lock);
	for (vl = 0; vl < VIB_VLS; vl++)
		list_splice_tail_init(&trunk->queue[vl], packets);
}

void vib_trunk_free_all(struct list_head *packets)
{
	struct vib_packet *pkt, *next;

	list_for_each_entry_safe(pkt, next, packets, entry) {
		list_del_init(&pkt->entry);
		vib_packet_free(pkt);
	}
}

/* As tx_next() of a port: VL15 first (7.6.9), then the data VLs by turns. */
static struct vib_packet *next_packet(struct vib_trunk *trunk)
{
	struct vib_packet *pkt;
	unsigned int i, vl;

	lockdep_assert_held(&trunk->lock);
	for (i = 0; i < VIB_VLS; i++) {
		vl = i ? (trunk->last_vl + i) % VIB_VL_MGMT : VIB_VL_MGMT;
		pkt = list_first_entry_or_null(&trunk->queue[vl], struct vib_packet, entry);
		if (!pkt || !vib_flow_send(&trunk->flow, vl, pkt->blocks))
			continue;
		list_del_init(&pkt->entry);
		if (i)
			trunk->last_vl = vl;
		return pkt;
	}
	return NULL;
}

static bool packets_wait(const struct vib_trunk *trunk)
{
	unsigned int vl;

	lockdep_assert_held(&trunk->lock);
	for (vl = 0; vl < VIB_VLS; vl++) {
		if (!list_empty(&trunk->queue[vl]))
			return true;
	}
	return false;
}

/* ---- credits that the peer gets ---- */

void vib_trunk_returned(struct vib_tx *tx, u8 vl, u16 blocks)
{
	struct vib_trunk *trunk = container_of(tx->port->node, struct vib_trunk, node);

	if (atomic_add_return(blocks, &trunk->back[vl]) >= TELL_AFTER)
		queue_work(vib_trunk_wq, &trunk->send);
}

static bool room_to_tell(const struct vib_trunk *trunk)
{
	unsigned int vl;

	for (vl = 0; vl < VIB_VLS; vl++) {
		if (atomic_read(&trunk->back[vl]) >= TELL_AFTER)
			return true;
	}
	return false;
}

/* What comes back from here on is counted for the next. */
static void fill_credit(struct vib_trunk *trunk, struct vib_trunk_msg *msg)
{
	struct vib_tx *tx = &vib_trunk_net(trunk)->tx;
	unsigned int vl;

	lockdep_assert_held(&trunk->lock);
	for (vl = 0; vl < VIB_VLS; vl++) {
		atomic_set(&trunk->back[vl], 0);
		msg->credit.sent[vl] = trunk->flow.vl[vl].sent;
		msg->credit.limit[vl] = vib_flow_tell(&trunk->flow, vl, vib_tx_room(tx, vl));
	}
}

/* ---- the next message ---- */

static bool next_hello(struct vib_trunk *trunk, struct vib_trunk_msg *msg)
{
	bool ready;

	lockdep_assert_held(&trunk->lock);
	/* Before a port is plugged in there is nothing to tell. */
	if (!trunk->own.guid || (!trunk->hello_due && !trunk->challenge))
		return false;
	ready = vib_trunk_port_ready(trunk) && trunk->session.state != VIB_TRUNK_POLLING;
	msg->type = VIB_TRUNK_HELLO;
	msg->hello = trunk->own;
	msg->to = trunk->session.peer;
	if (trunk->hello_due) {
		trunk->hello_due = false;
	} else {
		msg->to = trunk->challenge;
		trunk->challenge = 0;
	}
	if (ready)
		msg->flags |= VIB_TRUNK_READY;
	if (READ_ONCE(vib_trunk_far(trunk)->phys_state) == IB_PORT_PHYS_STATE_LINK_UP)
		msg->flags |= VIB_TRUNK_LINKED;
	return true;
}

static bool next_credit(struct vib_trunk *trunk, struct vib_trunk_msg *msg)
{
	lockdep_assert_held(&trunk->lock);
	if (trunk->session.state != VIB_TRUNK_UP || (!trunk->credit_due && !room_to_tell(trunk)))
		return false;
	msg->type = VIB_TRUNK_CREDIT;
	msg->seq = trunk->flow.tx_seq++;
	if (trunk->want)
		msg->flags |= VIB_TRUNK_WANT;
	trunk->credit_due = false;
	trunk->want = false;
	fill_credit(trunk, msg);
	return true;
}

/* The next message into @msg; with its packet, if it has one.  False: there is none. */
static bool next_message(struct vib_trunk *trunk, struct vib_trunk_msg *msg,
			 struct vib_packet **pkt)
{
	bool any = true;

	*pkt = NULL;
	spin_lock_bh(&trunk->lock);
	msg->flags = 0;
	msg->from = trunk->session.own;
	msg->to = trunk->session.peer;
	if (next_hello(trunk, msg) || next_credit(trunk, msg))
		goto out;
	*pkt = trunk->carrying ? next_packet(trunk) : NULL;
	any = *pkt;
	if (any) {
		msg->type = VIB_TRUNK_DATA;
		msg->seq = trunk->flow.tx_seq++;
		msg->data.total = trunk->flow.vl[(*pkt)->vl].sent;
		trunk->count[VIB_TRUNK_SENT]++;
	} else if (packets_wait(trunk)) {
		queue_delayed_work(vib_trunk_wq, &trunk->probe, PROBE_TIME);
	}
out:
	spin_unlock_bh(&trunk->lock);
	return any;
}

static void count_error(struct vib_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	trunk->count[VIB_TRUNK_SEND_ERRORS]++;
	spin_unlock_bh(&trunk->lock);
}

void vib_trunk_send_work(struct work_struct *work)
{
	struct vib_trunk *trunk = container_of(work, struct vib_trunk, send);
	unsigned int sent;
	struct vib_trunk_msg msg;
	struct vib_packet *pkt;
	size_t len;

	for (sent = 0; sent < SEND_BUDGET; sent++) {
		if (!next_message(trunk, &msg, &pkt))
			return;
		if (pkt)
			len = vib_trunk_put_packet(trunk->tx_buf, &msg, pkt);
		else
			len = vib_trunk_put(trunk->tx_buf, &msg);
		if (vib_trunk_send_datagram(trunk, trunk->tx_buf, len))
			count_error(trunk);
		if (pkt)
			vib_packet_free(pkt);
	}
	queue_work(vib_trunk_wq, work);
}

/*
 * Packets have waited for credits, of which the peer would have told us as soon as it has
 * some: unless that message was lost, or the packets before were, so that the peer does not
 * know of the room that they do not take.
 */
void vib_trunk_probe_work(struct work_struct *work)
{
	struct vib_trunk *trunk = container_of(to_delayed_work(work), struct vib_trunk, probe);

	spin_lock_bh(&trunk->lock);
	if (packets_wait(trunk)) {
		trunk->credit_due = true;
		trunk->want = true;
		trunk->count[VIB_TRUNK_WAITS]++;
		queue_work(vib_trunk_wq, &trunk->send);
	}
	spin_unlock_bh(&trunk->lock);
}
