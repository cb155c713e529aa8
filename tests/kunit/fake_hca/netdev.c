// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An Ethernet device for RoCE ports of fake adapters. */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include "fake_hca.h"

static netdev_tx_t fake_netdev_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops fake_netdev_ops = {
	.ndo_start_xmit		= fake_netdev_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static void fake_netdev_setup(struct net_device *ndev)
{
	ether_setup(ndev);
	ndev->netdev_ops = &fake_netdev_ops;
	ndev->needs_free_netdev = true;
	ndev->flags |= IFF_NOARP;
	ndev->mtu = 4200;
	ndev->max_mtu = 9000;
	eth_hw_addr_random(ndev);
}

struct net_device *fake_netdev_create(const char *name)
{
	struct net_device *ndev;

	ndev = alloc_netdev(0, name, NET_NAME_ENUM, fake_netdev_setup);
	if (!ndev)
		return NULL;
	if (register_netdev(ndev)) {
		free_netdev(ndev);
		return NULL;
	}
	rtnl_lock();
	dev_open(ndev, NULL);
	rtnl_unlock();
	return ndev;
}
EXPORT_SYMBOL_GPL(fake_netdev_create);

void fake_netdev_destroy(struct net_device *ndev)
{
	unregister_netdev(ndev);
}
EXPORT_SYMBOL_GPL(fake_netdev_destroy);

static int fake_netdev_ifreq(struct net_device *ndev, unsigned int cmd,
			     __be32 addr)
{
	struct ifreq ifr = {};
	struct sockaddr_in *sin = (struct sockaddr_in *)&ifr.ifr_addr;

	strscpy(ifr.ifr_name, ndev->name, IFNAMSIZ);
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = addr;
	return devinet_ioctl(dev_net(ndev), cmd, &ifr);
}

int fake_netdev_add_ipv4(struct net_device *ndev, __be32 addr, int prefix_len)
{
	int ret = fake_netdev_ifreq(ndev, SIOCSIFADDR, addr);

	return ret ?: fake_netdev_ifreq(ndev, SIOCSIFNETMASK,
					inet_make_mask(prefix_len));
}
EXPORT_SYMBOL_GPL(fake_netdev_add_ipv4);

int fake_netdev_del_ipv4(struct net_device *ndev, __be32 addr, int prefix_len)
{
	return fake_netdev_ifreq(ndev, SIOCSIFADDR, 0);
}
EXPORT_SYMBOL_GPL(fake_netdev_del_ipv4);
