// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* READs and WRITEs with protection information. */
#include <kunit/test.h>
#include <linux/scatterlist.h>
#include <rdma/rw.h>
#include <rdma/signature.h>
#include "faults.h"
#include "core/objects.h"

#define DATA_LEN	(2 * PAGE_SIZE)
#define META_LEN	64

static struct fake_hca *hca;
static struct objects o;
static char *pages;
static struct scatterlist data[2], meta[1];
static int pi_result;
static int pi_data_nents, pi_meta_nents;

static struct ib_mr *sig_alloc_mr(struct ib_pd *pd, u32 max_data, u32 max_meta)
{
	return pd->device->ops.alloc_mr(pd, IB_MR_TYPE_MEM_REG, max_data);
}

static int sig_map(struct ib_mr *mr, struct scatterlist *d, int d_nents,
		   unsigned int *d_offset, struct scatterlist *m, int m_nents,
		   unsigned int *m_offset)
{
	pi_data_nents = d_nents;
	pi_meta_nents = m_nents;
	mr->iova = 0x1000;
	/* Like mlx5, which counts the metadata and sets its length here only. */
	mr->sig_attrs->meta_length = m_nents ? sg_dma_len(m) : 0;
	mr->length = DATA_LEN + mr->sig_attrs->meta_length;
	return pi_result;
}

static int sig_check(struct ib_mr *mr, u32 mask, struct ib_mr_status *status)
{
	status->fail_status = mask;
	return 0;
}

static int sig_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	hca = objects_hca(&params);
	pages = (char *)__get_free_pages(GFP_KERNEL, 2);
	if (!hca || !pages)
		return -ENOMEM;
	hca->ibdev.attrs.kernel_cap_flags |= IBK_INTEGRITY_HANDOVER;
	hca->ibdev.attrs.max_pi_fast_reg_page_list_len = 128;
	hca->ibdev.ops.alloc_mr_integrity = sig_alloc_mr;
	hca->ibdev.ops.map_mr_sg_pi = sig_map;
	hca->ibdev.ops.check_mr_status = sig_check;
	sg_init_table(data, 2);
	sg_set_buf(&data[0], pages, PAGE_SIZE);
	sg_set_buf(&data[1], pages + PAGE_SIZE, PAGE_SIZE);
	sg_init_table(meta, 1);
	sg_set_buf(&meta[0], pages + 2 * PAGE_SIZE, META_LEN);
	pi_result = 0;
	return 0;
}

static void sig_test_exit(struct kunit *test)
{
	objects_put(&o);
	if (hca)
		fake_hca_destroy(hca);
	free_pages((unsigned long)pages, 2);
}

static int get(u32 ctxs)
{
	return objects_get(&o, hca, IB_POLL_SOFTIRQ, ctxs, 1, IB_QP_CREATE_INTEGRITY_EN);
}

static int init(struct rdma_rw_ctx *ctx, struct ib_sig_attrs *sig, int prot_cnt,
		enum dma_data_direction dir)
{
	memset(ctx, 0, sizeof(*ctx));
	return rdma_rw_ctx_signature_init(ctx, o.qp, 1, data, 2, meta, prot_cnt, sig,
					  0x2000, 0x77, dir);
}

static void done(struct rdma_rw_ctx *ctx, int prot_cnt, enum dma_data_direction dir)
{
	rdma_rw_ctx_destroy_signature(ctx, o.qp, 1, data, 2, meta, prot_cnt, dir);
}

static void one_region_maps_data_and_metadata(struct kunit *test)
{
	struct ib_sig_attrs sig = {
		.mem.sig_type = IB_SIG_TYPE_T10_DIF,
		.wire.sig_type = IB_SIG_TYPE_T10_DIF,
	};
	struct ib_mr_status status = {};
	struct rdma_rw_ctx ctx;
	struct ib_sig_attrs *copy;
	struct ib_send_wr *wr;

	KUNIT_ASSERT_EQ(test, get(1), 0);
	KUNIT_ASSERT_EQ(test, init(&ctx, &sig, 1, DMA_FROM_DEVICE), 2);
	KUNIT_EXPECT_EQ(test, pi_data_nents, 2);
	KUNIT_EXPECT_EQ(test, pi_meta_nents, 1);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_REG_MR_INTEGRITY);
	copy = reg_wr(wr)->mr->sig_attrs;
	KUNIT_EXPECT_EQ(test, copy->meta_length, META_LEN);
	copy->meta_length = 0;
	KUNIT_EXPECT_MEMEQ(test, copy, &sig, sizeof(sig));
	KUNIT_EXPECT_EQ(test, reg_wr(wr)->mr->type, IB_MR_TYPE_INTEGRITY);
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(reg_wr(wr)->mr, 5, &status), 0);
	KUNIT_EXPECT_EQ(test, status.fail_status, 5);
	wr = wr->next;
	KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_RDMA_READ);
	KUNIT_EXPECT_EQ(test, wr->sg_list[0].length, DATA_LEN + META_LEN);
	KUNIT_EXPECT_EQ(test, rdma_wr(wr)->remote_addr, 0x2000);
	KUNIT_EXPECT_EQ(test, rdma_wr(wr)->rkey, 0x77);
	KUNIT_EXPECT_NULL(test, wr->next);
	done(&ctx, 1, DMA_FROM_DEVICE);

	/* The key of its last use is invalidated before it is registered again. */
	KUNIT_ASSERT_EQ(test, init(&ctx, &sig, 1, DMA_TO_DEVICE), 3);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, wr->opcode, IB_WR_LOCAL_INV);
	KUNIT_EXPECT_EQ(test, wr->next->opcode, IB_WR_REG_MR_INTEGRITY);
	KUNIT_EXPECT_EQ(test, wr->next->next->opcode, IB_WR_RDMA_WRITE);
	done(&ctx, 1, DMA_TO_DEVICE);
}

static void what_the_wire_does_not_carry_is_not_sent(struct kunit *test)
{
	struct ib_sig_attrs sig = {
		.mem.sig_type = IB_SIG_TYPE_T10_DIF,
		.wire.sig_type = IB_SIG_TYPE_NONE,
	};
	struct rdma_rw_ctx ctx;
	struct ib_send_wr *wr;

	/* The device inserts or strips the metadata. */
	KUNIT_ASSERT_EQ(test, get(1), 0);
	KUNIT_ASSERT_EQ(test, init(&ctx, &sig, 1, DMA_FROM_DEVICE), 2);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, wr->next->sg_list[0].length, DATA_LEN);
	done(&ctx, 1, DMA_FROM_DEVICE);

	/* There is no metadata in memory either. */
	KUNIT_ASSERT_EQ(test, init(&ctx, &sig, 0, DMA_TO_DEVICE), 3);
	KUNIT_EXPECT_EQ(test, pi_meta_nents, 0);
	wr = rdma_rw_ctx_wrs(&ctx, o.qp, 1, NULL, NULL);
	KUNIT_EXPECT_EQ(test, wr->next->next->sg_list[0].length, DATA_LEN);
	done(&ctx, 0, DMA_TO_DEVICE);
}

static void bad_lists_and_full_pools_are_refused(struct kunit *test)
{
	struct ib_sig_attrs sig = {};
	struct rdma_rw_ctx ctx, other;

	KUNIT_ASSERT_EQ(test, get(1), 0);
	KUNIT_EXPECT_EQ(test, rdma_rw_ctx_signature_init(&ctx, o.qp, 1, data, 0, NULL, 0,
							 &sig, 0, 0, DMA_TO_DEVICE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_rw_ctx_signature_init(&ctx, o.qp, 1, data, 129, NULL, 0,
							 &sig, 0, 0, DMA_TO_DEVICE),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, init(&ctx, &sig, 129, DMA_TO_DEVICE), -EINVAL);
	pi_result = -EIO;
	KUNIT_EXPECT_EQ(test, init(&ctx, &sig, 1, DMA_TO_DEVICE), -EIO);
	pi_result = 1;
	KUNIT_EXPECT_EQ(test, init(&ctx, &sig, 1, DMA_TO_DEVICE), -EINVAL);
	pi_result = 0;
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);

	KUNIT_ASSERT_EQ(test, init(&other, &sig, 1, DMA_TO_DEVICE), 2);
	KUNIT_EXPECT_EQ(test, init(&ctx, &sig, 1, DMA_TO_DEVICE), -EAGAIN);
	done(&other, 1, DMA_TO_DEVICE);
	KUNIT_EXPECT_EQ(test, init(&ctx, &sig, 1, DMA_TO_DEVICE), 2);
	done(&ctx, 1, DMA_TO_DEVICE);
}

static void a_device_has_to_offer_it(struct kunit *test)
{
	struct ib_mr_status status;
	struct ib_mr *mr;

	KUNIT_ASSERT_EQ(test, get(0), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_mr_integrity(o.pd, 8, 0)),
			-EINVAL);
	mr = ib_alloc_mr_integrity(o.pd, 8, 8);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	hca->ibdev.ops.check_mr_status = NULL;
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(mr, 1, &status), -EOPNOTSUPP);
	hca->ibdev.ops.map_mr_sg_pi = NULL;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, data, 2, NULL, NULL, 0, NULL, SZ_4K),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_mr_integrity(o.pd, 8, 8)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 1);
	objects_put(&o);
	hca->ibdev.attrs.kernel_cap_flags &= ~IBK_INTEGRITY_HANDOVER;
	KUNIT_EXPECT_EQ(test, get(0), -EOPNOTSUPP);
}

static void pools_that_fill_in_part_are_emptied(struct kunit *test)
{
	int i, alive = fake_hca_objects(hca);
	/* Two regions of each kind, and one of the PD if the device has no key. */
	int regions = 4 + hca->quirks.no_local_dma_lkey;

	for (i = 1; i <= regions; i++) {
		atomic_set(&hca->fail_create[FAKE_MR], i);
		KUNIT_EXPECT_EQ(test, get(2), -ENOMEM);
		KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), alive);
	}
	KUNIT_EXPECT_EQ(test, get(2), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_MR]), regions);
}

static int sig_once(struct kunit *test)
{
	struct ib_sig_attrs sig = {};
	struct rdma_rw_ctx ctx;
	int ret = get(1);

	if (ret)
		return ret;
	ret = init(&ctx, &sig, 1, DMA_TO_DEVICE);
	if (ret > 0)
		done(&ctx, 1, DMA_TO_DEVICE);
	KUNIT_EXPECT_EQ(test, o.qp->mrs_used, 0);
	objects_put(&o);
	return min(ret, 0);
}

static void protection_survives_each_failed_allocation(struct kunit *test)
{
	int alive = fake_hca_objects(hca);

	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, sig_once), 4u);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), alive);
}

static struct kunit_case sig_cases[] = {
	KUNIT_CASE(one_region_maps_data_and_metadata),
	KUNIT_CASE(what_the_wire_does_not_carry_is_not_sent),
	KUNIT_CASE(bad_lists_and_full_pools_are_refused),
	KUNIT_CASE(a_device_has_to_offer_it),
	KUNIT_CASE(pools_that_fill_in_part_are_emptied),
	KUNIT_CASE(protection_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_rw_sig_suite = {
	.name = "ib_core_rw_sig",
	.init = sig_test_init,
	.exit = sig_test_exit,
	.test_cases = sig_cases,
};

kunit_test_suite(ibcore_rw_sig_suite);
