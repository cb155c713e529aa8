// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The source address that a request claims, and whether that is possible. */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include "cma/cma_test.h"

static struct cma_pair pair;
static struct cma_side *const client = &pair.client, *const server = &pair.server;

/*
 * What the wire changes in the next request, so that it is as a forging peer would send
 * it.
 */
static struct {
	bool sidr;
	const u8 *src, *dst;		/* 16 bytes of the header; NULL: as they are */
	u8 ip_version;			/* 0: as it is */
	u32 comm_id, psn, qpn;		/* bits that change */
	bool tid;
} forged;

#define HDR_IP_VERSION	1
#define HDR_SRC		4
#define HDR_DST		20

static void forge(struct cma_side *side, void *mad)
{
	struct cm_sidr_req_msg *sidr = mad;
	struct cm_req_msg *req = mad;
	u8 *hdr = forged.sidr ? IBA_GET_MEM_PTR(CM_SIDR_REQ_PRIVATE_DATA, sidr) :
				IBA_GET_MEM_PTR(CM_REQ_PRIVATE_DATA, req);

	if (forged.src)
		memcpy(hdr + HDR_SRC, forged.src, 16);
	if (forged.dst)
		memcpy(hdr + HDR_DST, forged.dst, 16);
	if (forged.ip_version)
		hdr[HDR_IP_VERSION] = forged.ip_version << 4;
	if (forged.tid)
		req->hdr.tid ^= cpu_to_be64(1);
	if (forged.sidr) {
		IBA_SET(CM_SIDR_REQ_REQUESTID, sidr,
			IBA_GET(CM_SIDR_REQ_REQUESTID, sidr) ^ forged.comm_id);
		return;
	}
	IBA_SET(CM_REQ_LOCAL_COMM_ID, req,
		IBA_GET(CM_REQ_LOCAL_COMM_ID, req) ^ forged.comm_id);
	IBA_SET(CM_REQ_STARTING_PSN, req,
		IBA_GET(CM_REQ_STARTING_PSN, req) ^ forged.psn);
	IBA_SET(CM_REQ_LOCAL_QPN, req, IBA_GET(CM_REQ_LOCAL_QPN, req) ^ forged.qpn);
}

/* @ret: the result of making the pair */
static int source_begin(int ret)
{
	memset(&forged, 0, sizeof(forged));
	client->forge = forge;
	server->on_request = CMA_REJECT;
	return ret;
}

static int source_test_init(struct kunit *test)
{
	return source_begin(cma_pair_init(test, &pair));
}

static int source_ib_init(struct kunit *test)
{
	return source_begin(cma_pair_init_ib(test, &pair));
}

static void source_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static void source_ib_exit(struct kunit *test)
{
	cma_pair_exit_ib(test, &pair);
}

/*
 * Listens on any address of both families, so that no request is refused for its
 * destination.
 */
static void listen_all(struct kunit *test)
{
	struct sockaddr_storage any;

	KUNIT_ASSERT_EQ(test, cma_listen_at(server, RDMA_PS_TCP,
					    cma_sin6(&any, &in6addr_any, TEST_PORT)), 0);
}

/* Sends a request, forged as set; returns whether the consumer got it. */
static bool passes(struct kunit *test, bool six)
{
	struct sockaddr_storage dst;
	bool told;

	cma_resolve_to(test, client, RDMA_PS_TCP,
		       six ? cma_sin6(&dst, &server->ip6, TEST_PORT) :
			     cma_sin(&dst, server->ip4, TEST_PORT));
	KUNIT_EXPECT_EQ(test, cma_request(client), 0);
	KUNIT_EXPECT_TRUE_MSG(test, cma_wait(client, "J"), "%s", client->events);
	cma_quiesce(&pair);
	told = !strcmp(server->events, "Q");
	if (!told) {
		KUNIT_EXPECT_STREQ(test, server->events, "");
		KUNIT_EXPECT_EQ(test, client->last.status, IB_CM_REJ_INVALID_GID);
	}
	cma_drop_id(client);
	cma_drop_id(server);
	cma_forget(client);
	cma_forget(server);
	return told;
}

static u8 *ip4(u8 *at, __be32 ip)
{
	memset(at, 0, 12);
	memcpy(at + 12, &ip, 4);
	return at;
}

static const u32 strange4[] = {
	0x7f000001, 0x7f010203,		/* loopback */
	0x00000000, 0x00000001,		/* this network */
	0xe0000001, 0xefffffff,		/* multicast */
	0xffffffff, 0x0a0100ff,		/* broadcast, of all and of the link */
	0x0b010101,			/* no route from here */
	0x0a020007,			/* the server's own */
};

/* Not on the link whose local routes are hidden. */
static const __be32 own4 = htonl(0x0a020007);

static void nobody_is_an_address_of_this_host(struct kunit *test)
{
	u8 addr[16];
	int i;

	KUNIT_ASSERT_EQ(test, cma_net_addr(server->ndev, true, AF_INET, &own4, 24), 0);
	listen_all(test);
	forged.src = addr;
	for (i = 0; i < ARRAY_SIZE(strange4); i++) {
		ip4(addr, htonl(strange4[i]));
		KUNIT_EXPECT_FALSE_MSG(test, passes(test, false), "%pI4", addr + 12);
	}
	/* Any other address of the link is accepted. */
	ip4(addr, htonl(0x0a010063));
	KUNIT_EXPECT_TRUE(test, passes(test, false));
	forged.src = NULL;
	KUNIT_EXPECT_TRUE(test, passes(test, false));
	cma_net_addr(server->ndev, false, AF_INET, &own4, 24);
}

static void in6(u8 *at, u16 first, u16 last)
{
	memset(at, 0, 16);
	at[0] = first >> 8;
	at[1] = first;
	at[14] = last >> 8;
	at[15] = last;
}

static void nor_an_ipv6_one(struct kunit *test)
{
	u8 addr[16];
	int i;

	listen_all(test);
	forged.src = addr;
	in6(addr, 0, 1);			/* ::1 */
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	in6(addr, 0, 0);
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	in6(addr, 0xff02, 1);
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	in6(addr, 0x2001, 1);			/* no route */
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	memcpy(addr, &server->ip6, 16);
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	if (server->ndev->addr_len == ETH_ALEN) {
		msleep(3000);		/* until duplicate address detection is done */
		in6(addr, 0xfe80, 0);	/* the server's link-local one */
		addrconf_addr_eui48(addr + 8, server->ndev->dev_addr);
		KUNIT_EXPECT_FALSE(test, passes(test, true));
	}
	/* An IPv4-mapped address could pass for the IPv4 address. */
	for (i = 0; i < 2; i++) {
		ip4(addr, i ? client->ip4 : htonl(INADDR_LOOPBACK));
		memset(addr + 10, 0xff, 2);
		KUNIT_EXPECT_FALSE_MSG(test, passes(test, true), "%pI6", addr);
	}
	in6(addr, 0xfd00, 0x63);		/* a neighbour */
	KUNIT_EXPECT_TRUE(test, passes(test, true));
	in6(addr, 0xfe80, 0x63);
	KUNIT_EXPECT_TRUE(test, passes(test, true));
	forged.src = NULL;
	KUNIT_EXPECT_TRUE(test, passes(test, true));
}

/* A service on a loopback address cannot be reached from another host. */
static void nor_is_a_loopback_address_called(struct kunit *test)
{
	u8 addr[16];

	listen_all(test);
	forged.dst = addr;
	ip4(addr, htonl(INADDR_LOOPBACK));
	KUNIT_EXPECT_FALSE(test, passes(test, false));
	in6(addr, 0, 1);
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	in6(addr, 0, 0);
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	in6(addr, 0xff02, 1);
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	/* IPv4 in an IPv6 header. */
	forged.ip_version = 6;
	ip4(addr, server->ip4);
	memset(addr + 10, 0xff, 2);
	KUNIT_EXPECT_FALSE(test, passes(test, true));
}

/* accept_local permits local addresses as a source, but not loopback ones. */
static void unless_ip_takes_it_too(struct kunit *test)
{
	struct in_device *in_dev;
	u8 addr[16];

	rtnl_lock();
	in_dev = __in_dev_get_rtnl(server->ndev);
	IN_DEV_CONF_SET(in_dev, ACCEPT_LOCAL, 1);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, cma_net_addr(server->ndev, true, AF_INET, &own4, 24), 0);
	listen_all(test);
	forged.src = addr;
	ip4(addr, own4);
	KUNIT_EXPECT_TRUE(test, passes(test, false));
	ip4(addr, htonl(INADDR_LOOPBACK));
	KUNIT_EXPECT_FALSE(test, passes(test, false));
	cma_net_addr(server->ndev, false, AF_INET, &own4, 24);
}

/* The same checks apply to SIDR requests. */
static void nor_does_one_ask_for_a_service(struct kunit *test)
{
	struct sockaddr_storage addr;
	u8 src[16];
	int i;

	client->qp_type = IB_QPT_UD;
	server->qp_type = IB_QPT_UD;
	server->on_request = CMA_REJECT;
	forged.sidr = true;
	KUNIT_ASSERT_EQ(test, cma_listen_at(server, RDMA_PS_UDP,
					    cma_sin(&addr, server->ip4, TEST_PORT)), 0);
	for (i = 0; i < 2; i++) {
		forged.src = i ? NULL : ip4(src, htonl(INADDR_LOOPBACK));
		cma_resolve_to(test, client, RDMA_PS_UDP,
			       cma_sin(&addr, server->ip4, TEST_PORT));
		KUNIT_EXPECT_EQ(test, cma_request(client), 0);
		KUNIT_EXPECT_TRUE(test, cma_wait(client, "u"));
		cma_quiesce(&pair);
		KUNIT_EXPECT_STREQ(test, server->events, i ? "Q" : "");
		cma_drop_id(client);
		cma_drop_id(server);
		cma_forget(client);
		cma_forget(server);
	}
}

/*
 * Between addresses of one host, a request passes only if it matches an id that has
 * sent it, however well its addresses fit.
 */
static void who_knows_the_addresses_alone(struct kunit *test)
{
	enum rdma_driver_id *driver = &client->hca->ibdev.ops.driver_id;
	enum rdma_driver_id was = *driver;
	u8 src[16];
	int i;

	/*
	 * A provider that does not replace communication IDs; the next case is for one
	 * that does.
	 */
	*driver = RDMA_DRIVER_UNKNOWN;
	server->on_request = CMA_WAIT;
	listen_all(test);
	/* The client's address is also one of the server's host. */
	KUNIT_ASSERT_TRUE(test, ipv6_chk_addr(&init_net, &client->ip6, client->ndev, 0));
	for (i = 0; i < 5; i++) {
		struct sockaddr_storage dst;

		memset(&forged, 0, sizeof(forged));
		forged.comm_id = i == 0 ? 0x10000 : 0;
		forged.psn = i == 1;
		forged.qpn = i == 2;
		forged.tid = i == 3;
		cma_resolve_to(test, client, RDMA_PS_TCP,
			       cma_sin6(&dst, &server->ip6, TEST_PORT));
		KUNIT_EXPECT_EQ(test, cma_request(client), 0);
		cma_quiesce(&pair);
		msleep(100);
		KUNIT_EXPECT_STREQ_MSG(test, server->events, i < 4 ? "" : "Q", "%d", i);
		memset(&forged, 0, sizeof(forged));
		cma_drop_id(client);
		cma_quiesce(&pair);
		cma_drop_id(server);
		cma_forget(client);
		cma_forget(server);
	}
	/* A waiting id proves only requests from its own address and port. */
	memcpy(src, &server->ip6, 16);
	forged.src = src;
	server->on_request = CMA_REJECT;
	KUNIT_EXPECT_FALSE(test, passes(test, true));
	*driver = was;
}

/* With virtual functions, mlx4 replaces communication IDs by its own. */
static void through_an_adapter_that_renames_ids(struct kunit *test)
{
	enum rdma_driver_id *driver = &client->hca->ibdev.ops.driver_id;
	enum rdma_driver_id was = *driver;
	struct sockaddr_storage dst;
	int i;

	listen_all(test);
	for (i = 0; i < 5; i++) {
		*driver = i == 4 ? RDMA_DRIVER_UNKNOWN : RDMA_DRIVER_MLX4;
		memset(&forged, 0, sizeof(forged));
		forged.comm_id = 0x5500000;
		forged.tid = true;
		forged.psn = i == 1;
		forged.qpn = i == 2;
		forged.src = i == 3 ? (const u8 *)&server->ip6 : NULL;
		cma_resolve_to(test, client, RDMA_PS_TCP,
			       cma_sin6(&dst, &server->ip6, TEST_PORT));
		KUNIT_EXPECT_EQ(test, cma_request(client), 0);
		cma_quiesce(&pair);
		msleep(100);
		/* A copy of the REQ may have been sent, after the REJ of a forged ID. */
		KUNIT_EXPECT_EQ_MSG(test, server->events[0], i ? 0 : 'Q', "%d", i);
		memset(&forged, 0, sizeof(forged));
		cma_drop_id(client);
		cma_quiesce(&pair);
		cma_drop_id(server);
		cma_forget(client);
		cma_forget(server);
	}
	*driver = was;
}

static struct kunit_case source_cases[] = {
	KUNIT_CASE(nobody_is_an_address_of_this_host),
	KUNIT_CASE(nor_an_ipv6_one),
	KUNIT_CASE(nor_is_a_loopback_address_called),
	KUNIT_CASE(unless_ip_takes_it_too),
	KUNIT_CASE(nor_does_one_ask_for_a_service),
	KUNIT_CASE(who_knows_the_addresses_alone),
	KUNIT_CASE(through_an_adapter_that_renames_ids),
	{}
};

static struct kunit_suite cma_source_suite = {
	.name = "rdma_cm_source",
	.init = source_test_init,
	.exit = source_test_exit,
	.test_cases = source_cases,
};

kunit_test_suite(cma_source_suite);

static struct kunit_case source_ib_cases[] = {
	KUNIT_CASE(nobody_is_an_address_of_this_host),
	KUNIT_CASE(nor_an_ipv6_one),
	KUNIT_CASE(who_knows_the_addresses_alone),
	{}
};

static struct kunit_suite cma_source_ib_suite = {
	.name = "rdma_cm_source_ib",
	.init = source_ib_init,
	.exit = source_ib_exit,
	.test_cases = source_ib_cases,
};

kunit_test_suite(cma_source_ib_suite);
