// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A uverbs file: what a process has of one device through one open of its node.
 *
 * The open file and each descriptor object made from it (uobject_fd.c) hold a reference
 * on the memory of the file.  Teardown ends what the file has of the device: objects,
 * context and mappings.  It runs when the file is closed and when the device is
 * removed; the second run finds nothing left.
 *
 * A driver that has disassociate_ucontext() keeps no mapping that refers to its device
 * after that was called.  Other drivers may have mappings with vm_operations of their
 * own, which run when a process unmaps them, even after the device was removed (rxe's
 * queues).  For these drivers the module and the memory of device and context stay
 * until the file is freed.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "queues/queues.h"
#include "uverbs/uverbs.h"

/* Called within a section, so the device exists. */
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

/* For node_open(), within a section; -ENODEV if the device is being removed. */
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
 * Ends what the process has of the device.  On return: (1) no page of the device is
 * mapped; (2) the driver has destroyed each object, or refused the last call to do so,
 * and has destroyed the context; (3) nothing new is made, because no method begins any
 * more (the file is closed, or its device removed) and those that ran are over.
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
 * Called when the open file is released.  Each mapping holds the open file, so none is
 * left.  The file is torn down before it leaves the device's list, because until then
 * removal finds it and waits.
 */
void uverbs_file_close(struct ib_uverbs_file *file)
{
	uverbs_file_teardown(file, RDMA_REMOVE_CLOSE);
	uverbs_device_del_file(file);
	uverbs_file_put(file);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_file_close);
