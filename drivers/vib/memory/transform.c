// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The bytes of a region with protection information as they are on the wire: data, and tuples
 * that are made, checked or converted on the way (memory/integrity.h).
 */
#include <linux/minmax.h>
#include "memory/integrity.h"

/* One use of a region's key. */
struct transfer {
	struct vib_integrity *integrity;
	u32 key;
	bool write;
	vib_mem_fn fn;
	void *context;
};

/* ---- segments ---- */

/* The segment with byte @offset of the list, which has it. */
static const struct vib_segment *segment_at(const struct vib_segments *segments, u32 offset)
{
	u32 low = 0, high = segments->count - 1, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (offset < segments->list[middle].end)
			high = middle;
		else
			low = middle + 1;
	}
	return &segments->list[low];
}

static void walk_segments(const struct vib_segments *segments, u32 offset, u32 len,
			  vib_mem_fn fn, void *context)
{
	const struct vib_segment *seg = segment_at(segments, offset);
	u32 part;

	for (; len; len -= part, offset += part, seg++) {
		part = min(len, seg->end - offset);
		fn(ib_virt_dma_to_ptr(seg->addr + seg->len - (seg->end - offset)), part, context);
	}
}

static void read_piece(void *mem, u32 len, void *context)
{
	u8 **to = context;

	memcpy(*to, mem, len);
	*to += len;
}

static void write_piece(void *mem, u32 len, void *context)
{
	const u8 **from = context;

	memcpy(mem, *from, len);
	*from += len;
}

static struct t10_pi_tuple load_tuple(const struct transfer *t, u32 n)
{
	struct t10_pi_tuple tuple;
	u8 *to = (u8 *)&tuple;

	walk_segments(&t->integrity->used.meta, n * VIB_TUPLE_LEN, VIB_TUPLE_LEN, read_piece, &to);
	return tuple;
}

static void store_tuple(const struct transfer *t, u32 n, const struct t10_pi_tuple *tuple)
{
	const u8 *from = (const u8 *)tuple;

	walk_segments(&t->integrity->used.meta, n * VIB_TUPLE_LEN, VIB_TUPLE_LEN, write_piece,
		      &from);
}

/* ---- intervals ---- */

static u16 guard_of(const struct transfer *t, const struct ib_t10_dif_domain *dif, u32 n)
{
	u32 interval = t->integrity->interval;
	struct vib_guard guard;

	vib_guard_init(&guard, dif);
	walk_segments(&t->integrity->used.data, n * interval, interval, vib_guard_add, &guard);
	return vib_guard_get(&guard);
}

/*
 * The first error stays until somebody asks.  Its offset counts each interval with its tuple,
 * also where a domain has none: so consumers find the interval again.
 */
static void record(const struct transfer *t, u32 n, const struct ib_sig_err *err)
{
	struct vib_integrity *integrity = t->integrity;

	/* Interrupts are off already. */
	spin_lock(&integrity->lock);
	if (!integrity->failed) {
		integrity->err = *err;
		integrity->err.key = t->key;
		integrity->err.sig_err_offset = (u64)n * (integrity->interval + VIB_TUPLE_LEN);
		integrity->failed = true;
	}
	spin_unlock(&integrity->lock);
}

static void check(const struct transfer *t, const struct ib_t10_dif_domain *dif, u32 n,
		  u16 guard, const struct t10_pi_tuple *tuple)
{
	struct ib_sig_err err = {};

	if (!vib_tuple_right(dif, t->integrity->attrs.check_mask, n, guard, tuple, &err))
		record(t, n, &err);
}

/* @tuple is that of interval @n in the domain @from: checks it, and returns that in @to. */
static struct t10_pi_tuple check_and_convert(const struct transfer *t,
					     const struct ib_t10_dif_domain *from,
					     const struct ib_t10_dif_domain *to, u32 n,
					     const struct t10_pi_tuple *tuple, bool checked)
{
	u16 guard = guard_of(t, from, n);

	if (checked)
		check(t, from, n, guard, tuple);
	if (!vib_guards_agree(from, to))
		guard = guard_of(t, to, n);
	return vib_tuple_convert(from, to, n, guard, tuple);
}

/* ---- tuples that are in memory alone ---- */

/* All data of interval @n has been read, or is there. */
static void data_end(const struct transfer *t, u32 n)
{
	const struct ib_t10_dif_domain *dif = &t->integrity->attrs.mem.sig.dif;
	u16 guard = guard_of(t, dif, n);
	struct t10_pi_tuple tuple;

	if (t->write) {
		tuple = vib_tuple_make(dif, n, guard);
		store_tuple(t, n, &tuple);
	} else {
		tuple = load_tuple(t, n);
		check(t, dif, n, guard, &tuple);
	}
}

/* ---- tuples on the wire ---- */

/* Bytes [@from, @from + @len) of the tuple of interval @n are read; it is checked with the last. */
static void read_tuple(const struct transfer *t, u32 n, u32 from, u32 len)
{
	const struct ib_sig_attrs *attrs = &t->integrity->attrs;
	const struct ib_t10_dif_domain *wire = &attrs->wire.sig.dif;
	struct t10_pi_tuple tuple;

	if (vib_has_tuples(&attrs->mem)) {
		tuple = load_tuple(t, n);
		tuple = check_and_convert(t, &attrs->mem.sig.dif, wire, n, &tuple,
					  from + len == VIB_TUPLE_LEN);
	} else {
		tuple = vib_tuple_make(wire, n, guard_of(t, wire, n));
	}
	t->fn((u8 *)&tuple + from, len, t->context);
}

/*
 * Puts the bytes [@from, @from + @len) of @tuple, which have come, to those that came before.
 * True: it is whole.  What begins, or goes on, elsewhere takes the place of what was there.
 */
static bool tuple_part(const struct transfer *t, u32 n, u32 from, u32 len,
		       struct t10_pi_tuple *tuple)
{
	struct vib_tuple_part *part = &t->integrity->part;
	bool whole;

	/* Interrupts are off already. */
	spin_lock(&t->integrity->lock);
	if (part->n != n || part->have != from)
		*part = (struct vib_tuple_part){ .n = n };
	if (part->have == from) {
		memcpy(part->bytes + from, (u8 *)tuple + from, len);
		part->have += len;
	}
	whole = part->have == VIB_TUPLE_LEN;
	if (whole) {
		memcpy(tuple, part->bytes, VIB_TUPLE_LEN);
		part->have = 0;
	}
	spin_unlock(&t->integrity->lock);
	return whole;
}

/*
 * A tuple whose beginning is missing when its end comes is an error of the interval, as nothing
 * says that the data is right: its message did not begin before it, or another came between.
 */
static void tuple_missing(const struct transfer *t, u32 n)
{
	struct ib_sig_err err = {
		.err_type = IB_SIG_BAD_GUARD,
		.expected = guard_of(t, &t->integrity->attrs.wire.sig.dif, n),
	};

	record(t, n, &err);
}

static void write_tuple(const struct transfer *t, u32 n, u32 from, u32 len)
{
	const struct ib_sig_attrs *attrs = &t->integrity->attrs;
	const struct ib_t10_dif_domain *wire = &attrs->wire.sig.dif;
	struct t10_pi_tuple tuple;

	t->fn((u8 *)&tuple + from, len, t->context);
	if (len < VIB_TUPLE_LEN && !tuple_part(t, n, from, len, &tuple)) {
		if (from + len == VIB_TUPLE_LEN)
			tuple_missing(t, n);
		return;
	}
	if (vib_has_tuples(&attrs->mem)) {
		tuple = check_and_convert(t, wire, &attrs->mem.sig.dif, n, &tuple, true);
		store_tuple(t, n, &tuple);
	} else {
		check(t, wire, n, guard_of(t, wire, n), &tuple);
	}
}

/* ---- the walk ---- */

/* @len bytes from byte @at of interval @n, which with its tuple has them. */
static void walk_interval(const struct transfer *t, u32 n, u32 at, u32 len)
{
	u32 interval = t->integrity->interval, data = 0;

	if (at < interval) {
		data = min(len, interval - at);
		walk_segments(&t->integrity->used.data, n * interval + at, data, t->fn,
			      t->context);
		at += data;
		len -= data;
		if (at == interval && !vib_has_tuples(&t->integrity->attrs.wire))
			data_end(t, n);
	}
	if (!len)
		return;
	if (t->write)
		write_tuple(t, n, at - interval, len);
	else
		read_tuple(t, n, at - interval, len);
}

void vib_integrity_walk(const struct vib_mr *mr, u32 offset, u32 len, bool write, vib_mem_fn fn,
			void *context)
{
	struct vib_integrity *integrity = mr->integrity;
	const struct transfer t = {
		.integrity = integrity,
		.key = mr->key.value,
		.write = write,
		.fn = fn,
		.context = context,
	};
	u32 stride = integrity->interval, part;

	if (!stride) {
		walk_segments(&integrity->used.data, offset, len, fn, context);
		return;
	}
	if (vib_has_tuples(&integrity->attrs.wire))
		stride += VIB_TUPLE_LEN;
	for (; len; len -= part, offset += part) {
		part = min(len, stride - offset % stride);
		walk_interval(&t, offset / stride, offset % stride, part);
	}
}
