// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_uverbs: what providers use to serve user processes: memory regions, the
 * attributes of their methods, mappings of device memory.
 */
#include <linux/module.h>

#include "uverbs.h"

static int __init uverbs_init(void)
{
	return uverbs_devices_init();
}
module_init(uverbs_init);

static void __exit uverbs_exit(void)
{
	uverbs_devices_exit();
}
module_exit(uverbs_exit);

MODULE_DESCRIPTION("InfiniBand userspace verbs access");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DMA_BUF);
