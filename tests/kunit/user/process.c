// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The user process that a test case stands for. */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include "uverbs_test.h"

unsigned long user_mmap(struct kunit *test, struct file *file, unsigned int npages,
			unsigned long prot, unsigned long flags)
{
	bool had_mm = current->mm;
	unsigned long addr;

	addr = kunit_vm_mmap(test, file, 0, npages * PAGE_SIZE, prot, flags, 0);
	/* KUnit takes a reference on the mm that it creates, and never drops it. */
	if (!had_mm && current->mm)
		mmdrop(current->mm);
	KUNIT_ASSERT_NE(test, addr, 0ul);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	return addr;
}

unsigned long user_pages(struct kunit *test, unsigned int npages, unsigned long prot)
{
	return user_mmap(test, NULL, npages, prot, MAP_ANONYMOUS | MAP_PRIVATE);
}

void user_fill(struct kunit *test, unsigned long addr, unsigned int npages, u8 seed)
{
	unsigned int i;

	for (i = 0; i < npages; i++)
		user_write(test, addr + i * PAGE_SIZE, seed + i);
}

u8 user_read(struct kunit *test, unsigned long addr)
{
	u8 value = 0;

	KUNIT_ASSERT_EQ(test, copy_from_user(&value, (void __user *)addr, 1), 0ul);
	return value;
}

void user_write(struct kunit *test, unsigned long addr, u8 value)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)addr, &value, 1), 0ul);
}

long user_pinned(void)
{
	return atomic64_read(&current->mm->pinned_vm);
}

const struct cred *user_drop_ipc_lock(struct kunit *test)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_IPC_LOCK);
	return override_creds(cred);
}

void user_restore(const struct cred *old)
{
	const struct cred *cred = current_cred();

	revert_creds(old);
	put_cred(cred);
}

static int user_thread_fn(void *arg)
{
	struct user_thread *thread = arg;

	thread->fn(thread->test, thread->arg);
	thread->done = true;
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

int user_thread_start(struct user_thread *thread)
{
	thread->done = false;
	thread->task = kthread_run(user_thread_fn, thread, "user_thread");
	return PTR_ERR_OR_ZERO(thread->task);
}

static bool user_thread_done(void *arg)
{
	struct user_thread *thread = arg;

	return READ_ONCE(thread->done);
}

void user_thread_join(struct user_thread *thread)
{
	KUNIT_EXPECT_TRUE(thread->test, user_wait(user_thread_done, thread));
	kthread_stop(thread->task);
}

bool user_wait(bool (*cond)(void *arg), void *arg)
{
	int i;

	for (i = 0; i < 60 * 1000; i++) {
		if (cond(arg))
			return true;
		msleep(1);
	}
	return false;
}
