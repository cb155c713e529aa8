// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures what an operation costs with a given number of requests outstanding.  The
 * writer of debugfs and all workers must be on one CPU (the scenario sees to it), so
 * that the time of a batch is all of the work that it causes, in any context.  A batch
 * ends when the client's last handler has been called and the CQs are armed again.
 *
 * Restoring the number of outstanding requests is not part of the time.
 */
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include "bench.h"

struct cost {
	const char *name;
	int (*prepare)(unsigned int k);
	int (*act)(unsigned int k, u64 *ns);
	bool renews;			/* new requests are posted at the end */
};

static u8 (*answers)[IB_MGMT_MAD_SIZE];

static int cancel_drawn(unsigned int k)
{
	unsigned int i;

	standing_expect(k, IB_WC_WR_FLUSH_ERR, false);
	for (i = 0; i < k; i++)
		ib_cancel_mad(standing_drawn(i));
	return standing_wait();
}

/* ---- match: responses arrive, until both handlers have run for each ---- */

static int match_prepare(unsigned int k)
{
	unsigned int i;

	for (i = 0; i < k; i++)
		bench_answer(answers[i], standing_drawn(i)->mad);
	standing_expect(k, IB_WC_SUCCESS, true);
	return 0;
}

static int match_act(unsigned int k, u64 *ns)
{
	u64 start = ktime_get_ns();
	unsigned int i;
	int ret = 0;

	for (i = 0; i < k && !ret; i++)
		ret = instant_inject(answers[i]);
	if (!ret)
		ret = standing_wait();
	*ns = ktime_get_ns() - start;
	return ret;
}

/* ---- cancel: ib_cancel_mad(), until each has been completed ---- */

static int cancel_act(unsigned int k, u64 *ns)
{
	u64 start = ktime_get_ns();
	int ret = cancel_drawn(k);

	*ns = ktime_get_ns() - start;
	return ret;
}

/* ---- modify: the calls alone ---- */

static int modify_act(unsigned int k, u64 *ns)
{
	u64 start = ktime_get_ns();
	unsigned int i;
	int ret = 0;

	for (i = 0; i < k && !ret; i++)
		ret = ib_modify_mad(standing_drawn(i), BENCH_LONG_MS);
	*ns = ktime_get_ns() - start;
	return ret;
}

/* ---- post: until the sends have completed and the response is awaited ---- */

static int post_prepare(unsigned int k)
{
	int ret = cancel_drawn(k);

	return ret ?: standing_renew(k, BENCH_LONG_MS);
}

static int post_act(unsigned int k, u64 *ns)
{
	u64 start = ktime_get_ns();
	int ret = standing_post(k);

	if (!ret)
		ret = instant_quiesce();
	*ns = ktime_get_ns() - start;
	return ret;
}

/*
 * ---- timeout: softirqs are off until all timers of the batch are due, then on again;
 * until each request has been completed ----
 */

static unsigned long armed_from;	/* jiffies: before any timer was armed */

static unsigned int timeout_ms(unsigned int k)
{
	return 8 + k / 2;
}

static int timeout_prepare(unsigned int k)
{
	int ret = cancel_drawn(k);

	if (!ret)
		ret = standing_renew(k, timeout_ms(k));
	if (!ret) {
		standing_expect(k, IB_WC_RESP_TIMEOUT_ERR, false);
		armed_from = jiffies;
		ret = standing_post(k);
	}
	return ret ?: instant_quiesce();
}

/* Not cpu_relax(): an emulator pauses the CPU for it. */
static void spin_until(unsigned long when)
{
	while (time_before(jiffies, when))
		barrier();
}

static int timeout_act(unsigned int k, u64 *ns)
{
	unsigned long wait = msecs_to_jiffies(timeout_ms(k));
	unsigned long armed_to = jiffies;
	bool early;
	u64 start;
	int ret;

	/* Disable softirqs late, so that little of their other work piles up. */
	spin_until(armed_from + wait - 1);
	local_bh_disable();
	early = !standing_none_came();
	spin_until(armed_to + wait + 2);
	start = ktime_get_ns();
	local_bh_enable();
	ret = standing_wait();
	*ns = ktime_get_ns() - start;
	if (!ret && early)
		ret = -EAGAIN;
	return ret;
}

static const struct cost costs[] = {
	{ "match",   match_prepare,   match_act,   true },
	{ "cancel",  NULL,	      cancel_act,  true },
	{ "timeout", timeout_prepare, timeout_act, true },
	{ "modify",  NULL,	      modify_act,  false },
	{ "post",    post_prepare,    post_act,	   false },
};

/*
 * Measures one batch; returns -EAGAIN if a request timed out too early for the time to
 * count.
 */
static int cost_batch(const struct cost *cost, unsigned int k, u64 *ns)
{
	int ret = 0, end = 0;

	standing_draw(k);
	if (cost->prepare)
		ret = cost->prepare(k);
	if (!ret)
		ret = cost->act(k, ns);
	if (ret && ret != -EAGAIN)
		return ret;
	if (cost->renews) {
		end = standing_renew(k, BENCH_LONG_MS);
		if (!end)
			end = standing_post(k);
		if (!end)
			end = instant_quiesce();
	}
	return end ?: ret;
}

static int cost_sample(const struct cost *cost, unsigned int k, unsigned int reps,
		       u64 *sample)
{
	unsigned int n = 0, tries = 0;
	int ret;

	while (n < reps) {
		u64 ns;

		ret = cost_batch(cost, k, &ns);
		if (ret == -EAGAIN && ++tries < 10 * reps)
			continue;
		if (ret)
			return ret;
		sample[n++] = div_u64(ns, k);
	}
	return 0;
}

static const struct cost *cost_find(const char *what)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(costs); i++)
		if (!strcmp(what, costs[i].name))
			return &costs[i];
	return NULL;
}

/* Result: ns per operation, in batches of @k. */
int cost_run(const char *what, unsigned int k, unsigned int reps,
	     struct bench_result *result)
{
	const struct cost *cost = cost_find(what);
	unsigned int warm = max(1U, reps / 10);
	u64 *sample;
	int ret = -ENOMEM;

	if (!cost || !k || k > BENCH_BATCH || k > standing_count() || !reps ||
	    reps > BENCH_REPS)
		return -EINVAL;
	sample = kvcalloc(reps, sizeof(*sample), GFP_KERNEL);
	answers = kvcalloc(k, sizeof(*answers), GFP_KERNEL);
	if (sample && answers)
		ret = cost_sample(cost, k, warm, sample);
	if (!ret)
		ret = cost_sample(cost, k, reps, sample);
	if (!ret)
		bench_summary(sample, reps, result);
	result->what = cost->name;
	kvfree(answers);
	kvfree(sample);
	return ret;
}
