// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Link addresses that change: the peer's, and the client's by a bond's fail-over. */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/arp.h>
#include <net/netevent.h>
#include "cma/cma_test.h"
#include "wait.h"

static struct cma_pair pair;

static const u8 elsewhere[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x77 };

static int netevent_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void netevent_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static void peer_moves(const u8 *lladdr, u8 nud)
{
	cma_net_neigh(pair.client.ndev, AF_INET, &pair.server.ip4, lladdr, nud);
	msleep(500);
}

/* Calls the notifiers for the neighbour, whether it has changed or not. */
static void peer_is_announced(int times)
{
	struct neighbour *n = __neigh_lookup(&arp_tbl, &pair.server.ip4,
					     pair.client.ndev, 1);

	while (n && times--)
		call_netevent_notifiers(NETEVENT_NEIGH_UPDATE, n);
	if (n)
		neigh_release(n);
	msleep(500);
}

static void be_connecting(struct kunit *test)
{
	cma_resolve(test, &pair);
	pair.client.drop[IBCM_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
}

static void the_peer_moves_while_we_connect(struct kunit *test)
{
	unsigned long start;

	be_connecting(test);
	start = jiffies;
	peer_moves(elsewhere, NUD_PERMANENT);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -ETIMEDOUT);
	/* The event does not wait for the REQ's retries to time out. */
	KUNIT_EXPECT_LT(test, took_ms(pair.client.when - start), 1000);
	/* The CM's own time-out causes no further event. */
	msleep(150000);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "u");
}

/*
 * Defect 10: a move that is notified several times is reported once, and destruction
 * does not hang.
 */
static void one_move_told_many_times(struct kunit *test)
{
	be_connecting(test);
	rdma_lock_handler(pair.client.id);
	peer_moves(elsewhere, NUD_PERMANENT);
	peer_is_announced(50);
	rdma_unlock_handler(pair.client.id);
	peer_is_announced(50);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "u"));
	peer_is_announced(50);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "u");
	cma_drop_id(&pair.client);
	peer_is_announced(5);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "u");
}

static void destroyed_with_the_news_under_way(struct kunit *test)
{
	be_connecting(test);
	rdma_lock_handler(pair.client.id);
	peer_moves(elsewhere, NUD_PERMANENT);
	rdma_unlock_handler(pair.client.id);
	cma_drop_id(&pair.client);
	msleep(500);
	KUNIT_EXPECT_LE(test, atomic_read(&pair.client.nr_events), 1);
}

/* Defect 11: Ethernet addresses have six bytes; the bytes behind them do not count. */
static void the_same_address_again_is_no_move(struct kunit *test)
{
	struct rdma_dev_addr *dev_addr;

	be_connecting(test);
	dev_addr = &pair.client.id->route.addr.dev_addr;
	memset(dev_addr->dst_dev_addr + ETH_ALEN, 0xee,
	       sizeof(dev_addr->dst_dev_addr) - ETH_ALEN);
	peer_is_announced(3);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	/* A neighbour entry that is not valid is no move either. */
	peer_moves(NULL, NUD_FAILED);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
}

static void somebody_else_moves(struct kunit *test)
{
	__be32 other = htonl(0x0a010009);

	be_connecting(test);
	cma_net_neigh(pair.client.ndev, AF_INET, &other, elsewhere, NUD_PERMANENT);
	cma_net_neigh(pair.server.ndev, AF_INET, &pair.server.ip4, elsewhere,
		      NUD_PERMANENT);
	msleep(500);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
}

static void a_connection_that_is_up_stays_up(struct kunit *test)
{
	cma_connect(test, &pair);
	peer_moves(elsewhere, NUD_PERMANENT);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_CONNECT);
	KUNIT_EXPECT_EQ(test, rdma_disconnect(pair.client.id), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "DT"));
}

static void an_ipv6_peer_moves(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_resolve_to(test, &pair.client, RDMA_PS_TCP,
		       cma_sin6(&addr, &pair.server.ip6, TEST_PORT));
	pair.client.drop[IBCM_REQ] = -1;
	KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
	cma_net_neigh(pair.client.ndev, AF_INET6, &pair.server.ip6, elsewhere,
		      NUD_PERMANENT);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "u"));
}

static void the_handler_ends_the_id_that_lost_its_peer(struct kunit *test)
{
	be_connecting(test);
	pair.client.destroy_on = 'u';
	peer_moves(elsewhere, NUD_PERMANENT);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "u"));
	KUNIT_EXPECT_TRUE(test, pair.client.destroyed);
}

/* Notifies of a fail-over as a bond does; @ndev is a bond only during the call. */
static void fail_over(struct net_device *ndev, const u8 *lladdr)
{
	rtnl_lock();
	if (lladdr)
		eth_hw_addr_set(ndev, lladdr);
	ndev->flags |= IFF_MASTER;
	ndev->priv_flags |= IFF_BONDING;
	call_netdevice_notifiers(NETDEV_BONDING_FAILOVER, ndev);
	ndev->flags &= ~IFF_MASTER;
	ndev->priv_flags &= ~IFF_BONDING;
	rtnl_unlock();
	msleep(500);
}

static void a_bond_fails_over(struct kunit *test)
{
	cma_connect(test, &pair);
	/* A fail-over to a slave with the same address is not reported. */
	fail_over(pair.client.ndev, NULL);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	fail_over(pair.client.ndev, elsewhere);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "C"));
	KUNIT_EXPECT_STREQ(test, pair.server.events, "");
	KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_CONNECT);
}

static void no_bond_no_fail_over(struct kunit *test)
{
	cma_connect(test, &pair);
	rtnl_lock();
	eth_hw_addr_set(pair.client.ndev, elsewhere);
	call_netdevice_notifiers(NETDEV_BONDING_FAILOVER, pair.client.ndev);
	rtnl_unlock();
	msleep(500);
	KUNIT_EXPECT_STREQ(test, pair.client.events, "");
}

static void the_handler_ends_the_id_that_moved(struct kunit *test)
{
	cma_connect(test, &pair);
	pair.client.destroy_on = 'C';
	fail_over(pair.client.ndev, elsewhere);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "C"));
	KUNIT_EXPECT_TRUE(test, pair.client.destroyed);
}

static struct kunit_case netevent_cases[] = {
	KUNIT_CASE_SLOW(the_peer_moves_while_we_connect),
	KUNIT_CASE(one_move_told_many_times),
	KUNIT_CASE(destroyed_with_the_news_under_way),
	KUNIT_CASE(the_same_address_again_is_no_move),
	KUNIT_CASE(somebody_else_moves),
	KUNIT_CASE(a_connection_that_is_up_stays_up),
	KUNIT_CASE(an_ipv6_peer_moves),
	KUNIT_CASE(the_handler_ends_the_id_that_lost_its_peer),
	KUNIT_CASE(a_bond_fails_over),
	KUNIT_CASE(no_bond_no_fail_over),
	KUNIT_CASE(the_handler_ends_the_id_that_moved),
	{}
};

static struct kunit_suite cma_netevent_suite = {
	.name = "rdma_cm_netevent",
	.init = netevent_test_init,
	.exit = netevent_test_exit,
	.test_cases = netevent_cases,
};

kunit_test_suite(cma_netevent_suite);
