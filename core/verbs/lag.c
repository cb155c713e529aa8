// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the slave of a bond that a RoCE v2 flow is sent by.  The bond selects
 * the slave for an skb that has the headers of the flow's packets (RoCE annex
 * A17).
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/lag.h>

#include "core.h"

static void lag_push_udp(struct sk_buff *skb, const struct rdma_ah_attr *attr)
{
	struct udphdr *udp;

	udp = skb_push(skb, sizeof(*udp));
	skb_reset_transport_header(skb);
	udp->source = htons(rdma_flow_label_to_udp_sport(attr->grh.flow_label));
	udp->dest = htons(ROCE_V2_UDP_DPORT);
	udp->len = htons(sizeof(*udp));
	udp->check = 0;
}

static void lag_push_ip6(struct sk_buff *skb, const struct ib_global_route *grh,
			 const struct in6_addr *src, const struct in6_addr *dst)
{
	u16 len = skb->len;
	struct ipv6hdr *ip6 = skb_push(skb, sizeof(*ip6));

	skb_reset_network_header(skb);
	*ip6 = (struct ipv6hdr) {
		.payload_len = htons(len),
		.nexthdr = IPPROTO_UDP,
		.hop_limit = grh->hop_limit,
		.saddr = *src,
		.daddr = *dst,
	};
	ip6_flow_hdr(ip6, grh->traffic_class, htonl(grh->flow_label));
}

static __be16 lag_push_ip(struct sk_buff *skb, const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct in6_addr *src = (const void *)grh->sgid_attr->gid.raw;
	const struct in6_addr *dst = (const void *)grh->dgid.raw;
	struct iphdr *ip4;

	if (!ipv6_addr_v4mapped(src)) {
		lag_push_ip6(skb, grh, src, dst);
		return htons(ETH_P_IPV6);
	}

	ip4 = skb_push(skb, sizeof(*ip4));
	skb_reset_network_header(skb);
	*ip4 = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*ip4) / 4,
		.tos = grh->traffic_class,
		.tot_len = htons(skb->len),
		.frag_off = htons(IP_DF),
		.ttl = grh->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = src->s6_addr32[3],
		.daddr = dst->s6_addr32[3],
	};
	ip4->check = ip_fast_csum(ip4, ip4->ihl);
	return htons(ETH_P_IP);
}

static struct sk_buff *lag_probe(struct net_device *master,
				 const struct rdma_ah_attr *attr, gfp_t gfp)
{
	struct ethhdr *eth;
	struct sk_buff *skb;

	skb = alloc_skb(sizeof(*eth) + sizeof(struct ipv6hdr) +
			sizeof(struct udphdr), gfp);
	if (!skb)
		return NULL;

	skb->dev = master;
	skb_reserve(skb, sizeof(*eth) + sizeof(struct ipv6hdr) +
		    sizeof(struct udphdr));
	lag_push_udp(skb, attr);
	skb->protocol = lag_push_ip(skb, attr);

	eth = skb_push(skb, sizeof(*eth));
	skb_reset_mac_header(skb);
	eth->h_proto = skb->protocol;
	ether_addr_copy(eth->h_source, master->dev_addr);
	ether_addr_copy(eth->h_dest, attr->roce.dmac);
	return skb;
}

static bool lag_applies(const struct rdma_ah_attr *attr)
{
	/*
	 * Without a flow label the UDP source port is unknown: the provider
	 * chooses it.
	 */
	return attr->type == RDMA_AH_ATTR_TYPE_ROCE && attr->grh.sgid_attr &&
	       attr->grh.sgid_attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	       attr->grh.flow_label;
}

static struct net_device *lag_get_master(const struct rdma_ah_attr *attr)
{
	struct net_device *master;

	rcu_read_lock();
	master = rdma_read_gid_attr_ndev_rcu(attr->grh.sgid_attr);
	if (!IS_ERR_OR_NULL(master)) {
		if (netif_is_lag_master(master))
			dev_hold(master);
		else
			master = NULL;
	}
	rcu_read_unlock();
	return master;
}

/**
 * rdma_lag_get_ah_roce_slave() - get the bond's slave that sends to an address
 * @device: device
 * @ah_attr: address with its source GID
 * @flags: allocation flags
 *
 * Context: as @flags allow.
 * Return: the slave, held until rdma_lag_put_ah_roce_slave(); NULL if the slave
 * does not depend on the flow or the bond selects none; ERR_PTR: -ENOMEM, or
 * the error for a source GID that was removed.
 */
struct net_device *rdma_lag_get_ah_roce_slave(struct ib_device *device,
					      struct rdma_ah_attr *ah_attr,
					      gfp_t flags)
{
	bool all = device->lag_flags & RDMA_LAG_FLAGS_HASH_ALL_SLAVES;
	struct net_device *master, *slave;
	struct sk_buff *skb;

	if (!lag_applies(ah_attr))
		return NULL;
	master = lag_get_master(ah_attr);
	if (IS_ERR_OR_NULL(master))
		return master;

	skb = lag_probe(master, ah_attr, flags);
	if (!skb) {
		dev_put(master);
		return ERR_PTR(-ENOMEM);
	}

	rcu_read_lock();
	slave = netdev_get_xmit_slave(master, skb, all);
	dev_hold(slave);
	rcu_read_unlock();

	kfree_skb(skb);
	dev_put(master);
	if (!slave)
		ibdev_warn_ratelimited(device, "no slave to send by\n");
	return slave;
}

/**
 * rdma_lag_put_ah_roce_slave() - release a slave
 * @xmit_slave: held slave, or NULL
 *
 * Context: any.
 */
void rdma_lag_put_ah_roce_slave(struct net_device *xmit_slave)
{
	dev_put(xmit_slave);
}
