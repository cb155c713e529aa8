// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ports, and which ids may share them. */
#include <linux/cred.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include "cma/cma_test.h"

static struct cma_pair pair;

static int port_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void port_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

enum where { ANY4, ONE4, TWO4, ANY6, ONE6, TWO6, ANY_IB };

#define SHARE	1
#define ONLY6	2
#define LISTENS	4

static void where_addr(enum where where, u16 port, struct sockaddr_storage *addr)
{
	struct sockaddr_ib *ib = (struct sockaddr_ib *)addr;

	switch (where) {
	case ANY4:
		cma_sin(addr, 0, port);
		break;
	case ONE4:
		cma_sin(addr, pair.client.ip4, port);
		break;
	case TWO4:
		cma_sin(addr, pair.server.ip4, port);
		break;
	case ANY6:
		cma_sin6(addr, &in6addr_any, port);
		break;
	case ONE6:
		cma_sin6(addr, &pair.client.ip6, port);
		break;
	case TWO6:
		cma_sin6(addr, &pair.server.ip6, port);
		break;
	default:
		memset(addr, 0, sizeof(*addr));
		ib->sib_family = AF_IB;
		ib->sib_sid = cpu_to_be64(RDMA_IB_IP_PS_TCP | port);
		ib->sib_sid_mask = cpu_to_be64(U64_MAX);
	}
}

/* Returns a new id bound to the address and port, or an error pointer. */
static struct rdma_cm_id *use(enum where where, u16 port, enum rdma_ucm_port_space ps,
			      int how)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, ps, IB_QPT_RC);
	struct sockaddr_storage addr;
	int ret = 0;

	if (IS_ERR(id))
		return id;
	where_addr(where, port, &addr);
	if (how & SHARE)
		ret = rdma_set_reuseaddr(id, 1);
	if (!ret && (how & ONLY6))
		ret = rdma_set_afonly(id, 1);
	if (!ret)
		ret = rdma_bind_addr(id, (struct sockaddr *)&addr);
	if (!ret && (how & LISTENS))
		ret = rdma_listen(id, 1);
	if (!ret)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(ret);
}

static u16 port_of(struct rdma_cm_id *id)
{
	return ntohs(((struct sockaddr_in *)&id->route.addr.src_addr)->sin_port);
}

/* Two ids and one port. */
static const struct two {
	enum where a;
	int how_a;
	enum where b;
	int how_b;
	bool fit;
} twos[] = {
	{ ANY4, 0, ANY4, 0, false },
	{ ANY4, 0, ONE4, 0, false },
	{ ONE4, 0, ANY4, 0, false },
	{ ONE4, 0, ONE4, 0, false },
	{ ONE4, 0, TWO4, 0, true },
	{ ONE6, 0, TWO6, 0, true },
	{ ONE6, 0, ONE6, 0, false },
	{ ONE4, 0, ONE6, 0, true },
	/* An IPv6 wildcard includes IPv4, unless afonly is set. */
	{ ANY6, 0, ANY4, 0, false },
	{ ANY4, 0, ANY6, 0, false },
	{ ANY6, 0, ONE4, 0, false },
	{ ONE4, 0, ANY6, 0, false },
	{ ANY6, 0, ONE6, 0, false },
	{ ONE6, 0, ANY4, 0, true },
	{ ANY6, ONLY6, ANY4, 0, true },
	{ ANY4, 0, ANY6, ONLY6, true },
	{ ANY6, ONLY6, ONE4, 0, true },
	{ ANY6, ONLY6, ONE6, 0, false },
	{ ANY_IB, 0, ANY4, 0, true },
	{ ANY_IB, 0, ANY_IB, 0, false },
	/* Two ids share a port only if both have set reuseaddr. */
	{ ANY4, SHARE, ANY4, SHARE, true },
	{ ANY4, SHARE, ONE4, SHARE, true },
	{ ONE4, SHARE, ANY4, SHARE, true },
	{ ONE4, SHARE, ONE4, SHARE, true },
	{ ANY4, SHARE, ANY4, 0, false },
	{ ANY4, 0, ANY4, SHARE, false },
	{ ONE4, SHARE, ONE4, 0, false },
	{ ANY6, SHARE, ANY4, SHARE, true },
	{ ANY6, SHARE, ANY4, 0, false },
	/* A listener does not share its port. */
	{ ANY4, SHARE | LISTENS, ANY4, SHARE, false },
	{ ANY4, SHARE, ANY4, SHARE | LISTENS, false },
	{ ONE4, SHARE | LISTENS, ONE4, SHARE | LISTENS, false },
	{ ONE4, SHARE | LISTENS, ANY4, SHARE | LISTENS, false },
	{ ANY6, SHARE | LISTENS, ANY4, SHARE | LISTENS, false },
	{ ONE4, LISTENS, TWO4, LISTENS, true },
	{ ANY4, LISTENS, ANY6, ONLY6 | LISTENS, true },
};

static void who_fits_with_whom(struct kunit *test)
{
	struct rdma_cm_id *a, *b;
	int i, want;

	for (i = 0; i < ARRAY_SIZE(twos); i++) {
		a = use(twos[i].a, 5000, RDMA_PS_TCP, twos[i].how_a);
		KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(a), "%d: %ld", i, PTR_ERR(a));
		b = use(twos[i].b, 5000, RDMA_PS_TCP, twos[i].how_b);
		want = twos[i].fit ? 0 : -EADDRINUSE;
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(b), want, "%d", i);
		if (!IS_ERR(b))
			rdma_destroy_id(b);
		/* An id that was refused or destroyed does not occupy the port. */
		rdma_destroy_id(a);
		a = use(twos[i].b, 5000, RDMA_PS_TCP, twos[i].how_b & ~SHARE);
		KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(a), "%d again: %ld", i, PTR_ERR(a));
		if (!IS_ERR(a))
			rdma_destroy_id(a);
	}
}

/* Who leaves a port frees its address on it, whoever else is there. */
static void addresses_come_and_go_on_a_port(struct kunit *test)
{
	static const enum where wheres[] = { ONE4, TWO4, ONE6 };
	struct rdma_cm_id *ids[ARRAY_SIZE(wheres)], *id;
	unsigned int i, leaves;

	for (i = 0; i < ARRAY_SIZE(wheres); i++) {
		ids[i] = use(wheres[i], 4100, RDMA_PS_TCP, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ids[i]));
	}
	for (leaves = 0; leaves < ARRAY_SIZE(wheres); leaves++) {
		rdma_destroy_id(ids[leaves]);
		for (i = 0; i < ARRAY_SIZE(wheres); i++) {
			id = use(wheres[i], 4100, RDMA_PS_TCP, 0);
			KUNIT_EXPECT_EQ(test, IS_ERR(id), i != leaves);
			if (i == leaves)
				ids[i] = id;
		}
		KUNIT_ASSERT_FALSE(test, IS_ERR(ids[leaves]));
	}
	for (i = 0; i < ARRAY_SIZE(wheres); i++)
		rdma_destroy_id(ids[i]);
	id = use(ANY6, 4100, RDMA_PS_TCP, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	rdma_destroy_id(id);
}

static void port_spaces_are_apart(struct kunit *test)
{
	static const enum rdma_ucm_port_space spaces[] = {
		RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB, RDMA_PS_IPOIB
	};
	struct rdma_cm_id *id[4];
	int i;

	for (i = 0; i < 4; i++) {
		id[i] = use(ANY4, 5001, spaces[i], 0);
		KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(id[i]), "%d", i);
	}
	for (i = 0; i < 4; i++)
		if (!IS_ERR(id[i]))
			rdma_destroy_id(id[i]);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY4, 5001, 0x999, 0)),
			-EPROTONOSUPPORT);
}

/* The service ID of an AF_IB address determines the port space. */
static void the_service_id_says_the_port_space(struct kunit *test)
{
	struct rdma_cm_id *ib, *tcp;

	ib = use(ANY_IB, 5002, RDMA_PS_IB, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ib));
	KUNIT_EXPECT_EQ(test, cma_of(ib)->port_ps, RDMA_PS_TCP);
	tcp = use(ANY_IB, 5002, RDMA_PS_TCP, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(tcp), -EADDRINUSE);
	/* The id is for datagrams, the service ID for streams. */
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY_IB, 5002, RDMA_PS_UDP, 0)),
			-EPROTONOSUPPORT);
	rdma_destroy_id(ib);
}

/* A service ID of which only the port space is told gets a free port. */
static void a_service_id_gets_a_port(struct kunit *test)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_sid = cpu_to_be64(RDMA_IB_IP_PS_TCP),
		.sib_sid_mask = cpu_to_be64(RDMA_IB_IP_PS_MASK),
	};
	struct sockaddr_ib *src;
	u16 port;

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	src = (struct sockaddr_ib *)&id->route.addr.src_addr;
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, (struct sockaddr *)&ib), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(src->sib_sid_mask), U64_MAX);
	port = be64_to_cpu(src->sib_sid);
	KUNIT_EXPECT_NE(test, port, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY_IB, port, RDMA_PS_TCP, 0)), -EADDRINUSE);
	rdma_destroy_id(id);
}

static void a_free_port_is_found(struct kunit *test)
{
	u32 was = READ_ONCE(init_net.ipv4.ip_local_ports.range);
	struct rdma_cm_id *id[5];
	u32 seen = 0;
	int i;

	WRITE_ONCE(init_net.ipv4.ip_local_ports.range, 50003u << 16 | 50000);
	for (i = 0; i < 4; i++) {
		id[i] = use(ANY4, 0, RDMA_PS_UDP, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(id[i]));
		KUNIT_EXPECT_GE(test, port_of(id[i]), 50000);
		KUNIT_EXPECT_LE(test, port_of(id[i]), 50003);
		seen |= BIT(port_of(id[i]) - 50000);
	}
	KUNIT_EXPECT_EQ(test, seen, 0xf);
	id[4] = use(ANY4, 0, RDMA_PS_UDP, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(id[4]), -EADDRNOTAVAIL);
	/* A port that is released is found, wherever the search starts. */
	rdma_destroy_id(id[2]);
	id[2] = use(ONE6, 0, RDMA_PS_UDP, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(id[2]));
	WRITE_ONCE(init_net.ipv4.ip_local_ports.range, was);
	for (i = 0; i < 4; i++)
		if (!IS_ERR(id[i]))
			rdma_destroy_id(id[i]);
}

/* Returns an id with a port that was chosen for it, resolved to @port of the server. */
static struct rdma_cm_id *call(u16 port)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_UDP, IB_QPT_UD);
	struct sockaddr_storage dst;
	int ret;

	if (IS_ERR(id))
		return id;
	cma_forget(&pair.client);
	ret = rdma_resolve_addr(id, NULL, cma_sin(&dst, pair.server.ip4, port),
				TEST_TIMEOUT);
	if (!ret && cma_wait(&pair.client, "A"))
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(ret ?: -EPROTO);
}

static void drop_all(struct rdma_cm_id **id, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!IS_ERR_OR_NULL(id[i]))
			rdma_destroy_id(id[i]);
}

/*
 * Connections to one destination need a port each; one to another destination may have
 * the same port.
 */
static void share_two_ports(struct kunit *test)
{
	struct rdma_cm_id *id[6];
	int i, failed = 0;
	u16 port;

	for (i = 0; i < 6; i++) {
		id[i] = call(1 + i / 2);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(id[i]), 0, "%d", i);
		failed += IS_ERR(id[i]);
	}
	if (failed)
		goto out;
	for (i = 0; i < 6; i += 2)
		KUNIT_EXPECT_NE(test, port_of(id[i]), port_of(id[i + 1]));
	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(call(i)), -EADDRNOTAVAIL);
	/*
	 * An id without a destination, or one that requests a certain port, shares
	 * none.
	 */
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY4, 0, RDMA_PS_UDP, 0)),
			-EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY4, 50000, RDMA_PS_UDP, 0)),
			-EADDRINUSE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY4, 50001, RDMA_PS_UDP, SHARE)),
			-EADDRINUSE);
	/* A port that is released is free again, for that destination. */
	port = port_of(id[3]);
	rdma_destroy_id(id[3]);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(call(1)), -EADDRNOTAVAIL);
	id[3] = call(2);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(id[3]), 0);
	if (!IS_ERR(id[3]))
		KUNIT_EXPECT_EQ(test, port_of(id[3]), port);
out:
	drop_all(id, 6);
}

/* An id that was bound before it connects does not share its port. */
static void share_none(struct kunit *test)
{
	struct rdma_cm_id *id[2] = {
		use(ANY4, 0, RDMA_PS_UDP, 0), use(ANY4, 0, RDMA_PS_UDP, 0)
	};

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(call(1)), -EADDRNOTAVAIL);
	drop_all(id, 2);
}

/*
 * An id that shares its port may conflict with another when it resolves a new
 * destination.
 */
static void share_and_change(struct kunit *test)
{
	struct rdma_cm_id *id[2] = { call(1), call(1) };
	struct sockaddr_storage dst;
	struct rdma_cm_id *other;

	other = cma_new_id(&pair.client, RDMA_PS_UDP, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(other, NULL,
						cma_sin(&dst, htonl(0x0b010101), 1),
						TEST_TIMEOUT), -ENETUNREACH);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(other, NULL,
						cma_sin(&dst, pair.server.ip4, 1),
						TEST_TIMEOUT), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, cma_at(other), RDMA_CM_ADDR_BOUND);
	KUNIT_EXPECT_EQ(test, rdma_listen(other, 1), -EADDRINUSE);
	cma_forget(&pair.client);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(other, NULL,
						cma_sin(&dst, pair.server.ip4, 2),
						TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "A"));
	drop_all(id, 2);
	rdma_destroy_id(other);
}

/* A TCP port that was just used may be in TIME-WAIT: ports are not taken at random. */
static void a_port_comes_back_late(struct kunit *test)
{
	unsigned long *seen = kunit_kzalloc(test, BITS_TO_LONGS(65536) * sizeof(long),
					    GFP_KERNEL);
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int i, again = 0;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < 1000; i++) {
		id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_ASSERT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, pair.client.ip4, 0)),
				0);
		again += test_and_set_bit(port_of(id), seen);
		rdma_destroy_id(id);
	}
	KUNIT_EXPECT_EQ(test, again, 0);
}

static void a_port_for_every_destination(struct kunit *test)
{
	u32 was = READ_ONCE(init_net.ipv4.ip_local_ports.range);

	WRITE_ONCE(init_net.ipv4.ip_local_ports.range, 50001u << 16 | 50000);
	share_two_ports(test);
	share_none(test);
	share_and_change(test);
	WRITE_ONCE(init_net.ipv4.ip_local_ports.range, was);
}

static void privileged_ports(struct kunit *test)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;
	struct rdma_cm_id *id;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_clear(cred->cap_effective);
	old = override_creds(cred);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY4, 80, RDMA_PS_TCP, 0)), -EACCES);
	id = use(ANY4, 1024, RDMA_PS_TCP, 0);
	revert_creds(old);
	put_cred(cred);
	KUNIT_EXPECT_FALSE(test, IS_ERR(id));
	if (!IS_ERR(id))
		rdma_destroy_id(id);
	id = use(ANY4, 80, RDMA_PS_TCP, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(id));
	if (!IS_ERR(id))
		rdma_destroy_id(id);
}

static void addresses_that_cannot_be_bound(struct kunit *test)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	struct in6_addr linklocal = { .s6_addr = { 0xfe, 0x80, [15] = 9 } };
	struct sockaddr_storage addr;
	struct rdma_cm_id *other;

	cma_sin(&addr, 0, 5003);
	addr.ss_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, (struct sockaddr *)&addr),
			-EAFNOSUPPORT);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, htonl(0x0a4d4d4d), 5003)),
			-EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin6(&addr, &linklocal, 5003)),
			-EINVAL);
	((struct sockaddr_in6 *)&addr)->sin6_scope_id = 0x7777;
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, (struct sockaddr *)&addr), -ENODEV);
	KUNIT_EXPECT_EQ(test, cma_at(id), RDMA_CM_IDLE);
	KUNIT_EXPECT_EQ(test, id->route.addr.src_addr.ss_family, AF_UNSPEC);
	/* None of these calls left the port in use or the scope set. */
	other = use(ANY4, 5003, RDMA_PS_TCP, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(other));
	if (!IS_ERR(other))
		rdma_destroy_id(other);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, pair.client.ip4, 5003)),
			0);
	KUNIT_EXPECT_PTR_EQ(test, id->device, &pair.client.hca->ibdev);
	rdma_destroy_id(id);
}

static void a_linklocal_address_with_its_scope(struct kunit *test)
{
	struct sockaddr_storage addr, gid;
	struct rdma_cm_id *id;
	struct in6_addr ll = { .s6_addr = { 0xfe, 0x80 } };

	addrconf_addr_eui48(ll.s6_addr + 8, pair.client.ndev->dev_addr);
	id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	cma_sin6(&addr, &ll, 5004);
	((struct sockaddr_in6 *)&addr)->sin6_scope_id = pair.client.ndev->ifindex;
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	KUNIT_EXPECT_PTR_EQ(test, id->device, &pair.client.hca->ibdev);
	KUNIT_EXPECT_EQ(test, id->route.addr.dev_addr.bound_dev_if,
			pair.client.ndev->ifindex);
	rdma_read_gids(id, (union ib_gid *)&gid, NULL);
	KUNIT_EXPECT_MEMEQ(test, &gid, &ll, 16);
	rdma_destroy_id(id);
}

/*
 * Resolution replaces the wildcard by one address; the port is free again on the
 * others.
 */
static void resolution_narrows_the_claim(struct kunit *test)
{
	struct rdma_cm_id *id, *other;
	struct sockaddr_storage dst;

	id = use(ANY4, 5005, RDMA_PS_TCP, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(TWO4, 5005, RDMA_PS_TCP, 0)),
			-EADDRINUSE);
	pair.client.id = id;
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(id, NULL,
						cma_sin(&dst, pair.server.ip4, 1),
						TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "A"));
	KUNIT_EXPECT_EQ(test, port_of(id), 5005);
	other = use(TWO4, 5005, RDMA_PS_TCP, 0);
	KUNIT_EXPECT_FALSE(test, IS_ERR(other));
	if (!IS_ERR(other))
		rdma_destroy_id(other);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ONE4, 5005, RDMA_PS_TCP, 0)),
			-EADDRINUSE);
}

static void sharing_is_changed_when_bound(struct kunit *test)
{
	struct rdma_cm_id *a, *b, *four;

	a = use(ANY6, 5006, RDMA_PS_TCP, ONLY6);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	four = use(ANY4, 5006, RDMA_PS_TCP, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(four));
	KUNIT_EXPECT_EQ(test, rdma_set_afonly(a, 0), -EADDRINUSE);
	rdma_destroy_id(four);
	KUNIT_EXPECT_EQ(test, rdma_set_afonly(a, 0), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY4, 5006, RDMA_PS_TCP, 0)),
			-EADDRINUSE);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(use(ANY6, 5006, RDMA_PS_TCP, SHARE)),
			-EADDRINUSE);
	KUNIT_EXPECT_EQ(test, rdma_set_reuseaddr(a, 1), 0);
	b = use(ANY6, 5006, RDMA_PS_TCP, SHARE);
	KUNIT_EXPECT_FALSE(test, IS_ERR(b));
	KUNIT_EXPECT_EQ(test, rdma_set_reuseaddr(a, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_listen(a, 1), -EADDRINUSE);
	if (!IS_ERR(b))
		rdma_destroy_id(b);
	/* A failed rdma_listen() can be repeated. */
	KUNIT_EXPECT_EQ(test, rdma_listen(a, 1), 0);
	rdma_destroy_id(a);
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(who_fits_with_whom),
	KUNIT_CASE(addresses_come_and_go_on_a_port),
	KUNIT_CASE(port_spaces_are_apart),
	KUNIT_CASE(the_service_id_says_the_port_space),
	KUNIT_CASE(a_service_id_gets_a_port),
	KUNIT_CASE(a_free_port_is_found),
	KUNIT_CASE(a_port_comes_back_late),
	KUNIT_CASE(a_port_for_every_destination),
	KUNIT_CASE(privileged_ports),
	KUNIT_CASE(addresses_that_cannot_be_bound),
	KUNIT_CASE(a_linklocal_address_with_its_scope),
	KUNIT_CASE(resolution_narrows_the_claim),
	KUNIT_CASE(sharing_is_changed_when_bound),
	{}
};

static struct kunit_suite cma_port_suite = {
	.name = "rdma_cm_port",
	.init = port_test_init,
	.exit = port_test_exit,
	.test_cases = port_cases,
};

kunit_test_suite(cma_port_suite);
