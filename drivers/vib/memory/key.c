// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keys, and the memory that they lead to (IBA vol. 1, 10.6.3, 10.6.5).
 *
 * A key has an index of vib_hca.keys in its upper 24 bits.  The low 8 bits are random, or the
 * owner chooses them.  An index is reused as late as possible, so a key that was given up is
 * invalid for a long time.
 *
 * Once the owner has the memory back nobody may use it, but at that moment other processors
 * may be reading or writing it through the key.  How the owner waits for them depends on what
 * ends the key:
 *
 * - A verb, which may sleep (DMA and USER).  Packets use such a key under RCU alone, which
 *   costs them nothing, however many QPs share the region; deregistration waits for a grace
 *   period.  The grace period is expedited, which takes microseconds: programs deregister
 *   thousands of regions, and would otherwise wait tens of milliseconds for each.  A
 *   percpu_ref in each region would need a grace period, too, and memory for each processor.
 * - A work request, in softirq (vib_key_locked()), which cannot wait for a grace period.  A
 *   packet holds the key's lock for reading until it is done with the memory, and the work
 *   request takes it for writing.  One QP or a few use such a key, so the lock is rarely
 *   contended.
 */
#include <linux/random.h>
#include "device/qp.h"
#include "queue/srq.h"
#include "memory/integrity.h"

/* ---- keys ---- */

u32 vib_key_add(struct vib_key *key)
{
	struct vib_hca *hca = key->hca;
	int ret;

	ret = xa_alloc_cyclic(&hca->keys, &key->index, key, XA_LIMIT(1, VIB_KEY_INDEX_MAX),
			      &hca->next_key, GFP_KERNEL_ACCOUNT);
	return ret < 0 ? 0 : key->index << 8 | get_random_u8();
}

void vib_key_publish(struct vib_key *key, u32 value)
{
	/* Pairs with vib_key_allows(): who sees the value sees the rest, too. */
	smp_store_release(&key->value, value);
}

struct vib_key *vib_key_find(struct vib_hca *hca, u32 value)
{
	return xa_load(&hca->keys, value >> 8);
}

bool vib_key_allows(const struct vib_key *key, u32 value, const struct ib_pd *pd, u64 addr,
		    u64 len, int access)
{
	/* Pairs with vib_key_publish(). */
	if (smp_load_acquire(&key->value) != value)
		return false;
	if (key->pd != pd || access & ~key->access || addr < key->start)
		return false;
	addr -= key->start;
	return addr <= key->length && len <= key->length - addr;
}

/* The PD of the memory that the peer of @qp may name (10.2.3). */
static const struct ib_pd *remote_pd(const struct vib_qp *qp)
{
	if (qp->ib.qp_type != IB_QPT_XRC_TGT)
		return qp->ib.pd;
	/* The packet names an SRQ, and memory in the PD of that SRQ (Annex A14). */
	return qp->srq ? qp->srq->ib.pd : NULL;
}

/* ---- following them ---- */

struct walk {
	const struct ib_pd *pd;
	const struct vib_qp *qp;	/* whose peer asks; NULL: the consumer does */
	u32 key;
	u32 len;
	u64 addr;
	int access;
	bool atomic;			/* only memory that is aligned for one */
	vib_mem_fn fn;			/* NULL: only the checks */
	void *context;
};

#define WRITES	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

static void walk_pages(const struct vib_pages *pages, u64 offset, const struct walk *walk)
{
	u64 at = pages->offset + offset, size = BIT_ULL(pages->shift), in_page;
	u32 part, left;

	for (left = walk->len; left; left -= part, at += part) {
		in_page = at & (size - 1);
		part = min_t(u64, left, size - in_page);
		walk->fn(ib_virt_dma_to_ptr(pages->list[at >> pages->shift] + in_page), part,
			 walk->context);
	}
}

/* A peer may send any address: whether the kernel has memory there. */
static bool dma_valid(u64 addr, u32 len)
{
	u64 page, last = addr + len - 1;

	for (page = addr & PAGE_MASK; page <= last; page += PAGE_SIZE) {
		if (!virt_addr_valid(ib_virt_dma_to_ptr(page)))
			return false;
		if (page == (last & PAGE_MASK))
			break;
	}
	return true;
}

/* walk->len bytes from @offset in @mr, which the caller has checked to have them. */
static bool walk_mr(const struct vib_mr *mr, u64 offset, const struct walk *walk)
{
	bool dma = mr->key.kind == VIB_KEY_DMA;

	if (mr->integrity) {
		if (walk->fn)
			vib_integrity_walk(mr, offset, walk->len, walk->access & WRITES, walk->fn,
					   walk->context);
		return true;
	}
	/* Pages are aligned, so an offset in them is aligned if the memory is. */
	if (walk->atomic && !IS_ALIGNED(dma ? offset : mr->pages.offset + offset, sizeof(u64)))
		return false;
	if (!walk->fn)
		return true;
	if (!dma) {
		walk_pages(&mr->pages, offset, walk);
		return true;
	}
	if (walk->qp && !dma_valid(offset, walk->len))
		return false;
	walk->fn(ib_virt_dma_to_ptr(offset), walk->len, walk->context);
	return true;
}

/* Under RCU, and key->lock if it has one. */
static bool walk_key(struct vib_key *key, const struct walk *walk)
{
	const struct vib_window *window;
	u64 offset;

	if (!vib_key_allows(key, walk->key, walk->pd, walk->addr, walk->len, walk->access))
		return false;
	offset = walk->addr - key->start;
	if (key->kind != VIB_KEY_WINDOW)
		return walk_mr(vib_key_mr(key), offset, walk);
	/* A window has no L_Key, and its R_Key is valid on one QP (type 2B, 10.6.7.2). */
	window = vib_key_window(key);
	if (!walk->qp || window->qpn != walk->qp->ib.qp_num)
		return false;
	return walk_mr(window->mr, window->offset + offset, walk);
}

static bool walk_memory(struct vib_hca *hca, const struct walk *walk)
{
	struct vib_key *key;
	unsigned long flags;
	bool ret = false;

	rcu_read_lock();
	key = vib_key_find(hca, walk->key);
	if (key && !vib_key_locked(key->kind)) {
		ret = walk_key(key, walk);
	} else if (key) {
		read_lock_irqsave(&key->lock, flags);
		ret = walk_key(key, walk);
		read_unlock_irqrestore(&key->lock, flags);
	}
	rcu_read_unlock();
	return ret;
}

bool vib_mem_walk(struct ib_pd *pd, const struct ib_sge *sge, u32 len, int access,
		  vib_mem_fn fn, void *context)
{
	const struct walk walk = {
		.pd = pd,
		.key = sge->lkey,
		.addr = sge->addr,
		.len = len,
		.access = access,
		.fn = fn,
		.context = context,
	};

	if (!len)
		return true;
	/* In the PD of a process this key does not name the kernel's memory. */
	if (sge->lkey != VIB_LOCAL_DMA_LKEY || pd->uobject)
		return walk_memory(to_vib_hca(pd->device), &walk);
	if (fn)
		fn(ib_virt_dma_to_ptr(sge->addr), len, context);
	return true;
}

bool vib_remote_walk(const struct vib_qp *qp, u32 rkey, u64 addr, u32 len, int access,
		     vib_mem_fn fn, void *context)
{
	const struct walk walk = {
		.pd = remote_pd(qp),
		.qp = qp,
		.key = rkey,
		.addr = addr,
		.len = len,
		.access = access,
		.fn = fn,
		.context = context,
	};

	return !len || walk_memory(to_vib_hca(qp->ib.device), &walk);
}

bool vib_remote_atomic(const struct vib_qp *qp, u32 rkey, u64 addr, vib_mem_fn fn,
		       void *context)
{
	const struct walk walk = {
		.pd = remote_pd(qp),
		.qp = qp,
		.key = rkey,
		.addr = addr,
		.len = sizeof(u64),
		.access = IB_ACCESS_REMOTE_ATOMIC,
		.atomic = true,
		.fn = fn,
		.context = context,
	};

	return IS_ALIGNED(addr, sizeof(u64)) &&
	       walk_memory(to_vib_hca(qp->ib.device), &walk);
}

/* ---- invalidation (10.6.5) ---- */

/*
 * Fails while windows are bound to the region.  A peer may invalidate only a region that it
 * has access to.
 */
static bool fast_invalidate(struct vib_mr *mr, bool remote)
{
	if (remote && !(mr->key.access & VIB_REMOTE_ACCESS))
		return false;
	return vib_mr_refuse_windows(mr);
}

/* A window of type 2B is invalidated on the QP that bound it (10.6.7.2). */
static bool window_invalidate(struct vib_window *window, const struct vib_qp *qp)
{
	if (window->qpn != qp->ib.qp_num)
		return false;
	vib_window_unbind(window);
	return true;
}

static bool invalidate(struct vib_key *key, u32 value, const struct vib_qp *qp, bool remote)
{
	bool done;

	lockdep_assert_held_write(&key->lock);
	if (key->value != value || key->pd != remote_pd(qp))
		return false;
	if (key->kind == VIB_KEY_WINDOW)
		done = window_invalidate(vib_key_window(key), qp);
	else
		done = fast_invalidate(vib_key_mr(key), remote);
	if (done)
		key->value = 0;
	return done;
}

/* A region that a verb registered is ended by a verb alone. */
bool vib_key_invalidate(const struct vib_qp *qp, u32 value, bool remote)
{
	struct vib_key *key;
	unsigned long flags;
	bool done = false;

	rcu_read_lock();
	key = vib_key_find(to_vib_hca(qp->ib.device), value);
	if (key && vib_key_locked(key->kind)) {
		write_lock_irqsave(&key->lock, flags);
		done = invalidate(key, value, qp, remote);
		write_unlock_irqrestore(&key->lock, flags);
	}
	rcu_read_unlock();
	return done;
}
