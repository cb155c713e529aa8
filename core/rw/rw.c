// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rdma_rw API: RDMA READs and WRITEs between a scatterlist and one remote
 * buffer, as chains of work requests for target-side ULPs.
 *
 * Local memory is addressed with the PD's local_dma_lkey, in as many SGEs as
 * the device supports, unless the device needs or prefers a registration.  On
 * iWARP the peer gets the key of the memory that a READ writes to, so that key
 * must not cover all memory.  Some devices read long lists faster through one
 * MR; they use SGEs if no MR is free.  A transfer by a registration takes up to
 * three work requests: LOCAL_INV of the MR's last key, REG_MR, and the READ or
 * WRITE.
 */
#include <linux/moduleparam.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "rw_ctx.h"

/* Larger MRs cost memory that few requests use. */
#define RW_MAX_MR_PAGES		256

/* WRs a registration takes besides the READ or WRITE: REG_MR and LOCAL_INV. */
#define RW_WRS_OF_MR		2

static bool rw_force_mr;
module_param_named(force_mr, rw_force_mr, bool, 0);
MODULE_PARM_DESC(force_mr, "Force usage of MRs for RDMA READ/WRITE operations");

/*
 * Whether a QP of the device may need MRs, which are allocated with the QP, not
 * on demand.
 */
static bool rw_may_use_mr(struct ib_device *dev, u32 port_num)
{
	return rdma_protocol_iwarp(dev, port_num) || dev->attrs.max_sgl_rd ||
	       unlikely(rw_force_mr);
}

/* Whether a transfer needs an MR.  DMA_FROM_DEVICE is a READ into local memory. */
static bool rw_needs_mr(struct ib_device *dev, u32 port_num,
			enum dma_data_direction dir)
{
	return (dir == DMA_FROM_DEVICE && rdma_protocol_iwarp(dev, port_num)) ||
	       unlikely(rw_force_mr);
}

/* Whether a transfer that needs no MR is faster with one. */
static bool rw_prefers_mr(struct ib_device *dev, enum dma_data_direction dir,
			  u32 nents)
{
	return dir == DMA_FROM_DEVICE && dev->attrs.max_sgl_rd &&
	       nents > dev->attrs.max_sgl_rd;
}

u32 ibcore_rw_mr_pages(struct ib_device *dev, bool integrity)
{
	u32 pages = integrity ? dev->attrs.max_pi_fast_reg_page_list_len :
				dev->attrs.max_fast_reg_page_list_len;

	return min_t(u32, pages, RW_MAX_MR_PAGES);
}

int ibcore_rw_map(struct ib_device *dev, struct scatterlist *sg, u32 sg_cnt,
		  enum dma_data_direction dir, u32 *mapped)
{
	struct sg_table sgt = {
		.sgl = sg,
		.orig_nents = sg_cnt,
	};
	int ret;

	ret = ib_dma_map_sgtable_attrs(dev, &sgt, dir, 0);
	if (!ret)
		*mapped = sgt.nents;
	return ret;
}

int ibcore_rw_init_reg(struct rdma_rw_reg_ctx *reg, struct ib_qp *qp,
		       u32 port_num, enum ib_wr_opcode reg_opcode)
{
	struct ib_mr *mr = reg->mr;

	reg->reg_wr.wr.opcode = reg_opcode;
	reg->reg_wr.wr.next = &reg->wr.wr;
	reg->reg_wr.mr = mr;
	reg->reg_wr.key = mr->lkey;
	reg->reg_wr.access = IB_ACCESS_LOCAL_WRITE;
	if (rdma_protocol_iwarp(qp->device, port_num))
		reg->reg_wr.access |= IB_ACCESS_REMOTE_WRITE;

	reg->sge.addr = mr->iova;
	reg->sge.length = mr->length;
	reg->sge.lkey = mr->lkey;
	if (!mr->need_inval)
		return 1;

	reg->inv_wr.opcode = IB_WR_LOCAL_INV;
	reg->inv_wr.ex.invalidate_rkey = mr->lkey;
	reg->inv_wr.next = &reg->reg_wr.wr;
	return 2;
}

void ibcore_rw_init_op(struct rdma_rw_reg_ctx *reg, u64 remote_addr, u32 rkey,
		       enum ib_wr_opcode opcode)
{
	reg->wr.wr.sg_list = &reg->sge;
	reg->wr.wr.num_sge = 1;
	reg->wr.wr.opcode = opcode;
	reg->wr.remote_addr = remote_addr;
	reg->wr.rkey = rkey;
}

static struct ib_send_wr *rw_first_wr(struct rdma_rw_reg_ctx *reg)
{
	return reg->inv_wr.next ? &reg->inv_wr : &reg->reg_wr.wr;
}

/*
 * Returns how many of the @left entries from @sg one MR of @pages pages maps:
 * those before the pages are used up or before a gap, which an MR of type
 * MEM_REG cannot have.  Returns 0 if not even the first entry fits.
 */
static u32 rw_mr_span(struct scatterlist *sg, u32 left, u32 offset, u32 pages)
{
	u64 end = 0, used = 0;
	u32 n;

	for (n = 0; n < left; n++, sg = sg_next(sg), offset = 0) {
		u64 from = sg_dma_address(sg) + offset;
		u64 to = sg_dma_address(sg) + sg_dma_len(sg);
		u64 first = from >> PAGE_SHIFT;

		if (n && from != end && ((from | end) & ~PAGE_MASK))
			break;
		/* The page that a contiguous entry shares was counted before. */
		if (n && from == end && from & ~PAGE_MASK)
			first++;
		used += (PAGE_ALIGN(to) >> PAGE_SHIFT) - first;
		if (used > pages)
			break;
		end = to;
	}
	return n;
}

/* Returns how many MRs the list takes, or 0 if MRs cannot map it. */
static u32 rw_count_mrs(struct scatterlist *sg, u32 left, u32 offset, u32 pages)
{
	u32 mrs, span, i;

	for (mrs = 0; left; mrs++, left -= span, offset = 0) {
		span = rw_mr_span(sg, left, offset, pages);
		if (!span)
			return 0;
		for (i = 0; i < span; i++)
			sg = sg_next(sg);
	}
	return mrs;
}

/*
 * Maps @nents entries with an MR of the pool.  Returns how many work requests
 * register it, or an error.
 */
static int rw_init_one_mr(struct rdma_rw_reg_ctx *reg, struct ib_qp *qp,
			  u32 port_num, struct scatterlist *sg, u32 nents,
			  u32 offset)
{
	int ret;

	reg->mr = ib_mr_pool_get(qp, &qp->rdma_mrs);
	if (!reg->mr)
		return -EAGAIN;

	ret = ib_map_mr_sg(reg->mr, sg, nents, &offset, PAGE_SIZE);
	if (ret != nents) {
		ib_mr_pool_put(qp, &qp->rdma_mrs, reg->mr);
		return ret < 0 ? ret : -EINVAL;
	}
	return ibcore_rw_init_reg(reg, qp, port_num, IB_WR_REG_MR);
}

static void rw_put_mrs(struct rdma_rw_reg_ctx *reg, struct ib_qp *qp, u32 n)
{
	while (n--)
		ib_mr_pool_put(qp, &qp->rdma_mrs, reg[n].mr);
}

static enum ib_wr_opcode rw_mr_opcode(struct ib_device *dev, u32 port_num,
				      enum dma_data_direction dir)
{
	if (dir == DMA_TO_DEVICE)
		return IB_WR_RDMA_WRITE;
	return rdma_cap_read_inv(dev, port_num) ? IB_WR_RDMA_READ_WITH_INV :
						  IB_WR_RDMA_READ;
}

static int rw_init_mrs_chain(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			     u32 port_num, struct scatterlist *sg, u32 left,
			     u32 offset, u64 remote_addr, u32 rkey,
			     enum dma_data_direction dir)
{
	enum ib_wr_opcode opcode = rw_mr_opcode(qp->device, port_num, dir);
	u32 pages = ibcore_rw_mr_pages(qp->device, qp->integrity_en);
	u32 i, j, span;
	int count = 0;
	int ret;

	ctx->nr_ops = rw_count_mrs(sg, left, offset, pages);
	if (!ctx->nr_ops)
		return -EINVAL;
	ctx->reg = kcalloc(ctx->nr_ops, sizeof(*ctx->reg), GFP_KERNEL);
	if (!ctx->reg)
		return -ENOMEM;

	for (i = 0; i < ctx->nr_ops; i++, left -= span, offset = 0) {
		struct rdma_rw_reg_ctx *reg = &ctx->reg[i];

		span = rw_mr_span(sg, left, offset, pages);
		ret = rw_init_one_mr(reg, qp, port_num, sg, span, offset);
		if (ret < 0)
			goto free;
		ibcore_rw_init_op(reg, remote_addr, rkey, opcode);
		if (i)
			ctx->reg[i - 1].wr.wr.next = rw_first_wr(reg);

		count += ret + 1;
		remote_addr += reg->sge.length;
		for (j = 0; j < span; j++)
			sg = sg_next(sg);
	}
	ctx->type = IBCORE_RW_MR;
	return count;

free:
	rw_put_mrs(ctx->reg, qp, i);
	kfree(ctx->reg);
	return ret;
}

static void rw_fill_sge(struct ib_sge *sge, struct ib_qp *qp,
			struct scatterlist *sg, u32 offset)
{
	sge->addr = sg_dma_address(sg) + offset;
	sge->length = sg_dma_len(sg) - offset;
	sge->lkey = qp->pd->local_dma_lkey;
}

static void rw_fill_op(struct ib_rdma_wr *wr, struct ib_sge *sges, u32 num_sge,
		       u64 remote_addr, u32 rkey, enum dma_data_direction dir)
{
	wr->wr.sg_list = sges;
	wr->wr.num_sge = num_sge;
	wr->wr.opcode = dir == DMA_TO_DEVICE ? IB_WR_RDMA_WRITE :
					       IB_WR_RDMA_READ;
	wr->remote_addr = remote_addr;
	wr->rkey = rkey;
}

static int rw_init_single(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			  struct scatterlist *sg, u32 offset, u64 remote_addr,
			  u32 rkey, enum dma_data_direction dir)
{
	memset(&ctx->single, 0, sizeof(ctx->single));
	rw_fill_sge(&ctx->single.sge, qp, sg, offset);
	rw_fill_op(&ctx->single.wr, &ctx->single.sge, 1, remote_addr, rkey,
		   dir);
	ctx->type = IBCORE_RW_SINGLE;
	ctx->nr_ops = 1;
	return 1;
}

static int rw_init_mapped(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			  struct scatterlist *sg, u32 left, u32 offset,
			  u64 remote_addr, u32 rkey,
			  enum dma_data_direction dir)
{
	u32 max_sge = dir == DMA_TO_DEVICE ? qp->max_write_sge :
					     qp->max_read_sge;
	struct ib_rdma_wr *wr;
	struct ib_sge *sge;
	u32 i, j, n;

	if (!max_sge)
		return -EINVAL;

	ctx->nr_ops = DIV_ROUND_UP(left, max_sge);
	sge = kcalloc(left, sizeof(*sge), GFP_KERNEL);
	wr = kcalloc(ctx->nr_ops, sizeof(*wr), GFP_KERNEL);
	if (!sge || !wr) {
		kfree(sge);
		kfree(wr);
		return -ENOMEM;
	}
	ctx->map.sges = sge;
	ctx->map.wrs = wr;
	ctx->type = IBCORE_RW_MAPPED;

	for (i = 0; i < ctx->nr_ops; i++, wr++, left -= n) {
		n = min(left, max_sge);
		rw_fill_op(wr, sge, n, remote_addr, rkey, dir);
		if (i + 1 < ctx->nr_ops)
			wr->wr.next = &wr[1].wr;
		for (j = 0; j < n; j++, sge++, sg = sg_next(sg), offset = 0) {
			rw_fill_sge(sge, qp, sg, offset);
			remote_addr += sge->length;
		}
	}
	return ctx->nr_ops;
}

static int rw_init_sges(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			struct scatterlist *sg, u32 left, u32 offset,
			u64 remote_addr, u32 rkey, enum dma_data_direction dir)
{
	if (left == 1)
		return rw_init_single(ctx, qp, sg, offset, remote_addr, rkey,
				      dir);
	return rw_init_mapped(ctx, qp, sg, left, offset, remote_addr, rkey,
			      dir);
}

/*
 * For transfers that need no MR.  ULPs close the connection if this returns an
 * error, so a list for which no MR is free now, or that MRs cannot map, is
 * transferred by the slower SGEs.
 */
static int rw_init_unforced(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			    u32 port_num, struct scatterlist *sg, u32 left,
			    u32 offset, u64 remote_addr, u32 rkey,
			    enum dma_data_direction dir)
{
	int ret;

	if (rw_prefers_mr(qp->device, dir, left)) {
		ret = rw_init_mrs_chain(ctx, qp, port_num, sg, left, offset,
					remote_addr, rkey, dir);
		if (ret != -EAGAIN && ret != -EINVAL)
			return ret;
	}
	return rw_init_sges(ctx, qp, sg, left, offset, remote_addr, rkey, dir);
}

/**
 * rdma_rw_ctx_init() - prepare an RDMA READ or WRITE
 * @ctx: context, initialised here
 * @qp: QP from ib_create_qp() with cap.max_rdma_ctxs
 * @port_num: port the QP is on
 * @sg: local memory, which is DMA-mapped here
 * @sg_cnt: number of entries in @sg
 * @sg_offset: offset in bytes into the local memory
 * @remote_addr: address of the remote buffer
 * @rkey: key of the remote buffer
 * @dir: DMA_TO_DEVICE for a WRITE, DMA_FROM_DEVICE for a READ
 *
 * Context: process, may sleep.
 * Return: the number of send queue entries that the transfer takes; -EAGAIN if
 * it needs an MR and none is free until another context is destroyed; -EINVAL,
 * -ENOMEM, or the error of mapping.
 */
int rdma_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		     struct scatterlist *sg, u32 sg_cnt, u32 sg_offset,
		     u64 remote_addr, u32 rkey, enum dma_data_direction dir)
{
	struct ib_device *dev = qp->device;
	struct scatterlist *s = sg;
	u32 left;
	int ret;

	ret = ibcore_rw_map(dev, sg, sg_cnt, dir, &left);
	if (ret)
		return ret;

	while (left && sg_offset >= sg_dma_len(s)) {
		sg_offset -= sg_dma_len(s);
		s = sg_next(s);
		left--;
	}

	if (!left)
		ret = -EINVAL;
	else if (rw_needs_mr(dev, port_num, dir))
		ret = rw_init_mrs_chain(ctx, qp, port_num, s, left, sg_offset,
					remote_addr, rkey, dir);
	else
		ret = rw_init_unforced(ctx, qp, port_num, s, left, sg_offset,
				       remote_addr, rkey, dir);
	if (ret < 0)
		ib_dma_unmap_sg(dev, sg, sg_cnt, dir);
	return ret;
}
EXPORT_SYMBOL(rdma_rw_ctx_init);

/*
 * Sets a new key for each use of an MR.  Unless the READ itself invalidates the
 * key, a LOCAL_INV precedes the next registration of this MR.
 */
static void rw_renew_key(struct rdma_rw_reg_ctx *reg)
{
	struct ib_mr *mr = reg->mr;

	mr->need_inval = reg->wr.wr.opcode != IB_WR_RDMA_READ_WITH_INV;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->lkey));
	reg->reg_wr.key = mr->lkey;
	reg->sge.lkey = mr->lkey;
	if (!mr->need_inval)
		reg->wr.wr.ex.invalidate_rkey = mr->lkey;
}

/**
 * rdma_rw_ctx_wrs() - get the work requests of a READ or WRITE
 * @ctx: initialised context
 * @qp: its QP
 * @port_num: port the QP is on
 * @cqe: its done method is called on completion if @chain_wr is NULL
 * @chain_wr: work request to append to them, or NULL
 *
 * The caller must post the work requests, and must call this only once for a
 * context.
 *
 * Context: any.
 * Return: the first work request of the chain.
 */
struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
				   u32 port_num, struct ib_cqe *cqe,
				   struct ib_send_wr *chain_wr)
{
	struct ib_send_wr *first, *last;
	u32 i;

	switch (ctx->type) {
	case IBCORE_RW_MR:
	case IBCORE_RW_SIG:
		for (i = 0; i < ctx->nr_ops; i++)
			rw_renew_key(&ctx->reg[i]);
		first = rw_first_wr(&ctx->reg[0]);
		last = &ctx->reg[ctx->nr_ops - 1].wr.wr;
		break;
	case IBCORE_RW_MAPPED:
		first = &ctx->map.wrs[0].wr;
		last = &ctx->map.wrs[ctx->nr_ops - 1].wr;
		break;
	default:
		first = &ctx->single.wr.wr;
		last = first;
		break;
	}

	last->next = chain_wr;
	if (!chain_wr) {
		last->wr_cqe = cqe;
		last->send_flags |= IB_SEND_SIGNALED;
	}
	return first;
}
EXPORT_SYMBOL(rdma_rw_ctx_wrs);

/**
 * rdma_rw_ctx_post() - post a READ or WRITE
 * @ctx: initialised context
 * @qp: its QP
 * @port_num: port the QP is on
 * @cqe: its done method is called on completion if @chain_wr is NULL
 * @chain_wr: work request to post after it, or NULL
 *
 * Context: any that the provider's post_send allows.
 * Return: 0 or the provider's error.
 */
int rdma_rw_ctx_post(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		     struct ib_cqe *cqe, struct ib_send_wr *chain_wr)
{
	return ib_post_send(qp, rdma_rw_ctx_wrs(ctx, qp, port_num, cqe,
						chain_wr), NULL);
}
EXPORT_SYMBOL(rdma_rw_ctx_post);

/**
 * rdma_rw_ctx_destroy() - end a READ or WRITE
 * @ctx: context whose work requests have completed or were never posted
 * @qp: its QP
 * @port_num: port the QP is on
 * @sg: as for rdma_rw_ctx_init()
 * @sg_cnt: as for rdma_rw_ctx_init()
 * @dir: as for rdma_rw_ctx_init()
 *
 * Context: any.
 */
void rdma_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
			 u32 port_num, struct scatterlist *sg, u32 sg_cnt,
			 enum dma_data_direction dir)
{
	switch (ctx->type) {
	case IBCORE_RW_MR:
		rw_put_mrs(ctx->reg, qp, ctx->nr_ops);
		kfree(ctx->reg);
		break;
	case IBCORE_RW_MAPPED:
		kfree(ctx->map.wrs);
		kfree(ctx->map.sges);
		break;
	case IBCORE_RW_SINGLE:
		break;
	default:
		WARN_ONCE(1, "rdma_rw context of type %u\n", ctx->type);
		return;
	}
	ib_dma_unmap_sg(qp->device, sg, sg_cnt, dir);
}
EXPORT_SYMBOL(rdma_rw_ctx_destroy);

/**
 * rdma_rw_mr_factor() - get the number of contexts that transfer a payload
 * @device: device
 * @port_num: port
 * @maxpages: number of pages in the largest payload
 *
 * Context: any.
 * Return: the number of contexts.
 */
unsigned int rdma_rw_mr_factor(struct ib_device *device, u32 port_num,
			       unsigned int maxpages)
{
	unsigned int pages;

	if (rw_may_use_mr(device, port_num))
		pages = ibcore_rw_mr_pages(device, false);
	else
		pages = device->attrs.max_sge_rd;
	return DIV_ROUND_UP(maxpages, max(pages, 1U));
}
EXPORT_SYMBOL(rdma_rw_mr_factor);

/**
 * rdma_rw_max_send_wr() - get how many send queue entries contexts take
 * @dev: device
 * @port_num: port
 * @max_rdma_ctxs: maximum number of contexts in flight
 * @create_flags: enum ib_qp_create_flags of the QP
 *
 * Context: any.
 * Return: the maximum number of entries.
 */
unsigned int rdma_rw_max_send_wr(struct ib_device *dev, u32 port_num,
				 unsigned int max_rdma_ctxs, u32 create_flags)
{
	unsigned int wrs = 1, total;

	if (create_flags & IB_QP_CREATE_INTEGRITY_EN ||
	    rw_may_use_mr(dev, port_num))
		wrs += RW_WRS_OF_MR;
	/* On overflow, return more than any queue has. */
	if (check_mul_overflow(wrs, max_rdma_ctxs, &total))
		return UINT_MAX;
	return total;
}
EXPORT_SYMBOL(rdma_rw_max_send_wr);

/* Called before the QP is created: makes room for attr->cap.max_rdma_ctxs contexts. */
void rdma_rw_init_qp(struct ib_device *dev, struct ib_qp_init_attr *attr)
{
	u64 wrs;

	WARN_ON_ONCE(!attr->port_num);
	wrs = rdma_rw_max_send_wr(dev, attr->port_num, attr->cap.max_rdma_ctxs,
				  attr->create_flags);
	/*
	 * If max_qp_wr is less, the ULP has fewer contexts in flight, which is
	 * no error.
	 */
	attr->cap.max_send_wr = min_t(u64, attr->cap.max_send_wr + wrs,
				      dev->attrs.max_qp_wr);
}

/*
 * Called after the QP is created: allocates its MRs, which
 * rdma_rw_cleanup_mrs() frees.
 */
int rdma_rw_init_mrs(struct ib_qp *qp, struct ib_qp_init_attr *attr)
{
	bool integrity = attr->create_flags & IB_QP_CREATE_INTEGRITY_EN;
	u32 nr = attr->cap.max_rdma_ctxs;
	u32 pages;
	int ret;

	if (!integrity && !rw_may_use_mr(qp->device, attr->port_num))
		return 0;

	pages = ibcore_rw_mr_pages(qp->device, integrity);
	ret = ib_mr_pool_init(qp, &qp->rdma_mrs, nr, IB_MR_TYPE_MEM_REG, pages,
			      0);
	if (ret || !integrity)
		return ret;

	ret = ib_mr_pool_init(qp, &qp->sig_mrs, nr, IB_MR_TYPE_INTEGRITY, pages,
			      pages);
	if (ret)
		ib_mr_pool_destroy(qp, &qp->rdma_mrs);
	return ret;
}

void rdma_rw_cleanup_mrs(struct ib_qp *qp)
{
	ib_mr_pool_destroy(qp, &qp->sig_mrs);
	ib_mr_pool_destroy(qp, &qp->rdma_mrs);
}
