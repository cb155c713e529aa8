// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Connections of the RDMA CM over the iWARP CM; the provider is the test. */
#include <linux/kthread.h>
#include <rdma/iw_cm.h>
#include "cma/cma_test.h"
#include "faults.h"
#include "wait.h"

static struct cma_pair pair;	/* only the client has an adapter */
static struct cma_side *const side = &pair.client;
static struct cma_prov prov;

static int iw_test_init(struct kunit *test)
{
	return cma_pair_init_iw(test, &pair, &prov, NULL);
}

static void iw_test_exit(struct kunit *test)
{
	cma_pair_exit_iw(test, &pair);
}

static int report(struct iw_cm_id *cm_id, enum iw_cm_event_type type, int status,
		  const char *data)
{
	struct sockaddr_storage local, remote;

	return cma_prov_report(&prov, cm_id, type, status, data,
			       cma_sin(&local, side->ip4, TEST_PORT),
			       cma_sin(&remote, pair.server.ip4, 0x4321));
}

static void connect_one(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_resolve_to(test, side, RDMA_PS_TCP,
		       cma_sin(&addr, pair.server.ip4, TEST_PORT));
	side->param.private_data = "hello";
	side->param.private_data_len = 6;
	KUNIT_ASSERT_EQ(test, cma_request(side), 0);
	KUNIT_ASSERT_NOT_NULL(test, prov.cm_id);
}

static void connected_and_closed(struct kunit *test)
{
	struct sockaddr_storage addr;

	connect_one(test);
	KUNIT_EXPECT_PTR_EQ(test, rdma_iw_cm_id(side->id), prov.cm_id);
	KUNIT_EXPECT_EQ(test, prov.param.qpn, side->id->qp->qp_num);
	KUNIT_EXPECT_EQ(test, prov.param.ord, 3);
	KUNIT_EXPECT_EQ(test, prov.param.ird, 2);
	KUNIT_EXPECT_STREQ(test, prov.data, "hello");
	KUNIT_EXPECT_MEMEQ(test, &prov.cm_id->remote_addr,
			   cma_sin(&addr, pair.server.ip4, TEST_PORT),
			   sizeof(struct sockaddr_in));
	KUNIT_EXPECT_EQ(test, rdma_notify(side->id, IB_EVENT_COMM_EST), 0);
	report(prov.cm_id, IW_CM_EVENT_CONNECT_REPLY, 0, "welcome");
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "E"));
	KUNIT_EXPECT_STREQ(test, side->private_data, "welcome");
	/* The iWARP CM reports the depths from the peer's point of view. */
	KUNIT_EXPECT_EQ(test, side->last.param.conn.initiator_depth, 9);
	KUNIT_EXPECT_EQ(test, side->last.param.conn.responder_resources, 7);
	KUNIT_EXPECT_MEMEQ(test, &side->id->route.addr.dst_addr,
			   cma_sin(&addr, pair.server.ip4, 0x4321),
			   sizeof(struct sockaddr_in));
	side->on_disconnect = CMA_WAIT;
	KUNIT_EXPECT_EQ(test, rdma_disconnect(side->id), 0);
	report(prov.cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "ED"));
	KUNIT_EXPECT_EQ(test, cma_at(side->id), RDMA_CM_DISCONNECT);
}

static void replies_that_say_no(struct kunit *test)
{
	static const struct {
		int status;
		const char *event;
	} no[] = {
		{ -ECONNREFUSED, "J" }, { -ECONNRESET, "J" }, { -ETIMEDOUT, "u" },
		{ -EPROTO, "c" },
	};
	struct sockaddr_storage addr;
	const char *data;
	int i;
	u8 len;

	for (i = 0; i < ARRAY_SIZE(no); i++) {
		connect_one(test);
		report(prov.cm_id, IW_CM_EVENT_CONNECT_REPLY, no[i].status, "sorry");
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(side, no[i].event), "%s",
				      side->events);
		KUNIT_EXPECT_EQ(test, side->last.status, no[i].status);
		data = rdma_consumer_reject_data(side->id, &side->last, &len);
		KUNIT_EXPECT_EQ(test, !!data, no[i].status == -ECONNREFUSED);
		KUNIT_EXPECT_EQ(test, len, data ? 6 : 0);
		/* The destination is unchanged, as the id was never connected. */
		KUNIT_EXPECT_MEMEQ(test, &side->id->route.addr.dst_addr,
				   cma_sin(&addr, pair.server.ip4, TEST_PORT),
				   sizeof(struct sockaddr_in));
		KUNIT_EXPECT_NOT_NULL(test, rdma_reject_msg(side->id, no[i].status));
		rdma_destroy_qp(side->id);
		cma_prov_let_go(&prov);
		cma_drop_id(side);
		cma_forget(side);
	}
}

static void the_provider_refuses_to_connect(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_resolve_to(test, side, RDMA_PS_TCP,
		       cma_sin(&addr, pair.server.ip4, TEST_PORT));
	prov.result[FAKE_IW_CONNECT] = -EHOSTUNREACH;
	KUNIT_EXPECT_EQ(test, cma_request(side), -EHOSTUNREACH);
	KUNIT_EXPECT_EQ(test, cma_at(side->id), RDMA_CM_ROUTE_RESOLVED);
	prov.result[FAKE_IW_CONNECT] = 0;
	KUNIT_EXPECT_EQ(test, cma_request(side), 0);
	report(prov.cm_id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL);
	KUNIT_EXPECT_TRUE(test, cma_wait(side, "E"));
}

static void listen_one(struct kunit *test, __be32 ip)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, cma_listen_at(side, RDMA_PS_TCP,
					    cma_sin(&addr, ip, TEST_PORT)), 0);
	KUNIT_ASSERT_NOT_NULL(test, prov.listener);
}

static void a_request_is_accepted(struct kunit *test)
{
	int any;

	for (any = 0; any < 2; any++) {
		listen_one(test, any ? 0 : side->ip4);
		side->param.private_data = "come in";
		side->param.private_data_len = 8;
		report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, "knock");
		KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
		KUNIT_EXPECT_EQ(test, side->call, 0);
		KUNIT_EXPECT_STREQ(test, side->private_data, "knock");
		KUNIT_EXPECT_STREQ(test, prov.data, "come in");
		KUNIT_EXPECT_PTR_EQ(test, side->id->device, &side->hca->ibdev);
		KUNIT_EXPECT_EQ(test, prov.param.qpn, side->id->qp->qp_num);
		report(prov.cm_id, IW_CM_EVENT_ESTABLISHED, 0, NULL);
		KUNIT_EXPECT_TRUE(test, cma_wait(side, "QE"));
		side->on_disconnect = CMA_WAIT;
		report(prov.cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
		KUNIT_EXPECT_TRUE(test, cma_wait(side, "QED"));
		rdma_destroy_qp(side->id);
		cma_prov_let_go(&prov);
		cma_drop_id(side);
		cma_drop_listener(side);
		cma_forget(side);
	}
}

/* The PSN of iWARP QPs is never queried, even if the adapter seems to report it. */
static void no_psn_is_asked_for(struct kunit *test)
{
	side->hca->ibdev.ops.driver_id = RDMA_DRIVER_RXE;
	listen_one(test, 0);
	report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, "knock");
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
	msleep(5000);
	report(prov.cm_id, IW_CM_EVENT_ESTABLISHED, 0, NULL);
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "QE"));
	side->on_disconnect = CMA_WAIT;
	KUNIT_EXPECT_EQ(test, rdma_disconnect(side->id), 0);
	report(prov.cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	KUNIT_EXPECT_TRUE(test, cma_wait(side, "QED"));
	rdma_destroy_qp(side->id);
	cma_prov_let_go(&prov);
	cma_drop_id(side);
	KUNIT_EXPECT_EQ(test, atomic_read(&side->hca->queries), 0);
}

static void a_request_is_rejected(struct kunit *test)
{
	listen_one(test, side->ip4);
	side->on_request = CMA_REJECT;
	report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL);
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
	KUNIT_EXPECT_EQ(test, side->call, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&side->hca->iw_calls[FAKE_IW_REJECT]), 1);
	KUNIT_EXPECT_STREQ(test, prov.data, "no");
	/* iWARP has no response that could be confirmed. */
	rdma_lock_handler(side->id);
	KUNIT_EXPECT_EQ(test, rdma_accept(side->id, NULL), -EINVAL);
	rdma_unlock_handler(side->id);
}

static void the_handler_refuses_a_request(struct kunit *test)
{
	listen_one(test, 0);
	side->on_request = CMA_FAIL;
	report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL);
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
	msleep(200);
	KUNIT_EXPECT_EQ(test, atomic_read(&side->hca->iw_calls[FAKE_IW_REJECT]), 1);
}

static void the_provider_does_not_accept(struct kunit *test)
{
	listen_one(test, 0);
	prov.result[FAKE_IW_ACCEPT] = -EIO;
	report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL);
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
	KUNIT_EXPECT_LT(test, side->call, 0);
}

static void the_handler_ends_the_id(struct kunit *test)
{
	connect_one(test);
	side->destroy_on = 'J';
	report(prov.cm_id, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED, NULL);
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "J"));
	KUNIT_EXPECT_TRUE(test, side->destroyed);
	report(prov.cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	msleep(200);
	KUNIT_EXPECT_STREQ(test, side->events, "J");
}

static void a_listener_that_cannot_be(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *ud;

	prov.result[FAKE_IW_LISTEN] = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, cma_listen_at(side, RDMA_PS_TCP,
					    cma_sin(&addr, side->ip4, TEST_PORT)),
			-EADDRINUSE);
	prov.result[FAKE_IW_LISTEN] = 0;
	/*
	 * iWARP has no datagrams: an id bound to the device cannot listen for them, and
	 * an id bound to the wildcard address does not listen on this device.
	 */
	side->qp_type = IB_QPT_UD;
	KUNIT_EXPECT_EQ(test, cma_listen_at(side, RDMA_PS_UDP,
					    cma_sin(&addr, side->ip4, TEST_PORT)),
			-EOPNOTSUPP);
	ud = cma_new_id(side, RDMA_PS_UDP, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(ud, cma_sin(&addr, 0, TEST_PORT)), 0);
	KUNIT_EXPECT_EQ(test, rdma_listen(ud, 1), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&side->hca->iw_calls[FAKE_IW_LISTEN]), 1);
	rdma_destroy_id(ud);
}

/* Private data may be as long as private_data_len allows; MPA's own limit is 512. */
static void private_data_of_any_size(struct kunit *test)
{
	static const u8 sizes[] = { 0, 1, 4, 56, 196, 255 };
	u8 data[255];
	int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i + 1;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct sockaddr_storage addr;

		cma_resolve_to(test, side, RDMA_PS_TCP,
			       cma_sin(&addr, pair.server.ip4, TEST_PORT));
		side->param.private_data = data;
		side->param.private_data_len = sizes[i];
		KUNIT_EXPECT_EQ(test, cma_request(side), 0);
		KUNIT_EXPECT_EQ(test, prov.param.private_data_len, sizes[i]);
		KUNIT_EXPECT_MEMEQ(test, prov.data, data, sizes[i]);
		cma_drop_id(side);

		listen_one(test, side->ip4);
		report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL);
		KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
		KUNIT_EXPECT_EQ(test, prov.param.private_data_len, sizes[i]);
		KUNIT_EXPECT_MEMEQ(test, prov.data, data, sizes[i]);
		cma_drop_id(side);
		cma_drop_listener(side);
		cma_forget(side);
	}
}

/*
 * The consumer's depths (RFC 6581's IRD and ORD) are passed on unchanged: the provider
 * limits them to what its adapter and the peer can do, and reports the result.
 */
static void depths(struct kunit *test)
{
	static const struct {
		u8 responder, initiator;
	} depth[] = {
		{ 0, 0 }, { 1, 255 }, { 255, 1 }, { 32, 64 },
	};
	struct sockaddr_storage addr;
	int i;

	for (i = 0; i < ARRAY_SIZE(depth); i++) {
		side->param.responder_resources = depth[i].responder;
		side->param.initiator_depth = depth[i].initiator;
		cma_resolve_to(test, side, RDMA_PS_TCP,
			       cma_sin(&addr, pair.server.ip4, TEST_PORT));
		KUNIT_EXPECT_EQ(test, cma_request(side), 0);
		KUNIT_EXPECT_EQ(test, prov.param.ird, depth[i].responder);
		KUNIT_EXPECT_EQ(test, prov.param.ord, depth[i].initiator);
		cma_drop_id(side);

		listen_one(test, side->ip4);
		report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL);
		KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
		/* The depths that the peer requests are reported unchanged. */
		KUNIT_EXPECT_EQ(test, side->last.param.conn.responder_resources, 7);
		KUNIT_EXPECT_EQ(test, side->last.param.conn.initiator_depth, 9);
		KUNIT_EXPECT_EQ(test, prov.param.ird, depth[i].responder);
		KUNIT_EXPECT_EQ(test, prov.param.ord, depth[i].initiator);
		cma_drop_id(side);
		cma_drop_listener(side);
		cma_forget(side);
	}
}

/*
 * When a connection is closed before it is established, the client gets a connect
 * error, the server a disconnect.
 */
static void a_connection_closed_before_it_is_up(struct kunit *test)
{
	static const struct {
		enum iw_cm_event_type type;
		int status;
	} ends[] = {
		{ IW_CM_EVENT_CLOSE, 0 }, { IW_CM_EVENT_ESTABLISHED, -ECONNRESET },
	};
	int i;

	connect_one(test);
	report(prov.cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
	KUNIT_EXPECT_TRUE_MSG(test, cma_wait(side, "c"), "%s", side->events);
	KUNIT_EXPECT_EQ(test, side->last.status, -ECONNRESET);
	KUNIT_EXPECT_EQ(test, rdma_disconnect(side->id), 0);
	cma_drop_id(side);
	cma_forget(side);

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		listen_one(test, side->ip4);
		report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL);
		KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
		report(prov.cm_id, ends[i].type, ends[i].status, NULL);
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(side, "QD"), "%s", side->events);
		report(prov.cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
		msleep(200);
		KUNIT_EXPECT_STREQ(test, side->events, "QD");
		cma_drop_id(side);
		cma_drop_listener(side);
		cma_forget(side);
	}
}

static void over_ipv6(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_resolve_to(test, side, RDMA_PS_TCP,
		       cma_sin6(&addr, &pair.server.ip6, TEST_PORT));
	KUNIT_EXPECT_EQ(test, cma_request(side), 0);
	KUNIT_EXPECT_MEMEQ(test, &prov.cm_id->remote_addr, &addr,
			   sizeof(struct sockaddr_in6));
	KUNIT_EXPECT_EQ(test, prov.cm_id->local_addr.ss_family, AF_INET6);
	cma_prov_report(&prov, prov.cm_id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL,
			(struct sockaddr *)&prov.cm_id->local_addr,
			(struct sockaddr *)&prov.cm_id->remote_addr);
	KUNIT_EXPECT_TRUE(test, cma_wait(side, "E"));
	KUNIT_EXPECT_MEMEQ(test, &side->id->route.addr.dst_addr, &addr,
			   sizeof(struct sockaddr_in6));
}

static int drop_it(void *done)
{
	cma_drop_id(side);
	complete(done);
	return 0;
}

/*
 * A driver that looks at a connection through resource tracking finds the iWARP CM's id
 * until it drops its reference.
 */
static void looked_at_while_it_goes(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct rdma_restrack_entry *res;
	struct rdma_cm_id *id;

	connect_one(test);
	id = side->id;
	res = &cma_of(id)->track.res;
	KUNIT_ASSERT_EQ(test, rdma_restrack_get(res), 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(drop_it, &done, "drop")));
	KUNIT_EXPECT_TRUE(test, wait_within(cma_at(id) == RDMA_CM_DESTROYING, 1000));
	msleep(200);
	KUNIT_EXPECT_PTR_EQ(test, rdma_iw_cm_id(id), prov.cm_id);
	KUNIT_EXPECT_FALSE(test, completion_done(&done));
	rdma_restrack_put(res);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&done, HZ), 0ul);
}

static void what_iwarp_does_not_have(struct kunit *test)
{
	struct sa_path_rec path = {};
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;

	side->id = cma_new_id(side, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(side->id, NULL,
						cma_sin(&addr, pair.server.ip4,
							TEST_PORT), TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "A"));
	KUNIT_EXPECT_EQ(test, rdma_set_ib_path(side->id, &path), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, cma_at(side->id), RDMA_CM_ADDR_RESOLVED);
	id = cma_new_id(side, RDMA_PS_UDP, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, side->ip4, 0)), 0);
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, htonl(0xef000001), 0),
						  BIT(FULLMEMBER_JOIN), NULL),
			-EOPNOTSUPP);
	rdma_destroy_id(id);
}

static int connect_once(struct kunit *test)
{
	int ret = cma_request(side);

	if (ret)
		return ret;
	current->fail_nth = 0;
	report(prov.cm_id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL);
	return 0;
}

static void without_memory(struct kunit *test)
{
	struct sockaddr_storage addr;
	unsigned int n;
	int ret;

	cma_resolve_to(test, side, RDMA_PS_TCP,
		       cma_sin(&addr, pair.server.ip4, TEST_PORT));
	for (n = 1; n < 100; n++) {
		current->fail_nth = n;
		ret = connect_once(test);
		current->fail_nth = 0;
		if (!ret)
			break;
		KUNIT_EXPECT_EQ(test, cma_at(side->id), RDMA_CM_ROUTE_RESOLVED);
	}
	KUNIT_EXPECT_GE(test, n, 2);
	KUNIT_EXPECT_TRUE(test, cma_wait(side, "E"));
}

static int listen_once(struct kunit *test)
{
	struct sockaddr_storage addr;
	int ret = cma_listen_at(side, RDMA_PS_TCP, cma_sin(&addr, 0, TEST_PORT));

	if (ret)
		KUNIT_EXPECT_NULL(test, prov.listener);
	cma_drop_listener(side);
	return ret;
}

static void listening_without_memory(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, listen_once), 3);
}

static int rejects(void)
{
	return atomic_read(&side->hca->iw_calls[FAKE_IW_REJECT]);
}

/*
 * A peer requests a connection: the consumer gets the request, or the peer is rejected.
 */
static void ask(struct kunit *test)
{
	int before = rejects();

	report(prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL);
	KUNIT_EXPECT_TRUE(test, wait_within(*side->events || rejects() > before, 1000));
	/* The consumer has responded by then. */
	msleep(20);
}

static void forget(struct kunit *test)
{
	cma_drop_id(side);
	cma_prov_let_go(&prov);
	cma_forget(side);
}

static void asked_without_memory(struct kunit *test)
{
	listen_one(test, 0);
	side->on_request = CMA_WAIT;
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, ask, forget), 1);
	ask(test);
	KUNIT_EXPECT_STREQ(test, side->events, "Q");
}

static struct kunit_case iw_cases[] = {
	KUNIT_CASE(connected_and_closed),
	KUNIT_CASE(replies_that_say_no),
	KUNIT_CASE(the_provider_refuses_to_connect),
	KUNIT_CASE(a_request_is_accepted),
	KUNIT_CASE(no_psn_is_asked_for),
	KUNIT_CASE(a_request_is_rejected),
	KUNIT_CASE(the_handler_refuses_a_request),
	KUNIT_CASE(the_provider_does_not_accept),
	KUNIT_CASE(the_handler_ends_the_id),
	KUNIT_CASE(a_listener_that_cannot_be),
	KUNIT_CASE(private_data_of_any_size),
	KUNIT_CASE(depths),
	KUNIT_CASE(a_connection_closed_before_it_is_up),
	KUNIT_CASE(over_ipv6),
	KUNIT_CASE(looked_at_while_it_goes),
	KUNIT_CASE(what_iwarp_does_not_have),
	KUNIT_CASE(without_memory),
	KUNIT_CASE(listening_without_memory),
	KUNIT_CASE(asked_without_memory),
	{}
};

static struct kunit_suite cma_iw_suite = {
	.name = "rdma_cm_iwarp",
	.init = iw_test_init,
	.exit = iw_test_exit,
	.test_cases = iw_cases,
};

kunit_test_suite(cma_iw_suite);
