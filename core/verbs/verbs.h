/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_VERBS_H
#define IBCORE_VERBS_H

/* Address handles and XRC domains. */
#include <ibex/mmap.h>

#include "core.h"

/* ---- ah_attr.c ---- */
/* Checks @attr for @dev; a QP or AH may be made from it until it is unpinned. */
int ibcore_ah_attr_pin(struct ib_device *dev, struct rdma_ah_attr *attr);
void ibcore_ah_attr_unpin(struct rdma_ah_attr *attr);
/* The same of what the QP or AH took over. */
void ibcore_sgid_unpin(const struct ib_gid_attr *sgid_attr);
/* DMAC of a RoCE address from its DGID: multicast, link local, or resolved. */
int ibcore_ah_resolve_dmac(struct ib_device *dev, struct rdma_ah_attr *attr);

/* ---- xrcd.c: XRC domains and the handles of their target QPs ---- */
/* Enters a new target QP in its domain; answers with its first handle. */
struct ib_qp *ibcore_xrc_share(struct ib_qp *real,
			       const struct ib_qp_init_attr *attr);
/* Closes a handle; the last one takes the QP with it. */
int ibcore_xrc_close(struct ib_qp *handle, struct ib_udata *udata);

#endif
