/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_GID_H
#define IBEX_GID_H

#include <rdma/ib_verbs.h>

const char *ib_cache_gid_type_str(enum ib_gid_type gid_type);
int ib_cache_gid_parse_type_str(const char *buf);
unsigned long roce_gid_type_mask_support(struct ib_device *ib_dev, u32 port);
void ib_get_cached_subnet_prefix(struct ib_device *device, u32 port_num,
				 u64 *sn_pfx);

#endif
