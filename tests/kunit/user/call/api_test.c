// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The methods that a process can call on a device, and the nodes of devices. */
#define UVERBS_MODULE_NAME api_drv
#include <rdma/uverbs_named_ioctl.h>
#include "commands.h"
#include "methods.h"
#include "user/uverbs/race.h"

#define NODES	1100		/* more than Linux once supported */

/* ---- definitions ---- */

static const struct uverbs_attr_def first_attr = {
	.id = QUERY_HANDLE,
	.attr = { .type = UVERBS_ATTR_TYPE_PTR_IN, UVERBS_ATTR_TYPE(u32), UA_MANDATORY },
};

static const struct uverbs_attr_def last_attr = {
	.id = QUERY_OUT,
	.attr = { .type = UVERBS_ATTR_TYPE_PTR_OUT, UVERBS_ATTR_TYPE(u32), UA_OPTIONAL },
};

/* Definitions of a driver some of which are not in its configuration. */
static const struct uverbs_attr_def *const attrs_with_holes[] = {
	NULL, &first_attr, NULL, &last_attr, NULL,
};

static int with_holes(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

static const struct uverbs_method_def method_with_holes = {
	.id = THING_QUERY,
	.handler = with_holes,
	.num_attrs = ARRAY_SIZE(attrs_with_holes),
	.attrs = &attrs_with_holes,
};

static const struct uverbs_method_def *const methods_with_holes[] = {
	NULL, &method_with_holes,
};

static const struct uverbs_object_def object_with_holes = {
	.id = THING_OBJECT,
	.num_methods = ARRAY_SIZE(methods_with_holes),
	.methods = &methods_with_holes,
};

static const struct uapi_definition defs_with_holes[] = {
	{
		.kind = UAPI_DEF_CHAIN_OBJ_TREE,
		.object_start.object_id = THING_OBJECT,
		.chain_obj_tree = &object_with_holes,
	},
	{}
};

static void definitions_may_have_holes(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	const struct uapi_definition *own = hca->ibdev.driver_def;
	const struct uverbs_method *method;
	struct uverbs_api *api;
	unsigned int bkey;

	hca->ibdev.driver_def = defs_with_holes;
	api = uverbs_api_create(&hca->ibdev, uverbs_core_definitions);
	hca->ibdev.driver_def = own;
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	method = uverbs_api_method(api, THING_OBJECT, THING_QUERY);
	KUNIT_EXPECT_NOT_NULL(test, method);
	if (method) {
		KUNIT_EXPECT_NOT_NULL(test, uverbs_method_attr(method, QUERY_HANDLE, &bkey));
		KUNIT_EXPECT_TRUE(test, test_bit(bkey, method->mandatory));
		KUNIT_EXPECT_NOT_NULL(test, uverbs_method_attr(method, QUERY_OUT, &bkey));
		KUNIT_EXPECT_FALSE(test, test_bit(bkey, method->mandatory));
		KUNIT_EXPECT_NULL(test, uverbs_method_attr(method, QUERY_FD, &bkey));
	}
	uverbs_api_free(api);
}

/* Even if userspace does not find the driver's library by this ID. */
static void a_call_names_the_driver_in_any_case(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct uverbs_api *api;

	hca->ibdev.ops.driver_id = RDMA_DRIVER_HNS;
	hca->ibdev.ops.uverbs_no_driver_id_binding = 1;
	api = uverbs_api_create(&hca->ibdev, uverbs_core_definitions);
	hca->ibdev.ops.driver_id = RDMA_DRIVER_UNKNOWN;
	hca->ibdev.ops.uverbs_no_driver_id_binding = 0;
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	KUNIT_EXPECT_EQ(test, api->driver_id, (u32)RDMA_DRIVER_HNS);
	uverbs_api_free(api);
}

/* A method that must be given an object which no device of the kind can have. */
static void what_a_device_has_no_types_for(struct kunit *test)
{
	struct fake_hca *hca = test->priv;
	struct ib_device_ops *ops = &hca->ibdev.ops;
	const struct ib_device_ops own = *ops;
	struct uverbs_api *api;

	KUNIT_ASSERT_NOT_NULL(test, ops->dealloc_dm);
	ops->dealloc_dm = NULL;
	ops->alloc_xrcd = NULL;
	api = uverbs_api_create(&hca->ibdev, uverbs_core_definitions);
	*ops = own;
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	KUNIT_EXPECT_NULL(test, uverbs_api_method(api, UVERBS_OBJECT_MR,
						  UVERBS_METHOD_DM_MR_REG));
	KUNIT_EXPECT_NOT_NULL(test, uverbs_api_method(api, UVERBS_OBJECT_MR,
						      UVERBS_METHOD_ADVISE_MR));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_CMD_OPEN_QP, false));
	KUNIT_EXPECT_NOT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_CMD_CREATE_QP, false));
	uverbs_api_free(api);
}

/* ---- nodes ---- */

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

/* Like an adapter with thousands of scalable functions. */
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
	KUNIT_CASE(definitions_may_have_holes),
	KUNIT_CASE(what_a_device_has_no_types_for),
	KUNIT_CASE(a_call_names_the_driver_in_any_case),
	KUNIT_CASE(devices_that_serve_no_process_have_no_node),
	KUNIT_CASE(there_are_thousands_of_nodes),
	{}
};

static struct kunit_suite uverbs_api_suite = {
	.name = "uverbs_api",
	.init = api_test_init,
	.exit = api_test_exit,
	.test_cases = api_cases,
};

kunit_test_suite(uverbs_api_suite);
