// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Regions in dma-bufs: the part of the buffer that they cover, and when it may move. */
#include <linux/anon_inodes.h>
#include <linux/device.h>
#include <linux/dma-fence.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>
#include "exporter.h"
#include "faults.h"
#include "user/uverbs_test.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

/* Not registered; it has a DMA device, which other fake HCAs lack. */
static struct fake_hca *hca;
static struct device *dma_device;
static struct exporter exp;
static bool exported;
static int nr_moves, nr_revokes;
static bool revoked_in_time;
static bool once_pinned;

static int dmabuf_test_init(struct kunit *test)
{
	nr_moves = 0;
	nr_revokes = 0;
	revoked_in_time = false;
	hca = fake_hca_alloc(&ib_params);
	if (!hca)
		return -ENOMEM;
	dma_device = root_device_register("ibex_dmabuf_test");
	if (IS_ERR(dma_device))
		return PTR_ERR(dma_device);
	hca->ibdev.dma_device = dma_device;
	exported = !exporter_open(&exp, true);
	return exported ? 0 : -ENOMEM;
}

static void dmabuf_test_exit(struct kunit *test)
{
	if (exported)
		exporter_close(&exp);
	exported = false;
	if (hca)
		fake_hca_free(hca);
	hca = NULL;
	if (!IS_ERR_OR_NULL(dma_device))
		root_device_unregister(dma_device);
	dma_device = NULL;
}

static void move_notify(struct dma_buf_attachment *attach)
{
	nr_moves++;
	ib_umem_dmabuf_unmap_pages(attach->importer_priv);
}

static const struct dma_buf_attach_ops movable_ops = {
	.allow_peer2peer = true,
	.move_notify = move_notify,
};

static struct ib_umem_dmabuf *get(unsigned long offset, size_t size)
{
	return ib_umem_dmabuf_get(&hca->ibdev, offset, size, exp.fd,
				  IB_ACCESS_LOCAL_WRITE, &movable_ops);
}

static struct ib_umem_dmabuf *get_pinned(unsigned long offset, size_t size)
{
	return ib_umem_dmabuf_get_pinned(&hca->ibdev, offset, size, exp.fd, 0);
}

/* Returns with the reservation lock held on success. */
static struct ib_umem_dmabuf *get_locked(unsigned long offset, size_t size, int fd)
{
	return ib_umem_dmabuf_get_pinned_revocable_and_lock(&hca->ibdev, offset, size,
							    fd, 0);
}

static int map(struct ib_umem_dmabuf *region)
{
	int ret;

	ib_umem_dmabuf_revoke_lock(region);
	ret = ib_umem_dmabuf_map_pages(region);
	ib_umem_dmabuf_revoke_unlock(region);
	return ret;
}

static void unmap(struct ib_umem_dmabuf *region)
{
	ib_umem_dmabuf_revoke_lock(region);
	ib_umem_dmabuf_unmap_pages(region);
	ib_umem_dmabuf_revoke_unlock(region);
}

/* The DMA address of byte @at of the buffer. */
static u64 dma_of(unsigned long at)
{
	return EXPORT_DMA(at / EXPORT_SEG) + at % EXPORT_SEG;
}

static void expect_pages(struct kunit *test, struct ib_umem_dmabuf *region)
{
	unsigned long at = PAGE_ALIGN_DOWN(region->umem.address);
	unsigned long end = PAGE_ALIGN(region->umem.address + region->umem.length);
	struct ib_block_iter iter;
	u64 bytes = 0;
	struct scatterlist *sg;
	int i;

	rdma_umem_for_each_dma_block(&region->umem, &iter, PAGE_SIZE) {
		KUNIT_EXPECT_EQ(test, rdma_block_iter_dma_address(&iter), dma_of(at));
		at += PAGE_SIZE;
	}
	KUNIT_EXPECT_EQ(test, at, end);
	for_each_sgtable_dma_sg(&region->umem.sgt_append.sgt, sg, i)
		bytes += sg_dma_len(sg);
	KUNIT_EXPECT_EQ(test, bytes, end - PAGE_ALIGN_DOWN(region->umem.address));
}

static const struct {
	unsigned long offset, size;
} spans[] = {
	{ 0, EXPORT_SIZE },
	{ 0, 1 },
	{ EXPORT_SIZE - 1, 1 },
	{ PAGE_SIZE, PAGE_SIZE },
	{ PAGE_SIZE - 1, 2 },
	{ PAGE_SIZE + 100, 4 * PAGE_SIZE },
	{ EXPORT_SEG, EXPORT_SEG },
	{ EXPORT_SEG - 1, EXPORT_SEG + 2 },
	{ 3 * PAGE_SIZE + 5, EXPORT_SIZE - 3 * PAGE_SIZE - 5 },
};

static void a_region_describes_its_pages_of_the_buffer(struct kunit *test)
{
	struct ib_umem_dmabuf *region;
	int i, again;

	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		region = get(spans[i].offset, spans[i].size);
		KUNIT_ASSERT_FALSE(test, IS_ERR(region));
		KUNIT_EXPECT_TRUE(test, region->umem.is_dmabuf && region->umem.writable);
		KUNIT_EXPECT_EQ(test, region->umem.length, spans[i].size);
		KUNIT_EXPECT_EQ(test, exp.mapped, 0);
		KUNIT_EXPECT_EQ(test, ib_umem_find_best_pgsz(&region->umem, PAGE_SIZE,
							     region->umem.iova), 0ul);
		for (again = 0; again < 2; again++) {
			KUNIT_EXPECT_EQ(test, map(region), 0);
			KUNIT_EXPECT_EQ(test, map(region), 0);
			KUNIT_EXPECT_EQ(test, exp.mapped, 1);
			expect_pages(test, region);
			KUNIT_EXPECT_EQ(test,
					ib_umem_find_best_pgsz(&region->umem, PAGE_SIZE,
							       region->umem.iova), PAGE_SIZE);
			unmap(region);
			unmap(region);
			KUNIT_EXPECT_EQ(test, exp.mapped, 0);
		}
		KUNIT_EXPECT_EQ(test, map(region), 0);
		ib_umem_release(&region->umem);
		exporter_expect_idle(test, &exp);
	}
}

static void a_region_must_lie_in_the_buffer(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(0, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(0, EXPORT_SIZE + 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(EXPORT_SIZE, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(1, SIZE_MAX)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get_pinned(EXPORT_SIZE - 1, 2)), -EINVAL);
	exporter_expect_idle(test, &exp);
}

static const struct file_operations no_fops = {};

static void a_buffer_and_a_device_are_needed(struct kunit *test)
{
	static const struct dma_buf_attach_ops no_move = {};
	int fd;

	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_dmabuf_get(&hca->ibdev, 0, 1, -1, 0,
							 &movable_ops)), -EBADF);
	fd = anon_inode_getfd("[other]", &no_fops, NULL, O_RDWR);
	KUNIT_ASSERT_GE(test, fd, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_dmabuf_get(&hca->ibdev, 0, 1, fd, 0,
							 &movable_ops)), -EINVAL);
	close_fd(fd);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_dmabuf_get(&hca->ibdev, 0, 1, exp.fd, 0,
							 &no_move)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_umem_dmabuf_get(&hca->ibdev, 0, 1, exp.fd, 0,
							 NULL)), -EINVAL);
	hca->ibdev.dma_device = NULL;
	KUNIT_EXPECT_EQ(test, PTR_ERR(get(0, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get_pinned(0, 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(get_locked(0, 1, exp.fd)), -EINVAL);
	exporter_expect_idle(test, &exp);
}

/* The DMA device may be another than that of the RDMA device. */
static void a_region_is_mapped_for_the_device_named(struct kunit *test)
{
	struct device *other = root_device_register("ibex_dmabuf_other");
	struct ib_umem_dmabuf *region;

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	hca->ibdev.dma_device = NULL;
	region = ib_umem_dmabuf_get_pinned_with_dma_device(&hca->ibdev, other, 0, 100,
							   exp.fd, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(region));
	if (!IS_ERR(region)) {
		KUNIT_EXPECT_PTR_EQ(test, region->attach->dev, other);
		KUNIT_EXPECT_FALSE(test, region->umem.writable);
		ib_umem_release(&region->umem);
	}
	exporter_expect_idle(test, &exp);
	root_device_unregister(other);
}

static void a_movable_region_is_mapped_again_after_a_move(struct kunit *test)
{
	struct ib_umem_dmabuf *region = get(PAGE_SIZE, EXPORT_SEG);

	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_EXPECT_EQ(test, map(region), 0);
	exporter_move(&exp);
	KUNIT_EXPECT_EQ(test, nr_moves, 1);
	KUNIT_EXPECT_EQ(test, exp.mapped, 0);
	KUNIT_EXPECT_EQ(test, region->umem.sgt_append.sgt.nents, 0u);
	KUNIT_EXPECT_EQ(test, map(region), 0);
	KUNIT_EXPECT_EQ(test, exp.maps, 2);
	expect_pages(test, region);
	ib_umem_release(&region->umem);
	exporter_move(&exp);
	KUNIT_EXPECT_EQ(test, nr_moves, 1);
	exporter_expect_idle(test, &exp);
}

static void a_pinned_region_is_mapped_and_pinned_until_released(struct kunit *test)
{
	struct ib_umem_dmabuf *region = get_pinned(PAGE_SIZE, EXPORT_SEG);

	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(exp.dmabuf->resv));
	KUNIT_EXPECT_GE(test, exp.pinned, 1);
	KUNIT_EXPECT_TRUE(test, region->pinned);
	expect_pages(test, region);
	/* A move is not allowed here, and changes nothing. */
	exporter_move(&exp);
	KUNIT_EXPECT_EQ(test, exp.mapped, 1);
	KUNIT_EXPECT_GE(test, exp.pinned, 1);
	ib_umem_release(&region->umem);
	exporter_expect_idle(test, &exp);
}

static void an_exporters_refusal_leaves_nothing(struct kunit *test)
{
	struct ib_umem_dmabuf *region;

	exp.fail_pin = -EBUSY;
	KUNIT_EXPECT_EQ(test, PTR_ERR(get_pinned(0, 1)), -EBUSY);
	exporter_expect_idle(test, &exp);
	exp.fail_pin = 0;
	exp.fail_map = -ENOSPC;
	KUNIT_EXPECT_EQ(test, PTR_ERR(get_pinned(0, 1)), -ENOSPC);
	exporter_expect_idle(test, &exp);

	/* The table covers less than promised: nothing of the region, or not its end. */
	exp.fail_map = 0;
	exp.segs = 2;
	KUNIT_EXPECT_EQ(test, PTR_ERR(get_pinned(2 * EXPORT_SEG, 1)), -EINVAL);
	region = get(0, 2 * EXPORT_SEG + 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_EXPECT_EQ(test, map(region), -EINVAL);
	KUNIT_EXPECT_EQ(test, exp.mapped, 0);
	/* The failed map does not end the region. */
	exp.segs = EXPORT_SEGS;
	KUNIT_EXPECT_EQ(test, map(region), 0);
	ib_umem_release(&region->umem);
	exporter_expect_idle(test, &exp);
}

static void revoke(void *priv)
{
	dma_resv_assert_held(exp.dmabuf->resv);
	nr_revokes++;
	/* The device owns the pages until this callback returns. */
	revoked_in_time = priv == &nr_revokes && exp.mapped && exp.pinned;
}

static struct ib_umem_dmabuf *get_revocable(struct kunit *test)
{
	struct ib_umem_dmabuf *region;

	region = get_locked(PAGE_SIZE, EXPORT_SEG, exp.fd);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_EXPECT_TRUE(test, dma_resv_is_locked(exp.dmabuf->resv));
	expect_pages(test, region);
	ib_umem_dmabuf_set_revoke_locked(region, revoke, &nr_revokes);
	ib_umem_dmabuf_revoke_unlock(region);
	return region;
}

static void an_exporter_takes_a_revocable_region_back_once(struct kunit *test)
{
	struct ib_umem_dmabuf *region = get_revocable(test);

	exporter_move(&exp);
	KUNIT_EXPECT_EQ(test, nr_revokes, 1);
	KUNIT_EXPECT_TRUE(test, revoked_in_time);
	KUNIT_EXPECT_EQ(test, exp.mapped, 0);
	KUNIT_EXPECT_EQ(test, exp.pinned, 0);
	KUNIT_EXPECT_TRUE(test, region->revoked);
	exporter_move(&exp);
	ib_umem_dmabuf_revoke(region);
	KUNIT_EXPECT_EQ(test, nr_revokes, 1);
	KUNIT_EXPECT_EQ(test, map(region), -EINVAL);
	ib_umem_release(&region->umem);
	exporter_expect_idle(test, &exp);
}

static void a_driver_gives_a_region_back_itself(struct kunit *test)
{
	struct ib_umem_dmabuf *region = get_revocable(test);

	ib_umem_dmabuf_revoke(region);
	KUNIT_EXPECT_EQ(test, nr_revokes, 1);
	KUNIT_EXPECT_EQ(test, exp.pinned, 0);
	ib_umem_release(&region->umem);

	/* A region that the exporter cannot revoke. */
	region = get_pinned(0, EXPORT_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	ib_umem_dmabuf_revoke(region);
	KUNIT_EXPECT_EQ(test, exp.pinned, 0);
	KUNIT_EXPECT_EQ(test, exp.mapped, 0);
	KUNIT_EXPECT_EQ(test, map(region), -EINVAL);
	ib_umem_release(&region->umem);
	exporter_expect_idle(test, &exp);
}

static void a_release_does_not_call_the_driver_back(struct kunit *test)
{
	struct ib_umem_dmabuf *region = get_revocable(test);

	ib_umem_release(&region->umem);
	KUNIT_EXPECT_EQ(test, nr_revokes, 0);
	exporter_expect_idle(test, &exp);
}

/* A static exporter maps on attachment, before the importer has the attachment. */
static void a_region_revoked_before_it_is_pinned_is_not_got(struct kunit *test)
{
	struct exporter fixed;
	struct ib_umem_dmabuf *region;

	KUNIT_ASSERT_EQ(test, exporter_open(&fixed, false), 0);
	fixed.move_while_mapping = true;
	KUNIT_EXPECT_EQ(test, PTR_ERR(get_locked(0, 1, fixed.fd)), -EINVAL);
	exporter_expect_idle(test, &fixed);
	/* Otherwise a buffer that cannot move can be used as well. */
	fixed.move_while_mapping = false;
	region = ib_umem_dmabuf_get_pinned(&hca->ibdev, EXPORT_SEG, PAGE_SIZE, fixed.fd, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(region));
	if (!IS_ERR(region)) {
		expect_pages(test, region);
		ib_umem_release(&region->umem);
	}
	exporter_expect_idle(test, &fixed);
	exporter_close(&fixed);
}

static const char *fence_name(struct dma_fence *fence)
{
	return "ibex_move";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
};

struct move {
	struct dma_fence fence;
	spinlock_t lock;		/* of the fence */
	struct delayed_work done;
};

static void move_done(struct work_struct *work)
{
	struct move *move = container_of(to_delayed_work(work), struct move, done);

	dma_fence_signal(&move->fence);
}

/* The exporter takes 50 ms to copy the buffer to its new place. */
static void mapping_waits_for_the_move_to_be_done(struct kunit *test)
{
	struct ib_umem_dmabuf *region = get(0, EXPORT_SIZE);
	struct move *move = kzalloc(sizeof(*move), GFP_KERNEL);
	unsigned long begin = jiffies;

	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_ASSERT_NOT_NULL(test, move);
	spin_lock_init(&move->lock);
	dma_fence_init(&move->fence, &fence_ops, &move->lock, dma_fence_context_alloc(1), 1);
	INIT_DELAYED_WORK(&move->done, move_done);

	ib_umem_dmabuf_revoke_lock(region);
	KUNIT_EXPECT_EQ(test, dma_resv_reserve_fences(exp.dmabuf->resv, 1), 0);
	dma_resv_add_fence(exp.dmabuf->resv, &move->fence, DMA_RESV_USAGE_KERNEL);
	schedule_delayed_work(&move->done, msecs_to_jiffies(50));
	KUNIT_EXPECT_EQ(test, ib_umem_dmabuf_map_pages(region), 0);
	KUNIT_EXPECT_TRUE(test, dma_fence_is_signaled(&move->fence));
	KUNIT_EXPECT_GE(test, jiffies - begin, msecs_to_jiffies(50));
	ib_umem_dmabuf_revoke_unlock(region);

	flush_delayed_work(&move->done);
	ib_umem_release(&region->umem);
	exporter_expect_idle(test, &exp);
	/* The fence is at the start of struct move, so that RCU frees the struct. */
	dma_fence_put(&move->fence);
}

static int dmabuf_once(struct kunit *test)
{
	struct ib_umem_dmabuf *region;
	int ret;

	region = once_pinned ? get_pinned(0, EXPORT_SIZE) : get(0, EXPORT_SIZE);
	if (IS_ERR(region))
		return PTR_ERR(region);
	ret = once_pinned ? 0 : map(region);
	ib_umem_release(&region->umem);
	return ret;
}

static void a_region_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, dmabuf_once), 3u);
	exporter_expect_idle(test, &exp);
	once_pinned = true;
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, dmabuf_once), 3u);
	once_pinned = false;
	exporter_expect_idle(test, &exp);
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE(a_region_describes_its_pages_of_the_buffer),
	KUNIT_CASE(a_region_must_lie_in_the_buffer),
	KUNIT_CASE(a_buffer_and_a_device_are_needed),
	KUNIT_CASE(a_region_is_mapped_for_the_device_named),
	KUNIT_CASE(a_movable_region_is_mapped_again_after_a_move),
	KUNIT_CASE(a_pinned_region_is_mapped_and_pinned_until_released),
	KUNIT_CASE(an_exporters_refusal_leaves_nothing),
	KUNIT_CASE(an_exporter_takes_a_revocable_region_back_once),
	KUNIT_CASE(a_driver_gives_a_region_back_itself),
	KUNIT_CASE(a_release_does_not_call_the_driver_back),
	KUNIT_CASE(a_region_revoked_before_it_is_pinned_is_not_got),
	KUNIT_CASE(mapping_waits_for_the_move_to_be_done),
	KUNIT_CASE(a_region_survives_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_dmabuf_suite = {
	.name = "uverbs_dmabuf",
	.init = dmabuf_test_init,
	.exit = dmabuf_test_exit,
	.test_cases = dmabuf_cases,
};

kunit_test_suite(uverbs_dmabuf_suite);
