// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* issm devices: the IsSM bit, and which ports have it. */
#include "umad_test.h"

#define PORTS	1100		/* more than Linux once supported */

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct fake_hca *hca;
static struct umad_port *port;
static char name[20];

static int issm_test_init(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	if (!hca)
		return -ENOMEM;
	port = umad_find_port(&hca->ibdev, 1);
	snprintf(name, sizeof(name), "issm%d", port ? port->number : -1);
	return port ? 0 : -ENODEV;
}

static void issm_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static bool is_sm(void)
{
	return hca->port[1].cap_mask & IB_PORT_SM;
}

static void the_bit_is_set_while_it_is_open(struct kunit *test)
{
	struct file *filp, *other;

	hca->port[1].cap_mask = IB_PORT_CM_SUP;
	filp = fixture_open_node(name, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	KUNIT_EXPECT_TRUE(test, is_sm());
	other = fixture_open_node(name, O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(other), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, is_sm());
	fixture_close_file(filp);
	KUNIT_EXPECT_FALSE(test, is_sm());
	KUNIT_EXPECT_EQ(test, hca->port[1].cap_mask, (u32)IB_PORT_CM_SUP);

	other = fixture_open_node(name, O_NONBLOCK);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	KUNIT_EXPECT_TRUE(test, is_sm());
	fixture_close_file(other);
}

static long open_issm(struct fixture_waiter *waiter)
{
	waiter->filp = fixture_open_node(waiter->name, 0);
	return PTR_ERR_OR_ZERO(waiter->filp);
}

static void another_waits_until_it_is_closed(struct kunit *test)
{
	struct fixture_waiter waiter = { .fn = open_issm, .name = name };
	struct file *filp = fixture_open_node(name, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	fixture_waiter_start(test, &waiter);
	msleep(3000);
	KUNIT_EXPECT_FALSE(test, waiter.done);
	fixture_close_file(filp);
	KUNIT_ASSERT_TRUE(test, fixture_waiter_join(&waiter));
	KUNIT_ASSERT_EQ(test, waiter.result, 0l);
	KUNIT_EXPECT_TRUE(test, is_sm());
	fixture_close_file(waiter.filp);
	KUNIT_EXPECT_FALSE(test, is_sm());
}

static int cleared;

static int count_modify(struct ib_device *ibdev, u32 port_num, int mask,
			struct ib_port_modify *modify)
{
	cleared += modify->clr_port_cap_mask == IB_PORT_SM;
	return 0;
}

/* Removal also clears the bit, as the device may be moved to another namespace. */
static void removal_takes_it_from_all(struct kunit *test)
{
	struct fixture_waiter waiter = { .fn = open_issm, .name = name };
	struct file *filp = fixture_open_node(name, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	fixture_waiter_start(test, &waiter);
	cleared = 0;
	hca->ibdev.ops.modify_port = count_modify;
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, cleared, 1);
	KUNIT_ASSERT_TRUE(test, fixture_waiter_join(&waiter));
	KUNIT_EXPECT_EQ(test, waiter.result, -ENXIO);
	fixture_close_file(filp);
	KUNIT_EXPECT_EQ(test, cleared, 1);
}

static void a_refusing_provider_is_told(struct kunit *test)
{
	struct file *filp;

	atomic_set(&hca->fail_modify_port, 1);
	filp = fixture_open_node(name, O_NONBLOCK);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(filp), -EIO);
	filp = fixture_open_node(name, O_NONBLOCK);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	fixture_close_file(filp);
}

/* RoCE has no subnet manager. */
static void only_a_subnet_has_one(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
	};
	struct fake_hca *roce = fake_hca_create(&params);
	struct umad_port *roce_port;
	struct file *filp;

	KUNIT_ASSERT_NOT_NULL(test, roce);
	roce_port = umad_find_port(&roce->ibdev, 1);
	KUNIT_EXPECT_NOT_NULL(test, roce_port);
	if (roce_port) {
		KUNIT_EXPECT_FALSE(test, roce_port->has_issm);
		snprintf(name, sizeof(name), "issm%d", roce_port->number);
		filp = fixture_open_node(name, O_NONBLOCK);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(filp), -ENOENT);
	}
	fake_hca_destroy(roce);
}

/* A switch has one port for MADs, port 0. */
static void a_switch_has_one_at_port_0(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2, .is_switch = true,
	};
	struct fake_hca *sw = fake_hca_create(&params);
	struct umad_port *sw_port;

	KUNIT_ASSERT_NOT_NULL(test, sw);
	sw_port = umad_find_port(&sw->ibdev, 0);
	KUNIT_EXPECT_NOT_NULL(test, sw_port);
	if (sw_port) {
		KUNIT_EXPECT_EQ(test, sw_port->port_num, 0u);
		KUNIT_EXPECT_TRUE(test, sw_port->has_issm);
	}
	KUNIT_EXPECT_NULL(test, umad_find_port(&sw->ibdev, 1));
	fake_hca_destroy(sw);
}

/* Adapters that are split into thousands of scalable functions have as many ports. */
static void there_are_numbers_for_thousands_of_ports(struct kunit *test)
{
	int *numbers = kunit_kcalloc(test, PORTS, sizeof(*numbers), GFP_KERNEL);
	int i, n;

	KUNIT_ASSERT_NOT_NULL(test, numbers);
	for (n = 0; n < PORTS; n++) {
		numbers[n] = umad_number_get();
		if (numbers[n] < 0)
			break;
	}
	KUNIT_EXPECT_EQ(test, n, PORTS);
	for (i = 1; i < n; i++) {
		KUNIT_EXPECT_NE(test, umad_devt(numbers[i]), umad_devt(numbers[i - 1]));
		KUNIT_EXPECT_NE(test, umad_devt(numbers[i]), umad_issm_devt(numbers[0]));
	}
	while (n--)
		umad_number_put(numbers[n]);
}

static struct kunit_case issm_cases[] = {
	KUNIT_CASE(there_are_numbers_for_thousands_of_ports),
	KUNIT_CASE(the_bit_is_set_while_it_is_open),
	KUNIT_CASE(another_waits_until_it_is_closed),
	KUNIT_CASE(removal_takes_it_from_all),
	KUNIT_CASE(a_refusing_provider_is_told),
	KUNIT_CASE(only_a_subnet_has_one),
	KUNIT_CASE(a_switch_has_one_at_port_0),
	{}
};

static struct kunit_suite umad_issm_suite = {
	.name = "umad_issm",
	.init = issm_test_init,
	.exit = issm_test_exit,
	.test_cases = issm_cases,
};

kunit_test_suite(umad_issm_suite);
