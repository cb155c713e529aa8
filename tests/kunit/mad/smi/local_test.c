// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SMPs of the local SM: processed by the adapter itself, or sent. */
#include "local.h"

static void a_local_smp_is_answered_by_the_adapter(struct kunit *test)
{
	struct ib_smp smp = local_route(0, 0);

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 1000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 1));
	KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_STREQ(test, local.seen.order, "RS");
	KUNIT_EXPECT_EQ(test, local.seen.smp.data[0], 0xd0);
	KUNIT_EXPECT_EQ(test, local.seen.smp.hop_ptr, 0);
	KUNIT_EXPECT_EQ(test, local.seen.mad_len, 256u);
	/* As if it had been received. */
	KUNIT_EXPECT_EQ(test, local.agent.port, 1u);
	KUNIT_EXPECT_EQ(test, local.agent.wc.slid, 0xffffu);
	KUNIT_EXPECT_EQ(test, local.agent.wc.src_qp, 0u);
	KUNIT_EXPECT_EQ(test, local.agent.wc.byte_len, 296u);
	KUNIT_EXPECT_PTR_EQ(test, local.agent.wc.qp, local.sm->qp);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
}

/* The SM gets the response also if it did not tell that it waits for one. */
static void a_local_smp_without_timeout(struct kunit *test)
{
	struct ib_smp smp = local_route(0, 0);

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.seen.received, 1));
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.seen.sent, 1));
	KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, local.seen.smp.data[0], 0xd0);
}

/* A TrapRepress is matched like a response, but must reach the adapter itself. */
static void a_local_trap_repress_reaches_the_adapter(struct kunit *test)
{
	struct ib_smp smp = local_route(0, 0);

	smp.method = IB_MGMT_METHOD_TRAP_REPRESS;
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 0), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 1));
	KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 1);
	KUNIT_EXPECT_EQ(test, local.agent.method, IB_MGMT_METHOD_TRAP_REPRESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
}

/* Several at once are answered in the order in which they were sent. */
static void local_smps_keep_their_order(struct kunit *test)
{
	struct ib_smp smp = local_route(0, 0);
	struct ib_mad_send_buf *buf[3];
	int i;

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	for (i = 0; i < 3; i++) {
		buf[i] = local_smp(&smp, 1000);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf[i]));
	}
	buf[0]->next = buf[1];
	buf[1]->next = buf[2];
	smp = *(struct ib_smp *)buf[2]->mad;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf[0], NULL), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 3));
	KUNIT_EXPECT_STREQ(test, local.seen.order, "RSRSRS");
	KUNIT_EXPECT_EQ(test, local.seen.smp.tid, smp.tid);
}

static void a_local_smp_that_nobody_answers(struct kunit *test)
{
	static const int results[] = {
		IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED,
		IB_MAD_RESULT_FAILURE, IB_MAD_RESULT_SUCCESS,
	};
	struct ib_smp smp = local_route(0, 0);
	int i;

	for (i = 0; i < ARRAY_SIZE(results); i++) {
		local.agent.result = results[i];
		KUNIT_ASSERT_EQ(test, local_post(&smp, 200), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 2 * i + 1));
		KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_RESP_TIMEOUT_ERR);
		KUNIT_ASSERT_EQ(test, local_post(&smp, 0), 0);
		KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 2 * i + 2));
		KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_SUCCESS);
	}
	/* A reply longer than a MAD, or shorter than its header, is not used. */
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	local.agent.len = 300;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 200), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 7));
	KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_RESP_TIMEOUT_ERR);
	local.agent.len = 20;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 200), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 8));
	KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.seen.received), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
}

static void expect_software_answer(struct kunit *test)
{
	struct ib_smp smp = local_route(0, 0);

	local_start_sma(test, IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE);
	local.agent.result = IB_MAD_RESULT_SUCCESS;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 1000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 1));
	KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_STREQ(test, local.seen.order, "RS");
	KUNIT_EXPECT_EQ(test, local.seen.smp.data[0], 0x5a);
	KUNIT_EXPECT_EQ(test, local.seen.smp.hop_ptr, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.seen.requests), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
}

static void what_the_adapter_leaves_goes_to_an_agent(struct kunit *test)
{
	expect_software_answer(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 1);
}

static void an_adapter_without_agents(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 1);

	KUNIT_ASSERT_EQ(test, local_restart(false, false), 0);
	expect_software_answer(test);
	/* Also for SMPs that are received. */
	local_from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.seen.requests, 2));
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.wire.packets, 1));
	KUNIT_EXPECT_EQ(test, local.wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, local.wire.smp.data[0], 0x5a);
}

static void routes_that_leave_the_node(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 0);

	KUNIT_ASSERT_EQ(test, local_post(&smp, 0), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 1));
	KUNIT_EXPECT_EQ(test, local.wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, local.wire.dst_qpn, 0u);
	/* Invalid routes: the post fails, and the client keeps its buffer. */
	smp.initial_path[1] = 2;
	KUNIT_EXPECT_EQ(test, local_post(&smp, 100), -EINVAL);
	smp = local_route(1, 3);
	KUNIT_EXPECT_EQ(test, local_post(&smp, 100), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.seen.sent, 1));
}

/* The adapter is given a response to the local SM first, and does not consume it. */
static void an_answer_to_the_local_sm(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 0);
	struct ib_smp answer;

	local.agent.result = IB_MAD_RESULT_SUCCESS;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 10000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 1));
	answer = local.wire.smp;
	answer.method = IB_MGMT_METHOD_GET_RESP;
	answer.status = IB_SMP_DIRECTION;
	local_from_wire(&answer, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 1));
	KUNIT_EXPECT_STREQ(test, local.seen.order, "RS");
	KUNIT_EXPECT_EQ(test, local.seen.smp.hop_ptr, 0);
}

/* Without memory for a reply a local SMP fails; the next one works. */
static void a_local_smp_without_memory(struct kunit *test)
{
	struct ib_smp smp = local_route(0, 0);
	struct ib_mad_send_buf *one = local_smp(&smp, 100);
	struct ib_mad_send_buf *two = local_smp(&smp, 100);

	KUNIT_ASSERT_FALSE(test, IS_ERR(one) || IS_ERR(two));
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	/* One work item processes both: a failure set by the first may hit the second. */
	local.agent.fail_nth = 1;
	one->next = two;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(one, NULL), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 2));
	KUNIT_EXPECT_LE(test, atomic_read(&local.agent.calls), 2);
	local.agent.fail_nth = 0;
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	KUNIT_ASSERT_EQ(test, local_post(&smp, 1000), 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.seen.sent, 3));
	KUNIT_EXPECT_EQ(test, local.seen.status, IB_WC_SUCCESS);
}

static struct kunit_case local_cases[] = {
	KUNIT_CASE(a_local_smp_is_answered_by_the_adapter),
	KUNIT_CASE(a_local_smp_without_timeout),
	KUNIT_CASE(a_local_trap_repress_reaches_the_adapter),
	KUNIT_CASE(local_smps_keep_their_order),
	KUNIT_CASE(a_local_smp_that_nobody_answers),
	KUNIT_CASE(what_the_adapter_leaves_goes_to_an_agent),
	KUNIT_CASE(an_adapter_without_agents),
	KUNIT_CASE(routes_that_leave_the_node),
	KUNIT_CASE(an_answer_to_the_local_sm),
	KUNIT_CASE(a_local_smp_without_memory),
	{}
};

static struct kunit_suite ibmad_local_suite = {
	.name = "ib_mad_local",
	.init = local_test_init,
	.exit = local_test_exit,
	.test_cases = local_cases,
};

kunit_test_suite(ibmad_local_suite);
