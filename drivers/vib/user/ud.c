// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Datagrams of a process (IBA vol. 1, 10.8, 11.4.1.1).
 *
 * The work that sends takes an entry from the ring when it can send it: the entry is copied, the
 * copy is checked, then the data is copied.  What the process writes to the entry later is not
 * seen any more.  Nothing is kept of an entry whose datagram has to wait, so that it is copied
 * and checked again.
 */
#include "memory/mr.h"
#include "user/user.h"

/* As vib_av_valid(); the handle is of the QP's port (11.4.1.1). */
static bool av_valid(const struct vib_qp *qp, const struct vib_abi_av *av)
{
	return av->port == qp->port->num && av->sl <= 15 &&
	       (!av->grh || av->sgid_index < qp->port->node->guids);
}

static bool entry_valid(const struct vib_qp *qp, const struct vib_abi_ud_wqe *wqe)
{
	bool in_line = wqe->flags & IB_SEND_INLINE;

	if (wqe->opcode != IB_WR_SEND && wqe->opcode != IB_WR_SEND_WITH_IMM)
		return false;
	if (wqe->flags & ~VIB_SEND_FLAGS ||
	    wqe->num_sge > (in_line ? qp->cap.max_inline_data : qp->cap.max_send_sge))
		return false;
	return av_valid(qp, &wqe->av);
}

static void take_av(struct vib_av *to, const struct vib_abi_av *from)
{
	*to = (struct vib_av){
		.dlid = from->dlid,
		.port = from->port,
		.sl = from->sl,
		.path_bits = from->path_bits,
		.static_rate = from->static_rate,
		.grh = !!from->grh,
		.sgid_index = from->sgid_index,
		.hop_limit = from->hop_limit,
		.traffic_class = from->traffic_class,
		.flow_label = from->flow_label,
	};
	memcpy(&to->dgid, from->dgid, sizeof(to->dgid));
}

bool vib_ud_copy(struct vib_qp *qp, struct vib_ud_copy *copy)
{
	struct vib_abi_ud_wqe wqe;

	copy->entry = vib_queue_peek(&qp->sq, NULL);
	if (!copy->entry)
		return false;
	wqe = *copy->entry;
	/* The compiler must not read the entry in the place of the copy. */
	barrier_data(&wqe);
	copy->num_sge = wqe.num_sge;
	copy->slot = (struct vib_send_slot){
		.status = entry_valid(qp, &wqe) ? IB_WC_SUCCESS : IB_WC_LOC_QP_OP_ERR,
	};
	copy->wqe = (struct vib_send_wqe){
		.wr_id = wqe.wr_id,
		.remote_qpn = wqe.remote_qpn & IB_QPN_MASK,
		.remote_qkey = wqe.remote_qkey,
		.imm_data = (__force __be32)wqe.ex,
		.opcode = wqe.opcode,
		.flags = wqe.flags,
	};
	take_av(&copy->wqe.av, &wqe.av);
	return true;
}

/* ---- data ---- */

static void gather_piece(void *mem, u32 len, void *context)
{
	u8 **to = context;

	memcpy(*to, mem, len);
	*to += len;
}

static bool gather(struct vib_qp *qp, const struct vib_ud_copy *copy, const struct ib_sge *sge,
		   u32 len, u8 *to)
{
	u32 i;

	if (copy->wqe.flags & IB_SEND_INLINE) {
		memcpy(to, copy->entry + 1, len);
		return true;
	}
	for (i = 0; i < copy->num_sge; i++) {
		if (!vib_mem_walk(qp->ib.pd, &sge[i], sge[i].length, 0, gather_piece, &to))
			return false;
	}
	return true;
}

/* How many bytes; the SGEs are copied to @sge first. */
static u64 copy_length(const struct vib_ud_copy *copy, struct ib_sge *sge)
{
	u64 len = 0;
	u32 i;

	if (copy->wqe.flags & IB_SEND_INLINE)
		return copy->num_sge;
	memcpy(sge, copy->entry + 1, copy->num_sge * sizeof(*sge));
	barrier_data(sge);
	for (i = 0; i < copy->num_sge; i++)
		len += sge[i].length;
	return len;
}

bool vib_ud_gather(struct vib_qp *qp, struct vib_ud_copy *copy)
{
	struct vib_send_slot *slot = &copy->slot;
	struct ib_sge sge[VIB_MAX_SGE];
	u64 len;

	if (slot->status)
		return true;
	len = copy_length(copy, sge);
	if (len > VIB_MAX_MTU)
		slot->status = IB_WC_LOC_LEN_ERR;
	if (!len || slot->status)
		return true;
	slot->payload = vib_payload_alloc(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!slot->payload)
		return false;
	if (!gather(qp, copy, sge, len, slot->payload->data)) {
		vib_payload_put(slot->payload);
		slot->payload = NULL;
		slot->status = IB_WC_LOC_PROT_ERR;
	}
	return true;
}
