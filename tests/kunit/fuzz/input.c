// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Inputs as text, see fuzz.h. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "fuzz.h"

static int find_op(const struct fuzz_target *target, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < target->nr_ops; i++)
		if (!strncmp(target->ops[i].name, name, len) && !target->ops[i].name[len])
			return i;
	return -ENOENT;
}

static int parse_call(const struct fuzz_target *target, char *word, struct fuzz_call *call)
{
	char *slash = strchr(word, '/'), *edit;
	unsigned int seed, at, how, value;
	int op;

	memset(call, 0, sizeof(*call));
	if (!slash)
		return -EINVAL;
	op = find_op(target, word, slash - word);
	if (op < 0)
		return op;
	call->op = op;
	slash++;
	edit = strsep(&slash, ",");
	if (kstrtouint(edit, 16, &seed) || seed > U16_MAX)
		return -EINVAL;
	call->seed = seed;
	while ((edit = strsep(&slash, ","))) {
		if (call->nr_edits == FUZZ_EDITS ||
		    sscanf(edit, "%x:%x:%x", &at, &how, &value) != 3 || how >= FUZZ_HOWS)
			return -EINVAL;
		call->edit[call->nr_edits++] = (struct fuzz_edit) { at, how, value };
	}
	return 0;
}

int fuzz_parse(const struct fuzz_target *target, const char *line, struct fuzz_input *input)
{
	char *copy = kstrdup(line, GFP_KERNEL), *rest = copy, *word;
	int ret = copy ? 0 : -ENOMEM;

	input->nr = 0;
	while (!ret && (word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		ret = input->nr < FUZZ_CALLS ?
			parse_call(target, word, &input->call[input->nr++]) : -E2BIG;
	}
	kfree(copy);
	return ret;
}

size_t fuzz_print(const struct fuzz_target *target, const struct fuzz_call *call, char *to,
		  size_t size)
{
	size_t n = scnprintf(to, size, "%s/%x", target->ops[call->op].name, call->seed);
	unsigned int i;

	for (i = 0; i < call->nr_edits; i++)
		n += scnprintf(to + n, size - n, ",%x:%x:%x", call->edit[i].at,
			       call->edit[i].how, call->edit[i].value);
	return n;
}

void fuzz_delete(struct fuzz_input *input, unsigned int at)
{
	input->nr--;
	memmove(&input->call[at], &input->call[at + 1],
		(input->nr - at) * sizeof(*input->call));
}
