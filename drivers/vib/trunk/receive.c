// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What comes to a trunk.  Any datagram may: only what is from the peer's address, well formed,
 * of the present sessions, in order and within its credits is taken.  The rest is dropped;
 * each reason has a counter.
 */
#include <linux/slab.h>
#include "trunk/trunk.h"

/* So many datagrams are taken in before other works have their turn. */
#define RECEIVE_BUDGET	64

static void trunk_count(struct vib_trunk *trunk, enum vib_trunk_counter which)
{
	spin_lock_bh(&trunk->lock);
	trunk->count[which]++;
	spin_unlock_bh(&trunk->lock);
}

/* ---- of the present sessions, in order ---- */

static bool in_session(struct vib_trunk *trunk, const struct vib_trunk_msg *msg)
{
	lockdep_assert_held(&trunk->lock);
	if (!vib_trunk_is_of(&trunk->session, msg->from, msg->to)) {
		trunk->count[VIB_TRUNK_STRAY]++;
		return false;
	}
	trunk->last_rx = jiffies;
	return true;
}

/*
 * A link keeps the order of packets, so what was overtaken is dropped.  It was counted as lost
 * when the later one came.
 */
static bool in_order(struct vib_trunk *trunk, u32 seq)
{
	enum vib_flow_verdict verdict;
	s32 lost;

	lockdep_assert_held(&trunk->lock);
	verdict = vib_flow_sequence(&trunk->flow, seq, &lost);
	trunk->count[VIB_TRUNK_LOST] += lost;
	if (verdict == VIB_FLOW_DUPLICATE)
		trunk->count[VIB_TRUNK_DUPLICATES]++;
	else if (verdict == VIB_FLOW_LATE)
		trunk->count[VIB_TRUNK_LATE]++;
	return verdict == VIB_FLOW_NEXT;
}

/* ---- CREDIT ---- */

static void take_credit(struct vib_trunk *trunk, const struct vib_trunk_msg *msg)
{
	bool more = false;
	unsigned int vl;
	u32 lost;

	spin_lock_bh(&trunk->lock);
	if (!in_session(trunk, msg) || !in_order(trunk, msg->seq))
		goto out;
	for (vl = 0; vl < VIB_VLS; vl++) {
		more |= vib_flow_limit(&trunk->flow, vl, msg->credit.limit[vl]);
		if (!vib_flow_recover(&trunk->flow, vl, msg->credit.sent[vl], &lost))
			trunk->count[VIB_TRUNK_OVERRUNS]++;
		else
			atomic_add(lost, &trunk->back[vl]);
	}
	if (msg->flags & VIB_TRUNK_WANT)
		trunk->credit_due = true;
	queue_work(vib_trunk_wq, &trunk->send);
out:
	spin_unlock_bh(&trunk->lock);
}

/* ---- DATA ---- */

static struct vib_packet *make_packet(const struct vib_trunk_parts *parts, const u8 *buf)
{
	struct vib_packet *pkt = vib_packet_alloc(GFP_NOIO);
	struct vib_payload *payload;

	if (!pkt)
		return NULL;
	memcpy(&pkt->hdr, buf + parts->hdr_at, parts->hdr_len);
	pkt->hdr_len = parts->hdr_len;
	pkt->vl = parts->vl;
	pkt->hops = parts->hops;
	pkt->blocks = parts->blocks;
	if (!parts->len)
		return pkt;
	payload = vib_payload_alloc(parts->len, GFP_NOIO);
	if (!payload) {
		vib_packet_free(pkt);
		return NULL;
	}
	memcpy(payload->data, buf + parts->at, parts->len);
	vib_packet_attach(pkt, payload, 0, parts->len);
	vib_payload_put(payload);
	return pkt;
}

/* Whether the real port has @vl. */
static bool has_vl(const struct vib_trunk *trunk, u8 vl)
{
	lockdep_assert_held(&trunk->lock);
	return vl == VIB_VL_MGMT || vl < trunk->own.vls;
}

/* Takes the room for @pkt in this end's buffer, if the sender had the credits. */
static bool admit(struct vib_trunk *trunk, const struct vib_trunk_msg *msg,
		  struct vib_packet *pkt)
{
	u32 lost;

	lockdep_assert_held(&trunk->lock);
	if (!in_session(trunk, msg) || !in_order(trunk, msg->seq))
		return false;
	if (!has_vl(trunk, pkt->vl)) {
		trunk->count[VIB_TRUNK_MALFORMED]++;
		return false;
	}
	if (!vib_flow_receive(&trunk->flow, pkt->vl, msg->data.total, pkt->blocks, &lost) ||
	    WARN_ON_ONCE(!vib_tx_admit(&vib_trunk_net(trunk)->tx, pkt))) {
		trunk->count[VIB_TRUNK_OVERRUNS]++;
		return false;
	}
	atomic_add(lost, &trunk->back[pkt->vl]);
	trunk->count[VIB_TRUNK_RECEIVED]++;
	return true;
}

static void take_data(struct vib_trunk *trunk, const struct vib_trunk_msg *msg, const void *buf)
{
	struct vib_packet *pkt = make_packet(&msg->data, buf);
	bool admitted;

	/* Lost: the next total makes up for its credits. */
	if (!pkt) {
		trunk_count(trunk, VIB_TRUNK_NO_MEMORY);
		return;
	}
	spin_lock_bh(&trunk->lock);
	admitted = admit(trunk, msg, pkt);
	spin_unlock_bh(&trunk->lock);
	if (admitted)
		vib_port_xmit(vib_trunk_far(trunk), pkt);
	else
		vib_packet_free(pkt);
}

/* ---- datagrams ---- */

void vib_trunk_datagram(struct vib_trunk *trunk, const struct sockaddr_storage *from,
			const void *buf, size_t len)
{
	struct vib_trunk_msg msg;

	if (!vib_trunk_same_address(from, &trunk->peer)) {
		trunk_count(trunk, VIB_TRUNK_FOREIGN);
		return;
	}
	if (vib_trunk_parse(buf, len, &msg)) {
		trunk_count(trunk, VIB_TRUNK_MALFORMED);
		return;
	}
	switch (msg.type) {
	case VIB_TRUNK_HELLO:
		spin_lock_bh(&trunk->lock);
		vib_trunk_hello(trunk, &msg);
		spin_unlock_bh(&trunk->lock);
		break;
	case VIB_TRUNK_CREDIT:
		take_credit(trunk, &msg);
		break;
	default:
		take_data(trunk, &msg, buf);
		break;
	}
}

void vib_trunk_receive_work(struct work_struct *work)
{
	struct vib_trunk *trunk = container_of(work, struct vib_trunk, receive);
	unsigned int budget = RECEIVE_BUDGET;
	struct sockaddr_storage from;
	int len;

	while (budget--) {
		len = vib_trunk_next_datagram(trunk, &from);
		if (len == -EAGAIN)
			return;
		/* Of another error the socket is rid when it has told it. */
		if (len >= 0)
			vib_trunk_datagram(trunk, &from, trunk->rx_buf, len);
	}
	queue_work(vib_trunk_wq, work);
}
