// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * rdma_ucm: the RDMA CM for user processes.  This file has the device file, its lookup
 * by netlink, and the sysctl.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sysctl.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>
#include <ibex/client_nl.h>
#include <ibex/compat/sysctl.h>

#include "ucm.h"

int ucm_max_backlog = 1024;

static struct ctl_table ucm_sysctl[] = {
	{
		.procname	= "max_backlog",
		.data		= &ucm_max_backlog,
		.maxlen		= sizeof(ucm_max_backlog),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
	},
	IBEX_SYSCTL_END
};

static struct ctl_table_header *ucm_sysctl_header;

static ssize_t abi_version_show(struct device *dev, struct device_attribute *attr,
				char *buf)
{
	return sysfs_emit(buf, "%d\n", RDMA_USER_CM_ABI_VERSION);
}
static DEVICE_ATTR_RO(abi_version);

static struct attribute *ucm_attrs[] = {
	&dev_attr_abi_version.attr,
	NULL
};
ATTRIBUTE_GROUPS(ucm);

static struct miscdevice ucm_device = {
	.minor		= MISC_DYNAMIC_MINOR,
	.name		= "rdma_cm",
	.nodename	= "infiniband/rdma_cm",
	.mode		= 0666,
	.fops		= &ucm_fops,
	.groups		= ucm_groups,
};

/* RDMA_NLDEV_CMD_GET_CHARDEV */
static int ucm_nl_info(struct ib_client_nl_info *res)
{
	res->abi = RDMA_USER_CM_ABI_VERSION;
	res->cdev = ucm_device.this_device;
	return 0;
}

static struct ib_client ucm_client = {
	.name = "rdma_cm",
	.get_global_nl_info = ucm_nl_info,
};
MODULE_ALIAS_RDMA_CLIENT("rdma_cm");

static int __init ucm_init(void)
{
	int err;

	err = ucm_ids_init();
	if (err)
		return err;
	err = misc_register(&ucm_device);
	if (err)
		goto err_ids;

	ucm_sysctl_header = register_net_sysctl(&init_net, "net/rdma_ucm", ucm_sysctl);
	if (!ucm_sysctl_header) {
		err = -ENOMEM;
		goto err_device;
	}
	err = ib_register_client(&ucm_client);
	if (err)
		goto err_sysctl;
	return 0;

err_sysctl:
	unregister_net_sysctl_table(ucm_sysctl_header);
err_device:
	misc_deregister(&ucm_device);
err_ids:
	ucm_ids_exit();
	return err;
}
module_init(ucm_init);

/* No file is open, so there are no ids, and no work items of ids. */
static void __exit ucm_exit(void)
{
	ib_unregister_client(&ucm_client);
	unregister_net_sysctl_table(ucm_sysctl_header);
	misc_deregister(&ucm_device);
	ucm_ids_exit();
}
module_exit(ucm_exit);

MODULE_DESCRIPTION("RDMA Userspace Connection Manager Access");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);
