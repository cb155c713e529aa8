// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of rings that processes map.
 *
 * vmalloc_user() does not charge the process, so the memory is from __vmalloc(), and its pages
 * are put into the mapping one by one.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>
#include "user/user.h"

struct vib_mapped *vib_mapped_create(struct ib_udata *udata, size_t size)
{
	struct vib_ucontext *context = rdma_udata_to_drv_context(udata, struct vib_ucontext, ib);
	struct vib_mapped *mapped = kzalloc(sizeof(*mapped), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!mapped)
		return ERR_PTR(-ENOMEM);
	mapped->size = PAGE_ALIGN(size);
	mapped->mem = __vmalloc(mapped->size, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!mapped->mem)
		goto err_free;
	ret = rdma_user_mmap_entry_insert(&context->ib, &mapped->entry, mapped->size);
	if (!ret)
		return mapped;
	vfree(mapped->mem);
err_free:
	kfree(mapped);
	return ERR_PTR(ret);
}

void vib_mapped_remove(struct vib_mapped *mapped)
{
	rdma_user_mmap_entry_remove(&mapped->entry);
}

/*
 * Why nothing uses it afterwards: (1) the object that it was the ring of is done with it; (2) no
 * mmap() of it runs, for that would hold a reference.  A mapping has a reference on each page,
 * which is freed when that is unmapped.
 */
void vib_mapped_free(struct rdma_user_mmap_entry *entry)
{
	struct vib_mapped *mapped = container_of(entry, struct vib_mapped, entry);

	vfree(mapped->mem);
	kfree(mapped);
}

static int mapped_insert(const struct vib_mapped *mapped, struct vm_area_struct *vma)
{
	size_t at;
	int ret = 0;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (at = 0; !ret && at < mapped->size; at += PAGE_SIZE)
		ret = vm_insert_page(vma, vma->vm_start + at, vmalloc_to_page(mapped->mem + at));
	return ret;
}

/* -EINVAL: no ring is at the offset, or it has another size, or the mapping is private. */
int vib_mapped_mmap(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(context, vma);
	int ret;

	if (!entry)
		return -EINVAL;
	ret = mapped_insert(container_of(entry, struct vib_mapped, entry), vma);
	rdma_user_mmap_entry_put(entry);
	return ret;
}
