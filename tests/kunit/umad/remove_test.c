// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The device is removed while files are open. */
#include <linux/poll.h>
#include "umad_test.h"

/*
 * Removes b's adapter; its port's memory and the file stay.  Returns the time it took,
 * in ms.
 */
static unsigned int remove_b(void)
{
	unsigned long start = jiffies;

	fake_hca_destroy(ends.b.hca);
	ends.b.hca = NULL;
	return took_ms(jiffies - start);
}

static void an_open_file_gets_errors(struct kunit *test)
{
	struct file *filp = ends.b.filp;
	struct umad_end late = ends.b;

	fixture_request(ends.idb, &ends.a, IB_MGMT_METHOD_GET, 1, 0);
	remove_b();
	KUNIT_EXPECT_EQ(test, vfs_poll(filp, NULL), EPOLLERR);
	KUNIT_EXPECT_EQ(test, fixture_write(&ends.b, IB_MGMT_MAD_SIZE), -EIO);
	KUNIT_EXPECT_EQ(test, fixture_read(&ends.b, IB_MGMT_MAD_SIZE), -EIO);
	KUNIT_EXPECT_EQ(test, fixture_register(&ends.b, TEST_CLASS, 0, 0, 0), -EPIPE);
	KUNIT_EXPECT_EQ(test, fixture_register_old(&ends.b, TEST_CLASS, 0, 0), -EPIPE);
	KUNIT_EXPECT_EQ(test, fixture_unregister(&ends.b, ends.idb), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_open(&late, 0), -ENOENT);
}

static long read_one(struct fixture_waiter *waiter)
{
	unsigned long at = fixture_mmap(waiter->test, NULL, PAGE_SIZE, PROT_READ | PROT_WRITE);

	return waiter->filp->f_op->read(waiter->filp, (void __user *)at, 320,
					&waiter->filp->f_pos);
}

static void sleeping_readers_are_woken(struct kunit *test)
{
	struct fixture_waiter waiters[3] = {};
	struct umad_end slow = ends.b;
	int i;

	KUNIT_ASSERT_EQ(test, fixture_open(&slow, 0), 0);
	for (i = 0; i < ARRAY_SIZE(waiters); i++) {
		waiters[i].fn = read_one;
		waiters[i].filp = slow.filp;
		fixture_waiter_start(test, &waiters[i]);
	}
	remove_b();
	for (i = 0; i < ARRAY_SIZE(waiters); i++) {
		KUNIT_ASSERT_TRUE(test, fixture_waiter_join(&waiters[i]));
		KUNIT_EXPECT_EQ(test, waiters[i].result, -EIO);
	}
	fixture_close(&slow);
}

static void outstanding_sends_end(struct kunit *test)
{
	int i;

	for (i = 0; i < 200; i++) {
		fixture_request(ends.idb, &ends.a, IB_MGMT_METHOD_SEND, i, 600 * 1000);
		KUNIT_ASSERT_EQ(test, fixture_write(&ends.b, IB_MGMT_MAD_SIZE), 320);
	}
	KUNIT_EXPECT_EQ(test, fixture_sends(&ends.b), 200);
	KUNIT_EXPECT_LE(test, remove_b(), 1000u);
	KUNIT_EXPECT_TRUE(test, list_empty(&ends.b.file->packets));
}

static void what_was_not_read_is_freed(struct kunit *test)
{
	int i;

	for (i = 1; i < 30; i++) {
		fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, i, 0);
		KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	}
	fixture_quiesce();
	KUNIT_EXPECT_EQ(test, list_count_nodes(&ends.b.file->packets), 29u);
	remove_b();
	KUNIT_EXPECT_TRUE(test, list_empty(&ends.b.file->packets));
	KUNIT_EXPECT_EQ(test, ends.b.file->packet_bytes, 0ul);
}

/* The provider loses completions: the MAD layer takes 5 s to get over that. */
static void lost_completions_do_not_hold_it_up(struct kunit *test)
{
	ends.b.hca->hold_send_completions = true;
	fixture_request(ends.idb, &ends.a, IB_MGMT_METHOD_SEND, 1, 1000);
	KUNIT_ASSERT_EQ(test, fixture_write(&ends.b, IB_MGMT_MAD_SIZE), 320);
	KUNIT_EXPECT_LE(test, remove_b(), 20 * 1000u);
}

static void remove_b_from_memory(void *arg)
{
	remove_b();
}

/*
 * The device is removed while a read accesses the process's memory: the removal does
 * not wait for the read.
 */
static void a_read_at_work_does_not_hold_it_up(struct kunit *test)
{
	struct fixture_page page = { .fn = remove_b_from_memory };
	struct file *filp = ends.b.filp;

	fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 1, 0);
	KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	fixture_page_map(test, &page, PROT_READ | PROT_WRITE);
	/* The MAD left the queue before the removal, and is read to its end. */
	KUNIT_EXPECT_EQ(test, filp->f_op->read(filp, (void __user *)
					       (page.addr + PAGE_SIZE - 100), 320,
					       &filp->f_pos), 320);
	KUNIT_EXPECT_TRUE(test, page.touched);
	KUNIT_EXPECT_NULL(test, ends.b.hca);
	fixture_page_free(&page);
}

/* A MAD that could not be read is freed, as it cannot be queued again. */
static void a_read_that_fails_after_it_leaks_nothing(struct kunit *test)
{
	struct fixture_page page = { .fn = remove_b_from_memory, .broken = true };
	struct file *filp = ends.b.filp;

	fixture_request(ends.ida, &ends.b, IB_MGMT_METHOD_GET, 1, 0);
	KUNIT_ASSERT_EQ(test, fixture_write(&ends.a, IB_MGMT_MAD_SIZE), 320);
	KUNIT_ASSERT_TRUE(test, fixture_wait(&ends.b));
	fixture_page_map(test, &page, PROT_READ | PROT_WRITE);
	KUNIT_EXPECT_EQ(test, filp->f_op->read(filp, (void __user *)
					       (page.addr + PAGE_SIZE - 100), 320,
					       &filp->f_pos), -EFAULT);
	KUNIT_EXPECT_TRUE(test, list_empty(&ends.b.file->packets));
	fixture_page_free(&page);
}

static long open_and_close(struct fixture_waiter *waiter)
{
	struct file *filp;
	int n;

	for (n = 1;; n++) {
		filp = fixture_open_node(waiter->name, O_NONBLOCK);
		if (IS_ERR(filp))
			return PTR_ERR(filp);
		fixture_close_file(filp);
		if (n % 50)
			cond_resched();
		else
			msleep(1);
	}
}

static void opens_at_the_same_time_are_refused(struct kunit *test)
{
	struct fixture_waiter waiter = { .fn = open_and_close };
	char name[20];

	snprintf(name, sizeof(name), "umad%d", ends.b.port->number);
	waiter.name = name;
	fixture_waiter_start(test, &waiter);
	remove_b();
	KUNIT_ASSERT_TRUE(test, fixture_waiter_join(&waiter));
	KUNIT_EXPECT_TRUE_MSG(test, waiter.result == -ENOENT || waiter.result == -ENXIO,
			      "%ld", waiter.result);
}

/* An inode that was looked up before still leads to the port. */
static void a_late_open_finds_it_gone(struct kunit *test)
{
	struct inode *inode = file_inode(ends.b.filp);
	struct file fake = {};

	remove_b();
	KUNIT_EXPECT_EQ(test, ends.b.filp->f_op->open(inode, &fake), -ENXIO);
}

static struct kunit_case remove_cases[] = {
	KUNIT_CASE(an_open_file_gets_errors),
	KUNIT_CASE(sleeping_readers_are_woken),
	KUNIT_CASE(outstanding_sends_end),
	KUNIT_CASE(what_was_not_read_is_freed),
	KUNIT_CASE(lost_completions_do_not_hold_it_up),
	KUNIT_CASE(a_read_at_work_does_not_hold_it_up),
	KUNIT_CASE(a_read_that_fails_after_it_leaks_nothing),
	KUNIT_CASE(opens_at_the_same_time_are_refused),
	KUNIT_CASE(a_late_open_finds_it_gone),
	{}
};

static struct kunit_suite umad_remove_suite = {
	.name = "umad_remove",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = remove_cases,
};

kunit_test_suite(umad_remove_suite);
