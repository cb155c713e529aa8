/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_FUZZ_UVERBS_H
#define IBEX_FUZZ_UVERBS_H

#include "fuzz.h"

#define EXTENDED	BIT(0)	/* a command of the second kind */
#define METHOD		BIT(1)	/* an ioctl: its fields are attributes */
#define READ_FD		BIT(2)	/* reads from the descriptor that it uses */

struct uverbs_files {
	struct fake_hca *hca;
	struct file *filp;
	int others;		/* objects that are not of processes */
};

/* uverbs.c */
int uverbs_init(struct fuzz *f);
void uverbs_exit(struct fuzz *f);
int uverbs_begin(struct fuzz *f);
void uverbs_end(struct fuzz *f);
bool uverbs_call(struct fuzz *f, const struct fuzz_op *op);
int uverbs_left(struct fuzz *f);

/* uverbs_ops.c */
/* What a string of fields cannot describe. */
void uverbs_fill_rest(struct fuzz *f, const struct fuzz_op *op, void *body);
/* The attributes of the method @op; returns how many. */
struct ib_uverbs_attr;
unsigned int uverbs_attrs(struct fuzz *f, const struct fuzz_op *op,
			  struct ib_uverbs_attr *attrs);

#endif
