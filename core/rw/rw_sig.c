// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rdma_rw API with protection information: the device checks, generates or
 * strips T10-DIF metadata while it moves the data, through one MR that maps
 * both.
 */
#include <linux/slab.h>

#include "rw_ctx.h"

static int rw_sig_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		       struct scatterlist *sg, u32 nents,
		       struct scatterlist *prot_sg, u32 prot_nents,
		       const struct ib_sig_attrs *sig_attrs, u64 remote_addr,
		       u32 rkey, enum dma_data_direction dir)
{
	struct rdma_rw_reg_ctx *reg;
	int ret;

	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return -ENOMEM;
	reg->mr = ib_mr_pool_get(qp, &qp->sig_mrs);
	if (!reg->mr) {
		kfree(reg);
		return -EAGAIN;
	}

	*reg->mr->sig_attrs = *sig_attrs;
	ret = ib_map_mr_sg_pi(reg->mr, sg, nents, NULL, prot_sg, prot_nents,
			      NULL, SZ_4K);
	if (ret) {
		ib_mr_pool_put(qp, &qp->sig_mrs, reg->mr);
		kfree(reg);
		return ret < 0 ? ret : -EINVAL;
	}

	ret = ibcore_rw_init_reg(reg, qp, port_num, IB_WR_REG_MR_INTEGRITY);
	/*
	 * The region's length includes the metadata in memory, which may not be
	 * sent on the wire.  The provider stored the length of the metadata in
	 * the region's own attributes when it mapped the region.
	 */
	if (sig_attrs->wire.sig_type == IB_SIG_TYPE_NONE)
		reg->sge.length -= reg->mr->sig_attrs->meta_length;
	ibcore_rw_init_op(reg, remote_addr, rkey,
			  dir == DMA_TO_DEVICE ? IB_WR_RDMA_WRITE :
						 IB_WR_RDMA_READ);
	ctx->reg = reg;
	ctx->nr_ops = 1;
	ctx->type = IBCORE_RW_SIG;
	return ret + 1;
}

/**
 * rdma_rw_ctx_signature_init() - prepare a READ or WRITE with protection
 *	information
 * @ctx: context, initialised here
 * @qp: QP from ib_create_qp() with cap.max_rdma_ctxs and
 *	IB_QP_CREATE_INTEGRITY_EN
 * @port_num: port the QP is on
 * @sg: local memory, which is DMA-mapped here
 * @cnt: number of entries in @sg
 * @prot: memory of the metadata, which is DMA-mapped here; or NULL
 * @prot_cnt: number of entries in @prot, or 0
 * @sig_attrs: layout of the metadata in memory and on the wire; copied
 * @remote_addr: address of the remote buffer
 * @rkey: key of the remote buffer
 * @dir: DMA_TO_DEVICE for a WRITE, DMA_FROM_DEVICE for a READ
 *
 * Context: process, may sleep.
 * Return: the number of send queue entries that the transfer takes; -EAGAIN if
 * no MR is free until another context is destroyed, -EINVAL, -ENOMEM, or the
 * error of mapping.
 */
int rdma_rw_ctx_signature_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			       u32 port_num, struct scatterlist *sg, u32 cnt,
			       struct scatterlist *prot, u32 prot_cnt,
			       struct ib_sig_attrs *sig_attrs, u64 remote_addr,
			       u32 rkey, enum dma_data_direction dir)
{
	struct ib_device *dev = qp->device;
	u32 max = ibcore_rw_mr_pages(dev, qp->integrity_en);
	u32 nents, prot_nents = 0;
	int ret;

	if (!cnt || cnt > max || prot_cnt > max)
		return -EINVAL;

	ret = ibcore_rw_map(dev, sg, cnt, dir, &nents);
	if (ret)
		return ret;
	if (prot_cnt) {
		ret = ibcore_rw_map(dev, prot, prot_cnt, dir,
				    &prot_nents);
		if (ret)
			goto unmap;
	}

	ret = rw_sig_init(ctx, qp, port_num, sg, nents, prot, prot_nents,
			  sig_attrs, remote_addr, rkey, dir);
	if (ret > 0)
		return ret;

	if (prot_cnt)
		ib_dma_unmap_sg(dev, prot, prot_cnt, dir);
unmap:
	ib_dma_unmap_sg(dev, sg, cnt, dir);
	return ret;
}
EXPORT_SYMBOL(rdma_rw_ctx_signature_init);

/**
 * rdma_rw_ctx_destroy_signature() - end a READ or WRITE with protection
 *	information
 * @ctx: context whose work requests have completed or were never posted
 * @qp: its QP
 * @port_num: port the QP is on
 * @sg: as for rdma_rw_ctx_signature_init()
 * @cnt: as for rdma_rw_ctx_signature_init()
 * @prot: as for rdma_rw_ctx_signature_init()
 * @prot_cnt: as for rdma_rw_ctx_signature_init()
 * @dir: as for rdma_rw_ctx_signature_init()
 *
 * Context: any.
 */
void rdma_rw_ctx_destroy_signature(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
				   u32 port_num, struct scatterlist *sg,
				   u32 cnt, struct scatterlist *prot,
				   u32 prot_cnt, enum dma_data_direction dir)
{
	if (WARN_ON_ONCE(ctx->type != IBCORE_RW_SIG))
		return;

	ib_mr_pool_put(qp, &qp->sig_mrs, ctx->reg->mr);
	kfree(ctx->reg);
	if (prot_cnt)
		ib_dma_unmap_sg(qp->device, prot, prot_cnt, dir);
	ib_dma_unmap_sg(qp->device, sg, cnt, dir);
}
EXPORT_SYMBOL(rdma_rw_ctx_destroy_signature);
