/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_TUPLE_H
#define VIB_TUPLE_H

/*
 * Protection information of an interval of data: eight bytes with a guard, an application tag
 * and a reference tag (SBC-3, 4.22).  What they have to be is told by a domain: how the guard is
 * computed, and the tags.
 */
#include <linux/t10-pi.h>
#include <rdma/signature.h>

#define VIB_TUPLE_LEN	sizeof(struct t10_pi_tuple)

/* A guard that is computed piece by piece. */
struct vib_guard {
	const struct ib_t10_dif_domain *dif;
	u16 crc;
	__wsum sum;
	u32 len;		/* bytes so far */
};

void vib_guard_init(struct vib_guard *guard, const struct ib_t10_dif_domain *dif);
/* A vib_mem_fn, for a struct vib_guard. */
void vib_guard_add(void *mem, u32 len, void *guard);
u16 vib_guard_get(const struct vib_guard *guard);
/* Whether the same data has the same guard in both. */
bool vib_guards_agree(const struct ib_t10_dif_domain *a, const struct ib_t10_dif_domain *b);

/* What interval @n of data with @guard has in @dif. */
struct t10_pi_tuple vib_tuple_make(const struct ib_t10_dif_domain *dif, u32 n, u16 guard);
/*
 * Whether @tuple says that its interval is not to be checked.  The application tag says so, or
 * the reference tag, whichever of app_escape and ref_escape is set; if both are, both tags have
 * to, as with type 3 protection and with mlx5.
 */
bool vib_tuple_escapes(const struct ib_t10_dif_domain *dif, const struct t10_pi_tuple *tuple);
/*
 * Whether @tuple is right for interval @n of data with @guard, in the bytes of @check_mask (as
 * of struct ib_sig_attrs).  If not, sets type and values of @err, of the guard, else the
 * reference tag, else the application tag.
 */
bool vib_tuple_right(const struct ib_t10_dif_domain *dif, u8 check_mask, u32 n, u16 guard,
		     const struct t10_pi_tuple *tuple, struct ib_sig_err *err);
/*
 * What interval @n, with @tuple in the domain @from, has in @to, where its guard is @guard.  A
 * field is copied if both domains say the same of it, so what was wrong stays wrong; an escape
 * is copied as it is.
 */
struct t10_pi_tuple vib_tuple_convert(const struct ib_t10_dif_domain *from,
				      const struct ib_t10_dif_domain *to, u32 n, u16 guard,
				      const struct t10_pi_tuple *tuple);

#endif
