// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Trunks: two ends in one kernel, over the loopback device. */
#include "faults.h"
#include "trunk_net.h"

#define POLLING		IB_PORT_PHYS_STATE_POLLING
#define DISABLED	IB_PORT_PHYS_STATE_DISABLED

/* ---- the link ---- */

static void a_trunk_brings_both_ports_to_init(struct kunit *test)
{
	struct tn *tn = tn_new(test);

	tn->end[1].port->info.linkspeedactive_enabled = 3;
	tn->end[0].port->info.link_width_enabled = 1;
	KUNIT_ASSERT_EQ(test, tn_open(tn, 0), 0);
	/* One alone waits. */
	KUNIT_EXPECT_FALSE(test, wait_within(!tn_is(tn, 0, IB_PORT_DOWN), 500));
	KUNIT_EXPECT_EQ(test, tn->end[0].port->phys_state, POLLING);
	KUNIT_ASSERT_EQ(test, tn_open(tn, 1), 0);
	KUNIT_ASSERT_TRUE(test, tn_both(tn, IB_PORT_INIT));
	KUNIT_EXPECT_EQ(test, tn->end[0].ca->ups, 1);
	KUNIT_EXPECT_EQ(test, tn->end[1].ca->ups, 1);
	KUNIT_EXPECT_EQ(test, tn->end[0].ca->downs + tn->end[1].ca->downs, 0);
	/* What both can is active. */
	KUNIT_EXPECT_EQ(test, tn->end[0].port->info.link_width_active, IB_WIDTH_1X);
	KUNIT_EXPECT_EQ(test, tn->end[1].port->info.link_width_active, IB_WIDTH_1X);
	KUNIT_EXPECT_EQ(test, tn->end[0].port->info.linkspeedactive_enabled >> 4, IB_SPEED_DDR);
	KUNIT_EXPECT_EQ(test, tn->end[1].port->info.linkspeedactive_enabled >> 4, IB_SPEED_DDR);
	/* It stays. */
	msleep(10 * TN_INTERVAL * VIB_TRUNK_SILENCE);
	KUNIT_EXPECT_EQ(test, tn->end[0].ca->downs + tn->end[1].ca->downs, 0);
}

static void ports_with_nothing_in_common_stay_down(struct kunit *test)
{
	struct tn *tn = tn_new(test);

	tn->end[0].port->info.link_width_enabled = 1;
	tn->end[1].port->info.link_width_enabled = 2;
	KUNIT_ASSERT_EQ(test, tn_open(tn, 0), 0);
	KUNIT_ASSERT_EQ(test, tn_open(tn, 1), 0);
	KUNIT_EXPECT_TRUE(test, wait_within(tn->end[0].trunk->session.state == VIB_TRUNK_UP,
					    1000));
	KUNIT_EXPECT_FALSE(test, wait_within(!tn_is(tn, 0, IB_PORT_DOWN) ||
					     !tn_is(tn, 1, IB_PORT_DOWN), 1000));
	/* Once one of them has more, both come up. */
	tn->end[1].port->info.link_width_enabled = 3;
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_INIT));
	KUNIT_EXPECT_EQ(test, tn->end[0].port->info.link_width_active, IB_WIDTH_1X);
	KUNIT_EXPECT_EQ(test, tn->end[1].port->info.link_width_active, IB_WIDTH_1X);
}

static void set_phys(struct tn *tn, unsigned int end, u8 state)
{
	KUNIT_EXPECT_EQ(tn->test, vib_port_set_phys(tn->end[end].port, state), 0);
}

static void a_port_that_goes_down_takes_the_other_down(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	unsigned int downs = tn->end[1].ca->downs;

	set_phys(tn, 0, DISABLED);
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_DOWN));
	KUNIT_EXPECT_EQ(test, tn->end[1].ca->downs, downs + 1);
	KUNIT_EXPECT_FALSE(test, wait_within(!tn_is(tn, 1, IB_PORT_DOWN), 1000));
	set_phys(tn, 0, POLLING);
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_INIT));
	/* To poll anew takes no time, and the other sees it nevertheless. */
	set_phys(tn, 0, POLLING);
	KUNIT_EXPECT_TRUE(test, wait_within(tn->end[1].ca->downs == downs + 2, TN_LONG));
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_INIT));
}

static void a_cut_trunk_is_down_at_both_ends(struct kunit *test)
{
	struct tn *tn = tn_joined(test);

	vib_link_cut(&tn->end[1].trunk->link, true);
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_DOWN));
	KUNIT_EXPECT_FALSE(test, wait_within(!tn_is(tn, 0, IB_PORT_DOWN), 1000));
	vib_link_cut(&tn->end[1].trunk->link, false);
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_INIT));
}

/* End 1 does not send any more, as if its network had gone; it hears end 0. */
static void a_silent_peer_takes_the_link_down(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	unsigned long since = jiffies;

	disable_work_sync(&tn->end[1].trunk->send);
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_DOWN));
	KUNIT_EXPECT_LE(test, took_ms(jiffies - since),
			TN_INTERVAL * (VIB_TRUNK_SILENCE + 4));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 0, VIB_TRUNK_DOWNS), 1);
	KUNIT_EXPECT_FALSE(test, wait_within(!tn_is(tn, 0, IB_PORT_DOWN), 1000));
	enable_work(&tn->end[1].trunk->send);
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_INIT));
}

static void a_peer_that_closes_is_gone_at_once(struct kunit *test)
{
	struct tn *tn = tn_joined(test);

	/* With this interval silence would be noticed after minutes. */
	spin_lock_bh(&tn->end[0].trunk->lock);
	tn->end[0].trunk->far.interval = 60000;
	spin_unlock_bh(&tn->end[0].trunk->lock);
	tn_close(tn, 1);
	KUNIT_EXPECT_TRUE(test, wait_within(tn_is(tn, 0, IB_PORT_DOWN), 1000));
	KUNIT_EXPECT_EQ(test, tn->end[1].port->state, IB_PORT_DOWN);
	KUNIT_EXPECT_TRUE(test, tn_released(tn, 1));
	KUNIT_EXPECT_EQ(test, tn_open(tn, 1), 0);
	KUNIT_EXPECT_TRUE(test, tn_both(tn, IB_PORT_INIT));
}

static void a_node_that_is_removed_takes_the_trunk_down(struct kunit *test)
{
	struct tn *tn = tn_joined(test);

	fab_remove(tn->end[1].ca);
	KUNIT_EXPECT_TRUE(test, wait_within(tn_is(tn, 0, IB_PORT_DOWN), 1000));
	KUNIT_EXPECT_TRUE(test, fab_released(tn->end[1].ca));
	KUNIT_EXPECT_FALSE(test, vib_link_is_plugged(&tn->end[1].trunk->link));
	KUNIT_EXPECT_FALSE(test, wait_within(!tn_is(tn, 0, IB_PORT_DOWN), 1000));
}

/* ---- packets ---- */

static const union ib_gid gids[2] = {
	{ .raw = { 0xfe, 0x80, [15] = 1 } }, { .raw = { 0xfe, 0x80, [15] = 2 } },
};

static void expect_same(struct kunit *test, struct vib_packet *pkt, struct vib_packet *sent)
{
	u8 *got = kunit_kzalloc(test, 2 * VIB_MAX_MTU, GFP_KERNEL);
	u8 *want = got + VIB_MAX_MTU;

	KUNIT_ASSERT_NOT_NULL(test, got);
	KUNIT_EXPECT_EQ(test, pkt->hdr_len, sent->hdr_len);
	KUNIT_EXPECT_MEMEQ(test, &pkt->hdr, &sent->hdr, sizeof(pkt->hdr));
	KUNIT_EXPECT_EQ(test, pkt->vl, sent->vl);
	KUNIT_EXPECT_EQ(test, pkt->blocks, sent->blocks);
	KUNIT_EXPECT_FALSE(test, pkt->corrupt);
	KUNIT_ASSERT_EQ(test, pkt->len, sent->len);
	KUNIT_EXPECT_TRUE(test, vib_packet_read(pkt, 0, got, pkt->len));
	KUNIT_EXPECT_TRUE(test, vib_packet_read(sent, 0, want, pkt->len));
	KUNIT_EXPECT_EQ(test, memcmp(got, want, pkt->len), 0);
}

static void packets_arrive_as_they_were_sent(struct kunit *test)
{
	static const u16 lens[] = { 0, 1, 4, 255, 1000, 2048, 4096 };
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .vl = 2, .sl = 2, .dlid = 7, .slid = 9, .dqp = 3 };
	struct vib_packet *sent, *pkt;
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		spec.len = lens[i / 2];
		spec.psn = i + 1;
		spec.sgid = i % 2 ? &gids[0] : NULL;
		spec.dgid = i % 2 ? &gids[1] : NULL;
		sent = fab_packet(test, &spec);
		tn_send(tn, i % 2, &spec);
		pkt = NULL;
		wait_within((pkt = fab_take(tn->fab, tn->end[!(i % 2)].ca)), 1000);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		expect_same(test, pkt, sent);
		/* A link at each end; the network between is none. */
		KUNIT_EXPECT_EQ(test, pkt->hops, 2);
		vib_packet_free(pkt);
		vib_packet_free(sent);
	}
	KUNIT_EXPECT_EQ(test, tn_count(tn, 0, VIB_TRUNK_SENT), ARRAY_SIZE(lens));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 0, VIB_TRUNK_RECEIVED), ARRAY_SIZE(lens));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_LOST), 0);
}

/* In Init, when nothing else passes. */
static void smps_pass_before_the_ports_are_active(struct kunit *test)
{
	struct fab_spec spec = { .vl = 15, .dlid = 0xffff, .slid = 0xffff, .psn = 5, .len = 256 };
	struct tn *tn = tn_new(test);

	KUNIT_ASSERT_EQ(test, tn_open(tn, 0), 0);
	KUNIT_ASSERT_EQ(test, tn_open(tn, 1), 0);
	KUNIT_ASSERT_TRUE(test, tn_both(tn, IB_PORT_INIT));
	tn_send(tn, 0, &spec);
	KUNIT_EXPECT_EQ(test, tn_take_psn(tn, 1), 5);
}

/* A manager has a port go down, and wants to hear that it will. */
static void the_last_smp_arrives_before_the_link_goes_down(struct kunit *test)
{
	struct fab_spec spec = { .vl = 15, .dlid = 0xffff, .slid = 0xffff, .psn = 6, .len = 256 };
	struct tn *tn = tn_joined(test);
	unsigned int i;

	for (i = 0; i < 10; i++) {
		vib_port_leave(tn->end[0].port, POLLING);
		tn_send(tn, 0, &spec);
		KUNIT_EXPECT_EQ_MSG(test, tn_take_psn(tn, 1), 6, "round %u", i);
		KUNIT_EXPECT_TRUE(test, wait_within(tn->end[1].ca->downs == i + 1, TN_LONG));
		KUNIT_ASSERT_TRUE(test, tn_both(tn, IB_PORT_INIT));
	}
}

/* ---- credits ---- */

#define MANY	150	/* packets of the largest MTU: more than all buffers on the way take */

static void send_many(struct tn *tn, u8 vl)
{
	struct fab_spec spec = { .vl = vl, .dlid = 7, .slid = 9, .len = 4096 };
	unsigned int i;

	for (i = 1; i <= MANY; i++) {
		spec.psn = i;
		tn_send(tn, 0, &spec);
	}
}

static void a_slow_receiver_loses_nothing(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec other = { .vl = 3, .dlid = 7, .slid = 9, .psn = 999 };
	u32 i, psn, others = 0;

	send_many(tn, 0);
	/* Nobody takes them: 16 fill the receiver's buffer, 16 the trunk's. */
	KUNIT_EXPECT_TRUE(test, wait_within(tn_count(tn, 1, VIB_TRUNK_RECEIVED) >= 32, 1000));
	msleep(200);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_RECEIVED), 32);
	KUNIT_EXPECT_GT(test, tn_count(tn, 0, VIB_TRUNK_WAITS), 0);
	/* Another lane has buffers of its own. */
	tn_send(tn, 0, &other);
	KUNIT_EXPECT_TRUE(test, wait_within(tn_count(tn, 1, VIB_TRUNK_RECEIVED) == 33, 1000));
	for (i = 1; i <= MANY; i++) {
		psn = tn_take_psn(tn, 1);
		if (psn == 999) {
			others++;
			psn = tn_take_psn(tn, 1);
		}
		KUNIT_ASSERT_EQ(test, psn, i);
	}
	KUNIT_EXPECT_EQ(test, others, 1);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_OVERRUNS), 0);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_LOST), 0);
	KUNIT_EXPECT_EQ(test, fab_sum(tn->fab, VIB_XMIT_DISCARDS), 0);
}

/* The network loses more than the buffers take, time after time. */
static void credits_of_lost_packets_come_back(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .dlid = 7, .slid = 9, .len = 4096 };
	u32 i, lost = 0;

	for (i = 1; i <= 50; i++) {
		while (tn_lose(tn, 0, 0, 65))
			lost++;
		spec.psn = i;
		tn_send(tn, 0, &spec);
		KUNIT_ASSERT_EQ(test, tn_take_psn(tn, 1), i);
	}
	KUNIT_EXPECT_GE(test, lost, 50 * 15);
	KUNIT_EXPECT_TRUE(test, wait_within(tn_count(tn, 1, VIB_TRUNK_LOST) == lost, 1000));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_OVERRUNS), 0);
}

/* All credits are there again once all packets have gone. */
static void no_credit_is_lost_or_made(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	unsigned int vl, i;
	u32 psn;

	for (i = 0; i < 3; i++) {
		send_many(tn, i);
		while ((psn = tn_take_psn(tn, 1)) && psn < MANY)
			;
		KUNIT_EXPECT_EQ(test, psn, MANY);
	}
	tn_wait_idle(tn);
	for (vl = 0; vl < VIB_VLS; vl++) {
		for (i = 0; i < TN_ENDS; i++) {
			KUNIT_EXPECT_EQ(test, tn->end[i].port->tx.credits[vl], VIB_VL_CREDITS);
			KUNIT_EXPECT_EQ(test, vib_trunk_far(tn->end[i].trunk)->tx.credits[vl],
					VIB_VL_CREDITS);
			KUNIT_EXPECT_EQ(test, vib_trunk_net(tn->end[i].trunk)->tx.credits[vl],
					VIB_VL_CREDITS);
		}
	}
}

/* ---- bad input ---- */

/* A DATA message of the present sessions; the packet's VL and length are @spec's. */
static size_t forge(struct tn *tn, void *buf, const struct fab_spec *spec, u32 seq, u32 total)
{
	const struct vib_trunk_session *session = &tn->end[1].trunk->session;
	struct vib_packet *pkt = fab_packet(tn->test, spec);
	struct vib_trunk_msg msg = {
		.type = VIB_TRUNK_DATA,
		.from = session->peer,
		.to = session->own,
		.seq = seq,
		.data.total = total,
	};
	size_t len = vib_trunk_put_packet(buf, &msg, pkt);

	vib_packet_free(pkt);
	return len;
}

static void *message_buf(struct kunit *test)
{
	void *buf = kunit_kzalloc(test, VIB_TRUNK_MAX_MSG, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return buf;
}

static void only_the_peer_is_heard(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .dlid = 7, .slid = 9, .psn = 1 };
	struct vib_trunk *trunk = tn->end[1].trunk;
	struct sockaddr_storage other = trunk->peer;
	struct sockaddr_in *in = (struct sockaddr_in *)&other;
	void *buf = message_buf(test);
	size_t len = forge(tn, buf, &spec, trunk->flow.rx_seq, 1);

	in->sin_port++;
	vib_trunk_datagram(trunk, &other, buf, len);
	in->sin_port--;
	in->sin_addr.s_addr++;
	vib_trunk_datagram(trunk, &other, buf, len);
	other.ss_family = AF_INET6;
	vib_trunk_datagram(trunk, &other, buf, len);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_FOREIGN), 3);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_RECEIVED), 0);
	tn_datagram(tn, 1, buf, len);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_RECEIVED), 1);
}

/* By the real socket. */
static void a_stranger_s_datagram_is_counted(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct sockaddr_storage to = tn_address(1);
	struct kvec vec = { .iov_base = "nothing", .iov_len = 7 };
	struct msghdr msg = { .msg_name = &to, .msg_namelen = sizeof(struct sockaddr_in) };
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
					       &sock), 0);
	KUNIT_EXPECT_EQ(test, kernel_sendmsg(sock, &msg, &vec, 1, 7), 7);
	KUNIT_EXPECT_TRUE(test, wait_within(tn_count(tn, 1, VIB_TRUNK_FOREIGN) == 1, 1000));
	sock_release(sock);
	/* By end 0's own socket it is malformed; so is one that is longer than any message. */
	KUNIT_EXPECT_EQ(test, kernel_sendmsg(tn->end[0].trunk->sock, &msg, &vec, 1, 7), 7);
	KUNIT_EXPECT_TRUE(test, wait_within(tn_count(tn, 1, VIB_TRUNK_MALFORMED) == 1, 1000));
	vec.iov_len = VIB_TRUNK_MAX_MSG + 100;
	vec.iov_base = kunit_kzalloc(test, vec.iov_len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vec.iov_base);
	KUNIT_EXPECT_GT(test, kernel_sendmsg(tn->end[0].trunk->sock, &msg, &vec, 1, vec.iov_len),
			0);
	KUNIT_EXPECT_TRUE(test, wait_within(tn_count(tn, 1, VIB_TRUNK_MALFORMED) == 2, 1000));
}

static void messages_of_other_sessions_are_strays(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .dlid = 7, .slid = 9, .psn = 1 };
	void *buf = message_buf(test);
	struct vib_trunk_hdr *hdr = buf;
	size_t len = forge(tn, buf, &spec, tn->end[1].trunk->flow.rx_seq, 1);

	hdr->from ^= 1;
	tn_datagram(tn, 1, buf, len);
	hdr->from ^= 1;
	hdr->to ^= 1;
	tn_datagram(tn, 1, buf, len);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_STRAY), 2);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_RECEIVED), 0);
	KUNIT_EXPECT_TRUE(test, tn_is(tn, 1, IB_PORT_ACTIVE));
}

static void a_packet_without_credits_is_dropped(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .vl = 1, .dlid = 7, .slid = 9, .psn = 1, .len = 64 };
	struct vib_trunk_flow *flow = &tn->end[1].trunk->flow;
	void *buf = message_buf(test);
	u32 told = flow->vl[1].told;

	KUNIT_EXPECT_EQ(test, told, VIB_VL_CREDITS);
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, flow->rx_seq, told + 1));
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, flow->rx_seq, 0));
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, flow->rx_seq, 1));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_OVERRUNS), 3);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_RECEIVED), 0);
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, flow->rx_seq, told));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_RECEIVED), 1);
	KUNIT_EXPECT_EQ(test, tn_take_psn(tn, 1), 1);
	/* All but that packet were as if lost: the credits are there again. */
	tn_wait_idle(tn);
	KUNIT_EXPECT_EQ(test, vib_trunk_net(tn->end[1].trunk)->tx.credits[1], VIB_VL_CREDITS);
}

static void a_lane_that_the_port_has_not_is_refused(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .vl = FAB_VLS, .dlid = 7, .slid = 9, .psn = 1 };
	struct vib_trunk_flow *flow = &tn->end[1].trunk->flow;
	void *buf = message_buf(test);

	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, flow->rx_seq, 1));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_MALFORMED), 1);
	spec.vl = FAB_VLS - 1;
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, flow->rx_seq, 1));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_RECEIVED), 1);
}

static void order_is_kept(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .vl = 1, .dlid = 7, .slid = 9 };
	struct vib_trunk_flow *flow = &tn->end[1].trunk->flow;
	void *buf = message_buf(test);
	u32 seq = flow->rx_seq;

	spec.psn = 3;
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, seq + 2, 3));
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, seq + 2, 3));
	spec.psn = 2;
	tn_datagram(tn, 1, buf, forge(tn, buf, &spec, seq + 1, 2));
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_DUPLICATES), 1);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_LATE), 1);
	KUNIT_EXPECT_EQ(test, tn_count(tn, 1, VIB_TRUNK_LOST), 1);
	KUNIT_EXPECT_EQ(test, tn_take_psn(tn, 1), 3);
	KUNIT_EXPECT_EQ(test, fab_count(tn->fab, tn->end[1].ca), 0);
}

/* ---- opening and closing ---- */

static int open_error(struct tn *tn, const struct vib_trunk_attr *attr)
{
	struct vib_trunk *trunk = vib_trunk_open(&tn->fab->fabric, attr);

	if (!IS_ERR(trunk))
		vib_trunk_close(trunk);
	return PTR_ERR_OR_ZERO(trunk);
}

static void bad_addresses_are_refused(struct kunit *test)
{
	struct tn *tn = tn_new(test);
	struct vib_trunk_attr good = tn_attr(0), attr = good;
	struct sockaddr_in *local = (struct sockaddr_in *)&attr.local;
	struct sockaddr_in *peer = (struct sockaddr_in *)&attr.peer;

	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), 0);
	local->sin_addr.s_addr = htonl(0xc0000201);
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EADDRNOTAVAIL);
	attr = good;
	peer->sin_port = 0;
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
	attr = good;
	peer->sin_addr.s_addr = 0;
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
	peer->sin_addr.s_addr = htonl(0xe0000001);
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
	peer->sin_addr.s_addr = htonl(0xffffffff);
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
	attr = good;
	attr.peer.ss_family = AF_INET6;
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
	attr.local.ss_family = AF_UNIX;
	attr.peer.ss_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
	attr = good;
	attr.interval = VIB_TRUNK_MIN_INTERVAL - 1;
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
	attr.interval = VIB_TRUNK_MAX_INTERVAL + 1;
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EINVAL);
}

static void an_address_or_a_port_in_use_is_refused(struct kunit *test)
{
	struct tn *tn = tn_new(test);
	struct vib_trunk_attr attr = tn_attr(0);

	KUNIT_ASSERT_EQ(test, tn_open(tn, 0), 0);
	KUNIT_EXPECT_EQ(test, open_error(tn, &attr), -EADDRINUSE);
	fab_link(tn->fab, tn->end[1].port, fab_port(tn->end[0].ca, 2));
	KUNIT_EXPECT_EQ(test, tn_open(tn, 1), -EBUSY);
}

static struct tn *open_tn;

static int open_and_close(struct kunit *test)
{
	struct vib_trunk_attr attr = tn_attr(0);

	return open_error(open_tn, &attr);
}

static void a_trunk_that_finds_no_memory_leaves_nothing(struct kunit *test)
{
	open_tn = tn_new(test);
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, open_and_close), 3);
	KUNIT_EXPECT_EQ(test, tn_open(open_tn, 0), 0);
}

/* Packets that a consumer still has hold the trunk's node, and nothing else of it. */
static void an_address_is_free_when_its_trunk_is_closed(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	struct fab_spec spec = { .dlid = 7, .slid = 9, .psn = 1, .len = 100 };
	struct tn_life *first;

	tn_send(tn, 0, &spec);
	tn_send(tn, 1, &spec);
	KUNIT_ASSERT_TRUE(test, wait_within(fab_count(tn->fab, tn->end[0].ca) == 1 &&
					    fab_count(tn->fab, tn->end[1].ca) == 1, 1000));
	tn_close(tn, 0);
	tn_close(tn, 1);
	KUNIT_EXPECT_FALSE(test, tn_released(tn, 0));
	KUNIT_EXPECT_FALSE(test, tn_released(tn, 1));
	first = tn->end[0].life;
	KUNIT_ASSERT_EQ(test, tn_open(tn, 0), 0);
	KUNIT_ASSERT_EQ(test, tn_open(tn, 1), 0);
	KUNIT_ASSERT_TRUE(test, tn_both(tn, IB_PORT_INIT));
	tn_activate(tn);
	spec.psn = 2;
	tn_send(tn, 1, &spec);
	KUNIT_EXPECT_EQ(test, tn_take_psn(tn, 0), 1);
	KUNIT_EXPECT_EQ(test, tn_take_psn(tn, 0), 2);
	/* The first trunk goes with its last packet. */
	swap(first, tn->end[0].life);
	KUNIT_EXPECT_TRUE(test, tn_released(tn, 0));
	swap(first, tn->end[0].life);
	fab_drop(tn->end[1].ca);
}

static void a_trunk_closes_under_load(struct kunit *test)
{
	struct tn *tn = tn_joined(test);
	unsigned int i;

	for (i = 0; i < 5; i++) {
		send_many(tn, 0);
		tn_close(tn, i % 2);
		fab_drop(tn->end[1].ca);
		KUNIT_EXPECT_TRUE(test, wait_within(tn->end[0].port->state == IB_PORT_DOWN &&
						    tn->end[1].port->state == IB_PORT_DOWN,
						    TN_LONG));
		fab_drop(tn->end[1].ca);
		KUNIT_EXPECT_TRUE(test, tn_released(tn, i % 2));
		KUNIT_ASSERT_EQ(test, tn_open(tn, i % 2), 0);
		KUNIT_ASSERT_TRUE(test, tn_both(tn, IB_PORT_INIT));
		tn_activate(tn);
	}
}

static struct kunit_case trunk_cases[] = {
	KUNIT_CASE(a_trunk_brings_both_ports_to_init),
	KUNIT_CASE(ports_with_nothing_in_common_stay_down),
	KUNIT_CASE(a_port_that_goes_down_takes_the_other_down),
	KUNIT_CASE(a_cut_trunk_is_down_at_both_ends),
	KUNIT_CASE(a_silent_peer_takes_the_link_down),
	KUNIT_CASE(a_peer_that_closes_is_gone_at_once),
	KUNIT_CASE(a_node_that_is_removed_takes_the_trunk_down),
	KUNIT_CASE(packets_arrive_as_they_were_sent),
	KUNIT_CASE(smps_pass_before_the_ports_are_active),
	KUNIT_CASE(the_last_smp_arrives_before_the_link_goes_down),
	KUNIT_CASE(a_slow_receiver_loses_nothing),
	KUNIT_CASE(credits_of_lost_packets_come_back),
	KUNIT_CASE(no_credit_is_lost_or_made),
	KUNIT_CASE(only_the_peer_is_heard),
	KUNIT_CASE(a_stranger_s_datagram_is_counted),
	KUNIT_CASE(messages_of_other_sessions_are_strays),
	KUNIT_CASE(a_packet_without_credits_is_dropped),
	KUNIT_CASE(a_lane_that_the_port_has_not_is_refused),
	KUNIT_CASE(order_is_kept),
	KUNIT_CASE(bad_addresses_are_refused),
	KUNIT_CASE(an_address_or_a_port_in_use_is_refused),
	KUNIT_CASE(a_trunk_that_finds_no_memory_leaves_nothing),
	KUNIT_CASE(an_address_is_free_when_its_trunk_is_closed),
	KUNIT_CASE(a_trunk_closes_under_load),
	{}
};

static struct kunit_suite trunk_suite = {
	.name = "vib_trunk",
	.test_cases = trunk_cases,
};

kunit_test_suite(trunk_suite);
