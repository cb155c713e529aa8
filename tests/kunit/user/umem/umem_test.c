// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Pinned regions of process memory: what they pin, charge and release. */
#include <linux/dma-mapping.h>
#include <linux/resource.h>
#include <linux/sched/signal.h>
#include <rdma/ib_umem.h>
#include "faults.h"
#include "umem/umem.h"
#include "user/uverbs_test.h"

/* More pages than one batch pins. */
#define MANY_PAGES 530

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct fake_hca *hca;
static unsigned long umem_addr;		/* arguments of umem_once() */
static unsigned int umem_npages;

static int umem_test_init(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	return hca ? 0 : -ENOMEM;
}

static void umem_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static struct ib_umem *get(unsigned long addr, size_t size, int access)
{
	return ib_umem_get(&hca->ibdev, addr, size, access);
}

/* Expects a region, and releases it. */
static void expect_region(struct kunit *test, struct ib_umem *umem)
{
	KUNIT_EXPECT_FALSE(test, IS_ERR(umem));
	if (!IS_ERR(umem))
		ib_umem_release(umem);
}

/* Page @i of a region as the device sees it. */
static u8 *device_page(struct ib_umem *umem, unsigned int i)
{
	struct sg_table *sgt = &umem->sgt_append.sgt;
	struct sg_dma_page_iter iter;

	for_each_sgtable_dma_page(sgt, &iter, i)
		return ib_virt_dma_to_ptr(sg_page_iter_dma_address(&iter));
	return NULL;
}

static bool is_pinned(const void *page)
{
	return folio_maybe_dma_pinned(virt_to_folio(page));
}

static void a_region_pins_and_charges_each_page_it_touches(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem *umem;
	u8 *page;

	user_fill(test, addr, 4, 10);
	umem = get(addr + 100, 2 * PAGE_SIZE, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_EQ(test, ib_umem_num_pages(umem), 3ul);
	KUNIT_EXPECT_EQ(test, user_pinned(), 3l);
	KUNIT_EXPECT_EQ(test, umem->address, addr + 100);
	KUNIT_EXPECT_EQ(test, umem->iova, addr + 100);

	page = device_page(umem, 2);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, *page, 12);
	KUNIT_EXPECT_TRUE(test, is_pinned(page));
	*page = 77;
	KUNIT_EXPECT_EQ(test, user_read(test, addr + 2 * PAGE_SIZE), 77);

	ib_umem_release(umem);
	KUNIT_EXPECT_EQ(test, user_pinned(), 0l);
	KUNIT_EXPECT_FALSE(test, is_pinned(page));
	ib_umem_release(NULL);
}

static void a_range_that_is_no_range_is_refused(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);

	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, 0, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, ULONG_MAX - addr + 2, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, ULONG_MAX - addr, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, 1ul << 45, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, 1, IB_ACCESS_ON_DEMAND)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, user_pinned(), 0l);
}

static void a_thread_without_memory_is_refused(struct kunit *test)
{
	/* The case made no mapping, so it is a kernel thread without an mm. */
	KUNIT_ASSERT_NULL(test, current->mm);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(PAGE_SIZE, PAGE_SIZE, 0)), -EINVAL);
}

/* The region is unmapped with the attributes that it was mapped with. */
static void a_region_remembers_how_it_was_mapped(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);
	struct ib_umem *umem;

	umem = get(addr, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_EQ(test, umem_dma_attrs(umem), 0ul);
	ib_umem_release(umem);
	umem = get(addr, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_RELAXED_ORDERING);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_EQ(test, umem_dma_attrs(umem), DMA_ATTR_WEAK_ORDERING);
	ib_umem_release(umem);
}

/* The hole is behind a batch that was pinned and a part of another. */
static void a_hole_in_the_range_leaves_nothing_pinned(struct kunit *test)
{
	unsigned long addr = user_pages(test, MANY_PAGES, TEST_RW);
	struct ib_umem *umem;
	u8 *first, *last;

	user_fill(test, addr, MANY_PAGES, 0);
	umem = get(addr, MANY_PAGES * PAGE_SIZE, IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_EQ(test, user_pinned(), (long)MANY_PAGES);
	first = device_page(umem, 0);
	last = device_page(umem, MANY_PAGES - 2);
	KUNIT_EXPECT_EQ(test, *last, (u8)(MANY_PAGES - 2));
	ib_umem_release(umem);

	KUNIT_ASSERT_EQ(test, vm_munmap(addr + (MANY_PAGES - 1) * PAGE_SIZE,
					PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, MANY_PAGES * PAGE_SIZE, 0)), -EFAULT);
	KUNIT_EXPECT_FALSE(test, is_pinned(first));
	KUNIT_EXPECT_FALSE(test, is_pinned(last));
	KUNIT_EXPECT_EQ(test, user_pinned(), 0l);
}

static void the_memlock_limit_holds_over_all_regions(struct kunit *test)
{
	struct rlimit *limit = &current->signal->rlim[RLIMIT_MEMLOCK];
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct rlimit old = *limit;
	const struct cred *cred;
	struct ib_umem *umem;

	cred = user_drop_ipc_lock(test);
	limit->rlim_cur = 3 * PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, 4 * PAGE_SIZE, 0)), -ENOMEM);
	umem = get(addr, 2 * PAGE_SIZE, 0);
	/* One byte more than allowed, because it is in another page. */
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr + PAGE_SIZE - 1, 2, 0)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, user_pinned(), 2l);
	expect_region(test, umem);
	expect_region(test, get(addr, 3 * PAGE_SIZE, 0));
	limit->rlim_cur = 0;
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, 1, 0)), -EPERM);
	user_restore(cred);
	/* The capability lifts the limit. */
	expect_region(test, get(addr, 4 * PAGE_SIZE, 0));
	*limit = old;
	KUNIT_EXPECT_EQ(test, user_pinned(), 0l);
}

static void a_changed_iova_does_not_change_the_charge(struct kunit *test)
{
	unsigned long addr = user_pages(test, 2, TEST_RW);
	struct ib_umem *umem = get(addr + 2048, PAGE_SIZE, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_EQ(test, user_pinned(), 2l);
	ib_umem_find_best_pgsz(umem, PAGE_SIZE, 0);
	KUNIT_EXPECT_EQ(test, ib_umem_num_pages(umem), 1ul);
	ib_umem_release(umem);
	KUNIT_EXPECT_EQ(test, user_pinned(), 0l);
}

static void memory_that_may_not_be_written_can_only_be_read(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, PROT_READ);
	struct ib_umem *umem;

	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE)),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, PAGE_SIZE, IB_ACCESS_REMOTE_WRITE)),
			-EFAULT);
	umem = get(addr, PAGE_SIZE, IB_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	KUNIT_EXPECT_FALSE(test, umem->writable);
	ib_umem_release(umem);
}

/* The page must be the process's own, not the zero page or a shared one. */
static void a_region_that_is_only_read_sees_what_the_process_writes(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);
	struct ib_umem *umem;

	KUNIT_EXPECT_EQ(test, user_read(test, addr), 0);
	umem = get(addr, PAGE_SIZE, IB_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	user_write(test, addr, 42);
	KUNIT_EXPECT_EQ(test, *device_page(umem, 0), 42);
	ib_umem_release(umem);
}

static void pages_are_dirty_after_a_device_that_could_write(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);
	struct ib_umem *umem;
	struct page *page;
	int i;

	user_write(test, addr, 1);
	for (i = 0; i < 2; i++) {
		umem = get(addr, PAGE_SIZE, i ? IB_ACCESS_LOCAL_WRITE : 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
		page = virt_to_page(device_page(umem, 0));
		ClearPageDirty(page);
		ib_umem_release(umem);
		KUNIT_EXPECT_EQ(test, PageDirty(page), i);
	}
}

static void bytes_are_copied_from_inside_the_region_alone(struct kunit *test)
{
	unsigned long addr = user_pages(test, 3, TEST_RW);
	struct ib_umem *umem;
	u8 bytes[2] = {};

	user_fill(test, addr, 3, 20);
	user_write(test, addr + 2 * PAGE_SIZE - 1, 99);
	umem = get(addr + 100, 2 * PAGE_SIZE + 50, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));

	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(bytes, umem, PAGE_SIZE - 100, 1), 0);
	KUNIT_EXPECT_EQ(test, bytes[0], 21);
	/* Across a page boundary. */
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(bytes, umem, 2 * PAGE_SIZE - 101, 2),
			0);
	KUNIT_EXPECT_EQ(test, bytes[0], 99);
	KUNIT_EXPECT_EQ(test, bytes[1], 22);
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(bytes, umem, umem->length, 0), 0);
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(bytes, umem, umem->length, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(bytes, umem, umem->length - 1, 2),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_umem_copy_from(bytes, umem, SIZE_MAX, 2), -EINVAL);
	ib_umem_release(umem);
}

static void more_access_needs_pages_pinned_for_it(struct kunit *test)
{
	struct ib_umem umem = {};

	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&umem, IB_MR_REREG_ACCESS,
						  IB_ACCESS_LOCAL_WRITE), -EACCES);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&umem, IB_MR_REREG_ACCESS,
						  IB_ACCESS_REMOTE_READ), 0);
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&umem, IB_MR_REREG_PD,
						  IB_ACCESS_LOCAL_WRITE), 0);
	umem.writable = 1;
	KUNIT_EXPECT_EQ(test, ib_umem_check_rereg(&umem, IB_MR_REREG_ACCESS,
						  IB_ACCESS_LOCAL_WRITE), 0);
}

static int umem_once(struct kunit *test)
{
	struct ib_umem *umem = get(umem_addr, umem_npages * PAGE_SIZE,
				   IB_ACCESS_LOCAL_WRITE);

	if (IS_ERR(umem))
		return PTR_ERR(umem);
	ib_umem_release(umem);
	return 0;
}

static void a_region_survives_each_failed_allocation(struct kunit *test)
{
	struct ib_umem *umem;
	u8 *first, *last;

	umem_addr = user_pages(test, MANY_PAGES, TEST_RW);
	user_fill(test, umem_addr, MANY_PAGES, 0);
	umem = get(umem_addr, MANY_PAGES * PAGE_SIZE, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(umem));
	first = device_page(umem, 0);
	last = device_page(umem, MANY_PAGES - 1);
	ib_umem_release(umem);

	/* Allocations of the region, of the batch, and of the table. */
	umem_npages = 3;
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, umem_once), 3u);
	/* In the second batch, too, for which the table grows. */
	umem_npages = MANY_PAGES;
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, umem_once), 2u);
	KUNIT_EXPECT_EQ(test, user_pinned(), 0l);
	KUNIT_EXPECT_FALSE(test, is_pinned(first));
	KUNIT_EXPECT_FALSE(test, is_pinned(last));
}

static struct kunit_case umem_cases[] = {
	KUNIT_CASE(a_region_pins_and_charges_each_page_it_touches),
	KUNIT_CASE(a_range_that_is_no_range_is_refused),
	KUNIT_CASE(a_thread_without_memory_is_refused),
	KUNIT_CASE(a_region_remembers_how_it_was_mapped),
	KUNIT_CASE(a_hole_in_the_range_leaves_nothing_pinned),
	KUNIT_CASE(the_memlock_limit_holds_over_all_regions),
	KUNIT_CASE(a_changed_iova_does_not_change_the_charge),
	KUNIT_CASE(memory_that_may_not_be_written_can_only_be_read),
	KUNIT_CASE(a_region_that_is_only_read_sees_what_the_process_writes),
	KUNIT_CASE(pages_are_dirty_after_a_device_that_could_write),
	KUNIT_CASE(bytes_are_copied_from_inside_the_region_alone),
	KUNIT_CASE(more_access_needs_pages_pinned_for_it),
	KUNIT_CASE(a_region_survives_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_umem_suite = {
	.name = "uverbs_umem",
	.init = umem_test_init,
	.exit = umem_test_exit,
	.test_cases = umem_cases,
};

kunit_test_suite(uverbs_umem_suite);
