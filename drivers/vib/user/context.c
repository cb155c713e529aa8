// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What a process has of an adapter: a context, the rings that it maps, and commands. */
#include <rdma/ib_user_verbs.h>
#include "device/qp.h"
#include "user/user.h"

/* A library of another version may know a shorter response. */
static int vib_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	struct vib_alloc_ucontext_resp resp = { .max_inline = VIB_MAX_INLINE };

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

/* All objects are destroyed by then, and with them went their rings. */
static void vib_dealloc_ucontext(struct ib_ucontext *context)
{
}

/*
 * The adapter is removed while processes have it open: their objects are destroyed, as when
 * they end.  What is mapped need not be taken from them.
 */
static void vib_disassociate_ucontext(struct ib_ucontext *context)
{
}

int vib_udata_check(struct ib_udata *udata, size_t len)
{
	if (udata->outlen < len)
		return -EINVAL;
	if (udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	return 0;
}

/*
 * Processes post by themselves, but for the doorbells: POST_SEND and the like without any work
 * request.  They also poll by themselves.
 */
const u64 vib_user_cmd_mask = BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
			      BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
			      BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) |
			      BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);

const struct ib_device_ops vib_user_ops = {
	.uverbs_abi_ver		= VIB_ABI_VERSION,
	/* The kernel has no number for vib: libraries find it by its name. */
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.alloc_ucontext		= vib_alloc_ucontext,
	.dealloc_ucontext	= vib_dealloc_ucontext,
	.disassociate_ucontext	= vib_disassociate_ucontext,
	.mmap			= vib_mapped_mmap,
	.mmap_free		= vib_mapped_free,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, vib_ucontext, ib),
};
