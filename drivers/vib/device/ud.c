// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Datagrams (IBA vol. 1, 9.8.3): the requester, which makes packets of send requests, and
 * the responder, which puts packets into the buffers of receive requests.  SMI and GSI are
 * UD with rules of their own (10.2.4, 13.5).
 */
#include <rdma/ib_mad.h>
#include "queue/cq.h"
#include "device/qp.h"
#include "memory/mr.h"
#include "user/user.h"

/* ---- requester ---- */

/* The P_Key of QP0 is the default one, that of GSI is the request's (10.9, 11.4.1.1). */
static u16 ud_pkey(const struct vib_qp *qp, const struct vib_send_wqe *wqe)
{
	switch (qp->ib.qp_type) {
	case IB_QPT_SMI:
		return IB_DEFAULT_PKEY_FULL;
	case IB_QPT_GSI:
		return vib_port_pkey(qp->port, wqe->pkey_index);
	default:
		return vib_port_pkey(qp->port, READ_ONCE(qp->pkey_index));
	}
}

/* With the highest bit set the request asks for the QP's own (10.2.5). */
static u32 ud_qkey(const struct vib_qp *qp, const struct vib_send_wqe *wqe)
{
	return wqe->remote_qkey & IB_QP_SET_QKEY ? READ_ONCE(qp->qkey) : wqe->remote_qkey;
}

/* BTH and DETH (9.2, 9.3.2), behind whatever GRH there is. */
static void fill_transport(struct vib_qp *qp, const struct vib_send_wqe *wqe, u16 pkey,
			   struct vib_packet *pkt)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	bool imm = wqe->opcode == IB_WR_SEND_WITH_IMM;
	u32 opcode = imm ? IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE : IB_OPCODE_UD_SEND_ONLY;
	u32 psn = qp->sq_psn;

	WRITE_ONCE(qp->sq_psn, (psn + 1) & 0xffffff);
	oth->bth[0] = cpu_to_be32(opcode << IB_BTH_OPCODE_SHIFT | IB_BTH_MIG_REQ | pkey |
				  (wqe->flags & IB_SEND_SOLICITED ? IB_BTH_SOLICITED : 0));
	oth->bth[1] = cpu_to_be32(wqe->remote_qpn);
	oth->bth[2] = cpu_to_be32(psn);
	oth->u.ud.deth[0] = cpu_to_be32(ud_qkey(qp, wqe));
	oth->u.ud.deth[1] = cpu_to_be32(qp->ib.qp_num);
	pkt->hdr_len += IB_BTH_BYTES + IB_DETH_BYTES;
	if (imm) {
		oth->u.ud.imm_data = wqe->imm_data;
		pkt->hdr_len += sizeof(oth->u.ud.imm_data);
	}
}

/* An SMP that is routed by its path has no LID to come from, either (14.2.2.1). */
static u16 ud_slid(const struct vib_port *port, const struct vib_av *av)
{
	return av->dlid == VIB_LID_PERMISSIVE ? VIB_LID_PERMISSIVE : vib_av_slid(av, port);
}

static u8 ud_vl(const struct vib_qp *qp, const struct vib_av *av)
{
	return qp->ib.qp_type == IB_QPT_SMI ? VIB_VL_MGMT :
	       READ_ONCE(qp->port->sl_to_vl[av->sl & 0xf]);
}

/* Sends the packet of @wqe, with @payload.  What cannot be sent is lost, as on the way. */
static void ud_send_packet(struct vib_qp *qp, const struct vib_send_wqe *wqe,
			   struct vib_payload *payload)
{
	struct vib_packet *pkt = vib_packet_alloc(GFP_ATOMIC | __GFP_NOWARN);
	const struct vib_av *av = &wqe->av;
	struct vib_port *port = qp->port;
	u16 pkey = ud_pkey(qp, wqe);
	u8 vl = ud_vl(qp, av);

	if (!pkt) {
		atomic64_inc(&vib_ca_port(port)->drops[VIB_DROP_NO_MEMORY]);
		return;
	}
	/* Not a member of the partition, and 0 is no P_Key that a packet may have (10.9). */
	if (!(pkey & 0x7fff)) {
		vib_drop(port, pkt, VIB_DROP_SEND_PKEY);
		return;
	}
	/* The SL has no data VL (7.6.6). */
	if (vl == VIB_VL_MGMT && qp->ib.qp_type != IB_QPT_SMI) {
		vib_count(port, VIB_XMIT_DISCARDS, 1);
		vib_packet_free(pkt);
		return;
	}
	pkt->hdr_len = IB_LRH_BYTES;
	/* SMPs have no GRH (14.2.1). */
	if (av->grh && qp->ib.qp_type != IB_QPT_SMI) {
		pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_GLOBAL);
		pkt->hdr_len += IB_GRH_BYTES;
		vib_av_fill_grh(av, port, &pkt->hdr.u.l.grh);
	} else {
		pkt->hdr.lrh[0] = cpu_to_be16(IB_LNH_IBA_LOCAL);
	}
	fill_transport(qp, wqe, pkey, pkt);
	if (payload)
		vib_packet_attach(pkt, payload, 0, payload->len);
	vib_packet_finish(pkt, vl, av->sl & 0xf, av->dlid, ud_slid(port, av));
	vib_hca_xmit(port, pkt);
}

/* A message is one packet: as long as the port's MTU at most, a MAD 256 bytes (13.4.2). */
static enum ib_wc_status ud_send_one(struct vib_qp *qp, const struct vib_send_wqe *wqe,
				     const struct vib_send_slot *slot)
{
	u32 most = vib_qp_is_special(qp) ? IB_MGMT_MAD_SIZE :
		   ib_mtu_enum_to_int(qp->port->info.inittypereply_mtucap & 0xf);

	if (slot->status)
		return slot->status;
	if (slot->payload && slot->payload->len > most)
		return IB_WC_LOC_LEN_ERR;
	ud_send_packet(qp, wqe, slot->payload);
	return IB_WC_SUCCESS;
}

/* The request at the head of the queue is over. */
static void ud_complete_send(struct vib_qp *qp, const struct vib_send_wqe *wqe,
			     struct vib_send_slot *slot, enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = IB_WC_SEND,
		.qp = &qp->ib,
	};
	bool tell = status || qp->sig_all || wqe->flags & IB_SEND_SIGNALED;

	vib_payload_put(slot->payload);
	slot->payload = NULL;
	/* First: who sees the completion may post another in its place. */
	vib_queue_pop(&qp->sq);
	if (tell)
		vib_cq_push(to_vib_cq(qp->ib.send_cq), &wc, false);
}

/* Data waits for the port's transmitter; SMPs do not wait behind data. */
static bool ud_may_send(struct vib_qp *qp, const struct vib_send_wqe *wqe)
{
	return qp->ib.qp_type == IB_QPT_SMI ||
	       vib_port_ready(qp->port, ud_vl(qp, &wqe->av), &qp->waiter);
}

/*
 * The oldest request, if there is one: of the kernel, with what was made of it when it was
 * posted; of a process, in @copy.
 */
static bool ud_peek(struct vib_qp *qp, struct vib_ud_copy *copy, struct vib_send_wqe **wqe,
		    struct vib_send_slot **slot)
{
	u32 index;

	if (qp->user) {
		*wqe = &copy->wqe;
		*slot = &copy->slot;
		return vib_ud_copy(qp, copy);
	}
	*wqe = vib_queue_peek(&qp->sq, &index);
	if (*wqe)
		*slot = &qp->slots[index];
	return *wqe;
}

/* In RTS.  A packet that cannot be allocated is lost, but to the consumer it was sent. */
static enum ib_wc_status ud_send(struct vib_qp *qp, struct vib_ud_copy *copy,
				 const struct vib_send_wqe *wqe, const struct vib_send_slot *slot)
{
	enum ib_wc_status status;

	if (qp->user && !vib_ud_gather(qp, copy)) {
		atomic64_inc(&vib_ca_port(qp->port)->drops[VIB_DROP_NO_MEMORY]);
		return IB_WC_SUCCESS;
	}
	status = ud_send_one(qp, wqe, slot);
	/* One that was posted in SQE is flushed still, and is no failure of its own. */
	if (status && status != IB_WC_WR_FLUSH_ERR)
		vib_qp_send_failed(qp);
	return status;
}

/* One request of the send queue; false: there is none, or it has to wait. */
static bool ud_next_send(struct vib_qp *qp)
{
	enum ib_qp_state state = READ_ONCE(qp->state);
	enum ib_wc_status status = IB_WC_WR_FLUSH_ERR;
	struct vib_send_slot *slot;
	struct vib_send_wqe *wqe;
	struct vib_ud_copy copy;

	if (state == IB_QPS_SQD)
		vib_qp_drained(qp);
	if (state < IB_QPS_RTS || state == IB_QPS_SQD)
		return false;
	if (!ud_peek(qp, &copy, &wqe, &slot))
		return false;
	if (state == IB_QPS_RTS) {
		if (!ud_may_send(qp, wqe))
			return false;
		status = ud_send(qp, &copy, wqe, slot);
	}
	ud_complete_send(qp, wqe, slot, status);
	return true;
}

IBEX_BH_WORK(vib_ud_send)
{
	struct vib_qp *qp = container_of(work, struct vib_qp, send_work);
	unsigned int i;

	for (i = 0; i < VIB_BATCH; i++) {
		if (!ud_next_send(qp))
			return;
	}
	queue_work(vib_wq, work);
}

/* ---- responder ---- */

struct scatter {
	struct vib_packet *pkt;
	u32 pos;		/* of the message as its buffers have it: GRH, payload */
};

static void scatter_piece(void *mem, u32 len, void *context)
{
	struct scatter *scatter = context;
	struct vib_packet *pkt = scatter->pkt;
	u32 part = 0;

	if (scatter->pos < VIB_GRH_ROOM) {
		part = min_t(u32, len, VIB_GRH_ROOM - scatter->pos);
		/* Without a GRH that part of the buffer stays as it is (11.4.2.1). */
		if (vib_packet_has_grh(pkt))
			memcpy(mem, (u8 *)&pkt->hdr.u.l.grh + scatter->pos, part);
	}
	vib_packet_read(pkt, scatter->pos + part - VIB_GRH_ROOM, mem + part, len - part);
	scatter->pos += len;
}

/* Puts @pkt into the buffers of @recv. */
static enum ib_wc_status ud_scatter(const struct vib_recv *recv, struct vib_packet *pkt)
{
	u32 i, part, left = VIB_GRH_ROOM + pkt->len;
	struct scatter scatter = { .pkt = pkt };

	if (recv->len < left)
		return IB_WC_LOC_LEN_ERR;
	for (i = 0; left && i < recv->num_sge; i++) {
		part = min(left, recv->sge[i].length);
		if (!vib_mem_walk(recv->pd, &recv->sge[i], part, IB_ACCESS_LOCAL_WRITE,
				  scatter_piece, &scatter))
			return IB_WC_LOC_PROT_ERR;
		left -= part;
	}
	return IB_WC_SUCCESS;
}

/* What the completion of a receive says of @pkt (11.4.2.1). */
static void ud_fill_wc(struct vib_qp *qp, struct vib_packet *pkt, struct ib_wc *wc)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	u16 dlid = vib_packet_dlid(pkt), mask = BIT(READ_ONCE(qp->port->lmc)) - 1;
	int index = READ_ONCE(qp->pkey_index);

	*wc = (struct ib_wc){
		.opcode = IB_WC_RECV,
		.qp = &qp->ib,
		.byte_len = VIB_GRH_ROOM + pkt->len,
		.src_qp = ib_get_sqpn(oth),
		.slid = vib_packet_slid(pkt),
		.sl = vib_packet_sl(pkt),
		.port_num = qp->port->num,
	};
	/* That of QP0 and QP1 says by which entry of the table the packet came. */
	if (vib_qp_is_special(qp))
		index = vib_port_find_pkey(qp->port, ib_bth_get_pkey(oth));
	wc->pkey_index = max(index, 0);
	if (dlid < VIB_LID_MCAST)
		wc->dlid_path_bits = dlid & mask;
	if (vib_packet_has_grh(pkt))
		wc->wc_flags |= IB_WC_GRH;
	if (ib_bth_get_opcode(oth) == IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = oth->u.ud.imm_data;
	}
}

/*
 * Takes @pkt in.  Without a receive request it is lost (9.8.3).  One that the request has
 * no room for completes it in error, and with it the QP is in error (11.6.2).
 */
static void ud_take(struct vib_qp *qp, struct vib_packet *pkt)
{
	bool solicited = ib_bth_is_solicited(vib_packet_bth(pkt));
	struct vib_recv recv;
	struct ib_wc wc;

	if (vib_qp_is_special(qp) && pkt->len != IB_MGMT_MAD_SIZE) {
		vib_drop(qp->port, pkt, VIB_DROP_LENGTH);
		return;
	}
	if (!vib_rq_take(qp, &recv)) {
		if (pkt->vl == VIB_VL_MGMT)
			vib_count(qp->port, VIB_VL15_DROPPED, 1);
		vib_drop(qp->port, pkt, VIB_DROP_NO_RECEIVE);
		return;
	}
	ud_fill_wc(qp, pkt, &wc);
	wc.wr_id = recv.wr_id;
	wc.status = ud_scatter(&recv, pkt);
	vib_packet_free(pkt);
	if (wc.status)
		vib_qp_recv_failed(qp);
	vib_cq_push(to_vib_cq(qp->ib.recv_cq), &wc, solicited);
}

/* In ERR the QP takes no more requests of its SRQ, which stay for other QPs (10.2.9). */
static void ud_leave_srq(struct vib_qp *qp)
{
	if (qp->last_wqe)
		return;
	qp->last_wqe = true;
	vib_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

static bool ud_flush_recv(struct vib_qp *qp)
{
	struct vib_recv recv;
	struct ib_wc wc = {
		.status = IB_WC_WR_FLUSH_ERR,
		.opcode = IB_WC_RECV,
		.qp = &qp->ib,
	};

	if (qp->srq) {
		ud_leave_srq(qp);
		return false;
	}
	if (!vib_rq_take(qp, &recv))
		return false;
	wc.wr_id = recv.wr_id;
	vib_cq_push(to_vib_cq(qp->ib.recv_cq), &wc, false);
	return true;
}

IBEX_BH_WORK(vib_ud_receive)
{
	struct vib_qp *qp = container_of(work, struct vib_qp, recv_work);
	struct vib_packet *pkt;
	unsigned int i;

	for (i = 0; i < VIB_BATCH; i++) {
		pkt = vib_qp_next_packet(qp);
		if (pkt && vib_qp_receives(qp))
			ud_take(qp, pkt);
		else if (pkt)
			vib_drop(qp->port, pkt, VIB_DROP_QP);
		else if (READ_ONCE(qp->state) != IB_QPS_ERR || !ud_flush_recv(qp))
			return;
	}
	queue_work(vib_wq, work);
}
