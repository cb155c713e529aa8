// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "region.h"

/* ---- regions ---- */

/* Pages that are freed with the test; every other is kept between them, so none is next. */
static u8 *region_page(struct kunit *test, int i)
{
	u8 *page = kunit_kmalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_TRUE(test, PAGE_ALIGNED(page));
	memset(page, i, PAGE_SIZE);
	return page;
}

void region_init(struct kunit *test, struct region *region, struct ib_pd *pd)
{
	static const u32 lens[] = { PAGE_SIZE - REGION_OFFSET, PAGE_SIZE, REGION_TAIL };
	int i;

	memset(region, 0, sizeof(*region));
	sg_init_table(region->sg, REGION_PAGES);
	for (i = 0; i < REGION_PAGES; i++) {
		region->page[i] = region_page(test, i);
		sg_set_buf(&region->sg[i], region->page[i] + (i ? 0 : REGION_OFFSET), lens[i]);
	}
	KUNIT_ASSERT_EQ(test, ib_dma_map_sg(pd->device, region->sg, REGION_PAGES,
					    DMA_BIDIRECTIONAL), REGION_PAGES);
	region->mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, REGION_PAGES);
	if (IS_ERR(region->mr))
		region->mr = NULL;
	KUNIT_ASSERT_NOT_NULL(test, region->mr);
}

void region_exit(struct region *region)
{
	if (region->mr)
		ib_dereg_mr(region->mr);
	region->mr = NULL;
}

int region_map(struct region *region)
{
	int n = ib_map_mr_sg(region->mr, region->sg, REGION_PAGES, NULL, PAGE_SIZE);

	region->addr = region->mr->iova;
	return n;
}

bool region_register(struct region *region, struct ib_qp *qp, int access)
{
	u32 key = ib_inc_rkey(region->mr->rkey);

	if (region_map(region) != REGION_PAGES ||
	    !vib_mr_register(to_vib_qp(qp), key, access))
		return false;
	ib_update_fast_reg_key(region->mr, key & 0xff);
	return true;
}

void region_init_registered(struct kunit *test, struct region *region, struct ib_qp *qp)
{
	region_init(test, region, qp->pd);
	KUNIT_ASSERT_TRUE(test, region_register(region, qp, REGION_ACCESS));
}

u8 *region_byte(const struct region *region, u64 offset)
{
	u64 at = REGION_OFFSET + offset;

	return region->page[at >> PAGE_SHIFT] + offset_in_page(at);
}

/* ---- walks ---- */

static void see(void *mem, u32 len, void *context)
{
	struct seen *seen = context;

	if (!seen->calls++)
		seen->first = mem;
	seen->last = mem + len - 1;
	seen->len += len;
	if (seen->fill >= 0)
		memset(mem, seen->fill, len);
}

static void see_nothing(struct seen *seen)
{
	*seen = (struct seen){ .fill = seen->fill };
}

bool walk_remote(struct seen *seen, struct ib_qp *qp, u32 rkey, u64 addr, u32 len, int access)
{
	see_nothing(seen);
	return vib_remote_walk(to_vib_qp(qp), rkey, addr, len, access, see, seen);
}

bool walk_local(struct seen *seen, struct ib_pd *pd, u32 lkey, u64 addr, u32 len, int access)
{
	struct ib_sge sge = { .addr = addr, .length = len, .lkey = lkey };

	see_nothing(seen);
	return vib_mem_walk(pd, &sge, len, access, see, seen);
}

static void add_one(void *mem, u32 len, void *context)
{
	see(mem, len, context);
	++*(u64 *)mem;
}

bool walk_atomic(struct seen *seen, struct ib_qp *qp, u32 rkey, u64 addr)
{
	see_nothing(seen);
	return vib_remote_atomic(to_vib_qp(qp), rkey, addr, add_one, seen);
}
