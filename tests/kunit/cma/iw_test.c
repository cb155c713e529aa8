// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The RDMA CM over the iWARP CM; the provider is the test. */
#include <rdma/iw_cm.h>
#include "cma_test.h"
#include "faults.h"

static struct cma_pair pair;	/* of which the client alone is there */
static struct cma_side *const side = &pair.client;

/* What the provider was told last. */
static struct {
	struct iw_cm_id *cm_id;		/* referenced, of connect and accept */
	struct iw_cm_id *listener;
	struct iw_cm_conn_param param;
	char data[64];
	int result[FAKE_IW_VERBS];
} prov;

static void prov_let_go(void)
{
	if (prov.cm_id)
		prov.cm_id->rem_ref(prov.cm_id);
	prov.cm_id = NULL;
}

static int prov_verb(struct fake_hca *hca, enum fake_iw_verb verb,
		     struct iw_cm_id *cm_id, const struct iw_cm_conn_param *param,
		     void *arg)
{
	if (param) {
		prov.param = *param;
		memset(prov.data, 0, sizeof(prov.data));
		if (param->private_data)
			memcpy(prov.data, param->private_data, param->private_data_len);
	}
	if (verb == FAKE_IW_LISTEN)
		prov.listener = cm_id;
	if (!prov.result[verb] && (verb == FAKE_IW_CONNECT || verb == FAKE_IW_ACCEPT)) {
		prov_let_go();
		cm_id->add_ref(cm_id);
		prov.cm_id = cm_id;
	}
	return prov.result[verb];
}

static int iw_test_init(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.iwarp = true,
	};
	int ret;

	memset(&prov, 0, sizeof(prov));
	cma_pair_addrs(&pair);
	side->ndev = cma_net_create();
	if (!side->ndev)
		return -ENOMEM;
	ret = cma_side_net(side);
	if (ret)
		return ret;
	params.ndev = side->ndev;
	side->hca = fake_hca_create(&params);
	if (!side->hca)
		return -ENOMEM;
	side->hca->iw_verb = prov_verb;
	msleep(200);
	ret = cma_net_neigh(side->ndev, AF_INET, &pair.server.ip4, side->ndev->dev_addr,
			    NUD_PERMANENT);
	return ret ?: cma_side_start(side);
}

static int report(struct iw_cm_id *cm_id, enum iw_cm_event_type type, int status,
		  const char *data)
{
	struct iw_cm_event event = {
		.event = type,
		.status = status,
		.private_data = (void *)data,
		.private_data_len = data ? strlen(data) + 1 : 0,
		.ord = 7,
		.ird = 9,
		.provider_data = &prov,
	};

	cma_sin(&event.local_addr, side->ip4, TEST_PORT);
	cma_sin(&event.remote_addr, pair.server.ip4, 0x4321);
	return cm_id->event_handler(cm_id, &event);
}

/* A provider holds on to the QP of a connection until that is closed. */
static void iw_test_exit(struct kunit *test)
{
	if (side->id && side->id->qp && prov.cm_id) {
		side->on_disconnect = CMA_WAIT;
		report(prov.cm_id, IW_CM_EVENT_CLOSE, 0, NULL);
		msleep(200);
	}
	prov_let_go();
	cma_pair_exit(test, &pair);
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
	/* The iWARP CM says it as the peer sees it. */
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
		KUNIT_EXPECT_NOT_NULL(test, rdma_reject_msg(side->id, no[i].status));
		rdma_destroy_qp(side->id);
		prov_let_go();
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
		prov_let_go();
		cma_drop_id(side);
		cma_drop_listener(side);
		cma_forget(side);
	}
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
	/* There is no such thing as a response to confirm. */
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
	/* iWARP has no datagrams: nobody listens for them, or on no such device. */
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

static struct kunit_case iw_cases[] = {
	KUNIT_CASE(connected_and_closed),
	KUNIT_CASE(replies_that_say_no),
	KUNIT_CASE(the_provider_refuses_to_connect),
	KUNIT_CASE(a_request_is_accepted),
	KUNIT_CASE(a_request_is_rejected),
	KUNIT_CASE(the_handler_refuses_a_request),
	KUNIT_CASE(the_provider_does_not_accept),
	KUNIT_CASE(the_handler_ends_the_id),
	KUNIT_CASE(a_listener_that_cannot_be),
	KUNIT_CASE(what_iwarp_does_not_have),
	KUNIT_CASE(without_memory),
	{}
};

struct kunit_suite cma_iw_suite = {
	.name = "rdma_cm_iwarp",
	.init = iw_test_init,
	.exit = iw_test_exit,
	.test_cases = iw_cases,
};
