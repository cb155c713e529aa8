/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_CREW_H
#define IBEX_CREW_H

/*
 * Threads that do something at once, as many as there are processors and at least four, each
 * with random numbers of its own.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/prandom.h>
#include <linux/sched.h>

#define CREW_MOST	8	/* racers; more processors are not used */
#define CREW_THREADS	(CREW_MOST + 4)
#define CREW_SECONDS	250	/* more than any wait of a racer; KUnit ends a case after 300 */
#define CREW_LATE	100	/* seconds after which a case on a slow machine does less */

struct racer {
	unsigned int nr;
	struct kunit *test;
	struct rnd_state rnd;
	void (*run)(struct racer *racer);
	struct task_struct *task;
	struct completion done;
};

struct crew {
	struct kunit *test;
	unsigned int seed;
	unsigned long late;		/* in jiffies */
	unsigned int nr;		/* threads that run */
	struct racer racers[CREW_THREADS];
};

/* How many racers a suite should have. */
unsigned int crew_size(void);
/* At the begin of a case. */
void crew_init(struct crew *crew, struct kunit *test);
/* Whether the case should end now, whatever it has done. */
bool crew_late(const struct crew *crew);
/* The seed of the threads' random numbers, which is printed. */
void crew_seed(struct crew *crew, unsigned int seed);
/* Starts one thread more; with an even seed it is bound to a processor. */
void crew_add(struct crew *crew, void (*run)(struct racer *racer));
/* Waits until all threads have returned, with a bound, and forgets them. */
void crew_join(struct crew *crew);

/* Less than @n. */
u32 crew_pick(struct racer *racer, u32 n);
/* True once in @n times. */
bool crew_once(struct racer *racer, u32 n);
/* Some time between none and 300 us. */
void crew_pause(struct racer *racer);

/* Seeds of the parameterised cases. */
const void *crew_next_seed(const void *prev, char *desc);

#endif
