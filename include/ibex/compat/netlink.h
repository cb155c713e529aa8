/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_NETLINK_H
#define IBEX_COMPAT_NETLINK_H

/* What RDMA netlink and its objects have grown; its numbers are fixed.  include/ibex/compat.h. */
#include <linux/version.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <linux/build_bug.h>

enum {
	RDMA_NL_GROUP_NOTIFY = RDMA_NL_NUM_GROUPS,
};

enum {
	RDMA_NLDEV_CMD_RES_SRQ_GET_RAW = RDMA_NLDEV_NUM_OPS,
	RDMA_NLDEV_CMD_NEWDEV,
	RDMA_NLDEV_CMD_DELDEV,
	RDMA_NLDEV_CMD_MONITOR,
	IBEX_NLDEV_NUM_OPS
};

static_assert(RDMA_NLDEV_CMD_RES_SRQ_GET_RAW == RDMA_NLDEV_CMD_STAT_GET_STATUS + 1);

enum {
#ifdef IBEX_NO_RESTRACK_DD
	RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE = RDMA_NLDEV_ATTR_MAX,
	RDMA_NLDEV_ATTR_DRIVER_DETAILS,
	RDMA_NLDEV_ATTR_RES_SUBTYPE,
	RDMA_NLDEV_ATTR_DEV_TYPE,
#else
	RDMA_NLDEV_ATTR_DEV_TYPE = RDMA_NLDEV_ATTR_MAX,
#endif
	RDMA_NLDEV_ATTR_PARENT_NAME,
	RDMA_NLDEV_ATTR_NAME_ASSIGN_TYPE,
	RDMA_NLDEV_ATTR_EVENT_TYPE,
	RDMA_NLDEV_SYS_ATTR_MONITOR_MODE,
	IBEX_NLDEV_ATTR_MAX
};

static_assert(RDMA_NLDEV_ATTR_DEV_TYPE == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC + 4);

enum rdma_nl_dev_type {
	RDMA_DEVICE_TYPE_SMI = 1,
};

enum rdma_nl_name_assign_type {
	RDMA_NAME_ASSIGN_TYPE_UNKNOWN = 0,
	RDMA_NAME_ASSIGN_TYPE_USER = 1,
};

enum rdma_nl_notify_event_type {
	RDMA_REGISTER_EVENT,
	RDMA_UNREGISTER_EVENT,
	RDMA_NETDEV_ATTACH_EVENT,
	RDMA_NETDEV_DETACH_EVENT,
};

static inline enum rdma_nl_name_assign_type ibex_name_assign_type(const struct ib_device *dev)
{
	return RDMA_NAME_ASSIGN_TYPE_UNKNOWN;
}
#else
#define IBEX_NLDEV_NUM_OPS RDMA_NLDEV_NUM_OPS
#define IBEX_NLDEV_ATTR_MAX RDMA_NLDEV_ATTR_MAX

static inline enum rdma_nl_name_assign_type ibex_name_assign_type(const struct ib_device *dev)
{
	return dev->name_assign_type;
}
#endif

/* headers.mk; where there are no sub-devices, no provider makes any. */
#ifdef IBEX_NO_SUB_DEVICES
static inline struct ib_device *ibex_parent(const struct ib_device *dev)
{
	return NULL;
}

static inline enum rdma_nl_dev_type ibex_sub_device_type(const struct ib_device *dev)
{
	return 0;
}

static inline int ib_add_sub_device(struct ib_device *parent, enum rdma_nl_dev_type type,
				    const char *name)
{
	return -EOPNOTSUPP;
}

static inline int ib_del_sub_device_and_put(struct ib_device *sub)
{
	ib_device_put(sub);
	return -EOPNOTSUPP;
}
#else
static inline struct ib_device *ibex_parent(const struct ib_device *dev)
{
	return dev->parent;
}

static inline enum rdma_nl_dev_type ibex_sub_device_type(const struct ib_device *dev)
{
	return dev->type;
}
#endif

#endif
