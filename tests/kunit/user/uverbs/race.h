/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_RACE_H
#define IBEX_USER_RACE_H

/*
 * Threads of the case's process, each with calls of its own, and a slow adapter: either
 * a verb stops until the case lets it go on, or each verb takes a time that a seed
 * determines.  Time is virtual, so that the order of events depends on the seed alone.
 */
#include <linux/completion.h>
#include <linux/prandom.h>
#include "user/call/commands.h"

#define RACERS		4	/* of race_init() */
#define MAX_RACERS	20

struct racer {
	struct commands c;		/* its calls; for the file passed to racer_go() */
	unsigned long mem;		/* memory of its own */
	unsigned int nr;
	struct mm_struct *mm;
	struct task_struct *task;
	struct completion go, done;
	int (*fn)(struct racer *r);
	int ret;
	bool stop;
	u32 handle;			/* for fn, like the fields below */
	bool ioctl;
	const struct race_kind *kind;
	struct file *filp;
	unsigned int counts[4];
};

extern struct racer racers[MAX_RACERS];

/* The suite's init and exit, to be called around those of commands or queues. */
int race_init(struct kunit *test);
int race_init_many(struct kunit *test, unsigned int n);
void race_exit(struct kunit *test);
/* Creates the device again, with a context, and with the PD and CQ of queues_init(). */
void race_renew(struct kunit *test);

/* Has @r call @fn for c->file; racer_wait() returns the result of @fn. */
void racer_go(struct commands *c, struct racer *r, int (*fn)(struct racer *r));
int racer_wait(struct kunit *test, struct racer *r);
/* Expects that it waits for something other than time. */
void racer_expect_stuck(struct kunit *test, struct racer *r);

/* The next create or destroy of an object of @kind stops until gate_open(). */
void gate_close(struct commands *c, enum fake_hca_object kind, bool create);
void gate_wait(struct kunit *test);	/* waits until it has stopped */
void gate_open(void);

/* From now on each verb takes 0 to 3 ticks, determined by @seed; 0: no time. */
void race_shuffle(struct commands *c, u64 seed);
u32 race_random(u32 n);			/* less than @n */
void race_delay(u32 n);			/* less than @n ticks */

/* Kinds of object with a handle. */
struct race_kind {
	u16 object, destroy;		/* by ioctl */
	u16 got;			/* bytes of attribute 1; 0: as in the command */
	enum fake_hca_object fake;
	u32 command;			/* that destroys it, or 0 */
	u8 len, at, resp;		/* of the command; offset of the handle */
	int (*make)(struct commands *c, u32 pd, u32 cq, u32 *handle);
};

enum {
	KIND_PD, KIND_CQ, KIND_QP, KIND_SRQ, KIND_WQ, KIND_MR, KIND_MW, KIND_AH,
	KIND_XRCD, KIND_DM, KIND_COUNTERS, NR_KINDS
};

extern const struct race_kind race_kinds[NR_KINDS];

int race_destroy(struct commands *c, const struct race_kind *kind, u32 handle,
		 bool ioctl);
/*
 * For racer_go(): make or destroy the racer's object, remove its device, close its file.
 */
int race_make_in_thread(struct racer *r);
int race_destroy_in_thread(struct racer *r);
int race_remove_in_thread(struct racer *r);
int race_close_in_thread(struct racer *r);

#endif
