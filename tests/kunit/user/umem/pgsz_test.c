// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The page size for a region, checked by translating each of its pages. */
#include <linux/prandom.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#include "user/uverbs_test.h"

#define SEGS 6
#define K(n) ((u64)(n) << 10)
#define M(n) ((u64)(n) << 20)
#define G(n) ((u64)(n) << 30)
#define P4K BIT(12)
#define P64K BIT(16)
#define P2M BIT(21)
#define P1G BIT(30)

struct pgsz_seg {
	u64 dma, len;
};

struct pgsz_case {
	const char *what;
	u64 offset;		/* of the first byte of the region in its page */
	u64 length;
	u64 virt;
	unsigned long bitmap;
	struct pgsz_seg seg[SEGS];
	unsigned long want;
};

static const struct pgsz_case pgsz_cases[] = {
	{ "one page", 0, K(4), 0, P4K | P2M, { { K(4), K(4) } }, P4K },
	{ "aligned alike", 0, M(4), G(1), P4K | P2M, { { M(2), M(4) } }, P2M },
	{ "IOVA is off", 0, M(4), G(1) + K(4), P4K | P2M, { { M(2), M(4) } }, P4K },
	{ "both are off alike", 0, M(4), G(1) + K(4), P4K | P2M,
	  { { M(2) + K(4), M(4) } }, P2M },
	{ "a byte offset", 100, M(4) - 100, G(1) + 100, P4K | P2M,
	  { { M(2), M(4) } }, P2M },
	{ "another byte offset", 100, M(4) - 100, G(1) + 104, P4K | P2M,
	  { { M(2), M(4) } }, 0 },
	{ "no byte offset", 100, M(4) - 100, G(1), P4K | P2M, { { M(2), M(4) } }, 0 },
	{ "a hole in the middle", 0, M(4), 0, P4K | P64K | P2M,
	  { { M(2), M(1) }, { M(9), M(3) } }, P64K },
	{ "a border on a page", 0, M(4), 0, P4K | P64K | P2M,
	  { { M(2), M(2) }, { M(16), M(2) } }, P2M },
	{ "segments in a row", 0, M(4), 0, P4K | P64K | P2M,
	  { { M(2), M(1) }, { M(3), M(1) }, { M(4), M(2) } }, P2M },
	{ "a row broken", 0, M(4), 0, P4K | P64K | P2M,
	  { { M(2), K(64) }, { M(2) + K(64), M(2) - K(128) }, { M(8), M(2) + K(64) } },
	  P64K },
	{ "start and end inside a page", 0, M(6), M(1), P4K | P2M,
	  { { M(3), M(1) }, { M(8), M(2) }, { M(20), M(3) } }, P2M },
	{ "no size small enough", 0, K(8), 0, P2M, { { K(4), K(4) }, { K(64), K(4) } }, 0 },
	{ "only a size too large, which fits", 0, K(8), M(2) + K(4), P2M,
	  { { M(4) + K(4), K(8) } }, P2M },
	{ "no larger than it takes", 0, K(8), G(1), P4K | P64K | P2M | P1G,
	  { { G(2), K(8) } }, P64K },
	{ "the IOVA would wrap", 0, K(8), U64_MAX - K(4) + 1, P4K, { { K(8), K(8) } }, 0 },
	{ "up to the end of the IOVAs", 0, K(4), U64_MAX - K(4) + 1, P4K,
	  { { K(8), K(4) } }, P4K },
	{ "the whole of a size", 0, G(1), 0, P4K | P1G, { { G(4), G(1) } }, P1G },
	{ "no bytes", 100, 0, 100, P4K, { { K(4), K(4) } }, P4K },
	{ "no page sizes", 0, K(4), 0, 0, { { K(4), K(4) } }, 0 },
	{ "no pages", 0, K(4), 0, P4K, {}, 0 },
};

static unsigned long best(const struct pgsz_case *c)
{
	struct scatterlist sgl[SEGS];
	struct ib_umem umem = {
		.address = G(3) + c->offset,
		.length = c->length,
	};
	int i;

	sg_init_table(sgl, SEGS);
	for (i = 0; i < SEGS && c->seg[i].len; i++) {
		sg_dma_address(&sgl[i]) = c->seg[i].dma;
		sg_dma_len(&sgl[i]) = c->seg[i].len;
	}
	umem.sgt_append.sgt.sgl = sgl;
	umem.sgt_append.sgt.nents = i;
	return ib_umem_find_best_pgsz(&umem, c->bitmap, c->virt);
}

static void the_largest_page_that_describes_the_region(struct kunit *test)
{
	const struct pgsz_case *c;

	for (c = pgsz_cases; c < pgsz_cases + ARRAY_SIZE(pgsz_cases); c++)
		KUNIT_EXPECT_EQ_MSG(test, best(c), c->want, "%s", c->what);
}

/* The DMA address of a byte of the region. */
static u64 dma_of(const struct pgsz_case *c, u64 byte)
{
	int i;

	byte += c->offset;
	for (i = 0; byte >= c->seg[i].len; i++)
		byte -= c->seg[i].len;
	return c->seg[i].dma + byte;
}

/* Whether a table of such pages translates correctly; checks bytes 4K apart. */
static bool describes(const struct pgsz_case *c, u64 page)
{
	u64 byte, base = 0, virt;

	for (byte = 0; byte < c->length; byte += K(4) - (byte ? 0 : c->offset)) {
		virt = c->virt + byte;
		if (!byte || !(virt & (page - 1)))
			base = dma_of(c, byte) & ~(page - 1);
		if (base + (virt & (page - 1)) != dma_of(c, byte))
			return false;
	}
	return true;
}

static u64 pick(struct rnd_state *rnd, u64 below)
{
	return prandom_u32_state(rnd) % below;
}

/* Random segments, often aligned, often adjacent. */
static void make_case(struct rnd_state *rnd, struct pgsz_case *c)
{
	u64 unit = K(4) << pick(rnd, 6), at = M(16);
	int i, n = 1 + pick(rnd, SEGS);

	memset(c, 0, sizeof(*c));
	c->bitmap = P4K | P64K | BIT(13 + pick(rnd, 8)) | BIT(13 + pick(rnd, 8));
	for (i = 0; i < n; i++) {
		if (pick(rnd, 2))
			at += unit * pick(rnd, 8);
		c->seg[i].dma = at;
		c->seg[i].len = unit * (1 + pick(rnd, 8));
		at += c->seg[i].len;
		c->length += c->seg[i].len;
	}
	c->offset = pick(rnd, 2) ? pick(rnd, 4096) : 0;
	c->length -= c->offset;
	c->virt = G(1) + unit * pick(rnd, 16) + c->offset;
	if (pick(rnd, 2))
		c->virt = c->seg[0].dma + c->offset;
}

static void no_page_size_translates_wrongly_and_none_is_missed(struct kunit *test)
{
	unsigned long got, page, span;
	struct rnd_state rnd;
	struct pgsz_case c;
	int i, fitted = 0;

	prandom_seed_state(&rnd, 20);
	for (i = 0; i < 2000; i++) {
		make_case(&rnd, &c);
		got = best(&c);
		if (got)
			KUNIT_EXPECT_TRUE_MSG(test, describes(&c, got), "case %d", i);
		/*
		 * No larger page size works, unless the one
		 * returned spans the whole region.
		 */
		span = roundup_pow_of_two((c.virt ^ (c.virt + c.length - 1)) + 1);
		for (page = got ? got << 1 : P4K; page && page <= BIT(40); page <<= 1) {
			if (!(c.bitmap & page) || (got && got >= span))
				continue;
			KUNIT_EXPECT_FALSE_MSG(test, describes(&c, page),
					       "case %d: %#lx, not %#lx", i, page, got);
		}
		fitted += got > P4K;
	}
	/* The random cases test both outcomes often enough. */
	KUNIT_EXPECT_GT(test, fitted, 200);
	KUNIT_EXPECT_LT(test, fitted, 1900);
}

static void a_region_on_demand_has_the_size_it_was_made_with(struct kunit *test)
{
	struct ib_umem_odp odp = {
		.umem = { .is_odp = 1, .address = K(8) + 5, .length = K(4) },
		.page_shift = 12,
	};

	KUNIT_EXPECT_EQ(test, ib_umem_find_best_pgsz(&odp.umem, P4K | P2M, M(2) + 5),
			(unsigned long)P4K);
	KUNIT_EXPECT_EQ(test, odp.umem.iova, M(2) + 5);
	KUNIT_EXPECT_EQ(test, ib_umem_find_best_pgsz(&odp.umem, P2M, M(2) + 5), 0ul);
	KUNIT_EXPECT_EQ(test, ib_umem_find_best_pgsz(&odp.umem, P4K, M(2)), 0ul);
}

static struct kunit_case pgsz_test_cases[] = {
	KUNIT_CASE(the_largest_page_that_describes_the_region),
	KUNIT_CASE(no_page_size_translates_wrongly_and_none_is_missed),
	KUNIT_CASE(a_region_on_demand_has_the_size_it_was_made_with),
	{}
};

static struct kunit_suite uverbs_pgsz_suite = {
	.name = "uverbs_pgsz",
	.test_cases = pgsz_test_cases,
};

kunit_test_suite(uverbs_pgsz_suite);
