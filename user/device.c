// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_uverbs as a client of ib_core: what it keeps beside each device, and the files
 * that user processes have open on it.
 *
 * A struct uverbs_device has one reference of the client, from add to remove, and
 * one of each file.  A file may outlive its device: its mappings then show the sink.
 */
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "uverbs.h"

static int uverbs_add_device(struct ib_device *ibdev);
static void uverbs_remove_device(struct ib_device *ibdev, void *data);

static struct ib_client uverbs_client = {
	.name = "uverbs",
	.no_kverbs_req = true,
	.add = uverbs_add_device,
	.remove = uverbs_remove_device,
};

static void uverbs_device_free(struct kref *ref)
{
	struct uverbs_device *udev = container_of(ref, struct uverbs_device, ref);

	mutex_destroy(&udev->lock);
	kfree(udev);
}

static int uverbs_add_device(struct ib_device *ibdev)
{
	struct uverbs_device *udev = kzalloc(sizeof(*udev), GFP_KERNEL);

	if (!udev)
		return -ENOMEM;
	kref_init(&udev->ref);
	mutex_init(&udev->lock);
	INIT_LIST_HEAD(&udev->files);
	ib_set_client_data(ibdev, &uverbs_client, udev);
	return 0;
}

static void uverbs_revoke_files(struct uverbs_device *udev)
{
	struct ib_uverbs_file *file;

	mutex_lock(&udev->lock);
	list_for_each_entry(file, &udev->files, on_device)
		uverbs_umaps_revoke(file);
	mutex_unlock(&udev->lock);
}

static void uverbs_remove_device(struct ib_device *ibdev, void *data)
{
	struct uverbs_device *udev = data;

	uverbs_revoke_files(udev);
	kref_put(&udev->ref, uverbs_device_free);
}

/**
 * rdma_user_mmap_disassociate() - take a device's memory from all processes
 * @device: registered device; its driver keeps it so during the call
 *
 * For a driver whose device is about to be reset or loses its memory.  On return no
 * process has any of it mapped: each page of a mapping that was made by
 * rdma_user_mmap_io() now shows memory that no device reads, and holds its struct
 * rdma_user_mmap_entry no longer.  What is mapped after the call stays mapped.
 *
 * Context: process; may sleep, waits for page faults in progress.
 */
void rdma_user_mmap_disassociate(struct ib_device *device)
{
	struct uverbs_device *udev = ib_get_client_data(device, &uverbs_client);

	if (udev)
		uverbs_revoke_files(udev);
}
EXPORT_SYMBOL(rdma_user_mmap_disassociate);

/* The caller keeps @device registered during the call. */
int uverbs_file_open(struct ib_uverbs_file *file, struct ib_device *device)
{
	struct uverbs_device *udev = ib_get_client_data(device, &uverbs_client);

	if (!udev)
		return -ENODEV;
	kref_get(&udev->ref);
	file->device = udev;
	mutex_init(&file->umaps.lock);
	INIT_LIST_HEAD(&file->umaps.list);

	mutex_lock(&udev->lock);
	list_add_tail(&file->on_device, &udev->files);
	mutex_unlock(&udev->lock);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_file_open);

/*
 * No reference to the file remains: (1) its mappings each held the struct file, and
 * its last put brought us here; (2) off the device's list, under its lock, no
 * revocation finds it.
 */
void uverbs_file_close(struct ib_uverbs_file *file)
{
	struct uverbs_device *udev = file->device;

	mutex_lock(&udev->lock);
	list_del(&file->on_device);
	mutex_unlock(&udev->lock);

	WARN_ON(!list_empty(&file->umaps.list));
	if (file->sink)
		put_page(file->sink);
	mutex_destroy(&file->umaps.lock);
	kref_put(&udev->ref, uverbs_device_free);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_file_close);

int uverbs_devices_init(void)
{
	return ib_register_client(&uverbs_client);
}

void uverbs_devices_exit(void)
{
	ib_unregister_client(&uverbs_client);
}
