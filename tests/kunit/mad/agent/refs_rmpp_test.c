// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * References at each step of an RMPP transfer, which takes several for one send: on the
 * agent one as a work request, one while it waits for the peer, and one for each segment
 * on the port; on the send one for its timer and one for each such segment.
 */
#include "faults.h"
#include "refs.h"

#define PAYLOAD		(IB_MGMT_VENDOR_HDR - IB_MGMT_RMPP_HDR + REFS_SEG_BYTES)
#define RETRIES		1
#define ABORTED		IB_WC_REM_ABORT_ERR
#define FLUSHED		IB_WC_WR_FLUSH_ERR

static int refs_rmpp_test_init(struct kunit *test)
{
	const struct ib_mad_reg_req req = {
		.mgmt_class = REFS_CLASS, .mgmt_class_version = 1, .oui = { 0, 0, 5 },
	};

	return refs_open(&req, IB_MGMT_RMPP_VERSION);
}

static void refs_rmpp_test_exit(struct kunit *test)
{
	refs_close(test);
}

/* ---- steps ---- */

static void begun(struct kunit *test, u8 method, int segments, u32 timeout_ms)
{
	struct ib_mad_send_buf *buf = refs_mad(method, 1, segments * REFS_SEG_BYTES);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	buf->timeout_ms = timeout_ms;
	buf->retries = RETRIES;
	refs_post(test, buf);
}

static void begun_one(struct kunit *test)
{
	begun(test, IB_MGMT_METHOD_SEND, 1, 0);
}

static void begun_three(struct kunit *test)
{
	begun(test, IB_MGMT_METHOD_SEND, 3, 0);
}

static void asked_in_two(struct kunit *test)
{
	begun(test, IB_MGMT_METHOD_GET, 2, 20000);
}

static void control(u8 type, u32 seg, u32 window)
{
	u8 method = ((struct ib_mad_hdr *)refs.buf->mad)->method;

	refs_inject(method | IB_MGMT_METHOD_RESP, type, 0, seg, window);
}

static void acked_1_of_2(struct kunit *test)
{
	control(IB_MGMT_RMPP_TYPE_ACK, 1, 2);
}

static void acked_1(struct kunit *test)
{
	control(IB_MGMT_RMPP_TYPE_ACK, 1, 3);
}

static void acked_2(struct kunit *test)
{
	control(IB_MGMT_RMPP_TYPE_ACK, 2, 3);
}

static void acked_3(struct kunit *test)
{
	control(IB_MGMT_RMPP_TYPE_ACK, 3, 3);
}

static void acked_beyond(struct kunit *test)
{
	control(IB_MGMT_RMPP_TYPE_ACK, 9, 9);
}

static void stopped(struct kunit *test)
{
	control(IB_MGMT_RMPP_TYPE_STOP, 0, 0);
}

static void aborted(struct kunit *test)
{
	control(IB_MGMT_RMPP_TYPE_ABORT, 0, 0);
}

static void answered(struct kunit *test)
{
	refs_inject(IB_MGMT_METHOD_GET_RESP, IB_MGMT_RMPP_TYPE_DATA,
		    IB_MGMT_RMPP_FLAG_FIRST | IB_MGMT_RMPP_FLAG_LAST, 1, PAYLOAD);
}

static void answer_begun(struct kunit *test)
{
	refs_inject(IB_MGMT_METHOD_GET_RESP, IB_MGMT_RMPP_TYPE_DATA,
		    IB_MGMT_RMPP_FLAG_FIRST, 1, 0);
}

static void all_lost(struct kunit *test)
{
	refs.hca->lose_completions = true;
}

/* Breaks the QP so that recovery fails. */
static void qp_lost(struct kunit *test)
{
	mad_refuse_init(refs.hca);
	fatal(test);
}

static void refused_for_good(struct kunit *test)
{
	refs.buf = refs_mad(IB_MGMT_METHOD_SEND, 1, REFS_SEG_BYTES);
	KUNIT_ASSERT_NOT_NULL(test, refs.buf);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(refs.buf, NULL), -ENODEV);
}

/* ---- scenarios: act, agent, memory, send, state, place, others, told, status ---- */

static void a_transfer_and_its_acks(struct kunit *test)
{
	static const struct refs_step steps[] = {
		/* References of registration, transfer, ACKs, and segment 1. */
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_2,	 3, 2, 2, IBMAD_SENDING },
		{ acked_3,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ acked_3,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

/* A transfer ends after its segments, which use its address handle. */
static void the_last_ack_comes_early(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ acked_1,	 6, 5, 4, IBMAD_SENDING, NOWHERE, 3 },
		{ acked_3,	 6, 5, 4, IBMAD_SENDING, NOWHERE, 3 },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

static void the_peer_ends_it(struct kunit *test)
{
	static const struct refs_step with_none_out[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ stopped,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, ABORTED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1, ABORTED },
		{}
	};
	static const struct refs_step with_two_out[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1, 1, ABORTED },
		{ completed,	 3, 2, 2, IBMAD_SENDING, NOWHERE, 0, 1, ABORTED },
		{ acked_1,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2, 1, ABORTED },
		{ aborted,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2, 1, ABORTED },
		{ aborted,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2, 1, ABORTED },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, ABORTED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 2, ABORTED },
		{}
	};
	/* A false ACK ends it too; then the port has an ABORT that the agent sends. */
	static const struct refs_step with_a_lie[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1, 2, ABORTED },
		{ completed,	 3, 2, 2, IBMAD_SENDING, NOWHERE, 0, 2, ABORTED },
		{ acked_beyond,	 2, 3, 1, IBMAD_IDLE, NOWHERE, 1, 3, ABORTED },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3, ABORTED },
		{}
	};

	refs_run(test, with_none_out);
	refs_run(test, with_two_out);
	refs_run(test, with_a_lie);
}

static void cancelled_amid_it(struct kunit *test)
{
	static const struct refs_step with_two_out[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2 },
		{ cancelled,	 4, 4, 3, IBMAD_CANCELLED, NOWHERE, 2 },
		{ acked_2,	 4, 4, 3, IBMAD_CANCELLED, NOWHERE, 2 },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	static const struct refs_step with_none_out[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1, 1, FLUSHED },
		{ completed,	 3, 2, 2, IBMAD_SENDING, NOWHERE, 0, 1, FLUSHED },
		{ cancelled,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{ cancelled_in_vain, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 2, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 2, FLUSHED },
		{}
	};
	/* A segment in a lane is removed from it. */
	static const struct refs_step in_lane[] = {
		{ queue_held,	 1, 1, 0, 0, NOWHERE, 0, 2, FLUSHED },
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1, 2, FLUSHED },
		{ cancelled,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3, FLUSHED },
		{ queue_opened,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 3, FLUSHED },
		{}
	};

	refs_run(test, with_two_out);
	refs_run(test, with_none_out);
	refs_run(test, in_lane);
}

static void a_segment_fails_midway(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2 },
		{ failed,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ acked_2,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, IB_WC_LOC_QP_OP_ERR },
		{}
	};

	refs_run(test, steps);
}

static void a_segment_is_flushed(struct kunit *test)
{
	static const struct refs_step redone[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ flushed,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2 },
		/* The error is final: the transfer has no segment left to wait for. */
		{ fatal,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, redone);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.hca->sent), 4);
}

static void its_qp_is_lost(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ qp_lost,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ send_freed,	 1, 1, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{ refused_for_good, 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, steps);
}

static void nobody_acknowledges(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ timed_out,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ timed_out,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1,
		  IB_WC_RESP_TIMEOUT_ERR },
		{ acked_3,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1,
		  IB_WC_RESP_TIMEOUT_ERR },
		{}
	};

	refs_run(test, steps);
}

/* The sending of the request ends with its last ACK; then it waits like any other. */
static void a_transfer_with_a_response(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked_in_two,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1_of_2,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_2,	 2, 2, 2, IBMAD_WAITING },
		/* The ACK of the response holds the agent until it was sent. */
		{ answered,	 2, 3, 1, IBMAD_IDLE, NOWHERE, 1, 1 },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.received), 1);
}

static void a_response_before_the_last_ack(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked_in_two,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ answered,	 4, 4, 2, IBMAD_ANSWERED, NOWHERE, 2 },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1 },
		{}
	};

	refs_run(test, steps);
}

static void the_response_is_aborted(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked_in_two,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1_of_2,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_2,	 2, 2, 2, IBMAD_WAITING },
		{ answer_begun,	 3, 3, 2, IBMAD_WAITING, NOWHERE, 1 },
		{ aborted,	 2, 3, 1, IBMAD_IDLE, NOWHERE, 1, 1, ABORTED },
		{ completed,	 1, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, ABORTED },
		{}
	};

	refs_run(test, steps);
}

static void deregistered_amid_it(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2 },
		/* References of the transfer and of its two segments remain. */
		{ deregister,	 3, 4, 3, IBMAD_CANCELLED, NOWHERE, 2 },
		{ still_deregistering, 3, 4, 3, IBMAD_CANCELLED, NOWHERE, 2 },
		{ completed,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ send_freed,	 0, 0, 0, 0, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, steps);
}

static void deregistered_amid_the_response(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ asked_in_two,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1_of_2,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_2,	 2, 2, 2, IBMAD_WAITING },
		{ answer_begun,	 3, 3, 2, IBMAD_WAITING, NOWHERE, 1 },
		{ deregister,	 1, 3, 1, IBMAD_IDLE, NOWHERE, 1, 1, FLUSHED },
		{ completed,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};
	int handles = atomic_read(&refs.hca->alive[FAKE_AH]);

	refs_run(test, steps);
	/* The address handle of the ACK was destroyed. */
	KUNIT_EXPECT_EQ(test, atomic_read(&refs.hca->alive[FAKE_AH]), handles);
}

static void deregistered_with_lost_completions(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ all_lost,	 1, 1, 0 },
		{ begun_one,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ deregister,	 2, 3, 2, IBMAD_CANCELLED, NOWHERE, 1 },
		{ still_deregistering, 2, 3, 2, IBMAD_CANCELLED, NOWHERE, 1 },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, steps);
}

static void removed_amid_it(struct kunit *test)
{
	static const struct refs_step steps[] = {
		{ begun_three,	 4, 3, 2, IBMAD_SENDING, NOWHERE, 1 },
		{ completed,	 3, 2, 2, IBMAD_SENDING },
		{ acked_1,	 5, 4, 3, IBMAD_SENDING, NOWHERE, 2 },
		{ adapter_removed, 0, 2, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregister,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{ deregistered,	 0, 1, 1, IBMAD_IDLE, NOWHERE, 0, 1, FLUSHED },
		{}
	};

	refs_run(test, steps);
}

static int transfer_once(struct kunit *test)
{
	struct ib_mad_send_buf *buf = refs_mad(IB_MGMT_METHOD_SEND, 1, REFS_SEG_BYTES);
	int nth, ret;

	if (!buf)
		return -ENOMEM;
	refs.buf = buf;
	ret = ib_post_send_mad(buf, NULL);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret) {
		/* If its segment could not be posted it waits for its timer. */
		cancelled(test);
		while (fake_hca_complete_held(refs.hca->special[1][1], IB_WC_SUCCESS))
			;
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
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, transfer_once), 3u);
}

static struct kunit_case refs_rmpp_cases[] = {
	KUNIT_CASE(a_transfer_and_its_acks),
	KUNIT_CASE(the_last_ack_comes_early),
	KUNIT_CASE(the_peer_ends_it),
	KUNIT_CASE(cancelled_amid_it),
	KUNIT_CASE(a_segment_fails_midway),
	KUNIT_CASE(a_segment_is_flushed),
	KUNIT_CASE(its_qp_is_lost),
	KUNIT_CASE(nobody_acknowledges),
	KUNIT_CASE(a_transfer_with_a_response),
	KUNIT_CASE(a_response_before_the_last_ack),
	KUNIT_CASE(the_response_is_aborted),
	KUNIT_CASE(deregistered_amid_it),
	KUNIT_CASE(deregistered_amid_the_response),
	KUNIT_CASE(deregistered_with_lost_completions),
	KUNIT_CASE(removed_amid_it),
	KUNIT_CASE(no_reference_survives_a_failed_allocation),
	{}
};

static struct kunit_suite ibmad_refs_rmpp_suite = {
	.name = "ib_mad_refs_rmpp",
	.init = refs_rmpp_test_init,
	.exit = refs_rmpp_test_exit,
	.test_cases = refs_rmpp_cases,
};

kunit_test_suite(ibmad_refs_rmpp_suite);
