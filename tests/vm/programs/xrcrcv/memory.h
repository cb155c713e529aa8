/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef XRC_MEMORY_H
#define XRC_MEMORY_H

/* The memory of the machine that is free, in KiB. */
long free_kib(void);

#endif
