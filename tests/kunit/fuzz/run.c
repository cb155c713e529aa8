// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Runs inputs, and notices when one breaks something. */
#include <linux/debug_locks.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic.h>
#include <linux/panic_notifier.h>
#include <linux/slab.h>
#include "../user/uverbs_test.h"
#include "cover.h"
#include "fuzz.h"

static bool trace;
module_param(trace, bool, 0444);
MODULE_PARM_DESC(trace, "Print each input before it is run");

static struct fuzz *running;

static void print_input(const struct fuzz *f)
{
	const struct fuzz_input *input = f->now;
	char text[128];
	unsigned int i;

	/* One call a line: together they may be too long for a line of the log. */
	for (i = 0; i < input->nr; i++) {
		fuzz_print(f->target, &input->call[i], text, sizeof(text));
		pr_err("fuzz: %s: input: %s\n", f->target->name, text);
	}
}

static int on_panic(struct notifier_block *nb, unsigned long action, void *data)
{
	if (running && running->now)
		print_input(running);
	return NOTIFY_DONE;
}

static struct notifier_block panic_block = { .notifier_call = on_panic };

static bool broken(void)
{
	/* KASAN's reports taint with BAD_PAGE. */
	return !debug_locks || test_taint(TAINT_WARN) || test_taint(TAINT_BAD_PAGE) ||
	       test_taint(TAINT_DIE);
}

static void run_call(struct fuzz *f, const struct fuzz_call *call)
{
	f->call = call;
	f->more = 0;
	f->rnd = call->seed * 2654435761U + call->op;
	memset(f->used, 0, sizeof(f->used));
	memset(f->msg, 0, sizeof(f->msg));
	f->count.calls++;
	if (!f->target->call(f, &f->target->ops[call->op]))
		return;
	f->count.accepted++;
	f->accepted[call->op]++;
	/* So the corpus has each operation. */
	cover_note(call->op + 1);
}

bool fuzz_run(struct fuzz *f, const struct fuzz_input *input)
{
	const u32 *edges;
	unsigned int i;
	int left;

	f->now = input;
	memset(f->pooled, 0, sizeof(f->pooled));
	if (f->target->begin(f)) {
		kunit_err(f->test, "cannot begin an input");
		return false;
	}
	if (trace) {
		pr_info("fuzz: %s: next\n", f->target->name);
		print_input(f);
	}
	cover_begin();
	for (i = 0; i < input->nr; i++)
		run_call(f, &input->call[i]);
	f->target->end(f);
	cover_end(&edges);
	left = f->target->left ? f->target->left(f) : 0;
	if (left)
		pr_err("fuzz: %s: %d objects are left\n", f->target->name, left);
	if (left || broken()) {
		print_input(f);
		return false;
	}
	f->now = NULL;
	return true;
}

void fuzz_tell(struct fuzz *f, const char *what)
{
	unsigned int i;

	pr_info("fuzz: %s: %s%llu calls, %llu accepted (%llu %%)\n", f->target->name, what,
		f->count.calls, f->count.accepted,
		f->count.calls ? 100 * f->count.accepted / f->count.calls : 0);
	for (i = 0; i < f->target->nr_ops; i++)
		if (!f->accepted[i])
			pr_info("fuzz: %s: %s is never accepted\n", f->target->name,
				f->target->ops[i].name);
}

int fuzz_start(struct fuzz *f, struct kunit *test, const struct fuzz_target *target)
{
	unsigned int i;

	f->test = test;
	f->target = target;
	f->accepted = kunit_kcalloc(test, target->nr_ops, sizeof(*f->accepted), GFP_KERNEL);
	if (!f->accepted)
		return -ENOMEM;
	for (i = 0; i < target->nr_ops; i++)
		if (fuzz_words_of(target->ops[i].fields) * 4 > target->ops[i].in) {
			kunit_err(test, "%s is longer than its structure", target->ops[i].name);
			return -EINVAL;
		}
	f->mem = user_pages(test, FUZZ_ARENA / PAGE_SIZE + 4, TEST_RW);
	user_fill(test, f->mem, FUZZ_ARENA / PAGE_SIZE + 4, 0);
	running = f;
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	return target->init(f);
}

void fuzz_stop(struct fuzz *f)
{
	if (!f->mem)
		return;
	f->target->exit(f);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	running = NULL;
}
