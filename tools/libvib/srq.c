// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues, of both types. */
#include <errno.h>
#include <stdlib.h>
#include "vib.h"

#define SRQ_COMP_MASK	(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |			\
			 IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ)

struct create_srq_resp {
	struct ib_uverbs_create_srq_resp ibv;
	struct vib_create_srq_resp vib;
};

struct modify_srq_cmd {
	struct cmd_modify_srq ibv;
	struct vib_modify_srq_cmd vib;
};

/*
 * @ret of the command, which made the kernel's object with @attr.  Frees @srq if it returns
 * NULL.
 */
static struct ibv_srq *srq_finish(struct vib_srq *srq, struct ibv_context *context,
				  const struct ibv_srq_attr *attr,
				  const struct vib_create_srq_resp *resp, int ret)
{
	if (ret)
		goto err;
	ret = vib_rq_init(&srq->rq, context->cmd_fd, &resp->ring, attr->max_sge);
	if (!ret)
		return &srq->ibv.srq;
	ibv_cmd_destroy_srq(&srq->ibv.srq);
err:
	free(srq);
	errno = ret;
	return NULL;
}

struct ibv_srq *vib_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct vib_srq *srq = calloc(1, sizeof(*srq));
	struct create_srq_resp resp = { 0 };
	struct cmd_create_srq cmd;
	int ret;

	if (!srq)
		return NULL;
	ret = ibv_cmd_create_srq(pd, &srq->ibv.srq, attr, &cmd, sizeof(cmd), &resp.ibv,
				 sizeof(resp));
	return srq_finish(srq, pd->context, &attr->attr, &resp.vib, ret);
}

struct ibv_srq *vib_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct create_srq_resp resp = { 0 };
	struct cmd_create_xsrq cmd;
	struct vib_srq *srq;
	int ret;

	/* No tag matching. */
	if (attr->comp_mask & ~SRQ_COMP_MASK) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	ret = ibv_cmd_create_srq_ex(context, &srq->ibv, attr, &cmd, sizeof(cmd), &resp.ibv,
				    sizeof(resp));
	return srq_finish(srq, context, &attr->attr, &resp.vib, ret);
}

/*
 * The kernel has moved the requests that were left to the new ring, behind whose tail we go
 * on.  Should it not be mapped, nothing can be posted any more.
 */
static int srq_remap(struct vib_srq *srq, const struct vib_abi_map *map)
{
	int ret;

	ring_unmap(&srq->rq.ring);
	ret = ring_map(&srq->rq.ring, srq->ibv.srq.context->cmd_fd, map);
	if (!ret)
		srq->rq.ring.next = ring_tail(&srq->rq.ring);
	return ret;
}

int vib_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct vib_srq *srq = to_vib_srq(ibsrq);
	struct vib_abi_map map = { 0 };
	struct modify_srq_cmd cmd = {
		.vib.map_addr = (uintptr_t)&map,
	};
	int ret;

	pthread_mutex_lock(&srq->rq.lock);
	ret = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv, sizeof(cmd));
	if (!ret && map.length)
		ret = srq_remap(srq, &map);
	pthread_mutex_unlock(&srq->rq.lock);
	return ret;
}

int vib_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct cmd_query_srq cmd;

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int vib_destroy_srq(struct ibv_srq *ibsrq)
{
	struct vib_srq *srq = to_vib_srq(ibsrq);
	int ret = destroy_error(ibv_cmd_destroy_srq(ibsrq));

	if (ret)
		return ret;
	vib_rq_destroy(&srq->rq);
	free(srq);
	return 0;
}

int vib_get_srq_num(struct ibv_srq *srq, uint32_t *num)
{
	if (to_vib_srq(srq)->ibv.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*num = to_vib_srq(srq)->ibv.srq_num;
	return 0;
}
