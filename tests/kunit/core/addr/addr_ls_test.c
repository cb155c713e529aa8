// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Addresses behind an IB router, which the local service resolves. */
#include <kunit/test.h>
#include <linux/if_arp.h>
#include "addr_req.h"
#include "faults.h"
#include "ls_daemon.h"

#define HEADER	((int)sizeof(struct rdma_ls_ip_resolve_header))
#define MANY	8

static const u8 own_ha[20] = { 0, 1, 2, 3, 0xfe, 0x80, [12] = 1, 2, 3, 4, 5, 6, 7, 8 };
static const u8 gw_ha[20] = { 0, 9, 9, 9, 0xfe, 0x80, [12] = 8, 7, 6, 5, 4, 3, 2, 1 };
static const union ib_gid far_gid = {
	.raw = { 0xfe, 0xc0, 0, 0, 0, 0, 0, 7, 11, 12, 13, 14, 15, 16, 17, 18 },
};

static struct ls_daemon lsd;
static struct net_device *ndev;
static struct in6_addr src4, gw4, far4, src6, gw6, far6;
static struct addr_wait addr, addrs[MANY];

static int addr_ls_test_init(struct kunit *test)
{
	struct in6_addr net6 = net_v6(0x00640000);
	int ret;

	src4 = net_v4(0x0a640001);
	gw4 = net_v4(0x0a640005);
	far4 = net_v4(0xc6336401);
	src6 = net_v6(0x00630001);
	gw6 = net_v6(0x00630005);
	far6 = net_v6(0x00640001);
	ndev = fake_ipoib_create(own_ha);
	if (!ndev)
		return -ENOMEM;
	ret = fake_netdev_add_ipv4(ndev, src4.s6_addr32[3], 24) ?:
	      net_addr6(ndev, true, &src6, 112) ?:
	      net_neighbour(ndev, &gw4, gw_ha) ?:
	      net_neighbour(ndev, &gw6, gw_ha) ?:
	      net_route4(ndev, true, htonl(0xc6336400), 24, gw4.s6_addr32[3]) ?:
	      net_route6(ndev, true, &net6, 112, &gw6) ?:
	      lsd_open(&lsd);
	return ret ?: lsd_set_timeout(&lsd, 2000);
}

static void addr_ls_test_exit(struct kunit *test)
{
	lsd_close(&lsd);
	if (ndev)
		unregister_netdev(ndev);
	ndev = NULL;
}

static int answer(const void *gid, int len)
{
	struct sk_buff *skb = lsd_answer(&lsd, NLM_F_ACK);

	nla_put(skb, LS_NLA_TYPE_DGID, len, gid);
	return lsd_send(&lsd, skb);
}

static int answer_far(void)
{
	return answer(&far_gid, sizeof(far_gid));
}

static void expect_far(struct kunit *test, struct addr_wait *w,
		       const struct in6_addr *src)
{
	u8 ha[MAX_ADDR_LEN] = {};

	memcpy(ha + 4, &far_gid, sizeof(far_gid));
	KUNIT_ASSERT_TRUE(test, addr_wait(w));
	KUNIT_EXPECT_EQ(test, w->status, 0);
	KUNIT_EXPECT_MEMEQ(test, w->addr.dst_dev_addr, ha, MAX_ADDR_LEN);
	KUNIT_EXPECT_MEMEQ(test, w->addr.src_dev_addr, own_ha, sizeof(own_ha));
	KUNIT_EXPECT_EQ(test, w->addr.dev_type, ARPHRD_INFINIBAND);
	KUNIT_EXPECT_EQ(test, w->addr.bound_dev_if, ndev->ifindex);
	KUNIT_EXPECT_EQ(test, w->addr.hoplimit, 64);
	KUNIT_EXPECT_EQ(test, w->addr.network, RDMA_NETWORK_IB);
	KUNIT_EXPECT_MEMEQ(test, &w->src, src, sizeof(*src));
}

static void the_answer_is_where_it_leads(struct kunit *test)
{
	const struct nlattr *ip;

	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 5000), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, RDMA_NL_GET_OP(lsd_msg(&lsd)->nlmsg_type),
			RDMA_NL_LS_OP_IP_RESOLVE);
	KUNIT_EXPECT_EQ(test, *(u32 *)nlmsg_data(lsd_msg(&lsd)), ndev->ifindex);
	ip = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_IPV4);
	KUNIT_ASSERT_NOT_NULL(test, ip);
	KUNIT_EXPECT_EQ(test, nla_len(ip), 4);
	KUNIT_EXPECT_EQ(test, nla_get_be32(ip), htonl(0xc6336401));
	KUNIT_EXPECT_EQ(test, atomic_read(&addr.calls), 0);
	KUNIT_EXPECT_EQ(test, answer_far(), 0);
	expect_far(test, &addr, &src4);

	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far6, 5000), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	ip = lsd_attr(&lsd, HEADER, LS_NLA_TYPE_IPV6);
	KUNIT_ASSERT_NOT_NULL(test, ip);
	KUNIT_EXPECT_EQ(test, nla_len(ip), 16);
	KUNIT_EXPECT_MEMEQ(test, nla_data(ip), &far6, sizeof(far6));
	KUNIT_EXPECT_EQ(test, answer_far(), 0);
	expect_far(test, &addr, &src6);
	/* The response of the local service ends the request at once. */
	KUNIT_EXPECT_LE(test, took_ms(addr.when - addr.start), 50u);
}

static void the_router_itself_is_a_neighbour(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &gw4, 5000), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&addr));
	KUNIT_EXPECT_EQ(test, addr.status, 0);
	KUNIT_EXPECT_MEMEQ(test, addr.addr.dst_dev_addr, gw_ha, sizeof(gw_ha));
	KUNIT_EXPECT_FALSE(test, lsd_receive(&lsd));
}

static void without_a_daemon_there_is_no_address(struct kunit *test)
{
	lsd_close(&lsd);
	KUNIT_EXPECT_EQ(test, addr_start(&addr, NULL, &far4, 1000), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, addr_start(&addr, NULL, &far6, 1000), -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, atomic_read(&addr.calls), 0);
}

static void a_refusal_means_no_address(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 60000), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, lsd_refuse(&lsd), LSD_NO_ACK);
	KUNIT_ASSERT_TRUE(test, addr_wait(&addr));
	KUNIT_EXPECT_EQ(test, addr.status, -EADDRNOTAVAIL);
	KUNIT_EXPECT_EQ(test, addr.addr.bound_dev_if, 0);
	KUNIT_EXPECT_LE(test, took_ms(addr.when - addr.start), 50u);
}

/* The request ends when the timeout of the daemon, or its own, has passed. */
static void silence_ends_in_time(struct kunit *test)
{
	unsigned int took;

	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 60000), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&addr));
	KUNIT_EXPECT_EQ(test, addr.status, -EADDRNOTAVAIL);
	took = jiffies_to_msecs(addr.when - addr.start);
	KUNIT_EXPECT_GE(test, took, 2000u);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, 2100u);

	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 1300), 0);
	KUNIT_ASSERT_TRUE(test, addr_wait(&addr));
	KUNIT_EXPECT_EQ(test, addr.status, -ETIMEDOUT);
	took = jiffies_to_msecs(addr.when - addr.start);
	KUNIT_EXPECT_GE(test, took, 1300u);
	KUNIT_EXPECT_LE(test, took / fake_hca_slow, 1400u);
	/* Its question has ended too: a late response changes nothing. */
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, answer_far(), 0);
	msleep(2500);
	KUNIT_EXPECT_EQ(test, atomic_read(&addr.calls), 1);
}

static void malformed_answers_are_none(struct kunit *test)
{
	static const union ib_gid none, multicast = { .raw = { 0xff, 0x12, [15] = 1 } };
	static const struct {
		const void *gid;
		int len;
	} bad[] = {
		{ &far_gid, 15 }, { &far_gid, 0 }, { &none, 16 }, { &multicast, 16 },
	};
	struct sk_buff *skb;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 5000), 0);
		KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
		KUNIT_EXPECT_EQ(test, answer(bad[i].gid, bad[i].len), -EINVAL);
		KUNIT_ASSERT_TRUE(test, addr_wait(&addr));
		KUNIT_EXPECT_EQ(test, addr.status, -EADDRNOTAVAIL);
	}
	/* A response without a GID; one with an unknown mandatory attribute. */
	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 5000), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, lsd_answer(&lsd, NLM_F_ACK)), -EINVAL);
	KUNIT_ASSERT_TRUE(test, addr_wait(&addr));
	KUNIT_EXPECT_EQ(test, addr.status, -EADDRNOTAVAIL);
	KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 5000), 0);
	KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
	skb = lsd_answer(&lsd, NLM_F_ACK);
	nla_put(skb, LS_NLA_TYPE_DGID, sizeof(far_gid), &far_gid);
	nla_put_u32(skb, LS_NLA_TYPE_TCLASS | RDMA_NLA_F_MANDATORY, 1);
	KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), -EOPNOTSUPP);
	KUNIT_ASSERT_TRUE(test, addr_wait(&addr));
	KUNIT_EXPECT_EQ(test, addr.status, -EADDRNOTAVAIL);
}

static void a_request_given_up_while_it_is_asked(struct kunit *test)
{
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, addr_start(&addr, NULL, &far4, 5000), 0);
		if (i)
			KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
		/* In the last round the response arrives just before the cancel. */
		if (i == 2)
			KUNIT_EXPECT_EQ(test, answer_far(), 0);
		rdma_addr_cancel(&addr.addr);
		if (i == 1)
			KUNIT_EXPECT_EQ(test, answer_far(), 0);
		if (i < 2) {
			msleep(3000);
			KUNIT_EXPECT_EQ(test, atomic_read(&addr.calls), 0);
		}
	}
	msleep(3000);
	KUNIT_EXPECT_LE(test, atomic_read(&addr.calls), 1);
}

/* Responses are matched to their requests, though they arrive in reverse order. */
static void each_request_has_its_own_answer(struct kunit *test)
{
	static u32 seq[MANY];
	union ib_gid gid = far_gid;
	struct sk_buff *skb;
	int i;

	for (i = 0; i < MANY; i++) {
		KUNIT_ASSERT_EQ(test, addr_start(&addrs[i], NULL, i & 1 ? &far4 : &far6,
						 5000), 0);
		KUNIT_ASSERT_TRUE(test, lsd_question(&lsd));
		seq[i] = lsd_msg(&lsd)->nlmsg_seq;
	}
	for (i = MANY - 1; i >= 0; i--) {
		gid.raw[15] = i + 1;
		skb = lsd_new(RDMA_NL_LS_OP_IP_RESOLVE, seq[i], 0);
		nla_put(skb, LS_NLA_TYPE_DGID, sizeof(gid), &gid);
		KUNIT_EXPECT_EQ(test, lsd_send(&lsd, skb), LSD_NO_ACK);
	}
	for (i = 0; i < MANY; i++) {
		KUNIT_ASSERT_TRUE(test, addr_wait(&addrs[i]));
		KUNIT_EXPECT_EQ(test, addrs[i].status, 0);
		KUNIT_EXPECT_EQ(test, addrs[i].addr.dst_dev_addr[19], i + 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&addrs[i].calls), 1);
	}
}

/* Allocations of the work that sends the question fail, one at a time. */
static void resolve_far(struct kunit *test)
{
	if (addr_start(&addr, NULL, &far4, 5000))
		return;
	if (lsd_question(&lsd))
		answer_far();
	/*
	 * Without an error from addr_start() it must end,
	 * if only by the daemon's timeout.
	 */
	KUNIT_EXPECT_TRUE(test, addr_wait(&addr));
	KUNIT_EXPECT_TRUE(test, !addr.status || addr.status == -ENOMEM ||
			  addr.status == -EADDRNOTAVAIL);
}

static void nothing(struct kunit *test)
{
}

static void resolution_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_worker_allocation(test, resolve_far, nothing),
			2u);
	resolve_far(test);
	expect_far(test, &addr, &src4);
}

static struct kunit_case addr_ls_cases[] = {
	KUNIT_CASE(the_answer_is_where_it_leads),
	KUNIT_CASE(the_router_itself_is_a_neighbour),
	KUNIT_CASE(without_a_daemon_there_is_no_address),
	KUNIT_CASE(a_refusal_means_no_address),
	KUNIT_CASE(silence_ends_in_time),
	KUNIT_CASE(malformed_answers_are_none),
	KUNIT_CASE(a_request_given_up_while_it_is_asked),
	KUNIT_CASE(each_request_has_its_own_answer),
	KUNIT_CASE_SLOW(resolution_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_addr_ls_suite = {
	.name = "ib_core_addr_ls",
	.init = addr_ls_test_init,
	.exit = addr_ls_test_exit,
	.test_cases = addr_ls_cases,
};

kunit_test_suite(ibcore_addr_ls_suite);
