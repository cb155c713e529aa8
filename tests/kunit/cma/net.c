// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Netdevs, addresses, routes and neighbours, as ip(8) would set them up. */
#include <linux/etherdevice.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_infiniband.h>
#include <linux/net.h>
#include <linux/rtnetlink.h>
#include <net/arp.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include "cma_test.h"

struct sockaddr *cma_sin(struct sockaddr_storage *at, __be32 ip, u16 port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)at;

	memset(at, 0, sizeof(*at));
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = ip;
	in->sin_port = htons(port);
	return (struct sockaddr *)at;
}

struct sockaddr *cma_sin6(struct sockaddr_storage *at, const struct in6_addr *ip,
			  u16 port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)at;

	memset(at, 0, sizeof(*at));
	in6->sin6_family = AF_INET6;
	in6->sin6_addr = *ip;
	in6->sin6_port = htons(port);
	return (struct sockaddr *)at;
}

struct cma_nl {
	struct nlmsghdr nlh;
	u8 body[128];
};

static void nl_start(struct cma_nl *msg, u16 type, u16 flags, const void *header,
		     u32 len)
{
	memset(msg, 0, sizeof(*msg));
	msg->nlh.nlmsg_type = type;
	msg->nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	msg->nlh.nlmsg_len = NLMSG_LENGTH(len);
	memcpy(msg->body, header, len);
}

static void nl_attr(struct cma_nl *msg, u16 type, const void *data, u16 len)
{
	struct nlattr *nla = (void *)msg + NLMSG_ALIGN(msg->nlh.nlmsg_len);

	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	memcpy((void *)nla + NLA_HDRLEN, data, len);
	msg->nlh.nlmsg_len = NLMSG_ALIGN(msg->nlh.nlmsg_len) + NLA_ALIGN(nla->nla_len);
}

/*
 * Sends a request and returns the kernel's result.  The kernel handles the request
 * before kernel_sendmsg() returns.
 */
static int nl_talk(struct net *net, struct cma_nl *msg)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr hdr = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vec = { .iov_base = msg, .iov_len = msg->nlh.nlmsg_len };
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
		u8 rest[256];
	} answer = {};
	struct socket *sock;
	int ret;

	msg->nlh.nlmsg_flags |= NLM_F_ACK;
	ret = sock_create_kern(net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &sock);
	if (ret)
		return ret;
	ret = kernel_sendmsg(sock, &hdr, &vec, 1, vec.iov_len);
	if (ret > 0) {
		memset(&hdr, 0, sizeof(hdr));
		vec.iov_base = &answer;
		vec.iov_len = sizeof(answer);
		ret = kernel_recvmsg(sock, &hdr, &vec, 1, vec.iov_len, MSG_DONTWAIT);
	}
	sock_release(sock);
	if (ret < 0)
		return ret;
	return answer.nlh.nlmsg_type == NLMSG_ERROR ? answer.err.error : -EPROTO;
}

static u16 ip_len(sa_family_t family)
{
	return family == AF_INET ? 4 : 16;
}

int cma_net_addr(struct net_device *ndev, bool add, sa_family_t family,
		 const void *ip, u8 prefix_len)
{
	struct ifaddrmsg ifa = {
		.ifa_family = family,
		.ifa_prefixlen = prefix_len,
		.ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
		.ifa_index = ndev->ifindex,
	};
	struct cma_nl msg;

	nl_start(&msg, add ? RTM_NEWADDR : RTM_DELADDR, add ? NLM_F_CREATE : 0, &ifa,
		 sizeof(ifa));
	nl_attr(&msg, IFA_LOCAL, ip, ip_len(family));
	return nl_talk(dev_net(ndev), &msg);
}

static int route_message(struct net_device *ndev, struct rtmsg *rtm, bool add,
			 const void *dst, const void *gateway)
{
	struct cma_nl msg;

	nl_start(&msg, add ? RTM_NEWROUTE : RTM_DELROUTE, add ? NLM_F_CREATE : 0, rtm,
		 sizeof(*rtm));
	nl_attr(&msg, RTA_DST, dst, ip_len(rtm->rtm_family));
	if (gateway)
		nl_attr(&msg, RTA_GATEWAY, gateway, ip_len(rtm->rtm_family));
	if (rtm->rtm_table != RT_TABLE_LOCAL)
		nl_attr(&msg, RTA_OIF, &ndev->ifindex, sizeof(ndev->ifindex));
	return nl_talk(dev_net(ndev), &msg);
}

int cma_net_route(struct net_device *ndev, bool add, sa_family_t family,
		  const void *dst, u8 prefix_len, const void *gateway)
{
	struct rtmsg rtm = {
		.rtm_family = family,
		.rtm_dst_len = prefix_len,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
	};

	return route_message(ndev, &rtm, add, dst, gateway);
}

/* Begins a nested attribute; nl_nest_end() sets its length. */
static struct nlattr *nl_nest(struct cma_nl *msg, u16 type)
{
	struct nlattr *nla = (void *)msg + NLMSG_ALIGN(msg->nlh.nlmsg_len);

	nl_attr(msg, type, NULL, 0);
	return nla;
}

static void nl_nest_end(struct cma_nl *msg, struct nlattr *nla)
{
	nla->nla_len = (void *)msg + msg->nlh.nlmsg_len - (void *)nla;
}

struct net_device *cma_net_vlan(struct net_device *ndev, u16 id)
{
	struct ifinfomsg ifi = { .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	struct nlattr *info, *data;
	struct net_device *vlan;
	char name[IFNAMSIZ];
	struct cma_nl msg;

	snprintf(name, sizeof(name), "cma-vlan%u", id);
	nl_start(&msg, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	nl_attr(&msg, IFLA_IFNAME, name, strlen(name) + 1);
	nl_attr(&msg, IFLA_LINK, &ndev->ifindex, sizeof(ndev->ifindex));
	info = nl_nest(&msg, IFLA_LINKINFO);
	nl_attr(&msg, IFLA_INFO_KIND, "vlan", 5);
	data = nl_nest(&msg, IFLA_INFO_DATA);
	nl_attr(&msg, IFLA_VLAN_ID, &id, sizeof(id));
	nl_nest_end(&msg, data);
	nl_nest_end(&msg, info);
	if (nl_talk(dev_net(ndev), &msg))
		return NULL;
	vlan = dev_get_by_name(dev_net(ndev), name);
	dev_put(vlan);
	return vlan;
}

void cma_net_vlan_end(struct net_device *vlan)
{
	struct ifinfomsg ifi = { .ifi_index = vlan->ifindex };
	struct cma_nl msg;

	nl_start(&msg, RTM_DELLINK, 0, &ifi, sizeof(ifi));
	nl_talk(dev_net(vlan), &msg);
}

/* Removes the local route to the address (through lo); the address stays. */
int cma_net_hide_local(struct net_device *ndev, sa_family_t family, const void *ip)
{
	struct rtmsg rtm = {
		.rtm_family = family,
		.rtm_dst_len = ip_len(family) * 8,
		.rtm_table = RT_TABLE_LOCAL,
		.rtm_scope = RT_SCOPE_NOWHERE,
		.rtm_type = RTN_LOCAL,
	};

	return route_message(ndev, &rtm, false, ip, NULL);
}

/* Sets a neighbour entry; @nud 0 invalidates it. */
int cma_net_neigh(struct net_device *ndev, sa_family_t family, const void *ip,
		  const u8 *lladdr, u8 nud)
{
	struct neigh_table *table = family == AF_INET ? &arp_tbl : &nd_tbl;
	struct neighbour *n = __neigh_lookup(table, ip, ndev, 1);
	int ret;

	if (!n)
		return -ENOMEM;
	ret = neigh_update(n, lladdr, nud ?: NUD_FAILED,
			   NEIGH_UPDATE_F_OVERRIDE | NEIGH_UPDATE_F_ADMIN, 0);
	neigh_release(n);
	return ret;
}

static netdev_tx_t cma_net_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops cma_net_ops = {
	.ndo_start_xmit		= cma_net_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static void cma_net_setup(struct net_device *ndev)
{
	ether_setup(ndev);
	ndev->netdev_ops = &cma_net_ops;
	ndev->needs_free_netdev = true;
	ndev->mtu = 4200;
	ndev->max_mtu = 9000;
	eth_hw_addr_random(ndev);
}

struct net_device *cma_net_create(void)
{
	struct net_device *ndev;

	ndev = alloc_netdev(0, "cma%d", NET_NAME_ENUM, cma_net_setup);
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
