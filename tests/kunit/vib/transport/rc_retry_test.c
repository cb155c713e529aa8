// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sending again (IBA vol. 1, 9.7.5.2.8, 9.7.6.1.3, 9.9.2.1): what the timer does when it is
 * over, which the suite says, and what NAKs do.
 */
#include "rc_peer.h"

static struct hca_pair pair;
static struct rc_peer peer;
static u8 *buf;

#define LONG_TIMEOUT	31	/* 2.4 hours: it is over when the suite says so */

static int retry_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	buf = hca_buf(test, 1024, 1);
	rc_tap_open(&pair);
	return 0;
}

static void retry_exit(struct kunit *test)
{
	rc_peer_close(&peer);
	rc_tap_close(&pair);
	hca_pair_exit(&pair);
}

static void open_rc(struct kunit *test, u8 retry_cnt, u8 rnr_retry)
{
	rc_peer_open(test, &pair, &peer, &(struct rc_want){
		.timeout = LONG_TIMEOUT, .retry_cnt = retry_cnt, .rnr_retry = rnr_retry });
}

static void post(struct kunit *test, enum ib_wr_opcode opcode, u32 len, u64 wr_id)
{
	KUNIT_ASSERT_EQ(test, rc_post(&peer, &(struct rc_wr){ .opcode = opcode, .buf = buf,
				      .len = len, .wr_id = wr_id }), 0);
}

/* ---- the retry timer ---- */

static void what_is_not_acknowledged_is_sent_again(struct kunit *test)
{
	open_rc(test, 2, 0);
	post(test, IB_WR_SEND, 300, 1);
	post(test, IB_WR_RDMA_WRITE, 10, 2);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_FIRST, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_LAST, 1));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_WRITE_ONLY, 2));
	KUNIT_EXPECT_NE(test, peer.req->deadline, 0);
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_FIRST, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_LAST, 1));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_WRITE_ONLY, 2));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	KUNIT_EXPECT_EQ(test, rc_events(&peer, VIB_RC_TIMEOUT), 1);
	/* From the middle of a message on. */
	rc_ack(test, &peer, 0);
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_LAST, 1));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_RDMA_WRITE_ONLY, 2));
}

static void an_ack_gives_the_peer_another_interval(struct kunit *test)
{
	open_rc(test, 1, 0);
	post(test, IB_WR_SEND, 10, 1);
	post(test, IB_WR_SEND, 10, 2);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 1));
	rc_ack(test, &peer, 0);
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	KUNIT_EXPECT_NE(test, peer.req->deadline, 0);
	rc_ack(test, &peer, 1);
	rc_expire(&peer);
	KUNIT_EXPECT_EQ(test, peer.req->deadline, 0);
	KUNIT_EXPECT_EQ(test, rc_events(&peer, VIB_RC_TIMEOUT), 0);
}

static void a_timeout_of_0_is_none(struct kunit *test)
{
	rc_peer_open(test, &pair, &peer, &(struct rc_want){});
	post(test, IB_WR_SEND, 10, 1);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_EQ(test, peer.req->deadline, 0);
}

static void retries_are_used_up_and_all_is_flushed(struct kunit *test)
{
	int i;

	open_rc(test, 3, 0);
	post(test, IB_WR_SEND, 10, 1);
	post(test, IB_WR_RDMA_READ, 10, 2);
	for (i = 0; i < 3; i++) {
		rc_expire(&peer);
		KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
	}
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_RETRY_EXC_ERR));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, peer.req->deadline, 0);
}

static void a_sign_of_life_gives_all_retries_back(struct kunit *test)
{
	int i;

	open_rc(test, 1, 0);
	for (i = 0; i < 5; i++)
		post(test, IB_WR_SEND, 10, i);
	for (i = 0; i < 5; i++) {
		/* After an ACK the first time it is over is none. */
		if (i)
			rc_expire(&peer);
		rc_expire(&peer);
		rc_ack(test, &peer, i);
		KUNIT_EXPECT_TRUE(test, rc_completed(&peer, i, IB_WC_SUCCESS));
	}
}

/* The real one, of 4 ms: the work that it queues is the one that looks at it. */
static void the_timer_runs(struct kunit *test)
{
	rc_peer_open(test, &pair, &peer, &(struct rc_want){ .timeout = 10, .retry_cnt = 2 });
	post(test, IB_WR_SEND, 10, 1);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_RETRY_EXC_ERR));
	KUNIT_EXPECT_EQ(test, rc_events(&peer, VIB_RC_TIMEOUT), 3);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
}

static void one_that_was_started_anew_is_not_over(struct kunit *test)
{
	open_rc(test, 1, 0);
	post(test, IB_WR_SEND, 10, 1);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	WRITE_ONCE(peer.req->timer_over, true);
	vib_qp_kick(&peer.qp->recv_work);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(peer.req->timer_over));
}

/* ---- late and lost ---- */

static void what_is_acknowledged_late_is_not_sent_again(struct kunit *test)
{
	open_rc(test, 3, 0);
	post(test, IB_WR_SEND, 10, 1);
	post(test, IB_WR_SEND, 10, 2);
	while (!rc_silent(&peer))
		;
	/* The work is stopped between going back and sending. */
	disable_work_sync(&peer.qp->recv_work);
	vib_requester_expired(peer.qp);
	KUNIT_EXPECT_EQ(test, peer.req->send_psn, PSN(0));
	enable_work(&peer.qp->recv_work);
	rc_arrive(&peer, rc_packet(test, &peer, IB_OPCODE_ACKNOWLEDGE, 1, 0x1f000000, 0, NULL,
				   0));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	post(test, IB_WR_SEND, 10, 3);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 2));
}

static void a_sequence_nak_goes_back_to_what_is_missing(struct kunit *test)
{
	int i;

	open_rc(test, 2, 0);
	for (i = 0; i < 3; i++)
		post(test, IB_WR_SEND, 10, i);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, i));
	rc_nak(test, &peer, 1, IB_NAK_PSN_ERROR);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 0, IB_WC_SUCCESS));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 1));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 2));
	/* Without an end of it the retries are. */
	rc_nak(test, &peer, 1, IB_NAK_PSN_ERROR);
	rc_nak(test, &peer, 1, IB_NAK_PSN_ERROR);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_RETRY_EXC_ERR));
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 2, IB_WC_WR_FLUSH_ERR));
}

/* ---- not ready ---- */

static void the_times_of_table_46(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vib_rnr_ns(0), 655360000);
	KUNIT_EXPECT_EQ(test, vib_rnr_ns(1), 10000);
	KUNIT_EXPECT_EQ(test, vib_rnr_ns(5), 60000);
	KUNIT_EXPECT_EQ(test, vib_rnr_ns(12), 640000);
	KUNIT_EXPECT_EQ(test, vib_rnr_ns(14), 1280000);
	KUNIT_EXPECT_EQ(test, vib_rnr_ns(20), 10240000);
	KUNIT_EXPECT_EQ(test, vib_rnr_ns(31), 491520000);
}

static void an_rnr_nak_stops_all_for_its_time(struct kunit *test)
{
	open_rc(test, 0, 3);
	post(test, IB_WR_SEND, 10, 1);
	post(test, IB_WR_SEND, 10, 2);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 0));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 1));
	rc_nak(test, &peer, 1, IB_RNR_NAK);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
	/* One that says it again changes nothing. */
	rc_nak(test, &peer, 1, IB_RNR_NAK);
	KUNIT_EXPECT_EQ(test, peer.req->rnr_retries, 2);
	post(test, IB_WR_SEND, 10, 3);
	KUNIT_EXPECT_TRUE(test, rc_silent(&peer));
	rc_expire(&peer);
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 1));
	KUNIT_EXPECT_TRUE(test, rc_saw(&peer, IB_OPCODE_SEND_ONLY, 2));
	KUNIT_EXPECT_EQ(test, rc_events(&peer, VIB_RC_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, rc_events(&peer, VIB_RC_RNR_NAK), 2);
}

static void rnr_retries_are_used_up(struct kunit *test)
{
	int i;

	open_rc(test, 0, 2);
	post(test, IB_WR_SEND, 10, 1);
	for (i = 0; i < 2; i++) {
		rc_nak(test, &peer, 0, IB_RNR_NAK);
		KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
		rc_expire(&peer);
	}
	rc_nak(test, &peer, 0, IB_RNR_NAK);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_RNR_RETRY_EXC_ERR));
	KUNIT_EXPECT_EQ(test, hca_qp_state(peer.ib), IB_QPS_ERR);
}

static void seven_rnr_retries_are_any_number(struct kunit *test)
{
	int i;

	open_rc(test, 0, 7);
	post(test, IB_WR_SEND, 10, 1);
	for (i = 0; i < 20; i++) {
		rc_nak(test, &peer, 0, IB_RNR_NAK);
		rc_expire(&peer);
	}
	rc_ack(test, &peer, 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_SUCCESS));
}

/* ---- the end ---- */

static void no_timer_outlives_the_connection(struct kunit *test)
{
	open_rc(test, 3, 3);
	post(test, IB_WR_SEND, 10, 1);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&peer.req->timer));
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_ERR), 0);
	KUNIT_EXPECT_TRUE(test, rc_completed(&peer, 1, IB_WC_WR_FLUSH_ERR));
	KUNIT_EXPECT_EQ(test, peer.req->deadline, 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&peer.req->timer));
	rc_peer_close(&peer);

	open_rc(test, 3, 3);
	post(test, IB_WR_SEND, 10, 1);
	rc_nak(test, &peer, 0, IB_RNR_NAK);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&peer.req->timer));
	KUNIT_ASSERT_EQ(test, rc_qp_modify(peer.ib, IB_QPS_RESET), 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&peer.req->timer));
	KUNIT_EXPECT_FALSE(test, peer.req->rnr_wait);
	KUNIT_EXPECT_TRUE(test, hca_nothing(pair.a.cq));
}

static struct kunit_case retry_cases[] = {
	KUNIT_CASE(what_is_not_acknowledged_is_sent_again),
	KUNIT_CASE(an_ack_gives_the_peer_another_interval),
	KUNIT_CASE(a_timeout_of_0_is_none),
	KUNIT_CASE(retries_are_used_up_and_all_is_flushed),
	KUNIT_CASE(a_sign_of_life_gives_all_retries_back),
	KUNIT_CASE(the_timer_runs),
	KUNIT_CASE(one_that_was_started_anew_is_not_over),
	KUNIT_CASE(what_is_acknowledged_late_is_not_sent_again),
	KUNIT_CASE(a_sequence_nak_goes_back_to_what_is_missing),
	KUNIT_CASE(the_times_of_table_46),
	KUNIT_CASE(an_rnr_nak_stops_all_for_its_time),
	KUNIT_CASE(rnr_retries_are_used_up),
	KUNIT_CASE(seven_rnr_retries_are_any_number),
	KUNIT_CASE(no_timer_outlives_the_connection),
	{}
};

static struct kunit_suite vib_rc_retry_suite = {
	.name = "vib_rc_retry",
	.init = retry_init,
	.exit = retry_exit,
	.test_cases = retry_cases,
};

kunit_test_suite(vib_rc_retry_suite);
