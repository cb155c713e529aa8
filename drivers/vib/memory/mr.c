// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Protection domains, and memory regions that verbs register (IBA vol. 1, 10.2.3, 10.6.2,
 * 11.2.8).
 *
 * The adapter has no DMA: an address of the kernel's is a virtual one (ib_uses_virt_dma()).
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "memory/key.h"

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | VIB_REMOTE_ACCESS | IB_ACCESS_MW_BIND |	\
			 IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

int vib_mr_check_access(struct ib_device *ibdev, int access)
{
	if (access & ~MR_ACCESS)
		return -EOPNOTSUPP;
	/* Remote write and atomic access require local write access (10.6.3). */
	return ib_check_mr_access(ibdev, access);
}

struct vib_mr *vib_mr_alloc(struct ib_pd *pd, enum vib_key_kind kind)
{
	struct vib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->key.hca = to_vib_hca(pd->device);
	mr->key.kind = kind;
	mr->key.pd = pd;
	return mr;
}

/* Gives @mr, which is otherwise complete, its keys.  0 or -ENOMEM. */
static int mr_publish(struct vib_mr *mr)
{
	u32 value = vib_key_add(&mr->key);

	if (!value)
		return -ENOMEM;
	mr->ib.lkey = value;
	mr->ib.rkey = value;
	vib_key_publish(&mr->key, value);
	return 0;
}

static struct ib_mr *vib_get_dma_mr(struct ib_pd *pd, int access)
{
	int ret = vib_mr_check_access(pd->device, access);
	struct vib_mr *mr;

	if (ret)
		return ERR_PTR(ret);
	mr = vib_mr_alloc(pd, VIB_KEY_DMA);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->key.access = access;
	mr->key.length = U64_MAX;
	ret = mr_publish(mr);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	return &mr->ib;
}

/* ---- memory of processes ---- */

/* Memory of a process, as a region has it. */
struct user_memory {
	struct ib_umem *umem;
	struct vib_pages pages;
	u64 start, length;
};

/* Makes an array, because the umem's scatterlist cannot be entered in the middle. */
static int user_list_pages(struct user_memory *user)
{
	u32 offset = ib_umem_offset(user->umem);
	size_t n = 0, room = PFN_UP(offset + user->umem->length);
	struct sg_page_iter iter;
	u64 *list;

	list = kvmalloc_array(room, sizeof(*list), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!list)
		return -ENOMEM;
	for_each_sgtable_page(&user->umem->sgt_append.sgt, &iter, 0) {
		if (n == room)
			break;
		list[n++] = (uintptr_t)page_address(sg_page_iter_page(&iter));
	}
	user->pages = (struct vib_pages){
		.list = list,
		.count = n,
		.offset = offset,
		.shift = PAGE_SHIFT,
	};
	return n == room ? 0 : -EINVAL;
}

static void user_put(struct user_memory *user)
{
	if (user->umem)
		ib_umem_release(user->umem);
	kvfree(user->pages.list);
}

/* Pins @length bytes from @start of the current process, to be named by @virt_addr. */
static int user_get(struct user_memory *user, struct ib_device *ibdev, u64 start, u64 length,
		    u64 virt_addr, int access)
{
	int ret;

	*user = (struct user_memory){
		.start = access & IB_ZERO_BASED ? 0 : virt_addr,
		.length = length,
	};
	/* No region has the last address of all, so the end of a range does not wrap. */
	if (!length || length > U64_MAX - user->start)
		return -EINVAL;
	user->umem = ib_umem_get(ibdev, start, length, access);
	if (IS_ERR(user->umem)) {
		ret = PTR_ERR(user->umem);
		user->umem = NULL;
		return ret;
	}
	ret = user_list_pages(user);
	if (ret)
		user_put(user);
	return ret;
}

/* Exchanges the memory of @mr, which has no valid key, and @user. */
static void user_swap(struct vib_mr *mr, struct user_memory *user)
{
	swap(mr->umem, user->umem);
	swap(mr->pages, user->pages);
	swap(mr->key.start, user->start);
	swap(mr->key.length, user->length);
}

/*
 * Memory of the current process.  To the distribution's core a device without this is one
 * that has no verbs for the kernel at all.  A region has nothing that the process would map,
 * so @udata is not used.
 */
static struct ib_mr *vib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
				     int access, struct ib_udata *udata)
{
	int ret = vib_mr_check_access(pd->device, access);
	struct user_memory user;
	struct vib_mr *mr;

	if (ret)
		return ERR_PTR(ret);
	ret = user_get(&user, pd->device, start, length, virt_addr, access);
	if (ret)
		return ERR_PTR(ret);
	mr = vib_mr_alloc(pd, VIB_KEY_USER);
	if (!mr) {
		user_put(&user);
		return ERR_PTR(-ENOMEM);
	}
	mr->key.access = access;
	user_swap(mr, &user);
	ret = mr_publish(mr);
	if (ret) {
		user_swap(mr, &user);
		user_put(&user);
		kfree(mr);
		return ERR_PTR(ret);
	}
	return &mr->ib;
}

/* ---- reregistration (11.2.8) ---- */

/*
 * Gets the memory that @mr will have.  user->umem is NULL if it keeps what it has: the
 * translation does not change, and the pages are writable if they have to be.
 */
static int rereg_get(const struct vib_mr *mr, int flags, u64 start, u64 length, u64 virt_addr,
		     int access, struct user_memory *user)
{
	struct ib_umem *umem = mr->umem;

	*user = (struct user_memory){};
	if (flags & IB_MR_REREG_TRANS)
		return user_get(user, umem->ibdev, start, length, virt_addr, access);
	if (umem->writable || !ib_access_writable(access))
		return 0;
	/* Pin the same pages for writing; only their own process can. */
	if (umem->owning_mm != current->mm)
		return -EINVAL;
	return user_get(user, umem->ibdev, umem->address, umem->length, mr->key.start,
			access & ~IB_ZERO_BASED);
}

/*
 * Changes the region in place.  Its key remains, but is not valid while the region changes.  On
 * an error nothing has changed; -EBUSY: windows are bound.  The core has one caller at a time
 * for a region, also of vib_dereg_mr().
 */
static struct ib_mr *vib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				       u64 virt_addr, int access, struct ib_pd *pd,
				       struct ib_udata *udata)
{
	struct vib_mr *mr = to_vib_mr(ibmr);
	struct vib_key *key = &mr->key;
	u32 value = key->value;
	struct user_memory user;
	int ret;

	if (flags & ~IB_MR_REREG_SUPPORTED || key->kind != VIB_KEY_USER)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = key->access;
	ret = vib_mr_check_access(&key->hca->ib, access) ?:
	      rereg_get(mr, flags, start, length, virt_addr, access, &user);
	if (ret)
		return ERR_PTR(ret);
	if (!vib_mr_refuse_windows(mr)) {
		user_put(&user);
		return ERR_PTR(-EBUSY);
	}
	WRITE_ONCE(key->value, 0);
	/* Whoever found the key valid has finished with the memory after this. */
	synchronize_rcu_expedited();
	if (user.umem)
		user_swap(mr, &user);
	key->access = access;
	if (flags & IB_MR_REREG_PD)
		key->pd = pd;
	atomic_set(&mr->windows, 0);
	vib_key_publish(key, value);
	user_put(&user);
	return NULL;
}

/* ---- the end ---- */

/*
 * Why nothing uses the region or its memory afterwards:
 * (1) No window is bound to it, and none will be: -EBUSY otherwise (11.2.8).
 * (2) No key leads to it any more.
 * (3) Whoever looked up a key before (2) has finished with the memory: it used the memory in
 *     an RCU read section, or holding the key's lock, and both have been waited for.  So the
 *     memory that a process gets back is not written any more.
 * (4) A packet may still look at the struct, under RCU, to find that the key is not valid; the
 *     struct is freed after a grace period.
 */
static int vib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct vib_mr *mr = to_vib_mr(ibmr);
	bool fast = vib_key_locked(mr->key.kind);

	if (fast ? !vib_fast_end(mr) : !vib_mr_refuse_windows(mr))
		return -EBUSY;
	xa_erase(&mr->key.hca->keys, mr->key.index);
	if (!fast)
		synchronize_rcu_expedited();
	if (mr->umem)
		ib_umem_release(mr->umem);
	kvfree(mr->pages.list);
	kvfree(mr->mapped.list);
	vib_integrity_free(mr->integrity);
	kfree_rcu(mr, key.rcu);
	return 0;
}

/* ---- protection domains: their identity is all that is asked of them ---- */

struct vib_pd {
	struct ib_pd ib;
};

static int vib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
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
	.rereg_user_mr	= vib_rereg_user_mr,
	.dereg_mr	= vib_dereg_mr,
	INIT_RDMA_OBJ_SIZE(ib_pd, vib_pd, ib),
};
