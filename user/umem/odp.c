// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An on-demand memory region: nothing is pinned.  The device faults, the driver maps
 * pages by the functions here, and an MMU notifier unmaps them again when the process's
 * page tables change.
 *
 * dma_list and pfn_list tell which pages the device may use now; both, and npages,
 * change under umem_mutex only.  While dma_list has an entry, its page is in the
 * process's page tables: (1) it is entered under umem_mutex, with no invalidation since
 * the page tables were read (mmu_interval_read_retry()); (2) an invalidation waits in
 * the driver's callback for umem_mutex and removes the entry before the page tables
 * change.  So no reference on the page is needed.  Each call reads the page tables into
 * memory of its own, because other calls and invalidations run at the same time.
 *
 * An implicit region stands for the whole address space.  It has no pages itself; its
 * driver makes a child for each part that is used.
 *
 * A region holds a reference on its mm (mm_count) and on its process's pid.  It does
 * not keep the address space alive, at whose end the region is invalidated a last time.
 */
#include <linux/hmm.h>
#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>

/* A fault of up to this many pages needs no allocation. */
#define ODP_FEW_PAGES 16

#define ODP_ACCESS_BITS ((u64)(ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT))

/* The user chooses the length of tables: they are charged to him, without warnings. */
#define ODP_GFP (GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

static struct ib_umem_odp *odp_new(struct ib_device *device,
				   struct mm_struct *mm, bool writable)
{
	struct ib_umem_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL);

	if (!odp)
		return NULL;
	odp->umem.ibdev = device;
	odp->umem.writable = writable;
	odp->umem.is_odp = 1;
	odp->umem.owning_mm = mm;
	mmgrab(mm);
	odp->page_shift = PAGE_SHIFT;
	mutex_init(&odp->umem_mutex);
	return odp;
}

/* Frees a region that has no notifier: no callback can refer to it. */
static void odp_free(struct ib_umem_odp *odp)
{
	kvfree(odp->dma_list);
	kvfree(odp->pfn_list);
	put_pid(odp->tgid);
	mutex_destroy(&odp->umem_mutex);
	mmdrop(odp->umem.owning_mm);
	kfree(odp);
}

/*
 * Sets the range of a region, in whole pages, and registers its notifier.  The caller
 * keeps the address space alive.  The driver's callback may run before this returns, so
 * all that it needs is set up first.
 */
static int odp_set_range(struct ib_umem_odp *odp, unsigned long addr, size_t size,
			 const struct mmu_interval_notifier_ops *ops)
{
	unsigned long page = BIT(odp->page_shift);
	unsigned long begin, end;

	if (check_add_overflow(addr, (unsigned long)size, &end) ||
	    end > ULONG_MAX - page)
		return -EINVAL;
	begin = ALIGN_DOWN(addr, page);
	end = ALIGN(end, page);
	if (begin == end)
		return -EINVAL;

	odp->umem.address = addr;
	/* Drivers use the address as IOVA until they set another. */
	odp->umem.iova = addr;
	odp->umem.length = size;
	odp->pfn_list = kvcalloc((end - begin) >> PAGE_SHIFT,
				 sizeof(*odp->pfn_list), ODP_GFP);
	odp->dma_list = kvcalloc((end - begin) >> odp->page_shift,
				 sizeof(*odp->dma_list), ODP_GFP);
	if (!odp->pfn_list || !odp->dma_list)
		return -ENOMEM;
	return mmu_interval_notifier_insert(&odp->notifier, odp->umem.owning_mm,
					    begin, end - begin, ops);
}

/**
 * ib_umem_odp_get() - make an on-demand region of the calling process
 * @device: device that will access it
 * @addr: user virtual address of the first byte, need not be aligned
 * @size: bytes
 * @access: enum ib_access_flags, with IB_ACCESS_ON_DEMAND; with IB_ACCESS_HUGETLB all
 *	of it must be in huge pages when it is used
 * @ops: invalidate callback; takes umem_mutex and unmaps.  May be called before this
 *	function returns, while private is NULL.
 *
 * Context: process context of the owner; may sleep.
 * Return: the region, or an ERR_PTR: -EINVAL for a range that touches no page or
 * wraps, -ENOMEM, -EINTR.
 */
struct ib_umem_odp *ib_umem_odp_get(struct ib_device *device, unsigned long addr,
				    size_t size, int access,
				    const struct mmu_interval_notifier_ops *ops)
{
	struct ib_umem_odp *odp;
	int ret;

	if (WARN_ON_ONCE(!(access & IB_ACCESS_ON_DEMAND)) || !current->mm)
		return ERR_PTR(-EINVAL);
	odp = odp_new(device, current->mm, ib_access_writable(access));
	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->tgid = get_task_pid(current->group_leader, PIDTYPE_PID);
#ifdef CONFIG_HUGETLB_PAGE
	if (access & IB_ACCESS_HUGETLB)
		odp->page_shift = HPAGE_SHIFT;
#endif
	ret = odp_set_range(odp, addr, size, ops);
	if (!ret)
		return odp;
	odp_free(odp);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_umem_odp_get);

/**
 * ib_umem_odp_alloc_implicit() - make an implicit region of the calling process
 * @device: device that will access it
 * @access: enum ib_access_flags
 *
 * Context: process context of the owner; may sleep.
 * Return: the region, or an ERR_PTR: -EINVAL without an address space or for
 * IB_ACCESS_HUGETLB, -ENOMEM.
 */
struct ib_umem_odp *ib_umem_odp_alloc_implicit(struct ib_device *device,
					       int access)
{
	struct ib_umem_odp *odp;

	if ((access & IB_ACCESS_HUGETLB) || !current->mm)
		return ERR_PTR(-EINVAL);
	odp = odp_new(device, current->mm, ib_access_writable(access));
	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->tgid = get_task_pid(current->group_leader, PIDTYPE_PID);
	odp->is_implicit_odp = true;
	return odp;
}
EXPORT_SYMBOL(ib_umem_odp_alloc_implicit);

/**
 * ib_umem_odp_alloc_child() - make an on-demand region within an implicit one
 * @root: implicit region; the caller keeps it during the call, the child does not
 *	need it afterwards
 * @addr: user virtual address of the first byte
 * @size: bytes
 * @ops: as for ib_umem_odp_get()
 *
 * Context: process context, of any process; may sleep.
 * Return: the region, or an ERR_PTR: -EFAULT when the address space was torn down,
 * otherwise as ib_umem_odp_get().
 */
struct ib_umem_odp *
ib_umem_odp_alloc_child(struct ib_umem_odp *root, unsigned long addr, size_t size,
			const struct mmu_interval_notifier_ops *ops)
{
	struct mm_struct *mm = root->umem.owning_mm;
	struct ib_umem_odp *odp;
	int ret;

	if (WARN_ON_ONCE(!root->is_implicit_odp))
		return ERR_PTR(-EINVAL);
	odp = odp_new(root->umem.ibdev, mm, root->umem.writable);
	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->tgid = get_pid(root->tgid);

	if (mmget_not_zero(mm)) {
		ret = odp_set_range(odp, addr, size, ops);
		mmput(mm);
	} else {
		ret = -EFAULT;
	}
	if (!ret)
		return odp;
	odp_free(odp);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_umem_odp_alloc_child);

static unsigned long odp_pages_each(const struct ib_umem_odp *odp)
{
	return BIT(odp->page_shift - PAGE_SHIFT);
}

/* Unmaps entry @i from the device and removes it from the lists. */
static void odp_unmap_entry(struct ib_umem_odp *odp, size_t i)
{
	unsigned long *pfn = &odp->pfn_list[i * odp_pages_each(odp)];
	dma_addr_t dma = odp->dma_list[i];

	if (!dma)
		return;
	ib_dma_unmap_page(odp->umem.ibdev, dma & ODP_DMA_ADDR_MASK,
			  BIT(odp->page_shift), DMA_BIDIRECTIONAL);
	/*
	 * The page lock cannot be taken in a notifier.  It is not needed: the page is
	 * still in the page tables, and umem_mutex keeps it there.
	 */
	if (dma & ODP_WRITE_ALLOWED_BIT)
		folio_mark_dirty(page_folio(hmm_pfn_to_page(*pfn)));
	odp->dma_list[i] = 0;
	*pfn = 0;
	odp->npages--;
}

/**
 * ib_umem_odp_unmap_dma_pages() - unmap pages of a region from its device
 * @umem_odp: region, not an implicit one
 * @virt: user virtual address of the first byte
 * @bound: address after the last; what is outside of the region is ignored
 *
 * The device must have stopped using the pages.  Those that it could write are dirtied.
 *
 * Context: process, under umem_mutex; MMU notifiers.
 */
void ib_umem_odp_unmap_dma_pages(struct ib_umem_odp *umem_odp, u64 virt,
				 u64 bound)
{
	u64 begin = ib_umem_start(umem_odp), end = ib_umem_end(umem_odp);
	size_t i, last;

	lockdep_assert_held(&umem_odp->umem_mutex);
	virt = max(virt, begin);
	bound = min(bound, end);
	if (virt >= bound)
		return;
	last = (bound - 1 - begin) >> umem_odp->page_shift;
	for (i = (virt - begin) >> umem_odp->page_shift; i <= last; i++)
		odp_unmap_entry(umem_odp, i);
}
EXPORT_SYMBOL(ib_umem_odp_unmap_dma_pages);

/**
 * ib_umem_odp_release() - unmap and free an on-demand region
 * @umem_odp: region of any kind
 *
 * The device must have stopped using the region.
 *
 * Context: process context, of any process, not in a notifier; may sleep.
 */
void ib_umem_odp_release(struct ib_umem_odp *umem_odp)
{
	/*
	 * No reference remains: (1) nothing is mapped for the device: the caller
	 * guarantees that the driver's faults are over, and the pages are unmapped
	 * while the notifier still protects them; (2) no notifier callback runs after
	 * the notifier's removal has returned; (3) children do not refer to an implicit
	 * region.
	 */
	if (umem_odp->is_implicit_odp)
		goto free;
	mutex_lock(&umem_odp->umem_mutex);
	ib_umem_odp_unmap_dma_pages(umem_odp, 0, U64_MAX);
	mutex_unlock(&umem_odp->umem_mutex);
	WARN_ON(umem_odp->npages);
	mmu_interval_notifier_remove(&umem_odp->notifier);
free:
	odp_free(umem_odp);
}
EXPORT_SYMBOL(ib_umem_odp_release);

/* A snapshot of the page tables for part of a region. */
struct odp_look {
	struct hmm_range range;
	u64 access;			/* requested ODP_*_ALLOWED_BIT */
	bool fault;			/* fault in absent pages */
	unsigned long few[ODP_FEW_PAGES];
};

/* Access to a page that the device gets; 0: none. */
static u64 odp_grant(const struct odp_look *look, unsigned long pfn)
{
	if (!(pfn & HMM_PFN_VALID))
		return 0;
	if (look->fault || pfn & HMM_PFN_WRITE)
		return look->access;
	return look->access & ODP_READ_ALLOWED_BIT;
}

/* Maps entry @i for the device, or adds access if it is mapped already. */
static int odp_map_entry(struct ib_umem_odp *odp, size_t i, unsigned long pfn,
			 u64 access)
{
	struct ib_device *dev = odp->umem.ibdev;
	dma_addr_t dma = odp->dma_list[i];

	if (!dma) {
		dma = ib_dma_map_page(dev, hmm_pfn_to_page(pfn), 0,
				      BIT(odp->page_shift), DMA_BIDIRECTIONAL);
		if (ib_dma_mapping_error(dev, dma))
			return -EFAULT;
		odp->npages++;
	}
	/* A mapped entry was not invalidated meanwhile, so it is still the same page. */
	odp->pfn_list[i * odp_pages_each(odp)] = pfn;
	odp->dma_list[i] = dma | access;
	return 0;
}

/*
 * Enters the pages of a valid snapshot in the lists, under umem_mutex.  Entries made
 * before an error stay: they are valid like any other.
 */
static int odp_enter(struct ib_umem_odp *odp, const struct odp_look *look)
{
	size_t first = (look->range.start - ib_umem_start(odp)) >> odp->page_shift;
	size_t n = (look->range.end - look->range.start) >> odp->page_shift;
	unsigned long pfn;
	u64 access;
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		pfn = look->range.hmm_pfns[i * odp_pages_each(odp)];
		access = odp_grant(look, pfn);
		if (!access) {
			if (WARN_ON_ONCE(look->fault))
				return -EFAULT;
			continue;
		}
		if (PAGE_SHIFT + hmm_pfn_to_map_order(pfn) < odp->page_shift) {
			ibdev_dbg(odp->umem.ibdev,
				  "page of order %u in a region of shift %u\n",
				  hmm_pfn_to_map_order(pfn), odp->page_shift);
			return -EINVAL;
		}
		ret = odp_map_entry(odp, first + i, pfn, access);
		if (ret)
			return ret;
	}
	return n;
}

/*
 * Reads the page tables until the result is still valid under umem_mutex, which is held
 * on success.  The process may keep changing its page tables, so there is a time limit.
 */
static int odp_look_and_lock(struct ib_umem_odp *odp, struct odp_look *look)
{
	unsigned long deadline = jiffies +
				 msecs_to_jiffies(HMM_RANGE_DEFAULT_TIMEOUT);
	struct hmm_range *range = &look->range;
	struct mm_struct *mm = odp->umem.owning_mm;
	int ret;

	do {
		range->notifier_seq = mmu_interval_read_begin(range->notifier);
		mmap_read_lock(mm);
		ret = hmm_range_fault(range);
		mmap_read_unlock(mm);
		if (ret && ret != -EBUSY)
			return ret;

		if (!ret) {
			mutex_lock(&odp->umem_mutex);
			if (!mmu_interval_read_retry(range->notifier,
						     range->notifier_seq))
				return 0;
			mutex_unlock(&odp->umem_mutex);
		}
	} while (time_before(jiffies, deadline));
	return -EAGAIN;
}

static int odp_look_init(struct odp_look *look, struct ib_umem_odp *odp,
			 u64 begin, u64 end)
{
	struct hmm_range *range = &look->range;
	size_t npfns;

	range->notifier = &odp->notifier;
	range->start = ALIGN_DOWN(begin, BIT(odp->page_shift));
	range->end = ALIGN(end, BIT(odp->page_shift));
	if (look->fault)
		range->default_flags = HMM_PFN_REQ_FAULT;
	if (look->fault && look->access & ODP_WRITE_ALLOWED_BIT)
		range->default_flags |= HMM_PFN_REQ_WRITE;

	npfns = (range->end - range->start) >> PAGE_SHIFT;
	if (npfns <= ODP_FEW_PAGES)
		range->hmm_pfns = look->few;
	else
		range->hmm_pfns = kvcalloc(npfns, sizeof(*range->hmm_pfns),
					   ODP_GFP);
	return range->hmm_pfns ? 0 : -ENOMEM;
}

static int odp_map_range(struct ib_umem_odp *odp, struct odp_look *look,
			 u64 begin, u64 end)
{
	struct mm_struct *mm = odp->umem.owning_mm;
	int ret;

	ret = odp_look_init(look, odp, begin, end);
	if (ret)
		return ret;
	if (mmget_not_zero(mm)) {
		ret = odp_look_and_lock(odp, look);
		/* The last mmput() runs notifiers, which need umem_mutex. */
		mmput_async(mm);
	} else {
		ret = -EFAULT;
	}
	if (!ret) {
		ret = odp_enter(odp, look);
		if (ret < 0)
			mutex_unlock(&odp->umem_mutex);
	}
	if (look->range.hmm_pfns != look->few)
		kvfree(look->range.hmm_pfns);
	return ret;
}

/**
 * ib_umem_odp_map_dma_and_lock() - map pages of a region for its device
 * @umem_odp: region, not an implicit one
 * @user_virt: user virtual address of the first byte
 * @bcnt: bytes
 * @access_mask: ODP_READ_ALLOWED_BIT, ODP_WRITE_ALLOWED_BIT: requested access
 * @fault: fault in absent pages; otherwise only present pages are mapped, with the
 *	access that they allow, and absent pages have no dma_list entry
 *
 * On success umem_mutex is held, and dma_list is valid until it is dropped: the driver
 * passes dma_list on to the device before that.
 *
 * Context: process context, of any process, without mmap_lock; may sleep.
 * Return: how many entries of dma_list the range covers, from that of @user_virt on;
 * -EFAULT if part of the range is outside the region or not mapped, or the address space
 * was torn down; -EPERM for write access to what the process may not write; -EINVAL for
 * no access, no bytes, or pages smaller than the region's; -ENOMEM; -EAGAIN when the
 * process kept changing its page tables for a second.
 */
int ib_umem_odp_map_dma_and_lock(struct ib_umem_odp *umem_odp, u64 user_virt,
				 u64 bcnt, u64 access_mask, bool fault)
{
	struct odp_look look = { .access = access_mask, .fault = fault };
	u64 end;

	if (!access_mask || access_mask & ~ODP_ACCESS_BITS || !bcnt)
		return -EINVAL;
	if (access_mask & ODP_WRITE_ALLOWED_BIT && !umem_odp->umem.writable)
		return -EPERM;
	if (user_virt < ib_umem_start(umem_odp) ||
	    check_add_overflow(user_virt, bcnt, &end) ||
	    end > ib_umem_end(umem_odp))
		return -EFAULT;
	return odp_map_range(umem_odp, &look, user_virt, end);
}
EXPORT_SYMBOL(ib_umem_odp_map_dma_and_lock);
