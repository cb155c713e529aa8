// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Verbs objects and completions that several suites use. */
#include "device/device.h"
#include "gid/gid.h"
#include "objects.h"

struct fake_hca *objects_hca(const struct fake_hca_params *params)
{
	struct fake_hca *hca = fake_hca_alloc(params);

	if (!hca)
		return NULL;
	hca->quirks.no_fast_reg = false;
	hca->quirks.no_srq = false;
	if (!fake_hca_register(hca))
		return hca;
	fake_hca_free(hca);
	return NULL;
}

void objects_put(struct objects *o)
{
	if (!IS_ERR_OR_NULL(o->qp))
		ib_destroy_qp(o->qp);
	if (!IS_ERR_OR_NULL(o->cq))
		ib_free_cq(o->cq);
	if (!IS_ERR_OR_NULL(o->pd))
		ib_dealloc_pd(o->pd);
	memset(o, 0, sizeof(*o));
}

int objects_get(struct objects *o, struct fake_hca *hca, enum ib_poll_context poll,
		u32 rw_ctxs, u32 sge, u32 flags)
{
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = sge,
			 .max_recv_sge = 1, .max_rdma_ctxs = rw_ctxs },
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.create_flags = flags,
		.port_num = 1,
	};
	int ret = 0;

	memset(o, 0, sizeof(*o));
	o->pd = ib_alloc_pd(&hca->ibdev, 0);
	if (IS_ERR(o->pd)) {
		ret = PTR_ERR(o->pd);
		goto out;
	}
	o->cq = ib_alloc_cq(&hca->ibdev, NULL, 256, 0, poll);
	if (IS_ERR(o->cq)) {
		ret = PTR_ERR(o->cq);
		goto out;
	}
	init.send_cq = o->cq;
	init.recv_cq = o->cq;
	o->qp = ib_create_qp(o->pd, &init);
	ret = PTR_ERR_OR_ZERO(o->qp);
out:
	if (ret)
		objects_put(o);
	return ret;
}

int objects_to_rts(struct fake_hca *hca, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {};
	int ret;

	attr.qp_state = IB_QPS_INIT;
	attr.port_num = 1;
	ret = ib_modify_qp(qp, &attr, RC_INIT);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	attr.dest_qp_num = qp->qp_num;
	attr.path_mtu = IB_MTU_1024;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	attr.ah_attr.port_num = 1;
	rdma_ah_set_dlid(&attr.ah_attr, hca->port[1].lid);
	if (hca->quirks.grh_required)
		rdma_ah_set_grh(&attr.ah_attr, &hca->port[1].gids[0], 0, 0, 1, 0);
	ret = ib_modify_qp(qp, &attr, RC_RTR);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp, &attr, RC_RTS);
}

int gid_refs(const struct ib_gid_attr *attr)
{
	return refcount_read(&container_of(attr, struct ibcore_gid_entry, attr)->ref) - 2;
}

static void count_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct counted *c = container_of(wc->wr_cqe, struct counted, cqe);

	atomic_inc(&c->done);
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		atomic_inc(&c->flushed);
}

void counted_init(struct counted *c)
{
	memset(c, 0, sizeof(*c));
	c->cqe.done = count_done;
}

bool wait_count(atomic_t *v, int n)
{
	return wait_until(atomic_read(v) >= n) && atomic_read(v) == n;
}
