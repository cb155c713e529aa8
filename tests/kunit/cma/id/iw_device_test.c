// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The iWARP device and port that an id is bound to, and the id when they are removed. */
#include <linux/kthread.h>
#include "cma/cma_test.h"
#include "wait.h"

static struct cma_pair pair;
static struct cma_side *const side = &pair.client;
static struct cma_prov prov;

static int iw_device_init(struct kunit *test)
{
	return cma_pair_init_iw(test, &pair, &prov, NULL);
}

static void iw_device_exit(struct kunit *test)
{
	cma_pair_exit_iw(test, &pair);
}

/* An address that only of_port()'s @ndev has, and a peer's in its subnet. */
static const __be32 elsewhere = htonl(0x0a020001);
static const __be32 far_away = htonl(0x0a020002);

/*
 * A listener on an address of @ndev and the id of a request to it are both bound to
 * @port.
 */
static void of_port(struct kunit *test, struct net_device *ndev, u32 port)
{
	struct sockaddr_storage addr, peer;

	KUNIT_ASSERT_EQ(test, cma_net_addr(ndev, true, AF_INET, &elsewhere, 24), 0);
	side->on_request = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, cma_listen_at(side, RDMA_PS_TCP,
					    cma_sin(&addr, elsewhere, TEST_PORT)), 0);
	KUNIT_EXPECT_PTR_EQ(test, side->listener->device, &side->hca->ibdev);
	KUNIT_EXPECT_EQ(test, side->listener->port_num, port);

	cma_prov_report(&prov, prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL,
			(struct sockaddr *)&addr, cma_sin(&peer, far_away, 1));
	KUNIT_ASSERT_TRUE(test, cma_wait(side, "Q"));
	KUNIT_EXPECT_PTR_EQ(test, side->id->device, &side->hca->ibdev);
	KUNIT_EXPECT_EQ(test, side->id->port_num, port);
	KUNIT_EXPECT_EQ(test, side->id->route.addr.dev_addr.bound_dev_if, ndev->ifindex);
	cma_drop_id(side);
	cma_drop_listener(side);
	cma_net_addr(ndev, false, AF_INET, &elsewhere, 24);
}

static void of_the_second_port(struct kunit *test)
{
	of_port(test, side->ndev2, 2);
}

/*
 * A VLAN on a port's netdev belongs to the port: the provider tags what it sends there.
 */
static void of_a_vlan(struct kunit *test)
{
	struct net_device *vlan = cma_net_vlan(side->ndev, 7);

	KUNIT_ASSERT_NOT_NULL(test, vlan);
	of_port(test, vlan, 1);
	cma_net_vlan_end(vlan);
}

static void of_no_port(struct kunit *test)
{
	struct net_device *ndev = cma_net_create();
	struct sockaddr_storage addr, peer;

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	KUNIT_EXPECT_EQ(test, cma_net_addr(ndev, true, AF_INET, &elsewhere, 24), 0);
	side->on_request = CMA_WAIT;
	KUNIT_EXPECT_EQ(test, cma_listen_at(side, RDMA_PS_TCP,
					    cma_sin(&addr, elsewhere, TEST_PORT)), -ENODEV);
	/*
	 * The adapter may accept a request to an address of another netdev, as hosts
	 * may.
	 */
	KUNIT_ASSERT_EQ(test, cma_listen_at(side, RDMA_PS_TCP,
					    cma_sin(&addr, 0, TEST_PORT)), 0);
	cma_prov_report(&prov, prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL,
			cma_sin(&addr, elsewhere, TEST_PORT), cma_sin(&peer, far_away, 1));
	KUNIT_EXPECT_TRUE(test, cma_wait(side, "Q"));
	KUNIT_EXPECT_EQ(test, side->id->port_num, 1);
	cma_drop_id(side);
	cma_drop_listener(side);
	fake_netdev_destroy(ndev);
}

/* How far an id is when its device is removed. */
enum iw_stage {
	IW_BOUND, IW_RESOLVED, IW_ROUTE, IW_CONNECTING, IW_UP, IW_ENDING, IW_CLOSED,
	IW_LISTENING, IW_ASKED, IW_ACCEPTED, IW_ESTABLISHED_PASSIVE, IW_STAGES
};

static const char * const iw_stage_names[IW_STAGES] = {
	"bound", "address resolved", "route resolved", "connecting", "up", "ending",
	"closed", "listening", "asked about", "accepted", "up, passive",
};

static void report(enum iw_cm_event_type type)
{
	struct sockaddr_storage local, remote;

	cma_prov_report(&prov, prov.cm_id, type, 0, NULL,
			cma_sin(&local, side->ip4, TEST_PORT),
			cma_sin(&remote, pair.server.ip4, 1));
}

static void go_active(struct kunit *test, enum iw_stage stage)
{
	struct sockaddr_storage addr;

	if (stage < IW_ROUTE) {
		side->id = cma_new_id(side, RDMA_PS_TCP, IB_QPT_RC);
		KUNIT_ASSERT_FALSE(test, IS_ERR(side->id));
		KUNIT_EXPECT_EQ(test, rdma_bind_addr(side->id,
						     cma_sin(&addr, side->ip4, 0)), 0);
		if (stage == IW_BOUND)
			return;
		KUNIT_EXPECT_EQ(test, rdma_resolve_addr(side->id, NULL,
							cma_sin(&addr, pair.server.ip4, 1),
							TEST_TIMEOUT), 0);
		KUNIT_EXPECT_TRUE(test, cma_wait(side, "A"));
		return;
	}
	cma_resolve_to(test, side, RDMA_PS_TCP, cma_sin(&addr, pair.server.ip4, TEST_PORT));
	if (stage == IW_ROUTE)
		return;
	KUNIT_ASSERT_EQ(test, cma_request(side), 0);
	if (stage == IW_CONNECTING)
		return;
	report(IW_CM_EVENT_CONNECT_REPLY);
	KUNIT_EXPECT_TRUE(test, cma_wait(side, "E"));
	if (stage >= IW_ENDING)
		KUNIT_EXPECT_EQ(test, rdma_disconnect(side->id), 0);
	if (stage == IW_CLOSED) {
		report(IW_CM_EVENT_CLOSE);
		KUNIT_EXPECT_TRUE(test, cma_wait(side, "ED"));
	}
}

static void go_passive(struct kunit *test, enum iw_stage stage)
{
	struct sockaddr_storage addr, peer;

	side->on_request = stage == IW_ASKED ? CMA_WAIT : CMA_ACCEPT;
	KUNIT_ASSERT_EQ(test, cma_listen_at(side, RDMA_PS_TCP,
					    cma_sin(&addr, side->ip4, TEST_PORT)), 0);
	if (stage == IW_LISTENING)
		return;
	cma_prov_report(&prov, prov.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, NULL,
			(struct sockaddr *)&addr, cma_sin(&peer, pair.server.ip4, 1));
	KUNIT_EXPECT_TRUE(test, cma_wait(side, "Q"));
	if (stage == IW_ESTABLISHED_PASSIVE) {
		report(IW_CM_EVENT_ESTABLISHED);
		KUNIT_EXPECT_TRUE(test, cma_wait(side, "QE"));
	}
}

static struct completion gone;

static int remove_it(void *hca)
{
	fake_hca_destroy(hca);
	complete(&gone);
	return 0;
}

static int removals(void)
{
	const char *at = side->events;
	int n = 0;

	while ((at = strchr(at, 'X'))) {
		at++;
		n++;
	}
	return n;
}

/*
 * Removal reports an event to each id, once, and waits until the ids are destroyed.  It
 * does not wait for any event of the provider.
 */
static void removed_at(struct kunit *test, enum iw_stage stage)
{
	int ids = 1 + (stage > IW_LISTENING);

	init_completion(&gone);
	if (stage < IW_LISTENING)
		go_active(test, stage);
	else
		go_passive(test, stage);
	kthread_run(remove_it, side->hca, "remove");
	KUNIT_EXPECT_TRUE_MSG(test, wait_within(removals() == ids, 5000), "%s: %s",
			      iw_stage_names[stage], side->events);
	KUNIT_EXPECT_FALSE_MSG(test, completion_done(&gone), "%s", iw_stage_names[stage]);
	cma_drop_id(side);
	cma_drop_listener(side);
	ib_free_cq(side->cq);
	ib_dealloc_pd(side->pd);
	KUNIT_EXPECT_NE_MSG(test, wait_for_completion_timeout(&gone, 10 * HZ), 0ul, "%s",
			    iw_stage_names[stage]);
	side->hca = NULL;
	KUNIT_EXPECT_EQ_MSG(test, removals(), ids, "%s: %s", iw_stage_names[stage],
			    side->events);
	/* A late event of the connection that the provider still has. */
	if (prov.cm_id)
		report(IW_CM_EVENT_CLOSE);
	msleep(200);
	KUNIT_EXPECT_EQ(test, removals(), ids);
}

static void goes_at_each_stage(struct kunit *test)
{
	enum iw_stage stage;

	for (stage = 0; stage < IW_STAGES; stage++) {
		removed_at(test, stage);
		cma_pair_exit_iw(test, &pair);
		KUNIT_ASSERT_EQ(test, cma_pair_init_iw(test, &pair, &prov, NULL), 0);
	}
}

static struct kunit_case iw_device_cases[] = {
	KUNIT_CASE(of_the_second_port),
	KUNIT_CASE(of_a_vlan),
	KUNIT_CASE(of_no_port),
	KUNIT_CASE(goes_at_each_stage),
	{}
};

static struct kunit_suite cma_iw_device_suite = {
	.name = "rdma_cm_iwarp_device",
	.init = iw_device_init,
	.exit = iw_device_exit,
	.test_cases = iw_device_cases,
};

kunit_test_suite(cma_iw_device_suite);
