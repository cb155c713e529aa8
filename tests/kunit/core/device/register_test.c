// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Registration and unregistration of devices in all variants, and their failures. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/rtnetlink.h>
#include "faults.h"
#include "core/netlink/nl.h"

/* A driver that is not loaded in the kernel these tests run in. */
#define TEST_DRIVER	RDMA_DRIVER_QIB

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static int dealloced;

/* The dealloc_driver() of a driver that keeps nothing but the device's memory. */
static void test_dealloc(struct ib_device *dev)
{
	destroy_workqueue(to_fake_hca(dev)->wq);
	dealloced++;
}

static struct fake_hca *alloc_owned(void)
{
	struct fake_hca *hca = fake_hca_alloc(&ib_params);

	if (hca) {
		hca->ibdev.ops.dealloc_driver = test_dealloc;
		hca->ibdev.ops.driver_id = TEST_DRIVER;
	}
	return hca;
}

/* A device that is freed by its unregistration. */
static struct fake_hca *create_owned(const char *name)
{
	struct fake_hca *hca = alloc_owned();

	if (hca && ib_register_device(&hca->ibdev, name, NULL)) {
		ib_dealloc_device(&hca->ibdev);
		return NULL;
	}
	return hca;
}

static struct ib_device *lookup(const char *name)
{
	struct ib_device *dev = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);

	if (dev)
		ib_device_put(dev);
	return dev;
}

static int register_test_init(struct kunit *test)
{
	dealloced = 0;
	return 0;
}

/* ---- unregistration ---- */

static void a_device_is_unregistered_by_who_looked_it_up(struct kunit *test)
{
	struct fake_hca *hca = create_owned("own");
	struct ib_device *dev;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_name("own", RDMA_DRIVER_MLX5));
	dev = ib_device_get_by_name("own", TEST_DRIVER);
	KUNIT_ASSERT_PTR_EQ(test, dev, &hca->ibdev);
	ib_unregister_device_and_put(dev);
	KUNIT_EXPECT_EQ(test, dealloced, 1);
	KUNIT_EXPECT_NULL(test, lookup("own"));
}

static int unregister_and_put(void *arg)
{
	struct ib_device *dev = ib_device_get_by_name("own", TEST_DRIVER);

	if (dev)
		ib_unregister_device_and_put(dev);
	complete(arg);
	return 0;
}

/* All return after the device was unregistered, and it is freed once. */
static void several_may_unregister_at_once(struct kunit *test)
{
	struct completion done[3];
	int i, round;

	for (round = 0; round < 20; round++) {
		KUNIT_ASSERT_NOT_NULL(test, create_owned("own"));
		for (i = 0; i < 3; i++) {
			init_completion(&done[i]);
			KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(unregister_and_put,
								    &done[i], "unreg")));
		}
		for (i = 0; i < 3; i++)
			wait_for_completion(&done[i]);
		KUNIT_EXPECT_NULL(test, lookup("own"));
		KUNIT_EXPECT_EQ(test, dealloced, round + 1);
	}
}

/* A notifier that holds the rtnl, which unregistration needs, must queue it. */
static void unregistration_is_queued(struct kunit *test)
{
	struct fake_hca *hca = create_owned("own");

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&hca->ibdev));
	rtnl_lock();
	ib_unregister_device_queued(&hca->ibdev);
	ib_unregister_device_queued(&hca->ibdev);
	rtnl_unlock();
	/* Our reference keeps the device: it was not consumed. */
	msleep(100);
	KUNIT_EXPECT_EQ(test, dealloced, 0);
	ib_device_put(&hca->ibdev);
	KUNIT_EXPECT_TRUE(test, wait_until(dealloced == 1));
	ib_unregister_driver(TEST_DRIVER);
	KUNIT_EXPECT_EQ(test, dealloced, 1);
}

static void a_driver_takes_all_its_devices(struct kunit *test)
{
	struct fake_hca *other = fake_hca_create(&ib_params);
	struct fake_hca *queued;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, other);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_NOT_NULL(test, create_owned("own%d"));
	queued = create_owned("own%d");
	KUNIT_ASSERT_NOT_NULL(test, queued);
	KUNIT_EXPECT_NOT_NULL(test, lookup("own3"));
	/* One device is being unregistered already. */
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&queued->ibdev));
	ib_unregister_device_queued(&queued->ibdev);
	ib_device_put(&queued->ibdev);
	ib_unregister_driver(TEST_DRIVER);
	KUNIT_EXPECT_EQ(test, dealloced, 4);
	KUNIT_EXPECT_PTR_EQ(test, lookup(dev_name(&other->ibdev.dev)), &other->ibdev);
	fake_hca_destroy(other);
}

static void a_second_unregistration_does_nothing(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_alloc(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	ib_unregister_device(&hca->ibdev);
	KUNIT_ASSERT_EQ(test, ib_register_device(&hca->ibdev, "twice", NULL), 0);
	ib_unregister_device(&hca->ibdev);
	ib_unregister_device(&hca->ibdev);
	KUNIT_EXPECT_NULL(test, lookup("twice"));
	/* An unregistered device cannot be registered again. */
	KUNIT_EXPECT_EQ(test, ib_register_device(&hca->ibdev, "twice", NULL), -EINVAL);
	fake_hca_free(hca);
}

/* ---- registration ---- */

static void a_device_needs_its_methods(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_alloc(&ib_params);
	void *method;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	for (i = 0; i < 3; i++) {
		void **at = i == 0 ? (void **)&hca->ibdev.ops.query_device :
			    i == 1 ? (void **)&hca->ibdev.ops.query_port :
				     (void **)&hca->ibdev.ops.get_port_immutable;

		method = *at;
		*at = NULL;
		KUNIT_EXPECT_EQ(test, ib_register_device(&hca->ibdev, "need", NULL),
				-EINVAL);
		*at = method;
	}
	/* After the failures the device can be registered as any other. */
	KUNIT_EXPECT_EQ(test, ib_register_device(&hca->ibdev, "need", NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_register_device(&hca->ibdev, "need2", NULL), -EINVAL);
	KUNIT_EXPECT_NULL(test, lookup("need2"));
	ib_unregister_device(&hca->ibdev);
	fake_hca_free(hca);
}

static void methods_set_first_stay(struct kunit *test)
{
	static const struct ib_device_ops more = {
		.driver_id = TEST_DRIVER,
		.uverbs_abi_ver = 7,
		.uverbs_no_driver_id_binding = 1,
		.dealloc_driver = test_dealloc,
		.size_ib_mw = 123,
	};
	struct fake_hca *hca = fake_hca_alloc(&ib_params);
	typeof(hca->ibdev.ops.query_port) query = hca->ibdev.ops.query_port;
	struct ib_device_ops other = { .query_port = (void *)1, .size_ib_pd = 1 };
	size_t size = hca->ibdev.ops.size_ib_pd;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	ib_set_device_ops(&hca->ibdev, &other);
	KUNIT_EXPECT_PTR_EQ(test, hca->ibdev.ops.query_port, query);
	KUNIT_EXPECT_EQ(test, hca->ibdev.ops.size_ib_pd, size);
	ib_set_device_ops(&hca->ibdev, &more);
	KUNIT_EXPECT_EQ(test, hca->ibdev.ops.driver_id, TEST_DRIVER);
	KUNIT_EXPECT_EQ(test, hca->ibdev.ops.uverbs_abi_ver, 7);
	KUNIT_EXPECT_TRUE(test, hca->ibdev.ops.uverbs_no_driver_id_binding);
	KUNIT_EXPECT_PTR_EQ(test, hca->ibdev.ops.dealloc_driver, &test_dealloc);
	KUNIT_EXPECT_EQ(test, hca->ibdev.ops.size_ib_mw, 123);
	hca->ibdev.ops.dealloc_driver = NULL;
	fake_hca_free(hca);
}

static void names_are_numbered_from_the_lowest_free(struct kunit *test)
{
	static const char * const names[] = { "num0", "num2", "num07", "num3x", "nux1",
					      "num99999999999", "num" };
	static const char * const bad[] = { "", "a/b", "a b", "%s", "x%d%d", "x%", ".", "..",
					    "a\tb", "%d/",
		"0123456789012345678901234567890123456789012345678901234567890123",
		"012345678901234567890123456789012345678901234567890123456789012%d" };
	struct fake_hca *hca;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_ASSERT_NOT_NULL(test, create_owned(names[i]));
	hca = create_owned("num%d");
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_STREQ(test, dev_name(&hca->ibdev.dev), "num1");
	hca = create_owned("num%d");
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_STREQ(test, dev_name(&hca->ibdev.dev), "num3");
	hca = create_owned("num%dx");
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_STREQ(test, dev_name(&hca->ibdev.dev), "num0x");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		hca = alloc_owned();
		KUNIT_ASSERT_NOT_NULL(test, hca);
		KUNIT_EXPECT_EQ_MSG(test, ib_register_device(&hca->ibdev, bad[i], NULL),
				    -EINVAL, "\"%s\"", bad[i]);
		ib_dealloc_device(&hca->ibdev);
	}
	ib_unregister_driver(TEST_DRIVER);
}

/* ---- what a driver may refuse ---- */

static int failing;

static int bad_query_device(struct ib_device *dev, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	return -EIO;
}

static int bad_query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	return -EIO;
}

static int bad_immutable(struct ib_device *dev, u32 port, struct ib_port_immutable *imm)
{
	return -EIO;
}

static int bad_pkey(struct ib_device *dev, u32 port, u16 index, u16 *pkey)
{
	return port == 2 && index == 5 ? -EIO : 0;
}

static int bad_gid(struct ib_device *dev, u32 port, int index, union ib_gid *gid)
{
	return port == 2 && index == 5 ? -EIO : 0;
}

static int bad_enable(struct ib_device *dev)
{
	failing++;
	return -EIO;
}

/* in-tree-6.12.md, 25: an error while the caches are made, on the second port. */
static void a_driver_that_fails_is_not_registered(struct kunit *test)
{
	static const struct ib_device_ops bad[] = {
		{ .query_device = bad_query_device }, { .query_port = bad_query_port },
		{ .get_port_immutable = bad_immutable }, { .query_pkey = bad_pkey },
		{ .query_gid = bad_gid }, { .enable_driver = bad_enable },
	};
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};
	struct ib_device_ops good;
	struct fake_hca *hca;
	int i;

	failing = 0;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		hca = fake_hca_alloc(&params);
		KUNIT_ASSERT_NOT_NULL(test, hca);
		good = hca->ibdev.ops;
		memset(&hca->ibdev.ops, 0, sizeof(good));
		ib_set_device_ops(&hca->ibdev, &bad[i]);
		ib_set_device_ops(&hca->ibdev, &good);
		KUNIT_EXPECT_EQ_MSG(test, ib_register_device(&hca->ibdev, "bad", NULL), -EIO,
				    "failure %d", i);
		KUNIT_EXPECT_NULL(test, lookup("bad"));
		KUNIT_EXPECT_FALSE(test, ib_device_try_get(&hca->ibdev));
		fake_hca_free(hca);
	}
	KUNIT_EXPECT_EQ(test, failing, 1);
}

static struct net_device *ndev;

static int roce_once(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	struct fake_hca *hca = fake_hca_alloc(&params);
	int ret;

	if (!hca)
		return -ENOMEM;
	ret = fake_hca_register(hca);
	if (ret) {
		fake_hca_free(hca);
		return ret;
	}
	current->fail_nth = current->fail_nth ? 1000000 : 0;
	fake_hca_destroy(hca);
	return 0;
}

static void roce_registration_survives_each_failed_allocation(struct kunit *test)
{
	ndev = fake_netdev_create("fnet%d");
	KUNIT_ASSERT_NOT_NULL(test, ndev);
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, roce_once), 50u);
	fake_netdev_destroy(ndev);
}

/* ---- races ---- */

static bool stop;
static atomic_t renamers, renames;

static int rename_all(void *arg)
{
	static struct nl nl;
	struct sk_buff *req;
	char name[16];
	int i, ret, n = 0;
	u32 index = 0;

	ret = nl_open(&nl, &init_net);
	while (!ret && !READ_ONCE(stop)) {
		req = nl_dev_dump(&nl, RDMA_NLDEV_CMD_GET, NULL, 0);
		if (nl_call(&nl, req))
			continue;
		for (i = 0; i < nl.n; i++) {
			struct nlattr *attr = nlmsg_find_attr(nl.msg[i], 0,
							      RDMA_NLDEV_ATTR_DEV_INDEX);

			index = nl_u32(attr);
		}
		if (!nl.n) {
			usleep_range(1, 20);
			continue;
		}
		req = nl_dev_req(&nl, RDMA_NLDEV_CMD_SET, NULL, 0);
		nla_put_u32(req, RDMA_NLDEV_ATTR_DEV_INDEX, index);
		snprintf(name, sizeof(name), "ren%d", n++ & 1);
		nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, name);
		if (!nl_call(&nl, req))
			atomic_inc(&renames);
		usleep_range(1, 20);
	}
	if (!ret)
		nl_close(&nl);
	atomic_dec(&renamers);
	return 0;
}

/* in-tree-6.12.md, 26: renames, even to the same name, while a device comes or goes. */
static void renames_race_with_registration(struct kunit *test)
{
	struct fake_hca *hca;
	int i, ret;

	stop = false;
	atomic_set(&renames, 0);
	atomic_set(&renamers, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(rename_all, NULL, "rename")));
	for (i = 0; i < 60; i++) {
		hca = alloc_owned();
		KUNIT_ASSERT_NOT_NULL(test, hca);
		ret = ib_register_device(&hca->ibdev, i & 1 ? "ren0" : "race%d", NULL);
		KUNIT_EXPECT_EQ(test, ret, 0);
		if (ret) {
			ib_dealloc_device(&hca->ibdev);
			continue;
		}
		usleep_range(1, 100);
		ib_unregister_device(&hca->ibdev);
	}
	WRITE_ONCE(stop, true);
	KUNIT_EXPECT_TRUE(test, wait_until(!atomic_read(&renamers)));
	KUNIT_EXPECT_GT(test, atomic_read(&renames), 0);
	KUNIT_EXPECT_EQ(test, dealloced, 60);
}

static int unregister_what_comes(void *arg)
{
	struct ib_device *dev;

	while (!READ_ONCE(stop)) {
		dev = ib_device_get_by_name("brief", TEST_DRIVER);
		if (dev)
			ib_unregister_device_and_put(dev);
		else
			usleep_range(1, 5);
	}
	atomic_dec(&renamers);
	return 0;
}

/* As above: the device may be unregistered before its registration has returned. */
static void a_device_that_goes_as_it_comes(struct kunit *test)
{
	struct fake_hca *hca;
	int i;

	stop = false;
	atomic_set(&renamers, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(unregister_what_comes, NULL, "unreg")));
	for (i = 0; i < 60; i++) {
		hca = alloc_owned();
		KUNIT_ASSERT_NOT_NULL(test, hca);
		KUNIT_EXPECT_EQ(test, ib_register_device(&hca->ibdev, "brief", NULL), 0);
		KUNIT_EXPECT_TRUE(test, wait_until(READ_ONCE(dealloced) == i + 1));
		KUNIT_EXPECT_TRUE(test, wait_until(!lookup("brief")));
	}
	WRITE_ONCE(stop, true);
	KUNIT_EXPECT_TRUE(test, wait_until(!atomic_read(&renamers)));
}

static struct kunit_case register_cases[] = {
	KUNIT_CASE(a_device_is_unregistered_by_who_looked_it_up),
	KUNIT_CASE(several_may_unregister_at_once),
	KUNIT_CASE(unregistration_is_queued),
	KUNIT_CASE(a_driver_takes_all_its_devices),
	KUNIT_CASE(a_second_unregistration_does_nothing),
	KUNIT_CASE(a_device_needs_its_methods),
	KUNIT_CASE(methods_set_first_stay),
	KUNIT_CASE(names_are_numbered_from_the_lowest_free),
	KUNIT_CASE(a_driver_that_fails_is_not_registered),
	KUNIT_CASE(roce_registration_survives_each_failed_allocation),
	KUNIT_CASE(renames_race_with_registration),
	KUNIT_CASE(a_device_that_goes_as_it_comes),
	{}
};

static struct kunit_suite ibcore_register_suite = {
	.name = "ib_core_register",
	.init = register_test_init,
	.test_cases = register_cases,
};

kunit_test_suite(ibcore_register_suite);
