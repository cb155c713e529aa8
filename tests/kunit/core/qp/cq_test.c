// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues: budgets, moderation, pools, and their end. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <rdma/restrack.h>
#include "device/device.h"
#include "faults.h"
#include "core/objects.h"

static struct fake_hca *hca;

/* Completions that the adapter has ready, and how often the CQ was armed. */
static atomic_t ready, armed;
static struct counted gen;
static int largest;	/* batch size of a poll */

static int gen_poll(struct ib_cq *cq, int n, struct ib_wc *wc)
{
	int i;

	largest = max(largest, n);
	for (i = 0; i < n && atomic_add_unless(&ready, -1, 0); i++)
		wc[i] = (struct ib_wc){ .wr_cqe = &gen.cqe, .status = IB_WC_SUCCESS };
	return i;
}

static int gen_notify(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	atomic_inc(&armed);
	return flags & IB_CQ_REPORT_MISSED_EVENTS && atomic_read(&ready);
}

static int (*destroy_cq)(struct ib_cq *cq, struct ib_udata *udata);

static int cq_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_INFINIBAND };

	hca = fake_hca_create(&params);
	if (!hca)
		return -ENOMEM;
	hca->ibdev.ops.poll_cq = gen_poll;
	hca->ibdev.ops.req_notify_cq = gen_notify;
	destroy_cq = hca->ibdev.ops.destroy_cq;
	counted_init(&gen);
	atomic_set(&ready, 0);
	atomic_set(&armed, 0);
	largest = 0;
	return 0;
}

static void cq_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static void raise_event(struct ib_cq *cq)
{
	unsigned long flags;

	local_irq_save(flags);
	cq->comp_handler(cq, cq->cq_context);
	local_irq_restore(flags);
}

static void bursts(struct kunit *test, enum ib_poll_context context, int n)
{
	struct ib_cq *cq = ib_alloc_cq(&hca->ibdev, &gen, 16, 0, context);
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	KUNIT_EXPECT_EQ(test, atomic_read(&armed), 1);
	for (i = 1; i <= 3; i++) {
		atomic_set(&ready, n);
		raise_event(cq);
		KUNIT_EXPECT_TRUE(test, wait_count(&gen.done, i * n));
		/* The CQ is armed once, when it was found empty. */
		KUNIT_EXPECT_TRUE(test, wait_count(&armed, 1 + i));
	}
	KUNIT_EXPECT_EQ(test, largest, 16);
	ib_free_cq(cq);
}

/* Each burst is larger than the budget of a round. */
static void more_than_a_rounds_budget_is_polled_in_rounds(struct kunit *test)
{
	bursts(test, IB_POLL_SOFTIRQ, 1000);
	atomic_set(&armed, 0);
	atomic_set(&gen.done, 0);
	bursts(test, IB_POLL_WORKQUEUE, 70000);
	atomic_set(&armed, 0);
	atomic_set(&gen.done, 0);
	bursts(test, IB_POLL_UNBOUND_WORKQUEUE, 70000);
}

static int missed;

static int notify_and_miss(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	/* Completions arrive between the last poll and the arming. */
	if (missed) {
		atomic_add(missed, &ready);
		missed = 0;
	}
	return gen_notify(cq, flags);
}

static void what_comes_before_the_arming_is_not_lost(struct kunit *test)
{
	static const enum ib_poll_context contexts[] = {
		IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE,
	};
	struct ib_cq *cq;
	int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		hca->ibdev.ops.req_notify_cq = gen_notify;
		atomic_set(&gen.done, 0);
		cq = ib_alloc_cq(&hca->ibdev, &gen, 16, 0, contexts[i]);
		KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
		hca->ibdev.ops.req_notify_cq = notify_and_miss;
		missed = 5;
		atomic_set(&ready, 3);
		raise_event(cq);
		KUNIT_EXPECT_TRUE(test, wait_count(&gen.done, 8));
		ib_free_cq(cq);
	}
}

static void who_polls_directly_has_a_budget(struct kunit *test)
{
	struct ib_cq *cq = ib_alloc_cq(&hca->ibdev, NULL, 16, 0, IB_POLL_DIRECT);

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	/* A CQ that is polled directly is not armed. */
	KUNIT_EXPECT_EQ(test, atomic_read(&armed), 0);
	atomic_set(&ready, 40);
	KUNIT_EXPECT_EQ(test, ib_process_cq_direct(cq, 0), 0);
	KUNIT_EXPECT_EQ(test, ib_process_cq_direct(cq, 3), 3);
	KUNIT_EXPECT_EQ(test, ib_process_cq_direct(cq, 11), 11);
	KUNIT_EXPECT_EQ(test, atomic_read(&gen.done), 14);
	KUNIT_EXPECT_EQ(test, ib_process_cq_direct(cq, -1), 26);
	KUNIT_EXPECT_EQ(test, ib_process_cq_direct(cq, -1), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&gen.done), 40);
	KUNIT_EXPECT_EQ(test, largest, 8);
	ib_free_cq(cq);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_cq(&hca->ibdev, NULL, 16, 0, 77)),
			-EINVAL);
}

/* A completion without wr_cqe: its request was not signaled, and failed. */
static int silent_poll(struct ib_cq *cq, int n, struct ib_wc *wc)
{
	if (!atomic_add_unless(&ready, -1, 0))
		return 0;
	wc[0] = (struct ib_wc){ .status = IB_WC_WR_FLUSH_ERR };
	return 1;
}

static void a_silent_request_may_fail(struct kunit *test)
{
	struct ib_cq *cq = ib_alloc_cq(&hca->ibdev, NULL, 16, 0, IB_POLL_DIRECT);

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	hca->ibdev.ops.poll_cq = silent_poll;
	atomic_set(&ready, 1);
	KUNIT_EXPECT_EQ(test, ib_process_cq_direct(cq, 8), 1);
	ib_free_cq(cq);
}

static void vectors_are_given_out_in_turn(struct kunit *test)
{
	struct ib_cq *cq;
	int i;

	for (i = 0; i < 6; i++) {
		cq = ib_alloc_cq_any(&hca->ibdev, NULL, 16, IB_POLL_SOFTIRQ);
		KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
		/* Only the vectors that a CPU serves are used. */
		KUNIT_EXPECT_LT(test, cq->comp_vector,
				min(num_online_cpus(), 4u));
		ib_free_cq(cq);
	}
	hca->ibdev.num_comp_vectors = 0;
	cq = ib_alloc_cq_any(&hca->ibdev, NULL, 16, IB_POLL_SOFTIRQ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	KUNIT_EXPECT_EQ(test, cq->comp_vector, 0);
	ib_free_cq(cq);
}

static int events;

static void on_completion(struct ib_cq *cq, void *context)
{
	events += context == &events;
}

static struct ib_cq *own(void)
{
	struct ib_cq_init_attr attr = { .cqe = 8 };

	return ib_create_cq(&hca->ibdev, on_completion, NULL, &events, &attr);
}

static void an_owner_polls_its_own(struct kunit *test)
{
	struct ib_cq *cq = own();

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	events = 0;
	raise_event(cq);
	KUNIT_EXPECT_EQ(test, events, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&armed), 0);
	atomic_inc(&cq->usecnt);
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, NULL), -EBUSY);
	atomic_dec(&cq->usecnt);
	atomic_set(&hca->fail_destroy[FAKE_CQ], 1);
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, NULL), -EIO);
	/* The CQ works as before. */
	raise_event(cq);
	KUNIT_EXPECT_EQ(test, events, 2);
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, NULL), 0);
	atomic_set(&hca->fail_create[FAKE_CQ], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(own()), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
}

static int silenced, silence_result;

static int silence(struct ib_cq *cq)
{
	silenced++;
	return silence_result;
}

static void end_silenced(struct ib_cq *cq)
{
	destroy_cq(cq, NULL);
}

static void a_provider_may_be_silenced_first(struct kunit *test)
{
	struct ib_cq *cq = own();

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	hca->ibdev.ops.pre_destroy_cq = silence;
	hca->ibdev.ops.post_destroy_cq = end_silenced;
	silence_result = -EAGAIN;
	silenced = 0;
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_CQ]), 1);
	silence_result = 0;
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, NULL), 0);
	KUNIT_EXPECT_EQ(test, silenced, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_CQ]), 0);
}

static struct ib_udata *seen_udata;

static int destroy_with_udata(struct ib_cq *cq, struct ib_udata *udata)
{
	seen_udata = udata;
	return destroy_cq(cq, udata);
}

/* The provider gets the udata, with which it may have to respond to the process. */
static void a_process_is_heard_in_the_end(struct kunit *test)
{
	struct ib_udata udata = {};
	struct ib_cq *cq = own();

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	hca->ibdev.ops.pre_destroy_cq = silence;
	hca->ibdev.ops.post_destroy_cq = end_silenced;
	hca->ibdev.ops.destroy_cq = destroy_with_udata;
	silence_result = 0;
	silenced = 0;
	seen_udata = NULL;
	KUNIT_EXPECT_EQ(test, ib_destroy_cq_user(cq, &udata), 0);
	KUNIT_EXPECT_PTR_EQ(test, seen_udata, &udata);
	KUNIT_EXPECT_EQ(test, silenced, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->alive[FAKE_CQ]), 0);
}

static int late_event(struct ib_cq *cq, struct ib_udata *udata)
{
	/* ib_core does not poll any more, even if events are still raised. */
	raise_event(cq);
	raise_event(cq);
	return destroy_cq(cq, udata);
}

/* In-tree number 27: the CQ was polled, or moderated, after it was freed. */
static void an_event_on_its_way_is_not_polled(struct kunit *test)
{
	static const enum ib_poll_context contexts[] = {
		IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE, IB_POLL_UNBOUND_WORKQUEUE,
	};
	struct ib_cq *cq;
	int i;

	hca->ibdev.ops.destroy_cq = late_event;
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		cq = ib_alloc_cq(&hca->ibdev, &gen, 16, 0, contexts[i]);
		KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
		atomic_set(&gen.done, 0);
		atomic_set(&ready, 1000);
		ib_free_cq(cq);
		msleep(50);
		KUNIT_EXPECT_EQ(test, atomic_read(&gen.done), 0);
		KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
	}
}

struct ending {
	struct ib_cq *cq;
	struct completion done;
};

static int end_cq(void *arg)
{
	struct ending *e = arg;

	ib_free_cq(e->cq);
	complete(&e->done);
	return 0;
}

static void a_reader_is_waited_for(struct kunit *test)
{
	struct rdma_restrack_entry *res;
	struct ending e;

	init_completion(&e.done);
	e.cq = ib_alloc_cq(&hca->ibdev, &gen, 16, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(e.cq));
	res = rdma_restrack_get_byid(&hca->ibdev, RDMA_RESTRACK_CQ, e.cq->res.id);
	KUNIT_ASSERT_FALSE(test, IS_ERR(res));
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(end_cq, &e, "end_cq")));
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&e.done));
	KUNIT_EXPECT_EQ(test, container_of(res, struct ib_cq, res)->cqe, 16);
	rdma_restrack_put(res);
	wait_for_completion(&e.done);
}

static int steps, last_usec;

static int modify_cq(struct ib_cq *cq, u16 count, u16 period)
{
	steps++;
	last_usec = period;
	return 0;
}

static int resize_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	cq->cqe = cqe + 1;
	return 0;
}

static void a_cq_is_moderated_and_resized(struct kunit *test)
{
	struct ib_cq *cq = own(), *shared;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	KUNIT_EXPECT_EQ(test, rdma_set_cq_moderation(cq, 4, 20), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(cq, 100), -EOPNOTSUPP);
	hca->ibdev.ops.modify_cq = modify_cq;
	hca->ibdev.ops.resize_cq = resize_cq;
	KUNIT_EXPECT_EQ(test, rdma_set_cq_moderation(cq, 4, 20), 0);
	KUNIT_EXPECT_EQ(test, last_usec, 20);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(cq, 100), 0);
	KUNIT_EXPECT_EQ(test, cq->cqe, 101);
	ib_destroy_cq(cq);
	/* A shared CQ cannot be moderated or resized. */
	shared = ib_cq_pool_get(&hca->ibdev, 4, 0, IB_POLL_SOFTIRQ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(shared));
	KUNIT_EXPECT_EQ(test, rdma_set_cq_moderation(shared, 4, 20), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(shared, 100), -EOPNOTSUPP);
	ib_cq_pool_put(shared, 4);
}

static void moderation_follows_the_load(struct kunit *test)
{
	static const enum ib_poll_context contexts[] = {
		IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE,
	};
	struct ib_cq *cq;
	int i, n;

	hca->ibdev.use_cq_dim = true;
	hca->ibdev.ops.modify_cq = modify_cq;
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		cq = ib_alloc_cq(&hca->ibdev, &gen, 16, 0, contexts[i]);
		KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
		KUNIT_EXPECT_NOT_NULL(test, cq->dim);
		steps = 0;
		/* A measurement takes 64 rounds; each has twice the load of the last. */
		for (n = 0; n < 64 * 6; n++) {
			atomic_set(&ready, 4 << n / 64);
			raise_event(cq);
			msleep(20);
		}
		KUNIT_EXPECT_GT(test, steps, 0);
		/* A moderation work that may be pending is cancelled. */
		ib_free_cq(cq);
	}
	cq = ib_alloc_cq(&hca->ibdev, &gen, 16, 0, IB_POLL_DIRECT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	KUNIT_EXPECT_NULL(test, cq->dim);
	ib_free_cq(cq);
}

static void claims_share_queues(struct kunit *test)
{
	struct ib_device *dev = &hca->ibdev;
	struct ib_cq *a, *b, *c, *d;

	a = ib_cq_pool_get(dev, 2000, 1, IB_POLL_SOFTIRQ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	KUNIT_EXPECT_EQ(test, a->comp_vector, 1);
	KUNIT_EXPECT_EQ(test, a->cqe_used, 2000);
	/* 48 entries of that CQ are left. */
	b = ib_cq_pool_get(dev, 49, 1, IB_POLL_SOFTIRQ);
	c = ib_cq_pool_get(dev, 48, 5, IB_POLL_SOFTIRQ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(b) || IS_ERR(c));
	KUNIT_EXPECT_PTR_NE(test, a, b);
	KUNIT_EXPECT_PTR_EQ(test, a, c);
	KUNIT_EXPECT_EQ(test, a->cqe_used, 2048);
	/* Another vector has a CQ of its own; a claim may be larger than the usual CQ. */
	d = ib_cq_pool_get(dev, 3000, 2, IB_POLL_SOFTIRQ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(d));
	KUNIT_EXPECT_EQ(test, d->cqe, 4096);
	ib_cq_pool_put(a, 2000);
	KUNIT_EXPECT_EQ(test, a->cqe_used, 48);
	KUNIT_EXPECT_PTR_EQ(test, ib_cq_pool_get(dev, 2000, 1, IB_POLL_SOFTIRQ), a);
	ib_cq_pool_put(a, 2000);
	ib_cq_pool_put(b, 49);
	ib_cq_pool_put(c, 48);
	ib_cq_pool_put(d, 3000);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_cq_pool_get(dev, 0, 0, IB_POLL_SOFTIRQ)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_cq_pool_get(dev, 65537, 0,
							     IB_POLL_SOFTIRQ)), -EINVAL);
	atomic_set(&hca->fail_create[FAKE_CQ], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_cq_pool_get(dev, 1, 3, IB_POLL_SOFTIRQ)),
			-ENOMEM);
}

static int cq_once(struct kunit *test)
{
	struct ib_cq *polled, *mine, *pooled;
	int ret;

	hca->ibdev.use_cq_dim = true;
	hca->ibdev.ops.modify_cq = modify_cq;
	pooled = ib_cq_pool_get(&hca->ibdev, 4, 0, IB_POLL_UNBOUND_WORKQUEUE);
	polled = ib_alloc_cq(&hca->ibdev, &gen, 16, 0, IB_POLL_WORKQUEUE);
	mine = own();
	ret = PTR_ERR_OR_ZERO(polled) ?: PTR_ERR_OR_ZERO(mine) ?: PTR_ERR_OR_ZERO(pooled);
	if (!IS_ERR(polled))
		ib_free_cq(polled);
	if (!IS_ERR(mine))
		ib_destroy_cq(mine);
	if (!IS_ERR(pooled))
		ib_cq_pool_put(pooled, 4);
	return ret;
}

static void queues_survive_each_failed_allocation(struct kunit *test)
{
	/* The pool and moderation work without some of their allocations. */
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, cq_once), 3u);
	/* CQs of the pool exist until the device is unregistered. */
	KUNIT_EXPECT_LE(test, fake_hca_objects(hca), 1);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(more_than_a_rounds_budget_is_polled_in_rounds),
	KUNIT_CASE(what_comes_before_the_arming_is_not_lost),
	KUNIT_CASE(who_polls_directly_has_a_budget),
	KUNIT_CASE(a_silent_request_may_fail),
	KUNIT_CASE(vectors_are_given_out_in_turn),
	KUNIT_CASE(an_owner_polls_its_own),
	KUNIT_CASE(a_provider_may_be_silenced_first),
	KUNIT_CASE(a_process_is_heard_in_the_end),
	KUNIT_CASE(an_event_on_its_way_is_not_polled),
	KUNIT_CASE(a_reader_is_waited_for),
	KUNIT_CASE(a_cq_is_moderated_and_resized),
	KUNIT_CASE_SLOW(moderation_follows_the_load),
	KUNIT_CASE(claims_share_queues),
	KUNIT_CASE(queues_survive_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_cq_suite = {
	.name = "ib_core_cq",
	.init = cq_test_init,
	.exit = cq_test_exit,
	.test_cases = cq_cases,
};

kunit_test_suite(ibcore_cq_suite);
