// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Address handles (IBA vol. 1, 10.2.2.2, 11.2.2).  An AH counts as a use of its
 * PD and holds a reference on its source GID entry for as long as it exists.
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
 * @ah_attr: address, which for RoCE must have its destination MAC; not modified
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
 * @ah_attr: address; not modified.  A RoCE destination MAC is resolved
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
 * ib_create_ah_from_wc() - create an address handle to reply to a datagram
 * @pd: protection domain
 * @wc: completion of the receive
 * @grh: first 40 bytes of the receive buffer; read only if @wc has IB_WC_GRH
 * @port_num: port that received the datagram
 *
 * Context: process; for RoCE sleeps until the neighbour is resolved.
 * Return: the AH, or ERR_PTR with an error of ib_init_ah_attr_from_wc() or
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
 * rdma_modify_ah() - change the address of an address handle
 * @ah: address handle
 * @ah_attr: address of the same type, as for rdma_create_ah(); not modified
 *
 * IBA vol. 1, 11.2.2.2.
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL, -EOPNOTSUPP or the provider's error; on error the AH is
 * unchanged.
 */
int rdma_modify_ah(struct ib_ah *ah, struct rdma_ah_attr *ah_attr)
{
	struct rdma_ah_attr attr = *ah_attr;
	int ret;

	if (ah->type != ah_attr->type)
		return -EINVAL;
	if (!ah->device->ops.modify_ah)
		return -EOPNOTSUPP;

	ret = ibcore_ah_attr_pin(ah->device, &attr);
	if (ret)
		return ret;

	ret = ah->device->ops.modify_ah(ah, &attr);
	if (!ret)
		swap(ah->sgid_attr, attr.grh.sgid_attr);
	/*
	 * Puts the reference that the AH does not hold: the old one, or on
	 * error the new one.
	 */
	ibcore_ah_attr_unpin(&attr);
	return ret;
}
EXPORT_SYMBOL(rdma_modify_ah);

/**
 * rdma_query_ah() - query the address of an address handle
 * @ah: address handle
 * @ah_attr: set to its address; holds no reference
 *
 * IBA vol. 1, 11.2.2.3.
 *
 * Context: any, because the MAD layer calls this to match responses; providers
 * do not sleep in query_ah.
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
 * Return: 0, or the provider's error, in which case the AH still exists.
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

/*
 * Static rates: the encoding of the IBA's PathRecord Rate component
 * (vol. 1, 15.2.5.16) as multiples of 2.5 Gb/s and in Mb/s.
 */

/*
 * From FDR on, lanes use 64b/66b or PAM4 coding, so the signalling rate in Mb/s
 * differs from the nominal one.  The multiple is the nearest one that the 8-bit
 * inter-packet delay fields of the hardware can count.
 */
static const struct {
	short mult;
	int mbps;
} rates[] = {
	[IB_RATE_2_5_GBPS] = {   1,   2500 },
	[IB_RATE_5_GBPS]   = {   2,   5000 },
	[IB_RATE_10_GBPS]  = {   4,  10000 },
	[IB_RATE_14_GBPS]  = {   6,  14062 },
	[IB_RATE_20_GBPS]  = {   8,  20000 },
	[IB_RATE_25_GBPS]  = {  10,  25781 },
	[IB_RATE_28_GBPS]  = {  11,  28125 },
	[IB_RATE_30_GBPS]  = {  12,  30000 },
	[IB_RATE_40_GBPS]  = {  16,  40000 },
	[IB_RATE_50_GBPS]  = {  20,  53125 },
	[IB_RATE_56_GBPS]  = {  22,  56250 },
	[IB_RATE_60_GBPS]  = {  24,  60000 },
	[IB_RATE_80_GBPS]  = {  32,  80000 },
	[IB_RATE_100_GBPS] = {  40, 103125 },
	[IB_RATE_112_GBPS] = {  45, 112500 },
	[IB_RATE_120_GBPS] = {  48, 120000 },
	[IB_RATE_168_GBPS] = {  67, 168750 },
	[IB_RATE_200_GBPS] = {  80, 206250 },
	[IB_RATE_300_GBPS] = { 120, 309375 },
	[IB_RATE_400_GBPS] = { 160, 425000 },
	[IB_RATE_600_GBPS] = { 240, 637500 },
	[IB_RATE_800_GBPS] = { 320, 850000 },
};

static bool rate_known(enum ib_rate rate)
{
	return (unsigned int)rate < ARRAY_SIZE(rates) && rates[rate].mult;
}

/**
 * ib_rate_to_mult() - convert a rate to a multiple of 2.5 Gb/s
 * @rate: encoded rate
 *
 * Context: any.
 * Return: the multiple, or -1 for IB_RATE_PORT_CURRENT and unknown rates.
 */
__attribute_const__ int ib_rate_to_mult(enum ib_rate rate)
{
	return rate_known(rate) ? rates[rate].mult : -1;
}
EXPORT_SYMBOL(ib_rate_to_mult);

/**
 * mult_to_ib_rate() - convert a multiple of 2.5 Gb/s to a rate
 * @mult: the multiple
 *
 * Context: any.
 * Return: the encoded rate, or IB_RATE_PORT_CURRENT if no rate has that
 * multiple.
 */
__attribute_const__ enum ib_rate mult_to_ib_rate(int mult)
{
	unsigned int rate;

	for (rate = 0; rate < ARRAY_SIZE(rates); rate++)
		if (mult && rates[rate].mult == mult)
			return rate;
	return IB_RATE_PORT_CURRENT;
}
EXPORT_SYMBOL(mult_to_ib_rate);

/**
 * ib_rate_to_mbps() - convert a rate to megabits per second
 * @rate: encoded rate
 *
 * Context: any.
 * Return: the signalling rate in Mb/s, or -1 for IB_RATE_PORT_CURRENT and
 * unknown rates.
 */
__attribute_const__ int ib_rate_to_mbps(enum ib_rate rate)
{
	return rate_known(rate) ? rates[rate].mbps : -1;
}
EXPORT_SYMBOL(ib_rate_to_mbps);
