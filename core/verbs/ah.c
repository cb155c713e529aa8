// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Address handles (IBA vol. 1, 10.2.2.2, 11.2.2).  An AH holds a use of its PD
 * and a reference on its source GID for as long as it exists.
 */
#include <rdma/ib_cache.h>
#include <rdma/lag.h>

#include "verbs/verbs.h"

/* @attr is pinned; on success its reference passes to the AH. */
static struct ib_ah *ah_create(struct ib_pd *pd, struct rdma_ah_attr *attr,
			       u32 flags, struct net_device *slave,
			       struct ib_udata *udata)
{
	gfp_t gfp = flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct rdma_ah_init_attr init = {
		.ah_attr = attr,
		.flags = flags,
		.xmit_slave = slave,
	};
	struct ib_device *dev = pd->device;
	struct ib_ah *ah;
	int ret;

	if (udata ? !dev->ops.create_user_ah : !dev->ops.create_ah)
		return ERR_PTR(-EOPNOTSUPP);

	ah = rdma_zalloc_drv_obj_gfp(dev, ib_ah, gfp);
	if (!ah)
		return ERR_PTR(-ENOMEM);

	ah->device = dev;
	ah->pd = pd;
	ah->type = attr->type;
	ah->sgid_attr = attr->grh.sgid_attr;

	if (udata)
		ret = dev->ops.create_user_ah(ah, &init, udata);
	else
		ret = dev->ops.create_ah(ah, &init, NULL);
	if (ret) {
		kfree(ah);
		return ERR_PTR(ret);
	}
	atomic_inc(&pd->usecnt);
	return ah;
}

/**
 * rdma_create_ah() - create an address handle for the kernel
 * @pd: protection domain
 * @ah_attr: address; for RoCE with its destination MAC.  Not changed
 * @flags: enum rdma_create_ah_flags
 *
 * IBA vol. 1, 11.2.2.1.
 *
 * Context: process if @flags has RDMA_CREATE_AH_SLEEPABLE, else any but
 * hardirq.
 * Return: the AH, or ERR_PTR: -EINVAL, -EOPNOTSUPP, -ENOMEM or the provider's
 * error.
 */
struct ib_ah *rdma_create_ah(struct ib_pd *pd, struct rdma_ah_attr *ah_attr,
			     u32 flags)
{
	gfp_t gfp = flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
	struct rdma_ah_attr attr = *ah_attr;
	struct net_device *slave;
	struct ib_ah *ah;
	int ret;

	might_sleep_if(flags & RDMA_CREATE_AH_SLEEPABLE);
	ret = ibcore_ah_attr_pin(pd->device, &attr);
	if (ret)
		return ERR_PTR(ret);

	slave = rdma_lag_get_ah_roce_slave(pd->device, &attr, gfp);
	if (IS_ERR(slave)) {
		ibcore_ah_attr_unpin(&attr);
		return ERR_CAST(slave);
	}

	ah = ah_create(pd, &attr, flags, slave, NULL);
	rdma_lag_put_ah_roce_slave(slave);
	if (IS_ERR(ah))
		ibcore_ah_attr_unpin(&attr);
	return ah;
}
EXPORT_SYMBOL(rdma_create_ah);

/**
 * rdma_create_user_ah() - create an address handle for a process
 * @pd: protection domain
 * @ah_attr: address; not changed.  A RoCE destination MAC is resolved
 * @udata: the process's data
 *
 * IBA vol. 1, 11.2.2.1.
 *
 * Context: process; for RoCE sleeps until the neighbour is resolved.
 * Return: the AH, or ERR_PTR: -EINVAL, -EOPNOTSUPP, -ENOMEM, an error of
 * address resolution or the provider's.
 */
struct ib_ah *rdma_create_user_ah(struct ib_pd *pd,
				  struct rdma_ah_attr *ah_attr,
				  struct ib_udata *udata)
{
	struct rdma_ah_attr attr = *ah_attr;
	struct ib_ah *ah;
	int ret;

	ret = ibcore_ah_attr_pin(pd->device, &attr);
	if (ret)
		return ERR_PTR(ret);

	if (attr.type == RDMA_AH_ATTR_TYPE_ROCE) {
		ret = ibcore_ah_resolve_dmac(pd->device, &attr);
		if (ret) {
			ibcore_ah_attr_unpin(&attr);
			return ERR_PTR(ret);
		}
	}

	ah = ah_create(pd, &attr, RDMA_CREATE_AH_SLEEPABLE, NULL, udata);
	if (IS_ERR(ah))
		ibcore_ah_attr_unpin(&attr);
	return ah;
}
EXPORT_SYMBOL(rdma_create_user_ah);

/**
 * ib_create_ah_from_wc() - create an address handle for a reply
 * @pd: protection domain
 * @wc: completion of the receive
 * @grh: first 40 bytes of the receive buffer; looked at only if @wc says so
 * @port_num: port that received it
 *
 * Context: process; for RoCE sleeps until the neighbour is resolved.
 * Return: the AH, or ERR_PTR as of ib_init_ah_attr_from_wc() and
 * rdma_create_ah().
 */
struct ib_ah *ib_create_ah_from_wc(struct ib_pd *pd, const struct ib_wc *wc,
				   const struct ib_grh *grh, u32 port_num)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;
	int ret;

	ret = ib_init_ah_attr_from_wc(pd->device, port_num, wc, grh, &attr);
	if (ret)
		return ERR_PTR(ret);

	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&attr);
	return ah;
}
EXPORT_SYMBOL(ib_create_ah_from_wc);

/**
 * rdma_modify_ah() - give an address handle another address
 * @ah: address handle
 * @ah_attr: address, as for rdma_create_ah().  Not changed
 *
 * IBA vol. 1, 11.2.2.2.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL, -EOPNOTSUPP or the provider's error; unless 0 the AH is
 * as before.
 */
int rdma_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)
{
	struct rdma_ah_attr attr = *ah_attr;
	int ret;

	if (!ah->device->ops.modify_ah)
		return -EOPNOTSUPP;

	ret = ibcore_ah_attr_pin(ah->device, &attr);
	if (ret)
		return ret;

	ret = ah->device->ops.modify_ah(ah, &attr);
	if (!ret) {
		ah->type = attr.type;
		swap(ah->sgid_attr, attr.grh.sgid_attr);
	}
	/* Of the two references, the one that the AH does not hold. */
	ibcore_ah_attr_unpin(&attr);
	return ret;
}
EXPORT_SYMBOL(rdma_modify_ah);

/**
 * rdma_query_ah() - ask for the address of an address handle
 * @ah: address handle
 * @ah_attr: set to its address; holds no reference
 *
 * IBA vol. 1, 11.2.2.3.
 *
 * Context: any, as responses are matched by it; providers do not sleep in query_ah.
 * Return: 0, -EOPNOTSUPP or the provider's error.
 */
int rdma_query_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)
{
	ah_attr->grh.sgid_attr = NULL;
	if (!ah->device->ops.query_ah)
		return -EOPNOTSUPP;
	return ah->device->ops.query_ah(ah, ah_attr);
}
EXPORT_SYMBOL(rdma_query_ah);

/**
 * rdma_destroy_ah_user() - destroy an address handle
 * @ah: address handle that no posted work request uses
 * @flags: enum rdma_destroy_ah_flags
 * @udata: the process's data, NULL for the kernel's AHs
 *
 * IBA vol. 1, 11.2.2.4.
 *
 * Context: process if @flags has RDMA_DESTROY_AH_SLEEPABLE, else any but
 * hardirq.
 * Return: 0, or the provider's error, when the AH still exists.
 */
int rdma_destroy_ah_user(struct ib_ah *ah, u32 flags, struct ib_udata *udata)
{
	int ret;

	might_sleep_if(flags & RDMA_DESTROY_AH_SLEEPABLE);
	ret = ah->device->ops.destroy_ah(ah, flags);
	if (ret)
		return ret;

	atomic_dec(&ah->pd->usecnt);
	ibcore_sgid_unpin(ah->sgid_attr);
	kfree(ah);
	return 0;
}
EXPORT_SYMBOL(rdma_destroy_ah_user);
