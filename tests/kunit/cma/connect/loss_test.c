// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages lost, repeated and late; requests with bad headers. */
#include "cma/cma_test.h"

static struct cma_pair pair;

static int loss_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void loss_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static void no_answer_to_the_request(struct kunit *test)
{
	cma_resolve(test, &pair);
	pair.client.drop[IBCM_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.client, IBCM_REQ), CMA_CM_RETRIES_MAX + 1);
}

static void some_requests_are_lost(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.client.drop[IBCM_REQ] = 3;
	pair.server.drop[IBCM_REP] = 2;
	pair.client.drop[IBCM_RTU] = 2;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
}

static void no_reply_arrives(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.server.drop[IBCM_REP] = -1;
	pair.server.on_request = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	/*
	 * Both sides wait equally long, apart from the timers' rounding, and the client one
	 * timeout longer, as the server's MRA asks it to: the server begins later.
	 */
	msleep(20000);
	KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.server), 0);
	rdma_lock_handler(pair.server.id);
	KUNIT_EXPECT_EQ(test, rdma_accept(pair.server.id, &pair.server.param), 0);
	rdma_unlock_handler(pair.server.id);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "u"));
	/* The client sends a REJ when it gives up. */
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QJ"));
	KUNIT_EXPECT_EQ(test, pair.server.last.status, IB_CM_REJ_TIMEOUT);
}

static void no_confirmation_arrives(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.client.drop[IBCM_RTU] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "Qu"));
	KUNIT_EXPECT_EQ(test, pair.server.last.status, -ETIMEDOUT);
}

static void no_answer_to_the_disconnect(struct kunit *test)
{
	int i;

	cma_connect(test, &pair);
	pair.server.drop[IBCM_DREP] = -1;
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	for (i = 0; i < 10000 && !atomic_read(&pair.client.nr_events); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, pair.client.events[0], 'D');
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "DT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "DT"));
}

static void the_disconnect_times_out(struct kunit *test)
{
	cma_connect(test, &pair);
	pair.client.drop[IBCM_DREQ] = -1;
	pair.client.destroy_on = 'D';
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "D"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -ETIMEDOUT);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

static void everything_comes_twice(struct kunit *test)
{
	pair.client.duplicate = U16_MAX;
	pair.server.duplicate = U16_MAX;
	cma_connect(test, &pair);
	msleep(2000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_ASSERT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "DT"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "DT"));
}

/* After the event that the peer is unreachable, the consumer gets no contrary one. */
static void a_reply_after_the_failure(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_resolve(test, &pair);
	pair.server.hold = BIT(IBCM_REP);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	cma_net_neigh(pair.client.ndev, AF_INET, &pair.server.ip4,
		      pair.client.ndev->dev_addr, NUD_PERMANENT);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "u"));
	pair.server.hold = 0;
	fake_hca_release_held(pair.server.hca);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QJ"));
	msleep(2000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "u");
}

/* Returns a REQ of the client that is held on the wire, for a test to change. */
static struct cm_req_msg *hold_request(struct kunit *test)
{
	struct fake_hca_packet *held;

	cma_resolve(test, &pair);
	pair.client.hold = BIT(IBCM_REQ);
	KUNIT_EXPECT_EQ(test, cma_request(&pair.client), 0);
	fake_hca_flush(pair.client.hca);
	pair.client.hold = 0;
	pair.client.drop[IBCM_REQ] = -1;
	held = list_first_entry_or_null(&pair.client.hca->held, struct fake_hca_packet,
					entry);
	KUNIT_EXPECT_NOT_NULL(test, held);
	return held ? (void *)held->data : NULL;
}

struct bad_header {
	const char *what;
	u8 at, len;		/* in the header of annex A11 */
	u8 bytes[16];
	int reason;
};

static const struct bad_header bad4[] = {
	{ "major version 1", 0, 1, { 0x10 }, IB_CM_REJ_INVALID_SERVICE_ID },
	{ "minor version 1", 0, 1, { 0x01 }, IB_CM_REJ_INVALID_SERVICE_ID },
	{ "IP version 5", 1, 1, { 0x50 }, IB_CM_REJ_INVALID_SERVICE_ID },
	{ "IP version 0", 1, 1, { 0x00 }, IB_CM_REJ_INVALID_SERVICE_ID },
	{ "from 0.0.0.0", 16, 4, { 0, 0, 0, 0 }, IB_CM_REJ_INVALID_GID },
	{ "from a group", 16, 4, { 224, 0, 0, 1 }, IB_CM_REJ_INVALID_GID },
	{ "from everybody", 16, 4, { 255, 255, 255, 255 }, IB_CM_REJ_INVALID_GID },
	{ "from elsewhere", 16, 4, { 192, 0, 2, 1 }, IB_CM_REJ_INVALID_GID },
	{ "to 0.0.0.0", 32, 4, { 0, 0, 0, 0 }, IB_CM_REJ_INVALID_GID },
	{ "to a group", 32, 4, { 224, 0, 0, 1 }, IB_CM_REJ_INVALID_GID },
	{ "to everybody", 32, 4, { 255, 255, 255, 255 }, IB_CM_REJ_INVALID_GID },
	{ "to another", 32, 4, { 10, 1, 0, 77 }, IB_CM_REJ_INVALID_SERVICE_ID },
};

static void expect_refused(struct kunit *test, const struct bad_header *bad)
{
	struct cm_req_msg *req = hold_request(test);

	if (req)
		memcpy(IBA_GET_MEM_PTR(CM_REQ_PRIVATE_DATA, req) + bad->at, bad->bytes,
		       bad->len);
	fake_hca_release_held(pair.client.hca);
	KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&pair.client, "J"), "%s", bad->what);
	KUNIT_EXPECT_EQ_MSG(test, pair.client.last.status, bad->reason, "%s", bad->what);
	KUNIT_EXPECT_STREQ_MSG(test, pair.server.events, "", "%s", bad->what);
	cma_drop_id(&pair.client);
	cma_forget(&pair.client);
	pair.client.drop[IBCM_REQ] = 0;
}

static void bad_ipv4_headers(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	for (i = 0; i < ARRAY_SIZE(bad4); i++)
		expect_refused(test, &bad4[i]);
}

static const struct bad_header bad6[] = {
	{ "from ::", 4, 16, { 0 }, IB_CM_REJ_INVALID_GID },
	{ "from a group", 4, 16, { 0xff, 2, [15] = 1 }, IB_CM_REJ_INVALID_GID },
	{ "from elsewhere", 4, 16, { 0x20, 1, 0xd, 0xb8, [15] = 1 },
	  IB_CM_REJ_INVALID_GID },
	{ "to a group", 20, 16, { 0xff, 2, [15] = 1 }, IB_CM_REJ_INVALID_GID },
	{ "to another", 20, 16, { 0xfd, [15] = 77 }, IB_CM_REJ_INVALID_SERVICE_ID },
};

/* The header may have IPv6 addresses although the request was sent over IPv4. */
static void bad_ipv6_headers(struct kunit *test)
{
	/* Not the client's address, from which only an id of this host can have sent. */
	struct in6_addr neighbour = { .s6_addr = { 0xfd, [15] = 99 } };
	struct sockaddr_storage addr;
	struct cm_req_msg *req;
	u8 *hdr;
	int i;

	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP,
					    cma_sin6(&addr, &pair.server.ip6,
						     TEST_PORT)), 0);
	for (i = 0; i < ARRAY_SIZE(bad6); i++) {
		req = hold_request(test);
		KUNIT_ASSERT_NOT_NULL(test, req);
		hdr = IBA_GET_MEM_PTR(CM_REQ_PRIVATE_DATA, req);
		hdr[1] = 0x60;
		memcpy(hdr + 4, &neighbour, 16);
		memcpy(hdr + 20, &pair.server.ip6, 16);
		memcpy(hdr + bad6[i].at, bad6[i].bytes, bad6[i].len);
		fake_hca_release_held(pair.client.hca);
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&pair.client, "J"), "%s",
				      bad6[i].what);
		KUNIT_EXPECT_EQ_MSG(test, pair.client.last.status, bad6[i].reason, "%s",
				    bad6[i].what);
		KUNIT_EXPECT_STREQ_MSG(test, pair.server.events, "", "%s", bad6[i].what);
		cma_drop_id(&pair.client);
		cma_forget(&pair.client);
		pair.client.drop[IBCM_REQ] = 0;
	}
}

/* A request from another neighbour on the link passes the checks. */
static void a_request_from_a_neighbour(struct kunit *test)
{
	static const u8 neighbour[] = { 10, 1, 0, 99 };
	struct sockaddr_in *peer;
	struct cm_req_msg *req;

	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	pair.server.on_request = CMA_WAIT;
	req = hold_request(test);
	KUNIT_ASSERT_NOT_NULL(test, req);
	memcpy(IBA_GET_MEM_PTR(CM_REQ_PRIVATE_DATA, req) + 16, neighbour, 4);
	fake_hca_release_held(pair.client.hca);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	peer = (struct sockaddr_in *)&pair.server.id->route.addr.dst_addr;
	KUNIT_EXPECT_MEMEQ(test, &peer->sin_addr, neighbour, 4);
}

static void the_header_says_who_calls(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	struct cma_hdr_info info;
	u8 hdr[CMA_HDR_SIZE];
	__be64 sid;

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, pair.client.ip4, 0x1234)),
			0);
	cma_sin((struct sockaddr_storage *)&id->route.addr.dst_addr, pair.server.ip4,
		TEST_PORT);
	cma_hdr_pack(cma_of(id), hdr);
	KUNIT_EXPECT_EQ(test, hdr[0], 0);
	KUNIT_EXPECT_EQ(test, hdr[1], 0x40);
	KUNIT_EXPECT_EQ(test, hdr[2], 0x12);
	KUNIT_EXPECT_EQ(test, hdr[3], 0x34);
	KUNIT_EXPECT_MEMEQ(test, hdr + 16, &pair.client.ip4, 4);
	KUNIT_EXPECT_MEMEQ(test, hdr + 32, &pair.server.ip4, 4);
	sid = rdma_get_service_id(id, cma_sin(&addr, pair.server.ip4, TEST_PORT));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(sid), RDMA_IB_IP_PS_TCP | TEST_PORT);
	KUNIT_EXPECT_EQ(test, cma_hdr_unpack(hdr, sid, &info), 0);
	KUNIT_EXPECT_EQ(test, info.family, AF_INET);
	KUNIT_EXPECT_MEMEQ(test, &info.dst, &addr, sizeof(struct sockaddr_in));
	rdma_destroy_id(id);
}

static struct kunit_case loss_cases[] = {
	KUNIT_CASE_SLOW(no_answer_to_the_request),
	KUNIT_CASE_SLOW(some_requests_are_lost),
	KUNIT_CASE_SLOW(no_reply_arrives),
	KUNIT_CASE_SLOW(no_confirmation_arrives),
	KUNIT_CASE_SLOW(no_answer_to_the_disconnect),
	KUNIT_CASE_SLOW(the_disconnect_times_out),
	KUNIT_CASE(everything_comes_twice),
	KUNIT_CASE(a_reply_after_the_failure),
	KUNIT_CASE(bad_ipv4_headers),
	KUNIT_CASE(bad_ipv6_headers),
	KUNIT_CASE(a_request_from_a_neighbour),
	KUNIT_CASE(the_header_says_who_calls),
	{}
};

static struct kunit_suite cma_loss_suite = {
	.name = "rdma_cm_loss",
	.init = loss_test_init,
	.exit = loss_test_exit,
	.test_cases = loss_cases,
};

kunit_test_suite(cma_loss_suite);
