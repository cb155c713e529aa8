// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address resolution of peers that answer, do not, move, or are this host. */
#include <net/addrconf.h>
#include "cma/cma_test.h"
#include "wait.h"

static struct cma_pair pair;
static struct cma_side *const client = &pair.client;

static int addr_test_init(struct kunit *test)
{
	int ret = cma_pair_init(test, &pair);

	if (!ret) {
		client->id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
		if (IS_ERR(client->id))
			client->id = NULL;
	}
	return ret ?: client->id ? 0 : -ENOMEM;
}

static void addr_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static int resolve4(__be32 ip, unsigned long timeout_ms)
{
	struct sockaddr_storage addr;

	return rdma_resolve_addr(client->id, NULL, cma_sin(&addr, ip, TEST_PORT),
				 timeout_ms);
}

#define NOBODY	htonl(0x0a01004d)	/* on the link, but no host has it */

static void nobody_answers(struct kunit *test)
{
	unsigned long start = jiffies;

	KUNIT_ASSERT_EQ(test, resolve4(NOBODY, 1500), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "a"));
	KUNIT_EXPECT_EQ(test, client->last.status, -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(client->when - start), 1400);
	KUNIT_EXPECT_LE(test, took_ms(client->when - start), 2500);
	KUNIT_EXPECT_EQ(test, cma_at(client->id), RDMA_CM_ADDR_BOUND);
	KUNIT_EXPECT_NULL(test, client->id->device);
	KUNIT_EXPECT_EQ(test, resolve4(pair.server.ip4, TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(client, "aA"));
	KUNIT_EXPECT_PTR_EQ(test, client->id->device, &client->hca->ibdev);
}

static void no_route(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, resolve4(htonl(0x0b010101), TEST_TIMEOUT), -ENETUNREACH);
	KUNIT_EXPECT_EQ(test, cma_at(client->id), RDMA_CM_ADDR_BOUND);
	KUNIT_EXPECT_EQ(test, resolve4(pair.server.ip4, TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(client, "A"));
}

/* Its Q_Key is that of a group which only InfiniBand has. */
static void ipoib_is_not_for_roce(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_drop_id(client);
	cma_forget(client);
	client->id = cma_new_id(client, RDMA_PS_IPOIB, IB_QPT_UD);
	KUNIT_ASSERT_FALSE(test, IS_ERR(client->id));
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(client->id, cma_sin(&addr, client->ip4, 0)), -EINVAL);
	KUNIT_EXPECT_NULL(test, client->id->device);
	KUNIT_EXPECT_EQ(test, cma_at(client->id), RDMA_CM_IDLE);
	KUNIT_ASSERT_EQ(test, resolve4(pair.server.ip4, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "a"));
	KUNIT_EXPECT_EQ(test, client->last.status, -EINVAL);
	KUNIT_EXPECT_NULL(test, client->id->device);
}

/* Starts the next attempt in the handler that gets the error of the last one. */
static int again_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	int n = atomic_read(&client->nr_events);

	if (event->event == RDMA_CM_EVENT_ADDR_ERROR)
		client->call = resolve4(n < 3 ? NOBODY : pair.server.ip4, 400);
	return cma_handler(id, event);
}

/* Defect 6: a resolution has ended before the next of the same id begins. */
static void a_request_is_over_before_the_next(struct kunit *test)
{
	client->id->event_handler = again_handler;
	KUNIT_ASSERT_EQ(test, resolve4(NOBODY, 400), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "aaaaA"));
	KUNIT_EXPECT_EQ(test, client->call, 0);
	msleep(3000);
	KUNIT_EXPECT_STREQ(test, client->events, "aaaaA");
	/* Destruction cancels the resolution in progress, and no other is left. */
	cma_drop_id(client);
	cma_forget(client);
	client->id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	client->id->event_handler = again_handler;
	KUNIT_ASSERT_EQ(test, resolve4(NOBODY, 400), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "a"));
	cma_drop_id(client);
	msleep(3000);
	KUNIT_EXPECT_STREQ(test, client->events, "a");
}

/* Defect 7: the address an id is bound to keeps its family. */
static void the_family_of_a_bound_id_stays(struct kunit *test)
{
	struct sockaddr_storage src, dst;
	struct rdma_cm_id *other;

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(client->id, cma_sin(&src, client->ip4, 7000)),
			0);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(client->id, NULL,
						cma_sin6(&dst, &pair.server.ip6, 1),
						TEST_TIMEOUT), -EINVAL);
	KUNIT_EXPECT_EQ(test, client->id->route.addr.src_addr.ss_family, AF_INET);
	KUNIT_EXPECT_EQ(test, cma_at(client->id), RDMA_CM_ADDR_BOUND);
	KUNIT_EXPECT_MEMEQ(test, &client->id->route.addr.src_addr, &src,
			   sizeof(struct sockaddr_in));
	/* So it is when source and destination are in one call. */
	other = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(other, cma_sin(&src, client->ip4, 0),
						cma_sin6(&dst, &pair.server.ip6, 1),
						TEST_TIMEOUT), -EINVAL);
	KUNIT_EXPECT_EQ(test, other->route.addr.src_addr.ss_family, AF_INET);
	dst.ss_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(other, NULL, (void *)&dst, TEST_TIMEOUT),
			-EAFNOSUPPORT);
	rdma_destroy_id(other);
	/* The port is still found under the old family when it is released. */
	cma_drop_id(client);
	other = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(other, cma_sin(&src, 0, 7000)), 0);
	rdma_destroy_id(other);
}

static void a_source_that_is_not_ours(struct kunit *test)
{
	struct sockaddr_storage src, dst;

	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(client->id,
						cma_sin(&src, htonl(0x0b010101), 0),
						cma_sin(&dst, pair.server.ip4, 1),
						TEST_TIMEOUT), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, cma_at(client->id), RDMA_CM_IDLE);
}

/* The neighbour answers while the resolution waits for it. */
static void an_answer_that_comes_later(struct kunit *test)
{
	__be32 late = NOBODY;

	KUNIT_ASSERT_EQ(test, resolve4(late, 60000), 0);
	msleep(300);
	KUNIT_EXPECT_STREQ(test, client->events, "");
	cma_net_neigh(client->ndev, AF_INET, &late, pair.server.ndev->dev_addr,
		      NUD_PERMANENT);
	KUNIT_EXPECT_TRUE(test, cma_wait(client, "A"));
	KUNIT_EXPECT_MEMEQ(test, client->id->route.addr.dev_addr.dst_dev_addr,
			   pair.server.ndev->dev_addr, ETH_ALEN);
}

static void linklocal_addresses(struct kunit *test)
{
	struct in6_addr ll = { .s6_addr = { 0xfe, 0x80 } }, peer = ll;
	struct sockaddr_storage dst;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&dst;

	msleep(3000);	/* until duplicate address detection is done */
	addrconf_addr_eui48(ll.s6_addr + 8, client->ndev->dev_addr);
	addrconf_addr_eui48(peer.s6_addr + 8, pair.server.ndev->dev_addr);
	cma_net_neigh(client->ndev, AF_INET6, &peer, pair.server.ndev->dev_addr,
		      NUD_PERMANENT);
	cma_net_neigh(pair.server.ndev, AF_INET6, &ll, client->ndev->dev_addr,
		      NUD_PERMANENT);
	cma_sin6(&dst, &peer, TEST_PORT);
	in6->sin6_scope_id = pair.server.ndev->ifindex;
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_TCP, (void *)&dst), 0);
	in6->sin6_scope_id = client->ndev->ifindex;
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id, NULL, (void *)&dst,
						TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(client, "A"), "%s %d", client->events,
			      client->last.status);
	in6 = (struct sockaddr_in6 *)&client->id->route.addr.src_addr;
	KUNIT_EXPECT_MEMEQ(test, &in6->sin6_addr, &ll, 16);
	KUNIT_EXPECT_EQ(test, in6->sin6_scope_id, client->ndev->ifindex);
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "AR"));
	KUNIT_ASSERT_EQ(test, cma_make_qp(client), 0);
	KUNIT_ASSERT_EQ(test, cma_request(client), 0);
	KUNIT_ASSERT_TRUE_MSG(test, cma_wait(client, "ARE"), "%s %d %s", client->events,
			      client->last.status, pair.server.events);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "QE"));
	in6 = (struct sockaddr_in6 *)&pair.server.id->route.addr.dst_addr;
	KUNIT_EXPECT_MEMEQ(test, &in6->sin6_addr, &ll, 16);
	KUNIT_EXPECT_EQ(test, in6->sin6_scope_id, pair.server.ndev->ifindex);
}

/* Connecting to the wildcard address connects to this host. */
static void this_host(struct kunit *test)
{
	struct sockaddr_storage src, dst;
	union ib_gid sgid, dgid;
	int six, bound;

	for (six = 0; six < 2; six++) {
		for (bound = 0; bound < 2; bound++) {
			cma_drop_id(client);
			client->id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
			if (bound && six)
				cma_sin6(&src, &client->ip6, 0);
			else
				cma_sin(&src, client->ip4, 0);
			if (six)
				cma_sin6(&dst, &in6addr_any, TEST_PORT);
			else
				cma_sin(&dst, 0, TEST_PORT);
			KUNIT_ASSERT_EQ(test,
					rdma_resolve_addr(client->id,
							  bound ? (void *)&src : NULL,
							  (void *)&dst, TEST_TIMEOUT), 0);
			KUNIT_EXPECT_TRUE(test, cma_wait(client, "A"));
			rdma_read_gids(client->id, &sgid, &dgid);
			KUNIT_EXPECT_MEMEQ(test, &sgid, &dgid, 16);
			KUNIT_EXPECT_FALSE(test, rdma_is_zero_gid(&sgid));
			KUNIT_EXPECT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT),
					0);
			KUNIT_EXPECT_TRUE(test, cma_wait(client, "AR"));
			cma_forget(client);
		}
	}
}

static void connected_to_itself(struct kunit *test)
{
	struct cma_side *self = kunit_kzalloc(test, sizeof(*self), GFP_KERNEL);
	struct sockaddr_storage src, dst;

	KUNIT_ASSERT_NOT_NULL(test, self);
	*self = *client;
	self->id = NULL;
	/* Responses are sent to the MAC address of the neighbour entry. */
	cma_net_neigh(client->ndev, AF_INET, &client->ip4, client->ndev->dev_addr,
		      NUD_PERMANENT);
	KUNIT_ASSERT_EQ(test, cma_listen_at(self, RDMA_PS_TCP,
					    cma_sin(&dst, client->ip4, TEST_PORT)), 0);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(client->id,
						cma_sin(&src, client->ip4, 0),
						cma_sin(&dst, 0, TEST_PORT),
						TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "A"));
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(client->id, TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "AR"));
	KUNIT_ASSERT_EQ(test, cma_make_qp(client), 0);
	KUNIT_ASSERT_EQ(test, cma_request(client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(client, "ARE"));
	KUNIT_ASSERT_TRUE(test, cma_wait(self, "QE"));
	KUNIT_EXPECT_EQ(test, self->call, 0);
	KUNIT_EXPECT_EQ(test, rdma_disconnect(self->id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(client, "AREDT"));
	cma_drop_listener(self);
	cma_drop_id(self);
}

/* The device that had an address last is tried first, and no longer has it. */
static void an_address_changes_its_device(struct kunit *test)
{
	struct sockaddr_storage addr;
	__be32 ip = htonl(0x0a010005);
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < 4; i++) {
		struct cma_side *side = i & 1 ? &pair.server : client;

		KUNIT_ASSERT_EQ(test, cma_net_addr(side->ndev, true, AF_INET, &ip, 24), 0);
		msleep(500);
		id = cma_new_id(side, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, ip, 0)), 0);
		KUNIT_EXPECT_PTR_EQ(test, id->device, &side->hca->ibdev);
		rdma_destroy_id(id);
		KUNIT_ASSERT_EQ(test, cma_net_addr(side->ndev, false, AF_INET, &ip, 24),
				0);
		msleep(500);
		id = cma_new_id(side, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, ip, 0)),
				-EADDRNOTAVAIL);
		rdma_destroy_id(id);
	}
}

/* The netdev keeps the address when the GID is removed: the hint is out of date. */
static void a_hint_that_is_out_of_date(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;

	KUNIT_ASSERT_EQ(test, rdma_bind_addr(client->id, cma_sin(&addr, client->ip4, 0)),
			0);
	cma_drop_id(client);
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&client->hca->ibdev, NULL, 1), 0);
	msleep(1000);
	id = cma_new_id(client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, client->ip4, 0)),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, client->ip4, 0)),
			-ENODEV);
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&client->hca->ibdev, client->ndev, 1),
			0);
	msleep(1000);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, client->ip4, 0)), 0);
	rdma_destroy_id(id);
}

static struct kunit_case addr_cases[] = {
	KUNIT_CASE(nobody_answers),
	KUNIT_CASE(no_route),
	KUNIT_CASE(ipoib_is_not_for_roce),
	KUNIT_CASE(a_request_is_over_before_the_next),
	KUNIT_CASE(the_family_of_a_bound_id_stays),
	KUNIT_CASE(a_source_that_is_not_ours),
	KUNIT_CASE(an_answer_that_comes_later),
	KUNIT_CASE(linklocal_addresses),
	KUNIT_CASE(this_host),
	KUNIT_CASE(connected_to_itself),
	KUNIT_CASE(an_address_changes_its_device),
	KUNIT_CASE(a_hint_that_is_out_of_date),
	{}
};

static struct kunit_suite cma_addr_suite = {
	.name = "rdma_cm_addr",
	.init = addr_test_init,
	.exit = addr_test_exit,
	.test_cases = addr_cases,
};

kunit_test_suite(cma_addr_suite);
