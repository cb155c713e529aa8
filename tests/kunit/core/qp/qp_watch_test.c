// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Watches of QPs: what proves that the peer has sent something, and which watch sees it.
 */
#include <kunit/test.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <ibex/qp.h>
#include <ibex/qp_watch.h>
#include "faults.h"
#include "core/objects.h"

static struct fake_hca *hca;
static struct objects o;

/* The calls of a watch's callback; the callback ends the watch after @enough of them. */
struct heard {
	atomic_t calls;
	atomic_t in_hardirq;
	int enough;
	enum ibcore_qp_proof last;
};

static bool on_arrival(void *context, enum ibcore_qp_proof proof)
{
	struct heard *heard = context;

	if (in_hardirq())
		atomic_inc(&heard->in_hardirq);
	heard->last = proof;
	return atomic_inc_return(&heard->calls) >= heard->enough;
}

static int qp_watch_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	hca = fake_hca_create(&params);
	return hca ? objects_get(&o, hca, IB_POLL_WORKQUEUE, 0, 1, 0) : -ENOMEM;
}

static void qp_watch_test_exit(struct kunit *test)
{
	if (!hca)
		return;
	objects_put(&o);
	fake_hca_destroy(hca);
	hca = NULL;
}

static void complete_one(struct counted *c, struct ib_qp *qp, enum ib_wc_opcode opcode,
			 enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_cqe = &c->cqe, .qp = qp, .opcode = opcode, .status = status,
	};
	int n = atomic_read(&c->done);

	fake_hca_complete(o.cq, &wc);
	wait_until(atomic_read(&c->done) > n);
}

static void an_event_is_heard_until_it_is_enough(struct kunit *test)
{
	struct heard heard = { .enough = 2 };
	struct ibcore_qp_watch *watch = ibcore_qp_watch(o.qp, on_arrival, &heard);

	KUNIT_ASSERT_FALSE(test, IS_ERR(watch));
	fake_hca_qp_event(o.qp, IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	fake_hca_qp_event(o.qp, IB_EVENT_COMM_EST);
	fake_hca_qp_event(o.qp, IB_EVENT_COMM_EST);
	fake_hca_qp_event(o.qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 2);
	KUNIT_EXPECT_EQ(test, heard.last, IBCORE_QP_COMM_EST);
	ibcore_qp_unwatch(watch);
}

static void only_a_good_receive_proves_something(struct kunit *test)
{
	struct heard heard = { .enough = 1 };
	struct ibcore_qp_watch *watch;
	struct counted c;

	counted_init(&c);
	complete_one(&c, o.qp, IB_WC_RECV, IB_WC_SUCCESS);
	watch = ibcore_qp_watch(o.qp, on_arrival, &heard);
	KUNIT_ASSERT_FALSE(test, IS_ERR(watch));
	complete_one(&c, o.qp, IB_WC_SEND, IB_WC_SUCCESS);
	complete_one(&c, o.qp, IB_WC_RDMA_READ, IB_WC_SUCCESS);
	complete_one(&c, o.qp, IB_WC_RECV, IB_WC_WR_FLUSH_ERR);
	complete_one(&c, NULL, IB_WC_RECV, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	complete_one(&c, o.qp, IB_WC_RECV, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	KUNIT_EXPECT_EQ(test, heard.last, IBCORE_QP_RECEIVED);
	complete_one(&c, o.qp, IB_WC_RECV_RDMA_WITH_IMM, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&c.done), 7);
	ibcore_qp_unwatch(watch);
}

/* Each poll context notifies the watch before the consumer's done(). */
static struct heard *done_heard;
static int heard_at_done;

static void note_done(struct ib_cq *cq, struct ib_wc *wc)
{
	heard_at_done = atomic_read(&done_heard->calls);
}

static void polled_in(struct kunit *test, enum ib_poll_context context)
{
	struct ib_cqe cqe = { .done = note_done };
	struct heard heard = { .enough = 1 };
	struct ibcore_qp_watch *watch;
	struct objects own;
	struct ib_wc wc;

	KUNIT_ASSERT_EQ(test, objects_get(&own, hca, context, 0, 1, 0), 0);
	done_heard = &heard;
	heard_at_done = -1;
	watch = ibcore_qp_watch(own.qp, on_arrival, &heard);
	wc = (struct ib_wc){ .wr_cqe = &cqe, .qp = own.qp, .opcode = IB_WC_RECV };
	fake_hca_complete(own.cq, &wc);
	if (context == IB_POLL_DIRECT)
		ib_process_cq_direct(own.cq, -1);
	wait_until(READ_ONCE(heard_at_done) >= 0);
	KUNIT_EXPECT_EQ_MSG(test, heard_at_done, 1, "context %d", context);
	ibcore_qp_unwatch(watch);
	objects_put(&own);
}

static void every_poll_context_looks_first(struct kunit *test)
{
	polled_in(test, IB_POLL_SOFTIRQ);
	polled_in(test, IB_POLL_WORKQUEUE);
	polled_in(test, IB_POLL_UNBOUND_WORKQUEUE);
	polled_in(test, IB_POLL_DIRECT);
}

static void another_queue_is_not_heard(struct kunit *test)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .port_num = 1, .send_cq = o.cq, .recv_cq = o.cq,
	};
	struct heard heard = { .enough = 1 };
	struct ibcore_qp_watch *watch;
	struct counted c;
	struct ib_qp *qp = ib_create_qp(o.pd, &init);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	counted_init(&c);
	watch = ibcore_qp_watch(o.qp, on_arrival, &heard);
	complete_one(&c, qp, IB_WC_RECV, IB_WC_SUCCESS);
	fake_hca_qp_event(qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	KUNIT_EXPECT_PTR_EQ(test, ibcore_qp_watch(o.qp, on_arrival, &heard),
			    (struct ibcore_qp_watch *)ERR_PTR(-EEXIST));
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(qp);
}

/* SRP destroys the QP of the RDMA CM itself, before or after the rdma_cm_id. */
static void the_queue_may_go_first(struct kunit *test)
{
	struct heard heard = { .enough = 1 }, next = { .enough = 1 };
	struct ibcore_qp_watch *watch, *second;
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .port_num = 1, .send_cq = o.cq, .recv_cq = o.cq,
	};
	struct ib_qp *old = o.qp;
	struct counted c;

	counted_init(&c);
	watch = ibcore_qp_watch(o.qp, on_arrival, &heard);
	ib_destroy_qp(o.qp);
	/* Only the address of the QP is used: it finds no watch any more. */
	complete_one(&c, old, IB_WC_RECV, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	o.qp = ib_create_qp(o.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(o.qp));
	/* The new QP may have the address of the old one. */
	complete_one(&c, o.qp, IB_WC_RECV, IB_WC_SUCCESS);
	second = ibcore_qp_watch(o.qp, on_arrival, &next);
	KUNIT_ASSERT_FALSE(test, IS_ERR(second));
	ibcore_qp_unwatch(watch);
	complete_one(&c, o.qp, IB_WC_RECV, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&next.calls), 1);
	ibcore_qp_unwatch(second);
}

static void a_destruction_that_fails_keeps_the_watch(struct kunit *test)
{
	struct heard heard = { .enough = 1 };
	struct ibcore_qp_watch *watch = ibcore_qp_watch(o.qp, on_arrival, &heard);

	atomic_set(&hca->fail_destroy[FAKE_QP], 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_qp_user(o.qp, NULL), -EIO);
	fake_hca_qp_event(o.qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	ibcore_qp_unwatch(watch);
}

struct owner {
	struct completion done;
	struct ib_qp *qp;
};

static int make_users_qp(void *arg)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .port_num = 1, .send_cq = o.cq, .recv_cq = o.cq,
	};
	struct owner *owner = arg;

	owner->qp = ib_create_qp_user(&hca->ibdev, o.pd, &init, NULL, NULL, NULL);
	if (!IS_ERR(owner->qp))
		ib_qp_usecnt_inc(owner->qp);
	complete(&owner->done);
	return 0;
}

static void a_number_is_looked_up_among_ones_own(struct kunit *test)
{
	struct owner mine, others;
	struct heard heard = { .enough = 1 };
	struct ibcore_qp_watch *watch;
	struct ib_device *dev = &hca->ibdev;

	init_completion(&mine.done);
	init_completion(&others.done);
	make_users_qp(&mine);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mine.qp));
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(make_users_qp, &others, "others")));
	wait_for_completion(&others.done);
	KUNIT_ASSERT_FALSE(test, IS_ERR(others.qp));

#define WATCH_NUM(num, user) ibcore_qp_watch_num(dev, num, user, on_arrival, &heard)
#define NOT_MINE ((struct ibcore_qp_watch *)ERR_PTR(-ENOENT))
	KUNIT_EXPECT_PTR_EQ(test, WATCH_NUM(others.qp->qp_num, true), NOT_MINE);
	KUNIT_EXPECT_PTR_EQ(test, WATCH_NUM(others.qp->qp_num, false), NOT_MINE);
	KUNIT_EXPECT_PTR_EQ(test, WATCH_NUM(mine.qp->qp_num, false), NOT_MINE);
	KUNIT_EXPECT_PTR_EQ(test, WATCH_NUM(o.qp->qp_num, true), NOT_MINE);
	KUNIT_EXPECT_PTR_EQ(test, WATCH_NUM(0xabcde, true), NOT_MINE);

	watch = WATCH_NUM(mine.qp->qp_num, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(watch));
	fake_hca_qp_event(mine.qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 1);
	ibcore_qp_unwatch(watch);
	watch = WATCH_NUM(o.qp->qp_num, false);
	KUNIT_ASSERT_FALSE(test, IS_ERR(watch));
	fake_hca_qp_event(o.qp, IB_EVENT_COMM_EST);
	KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), 2);
	ibcore_qp_unwatch(watch);
	ib_destroy_qp(mine.qp);
	ib_destroy_qp(others.qp);
}

static int watch_and_unwatch(struct kunit *test)
{
	struct heard heard = { .enough = 1 };
	struct ibcore_qp_watch *watch = ibcore_qp_watch(o.qp, on_arrival, &heard);

	if (IS_ERR(watch))
		return PTR_ERR(watch);
	ibcore_qp_unwatch(watch);
	return 0;
}

static void without_memory_there_is_no_watch(struct kunit *test)
{
	struct counted c;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, watch_and_unwatch), 1);
	/* A watch that could not be created is not called. */
	counted_init(&c);
	complete_one(&c, o.qp, IB_WC_RECV, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, watch_and_unwatch(test), 0);
}

/* A timer that stands for an adapter's interrupt, while watches come and go. */
static struct interrupt {
	struct hrtimer timer;
	bool end;
} irq;

static enum hrtimer_restart interrupt_fire(struct hrtimer *timer)
{
	fake_hca_qp_event(o.qp, IB_EVENT_COMM_EST);
	if (READ_ONCE(irq.end))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_MSEC));
	return HRTIMER_RESTART;
}

static void interrupts_while_watches_come_and_go(struct kunit *test)
{
	struct ibcore_qp_watch *watch;
	struct rnd_state rnd;
	int i, heard_in_irq = 0;

	prandom_seed_state(&rnd, 4);
	irq.end = false;
	hrtimer_init(&irq.timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	irq.timer.function = interrupt_fire;
	hrtimer_start(&irq.timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_HARD);
	for (i = 0; i < 1000; i++) {
		struct heard heard = { .enough = 1 + prandom_u32_state(&rnd) % 3 };
		int calls;

		watch = ibcore_qp_watch(o.qp, on_arrival, &heard);
		KUNIT_ASSERT_FALSE(test, IS_ERR(watch));
		usleep_range(100, 100 + prandom_u32_state(&rnd) % 20000);
		ibcore_qp_unwatch(watch);
		calls = atomic_read(&heard.calls);
		KUNIT_EXPECT_LE(test, calls, heard.enough);
		KUNIT_EXPECT_EQ(test, atomic_read(&heard.in_hardirq), calls);
		heard_in_irq += calls;
		if (i % 16 == 0) {
			usleep_range(5000, 6000);
			KUNIT_EXPECT_EQ(test, atomic_read(&heard.calls), calls);
		}
	}
	WRITE_ONCE(irq.end, true);
	hrtimer_cancel(&irq.timer);
	KUNIT_EXPECT_GT(test, heard_in_irq, 100);
}

static struct kunit_case qp_watch_cases[] = {
	KUNIT_CASE(an_event_is_heard_until_it_is_enough),
	KUNIT_CASE(only_a_good_receive_proves_something),
	KUNIT_CASE(every_poll_context_looks_first),
	KUNIT_CASE(another_queue_is_not_heard),
	KUNIT_CASE(the_queue_may_go_first),
	KUNIT_CASE(a_destruction_that_fails_keeps_the_watch),
	KUNIT_CASE(a_number_is_looked_up_among_ones_own),
	KUNIT_CASE(without_memory_there_is_no_watch),
	KUNIT_CASE_SLOW(interrupts_while_watches_come_and_go),
	{}
};

static struct kunit_suite ibcore_qp_watch_suite = {
	.name = "ibcore_qp_watch",
	.init = qp_watch_test_init,
	.exit = qp_watch_test_exit,
	.test_cases = qp_watch_cases,
};

kunit_test_suite(ibcore_qp_watch_suite);
