// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory windows of type 2B (IBA vol. 1, 10.6.7.2, 11.2.8, 11.4.1).
 *
 * A window gives the peer of one QP access to a part of a region, until it is invalidated.
 * Only a window that is not bound can be bound, and a region cannot be deregistered or
 * invalidated while windows are bound to it.  The window has the QP's number: if the QP is
 * destroyed nobody can use the window, until a QP of the same PD gets that number again,
 * which is as late as possible.
 */
#include <linux/slab.h>
#include "device/qp.h"
#include "memory/key.h"

#define WINDOW_ACCESS	(VIB_REMOTE_ACCESS | IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

struct vib_mw {
	struct ib_mw ib;
	struct vib_window *window;	/* freed under RCU, as packets find it by its key */
};

static struct vib_mw *to_vib_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct vib_mw, ib);
}

/* ---- work requests ---- */

/* The access that a region must allow for a window with @access (11.4.1). */
static int region_access(int access)
{
	int needed = IB_ACCESS_MW_BIND;

	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC))
		needed |= IB_ACCESS_LOCAL_WRITE;
	return needed;
}

/*
 * Counts a window in @mr if bind->lkey is its valid key and it allows what @bind asks for.
 * Under RCU, and mr->key.lock if @mr is FAST.
 */
static bool region_get(struct vib_mr *mr, const struct ib_pd *pd, const struct vib_bind *bind)
{
	return vib_key_allows(&mr->key, bind->lkey, pd, bind->addr, bind->length,
			      region_access(bind->access)) &&
	       atomic_inc_unless_negative(&mr->windows);
}

/* The region that @bind names, with the window counted in it, or NULL.  Under RCU. */
static struct vib_mr *region_find(struct vib_hca *hca, const struct ib_pd *pd,
				  const struct vib_bind *bind)
{
	struct vib_key *key = vib_key_find(hca, bind->lkey);
	bool allowed;

	/* Windows are not bound to all of the kernel's memory, nor to other windows. */
	if (!key || (key->kind != VIB_KEY_USER && key->kind != VIB_KEY_FAST))
		return NULL;
	if (key->kind == VIB_KEY_USER) {
		allowed = region_get(vib_key_mr(key), pd, bind);
	} else {
		/* Interrupts are off already. */
		read_lock(&key->lock);
		allowed = region_get(vib_key_mr(key), pd, bind);
		read_unlock(&key->lock);
	}
	return allowed ? vib_key_mr(key) : NULL;
}

static bool window_bind(struct vib_window *window, const struct vib_qp *qp,
			const struct vib_bind *bind)
{
	struct vib_key *key = &window->key;
	struct vib_mr *mr;

	lockdep_assert_held_write(&key->lock);
	if (key->value || key->pd != qp->ib.pd)
		return false;
	mr = region_find(key->hca, qp->ib.pd, bind);
	if (!mr)
		return false;
	window->mr = mr;
	window->offset = bind->addr - mr->key.start;
	window->qpn = qp->ib.qp_num;
	key->start = bind->access & IB_ZERO_BASED ? 0 : bind->addr;
	key->length = bind->length;
	key->access = bind->access & VIB_REMOTE_ACCESS;
	vib_key_publish(key, bind->rkey);
	return true;
}

bool vib_mw_bind(const struct vib_qp *qp, const struct vib_bind *bind)
{
	struct vib_hca *hca = to_vib_hca(qp->ib.device);
	struct vib_key *key;
	unsigned long flags;
	bool done = false;

	/* The new key must have the window's index; a window without bytes would be useless. */
	if ((bind->mw_rkey ^ bind->rkey) >> 8 || !bind->length || bind->access & ~WINDOW_ACCESS)
		return false;
	rcu_read_lock();
	key = vib_key_find(hca, bind->rkey);
	if (key && key->kind == VIB_KEY_WINDOW) {
		write_lock_irqsave(&key->lock, flags);
		done = window_bind(vib_key_window(key), qp, bind);
		write_unlock_irqrestore(&key->lock, flags);
	}
	rcu_read_unlock();
	return done;
}

void vib_window_unbind(struct vib_window *window)
{
	lockdep_assert_held_write(&window->key.lock);
	atomic_dec(&window->mr->windows);
	window->mr = NULL;
}

/* ---- verbs ---- */

static int vib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct vib_window *window;

	/* Windows of type 1 are bound by a verb, which there is not. */
	if (ibmw->type != IB_MW_TYPE_2)
		return -EOPNOTSUPP;
	window = kzalloc(sizeof(*window), GFP_KERNEL_ACCOUNT);
	if (!window)
		return -ENOMEM;
	rwlock_init(&window->key.lock);
	window->key.hca = to_vib_hca(ibmw->device);
	window->key.kind = VIB_KEY_WINDOW;
	window->key.pd = ibmw->pd;
	ibmw->rkey = vib_key_add(&window->key);
	if (!ibmw->rkey) {
		kfree(window);
		return -ENOMEM;
	}
	to_vib_mw(ibmw)->window = window;
	return 0;
}

/*
 * Why nothing uses the window afterwards: (1) its key is not valid, and leads nowhere; (2) a
 * packet that used it before held its lock for reading, which was taken for writing since;
 * (3) a work request that looked it up before finds that it has no PD, and does not bind it.
 * If it was bound, its region counts one window less.
 */
static int vib_dealloc_mw(struct ib_mw *ibmw)
{
	struct vib_window *window = to_vib_mw(ibmw)->window;
	struct vib_key *key = &window->key;
	unsigned long flags;

	write_lock_irqsave(&key->lock, flags);
	if (key->value)
		vib_window_unbind(window);
	key->value = 0;
	key->pd = NULL;
	write_unlock_irqrestore(&key->lock, flags);
	xa_erase(&key->hca->keys, key->index);
	kfree_rcu(window, key.rcu);
	return 0;
}

const struct ib_device_ops vib_window_ops = {
	.alloc_mw	= vib_alloc_mw,
	.dealloc_mw	= vib_dealloc_mw,
	INIT_RDMA_OBJ_SIZE(ib_mw, vib_mw, ib),
};
