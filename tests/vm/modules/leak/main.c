// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Leaves memory behind when it is removed, which a seeded scenario must notice. */
#include <linux/module.h>
#include <linux/slab.h>

static void *lost;

static int __init leak_init(void)
{
	WRITE_ONCE(lost, kmalloc(100, GFP_KERNEL));
	return READ_ONCE(lost) ? 0 : -ENOMEM;
}

static void __exit leak_exit(void)
{
	WRITE_ONCE(lost, NULL);
}

module_init(leak_init);
module_exit(leak_exit);
MODULE_DESCRIPTION("A leak, for the test of the runner");
MODULE_LICENSE("Dual BSD/GPL");
