/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_DEVICE_H
#define IBEX_DEVICE_H

#include <rdma/ib_verbs.h>

/*
 * A device may be renamed at any time, which frees the string that dev_name()
 * returns.  That string stays valid in a client's add(), remove() and rename()
 * of the device; anywhere else, use this function, which copies the name.  The
 * array dev->name is always valid memory and NUL-terminated, but is rewritten
 * in place: good enough for a line in the log.
 */
void ibcore_device_name(const struct ib_device *dev,
			char name[IB_DEVICE_NAME_MAX]);

#endif
