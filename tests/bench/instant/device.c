// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The device, its port and their attributes. */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>
#include "instant.h"

static char *netdev;
module_param(netdev, charp, 0444);
MODULE_PARM_DESC(netdev, "the port's netdev, for RoCE; the default is an InfiniBand link");

static bool iwarp;
module_param(iwarp, bool, 0444);
MODULE_PARM_DESC(iwarp, "iWARP on that netdev instead of RoCE");

static int instant_query_device(struct ib_device *device,
				struct ib_device_attr *attr,
				struct ib_udata *udata)
{
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = 1 << 20;
	attr->max_qp_wr = 8192;
	attr->max_send_sge = 1;
	attr->max_recv_sge = 1;
	attr->max_cq = 16;
	attr->max_cqe = 32768;
	attr->max_mr = 16;
	attr->max_pd = 16;
	attr->max_ah = 100000;
	attr->max_pkeys = 1;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int instant_query_port(struct ib_device *device, u32 port,
			      struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = netdev && !iwarp ? 16 : 1;
	attr->pkey_tbl_len = 1;
	attr->lid = netdev ? 0 : INSTANT_LID;
	attr->sm_lid = netdev ? 0 : 1;
	attr->max_msg_sz = SZ_4K;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->max_vl_num = 1;
	return 0;
}

static int instant_port_immutable(struct ib_device *device, u32 port,
				  struct ib_port_immutable *immutable)
{
	/* The in-tree core creates a QP1 only for ports that have a CM. */
	immutable->core_cap_flags = iwarp ? RDMA_CORE_PORT_IWARP :
				    netdev ? RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP :
				    RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_MAD |
				    RDMA_CORE_CAP_IB_CM;
	immutable->gid_tbl_len = netdev && !iwarp ? 16 : 1;
	immutable->pkey_tbl_len = 1;
	immutable->max_mad_size = iwarp ? 0 : IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer instant_link_layer(struct ib_device *device, u32 port)
{
	return netdev ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

static int instant_query_pkey(struct ib_device *device, u32 port, u16 index,
			      u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static u8 mac[ETH_ALEN];		/* the netdev's */

static int instant_query_gid(struct ib_device *device, u32 port, int index,
			     union ib_gid *gid)
{
	if (iwarp) {
		memset(gid, 0, sizeof(*gid));
		memcpy(gid->raw, mac, sizeof(mac));
		return 0;
	}
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid->global.interface_id = device->node_guid;
	return 0;
}

/* The core's table is all there is. */
static int instant_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int instant_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static const struct ib_device_ops instant_ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.query_device		= instant_query_device,
	.query_port		= instant_query_port,
	.get_port_immutable	= instant_port_immutable,
	.get_link_layer		= instant_link_layer,
	.query_pkey		= instant_query_pkey,
	.query_gid		= instant_query_gid,
};

static const struct ib_device_ops instant_roce_ops = {
	.add_gid		= instant_add_gid,
	.del_gid		= instant_del_gid,
};

struct instant_device {
	struct ib_device ibdev;
};

static struct instant_device *instant;	/* NULL once unplugged */

void instant_unplug(void)
{
	if (!instant)
		return;
	ib_unregister_device(&instant->ibdev);
	ib_dealloc_device(&instant->ibdev);
	instant = NULL;
}
EXPORT_SYMBOL_GPL(instant_unplug);

static int instant_set_netdev(struct ib_device *ibdev)
{
	struct net_device *ndev = dev_get_by_name(&init_net, netdev);
	int ret;

	if (!ndev)
		return -ENODEV;
	if (iwarp) {
		ibdev->node_type = RDMA_NODE_RNIC;
		ibdev->iw_driver_flags = IW_F_NO_PORT_MAP;
		strscpy(ibdev->iw_ifname, netdev, sizeof(ibdev->iw_ifname));
		memcpy(mac, ndev->dev_addr, sizeof(mac));
		ib_set_device_ops(ibdev, &instant_iw_ops);
	} else {
		ib_set_device_ops(ibdev, &instant_roce_ops);
	}
	ret = ib_device_set_netdev(ibdev, ndev, 1);
	dev_put(ndev);
	return ret;
}

static int __init instant_init(void)
{
	int ret = 0;

	if (iwarp && !netdev)
		return -EINVAL;
	instant = ib_alloc_device(instant_device, ibdev);
	if (!instant)
		return -ENOMEM;
	instant->ibdev.node_type = RDMA_NODE_IB_CA;
	instant->ibdev.node_guid = cpu_to_be64(0x0002c90300000001ULL);
	instant->ibdev.phys_port_cnt = 1;
	instant->ibdev.num_comp_vectors = 1;
	ib_set_device_ops(&instant->ibdev, &instant_ops);
	ib_set_device_ops(&instant->ibdev, &instant_queue_ops);
	if (netdev)
		ret = instant_set_netdev(&instant->ibdev);
	if (!ret)
		ret = ib_register_device(&instant->ibdev, INSTANT_NAME, NULL);
	if (ret)
		ib_dealloc_device(&instant->ibdev);
	return ret;
}

static void __exit instant_exit(void)
{
	instant_unplug();
}

module_init(instant_init);
module_exit(instant_exit);
MODULE_DESCRIPTION("RDMA adapter that completes sends at once, for benchmarks");
MODULE_LICENSE("Dual BSD/GPL");
