// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink: creation, deletion, configuration, and unsolicited notifications. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <ibex/client_nl.h>
#include <ibex/netlink.h>
#include "nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct nl nl;
static struct net_device *ndev;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

static int link_test_init(struct kunit *test)
{
	ndev = fake_netdev_create("fnet%d");
	if (!ndev)
		return -ENOMEM;
	return nl_open(&nl, &init_net);
}

static void link_test_exit(struct kunit *test)
{
	nl_close(&nl);
	if (ndev)
		fake_netdev_destroy(ndev);
	ndev = NULL;
}

/* ---- rdma link add, delete ---- */

static struct fake_hca *linked;
static bool may_unreg;
static int links, dealloced;

/* The dealloc_driver() of a driver that keeps nothing but the device's memory. */
static void linked_dealloc(struct ib_device *dev)
{
	destroy_workqueue(to_fake_hca(dev)->wq);
	dealloced++;
}

static int linked_query_device(struct ib_device *dev, struct ib_device_attr *attr,
			       struct ib_udata *udata)
{
	attr->max_pkeys = FAKE_HCA_PKEYS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY |
				 (may_unreg ? IBK_ALLOW_USER_UNREG : 0);
	return 0;
}

static int test_newlink(const char *name, struct net_device *dev)
{
	int ret;

	links++;
	linked = fake_hca_alloc(&ib_params);
	if (!linked)
		return -ENOMEM;
	linked->ibdev.ops.query_device = linked_query_device;
	linked->ibdev.ops.dealloc_driver = linked_dealloc;
	ret = ib_register_device(&linked->ibdev, name, NULL);
	if (ret)
		ib_dealloc_device(&linked->ibdev);
	return ret;
}

static struct rdma_link_ops link_ops = { .type = "test", .newlink = test_newlink };

static int newlink(const char *name, const char *type, const char *ifname)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_NEWLINK, NULL, 0);

	if (name)
		nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, name);
	if (type)
		nla_put_string(req, RDMA_NLDEV_ATTR_LINK_TYPE, type);
	if (ifname)
		nla_put_string(req, RDMA_NLDEV_ATTR_NDEV_NAME, ifname);
	return nl_call(&nl, req);
}

static int dev_cmd(int cmd, struct fake_hca *hca)
{
	return nl_call(&nl, nl_dev_req(&nl, cmd, hca, 0));
}

static void a_link_is_made_and_deleted(struct kunit *test)
{
	struct ib_device *found;

	links = 0;
	dealloced = 0;
	may_unreg = true;
	rdma_link_register(&link_ops);
	KUNIT_EXPECT_EQ(test, newlink("lnk", "test", ndev->name), 0);
	KUNIT_EXPECT_EQ(test, links, 1);
	found = ib_device_get_by_name("lnk", RDMA_DRIVER_UNKNOWN);
	KUNIT_ASSERT_PTR_EQ(test, found, &linked->ibdev);
	ib_device_put(found);
	/* Another link of that name is refused. */
	found = &linked->ibdev;
	KUNIT_EXPECT_EQ(test, newlink("lnk", "test", ndev->name), -ENFILE);
	KUNIT_EXPECT_EQ(test, dealloced, 1);
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_DELLINK, to_fake_hca(found)), 0);
	KUNIT_EXPECT_EQ(test, dealloced, 2);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_name("lnk", RDMA_DRIVER_UNKNOWN));
	rdma_link_unregister(&link_ops);
}

static void a_link_needs_all_it_is_made_of(struct kunit *test)
{
	links = 0;
	rdma_link_register(&link_ops);
	KUNIT_EXPECT_EQ(test, newlink(NULL, "test", ndev->name), -EINVAL);
	KUNIT_EXPECT_EQ(test, newlink("lnk", NULL, ndev->name), -EINVAL);
	KUNIT_EXPECT_EQ(test, newlink("lnk", "test", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, newlink("", "test", ndev->name), -EINVAL);
	KUNIT_EXPECT_EQ(test, newlink("lnk%d", "test", ndev->name), -EINVAL);
	KUNIT_EXPECT_EQ(test, newlink("lnk", "test", "nosuchdev"), -ENODEV);
	KUNIT_EXPECT_EQ(test, newlink("lnk", "nosuchtype", ndev->name), -EINVAL);
	KUNIT_EXPECT_EQ(test, links, 0);
	rdma_link_unregister(&link_ops);
	KUNIT_EXPECT_EQ(test, newlink("lnk", "test", ndev->name), -EINVAL);
	KUNIT_EXPECT_EQ(test, links, 0);
}

static void a_device_that_was_not_made_so_stays(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_DELLINK, hca), -EINVAL);
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_GET, hca), 0);
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_DELDEV, hca), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_GET, hca), 0);
	fake_hca_destroy(hca);
}

/* ---- rdma dev add, delete ---- */

static struct fake_hca *sub;
static int add_result;

static struct ib_device *add_sub(struct ib_device *parent, enum rdma_nl_dev_type type,
				 const char *name)
{
	if (add_result)
		return ERR_PTR(add_result);
	sub = fake_hca_alloc(&ib_params);
	if (!sub)
		return ERR_PTR(-ENOMEM);
	if (ib_register_device(&sub->ibdev, name, NULL)) {
		fake_hca_free(sub);
		return ERR_PTR(-EBUSY);
	}
	return &sub->ibdev;
}

static void del_sub(struct ib_device *dev)
{
	ib_unregister_device(dev);
	fake_hca_free(to_fake_hca(dev));
	sub = NULL;
}

static int newdev(struct fake_hca *hca, const char *name)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_NEWDEV, hca, 0);

	if (name)
		nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, name);
	nla_put_u8(req, RDMA_NLDEV_ATTR_DEV_TYPE, RDMA_DEVICE_TYPE_SMI);
	return nl_call(&nl, req);
}

static void a_sub_device_is_made_and_deleted(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	add_result = 0;
	KUNIT_EXPECT_EQ(test, newdev(hca, "smi"), -EOPNOTSUPP);
	hca->ibdev.ops.add_sub_dev = add_sub;
	hca->ibdev.ops.del_sub_dev = del_sub;
	KUNIT_EXPECT_EQ(test, newdev(hca, NULL), -EINVAL);
	add_result = -ENOSPC;
	KUNIT_EXPECT_EQ(test, newdev(hca, "smi"), -ENOSPC);
	add_result = 0;
	KUNIT_EXPECT_EQ(test, newdev(hca, "smi"), 0);
	KUNIT_ASSERT_NOT_NULL(test, sub);
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_GET, sub), 0);
	nl_attrs(&nl, 0, tb);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_PARENT_NAME]),
			   dev_name(&hca->ibdev.dev));
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_ATTR_DEV_TYPE]), RDMA_DEVICE_TYPE_SMI);
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_DELDEV, sub), 0);
	KUNIT_EXPECT_NULL(test, sub);
	/* The next sub device is deleted with its parent. */
	KUNIT_EXPECT_EQ(test, newdev(hca, "smi"), 0);
	KUNIT_EXPECT_NOT_NULL(test, sub);
	fake_hca_destroy(hca);
	KUNIT_EXPECT_NULL(test, sub);
}

/* ---- rdma system ---- */

static int sys_set(int attr, u8 value)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_SYS_SET, NULL, 0);

	if (attr)
		nla_put_u8(req, attr, value);
	return nl_call(&nl, req);
}

static void the_system_is_shown_and_set(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, dev_cmd(RDMA_NLDEV_CMD_SYS_GET, NULL), 0);
	nl_attrs(&nl, 0, tb);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]), 1);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK]), 1);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_SYS_ATTR_MONITOR_MODE]), 1);
	KUNIT_EXPECT_EQ(test, nl_u8(tb[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE]), 0);
	KUNIT_EXPECT_FALSE(test, rdma_nl_get_privileged_qkey());

	KUNIT_EXPECT_EQ(test, sys_set(RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, 1), 0);
	KUNIT_EXPECT_TRUE(test, rdma_nl_get_privileged_qkey());
	KUNIT_EXPECT_EQ(test, sys_set(RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, 2),
			-EINVAL);
	KUNIT_EXPECT_TRUE(test, rdma_nl_get_privileged_qkey());
	KUNIT_EXPECT_EQ(test, sys_set(RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, 0), 0);
	KUNIT_EXPECT_FALSE(test, rdma_nl_get_privileged_qkey());
	KUNIT_EXPECT_EQ(test, sys_set(0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, sys_set(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, sys_set(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, sys_set(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1), 0);
}

/* ---- character devices of clients ---- */

static struct device *cdev;
static u32 asked_port;
static int nl_info_result;

static int fill_nl_info(struct ib_client_nl_info *res)
{
	asked_port = res->port;
	res->cdev = cdev;
	res->abi = 6;
	return nl_info_result;
}

static int dev_nl_info(struct ib_device *dev, void *data, struct ib_client_nl_info *res)
{
	return data == cdev ? fill_nl_info(res) : -EXDEV;
}

static int chardev_add(struct ib_device *dev);

static struct ib_client chardev_client = {
	.name = "test_chardev", .add = chardev_add,
	.get_nl_info = dev_nl_info, .get_global_nl_info = fill_nl_info,
};

static struct ib_client plain_client = { .name = "test_plain" };

static int chardev_add(struct ib_device *dev)
{
	ib_set_client_data(dev, &chardev_client, cdev);
	return 0;
}

static int chardev(const char *type, struct fake_hca *hca, u32 port)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_GET_CHARDEV, hca, port);
	int ret;

	if (type)
		nla_put_string(req, RDMA_NLDEV_ATTR_CHARDEV_TYPE, type);
	ret = nl_call(&nl, req);
	nl_attrs(&nl, 0, tb);
	return ret;
}

static void character_devices_are_told(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	struct fake_hca *none = kunit_kzalloc(test, sizeof(*none), GFP_KERNEL);
	unsigned int refs;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	cdev = root_device_register("test_cdev");
	KUNIT_ASSERT_FALSE(test, IS_ERR(cdev));
	cdev->devt = MKDEV(231, 5);
	refs = kref_read(&cdev->kobj.kref);
	nl_info_result = 0;
	KUNIT_ASSERT_EQ(test, ib_register_client(&chardev_client), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&plain_client), 0);

	KUNIT_EXPECT_EQ(test, chardev("test_chardev", hca, 1), 0);
	KUNIT_EXPECT_EQ(test, asked_port, 1);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]), hca->ibdev.index);
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]),
			huge_encode_dev(cdev->devt));
	KUNIT_EXPECT_EQ(test, nl_u64(tb[RDMA_NLDEV_ATTR_CHARDEV_ABI]), 6);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_CHARDEV_NAME]), "test_cdev");
	/* The character device of the client, not of a device. */
	KUNIT_EXPECT_EQ(test, chardev("test_chardev", NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, asked_port, U32_MAX);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_DEV_INDEX]);

	KUNIT_EXPECT_EQ(test, chardev(NULL, hca, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, chardev("test_chardev", hca, 2), -EINVAL);
	none->ibdev.index = 0x7ffffff0;
	KUNIT_EXPECT_EQ(test, chardev("test_chardev", none, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, chardev("test_nobody", hca, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, chardev("test_nobody", NULL, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, chardev("test_plain", hca, 1), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, chardev("test_plain", NULL, 0), -EOPNOTSUPP);
	nl_info_result = -ENXIO;
	KUNIT_EXPECT_EQ(test, chardev("test_chardev", hca, 1), -ENXIO);
	/* Each request put its reference to the character device. */
	KUNIT_EXPECT_EQ(test, kref_read(&cdev->kobj.kref), refs);

	ib_unregister_client(&plain_client);
	ib_unregister_client(&chardev_client);
	root_device_unregister(cdev);
	fake_hca_destroy(hca);
}

/* ---- rdma monitor ---- */

static int next_event(void)
{
	bool ended;
	int result;

	nl.used = 0;
	nl.n = 0;
	memset(tb, 0, sizeof(tb));
	if (nl_receive(&nl, &result, &ended) < 0)
		return -1;
	nl_attrs(&nl, 0, tb);
	return nl_u8(tb[RDMA_NLDEV_ATTR_EVENT_TYPE]);
}

static void events_are_told_to_who_monitors(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	struct fake_hca *hca;

	KUNIT_ASSERT_TRUE(test, nl_join(&nl, RDMA_NL_GROUP_NOTIFY));
	hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_EQ(test, next_event(), RDMA_REGISTER_EVENT);
	KUNIT_EXPECT_EQ(test, nl.msg[0]->nlmsg_type,
			RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_MONITOR));
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]), hca->ibdev.index);
	KUNIT_EXPECT_STREQ(test, nl_str(tb[RDMA_NLDEV_ATTR_DEV_NAME]),
			   dev_name(&hca->ibdev.dev));
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	KUNIT_EXPECT_EQ(test, next_event(), RDMA_NETDEV_ATTACH_EVENT);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 1);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_NDEV_INDEX]), ndev->ifindex);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&hca->ibdev, NULL, 1), 0);
	KUNIT_EXPECT_EQ(test, next_event(), RDMA_NETDEV_DETACH_EVENT);
	KUNIT_EXPECT_EQ(test, nl_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]), 1);
	KUNIT_EXPECT_NULL(test, tb[RDMA_NLDEV_ATTR_NDEV_INDEX]);
	/* Setting the same netdev again sends no event. */
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&hca->ibdev, NULL, 1), 0);
	KUNIT_EXPECT_EQ(test, next_event(), -1);
	fake_hca_destroy(hca);
	KUNIT_EXPECT_EQ(test, next_event(), RDMA_UNREGISTER_EVENT);
	KUNIT_EXPECT_EQ(test, next_event(), -1);
}

static struct kunit_case nldev_link_cases[] = {
	KUNIT_CASE(a_link_is_made_and_deleted),
	KUNIT_CASE(a_link_needs_all_it_is_made_of),
	KUNIT_CASE(a_device_that_was_not_made_so_stays),
	KUNIT_CASE(a_sub_device_is_made_and_deleted),
	KUNIT_CASE(the_system_is_shown_and_set),
	KUNIT_CASE(character_devices_are_told),
	KUNIT_CASE(events_are_told_to_who_monitors),
	{}
};

static struct kunit_suite ibcore_nldev_link_suite = {
	.name = "ib_core_nldev_link",
	.init = link_test_init,
	.exit = link_test_exit,
	.test_cases = nldev_link_cases,
};

kunit_test_suite(ibcore_nldev_link_suite);
