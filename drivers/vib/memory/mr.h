/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_MR_H
#define VIB_MR_H

/* Memory that work requests and packets name by keys (IBA vol. 1, 10.2.3, 10.6). */
#include "device/hca.h"

/* Names all memory of the kernel by virtual address, in each protection domain of the kernel. */
#define VIB_LOCAL_DMA_LKEY	0xff
/* Pages of a region that IB_WR_REG_MR registers, at most. */
#define VIB_MAX_FAST_PAGES	1024
/* Segments of data, and of metadata, of one that IB_WR_REG_MR_INTEGRITY registers, at most. */
#define VIB_MAX_SEGMENTS	512
/* Their sizes: powers of two from 4 KiB to 2 GiB. */
#define VIB_PAGE_SIZES		0xfffff000U

struct vib_qp;

/* Is called with the next @len bytes of the memory that was asked for. */
typedef void (*vib_mem_fn)(void *mem, u32 len, void *context);

/*
 * Calls @fn for the memory that @sge names, the first @len bytes of it, piece by piece.
 * False: the key does not allow @access (enum ib_access_flags; 0 to read) to all of it in
 * @pd, and @fn was not called.  Any context but hard interrupt; @fn may not sleep, nor walk
 * memory itself.
 */
bool vib_mem_walk(struct ib_pd *pd, const struct ib_sge *sge, u32 len, int access,
		  vib_mem_fn fn, void *context);

/*
 * The same for @len bytes from @addr that the peer of @qp names by @rkey, of which all of
 * @access must be allowed: IB_ACCESS_REMOTE_READ, _WRITE.  If @fn is NULL it only checks, for
 * example the whole range of an RDMA WRITE at its first packet.  If @len is 0 the key is not
 * checked (9.7.4.1.5).  The caller checks what the QP allows its peer (qp_access_flags).
 * Called in the work of @qp.  For an XRC target the PD is that of qp->srq.
 */
bool vib_remote_walk(const struct vib_qp *qp, u32 rkey, u64 addr, u32 len, int access,
		     vib_mem_fn fn, void *context);
/*
 * The same for the 8 bytes at @addr of an atomic operation, with IB_ACCESS_REMOTE_ATOMIC: @fn
 * is called once, with aligned memory.  False also if the address or the memory is not aligned.
 * If @fn is NULL it only checks.
 */
bool vib_remote_atomic(const struct vib_qp *qp, u32 rkey, u64 addr, vib_mem_fn fn,
		       void *context);

/*
 * What work requests do to keys (10.6.5, 10.6.7.2, 11.4.1); called in the work of @qp.  False:
 * the request is not valid, nothing was done, and it completes with IB_WC_MW_BIND_ERR.
 */

/* IB_WR_REG_MR: registers the pages that were mapped for the region of @key, the new key. */
bool vib_mr_register(const struct vib_qp *qp, u32 key, int access);
/* IB_WR_REG_MR_INTEGRITY: the same for segments, with the attributes of the region. */
bool vib_integrity_register(const struct vib_qp *qp, u32 key, int access);

/* IB_WR_BIND_MW: binds a window to a part of a region. */
struct vib_bind {
	u32 mw_rkey;	/* a key of the window */
	u32 rkey;	/* the new one */
	u32 lkey;	/* of the region */
	int access;
	u64 addr;	/* in the region */
	u64 length;
};

bool vib_mw_bind(const struct vib_qp *qp, const struct vib_bind *bind);

/*
 * IB_WR_LOCAL_INV, or a SEND with invalidate that was received (@remote).  When it returns true
 * nobody reads or writes memory by @key any more.  A remote invalidation that fails is a remote
 * access error.
 */
bool vib_key_invalidate(const struct vib_qp *qp, u32 key, bool remote);

extern const struct ib_device_ops vib_mr_ops;		/* mr.c: and protection domains */
extern const struct ib_device_ops vib_fast_ops;
extern const struct ib_device_ops vib_integrity_ops;
extern const struct ib_device_ops vib_window_ops;

#endif
