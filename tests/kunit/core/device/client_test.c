// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Clients, events, sub devices, virtual functions, the cgroup and the log. */
#include <kunit/test.h>
#include <linux/console.h>
#include <linux/if_link.h>
#include <linux/kthread.h>
#include <ibex/cgroup.h>
#include "faults.h"
#include "core/netlink/nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct fake_hca *hca;

static int client_test_init(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	return hca ? 0 : -ENOMEM;
}

static void client_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

/* ---- clients ---- */

static int adds, removes;

static int count_add(struct ib_device *dev)
{
	adds++;
	return 0;
}

static void count_remove(struct ib_device *dev, void *data)
{
	removes++;
}

static struct ib_client counting = {
	.name = "test_count", .add = count_add, .remove = count_remove,
};

static struct ib_client modest = {
	.name = "test_modest", .add = count_add, .remove = count_remove,
	.no_kverbs_req = true,
};

/* A device without kernel verbs is not for ULPs. */
static void a_device_without_kernel_verbs(struct kunit *test)
{
	struct fake_hca *user = fake_hca_alloc(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, user);
	user->ibdev.ops.post_send = NULL;
	adds = 0;
	removes = 0;
	KUNIT_ASSERT_EQ(test, ib_register_client(&counting), 0);
	KUNIT_EXPECT_EQ(test, adds, 1);
	KUNIT_ASSERT_EQ(test, fake_hca_register(user), 0);
	KUNIT_EXPECT_FALSE(test, user->ibdev.kverbs_provider);
	KUNIT_EXPECT_EQ(test, adds, 1);
	KUNIT_ASSERT_EQ(test, ib_register_client(&modest), 0);
	KUNIT_EXPECT_EQ(test, adds, 3);
	fake_hca_destroy(user);
	KUNIT_EXPECT_EQ(test, removes, 1);
	ib_unregister_client(&modest);
	ib_unregister_client(&counting);
	KUNIT_EXPECT_EQ(test, removes, 3);
}

static int register_client_once(struct kunit *test)
{
	int ret = ib_register_client(&counting);

	current->fail_nth = current->fail_nth ? 1000000 : 0;
	if (!ret)
		ib_unregister_client(&counting);
	return ret;
}

static void a_client_survives_each_failed_allocation(struct kunit *test)
{
	struct fake_hca *other = fake_hca_create(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, other);
	adds = 0;
	removes = 0;
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, register_client_once), 2u);
	KUNIT_EXPECT_EQ(test, adds, removes);
	KUNIT_ASSERT_EQ(test, no_memory_begin(), 0);
	KUNIT_EXPECT_EQ(test, ib_register_client(&counting), -ENOMEM);
	no_memory_end();
	KUNIT_EXPECT_EQ(test, adds, removes);
	fake_hca_destroy(other);
}

static struct net_device *first_ndev, *second_ndev;
static int asked;
static struct { u32 port; u16 pkey; u32 key; } params;

static struct net_device *first_get(struct ib_device *dev, u32 port, u16 pkey,
				    const union ib_gid *gid, const struct sockaddr *addr,
				    void *data)
{
	asked++;
	params.port = port;
	params.pkey = pkey;
	params.key = data == &first_ndev;
	dev_hold(first_ndev);
	return first_ndev;
}

static struct net_device *second_get(struct ib_device *dev, u32 port, u16 pkey,
				     const union ib_gid *gid, const struct sockaddr *addr,
				     void *data)
{
	asked += 10;
	dev_hold(second_ndev);
	return second_ndev;
}

static int first_add(struct ib_device *dev);

static struct ib_client first = {
	.name = "test_first", .add = first_add, .get_net_dev_by_params = first_get,
};

static struct ib_client second = {
	.name = "test_second", .add = count_add, .get_net_dev_by_params = second_get,
};

static int first_add(struct ib_device *dev)
{
	ib_set_client_data(dev, &first, &first_ndev);
	return 0;
}

static struct net_device *netdev_for(struct fake_hca *dev)
{
	struct net_device *ndev;

	asked = 0;
	ndev = ib_get_net_dev_by_params(&dev->ibdev, 1, 0x8001, NULL, NULL);
	dev_put(ndev);
	return ndev;
}

static void a_netdev_is_asked_of_the_clients_in_order(struct kunit *test)
{
	struct net_device *ndev = fake_netdev_create("fnet%d");
	struct fake_hca_params roce_params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	struct fake_hca *roce = fake_hca_create(&roce_params);

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	KUNIT_ASSERT_NOT_NULL(test, roce);
	first_ndev = ndev;
	second_ndev = ndev;
	KUNIT_EXPECT_NULL(test, netdev_for(hca));
	KUNIT_ASSERT_EQ(test, ib_register_client(&counting), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&first), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&second), 0);
	KUNIT_EXPECT_PTR_EQ(test, netdev_for(hca), ndev);
	KUNIT_EXPECT_EQ(test, asked, 1);
	KUNIT_EXPECT_EQ(test, params.port, 1);
	KUNIT_EXPECT_EQ(test, params.pkey, 0x8001);
	KUNIT_EXPECT_TRUE(test, params.key);
	/* If a client knows no netdev, the next one is asked. */
	first_ndev = NULL;
	KUNIT_EXPECT_PTR_EQ(test, netdev_for(hca), ndev);
	KUNIT_EXPECT_EQ(test, asked, 11);
	second_ndev = NULL;
	KUNIT_EXPECT_NULL(test, netdev_for(hca));
	KUNIT_EXPECT_EQ(test, asked, 11);
	/* A RoCE port has its own netdev, so no client is asked. */
	second_ndev = ndev;
	KUNIT_EXPECT_NULL(test, netdev_for(roce));
	KUNIT_EXPECT_EQ(test, asked, 0);
	ib_unregister_client(&second);
	KUNIT_EXPECT_NULL(test, netdev_for(hca));
	ib_unregister_client(&first);
	ib_unregister_client(&counting);
	fake_hca_destroy(roce);
	fake_netdev_destroy(ndev);
}

/* ---- events ---- */

static char order[16];
static int nr_seen;

static void note_event(struct ib_event_handler *handler, struct ib_event *event)
{
	if (nr_seen < (int)sizeof(order) - 1)
		order[nr_seen++] = event->event == IB_EVENT_PORT_ERR ? 'e' :
				   event->event == IB_EVENT_PORT_ACTIVE ? 'a' : '?';
	if (nr_seen == 1)
		msleep(50);
}

static void events_come_in_order_and_before_the_end(struct kunit *test)
{
	struct ib_event_handler handler;

	memset(order, 0, sizeof(order));
	nr_seen = 0;
	INIT_IB_EVENT_HANDLER(&handler, &hca->ibdev, note_event);
	ib_register_event_handler(&handler);
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ERR);
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ACTIVE);
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ERR);
	KUNIT_EXPECT_TRUE(test, wait_until(READ_ONCE(nr_seen) == 3));
	KUNIT_EXPECT_STREQ(test, order, "eae");
	/* An event that there is no memory for is lost, and that is logged. */
	current->fail_nth = 1;
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	current->fail_nth = 0;
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ERR);
	KUNIT_EXPECT_TRUE(test, wait_until(READ_ONCE(nr_seen) == 4));
	KUNIT_EXPECT_STREQ(test, order, "eaee");
	ib_unregister_event_handler(&handler);
}

static void events_of_a_device_that_is_not_registered(struct kunit *test)
{
	struct fake_hca *idle = fake_hca_alloc(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, idle);
	fake_hca_port_event(idle, 1, IB_EVENT_PORT_ERR);
	KUNIT_ASSERT_EQ(test, fake_hca_register(idle), 0);
	ib_unregister_device(&idle->ibdev);
	list_del_init(&idle->on_fabric);
	fake_hca_port_event(idle, 1, IB_EVENT_PORT_ERR);
	fake_hca_free(idle);
}

static void each_event_and_status_has_a_name(struct kunit *test)
{
	const char *name;
	int i, j;

	for (i = IB_EVENT_CQ_ERR; i <= IB_EVENT_WQ_FATAL; i++) {
		name = ib_event_msg(i);
		KUNIT_EXPECT_STRNEQ_MSG(test, name, "unrecognized event", "event %d", i);
		for (j = IB_EVENT_CQ_ERR; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, name, ib_event_msg(j));
	}
	for (i = IB_WC_SUCCESS; i <= IB_WC_GENERAL_ERR; i++) {
		name = ib_wc_status_msg(i);
		KUNIT_EXPECT_STRNEQ_MSG(test, name, "unrecognized status", "status %d", i);
		for (j = IB_WC_SUCCESS; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, name, ib_wc_status_msg(j));
	}
	KUNIT_EXPECT_STREQ(test, ib_event_msg(-1), "unrecognized event");
	KUNIT_EXPECT_STREQ(test, ib_wc_status_msg(-1), "unrecognized status");
}

/* ---- sub devices ---- */

static struct fake_hca *sub;
static int subs_deleted;
static bool parent_leaves;

static int unregister_parent(void *arg)
{
	ib_unregister_device(&hca->ibdev);
	complete(arg);
	return 0;
}

static DECLARE_COMPLETION(parent_gone);

static struct ib_device *add_sub(struct ib_device *parent, enum rdma_nl_dev_type type,
				 const char *name)
{
	sub = fake_hca_alloc(&ib_params);
	if (!sub)
		return ERR_PTR(-ENOMEM);
	if (ib_register_device(&sub->ibdev, name, NULL)) {
		fake_hca_free(sub);
		return ERR_PTR(-EEXIST);
	}
	/* The parent's unregistration begins while the driver adds the sub device. */
	if (parent_leaves) {
		kthread_run(unregister_parent, &parent_gone, "unreg");
		msleep(200);
	}
	return &sub->ibdev;
}

static void del_sub(struct ib_device *dev)
{
	ib_unregister_device(dev);
	fake_hca_free(to_fake_hca(dev));
	subs_deleted++;
}

static void sub_devices_go_with_their_parent(struct kunit *test)
{
	subs_deleted = 0;
	parent_leaves = false;
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"),
			-EOPNOTSUPP);
	hca->ibdev.ops.add_sub_dev = add_sub;
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"),
			-EOPNOTSUPP);
	hca->ibdev.ops.del_sub_dev = del_sub;
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"), 0);
	KUNIT_EXPECT_PTR_EQ(test, sub->ibdev.parent, &hca->ibdev);
	KUNIT_EXPECT_EQ(test, sub->ibdev.type, RDMA_DEVICE_TYPE_SMI);
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"),
			-EEXIST);
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s1"), 0);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&sub->ibdev));
	KUNIT_EXPECT_EQ(test, ib_del_sub_device_and_put(&sub->ibdev), 0);
	KUNIT_EXPECT_EQ(test, subs_deleted, 1);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&hca->ibdev));
	KUNIT_EXPECT_EQ(test, ib_del_sub_device_and_put(&hca->ibdev), -EOPNOTSUPP);
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, subs_deleted, 2);
}

static void a_sub_device_of_a_parent_that_leaves(struct kunit *test)
{
	subs_deleted = 0;
	parent_leaves = true;
	reinit_completion(&parent_gone);
	hca->ibdev.ops.add_sub_dev = add_sub;
	hca->ibdev.ops.del_sub_dev = del_sub;
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, subs_deleted, 1);
	wait_for_completion(&parent_gone);
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"),
			-ENODEV);
	KUNIT_EXPECT_EQ(test, subs_deleted, 1);
	list_del_init(&hca->on_fabric);
	fake_hca_free(hca);
	hca = NULL;
}

static int delete_result;

static int delete_sub(void *arg)
{
	delete_result = ib_del_sub_device_and_put(&sub->ibdev);
	complete(arg);
	return 0;
}

/* If two delete a sub device, one succeeds and the other gets -ENODEV. */
static void a_sub_device_is_deleted_once(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	int ret;

	subs_deleted = 0;
	parent_leaves = false;
	hca->ibdev.ops.add_sub_dev = add_sub;
	hca->ibdev.ops.del_sub_dev = del_sub;
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"), 0);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&sub->ibdev));
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&sub->ibdev));
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(delete_sub, &done, "del")));
	/* The thread waits for the reference held here. */
	msleep(100);
	ret = ib_del_sub_device_and_put(&sub->ibdev);
	wait_for_completion(&done);
	KUNIT_EXPECT_EQ(test, ret, -ENODEV);
	KUNIT_EXPECT_EQ(test, delete_result, 0);
	KUNIT_EXPECT_EQ(test, subs_deleted, 1);
}

static DECLARE_COMPLETION(may_delete);

static void del_sub_slowly(struct ib_device *dev)
{
	del_sub(dev);
	wait_for_completion(&may_delete);
}

/* The driver still uses the parent while it deletes a sub device. */
static void a_parent_waits_for_its_sub_device(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);

	subs_deleted = 0;
	parent_leaves = false;
	reinit_completion(&parent_gone);
	reinit_completion(&may_delete);
	hca->ibdev.ops.add_sub_dev = add_sub;
	hca->ibdev.ops.del_sub_dev = del_sub_slowly;
	KUNIT_ASSERT_EQ(test, ib_add_sub_device(&hca->ibdev, RDMA_DEVICE_TYPE_SMI, "s0"), 0);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&sub->ibdev));
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(delete_sub, &done, "del")));
	msleep(100);
	KUNIT_EXPECT_EQ(test, subs_deleted, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(unregister_parent, &parent_gone,
						    "unreg")));
	msleep(100);
	KUNIT_EXPECT_FALSE(test, completion_done(&parent_gone));
	complete(&may_delete);
	wait_for_completion(&done);
	wait_for_completion(&parent_gone);
	KUNIT_EXPECT_EQ(test, delete_result, 0);
	list_del_init(&hca->on_fabric);
	fake_hca_free(hca);
	hca = NULL;
}

/* ---- virtual functions ---- */

static int vf_calls;

static int set_link_state(struct ib_device *dev, int vf, u32 port, int state)
{
	return dev == &hca->ibdev && vf == 3 && port == 1 ? state : -EIO;
}

static int get_config(struct ib_device *dev, int vf, u32 port, struct ifla_vf_info *info)
{
	info->vf = vf * 10 + port;
	return vf_calls++;
}

static int get_stats(struct ib_device *dev, int vf, u32 port, struct ifla_vf_stats *stats)
{
	stats->rx_packets = vf * 100 + port;
	return vf_calls++;
}

static int set_guid(struct ib_device *dev, int vf, u32 port, u64 guid, int type)
{
	return vf == 3 && port == 1 && guid == 0x1122334455667788ULL ? type : -EIO;
}

static int get_guid(struct ib_device *dev, int vf, u32 port, struct ifla_vf_guid *node,
		    struct ifla_vf_guid *port_guid)
{
	node->guid = vf;
	port_guid->guid = port;
	return vf_calls++;
}

static const struct ib_device_ops vf_ops = {
	.set_vf_link_state = set_link_state, .get_vf_config = get_config,
	.get_vf_stats = get_stats, .set_vf_guid = set_guid, .get_vf_guid = get_guid,
};

static void virtual_functions_are_the_drivers(struct kunit *test)
{
	const u64 guid = 0x1122334455667788ULL;
	struct ib_device *dev = &hca->ibdev;
	struct ifla_vf_guid node, port;
	struct ifla_vf_stats stats;
	struct ifla_vf_info info;

	KUNIT_EXPECT_EQ(test, ib_set_vf_link_state(dev, 3, 1, 2), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_get_vf_config(dev, 3, 1, &info), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_get_vf_stats(dev, 3, 1, &stats), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_set_vf_guid(dev, 3, 1, guid, IFLA_VF_IB_PORT_GUID),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ib_get_vf_guid(dev, 3, 1, &node, &port), -EOPNOTSUPP);
	ib_set_device_ops(dev, &vf_ops);
	vf_calls = 0;
	KUNIT_EXPECT_EQ(test, ib_set_vf_link_state(dev, 3, 1, 2), 2);
	KUNIT_EXPECT_EQ(test, ib_get_vf_config(dev, 3, 1, &info), 0);
	KUNIT_EXPECT_EQ(test, info.vf, 31);
	KUNIT_EXPECT_EQ(test, ib_get_vf_stats(dev, 3, 1, &stats), 1);
	KUNIT_EXPECT_EQ(test, stats.rx_packets, 301);
	KUNIT_EXPECT_EQ(test, ib_set_vf_guid(dev, 3, 1, guid, IFLA_VF_IB_PORT_GUID),
			IFLA_VF_IB_PORT_GUID);
	KUNIT_EXPECT_EQ(test, ib_get_vf_guid(dev, 3, 1, &node, &port), 2);
	KUNIT_EXPECT_EQ(test, node.guid, 3);
	KUNIT_EXPECT_EQ(test, port.guid, 1);
}

/* ---- cgroup ---- */

static void objects_are_charged_and_given_back(struct kunit *test)
{
	struct ib_rdmacg_object a = {}, b = {};

	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge(&a, &hca->ibdev,
						   RDMACG_RESOURCE_HCA_HANDLE), 0);
	KUNIT_EXPECT_EQ(test, ib_rdmacg_try_charge(&b, &hca->ibdev,
						   RDMACG_RESOURCE_HCA_OBJECT), 0);
#ifdef CONFIG_CGROUP_RDMA
	KUNIT_EXPECT_NOT_NULL(test, a.cg);
	KUNIT_EXPECT_FALSE(test, list_empty(&hca->ibdev.cg_device.rpools));
	KUNIT_EXPECT_STREQ(test, hca->ibdev.cg_device.name, dev_name(&hca->ibdev.dev));
#endif
	ib_rdmacg_uncharge(&a, &hca->ibdev, RDMACG_RESOURCE_HCA_HANDLE);
	ib_rdmacg_uncharge(&b, &hca->ibdev, RDMACG_RESOURCE_HCA_OBJECT);
#ifdef CONFIG_CGROUP_RDMA
	/* The last uncharge frees the group's account of the device. */
	KUNIT_EXPECT_TRUE(test, list_empty(&hca->ibdev.cg_device.rpools));
#endif
}

/* ---- the log ---- */

static char logged[2048];
static size_t logged_len;

static void log_write(struct console *con, const char *text, unsigned int len)
{
	len = min_t(size_t, len, sizeof(logged) - 1 - logged_len);
	memcpy(logged + logged_len, text, len);
	logged_len += len;
	logged[logged_len] = '\0';
}

static struct console log_console = {
	.name = "testlog", .write = log_write, .flags = CON_ENABLED, .index = -1,
};

static void a_line_names_its_device(struct kunit *test)
{
	struct ib_device *dev = &hca->ibdev;
	char expected[96];

	memset(logged, 0, sizeof(logged));
	logged_len = 0;
	register_console(&log_console);
	ibdev_emerg(dev, "line %d\n", 0);
	ibdev_alert(dev, "line %d\n", 1);
	ibdev_crit(dev, "line %d\n", 2);
	ibdev_err(dev, "line %d\n", 3);
	ibdev_warn(dev, "line %d\n", 4);
	ibdev_notice(dev, "line %d\n", 5);
	ibdev_info(dev, "line %d\n", 6);
	ibdev_printk(KERN_WARNING, NULL, "line of %s\n", "nobody");
	dev->dev.parent = get_device(root_device_register("test_parent"));
	ibdev_err(dev, "with a parent\n");
	unregister_console(&log_console);
	put_device(dev->dev.parent);
	root_device_unregister(dev->dev.parent);
	dev->dev.parent = NULL;

	snprintf(expected, sizeof(expected), "%s: line 0\n", dev_name(&dev->dev));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, expected));
	snprintf(expected, sizeof(expected), "%s: line 6\n", dev_name(&dev->dev));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, expected));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, ": line 1\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, ": line 2\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, ": line 3\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, ": line 4\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, ": line 5\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(logged, "(NULL ib_device): line of nobody\n"));
	snprintf(expected, sizeof(expected), " test_parent %s: with a parent\n",
		 dev_name(&dev->dev));
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(logged, expected), "%s", logged);
}

static struct kunit_case client_cases[] = {
	KUNIT_CASE(a_device_without_kernel_verbs),
	KUNIT_CASE(a_client_survives_each_failed_allocation),
	KUNIT_CASE(a_netdev_is_asked_of_the_clients_in_order),
	KUNIT_CASE(events_come_in_order_and_before_the_end),
	KUNIT_CASE(events_of_a_device_that_is_not_registered),
	KUNIT_CASE(each_event_and_status_has_a_name),
	KUNIT_CASE(sub_devices_go_with_their_parent),
	KUNIT_CASE(a_sub_device_of_a_parent_that_leaves),
	KUNIT_CASE(a_sub_device_is_deleted_once),
	KUNIT_CASE(a_parent_waits_for_its_sub_device),
	KUNIT_CASE(virtual_functions_are_the_drivers),
	KUNIT_CASE(objects_are_charged_and_given_back),
	KUNIT_CASE(a_line_names_its_device),
	{}
};

static struct kunit_suite ibcore_client_suite = {
	.name = "ib_core_client",
	.init = client_test_init,
	.exit = client_test_exit,
	.test_cases = client_cases,
};

kunit_test_suite(ibcore_client_suite);
