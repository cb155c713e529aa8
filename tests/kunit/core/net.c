// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Networks for RoCE adapters: addresses, routes, links, neighbours. */
#include <linux/etherdevice.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <linux/net.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/ipv6_stubs.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/netlink.h>
#include <rdma/ib_cache.h>
#include "objects.h"

static struct sk_buff *nl_new(u16 type, u16 flags, const void *header, int len)
{
	struct sk_buff *skb = nlmsg_new(512, GFP_KERNEL);
	struct nlmsghdr *nlh;

	if (!skb)
		return NULL;
	nlh = nlmsg_put(skb, 0, 0, type, len, NLM_F_REQUEST | NLM_F_ACK | flags);
	memcpy(nlmsg_data(nlh), header, len);
	return skb;
}

/* The request takes effect before this returns.  Returns the error of the response. */
static int nl_talk(struct sk_buff *skb)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr hdr = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
		u8 rest[256];
	} ack;
	struct kvec vec;
	struct socket *sock;
	int ret;

	nlmsg_end(skb, nlmsg_hdr(skb));
	ret = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &sock);
	if (ret)
		goto free;
	vec = (struct kvec){ .iov_base = skb->data, .iov_len = skb->len };
	ret = kernel_sendmsg(sock, &hdr, &vec, 1, skb->len);
	if (ret < 0)
		goto release;
	vec = (struct kvec){ .iov_base = &ack, .iov_len = sizeof(ack) };
	memset(&hdr, 0, sizeof(hdr));
	ret = kernel_recvmsg(sock, &hdr, &vec, 1, sizeof(ack), MSG_DONTWAIT);
	if (ret >= (int)(sizeof(ack.nlh) + sizeof(ack.err.error)))
		ret = ack.err.error;
	else if (ret >= 0)
		ret = -EIO;
release:
	sock_release(sock);
free:
	kfree_skb(skb);
	return ret;
}

int net_addr6(struct net_device *ndev, bool add, const struct in6_addr *addr, int len)
{
	struct ifaddrmsg ifa = {
		.ifa_family = AF_INET6,
		.ifa_prefixlen = len,
		.ifa_flags = IFA_F_NODAD | IFA_F_PERMANENT,
		.ifa_index = ndev->ifindex,
	};
	struct sk_buff *skb;

	skb = nl_new(add ? RTM_NEWADDR : RTM_DELADDR, add ? NLM_F_CREATE : 0, &ifa,
		     sizeof(ifa));
	if (!skb || nla_put_in6_addr(skb, IFA_LOCAL, addr))
		return -ENOMEM;
	return nl_talk(skb);
}

static struct sk_buff *nl_route(struct net_device *ndev, bool add, u8 family, int len)
{
	struct rtmsg rtm = {
		.rtm_family = family,
		.rtm_dst_len = len,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
	};
	struct sk_buff *skb;

	skb = nl_new(add ? RTM_NEWROUTE : RTM_DELROUTE, add ? NLM_F_CREATE : 0, &rtm,
		     sizeof(rtm));
	if (skb)
		nla_put_u32(skb, RTA_OIF, ndev->ifindex);
	return skb;
}

int net_route4(struct net_device *ndev, bool add, __be32 dst, int len, __be32 gateway)
{
	struct sk_buff *skb = nl_route(ndev, add, AF_INET, len);

	if (!skb || nla_put_in_addr(skb, RTA_DST, dst) ||
	    nla_put_in_addr(skb, RTA_GATEWAY, gateway))
		return -ENOMEM;
	return nl_talk(skb);
}

int net_route6(struct net_device *ndev, bool add, const struct in6_addr *dst, int len,
	       const struct in6_addr *gateway)
{
	struct sk_buff *skb = nl_route(ndev, add, AF_INET6, len);

	if (!skb || nla_put_in6_addr(skb, RTA_DST, dst) ||
	    nla_put_in6_addr(skb, RTA_GATEWAY, gateway))
		return -ENOMEM;
	return nl_talk(skb);
}

int net_up(struct net_device *ndev, bool up)
{
	int ret = 0;

	rtnl_lock();
	if (up)
		ret = dev_open(ndev, NULL);
	else
		dev_close(ndev);
	rtnl_unlock();
	return ret;
}

int net_arp(struct net_device *ndev, bool on)
{
	unsigned int flags = dev_get_flags(ndev);
	int ret;

	rtnl_lock();
	ret = dev_change_flags(ndev, on ? flags & ~IFF_NOARP : flags | IFF_NOARP, NULL);
	rtnl_unlock();
	return ret;
}

/* A link's kind with one attribute: the ID of a VLAN, the mode or slave of a bond. */
static struct sk_buff *nl_link(int ifindex, const char *kind, int attr, u32 value)
{
	struct ifinfomsg ifi = { .ifi_index = ifindex };
	struct nlattr *info, *data;
	struct sk_buff *skb;

	skb = nl_new(RTM_NEWLINK, ifindex ? 0 : NLM_F_CREATE | NLM_F_EXCL, &ifi,
		     sizeof(ifi));
	if (!skb)
		return NULL;
	info = nla_nest_start(skb, IFLA_LINKINFO);
	nla_put_string(skb, IFLA_INFO_KIND, kind);
	data = nla_nest_start(skb, IFLA_INFO_DATA);
	if (!strcmp(kind, "vlan"))
		nla_put_u16(skb, attr, value);
	else if (attr == IFLA_BOND_MODE)
		nla_put_u8(skb, attr, value);
	else
		nla_put_u32(skb, attr, value);
	nla_nest_end(skb, data);
	nla_nest_end(skb, info);
	return skb;
}

struct net_device *net_link(const char *kind, const char *name,
			    struct net_device *lower, int arg)
{
	struct net_device *ndev;
	struct sk_buff *skb;

	skb = nl_link(0, kind, lower ? IFLA_VLAN_ID : IFLA_BOND_MODE, arg);
	if (!skb || nla_put_string(skb, IFLA_IFNAME, name) ||
	    (lower && nla_put_u32(skb, IFLA_LINK, lower->ifindex)) || nl_talk(skb))
		return NULL;
	ndev = dev_get_by_name(&init_net, name);
	if (ndev)
		net_up(ndev, true);
	return ndev;
}

int net_bond_active(struct net_device *bond, struct net_device *slave)
{
	struct sk_buff *skb = nl_link(bond->ifindex, "bond", IFLA_BOND_ACTIVE_SLAVE,
				      slave->ifindex);

	return skb ? nl_talk(skb) : -ENOMEM;
}

int net_rename(struct net_device *ndev, const char *name)
{
	struct ifinfomsg ifi = { .ifi_index = ndev->ifindex };
	struct sk_buff *skb = nl_new(RTM_NEWLINK, 0, &ifi, sizeof(ifi));

	if (!skb || nla_put_string(skb, IFLA_IFNAME, name))
		return -ENOMEM;
	return nl_talk(skb);
}

void net_unlink(struct net_device *ndev)
{
	struct ifinfomsg ifi = { .ifi_index = ndev->ifindex };
	struct sk_buff *skb = nl_new(RTM_DELLINK, 0, &ifi, sizeof(ifi));

	/* Unregistering waits for all references, so put this one first. */
	dev_put(ndev);
	if (skb)
		nl_talk(skb);
}

int net_neighbour(struct net_device *ndev, const struct in6_addr *ip, const u8 *ha)
{
	struct neighbour *n;
	int ret;

	if (ipv6_addr_v4mapped(ip))
		n = __neigh_lookup_errno(&arp_tbl, &ip->s6_addr32[3], ndev);
	else
		n = __neigh_lookup_errno(ipv6_stub->nd_tbl, ip, ndev);
	if (IS_ERR(n))
		return PTR_ERR(n);
	ret = neigh_update(n, ha, NUD_REACHABLE,
			   NEIGH_UPDATE_F_OVERRIDE | NEIGH_UPDATE_F_ADMIN, 0);
	neigh_release(n);
	return ret;
}

struct in6_addr net_v4(u32 addr)
{
	struct in6_addr ip;

	ipv6_addr_set_v4mapped(htonl(addr), &ip);
	return ip;
}

struct in6_addr net_v6(u32 last)
{
	return (struct in6_addr){
		.s6_addr32 = { htonl(0xfd770000), 0, 0, htonl(last) },
	};
}

struct in6_addr roce_v4(const struct roce *r, u32 host)
{
	return net_v4(0x0a000000 | r->net << 16 | host);
}

struct in6_addr roce_v6(const struct roce *r, u32 host)
{
	return net_v6(r->net << 16 | host);
}

struct in6_addr net_link_local(struct net_device *ndev)
{
	struct in6_addr ip = { .s6_addr = { 0xfe, 0x80 } };

	addrconf_ifid_eui48(&ip.s6_addr[8], ndev);
	return ip;
}

struct fake_hca *roce_alloc(struct net_device *ndev,
			    void (*prepare)(struct fake_hca *hca))
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET, .ndev = ndev,
	};
	struct fake_hca *hca = fake_hca_alloc(&params);

	if (hca && prepare)
		prepare(hca);
	return hca;
}

static struct fake_hca *roce_create(struct net_device *ndev,
				    void (*prepare)(struct fake_hca *hca))
{
	struct fake_hca *hca = roce_alloc(ndev, prepare);

	if (!hca || !fake_hca_register(hca))
		return hca;
	fake_hca_free(hca);
	return NULL;
}

int roce_get_as(struct roce *r, u32 net, void (*prepare)(struct fake_hca *hca))
{
	struct in6_addr v4, v6;
	int ret;

	memset(r, 0, sizeof(*r));
	r->net = net;
	r->ndev = fake_netdev_create("fnet%d");
	if (!r->ndev)
		return -ENOMEM;
	v4 = roce_v4(r, 1);
	v6 = roce_v6(r, 1);
	ret = net_arp(r->ndev, true);
	if (!ret)
		ret = fake_netdev_add_ipv4(r->ndev, v4.s6_addr32[3], 24);
	if (!ret)
		ret = net_addr6(r->ndev, true, &v6, 112);
	if (!ret)
		r->hca = roce_create(r->ndev, prepare);
	if (r->hca)
		return 0;
	roce_put(r);
	return ret ?: -ENOMEM;
}

int roce_get(struct roce *r, u32 net)
{
	return roce_get_as(r, net, NULL);
}

void roce_put(struct roce *r)
{
	if (r->hca)
		fake_hca_destroy(r->hca);
	if (r->ndev)
		fake_netdev_destroy(r->ndev);
	memset(r, 0, sizeof(*r));
}

int roce_set_mac(struct net_device *ndev, u16 tail)
{
	const u8 mac[ETH_ALEN] = { 2, 0, 0, 0, tail >> 8, tail };
	struct sockaddr sa = { .sa_family = ndev->type };
	int ret;

	ether_addr_copy(sa.sa_data, mac);
	rtnl_lock();
	ret = dev_set_mac_address(ndev, &sa, NULL);
	rtnl_unlock();
	return ret;
}

bool roce_has_gid(struct fake_hca *hca, const struct in6_addr *ip,
		  enum ib_gid_type type)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_port(&hca->ibdev, (const union ib_gid *)ip, type, 1,
				     NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

bool roce_has(const struct roce *r, const struct in6_addr *ip)
{
	return roce_has_gid(r->hca, ip, IB_GID_TYPE_ROCE) &&
	       roce_has_gid(r->hca, ip, IB_GID_TYPE_ROCE_UDP_ENCAP);
}

bool roce_lacks(const struct roce *r, const struct in6_addr *ip)
{
	return !roce_has_gid(r->hca, ip, IB_GID_TYPE_ROCE) &&
	       !roce_has_gid(r->hca, ip, IB_GID_TYPE_ROCE_UDP_ENCAP);
}

int roce_drop(const struct roce *r, const struct in6_addr *ip)
{
	return fake_netdev_del_ipv4(r->ndev, ip->s6_addr32[3], 24);
}

int roce_take(const struct roce *r, const struct in6_addr *ip)
{
	return fake_netdev_add_ipv4(r->ndev, ip->s6_addr32[3], 24);
}

const struct ib_gid_attr *roce_gid(const struct roce *r, const struct in6_addr *ip)
{
	const struct ib_gid_attr *attr;

	if (!wait_until(roce_has_gid(r->hca, ip, IB_GID_TYPE_ROCE_UDP_ENCAP)))
		return NULL;
	attr = rdma_find_gid_by_port(&r->hca->ibdev, (const union ib_gid *)ip,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	return IS_ERR(attr) ? NULL : attr;
}
