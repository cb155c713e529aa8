// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ib_uverbs: the memory regions that providers register for user processes.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("InfiniBand userspace verbs access");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DMA_BUF);
