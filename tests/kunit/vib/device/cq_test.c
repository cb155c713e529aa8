// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues: arming, events, overrun and size (IBA vol. 1, 10.2.6, 11.2.6, 11.4.2). */
#include "faults.h"
#include "hca_pair.h"

static struct hca_pair pair;
static struct ib_qp *qp;	/* a's, whose datagrams lead nowhere */
static struct ib_ah *ah;
static struct ib_cq *cq;	/* of 16 completions, for its sends */
static u8 *out;

static struct {
	atomic_t events, errors;
	int cpu;
	bool softirq, poll;
} seen;

static void completed(struct ib_cq *from, void *context)
{
	struct ib_wc wc;

	seen.cpu = smp_processor_id();
	seen.softirq = in_softirq();
	atomic_inc(&seen.events);
	while (seen.poll && ib_poll_cq(from, 1, &wc))
		;
}

static void went_wrong(struct ib_event *event, void *context)
{
	if (event->event == IB_EVENT_CQ_ERR && event->element.cq == cq)
		atomic_inc(&seen.errors);
}

static struct ib_cq *cq_new(int cqe, int vector)
{
	struct ib_cq_init_attr attr = { .cqe = cqe, .comp_vector = vector };

	return ib_create_cq(&pair.a.hca->ib, completed, went_wrong, NULL, &attr);
}

static int cq_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	memset(&seen, 0, sizeof(seen));
	out = hca_buf(test, 64, 1);
	cq = cq_new(16, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	qp = hca_qp_create(&pair.a, IB_QPT_UD, &(struct hca_qp_want){ .cq = cq });
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
	ah = hca_ah(test, &pair.a, pair.b.port->lid);
	return 0;
}

static void cq_test_exit(struct kunit *test)
{
	if (ah)
		rdma_destroy_ah(ah, 0);
	if (!IS_ERR_OR_NULL(qp))
		ib_destroy_qp(qp);
	if (!IS_ERR_OR_NULL(cq))
		ib_destroy_cq(cq);
	ah = NULL;
	qp = NULL;
	cq = NULL;
	hca_pair_exit(&pair);
}

/* @n sends, whose wr_ids count from 100. */
static void make_done(struct kunit *test, int n)
{
	struct hca_send send = hca_send_wr(&pair.a, ah, 99, out, 8);
	int i;

	for (i = 0; i < n; i++) {
		send.ud.wr.wr_id = 100 + i;
		KUNIT_ASSERT_EQ(test, hca_post_send(qp, &send), 0);
	}
	flush_workqueue(vib_wq);
}

/* A receive of @qp with success, of a message that asks for an event if @solicited. */
static void receive(struct kunit *test, bool solicited)
{
	struct ib_ah *own = hca_ah(test, &pair.a, pair.a.port->lid);
	struct hca_send send = hca_send_wr(&pair.a, own, qp->qp_num, out, 8);
	u8 *in = hca_buf(test, 64, 0);

	send.ud.wr.send_flags = solicited ? IB_SEND_SOLICITED : 0;
	KUNIT_ASSERT_EQ(test, hca_recv(qp, &pair.a, in, 64, 7), 0);
	KUNIT_ASSERT_EQ(test, hca_post_send(qp, &send), 0);
	flush_workqueue(vib_wq);
	flush_workqueue(vib_wq);
	rdma_destroy_ah(own, 0);
}

static int polled(int want)
{
	static struct ib_wc wc[32];

	return ib_poll_cq(cq, want, wc);
}

static int events(void)
{
	flush_workqueue(vib_wq);
	return atomic_read(&seen.events);
}

/* ---- polling ---- */

static void completions_come_in_order_and_as_many_as_are_wanted(struct kunit *test)
{
	struct ib_wc wc[16];
	int i;

	make_done(test, 10);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(cq, 0, wc), 0);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(cq, 4, wc), 4);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(cq, 12, wc + 4), 6);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, wc[i].wr_id, 100 + i);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(cq, 1, wc), 0);
}

/* Many times round the ring. */
static void a_ring_goes_round(struct kunit *test)
{
	struct ib_wc wc[16];
	int round, i;

	for (round = 0; round < 50; round++) {
		make_done(test, 7);
		KUNIT_ASSERT_EQ(test, ib_poll_cq(cq, 16, wc), 7);
		for (i = 0; i < 7; i++)
			KUNIT_ASSERT_EQ(test, wc[i].wr_id, 100 + i);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.errors), 0);
}

/* ---- events ---- */

static void each_arming_brings_one_event(struct kunit *test)
{
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 0);
	KUNIT_EXPECT_EQ(test, ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_EQ(test, events(), 0);
	make_done(test, 3);
	KUNIT_EXPECT_EQ(test, events(), 1);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 1);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 2);
	KUNIT_EXPECT_TRUE(test, seen.softirq);
}

static void what_came_before_the_arming_is_reported(struct kunit *test)
{
	const enum ib_cq_notify_flags flags = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;

	KUNIT_EXPECT_EQ(test, ib_req_notify_cq(cq, flags), 0);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 1);
	KUNIT_EXPECT_GT(test, ib_req_notify_cq(cq, flags), 0);
	KUNIT_EXPECT_EQ(test, ib_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_EQ(test, polled(16), 1);
	KUNIT_EXPECT_EQ(test, ib_req_notify_cq(cq, flags), 0);
}

static void a_solicited_event_is_for_messages_that_ask(struct kunit *test)
{
	ib_req_notify_cq(cq, IB_CQ_SOLICITED);
	receive(test, false);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 0);
	receive(test, true);
	KUNIT_EXPECT_EQ(test, events(), 1);
}

static void an_error_is_solicited_by_itself(struct kunit *test)
{
	ib_req_notify_cq(cq, IB_CQ_SOLICITED);
	KUNIT_ASSERT_EQ(test, hca_qp_modify(qp, IB_QPS_ERR), 0);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 1);
}

/* 11.4.2.2 */
static void to_arm_for_less_does_not_take_back_what_was_asked(struct kunit *test)
{
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	ib_req_notify_cq(cq, IB_CQ_SOLICITED);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 1);
	ib_req_notify_cq(cq, IB_CQ_SOLICITED);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 2);
}

static void a_handler_may_poll(struct kunit *test)
{
	seen.poll = true;
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 1);
	KUNIT_EXPECT_EQ(test, polled(1), 0);
}

static void a_vector_has_a_processor(struct kunit *test)
{
	struct ib_device *ibdev = &pair.a.hca->ib;
	const struct cpumask *mask;
	int i;

	KUNIT_EXPECT_EQ(test, ibdev->num_comp_vectors, num_online_cpus());
	for (i = 0; i < ibdev->num_comp_vectors; i++) {
		mask = ibdev->ops.get_vector_affinity(ibdev, i);
		KUNIT_EXPECT_EQ(test, cpumask_weight(mask), 1);
	}
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cq_new(1, ibdev->num_comp_vectors)), -EINVAL);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, events(), 1);
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(seen.cpu, ibdev->ops.get_vector_affinity(ibdev,
											  0)));
}

/* ---- size ---- */

static void an_overrun_is_told_of_once(struct kunit *test)
{
	make_done(test, 16);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.errors), 0);
	make_done(test, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.errors), 1);
	KUNIT_EXPECT_EQ(test, polled(32), 16);
	make_done(test, 1);
	KUNIT_EXPECT_EQ(test, polled(32), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.errors), 1);
}

static void a_resize_keeps_what_is_there(struct kunit *test)
{
	static struct ib_wc wc[64];
	int i;

	make_done(test, 5);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(cq, 3, wc), 3);
	make_done(test, 14);
	KUNIT_ASSERT_EQ(test, ib_resize_cq(cq, 40), 0);
	KUNIT_EXPECT_GE(test, cq->cqe, 40);
	make_done(test, 24);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(cq, 16), -EINVAL);
	KUNIT_EXPECT_GE(test, cq->cqe, 40);
	KUNIT_EXPECT_EQ(test, ib_poll_cq(cq, 64, wc), 2 + 14 + 24);
	for (i = 0; i < 14; i++)
		KUNIT_EXPECT_EQ(test, wc[2 + i].wr_id, 100 + i);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(cq, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_resize_cq(cq, VIB_MAX_CQE + 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, ib_resize_cq(cq, 4), 0);
	make_done(test, 4);
	KUNIT_EXPECT_EQ(test, polled(32), 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen.errors), 0);
}

static void a_size_out_of_range_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cq_new(0, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cq_new(VIB_MAX_CQE + 1, 0)), -EINVAL);
}

static int create_resize_destroy(struct kunit *test)
{
	struct ib_cq *other = cq_new(8, 0);
	int ret;

	if (IS_ERR(other))
		return PTR_ERR(other);
	ret = ib_resize_cq(other, 20);
	ib_destroy_cq(other);
	return ret;
}

static void each_allocation_may_fail(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, create_resize_destroy), 3);
}

/* An event that is on its way is over when the CQ is. */
static void no_event_comes_of_one_that_is_gone(struct kunit *test)
{
	int i, before;

	for (i = 0; i < 20; i++) {
		ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
		make_done(test, 1);
		ib_destroy_qp(qp);
		ib_destroy_cq(cq);
		before = events();
		cq = cq_new(16, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
		qp = hca_qp_create(&pair.a, IB_QPT_UD, &(struct hca_qp_want){ .cq = cq });
		KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
		KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
		KUNIT_EXPECT_EQ(test, events(), before);
	}
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(completions_come_in_order_and_as_many_as_are_wanted),
	KUNIT_CASE(a_ring_goes_round),
	KUNIT_CASE(each_arming_brings_one_event),
	KUNIT_CASE(what_came_before_the_arming_is_reported),
	KUNIT_CASE(a_solicited_event_is_for_messages_that_ask),
	KUNIT_CASE(an_error_is_solicited_by_itself),
	KUNIT_CASE(to_arm_for_less_does_not_take_back_what_was_asked),
	KUNIT_CASE(a_handler_may_poll),
	KUNIT_CASE(a_vector_has_a_processor),
	KUNIT_CASE(an_overrun_is_told_of_once),
	KUNIT_CASE(a_resize_keeps_what_is_there),
	KUNIT_CASE(a_size_out_of_range_is_refused),
	KUNIT_CASE(each_allocation_may_fail),
	KUNIT_CASE(no_event_comes_of_one_that_is_gone),
	{}
};

static struct kunit_suite vib_cq_suite = {
	.name = "vib_cq",
	.init = cq_test_init,
	.exit = cq_test_exit,
	.test_cases = cq_cases,
};

kunit_test_suite(vib_cq_suite);
