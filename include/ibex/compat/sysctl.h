/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_COMPAT_SYSCTL_H
#define IBEX_COMPAT_SYSCTL_H

/* The last entry of a table of sysctls: 6.1 looks for an empty one, 6.12 takes the array's size. */
#include <linux/sysctl.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define IBEX_SYSCTL_END { }
#else
#define IBEX_SYSCTL_END
#endif

#endif
