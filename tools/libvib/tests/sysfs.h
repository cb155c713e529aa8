/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef SYSFS_H
#define SYSFS_H

/* A folder that libibverbs takes for sysfs, and the driver beside @program for the only one. */
void sysfs_make(const char *program);
/* A device of it, with the version of its interface. */
void sysfs_device(const char *name, int index, int abi_version);
void sysfs_remove(void);

#endif
