// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast groups on InfiniBand, joined at the subnet administration. */
#include <rdma/ib_sa.h>
#include "cma/cma_test.h"
#include "wait.h"

static struct cma_pair pair;
static struct ib_sa_client sa_client;
static struct ib_sa_multicast *broadcast;
static int broadcast_status;

static int broadcast_done(int status, struct ib_sa_multicast *group)
{
	broadcast_status = status;
	return 0;
}

/*
 * Joins the broadcast group as IPoIB does; the other groups' parameters are taken from
 * its record.
 */
static int join_broadcast(void)
{
	struct ib_sa_mcmember_rec rec = {
		.join_state = 1,
		.pkey = cpu_to_be16(0xffff),
		.port_gid = pair.client.hca->port[1].gids[0],
	};
	int i;

	memcpy(&rec.mgid, pair.client.ndev->broadcast + 4, 16);
	broadcast_status = 1;
	broadcast = ib_sa_join_multicast(&sa_client, &pair.client.hca->ibdev, 1, &rec,
					 IB_SA_MCMEMBER_REC_MGID |
					 IB_SA_MCMEMBER_REC_PORT_GID |
					 IB_SA_MCMEMBER_REC_PKEY |
					 IB_SA_MCMEMBER_REC_JOIN_STATE, GFP_KERNEL,
					 broadcast_done, NULL);
	if (IS_ERR(broadcast))
		return PTR_ERR(broadcast);
	for (i = 0; i < 100 && broadcast_status > 0; i++)
		msleep(20);
	return broadcast_status;
}

static void leave_broadcast(void)
{
	if (!IS_ERR_OR_NULL(broadcast))
		ib_sa_free_multicast(broadcast);
	broadcast = NULL;
}

static int ib_mcast_init(struct kunit *test)
{
	int ret;

	ib_sa_register_client(&sa_client);
	ret = cma_pair_init_ib(test, &pair);
	return ret ?: join_broadcast();
}

static void ib_mcast_exit(struct kunit *test)
{
	cma_drop_id(&pair.client);
	leave_broadcast();
	cma_pair_exit_ib(test, &pair);
	ib_sa_unregister_client(&sa_client);
}

#define GROUP4	htonl(0xef010203)
#define FULL	BIT(FULLMEMBER_JOIN)

static struct rdma_cm_id *bound(enum rdma_ucm_port_space ps)
{
	struct sockaddr_storage addr;

	pair.client.qp_type = IB_QPT_UD;
	pair.client.id = cma_new_id(&pair.client, ps, IB_QPT_UD);
	if (rdma_bind_addr(pair.client.id, cma_sin(&addr, pair.client.ip4, 0)))
		return NULL;
	return pair.client.id;
}

static void an_ipv4_group(struct kunit *test)
{
	/* RFC 4391, section 4, with a signature of the CMA's own. */
	static const u8 mgid[] = { 0xff, 0x12, 0x40, 0x01, 0xff, 0xff, 0, 0,
				   0, 0, 0, 0, 0x0f, 1, 2, 3 };
	struct rdma_cm_id *id = bound(RDMA_PS_UDP);
	struct rdma_ud_param *ud = &pair.client.last.param.ud;
	struct sockaddr_storage addr;

	KUNIT_ASSERT_NOT_NULL(test, id);
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0), FULL,
						  &addr), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_EQ(test, ud->qp_num, 0xffffff);
	KUNIT_EXPECT_EQ(test, ud->qkey, RDMA_UDP_QKEY);
	KUNIT_EXPECT_PTR_EQ(test, (void *)ud->private_data, (void *)&addr);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&ud->ah_attr), 0xc001);
	KUNIT_EXPECT_MEMEQ(test, pair.client.sa_record, mgid, 16);
	rdma_leave_multicast(id, (struct sockaddr *)&addr);
}

static void the_groups_of_ipoib(struct kunit *test)
{
	static const u8 mgid[] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0,
				   0, 0, 0, 0, 0x0f, 1, 2, 3 };
	struct rdma_cm_id *id = bound(RDMA_PS_IPOIB);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_NOT_NULL(test, id);
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0), FULL,
						  NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_MEMEQ(test, pair.client.sa_record, mgid, 16);
	/* The Q_Key is that of the broadcast group. */
	KUNIT_EXPECT_EQ(test, pair.client.last.param.ud.qkey, 0x0b1b);
	KUNIT_EXPECT_EQ(test, cma_make_qp(&pair.client), 0);
}

static void an_ipv6_group(struct kunit *test)
{
	static const u8 mgid[] = { 0xff, 0x15, 0x60, 0x01, 0xff, 0xff, 0, 0,
				   0, 0, 0, 0, 0, 0, 0, 0x33 };
	struct in6_addr group = { .s6_addr = { 0xff, 0x15, [15] = 0x33 } };
	struct in6_addr ready = { .s6_addr = { 0xff, 0x12, 0xa0, 0x1b, [15] = 7 } };
	struct rdma_cm_id *id = bound(RDMA_PS_UDP);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_NOT_NULL(test, id);
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin6(&addr, &group, 0), FULL,
						  NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_EQ(test, pair.client.sa_record[0], mgid[0]);
	KUNIT_EXPECT_EQ(test, pair.client.sa_record[3], mgid[3]);
	KUNIT_EXPECT_EQ(test, pair.client.sa_record[15], mgid[15]);
	/* An MGID that is given as an IPv6 address is used unchanged. */
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin6(&addr, &ready, 0), FULL,
						  NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "MM"));
	KUNIT_EXPECT_MEMEQ(test, pair.client.sa_record, &ready, 16);
}

static void groups_by_ib_address(struct kunit *test)
{
	static const u8 zero[16], mgid[] = { 0xff, 0x12, 0xa0, 0x1b, [15] = 9 };
	struct rdma_cm_id *id = bound(RDMA_PS_UDP);
	struct sockaddr_storage addr;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)&addr;

	KUNIT_ASSERT_NOT_NULL(test, id);
	cma_sin_ib(&addr, NULL, RDMA_PS_UDP, 0);
	memcpy(&ib->sib_addr, mgid, 16);
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, (void *)&addr, FULL, NULL), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "M"));
	KUNIT_EXPECT_MEMEQ(test, pair.client.sa_record, mgid, 16);
	/* For the zero address the subnet administration chooses the group. */
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, 0, 0), FULL, NULL),
			0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "MM"));
	KUNIT_EXPECT_MEMEQ(test, pair.client.sa_record, zero, 16);
}

static void the_join_is_refused(struct kunit *test)
{
	struct rdma_cm_id *id = bound(RDMA_PS_UDP);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_NOT_NULL(test, id);
	pair.client.sa = SA_REFUSES;
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0), FULL,
						  &addr), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "m"));
	KUNIT_EXPECT_LT(test, pair.client.last.status, 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)pair.client.last.param.ud.private_data,
			    (void *)&addr);
	rdma_leave_multicast(id, (struct sockaddr *)&addr);
}

/* Neither leaving nor destruction waits for a response that may never arrive. */
static void left_before_the_answer(struct kunit *test)
{
	struct rdma_cm_id *id = bound(RDMA_PS_UDP);
	struct sockaddr_storage addr;
	unsigned long start;

	KUNIT_ASSERT_NOT_NULL(test, id);
	pair.client.sa = SA_SILENT;
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0), FULL,
						  NULL), 0);
	KUNIT_ASSERT_EQ(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4 + htonl(1), 0),
						  FULL, NULL), 0);
	msleep(50);
	start = jiffies;
	rdma_leave_multicast(id, (struct sockaddr *)&addr);
	cma_drop_id(&pair.client);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - start), 15000);
	msleep(2000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	pair.client.sa = SA_ANSWERS;
}

static void without_the_broadcast_group(struct kunit *test)
{
	struct rdma_cm_id *id = bound(RDMA_PS_IPOIB);
	struct sockaddr_storage addr;

	KUNIT_ASSERT_NOT_NULL(test, id);
	leave_broadcast();
	msleep(200);
	KUNIT_EXPECT_LT(test, rdma_join_multicast(id, cma_sin(&addr, GROUP4, 0), FULL,
						  NULL), 0);
	KUNIT_EXPECT_LT(test, cma_make_qp(&pair.client), 0);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
}

static struct kunit_case ib_mcast_cases[] = {
	KUNIT_CASE(an_ipv4_group),
	KUNIT_CASE(the_groups_of_ipoib),
	KUNIT_CASE(an_ipv6_group),
	KUNIT_CASE(groups_by_ib_address),
	KUNIT_CASE(the_join_is_refused),
	KUNIT_CASE(left_before_the_answer),
	KUNIT_CASE(without_the_broadcast_group),
	{}
};

static struct kunit_suite cma_ib_mcast_suite = {
	.name = "rdma_cm_ib_mcast",
	.init = ib_mcast_init,
	.exit = ib_mcast_exit,
	.test_cases = ib_mcast_cases,
};

kunit_test_suite(cma_ib_mcast_suite);
