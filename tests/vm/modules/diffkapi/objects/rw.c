// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Contexts of the rw API, with the work requests that they consist of; pools of MRs. */
#include <rdma/mr_pool.h>
#include <rdma/rw.h>
#include "objects/qp.h"

static struct pieces pieces, metadata;
static struct rdma_rw_ctx ctx;
static struct ib_cqe cqe;
static struct ib_send_wr chained;

static const char *opcode_of(const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
		return "write";
	case IB_WR_RDMA_READ:
		return "read";
	case IB_WR_SEND:
		return "send";
	case IB_WR_REG_MR:
		return "reg";
	case IB_WR_LOCAL_INV:
		return "inv";
	default:
		return "other";
	}
}

static void say_wr(const struct object *qp, const struct ib_send_wr *wr)
{
	struct ib_pd *pd = qp->parents[0]->ptr;
	int i;

	say(" | %s flags %x cqe %d", opcode_of(wr), wr->send_flags, wr->wr_cqe == &cqe);
	if (wr->opcode == IB_WR_RDMA_WRITE || wr->opcode == IB_WR_RDMA_READ)
		say(" remote %llx rkey %x", rdma_wr(wr)->remote_addr, rdma_wr(wr)->rkey);
	/* An MR with integrity begins at 0. */
	for (i = 0; i < wr->num_sge; i++)
		say(" %llx+%x key %d",
		    wr->sg_list[i].addr - (wr->sg_list[i].addr ? arena_dma(qp->dev) : 0),
		    wr->sg_list[i].length, wr->sg_list[i].lkey == pd->local_dma_lkey);
}

static void say_wrs(const struct object *qp, const struct ib_send_wr *wr)
{
	answer_more(0);
	for (; wr; wr = wr->next)
		say_wr(qp, wr);
	answer_end();
}

static void one_context(struct object *qp)
{
	enum dma_data_direction dir = one_of(DMA_TO_DEVICE, DMA_FROM_DEVICE);
	u32 offset, rkey = 0x4321;
	u64 remote = 0x10000000ull + rnd(8192);
	struct ib_send_wr *chain;
	int ret;

	make_pieces(&pieces, one_in(3) ? 1 : 1 + rnd(39), one_in(2));
	/* at most into the third of them, and not behind the list's end */
	offset = one_in(3) ? rnd(min(pieces.bytes, 3u * (u32)PAGE_SIZE)) : 0;
	memset(&ctx, 0, sizeof(ctx));
	call("rdma_rw_ctx_init qp%u %s dir %d offset %x remote %llx", qp->n, qp->dev->name, dir,
	     offset, remote);
	say_pieces(&pieces);
	ret = rdma_rw_ctx_init(&ctx, qp->ptr, 1, pieces.sg, pieces.count, offset, remote, rkey,
			       dir);
	if (answer_with(ret, "%d ops %u", ret, ctx.nr_ops) < 0)
		return;
	chain = one_in(2) ? &chained : NULL;
	memset(&chained, 0, sizeof(chained));
	chained.opcode = IB_WR_SEND;
	call("rdma_rw_ctx_wrs chain %d", !!chain);
	say_wrs(qp, rdma_rw_ctx_wrs(&ctx, qp->ptr, 1, chain ? NULL : &cqe, chain));
	call("rdma_rw_ctx_destroy");
	rdma_rw_ctx_destroy(&ctx, qp->ptr, 1, pieces.sg, pieces.count, dir);
	answer(0);
}

static void some_domain(struct ib_sig_domain *domain)
{
	domain->sig_type = one_in(3) ? IB_SIG_TYPE_NONE : IB_SIG_TYPE_T10_DIF;
	domain->sig.dif.pi_interval = 512;
	domain->sig.dif.bg_type = IB_T10DIF_CRC;
}

/* A QP without integrity has no MRs for it. */
static void signature_context(struct object *qp)
{
	enum dma_data_direction dir = one_of(DMA_TO_DEVICE, DMA_FROM_DEVICE);
	struct ib_sig_attrs sig = {};
	u32 metas = one_in(3) ? 0 : 1 + rnd(3);
	int ret;

	some_domain(&sig.mem);
	some_domain(&sig.wire);
	make_pieces(&pieces, 1 + rnd(8), one_in(2));
	make_pieces(&metadata, metas, one_in(2));
	memset(&ctx, 0, sizeof(ctx));
	call("rdma_rw_ctx_signature_init qp%u %s dir %d types %u %u", qp->n, qp->dev->name, dir,
	     sig.mem.sig_type, sig.wire.sig_type);
	say_pieces(&pieces);
	say(" meta");
	say_pieces(&metadata);
	ret = rdma_rw_ctx_signature_init(&ctx, qp->ptr, 1, pieces.sg, pieces.count,
					 metas ? metadata.sg : NULL, metas, &sig, 0x1000, 0x4321,
					 dir);
	if (answer_with(ret, "%d ops %u", ret, ctx.nr_ops) < 0)
		return;
	call("rdma_rw_ctx_wrs");
	say_wrs(qp, rdma_rw_ctx_wrs(&ctx, qp->ptr, 1, &cqe, NULL));
	call("rdma_rw_ctx_destroy_signature");
	rdma_rw_ctx_destroy_signature(&ctx, qp->ptr, 1, pieces.sg, pieces.count,
				      metas ? metadata.sg : NULL, metas, dir);
	answer(0);
}

static void factors(struct kdev *dev)
{
	u32 pages = one_of(1, 2, 16, 255, 256, 257, 1000, 65536), ctxs = rnd(200);

	call("rdma_rw_mr_factor %s pages %u", dev->name, pages);
	answer_with(0, "%u", rdma_rw_mr_factor(dev->device, 1, pages));
	call("rdma_rw_max_send_wr %s contexts %u", dev->name, ctxs);
	answer_with(0, "%u", rdma_rw_max_send_wr(dev->device, 1, ctxs, 0));
}

/* ---- pools of MRs ---- */

#define TAKEN	8

static void pool(struct object *qp)
{
	struct ib_mr *taken[TAKEN] = {};
	u32 nr = 1 + rnd(5), sg = mostly(1 + rnd(16), 0, 100000), n = 0, i;
	u32 type = mostly(IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS, 77);
	struct ib_qp *q = qp->ptr;
	LIST_HEAD(list);
	int ret;

	call("ib_mr_pool_init qp%u %s count %u type %u sg %u", qp->n, qp->dev->name, nr, type, sg);
	ret = answer(ib_mr_pool_init(q, &list, nr, type, sg, 0));
	while (!ret && n < TAKEN) {
		call("ib_mr_pool_get");
		taken[n] = ib_mr_pool_get(q, &list);
		answer_with(taken[n] ? 0 : -ENOENT, "used %d", q->mrs_used);
		if (!taken[n])
			break;
		n++;
	}
	for (i = 0; i < n; i++) {
		call("ib_mr_pool_put");
		ib_mr_pool_put(q, &list, taken[i]);
		answer_with(0, "used %d", q->mrs_used);
	}
	call("ib_mr_pool_destroy");
	ib_mr_pool_destroy(q, &list);
	answer_with(0, "empty %d", list_empty(&list));
}

void rw_contexts(u64 number)
{
	struct kdev *dev = some_device();
	struct object *pd = make_pd(dev, 0), *qp;
	unsigned int calls = 4 + rnd(6);

	qp = pd ? make_rw_qp(pd, 1 + rnd(16)) : NULL;
	if (!qp)
		return;
	while (calls--) {
		switch (rnd(8)) {
		case 0:
			factors(dev);
			break;
		case 1:
			pool(qp);
			break;
		case 2:
		case 3:
			signature_context(qp);
			break;
		default:
			one_context(qp);
		}
	}
}
