// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Regions with protection information: the verbs, and the request that registers them.
 *
 *	ib_alloc_mr_integrity()		an index, and room for segments
 *	mr->sig_attrs, ib_map_mr_sg_pi()	the consumer says how, and which memory
 *	IB_WR_REG_MR_INTEGRITY		these become the region, by a new key
 *	ib_check_mr_status()		what has been found since
 *
 * They are invalidated as other regions that work requests register (memory/fast.c).  Segments
 * may begin and end anywhere: metadata rarely fills pages.
 */
#include <linux/slab.h>
#include "device/qp.h"
#include "memory/integrity.h"
#include "transport/rc.h"

/* Bytes of data of an interval: logical blocks, of any size that disks have. */
#define MIN_INTERVAL	512

/* ---- verbs ---- */

static int integrity_alloc_lists(struct vib_integrity *integrity)
{
	u32 room = integrity->max_data + integrity->max_meta;
	struct vib_segment *list = kvcalloc(2 * room, sizeof(*list), GFP_KERNEL);

	if (!list)
		return -ENOMEM;
	integrity->room = list;
	integrity->used.data.list = list;
	integrity->used.meta.list = list + integrity->max_data;
	integrity->mapped.data.list = list + room;
	integrity->mapped.meta.list = list + room + integrity->max_data;
	return 0;
}

static struct vib_integrity *integrity_alloc(u32 max_data, u32 max_meta)
{
	struct vib_integrity *integrity = kzalloc(sizeof(*integrity), GFP_KERNEL);

	if (!integrity)
		return NULL;
	spin_lock_init(&integrity->lock);
	integrity->max_data = max_data;
	integrity->max_meta = max_meta;
	if (!integrity_alloc_lists(integrity))
		return integrity;
	kfree(integrity);
	return NULL;
}

void vib_integrity_free(struct vib_integrity *integrity)
{
	if (!integrity)
		return;
	kvfree(integrity->room);
	kfree(integrity);
}

static struct ib_mr *vib_alloc_mr_integrity(struct ib_pd *pd, u32 max_data, u32 max_meta)
{
	struct vib_mr *mr;

	if (!max_data || max_data > VIB_MAX_SEGMENTS || !max_meta || max_meta > VIB_MAX_SEGMENTS)
		return ERR_PTR(-EINVAL);
	mr = vib_fast_alloc(pd, VIB_KEY_INTEGRITY);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->integrity = integrity_alloc(max_data, max_meta);
	if (mr->integrity) {
		mr->ib.lkey = vib_key_add(&mr->key);
		mr->ib.rkey = mr->ib.lkey;
		if (mr->ib.lkey)
			return &mr->ib;
	}
	vib_integrity_free(mr->integrity);
	kfree(mr);
	return ERR_PTR(-ENOMEM);
}

/* ---- mapping ---- */

/* @sg, from byte @offset of its first entry on; there are @max segments.  0, -ENOMEM or -EINVAL. */
static int map_segments(struct vib_segments *segments, u32 max, struct scatterlist *sg,
			int nents, u32 offset)
{
	int i;

	segments->count = 0;
	segments->len = 0;
	for (i = 0; i < nents; i++, sg = sg_next(sg), offset = 0) {
		u64 addr = sg_dma_address(sg) + offset;
		u32 len = sg_dma_len(sg) - offset;

		if (offset > sg_dma_len(sg) || len > VIB_MAX_MSG - segments->len)
			return -EINVAL;
		if (!len)
			continue;
		if (segments->count == max)
			return -ENOMEM;
		segments->len += len;
		segments->list[segments->count++] = (struct vib_segment){
			.addr = addr,
			.len = len,
			.end = segments->len,
		};
	}
	return 0;
}

/*
 * The length is what consumers make their requests with: of data and metadata in memory, or if
 * there is only data, of what is on the wire.  Most have set their attributes by now; what is
 * registered depends on those that there are then.
 */
static u64 region_length(const struct vib_protected *mapped, const struct ib_sig_attrs *attrs)
{
	u32 tuples = 0;

	if (vib_has_tuples(&attrs->wire) && attrs->wire.sig.dif.pi_interval)
		tuples = mapped->data.len / attrs->wire.sig.dif.pi_interval;
	return (u64)mapped->data.len + (mapped->meta.len ?: tuples * VIB_TUPLE_LEN);
}

/* 0; on an error nothing is mapped. */
static int vib_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data, int data_nents,
			    unsigned int *data_offset, struct scatterlist *meta, int meta_nents,
			    unsigned int *meta_offset)
{
	struct vib_integrity *integrity = to_vib_mr(ibmr)->integrity;
	struct vib_protected *mapped;
	int ret;

	if (!integrity)
		return -EINVAL;
	mapped = &integrity->mapped;
	ret = map_segments(&mapped->data, integrity->max_data, data, data_nents,
			   data_offset ? *data_offset : 0);
	if (!ret)
		ret = map_segments(&mapped->meta, integrity->max_meta, meta, meta_nents,
				   meta_offset ? *meta_offset : 0);
	if (!ret && !mapped->data.len)
		ret = -EINVAL;
	if (ret) {
		mapped->data.len = 0;
		return ret;
	}
	ibmr->iova = 0;
	ibmr->length = region_length(mapped, ibmr->sig_attrs);
	ibmr->sig_attrs->meta_length = mapped->meta.len;
	return 0;
}

/* ---- registration ---- */

static bool domain_valid(const struct ib_sig_domain *domain)
{
	const struct ib_t10_dif_domain *dif = &domain->sig.dif;

	if (domain->sig_type == IB_SIG_TYPE_NONE)
		return true;
	return domain->sig_type == IB_SIG_TYPE_T10_DIF && dif->pi_interval >= MIN_INTERVAL &&
	       dif->pi_interval % VIB_TUPLE_LEN == 0 &&
	       (dif->bg_type == IB_T10DIF_CRC || dif->bg_type == IB_T10DIF_CSUM);
}

/*
 * The bytes of an interval, or 0 if neither domain has tuples; in *@interval.  False: the
 * attributes are not valid, or not for what is mapped.  Metadata is not used if the memory's
 * domain has none: LIO maps it even then.
 */
static bool attrs_valid(const struct ib_sig_attrs *attrs, const struct vib_protected *mapped,
			u32 *interval)
{
	bool mem = vib_has_tuples(&attrs->mem), wire = vib_has_tuples(&attrs->wire);

	*interval = 0;
	if (!mapped->data.len || !domain_valid(&attrs->mem) || !domain_valid(&attrs->wire))
		return false;
	if (!mem && !wire)
		return true;
	*interval = mem ? attrs->mem.sig.dif.pi_interval : attrs->wire.sig.dif.pi_interval;
	if (mem && wire && attrs->wire.sig.dif.pi_interval != *interval)
		return false;
	if (mapped->data.len % *interval)
		return false;
	return !mem || mapped->meta.len == mapped->data.len / *interval * VIB_TUPLE_LEN;
}

/* Takes what is mapped, if it is valid: the bytes that the key names. */
static u64 integrity_take(struct vib_mr *mr, u64 most)
{
	struct vib_integrity *integrity = mr->integrity;
	const struct ib_sig_attrs *attrs = mr->ib.sig_attrs;
	u32 interval, len;

	lockdep_assert_held_write(&mr->key.lock);
	if (!attrs_valid(attrs, &integrity->mapped, &interval))
		return 0;
	len = integrity->mapped.data.len;
	if (vib_has_tuples(&attrs->wire))
		len += len / interval * VIB_TUPLE_LEN;
	if (len > most)
		return 0;
	swap(integrity->used, integrity->mapped);
	integrity->mapped.data.len = 0;
	integrity->attrs = *attrs;
	integrity->interval = interval;
	spin_lock(&integrity->lock);
	integrity->failed = false;
	integrity->part.have = 0;
	spin_unlock(&integrity->lock);
	return len;
}

/* Neither atomics nor windows: what they would do to tuples nobody has said. */
bool vib_integrity_register(const struct vib_qp *qp, u32 value, int access)
{
	if (access & (IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND))
		return false;
	return vib_fast_register(qp, VIB_KEY_INTEGRITY, value, access, integrity_take);
}

/* ---- the result ---- */

/* An error is told once, as by mlx5. */
static int vib_check_mr_status(struct ib_mr *ibmr, u32 check_mask, struct ib_mr_status *status)
{
	struct vib_integrity *integrity = to_vib_mr(ibmr)->integrity;
	unsigned long flags;

	if (check_mask & ~IB_MR_CHECK_SIG_STATUS)
		return -EINVAL;
	status->fail_status = 0;
	if (!check_mask)
		return 0;
	if (!integrity)
		return -EINVAL;
	spin_lock_irqsave(&integrity->lock, flags);
	if (integrity->failed) {
		status->fail_status = IB_MR_CHECK_SIG_STATUS;
		status->sig_err = integrity->err;
		integrity->failed = false;
	}
	spin_unlock_irqrestore(&integrity->lock, flags);
	return 0;
}

const struct ib_device_ops vib_integrity_ops = {
	.alloc_mr_integrity	= vib_alloc_mr_integrity,
	.map_mr_sg_pi		= vib_map_mr_sg_pi,
	.check_mr_status	= vib_check_mr_status,
};
