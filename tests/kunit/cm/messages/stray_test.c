// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages that no id owns, whose sender's path or address handle must first be
 * resolved: they delay neither each other nor messages that belong to an id.
 */
#include <net/ipv6.h>
#include "cm/cm_test.h"
#include "wait.h"

#define CROWD	(IBCM_MAX_RESOLVING + 20)

static struct cm_pair pair;

static int stray_test_init(struct kunit *test)
{
	return cm_pair_init(test, &pair);
}

/* The first @slow creations of an address handle wait for @slow_ms. */
static atomic_t slow, waiting;
static unsigned int slow_ms;

static void wait_for_handle(struct fake_hca *hca)
{
	if (atomic_dec_if_positive(&slow) < 0)
		return;
	atomic_inc(&waiting);
	msleep(slow_ms);
	atomic_dec(&waiting);
}

static void be_slow(int n, unsigned int ms)
{
	atomic_set(&slow, n);
	atomic_set(&waiting, 0);
	slow_ms = ms;
	pair.server.hca->on_create_ah = wait_for_handle;
}

static void stray_test_exit(struct kunit *test)
{
	atomic_set(&slow, 0);
	while (atomic_read(&waiting))
		msleep(100);
	cm_pair_exit(&pair);
}

static int sent(enum ibcm_kind kind)
{
	return atomic_read(&pair.server.wire[kind]);
}

/* Injects the MAD at a port, as if from the @n-th other node. */
static void inject_at(u32 port, int n, const void *mad)
{
	struct fake_hca_packet like;

	cm_packet(&pair.client, &pair.server, &like);
	like.port = port;
	like.slid = 0x1000 + n;
	like.dlid = pair.server.hca->port[port].lid;
	cm_gid(&pair.server, port, &like.dgid);
	fake_hca_inject(pair.server.hca, 1, &like, mad, IB_MGMT_MAD_SIZE);
	fake_hca_flush(pair.server.hca);
}

static void inject_from(int n, const void *mad)
{
	inject_at(1, n, mad);
}

/*
 * Injects REQs of CROWD nodes at port 1; those that it serves at once wait for a
 * handle.
 */
static void crowd(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	int i;

	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	for (i = 0; i < CROWD; i++) {
		IBA_SET(CM_REQ_LOCAL_COMM_ID, (struct cm_req_msg *)mad, 0x70000 + i);
		IBA_SET(CM_REQ_LOCAL_QPN, (struct cm_req_msg *)mad, 0x70000 + i);
		inject_from(i, mad);
		if (i % 16 == 0)
			usleep_range(1000, 1100);
	}
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, atomic_read(&waiting), IBCM_MAX_RESOLVING);
}

static void nobody_waits_for_another(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	be_slow(1, 2000);
	cm_mad(&pair.client, &pair.server, IBCM_DREQ, mad);
	IBA_SET(CM_DREQ_REMOTE_COMM_ID, (struct cm_dreq_msg *)mad, 0x7654321);
	inject_from(1, mad);
	cm_quiesce(&pair);
	KUNIT_ASSERT_EQ(test, atomic_read(&waiting), 1);
	inject_from(2, mad);
	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	inject_from(3, mad);
	cm_quiesce(&pair);
	KUNIT_EXPECT_EQ(test, sent(IBCM_DREP), 1);
	KUNIT_EXPECT_EQ(test, sent(IBCM_REJ), 1);
	msleep(3000);
	KUNIT_EXPECT_EQ(test, sent(IBCM_DREP), 2);
}

/* More requests wait than a workqueue has workers for. */
static void connections_do_not_wait_for_requests(struct kunit *test)
{
	cm_connect(test, &pair);
	msleep(500);
	be_slow(CROWD, 4000);
	crowd(test);
	/* The REQs that have no worker yet use up the remaining slow handles. */
	pair.server.on_dreq = CM_WAIT;
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	msleep(100);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "D");
	atomic_set(&slow, 0);
}

/*
 * A copy of a REQ and a REJ arrive while the first REQ's address handle is being
 * created: they are handled after it.
 */
static void what_comes_meanwhile_comes_after(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	struct cm_rej_msg *rej = (void *)mad;
	__be64 guid;

	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	be_slow(1, 500);
	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	guid = pair.client.hca->ibdev.node_guid;
	inject_from(1, mad);
	cm_quiesce(&pair);
	KUNIT_ASSERT_EQ(test, atomic_read(&waiting), 1);
	inject_from(1, mad);
	cm_mad(&pair.client, &pair.server, IBCM_REJ, mad);
	IBA_SET(CM_REJ_REASON, rej, IB_CM_REJ_TIMEOUT);
	IBA_SET(CM_REJ_REMOTE_COMM_ID, rej, 0);
	IBA_SET(CM_REJ_REJECTED_INFO_LENGTH, rej, sizeof(guid));
	memcpy(IBA_GET_MEM_PTR(CM_REJ_ARI, rej), &guid, sizeof(guid));
	inject_from(1, mad);
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.server, "QJ"));
}

static void two_ports(struct kunit *test)
{
	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init_ports(test, &pair, 2), 0);
	pair.server.hca->quirks.max_ah = 0;
	pair.server.on_req = CM_WAIT;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
}

static void ports_do_not_wait_for_one_another(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];

	two_ports(test);
	be_slow(CROWD, 4000);
	crowd(test);
	atomic_set(&slow, 0);
	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	inject_at(2, CROWD, mad);
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
}

/*
 * Port 1 has as many requests waiting for the consumer as may wait; port 2 is not
 * affected.
 */
static void ports_do_not_share_what_may_wait(struct kunit *test)
{
	struct ibcm_listener *listener;
	u8 mad[IB_MGMT_MAD_SIZE];

	two_ports(test);
	listener = to_ibcm(pair.server.listener)->listener;
	atomic_add(IBCM_MAX_UNDELIVERED, &listener->undelivered[0]);
	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	inject_at(1, 1, mad);
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	inject_at(2, 2, mad);
	cm_quiesce(&pair);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "Q");
	atomic_sub(IBCM_MAX_UNDELIVERED, &listener->undelivered[0]);
}

/* Returns how long the destruction of the server's listener takes, in ms. */
static unsigned int end_listener(void)
{
	unsigned long start = jiffies;

	ib_destroy_cm_id(xchg(&pair.server.listener, NULL));
	return took_ms(jiffies - start);
}

static void expect_no_listener(struct kunit *test, int answers)
{
	struct cm_rej_msg *rej = (void *)pair.server.mad[IBCM_REJ];

	KUNIT_EXPECT_TRUE(test, wait_within(sent(IBCM_REJ) == answers, 10000));
	KUNIT_EXPECT_EQ(test, IBA_GET(CM_REJ_REASON, rej), IB_CM_REJ_INVALID_SERVICE_ID);
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
}

/*
 * The listener's destruction waits for the REQs that are being resolved, not for those
 * that are queued.
 */
static void a_listener_does_not_wait_for_a_queue(struct kunit *test)
{
	pair.server.hca->quirks.max_ah = 0;
	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	be_slow(CROWD, 2000);
	crowd(test);
	KUNIT_EXPECT_LT(test, end_listener(), 2500u);
	expect_no_listener(test, CROWD);
}

/*
 * The REQ's address handle takes half a second; then its path, to a peer that does not
 * exist, would take a whole second.
 */
static void a_listener_waits_for_one_step(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	struct cm_req_msg *req = (void *)mad;
	struct in6_addr nobody;
	int rejs;

	cm_pair_exit(&pair);
	KUNIT_ASSERT_EQ(test, cm_pair_init_roce(test, &pair), 0);
	cm_connect(test, &pair);
	cm_drop_id(&pair.client);
	cm_drop_id(&pair.server);
	KUNIT_EXPECT_TRUE(test, wait_within(!cm_ahs(&pair.server), 5000));
	/* Addresses that are resolved by now stay so. */
	pair.server.ndev->flags &= ~IFF_NOARP;
	cm_forget(&pair.server);
	cm_mad(&pair.client, &pair.server, IBCM_REQ, mad);
	ipv6_addr_set_v4mapped(htonl(CLIENT_IP ^ 0x40), &nobody);
	memcpy(IBA_GET_MEM_PTR(CM_REQ_PRIMARY_LOCAL_PORT_GID, req), &nobody, 16);
	IBA_SET(CM_REQ_LOCAL_QPN, req, 0x70000);
	rejs = sent(IBCM_REJ);
	be_slow(1, 500);
	cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
	KUNIT_EXPECT_TRUE(test, wait_within(atomic_read(&waiting), 5000));
	KUNIT_EXPECT_LT(test, end_listener(), 900u);
	expect_no_listener(test, rejs + 1);
}

static struct kunit_case stray_cases[] = {
	KUNIT_CASE(nobody_waits_for_another),
	KUNIT_CASE_SLOW(connections_do_not_wait_for_requests),
	KUNIT_CASE(what_comes_meanwhile_comes_after),
	KUNIT_CASE_SLOW(ports_do_not_wait_for_one_another),
	KUNIT_CASE(ports_do_not_share_what_may_wait),
	KUNIT_CASE_SLOW(a_listener_does_not_wait_for_a_queue),
	KUNIT_CASE(a_listener_waits_for_one_step),
	{}
};

static struct kunit_suite ibcm_stray_suite = {
	.name = "ib_cm_stray",
	.init = stray_test_init,
	.exit = stray_test_exit,
	.test_cases = stray_cases,
};

kunit_test_suite(ibcm_stray_suite);
