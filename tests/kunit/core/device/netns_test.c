// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Devices in network namespaces, rdma-system(8) and rdma-dev(8). */
#include <kunit/test.h>
#include <linux/nsproxy.h>
#include <net/net_namespace.h>
#include "faults.h"
#include "core/netlink/nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct nl nl, inner;	/* of init_net, of the test's namespace */
static struct fake_hca *hca;
static struct test_ns ns;

static int netns_test_init(struct kunit *test)
{
	memset(&ns, 0, sizeof(ns));
	ns.fd = -1;
	return nl_open(&nl, &init_net);
}

static int set_shared(bool on)
{
	struct sk_buff *req = nl_dev_req(&nl, RDMA_NLDEV_CMD_SYS_SET, NULL, 0);

	nla_put_u8(req, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, on);
	return nl_call(&nl, req);
}

static bool is_shared(void)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];

	nl_call(&nl, nl_dev_req(&nl, RDMA_NLDEV_CMD_SYS_GET, NULL, 0));
	nl_attrs(&nl, 0, tb);
	return nl_u8(tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]) == 1;
}

static void end_ns(void)
{
	if (inner.sock)
		nl_close(&inner);
	if (ns.net)
		test_ns_end(&ns);
}

/* Namespaces exit asynchronously, and the mode can change only after that. */
static void netns_test_exit(struct kunit *test)
{
	end_ns();
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, wait_until(!set_shared(true)), true);
	nl_close(&nl);
}

static void start_ns(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, test_ns_create(&ns), 0);
	KUNIT_ASSERT_EQ(test, nl_open(&inner, ns.net), 0);
}

static struct fake_hca *create(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	return hca;
}

/* The number of compat devices; 1000 or more if one is wrong, for example its name. */
static int compats(void)
{
	struct ib_core_device *cdev;
	unsigned long id;
	int n = 0;

	mutex_lock(&hca->ibdev.compat_devs_mutex);
	xa_for_each(&hca->ibdev.compat_devs, id, cdev) {
		n++;
		if (strcmp(dev_name(&cdev->dev), dev_name(&hca->ibdev.dev)) ||
		    list_empty(&cdev->port_list) || !cdev->ports_kobj ||
		    cdev->owner != &hca->ibdev || !device_is_registered(&cdev->dev))
			n = 1000;
	}
	mutex_unlock(&hca->ibdev.compat_devs_mutex);
	return n;
}

static bool has_compat(struct fake_hca *dev, const struct net *net)
{
	struct ib_core_device *cdev;
	unsigned long id;
	bool found = false;

	mutex_lock(&dev->ibdev.compat_devs_mutex);
	xa_for_each(&dev->ibdev.compat_devs, id, cdev)
		found |= net_eq(read_pnet(&cdev->rdma_net), net);
	mutex_unlock(&dev->ibdev.compat_devs_mutex);
	return found;
}

static bool sees(struct nl *from)
{
	return !nl_call(from, nl_dev_req(from, RDMA_NLDEV_CMD_GET, hca, 0));
}

/* ---- shared ---- */

static void a_shared_device_is_in_each_namespace(struct kunit *test)
{
	struct test_ns other;
	struct sk_buff *req;

	create(test);
	KUNIT_EXPECT_TRUE(test, is_shared());
	KUNIT_EXPECT_EQ(test, compats(), 0);
	start_ns(test);
	KUNIT_EXPECT_EQ(test, compats(), 1);
	KUNIT_EXPECT_TRUE(test, sees(&inner));
	KUNIT_EXPECT_TRUE(test, rdma_dev_access_netns(&hca->ibdev, ns.net));
	KUNIT_ASSERT_EQ(test, test_ns_create(&other), 0);
	KUNIT_EXPECT_EQ(test, compats(), 2);
	/* Compat devices are renamed with the device, which init_net may do. */
	req = nl_dev_req(&nl, RDMA_NLDEV_CMD_SET, hca, 0);
	nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, "renamed");
	KUNIT_EXPECT_EQ(test, nl_call(&nl, req), 0);
	KUNIT_EXPECT_EQ(test, compats(), 2);
	test_ns_end(&other);
	KUNIT_EXPECT_TRUE(test, wait_until(compats() == 1));
	end_ns();
	KUNIT_EXPECT_TRUE(test, wait_until(compats() == 0));
}

static void a_new_device_is_in_each_namespace(struct kunit *test)
{
	start_ns(test);
	create(test);
	KUNIT_EXPECT_EQ(test, compats(), 1);
	KUNIT_EXPECT_TRUE(test, sees(&inner));
	fake_hca_destroy(hca);
	hca = NULL;
}

static void the_mode_is_for_init_net_to_set(struct kunit *test)
{
	struct sk_buff *req;

	create(test);
	start_ns(test);
	req = nl_dev_req(&inner, RDMA_NLDEV_CMD_SYS_SET, NULL, 0);
	nla_put_u8(req, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0);
	KUNIT_EXPECT_EQ(test, nl_call(&inner, req), -EPERM);
	/* A process may be using the device in the other namespace. */
	KUNIT_EXPECT_EQ(test, set_shared(false), -EBUSY);
	KUNIT_EXPECT_TRUE(test, is_shared());
	KUNIT_EXPECT_EQ(test, compats(), 1);
}

/* The port mapper and the local service exist in the initial namespace only. */
static void other_clients_are_of_init_net(struct kunit *test)
{
	static const struct rdma_nl_cbs cbs[RDMA_NL_IWPM_NUM_OPS];
	int type = RDMA_NL_GET_TYPE(RDMA_NL_IWCM, RDMA_NL_IWPM_HELLO);

	start_ns(test);
	rdma_nl_register(RDMA_NL_IWCM, cbs);
	KUNIT_EXPECT_EQ(test, nl_call(&nl, nl_new(&nl, type, NLM_F_REQUEST)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, nl_call(&inner, nl_new(&inner, type, NLM_F_REQUEST)),
			-EINVAL);
	rdma_nl_unregister(RDMA_NL_IWCM);
}

static int create_once(struct kunit *test)
{
	hca = fake_hca_alloc(&ib_params);
	if (!hca)
		return -ENOMEM;
	if (fake_hca_register(hca)) {
		fake_hca_free(hca);
		hca = NULL;
		return -ENOMEM;
	}
	current->fail_nth = current->fail_nth ? 1000000 : 0;
	fake_hca_destroy(hca);
	hca = NULL;
	return 0;
}

static void a_compat_device_survives_each_failed_allocation(struct kunit *test)
{
	start_ns(test);
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, create_once), 50u);
}

/* ---- exclusive ---- */

static int share_once(struct kunit *test)
{
	int left, ret = set_shared(true);

	left = current->fail_nth;
	current->fail_nth = 0;
	/* The allocation of the acknowledgment may be the one that failed. */
	KUNIT_EXPECT_EQ(test, compats(), is_shared());
	if (is_shared()) {
		/* The mode can be set back only while there is no device. */
		fake_hca_destroy(hca);
		KUNIT_EXPECT_EQ(test, set_shared(false), 0);
		create(test);
	}
	current->fail_nth = left;
	return ret;
}

static void sharing_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, set_shared(false), 0);
	start_ns(test);
	create(test);
	KUNIT_EXPECT_EQ(test, compats(), 0);
	KUNIT_EXPECT_FALSE(test, sees(&inner));
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, share_once), 10u);
	KUNIT_EXPECT_EQ(test, set_shared(true), 0);
	KUNIT_EXPECT_EQ(test, compats(), 1);
	KUNIT_EXPECT_TRUE(test, sees(&inner));
}

static void an_exclusive_device_is_in_its_namespace_alone(struct kunit *test)
{
	create(test);
	KUNIT_ASSERT_EQ(test, set_shared(false), 0);
	KUNIT_EXPECT_FALSE(test, is_shared());
	KUNIT_EXPECT_EQ(test, set_shared(false), 0);
	start_ns(test);
	KUNIT_EXPECT_EQ(test, compats(), 0);
	KUNIT_EXPECT_TRUE(test, sees(&nl));
	KUNIT_EXPECT_FALSE(test, sees(&inner));
	KUNIT_EXPECT_EQ(test, nl_call(&inner, nl_dev_dump(&inner, RDMA_NLDEV_CMD_GET, NULL,
							  0)), 0);
	KUNIT_EXPECT_EQ(test, inner.n, 0);
	KUNIT_EXPECT_TRUE(test, rdma_dev_access_netns(&hca->ibdev, &init_net));
	KUNIT_EXPECT_FALSE(test, rdma_dev_access_netns(&hca->ibdev, ns.net));
}

/* ---- moving ---- */

static int adds, removes, enables, enable_result;
static struct ib_device *slow;		/* a client's remove() of this device waits */
static bool removing;
static DECLARE_COMPLETION(may_remove);

static int client_add(struct ib_device *dev)
{
	adds++;
	return 0;
}

static void client_remove(struct ib_device *dev, void *data)
{
	removes++;
	if (dev != READ_ONCE(slow))
		return;
	WRITE_ONCE(removing, true);
	wait_for_completion(&may_remove);
}

static struct ib_client client = {
	.name = "test_netns", .add = client_add, .remove = client_remove,
};

static void disassociate(struct ib_ucontext *ctx)
{
}

static int enable_driver(struct ib_device *dev)
{
	enables++;
	return enable_result;
}

static int move(struct nl *from, int fd)
{
	struct sk_buff *req = nl_dev_req(from, RDMA_NLDEV_CMD_SET, hca, 0);

	nla_put_u32(req, RDMA_NLDEV_NET_NS_FD, fd);
	return nl_call(from, req);
}

static bool in_sysfs(void)
{
	char buf[64];

	return !sys_read(buf, sizeof(buf), "%s/node_guid", dev_name(&hca->ibdev.dev));
}

static void prepare_move(struct kunit *test)
{
	adds = 0;
	removes = 0;
	enables = 0;
	enable_result = 0;
	KUNIT_ASSERT_EQ(test, set_shared(false), 0);
	start_ns(test);
	hca = fake_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.ops.disassociate_ucontext = disassociate;
	hca->ibdev.ops.enable_driver = enable_driver;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&client), 0);
	KUNIT_ASSERT_GE(test, ns.fd, 0);
}

static void a_device_moves_to_another_namespace(struct kunit *test)
{
	prepare_move(test);
	KUNIT_EXPECT_TRUE(test, in_sysfs());
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), 0);
	KUNIT_EXPECT_FALSE(test, sees(&nl));
	KUNIT_EXPECT_TRUE(test, sees(&inner));
	KUNIT_EXPECT_FALSE(test, in_sysfs());
	KUNIT_EXPECT_TRUE(test, net_eq(read_pnet(&hca->ibdev.coredev.rdma_net), ns.net));
	/* Clients got remove() and add(), and the driver enable_driver(). */
	KUNIT_EXPECT_EQ(test, adds, 2);
	KUNIT_EXPECT_EQ(test, removes, 1);
	KUNIT_EXPECT_EQ(test, enables, 2);
	/* A move to the device's current namespace does nothing. */
	KUNIT_EXPECT_EQ(test, move(&inner, ns.fd), 0);
	KUNIT_EXPECT_EQ(test, removes, 1);
	/* When the namespace exits, the device returns to init_net. */
	end_ns();
	KUNIT_EXPECT_TRUE(test, wait_until(sees(&nl)));
	KUNIT_EXPECT_TRUE(test, in_sysfs());
	KUNIT_EXPECT_EQ(test, adds, 3);
	KUNIT_EXPECT_EQ(test, removes, 2);
	ib_unregister_client(&client);
}

static void a_device_in_another_namespace_may_go(struct kunit *test)
{
	prepare_move(test);
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), 0);
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, adds, 2);
	KUNIT_EXPECT_EQ(test, removes, 2);
	ib_unregister_client(&client);
}

static void wrong_moves_are_refused(struct kunit *test)
{
	const struct cred *old;

	prepare_move(test);
	KUNIT_EXPECT_EQ(test, move(&nl, 999), -EBADF);
	old = nl_drop_caps();
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), -EPERM);
	nl_regain_caps(old);
	hca->ibdev.ops.disassociate_ucontext = NULL;
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), -EOPNOTSUPP);
	hca->ibdev.ops.disassociate_ucontext = disassociate;
	/* In shared mode the device is already in each namespace. */
	fake_hca_destroy(hca);
	KUNIT_EXPECT_EQ(test, set_shared(true), 0);
	create(test);
	hca->ibdev.ops.disassociate_ucontext = disassociate;
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), -EOPNOTSUPP);
	KUNIT_EXPECT_TRUE(test, sees(&nl));
	KUNIT_EXPECT_EQ(test, enables, 1);
	ib_unregister_client(&client);
}

/* The device is disabled then: it cannot be found, but another move may enable it. */
static void a_device_that_does_not_survive_the_move(struct kunit *test)
{
	prepare_move(test);
	enable_result = -EIO;
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), -EIO);
	KUNIT_EXPECT_FALSE(test, sees(&nl));
	KUNIT_EXPECT_FALSE(test, sees(&inner));
	KUNIT_EXPECT_FALSE(test, ib_device_try_get(&hca->ibdev));
	KUNIT_EXPECT_EQ(test, adds, 1);
	KUNIT_EXPECT_EQ(test, removes, 1);
	enable_result = 0;
	end_ns();
	KUNIT_EXPECT_TRUE(test, wait_until(sees(&nl)));
	KUNIT_EXPECT_EQ(test, adds, 2);
	ib_unregister_client(&client);
	KUNIT_EXPECT_EQ(test, removes, 2);
}

static struct ib_device *add_sub(struct ib_device *parent, enum rdma_nl_dev_type type,
				 const char *name)
{
	struct fake_hca *sub = fake_hca_create(&ib_params);

	return sub ? &sub->ibdev : ERR_PTR(-ENOMEM);
}

static int subs_deleted;

static void del_sub(struct ib_device *dev)
{
	fake_hca_destroy(to_fake_hca(dev));
	subs_deleted++;
}

/* It can be deleted though its parent is disabled, and is not deleted once more. */
static void a_sub_device_of_a_disabled_device(struct kunit *test)
{
	struct ib_device *sub;

	prepare_move(test);
	subs_deleted = 0;
	hca->ibdev.ops.add_sub_dev = add_sub;
	hca->ibdev.ops.del_sub_dev = del_sub;
	KUNIT_ASSERT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"), 0);
	sub = list_first_entry(&hca->ibdev.subdev_list_head, struct ib_device, subdev_list);
	enable_result = -EIO;
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), -EIO);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(sub));
	KUNIT_EXPECT_EQ(test, ib_del_sub_device_and_put(sub), 0);
	KUNIT_EXPECT_EQ(test, subs_deleted, 1);
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, subs_deleted, 1);
	ib_unregister_client(&client);
}

static void a_disabled_device_is_unregistered(struct kunit *test)
{
	prepare_move(test);
	enable_result = -EIO;
	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), -EIO);
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, removes, 1);
	ib_unregister_client(&client);
}

/*
 * Lets the namespace begin to exit, and stop while it moves @hca out: @other has yet to
 * be visited.  Returns the namespace, which must not be dereferenced.
 */
static const struct net *exit_half_way(struct kunit *test, struct fake_hca *other)
{
	const struct net *net = ns.net;

	KUNIT_EXPECT_EQ(test, move(&nl, ns.fd), 0);
	KUNIT_EXPECT_EQ(test, set_shared(true), 0);
	KUNIT_EXPECT_TRUE(test, has_compat(other, net));
	removing = false;
	reinit_completion(&may_remove);
	WRITE_ONCE(slow, &hca->ibdev);
	end_ns();
	KUNIT_EXPECT_TRUE(test, wait_until(READ_ONCE(removing)));
	KUNIT_EXPECT_TRUE(test, has_compat(other, net));
	return net;
}

static void go_on_exiting(void)
{
	WRITE_ONCE(slow, NULL);
	complete(&may_remove);
}

/* Each namespace has its own compat device, however long the older one takes to exit. */
static void a_namespace_begins_while_another_exits(struct kunit *test)
{
	struct test_ns next = { .fd = -1 };
	const struct net *exiting;
	struct fake_hca *other;

	prepare_move(test);
	other = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, other);
	exiting = exit_half_way(test, other);

	KUNIT_EXPECT_EQ(test, test_ns_create(&next), 0);
	KUNIT_EXPECT_TRUE(test, has_compat(other, next.net));
	KUNIT_EXPECT_TRUE(test, has_compat(other, exiting));
	go_on_exiting();
	KUNIT_EXPECT_TRUE(test, wait_until(!has_compat(other, exiting)));
	KUNIT_EXPECT_TRUE(test, has_compat(other, next.net));
	KUNIT_EXPECT_TRUE(test, has_compat(hca, next.net));
	test_ns_end(&next);
	KUNIT_EXPECT_TRUE(test, wait_until(xa_empty(&other->ibdev.compat_devs)));
	KUNIT_EXPECT_EQ(test, compats(), 0);
	fake_hca_destroy(other);
	ib_unregister_client(&client);
}

/* A device added or renamed meanwhile gets a compat device in the new one only. */
static void a_device_begins_while_a_namespace_exits(struct kunit *test)
{
	struct fake_hca *other, *late;
	struct test_ns next = { .fd = -1 };
	const struct net *exiting;
	struct sk_buff *req;

	prepare_move(test);
	other = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, other);
	exiting = exit_half_way(test, other);

	KUNIT_EXPECT_EQ(test, test_ns_create(&next), 0);
	late = fake_hca_create(&ib_params);
	req = nl_dev_req(&nl, RDMA_NLDEV_CMD_SET, other, 0);
	nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, "renamed");
	KUNIT_EXPECT_EQ(test, nl_call(&nl, req), 0);
	KUNIT_EXPECT_TRUE(test, late && !has_compat(late, exiting));
	KUNIT_EXPECT_TRUE(test, late && has_compat(late, next.net));
	go_on_exiting();
	KUNIT_EXPECT_TRUE(test, wait_until(!has_compat(other, exiting)));
	KUNIT_EXPECT_TRUE(test, has_compat(other, next.net));
	KUNIT_EXPECT_TRUE(test, late && has_compat(late, next.net));
	if (late)
		fake_hca_destroy(late);
	test_ns_end(&next);
	KUNIT_EXPECT_TRUE(test, wait_until(xa_empty(&other->ibdev.compat_devs)));
	fake_hca_destroy(other);
	ib_unregister_client(&client);
}

static struct kunit_case netns_cases[] = {
	KUNIT_CASE(a_shared_device_is_in_each_namespace),
	KUNIT_CASE(a_new_device_is_in_each_namespace),
	KUNIT_CASE(the_mode_is_for_init_net_to_set),
	KUNIT_CASE(other_clients_are_of_init_net),
	KUNIT_CASE(a_compat_device_survives_each_failed_allocation),
	KUNIT_CASE(sharing_survives_each_failed_allocation),
	KUNIT_CASE(an_exclusive_device_is_in_its_namespace_alone),
	KUNIT_CASE(a_device_moves_to_another_namespace),
	KUNIT_CASE(a_device_in_another_namespace_may_go),
	KUNIT_CASE(wrong_moves_are_refused),
	KUNIT_CASE(a_device_that_does_not_survive_the_move),
	KUNIT_CASE(a_sub_device_of_a_disabled_device),
	KUNIT_CASE(a_disabled_device_is_unregistered),
	KUNIT_CASE(a_namespace_begins_while_another_exits),
	KUNIT_CASE(a_device_begins_while_a_namespace_exits),
	{}
};

static struct kunit_suite ibcore_netns_suite = {
	.name = "ib_core_netns",
	.init = netns_test_init,
	.exit = netns_test_exit,
	.test_cases = netns_cases,
};

kunit_test_suite(ibcore_netns_suite);
