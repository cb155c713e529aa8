/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CORE_RW_CTX_H
#define IBEX_CORE_RW_CTX_H

/* What rw.c and rw_sig.c share. */
#include <rdma/rw.h>

#include "core.h"

/* rdma_rw_ctx.type: which member of its union is in use */
enum ibcore_rw_type {
	IBCORE_RW_SINGLE,	/* single: one request of one SGE */
	IBCORE_RW_MAPPED,	/* map: requests of several SGEs */
	IBCORE_RW_MR,		/* reg: requests on registered memory */
	IBCORE_RW_SIG,		/* reg: one request on registered data and metadata */
};

/* Maximum number of pages that one MR of a QP maps. */
u32 ibcore_rw_mr_pages(struct ib_device *dev, bool integrity);
int ibcore_rw_map(struct ib_device *dev, struct scatterlist *sg, u32 sg_cnt,
		  enum dma_data_direction dir, u32 *mapped);
/*
 * Sets up the registration of reg->mr and the SGE of the request that uses it.
 * Returns how many work requests precede that request.
 */
int ibcore_rw_init_reg(struct rdma_rw_reg_ctx *reg, struct ib_qp *qp,
		       u32 port_num, enum ib_wr_opcode reg_opcode);
void ibcore_rw_init_op(struct rdma_rw_reg_ctx *reg, u64 remote_addr, u32 rkey,
		       enum ib_wr_opcode opcode);

#endif
