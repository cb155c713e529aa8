// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reassembly: valid and invalid segments from a peer, and what they may take up. */
#include "rmpp_peer.h"
#include "wait.h"

#define WINDOW	64
#define FULL	(PEER_CLASS_LEN + PEER_SEG_BYTES)	/* of a full last segment */

/* Sends segments @from to @to of a transfer of @last segments. */
static void segments(u32 tid, u32 from, u32 to, u32 last)
{
	u32 seg;

	for (seg = from; seg <= to; seg++)
		peer_send(&(struct peer_mad){
			.tid = tid, .seg = seg,
			.flags = (seg == 1 ? FIRST : 0) | (seg == last ? LAST : 0),
			.paylen_newwin = seg == last ? FULL : 0,
		});
}

static void expect_empty(struct kunit *test)
{
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(peer_agent)->refs), 1u);
}

static void segments_in_order(struct kunit *test)
{
	segments(1, 1, 3, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	KUNIT_EXPECT_EQ(test, peer_client.segments, 3);
	KUNIT_EXPECT_EQ(test, peer_client.mad_len,
			IB_MGMT_VENDOR_HDR + 3 * PEER_SEG_BYTES);
	/*
	 * One ACK opened the window, one acknowledged the
	 * end; their response bit is inverted.
	 */
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 2);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 3u);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_method,
			IB_MGMT_METHOD_SEND | IB_MGMT_METHOD_RESP);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_RECEIVED), 1);
	/*
	 * If the ACK was lost, the repeated segment is
	 * acknowledged, but not delivered again.
	 */
	segments(1, 3, 3, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 3);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 3u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
	/* The transfer is forgotten after a time. */
	msleep(30000);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	expect_empty(test);
}

static void segments_out_of_order(struct kunit *test)
{
	static const u32 order[] = { 1, 5, 3, 3, 2, 5, 4, 7, 6 };
	int i;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		segments(1, order[i], order[i], 7);
		KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received),
				i == ARRAY_SIZE(order) - 1);
	}
	KUNIT_EXPECT_EQ(test, peer_client.segments, 7);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	expect_empty(test);
}

static void expect_acks(struct kunit *test, int acks, u32 seg)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), acks);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, seg);
}

/*
 * The first segment after a gap causes an ACK, then each third: ACKs may get lost, too.
 */
static void a_gap_is_told_of_again(struct kunit *test)
{
	segments(1, 1, 2, 30);
	expect_acks(test, 1, 1);
	segments(1, 4, 4, 30);
	expect_acks(test, 2, 2);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_window, 2u + WINDOW);
	segments(1, 5, 6, 30);
	expect_acks(test, 2, 2);
	segments(1, 7, 13, 30);
	expect_acks(test, 5, 2);
	/* Repeated segments behind the gap cause no ACK. */
	segments(1, 4, 13, 30);
	expect_acks(test, 5, 2);
	/* The segment that fills the gap is acknowledged, and the gap is over. */
	segments(1, 3, 3, 30);
	expect_acks(test, 6, 13);
	segments(1, 14, 15, 30);
	expect_acks(test, 6, 13);
	/* A new gap, and another behind it. */
	segments(1, 17, 17, 30);
	segments(1, 19, 19, 30);
	expect_acks(test, 7, 15);
	segments(1, 16, 16, 30);
	expect_acks(test, 8, 17);
	/* For a segment before the gap the current state is acknowledged again. */
	segments(1, 4, 4, 30);
	expect_acks(test, 9, 17);
}

/* No segment follows the last one that could report the gap again. */
static void a_gap_before_the_last(struct kunit *test)
{
	segments(1, 1, 4, 6);
	expect_acks(test, 1, 1);
	segments(1, 6, 6, 6);
	expect_acks(test, 3, 4);
	segments(1, 5, 5, 6);
	expect_acks(test, 4, 6);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	segments(2, 1, 1, 6);
	segments(2, 3, 3, 6);
	expect_acks(test, 6, 1);
	segments(2, 6, 6, 6);
	expect_acks(test, 7, 1);
	segments(2, 5, 5, 6);
	expect_acks(test, 8, 1);
}

/* The next window is granted when half of the current one was used. */
static void the_window_never_closes(struct kunit *test)
{
	segments(1, 1, WINDOW / 2, 0);
	expect_acks(test, 1, 1);
	segments(1, WINDOW / 2 + 1, WINDOW / 2 + 1, 0);
	expect_acks(test, 2, WINDOW / 2 + 1);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_window, WINDOW / 2 + 1u + WINDOW);
}

static void beyond_the_window(struct kunit *test)
{
	/* Before the first ACK only segment 1 is granted. */
	segments(1, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_window, 1u + WINDOW);
	segments(1, 2 + WINDOW, 3 + WINDOW, 0);
	KUNIT_EXPECT_EQ(test, peer_bytes(), IB_MGMT_MAD_SIZE);
	segments(1, 1 + WINDOW, 1 + WINDOW, 0);
	KUNIT_EXPECT_EQ(test, peer_bytes(), 2 * IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 2);
	/* The rest of the window opens the next one. */
	segments(1, 2, WINDOW, 0);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 1u + WINDOW);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_window, 1u + 2 * WINDOW);
}

struct bad_segment {
	struct peer_mad before[3];	/* valid ones before it */
	struct peer_mad bad;
	u8 status;			/* of the ABORT; 0: dropped without an ABORT */
};

#define SEG(_seg, _flags, _len) \
	{ .tid = 1, .seg = _seg, .flags = _flags, .paylen_newwin = _len }

static const struct bad_segment bad_segments[] = {
	/* A transfer can begin with segment 1 only. */
	{ .bad = SEG(0, FIRST, 0), .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .bad = SEG(2, FIRST, 0), .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .bad = SEG(2, 0, 0) },
	{ .bad = SEG(0xffffffff, LAST, 0) },
	{ .bad = { .tid = 1, .seg = 2, .version = 2 },
	  .status = IB_MGMT_RMPP_STATUS_UNV },
	{ .bad = { .tid = 1, .seg = 2, .status = 3 },
	  .status = IB_MGMT_RMPP_STATUS_BAD_STATUS },
	/* MADs of other types, for no transfer */
	{ .bad = { .tid = 1, .type = IB_MGMT_RMPP_TYPE_ACK, .version = 2 },
	  .status = IB_MGMT_RMPP_STATUS_UNV },
	{ .bad = { .tid = 1, .type = IB_MGMT_RMPP_TYPE_ACK, .status = 3 },
	  .status = IB_MGMT_RMPP_STATUS_BAD_STATUS },
	{ .bad = { .tid = 1, .type = IB_MGMT_RMPP_TYPE_ABORT, .version = 2,
		   .status = IB_MGMT_RMPP_STATUS_UNSPEC },
	  .status = IB_MGMT_RMPP_STATUS_UNV },
	{ .bad = { .tid = 1, .type = 9, .version = 2 },
	  .status = IB_MGMT_RMPP_STATUS_UNV },
	{ .bad = SEG(1, 0, 0), .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .bad = { .tid = 1, .seg = 1, .flags = FIRST, .version = 2 },
	  .status = IB_MGMT_RMPP_STATUS_UNV },
	{ .bad = { .tid = 1, .seg = 1, .flags = FIRST, .status = 3 },
	  .status = IB_MGMT_RMPP_STATUS_BAD_STATUS },
	/* In the middle of a transfer */
	{ .before = { SEG(1, FIRST, 0) }, .bad = SEG(0, 0, 0),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .before = { SEG(1, FIRST, 0) }, .bad = SEG(2, FIRST, 0),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .before = { SEG(1, FIRST, 0) }, .bad = SEG(1, 0, 0),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .before = { SEG(1, FIRST, 0) }, .bad = SEG((1 << 20) + 1, 0, 0),
	  .status = IB_MGMT_RMPP_STATUS_RESX },
	{ .before = { SEG(1, FIRST, 0), SEG(2, 0, 0) },
	  .bad = { .tid = 1, .seg = 3, .type = 7 },
	  .status = IB_MGMT_RMPP_STATUS_BADT },
	/* The end of a transfer must not change once it is known. */
	{ .before = { SEG(1, FIRST, 0), SEG(5, LAST, FULL) }, .bad = SEG(5, 0, 0),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .before = { SEG(1, FIRST, 0), SEG(5, LAST, FULL) }, .bad = SEG(6, 0, 0),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .before = { SEG(1, FIRST, 0), SEG(5, LAST, FULL) }, .bad = SEG(4, LAST, FULL),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .before = { SEG(1, FIRST, 0), SEG(5, LAST, FULL) }, .bad = SEG(6, LAST, FULL),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	/* The end must not lie before a segment that was received. */
	{ .before = { SEG(1, FIRST, 0), SEG(3, 0, FULL) }, .bad = SEG(2, LAST, FULL),
	  .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ .before = { SEG(1, FIRST, 0), SEG(2, 0, 0), SEG(3, 0, 0) },
	  .bad = SEG(2, LAST, FULL), .status = IB_MGMT_RMPP_STATUS_BAD_SEG },
};

static void segments_that_cannot_be_true(struct kunit *test)
{
	const struct bad_segment *bad;
	int i, k, ends;

	for (i = 0; i < ARRAY_SIZE(bad_segments); i++) {
		bad = &bad_segments[i];
		ends = atomic_read(&peer_seen.aborts) + atomic_read(&peer_seen.stops);
		peer_seen.abort_status = 0;
		peer_seen.stop_status = 0;
		for (k = 0; k < 3 && bad->before[k].tid; k++)
			peer_send(&bad->before[k]);
		peer_send(&bad->bad);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&peer_seen.aborts) +
				    atomic_read(&peer_seen.stops),
				    ends + !!bad->status, "segment %d", i);
		/* 13.6.2.3: lack of resources causes a STOP, all else an ABORT. */
		KUNIT_EXPECT_EQ_MSG(test, bad->status == IB_MGMT_RMPP_STATUS_RESX ?
				    peer_seen.stop_status : peer_seen.abort_status,
				    bad->status, "segment %d", i);
		KUNIT_EXPECT_EQ_MSG(test, peer_reassemblies(), 0u, "segment %d", i);
		KUNIT_EXPECT_EQ_MSG(test, peer_bytes(), 0, "segment %d", i);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 0);
	segments(1, 1, 2, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	expect_empty(test);
}

static void lengths_of_the_last_segment(struct kunit *test)
{
	int len, n = 0;

	for (len = 0; len <= PEER_SEG_BYTES; len += 27) {
		peer_send(&(struct peer_mad){ .tid = 10 + n, .seg = 1, .flags = FIRST });
		peer_send(&(struct peer_mad){ .tid = 10 + n, .seg = 2, .flags = LAST,
					      .paylen_newwin = PEER_CLASS_LEN + len });
		KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), ++n);
		KUNIT_EXPECT_EQ(test, peer_client.mad_len,
				IB_MGMT_VENDOR_HDR + PEER_SEG_BYTES + len);
	}
}

/* If the length is impossible the last segment counts as full; the transfer succeeds. */
static void odd_lengths_of_the_last_segment(struct kunit *test)
{
	static const u32 odd[] = { 0, PEER_CLASS_LEN - 1, FULL + 1, 2 * FULL, 0xffffffff };
	int i;

	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		peer_send(&(struct peer_mad){ .tid = 10 + i, .seg = 1, .flags = FIRST });
		peer_send(&(struct peer_mad){ .tid = 10 + i, .seg = 2, .flags = LAST,
					      .paylen_newwin = odd[i] });
		KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), i + 1);
		KUNIT_EXPECT_EQ(test, peer_client.mad_len,
				IB_MGMT_VENDOR_HDR + 2 * PEER_SEG_BYTES);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
}

/* Like the response of an SA in a large subnet. */
static void more_segments_than_32768(struct kunit *test)
{
	unsigned long usual = ibmad_rmpp_max_bytes;
	u32 seg, n = 33000;

	ibmad_rmpp_max_bytes = 32 << 20;
	for (seg = 1; seg <= n; seg++) {
		peer_push(&(struct peer_mad){ .tid = 1, .seg = seg,
					      .flags = seg == 1 ? FIRST : seg == n ? LAST : 0,
					      .paylen_newwin = seg == n ? FULL : 0 });
		/* The first segment grants a window; each window takes two rounds. */
		if (seg == 1 || seg % 32 == 0)
			peer_quiesce();
	}
	peer_quiesce();
	ibmad_rmpp_max_bytes = usual;
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.stops), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	KUNIT_EXPECT_EQ(test, peer_client.segments, n);
	KUNIT_EXPECT_EQ(test, peer_client.mad_len, IB_MGMT_VENDOR_HDR + n * PEER_SEG_BYTES);
}

/* The sender of a transfer that does not go on is told once, and its segments are freed. */
static void the_sender_falls_silent(struct kunit *test)
{
	segments(1, 1, 5, 9);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
	KUNIT_EXPECT_TRUE(test, wait_within(!peer_reassemblies(), 60000));
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 1);
	KUNIT_EXPECT_EQ(test, peer_seen.abort_status, IB_MGMT_RMPP_STATUS_T2L);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_ABORTED), 1);
}

static void the_sender_gives_up(struct kunit *test)
{
	static const struct peer_mad ends[] = {
		{ .type = IB_MGMT_RMPP_TYPE_STOP, .status = IB_MGMT_RMPP_STATUS_RESX },
		{ .type = IB_MGMT_RMPP_TYPE_ABORT, .status = IB_MGMT_RMPP_STATUS_UNSPEC },
	};
	struct peer_mad end;
	int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		segments(1, 1, 5, 9);
		KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
		end = ends[i];
		end.tid = 2;
		peer_send(&end);
		KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
		end.tid = 1;
		peer_send(&end);
		KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
		KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
		KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_ABORTED), i + 1);
	}
	/* An ABORT does not affect a transfer that was received whole. */
	segments(3, 1, 2, 2);
	end.tid = 3;
	peer_send(&end);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	/* STOP and ABORT are not answered by an ABORT. */
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	expect_empty(test);
}

static void expect_abort(struct kunit *test, int aborts, u8 status)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), aborts);
	KUNIT_EXPECT_EQ(test, peer_seen.abort_status, status);
}

/* A STOP or an ABORT for a reason that there is not ends a transfer, and is answered. */
static void the_sender_gives_up_for_no_reason(struct kunit *test)
{
	static const struct peer_mad ends[] = {
		{ .tid = 1, .type = IB_MGMT_RMPP_TYPE_STOP },
		{ .tid = 1, .type = IB_MGMT_RMPP_TYPE_STOP,
		  .status = IB_MGMT_RMPP_STATUS_UNSPEC },
		{ .tid = 1, .type = IB_MGMT_RMPP_TYPE_ABORT,
		  .status = IB_MGMT_RMPP_STATUS_RESX },
		{ .tid = 1, .type = IB_MGMT_RMPP_TYPE_ABORT,
		  .status = IB_MGMT_RMPP_STATUS_ABORT_MAX + 1 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		peer_send(&ends[i]);
		expect_abort(test, 2 * i + 1, IB_MGMT_RMPP_STATUS_BAD_STATUS);
		segments(1, 1, 5, 9);
		peer_send(&ends[i]);
		expect_abort(test, 2 * i + 2, IB_MGMT_RMPP_STATUS_BAD_STATUS);
		KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	}
	expect_empty(test);
}

static void control_mads_of_no_transfer(struct kunit *test)
{
	peer_send(&(struct peer_mad){ .tid = 1, .type = IB_MGMT_RMPP_TYPE_ACK, .seg = 1 });
	peer_send(&(struct peer_mad){ .tid = 1, .type = IB_MGMT_RMPP_TYPE_ABORT,
				      .status = IB_MGMT_RMPP_STATUS_UNSPEC });
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	expect_empty(test);
}

/* The sender is told, whether a transfer is known, has ended, or is not. */
static void mads_of_an_unknown_type(struct kunit *test)
{
	peer_send(&(struct peer_mad){ .tid = 1, .type = 9 });
	expect_abort(test, 1, IB_MGMT_RMPP_STATUS_BADT);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 1);
	segments(2, 1, 3, 9);
	peer_send(&(struct peer_mad){ .tid = 2, .type = 9 });
	expect_abort(test, 2, IB_MGMT_RMPP_STATUS_BADT);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	segments(3, 1, 2, 2);
	peer_send(&(struct peer_mad){ .tid = 3, .type = 9 });
	expect_abort(test, 3, IB_MGMT_RMPP_STATUS_BADT);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
	expect_empty(test);
}

/* A wrong response is answered only while its request waits, which goes on waiting. */
static void responses_of_an_unknown_type(struct kunit *test)
{
	struct peer_mad odd = { .method = IB_MGMT_METHOD_GET_RESP, .type = 9,
				.whole_tid = (u64)peer_agent->hi_tid << 32 | 0xdead };

	peer_send(&odd);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 50000, 0), 0);
	peer_quiesce();
	odd.whole_tid = peer_seen.tid;
	peer_send(&odd);
	expect_abort(test, 1, IB_MGMT_RMPP_STATUS_BADT);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
}

/* ---- what is repeated after it was finished ---- */

static void again(struct kunit *test, u8 method, u32 tid, u32 seg, u8 flags, int received)
{
	peer_send(&(struct peer_mad){ .tid = tid, .method = method, .seg = seg,
				      .flags = flags,
				      .paylen_newwin = flags & LAST ? FULL : 0 });
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), received);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, seg);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_window, flags & LAST ? seg : seg + WINDOW);
}

/* If the response was lost, the request is delivered again, though not forgotten yet. */
static void a_request_that_is_repeated(struct kunit *test)
{
	int i;

	for (i = 0; i < 3; i++) {
		again(test, IB_MGMT_METHOD_GET, 1, 1, FIRST, i);
		again(test, IB_MGMT_METHOD_GET, 1, 2, LAST, i + 1);
		/* If only the ACK was lost it is not. */
		again(test, IB_MGMT_METHOD_GET, 1, 2, LAST, i + 1);
	}
	KUNIT_EXPECT_EQ(test, peer_client.segments, 2);
	for (i = 3; i < 6; i++)
		again(test, IB_MGMT_METHOD_GET, 2, 1, FIRST | LAST, i + 1);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 2u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	expect_empty(test);
}

static void answer(struct kunit *test, u32 tid)
{
	struct ib_mad_send_buf *buf = peer_request(IB_MGMT_METHOD_GET_RESP, 1,
						   2 * PEER_SEG_BYTES, 0, 5);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	((struct ib_mad_hdr *)buf->mad)->tid = cpu_to_be64(tid);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	peer_quiesce();
}

static void ack_answer(u32 tid, u32 seg)
{
	peer_send(&(struct peer_mad){ .tid = tid, .method = IB_MGMT_METHOD_GET, .seg = seg,
				      .type = IB_MGMT_RMPP_TYPE_ACK, .paylen_newwin = 2 });
}

/*
 * While the response is being sent a repeated request is not
 * delivered: a second response would spoil the first.
 */
static void a_request_that_is_being_answered(struct kunit *test)
{
	again(test, IB_MGMT_METHOD_GET, 1, 1, FIRST, 0);
	again(test, IB_MGMT_METHOD_GET, 1, 2, LAST, 1);
	answer(test, 1);
	peer_send(&(struct peer_mad){ .tid = 1, .method = IB_MGMT_METHOD_GET, .seg = 1,
				      .flags = FIRST });
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 2u);
	ack_answer(1, 1);
	ack_answer(1, 2);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
	again(test, IB_MGMT_METHOD_GET, 1, 1, FIRST, 1);
	again(test, IB_MGMT_METHOD_GET, 1, 2, LAST, 2);
}

/* A Send has no response: if one of a single segment is repeated, the ACK was lost. */
static void a_send_that_is_repeated(struct kunit *test)
{
	again(test, IB_MGMT_METHOD_SEND, 1, 1, FIRST | LAST, 1);
	again(test, IB_MGMT_METHOD_SEND, 1, 1, FIRST | LAST, 1);
	/* A repetition with several segments is a new transfer. */
	again(test, IB_MGMT_METHOD_SEND, 1, 1, FIRST, 1);
	again(test, IB_MGMT_METHOD_SEND, 1, 2, LAST, 2);
	again(test, IB_MGMT_METHOD_SEND, 1, 1, FIRST | LAST, 3);
	again(test, IB_MGMT_METHOD_SEND, 1, 1, FIRST | LAST, 3);
	expect_empty(test);
}

/* A late duplicate of the first segment begins a reassembly, which gets no other. */
static void a_late_first_segment(struct kunit *test)
{
	segments(1, 1, 3, 3);
	segments(1, 1, 1, 3);
	KUNIT_EXPECT_EQ(test, peer_bytes(), IB_MGMT_MAD_SIZE);
	msleep(60000);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_ABORTED), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	expect_empty(test);
}

/* ---- responses ---- */

static u64 asked_tid(void)
{
	return peer_seen.tid;
}

static void response(u32 seg, u8 flags, u32 paylen)
{
	peer_send(&(struct peer_mad){
		.whole_tid = asked_tid(), .method = IB_MGMT_METHOD_GET_RESP,
		.seg = seg, .flags = flags, .paylen_newwin = paylen,
	});
}

static void a_response_in_segments(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 500, 0), 0);
	peer_quiesce();
	response(1, FIRST, 0);
	/* Each segment prolongs the timeout. */
	msleep(350);
	response(2, 0, 0);
	msleep(350);
	response(3, LAST, FULL);
	KUNIT_ASSERT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, peer_client.segments, 3);
	KUNIT_EXPECT_TRUE(test, peer_client.matched);
	expect_empty(test);
}

static void a_response_nobody_asked_for(struct kunit *test)
{
	u64 tid = (u64)peer_agent->hi_tid << 32 | 0xdead;

	peer_send(&(struct peer_mad){ .whole_tid = tid, .seg = 1, .flags = FIRST,
				      .method = IB_MGMT_METHOD_GET_RESP });
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 0);
	expect_empty(test);
}

static void a_response_that_stops_coming(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 500, 0), 0);
	peer_quiesce();
	response(1, FIRST, 0);
	KUNIT_ASSERT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_RESP_TIMEOUT_ERR);
	/* A late segment is answered by an ABORT, and the reassembly is dropped. */
	response(2, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 1);
	KUNIT_EXPECT_EQ(test, peer_seen.abort_status, IB_MGMT_RMPP_STATUS_UNSPEC);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	expect_empty(test);
}

/* Repetitions of a segment do not prolong the timeout. */
static void a_response_that_repeats_itself(struct kunit *test)
{
	unsigned long since = jiffies;

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 1000, 0), 0);
	peer_quiesce();
	response(1, FIRST, 0);
	response(3, 0, 0);
	while (!atomic_read(&peer_client.sent) &&
	       jiffies_to_msecs(jiffies - since) < 10000) {
		response(1, FIRST, 0);
		response(3, 0, 0);
		msleep(100);
	}
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_LT(test, took_ms(jiffies - since), 2000u);
}

static void a_response_that_is_aborted(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 50000, 0), 0);
	peer_quiesce();
	response(1, FIRST, 0);
	peer_send(&(struct peer_mad){ .whole_tid = asked_tid(),
				      .method = IB_MGMT_METHOD_GET_RESP,
				      .type = IB_MGMT_RMPP_TYPE_ABORT,
				      .status = IB_MGMT_RMPP_STATUS_T2L });
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 1);
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_REM_ABORT_ERR);
	KUNIT_EXPECT_EQ(test, peer_client.vendor_err, IB_MGMT_RMPP_STATUS_T2L);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	expect_empty(test);
}

/* The ABORT arrives before the completion of the request, which then reports it. */
static void a_response_that_is_aborted_at_once(struct kunit *test)
{
	unsigned long since = jiffies;

	peer_hca->hold_send_completions = true;
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 50000, 0), 0);
	peer_quiesce();
	peer_send(&(struct peer_mad){ .whole_tid = asked_tid(),
				      .method = IB_MGMT_METHOD_GET_RESP,
				      .type = IB_MGMT_RMPP_TYPE_ABORT,
				      .status = IB_MGMT_RMPP_STATUS_T2L });
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_CONTROLS), 1);
	fake_hca_release_completions(peer_hca);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_LT(test, took_ms(jiffies - since), 10000u);
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_REM_ABORT_ERR);
	KUNIT_EXPECT_EQ(test, peer_client.vendor_err, IB_MGMT_RMPP_STATUS_T2L);
	expect_empty(test);
}

/* The same TID again: the finished transfer is not the response to the new request. */
static void a_tid_that_is_used_again(struct kunit *test)
{
	struct ib_mad_send_buf *buf;
	u64 tid;
	int i;

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 5000, 0), 0);
	peer_quiesce();
	tid = asked_tid();
	for (i = 1; i <= 3; i++) {
		response(1, FIRST, 0);
		response(2, LAST, FULL);
		KUNIT_ASSERT_TRUE(test, mad_wait(&peer_client.sent, i));
		KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), i);
		/* The repeated last segment is acknowledged, and begins nothing. */
		response(2, LAST, FULL);
		KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), i);
		buf = peer_request(IB_MGMT_METHOD_GET, 0, 100, 5000, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
		((struct ib_mad_hdr *)buf->mad)->tid = cpu_to_be64(tid);
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
		peer_quiesce();
	}
}

static struct kunit_case rmpp_recv_cases[] = {
	KUNIT_CASE_SLOW(segments_in_order),
	KUNIT_CASE(segments_out_of_order),
	KUNIT_CASE(a_gap_is_told_of_again),
	KUNIT_CASE(a_gap_before_the_last),
	KUNIT_CASE(the_window_never_closes),
	KUNIT_CASE(beyond_the_window),
	KUNIT_CASE(segments_that_cannot_be_true),
	KUNIT_CASE(lengths_of_the_last_segment),
	KUNIT_CASE(odd_lengths_of_the_last_segment),
	KUNIT_CASE_SLOW(more_segments_than_32768),
	KUNIT_CASE_SLOW(the_sender_falls_silent),
	KUNIT_CASE(the_sender_gives_up),
	KUNIT_CASE(the_sender_gives_up_for_no_reason),
	KUNIT_CASE(control_mads_of_no_transfer),
	KUNIT_CASE(mads_of_an_unknown_type),
	KUNIT_CASE(responses_of_an_unknown_type),
	KUNIT_CASE(a_request_that_is_repeated),
	KUNIT_CASE(a_request_that_is_being_answered),
	KUNIT_CASE(a_send_that_is_repeated),
	KUNIT_CASE_SLOW(a_late_first_segment),
	KUNIT_CASE(a_response_in_segments),
	KUNIT_CASE(a_response_nobody_asked_for),
	KUNIT_CASE(a_response_that_stops_coming),
	KUNIT_CASE(a_response_that_repeats_itself),
	KUNIT_CASE(a_response_that_is_aborted),
	KUNIT_CASE(a_response_that_is_aborted_at_once),
	KUNIT_CASE(a_tid_that_is_used_again),
	{}
};

static struct kunit_suite ibmad_rmpp_recv_suite = {
	.name = "ib_mad_rmpp_recv",
	.init = peer_test_init,
	.exit = peer_test_exit,
	.test_cases = rmpp_recv_cases,
};

kunit_test_suite(ibmad_rmpp_recv_suite);
