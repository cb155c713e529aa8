// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA READs and WRITEs of lists: how they are split, and which need regions. */
#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <rdma/rw.h>
#include "faults.h"
#include "core/objects.h"

#define REMOTE		0x100000
#define RKEY		0x4711
#define PAGES_ORDER	4

static struct fake_hca *ib, *iwarp;
static struct net_device *ndev;		/* of the iWARP port */
static struct objects o;
static char *pages;
static struct scatterlist sg[12];

static int rw_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	ib = objects_hca(&params);
	params.link_layer = IB_LINK_LAYER_ETHERNET;
	params.iwarp = true;
	ndev = fake_netdev_create("fiw%d");
	if (!ndev)
		return -ENOMEM;
	params.ndev = ndev;
	iwarp = objects_hca(&params);
	pages = (char *)__get_free_pages(GFP_KERNEL, PAGES_ORDER);
	return ib && iwarp && pages ? 0 : -ENOMEM;
}

static void rw_test_exit(struct kunit *test)
{
	objects_put(&o);
	if (ib)
		fake_hca_destroy(ib);
	if (iwarp)
		fake_hca_destroy(iwarp);
	if (ndev)
		fake_netdev_destroy(ndev);
	free_pages((unsigned long)pages, PAGES_ORDER);
}

/* @n adjacent whole pages. */
static void list_pages(int n)
{
	int i;

	sg_init_table(sg, n);
	for (i = 0; i < n; i++)
		sg_set_buf(&sg[i], pages + i * PAGE_SIZE, PAGE_SIZE);
}

/* Two pages, a gap, and a part of another page. */
static void list_with_a_gap(void)
{
	sg_init_table(sg, 3);
	sg_set_buf(&sg[0], pages, PAGE_SIZE);
	sg_set_buf(&sg[1], pages + PAGE_SIZE, PAGE_SIZE);
	sg_set_buf(&sg[2], pages + 4 * PAGE_SIZE + 8, 64);
}

static int init(struct rdma_rw_ctx *ctx, int n, u32 offset, enum dma_data_direction dir)
{
	memset(ctx, 0, sizeof(*ctx));
	return rdma_rw_ctx_init(ctx, o.qp, 1, sg, n, offset, REMOTE, RKEY, dir);
}

static void done(struct rdma_rw_ctx *ctx, int n, enum dma_data_direction dir)
{
	rdma_rw_ctx_destroy(ctx, o.qp, 1, sg, n, dir);
}

static void a_write_takes_as_many_sges_as_the_queue_has(struct kunit *test)
{
	struct ib_cqe cqe = {};
	struct rdma_rw_ctx ctx;
	struct ib_send_wr *wr;
	int i, j, k = 0;

	KUNIT_ASSERT_EQ(test, objects_get(&o, ib, IB_POLL_SOFTIRQ, 4, 4, 0), 0);
	list_pages(10);
	KUNIT_ASSERT_EQ(test, init(&ctx, 10, 100, DMA_TO_DEVICE), 3);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, &cqe, NULL);
	for (i = 0; i < 3; i++, wr = wr->next) {
		KUNIT_ASSERT_NOT_NULL(test, wr);
		KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_RDMA_WRITE);
		KUNIT_EXPECT_EQ(test, wr->num_sge, i < 2 ? 4 : 2);
		KUNIT_EXPECT_EQ(test, rdma_wr(wr)->rkey, RKEY);
		KUNIT_EXPECT_EQ(test, rdma_wr(wr)->remote_addr,
				REMOTE + (k ? k * PAGE_SIZE - 100 : 0));
		for (j = 0; j < wr->num_sge; j++, k++) {
			int skip = k ? 0 : 100;

			KUNIT_EXPECT_EQ(test, wr->sg_list[j].addr,
					(uintptr_t)pages + k * PAGE_SIZE + skip);
			KUNIT_EXPECT_EQ(test, wr->sg_list[j].length, PAGE_SIZE - skip);
			KUNIT_EXPECT_EQ(test, wr->sg_list[j].lkey,
					o.pd->local_dma_lkey);
		}
		/* Only the last request is signaled. */
		KUNIT_EXPECT_EQ(test, wr->send_flags, i < 2 ? 0 : IB_SEND_SIGNALED);
		KUNIT_EXPECT_PTR_EQ(test, wr->wr_cqe, i < 2 ? NULL : &cqe);
	}
	KUNIT_EXPECT_NULL(test, wr);
	done(&ctx, 10, DMA_TO_DEVICE);
}

static void a_read_keeps_to_what_reads_take(struct kunit *test)
{
	struct rdma_rw_ctx ctx;

	ib->ibdev.attrs.max_sge_rd = 2;
	KUNIT_ASSERT_EQ(test, objects_get(&o, ib, IB_POLL_SOFTIRQ, 4, 4, 0), 0);
	list_pages(5);
	KUNIT_EXPECT_EQ(test, init(&ctx, 5, 0, DMA_FROM_DEVICE), 3);
	KUNIT_EXPECT_EQ(test, rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL)->opcode,
			IB_WR_RDMA_READ);
	done(&ctx, 5, DMA_FROM_DEVICE);
	KUNIT_EXPECT_EQ(test, init(&ctx, 5, 0, DMA_TO_DEVICE), 2);
	done(&ctx, 5, DMA_TO_DEVICE);
}

static void a_queue_without_sges_takes_one_entry_at_most(struct kunit *test)
{
	struct rdma_rw_ctx ctx;

	KUNIT_ASSERT_EQ(test, objects_get(&o, ib, IB_POLL_SOFTIRQ, 4, 0, 0), 0);
	list_pages(2);
	KUNIT_EXPECT_EQ(test, init(&ctx, 2, 0, DMA_TO_DEVICE), -EINVAL);
	KUNIT_EXPECT_EQ(test, init(&ctx, 1, 0, DMA_TO_DEVICE), 1);
	done(&ctx, 1, DMA_TO_DEVICE);
}

static void an_offset_skips_whole_entries(struct kunit *test)
{
	struct ib_send_wr *wr, chained = {};
	struct rdma_rw_ctx ctx;

	KUNIT_ASSERT_EQ(test, objects_get(&o, ib, IB_POLL_SOFTIRQ, 4, 4, 0), 0);
	list_pages(3);
	KUNIT_ASSERT_EQ(test, init(&ctx, 3, 2 * PAGE_SIZE + 8, DMA_TO_DEVICE), 1);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, &chained);
	KUNIT_EXPECT_EQ(test, wr->sg_list[0].addr, (uintptr_t)pages + 2 * PAGE_SIZE + 8);
	KUNIT_EXPECT_EQ(test, wr->sg_list[0].length, PAGE_SIZE - 8);
	/* The chained request signals the end. */
	KUNIT_EXPECT_PTR_EQ(test, wr->next, &chained);
	KUNIT_EXPECT_EQ(test, wr->send_flags, 0);
	done(&ctx, 3, DMA_TO_DEVICE);
	KUNIT_EXPECT_EQ(test, init(&ctx, 3, 3 * PAGE_SIZE, DMA_TO_DEVICE), -EINVAL);
}

/* The destination of an iWARP READ is an STag that the peer is given. */
static void an_iwarp_read_registers_its_sink(struct kunit *test)
{
	struct ib_cqe cqe = {};
	struct rdma_rw_ctx ctx;
	struct ib_send_wr *wr;
	u32 key[2];
	int i, round;

	KUNIT_ASSERT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 4, 1, 0), 0);
	list_with_a_gap();
	/* The READ invalidates the key itself, so the next use needs no LOCAL_INV. */
	for (round = 0; round < 2; round++) {
		KUNIT_ASSERT_EQ(test, init(&ctx, 3, 16, DMA_FROM_DEVICE), 4);
		KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 2);
		wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, &cqe, NULL);
		for (i = 0; i < 2; i++) {
			KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_REG_MR);
			KUNIT_EXPECT_EQ(test, reg_wr(wr)->access,
					IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
			KUNIT_EXPECT_EQ(test, reg_wr(wr)->key, reg_wr(wr)->mr->lkey);
			if (round)
				KUNIT_EXPECT_NE(test, reg_wr(wr)->key, key[i]);
			key[i] = reg_wr(wr)->key;
			wr = wr->next;
			KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_RDMA_READ_WITH_INV);
			KUNIT_EXPECT_EQ(test, wr->ex.invalidate_rkey, key[i]);
			KUNIT_EXPECT_EQ(test, wr->sg_list[0].lkey, key[i]);
			KUNIT_EXPECT_EQ(test, wr->sg_list[0].length,
					i ? 64 : 2 * PAGE_SIZE - 16);
			KUNIT_EXPECT_EQ(test, rdma_wr(wr)->remote_addr,
					REMOTE + (i ? 2 * PAGE_SIZE - 16 : 0));
			KUNIT_EXPECT_EQ(test, wr->send_flags,
					i ? IB_SEND_SIGNALED : 0);
			wr = wr->next;
		}
		KUNIT_EXPECT_NULL(test, wr);
		done(&ctx, 3, DMA_FROM_DEVICE);
		KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);
	}
	/* The source of a WRITE needs no region. */
	KUNIT_EXPECT_EQ(test, init(&ctx, 3, 0, DMA_TO_DEVICE), 3);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);
	done(&ctx, 3, DMA_TO_DEVICE);
}

static void a_long_read_registers_where_that_is_faster(struct kunit *test)
{
	struct rdma_rw_ctx ctx;
	struct ib_send_wr *wr;

	ib->ibdev.attrs.max_sgl_rd = 2;
	KUNIT_ASSERT_EQ(test, objects_get(&o, ib, IB_POLL_SOFTIRQ, 1, 1, 0), 0);
	list_pages(3);
	KUNIT_EXPECT_EQ(test, init(&ctx, 2, 0, DMA_FROM_DEVICE), 2);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);
	done(&ctx, 2, DMA_FROM_DEVICE);

	KUNIT_ASSERT_EQ(test, init(&ctx, 3, 0, DMA_FROM_DEVICE), 2);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_REG_MR);
	KUNIT_EXPECT_EQ(test, reg_wr(wr)->access, IB_ACCESS_LOCAL_WRITE);
	KUNIT_EXPECT_EQ(test, wr->next->opcode, IB_WR_RDMA_READ);
	done(&ctx, 3, DMA_FROM_DEVICE);

	/* Its key is still valid, and is invalidated before the next registration. */
	KUNIT_ASSERT_EQ(test, init(&ctx, 3, 0, DMA_FROM_DEVICE), 3);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_LOCAL_INV);
	KUNIT_EXPECT_NE(test, wr->ex.invalidate_rkey, reg_wr(wr->next)->key);
	KUNIT_EXPECT_EQ(test, wr->next->opcode, IB_WR_REG_MR);
	KUNIT_EXPECT_EQ(test, wr->next->next->opcode, IB_WR_RDMA_READ);
	done(&ctx, 3, DMA_FROM_DEVICE);
}

/* Regions only make it faster: without a free one the READ uses SGEs. */
static void a_long_read_does_without_a_region(struct kunit *test)
{
	struct rdma_rw_ctx ctx, other;
	struct ib_send_wr *wr;
	int i;

	ib->ibdev.attrs.max_sgl_rd = 2;
	ib->ibdev.attrs.max_sge_rd = 2;
	KUNIT_ASSERT_EQ(test, objects_get(&o, ib, IB_POLL_SOFTIRQ, 1, 2, 0), 0);
	list_pages(3);
	KUNIT_ASSERT_EQ(test, init(&other, 3, 0, DMA_FROM_DEVICE), 2);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 1);

	KUNIT_ASSERT_EQ(test, init(&ctx, 3, 8, DMA_FROM_DEVICE), 2);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 1);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	for (i = 0; i < 2; i++, wr = wr->next) {
		KUNIT_ASSERT_NOT_NULL(test, wr);
		KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_RDMA_READ);
		KUNIT_EXPECT_EQ(test, wr->num_sge, 2 - i);
		KUNIT_EXPECT_EQ(test, wr->sg_list[0].lkey, o.pd->local_dma_lkey);
		KUNIT_EXPECT_EQ(test, rdma_wr(wr)->remote_addr,
				REMOTE + (i ? 2 * PAGE_SIZE - 8 : 0));
	}
	KUNIT_EXPECT_NULL(test, wr);
	done(&ctx, 3, DMA_FROM_DEVICE);
	done(&other, 3, DMA_FROM_DEVICE);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);

	/* So does a list with an entry that is too long for a region. */
	ib->ibdev.attrs.max_fast_reg_page_list_len = 2;
	sg_init_table(sg, 3);
	sg_set_buf(&sg[0], pages, 3 * PAGE_SIZE);
	sg_set_buf(&sg[1], pages + 4 * PAGE_SIZE, PAGE_SIZE);
	sg_set_buf(&sg[2], pages + 6 * PAGE_SIZE, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, init(&ctx, 3, 0, DMA_FROM_DEVICE), 2);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, wr->sg_list[0].length, 3 * PAGE_SIZE);
	done(&ctx, 3, DMA_FROM_DEVICE);
}

static void a_region_maps_so_many_pages(struct kunit *test)
{
	struct rdma_rw_ctx ctx;
	int i;

	iwarp->ibdev.attrs.max_fast_reg_page_list_len = 2;
	KUNIT_ASSERT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 4, 1, 0), 0);
	list_pages(5);
	KUNIT_EXPECT_EQ(test, init(&ctx, 5, 0, DMA_FROM_DEVICE), 6);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 3);
	done(&ctx, 5, DMA_FROM_DEVICE);

	/* Entries share a page: four quarters of one, and half of the next. */
	sg_init_table(sg, 5);
	for (i = 0; i < 5; i++)
		sg_set_buf(&sg[i], pages + i * PAGE_SIZE / 4, PAGE_SIZE / 4);
	sg[4].length = PAGE_SIZE / 2;
	KUNIT_EXPECT_EQ(test, init(&ctx, 5, 0, DMA_FROM_DEVICE), 2);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 1);
	done(&ctx, 5, DMA_FROM_DEVICE);

	/* An entry that is too long for a region. */
	sg_init_table(sg, 1);
	sg_set_buf(&sg[0], pages, 3 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, init(&ctx, 1, 0, DMA_FROM_DEVICE), -EINVAL);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);
}

static void no_free_region_is_for_now(struct kunit *test)
{
	struct rdma_rw_ctx ctx, other;

	KUNIT_ASSERT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 2, 1, 0), 0);
	list_with_a_gap();
	KUNIT_ASSERT_EQ(test, init(&other, 1, 0, DMA_FROM_DEVICE), 2);
	KUNIT_EXPECT_EQ(test, init(&ctx, 3, 0, DMA_FROM_DEVICE), -EAGAIN);
	/* The region that it had taken was given back. */
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 1);
	done(&other, 1, DMA_FROM_DEVICE);
	KUNIT_EXPECT_EQ(test, init(&ctx, 3, 0, DMA_FROM_DEVICE), 4);
	done(&ctx, 3, DMA_FROM_DEVICE);
}

static int map_result;

static int refuse_map(struct ib_mr *mr, struct scatterlist *list, int nents,
		      unsigned int *offset)
{
	return map_result;
}

static void a_mapping_that_falls_short_is_undone(struct kunit *test)
{
	struct rdma_rw_ctx ctx;

	KUNIT_ASSERT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 2, 1, 0), 0);
	list_pages(3);
	iwarp->ibdev.ops.map_mr_sg = refuse_map;
	map_result = 2;
	KUNIT_EXPECT_EQ(test, init(&ctx, 3, 0, DMA_FROM_DEVICE), -EINVAL);
	map_result = -EIO;
	KUNIT_EXPECT_EQ(test, init(&ctx, 3, 0, DMA_FROM_DEVICE), -EIO);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);
}

static void sizes_of_queues(struct kunit *test)
{
	struct ib_device *dev = &ib->ibdev;

	KUNIT_EXPECT_EQ(test, rdma_rw_mr_factor(dev, 1, 256),
			256 / (ib->quirks.max_sge_rd ?: 8));
	KUNIT_EXPECT_EQ(test, rdma_rw_mr_factor(&iwarp->ibdev, 1, 256), 1);
	KUNIT_EXPECT_EQ(test, rdma_rw_mr_factor(&iwarp->ibdev, 1, 257), 2);
	/* Regions are kept small even if the device supports larger ones. */
	iwarp->ibdev.attrs.max_fast_reg_page_list_len = 4096;
	KUNIT_EXPECT_EQ(test, rdma_rw_mr_factor(&iwarp->ibdev, 1, 257), 2);
	dev->attrs.max_sge_rd = 0;
	KUNIT_EXPECT_EQ(test, rdma_rw_mr_factor(dev, 1, 10), 10);

	KUNIT_EXPECT_EQ(test, rdma_rw_max_send_wr(dev, 1, 10, 0), 10);
	KUNIT_EXPECT_EQ(test, rdma_rw_max_send_wr(&iwarp->ibdev, 1, 10, 0), 30);
	KUNIT_EXPECT_EQ(test, rdma_rw_max_send_wr(dev, 1, 10, IB_QP_CREATE_INTEGRITY_EN),
			30);
	KUNIT_EXPECT_EQ(test, rdma_rw_max_send_wr(&iwarp->ibdev, 1, U32_MAX / 2, 0),
			UINT_MAX);
}

static void a_queue_has_room_for_its_contexts(struct kunit *test)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 10, .max_rdma_ctxs = 20, .max_send_sge = 1 },
		.qp_type = IB_QPT_RC, .port_num = 1,
	};
	struct ib_qp *qp;
	int mrs;

	KUNIT_ASSERT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
	mrs = atomic_read(&iwarp->alive[FAKE_MR]);	/* the PD's region */
	attr.send_cq = o.cq;
	attr.recv_cq = o.cq;
	qp = ib_create_qp(o.pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, attr.cap.max_send_wr, 10 + 3 * 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&iwarp->alive[FAKE_MR]), mrs + 20);
	ib_destroy_qp(qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&iwarp->alive[FAKE_MR]), mrs);

	/* The send queue is limited to the maximum of the device. */
	iwarp->ibdev.attrs.max_qp_wr = 40;
	attr.cap.max_send_wr = 10;
	qp = ib_create_qp(o.pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, attr.cap.max_send_wr, 40);
	ib_destroy_qp(qp);
}

static void regions_that_run_out_leave_no_queue(struct kunit *test)
{
	int i, alive;

	KUNIT_ASSERT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
	objects_put(&o);
	alive = fake_hca_objects(iwarp);
	for (i = 1; i <= 4; i++) {
		atomic_set(&iwarp->fail_create[FAKE_MR], i);
		KUNIT_EXPECT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 4, 1, 0),
				-ENOMEM);
		KUNIT_EXPECT_EQ(test, fake_hca_objects(iwarp), alive);
	}
}

static int rw_once(struct kunit *test)
{
	enum dma_data_direction dir[] = { DMA_TO_DEVICE, DMA_FROM_DEVICE };
	struct rdma_rw_ctx ctx;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(dir); i++) {
		ret = init(&ctx, 3, 0, dir[i]);
		KUNIT_EXPECT_TRUE(test, ret > 0 || !o.qp->mrs_used);
		if (ret < 0)
			return ret;
		done(&ctx, 3, dir[i]);
	}
	return 0;
}

static void contexts_survive_each_failed_allocation(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, objects_get(&o, iwarp, IB_POLL_SOFTIRQ, 4, 2, 0), 0);
	list_with_a_gap();
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, rw_once), 3u);
}

static struct kunit_case rw_cases[] = {
	KUNIT_CASE(a_write_takes_as_many_sges_as_the_queue_has),
	KUNIT_CASE(a_read_keeps_to_what_reads_take),
	KUNIT_CASE(a_queue_without_sges_takes_one_entry_at_most),
	KUNIT_CASE(an_offset_skips_whole_entries),
	KUNIT_CASE(an_iwarp_read_registers_its_sink),
	KUNIT_CASE(a_long_read_registers_where_that_is_faster),
	KUNIT_CASE(a_long_read_does_without_a_region),
	KUNIT_CASE(a_region_maps_so_many_pages),
	KUNIT_CASE(no_free_region_is_for_now),
	KUNIT_CASE(a_mapping_that_falls_short_is_undone),
	KUNIT_CASE(sizes_of_queues),
	KUNIT_CASE(a_queue_has_room_for_its_contexts),
	KUNIT_CASE(regions_that_run_out_leave_no_queue),
	KUNIT_CASE(contexts_survive_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_rw_suite = {
	.name = "ib_core_rw",
	.init = rw_test_init,
	.exit = rw_test_exit,
	.test_cases = rw_cases,
};

kunit_test_suite(ibcore_rw_suite);
