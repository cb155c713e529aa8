// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Adapters: ports with and without a CM, their counters, their removal. */
#include <linux/fs.h>
#include <ibex/device.h>
#include "cm_test.h"
#include "core/netlink/nl.h"
#include "rescuer.h"

static struct cm_pair pair;

static int port_test_init(struct kunit *test)
{
	return cm_pair_init_ports(test, &pair, 2);
}

static void port_test_exit(struct kunit *test)
{
	cm_pair_exit(&pair);
}

static int read_file(const char *path, char *buf, size_t size)
{
	struct file *file = filp_open(path, O_RDONLY, 0);
	loff_t at = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_read(file, buf, size - 1, &at);
	filp_close(file, NULL);
	if (n < 0)
		return n;
	buf[n] = 0;
	return 0;
}

static long counter(struct cm_side *side, u32 port, const char *group, const char *kind)
{
	char path[128], buf[32];
	long value;
	int ret;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/%s/%s",
		 dev_name(&side->hca->ibdev.dev), port, group, kind);
	ret = read_file(path, buf, sizeof(buf));
	if (!ret)
		ret = kstrtol(strim(buf), 10, &value);
	return ret ?: value;
}

static const char *const kinds[IBCM_KINDS] = {
	"req", "mra", "rej", "rep", "rtu", "dreq", "drep", "sidr_req", "sidr_rep", "lap",
	"apr",
};

static void each_message_is_counted(struct kunit *test)
{
	int k;

	pair.client.drop[IBCM_REQ] = 1;
	pair.client.duplicate = BIT(IBCM_RTU);
	cm_connect(test, &pair);
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair.client.id, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "RT"));
	msleep(500);
	KUNIT_EXPECT_EQ(test, counter(&pair.client, 1, "cm_tx_msgs", "req"), 2);
	KUNIT_EXPECT_EQ(test, counter(&pair.client, 1, "cm_tx_retries", "req"), 1);
	KUNIT_EXPECT_EQ(test, counter(&pair.server, 1, "cm_rx_msgs", "req"), 1);
	KUNIT_EXPECT_EQ(test, counter(&pair.server, 1, "cm_tx_msgs", "rep"), 1);
	KUNIT_EXPECT_EQ(test, counter(&pair.client, 1, "cm_rx_msgs", "rep"), 1);
	KUNIT_EXPECT_EQ(test, counter(&pair.server, 1, "cm_rx_msgs", "rtu"), 2);
	KUNIT_EXPECT_EQ(test, counter(&pair.server, 1, "cm_rx_duplicates", "rtu"), 1);
	KUNIT_EXPECT_EQ(test, counter(&pair.client, 1, "cm_tx_msgs", "dreq"), 1);
	KUNIT_EXPECT_EQ(test, counter(&pair.client, 1, "cm_rx_msgs", "drep"), 1);
	/* Each kind has its file, and the other port has counters of its own. */
	for (k = 0; k < IBCM_KINDS; k++) {
		KUNIT_EXPECT_EQ_MSG(test, counter(&pair.client, 2, "cm_tx_msgs", kinds[k]), 0,
				    "%s", kinds[k]);
		KUNIT_EXPECT_GE_MSG(test, counter(&pair.client, 1, "cm_rx_duplicates",
						  kinds[k]), 0, "%s", kinds[k]);
	}
	KUNIT_EXPECT_EQ(test, counter(&pair.client, 1, "cm_tx_msgs", "nothing"), -ENOENT);
}

static bool has_file(const char *device, u32 port)
{
	char path[IB_DEVICE_NAME_MAX + 64];
	struct file *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_cm/%s-%u", device, port);
	file = filp_open(path, O_RDONLY, 0);
	if (!IS_ERR(file))
		filp_close(file, NULL);
	return !IS_ERR(file);
}

static int rename_to(struct nl *nl, struct cm_side *side, const char *name)
{
	struct sk_buff *req = nl_dev_req(nl, RDMA_NLDEV_CMD_SET, side->hca, 0);

	nla_put_string(req, RDMA_NLDEV_ATTR_DEV_NAME, name);
	return nl_call(nl, req);
}

/* A file that stayed under its former name would be taken for another device's. */
static void debugfs_follows_the_names(struct kunit *test)
{
	struct nl *nl = kunit_kzalloc(test, sizeof(*nl), GFP_KERNEL);
	char first[IB_DEVICE_NAME_MAX], second[IB_DEVICE_NAME_MAX];

	KUNIT_ASSERT_NOT_NULL(test, nl);
	KUNIT_ASSERT_EQ(test, nl_open(nl, &init_net), 0);
	ibcore_device_name(&pair.client.hca->ibdev, first);
	ibcore_device_name(&pair.server.hca->ibdev, second);
	KUNIT_EXPECT_TRUE(test, has_file(first, 1) && has_file(second, 1));
	KUNIT_EXPECT_EQ(test, rename_to(nl, &pair.client, "renamed"), 0);
	KUNIT_EXPECT_TRUE(test, has_file("renamed", 1) && has_file("renamed", 2));
	KUNIT_EXPECT_FALSE(test, has_file(first, 1) || has_file(first, 2));
	KUNIT_EXPECT_EQ(test, rename_to(nl, &pair.server, first), 0);
	KUNIT_EXPECT_TRUE(test, has_file(first, 1) && has_file(first, 2));
	KUNIT_EXPECT_FALSE(test, has_file(second, 1) || has_file(second, 2));
	nl_close(nl);
}

static int (*stock_immutable)(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *immutable);
static unsigned int without_cm;		/* mask of ports */

static int port_immutable(struct ib_device *ibdev, u32 port,
			  struct ib_port_immutable *immutable)
{
	int ret = stock_immutable(ibdev, port, immutable);

	if (without_cm & BIT(port))
		immutable->core_cap_flags &= ~RDMA_CORE_CAP_IB_CM;
	return ret;
}

static struct fake_hca *new_hca(u32 ports, unsigned int mask)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
		.ports = ports,
	};
	struct fake_hca *hca = fake_hca_alloc(&params);

	if (!hca)
		return NULL;
	without_cm = mask;
	stock_immutable = hca->ibdev.ops.get_port_immutable;
	hca->ibdev.ops.get_port_immutable = port_immutable;
	return hca;
}

static bool has_cm(struct fake_hca *hca)
{
	struct ib_cm_id *id = ib_create_cm_id(&hca->ibdev, NULL, NULL);

	if (IS_ERR(id))
		return false;
	ib_destroy_cm_id(id);
	return true;
}

static void adapters_without_a_cm(struct kunit *test)
{
	const struct fake_hca_params iwarp = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.iwarp = true,
		.ndev = fake_netdev_create("fnet%d"),
	};
	struct fake_hca *hca;

	KUNIT_ASSERT_NOT_NULL(test, iwarp.ndev);
	hca = fake_hca_create(&iwarp);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_FALSE(test, has_cm(hca));
	fake_hca_destroy(hca);
	fake_netdev_destroy(iwarp.ndev);

	hca = new_hca(2, BIT(1) | BIT(2));
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_EXPECT_FALSE(test, has_cm(hca));
	fake_hca_destroy(hca);
}

/* Connections use the port with a CM; nothing is sent from the other. */
static void one_port_without_a_cm(struct kunit *test)
{
	struct ib_cm_req_param req = {
		.qp_type = IB_QPT_RC, .service_id = TEST_SERVICE,
		.remote_cm_response_timeout = TEST_RESPONSE,
	};
	struct fake_hca *hca = new_hca(2, BIT(1));
	struct sa_path_rec path;
	struct ib_cm_id *id;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_EXPECT_TRUE(test, has_cm(hca));
	id = ib_create_cm_id(&hca->ibdev, cm_handler, &pair.client);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	pair.client.id = id;
	cm_path(&pair, &path);
	req.primary_path = &path;
	path.sgid = hca->port[1].gids[0];
	KUNIT_EXPECT_EQ(test, ib_send_cm_req(id, &req), -ENODEV);
	path.sgid = hca->port[2].gids[0];
	sa_path_set_slid(&path, hca->port[2].lid);
	KUNIT_EXPECT_EQ(test, ib_send_cm_req(id, &req), 0);
	KUNIT_EXPECT_TRUE(test, cm_wait(&pair.client, "J"));
	cm_drop_id(&pair.client);
	fake_hca_destroy(hca);
}

static u32 capability;		/* mask of ports with IB_PORT_CM_SUP set */
static int modify_ret;
static u32 fail_after;		/* port whose modify_port makes an allocation fail */
static unsigned int fail_nth, unspent;

static int modify_port(struct ib_device *ibdev, u32 port, int mask,
		       struct ib_port_modify *modify)
{
	if (modify->set_port_cap_mask & IB_PORT_CM_SUP)
		capability |= BIT(port);
	if (modify->clr_port_cap_mask & IB_PORT_CM_SUP)
		capability &= ~BIT(port);
	if (!fail_after)
		return modify_ret;
	if (modify->set_port_cap_mask) {
		unspent = current->fail_nth;
		current->fail_nth = port == fail_after ? fail_nth : 0;
	}
	return 0;
}

/* A port's IB_PORT_CM_SUP is set as long as it has a CM (IBA volume 1, 14.2.5.6). */
static void the_capability_follows(struct kunit *test)
{
	struct fake_hca *hca = new_hca(2, BIT(1));

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.ops.modify_port = modify_port;
	capability = 0;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_EXPECT_EQ(test, capability, (u32)BIT(2));
	ib_unregister_device(&hca->ibdev);
	KUNIT_EXPECT_EQ(test, capability, 0u);
	fake_hca_destroy(hca);

	/*
	 * A provider without the verb has no capability to set: the CM starts without
	 * it.
	 */
	hca = new_hca(1, 0);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.ops.modify_port = NULL;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_EXPECT_TRUE(test, has_cm(hca));
	fake_hca_destroy(hca);
}

static void the_capability_cannot_be_set(struct kunit *test)
{
	struct fake_hca *hca = new_hca(2, 0);

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.ops.modify_port = modify_port;
	modify_ret = -EIO;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	modify_ret = 0;
	KUNIT_EXPECT_FALSE(test, has_cm(hca));
	fake_hca_destroy(hca);
}

/* When the second port cannot start, the first is stopped again. */
static void starting_survives_each_failed_allocation(struct kunit *test)
{
	struct fake_hca *hca;
	int without = 0;
	bool cm = false;

	unspent = 0;
	for (fail_nth = 1; fail_nth < 300 && !unspent; fail_nth++) {
		hca = new_hca(2, 0);
		KUNIT_ASSERT_NOT_NULL(test, hca);
		hca->ibdev.ops.modify_port = modify_port;
		capability = 0;
		fail_after = 1;
		KUNIT_EXPECT_EQ(test, fake_hca_register(hca), 0);
		fail_after = 0;
		current->fail_nth = 0;
		cm = has_cm(hca);
		KUNIT_EXPECT_EQ_MSG(test, capability, cm ? (u32)(BIT(1) | BIT(2)) : 0u,
				    "allocation %u", fail_nth);
		fake_hca_destroy(hca);
		without += !cm;
	}
	KUNIT_EXPECT_TRUE(test, cm);
	/*
	 * A failed allocation prevents the CM from starting, except for one of debugfs.
	 */
	KUNIT_EXPECT_GE(test, without, 5);
}

/* An id that its handler destroyed stays in use until the handler returns. */
static void removal_waits_for_a_handler(struct kunit *test)
{
	unsigned long start;

	KUNIT_ASSERT_EQ(test, cm_listen(&pair.server), 0);
	pair.server.destroy_on = 'U';
	pair.server.slow_ms = 1000;
	KUNIT_ASSERT_EQ(test, cm_request(&pair), 0);
	KUNIT_ASSERT_TRUE(test, cm_wait(&pair.server, "QU"));
	start = jiffies;
	KUNIT_EXPECT_TRUE(test, pair.server.destroyed);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(pair.server.in_handler));
	ib_destroy_cm_id(pair.server.listener);
	pair.server.listener = NULL;
	fake_hca_destroy(pair.server.hca);
	pair.server.hca = NULL;
	KUNIT_EXPECT_FALSE(test, READ_ONCE(pair.server.in_handler));
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start), 800u);
}

/* The adapter is removed while messages that match no id still await a response. */
static void sleep_in_create_ah(struct fake_hca *hca)
{
	hca->on_create_ah = NULL;
	msleep(300);
}

static void removal_with_orphans_waiting(struct kunit *test)
{
	u8 mad[IB_MGMT_MAD_SIZE];
	int i;

	cm_mad(&pair.client, &pair.server, IBCM_DREQ, mad);
	IBA_SET(CM_DREQ_REMOTE_COMM_ID, (struct cm_dreq_msg *)mad, 0x7654321);
	pair.server.hca->on_create_ah = sleep_in_create_ah;
	for (i = 0; i < 10; i++) {
		cm_inject(&pair.client, &pair.server, mad, sizeof(mad));
		usleep_range(1000, 1100);
	}
	KUNIT_EXPECT_NULL(test, pair.server.hca->on_create_ah);
	fake_hca_destroy(pair.server.hca);
	pair.server.hca = NULL;
	KUNIT_EXPECT_LE(test, atomic_read(&pair.server.wire[IBCM_DREP]), 1);
}

/*
 * Storage over RDMA reconnects in order to write out dirty memory when memory is short.
 */
static void connections_need_no_new_worker(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, has_rescuer("ib_cm"));
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(each_message_is_counted),
	KUNIT_CASE(debugfs_follows_the_names),
	KUNIT_CASE(adapters_without_a_cm),
	KUNIT_CASE(one_port_without_a_cm),
	KUNIT_CASE(the_capability_follows),
	KUNIT_CASE(the_capability_cannot_be_set),
	KUNIT_CASE(starting_survives_each_failed_allocation),
	KUNIT_CASE(removal_waits_for_a_handler),
	KUNIT_CASE(removal_with_orphans_waiting),
	KUNIT_CASE(connections_need_no_new_worker),
	{}
};

static struct kunit_suite ibcm_port_suite = {
	.name = "ib_cm_port",
	.init = port_test_init,
	.exit = port_test_exit,
	.test_cases = port_cases,
};

kunit_test_suite(ibcm_port_suite);
