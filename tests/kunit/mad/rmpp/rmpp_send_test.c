// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Sending transfers: valid and invalid ACKs, ends of all kinds, address handles. */
#include <rdma/ib_sa.h>
#include "faults.h"
#include "rmpp_peer.h"
#include "wait.h"

#define INFLIGHT	8	/* IBMAD_RMPP_INFLIGHT */
#define ACK_MS		2000	/* IBMAD_RMPP_ACK_MS: if no response is expected */

static void control(u8 type, u8 status, u32 seg, u32 window)
{
	peer_send(&(struct peer_mad){
		.whole_tid = peer_seen.tid, .type = type, .status = status,
		.method = IB_MGMT_METHOD_SEND | IB_MGMT_METHOD_RESP,
		.seg = seg, .paylen_newwin = window,
	});
}

static void ack(u32 seg, u32 window)
{
	control(IB_MGMT_RMPP_TYPE_ACK, 0, seg, window);
}

/* Begins a transfer of @segments, none of which is acknowledged. */
static void start(struct kunit *test, int segments, u32 timeout_ms, int retries)
{
	peer_seen.data_seg = 0;
	atomic_set(&peer_seen.data, 0);
	atomic_set(&peer_seen.again, 0);
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_SEND, 1,
					segments * PEER_SEG_BYTES, timeout_ms, retries), 0);
	peer_quiesce();
}

static void expect_end(struct kunit *test, int n, enum ib_wc_status status)
{
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, n));
	KUNIT_EXPECT_EQ(test, peer_client.status, status);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(peer_agent)->refs), 1u);
	KUNIT_EXPECT_TRUE(test, list_empty(&to_agent(peer_agent)->sends));
}

static void the_window_is_the_receivers(struct kunit *test)
{
	start(test, 30, 0, 3);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 1u);
	ack(1, 5);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 5u);
	/* An ACK that arrives late does not shrink the window. */
	ack(4, 20);
	ack(3, 10);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 20u);
	ack(20, 0xffffffff);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 30u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.data), 30);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
	ack(30, 30);
	expect_end(test, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_SENT), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	/* An ACK to a transfer that has ended */
	ack(30, 30);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 1);
}

static void a_huge_window_does_not_flood_the_port(struct kunit *test)
{
	start(test, 40, 0, 3);
	peer_hca->hold_send_completions = true;
	ack(1, 0xffffffff);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.data), 1 + INFLIGHT);
	fake_hca_release_completions(peer_hca);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 40u);
	ack(40, 40);
	expect_end(test, 1, IB_WC_SUCCESS);
}

struct bad_ack {
	u32 seg, window;
	u8 status, version;
	u8 why;
};

/* Of a transfer of 10 segments, 5 of which were sent */
static const struct bad_ack bad_acks[] = {
	{ 6, 10, 0, 0, IB_MGMT_RMPP_STATUS_S2B },
	{ 11, 11, 0, 0, IB_MGMT_RMPP_STATUS_S2B },
	{ 0xffffffff, 0xffffffff, 0, 0, IB_MGMT_RMPP_STATUS_S2B },
	{ 4, 3, 0, 0, IB_MGMT_RMPP_STATUS_W2S },
	{ 4, 0, 0, 0, IB_MGMT_RMPP_STATUS_W2S },
	{ 4, 5, 1, 0, IB_MGMT_RMPP_STATUS_BAD_STATUS },
	{ 4, 5, 0, 2, IB_MGMT_RMPP_STATUS_UNV },
};

static void acks_that_cannot_be_true(struct kunit *test)
{
	const struct bad_ack *bad;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad_acks); i++) {
		bad = &bad_acks[i];
		start(test, 10, 0, 3);
		ack(1, 5);
		KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 5u);
		peer_seen.abort_status = 0;
		peer_send(&(struct peer_mad){
			.whole_tid = peer_seen.tid, .type = IB_MGMT_RMPP_TYPE_ACK,
			.method = IB_MGMT_METHOD_SEND | IB_MGMT_METHOD_RESP,
			.seg = bad->seg, .paylen_newwin = bad->window,
			.status = bad->status, .version = bad->version,
		});
		expect_end(test, i + 1, IB_WC_REM_ABORT_ERR);
		KUNIT_EXPECT_EQ_MSG(test, peer_client.vendor_err, bad->why, "ACK %d", i);
		/* The receiver gets an ABORT. */
		KUNIT_EXPECT_EQ_MSG(test, peer_seen.abort_status, bad->why, "ACK %d", i);
		KUNIT_EXPECT_EQ_MSG(test, peer_seen.data_seg, 5u, "ACK %d", i);
	}
}

/* A repeated ACK has only the next segment resent, and only once. */
static void repeated_acks(struct kunit *test)
{
	int i;

	start(test, 20, 0, 3);
	ack(1, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.data), 20);
	ack(7, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 0);
	/* One ACK for each segment behind segment 8 reports the same loss. */
	for (i = 0; i < 13; i++)
		ack(7, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 1);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_RESENT), 1);
	/* One more ACK means that the resent segment was lost, too. */
	ack(7, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 2);
	/* Progress up to another gap: the next missing segment is resent */
	ack(11, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 3);
	ack(19, 20);
	/* No segment was sent behind the next one. */
	ack(19, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 4);
	ack(20, 20);
	expect_end(test, 1, IB_WC_SUCCESS);
}

/* Repeated ACKs report a loss only if segments behind the next one were sent. */
static void repeated_acks_of_no_loss(struct kunit *test)
{
	int i;

	start(test, 20, 0, 3);
	for (i = 0; i < 5; i++)
		ack(0, 1);
	ack(1, 2);
	for (i = 0; i < 5; i++)
		ack(1, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.data), 2);
	ack(2, 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 0);
	ack(20, 20);
	expect_end(test, 1, IB_WC_SUCCESS);
}

/* Each ACK reports a loss: the number of segments resent at once is bounded. */
static void acks_faster_than_the_port(struct kunit *test)
{
	int seg;

	start(test, 60, 0, 3);
	ack(1, 60);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.data), 60);
	peer_hca->hold_send_completions = true;
	ack(1, 60);
	for (seg = 2; seg < 50; seg++)
		ack(seg, 60);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 16);
	fake_hca_release_completions(peer_hca);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
	ack(60, 60);
	expect_end(test, 1, IB_WC_SUCCESS);
}

static void silence_sends_all_again(struct kunit *test)
{
	unsigned long start_time;

	start(test, 10, 300, 2);
	ack(1, 10);
	ack(4, 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.data), 10);
	msleep(400);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 6);
	/* Progress resets the number of tries. */
	ack(6, 10);
	start_time = jiffies;
	expect_end(test, 1, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, peer_client.vendor_err, IB_MGMT_RMPP_STATUS_TMR);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 6 + 2 * 4);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start_time), 500u);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_TIMEOUTS), 1);
}

/* A long response timeout does not apply to ACKs, which have their usual timeout. */
static void a_long_wait_has_many_tries(struct kunit *test)
{
	unsigned long start_time = jiffies;

	start(test, 3, 5 * ACK_MS, 1);
	msleep(ACK_MS + 400);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 1);
	expect_end(test, 1, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 9);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - start_time), 10u * ACK_MS);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_TIMEOUTS), 1);
}

/* ---- behind the sends of others ---- */

static atomic_t flood_sent;

static void flood_done(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	ib_free_send_mad(wc->send_buf);
	atomic_inc(&flood_sent);
}

static struct ib_mad_agent *flood(struct kunit *test)
{
	struct ib_mad_agent *agent;
	struct ib_mad_send_buf *buf;
	int i;

	agent = ib_register_mad_agent(&peer_hca->ibdev, 1, IB_QPT_GSI, NULL, 0,
				      flood_done, NULL, NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	atomic_set(&flood_sent, 0);
	for (i = 0; i < SEND_DEPTH; i++) {
		buf = ib_create_send_mad(agent, 1, 0, 0, IB_MGMT_MAD_HDR,
					 IB_MGMT_MAD_DATA, GFP_KERNEL,
					 IB_MGMT_BASE_VERSION);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
		((struct ib_mad_hdr *)buf->mad)->base_version = IB_MGMT_BASE_VERSION;
		((struct ib_mad_hdr *)buf->mad)->mgmt_class = TEST_CLASS;
		buf->ah = peer_ah;
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	}
	return agent;
}

/*
 * The segments and ACKs wait for a QP that others keep busy: they are removed
 * from the lanes, and the QP is not reset for them.
 */
static void deregister_behind_a_flood(struct kunit *test)
{
	struct ib_mad_agent *flooder;
	unsigned long since;

	start(test, 3, 0, 3);
	peer_hca->hold_send_completions = true;
	flooder = flood(test);
	ack(1, 3);
	peer_send(&(struct peer_mad){ .tid = 7, .seg = 1, .flags = FIRST | LAST,
				      .paylen_newwin = PEER_CLASS_LEN + 10 });
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	KUNIT_EXPECT_EQ(test, to_agent(peer_agent)->mqp->backlog, 3u);
	since = jiffies;
	ib_unregister_mad_agent(peer_agent);
	peer_agent = NULL;
	KUNIT_EXPECT_LT(test, took_ms(jiffies - since), 1000u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 1);
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, to_agent(flooder)->mqp->backlog, 0u);
	KUNIT_EXPECT_EQ(test, mad_counter(flooder, IBMAD_QP_RESETS), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&flood_sent), 0);
	fake_hca_release_completions(peer_hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flood_sent, SEND_DEPTH));
	ib_unregister_mad_agent(flooder);
}

/* Cancelling a transfer ends it at once if none of its segments is on the QP. */
static void cancel_behind_a_flood(struct kunit *test)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_agent *flooder;

	peer_hca->hold_send_completions = true;
	flooder = flood(test);
	buf = peer_request(IB_MGMT_METHOD_SEND, 1, 3 * PEER_SEG_BYTES, 0, 3);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), 0);
	expect_end(test, 1, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&flood_sent), 0);
	fake_hca_release_completions(peer_hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&flood_sent, SEND_DEPTH));
	ib_unregister_mad_agent(flooder);
}

/* ---- ends ---- */

/* The timer fired when an ACK arrived: the transfer has a new timeout for the rest. */
static void a_timer_that_fires_late(struct kunit *test)
{
	struct ibmad_send *send;

	start(test, 5, 0, 0);
	send = list_first_entry(&to_agent(peer_agent)->sends, struct ibmad_send,
				agent_link);
	peer_hca->hold_send_completions = true;
	ack(1, 5);
	msleep(ACK_MS + 100);
	mad_fire_late(send);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
	fake_hca_release_completions(peer_hca);
	ack(5, 5);
	expect_end(test, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_TIMEOUTS), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 0);
}

static void the_receiver_ends_it(struct kunit *test)
{
	start(test, 10, 0, 3);
	control(IB_MGMT_RMPP_TYPE_STOP, IB_MGMT_RMPP_STATUS_RESX, 0, 0);
	expect_end(test, 1, IB_WC_REM_ABORT_ERR);
	KUNIT_EXPECT_EQ(test, peer_client.vendor_err, IB_MGMT_RMPP_STATUS_RESX);
	start(test, 10, 0, 3);
	ack(1, 5);
	control(IB_MGMT_RMPP_TYPE_ABORT, IB_MGMT_RMPP_STATUS_T2L, 0, 0);
	expect_end(test, 2, IB_WC_REM_ABORT_ERR);
	KUNIT_EXPECT_EQ(test, peer_client.vendor_err, IB_MGMT_RMPP_STATUS_T2L);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_ABORTED), 2);
	/* STOP and ABORT are not answered by an ABORT. */
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
}

/*
 * Segments use the client's address handle: however a transfer ends, the client gets its
 * completion only when the port has none of its segments.
 */
static void segments_outlive_no_transfer(struct kunit *test)
{
	static const u8 ends[] = {
		IB_MGMT_RMPP_TYPE_ACK, IB_MGMT_RMPP_TYPE_ABORT, 0 /* cancelled */
	};
	struct ib_mad_send_buf *buf;
	int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		peer_hca->hold_send_completions = true;
		buf = peer_request(IB_MGMT_METHOD_SEND, 1, PEER_SEG_BYTES, 0, 3);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
		peer_quiesce();
		if (ends[i])
			control(ends[i], 0, 1, 1);
		else
			KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), 0);
		msleep(1000);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&peer_client.sent), i, "end %d", i);
		fake_hca_release_completions(peer_hca);
		expect_end(test, i + 1, i == 0 ? IB_WC_SUCCESS :
				       i == 1 ? IB_WC_REM_ABORT_ERR : IB_WC_WR_FLUSH_ERR);
	}
}

static void cancel_a_transfer(struct kunit *test)
{
	struct ib_mad_send_buf *buf = peer_request(IB_MGMT_METHOD_SEND, 1,
						   10 * PEER_SEG_BYTES, 50000, 3);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	peer_quiesce();
	ack(1, 4);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), 0);
	expect_end(test, 1, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 4u);
	ack(4, 10);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 4u);
}

/* If a segment's work request fails, the transfer fails once; the port still works. */
static void a_segment_that_fails(struct kunit *test)
{
	start(test, 10, 0, 3);
	peer_hca->send_status = IB_WC_LOC_QP_OP_ERR;
	ack(1, 10);
	expect_end(test, 1, IB_WC_LOC_QP_OP_ERR);
	peer_hca->send_status = IB_WC_SUCCESS;
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 1);
	start(test, 2, 0, 3);
	ack(1, 2);
	ack(2, 2);
	expect_end(test, 2, IB_WC_SUCCESS);
}

/* A segment that could not be posted is sent when the timer fires. */
static void a_segment_that_is_refused(struct kunit *test)
{
	start(test, 3, 0, 3);
	atomic_set(&peer_hca->fail_post_send, 1);
	ack(1, 3);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 1u);
	msleep(ACK_MS + 400);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 3u);
	ack(3, 3);
	expect_end(test, 1, IB_WC_SUCCESS);
}

/* A request in segments and its response: sending the request ends with the last ACK. */
static void a_request_in_segments(struct kunit *test)
{
	struct peer_mad answer = { .method = IB_MGMT_METHOD_GET_RESP, .seg = 1,
				   .flags = FIRST | LAST,
				   .paylen_newwin = PEER_CLASS_LEN + 10 };

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 1, 2 * PEER_SEG_BYTES, 1000,
					0), 0);
	peer_quiesce();
	answer.whole_tid = peer_seen.tid;
	peer_send(&(struct peer_mad){
		.whole_tid = peer_seen.tid, .type = IB_MGMT_RMPP_TYPE_ACK,
		.method = IB_MGMT_METHOD_GET_RESP, .seg = 1, .paylen_newwin = 2 });
	peer_send(&(struct peer_mad){
		.whole_tid = peer_seen.tid, .type = IB_MGMT_RMPP_TYPE_ACK,
		.method = IB_MGMT_METHOD_GET_RESP, .seg = 2, .paylen_newwin = 2 });
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
	/* Only GetMulti changes the direction of the transfer. */
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 0);
	peer_send(&answer);
	expect_end(test, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, peer_client.matched);
	KUNIT_EXPECT_EQ(test, peer_client.mad_len, IB_MGMT_VENDOR_HDR + 10);
}

/*
 * Without a response the request is sent again from its first segment.  Its
 * receiver has all of it, and acknowledges the last one.
 */
static void a_request_in_segments_that_is_repeated(struct kunit *test)
{
	struct peer_mad mad = { .method = IB_MGMT_METHOD_GET_RESP,
				.type = IB_MGMT_RMPP_TYPE_ACK, .paylen_newwin = 3 };

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 1, 3 * PEER_SEG_BYTES, 1000,
					1), 0);
	peer_quiesce();
	mad.whole_tid = peer_seen.tid;
	for (mad.seg = 1; mad.seg <= 3; mad.seg += 2)
		peer_send(&mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 0);
	msleep(1200);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 1);
	mad.seg = 3;
	peer_send(&mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	mad.type = IB_MGMT_RMPP_TYPE_DATA;
	mad.seg = 1;
	mad.flags = FIRST | LAST;
	mad.paylen_newwin = PEER_CLASS_LEN + 10;
	peer_send(&mad);
	expect_end(test, 1, IB_WC_SUCCESS);
}

/* IBA 13.6.4.2: after the last ACK the requester acknowledges segment 0. */
static void a_double_sided_transfer(struct kunit *test)
{
	struct peer_mad mad = { .method = IB_SA_METHOD_GET_MULTI_RESP,
				.type = IB_MGMT_RMPP_TYPE_ACK };

	peer_test_exit(test);
	KUNIT_ASSERT_EQ(test, peer_init(IB_MGMT_CLASS_SUBN_ADM), 0);
	KUNIT_ASSERT_EQ(test, peer_post(IB_SA_METHOD_GET_MULTI, 1, 300, 1000, 2), 0);
	peer_quiesce();
	mad.whole_tid = peer_seen.tid;
	mad.seg = 1;
	mad.paylen_newwin = 2;
	peer_send(&mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 0);
	mad.seg = 2;
	peer_send(&mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 1);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 0u);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_window, 1u);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_method, IB_SA_METHOD_GET_MULTI);
	/* If that ACK is lost, the responder repeats its last ACK and gets another. */
	peer_send(&mad);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 2);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 0u);
	mad.type = IB_MGMT_RMPP_TYPE_DATA;
	mad.seg = 1;
	mad.flags = FIRST | LAST;
	mad.paylen_newwin = 20 + 100;
	peer_send(&mad);
	expect_end(test, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, peer_client.mad_len, 56 + 100);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 1u);
}

#define ANSWER_TID	0x77	/* chosen by the requester */

/* Posts a response of two segments, which fails soon if it is not acknowledged. */
static int post_answer(struct ib_ah *ah, u8 method, u64 tid)
{
	struct ib_mad_send_buf *buf = peer_request(method, 1, 2 * PEER_SEG_BYTES, 0, 0);

	if (!IS_ERR(buf)) {
		((struct ib_mad_hdr *)buf->mad)->tid = cpu_to_be64(tid);
		buf->ah = ah;
	}
	return mad_post_buf(buf);
}

/*
 * A client may be asked again, by a MAD without RMPP, while its response is being
 * sent: a second response would get the ACKs of the first.
 */
static void one_answer_at_a_time(struct kunit *test)
{
	const u8 resp = IB_MGMT_METHOD_GET_RESP;
	struct peer_mad mad = { .method = IB_MGMT_METHOD_GET, .tid = ANSWER_TID,
				.type = IB_MGMT_RMPP_TYPE_ACK, .paylen_newwin = 2 };
	struct rdma_ah_attr attr = {};
	struct ib_ah *same, *other;

	KUNIT_ASSERT_EQ(test, rdma_query_ah(peer_ah, &attr), 0);
	same = mad_ah_to(peer_agent, rdma_ah_get_dlid(&attr));
	/* Not a LID that the peer's port could have, too (MATCH_MAX_LMC). */
	other = mad_ah_to(peer_agent, rdma_ah_get_dlid(&attr) + 128);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, same);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);

	/* The first send of an agent is found in another place than the others. */
	KUNIT_EXPECT_EQ(test, post_answer(peer_ah, resp, ANSWER_TID + 1), 0);
	KUNIT_EXPECT_EQ(test, post_answer(same, resp, ANSWER_TID + 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, post_answer(peer_ah, resp, ANSWER_TID), 0);
	KUNIT_EXPECT_EQ(test, post_answer(peer_ah, resp, ANSWER_TID), -EEXIST);
	KUNIT_EXPECT_EQ(test, post_answer(same, resp, ANSWER_TID), -EEXIST);
	/* ACKs of these can be distinguished */
	KUNIT_EXPECT_EQ(test, post_answer(other, resp, ANSWER_TID), 0);
	KUNIT_EXPECT_EQ(test, post_answer(same, IB_MGMT_METHOD_REPORT_RESP, ANSWER_TID), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(peer_agent)->refs), 1u + 4 * 3);

	peer_quiesce();
	for (mad.seg = 1; mad.seg <= 2; mad.seg++)
		peer_send(&mad);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, post_answer(same, resp, ANSWER_TID), 0);
	/* The others are not acknowledged. */
	expect_end(test, 5, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	rdma_destroy_ah(same, RDMA_DESTROY_AH_SLEEPABLE);
	rdma_destroy_ah(other, RDMA_DESTROY_AH_SLEEPABLE);
}

/* The address handle of the only send left in agent->sends. */
static struct ib_ah *last_answer_to(struct kunit *test)
{
	struct ibmad_send *left;

	KUNIT_ASSERT_TRUE(test, list_is_singular(&to_agent(peer_agent)->sends));
	left = list_first_entry(&to_agent(peer_agent)->sends, struct ibmad_send, agent_link);
	return left->buf.ah;
}

/* Two requesters chose one TID; by its LMC the first port could have both LIDs. */
static void answers_to_two_with_one_tid(struct kunit *test)
{
	const u8 resp = IB_MGMT_METHOD_GET_RESP;
	struct peer_mad mad = { .method = IB_MGMT_METHOD_GET, .tid = ANSWER_TID,
				.type = IB_MGMT_RMPP_TYPE_ACK, .paylen_newwin = 2 };
	struct ib_ah *to[] = { mad_ah_to(peer_agent, 0x40), mad_ah_to(peer_agent, 0x41) };
	int first, asked;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, to[0]);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, to[1]);
	for (first = 0; first < 2; first++) {
		KUNIT_EXPECT_EQ(test, post_answer(to[first], resp, ANSWER_TID), 0);
		KUNIT_EXPECT_EQ(test, post_answer(to[!first], resp, ANSWER_TID), 0);
		peer_quiesce();
		for (asked = 0; asked < 2; asked++) {
			if (asked)
				KUNIT_EXPECT_PTR_EQ(test, last_answer_to(test), to[1]);
			mad.slid = 0x40 + asked;
			for (mad.seg = 1; mad.seg <= 2; mad.seg++)
				peer_send(&mad);
			KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent,
							 2 * first + asked + 1));
			KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
		}
	}
	expect_end(test, 4, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	rdma_destroy_ah(to[0], RDMA_DESTROY_AH_SLEEPABLE);
	rdma_destroy_ah(to[1], RDMA_DESTROY_AH_SLEEPABLE);
}

static int transfer_once(struct kunit *test)
{
	int sent = atomic_read(&peer_client.sent);
	int ret = peer_post(IB_MGMT_METHOD_SEND, 1, 100, 0, 4);
	int nth = current->fail_nth;

	if (ret)
		return ret;
	current->fail_nth = 0;	/* the remaining allocations are those of the test */
	peer_quiesce();
	/* If the first segment could not be posted, it is sent when the timer fires. */
	msleep(ACK_MS + 400);
	peer_quiesce();
	ack(1, 1);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, sent + 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
	current->fail_nth = nth;
	return 0;
}

static void a_transfer_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, transfer_once), 3u);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(peer_agent)->refs), 1u);
}

static struct kunit_case rmpp_send_cases[] = {
	KUNIT_CASE(the_window_is_the_receivers),
	KUNIT_CASE(a_huge_window_does_not_flood_the_port),
	KUNIT_CASE(acks_that_cannot_be_true),
	KUNIT_CASE(repeated_acks),
	KUNIT_CASE(repeated_acks_of_no_loss),
	KUNIT_CASE(acks_faster_than_the_port),
	KUNIT_CASE(silence_sends_all_again),
	KUNIT_CASE_SLOW(a_long_wait_has_many_tries),
	KUNIT_CASE(deregister_behind_a_flood),
	KUNIT_CASE(cancel_behind_a_flood),
	KUNIT_CASE(a_timer_that_fires_late),
	KUNIT_CASE(the_receiver_ends_it),
	KUNIT_CASE(segments_outlive_no_transfer),
	KUNIT_CASE(cancel_a_transfer),
	KUNIT_CASE(a_segment_that_fails),
	KUNIT_CASE(a_segment_that_is_refused),
	KUNIT_CASE(a_request_in_segments),
	KUNIT_CASE(a_request_in_segments_that_is_repeated),
	KUNIT_CASE(a_double_sided_transfer),
	KUNIT_CASE(one_answer_at_a_time),
	KUNIT_CASE(answers_to_two_with_one_tid),
	KUNIT_CASE_SLOW(a_transfer_survives_each_failed_allocation),
	{}
};

static struct kunit_suite ibmad_rmpp_send_suite = {
	.name = "ib_mad_rmpp_send",
	.init = peer_test_init,
	.exit = peer_test_exit,
	.test_cases = rmpp_send_cases,
};

kunit_test_suite(ibmad_rmpp_send_suite);
