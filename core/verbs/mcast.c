// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast groups of UD QPs (IBA vol. 1, 10.5, 11.3). */
#include <rdma/ib_addr.h>
#include <ibex/qp.h>

#include "core.h"

static bool mcast_port_is_ib(struct ib_device *dev, u32 port)
{
	return rdma_port_get_link_layer(dev, port) == IB_LINK_LAYER_INFINIBAND;
}

/**
 * ibcore_mcast_needs_mlid() - whether a multicast group of a QP has a LID
 * @qp: UD QP
 *
 * RoCE has no LIDs (annex A16.5.1), so its MLID is ignored.  For a QP that has
 * no port yet, the MLID counts only if all ports of the device are InfiniBand.
 *
 * Context: any.
 * Return: whether the MLID counts.
 */
bool ibcore_mcast_needs_mlid(const struct ib_qp *qp)
{
	u32 port;

	if (rdma_is_port_valid(qp->device, qp->port))
		return mcast_port_is_ib(qp->device, qp->port);

	rdma_for_each_port(qp->device, port)
		if (!mcast_port_is_ib(qp->device, port))
			return false;
	return true;
}
EXPORT_SYMBOL(ibcore_mcast_needs_mlid);

static bool mcast_valid(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	if (qp->qp_type != IB_QPT_UD ||
	    !rdma_is_multicast_addr((struct in6_addr *)gid->raw))
		return false;
	if (!ibcore_mcast_needs_mlid(qp))
		return true;
	return lid >= be16_to_cpu(IB_MULTICAST_LID_BASE) &&
	       lid != be16_to_cpu(IB_LID_PERMISSIVE);
}

/* Calls the provider's @op; on success adds @uses to the QP's usecnt. */
static int mcast_change(struct ib_qp *qp, union ib_gid *gid, u16 lid,
			int (*op)(struct ib_qp *qp, union ib_gid *gid, u16 lid),
			int uses)
{
	int ret;

	if (!op)
		return -EOPNOTSUPP;
	if (!mcast_valid(qp, gid, lid))
		return -EINVAL;

	ret = op(qp, gid, lid);
	if (!ret)
		atomic_add(uses, &qp->usecnt);
	return ret;
}

/**
 * ib_attach_mcast() - attach a QP to a multicast group
 * @qp: UD QP
 * @gid: group's GID
 * @lid: group's LID in host byte order; ignored for RoCE
 *
 * The QP counts as in use until it is detached.  IBA vol. 1, 11.3.1.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL, -EOPNOTSUPP, or the provider's error.
 */
int ib_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return mcast_change(qp, gid, lid, qp->device->ops.attach_mcast, 1);
}
EXPORT_SYMBOL(ib_attach_mcast);

/**
 * ib_detach_mcast() - detach a QP from a multicast group
 * @qp: UD QP that is attached
 * @gid: group's GID
 * @lid: group's LID in host byte order; ignored for RoCE
 *
 * IBA vol. 1, 11.3.2.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL, -EOPNOTSUPP, or the provider's error; on error the QP is
 * still attached.
 */
int ib_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return mcast_change(qp, gid, lid, qp->device->ops.detach_mcast, -1);
}
EXPORT_SYMBOL(ib_detach_mcast);
