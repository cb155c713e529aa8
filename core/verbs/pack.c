// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Converts between C structures and wire formats that are described by tables
 * of bit fields.  On the wire bits are numbered as in the IBA: from the most
 * significant bit of the first byte.  In the structure a field of several bytes
 * is big endian, a field of one byte is a number.
 */
#include <rdma/ib_pack.h>

static unsigned int field_start(const struct ib_field *f)
{
	return f->offset_words * 32 + f->offset_bits;
}

/* Fields wider than a u64 are copied, so they must consist of whole bytes. */
static bool field_is_bytes(const struct ib_field *f)
{
	return f->size_bits > 64;
}

static bool field_valid(const struct ib_field *f)
{
	if (field_is_bytes(f))
		return !WARN(f->offset_bits % 8 || f->size_bits % 8,
			     "%s: %d bits at bit %d\n", f->field_name,
			     f->size_bits, f->offset_bits);

	return !WARN(f->struct_size_bytes > 8 ||
		     (f->struct_size_bytes &&
		      !is_power_of_2(f->struct_size_bytes)),
		     "%s: %zu bytes in the structure\n", f->field_name,
		     f->struct_size_bytes);
}

static u64 struct_load(const struct ib_field *f, const u8 *structure)
{
	const u8 *p = structure + f->struct_offset_bytes;
	u64 val = 0;
	size_t i;

	for (i = 0; i < f->struct_size_bytes; i++)
		val = val << 8 | p[i];
	return val;
}

static void struct_store(const struct ib_field *f, u8 *structure, u64 val)
{
	u8 *p = structure + f->struct_offset_bytes;
	size_t i;

	for (i = f->struct_size_bytes; i--; val >>= 8)
		p[i] = val;
}

/* Writes from the last byte, which ends the field, towards the first. */
static void wire_store(u8 *buf, unsigned int start, unsigned int bits, u64 val)
{
	unsigned int end = start + bits;

	while (bits) {
		unsigned int low = -end & 7;	/* bits of this byte below the field */
		unsigned int n = min(bits, 8 - low);
		u8 mask = GENMASK(n - 1, 0) << low;
		u8 *p = &buf[(end - 1) / 8];

		*p = (*p & ~mask) | ((val << low) & mask);
		val >>= n;
		end -= n;
		bits -= n;
	}
}

static u64 wire_load(const u8 *buf, unsigned int start, unsigned int bits)
{
	u64 val = 0;

	while (bits) {
		unsigned int room = 8 - start % 8;
		unsigned int n = min(bits, room);

		val = val << n | ((buf[start / 8] >> (room - n)) &
				  GENMASK(n - 1, 0));
		start += n;
		bits -= n;
	}
	return val;
}

/**
 * ib_pack() - write a structure in its wire format
 * @desc: the fields
 * @desc_len: number of fields
 * @structure: structure to write
 * @buf: destination; bits that no field covers are not modified
 *
 * A field with no place in the structure (struct_size_bytes is 0) is reserved
 * and written as zero.
 *
 * Context: any.
 */
void ib_pack(const struct ib_field *desc, int desc_len, void *structure,
	     void *buf)
{
	const struct ib_field *f;

	for (f = desc; f < desc + desc_len; f++) {
		u8 *bytes = (u8 *)buf + field_start(f) / 8;

		if (!field_valid(f))
			continue;
		if (!field_is_bytes(f))
			wire_store(buf, field_start(f), f->size_bits,
				   struct_load(f, structure));
		else if (f->struct_size_bytes)
			memcpy(bytes, structure + f->struct_offset_bytes,
			       f->size_bits / 8);
		else
			memset(bytes, 0, f->size_bits / 8);
	}
}
EXPORT_SYMBOL(ib_pack);

/**
 * ib_unpack() - read a structure from its wire format
 * @desc: the fields
 * @desc_len: number of fields
 * @buf: wire format to read
 * @structure: destination; reserved fields are skipped
 *
 * Context: any.
 */
void ib_unpack(const struct ib_field *desc, int desc_len, void *buf,
	       void *structure)
{
	const struct ib_field *f;

	for (f = desc; f < desc + desc_len; f++) {
		if (!f->struct_size_bytes || !field_valid(f))
			continue;
		if (field_is_bytes(f))
			memcpy(structure + f->struct_offset_bytes,
			       buf + field_start(f) / 8, f->size_bits / 8);
		else
			struct_store(f, structure,
				     wire_load(buf, field_start(f),
					       f->size_bits));
	}
}
EXPORT_SYMBOL(ib_unpack);
