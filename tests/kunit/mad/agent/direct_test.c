// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Agents with IBEX_MAD_DIRECT: handlers that run in the work of the completion queue. */
#include <linux/kthread.h>
#include <linux/workqueue.h>
#include <ibex/mad_agent.h>
#include "mad/mad_test.h"
#include "wait.h"

static struct mad_pair pair;

/* Calls of the asker's handlers, by the work that they ran in. */
static struct {
	int in_own, in_other;		/* the agent's own work; another one */
	struct ib_mad_send_buf *cancel;	/* what the receive handler cancels */
} calls;

static void note_work(struct ib_mad_agent *agent)
{
	if (current_work() == &to_agent(agent)->deliver)
		calls.in_own++;
	else if (current_work())
		calls.in_other++;
}

static void direct_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	note_work(agent);
	mad_sent(agent, wc);
}

static void direct_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	note_work(agent);
	if (calls.cancel)
		ib_cancel_mad(calls.cancel);
	calls.cancel = NULL;
	mad_received(agent, buf, wc);
}

static int direct_test_init(struct kunit *test)
{
	int err = mad_pair_init(test, &pair, IB_LINK_LAYER_INFINIBAND);

	if (err)
		return err;
	memset(&calls, 0, sizeof(calls));
	pair.asker.agent->send_handler = direct_sent;
	pair.asker.agent->recv_handler = direct_received;
	pair.asker.agent->flags |= IBEX_MAD_DIRECT;
	return 0;
}

static void direct_test_exit(struct kunit *test)
{
	mad_pair_exit(&pair);
}

static void it_is_not_for_rmpp(struct kunit *test)
{
	static const struct {
		u8 mgmt_class, rmpp_version;
		u32 flags;
		int err;
	} asks[] = {
		{ 0x0b, 0, IBEX_MAD_DIRECT, 0 },
		{ 0x30, 0, IBEX_MAD_DIRECT | IB_MAD_USER_RMPP, -EINVAL },
		{ 0x30, IB_MGMT_RMPP_VERSION, IBEX_MAD_DIRECT, -EINVAL },
		{ 0x0b, 0, IBEX_MAD_DIRECT | BIT(30), -EINVAL },
	};
	struct ib_mad_agent *agent;
	int i;

	for (i = 0; i < ARRAY_SIZE(asks); i++) {
		struct ib_mad_reg_req req = {
			.mgmt_class = asks[i].mgmt_class,
			.mgmt_class_version = 1,
			.oui = { 1, 2, 3 },
		};

		agent = ib_register_mad_agent(&pair.asker.hca->ibdev, 1, IB_QPT_GSI, &req,
					      asks[i].rmpp_version, mad_sent, mad_received,
					      NULL, asks[i].flags);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(agent), asks[i].err, "row %d", i);
		if (!IS_ERR(agent))
			ib_unregister_mad_agent(agent);
	}
}

static void completions_deliver_at_once(struct kunit *test)
{
	int i;

	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
		KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, i));
	}
	KUNIT_EXPECT_STREQ(test, pair.asker.order, "RSRSRS");
	/* Nothing is awaited: its own completion delivers it. */
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 0, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, i));
	KUNIT_EXPECT_EQ(test, calls.in_other, 7);
	KUNIT_EXPECT_EQ(test, calls.in_own, 0);
	mad_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(pair.asker.agent)->refs), 1u);
}

/* A timer, and a client that cancels, leave the delivery to the agent's work. */
static void others_deliver_by_work(struct kunit *test)
{
	struct ib_mad_send_buf *buf;

	pair.drop_requests = -1;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 1));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, calls.in_own, 1);

	buf = mad_request(&pair.asker, 10000, 0);
	KUNIT_ASSERT_EQ(test, mad_post_buf(buf), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.wire_requests, 2));
	ib_cancel_mad(buf);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, calls.in_own + calls.in_other, 2);
}

/* What a handler adds to the inbox itself is delivered after it, too. */
static void a_handler_fills_the_inbox(struct kunit *test)
{
	struct ib_mad_send_buf *other = mad_request(&pair.asker, 60000, 0);

	pair.drop_requests = 1;
	KUNIT_ASSERT_EQ(test, mad_post_buf(other), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.wire_requests, 1));
	mad_quiesce(&pair);
	calls.cancel = other;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 2));
	KUNIT_EXPECT_STREQ(test, pair.asker.order, "RSS");
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, calls.in_other, 2);
	KUNIT_EXPECT_EQ(test, calls.in_own, 1);
}

/*
 * While one context delivers, no other calls the handlers, and what they add to the inbox
 * meanwhile is delivered in order before the first one ends.
 */
static void one_delivers_at_a_time(struct kunit *test)
{
	struct ibmad_agent *agent = to_agent(pair.asker.agent);

	KUNIT_ASSERT_TRUE(test, ibmad_deliver_begin(agent));
	KUNIT_EXPECT_FALSE(test, ibmad_deliver_begin(agent));
	/* One whose response arrives, then one that times out. */
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 1000, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.server.received, 1));
	mad_quiesce(&pair);
	pair.drop_requests = -1;
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100, 0), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(list_empty(&agent->sends), 10000));
	flush_work(&agent->deliver);
	KUNIT_EXPECT_EQ(test, pair.asker.events, 0);

	ibmad_deliver_end(agent);
	KUNIT_EXPECT_STREQ(test, pair.asker.order, "RSS");
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_TRUE(test, llist_empty(&agent->inbox));
	/* And afterwards others do again. */
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 100, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&pair.asker.sent, 3));
}

static int unregister_thread(void *done)
{
	ib_unregister_mad_agent(pair.asker.agent);
	complete_all(done);
	return 0;
}

/* Deregistration waits for a completion queue's work that is about to call handlers. */
static void deregistration_waits_for_it(struct kunit *test)
{
	struct ibmad_agent *agent = to_agent(pair.asker.agent);
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *thread;

	pair.server.answers = false;
	KUNIT_ASSERT_TRUE(test, ibmad_deliver_begin(agent));
	KUNIT_ASSERT_EQ(test, mad_post(&pair.asker, 10000, 0), 0);
	thread = kthread_run(unregister_thread, &done, "unregister");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	KUNIT_EXPECT_TRUE(test, wait_within(list_empty(&agent->sends), 10000));
	KUNIT_EXPECT_FALSE(test, completion_done(&done));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 0);
	ibmad_deliver_end(agent);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&done, HZ * 30), 0);
	pair.asker.agent = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.asker.sent), 1);
	KUNIT_EXPECT_EQ(test, pair.asker.status, IB_WC_WR_FLUSH_ERR);
}

static struct kunit_case direct_cases[] = {
	KUNIT_CASE(it_is_not_for_rmpp),
	KUNIT_CASE(completions_deliver_at_once),
	KUNIT_CASE(others_deliver_by_work),
	KUNIT_CASE(a_handler_fills_the_inbox),
	KUNIT_CASE(one_delivers_at_a_time),
	KUNIT_CASE(deregistration_waits_for_it),
	{}
};

static struct kunit_suite direct_suite = {
	.name = "ib_mad_direct",
	.init = direct_test_init,
	.exit = direct_test_exit,
	.test_cases = direct_cases,
};

kunit_test_suite(direct_suite);
