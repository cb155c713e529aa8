// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Lost completions, completions of nothing; a receive queue that is kept full. */
#include "faults.h"
#include "log.h"
#include "recover.h"

/* ---- completions that are lost ---- */

static void expect_stalled(struct kunit *test, unsigned long since)
{
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&pair.asker.errors),
					    IBMAD_STALL_MS + IBMAD_FLUSH_MS + 1000));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - since), IBMAD_STALL_MS);
	KUNIT_EXPECT_EQ(test, resets(), 1);
}

/* The log says once what is stuck. */
static void a_stall_is_noticed(struct kunit *test)
{
	unsigned long since = jiffies;
	char words[128];
	int before;

	snprintf(words, sizeof(words),
		 "send queue stalled, resetting QP1; 3 sent, 0 queued; oldest: class %#x method %#x attribute %#x TID ",
		 TEST_CLASS, IB_MGMT_METHOD_GET, 0);
	before = log_lines(words);
	pair.asker.hca->lose_completions = true;
	post(test, 3);
	expect_stalled(test, since);
	KUNIT_EXPECT_EQ(test, log_lines(words), before + 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.errors, 3));
	expect_well(test);
}

/* An earlier send started the watch; it fires in time for this one, too. */
static void a_stall_is_noticed_in_time(struct kunit *test)
{
	unsigned long since;

	turn_slots(test, 1);
	msleep(IBMAD_STALL_MS / 2);
	since = jiffies;
	pair.asker.hca->lose_completions = true;
	post(test, 1);
	expect_stalled(test, since);
	expect_well(test);
}

static void receive_in_error(void)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 1 };
	u8 too_long[IB_MGMT_MAD_SIZE + 8] = {};

	fake_hca_inject(pair.asker.hca, 1, &like, too_long, sizeof(too_long));
}

/* One completion is lost among many others: its client does not wait forever. */
static void lose_one(struct kunit *test, bool amid_errors)
{
	unsigned long since;
	int i;

	turn_slots(test, 1);
	pair.asker.hca->hold_send_completions = true;
	post(test, 1);
	mad_quiesce(&pair);
	KUNIT_EXPECT_TRUE(test, fake_hca_lose_held(qp1()));
	pair.asker.hca->hold_send_completions = false;
	since = jiffies;
	for (i = 0; !atomic_read(&pair.asker.errors) && i < 60; i++) {
		post(test, 1);
		if (amid_errors)
			receive_in_error();
		msleep(500);
	}
	KUNIT_EXPECT_LT(test, took_ms(jiffies - since),
			IBMAD_STALL_MS + IBMAD_FLUSH_MS + 1000);
	/* Sends behind it are handed back by the reset, too: each of them completes. */
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, i + 1));
	KUNIT_EXPECT_GT(test, atomic_read(&pair.asker.errors), 0);
	KUNIT_EXPECT_EQ(test, resets(), 1);
	expect_well(test);
}

static void one_lost_completion_on_a_busy_queue(struct kunit *test)
{
	lose_one(test, false);
}

/* Each error starts a recovery, which finds the QP in order and lets it go on. */
static void one_lost_completion_amid_errors(struct kunit *test)
{
	lose_one(test, true);
}

/* A queue that is slow but loses nothing is not reset. */
static void slow_is_not_stalled(struct kunit *test)
{
	int i, n = 10;

	pair.asker.hca->hold_send_completions = true;
	post(test, n);
	for (i = 0; i < n; i++) {
		msleep(IBMAD_STALL_MS - 1000);
		KUNIT_EXPECT_TRUE(test, fake_hca_complete_held(qp1(), IB_WC_SUCCESS));
	}
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, resets(), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 0);
	expect_well(test);
}

static void no_event(struct ib_cq *cq, void *private)
{
}

/* Posts @n sends whose completions, if there are any, are reported by no event. */
static void post_without_event(struct kunit *test, int n)
{
	struct ib_cq *cq = qp1()->send_cq;
	ib_comp_handler usual = cq->comp_handler;

	cq->comp_handler = no_event;
	post(test, n);
	mad_quiesce(&pair);
	cq->comp_handler = usual;
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 0);
}

/* The CQ is not armed again either: the watch polls and arms it, and resets nothing. */
static void an_event_that_is_lost(struct kunit *test)
{
	unsigned long since = jiffies;

	post_without_event(test, 3);
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&pair.asker.sent) == 3,
					    IBMAD_STALL_MS + 1000));
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - since), IBMAD_STALL_MS);
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 0);
	KUNIT_EXPECT_EQ(test, resets(), 0);
	/* The watch goes on. */
	since = jiffies;
	pair.asker.hca->lose_completions = true;
	post(test, 1);
	expect_stalled(test, since);
	expect_well(test);
}

/* The poll completes the sends behind the lost one, which is no reason to wait on. */
static void an_event_and_a_completion_that_are_lost(struct kunit *test)
{
	pair.asker.hca->hold_send_completions = true;
	post(test, 1);
	mad_quiesce(&pair);
	KUNIT_EXPECT_TRUE(test, fake_hca_lose_held(qp1()));
	pair.asker.hca->hold_send_completions = false;
	post_without_event(test, 2);
	expect_stalled(test, jiffies - msecs_to_jiffies(IBMAD_STALL_MS));
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 3));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 1);
	expect_well(test);
}

/* A client waits for the send: it is polled for sooner. */
static void an_event_that_is_lost_before_a_deregistration(struct kunit *test)
{
	struct ib_mad_agent *other;
	unsigned long since = jiffies;

	other = ib_register_mad_agent(&pair.asker.hca->ibdev, 1, IB_QPT_GSI, NULL, 0,
				      mad_sent, mad_received, &pair.asker, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	post_without_event(test, 3);
	ib_unregister_mad_agent(pair.asker.agent);
	pair.asker.agent = other;
	KUNIT_EXPECT_LT(test, took_ms(jiffies - since), IBMAD_DRAIN_MS + 1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 3);
	KUNIT_EXPECT_EQ(test, resets(), 0);
	expect_well(test);
}

static void removal_with_all_completions_lost(struct kunit *test)
{
	post(test, 10);
	mad_quiesce(&pair);
	pair.asker.hca->lose_completions = true;
	post(test, SEND_DEPTH + 10);
	expect_removal(test, SEND_DEPTH + 20);
}

/* Completions without a work request are counted and otherwise ignored. */
static void completions_of_nothing(struct kunit *test)
{
	struct ib_wc wc = { .status = IB_WC_SUCCESS, .qp = qp1() };
	int i;

	for (i = 0; i < SEND_DEPTH; i++) {
		wc.wr_cqe = &mqp()->send_slots[i].cqe;
		fake_hca_complete(mqp()->cq, &wc);
	}
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_STRAY_WC), SEND_DEPTH);
	expect_well(test);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_STRAY_WC), SEND_DEPTH);
}

/* ---- receiving ---- */

static void receives_in_error_are_posted_again(struct kunit *test)
{
	int i;

	for (i = 0; i < RECV_DEPTH + 10; i++) {
		receive_in_error();
		if (i % 50 == 0)
			mad_quiesce(&pair);
	}
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, resets(), 0);
	KUNIT_EXPECT_EQ(test, mad_counter(pair.asker.agent, IBMAD_RECEIVED), 0);
	expect_well(test);
}

static void receive_one(struct kunit *test)
{
	struct fake_hca_packet like = {
		.src_qpn = 1, .slid = pair.server.hca->port[1].lid,
	};
	u8 mad[IB_MGMT_MAD_SIZE] = {};
	struct ib_mad_hdr *hdr = (void *)mad;

	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = TEST_CLASS;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_SEND;
	fake_hca_inject(pair.asker.hca, 1, &like, mad, sizeof(mad));
	msleep(20);
}

/* Each repost is refused until no receive is posted; then all are posted again. */
static void a_receive_queue_that_runs_dry(struct kunit *test)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 1 };
	u8 mad[IB_MGMT_MAD_SIZE] = {};
	int i;

	for (i = 0; i < RECV_DEPTH; i++) {
		KUNIT_ASSERT_EQ(test, fake_hca_posted_recvs(qp1()), RECV_DEPTH - i);
		atomic_set(&pair.asker.hca->fail_post_recv, 1);
		fake_hca_inject(pair.asker.hca, 1, &like, mad, sizeof(mad));
		KUNIT_ASSERT_TRUE(test, wait_within(!atomic_read(&pair.asker.hca->fail_post_recv),
						    1000));
	}
	KUNIT_EXPECT_TRUE(test, wait_within(mqp()->recv_posted == RECV_DEPTH, 1000));
	KUNIT_EXPECT_EQ(test, resets(), 0);
	expect_well(test);
}

/* Receives that were refused are posted as soon as possible, not when none is left. */
static void receives_that_were_refused(struct kunit *test)
{
	int i;

	for (i = 1; i <= 3; i++) {
		atomic_set(&pair.asker.hca->fail_post_recv, 1);
		receive_one(test);
		KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp1()), RECV_DEPTH - i);
	}
	/* The MAD's own slot is posted at the second attempt, but no other slot. */
	atomic_set(&pair.asker.hca->fail_post_recv, 2);
	receive_one(test);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp1()), RECV_DEPTH - 3);
	for (i = 1; i <= 5; i++) {
		receive_one(test);
		KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp1()),
				RECV_DEPTH - max(3 - i, 0));
	}
	KUNIT_EXPECT_EQ(test, mqp()->recv_posted, RECV_DEPTH);
	KUNIT_EXPECT_EQ(test, resets(), 0);
	expect_well(test);
}

/* The recovery posts the slot that was not posted, and posts each slot once. */
static void receives_that_were_refused_before_a_recovery(struct kunit *test)
{
	atomic_set(&pair.asker.hca->fail_post_recv, 1);
	receive_one(test);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp1()), RECV_DEPTH - 1);
	fake_hca_qp_error(qp1(), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, wait_within(resets() == 1, 5000));
	mad_quiesce(&pair);
	receive_one(test);
	expect_well(test);
}

/* A receive refused during a recovery is posted when the next MAD has been received. */
static void receives_that_are_refused_in_recovery(struct kunit *test)
{
	atomic_set(&pair.asker.hca->fail_post_recv, 1);
	receive_in_error();
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp1()), RECV_DEPTH - 1);
	receive_one(test);
	KUNIT_EXPECT_EQ(test, resets(), 0);
	expect_well(test);
}

static bool refuse_one_slot(struct fake_hca *hca, const struct ib_recv_wr *wr)
{
	return wr->wr_cqe == &mqp()->recv_slots[0].cqe;
}

static bool refuse_all_slots(struct fake_hca *hca, const struct ib_recv_wr *wr)
{
	return true;
}

/* One slot is always refused, as if it could not be mapped: the others are used. */
static void a_receive_that_is_always_refused(struct kunit *test)
{
	struct fake_hca *hca = pair.asker.hca;
	int i;

	hca->refuses_recv = refuse_one_slot;
	for (i = 0; i < 2; i++) {
		if (i)
			fake_hca_qp_error(qp1(), IB_QPS_ERR);
		else
			receive_in_error();
		mad_quiesce(&pair);
		KUNIT_EXPECT_EQ(test, resets(), i);
		KUNIT_ASSERT_NOT_NULL(test, qp1());
		KUNIT_EXPECT_EQ(test, fake_hca_posted_recvs(qp1()), RECV_DEPTH - 1);
		KUNIT_EXPECT_EQ(test, mqp()->recv_posted, RECV_DEPTH - 1);
		receive_one(test);
		KUNIT_EXPECT_EQ(test, mqp()->recv_posted, RECV_DEPTH - 1);
	}
	hca->refuses_recv = NULL;
	receive_one(test);
	expect_well(test);
	KUNIT_EXPECT_EQ(test, resets(), 1);
}

/*
 * All are refused for lack of memory: the QP is made again later,
 * as if there were none for the QP itself.
 */
static void receives_that_are_all_refused(struct kunit *test)
{
	struct fake_hca *hca = pair.asker.hca;

	hca->refuses_recv = refuse_all_slots;
	fake_hca_qp_error(qp1(), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, wait_within(mqp()->state == IBMAD_QP_DEAD, BOUND_MS));
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, mad_post(&pair.asker, 1000, 2), -ENODEV);
	KUNIT_EXPECT_EQ(test, mqp()->recv_posted, 0u);
	hca->refuses_recv = NULL;
	KUNIT_EXPECT_TRUE(test, wait_within(mqp()->state == IBMAD_QP_LIVE,
					    3 * IBMAD_REMAKE_MS));
	expect_well(test);
}

static void nothing_to_undo(struct kunit *test)
{
}

/* Without memory for a new buffer the MAD is dropped, and its buffer posted again. */
static void receiving_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, receive_one,
							  nothing_to_undo), 1u);
	KUNIT_EXPECT_GE(test, mad_counter(pair.asker.agent, IBMAD_RECV_NO_BUFFER), 1);
	expect_well(test);
}

static struct kunit_case lost_cases[] = {
	KUNIT_CASE_SLOW(a_stall_is_noticed),
	KUNIT_CASE_SLOW(a_stall_is_noticed_in_time),
	KUNIT_CASE_SLOW(one_lost_completion_on_a_busy_queue),
	KUNIT_CASE_SLOW(one_lost_completion_amid_errors),
	KUNIT_CASE_SLOW(slow_is_not_stalled),
	KUNIT_CASE_SLOW(an_event_that_is_lost),
	KUNIT_CASE_SLOW(an_event_and_a_completion_that_are_lost),
	KUNIT_CASE(an_event_that_is_lost_before_a_deregistration),
	KUNIT_CASE(removal_with_all_completions_lost),
	KUNIT_CASE(completions_of_nothing),
	KUNIT_CASE(receives_in_error_are_posted_again),
	KUNIT_CASE_SLOW(a_receive_queue_that_runs_dry),
	KUNIT_CASE(receives_that_were_refused),
	KUNIT_CASE(receives_that_were_refused_before_a_recovery),
	KUNIT_CASE(receives_that_are_refused_in_recovery),
	KUNIT_CASE(a_receive_that_is_always_refused),
	KUNIT_CASE(receives_that_are_all_refused),
	KUNIT_CASE(receiving_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibmad_lost_suite = {
	.name = "ib_mad_lost",
	.init = recover_init,
	.exit = recover_exit,
	.test_cases = lost_cases,
};

kunit_test_suite(ibmad_lost_suite);
