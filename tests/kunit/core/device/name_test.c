// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Device names during renames, which free the string that dev_name() returned before. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <ibex/device.h>
#include "core/netlink/nl.h"
#include "log.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct fake_hca *hca;
static struct nl nl;

static int name_test_init(struct kunit *test)
{
	int ret = nl_open(&nl, &init_net);

	hca = fake_hca_alloc(&ib_params);
	return hca ? ret : -ENOMEM;
}

static void name_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
	nl_close(&nl);
}

static int rename_by(struct nl *by, const char *name)
{
	struct sk_buff *req = nl_dev_req(by, RDMA_NLDEV_CMD_SET, hca, 0);

	nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, name);
	return nl_call(by, req);
}

/* ---- what reads a name on its own ---- */

static const char *nl_name(int cmd)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	if (nl_call(&nl, nl_dev_req(&nl, cmd, hca, 0)))
		return "(error)";
	nl_attrs(&nl, 0, tb);
	return nl_str(tb[RDMA_NLDEV_ATTR_DEV_NAME]);
}

static void nobody_reads_what_a_rename_frees(struct kunit *test)
{
	struct kobject *kobj = &hca->ibdev.dev.kobj;
	char name[IB_DEVICE_NAME_MAX], page[256];
	const char *real;

	ibcore_device_name(&hca->ibdev, name);
	KUNIT_EXPECT_STREQ(test, name, "");
	ibdev_info(&hca->ibdev, "has no name yet\n");
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_ASSERT_EQ(test, rename_by(&nl, "sound"), 0);

	/* Stands for the string that a rename is freeing. */
	real = kobj->name;
	kobj->name = "freed";
	KUNIT_EXPECT_STREQ(test, nl_name(RDMA_NLDEV_CMD_GET), "sound");
	KUNIT_EXPECT_STREQ(test, nl_name(RDMA_NLDEV_CMD_RES_GET), "sound");
	KUNIT_EXPECT_EQ(test, sys_read(page, sizeof(page), "sound/uevent"), 0);
	KUNIT_EXPECT_STREQ(test, page, "NAME=sound\n");
	ibdev_info(&hca->ibdev, "is told of by its name\n");
	kobj->name = real;

	ibcore_device_name(&hca->ibdev, name);
	KUNIT_EXPECT_STREQ(test, name, "sound");
	KUNIT_EXPECT_TRUE(test, log_lines("(unnamed): has no name yet"));
	KUNIT_EXPECT_TRUE(test, log_lines("sound: is told of by its name"));
}

/* ---- what others do with the name, whom a rename has to wait for ---- */

struct renamer {
	struct completion done;
	int ret;
};

static struct renamer renamer;

static int rename_thread(void *arg)
{
	static struct nl other;

	renamer.ret = nl_open(&other, &init_net);
	if (!renamer.ret) {
		renamer.ret = rename_by(&other, "later");
		nl_close(&other);
	}
	complete(&renamer.done);
	return 0;
}

static bool stayed;

/* Starts a rename, which must not finish as long as the calling callback runs. */
static void start_renamer(struct ib_device *dev)
{
	const char *name = dev->dev.kobj.name;

	init_completion(&renamer.done);
	if (!IS_ERR(kthread_run(rename_thread, NULL, "rename")))
		stayed = !wait_within(READ_ONCE(dev->dev.kobj.name) != name, 100);
}

static enum { IN_ADD, IN_REMOVE, IN_RENAME } when;

static int name_add(struct ib_device *dev)
{
	if (when == IN_ADD)
		start_renamer(dev);
	return 0;
}

static void name_remove(struct ib_device *dev, void *data)
{
	if (when == IN_REMOVE)
		start_renamer(dev);
}

static void name_rename(struct ib_device *dev, void *data)
{
	if (when == IN_RENAME && !strcmp(dev_name(&dev->dev), "sound"))
		start_renamer(dev);
}

static struct ib_client name_client = {
	.name = "test_name",
	.add = name_add,
	.remove = name_remove,
	.rename = name_rename,
};

/* SRP, for one, makes names of its own from the device's name there. */
static void a_name_stays_in_the_callbacks_of_clients(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	for (when = IN_ADD; when <= IN_RENAME; when++) {
		KUNIT_ASSERT_EQ(test, rename_by(&nl, "before"), 0);
		stayed = false;
		renamer.ret = -EINPROGRESS;
		KUNIT_ASSERT_EQ(test, ib_register_client(&name_client), 0);
		if (when == IN_RENAME)
			KUNIT_EXPECT_EQ(test, rename_by(&nl, "sound"), 0);
		ib_unregister_client(&name_client);
		KUNIT_EXPECT_TRUE_MSG(test, stayed, "callback %d", when);
		KUNIT_ASSERT_TRUE(test, wait_for_completion_timeout(&renamer.done, 10 * HZ));
		KUNIT_EXPECT_EQ(test, renamer.ret, 0);
		KUNIT_EXPECT_STREQ(test, dev_name(&hca->ibdev.dev), "later");
	}
}

static struct completion in_add, go_on, registered;
static int register_result;

static int wait_in_add(struct ib_device *dev)
{
	complete(&in_add);
	wait_for_completion(&go_on);
	return -ENODEV;
}

static struct ib_client waiting_client = { .name = "test_wait", .add = wait_in_add };

static int register_thread(void *arg)
{
	register_result = fake_hca_register(hca);
	complete(&registered);
	return 0;
}

/* The path of the uevent is made from the name in several steps. */
static void udev_hears_of_a_device_between_renames(struct kunit *test)
{
	struct kobject *kobj = &hca->ibdev.dev.kobj;

	init_completion(&in_add);
	init_completion(&go_on);
	init_completion(&registered);
	KUNIT_ASSERT_EQ(test, ib_register_client(&waiting_client), 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(register_thread, NULL, "register")));
	wait_for_completion(&in_add);

	/* A rename holds this mutex from beginning to end. */
	mutex_lock(&hca->ibdev.compat_devs_mutex);
	complete(&go_on);
	KUNIT_EXPECT_FALSE(test, wait_within(kobj->state_add_uevent_sent, 100));
	mutex_unlock(&hca->ibdev.compat_devs_mutex);

	wait_for_completion(&registered);
	KUNIT_EXPECT_EQ(test, register_result, 0);
	KUNIT_EXPECT_TRUE(test, kobj->state_add_uevent_sent);
	ib_unregister_client(&waiting_client);
}

static struct kunit_case name_cases[] = {
	KUNIT_CASE(nobody_reads_what_a_rename_frees),
	KUNIT_CASE(a_name_stays_in_the_callbacks_of_clients),
	KUNIT_CASE(udev_hears_of_a_device_between_renames),
	{}
};

static struct kunit_suite ibcore_name_suite = {
	.name = "ib_core_name",
	.init = name_test_init,
	.exit = name_test_exit,
	.test_cases = name_cases,
};

kunit_test_suite(ibcore_name_suite);
