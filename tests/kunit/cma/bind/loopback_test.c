// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A host that is its own peer: 127.0.0.1 and ::1, which are no device's GID. */
#include <linux/netdevice.h>
#include "cma/cma_test.h"

static struct cma_pair pair;
static struct cma_side *const client = &pair.client;
static struct cma_side self;		/* the client's peer, on the same host */
static struct cma_prov prov;

static const __be32 lo4 = htonl(INADDR_LOOPBACK);

/* Responses are sent to the client's own MAC address. */
static int loopback_init(struct kunit *test)
{
	int ret = cma_pair_init(test, &pair);

	return ret ?: cma_know_peer(client, client);
}

static void loopback_exit(struct kunit *test)
{
	cma_drop_listener(&self);
	cma_drop_id(&self);
	cma_pair_exit(test, &pair);
}

static int loopback_ib_init(struct kunit *test)
{
	return cma_pair_init_ib(test, &pair);
}

static void loopback_ib_exit(struct kunit *test)
{
	cma_drop_listener(&self);
	cma_drop_id(&self);
	cma_pair_exit_ib(test, &pair);
}

static int loopback_iw_init(struct kunit *test)
{
	return cma_pair_init_iw(test, &pair, &prov, NULL);
}

static void loopback_iw_exit(struct kunit *test)
{
	cma_pair_exit_iw(test, &pair);
}

static struct sockaddr *lo(struct sockaddr_storage *at, bool six, u16 port)
{
	return six ? cma_sin6(at, &in6addr_loopback, port) : cma_sin(at, lo4, port);
}

static bool is_lo(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	return addr->ss_family == AF_INET ? in->sin_addr.s_addr == lo4 :
	       ipv6_addr_loopback(&in6->sin6_addr);
}

static void set_port_state(struct cma_side *side, enum ib_port_state state)
{
	side->hca->port[1].state = state;
	fake_hca_port_event(side->hca, 1, state == IB_PORT_ACTIVE ?
			    IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
	msleep(100);
}

/* How many CM listeners an id has, each of which is reported. */
static int listens(struct rdma_cm_id *id)
{
	return list_count_nodes(&to_cma(id)->listens);
}

/* Programs that look for usable devices bind to loopback addresses, which are of all devices. */
static void bound(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int six;

	for (six = 0; six < 2; six++) {
		id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, lo(&addr, six, 7000)), 0);
		KUNIT_EXPECT_NULL(test, id->device);
		KUNIT_EXPECT_TRUE(test, is_lo(&id->route.addr.src_addr));
		KUNIT_EXPECT_EQ(test, rdma_listen(id, 1), 0);
		KUNIT_EXPECT_NULL(test, id->device);
		KUNIT_EXPECT_EQ(test, listens(id), 2);
		rdma_destroy_id(id);
	}
	/* Any address of 127.0.0.0/8 can be bound. */
	id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, htonl(0x7f010203), 0)), 0);
	KUNIT_EXPECT_NULL(test, id->device);
	rdma_destroy_id(id);
}

/* A loopback address without a device is one to resolve from, if the peer is this host. */
static void resolved_when_bound(struct kunit *test)
{
	struct sockaddr_storage addr, dst;
	struct rdma_cm_id *id;

	id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	client->id = id;
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, lo(&addr, false, 7000)), 0);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, lo(&dst, false, TEST_PORT),
						TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(client, "A"));
	KUNIT_EXPECT_NOT_NULL(test, id->device);
	KUNIT_EXPECT_TRUE(test, is_lo(&id->route.addr.src_addr));
}

static void to_a_port_that_is_up(struct kunit *test)
{
	struct cma_side *side[2] = { client, &pair.server };
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < 2; i++) {
		set_port_state(side[!i], IB_PORT_DOWN);
		id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, lo(&addr, false, TEST_PORT),
							TEST_TIMEOUT), 0);
		KUNIT_EXPECT_PTR_EQ(test, id->device, &side[i]->hca->ibdev);
		rdma_destroy_id(id);
		set_port_state(side[!i], IB_PORT_ACTIVE);
	}
	cma_forget(client);
	set_port_state(client, IB_PORT_DOWN);
	set_port_state(&pair.server, IB_PORT_DOWN);
	id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, lo(&addr, false, TEST_PORT),
						TEST_TIMEOUT), -ENODEV);
	set_port_state(client, IB_PORT_ACTIVE);
	set_port_state(&pair.server, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, lo(&addr, false, TEST_PORT),
						TEST_TIMEOUT), 0);
	client->id = id;
	KUNIT_EXPECT_TRUE(test, cma_wait(client, "A"));
}

/* How the client chooses its source address. */
enum from { FROM_NOWHERE, FROM_LOOPBACK, FROM_ANY, FROM_SOURCE, FROMS };

static void call_self(struct kunit *test, enum from from, const struct sockaddr *at,
		      const struct sockaddr *dst)
{
	bool six = dst->sa_family == AF_INET6;
	struct sockaddr_storage src;
	union ib_gid sgid, dgid;
	int ret;

	self = *client;
	self.id = NULL;
	self.listener = NULL;
	KUNIT_ASSERT_EQ(test, cma_listen_at(&self, RDMA_PS_TCP, at), 0);
	client->id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	if (from == FROM_ANY) {
		six ? cma_sin6(&src, &in6addr_any, 0) : cma_sin(&src, 0, 0);
		ret = rdma_bind_addr(client->id, (struct sockaddr *)&src);
		KUNIT_EXPECT_EQ(test, ret, 0);
	} else if (from == FROM_SOURCE) {
		six ? cma_sin6(&src, &client->ip6, 0) : cma_sin(&src, client->ip4, 0);
	} else {
		lo(&src, six, 0);
	}
	KUNIT_ASSERT_EQ(test,
			rdma_resolve_addr(client->id,
					  from == FROM_NOWHERE ? NULL : (void *)&src,
					  dst, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "A"));
	rdma_read_gids(client->id, &sgid, &dgid);
	KUNIT_EXPECT_MEMEQ(test, &sgid, &dgid, 16);
	KUNIT_EXPECT_FALSE(test, rdma_is_zero_gid(&sgid));
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "AR"));
	KUNIT_ASSERT_EQ(test, cma_make_qp(client), 0);
	KUNIT_ASSERT_EQ(test, cma_request(client), 0);
	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(client, "ARE"), "%d: %s %d", from,
			      client->events, client->last.status);
	KUNIT_ASSERT_TRUE(test, cma_wait(&self, "QE"));
	KUNIT_EXPECT_EQ(test, self.call, 0);
	KUNIT_EXPECT_PTR_EQ(test, self.id->device, client->id->device);
	KUNIT_EXPECT_MEMEQ(test, &self.id->route.addr.src_addr,
			   &client->id->route.addr.dst_addr,
			   six ? sizeof(struct sockaddr_in6) :
				 sizeof(struct sockaddr_in));
	rdma_read_gids(self.id, &sgid, &dgid);
	KUNIT_EXPECT_MEMEQ(test, &sgid, &dgid, 16);
	cma_drop_listener(&self);
	cma_drop_id(client);
	cma_quiesce(&pair);
	cma_drop_id(&self);
	cma_forget(client);
	cma_forget(&self);
	msleep(500);
}

static void connected(struct kunit *test)
{
	struct sockaddr_storage at, dst, any;
	enum from from;
	int six;

	for (six = 0; six < 2; six++) {
		for (from = FROM_NOWHERE; from < FROMS; from++) {
			call_self(test, from, lo(&at, six, TEST_PORT),
				  lo(&dst, six, TEST_PORT));
			KUNIT_EXPECT_TRUE(test, is_lo(&dst));
		}
		/*
		 * A listener on the wildcard address is reached by the loopback
		 * address, too.
		 */
		if (six)
			cma_sin6(&any, &in6addr_any, TEST_PORT);
		else
			cma_sin(&any, 0, TEST_PORT);
		call_self(test, FROM_NOWHERE, (void *)&any, lo(&dst, six, TEST_PORT));
	}
}

/* The wildcard as a destination means the device's own address. */
static void called_by_the_wildcard(struct kunit *test)
{
	struct sockaddr_storage at, dst;

	call_self(test, FROM_NOWHERE, cma_sin(&at, 0, TEST_PORT),
		  cma_sin(&dst, 0, TEST_PORT));
	call_self(test, FROM_SOURCE, cma_sin6(&at, &client->ip6, TEST_PORT),
		  cma_sin6(&dst, &in6addr_any, TEST_PORT));
}

static void asked_for_a_service(struct kunit *test)
{
	struct sockaddr_storage addr;

	client->qp_type = IB_QPT_UD;
	self = *client;
	KUNIT_ASSERT_EQ(test, cma_listen_at(&self, RDMA_PS_UDP,
					    lo(&addr, false, TEST_PORT)), 0);
	client->id = cma_new_id(client, RDMA_PS_UDP, IB_QPT_UD);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id, NULL,
						lo(&addr, false, TEST_PORT),
						TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "A"));
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "AR"));
	KUNIT_ASSERT_EQ(test, cma_make_qp(client), 0);
	KUNIT_ASSERT_EQ(test, cma_request(client), 0);
	KUNIT_EXPECT_TRUE_MSG(test, cma_wait(client, "ARE"), "%s %d", client->events,
			      client->last.status);
	KUNIT_EXPECT_TRUE(test, cma_wait(&self, "Q"));
}

/* An adapter on lo has the loopback address as a GID, and is chosen. */
static void one_that_has_the_address(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.ndev = init_net.loopback_dev,
	};
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	struct fake_hca *hca;
	union ib_gid gid, lo_gid;
	int i;

	rdma_ip2gid(lo(&addr, false, 7000), &lo_gid);
	hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	for (i = 0; i < 100; i++) {
		const struct ib_gid_attr *attr;

		attr = rdma_find_gid_by_port(&hca->ibdev, &lo_gid,
					     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
		if (!IS_ERR(attr)) {
			rdma_put_gid_attr(attr);
			break;
		}
		msleep(20);
	}
	KUNIT_EXPECT_LT(test, i, 100);
	id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, (void *)&addr, 100), 0);
	KUNIT_EXPECT_PTR_EQ(test, id->device, &hca->ibdev);
	rdma_read_gids(id, &gid, NULL);
	KUNIT_EXPECT_MEMEQ(test, &gid, &lo_gid, 16);
	rdma_destroy_id(id);
	fake_hca_destroy(hca);
	cma_forget(client);
}

static struct kunit_case loopback_cases[] = {
	KUNIT_CASE(bound),
	KUNIT_CASE(resolved_when_bound),
	KUNIT_CASE(to_a_port_that_is_up),
	KUNIT_CASE(connected),
	KUNIT_CASE(called_by_the_wildcard),
	KUNIT_CASE(asked_for_a_service),
	KUNIT_CASE(one_that_has_the_address),
	{}
};

static struct kunit_suite cma_loopback_suite = {
	.name = "rdma_cm_loopback",
	.init = loopback_init,
	.exit = loopback_exit,
	.test_cases = loopback_cases,
};

kunit_test_suite(cma_loopback_suite);

static void over_infiniband(struct kunit *test)
{
	struct sockaddr_storage at, dst;
	int six;

	for (six = 0; six < 2; six++)
		call_self(test, FROM_NOWHERE, lo(&at, six, TEST_PORT),
			  lo(&dst, six, TEST_PORT));
	call_self(test, FROM_NOWHERE, cma_sin(&at, 0, TEST_PORT),
		  cma_sin(&dst, 0, TEST_PORT));
}

static struct kunit_case loopback_ib_cases[] = {
	KUNIT_CASE(bound),
	KUNIT_CASE(over_infiniband),
	{}
};

static struct kunit_suite cma_loopback_ib_suite = {
	.name = "rdma_cm_loopback_ib",
	.init = loopback_ib_init,
	.exit = loopback_ib_exit,
	.test_cases = loopback_ib_cases,
};

kunit_test_suite(cma_loopback_ib_suite);

/* The provider decides what becomes of a connection to a loopback address. */
static void over_iwarp(struct kunit *test)
{
	struct sockaddr_storage addr, dst;

	KUNIT_ASSERT_EQ(test, cma_listen_at(client, RDMA_PS_TCP,
					    lo(&addr, false, TEST_PORT)), 0);
	KUNIT_EXPECT_NULL(test, client->listener->device);
	KUNIT_EXPECT_MEMEQ(test, &prov.listener->local_addr, &addr,
			   sizeof(struct sockaddr_in));
	client->id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id, NULL,
						lo(&dst, false, TEST_PORT),
						TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "A"));
	KUNIT_EXPECT_PTR_EQ(test, client->id->device, &client->hca->ibdev);
	KUNIT_EXPECT_TRUE(test, is_lo(&client->id->route.addr.src_addr));
	KUNIT_EXPECT_TRUE(test, is_lo(&client->id->route.addr.dst_addr));
}

static struct kunit_case loopback_iw_cases[] = {
	KUNIT_CASE(over_iwarp),
	{}
};

static struct kunit_suite cma_loopback_iw_suite = {
	.name = "rdma_cm_loopback_iw",
	.init = loopback_iw_init,
	.exit = loopback_iw_exit,
	.test_cases = loopback_iw_cases,
};

kunit_test_suite(cma_loopback_iw_suite);
