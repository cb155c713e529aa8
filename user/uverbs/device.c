// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_uverbs as a client of ib_core: what it keeps for each device, and the files that
 * user processes have open on it.
 *
 * The client, the node and each open file hold a reference on a struct uverbs_device,
 * the client from add to remove.  The struct is set as the client's data of the device
 * before the node is created, and cleared after the last file was torn down, so that a
 * lookup of it (uverbs_device_get(), under RCU, at any time) misses no file.
 *
 * Except to destroy objects (uobject.c), the driver is called for a process only within
 * a section of the device, which is an SRCU read section: removal lets no new section
 * begin, waits for those that run, and then tears down each file.  After that the
 * driver has no object or context in a file, which may outlive its device.
 */
#include <linux/slab.h>
#include <kunit/visibility.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <ibex/client_nl.h>

#include "call/call.h"
#include "uverbs/uverbs.h"

static int uverbs_add_device(struct ib_device *ibdev);
static void uverbs_remove_device(struct ib_device *ibdev, void *data);

/* For libibverbs, which looks the node of a device up by netlink. */
static int uverbs_get_nl_info(struct ib_device *ibdev, void *data,
			      struct ib_client_nl_info *info)
{
	struct uverbs_device *udev = data;

	if (info->port != U32_MAX)
		return -EINVAL;
	/* Without this ID libibverbs matches by the device's name, or by PCI IDs. */
	if (!ibdev->ops.uverbs_no_driver_id_binding &&
	    nla_put_u32(info->nl_msg, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID,
			ibdev->ops.driver_id))
		return -EMSGSIZE;
	info->abi = ibdev->ops.uverbs_abi_ver;
	info->cdev = &udev->dev;
	return 0;
}

static struct ib_client uverbs_client = {
	.name = "uverbs",
	.no_kverbs_req = true,
	.add = uverbs_add_device,
	.remove = uverbs_remove_device,
	.get_nl_info = uverbs_get_nl_info,
};

static void uverbs_device_free(struct kref *ref)
{
	struct uverbs_device *udev = container_of(ref, struct uverbs_device, ref);

	WARN_ON(!list_empty(&udev->files));
	WARN_ON(!RB_EMPTY_ROOT(&udev->xrcds));
	uverbs_api_free(udev->uapi);
	cleanup_srcu_struct(&udev->srcu);
	mutex_destroy(&udev->xrcds_lock);
	mutex_destroy(&udev->lock);
	kfree_rcu(udev, rcu);
}

void uverbs_device_put(struct uverbs_device *udev)
{
	kref_put(&udev->ref, uverbs_device_free);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_device_put);

/*
 * Returns the struct uverbs_device of @ibdev with a reference, or NULL.  The caller
 * keeps @ibdev registered during the call, but its clients may be removed meanwhile: a
 * move to another network namespace removes them and adds them again.
 */
struct uverbs_device *uverbs_device_get(struct ib_device *ibdev)
{
	struct uverbs_device *udev;

	rcu_read_lock();
	udev = ib_get_client_data(ibdev, &uverbs_client);
	if (udev && !kref_get_unless_zero(&udev->ref))
		udev = NULL;
	rcu_read_unlock();
	return udev;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_device_get);

/* Drops the client's reference; uverbs_device_get() no longer finds @udev. */
static void uverbs_device_drop(struct uverbs_device *udev, struct ib_device *ibdev)
{
	ib_set_client_data(ibdev, &uverbs_client, NULL);
	uverbs_device_put(udev);
}

/*
 * Some devices serve only the kernel, and some (SMI) only the subnet manager.  Drivers
 * of the latter set up little of what their verbs for processes rely on, but have these
 * verbs all the same.
 */
static bool serves_processes(const struct ib_device *ibdev)
{
	return ibdev->ops.alloc_ucontext && ibex_sub_device_type(ibdev) != RDMA_DEVICE_TYPE_SMI;
}

static int uverbs_add_device(struct ib_device *ibdev)
{
	struct uverbs_device *udev;
	int ret;

	if (!serves_processes(ibdev))
		return -EOPNOTSUPP;
	udev = kzalloc(sizeof(*udev), GFP_KERNEL);
	if (!udev)
		return -ENOMEM;
	udev->uapi = uverbs_api_create(ibdev, uverbs_core_definitions);
	if (IS_ERR(udev->uapi)) {
		ret = PTR_ERR(udev->uapi);
		goto err;
	}
	ret = init_srcu_struct(&udev->srcu);
	if (ret)
		goto err_api;
	kref_init(&udev->ref);
	mutex_init(&udev->lock);
	INIT_LIST_HEAD(&udev->files);
	mutex_init(&udev->xrcds_lock);
	udev->xrcds = RB_ROOT;
	udev->ibdev = ibdev;
	ib_set_client_data(ibdev, &uverbs_client, udev);
	ret = uverbs_node_add(udev);
	if (ret)
		uverbs_device_drop(udev, ibdev);
	return ret;

err_api:
	uverbs_api_free(udev->uapi);
err:
	kfree(udev);
	return ret;
}

/*
 * Why the driver is no longer called for a process once this returns:
 * (1) gone is set and the sections that did not see it are over: no method, page fault
 *     or mmap() calls the driver, except destroys, which end before the teardown of
 *     their file or find after it that nothing is left to destroy.
 * (2) Every file was torn down.  A file that is being closed at the same time stays on
 *     the list until its own teardown is over; its teardown_sem makes removal wait.
 * (3) gone keeps new files off the list.
 */
static void uverbs_remove_device(struct ib_device *ibdev, void *data)
{
	struct uverbs_device *udev = data;
	struct ib_uverbs_file *file;

	mutex_lock(&udev->lock);
	WRITE_ONCE(udev->gone, true);
	mutex_unlock(&udev->lock);
	uverbs_node_del(udev);
	synchronize_srcu(&udev->srcu);

	mutex_lock(&udev->lock);
	list_for_each_entry(file, &udev->files, on_device)
		uverbs_file_teardown(file, RDMA_REMOVE_DRIVER_REMOVE);
	mutex_unlock(&udev->lock);
	uverbs_device_drop(udev, ibdev);
}

/* The device is not removed before the section ends; -EIO if removal has begun. */
int uverbs_device_section_begin(struct uverbs_device *udev)
{
	int idx = srcu_read_lock(&udev->srcu);

	if (READ_ONCE(udev->gone)) {
		srcu_read_unlock(&udev->srcu, idx);
		return -EIO;
	}
	/* For sparse: the section ends in another function. */
	__release(&udev->srcu);
	return idx;
}

void uverbs_device_section_end(struct uverbs_device *udev, int idx)
{
	__acquire(&udev->srcu);
	srcu_read_unlock(&udev->srcu, idx);
}

int uverbs_section_begin(struct ib_uverbs_file *file)
{
	return uverbs_device_section_begin(file->device);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_section_begin);

void uverbs_section_end(struct ib_uverbs_file *file, int idx)
{
	uverbs_device_section_end(file->device, idx);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_section_end);

/* Takes a reference on @udev for @file; false if the device is being removed. */
bool uverbs_device_add_file(struct uverbs_device *udev,
			    struct ib_uverbs_file *file)
{
	bool added = false;

	mutex_lock(&udev->lock);
	if (!udev->gone) {
		kref_get(&udev->ref);
		list_add_tail(&file->on_device, &udev->files);
		added = true;
	}
	mutex_unlock(&udev->lock);
	return added;
}

void uverbs_device_del_file(struct ib_uverbs_file *file)
{
	struct uverbs_device *udev = file->device;

	mutex_lock(&udev->lock);
	list_del(&file->on_device);
	mutex_unlock(&udev->lock);
}

/**
 * rdma_user_mmap_disassociate() - unmap a device's memory from all processes
 * @device: registered device; its driver keeps it registered during the call
 *
 * For a driver whose device is about to be reset or to lose its memory.  On return no
 * process has device memory mapped: each mapping that was made by rdma_user_mmap_io()
 * shows memory that no device reads, and no longer holds its struct
 * rdma_user_mmap_entry.
 *
 * Before the call the driver makes its mmap method refuse new mappings.  On return any
 * mmap call that missed this is over, and what it mapped is unmapped as well.
 *
 * Context: process; may sleep, waits for page faults and mmap() in progress.
 */
void rdma_user_mmap_disassociate(struct ib_device *device)
{
	struct uverbs_device *udev = uverbs_device_get(device);
	struct ib_uverbs_file *file;

	if (!udev)
		return;
	mutex_lock(&udev->lock);
	list_for_each_entry(file, &udev->files, on_device) {
		/*
		 * Wait for calls of the mmap method.  They hold mm->mmap_lock outside
		 * of this lock, so it cannot be held while uverbs_umaps_revoke() takes
		 * mm->mmap_lock.
		 */
		mutex_lock(&file->mmap_lock);
		mutex_unlock(&file->mmap_lock);
		uverbs_umaps_revoke(file);
	}
	mutex_unlock(&udev->lock);
	uverbs_device_put(udev);
}
EXPORT_SYMBOL(rdma_user_mmap_disassociate);

int uverbs_devices_init(void)
{
	return ib_register_client(&uverbs_client);
}

void uverbs_devices_exit(void)
{
	ib_unregister_client(&uverbs_client);
}
