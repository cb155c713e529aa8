/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_NETLINK_H
#define IBEX_NETLINK_H

#include <rdma/rdma_netlink.h>

/* Whether userspace with CAP_NET_RAW may set a privileged Q_Key. */
bool rdma_nl_get_privileged_qkey(void);

#endif
