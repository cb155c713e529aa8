// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which slave of a bond an address uses: the probe packet that the bond gets. */
#include <kunit/test.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/lag.h>
#include "core/netlink/nl.h"

static const u8 dmac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x77 };

static struct net_device *bond, *slave;
static struct fake_hca *hca;
static struct ib_pd *pd;

/* What the bond was asked with, and its answer. */
static u8 probe[128];
static unsigned int probe_len;
static bool probe_all, no_slave;
static __be16 probe_protocol;

static struct net_device *get_xmit_slave(struct net_device *ndev, struct sk_buff *skb,
					 bool all_slaves)
{
	probe_len = min_t(unsigned int, skb->len, sizeof(probe));
	memcpy(probe, skb->data, probe_len);
	probe_all = all_slaves;
	probe_protocol = skb->protocol;
	if (skb_network_offset(skb) != ETH_HLEN || skb_mac_offset(skb) ||
	    skb->dev != ndev)
		probe_len = 0;
	return no_slave ? NULL : slave;
}

static netdev_tx_t bond_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops bond_ops = {
	.ndo_start_xmit		= bond_xmit,
	.ndo_get_xmit_slave	= get_xmit_slave,
};

static const struct net_device_ops *plain_ops;

static void make_bond(bool on)
{
	rtnl_lock();
	if (on) {
		plain_ops = bond->netdev_ops;
		bond->netdev_ops = &bond_ops;
		bond->flags |= IFF_MASTER;
		bond->priv_flags |= IFF_BONDING;
	} else {
		bond->flags &= ~IFF_MASTER;
		bond->priv_flags &= ~IFF_BONDING;
		bond->netdev_ops = plain_ops;
	}
	rtnl_unlock();
}

/* What the provider got. */
static struct net_device *given;
static bool asked;

static int (*real_create_ah)(struct ib_ah *ah, struct rdma_ah_init_attr *init,
			     struct ib_udata *udata);

static int create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata)
{
	asked = true;
	given = init->xmit_slave;
	return real_create_ah(ah, init, udata);
}

static int lag_test_init(struct kunit *test)
{
	struct fake_hca_params params = { .link_layer = IB_LINK_LAYER_ETHERNET };

	probe_len = 0;
	no_slave = false;
	given = NULL;
	asked = false;
	bond = fake_netdev_create("fbond%d");
	slave = fake_netdev_create("fslave%d");
	if (!bond || !slave)
		return -ENOMEM;
	fake_netdev_add_ipv4(bond, htonl(0x0a4d0901), 24);
	params.ndev = bond;
	hca = fake_hca_create(&params);
	if (!hca)
		return -ENOMEM;
	real_create_ah = hca->ibdev.ops.create_ah;
	hca->ibdev.ops.create_ah = create_ah;
	pd = ib_alloc_pd(&hca->ibdev, 0);
	return PTR_ERR_OR_ZERO(pd);
}

static void lag_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(pd))
		ib_dealloc_pd(pd);
	if (hca) {
		KUNIT_EXPECT_EQ(test, fake_hca_objects(hca), 0);
		fake_hca_destroy(hca);
	}
	if (slave)
		fake_netdev_destroy(slave);
	if (bond)
		fake_netdev_destroy(bond);
	pd = NULL;
	hca = NULL;
	slave = NULL;
	bond = NULL;
}

/* The index of a GID of @type; @v4: of the IPv4 address. */
static int gid_index(bool v4, enum ib_gid_type type)
{
	const struct ib_gid_attr *attr;
	bool match;
	int i;

	for (i = 0; i < FAKE_HCA_GIDS; i++) {
		attr = rdma_get_gid_attr(&hca->ibdev, 1, i);
		if (IS_ERR(attr))
			continue;
		match = attr->gid_type == type &&
			ipv6_addr_v4mapped((struct in6_addr *)&attr->gid) == v4;
		rdma_put_gid_attr(attr);
		if (match)
			return i;
	}
	return -ENOENT;
}

static void fill(struct rdma_ah_attr *attr, int index)
{
	static const u8 v4[16] = { [10] = 0xff, [11] = 0xff, 10, 77, 9, 2 };
	static const u8 v6[16] = { 0xfe, 0x80, [15] = 9 };
	const struct ib_gid_attr *gid = rdma_get_gid_attr(&hca->ibdev, 1, index);
	bool is_v4 = ipv6_addr_v4mapped((struct in6_addr *)&gid->gid);
	union ib_gid dgid;

	rdma_put_gid_attr(gid);
	memset(attr, 0, sizeof(*attr));
	memcpy(&dgid, is_v4 ? v4 : v6, sizeof(dgid));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_grh(attr, &dgid, 0x12345, index, 63, 0x28);
	memcpy(attr->roce.dmac, dmac, ETH_ALEN);
}

static int create(struct rdma_ah_attr *attr)
{
	struct ib_ah *ah = rdma_create_ah(pd, attr, RDMA_CREATE_AH_SLEEPABLE);

	if (IS_ERR(ah))
		return PTR_ERR(ah);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return 0;
}

static unsigned int refs(struct net_device *ndev)
{
	return netdev_refcnt_read(ndev);
}

static void a_bond_chooses_by_the_ipv4_header(struct kunit *test)
{
	struct ethhdr *eth = (struct ethhdr *)probe;
	struct iphdr *ip = (struct iphdr *)(probe + ETH_HLEN);
	struct udphdr *udp = (struct udphdr *)(ip + 1);
	struct rdma_ah_attr attr;
	unsigned int before;

	KUNIT_ASSERT_TRUE(test, wait_until(gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP) >= 0));
	make_bond(true);
	fill(&attr, gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP));
	before = refs(slave);
	KUNIT_EXPECT_EQ(test, create(&attr), 0);
	KUNIT_EXPECT_PTR_EQ(test, given, slave);
	KUNIT_EXPECT_EQ(test, refs(slave), before);
	KUNIT_EXPECT_FALSE(test, probe_all);
	KUNIT_ASSERT_EQ(test, probe_len, ETH_HLEN + sizeof(*ip) + sizeof(*udp));
	KUNIT_EXPECT_MEMEQ(test, eth->h_dest, dmac, ETH_ALEN);
	KUNIT_EXPECT_MEMEQ(test, eth->h_source, bond->dev_addr, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, ntohs(eth->h_proto), ETH_P_IP);
	KUNIT_EXPECT_EQ(test, ntohs(probe_protocol), ETH_P_IP);
	KUNIT_EXPECT_TRUE(test, ip->version == 4);
	KUNIT_EXPECT_EQ(test, ntohl(ip->saddr), 0x0a4d0901);
	KUNIT_EXPECT_EQ(test, ntohl(ip->daddr), 0x0a4d0902);
	KUNIT_EXPECT_EQ(test, ip->tos, 0x28);
	KUNIT_EXPECT_EQ(test, ip->ttl, 63);
	KUNIT_EXPECT_EQ(test, ip->protocol, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, ntohs(ip->tot_len), sizeof(*ip) + sizeof(*udp));
	KUNIT_EXPECT_EQ(test, ip_fast_csum(ip, ip->ihl), 0);
	KUNIT_EXPECT_EQ(test, ntohs(udp->dest), ROCE_V2_UDP_DPORT);
	KUNIT_EXPECT_EQ(test, ntohs(udp->source), rdma_flow_label_to_udp_sport(0x12345));
	make_bond(false);
}

static void a_bond_chooses_by_the_ipv6_header(struct kunit *test)
{
	struct ethhdr *eth = (struct ethhdr *)probe;
	struct ipv6hdr *ip6 = (struct ipv6hdr *)(probe + ETH_HLEN);
	struct udphdr *udp = (struct udphdr *)(ip6 + 1);
	struct rdma_ah_attr attr;

	KUNIT_ASSERT_TRUE(test, wait_until(gid_index(false, IB_GID_TYPE_ROCE_UDP_ENCAP) >= 0));
	make_bond(true);
	hca->ibdev.lag_flags = RDMA_LAG_FLAGS_HASH_ALL_SLAVES;
	fill(&attr, gid_index(false, IB_GID_TYPE_ROCE_UDP_ENCAP));
	KUNIT_EXPECT_EQ(test, create(&attr), 0);
	KUNIT_EXPECT_PTR_EQ(test, given, slave);
	KUNIT_EXPECT_TRUE(test, probe_all);
	KUNIT_ASSERT_EQ(test, probe_len, ETH_HLEN + sizeof(*ip6) + sizeof(*udp));
	KUNIT_EXPECT_EQ(test, ntohs(eth->h_proto), ETH_P_IPV6);
	KUNIT_EXPECT_TRUE(test, ip6->version == 6);
	KUNIT_EXPECT_EQ(test, ipv6_get_dsfield(ip6), 0x28);
	KUNIT_EXPECT_EQ(test, ntohl(ip6_flowlabel(ip6)), 0x12345);
	KUNIT_EXPECT_EQ(test, ip6->hop_limit, 63);
	KUNIT_EXPECT_EQ(test, ip6->nexthdr, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, ntohs(ip6->payload_len), sizeof(*udp));
	KUNIT_EXPECT_MEMEQ(test, &ip6->daddr, &attr.grh.dgid, 16);
	KUNIT_EXPECT_EQ(test, ntohs(udp->dest), ROCE_V2_UDP_DPORT);
	make_bond(false);
}

static void a_bond_that_knows_no_slave(struct kunit *test)
{
	struct rdma_ah_attr attr;

	KUNIT_ASSERT_TRUE(test, wait_until(gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP) >= 0));
	make_bond(true);
	no_slave = true;
	fill(&attr, gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP));
	KUNIT_EXPECT_EQ(test, create(&attr), 0);
	KUNIT_EXPECT_TRUE(test, asked);
	KUNIT_EXPECT_NULL(test, given);
	KUNIT_EXPECT_GT(test, probe_len, 0);
	make_bond(false);
}

/* Without a bond, UDP or a flow label the bond is not asked. */
static void without_need_no_bond_is_asked(struct kunit *test)
{
	struct rdma_ah_attr attr;

	KUNIT_ASSERT_TRUE(test, wait_until(gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP) >= 0));
	fill(&attr, gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP));
	KUNIT_EXPECT_EQ(test, create(&attr), 0);
	KUNIT_EXPECT_EQ(test, probe_len, 0);
	make_bond(true);
	attr.grh.flow_label = 0;
	KUNIT_EXPECT_EQ(test, create(&attr), 0);
	KUNIT_EXPECT_EQ(test, probe_len, 0);
	KUNIT_ASSERT_TRUE(test, wait_until(gid_index(false, IB_GID_TYPE_ROCE) >= 0));
	fill(&attr, gid_index(false, IB_GID_TYPE_ROCE));
	KUNIT_EXPECT_EQ(test, create(&attr), 0);
	KUNIT_EXPECT_EQ(test, probe_len, 0);
	KUNIT_EXPECT_NULL(test, given);
	make_bond(false);
}

static void a_probe_without_memory_is_an_error(struct kunit *test)
{
	struct rdma_ah_attr attr;
	unsigned int before;
	int ret;

	KUNIT_ASSERT_TRUE(test, wait_until(gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP) >= 0));
	make_bond(true);
	fill(&attr, gid_index(true, IB_GID_TYPE_ROCE_UDP_ENCAP));
	before = refs(bond);
	current->fail_nth = 1;
	ret = create(&attr);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_FALSE(test, asked);
	KUNIT_EXPECT_EQ(test, refs(bond), before);
	make_bond(false);
}

static struct kunit_case lag_cases[] = {
	KUNIT_CASE(a_bond_chooses_by_the_ipv4_header),
	KUNIT_CASE(a_bond_chooses_by_the_ipv6_header),
	KUNIT_CASE(a_bond_that_knows_no_slave),
	KUNIT_CASE(without_need_no_bond_is_asked),
	KUNIT_CASE(a_probe_without_memory_is_an_error),
	{}
};

static struct kunit_suite ibcore_lag_suite = {
	.name = "ib_core_lag",
	.init = lag_test_init,
	.exit = lag_test_exit,
	.test_cases = lag_cases,
};

kunit_test_suite(ibcore_lag_suite);
