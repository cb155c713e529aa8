// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Regions that a work request registers (IBA vol. 1, 10.6.2, 11.2.8, 11.4.1: base memory
 * management extensions).
 *
 *	ib_alloc_mr()		an index, and room for pages; no key is valid
 *	ib_map_mr_sg()		the consumer says which pages
 *	IB_WR_REG_MR		these become the region, by a new key
 *	IB_WR_LOCAL_INV		no key is valid; or a SEND with invalidate that comes in
 *
 * A consumer may map pages for the next registration before it has posted the request that
 * invalidates this one, so there are two lists: what is mapped, and what is registered.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include "device/qp.h"
#include "memory/key.h"

/* ---- verbs ---- */

static int fast_alloc_list(struct vib_pages *pages, u32 max_pages)
{
	pages->list = kvcalloc(max_pages, sizeof(*pages->list), GFP_KERNEL);
	return pages->list ? 0 : -ENOMEM;
}

struct vib_mr *vib_fast_alloc(struct ib_pd *pd, enum vib_key_kind kind)
{
	struct vib_mr *mr = vib_mr_alloc(pd, kind);

	if (!mr)
		return NULL;
	/* Windows have an rwlock_init() of their own, and so a lockdep class of their own. */
	rwlock_init(&mr->key.lock);
	atomic_set(&mr->windows, -1);
	return mr;
}

static struct ib_mr *vib_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct vib_mr *mr;
	int ret;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > VIB_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);
	mr = vib_fast_alloc(pd, VIB_KEY_FAST);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_num_sg;
	ret = fast_alloc_list(&mr->pages, max_num_sg) ?:
	      fast_alloc_list(&mr->mapped, max_num_sg);
	if (!ret) {
		mr->ib.lkey = vib_key_add(&mr->key);
		mr->ib.rkey = mr->ib.lkey;
		ret = mr->ib.lkey ? 0 : -ENOMEM;
	}
	if (!ret)
		return &mr->ib;
	kvfree(mr->pages.list);
	kvfree(mr->mapped.list);
	kfree(mr);
	return ERR_PTR(ret);
}

static int fast_map_page(struct ib_mr *ibmr, u64 addr)
{
	struct vib_mr *mr = to_vib_mr(ibmr);

	if (mr->mapped.count == mr->max_pages)
		return -ENOMEM;
	mr->mapped.list[mr->mapped.count++] = addr;
	return 0;
}

/*
 * ib_sg_to_pages() also sets the region's address and length, ibmr->iova and ibmr->length.  The
 * consumer may change the address afterwards, so the offset in the first page is remembered
 * here.  The consumer has no IB_WR_REG_MR for the pages mapped before in any queue.
 */
static int vib_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
			 unsigned int *offset)
{
	struct vib_pages *mapped = &to_vib_mr(ibmr)->mapped;
	int n;

	if (to_vib_mr(ibmr)->key.kind != VIB_KEY_FAST || !is_power_of_2(ibmr->page_size) ||
	    !(ibmr->page_size & VIB_PAGE_SIZES))
		return -EINVAL;
	mapped->count = 0;
	mapped->shift = ilog2(ibmr->page_size);
	n = ib_sg_to_pages(ibmr, sg, nents, offset, fast_map_page);
	mapped->offset = ibmr->iova & (ibmr->page_size - 1);
	return n;
}

/* ---- work requests ---- */

/* Takes the pages that were mapped, if the region lies within them. */
static u64 fast_take(struct vib_mr *mr, u64 most)
{
	const struct vib_pages *mapped = &mr->mapped;
	u64 length = mr->ib.length, size = (u64)mapped->count << mapped->shift;

	lockdep_assert_held_write(&mr->key.lock);
	if (!length || length > most || mapped->offset > size || length > size - mapped->offset)
		return 0;
	swap(mr->pages, mr->mapped);
	return length;
}

static bool fast_begin(struct vib_mr *mr, const struct ib_pd *pd, u32 value, int access,
		       u64 (*take)(struct vib_mr *mr, u64 most))
{
	u64 start = access & IB_ZERO_BASED ? 0 : mr->ib.iova, length;
	struct vib_key *key = &mr->key;

	lockdep_assert_held_write(&key->lock);
	/* A key that is valid has to be invalidated first. */
	if (key->value || key->pd != pd)
		return false;
	length = take(mr, U64_MAX - start);
	if (!length)
		return false;
	key->start = start;
	key->length = length;
	key->access = access;
	atomic_set(&mr->windows, 0);
	vib_key_publish(key, value);
	return true;
}

/* The index selects the region, so a new key can differ in its low eight bits only. */
bool vib_fast_register(const struct vib_qp *qp, enum vib_key_kind kind, u32 value, int access,
		       u64 (*take)(struct vib_mr *mr, u64 most))
{
	struct vib_hca *hca = to_vib_hca(qp->ib.device);
	struct vib_key *key;
	unsigned long flags;
	bool done = false;

	if (vib_mr_check_access(&hca->ib, access))
		return false;
	rcu_read_lock();
	key = vib_key_find(hca, value);
	if (key && key->kind == kind) {
		write_lock_irqsave(&key->lock, flags);
		done = fast_begin(vib_key_mr(key), qp->ib.pd, value, access, take);
		write_unlock_irqrestore(&key->lock, flags);
	}
	rcu_read_unlock();
	return done;
}

bool vib_mr_register(const struct vib_qp *qp, u32 value, int access)
{
	return vib_fast_register(qp, VIB_KEY_FAST, value, access, fast_take);
}

bool vib_fast_end(struct vib_mr *mr)
{
	struct vib_key *key = &mr->key;
	unsigned long flags;
	bool ended;

	write_lock_irqsave(&key->lock, flags);
	ended = vib_mr_refuse_windows(mr);
	if (ended) {
		key->value = 0;
		/* A work request that has found it before does not register it. */
		key->pd = NULL;
	}
	write_unlock_irqrestore(&key->lock, flags);
	return ended;
}

const struct ib_device_ops vib_fast_ops = {
	.alloc_mr	= vib_alloc_mr,
	.map_mr_sg	= vib_map_mr_sg,
};
