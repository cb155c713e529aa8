// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Service id resolution (IBA volume 1, 12.11). */
#include "cm/cm_test.h"

static struct cm_pair pair;

static int sidr_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

static void sidr_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static void a_service_is_resolved(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "S");
	KUNIT_EXPECT_STREQ(test, (char *)pair.server.private_data, "where");
	KUNIT_EXPECT_EQ(test, pair.client.last.param.sidr_rep_rcvd.status, IB_SIDR_SUCCESS);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.sidr_rep_rcvd.qpn, pair.server.qpn);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.sidr_rep_rcvd.qkey, 0x11223344u);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.sidr_rep_rcvd.info_len, 5);
	KUNIT_EXPECT_STREQ(test, (char *)pair.client.private_data, "sidr");
	KUNIT_EXPECT_EQ(test, pair.client.id->state, IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, pair.server.id->state, IB_CM_IDLE);
}

static void a_service_that_is_not_there(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_NE(test, pair.client.last.param.sidr_rep_rcvd.status, IB_SIDR_SUCCESS);
}

static void a_service_that_refuses(struct kunit *test)
{
	pair.server.on_req = CM_WAIT;
	pair.server.fail_on = 'S';
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.sidr_rep_rcvd.status, IB_SIDR_REJECT);
}

static void a_service_that_never_answers(struct kunit *test)
{
	unsigned long start = jiffies;

	pair.client.drop[IBCM_SIDR_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "s"));
	cm_expect_ms(test, start, pair.client.when, 4 * 100);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_SIDR_REQ]), 4);
}

static void a_resolution_asked_twice(struct kunit *test)
{
	pair.server.on_req = CM_WAIT;
	pair.client.duplicate = BIT(IBCM_SIDR_REQ);
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "s"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "S");
}

static struct ib_cm_sidr_req_param good_req(struct sa_path_rec *path)
{
	cm_path(&pair, path);
	return (struct ib_cm_sidr_req_param){
		.path = path,
		.service_id = TEST_SERVICE,
		.timeout_ms = 100,
	};
}

/* Nothing is sent, and the id may be used again. */
static void requests_that_cannot_be_made(struct kunit *test)
{
	static const char data[255];
	struct ib_cm_sidr_req_param req;
	struct sa_path_rec path;
	struct ib_cm_id *id;

	id = ib_create_cm_id(&pair.client.hca->ibdev, cm_handler, &pair.client);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	pair.client.id = id;
	req = good_req(&path);
	req.path = NULL;
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_req(id, &req), -EINVAL);
	req = good_req(&path);
	req.private_data_len = 1;
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_req(id, &req), -EINVAL);
	req.private_data = data;
	req.private_data_len = IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE + 1;
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_req(id, &req), -EINVAL);
	req = good_req(&path);
	path.pkey = cpu_to_be16(0x8123);
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_req(id, &req), -ENOENT);
	req = good_req(&path);
	atomic_set(&pair.client.hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_req(id, &req), -ENOMEM);
	atomic_set(&pair.client.hca->fail_post_send, 1);
	KUNIT_EXPECT_LT(test, ib_send_cm_sidr_req(id, &req), 0);
	KUNIT_EXPECT_EQ(test, id->state, IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_SIDR_REQ]), 0);
	/* The id keeps the address handle of the unsent request until it gets another. */
	KUNIT_EXPECT_LE(test, cm_ahs(&pair.client), 1);

	pair.client.hold = BIT(IBCM_SIDR_REQ);
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_req(id, &req), 0);
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_req(id, &req), -EINVAL);
	KUNIT_EXPECT_EQ(test, id->state, IB_CM_SIDR_REQ_SENT);
}

static void replies_that_cannot_be_made(struct kunit *test)
{
	static char data[255];
	struct ib_cm_sidr_rep_param rep = {};
	struct ib_cm_id *id;

	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_rep(pair.server.listener, &rep), -EINVAL);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "S"));
	id = pair.server.id;
	rep.private_data_len = 1;
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_rep(id, &rep), -EINVAL);
	rep.private_data = data;
	rep.private_data_len = IB_CM_SIDR_REP_PRIVATE_DATA_SIZE + 1;
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_rep(id, &rep), -EINVAL);
	rep.private_data_len = 0;
	rep.info = data;
	rep.info_length = IB_CM_SIDR_REP_INFO_LENGTH + 1;
	KUNIT_EXPECT_EQ(test, ib_send_cm_sidr_rep(id, &rep), -EINVAL);
	atomic_set(&pair.server.hca->fail_post_send, 1);
	rep.info_length = 0;
	KUNIT_EXPECT_LT(test, ib_send_cm_sidr_rep(id, &rep), 0);
	/* The id is as if the reply had not been tried. */
	KUNIT_EXPECT_EQ(test, id->state, IB_CM_SIDR_REQ_RCVD);
	KUNIT_EXPECT_EQ(test, cm_sidr_reply(&pair.server), 0);
	KUNIT_EXPECT_EQ(test, cm_sidr_reply(&pair.server), -EINVAL);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.server.wire[IBCM_SIDR_REP]), 1);
}

/* Requesters behind a router share its LID: their GIDs distinguish them. */
static void askers_behind_a_router(struct kunit *test)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = 7, .grh = true };
	u8 mad[IB_MGMT_MAD_SIZE];
	int i;

	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	cm_gid(&pair.server, 1, &like.dgid);
	cm_mad(&pair.client, &pair.server, IBCM_SIDR_REQ, mad);
	for (i = 0; i < 3; i++) {
		cm_gid(&pair.client, 1, &like.sgid);
		like.sgid.raw[15] += i / 2;
		fake_hca_inject(pair.server.hca, 1, &like, mad, sizeof(mad));
		cm_quiesce(&pair);
	}
	KUNIT_EXPECT_STREQ(test, pair.server.events, "SS");
}

/* Without an address handle there is no reply: the repeated request is a new one. */
static void no_way_back(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	atomic_set(&pair.server.hca->fail_create[FAKE_AH], 1);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "S");
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_SIDR_REQ]), 2);
}

static void sleep_in_create_ah(struct fake_hca *hca)
{
	hca->on_create_ah = NULL;
	msleep(200);
}

/*
 * The listener is destroyed before the request is reported: the request is refused, or
 * is a new one when it is sent again.
 */
static void the_listener_goes(struct kunit *test, int (*ask)(struct cm_pair *pair))
{
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.hca->on_create_ah = sleep_in_create_ah;
	KUNIT_ASSERT_EQ(test, ask(&pair), 0);
	cm_quiesce(&pair);
	ib_destroy_cm_id(pair.server.listener);
	pair.server.listener = NULL;
	KUNIT_EXPECT_NULL(test, pair.server.hca->on_create_ah);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	msleep(500);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_NULL(test, pair.server.id);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

static void the_listener_goes_during_a_resolution(struct kunit *test)
{
	the_listener_goes(test, cm_resolve);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "I"));
	KUNIT_EXPECT_NE(test, pair.client.last.param.sidr_rep_rcvd.status,
			IB_SIDR_SUCCESS);
}

static void the_listener_goes_during_a_request(struct kunit *test)
{
	the_listener_goes(test, cm_request);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.rej_rcvd.reason,
			IB_CM_REJ_INVALID_SERVICE_ID);
}

static void a_request_is_given_up(struct kunit *test)
{
	pair.client.hold = BIT(IBCM_SIDR_REQ);
	KUNIT_ASSERT_EQ(test, cm_resolve(&pair), 0);
	cm_drop_id(&pair.client);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.wire[IBCM_SIDR_REQ]), 1);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
}

static struct kunit_case sidr_cases[] = {
	KUNIT_CASE(a_service_is_resolved),
	KUNIT_CASE(a_service_that_is_not_there),
	KUNIT_CASE(a_service_that_refuses),
	KUNIT_CASE(a_service_that_never_answers),
	KUNIT_CASE(a_resolution_asked_twice),
	KUNIT_CASE(requests_that_cannot_be_made),
	KUNIT_CASE(replies_that_cannot_be_made),
	KUNIT_CASE(askers_behind_a_router),
	KUNIT_CASE(no_way_back),
	KUNIT_CASE(the_listener_goes_during_a_resolution),
	KUNIT_CASE(the_listener_goes_during_a_request),
	KUNIT_CASE(a_request_is_given_up),
	{}
};

static struct kunit_suite ibcm_sidr_suite = {
	.name = "ib_cm_sidr",
	.init = sidr_test_init,
	.exit = sidr_test_exit,
	.test_cases = sidr_cases,
};

kunit_test_suite(ibcm_sidr_suite);
