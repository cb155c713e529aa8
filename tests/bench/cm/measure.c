// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures what connections cost, with a given number of others alive.
 *
 * Connections 0 to alive - 1 stay; each task uses a batch of those after BENCH_ALIVE.
 * For costs, the writer of debugfs and all workers must be on one CPU (the scenario sees
 * to it), so that the time of a step is all of the work that it causes, in any context.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "bench.h"
#include "marks.h"

static unsigned int alive;
static int marked = -1;		/* a step, or none */

/* Has an emulator's plugin count what is executed in step @name, and nothing else. */
int bench_mark(const char *name)
{
	marked = match_string(bench_step_names, NR_STEPS, name);
	return min(marked, 0);
}

static int step_marked(enum bench_step step, unsigned int first, unsigned int count)
{
	int ret;

	if (step != marked)
		return bench_step(step, first, count);
	mark_part_begin();
	ret = bench_step(step, first, count);
	mark_part_end();
	return ret;
}

/* Takes a batch from step @from to step @to; adds the ns of each step to @ns. */
static int steps(enum bench_step from, enum bench_step to, unsigned int first,
		 unsigned int count, u64 *ns)
{
	unsigned int step;
	int ret = 0;

	for (step = from; step <= to && !ret; step++) {
		u64 start = ktime_get_ns();

		ret = step_marked(step, first, count);
		ns[step] += ktime_get_ns() - start;
	}
	if (ret) {
		pr_err("%s: %d\n", bench_step_names[step - 1], ret);
		bench_discard(first, count);
	}
	return ret;
}

/* Result: how many connections are alive, also if they are fewer than @n. */
int bench_fill(unsigned int n, struct bench_result *result)
{
	u64 ns[NR_STEPS] = {};
	int ret = 0;

	if (n > BENCH_ALIVE)
		return -EINVAL;
	while (alive < n && !ret) {
		unsigned int count = min(n - alive, BENCH_BATCH);

		ret = steps(STEP_CREATE, STEP_CONNECT, alive, count, ns);
		if (!ret)
			alive += count;
	}
	result->what = "alive";
	result->median = alive;
	while (alive > n && !ret) {
		unsigned int count = min(alive - n, BENCH_BATCH);

		alive -= count;
		ret = steps(STEP_DISCONNECT, STEP_DESTROY, alive, count, ns);
	}
	return ret;
}

/* Results: ns a connection of each step, and their sum, in batches of @k. */
int bench_cost(unsigned int k, unsigned int reps, struct bench_result *results)
{
	u64 *sample, *sums;
	unsigned int i, step;
	int ret = 0;

	if (!k || k > BENCH_BATCH || !reps || reps > BENCH_REPS)
		return -EINVAL;
	sample = kvcalloc(reps * (NR_STEPS + 1), sizeof(*sample), GFP_KERNEL);
	if (!sample)
		return -ENOMEM;
	sums = sample + reps * NR_STEPS;
	/* The first tenth is to warm up. */
	for (i = 0; i < reps + reps / 10 + 1 && !ret; i++) {
		u64 ns[NR_STEPS] = {};

		ret = steps(STEP_CREATE, STEP_DESTROY, BENCH_ALIVE, k, ns);
		sums[i % reps] = 0;
		for (step = 0; step < NR_STEPS; step++) {
			sample[step * reps + i % reps] = div_u64(ns[step], k);
			sums[i % reps] += div_u64(ns[step], k);
		}
	}
	for (step = 0; step <= NR_STEPS && !ret; step++) {
		bench_summary(sample + step * reps, reps, &results[step]);
		results[step].what = step < NR_STEPS ? bench_step_names[step] : "all";
	}
	kvfree(sample);
	return ret;
}

/* ---- connections a second ---- */

struct task {
	struct work_struct work;
	unsigned int first;		/* of its connections */
	unsigned int batches;
	int ret;
};

static void task_work(struct work_struct *work)
{
	struct task *task = container_of(work, struct task, work);
	u64 ns[NR_STEPS] = {};

	while (task->batches-- && !task->ret)
		task->ret = steps(STEP_CREATE, STEP_DESTROY, task->first, BENCH_BATCH, ns);
}

static int rate_once(struct workqueue_struct *wq, unsigned int tasks, unsigned int count,
		     u64 *per_second)
{
	unsigned int i, batches = DIV_ROUND_UP(count, tasks * BENCH_BATCH);
	struct task *task;
	int ret = 0;
	u64 start;

	task = kcalloc(tasks, sizeof(*task), GFP_KERNEL);
	if (!task)
		return -ENOMEM;
	start = ktime_get_ns();
	for (i = 0; i < tasks; i++) {
		INIT_WORK(&task[i].work, task_work);
		task[i].first = BENCH_ALIVE + i * BENCH_BATCH;
		task[i].batches = batches;
		queue_work(wq, &task[i].work);
	}
	for (i = 0; i < tasks; i++) {
		flush_work(&task[i].work);
		ret = ret ?: task[i].ret;
	}
	*per_second = div64_u64((u64)tasks * batches * BENCH_BATCH * NSEC_PER_SEC,
				ktime_get_ns() - start);
	kfree(task);
	return ret;
}

/* Result: connections a second, made and ended by @tasks tasks, a batch at a time each. */
int bench_rate(unsigned int tasks, unsigned int count, unsigned int reps,
	       struct bench_result *result)
{
	struct workqueue_struct *wq;
	unsigned int i;
	u64 *sample;
	int ret;

	if (!tasks || tasks > BENCH_TASKS || !count || !reps || reps > BENCH_REPS)
		return -EINVAL;
	wq = alloc_workqueue("ibex_bench_cm", WQ_UNBOUND, 0);
	sample = kcalloc(reps, sizeof(*sample), GFP_KERNEL);
	ret = wq && sample ? rate_once(wq, tasks, count, sample) : -ENOMEM;
	for (i = 0; i < reps && !ret; i++)
		ret = rate_once(wq, tasks, count, &sample[i]);
	if (!ret)
		bench_summary(sample, reps, result);
	result->what = "rate";
	kfree(sample);
	if (wq)
		destroy_workqueue(wq);
	return ret;
}

/* Result: ns from the removal's begin until the device is gone. */
int bench_removal(struct bench_result *result)
{
	u64 start = ktime_get_ns();
	int ret = bench_unplug();

	result->what = "removal";
	result->median = ktime_get_ns() - start;
	result->low = result->median;
	result->high = result->median;
	alive = 0;
	return ret;
}
