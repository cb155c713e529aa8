// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* GIDs of ports and their attributes: by index, by value, by table, by filter. */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "kapi.h"

#define ENTRIES	64

static int some_index(const struct kdev *dev)
{
	return one_in(4) ? one_of(1, 2, 3, 5, 127, 128, 255, 1024, -1) : dev->gid_index;
}

static void say_attr(const struct ib_gid_attr *attr)
{
	const struct net_device *netdev;

	say(" index %u type %u port %u gid ", attr->index, attr->gid_type, attr->port_num);
	say_gid(&attr->gid);
	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(netdev))
		say(" netdev %s", result_of(PTR_ERR(netdev)));
	else
		say(" netdev %s", netdev ? netdev->name : "none");
	rcu_read_unlock();
}

static void l2_fields(const struct ib_gid_attr *attr)
{
	u16 vlan = 0x1234;
	u8 mac[6] = {};
	int ret;

	call("rdma_read_gid_l2_fields");
	ret = rdma_read_gid_l2_fields(attr, &vlan, mac);
	answer_with(ret, "vlan %x mac %*phN", vlan, 6, mac);
}

/* The references go as they came. */
static void attr_found(const struct ib_gid_attr *attr)
{
	if (IS_ERR(attr)) {
		answer(PTR_ERR(attr));
		return;
	}
	answer_more(0);
	say_attr(attr);
	answer_end();
	if (one_in(3))
		l2_fields(attr);
	if (one_in(3)) {
		call("rdma_hold_gid_attr");
		rdma_hold_gid_attr(attr);
		answer(0);
		rdma_put_gid_attr(attr);
	}
	call("rdma_put_gid_attr");
	rdma_put_gid_attr(attr);
	answer(0);
}

static void query_gid(void)
{
	struct kdev *dev = some_device();
	u32 port = mostly(1, 0, 2, 255, 0xffffffff);
	int index = some_index(dev), ret;
	union ib_gid gid = {};

	call("rdma_query_gid %s port %u index %d", dev->name, port, index);
	ret = answer_more(rdma_query_gid(dev->device, port, index, &gid));
	if (!ret) {
		say(" ");
		say_gid(&gid);
	}
	answer_end();
}

static void get_attr(void)
{
	struct kdev *dev = some_device();
	u32 port = mostly(1, 0, 2, 255, 0xffffffff);
	int index = some_index(dev);

	call("rdma_get_gid_attr %s port %u index %d", dev->name, port, index);
	attr_found(rdma_get_gid_attr(dev->device, port, index));
}

/* Of this device, mostly. */
static union ib_gid some_gid(const struct kdev *dev)
{
	union ib_gid gid = dev->gid;

	switch (rnd(8)) {
	case 0:
		gid.raw[15] ^= 0x55;
		break;
	case 1:
		memset(&gid, 0, sizeof(gid));
		break;
	}
	return gid;
}

static enum ib_gid_type some_type(const struct kdev *dev)
{
	return one_in(4) ? one_of(IB_GID_TYPE_IB, IB_GID_TYPE_ROCE, IB_GID_TYPE_ROCE_UDP_ENCAP) :
			   dev->gid_type;
}

static struct net_device *some_netdev(const struct kdev *dev)
{
	if (is_vib(dev) || one_in(2))
		return NULL;
	return dev_get_by_name(&init_net, one_in(4) ? "lo" : dev == &kdevs[RXE_A] ? "va" : "vb");
}

static void find_gid(void)
{
	struct kdev *dev = some_device();
	union ib_gid gid = some_gid(dev);
	enum ib_gid_type type = some_type(dev);
	struct net_device *netdev = some_netdev(dev);
	u32 port = mostly(1, 0, 2, 255);
	bool any_port = one_in(2);

	call("%s %s type %u netdev %s port %u gid ",
	     any_port ? "rdma_find_gid" : "rdma_find_gid_by_port", dev->name, type,
	     netdev ? netdev->name : "any", any_port ? 0 : port);
	say_gid(&gid);
	attr_found(any_port ? rdma_find_gid(dev->device, &gid, type, netdev) :
		   rdma_find_gid_by_port(dev->device, &gid, type, port, netdev));
	dev_put(netdev);
}

static void ib_find(void)
{
	struct kdev *dev = some_device();
	union ib_gid gid = some_gid(dev);
	u16 index = 0x1111;
	u32 port = 0x1111;
	int ret;

	call("ib_find_gid %s gid ", dev->name);
	say_gid(&gid);
	ret = ib_find_gid(dev->device, &gid, &port, &index);
	answer_with(ret, "port %u index %u", port, index);
}

static void table(void)
{
	struct kdev *dev = some_device();
	size_t most = one_in(3) ? 1 + rnd(6) : ENTRIES;
	struct ib_uverbs_gid_entry *entries = kcalloc(ENTRIES, sizeof(*entries), GFP_KERNEL);
	struct net_device *netdev;
	ssize_t n, i;

	if (!entries)
		return;
	call("rdma_query_gid_table %s most %zu", dev->name, most);
	n = answer_more(rdma_query_gid_table(dev->device, entries, most));
	if (n >= 0)
		say(" %zd", n);
	for (i = 0; i < n; i++) {
		netdev = entries[i].netdev_ifindex ?
			 dev_get_by_index(&init_net, entries[i].netdev_ifindex) : NULL;
		say(" | %u port %u type %u netdev %s ", entries[i].gid_index,
		    entries[i].port_num, entries[i].gid_type, netdev ? netdev->name : "none");
		say_bytes(entries[i].gid, sizeof(union ib_gid));
		dev_put(netdev);
	}
	answer_end();
	kfree(entries);
}

static void zero(void)
{
	union ib_gid gid = {};

	if (one_in(2))
		gid.raw[rnd(16)] = 1 + rnd(255);
	call("rdma_is_zero_gid ");
	say_gid(&gid);
	answer_with(0, "%d", rdma_is_zero_gid(&gid));
}

void gids(u64 number)
{
	static const struct op ops[] = {
		{ query_gid, 6 }, { get_attr, 5 }, { find_gid, 8 }, { ib_find, 3 }, { table, 2 },
		{ zero, 2 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 20 + rnd(20));
}
