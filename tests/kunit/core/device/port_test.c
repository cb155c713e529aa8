// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ports: their attributes from the driver, and their net_devices. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "core/objects.h"

#define PORT_NET	87

static struct fake_hca *ib, *iwarp;
static struct net_device *iw_ndev;
static struct roce roce;

static int port_test_init(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};

	ib = fake_hca_create(&params);
	iw_ndev = fake_netdev_create("fiw%d");
	params = (struct fake_hca_params){
		.link_layer = IB_LINK_LAYER_ETHERNET, .iwarp = true, .ndev = iw_ndev,
	};
	iwarp = iw_ndev ? fake_hca_create(&params) : NULL;
	return ib && iwarp ? roce_get(&roce, PORT_NET) : -ENOMEM;
}

static void port_test_exit(struct kunit *test)
{
	if (ib)
		fake_hca_destroy(ib);
	if (iwarp)
		fake_hca_destroy(iwarp);
	if (iw_ndev)
		fake_netdev_destroy(iw_ndev);
	roce_put(&roce);
}

static void node_types_have_transports(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rdma_node_get_transport(RDMA_NODE_IB_CA), RDMA_TRANSPORT_IB);
	KUNIT_EXPECT_EQ(test, rdma_node_get_transport(RDMA_NODE_IB_SWITCH),
			RDMA_TRANSPORT_IB);
	KUNIT_EXPECT_EQ(test, rdma_node_get_transport(RDMA_NODE_RNIC),
			RDMA_TRANSPORT_IWARP);
	KUNIT_EXPECT_EQ(test, rdma_node_get_transport(RDMA_NODE_USNIC),
			RDMA_TRANSPORT_USNIC);
	KUNIT_EXPECT_EQ(test, rdma_node_get_transport(RDMA_NODE_USNIC_UDP),
			RDMA_TRANSPORT_USNIC_UDP);
	KUNIT_EXPECT_EQ(test, rdma_node_get_transport(RDMA_NODE_UNSPECIFIED),
			RDMA_TRANSPORT_UNSPECIFIED);
	KUNIT_EXPECT_EQ(test, rdma_node_get_transport(200), RDMA_TRANSPORT_IB);

	ib->ibdev.ops.get_link_layer = NULL;
	iwarp->ibdev.ops.get_link_layer = NULL;
	KUNIT_EXPECT_EQ(test, rdma_port_get_link_layer(&ib->ibdev, 1),
			IB_LINK_LAYER_INFINIBAND);
	KUNIT_EXPECT_EQ(test, rdma_port_get_link_layer(&iwarp->ibdev, 1),
			IB_LINK_LAYER_ETHERNET);
}

static int fails(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	return -EIO;
}

static int no_gid(struct ib_device *dev, u32 port, int index, union ib_gid *gid)
{
	return -ENXIO;
}

static void a_query_asks_the_driver(struct kunit *test)
{
	struct ib_port_attr attr;
	u16 pkey;

	KUNIT_EXPECT_EQ(test, ib_query_port(&ib->ibdev, 2, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.lid, ib->port[2].lid);
	KUNIT_EXPECT_EQ(test, attr.subnet_prefix, 0xfe80000000000000ULL);
	KUNIT_EXPECT_EQ(test, ib_query_port(&ib->ibdev, 0, &attr), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_query_port(&ib->ibdev, 3, &attr), -EINVAL);
	/* A RoCE port has no subnet prefix. */
	KUNIT_EXPECT_EQ(test, ib_query_port(&roce.hca->ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.subnet_prefix, 0);

	KUNIT_EXPECT_EQ(test, ib_query_pkey(&ib->ibdev, 1, 1, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0x8001);
	KUNIT_EXPECT_EQ(test, ib_query_pkey(&ib->ibdev, 3, 1, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_query_pkey(&ib->ibdev, 1, 100, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_port_immutable_read(&ib->ibdev, 1)->gid_tbl_len,
			FAKE_HCA_GIDS);

	/* The prefix is cached: GID 0 is not queried. */
	ib->ibdev.ops.query_gid = no_gid;
	KUNIT_EXPECT_EQ(test, ib_query_port(&ib->ibdev, 2, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.subnet_prefix, 0xfe80000000000000ULL);
	ib->ibdev.ops.query_gid = NULL;
	KUNIT_EXPECT_EQ(test, ib_query_port(&ib->ibdev, 2, &attr), 0);
	ib->ibdev.ops.query_port = fails;
	KUNIT_EXPECT_EQ(test, ib_query_port(&ib->ibdev, 2, &attr), -EIO);
	ib->ibdev.ops.query_pkey = NULL;
	KUNIT_EXPECT_EQ(test, ib_query_pkey(&ib->ibdev, 1, 1, &pkey), -EOPNOTSUPP);
}

/* A driver that notes the attributes that ib_core has set already, and changes none. */
static struct ib_port_attr preset;

static int keep_preset(struct ib_device *dev, u32 port, struct ib_port_attr *attr)
{
	preset = *attr;
	return 0;
}

static void an_iwarp_port_is_what_its_netdev_is(struct kunit *test)
{
	struct ib_port_attr attr;

	iwarp->ibdev.ops.query_port = keep_preset;
	KUNIT_EXPECT_EQ(test, ib_query_port(&iwarp->ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, preset.state, IB_PORT_INIT);
	KUNIT_EXPECT_EQ(test, preset.active_mtu, IB_MTU_4096);
	fake_netdev_add_ipv4(iw_ndev, htonl(0x0a780001), 24);
	KUNIT_EXPECT_EQ(test, ib_query_port(&iwarp->ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, attr.phys_state, IB_PORT_PHYS_STATE_LINK_UP);
	netif_carrier_off(iw_ndev);
	KUNIT_EXPECT_EQ(test, ib_query_port(&iwarp->ibdev, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.state, IB_PORT_DOWN);
	KUNIT_EXPECT_EQ(test, attr.phys_state, IB_PORT_PHYS_STATE_DISABLED);
	netif_carrier_on(iw_ndev);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&iwarp->ibdev, NULL, 1), 0);
	KUNIT_EXPECT_EQ(test, ib_query_port(&iwarp->ibdev, 1, &attr), -ENODEV);
}

static int modified;

static int modify_device(struct ib_device *dev, int mask, struct ib_device_modify *modify)
{
	modified = mask;
	return 0;
}

static int modify_port(struct ib_device *dev, u32 port, int mask,
		       struct ib_port_modify *modify)
{
	modified = mask + port;
	return 0;
}

static void fw_str(struct ib_device *dev, char *str)
{
	strscpy(str, "1.2.3", IB_FW_VERSION_NAME_MAX);
}

static void a_change_goes_to_the_driver(struct kunit *test)
{
	struct ib_port_modify port = { .set_port_cap_mask = IB_PORT_CM_SUP };
	struct ib_device_modify dev = {};
	char str[IB_FW_VERSION_NAME_MAX] = "?";

	KUNIT_EXPECT_EQ(test, ib_modify_device(&ib->ibdev, 2, &dev), -EOPNOTSUPP);
	ib->ibdev.ops.modify_device = modify_device;
	KUNIT_EXPECT_EQ(test, ib_modify_device(&ib->ibdev, 2, &dev), 0);
	KUNIT_EXPECT_EQ(test, modified, 2);
	ib_get_device_fw_str(&ib->ibdev, str);
	KUNIT_EXPECT_STREQ(test, str, "");
	ib->ibdev.ops.get_dev_fw_str = fw_str;
	ib_get_device_fw_str(&ib->ibdev, str);
	KUNIT_EXPECT_STREQ(test, str, "1.2.3");

	ib->ibdev.ops.modify_port = NULL;
	roce.hca->ibdev.ops.modify_port = NULL;
	KUNIT_EXPECT_EQ(test, ib_modify_port(&ib->ibdev, 3, 0, &port), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_port(&ib->ibdev, 1, 0, &port), -EOPNOTSUPP);
	ib->ibdev.ops.modify_port = modify_port;
	KUNIT_EXPECT_EQ(test, ib_modify_port(&ib->ibdev, 2, IB_PORT_SHUTDOWN, &port), 0);
	KUNIT_EXPECT_EQ(test, modified, IB_PORT_SHUTDOWN + 2);
	/* A RoCE port allows setting capability bits, which nobody reads. */
	KUNIT_EXPECT_EQ(test, ib_modify_port(&roce.hca->ibdev, 1, 0, &port), 0);
	port.clr_port_cap_mask = IB_PORT_SM;
	KUNIT_EXPECT_EQ(test, ib_modify_port(&roce.hca->ibdev, 1, 0, &port), -EOPNOTSUPP);
	port.clr_port_cap_mask = 0;
	KUNIT_EXPECT_EQ(test, ib_modify_port(&roce.hca->ibdev, 1, IB_PORT_SHUTDOWN, &port),
			-EOPNOTSUPP);
}

static u32 link_speed, link_lanes;
static int link_asked;

static int link_settings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	link_asked++;
	settings->base.speed = link_speed;
	settings->lanes = link_lanes;
	return 0;
}

static const struct ethtool_ops speed_ops = { .get_link_ksettings = link_settings };

static void an_ethernet_speed_in_infiniband_terms(struct kunit *test)
{
	static const struct { u32 mbps; u16 speed; u8 width; } speeds[] = {
		{ 0, IB_SPEED_SDR, IB_WIDTH_1X },
		{ SPEED_1000, IB_SPEED_SDR, IB_WIDTH_1X },
		{ SPEED_10000, IB_SPEED_FDR10, IB_WIDTH_1X },
		{ SPEED_25000, IB_SPEED_EDR, IB_WIDTH_1X },
		{ 30000, IB_SPEED_EDR, IB_WIDTH_1X },
		{ SPEED_100000, IB_SPEED_EDR, IB_WIDTH_4X },
		{ SPEED_400000, IB_SPEED_NDR, IB_WIDTH_4X },
		{ 1600000, IB_SPEED_XDR, IB_WIDTH_4X },
		{ SPEED_UNKNOWN, IB_SPEED_SDR, IB_WIDTH_1X },
	};
	struct ib_device *dev = &roce.hca->ibdev;
	u16 speed = 0;
	u8 width = 0;
	int i;

	KUNIT_EXPECT_EQ(test, ib_get_eth_speed(&ib->ibdev, 1, &speed, &width), -EINVAL);
	/* A netdev that does not report its speed. */
	KUNIT_EXPECT_EQ(test, ib_get_eth_speed(dev, 1, &speed, &width), 0);
	KUNIT_EXPECT_EQ(test, speed, IB_SPEED_SDR);
	roce.ndev->ethtool_ops = &speed_ops;
	for (i = 0; i < ARRAY_SIZE(speeds); i++) {
		link_speed = speeds[i].mbps;
		KUNIT_EXPECT_EQ(test, ib_get_eth_speed(dev, 1, &speed, &width), 0);
		KUNIT_EXPECT_EQ_MSG(test, speed, speeds[i].speed, "%u", link_speed);
		KUNIT_EXPECT_EQ_MSG(test, width, speeds[i].width, "%u", link_speed);
	}
	ib_device_set_netdev(dev, NULL, 1);
	KUNIT_EXPECT_EQ(test, ib_get_eth_speed(dev, 1, &speed, &width), -ENODEV);
}

static void a_netdev_says_how_many_lanes_it_has(struct kunit *test)
{
	static const struct { u32 mbps, lanes; u16 speed; u8 width; } speeds[] = {
		{ SPEED_100000, 1, IB_SPEED_NDR, IB_WIDTH_1X },
		{ SPEED_100000, 2, IB_SPEED_HDR, IB_WIDTH_2X },
		{ SPEED_100000, 4, IB_SPEED_EDR, IB_WIDTH_4X },
		{ SPEED_400000, 8, IB_SPEED_HDR, IB_WIDTH_8X },
		{ 120000, 12, IB_SPEED_FDR10, IB_WIDTH_12X },
		{ SPEED_800000, 4, IB_SPEED_XDR, IB_WIDTH_4X },
		{ SPEED_56000, 4, IB_SPEED_FDR, IB_WIDTH_4X },
		{ SPEED_1000, 1, IB_SPEED_SDR, IB_WIDTH_1X },
		/* No width has three lanes. */
		{ SPEED_100000, 3, IB_SPEED_EDR, IB_WIDTH_4X },
		{ SPEED_UNKNOWN, 2, IB_SPEED_SDR, IB_WIDTH_2X },
	};
	struct ib_device *dev = &roce.hca->ibdev;
	u16 speed = 0;
	u8 width = 0;
	int i;

	roce.ndev->ethtool_ops = &speed_ops;
	for (i = 0; i < ARRAY_SIZE(speeds); i++) {
		link_speed = speeds[i].mbps;
		link_lanes = speeds[i].lanes;
		KUNIT_EXPECT_EQ(test, ib_get_eth_speed(dev, 1, &speed, &width), 0);
		KUNIT_EXPECT_EQ_MSG(test, speed, speeds[i].speed, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, width, speeds[i].width, "%u", i);
	}
	link_lanes = 0;
}

/* The netdev's driver may have freed what ethtool reads. */
static void a_netdev_that_goes_is_not_asked_for_its_speed(struct kunit *test)
{
	struct ib_device *dev = &roce.hca->ibdev;
	u16 speed = 0;
	u8 width = 0;

	roce.ndev->ethtool_ops = &speed_ops;
	link_speed = SPEED_100000;
	link_asked = 0;
	roce.ndev->reg_state = NETREG_UNREGISTERING;
	KUNIT_EXPECT_EQ(test, ib_get_eth_speed(dev, 1, &speed, &width), 0);
	KUNIT_EXPECT_EQ(test, link_asked, 0);
	KUNIT_EXPECT_EQ(test, speed, IB_SPEED_SDR);
	KUNIT_EXPECT_EQ(test, width, IB_WIDTH_1X);
	roce.ndev->reg_state = NETREG_REGISTERED;
}

static void a_netdev_leads_to_its_device(struct kunit *test)
{
	struct ib_device *dev = &roce.hca->ibdev, *found;
	struct net_device *ndev;

	found = ib_device_get_by_netdev(roce.ndev, RDMA_DRIVER_UNKNOWN);
	KUNIT_EXPECT_PTR_EQ(test, found, dev);
	if (found)
		ib_device_put(found);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(roce.ndev, RDMA_DRIVER_RXE));
	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(init_net.loopback_dev,
							RDMA_DRIVER_UNKNOWN));
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(dev, roce.ndev, 2), -EINVAL);
	ndev = ib_device_get_netdev(dev, 1);
	KUNIT_EXPECT_PTR_EQ(test, ndev, roce.ndev);
	dev_put(ndev);
	KUNIT_EXPECT_NULL(test, ib_device_get_netdev(dev, 2));
	KUNIT_EXPECT_NULL(test, ib_device_get_netdev(&ib->ibdev, 1));

	/* The netdev moves to another device; the old association ends. */
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(dev, iw_ndev, 1), 0);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(roce.ndev, RDMA_DRIVER_UNKNOWN));
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(dev, NULL, 1), 0);
	KUNIT_EXPECT_NULL(test, ib_device_get_netdev(dev, 1));
	found = ib_device_get_by_netdev(iw_ndev, RDMA_DRIVER_UNKNOWN);
	KUNIT_EXPECT_PTR_EQ(test, found, &iwarp->ibdev);
	if (found)
		ib_device_put(found);
}

static struct net_device *driver_netdev(struct ib_device *dev, u32 port)
{
	dev_hold(iw_ndev);
	return iw_ndev;
}

static void a_driver_that_knows_is_asked(struct kunit *test)
{
	struct ib_device *dev = &roce.hca->ibdev;
	struct net_device *ndev;

	dev->ops.get_netdev = driver_netdev;
	ndev = ib_device_get_netdev(dev, 1);
	KUNIT_EXPECT_PTR_EQ(test, ndev, iw_ndev);
	dev_put(ndev);
	dev->ops.get_netdev = NULL;
}

/* A netdev that is being unregistered is still found, but not after that. */
static void a_netdev_that_is_gone_is_none(struct kunit *test)
{
	struct ib_device *dev = &roce.hca->ibdev;
	struct net_device *ndev;

	roce.ndev->reg_state = NETREG_UNREGISTERING;
	ndev = ib_device_get_netdev(dev, 1);
	KUNIT_EXPECT_PTR_EQ(test, ndev, roce.ndev);
	dev_put(ndev);
	roce.ndev->reg_state = NETREG_UNREGISTERED;
	KUNIT_EXPECT_NULL(test, ib_device_get_netdev(dev, 1));
	roce.ndev->reg_state = NETREG_REGISTERED;
}

static int netdev_result;

static int init_netdev(struct ib_device *dev, u32 port, struct net_device *ndev, void *param)
{
	*(int *)netdev_priv(ndev) = port;
	return netdev_result;
}

static int netdev_params(struct ib_device *dev, u32 port, enum rdma_netdev_t type,
			 struct rdma_netdev_alloc_params *params)
{
	if (type != RDMA_NETDEV_IPOIB)
		return -EOPNOTSUPP;
	params->sizeof_priv = sizeof(int);
	params->txqs = 3;
	params->rxqs = 1;
	params->initialize_rdma_netdev = init_netdev;
	return 0;
}

static void setup_nothing(struct net_device *ndev)
{
}

static void a_device_makes_netdevs(struct kunit *test)
{
	struct ib_device *dev = &ib->ibdev;
	struct net_device *ndev;

	ndev = rdma_alloc_netdev(dev, 1, RDMA_NETDEV_IPOIB, "fipoib%d", NET_NAME_ENUM,
				 setup_nothing);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ndev), -EOPNOTSUPP);
	dev->ops.rdma_netdev_get_params = netdev_params;
	ndev = rdma_alloc_netdev(dev, 1, RDMA_NETDEV_OPA_VNIC, "fipoib%d", NET_NAME_ENUM,
				 setup_nothing);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ndev), -EOPNOTSUPP);
	ndev = rdma_alloc_netdev(dev, 1, RDMA_NETDEV_IPOIB, "fipoib%d", NET_NAME_ENUM,
				 setup_nothing);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ndev));
	KUNIT_EXPECT_EQ(test, ndev->num_tx_queues, 3);
	KUNIT_EXPECT_EQ(test, rdma_init_netdev(dev, 2, RDMA_NETDEV_IPOIB, "x",
					       NET_NAME_ENUM, setup_nothing, ndev), 0);
	KUNIT_EXPECT_EQ(test, *(int *)netdev_priv(ndev), 2);
	netdev_result = -EBUSY;
	KUNIT_EXPECT_EQ(test, rdma_init_netdev(dev, 2, RDMA_NETDEV_IPOIB, "x",
					       NET_NAME_ENUM, setup_nothing, ndev), -EBUSY);
	KUNIT_EXPECT_EQ(test, rdma_init_netdev(dev, 2, RDMA_NETDEV_OPA_VNIC, "x",
					       NET_NAME_ENUM, setup_nothing, ndev),
			-EOPNOTSUPP);
	free_netdev(ndev);
}

static void an_iwarp_gid_is_on_the_netdev(struct kunit *test)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&iwarp->ibdev, 1, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, rdma_read_gid_attr_ndev_rcu(attr), iw_ndev);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	/* Destroying the netdev does not wait for the GID table once it was detached. */
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&iwarp->ibdev, NULL, 1), 0);
	fake_netdev_destroy(iw_ndev);
	iw_ndev = NULL;
}

static bool query_gid_fails;

static int query_gid_or_fail(struct ib_device *dev, u32 port, int index,
			     union ib_gid *gid)
{
	if (query_gid_fails)
		return -EIO;
	*gid = iwarp->port[port].gids[index];
	return 0;
}

static struct completion iw_ndev_gone;

static void destroy_iw_ndev(struct work_struct *work)
{
	fake_netdev_destroy(iw_ndev);
	complete(&iw_ndev_gone);
}

static DECLARE_WORK(iw_ndev_work, destroy_iw_ndev);

/* Likewise while the device fails to report its GID. */
static void an_iwarp_gid_that_cannot_be_read_keeps_no_netdev(struct kunit *test)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&iwarp->ibdev, 1, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	init_completion(&iw_ndev_gone);
	iwarp->ibdev.ops.query_gid = query_gid_or_fail;
	query_gid_fails = true;
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&iwarp->ibdev, NULL, 1), 0);
	queue_work(system_unbound_wq, &iw_ndev_work);
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&iw_ndev_gone, 5 * HZ));
	query_gid_fails = false;
	fake_hca_port_event(iwarp, 1, IB_EVENT_GID_CHANGE);
	flush_work(&iw_ndev_work);
	iw_ndev = NULL;
	rdma_put_gid_attr(attr);
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(node_types_have_transports),
	KUNIT_CASE(a_query_asks_the_driver),
	KUNIT_CASE(an_iwarp_port_is_what_its_netdev_is),
	KUNIT_CASE(a_change_goes_to_the_driver),
	KUNIT_CASE(an_ethernet_speed_in_infiniband_terms),
	KUNIT_CASE(a_netdev_says_how_many_lanes_it_has),
	KUNIT_CASE(a_netdev_that_goes_is_not_asked_for_its_speed),
	KUNIT_CASE(a_netdev_leads_to_its_device),
	KUNIT_CASE(a_driver_that_knows_is_asked),
	KUNIT_CASE(a_netdev_that_is_gone_is_none),
	KUNIT_CASE(a_device_makes_netdevs),
	KUNIT_CASE(an_iwarp_gid_is_on_the_netdev),
	KUNIT_CASE(an_iwarp_gid_that_cannot_be_read_keeps_no_netdev),
	{}
};

static struct kunit_suite ibcore_port_suite = {
	.name = "ib_core_port",
	.init = port_test_init,
	.exit = port_test_exit,
	.test_cases = port_cases,
};

kunit_test_suite(ibcore_port_suite);
