// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * XRC between two QPs of one adapter (IBA vol. 1, 17.2; Annex A14): what is sent does not leave
 * the adapter, and nothing of it waits for a timer.
 */
#include <ibex/qp.h>
#include "../device/hca_pair.h"
#include "queue/srq.h"
#include "requester/requester.h"

#define MESSAGES	32
#define LEN		100

static struct hca_pair pair;
static struct ib_xrcd *xrcd;
static struct ib_srq *srq;
static struct ib_cq *recv_cq;
static struct ib_qp *ini, *tgt;
static u8 *out, *in;

static void cq_nothing(struct ib_cq *of, void *context)
{
}

static int objects_create(void)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 64 };
	struct ib_srq_init_attr srq_attr = {
		.attr = { .max_wr = 2 * MESSAGES, .max_sge = 1 },
		.srq_type = IB_SRQT_XRC,
	};

	recv_cq = ib_create_cq(&pair.a.hca->ib, cq_nothing, NULL, NULL, &cq_attr);
	xrcd = ib_alloc_xrcd_user(&pair.a.hca->ib, NULL, NULL);
	if (IS_ERR(recv_cq) || IS_ERR(xrcd))
		return -ENOMEM;
	srq_attr.ext.cq = recv_cq;
	srq_attr.ext.xrc.xrcd = xrcd;
	srq = ib_create_srq(pair.a.pd, &srq_attr);
	return PTR_ERR_OR_ZERO(srq);
}

static int qps_create(void)
{
	struct ib_qp_init_attr attr = { .qp_type = IB_QPT_XRC_TGT, .xrcd = xrcd };

	tgt = ib_create_qp_user(&pair.a.hca->ib, NULL, &attr, NULL, NULL, NULL);
	attr = (struct ib_qp_init_attr){
		.qp_type = IB_QPT_XRC_INI,
		.send_cq = pair.a.cq,
		.cap = { .max_send_wr = 2 * MESSAGES, .max_send_sge = 1 },
	};
	ini = ib_create_qp(pair.a.pd, &attr);
	return PTR_ERR_OR_ZERO(tgt) ?: PTR_ERR_OR_ZERO(ini);
}

static int to_rts(struct ib_qp *qp, u32 peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	bool target = qp->qp_type == IB_QPT_XRC_TGT;
	int mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
	int ret;

	rdma_ah_set_dlid(&attr.ah_attr, pair.a.port->lid);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	ret = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_RTR;
	if (target)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	ret = ret ?: ib_modify_qp(qp, &attr, mask);
	attr.qp_state = IB_QPS_RTS;
	mask = IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT;
	if (!target)
		mask |= IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC;
	return ret ?: ib_modify_qp(qp, &attr, mask);
}

static int same_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	out = hca_buf(test, LEN, 1);
	in = hca_buf(test, LEN, 0);
	return objects_create() ?: qps_create() ?: to_rts(tgt, ini->qp_num) ?:
	       to_rts(ini, tgt->qp_num);
}

static void same_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(ini))
		ib_destroy_qp(ini);
	if (!IS_ERR_OR_NULL(tgt))
		ib_destroy_qp(tgt);
	if (!IS_ERR_OR_NULL(srq))
		ib_destroy_srq(srq);
	if (!IS_ERR_OR_NULL(xrcd))
		ib_dealloc_xrcd_user(xrcd, NULL);
	if (!IS_ERR_OR_NULL(recv_cq))
		ib_destroy_cq(recv_cq);
	ini = NULL;
	tgt = NULL;
	srq = NULL;
	xrcd = NULL;
	recv_cq = NULL;
	hca_pair_exit(&pair);
}

static void post_recv(struct kunit *test)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)in,
		.length = LEN,
		.lkey = pair.a.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	KUNIT_ASSERT_EQ(test, ib_post_srq_recv(srq, &wr, NULL), 0);
}

/* As a process does: a work request of the kernel's cannot name the SRQ. */
static void post_send(struct kunit *test)
{
	struct vib_qp *qp = to_vib_qp(ini);
	struct vib_abi_rc_wqe *wqe = vib_queue_slot(&qp->sq, NULL);

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	*wqe = (struct vib_abi_rc_wqe){
		.opcode = IB_WR_SEND,
		.flags = IB_SEND_SIGNALED,
		.xrc_srqn = srq->ext.xrc.srq_num,
		.num_sge = 1,
	};
	*vib_wqe_sge(wqe) = (struct ib_sge){
		.addr = (uintptr_t)out,
		.length = LEN,
		.lkey = pair.a.pd->local_dma_lkey,
	};
	vib_queue_push(&qp->sq);
	vib_qp_kick(qp->sender);
}

static u64 rc_event(enum vib_rc_event event)
{
	return atomic64_read(&vib_ca_port(pair.a.port)->rc_events[event]);
}

static void expect_completion(struct kunit *test, struct ib_cq *cq, struct ib_qp *qp)
{
	struct ib_wc wc = {};

	KUNIT_ASSERT_TRUE(test, hca_poll(cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, qp);
}

static void expect_no_retries(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rc_event(VIB_RC_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, rc_event(VIB_RC_RNR_NAK), 0);
	KUNIT_EXPECT_EQ(test, rc_event(VIB_RC_DUPLICATE), 0);
	KUNIT_EXPECT_EQ(test, rc_event(VIB_RC_SENT_SEQ_NAK), 0);
}

static void each_message_arrives_at_once(struct kunit *test)
{
	unsigned long begun = jiffies;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		post_recv(test);
		post_send(test);
		expect_completion(test, recv_cq, tgt->real_qp);
		expect_completion(test, pair.a.cq, ini);
		KUNIT_EXPECT_MEMEQ(test, in, out, LEN);
	}
	expect_no_retries(test);
	/* The shortest of the timers would have added more to each. */
	KUNIT_EXPECT_LT(test, took_ms(jiffies - begun), 60);
}

static void many_messages_arrive_at_once(struct kunit *test)
{
	unsigned long begun = jiffies;
	int i;

	for (i = 0; i < MESSAGES; i++)
		post_recv(test);
	for (i = 0; i < MESSAGES; i++)
		post_send(test);
	for (i = 0; i < MESSAGES; i++) {
		expect_completion(test, recv_cq, tgt->real_qp);
		expect_completion(test, pair.a.cq, ini);
	}
	expect_no_retries(test);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - begun), 60);
}

static struct kunit_case same_cases[] = {
	KUNIT_CASE(each_message_arrives_at_once),
	KUNIT_CASE(many_messages_arrive_at_once),
	{}
};

static struct kunit_suite vib_xrc_same_suite = {
	.name = "vib_xrc_same",
	.init = same_test_init,
	.exit = same_test_exit,
	.test_cases = same_cases,
};

kunit_test_suite(vib_xrc_same_suite);
