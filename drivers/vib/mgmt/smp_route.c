// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Directed routes at a switch, hop by hop (IBA vol. 1, 14.2.2).
 *
 * A route has hop_cnt hops; hop_ptr tells how many of them the SMP has made.  Outbound
 * hop_ptr counts up, and hop_cnt + 1 means that the SMP has reached the last node's SMA, or
 * is forwarded to DrDLID by LID.  Inbound hop_ptr counts down, and 0 means that the SMP has
 * reached the requester, or is forwarded to DrSLID by LID.  On the directed part of the
 * route, both LIDs of a packet are permissive.
 *
 * No subnet manager runs on a switch: an SMP that returns to a switch is discarded.
 */
#include <linux/slab.h>
#include "mgmt/mgmt.h"
#include "switch/switch.h"

#define SMP_MAX_HOPS	(IB_SMP_MAX_PATH_HOPS - 1)	/* entry 0 of a path is not used */

/* ---- the next hop ---- */

static struct vib_smp_next next_discard(void)
{
	return (struct vib_smp_next){ .verdict = VIB_SMP_DISCARD };
}

static struct vib_smp_next next_port(const struct vib_node *node, u8 port)
{
	if (!port || port > node->num_ports)
		return next_discard();
	return (struct vib_smp_next){ .verdict = VIB_SMP_SEND, .out = port };
}

/* The directed part ends here.  If @to is not permissive, a LID-routed part follows. */
static struct vib_smp_next next_end(__be16 to)
{
	u16 lid = be16_to_cpu(to);

	if (lid == VIB_LID_PERMISSIVE)
		return (struct vib_smp_next){ .verdict = VIB_SMP_LOCAL };
	if (!lid || lid >= VIB_LID_MCAST)
		return next_discard();
	return (struct vib_smp_next){ .verdict = VIB_SMP_LID, .lid = lid };
}

/* C14-9, by its numbers. */
static struct vib_smp_next hop_outbound(const struct vib_node *node, u8 in,
					struct ib_smp *smp)
{
	u8 ptr = smp->hop_ptr;

	/* 1: the first hop, after a LID-routed part */
	if (smp->hop_cnt && !ptr) {
		smp->hop_ptr = 1;
		return next_port(node, smp->initial_path[1]);
	}
	/* 2: in the middle */
	if (ptr < smp->hop_cnt) {
		smp->return_path[ptr] = in;
		smp->hop_ptr = ptr + 1;
		return next_port(node, smp->initial_path[ptr + 1]);
	}
	/* 3: the end of the directed part */
	if (ptr == smp->hop_cnt) {
		if (ptr)
			smp->return_path[ptr] = in;
		smp->hop_ptr = ptr + 1;
		return next_end(smp->dr_dlid);
	}
	/* 4: the end of the LID-routed part behind it; 5: no valid hop pointer */
	if (ptr == smp->hop_cnt + 1)
		return next_end(IB_LID_PERMISSIVE);
	return next_discard();
}

/* C14-13, by its numbers. */
static struct vib_smp_next hop_inbound(const struct vib_node *node, struct ib_smp *smp)
{
	u8 ptr = smp->hop_ptr;

	/* 1: the first hop of the response; 2: in the middle */
	if (ptr > 1 && ptr <= smp->hop_cnt + 1) {
		smp->hop_ptr = ptr - 1;
		return next_port(node, smp->return_path[ptr - 1]);
	}
	/* 3: the start of the directed part */
	if (ptr == 1) {
		smp->hop_ptr = 0;
		return next_end(smp->dr_slid);
	}
	/* 4: the end of the LID-routed part before it; 5: no valid hop pointer */
	return ptr ? next_discard() : next_end(IB_LID_PERMISSIVE);
}

struct vib_smp_next vib_smp_hop(const struct vib_node *node, u8 in, struct ib_smp *smp)
{
	if (smp->hop_cnt > SMP_MAX_HOPS || smp->hop_ptr > SMP_MAX_HOPS + 1)
		return next_discard();
	return ib_get_smp_direction(smp) ? hop_inbound(node, smp) :
					   hop_outbound(node, in, smp);
}

/* ---- MADs of packets ---- */

static bool mad_valid(struct vib_packet *pkt)
{
	u16 hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES;

	if (vib_packet_has_grh(pkt))
		hdr_len += IB_GRH_BYTES;
	return pkt->hdr_len == hdr_len && pkt->len == IB_MGMT_MAD_SIZE &&
	       vib_packet_bth_valid(pkt) &&
	       ib_bth_get_opcode(vib_packet_bth(pkt)) == IB_OPCODE_UD_SEND_ONLY;
}

/* Whether the MAD is in data[] of a payload that nothing else refers to. */
static bool mad_is_own(const struct vib_packet *pkt)
{
	const struct vib_payload *payload = pkt->payload;

	return refcount_read(&payload->ref) == 1 && payload->vec == &payload->own &&
	       !payload->release && payload->len == IB_MGMT_MAD_SIZE && !pkt->offset;
}

void vib_mad_replace(struct vib_packet *pkt, struct vib_payload *mad)
{
	vib_payload_put(pkt->payload);
	pkt->payload = mad;
	pkt->offset = 0;
	pkt->len = IB_MGMT_MAD_SIZE;
}

void *vib_mad_own(struct vib_packet *pkt)
{
	struct vib_payload *copy;

	if (!mad_valid(pkt))
		return NULL;
	if (mad_is_own(pkt))
		return pkt->payload->data;
	copy = vib_payload_alloc(IB_MGMT_MAD_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return NULL;
	if (!vib_packet_read(pkt, 0, copy->data, IB_MGMT_MAD_SIZE)) {
		vib_payload_put(copy);
		return NULL;
	}
	vib_mad_replace(pkt, copy);
	return copy->data;
}

/* ---- forwarding ---- */

static void smp_discard(struct vib_port *in, struct vib_packet *pkt)
{
	vib_count(in, VIB_VL15_DROPPED, 1);
	vib_packet_free(pkt);
}

/* Forwards an SMP that came in by @in, or sends the response to it. */
static void smp_send(struct vib_port *in, struct vib_packet *pkt, struct vib_smp_next next)
{
	struct vib_port *port0 = &in->node->ports[0];

	switch (next.verdict) {
	case VIB_SMP_SEND:
		vib_packet_finish(pkt, VIB_VL_MGMT, 0, VIB_LID_PERMISSIVE,
				  VIB_LID_PERMISSIVE);
		vib_port_xmit(&in->node->ports[next.out], pkt);
		break;
	case VIB_SMP_LID:
		vib_packet_finish(pkt, VIB_VL_MGMT, 0, next.lid, READ_ONCE(port0->lid));
		vib_switch_receive(port0, pkt);
		break;
	default:
		smp_discard(in, pkt);
		break;
	}
}

/*
 * Has the SMA answer @smp, the MAD of @pkt.  If the last part of the route was LID routed, so
 * is the first part of the response's (14.2.2.3); otherwise it starts with a directed hop.
 */
static void smp_answer(struct vib_port *in, struct vib_packet *pkt, struct ib_smp *smp)
{
	bool by_lid = smp->dr_dlid != IB_LID_PERMISSIVE;
	struct vib_payload *answer;

	answer = vib_switch_answer(in, vib_packet_slid(pkt), (struct ib_mad *)smp);
	if (!answer) {
		vib_packet_free(pkt);
		return;
	}
	if (by_lid) {
		vib_switch_reply(in, pkt, answer);
		return;
	}
	vib_mad_replace(pkt, answer);
	/* The response is a new packet: its path may be as long as the request's. */
	pkt->hops = 0;
	smp = (struct ib_smp *)answer->data;
	smp_send(in, pkt, vib_smp_hop(in->node, in->num, smp));
}

void vib_smp_route(struct vib_port *port, struct vib_packet *pkt)
{
	struct ib_smp *smp = vib_mad_own(pkt);
	struct vib_smp_next next;

	if (!smp || vib_packet_has_grh(pkt) || ib_bth_get_qpn(vib_packet_bth(pkt))) {
		smp_discard(port, pkt);
		return;
	}
	/* A LID-routed SMP to the permissive LID is for the next node (4.1.3). */
	if (smp->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		vib_switch_agent(to_vib_switch(port->node), port, pkt);
		return;
	}
	next = vib_smp_hop(port->node, port->num, smp);
	if (next.verdict == VIB_SMP_LOCAL && !ib_get_smp_direction(smp))
		smp_answer(port, pkt, smp);
	else
		smp_send(port, pkt, next);
}
