// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An adapter that raises COMM_EST, in each context that drivers do it in. */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include "cma/cma_test.h"

bool cma_raised;

static struct timer_list soft;
static struct hrtimer hard;
static struct ib_qp *raise_on;

static void soft_raise(struct timer_list *timer)
{
	fake_hca_qp_event(raise_on, IB_EVENT_COMM_EST);
	WRITE_ONCE(cma_raised, in_serving_softirq());
}

static enum hrtimer_restart hard_raise(struct hrtimer *timer)
{
	fake_hca_qp_event(raise_on, IB_EVENT_COMM_EST);
	WRITE_ONCE(cma_raised, in_hardirq());
	return HRTIMER_NORESTART;
}

void cma_raise_in(struct ib_qp *qp, enum cma_raise from, unsigned int ms)
{
	raise_on = qp;
	cma_raised = false;
	timer_setup(&soft, soft_raise, 0);
	hrtimer_init(&hard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hard.function = hard_raise;
	switch (from) {
	case FROM_SOFTIRQ:
		mod_timer(&soft, jiffies + msecs_to_jiffies(ms));
		break;
	case FROM_HARDIRQ:
		hrtimer_start(&hard, ms_to_ktime(ms), HRTIMER_MODE_REL_HARD);
		break;
	default:
		fake_hca_qp_event(qp, IB_EVENT_COMM_EST);
		cma_raised = in_task();
		break;
	}
}

void cma_raise_end(void)
{
	if (!raise_on)
		return;
	timer_delete_sync(&soft);
	hrtimer_cancel(&hard);
	raise_on = NULL;
}

void cma_raise_now(struct kunit *test, struct ib_qp *qp, enum cma_raise from)
{
	cma_raise_in(qp, from, 1);
	msleep(20);
	KUNIT_EXPECT_TRUE_MSG(test, cma_raised, "context %d", from);
	cma_raise_end();
}
