// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Address handles. An adapter of these suites has CM_MAX_AH of them, of which subnet
 * administration (ib_sa) uses one for each port.
 */
#include "cm/cm_test.h"
#include "wait.h"

#define MANY	60

static struct cm_pair pair;
static struct ib_cm_id *ids[2][MANY];	/* the client's, the server's */
static atomic_t told[2], rejected;

static int handle_test_init(struct kunit *test)
{
	atomic_set(&told[0], 0);
	atomic_set(&told[1], 0);
	atomic_set(&rejected, 0);
	return cm_pair_init(test, &pair);
}

static void drop_all(void)
{
	int side, i;

	for (side = 0; side < 2; side++)
		for (i = 0; i < MANY; i++)
			if (ids[side][i])
				ib_destroy_cm_id(xchg(&ids[side][i], NULL));
}

static void handle_test_exit(struct kunit *test)
{
	drop_all();
	cm_pair_exit(&pair);
	drop_all();
}

static struct ib_cm_req_param request(struct sa_path_rec *path, int n)
{
	cm_path(&pair, path);
	return (struct ib_cm_req_param){
		.primary_path = path,
		.service_id = TEST_SERVICE,
		.qp_num = 0x100 + n,
		.qp_type = IB_QPT_RC,
		.remote_cm_response_timeout = TEST_RESPONSE,
		.local_cm_response_timeout = TEST_RESPONSE,
		.max_cm_retries = TEST_RETRIES,
	};
}

/* Answers REQs and REPs so that connections proceed; keeps the server's ids in order. */
static int many_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct ib_cm_rep_param rep = {};
	int n;

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		n = atomic_inc_return(&told[1]) - 1;
		if (n >= MANY)
			return -ENOSPC;
		ids[1][n] = id;
		rep.qp_num = 0x1000 + n;
		return pair.server.on_req == CM_GO_ON ? ib_send_cm_rep(id, &rep) : 0;
	case IB_CM_REP_RECEIVED:
		atomic_inc(&told[0]);
		return ib_send_cm_rtu(id, NULL, 0);
	case IB_CM_REJ_RECEIVED:
		atomic_inc(&rejected);
		return 0;
	default:
		return 0;
	}
}

static void listen(struct kunit *test)
{
	struct ib_cm_id *id = ib_create_cm_id(&pair.server.hca->ibdev, many_handler, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	pair.server.listener = id;
	KUNIT_ASSERT_EQ(test, ib_cm_listen(id, TEST_SERVICE), 0);
}

static void make_ids(struct kunit *test)
{
	int i;

	for (i = 0; i < MANY; i++) {
		ids[0][i] = ib_create_cm_id(&pair.client.hca->ibdev, many_handler, NULL);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ids[0][i]));
	}
}

static bool all_told(atomic_t *counter, int n)
{
	int i;

	for (i = 0; i < 500 && atomic_read(counter) < n; i++)
		msleep(20);
	return atomic_read(counter) == n;
}

/*
 * Connections to one peer share an address handle; those that have no message to send
 * have none.
 */
static void connections_outnumber_handles(struct kunit *test)
{
	struct ib_cm_req_param req;
	struct sa_path_rec path;
	int i;

	listen(test);
	make_ids(test);
	pair.client.hold = BIT(IBCM_REQ);
	for (i = 0; i < MANY; i++) {
		req = request(&path, i);
		KUNIT_ASSERT_EQ_MSG(test, ib_send_cm_req(ids[0][i], &req), 0, "id %d", i);
	}
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 1);
	pair.client.hold = 0;
	fake_hca_flush(pair.client.hca);
	fake_hca_release_held(pair.client.hca);
	KUNIT_EXPECT_TRUE(test, all_told(&told[0], MANY));
	KUNIT_EXPECT_TRUE(test, all_told(&told[1], MANY));
	msleep(500);
	for (i = 0; i < MANY; i++) {
		KUNIT_EXPECT_EQ_MSG(test, ids[0][i]->state, IB_CM_ESTABLISHED, "id %d", i);
		KUNIT_EXPECT_EQ_MSG(test, ids[1][i]->state, IB_CM_ESTABLISHED, "id %d", i);
	}
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
	/* A handle is created again for the DREQs. */
	for (i = 0; i < MANY; i++)
		KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(ids[0][i], NULL, 0), 0);
	KUNIT_EXPECT_LE(test, cm_ahs(&pair.client), 1);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
}

/*
 * The response to each peer needs an address handle: handles that linger unused make
 * room.
 */
static void peers_outnumber_handles(struct kunit *test)
{
	struct fake_hca_packet like;
	u8 mad[IB_MGMT_MAD_SIZE];
	int i;

	pair.server.on_req = CM_WAIT;
	listen(test);
	cm_packet(&pair.client, &pair.server, &like);
	for (i = 0; i < MANY; i++) {
		cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
		IBA_SET(CM_REQ_LOCAL_COMM_ID, (struct cm_req_msg *)mad, 0x7000 + i);
		IBA_SET(CM_REQ_LOCAL_QPN, (struct cm_req_msg *)mad, 0x7000 + i);
		like.slid = 0x100 + i;
		fake_hca_inject(pair.server.hca, 1, &like, mad, sizeof(mad));
		fake_hca_flush(pair.server.hca);
		usleep_range(500, 600);
		KUNIT_EXPECT_LE(test, cm_ahs(&pair.server), CM_MAX_AH);
	}
	KUNIT_EXPECT_TRUE(test, all_told(&told[1], MANY));
	msleep(500);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
}

/*
 * With requests to as many peers as there are handles, the next request gets -EAGAIN,
 * and may be tried again.
 */
static void requests_outnumber_handles(struct kunit *test)
{
	int i, ret = 0, out = CM_MAX_AH - pair.client.idle_ahs;
	struct ib_cm_req_param req;
	struct sa_path_rec path;

	make_ids(test);
	pair.client.drop[IBCM_REQ] = -1;
	for (i = 0; i <= out; i++) {
		req = request(&path, i);
		sa_path_set_dlid(&path, 0x100 + i);
		ret = ib_send_cm_req(ids[0][i], &req);
		if (i < out)
			KUNIT_EXPECT_EQ_MSG(test, ret, 0, "id %d", i);
	}
	KUNIT_EXPECT_EQ(test, ret, -EAGAIN);
	KUNIT_EXPECT_EQ(test, ids[0][out]->state, IB_CM_IDLE);
	ib_destroy_cm_id(xchg(&ids[0][0], NULL));
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, ib_send_cm_req(ids[0][out], &req), 0);
}

static atomic_t on_its_way;

static void take_long_to_end(struct fake_hca *hca, enum fake_hca_object kind, bool create)
{
	if (kind != FAKE_AH || create)
		return;
	atomic_inc(&on_its_way);
	msleep(500);
}

/*
 * A request waits for a handle that is being destroyed, which is neither idle nor
 * available in the adapter.
 */
static void a_handle_on_its_way_back_is_waited_for(struct kunit *test)
{
	int i, out = CM_MAX_AH - pair.client.idle_ahs;
	struct ib_cm_req_param req;
	struct sa_path_rec path;

	make_ids(test);
	atomic_set(&on_its_way, 0);
	pair.client.drop[IBCM_REQ] = -1;
	pair.client.hca->on_verb = take_long_to_end;
	for (i = 0; i <= out; i++) {
		req = request(&path, i);
		/*
		 * The other requests wait for their responses for longer than this test
		 * takes.
		 */
		if (i)
			req.remote_cm_response_timeout = 20;
		sa_path_set_dlid(&path, 0x100 + i);
		if (i < out)
			KUNIT_ASSERT_EQ(test, ib_send_cm_req(ids[0][i], &req), 0);
	}
	ib_destroy_cm_id(xchg(&ids[0][0], NULL));
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&on_its_way) == 1, 5000));
	KUNIT_EXPECT_EQ(test, ib_send_cm_req(ids[0][out], &req), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&on_its_way), 1);
	pair.client.hca->on_verb = NULL;
}

/* Some providers can only create and destroy address handles where they may sleep. */
static void handles_are_made_where_one_may_sleep(struct kunit *test)
{
	pair.client.hca->quirks.ah_only_sleeping = true;
	pair.server.hca->quirks.ah_only_sleeping = true;
	cm_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "DT"));
	/*
	 * The last reference is not dropped where sleeping is forbidden, as in a
	 * timer's handler.
	 */
	cm_drop_id(&pair.client);
	cm_drop_id(&pair.server);
	msleep(500);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.server), 0);
	/* ib_sa's handle, one for each port, is destroyed likewise. */
	ib_unregister_device(&pair.client.hca->ibdev);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(pair.client.hca), 0);
}

/*
 * A connection's flow label spreads its data; its CM messages use the address handle of
 * the peer, whatever the label.
 */
static void labels_share_a_handle(struct kunit *test)
{
	struct ib_cm_req_param req;
	struct sa_path_rec path;
	int i;

	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init_roce(test, &pair), 0);
	make_ids(test);
	pair.client.hold = BIT(IBCM_REQ);
	for (i = 0; i < 5; i++) {
		req = request(&path, i);
		path.flow_label = cpu_to_be32(0x12340 + i);
		KUNIT_ASSERT_EQ(test, ib_send_cm_req(ids[0][i], &req), 0);
		KUNIT_EXPECT_EQ(test, to_ibcm(ids[0][i])->av.ah_attr.grh.flow_label,
				0x12340u + i);
	}
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 1);
}

/* An adapter is removed while one handle lingers unused and others are in use. */
static void an_adapter_goes_with_its_handles(struct kunit *test)
{
	struct ib_cm_req_param req;
	struct sa_path_rec path;
	unsigned long start;
	int i;

	make_ids(test);
	pair.client.drop[IBCM_REQ] = -1;
	for (i = 0; i < 4; i++) {
		req = request(&path, i);
		sa_path_set_dlid(&path, 0x100 + i);
		KUNIT_ASSERT_EQ(test, ib_send_cm_req(ids[0][i], &req), 0);
	}
	ib_destroy_cm_id(xchg(&ids[0][0], NULL));
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, cm_ahs(&pair.client), 4);
	start = jiffies;
	ib_unregister_device(&pair.client.hca->ibdev);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 1000u);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(pair.client.hca), 0);
	drop_all();
	fake_hca_destroy(pair.client.hca);
	pair.client.hca = NULL;
}

static struct kunit_case handle_cases[] = {
	KUNIT_CASE(connections_outnumber_handles),
	KUNIT_CASE(peers_outnumber_handles),
	KUNIT_CASE(requests_outnumber_handles),
	KUNIT_CASE(a_handle_on_its_way_back_is_waited_for),
	KUNIT_CASE(handles_are_made_where_one_may_sleep),
	KUNIT_CASE(labels_share_a_handle),
	KUNIT_CASE(an_adapter_goes_with_its_handles),
	{}
};

static struct kunit_suite ibcm_handle_suite = {
	.name = "ib_cm_handle",
	.init = handle_test_init,
	.exit = handle_test_exit,
	.test_cases = handle_cases,
};

kunit_test_suite(ibcm_handle_suite);
