// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A provider that reports events in each context in which drivers do. */
#include <linux/interrupt.h>
#include "iwcm_test.h"

const char * const iw_context_names[IW_CONTEXTS] = {
	[IW_PROCESS] = "process", [IW_SOFTIRQ] = "softirq", [IW_HARDIRQ] = "hardirq",
};

static void do_report(struct iw_reporter *reporter, bool in_context)
{
	WRITE_ONCE(reporter->ret, iw_report(reporter->cm_id, reporter->type,
					    reporter->status, reporter->data));
	WRITE_ONCE(reporter->in_context, in_context);
	complete(&reporter->done);
}

static void soft_report(struct timer_list *timer)
{
	struct iw_reporter *reporter = from_timer(reporter, timer, soft);

	do_report(reporter, in_serving_softirq());
}

static enum hrtimer_restart hard_report(struct hrtimer *timer)
{
	do_report(container_of(timer, struct iw_reporter, hard), in_hardirq());
	return HRTIMER_NORESTART;
}

void iw_reporter_init(struct iw_reporter *reporter)
{
	timer_setup(&reporter->soft, soft_report, 0);
	hrtimer_init(&reporter->hard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	reporter->hard.function = hard_report;
	init_completion(&reporter->done);
}

void iw_reporter_start(struct iw_reporter *reporter, enum iw_context from,
		       unsigned int us)
{
	reinit_completion(&reporter->done);
	switch (from) {
	case IW_SOFTIRQ:
		mod_timer(&reporter->soft, jiffies + usecs_to_jiffies(us));
		break;
	case IW_HARDIRQ:
		hrtimer_start(&reporter->hard, ns_to_ktime((u64)us * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_HARD);
		break;
	default:
		do_report(reporter, in_task());
		break;
	}
}

void iw_reporter_stop(struct iw_reporter *reporter)
{
	timer_delete_sync(&reporter->soft);
	hrtimer_cancel(&reporter->hard);
}

int iw_report_in(struct kunit *test, enum iw_context from, struct iw_cm_id *cm_id,
		 enum iw_cm_event_type type, int status)
{
	struct iw_reporter *reporter = kunit_kzalloc(test, sizeof(*reporter), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, reporter);
	iw_reporter_init(reporter);
	reporter->cm_id = cm_id;
	reporter->type = type;
	reporter->status = status;
	iw_reporter_start(reporter, from, 1);
	wait_for_completion(&reporter->done);
	iw_reporter_stop(reporter);
	KUNIT_EXPECT_TRUE_MSG(test, reporter->in_context, "%s", iw_context_names[from]);
	ret = reporter->ret;
	kunit_kfree(test, reporter);
	return ret;
}
