// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions of a process's memory: registered, registered again (IBA vol. 1, 10.6, 11.2.8). */
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include "faults.h"
#include "region.h"

#define PEER_READ	IB_ACCESS_REMOTE_READ
#define PEER_WRITE	IB_ACCESS_REMOTE_WRITE

#define USER_PAGES	4
#define USER_OFFSET	100
#define USER_LEN	(2 * PAGE_SIZE)
#define USER_IOVA	(0x7000000000ULL + USER_OFFSET)

static struct hca_pair pair;
static struct ib_qp *qp;	/* in b's PD: a peer of it is who asks */
static struct seen seen;

static int user_mr_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	seen = (struct seen){ .fill = -1 };
	qp = hca_qp_rts(test, &pair.b);
	return 0;
}

static void user_mr_test_exit(struct kunit *test)
{
	if (qp)
		ib_destroy_qp(qp);
	qp = NULL;
	hca_pair_exit(&pair);
}

static bool invalidate(u32 key, bool remote)
{
	return vib_key_invalidate(to_vib_qp(qp), key, remote);
}

static unsigned long user_pages(struct kunit *test)
{
	bool had_mm = current->mm;
	unsigned long addr;

	addr = kunit_vm_mmap(test, NULL, 0, USER_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	/* KUnit takes a reference on the mm that it creates, and never drops it. */
	if (!had_mm && current->mm)
		mmdrop(current->mm);
	KUNIT_ASSERT_NE(test, addr, 0ul);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	return addr;
}

static u8 user_read(struct kunit *test, unsigned long addr)
{
	u8 value = 0;

	KUNIT_ASSERT_EQ(test, copy_from_user(&value, (void __user *)addr, 1), 0ul);
	return value;
}

static struct ib_mr *user_mr(struct kunit *test, unsigned long addr, int access)
{
	struct ib_mr *mr = ib_reg_user_mr(pair.b.pd, addr + USER_OFFSET, USER_LEN, USER_IOVA,
					  access);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	return mr;
}

static struct ib_mr *rereg(struct ib_mr *mr, int flags, u64 start, u64 len, u64 iova,
			   int access, struct ib_pd *pd)
{
	return pair.b.hca->ib.ops.rereg_user_mr(mr, flags, start, len, iova, access, pd, NULL);
}

static void a_process_has_what_it_registered_written(struct kunit *test)
{
	unsigned long addr = user_pages(test);
	struct ib_mr *mr = user_mr(test, addr, REGION_ACCESS);
	u32 key = mr->rkey;

	seen.fill = 0x5a;
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, key, USER_IOVA, USER_LEN, PEER_WRITE));
	KUNIT_EXPECT_EQ(test, seen.calls, 3);
	KUNIT_EXPECT_EQ(test, user_read(test, addr + USER_OFFSET - 1), 0);
	KUNIT_EXPECT_EQ(test, user_read(test, addr + USER_OFFSET), 0x5a);
	KUNIT_EXPECT_EQ(test, user_read(test, addr + USER_OFFSET + USER_LEN - 1), 0x5a);
	KUNIT_EXPECT_EQ(test, user_read(test, addr + USER_OFFSET + USER_LEN), 0);

	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA - 1, 1, PEER_WRITE));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA + USER_LEN, 1,
					     PEER_WRITE));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA, USER_LEN + 1,
					     PEER_WRITE));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, addr + USER_OFFSET, 1, PEER_WRITE));
	/* Neither a work request nor a peer takes from a process what a verb gave it. */
	KUNIT_EXPECT_FALSE(test, invalidate(key, false));
	KUNIT_EXPECT_FALSE(test, invalidate(key, true));
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA, 1, PEER_WRITE));
}

static void addresses_of_processes_do_not_wrap(struct kunit *test)
{
	unsigned long addr = user_pages(test);
	struct ib_mr *mr;

	mr = ib_reg_user_mr(pair.b.pd, addr, PAGE_SIZE, U64_MAX - PAGE_SIZE + 1, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EINVAL);
	mr = ib_reg_user_mr(pair.b.pd, addr, 0, addr, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(mr), -EINVAL);
	mr = ib_reg_user_mr(pair.b.pd, addr, PAGE_SIZE, U64_MAX - PAGE_SIZE, PEER_READ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, mr->rkey, U64_MAX - 1, 1, PEER_READ));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, mr->rkey, U64_MAX - 1, 2, PEER_READ));
	ib_dereg_mr(mr);
}

static void a_region_is_moved_by_registering_it_again(struct kunit *test)
{
	unsigned long addr = user_pages(test), to = addr + 3 * PAGE_SIZE;
	struct ib_mr *mr = user_mr(test, addr, REGION_ACCESS);
	u32 key = mr->rkey;

	KUNIT_ASSERT_PTR_EQ(test, rereg(mr, IB_MR_REREG_TRANS, to, 10, 0x1000, 0, NULL), NULL);
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA, 1, PEER_WRITE));
	seen.fill = 0x77;
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, key, 0x1000, 10, PEER_WRITE));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, 0x1000, 11, PEER_WRITE));
	KUNIT_EXPECT_EQ(test, user_read(test, to), 0x77);
	KUNIT_EXPECT_EQ(test, user_read(test, addr + USER_OFFSET), 0);
	ib_dereg_mr(mr);
}

static void a_region_changes_its_rights_and_its_domain(struct kunit *test)
{
	struct ib_pd *other = ib_alloc_pd(&pair.b.hca->ib, 0);
	unsigned long addr = user_pages(test);
	struct ib_mr *mr = user_mr(test, addr, PEER_READ);
	u32 key = mr->rkey;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA, 1, PEER_WRITE));
	/* The pages were pinned for reading alone. */
	KUNIT_ASSERT_PTR_EQ(test, rereg(mr, IB_MR_REREG_ACCESS, 0, 0, 0,
					IB_ACCESS_LOCAL_WRITE | PEER_WRITE, NULL), NULL);
	seen.fill = 0x33;
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, key, USER_IOVA, USER_LEN, PEER_WRITE));
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA, 1, PEER_READ));
	KUNIT_EXPECT_EQ(test, user_read(test, addr + USER_OFFSET), 0x33);

	KUNIT_ASSERT_PTR_EQ(test, rereg(mr, IB_MR_REREG_PD, 0, 0, 0, 0, other), NULL);
	KUNIT_EXPECT_FALSE(test, walk_remote(&seen, qp, key, USER_IOVA, 1, PEER_WRITE));
	KUNIT_EXPECT_TRUE(test, walk_local(&seen, other, key, USER_IOVA, USER_LEN, 0));
	KUNIT_ASSERT_PTR_EQ(test, rereg(mr, IB_MR_REREG_PD, 0, 0, 0, 0, pair.b.pd), NULL);
	ib_dereg_mr(mr);
	ib_dealloc_pd(other);
}

static void what_cannot_be_registered_again_stays(struct kunit *test)
{
	struct ib_mr *mr = user_mr(test, user_pages(test), PEER_READ);
	struct ib_mr *fast = ib_alloc_mr(pair.b.pd, IB_MR_TYPE_MEM_REG, 1);

	KUNIT_ASSERT_FALSE(test, IS_ERR(fast));
	KUNIT_EXPECT_EQ(test, PTR_ERR(rereg(mr, IB_MR_REREG_TRANS, 0, 0, 0, 0, NULL)), -EINVAL);
	KUNIT_EXPECT_TRUE(test, IS_ERR(rereg(mr, IB_MR_REREG_TRANS, 0, PAGE_SIZE, 0, 0, NULL)));
	KUNIT_EXPECT_EQ(test, PTR_ERR(rereg(mr, IB_MR_REREG_ACCESS, 0, 0, 0, PEER_WRITE, NULL)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rereg(mr, IB_MR_REREG_SUPPORTED + 1, 0, 0, 0, 0, NULL)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rereg(fast, IB_MR_REREG_ACCESS, 0, 0, 0, 0, NULL)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, mr->rkey, USER_IOVA, USER_LEN,
					    PEER_READ));
	ib_dereg_mr(fast);
	ib_dereg_mr(mr);
}

/* ---- allocations that fail ---- */

static unsigned long again;	/* pages for register_and_change() */

static int register_and_change(struct kunit *test)
{
	struct ib_mr *mr, *changed;

	mr = ib_reg_user_mr(pair.b.pd, again, USER_LEN, USER_IOVA, PEER_READ);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	changed = rereg(mr, IB_MR_REREG_TRANS, again, PAGE_SIZE, USER_IOVA, 0, NULL);
	if (IS_ERR(changed))
		KUNIT_EXPECT_TRUE(test, walk_remote(&seen, qp, mr->rkey, USER_IOVA, USER_LEN,
						    PEER_READ));
	ib_dereg_mr(mr);
	return PTR_ERR_OR_ZERO(changed);
}

static void registration_may_fail_at_each_allocation(struct kunit *test)
{
	again = user_pages(test);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, register_and_change), 4);
}

static struct kunit_case user_mr_cases[] = {
	KUNIT_CASE(a_process_has_what_it_registered_written),
	KUNIT_CASE(addresses_of_processes_do_not_wrap),
	KUNIT_CASE(a_region_is_moved_by_registering_it_again),
	KUNIT_CASE(a_region_changes_its_rights_and_its_domain),
	KUNIT_CASE(what_cannot_be_registered_again_stays),
	KUNIT_CASE(registration_may_fail_at_each_allocation),
	{}
};

static struct kunit_suite vib_user_mr_suite = {
	.name = "vib_user_mr",
	.init = user_mr_test_init,
	.exit = user_mr_test_exit,
	.test_cases = user_mr_cases,
};

kunit_test_suite(vib_user_mr_suite);
