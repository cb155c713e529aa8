// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Protection information of one interval: guards, tags, and what is wrong with them. */
#include <linux/bitops.h>
#include <linux/crc-t10dif.h>
#include <net/checksum.h>
#include "memory/tuple.h"

/* ---- guards ---- */

void vib_guard_init(struct vib_guard *guard, const struct ib_t10_dif_domain *dif)
{
	*guard = (struct vib_guard){ .dif = dif, .crc = dif->bg };
}

/* A sum is of 16-bit words: a piece may begin with the second half of one. */
void vib_guard_add(void *mem, u32 len, void *context)
{
	struct vib_guard *guard = context;

	if (guard->dif->bg_type == IB_T10DIF_CRC)
		guard->crc = crc_t10dif_update(guard->crc, mem, len);
	else
		guard->sum = csum_block_add(guard->sum, csum_partial(mem, len, 0), guard->len);
	guard->len += len;
}

u16 vib_guard_get(const struct vib_guard *guard)
{
	__wsum seed;

	if (guard->dif->bg_type == IB_T10DIF_CRC)
		return guard->crc;
	seed = (__force __wsum)htons(guard->dif->bg);
	return ntohs((__force __be16)csum_fold(csum_add(guard->sum, seed)));
}

bool vib_guards_agree(const struct ib_t10_dif_domain *a, const struct ib_t10_dif_domain *b)
{
	return a->bg_type == b->bg_type && a->bg == b->bg;
}

/* ---- tuples ---- */

static u32 ref_tag(const struct ib_t10_dif_domain *dif, u32 n)
{
	return dif->ref_tag + (dif->ref_remap ? n : 0);
}

struct t10_pi_tuple vib_tuple_make(const struct ib_t10_dif_domain *dif, u32 n, u16 guard)
{
	return (struct t10_pi_tuple){
		.guard_tag = cpu_to_be16(guard),
		.app_tag = cpu_to_be16(dif->app_tag),
		.ref_tag = cpu_to_be32(ref_tag(dif, n)),
	};
}

bool vib_tuple_escapes(const struct ib_t10_dif_domain *dif, const struct t10_pi_tuple *tuple)
{
	if (!dif->app_escape && !dif->ref_escape)
		return false;
	return (!dif->app_escape || tuple->app_tag == T10_PI_APP_ESCAPE) &&
	       (!dif->ref_escape || tuple->ref_tag == T10_PI_REF_ESCAPE);
}

/* The bits of a field of @len bytes that @check_mask has, whose lowest bit @shift is its last. */
static u32 mask_of(u8 check_mask, unsigned int shift, unsigned int len)
{
	u32 mask = 0;
	unsigned int i;

	for (i = 0; i < len; i++) {
		if (check_mask & BIT(shift + i))
			mask |= 0xffU << 8 * i;
	}
	return mask;
}

static bool field_right(u32 expected, u32 actual, u32 mask, enum ib_sig_err_type type,
			struct ib_sig_err *err)
{
	if (!((expected ^ actual) & mask))
		return true;
	err->err_type = type;
	err->expected = expected;
	err->actual = actual;
	return false;
}

bool vib_tuple_right(const struct ib_t10_dif_domain *dif, u8 check_mask, u32 n, u16 guard,
		     const struct t10_pi_tuple *tuple, struct ib_sig_err *err)
{
	if (vib_tuple_escapes(dif, tuple))
		return true;
	return field_right(guard, be16_to_cpu(tuple->guard_tag), mask_of(check_mask, 6, 2),
			   IB_SIG_BAD_GUARD, err) &&
	       field_right(ref_tag(dif, n), be32_to_cpu(tuple->ref_tag),
			   mask_of(check_mask, 0, 4), IB_SIG_BAD_REFTAG, err) &&
	       field_right(dif->app_tag, be16_to_cpu(tuple->app_tag),
			   mask_of(check_mask, 4, 2) & dif->apptag_check_mask,
			   IB_SIG_BAD_APPTAG, err);
}

struct t10_pi_tuple vib_tuple_convert(const struct ib_t10_dif_domain *from,
				      const struct ib_t10_dif_domain *to, u32 n, u16 guard,
				      const struct t10_pi_tuple *tuple)
{
	struct t10_pi_tuple made = vib_tuple_make(to, n, guard);

	if (vib_tuple_escapes(from, tuple))
		return *tuple;
	if (vib_guards_agree(from, to))
		made.guard_tag = tuple->guard_tag;
	if (from->app_tag == to->app_tag)
		made.app_tag = tuple->app_tag;
	if (from->ref_tag == to->ref_tag && from->ref_remap == to->ref_remap)
		made.ref_tag = tuple->ref_tag;
	return made;
}
