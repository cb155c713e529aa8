// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The management entity behind port 0 of a switch (IBA vol. 1, 18.2.4.1): it answers MADs
 * that are sent to the switch's LID.  Queue pair 0 is the SMA, 1 the PMA.
 */
#include <linux/slab.h>
#include "mgmt/mgmt.h"
#include "switch/switch.h"

static u32 packet_qpn(struct vib_packet *pkt)
{
	return ib_bth_get_qpn(vib_packet_bth(pkt));
}

/* ---- answers ---- */

/* 13.4.7: the response to a Get or Set of a class or attribute that no agent has. */
static void answer_unsupported(const struct ib_mad *in, struct ib_mad *out)
{
	*out = *in;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		out->mad_hdr.status |= IB_SMP_DIRECTION;
}

static enum vib_mad_result answer(struct vib_port *port, u16 slid, const struct ib_mad *in,
				  struct ib_mad *out)
{
	u8 method = in->mad_hdr.method;
	enum vib_mad_result result;

	switch (in->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		result = vib_sma_receive(port, slid, (const struct ib_smp *)in,
					 (struct ib_smp *)out);
		break;
	case IB_MGMT_CLASS_PERF_MGMT:
		result = vib_pma_handle(port, in, out);
		break;
	default:
		result = VIB_MAD_HOST;
		break;
	}
	/* A switch has no host that could answer. */
	if (result == VIB_MAD_HOST &&
	    (method == IB_MGMT_METHOD_GET || method == IB_MGMT_METHOD_SET)) {
		answer_unsupported(in, out);
		return VIB_MAD_REPLY;
	}
	return result;
}

static bool class_is_smp(u8 mgmt_class)
{
	return mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

static void count_discard(struct vib_port *in, bool smp)
{
	vib_count(in, smp ? VIB_VL15_DROPPED : VIB_RCV_ERRORS, 1);
}

struct vib_payload *vib_switch_answer(struct vib_port *port, u16 slid,
				      const struct ib_mad *in)
{
	struct vib_payload *out = vib_payload_alloc(IB_MGMT_MAD_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	enum vib_mad_result result = VIB_MAD_HOST;

	if (out)
		result = answer(port, slid, in, (struct ib_mad *)out->data);
	if (result == VIB_MAD_REPLY)
		return out;
	if (!out)
		count_discard(port, class_is_smp(in->mad_hdr.mgmt_class));
	else if (result == VIB_MAD_HOST)
		vib_count(port, VIB_RCV_DISCARDS, 1);
	vib_payload_put(out);
	return NULL;
}

/* ---- sending answers ---- */

/* Turns the headers of the request into those of the response. */
static void reply_headers(struct vib_packet *pkt)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	u32 from = ib_get_sqpn(oth), qpn = ib_bth_get_qpn(oth);
	struct ib_grh *grh = &pkt->hdr.u.l.grh;

	oth->bth[0] = cpu_to_be32(IB_OPCODE_UD_SEND_ONLY << IB_BTH_OPCODE_SHIFT |
				  ib_bth_get_pkey(oth));
	oth->bth[1] = cpu_to_be32(from);
	oth->bth[2] = 0;
	/* QP0 has no Q_Key; all GSI packets have the same one (10.2.5). */
	oth->u.ud.deth[0] = cpu_to_be32(qpn ? IB_QP1_QKEY : 0);
	oth->u.ud.deth[1] = cpu_to_be32(qpn);
	if (vib_packet_has_grh(pkt)) {
		swap(grh->sgid, grh->dgid);
		grh->hop_limit = 0xff;
	}
}

/*
 * The P_Key of the response is the entry of port 0's table that the request's P_Key matched:
 * the membership is port 0's, not the requester's.
 */
static void reply_pkey(struct vib_port *port0, struct vib_packet *pkt)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	int index = vib_port_find_pkey(port0, ib_bth_get_pkey(oth));

	if (index < 0)
		return;
	oth->bth[0] &= cpu_to_be32(~IB_BTH_PKEY_MASK);
	oth->bth[0] |= cpu_to_be32(be16_to_cpu(READ_ONCE(port0->pkeys[index])));
}

void vib_switch_reply(struct vib_port *port, struct vib_packet *pkt,
		      struct vib_payload *answer)
{
	struct vib_port *port0 = &port->node->ports[0];
	u16 lid = READ_ONCE(port0->lid), to = vib_packet_slid(pkt);
	u8 sl = vib_packet_sl(pkt);
	bool smp = !packet_qpn(pkt);

	vib_mad_replace(pkt, answer);
	pkt->hops = 0;
	reply_headers(pkt);
	if (smp && to == VIB_LID_PERMISSIVE) {
		/* The requester is the next node, which may not have a LID yet. */
		vib_packet_finish(pkt, VIB_VL_MGMT, sl, to, to);
		vib_port_xmit(port, pkt);
	} else if (to && to < VIB_LID_MCAST) {
		if (!smp)
			reply_pkey(port0, pkt);
		/* Forwarded by the tables, as if it had come in by port 0. */
		vib_packet_finish(pkt, smp ? VIB_VL_MGMT : 0, sl, to, lid);
		vib_switch_receive(port0, pkt);
	} else {
		vib_count(port0, VIB_RCV_ERRORS, 1);
		vib_packet_free(pkt);
	}
}

/* ---- requests ---- */

/* SMPs, and they alone, use VL15 and QP0; they have no GRH (9.2.3, 13.5.1). */
static bool takes_smp(struct vib_packet *pkt, const struct ib_mad_hdr *hdr)
{
	return pkt->vl == VIB_VL_MGMT && !packet_qpn(pkt) && !vib_packet_has_grh(pkt) &&
	       class_is_smp(hdr->mgmt_class);
}

static bool takes_gmp(struct vib_port *port0, struct vib_packet *pkt,
		      const struct ib_mad_hdr *hdr)
{
	if (pkt->vl == VIB_VL_MGMT || packet_qpn(pkt) != 1 || class_is_smp(hdr->mgmt_class))
		return false;
	return !vib_packet_has_grh(pkt) ||
	       (vib_packet_grh_valid(pkt) && vib_port_has_gid(port0, &pkt->hdr.u.l.grh.dgid));
}

/* QP1 checks P_Key and Q_Key, QP0 does not (9.6.1). */
static bool keys_match(struct vib_port *port0, struct vib_packet *pkt)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);

	if (!packet_qpn(pkt))
		return true;
	if (vib_port_find_pkey(port0, ib_bth_get_pkey(oth)) < 0) {
		vib_bad_pkey(port0, pkt);
		return false;
	}
	if (ib_get_qkey(oth) != IB_QP1_QKEY) {
		vib_bad_qkey(port0, pkt);
		return false;
	}
	return true;
}

static void agent_discard(struct vib_port *in, struct vib_packet *pkt)
{
	count_discard(in, pkt->vl == VIB_VL_MGMT);
	vib_packet_free(pkt);
}

void vib_switch_agent(struct vib_switch *sw, struct vib_port *in, struct vib_packet *pkt)
{
	struct vib_port *port0 = &sw->node.ports[0];
	struct ib_mad *mad = vib_mad_own(pkt);
	struct vib_payload *answer;

	if (!mad || (!takes_smp(pkt, &mad->mad_hdr) && !takes_gmp(port0, pkt, &mad->mad_hdr))) {
		agent_discard(in, pkt);
		return;
	}
	if (!keys_match(port0, pkt)) {
		vib_packet_free(pkt);
		return;
	}
	if (mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		vib_smp_route(in, pkt);
		return;
	}
	answer = vib_switch_answer(in, vib_packet_slid(pkt), mad);
	if (answer)
		vib_switch_reply(in, pkt, answer);
	else
		vib_packet_free(pkt);
}
