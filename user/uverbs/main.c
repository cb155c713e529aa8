// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_uverbs: verbs for user processes, and what providers use to serve them.
 */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "uverbs/uverbs.h"

static int __init uverbs_init(void)
{
	int ret = uverbs_nodes_init();

	if (ret)
		return ret;
	ret = uverbs_devices_init();
	if (ret)
		uverbs_nodes_exit();
	return ret;
}
module_init(uverbs_init);

static void __exit uverbs_exit(void)
{
	uverbs_devices_exit();
	uverbs_nodes_exit();
}
module_exit(uverbs_exit);

MODULE_DESCRIPTION("InfiniBand userspace verbs access");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(IBEX_VERSION);
MODULE_ALIAS_RDMA_CLIENT("uverbs");
MODULE_IMPORT_NS(DMA_BUF);
