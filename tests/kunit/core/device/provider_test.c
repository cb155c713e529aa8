// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The adapter as each stock provider: it registers, works, and leaves nothing behind. */
#include <kunit/test.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "fake_hca.h"
#include "wait.h"

static struct net_device *ndev;
static struct fake_hca *hca;
static struct ib_cq *cq;
static struct ib_pd *pd;
static atomic_t done;

static int provider_test_init(struct kunit *test)
{
	ndev = fake_netdev_create("prov%d");
	return ndev ? 0 : -ENOMEM;
}

static void provider_gone(void)
{
	if (!IS_ERR_OR_NULL(cq))
		ib_free_cq(cq);
	if (!IS_ERR_OR_NULL(pd))
		ib_dealloc_pd(pd);
	if (hca)
		fake_hca_destroy(hca);
	cq = NULL;
	pd = NULL;
	hca = NULL;
}

static void provider_test_exit(struct kunit *test)
{
	provider_gone();
	if (ndev)
		fake_netdev_destroy(ndev);
}

static void provider_comes(struct kunit *test, const struct fake_hca_quirks *quirks,
			   const struct fake_hca_params *params)
{
	struct fake_hca *new = fake_hca_alloc(params);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, new);
	new->quirks = *quirks;
	ret = fake_hca_register(new);
	if (ret)
		fake_hca_free(new);
	else
		hca = new;
	KUNIT_ASSERT_EQ_MSG(test, ret, 0, "%s", quirks->provider);
}

static void provider_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status == IB_WC_SUCCESS)
		atomic_inc(&done);
}

/* One completion when the CQ is armed, and one right after it. */
static void completions_are_told_of(struct kunit *test)
{
	struct ib_cqe cqe = { .done = provider_done };
	struct ib_qp qp = { .device = &hca->ibdev };
	struct ib_wc wc = { .wr_cqe = &cqe, .qp = &qp, .opcode = IB_WC_SEND };
	int i;

	cq = ib_alloc_cq(&hca->ibdev, NULL, 16, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	for (i = 1; i < 4; i++) {
		atomic_set(&done, 0);
		fake_hca_complete(cq, &wc);
		fake_hca_complete(cq, &wc);
		KUNIT_EXPECT_TRUE_MSG(test, wait_within(atomic_read(&done) == 2, 5000), "%s",
				      hca->quirks.provider);
	}
}

static void an_address_is_taken(struct kunit *test)
{
	struct rdma_ah_attr attr = {
		.type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1, .ib.dlid = 7,
	};
	struct ib_ah *ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(ah), "%s", hca->quirks.provider);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static void it_serves(struct kunit *test)
{
	struct ib_port_attr attr;

	KUNIT_EXPECT_EQ(test, ib_query_port(&hca->ibdev, 1, &attr), 0);
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ERR);
	pd = ib_alloc_pd(&hca->ibdev, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	if (hca->link_layer == IB_LINK_LAYER_INFINIBAND && !hca->quirks.grh_required)
		an_address_is_taken(test);
	completions_are_told_of(test);
}

static void every_provider_comes_and_goes(struct kunit *test)
{
	const struct fake_hca_params kinds[] = {
		{ .link_layer = IB_LINK_LAYER_INFINIBAND },
		{ .link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev },
		{ .link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev, .iwarp = true },
	};
	const struct fake_hca_quirks *quirks;
	int i, kind;

	for (i = 0; (quirks = fake_hca_quirks_nth(i)); i++) {
		for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
			provider_comes(test, quirks, &kinds[kind]);
			it_serves(test);
			provider_gone();
		}
	}
	KUNIT_EXPECT_GE(test, i, 19);
}

static void they_are_found_by_name(struct kunit *test)
{
	const struct fake_hca_quirks *quirks;
	int i;

	for (i = 0; (quirks = fake_hca_quirks_nth(i)); i++)
		KUNIT_EXPECT_PTR_EQ(test, fake_hca_quirks_of(quirks->provider), quirks);
	KUNIT_EXPECT_NULL(test, fake_hca_quirks_of("nobody"));
	KUNIT_EXPECT_NULL(test, fake_hca_quirks_of("")->provider);
}

static struct kunit_case provider_cases[] = {
	KUNIT_CASE(every_provider_comes_and_goes),
	KUNIT_CASE(they_are_found_by_name),
	{}
};

static struct kunit_suite ibcore_provider_suite = {
	.name = "ib_core_provider",
	.init = provider_test_init,
	.exit = provider_test_exit,
	.test_cases = provider_cases,
};

kunit_test_suite(ibcore_provider_suite);
