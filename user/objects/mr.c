// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions of processes (IBA vol. 1, 10.6): of process memory, of a dma-buf, or
 * of memory on the device.
 *
 * The PD of a region can change: mr->pd may be read by methods that have the region
 * locked, and by resource reports that hold its restrack entry.
 */
#include <ibex/restrack.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"

/* A range to register; start is a user address, or an offset in the dma-buf. */
struct mr_range {
	u64 start;
	u64 length;
	u64 iova;
	u32 access;
};

/* Address and IOVA must have the same offset in a page. */
static int mr_check_iova(u64 start, u64 iova)
{
	return offset_in_page(start) == offset_in_page(iova) ? 0 : -EINVAL;
}

/* Sets up @mr, new from the driver, and starts to count and track it. */
static void mr_init(struct ib_uobject *uobj, struct ib_mr *mr, struct ib_pd *pd,
		    enum ib_mr_type type, u64 iova, u64 length)
{
	mr->device = pd->device;
	mr->pd = pd;
	mr->type = type;
	mr->dm = NULL;
	mr->sig_attrs = NULL;
	mr->need_inval = false;
	mr->uobject = uobj;
	mr->iova = iova;
	mr->length = length;
	atomic_inc(&pd->usecnt);
	uobj->object = mr;
	rdma_restrack_new(&mr->res, RDMA_RESTRACK_MR);
	rdma_restrack_set_name(&mr->res, NULL);
	rdma_restrack_add(&mr->res);
}

/* ib_dereg_mr_user() also drops the use counts that the region holds. */
static int mr_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return ib_dereg_mr_user(uobj->object, &attrs->driver_udata);
}

/* ---- memory of the process ---- */

static int mr_reg(struct ib_uobject *uobj, struct ib_pd *pd,
		  const struct mr_range *range, struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *mr;
	int ret;

	ret = ib_check_mr_access(pd->device, range->access);
	if (ret)
		return ret;
	mr = pd->device->ops.reg_user_mr(pd, range->start, range->length, range->iova,
					 range->access, &attrs->driver_udata);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr_init(uobj, mr, pd, IB_MR_TYPE_USER, range->iova, range->length);
	return 0;
}

static int mr_reg_in(struct ib_pd *pd, const struct mr_range *range,
		     struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	struct ib_mr *mr;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_MR, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = mr_reg(uobj, pd, range, attrs);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	mr = uobj->object;
	resp.mr_handle = uobj->id;
	resp.lkey = mr->lkey;
	resp.rkey = mr->rkey;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int mr_reg_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_reg_mr cmd;
	struct mr_range range;
	struct ib_pd *pd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	ret = mr_check_iova(cmd.start, cmd.hca_va);
	if (ret)
		return ret;
	range.start = cmd.start;
	range.length = cmd.length;
	range.iova = cmd.hca_va;
	range.access = cmd.access_flags;
	pd = uobj_get_obj_read(pd, UVERBS_OBJECT_PD, cmd.pd_handle, attrs);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ret = mr_reg_in(pd, &range, attrs);
	uobj_put_obj_read(pd);
	return ret;
}

static int mr_dereg_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_dereg_mr cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	return ret ?: uobj_perform_destroy(UVERBS_OBJECT_MR, cmd.mr_handle, attrs);
}

/* ---- reregistration ---- */

/*
 * The driver changed @mr in place, perhaps including its pd member.  The old PD may be
 * destroyed once no report is running that may have read it from @mr.
 */
static void mr_changed(struct ib_mr *mr, struct ib_pd *old_pd, struct ib_pd *pd)
{
	if (pd == old_pd)
		return;
	atomic_inc(&pd->usecnt);
	WRITE_ONCE(mr->pd, pd);
	rdma_restrack_sync(&mr->res);
	atomic_dec(&old_pd->usecnt);
}

/*
 * The driver made @mr to replace the region of @uobj.  The old region is destroyed with
 * @spare, a user object that is not committed; if the driver refuses, the file's
 * teardown destroys it.
 */
static void mr_replaced(struct ib_uobject *uobj, struct ib_uobject *spare,
			struct ib_mr *mr, struct ib_pd *pd,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *old = uobj->object;

	mr_init(uobj, mr, pd, IB_MR_TYPE_USER, old->iova, old->length);
	old->uobject = spare;
	spare->object = old;
	rdma_alloc_abort_uobject(spare, attrs, true);
}

/* Consumes @spare, whether it succeeds or not. */
static int mr_rereg(struct ib_uobject *uobj, struct ib_uobject *spare,
		    struct ib_pd *pd, const struct ib_uverbs_rereg_mr *cmd,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *mr = uobj->object, *other;
	struct ib_pd *old_pd = mr->pd;

	other = mr->device->ops.rereg_user_mr(mr, cmd->flags, cmd->start, cmd->length,
					      cmd->hca_va, cmd->access_flags, pd,
					      &attrs->driver_udata);
	if (IS_ERR_OR_NULL(other))
		uobj_alloc_abort(spare, attrs);
	if (IS_ERR(other))
		return PTR_ERR(other);
	if (other)
		mr_replaced(uobj, spare, other, pd, attrs);
	else
		mr_changed(mr, old_pd, pd);
	mr = uobj->object;
	if (cmd->flags & IB_MR_REREG_TRANS) {
		mr->iova = cmd->hca_va;
		mr->length = cmd->length;
	}
	return 0;
}

/* Called with the region of @uobj locked for writing. */
static int mr_rereg_locked(struct ib_uobject *uobj,
			   const struct ib_uverbs_rereg_mr *cmd,
			   struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *mr = uobj->object;
	struct ib_pd *pd = mr->pd;
	struct ib_uobject *spare;
	struct ib_device *ibdev;
	int ret = 0;

	/* A region on device memory cannot change to process memory. */
	if (mr->dm)
		return -EINVAL;
	if (cmd->flags & IB_MR_REREG_ACCESS)
		ret = ib_check_mr_access(mr->device, cmd->access_flags);
	if (ret)
		return ret;
	if (cmd->flags & IB_MR_REREG_PD) {
		pd = uobj_get_obj_read(pd, UVERBS_OBJECT_PD, cmd->pd_handle, attrs);
		if (IS_ERR(pd))
			return PTR_ERR(pd);
	}
	spare = uobj_alloc(UVERBS_OBJECT_MR, attrs, &ibdev);
	if (IS_ERR(spare))
		ret = PTR_ERR(spare);
	else
		ret = mr_rereg(uobj, spare, pd, cmd, attrs);
	if (cmd->flags & IB_MR_REREG_PD)
		uobj_put_obj_read(pd);
	return ret;
}

static int mr_rereg_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct ib_uverbs_rereg_mr cmd;
	struct ib_uobject *uobj;
	struct ib_mr *mr;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if (!cmd.flags)
		return -EINVAL;
	if (cmd.flags & ~IB_MR_REREG_SUPPORTED)
		return -EOPNOTSUPP;
	if (cmd.flags & IB_MR_REREG_TRANS)
		ret = mr_check_iova(cmd.start, cmd.hca_va);
	if (ret)
		return ret;
	uobj = uobj_get_write(UVERBS_OBJECT_MR, cmd.mr_handle, attrs);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = mr_rereg_locked(uobj, &cmd, attrs);
	if (!ret) {
		mr = uobj->object;
		resp.lkey = mr->lkey;
		resp.rkey = mr->rkey;
		ret = uverbs_response(attrs, &resp, sizeof(resp));
	}
	uobj_put_write(uobj);
	return ret;
}

/* ---- memory of a dma-buf, and on the device ---- */

#define MR_DMABUF_ACCESS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |	\
			  IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC |	\
			  IB_ACCESS_RELAXED_ORDERING)

/* Copies the keys of region @mr to the user. */
static int mr_copy_keys(struct uverbs_attr_bundle *attrs, const struct ib_mr *mr,
			u16 lkey_attr, u16 rkey_attr)
{
	int ret = uverbs_copy_to(attrs, lkey_attr, &mr->lkey, sizeof(mr->lkey));

	return ret ?: uverbs_copy_to(attrs, rkey_attr, &mr->rkey, sizeof(mr->rkey));
}

static int mr_reg_dmabuf(struct ib_uobject *uobj, struct ib_pd *pd, int fd,
			 const struct mr_range *range, struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *mr;
	int ret;

	if (!pd->device->ops.reg_user_mr_dmabuf)
		return -EOPNOTSUPP;
	ret = mr_check_iova(range->start, range->iova);
	if (!ret)
		ret = ib_check_mr_access(pd->device, range->access);
	if (ret)
		return ret;
	mr = pd->device->ops.reg_user_mr_dmabuf(pd, range->start, range->length,
						range->iova, fd, range->access,
						ibex_driver_data(attrs));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr_init(uobj, mr, pd, IB_MR_TYPE_USER, range->iova, range->length);
	return 0;
}

static int
UVERBS_HANDLER(UVERBS_METHOD_REG_DMABUF_MR)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, UVERBS_ATTR_REG_DMABUF_MR_HANDLE);
	struct ib_pd *pd = uverbs_attr_get_obj(attrs,
					       UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
	struct mr_range range;
	u32 fd;
	int ret;

	ret = uverbs_copy_from(&range.start, attrs, UVERBS_ATTR_REG_DMABUF_MR_OFFSET) ?:
	      uverbs_copy_from(&range.length, attrs,
			       UVERBS_ATTR_REG_DMABUF_MR_LENGTH) ?:
	      uverbs_copy_from(&range.iova, attrs, UVERBS_ATTR_REG_DMABUF_MR_IOVA) ?:
	      uverbs_copy_from(&fd, attrs, UVERBS_ATTR_REG_DMABUF_MR_FD) ?:
	      uverbs_get_flags32(&range.access, attrs,
				 UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
				 MR_DMABUF_ACCESS);
	if (ret)
		return ret;
	if (fd > INT_MAX)
		return -EBADF;
	ret = mr_reg_dmabuf(uobj, pd, fd, &range, attrs);
	if (ret)
		return ret;
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_REG_DMABUF_MR_HANDLE);
	return mr_copy_keys(attrs, uobj->object, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
			    UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY);
}

/* A region of device memory begins at 0: the process may have no address for it. */
static int mr_reg_dm(struct ib_uobject *uobj, struct ib_pd *pd, struct ib_dm *dm,
		     struct ib_dm_mr_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *mr;
	int ret;

	if (!pd->device->ops.reg_dm_mr)
		return -EOPNOTSUPP;
	if (!(attr->access_flags & IB_ZERO_BASED))
		return -EINVAL;
	ret = ib_check_mr_access(pd->device, attr->access_flags);
	if (ret)
		return ret;
	if (attr->offset > dm->length || attr->length > dm->length - attr->offset)
		return -EINVAL;
	mr = pd->device->ops.reg_dm_mr(pd, dm, attr, attrs);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr_init(uobj, mr, pd, IB_MR_TYPE_DM, 0, attr->length);
	mr->dm = dm;
	atomic_inc(&dm->usecnt);
	return 0;
}

static int UVERBS_HANDLER(UVERBS_METHOD_DM_MR_REG)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs,
							  UVERBS_ATTR_REG_DM_MR_HANDLE);
	struct ib_pd *pd = uverbs_attr_get_obj(attrs, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	struct ib_dm *dm = uverbs_attr_get_obj(attrs, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	struct ib_dm_mr_attr attr = {};
	int ret;

	ret = uverbs_copy_from(&attr.offset, attrs, UVERBS_ATTR_REG_DM_MR_OFFSET) ?:
	      uverbs_copy_from(&attr.length, attrs, UVERBS_ATTR_REG_DM_MR_LENGTH) ?:
	      uverbs_get_flags32(&attr.access_flags, attrs,
				 UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS,
				 IB_ACCESS_SUPPORTED);
	if (ret)
		return ret;
	ret = mr_reg_dm(uobj, pd, dm, &attr, attrs);
	if (ret)
		return ret;
	uverbs_finalize_uobj_create(attrs, UVERBS_ATTR_REG_DM_MR_HANDLE);
	return mr_copy_keys(attrs, uobj->object, UVERBS_ATTR_REG_DM_MR_RESP_LKEY,
			    UVERBS_ATTR_REG_DM_MR_RESP_RKEY);
}

/* ---- methods of existing regions ---- */

/* The driver gets the user's list as it is. */
static_assert(sizeof(struct ib_sge) == sizeof(struct ib_uverbs_sge));
static_assert(offsetof(struct ib_sge, length) == offsetof(struct ib_uverbs_sge, length));
static_assert(offsetof(struct ib_sge, lkey) == offsetof(struct ib_uverbs_sge, lkey));

static int UVERBS_HANDLER(UVERBS_METHOD_ADVISE_MR)(struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *pd = uverbs_attr_get_obj(attrs, UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
	enum ib_uverbs_advise_mr_advice advice;
	struct ib_sge *sg_list;
	int num_sge, ret;
	u32 flags;

	if (!pd->device->ops.advise_mr)
		return -EOPNOTSUPP;
	ret = uverbs_get_const(&advice, attrs, UVERBS_ATTR_ADVISE_MR_ADVICE) ?:
	      uverbs_get_flags32(&flags, attrs, UVERBS_ATTR_ADVISE_MR_FLAGS,
				 IB_UVERBS_ADVISE_MR_FLAG_FLUSH);
	if (ret)
		return ret;
	num_sge = uverbs_attr_ptr_get_array_size(attrs, UVERBS_ATTR_ADVISE_MR_SGE_LIST,
						 sizeof(*sg_list));
	if (num_sge < 0)
		return num_sge;
	sg_list = uverbs_attr_get_alloced_ptr(attrs, UVERBS_ATTR_ADVISE_MR_SGE_LIST);
	return pd->device->ops.advise_mr(pd, advice, flags, sg_list, num_sge, attrs);
}

static int UVERBS_HANDLER(UVERBS_METHOD_QUERY_MR)(struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *mr = uverbs_attr_get_obj(attrs, UVERBS_ATTR_QUERY_MR_HANDLE);
	int ret;

	ret = mr_copy_keys(attrs, mr, UVERBS_ATTR_QUERY_MR_RESP_LKEY,
			   UVERBS_ATTR_QUERY_MR_RESP_RKEY) ?:
	      uverbs_copy_to(attrs, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mr->length,
			     sizeof(mr->length)) ?:
	      uverbs_copy_to(attrs, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &mr->iova,
			     sizeof(mr->iova));
	return IS_UVERBS_COPY_ERR(ret) ? ret : 0;
}

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_ADVISE_MR,
	UVERBS_USES(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, PD, UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(UVERBS_ATTR_ADVISE_MR_ADVICE,
			     enum ib_uverbs_advise_mr_advice, UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_ADVISE_MR_FLAGS,
			     enum ib_uverbs_advise_mr_flag, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UVERBS_ATTR_ADVISE_MR_SGE_LIST,
			   UVERBS_ATTR_MIN_SIZE(sizeof(struct ib_uverbs_sge)),
			   UA_MANDATORY, UA_ALLOC_AND_COPY));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_QUERY_MR,
	UVERBS_USES(UVERBS_ATTR_QUERY_MR_HANDLE, MR, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, u64, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_QUERY_MR_RESP_IOVA, UVERBS_ATTR_TYPE(u64),
			    UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_DM_MR_REG,
	UVERBS_MAKES(UVERBS_ATTR_REG_DM_MR_HANDLE, MR),
	UVERBS_IN(UVERBS_ATTR_REG_DM_MR_OFFSET, u64, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_REG_DM_MR_LENGTH, u64, UA_MANDATORY),
	UVERBS_USES(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, PD, UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS,
			     enum ib_access_flags),
	UVERBS_USES(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, DM, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, u32, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UVERBS_METHOD_REG_DMABUF_MR,
	UVERBS_MAKES(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, MR),
	UVERBS_USES(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, PD, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, u64, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, u64, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_REG_DMABUF_MR_IOVA, u64, UA_MANDATORY),
	UVERBS_IN(UVERBS_ATTR_REG_DMABUF_MR_FD, u32, UA_MANDATORY),
	UVERBS_ATTR_FLAGS_IN(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
			     enum ib_access_flags),
	UVERBS_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, u32, UA_MANDATORY),
	UVERBS_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, u32, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_MR_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_MR_HANDLE, MR));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_MR, UVERBS_TYPE_ALLOC_IDR(mr_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_ADVISE_MR),
			    &UVERBS_METHOD(UVERBS_METHOD_QUERY_MR),
			    &UVERBS_METHOD(UVERBS_METHOD_DM_MR_REG),
			    &UVERBS_METHOD(UVERBS_METHOD_REG_DMABUF_MR),
			    &UVERBS_METHOD(UVERBS_METHOD_MR_DESTROY));

const struct uapi_definition uverbs_mr_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_MR,
				      UAPI_DEF_OBJ_NEEDS_FN(dereg_mr)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_MR,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_REG_MR, mr_reg_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_reg_mr,
							   ib_uverbs_reg_mr_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(reg_user_mr)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_REREG_MR, mr_rereg_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_rereg_mr,
							   ib_uverbs_rereg_mr_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(rereg_user_mr)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DEREG_MR, mr_dereg_write,
				     UVERBS_REQ(ib_uverbs_dereg_mr))),
	{}
};
