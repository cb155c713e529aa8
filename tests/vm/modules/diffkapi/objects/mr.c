// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions: fast registration with odd lists, memory of a process, and what no soft provider
 * has, which is refused.
 */
#include <linux/mman.h>
#include <linux/mm.h>
#include <rdma/ib_verbs.h>
#include "kapi.h"

#define MANY_PAGES	100000		/* of a region */

static struct pieces pieces, more_pieces;

static void alloc_mr(void)
{
	struct object *pd = some_object(PD, NULL), *with[PARENTS] = { pd }, *o;
	u32 type, max;
	struct ib_mr *mr;

	if (!pd || alive(MR) >= 8)
		return;
	type = mostly(IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS, IB_MR_TYPE_DM, IB_MR_TYPE_USER, 77);
	max = 1 + rnd(32);
	if (type == IB_MR_TYPE_MEM_REG && one_in(8))
		max = one_of(0, MANY_PAGES);
	call("ib_alloc_mr mr%u %s type %u max %u", next_number(MR), pd->dev->name, type, max);
	mr = ib_alloc_mr(pd->ptr, type, max);
	if (IS_ERR(mr)) {
		answer(PTR_ERR(mr));
		return;
	}
	answer_with(0, "type %u keys %d need_inval %d sig %d pd users %d", mr->type,
		    (mr->lkey & ~0xff) == (mr->rkey & ~0xff), mr->need_inval, !!mr->sig_attrs,
		    atomic_read(&mr->pd->usecnt));
	o = new_object(MR, pd->dev, mr, with);
	o->max_sg = max;
}

void destroy_mr(struct object *o)
{
	call("ib_dereg_mr_user mr%u", o->n);
	answer(ib_dereg_mr_user(o->ptr, NULL));
	object_gone(o);
}

static void free_mr(void)
{
	struct object *o = some_unused(MR);

	if (o && alive(MR) > 2)
		destroy_mr(o);
}

/* ---- mapping ---- */

static bool map_pieces(struct kdev *dev, struct pieces *p)
{
	p->mapped = ib_dma_map_sg(dev->device, p->sg, p->count, DMA_BIDIRECTIONAL);
	return p->mapped;
}

static void unmap_pieces(struct kdev *dev, struct pieces *p)
{
	ib_dma_unmap_sg(dev->device, p->sg, p->count, DMA_BIDIRECTIONAL);
}

static void mapped(const struct object *o, int ret, unsigned int offset)
{
	struct ib_mr *mr = o->ptr;

	answer_with(ret, "%d iova %llx length %llx page %x next %x", ret,
		    ret > 0 ? mr->iova - arena_dma(o->dev) : 0, ret > 0 ? mr->length : 0,
		    mr->page_size, offset);
}

static void map_mr(void)
{
	struct object *o = some_object(MR, NULL);
	unsigned int page, offset = 0, *start = NULL, count;
	int ret;

	if (!o || o->user)
		return;
	count = 1 + rnd(min(o->max_sg, 20u));
	if (one_in(8))
		count = min(o->max_sg, 30u) + 1 + rnd(8);
	make_pieces(&pieces, count, one_in(4));
	page = one_in(5) ? one_of(8192, 16384, 65536, 512, 1) : PAGE_SIZE;
	/* rdma_rxe writes to a list that it could not enlarge (Documentation/known.rst). */
	if (o->max_sg == MANY_PAGES)
		page = min_t(unsigned int, page, PAGE_SIZE);
	if (one_in(3)) {
		offset = mostly(rnd(pieces.sg[0].length), 0x10000000);
		start = &offset;
	}
	if (!map_pieces(o->dev, &pieces))
		return;
	call("ib_map_mr_sg mr%u %s max %u page %u offset %d", o->n, o->dev->name, o->max_sg, page,
	     start ? (int)offset : -1);
	say_pieces(&pieces);
	ret = ib_map_mr_sg(o->ptr, pieces.sg, pieces.mapped, start, page);
	mapped(o, ret, offset);
	unmap_pieces(o->dev, &pieces);
}

/* What drivers build it on: each page of the list, in order. */
struct walk {
	unsigned int pages, most;
	u64 at[100];
};

static struct walk walked;

static int take_page(struct ib_mr *mr, u64 addr)
{
	if (walked.pages == walked.most)
		return -ENOMEM;
	walked.at[walked.pages++] = addr - virt_to_phys(arena);
	return 0;
}

static void sg_to_pages(void)
{
	unsigned int page = one_in(5) ? one_of(8192, 16384, 65536) : PAGE_SIZE, offset = 0, i;
	struct ib_mr mr = { .page_size = page };
	unsigned int *start = NULL;
	u64 base = virt_to_phys(arena);
	int ret;

	make_pieces(&pieces, 1 + rnd(12), one_in(4));
	for (i = 0; i < pieces.count; i++) {
		sg_dma_address(&pieces.sg[i]) = sg_phys(&pieces.sg[i]);
		sg_dma_len(&pieces.sg[i]) = pieces.sg[i].length;
	}
	if (one_in(3)) {
		offset = mostly(rnd(pieces.sg[0].length), pieces.sg[0].length);
		start = &offset;
	}
	walked.pages = 0;
	walked.most = one_in(3) ? rnd(12) : ARRAY_SIZE(walked.at);
	call("ib_sg_to_pages page %u offset %d most %u", page, start ? (int)offset : -1,
	     walked.most);
	say_pieces(&pieces);
	say("%s", offset == pieces.sg[0].length ? ", the first is skipped" : "");
	ret = answer_more(ib_sg_to_pages(&mr, pieces.sg, pieces.count, start, take_page));
	say(" %d iova %llx length %llx next %x pages", ret, ret > 0 ? mr.iova - base : 0,
	    mr.length, offset);
	for (i = 0; i < walked.pages; i++)
		say(" %llx", walked.at[i]);
	answer_end();
}

/* ---- integrity ---- */

static void check_status(struct ib_mr *mr)
{
	struct ib_mr_status status = {};
	u32 mask = one_of(IB_MR_CHECK_SIG_STATUS, IB_MR_CHECK_SIG_STATUS, 0, 2);

	call("ib_check_mr_status mask %x", mask);
	answer_with(ib_check_mr_status(mr, mask, &status), "%x", status.fail_status);
}

/* Data and metadata; an MR of another type is a mistake that is warned of, if there are such. */
static void map_protected(struct kdev *dev, struct ib_mr *mr)
{
	unsigned int offset = one_in(3) ? 8 * rnd(64) : 0, *start = one_in(2) ? &offset : NULL;
	int ret;

	make_pieces(&pieces, 1 + rnd(10), one_in(2));
	make_pieces(&more_pieces, 1 + rnd(4), one_in(2));
	if (!map_pieces(dev, &pieces))
		return;
	if (!map_pieces(dev, &more_pieces)) {
		unmap_pieces(dev, &pieces);
		return;
	}
	call("ib_map_mr_sg_pi %s offset %d", dev->name, start ? (int)offset : -1);
	say_pieces(&pieces);
	say(" meta");
	say_pieces(&more_pieces);
	ret = ib_map_mr_sg_pi(mr, pieces.sg, pieces.mapped, start, more_pieces.sg,
			      more_pieces.mapped, NULL, PAGE_SIZE);
	answer_with(ret, "%d length %llx page %x", ret, mr->length, mr->page_size);
	unmap_pieces(dev, &more_pieces);
	unmap_pieces(dev, &pieces);
}

static void integrity_mr(void)
{
	struct object *pd = some_object(PD, NULL), *o;
	u32 data = mostly(1 + rnd(16), 0, 100000), meta = mostly(1 + rnd(8), 0, 100000);
	unsigned int calls = 1 + rnd(3);
	struct ib_mr *mr;

	if (!pd)
		return;
	call("ib_alloc_mr_integrity %s data %u meta %u", pd->dev->name, data, meta);
	mr = ib_alloc_mr_integrity(pd->ptr, data, meta);
	if (IS_ERR(mr)) {
		answer(PTR_ERR(mr));
		o = some_object(MR, NULL);
		if (!o || o->user)
			return;
		check_status(o->ptr);
		if (!is_vib(o->dev))
			map_protected(o->dev, o->ptr);
		return;
	}
	answer_with(0, "type %u keys %d need_inval %d sig %d pd users %d", mr->type,
		    (mr->lkey & ~0xff) == (mr->rkey & ~0xff), mr->need_inval, !!mr->sig_attrs,
		    atomic_read(&mr->pd->usecnt));
	while (calls--)
		map_protected(pd->dev, mr);
	check_status(mr);
	call("ib_dereg_mr_user with integrity");
	answer_with(ib_dereg_mr_user(mr, NULL), "pd users %d",
		    atomic_read(&((struct ib_pd *)pd->ptr)->usecnt));
}

/* ---- memory of the process ---- */

#define USER_BYTES	(8 * PAGE_SIZE)

/* Registered and gone again in one call, as the memory goes with it. */
static void reg_user_mr(void)
{
	struct object *pd = some_object(PD, NULL);
	unsigned long at = vm_mmap(NULL, 0, USER_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, 0);
	u64 offset = rnd(PAGE_SIZE), length = 1 + rnd(3 * PAGE_SIZE), start, va;
	u32 access = one_of(0, IB_ACCESS_LOCAL_WRITE, IB_ACCESS_REMOTE_READ,
			    IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	struct ib_mr *mr;

	if (!pd || IS_ERR_VALUE(at))
		return;
	start = at + offset;
	va = start;
	switch (rnd(10)) {
	case 0:
		/* behind the address space of a process */
		start = 0x7ffffffff000ull;
		break;
	case 1:
		length = one_of(0, -1);
		break;
	case 2:
		access = IB_ACCESS_REMOTE_WRITE;
		break;
	case 3:
		access = IB_ACCESS_ON_DEMAND;
		break;
	case 4:
		va = 0x100000 + offset;
		break;
	}
	call("ib_reg_user_mr %s offset %llx length %lld va %s access %x", pd->dev->name,
	     start & ~PAGE_MASK, length, va == at + offset ? "same" : "other", access);
	mr = ib_reg_user_mr(pd->ptr, start, length, va, access);
	if (IS_ERR(mr)) {
		answer(PTR_ERR(mr));
	} else {
		answer_with(0, "type %u length %llu iova %d pd %d", mr->type, mr->length,
			    mr->iova == va, mr->pd == pd->ptr);
		call("ib_dereg_mr_user of the process");
		answer(ib_dereg_mr_user(mr, NULL));
	}
	vm_munmap(at, USER_BYTES);
}

static void advise_mr(void)
{
	struct object *pd = some_object(PD, NULL);
	struct ib_sge sge = { .addr = 0x1000, .length = 4096, .lkey = 1 };

	if (!pd || !one_in(2))
		return;
	call("ib_advise_mr %s", pd->dev->name);
	answer(ib_advise_mr(pd->ptr, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
}

void mr_ops(void)
{
	static const struct op ops[] = {
		{ alloc_mr, 8 }, { free_mr, 3 }, { map_mr, 14 }, { sg_to_pages, 6 },
		{ integrity_mr, 2 }, { reg_user_mr, 5 }, { advise_mr, 1 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 1);
}
