// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Indirection tables of processes: the work queues among which a QP spreads what it
 * receives (ibv_create_rwq_ind_table(3)).  Each entry counts as a use of its WQ.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "queues/queues.h"

/* The WQs of a new table, locked for reading by the command that makes it. */
struct ind_tbl_wqs {
	struct ib_wq **wqs;		/* the table takes it over on success */
	u32 num;			/* found so far */
};

static void ind_tbl_put_wqs(struct ind_tbl_wqs *wqs)
{
	while (wqs->num)
		uobj_put_read(&wqs->wqs[--wqs->num]->uobject->event.uobject);
}

static int ind_tbl_find_wqs(struct ind_tbl_wqs *wqs,
			    struct uverbs_attr_bundle *attrs,
			    const u32 __user *handles, u32 num)
{
	const struct uverbs_api_object *type = uobj_get_type(attrs, UVERBS_OBJECT_WQ);
	struct ib_uobject *uobj;
	u32 handle;

	for (wqs->num = 0; wqs->num < num; wqs->num++) {
		if (get_user(handle, handles + wqs->num))
			return -EFAULT;
		uobj = rdma_lookup_get_uobject(type, attrs->ufile, handle,
					       UVERBS_LOOKUP_READ, attrs);
		if (IS_ERR(uobj))
			return PTR_ERR(uobj);
		wqs->wqs[wqs->num] = uobj->object;
	}
	return 0;
}

static void ind_tbl_use(const struct ib_rwq_ind_table *tbl, int uses)
{
	u32 i;

	for (i = 0; i < BIT(tbl->log_ind_tbl_size); i++)
		atomic_add(uses, &tbl->ind_tbl[i]->usecnt);
}

/* The table takes over the array of @wqs on success. */
static int ind_tbl_make(struct ib_uobject *uobj, struct ib_device *ibdev,
			struct ib_wq **wqs, u32 log_size,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_rwq_ind_table_init_attr init = {
		.log_ind_tbl_size = log_size,
		.ind_tbl = wqs,
	};
	struct ib_rwq_ind_table *tbl;
	int ret;

	tbl = rdma_zalloc_drv_obj(ibdev, ib_rwq_ind_table);
	if (!tbl)
		return -ENOMEM;
	tbl->device = ibdev;
	tbl->uobject = uobj;
	tbl->log_ind_tbl_size = log_size;
	tbl->ind_tbl = wqs;
	atomic_set(&tbl->usecnt, 0);
	ret = ibdev->ops.create_rwq_ind_table(tbl, &init, &attrs->driver_udata);
	if (ret) {
		kfree(tbl);
		return ret;
	}
	ind_tbl_use(tbl, 1);
	uobj->object = tbl;
	return 0;
}

/* Returns -EBUSY while QPs use the table. */
static int ind_tbl_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			   struct uverbs_attr_bundle *attrs)
{
	struct ib_rwq_ind_table *tbl = uobj->object;
	int ret;

	if (atomic_read(&tbl->usecnt))
		return -EBUSY;
	ret = tbl->device->ops.destroy_rwq_ind_table(tbl);
	if (ret)
		return ret;
	ind_tbl_use(tbl, -1);
	kvfree(tbl->ind_tbl);
	kfree(tbl);
	return 0;
}

static int ind_tbl_make_object(struct uverbs_attr_bundle *attrs,
			       struct ib_wq **wqs, u32 log_size,
			       struct ib_uobject **made)
{
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_RWQ_IND_TBL, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = ind_tbl_make(uobj, ibdev, wqs, log_size, attrs);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	*made = uobj;
	return 0;
}

static int ind_tbl_create(struct uverbs_attr_bundle *attrs,
			  const u32 __user *handles, u32 log_size,
			  struct ib_uobject **made)
{
	struct ind_tbl_wqs wqs = {};
	int ret;

	wqs.wqs = kvcalloc(BIT(log_size), sizeof(*wqs.wqs), GFP_KERNEL_ACCOUNT);
	if (!wqs.wqs)
		return -ENOMEM;
	ret = ind_tbl_find_wqs(&wqs, attrs, handles, BIT(log_size));
	if (!ret)
		ret = ind_tbl_make_object(attrs, wqs.wqs, log_size, made);
	ind_tbl_put_wqs(&wqs);
	if (ret)
		kvfree(wqs.wqs);
	return ret;
}

/* Handles come in words of 8 bytes: after a single handle, the other half is ignored. */
static int ind_tbl_take_command(const struct uverbs_attr_bundle *attrs,
				struct ib_uverbs_ex_create_rwq_ind_table *cmd,
				const u32 __user **handles)
{
	struct uverbs_tail tail;
	const void __user *at;
	int ret;

	ret = uverbs_request_begin(attrs, &tail, cmd, sizeof(*cmd));
	if (ret)
		return ret;
	if (cmd->comp_mask)
		return -EOPNOTSUPP;
	if (cmd->log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)
		return -EINVAL;
	at = uverbs_request_next_ptr(&tail, sizeof(u32) << cmd->log_ind_tbl_size);
	if (IS_ERR(at))
		return PTR_ERR(at);
	*handles = at;
	if (!cmd->log_ind_tbl_size && tail.end - tail.at >= sizeof(u32))
		uverbs_request_next_ptr(&tail, sizeof(u32));
	return uverbs_request_end(&tail);
}

static int ind_tbl_create_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {
		.response_length = uverbs_response_length(attrs, sizeof(resp)),
	};
	struct ib_uverbs_ex_create_rwq_ind_table cmd;
	const struct ib_rwq_ind_table *tbl;
	const u32 __user *handles;
	struct ib_uobject *uobj;
	int ret;

	ret = ind_tbl_take_command(attrs, &cmd, &handles);
	if (!ret)
		ret = ind_tbl_create(attrs, handles, cmd.log_ind_tbl_size, &uobj);
	if (ret)
		return ret;
	tbl = uobj->object;
	resp.ind_tbl_handle = uobj->id;
	resp.ind_tbl_num = tbl->ind_tbl_num;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int ind_tbl_destroy_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_ex_destroy_rwq_ind_table cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (!ret && cmd.comp_mask)
		ret = -EOPNOTSUPP;
	return ret ?: uobj_perform_destroy(UVERBS_OBJECT_RWQ_IND_TBL,
					   cmd.ind_tbl_handle, attrs);
}

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, RWQ_IND_TBL));

DECLARE_UVERBS_NAMED_OBJECT(
	UVERBS_OBJECT_RWQ_IND_TBL,
	UVERBS_TYPE_ALLOC_IDR(ind_tbl_destroy),
	&UVERBS_METHOD(UVERBS_METHOD_RWQ_IND_TBL_DESTROY));

const struct uapi_definition uverbs_rwq_ind_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_RWQ_IND_TBL,
				      UAPI_DEF_OBJ_NEEDS_FN(create_rwq_ind_table),
				      UAPI_DEF_OBJ_NEEDS_FN(destroy_rwq_ind_table)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_RWQ_IND_TBL,
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
					ind_tbl_create_write,
					UVERBS_EX_REQ_RESP(ib_uverbs_ex_create_rwq_ind_table,
							   log_ind_tbl_size,
							   ib_uverbs_ex_create_rwq_ind_table_resp,
							   ind_tbl_num)),
		DECLARE_UVERBS_WRITE_EX(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL,
					ind_tbl_destroy_write,
					UVERBS_EX_REQ(ib_uverbs_ex_destroy_rwq_ind_table,
						      ind_tbl_handle))),
	{}
};
