// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory windows of type 2B: bound, used by one QP's peer, and gone (IBA vol. 1, 10.6.7.2). */
#include <linux/slab.h>
#include "faults.h"
#include "region.h"

#define PEER_READ	IB_ACCESS_REMOTE_READ
#define PEER_WRITE	IB_ACCESS_REMOTE_WRITE

/* The part of the region that the window has, across the border of two pages. */
#define PART		(PAGE_SIZE - REGION_OFFSET - 10)
#define PART_LEN	20

static struct hca_pair pair;
static struct ib_qp *qp;	/* on which the window is bound */
static struct region region;	/* registered, with REGION_ACCESS */
static struct ib_mw *mw;	/* not bound; mw->rkey is the last key that it was bound by */
static struct seen seen;

static struct ib_mw *mw_alloc(enum ib_mw_type type)
{
	struct ib_device *ibdev = &pair.b.hca->ib;
	struct ib_mw *new = rdma_zalloc_drv_obj(ibdev, ib_mw);
	int ret;

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->device = ibdev;
	new->pd = pair.b.pd;
	new->type = type;
	ret = ibdev->ops.alloc_mw(new, NULL);
	if (!ret)
		return new;
	kfree(new);
	return ERR_PTR(ret);
}

static void mw_free(struct ib_mw *old)
{
	old->device->ops.dealloc_mw(old);
	kfree(old);
}

static int window_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	seen = (struct seen){ .fill = -1 };
	qp = hca_qp_rts(test, &pair.b);
	region_init_registered(test, &region, qp);
	mw = mw_alloc(IB_MW_TYPE_2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mw));
	return 0;
}

static void window_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(mw))
		mw_free(mw);
	mw = NULL;
	region_exit(&region);
	if (qp)
		ib_destroy_qp(qp);
	qp = NULL;
	hca_pair_exit(&pair);
}

/* A request to bind the window to its part of the region, by its next key. */
static struct vib_bind bind_wr(int access)
{
	return (struct vib_bind){
		.mw_rkey = mw->rkey,
		.rkey = ib_inc_rkey(mw->rkey),
		.lkey = region.mr->lkey,
		.access = access,
		.addr = region.addr + PART,
		.length = PART_LEN,
	};
}

static bool bind_as(const struct vib_bind *bind)
{
	if (!vib_mw_bind(to_vib_qp(qp), bind))
		return false;
	mw->rkey = bind->rkey;
	return true;
}

static bool bind(int access)
{
	struct vib_bind wr = bind_wr(access);

	return bind_as(&wr);
}

static bool bind_range(u64 addr, u64 length)
{
	struct vib_bind wr = bind_wr(PEER_READ);

	wr.addr = addr;
	wr.length = length;
	return bind_as(&wr);
}

static bool invalidate(u32 key)
{
	return vib_key_invalidate(to_vib_qp(qp), key, false);
}

static bool reach(u64 addr, u32 len, int access)
{
	return walk_remote(&seen, qp, mw->rkey, addr, len, access);
}

/* ---- what it allows ---- */

static void a_window_shows_its_part_and_no_more(struct kunit *test)
{
	u64 first = region.addr + PART, last = first + PART_LEN - 1;

	KUNIT_EXPECT_FALSE(test, reach(first, 1, PEER_READ));
	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	KUNIT_EXPECT_TRUE(test, reach(first, PART_LEN, PEER_READ));
	KUNIT_EXPECT_EQ(test, seen.calls, 2);
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, PART));
	KUNIT_EXPECT_PTR_EQ(test, seen.last, region_byte(&region, PART + PART_LEN - 1));
	KUNIT_EXPECT_TRUE(test, reach(last, 1, PEER_READ));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, PART + PART_LEN - 1));

	KUNIT_EXPECT_FALSE(test, reach(first - 1, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, reach(last + 1, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, reach(last, 2, PEER_READ));
	KUNIT_EXPECT_FALSE(test, reach(first, PART_LEN + 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, reach(first, U32_MAX, PEER_READ));
	KUNIT_EXPECT_FALSE(test, reach(0, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, reach(U64_MAX, 2, PEER_READ));
	KUNIT_EXPECT_EQ(test, seen.calls, 0);
}

static void a_window_may_begin_at_zero(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, bind(PEER_READ | IB_ZERO_BASED));
	KUNIT_EXPECT_TRUE(test, reach(0, PART_LEN, PEER_READ));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, PART));
	KUNIT_EXPECT_FALSE(test, reach(PART_LEN, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, reach(region.addr + PART, 1, PEER_READ));
}

static void a_window_allows_what_it_was_bound_for(struct kunit *test)
{
	static const int rights[] = { PEER_READ, PEER_WRITE, IB_ACCESS_REMOTE_ATOMIC };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		KUNIT_ASSERT_TRUE(test, bind(rights[i]));
		for (j = 0; j < ARRAY_SIZE(rights); j++)
			KUNIT_EXPECT_EQ(test, reach(region.addr + PART, 1, rights[j]), i == j);
		KUNIT_ASSERT_TRUE(test, invalidate(mw->rkey));
	}
	KUNIT_ASSERT_TRUE(test, bind(0));
	for (j = 0; j < ARRAY_SIZE(rights); j++)
		KUNIT_EXPECT_FALSE(test, reach(region.addr + PART, 1, rights[j]));
}

static void a_window_has_no_local_key(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, bind(PEER_READ | PEER_WRITE));
	KUNIT_EXPECT_FALSE(test, walk_local(&seen, pair.b.pd, mw->rkey, region.addr + PART, 1,
					    0));
}

static void atomics_go_by_a_window(struct kunit *test)
{
	u64 at = round_up(PART, 8);
	u64 *value = (u64 *)region_byte(&region, at);

	*value = 1;
	KUNIT_ASSERT_TRUE(test, bind(IB_ACCESS_REMOTE_ATOMIC));
	KUNIT_EXPECT_TRUE(test, walk_atomic(&seen, qp, mw->rkey, region.addr + at));
	KUNIT_EXPECT_EQ(test, *value, 2ULL);
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, mw->rkey, region.addr + at - 8));
	KUNIT_ASSERT_TRUE(test, invalidate(mw->rkey));
	/* An address of the window's that is aligned, where memory is not. */
	KUNIT_ASSERT_TRUE(test, bind(IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED));
	KUNIT_EXPECT_FALSE(test, walk_atomic(&seen, qp, mw->rkey, 0));
}

/* ---- binding ---- */

static void a_window_is_bound_within_its_region(struct kunit *test)
{
	u64 end = region.addr + REGION_LEN;

	KUNIT_EXPECT_FALSE(test, bind_range(region.addr - 1, 1));
	KUNIT_EXPECT_FALSE(test, bind_range(end, 1));
	KUNIT_EXPECT_FALSE(test, bind_range(end - 1, 2));
	KUNIT_EXPECT_FALSE(test, bind_range(region.addr, REGION_LEN + 1));
	KUNIT_EXPECT_FALSE(test, bind_range(region.addr, U64_MAX));
	KUNIT_EXPECT_FALSE(test, bind_range(region.addr, U64_MAX - region.addr + 1));
	KUNIT_EXPECT_FALSE(test, bind_range(U64_MAX, 2));
	KUNIT_EXPECT_FALSE(test, bind_range(region.addr, 0));
	KUNIT_ASSERT_TRUE(test, bind_range(end - 1, 1));
	KUNIT_EXPECT_TRUE(test, reach(end - 1, 1, PEER_READ));
	KUNIT_EXPECT_PTR_EQ(test, seen.first, region_byte(&region, REGION_LEN - 1));
	KUNIT_ASSERT_TRUE(test, invalidate(mw->rkey));
	KUNIT_ASSERT_TRUE(test, bind_range(region.addr, REGION_LEN));
	KUNIT_EXPECT_TRUE(test, reach(region.addr, REGION_LEN, PEER_READ));
}

static bool region_again(int access)
{
	return vib_key_invalidate(to_vib_qp(qp), region.mr->rkey, false) &&
	       region_register(&region, qp, access);
}

static void a_region_says_whether_it_takes_windows(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, region_again(REGION_ACCESS & ~IB_ACCESS_MW_BIND));
	KUNIT_EXPECT_FALSE(test, bind(PEER_READ));
	KUNIT_EXPECT_FALSE(test, bind(0));
	/* A window does not let a peer write what the consumer may not. */
	KUNIT_ASSERT_TRUE(test, region_again(IB_ACCESS_MW_BIND));
	KUNIT_EXPECT_FALSE(test, bind(PEER_WRITE));
	KUNIT_EXPECT_FALSE(test, bind(IB_ACCESS_REMOTE_ATOMIC));
	KUNIT_EXPECT_TRUE(test, bind(PEER_READ));
}

static void only_rights_of_peers_are_for_windows(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, bind(PEER_READ | IB_ACCESS_LOCAL_WRITE));
	KUNIT_EXPECT_FALSE(test, bind(PEER_READ | IB_ACCESS_MW_BIND));
	KUNIT_EXPECT_FALSE(test, bind(PEER_READ | IB_ACCESS_ON_DEMAND));
	KUNIT_EXPECT_FALSE(test, bind(PEER_READ | BIT(31)));
	KUNIT_EXPECT_TRUE(test, bind(PEER_READ | IB_ACCESS_RELAXED_ORDERING));
}

static void a_window_is_bound_once_until_it_is_invalidated(struct kunit *test)
{
	u32 old;

	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	old = mw->rkey;
	KUNIT_EXPECT_FALSE(test, bind(PEER_WRITE));
	KUNIT_EXPECT_TRUE(test, reach(region.addr + PART, 1, PEER_READ));
	KUNIT_EXPECT_TRUE(test, invalidate(old));
	KUNIT_EXPECT_FALSE(test, invalidate(old));
	KUNIT_EXPECT_FALSE(test, reach(region.addr + PART, 1, PEER_READ));
	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, old, region.addr + PART, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, invalidate(old));
	KUNIT_EXPECT_TRUE(test, reach(region.addr + PART, 1, PEER_READ));
}

static void a_peer_may_invalidate_a_window(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	KUNIT_EXPECT_TRUE(test, vib_key_invalidate(to_vib_qp(qp), mw->rkey, true));
	KUNIT_EXPECT_FALSE(test, reach(region.addr + PART, 1, PEER_READ));
}

static void keys_that_do_not_belong_together_are_refused(struct kunit *test)
{
	struct ib_mw *other = mw_alloc(IB_MW_TYPE_2);
	struct vib_bind wr = bind_wr(PEER_READ);

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	wr.rkey = ib_inc_rkey(other->rkey);
	KUNIT_EXPECT_FALSE(test, bind_as(&wr));
	wr = bind_wr(PEER_READ);
	wr.lkey = region.mr->lkey ^ 1;
	KUNIT_EXPECT_FALSE(test, bind_as(&wr));
	wr.lkey = VIB_LOCAL_DMA_LKEY;
	KUNIT_EXPECT_FALSE(test, bind_as(&wr));
	wr.lkey = 0;
	KUNIT_EXPECT_FALSE(test, bind_as(&wr));
	/* A region is no window. */
	wr = bind_wr(PEER_READ);
	wr.mw_rkey = region.mr->rkey;
	wr.rkey = ib_inc_rkey(region.mr->rkey);
	KUNIT_EXPECT_FALSE(test, bind_as(&wr));
	/* Nor is a window a region. */
	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	wr = bind_wr(PEER_READ);
	wr.mw_rkey = other->rkey;
	wr.rkey = ib_inc_rkey(other->rkey);
	wr.lkey = mw->rkey;
	KUNIT_EXPECT_FALSE(test, vib_mw_bind(to_vib_qp(qp), &wr));
	wr.lkey = wr.mw_rkey;
	KUNIT_EXPECT_FALSE(test, vib_mw_bind(to_vib_qp(qp), &wr));
	KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), other->rkey, PEER_READ));
	mw_free(other);
}

static void all_memory_is_not_for_windows(struct kunit *test)
{
	const struct ib_device_ops *ops = &pair.b.hca->ib.ops;
	struct ib_mr *all = ops->get_dma_mr(pair.b.pd, REGION_ACCESS);
	struct vib_bind wr = bind_wr(PEER_READ);

	KUNIT_ASSERT_FALSE(test, IS_ERR(all));
	wr.lkey = all->lkey;
	KUNIT_EXPECT_FALSE(test, bind_as(&wr));
	KUNIT_EXPECT_EQ(test, ops->dereg_mr(all, NULL), 0);
}

/* ---- whose it is ---- */

static void a_window_is_for_the_qp_that_bound_it(struct kunit *test)
{
	struct ib_qp *other = hca_qp_rts(test, &pair.b);

	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, other, mw->rkey, region.addr + PART, 1,
					     PEER_READ));
	KUNIT_EXPECT_FALSE(test, vib_key_invalidate(to_vib_qp(other), mw->rkey, false));
	KUNIT_EXPECT_FALSE(test, vib_key_invalidate(to_vib_qp(other), mw->rkey, true));
	KUNIT_EXPECT_TRUE(test, reach(region.addr + PART, 1, PEER_READ));
	ib_destroy_qp(other);
}

/* The QP, the window and the region have one. */
static void a_protection_domain_keeps_to_itself(struct kunit *test)
{
	struct ib_pd *mine = pair.b.pd, *other = ib_alloc_pd(&pair.b.hca->ib, 0);
	struct vib_bind wr = bind_wr(PEER_READ);
	struct ib_mw *foreign;
	struct ib_qp *other_qp;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	pair.b.pd = other;
	other_qp = hca_qp_rts(test, &pair.b);
	foreign = mw_alloc(IB_MW_TYPE_2);
	pair.b.pd = mine;
	KUNIT_ASSERT_FALSE(test, IS_ERR(foreign));

	KUNIT_EXPECT_FALSE(test, vib_mw_bind(to_vib_qp(other_qp), &wr));
	wr.mw_rkey = foreign->rkey;
	wr.rkey = ib_inc_rkey(foreign->rkey);
	KUNIT_EXPECT_FALSE(test, vib_mw_bind(to_vib_qp(other_qp), &wr));
	KUNIT_EXPECT_FALSE(test, vib_mw_bind(to_vib_qp(qp), &wr));
	mw_free(foreign);
	ib_destroy_qp(other_qp);
	ib_dealloc_pd(other);
}

/* ---- a region with windows ---- */

static void a_region_stays_while_windows_are_bound_to_it(struct kunit *test)
{
	struct vib_qp *vqp = to_vib_qp(qp);

	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	KUNIT_EXPECT_FALSE(test, vib_key_invalidate(vqp, region.mr->rkey, false));
	KUNIT_EXPECT_FALSE(test, vib_key_invalidate(vqp, region.mr->rkey, true));
	KUNIT_EXPECT_EQ(test, pair.b.hca->ib.ops.dereg_mr(region.mr, NULL), -EBUSY);
	KUNIT_EXPECT_TRUE(test, reach(region.addr + PART, 1, PEER_READ));
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, region.mr->rkey, region.addr, 1,
					    PEER_READ));
	KUNIT_EXPECT_TRUE(test, invalidate(mw->rkey));
	KUNIT_EXPECT_TRUE(test, vib_key_invalidate(vqp, region.mr->rkey, false));
	KUNIT_EXPECT_FALSE(test, bind(PEER_READ));
}

static void each_window_of_a_region_counts(struct kunit *test)
{
	struct ib_mw *first = mw, *second = mw_alloc(IB_MW_TYPE_2);

	KUNIT_ASSERT_FALSE(test, IS_ERR(second));
	KUNIT_EXPECT_TRUE(test, bind(PEER_READ));
	mw = second;
	KUNIT_EXPECT_TRUE(test, bind(PEER_WRITE));
	KUNIT_EXPECT_TRUE(test, invalidate(second->rkey));
	mw = first;
	KUNIT_EXPECT_EQ(test, pair.b.hca->ib.ops.dereg_mr(region.mr, NULL), -EBUSY);
	mw_free(second);
	KUNIT_EXPECT_EQ(test, pair.b.hca->ib.ops.dereg_mr(region.mr, NULL), -EBUSY);
	KUNIT_EXPECT_TRUE(test, invalidate(first->rkey));
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(region.mr), 0);
	region.mr = NULL;
	KUNIT_EXPECT_FALSE(test, reach(region.addr + PART, 1, PEER_READ));
}

static void a_window_that_is_freed_is_not_bound_any_more(struct kunit *test)
{
	u32 key;

	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	key = mw->rkey;
	mw_free(mw);
	mw = NULL;
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, region.addr + PART, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, invalidate(key));
	KUNIT_EXPECT_TRUE(test, invalidate(region.mr->rkey));
}

/* Who bound it may end before it does. */
static void a_window_outlives_its_qp(struct kunit *test)
{
	ib_destroy_qp(qp);
	qp = hca_qp_rts(test, &pair.b);
	KUNIT_ASSERT_TRUE(test, bind(PEER_READ));
	ib_destroy_qp(qp);
	qp = hca_qp_rts(test, &pair.b);
	KUNIT_EXPECT_FALSE(test, reach(region.addr + PART, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, invalidate(mw->rkey));
	KUNIT_EXPECT_FALSE(test, invalidate(region.mr->rkey));
	mw_free(mw);
	mw = NULL;
	KUNIT_EXPECT_TRUE(test, invalidate(region.mr->rkey));
}

/* ---- creation ---- */

static void windows_of_type_1_are_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mw_alloc(IB_MW_TYPE_1)), -EOPNOTSUPP);
}

static int alloc_and_free(struct kunit *test)
{
	struct ib_mw *new = mw_alloc(IB_MW_TYPE_2);

	if (IS_ERR(new))
		return PTR_ERR(new);
	mw_free(new);
	return 0;
}

static void creation_may_fail_at_each_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, alloc_and_free), 2);
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(a_window_shows_its_part_and_no_more),
	KUNIT_CASE(a_window_may_begin_at_zero),
	KUNIT_CASE(a_window_allows_what_it_was_bound_for),
	KUNIT_CASE(a_window_has_no_local_key),
	KUNIT_CASE(atomics_go_by_a_window),
	KUNIT_CASE(a_window_is_bound_within_its_region),
	KUNIT_CASE(a_region_says_whether_it_takes_windows),
	KUNIT_CASE(only_rights_of_peers_are_for_windows),
	KUNIT_CASE(a_window_is_bound_once_until_it_is_invalidated),
	KUNIT_CASE(a_peer_may_invalidate_a_window),
	KUNIT_CASE(keys_that_do_not_belong_together_are_refused),
	KUNIT_CASE(all_memory_is_not_for_windows),
	KUNIT_CASE(a_window_is_for_the_qp_that_bound_it),
	KUNIT_CASE(a_protection_domain_keeps_to_itself),
	KUNIT_CASE(a_region_stays_while_windows_are_bound_to_it),
	KUNIT_CASE(each_window_of_a_region_counts),
	KUNIT_CASE(a_window_that_is_freed_is_not_bound_any_more),
	KUNIT_CASE(a_window_outlives_its_qp),
	KUNIT_CASE(windows_of_type_1_are_refused),
	KUNIT_CASE(creation_may_fail_at_each_allocation),
	{}
};

static struct kunit_suite vib_window_suite = {
	.name = "vib_window",
	.init = window_test_init,
	.exit = window_test_exit,
	.test_cases = window_cases,
};

kunit_test_suite(vib_window_suite);
