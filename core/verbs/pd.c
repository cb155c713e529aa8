// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Protection domains (IBA vol. 1, 10.2.3). */
#include "device/device.h"

static int pd_alloc_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_device *dev = pd->device;
	struct ib_mr *mr;

	if (!dev->ops.get_dma_mr)
		return -EOPNOTSUPP;

	mr = dev->ops.get_dma_mr(pd, access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);

	mr->device = dev;
	mr->pd = pd;
	mr->type = IB_MR_TYPE_DMA;
	mr->uobject = NULL;
	mr->need_inval = false;
	pd->__internal_mr = mr;
	return 0;
}

static int pd_alloc_hw(struct ib_pd *pd, const char *caller)
{
	struct rdma_restrack_entry *res = &pd->res;
	int ret;

	rdma_restrack_new(res, RDMA_RESTRACK_PD);
	rdma_restrack_set_name(res, caller);
	ret = pd->device->ops.alloc_pd(pd, NULL);
	if (ret)
		rdma_restrack_put(res);
	else
		rdma_restrack_add(res);
	return ret;
}

/* Sets the keys of a kernel PD, and allocates a DMA MR if the keys need one. */
static int pd_set_keys(struct ib_pd *pd, const char *caller)
{
	struct ib_device *dev = pd->device;
	bool own_lkey = dev->attrs.kernel_cap_flags & IBK_LOCAL_DMA_LKEY;
	int access = own_lkey ? 0 : IB_ACCESS_LOCAL_WRITE;
	int ret;

	if (pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY) {
		pr_warn("%s: enabling unsafe global rkey\n", caller);
		access |= IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
		/* Remote write requires local write (IBA vol. 1, 11.2.8.2). */
		access |= IB_ACCESS_LOCAL_WRITE;
	}

	if (access) {
		ret = pd_alloc_dma_mr(pd, access);
		if (ret)
			return ret;
	}

	pd->local_dma_lkey = own_lkey ? dev->local_dma_lkey :
					pd->__internal_mr->lkey;
	if (pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY)
		pd->unsafe_global_rkey = pd->__internal_mr->rkey;
	return 0;
}

/**
 * __ib_alloc_pd() - allocate a protection domain for the kernel
 * @device: device
 * @flags: enum ib_pd_flags
 * @caller: name of the module that owns the PD; must outlive the PD
 *
 * The PD's local_dma_lkey gives local access to all memory.  IBA vol. 1,
 * 11.2.1.5.
 *
 * Context: process, may sleep.
 * Return: the PD, or ERR_PTR: -ENOMEM or the provider's error.
 */
struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller)
{
	struct ib_pd *pd = rdma_zalloc_drv_obj(device, ib_pd);
	int ret;

	if (!pd)
		return ERR_PTR(-ENOMEM);

	pd->flags = flags;
	pd->device = device;
	ret = pd_alloc_hw(pd, caller);
	if (ret) {
		kfree(pd);
		return ERR_PTR(ret);
	}

	ret = pd_set_keys(pd, caller);
	if (!ret)
		return pd;
	ib_dealloc_pd(pd);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(__ib_alloc_pd);

/**
 * ib_dealloc_pd_user() - free a protection domain
 * @pd: PD that nothing uses any more
 * @udata: the process's data, NULL for the kernel's PDs
 *
 * IBA vol. 1, 11.2.1.6.
 *
 * Context: process, may sleep.
 * Return: 0, -EBUSY if the PD is in use (a bug of its owner if that is a ULP),
 * or the provider's error; on error the PD still exists.
 */
int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata)
{
	struct ib_device *dev = pd->device;
	int ret;

	if (atomic_read(&pd->usecnt)) {
		WARN(rdma_is_kernel_res(&pd->res), "PD of %s is in use\n",
		     pd->res.kern_name);
		return -EBUSY;
	}

	if (pd->__internal_mr) {
		ret = dev->ops.dereg_mr(pd->__internal_mr, NULL);
		if (ret)
			return ret;
		pd->__internal_mr = NULL;
	}

	rdma_restrack_begin_del(&pd->res);
	ret = dev->ops.dealloc_pd(pd, udata);
	if (ret) {
		rdma_restrack_abort_del(&pd->res);
		return ret;
	}
	rdma_restrack_commit_del(&pd->res);
	kfree(pd);
	return 0;
}
EXPORT_SYMBOL(ib_dealloc_pd_user);
