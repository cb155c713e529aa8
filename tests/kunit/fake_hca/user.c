// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The verbs that the fake adapter has for processes only. */
#include <rdma/ib_umem.h>
#include <rdma/uverbs_ioctl.h>
#include "fake_hca.h"

struct fake_ucontext {
	struct ib_ucontext ibucontext;
};

struct fake_mw {
	struct ib_mw ibmw;
};

struct fake_xrcd {
	struct ib_xrcd ibxrcd;
};

struct fake_counters {
	struct ib_counters ibcounters;
};

static int fake_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return refuse(context->device, FAKE_UCONTEXT) ? -ENOMEM : 0;
}

static void fake_dealloc_ucontext(struct ib_ucontext *context)
{
	retire(context->device, FAKE_UCONTEXT);
}

static int fake_query_ucontext(struct ib_ucontext *context,
			       struct uverbs_attr_bundle *attrs)
{
	return to_fake_hca(context->device)->reg.error;
}

static int fake_mmap(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	return -EINVAL;
}

/* ---- memory regions and windows ---- */

static struct ib_mr *fake_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 iova,
				  int access, int fd)
{
	struct fake_hca_reg *reg = &to_fake_hca(pd->device)->reg;
	struct ib_mr *mr;

	if (reg->error)
		return ERR_PTR(reg->error);
	mr = fake_hca_new_mr(pd, 0);
	if (IS_ERR(mr))
		return mr;
	mr->device = pd->device;
	mr->lkey = (u32)(start >> PAGE_SHIFT) + 0x1000;
	mr->rkey = mr->lkey + 1;
	reg->start = start;
	reg->length = length;
	reg->iova = iova;
	reg->access = access;
	reg->fd = fd;
	return mr;
}

static struct ib_mr *fake_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				      u64 iova, int access, struct ib_udata *udata)
{
	return fake_user_mr(pd, start, length, iova, access, -1);
}

static struct ib_mr *fake_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset,
					     u64 length, u64 iova, int fd, int access,
					     struct uverbs_attr_bundle *attrs)
{
	return fake_user_mr(pd, offset, length, iova, access, fd);
}

static struct ib_mr *fake_reg_dm_mr(struct ib_pd *pd, struct ib_dm *dm,
				    struct ib_dm_mr_attr *attr,
				    struct uverbs_attr_bundle *attrs)
{
	return fake_user_mr(pd, attr->offset, attr->length, 0, attr->access_flags, -1);
}

static struct ib_mr *fake_rereg_user_mr(struct ib_mr *mr, int flags, u64 start,
					u64 length, u64 iova, int access,
					struct ib_pd *pd, struct ib_udata *udata)
{
	struct fake_hca_reg *reg = &to_fake_hca(mr->device)->reg;

	reg->flags = flags;
	if (reg->rereg_new)
		return fake_user_mr(pd, start, length, iova, access, -1);
	if (reg->error)
		return ERR_PTR(reg->error);
	reg->start = start;
	reg->length = length;
	reg->iova = iova;
	reg->access = access;
	if (flags & IB_MR_REREG_PD)
		mr->pd = pd;	/* as rxe does */
	return NULL;
}

static int fake_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
			  u32 flags, struct ib_sge *sg_list, u32 num_sge,
			  struct uverbs_attr_bundle *attrs)
{
	struct fake_hca_reg *reg = &to_fake_hca(pd->device)->reg;

	if (reg->error)
		return reg->error;
	reg->advice = advice;
	reg->flags = flags;
	reg->num_sge = num_sge;
	reg->start = sg_list[num_sge - 1].addr;
	reg->length = sg_list[num_sge - 1].length;
	return 0;
}

static int fake_alloc_mw(struct ib_mw *mw, struct ib_udata *udata)
{
	if (refuse(mw->device, FAKE_MW))
		return -ENOMEM;
	mw->rkey = 0x2000 + mw->type;
	return 0;
}

static int fake_dealloc_mw(struct ib_mw *mw)
{
	return retire(mw->device, FAKE_MW);
}

/* ---- the rest ---- */

static int fake_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return refuse(xrcd->device, FAKE_XRCD) ? -ENOMEM : 0;
}

static int fake_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return retire(xrcd->device, FAKE_XRCD);
}

static struct ib_dm *fake_alloc_dm(struct ib_device *ibdev,
				   struct ib_ucontext *context,
				   struct ib_dm_alloc_attr *attr,
				   struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *dm;

	if (refuse(ibdev, FAKE_DM))
		return ERR_PTR(-ENOMEM);
	dm = kzalloc(sizeof(*dm), GFP_KERNEL);
	if (!dm) {
		retire(ibdev, FAKE_DM);
		return ERR_PTR(-ENOMEM);
	}
	to_fake_hca(ibdev)->reg.length = attr->length;
	to_fake_hca(ibdev)->reg.alignment = attr->alignment;
	return dm;
}

static int fake_dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	int ret = retire(dm->device, FAKE_DM);

	if (!ret)
		kfree(dm);
	return ret;
}

static int fake_create_counters(struct ib_counters *counters,
				struct uverbs_attr_bundle *attrs)
{
	return refuse(counters->device, FAKE_COUNTERS) ? -ENOMEM : 0;
}

static int fake_destroy_counters(struct ib_counters *counters)
{
	return retire(counters->device, FAKE_COUNTERS);
}

/* The n-th value is 100 + n. */
static int fake_read_counters(struct ib_counters *counters,
			      struct ib_counters_read_attr *attr,
			      struct uverbs_attr_bundle *attrs)
{
	struct fake_hca_reg *reg = &to_fake_hca(counters->device)->reg;
	u32 i;

	if (reg->error)
		return reg->error;
	reg->flags = attr->flags;
	for (i = 0; i < attr->ncounters; i++)
		attr->counters_buff[i] = 100 + i;
	return 0;
}

const struct ib_device_ops fake_hca_user_ops = {
	.alloc_ucontext		= fake_alloc_ucontext,
	.dealloc_ucontext	= fake_dealloc_ucontext,
	.query_ucontext		= fake_query_ucontext,
	.mmap			= fake_mmap,
	.create_user_ah		= fake_hca_create_ah,
	.reg_user_mr		= fake_reg_user_mr,
	.reg_user_mr_dmabuf	= fake_reg_user_mr_dmabuf,
	.reg_dm_mr		= fake_reg_dm_mr,
	.rereg_user_mr		= fake_rereg_user_mr,
	.advise_mr		= fake_advise_mr,
	.alloc_mw		= fake_alloc_mw,
	.dealloc_mw		= fake_dealloc_mw,
	.resize_cq		= fake_hca_resize_cq,
	.modify_cq		= fake_hca_modify_cq,
	.alloc_xrcd		= fake_alloc_xrcd,
	.dealloc_xrcd		= fake_dealloc_xrcd,
	.alloc_dm		= fake_alloc_dm,
	.dealloc_dm		= fake_dealloc_dm,
	.create_counters	= fake_create_counters,
	.destroy_counters	= fake_destroy_counters,
	.read_counters		= fake_read_counters,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, fake_ucontext, ibucontext),
	INIT_RDMA_OBJ_SIZE(ib_mw, fake_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, fake_xrcd, ibxrcd),
	INIT_RDMA_OBJ_SIZE(ib_counters, fake_counters, ibcounters),
};
