// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_uverbs as a client of ib_core: what it keeps beside each device, and the files
 * that user processes have open on it.
 *
 * A struct uverbs_device has one reference of the client, from add to remove, and one
 * of each file.  It is the client's data of its device from before there is a node, so
 * that no file is missed by who looks there, until after the last file was torn down;
 * a driver may look at any moment, under RCU (uverbs_device_get()).
 *
 * Whatever calls the driver for a process does so within a section of the device:
 * removal lets none begin, waits for those there are, and then tears down each file.  A
 * file that outlives its device is empty.
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
	/* Without it libibverbs matches by the device's name, or by PCI ids. */
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
 * With a reference, or NULL.  The caller keeps @ibdev registered during the call, which
 * does not keep its clients: a move to another network namespace removes and adds them.
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

/* The client's reference.  Nobody finds @udev from here on. */
static void uverbs_device_drop(struct uverbs_device *udev, struct ib_device *ibdev)
{
	ib_set_client_data(ibdev, &uverbs_client, NULL);
	uverbs_device_put(udev);
}

/*
 * Some devices serve the kernel alone; others only the subnet manager: their driver makes
 * few of the things that its verbs for processes rely on, and has these all the same.
 */
static bool serves_processes(const struct ib_device *ibdev)
{
	return ibdev->ops.alloc_ucontext && ibdev->type != RDMA_DEVICE_TYPE_SMI;
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
 * Why the driver is not called any more for a process:
 * (1) gone is set and the sections that did not see it are over: no method, no page
 *     fault and no mmap calls it, but for destroys, which end before their file's
 *     teardown or find after it that there is nothing to destroy.
 * (2) Every file was torn down; one that is being closed at the same time is on the
 *     list until its own teardown is over, and is waited for by its teardown_sem.
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

/* Between the two the device stays; -EIO if it has gone. */
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

/* Takes a reference on @udev for @file; false if the device is gone. */
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
 * rdma_user_mmap_disassociate() - take a device's memory from all processes
 * @device: registered device; its driver keeps it so during the call
 *
 * For a driver whose device is about to be reset or loses its memory.  On return no
 * process has any of it mapped: each page of a mapping that was made by
 * rdma_user_mmap_io() now shows memory that no device reads, and holds its struct
 * rdma_user_mmap_entry no longer.
 *
 * The driver first has its mmap method refuse: calls of it that may not have seen that
 * are over, and what they mapped is gone, when this returns.
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
		/* Taken under mmap_lock of an mm: not held while that is. */
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
