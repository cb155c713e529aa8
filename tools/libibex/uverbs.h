/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef LIBIBEX_UVERBS_H
#define LIBIBEX_UVERBS_H

/* Calls of the kernel beside those of libibverbs, on the same open device. */
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define UVERBS_MAX_ATTRS 6

struct uverbs_call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[UVERBS_MAX_ATTRS];
};

void uverbs_begin(struct uverbs_call *call, uint16_t object, uint16_t method);
/* Up to 8 bytes are part of the call; more are read from @data during it. */
void uverbs_in(struct uverbs_call *call, uint16_t id, const void *data, uint16_t len);
void uverbs_out(struct uverbs_call *call, uint16_t id, void *data, uint16_t len);
void uverbs_object(struct uverbs_call *call, uint16_t id, uint32_t handle);
/* Returns 0 or an error number: EOPNOTSUPP if the kernel does not have the method. */
int uverbs_ioctl(struct uverbs_call *call, struct ibv_context *context);

/* The number by which the kernel knows @xrcd; EINVAL if it knows it by none. */
int uverbs_xrcd_handle(struct ibv_xrcd *xrcd, uint32_t *handle);

#endif
