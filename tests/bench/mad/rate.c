// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures how many requests are answered, or how many MADs that need no response
 * arrive, per second, with a given number in flight.  When one ends, the handler that
 * saw it posts the next.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include "bench.h"

#define RATE_TIMEOUT_MS	20000

static struct {
	bool answered;
	int count;
	atomic_t posted;
	atomic_t ended;
	atomic_t bad;
	struct completion done;
} rate;

static void rate_ended(void)
{
	if (atomic_inc_return(&rate.ended) == rate.count)
		complete(&rate.done);
}

static int rate_post_one(void)
{
	struct ib_mad_send_buf *buf;
	int ret;

	buf = rate.answered ? bench_request(IB_MGMT_METHOD_GET, RATE_TIMEOUT_MS) :
			      bench_request(IB_MGMT_METHOD_SEND, 0);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		ib_free_send_mad(buf);
	return ret;
}

static void rate_post(void)
{
	if (atomic_inc_return(&rate.posted) <= rate.count && rate_post_one()) {
		atomic_inc(&rate.bad);
		rate_ended();
	}
}

void rate_sent(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	ib_free_send_mad(buf);
	if (status != IB_WC_SUCCESS)
		atomic_inc(&rate.bad);
	if (rate.answered) {
		rate_post();
		rate_ended();
	}
}

void rate_answered(struct ib_mad_send_buf *buf)
{
	ib_free_send_mad(buf);
}

static void rate_answer(const void *request)
{
	struct ib_mad_send_buf *buf = bench_response(request);

	if (IS_ERR(buf)) {
		atomic_inc(&rate.bad);
	} else if (ib_post_send_mad(buf, NULL)) {
		atomic_inc(&rate.bad);
		ib_free_send_mad(buf);
	}
}

void rate_request(struct ib_mad_recv_wc *wc)
{
	bool answer = wc->recv_buf.mad->mad_hdr.method == IB_MGMT_METHOD_GET;

	if (answer)
		rate_answer(wc->recv_buf.mad);
	ib_free_recv_mad(wc);
	if (!answer) {
		rate_post();
		rate_ended();
	}
}

static int rate_once(unsigned int window, u64 *per_second)
{
	u64 start;

	atomic_set(&rate.posted, 0);
	atomic_set(&rate.ended, 0);
	atomic_set(&rate.bad, 0);
	reinit_completion(&rate.done);
	start = ktime_get_ns();
	while (window--)
		rate_post();
	if (!wait_for_completion_timeout(&rate.done, BENCH_PATIENCE))
		return -ETIMEDOUT;
	*per_second = div64_u64(rate.count * NSEC_PER_SEC, ktime_get_ns() - start);
	return atomic_read(&rate.bad) ? -EIO : 0;
}

/*
 * Result: "roundtrip" or "oneway" operations a second, of @count with @window in
 * flight.
 */
int rate_run(const char *what, unsigned int window, unsigned int count,
	     unsigned int reps, struct bench_result *result)
{
	unsigned int i;
	u64 *sample;
	int ret;

	rate.answered = !strcmp(what, "roundtrip");
	if ((!rate.answered && strcmp(what, "oneway")) || !window || !count ||
	    count > INT_MAX || window > BENCH_BATCH || !reps || reps > BENCH_REPS)
		return -EINVAL;
	sample = kcalloc(reps, sizeof(*sample), GFP_KERNEL);
	if (!sample)
		return -ENOMEM;
	rate.count = count;
	init_completion(&rate.done);
	ret = rate_once(window, sample);	/* to warm up */
	for (i = 0; i < reps && !ret; i++)
		ret = rate_once(window, &sample[i]);
	if (!ret)
		bench_summary(sample, reps, result);
	result->what = rate.answered ? "roundtrip" : "oneway";
	kfree(sample);
	return ret;
}
