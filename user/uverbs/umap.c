// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Mappings of device memory into processes, from when a driver made them with
 * rdma_user_mmap_io() until they are unmapped.
 *
 * A mapping is live while its record is on the file's list, and revoked once the record
 * is off the list: then its pages were zapped and faults bring in a dummy page, so that
 * a process that still writes to its doorbell is not killed.  A record belongs to one
 * VMA and is freed with it; a fork, split or move of the VMA makes another record.  A
 * live record holds a reference on its mmap entry; a revoked record holds none, because
 * the driver may have been removed.
 *
 * A process can reach a page of the device only through a live mapping: (1)
 * rdma_user_mmap_io() fills in the pages and enters the record under one hold of
 * rdma_umaps.lock; (2) the copy of a live VMA is live before it gets the pages, because
 * open() runs first; (3) the copy of a revoked VMA gets none, because the pages were
 * zapped and the record taken off the list under one hold of rdma_umaps.lock; (4)
 * faults never bring in device memory.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "uverbs/uverbs.h"

static struct ib_uverbs_file *umap_file(struct vm_area_struct *vma)
{
	return vma->vm_file->private_data;
}

/* Revokes a record.  The caller must put the reference on the returned entry. */
static struct rdma_user_mmap_entry *umap_retire(struct rdma_umaps *umaps,
						struct rdma_umap_priv *priv)
{
	struct rdma_user_mmap_entry *entry = priv->entry;

	lockdep_assert_held(&umaps->lock);
	list_del_init(&priv->list);
	priv->entry = NULL;
	return entry;
}

static void umap_put_entry(struct rdma_user_mmap_entry *entry)
{
	if (entry)
		rdma_user_mmap_entry_put(entry);
}

/*
 * Makes the record of a VMA that is a copy of another.  Called under mmap_lock of the
 * copy's mm.  The allocation may not fail: a copy without a record would keep the
 * device's pages.
 */
static void umap_open(struct vm_area_struct *vma)
{
	struct rdma_umap_priv *orig = vma->vm_private_data, *copy;
	struct rdma_umaps *umaps = &umap_file(vma)->umaps;

	if (!orig)
		return;
	copy = kzalloc(sizeof(*copy), GFP_KERNEL | __GFP_NOFAIL);
	copy->vma = vma;
	INIT_LIST_HEAD(&copy->list);
	vma->vm_private_data = copy;

	mutex_lock(&umaps->lock);
	if (!list_empty(&orig->list)) {
		copy->entry = orig->entry;
		if (copy->entry)
			kref_get(&copy->entry->ref);
		list_add(&copy->list, &umaps->list);
	}
	mutex_unlock(&umaps->lock);
}

/*
 * No reference to the record remains: (1) it is taken off the list under the list's
 * lock, so revocation does not find it; (2) its VMA is being removed, so it no longer
 * faults and is not copied.
 */
static void umap_close(struct vm_area_struct *vma)
{
	struct rdma_umap_priv *priv = vma->vm_private_data;
	struct rdma_umaps *umaps = &umap_file(vma)->umaps;
	struct rdma_user_mmap_entry *entry;

	if (!priv)
		return;
	mutex_lock(&umaps->lock);
	entry = umap_retire(umaps, priv);
	mutex_unlock(&umaps->lock);
	vma->vm_private_data = NULL;
	umap_put_entry(entry);
	kfree(priv);
}

static struct page *umap_dummy_page(struct ib_uverbs_file *file, gfp_t gfp)
{
	mutex_lock(&file->umaps.lock);
	if (!file->dummy_page)
		file->dummy_page = alloc_page(gfp | __GFP_ZERO);
	mutex_unlock(&file->umaps.lock);
	return file->dummy_page;
}

/*
 * Only a revoked mapping faults: a live one has all its pages.  The dummy page is
 * mapped by frame number, as the device memory was, and exists as long as the file,
 * which the VMA holds.
 */
static vm_fault_t umap_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct page *dummy_page;

	if (!vma->vm_private_data)
		return VM_FAULT_SIGBUS;
	dummy_page = umap_dummy_page(umap_file(vma), vmf->gfp_mask);
	if (!dummy_page)
		return VM_FAULT_OOM;
	return vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(dummy_page),
				   vm_get_page_prot(vma->vm_flags));
}

const struct vm_operations_struct uverbs_umap_ops = {
	.open = umap_open,
	.close = umap_close,
	.fault = umap_fault,
};
EXPORT_SYMBOL_IF_KUNIT(uverbs_umap_ops);

/*
 * Finds the address space of some live mapping and takes a reference on it.  If the
 * address space has no users any more, no thread can reach its pages, which are being
 * unmapped: then this only revokes the record and sets *@mm to NULL.  Returns false if
 * no mapping is live.
 */
static bool umaps_next_mm(struct rdma_umaps *umaps, struct mm_struct **mm)
{
	struct rdma_user_mmap_entry *entry = NULL;
	struct rdma_umap_priv *priv;

	*mm = NULL;
	mutex_lock(&umaps->lock);
	priv = list_first_entry_or_null(&umaps->list, struct rdma_umap_priv, list);
	if (priv && mmget_not_zero(priv->vma->vm_mm))
		*mm = priv->vma->vm_mm;
	else if (priv)
		entry = umap_retire(umaps, priv);
	mutex_unlock(&umaps->lock);
	umap_put_entry(entry);
	return priv;
}

/* Zaps the mappings that @mm has of a file, and moves their records to @gone. */
static void umaps_zap_mm(struct rdma_umaps *umaps, struct mm_struct *mm,
			 struct list_head *gone)
{
	struct rdma_umap_priv *priv, *next;
	struct vm_area_struct *vma;

	mutex_lock(&umaps->lock);
	list_for_each_entry_safe(priv, next, &umaps->list, list) {
		vma = priv->vma;
		if (vma->vm_mm != mm)
			continue;
		list_move(&priv->list, gone);
		zap_vma_ptes(vma, vma->vm_start, vma->vm_end - vma->vm_start);
	}
	mutex_unlock(&umaps->lock);
}

/*
 * Revokes all mappings that @mm has of a file.  mmap_lock is taken for writing: this
 * keeps the VMAs from being copied or closed while their records are on the local list,
 * and waits for an munmap() in progress, which holds mmap_lock for reading while it
 * frees page tables of VMAs that are not closed yet.
 */
static void umaps_revoke_mm(struct rdma_umaps *umaps, struct mm_struct *mm)
{
	struct rdma_user_mmap_entry *entry;
	struct rdma_umap_priv *priv, *next;
	LIST_HEAD(gone);

	mmap_write_lock(mm);
	umaps_zap_mm(umaps, mm, &gone);
	list_for_each_entry_safe(priv, next, &gone, list) {
		mutex_lock(&umaps->lock);
		entry = umap_retire(umaps, priv);
		mutex_unlock(&umaps->lock);
		umap_put_entry(entry);
	}
	mmap_write_unlock(mm);
}

/*
 * mmap_lock cannot be taken under umaps.lock, so this finds one address space at a time
 * and then revokes the mappings that it has.
 */
void uverbs_umaps_revoke(struct ib_uverbs_file *file)
{
	struct mm_struct *mm;

	while (umaps_next_mm(&file->umaps, &mm)) {
		if (!mm)
			continue;
		umaps_revoke_mm(&file->umaps, mm);
		mmput(mm);
	}
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_umaps_revoke);
