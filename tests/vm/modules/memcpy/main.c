// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How fast the kernel copies memory, which bounds what a software adapter can do.  Reading the
 * parameter ns copies 1,024 messages of 64 KiB, in parts of 4 KiB as packets are copied, and
 * gives the nanoseconds for one message.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define MESSAGE		65536
#define PART		4096
#define MESSAGES	1024

static u8 *from, *to;

static int ns_get(char *buf, const struct kernel_param *kp)
{
	unsigned int i, at;
	u64 start = ktime_get_ns();

	for (i = 0; i < MESSAGES; i++) {
		for (at = 0; at < MESSAGE; at += PART)
			memcpy(to + at, from + at, PART);
		/* The compiler must not leave a copy out. */
		barrier_data(to);
		cond_resched();
	}
	return sysfs_emit(buf, "%llu\n", div_u64(ktime_get_ns() - start, MESSAGES));
}

static const struct kernel_param_ops ns_ops = {
	.get = ns_get,
};

module_param_cb(ns, &ns_ops, NULL, 0444);
MODULE_PARM_DESC(ns, "Copies 1,024 messages of 64 KiB: nanoseconds for one");

static int __init memcpy_init(void)
{
	from = vzalloc(MESSAGE);
	to = vzalloc(MESSAGE);
	if (from && to)
		return 0;
	vfree(from);
	vfree(to);
	return -ENOMEM;
}

static void __exit memcpy_exit(void)
{
	vfree(from);
	vfree(to);
}

module_init(memcpy_init);
module_exit(memcpy_exit);
MODULE_DESCRIPTION("The speed of memcpy(), beside that of software adapters");
MODULE_LICENSE("Dual BSD/GPL");
