// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An export whose prototype is not the distribution's: the gate must object. */
#include <linux/export.h>
#include <linux/module.h>

long rdma_addr_size(const void *addr);

long rdma_addr_size(const void *addr)
{
	return (long)addr;
}
EXPORT_SYMBOL(rdma_addr_size);

MODULE_DESCRIPTION("A wrong prototype, for the test of the ABI gate");
MODULE_LICENSE("Dual BSD/GPL");
