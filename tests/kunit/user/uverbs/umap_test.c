// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Mappings of device memory: access to it after it was revoked. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include "user/uverbs_test.h"
#include "wait.h"

#define DOORBELLS 3	/* pages */

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.user = true,
};

static struct fake_hca *hca;
/* An open file on the device, and the device's pages that it maps. */
static struct uverbs_device *udev;
static struct ib_uverbs_file *ufile;
static struct ib_ucontext ucontext;
static struct rdma_user_mmap_entry entry;
static struct file *filp;
static u8 *doorbells;
static bool entry_freed;

static void umap_mmap_free(struct rdma_user_mmap_entry *gone)
{
	entry_freed = true;
}

static const struct ib_device_ops umap_dev_ops = {
	.mmap_free = umap_mmap_free,
};

/* The mmap() of the file and that of the driver in one. */
static int umap_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &uverbs_umap_ops;
	return rdma_user_mmap_io(&ucontext, vma, virt_to_phys(doorbells) >> PAGE_SHIFT,
				 vma->vm_end - vma->vm_start,
				 pgprot_noncached(vma->vm_page_prot), &entry);
}

static const struct file_operations umap_fops = {
	.owner = THIS_MODULE,
	.mmap = umap_mmap,
};

static int umap_test_init(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	if (!hca)
		return -ENOMEM;
	ib_set_device_ops(&hca->ibdev, &umap_dev_ops);
	doorbells = alloc_pages_exact(DOORBELLS * PAGE_SIZE, GFP_KERNEL | __GFP_ZERO);
	memset(&ucontext, 0, sizeof(ucontext));
	memset(&entry, 0, sizeof(entry));
	entry_freed = false;
	udev = uverbs_device_get(&hca->ibdev);
	if (!doorbells || !udev)
		return -ENOMEM;
	ufile = uverbs_file_create(udev);
	if (IS_ERR(ufile))
		return PTR_ERR(ufile);
	ucontext.device = &hca->ibdev;
	ucontext.ufile = ufile;
	xa_init_flags(&ucontext.mmap_xa, XA_FLAGS_ALLOC);
	filp = anon_inode_getfile("[umap]", &umap_fops, ufile, O_RDWR);
	if (IS_ERR(filp))
		return PTR_ERR(filp);
	return rdma_user_mmap_entry_insert(&ucontext, &entry, DOORBELLS * PAGE_SIZE);
}

static void umap_close(void)
{
	if (!IS_ERR_OR_NULL(filp)) {
		if (entry.ucontext && !entry.driver_removed)
			rdma_user_mmap_entry_remove(&entry);
		fput(filp);
		flush_delayed_fput();
	}
	filp = NULL;
	if (!IS_ERR_OR_NULL(ufile))
		uverbs_file_close(ufile);
	ufile = NULL;
}

/* Each case unmaps its own mappings. */
static void umap_test_exit(struct kunit *test)
{
	umap_close();
	if (udev)
		uverbs_device_put(udev);
	udev = NULL;
	if (doorbells)
		free_pages_exact(doorbells, DOORBELLS * PAGE_SIZE);
	doorbells = NULL;
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static unsigned long map(struct kunit *test, unsigned int npages)
{
	return user_mmap(test, filp, npages, TEST_RW, MAP_SHARED);
}

static u8 *doorbell(unsigned int page)
{
	return doorbells + page * PAGE_SIZE;
}

static int live_mappings(void)
{
	return list_count_nodes(&ufile->umaps.list);
}

static void a_mapping_shows_the_device_until_it_is_unmapped(struct kunit *test)
{
	unsigned long addr = map(test, DOORBELLS);

	user_write(test, addr + 2 * PAGE_SIZE, 5);
	KUNIT_EXPECT_EQ(test, *doorbell(2), 5);
	*doorbell(0) = 6;
	KUNIT_EXPECT_EQ(test, user_read(test, addr), 6);
	KUNIT_EXPECT_EQ(test, live_mappings(), 1);
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 2u);

	/* The driver removes the entry; the mapping still holds it. */
	rdma_user_mmap_entry_remove(&entry);
	KUNIT_EXPECT_FALSE(test, entry_freed);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, DOORBELLS * PAGE_SIZE), 0);
	KUNIT_EXPECT_TRUE(test, entry_freed);
	KUNIT_EXPECT_EQ(test, live_mappings(), 0);
}

static void a_mapping_taken_away_swallows_writes(struct kunit *test)
{
	unsigned long addr = map(test, DOORBELLS);

	user_write(test, addr, 1);
	*doorbell(1) = 9;
	rdma_user_mmap_disassociate(&hca->ibdev);
	KUNIT_EXPECT_EQ(test, live_mappings(), 0);
	user_write(test, addr, 2);
	KUNIT_EXPECT_EQ(test, *doorbell(0), 1);
	/* All pages of the mapping are the same dummy page, without device content. */
	KUNIT_EXPECT_EQ(test, user_read(test, addr + PAGE_SIZE), 2);
	KUNIT_EXPECT_NOT_NULL(test, ufile->dummy_page);
	/* The mapping holds nothing of the driver any more. */
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 1u);
	rdma_user_mmap_disassociate(&hca->ibdev);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, DOORBELLS * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 1u);
}

static void a_mapping_made_later_shows_the_device_again(struct kunit *test)
{
	unsigned long old = map(test, 1), new;

	rdma_user_mmap_disassociate(&hca->ibdev);
	new = map(test, 1);
	user_write(test, old, 3);
	user_write(test, new, 4);
	KUNIT_EXPECT_EQ(test, *doorbell(0), 4);
	KUNIT_EXPECT_EQ(test, user_read(test, old), 3);
	KUNIT_EXPECT_EQ(test, live_mappings(), 1);
	KUNIT_EXPECT_EQ(test, vm_munmap(old, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, vm_munmap(new, PAGE_SIZE), 0);
}

/* Unmapping the middle splits a mapping into two, each with a record. */
static void parts_of_a_mapping_are_taken_away_too(struct kunit *test)
{
	unsigned long addr = map(test, DOORBELLS);

	KUNIT_EXPECT_EQ(test, vm_munmap(addr + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, live_mappings(), 2);
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 3u);
	user_write(test, addr + 2 * PAGE_SIZE, 7);
	KUNIT_EXPECT_EQ(test, *doorbell(2), 7);

	rdma_user_mmap_disassociate(&hca->ibdev);
	user_write(test, addr, 8);
	user_write(test, addr + 2 * PAGE_SIZE, 8);
	KUNIT_EXPECT_EQ(test, *doorbell(0), 0);
	KUNIT_EXPECT_EQ(test, *doorbell(2), 7);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, DOORBELLS * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 1u);
}

static void a_part_of_a_mapping_taken_away_stays_so(struct kunit *test)
{
	unsigned long addr = map(test, DOORBELLS);

	rdma_user_mmap_disassociate(&hca->ibdev);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, live_mappings(), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 1u);
	user_write(test, addr + 2 * PAGE_SIZE, 8);
	KUNIT_EXPECT_EQ(test, *doorbell(2), 0);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, DOORBELLS * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, kref_read(&entry.ref), 1u);
}

struct other_process {
	unsigned long addr;
	bool mapped, told, ended;
};

/* Maps the device, waits until it was revoked, and writes to the doorbell. */
static void ring_in_thread(struct kunit *test, void *arg)
{
	struct other_process *other = arg;
	int i;

	other->addr = map(test, 1);
	user_write(test, other->addr, 1);
	other->mapped = true;
	for (i = 0; i < 1000 && !READ_ONCE(other->told); i++)
		schedule_timeout_uninterruptible(1);
	user_write(test, other->addr, 2);
	other->ended = true;
}

static bool other_mapped(void *arg)
{
	return READ_ONCE(((struct other_process *)arg)->mapped);
}

static bool no_reference(void *arg)
{
	return kref_read(&entry.ref) == 1;
}

static void all_processes_lose_the_device(struct kunit *test)
{
	struct other_process other = {};
	struct user_thread thread = { .fn = ring_in_thread, .test = test, .arg = &other };
	unsigned long addr = map(test, 1);

	KUNIT_ASSERT_EQ(test, user_thread_start(&thread), 0);
	KUNIT_ASSERT_TRUE(test, user_wait(other_mapped, &other));
	KUNIT_EXPECT_EQ(test, *doorbell(0), 1);
	KUNIT_EXPECT_EQ(test, live_mappings(), 2);
	uverbs_umaps_revoke(ufile);
	KUNIT_EXPECT_EQ(test, live_mappings(), 0);
	user_write(test, addr, 3);
	WRITE_ONCE(other.told, true);
	user_thread_join(&thread);
	KUNIT_EXPECT_TRUE(test, other.ended);
	KUNIT_EXPECT_EQ(test, *doorbell(0), 1);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
	/* The other process's mapping ended with it. */
	KUNIT_EXPECT_TRUE(test, user_wait(no_reference, NULL));
}

static void a_device_that_is_removed_is_taken_from_its_files(struct kunit *test)
{
	unsigned long addr = map(test, 1);

	user_write(test, addr, 1);
	rdma_user_mmap_entry_remove(&entry);
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, live_mappings(), 0);
	/* The last reference was put while the driver still existed. */
	KUNIT_EXPECT_TRUE(test, entry_freed);
	user_write(test, addr, 2);
	KUNIT_EXPECT_EQ(test, *doorbell(0), 1);
	KUNIT_EXPECT_EQ(test, vm_munmap(addr, PAGE_SIZE), 0);
}

static void go_in_thread(struct kunit *test, void *arg)
{
	ib_unregister_device(&hca->ibdev);
}

static void reset_in_thread(struct kunit *test, void *arg)
{
	rdma_user_mmap_disassociate(&hca->ibdev);
}

static bool waits(struct uverbs_device *dev, unsigned int n)
{
	return list_count_nodes(&dev->lock.wait_list) == n;
}

/*
 * ib_uverbs is also removed from a device, and added to it again, when
 * the device moves to another network namespace; its driver, which is
 * registered with it, may reset it meanwhile.
 */
static void a_reset_while_the_device_goes(struct kunit *test)
{
	struct user_thread goes = { .fn = go_in_thread, .test = test };
	struct user_thread resets = { .fn = reset_in_thread, .test = test };
	struct uverbs_device *dev = udev;
	int idx;

	umap_close();
	idx = srcu_read_lock(&dev->srcu);
	/* The references left are those of ib_uverbs and of the node. */
	uverbs_device_put(xchg(&udev, NULL));
	KUNIT_ASSERT_EQ(test, user_thread_start(&goes), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(READ_ONCE(dev->gone), 60000));
	mutex_lock(&dev->lock);
	srcu_read_unlock(&dev->srcu, idx);
	KUNIT_EXPECT_TRUE(test, wait_within(waits(dev, 1), 60000));
	KUNIT_ASSERT_EQ(test, user_thread_start(&resets), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(waits(dev, 2), 60000));
	KUNIT_EXPECT_GT(test, kref_read(&dev->ref), 1u);
	mutex_unlock(&dev->lock);
	user_thread_join(&goes);
	user_thread_join(&resets);
}

static struct kunit_case umap_cases[] = {
	KUNIT_CASE(a_mapping_shows_the_device_until_it_is_unmapped),
	KUNIT_CASE(a_mapping_taken_away_swallows_writes),
	KUNIT_CASE(a_mapping_made_later_shows_the_device_again),
	KUNIT_CASE(parts_of_a_mapping_are_taken_away_too),
	KUNIT_CASE(a_part_of_a_mapping_taken_away_stays_so),
	KUNIT_CASE(all_processes_lose_the_device),
	KUNIT_CASE(a_device_that_is_removed_is_taken_from_its_files),
	KUNIT_CASE(a_reset_while_the_device_goes),
	{}
};

static struct kunit_suite uverbs_umap_suite = {
	.name = "uverbs_umap",
	.init = umap_test_init,
	.exit = umap_test_exit,
	.test_cases = umap_cases,
};

kunit_test_suite(uverbs_umap_suite);
