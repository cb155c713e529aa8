// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One case for each interface.  It runs the inputs that were kept (corpus/); with the parameter
 * inputs it searches for more of them instead (scripts/kunit-fuzz).
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "fuzz.h"

static unsigned int inputs;
module_param(inputs, uint, 0444);
MODULE_PARM_DESC(inputs, "Search, with so many new inputs");

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Of the search");

static struct fuzz *fuzz;
static struct fuzz_corpus corpus;

static int fuzz_init(struct kunit *test)
{
	memset(&corpus, 0, sizeof(corpus));
	fuzz = kvzalloc(sizeof(*fuzz), GFP_KERNEL);
	return fuzz ? 0 : -ENOMEM;
}

static void fuzz_exit(struct kunit *test)
{
	if (fuzz)
		fuzz_stop(fuzz);
	fuzz_free(&corpus);
	kvfree(fuzz);
	fuzz = NULL;
}

static void replay(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < corpus.nr; i++)
		if (!fuzz_run(fuzz, &corpus.input[i])) {
			KUNIT_FAIL(test, "input %u of %s", i, fuzz->target->name);
			return;
		}
	fuzz_tell(fuzz, "corpus: ");
	/* Where few are accepted, the others are refused before they get anywhere. */
	KUNIT_EXPECT_GT_MSG(test, 3 * fuzz->count.accepted, fuzz->count.calls,
			    "only a third of the calls is accepted");
	for (i = 0; i < fuzz->target->nr_ops; i++)
		KUNIT_EXPECT_GT_MSG(test, fuzz->accepted[i], 0, "%s",
				    fuzz->target->ops[i].name);
}

static void run(struct kunit *test, const struct fuzz_target *target)
{
	int ret;

	KUNIT_ASSERT_EQ(test, fuzz_start(fuzz, test, target), 0);
	ret = fuzz_load(fuzz, &corpus);
	if (inputs && ret == -ENOENT)
		ret = 0;
	KUNIT_ASSERT_EQ(test, ret, 0);
	if (inputs)
		fuzz_search(fuzz, &corpus, seed, inputs);
	else
		replay(test);
}

static void ucm(struct kunit *test)
{
	run(test, &fuzz_ucm);
}

static void uverbs(struct kunit *test)
{
	run(test, &fuzz_uverbs);
}

static void umad(struct kunit *test)
{
	run(test, &fuzz_umad);
}

static void nldev(struct kunit *test)
{
	run(test, &fuzz_nldev);
}

static struct kunit_case fuzz_cases[] = {
	KUNIT_CASE_SLOW(uverbs),
	KUNIT_CASE_SLOW(ucm),
	KUNIT_CASE_SLOW(umad),
	KUNIT_CASE_SLOW(nldev),
	{}
};

static struct kunit_suite fuzz_suite = {
	.name = "ib_fuzz",
	.init = fuzz_init,
	.exit = fuzz_exit,
	.test_cases = fuzz_cases,
};

kunit_test_suite(fuzz_suite);

MODULE_DESCRIPTION("KUnit suite that plays random calls of processes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
