// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups of processes' QPs (IBA vol. 1, 10.5, 11.3; ibv_attach_mcast(3)).
 *
 * A QP keeps a list of its groups, so that attaching it twice has no effect and no
 * group is left when its process exits.
 */
#include <linux/slab.h>
#include <rdma/uverbs_std_types.h>
#include <ibex/qp.h>

#include "call/call.h"
#include "queues/queues.h"

struct uverbs_mcast {
	struct list_head entry;		/* on ib_uqp_object.mcast, under its lock */
	union ib_gid gid;
	u16 lid;
};

/* The requests to attach and to detach have the same layout. */
static_assert(sizeof(struct ib_uverbs_attach_mcast) ==
	      sizeof(struct ib_uverbs_detach_mcast));
static_assert(offsetof(struct ib_uverbs_attach_mcast, mlid) ==
	      offsetof(struct ib_uverbs_detach_mcast, mlid));

static struct uverbs_mcast *mcast_find(const struct ib_uqp_object *obj, const struct ib_qp *qp,
				       const union ib_gid *gid, u16 lid)
{
	bool needs_mlid = ibcore_mcast_needs_mlid(qp);
	struct uverbs_mcast *mcast;

	lockdep_assert_held(&obj->lock);
	list_for_each_entry(mcast, &obj->mcast, entry)
		if ((!needs_mlid || mcast->lid == lid) &&
		    !memcmp(&mcast->gid, gid, sizeof(*gid)))
			return mcast;
	return NULL;
}

/* Attaching a QP to a group that it is attached to already is no error. */
static int mcast_attach(struct ib_uqp_object *obj, struct ib_qp *qp,
			const union ib_gid *gid, u16 lid)
{
	struct uverbs_mcast *mcast;
	int ret;

	if (mcast_find(obj, qp, gid, lid))
		return 0;
	mcast = kzalloc(sizeof(*mcast), GFP_KERNEL_ACCOUNT);
	if (!mcast)
		return -ENOMEM;
	mcast->gid = *gid;
	mcast->lid = lid;
	ret = ib_attach_mcast(qp, &mcast->gid, lid);
	if (ret)
		kfree(mcast);
	else
		list_add_tail(&mcast->entry, &obj->mcast);
	return ret;
}

/* Detaches a QP from a group; on failure it is still attached. */
static int mcast_end(struct uverbs_mcast *mcast, struct ib_qp *qp)
{
	int ret = ib_detach_mcast(qp, &mcast->gid, mcast->lid);

	if (ret)
		return ret;
	list_del(&mcast->entry);
	kfree(mcast);
	return 0;
}

static int mcast_detach(struct ib_uqp_object *obj, struct ib_qp *qp,
			const union ib_gid *gid, u16 lid)
{
	struct uverbs_mcast *mcast = mcast_find(obj, qp, gid, lid);

	return mcast ? mcast_end(mcast, qp) : -EINVAL;
}

/* Detaches the QP before @obj is destroyed; stops at the first error and returns it. */
int uverbs_mcast_detach_all(struct ib_uqp_object *obj, struct ib_qp *qp)
{
	struct uverbs_mcast *mcast, *next;
	int ret = 0;

	mutex_lock(&obj->lock);
	list_for_each_entry_safe(mcast, next, &obj->mcast, entry) {
		ret = mcast_end(mcast, qp);
		if (ret)
			break;
	}
	mutex_unlock(&obj->lock);
	return ret;
}

static int mcast_command(struct uverbs_attr_bundle *attrs,
			 int (*change)(struct ib_uqp_object *obj, struct ib_qp *qp,
				       const union ib_gid *gid, u16 lid))
{
	struct uverbs_reads reads = { .attrs = attrs };
	struct ib_uverbs_attach_mcast cmd;
	struct ib_uqp_object *obj;
	struct ib_uobject *uobj;
	union ib_gid gid;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	uobj = uverbs_reads_get(&reads, UVERBS_OBJECT_QP, cmd.qp_handle);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	memcpy(gid.raw, cmd.gid, sizeof(gid.raw));
	obj = uverbs_qp_object(uobj);
	mutex_lock(&obj->lock);
	ret = change(obj, uobj->object, &gid, cmd.mlid);
	mutex_unlock(&obj->lock);
	uverbs_reads_put(&reads);
	return ret;
}

static int mcast_attach_write(struct uverbs_attr_bundle *attrs)
{
	return mcast_command(attrs, mcast_attach);
}

static int mcast_detach_write(struct uverbs_attr_bundle *attrs)
{
	return mcast_command(attrs, mcast_detach);
}

const struct uapi_definition uverbs_mcast_definitions[] = {
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_QP,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_ATTACH_MCAST,
				     mcast_attach_write,
				     UVERBS_REQ(ib_uverbs_attach_mcast),
				     UAPI_DEF_METHOD_NEEDS_FN(attach_mcast),
				     UAPI_DEF_METHOD_NEEDS_FN(detach_mcast)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_DETACH_MCAST,
				     mcast_detach_write,
				     UVERBS_REQ(ib_uverbs_detach_mcast),
				     UAPI_DEF_METHOD_NEEDS_FN(detach_mcast))),
	{}
};
