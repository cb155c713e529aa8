// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /sys/class/infiniband, as libibverbs and the infiniband-diags read it. */
#include <kunit/test.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_sysfs.h>
#include <ibex/sysfs.h>
#include "faults.h"
#include "nl.h"

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct fake_hca *hca;
static char buf[512];

static void sysfs_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

/* The content of @file of the adapter, or its error as a string. */
static const char *show(const char *file)
{
	int ret = sys_read(buf, sizeof(buf), "%s/%s", dev_name(&hca->ibdev.dev), file);

	if (ret)
		snprintf(buf, sizeof(buf), "error %d", ret);
	return buf;
}

static int store(const char *file, const char *value)
{
	return sys_write(value, "%s/%s", dev_name(&hca->ibdev.dev), file);
}

#define EXPECT_FILE(file, content) \
	KUNIT_EXPECT_STREQ_MSG(test, show(file), content, "%s", file)

/* ---- the device ---- */

static void fw_str(struct ib_device *dev, char *str)
{
	strscpy(str, "22.31.1014", IB_FW_VERSION_NAME_MAX);
}

static char new_desc[IB_DEVICE_NODE_DESC_MAX + 1];

static int modify_device(struct ib_device *dev, int mask, struct ib_device_modify *modify)
{
	if (mask != IB_DEVICE_MODIFY_NODE_DESC)
		return -EINVAL;
	memcpy(new_desc, modify->node_desc, IB_DEVICE_NODE_DESC_MAX);
	return 0;
}

static void a_device_shows_what_it_is(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.node_guid = cpu_to_be64(0x0002c90300a1b2c3ULL);
	hca->ibdev.attrs.sys_image_guid = cpu_to_be64(0x0002c90300a1b2c6ULL);
	EXPECT_FILE("node_guid", "0002:c903:00a1:b2c3\n");
	EXPECT_FILE("sys_image_guid", "0002:c903:00a1:b2c6\n");
	EXPECT_FILE("fw_ver", "\n");
	hca->ibdev.ops.get_dev_fw_str = fw_str;
	EXPECT_FILE("fw_ver", "22.31.1014\n");
	show("uevent");
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, "NAME="));
	KUNIT_EXPECT_NOT_NULL(test, strstr(buf, dev_name(&hca->ibdev.dev)));
}

static void a_node_type_has_a_number_and_a_name(struct kunit *test)
{
	static const struct { u8 type; const char *text; } types[] = {
		{ RDMA_NODE_IB_CA, "1: CA\n" }, { RDMA_NODE_IB_SWITCH, "2: switch\n" },
		{ RDMA_NODE_IB_ROUTER, "3: router\n" }, { RDMA_NODE_RNIC, "4: RNIC\n" },
		{ RDMA_NODE_USNIC, "5: usNIC\n" }, { RDMA_NODE_USNIC_UDP, "6: usNIC UDP\n" },
		{ RDMA_NODE_UNSPECIFIED, "7: unspecified\n" }, { 99, "99: <unknown>\n" },
		{ 0, "0: <unknown>\n" },
	};
	int i;

	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		hca->ibdev.node_type = types[i].type;
		EXPECT_FILE("node_type", types[i].text);
	}
	hca->ibdev.node_type = RDMA_NODE_IB_CA;
}

static void the_node_description_is_read_and_written(struct kunit *test)
{
	char *desc, *line;

	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	desc = kunit_kzalloc(test, 80, GFP_KERNEL);
	line = kunit_kzalloc(test, 80, GFP_KERNEL);
	strscpy(hca->ibdev.node_desc, "host mlx5_0", IB_DEVICE_NODE_DESC_MAX);
	EXPECT_FILE("node_desc", "host mlx5_0\n");
	/* All 64 octets may be used; the field has no terminating NUL then. */
	memset(desc, 'x', IB_DEVICE_NODE_DESC_MAX);
	memcpy(hca->ibdev.node_desc, desc, IB_DEVICE_NODE_DESC_MAX);
	snprintf(line, 80, "%s\n", desc);
	EXPECT_FILE("node_desc", line);

	KUNIT_EXPECT_EQ(test, store("node_desc", "other"), -EOPNOTSUPP);
	hca->ibdev.ops.modify_device = modify_device;
	memset(new_desc, 0, sizeof(new_desc));
	KUNIT_EXPECT_EQ(test, store("node_desc", "other"), 0);
	KUNIT_EXPECT_STREQ(test, new_desc, "other");
	/* A string longer than the field is cut. */
	memset(desc, 'y', 70);
	KUNIT_EXPECT_EQ(test, store("node_desc", desc), 0);
	desc[IB_DEVICE_NODE_DESC_MAX] = '\0';
	KUNIT_EXPECT_STREQ(test, new_desc, desc);
	KUNIT_EXPECT_LT(test, store("node_guid", "1"), 0);
}

/* ---- a port ---- */

static struct ib_port_attr port_attr;
static int query_result;

static int query_port(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	*attr = port_attr;
	return query_result;
}

static void ask_port(void)
{
	hca->ibdev.ops.query_port = query_port;
	query_result = 0;
	port_attr = (struct ib_port_attr){
		.state = IB_PORT_ACTIVE, .phys_state = IB_PORT_PHYS_STATE_LINK_UP,
		.active_width = IB_WIDTH_4X, .active_speed = IB_SPEED_EDR,
		.lid = 0x1a2b, .lmc = 3, .sm_lid = 0x17, .sm_sl = 5,
		.port_cap_flags = 0x2514868,
	};
}

static void a_port_shows_its_state(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	EXPECT_FILE("ports/1/state", "4: ACTIVE\n");
	EXPECT_FILE("ports/1/phys_state", "5: LinkUp\n");
	EXPECT_FILE("ports/1/rate", "100 Gb/sec (4X EDR)\n");
	EXPECT_FILE("ports/2/link_layer", "InfiniBand\n");
	EXPECT_FILE("ports/3/state", "error -2");
	EXPECT_FILE("ports/0/state", "error -2");
	ask_port();
	EXPECT_FILE("ports/1/lid", "0x1a2b\n");
	EXPECT_FILE("ports/1/lid_mask_count", "3\n");
	EXPECT_FILE("ports/1/sm_lid", "0x17\n");
	EXPECT_FILE("ports/1/sm_sl", "5\n");
	EXPECT_FILE("ports/1/cap_mask", "0x02514868\n");
	port_attr.state = 9;
	EXPECT_FILE("ports/1/state", "9: UNKNOWN\n");
	port_attr.state = IB_PORT_INIT;
	EXPECT_FILE("ports/1/state", "2: INIT\n");
	port_attr.phys_state = IB_PORT_PHYS_STATE_DISABLED;
	EXPECT_FILE("ports/1/phys_state", "3: Disabled\n");
	port_attr.phys_state = 0;
	EXPECT_FILE("ports/1/phys_state", "0: <unknown>\n");
	port_attr.phys_state = 77;
	EXPECT_FILE("ports/1/phys_state", "77: <unknown>\n");
	query_result = -EIO;
	EXPECT_FILE("ports/1/state", "error -5");
	EXPECT_FILE("ports/1/phys_state", "error -5");
	EXPECT_FILE("ports/1/rate", "error -5");
	EXPECT_FILE("ports/1/lid", "error -5");
	hca->link_layer = IB_LINK_LAYER_UNSPECIFIED;
	EXPECT_FILE("ports/2/link_layer", "Unknown\n");
	hca->link_layer = IB_LINK_LAYER_INFINIBAND;
}

static void a_rate_is_of_all_lanes(struct kunit *test)
{
	static const struct { u16 speed; u8 width; const char *text; } rates[] = {
		{ IB_SPEED_SDR, IB_WIDTH_1X, "2.5 Gb/sec (1X SDR)\n" },
		{ IB_SPEED_SDR, IB_WIDTH_4X, "10 Gb/sec (4X SDR)\n" },
		{ IB_SPEED_DDR, IB_WIDTH_4X, "20 Gb/sec (4X DDR)\n" },
		{ IB_SPEED_QDR, IB_WIDTH_8X, "80 Gb/sec (8X QDR)\n" },
		{ IB_SPEED_FDR10, IB_WIDTH_4X, "40 Gb/sec (4X FDR10)\n" },
		{ IB_SPEED_FDR, IB_WIDTH_4X, "56 Gb/sec (4X FDR)\n" },
		{ IB_SPEED_EDR, IB_WIDTH_2X, "50 Gb/sec (2X EDR)\n" },
		{ IB_SPEED_HDR, IB_WIDTH_4X, "200 Gb/sec (4X HDR)\n" },
		{ IB_SPEED_NDR, IB_WIDTH_4X, "400 Gb/sec (4X NDR)\n" },
		{ IB_SPEED_XDR, IB_WIDTH_12X, "2400 Gb/sec (12X XDR)\n" },
		{ 0, IB_WIDTH_4X, "10 Gb/sec (4X SDR)\n" },
		{ IB_SPEED_EDR, 0, "error -22" },
	};
	int i;

	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	ask_port();
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		port_attr.active_speed = rates[i].speed;
		port_attr.active_width = rates[i].width;
		EXPECT_FILE("ports/1/rate", rates[i].text);
	}
}

static void tables_of_an_ib_port(struct kunit *test)
{
	char gid[48];

	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	snprintf(gid, sizeof(gid), "%pI6\n", hca->port[2].gids[0].raw);
	EXPECT_FILE("ports/2/gids/0", gid);
	EXPECT_FILE("ports/2/gids/31", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	EXPECT_FILE("ports/2/gids/32", "error -2");
	EXPECT_FILE("ports/1/pkeys/0", "0xffff\n");
	EXPECT_FILE("ports/1/pkeys/1", "0x8001\n");
	EXPECT_FILE("ports/1/pkeys/7", "0x0000\n");
	EXPECT_FILE("ports/1/pkeys/8", "error -2");
	EXPECT_FILE("ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
	EXPECT_FILE("ports/1/gid_attrs/types/31", "error -22");
	EXPECT_FILE("ports/1/gid_attrs/ndevs/0", "error -22");
	EXPECT_FILE("ports/1/gid_attrs/ndevs/31", "error -22");
}

static void tables_of_a_roce_port(struct kunit *test)
{
	struct net_device *ndev = fake_netdev_create("fnet%d");
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	char name[IFNAMSIZ + 1];

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	hca = fake_hca_create(&params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	snprintf(name, sizeof(name), "%s\n", ndev->name);
	EXPECT_FILE("ports/1/link_layer", "Ethernet\n");
	KUNIT_EXPECT_TRUE(test, wait_until(!strncmp(show("ports/1/gids/0"), "fe80:", 5)));
	EXPECT_FILE("ports/1/gid_attrs/ndevs/0", name);
	show("ports/1/gid_attrs/types/0");
	KUNIT_EXPECT_TRUE(test, !strcmp(buf, "IB/RoCE v1\n") || !strcmp(buf, "RoCE v2\n"));
	EXPECT_FILE("ports/1/gid_attrs/types/31", "error -22");
	fake_hca_destroy(hca);
	hca = NULL;
	fake_netdev_destroy(ndev);
}

static int empty_tables(struct ib_device *dev, u32 port, struct ib_port_immutable *imm)
{
	imm->core_cap_flags = RDMA_CORE_PORT_USNIC;
	imm->gid_tbl_len = port == 1;
	return 0;
}

static void a_table_without_entries_is_not_there(struct kunit *test)
{
	hca = fake_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.ops.get_port_immutable = empty_tables;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	KUNIT_EXPECT_EQ(test, sys_read(buf, sizeof(buf), "%s/ports/1/gids/0",
				       dev_name(&hca->ibdev.dev)), 0);
	EXPECT_FILE("ports/1/gids/1", "error -2");
	EXPECT_FILE("ports/1/pkeys", "error -2");
	EXPECT_FILE("ports/2/gids", "error -2");
	EXPECT_FILE("ports/2/gid_attrs/types", "error -2");
	EXPECT_FILE("ports/2/state", "4: ACTIVE\n");
}

/* ---- counters of the performance agent ---- */

static __be16 class_caps;
static bool agent_answers;
static u8 asked_port;

static int process_mad(struct ib_device *dev, int flags, u32 port, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in_mad,
		       struct ib_mad *out_mad, size_t *size, u16 *pkey_index)
{
	const struct ib_pma_mad *in = (const struct ib_pma_mad *)in_mad;
	struct ib_pma_mad *out = (struct ib_pma_mad *)out_mad;
	struct ib_class_port_info *info = (struct ib_class_port_info *)out->data;
	struct ib_pma_portcounters *pc = (struct ib_pma_portcounters *)out->data;
	struct ib_pma_portcounters_ext *ext = (struct ib_pma_portcounters_ext *)out->data;

	if (!agent_answers || in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_FAILURE;
	out->mad_hdr = in->mad_hdr;
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		info->capability_mask = class_caps;
	} else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS) {
		asked_port = ((const struct ib_pma_portcounters *)in->data)->port_select;
		pc->symbol_error_counter = cpu_to_be16(0x1234);
		pc->link_error_recovery_counter = 0x56;
		pc->link_downed_counter = 0x78;
		pc->port_rcv_errors = cpu_to_be16(21);
		pc->port_xmit_discards = cpu_to_be16(22);
		pc->port_xmit_constraint_errors = 23;
		pc->port_rcv_constraint_errors = 24;
		pc->link_overrun_errors = 0x9c;
		pc->vl15_dropped = cpu_to_be16(25);
		pc->port_xmit_data = cpu_to_be32(0xfedcba98);
		pc->port_rcv_packets = cpu_to_be32(26);
		pc->port_xmit_wait = cpu_to_be32(27);
	} else {
		ext->port_xmit_data = cpu_to_be64(0x123456789abcdef0ULL);
		ext->port_multicast_rcv_packets = cpu_to_be64(28);
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static int register_with_agent(__be16 caps)
{
	class_caps = caps;
	agent_answers = true;
	hca = fake_hca_alloc(&ib_params);
	if (!hca)
		return -ENOMEM;
	hca->ibdev.ops.process_mad = process_mad;
	return fake_hca_register(hca);
}

static void an_agent_counts(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_with_agent(0), 0);
	EXPECT_FILE("ports/2/counters/symbol_error", "4660\n");
	KUNIT_EXPECT_EQ(test, asked_port, 2);
	EXPECT_FILE("ports/1/counters/link_error_recovery", "86\n");
	KUNIT_EXPECT_EQ(test, asked_port, 1);
	EXPECT_FILE("ports/1/counters/link_downed", "120\n");
	EXPECT_FILE("ports/1/counters/port_rcv_errors", "21\n");
	EXPECT_FILE("ports/1/counters/port_rcv_remote_physical_errors", "0\n");
	EXPECT_FILE("ports/1/counters/port_rcv_switch_relay_errors", "0\n");
	EXPECT_FILE("ports/1/counters/port_xmit_discards", "22\n");
	EXPECT_FILE("ports/1/counters/port_xmit_constraint_errors", "23\n");
	EXPECT_FILE("ports/1/counters/port_rcv_constraint_errors", "24\n");
	/* Two counters in one octet, the first in the high half. */
	EXPECT_FILE("ports/1/counters/local_link_integrity_errors", "9\n");
	EXPECT_FILE("ports/1/counters/excessive_buffer_overrun_errors", "12\n");
	EXPECT_FILE("ports/1/counters/VL15_dropped", "25\n");
	EXPECT_FILE("ports/1/counters/port_xmit_data", "4275878552\n");
	EXPECT_FILE("ports/1/counters/port_rcv_packets", "26\n");
	EXPECT_FILE("ports/1/counters/port_xmit_wait", "27\n");
	EXPECT_FILE("ports/1/counters/unicast_xmit_packets", "error -2");
	agent_answers = false;
	EXPECT_FILE("ports/1/counters/port_xmit_wait", "error -22");
}

static void an_extended_agent_counts_in_64_bits(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_with_agent(IB_PMA_CLASS_CAP_EXT_WIDTH), 0);
	EXPECT_FILE("ports/1/counters/symbol_error", "4660\n");
	EXPECT_FILE("ports/1/counters/port_xmit_data", "1311768467463790320\n");
	EXPECT_FILE("ports/1/counters/multicast_rcv_packets", "28\n");
	EXPECT_FILE("ports/1/counters/unicast_xmit_packets", "0\n");
}

static void an_agent_without_the_ietfs_counters(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, register_with_agent(IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF), 0);
	EXPECT_FILE("ports/1/counters/port_xmit_data", "1311768467463790320\n");
	EXPECT_FILE("ports/1/counters/multicast_rcv_packets", "error -2");
}

static void without_an_agent_there_are_no_counters(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	EXPECT_FILE("ports/1/counters/symbol_error", "error -2");
	EXPECT_FILE("ports/1/counters", "error -2");
	EXPECT_FILE("hw_counters", "error -2");
	EXPECT_FILE("ports/1/hw_counters", "error -2");
}

/* ---- counters of the driver ---- */

static void a_driver_counts(struct kunit *test)
{
	hca = stats_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	EXPECT_FILE("hw_counters/rx_frames", "1000\n");
	EXPECT_FILE("hw_counters/tx_frames", "1001\n");
	EXPECT_FILE("hw_counters/lifespan", "10\n");
	EXPECT_FILE("ports/1/hw_counters/rx_frames", "10\n");
	EXPECT_FILE("ports/2/hw_counters/tx_frames", "21\n");
	EXPECT_FILE("ports/2/hw_counters/lifespan", "10\n");
	EXPECT_FILE("ports/1/hw_counters/opt_a", "error -2");
	msleep(50);
	stats_state.fail_read = -EIO;
	EXPECT_FILE("ports/1/hw_counters/rx_frames", "error -5");
	EXPECT_FILE("hw_counters/rx_frames", "error -5");
}

static void the_lifespan_is_for_the_operator_to_choose(struct kunit *test)
{
	int reads;

	hca = stats_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	KUNIT_EXPECT_EQ(test, store("ports/1/hw_counters/lifespan", "5000\n"), 0);
	EXPECT_FILE("ports/1/hw_counters/lifespan", "5000\n");
	EXPECT_FILE("ports/2/hw_counters/lifespan", "10\n");
	EXPECT_FILE("ports/1/hw_counters/rx_frames", "10\n");
	reads = stats_state.reads;
	msleep(4000);
	EXPECT_FILE("ports/1/hw_counters/rx_frames", "10\n");
	KUNIT_EXPECT_EQ(test, stats_state.reads, reads);
	msleep(1500);
	EXPECT_FILE("ports/1/hw_counters/rx_frames", "10\n");
	KUNIT_EXPECT_EQ(test, stats_state.reads, reads + 1);
	KUNIT_EXPECT_EQ(test, store("ports/1/hw_counters/lifespan", "10001"), -EINVAL);
	KUNIT_EXPECT_EQ(test, store("ports/1/hw_counters/lifespan", "soon"), -EINVAL);
	KUNIT_EXPECT_EQ(test, store("ports/1/hw_counters/lifespan", "-1"), -EINVAL);
	EXPECT_FILE("ports/1/hw_counters/lifespan", "5000\n");
	KUNIT_EXPECT_EQ(test, store("hw_counters/lifespan", "10000"), 0);
	EXPECT_FILE("hw_counters/lifespan", "10000\n");
	KUNIT_EXPECT_LT(test, store("ports/1/hw_counters/rx_frames", "0"), 0);
}

static void a_driver_may_have_nothing_to_count(struct kunit *test)
{
	hca = stats_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	stats_state.no_stats = true;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	EXPECT_FILE("ports/1/hw_counters", "error -2");
	EXPECT_FILE("hw_counters/rx_frames", "1000\n");
	fake_hca_destroy(hca);
	/* A driver without get_hw_stats(). */
	hca = stats_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.ops.get_hw_stats = NULL;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	EXPECT_FILE("ports/1/hw_counters", "error -2");
	EXPECT_FILE("hw_counters", "error -2");
	fake_hca_destroy(hca);
	/* A lifespan of -1 selects the default. */
	hca = stats_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	stats_state.lifespan = -1;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	EXPECT_FILE("ports/1/hw_counters/lifespan", "10\n");
	EXPECT_FILE("ports/1/hw_counters/rx_frames", "10\n");
}

static void a_driver_without_memory_for_counters(struct kunit *test)
{
	hca = stats_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	stats_state.no_memory = true;
	KUNIT_EXPECT_EQ(test, fake_hca_register(hca), -ENOMEM);
	fake_hca_free(hca);
	hca = stats_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	stats_state.no_memory = true;
	hca->ibdev.ops.alloc_hw_device_stats = NULL;
	KUNIT_EXPECT_EQ(test, fake_hca_register(hca), -ENOMEM);
	fake_hca_free(hca);
	hca = NULL;
}

/* ---- what drivers and clients add ---- */

static ssize_t extra_show(struct ib_device *dev, u32 port, struct ib_port_attribute *attr,
			  char *out)
{
	return sysfs_emit(out, "port %u\n", port);
}

static int stored;

static ssize_t extra_store(struct ib_device *dev, u32 port, struct ib_port_attribute *attr,
			   const char *in, size_t count)
{
	stored = port * 100 + in[0] - '0';
	return count;
}

static struct ib_port_attribute extra_attr = __ATTR(extra, 0644, extra_show, extra_store);
static struct ib_port_attribute mute_attr = __ATTR(mute, 0644, NULL, NULL);

static u32 visible_port;

static umode_t extra_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	u32 port;

	if (ib_port_sysfs_get_ibdev_kobj(kobj, &port) != &hca->ibdev)
		return 0;
	return !visible_port || port == visible_port ? attr->mode : 0;
}

static struct attribute *extra_attrs[] = { &extra_attr.attr, &mute_attr.attr, NULL };

static const struct attribute_group extra_group = {
	.name = "vendor", .attrs = extra_attrs, .is_visible = extra_visible,
};

static const struct attribute_group *extra_groups[] = { &extra_group, NULL };

static void a_driver_adds_to_its_ports(struct kunit *test)
{
	hca = fake_hca_alloc(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->ibdev.ops.port_groups = extra_groups;
	visible_port = 2;
	KUNIT_ASSERT_EQ(test, fake_hca_register(hca), 0);
	EXPECT_FILE("ports/2/vendor/extra", "port 2\n");
	EXPECT_FILE("ports/1/vendor/extra", "error -2");
	stored = 0;
	KUNIT_EXPECT_EQ(test, store("ports/2/vendor/extra", "7"), 0);
	KUNIT_EXPECT_EQ(test, stored, 207);
	/* An attribute that can neither be read nor written. */
	EXPECT_FILE("ports/2/vendor/mute", "error -5");
	KUNIT_EXPECT_EQ(test, store("ports/2/vendor/mute", "7"), -EIO);
}

static void a_client_adds_to_a_port(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	visible_port = 0;
	KUNIT_EXPECT_EQ(test, ib_port_register_client_groups(&hca->ibdev, 1, extra_groups),
			0);
	EXPECT_FILE("ports/1/vendor/extra", "port 1\n");
	EXPECT_FILE("ports/2/vendor/extra", "error -2");
	ib_port_unregister_client_groups(&hca->ibdev, 1, extra_groups);
	EXPECT_FILE("ports/1/vendor/extra", "error -2");
}

/* ---- removal ---- */

static void an_open_file_of_a_device_that_went(struct kunit *test)
{
	char path[96], old[32];
	struct file *file;
	loff_t pos = 0;

	hca = stats_hca_create(&ib_params);
	KUNIT_ASSERT_NOT_NULL(test, hca);
	strscpy(old, dev_name(&hca->ibdev.dev), sizeof(old));
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/rx_frames",
		 old);
	file = filp_open(path, O_RDONLY, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	fake_hca_destroy(hca);
	hca = NULL;
	KUNIT_EXPECT_EQ(test, kernel_read(file, buf, sizeof(buf), &pos), -ENODEV);
	__fput_sync(file);
	KUNIT_EXPECT_EQ(test, sys_read(buf, sizeof(buf), "%s/node_guid", old), -ENOENT);
}

static int register_all_once(struct kunit *test)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	int ret;

	hca = stats_hca_alloc(&params);
	if (!hca)
		return -ENOMEM;
	hca->ibdev.ops.process_mad = process_mad;
	hca->ibdev.ops.port_groups = extra_groups;
	class_caps = IB_PMA_CLASS_CAP_EXT_WIDTH;
	agent_answers = true;
	visible_port = 0;
	ret = fake_hca_register(hca);
	if (ret) {
		fake_hca_free(hca);
	} else {
		/* Allocations of the removal are not made to fail. */
		current->fail_nth = current->fail_nth ? 1000000 : 0;
		fake_hca_destroy(hca);
	}
	hca = NULL;
	return ret;
}

static void all_files_survive_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, register_all_once), 50u);
}

static struct kunit_case sysfs_cases[] = {
	KUNIT_CASE(a_device_shows_what_it_is),
	KUNIT_CASE(a_node_type_has_a_number_and_a_name),
	KUNIT_CASE(the_node_description_is_read_and_written),
	KUNIT_CASE(a_port_shows_its_state),
	KUNIT_CASE(a_rate_is_of_all_lanes),
	KUNIT_CASE(tables_of_an_ib_port),
	KUNIT_CASE(tables_of_a_roce_port),
	KUNIT_CASE(a_table_without_entries_is_not_there),
	KUNIT_CASE(an_agent_counts),
	KUNIT_CASE(an_extended_agent_counts_in_64_bits),
	KUNIT_CASE(an_agent_without_the_ietfs_counters),
	KUNIT_CASE(without_an_agent_there_are_no_counters),
	KUNIT_CASE(a_driver_counts),
	KUNIT_CASE(the_lifespan_is_for_the_operator_to_choose),
	KUNIT_CASE(a_driver_may_have_nothing_to_count),
	KUNIT_CASE(a_driver_without_memory_for_counters),
	KUNIT_CASE(a_driver_adds_to_its_ports),
	KUNIT_CASE(a_client_adds_to_a_port),
	KUNIT_CASE(an_open_file_of_a_device_that_went),
	KUNIT_CASE(all_files_survive_each_failed_allocation),
	{}
};

static struct kunit_suite ibcore_sysfs_suite = {
	.name = "ib_core_sysfs",
	.exit = sysfs_test_exit,
	.test_cases = sysfs_cases,
};

kunit_test_suite(ibcore_sysfs_suite);
