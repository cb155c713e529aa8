// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Where a switch sends a packet (IBA vol. 1, 18.2.4). */
#include "switch/switch.h"
#include "mgmt/mgmt.h"

static void relay_error(struct vib_port *in, struct vib_packet *pkt)
{
	vib_count(in, VIB_RCV_SWITCH_RELAY_ERRORS, 1);
	vib_packet_free(pkt);
}

u8 vib_switch_vl(const struct vib_switch *sw, u8 in, u8 out, u8 sl)
{
	return READ_ONCE(sw->sl_to_vl[in * (sw->node.num_ports + 1) + out][sl]);
}

/*
 * Inbound or outbound enforcement of P_Keys at a switch's port (18.2.4.2.1).  The subnet manager
 * gives the port the entries of its neighbour.  What goes out has to match one of them, as at
 * the neighbour.  What comes in has to be of one of the partitions: the packets of a limited
 * member have the P_Key of its own entry, which two limited members would not match by.
 */
static bool port_admits(const struct vib_port *port, struct vib_packet *pkt, u8 enforce)
{
	u8 flags = READ_ONCE(port->info.operationalvl_pei_peo_fpi_fpo);
	u16 pkey = ib_bth_get_pkey(vib_packet_bth(pkt));

	if (enforce == VIB_PEI)
		pkey |= 0x8000;
	return !(flags & enforce) || vib_port_find_pkey(port, pkey) >= 0;
}

/* Sends @pkt out by port @out of the switch that it came into by @in. */
static void forward_to(struct vib_switch *sw, struct vib_port *in, u8 out,
		       struct vib_packet *pkt)
{
	struct vib_port *port = &sw->node.ports[out];

	if (pkt->vl != VIB_VL_MGMT) {
		if (!port_admits(port, pkt, VIB_PEO)) {
			vib_count(port, VIB_XMIT_CONSTRAINT_ERRORS, 1);
			vib_bad_pkey(port, pkt);
			vib_packet_free(pkt);
			return;
		}
		pkt->vl = vib_switch_vl(sw, in->num, out, vib_packet_sl(pkt));
		/* That a data packet would leave by VL15 says that it is not to (7.6.6). */
		if (pkt->vl == VIB_VL_MGMT) {
			relay_error(in, pkt);
			return;
		}
		pkt->hdr.lrh[0] &= ~cpu_to_be16(IB_SC_MASK << IB_SC_SHIFT);
		pkt->hdr.lrh[0] |= cpu_to_be16(pkt->vl << IB_SC_SHIFT);
	}
	vib_port_xmit(port, pkt);
}

static void forward_mcast(struct vib_switch *sw, struct vib_port *in, struct vib_packet *pkt)
{
	unsigned int mlid = vib_packet_dlid(pkt) - VIB_LID_MCAST;
	unsigned int out, last = 0;
	const unsigned long *mask;
	struct vib_packet *copy;

	/* SMPs are for one node each (14.2.1). */
	if (mlid >= VIB_MFT_SIZE || pkt->vl == VIB_VL_MGMT) {
		relay_error(in, pkt);
		return;
	}
	mask = &sw->mft[mlid * sw->mft_longs];
	for_each_set_bit(out, mask, sw->node.num_ports + 1) {
		if (out == in->num)
			continue;
		if (last) {
			copy = vib_packet_clone(pkt, GFP_ATOMIC | __GFP_NOWARN);
			if (copy)
				forward_to(sw, in, last, copy);
			else
				vib_count(&sw->node.ports[last], VIB_XMIT_DISCARDS, 1);
		}
		/* No queue pair behind port 0 is in a group. */
		last = out;
	}
	/* To nobody, or only back to where it came from (16.1.3.5). */
	if (last)
		forward_to(sw, in, last, pkt);
	else
		relay_error(in, pkt);
}

static void forward_ucast(struct vib_switch *sw, struct vib_port *in, struct vib_packet *pkt)
{
	u16 dlid = vib_packet_dlid(pkt);
	u8 out = dlid ? READ_ONCE(sw->lft[dlid]) : VIB_NO_PORT;

	/* What would go back where it came from is none of the switch's (16.1.3.5). */
	if (dlid > READ_ONCE(sw->lft_top) || out > sw->node.num_ports || (out && out == in->num))
		relay_error(in, pkt);
	else if (!out)
		vib_switch_agent(sw, in, pkt);
	else
		forward_to(sw, in, out, pkt);
}

/* The node's receive(). */
void vib_switch_receive(struct vib_port *in, struct vib_packet *pkt)
{
	struct vib_switch *sw = to_vib_switch(in->node);
	u16 dlid = vib_packet_dlid(pkt), lid = READ_ONCE(sw->node.ports[0].lid);

	if (!vib_port_takes(in, pkt)) {
		vib_count(in, VIB_RCV_DISCARDS, 1);
		vib_packet_free(pkt);
		return;
	}
	if (!vib_packet_well_formed(pkt)) {
		vib_count(in, VIB_RCV_ERRORS, 1);
		vib_packet_free(pkt);
		return;
	}
	if (pkt->vl == VIB_VL_MGMT && dlid == VIB_LID_PERMISSIVE) {
		vib_smp_route(in, pkt);
		return;
	}
	if (pkt->vl != VIB_VL_MGMT && !port_admits(in, pkt, VIB_PEI)) {
		vib_count(in, VIB_RCV_CONSTRAINT_ERRORS, 1);
		vib_bad_pkey(in, pkt);
		vib_packet_free(pkt);
	} else if (lid && dlid == lid) {
		vib_switch_agent(sw, in, pkt);
	} else if (dlid >= VIB_LID_MCAST) {
		forward_mcast(sw, in, pkt);
	} else {
		forward_ucast(sw, in, pkt);
	}
}
