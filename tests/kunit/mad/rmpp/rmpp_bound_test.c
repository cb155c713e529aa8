// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Bounds on what peers can make an agent hold; reassembly without memory. */
#include "rmpp_peer.h"

#define FULL	(PEER_CLASS_LEN + PEER_SEG_BYTES)
#define LIMIT	(64 * IB_MGMT_MAD_SIZE)
#define HELD	1024		/* IBMAD_RMPP_MAX_RECVS */
#define SHARE	128		/* IBMAD_RMPP_MAX_SHARE */
#define OTHERS	0x7000		/* LIDs of other sources */

static unsigned long usual_limit;

static int bound_test_init(struct kunit *test)
{
	usual_limit = ibmad_rmpp_max_bytes;
	ibmad_rmpp_max_bytes = LIMIT;
	return peer_test_init(test);
}

static void bound_test_exit(struct kunit *test)
{
	peer_client.sleep_ms = 0;
	peer_test_exit(test);
	ibmad_rmpp_max_bytes = usual_limit;
}

static void push(u32 tid, u32 seg, u8 flags)
{
	peer_push(&(struct peer_mad){ .tid = tid, .seg = seg, .flags = flags,
				      .paylen_newwin = flags & LAST ? FULL : 0 });
}

static void send(u32 tid, u32 seg, u8 flags)
{
	push(tid, seg, flags);
	peer_quiesce();
}

static u64 unasked_tid(u32 tid)
{
	return (u64)peer_agent->hi_tid << 32 | tid;
}

/* Unfinished transfers are refused above half of the limit, and freed after a time. */
static void unfinished_transfers_are_bounded(struct kunit *test)
{
	int tid, seg;

	for (tid = 1; tid <= 12; tid++)
		for (seg = 1; seg <= 5; seg++)
			send(tid, seg, seg == 1 ? FIRST : 0);
	KUNIT_EXPECT_LE(test, peer_bytes(), LIMIT / 2);
	KUNIT_EXPECT_GE(test, peer_bytes(), LIMIT / 4);
	KUNIT_EXPECT_GT(test, atomic_read(&peer_seen.stops), 0);
	KUNIT_EXPECT_EQ(test, peer_seen.stop_status, IB_MGMT_RMPP_STATUS_RESX);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RECV_OVERFLOW),
			atomic_read(&peer_seen.stops));
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	msleep(60000);
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	send(99, 1, FIRST | LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
}

/* Finished transfers count until their client has read them. */
static void unread_transfers_are_bounded(struct kunit *test)
{
	int tid, taken;

	peer_client.sleep_ms = 100000;
	for (tid = 1; tid <= 60; tid++) {
		send(tid, 1, FIRST);
		send(tid, 2, LAST);
	}
	/* The client is reading one, the others wait. */
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 0);
	KUNIT_EXPECT_LE(test, peer_bytes(), LIMIT / 2);
	KUNIT_EXPECT_GE(test, peer_bytes(), LIMIT / 4);
	KUNIT_EXPECT_GT(test, atomic_read(&peer_seen.stops), 0);
	taken = peer_counter(IBMAD_RMPP_RECEIVED);
	KUNIT_EXPECT_EQ(test, taken, LIMIT / 2 / (2 * IB_MGMT_MAD_SIZE) + 1);

	peer_client.sleep_ms = 0;
	msleep(100000);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.received, taken));
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	send(99, 1, FIRST);
	send(99, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), taken + 1);
}

/* Responses are received even if others send unsolicited transfers. */
static void a_flood_leaves_room_for_answers(struct kunit *test)
{
	struct peer_mad answer = { .method = IB_MGMT_METHOD_GET_RESP };
	int tid;

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 100000, 0), 0);
	peer_quiesce();
	answer.whole_tid = peer_seen.tid;
	for (tid = 1; tid <= 100; tid++)
		send(tid, 1, FIRST);
	KUNIT_EXPECT_GT(test, atomic_read(&peer_seen.stops), 0);
	KUNIT_EXPECT_EQ(test, peer_bytes(), LIMIT / 2);
	for (answer.seg = 1; answer.seg <= 20; answer.seg++) {
		answer.flags = answer.seg == 1 ? FIRST : answer.seg == 20 ? LAST : 0;
		answer.paylen_newwin = FULL;
		peer_send(&answer);
	}
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, peer_client.segments, 20);
}

/* Responses are bounded too. */
static void answers_without_end(struct kunit *test)
{
	struct peer_mad answer = { .method = IB_MGMT_METHOD_GET_RESP };

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 100000, 0), 0);
	peer_quiesce();
	answer.whole_tid = peer_seen.tid;
	for (answer.seg = 1; answer.seg <= 70; answer.seg++) {
		answer.flags = answer.seg == 1 ? FIRST : 0;
		peer_send(&answer);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.stops), 1);
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 0);
}

static void begin_from(u16 slid, u32 tid)
{
	peer_push(&(struct peer_mad){ .slid = slid, .tid = tid, .seg = 1,
				      .flags = FIRST });
	if (tid % 64 == 0)
		peer_quiesce();
}

/* A source that begins many transfers leaves room for others; ending some makes room. */
static void a_source_has_its_share(struct kunit *test)
{
	u32 tid;

	ibmad_rmpp_max_bytes = usual_limit;
	for (tid = 1; tid <= HELD; tid++)
		begin_from(OTHERS, tid);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), SHARE);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RECV_OVERFLOW), HELD - SHARE);
	send(1, 1, FIRST | LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	for (tid = 1; tid <= 2; tid++)
		peer_send(&(struct peer_mad){ .slid = OTHERS, .tid = tid, .seg = 2,
					      .flags = LAST, .paylen_newwin = FULL });
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 3);
	for (tid = HELD + 1; tid <= HELD + 3; tid++)
		begin_from(OTHERS, tid);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), SHARE + 3);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RECV_OVERFLOW), HELD - SHARE + 1);
}

/* Transfers that are begun and left alone: half of the reassemblies are for responses. */
static void transfers_begun_are_bounded(struct kunit *test)
{
	struct peer_mad answer = { .method = IB_MGMT_METHOD_GET_RESP, .seg = 1,
				   .flags = FIRST | LAST, .paylen_newwin = FULL };
	int tid;

	ibmad_rmpp_max_bytes = usual_limit;
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 100000, 0), 0);
	peer_quiesce();
	answer.whole_tid = peer_seen.tid;
	for (tid = 1; tid <= HELD / 2 + 10; tid++)
		begin_from(OTHERS + tid % 8, tid);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), HELD / 2u);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RECV_OVERFLOW), 10);
	peer_send(&answer);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_SUCCESS);
}

/* Finished transfers stay to repeat their ACKs, but give way to new ones. */
static void finished_transfers_give_way(struct kunit *test)
{
	int tid;

	ibmad_rmpp_max_bytes = usual_limit;
	for (tid = 1; tid <= HELD + 100; tid++) {
		push(tid, 1, FIRST | LAST);
		if (tid % 64 == 0)
			peer_quiesce();
	}
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), HELD + 100);
	KUNIT_EXPECT_LE(test, peer_reassemblies(), HELD);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RECV_OVERFLOW), 0);
	/* The oldest ones were freed first, so this one is still known. */
	send(HELD + 100, 1, FIRST | LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), HELD + 100);
}

/*
 * Deregistration during this: complete transfers are delivered, unfinished ones dropped.
 */
static void deregister_with_much_unread(struct kunit *test)
{
	struct ib_mad_agent *agent = peer_agent;
	int tid;

	peer_client.sleep_ms = 100;
	for (tid = 1; tid <= 20; tid++) {
		push(tid, 1, FIRST);
		peer_quiesce();
		if (tid & 1)
			push(tid, 2, LAST);
	}
	peer_quiesce();
	fake_hca_flush(peer_hca);
	peer_hca->verdict = NULL;
	ib_unregister_mad_agent(agent);
	peer_agent = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 10);
}

/* Each allocation while a segment is received fails once; the peer sends it again. */
static void segments_without_memory(struct kunit *test)
{
	static const struct {
		u32 seg;
		u8 flags;
	} order[] = { { 1, FIRST }, { 3, 0 }, { 2, 0 }, { 4, LAST } };
	u32 tid;
	int i, k, n;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		for (n = 1; n < 10; n++) {
			tid = i * 10 + n;
			for (k = 0; k < i; k++)
				send(tid, order[k].seg, order[k].flags);
			peer_fail_nth = n;
			send(tid, order[i].seg, order[i].flags);
			peer_fail_nth = 0;
			/* The segment again, and the rest of the transfer. */
			for (k = i; k < ARRAY_SIZE(order); k++)
				send(tid, order[k].seg, order[k].flags);
			KUNIT_EXPECT_EQ_MSG(test, atomic_read(&peer_client.received),
					    i * 9 + n, "segment %u, allocation %d",
					    order[i].seg, n);
		}
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
}

/* An unsolicited response costs nothing, not even an address handle. */
static void a_flood_of_responses_costs_nothing(struct kunit *test)
{
	int i, handles = atomic_read(&peer_hca->alive[FAKE_AH]);

	for (i = 1; i <= 200; i++) {
		peer_push(&(struct peer_mad){ .whole_tid = unasked_tid(i), .seg = 1,
					      .flags = FIRST,
					      .method = IB_MGMT_METHOD_GET_RESP });
		if (i % 50 == 0)
			peer_quiesce();
	}
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_hca->alive[FAKE_AH]), handles);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_hca->sent), 0);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 200);
}

/* Sends ACKs of @seg every @ms, for a transfer of 10 segments that were all sent. */
static void acknowledge_for_ever(struct kunit *test, u32 seg, unsigned int ms,
				 unsigned int bound_ms)
{
	struct peer_mad ack = { .type = IB_MGMT_RMPP_TYPE_ACK, .seg = 1,
				.method = IB_MGMT_METHOD_SEND | IB_MGMT_METHOD_RESP,
				.paylen_newwin = 10 };
	unsigned long since;

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_SEND, 1, 10 * PEER_SEG_BYTES, 0,
					0), 0);
	peer_quiesce();
	ack.whole_tid = peer_seen.tid;
	peer_send(&ack);
	KUNIT_EXPECT_EQ(test, peer_seen.data_seg, 10u);
	ack.seg = seg;
	since = jiffies;
	while (!atomic_read(&peer_client.sent) &&
	       jiffies_to_msecs(jiffies - since) < bound_ms) {
		peer_push(&ack);
		msleep(ms);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 1);
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_RESP_TIMEOUT_ERR);
}

/* A receiver that repeats its ACK does not prolong a transfer. */
static void acks_without_progress(struct kunit *test)
{
	acknowledge_for_ever(test, 9, 500, 5000);
}

/* Even ACKs that report a loss do not: the segment that is resent is lost as well. */
static void acks_of_a_loss_without_end(struct kunit *test)
{
	acknowledge_for_ever(test, 1, 100, 30000);
}

/* Only the wait for the response has no timeout, the one for ACKs has. */
static void a_transfer_without_timeout(struct kunit *test)
{
	struct ib_mad_send_buf *buf = peer_request(IB_MGMT_METHOD_GET, 1, 100, -1, 3);

	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.data), 1);
	msleep(3000);
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.again), 1);
	peer_send(&(struct peer_mad){
		.whole_tid = peer_seen.tid, .type = IB_MGMT_RMPP_TYPE_ACK, .seg = 1,
		.method = IB_MGMT_METHOD_GET_RESP, .paylen_newwin = 1 });
	msleep(100000);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.sent), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), 0);
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
}

static struct kunit_case rmpp_bound_cases[] = {
	KUNIT_CASE_SLOW(unfinished_transfers_are_bounded),
	KUNIT_CASE_SLOW(unread_transfers_are_bounded),
	KUNIT_CASE_SLOW(a_flood_leaves_room_for_answers),
	KUNIT_CASE(answers_without_end),
	KUNIT_CASE(a_source_has_its_share),
	KUNIT_CASE(transfers_begun_are_bounded),
	KUNIT_CASE(finished_transfers_give_way),
	KUNIT_CASE(deregister_with_much_unread),
	KUNIT_CASE_SLOW(segments_without_memory),
	KUNIT_CASE(a_flood_of_responses_costs_nothing),
	KUNIT_CASE(acks_without_progress),
	KUNIT_CASE_SLOW(acks_of_a_loss_without_end),
	KUNIT_CASE_SLOW(a_transfer_without_timeout),
	{}
};

static struct kunit_suite ibmad_rmpp_bound_suite = {
	.name = "ib_mad_rmpp_bound",
	.init = bound_test_init,
	.exit = bound_test_exit,
	.test_cases = rmpp_bound_cases,
};

kunit_test_suite(ibmad_rmpp_bound_suite);
