// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A user memory region: pages of a process, pinned and mapped for a device.
 *
 * A region holds, from ib_umem_get() until ib_umem_release(): one pin on each of its
 * pages, a charge of as many pages to the process's locked-memory limit, a DMA mapping,
 * and a reference on the mm (mm_count: the mm must exist to give the charge back, the
 * address space need not).
 *
 * The pins are long-term (FOLL_LONGTERM): pages are moved out of movable memory, and
 * must not belong to file systems that need to be able to take them back.  Pages that
 * are only read are pinned without FOLL_WRITE; a private page shared after a fork is
 * then unshared first, so that the device and the process go on seeing the same page.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <kunit/visibility.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#include <ibex/compat.h>
#include <ibex/compat/updates.h>

#include "umem/umem.h"

struct umem_pinned {
	struct ib_umem umem;
	unsigned long dma_attrs;	/* of its DMA mapping, also to unmap it */
};

static struct umem_pinned *to_umem_pinned(struct ib_umem *umem)
{
	return container_of(umem, struct umem_pinned, umem);
}

/* @umem must be a pinned region. */
VISIBLE_IF_KUNIT unsigned long umem_dma_attrs(struct ib_umem *umem)
{
	return to_umem_pinned(umem)->dma_attrs;
}
EXPORT_SYMBOL_IF_KUNIT(umem_dma_attrs);

/* Pages pinned by one call: one page of pointers. */
#define UMEM_BATCH (PAGE_SIZE / sizeof(struct page *))

/*
 * Number of memory pages of a region.  ib_umem_num_pages() would count by the IOVA,
 * which drivers may change to one with another offset in its page.
 */
static size_t umem_memory_pages(struct ib_umem *umem)
{
	return DIV_ROUND_UP(ib_umem_offset(umem) + umem->length, PAGE_SIZE);
}

/* Checks a user range and sets up @umem for it; takes a reference on the current mm. */
static int umem_init(struct ib_umem *umem, struct ib_device *device,
		     unsigned long addr, size_t size, int access)
{
	unsigned long end;

	if (check_add_overflow(addr, (unsigned long)size, &end) ||
	    end > ULONG_MAX - PAGE_SIZE || !current->mm)
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

/* @dirty: the device may have written to the pages. */
static void umem_unpin(struct ib_umem *umem, bool dirty)
{
	struct sg_table *sgt = &umem->sgt_append.sgt;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg),
						 DIV_ROUND_UP(sg->length,
							      PAGE_SIZE),
						 dirty);
		cond_resched();
	}
	sg_free_append_table(&umem->sgt_append);
}

/*
 * Pins @npages from the region's start and gathers them in its table.  On an error the
 * table has the pages of all complete batches; those of the failed batch are not
 * pinned.
 */
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
	unsigned long npages = umem_memory_pages(umem);
	struct page **batch;
	int ret;

	if (!npages || npages > UINT_MAX)
		return -EINVAL;
	batch = kmalloc(PAGE_SIZE, GFP_KERNEL);
	if (!batch)
		return -ENOMEM;
	ret = umem_charge(umem->owning_mm, npages);
	if (ret)
		goto free_batch;

	if (access & IB_ACCESS_RELAXED_ORDERING)
		to_umem_pinned(umem)->dma_attrs = DMA_ATTR_WEAK_ORDERING;
	ret = umem_pin(umem, npages, batch);
	if (!ret)
		ret = ib_dma_map_sgtable_attrs(umem->ibdev,
					       &umem->sgt_append.sgt,
					       DMA_BIDIRECTIONAL,
					       umem_dma_attrs(umem));
	if (ret) {
		umem_unpin(umem, false);
		atomic64_sub(npages, &umem->owning_mm->pinned_vm);
	}
free_batch:
	kfree(batch);
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
 * Return: the region, or an ERR_PTR: -EINVAL for a range that touches no page or
 * wraps, -EPERM when the process may lock no memory, -ENOMEM also beyond its
 * RLIMIT_MEMLOCK, -EOPNOTSUPP for IB_ACCESS_ON_DEMAND, -EFAULT if part of the range is
 * not mapped.  IBA volume 1, 10.6.3, memory registration.
 */
struct ib_umem *ib_umem_get(struct ib_device *device, unsigned long addr,
			    size_t size, int access)
{
	struct umem_pinned *pinned;
	struct ib_umem *umem;
	int ret;

	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	pinned = kzalloc(sizeof(*pinned), GFP_KERNEL);
	if (!pinned)
		return ERR_PTR(-ENOMEM);
	umem = &pinned->umem;
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
	kfree(pinned);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_umem_get);

static void umem_release_pinned(struct ib_umem *umem)
{
	ib_dma_unmap_sgtable_attrs(umem->ibdev, &umem->sgt_append.sgt,
				   DMA_BIDIRECTIONAL, umem_dma_attrs(umem));
	umem_unpin(umem, umem->writable);
	atomic64_sub(umem_memory_pages(umem), &umem->owning_mm->pinned_vm);
	mmdrop(umem->owning_mm);
	kfree(to_umem_pinned(umem));
}

/**
 * ib_umem_release - unmap, unpin and free a region
 * @umem: region of any kind (pinned, on demand, dma-buf), or NULL
 *
 * The device must have stopped using the region.
 *
 * Context: process context, of any process; may sleep.
 */
void ib_umem_release(struct ib_umem *umem)
{
	if (!umem)
		return;
	if (umem->is_dmabuf)
		ib_umem_dmabuf_release(to_ib_umem_dmabuf(umem));
	else if (umem->is_odp)
		ib_umem_odp_release(to_ib_umem_odp(umem));
	else
		umem_release_pinned(umem);
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
 * Return: 0, or -EINVAL when the bytes are not all inside the region, or when it
 * has no pinned pages of a process (on demand, dma-buf).
 */
int ib_umem_copy_from(void *to, struct ib_umem *umem, size_t offset,
		      size_t len)
{
	size_t skip = offset + ib_umem_offset(umem);
	struct sg_table *sgt = &umem->sgt_append.sgt;

	if (umem->is_odp || umem->is_dmabuf)
		return -EINVAL;
	if (offset > umem->length || umem->length - offset < len)
		return -EINVAL;
	if (sg_pcopy_to_buffer(sgt->sgl, sgt->orig_nents, to, len, skip) < len)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL(ib_umem_copy_from);

/*
 * Address bits that limit the size of device pages, which must not be larger than the
 * lowest of them: those in which the IOVA and the DMA address differ at the region's
 * start, and those that are set in either address at a border between two runs of
 * consecutive DMA addresses.
 */
static u64 umem_misaligned_bits(struct ib_umem *umem, u64 virt)
{
	u64 skip = ib_umem_offset(umem), prev_end = 0, bad = 0, begin;
	struct sg_table *sgt = &umem->sgt_append.sgt;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		begin = sg_dma_address(sg) + skip;
		if (!i)
			bad |= virt ^ begin;
		else if (begin != prev_end)
			bad |= prev_end | virt | begin;
		virt += sg_dma_len(sg) - skip;
		prev_end = sg_dma_address(sg) + sg_dma_len(sg);
		skip = 0;
	}
	return bad;
}

/* The page sizes of @pgsz_bitmap of which one page can hold the whole IOVA range. */
static unsigned long umem_pgsz_holding(struct ib_umem *umem,
				       unsigned long pgsz_bitmap, u64 virt)
{
	u64 last = umem->length ? virt + umem->length - 1 : virt;
	int order = fls64(virt ^ last);

	if (order >= BITS_PER_LONG)
		return 0;
	return pgsz_bitmap & GENMASK(BITS_PER_LONG - 1, order);
}

/* All pages of an on-demand region have the size that the region was made with. */
static unsigned long umem_odp_pgsz(struct ib_umem *umem,
				   unsigned long pgsz_bitmap, u64 virt)
{
	unsigned long pgsz = BIT(to_ib_umem_odp(umem)->page_shift);

	if ((umem->address ^ virt) & (pgsz - 1))
		return 0;
	return pgsz_bitmap & pgsz;
}

/**
 * ib_umem_find_best_pgsz - largest device page that can describe a region
 * @umem: region; its IOVA is set to @virt
 * @pgsz_bitmap: page sizes the device has, each bit a size in bytes
 * @virt: IOVA of the region's first byte
 *
 * A page size fits when every run of consecutive DMA addresses begins and ends at a
 * multiple of it, except for the start of the first run and the end of the last, and
 * the IOVA has the same offset in a page as the DMA address.  The result is not larger
 * than the smallest size that holds the whole region in one page.
 *
 * Context: any; for a dma-buf under its reservation lock, with its pages mapped.
 * Return: the size in bytes, or 0 when none fits.
 */
unsigned long ib_umem_find_best_pgsz(struct ib_umem *umem,
				     unsigned long pgsz_bitmap,
				     IBEX_UMEM_VIRT virt)
{
	unsigned long fits = pgsz_bitmap;
	u64 bad;

	umem->iova = virt;
	if (umem->length && virt > U64_MAX - (umem->length - 1))
		return 0;
	if (umem->is_odp)
		return umem_odp_pgsz(umem, pgsz_bitmap, virt);
	if (!umem->sgt_append.sgt.nents)
		return 0;

	bad = umem_misaligned_bits(umem, virt) |
	      umem_pgsz_holding(umem, pgsz_bitmap, virt);
	/* The lowest bit of bad is the largest size that still fits. */
	if (bad && __ffs64(bad) < BITS_PER_LONG)
		fits &= GENMASK(__ffs64(bad), 0);
	return fits ? rounddown_pow_of_two(fits) : 0;
}
EXPORT_SYMBOL(ib_umem_find_best_pgsz);

/**
 * ib_umem_check_rereg - check whether a region can keep its pages when its MR changes
 * @umem: region
 * @flags: enum ib_mr_rereg_flags, what the user wants changed
 * @new_access_flags: enum ib_access_flags after the change
 *
 * Context: any.
 * Return: 0, or -EACCES when the requested access needs pages that are pinned for
 * writing, and these are not.
 */
int ib_umem_check_rereg(struct ib_umem *umem, int flags, int new_access_flags)
{
	if ((flags & IB_MR_REREG_ACCESS) && !umem->writable &&
	    ib_access_writable(new_access_flags))
		return -EACCES;
	return 0;
}
EXPORT_SYMBOL(ib_umem_check_rereg);
