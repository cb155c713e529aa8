// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Packets that an adapter has no memory for: they are lost as on their way, and counted.  What
 * is datagrams' is lost for good; connections send it again.
 */
#include "../transport/rc_pair.h"
#include "faults.h"

static struct rc_pair pair;	/* its QP responds */
static struct rc_peer peer;	/* requests */
static struct ib_qp *members[2];
static u8 *buf;

static int packet_alloc_init(struct kunit *test)
{
	int ret = rc_pair_init(test, &pair);

	if (ret)
		return ret;
	buf = hca_buf(test, 4096, 0);
	return 0;
}

static void packet_alloc_exit(struct kunit *test)
{
	unsigned int i;

	if (peer.ib)
		rc_peer_close(&peer);
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		if (!IS_ERR_OR_NULL(members[i]))
			ib_destroy_qp(members[i]);
		members[i] = NULL;
	}
	rc_pair_exit(&pair);
}

static u64 without_memory(struct hca_side *side)
{
	return hca_dropped(side, VIB_DROP_NO_MEMORY);
}

/*
 * Runs @work, which is disabled, in this task, in which allocations can be made to fail, as they
 * cannot in softirqs: the @nth does.  Whether there were so many.
 */
static bool run_without(struct work_struct *work, unsigned int nth)
{
	bool failed;

	local_bh_disable();
	current->fail_nth = nth;
	work->func(work);
	failed = !current->fail_nth;
	current->fail_nth = 0;
	local_bh_enable();
	return failed;
}

/* ---- datagrams ---- */

static void a_datagram_that_cannot_be_posted(struct kunit *test)
{
	struct ib_qp *qp = hca_qp_rts(test, &pair.hca.a);
	struct ib_ah *ah = hca_ah(test, &pair.hca.a, pair.hca.b.port->lid);
	int ret;

	members[0] = qp;
	current->fail_nth = 1;
	ret = hca_send(qp, &pair.hca.a, ah, 5, buf, 100);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.hca.a.cq));
	KUNIT_EXPECT_EQ(test, hca_send(qp, &pair.hca.a, ah, 5, buf, 100), 0);
	rdma_destroy_ah(ah, 0);
}

static void a_datagram_that_cannot_be_sent(struct kunit *test)
{
	struct ib_qp *qp = hca_qp_rts(test, &pair.hca.a);
	struct ib_ah *ah = hca_ah(test, &pair.hca.a, pair.hca.b.port->lid);
	struct vib_qp *vqp = to_vib_qp(qp);
	struct ib_wc wc = {};

	members[0] = qp;
	disable_work_sync(&vqp->send_work);
	KUNIT_ASSERT_EQ(test, hca_send(qp, &pair.hca.a, ah, 5, buf, 100), 0);
	KUNIT_EXPECT_TRUE(test, run_without(&vqp->send_work, 1));
	enable_work(&vqp->send_work);
	KUNIT_EXPECT_EQ(test, without_memory(&pair.hca.a), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(pair.hca.a.port, VIB_XMIT_PKTS), 0);
	KUNIT_ASSERT_TRUE(test, hca_poll(pair.hca.a.cq, &wc));
	KUNIT_EXPECT_EQ(test, wc.status, IB_WC_SUCCESS);
	rdma_destroy_ah(ah, 0);
}

static unsigned int poll_all(struct ib_cq *cq)
{
	unsigned int n = 0;
	struct ib_wc wc;

	int i;

	for (i = 0; i < 4; i++)
		flush_workqueue(vib_wq);
	while (ib_poll_cq(cq, 1, &wc) > 0)
		n++;
	return n;
}

/*
 * For the members of its group at its own port; those elsewhere get it.  Of a datagram one
 * goes by the link, and one to each of two members: how many do not?
 */
static void a_copy_that_cannot_be_made(struct kunit *test)
{
	struct ib_qp *qp = hca_qp_rts(test, &pair.hca.a);
	struct ib_ah *ah = hca_ah(test, &pair.hca.a, PAIR_MLID);
	struct vib_qp *vqp = to_vib_qp(qp);
	unsigned int i, nth, missing, incomplete = 0;
	union ib_gid mgid = hca_mgid(1);
	bool failed = true;
	u64 before, packets;

	members[0] = qp;
	members[1] = hca_qp_rts(test, &pair.hca.a);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, ib_attach_mcast(members[i], &mgid, PAIR_MLID), 0);
	for (nth = 1; failed; nth++) {
		for (i = 0; i < 2; i++)
			KUNIT_ASSERT_EQ(test, hca_recv(members[i], &pair.hca.a, buf, 4096, 0), 0);
		before = without_memory(&pair.hca.a);
		packets = vib_port_counter(pair.hca.a.port, VIB_XMIT_PKTS);
		disable_work_sync(&vqp->send_work);
		KUNIT_ASSERT_EQ(test, hca_send(qp, &pair.hca.a, ah, IB_MULTICAST_QPN, buf, 9), 0);
		failed = run_without(&vqp->send_work, nth);
		enable_work(&vqp->send_work);
		/* The completion of the send is another. */
		missing = 4 - poll_all(pair.hca.a.cq) + packets -
			  vib_port_counter(pair.hca.a.port, VIB_XMIT_PKTS);
		KUNIT_EXPECT_EQ_MSG(test, without_memory(&pair.hca.a) - before, !!missing,
				    "%u missing", missing);
		incomplete += !!missing;
		for (i = 0; i < 2; i++) {
			KUNIT_ASSERT_EQ(test, hca_qp_modify(members[i], IB_QPS_RESET), 0);
			KUNIT_ASSERT_EQ(test, hca_qp_to(members[i], IB_QPS_RTS), 0);
		}
	}
	/* The packet, the copy for the port, the copy for one of the members */
	KUNIT_EXPECT_EQ(test, incomplete, 3);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ib_detach_mcast(members[i], &mgid, PAIR_MLID), 0);
	rdma_destroy_ah(ah, 0);
}

/* ---- requests ---- */

/* Posts @template, and sends it with the @nth allocation failing. */
static bool request_without(struct kunit *test, const struct rc_wr *template, unsigned int nth)
{
	struct rc_wr wr = *template;
	bool failed;

	wr.buf = buf;
	disable_work_sync(&peer.qp->recv_work);
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &wr), 0);
	failed = run_without(&peer.qp->recv_work, nth);
	enable_work(&peer.qp->recv_work);
	return failed;
}

static void a_request_is_sent_again(struct kunit *test)
{
	static const struct rc_wr wrs[] = {
		{ .opcode = IB_WR_SEND, .len = 100 },
		{ .opcode = IB_WR_RDMA_READ, .len = 100 },
		{ .opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .len = 8 },
	};
	struct rc_want want = { .retry_cnt = 7, .timeout = 14 };
	unsigned int i, nth, lost = 0;
	bool failed;

	for (i = 0; i < ARRAY_SIZE(wrs); i++) {
		for (nth = 1, failed = true; failed; nth++) {
			rc_peer_open(test, &pair.hca, &peer, &want);
			failed = request_without(test, &wrs[i], nth);
			if (rc_silent(&peer)) {
				lost++;
				rc_expire(&peer);
				KUNIT_EXPECT_FALSE(test, rc_silent(&peer));
			}
			KUNIT_EXPECT_EQ(test, without_memory(&pair.hca.a), lost);
			rc_peer_close(&peer);
		}
	}
	/* A packet for each, and a payload */
	KUNIT_EXPECT_EQ(test, lost, 4);
}

/* ---- replies ---- */

/* Has @req arrive, and lets it be answered with the @nth allocation failing. */
static bool answer_without(struct kunit *test, const struct rc_pair_req *req, unsigned int nth)
{
	struct work_struct *work = &pair.peer.qp->recv_work;
	bool failed;

	KUNIT_ASSERT_EQ(test, rc_pair_recv(&pair, 1, PAIR_BUF), 0);
	disable_work_sync(work);
	rc_pair_request(test, &pair, req);
	failed = run_without(work, nth);
	enable_work(work);
	return failed;
}

/* The answer to @req is lost for the want of @least allocations, one by one. */
static void expect_lost(struct kunit *test, const struct rc_pair_req *req, unsigned int least)
{
	u64 before = without_memory(&pair.hca.a);
	unsigned int nth, lost = 0;
	bool failed = true;

	for (nth = 1; failed; nth++) {
		rc_pair_open(test, &pair, &(struct rc_pair_want){});
		failed = answer_without(test, req, nth);
		if (rc_pair_silent(&pair)) {
			lost++;
			/* The requester asks again. */
			rc_pair_request(test, &pair, req);
			KUNIT_EXPECT_FALSE(test, rc_pair_silent(&pair));
		}
		KUNIT_EXPECT_EQ(test, without_memory(&pair.hca.a), before + lost);
		rc_pair_close(&pair);
	}
	KUNIT_EXPECT_EQ(test, lost, least);
}

static void a_reply_is_sent_when_it_is_asked_for_again(struct kunit *test)
{
	const struct rc_pair_req send = { .operation = IB_OPCODE_SEND_ONLY, .len = 9 };
	const struct rc_pair_req read = {
		.operation = IB_OPCODE_RDMA_READ_REQUEST, .dma_len = 9,
	};
	const struct rc_pair_req atomic = { .operation = IB_OPCODE_FETCH_ADD };

	expect_lost(test, &send, 1);
	/* The data, and the packet */
	expect_lost(test, &read, 2);
	expect_lost(test, &atomic, 1);
}

static struct kunit_case packet_alloc_cases[] = {
	KUNIT_CASE(a_datagram_that_cannot_be_posted),
	KUNIT_CASE(a_datagram_that_cannot_be_sent),
	KUNIT_CASE(a_copy_that_cannot_be_made),
	KUNIT_CASE(a_request_is_sent_again),
	KUNIT_CASE(a_reply_is_sent_when_it_is_asked_for_again),
	{}
};

static struct kunit_suite vib_alloc_packet_suite = {
	.name = "vib_alloc_packet",
	.init = packet_alloc_init,
	.exit = packet_alloc_exit,
	.test_cases = packet_alloc_cases,
};

kunit_test_suite(vib_alloc_packet_suite);
