// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RoCE address handles: those of processes, and those for replies to datagrams. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <net/bonding.h>
#include <net/ip.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>
#include "core/objects.h"

#define AH_NET		84

static const u8 peer_ha[MAX_ADDR_LEN] = { 2, 0x11, 0x22, 0x33, 0x44, 0x88 };
static struct roce roce;
static struct ib_pd *pd;
static struct ib_udata udata;
static struct rdma_ah_attr seen;	/* attributes that the provider got */

static int create_user_ah(struct ib_ah *ah, struct rdma_ah_init_attr *init,
			  struct ib_udata *data)
{
	seen = *init->ah_attr;
	return ah->device->ops.create_ah(ah, init, NULL);
}

static int roce_ah_init(struct kunit *test)
{
	int ret = roce_get(&roce, AH_NET);

	if (ret)
		return ret;
	pd = ib_alloc_pd(&roce.hca->ibdev, 0);
	roce.hca->ibdev.ops.create_user_ah = create_user_ah;
	return PTR_ERR_OR_ZERO(pd);
}

static void roce_ah_exit(struct kunit *test)
{
	if (roce.hca)
		ib_dealloc_pd(pd);
	roce_put(&roce);
}

static int user_ah(const struct ib_gid_attr *sgid, const struct in6_addr *dst)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE, .port_num = 1 };
	struct ib_ah *ah;

	rdma_ah_set_grh(&attr, (union ib_gid *)dst, 0, sgid->index, 1, 0);
	ah = rdma_create_user_ah(pd, &attr, &udata);
	if (!IS_ERR(ah))
		rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, &udata);
	return PTR_ERR_OR_ZERO(ah);
}

static void a_process_has_its_mac_resolved(struct kunit *test)
{
	struct in6_addr src = roce_v4(&roce, 1), dst = roce_v4(&roce, 2);
	struct in6_addr silent = roce_v4(&roce, 3), group = net_v4(0xe1000001);
	static const u8 map[] = { 1, 0, 0x5e, 0, 0, 1 };
	const struct ib_gid_attr *v2 = roce_gid(&roce, &src);
	int n;

	KUNIT_ASSERT_NOT_NULL(test, v2);
	n = gid_refs(v2);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &dst, peer_ha), 0);
	KUNIT_EXPECT_EQ(test, user_ah(v2, &dst), 0);
	KUNIT_EXPECT_MEMEQ(test, seen.roce.dmac, peer_ha, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, seen.grh.hop_limit, 64);
	KUNIT_EXPECT_EQ(test, user_ah(v2, &group), 0);
	KUNIT_EXPECT_MEMEQ(test, seen.roce.dmac, map, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, user_ah(v2, &silent), -ETIMEDOUT);
	atomic_set(&roce.hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, user_ah(v2, &dst), -ENOMEM);
	KUNIT_EXPECT_EQ(test, gid_refs(v2), n);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->usecnt), 0);
	rdma_put_gid_attr(v2);
}

/* The MAC is taken from a RoCE v1 link-local GID; a RoCE v2 address is resolved. */
static void a_link_local_gid_of_v1_has_the_mac_in_it(struct kunit *test)
{
	struct in6_addr peer = { .s6_addr = { 0xfe, 0x80, [8] = 0x02, 0x11, 0x22, 0xff,
					      0xfe, 0x33, 0x44, 0x55 } };
	static const u8 mac[] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55 };
	const struct ib_gid_attr *v1, *v2;

	v1 = rdma_get_gid_attr(&roce.hca->ibdev, 1, 0);
	v2 = rdma_get_gid_attr(&roce.hca->ibdev, 1, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(v1) || IS_ERR(v2));
	KUNIT_ASSERT_EQ(test, v1->gid_type, IB_GID_TYPE_ROCE);
	KUNIT_ASSERT_EQ(test, v2->gid_type, IB_GID_TYPE_ROCE_UDP_ENCAP);
	KUNIT_EXPECT_EQ(test, user_ah(v1, &peer), 0);
	KUNIT_EXPECT_MEMEQ(test, seen.roce.dmac, mac, ETH_ALEN);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &peer, peer_ha), 0);
	KUNIT_EXPECT_EQ(test, user_ah(v2, &peer), 0);
	KUNIT_EXPECT_MEMEQ(test, seen.roce.dmac, peer_ha, ETH_ALEN);
	rdma_put_gid_attr(v1);
	rdma_put_gid_attr(v2);
}

static void put_ipv4(union rdma_network_hdr *hdr, const struct in6_addr *src,
		     const struct in6_addr *dst)
{
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tos = 0x28, .ttl = 9, .protocol = IPPROTO_UDP,
		.saddr = src->s6_addr32[3], .daddr = dst->s6_addr32[3],
	};

	memset(hdr, 0, sizeof(*hdr));
	ip.check = ip_fast_csum(&ip, 5);
	memcpy(&hdr->roce4grh, &ip, sizeof(ip));
}

static void put_ipv6(union rdma_network_hdr *hdr, const struct in6_addr *src,
		     const struct in6_addr *dst, u8 next)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->ibgrh.version_tclass_flow = cpu_to_be32(0x60012345);
	hdr->ibgrh.next_hdr = next;
	memcpy(&hdr->ibgrh.sgid, src, sizeof(*src));
	memcpy(&hdr->ibgrh.dgid, dst, sizeof(*dst));
}

static void a_network_header_is_known_by_its_bytes(struct kunit *test)
{
	struct in6_addr a4 = roce_v4(&roce, 1), b4 = roce_v4(&roce, 2);
	struct in6_addr a6 = roce_v6(&roce, 1), b6 = roce_v6(&roce, 2);
	union rdma_network_hdr hdr;
	union ib_gid sgid, dgid;

	put_ipv4(&hdr, &a4, &b4);
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 4);
	/* The octets before an IPv4 header are ignored, even if they look like IPv6. */
	hdr.ibgrh.version_tclass_flow = cpu_to_be32(0x6fffffff);
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 4);
	/* But then the checksum must be right, and the header must have no options. */
	hdr.roce4grh.check ^= 1;
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 6);
	hdr.roce4grh.check ^= 1;
	hdr.roce4grh.ihl = 6;
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 6);
	KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, RDMA_NETWORK_IPV4, &sgid,
							&dgid), 0);
	KUNIT_EXPECT_MEMEQ(test, &sgid, &a4, sizeof(a4));
	KUNIT_EXPECT_MEMEQ(test, &dgid, &b4, sizeof(b4));

	put_ipv6(&hdr, &a6, &b6, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 6);
	KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, RDMA_NETWORK_IPV6, &sgid,
							&dgid), 0);
	KUNIT_EXPECT_MEMEQ(test, &sgid, &a6, sizeof(a6));
	KUNIT_EXPECT_MEMEQ(test, &dgid, &b6, sizeof(b6));
	KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, 99, &sgid, &dgid), -EINVAL);
	memset(&hdr, 0, sizeof(hdr));
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 0);
}

/* Checks the address handle attributes for a reply to @hdr; returns 0 or the error. */
static int reply(struct kunit *test, const union rdma_network_hdr *hdr,
		 struct ib_wc *wc, enum ib_gid_type type, const struct in6_addr *local,
		 const struct in6_addr *remote)
{
	struct rdma_ah_attr attr;
	int ret;

	ret = ib_init_ah_attr_from_wc(&roce.hca->ibdev, 1, wc, &hdr->ibgrh, &attr);
	if (ret)
		return ret;
	KUNIT_EXPECT_EQ(test, attr.type, RDMA_AH_ATTR_TYPE_ROCE);
	KUNIT_EXPECT_EQ(test, attr.grh.sgid_attr->gid_type, type);
	KUNIT_EXPECT_MEMEQ(test, &attr.grh.sgid_attr->gid, local, sizeof(*local));
	KUNIT_EXPECT_MEMEQ(test, &attr.grh.dgid, remote, sizeof(*remote));
	KUNIT_EXPECT_MEMEQ(test, attr.roce.dmac, peer_ha, ETH_ALEN);
	rdma_destroy_ah_attr(&attr);
	return 0;
}

static void a_reply_takes_the_version_it_came_by(struct kunit *test)
{
	struct in6_addr a4 = roce_v4(&roce, 1), b4 = roce_v4(&roce, 2);
	struct in6_addr a6 = roce_v6(&roce, 1), b6 = roce_v6(&roce, 2);
	struct ib_wc wc = { .wc_flags = IB_WC_GRH };
	enum ib_gid_type v1 = IB_GID_TYPE_ROCE, v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	union rdma_network_hdr hdr;

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &b4, peer_ha), 0);
	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &b6, peer_ha), 0);
	put_ipv4(&hdr, &b4, &a4);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &a4, &b4), 0);
	put_ipv6(&hdr, &b6, &a6, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &a6, &b6), 0);
	put_ipv6(&hdr, &b6, &a6, 0x1b);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v1, &a6, &b6), 0);
	/* The type in the completion overrides a guess from the header. */
	wc.wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	wc.network_hdr_type = RDMA_NETWORK_IPV6;
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &a6, &b6), 0);
	wc.network_hdr_type = RDMA_NETWORK_ROCE_V1;
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v1, &a6, &b6), 0);
	wc.network_hdr_type = 99;
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v1, &a6, &b6), -EINVAL);
	wc.wc_flags = 0;
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v1, &a6, &b6), -EPROTOTYPE);
}

static void a_reply_that_finds_no_way_keeps_nothing(struct kunit *test)
{
	struct in6_addr a4 = roce_v4(&roce, 1), silent = roce_v4(&roce, 3);
	struct in6_addr b4 = roce_v4(&roce, 2), alien = roce_v4(&roce, 99);
	const struct ib_gid_attr *gid = roce_gid(&roce, &a4);
	enum ib_gid_type v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	struct ib_wc wc = { .wc_flags = IB_WC_GRH };
	union rdma_network_hdr hdr;
	int n;

	KUNIT_ASSERT_NOT_NULL(test, gid);
	n = gid_refs(gid);
	put_ipv4(&hdr, &silent, &a4);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &a4, &silent), -ETIMEDOUT);
	put_ipv4(&hdr, &b4, &alien);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &alien, &b4), -ENOENT);
	/* The GID exists, but not on that VLAN. */
	wc.wc_flags |= IB_WC_WITH_VLAN;
	wc.vlan_id = 7;
	put_ipv4(&hdr, &b4, &a4);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &a4, &b4), -ENOENT);
	KUNIT_EXPECT_EQ(test, gid_refs(gid), n);
	rdma_put_gid_attr(gid);
}

static void a_reply_stays_on_its_vlan(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 0x701), peer = roce_v4(&roce, 0x702);
	enum ib_gid_type v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	struct ib_wc wc = { .wc_flags = IB_WC_GRH | IB_WC_WITH_VLAN, .vlan_id = 7 };
	union rdma_network_hdr hdr;
	struct net_device *vlan;

	vlan = net_link("vlan", "fvlan7", roce.ndev, 7);
	KUNIT_ASSERT_NOT_NULL(test, vlan);
	KUNIT_EXPECT_EQ(test, net_arp(vlan, true), 0);
	KUNIT_EXPECT_EQ(test, fake_netdev_add_ipv4(vlan, ip.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_EQ(test, net_neighbour(vlan, &peer, peer_ha), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has_gid(roce.hca, &ip, v2)));
	put_ipv4(&hdr, &peer, &ip);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &ip, &peer), 0);
	wc.wc_flags &= ~IB_WC_WITH_VLAN;
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &ip, &peer), -ENOENT);
	net_unlink(vlan);
}

/* A tag with VLAN ID 0 is a mere priority, unless a VLAN device has that ID. */
static void a_priority_is_no_vlan(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 1), peer = roce_v4(&roce, 2);
	struct in6_addr ip0 = roce_v4(&roce, 0x901), peer0 = roce_v4(&roce, 0x902);
	enum ib_gid_type v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	struct ib_wc wc = { .wc_flags = IB_WC_GRH | IB_WC_WITH_VLAN, .vlan_id = 0 };
	union rdma_network_hdr hdr;
	struct net_device *vlan;

	KUNIT_ASSERT_EQ(test, net_neighbour(roce.ndev, &peer, peer_ha), 0);
	put_ipv4(&hdr, &peer, &ip);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &ip, &peer), 0);

	vlan = net_link("vlan", "fvlan0", roce.ndev, 0);
	KUNIT_ASSERT_NOT_NULL(test, vlan);
	KUNIT_EXPECT_EQ(test, net_arp(vlan, true), 0);
	KUNIT_EXPECT_EQ(test, fake_netdev_add_ipv4(vlan, ip0.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_EQ(test, net_neighbour(vlan, &peer0, peer_ha), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has_gid(roce.hca, &ip0, v2)));
	put_ipv4(&hdr, &peer0, &ip0);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &ip0, &peer0), 0);
	wc.wc_flags &= ~IB_WC_WITH_VLAN;
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &ip0, &peer0), -ENOENT);
	net_unlink(vlan);
}

/* Packets to a device above a VLAN are received, and sent, with that VLAN's tag. */
static void a_reply_stays_on_the_vlan_below(struct kunit *test)
{
	struct in6_addr ip = roce_v4(&roce, 0x801), peer = roce_v4(&roce, 0x802);
	enum ib_gid_type v2 = IB_GID_TYPE_ROCE_UDP_ENCAP;
	struct ib_wc wc = { .wc_flags = IB_WC_GRH | IB_WC_WITH_VLAN, .vlan_id = 8 };
	struct net_device *vlan, *bond;
	union rdma_network_hdr hdr;

	bond = net_link("bond", "fbond8", NULL, BOND_MODE_ACTIVEBACKUP);
	if (!bond)
		kunit_skip(test, "no bonding driver");
	vlan = net_link("vlan", "fvlan8", roce.ndev, 8);
	KUNIT_ASSERT_NOT_NULL(test, vlan);
	rtnl_lock();
	dev_close(vlan);
	KUNIT_EXPECT_EQ(test, bond->netdev_ops->ndo_add_slave(bond, vlan, NULL), 0);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, fake_netdev_add_ipv4(bond, ip.s6_addr32[3], 24), 0);
	KUNIT_EXPECT_EQ(test, net_neighbour(bond, &peer, peer_ha), 0);
	KUNIT_EXPECT_TRUE(test, wait_until(roce_has_gid(roce.hca, &ip, v2)));
	put_ipv4(&hdr, &peer, &ip);
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &ip, &peer), 0);
	wc.wc_flags &= ~IB_WC_WITH_VLAN;
	KUNIT_EXPECT_EQ(test, reply(test, &hdr, &wc, v2, &ip, &peer), -ENOENT);
	net_unlink(bond);
	net_unlink(vlan);
}

static struct kunit_case roce_ah_cases[] = {
	KUNIT_CASE(a_process_has_its_mac_resolved),
	KUNIT_CASE(a_link_local_gid_of_v1_has_the_mac_in_it),
	KUNIT_CASE(a_network_header_is_known_by_its_bytes),
	KUNIT_CASE(a_reply_takes_the_version_it_came_by),
	KUNIT_CASE(a_reply_that_finds_no_way_keeps_nothing),
	KUNIT_CASE(a_reply_stays_on_its_vlan),
	KUNIT_CASE(a_priority_is_no_vlan),
	KUNIT_CASE(a_reply_stays_on_the_vlan_below),
	{}
};

static struct kunit_suite ibcore_ah_roce_suite = {
	.name = "ib_core_ah_roce",
	.init = roce_ah_init,
	.exit = roce_ah_exit,
	.test_cases = roce_ah_cases,
};

kunit_test_suite(ibcore_ah_roce_suite);
