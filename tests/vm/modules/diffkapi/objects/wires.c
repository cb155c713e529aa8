// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Two connected QPs: what is posted to them, and the completions, by CQs that the core polls. */
#include <linux/slab.h>
#include <rdma/rw.h>
#include "objects/qp.h"

#define SLOTS	16

struct slot {
	struct ib_cqe cqe;
	struct end *end;
	unsigned int n;
	bool recv;
};

/* One of the two. Its completions of sends and of receives are in an order each. */
struct end {
	struct object *qp;
	struct source sends, recvs;
	struct slot slots[2][SLOTS];
	unsigned int used[2];
	unsigned int owed[2];		/* completions: of sends, and of receives that are posted */
};

static struct end *ends[2];
static bool broken;

static void done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct slot *slot = container_of(wc->wr_cqe, struct slot, cqe);
	bool good = wc->status == IB_WC_SUCCESS, got = good && slot->recv;
	bool imm = got && wc->wc_flags & IB_WC_WITH_IMM;
	struct ib_qp *qp = slot->end->qp->ptr;

	event(slot->recv ? &slot->end->recvs : &slot->end->sends,
	      "of %s %u: status %s opcode %d bytes %u flags %x imm %x qp %d",
	      slot->recv ? "receive" : "send", slot->n, ib_wc_status_msg(wc->status),
	      good ? wc->opcode : -1, got ? wc->byte_len : 0, got ? wc->wc_flags : 0,
	      imm ? be32_to_cpu(wc->ex.imm_data) : 0,
	      wc->qp == qp);
}

static struct slot *slot_for(struct end *e, bool recv)
{
	struct slot *slot;

	if (e->used[recv] == SLOTS)
		return NULL;
	slot = &e->slots[recv][e->used[recv]];
	slot->cqe.done = done;
	slot->end = e;
	slot->recv = recv;
	slot->n = e->used[recv]++;
	return slot;
}

static void fill_sge(struct end *e, struct ib_sge *sge, u32 length)
{
	sge->addr = arena_dma(e->qp->dev) + rnd(8) * 4096;
	sge->length = length;
	sge->lkey = ((struct ib_pd *)e->qp->parents[0]->ptr)->local_dma_lkey;
}

static bool post_recv(unsigned int side)
{
	struct end *e = ends[side];
	struct slot *slot = slot_for(e, true);
	struct ib_recv_wr wr = {};
	struct ib_sge sge;

	if (!slot)
		return false;
	fill_sge(e, &sge, 4096);
	wr.wr_cqe = &slot->cqe;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	call("ib_post_recv end %u number %u", side, slot->n);
	if (answer(ib_post_recv(e->qp->ptr, &wr, NULL)))
		return false;
	e->owed[1]++;
	return true;
}

/* What the other side's receive gets, if the request uses one. */
static void completed(unsigned int side, bool receives)
{
	ends[side]->owed[0]--;
	broken |= !take_events(&ends[side]->sends, 1);
	if (receives) {
		ends[!side]->owed[1]--;
		broken |= !take_events(&ends[!side]->recvs, 1);
	}
}

static void post_send(unsigned int side)
{
	u32 opcode = one_of(IB_WR_SEND, IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
			    IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ);
	struct end *e = ends[side], *peer = ends[!side];
	struct ib_pd *far = peer->qp->parents[0]->ptr;
	struct ib_rdma_wr wr = {};
	struct ib_sge sge;
	struct slot *slot;
	bool receives;

	if (!far->unsafe_global_rkey)
		opcode = one_of(IB_WR_SEND, IB_WR_SEND_WITH_IMM);
	receives = opcode != IB_WR_RDMA_WRITE && opcode != IB_WR_RDMA_READ;
	if (receives && !peer->owed[1] && !post_recv(!side))
		return;
	slot = slot_for(e, false);
	if (!slot)
		return;
	fill_sge(e, &sge, one_of(1, 100, 1024, 4096));
	wr.wr.wr_cqe = &slot->cqe;
	wr.wr.sg_list = &sge;
	wr.wr.num_sge = 1;
	wr.wr.opcode = opcode;
	wr.wr.send_flags = IB_SEND_SIGNALED | (one_in(3) ? IB_SEND_SOLICITED : 0);
	wr.wr.ex.imm_data = cpu_to_be32(0x1234);
	wr.remote_addr = arena_dma(peer->qp->dev) + 0x20000;
	wr.rkey = far->unsafe_global_rkey;
	if (!receives && one_in(8)) {
		wr.rkey ^= 0xdeadbe00;
		broken = true;
	}
	call("ib_post_send end %u number %u opcode %u bytes %u flags %x%s", side, slot->n, opcode,
	     sge.length, wr.wr.send_flags, broken ? " wrong rkey" : "");
	if (answer(ib_post_send(e->qp->ptr, &wr.wr, NULL)))
		return;
	e->owed[0]++;
	completed(side, receives && !broken);
}

static void transfer(unsigned int side)
{
	enum dma_data_direction dir = one_of(DMA_TO_DEVICE, DMA_FROM_DEVICE);
	struct end *e = ends[side], *peer = ends[!side];
	struct ib_pd *far = peer->qp->parents[0]->ptr;
	static struct rdma_rw_ctx ctx;
	static struct pieces pieces;
	struct slot *slot;
	int ret;

	slot = far->unsafe_global_rkey ? slot_for(e, false) : NULL;
	if (!slot)
		return;
	make_pieces(&pieces, 1 + rnd(10), one_in(2));
	call("rdma_rw_ctx_init end %u dir %d", side, dir);
	say_pieces(&pieces);
	ret = rdma_rw_ctx_init(&ctx, e->qp->ptr, 1, pieces.sg, pieces.count, 0,
			       arena_dma(peer->qp->dev), far->unsafe_global_rkey, dir);
	if (answer_with(ret, "%d", ret) < 0)
		return;
	call("rdma_rw_ctx_post end %u number %u", side, slot->n);
	if (!answer(rdma_rw_ctx_post(&ctx, e->qp->ptr, 1, &slot->cqe, NULL))) {
		e->owed[0]++;
		completed(side, false);
	}
	rdma_rw_ctx_destroy(&ctx, e->qp->ptr, 1, pieces.sg, pieces.count, dir);
}

static struct object *end_of(struct kdev *dev)
{
	/* Those of vib are not made by each core. */
	struct object *pd = make_pd(dev, is_vib(dev) ? 0 : IB_PD_UNSAFE_GLOBAL_RKEY), *o = NULL;

	if (!pd)
		return NULL;
	/* A CQ that the core polls for each. */
	make_cq(dev);
	o = make_rw_qp(pd, 16);
	return o && !o->has_srq ? o : NULL;
}

/* The receives that are left, and what no longer was sent, in the order in which it was posted. */
static void drain_ends(void)
{
	unsigned int side;

	for (side = 0; side < 2; side++) {
		struct end *e = ends[side];

		call("ib_drain_qp end %u", side);
		ib_drain_qp(e->qp->ptr);
		answer(0);
		take_events(&e->sends, e->owed[0]);
		take_events(&e->recvs, e->owed[1]);
		query_qp_of(e->qp, IB_QP_STATE);
	}
}

void wires(u64 number)
{
	struct kdev *dev = some_device();
	unsigned int i, calls = 5 + rnd(12), side;

	broken = false;
	for (i = 0; i < 2; i++) {
		ends[i] = kzalloc(sizeof(*ends[i]), GFP_KERNEL);
		if (!ends[i])
			goto out;
		source_init(&ends[i]->sends);
		source_init(&ends[i]->recvs);
		ends[i]->qp = end_of(i ? peer_of(dev) : dev);
		if (!ends[i]->qp)
			goto out;
	}
	connect_pair(ends[0]->qp, ends[1]->qp);
	while (calls-- && !broken) {
		side = rnd(2);
		switch (rnd(4)) {
		case 0:
			post_recv(side);
			break;
		case 1:
			transfer(side);
			break;
		default:
			post_send(side);
		}
	}
	drain_ends();
out:
	/* No completion comes after the drains. */
	destroy_objects();
	for (i = 0; i < 2; i++) {
		kfree(ends[i]);
		ends[i] = NULL;
	}
}
