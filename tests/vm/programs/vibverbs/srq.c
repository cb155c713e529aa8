// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Shared receive queues, and XRC. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "ends.h"

static int post_srq(struct ibv_srq *srq, uint64_t id, unsigned int offset)
{
	struct ibv_sge sge = mem_sge(&b, offset, 100);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static struct ibv_srq *srq_make(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(b.pd, &attr);

	check(srq && attr.attr.max_wr >= 8);
	return srq;
}

/* a.qp, and b.qp with @srq */
static void pair_up_srq(struct ibv_srq *srq)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(&a, IBV_QPT_RC);

	a.qp = qp_make(&a, &attr);
	attr = qp_attr(&b, IBV_QPT_RC);
	attr.srq = srq;
	b.qp = qp_make(&b, &attr);
	connect_qps(a.qp, b.qp);
}

static void set_limit(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	check(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	memset(&attr, 0, sizeof(attr));
	check(!ibv_query_srq(srq, &attr) && attr.srq_limit == limit);
}

void test_srq(void)
{
	struct ibv_srq *srq = srq_make();
	struct ibv_srq_attr attr;
	int i;

	pair_up_srq(srq);
	check(post_recv(&b, 1, 0, 10) == EINVAL);
	for (i = 0; i < 6; i++)
		check(!post_srq(srq, i, i * 100));
	set_limit(srq, 4);
	for (i = 0; i < 3; i++) {
		check(!post_send(&a, i, 0, 10));
		expect(a.cq, i, IBV_WC_SUCCESS);
		expect(b.cq, i, IBV_WC_SUCCESS);
	}
	/* Fewer than four are left: the event, once. */
	expect_event(b.context, IBV_EVENT_SRQ_LIMIT_REACHED);
	check(!ibv_query_srq(srq, &attr) && !attr.srq_limit);
	to_error(b.qp);
	expect_event(b.context, IBV_EVENT_QP_LAST_WQE_REACHED);
	pair_down();
	check(!ibv_destroy_srq(srq));
}

/* An SRQ of another size has what was in it, in order. */
void test_srq_resize(void)
{
	struct ibv_srq *srq = srq_make();
	struct ibv_srq_attr attr = { .max_wr = 64 };
	int posted = 0, next;

	pair_up_srq(srq);
	while (!post_srq(srq, posted, posted * 100))
		check(++posted < 64);
	for (next = 0; next < 3; next++) {
		check(!post_send(&a, next, 0, 10));
		expect(a.cq, next, IBV_WC_SUCCESS);
		expect(b.cq, next, IBV_WC_SUCCESS);
	}
	check(!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	for (; posted < 40; posted++)
		check(!post_srq(srq, posted, posted * 100));
	attr.max_wr = 4;
	check(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR) == EINVAL);
	check(!post_srq(srq, posted, posted * 100));
	for (; next <= posted; next++) {
		memset(a.mem, next, 10);
		check(!post_send(&a, next, 0, 10));
		expect(a.cq, next, IBV_WC_SUCCESS);
		expect(b.cq, next, IBV_WC_SUCCESS);
		check(!memcmp(a.mem, b.mem + next * 100, 10));
	}
	pair_down();
	check(!ibv_destroy_srq(srq));
}

/* ---- XRC: one target QP, two SRQs with a CQ each ---- */

struct xrc {
	struct ibv_xrcd *xrcd;
	struct ibv_qp *initiator, *target;
	struct ibv_srq *srq[2];
	struct ibv_cq *cq[2];
	__u32 srqn[2];
};

static void xrc_open_srq(struct xrc *xrc, int i)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = b.pd,
		.xrcd = xrc->xrcd,
	};

	xrc->cq[i] = ibv_create_cq(b.context, 16, NULL, NULL, 0);
	check(xrc->cq[i]);
	attr.cq = xrc->cq[i];
	xrc->srq[i] = ibv_create_srq_ex(b.context, &attr);
	check(xrc->srq[i]);
	check(!ibv_get_srq_num(xrc->srq[i], &xrc->srqn[i]) && xrc->srqn[i]);
}

static void xrc_open(struct xrc *xrc)
{
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_qp_init_attr_ex attr = qp_attr(&a, IBV_QPT_XRC_SEND);

	xrc->xrcd = ibv_open_xrcd(b.context, &xrcd_attr);
	check(xrc->xrcd);
	xrc_open_srq(xrc, 0);
	xrc_open_srq(xrc, 1);
	check(xrc->srqn[0] != xrc->srqn[1]);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	xrc->initiator = qp_make(&a, &attr);
	attr = (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrc->xrcd,
	};
	xrc->target = qp_make(&b, &attr);
	to_init(xrc->initiator);
	to_init(xrc->target);
	to_rtr(xrc->initiator, &b, xrc->target->qp_num);
	to_rtr(xrc->target, &a, xrc->initiator->qp_num);
	to_rts(xrc->initiator);
}

static void xrc_close(struct xrc *xrc)
{
	int i;

	check(!ibv_destroy_qp(xrc->initiator));
	check(!ibv_destroy_qp(xrc->target));
	for (i = 0; i < 2; i++) {
		check(!ibv_destroy_srq(xrc->srq[i]));
		check(!ibv_destroy_cq(xrc->cq[i]));
	}
	check(!ibv_close_xrcd(xrc->xrcd));
}

static void xrc_send(struct xrc *xrc, uint64_t id, int to)
{
	struct ibv_sge sge = mem_sge(&a, 0, 50);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.qp_type.xrc.remote_srqn = xrc->srqn[to],
	};
	struct ibv_qp_ex *ex;

	if (id % 4 < 2) {
		check(!post_wr(xrc->initiator, &wr));
		return;
	}
	ex = ibv_qp_to_qp_ex(xrc->initiator);
	ibv_wr_start(ex);
	ex->wr_id = id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, xrc->srqn[to]);
	ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
	check(!ibv_wr_complete(ex));
}

void test_xrc(void)
{
	struct xrc xrc;
	struct ibv_qp_open_attr open_attr;
	struct ibv_qp *opened;
	struct ibv_wc wc;
	int i, to;

	xrc_open(&xrc);
	open_attr = (struct ibv_qp_open_attr){
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = xrc.target->qp_num,
		.xrcd = xrc.xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	opened = ibv_open_qp(b.context, &open_attr);
	check(opened && opened->qp_num == xrc.target->qp_num);
	check(!ibv_destroy_qp(opened));
	for (i = 0; i < 20; i++) {
		to = i / 3 % 2;
		mem_fill(&a, i);
		check(!post_srq(xrc.srq[to], i, i * 100));
		xrc_send(&xrc, 100 + i, to);
		expect(a.cq, 100 + i, IBV_WC_SUCCESS);
		wc = expect(xrc.cq[to], i, IBV_WC_SUCCESS);
		check(wc.byte_len == 50 && wc.qp_num == xrc.target->qp_num);
		check(!memcmp(a.mem, b.mem + i * 100, 50));
		expect_none(xrc.cq[!to]);
	}
	xrc_close(&xrc);
}
