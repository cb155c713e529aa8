// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* New inputs, and changes of old ones. */
#include <linux/prandom.h>
#include <linux/string.h>
#include "fuzz.h"

#define DEPTH 10	/* of what is needed to make what is needed ... */

static u32 below(struct rnd_state *rnd, u32 n)
{
	return prandom_u32_state(rnd) % n;
}

static bool insert(struct fuzz_input *input, unsigned int at, struct fuzz_call call)
{
	if (input->nr == FUZZ_CALLS)
		return false;
	memmove(&input->call[at + 1], &input->call[at],
		(input->nr - at) * sizeof(*input->call));
	input->call[at] = call;
	input->nr++;
	return true;
}

/* Whether a handle of @kind exists before call @at, if all calls are accepted. */
static bool exists(const struct fuzz_target *target, const struct fuzz_input *input,
		   unsigned int at, char kind)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < at; i++) {
		const struct fuzz_op *op = &target->ops[input->call[i].op];

		if (n && op->takes && strchr(op->takes, kind))
			n--;
		if (op->makes && strchr(op->makes, kind))
			n++;
	}
	return n;
}

static int maker_of(const struct fuzz_target *target, struct rnd_state *rnd, char kind)
{
	unsigned int i, n = 0;
	int chosen = -1;

	for (i = 0; i < target->nr_ops; i++)
		if (target->ops[i].makes && strchr(target->ops[i].makes, kind) &&
		    !below(rnd, ++n))
			chosen = i;
	return chosen;
}

/*
 * Inserts a call of @op before call @at, and before it the calls that make what it needs, if
 * nothing has made it.  Returns how many calls were inserted.
 */
static unsigned int insert_op(const struct fuzz_target *target, struct rnd_state *rnd,
			      struct fuzz_input *input, unsigned int at, int op, int depth)
{
	struct fuzz_call call = { .op = op, .seed = below(rnd, 4) ? below(rnd, 65536) : 0 };
	unsigned int n = 0;
	const char *need;
	int maker;

	for (need = target->ops[op].needs; depth && need && *need; need++) {
		if (exists(target, input, at + n, *need))
			continue;
		maker = maker_of(target, rnd, *need);
		if (maker >= 0)
			n += insert_op(target, rnd, input, at + n, maker, depth - 1);
	}
	return n + insert(input, at + n, call);
}

static void edit(struct fuzz_call *call, struct rnd_state *rnd)
{
	static const u16 reaches[] = { 16, 32, 64, 128, FUZZ_MESSAGE };
	struct fuzz_edit *edit;

	if (call->nr_edits < FUZZ_EDITS && below(rnd, 3))
		call->nr_edits++;
	if (!call->nr_edits)
		return;
	edit = &call->edit[below(rnd, call->nr_edits)];
	edit->at = below(rnd, reaches[below(rnd, ARRAY_SIZE(reaches))]);
	edit->how = below(rnd, FUZZ_HOWS);
	/* Mostly as words are. */
	if (edit->how >= FUZZ_WORD && below(rnd, 8))
		edit->at &= ~3;
	if (edit->how < FUZZ_WORD)
		edit->value = below(rnd, 65536);
	else if (edit->how <= FUZZ_LONG)
		edit->value = below(rnd, fuzz_nr_edges);
	else
		edit->value = below(rnd, 32) - 16;
}

static void splice(struct rnd_state *rnd, struct fuzz_input *input,
		   const struct fuzz_input *other)
{
	unsigned int i;

	if (!other->nr)
		return;
	if (input->nr)
		input->nr = 1 + below(rnd, input->nr);
	for (i = below(rnd, other->nr); i < other->nr; i++)
		insert(input, input->nr, other->call[i]);
}

static void mutate_once(const struct fuzz_target *target, struct rnd_state *rnd,
			struct fuzz_input *input, const struct fuzz_input *other)
{
	struct fuzz_call *call = input->nr ? &input->call[below(rnd, input->nr)] : NULL;
	u32 what = below(rnd, 16);

	if (what < 5 || !call)
		insert_op(target, rnd, input, below(rnd, input->nr + 1),
			  below(rnd, target->nr_ops), DEPTH);
	else if (what < 6)
		fuzz_delete(input, call - input->call);
	else if (what < 7)
		insert(input, below(rnd, input->nr + 1), *call);
	else if (what < 8 && other)
		splice(rnd, input, other);
	else if (what < 10)
		call->seed = below(rnd, 2) ? below(rnd, 65536) : call->seed ^ BIT(below(rnd, 16));
	else if (what < 15)
		edit(call, rnd);
	else if (call->nr_edits)
		call->nr_edits--;
}

void fuzz_mutate(const struct fuzz_target *target, struct rnd_state *rnd,
		 struct fuzz_input *input, const struct fuzz_input *other)
{
	unsigned int n = 1 + below(rnd, 4);

	while (n--)
		mutate_once(target, rnd, input, other);
}

void fuzz_generate(const struct fuzz_target *target, struct rnd_state *rnd,
		   struct fuzz_input *input)
{
	unsigned int n = 1 + below(rnd, 6);

	input->nr = 0;
	while (n--)
		insert_op(target, rnd, input, input->nr, below(rnd, target->nr_ops), DEPTH);
}
