// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups of datagram ids, by IP or IB address.
 *
 * On InfiniBand the group is joined through the SA (IBA vol. 1, 15.2.5.17); on RoCE
 * the host joins it by IGMP or MLD (multicast/roce.c).  Either way the outcome is
 * stored in the cma_mcast, and reported by cma_event_work().
 */
#include <linux/slab.h>
#include <net/if_inet6.h>
#include <net/ip.h>

#include "bind/bind.h"
#include "connect/connect.h"
#include "id/id.h"
#include "multicast/multicast.h"
#include "resolve/resolve.h"

#define CMA_MCAST_QPN	0xffffff	/* IBA vol. 1, 10.5.1 */

static bool cma_mcast_is_roce(struct cma_id *idp)
{
	return rdma_protocol_roce(idp->id.device, idp->id.port_num);
}

bool cma_mcast_send_only(const struct cma_mcast *mc)
{
	return !(mc->join_state & (BIT(FULLMEMBER_JOIN) | BIT(NONMEMBER_JOIN)));
}

/* Maps an address to its MGID on InfiniBand: RFC 4391, 4. */
static void cma_mcast_ib_mgid(struct cma_id *idp, const struct sockaddr *addr,
			      union ib_gid *mgid)
{
	const struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_ib *ib = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;
	u8 map[MAX_ADDR_LEN];

	memset(mgid, 0, sizeof(*mgid));
	if (cma_addr_any(addr))
		return;		/* the SA chooses */
	if (addr->sa_family == AF_IB) {
		memcpy(mgid, &ib->sib_addr, sizeof(*mgid));
		return;
	}
	if (addr->sa_family == AF_INET6 &&
	    (in6->sin6_addr.s6_addr32[0] & htonl(0xfff0ffff)) ==
	    htonl(0xff10a01b)) {
		/* The address is an MGID already, with the SA's signature. */
		memcpy(mgid, &in6->sin6_addr, sizeof(*mgid));
		return;
	}
	if (addr->sa_family == AF_INET)
		ip_ib_mc_map(in->sin_addr.s_addr, dev_addr->broadcast, map);
	else
		ipv6_ib_mc_map(&in6->sin6_addr, dev_addr->broadcast, map);
	if (idp->id.ps == RDMA_PS_UDP)
		map[7] = 0x01;	/* differs from IPoIB's group */
	memcpy(mgid, map + 4, sizeof(*mgid));
}

/* Runs in the SA's context; see event.c. */
static int cma_mcast_sa_done(int status, struct ib_sa_multicast *sa)
{
	struct cma_mcast *mc = sa->context;
	struct cma_id *idp = mc->idp;
	unsigned long flags;

	spin_lock_irqsave(&idp->lock, flags);
	mc->status = status;
	if (!status)
		mc->rec = sa->rec;
	mc->changed = true;
	spin_unlock_irqrestore(&idp->lock, flags);
	cma_id_post(idp, CMA_POST_MCAST);
	return 0;
}

/* The parameters are those of IPoIB's broadcast group, which the port must be in. */
static int cma_mcast_ib_join(struct cma_id *idp, struct cma_mcast *mc)
{
	struct rdma_dev_addr *dev_addr = &idp->id.route.addr.dev_addr;
	ib_sa_comp_mask mask =
		IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
		IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_JOIN_STATE |
		IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_SL |
		IB_SA_MCMEMBER_REC_FLOW_LABEL |
		IB_SA_MCMEMBER_REC_TRAFFIC_CLASS;
	struct ib_sa_mcmember_rec rec;
	struct ib_sa_multicast *sa;
	union ib_gid broadcast;
	int err;

	ib_addr_get_mgid(dev_addr, &broadcast);
	err = ib_sa_get_mcmember_rec(idp->id.device, idp->id.port_num,
				     &broadcast, &rec);
	if (!err)
		err = cma_set_qkey(idp, 0);
	if (err)
		return err;

	cma_mcast_ib_mgid(idp, (struct sockaddr *)&mc->addr, &rec.mgid);
	rdma_addr_get_sgid(dev_addr, &rec.port_gid);
	rec.qkey = cpu_to_be32(idp->qkey);
	rec.pkey = cpu_to_be16(ib_addr_get_pkey(dev_addr));
	rec.join_state = mc->join_state;
	if (idp->id.ps == RDMA_PS_IPOIB)
		mask |= IB_SA_MCMEMBER_REC_RATE |
			IB_SA_MCMEMBER_REC_RATE_SELECTOR |
			IB_SA_MCMEMBER_REC_MTU | IB_SA_MCMEMBER_REC_MTU_SELECTOR |
			IB_SA_MCMEMBER_REC_HOP_LIMIT;
	sa = ib_sa_join_multicast(&cma_sa_client, idp->id.device,
				  idp->id.port_num, &rec, mask, GFP_KERNEL,
				  cma_mcast_sa_done, mc);
	if (IS_ERR(sa))
		return PTR_ERR(sa);
	mc->sa = sa;
	return 0;
}

/* Frees a group that is off the id's list; waits for the SA's callback. */
static void cma_mcast_free(struct cma_mcast *mc)
{
	if (mc->sa)
		ib_sa_free_multicast(mc->sa);
	cma_mcast_roce_leave(mc);
	kfree(mc);
}

static void cma_mcast_add(struct cma_id *idp, struct cma_mcast *mc)
{
	unsigned long flags;

	spin_lock_irqsave(&idp->lock, flags);
	list_add_tail(&mc->node, &idp->mcasts);
	spin_unlock_irqrestore(&idp->lock, flags);
}

/* From here on the consumer may get events of the group, and may leave it. */
static void cma_mcast_start(struct cma_id *idp, struct cma_mcast *mc)
{
	unsigned long flags;
	bool changed;

	spin_lock_irqsave(&idp->lock, flags);
	mc->started = true;
	changed = mc->changed;
	spin_unlock_irqrestore(&idp->lock, flags);
	if (changed)
		cma_id_post(idp, CMA_POST_MCAST);
}

static bool cma_mcast_allowed(struct cma_id *idp)
{
	/* The id must have no QP: consumers attach their own QP to the group. */
	if (!idp->id.device || idp->id.qp_type != IB_QPT_UD || idp->id.qp)
		return false;
	switch (cma_state(idp)) {
	case RDMA_CM_ADDR_BOUND:
	case RDMA_CM_ADDR_RESOLVED:
	case RDMA_CM_ROUTE_RESOLVED:
		return true;
	default:
		return false;
	}
}

/**
 * rdma_join_multicast() - join a multicast group
 * @id: a datagram id that is bound to a device and has no QP of its own
 * @addr: the group; AF_INET, AF_INET6, or AF_IB on InfiniBand
 * @join_state: bits of enum ib_sa_mc_join_states
 * @context: passed as private_data of the group's events
 *
 * The outcome is RDMA_CM_EVENT_MULTICAST_JOIN, with what is needed to send, or
 * RDMA_CM_EVENT_MULTICAST_ERROR, which may also follow a successful join.  The group
 * is left by rdma_leave_multicast() or rdma_destroy_id(), also after an error.
 *
 * Context: may sleep.
 * Return: 0 if an event will follow.  On error none follows: -EINVAL if @id or @addr
 * is unsuitable; -ENODEV if the netdev no longer exists; -EOPNOTSUPP on iWARP;
 * -ENOMEM; an error of the SA.
 */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			u8 join_state, void *context)
{
	struct cma_id *idp = to_cma(id);
	struct cma_mcast *mc;
	unsigned long flags;
	int err;

	if (!join_state || join_state >= BIT(NUM_JOIN_MEMBERSHIP_TYPES) ||
	    !cma_addr_family_ok(addr) || !cma_mcast_allowed(idp))
		return -EINVAL;

	mc = kzalloc(sizeof(*mc), GFP_KERNEL);
	if (!mc)
		return -ENOMEM;
	memcpy(&mc->addr, addr, rdma_addr_size(addr));
	mc->idp = idp;
	mc->context = context;
	mc->join_state = join_state;
	cma_mcast_add(idp, mc);

	if (cma_mcast_is_roce(idp))
		err = cma_mcast_roce_join(idp, mc);
	else if (rdma_cap_ib_mcast(id->device, id->port_num))
		err = cma_mcast_ib_join(idp, mc);
	else
		err = -EOPNOTSUPP;
	if (!err) {
		cma_mcast_start(idp, mc);
		return 0;
	}

	spin_lock_irqsave(&idp->lock, flags);
	list_del(&mc->node);
	spin_unlock_irqrestore(&idp->lock, flags);
	kfree(mc);
	return err;
}
EXPORT_SYMBOL(rdma_join_multicast);

static struct cma_mcast *cma_mcast_take(struct cma_id *idp,
					const struct sockaddr *addr)
{
	struct cma_mcast *mc, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&idp->lock, flags);
	list_for_each_entry(mc, &idp->mcasts, node) {
		if (!mc->started ||
		    (addr && memcmp(&mc->addr, addr, rdma_addr_size(addr))))
			continue;
		list_del(&mc->node);
		found = mc;
		break;
	}
	spin_unlock_irqrestore(&idp->lock, flags);
	return found;
}

/**
 * rdma_leave_multicast() - leave a multicast group
 * @id: the id that joined
 * @addr: the address that was joined; if it was joined several times, the oldest join
 *	is left
 *
 * When this returns, no event of the group is being delivered or will be, unless the
 * caller is itself the callback of one.
 *
 * Context: may sleep; a callback of @id may call it, but it must not be called under
 * rdma_lock_handler().
 */
void rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cma_id *idp = to_cma(id);
	struct cma_mcast *mc;

	mc = cma_mcast_take(idp, addr);
	if (!mc)
		return;
	if (READ_ONCE(idp->handler_task) != current) {
		mutex_lock(&idp->handler_mutex);
		mutex_unlock(&idp->handler_mutex);
	}
	cma_mcast_free(mc);
}
EXPORT_SYMBOL(rdma_leave_multicast);

/* Called on destruction, when no callback runs. */
void cma_mcast_leave_all(struct cma_id *idp)
{
	struct cma_mcast *mc;

	while ((mc = cma_mcast_take(idp, NULL)))
		cma_mcast_free(mc);
}

struct cma_mcast_change {
	int status;
	void *context;
	struct ib_sa_mcmember_rec rec;
};

static bool cma_mcast_next_change(struct cma_id *idp,
				  struct cma_mcast_change *change)
{
	struct cma_mcast *mc;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&idp->lock, flags);
	list_for_each_entry(mc, &idp->mcasts, node) {
		if (!mc->started || !mc->changed)
			continue;
		mc->changed = false;
		change->status = mc->status;
		change->context = mc->context;
		change->rec = mc->rec;
		found = true;
		break;
	}
	spin_unlock_irqrestore(&idp->lock, flags);
	return found;
}

static int cma_mcast_ah(struct cma_id *idp, struct ib_sa_mcmember_rec *rec,
			struct rdma_ah_attr *ah)
{
	enum ib_gid_type type = IB_GID_TYPE_IB;
	struct net_device *ndev = NULL;
	int err;

	/* On InfiniBand the GIDs belong to the port, not to a netdev. */
	if (cma_mcast_is_roce(idp)) {
		ndev = cma_roce_netdev(idp);
		type = idp->sgid_attr ? idp->sgid_attr->gid_type :
					IB_GID_TYPE_ROCE_UDP_ENCAP;
	}
	err = ib_init_ah_from_mcmember(idp->id.device, idp->id.port_num, rec,
				       ndev, type, ah);
	dev_put(ndev);
	return err;
}

static int cma_mcast_deliver(struct cma_id *idp,
			     struct cma_mcast_change *change)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_MULTICAST_ERROR,
		.status = change->status,
		.param.ud.private_data = change->context,
	};
	bool ah = false;
	int ret;

	if (!event.status) {
		event.status = cma_mcast_ah(idp, &change->rec,
					    &event.param.ud.ah_attr);
		ah = !event.status;
	}
	if (ah) {
		event.event = RDMA_CM_EVENT_MULTICAST_JOIN;
		event.param.ud.qp_num = CMA_MCAST_QPN;
		event.param.ud.qkey = be32_to_cpu(change->rec.qkey);
	}
	ret = cma_id_deliver(idp, &event);
	if (ah)
		rdma_destroy_ah_attr(&event.param.ud.ah_attr);
	return ret;
}

/* Reports all groups that changed to the consumer; see event.c. */
int cma_mcast_event(struct cma_id *idp)
{
	struct cma_mcast_change change;
	int ret;

	while (cma_mcast_next_change(idp, &change)) {
		ret = cma_mcast_deliver(idp, &change);
		if (ret)
			return ret;
	}
	return 0;
}
