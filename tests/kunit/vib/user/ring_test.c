// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rings whose other side is a process: indices that cannot be right, entries that change, other
 * sizes.  What a process writes there harms nobody but itself.
 */
#include <linux/uaccess.h>
#include "process.h"

#define CMD(name)	IB_USER_VERBS_CMD_##name

static struct hca_pair pair;
static struct process p;
static struct vib_qp *qp;	/* a UD QP, in INIT */
static u32 handle;

static int ring_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair) ?: process_open(test, &p, &pair.a);

	if (ret)
		return ret;
	qp = process_qp(&p, &(struct process_qp_want){ .type = IB_QPT_UD }, &handle);
	return hca_qp_to(&qp->ib, IB_QPS_INIT);
}

static void ring_exit(struct kunit *test)
{
	process_close(&p);
	hca_pair_exit(&pair);
}

/* Posts @n receive requests, first, first + 1 ..., without a word. */
static void post_recvs(u64 first, u32 n)
{
	while (n--)
		process_recv(&p, &qp->rq.queue, first++, 0, 64);
}

static void expect_flushed(struct kunit *test, u64 first, u32 n)
{
	while (n--)
		KUNIT_EXPECT_TRUE(test, process_completed(process_cq(&p), first++,
							  IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&p)));
}

static int flush_recvs(void)
{
	return process_doorbell(&p, CMD(POST_RECV), handle);
}

/* ---- the kernel consumes ---- */

static void a_producer_that_runs_ahead_adds_nothing(struct kunit *test)
{
	struct vib_abi_ring *ring = qp->rq.queue.ring;
	static const u32 ahead[] = { PROCESS_WR + 1, 1000, 0x7fffffff, 0x80000000, U32_MAX };
	int i;

	post_recvs(1, 2);
	KUNIT_ASSERT_EQ(test, process_fail(qp), 0);
	expect_flushed(test, 1, 2);
	for (i = 0; i < ARRAY_SIZE(ahead); i++) {
		WRITE_ONCE(ring->tail, 2 + ahead[i]);
		KUNIT_EXPECT_EQ(test, flush_recvs(), 0);
		KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&p)));
	}
	/* It is as long as the ring at most. */
	WRITE_ONCE(ring->tail, 2);
	post_recvs(3, PROCESS_WR);
	KUNIT_EXPECT_EQ(test, flush_recvs(), 0);
	expect_flushed(test, 3, PROCESS_WR);
}

static void the_kernels_index_is_its_own(struct kunit *test)
{
	struct vib_abi_ring *ring = qp->rq.queue.ring;

	post_recvs(1, 2);
	WRITE_ONCE(ring->head, 0xdead);
	KUNIT_ASSERT_EQ(test, process_fail(qp), 0);
	expect_flushed(test, 1, 2);
	KUNIT_EXPECT_EQ(test, ring->head, 2);
	WRITE_ONCE(ring->head, U32_MAX);
	post_recvs(3, 1);
	KUNIT_EXPECT_EQ(test, flush_recvs(), 0);
	expect_flushed(test, 3, 1);
	KUNIT_EXPECT_EQ(test, ring->head, 3);
}

static void a_reset_takes_what_there_is(struct kunit *test)
{
	struct vib_abi_ring *rq = qp->rq.queue.ring, *sq = qp->sq.ring;

	post_recvs(1, 3);
	/* The send queue's index cannot be right; the kernel goes on from there. */
	WRITE_ONCE(sq->tail, 0x1000);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(&qp->ib, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, rq->head, 3);
	KUNIT_EXPECT_EQ(test, sq->head, 0x1000);
	KUNIT_ASSERT_EQ(test, hca_qp_to(&qp->ib, IB_QPS_RTS), 0);
	post_recvs(4, 1);
	KUNIT_ASSERT_EQ(test, process_fail(qp), 0);
	expect_flushed(test, 4, 1);
}

/* It names no memory, whatever is behind it. */
static void a_receive_with_too_many_sges_has_none(struct kunit *test)
{
	struct vib_abi_recv_wqe *wqe = process_entry(&qp->rq.queue);
	struct vib_recv recv;

	wqe->wr_id = 9;
	wqe->num_sge = PROCESS_SGE + 1;
	process_add(&qp->rq.queue);
	KUNIT_ASSERT_TRUE(test, vib_rq_take(qp, &recv));
	KUNIT_EXPECT_EQ(test, recv.wr_id, 9);
	KUNIT_EXPECT_EQ(test, recv.num_sge, 0);
	KUNIT_EXPECT_EQ(test, recv.len, 0);
}

/* ---- the kernel flushes (10.3.1.7) ---- */

static void a_flag_asks_for_the_doorbell_in_the_error_state(struct kunit *test)
{
	struct vib_abi_ring *ring = qp->rq.queue.ring;

	KUNIT_EXPECT_EQ(test, ring->flags, 0);
	KUNIT_ASSERT_EQ(test, process_fail(qp), 0);
	KUNIT_EXPECT_EQ(test, ring->flags, VIB_RING_DOORBELL);
	post_recvs(1, 1);
	KUNIT_EXPECT_TRUE(test, process_nothing(process_cq(&p)));
	KUNIT_EXPECT_EQ(test, flush_recvs(), 0);
	expect_flushed(test, 1, 1);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(&qp->ib, IB_QPS_RESET), 0);
	KUNIT_EXPECT_EQ(test, ring->flags, 0);
	KUNIT_ASSERT_EQ(test, hca_qp_to(&qp->ib, IB_QPS_RTS), 0);
	KUNIT_EXPECT_EQ(test, ring->flags, 0);
}

/* ---- the kernel produces ---- */

/* Has @n completions added, of which the process knows nothing yet. */
static void add_completions(u32 n)
{
	post_recvs(100, n);
	flush_recvs();
	flush_workqueue(vib_wq);
}

static void a_consumer_that_is_wrong_loses_completions(struct kunit *test)
{
	struct vib_cq *cq = process_cq(&p);
	struct vib_abi_ring *ring = cq->queue.ring;
	static const u32 wrong[] = { 1, 5, 0x7fffffff, 0x80000000, U32_MAX - 64 };
	u32 i, tail;

	KUNIT_ASSERT_EQ(test, process_fail(qp), 0);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		tail = ring->tail;
		/* It has taken more than there ever was, or less than has been overwritten. */
		WRITE_ONCE(ring->head, tail + wrong[i]);
		add_completions(1);
		KUNIT_EXPECT_EQ(test, ring->tail, tail);
		WRITE_ONCE(ring->head, tail);
	}
	KUNIT_EXPECT_TRUE(test, cq->overrun);
	add_completions(2);
	expect_flushed(test, 100, 2);
	/* The kernel's own index does not come from there. */
	tail = ring->tail;
	WRITE_ONCE(ring->tail, 0xbeef);
	add_completions(1);
	KUNIT_EXPECT_EQ(test, ring->tail, tail + 1);
}

static void a_full_cq_loses_the_rest(struct kunit *test)
{
	struct vib_cq *cq = process_cq(&p);
	int i;

	KUNIT_ASSERT_EQ(test, process_fail(qp), 0);
	for (i = 0; i < PROCESS_CQE / 4 + 1; i++)
		add_completions(4);
	KUNIT_EXPECT_EQ(test, cq->queue.ring->tail, PROCESS_CQE);
	KUNIT_EXPECT_TRUE(test, cq->overrun);
}

/* ---- other sizes ---- */

static int resize_cq(u32 cqe, struct vib_abi_map *map)
{
	struct ib_uverbs_resize_cq cmd = { .cq_handle = p.cq, .cqe = cqe };
	struct {
		struct ib_uverbs_resize_cq_resp base;
		struct vib_resize_cq_resp vib;
	} resp;
	int ret;

	ret = process_call(&p, CMD(RESIZE_CQ), &cmd, sizeof(cmd), &resp, sizeof(resp));
	*map = resp.vib.ring;
	return ret ?: resp.base.cqe;
}

static void a_cq_of_another_size_has_what_was_left(struct kunit *test)
{
	unsigned int pages = process_ring_pages(&p);
	struct vib_cq *cq = process_cq(&p);
	struct vib_abi_ring *old;
	struct vib_abi_map map;
	u32 i;

	KUNIT_ASSERT_EQ(test, process_fail(qp), 0);
	for (i = 0; i < 7; i++)
		add_completions(4);
	for (i = 0; i < 20; i++)
		KUNIT_ASSERT_TRUE(test, process_completed(cq, 100 + i % 4, IB_WC_WR_FLUSH_ERR));
	/* Eight are left: too many for four. */
	KUNIT_EXPECT_EQ(test, resize_cq(4, &map), -EINVAL);
	KUNIT_EXPECT_EQ(test, process_ring_pages(&p), pages);
	old = cq->queue.ring;
	KUNIT_EXPECT_EQ(test, resize_cq(8, &map), 8);
	KUNIT_EXPECT_PTR_NE(test, cq->queue.ring, old);
	KUNIT_EXPECT_EQ(test, map.entries, 8);
	KUNIT_EXPECT_EQ(test, map.offset, rdma_user_mmap_get_offset(&cq->queue.mapped->entry));
	KUNIT_EXPECT_EQ(test, cq->queue.ring->head, 0);
	KUNIT_EXPECT_EQ(test, cq->queue.ring->tail, 8);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, process_completed(cq, 100 + i % 4, IB_WC_WR_FLUSH_ERR));
	add_completions(1);
	expect_flushed(test, 100, 1);
	/* A process that says it has taken more than there is has a full CQ. */
	WRITE_ONCE(cq->queue.ring->head, 0x4000);
	KUNIT_EXPECT_EQ(test, resize_cq(4, &map), -EINVAL);
	KUNIT_EXPECT_EQ(test, resize_cq(16, &map), 16);
	KUNIT_EXPECT_EQ(test, cq->queue.ring->tail, 8);
}

static int modify_srq(u32 srq, u32 max_wr, u32 limit, u32 mask, u64 map_addr, size_t more)
{
	struct {
		struct ib_uverbs_modify_srq base;
		struct vib_modify_srq_cmd vib;
	} cmd = {
		{ .srq_handle = srq, .attr_mask = mask, .max_wr = max_wr, .srq_limit = limit },
		{ .map_addr = map_addr },
	};

	return process_call(&p, CMD(MODIFY_SRQ), &cmd, sizeof(cmd.base) + more, NULL, 0);
}

static void an_srq_of_another_size_has_what_was_left(struct kunit *test)
{
	size_t more = sizeof(struct vib_modify_srq_cmd);
	struct process_srq_resp resp;
	struct vib_abi_map map;
	struct vib_recv recv;
	struct vib_srq *srq;
	unsigned int pages;
	int i;

	KUNIT_ASSERT_EQ(test, process_create_srq(&p, 8, &resp), 0);
	srq = to_vib_srq(process_object(&p, resp.base.srq_handle));
	for (i = 0; i < 8; i++)
		process_recv(&p, &srq->rq.queue, i, 0, 64);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_TRUE(test, vib_srq_take(srq, &recv));
	pages = process_ring_pages(&p);
	KUNIT_EXPECT_EQ(test, modify_srq(resp.base.srq_handle, 2, 0, IB_SRQ_MAX_WR, p.data, more),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, modify_srq(resp.base.srq_handle, 16, 0, IB_SRQ_MAX_WR, p.data, 0),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, modify_srq(resp.base.srq_handle, 16, 0, IB_SRQ_MAX_WR, 8, more),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, process_ring_pages(&p), pages);
	KUNIT_EXPECT_EQ(test, vib_queue_size(&srq->rq.queue), 8);
	KUNIT_ASSERT_EQ(test, modify_srq(resp.base.srq_handle, 16, 0, IB_SRQ_MAX_WR, p.data,
					 more), 0);
	process_get(&p, 0, &map, sizeof(map));
	KUNIT_EXPECT_EQ(test, map.entries, 16);
	KUNIT_EXPECT_EQ(test, map.offset,
			rdma_user_mmap_get_offset(&srq->rq.queue.mapped->entry));
	KUNIT_EXPECT_EQ(test, srq->rq.queue.ring->head, 0);
	KUNIT_EXPECT_EQ(test, srq->rq.queue.ring->tail, 4);
	process_recv(&p, &srq->rq.queue, 8, 0, 64);
	for (i = 4; i < 9; i++) {
		KUNIT_ASSERT_TRUE(test, vib_srq_take(srq, &recv));
		KUNIT_EXPECT_EQ(test, recv.wr_id, i);
	}
	KUNIT_EXPECT_FALSE(test, vib_srq_take(srq, &recv));
}

/* An event at once if fewer are left, or when that is so; once (10.2.9). */
static void an_srq_has_a_limit(struct kunit *test)
{
	struct process_srq_resp resp;
	struct vib_recv recv;
	struct vib_srq *srq;
	int i;

	KUNIT_ASSERT_EQ(test, process_create_srq(&p, 8, &resp), 0);
	srq = to_vib_srq(process_object(&p, resp.base.srq_handle));
	for (i = 0; i < 4; i++)
		process_recv(&p, &srq->rq.queue, i, 0, 64);
	KUNIT_EXPECT_EQ(test, modify_srq(resp.base.srq_handle, 0, 9, IB_SRQ_LIMIT, 0, 0), -EINVAL);
	KUNIT_ASSERT_EQ(test, modify_srq(resp.base.srq_handle, 0, 4, IB_SRQ_LIMIT, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, srq->limit, 4);
	KUNIT_ASSERT_TRUE(test, vib_srq_take(srq, &recv));
	KUNIT_EXPECT_EQ(test, srq->limit, 0);
	KUNIT_ASSERT_EQ(test, modify_srq(resp.base.srq_handle, 0, 3, IB_SRQ_LIMIT, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, srq->limit, 3);
	/* What the process says of its ring decides when the event comes. */
	WRITE_ONCE(srq->rq.queue.ring->tail, 0x5000);
	KUNIT_EXPECT_FALSE(test, vib_srq_take(srq, &recv));
	KUNIT_EXPECT_EQ(test, srq->limit, 0);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(a_producer_that_runs_ahead_adds_nothing),
	KUNIT_CASE(the_kernels_index_is_its_own),
	KUNIT_CASE(a_reset_takes_what_there_is),
	KUNIT_CASE(a_receive_with_too_many_sges_has_none),
	KUNIT_CASE(a_flag_asks_for_the_doorbell_in_the_error_state),
	KUNIT_CASE(a_consumer_that_is_wrong_loses_completions),
	KUNIT_CASE(a_full_cq_loses_the_rest),
	KUNIT_CASE(a_cq_of_another_size_has_what_was_left),
	KUNIT_CASE(an_srq_of_another_size_has_what_was_left),
	KUNIT_CASE(an_srq_has_a_limit),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "vib_user_ring",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
