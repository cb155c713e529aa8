// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search for the path to the sender of a transfer, while it lasts and if it fails:
 * the adapter creates address handles slowly, or refuses to.
 */
#include "rmpp_peer.h"

#define FULL		(PEER_CLASS_LEN + PEER_SEG_BYTES)
#define UNKNOWN_LID	0x7777		/* not known to any agent */
#define SLOW_MS		4000		/* to find the path to it */
#define LOOKUPS		128		/* IBMAD_RMPP_MAX_LOOKUPS */

static void slowly(struct fake_hca *hca)
{
	msleep(SLOW_MS);
}

static void slowly_once(struct fake_hca *hca)
{
	hca->on_create_ah = NULL;
	slowly(hca);
}

static void send_from(u16 slid, u32 tid, u32 seg, u8 flags)
{
	peer_send(&(struct peer_mad){ .slid = slid, .tid = tid, .seg = seg, .flags = flags,
				      .paylen_newwin = flags & LAST ? FULL : 0 });
}

/* Sends the first segment of a transfer, which begins the search for its sender. */
static void an_unknown_peer_begins(struct kunit *test)
{
	peer_hca->on_create_ah = slowly_once;
	send_from(UNKNOWN_LID, 1, 1, FIRST);
	KUNIT_EXPECT_NULL(test, peer_hca->on_create_ah);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(peer_agent)->refs), 2u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 0);
}

static void he_is_found(void)
{
	msleep(SLOW_MS + 500);
	peer_quiesce();
}

static void expect_over(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, peer_bytes(), 0);
	KUNIT_EXPECT_EQ(test, to_agent(peer_agent)->rmpp.lookups, 0u);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(peer_agent)->refs), 1u);
	/* Each send buffer has a reference: those of ACKs and ABORTs have been freed. */
	KUNIT_EXPECT_EQ(test, kref_read(&to_agent(peer_agent)->kref), 1u);
}

static void an_unknown_peer_holds_nobody_up(struct kunit *test)
{
	unsigned long start = jiffies;

	an_unknown_peer_begins(test);
	send_from(0, 1, 1, FIRST);
	send_from(0, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 2);
	/* Segments that arrive during the search are dropped. */
	send_from(UNKNOWN_LID, 1, 1, FIRST);
	send_from(UNKNOWN_LID, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 2);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 2u);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start + HZ));
	he_is_found();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 3);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 1u);
	send_from(UNKNOWN_LID, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 2);
	KUNIT_EXPECT_EQ(test, peer_client.segments, 2);
	/* Each segment is counted once. */
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_SEGMENTS), 4);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 2);
	expect_over(test);
}

static void an_unknown_peer_who_is_not_found(struct kunit *test)
{
	atomic_set(&peer_hca->fail_create[FAKE_AH], 1);
	send_from(UNKNOWN_LID, 1, 1, FIRST);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_hca->sent), 0);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 1);
	expect_over(test);
	/* When the sender tries again, the path is found. */
	send_from(UNKNOWN_LID, 1, 1, FIRST);
	send_from(UNKNOWN_LID, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	expect_over(test);
}

/* The peer aborts the transfer, and begins it again, before the first search ends. */
static void a_transfer_that_ends_meanwhile(struct kunit *test)
{
	an_unknown_peer_begins(test);
	peer_send(&(struct peer_mad){ .slid = UNKNOWN_LID, .tid = 1,
				      .type = IB_MGMT_RMPP_TYPE_ABORT,
				      .status = IB_MGMT_RMPP_STATUS_UNSPEC });
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 1);
	/* The path is the same, so one search is enough. */
	send_from(UNKNOWN_LID, 1, 1, FIRST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 0);
	he_is_found();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 1);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
	send_from(UNKNOWN_LID, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	expect_over(test);
}

/* When the response could be acknowledged, its request has timed out. */
static void a_request_that_ends_meanwhile(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, SLOW_MS / 2, 0), 0);
	peer_quiesce();
	peer_hca->on_create_ah = slowly_once;
	peer_send(&(struct peer_mad){ .whole_tid = peer_seen.tid, .seg = 1, .flags = FIRST,
				      .method = IB_MGMT_METHOD_GET_RESP });
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 1u);
	he_is_found();
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), 0);
	KUNIT_EXPECT_EQ(test, peer_seen.abort_status, IB_MGMT_RMPP_STATUS_UNSPEC);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 0u);
	expect_over(test);
}

static void deregister(void)
{
	struct ib_mad_agent *agent = peer_agent;

	peer_hca->verdict = NULL;
	peer_agent = NULL;
	ib_unregister_mad_agent(agent);
}

/* Deregistration waits for the search, and leaves no address handle. */
static void the_agent_goes_meanwhile(struct kunit *test)
{
	int handles = atomic_read(&peer_hca->alive[FAKE_AH]);
	unsigned long start = jiffies;

	an_unknown_peer_begins(test);
	deregister();
	KUNIT_EXPECT_TRUE(test, time_after(jiffies, start + msecs_to_jiffies(SLOW_MS - 100)));
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start + msecs_to_jiffies(SLOW_MS + 500)));
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_hca->sent), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_hca->alive[FAKE_AH]), handles);
}

static void false_ack(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_SEND, 1, 3 * PEER_SEG_BYTES, 0, 3), 0);
	peer_quiesce();
	peer_send(&(struct peer_mad){
		.whole_tid = peer_seen.tid, .type = IB_MGMT_RMPP_TYPE_ACK, .seg = 9,
		.method = IB_MGMT_METHOD_SEND | IB_MGMT_METHOD_RESP, .paylen_newwin = 9,
	});
	KUNIT_EXPECT_TRUE(test, mad_wait(&peer_client.sent, 1));
	KUNIT_EXPECT_EQ(test, peer_client.status, IB_WC_REM_ABORT_ERR);
}

/* The transfer ends at once; the ABORT is sent when the path was found. */
static void an_abort_takes_its_time(struct kunit *test)
{
	unsigned long start = jiffies;

	peer_hca->on_create_ah = slowly_once;
	false_ack(test);
	send_from(UNKNOWN_LID, 1, 1, FIRST | LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start + HZ));
	he_is_found();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 1);
	expect_over(test);
}

static void an_abort_that_cannot_go(struct kunit *test)
{
	atomic_set(&peer_hca->fail_create[FAKE_AH], 1);
	false_ack(test);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.aborts), 0);
	expect_over(test);
}

static void the_agent_goes_before_an_abort(struct kunit *test)
{
	int handles = atomic_read(&peer_hca->alive[FAKE_AH]);

	peer_hca->on_create_ah = slowly_once;
	false_ack(test);
	deregister();
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_hca->alive[FAKE_AH]), handles);
}

/*
 * The number of searches is bounded, half of them for unsolicited
 * transfers; other peers must send again.
 */
static void many_unknown_peers(struct kunit *test)
{
	struct peer_mad answer = { .method = IB_MGMT_METHOD_GET_RESP, .seg = 1,
				   .flags = FIRST };
	u32 tid;

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 100000, 0), 0);
	peer_quiesce();
	answer.whole_tid = peer_seen.tid;
	peer_hca->on_create_ah = slowly;
	for (tid = 1; tid <= LOOKUPS; tid++)
		peer_push(&(struct peer_mad){ .slid = UNKNOWN_LID, .tid = tid, .seg = 1,
					      .flags = FIRST });
	peer_quiesce();
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), LOOKUPS / 2u);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), LOOKUPS / 2);
	peer_send(&answer);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), LOOKUPS / 2u + 1);
	he_is_found();
	peer_hca->on_create_ah = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), LOOKUPS / 2 + 1);
	KUNIT_EXPECT_EQ(test, to_agent(peer_agent)->rmpp.lookups, 0u);
}

/* ---- handles ---- */

static int handles(void)
{
	return atomic_read(&peer_hca->alive[FAKE_AH]);
}

static void one_handle_for_all_of_a_peer(struct kunit *test)
{
	int before = handles();
	u32 tid;

	for (tid = 1; tid <= 20; tid++)
		send_from(0, tid, 1, FIRST);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 20u);
	KUNIT_EXPECT_EQ(test, handles(), before + 1);
	send_from(UNKNOWN_LID, 1, 1, FIRST);
	KUNIT_EXPECT_EQ(test, handles(), before + 2);
	/* A finished transfer holds no address handle, though it is still known. */
	for (tid = 1; tid <= 20; tid++)
		send_from(0, tid, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 20);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 21u);
	KUNIT_EXPECT_EQ(test, handles(), before + 1);
	/* Nevertheless its ACK is repeated. */
	tid = atomic_read(&peer_seen.acks);
	send_from(0, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_seen.acks), tid + 1);
	KUNIT_EXPECT_EQ(test, peer_seen.ack_seg, 2u);
	KUNIT_EXPECT_EQ(test, handles(), before + 1);
}

/*
 * An adapter with few address handles: transfers may use a
 * quarter, unsolicited ones half of that.
 */
static void handles_are_left_for_others(struct kunit *test)
{
	struct peer_mad answer = { .method = IB_MGMT_METHOD_GET_RESP, .seg = 1,
				   .flags = FIRST };
	int before = handles();
	u32 tid;

	peer_hca->ibdev.attrs.max_ah = 80;
	for (tid = 0; tid < 15; tid++)
		send_from(UNKNOWN_LID + tid, 1, 1, FIRST);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 10u);
	KUNIT_EXPECT_EQ(test, handles(), before + 10);
	KUNIT_EXPECT_EQ(test, peer_counter(IBMAD_RMPP_DROPPED), 5);
	/* A transfer from the same peer shares an address handle. */
	send_from(UNKNOWN_LID, 2, 1, FIRST);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 11u);

	KUNIT_ASSERT_EQ(test, peer_post(IB_MGMT_METHOD_GET, 0, 100, 100000, 0), 0);
	peer_quiesce();
	answer.whole_tid = peer_seen.tid;
	peer_send(&answer);
	KUNIT_EXPECT_EQ(test, peer_reassemblies(), 12u);
	KUNIT_EXPECT_EQ(test, handles(), before + 11);

	/* Finished transfers free their address handles, unless a response shares one. */
	send_from(UNKNOWN_LID, 1, 2, LAST);
	send_from(UNKNOWN_LID, 2, 2, LAST);
	send_from(UNKNOWN_LID + 1, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, handles(), before + 9);
	send_from(UNKNOWN_LID + 14, 1, 1, FIRST);
	KUNIT_EXPECT_EQ(test, handles(), before + 10);
	send_from(UNKNOWN_LID + 14, 1, 2, LAST);
	KUNIT_EXPECT_EQ(test, atomic_read(&peer_client.received), 4);
}

static struct kunit_case rmpp_way_cases[] = {
	KUNIT_CASE(an_unknown_peer_holds_nobody_up),
	KUNIT_CASE(an_unknown_peer_who_is_not_found),
	KUNIT_CASE(a_transfer_that_ends_meanwhile),
	KUNIT_CASE(a_request_that_ends_meanwhile),
	KUNIT_CASE(the_agent_goes_meanwhile),
	KUNIT_CASE(an_abort_takes_its_time),
	KUNIT_CASE(an_abort_that_cannot_go),
	KUNIT_CASE(the_agent_goes_before_an_abort),
	KUNIT_CASE(many_unknown_peers),
	KUNIT_CASE(one_handle_for_all_of_a_peer),
	KUNIT_CASE(handles_are_left_for_others),
	{}
};

static struct kunit_suite ibmad_rmpp_way_suite = {
	.name = "ib_mad_rmpp_way",
	.init = peer_test_init,
	.exit = peer_test_exit,
	.test_cases = rmpp_way_cases,
};

kunit_test_suite(ibmad_rmpp_way_suite);
