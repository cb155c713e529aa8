/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CLIENT_NL_H
#define IBEX_CLIENT_NL_H

#include <rdma/ib_verbs.h>

/* A client's response to RDMA_NLDEV_CMD_GET_CHARDEV. */
struct ib_client_nl_info {
	struct sk_buff *nl_msg;
	struct device *cdev;
	u32 port;
	u64 abi;
};

#endif
