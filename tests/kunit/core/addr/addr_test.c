// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Resolving IP addresses to link addresses: routes, neighbours, timeouts. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <net/ip6_fib.h>
#include <net/ipv6_stubs.h>
#include <net/neighbour.h>
#include <rdma/ib.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <ibex/addr.h>
#include "addr_req.h"
#include "faults.h"

#define ADDR_NET	81

static const u8 peer_ha[MAX_ADDR_LEN] = { 2, 0x11, 0x22, 0x33, 0x44, 0x55 };
static struct roce roce;

static int addr_test_init(struct kunit *test)
{
	return roce_get(&roce, ADDR_NET);
}

static void addr_test_exit(struct kunit *test)
{
	roce_put(&roce);
}

static void sizes(struct kunit *test)
{
	struct __kernel_sockaddr_storage ss = {};
	struct sockaddr *sa = (struct sockaddr *)&ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ss;

	sa->sa_family = AF_INET;
	KUNIT_EXPECT_EQ(test, rdma_addr_size(sa), 16);
	KUNIT_EXPECT_EQ(test, rdma_addr_size_in6(in6), 16);
	sa->sa_family = AF_INET6;
	KUNIT_EXPECT_EQ(test, rdma_addr_size(sa), 28);
	KUNIT_EXPECT_EQ(test, rdma_addr_size_in6(in6), 28);
	KUNIT_EXPECT_EQ(test, rdma_addr_size_kss(&ss), 28);
	sa->sa_family = AF_IB;
	KUNIT_EXPECT_EQ(test, rdma_addr_size(sa), (int)sizeof(struct sockaddr_ib));
	KUNIT_EXPECT_EQ(test, rdma_addr_size_kss(&ss), (int)sizeof(struct sockaddr_ib));
	/* sockaddr_ib is longer than a sockaddr_in6. */
	KUNIT_EXPECT_EQ(test, rdma_addr_size_in6(in6), 0);
	sa->sa_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, rdma_addr_size(sa), 0);
	KUNIT_EXPECT_EQ(test, rdma_addr_size_kss(&ss), 0);
}

static int translate(const struct in6_addr *ip, int bound, u32 scope,
		     struct rdma_dev_addr *addr)
{
	struct sockaddr_storage ss = addr_sa(ip);

	*addr = (struct rdma_dev_addr){ .net = &init_net, .bound_dev_if = bound };
	if (scope)
		((struct sockaddr_in6 *)&ss)->sin6_scope_id = scope;
	return rdma_translate_ip((struct sockaddr *)&ss, addr);
}

static void a_local_address_has_its_device(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 1), v6 = roce_v6(&roce, 1);
	struct in6_addr other4 = roce_v4(&roce, 9), other6 = roce_v6(&roce, 9);
	struct in6_addr ll = { .s6_addr = { 0xfe, 0x80, [15] = 1 } };
	struct sockaddr ib = { .sa_family = AF_IB };
	struct rdma_dev_addr addr;

	KUNIT_EXPECT_EQ(test, translate(&v4, 0, 0, &addr), 0);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, roce.ndev->ifindex);
	KUNIT_EXPECT_EQ(test, addr.dev_type, ARPHRD_ETHER);
	KUNIT_EXPECT_MEMEQ(test, addr.src_dev_addr, roce.ndev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, addr.broadcast, roce.ndev->broadcast, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, translate(&v6, 0, 0, &addr), 0);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, roce.ndev->ifindex);

	KUNIT_EXPECT_EQ(test, translate(&other4, 0, 0, &addr), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, translate(&other6, 0, 0, &addr), -EADDRNOTAVAIL);
	/* If the caller names a device, it is not searched for by address. */
	KUNIT_EXPECT_EQ(test, translate(&other4, roce.ndev->ifindex, 0, &addr), 0);
	KUNIT_EXPECT_EQ(test, translate(&v4, 99999, 0, &addr), -ENODEV);
	/* The scope ID of a link-local address selects the device. */
	KUNIT_EXPECT_EQ(test, translate(&ll, 0, roce.ndev->ifindex, &addr), 0);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, roce.ndev->ifindex);
	KUNIT_EXPECT_EQ(test, translate(&ll, 0, 99999, &addr), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, rdma_translate_ip(&ib, &addr), -EINVAL);
}

static void expect_peer(struct kunit *test, struct addr_wait *w,
			const struct in6_addr *src)
{
	KUNIT_EXPECT_EQ(test, w->status, 0);
	KUNIT_EXPECT_MEMEQ(test, w->addr.dst_dev_addr, peer_ha, MAX_ADDR_LEN);
	KUNIT_EXPECT_MEMEQ(test, w->addr.src_dev_addr, roce.ndev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, w->addr.bound_dev_if, roce.ndev->ifindex);
	KUNIT_EXPECT_MEMEQ(test, &w->src, src, sizeof(*src));
}

static void known_neighbour(struct kunit *test, const struct in6_addr *src,
			    const struct in6_addr *dst)
{
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, dst, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, dst, 2000), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	expect_peer(test, &w, src);
	KUNIT_EXPECT_EQ(test, w.addr.hoplimit, 64);
	/* The path passes no router, so either RoCE version can be used. */
	KUNIT_EXPECT_EQ(test, w.addr.network, RDMA_NETWORK_IB);
	KUNIT_EXPECT_LE(test, took_ms(w.when - w.start), 20u);
}

static void a_known_neighbour_answers_at_once(struct kunit *test)
{
	struct in6_addr src4 = roce_v4(&roce, 1), dst4 = roce_v4(&roce, 2);
	struct in6_addr src6 = roce_v6(&roce, 1), dst6 = roce_v6(&roce, 2);

	known_neighbour(test, &src4, &dst4);
	known_neighbour(test, &src6, &dst6);
}

static int resolve_now(const struct in6_addr *dst, struct rdma_dev_addr *addr,
		       bool by_gid, struct sockaddr_in6 *chosen)
{
	struct sockaddr_storage sa = addr_sa(dst);

	return ibcore_addr_resolve_now(NULL, (struct sockaddr *)&sa, addr, by_gid,
				       (struct sockaddr *)chosen);
}

static void known_now(struct kunit *test, const struct in6_addr *src,
		      const struct in6_addr *known, const struct in6_addr *unknown)
{
	struct rdma_dev_addr addr = { .net = &init_net };
	struct sockaddr_storage want = addr_sa(src);
	struct sockaddr_in6 chosen;

	KUNIT_EXPECT_EQ(test, resolve_now(unknown, &addr, false, &chosen), -ENODATA);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, 0);

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, known, peer_ha), 0);
	KUNIT_EXPECT_EQ(test, resolve_now(known, &addr, false, &chosen), 0);
	KUNIT_EXPECT_MEMEQ(test, addr.dst_dev_addr, peer_ha, MAX_ADDR_LEN);
	KUNIT_EXPECT_EQ(test, addr.bound_dev_if, roce.ndev->ifindex);
	KUNIT_EXPECT_MEMEQ(test, &chosen, &want, rdma_addr_size((struct sockaddr *)&want));
	KUNIT_EXPECT_EQ(test, resolve_now(known, &addr, false, NULL), 0);
	/* By an SGID, which the caller does not pass. */
	KUNIT_EXPECT_EQ(test, resolve_now(known, &addr, true, &chosen), -EINVAL);
}

static void what_is_known_needs_no_request(struct kunit *test)
{
	struct in6_addr src4 = roce_v4(&roce, 1), src6 = roce_v6(&roce, 1);
	struct in6_addr dst4 = roce_v4(&roce, 6), dst6 = roce_v6(&roce, 6);
	struct in6_addr other4 = roce_v4(&roce, 7), other6 = roce_v6(&roce, 7);
	struct rdma_dev_addr addr = { .net = &init_net };
	struct in6_addr far = net_v4(0xc0000201);
	struct sockaddr_in6 chosen;

	known_now(test, &src4, &dst4, &other4);
	known_now(test, &src6, &dst6, &other6);
	KUNIT_EXPECT_EQ(test, resolve_now(&far, &addr, false, &chosen), -ENETUNREACH);
}

static void pending(struct kunit *test, const struct in6_addr *src,
		    const struct in6_addr *dst)
{
	struct addr_wait w;
	unsigned long answered;

	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, dst, 5000), 0);
	/* Not a whole second, when the route is looked up again in any case. */
	msleep(300);
	KUNIT_EXPECT_EQ(test, atomic_read(&w.calls), 0);
	/* The rdma_dev_addr is not written before the neighbour is resolved. */
	KUNIT_EXPECT_EQ(test, w.addr.bound_dev_if, 0);
	answered = jiffies;
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, dst, peer_ha), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	expect_peer(test, &w, src);
	KUNIT_EXPECT_LE(test, took_ms(w.when - answered), 20u);
}

static void an_answer_of_the_neighbour_ends_the_wait(struct kunit *test)
{
	struct in6_addr src4 = roce_v4(&roce, 1), dst4 = roce_v4(&roce, 3);
	struct in6_addr src6 = roce_v6(&roce, 1), dst6 = roce_v6(&roce, 3);

	pending(test, &src4, &dst4);
	pending(test, &src6, &dst6);
}

static void silence_ends_in_time(struct kunit *test)
{
	static const u32 timeouts[] = { 50, 700, 2500, 6000 };
	struct in6_addr dst = roce_v4(&roce, 4);
	struct addr_wait w;
	u32 ms;
	int i;

	/* After 3 s ARP has given up too, and begins anew. */
	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, timeouts[i]), 0);
		KUNIT_ASSERT_TRUE(test, wait_until(atomic_read(&w.calls)) ||
				  addr_wait(&w));
		KUNIT_EXPECT_EQ(test, w.status, -ETIMEDOUT);
		ms = jiffies_to_msecs(w.when - w.start);
		KUNIT_EXPECT_GE(test, ms, timeouts[i]);
		/* The timer wheel may fire an eighth late. */
		KUNIT_EXPECT_LE(test, ms / fake_hca_slow, timeouts[i] + 30 + timeouts[i] / 8);
		KUNIT_EXPECT_EQ(test, w.addr.bound_dev_if, 0);
	}
}

static void without_a_route_nothing_is_begun(struct kunit *test)
{
	struct in6_addr far4 = net_v4(0xc0000201), far6 = { .s6_addr = { 0x3f, 0xfe } };
	struct in6_addr src4 = roce_v4(&roce, 1), src6 = roce_v6(&roce, 1);
	struct in6_addr alien = roce_v4(&roce, 77);
	struct sockaddr ib = { .sa_family = AF_IB };
	struct addr_wait w;

	KUNIT_EXPECT_EQ(test, addr_start(&w, NULL, &far4, 1000), -ENETUNREACH);
	KUNIT_EXPECT_EQ(test, addr_start(&w, NULL, &far6, 1000), -ENETUNREACH);
	KUNIT_EXPECT_EQ(test, addr_start(&w, &src6, &src4, 1000), -EINVAL);
	KUNIT_EXPECT_LT(test, addr_start(&w, &alien, &src4, 1000), 0);
	KUNIT_EXPECT_EQ(test, rdma_resolve_ip(NULL, &ib, &w.addr, 1000, addr_called,
					      false, &w), -EINVAL);
	/* To resolve by an SGID the caller must pass one. */
	w.addr.sgid_attr = NULL;
	KUNIT_EXPECT_EQ(test, addr_start_by(&w, NULL, &src4, 1000, true), -EINVAL);
	msleep(1500);
	KUNIT_EXPECT_EQ(test, atomic_read(&w.calls), 0);
}

static void behind_a_router_only_v2_gets(struct kunit *test)
{
	struct in6_addr far4 = net_v4(0xc0000201), far6 = { .s6_addr = { 0x3f, 0xfe } };
	struct in6_addr gw4 = roce_v4(&roce, 5), gw6 = roce_v6(&roce, 5);
	struct in6_addr src4 = roce_v4(&roce, 1), src6 = roce_v6(&roce, 1);
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, net_route4(roce.ndev, true, htonl(0xc0000200), 24,
					 gw4.s6_addr32[3]), 0);
	KUNIT_ASSERT_EQ(test, net_route6(roce.ndev, true, &far6, 64, &gw6), 0);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &gw4, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &gw6, peer_ha), 0);

	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &far4, 1000), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	expect_peer(test, &w, &src4);
	KUNIT_EXPECT_EQ(test, w.addr.network, RDMA_NETWORK_IPV4);

	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &far6, 1000), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	expect_peer(test, &w, &src6);
	KUNIT_EXPECT_EQ(test, w.addr.network, RDMA_NETWORK_IPV6);
}

/* The route leads to lo, but the request reports the device that has the address. */
static void our_own_address_is_reached_by_its_device(struct kunit *test)
{
	struct in6_addr own[] = { roce_v4(&roce, 1), roce_v6(&roce, 1) };
	struct addr_wait w;
	int i;

	for (i = 0; i < ARRAY_SIZE(own); i++) {
		KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &own[i], 1000), 0);
		KUNIT_ASSERT_TRUE(test, addr_wait(&w));
		KUNIT_EXPECT_EQ(test, w.status, 0);
		KUNIT_EXPECT_EQ(test, w.addr.bound_dev_if, roce.ndev->ifindex);
		KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, roce.ndev->dev_addr,
				   ETH_ALEN);
		KUNIT_EXPECT_MEMEQ(test, w.addr.src_dev_addr, roce.ndev->dev_addr,
				   ETH_ALEN);
	}
}

/* The MAC is the one IP would use: the device's own, or a configured neighbour's. */
static void a_device_without_arp_asks_nobody(struct kunit *test)
{
	struct in6_addr dst = roce_v4(&roce, 6), known = roce_v4(&roce, 7);
	struct addr_wait w;

	KUNIT_ASSERT_EQ(test, net_arp(roce.ndev, false), 0);
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &dst, 1000), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.status, 0);
	KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, roce.ndev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_LE(test, took_ms(w.when - w.start), 20u);

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &known, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, addr_start(&w, NULL, &known, 1000), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.status, 0);
	KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, peer_ha, MAX_ADDR_LEN);
}

/* The local route is added some time after the address. */
static bool is_local6(const struct in6_addr *ip)
{
	struct flowi6 fl6 = { .daddr = *ip };
	struct dst_entry *dst;
	bool ret;

	dst = ipv6_stub->ipv6_dst_lookup_flow(&init_net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return false;
	ret = dst_rt6_info(dst)->rt6i_flags & RTF_LOCAL;
	dst_release(dst);
	return ret;
}

/* A request bound to one adapter resolves to that adapter, and to the other one's MAC. */
static void our_other_adapter_has_its_own_mac(struct kunit *test)
{
	struct in6_addr src = roce_v6(&roce, 1), dst = net_v6(0x00650001);
	struct net_device *other = fake_netdev_create("fother%d");
	struct addr_wait w;

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_EQ(test, net_addr6(other, true, &dst, 112), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(is_local6(&dst)));
	addr_prepare(&w);
	w.addr.bound_dev_if = roce.ndev->ifindex;
	KUNIT_EXPECT_EQ(test, addr_start_by(&w, &src, &dst, 1000, false), 0);
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.status, 0);
	KUNIT_EXPECT_EQ(test, w.addr.bound_dev_if, roce.ndev->ifindex);
	KUNIT_EXPECT_MEMEQ(test, w.addr.src_dev_addr, roce.ndev->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, other->dev_addr, ETH_ALEN);

	/* A request that is not bound resolves to the device that has the address. */
	KUNIT_EXPECT_EQ(test, addr_start(&w, NULL, &dst, 1000), 0);
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.addr.bound_dev_if, other->ifindex);
	KUNIT_EXPECT_MEMEQ(test, w.addr.src_dev_addr, other->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, other->dev_addr, ETH_ALEN);
	fake_netdev_destroy(other);
}

/* Of in-tree number 7: the caller's source address was overwritten with the found one. */
static void the_callers_source_is_not_written(struct kunit *test)
{
	struct sockaddr_in src = { .sin_family = AF_INET }, before = src;
	struct in6_addr dst = roce_v4(&roce, 2);
	struct sockaddr_storage to = addr_sa(&dst);
	struct addr_wait w;

	addr_prepare(&w);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, rdma_resolve_ip((struct sockaddr *)&src,
					      (struct sockaddr *)&to, &w.addr, 1000,
					      addr_called, false, &w), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_MEMEQ(test, &src, &before, sizeof(src));
	KUNIT_EXPECT_EQ(test, to.ss_family, AF_INET);
}

static void an_sgid_names_the_device(struct kunit *test)
{
	struct in6_addr src = roce_v4(&roce, 1), dst = roce_v4(&roce, 2);
	struct in6_addr v6 = roce_v6(&roce, 1);
	const struct ib_gid_attr *attr = roce_gid(&roce, &src);
	struct addr_wait w;

	KUNIT_ASSERT_NOT_NULL(test, attr);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	addr_prepare(&w);
	w.addr.sgid_attr = attr;
	KUNIT_EXPECT_EQ(test, addr_start_by(&w, &src, &dst, 1000, true), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&w));
	expect_peer(test, &w, &src);

	/* Once the GID has left the table it names no device. */
	KUNIT_ASSERT_EQ(test, fake_netdev_del_ipv4(roce.ndev, src.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(!roce_has_gid(roce.hca, &src,
							 attr->gid_type)));
	w.addr.sgid_attr = attr;
	KUNIT_EXPECT_EQ(test, addr_start_by(&w, NULL, &v6, 1000, true), -ENODEV);
	rdma_put_gid_attr(attr);
}

/* In-tree number 11: the hardware address was assumed to be as long as Ethernet's. */
static void a_link_address_has_the_length_of_its_device(struct kunit *test)
{
	struct in6_addr dst = net_v4(0x0a630002), gw = net_v4(0x0a630005);
	struct in6_addr far = net_v4(0xc0000201);
	struct net_device *ndev;
	u8 ha[MAX_ADDR_LEN] = {};
	struct addr_wait w;
	int i;

	for (i = 0; i < 20; i++)
		ha[i] = 0xa0 + i;
	ndev = fake_ipoib_create(ha);
	KUNIT_ASSERT_NOT_NULL(test, ndev);
	KUNIT_EXPECT_EQ(test, fake_netdev_add_ipv4(ndev, htonl(0x0a630001), 24), 0);
	ha[19] = 1;
	KUNIT_EXPECT_EQ(test, net_neighbour(ndev, &dst, ha), 0);
	KUNIT_EXPECT_EQ(test, addr_start(&w, NULL, &dst, 1000), 0);
	KUNIT_EXPECT_TRUE(test, addr_wait(&w));
	KUNIT_EXPECT_EQ(test, w.addr.dev_type, ARPHRD_INFINIBAND);
	KUNIT_EXPECT_MEMEQ(test, w.addr.dst_dev_addr, ha, MAX_ADDR_LEN);
	KUNIT_EXPECT_MEMEQ(test, w.addr.src_dev_addr, ndev->dev_addr, 20);
	/* The router's link address is not the GID of an address behind the router. */
	KUNIT_EXPECT_EQ(test, net_neighbour(ndev, &gw, ha), 0);
	KUNIT_EXPECT_EQ(test, net_route4(ndev, true, htonl(0xc0000200), 24,
					 gw.s6_addr32[3]), 0);
	KUNIT_EXPECT_EQ(test, addr_start(&w, NULL, &far, 1000), -EADDRNOTAVAIL);
	unregister_netdev(ndev);
}

static int resolve_once(struct kunit *test)
{
	struct in6_addr dst[] = { roce_v4(&roce, 2), roce_v6(&roce, 2) };
	struct addr_wait w;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(dst); i++) {
		ret = addr_start(&w, NULL, &dst[i], 1000);
		if (ret)
			return ret;
		/* The request was started without an error, so it must end. */
		KUNIT_EXPECT_TRUE(test, addr_wait(&w));
		if (w.status)
			return w.status;
	}
	return 0;
}

static void resolution_survives_each_failed_allocation(struct kunit *test)
{
	struct in6_addr v4 = roce_v4(&roce, 2), v6 = roce_v6(&roce, 2);

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &v4, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &v6, peer_ha), 0);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, resolve_once), 2u);
}

static struct kunit_case addr_cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(a_local_address_has_its_device),
	KUNIT_CASE(a_known_neighbour_answers_at_once),
	KUNIT_CASE(what_is_known_needs_no_request),
	KUNIT_CASE(an_answer_of_the_neighbour_ends_the_wait),
	KUNIT_CASE(silence_ends_in_time),
	KUNIT_CASE(without_a_route_nothing_is_begun),
	KUNIT_CASE(behind_a_router_only_v2_gets),
	KUNIT_CASE(our_own_address_is_reached_by_its_device),
	KUNIT_CASE(a_device_without_arp_asks_nobody),
	KUNIT_CASE(our_other_adapter_has_its_own_mac),
	KUNIT_CASE(the_callers_source_is_not_written),
	KUNIT_CASE(an_sgid_names_the_device),
	KUNIT_CASE(a_link_address_has_the_length_of_its_device),
	KUNIT_CASE(resolution_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_addr_suite = {
	.name = "ib_core_addr",
	.init = addr_test_init,
	.exit = addr_test_exit,
	.test_cases = addr_cases,
};

kunit_test_suite(ibcore_addr_suite);
