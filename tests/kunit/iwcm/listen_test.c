// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Listeners and their requests: accepted, rejected, too many, left over. */
#include <linux/fs.h>
#include "faults.h"
#include "iwcm_test.h"

static u16 port_of(const struct sockaddr_storage *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static void a_request_is_accepted(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, port_of(&it.listener->m_local_addr), 1000);
	KUNIT_ASSERT_EQ(test, iw_request("hi"), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("Q"));
	KUNIT_EXPECT_PTR_NE(test, it.id, it.listener);
	KUNIT_EXPECT_PTR_EQ(test, it.id->context, it.listener->context);
	KUNIT_EXPECT_PTR_EQ(test, it.id->provider_data, (void *)&it);
	KUNIT_EXPECT_PTR_EQ(test, it.last.provider_data, (void *)&it);
	KUNIT_EXPECT_EQ(test, port_of(&it.id->local_addr), 1001);
	KUNIT_EXPECT_EQ(test, port_of(&it.id->m_remote_addr), 2001);
	KUNIT_EXPECT_STREQ(test, (char *)it.private_data, "hi");
	KUNIT_EXPECT_EQ(test, it.last.ord, 7);
	KUNIT_EXPECT_EQ(test, it.last.ird, 9);

	KUNIT_ASSERT_EQ(test, iw_accept_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, it.qpn, it.qp->qp_num);
	KUNIT_EXPECT_STREQ(test, (char *)it.sent, "welcome");
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 1);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_ESTABLISHED, 0, NULL), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("QU"));
	KUNIT_EXPECT_EQ(test, it.last.status, 0);
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 0), 0);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("QUC"));
}

static void establish_and_close(struct iw_cm_id *cm_id)
{
	iw_report(cm_id, IW_CM_EVENT_ESTABLISHED, 0, NULL);
	iw_report(cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	iw_quiesce();
	it.seen = atomic_read(&it.nr_events);
}

static void reports_before_the_accept_returns(struct kunit *test)
{
	it.during[FAKE_IW_ACCEPT] = establish_and_close;
	iw_be(test, IWCM_CONN_RECV);
	KUNIT_ASSERT_EQ(test, iw_accept_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, it.seen, 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("UC"));
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
}

static void establish_and_outlast_the_handler(struct iw_cm_id *cm_id)
{
	iw_report(cm_id, IW_CM_EVENT_ESTABLISHED, 0, NULL);
	while (READ_ONCE(it.in_handler))
		msleep(20);
	iw_quiesce();
	it.seen = atomic_read(&it.nr_events);
}

/*
 * The id's work, which runs the request's handler, could deliver more events, but must
 * not do so before the accept returns.
 */
static void an_accept_beside_the_requests_handler(struct kunit *test)
{
	it.during[FAKE_IW_ACCEPT] = establish_and_outlast_the_handler;
	it.slow = true;
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_ASSERT_EQ(test, iw_request("hi"), 0);
	while (!READ_ONCE(it.in_handler))
		msleep(20);
	it.answer[FAKE_IW_ACCEPT] = -EIO;
	KUNIT_EXPECT_EQ(test, iw_accept_id(it.requests[0]), -EIO);
	KUNIT_EXPECT_EQ(test, it.seen, 1);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "Q");
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
}

static void the_accept_fails(struct kunit *test)
{
	it.during[FAKE_IW_ACCEPT] = establish_and_close;
	it.answer[FAKE_IW_ACCEPT] = -ENOSPC;
	iw_be(test, IWCM_CONN_RECV);
	KUNIT_EXPECT_EQ(test, iw_accept_id(it.id), -ENOSPC);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "");
	/* The provider has dropped the request. */
	KUNIT_EXPECT_EQ(test, iw_accept_id(it.id), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_cm_reject(it.id, NULL, 0), -EINVAL);
}

static void the_peer_goes_while_accepted(struct kunit *test)
{
	iw_be(test, IWCM_ACCEPTING);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_ESTABLISHED, -ECONNRESET, NULL),
			0);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("C"));
}

static void the_peer_goes_while_asked_about(struct kunit *test)
{
	iw_be(test, IWCM_CONN_RECV);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("C"));
	KUNIT_EXPECT_EQ(test, iw_accept_id(it.id), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_ACCEPT), 0);
	iw_destroy_cm_id(it.id);
	it.id = NULL;
	/* There is nothing left to reject. */
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), 0);
}

/* The peer closes while the request's handler runs: the consumer gets both events. */
static void a_request_closed_before_it_is_told(struct kunit *test)
{
	struct iw_cm_id *cm_id;

	it.slow = true;
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_ASSERT_EQ(test, iw_request("hi"), 0);
	while (!READ_ONCE(it.in_handler))
		msleep(20);
	cm_id = it.id;
	KUNIT_EXPECT_EQ(test, iw_report(cm_id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("QC"));
}

static void a_request_is_rejected(struct kunit *test)
{
	iw_be(test, IWCM_CONN_RECV);
	KUNIT_EXPECT_EQ(test, iw_cm_reject(it.id, "sorry", 6), 0);
	KUNIT_EXPECT_EQ(test, it.sent_len, 6);
	KUNIT_EXPECT_STREQ(test, (char *)it.sent, "sorry");
	KUNIT_EXPECT_EQ(test, iw_cm_reject(it.id, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_accept_id(it.id), -EINVAL);
	iw_destroy_cm_id(it.id);
	it.id = NULL;
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), 1);
}

static void the_reject_fails(struct kunit *test)
{
	it.answer[FAKE_IW_REJECT] = -ECONNRESET;
	iw_be(test, IWCM_CONN_RECV);
	KUNIT_EXPECT_EQ(test, iw_cm_reject(it.id, NULL, 0), -ECONNRESET);
	KUNIT_EXPECT_EQ(test, (int)to_iwcm(it.id)->state, (int)IWCM_IDLE);
}

static void the_handler_refuses(struct kunit *test)
{
	it.on_request = -ENOMEM;
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_ASSERT_EQ(test, iw_request("one"), 0);
	KUNIT_ASSERT_EQ(test, iw_request(NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("QQ"));
	iw_quiesce();
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), 2);
	it.id = NULL;
}

static void the_backlog_is_full(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(3), 0);
	it.on_request = -EBUSY;
	/* The requests are not delivered before this task sleeps. */
	KUNIT_EXPECT_EQ(test, iw_request("1"), 0);
	KUNIT_EXPECT_EQ(test, iw_request("2"), 0);
	KUNIT_EXPECT_EQ(test, iw_request("3"), 0);
	KUNIT_EXPECT_EQ(test, iw_request("4"), -ENOBUFS);
	KUNIT_EXPECT_TRUE(test, iw_wait("QQQ"));
	iw_quiesce();
	KUNIT_EXPECT_EQ(test, iw_request("5"), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("QQQQ"));
	iw_quiesce();
	it.id = NULL;
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), 4);
}

static int set_default_backlog(const char *value)
{
	struct file *file = filp_open("/proc/sys/net/iw_cm/default_backlog", O_WRONLY, 0);
	loff_t at = 0;
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = kernel_write(file, value, strlen(value), &at);
	filp_close(file, NULL);
	return ret < 0 ? ret : 0;
}

static void the_default_backlog_is_a_sysctl(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, to_iwcm(it.listener)->backlog, 256u);
	iw_destroy_cm_id(it.listener);
	KUNIT_EXPECT_EQ(test, set_default_backlog("2"), 0);
	KUNIT_EXPECT_EQ(test, set_default_backlog("0"), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_listen_on(-1), 0);
	KUNIT_EXPECT_EQ(test, to_iwcm(it.listener)->backlog, 2u);
	KUNIT_EXPECT_EQ(test, set_default_backlog("256"), 0);
}

static void request_now(struct iw_cm_id *cm_id)
{
	it.seen = iw_report(cm_id, IW_CM_EVENT_CONNECT_REQUEST, 0, "early");
}

static void the_provider_cannot_listen(struct kunit *test)
{
	struct iw_cm_id *cm_id = iw_id();

	it.answer[FAKE_IW_LISTEN] = -EADDRINUSE;
	it.during[FAKE_IW_LISTEN] = request_now;
	it.on_request = -EAGAIN;
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), -EADDRINUSE);
	/* The request was reported before the failure, and has been rejected. */
	KUNIT_EXPECT_EQ(test, it.seen, 0);
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), 1);
	it.id = NULL;
	it.answer[FAKE_IW_LISTEN] = 0;
	it.during[FAKE_IW_LISTEN] = NULL;
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), 0);
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_LISTEN), 2);
	iw_destroy_cm_id(cm_id);
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_UNLISTEN), 1);
}

static atomic_t rejected;

static void reject_slowly(struct iw_cm_id *cm_id)
{
	msleep(20);
	atomic_inc(&rejected);
}

/* None of the requests is delivered yet: each is rejected, once. */
static void a_listener_goes_with_requests_waiting(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	for (i = 0; i < 30; i++)
		KUNIT_ASSERT_EQ(test, iw_request("wait"), 0);
	it.during[FAKE_IW_UNLISTEN] = request_now;
	it.during[FAKE_IW_REJECT] = reject_slowly;
	atomic_set(&rejected, 0);
	iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	/*
	 * A request that the provider reports while it stops listening is the
	 * provider's to reject.
	 */
	KUNIT_EXPECT_EQ(test, it.seen, -ECONNREFUSED);
	KUNIT_EXPECT_STREQ(test, it.events, "");
	/* All are rejected by now: the adapter may be removed after its listener. */
	KUNIT_EXPECT_EQ(test, atomic_read(&rejected), 30);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "");
}

/*
 * Some requests are being delivered: their handlers have returned when the listener's
 * destruction returns.
 */
static void a_listener_goes_while_requests_are_told(struct kunit *test)
{
	int i, told;

	it.slow = true;
	it.on_request = -EBUSY;
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, iw_request("wait"), 0);
	while (!READ_ONCE(it.in_handler))
		msleep(20);
	iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	told = atomic_read(&it.nr_events);
	KUNIT_EXPECT_GT(test, told, 0);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&it.nr_events), told);
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_REJECT), 5);
	it.id = NULL;
}

/* Connections do not need the listener of their requests. */
static void a_listener_goes_before_its_connections(struct kunit *test)
{
	iw_be(test, IWCM_ACCEPTING);
	iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_ESTABLISHED, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("U"));
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("UC"));
}

static int request_once(struct kunit *test)
{
	int ret = iw_request("request");
	unsigned int nth = current->fail_nth;

	current->fail_nth = 0;
	KUNIT_EXPECT_TRUE(test, iw_wait(ret ? "" : "Q"));
	iw_quiesce();
	if (!ret)
		KUNIT_EXPECT_STREQ(test, (char *)it.private_data, "request");
	else
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	if (it.id)
		iw_destroy_cm_id(it.id);
	it.id = NULL;
	iw_forget();
	current->fail_nth = nth;
	return ret;
}

static void a_request_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(1), 0);
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, request_once), 2u);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_iwcm(it.listener)->untold), 1u);
}

static struct kunit_case listen_cases[] = {
	KUNIT_CASE(a_request_is_accepted),
	KUNIT_CASE(reports_before_the_accept_returns),
	KUNIT_CASE(an_accept_beside_the_requests_handler),
	KUNIT_CASE(the_accept_fails),
	KUNIT_CASE(the_peer_goes_while_accepted),
	KUNIT_CASE(the_peer_goes_while_asked_about),
	KUNIT_CASE(a_request_closed_before_it_is_told),
	KUNIT_CASE(a_request_is_rejected),
	KUNIT_CASE(the_reject_fails),
	KUNIT_CASE(the_handler_refuses),
	KUNIT_CASE(the_backlog_is_full),
	KUNIT_CASE(the_default_backlog_is_a_sysctl),
	KUNIT_CASE(the_provider_cannot_listen),
	KUNIT_CASE(a_listener_goes_with_requests_waiting),
	KUNIT_CASE(a_listener_goes_while_requests_are_told),
	KUNIT_CASE(a_listener_goes_before_its_connections),
	KUNIT_CASE(a_request_survives_each_failed_allocation),
	{}
};

static struct kunit_suite iwcm_listen_suite = {
	.name = "iw_cm_listen",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = listen_cases,
};

kunit_test_suite(iwcm_listen_suite);
