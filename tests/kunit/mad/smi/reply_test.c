// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* MADs from the wire that the adapter processes itself: replies, and forwarding. */
#include <linux/kthread.h>
#include "local.h"
#include "wait.h"

#define UNKNOWN_CLASS	0x0c
#define SLOW_MS		4000		/* to find the path of the reply */

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
	/* Consumed: there is no reply, and no agent gets it. */
	local_start_sma(test, IB_MGMT_CLASS_SUBN_LID_ROUTED);
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED |
			     IB_MAD_RESULT_REPLY;
	local_from_wire(&smp, 0, 1);
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.seen.requests), 0);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_PROVIDER), 3);
	/* Failed: the agent that registered gets it. */
	local.agent.result = IB_MAD_RESULT_FAILURE | IB_MAD_RESULT_REPLY;
	local_from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.seen.requests, 1));
	/* The address handles of the reply and of the agent have been destroyed. */
	local_quiesce();
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
	local_quiesce();
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_SMI_DROPPED), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.agent.calls), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
}

/* IBA volume 1, 13.4.7: the status of an unsupported request is 3, in bits 2 to 4. */
static void requests_nobody_takes(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 1);
	struct ib_rmpp_mad ack = {};
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
	/* An RMPP ACK gets no reply, which would be taken for another ACK. */
	ack.mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	ack.mad_hdr.mgmt_class = IB_MGMT_CLASS_DEVICE_MGMT;
	ack.mad_hdr.method = IB_MGMT_METHOD_GET;
	ack.rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_ACK;
	ib_set_rmpp_flags(&ack.rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE);
	local_from_wire(&ack, 1, 1);
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 2);
	/* Methods that expect no response get none, and responses neither. */
	for (i = 0; i < 256; i++) {
		smp.method = i;
		if (i != IB_MGMT_METHOD_GET && i != IB_MGMT_METHOD_SET)
			local_from_wire(&smp, 1, 1);
		if (i % 16 == 0)
			local_quiesce();
	}
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 2);
}

/* The first segment of a transfer gets an answer, which is no segment; the others do not. */
static void a_transfer_nobody_takes(struct kunit *test)
{
	static const struct ib_rmpp_hdr none;
	struct ib_rmpp_mad mad = {
		.mad_hdr.base_version = IB_MGMT_BASE_VERSION,
		.mad_hdr.mgmt_class = IB_MGMT_CLASS_DEVICE_MGMT,
		.mad_hdr.method = IB_MGMT_METHOD_GET,
		.rmpp_hdr.rmpp_version = IB_MGMT_RMPP_VERSION,
		.rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_DATA,
		.rmpp_hdr.paylen_newwin = cpu_to_be32(1000),
	};
	const struct ib_rmpp_mad *answer = (const void *)&local.wire.smp;

	ib_set_rmpp_flags(&mad.rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE | IB_MGMT_RMPP_FLAG_FIRST);
	mad.rmpp_hdr.seg_num = cpu_to_be32(1);
	local.agent.result = IB_MAD_RESULT_SUCCESS;
	local_from_wire(&mad, 1, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 1));
	KUNIT_EXPECT_EQ(test, answer->mad_hdr.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(answer->mad_hdr.status), 0x000c);
	KUNIT_EXPECT_MEMEQ(test, &answer->rmpp_hdr, &none, sizeof(none));
	ib_set_rmpp_flags(&mad.rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE);
	mad.rmpp_hdr.seg_num = cpu_to_be32(2);
	local_from_wire(&mad, 1, 1);
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 1);
}

/* A reply needs an address handle, a buffer and a work request: each of these fails. */
static void replies_survive_failures(struct kunit *test)
{
	struct ib_smp smp = local_route(1, 1);
	int n, packets;

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	atomic_set(&local.hca->fail_create[FAKE_AH], 1);
	local_from_wire(&smp, 0, 1);
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
	atomic_set(&local.hca->fail_post_send, 1);
	local_from_wire(&smp, 0, 1);
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_PROVIDER), 2);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_REPLIED), 0);
	for (n = 1; n < 8; n++) {
		local.agent.fail_nth = n;
		local_from_wire(&smp, 0, 1);
		local_quiesce();
	}
	packets = atomic_read(&local.wire.packets);
	KUNIT_EXPECT_GE(test, packets, 1);
	KUNIT_EXPECT_LE(test, packets, 4);
	/* The same for the reply to a request without an agent. */
	local.agent.result = IB_MAD_RESULT_SUCCESS;
	for (n = 1; n < 8; n++) {
		local.agent.fail_nth = n;
		local_from_wire(&smp, 0, 1);
		local_quiesce();
	}
	KUNIT_EXPECT_GT(test, atomic_read(&local.wire.packets), packets);
	KUNIT_EXPECT_LE(test, atomic_read(&local.wire.packets), packets + 4);
	local.agent.fail_nth = 0;
	packets = atomic_read(&local.wire.packets);
	local_from_wire(&smp, 0, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.wire.packets, packets + 1));
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.hca->alive[FAKE_AH]), 2);
}

static void a_switch_forwards(struct kunit *test)
{
	struct ib_smp smp = local_route(3, 1);

	KUNIT_ASSERT_EQ(test, local_restart(true, true), 0);
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	/* Received by port 1, sent by port 2; on the way back the reverse. */
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
	/* An SMP for the switch itself is answered by the port that received it. */
	smp = local_route(1, 1);
	local_from_wire(&smp, 0, 2);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 3));
	KUNIT_EXPECT_EQ(test, local.agent.port, 2u);
	KUNIT_EXPECT_EQ(test, local.wire.smp.return_path[1], 2);
	KUNIT_EXPECT_EQ(test, local.wire.port, 2u);
	/* Without an address handle to forward it an SMP is dropped and counted. */
	atomic_set(&local.hca->fail_create[FAKE_AH], 1);
	smp = local_route(3, 1);
	local_from_wire(&smp, 0, 1);
	local_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 3);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_SMI_DROPPED), 1);
}

/* The part of a reply that process_mad does not write has nothing of an earlier reply. */
static void a_reply_has_nothing_of_another(struct kunit *test)
{
	struct ib_smp smp = local_route(0, 0);

	smp.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	memset(smp.data, 0xd0, sizeof(smp.data));
	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	local_from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 1));
	KUNIT_EXPECT_MEMEQ(test, local.wire.smp.data, smp.data, sizeof(smp.data));
	local.agent.bare = true;
	local_from_wire(&smp, 0, 1);
	KUNIT_ASSERT_TRUE(test, mad_wait(&local.wire.packets, 2));
	KUNIT_EXPECT_EQ(test, local.wire.smp.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_NULL(test, memchr_inv(local.wire.smp.data, 0, sizeof(smp.data)));
}

/* A reply longer than a MAD, or shorter than its header, is not sent. */
static void a_reply_of_an_impossible_length(struct kunit *test)
{
	static const size_t lens[] = { IB_MGMT_MAD_SIZE + 44, IB_MGMT_MAD_HDR - 4 };
	struct ib_smp smp = local_route(1, 1);
	int i;

	local.agent.result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		local.agent.len = lens[i];
		local_from_wire(&smp, 0, 1);
		local_quiesce();
		KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_PROVIDER), i + 1);
	}
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_REPLIED), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
}

/*
 * Peers send requests while no reply can be sent: the number of waiting replies is
 * bounded, and some of few address handles are left for others.
 */
static void bound_replies(struct kunit *test)
{
	struct ibmad_qp *qp1 = &to_agent(local.sm)->port->qp[1];
	int handles = local.hca->ibdev.attrs.max_ah;
	int most = min(IBMAD_MAX_ANSWERS, handles / 4);
	struct ib_smp smp = local_route(0, 0);
	int i;

	smp.mgmt_class = UNKNOWN_CLASS;
	local.agent.result = IB_MAD_RESULT_SUCCESS;
	local.hca->hold_send_completions = true;
	for (i = 1; i <= SEND_DEPTH + IBMAD_MAX_ANSWERS + 100; i++) {
		local_from_wire(&smp, 1, 1);
		/* No more at once than replies may look for their path. */
		if (i % (IBMAD_MAX_REPLIES / 2) == 0)
			local_quiesce();
	}
	local_quiesce();
	KUNIT_EXPECT_EQ(test, qp1->backlog, most);
	KUNIT_EXPECT_LE(test, atomic_read(&local.hca->alive[FAKE_AH]),
			SEND_DEPTH + handles / 4 + 2);
	fake_hca_release_completions(local.hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&local.wire.packets, SEND_DEPTH + most));
	local_quiesce();
	KUNIT_EXPECT_EQ(test, qp1->answers, 0u);
	KUNIT_EXPECT_EQ(test, local_counter(IBMAD_RECV_REPLIED), SEND_DEPTH + most);
}

static void replies_that_cannot_leave_are_bounded(struct kunit *test)
{
	bound_replies(test);
}

static void replies_leave_handles_for_others(struct kunit *test)
{
	local.hca->ibdev.attrs.max_ah = 200;
	bound_replies(test);
}

static void slowly(struct fake_hca *hca)
{
	msleep(SLOW_MS);
}

static int remove_node(void *gone)
{
	fake_hca_destroy(local.hca);
	local.hca = NULL;
	complete_all(gone);
	return 0;
}

/* Removal waits for the reply, and no longer. */
static void the_adapter_goes_amid_a_reply(struct kunit *test)
{
	struct ibmad_port *port = to_agent(local.sm)->port;
	struct ib_smp smp = local_route(0, 0);
	DECLARE_COMPLETION_ONSTACK(gone);
	struct task_struct *thread;

	smp.mgmt_class = UNKNOWN_CLASS;
	local.hca->on_create_ah = slowly;
	local_from_wire(&smp, 1, 1);
	KUNIT_ASSERT_TRUE(test, wait_within(atomic_read(&port->qp[1].replies) == 1, 1000));
	kref_get(&port->kref);
	local_close();
	thread = kthread_create(remove_node, &gone, "remove");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	get_task_struct(thread);
	wake_up_process(thread);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&gone, msecs_to_jiffies(SLOW_MS / 2)),
			0);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&gone, msecs_to_jiffies(SLOW_MS)), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->qp[1].replies), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&local.wire.packets), 0);
	/* If removal waits forever only this case fails. */
	wake_up(&port->qp[1].idle);
	kthread_stop_put(thread);
	ibmad_port_put(port);
}

static struct kunit_case reply_cases[] = {
	KUNIT_CASE(an_smp_from_the_wire_is_answered),
	KUNIT_CASE(an_smp_that_is_not_for_this_node),
	KUNIT_CASE(requests_nobody_takes),
	KUNIT_CASE(a_transfer_nobody_takes),
	KUNIT_CASE(replies_survive_failures),
	KUNIT_CASE(a_switch_forwards),
	KUNIT_CASE(a_reply_has_nothing_of_another),
	KUNIT_CASE(a_reply_of_an_impossible_length),
	KUNIT_CASE(replies_that_cannot_leave_are_bounded),
	KUNIT_CASE(replies_leave_handles_for_others),
	KUNIT_CASE(the_adapter_goes_amid_a_reply),
	{}
};

static struct kunit_suite ibmad_reply_suite = {
	.name = "ib_mad_reply",
	.init = local_test_init,
	.exit = local_test_exit,
	.test_cases = reply_cases,
};

kunit_test_suite(ibmad_reply_suite);
