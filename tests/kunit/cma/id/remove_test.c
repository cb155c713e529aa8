// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The device is removed at each stage of an id. */
#include <linux/kthread.h>
#include "cma/cma_test.h"

static struct cma_pair pair;

static int remove_test_init(struct kunit *test)
{
	return 0;
}

static void remove_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static struct fake_hca *going;
static struct completion gone;

static int go(void *arg)
{
	fake_hca_destroy(going);
	complete(&gone);
	return 0;
}

/*
 * Removes the device in a thread, as removal waits until the consumer destroys its ids.
 */
static void remove_device(struct kunit *test, struct cma_side *side)
{
	struct task_struct *task;

	init_completion(&gone);
	going = side->hca;
	task = kthread_run(go, NULL, "going");
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	if (IS_ERR(task))
		complete(&gone);
	msleep(500);
}

static void free_queues(struct cma_side *side)
{
	ib_free_cq(side->cq);
	ib_dealloc_pd(side->pd);
}

static void wait_for_removal(struct kunit *test, struct cma_side *side)
{
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&gone, 60 * HZ), 0);
	side->hca = NULL;
}

static void expect_dead(struct kunit *test, struct rdma_cm_id *id, const char *name)
{
	struct rdma_conn_param param = {};
	struct sa_path_rec path = {};
	struct sockaddr_storage addr;

	KUNIT_EXPECT_EQ_MSG(test, cma_at(id), RDMA_CM_DEVICE_REMOVAL, "%s", name);
	KUNIT_EXPECT_FALSE_MSG(test, completion_done(&gone), "%s", name);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL,
						cma_sin(&addr, pair.server.ip4, 1),
						TEST_TIMEOUT), -ENETDOWN);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(id, TEST_TIMEOUT), -ENETDOWN);
	KUNIT_EXPECT_EQ(test, rdma_set_ib_path(id, &path), -ENETDOWN);
	KUNIT_EXPECT_EQ(test, rdma_connect(id, &param), -ENETDOWN);
	KUNIT_EXPECT_EQ(test, rdma_listen(id, 1), -ENETDOWN);
}

static bool had_removal(struct cma_side *side)
{
	return strchr(side->events, 'X');
}

static void removed_at(struct kunit *test, enum cma_stage stage)
{
	struct cma_side *side = stage >= AT_LISTEN ? &pair.server : &pair.client;
	const char *name = cma_stage_names[stage];
	struct rdma_cm_id *id;
	bool on_it;
	char *at;
	int n;

	KUNIT_ASSERT_EQ(test, cma_pair_init(test, &pair), 0);
	id = cma_go_to(test, &pair, stage);
	if (!id) {
		cma_pair_exit(test, &pair);
		return;
	}
	/*
	 * Only an id bound to the device delays removal; otherwise the PD and CQ must
	 * go first.
	 */
	on_it = stage != AT_IDLE && stage != AT_ADDR_QUERY;
	if (!on_it)
		free_queues(side);
	remove_device(test, side);
	if (!on_it) {
		KUNIT_EXPECT_FALSE_MSG(test, had_removal(side), "%s", name);
	} else {
		KUNIT_EXPECT_TRUE_MSG(test, had_removal(side), "%s: %s", name,
				      side->events);
		expect_dead(test, id, name);
	}
	n = atomic_read(&side->nr_events);
	msleep(10000);
	/* No event but removals follows. */
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&side->nr_events), n, "%s: %s", name,
			    side->events);
	at = strchr(side->events, 'X');
	KUNIT_EXPECT_TRUE_MSG(test, !at || strspn(at, "X") == strlen(at), "%s: %s", name,
			      side->events);
	cma_drop_listener(&pair.server);
	cma_drop_id(side);
	if (on_it)
		free_queues(side);
	wait_for_removal(test, side);
	cma_pair_exit(test, &pair);
}

static void at_each_stage(struct kunit *test)
{
	enum cma_stage stage;

	for (stage = 0; stage < CMA_STAGES; stage++)
		if (stage != AT_ROUTE_QUERY)	/* see during_a_path_query() */
			removed_at(test, stage);
}

static void during_a_path_query(struct kunit *test)
{
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, cma_pair_init_ib(test, &pair), 0);
	pair.client.sa = SA_SILENT;
	pair.client.id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_EQ(test, rdma_resolve_addr(pair.client.id, NULL,
						cma_sin(&addr, pair.server.ip4, 1),
						TEST_TIMEOUT), 0);
	KUNIT_ASSERT_TRUE(test, cma_wait(&pair.client, "A"));
	KUNIT_ASSERT_EQ(test, rdma_resolve_route(pair.client.id, 600000), 0);
	remove_device(test, &pair.client);
	KUNIT_EXPECT_TRUE_MSG(test, had_removal(&pair.client), "%s", pair.client.events);
	expect_dead(test, pair.client.id, "path query");
	cma_drop_id(&pair.client);
	free_queues(&pair.client);
	wait_for_removal(test, &pair.client);
	cma_pair_exit_ib(test, &pair);
}

/* The handler may destroy the id at once; then removal does not wait. */
static void ended_by_the_handler(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_pair_init(test, &pair), 0);
	pair.client.destroy_on = 'X';
	KUNIT_ASSERT_NOT_NULL(test, cma_go_to(test, &pair, AT_ADDR_RESOLVED));
	free_queues(&pair.client);
	fake_hca_destroy(pair.client.hca);
	pair.client.hca = NULL;
	KUNIT_EXPECT_STREQ(test, pair.client.events, "AX");
	KUNIT_EXPECT_TRUE(test, pair.client.destroyed);
}

/* A removed device is not found any more, nor is the hint to it used. */
static void its_addresses_are_nobodys(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;

	KUNIT_ASSERT_EQ(test, cma_pair_init(test, &pair), 0);
	id = cma_go_to(test, &pair, AT_BOUND);
	KUNIT_ASSERT_NOT_NULL(test, id);
	cma_drop_id(&pair.client);
	free_queues(&pair.client);
	fake_hca_destroy(pair.client.hca);
	pair.client.hca = NULL;
	id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_bind_addr(id, cma_sin(&addr, pair.client.ip4, 0)),
			-ENODEV);
	/* When the address resolves but has no device, an event reports the error. */
	pair.client.id = id;
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(id, NULL, cma_sin(&addr, pair.server.ip4,
								  TEST_PORT),
						TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "a"));
	KUNIT_EXPECT_EQ(test, pair.client.last.status, -ENODEV);
	KUNIT_EXPECT_EQ(test, cma_at(id), RDMA_CM_ADDR_BOUND);
}

/* 9999: as if the netdev were deleted, whose number no other has; 0: as of AF_IB. */
static void set_netdev_at(struct kunit *test, enum cma_stage stage, int ifindex)
{
	KUNIT_ASSERT_EQ(test, cma_pair_init(test, &pair), 0);
	KUNIT_ASSERT_NOT_NULL(test, cma_go_to(test, &pair, stage));
	pair.client.id->route.addr.dev_addr.bound_dev_if = ifindex;
}

/* On RoCE the device goes after its netdev: the error is that of a device that goes. */
static void the_netdev_goes_first(struct kunit *test)
{
	struct rdma_conn_param param = {};

	set_netdev_at(test, AT_ADDR_RESOLVED, 9999);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), -ENETDOWN);
	cma_pair_exit(test, &pair);
	set_netdev_at(test, AT_ROUTE_RESOLVED, 9999);
	atomic_set(&pair.client.hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, rdma_connect(pair.client.id, &param), -ENETDOWN);
}

/* An id without a netdev has none that could go. */
static void no_netdev_at_all(struct kunit *test)
{
	set_netdev_at(test, AT_ADDR_RESOLVED, 0);
	KUNIT_EXPECT_EQ(test, rdma_resolve_route(pair.client.id, TEST_TIMEOUT), -ENODEV);
}

static struct kunit_case remove_cases[] = {
	KUNIT_CASE_SLOW(at_each_stage),
	KUNIT_CASE(during_a_path_query),
	KUNIT_CASE(ended_by_the_handler),
	KUNIT_CASE(its_addresses_are_nobodys),
	KUNIT_CASE(the_netdev_goes_first),
	KUNIT_CASE(no_netdev_at_all),
	{}
};

static struct kunit_suite cma_remove_suite = {
	.name = "rdma_cm_remove",
	.init = remove_test_init,
	.exit = remove_test_exit,
	.test_cases = remove_cases,
};

kunit_test_suite(cma_remove_suite);
