// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages of trunks: what is written is parsed, and each field out of its range is refused. */
#include "../fabric/fabric_net.h"
#include "trunk/wire.h"

static struct fab *fab;
static void *buf;			/* of just the length that is needed: KASAN guards it */
static size_t len;
static struct vib_trunk_msg msg;

static int wire_test_init(struct kunit *test)
{
	fab = fab_new(test);
	memset(&msg, 0, sizeof(msg));
	return 0;
}

/* As a datagram of @n bytes: nothing behind them may be read. */
static int parse(struct kunit *test, size_t n)
{
	void *copy = kmemdup(buf, n, GFP_KERNEL);
	struct vib_trunk_msg found;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	ret = vib_trunk_parse(copy, n, &found);
	kfree(copy);
	if (!ret)
		msg = found;
	return ret;
}

static void put_hello(struct kunit *test)
{
	buf = kunit_kzalloc(test, VIB_TRUNK_MAX_MSG, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	msg = (struct vib_trunk_msg){
		.type = VIB_TRUNK_HELLO,
		.flags = VIB_TRUNK_READY,
		.from = 0x123456789abcdef0,
		.to = 0xfedcba9876543210,
		.hello = {
			.guid = 0x0600000000000100, .port = 3,
			.node_type = RDMA_NODE_IB_SWITCH, .width = 3, .speed = 7,
			.mtu = IB_MTU_2048, .vls = 8, .interval = 200,
		},
	};
	len = vib_trunk_put(buf, &msg);
}

static void put_credit(struct kunit *test)
{
	unsigned int vl;

	buf = kunit_kzalloc(test, VIB_TRUNK_MAX_MSG, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	msg = (struct vib_trunk_msg){
		.type = VIB_TRUNK_CREDIT,
		.flags = VIB_TRUNK_WANT,
		.from = 1,
		.to = 2,
		.seq = 0xfffffffe,
	};
	for (vl = 0; vl < VIB_VLS; vl++) {
		msg.credit.sent[vl] = 1000 * vl;
		msg.credit.limit[vl] = -vl;
	}
	len = vib_trunk_put(buf, &msg);
}

static void put_data(struct kunit *test, const struct fab_spec *spec)
{
	struct vib_packet *pkt = fab_packet(test, spec);

	buf = kunit_kzalloc(test, VIB_TRUNK_MAX_MSG, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	pkt->hops = 5;
	msg = (struct vib_trunk_msg){
		.type = VIB_TRUNK_DATA,
		.from = 1,
		.to = 2,
		.seq = 77,
		.data.total = 1234,
	};
	len = vib_trunk_put_packet(buf, &msg, pkt);
	vib_packet_free(pkt);
}

/* ---- what is written ---- */

static void a_hello_is_parsed_as_it_was_written(struct kunit *test)
{
	struct vib_trunk_msg before;

	put_hello(test);
	before = msg;
	memset(&msg, 0xff, sizeof(msg));
	KUNIT_ASSERT_EQ(test, parse(test, len), 0);
	KUNIT_EXPECT_EQ(test, msg.type, before.type);
	KUNIT_EXPECT_EQ(test, msg.flags, before.flags);
	KUNIT_EXPECT_EQ(test, msg.from, before.from);
	KUNIT_EXPECT_EQ(test, msg.to, before.to);
	KUNIT_EXPECT_MEMEQ(test, &msg.hello, &before.hello, sizeof(msg.hello));
}

static void a_credit_is_parsed_as_it_was_written(struct kunit *test)
{
	struct vib_trunk_msg before;

	put_credit(test);
	before = msg;
	memset(&msg, 0xff, sizeof(msg));
	KUNIT_ASSERT_EQ(test, parse(test, len), 0);
	KUNIT_EXPECT_EQ(test, msg.seq, before.seq);
	KUNIT_EXPECT_EQ(test, msg.flags, before.flags);
	KUNIT_EXPECT_MEMEQ(test, &msg.credit, &before.credit, sizeof(msg.credit));
}

static const union ib_gid gids[2] = {
	{ .raw = { 0xfe, 0x80, [15] = 1 } }, { .raw = { 0xfe, 0x80, [15] = 2 } },
};

static void packets_of_each_length_are_parsed(struct kunit *test)
{
	static const u16 lens[] = { 0, 1, 2, 3, 4, 255, 256, 2048, 4095, 4096 };
	struct fab_spec spec = { .vl = 2, .sl = 1, .dlid = 7, .slid = 9 };
	unsigned int i, grh;
	u16 hdr_len;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		for (grh = 0; grh < 2; grh++) {
			spec.len = lens[i];
			spec.sgid = grh ? &gids[0] : NULL;
			spec.dgid = grh ? &gids[1] : NULL;
			put_data(test, &spec);
			hdr_len = IB_LRH_BYTES + IB_BTH_BYTES + IB_DETH_BYTES +
				  (grh ? IB_GRH_BYTES : 0);
			KUNIT_EXPECT_EQ(test, len, sizeof(struct vib_trunk_data) + hdr_len +
					lens[i]);
			KUNIT_ASSERT_EQ_MSG(test, parse(test, len), 0, "%u", lens[i]);
			KUNIT_EXPECT_EQ(test, msg.seq, 77);
			KUNIT_EXPECT_EQ(test, msg.data.total, 1234);
			KUNIT_EXPECT_EQ(test, msg.data.hops, 5);
			KUNIT_EXPECT_EQ(test, msg.data.vl, 2);
			KUNIT_EXPECT_EQ(test, msg.data.hdr_len, hdr_len);
			KUNIT_EXPECT_EQ(test, msg.data.len, lens[i]);
			KUNIT_EXPECT_EQ(test, msg.data.blocks,
					DIV_ROUND_UP(hdr_len + ALIGN(lens[i], 4) + 4 + 2, 64));
		}
	}
}

/* ---- lengths ---- */

static void no_other_length_is_parsed(struct kunit *test)
{
	static void (*const puts[])(struct kunit *test) = { put_hello, put_credit };
	unsigned int i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(puts); i++) {
		puts[i](test);
		for (n = 0; n < len + 70; n++) {
			if (n != len)
				KUNIT_EXPECT_EQ_MSG(test, parse(test, n), -EBADMSG, "%zu", n);
		}
	}
	/* Of a packet the LRH has the length, in words of 4 bytes. */
	put_data(test, &(struct fab_spec){ .dlid = 7, .slid = 9, .len = 100 });
	for (n = 0; n <= len; n++)
		KUNIT_EXPECT_EQ_MSG(test, parse(test, n), n > len - 4 ? 0 : -EBADMSG, "%zu", n);
	KUNIT_EXPECT_EQ(test, parse(test, len + 1), -EBADMSG);
}

static void a_packet_beyond_the_mtu_is_refused(struct kunit *test)
{
	struct vib_trunk_data *wire;
	__be16 *lrh;

	put_data(test, &(struct fab_spec){ .dlid = 7, .slid = 9, .len = 4096 });
	wire = kunit_kzalloc(test, len + 4, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wire);
	memcpy(wire, buf, len);
	lrh = (__be16 *)(wire + 1);
	lrh[2] = cpu_to_be16(be16_to_cpu(lrh[2]) + 1);
	buf = wire;
	KUNIT_EXPECT_EQ(test, parse(test, len + 4), -EBADMSG);
}

/* Of VL15 there are MADs alone. */
static void a_long_packet_of_vl15_is_refused(struct kunit *test)
{
	put_data(test, &(struct fab_spec){ .vl = 15, .dlid = 0xffff, .slid = 0xffff,
					   .len = 256 });
	KUNIT_EXPECT_EQ(test, parse(test, len), 0);
	put_data(test, &(struct fab_spec){ .vl = 15, .dlid = 0xffff, .slid = 0xffff,
					   .len = 260 });
	KUNIT_EXPECT_EQ(test, parse(test, len), -EBADMSG);
}

/* ---- fields ---- */

#define REFUSED(_field, _value)	do {						\
	typeof(_field) __before = (_field);					\
										\
	(_field) = (_value);							\
	KUNIT_EXPECT_EQ_MSG(test, parse(test, len), -EBADMSG, "%s = %s",	\
			    #_field, #_value);					\
	(_field) = __before;							\
	KUNIT_EXPECT_EQ_MSG(test, parse(test, len), 0, "%s", #_field);		\
} while (0)

static void each_field_of_a_hello_has_its_range(struct kunit *test)
{
	struct vib_trunk_hello *wire;

	put_hello(test);
	wire = buf;
	REFUSED(wire->hdr.magic, cpu_to_be32(VIB_TRUNK_MAGIC + 1));
	REFUSED(wire->hdr.version, 0);
	REFUSED(wire->hdr.version, VIB_TRUNK_VERSION + 1);
	REFUSED(wire->hdr.type, 0);
	REFUSED(wire->hdr.type, VIB_TRUNK_CREDIT);
	REFUSED(wire->hdr.type, VIB_TRUNK_DATA);
	REFUSED(wire->hdr.type, VIB_TRUNK_DATA + 1);
	REFUSED(wire->hdr.flags, cpu_to_be16(4));
	REFUSED(wire->hdr.from, 0);
	REFUSED(wire->guid, 0);
	REFUSED(wire->port, 0);
	REFUSED(wire->port, 255);
	REFUSED(wire->node_type, 0);
	REFUSED(wire->node_type, RDMA_NODE_IB_ROUTER);
	REFUSED(wire->width, 0);
	REFUSED(wire->width, 4);
	REFUSED(wire->speed, 0);
	REFUSED(wire->speed, 8);
	REFUSED(wire->mtu, 0);
	REFUSED(wire->mtu, IB_MTU_4096 + 1);
	REFUSED(wire->vls, 0);
	REFUSED(wire->vls, 16);
	REFUSED(wire->interval, cpu_to_be16(VIB_TRUNK_MIN_INTERVAL - 1));
	REFUSED(wire->interval, cpu_to_be16(VIB_TRUNK_MAX_INTERVAL + 1));
	wire->hdr.to = 0;
	KUNIT_EXPECT_EQ(test, parse(test, len), 0);
}

static void each_field_of_a_credit_has_its_range(struct kunit *test)
{
	struct vib_trunk_credit *wire;

	put_credit(test);
	wire = buf;
	REFUSED(wire->hdr.flags, cpu_to_be16(2));
	REFUSED(wire->hdr.from, 0);
	REFUSED(wire->hdr.to, 0);
	REFUSED(wire->reserved, cpu_to_be32(1));
}

static void each_field_of_a_packet_has_its_range(struct kunit *test)
{
	struct {
		struct vib_trunk_data data;
		__be16 lrh[4];
	} *wire;
	u16 words;

	put_data(test, &(struct fab_spec){ .vl = 2, .dlid = 7, .slid = 9, .len = 100 });
	wire = buf;
	words = be16_to_cpu(wire->lrh[2]);
	REFUSED(wire->data.hdr.flags, cpu_to_be16(1));
	REFUSED(wire->data.hdr.from, 0);
	REFUSED(wire->data.hdr.to, 0);
	REFUSED(wire->data.hops, VIB_MAX_HOPS + 1);
	REFUSED(wire->data.reserved[0], 1);
	REFUSED(wire->data.reserved[4], 1);
	REFUSED(wire->data.hdr_len, 0);
	REFUSED(wire->data.hdr_len, cpu_to_be16(IB_LRH_BYTES));
	REFUSED(wire->data.hdr_len, cpu_to_be16(IB_LRH_BYTES + IB_BTH_BYTES - 4));
	REFUSED(wire->data.hdr_len, cpu_to_be16(29));
	REFUSED(wire->data.hdr_len, cpu_to_be16(sizeof(struct ib_header)));
	REFUSED(wire->data.hdr_len, cpu_to_be16(sizeof(struct ib_header) + 4));
	REFUSED(wire->data.hdr_len, cpu_to_be16(0xfffc));
	/* LNH: raw packets, and a GRH for which the headers are too short */
	REFUSED(wire->lrh[0], cpu_to_be16(2 << 12 | 0));
	REFUSED(wire->lrh[0], cpu_to_be16(2 << 12 | 1));
	REFUSED(wire->lrh[0], cpu_to_be16(2 << 12 | IB_LNH_IBA_GLOBAL));
	REFUSED(wire->lrh[2], cpu_to_be16(words - 1));
	REFUSED(wire->lrh[2], cpu_to_be16(words + 1));
	REFUSED(wire->lrh[2], 0);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(a_hello_is_parsed_as_it_was_written),
	KUNIT_CASE(a_credit_is_parsed_as_it_was_written),
	KUNIT_CASE(packets_of_each_length_are_parsed),
	KUNIT_CASE(no_other_length_is_parsed),
	KUNIT_CASE(a_packet_beyond_the_mtu_is_refused),
	KUNIT_CASE(a_long_packet_of_vl15_is_refused),
	KUNIT_CASE(each_field_of_a_hello_has_its_range),
	KUNIT_CASE(each_field_of_a_credit_has_its_range),
	KUNIT_CASE(each_field_of_a_packet_has_its_range),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "vib_trunk_wire",
	.init = wire_test_init,
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
