// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast on RoCE: the IP address identifies the group, and the switches learn the
 * membership by IGMP or MLD, which the host's IP stack performs.  IBA annex A17.9.1.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"
#include "multicast/multicast.h"
#include "resolve/resolve.h"

static int cma_mcast_roce_mgid(const struct sockaddr *addr,
			       enum ib_gid_type type, union ib_gid *mgid)
{
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	memset(mgid, 0, sizeof(*mgid));
	switch (addr->sa_family) {
	case AF_INET:
		if (!ipv4_is_multicast(in->sin_addr.s_addr))
			return -EINVAL;
		if (type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
			/* There is no IP header: the MGID must be a multicast GID. */
			mgid->raw[0] = 0xff;
			mgid->raw[1] = 0x0e;
		}
		mgid->raw[10] = 0xff;
		mgid->raw[11] = 0xff;
		memcpy(&mgid->raw[12], &in->sin_addr, 4);
		return 0;
	case AF_INET6:
		if (!ipv6_addr_is_multicast(&in6->sin6_addr))
			return -EINVAL;
		memcpy(mgid, &in6->sin6_addr, sizeof(*mgid));
		return 0;
	default:
		return -EINVAL;
	}
}

static int cma_igmp_join(struct net_device *ndev, const struct sockaddr *addr)
{
	const struct sockaddr_in *in = (const void *)addr;
	struct in_device *in_dev;

	ASSERT_RTNL();
#if IS_ENABLED(CONFIG_IPV6)
	if (addr->sa_family == AF_INET6)
		return ipv6_dev_mc_inc(ndev,
				       &((const struct sockaddr_in6 *)addr)->sin6_addr);
#endif
	in_dev = __in_dev_get_rtnl(ndev);
	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, in->sin_addr.s_addr);
	return 0;
}

static void cma_igmp_leave(struct net_device *ndev, const struct sockaddr *addr)
{
	const struct sockaddr_in *in = (const void *)addr;
	struct in_device *in_dev;

	ASSERT_RTNL();
#if IS_ENABLED(CONFIG_IPV6)
	if (addr->sa_family == AF_INET6) {
		ipv6_dev_mc_dec(ndev,
				&((const struct sockaddr_in6 *)addr)->sin6_addr);
		return;
	}
#endif
	in_dev = __in_dev_get_rtnl(ndev);
	if (in_dev)
		ip_mc_dec_group(in_dev, in->sin_addr.s_addr);
}

static int cma_mcast_host_join(struct cma_mcast *mc, struct net_device *ndev)
{
	int err;

	rtnl_lock();
	err = cma_igmp_join(ndev, (struct sockaddr *)&mc->addr);
	rtnl_unlock();
	if (!err)
		mc->igmp_ifindex = ndev->ifindex;
	return err;
}

static int cma_mcast_roce_rec(struct cma_id *idp, struct cma_mcast *mc,
			      struct net_device *ndev, enum ib_gid_type type)
{
	struct ib_sa_mcmember_rec *rec = &mc->rec;
	int err;

	err = cma_mcast_roce_mgid((struct sockaddr *)&mc->addr, type,
				  &rec->mgid);
	if (!err)
		err = cma_roce_gid(idp, cma_src(idp), &rec->port_gid);
	if (!err)
		err = cma_set_qkey(idp, 0);
	if (err)
		return err;

	rec->qkey = cpu_to_be32(idp->qkey);
	rec->pkey = cpu_to_be16(0xffff);
	rec->rate = IB_RATE_PORT_CURRENT;
	rec->traffic_class = cma_id_tos(idp);
	rec->sl = cma_roce_sl(ndev, rec->traffic_class);
	rec->hop_limit = type == IB_GID_TYPE_ROCE_UDP_ENCAP ?
			 IPV6_DEFAULT_HOPLIMIT : 1;
	rec->join_state = mc->join_state;
	rec->mtu_selector = IB_SA_EQ;
	rec->mtu = iboe_get_mtu(READ_ONCE(ndev->mtu));
	return rec->mtu ? 0 : -EINVAL;
}

/*
 * cma_mcast_roce_join() - join a group, and store the outcome to be reported
 *
 * Return: 0; -ENODEV if the netdev no longer exists; -EINVAL if the address is not
 * that of a group; an error of IGMP or MLD.
 */
int cma_mcast_roce_join(struct cma_id *idp, struct cma_mcast *mc)
{
	struct net_device *ndev = cma_roce_netdev(idp);
	enum ib_gid_type type;
	int err;

	if (!ndev)
		return -ENODEV;
	type = idp->sgid_attr ? idp->sgid_attr->gid_type :
				IB_GID_TYPE_ROCE_UDP_ENCAP;
	err = cma_mcast_roce_rec(idp, mc, ndev, type);
	if (!err && type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	    !cma_mcast_send_only(mc))
		err = cma_mcast_host_join(mc, ndev);
	if (!err)
		mc->changed = true;	/* not read before mc->started is set */
	dev_put(ndev);
	return err;
}

/* If the netdev no longer exists, the membership has ended with it. */
void cma_mcast_roce_leave(struct cma_mcast *mc)
{
	struct net_device *ndev;

	if (!mc->igmp_ifindex)
		return;
	rtnl_lock();
	ndev = __dev_get_by_index(cma_net(mc->idp), mc->igmp_ifindex);
	if (ndev)
		cma_igmp_leave(ndev, (struct sockaddr *)&mc->addr);
	rtnl_unlock();
}
