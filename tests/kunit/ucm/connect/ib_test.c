// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* On InfiniBand: paths that the program sets, and the queries that return them. */
#include "ucm/ucm_test.h"

#define PATH_FLAGS	(IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)

static void address_up(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct sockaddr_storage src, dst;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &host->id), 0);
	KUNIT_ASSERT_EQ(test, chan_resolve(&host->client, host->id,
					   cma_sin(&src, host->pair.client.ip4, 0),
					   cma_sin(&dst, host->pair.server.ip4,
						   TEST_PORT)), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_ADDR_RESOLVED, NULL));
}

static void make_path(struct ucm_hosts *host, struct ib_path_rec_data *data)
{
	struct fake_hca_port *from = &host->pair.client.hca->port[1];
	struct fake_hca_port *to = &host->pair.server.hca->port[1];
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.sgid = from->gids[0], .dgid = to->gids[0],
		.pkey = htons(0xffff), .mtu = IB_MTU_2048, .mtu_selector = IB_SA_EQ,
		.rate = IB_RATE_10_GBPS, .rate_selector = IB_SA_EQ,
		.packet_life_time = 12, .packet_life_time_selector = IB_SA_EQ,
		.reversible = 1, .numb_path = 1, .hop_limit = 1,
		.ib = { .slid = htons(from->lid), .dlid = htons(to->lid) },
	};

	memset(data, 0, sizeof(*data));
	data->flags = PATH_FLAGS;
	ib_sa_pack_path(&rec, data->path_rec);
}

static int set_path(struct chan *chan, u32 id, const void *data, u32 len)
{
	return chan_option(chan, id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, data, len);
}

static void a_program_brings_its_path(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_query query = { .response = chan_resp_at(&host->client) };
	struct rdma_ucm_query_route_resp route;
	struct ib_path_rec_data *data;
	size_t size = 2 * sizeof(*data);
	int asked;

	address_up(test);
	asked = atomic_read(&host->pair.client.sa_asked);
	data = kunit_kcalloc(test, 65, sizeof(*data), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, data);
	make_path(host, &data[1]);
	data[0] = data[1];
	data[0].flags = IB_PATH_GMP | IB_PATH_ALTERNATE;
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id, data, sizeof(*data)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id, data, size - 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id, data, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id, data,
				       65 * sizeof(*data)), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id, NULL, sizeof(*data)),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id + 77, data, size),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id, data, size), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->client,
					    RDMA_CM_EVENT_ROUTE_RESOLVED, NULL));
	/* A second path is refused, and causes no event. */
	KUNIT_EXPECT_EQ(test, set_path(&host->client, host->id, data, size),
			-EINVAL);
	KUNIT_EXPECT_TRUE(test, chan_is_empty(&host->client));
	KUNIT_EXPECT_EQ(test, atomic_read(&host->pair.client.sa_asked), asked);

	query.id = host->id;
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, QUERY_ROUTE, query, sizeof(route)), 0);
	chan_resp(&host->client, &route, sizeof(route));
	KUNIT_EXPECT_EQ(test, route.num_paths, 1);
	KUNIT_EXPECT_EQ(test, ntohs(route.ib_route[0].dlid),
			host->pair.server.hca->port[1].lid);
	KUNIT_EXPECT_EQ(test, route.ib_route[0].mtu, IB_MTU_2048);

	listen_up(test, RDMA_PS_TCP, 8);
	KUNIT_ASSERT_EQ(test, chan_connect(&host->client, host->id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, NULL));
}

static int fail_path(struct racer *r)
{
	struct ib_path_rec_data data = { .flags = PATH_FLAGS };
	int i, ok = 0;

	for (i = 0; i < 300; i++) {
		ok += !set_path(&r->chan, r->id, &data, sizeof(data));
		usleep_range(1, 2);
	}
	return ok;
}

/* Section 5, 3: the route is replaced while it is queried, resolved and reported. */
static void paths_are_set_while_others_look(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_query query = {
		.response = chan_resp_at(&host->client), .option = RDMA_USER_CM_QUERY_PATH,
	};
	struct rdma_ucm_event_resp event;
	struct racer r[2];
	int i, ok = 0, told = 0;

	address_up(test);
	query.id = host->id;
	for (i = 0; i < 2; i++)
		race_start(test, &r[i], &host->client, fail_path, host->id, 0);
	for (i = 0; i < 300; i++) {
		KUNIT_EXPECT_EQ(test, chan_do(&host->client, QUERY, query, 152), 0);
		ok += !chan_route(&host->client, host->id);
		usleep_range(1, 2);
	}
	for (i = 0; i < 2; i++)
		ok += race_join(test, &r[i]);
	/* One of the calls was the first, and each that succeeded is reported. */
	msleep(1000);
	while (!chan_read(&host->client, &event)) {
		KUNIT_EXPECT_EQ(test, event.event, RDMA_CM_EVENT_ROUTE_RESOLVED);
		told++;
	}
	KUNIT_EXPECT_EQ(test, ok, 1);
	KUNIT_EXPECT_EQ(test, told, 1);
}

static void what_an_infiniband_id_is_asked(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_query query = { .response = chan_resp_at(&host->client) };
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query_addr_resp addr;
	struct sockaddr_ib *sib = (void *)&addr.src_addr;
	union ib_gid *gid = &host->pair.client.hca->port[1].gids[0];

	address_up(test);
	query.id = host->id;
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, QUERY_ROUTE, query, sizeof(route)), 0);
	chan_resp(&host->client, &route, sizeof(route));
	KUNIT_EXPECT_EQ(test, route.num_paths, 0);
	KUNIT_EXPECT_EQ(test, route.ib_route[0].pkey, htons(0xffff));
	KUNIT_EXPECT_MEMEQ(test, route.ib_route[0].sgid, gid->raw, 16);
	query.option = RDMA_USER_CM_QUERY_GID;
	KUNIT_EXPECT_EQ(test, chan_do(&host->client, QUERY, query, sizeof(addr)), 0);
	chan_resp(&host->client, &addr, sizeof(addr));
	KUNIT_EXPECT_MEMEQ(test, &sib->sib_addr, gid->raw, 16);
	KUNIT_EXPECT_EQ(test, sib->sib_pkey, htons(0xffff));
}

static void an_id_by_infiniband_address(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_query query = {
		.response = chan_resp_at(&host->server), .option = RDMA_USER_CM_QUERY_GID,
	};
	struct rdma_ucm_query_addr_resp addr;
	struct sockaddr_ib *sib = (void *)&addr.src_addr;
	struct sockaddr_storage at;

	KUNIT_ASSERT_EQ(test, chan_create(&host->server, RDMA_PS_IB, 'L', &query.id), 0);
	cma_sin_ib(&at, &host->pair.server, RDMA_PS_TCP, TEST_PORT);
	KUNIT_ASSERT_EQ(test, chan_bind(&host->server, query.id, &at), 0);
	KUNIT_ASSERT_EQ(test, chan_listen(&host->server, query.id, 1), 0);
	KUNIT_EXPECT_EQ(test, chan_do(&host->server, QUERY, query, sizeof(addr)), 0);
	chan_resp(&host->server, &addr, sizeof(addr));
	KUNIT_EXPECT_EQ(test, addr.src_size, sizeof(*sib));
	KUNIT_EXPECT_EQ(test, sib->sib_family, AF_IB);
	KUNIT_EXPECT_MEMEQ(test, &sib->sib_addr, &host->pair.server.hca->port[1].gids[0], 16);
}

static struct kunit_case ib_cases[] = {
	KUNIT_CASE(a_program_brings_its_path),
	KUNIT_CASE(paths_are_set_while_others_look),
	KUNIT_CASE(what_an_infiniband_id_is_asked),
	KUNIT_CASE(an_id_by_infiniband_address),
	{}
};

static struct kunit_suite ucm_ib_suite = {
	.name = "ucm_ib",
	.init = hosts_init_ib,
	.exit = hosts_exit_ib,
	.test_cases = ib_cases,
};

kunit_test_suite(ucm_ib_suite);
