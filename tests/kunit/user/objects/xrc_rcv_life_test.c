// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Receive QPs of an XRC domain live as long as the domain, whoever had them made. */
#include <linux/fdtable.h>
#include <linux/file.h>
#include "user/uverbs/race.h"
#include "user/fixture.h"
#include "xrc_rcv.h"

#define THREADS	20
#define ROUNDS	12

static int domain_fd;

/* Another process, which has opened the domain. */
static struct ib_uverbs_file *a_process(struct commands *c, u32 *xrcd)
{
	struct ib_uverbs_file *own = c->file, *file = commands_open(c);

	c->file = file;
	KUNIT_ASSERT_EQ(c->test, rcv_open_domain(c, domain_fd, xrcd), 0);
	c->file = own;
	return file;
}

static void alloc_for(struct commands *c, struct ib_uverbs_file *file, u32 xrcd, u32 *qpn)
{
	struct ib_uverbs_file *own = c->file;

	c->file = file;
	KUNIT_ASSERT_EQ(c->test, rcv_alloc(c, xrcd, qpn), 0);
	c->file = own;
}

static void it_outlives_its_maker(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *maker, *heir;
	u32 xrcd, heirs_xrcd, qpn;

	domain_fd = rcv_file(test);
	maker = a_process(c, &xrcd);
	heir = a_process(c, &heirs_xrcd);
	alloc_for(c, maker, xrcd, &qpn);
	/* As when it is killed. */
	uverbs_file_close(maker);
	KUNIT_ASSERT_NOT_NULL(test, rcv_qp(c, qpn));
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 1);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_XRCD), 1);
	uverbs_file_close(heir);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 0);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_XRCD), 0);
	close_fd(domain_fd);
	queues_expect_idle(c);
}

static void its_maker_closes_in_order(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 xrcd, heirs_xrcd, qpn;
	struct ib_uverbs_file *heir;

	domain_fd = rcv_file(test);
	heir = a_process(c, &heirs_xrcd);
	KUNIT_ASSERT_EQ(test, rcv_open_domain(c, domain_fd, &xrcd), 0);
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	/* It is no object of the process: nothing needs to be destroyed before. */
	KUNIT_EXPECT_EQ(test, commands_objects(c), 3);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 1);
	/* The maker's return changes nothing. */
	KUNIT_ASSERT_EQ(test, rcv_open_domain(c, domain_fd, &xrcd), 0);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 1);
	uverbs_file_close(heir);
	close_fd(domain_fd);
	queues_expect_idle(c);
}

/* Its number is all that processes have. */
static void nobody_opens_it(struct kunit *test)
{
	struct ib_uverbs_open_qp cmd = { .qp_type = IB_QPT_XRC_TGT };
	struct ib_uverbs_create_qp_resp resp;
	struct commands *c = test->priv;

	cmd.pd_handle = queues_xrcd(c);
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, cmd.pd_handle, &cmd.qpn), 0);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(OPEN_QP), &cmd, sizeof(cmd), &resp,
					     sizeof(resp)), -EINVAL);
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, cmd.pd_handle), 0);
	queues_expect_idle(c);
}

/* ---- the end ---- */

static enum fake_hca_object ended[8];
static int nr_ended;

static void note_end(struct fake_hca *hca, enum fake_hca_object kind, bool create)
{
	if (!create && nr_ended < ARRAY_SIZE(ended))
		ended[nr_ended++] = kind;
}

/* The QPs, the kernel's PD, the domain. */
static void expect_order(struct commands *c, int qps)
{
	int i, at = 0;

	/* Those of the process itself may have been destroyed in between. */
	for (i = 0; i < nr_ended && at < qps; i++)
		at += ended[i] == FAKE_QP;
	KUNIT_EXPECT_EQ(c->test, at, qps);
	KUNIT_ASSERT_LE(c->test, i + 2, nr_ended);
	KUNIT_EXPECT_EQ(c->test, (int)ended[i], FAKE_PD);
	KUNIT_EXPECT_EQ(c->test, (int)ended[i + 1], FAKE_XRCD);
	for (i += 2; i < nr_ended; i++)
		KUNIT_EXPECT_NE(c->test, (int)ended[i], FAKE_QP);
}

static void they_go_before_their_domain(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *file;
	u32 xrcd, qpn;

	/* A call; */
	xrcd = queues_xrcd(c);
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	c->hca->on_verb = note_end;
	nr_ended = 0;
	KUNIT_EXPECT_EQ(test, rcv_close_domain(c, xrcd), 0);
	expect_order(c, 2);
	/* the end of the process; */
	domain_fd = rcv_file(test);
	file = a_process(c, &xrcd);
	alloc_for(c, file, xrcd, &qpn);
	nr_ended = 0;
	uverbs_file_close(file);
	expect_order(c, 1);
	/* the device's removal. */
	xrcd = queues_xrcd(c);
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	KUNIT_ASSERT_EQ(test, rcv_alloc(c, xrcd, &qpn), 0);
	nr_ended = 0;
	ib_unregister_device(&c->hca->ibdev);
	expect_order(c, 2);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
	KUNIT_EXPECT_EQ(test, rcv_alloc(c, xrcd, &qpn), -EIO);
	close_fd(domain_fd);
}

/* At the last close by a process that ends, a refusal is asked about again. */
static void the_end_of_a_process_insists(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *file;
	u32 xrcd, qpn;

	domain_fd = rcv_file(test);
	file = a_process(c, &xrcd);
	alloc_for(c, file, xrcd, &qpn);
	alloc_for(c, file, xrcd, &qpn);
	atomic_set(&c->hca->fail_destroy[FAKE_QP], 2);
	uverbs_file_close(file);
	close_fd(domain_fd);
	queues_expect_idle(c);
}

/* ---- at the same time ---- */

/* Opens the domain, has QPs made, and leaves it, in order or not. */
static int live_and_die(struct racer *r)
{
	int i, n, ret = 0;
	u32 xrcd, qpn;

	for (i = 0; i < ROUNDS && !ret; i++) {
		r->c.file = commands_open(&r->c);
		race_delay(3);
		ret = rcv_open_domain(&r->c, domain_fd, &xrcd);
		for (n = race_random(4); n && !ret; n--) {
			ret = rcv_alloc(&r->c, xrcd, &qpn);
			race_delay(3);
			r->counts[0]++;
			/* It has the domain open, so they are there. */
			if (!ret && !rcv_qp(&r->c, qpn))
				ret = -ENOENT;
		}
		if (!ret && race_random(2)) {
			ret = rcv_close_domain(&r->c, xrcd);
			r->counts[1]++;
		}
		uverbs_file_close(r->c.file);
	}
	return ret;
}

static void many_live_and_die(struct kunit *test)
{
	struct commands *c = test->priv;
	unsigned int made = 0, closed = 0;
	int i;

	domain_fd = rcv_file(test);
	race_shuffle(c, 4711);
	for (i = 0; i < THREADS; i++)
		racer_go(c, &racers[i], live_and_die);
	for (i = 0; i < THREADS; i++) {
		KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[i]), 0);
		made += racers[i].counts[0];
		closed += racers[i].counts[1];
	}
	KUNIT_EXPECT_GT(test, made, THREADS * ROUNDS / 2u);
	KUNIT_EXPECT_GT(test, closed, THREADS * ROUNDS / 4u);
	race_shuffle(c, 0);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_QP), 0);
	KUNIT_EXPECT_EQ(test, rcv_alive(c, FAKE_XRCD), 0);
	close_fd(domain_fd);
	queues_expect_idle(c);
}

static int alloc_until_removed(struct racer *r)
{
	u32 xrcd, qpn;
	int ret;

	for (;;) {
		ret = rcv_open_domain(&r->c, domain_fd, &xrcd);
		if (!ret)
			ret = rcv_alloc(&r->c, xrcd, &qpn);
		if (!ret && race_random(2))
			ret = rcv_close_domain(&r->c, xrcd);
		if (ret == -EIO)
			return 0;
		if (ret)
			return ret;
		r->counts[0]++;
		race_delay(3);
	}
}

/* In turn the handles of one file, and of a process of their own. */
static void the_device_goes_meanwhile(struct kunit *test)
{
	struct ib_uverbs_file *files[THREADS] = {};
	struct commands *c;
	int round, i;

	for (round = 1; round <= 4; round++) {
		c = test->priv;
		domain_fd = rcv_file(test);
		race_shuffle(c, 6000 + round);
		for (i = 0; i < THREADS; i++) {
			struct ib_uverbs_file *own = c->file;

			files[i] = i % 2 ? commands_open(c) : NULL;
			c->file = files[i] ?: own;
			racer_go(c, &racers[i], alloc_until_removed);
			c->file = own;
		}
		race_delay(60);
		ib_unregister_device(&c->hca->ibdev);
		for (i = 0; i < THREADS; i++) {
			KUNIT_EXPECT_EQ_MSG(test, racer_wait(test, &racers[i]), 0,
					    "seed %d", 6000 + round);
			if (files[i])
				uverbs_file_close(files[i]);
		}
		KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
		race_shuffle(c, 0);
		close_fd(domain_fd);
		race_renew(test);
	}
	KUNIT_EXPECT_GT(test, racers[0].counts[0], 4u);
}

static int race_many_init(struct kunit *test)
{
	return race_init_many(test, THREADS);
}

static struct kunit_case life_cases[] = {
	KUNIT_CASE(it_outlives_its_maker),
	KUNIT_CASE(its_maker_closes_in_order),
	KUNIT_CASE(nobody_opens_it),
	KUNIT_CASE(they_go_before_their_domain),
	KUNIT_CASE(the_end_of_a_process_insists),
	KUNIT_CASE_SLOW(many_live_and_die),
	KUNIT_CASE_SLOW(the_device_goes_meanwhile),
	{}
};

static struct kunit_suite uverbs_xrc_rcv_life_suite = {
	.name = "uverbs_xrc_rcv_life",
	.init = race_many_init,
	.exit = race_exit,
	.test_cases = life_cases,
};

kunit_test_suite(uverbs_xrc_rcv_life_suite);
