/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VALUES_H
#define VALUES_H

/* Values for calls: mostly sensible, now and then out of range. */
#include "diffcm.h"

__u16 some_port(void);
/* Both return the size of the address that is to be told the kernel. */
size_t set_address(struct __kernel_sockaddr_storage *to, const char *host, __u16 port);
size_t some_address(struct __kernel_sockaddr_storage *to);
void some_multicast(struct __kernel_sockaddr_storage *to);
void some_conn_param(struct rdma_ucm_conn_param *p, __u32 qpn);
/* The private data and the reason. */
void some_reject(struct rdma_ucm_reject *r);

#endif
