// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* On-demand regions: what the device may access follows the process's page tables. */
#include <linux/mmu_notifier.h>
#include <linux/uaccess.h>
#include <rdma/ib_umem_odp.h>
#include "faults.h"
#include "user/uverbs_test.h"

#define ODP_R ODP_READ_ALLOWED_BIT
#define ODP_W ODP_WRITE_ALLOWED_BIT
#define ODP_RW (ODP_R | ODP_W)
#define ON_DEMAND IB_ACCESS_ON_DEMAND
#define ON_DEMAND_RW (IB_ACCESS_ON_DEMAND | IB_ACCESS_LOCAL_WRITE)

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct fake_hca *hca;
static int nr_invalidations;
/* While a thread changes the page tables, another thread holds umem_mutex for it. */
static bool mutex_is_held;
static unsigned long once_addr;

static int odp_test_init(struct kunit *test)
{
	nr_invalidations = 0;
	mutex_is_held = false;
	hca = fake_hca_create(&ib_params);
	return hca ? 0 : -ENOMEM;
}

static void odp_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

/* What a driver does whose device need not be notified. */
static bool invalidate(struct mmu_interval_notifier *mni,
		       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct ib_umem_odp *odp = container_of(mni, struct ib_umem_odp, notifier);

	nr_invalidations++;
	if (mutex_is_held) {
		mmu_interval_set_seq(mni, seq);
		return true;
	}
	mutex_lock(&odp->umem_mutex);
	mmu_interval_set_seq(mni, seq);
	ib_umem_odp_unmap_dma_pages(odp, range->start, range->end);
	mutex_unlock(&odp->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops invalidate_ops = {
	.invalidate = invalidate,
};

static struct ib_umem_odp *get(unsigned long addr, size_t size, int access)
{
	return ib_umem_odp_get(&hca->ibdev, addr, size, access, &invalidate_ops);
}

/* Like a page fault of the device, but drops the mutex at once on success. */
static int map(struct ib_umem_odp *odp, unsigned long addr, size_t size, u64 access)
{
	int ret = ib_umem_odp_map_dma_and_lock(odp, addr, size, access, true);

	if (ret >= 0)
		mutex_unlock(&odp->umem_mutex);
	return ret;
}

static int snapshot(struct ib_umem_odp *odp, unsigned long addr, size_t size, u64 access)
{
	int ret = ib_umem_odp_map_dma_and_lock(odp, addr, size, access, false);

	if (ret >= 0)
		mutex_unlock(&odp->umem_mutex);
	return ret;
}

static u64 access_of(struct ib_umem_odp *odp, unsigned int i)
{
	return odp->dma_list[i] & ODP_RW;
}

static u8 *device_page(struct ib_umem_odp *odp, unsigned int i)
{
	return ib_virt_dma_to_ptr(odp->dma_list[i] & ODP_DMA_ADDR_MASK);
}

static void a_region_covers_whole_pages_and_maps_none(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem_odp *odp = get(addr + 100, 2 * PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	KUNIT_EXPECT_EQ(test, ib_umem_start(odp), addr);
	KUNIT_EXPECT_EQ(test, ib_umem_end(odp), addr + 3 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, ib_umem_odp_num_pages(odp), 3ul);
	KUNIT_EXPECT_TRUE(test, odp->umem.is_odp && odp->umem.writable);
	KUNIT_EXPECT_EQ(test, odp->umem.address, addr + 100);
	KUNIT_EXPECT_PTR_EQ(test, odp->tgid, task_pid(current->group_leader));
	KUNIT_EXPECT_EQ(test, odp->npages, 0);
	KUNIT_EXPECT_EQ(test, user_pinned(), 0l);
	/* ib_umem_release() works for on-demand regions, too. */
	ib_umem_release(&odp->umem);
}

static void a_range_that_is_no_range_is_refused(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);

	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, 0, ON_DEMAND)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, ULONG_MAX - addr + 2, ON_DEMAND)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, ULONG_MAX - addr, ON_DEMAND)), -EINVAL);
	/* More pages than a table can have. */
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(addr, 1ul << 50, ON_DEMAND)), -ENOMEM);
}

static void a_thread_without_memory_is_refused(struct kunit *test)
{
	KUNIT_ASSERT_NULL(test, current->mm);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(PAGE_SIZE, PAGE_SIZE, ON_DEMAND)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_odp_alloc_implicit(&hca->ibdev, ON_DEMAND)),
			-EINVAL);
}

static void a_fault_brings_in_the_processs_pages(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem_odp *odp = get(addr, 4 * PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	user_write(test, addr + PAGE_SIZE, 11);
	KUNIT_EXPECT_EQ(test, ib_umem_odp_map_dma_and_lock(odp, addr + PAGE_SIZE + 8, PAGE_SIZE,
							   ODP_RW, true), 2);
	KUNIT_EXPECT_TRUE(test, mutex_is_locked(&odp->umem_mutex));
	KUNIT_EXPECT_EQ(test, odp->npages, 2);
	KUNIT_EXPECT_EQ(test, access_of(odp, 1), ODP_RW);
	KUNIT_EXPECT_EQ(test, access_of(odp, 2), ODP_RW);
	KUNIT_EXPECT_EQ(test, odp->dma_list[0], 0);
	KUNIT_EXPECT_EQ(test, odp->dma_list[3], 0);
	mutex_unlock(&odp->umem_mutex);

	KUNIT_EXPECT_EQ(test, *device_page(odp, 1), 11);
	*device_page(odp, 2) = 22;
	KUNIT_EXPECT_EQ(test, user_read(test, addr + 2 * PAGE_SIZE), 22);
	/* The same pages again, and one more. */
	KUNIT_EXPECT_EQ(test, map(odp, addr, 3 * PAGE_SIZE, ODP_RW), 3);
	KUNIT_EXPECT_EQ(test, odp->npages, 3);
	ib_umem_odp_release(odp);
}

static void a_snapshot_maps_only_what_is_there(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem_odp *odp = get(addr, 4 * PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	user_write(test, addr + PAGE_SIZE, 1);
	KUNIT_EXPECT_EQ(test, user_read(test, addr + 2 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, snapshot(odp, addr, 4 * PAGE_SIZE, ODP_RW), 4);
	KUNIT_EXPECT_EQ(test, odp->npages, 2);
	KUNIT_EXPECT_EQ(test, odp->dma_list[0], 0);
	KUNIT_EXPECT_EQ(test, access_of(odp, 1), ODP_RW);
	/* This page was only read so far: it is the zero page. */
	KUNIT_EXPECT_EQ(test, access_of(odp, 2), ODP_R);
	KUNIT_EXPECT_EQ(test, odp->dma_list[3], 0);
	ib_umem_odp_release(odp);
}

static void a_snapshot_to_read_grants_no_write(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);
	struct ib_umem_odp *odp = get(addr, PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	user_write(test, addr, 1);
	KUNIT_EXPECT_EQ(test, snapshot(odp, addr, PAGE_SIZE, ODP_R), 1);
	KUNIT_EXPECT_EQ(test, access_of(odp, 0), ODP_R);
	KUNIT_EXPECT_EQ(test, snapshot(odp, addr, PAGE_SIZE, ODP_RW), 1);
	KUNIT_EXPECT_EQ(test, access_of(odp, 0), ODP_RW);
	/* A later map for reading keeps the write access. */
	KUNIT_EXPECT_EQ(test, map(odp, addr, PAGE_SIZE, ODP_R), 1);
	KUNIT_EXPECT_EQ(test, access_of(odp, 0), ODP_RW);
	KUNIT_EXPECT_EQ(test, odp->npages, 1);
	ib_umem_odp_release(odp);
}

static void a_first_write_takes_the_device_to_the_new_page(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);
	struct ib_umem_odp *odp = get(addr, PAGE_SIZE, ON_DEMAND_RW);
	dma_addr_t zero_page;

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	KUNIT_EXPECT_EQ(test, map(odp, addr, PAGE_SIZE, ODP_R), 1);
	zero_page = odp->dma_list[0] & ODP_DMA_ADDR_MASK;
	KUNIT_EXPECT_EQ(test, access_of(odp, 0), ODP_R);

	KUNIT_EXPECT_EQ(test, map(odp, addr, PAGE_SIZE, ODP_RW), 1);
	KUNIT_EXPECT_GT(test, nr_invalidations, 0);
	KUNIT_EXPECT_NE(test, odp->dma_list[0] & ODP_DMA_ADDR_MASK, zero_page);
	KUNIT_EXPECT_EQ(test, access_of(odp, 0), ODP_RW);
	KUNIT_EXPECT_EQ(test, odp->npages, 1);
	*device_page(odp, 0) = 33;
	KUNIT_EXPECT_EQ(test, user_read(test, addr), 33);
	ib_umem_odp_release(odp);
}

static void unmapped_memory_is_taken_from_the_device(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem_odp *odp = get(addr, 4 * PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	KUNIT_EXPECT_EQ(test, map(odp, addr, 4 * PAGE_SIZE, ODP_RW), 4);
	nr_invalidations = 0;
	KUNIT_EXPECT_EQ(test, vm_munmap(addr + PAGE_SIZE, 2 * PAGE_SIZE), 0);
	KUNIT_EXPECT_GT(test, nr_invalidations, 0);
	KUNIT_EXPECT_EQ(test, odp->npages, 2);
	KUNIT_EXPECT_EQ(test, access_of(odp, 0), ODP_RW);
	KUNIT_EXPECT_EQ(test, odp->dma_list[1], 0);
	KUNIT_EXPECT_EQ(test, odp->dma_list[2], 0);
	KUNIT_EXPECT_EQ(test, access_of(odp, 3), ODP_RW);

	KUNIT_EXPECT_EQ(test, map(odp, addr, 2 * PAGE_SIZE, ODP_R), -EFAULT);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&odp->umem_mutex));
	KUNIT_EXPECT_EQ(test, snapshot(odp, addr, 4 * PAGE_SIZE, ODP_RW), 4);
	KUNIT_EXPECT_EQ(test, odp->npages, 2);
	ib_umem_odp_release(odp);
}

static void what_a_region_does_not_allow_is_refused(struct kunit *test)
{
	unsigned long addr = user_pages(test, 2, TEST_RW);
	unsigned long fixed = user_pages(test, 1, PROT_READ);
	struct ib_umem_odp *odp = get(addr, 2 * PAGE_SIZE, ON_DEMAND_RW);
	struct ib_umem_odp *readable = get(addr, PAGE_SIZE, ON_DEMAND);
	struct ib_umem_odp *constant = get(fixed, PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_EXPECT_EQ(test, map(odp, addr, 0, ODP_R), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(odp, addr, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(odp, addr, 1, ODP_R | 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(odp, addr - 1, 2, ODP_R), -EFAULT);
	KUNIT_EXPECT_EQ(test, map(odp, addr + PAGE_SIZE, PAGE_SIZE + 1, ODP_R), -EFAULT);
	KUNIT_EXPECT_EQ(test, map(odp, addr, SIZE_MAX, ODP_R), -EFAULT);
	KUNIT_EXPECT_EQ(test, map(readable, addr, 1, ODP_RW), -EPERM);
	KUNIT_EXPECT_EQ(test, map(readable, addr, 1, ODP_R), 1);
	KUNIT_EXPECT_EQ(test, map(constant, fixed, 1, ODP_RW), -EPERM);
	KUNIT_EXPECT_EQ(test, map(constant, fixed, 1, ODP_R), 1);
	KUNIT_EXPECT_EQ(test, odp->npages, 0);
	ib_umem_odp_release(odp);
	ib_umem_odp_release(readable);
	ib_umem_odp_release(constant);
}

static void pages_too_small_for_the_region_are_refused(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem_odp *odp = get(addr, 4 * PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	/* As if the region had huge pages of two small ones. */
	odp->page_shift = PAGE_SHIFT + 1;
	if (IS_ALIGNED(addr, 2 * PAGE_SIZE)) {
		KUNIT_EXPECT_EQ(test, map(odp, addr, PAGE_SIZE, ODP_RW), -EINVAL);
		KUNIT_EXPECT_FALSE(test, mutex_is_locked(&odp->umem_mutex));
		KUNIT_EXPECT_EQ(test, odp->npages, 0);
	}
	odp->page_shift = PAGE_SHIFT;
	ib_umem_odp_release(odp);
}

static void only_pages_the_device_could_write_get_dirty(struct kunit *test)
{
	unsigned long addr = user_pages(test, 2, TEST_RW);
	struct ib_umem_odp *odp = get(addr, 2 * PAGE_SIZE, ON_DEMAND_RW);
	struct page *page[2];
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	user_fill(test, addr, 2, 1);
	KUNIT_EXPECT_EQ(test, map(odp, addr, PAGE_SIZE, ODP_R), 1);
	KUNIT_EXPECT_EQ(test, map(odp, addr + PAGE_SIZE, PAGE_SIZE, ODP_RW), 1);
	for (i = 0; i < 2; i++) {
		page[i] = virt_to_page(device_page(odp, i));
		ClearPageDirty(page[i]);
	}
	mutex_lock(&odp->umem_mutex);
	/* A range larger than the region. */
	ib_umem_odp_unmap_dma_pages(odp, 0, addr + 16 * PAGE_SIZE);
	mutex_unlock(&odp->umem_mutex);
	KUNIT_EXPECT_FALSE(test, PageDirty(page[0]));
	KUNIT_EXPECT_TRUE(test, PageDirty(page[1]));
	KUNIT_EXPECT_EQ(test, odp->npages, 0);
	ib_umem_odp_release(odp);
}

static void pages_are_taken_by_the_byte_range_they_are_in(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem_odp *odp = get(addr, 4 * PAGE_SIZE, ON_DEMAND_RW);

	KUNIT_ASSERT_FALSE(test, IS_ERR(odp));
	KUNIT_EXPECT_EQ(test, map(odp, addr, 4 * PAGE_SIZE, ODP_R), 4);
	mutex_lock(&odp->umem_mutex);
	ib_umem_odp_unmap_dma_pages(odp, addr + PAGE_SIZE, addr + PAGE_SIZE);
	ib_umem_odp_unmap_dma_pages(odp, 0, addr);
	ib_umem_odp_unmap_dma_pages(odp, addr + 4 * PAGE_SIZE, U64_MAX);
	KUNIT_EXPECT_EQ(test, odp->npages, 4);
	ib_umem_odp_unmap_dma_pages(odp, addr + 2 * PAGE_SIZE - 1, addr + 2 * PAGE_SIZE + 1);
	KUNIT_EXPECT_EQ(test, odp->npages, 2);
	KUNIT_EXPECT_NE(test, odp->dma_list[0], 0);
	KUNIT_EXPECT_NE(test, odp->dma_list[3], 0);
	mutex_unlock(&odp->umem_mutex);
	ib_umem_odp_release(odp);
}

struct race {
	struct ib_umem_odp *odp;
	unsigned long addr;
	bool locked, changed;
	int ret;
};

static void map_in_thread(struct kunit *test, void *arg)
{
	struct race *race = arg;

	race->ret = map(race->odp, race->addr, PAGE_SIZE, ODP_RW);
}

static bool race_changed(void *arg)
{
	return READ_ONCE(((struct race *)arg)->changed);
}

static void hold_in_thread(struct kunit *test, void *arg)
{
	struct race *race = arg;

	mutex_lock(&race->odp->umem_mutex);
	WRITE_ONCE(race->locked, true);
	KUNIT_EXPECT_TRUE(test, user_wait(race_changed, race));
	mutex_unlock(&race->odp->umem_mutex);
}

static bool race_locked(void *arg)
{
	return READ_ONCE(((struct race *)arg)->locked);
}

static bool race_waits(void *arg)
{
	return !list_empty(&((struct race *)arg)->odp->umem_mutex.wait_list);
}

/* The page tables change after a fault has read them, while it waits for the mutex. */
static void a_fault_that_saw_an_old_page_looks_again(struct kunit *test)
{
	unsigned long addr = user_pages(test, 1, TEST_RW);
	struct race race = { .odp = get(addr, PAGE_SIZE, ON_DEMAND_RW), .addr = addr };
	struct user_thread mapper = { .fn = map_in_thread, .test = test, .arg = &race };
	struct user_thread holder = { .fn = hold_in_thread, .test = test, .arg = &race };
	struct page *old;

	KUNIT_ASSERT_FALSE(test, IS_ERR(race.odp));
	user_write(test, addr, 1);
	/* A reference is held so that the page is not used as the new one. */
	KUNIT_EXPECT_EQ(test, map(race.odp, addr, PAGE_SIZE, ODP_RW), 1);
	old = virt_to_page(device_page(race.odp, 0));
	get_page(old);
	mutex_lock(&race.odp->umem_mutex);
	ib_umem_odp_unmap_dma_pages(race.odp, addr, addr + PAGE_SIZE);
	mutex_unlock(&race.odp->umem_mutex);

	KUNIT_ASSERT_EQ(test, user_thread_start(&holder), 0);
	KUNIT_EXPECT_TRUE(test, user_wait(race_locked, &race));
	KUNIT_ASSERT_EQ(test, user_thread_start(&mapper), 0);
	KUNIT_EXPECT_TRUE(test, user_wait(race_waits, &race));

	mutex_is_held = true;
	KUNIT_EXPECT_EQ(test, vm_mmap(NULL, addr, PAGE_SIZE, TEST_RW,
				      MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0), addr);
	user_write(test, addr, 2);
	mutex_is_held = false;
	KUNIT_EXPECT_GT(test, nr_invalidations, 0);
	WRITE_ONCE(race.changed, true);
	user_thread_join(&holder);
	user_thread_join(&mapper);

	KUNIT_EXPECT_EQ(test, race.ret, 1);
	KUNIT_EXPECT_EQ(test, *device_page(race.odp, 0), 2);
	*device_page(race.odp, 0) = 3;
	KUNIT_EXPECT_EQ(test, user_read(test, addr), 3);
	ib_umem_odp_release(race.odp);
	put_page(old);
}

static void a_child_covers_a_part_of_an_implicit_region(struct kunit *test)
{
	unsigned long addr = user_pages(test, 4, TEST_RW);
	struct ib_umem_odp *root, *child, *reader;

	root = ib_umem_odp_alloc_implicit(&hca->ibdev, ON_DEMAND_RW);
	KUNIT_ASSERT_FALSE(test, IS_ERR(root));
	KUNIT_EXPECT_TRUE(test, root->is_implicit_odp);
	KUNIT_EXPECT_TRUE(test, root->umem.writable);
	KUNIT_EXPECT_EQ(test, root->umem.length, 0ul);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_odp_alloc_implicit(&hca->ibdev,
								 ON_DEMAND | IB_ACCESS_HUGETLB)),
			-EINVAL);
	child = ib_umem_odp_alloc_child(root, addr, 2 * PAGE_SIZE, &invalidate_ops);
	KUNIT_ASSERT_FALSE(test, IS_ERR(child));
	KUNIT_EXPECT_FALSE(test, child->is_implicit_odp);
	KUNIT_EXPECT_PTR_EQ(test, child->tgid, root->tgid);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_odp_alloc_child(root, addr, 0,
							      &invalidate_ops)), -EINVAL);
	/* Children do not need the root to exist. */
	ib_umem_odp_release(root);
	KUNIT_EXPECT_EQ(test, map(child, addr, 2 * PAGE_SIZE, ODP_RW), 2);
	ib_umem_odp_release(child);

	root = ib_umem_odp_alloc_implicit(&hca->ibdev, ON_DEMAND);
	KUNIT_ASSERT_FALSE(test, IS_ERR(root));
	reader = ib_umem_odp_alloc_child(root, addr, PAGE_SIZE, &invalidate_ops);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	KUNIT_EXPECT_EQ(test, map(reader, addr, 1, ODP_RW), -EPERM);
	ib_umem_release(&reader->umem);
	ib_umem_release(&root->umem);
}

struct short_life {
	struct ib_umem_odp *root, *child;
	unsigned long addr;
};

static void make_regions(struct kunit *test, void *arg)
{
	struct short_life *life = arg;

	life->addr = user_pages(test, 2, TEST_RW);
	life->root = ib_umem_odp_alloc_implicit(&hca->ibdev, ON_DEMAND_RW);
	KUNIT_ASSERT_FALSE(test, IS_ERR(life->root));
	life->child = ib_umem_odp_alloc_child(life->root, life->addr, 2 * PAGE_SIZE,
					      &invalidate_ops);
	KUNIT_ASSERT_FALSE(test, IS_ERR(life->child));
	KUNIT_EXPECT_EQ(test, map(life->child, life->addr, 2 * PAGE_SIZE, ODP_RW), 2);
}

static bool mm_is_gone(void *arg)
{
	struct ib_umem_odp *odp = arg;

	return !atomic_read(&odp->umem.owning_mm->mm_users) && !odp->npages;
}

static void a_process_that_ends_takes_its_pages_along(struct kunit *test)
{
	struct short_life life = {};
	struct user_thread thread = { .fn = make_regions, .test = test, .arg = &life };

	KUNIT_ASSERT_EQ(test, user_thread_start(&thread), 0);
	user_thread_join(&thread);
	KUNIT_ASSERT_NOT_NULL(test, life.child);
	KUNIT_EXPECT_TRUE(test, user_wait(mm_is_gone, life.child));
	KUNIT_EXPECT_EQ(test, map(life.child, life.addr, 1, ODP_R), -EFAULT);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&life.child->umem_mutex));
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_odp_alloc_child(life.root, life.addr, PAGE_SIZE,
							      &invalidate_ops)), -EFAULT);
	ib_umem_odp_release(life.child);
	ib_umem_odp_release(life.root);
}

/* Has more pages than a fault can map without an allocation. */
static int odp_once(struct kunit *test)
{
	struct ib_umem_odp *root, *odp;
	int ret;

	root = ib_umem_odp_alloc_implicit(&hca->ibdev, ON_DEMAND_RW);
	if (IS_ERR(root))
		return PTR_ERR(root);
	odp = ib_umem_odp_alloc_child(root, once_addr, 40 * PAGE_SIZE, &invalidate_ops);
	ret = PTR_ERR_OR_ZERO(odp);
	if (ret)
		goto release_root;
	ret = map(odp, once_addr, 40 * PAGE_SIZE, ODP_RW);
	KUNIT_EXPECT_TRUE(test, ret == 40 || ret == -ENOMEM);
	ib_umem_odp_release(odp);
	if (ret < 0)
		goto release_root;
	odp = get(once_addr, 40 * PAGE_SIZE, ON_DEMAND);
	ret = PTR_ERR_OR_ZERO(odp);
	if (!ret)
		ib_umem_odp_release(odp);
release_root:
	ib_umem_odp_release(root);
	return ret;
}

static void a_region_survives_each_failed_allocation(struct kunit *test)
{
	once_addr = user_pages(test, 40, TEST_RW);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, odp_once), 6u);
}

static struct kunit_case odp_cases[] = {
	KUNIT_CASE(a_region_covers_whole_pages_and_maps_none),
	KUNIT_CASE(a_range_that_is_no_range_is_refused),
	KUNIT_CASE(a_thread_without_memory_is_refused),
	KUNIT_CASE(a_fault_brings_in_the_processs_pages),
	KUNIT_CASE(a_snapshot_maps_only_what_is_there),
	KUNIT_CASE(a_snapshot_to_read_grants_no_write),
	KUNIT_CASE(a_first_write_takes_the_device_to_the_new_page),
	KUNIT_CASE(unmapped_memory_is_taken_from_the_device),
	KUNIT_CASE(what_a_region_does_not_allow_is_refused),
	KUNIT_CASE(pages_too_small_for_the_region_are_refused),
	KUNIT_CASE(only_pages_the_device_could_write_get_dirty),
	KUNIT_CASE(pages_are_taken_by_the_byte_range_they_are_in),
	KUNIT_CASE(a_fault_that_saw_an_old_page_looks_again),
	KUNIT_CASE(a_child_covers_a_part_of_an_implicit_region),
	KUNIT_CASE(a_process_that_ends_takes_its_pages_along),
	KUNIT_CASE(a_region_survives_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_odp_suite = {
	.name = "uverbs_odp",
	.init = odp_test_init,
	.exit = odp_test_exit,
	.test_cases = odp_cases,
};

kunit_test_suite(uverbs_odp_suite);
