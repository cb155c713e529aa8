// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Packets from one connected QP to the other (IBA vol. 1, 7.7, 8.3, 9.2). */
#include "transport/rc.h"

/*
 * The P_Key of the QP's entry, if it is one (10.9), and the VL of its path's SL, if that has
 * one for data (7.6.6).  A packet without them is not sent, but counted.
 */
static bool may_send(struct vib_port *port, u16 pkey, u8 vl)
{
	if (!(pkey & 0x7fff)) {
		atomic64_inc(&vib_ca_port(port)->drops[VIB_DROP_SEND_PKEY]);
		return false;
	}
	if (vl == VIB_VL_MGMT) {
		vib_count(port, VIB_XMIT_DISCARDS, 1);
		return false;
	}
	return true;
}

static u8 path_vl(const struct vib_qp *qp)
{
	return READ_ONCE(qp->port->sl_to_vl[qp->rc->path.sl & 0xf]);
}

static void fill_bth(struct vib_qp *qp, struct vib_packet *pkt, u8 opcode, u32 psn, u16 pkey,
		     u32 flags)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	u32 bth0 = opcode << IB_BTH_OPCODE_SHIFT | pkey, bth2 = psn & VIB_PSN_MASK;

	if (flags & VIB_RC_SOLICITED)
		bth0 |= IB_BTH_SOLICITED;
	/* 17.2.8.1.1: the path is the one that was there from the beginning, or is so by now. */
	if (qp->rc->mig_state == IB_MIG_MIGRATED)
		bth0 |= IB_BTH_MIG_REQ;
	if (flags & VIB_RC_ACK_REQ)
		bth2 |= IB_BTH_REQ_ACK;
	oth->bth[0] = cpu_to_be32(bth0);
	oth->bth[1] = cpu_to_be32(qp->rc->remote_qpn);
	oth->bth[2] = cpu_to_be32(bth2);
	pkt->hdr_len += IB_BTH_BYTES + vib_op_ext_len(opcode);
}

struct vib_packet *vib_rc_packet(struct vib_qp *qp, u8 operation, u32 psn, u32 flags)
{
	u16 pkey = vib_port_pkey(qp->port, READ_ONCE(qp->pkey_index));
	struct vib_port *port = qp->port;
	u8 vl = path_vl(qp);
	struct vib_packet *pkt;

	if (!may_send(port, pkey, vl))
		return NULL;
	pkt = vib_packet_alloc(GFP_ATOMIC | __GFP_NOWARN);
	if (!pkt) {
		atomic64_inc(&vib_ca_port(port)->drops[VIB_DROP_NO_MEMORY]);
		return NULL;
	}
	pkt->vl = vl;
	pkt->hdr_len = IB_LRH_BYTES;
	if (qp->rc->path.grh) {
		pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_GLOBAL);
		pkt->hdr_len += IB_GRH_BYTES;
		vib_av_fill_grh(&qp->rc->path, port, &pkt->hdr.u.l.grh);
	} else {
		pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_LOCAL);
	}
	fill_bth(qp, pkt, vib_rc_transport(qp) | operation, psn, pkey, flags);
	return pkt;
}

void vib_rc_xmit(struct vib_qp *qp, struct vib_packet *pkt)
{
	const struct vib_av *av = &qp->rc->path;

	vib_packet_finish(pkt, pkt->vl, av->sl & 0xf, av->dlid, vib_av_slid(av, qp->port));
	vib_hca_xmit(qp->port, pkt);
}

/*
 * What goes by a link is bounded by credits.  What is for a QP of the same port is not: it
 * waits until that QP has taken in what it has, and takes its turn on the workqueue then.
 */
static bool own_peer_ready(struct vib_qp *qp)
{
	struct vib_qp *peer;
	bool ready = true;

	rcu_read_lock();
	peer = vib_qp_find(qp->port, qp->rc->remote_qpn);
	if (peer) {
		ready = READ_ONCE(peer->rx_len) < VIB_MAX_BACKLOG / 2;
		vib_qp_put(peer);
	}
	rcu_read_unlock();
	if (!ready)
		queue_work(vib_wq, &qp->recv_work);
	return ready;
}

bool vib_rc_ready(struct vib_qp *qp)
{
	if (!vib_port_ready(qp->port, path_vl(qp), &qp->waiter))
		return false;
	return !vib_port_has_lid(qp->port, qp->rc->path.dlid) || own_peer_ready(qp);
}
