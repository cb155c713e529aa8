// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See crew.h. */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include "crew.h"

static unsigned int seeds = 2;
module_param(seeds, uint, 0444);
MODULE_PARM_DESC(seeds, "how many seeds each suite runs with");

unsigned int crew_size(void)
{
	return clamp(num_online_cpus(), 4U, CREW_MOST);
}

void crew_init(struct crew *crew, struct kunit *test)
{
	crew->test = test;
	crew->late = jiffies + CREW_LATE * HZ;
}

bool crew_late(const struct crew *crew)
{
	return time_after(jiffies, crew->late);
}

void crew_seed(struct crew *crew, unsigned int seed)
{
	kunit_info(crew->test, "seed %u", seed);
	crew->seed = seed;
}

static int run(void *arg)
{
	struct racer *racer = arg;

	racer->run(racer);
	complete(&racer->done);
	return 0;
}

void crew_add(struct crew *crew, void (*fn)(struct racer *racer))
{
	struct racer *racer = &crew->racers[crew->nr];

	KUNIT_ASSERT_LT(crew->test, crew->nr, (unsigned int)CREW_THREADS);
	racer->nr = crew->nr;
	racer->test = crew->test;
	racer->run = fn;
	prandom_seed_state(&racer->rnd, crew->seed * CREW_THREADS + crew->nr);
	init_completion(&racer->done);
	racer->task = kthread_create(run, racer, "racer-%u", crew->nr);
	KUNIT_ASSERT_FALSE(crew->test, IS_ERR(racer->task));
	get_task_struct(racer->task);
	if (crew->seed % 2 == 0)
		kthread_bind(racer->task, cpumask_nth(crew->nr % num_online_cpus(),
						      cpu_online_mask));
	crew->nr++;
	wake_up_process(racer->task);
}

void crew_join(struct crew *crew)
{
	unsigned int i;

	for (i = 0; i < crew->nr; i++) {
		struct racer *racer = &crew->racers[i];

		if (!wait_for_completion_timeout(&racer->done, CREW_SECONDS * HZ)) {
			KUNIT_FAIL(crew->test, "racer %u does not end", i);
			/* It uses what the case is about to free. */
			sched_show_task(racer->task);
			wait_for_completion(&racer->done);
		}
		/* Its last instruction is outside of this module. */
		kthread_stop_put(racer->task);
	}
	crew->nr = 0;
}

u32 crew_pick(struct racer *racer, u32 n)
{
	return prandom_u32_state(&racer->rnd) % n;
}

bool crew_once(struct racer *racer, u32 n)
{
	return !crew_pick(racer, n);
}

void crew_pause(struct racer *racer)
{
	unsigned int us = crew_pick(racer, 300);

	switch (crew_pick(racer, 4)) {
	case 0:
		cond_resched();
		break;
	case 1:
		udelay(us / 10);
		break;
	default:
		usleep_range(us + 1, us + 2);
		break;
	}
}

const void *crew_next_seed(const void *prev, char *desc)
{
	unsigned long seed = (unsigned long)prev + 1;

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed %lu", seed);
	return seed > seeds ? NULL : (void *)seed;
}
