// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Packets and what they carry (IBA vol. 1, 5.2, 7.7, 9.2). */
#include <linux/slab.h>
#include "fabric/fabric.h"

struct vib_payload *vib_payload_alloc(u32 len, gfp_t gfp)
{
	struct vib_payload *payload = kmalloc(struct_size(payload, data, len), gfp);

	if (!payload)
		return NULL;
	refcount_set(&payload->ref, 1);
	payload->len = len;
	payload->nr_vec = 1;
	payload->vec = &payload->own;
	bvec_set_virt(&payload->own, payload->data, len);
	payload->release = NULL;
	return payload;
}

void vib_payload_put(struct vib_payload *payload)
{
	if (!payload || !refcount_dec_and_test(&payload->ref))
		return;
	if (payload->release)
		payload->release(payload);
	else
		kfree(payload);
}

struct vib_packet *vib_packet_alloc(gfp_t gfp)
{
	struct vib_packet *pkt = kzalloc(sizeof(*pkt), gfp);

	if (pkt)
		INIT_LIST_HEAD(&pkt->entry);
	return pkt;
}

struct vib_packet *vib_packet_clone(const struct vib_packet *pkt, gfp_t gfp)
{
	struct vib_packet *copy = kmemdup(pkt, sizeof(*pkt), gfp);

	if (!copy)
		return NULL;
	INIT_LIST_HEAD(&copy->entry);
	copy->held = NULL;
	if (copy->payload)
		refcount_inc(&copy->payload->ref);
	return copy;
}

bool vib_packet_well_formed(const struct vib_packet *pkt)
{
	u16 lrh0 = be16_to_cpu(pkt->hdr.lrh[0]), lnh = lrh0 & IB_LNH_MASK;
	u16 least = IB_LRH_BYTES + IB_BTH_BYTES;

	if (lrh0 >> IB_LVER_SHIFT & IB_LVER_MASK || lnh < IB_LNH_IBA_LOCAL)
		return false;
	if (lnh == IB_LNH_IBA_GLOBAL)
		least += IB_GRH_BYTES;
	return pkt->hdr_len >= least &&
	       (be16_to_cpu(pkt->hdr.lrh[2]) & 0x7ff) == vib_packet_wire_len(pkt) / 4;
}

bool vib_packet_bth_valid(struct vib_packet *pkt)
{
	struct ib_other_headers *bth = vib_packet_bth(pkt);

	return !ib_bth_get_tver(bth) && ib_bth_get_pad(bth) == (-pkt->len & 3);
}

bool vib_packet_grh_valid(const struct vib_packet *pkt)
{
	const struct ib_grh *grh = &pkt->hdr.u.l.grh;
	u32 len = vib_packet_wire_len(pkt) - IB_LRH_BYTES - IB_GRH_BYTES;

	return be32_to_cpu(grh->version_tclass_flow) >> IB_GRH_VERSION_SHIFT == IB_GRH_VERSION &&
	       grh->next_hdr == IB_GRH_NEXT_HDR && be16_to_cpu(grh->paylen) == len;
}

/* The buffer that it occupied is free. */
void vib_packet_release(struct vib_packet *pkt)
{
	struct vib_tx *held = pkt->held;

	if (!held)
		return;
	pkt->held = NULL;
	vib_tx_credit(held, pkt->held_vl, pkt->held_blocks, pkt->held_era);
	percpu_ref_put(&held->port->node->ref);
}

void vib_packet_free(struct vib_packet *pkt)
{
	vib_payload_put(pkt->payload);
	vib_packet_release(pkt);
	kfree(pkt);
}

void vib_packet_attach(struct vib_packet *pkt, struct vib_payload *payload, u32 offset,
		       u16 len)
{
	refcount_inc(&payload->ref);
	pkt->payload = payload;
	pkt->offset = offset;
	pkt->len = len;
}

void vib_packet_finish(struct vib_packet *pkt, u8 vl, u8 sl, u16 dlid, u16 slid)
{
	struct ib_other_headers *bth = vib_packet_bth(pkt);
	u16 lnh = be16_to_cpu(pkt->hdr.lrh[0]) & IB_LNH_MASK;
	u32 len = vib_packet_wire_len(pkt);

	bth->bth[0] &= cpu_to_be32(~(IB_BTH_PAD_MASK << IB_BTH_PAD_SHIFT));
	bth->bth[0] |= cpu_to_be32((-pkt->len & 3) << IB_BTH_PAD_SHIFT);
	if (lnh == IB_LNH_IBA_GLOBAL)
		pkt->hdr.u.l.grh.paylen = cpu_to_be16(len - IB_LRH_BYTES - IB_GRH_BYTES);
	pkt->hdr.lrh[0] = cpu_to_be16(vl << IB_SC_SHIFT | sl << IB_SL_SHIFT | lnh);
	pkt->hdr.lrh[1] = cpu_to_be16(dlid);
	pkt->hdr.lrh[2] = cpu_to_be16(len / 4);
	pkt->hdr.lrh[3] = cpu_to_be16(slid);
	pkt->vl = vl;
	pkt->blocks = vib_blocks(len);
}

void vib_packet_iter(const struct vib_packet *pkt, struct iov_iter *iter)
{
	const struct vib_payload *payload = pkt->payload;

	if (!payload) {
		iov_iter_bvec(iter, ITER_SOURCE, NULL, 0, 0);
		return;
	}
	iov_iter_bvec(iter, ITER_SOURCE, payload->vec, payload->nr_vec, payload->len);
	iov_iter_advance(iter, pkt->offset);
	iov_iter_truncate(iter, pkt->len);
}

bool vib_packet_read(const struct vib_packet *pkt, u32 offset, void *to, u32 len)
{
	struct iov_iter iter;

	if (offset > pkt->len || len > pkt->len - offset)
		return false;
	vib_packet_iter(pkt, &iter);
	iov_iter_advance(&iter, offset);
	/* Without the checks for copies from users: a consumer's buffer may be in any slab. */
	return _copy_from_iter(to, len, &iter) == len;
}
