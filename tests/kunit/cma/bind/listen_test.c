// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Listeners on one device, on all, and on devices that are added and removed. */
#include <linux/kthread.h>
#include "cma/cma_test.h"
#include "faults.h"

static struct cma_pair pair;

static int listen_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

/* Requests a connection from @from to @to; returns whether it was established. */
static bool reaches(struct kunit *test, struct cma_side *from, struct cma_side *to,
		    bool ipv6)
{
	struct sockaddr_storage addr;
	bool ok;

	cma_forget(from);
	cma_resolve_to(test, from, RDMA_PS_TCP,
		       ipv6 ? cma_sin6(&addr, &to->ip6, TEST_PORT) :
			      cma_sin(&addr, to->ip4, TEST_PORT));
	KUNIT_EXPECT_EQ(test, cma_request(from), 0);
	ok = cma_wait(from, "E");
	if (!ok) {
		KUNIT_EXPECT_STREQ(test, from->events, "J");
		KUNIT_EXPECT_EQ(test, from->last.status, IB_CM_REJ_INVALID_SERVICE_ID);
	}
	cma_drop_id(from);
	msleep(100);
	return ok;
}

/* A listener that accepts requests; an id is destroyed when its connection ends. */
struct open_door {
	struct rdma_cm_id *id;
	struct ib_device *seen;		/* device of the last request */
	atomic_t requests;
	int result;			/* of the handler for requests */
	unsigned int slow_ms;
	atomic_t inside, most;
};

static int door_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct open_door *door = id->context;
	struct rdma_conn_param param = { .qp_num = 0x300 };
	int n;

	if (id == door->id)	/* removal of a listener's device */
		return 0;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return event->event == RDMA_CM_EVENT_DISCONNECTED ||
		       event->event == RDMA_CM_EVENT_REJECTED ||
		       event->event == RDMA_CM_EVENT_UNREACHABLE;
	door->seen = id->device;
	param.qp_num += atomic_inc_return(&door->requests);
	n = atomic_inc_return(&door->inside);
	if (n > atomic_read(&door->most))
		atomic_set(&door->most, n);
	msleep(door->slow_ms);
	atomic_dec(&door->inside);
	return door->result ?: rdma_accept(id, &param);
}

static int door_open(struct open_door *door, const struct sockaddr *addr, int afonly)
{
	struct rdma_cm_id *id;
	int ret = 0;

	memset(door, 0, sizeof(*door));
	id = rdma_create_id(&init_net, door_handler, door, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	if (afonly >= 0)
		ret = rdma_set_afonly(id, afonly);
	if (!ret)
		ret = rdma_bind_addr(id, (struct sockaddr *)addr);
	if (!ret)
		ret = rdma_listen(id, 5);
	door->id = id;
	if (!ret)
		return 0;
	door->id = NULL;
	rdma_destroy_id(id);
	return ret;
}

static void door_shut(struct open_door *door)
{
	if (door->id)
		rdma_destroy_id(door->id);
	door->id = NULL;
}

static struct open_door door, second_door;

static void listen_test_exit(struct kunit *test)
{
	door_shut(&door);
	door_shut(&second_door);
	cma_pair_exit(test, &pair);
}

static void on_one_address(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, door_open(&door, cma_sin(&addr, pair.server.ip4, TEST_PORT),
					-1), 0);
	KUNIT_EXPECT_PTR_EQ(test, door.id->device, &pair.server.hca->ibdev);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, false));
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.client, &pair.server, true));
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.server, &pair.client, false));
	door_shut(&door);
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.client, &pair.server, false));
}

static void on_all_devices(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, door_open(&door, cma_sin(&addr, 0, TEST_PORT), -1), 0);
	KUNIT_EXPECT_NULL(test, door.id->device);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, false));
	KUNIT_EXPECT_PTR_EQ(test, door.seen, &pair.server.hca->ibdev);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.server, &pair.client, false));
	KUNIT_EXPECT_PTR_EQ(test, door.seen, &pair.client.hca->ibdev);
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.client, &pair.server, true));
	door_shut(&door);
}

static void an_ipv6_wildcard_is_for_ipv4_too(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, door_open(&door, cma_sin6(&addr, &in6addr_any, TEST_PORT),
					0), 0);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, true));
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, false));
	door_shut(&door);
	KUNIT_ASSERT_EQ(test, door_open(&door, cma_sin6(&addr, &in6addr_any, TEST_PORT),
					1), 0);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, true));
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.client, &pair.server, false));
	door_shut(&door);
}

static void the_sysctl_says_what_a_wildcard_is_for(struct kunit *test)
{
	struct sockaddr_storage addr;

	init_net.ipv6.sysctl.bindv6only = 1;
	KUNIT_EXPECT_EQ(test, door_open(&door, cma_sin6(&addr, &in6addr_any, TEST_PORT),
					-1), 0);
	init_net.ipv6.sysctl.bindv6only = 0;
	KUNIT_EXPECT_EQ(test, door_open(&second_door, cma_sin(&addr, 0, TEST_PORT), -1), 0);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, false));
	KUNIT_EXPECT_EQ(test, atomic_read(&second_door.requests), 1);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&door.requests), 1);
	door_shut(&second_door);
	door_shut(&door);
}

static void without_an_address(struct kunit *test)
{
	struct rdma_cm_id *id = cma_new_id(&pair.server, RDMA_PS_TCP, IB_QPT_RC);
	struct sockaddr_in *in = (struct sockaddr_in *)&id->route.addr.src_addr;

	KUNIT_EXPECT_EQ(test, rdma_listen(id, 1), 0);
	KUNIT_EXPECT_EQ(test, in->sin_family, AF_INET);
	KUNIT_EXPECT_EQ(test, in->sin_addr.s_addr, 0);
	KUNIT_EXPECT_NE(test, in->sin_port, 0);
	rdma_destroy_id(id);
}

static void a_device_comes_later(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.ndev = pair.server.ndev,
	};
	struct sockaddr_storage addr;

	cma_side_stop(test, &pair.server);
	fake_hca_destroy(pair.server.hca);
	pair.server.hca = NULL;
	KUNIT_ASSERT_EQ(test, door_open(&door, cma_sin(&addr, 0, TEST_PORT), -1), 0);
	pair.server.hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, pair.server.hca);
	msleep(200);
	KUNIT_ASSERT_EQ(test, cma_side_start(&pair.server), 0);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, false));
	KUNIT_EXPECT_PTR_EQ(test, door.seen, &pair.server.hca->ibdev);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.server, &pair.client, false));
	door_shut(&door);
}

/* A wildcard listener outlives any device, and gets no event. */
static void a_device_goes(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP,
					    cma_sin(&addr, 0, TEST_PORT)), 0);
	cma_side_stop(test, &pair.server);
	fake_hca_destroy(pair.server.hca);
	pair.server.hca = NULL;
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_EQ(test, cma_at(pair.server.listener), RDMA_CM_LISTEN);
}

static void the_listeners_device_goes(struct kunit *test)
{
	pair.server.destroy_on = 'X';
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	cma_side_stop(test, &pair.server);
	fake_hca_destroy(pair.server.hca);
	pair.server.hca = NULL;
	KUNIT_EXPECT_STREQ(test, pair.server.events, "X");
	KUNIT_EXPECT_TRUE(test, pair.server.destroyed);
	pair.server.listener = NULL;
}

/* RDMA_PS_IB does not determine the address family. */
static void in_the_port_space_of_infiniband(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_IB,
					    cma_sin(&addr, pair.server.ip4, TEST_PORT)),
			0);
	pair.client.param.private_data = "ib";
	pair.client.param.private_data_len = 3;
	cma_resolve_to(test, &pair.client, RDMA_PS_IB,
		       cma_sin(&addr, pair.server.ip4, TEST_PORT));
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.server, "QE"));
	KUNIT_EXPECT_STREQ(test, pair.server.private_data, "ib");
}

/* A listener for UC does not get requests of RC. */
static void of_the_wrong_type(struct kunit *test)
{
	struct sockaddr_storage addr;

	pair.server.qp_type = IB_QPT_UC;
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP,
					    cma_sin(&addr, 0, TEST_PORT)), 0);
	pair.server.qp_type = IB_QPT_RC;
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.client, &pair.server, false));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

#define CALLERS 8

/* Requests are handled in parallel: none waits for another's handler. */
static void requests_are_handled_in_parallel(struct kunit *test)
{
	struct cma_side *caller;
	struct sockaddr_storage addr;
	int i;

	caller = kunit_kcalloc(test, CALLERS, sizeof(*caller), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, caller);
	KUNIT_ASSERT_EQ(test, door_open(&door, cma_sin(&addr, 0, TEST_PORT), -1), 0);
	door.slow_ms = 1000;
	for (i = 0; i < CALLERS; i++) {
		caller[i] = pair.client;
		caller[i].own_qp = true;
		caller[i].qpn = 0x1000 + i;
		cma_resolve_to(test, &caller[i], RDMA_PS_TCP,
			       cma_sin(&addr, pair.server.ip4, TEST_PORT));
	}
	for (i = 0; i < CALLERS; i++)
		KUNIT_EXPECT_EQ(test, cma_request(&caller[i]), 0);
	for (i = 0; i < CALLERS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&caller[i], "P"), "%d: %s", i,
				      caller[i].events);
	KUNIT_EXPECT_EQ(test, atomic_read(&door.requests), CALLERS);
	KUNIT_EXPECT_EQ(test, atomic_read(&door.most), CALLERS);
	for (i = 0; i < CALLERS; i++)
		cma_drop_id(&caller[i]);
	msleep(200);
	door_shut(&door);
}

/* Destruction waits for running handlers, so that the consumer may free what they use. */
static void destruction_waits_for_requests(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, door_open(&door, cma_sin(&addr, 0, TEST_PORT), -1), 0);
	door.slow_ms = 1000;
	door.result = -EPERM;
	cma_resolve(test, &pair);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	msleep(100);
	KUNIT_ASSERT_EQ(test, atomic_read(&door.inside), 1);
	door_shut(&door);
	KUNIT_EXPECT_EQ(test, atomic_read(&door.inside), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "J"));
}

static int listen_everywhere(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct open_door once;
	int ret;

	ret = door_open(&once, cma_sin(&addr, 0, TEST_PORT), -1);
	if (!ret)
		door_shut(&once);
	return ret;
}

/* Defects 8 and 9: listening works on one device and fails on the next. */
static void a_listen_that_fails_half_way_leaves_nothing(struct kunit *test)
{
	struct sockaddr_storage addr;
	unsigned int failed;

	failed = ibex_each_allocation(test, listen_everywhere);
	KUNIT_EXPECT_GE(test, failed, 5);
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.client, &pair.server, false));
	KUNIT_EXPECT_FALSE(test, reaches(test, &pair.server, &pair.client, false));
	KUNIT_EXPECT_EQ(test, door_open(&door, cma_sin(&addr, 0, TEST_PORT), -1), 0);
	KUNIT_EXPECT_TRUE(test, reaches(test, &pair.client, &pair.server, false));
	door_shut(&door);
}

static struct kunit_case listen_cases[] = {
	KUNIT_CASE(on_one_address),
	KUNIT_CASE(on_all_devices),
	KUNIT_CASE(an_ipv6_wildcard_is_for_ipv4_too),
	KUNIT_CASE(the_sysctl_says_what_a_wildcard_is_for),
	KUNIT_CASE(without_an_address),
	KUNIT_CASE(a_device_comes_later),
	KUNIT_CASE(a_device_goes),
	KUNIT_CASE(the_listeners_device_goes),
	KUNIT_CASE(in_the_port_space_of_infiniband),
	KUNIT_CASE(of_the_wrong_type),
	KUNIT_CASE(requests_are_handled_in_parallel),
	KUNIT_CASE(destruction_waits_for_requests),
	KUNIT_CASE(a_listen_that_fails_half_way_leaves_nothing),
	{}
};

static struct kunit_suite cma_listen_suite = {
	.name = "rdma_cm_listen",
	.init = listen_test_init,
	.exit = listen_test_exit,
	.test_cases = listen_cases,
};

kunit_test_suite(cma_listen_suite);
