// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* NETLINK_RDMA itself: which callback a message reaches, and what is refused. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include "nl.h"

/* The number of iw_cm, which is free while iw_cm is not loaded. */
#define TEST_CLIENT	RDMA_NL_IWCM
#define TEST_TYPE(op)	RDMA_NL_GET_TYPE(TEST_CLIENT, op)

/* The operations that the test's client serves. */
enum { OP_BOTH, OP_ADMIN, OP_DUMP };

static struct nl nl;

static int netlink_test_init(struct kunit *test)
{
	return nl_open(&nl, &init_net);
}

static void netlink_test_exit(struct kunit *test)
{
	nl_close(&nl);
}

/* ---- a client of the test ---- */

static int calls, dumps, call_ms, call_result;
static bool running;

static int test_doit(struct sk_buff *skb, struct nlmsghdr *nlh,
		     struct netlink_ext_ack *extack)
{
	running = true;
	if (call_ms)
		msleep(call_ms);
	calls++;
	running = false;
	return call_result;
}

/* Two pages, then the end. */
static int test_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	dumps++;
	if (cb->args[0] == 2)
		return 0;
	cb->args[0]++;
	nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
		  cb->nlh->nlmsg_type, 0, NLM_F_MULTI);
	return skb->len;
}

static const struct rdma_nl_cbs test_cbs[RDMA_NL_IWPM_NUM_OPS] = {
	[OP_BOTH] = { .doit = test_doit, .dump = test_dump },
	[OP_ADMIN] = { .doit = test_doit, .flags = RDMA_NL_ADMIN_PERM },
	[OP_DUMP] = { .dump = test_dump },
};

static const struct rdma_nl_cbs empty_cbs[RDMA_NL_IWPM_NUM_OPS];

static void client_start(const struct rdma_nl_cbs *cbs)
{
	calls = 0;
	dumps = 0;
	call_ms = 0;
	call_result = 0;
	rdma_nl_register(TEST_CLIENT, cbs);
}

static int ask(int type, u16 flags)
{
	return nl_call(&nl, nl_new(&nl, type, flags));
}

static void each_message_reaches_its_client(struct kunit *test)
{
	client_start(test_cbs);
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_BOTH), NLM_F_REQUEST | NLM_F_ACK), 0);
	KUNIT_EXPECT_EQ(test, calls, 1);
	KUNIT_EXPECT_EQ(test, dumps, 0);
	/* An error is reported without NLM_F_ACK. */
	call_result = -EXDEV;
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_BOTH), NLM_F_REQUEST), -EXDEV);
	call_result = 0;
	KUNIT_EXPECT_EQ(test, calls, 2);
	rdma_nl_unregister(TEST_CLIENT);
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_BOTH), NLM_F_REQUEST),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, calls, 2);
}

static void a_dump_goes_on_until_it_has_no_more(struct kunit *test)
{
	client_start(test_cbs);
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_BOTH),
				  NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP), 0);
	KUNIT_EXPECT_EQ(test, dumps, 3);
	KUNIT_EXPECT_EQ(test, nl.n, 2);
	KUNIT_EXPECT_EQ(test, calls, 0);
	/* A client without doit() dumps even without NLM_F_DUMP. */
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_DUMP),
				  NLM_F_REQUEST), 0);
	KUNIT_EXPECT_EQ(test, nl.n, 2);
	rdma_nl_unregister(TEST_CLIENT);
}

static void what_nobody_serves_is_refused(struct kunit *test)
{
	const u16 flags = NLM_F_REQUEST | NLM_F_ACK;

	client_start(empty_cbs);
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_BOTH), flags),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(RDMA_NL_IWPM_NUM_OPS), flags), -EINVAL);
	rdma_nl_unregister(TEST_CLIENT);
	KUNIT_EXPECT_EQ(test, ask(RDMA_NL_GET_TYPE(RDMA_NL_RSVD, 0), flags), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask(RDMA_NL_GET_TYPE(RDMA_NL_NUM_CLIENTS, 1), flags),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ask(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_NUM_OPS),
				  flags), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR),
				  flags), -EOPNOTSUPP);
}

/* netlink(7): control messages and messages that are no requests are ignored. */
static void what_is_no_request_is_passed_over(struct kunit *test)
{
	int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR);

	KUNIT_EXPECT_EQ(test, ask(NLMSG_NOOP, NLM_F_REQUEST | NLM_F_ACK), 0);
	KUNIT_EXPECT_EQ(test, ask(type, NLM_F_ACK), 0);
	KUNIT_EXPECT_EQ(test, ask(type, 0), -ENODATA);
}

static void a_message_longer_than_what_came_is_dropped(struct kunit *test)
{
	int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET);
	struct sk_buff *req;
	bool ended;
	int result;

	req = nl_new(&nl, type, NLM_F_REQUEST | NLM_F_ACK);
	nlmsg_hdr(req)->nlmsg_len = NLMSG_HDRLEN + 4;
	KUNIT_EXPECT_EQ(test, nl_send_raw(&nl, req), 0);
	KUNIT_EXPECT_EQ(test, nl_receive(&nl, &result, &ended), -EAGAIN);
	req = nl_new(&nl, type, NLM_F_REQUEST | NLM_F_ACK);
	nlmsg_hdr(req)->nlmsg_len = NLMSG_HDRLEN - 1;
	KUNIT_EXPECT_EQ(test, nl_send_raw(&nl, req), 0);
	KUNIT_EXPECT_EQ(test, nl_receive(&nl, &result, &ended), -EAGAIN);
}

static void one_datagram_may_hold_several_requests(struct kunit *test)
{
	static const int results[] = { 0, -EINVAL, 0 };
	const u16 flags = NLM_F_REQUEST | NLM_F_ACK;
	struct sk_buff *req;
	int i, result;
	bool ended;

	client_start(test_cbs);
	req = nl_new(&nl, TEST_TYPE(OP_BOTH), flags);
	nlmsg_put(req, 0, 7, TEST_TYPE(RDMA_NL_IWPM_NUM_OPS), 0, flags);
	nlmsg_put(req, 0, 8, TEST_TYPE(OP_BOTH), 0, flags);
	KUNIT_EXPECT_EQ(test, nl_send_raw(&nl, req), 0);
	KUNIT_EXPECT_EQ(test, calls, 2);
	for (i = 0; i < ARRAY_SIZE(results); i++) {
		KUNIT_EXPECT_GT(test, nl_receive(&nl, &result, &ended), 0);
		KUNIT_EXPECT_TRUE(test, ended);
		KUNIT_EXPECT_EQ(test, result, results[i]);
	}
	KUNIT_EXPECT_EQ(test, nl_receive(&nl, &result, &ended), -EAGAIN);
	rdma_nl_unregister(TEST_CLIENT);
}

static void what_needs_a_capability_is_refused_without(struct kunit *test)
{
	static const int admin_cmds[] = {
		RDMA_NLDEV_CMD_SET, RDMA_NLDEV_CMD_NEWLINK, RDMA_NLDEV_CMD_DELLINK,
		RDMA_NLDEV_CMD_NEWDEV, RDMA_NLDEV_CMD_DELDEV, RDMA_NLDEV_CMD_SYS_SET,
		RDMA_NLDEV_CMD_STAT_SET, RDMA_NLDEV_CMD_STAT_DEL,
		RDMA_NLDEV_CMD_RES_QP_GET_RAW, RDMA_NLDEV_CMD_RES_CQ_GET_RAW,
		RDMA_NLDEV_CMD_RES_MR_GET_RAW, RDMA_NLDEV_CMD_RES_SRQ_GET_RAW,
	};
	const u16 flags = NLM_F_REQUEST | NLM_F_ACK;
	const struct cred *old;
	int i;

	client_start(test_cbs);
	old = nl_drop_caps();
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_ADMIN), flags), -EPERM);
	KUNIT_EXPECT_EQ(test, calls, 0);
	for (i = 0; i < ARRAY_SIZE(admin_cmds); i++)
		KUNIT_EXPECT_EQ_MSG(test, ask(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
							       admin_cmds[i]), flags),
				    -EPERM, "command %d", admin_cmds[i]);
	/* Reading requires no capability. */
	KUNIT_EXPECT_EQ(test, ask(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						   RDMA_NLDEV_CMD_SYS_GET), flags), 0);
	nl_regain_caps(old);
	KUNIT_EXPECT_EQ(test, ask(TEST_TYPE(OP_ADMIN), flags), 0);
	KUNIT_EXPECT_EQ(test, calls, 1);
	rdma_nl_unregister(TEST_CLIENT);
}

static int ask_in_thread(void *arg)
{
	static struct nl other;

	if (!nl_open(&other, &init_net)) {
		nl_call(&other, nl_new(&other, TEST_TYPE(OP_BOTH),
				       NLM_F_REQUEST | NLM_F_ACK));
		nl_close(&other);
	}
	complete(arg);
	return 0;
}

static void unregistration_waits_for_the_callback(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);

	client_start(test_cbs);
	call_ms = 300;
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(ask_in_thread, &done, "nl_ask")));
	KUNIT_ASSERT_TRUE(test, wait_until(READ_ONCE(running)));
	rdma_nl_unregister(TEST_CLIENT);
	KUNIT_EXPECT_FALSE(test, running);
	KUNIT_EXPECT_EQ(test, calls, 1);
	wait_for_completion(&done);
}

/* A callback that sleeps delays its own client only. */
static void a_slow_client_does_not_hold_up_others(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);

	client_start(test_cbs);
	call_ms = 300;
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(ask_in_thread, &done, "nl_ask")));
	KUNIT_ASSERT_TRUE(test, wait_until(READ_ONCE(running)));
	/* No client has this number: only callbacks of that number are waited for. */
	rdma_nl_unregister(RDMA_NL_RSVD);
	KUNIT_EXPECT_TRUE(test, running);
	wait_for_completion(&done);
	rdma_nl_unregister(TEST_CLIENT);
}

static struct sk_buff *notice(void)
{
	struct sk_buff *skb = nlmsg_new(64, GFP_KERNEL | __GFP_NOFAIL);
	struct nlmsghdr *nlh;

	nlmsg_put(skb, 0, 0, TEST_TYPE(OP_BOTH), 0, 0);
	nlh = nlmsg_hdr(skb);
	nlmsg_end(skb, nlh);
	return skb;
}

static void multicasts_reach_who_joined(struct kunit *test)
{
	bool ended;
	int result;

	KUNIT_EXPECT_FALSE(test, rdma_nl_chk_listeners(RDMA_NL_GROUP_LS));
	KUNIT_EXPECT_EQ(test, rdma_nl_multicast(&init_net, notice(), RDMA_NL_GROUP_LS,
						GFP_KERNEL), -ESRCH);
	KUNIT_ASSERT_TRUE(test, nl_join(&nl, RDMA_NL_GROUP_LS));
	KUNIT_EXPECT_TRUE(test, rdma_nl_chk_listeners(RDMA_NL_GROUP_LS));
	KUNIT_EXPECT_FALSE(test, rdma_nl_chk_listeners(RDMA_NL_GROUP_IWPM));
	KUNIT_EXPECT_EQ(test, rdma_nl_multicast(&init_net, notice(), RDMA_NL_GROUP_LS,
						GFP_KERNEL), 0);
	nl.used = 0;
	nl.n = 0;
	KUNIT_EXPECT_EQ(test, nl_receive(&nl, &result, &ended), NLMSG_HDRLEN);
	KUNIT_EXPECT_EQ(test, nl.n, 1);
}

static void unicasts_reach_one_socket(struct kunit *test)
{
	struct sockaddr_nl me = {};
	bool ended;
	int result;

	KUNIT_ASSERT_TRUE(test, nl_join(&nl, RDMA_NL_GROUP_IWPM));
	KUNIT_ASSERT_GT(test, kernel_getsockname(nl.sock, (struct sockaddr *)&me), 0);
	nl.used = 0;
	nl.n = 0;
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast(&init_net, notice(), me.nl_pid), 0);
	KUNIT_EXPECT_EQ(test, nl_receive(&nl, &result, &ended), NLMSG_HDRLEN);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast_wait(&init_net, notice(), me.nl_pid), 0);
	KUNIT_EXPECT_EQ(test, nl_receive(&nl, &result, &ended), NLMSG_HDRLEN);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast(&init_net, notice(), me.nl_pid + 77777),
			-ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast_wait(&init_net, notice(),
						   me.nl_pid + 77777), -ECONNREFUSED);
}

/*
 * If the receiver is full, rdma_nl_unicast() fails at once,
 * rdma_nl_unicast_wait() after ten seconds.
 */
static void a_full_receiver_is_waited_for_ten_seconds(struct kunit *test)
{
	struct sockaddr_nl me = {};
	unsigned long start;
	int i, ret = 0;

	KUNIT_ASSERT_TRUE(test, nl_join(&nl, RDMA_NL_GROUP_IWPM));
	KUNIT_ASSERT_GT(test, kernel_getsockname(nl.sock, (struct sockaddr *)&me), 0);
	for (i = 0; i < 10000 && !ret; i++)
		ret = rdma_nl_unicast(&init_net, notice(), me.nl_pid);
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	start = jiffies;
	KUNIT_EXPECT_EQ(test, rdma_nl_unicast_wait(&init_net, notice(), me.nl_pid),
			-EAGAIN);
	KUNIT_EXPECT_GE(test, jiffies - start, 10UL * HZ);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 11000u);
}

static void messages_are_built_until_the_buffer_is_full(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(nlmsg_total_size(8) + nla_total_size(4),
					GFP_KERNEL);
	struct nlmsghdr *nlh = NULL;
	u32 value = 0x12345678;
	u8 *payload;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	/* alloc_skb() rounds up: leave exactly the requested room. */
	skb_reserve(skb, skb_tailroom(skb) - nlmsg_total_size(8) - nla_total_size(4));
	payload = ibnl_put_msg(skb, &nlh, 5, 8, RDMA_NL_IWCM, 3, NLM_F_REQUEST);
	KUNIT_ASSERT_NOT_NULL(test, payload);
	KUNIT_EXPECT_PTR_EQ(test, payload, (u8 *)nlmsg_data(nlh));
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_IWCM, 3));
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_seq, 5);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_flags, NLM_F_REQUEST);
	KUNIT_EXPECT_EQ(test, ibnl_put_attr(skb, nlh, 4, &value, 9), 0);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_len, nlmsg_total_size(8) + nla_total_size(4));
	KUNIT_EXPECT_EQ(test, nla_type((struct nlattr *)(payload + 8)), 9);
	KUNIT_EXPECT_EQ(test, nla_get_u32((struct nlattr *)(payload + 8)), value);
	KUNIT_EXPECT_EQ(test, ibnl_put_attr(skb, nlh, 4, &value, 9), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_len, nlmsg_total_size(8) + nla_total_size(4));
	KUNIT_EXPECT_NULL(test, ibnl_put_msg(skb, &nlh, 6, 0, RDMA_NL_IWCM, 3, 0));
	kfree_skb(skb);
}

static struct kunit_case netlink_cases[] = {
	KUNIT_CASE(each_message_reaches_its_client),
	KUNIT_CASE(a_dump_goes_on_until_it_has_no_more),
	KUNIT_CASE(what_nobody_serves_is_refused),
	KUNIT_CASE(what_is_no_request_is_passed_over),
	KUNIT_CASE(a_message_longer_than_what_came_is_dropped),
	KUNIT_CASE(one_datagram_may_hold_several_requests),
	KUNIT_CASE(what_needs_a_capability_is_refused_without),
	KUNIT_CASE(unregistration_waits_for_the_callback),
	KUNIT_CASE(a_slow_client_does_not_hold_up_others),
	KUNIT_CASE(multicasts_reach_who_joined),
	KUNIT_CASE(unicasts_reach_one_socket),
	KUNIT_CASE_SLOW(a_full_receiver_is_waited_for_ten_seconds),
	KUNIT_CASE(messages_are_built_until_the_buffer_is_full),
	{}
};

static struct kunit_suite ibcore_netlink_suite = {
	.name = "ib_core_netlink",
	.init = netlink_test_init,
	.exit = netlink_test_exit,
	.test_cases = netlink_cases,
};

kunit_test_suite(ibcore_netlink_suite);
