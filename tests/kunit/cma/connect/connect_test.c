// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections made, refused and ended; the parameters and data that they carry. */
#include "cma/cma_test.h"

static struct cma_pair pair;

static int connect_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void connect_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static enum ib_qp_state qp_state(struct rdma_cm_id *id)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};

	ib_query_qp(id->qp, &attr, IB_QP_STATE, &init);
	return attr.qp_state;
}

static void lock_and_accept(struct kunit *test, struct cma_side *side)
{
	KUNIT_ASSERT_EQ(test, cma_make_qp(side), 0);
	rdma_lock_handler(side->id);
	KUNIT_EXPECT_EQ(test, rdma_accept(side->id, &side->param), 0);
	rdma_unlock_handler(side->id);
}

static void both_sides_know_each_other(struct kunit *test)
{
	struct rdma_addr *c, *s;

	cma_connect(test, &pair);
	c = &pair.client.id->route.addr;
	s = &pair.server.id->route.addr;
	KUNIT_EXPECT_MEMEQ(test, &c->src_addr, &s->dst_addr, sizeof(struct sockaddr_in));
	KUNIT_EXPECT_MEMEQ(test, &c->dst_addr, &s->src_addr, sizeof(struct sockaddr_in));
	KUNIT_EXPECT_MEMEQ(test, c->dev_addr.src_dev_addr, pair.client.ndev->dev_addr,
			   ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, c->dev_addr.dst_dev_addr, pair.server.ndev->dev_addr,
			   ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, s->dev_addr.src_dev_addr, pair.server.ndev->dev_addr,
			   ETH_ALEN);
	KUNIT_EXPECT_PTR_EQ(test, pair.client.id->device, &pair.client.hca->ibdev);
	KUNIT_EXPECT_PTR_EQ(test, pair.server.id->device, &pair.server.hca->ibdev);
	KUNIT_EXPECT_EQ(test, pair.server.id->ps, RDMA_PS_TCP);
	KUNIT_EXPECT_PTR_EQ(test, pair.server.id->context, pair.server.listener->context);
	KUNIT_EXPECT_EQ(test, pair.server.id->qp_type, IB_QPT_RC);
}

static void the_qp_follows_the_connection(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_EXPECT_EQ(test, qp_state(pair.client.id), IB_QPS_INIT);
	pair.server.hold = BIT(IBCM_REP);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	/* The peer may send as soon as it has the REP. */
	KUNIT_EXPECT_EQ(test, qp_state(pair.server.id), IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, qp_state(pair.client.id), IB_QPS_INIT);
	pair.server.hold = 0;
	fake_hca_release_held(pair.server.hca);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_EQ(test, qp_state(pair.client.id), IB_QPS_RTS);
	pair.server.on_disconnect = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_EXPECT_EQ(test, qp_state(pair.client.id), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QED"));
	KUNIT_EXPECT_EQ(test, rdma_disconnect(pair.server.id), 0);
	KUNIT_EXPECT_EQ(test, qp_state(pair.server.id), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "EDT"));
}

static void private_data_and_parameters(struct kunit *test)
{
	struct rdma_conn_param *got = &pair.server.last.param.conn;
	u8 data[200];
	int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i + 1;
	pair.client.param.private_data = data;
	pair.client.param.private_data_len = 56;
	pair.client.param.flow_control = 1;
	pair.client.param.retry_count = 200;
	pair.client.param.rnr_retry_count = 99;
	pair.client.ece.vendor_id = 0x123456;
	pair.client.ece.attr_mod = 0x2468ace0;
	pair.server.ece.vendor_id = 0xabcdef;
	pair.server.ece.attr_mod = 0x13579bdf;
	pair.server.on_request = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	KUNIT_EXPECT_EQ(test, got->private_data_len, 56);
	KUNIT_EXPECT_MEMEQ(test, pair.server.private_data, data, 56);
	/*
	 * The values are from the receiver's point of view: what the peer offers to it.
	 */
	KUNIT_EXPECT_EQ(test, got->responder_resources, 3);
	KUNIT_EXPECT_EQ(test, got->initiator_depth, 2);
	KUNIT_EXPECT_EQ(test, got->flow_control, 1);
	KUNIT_EXPECT_EQ(test, got->retry_count, 7);
	KUNIT_EXPECT_EQ(test, got->rnr_retry_count, 7);
	KUNIT_EXPECT_EQ(test, got->qp_num, pair.client.id->qp->qp_num);
	KUNIT_EXPECT_EQ(test, pair.server.last.ece.vendor_id, 0x123456);
	KUNIT_EXPECT_EQ(test, pair.server.last.ece.attr_mod, 0x2468ace0);

	pair.server.param.private_data = data;
	pair.server.param.private_data_len = 196;
	KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.server), 0);
	rdma_lock_handler(pair.server.id);
	KUNIT_EXPECT_EQ(test, rdma_accept_ece(pair.server.id, &pair.server.param,
					      &pair.server.ece), 0);
	rdma_unlock_handler(pair.server.id);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	got = &pair.client.last.param.conn;
	KUNIT_EXPECT_EQ(test, got->private_data_len, 196);
	KUNIT_EXPECT_MEMEQ(test, pair.client.private_data, data, 196);
	KUNIT_EXPECT_EQ(test, got->qp_num, pair.server.id->qp->qp_num);
	KUNIT_EXPECT_EQ(test, got->rnr_retry_count, 6);
	KUNIT_EXPECT_EQ(test, pair.client.last.ece.vendor_id, 0xabcdef);
	KUNIT_EXPECT_EQ(test, pair.client.last.ece.attr_mod, 0x13579bdf);
}

static void too_much_private_data(struct kunit *test)
{
	u8 data[200] = {};

	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.client.param.private_data = data;
	pair.client.param.private_data_len = 57;
	KUNIT_EXPECT_EQ(test, cma_request(&pair.client), -EINVAL);
	pair.client.param.private_data = NULL;
	pair.client.param.private_data_len = 5;
	KUNIT_EXPECT_EQ(test, cma_request(&pair.client), -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_ROUTE_RESOLVED);
	/* The id can still be used. */
	pair.client.param.private_data_len = 0;
	pair.server.param.private_data = data;
	pair.server.param.private_data_len = 197;
	KUNIT_EXPECT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "Q"));
	KUNIT_EXPECT_EQ(test, pair.server.call, -EINVAL);
	KUNIT_EXPECT_EQ(test, qp_state(pair.server.id), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "J"));
}

static void rejected_with_data(struct kunit *test)
{
	const char *data;
	u8 len = 0;

	pair.server.on_request = CMA_REJECT;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_CM_REJ_CONSUMER_DEFINED);
	KUNIT_EXPECT_STREQ(test, pair.client.private_data, "no");
	data = rdma_consumer_reject_data(pair.client.id, &pair.client.last, &len);
	KUNIT_EXPECT_PTR_EQ(test, (void *)data,
			    (void *)pair.client.last.param.conn.private_data);
	KUNIT_EXPECT_EQ(test, len, IB_CM_REJ_PRIVATE_DATA_SIZE);
	KUNIT_EXPECT_STREQ(test, rdma_reject_msg(pair.client.id, 28), "consumer defined");
	KUNIT_EXPECT_EQ(test, qp_state(pair.client.id), IB_QPS_ERR);
	/* No other event follows. */
	msleep(5000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "J");
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
}

static void rejected_for_another_reason(struct kunit *test)
{
	u8 len = 77;

	pair.server.on_request = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	KUNIT_EXPECT_EQ(test, rdma_reject(pair.server.id, NULL, 0,
					  IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status,
			IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED);
	KUNIT_EXPECT_NULL(test, rdma_consumer_reject_data(pair.client.id,
							  &pair.client.last, &len));
	KUNIT_EXPECT_EQ(test, len, 0);
}

static void the_handler_refuses(struct kunit *test)
{
	pair.server.on_request = CMA_FAIL;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_CM_REJ_CONSUMER_DEFINED);
	KUNIT_EXPECT_TRUE(test, pair.server.destroyed);
}

static void nobody_listens(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_CM_REJ_INVALID_SERVICE_ID);
	cma_drop_id(&pair.client);
	cma_forget(&pair.client);

	/* A listener has the port, but at another address. */
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP,
					    cma_sin6(&addr, &pair.server.ip6,
						     TEST_PORT)), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_CM_REJ_INVALID_SERVICE_ID);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

static void the_consumer_owns_the_qp(struct kunit *test)
{
	pair.client.own_qp = true;
	pair.server.own_qp = true;
	pair.client.param.srq = 1;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "P"));
	KUNIT_EXPECT_EQ(test, pair.client.call, 0);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.conn.qp_num, pair.server.qpn);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "QE"));
	KUNIT_EXPECT_EQ(test, cma_of(pair.server.id)->qp_num, pair.server.qpn);
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.server.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "PDT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QEDT"));
}

static void the_client_rejects_the_response(struct kunit *test)
{
	pair.client.own_qp = true;
	pair.client.on_response = CMA_REJECT;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "P"));
	KUNIT_EXPECT_EQ(test, pair.client.call, 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "QJ"));
	KUNIT_EXPECT_EQ(test, pair.server.last.status, IB_CM_REJ_CONSUMER_DEFINED);
	KUNIT_EXPECT_EQ(test, qp_state(pair.server.id), IB_QPS_ERR);
}

static void accepted_later(struct kunit *test)
{
	pair.server.on_request = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	/*
	 * The REQ is repeated and answered with an MRA of 69 s, which are not over yet.
	 */
	msleep(60000);
	KUNIT_EXPECT_GE(test, cma_sent(&pair.client, IBCM_REQ), 2);
	KUNIT_EXPECT_GE(test, cma_sent(&pair.server, IBCM_MRA), 1);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	lock_and_accept(test, &pair.server);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
}

static void the_server_disconnects(struct kunit *test)
{
	cma_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.server.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "DT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "DT"));
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_DISCONNECT);
	KUNIT_EXPECT_EQ(test, pair.client.last.status, 0);
}

static void both_disconnect_at_once(struct kunit *test)
{
	cma_connect(test, &pair);
	pair.client.hold = BIT(IBCM_DREQ);
	pair.server.hold = BIT(IBCM_DREQ);
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.server.id), 0);
	cma_quiesce(&pair);
	pair.client.hold = 0;
	pair.server.hold = 0;
	fake_hca_release_held(pair.client.hca);
	fake_hca_release_held(pair.server.hca);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "DT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "DT"));
}

static void data_before_the_rtu_establishes(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.client.hold = BIT(IBCM_RTU);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	KUNIT_EXPECT_EQ(test, rdma_notify(pair.server.id, IB_EVENT_QP_FATAL), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_notify(pair.server.id, IB_EVENT_COMM_EST), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	pair.client.hold = 0;
	fake_hca_release_held(pair.client.hca);
	msleep(1000);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "QE");
}

/* Only an established peer disconnects, so the consumer gets both events. */
static void a_disconnect_overtakes_the_rtu(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.client.hold = BIT(IBCM_RTU);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QEDT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "EDT"));
}

static void the_clients_qp_does_not_move(struct kunit *test)
{
	int nth;

	for (nth = 1; nth <= 3; nth++) {	/* INIT, RTR, RTS */
		KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
		cma_resolve(test, &pair);
		atomic_set(&pair.client.hca->fail_modify_qp, nth);
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&pair.client, "c"), "%d", nth);
		KUNIT_EXPECT_EQ(test, pair.client.last.status, -EIO);
		KUNIT_EXPECT_EQ(test, qp_state(pair.client.id), IB_QPS_ERR);
		KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QJ"));
		cma_drop_id(&pair.client);
		cma_drop_listener(&pair.server);
		cma_drop_id(&pair.server);
		cma_forget(&pair.client);
		cma_forget(&pair.server);
	}
}

static void the_servers_qp_does_not_move(struct kunit *test)
{
	int nth;

	pair.server.on_request = CMA_WAIT;
	for (nth = 1; nth <= 3; nth++) {
		KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
		cma_resolve(test, &pair);
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
		KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.server), 0);
		atomic_set(&pair.server.hca->fail_modify_qp, nth);
		rdma_lock_handler(pair.server.id);
		KUNIT_EXPECT_EQ(test, rdma_accept(pair.server.id, &pair.server.param),
				-EIO);
		rdma_unlock_handler(pair.server.id);
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&pair.client, "J"), "%d", nth);
		KUNIT_EXPECT_EQ(test, qp_state(pair.server.id), IB_QPS_ERR);
		cma_drop_id(&pair.client);
		cma_drop_listener(&pair.server);
		cma_drop_id(&pair.server);
		cma_forget(&pair.client);
		cma_forget(&pair.server);
	}
}

static void a_failed_attempt_is_made_again(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	atomic_set(&pair.client.hca->fail_post_send, 1);
	KUNIT_EXPECT_LT(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_ROUTE_RESOLVED);
	/* There is no connection that could be ended. */
	KUNIT_EXPECT_EQ(test, rdma_disconnect(pair.client.id), -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
}

static void over_ipv6(struct kunit *test)
{
	const struct ib_gid_attr *attr;
	struct sockaddr_storage addr;
	struct sockaddr_in6 *peer;

	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP,
					    cma_sin6(&addr, &pair.server.ip6,
						     TEST_PORT)), 0);
	cma_resolve_to(test, &pair.client, RDMA_PS_TCP,
		       cma_sin6(&addr, &pair.server.ip6, TEST_PORT));
	pair.client.param.private_data = "six";
	pair.client.param.private_data_len = 4;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "QE"));
	peer = (struct sockaddr_in6 *)&pair.server.id->route.addr.dst_addr;
	KUNIT_EXPECT_MEMEQ(test, &peer->sin6_addr, &pair.client.ip6, 16);
	KUNIT_EXPECT_STREQ(test, pair.server.private_data, "six");
	/*
	 * The request was received as RoCE v2, whether the adapter reports that or not.
	 */
	attr = cma_of(pair.server.id)->sgid_attr;
	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_EXPECT_EQ(test, attr->gid_type, IB_GID_TYPE_ROCE_UDP_ENCAP);
}

static void every_event_and_reason_has_words(struct kunit *test)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	enum rdma_cm_event_type event;
	u8 len = 1;

	for (event = 0; event <= RDMA_CM_EVENT_TIMEWAIT_EXIT; event++) {
		KUNIT_ASSERT_NOT_NULL(test, rdma_event_msg(event));
		KUNIT_EXPECT_STRNEQ(test, rdma_event_msg(event), "unrecognized event");
	}
	KUNIT_EXPECT_STREQ(test, rdma_event_msg(event), "unrecognized event");
	KUNIT_EXPECT_STREQ(test, rdma_event_msg(-1), "unrecognized event");
	/* Without a device the transport is unknown, and so are its reasons. */
	KUNIT_EXPECT_STREQ(test, rdma_reject_msg(id, 28), "unrecognized transport");
	KUNIT_EXPECT_NULL(test, rdma_consumer_reject_data(id, &pair.client.last, &len));
	KUNIT_EXPECT_EQ(test, len, 0);
	KUNIT_EXPECT_NULL(test, rdma_iw_cm_id(id));
	KUNIT_EXPECT_PTR_EQ(test, rdma_res_to_id(&cma_of(id)->track.res), id);
	rdma_destroy_id(id);
}

static struct kunit_case connect_cases[] = {
	KUNIT_CASE(both_sides_know_each_other),
	KUNIT_CASE(the_qp_follows_the_connection),
	KUNIT_CASE(private_data_and_parameters),
	KUNIT_CASE(too_much_private_data),
	KUNIT_CASE(rejected_with_data),
	KUNIT_CASE(rejected_for_another_reason),
	KUNIT_CASE(the_handler_refuses),
	KUNIT_CASE(nobody_listens),
	KUNIT_CASE(the_consumer_owns_the_qp),
	KUNIT_CASE(the_client_rejects_the_response),
	KUNIT_CASE_SLOW(accepted_later),
	KUNIT_CASE(the_server_disconnects),
	KUNIT_CASE(both_disconnect_at_once),
	KUNIT_CASE(data_before_the_rtu_establishes),
	KUNIT_CASE(a_disconnect_overtakes_the_rtu),
	KUNIT_CASE(the_clients_qp_does_not_move),
	KUNIT_CASE(the_servers_qp_does_not_move),
	KUNIT_CASE(a_failed_attempt_is_made_again),
	KUNIT_CASE(over_ipv6),
	KUNIT_CASE(every_event_and_reason_has_words),
	{}
};

static struct kunit_suite cma_connect_suite = {
	.name = "rdma_cm_connect",
	.init = connect_test_init,
	.exit = connect_test_exit,
	.test_cases = connect_cases,
};

kunit_test_suite(cma_connect_suite);
