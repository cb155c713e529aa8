// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Regions with protection information: what is on the wire for each pair of domains, what is
 * checked, and what is refused.
 */
#include "protected.h"
#include "memory/mr.h"

#define ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)

static const u32 blocks[] = { 512, 4096 };
/* Bytes at a time: tuples in pieces, packets, more than a block, all at once. */
static const u32 steps[] = { 3, 256, 1000, 4096, PI_MAX_WIRE };

static struct hca_pair pair;
static struct ib_qp *qp;
static struct ib_mr *mr;
static u8 *wire, *want;		/* PI_MAX_WIRE bytes each */

static int region_test_init(struct kunit *test)
{
	int ret = hca_pair_init(test, &pair);

	if (ret)
		return ret;
	qp = hca_qp_rts(test, &pair.a);
	wire = hca_buf(test, PI_MAX_WIRE, 0);
	want = hca_buf(test, PI_MAX_WIRE, 0);
	mr = ib_alloc_mr_integrity(pair.a.pd, PI_PIECES, PI_PIECES);
	return PTR_ERR_OR_ZERO(mr);
}

static void region_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(mr))
		ib_dereg_mr(mr);
	mr = NULL;
	if (qp)
		ib_destroy_qp(qp);
	qp = NULL;
	hca_pair_exit(&pair);
}

static bool invalidate(void)
{
	return vib_key_invalidate(to_vib_qp(qp), mr->rkey, false);
}

static int map(struct kunit *test, struct protected *p, const struct ib_sig_attrs *attrs)
{
	protected_map_dma(test, p, pair.a.pd->device);
	*mr->sig_attrs = *attrs;
	return ib_map_mr_sg_pi(mr, p->data.sg, p->data.count, NULL, p->meta.sg, p->meta.count,
			       NULL, SZ_4K);
}

static bool enroll(int access)
{
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	return vib_integrity_register(to_vib_qp(qp), mr->rkey, access);
}

static void open_region(struct kunit *test, struct protected *p, const struct ib_sig_attrs *attrs)
{
	invalidate();
	KUNIT_ASSERT_EQ(test, map(test, p, attrs), 0);
	KUNIT_ASSERT_TRUE(test, enroll(ACCESS));
}

/* ---- the wire ---- */

static void from_memory(void *mem, u32 len, void *context)
{
	u8 **to = context;

	memcpy(*to, mem, len);
	*to += len;
}

static void to_memory(void *mem, u32 len, void *context)
{
	u8 **from = context;

	memcpy(mem, *from, len);
	*from += len;
}

/* @len bytes from @offset to @buf, or from it, as the peer or, every second time, locally. */
static bool walk(u32 offset, u32 len, bool write, u8 *buf)
{
	vib_mem_fn fn = write ? to_memory : from_memory;
	struct ib_sge sge = { .addr = mr->iova + offset, .length = len, .lkey = mr->lkey };

	if (offset & 1)
		return vib_mem_walk(pair.a.pd, &sge, len, write ? IB_ACCESS_LOCAL_WRITE : 0, fn,
				    &buf);
	return vib_remote_walk(to_vib_qp(qp), mr->rkey, mr->iova + offset, len,
			       write ? IB_ACCESS_REMOTE_WRITE : IB_ACCESS_REMOTE_READ, fn, &buf);
}

static void walk_all(struct kunit *test, u32 len, u32 step, bool write)
{
	u32 at;

	for (at = 0; at < len; at += step)
		KUNIT_ASSERT_TRUE(test, walk(at, min(step, len - at), write, wire + at));
	KUNIT_EXPECT_FALSE(test, walk(len, 1, write, wire));
}

/* ---- all pairs of domains ---- */

static void read_and_written(struct kunit *test, u32 block, enum pi_kind mem, enum pi_kind on_wire,
			     u32 step)
{
	struct ib_sig_attrs attrs = pi_attrs(mem, on_wire, block);
	u32 len = pi_wire(want, block, on_wire, 1);
	struct protected p;

	protected_init(test, &p, block, mem, 1);
	open_region(test, &p, &attrs);
	memset(wire, 0xee, PI_MAX_WIRE);
	walk_all(test, len, step, false);
	KUNIT_EXPECT_TRUE_MSG(test, !memcmp(wire, want, len) && !pi_status(mr, NULL),
			      "read: %d to %d, %u by %u", mem, on_wire, block, step);
	KUNIT_EXPECT_TRUE(test, protected_has(test, &p, mem, 1));
	/* Other data into the same memory. */
	pi_wire(wire, block, on_wire, 99);
	walk_all(test, len, step, true);
	KUNIT_EXPECT_TRUE_MSG(test, protected_has(test, &p, mem, 99) && !pi_status(mr, NULL),
			      "written: %d from %d, %u by %u", mem, on_wire, block, step);
}

static void all_pairs_of_domains(struct kunit *test)
{
	unsigned int kinds, b, s;

	for (kinds = 0; kinds < PI_KINDS * PI_KINDS; kinds++) {
		for (b = 0; b < ARRAY_SIZE(blocks); b++) {
			for (s = 0; s < ARRAY_SIZE(steps); s++)
				read_and_written(test, blocks[b], kinds / PI_KINDS,
						 kinds % PI_KINDS, steps[s]);
		}
	}
}

/* What is read twice, from anywhere, is the same: a packet that is sent again. */
static void a_range_is_the_same_each_time(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CSUM, PI_CRC, 512);
	u32 len = pi_wire(want, 512, PI_CRC, 1), at;
	struct protected p;

	protected_init(test, &p, 512, PI_CSUM, 1);
	open_region(test, &p, &attrs);
	for (at = 505; at < 530; at++) {
		KUNIT_ASSERT_TRUE(test, walk(at, len - at, false, wire));
		KUNIT_ASSERT_MEMEQ(test, wire, want + at, len - at);
		KUNIT_ASSERT_TRUE(test, walk(0, at, false, wire));
		KUNIT_ASSERT_MEMEQ(test, wire, want, at);
	}
	KUNIT_EXPECT_EQ(test, pi_status(mr, NULL), 0);
}

/* ---- errors ---- */

#define BAD_BLOCK	3

struct error_row {
	u32 at;			/* the wrong byte of block and tuple, from the block's end */
	enum ib_sig_err_type type;
	u8 check;
};

static const struct error_row error_rows[] = {
	{ 0, IB_SIG_BAD_GUARD, IB_SIG_CHECK_GUARD },	/* of the data */
	{ 1, IB_SIG_BAD_GUARD, IB_SIG_CHECK_GUARD },
	{ 2, IB_SIG_BAD_GUARD, IB_SIG_CHECK_GUARD },
	{ 3, IB_SIG_BAD_APPTAG, IB_SIG_CHECK_APPTAG },
	{ 4, IB_SIG_BAD_APPTAG, IB_SIG_CHECK_APPTAG },
	{ 5, IB_SIG_BAD_REFTAG, IB_SIG_CHECK_REFTAG },
	{ 8, IB_SIG_BAD_REFTAG, IB_SIG_CHECK_REFTAG },
};

static void flip(struct pieces *pieces, u32 at)
{
	u8 byte;

	pieces_read(pieces, at, &byte, 1);
	byte ^= 0x81;
	pieces_write(pieces, at, &byte, 1);
}

static void spoil_memory(struct protected *p, const struct error_row *row)
{
	if (row->at)
		flip(&p->meta, BAD_BLOCK * PI_TUPLE + row->at - 1);
	else
		flip(&p->data, BAD_BLOCK * p->block + 5);
}

static void spoil_wire(u32 block, const struct error_row *row)
{
	u32 at = BAD_BLOCK * (block + PI_TUPLE);

	wire[row->at ? at + block + row->at - 1 : at + 5] ^= 0x81;
}

static void expect_error(struct kunit *test, u32 block, const struct error_row *row, u8 check)
{
	bool seen = check & row->check;
	struct ib_sig_err err;

	KUNIT_EXPECT_EQ_MSG(test, pi_status(mr, &err), seen ? IB_MR_CHECK_SIG_STATUS : 0,
			    "byte %u, mask %#x, block %u", row->at, check, block);
	if (!seen)
		return;
	KUNIT_EXPECT_EQ(test, err.err_type, row->type);
	KUNIT_EXPECT_NE(test, err.expected, err.actual);
	if (row->type == IB_SIG_BAD_REFTAG)
		KUNIT_EXPECT_EQ(test, err.expected, PI_REF + BAD_BLOCK);
	KUNIT_EXPECT_EQ(test, err.sig_err_offset, BAD_BLOCK * (block + PI_TUPLE));
	KUNIT_EXPECT_EQ(test, err.key, mr->lkey);
	/* It is told once. */
	KUNIT_EXPECT_EQ(test, pi_status(mr, NULL), 0);
}

static void read_wrong(struct kunit *test, u32 block, enum pi_kind mem, enum pi_kind on_wire,
		       const struct error_row *row, u8 check)
{
	struct ib_sig_attrs attrs = pi_attrs(mem, on_wire, block);
	struct protected p;

	attrs.check_mask = check;
	protected_init(test, &p, block, mem, 1);
	spoil_memory(&p, row);
	open_region(test, &p, &attrs);
	walk_all(test, pi_wire(want, block, on_wire, 1), 1000, false);
	expect_error(test, block, row, check);
	/* The same is found when the same is sent again. */
	walk_all(test, pi_wire(want, block, on_wire, 1), 256, false);
	expect_error(test, block, row, check);
}

static void write_wrong(struct kunit *test, u32 block, enum pi_kind mem, enum pi_kind on_wire,
			const struct error_row *row, u8 check)
{
	struct ib_sig_attrs attrs = pi_attrs(mem, on_wire, block);
	struct protected p;
	u32 len;

	attrs.check_mask = check;
	protected_init(test, &p, block, mem, 99);
	open_region(test, &p, &attrs);
	len = pi_wire(wire, block, on_wire, 1);
	spoil_wire(block, row);
	walk_all(test, len, 1000, true);
	expect_error(test, block, row, check);
}

static void each_error_is_found_where_it_is(struct kunit *test)
{
	static const u8 checks[] = { PI_ALL, IB_SIG_CHECK_GUARD, IB_SIG_CHECK_REFTAG, 0 };
	unsigned int b, kinds, r, c;

	for (kinds = 0; kinds < 2 * PI_KINDS; kinds++) {
		enum pi_kind in = 1 + kinds / PI_KINDS, out = kinds % PI_KINDS;

		for (b = 0; b < ARRAY_SIZE(blocks); b++) {
			for (r = 0; r < ARRAY_SIZE(error_rows); r++) {
				for (c = 0; c < ARRAY_SIZE(checks); c++) {
					read_wrong(test, blocks[b], in, out, &error_rows[r],
						   checks[c]);
					write_wrong(test, blocks[b], out, in, &error_rows[r],
						    checks[c]);
				}
			}
		}
	}
}

static void the_first_error_is_told(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_NONE, 512);
	struct ib_sig_err err;
	struct protected p;

	protected_init(test, &p, 512, PI_CRC, 1);
	flip(&p.meta, 1 * PI_TUPLE);
	flip(&p.meta, 4 * PI_TUPLE + 7);
	open_region(test, &p, &attrs);
	walk_all(test, PI_BLOCKS * 512, 256, false);
	KUNIT_EXPECT_EQ(test, pi_status(mr, &err), IB_MR_CHECK_SIG_STATUS);
	KUNIT_EXPECT_EQ(test, err.sig_err_offset, 520);
	/* An error is known while the key is not valid any more, but not to the next use. */
	walk_all(test, PI_BLOCKS * 512, 256, false);
	KUNIT_EXPECT_TRUE(test, invalidate());
	KUNIT_EXPECT_EQ(test, pi_status(mr, &err), IB_MR_CHECK_SIG_STATUS);
	open_region(test, &p, &attrs);
	walk_all(test, PI_BLOCKS * 512, 256, false);
	open_region(test, &p, &attrs);
	KUNIT_EXPECT_EQ(test, pi_status(mr, &err), 0);
}

/* Blocks that nobody has written have tuples of ones (SBC-3, 4.22.3). */
static void an_escape_is_not_checked_and_stays_one(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CSUM, PI_CRC, 512);
	struct protected p;
	u32 n, len;

	protected_init(test, &p, 512, PI_CSUM, 1);
	pieces_fill(&p.meta, 0xff);
	open_region(test, &p, &attrs);
	len = pi_wire(want, 512, PI_CRC, 1);
	walk_all(test, len, 256, false);
	for (n = 0; n < PI_BLOCKS; n++)
		memset(want + n * 520 + 512, 0xff, PI_TUPLE);
	KUNIT_EXPECT_MEMEQ(test, wire, want, len);
	pieces_fill(&p.meta, 0);
	walk_all(test, len, 1000, true);
	for (n = 0; n < PI_BLOCKS * PI_TUPLE; n++) {
		pieces_read(&p.meta, n, wire, 1);
		KUNIT_ASSERT_EQ(test, wire[0], 0xff);
	}
	KUNIT_EXPECT_EQ(test, pi_status(mr, NULL), 0);
}

/* What nobody can say to be right is not. */
static void a_tuple_without_its_beginning_is_an_error(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_NONE, PI_CRC, 512);
	struct ib_sig_err err;
	struct protected p;

	protected_init(test, &p, 512, PI_NONE, 9);
	open_region(test, &p, &attrs);
	pi_wire(wire, 512, PI_CRC, 1);
	KUNIT_EXPECT_TRUE(test, walk(0, 515, true, wire));
	KUNIT_EXPECT_EQ(test, pi_status(mr, &err), 0);
	/* Another tuple comes in the middle. */
	KUNIT_EXPECT_TRUE(test, walk(520, 515, true, wire + 520));
	KUNIT_EXPECT_TRUE(test, walk(515, 5, true, wire + 515));
	KUNIT_EXPECT_EQ(test, pi_status(mr, &err), IB_MR_CHECK_SIG_STATUS);
	KUNIT_EXPECT_EQ(test, err.err_type, IB_SIG_BAD_GUARD);
	KUNIT_EXPECT_EQ(test, err.sig_err_offset, 0);
	/* From its beginning on it is right. */
	KUNIT_EXPECT_TRUE(test, walk(0, 515, true, wire));
	KUNIT_EXPECT_TRUE(test, walk(515, 5, true, wire + 515));
	KUNIT_EXPECT_EQ(test, pi_status(mr, &err), 0);
}

/* ---- what is refused ---- */

#define SPOILS	9

static void spoil_attrs(struct ib_sig_attrs *attrs, int i)
{
	/* Without a remainder, but not what is mapped: five blocks of 512. */
	static const u16 intervals[] = { 1024, 2560 };

	switch (i) {
	case 0:
		attrs->mem.sig_type = 2;
		break;
	case 1:
		attrs->wire.sig_type = 77;
		break;
	case 2:
		attrs->wire.sig.dif.bg_type = 2;
		break;
	case 3:
		attrs->mem.sig.dif.pi_interval = 0;
		break;
	case 4:
		attrs->wire.sig.dif.pi_interval = 516;
		break;
	case 5:
		attrs->mem.sig.dif.pi_interval = 256;
		break;
	case 6:
		attrs->wire.sig.dif.pi_interval = 2560;
		break;
	default:
		attrs->mem.sig.dif.pi_interval = intervals[i - 7];
		attrs->wire.sig.dif.pi_interval = intervals[i - 7];
		break;
	}
}

static void attributes_that_cannot_be_are_refused(struct kunit *test)
{
	struct ib_sig_attrs attrs;
	struct protected p;
	int i;

	protected_init(test, &p, 512, PI_CRC, 1);
	for (i = 0; i < SPOILS; i++) {
		attrs = pi_attrs(PI_CRC, PI_CRC, 512);
		spoil_attrs(&attrs, i);
		KUNIT_ASSERT_EQ(test, map(test, &p, &attrs), 0);
		KUNIT_EXPECT_FALSE_MSG(test, enroll(ACCESS), "%d", i);
		KUNIT_EXPECT_FALSE(test, walk(0, 1, false, wire));
	}
	attrs = pi_attrs(PI_CRC, PI_CRC, 512);
	open_region(test, &p, &attrs);
	KUNIT_EXPECT_TRUE(test, walk(0, 1, false, wire));
}

static void rights_that_tuples_cannot_have_are_refused(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_NONE, 512);
	struct protected p;

	protected_init(test, &p, 512, PI_CRC, 1);
	KUNIT_ASSERT_EQ(test, map(test, &p, &attrs), 0);
	KUNIT_EXPECT_FALSE(test, enroll(ACCESS | IB_ACCESS_REMOTE_ATOMIC));
	KUNIT_EXPECT_FALSE(test, enroll(ACCESS | IB_ACCESS_MW_BIND));
	KUNIT_EXPECT_FALSE(test, enroll(IB_ACCESS_REMOTE_WRITE));
	/* It is of another kind than those of IB_WR_REG_MR. */
	KUNIT_EXPECT_FALSE(test, vib_mr_register(to_vib_qp(qp), mr->rkey, ACCESS));
	KUNIT_EXPECT_TRUE(test, enroll(IB_ACCESS_REMOTE_READ));
	KUNIT_EXPECT_TRUE(test, walk(0, 1, false, wire));
	KUNIT_EXPECT_FALSE(test, walk(0, 1, true, wire));
	/* What is registered has to be invalidated first; and mapped again. */
	KUNIT_EXPECT_EQ(test, map(test, &p, &attrs), 0);
	KUNIT_EXPECT_FALSE(test, vib_integrity_register(to_vib_qp(qp), ib_inc_rkey(mr->rkey),
							ACCESS));
	KUNIT_EXPECT_TRUE(test, invalidate());
	KUNIT_EXPECT_TRUE(test, enroll(ACCESS));
	KUNIT_EXPECT_TRUE(test, invalidate());
	KUNIT_EXPECT_FALSE(test, enroll(ACCESS));
}

static void a_region_of_the_other_kind_has_no_status(struct kunit *test)
{
	struct ib_mr *other = ib_alloc_mr(pair.a.pd, IB_MR_TYPE_MEM_REG, 1);
	struct ib_mr_status status = {};

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(other, IB_MR_CHECK_SIG_STATUS, &status),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS << 1, &status),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_check_mr_status(mr, 0, &status), 0);
	KUNIT_EXPECT_EQ(test, pair.a.hca->ib.ops.map_mr_sg_pi(other, NULL, 0, NULL, NULL, 0,
							      NULL), -EINVAL);
	ib_dereg_mr(other);
}

/* ---- lists ---- */

static int map_lists(struct protected *p, int data, unsigned int *data_offset, int meta,
		     unsigned int *meta_offset)
{
	return ib_map_mr_sg_pi(mr, p->data.sg, data, data_offset, p->meta.sg, meta, meta_offset,
			       SZ_4K);
}

static void lists_that_cannot_be_are_refused(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_CRC, 512);
	struct protected p;
	unsigned int offset;

	protected_init(test, &p, 512, PI_CRC, 1);
	KUNIT_ASSERT_EQ(test, map(test, &p, &attrs), 0);
	KUNIT_EXPECT_EQ(test, mr->length, PI_BLOCKS * 520);
	KUNIT_EXPECT_EQ(test, mr->sig_attrs->meta_length, PI_BLOCKS * PI_TUPLE);
	KUNIT_EXPECT_EQ(test, map_lists(&p, 0, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_FALSE(test, enroll(ACCESS));
	offset = p.data.sg[0].length + 1;
	KUNIT_EXPECT_EQ(test, map_lists(&p, p.data.count, &offset, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, map_lists(&p, p.data.count, NULL, p.meta.count, &offset), -EINVAL);
	KUNIT_EXPECT_FALSE(test, enroll(ACCESS));
	/* More than the largest message. */
	sg_dma_len(&p.data.sg[0]) = 0x80000001U;
	KUNIT_EXPECT_EQ(test, map_lists(&p, 1, NULL, 0, NULL), -EINVAL);
	sg_dma_len(&p.data.sg[0]) = 0x80000000U;
	KUNIT_EXPECT_EQ(test, map_lists(&p, 2, NULL, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, map_lists(&p, 1, NULL, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, mr->length, 0x80000000ULL + 0x80000000ULL / 512 * PI_TUPLE);
}

/* Those of the last four of five blocks; the first two pieces of data are the first block. */
static void lists_begin_at_their_offsets(struct kunit *test)
{
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_CRC, 512);
	unsigned int data_offset = 511, meta_offset = PI_TUPLE;
	struct protected p;

	protected_init(test, &p, 512, PI_CRC, 1);
	KUNIT_ASSERT_EQ(test, map(test, &p, &attrs), 0);
	KUNIT_EXPECT_EQ(test, map_lists(&p, p.data.count, NULL, p.meta.count, &meta_offset), 0);
	KUNIT_EXPECT_FALSE(test, enroll(ACCESS));
	/* All of the first piece is left out: then there is a part of a block. */
	KUNIT_EXPECT_EQ(test, map_lists(&p, p.data.count, &data_offset, p.meta.count,
					&meta_offset), 0);
	KUNIT_EXPECT_FALSE(test, enroll(ACCESS));
	attrs.mem.sig.dif.ref_tag++;
	attrs.wire.sig.dif.ref_tag++;
	*mr->sig_attrs = attrs;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(mr, &p.data.sg[2], p.data.count - 2, NULL,
					      p.meta.sg, p.meta.count, &meta_offset, SZ_4K), 0);
	KUNIT_ASSERT_TRUE(test, enroll(ACCESS));
	pi_wire(want, 512, PI_CRC, 1);
	walk_all(test, 4 * 520, 1000, false);
	KUNIT_EXPECT_MEMEQ(test, wire, want + 520, 4 * 520);
	KUNIT_EXPECT_EQ(test, pi_status(mr, NULL), 0);
}

static void a_region_has_as_many_segments_as_were_asked_for(struct kunit *test)
{
	static const u32 most[][2] = {
		{ 1, 0 }, { 0, 1 }, { VIB_MAX_SEGMENTS + 1, 1 }, { 1, VIB_MAX_SEGMENTS + 1 },
	};
	struct ib_sig_attrs attrs = pi_attrs(PI_CRC, PI_CRC, 512);
	struct ib_mr *other;
	struct protected p;
	int i;

	for (i = 0; i < ARRAY_SIZE(most); i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_alloc_mr_integrity(pair.a.pd, most[i][0],
									    most[i][1])),
				-EINVAL);
	other = ib_alloc_mr_integrity(pair.a.pd, VIB_MAX_SEGMENTS, VIB_MAX_SEGMENTS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	ib_dereg_mr(other);
	protected_init(test, &p, 512, PI_CRC, 1);
	protected_map_dma(test, &p, pair.a.pd->device);
	other = ib_alloc_mr_integrity(pair.a.pd, p.data.count, p.meta.count - 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	*other->sig_attrs = attrs;
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(other, p.data.sg, p.data.count, NULL, p.meta.sg,
					      p.meta.count, NULL, SZ_4K), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ib_map_mr_sg_pi(other, p.data.sg, p.data.count, NULL, p.meta.sg,
					      p.meta.count - 1, NULL, SZ_4K), 0);
	ib_dereg_mr(other);
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE(all_pairs_of_domains),
	KUNIT_CASE(a_range_is_the_same_each_time),
	KUNIT_CASE(each_error_is_found_where_it_is),
	KUNIT_CASE(the_first_error_is_told),
	KUNIT_CASE(an_escape_is_not_checked_and_stays_one),
	KUNIT_CASE(a_tuple_without_its_beginning_is_an_error),
	KUNIT_CASE(attributes_that_cannot_be_are_refused),
	KUNIT_CASE(rights_that_tuples_cannot_have_are_refused),
	KUNIT_CASE(a_region_of_the_other_kind_has_no_status),
	KUNIT_CASE(lists_that_cannot_be_are_refused),
	KUNIT_CASE(lists_begin_at_their_offsets),
	KUNIT_CASE(a_region_has_as_many_segments_as_were_asked_for),
	{}
};

static struct kunit_suite vib_region_suite = {
	.name = "vib_integrity_region",
	.init = region_test_init,
	.exit = region_test_exit,
	.test_cases = region_cases,
};

kunit_test_suite(vib_region_suite);
