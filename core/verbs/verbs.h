/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_VERBS_H
#define IBCORE_VERBS_H

/* Address handles and XRC domains. */
#include <ibex/mmap.h>
#include <ibex/xrc.h>

#include "core.h"

/* ---- ah_attr.c ---- */
/*
 * Checks @attr for @dev and pins its source GID; a QP or AH may use @attr until
 * it is unpinned.
 */
int ibcore_ah_attr_pin(struct ib_device *dev, struct rdma_ah_attr *attr);
void ibcore_ah_attr_unpin(struct rdma_ah_attr *attr);
/* Unpins a source GID that a QP or AH took over from pinned attributes. */
void ibcore_sgid_unpin(const struct ib_gid_attr *sgid_attr);
/*
 * Sets the DMAC of a RoCE address: computed from a multicast or link-local
 * DGID, or resolved.
 */
int ibcore_ah_resolve_dmac(struct ib_device *dev, struct rdma_ah_attr *attr);

/* ---- xrcd.c: XRC domains and the handles of their target QPs ---- */
/* Adds a new target QP to its domain and returns its first handle. */
struct ib_qp *ibcore_xrc_share(struct ib_qp *real,
			       const struct ib_qp_init_attr *attr);
/* Closes a handle; closing the last one destroys the QP. */
int ibcore_xrc_close(struct ib_qp *handle);

/* What core keeps of a domain, stored behind the provider's struct. */
struct ibcore_xrcd {
	u32 id;				/* by which logs and rdma-resource(8) call it */
	char name[16];			/* the owner of its receive QPs there */
	struct list_head rcv_qps;	/* newest first; protected by tgt_qps_rwsem */
	unsigned int nr_rcv_qps;	/* on the list or being made; likewise */
	struct ib_pd *pd;		/* of them; NULL: none was needed yet; likewise */
};

static inline struct ibcore_xrcd *ibcore_xrcd_priv(const struct ib_xrcd *xrcd)
{
	size_t size = xrcd->device->ops.size_ib_xrcd;

	return (void *)xrcd + ALIGN(size, __alignof__(struct ibcore_xrcd));
}

/* ---- xrc_rcv.c: QPs that domains own ---- */
void ibcore_xrc_rcv_init(struct ib_xrcd *xrcd);
/*
 * Destroys the receive QPs of a domain that nothing uses any more.  If the provider refuses
 * one, that QP and the rest stay.
 */
int ibcore_xrc_rcv_destroy_all(struct ib_xrcd *xrcd);
/* The domain that owns @qp, or NULL; the caller holds the QP's restrack entry. */
const struct ib_xrcd *ibcore_xrc_rcv_owner(const struct ib_qp *qp);

#endif
