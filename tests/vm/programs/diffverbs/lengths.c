// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Each write command with every length of its request and of the room for its response. */
#include "diffverbs.h"

static struct {
	bool out;
	size_t length;
} wanted;

static void want_length(struct call *c)
{
	if (wanted.out) {
		c->out_size = wanted.length;
		mistake(c, wanted.length < c->cmd->out ? "out-%zu" : "out-long-%zu",
			wanted.length);
	} else {
		c->in_size = wanted.length;
		mistake(c, wanted.length < c->cmd->in ? "in-%zu" : "in-long-%zu", wanted.length);
	}
}

/* Something of each type for the command to be called with. */
static void make_objects(void)
{
	static const char * const makers[] = {
		"alloc_pd", "create_cq", "create_cq", "create_comp_channel", "create_srq",
		"create_qp", "create_qp", "reg_mr", "alloc_mw", "create_ah",
	};
	unsigned int i;

	for (i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		do_right(makers[i]);
}

static void each_length(const struct command *cmd, bool out)
{
	size_t whole = out ? cmd->out : cmd->in, step = cmd->form == WRITE_EX ? 8 : 4;
	size_t shortest = whole > 16 * step ? whole - 16 * step : 0;

	wanted.out = out;
	/* The in-tree core has no lower limit for extended commands: see tests/diff/verbs. */
	for (wanted.length = whole + 2 * step;; wanted.length -= step) {
		do_call(cmd, false, want_length);
		/* What it ends is there the next time. */
		if (cmd->ends != NO_TYPE && !alive(cmd->ends))
			make_objects();
		if (wanted.length == shortest)
			return;
	}
}

void lengths(unsigned int number)
{
	const struct command *cmd = &commands[number / 2 % nr_commands];

	make_objects();
	each_length(cmd, number % 2 && cmd->out);
}
