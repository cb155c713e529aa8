// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * XRC domains of processes (IBA vol. 1, annex A14): ibv_open_xrcd(3).
 *
 * Processes share a domain through a file: all that open a domain with the same inode
 * get the same domain, each through its own user object.  The domain exists as long as
 * one of these user objects, and holds a reference on the path of its first opener: an
 * inode alone does not keep its filesystem mounted, and the file does not need to stay
 * open.  A domain that is opened without a file is not shared.
 *
 * A user object cannot be destroyed while QPs or SRQs made through it exist.  So
 * nothing is in the domain when its last user object is destroyed.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/path.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#define UVERBS_MODULE_NAME ib_uverbs
#include <rdma/uverbs_named_ioctl.h>

#include "call/call.h"
#include "objects/objects.h"
#include "uverbs/uverbs.h"

struct uverbs_xrcd {
	struct rb_node node;		/* in uverbs_device.xrcds, unless not shared */
	struct inode *inode;		/* that of path; NULL if not shared */
	struct path path;		/* a reference; empty if not shared */
	struct ib_xrcd *xrcd;
	unsigned int opens;		/* protected by xrcds_lock */
};

static struct ib_uxrcd_object *to_uxrcd(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uxrcd_object, uobject);
}

static int xrcd_cmp(const void *inode, const struct rb_node *node)
{
	const struct uverbs_xrcd *x = rb_entry(node, struct uverbs_xrcd, node);

	if (inode == x->inode)
		return 0;
	return inode < (const void *)x->inode ? -1 : 1;
}

static bool xrcd_less(struct rb_node *a, const struct rb_node *b)
{
	return xrcd_cmp(rb_entry(a, struct uverbs_xrcd, node)->inode, b) < 0;
}

/* Makes a domain; @filp is NULL if it is not shared. */
static struct uverbs_xrcd *xrcd_make(struct uverbs_device *udev, struct file *filp,
				     struct uverbs_attr_bundle *attrs)
{
	struct inode *inode = filp ? file_inode(filp) : NULL;
	struct uverbs_xrcd *x = kzalloc(sizeof(*x), GFP_KERNEL_ACCOUNT);

	if (!x)
		return ERR_PTR(-ENOMEM);
	x->xrcd = ib_alloc_xrcd_user(udev->ibdev, inode, &attrs->driver_udata);
	if (IS_ERR(x->xrcd)) {
		long ret = PTR_ERR(x->xrcd);

		kfree(x);
		return ERR_PTR(ret);
	}
	x->opens = 1;
	x->inode = inode;
	if (filp) {
		x->path = filp->f_path;
		path_get(&x->path);
		rb_add(&x->node, &udev->xrcds, xrcd_less);
	}
	return x;
}

/* -EAGAIN: there is no such domain, and no O_CREAT; -EINVAL: it exists, with O_EXCL. */
static struct uverbs_xrcd *xrcd_find(struct uverbs_device *udev, struct file *filp,
				     u32 oflags, struct uverbs_attr_bundle *attrs)
{
	struct rb_node *node = rb_find(file_inode(filp), &udev->xrcds, xrcd_cmp);
	struct uverbs_xrcd *x;

	lockdep_assert_held(&udev->xrcds_lock);
	if (!node)
		return oflags & O_CREAT ? xrcd_make(udev, filp, attrs) :
					  ERR_PTR(-EAGAIN);
	if (oflags & O_EXCL)
		return ERR_PTR(-EINVAL);
	x = rb_entry(node, struct uverbs_xrcd, node);
	x->opens++;
	return x;
}

static int xrcd_open(struct ib_uobject *uobj, struct file *filp, u32 oflags,
		     struct uverbs_attr_bundle *attrs)
{
	struct uverbs_device *udev = attrs->ufile->device;
	struct uverbs_xrcd *x;

	if (filp) {
		mutex_lock(&udev->xrcds_lock);
		x = xrcd_find(udev, filp, oflags, attrs);
		mutex_unlock(&udev->xrcds_lock);
	} else {
		x = xrcd_make(udev, NULL, attrs);
	}
	if (IS_ERR(x))
		return PTR_ERR(x);
	atomic_set(&to_uxrcd(uobj)->refcnt, 0);
	to_uxrcd(uobj)->shared = x;
	uobj->object = x->xrcd;
	return 0;
}

/* Fails if the driver refuses to free the domain; then the domain is as before. */
static int xrcd_close(struct uverbs_device *udev, struct uverbs_xrcd *x,
		      struct uverbs_attr_bundle *attrs)
{
	int ret = 0;

	mutex_lock(&udev->xrcds_lock);
	if (x->opens > 1) {
		x->opens--;
		mutex_unlock(&udev->xrcds_lock);
		return 0;
	}
	ret = ib_dealloc_xrcd_user(x->xrcd, &attrs->driver_udata);
	if (!ret && x->inode)
		rb_erase(&x->node, &udev->xrcds);
	mutex_unlock(&udev->xrcds_lock);
	if (ret)
		return ret;
	path_put(&x->path);
	kfree(x);
	return 0;
}

/* Returns -EBUSY while QPs or SRQs made through it exist. */
static int xrcd_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_uxrcd_object *uxrcd = to_uxrcd(uobj);

	if (atomic_read(&uxrcd->refcnt))
		return -EBUSY;
	return xrcd_close(uobj->ufile->device, uxrcd->shared, attrs);
}

static int xrcd_open_as(const struct ib_uverbs_open_xrcd *cmd, struct file *filp,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_open_xrcd_resp resp = {};
	struct ib_device *ibdev;
	struct ib_uobject *uobj;
	int ret;

	uobj = uobj_alloc(UVERBS_OBJECT_XRCD, attrs, &ibdev);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	ret = xrcd_open(uobj, filp, cmd->oflags, attrs);
	ret = uverbs_command_made(uobj, ret, attrs);
	if (ret)
		return ret;
	resp.xrcd_handle = uobj->id;
	return uverbs_response(attrs, &resp, sizeof(resp));
}

static int xrcd_open_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_open_xrcd cmd;
	struct file *filp;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	if (ret)
		return ret;
	if ((s32)cmd.fd == -1)
		return xrcd_open_as(&cmd, NULL, attrs);
	filp = fget(cmd.fd);
	if (!filp)
		return -EBADF;
	ret = xrcd_open_as(&cmd, filp, attrs);
	fput(filp);
	return ret;
}

static int xrcd_close_write(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_close_xrcd cmd;
	int ret;

	ret = uverbs_request(attrs, &cmd, sizeof(cmd));
	return ret ?: uobj_perform_destroy(UVERBS_OBJECT_XRCD, cmd.xrcd_handle, attrs);
}

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UVERBS_METHOD_XRCD_DESTROY,
	UVERBS_ENDS(UVERBS_ATTR_DESTROY_XRCD_HANDLE, XRCD));

DECLARE_UVERBS_NAMED_OBJECT(UVERBS_OBJECT_XRCD,
			    UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uxrcd_object),
						     xrcd_destroy),
			    &UVERBS_METHOD(UVERBS_METHOD_XRCD_DESTROY));

const struct uapi_definition uverbs_xrcd_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_XRCD,
				      UAPI_DEF_OBJ_NEEDS_FN(dealloc_xrcd)),
	DECLARE_UVERBS_OBJECT(
		UVERBS_OBJECT_XRCD,
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_OPEN_XRCD, xrcd_open_write,
				     UVERBS_REQ_RESP_UDATA(ib_uverbs_open_xrcd,
							   ib_uverbs_open_xrcd_resp),
				     UAPI_DEF_METHOD_NEEDS_FN(alloc_xrcd)),
		DECLARE_UVERBS_WRITE(IB_USER_VERBS_CMD_CLOSE_XRCD,
				     xrcd_close_write,
				     UVERBS_REQ(ib_uverbs_close_xrcd))),
	{}
};
