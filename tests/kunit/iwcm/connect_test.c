// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections of the active side; their orderly and their forced end. */
#include "faults.h"
#include "iwcm_test.h"

static u16 port_of(const struct sockaddr_storage *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static void the_peer_accepts(struct kunit *test)
{
	it.id = iw_id();
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, it.qpn, it.qp->qp_num);
	KUNIT_EXPECT_EQ(test, it.ord, 3u);
	KUNIT_EXPECT_EQ(test, it.ird, 5u);
	KUNIT_EXPECT_STREQ(test, (char *)it.sent, "hello");
	/* Without port mapping the provider connects the requested addresses. */
	KUNIT_EXPECT_EQ(test, port_of(&it.id->m_local_addr), 1000);
	KUNIT_EXPECT_EQ(test, port_of(&it.id->m_remote_addr), 2000);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 1);

	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, "yes"), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("P"));
	KUNIT_EXPECT_EQ(test, it.last.status, 0);
	KUNIT_EXPECT_STREQ(test, (char *)it.private_data, "yes");
	KUNIT_EXPECT_EQ(test, it.last.private_data_len, 4);
	KUNIT_EXPECT_EQ(test, it.last.ord, 7);
	KUNIT_EXPECT_EQ(test, it.last.ird, 9);
	KUNIT_EXPECT_EQ(test, port_of(&it.last.local_addr), 1001);
	KUNIT_EXPECT_EQ(test, port_of(&it.id->remote_addr), 2001);

	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("PC"));
	KUNIT_EXPECT_EQ(test, it.last.private_data_len, 0);
	iw_let_go();
}

/* The peer refuses; then the same id connects again. */
static void the_peer_refuses(struct kunit *test)
{
	it.id = iw_id();
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED,
					"no"), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("p"));
	/*
	 * The addresses stay as requested; those that the provider reports with a
	 * refusal do not count.
	 */
	KUNIT_EXPECT_EQ(test, port_of(&it.last.remote_addr), 2000);
	KUNIT_EXPECT_EQ(test, port_of(&it.id->local_addr), 1000);
	KUNIT_EXPECT_EQ(test, it.last.status, -ECONNREFUSED);
	KUNIT_EXPECT_STREQ(test, (char *)it.private_data, "no");
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	iw_let_go();

	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("pP"));
	KUNIT_EXPECT_NULL(test, it.last.private_data);
	KUNIT_EXPECT_EQ(test, it.last.private_data_len, 0);
}

static void no_such_qp(struct kunit *test)
{
	struct iw_cm_conn_param param = { .qpn = 12345 };

	it.id = iw_id();
	KUNIT_EXPECT_EQ(test, iw_cm_connect(it.id, &param), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_calls(FAKE_IW_CONNECT), 0);
	KUNIT_EXPECT_EQ(test, (int)to_iwcm(it.id)->state, (int)IWCM_IDLE);
}

static void the_verb_fails(struct kunit *test)
{
	it.answer[FAKE_IW_CONNECT] = -EADDRNOTAVAIL;
	it.id = iw_id();
	KUNIT_EXPECT_EQ(test, iw_connect_id(it.id), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_EQ(test, (int)to_iwcm(it.id)->state, (int)IWCM_IDLE);
	it.answer[FAKE_IW_CONNECT] = 0;
	KUNIT_EXPECT_EQ(test, iw_connect_id(it.id), 0);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "");
}

static void reply_and_wait(struct iw_cm_id *cm_id)
{
	iw_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, 0, "early");
	iw_quiesce();
	/* The verb has not returned: it is not known yet whether it succeeds. */
	it.seen = atomic_read(&it.nr_events);
}

static void a_reply_before_the_verb_returns(struct kunit *test)
{
	it.during[FAKE_IW_CONNECT] = reply_and_wait;
	it.id = iw_id();
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, it.seen, 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("P"));
	KUNIT_EXPECT_STREQ(test, (char *)it.private_data, "early");
}

static void reply_and_close(struct iw_cm_id *cm_id)
{
	iw_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, 0, "early");
	iw_report(cm_id, IW_CM_EVENT_DISCONNECT, 0, NULL);
	iw_report(cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	iw_quiesce();
}

static void all_reports_before_the_verb_returns(struct kunit *test)
{
	it.during[FAKE_IW_CONNECT] = reply_and_close;
	it.id = iw_id();
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("PC"));
}

/*
 * A report during a connect that fails is never delivered, not even with the next
 * connect.
 */
static void a_reply_from_a_verb_that_fails(struct kunit *test)
{
	it.during[FAKE_IW_CONNECT] = reply_and_wait;
	it.answer[FAKE_IW_CONNECT] = -EIO;
	it.id = iw_id();
	KUNIT_EXPECT_EQ(test, iw_connect_id(it.id), -EIO);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "");

	it.during[FAKE_IW_CONNECT] = NULL;
	it.answer[FAKE_IW_CONNECT] = 0;
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "");
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("P"));
	KUNIT_EXPECT_NULL(test, it.last.private_data);
	KUNIT_EXPECT_EQ(test, it.last.private_data_len, 0);
}

static void a_connection_is_closed_in_order(struct kunit *test)
{
	iw_be(test, IWCM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 0), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_state(), IB_QPS_SQD);
	/* Again: the connection is ending already. */
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 0), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_state(), IB_QPS_SQD);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_DISCONNECT, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 1);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("C"));
	/* The connection has ended: nothing is left to do. */
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 0), 0);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "C");
}

static void a_connection_is_reset(struct kunit *test)
{
	iw_be(test, IWCM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 1), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_state(), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 1);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("C"));
}

/* A peer that does not close its end cannot keep the connection. */
static void an_orderly_end_is_cut_short(struct kunit *test)
{
	iw_be(test, IWCM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 0), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_state(), IB_QPS_SQD);
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 1), 0);
	KUNIT_EXPECT_EQ(test, iw_qp_state(), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("C"));
	KUNIT_EXPECT_EQ(test, iw_cm_disconnect(it.id, 1), 0);
}

/*
 * The consumer gets no event for DISCONNECT, the peer's end of sending, but one for
 * CLOSE.
 */
static void the_peer_closes(struct kunit *test)
{
	iw_be(test, IWCM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_DISCONNECT, 0, NULL), 0);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "");
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, iw_wait("C"));
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "C");
}

static void unknown_reports(struct kunit *test)
{
	iw_be(test, IWCM_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, 0, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE + 1, 0, "x"), -EINVAL);
	/* The id is not a listener. */
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL),
			-ECONNREFUSED);
	iw_quiesce();
	KUNIT_EXPECT_STREQ(test, it.events, "");
	KUNIT_EXPECT_EQ(test, (int)to_iwcm(it.id)->state, (int)IWCM_ESTABLISHED);
}

static void no_iwarp_provider(struct kunit *test)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	struct fake_hca *hca = fake_hca_create(&params);
	struct iw_cm_id *cm_id;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	cm_id = iw_create_cm_id(&hca->ibdev, NULL, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(cm_id), -ENODEV);
	fake_hca_destroy(hca);
}

static int create_once(struct kunit *test)
{
	struct iw_cm_id *cm_id = iw_id();

	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	iw_destroy_cm_id(cm_id);
	return 0;
}

static void creating_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, create_once), 1u);
}

static int connect_once(struct kunit *test)
{
	unsigned int nth = current->fail_nth;
	int reported, ret;

	/* Only allocations of the report fail. */
	current->fail_nth = 0;
	it.id = iw_id();
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	current->fail_nth = nth;
	ret = iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, "reply");
	nth = current->fail_nth;
	current->fail_nth = 0;

	reported = ret;
	/* Whatever the provider does about the error, the consumer gets an event. */
	KUNIT_EXPECT_TRUE(test, iw_wait(reported ? "p" : "P"));
	KUNIT_EXPECT_EQ(test, it.last.status, reported);
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), reported ? 0 : 1);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CLOSE, 0, NULL), 0);
	iw_destroy_cm_id(it.id);
	it.id = NULL;
	iw_let_go();
	iw_forget();
	current->fail_nth = nth;
	return ret;
}

static void a_reply_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, connect_once), 1u);
}

static struct kunit_case connect_cases[] = {
	KUNIT_CASE(the_peer_accepts),
	KUNIT_CASE(the_peer_refuses),
	KUNIT_CASE(no_such_qp),
	KUNIT_CASE(the_verb_fails),
	KUNIT_CASE(a_reply_before_the_verb_returns),
	KUNIT_CASE(all_reports_before_the_verb_returns),
	KUNIT_CASE(a_reply_from_a_verb_that_fails),
	KUNIT_CASE(a_connection_is_closed_in_order),
	KUNIT_CASE(a_connection_is_reset),
	KUNIT_CASE(an_orderly_end_is_cut_short),
	KUNIT_CASE(the_peer_closes),
	KUNIT_CASE(unknown_reports),
	KUNIT_CASE(no_iwarp_provider),
	KUNIT_CASE(creating_survives_each_failed_allocation),
	KUNIT_CASE(a_reply_survives_each_failed_allocation),
	{}
};

static struct kunit_suite iwcm_connect_suite = {
	.name = "iw_cm_connect",
	.init = iw_init,
	.exit = iw_exit,
	.test_cases = connect_cases,
};

kunit_test_suite(iwcm_connect_suite);
