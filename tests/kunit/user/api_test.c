// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a process may ask of a device, and which devices it may ask. */
#include "commands.h"

#define NODES	1100		/* more than Linux once had room for */

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

static struct uverbs_device *bare_device(struct fake_hca *hca)
{
	struct uverbs_device *udev = kzalloc(sizeof(*udev), GFP_KERNEL);

	if (!udev)
		return NULL;
	kref_init(&udev->ref);
	udev->ibdev = &hca->ibdev;
	if (!uverbs_node_add(udev))
		return udev;
	kfree(udev);
	return NULL;
}

/* As an adapter that is split into thousands of scalable functions has. */
static void there_are_thousands_of_nodes(struct kunit *test)
{
	struct uverbs_device **udevs;
	int i, n;

	udevs = kunit_kcalloc(test, NODES, sizeof(*udevs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, udevs);
	for (n = 0; n < NODES; n++) {
		udevs[n] = bare_device(test->priv);
		if (!udevs[n])
			break;
	}
	KUNIT_EXPECT_EQ(test, n, NODES);
	for (i = 0; i < n; i++) {
		uverbs_node_del(udevs[i]);
		KUNIT_EXPECT_EQ(test, kref_read(&udevs[i]->ref), 1u);
		kfree(udevs[i]);
	}
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
	KUNIT_CASE(there_are_thousands_of_nodes),
	{}
};

struct kunit_suite uverbs_api_suite = {
	.name = "uverbs_api",
	.init = api_test_init,
	.exit = api_test_exit,
	.test_cases = api_cases,
};
