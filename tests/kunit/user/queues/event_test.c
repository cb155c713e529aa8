// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queues of events, with completion channels: the order of reads, and waiting readers. */
#include <linux/file.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include "events.h"
#include "user/fixture.h"

#define SIZE	sizeof(struct ib_uverbs_comp_event_desc)

static void cqs_are_served_in_the_order_of_their_events(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 3);
	struct events_cq d = events_cq(c, channel, 'd', 3);
	char names[16];

	events_complete(b.cq);
	events_complete(a.cq);
	events_complete(b.cq);
	events_complete(d.cq);
	events_complete(b.cq);
	/* A CQ with several events does not delay the other CQs. */
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "badbb");
	events_complete(d.cq);
	events_complete(a.cq);
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "da");
	fixture_close_fd(channel);
}

static void each_channel_has_its_own(struct kunit *test)
{
	struct commands *c = test->priv;
	int one = events_channel(c), other = events_channel(c);
	struct events_cq a = events_cq(c, one, 'a', 0);
	struct events_cq b = events_cq(c, other, 'b', 0);
	struct events_cq none = events_cq(c, -1, 'n', 0);
	char names[16];

	events_complete(a.cq);
	events_complete(b.cq);
	events_complete(none.cq);
	events_read_names(c, one, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "a");
	events_read_names(c, other, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "b");
	fixture_close_fd(one);
	fixture_close_fd(other);
}

/* The library waits until it has acknowledged as many events as destroy reports. */
static void what_was_read_is_what_destroy_reports(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 0);
	struct ib_uverbs_destroy_cq_resp resp;
	char names[16];
	u64 got[2];
	int i;

	for (i = 0; i < 5; i++)
		events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, sizeof(got)),
			(ssize_t)sizeof(got));
	events_complete(b.cq);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 2);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 0);
	/* The unread events were removed with the CQ. */
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "b");
	KUNIT_EXPECT_EQ(test, events_destroy(c, b.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 1);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, sizeof(got)), -EAGAIN);
	fixture_close_fd(channel);
}

static void a_read_brings_as_many_as_fit(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	u64 got[4] = {};
	int i;

	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, SIZE - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, SIZE), -EAGAIN);
	for (i = 0; i < 4; i++)
		events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, SIZE - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, 2 * SIZE + 7),
			(ssize_t)(2 * SIZE));
	KUNIT_EXPECT_EQ(test, got[1], 'a');
	KUNIT_EXPECT_EQ(test, got[2], 0);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, 4 * SIZE),
			(ssize_t)(2 * SIZE));
	fixture_close_fd(channel);
}

static void a_bad_buffer_loses_no_event(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 0);
	unsigned long at = user_pages(test, 2, TEST_RW);
	struct ib_uverbs_destroy_cq_resp resp;
	char names[16];

	KUNIT_ASSERT_EQ(test, vm_munmap(at + PAGE_SIZE, PAGE_SIZE), 0);
	events_complete(a.cq);
	events_complete(b.cq);
	events_complete(b.cq);
	KUNIT_EXPECT_EQ(test, events_read_at(c, channel, at + PAGE_SIZE, SIZE), -EFAULT);
	KUNIT_EXPECT_EQ(test, events_read_at(c, channel, at + PAGE_SIZE - SIZE + 1, SIZE),
			-EFAULT);
	/* The first event fits, the second is put back. */
	KUNIT_EXPECT_EQ(test, events_read_at(c, channel, at + PAGE_SIZE - SIZE, 3 * SIZE),
			(ssize_t)SIZE);
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "bb");
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 1);
	KUNIT_EXPECT_EQ(test, events_destroy(c, b.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 2);
	fixture_close_fd(channel);
}

/* It is read before later events, of the same CQ or of another. */
static void an_event_that_is_put_back_is_first_again(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct uverbs_event_queue *queue = events_queue(channel);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 0);
	char names[16];
	u64 desc[2];

	events_complete(a.cq);
	events_complete(b.cq);
	uverbs_event_put_back(queue, uverbs_event_take(queue, desc));
	KUNIT_EXPECT_EQ(test, desc[0], 'a');
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "ab");
	events_complete(a.cq);
	events_complete(b.cq);
	events_complete(a.cq);
	uverbs_event_put_back(queue, uverbs_event_take(queue, desc));
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "aba");
	fixture_close_fd(channel);
}

static void a_cq_is_destroyed_while_its_event_is_read(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct uverbs_event_queue *queue = events_queue(channel);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 0);
	struct ib_uverbs_destroy_cq_resp resp;
	struct uverbs_event *event;
	u64 desc[2];

	events_complete(a.cq);
	events_complete(a.cq);
	event = uverbs_event_take(queue, desc);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	/* The event counts as read: the user gets it, or has passed a bad address. */
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 1);
	uverbs_event_put_back(queue, event);
	KUNIT_EXPECT_EQ(test, events_poll(channel), 0);

	events_complete(b.cq);
	event = uverbs_event_take(queue, desc);
	KUNIT_EXPECT_EQ(test, events_destroy(c, b.handle, &resp), 0);
	queue->ops->read(queue, event);
	KUNIT_EXPECT_EQ(test, events_poll(channel), 0);
	fixture_close_fd(channel);
}

static void a_reader_waits_for_an_event(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_reader reader;

	events_reader_start(test, &reader, channel, 2 * SIZE);
	KUNIT_EXPECT_FALSE(test, events_reader_done(&reader));
	events_complete(a.cq);
	events_reader_join(&reader);
	KUNIT_EXPECT_EQ(test, reader.ret, (ssize_t)SIZE);
	KUNIT_EXPECT_EQ(test, reader.got[0], 'a');
	fixture_close_fd(channel);
}

/* The reader was woken for an event that another had taken; that one's buffer was bad. */
static void an_event_that_is_put_back_wakes_another(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct uverbs_event_queue *queue = events_queue(channel);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_reader reader;
	struct uverbs_event *event;
	u64 desc[2];

	events_reader_start(test, &reader, channel, SIZE);
	preempt_disable();
	events_complete(a.cq);
	event = uverbs_event_take(queue, desc);
	preempt_enable();
	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(event));
	KUNIT_EXPECT_FALSE(test, events_reader_done(&reader));
	uverbs_event_put_back(queue, event);
	KUNIT_EXPECT_TRUE(test, events_reader_done(&reader));
	if (!reader.thread.done)
		events_complete(a.cq);
	events_reader_join(&reader);
	KUNIT_EXPECT_EQ(test, reader.ret, (ssize_t)SIZE);
	fixture_close_fd(channel);
}

static void a_signal_ends_the_wait(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_reader reader;

	events_reader_start(test, &reader, channel, SIZE);
	KUNIT_EXPECT_FALSE(test, events_reader_done(&reader));
	send_sig(SIGINT, reader.thread.task, 1);
	events_reader_join(&reader);
	KUNIT_EXPECT_EQ(test, reader.ret, -ERESTARTSYS);
	fixture_close_fd(channel);
}

#define NR_READERS 4

static int nr_done(struct events_reader *readers)
{
	int i, done = 0;

	msleep(50);
	for (i = 0; i < NR_READERS; i++)
		done += READ_ONCE(readers[i].thread.done);
	return done;
}

/* The other readers have not even run. */
static void an_event_wakes_one_reader(struct kunit *test)
{
	struct events_reader *readers = kunit_kcalloc(test, NR_READERS,
						      sizeof(*readers), GFP_KERNEL);
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	unsigned long ran[NR_READERS];
	int i, round, woken;

	KUNIT_ASSERT_NOT_NULL(test, readers);
	for (i = 0; i < NR_READERS; i++)
		events_reader_start(test, &readers[i], channel, SIZE);
	for (round = 1; round <= NR_READERS; round++) {
		for (i = 0; i < NR_READERS; i++)
			ran[i] = readers[i].thread.task->nvcsw;
		events_complete(a.cq);
		KUNIT_EXPECT_EQ(test, nr_done(readers), round);
		for (i = woken = 0; i < NR_READERS; i++)
			woken += !READ_ONCE(readers[i].thread.done) &&
				 readers[i].thread.task->nvcsw != ran[i];
		KUNIT_EXPECT_EQ(test, woken, 0);
	}
	for (i = 0; i < NR_READERS; i++) {
		events_reader_join(&readers[i]);
		KUNIT_EXPECT_EQ(test, readers[i].ret, (ssize_t)SIZE);
	}
	fixture_close_fd(channel);
}

/* A waiter like epoll: counts its wakeups, and notes their key. */
struct poller {
	poll_table table;
	wait_queue_entry_t wait;
	wait_queue_head_t *head;
	int woken;
	__poll_t key;
};

static int poller_wake(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct poller *poller = container_of(wait, struct poller, wait);

	poller->woken++;
	poller->key |= key_to_poll(key);
	return 1;
}

static void poller_queue(struct file *filp, wait_queue_head_t *head, poll_table *table)
{
	struct poller *poller = container_of(table, struct poller, table);

	poller->head = head;
	init_waitqueue_func_entry(&poller->wait, poller_wake);
	add_wait_queue(head, &poller->wait);
}

static void start_polling(struct poller *poller, int fd)
{
	struct file *filp = fget(fd);

	memset(poller, 0, sizeof(*poller));
	init_poll_funcptr(&poller->table, poller_queue);
	vfs_poll(filp, &poller->table);
	fput(filp);
	flush_delayed_fput();
}

static void all_that_poll_hear_of_an_event(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_reader before, after;
	struct poller one, other;

	KUNIT_EXPECT_EQ(test, events_poll(channel), 0);
	events_reader_start(test, &before, channel, SIZE);
	start_polling(&one, channel);
	start_polling(&other, channel);
	events_reader_start(test, &after, channel, SIZE);
	events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, one.woken, 1);
	KUNIT_EXPECT_EQ(test, one.key, EPOLLIN | EPOLLRDNORM);
	KUNIT_EXPECT_EQ(test, other.woken, 1);
	KUNIT_EXPECT_EQ(test, events_reader_done(&before) + events_reader_done(&after), 1);
	events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, other.woken, 2);
	events_reader_join(&before);
	events_reader_join(&after);
	KUNIT_EXPECT_EQ(test, events_poll(channel), 0);
	events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, events_poll(channel), EPOLLIN | EPOLLRDNORM);
	remove_wait_queue(one.head, &one.wait);
	remove_wait_queue(other.head, &other.wait);
	fixture_close_fd(channel);
}

static bool got_sigio(void)
{
	bool got = signal_pending(current);

	flush_signals(current);
	return got;
}

static void an_event_may_send_a_signal(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct file *filp = fget(channel);

	allow_signal(SIGIO);
	KUNIT_ASSERT_EQ(test, f_setown(filp, task_pid_nr(current), 0), 0);
	KUNIT_ASSERT_GE(test, filp->f_op->fasync(channel, filp, 1), 0);
	KUNIT_EXPECT_FALSE(test, got_sigio());
	events_complete(a.cq);
	KUNIT_EXPECT_TRUE(test, got_sigio());
	KUNIT_EXPECT_GE(test, filp->f_op->fasync(channel, filp, 0), 0);
	events_complete(a.cq);
	KUNIT_EXPECT_FALSE(test, got_sigio());
	disallow_signal(SIGIO);
	fput(filp);
	fixture_close_fd(channel);
}

static void a_storm_allocates_nothing(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 0);
	struct ib_ucq_object *ucq = a.cq->uobject;
	u64 got[64];
	int i;

	current->fail_nth = 1;
	for (i = 0; i < 1000 * 1000; i++)
		events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 1);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, ucq->comp_events_pending, 1000 * 1000);
	events_complete(b.cq);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, got, sizeof(got)),
			(ssize_t)sizeof(got));
	KUNIT_EXPECT_EQ(test, got[0], 'a');
	KUNIT_EXPECT_EQ(test, got[1], 'b');
	KUNIT_EXPECT_EQ(test, ucq->comp_events_reported, 63);
	fixture_close_fd(channel);
}

/* The count of pending events saturates and does not wrap. */
static void events_without_end(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	u64 got;

	events_complete(a.cq);
	a.cq->uobject->comp_events_pending = U32_MAX;
	events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, a.cq->uobject->comp_events_pending, U32_MAX);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, &got, SIZE), (ssize_t)SIZE);
	fixture_close_fd(channel);
}

static void a_closed_channel_takes_nothing_in(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct ib_uverbs_destroy_cq_resp resp;

	events_complete(a.cq);
	fixture_close_fd(channel);
	events_complete(a.cq);
	KUNIT_EXPECT_EQ(test, a.cq->uobject->comp_events_pending, 1);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 0);
}

static void readers_see_that_the_device_is_gone(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_reader one, other;
	struct poller poller;
	u64 got;

	events_reader_start(test, &one, channel, SIZE);
	events_reader_start(test, &other, channel, SIZE);
	start_polling(&poller, channel);
	ib_unregister_device(&c->hca->ibdev);
	events_reader_join(&one);
	events_reader_join(&other);
	KUNIT_EXPECT_EQ(test, one.ret, -EIO);
	KUNIT_EXPECT_EQ(test, other.ret, -EIO);
	KUNIT_EXPECT_EQ(test, poller.woken, 1);
	KUNIT_EXPECT_EQ(test, events_poll(channel), EPOLLIN | EPOLLERR);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, &got, SIZE), -EIO);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, &got, SIZE - 1), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, a.cq);
	remove_wait_queue(poller.head, &poller.wait);
	fixture_close_fd(channel);
}

static void readers_see_that_the_node_is_closed(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_reader reader;
	u64 got;

	events_reader_start(test, &reader, channel, SIZE);
	commands_close(c);
	events_reader_join(&reader);
	KUNIT_EXPECT_EQ(test, reader.ret, -EIO);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, &got, SIZE), -EIO);
	KUNIT_EXPECT_NOT_NULL(test, a.cq);
	fixture_close_fd(channel);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(cqs_are_served_in_the_order_of_their_events),
	KUNIT_CASE(each_channel_has_its_own),
	KUNIT_CASE(what_was_read_is_what_destroy_reports),
	KUNIT_CASE(a_read_brings_as_many_as_fit),
	KUNIT_CASE(a_bad_buffer_loses_no_event),
	KUNIT_CASE(an_event_that_is_put_back_is_first_again),
	KUNIT_CASE(a_cq_is_destroyed_while_its_event_is_read),
	KUNIT_CASE(a_reader_waits_for_an_event),
	KUNIT_CASE(an_event_that_is_put_back_wakes_another),
	KUNIT_CASE(a_signal_ends_the_wait),
	KUNIT_CASE(an_event_wakes_one_reader),
	KUNIT_CASE(all_that_poll_hear_of_an_event),
	KUNIT_CASE(an_event_may_send_a_signal),
	KUNIT_CASE(a_storm_allocates_nothing),
	KUNIT_CASE(events_without_end),
	KUNIT_CASE(a_closed_channel_takes_nothing_in),
	KUNIT_CASE(readers_see_that_the_device_is_gone),
	KUNIT_CASE(readers_see_that_the_node_is_closed),
	{}
};

static struct kunit_suite uverbs_event_suite = {
	.name = "uverbs_event",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = event_cases,
};

kunit_test_suite(uverbs_event_suite);
