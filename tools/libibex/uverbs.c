// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Calls of the kernel: RDMA_VERBS_IOCTL (<rdma/rdma_user_ioctl_cmds.h>). */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "uverbs.h"

#define RDMA_VERBS_IOCTL	_IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)

void uverbs_begin(struct uverbs_call *call, uint16_t object, uint16_t method)
{
	memset(call, 0, sizeof(*call));
	call->hdr.object_id = object;
	call->hdr.method_id = method;
}

static struct ib_uverbs_attr *add(struct uverbs_call *call, uint16_t id, uint16_t len)
{
	struct ib_uverbs_attr *attr = &call->attrs[call->hdr.num_attrs++];

	attr->attr_id = id;
	attr->len = len;
	attr->flags = UVERBS_ATTR_F_MANDATORY;
	return attr;
}

void uverbs_in(struct uverbs_call *call, uint16_t id, const void *data, uint16_t len)
{
	struct ib_uverbs_attr *attr = add(call, id, len);

	if (len <= sizeof(attr->data))
		memcpy(&attr->data, data, len);
	else
		attr->data = (uintptr_t)data;
}

void uverbs_out(struct uverbs_call *call, uint16_t id, void *data, uint16_t len)
{
	add(call, id, len)->data = (uintptr_t)data;
}

void uverbs_object(struct uverbs_call *call, uint16_t id, uint32_t handle)
{
	add(call, id, 0)->data = handle;
}

int uverbs_ioctl(struct uverbs_call *call, struct ibv_context *context)
{
	call->hdr.length = sizeof(call->hdr) + call->hdr.num_attrs * sizeof(call->attrs[0]);
	if (!ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, call))
		return 0;
	/* No such method; no ioctl at all. */
	if (errno == EPROTONOSUPPORT || errno == ENOTTY || errno == ENOSYS)
		return EOPNOTSUPP;
	return errno;
}

/* ---- handles ---- */

/*
 * libibverbs keeps the handle of an XRC domain behind the public struct, with a word in
 * between.  As no header promises that, it is believed only if the kernel says that this
 * process has such a domain.
 */
struct kept_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

/* Sets *@handles to an array, to be freed, of the handles of @context's objects. */
static int list_handles(struct ibv_context *context, uint64_t object, uint32_t **handles,
			uint32_t *number)
{
	uint32_t room = 64;
	struct uverbs_call call;
	int ret;

	for (;; room *= 4) {
		*handles = calloc(room, sizeof(**handles));
		if (!*handles)
			return ENOMEM;
		uverbs_begin(&call, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
		uverbs_in(&call, UVERBS_ATTR_INFO_OBJECT_ID, &object, sizeof(object));
		uverbs_out(&call, UVERBS_ATTR_INFO_TOTAL_HANDLES, number, sizeof(*number));
		uverbs_out(&call, UVERBS_ATTR_INFO_HANDLES_LIST, *handles,
			   room * sizeof(**handles));
		ret = uverbs_ioctl(&call, context);
		if (!ret && *number < room)
			return 0;
		free(*handles);
		if (ret || room >= 4096)
			return ret ? ret : ENOSPC;
	}
}

int uverbs_xrcd_handle(struct ibv_xrcd *xrcd, uint32_t *handle)
{
	uint32_t *handles, number, i;
	bool found = false;
	int ret;

	ret = list_handles(xrcd->context, UVERBS_OBJECT_XRCD, &handles, &number);
	if (ret)
		return ret;
	*handle = ((struct kept_xrcd *)xrcd)->handle;
	for (i = 0; i < number; i++)
		found |= handles[i] == *handle;
	free(handles);
	return found ? 0 : EINVAL;
}
