// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A special QP in error: sends that are repeated or handed back; the recovery's end. */
#include <linux/hrtimer.h>
#include "recover.h"

/* ---- what is behind a failed send ---- */

static void expect_redone(struct kunit *test, int n)
{
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, wire.n, n);
	expect_in_order(test, &wire, n);
	KUNIT_EXPECT_EQ(test, mqp()->inflight, (unsigned int)n);
}

static void one_of_twenty_fails(struct kunit *test, enum ib_qp_state state)
{
	turn_slots(test, SEND_DEPTH - 10);
	pair.asker.hca->hold_send_completions = true;
	post(test, 20);
	mad_quiesce(&pair);
	wire.n = 0;
	KUNIT_EXPECT_TRUE(test, fake_hca_complete_held(qp1(), IB_WC_LOC_QP_OP_ERR));
	fake_hca_qp_error(qp1(), state);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_LOC_QP_OP_ERR);
	expect_redone(test, 19);
	/* The QP goes on with the sends behind the failed one. */
	fake_hca_release_completions(pair.asker.hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 20));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 1);
}

/* The provider sends by other QPs, and a reset would keep the sends that they have. */
static bool keeps_sends(void)
{
	return pair.asker.hca->quirks.reset_keeps_sends;
}

/* A reset is not enough either if the driver does not reset its ring indices. */
static bool is_never_reset(void)
{
	return pair.asker.hca->quirks.driver == RDMA_DRIVER_BNXT_RE;
}

/* If the QP's state is not that of its send queues, flushed sends show the error. */
static void sqe_goes_back_to_rts(struct kunit *test)
{
	one_of_twenty_fails(test, IB_QPS_SQE);
	KUNIT_EXPECT_EQ(test, resets(), keeps_sends());
	expect_well(test);
}

static void err_goes_through_reset(struct kunit *test)
{
	one_of_twenty_fails(test, IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, resets(), 1);
	expect_well(test);
}

/* The QP lost completions when it failed: the sends are posted again in their order. */
static void what_a_reset_takes_back_is_redone_in_order(struct kunit *test)
{
	turn_slots(test, SEND_DEPTH - 10);
	pair.asker.hca->lose_completions = true;
	post(test, 20);
	mad_quiesce(&pair);
	wire.n = 0;
	pair.asker.hca->lose_completions = false;
	pair.asker.hca->hold_send_completions = true;
	fake_hca_qp_error(qp1(), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, wait_within(wire.n == 20, BOUND_MS));
	expect_redone(test, 20);
	KUNIT_EXPECT_EQ(test, resets(), 1);
	expect_well(test);
}

/* A send that is flushed again and again ends with an error. */
static void what_is_always_flushed_is_given_up(struct kunit *test)
{
	int i;

	pair.asker.hca->hold_send_completions = true;
	post(test, 2);
	for (i = 0; i <= IBMAD_MAX_REDO; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 0);
		fake_hca_qp_error(qp1(), IB_QPS_SQE);
		mad_quiesce(&pair);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 2);
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, wire.n, 2 * (1 + IBMAD_MAX_REDO));
	expect_well(test);
}

/* The limit applies to each try: a send that is flushed at times has all its tries. */
static void each_try_may_be_flushed(struct kunit *test)
{
	int i;

	pair.asker.hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, IBMAD_MAX_REDO + 1), 0);
	for (i = 0; i <= IBMAD_MAX_REDO + 1; i++) {
		KUNIT_EXPECT_TRUE(test, wait_within(wire.n == 2 * i + 1, 2000));
		fake_hca_qp_error(qp1(), IB_QPS_SQE);
		KUNIT_EXPECT_TRUE(test, wait_within(wire.n == 2 * i + 2, 500));
		fake_hca_release_completions(pair.asker.hca);
		pair.asker.hca->hold_send_completions = true;
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	expect_well(test);
}

/* ---- fatal errors ---- */

static void expect_all_back(struct kunit *test, int n)
{
	KUNIT_EXPECT_TRUE(test, handed_back(n));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	expect_in_order(test, &told, n);
}

/* Sends on the QP and in the lanes complete in the order in which they were posted. */
static void a_fatal_event_hands_all_back(struct kunit *test)
{
	static const enum ib_event_type events[] = {
		IB_EVENT_QP_FATAL, IB_EVENT_QP_REQ_ERR, IB_EVENT_QP_ACCESS_ERR,
	};
	int i, n = SEND_DEPTH + 10;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		pair.drop_requests = -1;
		turn_slots(test, 100);
		pair.asker.hca->hold_send_completions = true;
		post(test, n);
		fake_hca_qp_event(qp1(), events[i]);
		expect_all_back(test, n);
		KUNIT_EXPECT_EQ(test, resets(), i + 1);
		expect_well(test);
	}
	/* Other events are not fatal. */
	fake_hca_qp_event(qp1(), IB_EVENT_SQ_DRAINED);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, resets(), i);
}

static void handed_back_in_order_without_completions(struct kunit *test)
{
	turn_slots(test, SEND_DEPTH - 10);
	pair.asker.hca->lose_completions = true;
	post(test, SEND_DEPTH + 10);
	fake_hca_qp_event(qp1(), IB_EVENT_QP_FATAL);
	expect_all_back(test, SEND_DEPTH + 10);
	expect_well(test);
}

/*
 * A recovery goes on when both queues are flushed, whichever is the last; or
 * after a timeout if the provider flushes nothing.
 */
static void a_recovery_ends_with_its_flush(struct kunit *test)
{
	bool in_vain;
	int sends;

	for (sends = 0; sends < 2; sends++) {
		in_vain = pair.asker.hca->quirks.qp1_state_is_a_note ||
			  (sends && keeps_sends());
		pair.asker.hca->hold_send_completions = true;
		post(test, sends);
		fake_hca_qp_event(qp1(), IB_EVENT_QP_FATAL);
		KUNIT_EXPECT_TRUE_MSG(test, wait_within(resets() == sends + 1 &&
							mqp()->state == IBMAD_QP_LIVE,
							IBMAD_FLUSH_MS / 2 +
							in_vain * IBMAD_FLUSH_MS),
				      "%d sends", sends);
		KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), sends);
		mad_quiesce(&pair);
	}
	expect_well(test);
}

static enum ib_qp_state break_at;

static void break_once(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	if (next != break_at)
		return;
	hca->on_modify_qp = NULL;
	fake_hca_qp_event(qp, IB_EVENT_QP_FATAL);
}

/* During a recovery from a lesser error: the sends are handed back nevertheless. */
static void a_fatal_event_amid_a_recovery(struct kunit *test)
{
	static const enum ib_qp_state states[] = {
		IB_QPS_ERR, IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		/* A QP that has not flushed all is replaced here, not reset. */
		if (states[i] == IB_QPS_RESET && (keeps_sends() || is_never_reset()))
			continue;
		pair.drop_requests = -1;
		turn_slots(test, 1);
		pair.asker.hca->hold_send_completions = true;
		post(test, 5);
		break_at = states[i];
		pair.asker.hca->on_modify_qp = break_once;
		fake_hca_qp_error(qp1(), IB_QPS_ERR);
		KUNIT_EXPECT_TRUE_MSG(test, handed_back(5), "state %d", states[i]);
		expect_well(test);
	}
}

/* ---- recoveries that fail ---- */

static enum ib_qp_state refuse_at;

static void refuse_always(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	if (next == refuse_at)
		atomic_set(&hca->fail_modify_qp, 1);
}

static void refuse_once(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	if (next == refuse_at)
		hca->on_modify_qp = NULL;
	refuse_always(hca, qp, next);
}

struct failure {
	enum ib_qp_state at;		/* transition that modify_qp refuses */
	bool always;			/* each time, or else once */
	bool fatal;
	bool query;			/* querying the state of the QP fails */
};

static const struct failure failures[] = {
	{ IB_QPS_ERR, false, true, false },
	{ IB_QPS_RESET, false, true, false },	/* and a new QP is created */
	{ IB_QPS_INIT, false, true, false },	/* likewise, after a reset */
	{ IB_QPS_RTR, false, true, false },
	{ IB_QPS_RTS, false, true, false },
	{ IB_QPS_INIT, false, false, false },
	{ IB_QPS_RTS, false, false, false },
	{ IB_QPS_INIT, true, true, false },
	{ IB_QPS_RTR, true, true, false },
	{ IB_QPS_RTS, true, true, false },
	{ IB_QPS_INIT, true, false, false },
	{ IB_QPS_RTS, true, false, false },
	{ .query = true },
	{ IB_QPS_INIT, true, false, true },
};

/* The transition was refused to a new QP, which replaced the QP instead of a reset. */
static bool refuses_the_last(const struct failure *f)
{
	const struct fake_hca_quirks *quirks = &pair.asker.hca->quirks;

	if (f->at == IB_QPS_ERR || f->at == IB_QPS_RESET || f->query)
		return false;
	/* If its state is a mere note, a QP is reset only after all was flushed. */
	return keeps_sends() || is_never_reset() || (quirks->qp1_state_is_a_note && f->fatal) ||
	       (quirks->reset_is_a_note && f->at != IB_QPS_INIT);
}

static void expect_lost(struct kunit *test, int i)
{
	KUNIT_EXPECT_TRUE_MSG(test, handed_back(5), "failure %d", i);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ_MSG(test, mad_post(&pair.asker, 1000, 2), -ENODEV,
			    "failure %d", i);
	KUNIT_EXPECT_EQ_MSG(test, refcount_read(&to_agent(pair.asker.agent)->refs), 1u,
			    "failure %d", i);
	KUNIT_EXPECT_EQ_MSG(test, mqp()->recv_posted, 0u, "failure %d", i);
	/* Nothing is left that could raise an event; or the QP is in RESET. */
	if (!pair.asker.hca->quirks.special_once) {
		KUNIT_EXPECT_NULL_MSG(test, qp1(), "failure %d", i);
		KUNIT_EXPECT_NULL_MSG(test, mqp()->cq, "failure %d", i);
	} else {
		KUNIT_EXPECT_EQ_MSG(test, fake_hca_posted_recvs(qp1()), 0u, "failure %d", i);
	}
	KUNIT_EXPECT_EQ_MSG(test, resets(), 1, "failure %d", i);
}

/* The clients' sends fail, and the device can be removed. */
static void a_recovery_that_fails_at_each_step(struct kunit *test)
{
	const struct failure *f;
	int i;

	for (i = 0; i < ARRAY_SIZE(failures); i++) {
		f = &failures[i];
		pair.asker.hca->hold_send_completions = true;
		post(test, 5);
		mad_quiesce(&pair);
		refuse_at = f->at;
		pair.asker.hca->on_modify_qp = f->always ? refuse_always :
					       f->query ? NULL : refuse_once;
		atomic_set(&pair.asker.hca->fail_query_qp, f->query);
		if (f->fatal)
			fake_hca_qp_event(qp1(), IB_EVENT_QP_FATAL);
		else
			fake_hca_qp_error(qp1(), IB_QPS_ERR);
		if (f->always || refuses_the_last(f)) {
			expect_lost(test, i);
		} else {
			mad_quiesce(&pair);
			/*
			 * The refusal may be pending: without a flush RESET is not tried.
			 */
			pair.asker.hca->on_modify_qp = NULL;
			KUNIT_EXPECT_EQ_MSG(test, atomic_read(&pair.asker.errors),
					    f->fatal ? 5 : 0, "failure %d", i);
			expect_well(test);
		}
		recover_exit(test);
		KUNIT_ASSERT_EQ(test, recover_init(test), 0);
	}
}

/* If the transition from SQE to RTS fails, the QP goes through RESET. */
static void sqe_that_cannot_be_left(struct kunit *test)
{
	pair.asker.hca->hold_send_completions = true;
	post(test, 5);
	mad_quiesce(&pair);
	wire.n = 0;
	atomic_set(&pair.asker.hca->fail_modify_qp, 1);
	fake_hca_qp_error(qp1(), IB_QPS_SQE);
	expect_redone(test, 5);
	KUNIT_EXPECT_EQ(test, resets(), 1);
	expect_well(test);
}

/* A request that waits for its response when its QP is lost ends at its next retry. */
static void a_retry_on_a_lost_qp(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 2 * IBMAD_FLUSH_MS, 5), 0);
	mad_quiesce(&pair);
	refuse_at = IB_QPS_INIT;
	pair.asker.hca->on_modify_qp = refuse_always;
	fake_hca_qp_event(qp1(), IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_LOC_QP_OP_ERR);
	KUNIT_EXPECT_EQ(test, wire.n, 1);
}

/* If the provider refuses one send of the backlog, only that one fails. */
static void a_backlog_with_one_refused(struct kunit *test)
{
	int i, n = SEND_DEPTH + 5;

	pair.drop_requests = 0;
	pair.asker.hca->hold_send_completions = true;
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 20000, 0), 0);
	atomic_set(&pair.asker.hca->fail_post_send, 1);
	fake_hca_release_completions(pair.asker.hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, n));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.errors), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.received), n - 1);
	expect_well(test);
}

/* ---- events ---- */

static atomic_t in_hardirq;

static enum hrtimer_restart break_in_interrupt(struct hrtimer *timer)
{
	atomic_set(&in_hardirq, !!in_hardirq());
	fake_hca_qp_event(qp1(), IB_EVENT_QP_FATAL);
	return HRTIMER_NORESTART;
}

static void a_fatal_event_in_a_hard_interrupt(struct kunit *test)
{
	struct hrtimer timer;

	atomic_set(&in_hardirq, 0);
	pair.asker.hca->hold_send_completions = true;
	post(test, 5);
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = break_in_interrupt;
	hrtimer_start(&timer, ms_to_ktime(5), HRTIMER_MODE_REL_HARD);
	KUNIT_EXPECT_TRUE(test, handed_back(5));
	KUNIT_EXPECT_EQ(test, atomic_read(&in_hardirq), 1);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	expect_well(test);
}

/* ---- recovery and removal ---- */

static struct completion recovering;

static void recover_slowly(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	if (next == break_at)
		complete_all(&recovering);
	msleep(100);
}

static void break_always(struct fake_hca *hca, struct ib_qp *qp, enum ib_qp_state next)
{
	fake_hca_qp_event(qp, IB_EVENT_QP_FATAL);
}

static void removal_amid_a_recovery(struct kunit *test)
{
	static const enum ib_qp_state states[] = {
		IB_QPS_ERR, IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS,
	};
	int i, sends;

	for (i = 0; i < 2 * ARRAY_SIZE(states); i++) {
		sends = i & 1 ? 5 : 0;
		if (states[i / 2] == IB_QPS_RESET &&
		    ((sends && keeps_sends()) || is_never_reset()))
			continue;
		init_completion(&recovering);
		break_at = states[i / 2];
		pair.asker.hca->hold_send_completions = true;
		post(test, sends);
		pair.asker.hca->on_modify_qp = recover_slowly;
		fake_hca_qp_error(qp1(), IB_QPS_ERR);
		KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&recovering, HZ * 10),
				0);
		expect_removal(test, sends);
		recover_exit(test);
		KUNIT_ASSERT_EQ(test, recover_init(test), 0);
	}
}

/* Each step of its destruction breaks the QP. */
static void recovery_amid_a_removal(struct kunit *test)
{
	pair.asker.hca->on_modify_qp = break_always;
	expect_removal(test, 0);
}

static struct kunit_case recover_cases[] = {
	KUNIT_CASE(sqe_goes_back_to_rts),
	KUNIT_CASE(err_goes_through_reset),
	KUNIT_CASE(what_a_reset_takes_back_is_redone_in_order),
	KUNIT_CASE(what_is_always_flushed_is_given_up),
	KUNIT_CASE(each_try_may_be_flushed),
	KUNIT_CASE(a_fatal_event_hands_all_back),
	KUNIT_CASE(a_recovery_ends_with_its_flush),
	KUNIT_CASE(handed_back_in_order_without_completions),
	KUNIT_CASE(a_fatal_event_amid_a_recovery),
	KUNIT_CASE(a_recovery_that_fails_at_each_step),
	KUNIT_CASE(sqe_that_cannot_be_left),
	KUNIT_CASE(a_retry_on_a_lost_qp),
	KUNIT_CASE(a_backlog_with_one_refused),
	KUNIT_CASE(a_fatal_event_in_a_hard_interrupt),
	KUNIT_CASE(removal_amid_a_recovery),
	KUNIT_CASE(recovery_amid_a_removal),
	{}
};

static struct kunit_suite ibmad_recover_suite = {
	.name = "ib_mad_recover",
	.init = recover_init,
	.exit = recover_exit,
	.test_cases = recover_cases,
};

kunit_test_suite(ibmad_recover_suite);
