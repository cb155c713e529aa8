// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "protected.h"

/* ---- what has to be there ---- */

u16 pi_crc(const u8 *data, u32 len)
{
	u16 crc = 0;
	int bit;

	while (len--) {
		crc ^= *data++ << 8;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x8bb7 : crc << 1;
	}
	return crc;
}

u16 pi_csum(const u8 *data, u32 len)
{
	u32 sum = 0, i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? data[i] : data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

struct ib_sig_domain pi_domain(enum pi_kind kind, u32 block)
{
	struct ib_sig_domain domain = { .sig_type = IB_SIG_TYPE_NONE };

	if (kind == PI_NONE)
		return domain;
	domain.sig_type = IB_SIG_TYPE_T10_DIF;
	domain.sig.dif = (struct ib_t10_dif_domain){
		.bg_type = kind == PI_CRC ? IB_T10DIF_CRC : IB_T10DIF_CSUM,
		.pi_interval = block,
		.ref_tag = PI_REF,
		.ref_remap = true,
		.app_escape = true,
		.ref_escape = true,
		.apptag_check_mask = 0xffff,
	};
	return domain;
}

struct ib_sig_attrs pi_attrs(enum pi_kind mem, enum pi_kind wire, u32 block)
{
	return (struct ib_sig_attrs){
		.check_mask = PI_ALL,
		.mem = pi_domain(mem, block),
		.wire = pi_domain(wire, block),
	};
}

static void fill_block(u8 *data, u32 block, u32 n, u8 seed)
{
	u32 i;

	for (i = 0; i < block; i++)
		data[i] = seed + 7 * n + i + (i >> 8) * 13;
}

static struct t10_pi_tuple tuple_of(const u8 *data, u32 block, enum pi_kind kind, u32 n)
{
	u16 guard = kind == PI_CRC ? pi_crc(data, block) : pi_csum(data, block);

	return (struct t10_pi_tuple){
		.guard_tag = cpu_to_be16(guard),
		.ref_tag = cpu_to_be32(PI_REF + n),
	};
}

u32 pi_wire(u8 *wire, u32 block, enum pi_kind kind, u8 seed)
{
	struct t10_pi_tuple tuple;
	u32 n, len = 0;

	for (n = 0; n < PI_BLOCKS; n++) {
		fill_block(wire + len, block, n, seed);
		tuple = tuple_of(wire + len, block, kind, n);
		len += block;
		if (kind == PI_NONE)
			continue;
		memcpy(wire + len, &tuple, PI_TUPLE);
		len += PI_TUPLE;
	}
	return len;
}

/* ---- memory ---- */

/* Each piece is an allocation of its own, so that KASAN sees who goes beyond it. */
static void pieces_init(struct kunit *test, struct pieces *pieces, u32 len, const u32 *lens)
{
	u32 part;
	u8 *mem;

	sg_init_table(pieces->sg, PI_PIECES);
	for (pieces->count = 0; len; len -= part) {
		KUNIT_ASSERT_LT(test, pieces->count, PI_PIECES);
		part = pieces->count < PI_PIECES - 1 ? min(len, lens[pieces->count]) : len;
		mem = kunit_kzalloc(test, part, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, mem);
		sg_set_buf(&pieces->sg[pieces->count++], mem, part);
	}
	sg_mark_end(&pieces->sg[pieces->count - 1]);
}

static void pieces_copy(const struct pieces *pieces, u32 offset, u8 *buf, u32 len, bool write)
{
	unsigned int i;
	u32 part;
	u8 *mem;

	for (i = 0; len && i < pieces->count; i++) {
		mem = sg_virt((struct scatterlist *)&pieces->sg[i]);
		if (offset >= pieces->sg[i].length) {
			offset -= pieces->sg[i].length;
			continue;
		}
		part = min(len, pieces->sg[i].length - offset);
		if (write)
			memcpy(mem + offset, buf, part);
		else
			memcpy(buf, mem + offset, part);
		buf += part;
		len -= part;
		offset = 0;
	}
}

void pieces_read(const struct pieces *pieces, u32 offset, void *to, u32 len)
{
	pieces_copy(pieces, offset, to, len, false);
}

void pieces_write(const struct pieces *pieces, u32 offset, const void *from, u32 len)
{
	pieces_copy(pieces, offset, (u8 *)from, len, true);
}

void pieces_fill(const struct pieces *pieces, u8 fill)
{
	unsigned int i;

	for (i = 0; i < pieces->count; i++)
		memset(sg_virt((struct scatterlist *)&pieces->sg[i]), fill,
		       pieces->sg[i].length);
}

void protected_init(struct kunit *test, struct protected *p, u32 block, enum pi_kind kind,
		    u8 seed)
{
	/* Odd ones, one byte, more than a block, and a tuple in three pieces. */
	static const u32 data_lens[] = { 511, 1, 1000, 3, 2 * PI_MAX_BLOCK - 1, 77, 513 };
	static const u32 meta_lens[] = { 8, 3, 1, 9, 2, 5, 7 };
	struct t10_pi_tuple tuple;
	u8 *buf;
	u32 n;

	*p = (struct protected){ .block = block, .has_meta = kind != PI_NONE };
	pieces_init(test, &p->data, PI_BLOCKS * block, data_lens);
	if (p->has_meta)
		pieces_init(test, &p->meta, PI_BLOCKS * PI_TUPLE, meta_lens);
	buf = kunit_kmalloc(test, block, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (n = 0; n < PI_BLOCKS; n++) {
		fill_block(buf, block, n, seed);
		pieces_write(&p->data, n * block, buf, block);
		tuple = tuple_of(buf, block, kind, n);
		if (p->has_meta)
			pieces_write(&p->meta, n * PI_TUPLE, &tuple, PI_TUPLE);
	}
	kunit_kfree(test, buf);
}

void protected_map_dma(struct kunit *test, struct protected *p, struct ib_device *dev)
{
	KUNIT_ASSERT_EQ(test, ib_dma_map_sg(dev, p->data.sg, p->data.count, DMA_BIDIRECTIONAL),
			p->data.count);
	if (p->has_meta)
		KUNIT_ASSERT_EQ(test, ib_dma_map_sg(dev, p->meta.sg, p->meta.count,
						    DMA_BIDIRECTIONAL), p->meta.count);
}

bool protected_has(struct kunit *test, const struct protected *p, enum pi_kind kind, u8 seed)
{
	u8 *is = kunit_kmalloc(test, 2 * p->block, GFP_KERNEL), *want;
	struct t10_pi_tuple tuple, want_tuple;
	bool has = true;
	u32 n;

	KUNIT_ASSERT_NOT_NULL(test, is);
	want = is + p->block;
	for (n = 0; n < PI_BLOCKS; n++) {
		fill_block(want, p->block, n, seed);
		pieces_read(&p->data, n * p->block, is, p->block);
		has &= !memcmp(is, want, p->block);
		if (kind == PI_NONE)
			continue;
		want_tuple = tuple_of(want, p->block, kind, n);
		pieces_read(&p->meta, n * PI_TUPLE, &tuple, PI_TUPLE);
		has &= !memcmp(&tuple, &want_tuple, PI_TUPLE);
	}
	kunit_kfree(test, is);
	return has;
}

int pi_status(struct ib_mr *mr, struct ib_sig_err *err)
{
	struct ib_mr_status status = {};
	int ret = ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status);

	if (err)
		*err = status.sig_err;
	return ret ?: status.fail_status;
}
