// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Asynchronous events of objects that were created with a descriptor
 * for them: of a CQ, a QP, an SRQ and a WQ.
 */
#include <linux/fdtable.h>
#include "events.h"
#include "faults.h"
#include "process_queues.h"
#include "user/uverbs/race.h"
#include "user/fixture.h"

#define SIZE	sizeof(struct ib_uverbs_async_event_desc)
#define STORM	25000

/* A type of object that has events. */
struct source {
	u16 object, create, destroy;
	u16 handle, user_handle, event_fd;	/* attributes of create */
	u16 destroy_resp;
	u16 async_at;				/* offset of the count in the response */
	enum ib_event_type event;
	void (*add)(struct commands *c);	/* adds the rest of create */
	void (*raise)(void *object, enum ib_event_type type);
};

static void add_cq(struct commands *c)
{
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_CQE, 16);
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	commands_out(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, sizeof(u32));
}

static void raise_cq(void *object, enum ib_event_type type)
{
	fake_hca_cq_event(object, type);
}

static void add_qp(struct commands *c)
{
	struct ib_uverbs_qp_cap cap = { .max_send_wr = 4, .max_recv_wr = 4,
					.max_send_sge = 1, .max_recv_sge = 1 };

	commands_obj(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, queues.pd);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, queues.cq);
	commands_obj(c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, queues.cq);
	commands_in(c, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	commands_u64(c, UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_RC);
	commands_out(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(cap));
	commands_out(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, sizeof(u32));
}

static void raise_qp(void *object, enum ib_event_type type)
{
	fake_hca_qp_event(object, type);
}

static void add_srq(struct commands *c)
{
	queues_add_srq(c, IB_UVERBS_SRQT_BASIC);
}

static void raise_srq(void *object, enum ib_event_type type)
{
	struct ib_srq *srq = object;
	struct ib_event event = { .device = srq->device, .element.srq = srq,
				  .event = type };

	srq->event_handler(&event, srq->srq_context);
}

static void raise_wq(void *object, enum ib_event_type type)
{
	struct ib_wq *wq = object;
	struct ib_event event = { .device = wq->device, .element.wq = wq, .event = type };

	wq->event_handler(&event, wq->wq_context);
}

#define SOURCE(name, adds, fn, type, at)					\
	{									\
		.object = UVERBS_OBJECT_##name,					\
		.create = UVERBS_METHOD_##name##_CREATE,			\
		.destroy = UVERBS_METHOD_##name##_DESTROY,			\
		.handle = UVERBS_ATTR_CREATE_##name##_HANDLE,			\
		.user_handle = UVERBS_ATTR_CREATE_##name##_USER_HANDLE,		\
		.event_fd = UVERBS_ATTR_CREATE_##name##_EVENT_FD,		\
		.destroy_resp = UVERBS_ATTR_DESTROY_##name##_RESP,		\
		.async_at = (at),						\
		.event = type,							\
		.add = adds,							\
		.raise = raise_##fn,						\
	}

static const struct source sources[] = {
	SOURCE(CQ, add_cq, cq, IB_EVENT_CQ_ERR,
	       offsetof(struct ib_uverbs_destroy_cq_resp, async_events_reported)),
	SOURCE(QP, add_qp, qp, IB_EVENT_QP_FATAL, 0),
	SOURCE(SRQ, add_srq, srq, IB_EVENT_SRQ_LIMIT_REACHED, 0),
	SOURCE(WQ, queues_add_wq, wq, IB_EVENT_WQ_FATAL, 0),
};

/* Creates an object with the user handle @name; returns its handle, or an error. */
static int try_make(struct commands *c, const struct source *s, int fd, u64 name)
{
	int ret;

	commands_begin(c, s->object, s->create);
	commands_new(c, s->handle);
	commands_u64(c, s->user_handle, name);
	s->add(c);
	if (fd != -1)
		commands_fd(c, s->event_fd, fd);
	ret = commands_ioctl(c);
	return ret ?: commands_got_handle(c, s->handle);
}

static u32 make(struct commands *c, const struct source *s, int fd, u64 name)
{
	int handle = try_make(c, s, fd, name);

	KUNIT_ASSERT_GE_MSG(c->test, handle, 0, "object %u", s->object);
	return handle;
}

static void raise(struct commands *c, const struct source *s, u32 handle)
{
	s->raise(commands_object(c, s->object, handle), s->event);
}

/* Returns how many of its events were read. */
static int destroy(struct commands *c, const struct source *s, u32 handle)
{
	u8 resp[16] = {};
	u32 count;
	int ret;

	commands_begin(c, s->object, s->destroy);
	commands_obj(c, 0, handle);
	commands_out(c, s->destroy_resp, s->async_at + sizeof(count));
	ret = commands_ioctl(c);
	if (ret)
		return ret;
	commands_got_data(c, s->destroy_resp, resp, s->async_at + sizeof(count));
	memcpy(&count, resp + s->async_at, sizeof(count));
	return count;
}

static void expect_next(struct commands *c, int fd, u64 name, int type)
{
	struct ib_uverbs_async_event_desc desc = events_next(c, fd);

	KUNIT_EXPECT_EQ(c->test, (int)desc.event_type, type);
	if (type >= 0)
		KUNIT_EXPECT_EQ(c->test, desc.element, name);
}

#define expect_none(c, fd) expect_next(c, fd, 0, -1)
#define SOURCES_END (sources + ARRAY_SIZE(sources))

static void events_go_where_their_object_was_told(struct kunit *test)
{
	struct commands *c = test->priv;
	int first = events_async(c), own = events_async(c), other = events_async(c);
	const struct source *s;
	u32 plain, named;

	for (s = sources; s < SOURCES_END; s++) {
		plain = make(c, s, -1, 'p');
		named = make(c, s, own, 'n');
		raise(c, s, named);
		expect_none(c, first);
		expect_none(c, other);
		expect_next(c, own, 'n', s->event);
		raise(c, s, plain);
		expect_none(c, own);
		expect_next(c, first, 'p', s->event);
		raise(c, s, named);
		raise(c, s, plain);
		raise(c, s, named);
		expect_next(c, own, 'n', s->event);
		expect_next(c, own, 'n', s->event);
		expect_none(c, own);
		expect_next(c, first, 'p', s->event);
		KUNIT_EXPECT_EQ(test, destroy(c, s, named), 3);
		KUNIT_EXPECT_EQ(test, destroy(c, s, plain), 2);
	}
	fixture_close_fd(first);
	fixture_close_fd(own);
	fixture_close_fd(other);
	queues_expect_idle(c);
}

static void destroy_takes_what_is_unread(struct kunit *test)
{
	struct commands *c = test->priv;
	int fd = events_async(c), i;
	const struct source *s;
	u32 one, other;

	for (s = sources; s < SOURCES_END; s++) {
		one = make(c, s, fd, 1);
		other = make(c, s, fd, 2);
		for (i = 0; i < 3; i++) {
			raise(c, s, one);
			raise(c, s, other);
		}
		expect_next(c, fd, 1, s->event);
		expect_next(c, fd, 2, s->event);
		expect_next(c, fd, 1, s->event);
		KUNIT_EXPECT_EQ(test, destroy(c, s, one), 2);
		expect_next(c, fd, 2, s->event);
		expect_next(c, fd, 2, s->event);
		expect_none(c, fd);
		raise(c, s, other);
		KUNIT_EXPECT_EQ(test, destroy(c, s, other), 3);
		KUNIT_EXPECT_EQ(test, events_poll(fd), 0);
	}
	fixture_close_fd(fd);
	queues_expect_idle(c);
}

/* The object remains, and its events are dropped. */
static void a_descriptor_is_closed_before_its_objects(struct kunit *test)
{
	struct commands *c = test->priv;
	int first = events_async(c), own;
	const struct source *s;
	u32 handle;

	for (s = sources; s < SOURCES_END; s++) {
		own = events_async(c);
		handle = make(c, s, own, 'a');
		raise(c, s, handle);
		expect_next(c, own, 'a', s->event);
		raise(c, s, handle);
		fixture_close_fd(own);
		raise(c, s, handle);
		expect_none(c, first);
		KUNIT_EXPECT_EQ(test, destroy(c, s, handle), 1);
	}
	fixture_close_fd(first);
	queues_expect_idle(c);
}

static void what_is_no_such_descriptor(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c), fd, foreign;
	struct ib_uverbs_file *own = c->file, *file;
	const struct source *s;

	c->file = commands_open(c);
	file = c->file;
	foreign = events_async(c);
	c->file = own;
	fd = events_async(c);
	fixture_close_fd(fd);
	for (s = sources; s < SOURCES_END; s++) {
		KUNIT_EXPECT_EQ(test, try_make(c, s, channel, 'a'), -EBADF);
		KUNIT_EXPECT_EQ(test, try_make(c, s, foreign, 'a'), -EBADF);
		KUNIT_EXPECT_EQ(test, try_make(c, s, fd, 'a'), -EBADF);
		KUNIT_EXPECT_EQ(test, try_make(c, s, -2, 'a'), -EBADF);
	}
	fixture_close_fd(channel);
	uverbs_file_close(file);
	fixture_close_fd(foreign);
	queues_expect_idle(c);
}

static const struct source *fault_source;
static int fault_fd;

static int make_and_destroy(struct kunit *test)
{
	struct commands *c = test->priv;
	int handle = try_make(c, fault_source, fault_fd, 'f');

	if (handle < 0)
		return handle;
	current->fail_nth = current->fail_nth ? 10000 : 0;
	KUNIT_EXPECT_EQ(test, destroy(c, fault_source, handle), 0);
	return 0;
}

/* Whatever fails, no reference to the descriptor is left. */
static void an_object_that_is_not_made(struct kunit *test)
{
	struct commands *c = test->priv;
	const struct uverbs_event_queue *queue;

	fault_fd = events_async(c);
	queue = events_queue(fault_fd);
	for (fault_source = sources; fault_source < SOURCES_END; fault_source++) {
		KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_destroy), 2u);
		flush_delayed_fput();
		/* References of the object list, the open file, and the default. */
		KUNIT_EXPECT_EQ(test, kref_read(&queue->uobject.ref), 3u);
	}
	fixture_close_fd(fault_fd);
	queues_expect_idle(c);
}

/* It allocates nothing, and does not displace the events of other objects. */
static void a_storm_is_counted(struct kunit *test)
{
	struct commands *c = test->priv;
	int first = events_async(c), own = events_async(c), i;
	struct uverbs_event_queue *queue = events_queue(own);
	const struct source *s;
	u32 handles[ARRAY_SIZE(sources)];

	for (s = sources; s < SOURCES_END; s++)
		handles[s - sources] = make(c, s, own, s - sources);
	for (i = 0; i < STORM; i++)
		for (s = sources; s < SOURCES_END; s++)
			raise(c, s, handles[s - sources]);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&queue->ready), ARRAY_SIZE(sources));
	expect_none(c, first);
	for (i = 0; i < 100; i++)
		for (s = sources; s < SOURCES_END; s++)
			expect_next(c, own, s - sources, s->event);
	for (s = sources; s < SOURCES_END; s++)
		KUNIT_EXPECT_EQ(test, destroy(c, s, handles[s - sources]), 100);
	expect_none(c, own);
	fixture_close_fd(first);
	fixture_close_fd(own);
	queues_expect_idle(c);
}

static void the_device_goes(struct kunit *test)
{
	struct commands *c = test->priv;
	int first = events_async(c), own = events_async(c);
	const struct source *s;

	for (s = sources; s < SOURCES_END; s++)
		raise(c, s, make(c, s, own, 'a'));
	ib_unregister_device(&c->hca->ibdev);
	/* Events of objects were removed with them. */
	expect_next(c, own, 0, IB_EVENT_DEVICE_FATAL);
	expect_next(c, first, 0, IB_EVENT_DEVICE_FATAL);
	expect_none(c, own);
	KUNIT_EXPECT_EQ(test, events_poll(own), EPOLLIN | EPOLLERR);
	fixture_close_fd(own);
	fixture_close_fd(first);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

static enum fake_hca_object fake_kind(const struct source *s)
{
	switch (s->object) {
	case UVERBS_OBJECT_CQ:
		return FAKE_CQ;
	case UVERBS_OBJECT_QP:
		return FAKE_QP;
	case UVERBS_OBJECT_SRQ:
		return FAKE_SRQ;
	default:
		return FAKE_WQ;
	}
}

/* What its events refer to remains as long as the object may raise events. */
static void a_driver_never_lets_go(struct kunit *test)
{
	struct commands *c = test->priv;
	struct uverbs_attr_bundle attrs = { .ufile = c->file };
	const struct uverbs_obj_idr_type *type;
	struct ib_uobject *uobj;
	const struct source *s;
	u32 handle;

	for (s = sources; s < SOURCES_END; s++) {
		handle = make(c, s, -1, 'k');
		uobj = xa_load(&c->file->handles, handle);
		type = container_of(uobj->uapi_object->type_attrs,
				    struct uverbs_obj_idr_type, type);
		attrs.context = uobj->context;
		atomic_set(&c->hca->fail_destroy[fake_kind(s)], 1);
		KUNIT_EXPECT_EQ(test, type->destroy_object(uobj, RDMA_REMOVE_CLOSE, &attrs),
				-EIO);
		KUNIT_EXPECT_EQ(test, kref_read(&uobj->ref), 1u);
		atomic_set(&c->hca->fail_destroy[fake_kind(s)], 1);
		KUNIT_EXPECT_EQ(test, type->destroy_object(uobj, RDMA_REMOVE_DRIVER_FAILURE,
							   &attrs), -EIO);
		KUNIT_EXPECT_EQ_MSG(test, kref_read(&uobj->ref), 2u, "object %u", s->object);
		if (kref_read(&uobj->ref) > 1)
			uverbs_uobject_put(uobj);
		KUNIT_EXPECT_EQ(test, destroy(c, s, handle), 0);
	}
	queues_expect_idle(c);
}

static struct kunit_case event_fd_cases[] = {
	KUNIT_CASE(a_driver_never_lets_go),
	KUNIT_CASE(events_go_where_their_object_was_told),
	KUNIT_CASE(destroy_takes_what_is_unread),
	KUNIT_CASE(a_descriptor_is_closed_before_its_objects),
	KUNIT_CASE(what_is_no_such_descriptor),
	KUNIT_CASE(an_object_that_is_not_made),
	KUNIT_CASE(a_storm_is_counted),
	KUNIT_CASE(the_device_goes),
	{}
};

static struct kunit_suite uverbs_event_fd_suite = {
	.name = "uverbs_event_fd",
	.init = queues_init,
	.exit = commands_exit,
	.test_cases = event_fd_cases,
};

kunit_test_suite(uverbs_event_fd_suite);
