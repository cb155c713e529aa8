// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options of an id, and its GIDs.
 */
#include "bind/bind.h"
#include "id/id.h"

/* The timers have five bits in QP attributes and CM messages. */
#define CMA_MAX_TIMER	31

/**
 * rdma_set_service_type() - set the class of service of an id's packets
 * @id: the id, before its route is resolved
 * @tos: differentiated services field (RFC 2474), 8 bits
 *
 * It becomes the traffic class on RoCE, the QoS class of an IPv4 id's path record
 * query on InfiniBand, and the IP TOS on iWARP.  Without this call the port's
 * default_roce_tos applies, except on iWARP.
 *
 * Context: any.
 */
void rdma_set_service_type(struct rdma_cm_id *id, int tos)
{
	struct cma_id *idp = to_cma(id);

	idp->tos = tos;
	idp->tos_set = true;
}
EXPORT_SYMBOL(rdma_set_service_type);

/**
 * rdma_set_reuseaddr() - let other ids bind the same address and port
 * @id: the id, before it is bound, or bound and not listening
 * @reuse: whether they may
 *
 * All ids that share an address must allow it; a listener cannot share its address.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if @id listens, or is bound and @reuse is 0; -EADDRINUSE if
 * other users of the port would then conflict.
 */
int rdma_set_reuseaddr(struct rdma_cm_id *id, int reuse)
{
	struct cma_id *idp = to_cma(id);
	enum rdma_cm_state state = cma_state(idp);

	if (state != RDMA_CM_IDLE && (!reuse || state == RDMA_CM_LISTEN))
		return -EINVAL;
	return cma_port_set_sharing(idp, &idp->reuseaddr, reuse);
}
EXPORT_SYMBOL(rdma_set_reuseaddr);

/**
 * rdma_set_afonly() - restrict an id bound to the IPv6 wildcard to IPv6
 * @id: the id, before it listens
 * @afonly: whether to; without this call net.ipv6.bindv6only decides
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if @id has left the bound state; -EADDRINUSE if @id is bound,
 * @afonly is 0, and other ids use the port for IPv4.
 */
int rdma_set_afonly(struct rdma_cm_id *id, int afonly)
{
	struct cma_id *idp = to_cma(id);
	enum rdma_cm_state state = cma_state(idp);
	int err;

	if (state != RDMA_CM_IDLE && state != RDMA_CM_ADDR_BOUND)
		return -EINVAL;
	err = cma_port_set_sharing(idp, &idp->afonly, afonly);
	if (!err)
		idp->afonly_set = true;
	return err;
}
EXPORT_SYMBOL(rdma_set_afonly);

/**
 * rdma_set_ack_timeout() - set how long the QP waits for an acknowledgment
 * @id: the id, of type RC or XRC initiator, before the QP is in RTS
 * @timeout: 4.096 us * 2^timeout; 0: infinite
 *
 * On RoCE it also determines the path's packet lifetime, if it is set before the
 * route is resolved.  IBA vol. 1, 9.7.6.1.3.
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL.
 */
int rdma_set_ack_timeout(struct rdma_cm_id *id, u8 timeout)
{
	struct cma_id *idp = to_cma(id);

	if (timeout > CMA_MAX_TIMER ||
	    (id->qp_type != IB_QPT_RC && id->qp_type != IB_QPT_XRC_INI))
		return -EINVAL;
	mutex_lock(&idp->qp_mutex);
	idp->timeout = timeout;
	idp->timeout_set = true;
	mutex_unlock(&idp->qp_mutex);
	return 0;
}
EXPORT_SYMBOL(rdma_set_ack_timeout);

/**
 * rdma_set_min_rnr_timer() - set how long a peer waits when no receive is posted
 * @id: the id, of type RC or XRC target, before the QP is in RTR
 * @min_rnr_timer: encoded time, IBA vol. 1, table 45 (9.7.5.2.8)
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL.
 */
int rdma_set_min_rnr_timer(struct rdma_cm_id *id, u8 min_rnr_timer)
{
	struct cma_id *idp = to_cma(id);

	if (min_rnr_timer > CMA_MAX_TIMER ||
	    (id->qp_type != IB_QPT_RC && id->qp_type != IB_QPT_XRC_TGT))
		return -EINVAL;
	mutex_lock(&idp->qp_mutex);
	idp->min_rnr_timer = min_rnr_timer;
	idp->min_rnr_timer_set = true;
	mutex_unlock(&idp->qp_mutex);
	return 0;
}
EXPORT_SYMBOL(rdma_set_min_rnr_timer);

/**
 * rdma_read_gids() - get the GIDs that correspond to an id's addresses
 * @cm_id: the id
 * @sgid: where to store the local GID, or NULL
 * @dgid: where to store the peer's GID, or NULL
 *
 * On RoCE the GIDs are derived from the IP addresses, otherwise from the link
 * addresses.  They are zero if @cm_id is not bound to a device.
 *
 * Context: any.
 */
void rdma_read_gids(struct rdma_cm_id *cm_id, union ib_gid *sgid,
		    union ib_gid *dgid)
{
	struct cma_id *idp = to_cma(cm_id);
	struct rdma_dev_addr *dev_addr = &cm_id->route.addr.dev_addr;

	if (sgid)
		memset(sgid, 0, sizeof(*sgid));
	if (dgid)
		memset(dgid, 0, sizeof(*dgid));
	if (!cm_id->device)
		return;

	if (rdma_protocol_roce(cm_id->device, cm_id->port_num)) {
		if (sgid)
			cma_roce_gid(idp, cma_src(idp), sgid);
		if (dgid)
			cma_roce_gid(idp, cma_dst(idp), dgid);
		return;
	}
	if (sgid)
		rdma_addr_get_sgid(dev_addr, sgid);
	if (dgid)
		rdma_addr_get_dgid(dev_addr, dgid);
}
EXPORT_SYMBOL(rdma_read_gids);
