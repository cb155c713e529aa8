// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Devices and contexts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "vib.h"

struct get_context_resp {
	struct ib_uverbs_get_context_resp ibv;
	struct vib_alloc_ucontext_resp vib;
};

static int vib_query_device_ex(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int ret;

	ret = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (ret)
		return ret;
	version = resp.base.fw_ver;
	/* Completions have times: nanoseconds, so the clock has 1,000,000 kHz. */
	if (attr_size >= offsetof(struct ibv_device_attr_ex, device_cap_flags_ex)) {
		attr->completion_timestamp_mask = UINT64_MAX;
		attr->hca_core_clock = 1000000;
	}
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned int)(version >> 32), (unsigned int)(version >> 16 & 0xffff),
		 (unsigned int)(version & 0xffff));
	return 0;
}

static int vib_query_port(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *attr)
{
	struct cmd_query_port cmd;

	return ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

/* The adapter's clock, of which completions have the time, is the system's. */
static int vib_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	uint32_t wanted = values->comp_mask;

	(void)context;
	values->comp_mask = 0;
	if (wanted & ~IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (wanted && clock_gettime(CLOCK_REALTIME, &values->raw_clock))
		return errno;
	values->comp_mask = wanted;
	return 0;
}

static void vib_free_context(struct ibv_context *ibcontext)
{
	struct vib_context *context = to_vib_context(ibcontext);

	verbs_uninit_context(&context->ibv);
	free(context);
}

static const struct verbs_context_ops context_ops = {
	.alloc_mw = vib_alloc_mw,
	.alloc_pd = vib_alloc_pd,
	.attach_mcast = ibv_cmd_attach_mcast,
	.close_xrcd = vib_close_xrcd,
	.create_ah = vib_create_ah,
	.create_cq = vib_create_cq,
	.create_cq_ex = vib_create_cq_ex,
	.create_qp = vib_create_qp,
	.create_qp_ex = vib_create_qp_ex,
	.create_srq = vib_create_srq,
	.create_srq_ex = vib_create_srq_ex,
	.dealloc_mw = vib_dealloc_mw,
	.dealloc_pd = vib_dealloc_pd,
	.dereg_mr = vib_dereg_mr,
	.destroy_ah = vib_destroy_ah,
	.destroy_cq = vib_destroy_cq,
	.destroy_qp = vib_destroy_qp,
	.destroy_srq = vib_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = vib_free_context,
	.get_srq_num = vib_get_srq_num,
	.modify_qp = vib_modify_qp,
	.modify_srq = vib_modify_srq,
	.open_qp = vib_open_qp,
	.open_xrcd = vib_open_xrcd,
	.poll_cq = vib_poll_cq,
	.post_recv = vib_post_recv,
	.post_send = vib_post_send,
	.post_srq_recv = vib_post_srq_recv,
	.query_device_ex = vib_query_device_ex,
	.query_port = vib_query_port,
	.query_qp = vib_query_qp,
	.query_rt_values = vib_query_rt_values,
	.query_srq = vib_query_srq,
	.reg_mr = vib_reg_mr,
	.req_notify_cq = ibv_cmd_req_notify_cq,
	.rereg_mr = vib_rereg_mr,
	.resize_cq = vib_resize_cq,
};

static struct verbs_context *vib_alloc_context(struct ibv_device *device, int cmd_fd,
					       void *private_data)
{
	struct get_context_resp resp = { 0 };
	struct vib_context *context;
	struct cmd_get_context cmd;

	(void)private_data;
	context = _verbs_init_and_alloc_context(device, cmd_fd, sizeof(*context),
						(void *)offsetof(struct vib_context, ibv), 0);
	if (!context)
		return NULL;
	if (ibv_cmd_get_context(&context->ibv, &cmd, sizeof(cmd), &resp.ibv, sizeof(resp))) {
		vib_free_context(&context->ibv.context);
		return NULL;
	}
	context->max_inline = resp.vib.max_inline;
	verbs_set_ops(&context->ibv, &context_ops);
	return &context->ibv;
}

static struct verbs_device *vib_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct vib_device *device = calloc(1, sizeof(*device));

	(void)sysfs_dev;
	return device ? &device->ibv : NULL;
}

static void vib_uninit_device(struct verbs_device *device)
{
	free(device);
}

/* By the names that vib gives its devices. */
static const struct verbs_match_ent match_table[] = {
	{ .kind = VERBS_MATCH_MODALIAS, .u.modalias = "rdma_device:*Nvib*" },
	{ .kind = VERBS_MATCH_SENTINEL },
};

static const struct verbs_device_ops device_ops = {
	.name = "vib",
	.match_min_abi_version = VIB_ABI_VERSION,
	.match_max_abi_version = VIB_ABI_VERSION,
	.match_table = match_table,
	.alloc_context = vib_alloc_context,
	.alloc_device = vib_alloc_device,
	.uninit_device = vib_uninit_device,
};

/* libibverbs loads the library for this. */
static __attribute__((constructor)) void vib_register(void)
{
	verbs_register_driver_34(&device_ops);
}
