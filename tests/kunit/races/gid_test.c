// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The GIDs of two RoCE adapters.  The racers change the addresses, the MACs, the state, the
 * VLANs and the bond of the net_devices, raise events, and replace the adapters, while they
 * look for GIDs in every way, hold them, and make address handles of them.  A GID that is held
 * stays as it is.  At the end each adapter must have the GIDs of the addresses that are left.
 */
#include <linux/inetdevice.h>
#include <linux/mutex.h>
#include <net/addrconf.h>
#include <net/bonding.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "core/objects.h"
#include "crew.h"

#define NETS		2
#define FIRST_NET	96
#define IPS		6	/* of a net_device, of each family */
#define STEPS		500	/* of a racer */
#define GIDS		FAKE_HCA_GIDS

static struct {
	struct kunit *test;
	struct crew crew;
	unsigned int nr;
	struct roce nets[NETS];
	struct mutex replacing;		/* hca of all nets */
	struct net_device *bond;	/* may be NULL */
} world;

static struct {
	atomic_t steps, changed, found, held, handles, replaced, vlans, enslaved;
} seen;

static struct roce *some_net(struct racer *racer)
{
	return &world.nets[crew_pick(racer, NETS)];
}

static struct in6_addr some_ip(struct racer *racer, const struct roce *r)
{
	u32 host = 1 + crew_pick(racer, IPS);

	return crew_pick(racer, 2) ? roce_v4(r, host) : roce_v6(r, host);
}

/* ---- changes ---- */

static void change_address(struct racer *racer)
{
	const struct roce *r = some_net(racer);
	struct in6_addr ip = some_ip(racer, r);
	bool add = crew_pick(racer, 2);

	/* It may be there, or not, already. */
	if (!ipv6_addr_v4mapped(&ip))
		net_addr6(r->ndev, add, &ip, 112);
	else if (add)
		roce_take(r, &ip);
	else
		roce_drop(r, &ip);
	atomic_inc(&seen.changed);
}

static void change_state(struct racer *racer)
{
	struct net_device *ndev = some_net(racer)->ndev;

	net_up(ndev, false);
	crew_pause(racer);
	net_up(ndev, true);
}

/* A VLAN with an address, for a moment. */
static void change_vlan(struct racer *racer)
{
	const struct roce *r = some_net(racer);
	struct in6_addr ip = roce_v4(r, 0x100 + racer->nr);
	struct net_device *vlan;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "rvlan%u", racer->nr);
	vlan = net_link("vlan", name, r->ndev, 2 + racer->nr);
	KUNIT_EXPECT_NOT_NULL(world.test, vlan);
	if (!vlan)
		return;
	fake_netdev_add_ipv4(vlan, ip.s6_addr32[3], 24);
	crew_pause(racer);
	if (crew_once(racer, 2))
		fake_netdev_del_ipv4(vlan, ip.s6_addr32[3], 24);
	net_unlink(vlan);
	atomic_inc(&seen.vlans);
}

static void release_slave(struct net_device *ndev)
{
	rtnl_lock();
	if (netif_is_bond_slave(ndev))
		world.bond->netdev_ops->ndo_del_slave(world.bond, ndev);
	rtnl_unlock();
	net_up(ndev, true);
}

static void change_bond(struct racer *racer)
{
	struct net_device *ndev = some_net(racer)->ndev;
	int ret = -EBUSY;

	if (!world.bond)
		return;
	rtnl_lock();
	if (!netif_is_bond_slave(ndev)) {
		dev_close(ndev);
		ret = world.bond->netdev_ops->ndo_add_slave(world.bond, ndev, NULL);
	}
	rtnl_unlock();
	if (!ret)
		atomic_inc(&seen.enslaved);
	crew_pause(racer);
	release_slave(ndev);
}

static void replace_adapter(struct racer *racer)
{
	struct roce *r = some_net(racer);
	struct fake_hca *hca;

	if (!mutex_trylock(&world.replacing))
		return;
	fake_hca_unregister(r->hca);
	KUNIT_EXPECT_EQ(world.test, atomic_read(&r->hca->alive[FAKE_GID]), 0);
	KUNIT_EXPECT_EQ(world.test, fake_hca_objects(r->hca), 0);
	fake_hca_free(r->hca);
	crew_pause(racer);
	hca = roce_alloc(r->ndev, NULL);
	KUNIT_EXPECT_NOT_NULL(world.test, hca);
	r->hca = hca;
	if (hca)
		KUNIT_EXPECT_EQ(world.test, fake_hca_register(hca), 0);
	mutex_unlock(&world.replacing);
	atomic_inc(&seen.replaced);
}

/* ---- readers; the device stays registered meanwhile ---- */

static void event(struct racer *racer, struct ib_device *ibdev)
{
	static const enum ib_event_type events[] = {
		IB_EVENT_GID_CHANGE, IB_EVENT_PKEY_CHANGE, IB_EVENT_LID_CHANGE,
		IB_EVENT_PORT_ACTIVE, IB_EVENT_PORT_ERR,
	};

	fake_hca_port_event(to_fake_hca(ibdev), 1,
			    events[crew_pick(racer, ARRAY_SIZE(events))]);
}

/* Uses the reference on @attr. */
static void hold(struct racer *racer, struct ib_device *ibdev,
		 const struct ib_gid_attr *attr)
{
	struct kunit *test = world.test;
	enum ib_gid_type type = attr->gid_type;
	union ib_gid gid = attr->gid;
	struct net_device *ndev;
	u8 smac[ETH_ALEN];
	u16 vlan_id;

	atomic_inc(&seen.held);
	rdma_hold_gid_attr(attr);
	crew_pause(racer);
	rdma_put_gid_attr(attr);
	/* Both fail when the net_device is gone. */
	rdma_read_gid_l2_fields(attr, &vlan_id, smac);
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev))
		KUNIT_EXPECT_NE(test, READ_ONCE(ndev->ifindex), 0);
	rcu_read_unlock();
	crew_pause(racer);
	KUNIT_EXPECT_PTR_EQ(test, attr->device, ibdev);
	KUNIT_EXPECT_EQ(test, attr->port_num, 1);
	KUNIT_EXPECT_TRUE(test, attr->gid_type == type);
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &gid, sizeof(gid));
	rdma_put_gid_attr(attr);
}

static bool of_type(const union ib_gid *gid, const struct ib_gid_attr *attr, void *context)
{
	return attr->gid_type == *(enum ib_gid_type *)context;
}

static void find(struct racer *racer, struct ib_device *ibdev, const struct roce *r)
{
	struct in6_addr ip = some_ip(racer, r);
	const union ib_gid *gid = (union ib_gid *)&ip;
	enum ib_gid_type type = IB_GID_TYPE_ROCE + crew_pick(racer, 2);
	const struct ib_gid_attr *attr;

	switch (crew_pick(racer, 4)) {
	case 0:
		attr = rdma_find_gid(ibdev, gid, type, NULL);
		break;
	case 1:
		attr = rdma_find_gid_by_port(ibdev, gid, type, 1, r->ndev);
		break;
	case 2:
		attr = rdma_find_gid_by_filter(ibdev, gid, 1, of_type, &type);
		break;
	default:
		attr = rdma_get_gid_attr(ibdev, 1, crew_pick(racer, GIDS));
		gid = NULL;
		break;
	}
	if (IS_ERR(attr))
		return;
	atomic_inc(&seen.found);
	if (gid)
		KUNIT_EXPECT_MEMEQ(world.test, &attr->gid, gid, sizeof(*gid));
	hold(racer, ibdev, attr);
}

/* An address handle uses its GID until it is destroyed. */
static void make_handle(struct racer *racer, struct ib_device *ibdev)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE, .port_num = 1 };
	struct ib_pd *pd = ib_alloc_pd(ibdev, 0);
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 1 } };
	struct ib_ah *ah;

	KUNIT_EXPECT_FALSE(world.test, IS_ERR(pd));
	if (IS_ERR(pd))
		return;
	rdma_ah_set_grh(&attr, &dgid, 0, crew_pick(racer, 2 * IPS), 64, 0);
	attr.roce.dmac[0] = 2;
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (!IS_ERR(ah)) {
		atomic_inc(&seen.handles);
		crew_pause(racer);
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	}
	ib_dealloc_pd(pd);
}

static void read_cache(struct racer *racer, struct ib_device *ibdev)
{
	struct ib_uverbs_gid_entry *entries;
	enum ib_port_state state;
	union ib_gid gid;
	u16 pkey, index;
	ssize_t n;
	u8 lmc;

	rdma_query_gid(ibdev, 1, crew_pick(racer, GIDS), &gid);
	KUNIT_EXPECT_EQ(world.test, ib_get_cached_pkey(ibdev, 1, 0, &pkey), 0);
	KUNIT_EXPECT_EQ(world.test, ib_find_cached_pkey(ibdev, 1, pkey, &index), 0);
	KUNIT_EXPECT_EQ(world.test, ib_get_cached_lmc(ibdev, 1, &lmc), 0);
	KUNIT_EXPECT_EQ(world.test, ib_get_cached_port_state(ibdev, 1, &state), 0);
	entries = kcalloc(GIDS, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return;
	n = rdma_query_gid_table(ibdev, entries, GIDS);
	KUNIT_EXPECT_GE(world.test, n, 0);
	KUNIT_EXPECT_LE(world.test, n, GIDS);
	kfree(entries);
}

static void look(struct racer *racer)
{
	const struct roce *r = some_net(racer);
	struct ib_device *ibdev = ib_device_get_by_netdev(r->ndev, RDMA_DRIVER_UNKNOWN);

	if (!ibdev)
		return;
	switch (crew_pick(racer, 16)) {
	case 0:
	case 1:
		event(racer, ibdev);
		break;
	case 2:
	case 3:
		make_handle(racer, ibdev);
		break;
	case 4:
	case 5:
		read_cache(racer, ibdev);
		break;
	default:
		find(racer, ibdev, r);
		break;
	}
	ib_device_put(ibdev);
}

static void step(struct racer *racer)
{
	switch (crew_pick(racer, 64)) {
	case 0:
		change_state(racer);
		break;
	case 1:
		roce_set_mac(some_net(racer)->ndev, 1 + crew_pick(racer, 4));
		break;
	case 2:
		change_vlan(racer);
		break;
	case 3:
		change_bond(racer);
		break;
	case 4:
		replace_adapter(racer);
		break;
	case 5 ... 19:
		change_address(racer);
		break;
	default:
		look(racer);
		break;
	}
	if (crew_once(racer, 4))
		crew_pause(racer);
}

static void race(struct racer *racer)
{
	int i;

	for (i = 0; i < STEPS && !crew_late(&world.crew); i++) {
		step(racer);
		atomic_inc(&seen.steps);
	}
}

/* ---- the end ---- */

static bool ndev_has(struct net_device *ndev, const struct in6_addr *ip)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	bool found = false;

	if (!ipv6_addr_v4mapped(ip))
		return ipv6_chk_addr(&init_net, ip, ndev, 1);
	rcu_read_lock();
	in_dev = __in_dev_get_rcu(ndev);
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		found |= ifa->ifa_local == ip->s6_addr32[3];
	rcu_read_unlock();
	return found;
}

static void expect_gids(struct kunit *test, const struct roce *r)
{
	u32 i;

	for (i = 0; i < 2 * IPS; i++) {
		u32 host = 1 + i % IPS;
		struct in6_addr ip = i < IPS ? roce_v4(r, host) : roce_v6(r, host);
		bool has = ndev_has(r->ndev, &ip);

		KUNIT_EXPECT_TRUE_MSG(test, wait_until(has ? roce_has(r, &ip) :
							     roce_lacks(r, &ip)),
				      "%pI6c %d", &ip, has);
	}
}

static void gids(struct kunit *test)
{
	unsigned int i;
	int steps;

	memset(&seen, 0, sizeof(seen));
	crew_seed(&world.crew, (unsigned long)test->param_value);
	for (i = 0; i < world.nr; i++)
		crew_add(&world.crew, race);
	crew_join(&world.crew);
	for (i = 0; i < NETS; i++) {
		KUNIT_ASSERT_NOT_NULL(test, world.nets[i].hca);
		expect_gids(test, &world.nets[i]);
	}
	steps = atomic_read(&seen.steps);
	kunit_info(test, "changes %d, VLANs %d, enslaved %d, adapters replaced %d",
		   atomic_read(&seen.changed), atomic_read(&seen.vlans),
		   atomic_read(&seen.enslaved), atomic_read(&seen.replaced));
	kunit_info(test, "steps %d, found %d, held %d, address handles %d", steps,
		   atomic_read(&seen.found), atomic_read(&seen.held), atomic_read(&seen.handles));
	/* Each was frequent enough. */
	KUNIT_EXPECT_GT(test, atomic_read(&seen.changed), steps / 20);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.held), steps / 20);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.handles), steps / 80);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.vlans), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&seen.replaced), 0);
	if (world.bond)
		KUNIT_EXPECT_GT(test, atomic_read(&seen.enslaved), 0);
}

static int race_gid_init(struct kunit *test)
{
	int i, ret;

	memset(&world, 0, sizeof(world));
	world.test = test;
	crew_init(&world.crew, test);
	world.nr = crew_size();
	mutex_init(&world.replacing);
	for (i = 0; i < NETS; i++) {
		ret = roce_get(&world.nets[i], FIRST_NET + i);
		if (ret)
			return ret;
		world.nets[i].ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	}
	world.bond = net_link("bond", "rbond0", NULL, BOND_MODE_ACTIVEBACKUP);
	return 0;
}

static void race_gid_exit(struct kunit *test)
{
	int i;

	if (world.bond)
		net_unlink(world.bond);
	for (i = 0; i < NETS; i++)
		roce_put(&world.nets[i]);
}

static struct kunit_case race_gid_cases[] = {
	KUNIT_CASE_PARAM(gids, crew_next_seed),
	{}
};

static struct kunit_suite race_gid_suite = {
	.name = "race_gid",
	.init = race_gid_init,
	.exit = race_gid_exit,
	.test_cases = race_gid_cases,
};

kunit_test_suite(race_gid_suite);
