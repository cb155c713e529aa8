// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Verbs objects, the QP state table, completion queues, drain, packing. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>
#include <rdma/mr_pool.h>
#include <rdma/rw.h>
#include "faults.h"
#include "core/objects.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct fake_hca *hca;

static int verbs_test_init(struct kunit *test)
{
	hca = objects_hca(&ib_params);
	return hca ? 0 : -ENOMEM;
}

static void verbs_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

/* IBA volume 1, 11.2.4.2: a transition, its attributes, and whether it is legal. */
struct qp_move {
	enum ib_qp_type type;
	enum ib_qp_state from, to;
	int mask;
	bool ok;
};

static const struct qp_move qp_moves[] = {
	{ IB_QPT_RC, IB_QPS_RESET, IB_QPS_INIT, RC_INIT, true },
	{ IB_QPT_RC, IB_QPS_RESET, IB_QPS_INIT, RC_INIT & ~IB_QP_PORT, false },
	{ IB_QPT_RC, IB_QPS_RESET, IB_QPS_RTR, RC_RTR, false },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR, RC_RTR, true },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR, RC_RTR | IB_QP_ALT_PATH, true },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR, RC_RTR & ~IB_QP_AV, false },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_RTR, RC_RTR | IB_QP_QKEY, false },
	{ IB_QPT_RC, IB_QPS_INIT, IB_QPS_INIT, IB_QP_STATE | IB_QP_PORT, true },
	{ IB_QPT_RC, IB_QPS_RTR, IB_QPS_RTS, RC_RTS, true },
	{ IB_QPT_RC, IB_QPS_RTR, IB_QPS_RTS, RC_RTS & ~IB_QP_SQ_PSN, false },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_RTS, IB_QP_STATE | IB_QP_ACCESS_FLAGS, true },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_SQD, IB_QP_STATE, true },
	{ IB_QPT_RC, IB_QPS_SQD, IB_QPS_RTS, IB_QP_STATE, true },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_SQE, IB_QP_STATE, false },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_INIT, IB_QP_STATE, false },
	{ IB_QPT_RC, IB_QPS_RTS, IB_QPS_ERR, IB_QP_STATE, true },
	{ IB_QPT_RC, IB_QPS_ERR, IB_QPS_RESET, IB_QP_STATE, true },
	{ IB_QPT_RC, IB_QPS_ERR, IB_QPS_ERR, IB_QP_STATE, true },
	{ IB_QPT_UD, IB_QPS_RESET, IB_QPS_INIT,
	  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY, true },
	{ IB_QPT_UD, IB_QPS_RESET, IB_QPS_INIT,
	  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT, false },
	{ IB_QPT_UD, IB_QPS_INIT, IB_QPS_RTR, IB_QP_STATE, true },
	{ IB_QPT_UD, IB_QPS_RTR, IB_QPS_RTS, IB_QP_STATE | IB_QP_SQ_PSN, true },
	{ IB_QPT_UD, IB_QPS_RTR, IB_QPS_RTS, IB_QP_STATE, false },
	{ IB_QPT_UD, IB_QPS_SQE, IB_QPS_RTS, IB_QP_STATE, true },
	{ IB_QPT_GSI, IB_QPS_RESET, IB_QPS_INIT,
	  IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_QKEY, true },
	{ IB_QPT_RC, IB_QPS_SQD, IB_QPS_SQD, IB_QP_STATE | IB_QP_AV, true },
	{ IB_QPT_UC, IB_QPS_SQD, IB_QPS_SQD, IB_QP_STATE | IB_QP_AV, true },
	{ IB_QPT_UC, IB_QPS_SQD, IB_QPS_SQD, IB_QP_STATE | IB_QP_ALT_PATH, true },
};

static void qp_state_table(struct kunit *test)
{
	const struct qp_move *m;
	int i;

	for (i = 0; i < ARRAY_SIZE(qp_moves); i++) {
		m = &qp_moves[i];
		KUNIT_EXPECT_EQ_MSG(test, ib_modify_qp_is_ok(m->from, m->to, m->type,
							     m->mask), m->ok,
				    "move %d: type %d, %d to %d, mask %#x", i,
				    m->type, m->from, m->to, m->mask);
	}
}

static int objects_once(struct kunit *test)
{
	struct objects o;
	int ret = objects_get(&o, hca, IB_POLL_WORKQUEUE, 8, 1, 0);

	if (!ret)
		objects_put(&o);
	return ret;
}

static void objects_survive_each_failed_allocation(struct kunit *test)
{
	int alive = fake_hca_objects(hca);

	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, objects_once), 3u);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), alive);
}

static void objects_survive_a_refusing_provider(struct kunit *test)
{
	static const enum fake_hca_object kinds[] = { FAKE_PD, FAKE_CQ, FAKE_QP, FAKE_MR };
	int alive = fake_hca_objects(hca), i;
	struct objects o;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i] == FAKE_MR)
			continue;
		atomic_set(&hca->fail_create[kinds[i]], 1);
		KUNIT_EXPECT_LT(test, objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
		KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), alive);
	}
}

static void a_pd_in_use_keeps_its_count(struct kunit *test)
{
	struct objects o;

	KUNIT_ASSERT_EQ(test, objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 2);
	/* A destroy that the provider refuses changes nothing. */
	atomic_set(&hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(o.qp, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.cq->usecnt), 2);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(o.qp, NULL), 0);
	o.qp = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&o.pd->usecnt), 0);
	objects_put(&o);
}

static void poll_in(struct kunit *test, enum ib_poll_context context)
{
	static char buffer[64];
	struct counted sent, received;
	struct ib_sge sge = { .addr = (u64)(uintptr_t)buffer, .length = sizeof(buffer) };
	struct ib_recv_wr recv = { .wr_cqe = &received.cqe, .sg_list = &sge, .num_sge = 1 };
	struct ib_send_wr send = {
		.wr_cqe = &sent.cqe, .sg_list = &sge, .num_sge = 1,
		.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
	};
	struct objects o;
	int i;

	counted_init(&sent);
	counted_init(&received);
	KUNIT_ASSERT_EQ(test, objects_get(&o, hca, context, 0, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, objects_to_rts(hca, o.qp), 0);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, ib_post_recv(o.qp, &recv, NULL), 0);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, ib_post_send(o.qp, &send, NULL), 0);
	fake_hca_flush(hca);
	if (context == IB_POLL_DIRECT)
		KUNIT_EXPECT_EQ(test, ib_process_cq_direct(o.cq, -1), 40);
	KUNIT_EXPECT_TRUE(test, wait_count(&sent.done, 20));
	KUNIT_EXPECT_TRUE(test, wait_count(&received.done, 20));
	KUNIT_EXPECT_EQ(test, ib_post_recv(o.qp, &recv, NULL), 0);
	ib_drain_qp(o.qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&received.flushed), 1);
	objects_put(&o);
}

static void poll_softirq(struct kunit *test)
{
	poll_in(test, IB_POLL_SOFTIRQ);
}

static void poll_workqueue(struct kunit *test)
{
	poll_in(test, IB_POLL_WORKQUEUE);
}

static void poll_unbound(struct kunit *test)
{
	poll_in(test, IB_POLL_UNBOUND_WORKQUEUE);
}

static void poll_direct(struct kunit *test)
{
	poll_in(test, IB_POLL_DIRECT);
}

static void cq_pool_shares(struct kunit *test)
{
	struct ib_cq *a, *b, *c;

	a = ib_cq_pool_get(&hca->ibdev, 16, 0, IB_POLL_SOFTIRQ);
	b = ib_cq_pool_get(&hca->ibdev, 16, 0, IB_POLL_SOFTIRQ);
	c = ib_cq_pool_get(&hca->ibdev, 16, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a) || IS_ERR(b) || IS_ERR(c));
	KUNIT_EXPECT_PTR_EQ(test, a, b);
	KUNIT_EXPECT_PTR_NE(test, a, c);
	ib_cq_pool_put(a, 16);
	ib_cq_pool_put(b, 16);
	ib_cq_pool_put(c, 16);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_cq_pool_get(&hca->ibdev, 16, 0,
							     IB_POLL_DIRECT)), -EINVAL);
}

static void mr_pool_hands_out_and_takes_back(struct kunit *test)
{
	struct ib_mr *a, *b, *c;
	struct objects o;

	KUNIT_ASSERT_EQ(test, objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, ib_mr_pool_init(o.qp, &o.qp->rdma_mrs, 2,
					      IB_MR_TYPE_MEM_REG, 16, 0), 0);
	a = ib_mr_pool_get(o.qp, &o.qp->rdma_mrs);
	b = ib_mr_pool_get(o.qp, &o.qp->rdma_mrs);
	c = ib_mr_pool_get(o.qp, &o.qp->rdma_mrs);
	KUNIT_EXPECT_NOT_NULL(test, a);
	KUNIT_EXPECT_NOT_NULL(test, b);
	KUNIT_EXPECT_NULL(test, c);
	ib_mr_pool_put(o.qp, &o.qp->rdma_mrs, a);
	ib_mr_pool_put(o.qp, &o.qp->rdma_mrs, b);
	ib_mr_pool_destroy(o.qp, &o.qp->rdma_mrs);
	objects_put(&o);
}

static void pages_of_a_list(struct kunit *test)
{
	struct scatterlist sg[3];
	struct objects o;
	struct ib_mr *mr;
	void *pages;

	pages = (void *)__get_free_pages(GFP_KERNEL, 3);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	KUNIT_ASSERT_EQ(test, objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
	mr = ib_alloc_mr(o.pd, IB_MR_TYPE_MEM_REG, 16);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	sg_init_table(sg, 3);
	sg_set_buf(&sg[0], pages + 100, PAGE_SIZE - 100);
	sg_set_buf(&sg[1], pages + 2 * PAGE_SIZE, PAGE_SIZE);
	/* A gap inside a page ends the region before it. */
	sg_set_buf(&sg[2], pages + 5 * PAGE_SIZE + 8, 64);
	KUNIT_ASSERT_EQ(test, ib_dma_map_sg(&hca->ibdev, sg, 3, DMA_TO_DEVICE), 3);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg(mr, sg, 3, NULL, PAGE_SIZE), 2);
	KUNIT_EXPECT_EQ(test, mr->length, 2 * PAGE_SIZE - 100);
	KUNIT_EXPECT_EQ(test, mr->iova & ~PAGE_MASK, 100);
	ib_dereg_mr(mr);
	objects_put(&o);
	free_pages((unsigned long)pages, 3);
}

static void rw_sizes(struct kunit *test)
{
	struct rdma_rw_ctx ctx = {};
	struct counted done;
	struct scatterlist sg[4];
	struct objects o;
	char *pages;
	int i, n;

	counted_init(&done);
	pages = (char *)__get_free_pages(GFP_KERNEL, 2);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	KUNIT_ASSERT_EQ(test, objects_get(&o, hca, IB_POLL_SOFTIRQ, 4, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, objects_to_rts(hca, o.qp), 0);
	sg_init_table(sg, 4);
	for (i = 0; i < 4; i++)
		sg_set_buf(&sg[i], pages + i * PAGE_SIZE, PAGE_SIZE);
	n = rdma_rw_ctx_init(&ctx, o.qp, 1, sg, 4, 0, 0x1000, 0x42, DMA_TO_DEVICE);
	/* max_send_sge of the QP is 1: a work request for each page. */
	KUNIT_EXPECT_EQ(test, n, 4);
	KUNIT_EXPECT_EQ(test, rdma_rw_ctx_post(&ctx, o.qp, 1, &done.cqe, NULL), 0);
	KUNIT_EXPECT_TRUE(test, wait_count(&done.done, 1));
	rdma_rw_ctx_destroy(&ctx, o.qp, 1, sg, 4, DMA_TO_DEVICE);
	objects_put(&o);
	free_pages((unsigned long)pages, 2);
}

static void rates(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ib_rate_to_mult(IB_RATE_10_GBPS), 4);
	KUNIT_EXPECT_EQ(test, mult_to_ib_rate(4), IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, mult_to_ib_rate(1000), IB_RATE_PORT_CURRENT);
	KUNIT_EXPECT_EQ(test, ib_rate_to_mbps(IB_RATE_100_GBPS), 103125);
	KUNIT_EXPECT_EQ(test, ib_rate_to_mult(IB_RATE_PORT_CURRENT), -1);
}

static void ud_headers(struct kunit *test)
{
	struct ib_ud_header header, back;
	u8 wire[256] = {};
	int len;

	KUNIT_ASSERT_EQ(test, ib_ud_header_init(256, 1, 0, 0, 1, 0, 0, 0, &header), 0);
	header.lrh.destination_lid = cpu_to_be16(0x1234);
	header.bth.destination_qpn = cpu_to_be32(1);
	header.deth.qkey = cpu_to_be32(0x80010000);
	header.grh.hop_limit = 7;
	len = ib_ud_header_pack(&header, wire);
	KUNIT_EXPECT_EQ(test, len, 8 + 40 + 12 + 8);
	KUNIT_EXPECT_EQ(test, wire[2], 0x12);
	KUNIT_EXPECT_EQ(test, wire[3], 0x34);
	KUNIT_ASSERT_EQ(test, ib_ud_header_unpack(wire, &back), 0);
	KUNIT_EXPECT_EQ(test, back.grh.hop_limit, 7);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(back.deth.qkey), 0x80010000);
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE(qp_state_table),
	KUNIT_CASE(objects_survive_each_failed_allocation),
	KUNIT_CASE(objects_survive_a_refusing_provider),
	KUNIT_CASE(a_pd_in_use_keeps_its_count),
	KUNIT_CASE(poll_softirq),
	KUNIT_CASE(poll_workqueue),
	KUNIT_CASE(poll_unbound),
	KUNIT_CASE(poll_direct),
	KUNIT_CASE(cq_pool_shares),
	KUNIT_CASE(mr_pool_hands_out_and_takes_back),
	KUNIT_CASE(pages_of_a_list),
	KUNIT_CASE(rw_sizes),
	KUNIT_CASE(rates),
	KUNIT_CASE(ud_headers),
	{}
};

static struct kunit_suite ibcore_verbs_suite = {
	.name = "ib_core_verbs",
	.init = verbs_test_init,
	.exit = verbs_test_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(ibcore_verbs_suite);
