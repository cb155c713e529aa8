// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Requests that wait for a response.  One thread at a time posts, draws and waits; the
 * handlers of the MAD layer count completions and responses.
 *
 * context[0] of each request is not NULL; context[1] is NULL while the request is not
 * outstanding.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include "bench.h"

static struct ib_mad_send_buf **standing;	/* the first nr are outstanding */
static unsigned int nr;
static struct rnd_state rnd;
static bool closing;			/* completed requests are freed */

static struct {
	unsigned int k;
	enum ib_wc_status status;
	bool answered;
	atomic_t sent;		/* completions of any status */
	atomic_t received;	/* responses */
	atomic_t bad;		/* completions of another status */
	struct completion done;	/* all k have been completed */
} expected;

void standing_sent(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	if (READ_ONCE(closing)) {
		ib_free_send_mad(buf);
		return;
	}
	WRITE_ONCE(buf->context[1], NULL);
	if (status != expected.status)
		atomic_inc(&expected.bad);
	if (atomic_inc_return(&expected.sent) == expected.k)
		complete(&expected.done);
}

void standing_received(struct ib_mad_send_buf *buf)
{
	atomic_inc(&expected.received);
}

void standing_expect(unsigned int k, enum ib_wc_status status, bool answered)
{
	expected.k = k;
	expected.status = status;
	expected.answered = answered;
	atomic_set(&expected.sent, 0);
	atomic_set(&expected.received, 0);
	atomic_set(&expected.bad, 0);
	reinit_completion(&expected.done);
}

bool standing_none_came(void)
{
	return !atomic_read(&expected.sent);
}

/* Waits until the handlers have been called and the MAD layer has armed the CQs again. */
int standing_wait(void)
{
	unsigned int answers = expected.answered ? expected.k : 0;
	unsigned long left;

	left = wait_for_completion_timeout(&expected.done, BENCH_PATIENCE);
	if (!left || atomic_read(&expected.bad) ||
	    atomic_read(&expected.received) != answers) {
		pr_err("of %u requests %d completed, %d of them wrongly, with %d responses\n",
		       expected.k, atomic_read(&expected.sent),
		       atomic_read(&expected.bad), atomic_read(&expected.received));
		return left ? -EIO : -ETIMEDOUT;
	}
	return instant_quiesce();
}

unsigned int standing_count(void)
{
	return nr;
}

void standing_draw(unsigned int k)
{
	unsigned int i, j;

	for (i = 0; i < k; i++) {
		j = i + prandom_u32_state(&rnd) % (nr - i);
		swap(standing[i], standing[j]);
	}
}

struct ib_mad_send_buf *standing_drawn(unsigned int i)
{
	return standing[i];
}

static int post_one(struct ib_mad_send_buf *buf)
{
	int ret;

	buf->context[1] = buf;
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		buf->context[1] = NULL;
	return ret;
}

int standing_post(unsigned int k)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < k && !ret; i++)
		ret = post_one(standing[i]);
	return ret;
}

static int place_new(unsigned int i, int timeout_ms)
{
	struct ib_mad_send_buf *buf;

	buf = bench_request(IB_MGMT_METHOD_GET, timeout_ms);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	buf->context[0] = &standing[i];
	if (standing[i])
		ib_free_send_mad(standing[i]);
	standing[i] = buf;
	return 0;
}

int standing_renew(unsigned int k, int timeout_ms)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < k && !ret; i++)
		ret = place_new(i, timeout_ms);
	return ret;
}

static int place_and_post(unsigned int i)
{
	int ret;

	ret = place_new(i, BENCH_LONG_MS);
	if (!ret)
		ret = post_one(standing[i]);
	/* Never post more than the send queue holds. */
	if (!ret && i % BENCH_BATCH == BENCH_BATCH - 1)
		ret = instant_quiesce();
	return ret;
}

int standing_fill(unsigned int n)
{
	int ret = 0;

	while (nr < n && !ret) {
		ret = place_and_post(nr);
		if (!ret)
			nr++;
	}
	return ret ?: instant_quiesce();
}

/*
 * The agent is about to be unregistered, which completes the outstanding requests and
 * waits until all buffers are freed.  Free those that are not outstanding.
 */
void standing_close(void)
{
	unsigned int i;

	for (i = 0; i < BENCH_STANDING && standing[i]; i++)
		if (!READ_ONCE(standing[i]->context[1]))
			ib_free_send_mad(standing[i]);
	WRITE_ONCE(closing, true);
}

void standing_closed(void)
{
	memset(standing, 0, BENCH_STANDING * sizeof(*standing));
	nr = 0;
	closing = false;
}

int standing_init(void)
{
	standing = kvcalloc(BENCH_STANDING, sizeof(*standing), GFP_KERNEL);
	if (!standing)
		return -ENOMEM;
	prandom_seed_state(&rnd, 1);
	init_completion(&expected.done);
	return 0;
}

void standing_exit(void)
{
	kvfree(standing);
}
