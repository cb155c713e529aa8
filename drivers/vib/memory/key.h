/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_KEY_H
#define VIB_KEY_H

/*
 * Keys, regions and windows, as the files of this folder see them.
 *
 * Lock order: vib_key.lock of a window, then that of a region.  Both are taken with interrupts
 * off, because posting a datagram reads its memory, and consumers may post with interrupts off.
 */
#include <linux/atomic.h>
#include <linux/spinlock.h>
#include "memory/mr.h"

#define VIB_KEY_INDEX_MAX	0xffffff	/* 0 is that of VIB_LOCAL_DMA_LKEY */
#define VIB_REMOTE_ACCESS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |	\
				 IB_ACCESS_REMOTE_ATOMIC)

enum vib_key_kind {
	VIB_KEY_DMA,		/* a region: all of the kernel's memory */
	VIB_KEY_USER,		/* a region: memory of a process */
	VIB_KEY_FAST,		/* a region: what IB_WR_REG_MR registers */
	VIB_KEY_INTEGRITY,	/* a region: what IB_WR_REG_MR_INTEGRITY registers */
	VIB_KEY_WINDOW,
};

/*
 * What an index of vib_hca.keys leads to.  The fields that follow @lock are written under it
 * if a work request changes the kind.  Those of the other kinds change only while @value is 0
 * and a grace period has passed since it was not.
 */
struct vib_key {
	struct vib_hca *hca;
	u32 index;		/* fixed, as the other two */
	u8 kind;		/* enum vib_key_kind */
	rwlock_t lock;		/* as vib_key_locked(): for reading while the memory is used */
	u32 value;		/* the whole key; 0: no key is valid */
	int access;		/* enum ib_access_flags */
	struct ib_pd *pd;	/* NULL: the region or window is being destroyed */
	u64 start, length;	/* the addresses by which requests name the memory */
	struct rcu_head rcu;
};

/* Pages of one size by their addresses in the kernel (ib_uses_virt_dma()). */
struct vib_pages {
	u64 *list;
	unsigned long count;
	u32 offset;		/* of the region's first byte in the first page */
	u8 shift;		/* the size is 2^shift */
};

struct vib_integrity;

struct vib_mr {
	struct ib_mr ib;
	struct vib_key key;
	atomic_t windows;	/* number that are bound; -1: none may be bound */
	struct ib_umem *umem;	/* USER */
	struct vib_pages pages;	/* USER and FAST; changes as the fields of @key do */
	struct vib_pages mapped;	/* FAST: by map_mr_sg, to be registered */
	u32 max_pages;		/* FAST: of either list */
	struct vib_integrity *integrity;	/* INTEGRITY; else NULL */
};

struct vib_window {
	struct vib_key key;
	/* While it is bound; key.lock */
	struct vib_mr *mr;	/* mr->windows counts the window, which keeps @mr valid */
	u64 offset;		/* in it */
	u32 qpn;		/* the QP that bound it: only its peer may use the key */
};

/* Whether work requests give and take keys of @kind, under vib_key.lock. */
static inline bool vib_key_locked(u8 kind)
{
	return kind == VIB_KEY_FAST || kind == VIB_KEY_INTEGRITY || kind == VIB_KEY_WINDOW;
}

static inline struct vib_mr *to_vib_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct vib_mr, ib);
}

static inline struct vib_mr *vib_key_mr(struct vib_key *key)
{
	return container_of(key, struct vib_mr, key);
}

static inline struct vib_window *vib_key_window(struct vib_key *key)
{
	return container_of(key, struct vib_window, key);
}

/* ---- key.c ---- */

/*
 * Gives @key, whose other fields are set, an index, and returns the first key.  It is not
 * valid yet.  0: there is no memory, or no free index.
 */
u32 vib_key_add(struct vib_key *key);
/* Makes @key valid as @value: its other fields are set. */
void vib_key_publish(struct vib_key *key, u32 value);
/* What the index in @value leads to, or NULL; its key may be another.  Under RCU. */
struct vib_key *vib_key_find(struct vib_hca *hca, u32 value);
/*
 * Whether @value is valid, and allows @access to @len bytes from @addr in @pd.  Under RCU,
 * and key->lock if the key has one.
 */
bool vib_key_allows(const struct vib_key *key, u32 value, const struct ib_pd *pd, u64 addr,
		    u64 len, int access);

/* ---- mr.c ---- */

/* 0, -EINVAL or -EOPNOTSUPP: whether a region may have @access. */
int vib_mr_check_access(struct ib_device *ibdev, int access);
/* A region that has no index yet, or NULL. */
struct vib_mr *vib_mr_alloc(struct ib_pd *pd, enum vib_key_kind kind);
/*
 * From now on no window can be bound to @mr.  False: one is bound.  Under key.lock if @mr has
 * one.
 */
static inline bool vib_mr_refuse_windows(struct vib_mr *mr)
{
	return atomic_cmpxchg(&mr->windows, 0, -1) <= 0;
}

/* ---- fast.c ---- */

/* A region of @kind, FAST or INTEGRITY, with its lock, that has no index yet; or NULL. */
struct vib_mr *vib_fast_alloc(struct ib_pd *pd, enum vib_key_kind kind);
/*
 * Registers the region of @value, the new key, if it is of @kind and valid: @take makes what is
 * mapped its memory, under key.lock, and returns the bytes that the key names, at most @most, so
 * that addresses do not wrap; 0: none, nothing has changed.
 */
bool vib_fast_register(const struct vib_qp *qp, enum vib_key_kind kind, u32 value, int access,
		       u64 (*take)(struct vib_mr *mr, u64 most));
/*
 * Ends @mr, which is FAST or INTEGRITY: on return nobody uses its memory, and no work request
 * registers it any more.  False: windows are bound to it.
 */
bool vib_fast_end(struct vib_mr *mr);

/* ---- integrity.c ---- */

void vib_integrity_free(struct vib_integrity *integrity);

/* ---- window.c ---- */

/* Takes @window, which is bound, from its region.  Under key.lock. */
void vib_window_unbind(struct vib_window *window);

#endif
