// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Paths between two devices, and address handles of paths and of multicast groups. */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include "connect/path.h"
#include "objects/qp.h"

/* Where no subnet manager is asked: the devices are neighbours. */
void right_path(struct sa_path_rec *rec, const struct kdev *from, const struct kdev *to)
{
	static const u8 macs[2][ETH_ALEN] = { { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 } };

	memset(rec, 0, sizeof(*rec));
	rec->rec_type = is_vib(from) ? SA_PATH_REC_TYPE_IB : SA_PATH_REC_TYPE_ROCE_V2;
	rec->sgid = from->gid;
	rec->dgid = to->gid;
	rec->pkey = cpu_to_be16(0xffff);
	rec->mtu = IB_MTU_1024;
	rec->mtu_selector = IB_SA_EQ;
	rec->rate = IB_RATE_10_GBPS;
	rec->rate_selector = IB_SA_EQ;
	rec->packet_life_time = 10;
	rec->packet_life_time_selector = IB_SA_EQ;
	rec->reversible = 1;
	rec->numb_path = 1;
	if (is_vib(from)) {
		sa_path_set_slid(rec, from->lid);
		sa_path_set_dlid(rec, to->lid);
	} else {
		rec->hop_limit = 64;
		rec->roce.route_resolved = true;
		sa_path_set_dmac(rec, (u8 *)macs[to - kdevs]);
	}
}

void say_path(const struct sa_path_rec *rec)
{
	say("type %u pkey %x sl %u mtu %u %u rate %u %u life %u hop %u class %u flow %x rev %u ",
	    rec->rec_type, be16_to_cpu(rec->pkey), rec->sl, rec->mtu_selector, rec->mtu,
	    rec->rate_selector, rec->rate, rec->packet_life_time, rec->hop_limit,
	    rec->traffic_class,
	    be32_to_cpu(rec->flow_label), rec->reversible);
	say("from ");
	say_gid(&rec->sgid);
	say(" to ");
	say_gid(&rec->dgid);
	if (rec->rec_type == SA_PATH_REC_TYPE_IB)
		say(" lids %u %u raw %u", be16_to_cpu(rec->ib.slid), be16_to_cpu(rec->ib.dlid),
		    rec->ib.raw_traffic);
}

static const char *spoil(struct sa_path_rec *rec, u32 *port)
{
	switch (rnd(4)) {
	case 0:
		rec->rec_type = rec->rec_type == SA_PATH_REC_TYPE_IB ? SA_PATH_REC_TYPE_ROCE_V2 :
				SA_PATH_REC_TYPE_IB;
		return "type";
	case 1:
		rec->sl = 255;
		return "sl";
	case 2:
		rec->hop_limit = one_of(0, 1, 2, 255);
		return "hop limit";
	default:
		rec->dgid.raw[15] ^= 0x55;
		return "destination";
	}
}

void ah_of_path(void)
{
	struct kdev *from = some_device(), *to = peer_of(from);
	const struct ib_gid_attr *attr = NULL;
	const char *wrong = "nothing";
	struct rdma_ah_attr a = {};
	struct sa_path_rec rec;
	u32 port = 1;
	int ret;

	right_path(&rec, from, to);
	if (one_in(3))
		wrong = spoil(&rec, &port);
	if (!is_vib(from) || one_in(3)) {
		attr = rdma_get_gid_attr(from->device, 1, from->gid_index);
		if (IS_ERR(attr))
			return;
	}
	call("ib_init_ah_attr_from_path %s attr %d wrong %s ", from->name, !!attr, wrong);
	say_path(&rec);
	ret = answer_more(ib_init_ah_attr_from_path(from->device, port, &rec, &a, attr));
	if (!ret) {
		say(" ");
		say_ah_attr(&a);
		rdma_destroy_ah_attr(&a);
	}
	answer_end();
	if (attr)
		rdma_put_gid_attr(attr);
}

/* A group that nobody has joined is as good as another. */
void ah_of_group(void)
{
	struct kdev *dev = some_device();
	struct ib_sa_mcmember_rec rec = {
		.mgid.raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff },
		.port_gid = dev->gid,
		.mlid = cpu_to_be16(0xc000 + rnd(100)),
		.sl = rnd(8),
		.rate = IB_RATE_10_GBPS,
		.hop_limit = rnd(3),
		.flow_label = cpu_to_be32(rnd(1 << 20)),
		.traffic_class = rnd(256),
	};
	enum ib_gid_type type = dev->gid_type;
	struct net_device *netdev = NULL;
	struct rdma_ah_attr a = {};
	int ret;

	rec.mgid.raw[15] = rnd(256);
	if (one_in(4))
		rec.port_gid.raw[15] ^= 0x55;
	if (one_in(6))
		type = one_of(IB_GID_TYPE_IB, IB_GID_TYPE_ROCE, IB_GID_TYPE_ROCE_UDP_ENCAP);
	if (!is_vib(dev))
		netdev = dev_get_by_name(&init_net, one_in(5) ? "lo" : dev == kdevs ? "va" : "vb");
	call("ib_init_ah_from_mcmember %s type %u netdev %s port gid ", dev->name, type,
	     netdev ? netdev->name : "none");
	say_gid(&rec.port_gid);
	ret = answer_more(ib_init_ah_from_mcmember(dev->device, 1, &rec, netdev, type, &a));
	if (!ret) {
		/* whether it is known yet */
		if (!is_vib(dev) && !one_in(6))
			eth_zero_addr(a.roce.dmac);
		say(" ");
		say_ah_attr(&a);
		rdma_destroy_ah_attr(&a);
	}
	answer_end();
	dev_put(netdev);
}
