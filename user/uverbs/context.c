// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The user context of a uverbs file: the driver's state for the process.  The first
 * method that asks for a context makes it; every object of the file is made in it.
 *
 * It is destroyed at the teardown of its file, after all objects made in it.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <kunit/visibility.h>
#include <ibex/cgroup.h>
#include <ibex/restrack.h>

#include "uverbs/uverbs.h"

/**
 * ib_uverbs_get_ucontext_file() - the user context of a uverbs file
 * @ufile: the file, of which a method is being called
 *
 * Context: within a method call, or any place that keeps the device from being removed.
 * Return: the context, valid until the method returns; ERR_PTR: -EINVAL if none was
 * made yet, -EIO if the device was removed.
 */
struct ib_ucontext *ib_uverbs_get_ucontext_file(struct ib_uverbs_file *ufile)
{
	struct ib_ucontext *context;

	if (READ_ONCE(ufile->device->gone))
		return ERR_PTR(-EIO);
	/* Pairs with uverbs_context_commit(). */
	context = smp_load_acquire(&ufile->context);
	return context ?: ERR_PTR(-EINVAL);
}
EXPORT_SYMBOL(ib_uverbs_get_ucontext_file);

static void context_exit(struct ib_ucontext *context)
{
	ib_rdmacg_uncharge(&context->cg_obj, context->device,
			   RDMACG_RESOURCE_HCA_HANDLE);
	WARN_ON(!xa_empty(&context->mmap_xa));
	xa_destroy(&context->mmap_xa);
}

static int context_alloc(struct uverbs_attr_bundle *attrs)
{
	struct ib_device *ibdev = attrs->ufile->device->ibdev;
	struct ib_ucontext *context;
	int ret;

	context = rdma_zalloc_drv_obj(ibdev, ib_ucontext);
	if (!context)
		return -ENOMEM;
	context->device = ibdev;
	context->ufile = attrs->ufile;
	xa_init_flags(&context->mmap_xa, XA_FLAGS_ALLOC);
	ret = ib_rdmacg_try_charge(&context->cg_obj, ibdev,
				   RDMACG_RESOURCE_HCA_HANDLE);
	if (ret) {
		kfree(context);
		return ret;
	}
	rdma_restrack_new(&context->res, RDMA_RESTRACK_CTX);
	rdma_restrack_set_name(&context->res, NULL);
	ret = ibdev->ops.alloc_ucontext(context, &attrs->driver_udata);
	if (ret) {
		rdma_restrack_put(&context->res);
		context_exit(context);
		kfree(context);
		return ret;
	}
	attrs->context = context;
	return 0;
}

/*
 * Makes the context of the call's file and stores it in attrs->context.  The caller
 * must then call uverbs_context_commit() or uverbs_context_abort().  Returns -EINVAL if
 * the file has a context or another call is making one, -EAGAIN at the limit of the
 * control group, -ENOMEM, or the driver's error.
 */
int uverbs_context_begin(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_file *file = attrs->ufile;
	int ret;

	if (cmpxchg(&file->context_begun, 0, 1))
		return -EINVAL;
	ret = context_alloc(attrs);
	if (ret)
		WRITE_ONCE(file->context_begun, 0);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_context_begin);

void uverbs_context_commit(struct uverbs_attr_bundle *attrs)
{
	rdma_restrack_add(&attrs->context->res);
	/* A reader that sees the context sees what uverbs_context_begin() wrote to it. */
	smp_store_release(&attrs->ufile->context, attrs->context);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_context_commit);

static void context_destroy(struct ib_ucontext *context)
{
	rdma_restrack_del(&context->res);
	context->device->ops.dealloc_ucontext(context);
	context_exit(context);
}

void uverbs_context_abort(struct uverbs_attr_bundle *attrs)
{
	context_destroy(attrs->context);
	kfree(attrs->context);
	attrs->context = NULL;
	WRITE_ONCE(attrs->ufile->context_begun, 0);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_context_abort);

/* Lets the driver release the process's memory.  Under teardown_sem; no method runs. */
void uverbs_context_disassociate(struct ib_uverbs_file *file)
{
	struct ib_ucontext *context = file->context;

	lockdep_assert_held_write(&file->teardown_sem);
	if (context && context->device->ops.disassociate_ucontext)
		context->device->ops.disassociate_ucontext(context);
}

/*
 * Destroys the context, after the file's objects.  Called under teardown_sem, with no
 * method running.  If the driver's own mappings may refer to the context
 * (file->pinned), its memory is kept as long as the file.
 */
void uverbs_context_teardown(struct ib_uverbs_file *file)
{
	lockdep_assert_held_write(&file->teardown_sem);
	if (!file->context)
		return;
	context_destroy(file->context);
	if (file->pinned)
		file->retired_context = file->context;
	else
		kfree(file->context);
	file->context = NULL;
}
