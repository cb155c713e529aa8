/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_DEVICE_H
#define IBEX_DEVICE_H

#include <rdma/ib_verbs.h>

/*
 * A device may be renamed at any time, which frees the string that dev_name()
 * answers.  In a client's add(), remove() and rename() of the device it stays;
 * elsewhere this copies the name.  dev->name, the array, is always memory and
 * terminated, but is rewritten in place: good for a line in the log.
 */
void ibcore_device_name(const struct ib_device *dev,
			char name[IB_DEVICE_NAME_MAX]);

#endif
