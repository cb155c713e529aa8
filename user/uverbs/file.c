// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A uverbs file: what a process has of one device through one open of its node.
 *
 * Its memory is held by the open file and by each descriptor that was made from it
 * (uobject_fd.c).  What it has of the device, objects, context and mappings, ends when
 * the file is closed or the device removed: that is its teardown, and the second finds
 * nothing.
 *
 * A driver that has disassociate_ucontext() maps nothing that refers to its device once
 * that was called.  Others may have mappings with operations of their own, which run
 * when a process unmaps them, be the device gone or not (rxe's queues): for these
 * the module stays, and the memory of device and context, until the file is closed.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "queues/queues.h"
#include "uverbs/uverbs.h"

/* In a section: the device is there. */
static int file_pin(struct ib_uverbs_file *file, struct ib_device *ibdev)
{
	if (ibdev->ops.disassociate_ucontext)
		return 0;
	if (!try_module_get(ibdev->ops.owner))
		return -ENODEV;
	get_device(&ibdev->dev);
	file->pinned = ibdev;
	return 0;
}

static void file_unpin(struct ib_uverbs_file *file)
{
	struct module *owner;

	kfree(file->retired_context);
	if (!file->pinned)
		return;
	owner = file->pinned->ops.owner;
	put_device(&file->pinned->dev);
	module_put(owner);
}

/* For the file of an open node, in a section of its device; -ENODEV if that is going. */
struct ib_uverbs_file *uverbs_file_create(struct uverbs_device *udev)
{
	struct ib_uverbs_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return ERR_PTR(-ENOMEM);
	if (file_pin(file, udev->ibdev)) {
		kfree(file);
		return ERR_PTR(-ENODEV);
	}
	kref_init(&file->ref);
	mutex_init(&file->mmap_lock);
	mutex_init(&file->umaps.lock);
	INIT_LIST_HEAD(&file->umaps.list);
	init_rwsem(&file->teardown_sem);
	spin_lock_init(&file->objects_lock);
	INIT_LIST_HEAD(&file->objects);
	xa_init_flags(&file->handles, XA_FLAGS_ALLOC);
	file->device = udev;
	if (!uverbs_device_add_file(udev, file)) {
		file_unpin(file);
		kfree(file);
		return ERR_PTR(-ENODEV);
	}
	return file;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_file_create);

static void file_free(struct kref *ref)
{
	struct ib_uverbs_file *file = container_of(ref, struct ib_uverbs_file,
						   ref);

	WARN_ON(!list_empty(&file->umaps.list));
	WARN_ON(!list_empty(&file->objects));
	WARN_ON(!xa_empty(&file->handles));
	xa_destroy(&file->handles);
	uverbs_async_forget(file);
	if (file->dummy_page)
		put_page(file->dummy_page);
	mutex_destroy(&file->umaps.lock);
	mutex_destroy(&file->mmap_lock);
	uverbs_device_put(file->device);
	file_unpin(file);
	kfree(file);
}

void uverbs_file_get(struct ib_uverbs_file *file)
{
	kref_get(&file->ref);
}

void uverbs_file_put(struct ib_uverbs_file *file)
{
	kref_put(&file->ref, file_free);
}

/*
 * Takes from the process what it has of the device.  On return: (1) no page of the
 * device is mapped; (2) the driver has destroyed, or was told for the last time of,
 * each object and the context; (3) nothing of these is made any more, as methods begin
 * no more (the file is closed, or its device gone) and those that ran are over.
 */
void uverbs_file_teardown(struct ib_uverbs_file *file,
			  enum rdma_remove_reason why)
{
	down_write(&file->teardown_sem);
	if (why == RDMA_REMOVE_DRIVER_REMOVE)
		uverbs_async_device_fatal(file);
	if (why != RDMA_REMOVE_CLOSE) {
		uverbs_umaps_revoke(file);
		if (file->raw_maps)
			unmap_mapping_range(file->mapping, 0, 0, 1);
		uverbs_context_disassociate(file);
	}
	uverbs_objects_teardown(file, why);
	uverbs_context_teardown(file);
	up_write(&file->teardown_sem);
}

/*
 * The open file is released.  Its mappings each held it, so there are none.  Torn down
 * before it leaves the device's list: until then removal finds it and waits.
 */
void uverbs_file_close(struct ib_uverbs_file *file)
{
	uverbs_file_teardown(file, RDMA_REMOVE_CLOSE);
	uverbs_device_del_file(file);
	uverbs_file_put(file);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_file_close);
