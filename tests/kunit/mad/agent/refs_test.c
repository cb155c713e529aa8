// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * References at each step of a send: on the agent one for its work request and one for
 * the response that it expects, on the send one for its armed timer.
 */
#include <ibex/mad_agent.h>
#include "refs.h"
#include "faults.h"

#define TIMEOUT_MS	5000

static int refs_test_init(struct kunit *test)
{
	const struct ib_mad_reg_req req = {
		.mgmt_class = TEST_CLASS, .mgmt_class_version = 1,
	};

	return refs_open(&req, 0);
}

static void refs_test_exit(struct kunit *test)
{
	refs_close(test);
}

/* ---- steps ---- */

static void told_to_post(struct kunit *test)
{
	refs_post(test, refs_mad(IB_MGMT_METHOD_SEND, 0, 0));
}

static void asked(struct kunit *test)
{
	struct ib_mad_send_buf *buf = refs_mad(IB_MGMT_METHOD_GET, 0, 0);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	buf->timeout_ms = TIMEOUT_MS;
	buf->retries = 1;
	refs_post(test, buf);
}

static void asked_again(struct kunit *test)
{
	refs_post(test, refs.buf);
}

static void refused(struct kunit *test)
{
	refs.buf = refs_mad(IB_MGMT_METHOD_GET, 0, 0);
	KUNIT_ASSERT_NOT_NULL(test, refs.buf);
	refs.buf->timeout_ms = TIMEOUT_MS;
	atomic_set(&refs.hca->fail_post_send, 1);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(refs.buf, NULL), -ENOMEM);
}

/* The removed device is not queried for the port of a directed route either. */
static void refused_when_removed(struct kunit *test)
{
	struct ib_mad_hdr *hdr = refs.buf->mad;

	hdr->mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	refs.buf->ah = refs.ah ?: ERR_PTR(-ENODEV);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(refs.buf, NULL), -ESHUTDOWN);
}

static void answered(struct kunit *test)
{
	refs_inject(IB_MGMT_METHOD_GET_RESP, 0, 0, 0, 0);
}

static void modified(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ib_modify_mad(refs.buf, 2 * TIMEOUT_MS), 0);
}

static void timed_out_and_refused(struct kunit *test)
{
	atomic_set(&refs.hca->fail_post_send, 1);
	timed_out(test);
}

static struct ib_cqe *last_cqe;

static void noted(struct kunit *test)
{
	struct ibmad_send_slot *slot = refs_slot();

	KUNIT_ASSERT_NOT_NULL(test, slot);
	last_cqe = &slot->cqe;
}

/* Completes the noted work request again, or after it was given up. */
static void completed_again(struct kunit *test)
{
	struct ib_wc wc = {
		.wr_cqe = last_cqe, .status = IB_WC_SUCCESS, .opcode = IB_WC_SEND,
		.qp = refs.hca->special[1][1],
	};
	u64 strays = refs_counter(IBMAD_STRAY_WC);

	fake_hca_complete(refs.hca->special[1][1]->send_cq, &wc);
	msleep(20);
	KUNIT_EXPECT_EQ(test, refs_counter(IBMAD_STRAY_WC), strays + 1);
}

static void all_lost(struct kunit *test)
{
	refs.hca->lose_completions = true;
}

/* ---- scenarios: act, agent, memory, send, state, place, others, told, status ---- */

static void a_send_without_response(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ told_to_post,	 2, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1 },
		{ deregister,	 0, 0, 0, 0, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

static void a_response_after_completion(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		/* The same response again matches nothing. */
		{ asked_again,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 1 },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 1 },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2 },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2 },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 2 },
		{}
	};

	refs_run(test, steps);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.received), 2);
}

static void a_response_before_completion(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ answered,	 2, 2, 1, IBMAD_ANSWERED, ON_QP },
		{ answered,	 2, 2, 1, IBMAD_ANSWERED, ON_QP },
		{ cancelled_in_vain, 2, 2, 1, IBMAD_ANSWERED, ON_QP },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{}
	};
	static const struct refs_step error[] = {
		{ asked_again,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 1 },
		{ answered,	 2, 2, 1, IBMAD_ANSWERED, ON_QP, 0, 1 },
		{ failed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2 },
		{}
	};

	refs_run(test, steps);
	refs.buf->timeout_ms = TIMEOUT_MS;
	refs_run(test, error);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.received), 2);
}

static void a_timeout_with_a_retry(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ timed_out,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ timed_out,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1,
		  IB_WC_RESP_TIMEOUT_ERR },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1,
		  IB_WC_RESP_TIMEOUT_ERR },
		{}
	};

	refs_run(test, steps);
}

static void a_response_meets_the_retry(struct kunit *test)
{
	static const struct refs_step on_qp[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ timed_out,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ answered,	 2, 2, 1, IBMAD_ANSWERED, ON_QP },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1 },
		{}
	};
	/* It is removed from the lane. */
	static const struct refs_step in_lane[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 1 },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 1 },
		{ queue_held,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 1 },
		{ timed_out,	 3, 2, 1, IBMAD_SENDING, IN_LANE, 0, 1 },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2 },
		{ queue_opened,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2 },
		{}
	};

	refs_run(test, on_qp);
	refs_run(test, in_lane);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.hca->sent), 3);
}

static void a_retry_that_is_refused(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ timed_out_and_refused, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1,
		  IB_WC_LOC_QP_OP_ERR },
		{}
	};

	refs_run(test, steps);
}

static void a_send_that_is_refused(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ refused,	 1, 2, 1, IBMAD_IDLE, NOWHERE },
		{ asked_again,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

#define FLUSHED	IB_WC_WR_FLUSH_ERR

static void cancelled_in_each_place(struct kunit *test)
{
	static const struct refs_step in_lane[] = {
		{ queue_held,	 1, 1, 0, 0, NOWHERE },
		{ asked,	 3, 2, 1, IBMAD_SENDING, IN_LANE },
		{ cancelled,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ cancelled_in_vain, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ queue_opened,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	static const struct refs_step on_qp[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 1, FLUSHED },
		{ cancelled,	 2, 2, 1, IBMAD_CANCELLED, ON_QP, 0, 1, FLUSHED },
		{ cancelled_in_vain, 2, 2, 1, IBMAD_CANCELLED, ON_QP, 0, 1, FLUSHED },
		{ answered,	 2, 2, 1, IBMAD_CANCELLED, ON_QP, 0, 1, FLUSHED },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 2, FLUSHED },
		{}
	};
	static const struct refs_step waiting[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 2, FLUSHED },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 2, FLUSHED },
		{ cancelled,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3, FLUSHED },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3, FLUSHED },
		{}
	};

	refs_run(test, in_lane);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.hca->sent), 0);
	refs_run(test, on_qp);
	refs_run(test, waiting);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.received), 0);
}

static void taken_back(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, ibmad_take_back(refs.buf));
}

static void not_taken_back(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, ibmad_take_back(refs.buf));
}

/* Its client is told of it unless it only waits for its response. */
static void taken_back_in_each_place(struct kunit *test)
{
	static const struct refs_step in_lane[] = {
		{ queue_held,	 1, 1, 0, 0, NOWHERE },
		{ asked,	 3, 2, 1, IBMAD_SENDING, IN_LANE },
		{ not_taken_back, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ not_taken_back, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ queue_opened,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	static const struct refs_step on_qp[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 1, FLUSHED },
		{ not_taken_back, 2, 2, 1, IBMAD_CANCELLED, ON_QP, 0, 1, FLUSHED },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 2, FLUSHED },
		{}
	};
	static const struct refs_step waiting[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 2, FLUSHED },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 2, FLUSHED },
		{ taken_back,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{ not_taken_back, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{ asked_again,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 2, FLUSHED },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 2, FLUSHED },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3 },
		{}
	};

	refs_run(test, in_lane);
	refs_run(test, on_qp);
	refs_run(test, waiting);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.received), 1);
	KUNIT_EXPECT_EQ(test, refs_counter(IBMAD_CANCELS), 3);
}

static void modified_in_each_place(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ queue_held,	 1, 1, 0, 0, NOWHERE },
		{ asked,	 3, 2, 1, IBMAD_SENDING, IN_LANE },
		{ modified,	 3, 2, 1, IBMAD_SENDING, IN_LANE },
		{ queue_opened,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ modified,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ modified,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ timed_out,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ modified,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ cancelled_in_vain, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

static void a_completion_in_error(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ failed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, IB_WC_LOC_QP_OP_ERR },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1, IB_WC_LOC_QP_OP_ERR },
		{ told_to_post,	 2, 2, 1, IBMAD_SENDING, ON_QP, 0, 1,
		  IB_WC_LOC_QP_OP_ERR },
		{ failed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, IB_WC_LOC_QP_OP_ERR },
		{}
	};

	refs_run(test, steps);
}

/* A flushed send is posted again, unless it was answered or cancelled. */
static void flushed_by_anothers_error(struct kunit *test)
{
	static const struct refs_step redone[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ flushed,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1 },
		{}
	};
	static const struct refs_step was_answered[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 1 },
		{ answered,	 2, 2, 1, IBMAD_ANSWERED, ON_QP, 0, 1 },
		{ flushed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2 },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 2 },
		{}
	};
	static const struct refs_step was_cancelled[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 2 },
		{ cancelled,	 2, 2, 1, IBMAD_CANCELLED, ON_QP, 0, 2 },
		{ flushed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3, FLUSHED },
		{}
	};

	refs_run(test, redone);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.hca->sent), 2);
	refs_run(test, was_answered);
	refs_run(test, was_cancelled);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.hca->sent), 4);
}

static void a_fatal_error(struct kunit *test)
{
	static const struct refs_step on_qp[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ fatal,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{ queue_held,	 1, 1, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{ asked,	 3, 2, 1, IBMAD_SENDING, IN_LANE, 0, 1, FLUSHED },
		{ fatal,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{}
	};
	/* A send that is not on the QP is not affected. */
	static const struct refs_step waiting[] = {
		{ asked_again,	 3, 2, 1, IBMAD_SENDING, ON_QP, 0, 2, FLUSHED },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 2, FLUSHED },
		{ fatal,	 2, 2, 2, IBMAD_WAITING, NOWHERE, 0, 2, FLUSHED },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3 },
		{}
	};

	refs_run(test, on_qp);
	refs_run(test, waiting);
}

static void a_completion_that_comes_twice(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ noted,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ completed_again, 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ answered,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ completed_again, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1 },
		{ completed_again, 1, 1, 0, 0, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

/* The work request is given up by a reset, and completes after that. */
static void a_completion_that_comes_late(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ noted,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ lost,		 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ cancelled,	 2, 2, 1, IBMAD_CANCELLED, ON_QP },
		{ deregister,	 1, 2, 1, IBMAD_CANCELLED, ON_QP },
		{ still_deregistering, 1, 2, 1, IBMAD_CANCELLED, ON_QP },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	struct ib_wc wc = { .status = IB_WC_SUCCESS };

	refs_run(test, steps);
	wc.qp = refs.hca->special[1][1];
	wc.wr_cqe = last_cqe;
	fake_hca_complete(wc.qp->send_cq, &wc);
	msleep(20);
	KUNIT_EXPECT_EQ(test, refcount_read(&refs.memory->refs), 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.told), 1);
}

static void deregistered_when_idle(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ told_to_post,	 2, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ send_freed,	 0, 0, 0, 0, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

static void deregistered_with_a_send_in_a_lane(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ queue_held,	 1, 1, 0, 0, NOWHERE },
		{ asked,	 3, 2, 1, IBMAD_SENDING, IN_LANE },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ queue_opened,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, steps);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.hca->sent), 0);
}

/* Deregistration returns only after the work request has completed. */
static void deregistered_with_a_send_on_the_qp(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ deregister,	 1, 2, 1, IBMAD_CANCELLED, ON_QP },
		{ still_deregistering, 1, 2, 1, IBMAD_CANCELLED, ON_QP },
		{ answered,	 1, 2, 1, IBMAD_CANCELLED, ON_QP },
		{ completed,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, steps);
}

static void deregistered_when_answered(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ answered,	 2, 2, 1, IBMAD_ANSWERED, ON_QP },
		{ deregister,	 1, 2, 1, IBMAD_ANSWERED, ON_QP },
		{ flushed,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

static void deregistered_when_waiting(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, steps);
}

/* The device is removed without a deregistration: only the agent's memory stays. */
static void removed_under_its_agent(struct kunit *test)
{
	static const struct refs_step waiting[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ completed,	 2, 2, 2, IBMAD_WAITING, NOWHERE },
		{ adapter_removed, 0, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ refused_when_removed, 0, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ cancelled_in_vain, 0, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ send_freed,	 0, 0, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	static const struct refs_step on_qp[] = {
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ adapter_removed, 0, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	static const struct refs_step lost_on_qp[] = {
		{ all_lost,	 1, 1, 0, 0, NOWHERE },
		{ asked,	 3, 2, 1, IBMAD_SENDING, ON_QP },
		{ adapter_removed, 0, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	static const struct refs_step in_lane[] = {
		{ queue_held,	 1, 1, 0, 0, NOWHERE },
		{ asked,	 3, 2, 1, IBMAD_SENDING, IN_LANE },
		{ adapter_removed, 0, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	static const struct refs_step *const runs[] = {
		waiting, on_qp, lost_on_qp, in_lane,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		refs_run(test, runs[i]);
		refs_close(test);
		KUNIT_ASSERT_EQ(test, refs_test_init(test), 0);
	}
}

/* No reference is left, whichever allocation fails. */
static int ask_once(struct kunit *test)
{
	struct ib_mad_send_buf *buf = refs_mad(IB_MGMT_METHOD_GET, 0, 0);
	int nth, ret;

	if (!buf)
		return -ENOMEM;
	refs.buf = buf;
	buf->timeout_ms = TIMEOUT_MS;
	ret = ib_post_send_mad(buf, NULL);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret) {
		while (fake_hca_complete_held(refs.hca->special[1][1], IB_WC_SUCCESS))
			;
		msleep(20);
		cancelled(test);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, refcount_read(&refs.memory->refs), 1u);
	KUNIT_EXPECT_TRUE(test, list_empty(&refs.memory->sends));
	send_freed(test);
	KUNIT_EXPECT_EQ(test, kref_read(&refs.memory->kref), 1u);
	current->fail_nth = nth;
	return ret;
}

static void no_reference_survives_a_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, ask_once), 2u);
}

static struct kunit_case refs_cases[] = {
	KUNIT_CASE(a_send_without_response),
	KUNIT_CASE(a_response_after_completion),
	KUNIT_CASE(a_response_before_completion),
	KUNIT_CASE_SLOW(a_timeout_with_a_retry),
	KUNIT_CASE_SLOW(a_response_meets_the_retry),
	KUNIT_CASE(a_retry_that_is_refused),
	KUNIT_CASE(a_send_that_is_refused),
	KUNIT_CASE(cancelled_in_each_place),
	KUNIT_CASE(taken_back_in_each_place),
	KUNIT_CASE_SLOW(modified_in_each_place),
	KUNIT_CASE(a_completion_in_error),
	KUNIT_CASE(flushed_by_anothers_error),
	KUNIT_CASE(a_fatal_error),
	KUNIT_CASE(a_completion_that_comes_twice),
	KUNIT_CASE(a_completion_that_comes_late),
	KUNIT_CASE(deregistered_when_idle),
	KUNIT_CASE(deregistered_with_a_send_in_a_lane),
	KUNIT_CASE(deregistered_with_a_send_on_the_qp),
	KUNIT_CASE(deregistered_when_answered),
	KUNIT_CASE(deregistered_when_waiting),
	KUNIT_CASE_SLOW(removed_under_its_agent),
	KUNIT_CASE(no_reference_survives_a_failed_allocation),
	{}
};

static struct kunit_suite ibmad_refs_suite = {
	.name = "ib_mad_refs",
	.init = refs_test_init,
	.exit = refs_test_exit,
	.test_cases = refs_cases,
};

kunit_test_suite(ibmad_refs_suite);
