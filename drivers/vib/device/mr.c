// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Protection domains and memory regions (IBA vol. 1, 10.2.3, 10.6, 11.2.8).
 *
 * The adapter has no DMA: an address of the kernel's is a virtual one (ib_uses_virt_dma()).
 * A key is an index of vib_hca.keys, above eight bits that differ from key to key of one
 * index.  Whoever follows a key does so under RCU, and is done with the region when its
 * section ends.
 */
#include <linux/highmem.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "device/mr.h"

#define KEY_INDEX_MAX	0xffffff	/* 0 is that of VIB_LOCAL_DMA_LKEY */
#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |	\
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_OPTIONAL)

struct vib_mr {
	struct ib_mr ib;
	struct ib_pd *pd;	/* ib.pd is set by the core, later */
	int access;
	u64 start, length;	/* addresses by which work requests name it */
	struct ib_umem *umem;	/* NULL: all of the kernel's memory */
	struct page **pages;	/* of umem */
	struct rcu_head rcu;
};

static struct vib_mr *to_vib_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct vib_mr, ib);
}

/* ---- following a key ---- */

/* The region of @key that allows @access to @len bytes from @addr in @pd, or NULL. */
static struct vib_mr *mr_find(struct ib_pd *pd, u32 key, u64 addr, u32 len, int access)
{
	struct vib_mr *mr = xa_load(&to_vib_hca(pd->device)->keys, key >> 8);

	if (!mr || READ_ONCE(mr->ib.lkey) != key || mr->pd != pd || access & ~mr->access)
		return NULL;
	if (addr < mr->start || addr - mr->start > mr->length ||
	    len > mr->length - (addr - mr->start))
		return NULL;
	return mr;
}

static void mr_walk_pages(const struct vib_mr *mr, u64 addr, u32 len, vib_mem_fn fn,
			  void *context)
{
	u64 at = ib_umem_offset(mr->umem) + (addr - mr->start);
	u32 part;
	u8 *page;

	for (; len; len -= part, at += part) {
		part = min_t(u32, len, PAGE_SIZE - offset_in_page(at));
		page = kmap_local_page(mr->pages[at >> PAGE_SHIFT]);
		fn(page + offset_in_page(at), part, context);
		kunmap_local(page);
	}
}

bool vib_mem_walk(struct ib_pd *pd, const struct ib_sge *sge, u32 len, int access,
		  vib_mem_fn fn, void *context)
{
	const struct vib_mr *mr = NULL;

	if (!len)
		return true;
	rcu_read_lock();
	/* The kernel's memory is none of a process's PD, whatever key it tries. */
	if (sge->lkey != VIB_LOCAL_DMA_LKEY || pd->uobject) {
		mr = mr_find(pd, sge->lkey, sge->addr, len, access);
		if (!mr) {
			rcu_read_unlock();
			return false;
		}
	}
	if (mr && mr->umem)
		mr_walk_pages(mr, sge->addr, len, fn, context);
	else
		fn(ib_virt_dma_to_ptr(sge->addr), len, context);
	rcu_read_unlock();
	return true;
}

/* ---- regions ---- */

/* Gives @mr, which is otherwise complete, its keys. */
static int mr_publish(struct vib_mr *mr)
{
	struct vib_hca *hca = to_vib_hca(mr->pd->device);
	u32 index;
	int ret;

	ret = xa_alloc(&hca->keys, &index, mr, XA_LIMIT(1, KEY_INDEX_MAX), GFP_KERNEL);
	if (ret)
		return ret;
	/* Who finds it by a guessed index before that finds that the key is another. */
	mr->ib.rkey = index << 8 | get_random_u8();
	WRITE_ONCE(mr->ib.lkey, mr->ib.rkey);
	return 0;
}

static struct vib_mr *mr_alloc(struct ib_pd *pd, int access, u64 start, u64 length)
{
	struct vib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return NULL;
	mr->pd = pd;
	mr->access = access;
	mr->start = start;
	mr->length = length;
	return mr;
}

static struct ib_mr *vib_get_dma_mr(struct ib_pd *pd, int access)
{
	struct vib_mr *mr;
	int ret;

	if (access & ~MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	mr = mr_alloc(pd, access, 0, U64_MAX);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = mr_publish(mr);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	return &mr->ib;
}

/* The pages of mr->umem in an array, as the list of them cannot be entered in the middle. */
static int mr_list_pages(struct vib_mr *mr)
{
	size_t n = 0, room = PFN_UP(ib_umem_offset(mr->umem) + mr->umem->length);
	struct sg_page_iter iter;

	mr->pages = kvmalloc_array(room, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages)
		return -ENOMEM;
	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &iter, 0) {
		if (n == room)
			break;
		mr->pages[n++] = sg_page_iter_page(&iter);
	}
	return n == room ? 0 : -EINVAL;
}

static void mr_free(struct vib_mr *mr)
{
	if (mr->umem)
		ib_umem_release(mr->umem);
	kvfree(mr->pages);
	kfree(mr);
}

/*
 * Memory of the current process, for a consumer in the kernel.  To the distribution's core a
 * device without this is one that has no verbs for the kernel at all.
 */
static struct ib_mr *vib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
				     int access, struct ib_udata *udata)
{
	struct vib_mr *mr;
	int ret;

	if (udata || access & ~MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	if (length > U64_MAX - virt_addr)
		return ERR_PTR(-EINVAL);
	mr = mr_alloc(pd, access, virt_addr, length);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		mr->umem = NULL;
		goto err;
	}
	ret = mr_list_pages(mr);
	if (!ret)
		ret = mr_publish(mr);
	if (!ret)
		return &mr->ib;
err:
	mr_free(mr);
	return ERR_PTR(ret);
}

/*
 * Why nothing uses the region afterwards: (1) no key leads to it, and (2) whoever followed
 * one before is awaited: what a process gets back is not written any more.  Of the kernel's
 * memory nothing is given back, and the struct alone has to wait.
 */
static int vib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct vib_mr *mr = to_vib_mr(ibmr);

	xa_erase(&to_vib_hca(mr->pd->device)->keys, ibmr->lkey >> 8);
	if (mr->umem) {
		synchronize_rcu();
		mr_free(mr);
	} else {
		kfree_rcu(mr, rcu);
	}
	return 0;
}

/* ---- protection domains: their identity is all that is asked of them ---- */

struct vib_pd {
	struct ib_pd ib;
};

static int vib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return udata ? -EOPNOTSUPP : 0;
}

/* The core has seen that nothing uses it. */
static int vib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

const struct ib_device_ops vib_mr_ops = {
	.alloc_pd	= vib_alloc_pd,
	.dealloc_pd	= vib_dealloc_pd,
	.get_dma_mr	= vib_get_dma_mr,
	.reg_user_mr	= vib_reg_user_mr,
	.dereg_mr	= vib_dereg_mr,
	INIT_RDMA_OBJ_SIZE(ib_pd, vib_pd, ib),
};
