// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Draining: shared receive queues, lost completions, each poll context. */
#include <kunit/test.h>
#include <linux/workqueue.h>
#include "core/objects.h"

static struct fake_hca *hca;
static struct objects o;

static int drain_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	hca = objects_hca(&params);
	return hca ? 0 : -ENOMEM;
}

static void drain_test_exit(struct kunit *test)
{
	objects_put(&o);
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static enum ib_qp_state state_of(struct ib_qp *qp)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return ib_query_qp(qp, &attr, IB_QP_STATE, &init) ? -1 : attr.qp_state;
}

/* In each poll context all work requests are flushed when ib_drain_qp() returns. */
static void expect_drained(struct kunit *test, enum ib_qp_state end)
{
	static const enum ib_poll_context contexts[] = {
		IB_POLL_DIRECT, IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE,
		IB_POLL_UNBOUND_WORKQUEUE,
	};
	struct counted received;
	struct ib_recv_wr recv = { .wr_cqe = &received.cqe };
	int i, n;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		counted_init(&received);
		KUNIT_ASSERT_EQ(test, objects_get(&o, hca, contexts[i], 0, 1, 0), 0);
		KUNIT_ASSERT_EQ(test, objects_to_rts(hca, o.qp), 0);
		for (n = 0; n < 40; n++)
			KUNIT_EXPECT_EQ(test, ib_post_recv(o.qp, &recv, NULL), 0);
		ib_drain_qp(o.qp);
		KUNIT_EXPECT_EQ(test, atomic_read(&received.flushed), 40);
		KUNIT_EXPECT_EQ(test, state_of(o.qp), end);
		/* Draining again is harmless. */
		ib_drain_rq(o.qp);
		ib_drain_sq(o.qp);
		objects_put(&o);
	}
}

static void every_completion_is_out_when_it_returns(struct kunit *test)
{
	expect_drained(test, hca->quirks.no_posts_in_err ? IB_QPS_RESET : IB_QPS_ERR);
}

/* Like ocrdma, which flushes a QP in Error, but refuses the marker request of a drain. */
static void a_provider_that_takes_nothing_in_error(struct kunit *test)
{
	hca->quirks.no_posts_in_err = true;
	expect_drained(test, IB_QPS_RESET);
}

static int asked;

static void ask_sq(struct ib_qp *qp)
{
	asked |= 1;
}

static void ask_rq(struct ib_qp *qp)
{
	asked |= 2;
}

static void a_provider_may_drain_itself(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, objects_get(&o, hca, IB_POLL_SOFTIRQ, 0, 1, 0), 0);
	hca->ibdev.ops.drain_sq = ask_sq;
	hca->ibdev.ops.drain_rq = ask_rq;
	asked = 0;
	ib_drain_qp(o.qp);
	KUNIT_EXPECT_EQ(test, asked, 3);
	KUNIT_EXPECT_EQ(test, state_of(o.qp), IB_QPS_RESET);
}

/* A completion that never arrives does not block the caller; if late it is harmless. */
static void a_lost_completion_is_given_up(struct kunit *test)
{
	static const enum ib_poll_context contexts[] = { IB_POLL_WORKQUEUE, IB_POLL_DIRECT };
	unsigned long begun;
	int i;

	/* A provider that refuses requests in Error would not be waited for. */
	hca->quirks.no_posts_in_err = false;
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		KUNIT_ASSERT_EQ(test, objects_get(&o, hca, contexts[i], 0, 1, 0), 0);
		KUNIT_ASSERT_EQ(test, objects_to_rts(hca, o.qp), 0);
		hca->hold_send_completions = true;
		begun = jiffies;
		ib_drain_sq(o.qp);
		KUNIT_EXPECT_GE(test, jiffies - begun, 60UL * HZ);
		KUNIT_EXPECT_LE(test, took_ms(jiffies - begun), 70000u);
		KUNIT_EXPECT_EQ(test, state_of(o.qp), IB_QPS_RESET);
		fake_hca_release_completions(hca);
		if (contexts[i] == IB_POLL_DIRECT)
			KUNIT_EXPECT_EQ(test, ib_process_cq_direct(o.cq, -1), 1);
		msleep(50);
		objects_put(&o);
	}
}

struct srq_pair {
	struct ib_srq *srq;
	struct ib_qp *qp;
};

static void put_srq(struct srq_pair *p)
{
	if (!IS_ERR_OR_NULL(p->qp))
		ib_destroy_qp(p->qp);
	if (!IS_ERR_OR_NULL(p->srq))
		ib_destroy_srq(p->srq);
}

static int get_srq(struct srq_pair *p, enum ib_poll_context context)
{
	struct ib_srq_init_attr srq_attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ib_qp_init_attr init = { .qp_type = IB_QPT_RC, .port_num = 1 };
	int ret = objects_get(&o, hca, context, 0, 1, 0);

	memset(p, 0, sizeof(*p));
	if (ret)
		return ret;
	p->srq = ib_create_srq(o.pd, &srq_attr);
	if (IS_ERR(p->srq))
		return PTR_ERR(p->srq);
	init.srq = p->srq;
	init.send_cq = o.cq;
	init.recv_cq = o.cq;
	p->qp = ib_create_qp(o.pd, &init);
	return PTR_ERR_OR_ZERO(p->qp) ?: objects_to_rts(hca, p->qp);
}

struct last_wqe {
	struct delayed_work work;
	struct ib_qp *qp;
};

static void last_wqe_reached(struct work_struct *work)
{
	struct last_wqe *last = container_of(work, struct last_wqe, work.work);

	fake_hca_qp_event(last->qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/*
 * IBA volume 1, 10.3.1.5: WQEs of the SRQ may be in use until the last one is reported.
 */
static void a_shared_queue_is_drained_at_its_last_wqe(struct kunit *test)
{
	static const enum ib_poll_context contexts[] = {
		IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE, IB_POLL_DIRECT,
	};
	static struct last_wqe last;
	unsigned long begun;
	struct srq_pair p;
	int i;

	hca->quirks.no_posts_in_err = false;
	INIT_DELAYED_WORK(&last.work, last_wqe_reached);
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		KUNIT_ASSERT_EQ(test, get_srq(&p, contexts[i]), 0);
		last.qp = p.qp;
		begun = jiffies;
		schedule_delayed_work(&last.work, 2 * HZ);
		ib_drain_qp(p.qp);
		KUNIT_EXPECT_GE(test, jiffies - begun, 2UL * HZ);
		KUNIT_EXPECT_LE(test, took_ms(jiffies - begun), 3000u);
		KUNIT_EXPECT_EQ(test, state_of(p.qp), IB_QPS_ERR);
		/* The last WQE was reached already: the second drain does not wait. */
		begun = jiffies;
		ib_drain_qp(p.qp);
		KUNIT_EXPECT_LE(test, took_ms(jiffies - begun), 1000u);
		put_srq(&p);
		objects_put(&o);
	}
}

static void a_last_wqe_that_is_not_told_of_is_given_up(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	unsigned long begun = jiffies;
	struct srq_pair p;

	hca->quirks.no_posts_in_err = false;
	/* The QP is used again after RESET, which the QPs of bnxt_re and irdma cannot be. */
	hca->quirks.reset_keeps_ring = false;
	hca->quirks.reset_is_a_note = false;
	KUNIT_ASSERT_EQ(test, get_srq(&p, IB_POLL_WORKQUEUE), 0);
	ib_drain_qp(p.qp);
	KUNIT_EXPECT_GE(test, jiffies - begun, 60UL * HZ);
	KUNIT_EXPECT_EQ(test, state_of(p.qp), IB_QPS_RESET);
	/* After RESET the QP must reach its last WQE anew. */
	fake_hca_qp_event(p.qp, IB_EVENT_QP_LAST_WQE_REACHED);
	KUNIT_EXPECT_EQ(test, ib_modify_qp(p.qp, &attr, IB_QP_STATE), 0);
	KUNIT_EXPECT_EQ(test, objects_to_rts(hca, p.qp), 0);
	begun = jiffies;
	ib_drain_qp(p.qp);
	KUNIT_EXPECT_GE(test, jiffies - begun, 60UL * HZ);
	put_srq(&p);
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE(every_completion_is_out_when_it_returns),
	KUNIT_CASE(a_provider_that_takes_nothing_in_error),
	KUNIT_CASE(a_provider_may_drain_itself),
	KUNIT_CASE_SLOW(a_lost_completion_is_given_up),
	KUNIT_CASE_SLOW(a_shared_queue_is_drained_at_its_last_wqe),
	KUNIT_CASE_SLOW(a_last_wqe_that_is_not_told_of_is_given_up),
	{}
};

static struct kunit_suite ibcore_drain_suite = {
	.name = "ib_core_drain",
	.init = drain_test_init,
	.exit = drain_test_exit,
	.test_cases = drain_cases,
};

kunit_test_suite(ibcore_drain_suite);
