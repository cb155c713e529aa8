// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Packets: lengths in their headers, payloads that they share (IBA vol. 1, 7.7, 8.3, 9.2). */
#include "fabric_net.h"

/* ---- lengths ---- */

struct length_case {
	u16 len;		/* of the payload */
	u8 pad;
	u16 words;		/* LRH: from itself to the ICRC */
	u16 paylen;		/* GRH: from behind itself to the ICRC */
	u8 blocks;		/* with the VCRC */
};

/* LRH, BTH and DETH have 28 bytes, the ICRC 4, the VCRC 2. */
static const struct length_case local_cases[] = {
	{ 0,	0, 8,	 0, 1 },
	{ 1,	3, 9,	 0, 1 },
	{ 2,	2, 9,	 0, 1 },
	{ 3,	1, 9,	 0, 1 },
	{ 4,	0, 9,	 0, 1 },
	{ 5,	3, 10,	 0, 1 },
	/* 60 bytes and the VCRC fit into one block, 64 do not. */
	{ 28,	0, 15,	 0, 1 },
	{ 29,	3, 16,	 0, 2 },
	{ 30,	2, 16,	 0, 2 },
	{ 31,	1, 16,	 0, 2 },
	{ 32,	0, 16,	 0, 2 },
	{ 92,	0, 31,	 0, 2 },
	{ 93,	3, 32,	 0, 3 },
	{ 256,	0, 72,	 0, 5 },
	{ 4095,	1, 1032, 0, 65 },
	{ 4096,	0, 1032, 0, 65 },
};

/* The GRH adds 40 bytes. */
static const struct length_case global_cases[] = {
	{ 0,	0, 18,	 24,   2 },
	{ 1,	3, 19,	 28,   2 },
	{ 2,	2, 19,	 28,   2 },
	{ 3,	1, 19,	 28,   2 },
	{ 52,	0, 31,	 76,   2 },
	{ 53,	3, 32,	 80,   3 },
	{ 256,	0, 82,	 280,  6 },
	{ 4094,	2, 1042, 4120, 66 },
	{ 4096,	0, 1042, 4120, 66 },
};

static const union ib_gid gid_a = { .raw = { 0xfe, 0x80, [15] = 1 } };
static const union ib_gid gid_b = { .raw = { 0xfe, 0x80, [15] = 2 } };

static struct vib_packet *packet_of(struct kunit *test, u16 len, bool grh)
{
	struct fab_spec spec = {
		.vl = 3, .sl = 9, .dlid = 0x1234, .slid = 0x4321, .pkey = 0x8765,
		.dqp = 0xabcdef, .sqp = 0x123456, .qkey = 0x11223344, .psn = 0x556677,
		.len = len,
	};

	if (grh) {
		spec.sgid = &gid_a;
		spec.dgid = &gid_b;
	}
	return fab_packet(test, &spec);
}

static void expect_length(struct kunit *test, const struct length_case *c, bool grh)
{
	struct vib_packet *pkt = packet_of(test, c->len, grh);

	KUNIT_EXPECT_EQ_MSG(test, ib_bth_get_pad(vib_packet_bth(pkt)), c->pad,
			    "pad of %u", c->len);
	KUNIT_EXPECT_EQ_MSG(test, be16_to_cpu(pkt->hdr.lrh[2]), c->words, "LRH of %u", c->len);
	KUNIT_EXPECT_EQ_MSG(test, vib_packet_wire_len(pkt), 4 * c->words, "wire of %u", c->len);
	KUNIT_EXPECT_EQ_MSG(test, pkt->blocks, c->blocks, "blocks of %u", c->len);
	if (grh)
		KUNIT_EXPECT_EQ_MSG(test, be16_to_cpu(pkt->hdr.u.l.grh.paylen), c->paylen,
				    "GRH of %u", c->len);
	vib_packet_free(pkt);
}

static void headers_tell_the_length(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(local_cases); i++)
		expect_length(test, &local_cases[i], false);
	for (i = 0; i < ARRAY_SIZE(global_cases); i++)
		expect_length(test, &global_cases[i], true);
}

/* Finishing writes LRH, pad count and GRH's length, and nothing else. */
static void other_fields_stay(struct kunit *test)
{
	struct vib_packet *pkt = packet_of(test, 6, true);
	struct ib_other_headers *oth = vib_packet_bth(pkt);

	KUNIT_EXPECT_TRUE(test, vib_packet_has_grh(pkt));
	KUNIT_EXPECT_PTR_EQ(test, oth, &pkt->hdr.u.l.oth);
	KUNIT_EXPECT_EQ(test, ib_get_lnh(&pkt->hdr), IB_LNH_IBA_GLOBAL);
	KUNIT_EXPECT_EQ(test, ib_get_lver(&pkt->hdr), 0);
	KUNIT_EXPECT_EQ(test, ib_get_sc(&pkt->hdr), 3);
	KUNIT_EXPECT_EQ(test, pkt->vl, 3);
	KUNIT_EXPECT_EQ(test, vib_packet_sl(pkt), 9);
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(pkt), 0x1234);
	KUNIT_EXPECT_EQ(test, vib_packet_slid(pkt), 0x4321);
	KUNIT_EXPECT_EQ(test, ib_bth_get_opcode(oth), IB_OPCODE_UD_SEND_ONLY);
	KUNIT_EXPECT_EQ(test, ib_bth_get_pkey(oth), 0x8765);
	KUNIT_EXPECT_EQ(test, ib_bth_get_tver(oth), 0);
	KUNIT_EXPECT_EQ(test, ib_bth_get_qpn(oth), 0xabcdef);
	KUNIT_EXPECT_EQ(test, ib_bth_get_psn(oth), 0x556677);
	KUNIT_EXPECT_EQ(test, ib_get_qkey(oth), 0x11223344);
	KUNIT_EXPECT_EQ(test, ib_get_sqpn(oth), 0x123456);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(pkt->hdr.u.l.grh.dgid.global.interface_id), 2);
	vib_packet_free(pkt);
}

/* As a response is made in the packet of the request. */
static void a_packet_is_finished_again(struct kunit *test)
{
	struct vib_packet *pkt = packet_of(test, 5, false);

	KUNIT_EXPECT_EQ(test, ib_bth_get_pad(vib_packet_bth(pkt)), 3);
	pkt->len = 2;
	vib_packet_finish(pkt, 15, 0, 0xffff, 0xffff);
	KUNIT_EXPECT_EQ(test, ib_bth_get_pad(vib_packet_bth(pkt)), 2);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(pkt->hdr.lrh[2]), 9);
	KUNIT_EXPECT_EQ(test, ib_get_sc(&pkt->hdr), 15);
	KUNIT_EXPECT_EQ(test, vib_packet_sl(pkt), 0);
	KUNIT_EXPECT_EQ(test, ib_get_lnh(&pkt->hdr), IB_LNH_IBA_LOCAL);
	pkt->len = 4;
	vib_packet_finish(pkt, 0, 15, 1, 2);
	KUNIT_EXPECT_EQ(test, ib_bth_get_pad(vib_packet_bth(pkt)), 0);
	KUNIT_EXPECT_EQ(test, ib_get_sc(&pkt->hdr), 0);
	KUNIT_EXPECT_EQ(test, vib_packet_sl(pkt), 15);
	vib_packet_free(pkt);
}

/* ---- what a packet carries ---- */

static unsigned int released;

static void count_release(struct vib_payload *payload)
{
	released++;
}

/* In pieces of 100, 7 and 50 bytes, which count up all in all from 0. */
#define PIECES_LEN	157U

static struct vib_payload pieces;
static struct bio_vec piece_vec[3];

static void pieces_init(struct kunit *test)
{
	static const u8 lens[] = { 100, 7, 50 };
	unsigned int i, k, pos = 0;
	u8 *piece;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		piece = kunit_kmalloc(test, lens[i], GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, piece);
		for (k = 0; k < lens[i]; k++)
			piece[k] = pos++;
		bvec_set_virt(&piece_vec[i], piece, lens[i]);
	}
	pieces = (struct vib_payload){
		.len = pos,
		.nr_vec = ARRAY_SIZE(piece_vec),
		.vec = piece_vec,
		.release = count_release,
	};
	refcount_set(&pieces.ref, 1);
	released = 0;
}

static struct vib_packet *packet_with(struct kunit *test, struct vib_payload *payload,
				      u32 offset, u16 len)
{
	struct vib_packet *pkt = packet_of(test, 0, false);

	vib_packet_attach(pkt, payload, offset, len);
	vib_packet_finish(pkt, 0, 0, 1, 2);
	return pkt;
}

static bool counts_up(const u8 *bytes, u32 len, u8 from)
{
	u32 i;

	for (i = 0; i < len; i++) {
		if (bytes[i] != (u8)(from + i))
			return false;
	}
	return true;
}

struct read_case {
	u32 offset, len;
	bool ok;
};

/* Of a packet with 60 bytes. */
static const struct read_case read_cases[] = {
	{ 0, 60, true }, { 0, 1, true }, { 59, 1, true }, { 17, 40, true },
	/* Nothing is there everywhere, also at the end. */
	{ 0, 0, true }, { 30, 0, true }, { 60, 0, true },
	{ 0, 61, false }, { 60, 1, false }, { 59, 2, false }, { 61, 0, false },
	{ U32_MAX, 0, false }, { U32_MAX, 2, false }, { 1, U32_MAX, false },
	{ 2, U32_MAX, false }, { U32_MAX, U32_MAX, false },
};

static void a_packet_is_read_within_its_part(struct kunit *test)
{
	struct vib_packet *pkt;
	const struct read_case *c;
	u8 buf[64];
	unsigned int i;

	/* Bytes 80 to 139: of all three pieces. */
	pieces_init(test);
	pkt = packet_with(test, &pieces, 80, 60);
	for (i = 0; i < ARRAY_SIZE(read_cases); i++) {
		c = &read_cases[i];
		memset(buf, 0xee, sizeof(buf));
		KUNIT_EXPECT_EQ_MSG(test, vib_packet_read(pkt, c->offset, buf, c->len), c->ok,
				    "case %u", i);
		if (c->ok)
			KUNIT_EXPECT_TRUE_MSG(test, counts_up(buf, c->len, 80 + c->offset),
					      "case %u", i);
		/* Not a byte more than was asked for, and none of what is not there */
		KUNIT_EXPECT_EQ_MSG(test, buf[c->ok ? c->len : 0], 0xee, "case %u", i);
	}
	vib_packet_free(pkt);
}

static void reads_cross_from_piece_to_piece(struct kunit *test)
{
	struct vib_packet *pkt;
	u8 buf[16];
	u32 at;

	pieces_init(test);
	pkt = packet_with(test, &pieces, 0, PIECES_LEN);
	for (at = 0; at + sizeof(buf) <= PIECES_LEN; at++) {
		KUNIT_ASSERT_TRUE_MSG(test, vib_packet_read(pkt, at, buf, sizeof(buf)),
				      "at %u", at);
		KUNIT_ASSERT_TRUE_MSG(test, counts_up(buf, sizeof(buf), at), "at %u", at);
	}
	vib_packet_free(pkt);
}

static void a_packet_without_payload_has_no_bytes(struct kunit *test)
{
	struct vib_packet *pkt = packet_of(test, 0, false);
	struct iov_iter iter;
	u8 byte = 0xee;

	KUNIT_EXPECT_NULL(test, pkt->payload);
	KUNIT_EXPECT_TRUE(test, vib_packet_read(pkt, 0, &byte, 0));
	KUNIT_EXPECT_FALSE(test, vib_packet_read(pkt, 0, &byte, 1));
	KUNIT_EXPECT_FALSE(test, vib_packet_read(pkt, 1, &byte, 0));
	KUNIT_EXPECT_EQ(test, byte, 0xee);
	vib_packet_iter(pkt, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	vib_packet_free(pkt);
}

static void an_iterator_has_the_packets_part(struct kunit *test)
{
	struct vib_packet *pkt;
	struct iov_iter iter;
	u8 buf[PIECES_LEN];

	pieces_init(test);
	pkt = packet_with(test, &pieces, 99, 10);
	vib_packet_iter(pkt, &iter);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 10);
	KUNIT_EXPECT_EQ(test, copy_from_iter(buf, sizeof(buf), &iter), 10);
	KUNIT_EXPECT_TRUE(test, counts_up(buf, 10, 99));
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 0);
	vib_packet_free(pkt);
}

/* ---- who has the payload ---- */

static void a_payload_goes_with_the_last_that_has_it(struct kunit *test)
{
	struct vib_packet *one, *two, *copy;

	pieces_init(test);
	one = packet_with(test, &pieces, 0, 100);
	two = packet_with(test, &pieces, 100, 57);
	copy = vib_packet_clone(two, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_EQ(test, refcount_read(&pieces.ref), 4);
	vib_payload_put(&pieces);
	vib_packet_free(two);
	vib_packet_free(one);
	KUNIT_EXPECT_EQ(test, released, 0);
	vib_packet_free(copy);
	KUNIT_EXPECT_EQ(test, released, 1);
}

/* Bytes of its own: nothing is left of it either, which KASAN and kmemleak see. */
static void a_payload_of_its_own_is_freed(struct kunit *test)
{
	struct vib_payload *payload = vib_payload_alloc(4096, GFP_KERNEL);
	struct vib_packet *pkt;
	u8 last = 0;

	KUNIT_ASSERT_NOT_NULL(test, payload);
	KUNIT_EXPECT_EQ(test, payload->len, 4096);
	payload->data[4095] = 0x77;
	pkt = packet_with(test, payload, 4000, 96);
	vib_payload_put(payload);
	KUNIT_EXPECT_TRUE(test, vib_packet_read(pkt, 95, &last, 1));
	KUNIT_EXPECT_EQ(test, last, 0x77);
	vib_packet_free(pkt);
	vib_payload_put(NULL);
}

static void a_clone_has_the_same_headers_and_payload(struct kunit *test)
{
	struct vib_packet *pkt, *copy;
	u8 buf[50];

	pieces_init(test);
	pkt = packet_with(test, &pieces, 107, 50);
	pkt->hops = 5;
	copy = vib_packet_clone(pkt, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_PTR_EQ(test, copy->payload, pkt->payload);
	KUNIT_EXPECT_TRUE(test, list_empty(&copy->entry));
	KUNIT_EXPECT_EQ(test, copy->hdr_len, pkt->hdr_len);
	KUNIT_EXPECT_EQ(test, copy->len, 50);
	KUNIT_EXPECT_EQ(test, copy->hops, 5);
	KUNIT_EXPECT_EQ(test, copy->blocks, pkt->blocks);
	KUNIT_EXPECT_TRUE(test, !memcmp(&copy->hdr, &pkt->hdr, sizeof(pkt->hdr)));
	/* The headers are each one's own. */
	vib_packet_finish(copy, 1, 1, 0x77, 0x88);
	KUNIT_EXPECT_EQ(test, vib_packet_dlid(pkt), 1);
	vib_packet_free(pkt);
	KUNIT_EXPECT_TRUE(test, vib_packet_read(copy, 0, buf, 50));
	KUNIT_EXPECT_TRUE(test, counts_up(buf, 50, 107));
	vib_packet_free(copy);
	KUNIT_EXPECT_EQ(test, refcount_read(&pieces.ref), 1);
}

static void a_packet_without_payload_is_cloned(struct kunit *test)
{
	struct vib_packet *pkt = packet_of(test, 0, false), *copy;

	copy = vib_packet_clone(pkt, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_NULL(test, copy->payload);
	vib_packet_free(pkt);
	vib_packet_free(copy);
}

/* ---- who has the credits ---- */

/* A packet that has come from one adapter to another, and has the credits of the link. */
static struct vib_packet *packet_arrived(struct kunit *test, struct vib_port **from)
{
	struct fab *fab = fab_new(test);
	struct fab_node *a = fab_ca(fab, 1), *b = fab_ca(fab, 1);
	struct vib_packet *pkt;

	*from = fab_port(a, 1);
	fab_link(fab, *from, fab_port(b, 1));
	fab_activate(fab);
	fab_send(fab, *from, &(struct fab_spec){ .dlid = 2, .slid = 1, .len = 256 });
	pkt = fab_take(fab, b);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	KUNIT_ASSERT_PTR_EQ(test, pkt->held, &(*from)->tx);
	KUNIT_ASSERT_EQ(test, (*from)->tx.credits[0], fab->full - 5);
	return pkt;
}

static void a_clone_holds_no_credits(struct kunit *test)
{
	struct vib_packet *pkt, *copy;
	struct vib_port *from;
	u32 credits;

	pkt = packet_arrived(test, &from);
	credits = from->tx.credits[0];
	copy = vib_packet_clone(pkt, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_NULL(test, copy->held);
	vib_packet_release(copy);
	vib_packet_free(copy);
	KUNIT_EXPECT_EQ(test, from->tx.credits[0], credits);
	vib_packet_free(pkt);
	KUNIT_EXPECT_EQ(test, from->tx.credits[0], credits + 5);
}

static void credits_are_given_back_once(struct kunit *test)
{
	struct vib_packet *pkt;
	struct vib_port *from;
	u32 credits;

	pkt = packet_arrived(test, &from);
	credits = from->tx.credits[0];
	vib_packet_release(pkt);
	KUNIT_EXPECT_EQ(test, from->tx.credits[0], credits + 5);
	KUNIT_EXPECT_NULL(test, pkt->held);
	vib_packet_release(pkt);
	vib_packet_free(pkt);
	KUNIT_EXPECT_EQ(test, from->tx.credits[0], credits + 5);
}

/*
 * A response that is made in the packet of a longer request gives back what the request took,
 * not what it will take itself.
 */
static void what_was_taken_is_given_back(struct kunit *test)
{
	struct vib_packet *pkt;
	struct vib_port *from;
	u32 credits;

	pkt = packet_arrived(test, &from);
	credits = from->tx.credits[0];
	pkt->len = 4;
	vib_packet_finish(pkt, 0, 0, 1, 2);
	KUNIT_EXPECT_EQ(test, pkt->blocks, 1);
	vib_packet_free(pkt);
	KUNIT_EXPECT_EQ(test, from->tx.credits[0], credits + 5);
}

static struct kunit_case packet_cases[] = {
	KUNIT_CASE(headers_tell_the_length),
	KUNIT_CASE(other_fields_stay),
	KUNIT_CASE(a_packet_is_finished_again),
	KUNIT_CASE(a_packet_is_read_within_its_part),
	KUNIT_CASE(reads_cross_from_piece_to_piece),
	KUNIT_CASE(a_packet_without_payload_has_no_bytes),
	KUNIT_CASE(an_iterator_has_the_packets_part),
	KUNIT_CASE(a_payload_goes_with_the_last_that_has_it),
	KUNIT_CASE(a_payload_of_its_own_is_freed),
	KUNIT_CASE(a_clone_has_the_same_headers_and_payload),
	KUNIT_CASE(a_packet_without_payload_is_cloned),
	KUNIT_CASE(a_clone_holds_no_credits),
	KUNIT_CASE(credits_are_given_back_once),
	KUNIT_CASE(what_was_taken_is_given_back),
	{}
};

static struct kunit_suite packet_suite = {
	.name = "vib_packet",
	.test_cases = packet_cases,
};

kunit_test_suite(packet_suite);
