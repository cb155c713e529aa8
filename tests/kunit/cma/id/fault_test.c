// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Each allocation of each code path fails once; afterwards everything is as before. */
#include "cma/cma_test.h"
#include "faults.h"

static struct cma_pair pair;

static int fault_test_init(struct kunit *test)
{
	return cma_pair_init(test, &pair);
}

static void fault_test_exit(struct kunit *test)
{
	cma_pair_exit(test, &pair);
}

static int new_id(struct kunit *test)
{
	struct rdma_cm_id *id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id))
		return PTR_ERR(id);
	rdma_destroy_id(id);
	return 0;
}

static void an_id(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, new_id), 1);
}

static int bind_id(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int ret;

	id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = rdma_bind_addr(id, cma_sin(&addr, pair.client.ip4, TEST_PORT));
	KUNIT_EXPECT_EQ(test, cma_at(id), ret ? RDMA_CM_IDLE : RDMA_CM_ADDR_BOUND);
	rdma_destroy_id(id);
	return ret;
}

static void binding(struct kunit *test)
{
	/* The id, the port's bucket, the claim. */
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, bind_id), 3);
}

static int listen_once(struct kunit *test)
{
	int ret = cma_listen(&pair);

	cma_drop_listener(&pair.server);
	return ret;
}

static void listening(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, listen_once), 5);
}

static int resolve_addr_once(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct rdma_cm_id *id;
	int ret;

	id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	pair.client.id = id;
	cma_forget(&pair.client);
	ret = rdma_resolve_addr(id, NULL, cma_sin(&addr, pair.server.ip4, TEST_PORT),
				TEST_TIMEOUT);
	if (!ret)
		KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "A"));
	else
		KUNIT_EXPECT_STREQ(test, pair.client.events, "");
	cma_drop_id(&pair.client);
	return ret;
}

static void resolving_an_address(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, resolve_addr_once), 2);
}

static int resolve_route_once(struct kunit *test)
{
	struct sockaddr_storage addr;
	unsigned int nth = current->fail_nth;
	int ret;

	current->fail_nth = 0;
	pair.client.id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	cma_forget(&pair.client);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(pair.client.id, NULL,
						cma_sin(&addr, pair.server.ip4,
							TEST_PORT), TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "A"));
	current->fail_nth = nth;
	ret = rdma_resolve_route(pair.client.id, TEST_TIMEOUT);
	nth = current->fail_nth;
	current->fail_nth = 0;
	KUNIT_EXPECT_TRUE(test, ret || cma_wait(&pair.client, "AR"));
	if (ret)
		KUNIT_EXPECT_EQ(test, cma_at(pair.client.id), RDMA_CM_ADDR_RESOLVED);
	cma_drop_id(&pair.client);
	current->fail_nth = nth;
	return ret;
}

static void resolving_a_route(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, resolve_route_once), 1);
}

static int qp_once(struct kunit *test)
{
	int ret = cma_make_qp(&pair.client);

	if (!ret)
		rdma_destroy_qp(pair.client.id);
	else
		KUNIT_EXPECT_NULL(test, pair.client.id->qp);
	return ret;
}

static void making_a_qp(struct kunit *test)
{
	KUNIT_ASSERT_NOT_NULL(test, cma_go_to(test, &pair, AT_ADDR_RESOLVED));
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, qp_once), 1);
}

/*
 * Fails the call's own allocations one by one.  If the call fails, the id can still be
 * used; if it succeeds without the allocation, the response arrives.  Returns how many
 * calls failed.
 */
static int connect_until_it_works(struct kunit *test,
				  void (*resolve)(struct kunit *test))
{
	int n, ret, failed = 0;
	bool hit = true;

	resolve(test);
	for (n = 1; hit && n < 200; n++) {
		current->fail_nth = n;
		ret = cma_request(&pair.client);
		hit = !current->fail_nth;
		current->fail_nth = 0;
		if (ret) {
			failed++;
			KUNIT_EXPECT_EQ(test, cma_at(pair.client.id),
					RDMA_CM_ROUTE_RESOLVED);
			continue;
		}
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&pair.client, "E"), "%d: %s", n,
				      pair.client.events);
		cma_drop_id(&pair.client);
		cma_forget(&pair.client);
		msleep(500);
		cma_drop_id(&pair.server);
		cma_forget(&pair.server);
		if (hit)
			resolve(test);
	}
	KUNIT_EXPECT_FALSE(test, hit);
	return failed;
}

static void resolve_tcp(struct kunit *test)
{
	cma_resolve(test, &pair);
}

static void connecting(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	KUNIT_EXPECT_GE(test, connect_until_it_works(test, resolve_tcp), 5);
}

static void resolve_udp(struct kunit *test)
{
	struct sockaddr_storage addr;

	cma_resolve_to(test, &pair.client, RDMA_PS_UDP,
		       cma_sin(&addr, pair.server.ip4, TEST_PORT));
}

static void asking_for_a_service(struct kunit *test)
{
	struct sockaddr_storage addr;

	pair.client.qp_type = IB_QPT_UD;
	pair.server.qp_type = IB_QPT_UD;
	KUNIT_ASSERT_EQ(test, cma_listen_at(&pair.server, RDMA_PS_UDP,
					    cma_sin(&addr, pair.server.ip4, TEST_PORT)),
			0);
	KUNIT_EXPECT_GE(test, connect_until_it_works(test, resolve_udp), 5);
}

/* A request that cannot be accepted is rejected. */
static void accepting(struct kunit *test)
{
	struct rdma_cm_id *id;
	unsigned int n;
	bool failed;
	int ret = -1;

	for (n = 1; ret && n < 50; n++) {
		id = cma_go_to(test, &pair, AT_REQUEST);
		KUNIT_ASSERT_NOT_NULL(test, id);
		KUNIT_ASSERT_EQ(test, cma_make_qp(&pair.server), 0);
		rdma_lock_handler(id);
		current->fail_nth = n;
		ret = rdma_accept(id, &pair.server.param);
		failed = !current->fail_nth;
		current->fail_nth = 0;
		rdma_unlock_handler(id);
		KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&pair.client, ret ? "ARJ" : "ARE"),
				      "%u: %d %s", n, ret, pair.client.events);
		/* Some allocations can be done without. */
		if (!ret && failed)
			ret = -1;
		cma_leave(test, &pair);
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GE(test, n, 2);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(an_id),
	KUNIT_CASE(binding),
	KUNIT_CASE(listening),
	KUNIT_CASE(resolving_an_address),
	KUNIT_CASE(resolving_a_route),
	KUNIT_CASE(making_a_qp),
	KUNIT_CASE(connecting),
	KUNIT_CASE(asking_for_a_service),
	KUNIT_CASE(accepting),
	{}
};

static struct kunit_suite cma_fault_suite = {
	.name = "rdma_cm_fault",
	.init = fault_test_init,
	.exit = fault_test_exit,
	.test_cases = fault_cases,
};

kunit_test_suite(cma_fault_suite);

/*
 * On InfiniBand the handling of a request first looks for a netdev: from there on its
 * allocations fail, a later one in each round.
 */
static int fault_ib_init(struct kunit *test)
{
	return cma_pair_init_ib(test, &pair);
}

static void fault_ib_exit(struct kunit *test)
{
	cma_pair_exit_ib(test, &pair);
}

/* A request that there was no memory for gets no response: the peer sends it again. */
static void requests(struct kunit *test)
{
	unsigned int n, unheard = 0;

	pair.server.own_qp = true;
	pair.server.on_request = CMA_WAIT;
	KUNIT_ASSERT_EQ(test, cma_listen(&pair), 0);
	for (n = 1; n < 50; n++) {
		cma_forget(&pair.client);
		cma_resolve(test, &pair);
		pair.server.fail_request = n;
		KUNIT_ASSERT_EQ(test, cma_request(&pair.client), 0);
		cma_quiesce(&pair);
		msleep(100);
		pair.server.fail_request = 0;
		if (!strcmp(pair.server.events, "Q") && pair.server.spared)
			break;
		if (strcmp(pair.server.events, "Q")) {
			unheard++;
			KUNIT_EXPECT_STREQ(test, pair.client.events, "");
			KUNIT_EXPECT_TRUE_MSG(test, cma_wait(&pair.server, "Q"),
					      "%u: %s", n, pair.client.events);
		}
		cma_drop_id(&pair.server);
		cma_forget(&pair.server);
		cma_drop_id(&pair.client);
	}
	KUNIT_EXPECT_GE(test, unheard, 2);
	KUNIT_ASSERT_NOT_NULL(test, pair.server.id);
	KUNIT_EXPECT_EQ(test, rdma_reject(pair.server.id, NULL, 0, 28), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "J"));
}

static int resolve_path_once(struct kunit *test)
{
	unsigned int nth = current->fail_nth;
	struct sockaddr_storage addr;
	int ret;

	current->fail_nth = 0;
	cma_forget(&pair.client);
	pair.client.id = cma_new_id(&pair.client, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, rdma_resolve_addr(pair.client.id, NULL,
						cma_sin(&addr, pair.server.ip4,
							TEST_PORT), TEST_TIMEOUT), 0);
	KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "A"));
	current->fail_nth = nth;
	ret = rdma_resolve_route(pair.client.id, TEST_TIMEOUT);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret)
		KUNIT_EXPECT_TRUE(test, cma_wait(&pair.client, "AR") ||
				  !strcmp(pair.client.events, "Ar"));
	cma_drop_id(&pair.client);
	current->fail_nth = nth;
	return ret;
}

static void path_queries(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, resolve_path_once), 2);
}

static struct kunit_case fault_ib_cases[] = {
	KUNIT_CASE_SLOW(requests),
	KUNIT_CASE(path_queries),
	{}
};

static struct kunit_suite cma_fault_ib_suite = {
	.name = "rdma_cm_fault_ib",
	.init = fault_ib_init,
	.exit = fault_ib_exit,
	.test_cases = fault_ib_cases,
};

kunit_test_suite(cma_fault_ib_suite);
