// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink: rdma-link(8) add and delete.  A driver that creates devices on
 * demand, on top of a netdev, registers its newlink() method under the name of
 * its link type.
 */
#include <linux/module.h>
#include <net/netlink.h>

#include "netlink/nldev.h"

/*
 * Held for reading while a driver creates a device, so that its module is not
 * unloaded.
 */
static DECLARE_RWSEM(link_ops_rwsem);
static LIST_HEAD(link_ops_list);	/* protected by link_ops_rwsem */

static struct rdma_link_ops *find_link_ops(const char *type)
{
	struct rdma_link_ops *ops;

	list_for_each_entry(ops, &link_ops_list, list)
		if (!strcmp(ops->type, type))
			return ops;
	return NULL;
}

/**
 * rdma_link_register() - register a link type
 * @ops: name and newlink() of the type; must exist until rdma_link_unregister()
 *
 * Context: process, may sleep.
 */
void rdma_link_register(struct rdma_link_ops *ops)
{
	down_write(&link_ops_rwsem);
	if (!WARN_ON(find_link_ops(ops->type)))
		list_add(&ops->list, &link_ops_list);
	else
		INIT_LIST_HEAD(&ops->list);
	up_write(&link_ops_rwsem);
}
EXPORT_SYMBOL(rdma_link_register);

/**
 * rdma_link_unregister() - unregister a link type
 * @ops: what was registered
 *
 * On return ops->newlink() is not running and will not be called any more.
 *
 * Context: process, sleeps until newlink() of any type has returned.
 */
void rdma_link_unregister(struct rdma_link_ops *ops)
{
	down_write(&link_ops_rwsem);
	list_del_init(&ops->list);
	up_write(&link_ops_rwsem);
}
EXPORT_SYMBOL(rdma_link_unregister);

/* Returns the ops with link_ops_rwsem held for reading, or NULL without it. */
static struct rdma_link_ops *get_link_ops(const char *type)
{
	struct rdma_link_ops *ops;

	down_read(&link_ops_rwsem);
	ops = find_link_ops(type);
	if (ops)
		return ops;
	up_read(&link_ops_rwsem);

	/* Not under the semaphore, which the module takes to register its type. */
	request_module("rdma-link-%s", type);
	down_read(&link_ops_rwsem);
	ops = find_link_ops(type);
	if (!ops)
		up_read(&link_ops_rwsem);
	return ops;
}

static int newlink(const char *name, const char *type, struct net_device *ndev,
		   struct netlink_ext_ack *extack)
{
	struct rdma_link_ops *ops;
	int ret;

	ops = get_link_ops(type);
	if (!ops) {
		NL_SET_ERR_MSG(extack, "unknown link type");
		return -EINVAL;
	}
	ret = ops->newlink(name, ndev);
	up_read(&link_ops_rwsem);
	return ret;
}

/* A '%' would make ib_register_device() choose a number for the name. */
static bool is_dev_name(const char *name)
{
	return name[0] && !strchr(name, '%');
}

int ibcore_nldev_newlink(struct ibcore_nldev_req *req)
{
	char type[RDMA_NLDEV_ATTR_ENTRY_STRLEN];
	char name[IB_DEVICE_NAME_MAX];
	struct nlattr **tb = req->tb;
	struct net_device *ndev;
	char ifname[IFNAMSIZ];
	int ret;

	if (!tb[RDMA_NLDEV_ATTR_DEV_NAME] || !tb[RDMA_NLDEV_ATTR_LINK_TYPE] ||
	    !tb[RDMA_NLDEV_ATTR_NDEV_NAME])
		return -EINVAL;

	nla_strscpy(name, tb[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(name));
	nla_strscpy(type, tb[RDMA_NLDEV_ATTR_LINK_TYPE], sizeof(type));
	nla_strscpy(ifname, tb[RDMA_NLDEV_ATTR_NDEV_NAME], sizeof(ifname));
	if (!is_dev_name(name))
		return -EINVAL;

	ndev = dev_get_by_name(req->net, ifname);
	if (!ndev)
		return -ENODEV;
	ret = newlink(name, type, ndev, req->extack);
	dev_put(ndev);
	return ret;
}

int ibcore_nldev_dellink(struct ibcore_nldev_req *req)
{
	struct ib_device *dev = req->dev;

	if (!(dev->attrs.kernel_cap_flags & IBK_ALLOW_USER_UNREG))
		return -EINVAL;

	req->dev = NULL;
	ib_unregister_device_and_put(dev);
	return 0;
}
