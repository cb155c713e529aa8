// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions and their keys: what they allow, to whom, and until when (IBA vol. 1, 10.6). */
#include "faults.h"
#include "region.h"

#define PEER_READ	IB_ACCESS_REMOTE_READ
#define PEER_WRITE	IB_ACCESS_REMOTE_WRITE

static struct hca_pair pair;
static struct ib_qp *qp;	/* in b's PD: a peer of it is who asks */
static struct region region;	/* registered, with REGION_ACCESS */
static struct seen seen;

static int mr_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	seen = (struct seen){ .fill = -1 };
	qp = hca_qp_rts(test, &pair.b);
	region_init_registered(test, &region, qp);
	return 0;
}

static void mr_test_exit(struct kunit *test)
{
	region_exit(&region);
	if (qp)
		ib_destroy_qp(qp);
	qp = NULL;
	hca_pair_exit(&pair);
}

static bool reach(u64 addr, u32 len)
{
	return walk_remote(&seen, qp, region.mr->rkey, addr, len, PEER_READ | PEER_WRITE);
}

static bool invalidate(u32 key, bool remote)
{
	return vib_key_invalidate(to_vib_qp(qp), key, remote);
}

/* ---- ranges ---- */

static void the_first_byte_and_the_last_are_reached(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, reach(region.addr, 1));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, 0));
	KUNIT_EXPECT_TRUE(test, reach(region.addr + REGION_LEN - 1, 1));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, REGION_LEN - 1));
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
}

static void what_is_beyond_is_not(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, reach(region.addr - 1, 1));
	KUNIT_EXPECT_FALSE(test, reach(region.addr - 1, REGION_LEN + 2));
	KUNIT_EXPECT_FALSE(test, reach(region.addr + REGION_LEN, 1));
	KUNIT_EXPECT_FALSE(test, reach(region.addr + REGION_LEN - 1, 2));
	KUNIT_EXPECT_FALSE(test, reach(region.addr, REGION_LEN + 1));
	KUNIT_EXPECT_FALSE(test, reach(region.addr, U32_MAX));
	KUNIT_EXPECT_FALSE(test, reach(0, 1));
	KUNIT_EXPECT_FALSE(test, reach(U64_MAX, 1));
	KUNIT_EXPECT_FALSE(test, reach(U64_MAX, U32_MAX));
	KUNIT_EXPECT_EQ(test, seen.calls, 0);
}

static void a_range_is_walked_page_by_page(struct kunit *test)
{
	int i;

	seen.fill = 0xa5;
	KUNIT_EXPECT_TRUE(test, reach(region.addr + 1, REGION_LEN - 2));
	KUNIT_EXPECT_EQ(test, seen.calls, REGION_PAGES);
	KUNIT_EXPECT_EQ(test, seen.len, REGION_LEN - 2);
	for (i = 1; i < REGION_LEN - 1; i++)
		KUNIT_ASSERT_EQ(test, *region_byte(&region, i), 0xa5);
	KUNIT_EXPECT_EQ(test, *region_byte(&region, 0), 0);
	KUNIT_EXPECT_EQ(test, *region_byte(&region, REGION_LEN - 1), REGION_PAGES - 1);
}

/* What is registered at the end of all addresses does not go on at their beginning. */
static void addresses_do_not_wrap(struct kunit *test)
{
	u32 key = ib_inc_rkey(region.mr->rkey);

	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	KUNIT_ASSERT_EQ(test, region_map(&region), REGION_PAGES);
	region.mr->iova = U64_MAX - REGION_LEN + 1;
	KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), key, REGION_ACCESS));
	region.mr->iova = U64_MAX - REGION_LEN;
	KUNIT_ASSERT_TRUE(test, vib_mr_register(to_vib_qp(qp), key, REGION_ACCESS));
	region.mr->rkey = key;
	KUNIT_EXPECT_TRUE(test, reach(U64_MAX - 1, 1));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, REGION_LEN - 1));
	KUNIT_EXPECT_FALSE(test, reach(U64_MAX, 1));
	KUNIT_EXPECT_FALSE(test, reach(U64_MAX - 1, 2));
	KUNIT_EXPECT_FALSE(test, reach(U64_MAX - 1, U32_MAX));
	KUNIT_EXPECT_FALSE(test, reach(0, 1));
}

/* 9.7.4.1.5: the key of a message without bytes is not looked at. */
static void nothing_is_allowed_to_all(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, 0xdeadbeef, 0, 0, PEER_WRITE));
	KUNIT_EXPECT_TRUE(test, walk_local(&seen, pair.b.pd, 0xdeadbeef, 0, 0,
					   IB_ACCESS_LOCAL_WRITE));
	KUNIT_EXPECT_EQ(test, seen.calls, 0);
}

static void a_range_may_be_checked_without_being_used(struct kunit *test)
{
	struct vib_qp *vqp = to_vib_qp(qp);
	u32 key = region.mr->rkey;

	KUNIT_EXPECT_TRUE(test, vib_remote_walk(vqp, key, region.addr, REGION_LEN, PEER_WRITE,
						NULL, NULL));
	KUNIT_EXPECT_FALSE(test, vib_remote_walk(vqp, key, region.addr, REGION_LEN + 1,
						 PEER_WRITE, NULL, NULL));
}

/* ---- access ---- */

struct access_row {
	int registered;
	int allowed;		/* of REGION_ACCESS without MW_BIND, bit by bit */
};

static void what_was_not_granted_is_not_allowed(struct kunit *test)
{
	static const struct access_row rows[] = {
		{ 0, 0 },
		{ IB_ACCESS_LOCAL_WRITE, IB_ACCESS_LOCAL_WRITE },
		{ IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_READ },
		{ IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
		  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE },
		{ IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC,
		  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC },
		{ IB_ACCESS_MW_BIND, 0 },
		{ REGION_ACCESS, REGION_ACCESS & ~IB_ACCESS_MW_BIND },
	};
	int i, bit;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
		KUNIT_ASSERT_TRUE(test, region_register(&region, qp, rows[i].registered));
		for (bit = 1; bit < IB_ACCESS_MW_BIND; bit <<= 1) {
			if (bit == IB_ACCESS_LOCAL_WRITE)
				ok = walk_local(&seen, qp->pd, region.mr->lkey, region.addr, 8,
						bit);
			else
				ok = walk_remote(&seen, qp, region.mr->rkey, region.addr, 8,
						 bit);
			KUNIT_EXPECT_EQ_MSG(test, ok, !!(rows[i].allowed & bit),
					    "row %d, access %#x", i, bit);
		}
		KUNIT_EXPECT_TRUE(test, walk_local(&seen, qp->pd, region.mr->lkey, region.addr,
						   8, 0));
	}
}

static void a_peer_may_not_write_what_the_consumer_may_not(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	KUNIT_EXPECT_FALSE(test, region_register(&region, qp, IB_ACCESS_REMOTE_WRITE));
	KUNIT_EXPECT_FALSE(test, region_register(&region, qp, IB_ACCESS_REMOTE_ATOMIC));
	KUNIT_EXPECT_FALSE(test, region_register(&region, qp, IB_ACCESS_ON_DEMAND));
	KUNIT_EXPECT_FALSE(test, region_register(&region, qp, IB_ACCESS_FLUSH_GLOBAL));
	KUNIT_EXPECT_TRUE(test, region_register(&region, qp, IB_ACCESS_RELAXED_ORDERING));
}

/* ---- whose key it is ---- */

static void a_key_is_good_in_its_protection_domain_alone(struct kunit *test)
{
	struct ib_pd *mine = pair.b.pd, *other = ib_alloc_pd(&pair.b.hca->ib, 0);
	struct ib_qp *other_qp;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	pair.b.pd = other;
	other_qp = hca_qp_rts(test, &pair.b);
	pair.b.pd = mine;
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, other_qp, region.mr->rkey, region.addr, 1,
					     PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, other_qp, region.mr->rkey, region.addr));
	KUNIT_EXPECT_FALSE(test, walk_local(&seen, other, region.mr->lkey, region.addr, 1, 0));
	KUNIT_EXPECT_FALSE(test, vib_key_invalidate(to_vib_qp(other_qp), region.mr->rkey,
						    false));
	KUNIT_EXPECT_FALSE(test, vib_key_invalidate(to_vib_qp(other_qp), region.mr->rkey, true));
	KUNIT_EXPECT_TRUE(test, reach(region.addr, 1));
	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	KUNIT_EXPECT_FALSE(test, region_register(&region, other_qp, REGION_ACCESS));
	KUNIT_EXPECT_TRUE(test, region_register(&region, qp, REGION_ACCESS));
	ib_destroy_qp(other_qp);
	ib_dealloc_pd(other);
}

static void the_eight_low_bits_have_to_agree(struct kunit *test)
{
	u32 key = region.mr->rkey;
	int i;

	for (i = 0; i < 256; i++) {
		KUNIT_EXPECT_EQ(test, walk_remote(&seen, qp, (key & ~0xff) | i, region.addr, 1,
						  PEER_READ), i == (key & 0xff));
		if (i != (key & 0xff))
			KUNIT_EXPECT_FALSE(test, invalidate((key & ~0xff) | i, false));
	}
	KUNIT_EXPECT_TRUE(test, reach(region.addr, 1));
}

static void an_index_without_a_region_allows_nothing(struct kunit *test)
{
	static const u32 keys[] = { 0, 1, VIB_LOCAL_DMA_LKEY, 0x100, 0xffffff00, U32_MAX };
	int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i] >> 8 == region.mr->rkey >> 8)
			continue;
		KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, keys[i], region.addr, 1,
						     PEER_READ));
		KUNIT_EXPECT_FALSE(test, invalidate(keys[i], false));
		KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), keys[i], 0));
	}
}

static void indices_are_not_used_again_soon(struct kunit *test)
{
	u32 last = region.mr->rkey >> 8;
	struct ib_mr *mr;
	int i;

	for (i = 0; i < 20; i++) {
		mr = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_MEM_REG, 1);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
		KUNIT_EXPECT_GT(test, mr->rkey >> 8, last);
		last = mr->rkey >> 8;
		ib_dereg_mr(mr);
	}
}

/* Who has a process's PD has not the kernel's memory with it. */
static void the_key_of_all_memory_is_not_for_processes(struct kunit *test)
{
	u64 addr = (uintptr_t)region.page[0];

	KUNIT_EXPECT_TRUE(test, walk_local(&seen, pair.b.pd, VIB_LOCAL_DMA_LKEY, addr, 8,
					   IB_ACCESS_LOCAL_WRITE));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region.page[0]);
	pair.b.pd->uobject = (void *)1;
	KUNIT_EXPECT_FALSE(test, walk_local(&seen, pair.b.pd, VIB_LOCAL_DMA_LKEY, addr, 8, 0));
	pair.b.pd->uobject = NULL;
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, VIB_LOCAL_DMA_LKEY, addr, 8, PEER_READ));
}

/* ---- registration by work requests ---- */

static void a_key_is_good_from_registration_to_invalidation(struct kunit *test)
{
	struct region other;
	u32 key;

	region_init(test, &other, qp->pd);
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, other.mr->rkey, other.addr, 1,
					     PEER_READ));
	KUNIT_EXPECT_FALSE(test, invalidate(other.mr->rkey, false));
	KUNIT_ASSERT_TRUE(test, region_register(&other, qp, REGION_ACCESS));
	key = other.mr->rkey;
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, key, other.addr, 1, PEER_READ));
	KUNIT_EXPECT_TRUE(test, invalidate(key, false));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, other.addr, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_local(&seen, qp->pd, key, other.addr, 1, 0));
	KUNIT_EXPECT_FALSE(test, invalidate(key, false));

	KUNIT_ASSERT_TRUE(test, region_register(&other, qp, REGION_ACCESS));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, other.addr, 1, PEER_READ));
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, other.mr->rkey, other.addr, 1,
					    PEER_READ));
	region_exit(&other);
}

static void what_is_valid_is_not_registered_over(struct kunit *test)
{
	u32 key = region.mr->rkey;

	KUNIT_EXPECT_FALSE(test, region_register(&region, qp, REGION_ACCESS));
	KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), key, REGION_ACCESS));
	KUNIT_EXPECT_EQ(test, region.mr->rkey, key);
	KUNIT_EXPECT_TRUE(test, reach(region.addr, REGION_LEN));
}

static void nothing_mapped_is_nothing_registered(struct kunit *test)
{
	struct ib_mr *mr = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_MEM_REG, 4);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), mr->rkey, REGION_ACCESS));
	/* The pages say how much there is, not the consumer. */
	mr->length = PAGE_SIZE;
	KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), mr->rkey, REGION_ACCESS));
	ib_dereg_mr(mr);
}

/* What is registered is used until it is invalidated, whatever is mapped for the next time. */
static void pages_are_mapped_while_others_are_registered(struct kunit *test)
{
	u64 before = region.addr;
	u8 *first = region.page[0];
	struct scatterlist sg;

	sg_init_one(&sg, region.page[1], PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, ib_dma_map_sg(&pair.b.hca->ib, &sg, 1, DMA_BIDIRECTIONAL), 1);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(region.mr, &sg, 1, NULL, PAGE_SIZE), 1);
	KUNIT_EXPECT_TRUE(test, reach(before, REGION_LEN));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, first + REGION_OFFSET);

	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	ib_update_fast_reg_key(region.mr, region.mr->rkey + 1);
	KUNIT_ASSERT_TRUE(test, vib_mr_register(to_vib_qp(qp), region.mr->rkey, REGION_ACCESS));
	KUNIT_EXPECT_TRUE(test, reach(region.mr->iova, PAGE_SIZE));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region.page[1]);
	KUNIT_EXPECT_FALSE(test, reach(region.mr->iova, PAGE_SIZE + 1));
}

static void a_region_may_begin_at_zero(struct kunit *test)
{
	u32 key = ib_inc_rkey(region.mr->rkey);

	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg_zbva(region.mr, region.sg, REGION_PAGES, NULL,
						PAGE_SIZE), REGION_PAGES);
	KUNIT_ASSERT_TRUE(test, vib_mr_register(to_vib_qp(qp), key, REGION_ACCESS));
	region.mr->rkey = key;
	KUNIT_EXPECT_TRUE(test, reach(0, REGION_LEN));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, 0));
	KUNIT_EXPECT_PTR_EQ(test, seen.last, region_byte(&region, REGION_LEN - 1));
	KUNIT_EXPECT_FALSE(test, reach(REGION_LEN, 1));
	KUNIT_EXPECT_FALSE(test, reach(U64_MAX, 2));
}

static void a_peer_invalidates_what_it_could_use(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, invalidate(region.mr->rkey, true));
	KUNIT_EXPECT_FALSE(test, reach(region.addr, 1));
	KUNIT_ASSERT_TRUE(test, region_register(&region, qp, IB_ACCESS_LOCAL_WRITE));
	KUNIT_EXPECT_FALSE(test, invalidate(region.mr->rkey, true));
	KUNIT_EXPECT_TRUE(test, invalidate(region.mr->rkey, false));
}

static void a_region_has_as_many_pages_as_were_asked_for(struct kunit *test)
{
	struct ib_mr *mr = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_MEM_REG, REGION_PAGES - 1);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(mr, region.sg, REGION_PAGES, NULL, PAGE_SIZE),
			REGION_PAGES - 1);
	ib_dereg_mr(mr);
	mr = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_MEM_REG, VIB_MAX_FAST_PAGES + 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EINVAL);
	mr = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_SG_GAPS, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EOPNOTSUPP);
	mr = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_MEM_REG, VIB_MAX_FAST_PAGES);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	ib_dereg_mr(mr);
}

static void pages_are_of_a_size_that_the_device_names(struct kunit *test)
{
	static const u32 bad[] = { 1, 512, 2048, 3 * PAGE_SIZE };
	u32 key = ib_inc_rkey(region.mr->rkey);
	struct scatterlist sg;
	int i;

	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_LT(test, ib_map_mr_sg(region.mr, region.sg, 1, NULL, bad[i]), 0);

	/* Two pages of memory are the half of one of the region's. */
	sg_init_one(&sg, region.page[0], 2 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, ib_dma_map_sg(&pair.b.hca->ib, &sg, 1, DMA_BIDIRECTIONAL), 1);
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(region.mr, &sg, 1, NULL, 4 * PAGE_SIZE), 1);
	KUNIT_ASSERT_TRUE(test, vib_mr_register(to_vib_qp(qp), key, REGION_ACCESS));
	region.mr->rkey = key;
	KUNIT_EXPECT_TRUE(test, reach(region.mr->iova, 2 * PAGE_SIZE));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region.page[0]);
	KUNIT_EXPECT_PTR_EQ(test, seen.last, region.page[0] + 2 * PAGE_SIZE - 1);
	KUNIT_EXPECT_FALSE(test, reach(region.mr->iova, 2 * PAGE_SIZE + 1));
}

/* ---- atomics ---- */

static void an_atomic_has_eight_aligned_bytes(struct kunit *test)
{
	u64 *value = (u64 *)region_byte(&region, 0), last = (REGION_LEN - 8) & ~7ULL;
	u32 key = region.mr->rkey;
	int i;

	*value = 41;
	KUNIT_EXPECT_TRUE(test, walk_atomic(&seen, qp, key, region.addr));
	KUNIT_EXPECT_EQ(test, *value, 42ULL);
	KUNIT_EXPECT_EQ(test, seen.calls, 1);
	KUNIT_EXPECT_EQ(test, seen.len, 8ULL);
	for (i = 1; i < 8; i++)
		KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, key, region.addr + i));
	KUNIT_EXPECT_TRUE(test, walk_atomic(&seen, qp, key, region.addr + last));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, key, region.addr + last + 8));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, key, region.addr - 8));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, key, U64_MAX - 7));
}

/* The address is aligned, but what is there is not. */
static void memory_that_is_not_aligned_has_no_atomics(struct kunit *test)
{
	u32 key = ib_inc_rkey(region.mr->rkey);
	unsigned int offset = 4;

	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg_zbva(region.mr, region.sg, REGION_PAGES, &offset,
						PAGE_SIZE), REGION_PAGES);
	KUNIT_ASSERT_TRUE(test, vib_mr_register(to_vib_qp(qp), key, REGION_ACCESS));
	region.mr->rkey = key;
	KUNIT_EXPECT_TRUE(test, reach(0, 8));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, key, 0));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, key, 4));
	KUNIT_EXPECT_EQ(test, seen.calls, 0);
}

static void an_atomic_needs_a_right_of_its_own(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, invalidate(region.mr->rkey, false));
	KUNIT_ASSERT_TRUE(test, region_register(&region, qp,
						REGION_ACCESS & ~IB_ACCESS_REMOTE_ATOMIC));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, region.mr->rkey, region.addr));
}

/* ---- all of the kernel's memory ---- */

static struct ib_mr *dma_mr(int access)
{
	return pair.b.hca->ib.ops.get_dma_mr(pair.b.pd, access);
}

static void a_region_of_all_memory_has_no_addresses_but_its_own(struct kunit *test)
{
	struct ib_mr *mr = dma_mr(REGION_ACCESS);
	u64 addr = (uintptr_t)region.page[2];

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, mr->rkey, addr, 100, PEER_READ |
					    PEER_WRITE));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region.page[2]);
	KUNIT_EXPECT_EQ(test, seen.len, 100ULL);
	/* A peer's mistake is an error of the peer's. */
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, mr->rkey, 16, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, mr->rkey, U64_MAX - 1, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, mr->rkey, U64_MAX, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, mr->rkey, U64_MAX - 1, 2, PEER_READ));
	KUNIT_EXPECT_EQ(test, seen.calls, 0);
	KUNIT_EXPECT_FALSE(test, invalidate(mr->rkey, false));
	KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), mr->rkey, 0));
	KUNIT_EXPECT_EQ(test, pair.b.hca->ib.ops.dereg_mr(mr, NULL), 0);
}

static void rights_that_do_not_go_together_are_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(dma_mr(IB_ACCESS_REMOTE_WRITE)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(dma_mr(IB_ACCESS_REMOTE_ATOMIC)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(dma_mr(IB_ACCESS_ON_DEMAND)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(dma_mr(BIT(31))), -EOPNOTSUPP);
}

/* ---- allocations that fail ---- */

static int allocate_fast(struct kunit *test)
{
	struct ib_mr *mr = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_MEM_REG, 16);

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	return ib_dereg_mr(mr);
}

static void creation_may_fail_at_each_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, allocate_fast), 3);
}

static struct kunit_case mr_cases[] = {
	KUNIT_CASE(the_first_byte_and_the_last_are_reached),
	KUNIT_CASE(what_is_beyond_is_not),
	KUNIT_CASE(a_range_is_walked_page_by_page),
	KUNIT_CASE(addresses_do_not_wrap),
	KUNIT_CASE(nothing_is_allowed_to_all),
	KUNIT_CASE(a_range_may_be_checked_without_being_used),
	KUNIT_CASE(what_was_not_granted_is_not_allowed),
	KUNIT_CASE(a_peer_may_not_write_what_the_consumer_may_not),
	KUNIT_CASE(a_key_is_good_in_its_protection_domain_alone),
	KUNIT_CASE(the_eight_low_bits_have_to_agree),
	KUNIT_CASE(an_index_without_a_region_allows_nothing),
	KUNIT_CASE(indices_are_not_used_again_soon),
	KUNIT_CASE(the_key_of_all_memory_is_not_for_processes),
	KUNIT_CASE(a_key_is_good_from_registration_to_invalidation),
	KUNIT_CASE(what_is_valid_is_not_registered_over),
	KUNIT_CASE(nothing_mapped_is_nothing_registered),
	KUNIT_CASE(pages_are_mapped_while_others_are_registered),
	KUNIT_CASE(a_region_may_begin_at_zero),
	KUNIT_CASE(a_peer_invalidates_what_it_could_use),
	KUNIT_CASE(a_region_has_as_many_pages_as_were_asked_for),
	KUNIT_CASE(pages_are_of_a_size_that_the_device_names),
	KUNIT_CASE(an_atomic_has_eight_aligned_bytes),
	KUNIT_CASE(memory_that_is_not_aligned_has_no_atomics),
	KUNIT_CASE(an_atomic_needs_a_right_of_its_own),
	KUNIT_CASE(a_region_of_all_memory_has_no_addresses_but_its_own),
	KUNIT_CASE(rights_that_do_not_go_together_are_refused),
	KUNIT_CASE(creation_may_fail_at_each_allocation),
	{}
};

static struct kunit_suite vib_mr_suite = {
	.name = "vib_mr",
	.init = mr_test_init,
	.exit = mr_test_exit,
	.test_cases = mr_cases,
};

kunit_test_suite(vib_mr_suite);
