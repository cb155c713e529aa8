/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_PROTECTED_H
#define VIB_PROTECTED_H

/*
 * Memory with protection information, in pieces of odd lengths, and what a wire carries of it.
 * Guards are computed bit by bit here, as the standards define them.
 */
#include <linux/scatterlist.h>
#include <linux/t10-pi.h>
#include <rdma/signature.h>
#include "../device/hca_pair.h"

#define PI_BLOCKS	5
#define PI_MAX_BLOCK	4096
#define PI_TUPLE	8
#define PI_MAX_WIRE	(PI_BLOCKS * (PI_MAX_BLOCK + PI_TUPLE))
#define PI_PIECES	8	/* of a list */
#define PI_REF		0x12345	/* of the first block */
#define PI_ALL		(IB_SIG_CHECK_GUARD | IB_SIG_CHECK_APPTAG | IB_SIG_CHECK_REFTAG)

/* Bytes in pieces that are apart from one another. */
struct pieces {
	struct scatterlist sg[PI_PIECES];
	unsigned int count;
};

struct protected {
	u32 block;
	struct pieces data, meta;
	bool has_meta;
};

/* What a domain may be. */
enum pi_kind {
	PI_NONE,
	PI_CRC,
	PI_CSUM,
	PI_KINDS
};

/* CRC-16 of T10 (polynomial 0x8bb7), and the Internet checksum (RFC 1071). */
u16 pi_crc(const u8 *data, u32 len);
u16 pi_csum(const u8 *data, u32 len);

struct ib_sig_domain pi_domain(enum pi_kind kind, u32 block);
struct ib_sig_attrs pi_attrs(enum pi_kind mem, enum pi_kind wire, u32 block);

/*
 * PI_BLOCKS blocks of @block bytes that @seed tells, with tuples of @kind behind one another if
 * it has them; the test frees all.
 */
void protected_init(struct kunit *test, struct protected *p, u32 block, enum pi_kind kind,
		    u8 seed);
/* Maps the lists of @p for @dev, as for ib_map_mr_sg_pi(). */
void protected_map_dma(struct kunit *test, struct protected *p, struct ib_device *dev);
void pieces_read(const struct pieces *pieces, u32 offset, void *to, u32 len);
void pieces_write(const struct pieces *pieces, u32 offset, const void *from, u32 len);
/* All bytes are @fill. */
void pieces_fill(const struct pieces *pieces, u8 fill);

/* The data of @seed on a wire of @kind, to @wire; its length. */
u32 pi_wire(u8 *wire, u32 block, enum pi_kind kind, u8 seed);
/* Whether @p has the data of @seed, and the tuples of @kind if it has any. */
bool protected_has(struct kunit *test, const struct protected *p, enum pi_kind kind, u8 seed);
/* The status of @mr, told once: fail_status. */
int pi_status(struct ib_mr *mr, struct ib_sig_err *err);

#endif
