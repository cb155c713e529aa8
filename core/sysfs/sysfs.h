/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCORE_SYSFS_H
#define IBCORE_SYSFS_H

/* Devices and ports in sysfs. */
#include <ibex/sysfs.h>

#include "core.h"

/* ---- sysfs.c ---- */
extern struct class ibcore_class;			/* "infiniband" */
extern const struct attribute_group ibcore_dev_attr_group;

int ibcore_sysfs_setup_ports(struct ib_core_device *coredev);
void ibcore_sysfs_remove_ports(struct ib_core_device *coredev);

/* ---- sysfs_port.c, sysfs_pma.c ---- */
struct ib_port;

struct ib_port *ibcore_sysfs_port_add(struct ib_core_device *coredev, u32 port);
void ibcore_sysfs_port_del(struct ib_port *port);
struct ib_port *ibcore_sysfs_port_first(struct ib_core_device *coredev);
/* Adds "counters" to the directory of a port that has a performance agent. */
int ibcore_pma_add(struct ib_device *dev, u32 port, struct kobject *dir);

#endif
