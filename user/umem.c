// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A user memory region: pages of a process, pinned and mapped for a device.
 *
 * A region owns, from ib_umem_get() until ib_umem_release(): one pin on each of
 * its pages, as much of the process's locked-memory allowance, a DMA mapping, and
 * a reference on the mm (mm_count: the allowance must be there to give back, the
 * address space may go).
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <rdma/ib_umem.h>

/* Pages pinned by one call: one page of pointers. */
#define UMEM_BATCH (PAGE_SIZE / sizeof(struct page *))

/* Checks a user range and starts @umem for it; takes a reference on its mm. */
static int umem_init(struct ib_umem *umem, struct ib_device *device,
		     unsigned long addr, size_t size, int access)
{
	unsigned long end;

	if (check_add_overflow(addr, (unsigned long)size, &end) ||
	    end > ULONG_MAX - PAGE_SIZE)
		return -EINVAL;
	if (!can_do_mlock())
		return -EPERM;

	umem->ibdev = device;
	umem->address = addr;
	/* Drivers use the address as IOVA until they set another. */
	umem->iova = addr;
	umem->length = size;
	umem->writable = ib_access_writable(access);
	umem->owning_mm = current->mm;
	mmgrab(umem->owning_mm);
	return 0;
}

static int umem_charge(struct mm_struct *mm, unsigned long npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(npages, &mm->pinned_vm) <= limit ||
	    capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(npages, &mm->pinned_vm);
	return -ENOMEM;
}

static void umem_unpin(struct ib_umem *umem)
{
	struct sg_table *sgt = &umem->sgt_append.sgt;
	bool dirty = umem->writable;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i)
		unpin_user_page_range_dirty_lock(sg_page(sg),
						 DIV_ROUND_UP(sg->length,
							      PAGE_SIZE),
						 dirty);
	sg_free_append_table(&umem->sgt_append);
}

/* Pins @npages from the region's start and gathers them into its table. */
static int umem_pin(struct ib_umem *umem, unsigned long npages,
		    struct page **batch)
{
	unsigned int max_seg = ib_dma_max_seg_size(umem->ibdev);
	unsigned long at = umem->address & PAGE_MASK;
	unsigned int flags = FOLL_LONGTERM;
	int got, ret;

	if (umem->writable)
		flags |= FOLL_WRITE;

	while (npages) {
		cond_resched();
		got = pin_user_pages_fast(at, min(npages, UMEM_BATCH), flags,
					  batch);
		if (got <= 0)
			return got ?: -EFAULT;
		at += (unsigned long)got << PAGE_SHIFT;
		npages -= got;
		ret = sg_alloc_append_table_from_pages(&umem->sgt_append, batch,
						       got, 0,
						       (size_t)got << PAGE_SHIFT,
						       max_seg, npages,
						       GFP_KERNEL);
		if (ret) {
			unpin_user_pages(batch, got);
			return ret;
		}
	}
	return 0;
}

static int umem_populate(struct ib_umem *umem, int access)
{
	unsigned long npages = ib_umem_num_pages(umem);
	unsigned long attrs = 0;
	struct page **batch;
	int ret;

	if (!npages || npages > UINT_MAX)
		return -EINVAL;
	batch = (struct page **)__get_free_page(GFP_KERNEL);
	if (!batch)
		return -ENOMEM;
	ret = umem_charge(umem->owning_mm, npages);
	if (ret)
		goto free_batch;

	if (access & IB_ACCESS_RELAXED_ORDERING)
		attrs = DMA_ATTR_WEAK_ORDERING;
	ret = umem_pin(umem, npages, batch);
	if (!ret)
		ret = ib_dma_map_sgtable_attrs(umem->ibdev,
					       &umem->sgt_append.sgt,
					       DMA_BIDIRECTIONAL, attrs);
	if (ret) {
		umem_unpin(umem);
		atomic64_sub(npages, &umem->owning_mm->pinned_vm);
	}
free_batch:
	free_page((unsigned long)batch);
	return ret;
}

/**
 * ib_umem_get - pin a range of the calling process and map it for a device
 * @device: device that will access the memory
 * @addr: user virtual address of the first byte, need not be aligned
 * @size: bytes
 * @access: enum ib_access_flags; without a remote or local write flag the device
 *	may only read, and the pages are not dirtied
 *
 * Context: process context of the owner; may sleep.
 * Return: the region, or an ERR_PTR: -EINVAL for an empty or wrapping range,
 * -EPERM when the process may lock no memory, -ENOMEM also for its
 * RLIMIT_MEMLOCK, -EOPNOTSUPP for IB_ACCESS_ON_DEMAND,
 * -EFAULT where nothing is mapped.  IBA volume 1, 10.6.3, memory registration.
 */
struct ib_umem *ib_umem_get(struct ib_device *device, unsigned long addr,
			    size_t size, int access)
{
	struct ib_umem *umem;
	int ret;

	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	umem = kzalloc(sizeof(*umem), GFP_KERNEL);
	if (!umem)
		return ERR_PTR(-ENOMEM);
	ret = umem_init(umem, device, addr, size, access);
	if (ret)
		goto free_umem;
	ret = umem_populate(umem, access);
	if (ret)
		goto drop_mm;
	return umem;

drop_mm:
	mmdrop(umem->owning_mm);
free_umem:
	kfree(umem);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_umem_get);

/**
 * ib_umem_release - unmap, unpin and free a region
 * @umem: the region, or NULL
 *
 * The device must have stopped using it.
 *
 * Context: process context, of any process; may sleep.
 */
void ib_umem_release(struct ib_umem *umem)
{
	if (!umem)
		return;
	ib_dma_unmap_sgtable_attrs(umem->ibdev, &umem->sgt_append.sgt,
				   DMA_BIDIRECTIONAL, 0);
	umem_unpin(umem);
	atomic64_sub(ib_umem_num_pages(umem), &umem->owning_mm->pinned_vm);
	mmdrop(umem->owning_mm);
	kfree(umem);
}
EXPORT_SYMBOL(ib_umem_release);

/**
 * ib_umem_copy_from - copy bytes out of a pinned region
 * @to: kernel buffer
 * @umem: region from ib_umem_get()
 * @offset: bytes from the region's first byte
 * @len: bytes
 *
 * Context: any, the pages are pinned.
 * Return: 0, or -EINVAL when the bytes are not all inside the region.
 */
int ib_umem_copy_from(void *to, struct ib_umem *umem, size_t offset,
		      size_t len)
{
	size_t skip = offset + ib_umem_offset(umem);
	struct sg_table *sgt = &umem->sgt_append.sgt;

	if (offset > umem->length || umem->length - offset < len)
		return -EINVAL;
	if (sg_pcopy_to_buffer(sgt->sgl, sgt->orig_nents, to, len, skip) < len)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL(ib_umem_copy_from);

/**
 * ib_umem_find_best_pgsz - largest device page that can describe a region
 * @umem: region
 * @pgsz_bitmap: page sizes the device has, each bit a size in bytes
 * @virt: IOVA of the region's first byte
 *
 * A page size fits when every DMA segment, but for the start of the first and
 * the end of the last, begins and ends on it, and the IOVA has the same offset in
 * a page as the DMA address.
 *
 * Context: any.
 * Return: the size in bytes, or 0 when none fits.
 */
unsigned long ib_umem_find_best_pgsz(struct ib_umem *umem,
				     unsigned long pgsz_bitmap,
				     u64 virt)
{
	struct sg_table *sgt = &umem->sgt_append.sgt;
	u64 bad = 0, at, begin, end;
	struct scatterlist *sg;
	unsigned long fits;
	unsigned int i;

	umem->iova = virt;
	at = virt & PAGE_MASK;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		begin = sg_dma_address(sg);
		end = begin + sg_dma_len(sg);
		/* Bits in which IOVA and DMA address part are inside a page. */
		bad |= at ^ begin;
		if (i)
			bad |= begin;
		if (i + 1 < sgt->nents)
			bad |= end;
		at += sg_dma_len(sg);
	}
	/* No page need be larger than what holds the whole IOVA range. */
	bad |= BIT_ULL(fls64((virt ^ (virt + umem->length - 1)) | 1));
	bad |= BIT_ULL(63);
	fits = pgsz_bitmap & GENMASK(__ffs64(bad), 0);
	return fits ? rounddown_pow_of_two(fits) : 0;
}
EXPORT_SYMBOL(ib_umem_find_best_pgsz);

/**
 * ib_umem_check_rereg - can a region keep its pages when its MR is changed
 * @umem: region
 * @flags: enum ib_mr_rereg_flags, what the user wants changed
 * @new_access_flags: enum ib_access_flags after the change
 *
 * Context: any.
 * Return: 0, or -EACCES when the access asked for needs pages that were not
 * pinned for it.
 */
int ib_umem_check_rereg(struct ib_umem *umem, int flags, int new_access_flags)
{
	if ((flags & IB_MR_REREG_ACCESS) && !umem->writable &&
	    ib_access_writable(new_access_flags))
		return -EACCES;
	return 0;
}
EXPORT_SYMBOL(ib_umem_check_rereg);
