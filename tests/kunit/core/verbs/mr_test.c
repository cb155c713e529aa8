// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory regions: their uses, and lists split into pages and blocks. */
#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>
#include <rdma/mr_pool.h>
#include "core/objects.h"

static struct fake_hca *hca;
static struct objects o;

static int mr_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	hca = objects_hca(&params);
	return hca ? objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0) : -ENOMEM;
}

static void mr_test_exit(struct kunit *test)
{
	objects_put(&o);
	if (hca)
		fake_hca_destroy(hca);
}

static void a_region_uses_its_domain(struct kunit *test)
{
	int before = atomic_read(&o.pd->usecnt);
	struct ib_mr *mr = ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 16);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), before + 1);
	/* A destroy that is refused changes nothing. */
	atomic_set(&hca->fail_destroy[FAKE_MR], 1);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), before + 1);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), before);

	atomic_set(&hca->fail_create[FAKE_MR], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 16)),
			-ENOMEM);
	hca->ibdev.ops.alloc_mr = NULL;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 16)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), before);
}

static void a_region_without_a_mapper_maps_nothing(struct kunit *test)
{
	struct ib_mr *mr = ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 16);
	struct scatterlist sg[1];

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	sg_init_table(sg, 1);
	hca->ibdev.ops.map_mr_sg = NULL;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(mr, sg, 1, NULL, PAGE_SIZE), -EOPNOTSUPP);
	/* A device without integrity has no regions for it, so this is no mistake to warn of. */
	hca->ibdev.ops.map_mr_sg_pi = NULL;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, sg, 1, NULL, sg, 1, NULL, PAGE_SIZE),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
}

static void a_pool_that_fills_in_part_is_emptied(struct kunit *test)
{
	int i, alive = fake_hca_objects(hca);

	for (i = 1; i <= 3; i++) {
		atomic_set(&hca->fail_create[FAKE_MR], i);
		KUNIT_EXPECT_EQ(test, ib_mr_pool_init(o.qp, &o.qp->rdma_mrs, 3,
						      IB_MR_TYPE_MEM_REG, 16, 0), -ENOMEM);
		KUNIT_EXPECT_TRUE(test, list_empty(&o.qp->rdma_mrs));
		KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), alive);
	}
}

static struct ib_mr *reg_user(struct ib_pd *pd, u64 start, u64 length, u64 virt,
			      int access, struct ib_udata *udata)
{
	return pd->device->ops.alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
}

static void user_memory_is_registered_for_a_ulp(struct kunit *test)
{
	int before = atomic_read(&o.pd->usecnt);
	struct ib_mr *mr;

	mr = ib_reg_user_mr(o.pd, 0x1000, 100, 0x7000, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EOPNOTSUPP);
	hca->ibdev.ops.reg_user_mr = reg_user;
	/* Remote writing requires pages that may be written locally. */
	mr = ib_reg_user_mr(o.pd, 0x1000, 100, 0x7000, IB_ACCESS_REMOTE_WRITE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EINVAL);
	mr = ib_reg_user_mr(o.pd, 0x1000, 100, 0x7000, IB_ACCESS_ON_DEMAND);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EOPNOTSUPP);
	atomic_set(&hca->fail_create[FAKE_MR], 1);
	mr = ib_reg_user_mr(o.pd, 0x1000, 100, 0x7000, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), before);

	mr = ib_reg_user_mr(o.pd, 0x1000, 100, 0x7000, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, mr->iova, 0x7000);
	KUNIT_EXPECT_EQ(test, mr->length, 100);
	KUNIT_EXPECT_EQ(test, mr->type, IB_MR_TYPE_USER);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), before + 1);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
}

static int advised;

static int advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		  struct ib_sge *list, u32 n, struct uverbs_attr_bundle *attrs)
{
	advised += n;
	return 0;
}

static void advice_goes_to_the_provider(struct kunit *test)
{
	struct ib_sge sge[2] = {};

	KUNIT_EXPECT_EQ(test, ib_advise_mr(o.pd, 0, 0, sge, 2), -EOPNOTSUPP);
	hca->ibdev.ops.advise_mr = advise;
	advised = 0;
	KUNIT_EXPECT_EQ(test, ib_advise_mr(o.pd, 0, 0, sge, 0), 0);
	KUNIT_EXPECT_EQ(test, advised, 0);
	KUNIT_EXPECT_EQ(test, ib_advise_mr(o.pd, 0, 0, sge, 2), 0);
	KUNIT_EXPECT_EQ(test, advised, 2);
}

#define ROOM_MAX	8

struct page_mr {
	struct ib_mr mr;
	int n, room;
	u64 page[ROOM_MAX];
};

static int page_set(struct ib_mr *mr, u64 addr)
{
	struct page_mr *p = container_of(mr, struct page_mr, mr);

	if (p->n == p->room)
		return -ENOSPC;
	p->page[p->n++] = addr;
	return 0;
}

/* DMA addresses and lengths of a list, and the result with pages of 4 KiB. */
struct cut {
	const char *what;
	struct { u64 addr; u32 len; } sg[4];
	int nents;
	unsigned int offset;
	int room;
	int ret;
	u64 length;
	unsigned int rest;	/* the offset afterwards */
	int npages;
	u64 page[ROOM_MAX];
};

static const struct cut cuts[] = {
	{ "one page", {{ 0x10000, 0x1000 }}, 1, 0, 8, 1, 0x1000, 0, 1, { 0x10000 } },
	{ "less than a page in the middle", {{ 0x10100, 0x80 }}, 1, 0, 8, 1, 0x80, 0, 1,
	  { 0x10000 } },
	{ "two pages touched by a byte each", {{ 0x10fff, 2 }}, 1, 0, 8, 1, 2, 0, 2,
	  { 0x10000, 0x11000 } },
	{ "an offset into the first", {{ 0x10000, 0x3000 }}, 1, 0x1800, 8, 1, 0x1800, 0, 2,
	  { 0x11000, 0x12000 } },
	{ "page to page", {{ 0x10800, 0x800 }, { 0x20000, 0x1000 }, { 0x30000, 0x10 }}, 3,
	  0, 8, 3, 0x1810, 0, 3, { 0x10000, 0x20000, 0x30000 } },
	{ "contiguous inside a page", {{ 0x10000, 0x400 }, { 0x10400, 0x400 },
	  { 0x10800, 0x1000 }}, 3, 0, 8, 3, 0x1800, 0, 2, { 0x10000, 0x11000 } },
	{ "an end in a page", {{ 0x10000, 0x800 }, { 0x20000, 0x1000 }}, 2, 0, 8, 1, 0x800,
	  0, 1, { 0x10000 } },
	{ "a start in a page", {{ 0x10000, 0x1000 }, { 0x20800, 0x800 }}, 2, 0, 8, 1,
	  0x1000, 0, 1, { 0x10000 } },
	{ "no room for the second", {{ 0x10000, 0x2000 }, { 0x20000, 0x1000 }}, 2, 0, 2, 1,
	  0x2000, 0, 2, { 0x10000, 0x11000 } },
	{ "no room inside the first", {{ 0x10000, 0x3000 }}, 1, 0, 2, 0, 0x1000, 0x1000, 2,
	  { 0x10000, 0x11000 } },
	{ "no room inside the second", {{ 0x10000, 0x1000 }, { 0x20000, 0x3000 }}, 2, 0, 2,
	  1, 0x1000, 0, 2, { 0x10000, 0x20000 } },
	{ "no room after the shared page", {{ 0x10000, 0x400 }, { 0x10400, 0x1000 }}, 2, 0,
	  1, 1, 0x400, 0, 1, { 0x10000 } },
	{ "room for one after the shared page", {{ 0x10000, 0x400 }, { 0x10400, 0x2000 }}, 2, 0,
	  2, 1, 0x1000, 0xc00, 2, { 0x10000, 0x11000 } },
	{ "room for one", {{ 0x10000, 0x3000 }}, 1, 0, 1, -ENOSPC, 0, 0, 1, { 0x10000 } },
	{ "no room at all", {{ 0x10000, 0x1000 }}, 1, 0, 0, -ENOSPC, 0, 0, 0, {} },
	{ "no room at the offset", {{ 0x10000, 0x2000 }}, 1, 0x1000, 0, -ENOSPC, 0, 0x1000, 0,
	  {} },
	{ "room for one at the offset", {{ 0x10000, 0x2000 }}, 1, 0xa00, 1, -ENOSPC, 0, 0xa00, 1,
	  { 0x10000 } },
	{ "room for one inside a page", {{ 0x10a00, 0x2000 }}, 1, 0, 1, -ENOSPC, 0, 0, 1,
	  { 0x10000 } },
	{ "an offset beyond", {{ 0x10000, 0x1000 }}, 1, 0x1001, 8, -EINVAL, 0, 0x1001, 0,
	  {} },
	{ "an empty list", {{ 0x10000, 0x1000 }}, 0, 0, 8, -EINVAL, 0, 0, 0, {} },
};

static void list_set(struct scatterlist *sg, const struct cut *c)
{
	int i;

	sg_init_table(sg, ARRAY_SIZE(c->sg));
	for (i = 0; i < ARRAY_SIZE(c->sg); i++) {
		sg_dma_address(&sg[i]) = c->sg[i].addr;
		sg_dma_len(&sg[i]) = c->sg[i].len;
	}
}

static void lists_are_cut_into_pages(struct kunit *test)
{
	struct scatterlist sg[4];
	const struct cut *c;
	struct page_mr p;
	unsigned int offset;
	int i;

	for (c = cuts; c < cuts + ARRAY_SIZE(cuts); c++) {
		memset(&p, 0, sizeof(p));
		p.mr.page_size = 0x1000;
		p.room = c->room;
		list_set(sg, c);
		offset = c->offset;
		KUNIT_EXPECT_EQ_MSG(test, ib_sg_to_pages(&p.mr, sg, c->nents, &offset,
							 page_set), c->ret, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, p.mr.length, c->length, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, offset, c->rest, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, p.n, c->npages, "%s", c->what);
		for (i = 0; i < c->npages; i++)
			KUNIT_EXPECT_EQ_MSG(test, p.page[i], c->page[i], "%s", c->what);
		if (c->ret >= 0)
			KUNIT_EXPECT_EQ_MSG(test, p.mr.iova, c->sg[0].addr + c->offset,
					    "%s", c->what);
	}
}

struct walk {
	const char *what;
	struct { u64 addr; u32 len; } sg[4];
	int nents;
	u64 size;
	int n;
	u64 block[8];
};

static const struct walk walks[] = {
	{ "nothing", {{ 0 }}, 0, 0x1000, 0, {} },
	{ "two blocks", {{ 0x10000, 0x2000 }}, 1, 0x1000, 2, { 0x10000, 0x11000 } },
	{ "an unaligned start", {{ 0x10800, 0x1000 }}, 1, 0x1000, 2, { 0x10000, 0x11000 } },
	{ "a block of several entries", {{ 0x10000, 0x800 }, { 0x10800, 0x800 },
	  { 0x11000, 0x1000 }}, 3, 0x2000, 1, { 0x10000 } },
	{ "entries far apart", {{ 0x10000, 0x1000 }, { 0x30000, 0x2000 }}, 2, 0x1000, 3,
	  { 0x10000, 0x30000, 0x31000 } },
	{ "large blocks", {{ 0x200000, 0x400000 }}, 1, 0x200000, 2, { 0x200000, 0x400000 } },
	{ "blocks of 4 GiB", {{ 0x100000000, 0x80000000 }, { 0x180000000, 0x80000000 },
	  { 0x200000000, 0x80000000 }, { 0x280000000, 0x1000 }}, 4, 0x100000000, 2,
	  { 0x100000000, 0x200000000 } },
	{ "8 GiB from the middle of a block", {{ 0x1ffff0000, 0xffffe000 },
	  { 0x2fffee000, 0xffffe000 }, { 0x3fffec000, 0x20000 }}, 3, 0x200000000, 3,
	  { 0x0, 0x200000000, 0x400000000 } },
	{ "blocks of 16 GiB", {{ 0x400000000, 0xfffff000 }, { 0x4fffff000, 0xfffff000 },
	  { 0x5ffffe000, 0xfffff000 }}, 3, 0x400000000, 1, { 0x400000000 } },
};

static void lists_are_walked_in_blocks(struct kunit *test)
{
	struct ib_block_iter iter;
	struct scatterlist sg[4];
	const struct walk *w;
	int i;

	for (w = walks; w < walks + ARRAY_SIZE(walks); w++) {
		sg_init_table(sg, ARRAY_SIZE(sg));
		for (i = 0; i < ARRAY_SIZE(sg); i++) {
			sg_dma_address(&sg[i]) = w->sg[i].addr;
			sg_dma_len(&sg[i]) = w->sg[i].len;
		}
		i = 0;
		rdma_for_each_block(sg, &iter, w->nents, w->size) {
			if (i < w->n)
				KUNIT_EXPECT_EQ_MSG(test, rdma_block_iter_dma_address(&iter),
						    w->block[i], "%s", w->what);
			if (++i > 8)
				break;
		}
		KUNIT_EXPECT_EQ_MSG(test, i, w->n, "%s", w->what);
	}
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(a_region_uses_its_domain),
	KUNIT_CASE(a_region_without_a_mapper_maps_nothing),
	KUNIT_CASE(a_pool_that_fills_in_part_is_emptied),
	KUNIT_CASE(user_memory_is_registered_for_a_ulp),
	KUNIT_CASE(advice_goes_to_the_provider),
	KUNIT_CASE(lists_are_cut_into_pages),
	KUNIT_CASE(lists_are_walked_in_blocks),
	{}
};

static struct kunit_suite ibcore_mr_suite = {
	.name = "ib_core_mr",
	.init = mr_test_init,
	.exit = mr_test_exit,
	.test_cases = mr_cases,
};

kunit_test_suite(ibcore_mr_suite);
