// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * User objects that are a file descriptor.
 *
 * Such an object is destroyed when its descriptor's struct file is released, or when
 * the uverbs file it was made from is torn down, whichever comes first.  The struct
 * file, which its user can reach all the time, holds a reference on the object's memory
 * and one on the uverbs file's.  destroy_object() makes its methods (read, poll, ...)
 * report that there will be no more events.
 */
#include <linux/anon_inodes.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <rdma/uverbs_std_types.h>

#include "queues/queues.h"
#include "uverbs/uverbs.h"

static const struct uverbs_obj_fd_type *
fd_type(const struct uverbs_api_object *obj)
{
	return container_of(obj->type_attrs, struct uverbs_obj_fd_type, type);
}

static struct ib_uobject *fd_alloc_begin(const struct uverbs_api_object *obj,
					 struct uverbs_attr_bundle *attrs)
{
	const struct uverbs_obj_fd_type *type = fd_type(obj);
	struct ib_uobject *uobj;
	struct file *filp;
	int ret;

	/* Without one of these release methods nothing would ever destroy the object. */
	if (WARN_ON(type->fops->release != uverbs_uobject_fd_release &&
		    type->fops->release != uverbs_async_release))
		return ERR_PTR(-EINVAL);
	uobj = uverbs_uobject_new(obj, attrs);
	if (IS_ERR(uobj))
		return uobj;
	ret = get_unused_fd_flags(O_CLOEXEC);
	if (ret < 0)
		goto err;
	uobj->id = ret;
	/* No private data yet, so a release before commit finds nothing to destroy. */
	filp = anon_inode_getfile(type->name, type->fops, NULL, type->flags);
	if (IS_ERR(filp)) {
		ret = PTR_ERR(filp);
		goto err_fd;
	}
	uobj->object = filp;
	return uobj;

err_fd:
	put_unused_fd(uobj->id);
err:
	uverbs_uobject_put(uobj);
	return ERR_PTR(ret);
}

static void fd_alloc_commit(struct ib_uobject *uobj)
{
	struct file *filp = uobj->object;
	int fd = uobj->id;

	uverbs_uobject_get(uobj);
	uverbs_file_get(uobj->ufile);
	filp->private_data = uobj;
	fd_install(fd, filp);
}

static void fd_alloc_abort(struct ib_uobject *uobj)
{
	put_unused_fd(uobj->id);
	fput(uobj->object);
}

/* A lookup holds the struct file, so that no release runs during a method. */
static struct ib_uobject *fd_lookup_get(const struct uverbs_api_object *obj,
					struct ib_uverbs_file *ufile, s64 id,
					enum rdma_lookup_mode mode)
{
	struct ib_uobject *uobj;
	struct file *filp;

	if (mode != UVERBS_LOOKUP_READ)
		return ERR_PTR(-EOPNOTSUPP);
	if (id < INT_MIN || id > INT_MAX)
		return ERR_PTR(-EINVAL);
	/* No descriptor is negative. */
	filp = fget(id);
	if (!filp)
		return ERR_PTR(-EBADF);
	uobj = filp->private_data;
	if (filp->f_op != fd_type(obj)->fops || uobj->ufile != ufile) {
		fput(filp);
		return ERR_PTR(-EBADF);
	}
	uverbs_uobject_get(uobj);
	return uobj;
}

static void fd_lookup_put(struct ib_uobject *uobj, enum rdma_lookup_mode mode)
{
	/* Within a section the object is not destroyed, so this is still its file. */
	fput(uobj->object);
}

static int fd_destroy_hw(struct ib_uobject *uobj, enum rdma_remove_reason why,
			 struct uverbs_attr_bundle *attrs)
{
	fd_type(uobj->uapi_object)->destroy_object(uobj, why);
	return 0;
}

/* The class of objects that are descriptors; see UVERBS_TYPE_ALLOC_FD(). */
const struct uverbs_obj_type_class uverbs_fd_class = {
	.alloc_begin	= fd_alloc_begin,
	.alloc_commit	= fd_alloc_commit,
	.alloc_abort	= fd_alloc_abort,
	.lookup_get	= fd_lookup_get,
	.lookup_put	= fd_lookup_put,
	.destroy_hw	= fd_destroy_hw,
};
EXPORT_SYMBOL(uverbs_fd_class);

/**
 * uverbs_uobject_fd_release() - the release method of every descriptor object
 * @inode: inode of the file
 * @filp: the file, whose private data is the struct ib_uobject
 *
 * Destroys the object unless it was destroyed before, and drops the references that the
 * struct file holds.
 *
 * Context: process; may sleep.
 * Return: 0.
 */
int uverbs_uobject_fd_release(struct inode *inode, struct file *filp)
{
	struct ib_uobject *uobj = filp->private_data;
	struct ib_uverbs_file *file;

	if (!uobj)
		return 0;
	file = uobj->ufile;
	uverbs_uobject_closed(uobj);
	uverbs_uobject_put(uobj);
	uverbs_file_put(file);
	return 0;
}
EXPORT_SYMBOL(uverbs_uobject_fd_release);
