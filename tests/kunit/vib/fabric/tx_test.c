// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A port's transmitter: credits, queues, lifetimes (IBA vol. 1, 7.6, 7.9, 16.1.3.5, 18.2.5.4).
 *
 *	a:1 ---------- b:1
 *	a:2 --- sw --- b:2	by ports 1 and 2 of the switch
 *
 * a has the LIDs 1 and 3, b has 2 and 4.
 */
#include "fabric_net.h"

/* Blocks of a packet with a payload of 0, 256, 4096 bytes */
#define EMPTY	1
#define MAD	5
#define LONG	65
#define CHAIN	6	/* switches */

static struct fab *fab;
static struct fab_node *a, *b, *sw;
static struct vib_link *direct, *near, *far;
static struct vib_port *out;		/* a:1 */
static struct vib_port *relay;		/* sw:2 */

static int tx_test_init(struct kunit *test)
{
	fab = fab_new(test);
	a = fab_ca(fab, 2);
	b = fab_ca(fab, 2);
	sw = fab_switch(fab, 2);
	out = fab_port(a, 1);
	relay = fab_port(sw, 2);
	direct = fab_link(fab, out, fab_port(b, 1));
	near = fab_link(fab, fab_port(a, 2), fab_port(sw, 1));
	far = fab_link(fab, relay, fab_port(b, 2));
	sw->sw->lft[4] = 2;
	fab_activate(fab);
	return 0;
}

static void send(u8 vl, u16 len, u32 psn)
{
	fab_send(fab, out, &(struct fab_spec){
		.vl = vl, .sl = vl, .dlid = 2, .slid = 1, .pkey = 0xffff, .len = len, .psn = psn,
	});
}

/* By way of the switch. */
static void send_far(u8 vl, u16 len, u32 psn)
{
	fab_send(fab, fab_port(a, 2), &(struct fab_spec){
		.vl = vl, .sl = vl, .dlid = 4, .slid = 3, .pkey = 0xffff, .len = len, .psn = psn,
	});
}

static u32 credits(const struct vib_port *port, u8 vl)
{
	return READ_ONCE(port->tx.credits[vl]);
}

static void expect_all_credits(struct kunit *test, const struct vib_port *port)
{
	unsigned int vl;

	for (vl = 0; vl < VIB_VLS; vl++)
		KUNIT_EXPECT_EQ_MSG(test, credits(port, vl), fab->full, "VL %u", vl);
}

/* ---- room in the buffer at the other end ---- */

static void a_packet_takes_room_until_it_is_freed(struct kunit *test)
{
	struct vib_packet *pkt;

	send(0, 4096, 1);
	KUNIT_EXPECT_EQ(test, credits(out, 0), fab->full - LONG);
	KUNIT_EXPECT_EQ(test, credits(out, 1), fab->full);
	send(1, 256, 2);
	KUNIT_EXPECT_EQ(test, credits(out, 1), fab->full - MAD);
	pkt = fab_take(fab, b);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_PTR_EQ(test, pkt->held, &out->tx);
	vib_packet_free(pkt);
	KUNIT_EXPECT_EQ(test, credits(out, 0), fab->full);
	KUNIT_EXPECT_EQ(test, credits(out, 1), fab->full - MAD);
	fab_drop(b);
	expect_all_credits(test, out);
	/* What the other end sends has room of its own. */
	expect_all_credits(test, fab_port(b, 1));
}

/* On each VL, VL15 as well, so many fit in that the link is never idle, but not all. */
static void the_room_is_bounded(struct kunit *test)
{
	static const u8 vls[] = { 0, FAB_VLS - 1, VIB_VL_MGMT };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(vls); i++) {
		for (n = 0; n < 2 * fab->full / MAD && !out->tx.total; n++)
			send(vls[i], 256, n);
		KUNIT_EXPECT_EQ_MSG(test, n, fab->full / MAD + 1, "VL %u", vls[i]);
		KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, b), fab->full / MAD, "VL %u", vls[i]);
		/* The last one comes as room is made for it. */
		fab_drop(b);
		fab_wait_idle(fab);
		fab_drop(b);
	}
	expect_all_credits(test, out);
}

static void a_packet_gives_up_the_room_it_had(struct kunit *test)
{
	struct vib_packet *pkt;

	fab_starve(relay, 0);
	send_far(0, 256, 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 0);
	KUNIT_EXPECT_EQ(test, relay->tx.total, 1);
	KUNIT_EXPECT_EQ(test, credits(fab_port(a, 2), 0), fab->full - MAD);
	fab_feed(relay, 0, MAD);
	pkt = fab_take(fab, b);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_EXPECT_PTR_EQ(test, pkt->held, &relay->tx);
	KUNIT_EXPECT_EQ(test, credits(fab_port(a, 2), 0), fab->full);
	KUNIT_EXPECT_EQ(test, credits(relay, 0), 0);
	vib_packet_free(pkt);
	KUNIT_EXPECT_EQ(test, credits(relay, 0), MAD);
}

/* The switch's table maps SL 5 to VL 2 behind it: room is taken of that, given back of 5. */
static void a_packet_changes_lanes(struct kunit *test)
{
	u8 *table = sw->sw->sl_to_vl[1 * 3 + 2];

	table[5] = 2;
	fab_starve(relay, 2);
	send_far(5, 256, 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 0);
	KUNIT_EXPECT_EQ(test, credits(fab_port(a, 2), 5), fab->full - MAD);
	fab_feed(relay, 2, MAD);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	expect_all_credits(test, fab_port(a, 2));
	KUNIT_EXPECT_EQ(test, credits(relay, 5), fab->full);
	fab_drop(b);
	KUNIT_EXPECT_EQ(test, credits(relay, 2), MAD);
}

static void credits_of_a_link_before_are_void(struct kunit *test)
{
	send(0, 256, 1);
	send(15, 256, 2);
	fab_cut(fab, direct, true);
	expect_all_credits(test, out);
	fab_cut(fab, direct, false);
	KUNIT_ASSERT_EQ(test, out->state, IB_PORT_INIT);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 2);
	fab_drop(b);
	expect_all_credits(test, out);
	vib_tx_credit(&out->tx, 0, 3, out->tx.era - 1);
	vib_tx_credit(&out->tx, 0, 3, out->tx.era + 1);
	expect_all_credits(test, out);
	vib_tx_credit(&out->tx, 0, 3, out->tx.era);
	KUNIT_EXPECT_EQ(test, credits(out, 0), fab->full + 3);
}

/* ---- order ---- */

static void without_credits_packets_wait_in_order(struct kunit *test)
{
	fab_starve(out, 0);
	send(0, 4096, 1);
	send(0, 0, 2);
	send(0, 0, 3);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 0);
	KUNIT_EXPECT_EQ(test, out->tx.total, 3);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_WAIT), 3);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_PKTS), 0);
	/* Room for both behind it, and not for the first. */
	fab_feed(out, 0, LONG - 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 0);
	fab_feed(out, 0, 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	KUNIT_EXPECT_EQ(test, out->tx.total, 2);
	/* A new one does not overtake those that wait. */
	send(0, 0, 4);
	fab_feed(out, 0, 2 * EMPTY);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 3);
	fab_feed(out, 0, EMPTY);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 1);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 2);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 3);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 4);
	KUNIT_EXPECT_EQ(test, out->tx.total, 0);
}

static void lanes_do_not_wait_for_one_another(struct kunit *test)
{
	fab_starve(out, 0);
	send(0, 256, 1);
	send(1, 256, 2);
	send(15, 256, 3);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 2);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 3);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 0);
	/* Nor does one that has waited itself. */
	fab_starve(out, 1);
	send(1, 256, 4);
	fab_feed(out, 1, MAD);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 4);
	KUNIT_EXPECT_EQ(test, out->tx.total, 1);
}

static void smps_go_before_data(struct kunit *test)
{
	fab_starve(out, 0);
	fab_starve(out, 15);
	send(0, 256, 1);
	send(15, 256, 2);
	send(0, 256, 3);
	send(15, 256, 4);
	local_bh_disable();
	fab_feed(out, 0, 2 * MAD);
	fab_feed(out, 15, 2 * MAD);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 2);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 4);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 1);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 3);
}

#define LANES	4
#define ROUNDS	3

static void data_lanes_take_turns(struct kunit *test)
{
	unsigned int i, vl, round, seen;
	u32 psn;

	for (vl = 0; vl < LANES; vl++) {
		fab_starve(out, vl);
		for (i = 1; i <= ROUNDS; i++)
			send(vl, 256, i * 16 + vl);
	}
	local_bh_disable();
	for (vl = 0; vl < LANES; vl++)
		fab_feed(out, vl, ROUNDS * MAD);
	local_bh_enable();
	/* In each round one of each lane, the lane's next. */
	for (round = 1; round <= ROUNDS; round++) {
		seen = 0;
		for (i = 0; i < LANES; i++) {
			psn = fab_take_psn(fab, b);
			KUNIT_EXPECT_EQ(test, psn / 16, round);
			seen |= BIT(psn % 16);
		}
		KUNIT_EXPECT_EQ_MSG(test, seen, BIT(LANES) - 1, "round %u", round);
	}
}

/* ---- what is not sent ---- */

struct pass_case {
	u8 state, vl;
	u16 len;
	u8 hops;
	bool passes;
};

/* The neighbour takes 2048 bytes, there are 4 data VLs. */
static const struct pass_case pass_cases[] = {
	{ IB_PORT_ACTIVE, 0, 2048, 0, true },
	{ IB_PORT_ACTIVE, 0, 2049, 0, false },
	{ IB_PORT_ACTIVE, 3, 64, 0, true },
	{ IB_PORT_ACTIVE, 4, 64, 0, false },
	{ IB_PORT_ACTIVE, 14, 64, 0, false },
	{ IB_PORT_ACTIVE, 0, 64, VIB_MAX_HOPS - 1, true },
	{ IB_PORT_ACTIVE, 0, 64, VIB_MAX_HOPS, false },
	{ IB_PORT_ACTIVE, 0, 64, U8_MAX, false },
	/* 7.2.7: data in Active alone, SMPs in all states but Down */
	{ IB_PORT_ARMED, 0, 64, 0, false },
	{ IB_PORT_INIT, 0, 64, 0, false },
	{ IB_PORT_DOWN, 0, 64, 0, false },
	{ IB_PORT_ACTIVE, 15, 256, 0, true },
	{ IB_PORT_ARMED, 15, 256, 0, true },
	{ IB_PORT_INIT, 15, 256, 0, true },
	{ IB_PORT_DOWN, 15, 256, 0, false },
	/* 13.4.2: a MAD has 256 bytes */
	{ IB_PORT_ACTIVE, 15, 257, 0, false },
	{ IB_PORT_INIT, 15, 256, VIB_MAX_HOPS, false },
};

static struct vib_packet *pass_packet(struct kunit *test, const struct pass_case *c)
{
	struct vib_packet *pkt;

	pkt = fab_packet(test, &(struct fab_spec){
		.vl = c->vl, .dlid = 2, .slid = 1, .len = c->len,
	});
	pkt->hops = c->hops;
	return pkt;
}

static void what_a_port_may_not_send_is_discarded(struct kunit *test)
{
	const struct pass_case *c;
	unsigned int i;
	u64 before;

	out->mtu = IB_MTU_2048;
	out->op_vls = 4;
	for (i = 0; i < ARRAY_SIZE(pass_cases); i++) {
		c = &pass_cases[i];
		out->state = c->state;
		before = vib_port_counter(out, VIB_XMIT_DISCARDS);
		vib_port_xmit(out, pass_packet(test, c));
		KUNIT_EXPECT_EQ_MSG(test, fab_count(fab, b), c->passes, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, out->tx.total, 0, "case %u", i);
		if (c->vl != VIB_VL_MGMT)
			KUNIT_EXPECT_EQ_MSG(test,
					    vib_port_counter(out, VIB_XMIT_DISCARDS) - before,
					    !c->passes, "case %u", i);
		fab_drop(b);
	}
	expect_all_credits(test, out);
}

static void without_a_link_nothing_is_sent(struct kunit *test)
{
	vib_link_unplug(direct);
	/* Whatever its state: the peer is what counts. */
	out->state = IB_PORT_ACTIVE;
	send(0, 256, 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_DISCARDS), 1);
	KUNIT_EXPECT_EQ(test, out->tx.total, 0);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 0);
	out->state = IB_PORT_DOWN;
}

/*
 * 16.1.3.5: PortXmitDiscards are outbound packets of any VL.  VL15Dropped are incoming ones
 * for which there was no room.
 */
static void an_smp_that_is_not_sent_counts_as_discarded(struct kunit *test)
{
	out->state = IB_PORT_DOWN;
	send(15, 256, 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_DISCARDS), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_VL15_DROPPED), 0);
}

/* ---- counters ---- */

static void both_ends_count_data(struct kunit *test)
{
	struct vib_port *in = fab_port(b, 1);

	/* 72 words from LRH to ICRC, and 9 */
	send(0, 256, 1);
	fab_send(fab, out, &(struct fab_spec){ .dlid = 0xc001, .slid = 1, .len = 1 });
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 2);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_DATA), 81);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_DATA), 81);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_PKTS), 2);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_RCV_PKTS), 2);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_UCAST_XMIT_PKTS), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_UCAST_RCV_PKTS), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_MCAST_XMIT_PKTS), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_MCAST_RCV_PKTS), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_RCV_PKTS), 0);
	KUNIT_EXPECT_EQ(test, vib_port_counter(in, VIB_XMIT_PKTS), 0);
}

/* 16.1.3.5: data and packets are those of all VLs. */
static void both_ends_count_smps(struct kunit *test)
{
	send(15, 256, 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_DATA), 72);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_PKTS), 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(fab_port(b, 1), VIB_RCV_PKTS), 1);
}

/* ---- long ways ---- */

/* The port of a new adapter, behind which switches in a row lead to b:1, LID 9. */
static struct vib_port *chain(void)
{
	struct fab_node *first = fab_ca(fab, 1), *sws;
	struct vib_port *port = fab_port(first, 1);
	unsigned int i;

	for (i = 0; i < CHAIN; i++) {
		sws = fab_switch(fab, 2);
		sws->sw->lft[9] = 2;
		fab_link(fab, port, fab_port(sws, 1));
		port = fab_port(sws, 2);
	}
	vib_link_unplug(direct);
	fab_link(fab, port, fab_port(b, 1));
	fab_activate(fab);
	return fab_port(first, 1);
}

static void a_long_way_is_gone_in_order(struct kunit *test)
{
	struct vib_port *first = chain();
	struct vib_packet *pkt;
	unsigned int i;

	for (i = 1; i <= 20; i++)
		fab_send(fab, first, &(struct fab_spec){ .dlid = 9, .slid = 8, .psn = i });
	for (i = 1; i <= 20; i++) {
		pkt = fab_take(fab, b);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		KUNIT_EXPECT_EQ(test, ib_bth_get_psn(vib_packet_bth(pkt)), i);
		KUNIT_EXPECT_EQ(test, pkt->hops, CHAIN + 1);
		vib_packet_free(pkt);
	}
	expect_all_credits(test, first);
}

/* There was room on each link: a call chain that got too deep is not what the counter is for. */
static void who_finds_credits_has_not_waited(struct kunit *test)
{
	struct vib_port *first = chain();

	fab_send(fab, first, &(struct fab_spec){ .dlid = 9, .slid = 8 });
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	KUNIT_EXPECT_EQ(test, fab_sum(fab, VIB_XMIT_WAIT), 0);
}

/* ---- who has more to send ---- */

static void waiter_work(struct work_struct *work);

static unsigned int woken;
static DECLARE_WORK(work, waiter_work);
static struct vib_waiter waiter = { .work = &work };

static void waiter_work(struct work_struct *work)
{
	woken++;
}

/* Has packets wait until the port takes no more; how many. */
static unsigned int fill(struct kunit *test)
{
	unsigned int n;

	INIT_LIST_HEAD(&waiter.entry);
	woken = 0;
	fab_starve(out, 0);
	for (n = 0; n < 1000 && vib_port_ready(out, 0, &waiter); n++)
		send(0, 0, n + 1);
	KUNIT_ASSERT_GT(test, n, 0);
	KUNIT_ASSERT_LT(test, n, 1000);
	KUNIT_ASSERT_EQ(test, out->tx.total, n);
	return n;
}

static void a_waiter_goes_on_once_there_is_room(struct kunit *test)
{
	unsigned int n = fill(test);

	KUNIT_EXPECT_FALSE(test, list_empty(&waiter.entry));
	/* To ask again is to wait once. */
	KUNIT_EXPECT_FALSE(test, vib_port_ready(out, 0, &waiter));
	KUNIT_EXPECT_TRUE(test, list_is_singular(&out->tx.waiters));
	fab_wait_idle(fab);
	KUNIT_EXPECT_EQ(test, woken, 0);
	fab_feed(out, 0, EMPTY);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	KUNIT_EXPECT_EQ(test, woken, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&waiter.entry));
	KUNIT_EXPECT_TRUE(test, vib_port_ready(out, 0, &waiter));
	KUNIT_EXPECT_TRUE(test, list_empty(&waiter.entry));
	fab_feed(out, 0, n);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), n);
	KUNIT_EXPECT_EQ(test, woken, 1);
}

static void a_waiter_is_forgotten(struct kunit *test)
{
	unsigned int n = fill(test);

	vib_port_forget(out, &waiter);
	KUNIT_EXPECT_TRUE(test, list_empty(&out->tx.waiters));
	fab_feed(out, 0, n);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), n);
	KUNIT_EXPECT_EQ(test, woken, 0);
	/* Also one that does not wait. */
	vib_port_forget(out, &waiter);
	KUNIT_EXPECT_TRUE(test, list_empty(&waiter.entry));
}

/* What it has to send is discarded then, which is better than to wait for a link. */
static void a_waiter_goes_on_when_the_link_goes(struct kunit *test)
{
	unsigned int n = fill(test);

	fab_cut(fab, direct, true);
	KUNIT_EXPECT_EQ(test, woken, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&waiter.entry));
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_DISCARDS), n);
	KUNIT_EXPECT_TRUE(test, vib_port_ready(out, 0, &waiter));
}

/* ---- lifetimes: 4.096 us * 2^HOQLife at the head of a switch's queue ---- */

#define LIFE_CODE	19
#define LIFE		nsecs_to_jiffies(4096ULL << LIFE_CODE)

/* Two packets wait at the switch, for LIFE or for ever. */
static void wait_at_relay(struct kunit *test, u8 vl, u8 life)
{
	relay->info.vlstallcnt_hoqlife = life;
	fab_starve(relay, vl);
	send_far(vl, 256, 1);
	send_far(vl, 256, 2);
	fab_wait_idle(fab);
	KUNIT_ASSERT_EQ(test, relay->tx.total, 2);
}

/* As if the first @n that wait on @vl had done so for longer than LIFE. */
static void grow_old(struct vib_port *port, u8 vl, unsigned int n)
{
	struct vib_packet *pkt;

	spin_lock_bh(&port->tx.lock);
	list_for_each_entry(pkt, &port->tx.queue[vl], entry) {
		if (!n--)
			break;
		pkt->since -= LIFE + 1;
	}
	spin_unlock_bh(&port->tx.lock);
}

static void expire(struct vib_port *port)
{
	local_bh_disable();
	port->tx.lifetime.function(&port->tx.lifetime);
	local_bh_enable();
}

static void an_old_packet_is_discarded_at_a_switch(struct kunit *test)
{
	wait_at_relay(test, 0, LIFE_CODE);
	KUNIT_EXPECT_TRUE(test, timer_pending(&relay->tx.lifetime));
	expire(relay);
	KUNIT_EXPECT_EQ(test, relay->tx.total, 2);
	grow_old(relay, 0, 1);
	expire(relay);
	KUNIT_EXPECT_EQ(test, relay->tx.total, 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(relay, VIB_XMIT_DISCARDS), 1);
	/* Its room in the switch is free, the other's is not. */
	KUNIT_EXPECT_EQ(test, credits(fab_port(a, 2), 0), fab->full - MAD);
	KUNIT_EXPECT_TRUE(test, timer_pending(&relay->tx.lifetime));
	fab_feed(relay, 0, MAD);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 2);
	/* It comes once more at the most. */
	expire(relay);
	KUNIT_EXPECT_EQ(test, vib_port_counter(relay, VIB_XMIT_DISCARDS), 1);
}

static void each_lane_has_its_lifetimes(struct kunit *test)
{
	wait_at_relay(test, 0, LIFE_CODE);
	fab_starve(relay, 1);
	send_far(1, 256, 3);
	fab_wait_idle(fab);
	grow_old(relay, 1, 1);
	expire(relay);
	KUNIT_EXPECT_EQ(test, relay->tx.total, 2);
	KUNIT_EXPECT_TRUE(test, list_empty(&relay->tx.queue[1]));
}

/* 18.2.5.4: the limit is for the time at the head.  What was behind has its own. */
static void the_time_begins_at_the_head(struct kunit *test)
{
	wait_at_relay(test, 0, LIFE_CODE);
	grow_old(relay, 0, 2);
	expire(relay);
	KUNIT_EXPECT_EQ(test, relay->tx.total, 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(relay, VIB_XMIT_DISCARDS), 1);
}

static void a_lifetime_without_limit(struct kunit *test)
{
	static const u8 codes[] = { 20, 31 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		wait_at_relay(test, 0, codes[i]);
		KUNIT_EXPECT_FALSE(test, timer_pending(&relay->tx.lifetime));
		grow_old(relay, 0, 2);
		expire(relay);
		KUNIT_EXPECT_EQ(test, relay->tx.total, 2);
		fab_feed(relay, 0, 2 * MAD);
		KUNIT_EXPECT_EQ(test, fab_count(fab, b), 2);
		fab_drop(b);
	}
}

static void at_an_adapter_packets_do_not_grow_old(struct kunit *test)
{
	out->info.vlstallcnt_hoqlife = 0;
	fab_starve(out, 0);
	send(0, 256, 1);
	fab_wait_idle(fab);
	KUNIT_EXPECT_FALSE(test, timer_pending(&out->tx.lifetime));
	grow_old(out, 0, 1);
	expire(out);
	KUNIT_EXPECT_EQ(test, out->tx.total, 1);
	KUNIT_EXPECT_EQ(test, vib_port_counter(out, VIB_XMIT_DISCARDS), 0);
}

/* ---- the end of a link ---- */

static void a_reset_discards_all_that_waits(struct kunit *test)
{
	static const u8 vls[] = { 0, 1, FAB_VLS - 1, VIB_VL_MGMT };
	unsigned int i;
	u32 era = out->tx.era;

	for (i = 0; i < ARRAY_SIZE(vls); i++) {
		fab_starve(out, vls[i]);
		send(vls[i], 256, 1);
		send(vls[i], 4 * i, 2);
	}
	KUNIT_ASSERT_EQ(test, out->tx.total, 8);
	fab_cut(fab, direct, true);
	KUNIT_EXPECT_EQ(test, out->tx.total, 0);
	for (i = 0; i < VIB_VLS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, list_empty(&out->tx.queue[i]), "VL %u", i);
	KUNIT_EXPECT_EQ(test, out->tx.era, era + 1);
	expect_all_credits(test, out);
	fab_cut(fab, direct, false);
	KUNIT_EXPECT_EQ(test, out->tx.era, era + 1);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 0);
	/* The link works as it did. */
	fab_activate(fab);
	send(0, 256, 3);
	KUNIT_EXPECT_EQ(test, fab_take_psn(fab, b), 3);
}

/* ---- who is kept by whose packets ---- */

static void a_packet_keeps_the_node_whose_credits_it_has(struct kunit *test)
{
	send(0, 256, 1);
	KUNIT_ASSERT_EQ(test, fab_count(fab, b), 1);
	fab_remove(a);
	KUNIT_EXPECT_FALSE(test, fab_released(a));
	fab_drop(b);
	KUNIT_EXPECT_TRUE(test, fab_released(a));
}

static void a_packet_that_goes_on_keeps_only_the_last(struct kunit *test)
{
	fab_starve(relay, 0);
	send_far(0, 256, 1);
	KUNIT_ASSERT_EQ(test, fab_count(fab, b), 0);
	fab_remove(a);
	KUNIT_EXPECT_FALSE(test, fab_released(a));
	fab_feed(relay, 0, MAD);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 1);
	KUNIT_EXPECT_TRUE(test, fab_released(a));
	fab_remove(sw);
	KUNIT_EXPECT_FALSE(test, fab_released(sw));
	fab_drop(b);
	KUNIT_EXPECT_TRUE(test, fab_released(sw));
}

/* What is discarded, or never sent, keeps nobody. */
static void what_is_discarded_keeps_no_node(struct kunit *test)
{
	fab_starve(relay, 0);
	send_far(0, 256, 1);
	fab_starve(out, 0);
	send(0, 256, 2);
	fab_wait_idle(fab);
	fab_cut(fab, far, true);
	KUNIT_EXPECT_EQ(test, vib_port_counter(relay, VIB_XMIT_DISCARDS), 1);
	fab_remove(a);
	KUNIT_EXPECT_TRUE(test, fab_released(a));
	fab_remove(sw);
	KUNIT_EXPECT_TRUE(test, fab_released(sw));
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(a_packet_takes_room_until_it_is_freed),
	KUNIT_CASE(the_room_is_bounded),
	KUNIT_CASE(a_packet_gives_up_the_room_it_had),
	KUNIT_CASE(a_packet_changes_lanes),
	KUNIT_CASE(credits_of_a_link_before_are_void),
	KUNIT_CASE(without_credits_packets_wait_in_order),
	KUNIT_CASE(lanes_do_not_wait_for_one_another),
	KUNIT_CASE(smps_go_before_data),
	KUNIT_CASE(data_lanes_take_turns),
	KUNIT_CASE(what_a_port_may_not_send_is_discarded),
	KUNIT_CASE(without_a_link_nothing_is_sent),
	KUNIT_CASE(an_smp_that_is_not_sent_counts_as_discarded),
	KUNIT_CASE(both_ends_count_data),
	KUNIT_CASE(both_ends_count_smps),
	KUNIT_CASE(a_long_way_is_gone_in_order),
	KUNIT_CASE(who_finds_credits_has_not_waited),
	KUNIT_CASE(a_waiter_goes_on_once_there_is_room),
	KUNIT_CASE(a_waiter_is_forgotten),
	KUNIT_CASE(a_waiter_goes_on_when_the_link_goes),
	KUNIT_CASE(an_old_packet_is_discarded_at_a_switch),
	KUNIT_CASE(each_lane_has_its_lifetimes),
	KUNIT_CASE(the_time_begins_at_the_head),
	KUNIT_CASE(a_lifetime_without_limit),
	KUNIT_CASE(at_an_adapter_packets_do_not_grow_old),
	KUNIT_CASE(a_reset_discards_all_that_waits),
	KUNIT_CASE(a_packet_keeps_the_node_whose_credits_it_has),
	KUNIT_CASE(a_packet_that_goes_on_keeps_only_the_last),
	KUNIT_CASE(what_is_discarded_keeps_no_node),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "vib_tx",
	.init = tx_test_init,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);
