// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Device memory that processes map: offsets, references, mappings. */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include "device/device.h"
#include "verbs/verbs.h"
#include "faults.h"
#include "core/objects.h"

struct region {
	struct rdma_user_mmap_entry entry;
	bool freed;
};

static struct fake_hca *hca;
static struct rdma_umaps umaps;
static struct ib_ucontext *ctx;

static void region_free(struct rdma_user_mmap_entry *entry)
{
	struct region *r = container_of(entry, struct region, entry);

	WARN_ON(r->freed);
	r->freed = true;
}

static int umap_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	hca = fake_hca_create(&params);
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!hca || !ctx)
		return -ENOMEM;
	hca->ibdev.ops.mmap_free = region_free;
	mutex_init(&umaps.lock);
	INIT_LIST_HEAD(&umaps.list);
	ctx->device = &hca->ibdev;
	ctx->ufile = (struct ib_uverbs_file *)&umaps;
	xa_init_flags(&ctx->mmap_xa, XA_FLAGS_ALLOC);
	return 0;
}

static void umap_test_exit(struct kunit *test)
{
	if (ctx)
		KUNIT_EXPECT_TRUE(test, xa_empty(&ctx->mmap_xa));
	KUNIT_EXPECT_TRUE(test, list_empty(&umaps.list));
	kfree(ctx);
	ctx = NULL;
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static int insert(struct region *r, size_t length)
{
	memset(r, 0, sizeof(*r));
	return rdma_user_mmap_entry_insert(ctx, &r->entry, length);
}

static int insert_range(struct region *r, size_t npages, u32 min, u32 max)
{
	memset(r, 0, sizeof(*r));
	return rdma_user_mmap_entry_insert_range(ctx, &r->entry, npages * PAGE_SIZE, min,
						 max);
}

static void an_entry_is_found_where_it_starts(struct kunit *test)
{
	struct rdma_user_mmap_entry *found;
	struct region a, b;
	u64 offset;

	KUNIT_EXPECT_EQ(test, insert(&a, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert(ctx, NULL, 4096), -EINVAL);
	/* Sizes are rounded up to whole pages. */
	KUNIT_ASSERT_EQ(test, insert(&a, 3 * PAGE_SIZE - 100), 0);
	KUNIT_ASSERT_EQ(test, insert(&b, 1), 0);
	KUNIT_EXPECT_EQ(test, a.entry.npages, 3);
	KUNIT_EXPECT_EQ(test, b.entry.npages, 1);
	offset = rdma_user_mmap_get_offset(&b.entry);
	KUNIT_EXPECT_EQ(test, offset, 3 * PAGE_SIZE);

	found = rdma_user_mmap_entry_get_pgoff(ctx, 0);
	KUNIT_EXPECT_PTR_EQ(test, found, &a.entry);
	rdma_user_mmap_entry_put(found);
	/* An entry is not found by an offset in its middle, or behind its end. */
	KUNIT_EXPECT_NULL(test, rdma_user_mmap_entry_get_pgoff(ctx, 1));
	KUNIT_EXPECT_NULL(test, rdma_user_mmap_entry_get_pgoff(ctx, 4));
	rdma_user_mmap_entry_remove(&a.entry);
	rdma_user_mmap_entry_remove(&b.entry);
	rdma_user_mmap_entry_remove(NULL);
	KUNIT_EXPECT_TRUE(test, a.freed && b.freed);
}

static void a_removed_entry_stays_for_its_mappings(struct kunit *test)
{
	struct rdma_user_mmap_entry *held;
	struct region a, b;

	KUNIT_ASSERT_EQ(test, insert(&a, PAGE_SIZE), 0);
	held = rdma_user_mmap_entry_get_pgoff(ctx, a.entry.start_pgoff);
	KUNIT_ASSERT_NOT_NULL(test, held);
	rdma_user_mmap_entry_remove(&a.entry);
	KUNIT_EXPECT_FALSE(test, a.freed);
	/* The entry is not found any more, but its offset is still taken. */
	KUNIT_EXPECT_NULL(test, rdma_user_mmap_entry_get_pgoff(ctx, 0));
	KUNIT_ASSERT_EQ(test, insert(&b, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, b.entry.start_pgoff, 1);
	rdma_user_mmap_entry_put(held);
	KUNIT_EXPECT_TRUE(test, a.freed);
	KUNIT_ASSERT_EQ(test, insert(&a, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, a.entry.start_pgoff, 0);
	rdma_user_mmap_entry_remove(&a.entry);
	rdma_user_mmap_entry_remove(&b.entry);
}

static void a_range_is_kept_and_its_gaps_are_used(struct kunit *test)
{
	struct region r[4], x;
	int i;

	/* Eight offsets: four entries of 2 pages. */
	for (i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, insert_range(&r[i], 2, 100, 107), 0);
		KUNIT_EXPECT_EQ(test, r[i].entry.start_pgoff, 100 + 2 * i);
	}
	KUNIT_EXPECT_EQ(test, insert_range(&x, 1, 100, 107), -ENOMEM);
	/* Three pages fit neither in a gap of two, nor in the two at the end. */
	rdma_user_mmap_entry_remove(&r[1].entry);
	KUNIT_EXPECT_EQ(test, insert_range(&x, 3, 100, 107), -ENOMEM);
	rdma_user_mmap_entry_remove(&r[3].entry);
	KUNIT_EXPECT_EQ(test, insert_range(&x, 3, 100, 107), -ENOMEM);
	KUNIT_EXPECT_EQ(test, insert_range(&x, 3, 100, 108), 0);
	KUNIT_EXPECT_EQ(test, x.entry.start_pgoff, 106);
	rdma_user_mmap_entry_remove(&x.entry);
	KUNIT_EXPECT_EQ(test, insert_range(&x, 1, 101, 107), 0);
	KUNIT_EXPECT_EQ(test, x.entry.start_pgoff, 102);
	rdma_user_mmap_entry_remove(&x.entry);
	/* The range includes both its ends. */
	KUNIT_EXPECT_EQ(test, insert_range(&x, 1, 9, 9), 0);
	KUNIT_EXPECT_EQ(test, x.entry.start_pgoff, 9);
	rdma_user_mmap_entry_remove(&x.entry);
	KUNIT_EXPECT_EQ(test, insert_range(&x, 2, 9, 9), -ENOMEM);
	KUNIT_EXPECT_EQ(test, insert_range(&x, 1, 10, 9), -ENOMEM);
	KUNIT_EXPECT_EQ(test, insert_range(&x, 2, U32_MAX - 1, U32_MAX), 0);
	KUNIT_EXPECT_EQ(test, x.entry.start_pgoff, U32_MAX - 1);
	rdma_user_mmap_entry_remove(&x.entry);
	rdma_user_mmap_entry_remove(&r[0].entry);
	rdma_user_mmap_entry_remove(&r[2].entry);
}

static int insert_once(struct kunit *test)
{
	struct region r[3];
	int i, ret = 0;

	for (i = 0; i < 3 && !ret; i++)
		ret = insert_range(&r[i], 70, 1000 * i, U32_MAX);
	if (ret)
		i--;
	while (i--)
		rdma_user_mmap_entry_remove(&r[i].entry);
	KUNIT_EXPECT_TRUE(test, xa_empty(&ctx->mmap_xa));
	return ret;
}

static void entries_survive_each_failed_allocation(struct kunit *test)
{
	/* An XArray tries each of its own allocations twice. */
	ibex_each_allocation(test, insert_once);
	KUNIT_EXPECT_EQ(test, insert_once(test), 0);
}

/* ---- mappings ---- */

static struct page *memory;
static int mmap_ret;
static bool of_entry;	/* map the entry at the offset, or memory without an entry */

static void umap_close(struct vm_area_struct *vma)
{
	struct rdma_umap_priv *priv = vma->vm_private_data;

	mutex_lock(&umaps.lock);
	list_del(&priv->list);
	mutex_unlock(&umaps.lock);
	if (priv->entry)
		rdma_user_mmap_entry_put(priv->entry);
	kfree(priv);
}

static const struct vm_operations_struct umap_vm_ops = { .close = umap_close };

/* The part of ib_uverbs and of the driver. */
static int umap_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = NULL;

	if (of_entry) {
		entry = rdma_user_mmap_entry_get(ctx, vma);
		if (!entry) {
			mmap_ret = -ENOENT;
			return mmap_ret;
		}
	}
	mmap_ret = rdma_user_mmap_io(ctx, vma, page_to_pfn(memory), PAGE_SIZE,
				     vma->vm_page_prot, entry);
	if (!mmap_ret)
		vma->vm_ops = &umap_vm_ops;
	if (entry)
		rdma_user_mmap_entry_put(entry);
	return mmap_ret;
}

static const struct file_operations umap_fops = {
	.owner = THIS_MODULE,
	.mmap = umap_mmap,
};

static unsigned long map(struct kunit *test, struct file *file, size_t len, u32 flags,
			 unsigned long pgoff)
{
	return kunit_vm_mmap(test, file, 0, len, PROT_READ, flags, pgoff << PAGE_SHIFT);
}

/* KUnit would drop the mm at the end of the thread, and leak a reference. */
static void drop_mm(void)
{
	struct mm_struct *mm = current->mm;

	if (!mm)
		return;
	kthread_unuse_mm(mm);
	mmput(mm);
}

static void a_mapping_holds_its_entry(struct kunit *test)
{
	struct rdma_umap_priv *priv;
	struct region r;
	struct file *file;
	unsigned long at;

	memory = alloc_page(GFP_KERNEL);
	file = anon_inode_getfile("umap", &umap_fops, &umaps, O_RDWR);
	KUNIT_ASSERT_FALSE(test, !memory || IS_ERR(file));
	KUNIT_ASSERT_EQ(test, insert(&r, PAGE_SIZE), 0);
	of_entry = true;

	/* A private mapping, one of another length, one of no entry. */
	map(test, file, PAGE_SIZE, MAP_PRIVATE, r.entry.start_pgoff);
	KUNIT_EXPECT_EQ(test, mmap_ret, -ENOENT);
	map(test, file, 2 * PAGE_SIZE, MAP_SHARED, r.entry.start_pgoff);
	KUNIT_EXPECT_EQ(test, mmap_ret, -ENOENT);
	map(test, file, PAGE_SIZE, MAP_SHARED, r.entry.start_pgoff + 1);
	KUNIT_EXPECT_EQ(test, mmap_ret, -ENOENT);

	at = map(test, file, PAGE_SIZE, MAP_SHARED, r.entry.start_pgoff);
	KUNIT_EXPECT_EQ(test, mmap_ret, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	priv = list_first_entry_or_null(&umaps.list, struct rdma_umap_priv, list);
	KUNIT_ASSERT_NOT_NULL(test, priv);
	KUNIT_EXPECT_PTR_EQ(test, priv->entry, &r.entry);
	KUNIT_EXPECT_EQ(test, priv->vma->vm_start, at);
	rdma_user_mmap_entry_remove(&r.entry);
	KUNIT_EXPECT_FALSE(test, r.freed);
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	KUNIT_EXPECT_TRUE(test, r.freed);
	KUNIT_EXPECT_TRUE(test, list_empty(&umaps.list));

	/* Memory without an entry must fit the mapping, too. */
	of_entry = false;
	map(test, file, PAGE_SIZE, MAP_PRIVATE, 0);
	KUNIT_EXPECT_EQ(test, mmap_ret, -EINVAL);
	map(test, file, 2 * PAGE_SIZE, MAP_SHARED, 0);
	KUNIT_EXPECT_EQ(test, mmap_ret, -EINVAL);
	at = map(test, file, PAGE_SIZE, MAP_SHARED, 7);
	KUNIT_EXPECT_EQ(test, mmap_ret, 0);
	KUNIT_EXPECT_FALSE(test, list_empty(&umaps.list));
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
	drop_mm();
	fput(file);
	flush_delayed_fput();
	__free_page(memory);
}

static int map_once(struct kunit *test)
{
	struct file *file = test->priv;
	unsigned long at;

	mmap_ret = -ENOMEM;
	at = vm_mmap(file, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 0);
	if (IS_ERR_VALUE(at)) {
		KUNIT_EXPECT_TRUE(test, list_empty(&umaps.list));
		return (int)at;
	}
	vm_munmap(at, PAGE_SIZE);
	return 0;
}

static void mappings_survive_each_failed_allocation(struct kunit *test)
{
	struct file *file;

	memory = alloc_page(GFP_KERNEL);
	file = anon_inode_getfile("umap", &umap_fops, &umaps, O_RDWR);
	KUNIT_ASSERT_FALSE(test, !memory || IS_ERR(file));
	of_entry = false;
	test->priv = file;
	/* The first map gives the thread an mm. */
	vm_munmap(map(test, file, PAGE_SIZE, MAP_SHARED, 0), PAGE_SIZE);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, map_once), 1u);
	drop_mm();
	fput(file);
	flush_delayed_fput();
	__free_page(memory);
}

static struct kunit_case umap_cases[] = {
	KUNIT_CASE(an_entry_is_found_where_it_starts),
	KUNIT_CASE(a_removed_entry_stays_for_its_mappings),
	KUNIT_CASE(a_range_is_kept_and_its_gaps_are_used),
	KUNIT_CASE(entries_survive_each_failed_allocation),
	KUNIT_CASE(a_mapping_holds_its_entry),
	KUNIT_CASE(mappings_survive_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_umap_suite = {
	.name = "ib_core_umap",
	.init = umap_test_init,
	.exit = umap_test_exit,
	.test_cases = umap_cases,
};

kunit_test_suite(ibcore_umap_suite);
