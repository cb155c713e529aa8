// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Datagrams: services resolved by SIDR, Q_Keys, multicast groups on RoCE. */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include "cma/cma_test.h"
#include "faults.h"

static struct cma_pair pair;

static int dgram_test_init(struct kunit *test)
{
	int ret = cma_pair_init(test, &pair);

	pair.client.qp_type = IB_QPT_UD;
	pair.server.qp_type = IB_QPT_UD;
	return ret;
}

static void dgram_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static void listen_udp(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_UDP,
					    cma_sin(&addr, pair.server.ip4, TEST_PORT)),
			0);
}

static void resolve_udp(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_resolve_to(test, &pair.client, RDMA_PS_UDP,
		       cma_sin(&addr, pair.server.ip4, TEST_PORT));
}

static void a_service_is_resolved(struct kunit *test)
{
	struct rdma_ud_param *got = &pair.server.last.param.ud;
	u8 data[181];

	memset(data, 0x5a, sizeof(data));
	listen_udp(test);
	resolve_udp(test);
	pair.client.param.private_data = data;
	pair.client.param.private_data_len = 181;
	KUNIT_EXPECT_EQ(test, cma_request(&pair.client), -EINVAL);
	pair.client.param.private_data_len = 180;
	pair.server.param.private_data = "here";
	pair.server.param.private_data_len = 5;
	pair.server.ece.vendor_id = 0x123456;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.server, "Q"));
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, got->private_data_len, 180);
	KUNIT_EXPECT_MEMEQ(test, pair.server.private_data, data, 180);
	KUNIT_EXPECT_EQ(test, pair.server.id->qp_type, IB_QPT_UD);
	got = &pair.client.last.param.ud;
	KUNIT_EXPECT_EQ(test, got->qp_num, pair.server.id->qp->qp_num);
	KUNIT_EXPECT_EQ(test, got->qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_STREQ(test, pair.client.private_data, "here");
	KUNIT_EXPECT_EQ(test, rdma_disconnect(pair.client.id), 0);
}

static void a_service_with_its_own_qkey(struct kunit *test)
{
	listen_udp(test);
	pair.server.own_qp = true;
	pair.server.param.qkey = 0x11223344;
	pair.client.own_qp = true;
	resolve_udp(test);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_EQ(test, pair.client.last.param.ud.qkey, 0x11223344);
	KUNIT_EXPECT_EQ(test, pair.client.last.param.ud.qp_num, pair.server.qpn);
}

/* A QP has one Q_Key: a client that has created it cannot use another of the server. */
static void another_qkey_than_the_qps(struct kunit *test)
{
	listen_udp(test);
	pair.server.own_qp = true;
	pair.server.param.qkey = 0x11223344;
	resolve_udp(test);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "a"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -EINVAL);
}

static void a_service_refuses(struct kunit *test)
{
	listen_udp(test);
	pair.server.on_request = CMA_REJECT;
	resolve_udp(test);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_EQ(test, pair.server.call, 0);
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_SIDR_REJECT);
}

static void no_such_service(struct kunit *test)
{
	struct sockaddr_storage addr;

	resolve_udp(test);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, IB_SIDR_UNSUPPORTED);
	cma_drop_id(&pair.client);
	cma_forget(&pair.client);
	/* The service ID has a listener, but at another address. */
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_UDP,
					    cma_sin6(&addr, &pair.server.ip6,
						     TEST_PORT)), 0);
	resolve_udp(test);
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_GT(test, pair.client.last.status, 0);
}

static void no_answer_from_the_service(struct kunit *test)
{
	resolve_udp(test);
	pair.client.drop[IBCM_SIDR_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, cma_sent(&pair.client, IBCM_SIDR_REQ), CMA_CM_RETRIES_MAX + 1);
}

static void the_handler_ends_the_client(struct kunit *test)
{
	listen_udp(test);
	resolve_udp(test);
	pair.client.destroy_on = 'E';
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "E"));
	KUNIT_EXPECT_TRUE(test, pair.client.destroyed);
}

/* ---- multicast ---- */

#define GROUP4	htonl(0xef010203)
static const struct in6_addr group6 = { .s6_addr = { 0xff, 0x05, [15] = 0x33 } };

static struct rdma_cm_id *bound_udp(struct cma_side *side, enum rdma_ucm_port_space ps)
{
	struct rdma_cm_id *id = cma_new_id(side, ps, IB_QPT_UD);
	struct sockaddr_storage addr;

	if (IS_ERR(id))
		return id;
	side->id = id;
	return rdma_bind_addr(id, cma_sin(&addr, side->ip4, 0)) ? NULL : id;
}

static bool host_is_member4(struct net_device *ndev, __be32 group)
{
	struct in_device *in_dev;
	struct ip_mc_list *mc;
	bool found = false;

	rtnl_lock();
	in_dev = __in_dev_get_rtnl(ndev);
	for (mc = in_dev ? rtnl_dereference(in_dev->mc_list) : NULL; mc;
	     mc = rtnl_dereference(mc->next_rcu))
		found |= mc->multiaddr == group;
	rtnl_unlock();
	return found;
}

static bool host_is_member6(struct net_device *ndev, const struct in6_addr *group)
{
	struct inet6_dev *in6_dev;
	struct ifmcaddr6 *mc;
	bool found = false;

	rtnl_lock();
	in6_dev = __in6_dev_get(ndev);
	for (mc = in6_dev ? rtnl_dereference(in6_dev->mc_list) : NULL; mc;
	     mc = rtnl_dereference(mc->next))
		found |= ipv6_addr_equal(&mc->mca_addr, group);
	rtnl_unlock();
	return found;
}

static void a_group_is_joined_and_left(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct rdma_ud_param *ud = &pair.client.last.param.ud;
	struct sockaddr_storage addr;
	int context;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0),
						  BIT(FULLMEMBER_JOIN), &context), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_EQ(test, ud->qp_num, 0xffffff);
	KUNIT_EXPECT_EQ(test, ud->qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_PTR_EQ(test, (void *)ud->private_data, (void *)&context);
	KUNIT_EXPECT_TRUE(test, host_is_member4(pair.client.ndev, GROUP4));
	rdma_leave_multicast(id, (struct sockaddr *)&addr);
	KUNIT_EXPECT_FALSE(test, host_is_member4(pair.client.ndev, GROUP4));
	/* A second leave has no effect. */
	rdma_leave_multicast(id, (struct sockaddr *)&addr);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "M");
}

static void an_ipv6_group(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin6(&addr, &group6, 0),
						  BIT(FULLMEMBER_JOIN), NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_TRUE(test, host_is_member6(pair.client.ndev, &group6));
	rdma_leave_multicast(id, (struct sockaddr *)&addr);
	KUNIT_EXPECT_FALSE(test, host_is_member6(pair.client.ndev, &group6));
}

/* An id that only sends does not make the host a member of the group. */
static void a_sender_is_no_member(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0),
						  BIT(SENDONLY_FULLMEMBER_JOIN), NULL),
			0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_FALSE(test, host_is_member4(pair.client.ndev, GROUP4));
}

static void joins_that_make_no_sense(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	u8 full = BIT(FULLMEMBER_JOIN);
	struct sockaddr_storage addr;
	struct rdma_cm_id *rc;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	cma_sin(&addr, GROUP4, 0);
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, (void *)&addr, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, (void *)&addr, 16, NULL), -EINVAL);
	cma_sin(&addr, pair.server.ip4, 0);
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, (void *)&addr, full, NULL),
			-EINVAL);
	cma_sin6(&addr, &pair.server.ip6, 0);
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, (void *)&addr, full, NULL),
			-EINVAL);
	addr.ss_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, (void *)&addr, full, NULL),
			-EINVAL);
	addr.ss_family = AF_IB;		/* RoCE has IP groups only */
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, (void *)&addr, full, NULL),
			-EINVAL);
	rc = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(rc, cma_sin(&addr, pair.client.ip4, 0)), 0);
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(rc, cma_sin(&addr, GROUP4, 0), full,
						  NULL), -EINVAL);
	rdma_destroy_id(rc);
	KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.client), 0);
	KUNIT_EXPECT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0), full,
						  NULL), -EINVAL);
	msleep(200);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
}

static int leave_group;

static int leaving_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct cma_side *side = id->context;
	struct sockaddr_storage addr;

	if (leave_group)
		rdma_leave_multicast(id, cma_sin(&addr, GROUP4, 0));
	return cma_handler(id, event) ?: side->destroyed;
}

static void left_from_the_handler(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	id->event_handler = leaving_handler;
	leave_group = 1;
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0),
						  BIT(FULLMEMBER_JOIN), NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	leave_group = 0;
	KUNIT_EXPECT_FALSE(test, host_is_member4(pair.client.ndev, GROUP4));
}

static void ended_by_the_handler(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	pair.client.destroy_on = 'M';
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0),
						  BIT(FULLMEMBER_JOIN), NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	msleep(100);
	KUNIT_EXPECT_FALSE(test, host_is_member4(pair.client.ndev, GROUP4));
}

/* Destruction of the id leaves the groups that the consumer did not leave. */
static void many_groups(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct sockaddr_storage addr;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, rdma_join_multicast(id,
							  cma_sin(&addr, GROUP4 + htonl(i / 2),
								  0),
							  BIT(FULLMEMBER_JOIN), NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "MMMM"));
	/* The first group was joined twice, and is left once. */
	rdma_leave_multicast(id, cma_sin(&addr, GROUP4, 0));
	KUNIT_EXPECT_TRUE(test, host_is_member4(pair.client.ndev, GROUP4));
	cma_drop_id(&pair.client);
	KUNIT_EXPECT_FALSE(test, host_is_member4(pair.client.ndev, GROUP4));
	KUNIT_EXPECT_FALSE(test, host_is_member4(pair.client.ndev, GROUP4 + htonl(1)));
}

static void the_qkey_is_the_groups_too(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	KUNIT_EXPECT_EQ(test, cma_of(id)->qkey, 0);
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0),
						  BIT(NONMEMBER_JOIN), NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_EQ(test, cma_of(id)->qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), 0);
}

/* Defect 13: each of the address handle's GID references must be dropped. */
static void no_gid_reference_is_left_by_joins(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);
	struct sockaddr_storage addr;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0),
							  BIT(FULLMEMBER_JOIN), NULL), 0);
		KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
		rdma_leave_multicast(id, (struct sockaddr *)&addr);
		cma_forget(&pair.client);
	}
	cma_drop_id(&pair.client);
	KUNIT_EXPECT_GT(test, cma_hw_gids(&pair.client, AF_INET), 0);
	cma_net_addr(pair.client.ndev, false, AF_INET, &pair.client.ip4, 24);
	msleep(500);
	KUNIT_EXPECT_EQ(test, cma_hw_gids(&pair.client, AF_INET), 0);
}

static int join_and_leave(struct kunit *test)
{
	struct sockaddr_storage addr;
	int ret;

	cma_forget(&pair.client);
	ret = rdma_join_multicast(pair.client.id, cma_sin(&addr, GROUP4, 0),
				  BIT(FULLMEMBER_JOIN), NULL);
	if (ret)
		return ret;
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "M"));
	rdma_leave_multicast(pair.client.id, (struct sockaddr *)&addr);
	return 0;
}

static void joins_without_memory(struct kunit *test)
{
	struct rdma_cm_id *id = bound_udp(&pair.client, RDMA_PS_UDP);

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(id));
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, join_and_leave), 1);
	KUNIT_EXPECT_FALSE(test, host_is_member4(pair.client.ndev, GROUP4));
}

static struct kunit_case dgram_cases[] = {
	KUNIT_CASE(a_service_is_resolved),
	KUNIT_CASE(a_service_with_its_own_qkey),
	KUNIT_CASE(another_qkey_than_the_qps),
	KUNIT_CASE(a_service_refuses),
	KUNIT_CASE(no_such_service),
	KUNIT_CASE_SLOW(no_answer_from_the_service),
	KUNIT_CASE(the_handler_ends_the_client),
	KUNIT_CASE(a_group_is_joined_and_left),
	KUNIT_CASE(an_ipv6_group),
	KUNIT_CASE(a_sender_is_no_member),
	KUNIT_CASE(joins_that_make_no_sense),
	KUNIT_CASE(left_from_the_handler),
	KUNIT_CASE(ended_by_the_handler),
	KUNIT_CASE(many_groups),
	KUNIT_CASE(the_qkey_is_the_groups_too),
	KUNIT_CASE(no_gid_reference_is_left_by_joins),
	KUNIT_CASE(joins_without_memory),
	{}
};

static struct kunit_suite cma_dgram_suite = {
	.name = "rdma_cm_dgram",
	.init = dgram_test_init,
	.exit = dgram_test_exit,
	.test_cases = dgram_cases,
};

kunit_test_suite(cma_dgram_suite);
