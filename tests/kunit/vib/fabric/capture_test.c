// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Captures: what a packet socket on a monitor sees of the packets of a link, or of a fabric
 * (IBA vol. 1, 5.2, 7.8).
 *
 *	a, LID 1 --- 1 sw 2 --- b, LID 2
 */
#include <linux/bitrev.h>
#include <linux/if_packet.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/unaligned.h>
#include <net/net_namespace.h>
#include "fabric_net.h"
#include "faults.h"

#define CRCS	(VIB_ICRC_LEN + VIB_VCRC_LEN)

static struct fab *fab;
static struct fab_node *sw, *a, *b;
static struct vib_link *link_a, *link_b;
static struct socket *sock;
static u8 seen[VIB_MAX_MTU + 200];	/* the last packet from the socket */

static int capture_test_init(struct kunit *test)
{
	fab = fab_new(test);
	sw = fab_switch(fab, 2);
	a = fab_ca(fab, 1);
	b = fab_ca(fab, 1);
	link_a = fab_link(fab, fab_port(sw, 1), fab_port(a, 1));
	link_b = fab_link(fab, fab_port(sw, 2), fab_port(b, 1));
	fab_activate(fab);
	sw->sw->lft[1] = 1;
	sw->sw->lft[2] = 2;
	return 0;
}

static void capture_test_exit(struct kunit *test)
{
	if (sock)
		sock_release(sock);
	sock = NULL;
	vib_capture_stop(&link_a->captured);
	vib_capture_stop(&link_b->captured);
	vib_capture_stop(&fab->fabric.captured);
}

/* ---- the monitor, and a socket on it ---- */

static struct net_device *monitor_of(struct vib_captured *what)
{
	return rcu_dereference_protected(what->monitor, true);
}

static void monitor_up(struct kunit *test, struct vib_captured *what, bool up)
{
	int ret = 0;

	rtnl_lock();
	if (up)
		ret = dev_open(monitor_of(what), NULL);
	else
		dev_close(monitor_of(what));
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, ret, 0);
}

static void listen(struct kunit *test, struct vib_captured *what)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = monitor_of(what)->ifindex,
	};

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_PACKET, SOCK_RAW,
					       htons(ETH_P_ALL), &sock), 0);
	KUNIT_ASSERT_EQ(test, kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
}

static void capture(struct kunit *test, struct vib_captured *what)
{
	KUNIT_ASSERT_EQ(test, vib_capture_start(what), 0);
	monitor_up(test, what, true);
	listen(test, what);
}

/* The length of the next packet, which is in seen[]; or an error. */
static int next(void)
{
	struct kvec vec = { .iov_base = seen, .iov_len = sizeof(seen) };
	struct msghdr msg = {};

	fab_wait_idle(fab);
	return kernel_recvmsg(sock, &msg, &vec, 1, sizeof(seen), MSG_DONTWAIT);
}

static struct fab_spec to(u16 dlid, u16 len)
{
	return (struct fab_spec){
		.vl = 3, .sl = 3, .dlid = dlid, .slid = 3 - dlid, .pkey = 0xffff, .dqp = 5,
		.qkey = 6, .psn = 7, .len = len,
	};
}

static bool vcrc_right(int len)
{
	return get_unaligned_le16(seen + len - VIB_VCRC_LEN) ==
	       vib_vcrc(seen, len - VIB_VCRC_LEN);
}

/* ---- CRCs ---- */

/* The sample packet of 7.8: an RDMA WRITE of 14 bytes. */
static const u8 sample[] = {
	0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00, 0x87,
	0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02,
	0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c,
	0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00, 0x96, 0x25, 0xb7, 0x5a,
};

/* Of the polynomial 0x100b, bit by bit. */
static u16 vcrc_by_bits(const u8 *bytes, u32 len)
{
	u16 crc = 0xffff;
	u32 i, bit;

	for (i = 0; i < len; i++) {
		for (bit = 0; bit < 8; bit++) {
			bool carry = (crc >> 15 ^ bytes[i] >> bit) & 1;

			crc = crc << 1 ^ (carry ? 0x100b : 0);
		}
	}
	return ~bitrev16(crc);
}

static void the_sample_packet_has_its_crcs(struct kunit *test)
{
	u8 packet[sizeof(sample)];
	u32 i;

	KUNIT_EXPECT_EQ(test, vib_icrc(sample, sizeof(sample) - 4),
			get_unaligned_le32(sample + sizeof(sample) - 4));
	for (i = 8; i <= sizeof(sample); i++)
		KUNIT_EXPECT_EQ(test, vib_vcrc(sample, i), vcrc_by_bits(sample, i));
	/* What switches change counts for the VCRC alone. */
	memcpy(packet, sample, sizeof(sample));
	packet[0] ^= 0x50;
	packet[12] ^= 0xff;
	KUNIT_EXPECT_EQ(test, vib_icrc(packet, sizeof(sample) - 4), 0x5ab72596);
	KUNIT_EXPECT_NE(test, vib_vcrc(packet, sizeof(sample)), vib_vcrc(sample, sizeof(sample)));
	packet[0] ^= 0x01;
	KUNIT_EXPECT_NE(test, vib_icrc(packet, sizeof(sample) - 4), 0x5ab72596);
}

/* With a GRH, routers may change the LRH and three fields of the GRH (7.8.1). */
static void routers_do_not_change_the_icrc(struct kunit *test)
{
	static const u8 variant[] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 15, 52 };
	u8 packet[100];
	u32 i, icrc;

	for (i = 0; i < sizeof(packet); i++)
		packet[i] = i;
	packet[1] = IB_LNH_IBA_GLOBAL;
	icrc = vib_icrc(packet, sizeof(packet));
	for (i = 0; i < sizeof(packet); i++) {
		packet[i] ^= i == 1 ? 0x10 : 0xff;
		KUNIT_EXPECT_EQ_MSG(test, vib_icrc(packet, sizeof(packet)) == icrc,
				    !!memchr(variant, i, sizeof(variant)), "byte %u", i);
		packet[i] ^= i == 1 ? 0x10 : 0xff;
	}
	/* In byte 8 there are the version and half of the traffic class. */
	packet[8] ^= 0x0f;
	KUNIT_EXPECT_EQ(test, vib_icrc(packet, sizeof(packet)), icrc);
}

/* ---- packets ---- */

static void a_packet_is_shown_as_it_is_on_the_wire(struct kunit *test)
{
	static const u16 lens[] = { 0, 1, 3, 4, 256, 4096 };
	u32 i, n, pad, wire, headers = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES;
	struct vib_packet *pkt;
	struct fab_spec spec;
	int len;

	capture(test, &link_b->captured);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		spec = to(2, lens[i]);
		fab_send(fab, fab_port(a, 1), &spec);
		len = next();
		pkt = fab_take(fab, b);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		pad = ALIGN(lens[i], 4) - lens[i];
		wire = headers + lens[i] + pad;
		KUNIT_ASSERT_EQ(test, len, wire + CRCS);
		KUNIT_EXPECT_MEMEQ(test, seen, (u8 *)&pkt->hdr, headers);
		for (n = 0; n < lens[i]; n++)
			KUNIT_EXPECT_EQ(test, seen[headers + n], n & 0xff);
		for (n = 0; n < pad; n++)
			KUNIT_EXPECT_EQ(test, seen[headers + lens[i] + n], 0);
		KUNIT_EXPECT_EQ(test, get_unaligned_le32(seen + wire), vib_icrc(seen, wire));
		KUNIT_EXPECT_TRUE(test, vcrc_right(len));
		vib_packet_free(pkt);
	}
	KUNIT_EXPECT_EQ(test, next(), -EAGAIN);
}

/* Both directions of its link, and no other link. */
static void a_link_shows_its_own_packets(struct kunit *test)
{
	struct fab_spec there = to(2, 20), back = to(1, 40), lost = to(9, 20);

	capture(test, &link_b->captured);
	fab_send(fab, fab_port(a, 1), &there);
	KUNIT_EXPECT_GT(test, next(), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(seen + 2), 2);
	fab_send(fab, fab_port(b, 1), &back);
	KUNIT_EXPECT_GT(test, next(), 0);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(seen + 2), 1);
	/* This one does not come as far. */
	fab_send(fab, fab_port(a, 1), &lost);
	KUNIT_EXPECT_EQ(test, next(), -EAGAIN);
	fab_drop(a);
	fab_drop(b);
}

static void a_fabric_shows_the_packets_of_all_links(struct kunit *test)
{
	struct fab_spec spec = to(2, 20);
	u16 vcrc;

	sw->sw->sl_to_vl[1 * 3 + 2][3] = 5;
	capture(test, &fab->fabric.captured);
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_ASSERT_EQ(test, next(), 28 + 20 + CRCS);
	KUNIT_EXPECT_EQ(test, seen[0] >> 4, 3);
	vcrc = get_unaligned_le16(seen + 28 + 20 + VIB_ICRC_LEN);
	/* Behind the switch it has another VL, and with it another VCRC, but not ICRC. */
	KUNIT_ASSERT_EQ(test, next(), 28 + 20 + CRCS);
	KUNIT_EXPECT_EQ(test, seen[0] >> 4, 5);
	KUNIT_EXPECT_NE(test, get_unaligned_le16(seen + 28 + 20 + VIB_ICRC_LEN), vcrc);
	KUNIT_EXPECT_TRUE(test, vcrc_right(28 + 20 + CRCS));
	KUNIT_EXPECT_EQ(test, next(), -EAGAIN);
	fab_drop(b);
}

static void faults_are_shown_as_they_arrive(struct kunit *test)
{
	struct vib_fault *fault = &link_b->fault;
	struct fab_spec spec = to(2, 20);

	capture(test, &link_b->captured);
	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(fault, VIB_FAULT_CORRUPT, VIB_FAULT_ALL), 0);
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_ASSERT_EQ(test, next(), 28 + 20 + CRCS);
	KUNIT_EXPECT_FALSE(test, vcrc_right(28 + 20 + CRCS));
	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(fault, VIB_FAULT_CORRUPT, 0), 0);
	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(fault, VIB_FAULT_DUP, VIB_FAULT_ALL), 0);
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_EXPECT_GT(test, next(), 0);
	KUNIT_EXPECT_GT(test, next(), 0);
	KUNIT_ASSERT_EQ(test, vib_fault_set_rate(fault, VIB_FAULT_DROP, VIB_FAULT_ALL), 0);
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_EXPECT_EQ(test, next(), -EAGAIN);
	fab_drop(b);
}

/* ---- monitors ---- */

static void it_costs_nothing_unless_a_monitor_is_up(struct kunit *test)
{
	struct fab_spec spec = to(2, 20);

	KUNIT_EXPECT_FALSE(test, static_key_enabled(&vib_capture_key));
	capture(test, &link_b->captured);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&vib_capture_key));
	monitor_up(test, &link_b->captured, false);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&vib_capture_key));
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_EXPECT_EQ(test, next(), -ENETDOWN);
	/* One that is down shows nothing while another is up. */
	KUNIT_ASSERT_EQ(test, vib_capture_start(&link_a->captured), 0);
	monitor_up(test, &link_a->captured, true);
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_EXPECT_EQ(test, next(), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 2);
	fab_drop(b);
}

static void one_of_each(struct kunit *test)
{
	struct vib_captured *what = &link_b->captured;
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	char name[IFNAMSIZ + 1];

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, vib_capture_show(what, page), 1);
	KUNIT_EXPECT_STREQ(test, page, "\n");
	KUNIT_ASSERT_EQ(test, vib_capture_start(what), 0);
	KUNIT_EXPECT_EQ(test, vib_capture_start(what), -EBUSY);
	snprintf(name, sizeof(name), "%s\n", monitor_of(what)->name);
	KUNIT_EXPECT_EQ(test, strncmp(name, "vibmon", 6), 0);
	vib_capture_show(what, page);
	KUNIT_EXPECT_STREQ(test, page, name);
	vib_capture_stop(what);
	vib_capture_stop(what);
	vib_capture_show(what, page);
	KUNIT_EXPECT_STREQ(test, page, "\n");
}

static int start_and_stop(struct kunit *test)
{
	int ret = vib_capture_start(&link_b->captured);

	if (!ret)
		vib_capture_stop(&link_b->captured);
	return ret;
}

static void without_memory_there_is_no_monitor(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, ibex_each_allocation(test, start_and_stop), 5);
}

/* The packet arrives; the monitor counts that it has not shown it. */
static void what_there_is_no_memory_to_show_is_counted(struct kunit *test)
{
	struct fab_spec spec = to(2, 20);
	struct rtnl_link_stats64 stats;
	unsigned int nth, left = 0, shown = 0;
	struct vib_packet *pkt;

	capture(test, &link_b->captured);
	for (nth = 1; !left; nth++) {
		pkt = fab_packet(test, &spec);
		local_bh_disable();
		current->fail_nth = nth;
		vib_port_xmit(fab_port(a, 1), pkt);
		left = current->fail_nth;
		current->fail_nth = 0;
		local_bh_enable();
		shown += next() > 0;
		KUNIT_EXPECT_EQ(test, fab_count(fab, b), nth);
	}
	KUNIT_EXPECT_GE(test, nth, 3);
	dev_get_stats(monitor_of(&link_b->captured), &stats);
	KUNIT_EXPECT_GE(test, stats.tx_dropped, 1);
	KUNIT_EXPECT_EQ(test, stats.tx_packets + stats.tx_dropped, nth - 1);
	KUNIT_EXPECT_LE(test, shown, stats.tx_packets);
	fab_drop(b);
}

/* A socket that listens learns of it; packets go on. */
static void a_monitor_goes_while_it_is_used(struct kunit *test)
{
	struct fab_spec spec = to(2, 20);
	int i;

	for (i = 0; i < 3; i++) {
		capture(test, &link_b->captured);
		fab_send(fab, fab_port(a, 1), &spec);
		vib_capture_stop(&link_b->captured);
		KUNIT_EXPECT_FALSE(test, static_key_enabled(&vib_capture_key));
		fab_send(fab, fab_port(a, 1), &spec);
		KUNIT_EXPECT_EQ(test, next(), -ENETDOWN);
		/* What came before is still there. */
		KUNIT_EXPECT_EQ(test, next(), 28 + 20 + CRCS);
		KUNIT_EXPECT_EQ(test, next(), -EAGAIN);
		sock_release(sock);
		sock = NULL;
	}
	KUNIT_EXPECT_EQ(test, fab_count(fab, b), 6);
	fab_drop(b);
}

/* A link that is taken away keeps its monitor, which shows nothing then. */
static void a_link_goes_while_it_is_captured(struct kunit *test)
{
	struct fab_spec spec = to(2, 20);

	capture(test, &link_b->captured);
	vib_link_unplug(link_b);
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_EXPECT_EQ(test, next(), -EAGAIN);
	KUNIT_ASSERT_EQ(test, fab_plug(fab, link_b, fab_port(sw, 2), fab_port(b, 1)), 0);
	fab_activate(fab);
	fab_send(fab, fab_port(a, 1), &spec);
	KUNIT_EXPECT_GT(test, next(), 0);
	fab_drop(b);
}

static struct kunit_case capture_cases[] = {
	KUNIT_CASE(the_sample_packet_has_its_crcs),
	KUNIT_CASE(routers_do_not_change_the_icrc),
	KUNIT_CASE(a_packet_is_shown_as_it_is_on_the_wire),
	KUNIT_CASE(a_link_shows_its_own_packets),
	KUNIT_CASE(a_fabric_shows_the_packets_of_all_links),
	KUNIT_CASE(faults_are_shown_as_they_arrive),
	KUNIT_CASE(it_costs_nothing_unless_a_monitor_is_up),
	KUNIT_CASE(one_of_each),
	KUNIT_CASE(without_memory_there_is_no_monitor),
	KUNIT_CASE(what_there_is_no_memory_to_show_is_counted),
	KUNIT_CASE(a_monitor_goes_while_it_is_used),
	KUNIT_CASE(a_link_goes_while_it_is_captured),
	{}
};

static struct kunit_suite vib_capture_suite = {
	.name = "vib_capture",
	.init = capture_test_init,
	.exit = capture_test_exit,
	.test_cases = capture_cases,
};

kunit_test_suite(vib_capture_suite);
