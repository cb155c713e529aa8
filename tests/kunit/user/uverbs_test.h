/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UVERBS_TEST_H
#define IBEX_UVERBS_TEST_H

/*
 * The thread of a case stands for a user process: its first mapping gives it
 * an address space, which ends with the thread.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include "fake_hca.h"
#include "call/call.h"
#include "objects/objects.h"
#include "queues/queues.h"
#include "uverbs/uverbs.h"

#define TEST_RW (PROT_READ | PROT_WRITE)

/* Maps @file, or anonymous memory if it is NULL; asserts that this works. */
unsigned long user_mmap(struct kunit *test, struct file *file, unsigned int npages,
			unsigned long prot, unsigned long flags);
/* Private memory of the process, not touched yet. */
unsigned long user_pages(struct kunit *test, unsigned int npages, unsigned long prot);
/* The first byte of each page is @seed, @seed + 1, ... */
void user_fill(struct kunit *test, unsigned long addr, unsigned int npages, u8 seed);
u8 user_read(struct kunit *test, unsigned long addr);
void user_write(struct kunit *test, unsigned long addr, u8 value);
long user_pinned(void);

/* Drops CAP_IPC_LOCK; user_restore() restores it. */
const struct cred *user_drop_ipc_lock(struct kunit *test);
void user_restore(const struct cred *cred);

/* Calls @fn in another thread, whose address space ends with it. */
struct user_thread {
	void (*fn)(struct kunit *test, void *arg);
	struct kunit *test;
	void *arg;
	struct task_struct *task;
	bool done;
};

int user_thread_start(struct user_thread *thread);
void user_thread_join(struct user_thread *thread);
/* Waits for a minute of virtual time at most. */
bool user_wait(bool (*cond)(void *arg), void *arg);

#endif
