// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receive QPs of an XRC domain: what another process does while the adapter is at work on
 * one of them.
 */
#include <linux/fdtable.h>
#include "user/uverbs/race.h"
#include "user/fixture.h"
#include "xrc_rcv.h"

enum { A, B, PROCESSES };

static struct {
	struct ib_uverbs_file *file;
	u32 xrcd, qpn;
} processes[PROCESSES];

static int domain_fd;

static int open_in_thread(struct racer *r)
{
	return rcv_open_domain(&r->c, domain_fd, &processes[r->nr].xrcd);
}

static int alloc_in_thread(struct racer *r)
{
	return rcv_alloc(&r->c, processes[r->nr].xrcd, &processes[r->nr].qpn);
}

static int open_and_alloc_in_thread(struct racer *r)
{
	return open_in_thread(r) ?: alloc_in_thread(r);
}

static int close_in_thread(struct racer *r)
{
	return rcv_close_domain(&r->c, processes[r->nr].xrcd);
}

/* Each process has one thread. */
static void go(struct commands *c, int process, int (*fn)(struct racer *r))
{
	struct ib_uverbs_file *own = c->file;

	c->file = processes[process].file;
	racer_go(c, &racers[process], fn);
	c->file = own;
}

static int wait_for(struct commands *c, int process)
{
	return racer_wait(c->test, &racers[process]);
}

static int now(struct commands *c, int process, int (*fn)(struct racer *r))
{
	go(c, process, fn);
	return wait_for(c, process);
}

static void *domain_of(struct commands *c, int process)
{
	struct ib_uverbs_file *own = c->file;
	void *domain;

	c->file = processes[process].file;
	domain = commands_object(c, UVERBS_OBJECT_XRCD, processes[process].xrcd);
	c->file = own;
	return domain;
}

static int close_by_another_thread(struct commands *c, int process)
{
	struct ib_uverbs_file *own = c->file;
	int ret;

	c->file = processes[process].file;
	ret = rcv_close_domain(c, processes[process].xrcd);
	c->file = own;
	return ret;
}

static int race_rcv_init(struct kunit *test)
{
	int i, ret = race_init(test);

	if (ret)
		return ret;
	domain_fd = rcv_file(test);
	for (i = 0; i < PROCESSES; i++)
		processes[i].file = commands_open(test->priv);
	return 0;
}

static void expect_alive(struct commands *c, int qps, int domains)
{
	KUNIT_EXPECT_EQ(c->test, rcv_alive(c, FAKE_QP), qps);
	KUNIT_EXPECT_EQ(c->test, rcv_alive(c, FAKE_XRCD), domains);
}

/* Both are killed. */
static void expect_nothing_left(struct commands *c)
{
	int i;

	for (i = 0; i < PROCESSES; i++)
		uverbs_file_close(processes[i].file);
	close_fd(domain_fd);
	queues_expect_idle(c);
}

/* ---- closing ---- */

static void a_domain_is_opened_while_its_last_close_goes_on(struct kunit *test)
{
	struct commands *c = test->priv;

	KUNIT_ASSERT_EQ(test, now(c, A, open_and_alloc_in_thread), 0);
	gate_close(c, FAKE_QP, false);
	go(c, A, close_in_thread);
	gate_wait(test);
	go(c, B, open_and_alloc_in_thread);
	/* It must not have the domain that is going. */
	racer_expect_stuck(test, &racers[B]);
	expect_alive(c, 1, 1);
	gate_open();
	KUNIT_EXPECT_EQ(test, wait_for(c, A), 0);
	KUNIT_EXPECT_EQ(test, wait_for(c, B), 0);
	expect_alive(c, 1, 1);
	KUNIT_EXPECT_NOT_NULL(test, rcv_qp(c, processes[B].qpn));
	expect_nothing_left(c);
}

static void a_domain_is_opened_while_its_last_close_is_refused(struct kunit *test)
{
	struct commands *c = test->priv;

	KUNIT_ASSERT_EQ(test, now(c, A, open_and_alloc_in_thread), 0);
	gate_close(c, FAKE_QP, false);
	go(c, A, close_in_thread);
	gate_wait(test);
	go(c, B, open_in_thread);
	racer_expect_stuck(test, &racers[B]);
	atomic_set(&c->hca->fail_destroy[FAKE_QP], 1);
	gate_open();
	KUNIT_EXPECT_EQ(test, wait_for(c, A), -EIO);
	KUNIT_EXPECT_EQ(test, wait_for(c, B), 0);
	/* It is the same domain, which both have open, with its QP. */
	KUNIT_EXPECT_PTR_EQ(test, domain_of(c, A), domain_of(c, B));
	KUNIT_EXPECT_EQ(test, now(c, A, close_in_thread), 0);
	expect_alive(c, 1, 1);
	KUNIT_EXPECT_NOT_NULL(test, rcv_qp(c, processes[A].qpn));
	KUNIT_EXPECT_EQ(test, now(c, B, close_in_thread), 0);
	expect_alive(c, 0, 0);
	expect_nothing_left(c);
}

static void the_last_close_and_the_removal(struct kunit *test)
{
	struct commands *c = test->priv;
	int i;

	KUNIT_ASSERT_EQ(test, now(c, A, open_and_alloc_in_thread), 0);
	KUNIT_ASSERT_EQ(test, now(c, A, alloc_in_thread), 0);
	gate_close(c, FAKE_QP, false);
	go(c, A, close_in_thread);
	gate_wait(test);
	go(c, B, race_remove_in_thread);
	racer_expect_stuck(test, &racers[B]);
	gate_open();
	KUNIT_EXPECT_EQ(test, wait_for(c, A), 0);
	KUNIT_EXPECT_EQ(test, wait_for(c, B), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
	for (i = 0; i < PROCESSES; i++)
		uverbs_file_close(processes[i].file);
	close_fd(domain_fd);
}

/* ---- making ---- */

/* Has A make a QP, which stops when the adapter is to create a @kind. */
static void begin_alloc(struct commands *c, enum fake_hca_object kind)
{
	KUNIT_ASSERT_EQ(c->test, now(c, A, open_in_thread), 0);
	KUNIT_ASSERT_EQ(c->test, now(c, B, open_in_thread), 0);
	gate_close(c, kind, true);
	go(c, A, alloc_in_thread);
	gate_wait(c->test);
}

static void others_close_while_one_is_made(struct kunit *test)
{
	struct commands *c = test->priv;

	begin_alloc(c, FAKE_QP);
	/* Another process does not wait for it. */
	KUNIT_EXPECT_EQ(test, now(c, B, close_in_thread), 0);
	/* Another thread of the process cannot close the handle that is in use. */
	KUNIT_EXPECT_EQ(test, close_by_another_thread(c, A), -EBUSY);
	gate_open();
	KUNIT_EXPECT_EQ(test, wait_for(c, A), 0);
	expect_alive(c, 1, 1);
	KUNIT_EXPECT_EQ(test, now(c, A, close_in_thread), 0);
	expect_alive(c, 0, 0);
	expect_nothing_left(c);
}

static void the_device_goes_while_one_is_made(struct kunit *test)
{
	static const enum fake_hca_object steps[] = { FAKE_PD, FAKE_QP };
	struct commands *c = test->priv;
	int i, n;

	for (n = 0; n < ARRAY_SIZE(steps); n++) {
		begin_alloc(c, steps[n]);
		go(c, B, race_remove_in_thread);
		racer_expect_stuck(test, &racers[B]);
		gate_open();
		/* It was begun before, so it ends well; and the removal takes it. */
		KUNIT_EXPECT_EQ(test, wait_for(c, A), 0);
		KUNIT_EXPECT_EQ(test, wait_for(c, B), 0);
		KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
		for (i = 0; i < PROCESSES; i++)
			uverbs_file_close(processes[i].file);
		race_renew(test);
		c = test->priv;
		for (i = 0; i < PROCESSES; i++)
			processes[i].file = commands_open(c);
	}
	expect_nothing_left(c);
}

/* The PD of the kernel, of which a domain has one. */
static void two_make_the_first_at_once(struct kunit *test)
{
	struct commands *c = test->priv;
	int own_pds = rcv_alive(c, FAKE_PD);

	begin_alloc(c, FAKE_PD);
	go(c, B, alloc_in_thread);
	racer_expect_stuck(test, &racers[B]);
	gate_open();
	KUNIT_EXPECT_EQ(test, wait_for(c, A), 0);
	KUNIT_EXPECT_EQ(test, wait_for(c, B), 0);
	expect_alive(c, 2, 1);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_PD), own_pds + 1);
	expect_nothing_left(c);
}

static void the_first_fails_and_the_second_does_not(struct kunit *test)
{
	struct commands *c = test->priv;

	begin_alloc(c, FAKE_PD);
	go(c, B, alloc_in_thread);
	racer_expect_stuck(test, &racers[B]);
	atomic_set(&c->hca->fail_create[FAKE_PD], 1);
	gate_open();
	KUNIT_EXPECT_EQ(test, wait_for(c, A), -ENOMEM);
	KUNIT_EXPECT_EQ(test, wait_for(c, B), 0);
	expect_alive(c, 1, 1);
	expect_nothing_left(c);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(a_domain_is_opened_while_its_last_close_goes_on),
	KUNIT_CASE(a_domain_is_opened_while_its_last_close_is_refused),
	KUNIT_CASE(the_last_close_and_the_removal),
	KUNIT_CASE(others_close_while_one_is_made),
	KUNIT_CASE(the_device_goes_while_one_is_made),
	KUNIT_CASE(two_make_the_first_at_once),
	KUNIT_CASE(the_first_fails_and_the_second_does_not),
	{}
};

static struct kunit_suite uverbs_xrc_rcv_race_suite = {
	.name = "uverbs_xrc_rcv_race",
	.init = race_rcv_init,
	.exit = race_exit,
	.test_cases = race_cases,
};

kunit_test_suite(uverbs_xrc_rcv_race_suite);
