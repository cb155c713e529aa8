/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_KUNIT_FUZZ_H
#define IBEX_KUNIT_FUZZ_H

/*
 * An input is a sequence of calls of one target, which is an interface to processes.  A call is
 * right by itself: its operation says of what it consists, and its seed chooses among right
 * values; handles are those of objects that calls before it have made.  Up to FUZZ_EDITS edits
 * then spoil bytes of it.  As text, an input is a line, and a call is
 *
 *	OPERATION/SEED[,AT:HOW:VALUE]...	in hex
 */
#include <kunit/test.h>
#include <linux/sizes.h>
#include <linux/types.h>

#define FUZZ_CALLS	24
#define FUZZ_EDITS	3
#define FUZZ_KINDS	26		/* of handles: lower-case letters */
#define FUZZ_POOL	8
#define FUZZ_MESSAGE	2048
#define FUZZ_ARENA	SZ_64K		/* memory of the process */
#define FUZZ_FDS	256		/* more than an input can have */

enum fuzz_how {
	FUZZ_FLIP,		/* the bit VALUE of the byte at AT */
	FUZZ_BYTE,		/* is VALUE */
	FUZZ_SHORT,		/* two bytes are VALUE */
	FUZZ_WORD,		/* four bytes are fuzz_edges[VALUE] */
	FUZZ_LONG,		/* eight bytes are, with the sign */
	FUZZ_ADD,		/* VALUE, with its sign, is added to four bytes */
	FUZZ_LENGTH,		/* of the message, VALUE is added, with its sign */
	FUZZ_HOWS
};

struct fuzz_edit {
	u16 at;			/* modulo what may be spoilt */
	u8 how;
	u16 value;
};

struct fuzz_call {
	u8 op;
	u8 nr_edits;
	u16 seed;
	struct fuzz_edit edit[FUZZ_EDITS];
};

struct fuzz_input {
	u8 nr;
	struct fuzz_call call[FUZZ_CALLS];
};

struct fuzz;

/* @needs, @takes, @makes: strings of kinds of handles */
struct fuzz_op {
	const char *name;
	const char *needs;	/* it uses one of each */
	const char *takes;	/* those that it used are gone after it */
	const char *makes;	/* in its response, or the handle that it has taken */
	const char *fields;	/* its words, see fill.c */
	u32 number;
	u16 in, out;		/* bytes of the structures */
	u8 flags;
};

struct fuzz_target {
	const char *name;
	const struct fuzz_op *ops;
	unsigned int nr_ops;
	int (*init)(struct fuzz *f);		/* adapters: once */
	void (*exit)(struct fuzz *f);
	int (*begin)(struct fuzz *f);		/* files: before each input */
	void (*end)(struct fuzz *f);
	/* Returns whether it was accepted. */
	bool (*call)(struct fuzz *f, const struct fuzz_op *op);
	int (*left)(struct fuzz *f);		/* objects, after end() */
};

/* What an input, or all that were run, came to. */
struct fuzz_count {
	u64 calls, accepted;
};

struct fuzz {
	struct kunit *test;
	const struct fuzz_target *target;
	void *priv;				/* of the target */
	struct fuzz_count count;
	u64 *accepted;				/* by operation */
	const struct fuzz_input *now;		/* is being run */

	u32 rnd;				/* of the call: from its seed */
	const struct fuzz_call *call;
	u32 pool[FUZZ_KINDS][FUZZ_POOL];
	u8 pooled[FUZZ_KINDS];
	u32 used[FUZZ_KINDS];			/* by the call */

	unsigned long mem;			/* user memory: FUZZ_ARENA, then a response */
	u8 msg[FUZZ_MESSAGE];
	size_t len;
	size_t more;				/* bytes after these that edits may spoil */
};

extern const struct fuzz_target fuzz_uverbs, fuzz_ucm, fuzz_umad, fuzz_nldev;

/* fill.c */
extern const u32 fuzz_edges[];
extern const unsigned int fuzz_nr_edges;
u32 fuzz_rnd(struct fuzz *f, u32 below);
u32 fuzz_handle(struct fuzz *f, char kind);
void fuzz_keep(struct fuzz *f, char kind, u32 handle);
void fuzz_drop(struct fuzz *f, char kind, u32 handle);
/* After an accepted call: moves handles between kinds; @made is in the response. */
void fuzz_account(struct fuzz *f, const struct fuzz_op *op, const u32 *made);
/* Writes the words of @fields to @out, which has @words of room; the others are zero. */
void fuzz_fill(struct fuzz *f, const char *fields, void *out, size_t words);
size_t fuzz_words_of(const char *fields);
void fuzz_spoil(struct fuzz *f);
unsigned long fuzz_resp_at(const struct fuzz *f);
u32 fuzz_resp_u32(struct fuzz *f, unsigned int word);
void fuzz_close_fds(void);

/* input.c */
int fuzz_parse(const struct fuzz_target *target, const char *line, struct fuzz_input *input);
size_t fuzz_print(const struct fuzz_target *target, const struct fuzz_call *call, char *to,
		  size_t size);
void fuzz_delete(struct fuzz_input *input, unsigned int at);

/* mutate.c */
struct rnd_state;
void fuzz_generate(const struct fuzz_target *target, struct rnd_state *rnd,
		   struct fuzz_input *input);
void fuzz_mutate(const struct fuzz_target *target, struct rnd_state *rnd,
		 struct fuzz_input *input, const struct fuzz_input *other);

/* run.c */
int fuzz_start(struct fuzz *f, struct kunit *test, const struct fuzz_target *target);
void fuzz_stop(struct fuzz *f);
/* Runs @input; false if that broke something, which is then printed. */
bool fuzz_run(struct fuzz *f, const struct fuzz_input *input);
void fuzz_tell(struct fuzz *f, const char *what);

/* corpus.c */
struct fuzz_corpus {
	struct fuzz_input *input;
	unsigned int nr, room;
};

int fuzz_load(struct fuzz *f, struct fuzz_corpus *corpus);
int fuzz_add(struct fuzz_corpus *corpus, const struct fuzz_input *input);
int fuzz_save(struct fuzz *f, const struct fuzz_corpus *corpus);
void fuzz_free(struct fuzz_corpus *corpus);

/* search.c */
void fuzz_search(struct fuzz *f, struct fuzz_corpus *corpus, u32 seed, u32 inputs);

#endif
