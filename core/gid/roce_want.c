// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which GIDs a RoCE port should have.  If its net_device is N:
 *	default	fe80::/64 with the EUI-64 of the MAC of N, or if N is a bond's slave,
 *		of the bond; one for each GID type that the port supports
 *	IP	each IPv4 (as ::ffff:a.b.c.d) and IPv6 address, in each type, of N
 *		and its VLANs, and of every other device on top of N
 * The bond and the devices on top of it count only while N may send for the bond: not
 * while another slave of an active-backup bond is the active one, and a RoCE port has
 * that slave as its net_device.
 *
 * All of it is read under RCU, without excluding changes of the network.  A change, even
 * of a MAC that is half written when it is read, is notified afterwards, and the GIDs are
 * computed again (roce_gid.c).
 */
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/bonding.h>
#include <net/if_inet6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <ibex/compat/net.h>
#include "device/device.h"
#include "gid/gid.h"

static bool want_has_default(const struct ibcore_gid_wants *set,
			     const union ib_gid *gid, enum ib_gid_type type,
			     const struct net_device *ndev)
{
	unsigned int i;

	/* Default GIDs come first, and there is at most one per type. */
	for (i = 0; i < min(set->n, set->cap); i++) {
		if (!set->want[i].is_default)
			break;
		if (set->want[i].type == type && set->want[i].ndev == ndev &&
		    !memcmp(&set->want[i].gid, gid, sizeof(*gid)))
			return true;
	}
	return false;
}

static void want_add(struct ibcore_gid_wants *set, const union ib_gid *gid,
		     struct net_device *ndev, bool is_default)
{
	struct ibcore_gid_want *want;
	unsigned long types = set->types;
	unsigned int type;

	for_each_set_bit(type, &types, IB_GID_TYPE_SIZE) {
		if (!is_default && want_has_default(set, gid, type, ndev))
			continue;
		if (set->n++ >= set->cap)
			continue;
		want = &set->want[set->n - 1];
		want->gid = *gid;
		want->type = type;
		want->is_default = is_default;
		want->ndev = ndev;
		want->port_ndev = set->port_ndev;
		netdev_hold(ndev, &want->tracker, GFP_ATOMIC);
	}
}

static void want_drop(struct ibcore_gid_wants *set)
{
	unsigned int i;

	for (i = 0; i < min(set->n, set->cap); i++)
		netdev_put(set->want[i].ndev, &set->want[i].tracker);
	set->n = 0;
}

/* Skips net_devices being unregistered, which must not wait for the table. */
static bool want_of(const struct net_device *ndev)
{
	return ibex_reg_state(ndev) == NETREG_REGISTERED;
}

/* Under rcu_read_lock. */
static void want_add_ipv4(struct ibcore_gid_wants *set, struct net_device *ndev)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	struct in_ifaddr *ifa;
	union ib_gid gid;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		ipv6_addr_set_v4mapped(ifa->ifa_local, (struct in6_addr *)&gid);
		want_add(set, &gid, ndev, false);
	}
}

/* Under rcu_read_lock. */
static void want_add_ipv6(struct ibcore_gid_wants *set, struct net_device *ndev)
{
	struct inet6_dev *in6_dev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifp;
	union ib_gid gid;

	if (!IS_ENABLED(CONFIG_IPV6) || !in6_dev)
		return;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifp, &in6_dev->addr_list, if_list) {
		if (ifp->state == INET6_IFADDR_STATE_DEAD)
			continue;
		memcpy(gid.raw, &ifp->addr, sizeof(gid.raw));
		want_add(set, &gid, ndev, false);
	}
	read_unlock_bh(&in6_dev->lock);
}

static void want_add_ips(struct ibcore_gid_wants *set, struct net_device *ndev)
{
	if (!want_of(ndev))
		return;
	want_add_ipv4(set, ndev);
	want_add_ipv6(set, ndev);
}

static void want_add_default(struct ibcore_gid_wants *set, struct net_device *ndev)
{
	union ib_gid gid = {
		.global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL),
	};

	if (want_of(ndev) && !addrconf_ifid_eui48(&gid.raw[8], ndev))
		want_add(set, &gid, ndev, true);
}

/* Returns the bond of @ndev if @ndev is a slave, or NULL.  Under rcu_read_lock. */
struct net_device *ibcore_roce_bond_of(struct net_device *ndev)
{
	struct net_device *master;

	if (!netif_is_bond_slave(ndev))
		return NULL;
	master = netdev_master_upper_dev_get_rcu(ndev);
	return master && netif_is_bond_master(master) ? master : NULL;
}

/*
 * Whether @bond may send through its slave @ndev.  Only active-backup has idle slaves:
 * balance-tlb and balance-alb have an active slave too, but send through all slaves.
 *
 * If no RoCE port is on the active slave, this port may be the one that sends there:
 * an mlx5 device with LAG has one port for all slaves, whose net_device the driver sets
 * to the active slave up to a second after the failover.  QPs that use the bond's GIDs
 * meanwhile must not lose them.
 *
 * Under rcu_read_lock.
 */
static bool roce_bond_uses(struct net_device *bond, struct net_device *ndev)
{
	struct bonding *bonding = netdev_priv(bond);
	struct net_device *active;

	if (BOND_MODE(bonding) != BOND_MODE_ACTIVEBACKUP)
		return true;
	active = bond_option_active_slave_get_rcu(bonding);
	return !active || active == ndev || !ibcore_roce_has_port(active);
}

struct upper_walk {
	struct ibcore_gid_wants *set;
	struct net_device *idle_bond;	/* skipped, with all devices on top */
};

static int want_add_upper(struct net_device *upper,
			  struct netdev_nested_priv *priv)
{
	struct upper_walk *walk = priv->data;

	if (upper != walk->idle_bond &&
	    !(walk->idle_bond &&
	      netdev_has_upper_dev_all_rcu(walk->idle_bond, upper)))
		want_add_ips(walk->set, upper);
	return 0;
}

static void want_fill(struct ibcore_gid_wants *set)
{
	struct net_device *ndev = set->port_ndev, *bond;
	struct upper_walk walk = { .set = set };
	struct netdev_nested_priv priv = { .data = &walk };

	rcu_read_lock();
	bond = ibcore_roce_bond_of(ndev);
	if (!bond)
		want_add_default(set, ndev);
	else if (roce_bond_uses(bond, ndev))
		want_add_default(set, bond);
	else
		walk.idle_bond = bond;
	want_add_ips(set, ndev);
	netdev_walk_all_upper_dev_rcu(ndev, want_add_upper, &priv);
	rcu_read_unlock();
}

/**
 * ibcore_gid_wants_get - compute the GIDs of a RoCE port
 * @set: zero except for port_ndev
 * @dev: the device
 * @port: RoCE port of the device
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM; the caller calls ibcore_gid_wants_put() in either case.
 */
int ibcore_gid_wants_get(struct ibcore_gid_wants *set, struct ib_device *dev,
			 u32 port)
{
	unsigned int cap;

	set->types = roce_gid_type_mask_support(dev, port);
	while (set->port_ndev) {
		want_fill(set);
		if (set->n <= set->cap)
			break;
		cap = set->n + 8;
		want_drop(set);
		set->cap = cap;
		kvfree(set->want);
		set->want = kvcalloc(set->cap, sizeof(*set->want), GFP_KERNEL);
		if (!set->want) {
			set->cap = 0;
			return -ENOMEM;
		}
	}
	return 0;
}

void ibcore_gid_wants_put(struct ibcore_gid_wants *set)
{
	want_drop(set);
	kvfree(set->want);
	dev_put(set->port_ndev);
}
