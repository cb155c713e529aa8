// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Listeners on iWARP: on one device, on all, on VLANs, for either family. */
#include <net/ipv6.h>
#include "cma/cma_test.h"

static struct cma_pair pair;
static struct cma_prov provs[2];
static struct cma_side *const sides[2] = { &pair.client, &pair.server };

static int iw_listen_init(struct kunit *test)
{
	return cma_pair_init_iw(test, &pair, &provs[0], &provs[1]);
}

static void iw_listen_exit(struct kunit *test)
{
	cma_pair_exit_iw(test, &pair);
}

static int calls(struct cma_side *side, enum fake_iw_verb verb)
{
	return atomic_read(&side->hca->iw_calls[verb]);
}

/* A connect request arrives at @side's provider; the listener belongs to the client. */
static void knock(struct cma_side *side, const struct sockaddr *local,
		  const struct sockaddr *remote)
{
	cma_forget(&pair.client);
	cma_prov_report(side->prov, side->prov->listener, IW_CM_EVENT_CONNECT_REQUEST, 0,
			"knock", local, remote);
}

/* Rejects the request that was reported, and forgets it. */
static void forget_request(void)
{
	cma_drop_id(&pair.client);
	cma_forget(&pair.client);
}

static void listen_somewhere(struct kunit *test, const struct sockaddr *addr)
{
	pair.client.on_request = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.client, RDMA_PS_TCP, addr), 0);
}

static void expect_child(struct kunit *test, struct cma_side *side,
			 const struct sockaddr *local, const struct sockaddr *remote)
{
	struct rdma_cm_id *id;

	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(&pair.client, "Q"), "%s", pair.client.events);
	id = pair.client.id;
	KUNIT_EXPECT_PTR_EQ(test, id->device, &side->hca->ibdev);
	KUNIT_EXPECT_EQ(test, id->port_num, 1);
	KUNIT_EXPECT_MEMEQ(test, &id->route.addr.src_addr, local,
			   rdma_addr_size((struct sockaddr *)local));
	KUNIT_EXPECT_MEMEQ(test, &id->route.addr.dst_addr, remote,
			   rdma_addr_size((struct sockaddr *)remote));
	KUNIT_EXPECT_EQ(test, id->route.addr.dev_addr.bound_dev_if, side->ndev->ifindex);
}

static void on_one_address(struct kunit *test)
{
	struct sockaddr_storage addr, peer;

	listen_somewhere(test, cma_sin(&addr, pair.server.ip4, TEST_PORT));
	KUNIT_EXPECT_EQ(test, calls(&pair.client, FAKE_IW_LISTEN), 0);
	KUNIT_EXPECT_MEMEQ(test, &provs[1].listener->local_addr, &addr,
			   sizeof(struct sockaddr_in));
	knock(&pair.server, (struct sockaddr *)&addr,
	      cma_sin(&peer, htonl(0x0a010009), 1234));
	expect_child(test, &pair.server, (struct sockaddr *)&addr, (struct sockaddr *)&peer);
	cma_drop_listener(&pair.client);
	KUNIT_EXPECT_EQ(test, calls(&pair.server, FAKE_IW_UNLISTEN), 1);
	forget_request();
	KUNIT_EXPECT_EQ(test, calls(&pair.server, FAKE_IW_REJECT), 1);
}

/*
 * Each device's provider listens on the wildcard address; each request belongs to the
 * device that it arrived at.
 */
static void on_every_device(struct kunit *test)
{
	struct sockaddr_storage any, addr, peer;
	int i;

	listen_somewhere(test, cma_sin(&any, 0, TEST_PORT));
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_NOT_NULL(test, provs[i].listener);
		KUNIT_EXPECT_MEMEQ(test, &provs[i].listener->local_addr, &any,
				   sizeof(struct sockaddr_in));
		knock(sides[i], cma_sin(&addr, sides[i]->ip4, TEST_PORT),
		      cma_sin(&peer, htonl(0x0a010009), 1234));
		expect_child(test, sides[i], (struct sockaddr *)&addr,
			     (struct sockaddr *)&peer);
		forget_request();
	}
	cma_drop_listener(&pair.client);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, calls(sides[i], FAKE_IW_UNLISTEN), 1);
}

/*
 * One device cannot listen, as when a TCP socket has the port there: rdma_listen()
 * fails and no device listens.
 */
static void one_device_cannot(struct kunit *test)
{
	struct sockaddr_storage any;
	int i;

	for (i = 0; i < 2; i++) {
		provs[i].result[FAKE_IW_LISTEN] = -EADDRINUSE;
		KUNIT_EXPECT_EQ(test, cma_listen_at(&pair.client, RDMA_PS_TCP,
						    cma_sin(&any, 0, TEST_PORT)),
				-EADDRINUSE);
		KUNIT_EXPECT_NULL(test, provs[0].listener);
		KUNIT_EXPECT_NULL(test, provs[1].listener);
		provs[i].result[FAKE_IW_LISTEN] = 0;
	}
	listen_somewhere(test, cma_sin(&any, 0, TEST_PORT));
}

static void on_a_device_that_comes_and_goes(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.iwarp = true,
		.ndev = pair.server.ndev,
	};
	struct sockaddr_storage any;
	struct fake_hca *hca;

	listen_somewhere(test, cma_sin(&any, 0, TEST_PORT));
	hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->iw_calls[FAKE_IW_LISTEN]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hca->iw_calls[FAKE_IW_UNLISTEN]), 0);
	fake_hca_destroy(hca);
	KUNIT_EXPECT_NOT_NULL(test, provs[0].listener);
}

static void for_ipv6(struct kunit *test)
{
	struct sockaddr_storage addr, peer;

	listen_somewhere(test, cma_sin6(&addr, &pair.server.ip6, TEST_PORT));
	KUNIT_ASSERT_NOT_NULL(test, provs[1].listener);
	KUNIT_EXPECT_MEMEQ(test, &provs[1].listener->local_addr, &addr,
			   sizeof(struct sockaddr_in6));
	knock(&pair.server, (struct sockaddr *)&addr, cma_sin6(&peer, &pair.client.ip6, 9));
	expect_child(test, &pair.server, (struct sockaddr *)&addr, (struct sockaddr *)&peer);
	cma_drop_listener(&pair.client);
}

static struct sockaddr *mapped(struct sockaddr_storage *at, __be32 ip, u16 port)
{
	struct in6_addr in6;

	ipv6_addr_set_v4mapped(ip, &in6);
	return cma_sin6(at, &in6, port);
}

/* A provider whose listener is an IPv6 socket reports IPv4 peers as mapped addresses. */
static void for_both_families(struct kunit *test)
{
	struct sockaddr_storage addr, peer, local4, peer4;

	listen_somewhere(test, cma_sin6(&addr, &in6addr_any, TEST_PORT));
	KUNIT_ASSERT_NOT_NULL(test, provs[1].listener);
	KUNIT_EXPECT_FALSE(test, provs[1].listener->afonly);
	knock(&pair.server, mapped(&addr, pair.server.ip4, TEST_PORT),
	      mapped(&peer, pair.client.ip4, 99));
	expect_child(test, &pair.server, cma_sin(&local4, pair.server.ip4, TEST_PORT),
		     cma_sin(&peer4, pair.client.ip4, 99));
	cma_drop_listener(&pair.client);
}

static void of_one_family_only(struct kunit *test)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	struct sockaddr_storage any;

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	pair.client.listener = id;
	KUNIT_EXPECT_EQ(test, rdma_set_afonly(id, 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin6(&any, &in6addr_any, TEST_PORT)),
			0);
	rdma_set_service_type(id, 0x28);
	KUNIT_ASSERT_EQ(test, rdma_listen(id, 1), 0);
	KUNIT_EXPECT_TRUE(test, provs[0].listener->afonly);
	KUNIT_EXPECT_TRUE(test, provs[0].listener->tos_set);
	KUNIT_EXPECT_EQ(test, provs[0].listener->tos, 0x28);
	/* The other family's port is free. */
	id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&any, 0, TEST_PORT)), 0);
	KUNIT_EXPECT_EQ(test, rdma_listen(id, 1), 0);
	rdma_destroy_id(id);
}

static u16 port_of(struct rdma_cm_id *id)
{
	return ntohs(((struct sockaddr_in *)&id->route.addr.src_addr)->sin_port);
}

/* The port is chosen before the provider is called, and has only one listener. */
static void ports(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	u16 port;

	listen_somewhere(test, cma_sin(&addr, pair.client.ip4, 0));
	port = port_of(pair.client.listener);
	KUNIT_EXPECT_GT(test, port, 0);
	KUNIT_EXPECT_MEMEQ(test, &provs[0].listener->local_addr,
			   cma_sin(&addr, pair.client.ip4, port),
			   sizeof(struct sockaddr_in));
	id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, (struct sockaddr *)&addr), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, rdma_set_reuseaddr(id, 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, (struct sockaddr *)&addr), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, calls(&pair.client, FAKE_IW_LISTEN), 1);
	rdma_destroy_id(id);
}

/* A request for an address that no netdev has is rejected. */
static void requests_that_come_to_nothing(struct kunit *test)
{
	struct sockaddr_storage any, addr, peer;

	listen_somewhere(test, cma_sin(&any, 0, TEST_PORT));
	knock(&pair.server, cma_sin(&addr, htonl(0x0a630001), TEST_PORT),
	      cma_sin(&peer, htonl(0x0a010009), 1234));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, ""));
	msleep(200);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	KUNIT_EXPECT_EQ(test, calls(&pair.server, FAKE_IW_REJECT), 1);
	/* The next request is reported. */
	knock(&pair.server, cma_sin(&addr, pair.server.ip4, TEST_PORT),
	      (struct sockaddr *)&peer);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "Q"));
}

static struct kunit_case iw_listen_cases[] = {
	KUNIT_CASE(on_one_address),
	KUNIT_CASE(on_every_device),
	KUNIT_CASE(one_device_cannot),
	KUNIT_CASE(on_a_device_that_comes_and_goes),
	KUNIT_CASE(for_ipv6),
	KUNIT_CASE(for_both_families),
	KUNIT_CASE(of_one_family_only),
	KUNIT_CASE(ports),
	KUNIT_CASE(requests_that_come_to_nothing),
	{}
};

static struct kunit_suite cma_iw_listen_suite = {
	.name = "rdma_cm_iwarp_listen",
	.init = iw_listen_init,
	.exit = iw_listen_exit,
	.test_cases = iw_listen_cases,
};

kunit_test_suite(cma_iw_listen_suite);
