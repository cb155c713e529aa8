// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The verbs objects of an end, its QP's transitions and events, and numbered messages. */
#include <linux/slab.h>
#include "apm.h"

struct apm_side apm_a = { .active = true, .psn = 0x1000 }, apm_b = { .psn = 0x2000 };

/* A sends one message at a time, each tick if the last one is acknowledged. */
static void tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(tick_work, tick);
static atomic_t outstanding;
static bool running;
static u64 next_sent, next_received;

static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	atomic_inc(&apm_stats[wc->status == IB_WC_SUCCESS ? APM_SENT : APM_ERRORS]);
	if (wc->status != IB_WC_SUCCESS)
		pr_info("ibex_apm: send: %s\n", ib_wc_status_msg(wc->status));
	atomic_set(&outstanding, 0);
}

static void tick(struct work_struct *work)
{
	struct ib_sge sge = {
		.addr = apm_a.dma,
		.length = APM_MESSAGE,
		.lkey = apm_a.pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &apm_a.send,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	if (!atomic_cmpxchg(&outstanding, 0, 1)) {
		*(u64 *)apm_a.buf = next_sent++;
		if (ib_post_send(apm_a.qp, &wr, NULL))
			atomic_inc(&apm_stats[APM_ERRORS]);
	}
	if (READ_ONCE(running))
		schedule_delayed_work(&tick_work, msecs_to_jiffies(10));
}

void traffic_start(void)
{
	WRITE_ONCE(running, true);
	schedule_delayed_work(&tick_work, 0);
}

void traffic_stop(void)
{
	WRITE_ONCE(running, false);
	cancel_delayed_work_sync(&tick_work);
}

static int post_recv(struct apm_side *side)
{
	struct ib_sge sge = {
		.addr = side->dma,
		.length = APM_MESSAGE,
		.lkey = side->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &side->recv,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(side->qp, &wr, NULL);
}

/* Messages arrive once each and in order, whatever path they take. */
static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct apm_side *side = cq->cq_context;

	if (wc->status != IB_WC_SUCCESS)
		return;
	atomic_inc(&apm_stats[APM_RECEIVED]);
	if (*(u64 *)side->buf != next_received)
		atomic_inc(&apm_stats[APM_BAD]);
	next_received = *(u64 *)side->buf + 1;
	if (post_recv(side))
		atomic_inc(&apm_stats[APM_ERRORS]);
}

int side_receive(struct apm_side *side)
{
	int i, ret = 0;

	next_received = 0;
	for (i = 0; !ret && i < APM_RECVS; i++)
		ret = post_recv(side);
	return ret;
}

static void qp_event(struct ib_event *event, void *context)
{
	struct apm_side *side = context;

	switch (event->event) {
	case IB_EVENT_PATH_MIG:
		atomic_inc(&apm_stats[side->active ? APM_MIGRATED_A : APM_MIGRATED_B]);
		ib_cm_notify(side->id, IB_EVENT_PATH_MIG);
		break;
	case IB_EVENT_PATH_MIG_ERR:
		atomic_inc(&apm_stats[APM_MIG_ERRORS]);
		break;
	case IB_EVENT_COMM_EST:
		ib_cm_notify(side->id, IB_EVENT_COMM_EST);
		break;
	default:
		break;
	}
}

int side_modify(struct apm_side *side, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, ret;

	ret = ib_cm_init_qp_attr(side->id, &attr, &mask);
	/* B's QP is ready before the id is told by the REP what it expects. */
	attr.rq_psn = side->psn;
	if (!ret)
		ret = ib_modify_qp(side->qp, &attr, mask);
	side->used |= !ret;
	if (!ret && mask & IB_QP_ALT_PATH)
		atomic_inc(&apm_stats[APM_ALTERNATES]);
	return ret;
}

int side_load(struct apm_side *side, const struct apm_side *peer, u32 port)
{
	struct ib_qp_attr attr = {
		.path_mig_state = IB_MIG_REARM,
		.alt_port_num = port,
		.alt_timeout = 16,	/* 268 ms */
	};
	struct ib_port_attr port_attr;
	int ret;

	ret = ib_query_port(peer->dev, port, &port_attr);
	if (ret)
		return ret;
	attr.alt_ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(&attr.alt_ah_attr, port_attr.lid);
	rdma_ah_set_port_num(&attr.alt_ah_attr, port);
	return ib_modify_qp(side->qp, &attr, IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
}

int side_migrate(struct apm_side *side)
{
	struct ib_qp_attr attr = { .path_mig_state = IB_MIG_MIGRATED };

	return ib_modify_qp(side->qp, &attr, IB_QP_PATH_MIG_STATE);
}

int side_query(struct apm_side *side, struct ib_qp_attr *attr)
{
	struct ib_qp_init_attr init;

	return ib_query_qp(side->qp, attr, IB_QP_PATH_MIG_STATE | IB_QP_PORT | IB_QP_ALT_PATH,
			   &init);
}

static int side_qp(struct apm_side *side)
{
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context = side,
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {
			.max_send_wr = 4, .max_recv_wr = APM_RECVS,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	side->qp = ib_create_qp(side->pd, &init);
	return PTR_ERR_OR_ZERO(side->qp);
}

int side_open(struct apm_side *side, const char *device)
{
	int ret = -ENOMEM;

	side->dev = ib_device_get_by_name(device, RDMA_DRIVER_UNKNOWN);
	if (!side->dev)
		return -ENODEV;
	side->recv.done = recv_done;
	side->send.done = send_done;
	next_sent = 0;
	atomic_set(&outstanding, 0);
	side->buf = kzalloc(APM_MESSAGE, GFP_KERNEL);
	if (side->buf) {
		side->dma = ib_dma_map_single(side->dev, side->buf, APM_MESSAGE,
					      DMA_BIDIRECTIONAL);
		side->pd = ib_alloc_pd(side->dev, 0);
		ret = PTR_ERR_OR_ZERO(side->pd);
	}
	if (!ret) {
		side->cq = ib_alloc_cq(side->dev, side, 2 * APM_RECVS, 0, IB_POLL_WORKQUEUE);
		ret = PTR_ERR_OR_ZERO(side->cq);
	}
	if (!ret)
		ret = side_qp(side);
	if (ret)
		side_close(side);
	return ret;
}

/*
 * Why no reference remains: the id is destroyed first, so no handler of it runs; then the
 * QP is drained, so no completion refers to the buffer.
 */
void side_close(struct apm_side *side)
{
	if (side->id)
		ib_destroy_cm_id(side->id);
	side->id = NULL;
	if (!IS_ERR_OR_NULL(side->qp)) {
		if (side->used)
			ib_drain_qp(side->qp);
		ib_destroy_qp(side->qp);
	}
	if (!IS_ERR_OR_NULL(side->cq))
		ib_free_cq(side->cq);
	if (!IS_ERR_OR_NULL(side->pd))
		ib_dealloc_pd(side->pd);
	if (side->buf)
		ib_dma_unmap_single(side->dev, side->dma, APM_MESSAGE, DMA_BIDIRECTIONAL);
	kfree(side->buf);
	if (side->dev)
		ib_device_put(side->dev);
	side->used = false;
	side->qp = NULL;
	side->cq = NULL;
	side->pd = NULL;
	side->buf = NULL;
	side->dev = NULL;
}
