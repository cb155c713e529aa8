// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search: an input that reaches an edge which none before it has reached is shortened as
 * long as it reaches it, and kept; new inputs are mostly changes of those that were kept.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include "cover.h"
#include "fuzz.h"

#define MOST_SECONDS	240	/* virtual ones; KUnit gives a case 300 */

static DECLARE_BITMAP(seen, COVER_EDGES);
static u32 news[COVER_MOST];		/* edges that an input is kept for */
static u32 nr_news;
static u32 nr_seen;

/* Notes the edges of the last run as seen. */
static void see(void)
{
	const u32 *edges;
	u32 n = cover_end(&edges), i;

	for (i = 0; i < n; i++)
		nr_seen += !__test_and_set_bit(edges[i], seen);
}

/* Sets news to the edges of the last run that were not seen. */
static void look_for_news(void)
{
	const u32 *edges;
	u32 n = cover_end(&edges), i;

	nr_news = 0;
	for (i = 0; i < n; i++)
		if (!test_bit(edges[i], seen))
			news[nr_news++] = edges[i];
}

/* Returns how many news the last run reached. */
static u32 reached(void)
{
	const u32 *edges;
	u32 n = cover_end(&edges), i, k = 0;
	unsigned long *met = bitmap_zalloc(COVER_EDGES, GFP_KERNEL | __GFP_NOFAIL);

	for (i = 0; i < n; i++)
		__set_bit(edges[i], met);
	for (i = 0; i < nr_news; i++)
		k += test_bit(news[i], met);
	bitmap_free(met);
	return k;
}

/* What is not reached each time is no news: it is seen, and ignored from now on. */
static void forget_chance(void)
{
	const u32 *edges;
	u32 n = cover_end(&edges), i, kept = 0;
	unsigned long *met = bitmap_zalloc(COVER_EDGES, GFP_KERNEL | __GFP_NOFAIL);

	for (i = 0; i < n; i++)
		__set_bit(edges[i], met);
	for (i = 0; i < nr_news; i++) {
		if (test_bit(news[i], met))
			news[kept++] = news[i];
		else
			nr_seen += !__test_and_set_bit(news[i], seen);
	}
	nr_news = kept;
	bitmap_free(met);
}

/* Runs @try in place of @input; if it reaches all news, @input becomes it. */
static bool prefer(struct fuzz *f, struct fuzz_input *input, const struct fuzz_input *try)
{
	if (!fuzz_run(f, try))
		return false;
	if (reached() == nr_news)
		*input = *try;
	return true;
}

/* False if a run broke something. */
static bool shorten(struct fuzz *f, struct fuzz_input *input)
{
	struct fuzz_input try;
	int i, k;

	for (i = input->nr - 1; i >= 0; i--) {
		try = *input;
		fuzz_delete(&try, i);
		if (!prefer(f, input, &try))
			return false;
	}
	for (i = 0; i < input->nr; i++) {
		for (k = input->call[i].nr_edits - 1; k >= 0; k--) {
			struct fuzz_call *call = &try.call[i];

			try = *input;
			call->edit[k] = call->edit[--call->nr_edits];
			if (!prefer(f, input, &try))
				return false;
		}
		if (!input->call[i].seed)
			continue;
		try = *input;
		try.call[i].seed = 0;
		if (!prefer(f, input, &try))
			return false;
	}
	return true;
}

/* Runs @input, and keeps it if it reaches anything new.  False if it broke something. */
static bool attempt(struct fuzz *f, struct fuzz_corpus *corpus, struct fuzz_input *input)
{
	if (!fuzz_run(f, input))
		return false;
	look_for_news();
	if (!nr_news)
		return true;
	if (!fuzz_run(f, input))
		return false;
	forget_chance();
	if (!nr_news)
		return true;
	if (!shorten(f, input) || !fuzz_run(f, input))
		return false;
	see();
	fuzz_add(corpus, input);
	return true;
}

static int by_length(const void *a, const void *b)
{
	const struct fuzz_input *x = a, *y = b;

	return x->nr - y->nr;
}

/* Keeps, of the shortest first, only those that add to what is reached. */
static bool minimise(struct fuzz *f, struct fuzz_corpus *corpus)
{
	unsigned int i, kept = 0;

	sort(corpus->input, corpus->nr, sizeof(*corpus->input), by_length, NULL);
	bitmap_zero(seen, COVER_EDGES);
	nr_seen = 0;
	for (i = 0; i < corpus->nr; i++) {
		if (!fuzz_run(f, &corpus->input[i]))
			return false;
		look_for_news();
		if (!nr_news || !fuzz_run(f, &corpus->input[i]))
			continue;
		forget_chance();
		see();
		if (nr_news)
			corpus->input[kept++] = corpus->input[i];
	}
	corpus->nr = kept;
	return true;
}

static bool search(struct fuzz *f, struct fuzz_corpus *corpus, u32 seed, u32 inputs)
{
	const struct fuzz_input *other;
	struct fuzz_input input;
	unsigned long end = jiffies + MOST_SECONDS * HZ;
	struct rnd_state rnd;
	u32 i;

	prandom_seed_state(&rnd, seed);
	for (i = 0; i < corpus->nr; i++) {
		if (!fuzz_run(f, &corpus->input[i]))
			return false;
		see();
	}
	for (i = 0; i < inputs && time_before(jiffies, end); i++) {
		if (!corpus->nr || prandom_u32_state(&rnd) % 16 == 0) {
			fuzz_generate(f->target, &rnd, &input);
		} else {
			input = corpus->input[prandom_u32_state(&rnd) % corpus->nr];
			other = &corpus->input[prandom_u32_state(&rnd) % corpus->nr];
			fuzz_mutate(f->target, &rnd, &input, other);
		}
		if (!attempt(f, corpus, &input))
			return false;
		if (!((i + 1) % 1000))
			pr_info("fuzz: %s: %u inputs, %u kept, %u edges\n", f->target->name,
				i + 1, corpus->nr, nr_seen);
	}
	return true;
}

void fuzz_search(struct fuzz *f, struct fuzz_corpus *corpus, u32 seed, u32 inputs)
{
	if (!search(f, corpus, seed, inputs)) {
		KUNIT_FAIL(f->test, "the input above");
		return;
	}
	fuzz_tell(f, "");
	KUNIT_ASSERT_GT_MSG(f->test, nr_seen, 0, "the modules do not tell their coverage");
	if (!minimise(f, corpus)) {
		KUNIT_FAIL(f->test, "the input above");
		return;
	}
	pr_info("fuzz: %s: %u inputs are enough for %u edges\n", f->target->name, corpus->nr,
		nr_seen);
	KUNIT_EXPECT_EQ(f->test, fuzz_save(f, corpus), 0);
}
