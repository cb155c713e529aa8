// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Devices, clients and events of ib_core. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include "fake_hca.h"
#include "faults.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

/* The callbacks of the clients of a test, in order. */
static char history[64];
static int history_len;
static int add_result;

static void note(char c)
{
	if (history_len < (int)sizeof(history) - 1)
		history[history_len++] = c;
}

static int client_a_add(struct ib_device *dev)
{
	note('a');
	return add_result;
}

static void client_a_remove(struct ib_device *dev, void *data)
{
	note('A');
}

static int client_b_add(struct ib_device *dev)
{
	note('b');
	return 0;
}

static void client_b_remove(struct ib_device *dev, void *data)
{
	note('B');
}

static struct ib_client client_a = {
	.name = "test_a", .add = client_a_add, .remove = client_a_remove,
};

static struct ib_client client_b = {
	.name = "test_b", .add = client_b_add, .remove = client_b_remove,
};

static int device_test_init(struct kunit *test)
{
	memset(history, 0, sizeof(history));
	history_len = 0;
	add_result = 0;
	return 0;
}

static void clients_of_a_new_device(struct kunit *test)
{
	struct fake_hca *hca;

	KUNIT_ASSERT_EQ(test, ib_register_client(&client_a), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&client_b), 0);
	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	fake_hca_destroy(hca);
	ib_unregister_client(&client_b);
	ib_unregister_client(&client_a);
	KUNIT_EXPECT_STREQ(test, history, "abBA");
}

static void a_new_client_of_a_device(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_ASSERT_EQ(test, ib_register_client(&client_a), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&client_b), 0);
	ib_unregister_client(&client_a);
	KUNIT_EXPECT_STREQ(test, history, "abA");
	fake_hca_destroy(hca);
	KUNIT_EXPECT_STREQ(test, history, "abAB");
	ib_unregister_client(&client_b);
}

/* A client that declines a device is not notified of its removal. */
static void a_client_that_declines(struct kunit *test)
{
	struct fake_hca *hca;

	KUNIT_ASSERT_EQ(test, ib_register_client(&client_a), 0);
	add_result = -EOPNOTSUPP;
	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	fake_hca_destroy(hca);
	ib_unregister_client(&client_a);
	KUNIT_EXPECT_STREQ(test, history, "a");
}

static void client_data_is_kept(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_ASSERT_EQ(test, ib_register_client(&client_a), 0);
	KUNIT_EXPECT_NULL(test, ib_get_client_data(&hca->ibdev, &client_a));
	ib_set_client_data(&hca->ibdev, &client_a, test);
	KUNIT_EXPECT_PTR_EQ(test, ib_get_client_data(&hca->ibdev, &client_a),
			    (void *)test);
	ib_unregister_client(&client_a);
	fake_hca_destroy(hca);
}

static void names_and_lookups(struct kunit *test)
{
	struct fake_hca *one = fake_hca_create(&ib_params);
	struct fake_hca *two = fake_hca_create(&ib_params);
	struct ib_device *found;

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, two);
	KUNIT_EXPECT_STRNEQ(test, dev_name(&one->ibdev.dev),
			    dev_name(&two->ibdev.dev));
	KUNIT_EXPECT_NE(test, one->ibdev.index, two->ibdev.index);
	found = ib_device_get_by_name(dev_name(&two->ibdev.dev),
				      RDMA_DRIVER_UNKNOWN);
	KUNIT_EXPECT_PTR_EQ(test, found, &two->ibdev);
	if (found)
		ib_device_put(found);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_name("none", RDMA_DRIVER_UNKNOWN));
	fake_hca_destroy(two);
	fake_hca_destroy(one);
}

static void a_taken_name_is_refused(struct kunit *test)
{
	struct fake_hca *one = fake_hca_create(&ib_params);
	struct fake_hca *two = fake_hca_alloc(&ib_params);

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, two);
	KUNIT_EXPECT_EQ(test, ib_register_device(&two->ibdev,
						 dev_name(&one->ibdev.dev), NULL),
			-ENFILE);
	fake_hca_free(two);
	fake_hca_destroy(one);
}

/* Unregistration waits for the last ib_device_put(). */
static int put_later(void *arg)
{
	struct fake_hca *hca = arg;

	msleep(200);
	hca->remove_count++;
	ib_device_put(&hca->ibdev);
	return 0;
}

static void unregister_waits_for_references(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	struct task_struct *task;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&hca->ibdev));
	task = kthread_run(put_later, hca, "put_later");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	ib_unregister_device(&hca->ibdev);
	KUNIT_EXPECT_EQ(test, hca->remove_count, 1);
	KUNIT_EXPECT_FALSE(test, ib_device_try_get(&hca->ibdev));
	list_del_init(&hca->on_fabric);
	fake_hca_free(hca);
}

static int events_seen;

static void count_event(struct ib_event_handler *handler, struct ib_event *event)
{
	if (event->event == IB_EVENT_PORT_ACTIVE && event->element.port_num == 1)
		events_seen++;
}

static void events_reach_handlers(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(&ib_params);
	struct ib_event_handler handler;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	events_seen = 0;
	INIT_IB_EVENT_HANDLER(&handler, &hca->ibdev, count_event);
	ib_register_event_handler(&handler);
	local_irq_disable();
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ACTIVE);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, events_seen, 0);
	msleep(50);
	KUNIT_EXPECT_EQ(test, events_seen, 1);
	ib_unregister_event_handler(&handler);
	fake_hca_port_event(hca, 1, IB_EVENT_PORT_ACTIVE);
	fake_hca_destroy(hca);
	KUNIT_EXPECT_EQ(test, events_seen, 1);
}

static int register_once(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_alloc(&ib_params);
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

static void registration_survives_each_failed_allocation(struct kunit *test)
{
	unsigned int failed = ibex_each_allocation(test, register_once);

	kunit_info(test, "%u registrations failed\n", failed);
	KUNIT_EXPECT_GT(test, failed, 5u);
}

static int churn(void *arg)
{
	int i;

	for (i = 0; i < 20; i++) {
		if (ib_register_client(&client_b))
			continue;
		cond_resched();
		ib_unregister_client(&client_b);
	}
	complete(arg);
	return 0;
}

static void devices_and_clients_race(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct fake_hca *hca;
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(churn, &done, "churn")));
	for (i = 0; i < 20; i++) {
		hca = fake_hca_create(&ib_params);
		KUNIT_ASSERT_NOT_NULL(test, hca);
		cond_resched();
		fake_hca_destroy(hca);
	}
	wait_for_completion(&done);
}

static void strings(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, ib_wc_status_msg(IB_WC_SUCCESS), "success");
	KUNIT_EXPECT_STREQ(test, ib_wc_status_msg(9999), "unrecognized status");
	KUNIT_EXPECT_STREQ(test, ib_event_msg(9999), "unrecognized event");
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(clients_of_a_new_device),
	KUNIT_CASE(a_new_client_of_a_device),
	KUNIT_CASE(a_client_that_declines),
	KUNIT_CASE(client_data_is_kept),
	KUNIT_CASE(names_and_lookups),
	KUNIT_CASE(a_taken_name_is_refused),
	KUNIT_CASE(unregister_waits_for_references),
	KUNIT_CASE(events_reach_handlers),
	KUNIT_CASE(registration_survives_each_failed_allocation),
	KUNIT_CASE(devices_and_clients_race),
	KUNIT_CASE(strings),
	{}
};

static struct kunit_suite ibcore_device_suite = {
	.name = "ib_core_device",
	.init = device_test_init,
	.test_cases = device_cases,
};

kunit_test_suite(ibcore_device_suite);
