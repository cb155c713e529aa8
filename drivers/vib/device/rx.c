// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Packets that arrive at an adapter: from header to header, to the queue pair or the
 * multicast group that they are for (IBA vol. 1, 7.7, 8.3, 9.6.1).  What is not as it must
 * be is dropped and counted; the sender is not told.
 */
#include <rdma/ib_mad.h>
#include "mgmt/mgmt.h"
#include "transport/rc.h"

void vib_drop(struct vib_port *port, struct vib_packet *pkt, enum vib_drop why)
{
	atomic64_inc(&vib_ca_port(port)->drops[why]);
	vib_packet_free(pkt);
}

/* ---- link layer ---- */

static u8 port_mtu_cap(const struct vib_port *port)
{
	return port->info.inittypereply_mtucap & 0xf;
}

/* Version, length and source (7.7, 7.8), transport version and pad count (9.2). */
static bool rx_well_formed(const struct vib_port *port, struct vib_packet *pkt)
{
	u16 slid = vib_packet_slid(pkt);

	if (!vib_packet_well_formed(pkt) ||
	    pkt->len > ib_mtu_enum_to_int(port_mtu_cap(port)))
		return false;
	/* SMPs come from ports without a LID, nothing else does; and none from a group. */
	if (pkt->vl != VIB_VL_MGMT ? !slid || slid >= VIB_LID_MCAST : vib_lid_is_mcast(slid))
		return false;
	return vib_packet_bth_valid(pkt);
}

static bool rx_dlid_ours(const struct vib_port *port, const struct vib_packet *pkt)
{
	u16 dlid = vib_packet_dlid(pkt);

	if (pkt->vl == VIB_VL_MGMT && dlid == VIB_LID_PERMISSIVE)
		return true;
	return vib_port_has_lid(port, dlid) ||
	       (pkt->vl != VIB_VL_MGMT && vib_lid_is_mcast(dlid));
}

/* ---- network layer ---- */

/* 8.3: the DGID is a group's if the DLID is, else the port's. */
static bool rx_grh_valid(const struct vib_port *port, const struct vib_packet *pkt)
{
	const union ib_gid *dgid = &pkt->hdr.u.l.grh.dgid;

	if (!vib_packet_grh_valid(pkt))
		return false;
	if (vib_lid_is_mcast(vib_packet_dlid(pkt)))
		return dgid->raw[0] == 0xff;
	return vib_port_has_gid(port, dgid);
}

/* ---- transport layer ---- */

/* The length of the headers that a datagram with the opcode of @pkt has; 0: none. */
static u16 ud_hdr_len(struct vib_packet *pkt)
{
	u16 len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES;

	if (vib_packet_has_grh(pkt))
		len += IB_GRH_BYTES;
	switch (ib_bth_get_opcode(vib_packet_bth(pkt))) {
	case IB_OPCODE_UD_SEND_ONLY:
		return len;
	case IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE:
		return len + sizeof(__be32);
	default:
		return 0;
	}
}

static bool pkey_match(u16 ours, u16 theirs)
{
	/* 0 is invalid, and two limited members do not talk to each other. */
	return ours & 0x7fff && !((ours ^ theirs) & 0x7fff) && (ours | theirs) & 0x8000;
}

/* QP0 takes any P_Key, QP1 all that the port has; the others have one (10.9). */
static bool qp_takes_pkey(const struct vib_qp *qp, const struct vib_port *port, u16 pkey)
{
	switch (qp->ib.qp_type) {
	case IB_QPT_SMI:
		return true;
	case IB_QPT_GSI:
		return vib_port_find_pkey(port, pkey) >= 0;
	default:
		if (READ_ONCE(qp->port) == port &&
		    pkey_match(vib_port_pkey(port, READ_ONCE(qp->pkey_index)), pkey))
			return true;
		return qp->rc && pkey_match(vib_path_alt_pkey(qp, port), pkey);
	}
}

/* A connected QP may have a path by another port, too. */
static bool qp_on_port(const struct vib_qp *qp, const struct vib_port *port)
{
	return READ_ONCE(qp->port) == port || (qp->rc && vib_path_alt_pkey(qp, port));
}

static enum vib_drop qp_check_opcode(const struct vib_qp *qp, struct vib_packet *pkt)
{
	if (qp->rc)
		return vib_rc_check(qp, pkt);
	return ud_hdr_len(pkt) == pkt->hdr_len ? VIB_DROPS : VIB_DROP_OPCODE;
}

enum vib_drop vib_qp_check(const struct vib_qp *qp, const struct vib_port *port,
			   struct vib_packet *pkt)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);

	if (!vib_qp_receives(qp) || !qp_on_port(qp, port))
		return VIB_DROP_QP;
	if (qp_check_opcode(qp, pkt) != VIB_DROPS)
		return VIB_DROP_OPCODE;
	if (!qp_takes_pkey(qp, port, ib_bth_get_pkey(oth)))
		return VIB_DROP_PKEY;
	/* QP0 has no Q_Key (10.2.5), nor have connections. */
	if (qp->ib.qp_type != IB_QPT_SMI && !qp->rc && ib_get_qkey(oth) != READ_ONCE(qp->qkey))
		return VIB_DROP_QKEY;
	return VIB_DROPS;
}

/* A key that is wrong is counted in PortInfo, and the subnet manager is told. */
static void rx_refuse(struct vib_port *port, struct vib_packet *pkt, enum vib_drop why)
{
	if (why == VIB_DROP_PKEY)
		vib_bad_pkey(port, pkt);
	else if (why == VIB_DROP_QKEY)
		vib_bad_qkey(port, pkt);
	vib_drop(port, pkt, why);
}

static void rx_unicast(struct vib_port *port, struct vib_packet *pkt, u32 qpn)
{
	struct vib_qp *qp = vib_qp_find(port, qpn);
	enum vib_drop why = VIB_DROP_QP;

	if (qp)
		why = vib_qp_check(qp, port, pkt);
	if (why == VIB_DROPS)
		vib_qp_receive(qp, pkt);
	else
		rx_refuse(port, pkt, why);
	if (qp)
		vib_qp_put(qp);
}

/*
 * The destination QP (9.6.1): QP0 by VL15 alone, and nothing else by that; all ones for a
 * multicast LID, and for no other.
 */
static bool rx_qpn_valid(const struct vib_packet *pkt, u32 qpn)
{
	bool mcast = vib_lid_is_mcast(vib_packet_dlid(pkt));

	return (pkt->vl == VIB_VL_MGMT) == !qpn && mcast == (qpn == IB_MULTICAST_QPN);
}

/* Under RCU, with bottom halves off. */
static void rx_packet(struct vib_port *port, struct vib_packet *pkt)
{
	u32 qpn = ib_bth_get_qpn(vib_packet_bth(pkt));
	bool smp = pkt->vl == VIB_VL_MGMT;

	if (!rx_dlid_ours(port, pkt))
		vib_drop(port, pkt, VIB_DROP_LID);
	else if (vib_packet_has_grh(pkt) && (smp || !rx_grh_valid(port, pkt)))
		vib_drop(port, pkt, VIB_DROP_GRH);
	else if (!rx_qpn_valid(pkt, qpn))
		vib_drop(port, pkt, VIB_DROP_QP);
	else if (qpn == IB_MULTICAST_QPN)
		vib_mcast_receive(port, pkt);
	else
		rx_unicast(port, pkt, qpn);
}

void vib_hca_receive(struct vib_port *port, struct vib_packet *pkt)
{
	if (!vib_port_takes(port, pkt)) {
		vib_count(port, VIB_RCV_DISCARDS, 1);
		vib_packet_free(pkt);
		return;
	}
	if (!rx_well_formed(port, pkt)) {
		vib_count(port, VIB_RCV_ERRORS, 1);
		vib_packet_free(pkt);
		return;
	}
	rcu_read_lock();
	rx_packet(port, pkt);
	rcu_read_unlock();
}

/* ---- what does not leave the adapter ---- */

/* For the members of a group here; a packet that cannot be copied is counted. */
static struct vib_packet *hca_clone(struct vib_port *port, const struct vib_packet *pkt)
{
	struct vib_packet *copy = vib_packet_clone(pkt, GFP_ATOMIC | __GFP_NOWARN);

	if (!copy)
		atomic64_inc(&vib_ca_port(port)->drops[VIB_DROP_NO_MEMORY]);
	return copy;
}

void vib_hca_xmit(struct vib_port *port, struct vib_packet *pkt)
{
	u16 dlid = vib_packet_dlid(pkt);
	bool own = vib_port_has_lid(port, dlid), passes = vib_port_passes(port, pkt);
	struct vib_packet *copy = NULL;

	/* What may not be sent is not looped back either: it is discarded there. */
	if (passes && vib_lid_is_mcast(dlid) && vib_mcast_has_members(vib_port_hca(port), dlid))
		copy = hca_clone(port, pkt);
	local_bh_disable();
	rcu_read_lock();
	if (copy)
		rx_packet(port, copy);
	if (passes && own)
		rx_packet(port, pkt);
	else
		vib_port_xmit(port, pkt);
	rcu_read_unlock();
	local_bh_enable();
}
