// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The adapter's own agents behind the wire: what they answer, and on a switch forward. */
#include "local.h"

#define UNKNOWN_CLASS	0x0c

static void an_smp_from_the_wire_is_answered(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 1);

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	local_from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 1));
	KUNIT_EXPECT_EQ(test, local.agent.port, 1u);
	KUNIT_EXPECT_EQ(test, local.wire.smp.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, local.wire.smp.data[0], 0xd0);
	KUNIT_EXPECT_EQ(test, local.wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, local.wire.smp.return_path[1], 1);
	KUNIT_EXPECT_EQ(test, local.wire.dst_qpn, 0u);
	KUNIT_EXPECT_EQ(test, local.wire.dlid, local.peer->port[1].lid);
	/* LID routed */
	smp.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp.hop_cnt = 0;
	smp.hop_ptr = 0;
	local_from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 2));
	KUNIT_EXPECT_EQ(test, local.wire.smp.mgmt_class, IB_MGMT_CLASS_SUBN_LID_ROUTED);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_PROVIDER), 2);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_REPLIED), 2);
	/* Consumed: no reply, and nobody else gets it. */
	local_start_sma(test, IB_MGMT_CLASS_SUBN_LID_ROUTED);
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED |
			     IB_MAD_RESULT_REPLY;
	local_from_wire(&smp, 0, 1);
	local_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.seen.requests), 0);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_PROVIDER), 3);
	/* Failed: left to whoever registered. */
	local.agent.result = IB_MAD_RESULT_FAILURE | IB_MAD_RESULT_REPLY;
	local_from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.seen.requests, 1));
	/* The reply's address handle, and the software agent's own, are gone. */
	local_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.hca->alive[FAKE_AH]), 2);
}

static void an_smp_that_is_not_for_this_node(struct kunit *test)
{
	struct ib_smp smp = local_route(2, 1);

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	local_from_wire(&smp, 0, 1);
	smp = local_route(1, 0);
	local_from_wire(&smp, 0, 1);
	smp = local_route(1, 2);
	smp.status = IB_SMP_DIRECTION;
	local_from_wire(&smp, 0, 1);
	local_settle();
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_SMI_DROPPED), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
}

/* IBA volume 1, 13.4.7: status 3 in bits 2 to 4 of what nobody supports. */
static void requests_nobody_takes(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 1);
	int i;

	local.agent.result = IB_MAD_RESULT_SUCCESS;
	local_from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 1));
	KUNIT_EXPECT_EQ(test, local.wire.smp.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(local.wire.smp.status), 0x800c);
	KUNIT_EXPECT_EQ(test, local.wire.smp.hop_ptr, 1);
	smp.mgmt_class = UNKNOWN_CLASS;
	smp.method = IB_MGMT_METHOD_SET;
	local_from_wire(&smp, 1, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 2));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(local.wire.smp.status), 0x000c);
	KUNIT_EXPECT_EQ(test, local.wire.dst_qpn, 1u);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_REPLIED), 2);
	/* What asks for no answer gets none; nor does an answer. */
	for (i = 0; i < 256; i++) {
		smp.method = i;
		if (i != IB_MGMT_METHOD_GET && i != IB_MGMT_METHOD_SET)
			local_from_wire(&smp, 1, 1);
		if (i % 16 == 0)
			local_settle();
	}
	local_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 2);
}

/* Replies need an address handle, a buffer, a work request: all may be lacking. */
static void replies_survive_failures(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 1);
	int n, packets;

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	atomic_set(&local.hca->fail_create[FAKE_AH], 1);
	local_from_wire(&smp, 0, 1);
	local_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
	atomic_set(&local.hca->fail_post_send, 1);
	local_from_wire(&smp, 0, 1);
	local_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_PROVIDER), 2);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_REPLIED), 0);
	for (n = 1; n < 8; n++) {
		local.agent.fail_nth = n;
		local_from_wire(&smp, 0, 1);
		local_settle();
	}
	packets = atomic_read(&local.wire.packets);
	KUNIT_EXPECT_GE(test, packets, 1);
	KUNIT_EXPECT_LE(test, packets, 4);
	/* The same where nobody takes the request. */
	local.agent.result = IB_MAD_RESULT_SUCCESS;
	for (n = 1; n < 8; n++) {
		local.agent.fail_nth = n;
		local_from_wire(&smp, 0, 1);
		local_settle();
	}
	KUNIT_EXPECT_GT(test, atomic_read(&local.wire.packets), packets);
	KUNIT_EXPECT_LE(test, atomic_read(&local.wire.packets), packets + 4);
	local.agent.fail_nth = 0;
	packets = atomic_read(&local.wire.packets);
	local_from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.wire.packets, packets + 1));
	local_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.hca->alive[FAKE_AH]), 2);
}

static void a_switch_forwards(struct kunit *test)
{
	struct ib_smp smp = local_route(3, 1);

	KUNIT_ASSERT_EQ(test, local_restart(true, true), 0);
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	/* In by port 1, out by 2; back in by 2, out by 1. */
	local_from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 1));
	KUNIT_EXPECT_EQ(test, local.wire.port, 2u);
	KUNIT_EXPECT_EQ(test, local.wire.smp.hop_ptr, 2);
	KUNIT_EXPECT_EQ(test, local.wire.smp.return_path[1], 1);
	KUNIT_EXPECT_EQ(test, local.wire.smp.method, IB_MGMT_METHOD_GET);
	smp = local.wire.smp;
	smp.status = IB_SMP_DIRECTION;
	smp.method = IB_MGMT_METHOD_GET_RESP;
	local_from_wire(&smp, 0, 2);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 2));
	KUNIT_EXPECT_EQ(test, local.wire.port, 1u);
	KUNIT_EXPECT_EQ(test, local.wire.smp.hop_ptr, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 0);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_FORWARDED), 2);
	/* What ends here is answered, by the port it came in on. */
	smp = local_route(1, 1);
	local_from_wire(&smp, 0, 2);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 3));
	KUNIT_EXPECT_EQ(test, local.agent.port, 2u);
	KUNIT_EXPECT_EQ(test, local.wire.smp.return_path[1], 2);
	KUNIT_EXPECT_EQ(test, local.wire.port, 2u);
	/* Without the means to forward it is dropped, and that is counted. */
	atomic_set(&local.hca->fail_create[FAKE_AH], 1);
	smp = local_route(3, 1);
	local_from_wire(&smp, 0, 1);
	local_settle();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 3);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_SMI_DROPPED), 1);
}

static struct kunit_case reply_cases[] = {
	KUNIT_CASE(an_smp_from_the_wire_is_answered),
	KUNIT_CASE(an_smp_that_is_not_for_this_node),
	KUNIT_CASE(requests_nobody_takes),
	KUNIT_CASE(replies_survive_failures),
	KUNIT_CASE(a_switch_forwards),
	{}
};

struct kunit_suite ibmad_reply_suite = {
	.name = "ib_mad_reply",
	.init = local_test_init,
	.exit = local_test_exit,
	.test_cases = reply_cases,
};
