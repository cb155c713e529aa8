// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Guards and tuples (SBC-3, 4.22): known values, escapes, masks, and what is converted. */
#include "protected.h"
#include "memory/tuple.h"

static u8 data[512];

static int tuple_test_init(struct kunit *test)
{
	int i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 37 + (i >> 3);
	return 0;
}

/* In two pieces, of which the first has @first bytes. */
static u16 guard_of(const struct ib_t10_dif_domain *dif, u8 *mem, u32 len, u32 first)
{
	struct vib_guard guard;

	vib_guard_init(&guard, dif);
	vib_guard_add(mem, first, &guard);
	vib_guard_add(mem + first, len - first, &guard);
	return vib_guard_get(&guard);
}

/* ---- guards ---- */

/* SBC-3 4.22.4.3: the CRCs of 32 bytes of zeroes, of ones, and counting up. */
static void guards_are_those_of_the_standard(struct kunit *test)
{
	const struct ib_t10_dif_domain crc = { .bg_type = IB_T10DIF_CRC };
	u8 mem[32];
	int i;

	memset(mem, 0, sizeof(mem));
	KUNIT_EXPECT_EQ(test, guard_of(&crc, mem, 32, 5), 0);
	memset(mem, 0xff, sizeof(mem));
	KUNIT_EXPECT_EQ(test, guard_of(&crc, mem, 32, 5), 0xa293);
	for (i = 0; i < 32; i++)
		mem[i] = i;
	KUNIT_EXPECT_EQ(test, guard_of(&crc, mem, 32, 5), 0x0224);
}

static void guards_do_not_depend_on_pieces(struct kunit *test)
{
	const struct ib_t10_dif_domain crc = { .bg_type = IB_T10DIF_CRC };
	const struct ib_t10_dif_domain csum = { .bg_type = IB_T10DIF_CSUM };
	u32 first;

	for (first = 0; first <= sizeof(data); first++) {
		KUNIT_ASSERT_EQ(test, guard_of(&crc, data, sizeof(data), first),
				pi_crc(data, sizeof(data)));
		KUNIT_ASSERT_EQ(test, guard_of(&csum, data, sizeof(data), first),
				pi_csum(data, sizeof(data)));
	}
}

/* The guard goes on from the seed, as if data that has it came before. */
static void a_seed_is_what_came_before(struct kunit *test)
{
	struct ib_t10_dif_domain dif = { .bg_type = IB_T10DIF_CRC };

	dif.bg = pi_crc(data, 200);
	KUNIT_EXPECT_EQ(test, guard_of(&dif, data + 200, 312, 1), pi_crc(data, 512));
	dif.bg_type = IB_T10DIF_CSUM;
	dif.bg = (u16)~pi_csum(data, 200);
	KUNIT_EXPECT_EQ(test, guard_of(&dif, data + 200, 312, 1), pi_csum(data, 512));
}

/* ---- tuples ---- */

static void reference_tags_count_if_they_are_remapped(struct kunit *test)
{
	struct ib_t10_dif_domain dif = { .app_tag = 0x55aa, .ref_tag = U32_MAX };
	struct t10_pi_tuple tuple = vib_tuple_make(&dif, 3, 0x1234);

	KUNIT_EXPECT_EQ(test, be16_to_cpu(tuple.guard_tag), 0x1234);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(tuple.app_tag), 0x55aa);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(tuple.ref_tag), U32_MAX);
	dif.ref_remap = true;
	tuple = vib_tuple_make(&dif, 3, 0x1234);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(tuple.ref_tag), 2);
}

static void a_tuple_escapes_as_its_domain_says(struct kunit *test)
{
	static const struct {
		bool app, ref;			/* app_escape, ref_escape */
		bool none, tag, both;		/* neither tag is one, the app tag, both */
		bool ref_tag;
	} rows[] = {
		{ false, false, false, false, false, false },
		{ true, false, false, true, true, false },
		{ false, true, false, false, true, true },
		{ true, true, false, false, true, false },
	};
	struct t10_pi_tuple none = {}, app = { .app_tag = T10_PI_APP_ESCAPE };
	struct t10_pi_tuple ref = { .ref_tag = T10_PI_REF_ESCAPE };
	struct t10_pi_tuple both = {
		.app_tag = T10_PI_APP_ESCAPE,
		.ref_tag = T10_PI_REF_ESCAPE,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct ib_t10_dif_domain dif = {
			.app_escape = rows[i].app,
			.ref_escape = rows[i].ref,
		};

		KUNIT_EXPECT_EQ_MSG(test, vib_tuple_escapes(&dif, &none), rows[i].none, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, vib_tuple_escapes(&dif, &app), rows[i].tag, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, vib_tuple_escapes(&dif, &both), rows[i].both, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, vib_tuple_escapes(&dif, &ref), rows[i].ref_tag, "%d",
				    i);
	}
}

static void each_bit_of_the_mask_is_a_byte_that_is_checked(struct kunit *test)
{
	const struct ib_t10_dif_domain dif = { .apptag_check_mask = 0xffff };
	struct t10_pi_tuple tuple;
	struct ib_sig_err err;
	int byte, bit;

	for (byte = 0; byte < PI_TUPLE; byte++) {
		tuple = vib_tuple_make(&dif, 0, 0x1234);
		((u8 *)&tuple)[byte] ^= 0x10;
		for (bit = 0; bit < 8; bit++)
			KUNIT_EXPECT_EQ_MSG(test, vib_tuple_right(&dif, BIT(bit), 0, 0x1234,
								  &tuple, &err),
					    bit != 7 - byte, "byte %d, bit %d", byte, bit);
	}
}

static void what_is_wrong_is_told(struct kunit *test)
{
	struct ib_t10_dif_domain dif = {
		.app_tag = 0x0ff0, .ref_tag = 100, .ref_remap = true,
		.apptag_check_mask = 0xfff0,
	};
	struct t10_pi_tuple tuple = vib_tuple_make(&dif, 7, 0x1234);
	struct ib_sig_err err = {};

	KUNIT_EXPECT_TRUE(test, vib_tuple_right(&dif, PI_ALL, 7, 0x1234, &tuple, &err));
	/* Bits of the application tag that are masked out may be anything. */
	tuple.app_tag = cpu_to_be16(0x0fff);
	KUNIT_EXPECT_TRUE(test, vib_tuple_right(&dif, PI_ALL, 7, 0x1234, &tuple, &err));
	tuple.app_tag = cpu_to_be16(0x8fff);
	KUNIT_EXPECT_FALSE(test, vib_tuple_right(&dif, PI_ALL, 7, 0x1234, &tuple, &err));
	KUNIT_EXPECT_EQ(test, err.err_type, IB_SIG_BAD_APPTAG);
	KUNIT_EXPECT_EQ(test, err.expected, 0x0ff0);
	KUNIT_EXPECT_EQ(test, err.actual, 0x8fff);
	KUNIT_EXPECT_FALSE(test, vib_tuple_right(&dif, PI_ALL, 8, 0x1234, &tuple, &err));
	KUNIT_EXPECT_EQ(test, err.err_type, IB_SIG_BAD_REFTAG);
	KUNIT_EXPECT_EQ(test, err.expected, 108);
	KUNIT_EXPECT_EQ(test, err.actual, 107);
	KUNIT_EXPECT_FALSE(test, vib_tuple_right(&dif, PI_ALL, 8, 0x1235, &tuple, &err));
	KUNIT_EXPECT_EQ(test, err.err_type, IB_SIG_BAD_GUARD);
	KUNIT_EXPECT_EQ(test, err.expected, 0x1235);
	KUNIT_EXPECT_EQ(test, err.actual, 0x1234);
	/* An escape is not checked, whatever the guard is. */
	dif.app_escape = true;
	tuple.app_tag = T10_PI_APP_ESCAPE;
	KUNIT_EXPECT_TRUE(test, vib_tuple_right(&dif, PI_ALL, 8, 0x1235, &tuple, &err));
}

static void what_both_domains_say_is_copied(struct kunit *test)
{
	struct ib_t10_dif_domain from = { .app_tag = 1, .ref_tag = 100, .ref_remap = true };
	struct ib_t10_dif_domain to = from;
	struct t10_pi_tuple tuple = { cpu_to_be16(0xdead), cpu_to_be16(2), cpu_to_be32(3) };
	struct t10_pi_tuple is = vib_tuple_convert(&from, &to, 5, 0x1234, &tuple);

	KUNIT_EXPECT_MEMEQ(test, &is, &tuple, PI_TUPLE);
	to.bg_type = IB_T10DIF_CSUM;
	is = vib_tuple_convert(&from, &to, 5, 0x1234, &tuple);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(is.guard_tag), 0x1234);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(is.ref_tag), 3);
	to.app_tag = 9;
	to.ref_tag = 200;
	is = vib_tuple_convert(&from, &to, 5, 0x1234, &tuple);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(is.app_tag), 9);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(is.ref_tag), 205);
	/* An escape stays one. */
	from.app_escape = true;
	tuple.app_tag = T10_PI_APP_ESCAPE;
	is = vib_tuple_convert(&from, &to, 5, 0x1234, &tuple);
	KUNIT_EXPECT_MEMEQ(test, &is, &tuple, PI_TUPLE);
}

static struct kunit_case tuple_cases[] = {
	KUNIT_CASE(guards_are_those_of_the_standard),
	KUNIT_CASE(guards_do_not_depend_on_pieces),
	KUNIT_CASE(a_seed_is_what_came_before),
	KUNIT_CASE(reference_tags_count_if_they_are_remapped),
	KUNIT_CASE(a_tuple_escapes_as_its_domain_says),
	KUNIT_CASE(each_bit_of_the_mask_is_a_byte_that_is_checked),
	KUNIT_CASE(what_is_wrong_is_told),
	KUNIT_CASE(what_both_domains_say_is_copied),
	{}
};

static struct kunit_suite vib_tuple_suite = {
	.name = "vib_integrity_tuple",
	.init = tuple_test_init,
	.test_cases = tuple_cases,
};

kunit_test_suite(vib_tuple_suite);
