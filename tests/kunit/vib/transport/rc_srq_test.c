// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Connections that receive by shared receive queues (IBA vol. 1, 10.2.9), among them XRC
 * targets, whose packets name the SRQ (Annex A14).
 */
#include <ibex/qp.h>
#include "faults.h"
#include "queue/srq.h"
#include "rc_pair.h"

static struct rc_pair pair;
static struct ib_xrcd *xrcd, *other_xrcd;
static struct ib_srq *srq, *other_srq;	/* other_srq: in other_xrcd */
static struct ib_cq *cq;		/* of both, if they are XRC's */

#define OP(name)	IB_OPCODE_##name
#define REQ(...)	rc_pair_request(test, &pair, &(struct rc_pair_req){ __VA_ARGS__ })
#define MTU		PAIR_MTU

static struct ib_srq *make_srq(struct kunit *test, struct ib_xrcd *domain)
{
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 8, .max_sge = 1 },
		.srq_type = domain ? IB_SRQT_XRC : IB_SRQT_BASIC,
	};
	struct ib_srq *made;

	if (domain) {
		init.ext.cq = cq;
		init.ext.xrc.xrcd = domain;
	}
	made = ib_create_srq(pair.hca.a.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(made));
	return made;
}

static void cq_nothing(struct ib_cq *of, void *context)
{
}

static int srq_init(struct kunit *test)
{
	struct ib_cq_init_attr attr = { .cqe = 64 };
	int ret = rc_pair_init(test, &pair);

	if (ret)
		return ret;
	cq = ib_create_cq(&pair.hca.a.hca->ib, cq_nothing, NULL, NULL, &attr);
	xrcd = ib_alloc_xrcd_user(&pair.hca.a.hca->ib, NULL, NULL);
	other_xrcd = ib_alloc_xrcd_user(&pair.hca.a.hca->ib, NULL, NULL);
	if (IS_ERR(cq) || IS_ERR(xrcd) || IS_ERR(other_xrcd))
		return -ENOMEM;
	return 0;
}

static void destroy_srqs(void)
{
	if (srq)
		ib_destroy_srq(srq);
	if (other_srq)
		ib_destroy_srq(other_srq);
	srq = NULL;
	other_srq = NULL;
}

static void srq_exit(struct kunit *test)
{
	rc_pair_close(&pair);
	destroy_srqs();
	if (!IS_ERR_OR_NULL(xrcd))
		ib_dealloc_xrcd_user(xrcd, NULL);
	if (!IS_ERR_OR_NULL(other_xrcd))
		ib_dealloc_xrcd_user(other_xrcd, NULL);
	if (!IS_ERR_OR_NULL(cq))
		ib_destroy_cq(cq);
	xrcd = NULL;
	other_xrcd = NULL;
	cq = NULL;
	rc_pair_exit(&pair);
}

static void open_basic(struct kunit *test)
{
	srq = make_srq(test, NULL);
	rc_pair_open(test, &pair, &(struct rc_pair_want){ .srq = srq });
}

static void open_target(struct kunit *test)
{
	srq = make_srq(test, xrcd);
	other_srq = make_srq(test, other_xrcd);
	rc_pair_open(test, &pair,
		     &(struct rc_pair_want){ .type = IB_QPT_XRC_TGT, .xrcd = xrcd });
}

static void post(struct kunit *test, struct ib_srq *to, u64 wr_id)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)pair.in,
		.length = PAIR_BUF,
		.lkey = pair.hca.a.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	KUNIT_ASSERT_EQ(test, ib_post_srq_recv(to, &wr, NULL), 0);
}

static u32 number(const struct ib_srq *of)
{
	return of->ext.xrc.srq_num;
}

static void expect_refused(struct kunit *test, u32 n, u8 syndrome)
{
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, n, syndrome));
	KUNIT_EXPECT_EQ(test, rc_pair_state(&pair), IB_QPS_ERR);
	KUNIT_EXPECT_TRUE(test, rc_pair_silent(&pair));
}

/* The next completion of the CQ of the XRC SRQs; all zeroes if there is none. */
static struct ib_wc xrc_wc(void)
{
	struct ib_wc wc = {};

	if (!hca_nothing(pair.hca.a.cq) || ib_poll_cq(cq, 1, &wc) != 1)
		memset(&wc, 0, sizeof(wc));
	return wc;
}

/* ---- basic ---- */

static void a_message_takes_a_request_of_the_srq(struct kunit *test)
{
	struct ib_wc wc;

	open_basic(test);
	REQ(.operation = OP(SEND_ONLY), .n = 0, .len = 4);
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 0, IB_RNR_NAK | PAIR_RNR_TIMER));
	post(test, srq, 7);
	REQ(.operation = OP(SEND_ONLY), .n = 0, .len = 4);
	wc = rc_pair_wc(&pair);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 7);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, pair.peer.ib);
	KUNIT_EXPECT_MEMEQ(test, pair.in, pair.out, 4);
}

/* What the QP has taken is flushed; what it has not stays for others (11.6.3). */
static void in_error_the_srq_is_left_alone(struct kunit *test)
{
	struct ib_wc wc;

	open_basic(test);
	post(test, srq, 1);
	post(test, srq, 2);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_LAST_WQE_REACHED), 0);
	REQ(.operation = OP(RDMA_WRITE_MIDDLE), .n = 1, .len = MTU);
	expect_refused(test, 1, IB_NAK_INVALID_REQUEST);
	wc = rc_pair_wc(&pair);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, rc_pair_wc(&pair).qp, NULL);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_LAST_WQE_REACHED), 1);
	vib_qp_kick(&pair.peer.qp->recv_work);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_LAST_WQE_REACHED), 1);
	KUNIT_EXPECT_EQ(test, vib_queue_len(&to_vib_srq(srq)->rq.queue), 1);
}

/* ---- XRC ---- */

static void a_packet_names_its_srq(struct kunit *test)
{
	struct ib_wc wc;

	open_target(test);
	post(test, srq, 3);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU, .srqn = number(srq));
	REQ(.operation = OP(SEND_LAST_WITH_IMMEDIATE), .n = 1, .len = 5, .from = MTU, .ex = 8,
	    .srqn = number(srq));
	wc = xrc_wc();
	KUNIT_EXPECT_EQ(test, wc.wr_id, 3);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, wc.byte_len, MTU + 5);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_IMM);
	KUNIT_EXPECT_MEMEQ(test, pair.in, pair.out, MTU + 5);
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 1, 1));
	KUNIT_EXPECT_PTR_EQ(test, pair.peer.qp->srq, NULL);
	REQ(.operation = OP(SEND_ONLY), .n = 2, .srqn = number(srq));
	KUNIT_EXPECT_TRUE(test, rc_pair_naked(&pair, 2, IB_RNR_NAK | PAIR_RNR_TIMER));
}

/* The peer may use the memory of the SRQ's protection domain. */
static void memory_is_the_srqs(struct kunit *test)
{
	struct rc_pair_reply reply = {};

	open_target(test);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0, .len = 9, .dma_len = 9,
	    .srqn = number(srq));
	KUNIT_EXPECT_TRUE(test, rc_pair_acked(&pair, 0, 1));
	KUNIT_EXPECT_MEMEQ(test, region_byte(&pair.region, 0), pair.out, 9);
	REQ(.operation = OP(RDMA_READ_REQUEST), .n = 1, .dma_len = 9, .srqn = number(srq));
	KUNIT_ASSERT_TRUE(test, rc_pair_reply(&pair, &reply));
	KUNIT_EXPECT_EQ(test, reply.operation, OP(RDMA_READ_RESPONSE_ONLY));
	KUNIT_EXPECT_EQ(test, reply.len, 9);
	REQ(.operation = OP(FETCH_ADD), .n = 2, .at = 64, .srqn = number(srq));
	KUNIT_ASSERT_TRUE(test, rc_pair_reply(&pair, &reply));
	KUNIT_EXPECT_EQ(test, reply.operation, OP(ATOMIC_ACKNOWLEDGE));
	KUNIT_EXPECT_PTR_EQ(test, pair.peer.qp->srq, NULL);
}

static void the_srq_must_be_of_the_domain(struct kunit *test)
{
	open_target(test);
	post(test, other_srq, 1);
	REQ(.operation = OP(SEND_ONLY), .n = 0, .srqn = number(other_srq));
	expect_refused(test, 0, IB_NAK_INVALID_REQUEST);
	KUNIT_EXPECT_EQ(test, rc_pair_events(&pair, IB_EVENT_QP_REQ_ERR), 1);
	rc_pair_close(&pair);
	destroy_srqs();

	open_target(test);
	REQ(.operation = OP(RDMA_WRITE_ONLY), .n = 0, .srqn = 0);
	expect_refused(test, 0, IB_NAK_INVALID_REQUEST);
}

static void a_message_is_for_one_srq(struct kunit *test)
{
	struct ib_srq *third;
	struct ib_wc wc;

	open_target(test);
	third = make_srq(test, xrcd);
	post(test, srq, 1);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU, .srqn = number(srq));
	REQ(.operation = OP(SEND_LAST), .n = 1, .len = MTU, .srqn = number(third));
	expect_refused(test, 1, IB_NAK_INVALID_REQUEST);
	wc = xrc_wc();
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1);
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_WR_FLUSH_ERR);
	ib_destroy_srq(third);
}

/* With the SRQ its receive request is gone, which the message had taken. */
static void an_srq_may_go_within_a_message(struct kunit *test)
{
	u32 srqn;

	open_target(test);
	post(test, srq, 1);
	srqn = number(srq);
	REQ(.operation = OP(SEND_FIRST), .n = 0, .len = MTU, .srqn = srqn);
	ib_destroy_srq(srq);
	srq = NULL;
	REQ(.operation = OP(SEND_LAST), .n = 1, .len = MTU, .srqn = srqn);
	expect_refused(test, 1, IB_NAK_INVALID_REQUEST);
	KUNIT_EXPECT_PTR_EQ(test, xrc_wc().qp, NULL);
}

static void an_srq_may_go_before_a_response(struct kunit *test)
{
	open_target(test);
	rc_pair_stop_port(&pair);
	REQ(.operation = OP(RDMA_READ_REQUEST), .n = 0, .dma_len = 9, .srqn = number(srq));
	ib_destroy_srq(srq);
	srq = NULL;
	rc_pair_start_port(&pair);
	expect_refused(test, 0, IB_NAK_REMOTE_ACCESS_ERROR);
}

static int make_target(struct kunit *test)
{
	struct ib_qp_init_attr init = { .qp_type = IB_QPT_XRC_TGT, .xrcd = xrcd };
	struct ib_qp *qp;

	qp = ib_create_qp_user(&pair.hca.a.hca->ib, NULL, &init, NULL, NULL, NULL);
	return IS_ERR(qp) ? PTR_ERR(qp) : ib_destroy_qp(qp);
}

/* The core may have no memory for what it adds to one that the provider has made. */
static void a_target_that_the_core_cannot_finish_is_destroyed(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, make_target), 3);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(a_message_takes_a_request_of_the_srq),
	KUNIT_CASE(in_error_the_srq_is_left_alone),
	KUNIT_CASE(a_packet_names_its_srq),
	KUNIT_CASE(memory_is_the_srqs),
	KUNIT_CASE(the_srq_must_be_of_the_domain),
	KUNIT_CASE(a_message_is_for_one_srq),
	KUNIT_CASE(an_srq_may_go_within_a_message),
	KUNIT_CASE(an_srq_may_go_before_a_response),
	KUNIT_CASE(a_target_that_the_core_cannot_finish_is_destroyed),
	{}
};

static struct kunit_suite vib_rc_srq_suite = {
	.name = "vib_rc_srq",
	.init = srq_init,
	.exit = srq_exit,
	.test_cases = srq_cases,
};

kunit_test_suite(vib_rc_srq_suite);
