// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Concurrent calls, closes, and removals of the device. */
#include <linux/fdtable.h>
#include <linux/file.h>
#include "user/queues/events.h"
#include "user/queues/process_queues.h"
#include "race.h"

#define REMOVALS	100
#define CLOSES		1000

/* The last close of a descriptor, including its release. */
static int fput_in_thread(struct racer *r)
{
	__fput_sync(r->filp);
	return 0;
}

static bool is_gone(void *arg)
{
	return READ_ONCE(((struct commands *)arg)->udev->gone);
}

/* ---- removal ---- */

static void check_removal(struct kunit *test, const struct race_kind *kind, bool create)
{
	struct commands *c = test->priv;
	u32 handle;

	if (!create)
		KUNIT_ASSERT_EQ(test, kind->make(c, queues.pd, queues.cq,
						 &racers[0].handle), 0);
	gate_close(c, kind->fake, create);
	racers[0].kind = kind;
	racers[0].ioctl = create;
	racer_go(c, &racers[0], create ? race_make_in_thread : race_destroy_in_thread);
	gate_wait(test);
	racer_go(c, &racers[1], race_remove_in_thread);
	KUNIT_ASSERT_TRUE(test, user_wait(is_gone, c));
	KUNIT_EXPECT_EQ(test, kind->make(c, queues.pd, queues.cq, &handle), -EIO);
	KUNIT_EXPECT_EQ(test, race_destroy(c, kind, NO_SUCH_HANDLE, true), -ENOENT);
	racer_expect_stuck(test, &racers[1]);
	gate_open();
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), 0);
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[1]), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
	race_renew(test);
}

static void removal_waits_for_calls(struct kunit *test)
{
	int i;

	for (i = 0; i < NR_KINDS; i++) {
		check_removal(test, &race_kinds[i], true);
		check_removal(test, &race_kinds[i], false);
	}
}

static int calls_until_removed(struct racer *r)
{
	const struct race_kind *kind;
	u32 handle;
	int ret;

	for (;;) {
		kind = &race_kinds[race_random(NR_KINDS)];
		r->counts[0]++;
		if (race_random(3))
			ret = kind->make(&r->c, queues.pd, queues.cq, &handle);
		else
			ret = race_destroy(&r->c, kind, race_random(16), race_random(2));
		if (ret == -EIO)
			return 0;
		/* -EINVAL: the handle is another type's. */
		if (ret && ret != -EBUSY && ret != -ENOENT && ret != -EINVAL)
			return ret;
		race_delay(2);
	}
}

static int remove_sometime(struct racer *r)
{
	race_delay(60);
	return race_remove_in_thread(r);
}

static void removal_at_any_time(struct kunit *test)
{
	struct commands *c;
	int round, i;

	for (round = 1; round <= REMOVALS; round++) {
		c = test->priv;
		race_shuffle(c, 2000 + round);
		for (i = 1; i < RACERS; i++)
			racer_go(c, &racers[i], calls_until_removed);
		racer_go(c, &racers[0], remove_sometime);
		for (i = 0; i < RACERS; i++)
			KUNIT_EXPECT_EQ_MSG(test, racer_wait(test, &racers[i]), 0,
					    "seed %d", 2000 + round);
		KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
		KUNIT_ASSERT_EQ(test, commands_objects(c), 0);
		race_shuffle(c, 0);
		race_renew(test);
	}
	KUNIT_EXPECT_GT(test, racers[1].counts[0], 5u * REMOVALS);
}

/* The second one waits, and finds nothing to do. */
static void check_two_ends(struct kunit *test, int (*first)(struct racer *r),
			   int (*second)(struct racer *r))
{
	struct commands *c = test->priv;
	u32 handle;

	KUNIT_ASSERT_EQ(test, race_kinds[KIND_QP].make(c, queues.pd, queues.cq, &handle), 0);
	gate_close(c, FAKE_QP, false);
	racer_go(c, &racers[0], first);
	gate_wait(test);
	racer_go(c, &racers[1], second);
	racer_expect_stuck(test, &racers[1]);
	gate_open();
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), 0);
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[1]), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
	c->file = NULL;
	race_renew(test);
}

static void a_close_and_a_removal(struct kunit *test)
{
	check_two_ends(test, race_close_in_thread, race_remove_in_thread);
	check_two_ends(test, race_remove_in_thread, race_close_in_thread);
}

/* ---- descriptors ---- */

static struct file *own_fd(int fd)
{
	struct file *filp = fget(fd);

	close_fd(fd);
	flush_delayed_fput();
	return filp;
}

static void check_fd_and(struct kunit *test, int (*end)(struct racer *r), bool async)
{
	struct commands *c = test->priv;
	int fd = async ? events_async(c) : events_channel(c);
	struct events_cq cq = events_cq(c, async ? -1 : fd, 'a', 0);

	events_complete(cq.cq);
	fake_hca_cq_event(cq.cq, IB_EVENT_CQ_ERR);
	racers[1].filp = own_fd(fd);
	gate_close(c, FAKE_CQ, false);
	racer_go(c, &racers[0], end);
	gate_wait(test);
	racer_go(c, &racers[1], fput_in_thread);
	racer_expect_stuck(test, &racers[1]);
	/* The adapter has not destroyed the CQ yet, and may raise events. */
	events_complete(cq.cq);
	fake_hca_cq_event(cq.cq, IB_EVENT_CQ_ERR);
	gate_open();
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), 0);
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[1]), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
	if (end == race_close_in_thread)
		c->file = NULL;
	race_renew(test);
}

static void a_descriptor_is_closed_while_its_file_ends(struct kunit *test)
{
	int async;

	for (async = 0; async < 2; async++) {
		check_fd_and(test, race_close_in_thread, async);
		check_fd_and(test, race_remove_in_thread, async);
	}
}

/* Creates a CQ with a channel that another thread closes. */
static int cq_in_thread(struct racer *r)
{
	struct ib_uverbs_create_cq_resp resp;
	struct ib_uverbs_create_cq cmd = { .cqe = 16, .comp_channel = r->handle };
	int ret = commands_write(&r->c, CMD(CREATE_CQ), &cmd, sizeof(cmd), &resp,
				 sizeof(resp));

	r->handle = resp.cq_handle;
	return ret;
}

static void a_channel_is_closed_while_a_cq_is_made(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_destroy_cq_resp resp;
	int fd = events_channel(c);
	int before = commands_objects(c);
	struct ib_cq *cq;

	racers[0].handle = fd;
	gate_close(c, FAKE_CQ, true);
	racer_go(c, &racers[0], cq_in_thread);
	gate_wait(test);
	close_fd(fd);
	flush_delayed_fput();
	/* The call still uses the channel. */
	KUNIT_EXPECT_EQ(test, commands_objects(c), before);
	gate_open();
	KUNIT_ASSERT_EQ(test, racer_wait(test, &racers[0]), 0);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, commands_objects(c), before);
	cq = commands_object(c, UVERBS_OBJECT_CQ, racers[0].handle);
	KUNIT_ASSERT_NOT_NULL(test, cq);
	events_complete(cq);
	KUNIT_EXPECT_EQ(test, events_destroy(c, racers[0].handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 0u);
	queues_expect_idle(c);
}

static int close_sometime(struct racer *r)
{
	race_delay(6);
	return race_close_in_thread(r);
}

static int fput_sometime(struct racer *r)
{
	race_delay(6);
	return fput_in_thread(r);
}

static void descriptors_and_their_file_in_any_order(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *own = c->file;
	struct events_cq cq[2];
	int round, i, fd[2];

	for (round = 1; round <= CLOSES; round++) {
		race_shuffle(c, 0);
		c->file = commands_open(c);
		fd[0] = events_channel(c);
		fd[1] = events_async(c);
		for (i = 0; i < 2; i++) {
			cq[i] = events_cq(c, fd[0], i, 0);
			events_complete(cq[i].cq);
			fake_hca_cq_event(cq[i].cq, IB_EVENT_CQ_ERR);
		}
		race_shuffle(c, 3000 + round);
		for (i = 0; i < 2; i++)
			racers[i].filp = own_fd(fd[i]);
		racer_go(c, &racers[0], fput_sometime);
		racer_go(c, &racers[1], fput_sometime);
		racer_go(c, &racers[2], close_sometime);
		c->file = own;
		for (i = 0; i < 3; i++)
			KUNIT_EXPECT_EQ_MSG(test, racer_wait(test, &racers[i]), 0,
					    "seed %d", 3000 + round);
		KUNIT_ASSERT_EQ(test, fake_hca_objects(c->hca), 3);
	}
	queues_expect_idle(c);
}

static struct kunit_case end_cases[] = {
	KUNIT_CASE_SLOW(removal_waits_for_calls),
	KUNIT_CASE_SLOW(removal_at_any_time),
	KUNIT_CASE_SLOW(a_close_and_a_removal),
	KUNIT_CASE_SLOW(a_descriptor_is_closed_while_its_file_ends),
	KUNIT_CASE(a_channel_is_closed_while_a_cq_is_made),
	KUNIT_CASE_SLOW(descriptors_and_their_file_in_any_order),
	{}
};

static struct kunit_suite uverbs_race_end_suite = {
	.name = "uverbs_race_end",
	.init = race_init,
	.exit = race_exit,
	.test_cases = end_cases,
};

kunit_test_suite(uverbs_race_end_suite);
