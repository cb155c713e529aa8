// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Headers of datagrams compared to their bytes on the wire; rates. */
#include <kunit/test.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

#define WIRE_MAX	128

static void fill_transport(struct ib_ud_header *h)
{
	h->bth.mig_req = 1;
	h->bth.pkey = cpu_to_be16(0xffff);
	h->bth.destination_qpn = cpu_to_be32(0x000001);
	h->bth.ack_req = 1;
	h->bth.psn = cpu_to_be32(0xabcdef);
	h->deth.qkey = cpu_to_be32(0x80010000);
	h->deth.source_qpn = cpu_to_be32(0x010203);
}

/* BTH and DETH of the header above, without the opcode and pad count before them. */
static const u8 transport[] = {
	0xff, 0xff, 0x00, 0x00, 0x00, 0x01,
	0x80, 0xab, 0xcd, 0xef,
	0x80, 0x01, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03,
};

static const u8 immediate[] = { 0xde, 0xad, 0xbe, 0xef };

/* Writes all headers of the packet, which begins with @link. */
static int put_wire(u8 *wire, const u8 *link, int len, u8 opcode, u8 flags)
{
	memcpy(wire, link, len);
	wire[len++] = opcode;
	wire[len++] = flags;
	memcpy(wire + len, transport, sizeof(transport));
	len += sizeof(transport);
	if (opcode != IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE)
		return len;
	memcpy(wire + len, immediate, sizeof(immediate));
	return len + sizeof(immediate);
}

static void expect_wire(struct kunit *test, struct ib_ud_header *h, const u8 *wire,
			int len)
{
	u8 packed[WIRE_MAX];

	memset(packed, 0xee, sizeof(packed));
	KUNIT_ASSERT_EQ(test, ib_ud_header_pack(h, packed), len);
	KUNIT_EXPECT_MEMEQ(test, packed, wire, len);
	KUNIT_EXPECT_EQ(test, packed[len], 0xee);
}

/* IBA volume 1, 7.7, 9.2, 9.3. */
static void ib_local(struct kunit *test)
{
	static const u8 link[] = {
		/* VL 5, SL 3, LNH BTH, DLID, 72 words, SLID */
		0x50, 0x32, 0x01, 0x02, 0x00, 0x48, 0x03, 0x04,
	};
	struct ib_ud_header h, back;
	u8 wire[WIRE_MAX];
	int len = put_wire(wire, link, sizeof(link), 0x64, 0x40 | 3 << 4);

	/* 253 bytes of payload and 3 of padding. */
	KUNIT_ASSERT_EQ(test, ib_ud_header_init(253, 1, 0, 0, 0, 0, 0, 0, &h), 0);
	h.lrh.virtual_lane = 5;
	h.lrh.service_level = 3;
	h.lrh.destination_lid = cpu_to_be16(0x0102);
	h.lrh.source_lid = cpu_to_be16(0x0304);
	fill_transport(&h);
	expect_wire(test, &h, wire, len);

	memset(&back, 0, sizeof(back));
	KUNIT_ASSERT_EQ(test, ib_ud_header_unpack(wire, &back), 0);
	KUNIT_EXPECT_MEMEQ(test, &back.lrh, &h.lrh, sizeof(h.lrh));
	KUNIT_EXPECT_MEMEQ(test, &back.bth, &h.bth, sizeof(h.bth));
	KUNIT_EXPECT_MEMEQ(test, &back.deth, &h.deth, sizeof(h.deth));
	KUNIT_EXPECT_EQ(test, back.grh_present, 0);
	KUNIT_EXPECT_EQ(test, back.immediate_present, 0);
}

/* 8.3; with immediate data, 9.2.1. */
static void ib_global(struct kunit *test)
{
	static const u8 link[] = {
		0x00, 0x03, 0x00, 0x07, 0x00, 0x15, 0x00, 0x08,
		/* IPVer 6, TClass, flow label, length, NxtHdr, HopLmt, GIDs */
		0x6a, 0xb1, 0x23, 0x45, 0x00, 0x24, 0x1b, 0x40,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02,
	};
	struct ib_ud_header h, back;
	u8 wire[WIRE_MAX];
	int len = put_wire(wire, link, sizeof(link), 0x65, 0x40);

	/* (8 + 40 + 36) / 4 is 0x15 with 8 bytes of payload. */
	KUNIT_ASSERT_EQ(test, ib_ud_header_init(8, 1, 0, 0, 1, 0, 0, 1, &h), 0);
	h.lrh.destination_lid = cpu_to_be16(7);
	h.lrh.source_lid = cpu_to_be16(8);
	h.grh.traffic_class = 0xab;
	h.grh.flow_label = cpu_to_be32(0x12345);
	h.grh.hop_limit = 0x40;
	h.grh.source_gid.raw[0] = 0xfe;
	h.grh.source_gid.raw[1] = 0x80;
	h.grh.destination_gid = h.grh.source_gid;
	h.grh.source_gid.raw[15] = 1;
	h.grh.destination_gid.raw[15] = 2;
	h.immediate_data = cpu_to_be32(0xdeadbeef);
	fill_transport(&h);
	expect_wire(test, &h, wire, len);

	memset(&back, 0, sizeof(back));
	KUNIT_ASSERT_EQ(test, ib_ud_header_unpack(wire, &back), 0);
	KUNIT_EXPECT_EQ(test, back.grh_present, 1);
	KUNIT_EXPECT_MEMEQ(test, &back.grh, &h.grh, sizeof(h.grh));
	KUNIT_EXPECT_EQ(test, back.immediate_present, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(back.immediate_data), 0xdeadbeef);
}

/* RoCE annex A17. */
static void roce_v2_of_ipv4(struct kunit *test)
{
	static const u8 link[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0x00,
		0x20, 0x07, 0x08, 0x00,
		/* 20 + 8 + 24 + 256 bytes and the checksum */
		0x45, 0x28, 0x01, 0x34, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x13, 0x5b,
		10, 0, 0, 1, 10, 0, 0, 2,
		0xc0, 0x01, 0x12, 0xb7, 0x01, 0x20, 0x00, 0x00,
	};
	struct ib_ud_header h;
	u8 wire[WIRE_MAX];
	int len = put_wire(wire, link, sizeof(link), 0x64, 0x40);

	KUNIT_ASSERT_EQ(test, ib_ud_header_init(256, 0, 1, 1, 1, 4, 1, 0, &h), 0);
	KUNIT_EXPECT_EQ(test, h.grh_present, 0);
	memcpy(h.eth.dmac_h, wire, 4);
	memcpy(h.eth.dmac_l, wire + 4, 2);
	memcpy(h.eth.smac_h, wire + 6, 2);
	memcpy(h.eth.smac_l, wire + 8, 4);
	h.vlan.tag = cpu_to_be16(0x2007);
	h.vlan.type = cpu_to_be16(ETH_P_IP);
	h.ip4.tos = 0x28;
	h.ip4.id = cpu_to_be16(0x1234);
	h.ip4.frag_off = cpu_to_be16(IP_DF);
	h.ip4.ttl = 64;
	h.ip4.saddr = cpu_to_be32(0x0a000001);
	h.ip4.daddr = cpu_to_be32(0x0a000002);
	h.ip4.check = (__force __sum16)0x5555;
	h.ip4.check = ib_ud_ip4_csum(&h);
	h.udp.sport = cpu_to_be16(0xc001);
	h.udp.dport = cpu_to_be16(4791);
	fill_transport(&h);
	expect_wire(test, &h, wire, len);
}

static void roce_v2_of_ipv6(struct kunit *test)
{
	struct ib_ud_header h;
	u8 wire[WIRE_MAX];

	/* No GRH was requested, but the IPv6 header is in its place; no VLAN. */
	KUNIT_ASSERT_EQ(test, ib_ud_header_init(256, 0, 1, 0, 0, 6, 1, 0, &h), 0);
	KUNIT_EXPECT_EQ(test, h.grh_present, 1);
	KUNIT_EXPECT_EQ(test, h.grh.next_header, IPPROTO_UDP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(h.udp.length), 8 + 24 + 256);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(h.grh.payload_length), 8 + 24 + 256);
	KUNIT_EXPECT_EQ(test, ib_ud_header_pack(&h, wire), 14 + 40 + 8 + 12 + 8);
	KUNIT_EXPECT_EQ(test, wire[14], 0x60);
	KUNIT_EXPECT_EQ(test, wire[14 + 6], IPPROTO_UDP);
}

/* A well-known example of the checksum of RFC 1071. */
static void a_checksum(struct kunit *test)
{
	struct ib_ud_header h = {};

	h.ip4.tot_len = cpu_to_be16(0x73);
	h.ip4.frag_off = cpu_to_be16(0x4000);
	h.ip4.ttl = 64;
	h.ip4.protocol = 17;
	h.ip4.saddr = cpu_to_be32(0xc0a80001);
	h.ip4.daddr = cpu_to_be32(0xc0a800c7);
	KUNIT_EXPECT_EQ(test, be16_to_cpu((__force __be16)ib_ud_ip4_csum(&h)), 0xb861);
}

static void what_is_no_datagram_is_refused(struct kunit *test)
{
	static const struct { int at; u8 value; } bad[] = {
		{ 0, 0x01 },		/* LVer */
		{ 1, 0x30 },		/* LNH: raw */
		{ 1, 0x31 },		/* LNH: IPv6 */
		{ 8, 0x40 },		/* IPVer */
		{ 14, 17 },		/* NxtHdr */
		{ 49, 0x01 },		/* TVer */
		{ 48, 0x04 },		/* RC SEND only */
	};
	struct ib_ud_header h, back;
	u8 wire[WIRE_MAX];
	int i;

	KUNIT_EXPECT_EQ(test, ib_ud_header_init(8, 1, 0, 0, 1, 5, 0, 0, &h), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_ASSERT_EQ(test, ib_ud_header_init(8, 1, 0, 0, 1, 0, 0, 0, &h), 0);
		ib_ud_header_pack(&h, wire);
		KUNIT_ASSERT_EQ(test, ib_ud_header_unpack(wire, &back), 0);
		wire[bad[i].at] = bad[i].value;
		KUNIT_EXPECT_EQ_MSG(test, ib_ud_header_unpack(wire, &back), -EINVAL,
				    "byte %d", bad[i].at);
	}
}

struct bits {
	u8 three;
	__be16 nine;
	__be64 wide;
	u8 bytes[12];
};

#define BITS_FIELD(word, bit, n, ...) {					\
	.struct_offset_bytes = offsetof(struct bits, __VA_ARGS__),	\
	.struct_size_bytes = sizeof_field(struct bits, __VA_ARGS__),	\
	.field_name = #__VA_ARGS__,					\
	.offset_words = (word), .offset_bits = (bit), .size_bits = (n), \
}

static void fields_of_any_place_and_width(struct kunit *test)
{
	static const struct ib_field desc[] = {
		BITS_FIELD(0, 2, 3, three),
		BITS_FIELD(0, 5, 9, nine),
		BITS_FIELD(0, 20, 52, wide),
		BITS_FIELD(3, 8, 96, bytes),
		{ .struct_size_bytes = 0, .field_name = "reserved",
		  .offset_words = 7, .offset_bits = 0, .size_bits = 96 },
	};
	struct bits from = {
		.three = 5,
		.nine = cpu_to_be16(0x1a5),
		.wide = cpu_to_be64(0xfedcba9876543),
		.bytes = "hello world",
	}, to = {};
	u8 wire[40], expected[40];

	memset(wire, 0xff, sizeof(wire));
	memset(expected, 0xff, sizeof(expected));
	ib_pack(desc, ARRAY_SIZE(desc), &from, wire);
	/* 11 101 110100101 111111 fedcba9876543; bits that no field covers stay. */
	KUNIT_EXPECT_EQ(test, wire[0], 0xc0 | 5 << 3 | 0x1a5 >> 6);
	KUNIT_EXPECT_EQ(test, wire[1], (u8)(0x1a5 << 2) | 3);
	KUNIT_EXPECT_EQ(test, wire[2], 0xff);
	KUNIT_EXPECT_MEMEQ(test, wire + 3, "\xed\xcb\xa9\x87\x65\x43", 6);
	memcpy(expected + 13, "hello world", 12);
	memset(expected + 28, 0, 12);
	KUNIT_EXPECT_MEMEQ(test, wire + 9, expected + 9, sizeof(wire) - 9);
	ib_unpack(desc, ARRAY_SIZE(desc), wire, &to);
	KUNIT_EXPECT_MEMEQ(test, &to, &from, sizeof(to));
}

static void rates_there_and_back(struct kunit *test)
{
	/* Rates of lanes of 2.5, 5 and 10 Gb/s are exact multiples. */
	static const enum ib_rate exact[] = {
		IB_RATE_2_5_GBPS, IB_RATE_5_GBPS, IB_RATE_10_GBPS, IB_RATE_20_GBPS,
		IB_RATE_30_GBPS, IB_RATE_40_GBPS, IB_RATE_60_GBPS, IB_RATE_80_GBPS,
		IB_RATE_120_GBPS,
	};
	int i, rate, mult, n = 0;

	for (rate = 0; rate < 64; rate++) {
		mult = ib_rate_to_mult(rate);
		if (mult < 0) {
			KUNIT_EXPECT_EQ(test, ib_rate_to_mbps(rate), -1);
			continue;
		}
		n++;
		KUNIT_EXPECT_EQ(test, mult_to_ib_rate(mult), rate);
		/* The rate in Mb/s differs from the multiple by at most a twelfth. */
		KUNIT_EXPECT_LE(test, abs(ib_rate_to_mbps(rate) - 2500 * mult),
				2500 * mult / 12);
	}
	KUNIT_EXPECT_EQ(test, n, 22);
	for (i = 0; i < ARRAY_SIZE(exact); i++)
		KUNIT_EXPECT_EQ(test, ib_rate_to_mbps(exact[i]),
				2500 * ib_rate_to_mult(exact[i]));
	KUNIT_EXPECT_EQ(test, mult_to_ib_rate(0), IB_RATE_PORT_CURRENT);
	KUNIT_EXPECT_EQ(test, mult_to_ib_rate(7), IB_RATE_PORT_CURRENT);
}

static struct kunit_case pack_cases[] = {
	KUNIT_CASE(ib_local),
	KUNIT_CASE(ib_global),
	KUNIT_CASE(roce_v2_of_ipv4),
	KUNIT_CASE(roce_v2_of_ipv6),
	KUNIT_CASE(a_checksum),
	KUNIT_CASE(what_is_no_datagram_is_refused),
	KUNIT_CASE(fields_of_any_place_and_width),
	KUNIT_CASE(rates_there_and_back),
	{}
};

static struct kunit_suite ibcore_pack_suite = {
	.name = "ib_core_pack",
	.test_cases = pack_cases,
};

kunit_test_suite(ibcore_pack_suite);
