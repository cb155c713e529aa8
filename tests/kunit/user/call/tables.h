/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_TABLES_H
#define IBEX_USER_TABLES_H

/*
 * What stock drivers define of methods for processes, as scripts/suites/driver-tables takes it
 * out of their sources, with these functions in the place of the drivers'.
 */
#include <linux/types.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

struct driver_table {
	const char *name;
	const struct uapi_definition *defs;
	const char *const *methods;	/* that have a handler of the driver's */
	unsigned int nr_methods;
};

extern const struct driver_table tables_mlx5, tables_efa, tables_bnxt_re;

/* All handlers: @made is the attribute of the object that the method makes. */
#define TABLES_MADE_NONE U16_MAX
int tables_call(const char *method, struct uverbs_attr_bundle *attrs, u16 made);
/* What destroys objects, and whether a device has them. */
int tables_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why,
		   struct uverbs_attr_bundle *attrs);
void tables_fd_cleanup(struct ib_uobject *uobj, enum rdma_remove_reason why);
bool tables_supported(struct ib_device *ibdev);
extern const struct file_operations tables_fops;

#endif
