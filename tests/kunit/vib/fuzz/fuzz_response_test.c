// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Random responses for requesters, of RC and XRC: each moves the connection on, or a counter
 * has it.
 */
#include "../transport/rc_peer.h"
#include "fuzz.h"

#define OUTSTANDING	6
#define BUF_LEN		(4 * PEER_MTU)
#define BATCH		64

static struct hca_pair pair;
static struct rc_peer peer;
static struct fuzz fuzz;
static struct rc_want want;
static u8 *buf;

static int response_fuzz_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	buf = hca_buf(test, BUF_LEN, 0);
	rc_tap_open(&pair);
	want = (struct rc_want){ .retry_cnt = 7, .rnr_retry = 7, .rd_atomic = 4 };
	return 0;
}

static void response_fuzz_exit(struct kunit *test)
{
	if (peer.ib)
		rc_peer_close(&peer);
	rc_tap_close(&pair);
	hca_pair_exit(&pair);
}

/* ---- requests that wait for responses ---- */

static void post_one(struct kunit *test)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_ATOMIC_CMP_AND_SWP,
	};
	struct rc_wr wr = {
		.opcode = opcodes[fuzz_below(&fuzz, ARRAY_SIZE(opcodes))],
		.buf = buf,
		.len = fuzz_below(&fuzz, BUF_LEN + 1),
	};

	if (wr.opcode == IB_WR_ATOMIC_FETCH_AND_ADD || wr.opcode == IB_WR_ATOMIC_CMP_AND_SWP)
		wr.len = sizeof(u64);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
}

static void post_more(struct kunit *test)
{
	/* Those of XRC name an SRQ, which the kernel's cannot. */
	if (want.type == IB_QPT_XRC_INI)
		return;
	while (vib_queue_len(&peer.qp->sq) < OUTSTANDING)
		post_one(test);
}

static void poll_all(void)
{
	struct ib_wc wc;

	while (ib_poll_cq(pair.a.cq, 1, &wc) > 0)
		;
}

static void reopen(struct kunit *test)
{
	poll_all();
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_RESET), 0);
	KUNIT_ASSERT_EQ(test, rc_qp_to_rts(&pair, peer.ib, &want), 0);
}

/* ---- what becomes of a packet ---- */

static u64 counted(void)
{
	static const enum vib_rc_event events[] = {
		VIB_RC_SEQ_NAK, VIB_RC_IMPLIED_NAK, VIB_RC_RNR_NAK, VIB_RC_DUPLICATE,
		VIB_RC_SENT_SEQ_NAK, VIB_RC_SENT_RNR_NAK, VIB_RC_SENT_ERROR_NAK,
	};
	const struct vib_ca_port *port = vib_ca_port(pair.a.port);
	u64 sum = vib_port_counter(pair.b.port, VIB_XMIT_DISCARDS) +
		  vib_port_counter(pair.a.port, VIB_RCV_ERRORS) +
		  vib_port_counter(pair.a.port, VIB_RCV_DISCARDS);
	unsigned int i;

	for (i = 0; i < VIB_DROPS; i++)
		sum += atomic64_read(&port->drops[i]);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		sum += atomic64_read(&port->rc_events[events[i]]);
	return sum;
}

static void arrive(struct kunit *test, struct vib_packet *pkt)
{
	u32 psn = peer.req->una_psn, una = peer.req->una, rq_psn = peer.qp->rc->resp.psn;
	u64 before = counted();
	bool failed;

	fuzz_send(&fuzz, pkt);
	failed = READ_ONCE(peer.qp->state) == IB_QPS_ERR;
	fuzz_expect(&fuzz, failed || counted() != before || peer.req->una_psn != psn ||
		    peer.req->una != una || peer.qp->rc->resp.psn != rq_psn,
		    "neither taken nor counted");
	poll_all();
	if (failed)
		reopen(test);
	post_more(test);
	if (fuzz.n % BATCH)
		return;
	while (!rc_silent(&peer))
		;
	/* The RNR timer may run. */
	rc_expire(&peer);
}

/* ---- packets that are right, or nearly so ---- */

static u32 next_psn(void)
{
	switch (fuzz_below(&fuzz, 8)) {
	case 0:
		return vib_psn_add(peer.req->una_psn, -1 - fuzz_below(&fuzz, 8));
	case 1:
		return fuzz_edge(&fuzz);
	case 2:
	case 3:
		return vib_psn_add(peer.req->una_psn, fuzz_below(&fuzz, 12));
	default:
		return peer.req->una_psn;
	}
}

/* The response that the oldest request waits for, mostly. */
static u8 next_operation(const struct vib_request *oldest, u32 psn)
{
	bool last = oldest && psn == oldest->last_psn;

	if (!oldest || !fuzz_below(&fuzz, 4))
		return fuzz_below(&fuzz, 32);
	switch (oldest->op->kind) {
	case VIB_WR_READ:
		if (psn == oldest->psn)
			return last ? IB_OPCODE_RDMA_READ_RESPONSE_ONLY :
				      IB_OPCODE_RDMA_READ_RESPONSE_FIRST;
		return last ? IB_OPCODE_RDMA_READ_RESPONSE_LAST :
			      IB_OPCODE_RDMA_READ_RESPONSE_MIDDLE;
	case VIB_WR_ATOMIC:
		return IB_OPCODE_ATOMIC_ACKNOWLEDGE;
	default:
		return IB_OPCODE_ACKNOWLEDGE;
	}
}

static u8 next_syndrome(u8 operation)
{
	static const u8 naks[] = {
		IB_NAK_PSN_ERROR, IB_NAK_PSN_ERROR, IB_NAK_PSN_ERROR, IB_NAK_INVALID_REQUEST,
		IB_NAK_REMOTE_ACCESS_ERROR, IB_NAK_REMOTE_OPERATIONAL_ERROR, IB_RNR_NAK | 1,
		IB_RNR_NAK | 12, 0x40, 0x65, 0x7f, 0x80, 0xff,
	};

	if (operation != IB_OPCODE_ACKNOWLEDGE ? fuzz_below(&fuzz, 16) : fuzz_below(&fuzz, 2))
		return VIB_AETH_UNLIMITED;
	return naks[fuzz_below(&fuzz, ARRAY_SIZE(naks))];
}

static u32 length_of(u8 operation, const struct vib_request *oldest, u32 psn)
{
	u32 done;

	if (!(vib_op(operation)->flags & VIB_OP_PAYLOAD))
		return fuzz_below(&fuzz, 16) ? 0 : 4;
	if (!fuzz_below(&fuzz, 16))
		return fuzz_below(&fuzz, PEER_MTU + 2);
	if (!oldest || !(vib_op(operation)->flags & VIB_OP_LAST))
		return PEER_MTU;
	done = vib_psn_diff(psn, oldest->psn) * PEER_MTU;
	return done <= oldest->len ? min_t(u32, oldest->len - done, PEER_MTU) : PEER_MTU;
}

static struct vib_packet *response(struct kunit *test)
{
	const struct vib_request *oldest = NULL;
	u32 psn = next_psn(), len;
	u8 operation;

	if (vib_requests_pending(peer.req))
		oldest = vib_request_at(peer.qp, peer.req->una);
	if (oldest && !oldest->op)
		oldest = NULL;
	operation = next_operation(oldest, psn);
	len = length_of(operation, oldest, psn);
	return rc_packet(test, &peer, operation, vib_psn_add(psn, -PEER_PSN),
			 (u32)next_syndrome(operation) << IB_AETH_CREDIT_SHIFT |
			 fuzz_below(&fuzz, 100), fuzz_edge(&fuzz), buf, len);
}

static void run(struct kunit *test)
{
	struct vib_packet *pkt;

	rc_peer_open(test, &pair, &peer, &want);
	fuzz_begin(&fuzz, test, pair.b.port);
	post_more(test);
	while (fuzz_next(&fuzz)) {
		pkt = response(test);
		if (fuzz_below(&fuzz, 2))
			fuzz_change(&fuzz, pkt);
		arrive(test, pkt);
	}
	fuzz_end(&fuzz);
	reopen(test);
	while (!rc_silent(&peer))
		;
}

static void random_responses_for_rc(struct kunit *test)
{
	want.type = IB_QPT_RC;
	run(test);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = IB_WR_SEND }), 0);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
}

static void random_responses_for_xrc(struct kunit *test)
{
	want.type = IB_QPT_XRC_INI;
	run(test);
}

static struct kunit_case response_fuzz_cases[] = {
	KUNIT_CASE_SLOW(random_responses_for_rc),
	KUNIT_CASE_SLOW(random_responses_for_xrc),
	{}
};

static struct kunit_suite vib_fuzz_response_suite = {
	.name = "vib_fuzz_response",
	.init = response_fuzz_init,
	.exit = response_fuzz_exit,
	.test_cases = response_fuzz_cases,
};

kunit_test_suite(vib_fuzz_response_suite);
