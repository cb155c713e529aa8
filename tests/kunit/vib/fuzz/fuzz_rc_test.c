// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random requests for responders, of RC, UC and XRC: each moves the connection on, or a counter
 * has it.
 */
#include "../transport/rc_pair.h"
#include "fuzz.h"
#include "queue/srq.h"

#define RECVS		16
#define BATCH		64	/* after so many the replies are taken out of the tap */

static struct rc_pair pair;
static struct fuzz fuzz;
static struct rc_pair_want want;
static struct ib_srq *srq;	/* of XRC */
static struct ib_cq *srq_cq;

static int rc_fuzz_init(struct kunit *test)
{
	want = (struct rc_pair_want){};
	return rc_pair_init(test, &pair);
}

static void rc_fuzz_exit(struct kunit *test)
{
	rc_pair_close(&pair);
	if (!IS_ERR_OR_NULL(srq))
		ib_destroy_srq(srq);
	if (!IS_ERR_OR_NULL(want.xrcd))
		ib_dealloc_xrcd_user(want.xrcd, NULL);
	if (!IS_ERR_OR_NULL(srq_cq))
		ib_destroy_cq(srq_cq);
	srq = NULL;
	srq_cq = NULL;
	rc_pair_exit(&pair);
}

/* ---- the QP ---- */

static void recv_one(void)
{
	u32 len = fuzz_below(&fuzz, 64) ? PAIR_BUF : fuzz_below(&fuzz, PAIR_BUF);
	struct ib_sge sge = {
		.addr = (uintptr_t)pair.in,
		.length = len,
		.lkey = pair.hca.a.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	if (srq)
		ib_post_srq_recv(srq, &wr, NULL);
	else
		rc_pair_recv(&pair, 0, len);
}

static unsigned int poll_all(void)
{
	struct ib_cq *cq = srq ? srq_cq : pair.hca.a.cq;
	unsigned int n = 0;
	struct ib_wc wc;

	while (ib_poll_cq(cq, 1, &wc) > 0)
		n++;
	return n;
}

static void recv_all(void)
{
	unsigned int i, had = srq ? vib_queue_len(&to_vib_srq(srq)->rq.queue) : 0;

	for (i = had; i < RECVS; i++)
		recv_one();
}

static void reopen(struct kunit *test)
{
	poll_all();
	KUNIT_ASSERT_EQ(test, rc_qp_modify(pair.peer.ib, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, rc_pair_connect(&pair, &want), 0);
	poll_all();
	recv_all();
}

static void open_xrc(struct kunit *test)
{
	struct ib_cq_init_attr attr = { .cqe = 64 };
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 2 * RECVS, .max_sge = 1 },
		.srq_type = IB_SRQT_XRC,
	};

	srq_cq = ib_create_cq(&pair.hca.a.hca->ib, NULL, NULL, NULL, &attr);
	want.xrcd = ib_alloc_xrcd_user(&pair.hca.a.hca->ib, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq_cq) || IS_ERR(want.xrcd));
	init.ext.cq = srq_cq;
	init.ext.xrc.xrcd = want.xrcd;
	srq = ib_create_srq(pair.hca.a.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
}

/* ---- what becomes of a packet ---- */

static u64 counted(void)
{
	static const enum vib_rc_event events[] = {
		VIB_RC_DUPLICATE, VIB_RC_SENT_SEQ_NAK, VIB_RC_SENT_RNR_NAK,
		VIB_RC_SENT_ERROR_NAK,
	};
	const struct vib_ca_port *port = vib_ca_port(pair.hca.a.port);
	u64 sum = vib_port_counter(pair.hca.b.port, VIB_XMIT_DISCARDS) +
		  vib_port_counter(pair.hca.a.port, VIB_RCV_ERRORS) +
		  vib_port_counter(pair.hca.a.port, VIB_RCV_DISCARDS);
	unsigned int i;

	for (i = 0; i < VIB_DROPS; i++)
		sum += atomic64_read(&port->drops[i]);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		sum += atomic64_read(&port->rc_events[events[i]]);
	return sum;
}

/*
 * The responder of UC expects what follows the packet that it has dealt with, whichever that
 * was; that of RC what follows the one that it has executed.
 */
static bool moved_on(u32 before)
{
	u32 psn = READ_ONCE(pair.resp->psn);

	if (want.type == IB_QPT_UC)
		return psn == vib_psn_add(vib_packet_psn(&fuzz.last), 1);
	return psn != before;
}

static void arrive(struct kunit *test, struct vib_packet *pkt)
{
	u32 psn = pair.resp->psn;
	u64 before = counted();
	unsigned int completed;

	fuzz_send(&fuzz, pkt);
	completed = poll_all();
	fuzz_expect(&fuzz, counted() != before || moved_on(psn), "neither executed nor counted");
	if (READ_ONCE(pair.peer.qp->state) == IB_QPS_ERR)
		reopen(test);
	else
		while (completed--)
			recv_one();
	if (fuzz.n % BATCH == 0)
		while (!rc_pair_silent(&pair))
			;
}

/* ---- packets that are right, or nearly so ---- */

static u8 next_operation(void)
{
	static const u8 sends[] = {
		IB_OPCODE_SEND_MIDDLE, IB_OPCODE_SEND_LAST, IB_OPCODE_SEND_LAST_WITH_IMMEDIATE,
	};
	static const u8 writes[] = {
		IB_OPCODE_RDMA_WRITE_MIDDLE, IB_OPCODE_RDMA_WRITE_LAST,
		IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE,
	};

	if (pair.resp->message == VIB_MSG_NONE || !fuzz_below(&fuzz, 8))
		return fuzz_below(&fuzz, 32);
	if (pair.resp->message == VIB_MSG_SEND)
		return sends[fuzz_below(&fuzz, ARRAY_SIZE(sends))];
	return pair.resp->left > PAIR_MTU ? writes[0] : writes[1 + fuzz_below(&fuzz, 2)];
}

static u32 next_psn(void)
{
	u32 psn = pair.resp->psn;

	switch (fuzz_below(&fuzz, 16)) {
	case 0:
		return vib_psn_add(psn, 1 + fuzz_below(&fuzz, 4));
	case 1:
	case 2:
		return vib_psn_add(psn, -1 - fuzz_below(&fuzz, 40));
	case 3:
		return fuzz_edge(&fuzz);
	default:
		return psn;
	}
}

static u32 length_of(const struct vib_op *op)
{
	if (!(op->flags & VIB_OP_PAYLOAD))
		return fuzz_below(&fuzz, 16) ? 0 : 4;
	if (!(op->flags & VIB_OP_LAST) && fuzz_below(&fuzz, 16))
		return PAIR_MTU;
	if (op->flags & VIB_OP_WRITE && !(op->flags & VIB_OP_FIRST) && fuzz_below(&fuzz, 16))
		return min_t(u32, pair.resp->left, PAIR_MTU);
	return fuzz_below(&fuzz, PAIR_MTU + 2);
}

static struct rc_pair_req request(void)
{
	u8 operation = next_operation();
	const struct vib_op *op = vib_op(operation);
	struct rc_pair_req req = {
		.operation = operation,
		.n = vib_psn_add(next_psn(), -PAIR_PSN),
		.len = length_of(op),
		.ack_req = fuzz_below(&fuzz, 2),
		.solicited = fuzz_below(&fuzz, 2),
		.at = 8 * fuzz_below(&fuzz, 64),
		.rkey = fuzz_below(&fuzz, 32) ? 0 : fuzz_edge(&fuzz),
		.swap_add = fuzz_edge(&fuzz),
		.compare = fuzz_edge(&fuzz),
		.ex = fuzz_edge(&fuzz),
		.srqn = srq ? srq->ext.xrc.srq_num : 0,
	};

	if (op->flags & VIB_OP_FIRST && !(op->flags & VIB_OP_LAST))
		req.dma_len = req.len + 1 + fuzz_below(&fuzz, 3 * PAIR_MTU);
	else if (operation == IB_OPCODE_RDMA_READ_REQUEST)
		req.dma_len = fuzz_below(&fuzz, 4 * PAIR_MTU);
	else
		req.dma_len = req.len;
	if (!fuzz_below(&fuzz, 64))
		req.dma_len = fuzz_edge(&fuzz);
	if (!fuzz_below(&fuzz, 64))
		req.at = fuzz_edge(&fuzz);
	return req;
}

static void run(struct kunit *test)
{
	struct vib_packet *pkt;
	struct rc_pair_req req;

	rc_pair_open(test, &pair, &want);
	recv_all();
	fuzz_begin(&fuzz, test, pair.hca.b.port);
	while (fuzz_next(&fuzz)) {
		req = request();
		pkt = rc_pair_packet(test, &pair, &req);
		/* Most of the headers' fields are for the checks before the connection. */
		if (fuzz_below(&fuzz, 2))
			fuzz_change(&fuzz, pkt);
		arrive(test, pkt);
	}
	fuzz_end(&fuzz);
	while (!rc_pair_silent(&pair))
		;
}

/* After all of them it works as before. */
static void expect_works(struct kunit *test)
{
	u32 msn;

	reopen(test);
	while (!rc_pair_silent(&pair))
		;
	msn = pair.resp->msn;
	rc_pair_request(test, &pair, &(struct rc_pair_req){
		.operation = IB_OPCODE_RDMA_WRITE_ONLY, .len = 9, .dma_len = 9,
		.srqn = srq ? srq->ext.xrc.srq_num : 0,
	});
	KUNIT_EXPECT_EQ(test, pair.resp->msn, msn + 1);
}

static void random_requests_for_rc(struct kunit *test)
{
	want.type = IB_QPT_RC;
	run(test);
	expect_works(test);
}

static void random_requests_for_uc(struct kunit *test)
{
	want.type = IB_QPT_UC;
	run(test);
	expect_works(test);
}

static void random_requests_for_xrc(struct kunit *test)
{
	want.type = IB_QPT_XRC_TGT;
	open_xrc(test);
	run(test);
	expect_works(test);
}

static struct kunit_case rc_fuzz_cases[] = {
	KUNIT_CASE_SLOW(random_requests_for_rc),
	KUNIT_CASE_SLOW(random_requests_for_uc),
	KUNIT_CASE_SLOW(random_requests_for_xrc),
	{}
};

static struct kunit_suite vib_fuzz_rc_suite = {
	.name = "vib_fuzz_rc",
	.init = rc_fuzz_init,
	.exit = rc_fuzz_exit,
	.test_cases = rc_fuzz_cases,
};

kunit_test_suite(vib_fuzz_rc_suite);
