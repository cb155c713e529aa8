// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* InfiniBand: path queries, IPoIB addresses and AF_IB ones. */
#include <linux/if_infiniband.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "cma/cma_test.h"
#include "wait.h"

static struct cma_pair pair;

static int ib_test_init(struct kunit *test)
{
	return cma_pair_init_ib(test, &pair);
}

static void ib_test_exit(struct kunit *test)
{
	cma_pair_exit_ib(test, &pair);
}

static void over_ipoib_addresses(struct kunit *test)
{
	union ib_gid sgid, dgid;
	struct sa_path_rec *path;

	pair.client.param.private_data = "ib";
	pair.client.param.private_data_len = 3;
	cma_connect(test, &pair);
	KUNIT_EXPECT_STREQ(test, pair.server.private_data, "ib");
	path = pair.client.id->route.path_rec;
	KUNIT_EXPECT_EQ(test, sa_path_get_dlid(path),
			cpu_to_be32(pair.server.hca->port[1].lid));
	KUNIT_EXPECT_EQ(test, path->mtu, IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(path->service_id),
			RDMA_IB_IP_PS_TCP | TEST_PORT);
	rdma_read_gids(pair.client.id, &sgid, &dgid);
	KUNIT_EXPECT_MEMEQ(test, &sgid, &pair.client.hca->port[1].gids[0], 16);
	KUNIT_EXPECT_MEMEQ(test, &dgid, &pair.server.hca->port[1].gids[0], 16);
	rdma_read_gids(pair.server.id, &sgid, &dgid);
	KUNIT_EXPECT_MEMEQ(test, &sgid, &pair.server.hca->port[1].gids[0], 16);
	KUNIT_EXPECT_MEMEQ(test, &dgid, &pair.client.hca->port[1].gids[0], 16);
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "DT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "DT"));
}

static void over_ipv6_addresses(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP,
					    cma_sin6(&addr, &in6addr_any, TEST_PORT)), 0);
	cma_resolve_to(test, &pair.client, RDMA_PS_TCP,
		       cma_sin6(&addr, &pair.server.ip6, TEST_PORT));
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
}

static void resolve_addr(struct kunit *test, struct cma_side *client)
{
	struct sockaddr_storage addr;

	client->id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id, NULL,
						cma_sin(&addr, pair.server.ip4,
							TEST_PORT), TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "A"));
	cma_forget(client);
}

static void no_path(struct kunit *test)
{
	resolve_addr(test, &pair.client);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(pair.client.id, 0), -EINVAL);
	pair.client.sa = SA_REFUSES;
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "r"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -EINVAL);
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_ADDR_RESOLVED);
	pair.client.sa = SA_SILENT;
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "rr"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -ETIMEDOUT);
	/* The query may be repeated, and then finds a path. */
	pair.client.sa = SA_ANSWERS;
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "rrR"));
}

/* Destruction does not wait for a response that may never arrive. */
static void ended_during_the_path_query(struct kunit *test)
{
	unsigned long start;

	pair.client.sa = SA_SILENT;
	resolve_addr(test, &pair.client);
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, 60000), 0);
	msleep(50);
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_ROUTE_QUERY);
	start = jiffies;
	cma_drop_id(&pair.client);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 1000);
	msleep(1000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
}

static void the_class_of_service_is_asked_for(struct kunit *test)
{
	u16 qos;

	resolve_addr(test, &pair.client);
	rdma_set_service_type(pair.client.id, 0x47);
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "R"));
	qos = be16_to_cpu(*(__be16 *)(pair.client.sa_record + 52)) >> 4;
	KUNIT_EXPECT_EQ(test, qos, 0x47);
}

static void fill_path(struct sa_path_rec *path)
{
	memset(path, 0, sizeof(*path));
	path->rec_type = SA_PATH_REC_TYPE_IB;
	path->sgid = pair.client.hca->port[1].gids[0];
	path->dgid = pair.server.hca->port[1].gids[0];
	path->pkey = cpu_to_be16(0xffff);
	path->mtu = IB_MTU_1024;
	path->rate = IB_RATE_10_GBPS;
	path->packet_life_time = 12;
	path->reversible = 1;
	path->numb_path = 1;
	sa_path_set_slid(path, pair.client.hca->port[1].lid);
	sa_path_set_dlid(path, pair.server.hca->port[1].lid);
}

static void the_consumer_knows_the_path(struct kunit *test)
{
	struct sa_path_rec path;

	fill_path(&path);
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	resolve_addr(test, &pair.client);
	atomic_set(&pair.client.sa_asked, 0);
	KUNIT_ASSERT_EQ(test, rdma_set_ib_path(pair.client.id, &path), 0);
	KUNIT_EXPECT_EQ(test, rdma_set_ib_path(pair.client.id, &path), -EINVAL);
	KUNIT_EXPECT_EQ(test, atomic_read(&pair.client.sa_asked), 0);
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_ROUTE_RESOLVED);
	KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.client), 0);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_EQ(test, pair.server.id->route.path_rec->mtu, IB_MTU_1024);
}

/* Connects by two paths, which differ in their packet lifetime. */
static void connect_by_two_paths(struct kunit *test)
{
	struct sa_path_rec *paths = kcalloc(2, sizeof(*paths), GFP_KERNEL);
	struct rdma_route *route;

	KUNIT_ASSERT_NOT_NULL(test, paths);
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	route = &pair.client.id->route;
	fill_path(&paths[0]);
	fill_path(&paths[1]);
	paths[1].packet_life_time = 17;
	kfree(route->path_rec);
	route->path_rec = paths;
	route->num_pri_alt_paths = 2;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
}

static void an_alternate_path_travels_along(struct kunit *test)
{
	connect_by_two_paths(test);
	KUNIT_EXPECT_EQ(test, pair.server.id->route.num_pri_alt_paths, 2);
	KUNIT_EXPECT_EQ(test, sa_path_get_dlid(&pair.server.id->route.path_rec[1]),
			cpu_to_be32(pair.client.hca->port[1].lid));
}

/* What loads the alternate path into the side's QP: its timeout; 0: nothing does. */
static int loads(struct cma_side *side)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask;

	if (rdma_init_qp_attr(side->id, &attr, &mask) ||
	    mask != (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE) ||
	    attr.path_mig_state != IB_MIG_REARM)
		return 0;
	return attr.alt_timeout;
}

/* After a migration the former primary path can be loaded as the alternate one. */
static void the_cm_follows_a_migration(struct kunit *test)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask, alternate, primary;

	connect_by_two_paths(test);
	KUNIT_ASSERT_EQ(test, rdma_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_ALT_PATH);
	alternate = attr.alt_timeout;
	attr.qp_state = IB_QPS_RTS;
	KUNIT_ASSERT_EQ(test, rdma_init_qp_attr(pair.client.id, &attr, &mask), 0);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_PATH_MIG_STATE);
	KUNIT_EXPECT_TRUE(test, mask & IB_QP_SQ_PSN);
	primary = attr.timeout;
	KUNIT_ASSERT_NE(test, primary, alternate);
	KUNIT_EXPECT_EQ(test, loads(&pair.client), 0);

	fake_hca_qp_event(pair.client.id->qp, IB_EVENT_PATH_MIG);
	KUNIT_EXPECT_EQ(test, loads(&pair.client), primary);
	KUNIT_EXPECT_EQ(test, loads(&pair.server), 0);
	/* The consumer may report it, too. */
	KUNIT_EXPECT_EQ(test, rdma_notify(pair.client.id, IB_EVENT_PATH_MIG), 0);
	KUNIT_EXPECT_EQ(test, loads(&pair.client), primary);
	/* The passive side; and back. */
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "QE"));
	fake_hca_qp_event(pair.server.id->qp, IB_EVENT_PATH_MIG);
	KUNIT_EXPECT_NE(test, loads(&pair.server), 0);
	fake_hca_qp_event(pair.client.id->qp, IB_EVENT_PATH_MIG);
	KUNIT_EXPECT_EQ(test, loads(&pair.client), alternate);
	/* Nothing else is taken for a migration. */
	fake_hca_qp_event(pair.client.id->qp, IB_EVENT_COMM_EST);
	fake_hca_qp_event(pair.client.id->qp, IB_EVENT_PATH_MIG_ERR);
	KUNIT_EXPECT_EQ(test, loads(&pair.client), alternate);
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	fake_hca_qp_event(pair.client.id->qp, IB_EVENT_PATH_MIG);
	KUNIT_EXPECT_EQ(test, loads(&pair.client), 0);
}

static void a_migration_without_an_alternate_path(struct kunit *test)
{
	cma_connect(test, &pair);
	KUNIT_EXPECT_EQ(test, rdma_notify(pair.client.id, IB_EVENT_PATH_MIG), -EINVAL);
}

/* A request without a netdev is rejected: its network namespace is unknown. */
static void a_request_without_a_netdev(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	pair.server.hidden = true;
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_CM_REJ_INVALID_SERVICE_ID);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

/* A netdev that is down receives no requests, whatever their source. */
static void a_netdev_that_is_down(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP,
					    cma_sin6(&addr, &in6addr_any, TEST_PORT)), 0);
	cma_resolve_to(test, &pair.client, RDMA_PS_TCP,
		       cma_sin6(&addr, &pair.server.ip6, TEST_PORT));
	rtnl_lock();
	dev_close(pair.server.ndev);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_CM_REJ_INVALID_SERVICE_ID);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

static u16 other_pkey;

static void in_another_partition(struct cma_side *side, void *mad)
{
	if (side->qp_type == IB_QPT_UD)
		IBA_SET(CM_SIDR_REQ_PARTITION_KEY, (struct cm_sidr_req_msg *)mad,
			other_pkey);
	else
		IBA_SET(CM_REQ_PARTITION_KEY, (struct cm_req_msg *)mad, other_pkey);
}

/*
 * The netdev is looked up by the P_Key in the request; the packet's own may be another.
 */
static void the_netdev_is_of_the_connections_partition(struct kunit *test)
{
	struct sockaddr_storage addr;

	other_pkey = pair.server.hca->port[1].pkeys[1];
	pair.client.forge = in_another_partition;
	pair.server.on_request = CMA_REJECT;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "J"));
	KUNIT_EXPECT_EQ(test, pair.server.pkey_asked, other_pkey);
	cma_drop_listener(&pair.server);
	cma_drop_id(&pair.client);
	cma_drop_id(&pair.server);
	cma_forget(&pair.client);

	pair.server.pkey_asked = 0;
	pair.client.qp_type = IB_QPT_UD;
	pair.server.qp_type = IB_QPT_UD;
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_UDP,
					    cma_sin(&addr, pair.server.ip4, TEST_PORT)),
			0);
	cma_resolve_to(test, &pair.client, RDMA_PS_UDP,
		       cma_sin(&addr, pair.server.ip4, TEST_PORT));
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_EQ(test, pair.server.pkey_asked, other_pkey);
}

/*
 * Makes requests arrive by another IPoIB netdev of the server, in the first one's
 * subnet.
 */
static struct net_device *come_by_another(struct kunit *test)
{
	u8 lladdr[INFINIBAND_ALEN] = { 0, 0, 1, 0 };
	__be32 ip = htonl(ntohl(pair.server.ip4) ^ 0x40);
	struct net_device *other;

	memcpy(lladdr + 4, &pair.server.hca->port[1].gids[0], 16);
	lladdr[INFINIBAND_ALEN - 1] ^= 0xff;
	other = fake_ipoib_create(lladdr);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_EQ(test, cma_net_addr(other, true, AF_INET, &ip, 24), 0);
	pair.server.by = other;
	return other;
}

/*
 * Any netdev of a host, such as that of another port, answers ARP requests for its
 * addresses: requests to an address may arrive by another netdev.
 */
static void an_address_by_another_netdev(struct kunit *test)
{
	struct net_device *other = come_by_another(test);

	cma_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "DT"));
	fake_netdev_destroy(other);
}

/* But requests to an address of one partition may not arrive by a netdev of another. */
static void an_address_by_another_partition(struct kunit *test)
{
	struct net_device *other = come_by_another(test);
	int i;

	pair.server.ndev->broadcast[9] = 0xfe;
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
		cma_resolve(test, &pair);
		KUNIT_EXPECT_EQ(test, cma_request(&pair.client), 0);
		KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, i ? "E" : "J"));
		cma_drop_id(&pair.client);
		cma_drop_id(&pair.server);
		cma_drop_listener(&pair.server);
		cma_forget(&pair.client);
		pair.server.ndev->broadcast[9] = 0xff;
	}
	fake_netdev_destroy(other);
}

static void a_partition_the_port_is_not_in(struct kunit *test)
{
	resolve_addr(test, &pair.client);
	ib_addr_set_pkey(&pair.client.id->route.addr.dev_addr, 0x8777);
	KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), -ENOENT);
	KUNIT_EXPECT_NULL(test, pair.client.id->qp);
}

static void listen_ib(struct kunit *test, struct cma_side *at,
		      enum rdma_ucm_port_space ps)
{
	struct sockaddr_storage addr;

	cma_sin_ib(&addr, at, ps, TEST_PORT);
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, ps, (struct sockaddr *)&addr),
			0);
}

static void resolve_ib(struct kunit *test, enum rdma_ucm_port_space ps)
{
	struct sockaddr_storage src, addr;
	struct cma_side *client = &pair.client;

	/* Without a source, the adapter that has the peer's GID would be chosen. */
	cma_sin_ib(&src, client, ps, 0);
	cma_sin_ib(&addr, &pair.server, ps, TEST_PORT);
	client->id = cma_new_id(client, ps, client->qp_type);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id, (void *)&src, (void *)&addr,
						TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "A"));
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "AR"));
	KUNIT_ASSERT_EQ(test, cma_make_qp(client), 0);
	cma_forget(client);
}

static void between_ib_addresses(struct kunit *test)
{
	struct sockaddr_ib *src, *peer;
	u8 data[93];
	int any;

	memset(data, 0x3c, sizeof(data));
	for (any = 0; any < 2; any++) {
		listen_ib(test, any ? NULL : &pair.server, RDMA_PS_IB);
		resolve_ib(test, RDMA_PS_IB);
		src = (struct sockaddr_ib *)&pair.client.id->route.addr.src_addr;
		KUNIT_EXPECT_MEMEQ(test, &src->sib_addr,
				   &pair.client.hca->port[1].gids[0], 16);
		/* There is no CMA header: all of the private data is the consumer's. */
		pair.client.param.private_data = data;
		pair.client.param.private_data_len = 93;
		KUNIT_EXPECT_EQ(test, cma_request(&pair.client), -EINVAL);
		pair.client.param.private_data_len = any ? 0 : 92;
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "QE"));
		if (!any)
			KUNIT_EXPECT_MEMEQ(test, pair.server.private_data, data, 92);
		peer = (struct sockaddr_ib *)&pair.server.id->route.addr.dst_addr;
		KUNIT_EXPECT_EQ(test, peer->sib_family, AF_IB);
		KUNIT_EXPECT_MEMEQ(test, &peer->sib_addr,
				   &pair.client.hca->port[1].gids[0], 16);
		cma_drop_listener(&pair.server);
		cma_drop_id(&pair.client);
		KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QED") ||
				  pair.server.events[2] == 'D');
		cma_drop_id(&pair.server);
		cma_forget(&pair.client);
		cma_forget(&pair.server);
	}
}

/* Private data of AF_IB requests that look like an IPv4 header, then an x. */
static void fill_like_a_header(u8 *data, size_t len)
{
	memset(data, 0, len);
	data[1] = 0x40;
	memcpy(data + 16, &pair.client.ip4, 4);
	memcpy(data + 32, &pair.server.ip4, 4);
	data[36] = 'x';
}

/*
 * Requests in RDMA_PS_IB may have a CMA header or not: data that look like a header are
 * one if a listener has that address, else they are the consumer's.
 */
static void data_that_look_like_a_header(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct sockaddr *peer;
	u8 data[92];
	int ip;

	fill_like_a_header(data, sizeof(data));
	for (ip = 0; ip < 2; ip++) {
		if (ip)
			KUNIT_ASSERT_EQ(test,
					cma_listen_at(&pair.server, RDMA_PS_IB,
						      cma_sin(&addr, pair.server.ip4,
							      TEST_PORT)), 0);
		else
			listen_ib(test, NULL, RDMA_PS_IB);
		resolve_ib(test, RDMA_PS_IB);
		pair.client.param.private_data = data;
		pair.client.param.private_data_len = sizeof(data);
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "QE"));
		peer = (struct sockaddr *)&pair.server.id->route.addr.dst_addr;
		KUNIT_EXPECT_EQ(test, peer->sa_family, ip ? AF_INET : AF_IB);
		KUNIT_EXPECT_MEMEQ(test, pair.server.private_data, data + (ip ? 36 : 0),
				   ip ? 56 : 92);
		cma_drop_listener(&pair.server);
		cma_drop_id(&pair.client);
		cma_quiesce(&pair);
		cma_drop_id(&pair.server);
		cma_quiesce(&pair);
		cma_forget(&pair.client);
		cma_forget(&pair.server);
	}
}

/* AF_IB listeners in the port spaces of IP addresses get such requests, too. */
static void data_that_look_like_a_header_in_ip_port_spaces(struct kunit *test)
{
	static const enum rdma_ucm_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP };
	struct sockaddr *peer;
	u8 data[92];
	bool udp;
	int i;

	fill_like_a_header(data, sizeof(data));
	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		udp = spaces[i] == RDMA_PS_UDP;
		pair.client.qp_type = udp ? IB_QPT_UD : IB_QPT_RC;
		pair.server.qp_type = pair.client.qp_type;
		listen_ib(test, NULL, spaces[i]);
		resolve_ib(test, spaces[i]);
		pair.client.param.private_data = data;
		pair.client.param.private_data_len = sizeof(data);
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, udp ? "Q" : "QE"));
		peer = (struct sockaddr *)&pair.server.id->route.addr.dst_addr;
		KUNIT_EXPECT_EQ(test, peer->sa_family, AF_IB);
		KUNIT_EXPECT_MEMEQ(test, pair.server.private_data, data, sizeof(data));
		cma_drop_listener(&pair.server);
		cma_drop_id(&pair.client);
		cma_quiesce(&pair);
		cma_drop_id(&pair.server);
		cma_quiesce(&pair);
		cma_forget(&pair.client);
		cma_forget(&pair.server);
	}
}

static void datagrams_between_ib_addresses(struct kunit *test)
{
	struct ib_qp_init_attr init;
	struct sockaddr_ib *addr;
	struct ib_qp_attr attr;

	pair.client.qp_type = IB_QPT_UD;
	pair.server.qp_type = IB_QPT_UD;
	listen_ib(test, NULL, RDMA_PS_UDP);
	resolve_ib(test, RDMA_PS_UDP);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.ud.qp_num,
			pair.server.id->qp->qp_num);
	/* Of the request's P_Key, not of an empty entry of the table. */
	KUNIT_ASSERT_EQ(test, ib_query_qp(pair.server.id->qp, &attr, IB_QP_PKEY_INDEX,
					  &init), 0);
	KUNIT_EXPECT_EQ(test, attr.pkey_index, 0);
	addr = (struct sockaddr_ib *)&pair.server.id->route.addr.src_addr;
	KUNIT_EXPECT_EQ(test, addr->sib_pkey, htons(0xffff));
	addr = (struct sockaddr_ib *)&pair.server.id->route.addr.dst_addr;
	KUNIT_EXPECT_EQ(test, addr->sib_pkey, htons(0xffff));
}

/*
 * A SIDR_REQ without GRH does not say which GID of the port it is for: a listener at any
 * of them gets it.
 */
static void datagrams_to_a_gid(struct kunit *test)
{
	static const int at[] = { 0, 3 };
	union ib_gid *gids = pair.server.hca->port[1].gids;
	struct sockaddr_storage addr;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)&addr;
	struct sockaddr_ib *src;
	union ib_gid sgid, dgid;
	int i;

	gids[3] = gids[0];
	gids[3].raw[15] ^= 0x55;
	fake_hca_port_event(pair.server.hca, 1, IB_EVENT_GID_CHANGE);
	msleep(50);
	pair.client.qp_type = IB_QPT_UD;
	pair.server.qp_type = IB_QPT_UD;
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		/* On such an adapter a GRH says that the request is for GID 0. */
		if (at[i] && pair.server.hca->quirks.grh_required)
			break;
		cma_sin_ib(&addr, &pair.server, RDMA_PS_UDP, TEST_PORT);
		memcpy(&ib->sib_addr, &gids[at[i]], sizeof(ib->sib_addr));
		KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_UDP,
						    (struct sockaddr *)&addr), 0);
		resolve_ib(test, RDMA_PS_UDP);
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
		src = (struct sockaddr_ib *)&pair.server.id->route.addr.src_addr;
		KUNIT_EXPECT_MEMEQ(test, &src->sib_addr, &gids[at[i]], 16);
		rdma_read_gids(pair.server.id, &sgid, &dgid);
		KUNIT_EXPECT_MEMEQ(test, &sgid, &gids[at[i]], 16);
		cma_drop_listener(&pair.server);
		cma_drop_id(&pair.client);
		cma_drop_id(&pair.server);
		cma_quiesce(&pair);
		cma_forget(&pair.client);
		cma_forget(&pair.server);
	}
}

static void an_ib_address_of_nobody(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)&addr;

	pair.client.id = cma_new_id(&pair.client, RDMA_PS_IB, IB_QPT_RC);
	cma_sin_ib(&addr, &pair.server, RDMA_PS_IB, TEST_PORT);
	/* A subnet that no port of this host is in. */
	ib->sib_addr.sib_addr32[0] = cpu_to_be32(0xfec00000);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(pair.client.id, NULL, (void *)&addr,
						TEST_TIMEOUT), -ENODEV);
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_ADDR_BOUND);
	cma_sin_ib(&addr, &pair.server, RDMA_PS_IB, TEST_PORT);
	ib->sib_pkey = cpu_to_be16(0x8777);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(pair.client.id, NULL, (void *)&addr,
						TEST_TIMEOUT), -ENODEV);
	ib->sib_pkey = cpu_to_be16(0xffff);
	pair.client.hca->port[1].state = IB_PORT_DOWN;
	pair.server.hca->port[1].state = IB_PORT_DOWN;
	fake_hca_port_event(pair.client.hca, 1, IB_EVENT_PORT_ERR);
	fake_hca_port_event(pair.server.hca, 1, IB_EVENT_PORT_ERR);
	msleep(100);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(pair.client.id, NULL, (void *)&addr,
						TEST_TIMEOUT), -ENODEV);
}

/*
 * A GID of this host is reached from the port that has it, another GID from a port of
 * its subnet.
 */
static void the_nearest_port_is_taken(struct kunit *test)
{
	struct cma_side *client = &pair.client;
	struct sockaddr_storage addr;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)&addr;
	int i;

	for (i = 0; i < 3; i++) {
		client->id = cma_new_id(client, RDMA_PS_IB, IB_QPT_RC);
		cma_sin_ib(&addr, i == 1 ? &pair.server : client, RDMA_PS_IB, TEST_PORT);
		if (i == 2)
			ib->sib_addr.sib_raw[15] ^= 0xff;
		KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id, NULL, (void *)&addr,
							TEST_TIMEOUT), 0);
		KUNIT_EXPECT_TRUE(test, cma_wait(client, "A"));
		if (i < 2)
			KUNIT_EXPECT_PTR_EQ(test, client->id->device,
					    i ? &pair.server.hca->ibdev :
						&pair.client.hca->ibdev);
		else
			KUNIT_EXPECT_NOT_NULL(test, client->id->device);
		cma_drop_id(client);
		cma_forget(client);
	}
}

/* The wildcard as a destination means this host. */
static void this_host(struct kunit *test)
{
	struct sockaddr_storage addr[3];
	struct in6_addr six = in6addr_any;
	struct cma_side *client = &pair.client;
	union ib_gid sgid, dgid;
	int i;

	cma_sin(&addr[0], 0, TEST_PORT);
	cma_sin6(&addr[1], &six, TEST_PORT);
	cma_sin_ib(&addr[2], NULL, RDMA_PS_TCP, TEST_PORT);
	for (i = 0; i < 3; i++) {
		client->id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id, NULL, (void *)&addr[i],
							TEST_TIMEOUT), 0);
		KUNIT_EXPECT_TRUE(test, cma_wait(client, "A"));
		KUNIT_EXPECT_NOT_NULL(test, client->id->device);
		rdma_read_gids(client->id, &sgid, &dgid);
		KUNIT_EXPECT_MEMEQ(test, &sgid, &dgid, 16);
		KUNIT_EXPECT_FALSE(test, rdma_is_zero_gid(&sgid));
		KUNIT_EXPECT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT), 0);
		KUNIT_EXPECT_TRUE(test, cma_wait(client, "AR"));
		cma_drop_id(client);
		cma_forget(client);
	}
}

static struct kunit_case ib_cases[] = {
	KUNIT_CASE(over_ipoib_addresses),
	KUNIT_CASE(over_ipv6_addresses),
	KUNIT_CASE(no_path),
	KUNIT_CASE(ended_during_the_path_query),
	KUNIT_CASE(the_class_of_service_is_asked_for),
	KUNIT_CASE(the_consumer_knows_the_path),
	KUNIT_CASE(an_alternate_path_travels_along),
	KUNIT_CASE(the_cm_follows_a_migration),
	KUNIT_CASE(a_migration_without_an_alternate_path),
	KUNIT_CASE(a_request_without_a_netdev),
	KUNIT_CASE(a_netdev_that_is_down),
	KUNIT_CASE(the_netdev_is_of_the_connections_partition),
	KUNIT_CASE(an_address_by_another_netdev),
	KUNIT_CASE(an_address_by_another_partition),
	KUNIT_CASE(a_partition_the_port_is_not_in),
	KUNIT_CASE(between_ib_addresses),
	KUNIT_CASE(data_that_look_like_a_header),
	KUNIT_CASE(data_that_look_like_a_header_in_ip_port_spaces),
	KUNIT_CASE(datagrams_between_ib_addresses),
	KUNIT_CASE(datagrams_to_a_gid),
	KUNIT_CASE(an_ib_address_of_nobody),
	KUNIT_CASE(the_nearest_port_is_taken),
	KUNIT_CASE(this_host),
	{}
};

static struct kunit_suite cma_ib_suite = {
	.name = "rdma_cm_ib",
	.init = ib_test_init,
	.exit = ib_test_exit,
	.test_cases = ib_cases,
};

kunit_test_suite(cma_ib_suite);
