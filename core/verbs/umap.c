// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Device memory mapped into userspace: the entries, each of which tells what a
 * process may map at a page offset of its uverbs file, and the mappings
 * themselves.
 *
 * An entry is stored in ucontext->mmap_xa at each of its page offsets.  The
 * driver holds one reference on it until rdma_user_mmap_entry_remove(), and
 * each mapping holds one.  The last put removes the entry from the table, so
 * its offsets are not reused while something is mapped there.
 *
 * Lock order: rdma_umaps.lock (insertion, list of mappings), then the table's
 * xa_lock (contents, driver_removed).
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "device/device.h"
#include "verbs/verbs.h"

/* Adds a mapping to its file's list; the caller holds @umaps->lock. */
static void umap_enter(struct rdma_umaps *umaps, struct rdma_umap_priv *priv,
		       struct vm_area_struct *vma,
		       struct rdma_user_mmap_entry *entry)
{
	lockdep_assert_held(&umaps->lock);
	priv->vma = vma;
	priv->entry = entry;
	if (entry)
		kref_get(&entry->ref);
	vma->vm_private_data = priv;
	list_add(&priv->list, &umaps->list);
}

/**
 * rdma_umap_priv_init() - add a mapping to its uverbs file's list
 * @priv: record, which the mapping owns from now on and frees when it is closed
 * @vma: the mapping, of a uverbs file
 * @entry: entry that is mapped, on which a reference is taken; or NULL
 *
 * Context: process, under mmap_lock; may sleep.
 */
void rdma_umap_priv_init(struct rdma_umap_priv *priv,
			 struct vm_area_struct *vma,
			 struct rdma_user_mmap_entry *entry)
{
	struct rdma_umaps *umaps = rdma_umaps_of(vma->vm_file->private_data);

	mutex_lock(&umaps->lock);
	umap_enter(umaps, priv, vma, entry);
	mutex_unlock(&umaps->lock);
}
EXPORT_SYMBOL(rdma_umap_priv_init);

static bool umap_fits(const struct ib_ucontext *ucontext,
		      struct vm_area_struct *vma, unsigned long size)
{
	if (vma_pages(vma) != PHYS_PFN(size) || offset_in_page(size))
		return false;
	if (WARN_ON(!vma->vm_file))
		return false;
	return vma->vm_flags & VM_SHARED &&
	       !WARN_ON(vma->vm_file->private_data != ucontext->ufile);
}

/**
 * rdma_user_mmap_io() - map device memory, from a driver's mmap method
 * @ucontext: context of the process
 * @vma: the mapping, shared and of exactly @size
 * @pfn: first page frame of the device memory
 * @size: bytes to map
 * @prot: page protection
 * @entry: entry that is mapped, or NULL
 *
 * The mapping is revoked when the device is removed.
 *
 * Context: process, under mmap_lock; may sleep.
 * Return: 0, -EINVAL if @vma does not fit, -ENOMEM, -EAGAIN.
 */
int rdma_user_mmap_io(struct ib_ucontext *ucontext, struct vm_area_struct *vma,
		      unsigned long pfn, unsigned long size, pgprot_t prot,
		      struct rdma_user_mmap_entry *entry)
{
	struct rdma_umaps *umaps = rdma_umaps_of(ucontext->ufile);
	struct rdma_umap_priv *priv;
	int ret;

	if (!umap_fits(ucontext, vma, size))
		return -EINVAL;
	priv = kzalloc(sizeof(*priv), GFP_KERNEL);
	if (!priv)
		return -ENOMEM;

	vma->vm_page_prot = prot;
	/*
	 * Under one hold of the lock, so that a revocation finds the mapping or
	 * has finished before it.
	 */
	mutex_lock(&umaps->lock);
	ret = io_remap_pfn_range(vma, vma->vm_start, pfn, size, prot);
	if (!ret)
		umap_enter(umaps, priv, vma, entry);
	mutex_unlock(&umaps->lock);
	if (!ret)
		return 0;
	kfree(priv);
	return -EAGAIN;
}
EXPORT_SYMBOL(rdma_user_mmap_io);

/*
 * Takes a reference if @entry starts at @pgoff, has @npages pages (0: any
 * number) and was not removed by its driver.
 */
static bool mmap_entry_hold(struct rdma_user_mmap_entry *entry,
			    unsigned long pgoff, size_t npages)
{
	lockdep_assert_held(&entry->ucontext->mmap_xa.xa_lock);
	if (entry->driver_removed || entry->start_pgoff != pgoff)
		return false;
	if (npages && npages != entry->npages)
		return false;
	return kref_get_unless_zero(&entry->ref);
}

static struct rdma_user_mmap_entry *mmap_entry_find(struct ib_ucontext *ctx,
						    unsigned long pgoff,
						    size_t npages)
{
	struct xarray *xa = &ctx->mmap_xa;
	struct rdma_user_mmap_entry *entry;

	xa_lock(xa);
	entry = xa_load(xa, pgoff);
	if (entry && !mmap_entry_hold(entry, pgoff, npages))
		entry = NULL;
	xa_unlock(xa);
	return entry;
}

/**
 * rdma_user_mmap_entry_get_pgoff() - find and hold the entry at an offset
 * @ucontext: context of the process
 * @pgoff: page offset that the entry starts at
 *
 * Context: process.
 * Return: the entry, released by rdma_user_mmap_entry_put(); NULL if none
 * starts there or its driver has removed it.
 */
struct rdma_user_mmap_entry *
rdma_user_mmap_entry_get_pgoff(struct ib_ucontext *ucontext,
			       unsigned long pgoff)
{
	return mmap_entry_find(ucontext, pgoff, 0);
}
EXPORT_SYMBOL(rdma_user_mmap_entry_get_pgoff);

/**
 * rdma_user_mmap_entry_get() - find and hold the entry that a mapping requests
 * @ucontext: context of the process
 * @vma: the mapping
 *
 * Context: process.
 * Return: the entry, released by rdma_user_mmap_entry_put(); NULL if @vma is
 * private, no entry starts at its offset, or its length is not the entry's.
 */
struct rdma_user_mmap_entry *
rdma_user_mmap_entry_get(struct ib_ucontext *ucontext,
			 struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_SHARED)
		return mmap_entry_find(ucontext, vma->vm_pgoff,
				       vma_pages(vma));
	return NULL;
}
EXPORT_SYMBOL(rdma_user_mmap_entry_get);

static void mmap_entry_erase(struct ib_ucontext *ucontext, unsigned long pgoff,
			     size_t npages)
{
	xa_lock(&ucontext->mmap_xa);
	while (npages--)
		__xa_erase(&ucontext->mmap_xa, pgoff + npages);
	xa_unlock(&ucontext->mmap_xa);
}

/*
 * No reference remains: (1) rdma_user_mmap_entry_remove() put the driver's, (2)
 * those of mappings ended with the mappings, and (3) a lookup, which runs under
 * xa_lock, takes none once the count is zero.
 */
static void mmap_entry_free(struct kref *ref)
{
	struct rdma_user_mmap_entry *gone =
		container_of(ref, struct rdma_user_mmap_entry, ref);
	const struct ib_device_ops *ops = &gone->ucontext->device->ops;

	mmap_entry_erase(gone->ucontext, gone->start_pgoff, gone->npages);
	if (ops->mmap_free)
		ops->mmap_free(gone);
}

/**
 * rdma_user_mmap_entry_put() - put a reference on an entry
 * @entry: held entry; the last put hands it to the driver's mmap_free
 *
 * Context: process, as the driver's mmap_free demands.
 */
void rdma_user_mmap_entry_put(struct rdma_user_mmap_entry *entry)
{
	kref_put(&entry->ref, mmap_entry_free);
}
EXPORT_SYMBOL(rdma_user_mmap_entry_put);

/**
 * rdma_user_mmap_entry_remove() - prevent new mappings of an entry
 * @entry: entry the driver inserted; or NULL
 *
 * The entry exists until its last mapping has ended.
 *
 * Context: process.
 */
void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry)
{
	if (entry) {
		struct xarray *xa = &entry->ucontext->mmap_xa;

		xa_lock(xa);
		entry->driver_removed = true;
		xa_unlock(xa);
		rdma_user_mmap_entry_put(entry);
	}
}
EXPORT_SYMBOL(rdma_user_mmap_entry_remove);

/* Returns the first of @npages consecutive free offsets from @start to @max, or -1. */
static s64 mmap_find_gap(struct xarray *xa, unsigned long start,
			 unsigned long max, size_t npages)
{
	struct rdma_user_mmap_entry *entry;
	unsigned long taken;

	while (start <= max && npages - 1 <= max - start) {
		XA_STATE(xas, xa, start);

		/* The mark lets the search skip full parts of the table. */
		xa_lock(xa);
		xas_find_marked(&xas, max, XA_FREE_MARK);
		start = xas.xa_index;
		if (xas.xa_node == XAS_RESTART || npages - 1 > max - start) {
			xa_unlock(xa);
			return -1;
		}
		xa_unlock(xa);

		taken = start;
		entry = xa_find(xa, &taken, start + npages - 1, XA_PRESENT);
		if (!entry)
			return start;
		start = taken + 1;
	}
	return -1;
}

/**
 * rdma_user_mmap_entry_insert_range() - insert an entry at an offset in a range
 * @ucontext: context of the process that may map it
 * @entry: entry, embedded in the driver's record; initialised here
 * @length: bytes to map, rounded up to pages
 * @min_pgoff: lowest page offset it may start at
 * @max_pgoff: highest page offset it may use
 *
 * rdma_user_mmap_get_offset() returns the offset for userspace.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL, or -ENOMEM if there is not enough memory or no free
 * range.
 */
int rdma_user_mmap_entry_insert_range(struct ib_ucontext *ucontext,
				      struct rdma_user_mmap_entry *entry,
				      size_t length, u32 min_pgoff,
				      u32 max_pgoff)
{
	size_t npages = DIV_ROUND_UP(length, PAGE_SIZE);
	struct rdma_umaps *umaps;
	int ret = -ENOMEM;
	size_t i = 0;
	s64 start;

	if (!entry || !npages)
		return -EINVAL;

	kref_init(&entry->ref);
	entry->ucontext = ucontext;
	entry->npages = npages;
	entry->driver_removed = false;

	/* The lock serialises insertions, so a gap that was found stays free. */
	umaps = rdma_umaps_of(ucontext->ufile);
	mutex_lock(&umaps->lock);
	start = mmap_find_gap(&ucontext->mmap_xa, min_pgoff, max_pgoff, npages);
	if (start < 0)
		goto out;

	entry->start_pgoff = start;
	for (; i < npages; i++) {
		ret = xa_insert(&ucontext->mmap_xa, start + i, entry,
				GFP_KERNEL);
		if (ret) {
			mmap_entry_erase(ucontext, start, i);
			break;
		}
	}
out:
	mutex_unlock(&umaps->lock);
	return ret;
}
EXPORT_SYMBOL(rdma_user_mmap_entry_insert_range);

/**
 * rdma_user_mmap_entry_insert() - insert an entry at any offset
 * @ucontext: context of the process that may map it
 * @entry: entry, embedded in the driver's record; initialised here
 * @length: bytes to map, rounded up to pages
 *
 * Context: process, may sleep.
 * Return: as rdma_user_mmap_entry_insert_range().
 */
int rdma_user_mmap_entry_insert(struct ib_ucontext *ucontext,
				struct rdma_user_mmap_entry *entry,
				size_t length)
{
	return rdma_user_mmap_entry_insert_range(ucontext, entry, length, 0,
						 U32_MAX);
}
EXPORT_SYMBOL(rdma_user_mmap_entry_insert);
