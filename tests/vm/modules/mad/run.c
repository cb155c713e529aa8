// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The commands of scenarios: a number of requests, a standing load, a churn. */
#include <linux/delay.h>
#include <linux/random.h>
#include "mad.h"

static struct requester *run_begin(const struct order *order, s64 count,
				   bool standing)
{
	struct port *port = port_find(order->device);
	struct requester *rq;

	if (!port)
		return ERR_PTR(-ENODEV);
	rq = requester_new(port, &order->peer, order->window, count, standing);
	port_put(port);
	if (!IS_ERR(rq))
		requester_begin(rq);
	else if (PTR_ERR(rq) != -ENODEV)
		mad_count(MAD_SETUP_ERROR);
	return rq;
}

/* Returns when each request has completed, or after wait_s. */
int run_count(const struct order *order)
{
	struct requester *rq = run_begin(order, order->count, false);

	if (IS_ERR(rq))
		return PTR_ERR(rq);
	if (!wait_for_completion_timeout(&rq->idle, (unsigned long)mad_wait_s * HZ))
		mad_count(MAD_HUNG);
	requester_stop(rq);
	requester_put(rq);
	return 0;
}

/* Runs until it is dropped or the device is removed. */
int run_standing(const struct order *order)
{
	struct requester *rq = run_begin(order, S64_MAX, true);

	if (IS_ERR(rq))
		return PTR_ERR(rq);
	requester_put(rq);
	return 0;
}

/*
 * Makes count agents, one after the other; each is unregistered while its requests are
 * outstanding, at a random moment within linger_us.
 */
int run_churn(const struct order *order)
{
	unsigned int i;

	for (i = 0; i < order->count; i++) {
		u32 linger = READ_ONCE(mad_linger_us);
		struct requester *rq = run_begin(order, S64_MAX, false);

		if (IS_ERR(rq))
			return PTR_ERR(rq);
		linger = linger ? get_random_u32_below(linger) : 0;
		if (linger)
			usleep_range(linger, linger + 10);
		requester_stop(rq);
		requester_put(rq);
	}
	return 0;
}
