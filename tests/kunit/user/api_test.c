// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a process may ask of a device, and which devices it may ask. */
#include "commands.h"

static bool has_node(struct kunit *test, bool user, enum rdma_nl_dev_type type)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .user = user,
	};
	struct fake_hca *hca = fake_hca_alloc(&params);
	struct uverbs_device *udev = NULL;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.type = type;
	if (fake_hca_register(hca)) {
		KUNIT_FAIL(test, "no device");
		fake_hca_free(hca);
		return false;
	}
	udev = uverbs_device_get(&hca->ibdev);
	if (udev)
		uverbs_device_put(udev);
	fake_hca_destroy(hca);
	return udev;
}

static void devices_that_serve_no_process_have_no_node(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, has_node(test, true, 0));
	KUNIT_EXPECT_FALSE(test, has_node(test, false, 0));
	KUNIT_EXPECT_FALSE(test, has_node(test, true, RDMA_DEVICE_TYPE_SMI));
}

static int api_test_init(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .user = true,
	};

	test->priv = fake_hca_create(&params);
	return test->priv ? 0 : -ENOMEM;
}

static void api_test_exit(struct kunit *test)
{
	if (test->priv)
		fake_hca_destroy(test->priv);
}

static struct kunit_case api_cases[] = {
	KUNIT_CASE(devices_that_serve_no_process_have_no_node),
	{}
};

struct kunit_suite uverbs_api_suite = {
	.name = "uverbs_api",
	.init = api_test_init,
	.exit = api_test_exit,
	.test_cases = api_cases,
};
