/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_TABLES_H
#define IBEX_USER_TABLES_H

/*
 * The definitions of stock drivers for processes, which scripts/suites/driver-tables
 * extracts from their sources, with these functions instead of the drivers'.
 */
#include <linux/types.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

struct driver_table {
	const char *name;
	const struct uapi_definition *defs;
	const char *const *methods;	/* that have a handler in the driver */
	unsigned int nr_methods;
};

extern const struct driver_table tables_mlx5, tables_efa, tables_bnxt_re;

/* All handlers: @made is the attribute of the object that the method creates. */
#define TABLES_MADE_NONE U16_MAX
int tables_call(const char *method, struct uverbs_attr_bundle *attrs, u16 made);
/* The destroy functions of objects, and whether a device has such objects. */
int tables_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
		   struct uverbs_attr_bundle *attrs);
void tables_fd_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why);
bool tables_supported(struct ib_device *ibdev);
extern const struct file_operations tables_fops;

#endif
