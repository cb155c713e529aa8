// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The process, its channels, and its connections up to each stage. */
#include "ucm_test.h"

static int hosts_start(struct kunit *test, int (*init)(struct kunit *, struct cma_pair *))
{
	struct ucm_hosts *host = kunit_kzalloc(test, sizeof(*host), GFP_KERNEL);
	int ret;

	if (!host)
		return -ENOMEM;
	host->test = test;
	test->priv = host;
	ret = init(test, &host->pair);
	if (ret)
		return ret;
	host->client.mem = user_pages(test, 1, TEST_RW);
	host->server.mem = user_pages(test, 1, TEST_RW);
	ret = chan_open(&host->client);
	return ret ?: chan_open(&host->server);
}

int hosts_init(struct kunit *test)
{
	return hosts_start(test, cma_pair_init);
}

int hosts_init_ib(struct kunit *test)
{
	return hosts_start(test, cma_pair_init_ib);
}

static void hosts_stop(struct kunit *test,
		       void (*exit)(struct kunit *, struct cma_pair *))
{
	struct ucm_hosts *host = test->priv;

	if (!host)
		return;
	chan_close(&host->client);
	chan_close(&host->server);
	exit(test, &host->pair);
}

void hosts_exit(struct kunit *test)
{
	hosts_stop(test, cma_pair_exit);
}

void hosts_exit_ib(struct kunit *test)
{
	hosts_stop(test, cma_pair_exit_ib);
}

void listen_up(struct kunit *test, enum rdma_ucm_port_space ps, u32 backlog)
{
	struct ucm_hosts *host = test->priv;
	struct chan *server = &host->server;
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, chan_create(server, ps, 'L', &host->listener), 0);
	KUNIT_ASSERT_EQ(test, chan_bind(server, host->listener,
					cma_sin(&addr, host->pair.server.ip4, TEST_PORT)),
			0);
	KUNIT_ASSERT_EQ(test, chan_listen(server, host->listener, backlog), 0);
}

u32 resolve_one(struct kunit *test, enum rdma_ucm_port_space ps, u64 uid)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage src, dst;
	struct chan *client = &host->client;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(client, ps, uid, &id), 0);
	KUNIT_ASSERT_EQ(test, chan_resolve(client, id,
					   cma_sin(&src, host->pair.client.ip4, 0),
					   cma_sin(&dst, host->pair.server.ip4,
						   TEST_PORT)), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, client, RDMA_CM_EVENT_ADDR_RESOLVED,
					    NULL));
	KUNIT_ASSERT_EQ(test, chan_route(client, id), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, client, RDMA_CM_EVENT_ROUTE_RESOLVED,
					    NULL));
	return id;
}

void resolve_up(struct kunit *test, enum rdma_ucm_port_space ps)
{
	struct ucm_hosts *host = test->priv;

	host->id = resolve_one(test, ps, 'C');
}

void request_up(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;

	listen_up(test, RDMA_PS_TCP, 8);
	resolve_up(test, RDMA_PS_TCP);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, "hello", 6), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	host->child = event.id;
}

void connect_up(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	request_up(test);
	KUNIT_ASSERT_EQ(test, chan_accept(&host->server, host->child, 'S'), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_CONNECT_RESPONSE, NULL));
	KUNIT_ASSERT_EQ(test, chan_confirm(&host->client, host->id), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_ESTABLISHED, NULL));
}
