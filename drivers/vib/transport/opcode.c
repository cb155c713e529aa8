// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the opcodes of connected transports are: the headers that packets of each have, and
 * who takes them (IBA vol. 1, 9.2.1, tables 38 and 39; XRC: A14.3).
 */
#include "transport/rc.h"

#define EXT(ext)	BIT(VIB_EXT_##ext)
#define REQUEST		VIB_OP_REQUEST
#define SENDS		(VIB_OP_REQUEST | VIB_OP_SEND | VIB_OP_PAYLOAD)
#define WRITES		(VIB_OP_REQUEST | VIB_OP_WRITE | VIB_OP_PAYLOAD)
#define RESPONSE	VIB_OP_RESPONSE
#define DATA		(VIB_OP_RESPONSE | VIB_OP_PAYLOAD)
#define FIRST		VIB_OP_FIRST
#define LAST		VIB_OP_LAST
#define ONLY		(VIB_OP_FIRST | VIB_OP_LAST)
#define UC		VIB_OP_UC

static const struct vib_op ops[32] = {
	[IB_OPCODE_SEND_FIRST]			= { 0, SENDS | FIRST | UC },
	[IB_OPCODE_SEND_MIDDLE]			= { 0, SENDS | UC },
	[IB_OPCODE_SEND_LAST]			= { 0, SENDS | LAST | UC },
	[IB_OPCODE_SEND_LAST_WITH_IMMEDIATE]	= { EXT(IMM), SENDS | LAST | UC },
	[IB_OPCODE_SEND_ONLY]			= { 0, SENDS | ONLY | UC },
	[IB_OPCODE_SEND_ONLY_WITH_IMMEDIATE]	= { EXT(IMM), SENDS | ONLY | UC },
	[IB_OPCODE_SEND_LAST_WITH_INVALIDATE]	= { EXT(IETH), SENDS | LAST },
	[IB_OPCODE_SEND_ONLY_WITH_INVALIDATE]	= { EXT(IETH), SENDS | ONLY },
	[IB_OPCODE_RDMA_WRITE_FIRST]		= { EXT(RETH), WRITES | FIRST | UC },
	[IB_OPCODE_RDMA_WRITE_MIDDLE]		= { 0, WRITES | UC },
	[IB_OPCODE_RDMA_WRITE_LAST]		= { 0, WRITES | LAST | UC },
	[IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE] = { EXT(IMM), WRITES | LAST | UC },
	[IB_OPCODE_RDMA_WRITE_ONLY]		= { EXT(RETH), WRITES | ONLY | UC },
	[IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = {
		EXT(RETH) | EXT(IMM), WRITES | ONLY | UC
	},
	[IB_OPCODE_RDMA_READ_REQUEST]		= { EXT(RETH), REQUEST | ONLY },
	[IB_OPCODE_COMPARE_SWAP]		= { EXT(ATOMIC), REQUEST | ONLY },
	[IB_OPCODE_FETCH_ADD]			= { EXT(ATOMIC), REQUEST | ONLY },
	[IB_OPCODE_RDMA_READ_RESPONSE_FIRST]	= { EXT(AETH), DATA | FIRST },
	[IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE]	= { 0, DATA },
	[IB_OPCODE_RDMA_READ_RESPONSE_LAST]	= { EXT(AETH), DATA | LAST },
	[IB_OPCODE_RDMA_READ_RESPONSE_ONLY]	= { EXT(AETH), DATA | ONLY },
	[IB_OPCODE_ACKNOWLEDGE]			= { EXT(AETH), RESPONSE | ONLY },
	[IB_OPCODE_ATOMIC_ACKNOWLEDGE]		= {
		EXT(AETH) | EXT(ATOMIC_ACK), RESPONSE | ONLY
	},
};

static const u8 ext_len[VIB_EXTS] = {
	[VIB_EXT_XRC]		= sizeof(__be32),
	[VIB_EXT_RETH]		= sizeof(struct ib_reth),
	[VIB_EXT_ATOMIC]	= sizeof(struct ib_atomic_eth),
	[VIB_EXT_AETH]		= sizeof(__be32),
	[VIB_EXT_ATOMIC_ACK]	= sizeof(__be64),
	[VIB_EXT_IMM]		= sizeof(__be32),
	[VIB_EXT_IETH]		= sizeof(__be32),
};

/* The longest that there is. */
static_assert(sizeof(__be32) + sizeof(struct ib_atomic_eth) <= sizeof(union ib_ehdrs));

const struct vib_op *vib_op(u8 opcode)
{
	return &ops[VIB_OPERATION(opcode)];
}

/* Each request of XRC names an SRQ, and no response does (A14.3.1). */
u8 vib_op_ext(u8 opcode)
{
	const struct vib_op *op = vib_op(opcode);

	if (VIB_TRANSPORT(opcode) == VIB_OPCODE_XRC && op->flags & VIB_OP_REQUEST)
		return op->ext | EXT(XRC);
	return op->ext;
}

static u16 exts_len(u8 exts)
{
	unsigned int ext;
	u16 len = 0;

	for (ext = 0; ext < VIB_EXTS; ext++) {
		if (exts & BIT(ext))
			len += ext_len[ext];
	}
	return len;
}

u16 vib_op_ext_len(u8 opcode)
{
	return exts_len(vib_op_ext(opcode));
}

void *vib_packet_ext(struct vib_packet *pkt, enum vib_ext ext)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	u8 before = vib_op_ext(ib_bth_get_opcode(oth)) & (BIT(ext) - 1);

	return (u8 *)&oth->u + exts_len(before);
}

/* ---- what a QP takes ---- */

u8 vib_rc_transport(const struct vib_qp *qp)
{
	switch (qp->ib.qp_type) {
	case IB_QPT_UC:
		return IB_OPCODE_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return VIB_OPCODE_XRC;
	default:
		return IB_OPCODE_RC;
	}
}

static u8 qp_takes_roles(const struct vib_qp *qp)
{
	switch (qp->ib.qp_type) {
	case IB_QPT_UC:
	case IB_QPT_XRC_TGT:
		return VIB_OP_REQUEST;
	case IB_QPT_XRC_INI:
		return VIB_OP_RESPONSE;
	default:
		return VIB_OP_REQUEST | VIB_OP_RESPONSE;
	}
}

static u16 base_len(const struct vib_packet *pkt)
{
	return IB_LRH_BYTES + (vib_packet_has_grh(pkt) ? IB_GRH_BYTES : 0) + IB_BTH_BYTES;
}

enum vib_drop vib_rc_check(const struct vib_qp *qp, struct vib_packet *pkt)
{
	u8 opcode = ib_bth_get_opcode(vib_packet_bth(pkt)), roles = qp_takes_roles(qp);
	const struct vib_op *op = vib_op(opcode);

	if (VIB_TRANSPORT(opcode) != vib_rc_transport(qp) || pkt->hdr_len < base_len(pkt))
		return VIB_DROP_OPCODE;
	if (!op->flags)
		return vib_qp_is_reliable(qp) && roles & VIB_OP_REQUEST ? VIB_DROPS :
									  VIB_DROP_OPCODE;
	if (!(op->flags & roles) || pkt->hdr_len != base_len(pkt) + vib_op_ext_len(opcode))
		return VIB_DROP_OPCODE;
	if (qp->ib.qp_type == IB_QPT_UC && !(op->flags & VIB_OP_UC))
		return VIB_DROP_OPCODE;
	return VIB_DROPS;
}
