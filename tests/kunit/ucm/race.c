// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads of the process. */
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include "ucm_test.h"

static int racer_fn(void *arg)
{
	struct racer *r = arg;
	const struct cred *old = override_creds(r->cred);

	allow_signal(SIGKILL);
	kthread_use_mm(r->mm);
	r->ret = r->fn(r);
	kthread_unuse_mm(r->mm);
	revert_creds(old);
	WRITE_ONCE(r->done, true);
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

void race_start(struct kunit *test, struct racer *r, const struct chan *chan,
		int (*fn)(struct racer *r), u32 id, u32 mc)
{
	memset(r, 0, sizeof(*r));
	chan_clone(test, &r->chan, chan);
	r->mm = current->mm;
	r->cred = current_cred();
	r->fn = fn;
	r->id = id;
	r->mc = mc;
	r->task = kthread_run(racer_fn, r, "racer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(r->task));
}

int race_join(struct kunit *test, struct racer *r)
{
	bool done = wait_within(READ_ONCE(r->done), 60000);

	KUNIT_EXPECT_TRUE(test, done);
	if (!done)
		send_sig(SIGKILL, r->task, 1);
	kthread_stop(r->task);
	vm_munmap(r->chan.mem, PAGE_SIZE);
	return r->ret;
}
