// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Network devices: Ethernet for RoCE ports of fake adapters, and IPoIB. */
#include <linux/etherdevice.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_infiniband.h>
#include <linux/net.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
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

static int fake_ipoib_header(struct sk_buff *skb, struct net_device *ndev,
			     unsigned short type, const void *daddr,
			     const void *saddr, unsigned int len)
{
	return 0;
}

static const struct header_ops fake_ipoib_header_ops = {
	.create = fake_ipoib_header,
};

static const struct net_device_ops fake_ipoib_ops = {
	.ndo_start_xmit = fake_netdev_xmit,
};

/* RFC 4391, 4: the broadcast group of the default partition. */
static const u8 fake_ipoib_broadcast[] = {
	0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff
};

static void fake_ipoib_setup(struct net_device *ndev)
{
	ndev->netdev_ops = &fake_ipoib_ops;
	ndev->header_ops = &fake_ipoib_header_ops;
	ndev->needs_free_netdev = true;
	ndev->type = ARPHRD_INFINIBAND;
	ndev->addr_len = INFINIBAND_ALEN;
	ndev->mtu = 2044;
	ndev->flags = IFF_BROADCAST | IFF_MULTICAST;
	ndev->tx_queue_len = 10;
	memcpy(ndev->broadcast, fake_ipoib_broadcast, INFINIBAND_ALEN);
}

static struct net_device *fake_netdev_new(const char *name, const u8 *lladdr,
					  void (*setup)(struct net_device *ndev))
{
	struct net_device *ndev;

	ndev = alloc_netdev(0, name, NET_NAME_ENUM, setup);
	if (!ndev)
		return NULL;
	if (lladdr)
		__dev_addr_set(ndev, lladdr, ndev->addr_len);
	if (register_netdev(ndev)) {
		free_netdev(ndev);
		return NULL;
	}
	rtnl_lock();
	dev_open(ndev, NULL);
	rtnl_unlock();
	return ndev;
}

struct net_device *fake_netdev_create(const char *name)
{
	return fake_netdev_new(name, NULL, fake_netdev_setup);
}
EXPORT_SYMBOL_GPL(fake_netdev_create);

struct net_device *fake_ipoib_create(const u8 *lladdr)
{
	return fake_netdev_new("ipoib%d", lladdr, fake_ipoib_setup);
}
EXPORT_SYMBOL_GPL(fake_ipoib_create);

void fake_netdev_destroy(struct net_device *ndev)
{
	unregister_netdev(ndev);
}
EXPORT_SYMBOL_GPL(fake_netdev_destroy);

/* Sends a request to rtnetlink, which takes effect before this returns. */
static int fake_netdev_ask(struct net *net, void *msg, u32 len)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr hdr = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vec = { .iov_base = msg, .iov_len = len };
	struct socket *sock;
	int ret;

	ret = sock_create_kern(net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &sock);
	if (ret)
		return ret;
	ret = kernel_sendmsg(sock, &hdr, &vec, 1, len);
	sock_release(sock);
	return ret == len ? 0 : -EIO;
}

/* RTM_NEWADDR or RTM_DELADDR, as ip-address(8) would send it. */
static int fake_netdev_addr(struct net_device *ndev, u16 type, __be32 addr,
			    int prefix_len)
{
	struct {
		struct nlmsghdr nlh;
		struct ifaddrmsg ifa;
		struct nlattr nla;
		__be32 addr;
	} msg = {
		.nlh = {
			.nlmsg_len = sizeof(msg),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST |
				       (type == RTM_NEWADDR ? NLM_F_CREATE : 0),
		},
		.ifa = {
			.ifa_family = AF_INET,
			.ifa_prefixlen = prefix_len,
			.ifa_index = ndev->ifindex,
		},
		.nla = { .nla_len = 8, .nla_type = IFA_LOCAL },
		.addr = addr,
	};

	return fake_netdev_ask(dev_net(ndev), &msg, sizeof(msg));
}

int fake_netdev_add_ipv4(struct net_device *ndev, __be32 addr, int prefix_len)
{
	return fake_netdev_addr(ndev, RTM_NEWADDR, addr, prefix_len);
}
EXPORT_SYMBOL_GPL(fake_netdev_add_ipv4);

int fake_netdev_del_ipv4(struct net_device *ndev, __be32 addr, int prefix_len)
{
	return fake_netdev_addr(ndev, RTM_DELADDR, addr, prefix_len);
}
EXPORT_SYMBOL_GPL(fake_netdev_del_ipv4);

static struct sk_buff *fake_netdev_vlan_msg(struct net_device *lower, u16 id,
					    const char *name)
{
	struct ifinfomsg ifi = { .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	struct sk_buff *skb = nlmsg_new(256, GFP_KERNEL);
	struct nlattr *info, *data;
	struct nlmsghdr *nlh;

	if (!skb)
		return NULL;
	nlh = nlmsg_put(skb, 0, 0, RTM_NEWLINK, sizeof(ifi),
			NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL);
	memcpy(nlmsg_data(nlh), &ifi, sizeof(ifi));
	nla_put_string(skb, IFLA_IFNAME, name);
	nla_put_u32(skb, IFLA_LINK, lower->ifindex);
	info = nla_nest_start_noflag(skb, IFLA_LINKINFO);
	nla_put_string(skb, IFLA_INFO_KIND, "vlan");
	data = nla_nest_start_noflag(skb, IFLA_INFO_DATA);
	nla_put_u16(skb, IFLA_VLAN_ID, id);
	nla_nest_end(skb, data);
	nla_nest_end(skb, info);
	nlmsg_end(skb, nlh);
	return skb;
}

struct net_device *fake_netdev_vlan(struct net_device *lower, u16 id)
{
	struct net_device *vlan = NULL;
	struct sk_buff *skb;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "fvlan%u", id);
	skb = fake_netdev_vlan_msg(lower, id, name);
	if (!skb)
		return NULL;
	if (!fake_netdev_ask(dev_net(lower), skb->data, skb->len))
		vlan = dev_get_by_name(dev_net(lower), name);
	/* The VLAN exists until it or @lower is destroyed. */
	dev_put(vlan);
	kfree_skb(skb);
	return vlan;
}
EXPORT_SYMBOL_GPL(fake_netdev_vlan);
