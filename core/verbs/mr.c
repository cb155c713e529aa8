// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory regions (IBA vol. 1, 10.6) and the mapping of scatterlists to them. */
#include <linux/scatterlist.h>
#include <ibex/compat/updates.h>
#include <trace/events/rdma_core.h>

#include "device/device.h"

/* Sets core's fields of an MR, counts it as a use of its PD and tracks it. */
static void mr_init(struct ib_mr *mr, struct ib_pd *pd, enum ib_mr_type type)
{
	mr->device = pd->device;
	mr->pd = pd;
	mr->type = type;
	mr->dm = NULL;
	mr->uobject = NULL;
	mr->sig_attrs = NULL;
	mr->need_inval = false;
	atomic_inc(&pd->usecnt);

	rdma_restrack_new(&mr->res, RDMA_RESTRACK_MR);
	rdma_restrack_parent_name(&mr->res, &pd->res);
	rdma_restrack_add(&mr->res);
}

/**
 * ib_reg_user_mr() - register memory of the current process, for a ULP
 * @pd: protection domain
 * @start: address of the memory
 * @length: bytes
 * @virt_addr: address that work requests and peers use for @start
 * @access_flags: enum ib_access_flags
 *
 * IBA vol. 1, 11.2.8.2.
 *
 * Context: the process that owns the memory; may sleep.
 * Return: the MR, or ERR_PTR: -EINVAL or -EOPNOTSUPP for flags that contradict
 * each other or that the device does not support, or the provider's error.
 */
struct ib_mr *ib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			     u64 virt_addr, int access_flags)
{
	struct ib_device *dev = pd->device;
	struct ib_mr *mr;
	int ret;

	if (!dev->ops.reg_user_mr)
		return ERR_PTR(-EOPNOTSUPP);
	ret = ib_check_mr_access(dev, access_flags);
	if (ret)
		return ERR_PTR(ret);

	mr = dev->ops.reg_user_mr(pd, start, length, virt_addr, access_flags,
				  NULL);
	if (!IS_ERR(mr)) {
		mr->length = length;
		mr->iova = virt_addr;
		mr_init(mr, pd, IB_MR_TYPE_USER);
	}
	return mr;
}
EXPORT_SYMBOL(ib_reg_user_mr);

/**
 * ib_advise_mr() - tell the device how memory will be used
 * @pd: protection domain of the MRs
 * @advice: expected use
 * @flags: enum ib_uverbs_advise_mr_flag
 * @sg_list: ranges of MRs, by lkey
 * @num_sge: number of ranges
 *
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int ib_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		 u32 flags, struct ib_sge *sg_list, u32 num_sge)
{
	const struct ib_device_ops *ops = &pd->device->ops;

	if (!ops->advise_mr)
		return -EOPNOTSUPP;
	return num_sge ? ops->advise_mr(pd, advice, flags, sg_list, num_sge,
					NULL) : 0;
}
EXPORT_SYMBOL(ib_advise_mr);

/**
 * ib_dereg_mr_user() - deregister a memory region
 * @mr: region
 * @udata: the process's data, NULL for the kernel's regions
 *
 * IBA vol. 1, 11.2.8.5.
 *
 * Context: process, may sleep.
 * Return: 0, or the provider's error, for example if a memory window is bound
 * to the MR; on error the MR is unchanged.
 */
int ib_dereg_mr_user(struct ib_mr *mr, struct ib_udata *udata)
{
	struct ib_mr gone;
	int ret;

	trace_mr_dereg(mr);
	rdma_restrack_begin_del(&mr->res);
	/*
	 * On success the provider frees @mr.  Core then drops what it holds for
	 * the MR, which it finds in this copy.
	 */
	gone = *mr;
	ret = mr->device->ops.dereg_mr(mr, udata);
	if (ret) {
		rdma_restrack_abort_del(&mr->res);
		return ret;
	}

	rdma_restrack_commit_del(&gone.res);
	atomic_dec(&gone.pd->usecnt);
	if (gone.dm)
		atomic_dec(&gone.dm->usecnt);
	kfree(gone.sig_attrs);
	return 0;
}
EXPORT_SYMBOL(ib_dereg_mr_user);

/**
 * ib_alloc_mr() - allocate a memory region for fast registration
 * @pd: protection domain
 * @mr_type: IB_MR_TYPE_MEM_REG or IB_MR_TYPE_SG_GAPS
 * @max_num_sg: maximum number of pages, or entries, in one registration
 *
 * IBA vol. 1, 11.2.8.1.
 *
 * Context: process, may sleep.
 * Return: the MR, or ERR_PTR: -EINVAL, -EOPNOTSUPP or the provider's error.
 */
struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type,
			  u32 max_num_sg)
{
	struct ib_mr *mr;

	if (!pd->device->ops.alloc_mr)
		mr = ERR_PTR(-EOPNOTSUPP);
	else if (WARN_ON_ONCE(mr_type == IB_MR_TYPE_INTEGRITY))
		mr = ERR_PTR(-EINVAL);
	else
		mr = pd->device->ops.alloc_mr(pd, mr_type, max_num_sg);

	if (!IS_ERR(mr))
		mr_init(mr, pd, mr_type);
	trace_mr_alloc(pd, mr_type, max_num_sg, mr);
	return mr;
}
EXPORT_SYMBOL(ib_alloc_mr);

static struct ib_mr *mr_alloc_integrity(struct ib_pd *pd, u32 max_num_data_sg,
					u32 max_num_meta_sg)
{
	struct ib_device *dev = pd->device;
	struct ib_sig_attrs *sig_attrs;
	struct ib_mr *mr;

	if (!dev->ops.alloc_mr_integrity || !dev->ops.map_mr_sg_pi)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_meta_sg)
		return ERR_PTR(-EINVAL);

	sig_attrs = kzalloc(sizeof(*sig_attrs), GFP_KERNEL);
	if (!sig_attrs)
		return ERR_PTR(-ENOMEM);

	mr = dev->ops.alloc_mr_integrity(pd, max_num_data_sg, max_num_meta_sg);
	if (IS_ERR(mr)) {
		kfree(sig_attrs);
		return mr;
	}
	mr_init(mr, pd, IB_MR_TYPE_INTEGRITY);
	mr->sig_attrs = sig_attrs;
	return mr;
}

/**
 * ib_alloc_mr_integrity() - allocate a memory region with protection
 * information
 * @pd: protection domain
 * @max_num_data_sg: maximum number of data entries in one registration
 * @max_num_meta_sg: maximum number of metadata entries in one registration
 *
 * Context: process, may sleep.
 * Return: the MR, or ERR_PTR: -EINVAL, -ENOMEM, -EOPNOTSUPP or the provider's
 * error.
 */
struct ib_mr *ib_alloc_mr_integrity(struct ib_pd *pd, u32 max_num_data_sg,
				    u32 max_num_meta_sg)
{
	struct ib_mr *mr = mr_alloc_integrity(pd, max_num_data_sg,
					      max_num_meta_sg);

	trace_mr_integ_alloc(pd, max_num_data_sg, max_num_meta_sg, mr);
	return mr;
}
EXPORT_SYMBOL(ib_alloc_mr_integrity);

/**
 * ib_map_mr_sg() - map a scatterlist to a memory region
 * @mr: region from ib_alloc_mr()
 * @sg: DMA-mapped list
 * @sg_nents: number of mapped entries in @sg
 * @sg_offset: offset in bytes into the first entry; set to the offset at which
 *	the mapping ended in the first entry that is not mapped entirely; or
 *	NULL
 * @page_size: page size of the region, in bytes
 *
 * Unless the region is of type IB_MR_TYPE_SG_GAPS, all entries but the first
 * must start, and all but the last must end, on a page boundary.  Entries after
 * a gap are not mapped.  The caller then registers the region with an
 * IB_WR_REG_MR request.
 *
 * Context: any; the caller must not map one region concurrently.
 * Return: how many entries were mapped, or -EOPNOTSUPP or the provider's error.
 */
int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents,
		 unsigned int *sg_offset, unsigned int page_size)
{
	const struct ib_device_ops *ops = &mr->device->ops;

	mr->page_size = page_size;
	if (likely(ops->map_mr_sg))
		return ops->map_mr_sg(mr, sg, sg_nents, sg_offset);
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_map_mr_sg);

/**
 * ib_map_mr_sg_pi() - map data and its metadata to a memory region
 * @mr: region from ib_alloc_mr_integrity()
 * @data: DMA-mapped list of the data
 * @data_nents: number of mapped entries in @data
 * @data_offset: offset in bytes into the first entry of @data, or NULL
 * @meta: DMA-mapped list of the metadata, or NULL
 * @meta_nents: number of mapped entries in @meta
 * @meta_offset: offset in bytes into the first entry of @meta, or NULL
 * @page_size: page size of the region, in bytes
 *
 * Context: any; the caller must not map one region concurrently.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int ib_map_mr_sg_pi(struct ib_mr *mr, struct scatterlist *data, int data_nents,
		    unsigned int *data_offset, struct scatterlist *meta,
		    int meta_nents, unsigned int *meta_offset,
		    unsigned int page_size)
{
	const struct ib_device_ops *ops = &mr->device->ops;

	/* On such a device a caller can have no region of the right type. */
	if (!ops->map_mr_sg_pi ||
	    WARN_ON_ONCE(mr->type != IB_MR_TYPE_INTEGRITY))
		return -EOPNOTSUPP;

	mr->page_size = page_size;
	return ops->map_mr_sg_pi(mr, data, data_nents, data_offset, meta,
				 meta_nents, meta_offset);
}
EXPORT_SYMBOL(ib_map_mr_sg_pi);

/**
 * ib_check_mr_status() - get the result of a memory region's checks
 * @mr: region
 * @check_mask: enum ib_mr_status_check
 * @mr_status: set to which checks failed, and how
 *
 * Context: any.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int ib_check_mr_status(struct ib_mr *mr, u32 check_mask,
		       struct ib_mr_status *mr_status)
{
	const struct ib_device_ops *ops = &mr->device->ops;

	if (ops->check_mr_status)
		return ops->check_mr_status(mr, check_mask, mr_status);
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_check_mr_status);

/*
 * A region under construction: pages up to @next are set, and bytes up to @end
 * belong to it.  @next is @end rounded up to a page.
 */
struct mr_cursor {
	u64 end;
	u64 next;
};

/* Sets the pages of [@from, @to); on failure the region ends at @cur->end. */
static int mr_add_range(struct ib_mr *mr, struct mr_cursor *cur, u64 from,
			u64 to, int (*set_page)(struct ib_mr *mr, u64 addr))
{
	u64 page = from == cur->end ? cur->next :
				      round_down(from, (u64)mr->page_size);
	int ret;

	for (; page < to; page += mr->page_size) {
		ret = set_page(mr, page);
		if (unlikely(ret)) {
			/* Bytes of this range before the last page count. */
			page -= mr->page_size;
			if (page > from) {
				mr->length += page - from;
				cur->end = page;
			}
			return ret;
		}
	}
	mr->length += to - from;
	cur->next = page;
	cur->end = to;
	return 0;
}

/**
 * ib_sg_to_pages() - implement a provider's map_mr_sg with a list of pages
 * @mr: region; its iova and length are set
 * @sgl: DMA-mapped list
 * @sg_nents: number of mapped entries in @sgl
 * @sg_offset_p: as for ib_map_mr_sg()
 * @set_page: appends a page to the region; returns non-zero if the region is
 *	full
 *
 * If the region is full inside an entry, it ends before the last page that was set, so
 * that a caller can go on there.
 *
 * Context: as @set_page.
 * Return: the number of entries mapped entirely, 0 if the region is full inside the
 * first; -EINVAL for an empty list or an offset beyond its first entry; the error of
 * @set_page if nothing is mapped.
 */
int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sgl, int sg_nents,
		   unsigned int *sg_offset_p,
		   int (*set_page)(struct ib_mr *, u64))
{
	unsigned int offset = sg_offset_p ? *sg_offset_p : 0;
	u64 mask = (u64)mr->page_size - 1;
	struct mr_cursor cur = {};
	struct scatterlist *sg;
	int i, ret = 0;

	if (unlikely(sg_nents <= 0 || offset > sg_dma_len(sgl)))
		return -EINVAL;

	mr->iova = sg_dma_address(sgl) + offset;
	mr->length = 0;

	for_each_sg(sgl, sg, sg_nents, i) {
		u64 from = sg_dma_address(sg) + offset;
		u64 to = sg_dma_address(sg) + sg_dma_len(sg);

		/* A gap: neither contiguous nor joined at a page boundary. */
		if (i && from != cur.end && ((from | cur.end) & mask))
			break;

		ret = mr_add_range(mr, &cur, from, to, set_page);
		if (unlikely(ret)) {
			offset = cur.end > from && cur.end < to ?
				 cur.end - sg_dma_address(sg) : offset;
			break;
		}
		offset = 0;
	}

	if (sg_offset_p)
		*sg_offset_p = offset;
	return i || mr->length ? i : ret;
}
EXPORT_SYMBOL(ib_sg_to_pages);

/**
 * ib_dma_virt_map_sg() - "DMA-map" a list for a device without DMA
 * @dev: device that uses kernel addresses (ib_uses_virt_dma())
 * @sg: list of memory that has kernel addresses
 * @nents: entries
 *
 * Context: any.
 * Return: @nents: all entries are mapped.
 */
int ib_dma_virt_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents)
{
	int left;

	for (left = nents; left > 0; left--, sg = sg_next(sg)) {
		sg->dma_address = (uintptr_t)sg_virt(sg);
		sg_dma_len(sg) = sg->length;
	}
	return nents;
}
EXPORT_SYMBOL(ib_dma_virt_map_sg);

/*
 * Blocks: the DMA addresses of a mapped scatterlist, walked in aligned blocks of one
 * size.  A block may span entries whose DMA addresses follow one another.
 */

/**
 * __rdma_block_iter_start() - begin to walk a scatterlist in blocks
 * @biter: walk to start
 * @sglist: DMA-mapped list
 * @nents: entries of @sglist that are mapped
 * @pgsz: block size in bytes, a power of two
 *
 * The caller has checked that the list can be divided into such blocks
 * (ib_umem_find_best_pgsz()).
 *
 * Context: any.
 */
void __rdma_block_iter_start(struct ib_block_iter *biter,
			     struct scatterlist *sglist, unsigned int nents,
			     unsigned long pgsz)
{
	*biter = (struct ib_block_iter) {
		.__sg = sglist,
		.__sg_nents = nents,
		.__pg_bit = __fls(pgsz),
	};
}
EXPORT_SYMBOL(__rdma_block_iter_start);

/* Advances by @bytes, over several entries if needed. */
static void block_iter_skip(struct ib_block_iter *biter, u64 bytes)
{
	u64 at = biter->__sg_advance + bytes;

	while (biter->__sg_nents && at >= sg_dma_len(biter->__sg)) {
		at -= sg_dma_len(biter->__sg);
		biter->__sg = sg_next(biter->__sg);
		biter->__sg_nents--;
	}
	biter->__sg_advance = at;
}

/**
 * __rdma_block_iter_next() - go to the next block
 * @biter: walk that was started
 *
 * rdma_block_iter_dma_address() returns the block's address.
 *
 * Context: any.
 * Return: true if there is a next block.
 */
bool __rdma_block_iter_next(struct ib_block_iter *biter)
{
	u64 size = BIT_ULL(biter->__pg_bit);

	if (!biter->__sg_nents || !biter->__sg)
		return false;

	biter->__dma_addr = sg_dma_address(biter->__sg) + biter->__sg_advance;
	block_iter_skip(biter, size - (biter->__dma_addr & (size - 1)));
	return true;
}
EXPORT_SYMBOL(__rdma_block_iter_next);
