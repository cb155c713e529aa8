// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Asynchronous event descriptors: which events each of them gets, and until when. */
#include <linux/mman.h>
#include <linux/poll.h>
#include "events.h"
#include "faults.h"
#include "user/fixture.h"

#define SIZE	sizeof(struct ib_uverbs_async_event_desc)
#define BOUND	4096

static void expect_next(struct commands *c, int fd, u64 element, int type)
{
	struct ib_uverbs_async_event_desc desc = events_next(c, fd);

	KUNIT_EXPECT_EQ(c->test, (int)desc.event_type, type);
	if (type >= 0) {
		KUNIT_EXPECT_EQ(c->test, desc.element, element);
		KUNIT_EXPECT_EQ(c->test, desc.reserved, 0);
	}
}

#define expect_none(c, fd) expect_next(c, fd, 0, -1)

static void port_event(struct commands *c, u32 port, enum ib_event_type type)
{
	fake_hca_port_event(c->hca, port, type);
	fake_hca_flush(c->hca);
	msleep(10);
}

static void an_object_s_events_have_its_name(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c);
	struct events_cq a = events_cq(c, -1, 0x1234567890, 0);
	struct ib_uverbs_destroy_cq_resp resp;

	expect_none(c, fd);
	KUNIT_EXPECT_EQ(test, events_poll(fd), 0);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, events_poll(fd), EPOLLIN | EPOLLRDNORM);
	expect_next(c, fd, 0x1234567890, IB_EVENT_CQ_ERR);
	expect_none(c, fd);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	expect_next(c, fd, 0x1234567890, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 2);
	/* Unread events were removed with the CQ. */
	expect_none(c, fd);
	fixture_close_fd(fd);
}

static void all_descriptors_hear_of_ports(struct kunit *test)
{
	struct commands *c = test->priv;
	int one = events_async(c), other = events_async(c);

	port_event(c, 1, IB_EVENT_PORT_ERR);
	port_event(c, 1, IB_EVENT_PORT_ACTIVE);
	expect_next(c, one, 1, IB_EVENT_PORT_ERR);
	expect_next(c, one, 1, IB_EVENT_PORT_ACTIVE);
	expect_none(c, one);
	fixture_close_fd(one);
	port_event(c, 1, IB_EVENT_LID_CHANGE);
	expect_next(c, other, 1, IB_EVENT_PORT_ERR);
	expect_next(c, other, 1, IB_EVENT_PORT_ACTIVE);
	expect_next(c, other, 1, IB_EVENT_LID_CHANGE);
	fixture_close_fd(other);
}

static void the_first_descriptor_is_the_default(struct kunit *test)
{
	struct commands *c = test->priv;
	struct events_cq none = events_cq(c, -1, 'n', 0);
	int one = events_async(c), other = events_async(c);
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct events_cq b = events_cq_async(c, -1, 'b');
	struct events_cq d = events_cq_async(c, other, 'd');

	/* When this CQ was created there was no descriptor. */
	fake_hca_cq_event(none.cq, IB_EVENT_CQ_ERR);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	fake_hca_cq_event(d.cq, IB_EVENT_CQ_ERR);
	fake_hca_cq_event(b.cq, IB_EVENT_CQ_ERR);
	expect_next(c, one, 'a', IB_EVENT_CQ_ERR);
	expect_next(c, one, 'b', IB_EVENT_CQ_ERR);
	expect_none(c, one);
	expect_next(c, other, 'd', IB_EVENT_CQ_ERR);
	expect_none(c, other);
	fixture_close_fd(one);
	fixture_close_fd(other);
}

static void the_default_is_closed_first(struct kunit *test)
{
	struct commands *c = test->priv;
	int one = events_async(c), other = events_async(c);
	struct events_cq a = events_cq(c, -1, 'a', 0), b;
	struct ib_uverbs_destroy_cq_resp resp;

	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	fixture_close_fd(one);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	b = events_cq(c, -1, 'b', 0);
	fake_hca_cq_event(b.cq, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, events_unread(&a.cq->uobject->base), 0u);
	expect_none(c, other);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 0);
	fixture_close_fd(other);
}

static void a_reader_waits(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c);
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct events_reader reader;

	events_reader_start(test, &reader, fd, SIZE);
	KUNIT_EXPECT_FALSE(test, events_reader_done(&reader));
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	events_reader_join(&reader);
	KUNIT_EXPECT_EQ(test, reader.ret, (ssize_t)SIZE);
	KUNIT_EXPECT_EQ(test, reader.got[0], 'a');
	fixture_close_fd(fd);
}

static void a_bad_buffer_loses_no_event(struct kunit *test)
{
	struct commands *c = test->priv;
	unsigned long at = user_pages(test, 2, TEST_RW);
	int fd = events_async(c);
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct ib_uverbs_destroy_cq_resp resp;

	KUNIT_ASSERT_EQ(test, vm_munmap(at + PAGE_SIZE, PAGE_SIZE), 0);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	port_event(c, 1, IB_EVENT_PORT_ERR);
	port_event(c, 1, IB_EVENT_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, events_read_at(c, fd, at + PAGE_SIZE, SIZE), -EFAULT);
	KUNIT_EXPECT_EQ(test, events_read_at(c, fd, at + PAGE_SIZE, SIZE - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, events_read_at(c, fd, at + PAGE_SIZE - 2 * SIZE, 4 * SIZE),
			(ssize_t)(2 * SIZE));
	expect_next(c, fd, 1, IB_EVENT_PORT_ACTIVE);
	expect_none(c, fd);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 1);
	fixture_close_fd(fd);
}

static void an_object_is_destroyed_while_its_event_is_read(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c);
	struct uverbs_event_queue *queue = events_queue(fd);
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_event *event;

	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	event = uverbs_event_take(queue, &desc);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 1);
	uverbs_event_put_back(queue, event);
	expect_none(c, fd);
	fixture_close_fd(fd);
}

/* Events are counted: an adapter may raise any number of them. */
static void no_event_of_an_object_is_lost(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c), i;
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct events_cq b = events_cq(c, -1, 'b', 0);
	struct ib_uverbs_destroy_cq_resp resp;

	for (i = 0; i < 3 * BOUND; i++)
		fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	fake_hca_cq_event(b.cq, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, events_unread(&a.cq->uobject->base), 3u * BOUND);
	KUNIT_EXPECT_EQ(test, events_unread(&b.cq->uobject->base), 1u);
	/* The other CQ's event is read before the rest of them. */
	expect_next(c, fd, 'a', IB_EVENT_CQ_ERR);
	expect_next(c, fd, 'b', IB_EVENT_CQ_ERR);
	i = 1;
	while ((int)events_next(c, fd).event_type == IB_EVENT_CQ_ERR)
		i++;
	KUNIT_EXPECT_EQ(test, i, 3 * BOUND);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 3u * BOUND);
	fake_hca_cq_event(b.cq, IB_EVENT_CQ_ERR);
	fixture_close_fd(fd);
	KUNIT_EXPECT_EQ(test, events_unread(&b.cq->uobject->base), 0u);
}

/*
 * Each kind of event of an object is counted by itself; kinds are
 * read in the order in which they arrived.
 */
static void kinds_of_events_are_told_apart(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c), i, round;
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct uverbs_event_object *obj = &a.cq->uobject->base;

	for (round = 0; round < 2; round++)
		for (i = UVERBS_OBJECT_EVENTS; i > 0; i--)
			uverbs_event_object_notify(obj, i);
	/* A kind beyond those that an object has room for is dropped. */
	uverbs_event_object_notify(obj, IB_EVENT_WQ_FATAL);
	KUNIT_EXPECT_EQ(test, events_unread(obj), 2u * UVERBS_OBJECT_EVENTS);
	for (round = 0; round < 2; round++)
		for (i = UVERBS_OBJECT_EVENTS; i > 0; i--)
			expect_next(c, fd, 'a', i);
	uverbs_event_object_notify(obj, IB_EVENT_WQ_FATAL);
	expect_next(c, fd, 'a', IB_EVENT_WQ_FATAL);
	expect_none(c, fd);
	fixture_close_fd(fd);
}

/* A reader has taken an event when others are raised. */
static void an_event_that_is_put_back_keeps_its_kind(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c), i;
	struct uverbs_event_queue *queue = events_queue(fd);
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct uverbs_event_object *obj = &a.cq->uobject->base;
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_event *event;

	uverbs_event_object_notify(obj, IB_EVENT_CQ_ERR);
	event = uverbs_event_take(queue, &desc);
	for (i = 1; i < UVERBS_OBJECT_EVENTS; i++)
		uverbs_event_object_notify(obj, i);
	uverbs_event_object_notify(obj, IB_EVENT_CQ_ERR);
	uverbs_event_put_back(queue, event);
	KUNIT_EXPECT_EQ(test, obj->events_reported, 0u);
	expect_next(c, fd, 'a', IB_EVENT_CQ_ERR);
	for (i = 1; i < UVERBS_OBJECT_EVENTS; i++)
		expect_next(c, fd, 'a', i);
	expect_next(c, fd, 'a', IB_EVENT_CQ_ERR);
	expect_none(c, fd);
	KUNIT_EXPECT_EQ(test, obj->events_reported, UVERBS_OBJECT_EVENTS + 1u);
	fixture_close_fd(fd);
}

/* The last event read tells the current state of the port. */
static void the_last_events_of_ports_are_kept(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c), i;
	struct uverbs_event_queue *queue = events_queue(fd);
	struct events_cq a = events_cq(c, -1, 'a', 0);

	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	for (i = 0; i < BOUND; i++)
		fake_hca_port_event(c->hca, 1, IB_EVENT_PORT_ERR);
	fake_hca_port_event(c->hca, 1, IB_EVENT_LID_CHANGE);
	port_event(c, 1, IB_EVENT_PORT_ACTIVE);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&queue->ready), BOUND + 1);
	expect_next(c, fd, 'a', IB_EVENT_CQ_ERR);
	for (i = 2; i < BOUND; i++)
		expect_next(c, fd, 1, IB_EVENT_PORT_ERR);
	expect_next(c, fd, 1, IB_EVENT_LID_CHANGE);
	expect_next(c, fd, 1, IB_EVENT_PORT_ACTIVE);
	expect_next(c, fd, 'a', IB_EVENT_CQ_ERR);
	expect_none(c, fd);
	fixture_close_fd(fd);
}

static void no_memory_for_an_event(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c);
	struct events_cq a = events_cq(c, -1, 'a', 0);

	/* Counting an event allocates nothing. */
	current->fail_nth = 1;
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 1);
	current->fail_nth = 0;
	expect_next(c, fd, 'a', IB_EVENT_CQ_ERR);
	fixture_close_fd(fd);
}

/* Events of the device are delivered even if any number is unread. */
static void the_device_goes(struct kunit *test)
{
	struct commands *c = test->priv;
	int one = events_async(c), other = events_async(c);
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct events_reader reader;
	int i;

	port_event(c, 1, IB_EVENT_PORT_ERR);
	for (i = 0; i < BOUND; i++)
		fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	expect_next(c, other, 1, IB_EVENT_PORT_ERR);
	events_reader_start(test, &reader, other, SIZE);
	ib_unregister_device(&c->hca->ibdev);
	events_reader_join(&reader);
	KUNIT_EXPECT_EQ(test, reader.ret, (ssize_t)SIZE);
	KUNIT_EXPECT_EQ(test, (u32)reader.got[1], IB_EVENT_DEVICE_FATAL);

	KUNIT_EXPECT_EQ(test, events_poll(one), EPOLLIN | EPOLLRDNORM);
	expect_next(c, one, 1, IB_EVENT_PORT_ERR);
	expect_next(c, one, 0, IB_EVENT_DEVICE_FATAL);
	expect_none(c, one);
	KUNIT_EXPECT_EQ(test, events_poll(one), EPOLLIN | EPOLLERR);
	KUNIT_EXPECT_EQ(test, events_read(c, one, reader.got, SIZE), -EIO);
	fixture_close_fd(one);
	fixture_close_fd(other);
}

static void what_nobody_reads_is_freed(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c);
	struct events_cq a = events_cq(c, -1, 'a', 0);

	port_event(c, 1, IB_EVENT_PORT_ERR);
	fake_hca_cq_event(a.cq, IB_EVENT_CQ_ERR);
	ib_unregister_device(&c->hca->ibdev);
	KUNIT_EXPECT_EQ(test, events_poll(fd), EPOLLIN | EPOLLRDNORM);
	fixture_close_fd(fd);
}

static void the_node_is_closed_first(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c);

	port_event(c, 1, IB_EVENT_PORT_ERR);
	commands_close(c);
	port_event(c, 1, IB_EVENT_PORT_ACTIVE);
	expect_next(c, fd, 1, IB_EVENT_PORT_ERR);
	KUNIT_EXPECT_EQ(test, events_poll(fd), EPOLLIN | EPOLLERR);
	fixture_close_fd(fd);
}

static void a_descriptor_that_is_not_to_be(struct kunit *test)
{
	struct commands *c = test->priv;
	u64 buf[64];
	struct uverbs_attr_bundle *attrs =
		&uverbs_call_init(buf, sizeof(buf), 0, c->file)->bundle;
	struct uverbs_event_object obj = {};
	struct ib_uobject *uobj;
	int fd;

	uobj = uverbs_async_begin(attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	KUNIT_EXPECT_NOT_NULL(test, c->file->async);
	port_event(c, 1, IB_EVENT_PORT_ERR);
	/* Meanwhile an object was created that uses it as the default. */
	KUNIT_EXPECT_EQ(test, uverbs_event_object_init(&obj, attrs, UVERBS_NO_ATTR), 0);
	uverbs_event_object_notify(&obj, IB_EVENT_CQ_ERR);
	rdma_alloc_abort_uobject(uobj, attrs, true);
	KUNIT_EXPECT_NULL(test, c->file->async);
	uverbs_event_object_notify(&obj, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, events_unread(&obj), 0u);
	uverbs_event_object_exit(&obj);
	uverbs_event_object_notify(&obj, IB_EVENT_CQ_ERR);
	uverbs_event_object_exit(&obj);

	/* The next descriptor becomes the first. */
	fd = events_async(c);
	KUNIT_EXPECT_NOT_NULL(test, c->file->async);
	fixture_close_fd(fd);
}

static int make_descriptor(struct kunit *test)
{
	struct commands *c = test->priv;
	unsigned int nth;
	int ret;

	commands_begin(c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	commands_new(c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
	ret = commands_ioctl(c);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret)
		fixture_close_fd(commands_got_handle(c,
					UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE));
	flush_delayed_fput();
	current->fail_nth = nth;
	return ret;
}

static void descriptors_survive_each_failed_allocation(struct kunit *test)
{
	struct commands *c = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_descriptor), 3);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
}

static struct kunit_case async_cases[] = {
	KUNIT_CASE(an_object_s_events_have_its_name),
	KUNIT_CASE(all_descriptors_hear_of_ports),
	KUNIT_CASE(the_first_descriptor_is_the_default),
	KUNIT_CASE(the_default_is_closed_first),
	KUNIT_CASE(a_reader_waits),
	KUNIT_CASE(a_bad_buffer_loses_no_event),
	KUNIT_CASE(an_object_is_destroyed_while_its_event_is_read),
	KUNIT_CASE(no_event_of_an_object_is_lost),
	KUNIT_CASE(kinds_of_events_are_told_apart),
	KUNIT_CASE(an_event_that_is_put_back_keeps_its_kind),
	KUNIT_CASE(the_last_events_of_ports_are_kept),
	KUNIT_CASE(no_memory_for_an_event),
	KUNIT_CASE(the_device_goes),
	KUNIT_CASE(what_nobody_reads_is_freed),
	KUNIT_CASE(the_node_is_closed_first),
	KUNIT_CASE(a_descriptor_that_is_not_to_be),
	KUNIT_CASE(descriptors_survive_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_async_suite = {
	.name = "uverbs_async",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = async_cases,
};

kunit_test_suite(uverbs_async_suite);
