/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef INFINIBAND_IBEX_H
#define INFINIBAND_IBEX_H

/* Verbs of Ibex, an RDMA core, that libibverbs does not have.  Link with -libex -libverbs. */
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes an XRC receive QP that belongs to @xrc_domain and outlives this process; see
 * ibv_alloc_xrc_rcv_qp(3).  Returns 0 or an error number.
 */
int ibv_alloc_xrc_rcv_qp(struct ibv_pd *pd, struct ibv_xrcd *xrc_domain,
			 struct ibv_qp_attr *attr, enum ibv_qp_attr_mask attr_mask,
			 uint32_t *xrc_rcv_qpn);

#ifdef __cplusplus
}
#endif

#endif
