// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queries and changes of devices and ports, and looking devices up. */
#include <linux/if_link.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include "kapi.h"

/* Ports that a caller may name must exist, except where the function says that it checks. */
static u32 some_port(void)
{
	return mostly(1, 0, 2, 255, 0xffffffff);
}

static void query_port(void)
{
	struct kdev *dev = some_device();
	struct ib_port_attr a = {};
	u32 port = some_port();
	int ret;

	call("ib_query_port %s port %u", dev->name, port);
	ret = answer_more(ib_query_port(dev->device, port, &a));
	if (!ret) {
		say(" state %u mtu %u %u phys %u gids %u ip %u cap %x %x msg %x pkeys %u",
		    a.state, a.max_mtu, a.active_mtu, a.phys_mtu, a.gid_tbl_len,
		    a.ip_gids, a.port_cap_flags, a.port_cap_flags2, a.max_msg_sz, a.pkey_tbl_len);
		say(" lid %u sm %u lmc %u vl %u sl %u timeout %u init %u width %u speed %u phys %u",
		    a.lid, a.sm_lid, a.lmc, a.max_vl_num, a.sm_sl, a.subnet_timeout,
		    a.init_type_reply, a.active_width, a.active_speed, a.phys_state);
	}
	answer_end();
}

static void query_prefix(void)
{
	struct kdev *dev = some_device();
	struct ib_port_attr a = {};
	int ret;

	call("ib_query_port prefix of %s", dev->name);
	ret = ib_query_port(dev->device, 1, &a);
	answer_with(ret, "%llx", a.subnet_prefix);
}

static void query_pkey(void)
{
	struct kdev *dev = some_device();
	u16 index = one_in(3) ? one_of(1, 2, 63, 64, 65535) : 0, pkey = 0;
	int ret;

	call("ib_query_pkey %s index %u", dev->name, index);
	ret = ib_query_pkey(dev->device, 1, index, &pkey);
	answer_with(ret, "%x", pkey);
}

static void cached_pkey(void)
{
	struct kdev *dev = some_device();
	int index = one_in(3) ? one_of(1, 2, -1, 63, 64, 65536) : 0, ret;
	u32 port = some_port();
	u16 pkey = 0;

	call("ib_get_cached_pkey %s port %u index %d", dev->name, port, index);
	ret = ib_get_cached_pkey(dev->device, port, index, &pkey);
	answer_with(ret, "%x", pkey);
}

static void find_pkey(void)
{
	struct kdev *dev = some_device();
	u16 pkey = one_of(0xffff, 0xffff, 0x7fff, 0x8001, 0x1234), index = 0x1111;
	u32 port = some_port();
	int ret;

	switch (rnd(3)) {
	case 0:
		call("ib_find_cached_pkey %s port %u pkey %x", dev->name, port, pkey);
		ret = ib_find_cached_pkey(dev->device, port, pkey, &index);
		break;
	case 1:
		call("ib_find_exact_cached_pkey %s port %u pkey %x", dev->name, port, pkey);
		ret = ib_find_exact_cached_pkey(dev->device, port, pkey, &index);
		break;
	default:
		call("ib_find_pkey %s pkey %x", dev->name, pkey);
		ret = ib_find_pkey(dev->device, 1, pkey, &index);
	}
	answer_with(ret, "%u", index);
}

static void cached_port(void)
{
	struct kdev *dev = some_device();
	u32 port = some_port();
	enum ib_port_state state = 99;
	u8 lmc = 99;
	int ret;

	if (one_in(2)) {
		call("ib_get_cached_lmc %s port %u", dev->name, port);
		ret = ib_get_cached_lmc(dev->device, port, &lmc);
		answer_with(ret, "%u", lmc);
	} else {
		call("ib_get_cached_port_state %s port %u", dev->name, port);
		ret = ib_get_cached_port_state(dev->device, port, &state);
		answer_with(ret, "%u", state);
	}
}

static void eth_speed(void)
{
	/* a port with a netdev */
	struct kdev *dev = &kdevs[one_of(RXE_A, RXE_B)];
	u16 speed = 0;
	u8 width = 0;
	int ret;

	call("ib_get_eth_speed %s", dev->name);
	ret = ib_get_eth_speed(dev->device, 1, &speed, &width);
	answer_with(ret, "%u width %u", speed, width);
}

static void transport(void)
{
	struct kdev *dev = some_device();
	u32 node = one_of(RDMA_NODE_IB_CA, RDMA_NODE_IB_SWITCH, RDMA_NODE_IB_ROUTER, RDMA_NODE_RNIC,
			  RDMA_NODE_USNIC, RDMA_NODE_USNIC_UDP, RDMA_NODE_UNSPECIFIED);

	call("rdma_port_get_link_layer %s", dev->name);
	answer_with(0, "%d", rdma_port_get_link_layer(dev->device, 1));
	call("rdma_node_get_transport %u", node);
	answer_with(0, "%d", rdma_node_get_transport(node));
}

static void fw_version(void)
{
	struct kdev *dev = some_device();
	char text[IB_FW_VERSION_NAME_MAX] = "unchanged";

	call("ib_get_device_fw_str %s", dev->name);
	ib_get_device_fw_str(dev->device, text);
	answer_with(0, "'%s'", text);
}

static void modify_port(void)
{
	struct kdev *dev = some_device();
	struct ib_port_modify a = { .set_port_cap_mask = IB_UVERBS_PCF_CM_SUP };
	int mask = one_of(0, 0, 0, IB_PORT_RESET_QKEY_CNTR, IB_PORT_INIT_TYPE);
	u32 port = some_port();

	if (mask == IB_PORT_RESET_QKEY_CNTR)
		a.set_port_cap_mask = 0;
	call("ib_modify_port %s port %u mask %x", dev->name, port, mask);
	answer(ib_modify_port(dev->device, port, mask, &a));
}

static void modify_device(void)
{
	struct kdev *dev = some_device();
	struct ib_device_modify a = {};
	char was[IB_DEVICE_NODE_DESC_MAX];
	int mask = mostly(IB_DEVICE_MODIFY_NODE_DESC, 0, IB_DEVICE_MODIFY_SYS_IMAGE_GUID, 4);

	memcpy(was, dev->device->node_desc, sizeof(was));
	snprintf(a.node_desc, sizeof(a.node_desc), "a test of %s", dev->name);
	call("ib_modify_device %s mask %x", dev->name, mask);
	if (answer(ib_modify_device(dev->device, mask, &a)) || mask != IB_DEVICE_MODIFY_NODE_DESC)
		return;
	memcpy(a.node_desc, was, sizeof(was));
	call("ib_modify_device %s back", dev->name);
	answer(ib_modify_device(dev->device, mask, &a));
}

/* ---- virtual functions, which soft devices have none of ---- */

static void virtual_functions(void)
{
	struct kdev *dev = some_device();
	struct ifla_vf_info info = {};
	struct ifla_vf_stats stats = {};
	struct ifla_vf_guid node = {}, port = {};

	switch (rnd(5)) {
	case 0:
		call("ib_get_vf_config %s", dev->name);
		answer(ib_get_vf_config(dev->device, 0, 1, &info));
		break;
	case 1:
		call("ib_get_vf_stats %s", dev->name);
		answer(ib_get_vf_stats(dev->device, 0, 1, &stats));
		break;
	case 2:
		call("ib_get_vf_guid %s", dev->name);
		answer(ib_get_vf_guid(dev->device, 0, 1, &node, &port));
		break;
	case 3:
		call("ib_set_vf_guid %s", dev->name);
		answer(ib_set_vf_guid(dev->device, 0, 1, 0x1234, IFLA_VF_IB_NODE_GUID));
		break;
	default:
		call("ib_set_vf_link_state %s", dev->name);
		answer(ib_set_vf_link_state(dev->device, 0, 1, 0));
	}
}

static void setup_nothing(struct net_device *netdev)
{
}

static void ipoib_netdev(void)
{
	struct kdev *dev = some_device();
	u32 type = one_of(RDMA_NETDEV_IPOIB, RDMA_NETDEV_OPA_VNIC);
	struct net_device *netdev;

	call("rdma_alloc_netdev %s type %u", dev->name, type);
	netdev = rdma_alloc_netdev(dev->device, 1, type, "kapi%d", NET_NAME_UNKNOWN, setup_nothing);
	answer(PTR_ERR_OR_ZERO(netdev));
	/* It must be given a netdev, but has no reason to look at it. */
	netdev = dev_get_by_name(&init_net, "va");
	if (!netdev)
		return;
	call("rdma_init_netdev %s type %u", dev->name, type);
	answer(rdma_init_netdev(dev->device, 1, type, "kapi%d", NET_NAME_UNKNOWN, setup_nothing,
				netdev));
	dev_put(netdev);
}

/* ---- looking devices up ---- */

static void by_name(void)
{
	struct kdev *dev = some_device();
	bool unknown = one_in(4);
	u32 driver = one_of(RDMA_DRIVER_UNKNOWN, RDMA_DRIVER_RXE, RDMA_DRIVER_MLX5);
	struct ib_device *device;

	call("ib_device_get_by_name %s driver %u", unknown ? "nobody" : dev->name, driver);
	device = ib_device_get_by_name(unknown ? "nobody" : dev->name, driver);
	if (!device) {
		answer(-ENOENT);
		return;
	}
	answer_with(0, "same %d", device == dev->device);
	ib_device_put(device);
}

static void by_netdev(void)
{
	static const char * const names[] = { "va", "vb", "lo" };
	const char *name = names[rnd(ARRAY_SIZE(names))];
	struct net_device *netdev = dev_get_by_name(&init_net, name);
	u32 driver = one_of(RDMA_DRIVER_UNKNOWN, RDMA_DRIVER_UNKNOWN, RDMA_DRIVER_RXE,
			    RDMA_DRIVER_MLX5);
	struct ib_device *device;

	if (!netdev)
		return;
	call("ib_device_get_by_netdev %s driver %u", name, driver);
	device = ib_device_get_by_netdev(netdev, driver);
	if (device) {
		answer_with(0, "%s", dev_name(&device->dev));
		ib_device_put(device);
	} else {
		answer(-ENOENT);
	}
	dev_put(netdev);
}

static void netdev_of(void)
{
	struct kdev *dev = some_device();
	u32 port = some_port();
	struct net_device *netdev;

	call("ib_device_get_netdev %s port %u", dev->name, port);
	netdev = ib_device_get_netdev(dev->device, port);
	answer_with(netdev ? 0 : -ENOENT, "%s", netdev ? netdev->name : "");
	dev_put(netdev);
}

/* The netdev that has the address, for a request that comes with these. */
static void netdev_by_params(void)
{
	struct kdev *dev = some_device();
	struct sockaddr_in addr = { .sin_family = AF_INET };
	union ib_gid gid = dev->gid;
	u16 pkey = one_of(0xffff, 0x7fff, 0x8001);
	const struct sockaddr *to = one_in(3) ? NULL : (struct sockaddr *)&addr;
	struct net_device *netdev;

	memcpy(&addr.sin_addr, dev->gid.raw + 12, 4);
	if (one_in(4))
		gid.raw[15] ^= 0x55;
	call("ib_get_net_dev_by_params %s pkey %x address %d gid ", dev->name, pkey, !!to);
	say_gid(&gid);
	netdev = ib_get_net_dev_by_params(dev->device, 1, pkey, &gid, to);
	answer_with(netdev ? 0 : -ENOENT, "%s", netdev ? netdev->name : "");
	dev_put(netdev);
}

static void access_netns(void)
{
	struct kdev *dev = some_device();

	call("rdma_dev_access_netns %s", dev->name);
	answer_with(0, "%d", rdma_dev_access_netns(dev->device, &init_net));
}

void ports(u64 number)
{
	static const struct op ops[] = {
		{ query_port, 6 }, { query_prefix, 1 }, { query_pkey, 4 }, { cached_pkey, 5 },
		{ find_pkey, 6 },
		{ cached_port, 4 }, { eth_speed, 2 }, { transport, 3 },
		{ fw_version, 2 }, { modify_port, 4 }, { modify_device, 3 }, { virtual_functions,
									      2 },
		{ ipoib_netdev, 1 }, { by_name, 4 }, { by_netdev, 4 }, { netdev_of, 4 },
		{ netdev_by_params, 4 }, { access_netns, 2 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 30 + rnd(20));
}
