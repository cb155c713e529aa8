// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads that read events while others destroy the objects of the events. */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/uaccess.h>
#include "user/queues/events.h"
#include "user/queues/process_queues.h"
#include "race.h"

#define ROUNDS		1500
#define WAITERS		4
#define ASYNC_SIZE	sizeof(struct ib_uverbs_async_event_desc)

/* The events that threads have read, by the name of the CQ. */
static struct {
	atomic_t comp, async;	/* several threads read */
} seen[ROUNDS];

static atomic_t others, put_back;

/* ---- readers ---- */

static void note_comp(const void *event)
{
	u64 name = *(const u64 *)event;

	if (name < ROUNDS)
		atomic_inc(&seen[name].comp);
	else
		atomic_inc(&others);
}

static void note_async(const void *event)
{
	const struct ib_uverbs_async_event_desc *desc = event;

	if (desc->event_type == IB_EVENT_DEVICE_FATAL)
		return;
	if (desc->element < ROUNDS && desc->event_type == IB_EVENT_CQ_ERR)
		atomic_inc(&seen[desc->element].async);
	else
		atomic_inc(&others);
}

static ssize_t read_some(struct racer *r, void *got, size_t size)
{
	char __user *at = (char __user *)r->c.mem;
	loff_t pos = 0;
	ssize_t ret = r->filp->f_op->read(r->filp, at, size, &pos);

	if (ret > 0 && copy_from_user(got, at, ret))
		return -EFAULT;
	return ret;
}

/* Reads until the file ends, one to three events of @size bytes at once. */
static int read_all(struct racer *r, size_t size, void (*note)(const void *event))
{
	u8 got[3 * sizeof(struct ib_uverbs_async_event_desc)] __aligned(8);
	ssize_t ret, at;

	for (;;) {
		ret = read_some(r, got, size * (1 + race_random(3)));
		if (ret <= 0)
			break;
		for (at = 0; at < ret; at += size)
			note(got + at);
		race_delay(3);
	}
	fput(r->filp);
	return ret;
}

static int read_comp(struct racer *r)
{
	return read_all(r, sizeof(u64), note_comp);
}

static int read_async(struct racer *r)
{
	return read_all(r, sizeof(struct ib_uverbs_async_event_desc), note_async);
}

/* A reader that is slow to copy, and often fails to. */
static int read_slowly(struct racer *r)
{
	struct uverbs_event_queue *queue =
		container_of(r->filp->private_data, struct uverbs_event_queue, uobject);
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_event *event;

	for (;;) {
		event = uverbs_event_take(queue, &desc);
		race_delay(4);
		if (IS_ERR(event))
			break;
		if (event && race_random(2)) {
			uverbs_event_put_back(queue, event);
			atomic_inc(&put_back);
		} else if (event) {
			queue->ops->read(queue, event);
			if (queue->ops->desc_size == ASYNC_SIZE)
				note_async(&desc);
			else
				note_comp(&desc.element);
		} else {
			schedule_timeout_uninterruptible(1);
		}
	}
	fput(r->filp);
	return PTR_ERR(event);
}

static void go_read(struct kunit *test, struct racer *r, int fd,
		    int (*fn)(struct racer *r))
{
	r->filp = fget(fd);
	KUNIT_ASSERT_NOT_NULL(test, r->filp);
	racer_go(test->priv, r, fn);
}

/* ---- each event is read by one, or dropped ---- */

static void raise_some(struct ib_cq *cq)
{
	u32 n;

	for (n = race_random(5); n; n--) {
		if (race_random(2))
			events_complete(cq);
		else
			fake_hca_cq_event(cq, IB_EVENT_CQ_ERR);
		race_delay(3);
	}
}

static void a_round(struct commands *c, int channel, int name, struct ib_uverbs_destroy_cq_resp *d)
{
	struct events_cq cq = events_cq(c, channel, name, name % 4);

	raise_some(cq.cq);
	KUNIT_ASSERT_EQ(c->test, events_destroy(c, cq.handle, &d[name]), 0);
}

static void what_destroy_reports_is_what_all_readers_read(struct kunit *test)
{
	struct ib_uverbs_destroy_cq_resp *d = kunit_kcalloc(test, ROUNDS, sizeof(*d), GFP_KERNEL);
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	int wrong = 0, comp = 0, bad = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, d);
	memset(seen, 0, sizeof(seen));
	atomic_set(&others, 0);
	atomic_set(&put_back, 0);
	race_shuffle(c, 4711);
	go_read(test, &racers[0], channel, read_comp);
	go_read(test, &racers[1], channel, read_slowly);
	go_read(test, &racers[2], async, read_async);
	go_read(test, &racers[3], async, read_slowly);
	for (i = 0; i < ROUNDS; i++)
		a_round(c, channel, i, d);
	commands_close(c);
	for (i = 0; i < RACERS; i++)
		KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[i]), -EIO);
	/*
	 * An event that was put back after its CQ was destroyed is reported:
	 * the process would have got -EFAULT for it.
	 */
	for (i = 0; i < ROUNDS; i++) {
		wrong += atomic_read(&seen[i].comp) > d[i].comp_events_reported ||
			 atomic_read(&seen[i].async) > d[i].async_events_reported;
		comp += atomic_read(&seen[i].comp);
		bad += d[i].comp_events_reported - atomic_read(&seen[i].comp);
		bad += d[i].async_events_reported - atomic_read(&seen[i].async);
	}
	kunit_info(test, "%d completions read, %d put back, %d too late", comp,
		   atomic_read(&put_back), bad);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&others), 0);
	KUNIT_EXPECT_LE(test, bad, atomic_read(&put_back));
	KUNIT_EXPECT_GT(test, comp, ROUNDS / 4);
	KUNIT_EXPECT_GT(test, atomic_read(&put_back), ROUNDS / 20);
	close_fd(channel);
	close_fd(async);
	flush_delayed_fput();
}

/* If none is put back the numbers are equal. */
static void no_event_is_lost_or_read_twice(struct kunit *test)
{
	struct ib_uverbs_destroy_cq_resp *d = kunit_kcalloc(test, ROUNDS, sizeof(*d), GFP_KERNEL);
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	unsigned int wrong = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, d);
	memset(seen, 0, sizeof(seen));
	atomic_set(&others, 0);
	race_shuffle(c, 815);
	for (i = 0; i < 2; i++) {
		go_read(test, &racers[i], channel, read_comp);
		go_read(test, &racers[2 + i], async, read_async);
	}
	for (i = 0; i < ROUNDS; i++)
		a_round(c, channel, i, d);
	ib_unregister_device(&c->hca->ibdev);
	for (i = 0; i < RACERS; i++)
		KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[i]), -EIO);
	for (i = 0; i < ROUNDS; i++)
		wrong += atomic_read(&seen[i].comp) != d[i].comp_events_reported ||
			 atomic_read(&seen[i].async) != d[i].async_events_reported;
	KUNIT_EXPECT_EQ(test, wrong, 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&others), 0);
	close_fd(channel);
	close_fd(async);
	flush_delayed_fput();
}

/* ---- readers who wait ---- */

static int nr_done(struct events_reader *readers)
{
	int i, n = 0;

	for (i = 0; i < WAITERS; i++)
		n += events_reader_done(&readers[i]);
	return n;
}

static void an_asynchronous_event_wakes_one(struct kunit *test)
{
	struct events_reader *readers = kunit_kcalloc(test, WAITERS, sizeof(*readers),
						      GFP_KERNEL);
	struct commands *c = test->priv;
	unsigned long ran[WAITERS];
	int fd = events_async(c);
	struct events_cq cq = events_cq(c, -1, 'a', 0);
	int i, round, woken;

	KUNIT_ASSERT_NOT_NULL(test, readers);
	for (i = 0; i < WAITERS; i++)
		events_reader_start(test, &readers[i], fd, ASYNC_SIZE);
	for (round = 1; round <= WAITERS; round++) {
		for (i = 0; i < WAITERS; i++)
			ran[i] = readers[i].thread.task->nvcsw;
		fake_hca_cq_event(cq.cq, IB_EVENT_CQ_ERR);
		KUNIT_EXPECT_EQ(test, nr_done(readers), round);
		for (i = woken = 0; i < WAITERS; i++)
			woken += !READ_ONCE(readers[i].thread.done) &&
				 readers[i].thread.task->nvcsw != ran[i];
		KUNIT_EXPECT_EQ(test, woken, 0);
	}
	for (i = 0; i < WAITERS; i++) {
		events_reader_join(&readers[i]);
		KUNIT_EXPECT_EQ(test, readers[i].ret, (ssize_t)ASYNC_SIZE);
	}
	close_fd(fd);
	flush_delayed_fput();
}

/* Readers sleep until the end reaches their descriptor, and then return. */
static void check_end(struct kunit *test, int (*end)(struct racer *r))
{
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	bool removed = end == race_remove_in_thread;
	struct events_reader comp, fatal;
	struct events_cq cq;

	cq = events_cq(c, channel, 'a', 0);
	events_reader_start(test, &comp, channel, sizeof(u64));
	events_reader_start(test, &fatal, async, ASYNC_SIZE);
	gate_close(c, FAKE_CQ, false);
	racer_go(c, &racers[0], end);
	gate_wait(test);
	/* A removal raises its event before it destroys anything. */
	KUNIT_EXPECT_EQ(test, events_reader_done(&fatal), removed);
	KUNIT_EXPECT_FALSE(test, events_reader_done(&comp));
	events_complete(cq.cq);
	KUNIT_EXPECT_TRUE(test, events_reader_done(&comp));
	events_complete(cq.cq);
	gate_open();
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), 0);
	events_reader_join(&comp);
	events_reader_join(&fatal);
	KUNIT_EXPECT_EQ(test, comp.ret, (ssize_t)sizeof(u64));
	KUNIT_EXPECT_EQ(test, comp.got[0], 'a');
	KUNIT_EXPECT_EQ(test, fatal.ret, removed ? (ssize_t)ASYNC_SIZE : -EIO);
	/* Unread events were removed with the CQ. */
	KUNIT_EXPECT_EQ(test, events_read(c, channel, comp.got, sizeof(u64)), -EIO);
	KUNIT_EXPECT_EQ(test, events_read(c, async, comp.got, ASYNC_SIZE), -EIO);
	close_fd(channel);
	close_fd(async);
	flush_delayed_fput();
	if (!removed)
		c->file = NULL;
	race_renew(test);
}

static void readers_wait_until_the_very_end(struct kunit *test)
{
	check_end(test, race_close_in_thread);
	check_end(test, race_remove_in_thread);
}

/* ---- too many ---- */

static void a_hundred_thousand_that_nobody_reads(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	struct events_cq cq = events_cq(c, channel, 'a', 0);
	struct ib_ucq_object *ucq = cq.cq->uobject;
	struct ib_uverbs_destroy_cq_resp resp;
	u64 got;
	int i;

	for (i = 0; i < 100000; i++) {
		events_complete(cq.cq);
		fake_hca_cq_event(cq.cq, IB_EVENT_CQ_ERR);
	}
	KUNIT_EXPECT_EQ(test, list_count_nodes(&ucq->channel->ready), 1);
	KUNIT_EXPECT_EQ(test, ucq->comp_events_pending, 100000u);
	KUNIT_EXPECT_EQ(test, events_unread(&ucq->base), 100000u);
	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, events_read(c, channel, &got, sizeof(got)),
				(ssize_t)sizeof(got));
	KUNIT_EXPECT_EQ(test, events_destroy(c, cq.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 1000u);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 0u);
	KUNIT_EXPECT_EQ(test, events_poll(channel), 0);
	KUNIT_EXPECT_EQ(test, events_poll(async), 0);
	close_fd(channel);
	close_fd(async);
	flush_delayed_fput();
	queues_expect_idle(c);
}

static struct kunit_case race_event_cases[] = {
	KUNIT_CASE_SLOW(what_destroy_reports_is_what_all_readers_read),
	KUNIT_CASE_SLOW(no_event_is_lost_or_read_twice),
	KUNIT_CASE(an_asynchronous_event_wakes_one),
	KUNIT_CASE(readers_wait_until_the_very_end),
	KUNIT_CASE(a_hundred_thousand_that_nobody_reads),
	{}
};

static struct kunit_suite uverbs_race_event_suite = {
	.name = "uverbs_race_event",
	.init = race_init,
	.exit = race_exit,
	.test_cases = race_event_cases,
};

kunit_test_suite(uverbs_race_event_suite);
