// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rdma cgroup controller: HCA handles and objects a control group may own
 * of each device (Documentation/admin-guide/cgroup-v1/rdma.rst).
 */
#include "device/device.h"

/**
 * ib_rdmacg_try_charge() - charge the caller's control group for an object
 * @cg_obj: set to the group that paid, for ib_rdmacg_uncharge()
 * @device: device the object will be of
 * @resource_index: what is charged
 *
 * Context: process, may sleep.
 * Return: 0, -EAGAIN if the group or one above it is at its limit, -ENOMEM.
 */
int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj,
			 struct ib_device *device,
			 enum rdmacg_resource_type resource_index)
{
#ifdef CONFIG_CGROUP_RDMA
	return rdmacg_try_charge(&cg_obj->cg, &device->cg_device,
				 resource_index);
#else
	return 0;
#endif
}
EXPORT_SYMBOL(ib_rdmacg_try_charge);

/**
 * ib_rdmacg_uncharge() - give back what ib_rdmacg_try_charge() took
 * @cg_obj: the group that paid
 * @device: device the object was of
 * @resource_index: what was charged
 *
 * Context: process, may sleep.
 */
void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj,
			struct ib_device *device,
			enum rdmacg_resource_type resource_index)
{
#ifdef CONFIG_CGROUP_RDMA
	rdmacg_uncharge(cg_obj->cg, &device->cg_device, resource_index);
#endif
}
EXPORT_SYMBOL(ib_rdmacg_uncharge);

/* The controller shows the array itself, so a rename shows there too. */
void ibcore_cgroup_setup(struct ib_device *dev)
{
#ifdef CONFIG_CGROUP_RDMA
	dev->cg_device.name = dev->name;
	rdmacg_register_device(&dev->cg_device);
#endif
}

/* Uncharges what is left; after that no object of @dev may be charged. */
void ibcore_cgroup_release(struct ib_device *dev)
{
#ifdef CONFIG_CGROUP_RDMA
	rdmacg_unregister_device(&dev->cg_device);
#endif
}
