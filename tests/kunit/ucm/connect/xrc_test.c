// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* XRC by the RDMA CM: the connection of a target outlives the id, and process, that took it. */
#include "ucm/ucm_test.h"

static int create(struct chan *chan, enum ib_qp_type type, u64 uid, u32 *id)
{
	struct rdma_ucm_create_id cmd = {
		.uid = uid, .response = chan_resp_at(chan), .ps = RDMA_PS_IB, .qp_type = type,
	};
	int ret = chan_do(chan, CREATE_ID, cmd, sizeof(struct rdma_ucm_create_id_resp));

	if (!ret)
		chan_resp(chan, id, sizeof(*id));
	return ret;
}

/* The server accepts with the number of a QP that it knows no more of. */
static void connect_as(struct kunit *test, enum ib_qp_type from, enum ib_qp_type to)
{
	struct ucm_hosts *host = test->priv;
	struct chan *client = &host->client, *server = &host->server;
	struct sockaddr_storage src, dst;
	struct rdma_ucm_event_resp event;

	cma_sin(&src, host->pair.client.ip4, 0);
	cma_sin(&dst, host->pair.server.ip4, TEST_PORT);
	KUNIT_ASSERT_EQ(test, create(server, to, 'L', &host->listener), 0);
	KUNIT_ASSERT_EQ(test, chan_bind(server, host->listener, &dst), 0);
	KUNIT_ASSERT_EQ(test, chan_listen(server, host->listener, 4), 0);
	KUNIT_ASSERT_EQ(test, create(client, from, 'C', &host->id), 0);
	KUNIT_ASSERT_EQ(test, chan_resolve(client, host->id, &src, &dst), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, client, RDMA_CM_EVENT_ADDR_RESOLVED, NULL));
	KUNIT_ASSERT_EQ(test, chan_route(client, host->id), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, client, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL));
	KUNIT_ASSERT_EQ(test, chan_connect(client, host->id, NULL, 0), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, server, RDMA_CM_EVENT_CONNECT_REQUEST,
					    &event));
	host->child = event.id;
	KUNIT_ASSERT_EQ(test, chan_accept(server, host->child, 'S'), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, client, RDMA_CM_EVENT_CONNECT_RESPONSE,
					    NULL));
	KUNIT_ASSERT_EQ(test, chan_confirm(client, host->id), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, server, RDMA_CM_EVENT_ESTABLISHED, NULL));
}

static int dreqs(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	return atomic_read(&host->pair.server.wire[IBCM_DREQ]);
}

static void expect_connected(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	msleep(60000);
	KUNIT_EXPECT_EQ(test, dreqs(test), 0);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->client));
	/* The initiator ends it: nobody knows the connection at the other end. */
	KUNIT_EXPECT_EQ(test, chan_disconnect(&host->client, host->id), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_DISCONNECTED,
					    NULL));
}

static void a_target_outlives_its_id(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	connect_as(test, IB_QPT_XRC_INI, IB_QPT_XRC_TGT);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->server, host->child, NULL), 0);
	expect_connected(test);
}

static void a_target_outlives_its_process(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	connect_as(test, IB_QPT_XRC_INI, IB_QPT_XRC_TGT);
	chan_close(&host->server);
	expect_connected(test);
}

/* To compare: any other connection ends with its process. */
static void no_other_does(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	connect_as(test, IB_QPT_RC, IB_QPT_RC);
	chan_close(&host->server);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client, RDMA_CM_EVENT_DISCONNECTED,
					    NULL));
	KUNIT_EXPECT_GE(test, dreqs(test), 1);
}

static struct kunit_case xrc_cases[] = {
	KUNIT_CASE_SLOW(a_target_outlives_its_id),
	KUNIT_CASE_SLOW(a_target_outlives_its_process),
	KUNIT_CASE(no_other_does),
	{}
};

static struct kunit_suite ucm_xrc_suite = {
	.name = "ucm_xrc",
	.init = hosts_init_ib,
	.exit = hosts_exit_ib,
	.test_cases = xrc_cases,
};

kunit_test_suite(ucm_xrc_suite);
