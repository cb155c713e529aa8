/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_VERBS_H
#define IBCORE_VERBS_H

/* Address handles and XRC domains. */
#include <ibex/mmap.h>

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

#endif
